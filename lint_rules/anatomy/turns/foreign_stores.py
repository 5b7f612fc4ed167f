"""Histories that an object of another file keeps: which calls make them longer, and which give them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import classes_of, method_of
from lint_rules.anatomy.messages.growth import grows
from lint_rules.anatomy.messages.tool_messages import hold_tool_messages
from lint_rules.anatomy.values.slots import Slot, as_part_of, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record


@record
class Store:
    """What a call does to the history that is `slot` here: it gives it, or `grows` it, maybe by messages of `tools`.

    `locked`: under a lock of the other file.
    """

    slot: Slot
    grows: bool
    tools: bool = False
    locked: bool = False


def store_of(anatomy: Anatomy, call: cst.Call, function: Scope) -> Store | None:
    """What a call in `function` does, if it is one of a method of another file, on an object that outlives the run."""
    base = ex.receiver(call)
    slot = anatomy.facts.slots.of(base) if base is not None else None
    if slot is None or anatomy.facts.slots.callee(call) is not None:
        return None
    place = anatomy.aliases.of(slot)
    if not anatomy.aliases.is_lasting(place, function):
        return None
    for found in classes_of(anatomy, slot):
        method = method_of(*found, ex.called_name(call))
        if method is not None:
            return next(_done_by(*method, place), None)
    return None


def _done_by(where: Anatomy, method: Scope, place: Slot) -> Iterator[Store]:
    """What a method does to each history that the objects of its class keep."""
    reach = where.calls.may_run(method)
    line = {method.owner, *(where.module.base_classes(method.owner) if method.owner is not None else ())}
    given = [where.facts.slots.of(node.value) for node in method.nodes_of(cst.Return) if node.value is not None]
    for kept, writes in where.writes.by_slot.items():
        root = root_object(kept)
        if root[0] == "attr" and root[1] in line:
            grown = [write for write in writes if write.function in reach and grows(where, write)]
            if grown:
                locked = all(where.races.locks.held(write.node, write.function) for write in grown)
                yield Store(as_part_of(kept, place), True, hold_tool_messages(where, grown), locked)
            elif kept in given:
                yield Store(as_part_of(kept, place), False)
