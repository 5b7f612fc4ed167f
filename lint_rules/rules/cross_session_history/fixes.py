"""AGL103: a default argument becomes None, and its value is made in the body; a class attribute is made in `__init__`.

Which key tells the users of a global apart is not in the code: there is no fix for that.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns.common_histories import CommonHistory
from lint_rules.repairs.edits import (
    Change,
    Edits,
    Fix,
    Statement,
    blank_lines,
    block_of,
    comments_of,
    line_of,
    of_the_file,
    with_blank_lines,
    without_blank_lines,
)
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule


@of_the_file
def repair(anatomy: Anatomy, found: CommonHistory) -> Fix | None:
    """The fix of a default argument or a class attribute, where its shape is known."""
    module = anatomy.module
    if isinstance(found.node, cst.Param):
        function = module.scope_of[found.node]
        if _may_default(module, function, found.node):
            param = found.node
            return Fix(f"make `{found.name}` in the body", "unsafe", lambda: _default_edits(module, function, param))
    elif found.how == "class" and isinstance(found.node, (cst.Assign, cst.AnnAssign)):
        statement = found.node
        cls = module.scope_of[statement]
        if _may_move(module, cls, statement):
            return Fix("make the list in `__init__`", "unsafe", lambda: _class_edits(module, cls, statement))
    return None


# -- default arguments --------------------------------------------------------------------------------------------


def _may_default(module: SourceModule, function: Scope, param: cst.Param) -> bool:
    """A function with a block of its own, whose default reads nothing that the body could hide."""
    node = function.node
    if not isinstance(node, cst.FunctionDef) or not isinstance(node.body, cst.IndentedBlock):
        return False
    annotation = param.annotation.annotation if param.annotation is not None else None
    return annotation is None or _optional(module, annotation) is not None


def _default_edits(module: SourceModule, function: Scope, param: cst.Param) -> Edits:
    assert isinstance(function.node, cst.FunctionDef)
    assert isinstance(function.node.body, cst.IndentedBlock)
    assert param.default is not None
    new = param.with_changes(default=cst.Name("None"))
    if param.annotation is not None:
        told = _optional(module, param.annotation.annotation)
        assert told is not None
        new = new.with_changes(annotation=param.annotation.with_changes(annotation=told))
    name, value = param.name.value, param.default
    made = cst.If(
        test=cst.Comparison(
            left=cst.Name(name), comparisons=[cst.ComparisonTarget(operator=cst.Is(), comparator=cst.Name("None"))]
        ),
        body=cst.IndentedBlock([cst.SimpleStatementLine([_assign(cst.Name(name), value)])]),
    )

    return Edits(replaced={param: new}, changed={function.node.body: _at_start(made)})


def _at_start(made: Statement) -> Change:
    """A statement more, at the start of a body, behind its docstring."""

    def begun(statements: list[Any]) -> list[Any]:
        at = 1 if _is_docstring(statements[0]) else 0
        return [*statements[:at], made, *statements[at:]]

    return begun


def _optional(module: SourceModule, annotation: cst.BaseExpression) -> cst.BaseExpression | None:
    """The annotation that lets None in, in the form that the file uses; None where it is not known to have one."""
    if _allows_none(annotation):
        return annotation
    if isinstance(annotation, (cst.SimpleString, cst.ConcatenatedString)):
        return None
    optional = next((name for name, full in module.imports.full.items() if full == "typing.Optional"), None)
    if optional is not None:
        return cst.Subscript(cst.Name(optional), [cst.SubscriptElement(cst.Index(annotation))])
    return cst.BinaryOperation(annotation, cst.BitOr(), cst.Name("None"))


def _allows_none(annotation: cst.BaseExpression) -> bool:
    if isinstance(annotation, cst.BinaryOperation):
        return _allows_none(annotation.left) or _allows_none(annotation.right)
    if isinstance(annotation, cst.Subscript):
        return (ex.dotted(annotation.value) or "").rpartition(".")[2] == "Optional"
    return isinstance(annotation, cst.Name) and annotation.value in {"None", "Any"}


# -- class attributes ---------------------------------------------------------------------------------------------


def _may_move(module: SourceModule, cls: Scope, statement: cst.Assign | cst.AnnAssign) -> bool:
    """A line of its own; and an `__init__` to move it to, or no base class that could have one."""
    line = line_of(module, statement)
    node = cls.node
    if line is None or not isinstance(node, cst.ClassDef) or block_of(module, line) is not node.body:
        return False
    if isinstance(statement, cst.Assign) and (len(statement.targets) > 1 or len(node.body.body) == 1):
        return False
    init = cls.methods.get("__init__")
    if init is None:
        return not node.bases
    return (
        isinstance(init.node, cst.FunctionDef)
        and isinstance(init.node.body, cst.IndentedBlock)
        and module.self_name(init) is not None
    )


def _class_edits(module: SourceModule, cls: Scope, statement: cst.Assign | cst.AnnAssign) -> Edits:
    line = line_of(module, statement)
    node, init = cls.node, cls.methods.get("__init__")
    assert line is not None
    assert isinstance(node, cst.ClassDef)
    assert isinstance(node.body, cst.IndentedBlock)
    assert statement.value is not None
    target = statement.targets[0].target if isinstance(statement, cst.Assign) else statement.target
    assert isinstance(target, cst.Name)
    own = (module.self_name(init) if init is not None else None) or "self"
    value = _assign(cst.Attribute(cst.Name(own), target), statement.value)
    notes = comments_of(line) if isinstance(statement, cst.Assign) else []
    made = cst.SimpleStatementLine([value], leading_lines=notes)
    index = list(node.body.body).index(line)

    def moved(statements: list[Any]) -> list[Any]:
        kept = _without_value(statements[index], statement)
        rest = statements[index + 1 :]
        begins = bool(rest) and not (_is_method(rest[0]) and (index or init is None))
        if begins and not kept:
            lines = [*blank_lines(statements[index]), *without_blank_lines(rest[0]).leading_lines]
            rest[0] = rest[0].with_changes(leading_lines=lines)
        before = [*statements[:index], *kept]
        return [*before, *rest] if init is not None else _with_init(made, [*before, *rest])

    changed: dict[Any, Any] = {node.body: moved}
    if init is not None:
        assert isinstance(init.node, cst.FunctionDef)
        assert isinstance(init.node.body, cst.IndentedBlock)
        changed[init.node.body] = _at_start(made)
    return Edits(changed=changed)


def _without_value(line: Any, statement: cst.Assign | cst.AnnAssign) -> list[Any]:
    """The line that still says the type, if it did."""
    if isinstance(statement, cst.Assign):
        return []
    bare = statement.with_changes(value=None, equal=cst.MaybeSentinel.DEFAULT)
    return [line.with_changes(body=[bare])]


def _with_init(made: cst.SimpleStatementLine, statements: list[Any]) -> list[Any]:
    """The body of a class with an `__init__` before its first method."""
    at = next((place for place, statement in enumerate(statements) if _is_method(statement)), len(statements))
    new = cst.FunctionDef(
        name=cst.Name("__init__"),
        params=cst.Parameters([cst.Param(cst.Name("self"))]),
        body=cst.IndentedBlock([made]),
        leading_lines=[cst.EmptyLine(indent=False)] if at else [],
    )
    following = [with_blank_lines(statement, [cst.EmptyLine(indent=False)]) for statement in statements[at : at + 1]]
    return [*statements[:at], new, *following, *statements[at + 1 :]]


def _is_method(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.FunctionDef)


def _assign(target: cst.BaseAssignTargetExpression, value: cst.BaseExpression) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(target)], value)


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
        return False
    return isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
