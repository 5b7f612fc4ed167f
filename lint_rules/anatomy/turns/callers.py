"""Functions that run beside others because of who calls them, in another file: for handlers, threads and tasks there.

A file says in a summary which functions of others it runs, from its own starts and from each of its functions; from
the summaries of those that import it, it is worked out how its own functions come to run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import (
    class_names,
    declared_for,
    given_when_made,
    inherited,
    made_class,
    method_of,
    own_class,
    run_elsewhere,
)
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.program.concurrency import Caller, Passing, Start, StartKind, begun_elsewhere, keys
from lint_rules.anatomy.program.serving import is_for_all, is_streamed, registered_elsewhere, registered_there
from lint_rules.anatomy.turns.common_histories import grown_there
from lint_rules.anatomy.turns.hooks import begun_by_bases, comes_to, span_of
from lint_rules.anatomy.turns.keepers import makes_longer
from lint_rules.anatomy.values.handed_along import Given, handed_along
from lint_rules.anatomy.values.slots import Slot, describe, is_parameter, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_Starts = tuple[tuple[StartKind, bool, bool], ...]
"""What comes to a function, as a `Passing` has it."""
_Named = tuple[str, str, bool]
"""The path and qualified name of a function, and whether it is one that the object's class inherits."""


class _Ways:
    """How the functions of a file come to run beside others, from its own starts, where nothing keeps them apart."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._unguarded = unguarded = anatomy.unguarded
        starts = dict.fromkeys([*unguarded.starts, *unguarded.races.serial])
        self._begun = [(start, unguarded.reach(start.function, start)) for start in starts]
        self._flags, self._module = unguarded.races.flags, anatomy.module
        self._slots, self._setup = anatomy.facts.slots, unguarded.races.is_setup
        self._free: dict[Scope, set[Scope]] = {}
        self._reached = {f: unguarded.reach(f, None) for f in anatomy.module.functions if f.kind == "function"}
        served = (serving.function for serving in anatomy.calls.servings.values() if is_for_all(serving))
        self._for_all = {reached for function in served for reached in anatomy.calls.may_run(function)}

    def starts(self, where: Scope, call: cst.Call, *, thread: bool = False) -> _Starts:
        """The starts that come to a call in a function, as a `Passing` has them.

        `thread`: it goes on in a thread of its own. What runs one at a time comes to none behind a test that says that
        something is under way.
        """
        held = self._is_held_back(call, where)
        return tuple(
            (
                "thread" if thread else start.kind,
                start.kind == "handler" or self._unguarded.is_many(start),
                not (thread or reach[where]),
            )
            for start, reach in self._begun
            if where in reach and (start.many or (not held and where in self._come_to(start.function)))
        )

    def are_for_all(self, where: Scope) -> bool:
        """Whether a handler that serves all users comes to a function."""
        return where in self._for_all

    def _come_to(self, first: Scope) -> set[Scope]:
        """The functions that one comes to while no test says that something is under way."""
        if first not in self._free:
            found = self._free[first] = {first}
            queue = [first]
            for here in queue:
                for callee, node, _ in self._unguarded.steps(here):
                    if callee not in found and (node is None or not self._is_held_back(node, here)):
                        found.add(callee)
                        queue.append(callee)
        return self._free[first]

    def _is_held_back(self, node: cst.CSTNode, where: Scope) -> bool:
        """Whether a node stands behind a test of what is set while something runs, and set back then."""
        tests = self._flags.tests_before(node, where) if self._busy else ()
        return any(not self._busy.isdisjoint(self._flags.asked(test)) for test, _ in tests)

    @cached_property
    def _busy(self) -> set[Slot]:
        """What functions set, and set back to nothing."""
        told: dict[bool, set[Slot]] = {True: set(), False: set()}
        for node in self._module.nodes_of(cst.Assign, cst.AnnAssign):
            function = self._module.scope_of[node].function
            if node.value is not None and function.kind == "function" and not self._setup(function):
                off = ex.dotted(node.value) in {"False", "None"}
                told[off] |= {slot for target in ex.targets(node) if (slot := self._slots.of(target)) is not None}
        return told[True] & told[False]

    def callers(self, where: Scope, *, thread: bool = False) -> dict[str, bool]:
        """The functions that come to one, and whether it is in a thread of their own."""
        return {f.qualname: thread or reach[where] for f, reach in self._reached.items() if where in reach}


def passings(anatomy: Anatomy) -> Iterator[Passing]:
    """The calls by which a file runs functions of others, where nothing in it keeps the runs apart."""
    ways = _Ways(anatomy)
    for call in anatomy.module.nodes_of(cst.Call):
        where = anatomy.module.scope_of[call].function
        run = list(_run_by(anatomy, call)) if where.kind != "module" else []
        new = bool(run) and _is_just_made(anatomy, call, where)
        if not run or (not new and anatomy.unguarded.is_guarded(call, where)):
            continue
        own, through_self = (True, False) if new else _object(anatomy, call, where)
        thread = _is_read_in_thread(anatomy, call)
        given = _given(anatomy, call, where)
        asked = bool(given) or not own  # of an object that each run has for itself, nobody asks what is seen
        for path, function, inherits in run:
            yield Passing(
                file=os.path.abspath(path),
                function=function,
                path=anatomy.module.path,
                span=span_of(anatomy, call),
                by=where.name,
                own=own,
                through_self=through_self,
                starts=tuple((kind, many, loop and not thread) for kind, many, loop in ways.starts(where, call)),
                callers=ways.callers(where, thread=thread),
                lasting=frozenset(_lasting(anatomy, _arguments(call), where)),
                caller=where.qualname,
                given=given,
                told=asked and anatomy.turns.are_seen_in(call),
                for_all=ways.are_for_all(where),
                common=frozenset(describe(slot) for _, slot, _ in grown_there(anatomy, call, where)),
                inherits=inherits,
            )
    yield from _handed_on(anatomy, ways)
    yield from _registered_there(anatomy)


def _is_read_in_thread(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a function of another file is a plain generator, and a server reads in a thread what it gives."""
    found = run_elsewhere(anatomy, call) if is_streamed(anatomy.module, call) else None
    return found is not None and found[1].is_generator and not found[1].is_async


