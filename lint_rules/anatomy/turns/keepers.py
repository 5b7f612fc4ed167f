"""Histories that objects keep: what methods do to them, and what functions of other files make longer.

A method is judged by its body: what it does to the attribute that holds the history, and what it gives back of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, classes_of, given_when_made, own_class, run_elsewhere
from lint_rules.anatomy.messages.growth import grows
from lint_rules.anatomy.messages.tool_messages import hold_tool_messages
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, as_part_of, is_parameter, moved, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax import memo
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, SourceModule, parameters, says_only
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

Role = Literal["read", "rewrite", "grow"]
_BY_EFFECT: tuple[Role, ...] = ("rewrite", "grow", "read")
_UNKNOWN: Role | None = None
_GROWERS = frozenset({"append", "extend"})
_COPIES = frozenset({"list", "copy", "deepcopy", "tuple"})
_IN_MEMORY = frozenset(
    {
        "append", "extend", "insert", "clear", "pop", "copy", "list", "dict", "len", "tuple", "update", "setdefault",
        "deepcopy", "get", "remove", "enumerate", "isinstance", "debug", "info",
    }
)  # fmt: skip


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


def store_of(anatomy: Anatomy, call: cst.Call, function: Scope, depth: int = 0) -> Store | None:
    """What a call in `function` does, if it is one of a method of another file, on an object that outlives the run.

    `depth` says through how many files it was followed.
    """
    slot = anatomy.facts.slots.of(ex.receiver(call))
    if anatomy.facts.slots.callee(call) is not None:
        return None
    if slot is None:
        return next(_handed_list(anatomy, call), None)
    place, own = _place_of(anatomy, call, slot, function)
    found = run_elsewhere(anatomy, call) if place is not None else None
    done = next(_done_by(*found, place, depth), None) if found is not None and place is not None else None
    if done is None or own is None:
        return done
    return replace(done, slot=_of_class(anatomy, done.slot, slot, own))


def _place_of(anatomy: Anatomy, call: cst.Call, slot: Slot, function: Scope) -> tuple[Slot | None, Scope | None]:
    """Where the object in a slot lives of which a method is called, if that lasts, and its class, if it is of here."""
    base = ex.receiver(call)
    own = own_class(anatomy, base) if base is not None else None
    return (slot if own is not None else _outlasting(anatomy, slot, function)), own


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
    here = anatomy.facts.slots.of(ex.receiver(call))
    place, own = _place_of(anatomy, call, here, function) if here is not None else (None, None)
    if place is None or here is None:
        return None
    part = as_part_of(slot, place)
    return _of_class(anatomy, part, here, own) if own is not None else part


def _outlasting(anatomy: Anatomy, slot: Slot, function: Scope) -> Slot | None:
    """The place that a slot of `function` stands for, if that is still there when the run has ended."""
    place = anatomy.aliases.of(slot)
    return place if anatomy.aliases.is_lasting(place, function) or is_parameter(root_object(place)) else None


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
    for call in method.nodes_of(cst.Call) if depth < DEEPEST else ():
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
                unread = not there.races.is_list(there.aliases.of(slot), found)
                grown = [write for write in found if not unread and not _is_kept_apart(there, callee, slot, write)]
                place = moved(slot, kept, lasting)
                evidence = Evidence(f"is made longer by `{callee.name}`", call, used=True)
                write = HistoryWrite(place, call, function, "append", None, evidence)
                if grown and not _begun_anew(anatomy, place, call, function):
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
    of_it = (call for call in function.nodes_of(cst.Call) if there.facts.slots.of(ex.receiver(call)) == parameter)
    done = (store_of(there, call, function) for call in of_it)
    grown = _grown(there, parameter, function, frozenset())
    return bool(grown) or any(store is not None and store.grows for store in done)


def _begun_anew(anatomy: Anatomy, place: Slot, call: cst.Call, function: Scope) -> bool:
    """Whether a history is replaced or emptied on all ways to a call: `talks[key] = [SYSTEM]`, `history.clear()`."""
    fresh = (cst.List, cst.Dict, cst.Call)
    made = (node for node in function.nodes_of(cst.Assign) if isinstance(ex.inner(node.value), fresh))
    bound = [(node, target) for node in made for target in ex.targets(node)]
    cleared = (node for node in function.nodes_of(cst.Call) if ex.called_name(node) == "clear")
    slots = ((node, anatomy.facts.slots.of(each)) for node, each in (*bound, *((c, ex.receiver(c)) for c in cleared)))
    empties = [node for node, slot in slots if slot is not None and anatomy.aliases.of(slot) == place]
    starts, goals = set(anatomy.points(function, empties)), anatomy.points(function, [call])
    flow = anatomy.flow(function)
    return bool(starts and goals) and not flow.reaches(flow.entry, [g for g in goals if g not in starts], starts)


def role(anatomy: Anatomy, call: cst.Call) -> Role | None:
    """What a method does to the history its object keeps: gives a copy, replaces it, or adds to it.

    May cost the analysis of the file that the class of the object stands in.
    """
    found = body(anatomy, call)
    return _method_role(*found) if found is not None and found[1].kind == "function" else None


def locks_itself(anatomy: Anatomy, keeper: Slot) -> bool:
    """Whether an object of another file holds its own lock where its history grows: several threads have it."""
    methods = ((there, method) for there, cls in classes_of(anatomy, keeper) for method in cls.methods.values())
    return any(
        _role_of(there, put) == "grow" and there.races.locks.around(put, method)
        for there, method in methods
        for put in method.nodes_of(cst.Call)
    )


@memo.once(circular=_UNKNOWN)
def _method_role(there: Anatomy, method: Scope) -> Role | None:
    """The most that is done to an attribute: it is rebound, cut or emptied, appended to, or returned as a list.

    What is done by a method of what the object has in an attribute counts as done here: `self._store.append(rows)`.
    """
    done = {_role_of(there, node) for node in method.nodes}
    if done.isdisjoint({"rewrite", "grow"}):
        calls = (call for call in method.nodes_of(cst.Call) if isinstance(ex.receiver(call), cst.Attribute))
        beyond = {call: role(there, call) for call in calls}
        returned = (value for value in map(ex.inner, method.returned) if isinstance(value, cst.Call))
        given = {beyond[value] for value in returned if value in beyond}
        done |= {each for each in beyond.values() if each != "read"} | given
    return next((each for each in _BY_EFFECT if each in done), None)


def _role_of(there: Anatomy, node: cst.CSTNode) -> Role | None:
    """What one step of a method does to an attribute, or to a list that it gives back."""
    if isinstance(node, cst.Assign):
        target = node.targets[0].target
        part = ex.slice_of(target)
        if part is not None:  # `self.h[: len(read)] = [...]` takes away just what was read
            return None if part.upper is not None and "len(" in ex.source(part.upper) else "rewrite"
        return "rewrite" if isinstance(target, cst.Attribute) and _is_list_of(there, node.value, target) else None
    if isinstance(node, cst.Del):
        return "rewrite" if ex.slice_of(node.target) is not None else None
    if isinstance(node, cst.Call) and isinstance(ex.receiver(node), cst.Attribute):
        return "rewrite" if ex.called_name(node) == "clear" else "grow" if ex.called_name(node) in _GROWERS else None
    if not isinstance(node, cst.Return) or node.value is None:
        return None
    value = ex.inner(node.value)
    is_list = isinstance(value, (cst.List, cst.ListComp, cst.Attribute)) or ex.slice_of(value) is not None
    return "read" if is_list or (isinstance(value, cst.Call) and ex.called_name(value) in _COPIES) else None


def _is_list_of(there: Anatomy, value: cst.BaseExpression, target: cst.Attribute) -> bool:
    """A list made of a name or a slice, an empty one, or what is handed in the place of one: `self.h = messages`."""
    value = ex.inner(value)
    if isinstance(value, cst.Call) and ex.called_name(value) in {"list", "deque"} and value.args:
        return isinstance(value.args[0].value, cst.Name)
    slot, given = there.facts.slots.of(target), there.facts.slots.of_name(value)
    if slot is None or given is None or not is_parameter(given):
        return ex.slice_of(value) is not None or (isinstance(value, cst.List) and not value.elements)
    return Kind.HISTORY in there.facts.of(slot) or any(type(each) is cst.List for each in there.facts.assigned(slot))


def may_fail(method: Scope) -> bool:
    """Whether more than a list or dict in memory is changed: something is awaited, raised, opened, or run elsewhere.

    So may what takes the place of a method that only says what others do.
    """
    return says_only(method) or any(
        isinstance(node, (cst.Raise, cst.Await, cst.With))
        or (isinstance(node, cst.Call) and ex.called_name(node) not in _IN_MEMORY)
        for node in method.nodes
    )


def givers(anatomy: Anatomy) -> set[Slot]:
    """The objects of which a method, whatever it is called, gives a history: not one that is made of its arguments."""
    facts = anatomy.facts
    return {
        slot
        for call in anatomy.module.nodes_of(cst.Call)
        if (base := ex.receiver(call)) is not None
        and (slot := facts.slots.of(base)) is not None
        and not anatomy.calls.asks(call)
        and anatomy.kept_elsewhere.gives_history(call)
        and not any(facts.is_kind(arg.value, kind) for arg in call.args for kind in (Kind.HISTORY, Kind.MESSAGE))
    }
