"""AGL302: a number of rounds, in a constant of the module, and an error when they are used up.

Shown only: how many rounds are enough, and who is to learn of their end, is the author's to say. A `while True` becomes
a `for`, with an `else` if it has a `break`; any other loop counts its rounds at its head, for its test may end it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import (
    Block,
    Change,
    Edits,
    Fix,
    block_of,
    of_the_file,
    put_before,
    with_blank_lines,
)
from lint_rules.repairs.imports import is_free, is_import
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.walk import walk

_LIMITS = ("MAX_ROUNDS", "MAX_MODEL_ROUNDS", "MAX_AGENT_ROUNDS")
_COUNTERS = ("rounds", "rounds_used", "model_rounds")
_ROUNDS = 50
_TITLE = f"limit the rounds to {_ROUNDS}, and raise when they are used up"
_EMPTY = cst.EmptyLine(indent=False)


@of_the_file
def repair(anatomy: Anatomy, loop: cst.While | cst.For) -> Fix | None:
    """None where the loop has an `else`, which runs when its test has become false, and where no name is free."""
    module, block = anatomy.module, block_of(anatomy.module, loop)
    if not isinstance(loop, cst.While) or loop.orelse is not None or not isinstance(loop.body, cst.IndentedBlock):
        return None
    limit = next((name for name in _LIMITS if is_free(module, loop, name) or _is_number(module, loop, name)), None)
    counter = next((name for name in _COUNTERS if is_free(module, loop, name)), None)
    if block is None or limit is None or counter is None:
        return None
    body = loop.body
    is_plain = _is_true(loop.test) and not module.scope_of[loop].function.named("_")

    def build() -> Edits:
        error = _statement(module, f'raise RuntimeError(f"no answer within {{{limit}}} rounds")')
        changed: dict[Block, list[Change]] = {block: []}
        replaced: dict[cst.CSTNode, cst.CSTNode] = {}
        if is_plain:
            has_break = _has_break(module, loop)
            orelse = cst.Else(cst.IndentedBlock([error], indent=body.indent)) if has_break else None
            numbers = cst.parse_expression(f"range({limit})")
            lines = loop.leading_lines
            replaced[loop] = cst.For(cst.Name("_"), numbers, body, orelse, leading_lines=lines)
            changed[block] += [_behind(block, loop, error)] if not has_break else []
        else:
            test = cst.If(cst.parse_expression(f"{counter} == {limit}"), cst.IndentedBlock([error], indent=body.indent))
            head = [test, _statement(module, f"{counter} += 1")]
            changed[body] = [lambda statements: [*head, *statements]]
            changed[block].append(_started(block, loop, _statement(module, f"{counter} = 0")))
        if not _is_number(module, loop, limit):
            constant = _statement(module, f"{limit} = {_ROUNDS}")
            changed.setdefault(module.tree, []).append(_defining(_place(module, loop), constant))
        together = {place: _together(changes) for place, changes in changed.items() if changes}
        return Edits(replaced=replaced, changed=together, claimed=frozenset({loop.test}))

    return Fix(_TITLE, "display", build)


def _is_true(test: cst.BaseExpression) -> bool:
    return ex.dotted(test) == "True" or ex.integer(test) == 1


def _is_number(module: SourceModule, at: cst.CSTNode, name: str) -> bool:
    """Whether a name is a constant of the module: a number that is assigned once, at its top."""
    if module.scope_binding(module.scope_of[at], name) is not module.top:
        return False
    bound = [value for target, value in _constants(module) if target == name]
    others = [node for node in module.nodes_of(cst.Name) if node.value == name and node in _targets(module)]
    return len(bound) == len(others) == 1 and (ex.integer(bound[0]) or 0) > 0


def _constants(module: SourceModule) -> Iterator[tuple[str, cst.BaseExpression]]:
    for line in module.tree.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
                for name in ex.target_names(statement.targets[0].target):
                    yield name, statement.value


def _targets(module: SourceModule) -> set[cst.CSTNode]:
    """The names that stand where something is assigned."""
    return {node.target for node in module.nodes_of(cst.AssignTarget)} | {
        node.target for node in module.nodes_of(cst.AugAssign)
    }


def _has_break(module: SourceModule, loop: cst.While) -> bool:
    """Whether the loop is left by a `break`; if not, its end is reached only when the rounds are used up."""
    breaks = (node for node in walk(loop.body) if isinstance(node, cst.Break))
    return any(module.loop_around(node) is loop for node in breaks)


def _together(changes: list[Change]) -> Change:
    """Changes of one block, one after the other. The first ones do not move what the later ones count."""

    def changed(statements: list[Any]) -> list[Any]:
        for change in changes:
            statements = change(statements)
        return statements

    return changed


def _behind(block: Block, loop: cst.While, error: cst.BaseStatement) -> Change:
    """The error behind the loop."""

    def inserted(statements: list[Any]) -> list[Any]:
        at = list(block.body).index(loop) + 1
        return [*statements[:at], error, *statements[at:]]

    return inserted


def _started(block: Block, loop: cst.While, start: cst.BaseStatement) -> Change:
    """`rounds = 0` before the loop."""

    def inserted(statements: list[Any]) -> list[Any]:
        return put_before(statements, list(block.body).index(loop), start)

    return inserted


def _place(module: SourceModule, at: cst.CSTNode) -> int:
    """The index behind the docstring and the imports that come before the statement of the module around a node."""
    after = 0
    for index, line in enumerate(module.tree.body):
        if module.inside(at, line):
            break
        if is_import(line) or (index == 0 and after == 0 and _is_docstring(line)):
            after = index + 1
    return after


def _is_docstring(line: cst.CSTNode) -> bool:
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    return isinstance(first, cst.Expr) and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString))


def _defining(at: int, constant: Any) -> Change:
    """The constant at its place in the module, with empty lines around it."""

    def inserted(statements: list[Any]) -> list[Any]:
        before, behind = statements[:at], statements[at:]
        apart = 2 if behind and isinstance(behind[0], (cst.FunctionDef, cst.ClassDef)) else 1
        told = with_blank_lines(constant, [_EMPTY] if before else [])
        return [*before, told, *(with_blank_lines(line, [_EMPTY] * apart) for line in behind[:1]), *behind[1:]]

    return inserted


def _statement(module: SourceModule, text: str) -> Any:
    return cst.parse_statement(text, module.tree.config_for_parsing)