def _handed_on(anatomy: Anatomy, ways: _Ways) -> Iterator[Passing]:
    """Functions of other files that a file hands to a thread, a task or a framework: `Thread(target=engine.run)`.

    What is waited for where it begins is a call in a thread or task of its own: it runs beside others as its caller
    does. `await loop.run_in_executor(None, answer, text)`.
    """
    found: list[tuple[cst.BaseExpression, cst.Call, _Starts, dict[str, bool]]] = []
    told: set[cst.CSTNode] = set()
    for each, many in begun_elsewhere(anatomy):
        waited = anatomy.unguarded.is_waited_for(each)
        if anatomy.turns.are_seen_in(each) if waited else anatomy.turns.begun_there(each) is not None:
            told.add(each.node)
        where, thread = anatomy.module.scope_of[each.node].function, each.kind == "thread"
        starts: _Starts = ((each.kind, many and anatomy.unguarded.is_begun_again(each), not thread),)
        if not waited:
            found.append((each.target, each.node, starts, {}))
        elif not anatomy.unguarded.is_guarded(each.node, where):
            starts += ways.starts(where, each.node, thread=thread)
            found.append((each.target, each.node, starts, ways.callers(where, thread=thread)))
    for value, call, overlap in registered_elsewhere(anatomy.calls):
        if overlap != "turns":
            found.append((value, call, (("handler", True, overlap == "tasks"),), {}))
    made = {value: list(_made_with(anatomy, value)) for value, _, _, _ in found}
    for value, call, starts, through in found:
        if isinstance(anatomy.module.parent[value], cst.Call) and anatomy.module.parent[value] is not call:
            continue  # the call of a coroutine, which is a passing by itself
        where = anatomy.module.scope_of[call].function
        along = handed_along(call)
        lasting = frozenset(_lasting(anatomy, along[1], where)) if along is not None else frozenset()
        beside = {kept for other in found if other[0] is not value for _, kept, grows in made[other[0]] if grows}
        shared = frozenset(key for key, kept, _ in made[value] if kept in beside)
        for there, function, inherits in _named(anatomy, value):
            path, span = os.path.abspath(there), span_of(anatomy, call)
            yield Passing(
                path, function, anatomy.module.path, span, where.name, False, False, starts, through, lasting,
                handed_on=True, told=call in told, for_all=ways.are_for_all(where) or starts[0][0] == "handler",
                inherits=inherits, shared=shared,
            )  # fmt: skip


def _made_with(anatomy: Anatomy, method: cst.BaseExpression) -> Iterator[tuple[str | int, Slot, bool]]:
    """What the object was made with of which a method is named: by which keyword or place, what, and if that grows."""
    slot = anatomy.facts.slots.of(method.value) if isinstance(method, cst.Attribute) else None
    for made in anatomy.facts.assigned(slot):
        given = list(given_when_made(anatomy, made)) if isinstance(made, cst.Call) else []
        keyed = {value: at if key is None else key for at, (key, value) in enumerate(_arguments(made)) if given}
        for (there, cls), attribute, value in given:
            kept, run = anatomy.facts.slots.of(value), there.module.method(cls, ex.last_name(method))
            if kept is not None and run is not None:
                yield keyed[value], anatomy.aliases.of(kept), makes_longer(there, run, attribute)


