"""Requests by functions that this file does not define: `reply = engine.step(history)`, `fetch(log, tools=tools)`.

What a function of another file does is asked there. Where nobody knows it (a parameter, a method that subclasses
define), what is done with it tells: it is handed a history, and what it gives is read as a reply and stored there.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import GROWERS
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.kinds import Kind, LLMCall
from lint_rules.anatomy.values.slots import Slot, made_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_SAID = frozenset({Kind.REPLY, Kind.MODEL_TEXT, Kind.CALLS})
"""What a request gives back: the reply, its text, or its calls."""


def wrapped_requests(anatomy: Anatomy) -> Iterator[LLMCall]:
    """The calls of a file that ask a model through functions of others."""
    facts = anatomy.facts
    for call in anatomy.module.nodes_of(cst.Call) if facts.all_known() else ():
        callee = facts.slots.callee(call)
        known = callee is not None and not _is_bodiless(callee)
        if known or call in facts.calls or not call.args or facts.slots.constructed(call):
            continue
        if Kind.REPLY not in facts.kinds(call) and not any(facts.is_kind(arg.value, Kind.HISTORY) for arg in call.args):
            continue
        found = run_elsewhere(anatomy, call, asking=True)
        request = _by_body(anatomy, call, *found) if found is not None else _by_use(anatomy, call)
        if request is not None:
            yield request


def _by_body(anatomy: Anatomy, call: cst.Call, there: Anatomy, function: Scope) -> LLMCall | None:
    """A function that sends what it is handed, and gives back what the model says; not one that runs a whole turn.

    Or what it sends is kept there, and what it gives back is read as a reply here.
    """
    facts = there.facts
    given = _SAID & facts.of(("return", function)).keys()
    if not there.calls.reaches_llm(function) or _takes_turn(there, function):
        return None
    reason = f"runs `{function.qualname}` of another file, which asks a model"
    for slot, value in facts.slots.bindings(call, function):
        if Kind.HISTORY in facts.of(slot) and given:
            return LLMCall(call, ex.called_name(call), reason, None, value, given)
    is_read = Kind.REPLY in anatomy.facts.kinds(call)
    return LLMCall(call, ex.called_name(call), reason) if is_read else None


def _takes_turn(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function stores messages in what it was given, in its object or in a global."""
    grown = (write.slot for write in anatomy.writes.reached_from(function) if write.kind in GROWING)
    return any(made_in(slot) is None for slot in grown)


def _by_use(anatomy: Anatomy, call: cst.Call) -> LLMCall | None:
    """A call of which nobody knows what it does, but that its result is a reply to the history that it is handed."""
    facts = anatomy.facts
    if Kind.REPLY not in facts.kinds(call):
        return None
    sent = next((arg.value for arg in call.args if Kind.HISTORY in facts.kinds(arg.value)), None)
    if sent is None or not _is_stored(anatomy, call, facts.slots.of(sent)) or _is_defined(anatomy, call):
        return None
    return LLMCall(call, ex.called_name(call), "answers the history that it is handed", None, sent)


def _is_stored(anatomy: Anatomy, call: cst.Call, history: Slot | None) -> bool:
    """Whether what a call gives is put into a history, in the same function."""
    function = anatomy.module.scope_of[call].function
    names = ReplyPlaces(anatomy).derived(function, call)
    return history is not None and any(
        (base := ex.receiver(grower)) is not None
        and ex.called_name(grower) in GROWERS
        and anatomy.facts.slots.of(base) == history
        and holds([arg.value for arg in grower.args], call, names)
        for grower in function.nodes_of(cst.Call)
    )


def _is_defined(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a function of the project is known to run, and does not leave it to others what that means."""
    found = run_elsewhere(anatomy, call)
    return found is not None and not _is_bodiless(found[1])


def _is_bodiless(function: Scope) -> bool:
    """Whether a function only says what others do: it gives nothing back and calls nothing but an error."""
    works = (cst.Call, cst.Return, cst.Yield, cst.Assign)
    raised = {part for node in function.nodes_of(cst.Raise) for part in walk(node)}
    return all(node in raised for node in function.nodes_of(*works))
