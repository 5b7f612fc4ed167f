"""Loops of rounds whose last request lets the model call no tools: their last reply is an answer.

for number in range(ROUNDS):
    reply = ask(messages, tool_choice="none" if number == ROUNDS - 1 else "auto")
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.rounds.offers import NO_TOOLS
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.constants import constant
from lint_rules.syntax import expressions as ex

_CHOICES = ("tool_choice", "function_call")
_OFFERS = ("tools", "functions", *_CHOICES)


def answers_at_last(anatomy: Anatomy, loop: RoundLoop) -> bool:
    """Whether each request of a `for` over a range forbids tools, or offers none, in the last round."""
    last = _last_number(anatomy, loop.node)
    asks = [call for call in anatomy.calls.calls_within(loop.node, loop.function) if anatomy.calls.asks(call)]
    return last is not None and bool(asks) and all(
        any(_is_none_at(anatomy, *offered, loop.node, last) for offered in _offered(anatomy, call)) for call in asks
    )  # fmt: skip


_Number = tuple[str, int]
"""A number as what is known of it: a value that the code names, "" for zero, and what is added to it."""


def _last_number(anatomy: Anatomy, loop: cst.CSTNode) -> _Number | None:
    """What the loop variable is in the last round: n - 1 in `range(n)`."""
    over = loop.iter if isinstance(loop, cst.For) and isinstance(loop.target, cst.Name) else None
    if not isinstance(over, cst.Call) or ex.dotted(over.func) != "range" or len(ex.positional(over)) not in {1, 2}:
        return None
    name, more = _number(anatomy, ex.positional(over)[-1])
    return name, more - 1


def _number(anatomy: Anatomy, node: cst.BaseExpression) -> _Number:
    known = constant(anatomy, node)
    if known is not None:
        return "", known
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract)):
        added = constant(anatomy, node.right)
        if added is not None:
            name, more = _number(anatomy, node.left)
            return name, more + (added if isinstance(node.operator, cst.Add) else -added)
    return ex.source(node), 0


def _offered(anatomy: Anatomy, call: cst.Call) -> Iterator[tuple[str, cst.BaseExpression]]:
    """What a request is given as tools, or as their choice; through a function of this file that makes the request."""
    if call in anatomy.facts.calls:
        yield from ((word, value) for word in _OFFERS if (value := ex.argument(call, word)) is not None)
        return
    callee = anatomy.facts.slots.callee(call)
    given = dict(anatomy.facts.slots.bindings(call, callee)) if callee is not None else {}
    requests = anatomy.calls.llm_calls.get(callee, ()) if callee is not None else ()
    for word, value in (offered for request in requests for offered in _offered(anatomy, request)):
        slot = anatomy.facts.slots.of(value)
        if slot in given:
            yield word, given[slot]


def _is_none_at(anatomy: Anatomy, word: str, value: cst.BaseExpression, loop: cst.CSTNode, last: _Number) -> bool:
    """Whether a value is none where the loop variable is `last`: `"none" if number == ROUNDS - 1 else "auto"`."""
    made = anatomy.assigned(value) if isinstance(value, cst.Name) else None
    chosen = made if made is not None else value
    if not isinstance(chosen, cst.IfExp):
        return False
    outcome = _holds_at(anatomy, chosen.test, loop, last)
    taken = chosen.body if outcome else chosen.orelse
    if outcome is None or word not in _CHOICES:
        return outcome is not None and (handlers.is_neutral(taken) or ex.dotted(taken) in NO_TOOLS)
    return ex.text(ex.dict_items(taken).get("type", taken)) == "none"


def _holds_at(anatomy: Anatomy, test: cst.BaseExpression, loop: cst.CSTNode, last: _Number) -> bool | None:
    """What a comparison of the loop variable gives in the last round; None where that is not known."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(loop, cst.For):
        return None
    left, more = _number(anatomy, test.left)
    right, other = _number(anatomy, test.comparisons[0].comparator)
    counter = ex.source(loop.target)
    left, more = (last[0], more + last[1]) if left == counter else (left, more)
    right, other = (last[0], other + last[1]) if right == counter else (right, other)
    return ex.holds(test.comparisons[0].operator, more, other) if left == right else None
