"""Loops that go through some of the calls of a stored message only: those that are left out get no answer.

A function of this file has chosen them; the message holds all.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.in_hand import InHand
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.obligations.open_ends import REFUSED
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_PUTTING = frozenset({"append", "add", "setdefault"})
_DEEPEST = 3
_CURE = "answer each stored call on every path, also with the reason why its tool did not run"


def chosen(anatomy: Anatomy, answers: Answers, function: Scope) -> Iterator[Draft]:
    """Such loops, where all calls are stored, here or by a caller, and the others gone through nowhere."""
    for loop in function.nodes_of(cst.For, cst.CompFor):
        for part, whole, choice in _chosen(anatomy, answers, loop):
            stored = stored_whole(anatomy, whole, function)
            if stored is None or _iterated_elsewhere(anatomy, function, whole) or not _hands_each_on(anatomy, loop):
                continue
            message = (
                f"the calls that `{ex.called_name(part)}` leaves out are stored, and get no tool result: {REFUSED}"
            )
            notes = (Note(choice, "some calls are left out here"), Note(stored, "all of them are stored here"))
            yield Draft(part, message, _CURE, notes)


def _chosen(
    anatomy: Anatomy, answers: Answers, loop: cst.For | cst.CompFor
) -> Iterator[tuple[cst.Call, Slot, cst.CSTNode]]:
    """The part that a loop goes through, the list of all calls, and where some are left out."""
    facts = anatomy.facts
    made = [*map(ex.inner, facts.assigned(facts.slots.of_name(loop.iter)))] or [ex.inner(loop.iter)]
    part = made[0]
    callee = facts.slots.callee(part) if len(made) == 1 else None
    if callee is not None and isinstance(part, cst.Call) and not answers.reaches(callee):
        behind = left_behind(anatomy, callee)
        for parameter, value in facts.slots.bindings(part, callee) if behind else ():
            slot = facts.slots.of(value)
            if parameter in behind and slot is not None:
                yield part, slot, behind[parameter]


def _hands_each_on(anatomy: Anatomy, loop: cst.For | cst.CompFor) -> bool:
    """Whether each call of a loop is given to somebody: not only shown."""
    slot = anatomy.facts.slots.of_name(loop.target)
    if slot is None:
        return False
    hand = InHand(anatomy.facts, slot, [])
    region = loop.body if isinstance(loop, cst.For) else anatomy.module.parent[loop]
    calls = (n for n in walk(region) if type(n) is cst.Call and not is_logging(n))
    return any(hand.hands_on(arg.value) for call in calls for arg in call.args)


def _iterated_elsewhere(anatomy: Anatomy, function: Scope, slot: Slot) -> bool:
    """Whether all calls are gone through besides: their results may be told apart there."""
    return any(anatomy.facts.slots.of(node.iter) == slot for node in function.nodes_of(cst.For, cst.CompFor))


def left_behind(anatomy: Anatomy, callee: Scope) -> dict[Slot, cst.CSTNode]:
    """The parameters of a function of which it returns some elements only, each with the loop that chooses."""
    slots = anatomy.facts.slots
    returned = [ex.inner(value) for value in callee.returned]
    given = {slots.parameter(callee, p.name.value) for p in parameters(callee)}
    value = returned[0] if len(returned) == 1 else None
    if isinstance(value, cst.ListComp) and value.for_in.ifs and type(value.elt) is cst.Name:
        slot = slots.of(value.for_in.iter)
        return {slot: value} if slot in given and slot is not None else {}
    found: dict[Slot, cst.CSTNode] = {}
    kept = _container(anatomy, value) if value is not None else None
    for loop in callee.nodes_of(cst.For) if kept is not None else ():
        slot, element = slots.of(loop.iter), loop.target
        if slot in given and slot is not None and isinstance(element, cst.Name):
            puts = [n for n in walk(loop.body) if _puts(anatomy, n, kept, element.value)]
            if puts and (any(map(_shares_place, puts)) or _passes_by(anatomy, callee, loop, puts)):
                found[slot] = loop
    return found


def _container(anatomy: Anatomy, value: cst.BaseExpression) -> Slot | None:
    """What is returned: `kept`, `list(kept.values())`."""
    while isinstance(value, cst.Call) and ex.called_name(value) in {"list", "values", "tuple"}:
        args = ex.positional(value)
        inside = args[0] if args else ex.receiver(value)
        if inside is None:
            return None
        value = ex.inner(inside)
    return anatomy.facts.slots.of_name(value)


def _puts(anatomy: Anatomy, node: cst.CSTNode, kept: Slot | None, element: str) -> bool:
    """`kept.append(call)`, `kept[key] = call`."""
    slots = anatomy.facts.slots
    if isinstance(node, cst.Assign) and isinstance(node.targets[0].target, cst.Subscript):
        return slots.of(node.targets[0].target.value) == kept and ex.dotted(node.value) == element
    if not isinstance(node, cst.Call) or ex.called_name(node) not in _PUTTING:
        return False
    return slots.of(ex.receiver(node)) == kept and any(ex.dotted(arg.value) == element for arg in node.args)


def _shares_place(put: cst.CSTNode) -> bool:
    """`kept.setdefault(key, call)`, `kept[key] = call`: calls with one key have one place, but for their ids."""
    if isinstance(put, cst.Call):
        key = put.args[0].value if ex.called_name(put) == "setdefault" else None
    else:
        key = ex.index(put.targets[0].target) if isinstance(put, cst.Assign) else None
    pair = ex.member(key) if key is not None else None
    return key is not None and (pair is None or pair[1] not in IDS)


def _passes_by(anatomy: Anatomy, callee: Scope, loop: cst.For, puts: list[cst.CSTNode]) -> bool:
    """Whether an element may be passed over."""
    graph = anatomy.flow(callee)
    headers, barred = graph.at(loop), set(anatomy.points(callee, puts))
    inside = [t for header in headers for t, kind in header.successors if kind == "true" and t not in barred]
    return any(t in headers for t in inside) or graph.reaches(inside, headers, barred, exceptions=False)


def stored_whole(anatomy: Anatomy, slot: Slot, function: Scope, depth: int = 0) -> cst.CSTNode | None:
    """Where a message is stored that carries all calls of a list, here or in a caller that passes it; None if not."""
    slots = anatomy.facts.slots
    whole = {slot, slot[1]} if slot[0] == "member" else {slot}
    for stored in anatomy.transcript.stored(function):
        if stored.calls is None:
            continue
        value = stored.write.value if stored.write is not None and stored.write.node is stored.node else None
        carried = [n for part in (stored.calls, value) if part is not None for n in walk(part)]
        if any(slots.of(n) in whole for n in carried if isinstance(n, (cst.Name, cst.Attribute))):
            return stored.node
    for site in anatomy.calls.sites[function] if depth < _DEEPEST else ():
        for parameter, value in slots.bindings(site.node, function):
            outside = slots.of(value)
            if parameter == slot and outside is not None and site.caller is not function:
                found = stored_whole(anatomy, outside, site.caller, depth + 1)
                if found is not None:
                    return found
    return None
