"""Functions that give back a part of the calls they get: some are chosen, or doubles left out."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_PUTTING = frozenset({"append", "add", "setdefault"})


def left_behind(anatomy: Anatomy, callee: Scope) -> dict[Slot, cst.CSTNode]:
    """The parameters of a function of which it returns some elements only, each with the loop that chooses."""
    found: dict[Slot, cst.CSTNode] = {}
    slots = anatomy.facts.slots
    returned = [ex.inner(value) for value in callee.returned]
    if len(returned) != 1:
        return found
    given = {slots.parameter(callee, p.name.value) for p in parameters(callee)}
    value = returned[0]
    if isinstance(value, cst.ListComp) and value.for_in.ifs and type(value.elt) is cst.Name:
        slot = slots.of(value.for_in.iter)
        return {slot: value} if slot in given and slot is not None else found
    kept = _container(anatomy, value)
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
        base, args = ex.receiver(value), ex.positional(value)
        inside = args[0] if args else base
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
    base = ex.receiver(node)
    return base is not None and slots.of(base) == kept and any(ex.dotted(arg.value) == element for arg in node.args)


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
    return bool(inside) and (
        any(t in headers for t in inside) or graph.reaches(inside, headers, barred, exceptions=False)
    )


def stored_whole(anatomy: Anatomy, slot: Slot, function: Scope, depth: int = 0) -> cst.CSTNode | None:
    """Where a message is stored that carries all calls of a list, here or in a caller that passes it; None if not."""
    if depth > 3:
        return None
    slots = anatomy.facts.slots
    whole = {slot, slot[1]} if slot[0] == "member" else {slot}
    for stored in anatomy.transcript.stored(function):
        if stored.calls is None:
            continue
        value = stored.write.value if stored.write is not None and stored.write.node is stored.node else None
        carried = [n for part in (stored.calls, value) if part is not None for n in walk(part)]
        if any(slots.of(n) in whole for n in carried if isinstance(n, (cst.Name, cst.Attribute))):
            return stored.node
    for site in anatomy.calls.sites[function]:
        for parameter, value in slots.bindings(site.node, function):
            outside = slots.of(value)
            if parameter == slot and outside is not None and site.caller is not function:
                found = stored_whole(anatomy, outside, site.caller, depth + 1)
                if found is not None:
                    return found
    return None
