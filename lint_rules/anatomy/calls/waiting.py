"""Where tool calls wait for answers: loops over them, functions that get one, what follows the store of a reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.in_hand import InHand
from lint_rules.anatomy.calls.open_ends import OpenEnds
from lint_rules.anatomy.calls.unanswered import Region
from lint_rules.anatomy.rounds.executions import call_loops
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk


@dataclass(frozen=True, eq=False, slots=True)
class Taken:
    """A tool call that a region has in hand; `loop` is the loop over the calls, None in a function that gets one."""

    function: Scope
    hand: InHand
    region: Region
    loop: cst.For | None
    headers: tuple[Point, ...] = ()


def _either(first: Callable[[Point], bool], second: Callable[[Point], bool]) -> Callable[[Point], bool]:
    return lambda point: first(point) or second(point)


def calls_in_loops(anatomy: Anatomy, answers: Answers, function: Scope, ends: OpenEnds) -> Iterator[Taken]:
    """The loops over tool calls of a function in which some call is answered."""
    slots = anatomy.facts.slots
    for node, call in _loops(anatomy, function):
        slot = slots.of(call)
        if slot is None:
            continue
        bound = anatomy.module.nodes_inside(node.body, function, cst.Assign, cst.AnnAssign, cst.NamedExpr)
        hand = InHand(anatomy.facts, slot, bound, _key(anatomy, node))
        graph = anatomy.flow(function)
        points = graph.within(walk(node.body))
        headers = tuple(graph.at(node))
        starts = [t for header in headers for t, kind in header.successors if kind == "true"]
        region = Region(answers, graph, points, starts, hand.outcome, _either(hand.settles, ends.takes_back))
        after = region.reached([p for p in region.answering if not isinstance(p.statement, cst.Return)], set())
        goes_round = any(target in headers for p in after for target, _ in p.successors)
        if region.answering and goes_round:
            yield Taken(function, hand, region, node, headers)


_WRAPPERS = frozenset({"toolUse", "functionCall", "function_call"})


def _loops(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.For, cst.BaseExpression]]:
    """Loops over calls, and over the parts of a reply where some hold a call: `if "toolUse" in block`."""
    found = {loop.node: loop.call for loop in call_loops(anatomy.facts, function) if isinstance(loop.node, cst.For)}
    for node in function.nodes_of(cst.For):
        if node not in found and type(node.target) is cst.Name:
            slot = anatomy.facts.slots.of(node.target)
            if Kind.HISTORY in anatomy.facts.kinds(node.iter) or slot is None or Kind.MESSAGE in anatomy.facts.of(slot):
                continue  # an adapter of stored messages
            if any(
                (pair := ex.member(inside)) is not None
                and pair[1] in _WRAPPERS
                and slot == anatomy.facts.slots.of(pair[0])
                for inside in walk(node.body)
            ):
                found[node] = node.target
    yield from found.items()


def call_headers(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.For, list[Point]]]:
    """The loops over the calls of a reply, with their points in the graph."""
    for node, _ in _loops(anatomy, function):
        yield node, anatomy.flow(function).at(node)


def _key(anatomy: Anatomy, loop: cst.For) -> Slot | None:
    """`key` of `for key, call in calls.items()`."""
    target = loop.target
    return anatomy.facts.slots.of(target.elements[0].value) if isinstance(target, cst.Tuple) else None


def calls_as_arguments(anatomy: Anatomy, answers: Answers, function: Scope, ends: OpenEnds) -> Iterator[Taken]:
    """A function that gets one tool call and sends or stores an answer to it."""
    if not isinstance(function.node, cst.FunctionDef) or function.name.startswith("__"):
        return
    own = answers.made.get(function, [])
    if any(type(node) is cst.Yield for node in function.nodes):
        return  # what it gives out, and when, is up to who reads it
    for param in parameters(function) if own else ():
        slot = anatomy.facts.slots.parameter(function, param.name.value)
        if Kind.CALL not in anatomy.facts.of(slot) or Kind.CALLS in anatomy.facts.of(slot):
            continue
        hand = InHand(anatomy.facts, slot, function.nodes_of(cst.Assign, cst.AnnAssign, cst.NamedExpr))
        if not any(hand.mentions(node) and not _is_handed_back(anatomy, node) for node in own):
            continue
        graph = anatomy.flow(function)
        points = [p for p in graph.points if p.statement is not None]
        starts = [target for target, _ in graph.entry.successors]
        yield Taken(
            function,
            hand,
            Region(answers, graph, points, starts, hand.outcome, _either(hand.settles, ends.takes_back)),
            None,
        )


def _is_handed_back(anatomy: Anatomy, answer: cst.CSTNode) -> bool:
    """Whether an answer is given to the caller, who decides what to do without one; names are followed."""
    statement = anatomy.module.statement(answer)
    if isinstance(statement, cst.Return):
        return True
    if isinstance(statement, (cst.Assign, cst.AnnAssign)):
        targets = ex.targets(statement)
        names = {name for target in targets for name in ex.target_names(target)}
        returned = [n for n in anatomy.module.scope_of[answer].function.nodes if isinstance(n, cst.Return) and n.value]
        return any(isinstance(n, cst.Name) and n.value in names for r in returned for n in walk(r))
    return False


_TELLING = exceptions.CATCH_ALL | {
    "KeyError",
    "TypeError",
    "ValueError",
    "JSONDecodeError",
    "RuntimeError",
    "LookupError",
}


def swallowed(taken: Taken) -> Iterator[tuple[cst.ExceptHandler, Point, cst.CSTNode]]:
    """The handlers outside a loop over calls that take an error while a call waits, each with what may fail."""
    seen: set[cst.CSTNode] = set()
    for point in taken.region.points:
        if point not in taken.region.waiting:
            continue
        for target, kind in point.successors:
            handler = target.statement
            if kind not in {"exception", "raise"} or target in taken.region.inside or handler in seen:
                continue
            if isinstance(handler, cst.ExceptHandler) and exceptions.caught(handler) & _TELLING:
                failing = _failing(taken, point)
                if failing is not None:
                    seen.add(handler)
                    yield handler, target, failing


def unguarded(taken: Taken) -> Iterator[cst.CSTNode]:
    """Where an unknown tool name leaves the function as an error, while a call waits: `TOOLS[name]`, `raise`."""
    for point in taken.region.points:
        if point in taken.region.waiting and any(t is taken.region.graph.raises for t, _ in point.successors):
            failing = _failing(taken, point)
            if isinstance(failing, (cst.Subscript, cst.Raise)):
                yield failing
                return


def _failing(taken: Taken, point: Point) -> cst.CSTNode | None:
    """What fails for what the model wrote: a tool looked up or run, arguments parsed, a `raise`."""
    if isinstance(point.statement, cst.Raise):
        return point.statement
    hand = taken.hand
    for part in point.expressions():
        for node in walk(part):
            if type(node) is cst.Subscript:
                at = ex.index(node)
                if (
                    at is not None
                    and hand.mentions(at)
                    and not hand.is_part(node)
                    and not _is_tested(taken, node.value)
                ):
                    return node
            elif type(node) is cst.Call:
                if hand.facts.decoder(node) is not None and hand.mentions(node):
                    return node
                if any(arg.star == "**" and hand.mentions(arg.value) for arg in node.args):
                    return node
    return None


def _is_tested(taken: Taken, table: cst.BaseExpression) -> bool:
    """Whether the loop asks `name in table` before it looks a tool up, or the assignment is the other way round."""
    name = ex.dotted(table)
    return any(
        isinstance(target.operator, (cst.In, cst.NotIn)) and ex.dotted(target.comparator) == name
        for node in taken.function.nodes_of(cst.Comparison)
        for target in node.comparisons
    )


_NO_CALLS = frozenset({"stop", "end_turn", "STOP", "completed", "end", "stop_sequence"})
_WITH_CALLS = frozenset({"tool_calls", "tool_use", "function_call", "TOOL_USE", "TOOL_CALLS"})


@dataclass(frozen=True, eq=False, slots=True)
class Asked:
    """A reply with calls that was stored at `node`; the region is what follows, up to the next request."""

    function: Scope
    node: cst.CSTNode
    slot: Slot | None
    region: Region
    told: ToldByReply


def stored_calls(anatomy: Anatomy, answers: Answers, function: Scope, ends: OpenEnds) -> Iterator[Asked]:
    """The places at which a function stores a reply with calls that it answers further down."""
    stores = [s for s in anatomy.transcript.stored(function) if s.calls is not None and not s.answers]
    if not stores:
        return
    graph = anatomy.flow(function)
    told = ToldByReply(anatomy, function)
    asking = {p for p in graph.points if told.asks(p)}
    points = [p for p in graph.points if p.statement is not None and p not in asking]
    begins = [t for p in asking or {graph.entry} for t, kind in p.successors if kind != "exception"]
    seen: set[cst.CSTNode] = set()
    for store in stores:
        told.carries(store.calls)
    before = Region(answers, graph, points, begins, told.outcome, _either(told.settles, ends.takes_back))
    for store in stores:
        if store.node in seen:
            continue
        seen.add(store.node)
        places = graph.enclosing(store.node, anatomy.module.parent)
        starts = [t for p in places for t, kind in p.successors if kind != "exception"]
        if any(p in before.waiting for p in places) and not any(answers.at(p) for p in places):
            yield Asked(function, store.node, store.slot, before.begun(starts), told)


class ToldByReply:
    """What tests and statements of a function say of a reply with calls."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.function = function
        self.derived: set[Slot] = set()
        self.lists: set[Slot] = set()
        self._traced: set[Slot] = set()
        for node in function.nodes:
            if isinstance(node, cst.Assign) and self.mentions(node.value):
                for target in node.targets:
                    slot = anatomy.facts.slots.of(target.target)
                    if slot is not None and slot[0] == "var":
                        self.derived.add(slot)

    def carries(self, calls: cst.BaseExpression | None) -> None:
        """What the calls of a stored message are made of holds the calls."""
        for node in walk(calls) if calls is not None else ():
            slot = self.anatomy.facts.slots.of(node) if type(node) is cst.Name else None
            if slot is not None and slot[0] == "var" and slot[1] is self.function:
                self.derived.add(slot)
                if Kind.CALLS in self.anatomy.facts.of(slot) or isinstance(
                    self.anatomy.module.parent.get(node), cst.CompFor
                ):
                    self.lists.add(slot)

    def asks(self, point: Point) -> bool:
        return any(
            type(node) is cst.Call and self.anatomy.calls.asks(node)
            for part in point.expressions()
            for node in walk(part)
        )

    def mentions(self, node: cst.CSTNode) -> bool:
        """Whether the reply, its calls, or something made of them stands in an expression."""
        for part in walk(node):
            if type(part) in {cst.Name, cst.Attribute, cst.Subscript, cst.Call}:
                kinds = self.anatomy.facts.kinds(part)  # type: ignore[arg-type]
                if Kind.REPLY in kinds or Kind.CALLS in kinds or Kind.CALL in kinds or Kind.MODEL_TEXT in kinds:
                    return True
                if type(part) is cst.Name and self.anatomy.facts.slots.of(part) in self.derived:
                    return True
        return False

    def outcome(self, node: cst.CSTNode) -> bool | None:
        return self._truth(node.test) if isinstance(node, (cst.If, cst.While)) else None

    def settles(self, point: Point) -> bool:
        """A loop over the calls, or calls that are handed to somebody, settles them as far as can be seen here."""
        node = point.statement
        if isinstance(node, cst.For):
            return Kind.CALLS in self.anatomy.facts.kinds(node.iter) or self.mentions(node.iter)
        if isinstance(node, (cst.If, cst.While)):
            return False
        for part in point.expressions():
            for inside in walk(part):
                if type(inside) is cst.Call and ex.called_name(inside) not in {"len", "bool", "append", "print"}:
                    if any(self._is_handed(arg.value) for arg in inside.args):
                        return True
                elif isinstance(inside, cst.CompFor) and Kind.CALLS in self.anatomy.facts.kinds(inside.iter):
                    return True
        return isinstance(node, cst.Return) and node.value is not None and self.mentions(node.value)

    def _is_handed(self, value: cst.BaseExpression) -> bool:
        kinds = self.anatomy.facts.kinds(value)
        return bool({Kind.CALLS, Kind.CALL, Kind.REPLY, Kind.MESSAGE} & kinds.keys())

    def _truth(self, test: cst.BaseExpression) -> bool | None:
        """What a test gives for a reply with calls."""
        test = ex.inner(test)
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            value = self._truth(test.expression)
            return None if value is None else not value
        if isinstance(test, cst.BooleanOperation):
            either = isinstance(test.operator, cst.Or)
            sides = [self._truth(test.left), self._truth(test.right)]
            if either in sides:
                return either
            return (not either) if sides == [not either] * 2 else None
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            return self._compared(test)
        if isinstance(test, cst.Call) and ex.dotted(test.func) in {"len", "bool"} and test.args:
            return self._truth(test.args[0].value)
        if isinstance(test, cst.Call) and ex.dotted(test.func) == "hasattr":
            return True if len(test.args) == 2 and ex.text(test.args[1].value) in {"tool_calls", "content"} else None
        if Kind.CALLS in self.anatomy.facts.kinds(test) or Kind.CALL in self.anatomy.facts.kinds(test):
            return True
        slot = self.anatomy.facts.slots.of(test)
        if slot is not None and slot in self.lists:
            return True
        if slot is not None and slot in self.derived and slot not in self._traced:
            self._traced.add(slot)  # `name = name or piece.name` is made of itself
            values = {self._truth(value) for value in self.anatomy.facts.assigned(slot)}
            self._traced.discard(slot)
            return values.pop() if len(values) == 1 else None
        return None

    def _compared(self, test: cst.Comparison) -> bool | None:
        left, operator, right = ex.compared(test)
        positive = isinstance(operator, (cst.Equal, cst.Is, cst.In))
        if positive or isinstance(operator, (cst.NotEqual, cst.IsNot, cst.NotIn)):
            if ex.dotted(right) == "None":
                value = self._truth(left)
                return None if value is None else value is not positive
            shown = right.elements if isinstance(right, (cst.Tuple, cst.List, cst.Set)) else [cst.Element(right)]
            said = {ex.text(e.value) or (ex.dotted(e.value) or "").rpartition(".")[2] for e in shown}
            if said & _WITH_CALLS:
                return positive
            if said and said <= _NO_CALLS:
                return not positive
            if ex.integer(right) == 0 and self._truth(left) is True:
                return not positive
            return None
        if isinstance(operator, (cst.GreaterThan, cst.GreaterThanEqual)) and self._truth(left) is True:
            return True if ex.integer(right) in {0, 1} else None
        return None
