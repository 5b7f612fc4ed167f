"""Histories that an object of another file keeps: which calls make them longer, and which give them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, classes_of, inherited, method_of, own_class, run_elsewhere
from lint_rules.anatomy.messages.growth import grows
from lint_rules.anatomy.messages.tool_messages import hold_tool_messages
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, as_part_of, is_parameter, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax import memo
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, SourceModule, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class Store:
    """What a call does to the history that is `slot` here: it gives it, or `grows` it, maybe by messages of `tools`.

    `locked`: under a lock of the other file. `told`: what is kept there is a history, as that file tells itself.
    """

    slot: Slot
    grows: bool
    tools: bool = False
    locked: bool = False
    told: bool = True


_DEEPEST = 2
"""So many files may hand a message on to the one that keeps it."""


def store_of(anatomy: Anatomy, call: cst.Call, function: Scope, depth: int = 0) -> Store | None:
    """What a call in `function` does, if it is one of a method of another file, on an object that outlives the run.

    `depth` says through how many files it was followed.
    """
    base = ex.receiver(call)
    slot = anatomy.facts.slots.of(base)
    if anatomy.facts.slots.callee(call) is not None:
        return None
    if slot is None or base is None:
        return next(_handed_list(anatomy, call), None)
    own = own_class(anatomy, base)
    method = inherited(anatomy, own, ex.called_name(call)) if own is not None else None
    if own is not None and method is not None:
        done = next(_done_by(*method, slot, depth), None)
        return done if done is None else replace(done, slot=_of_class(anatomy, done.slot, slot, own))
    place = _outlasting(anatomy, slot, function)
    return _done_to(anatomy, call, slot, place, depth) if place is not None else None


def kept_by_package(anatomy: Anatomy, call: cst.Call, function: Scope) -> Store | None:
    """What a call does if it is one of a method that nobody here has written, on an object that outlives the run.

    Or of one that hands what it gets to such a method of its own object: `super().add_message(message)`. Alone it keeps
    what it gets, else it gives what is kept: whether that is a history, those know who ask with it.
    """
    slot = anatomy.facts.slots.of(ex.receiver(call))
    place = _outlasting(anatomy, slot, function) if slot is not None else None
    if place is None or slot in anatomy.writes.by_slot or anatomy.facts.slots.callee(call) is not None:
        return None  # a list, or a method of this file
    written = body(anatomy, call)
    if written is not None and not _hands_to_base(*written):
        return None
    return Store(place, isinstance(anatomy.module.awaiting(call), cst.Expr), told=False)


def _hands_to_base(there: Anatomy, method: Scope) -> bool:
    """Whether a method hands what it gets to one of its own object that nobody here has written."""
    own, given = there.module.self_name(method), {parameter.name.value for parameter in parameters(method)}
    return any(
        (base := ex.receiver(inner)) is not None
        and ex.dotted(base) in {own, "super()"}
        and body(there, inner) is None
        and mentions(given, *(arg.value for arg in inner.args))
        for inner in method.nodes_of(cst.Call)
    )


def _handed_list(anatomy: Anatomy, call: cst.Call) -> Iterator[Store]:
    """A history that a function of another file gets, and into which it puts what else it gets: `note(talk, reply)`."""
    there, callee = run_elsewhere(anatomy, call) or (anatomy, None)
    for slot, value in there.facts.slots.bindings(call, callee) if callee is not None else ():
        here = anatomy.facts.slots.of(value)
        if here is None or slot not in there.facts.put_into or slot in there.writes.by_slot:
            continue
        is_history = Kind.HISTORY in anatomy.facts.kinds(value) or here in anatomy.writes.by_slot
        if is_history and callee is not None and any(_is_given(there, put, callee) for put in there.facts.grown(slot)):
            yield Store(here, True)


def seen_from(anatomy: Anatomy, call: cst.Call, function: Scope, slot: Slot) -> Slot | None:
    """A part of the object of which a method of another file is called, as `function` has it; None if it goes with it.

    `slot` is its attribute there.
    """
    base = ex.receiver(call)
    here = anatomy.facts.slots.of(base)
    if here is None or base is None:
        return None
    own = own_class(anatomy, base)
    if own is not None:
        return _of_class(anatomy, as_part_of(slot, here), here, own)
    place = _outlasting(anatomy, here, function)
    return as_part_of(slot, place) if place is not None else None


def _outlasting(anatomy: Anatomy, slot: Slot, function: Scope) -> Slot | None:
    """The place that a slot of `function` stands for, if that is still there when the run has ended."""
    place = anatomy.aliases.of(slot)
    return place if anatomy.aliases.is_lasting(place, function) or is_parameter(root_object(place)) else None


def grows_what_it_is_given(anatomy: Anatomy, function: Scope, parameter: Slot) -> bool:
    """Whether a function makes a history longer that is kept by the object that a parameter gets: `talk.say(text)`."""
    for call in function.nodes_of(cst.Call):
        base = ex.receiver(call)
        if base is not None and anatomy.facts.slots.of(base) == parameter:
            done = _done_to(anatomy, call, parameter, parameter, 0)
            if done is not None and done.grows:
                return True
    return False


def _done_to(anatomy: Anatomy, call: cst.Call, slot: Slot, place: Slot, depth: int) -> Store | None:
    for found in classes_of(anatomy, slot):
        method = method_of(*found, ex.called_name(call))
        if method is not None:
            return next(_done_by(*method, place, depth), None)
    return None


def _of_class(anatomy: Anatomy, slot: Slot, base: Slot, cls: Scope) -> Slot:
    """A part of the object itself as an attribute of its class."""
    if slot[0] == "member" and slot[1] == base:
        return anatomy.facts.slots.attribute(cls, slot[2])
    return (slot[0], _of_class(anatomy, slot[1], base, cls), *slot[2:]) if slot[0] in {"member", "item"} else slot


def _done_by(where: Anatomy, method: Scope, place: Slot, depth: int) -> Iterator[Store]:
    """What a method does to each history that the objects of its class keep, or hand on to one of a third file.

    What is known to be a history comes first.
    """
    reach = where.calls.may_run(method)
    line = where.module.lineage(method.owner)
    values = method.returned
    slots = (where.facts.slots.of(part) for value in values for part in (value, *sources(value)))
    given = [place for slot in slots if slot is not None for place in (slot, where.aliases.of(slot))]
    for kept, writes in _lasting_writes(where, where.module).items():
        root = root_object(kept)
        if root[0] == "attr" and root[1] in line:
            grown = [write for write in writes if write.function in reach and grows(where, write)]
            if grown and where.races.is_list(kept, grown):
                locked = all(where.races.locks.held(write.node, write.function) for write in grown)
                yield Store(as_part_of(kept, place), True, hold_tool_messages(where, grown), locked)
            elif kept in given:
                yield Store(as_part_of(kept, place), False)
    for kept in where.facts.put_into:
        if kept not in where.writes.by_slot and root_object(kept)[0] == "attr" and root_object(kept)[1] in line:
            if any(_is_given(where, call, method) for call in where.facts.grown(kept)):
                yield Store(as_part_of(kept, place), True, told=False)
            elif kept in given:
                yield Store(as_part_of(kept, place), False, told=False)
    for call in method.nodes_of(cst.Call) if depth < _DEEPEST else ():
        beyond = store_of(where, call, method, depth + 1) if _hands_on(where, call, method) else None
        if beyond is not None and root_object(beyond.slot)[0] == "attr":
            yield replace(beyond, slot=as_part_of(beyond.slot, place))


@memo.kept
def _lasting_writes(where: Anatomy, module: SourceModule) -> dict[Slot, list[HistoryWrite]]:
    """The writes to each history, by the place that it lives in: `self.talks[...]` for `talk`, or for a getter."""
    found: dict[Slot, list[HistoryWrite]] = {}
    for kept, writes in where.writes.by_slot.items():
        found.setdefault(where.aliases.of(kept), []).extend(writes)
    return found


def _is_given(where: Anatomy, call: cst.Call, method: Scope) -> bool:
    """Whether a call in a method gets what the method is given: of what kind it is, those know who give it."""
    inside = where.module.scope_of[call].function is method
    slots = (slot for arg in call.args for slot in made_of(where, arg.value)) if inside else ()
    return any(slot[:2] == ("var", method) and is_parameter(slot) for slot in slots)


def made_of(where: Anatomy, part: cst.BaseExpression) -> Iterator[Slot]:
    """The places that a value is made of, by way of the names that it was given before."""
    queue, seen = [part], set[Slot]()
    for value in queue:
        named = map(where.facts.slots.of, (node for node in walk(value) if type(node) is cst.Name))
        new = dict.fromkeys(slot for slot in named if slot is not None and slot not in seen)
        seen.update(new)
        yield from new
        queue += [made for slot in new for made in where.facts.assigned(slot)]


def _hands_on(where: Anatomy, call: cst.Call, method: Scope) -> bool:
    """`self.log.add(message)`: a call for its own sake that gets what the method gets."""
    outer = where.module.parent[call]
    alone = isinstance(outer, (cst.Expr, cst.Await, cst.Return))
    slots = (where.facts.slots.of(arg.value) for arg in call.args)
    return alone and any(slot is not None and slot[:2] == ("var", method) and is_parameter(slot) for slot in slots)
