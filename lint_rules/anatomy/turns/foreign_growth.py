"""Histories of this file that functions of other files make longer: `reply_to(talks[key], text)`.

Nothing here may show that it is a history: what the function does with its parameter does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import classes_of
from lint_rules.anatomy.messages.growth import grows
from lint_rules.anatomy.messages.tool_messages import hold_tool_messages
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.turns.foreign_stores import as_part_of, root_object
from lint_rules.anatomy.values.kinds import Evidence
from lint_rules.anatomy.values.slots import Slot
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


def foreign_growths(anatomy: Anatomy) -> Iterator[ForeignGrowth]:
    """All of a file, but for histories that are begun anew each time before the call."""
    for call in anatomy.module.nodes_of(cst.Call):
        function = anatomy.module.scope_of[call].function
        places = dict(_lasting(anatomy, call, function)) if function.kind in {"function", "lambda"} else {}
        found = _called(anatomy, call) if places else None
        if found is None:
            continue
        there, callee = found
        for parameter, value in there.facts.slots.bindings(call, callee):
            if value in places:
                for kept, grown in _grown(there, parameter, callee, frozenset()).items():
                    place = _moved(kept, parameter, places[value])
                    if not _begun_anew(anatomy, place, call, function):
                        evidence = Evidence(f"is made longer by `{callee.name}`", call, used=True)
                        write = HistoryWrite(place, call, function, "append", None, evidence)
                        yield ForeignGrowth(write, hold_tool_messages(there, grown), _is_turn(there, callee, grown))


def _lasting(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[tuple[cst.BaseExpression, Slot]]:
    """The arguments that outlive the run of a function, and where each lives."""
    for arg in call.args:
        slot = anatomy.facts.slots.of(arg.value) if not arg.star else None
        place = anatomy.aliases.of(slot) if slot is not None else None
        if place is not None and anatomy.aliases.is_lasting(place, function):
            yield arg.value, place


def _called(anatomy: Anatomy, call: cst.Call) -> tuple[Anatomy, Scope] | None:
    """The function or method of another file that a call runs."""
    if anatomy.facts.slots.callee(call) is not None:
        return None
    found = anatomy.imported_function(ex.dotted(call.func) or "")
    base = ex.receiver(call)
    slot = anatomy.facts.slots.of(base) if found is None and base is not None else None
    for there, cls in classes_of(anatomy, slot) if slot is not None else ():
        method = there.module.method(cls, ex.called_name(call))
        if method is not None:
            return there, method
    return found


def _grown(there: Anatomy, parameter: Slot, function: Scope, seen: frozenset[Scope]) -> dict[Slot, list[HistoryWrite]]:
    """What of a parameter gets longer in a function, and in those of its file that it hands the parameter on to."""
    found: dict[Slot, list[HistoryWrite]] = {}
    cls = there.facts.slots.classes.get(parameter)
    for slot, writes in there.writes.by_slot.items():
        root = root_object(slot)
        own = [write for write in writes if root == parameter or write.function is function]
        grown = [write for write in own if grows(there, write)]
        if grown and (root == parameter or (cls is not None and root[:2] == ("attr", cls))):
            found[as_part_of(slot, parameter)] = grown
    for site in there.calls.calls[function] if function not in seen else ():
        for inner, value in there.facts.slots.bindings(site.node, site.callee):
            if there.facts.slots.of(value) == parameter and inner[0] == "var":
                for kept, grown in _grown(there, inner, site.callee, seen | {function}).items():
                    found.setdefault(_moved(kept, inner, parameter), []).extend(grown)
    return found


def _moved(slot: Slot, root: Slot, place: Slot) -> Slot:
    """A slot that is a part of `root`, as the same part of `place`."""
    return place if slot == root else (slot[0], _moved(slot[1], root, place), *slot[2:])


def _is_turn(there: Anatomy, callee: Scope, grown: Iterable[HistoryWrite]) -> bool:
    """Whether a question is stored before a model is asked, and its answer afterwards."""
    asks = [call for call in callee.nodes_of(cst.Call) if there.calls.asks(call)]
    writing = {write.function for write in grown}
    nodes = [write.node for write in grown if write.function is callee]
    nodes += [s.node for s in there.calls.calls[callee] if s.node not in asks and s.callee in writing]
    leads = there.leads
    return any(leads(callee, [n], asks) for n in nodes) and any(leads(callee, asks, [n]) for n in nodes)


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
