"""Rounds without a loop: what handles a reply calls the function that asked, which asks again.

Those that are the last thing a function does are loops already, in the normal form; these go on when they are back.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.rounds.bounds import ORDER, comparisons
from lint_rules.anatomy.rounds.exits import Exits
from lint_rules.anatomy.rounds.limits import OFFERS, Cause, Limits
from lint_rules.anatomy.rounds.rounds import counts_rounds, handles_calls
from lint_rules.anatomy.rounds.waits import Waits
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import truth
from lint_rules.syntax.walk import walk

_STEPS = (cst.Integer, cst.SimpleString, cst.BinaryOperation, cst.UnaryOperation, cst.Subscript)


@record
class Recursion:
    """A function that is run again by what it runs: `way` are the calls from it to itself, `asks` reaches a model."""

    entry: Scope
    node: cst.FunctionDef
    way: tuple[CallSite, ...]
    asks: cst.Call

    @property
    def call(self) -> cst.Call:
        """The call that begins the next round."""
        return self.way[-1].node


def endless_recursions(anatomy: Anatomy) -> Iterator[Recursion]:
    """Those in which the model's reply alone decides whether there is one more round."""
    for recursion in _recursions(anatomy):
        limits = Limits(anatomy, recursion.node, recursion.entry, _Returns(anatomy, recursion))
        said = any(decision.cause is Cause.REPLY for decision in limits.decisions)
        if (said or _in_loop_over_calls(anatomy, recursion)) and limits.limit is None:
            sized = any(map(_is_sized, limits.exits.deciding))
            if not (sized or _counts(anatomy, recursion) or _waits(anatomy, recursion)):
                yield recursion


def _recursions(anatomy: Anatomy) -> Iterator[Recursion]:
    """The ways of a file by which rounds call each other, each once, and begun where others come in."""
    graph, seen = anatomy.calls, set[Scope]()
    for function in anatomy.module.functions:
        if function in seen or not graph.reaches_llm(function):
            continue
        around = {other for other in graph.reachable(function) if function in graph.reachable(other)}
        if not any(site.callee in around for site in graph.calls[function]):
            continue
        seen |= around
        outside = [f for f in around if any(site.caller not in around for site in graph.sites[f])]
        entry = min(outside or around, key=lambda f: anatomy.module.order[f.node])
        rounds = [*anatomy.rounds, *anatomy.loops_of_turns]
        if any(loop.function in around and _is_counted(loop.node) for loop in rounds):
            continue  # a run that a tool of another one begins
        for way in _ways(anatomy, entry, around):
            asks = _asked_before(anatomy, way)
            if asks is not None and isinstance(entry.node, cst.FunctionDef):
                if any(_goes_on(anatomy, function) for function in around):
                    yield Recursion(entry, entry.node, way, asks)


def _is_counted(loop: cst.While | cst.For) -> bool:
    """Not one over the pieces of a stream, or over the parts of a reply."""
    return isinstance(loop, cst.While) or counts_rounds(loop.iter)


def _ways(anatomy: Anatomy, entry: Scope, around: set[Scope]) -> Iterator[tuple[CallSite, ...]]:
    """The shortest way by calls from a function to each call that runs it again."""
    queue: list[tuple[CallSite, ...]] = [()]
    seen = {entry}
    while queue:
        way = queue.pop(0)
        for site in anatomy.calls.calls[way[-1].callee if way else entry]:
            if site.callee is entry:
                yield (*way, site)
            elif site.callee in around and site.callee not in seen:
                seen.add(site.callee)
                queue.append((*way, site))


def _asked_before(anatomy: Anatomy, way: tuple[CallSite, ...]) -> cst.Call | None:
    """The call that asks a model before the next round begins: on the way there, which no error takes."""
    found = None
    for site in way:
        graph, here = anatomy.flow(site.caller), anatomy.points(site.caller, [site.node])
        if not graph.reaches(graph.entry, here, exceptions=False):
            return None
        for call in site.caller.nodes_of(cst.Call):
            if found is None and call is not site.node and anatomy.calls.asks(call):
                if graph.reaches(anatomy.points(site.caller, [call]), here, exceptions=False):
                    found = call
    return found


