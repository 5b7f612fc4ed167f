"""Runs whose calls are kept for the next one, as they are told of, and whose results are not: they are only shown."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.obligations.again import Again
from lint_rules.obligations.moves import Moves
from lint_rules.obligations.open_ends import REFUSED
from lint_rules.obligations.waiting import runs_in
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk


def unkept_results(anatomy: Anatomy) -> Iterator[Draft]:
    """Where calls that a run tells of get into the list it begins with; it makes results, and puts them nowhere."""
    for function in anatomy.module.functions:
        stored = anatomy.transcript.stored(function)
        calls = [s for s in stored if s.calls is not None and s.role == "assistant" and s.slot is not None]
        for loop in function.nodes_of(cst.For) if calls and not any(map(_may_answer, stored)) else ():
            told = [s for s in calls if anatomy.module.inside(s.node, loop.body)]
            run = next(_answering_runs(anatomy, loop), None) if told else None
            target = _begun_with(anatomy, loop, function, told[0]) if run is not None else None
            if run is not None and target is not None and not _stores_itself(anatomy, loop, target):
                name, place = ex.called_name(run), describe(target)
                message = f"the calls that `{name}` tells of get into `{place}`, and none of their results: {REFUSED}"
                note = Note(run, f"begins with `{place}`, and makes the results")
                yield Draft(told[0].node, message, "store each result behind the message with its call", (note,))


def _may_answer(stored: Stored) -> bool:
    """Whether what is stored is a result, or may be one as far as the code shows."""
    made = ex.inner(stored.write.value) if stored.write is not None and stored.write.value is not None else None
    empty = isinstance(made, cst.List) and not made.elements
    return stored.answers or (stored.role is None and not empty and stored.kind != "rebind")


def _answering_runs(anatomy: Anatomy, loop: cst.For) -> Iterator[cst.Call]:
    for call, there, callee in runs_in(anatomy, loop):
        if any(type(node) is cst.Yield for node in callee.nodes) and Answers(there.facts, there.calls).reaches(callee):
            yield call


def _begun_with(anatomy: Anatomy, loop: cst.For, function: Scope, stored: Stored) -> Slot | None:
    """The list or store that the messages of a loop get into, where what the loop goes through is made of it.

    None where something else is put there, too: it may be told of the results in other words.
    """
    slots = anatomy.facts.slots
    named = {slots.of(node) for node in walk(loop.iter) if isinstance(node, (cst.Name, cst.Attribute))}
    values = [value for slot in named if slot is not None for value in anatomy.facts.assigned(slot)]
    named |= {slots.of(node) for value in values for node in walk(value) if isinstance(node, (cst.Name, cst.Attribute))}
    moves = list(Moves(Again(anatomy, function)).all())
    targets = [stored.slot, *(move.target for move in moves if slots.of(move.source) == stored.slot)]
    target = next((target for target in targets if target is not None and target in named), None)
    known = {*(s.node for s in anatomy.transcript.stored(function)), *(move.node for move in moves)}
    more = (call for call in function.nodes_of(cst.Call) if call not in known and anatomy.module.is_statement(call))
    return None if any(slots.of(ex.receiver(call)) == target for call in more) else target


def _stores_itself(anatomy: Anatomy, loop: cst.For, target: Slot) -> bool:
    """Whether a run may put results there, too, or another function of this file does."""
    own = (s for f in anatomy.module.functions for s in anatomy.transcript.stored(f) if s.answers)
    if any(s.slot == target for s in own):
        return True
    for call, there, callee in runs_in(anatomy, loop):
        slots = there.facts.slots
        given = {slot for slot, value in slots.bindings(call, callee) if _is_made_of(anatomy, value, target)}
        for inside in there.calls.reachable(callee) if given else ():
            stored = [s for s in there.transcript.stored(inside) if s.answers]
            puts = [c for c in inside.nodes_of(cst.Call) if c.args and slots.of(ex.receiver(c)) in given]
            if any(s.slot in given for s in stored) or there.leads(inside, [s.node for s in stored], puts):
                return True
    return False


def _is_made_of(anatomy: Anatomy, value: cst.BaseExpression, target: Slot) -> bool:
    return any(anatomy.facts.slots.of(node) == target for node in walk(value) if isinstance(node, cst.BaseExpression))