def _registered_there(anatomy: Anatomy) -> Iterator[Passing]:
    """Functions of other files that those hand to an object of a framework which they get from this one."""

    def run_by_call(call: cst.Call) -> tuple[CallGraph, Scope] | None:
        made = made_class(anatomy, call)
        there = method_of(*made, "__init__") if made is not None else run_elsewhere(anatomy, call)
        return (there[0].calls, there[1]) if there is not None else None

    for call in anatomy.module.nodes_of(cst.Call):
        for module, function, overlap in registered_there(anatomy.calls, call, partial(run_by_call, call)):
            starts: _Starts = (("handler", True, function.is_async and overlap != "workers"),)
            here, span, by = anatomy.module.path, span_of(anatomy, call), anatomy.module.scope_of[call].function.name
            file, run = os.path.abspath(module.path), function.qualname
            if overlap != "turns":
                yield Passing(file, run, here, span, by, False, False, starts, {}, handed_on=True, for_all=True)


def run_by(anatomy: Anatomy, call: cst.Call) -> Iterator[tuple[str, str]]:
    """The path and qualified name of the function of another file that a call runs."""
    yield from ((path, function) for path, function, _ in _run_by(anatomy, call))


def _run_by(anatomy: Anatomy, call: cst.Call) -> Iterator[_Named]:
    if anatomy.facts.slots.callee(call) is None:
        named = list(_named(anatomy, call.func))
        there = run_elsewhere(anatomy, call) if not named else None
        yield from named if there is None else [(there[0].module.path, there[1].qualname, False)]


def _named(anatomy: Anatomy, func: cst.BaseExpression) -> Iterator[_Named]:
    """The function of another file that an expression names, if it can, unread.

    A method that a class inherits is told twice: as one of the class, and as what it is.
    """
    slots, name = anatomy.facts.slots, ex.last_name(func)
    plain = anatomy.defined_elsewhere(ex.dotted(func) or "", "def")
    if plain is not None:
        yield plain[0].path, plain[1], False
    if plain is not None or not isinstance(func, cst.Attribute):
        return
    own, slot = own_class(anatomy, func.value), slots.of(func.value)
    if own is not None:
        there = inherited(anatomy, own, name) if anatomy.module.method(own, name) is None else None
        if there is not None:
            yield there[0].module.path, there[1].qualname, True
    for cls in class_names(anatomy, slot) if slot is not None and own is None else ():
        found = anatomy.defined_elsewhere(cls, "class")
        if found is None:
            continue
        if found[0].defines("def", name):
            yield found[0].path, f"{found[1]}.{name}", False
            continue
        whole = anatomy.imported_class(cls) if found[0].inherits(found[1]) else None
        there = inherited(*whole, name) if whole is not None else None
        if there is not None:
            yield found[0].path, f"{found[1]}.{name}", False
            yield there[0].module.path, there[1].qualname, True


def _object(anatomy: Anatomy, call: cst.Call, where: Scope) -> tuple[bool, bool]:
    """Whether the object, of which a method is called, was made for this run; and whether it is a part of `self`."""
    base = ex.receiver(call)
    slot = _holder(anatomy, base, where) if base is not None else None
    cls = own_class(anatomy, base) if base is not None else None
    if cls is not None and cls is where.owner:
        return False, True
    if base is None or slot is None:
        return isinstance(base, cst.Call), False
    place = anatomy.aliases.of(slot)
    return not anatomy.aliases.is_lasting(place, where), root_object(place)[0] == "attr"


def _is_just_made(anatomy: Anatomy, call: cst.Call, where: Scope) -> bool:
    """Whether a function makes an object and runs this method of it once: no earlier run of that can be under way.

    Whoever gets the object afterwards, a table of those that run, say. So does one that is handed what was just made.
    """
    base, slots, ownership = ex.receiver(call), anatomy.facts.slots, anatomy.races.ownership
    slot = slots.of_name(base)
    others = (other for other in where.nodes_of(cst.Call) if ex.called_name(other) == ex.called_name(call))
    again = [o for o in others if (b := ex.receiver(o)) is not None and slots.of(b) == slot]
    if base is None or slot is None or len(again) != 1:
        return False
    if is_parameter(slot):
        return anatomy.module.loop_around(call, own=True) is None and ownership.goes_along_anew(slot)
    return ownership.is_made_for(base, call)