def _goes_on(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function handles calls, or adds to a history: what asks again has more to ask with."""
    grown = any(write.kind in GROWING for write in anatomy.writes.by_function[function])
    return grown or handles_calls(function, anatomy.calls)


def _in_loop_over_calls(anatomy: Anatomy, recursion: Recursion) -> bool:
    loops = (outer for site in recursion.way for outer in anatomy.module.ancestors(site.node))
    return any(isinstance(loop, cst.For) and Kind.CALLS in anatomy.facts.kinds(loop.iter) for loop in loops)


def _counts(anatomy: Anatomy, recursion: Recursion) -> bool:
    """Whether something is asked that each round changes: `depth + 1`, `calls[1:]`, `tools=False`."""
    functions = {site.caller for site in recursion.way}
    moved = {
        slot: value
        for site in recursion.way
        for slot, value in anatomy.facts.slots.bindings(site.node, site.callee)
        if isinstance(ex.inner(value), _STEPS) or ex.dotted(value) in ex.CONSTANTS
    }
    reads = [(node, slot) for f in functions for node in f.nodes_of(cst.Name) if (slot := anatomy.facts.slots.of(node))]
    return any(
        slot in moved and _is_asked(anatomy, node, moved[slot]) and not _leads_on(anatomy, recursion, slot, moved[slot])
        for node, slot in reads
    )


def _leads_on(anatomy: Anatomy, recursion: Recursion, slot: Slot, value: cst.BaseExpression) -> bool:
    """Whether a switch, for which only tests ask, lets a round that is told it come to the next: it ends none."""
    function, known = slot[1], {"True": True, "False": False}.get(ex.dotted(value) or "")
    asked = {part for node in function.nodes_of(cst.If, cst.While) for part in walk(node.test)}
    uses = [name for name in function.named(slot[2]) if not isinstance(anatomy.module.parent[name], cst.Param)]
    if known is None or not asked.issuperset(uses):
        return False

    def says(node: cst.CSTNode) -> bool | None:
        return truth(node.test, {slot[2]: known}) if isinstance(node, (cst.If, cst.While)) else None

    further = anatomy.points(function, [site.node for site in recursion.way if site.caller is function])
    return anatomy.ways(function).path([anatomy.flow(function).entry], {*further}, says=says) is not None


def _is_asked(anatomy: Anatomy, name: cst.Name, value: cst.BaseExpression) -> bool:
    """Whether a name stands in a test, or in what a model is asked with: a text only where it says which tools."""
    here: cst.CSTNode = name
    for outer in anatomy.module.ancestors(name):
        if isinstance(outer, (cst.If, cst.While, cst.IfExp)):
            return any(part is name for part in walk(outer.test))
        if isinstance(outer, cst.Call) and anatomy.calls.asks(outer):
            keyword = here.keyword.value if isinstance(here, cst.Arg) and here.keyword is not None else ""
            return ex.text(value) is None or OFFERS.search(keyword) is not None
        here = outer
    return False


def _is_sized(point: Point) -> bool:
    """Whether a branch asks for a size: `len(log) > 40`."""
    tests = (test for part in point.expressions() for test in comparisons(part))
    return any(isinstance(target.operator, ORDER) for test in tests for target in test.comparisons)


def _waits(anatomy: Anatomy, recursion: Recursion) -> bool:
    """Whether each round waits for a person or a message before the next begins."""
    waits = Waits(anatomy.calls, anatomy.flow)
    return any(waits.before(site.node, site.caller) for site in recursion.way)


class _Returns(Exits):
    """The branches that decide whether the next round is called, as those of a loop that decide about leaving."""

    def __init__(self, anatomy: Anatomy, recursion: Recursion) -> None:
        super().__init__(anatomy, recursion.node, recursion.entry)
        self._anatomy, self._way = anatomy, recursion.way

    @cached_property
    def deciding(self) -> list[Point]:
        """Those, and the branches under which the next round is called."""
        above = {
            point
            for site in self._way
            for outer in self._anatomy.module.ancestors(site.node)
            if isinstance(outer, (cst.If, cst.MatchCase))
            for point in self._anatomy.flow(site.caller).at(outer)
        }
        return list(dict.fromkeys((*super().deciding, *above)))

    @cached_property
    def _inside(self) -> set[Point]:
        return {point for site in self._way for point in self._anatomy.flow(site.caller).points}

    @cached_property
    def _heads(self) -> set[Point]:
        return {point for site in self._way for point in self._anatomy.points(site.caller, [site.node])}
