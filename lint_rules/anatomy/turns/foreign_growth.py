"""Histories of this file that functions of other files make longer: `reply_to(talks[key], text)`.

Nothing here may show that it is a history: what the function does with its parameter does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import given_when_made, run_elsewhere
from lint_rules.anatomy.messages.growth import grows
from lint_rules.anatomy.messages.tool_messages import hold_tool_messages
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.turns.foreign_stores import grows_what_it_is_given, store_of
from lint_rules.anatomy.values.kinds import Evidence
from lint_rules.anatomy.values.slots import Slot, as_part_of, moved, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record


@record
class ForeignGrowth:
    """A call that makes a lasting history of this file longer, as a write of it.

    `tools`: messages of tools may be among what is added. `answered`: a question is, and what a model says to it.
    """

    write: HistoryWrite
    tools: bool
    answered: bool


_Kept = tuple[Anatomy, Scope, Slot, Slot]
"""What a call may make longer: the file and function that it runs, what the history is there, and where it is here."""


def foreign_growths(anatomy: Anatomy) -> Iterator[ForeignGrowth]:
    """All of a file, but for histories that are begun anew each time before the call."""
    for call in anatomy.module.nodes_of(cst.Call):
        function = anatomy.module.scope_of[call].function
        if function.kind not in {"function", "lambda"} or anatomy.facts.slots.callee(call) is not None:
            continue
        for there, callee, kept, lasting in (*_handed_on(anatomy, call, function), *_held(anatomy, call, function)):
            for slot, found in _grown(there, kept, callee, frozenset()).items():
                grown = [write for write in found if not _is_kept_apart(there, callee, slot, write)]
                place = moved(slot, kept, lasting)
                if grown and not _begun_anew(anatomy, place, call, function):
                    evidence = Evidence(f"is made longer by `{callee.name}`", call, used=True)
                    write = HistoryWrite(place, call, function, "append", None, evidence)
                    yield ForeignGrowth(write, hold_tool_messages(there, grown), _is_turn(there, callee, grown))
        store = store_of(anatomy, call, function) if _is_put(anatomy, call) else None
        if store is not None and not store.told:  # then who puts a message there tells it
            known = {kept.slot for kept in anatomy.kept_elsewhere.of(function) if kept.node is call}
            store = store if store.slot in known else None
        if store is not None and store.grows and not store.locked:
            evidence = Evidence(f"is made longer by `{ex.called_name(call)}`", call, used=True)
            yield ForeignGrowth(HistoryWrite(store.slot, call, function, "append", None, evidence), store.tools, False)


def _is_put(anatomy: Anatomy, call: cst.Call) -> bool:
    """`talk.say("user", text)`: a method that is told something, also if what it gives is used; no run of an agent."""
    outer = anatomy.module.awaiting(call)
    if not call.args or ex.receiver(call) is None or not isinstance(outer, (cst.Expr, cst.Assign, cst.AnnAssign)):
        return False
    found = run_elsewhere(anatomy, call, asking=True) if not isinstance(outer, cst.Expr) else None
    return found is None or not found[0].calls.reaches_llm(found[1])


def _handed_on(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[_Kept]:
    """`reply_to(talks[key], text)`: what is a parameter there."""
    places = dict(_lasting(anatomy, call, function))
    found = run_elsewhere(anatomy, call) if places else None
    for parameter, value in found[0].facts.slots.bindings(call, found[1]) if found is not None else ():
        if value in places and found is not None:
            yield *found, parameter, places[value]


def _held(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[_Kept]:
    """`clerk = Clerk(talks)`, `clerk.reply(key, text)`: what an object of another file was given when it was made."""
    slot = anatomy.facts.slots.of(ex.receiver(call))
    for made in map(ex.inner, anatomy.facts.assigned(slot)) if slot is not None else ():
        given = list(given_when_made(anatomy, made)) if isinstance(made, cst.Call) else []
        places = dict(_lasting(anatomy, made, function)) if given and isinstance(made, cst.Call) else {}
        for (there, cls), attribute, value in given:
            method = there.module.method(cls, ex.called_name(call))
            if there is not anatomy and method is not None and value in places:
                yield there, method, attribute, places[value]


def _lasting(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[tuple[cst.BaseExpression, Slot]]:
    """The arguments that outlive the run of a function, and where each lives."""
    for arg in call.args:
        place = anatomy.aliases.lasting_at(arg.value, function) if not arg.star else None
        if place is not None:
            yield arg.value, place


def _grown(there: Anatomy, kept: Slot, function: Scope, seen: frozenset[Scope]) -> dict[Slot, list[HistoryWrite]]:
    """What of a parameter, or of an attribute, gets longer in a function, and in what it runs in its file."""
    if kept[0] == "attr":
        reach = there.calls.reachable(function)
        whole = {slot: writes for slot, writes in there.writes.by_slot.items() if root_object(slot) == kept}
        within = {
            slot: [w for w in writes if w.function in reach and grows(there, w)] for slot, writes in whole.items()
        }
        return {slot: writes for slot, writes in within.items() if writes}
    found: dict[Slot, list[HistoryWrite]] = {}
    cls = there.facts.slots.classes.get(kept)
    for slot, writes in there.writes.by_slot.items():
        root = root_object(slot)
        own = [write for write in writes if root == kept or write.function is function]
        grown = [write for write in own if grows(there, write)]
        if grown and (root == kept or (cls is not None and root[:2] == ("attr", cls))):
            found[as_part_of(slot, kept)] = grown
    for site in there.calls.calls[function] if function not in seen else ():
        for inner, value in there.facts.slots.bindings(site.node, site.callee):
            if there.facts.slots.of(value) == kept and inner[0] == "var":
                for part, grown in _grown(there, inner, site.callee, seen | {function}).items():
                    found.setdefault(moved(part, inner, kept), []).extend(grown)
    return found


def _is_kept_apart(there: Anatomy, callee: Scope, slot: Slot, write: HistoryWrite) -> bool:
    """Whether a lock or flag is held over the whole turn in which a history gets longer, where that is run."""
    turns = there.turns.of(write.function)
    if any(turn.slot == slot and there.turns.is_apart(turn) for turn in turns):
        return True
    asked = {here for here in there.calls.reachable(callee) if there.turns.requests(here)}
    return write.function in asked and write.function not in there.unguarded.reach(callee, None)


def _is_turn(there: Anatomy, callee: Scope, grown: Iterable[HistoryWrite]) -> bool:
    """Whether a question is stored before a model is asked, and its answer afterwards."""
    asks = [call for call in callee.nodes_of(cst.Call) if there.calls.asks(call)]
    writing = {write.function for write in grown}
    nodes = [write.node for write in grown if write.function is callee]
    nodes += [s.node for s in there.calls.calls[callee] if s.node not in asks and s.callee in writing]
    leads = there.leads
    return any(leads(callee, [n], asks) for n in nodes) and any(leads(callee, asks, [n]) for n in nodes)


def makes_longer(there: Anatomy, function: Scope, parameter: Slot) -> bool:
    """Whether a function makes a history longer that a parameter gets, or that the object keeps which it gets."""
    grown = _grown(there, parameter, function, frozenset())
    return bool(grown) or grows_what_it_is_given(there, function, parameter)


def _begun_anew(anatomy: Anatomy, place: Slot, call: cst.Call, function: Scope) -> bool:
    """Whether the history is replaced or emptied on all ways to the call."""
    flow, parent = anatomy.flow(function), anatomy.module.parent
    empties = [
        node
        for node in function.nodes_of(cst.Assign, cst.Call)
        if any(anatomy.aliases.of(slot) == place for slot in _emptied(anatomy, node))
    ]
    starts = [point for node in empties for point in flow.enclosing(node, parent)]
    goals = flow.enclosing(call, parent)
    return bool(goals) and all(any(flow.dominates(start, goal) for start in starts) for goal in goals)


def _emptied(anatomy: Anatomy, node: cst.Assign | cst.Call) -> Iterator[Slot]:
    """What is emptied, or has something new put in its place: `talks[key] = [SYSTEM]`, `history.clear()`."""
    if isinstance(node, cst.Assign):
        fresh = isinstance(ex.inner(node.value), (cst.List, cst.Dict, cst.Call))
        places = [target for target in ex.targets(node) if fresh]
    else:
        places = [base] if (base := ex.receiver(node)) is not None and ex.called_name(node) == "clear" else []
    for target in places:
        slot = anatomy.facts.slots.of(target)
        if slot is not None:
            yield slot
