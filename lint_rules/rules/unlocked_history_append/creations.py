"""Conversations that are made when a look finds none, and stored after a wait: two runs make one each.

The provider begins them, or its library makes an object that keeps one.

if key not in threads:
    threads[key] = client.beta.threads.create().id
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.messages.growth import keeps_conversation
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.turns.races import Races
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.slots import Slot, whole_of
from lint_rules.anatomy.vocabulary import MAKERS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record


@record
class Creation:
    """`node` stores in `slot` what `made` gives after a wait; `look` found none there; `start` runs several at once."""

    node: cst.Assign
    slot: Slot
    look: cst.CSTNode
    made: cst.Call
    start: Start


def creations(races: Races) -> Iterator[Creation]:
    """Those of a file that nothing keeps apart, one for each function and place."""
    for node in races.module.nodes_of(cst.Assign) if races.starts else ():
        function = races.module.scope_of[node].function
        for target in ex.targets(node) if function.kind == "function" else ():
            slot = races.facts.slots.of(target)
            place = races.anatomy.aliases.of(slot) if slot is not None and slot[0] == "item" else None
            if place is None or not races.anatomy.aliases.is_lasting(place, function):
                continue
            made = _made_before(races, node, function)
            look = _look_before(races, made, node, function, place) if made is not None else None
            start = races.overlapping(function)
            if made is not None and look is not None and start is not None and _waits(races, look, made, node):
                yield Creation(node, place, look, made, start)


def _made_before(races: Races, node: cst.Assign, function: Scope) -> cst.Call | None:
    """The call that has the provider, or its library, begin the conversation which is stored."""
    places = ReplyPlaces(races.anatomy)
    for call in function.nodes_of(cst.Call):
        if _is_asked_for(call) or keeps_conversation(races.module, call):
            if holds([node.value], call, places.derived(function, call, grown=True)):
                return call
    return None


def _is_asked_for(call: cst.Call) -> bool:
    """Whether a call asks the provider to begin a conversation."""
    return any(f".{ex.dotted(call.func)}".endswith(f".{maker}") for maker in MAKERS)


def _waits(races: Races, look: cst.CSTNode, made: cst.Call, node: cst.Assign) -> bool:
    """Whether others run between the look and the store: on an event loop where something is awaited."""
    function = races.module.scope_of[node].function
    leads, inside = races.anatomy.leads, races.module.inside
    return (not function.is_async and _is_asked_for(made)) or any(
        inside(wait, node) or (leads(function, [look], [wait]) and leads(function, [wait], [node]))
        for wait in function.waits
    )


def _look_before(races: Races, made: cst.Call, node: cst.Assign, function: Scope, place: Slot) -> cst.CSTNode | None:
    """Where the registry is looked into before, if nobody looks again, and no lock is held from there to the store."""
    looks = [n for n in function.nodes if isinstance(n, (cst.Name, cst.Attribute)) and _is_registry(races, n, place)]
    before = [n for n in looks if races.module.before(n, made) and races.anatomy.leads(function, [n], [made])]
    again = [n for n in looks if races.module.before(made, n) and not races.module.inside(n, node)]
    if not before or any(races.module.before(n, node) for n in again):
        return None
    locks = races.locks
    held = locks.at_entry(function) or locks.around(before[0], function) & locks.around(node, function)
    return None if held else before[0]


def _is_registry(races: Races, node: cst.BaseExpression, place: Slot) -> bool:
    slot = races.facts.slots.of(node)
    return slot is not None and races.anatomy.aliases.of(slot) in list(whole_of(place))[1:]
