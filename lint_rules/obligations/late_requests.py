"""Requests of later rounds: when one fails, tools of the same turn have run, and what they gave has to be kept."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, run_elsewhere
from lint_rules.anatomy.rounds.agent_runs import runs_agent
from lint_rules.anatomy.rounds.executions import executions
from lint_rules.anatomy.turns.lasting import is_new
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, reads
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, as_part_of, is_parameter, moved, root_object
from lint_rules.obligations.again import Again
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope

_WITH_CALLS = frozenset({Kind.CALLS, Kind.REPLY})


class LateRequests:
    """Those of one file, and of the files that it imports."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._failing: dict[tuple[Anatomy, Scope], bool] = {}
        self._leaving: dict[tuple[Anatomy, Scope], set[Slot]] = {}
        self._answering: dict[tuple[Anatomy, Scope], bool] = {}
        self._results: dict[Scope, list[tuple[cst.CSTNode, Slot | None]]] = {}
        self._stores: dict[Anatomy, set[Scope]] = {}

    def fails(self, call: cst.Call) -> bool:
        """Whether a call runs rounds of the project, and leaves them by the error of a request behind a tool's run."""
        return self._fails(self._anatomy, call)

    def points(self, again: Again, request: cst.Call) -> list[Point]:
        """Where a request may fail: where it is made, and where the pieces of its answer come in."""
        outer = again.module.awaiting(request)
        bound = ex.assigned(outer)
        bound += [outer.asname.name] if isinstance(outer, cst.WithItem) and outer.asname is not None else []
        names = {name for target in bound for name in ex.target_names(target)}
        streams = [
            loop
            for loop in again.function.nodes_of(cst.For)
            if isinstance(loop.iter, cst.Name) and loop.iter.value in names
        ]
        return [*again.points(request), *(point for loop in streams for point in again.graph.at(loop))]

    def results(self, there: Anatomy, function: Scope) -> list[tuple[cst.CSTNode, Slot | None]]:
        """Where a function stores the results of tools, and in what, also in an object of another file."""
        if function not in self._results:
            self._results[function] = []  # of functions that run each other, the first tells
            self._results[function] = self._find_results(there, function)
        return self._results[function]

    def _find_results(self, there: Anatomy, function: Scope) -> list[tuple[cst.CSTNode, Slot | None]]:
        slots = there.facts.slots
        found: list[tuple[cst.CSTNode, Slot | None]] = []
        for one in there.transcript.stored(function):
            base = ex.receiver(one.node)
            if one.answers:
                found.append((one.node, one.slot or slots.of(base)))
        found += [(call, None) for call in executions(there.facts, there.transcript, function)]
        known = {node for node, _ in found}
        found += [
            (call, None) for call in function.nodes_of(cst.Call) if call not in known and self._runs_all(there, call)
        ]
        return found

    def _runs_all(self, there: Anatomy, call: cst.Call) -> bool:
        """`results = executor.run(reply.tool_calls)`: whether a function of another file runs all calls of a reply."""
        handed = any(not _WITH_CALLS.isdisjoint(there.facts.kinds(arg.value)) for arg in call.args)
        found = run_elsewhere(there, call) if handed and call not in there.facts.calls else None
        return found is not None and any(self.results(found[0], here) for here in found[0].calls.may_run(found[1]))

    def given_back(self, function: Scope, past: Iterable[cst.BaseExpression] = ()) -> list[cst.Return]:
        """Where a function gives back what tools gave it, in whatever that was put; not by what is put at `past`."""
        names = self.held(function, past=past)
        return [node for node in function.nodes_of(cst.Return) if node.value is not None and reads(node.value, names)]

    def held(self, function: Scope, places: Iterable[Slot] = (), past: Iterable[cst.BaseExpression] = ()) -> set[str]:
        """The names of a function that hold what tools gave it, or what is at some places, in whatever that was put.

        Not those into which it is put by one of the expressions `past` alone.
        """
        anatomy, derived = self._anatomy, ReplyPlaces(self._anatomy).derived
        asks, past = anatomy.turns.requests(function), [*past]
        results = [
            each
            for each in self.results(anatomy, function)
            if not any(anatomy.module.inside(value, each[0]) for value in past)
        ]
        others = [*asks, *past]
        slots = [*places, *(slot for _, slot in results if slot is not None)]
        names = {str(slot[2]) for slot in slots if slot[0] == "var"}
        for node in [node for node, _ in results if node not in asks]:
            names |= derived(function, node, put=True, others=others)
        return names | derived(function, function.node, put=True, others=others, known=names) if names else names

    def runs_tools(self, call: cst.Call) -> bool:
        """Whether a call asks a model, and behind it stores what tools have given: by a function of the project.

        Or by the agent of a library.
        """
        return self._runs_tools(self._anatomy, call, 0)

    def _runs_tools(self, there: Anatomy, call: cst.Call, depth: int) -> bool:
        found = body(there, call) if depth <= DEEPEST else None
        if found is None:
            return runs_agent(there, call)
        if found not in self._answering:
            self._answering[found] = False  # of functions that run each other, the first tells
            self._answering[found] = any(
                self._answers(found[0], here, depth) for here in found[0].calls.reachable(found[1])
            )
        return self._answering[found]

    def _answers(self, there: Anatomy, function: Scope, depth: int) -> bool:
        """Whether results of tools are stored behind a request: those that come before it were there already."""
        requests = there.turns.requests(function)
        if not requests:
            return False
        nodes = [node for node, _ in self.results(there, function)]
        nodes += [site.node for site in there.calls.calls[function] if site.callee in self._storing(there)]
        nodes = [node for node in nodes if node not in requests]
        return any(there.leads(function, [ask], nodes) or self._runs_tools(there, ask, depth + 1) for ask in requests)

    def _storing(self, there: Anatomy) -> set[Scope]:
        """The functions of a file that store the results of tools, or run one that does."""
        if there not in self._stores:
            own = (here for here in there.module.functions if self.results(there, here))
            self._stores[there] = there.calls.with_callers(own)
        return self._stores[there]

    def kept(self, call: cst.Call) -> set[Slot]:
        """Where a call leaves the results of the tools that it runs, as its function names it."""
        return self._kept(self._anatomy, call)

    def _kept(self, there: Anatomy, call: cst.Call) -> set[Slot]:
        found = body(there, call)
        left = [seen_from(there, call, *found, each) for each in self._left(*found)] if found is not None else []
        return {slot for slot in left if slot is not None}

    def _left(self, inner: Anatomy, function: Scope) -> set[Slot]:
        """Where a function leaves them, as it names that itself."""
        if (inner, function) not in self._leaving:
            self._leaving[inner, function] = set()  # of functions that run each other
            reach = inner.calls.reachable(function)
            placed = [(here, slot) for here in reach for _, slot in self.results(inner, here) if slot is not None]
            stored = [(here, same) for here, slot in placed for same in _names(inner, slot)]
            kept = {slot for here, slot in stored if here is function or root_object(slot)[0] == "attr"}
            for below in inner.turns.requests(function):
                kept |= self._kept(inner, below)
            self._leaving[inner, function] = kept
        return self._leaving[inner, function]

    def _fails(self, there: Anatomy, call: cst.Call) -> bool:
        found = body(there, call)
        if found is None:
            return runs_agent(there, call)
        if found not in self._failing:
            self._failing[found] = False  # of functions that run each other, the first tells
            self._failing[found] = self._leave(*found)
        return self._failing[found]

    def _leave(self, there: Anatomy, function: Scope) -> bool:
        again = Again(there, function)
        ran = there.points(function, [node for node, _ in self.results(there, function)])
        return any(
            leaves(again, here := self.points(again, request))
            and (again.leads(ran, set(here), exceptions=False) or self._fails(there, request))
            for request in there.turns.requests(function)
            if there.turns.escapes(request)
        )


