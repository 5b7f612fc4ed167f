"""Functions that run beside others because of whom they are handed to: `bus.subscribe(self.answer)`.

Who takes one, in this file or in another, has it run in a thread or a task, or calls it where it runs beside others
itself; at once, or later, when it was kept in an attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, classes_of, given_when_made
from lint_rules.anatomy.program.concurrency import Start, begun_elsewhere, starts
from lint_rules.anatomy.program.flags import Flags
from lint_rules.anatomy.program.joins import Joins
from lint_rules.anatomy.program.locks import Locks
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_GROWERS = frozenset({"append", "add", "setdefault"})
_QUEUED = frozenset({"append", "appendleft", "put", "put_nowait"})
_TAKEN = frozenset({"popleft", "pop", "get", "get_nowait"})


class Takers:
    """What one file has run beside others of what it is handed: by parameters, and attributes that keep it.

    `places` have for each the start by which what it holds is run.
    """

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.places: dict[Slot, Start] = {}
        self._locks, self._flags, self._joins = Locks(anatomy.calls), Flags(anatomy), Joins(anatomy)
        for begun, many in begun_elsewhere(anatomy):
            where = self.module.scope_of[begun.node].function
            start = Start(where, begun.node, begun.kind, many, begun.target)
            if not self._joins.is_joined(start):
                self._note(begun.target, replace(start, many=many and not self._is_alone(start, where)))
        for start in starts(anatomy.calls):  # what a serial handler calls may be run by others as well, who are not
            if start.kind != "serial" and not self._joins.is_joined(start):
                self._note_called(start)

    def _is_alone(self, start: Start, where: Scope) -> bool:
        return self._joins.follows_its_last(start) or self._flags.guard(start.node, where)

    def _note_called(self, start: Start) -> None:
        """What a start calls that nobody here defines."""
        for function in self.anatomy.calls.reachable(start.function):
            for call in function.nodes_of(cst.Call):
                if self.facts.slots.callee(call) is None and not self._locks.held(call, function):
                    many = start.many and not self._flags.guard(call, function)
                    self._note(call.func, replace(start, many=many))

    def _note(self, target: cst.BaseExpression, taken: Start) -> None:
        slot = self.facts.slots.of(target)
        queue, seen = [slot] if slot is not None else [], {slot}
        for here in queue:
            if here[0] == "attr" or is_parameter(here):
                if here not in self.places or taken.many:
                    self.places[here] = taken
            for inner in self._behind(here):
                if inner not in seen:
                    seen.add(inner)
                    queue.append(inner)

    def _behind(self, slot: Slot) -> Iterator[Slot]:
        """Where what is in a slot comes from: what it is bound to, what it is an element of, what is put into that."""
        if slot[0] == "item":
            yield slot[1]
        values = list(self.facts.assigned(slot))
        if slot[0] == "var" and slot[1].kind == "function" and not values and not is_parameter(slot):
            loops = (loop for loop in slot[1].nodes_of(cst.For) if slot[2] in ex.target_names(loop.target))
            values += (
                ex.receiver(loop.iter) or loop.iter if isinstance(loop.iter, cst.Call) else loop.iter for loop in loops
            )
        if slot[0] == "attr":
            values += self._put(slot)
        for value in (part for each in values for part in ex.alternatives(each)):
            inner = self.facts.slots.of(value)
            if inner is not None:
                yield inner

    def _put(self, slot: Slot) -> Iterator[cst.BaseExpression]:
        """`self.listeners.append(listener)`, `self.handlers[event] = handler`."""
        slots = self.facts.slots
        for node in self.module.nodes_of(cst.Call, cst.Assign):
            if isinstance(node, cst.Call):
                base = ex.receiver(node) if ex.called_name(node) in _GROWERS and node.args else None
                if base is not None and slots.of(base) in {slot, ("item", slot)}:
                    yield node.args[-1].value
            elif any(isinstance(t, cst.Subscript) and slots.of(t.value) == slot for t in ex.targets(node)):
                yield node.value

    @once(circular=True)
    def runs_in_turn(self, place: Slot) -> bool:
        """Whether what a parameter, or a local name, is given runs only when the one before is over.

        Behind a lock or a busy flag, by a function that is run so itself, or from a queue that is emptied so.
        """
        uses = [name for name in self.facts.names.get(place, ()) if type(self.module.parent[name]) is not cst.Param]
        runs = [found for use in uses if (found := self._in_turn(use)) is not None]
        return bool(runs) and all(runs)

    def _in_turn(self, use: cst.BaseExpression) -> bool | None:
        """The same of what an expression stands for; None where that is only looked at."""
        outer, where = self.module.parent[use], self.module.scope_of[use].function
        if isinstance(outer, cst.Element):  # of a pair that is put into a queue
            outer = self.module.parent[self.module.parent[outer]]
        if isinstance(outer, cst.Call) and outer.func is use:
            return self._is_held(outer, where) or self._is_next(outer, where) or self._are_held(where)
        call = self.module.parent[outer] if isinstance(outer, cst.Arg) else None
        if isinstance(call, cst.Call):
            base = ex.receiver(call) if ex.called_name(call) in _QUEUED else None
            if base is None:
                return self._is_held(call, where) or is_run_in_turn(self.anatomy, call, use)
            return self._is_emptied_in_turn(self.facts.slots.of(base))
        if isinstance(outer, cst.Assign):
            names = [part for part in walk(ex.targets(outer)[0]) if isinstance(part, cst.Name)]
            return any(self.runs_in_turn(slot) for name in names if (slot := self.facts.slots.of(name)) is not None)
        return False if isinstance(outer, cst.Return) else None

    def _is_held(self, node: cst.CSTNode, where: Scope) -> bool:
        return bool(self._locks.held(node, where)) or self._flags.guard(node, where)

    @once(circular=True)
    def _are_held(self, function: Scope) -> bool:
        """Whether all runs of a function are held where it is called, begun, handed on or put into a queue."""
        graph = self.anatomy.calls
        named = [self._in_turn(node) for node in graph.references[function]]
        named += [self._is_held(s.node, s.caller) or self._are_held(s.caller) for s in graph.sites[function]]
        return bool(named) and None not in named and all(named)

    def _is_next(self, call: cst.Call, where: Scope) -> bool:
        """Whether a loop calls something, and waits for it: of which one is begun, or each behind a busy flag."""
        loop, outer = self.module.loop_around(call, own=True), self.module.parent[call]
        begun = [start for start in starts(self.anatomy.calls) if start.function is where] if loop is not None else []
        waits = isinstance(outer, cst.Await) if where.is_async else not isinstance(outer, cst.Arg)
        return waits and bool(begun) and all(not s.many or self._is_alone(s, self.module.scope_of[s.node].function)
                                             for s in begun)  # fmt: skip

    def _is_emptied_in_turn(self, queue: Slot | None) -> bool:
        """Whether all that is taken out of a queue runs when the one before is over."""
        place = root_object(self.anatomy.aliases.of(queue)) if queue is not None else None
        calls = (node for node in self.module.nodes_of(cst.Call) if ex.called_name(node) in _TAKEN)
        bases = [(node, self.facts.slots.of(ex.receiver(node))) for node in calls if place is not None]
        taken = [node for node, slot in bases if slot and root_object(self.anatomy.aliases.of(slot)) == place]
        waited = [outer if isinstance(outer := self.module.parent[node], cst.Await) else node for node in taken]
        runs = [found for node in waited if (found := self._in_turn(node)) is not None]
        return bool(runs) and all(runs)


def is_run_in_turn(anatomy: Anatomy, call: cst.Call, value: cst.CSTNode) -> bool:
    """Whether a call hands a value to a function of the project, which runs it when the one before is over."""
    found = body(anatomy, call)
    given = found[0].facts.slots.bindings(call, found[1]) if found is not None else ()
    return found is not None and any(found[0].takers.runs_in_turn(slot) for slot, each in given if each is value)


def handed_starts(anatomy: Anatomy, locks: Locks, flags: Flags) -> Iterator[Start]:
    """A start for each function of a file, or its coroutine, that it hands to such a place, where no lock is held.

    Behind a busy flag one run of it is under way at a time.
    """
    named = [(f, node) for f, nodes in anatomy.calls.references.items() for node in nodes]
    lambdas = [(f, f.node) for f in anatomy.module.functions if f.kind == "lambda"]
    coroutines = [(site.callee, site.node) for sites in anatomy.calls.sites.values() for site in sites
                  if site.callee.is_async and isinstance(anatomy.module.parent[site.node], cst.Arg)]  # fmt: skip
    for function, reference in (*named, *lambdas, *coroutines):
        outer = anatomy.module.parent[reference]
        outer = anatomy.module.parent[outer] if isinstance(outer, cst.Arg) else outer
        where = anatomy.module.scope_of[reference].function
        for there, place in _places(anatomy, outer, reference):
            taken = there.takers.places.get(place)
            if taken is not None and not locks.held(outer, where):
                kept = flags.guard(outer, where)
                begun = (there, taken) if not kept else None
                yield Start(function, outer, taken.kind, taken.many and not kept, begun=begun)
                break


def _places(anatomy: Anatomy, outer: cst.CSTNode, reference: cst.CSTNode) -> Iterator[tuple[Anatomy, Slot]]:
    """Where a function goes that is handed to a call, or put into an attribute; and the file of that place."""
    if isinstance(outer, cst.Call):
        found, base = body(anatomy, outer), ex.receiver(outer)
        if found is not None:
            there, taker = found
            yield from ((there, slot) for slot, value in there.facts.slots.bindings(outer, taker) if value is reference)
        elif base is not None and ex.called_name(outer) in _GROWERS:
            yield from _attributes(anatomy, base)
        else:
            yield from (
                (there, slot) for (there, _), slot, value in given_when_made(anatomy, outer) if value is reference
            )
    for target in ex.targets(outer) if isinstance(outer, cst.Assign) and outer.value is reference else ():
        yield from _attributes(anatomy, target)


def _attributes(anatomy: Anatomy, node: cst.BaseExpression) -> Iterator[tuple[Anatomy, Slot]]:
    """The attribute that an expression is, of an object of this file or of another one; and that file."""
    slot = anatomy.facts.slots.of(node)
    held = anatomy.facts.slots.of(node.value) if isinstance(node, cst.Attribute) else None
    if slot is not None and slot[0] == "attr":
        yield anatomy, slot
    elif held is not None and isinstance(node, cst.Attribute):
        for there, cls in classes_of(anatomy, held):
            yield there, there.facts.slots.attribute(cls, node.attr.value)
