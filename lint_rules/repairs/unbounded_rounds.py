"""AGL302: a number of rounds, in a constant of the module, and an error when they are used up.

Shown only: how many rounds are enough, and who is to learn of their end, is the author's to say. A `while True` becomes
a `for` with an `else`; any other loop counts its rounds at its head, for its test may end it earlier.
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
    blank_lines,
    block_of,
    of_the_file,
    with_blank_lines,
    without_blank_lines,
)
from lint_rules.repairs.imports import is_free, is_import
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule

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
        constant = [] if _is_number(module, loop, limit) else [_statement(module, f"{limit} = {_ROUNDS}")]
        at = _place(module, loop)
        error = _statement(module, f'raise RuntimeError(f"no answer within {{{limit}}} rounds")')
        if is_plain:
            orelse = cst.Else(cst.IndentedBlock([error], indent=body.indent))
            bounded = cst.For(
                cst.Name("_"),
                cst.parse_expression(f"range({limit})"),
                body,
                orelse,
                leading_lines=loop.leading_lines,
            )
            return Edits(replaced={loop: bounded}, changed={module.tree: _defining(at, constant)} if constant else {})
        test = cst.If(cst.parse_expression(f"{counter} == {limit}"), cst.IndentedBlock([error], indent=body.indent))
        head = [test, _statement(module, f"{counter} += 1")]
        started = _started(block, loop, _statement(module, f"{counter} = 0"))
        changed: dict[Block, Change] = {body: lambda statements: [*head, *statements], block: started}
        if constant:
            define = _defining(at, constant)
            changed[module.tree] = (lambda body: define(started(body))) if block is module.tree else define
        return Edits(changed=changed, claimed=frozenset({loop.test}))

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


def _started(block: Block, loop: cst.While, start: cst.BaseStatement) -> Change:
    """`rounds = 0` before the loop."""

    def inserted(statements: list[Any]) -> list[Any]:
        at = list(block.body).index(loop)
        first = with_blank_lines(start, blank_lines(statements[at]))
        return [*statements[:at], first, without_blank_lines(statements[at]), *statements[at + 1 :]]

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


def _defining(at: int, constant: list[Any]) -> Change:
    """The constant at its place in the module, with empty lines around it."""

    def inserted(statements: list[Any]) -> list[Any]:
        before, behind = statements[:at], statements[at:]
        apart = 2 if behind and isinstance(behind[0], (cst.FunctionDef, cst.ClassDef)) else 1
        told = [with_blank_lines(statement, [_EMPTY] if before else []) for statement in constant]
        return [*before, *told, *(with_blank_lines(line, [_EMPTY] * apart) for line in behind[:1]), *behind[1:]]

    return inserted


def _statement(module: SourceModule, text: str) -> Any:
    return cst.parse_statement(text, module.tree.config_for_parsing)
