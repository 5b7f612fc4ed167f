"""AGL601: the call gets a tool message before the `continue` that passes it over, in the form of the loop's others.

The form is copied from an answer that the same loop appends: the list, the keys, the id. Only its text is new. Nothing
is done where the result has another form than text, or where the id is not bound yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import is_answer
from lint_rules.obligations.waiting import Taken
from lint_rules.repairs.edits import Edits, Fix, block_of, line_of, of_the_file
from lint_rules.rules.missing_tool_result.escapes import Escape
from lint_rules.syntax import expressions as ex

_TEXT = '"error: this call was not executed"'
_KEPT = frozenset({"role", "type", "tool_call_id", "tool_use_id", "call_id"})
_SAID = frozenset({"content", "output"})
_NO_TEXT = (cst.List, cst.Dict, cst.ListComp, cst.Tuple)


@of_the_file
def repair(anatomy: Anatomy, taken: Taken, escape: Escape) -> Fix | None:
    """An answer before the `continue`; None where the loop does not show its form."""
    jump = escape.jump
    if taken.loop is None or not isinstance(jump, cst.Continue):
        return None
    line = line_of(anatomy.module, jump)
    block = block_of(anatomy.module, line) if line is not None else None
    answer = next(_answers(anatomy, taken, jump), None)
    if line is None or block is None or answer is None:
        return None

    def build() -> Edits:
        def inserted(statements: list[Any]) -> list[Any]:
            at = list(block.body).index(line)
            here = statements[at]
            first = answer.with_changes(leading_lines=here.leading_lines)
            return [*statements[:at], first, here.with_changes(leading_lines=[]), *statements[at + 1 :]]

        return Edits(changed={block: inserted})

    return Fix("answer the call before the loop goes on", "unsafe", build)


def _answers(anatomy: Anatomy, taken: Taken, jump: cst.CSTNode) -> Iterator[cst.SimpleStatementLine]:
    """The answers that the loop appends, as statements with a text of their own."""
    assert taken.loop is not None
    for node in taken.function.nodes:
        if type(node) is not cst.Call or ex.called_name(node) != "append" or len(node.args) != 1:
            continue
        base, value = ex.receiver(node), node.args[0].value
        if base is None or type(value) is not cst.Dict or not is_answer(value):
            continue
        line = line_of(anatomy.module, node)
        if line is None or not anatomy.module.inside(line, taken.loop.body) or _is_bound(anatomy, taken, base):
            continue
        if isinstance(line.body[0], cst.Expr) and line.body[0].value is node:
            made = _made(anatomy, taken, value, jump)
            if made is not None:
                call = cst.Call(func=cst.Attribute(base, cst.Name("append")), args=[cst.Arg(made)])
                yield cst.SimpleStatementLine([cst.Expr(call)])


def _made(anatomy: Anatomy, taken: Taken, value: cst.Dict, jump: cst.CSTNode) -> cst.Dict | None:
    """The dict with its id and another text; None where it holds more than the form needs, or no text."""
    elements: list[cst.DictElement] = []
    answered = said = False
    for element in value.elements:
        key = ex.text(element.key) if isinstance(element, cst.DictElement) else None
        if key in _KEPT and isinstance(element, cst.DictElement):
            given = element.value
            if ex.text(given) is None:
                if not _is_known_id(taken, given, jump):
                    return None
                answered = True
            elements.append(cst.DictElement(element.key, given))
        elif key in _SAID and isinstance(element, cst.DictElement) and not isinstance(element.value, _NO_TEXT):
            said = True
            elements.append(cst.DictElement(element.key, cst.SimpleString(_TEXT)))
    return cst.Dict(elements) if answered and said else None


def _is_known_id(taken: Taken, given: cst.BaseExpression, jump: cst.CSTNode) -> bool:
    """Whether the id can be read at the jump: off the call itself, or by a name that every way there has bound."""
    if not taken.hand.is_id(given):
        return False
    if type(given) is not cst.Name:
        pair = ex.member(given)
        return pair is not None and taken.hand.is_whole(pair[0])
    graph = taken.region.graph
    bound = [
        point
        for point in taken.region.points
        if isinstance(point.statement, cst.Assign)
        and any(given.value in ex.target_names(target.target) for target in point.statement.targets)
    ]
    return any(graph.dominates(point, at) for point in bound for at in graph.at(jump))


def _is_bound(anatomy: Anatomy, taken: Taken, base: cst.BaseExpression) -> bool:
    """Whether the list is made anew somewhere in the loop, so that it may not be the same at the jump."""
    slot = anatomy.facts.slots.of(base)
    return slot is None or any(
        isinstance(point.statement, cst.Assign)
        and any(anatomy.facts.slots.of(target.target) == slot for target in point.statement.targets)
        for point in taken.region.points
    )