def _names(there: Anatomy, slot: Slot) -> Iterator[Slot]:
    """A place, where it lives, and what it was bound to: `talk = messages`."""
    bound = (part for value in there.facts.assigned(slot) for part in ex.alternatives(value))
    yield from (slot, there.aliases.of(slot), *(each for part in bound if (each := there.facts.slots.of(part))))


def seen_from(there: Anatomy, call: cst.Call, inner: Anatomy, function: Scope, slot: Slot) -> Slot | None:
    """A place of the function that a call runs, as the caller names it; None for what ends with the function.

    So does a list that is put under the name of a parameter: `talk = [*talk, question]`.
    """
    root, base = root_object(slot), ex.receiver(call)
    if is_parameter(root) and root[1] is function:
        renewed = any(map(_is_copy, inner.facts.assigned(root)))
        bound = {} if renewed else dict(inner.facts.slots.bindings(call, function))
        given = bound.get(root)
        made = given is None or (
            not isinstance(given, (cst.Name, cst.Attribute, cst.Subscript)) and is_new(there, ex.inner(given))
        )
        place = there.facts.slots.of(given) if given is not None and not made else None
        return moved(slot, root, place) if place is not None else None
    if root[0] != "attr" or there is inner:
        return slot if root[0] == "attr" or root[1] is inner.module.top else None
    place = there.facts.slots.of(base)
    return as_part_of(slot, place) if place is not None else None


def _is_copy(value: cst.BaseExpression) -> bool:
    """A list made on the spot, or another's copy; what a function gives back may be what it was given."""
    return isinstance(ex.inner(value), (cst.List, cst.ListComp)) or bool(sources(value))


def leaves(again: Again, here: list[Point], barred: Container[Point] = ()) -> bool:
    """Whether an error at these points leaves the function, past those that are barred."""
    return fails_to(again, here, {again.graph.raises}, barred)


def fails_to(again: Again, here: list[Point], goals: set[Point], barred: Container[Point]) -> bool:
    """Whether an error at these points comes to one of the goals, past what is barred."""
    failed = [to for point in here for to, kind in point.successors if kind in {"exception", "raise"}]
    failed = [point for point in failed if point not in barred]
    return not goals.isdisjoint(failed) or again.leads(failed, goals, barred, exceptions=False)
