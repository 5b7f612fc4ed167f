"""Results that a loop over calls makes under one name, of which the last alone is stored, behind the loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import calls_of, ends_after_one
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time, one_call_known
from lint_rules.anatomy.program.handlers import shown_only
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class LastResult:
    """`made` gives the result of each call of `loop` one name; at `stored`, behind the loop, it is put down once."""

    made: cst.Assign
    loop: cst.For
    stored: cst.CSTNode


def last_results(anatomy: Anatomy) -> Iterator[LastResult]:
    """Those of a file."""
    for loop in anatomy.module.nodes_of(cst.For):
        function = anatomy.module.scope_of[loop].function
        if not anatomy.facts.is_kind(loop.iter, Kind.CALLS) or ends_after_one(anatomy, loop, function):
            continue
        if one_at_a_time(anatomy, function) or one_call_known(anatomy, function, [loop.iter]):
            continue
        calls = calls_of(anatomy, loop)
        for made in anatomy.module.nodes_inside(loop.body, function, cst.Assign):
            slot = anatomy.facts.slots.of(made.targets[0].target)
            if slot is not None and slot[0] == "var" and _answers(anatomy, made.value, calls):
                stored = _stored_behind(anatomy, function, loop, anatomy.readers(function, slot).get(made, []))
                if stored is not None:
                    yield LastResult(made, loop, stored)


def _answers(anatomy: Anatomy, value: cst.BaseExpression, calls: frozenset[Slot]) -> bool:
    """Whether a value is a message that answers the call which a loop has in hand."""
    messages = anatomy.transcript.messages
    made = [*messages.of(value), *messages.many(value)]
    ids = (part for message in made for answer in message.answers for part in walk(answer))
    return any(isinstance(part, cst.Name) and anatomy.facts.slots.of(part) in calls for part in ids)


def _stored_behind(anatomy: Anatomy, function: Scope, loop: cst.For, reads: list[cst.Name]) -> cst.CSTNode | None:
    """Where a message is stored behind a loop, of which nobody but who looks on gets anything in the loop."""
    module = anatomy.module
    inside = [name for name in reads if module.inside(name, loop)]
    behind = set(reads) - set(inside)
    if not all(shown_only(module, name) for name in inside):
        return None
    return next((s.node for s in anatomy.transcript.stored(function) if behind.intersection(walk(s.node))), None)
