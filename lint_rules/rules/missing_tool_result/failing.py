"""What may fail for what the model wrote while a call waits for its answer: an unknown tool, malformed arguments.

It fails where the call waits, or in a function that gets the call or a part of it. Where the error lands is read off
the graph and its class; `takers` follows it into the callers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.in_hand import CallsInHand, InHand
from lint_rules.anatomy.messages.classes import body, run_elsewhere
from lint_rules.anatomy.program.handlers import gathered, kept_by_gather
from lint_rules.anatomy.rounds.executions import READERS
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import EXECUTOR_MAPS, SERVER_CALL
from lint_rules.obligations.waiting import bindings_of
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Graph, Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, SourceModule, parameter_names, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import last_statement, walk, walk_scope

_MALFORMED = frozenset({"JSONDecodeError", "ValueError"})
_UNKNOWN_TOOL = frozenset({"KeyError", "LookupError"})
_CANCELLED = frozenset({"CancelledError"})
_LEFT = frozenset({"GeneratorExit"})
_ANY = _MALFORMED | _UNKNOWN_TOOL | {"TypeError", "RuntimeError"}
"""What a tool raises is not known: a handler of one of these may take it."""
_TABLES = frozenset({"get", "getattr"})

Settled = Callable[[Point], bool]
"""Whether a point takes care of the open calls."""


def never(_: Point) -> bool:
    """Where nothing is known to take care of them."""
    return False


@record
class Fault:
    """At `node` an error may come up: `cause` raises it, there or in a function that runs there.

    `names` are the classes by which a handler takes it; `parsing`: it is about the form of the arguments; `tool`: the
    tool that the model named is not there, or fails itself; `stops`: another task stops the turn there. `anyway`: it
    hangs on no call; `ends`: the program raises it to end the turn, and tells nobody of the calls. A handler has raised
    it `again`.
    """

    node: cst.CSTNode
    cause: cst.CSTNode
    names: frozenset[str]
    parsing: bool = False
    tool: bool = False
    stops: bool = False
    anyway: bool = False
    ends: bool = False
    again: cst.CSTNode | None = None

    @property
    def kind(self) -> tuple[frozenset[str], bool, bool]:
        """What decides who takes it, wherever in a function it comes up."""
        return self.names, self.tool, self.stops

    @property
    def left(self) -> bool:
        """Whether it is a `yield`: who reads the turn may not come back."""
        return self.names == _LEFT

    @property
    def taking(self) -> frozenset[str]:
        """The classes of the handlers that take it: `except Exception` does not take what stops a task."""
        return self.names | ({"BaseException"} if self.stops else exceptions.CATCH_ALL)

    def landing(
        self, module: SourceModule, graph: Graph, point: Point, settled: Settled = never
    ) -> tuple[Point | None, Fault]:
        """Where the error lands that comes up at `point`, and as what: the handler that takes it, or the way out.

        None where it ends elsewhere, or where a `finally` on its way is `settled`. A handler that raises it again, or
        one of another class for it, takes nothing.
        """
        if self.stops and point.statement is not None:
            return self._landing_stopped(module, graph, point.statement, settled), self
        queue = deque((target, self) for target, kind in point.successors if kind in {"exception", "raise"})
        seen = {target for target, _ in queue}
        while queue:
            target, fault = queue.popleft()
            following = [t for t, _ in target.successors]
            if target is graph.raises:
                return target, fault
            if isinstance(target.statement, cst.ExceptHandler):
                if exceptions.caught(target.statement).isdisjoint(fault.taking):
                    continue
                again = [] if any(map(settled, _inside(graph, target))) else _raised_again(graph, target)
                if not again:
                    return target, fault
                fault = replace(fault, names=_raised_as(again[0], fault.names), again=again[0].statement)
                following = [t for p in again for t, kind in p.successors if kind in {"exception", "raise"}]
            elif settled(target) or not _is_in_finally(module, target):
                return None, self
            queue.extend((t, fault) for t in following if t not in seen)
            seen.update(following)
        return None, self

    def _landing_stopped(self, module: SourceModule, graph: Graph, node: cst.CSTNode, settled: Settled) -> Point | None:
        """Where a turn that is stopped goes on: not at `except Exception`, where the ways of the graph end."""
        for guard in exceptions.guards(module, node):
            handler = next((h for h in guard.handlers if exceptions.caught(h) & self.taking), None)
            for landed in graph.at(handler) if handler is not None else ():
                if any(map(settled, _inside(graph, landed))) or not _raised_again(graph, landed):
                    return landed
            if guard.finalbody is not None and any(map(settled, graph.within(walk_scope(guard.finalbody.body)))):
                return None
        return graph.raises


def _raised_as(point: Point, names: frozenset[str]) -> frozenset[str]:
    """The class by which an error is taken that is raised at a point, for one of some classes."""
    name = _raised_name(point.statement)
    return frozenset({name}) if name[:1].isupper() else names  # `raise exc`


def _raised_name(node: cst.CSTNode | None) -> str:
    raised = node.exc if isinstance(node, cst.Raise) else None
    raised = raised.func if isinstance(raised, cst.Call) else raised
    return ex.last_name(raised) if raised is not None else ""


def _inside(graph: Graph, handler: Point) -> Iterator[Point]:
    """The points of the body of a handler."""
    if isinstance(handler.statement, cst.ExceptHandler):
        yield from (point for node in walk_scope(handler.statement.body) for point in graph.at(node))


def _raised_again(graph: Graph, handler: Point) -> list[Point]:
    """The `raise` in which a handler ends, whatever happens; nothing where it may end otherwise."""
    node = handler.statement
    last = last_statement(node.body) if isinstance(node, cst.ExceptHandler) else None
    leaving = (cst.Return, cst.Continue, cst.Break)
    if not isinstance(last, cst.Raise) or any(isinstance(p.statement, leaving) for p in _inside(graph, handler)):
        return []
    return [*graph.at(last)]


def _is_in_finally(module: SourceModule, point: Point) -> bool:
    return point.statement is not None and any(isinstance(o, cst.Finally) for o in module.ancestors(point.statement))


class Failing:
    """The faults of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._raised: dict[tuple[Scope, Slot, bool], Fault | None] = {}
        self._elsewhere: dict[Anatomy, Failing] = {}

    def at(self, hand: InHand, point: Point, function: Scope) -> Iterator[Fault]:
        """What fails at a point for the call in hand: a tool looked up or run, arguments parsed, a `raise`."""
        if isinstance(point.statement, cst.Raise):
            yield self._raise(hand, point.statement)
            return
        for node in (node for part in point.expressions() for node in walk(part)):
            if isinstance(node, cst.Subscript) and self._is_looked_up(hand, node):
                if not self._is_tested(function, node):
                    yield Fault(node, node, _UNKNOWN_TOOL, tool=True)
            elif isinstance(node, cst.Yield):
                yield Fault(node, node, _LEFT, stops=True, anyway=True)
            elif isinstance(node, cst.Call):
                if self._may_be_stopped(hand, node):
                    yield Fault(node, node, _CANCELLED, stops=True)
                if not kept_by_gather(self._anatomy.module, node):
                    yield from self._of_call(hand, node, function)

    def _may_be_stopped(self, hand: InHand, call: cst.Call) -> bool:
        """Whether a call is awaited, works for the one in hand, and gives something: it takes its time."""
        looks = ex.called_name(call) in READERS or ex.called_name(call)[:1].isupper()
        awaited = isinstance(self._anatomy.module.parent[call], cst.Await)
        given = awaited and not looks and any(hand.mentions(arg.value) for arg in call.args)
        return given and not self._anatomy.module.is_statement(call)

    def _of_call(self, hand: InHand, call: cst.Call, function: Scope) -> Iterator[Fault]:
        if self._facts.decoder(call) is not None:
            if hand.mentions(call):
                yield Fault(call, call, _MALFORMED, parsing=True)
            return
        is_tool = self._asks_server(hand, call) or self._runs_tool(hand, call)
        if is_tool or any(arg.star == "**" and hand.mentions(arg.value) for arg in call.args):
            if not self._takes_all(call):
                yield Fault(call, call, _ANY, tool=is_tool)
        else:
            yield from self._of_callee(hand, call, function)

    def _takes_all(self, call: cst.Call) -> bool:
        """Whether the function of the project that a call runs takes what fails where it hands its arguments on."""
        found = body(self._anatomy, call)
        if found is None:
            return False
        there, callee = found
        flow, given = there.flow(callee), parameter_names(callee) - {"self"}
        handed = [node for node in callee.nodes_of(cst.Call) if any(mentions(given, arg) for arg in node.args)]
        points = ((node, point) for node in handed for point in there.points(callee, [node]))
        landed = [Fault(node, node, _ANY).landing(there.module, flow, point)[0] for node, point in points]
        return bool(landed) and all(at is not None and isinstance(at.statement, cst.ExceptHandler) for at in landed)

    def _of_callee(self, hand: InHand, call: cst.Call, function: Scope) -> Iterator[Fault]:
        """What leaves a function that gets the call, or a part of it; of another file, it is told where that is run."""
        mapped = self._mapped(call)
        callee, there = self._facts.slots.callee(call) or mapped, self
        handed = any(hand.is_given(arg.value) for arg in call.args)
        found = run_elsewhere(self._anatomy, call) if callee is None and handed else None
        if found is not None:
            callee, there = found[1], self._elsewhere.setdefault(found[0], Failing(found[0]))
        if callee is None or (callee.is_async and not self._is_awaited(call, function)):
            return
        bound = there._facts.slots.bindings(call, callee) if callee is not mapped else self._each(call, callee)
        for slot, value in bound:
            told = self._facts.is_kind(value, Kind.ARGUMENTS)
            inside = there._raised_by(callee, slot, told) if hand.is_given(value) else None
            if inside is not None:
                cause = inside.cause if there is self else call
                yield Fault(call, cause, inside.names, inside.parsing, inside.tool, inside.stops)
                return

    def _mapped(self, call: cst.Call) -> Scope | None:
        """The function of this file that is run for each of several: `pool.starmap(run, jobs)`."""
        named = call.args[0].value if call.args and ex.called_name(call) in EXECUTOR_MAPS else None
        return self._facts.slots.function(named) if named is not None else None

    def _each(self, call: cst.Call, callee: Scope) -> Iterator[tuple[Slot, cst.BaseExpression]]:
        """The parameters in which such a function gets its call, with what it is run for."""
        given = [self._facts.slots.parameter(callee, param.name.value) for param in parameters(callee)]
        return ((slot, arg.value) for slot in given if Kind.CALL in self._facts.of(slot) for arg in call.args[1:])

    def _asks_server(self, hand: InHand, call: cst.Call) -> bool:
        """Whether a session of MCP runs the tool: it raises where the server refuses, is gone or takes too long."""
        asked = ex.called_name(call) == SERVER_CALL and any(hand.mentions(arg.value) for arg in call.args)
        return asked and self._facts.slots.callee(call) is None

    def _is_awaited(self, call: cst.Call, function: Scope) -> bool:
        """`await run(call)`, `await gather(*(run(c) for c in calls))`: what else a coroutine becomes is unknown."""
        for outer in self._anatomy.module.ancestors(call):
            if isinstance(outer, cst.Await):
                inside = ex.inner(outer.expression)
                return inside is call or (isinstance(inside, cst.Call) and ex.called_name(inside) == "gather")
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                errors = gathered(self._anatomy.module, function)
                return any(errors.get(ex.dotted(target) or "") is False for target in ex.assigned(outer))
        return False

    def _runs_tool(self, hand: InHand, call: cst.Call) -> bool:
        """Whether a call runs what was looked up by what the model wrote: `tool(...)`, `tools[name].run(...)`."""
        func = ex.inner(call.func)
        tool = func.value if isinstance(func, cst.Attribute) else func
        if call.args and type(func) is cst.Name and self._facts.slots.of(func) == hand.slot:
            return True  # no call, but the tool that was found for one
        if hand.is_part(tool) or ex.member(call) is not None:
            return False
        slot = self._facts.slots.of_name(tool)
        made = (
            [tool] if not isinstance(tool, cst.Name) else self._facts.assigned(slot if slot in hand.derived else None)
        )
        if any(self._is_found(hand, part) for value in made for part in ex.alternatives(value)):
            return bool(call.args)
        used = not self._anatomy.module.is_statement(call) and any(map(self._is_arguments, call.args))
        return used and any(type(ex.inner(value)) is cst.Call and not hand.is_part(value) for value in made)

    def _is_arguments(self, arg: cst.Arg) -> bool:
        return arg.star == "**" or Kind.ARGUMENTS in self._facts.kinds(arg.value)

    def _is_found(self, hand: InHand, value: cst.BaseExpression) -> bool:
        """`TOOLS[call.name]`, `TOOLS.get(call.name)`, `getattr(self, call.name)`."""
        if isinstance(value, cst.Subscript):
            return self._is_looked_up(hand, value)
        if not isinstance(value, cst.Call) or ex.called_name(value) not in _TABLES:
            return False
        base = ex.receiver(value)
        return any(hand.mentions(arg.value) for arg in value.args) and (base is None or not hand.mentions(base))

    def _is_looked_up(self, hand: InHand, node: cst.Subscript) -> bool:
        at, statement = ex.index(node), self._anatomy.module.statement(node)
        is_set = node in (part for target in ex.assigned(statement) for part in ex.bound_places(target))
        return at is not None and not is_set and hand.mentions(at) and not hand.is_part(node)

    def _is_tested(self, function: Scope, node: cst.Subscript) -> bool:
        """Whether the function asks, before it looks a tool up, if its name is in the table, or in one of the known."""
        table, index = ex.dotted(node.value), ex.index(node)
        key = ex.dotted(index) if index is not None else None
        for test in function.nodes_of(cst.Comparison):
            _, operator, listed = ex.compared(test)
            named = ex.dotted(listed) if isinstance(operator, (cst.In, cst.NotIn)) else None
            if named is not None and (named == table or (key is not None and ex.dotted(test.left) == key)):
                return True
        return False

    # -- in a function that gets the call --------------------------------------------------------------------------

    def _raised_by(self, function: Scope, slot: Slot, arguments: bool) -> Fault | None:
        """What leaves a function as an error for the calls, or the part of one, that its parameter `slot` holds.

        `arguments`: these are it.
        """
        key = function, slot, arguments
        if key not in self._raised:
            self._raised[key] = None  # a function that runs itself
            found = [*self._leaving(function, slot, arguments)]
            self._raised[key] = min(found, key=lambda fault: (fault.stops, fault.parsing), default=None)
        return self._raised[key]

    def _leaving(self, function: Scope, slot: Slot, arguments: bool) -> Iterator[Fault]:
        if function.kind != "function":
            return
        graph = self._anatomy.flow(function)
        hand = (CallsInHand if Kind.REPLY in self._facts.of(slot) else InHand)(self._facts, slot, bindings_of(function))
        hand.arguments |= {slot} if arguments else set()
        for point in graph.points:
            for fault in self.at(hand, point, function) if point.statement is not None else ():
                if not fault.left and (not fault.anyway or self._is_about(hand, fault.node)):
                    landed, there = fault.landing(self._anatomy.module, graph, point, self._answers.at)
                    if landed is graph.raises:
                        yield there

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self._facts, self._anatomy.calls)

    def _is_about(self, hand: InHand, statement: cst.CSTNode) -> bool:
        """Whether a function raises because of the call: that stands in the error, or in a test around it."""
        if not isinstance(statement, cst.Raise):
            return False
        if statement.exc is not None and hand.mentions(statement.exc):
            return True
        module = self._anatomy.module
        tests = (o.test for o in module.ancestors(statement) if isinstance(o, cst.If))
        tried = (module.parent[o] for o in module.ancestors(statement) if isinstance(o, cst.ExceptHandler))
        return any(map(hand.mentions, (*tests, *tried)))

    def _raise(self, hand: InHand, statement: cst.Raise) -> Fault:
        name, tool = _raised_name(statement), self._is_missed(hand, statement)
        ends = (
            statement.exc is not None
            and not hand.mentions(statement.exc)
            and not self._anatomy.module.in_handler(statement)
        )
        if not name:
            return Fault(statement, statement, _ANY, tool=tool, anyway=True)
        cls = self._anatomy.module.class_named(name)
        found = (self._anatomy, cls) if cls is not None else self._anatomy.imported_class(name)
        line = {each.name for each in found[0].module.lineage(found[1])} if found is not None else set()
        return Fault(statement, statement, frozenset({name, *line}), tool=tool, anyway=True, ends=ends)

    def _is_missed(self, hand: InHand, statement: cst.Raise) -> bool:
        """Whether it is raised where the tool is not there: `if name not in TOOLS`, `if tool is None`, `if not tool`.

        Not where the error carries the call to who takes it, and may answer it.
        """
        carried = statement.exc is not None and hand.hands_on(statement.exc)
        outer = next((o for o in self._anatomy.module.ancestors(statement) if isinstance(o, (cst.If, cst.For))), None)
        if not isinstance(outer, cst.If) or not self._anatomy.module.inside(statement, outer.body):
            return False
        if (carried and Kind.CALL in self._facts.of(hand.slot)) or not hand.mentions(outer.test):
            return False
        test = ex.inner(outer.test)
        if isinstance(test, cst.Comparison):
            _, operator, right = ex.compared(test)
            return isinstance(operator, cst.NotIn) or (isinstance(operator, cst.Is) and ex.dotted(right) == "None")
        return isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)
