"""Histories that one run begins anew while the turn of another waits for the model.

The answer is then stored in the new history, and stands there without its question.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.growth import resets
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.turns.turns import Turn, is_keyed
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

_REMOVERS = frozenset({"pop", "clear"})


@record
class Reset:
    """At `node`, `function` begins `slot` anew, beside `turn`, as `start` runs it."""

    node: cst.CSTNode
    function: Scope
    slot: Slot
    turn: Turn
    start: Start


def resets_beside(anatomy: Anatomy) -> Iterator[Reset]:
    """Those of a file that no lock keeps apart from turns on the same history: for each function and history one."""
    races = anatomy.races
    begun = [start for start in anatomy.unguarded.starts if start.kind == "handler" or anatomy.unguarded.is_many(start)]
    reach = {start: anatomy.unguarded.reach(start.function, start) for start in begun}
    running = dict.fromkeys(function for reached in reach.values() for function in reached)
    turns = [turn for function in running for turn in anatomy.turns.of(function) if turn.answers or turn.tools]
    told: set[tuple[Scope, Slot]] = set()
    for turn in turns:
        if not is_keyed(turn.slot):  # one for all users, which is worse
            continue
        if not any(_looks_again(anatomy, turn, node) for node in turn.grows):
            continue
        for node, function in _resets(anatomy, turn.slot):
            start = next((s for s in begun if function in reach[s] and turn.function not in reach[s]), None)
            apart = bool(races.locks.around(node, function)) or races.locks.at_entry(function)
            if start is not None and not apart and (function, turn.slot) not in told and not races.is_setup(function):
                told.add((function, turn.slot))
                yield Reset(node, function, turn.slot, turn, start)


def _looks_again(anatomy: Anatomy, turn: Turn, node: cst.CSTNode) -> bool:
    """Whether a turn looks the history up again, behind the ask, to make it longer: no name still holds the old one."""
    if not anatomy.leads(turn.function, turn.asks, [node]) or node in turn.asks:
        return False
    base = ex.receiver(node) if isinstance(node, cst.Call) else None
    given = [arg.value for arg in node.args] if isinstance(node, cst.Call) else []
    slots = [anatomy.facts.slots.of(value) for value in (*given, *([base] if base is not None else []))]
    held = (slot for slot in slots if slot is not None and slot[0] == "var" and slot[1] is turn.function)
    return all(anatomy.aliases.of(slot) != turn.slot for slot in held)


def _resets(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[cst.CSTNode, Scope]]:
    """Where a history is replaced by a new one, emptied, or taken out of its registry."""
    for kept, writes in anatomy.writes.by_slot.items():
        if anatomy.aliases.of(kept) == slot:
            for write in writes:
                if resets(anatomy, write):
                    yield write.node, write.function
    registry = slot[1] if slot[0] == "item" else None
    for node in anatomy.module.nodes_of(cst.Del, cst.Call) if registry is not None else ():
        if isinstance(node, cst.Del):
            target = node.target.value if isinstance(node.target, cst.Subscript) else None
        else:
            target = ex.receiver(node) if ex.called_name(node) in _REMOVERS else None
        place = anatomy.facts.slots.of(target) if target is not None else None
        if place is not None and anatomy.aliases.of(place) == registry and root_object(registry)[0] in {"attr", "var"}:
            yield node, anatomy.module.scope_of[node].function