def _holder(anatomy: Anatomy, base: cst.BaseExpression, where: Scope) -> Slot | None:
    """Where an object lives: of a part of what a function has by a name of its own, that."""
    slots, root = anatomy.facts.slots, ex.owner(base)
    is_own = isinstance(root, cst.Name) and root.value != anatomy.module.self_name(where)
    held = slots.of(root) if is_own else None
    return held if held is not None and held[:2] == ("var", where) else slots.of(base)


def _given(anatomy: Anatomy, call: cst.Call, where: Scope) -> frozenset[str | int]:
    """By which keyword and place a function is handed the object of which a method is called; nothing if it is not."""
    base = ex.receiver(call)
    slot = _holder(anatomy, base, where) if base is not None else None
    place = anatomy.aliases.of(slot) if slot is not None else None
    handed = place is not None and place[0] == "var" and place[1] is where and is_parameter(place)
    return keys(where, place[2]) if handed and place is not None else frozenset()


def _lasting(anatomy: Anatomy, given: Given, where: Scope) -> Iterator[str | int]:
    """The keywords and places of arguments that outlive a run: `self`, its parts, globals."""
    own = anatomy.module.self_name(where)
    for place, (keyword, value) in enumerate(given):
        slot = anatomy.facts.slots.of(value)
        lasts = slot is not None and anatomy.aliases.is_lasting(anatomy.aliases.of(slot), where)
        lasts = lasts and not anatomy.races.ownership.is_own(value, where)  # the body of a request
        if lasts or (isinstance(value, cst.Name) and value.value == own):
            yield keyword if keyword is not None else place


def _arguments(call: cst.BaseExpression) -> Given:
    args = call.args if isinstance(call, cst.Call) else ()
    return [(arg.keyword.value if arg.keyword is not None else None, arg.value) for arg in args]


def callers(anatomy: Anatomy, importing: Callable[[Iterable[str]], Iterable[list[Passing]]], hops: int) -> list[Caller]:
    """How the functions of a file come to run beside others, each way once.

    `importing` gives the passings of the files that import some, directly or through others; `hops` says how many
    files a run may go through. Who calls a method of a base class calls what takes its place here, but on an object of
    another class that inherits it.
    """
    here, overriding = anatomy.module.path, list(_overriding(anatomy))
    into: dict[str, list[Passing]] = {}
    for passed in importing(dict.fromkeys([here, *(path for path, _, _ in overriding)])):
        for passing in passed:
            into.setdefault(passing.file, []).append(passing)
    own = into.setdefault(os.path.abspath(here), [])
    for path, overridden, method in overriding:
        for passing in into.get(os.path.abspath(path), ()):
            if passing.function == overridden and not passing.inherits:
                own.append(replace(passing, file=os.path.abspath(here), function=method))
    return _callers(os.path.abspath(here), into, hops)


def _overriding(anatomy: Anatomy) -> Iterator[tuple[str, str, str]]:
    """The methods of base classes in other files, by path and qualified name, each with the one here in its place."""
    for cls in anatomy.module.classes:
        for there, named in declared_for(anatomy, cls):
            methods = [method for name, method in cls.methods.items() if there.defines("def", name)]
            yield from ((there.path, f"{named}.{method.name}", method.qualname) for method in methods)


def _callers(file: str, into: dict[str, list[Passing]], hops: int) -> list[Caller]:
    found: dict[object, Caller] = {}
    outer: dict[str, list[Caller]] = {}
    for passing in into.get(file, ()):
        there = os.path.abspath(passing.path)
        if there not in outer:
            outer[there] = _callers(there, into, hops - 1) if hops > 1 else []
        begun = [
            Caller(passing, kind, many, on_loop, passing.own, passing.for_all) for kind, many, on_loop in passing.starts
        ]
        begun += [
            Caller(
                passing,
                before.kind,
                before.many,
                before.on_loop and not passing.callers[before.passing.function],
                _is_own(passing, before),
                before.for_all,
            )
            for before in outer[there]
            if before.passing.function in passing.callers
        ]
        for caller in begun:
            key = passing.function, caller.kind, caller.many, caller.on_loop, caller.own, caller.for_all
            found.setdefault(key, caller)
    return list(found.values())


def _is_own(passing: Passing, before: Caller) -> bool:
    """Whether each run has the object of a call for itself, if the function that calls runs as `before` says."""
    if passing.given and passing.caller == before.passing.function:
        return not passing.given & before.passing.lasting
    return passing.own or (before.own and passing.through_self)


def called_beside(anatomy: Anatomy) -> Iterator[Start]:
    """A start for each way in which other files run functions of this one beside others."""
    for caller in anatomy.callers:
        for function, through in comes_to(anatomy, caller):
            yield Start(function, function.node, caller.kind, caller.many, None, through)
    yield from begun_by_bases(anatomy)
