"""Names of the standard library for a repair: those the file has imported, or a new import in the place for it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule

_Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


class Import(NamedTuple):
    """`import module`, or `from module import name`."""

    module: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """An expression that names something, and the import that it needs, if the file has none."""

    node: cst.BaseExpression
    needs: frozenset[Import] = frozenset()


def reference(module: SourceModule, at: cst.CSTNode, origin: str, name: str) -> Reference | None:
    """How to name `origin.name` at a node; None when both names it could go by mean something else there."""
    for bound, meaning in _imported(module, at):
        if meaning == origin:
            return Reference(cst.Attribute(cst.Name(bound), cst.Name(name)))
        if meaning == f"{origin}.{name}":
            return Reference(cst.Name(bound))
    if is_free(module, at, origin):
        return Reference(cst.Attribute(cst.Name(origin), cst.Name(name)), frozenset({Import(origin)}))
    if is_free(module, at, name):
        return Reference(cst.Name(name), frozenset({Import(origin, name)}))
    return None


def _imported(module: SourceModule, at: cst.CSTNode) -> Iterable[tuple[str, str]]:
    """(name, what it means) for the imports that hold at a node: of the module, and of the functions around it."""
    around = {module.tree, *module.ancestors(at)}
    for bound, meaning in module.imports.full.items():
        statement = _statement_of(module, bound)
        home = module.scope_of[statement].function.node if statement is not None else None
        if statement is None or home not in around or (home is not module.tree and not module.before(statement, at)):
            continue
        shadow = module.scope_binding(module.scope_of[at], bound)
        if _stands_in_the_open(module, statement, at) and (shadow is None or shadow.node is home):
            yield bound, meaning


def _statement_of(module: SourceModule, bound: str) -> cst.CSTNode | None:
    """The import statement that binds a name; None when several do."""
    found = [
        node
        for node in module.nodes_of(cst.Import, cst.ImportFrom)
        if not isinstance(node.names, cst.ImportStar)
        for alias in node.names
        if bound == (alias.evaluated_alias or alias.evaluated_name.split(".")[0])
    ]
    return found[0] if len(found) == 1 else None


def _stands_in_the_open(module: SourceModule, statement: cst.CSTNode, at: cst.CSTNode) -> bool:
    """Whether an import runs whenever the node does: it is not made under a condition that the node is not under."""
    outer = [above for above in module.ancestors(statement) if isinstance(above, (cst.If, cst.Try, cst.With))]
    return all(module.inside(at, above) for above in outer)


def is_free(module: SourceModule, at: cst.CSTNode, name: str) -> bool:
    """Whether a name means nothing yet, neither at the node nor in the module."""
    taken = module.scope_binding(module.scope_of[at], name) is not None or name in module.top.bound
    return not taken and name not in module.imports.full


# -- adding -------------------------------------------------------------------------------------------------------


def add_imports(tree: cst.Module, wanted: Iterable[Import]) -> cst.Module:
    """The tree with imports added where they belong: after docstring and `from __future__`, sorted as the rest is."""
    for new in wanted:
        body: list[_Line] = list(tree.body)
        if not _joined(body, new):
            _insert(body, new)
        tree = tree.with_changes(body=body)
    return tree


def _joined(body: list[_Line], new: Import) -> bool:
    """Add the name to an existing `from module import ...` on one line, if there is one."""
    for index, line in enumerate(body):
        statement = _import_on(line)
        if isinstance(statement, cst.ImportFrom) and _name(statement) == new.module and new.name:
            if isinstance(statement.names, cst.ImportStar) or statement.lpar is not None:
                continue
            *before, last = statement.names
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            names = [*before, last.with_changes(comma=comma), cst.ImportAlias(cst.Name(new.name))]
            body[index] = line.with_deep_changes(statement, names=names)
            return True
    return False


def _insert(body: list[_Line], new: Import) -> None:
    head = _after_head(body)
    start = next((index for index in range(head, len(body)) if _import_on(body[index]) is not None), None)
    if start is None:
        _insert_alone(body, head, new)
        return
    group = _standard_group(body, start)
    if group is None:
        first = body[start]
        body[start] = first.with_changes(leading_lines=[_EMPTY])
        body.insert(start, _line(new, _lines(first)))
        return
    place = next((index for index in group if _sorts_before(new, body[index])), group.stop)
    lines: list[cst.EmptyLine] = []
    if place == group.start:
        lines = _lines(body[place])
        body[place] = body[place].with_changes(leading_lines=[])
    body.insert(place, _line(new, lines))


def _insert_alone(body: list[_Line], place: int, new: Import) -> None:
    """The first import of a file: an empty line before it, if anything is, and one after it (two before a function)."""
    if place < len(body) and not any(line.comment is None for line in _lines(body[place])[:1]):
        number = 2 if isinstance(body[place], (cst.FunctionDef, cst.ClassDef)) else 1
        body[place] = body[place].with_changes(leading_lines=[_EMPTY] * number + _lines(body[place]))
    body.insert(place, _line(new, [_EMPTY] if place else []))


_EMPTY = cst.EmptyLine(indent=False)


def _line(new: Import, leading: list[cst.EmptyLine]) -> cst.SimpleStatementLine:
    statement: cst.BaseSmallStatement = cst.Import([cst.ImportAlias(cst.Name(new.module))])
    if new.name:
        statement = cst.ImportFrom(cst.Name(new.module), [cst.ImportAlias(cst.Name(new.name))])
    return cst.SimpleStatementLine([statement], leading_lines=leading)


def _lines(line: cst.CSTNode) -> list[cst.EmptyLine]:
    return list(getattr(line, "leading_lines", ()))


def is_import(line: cst.CSTNode) -> bool:
    """Whether a statement of a module imports, also under a condition or with another way if that fails."""
    if isinstance(line, (cst.If, cst.Try)) and isinstance(line.body, cst.IndentedBlock):
        return is_import(line.body.body[0])
    return _import_on(line) is not None


def _import_on(line: cst.CSTNode) -> cst.Import | cst.ImportFrom | None:
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    return first if isinstance(first, (cst.Import, cst.ImportFrom)) else None


def _name(statement: cst.Import | cst.ImportFrom) -> str:
    """The module that an import names first; with its leading dots."""
    if isinstance(statement, cst.Import):
        return statement.names[0].evaluated_name
    return "." * len(statement.relative) + ((ex.dotted(statement.module) or "") if statement.module else "")


def _after_head(body: list[_Line]) -> int:
    """The index after the docstring and the imports from `__future__`."""
    after = 0
    for index, line in enumerate(body):
        statement = _import_on(line)
        is_future = statement is not None and _name(statement) == "__future__"
        is_docstring = index == 0 and isinstance(line, cst.SimpleStatementLine) and _is_text(line.body[0])
        if is_future or is_docstring:
            after = index + 1
    return after


def _is_text(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.Expr) and isinstance(statement.value, (cst.SimpleString, cst.ConcatenatedString))


def _standard_group(body: list[_Line], start: int) -> range | None:
    """The lines of the first group (no empty line within) of imports that imports from the standard library."""
    while start < len(body) and _import_on(body[start]) is not None:
        stop = start + 1
        while stop < len(body) and _import_on(body[stop]) is not None and not _lines(body[stop]):
            stop += 1
        statements = [_import_on(body[index]) for index in range(start, stop)]
        if any(s is not None and _name(s).partition(".")[0] in sys.stdlib_module_names for s in statements):
            return range(start, stop)
        start = stop
    return None


def _sorts_before(new: Import, line: cst.CSTNode) -> bool:
    """As isort has it by default: `import a` before `from a import b`, each kind sorted by module."""
    statement = _import_on(line)
    if statement is None or isinstance(statement, cst.ImportFrom) != bool(new.name):
        return statement is not None and not new.name
    return _name(statement) > new.module
