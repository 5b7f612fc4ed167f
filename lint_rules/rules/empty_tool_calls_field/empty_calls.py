"""Assistant messages whose `tool_calls` may be an empty list: set from the reply whether or not it has calls."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import denies_calls, is_about_part, speaks_of_calls, without_calls
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.llm_calls import goes_to_ollama
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.obligations.again import Again
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record


@record
class EmptyCalls:
    """`element` sets the field in a message, `calls` is what may be empty, `test` shows that it may."""

    element: cst.DictElement
    calls: cst.BaseExpression
    stored: Stored
    test: cst.If


def empty_calls(anatomy: Anatomy) -> Iterator[EmptyCalls]:
    """The fields of a file that may be empty lists in a history that is sent again."""
    if _cleaned(anatomy) or any(goes_to_ollama(anatomy.facts, call) for call in anatomy.facts.calls):
        return
    told: set[cst.CSTNode] = set()
    for function in anatomy.module.functions:
        if function.kind not in {"function", "module"}:
            continue
        for stored in anatomy.transcript.stored(function):
            element = _field(anatomy, stored)
            if element is None or element in told or stored.role != "assistant":
                continue
            calls = _may_be_empty(anatomy, element.value)
            if calls is None or _are_demanded(anatomy, calls):
                continue
            test = _Finder(anatomy, function, calls).test_after(stored, element)
            if test is not None:
                told.add(element)
                yield EmptyCalls(element, calls, stored, test)


def _cleaned(anatomy: Anatomy) -> bool:
    """Whether the file takes the field out of messages again, or leaves out what is empty."""
    if any(map(_leaves_out, anatomy.module.nodes_of(cst.DictComp))):
        return True
    for node in anatomy.module.nodes_of(cst.Call, cst.Del):
        if isinstance(node, cst.Call) and ex.called_name(node) == "pop" and ex.key(node) == "tool_calls":
            return True
        if type(node) is cst.Del and ex.key(node.target) == "tool_calls":
            return True
    return False


def _leaves_out(made: cst.DictComp) -> bool:
    """`{key: value for key, value in message.items() if value is not None}`."""
    asked = names_in(*made.for_in.ifs)
    value, listed = ex.dotted(made.value), made.for_in.iter
    return value in asked and isinstance(listed, cst.Call) and ex.called_name(listed) == "items"


def _field(anatomy: Anatomy, stored: Stored) -> cst.DictElement | None:
    """The element of a dict display of the same function that gives a stored message its calls."""
    calls = stored.calls
    element = anatomy.module.parent.get(calls) if calls is not None else None
    if not isinstance(element, cst.DictElement) or ex.text(element.key) != "tool_calls":
        return None
    return element if anatomy.module.scope_of[element].function is stored.function else None


def _may_be_empty(anatomy: Anatomy, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """The calls of a reply that a value is made of, one by one or with None or an empty list in their place."""
    calls = [part for part in ex.alternatives(value) if not is_neutral(part)]
    if len(calls) != 1:
        return None
    value = ex.inner(calls[0])
    if isinstance(value, cst.ListComp) and value.for_in.inner_for_in is None:
        return _may_be_empty(anatomy, value.for_in.iter)
    return value if ex.reads_place(value) and anatomy.facts.is_kind(value, Kind.CALLS) else None


def _are_demanded(anatomy: Anatomy, calls: cst.BaseExpression) -> bool:
    """Whether the function of the project that gives the reply raises where that has no calls."""
    listed = anatomy.assigned(calls) if isinstance(calls, cst.Name) else None
    pair = ex.member(listed.for_in.iter if isinstance(listed, cst.ListComp) else listed or calls)
    made = anatomy.assigned(pair[0]) if pair is not None and isinstance(pair[0], cst.Name) else None
    made = ex.inner(made.expression) if isinstance(made, cst.Await) else made
    run = body(anatomy, made)
    if run is None:
        return False
    there, function = run

    def says(node: cst.CSTNode) -> bool | None:
        """What a test gives for a reply without calls."""
        return without_calls(there.facts, node.test) if isinstance(node, (cst.If, cst.While)) else None

    given = there.points(function, function.nodes_of(cst.Return))
    flow = there.flow(function)
    return bool(given) and there.ways(function).path([flow.entry], {*given, flow.exit}, says=says) is None


class _Finder:
    def __init__(self, anatomy: Anatomy, function: Scope, calls: cst.BaseExpression) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.function = function
        self.again = Again(anatomy, function)
        asks = [n for n in function.nodes if type(n) is cst.Call and anatomy.calls.asks(n)]
        self.asked = {point for ask in asks for point in self.again.points(ask)}
        self.filled = set(self._filled(anatomy.facts.slots.of(calls)))
        self.tests = [
            node
            for node in function.nodes
            if isinstance(node, cst.If)
            and not is_about_part(self.module, node)
            and speaks_of_calls(anatomy.facts, node.test)
        ]

    def _filled(self, slot: Slot | None) -> Iterator[Point]:
        """Where the calls become a list that has some: `calls, found = [call], True`."""
        for node in self.again.binding(slot) if slot is not None else ():
            pairs = [pair for target in ex.targets(node) for pair in ex.unpacked(target, node.value)] if (
                isinstance(node, cst.Assign)
            ) else []  # fmt: skip
            for target, value in pairs:
                if self.anatomy.facts.slots.of(target) == slot and isinstance(value, cst.List) and value.elements:
                    yield from self.again.points(node)

    def test_after(self, stored: Stored, element: cst.DictElement) -> cst.If | None:
        """The condition that asks for calls only once the message is stored; None where that was known before."""
        if any(isinstance(outer, cst.IfExp) for outer in self.module.ancestors(element)):
            return None
        if any(self._decides(test, element) for test in self.tests):
            return None
        for test in self.tests:
            if self.again.follows(stored.node, test, self.asked, exceptions=False):
                if not self.module.inside(stored.node, test) and self._sent_again(stored.slot, test):
                    return test
        return None

    def _decides(self, test: cst.If, element: cst.CSTNode) -> bool:
        """Whether the message is made only where a condition before it says that there are calls."""
        goals = set(self.again.points(element))
        here = self.again.points(test)
        if not any(self.again.graph.dominates(a, b) for a in here for b in goals):
            return False
        without = self._without(test)
        avoiding = {*here, *self.asked, *self.filled}
        starts = [point for point in without if point not in avoiding]
        return not any(point in goals for point in starts) and not (
            starts and self.again.graph.reaches(starts, goals, avoiding, exceptions=False)
        )

    def _without(self, test: cst.If) -> list[Point]:
        """Where control goes when there are no calls."""
        way = "true" if denies_calls(test.test) else "false"
        return [target for point in self.again.points(test) for target, kind in point.successors if kind == way]

    def _sent_again(self, slot: Slot | None, test: cst.If) -> bool:
        """Whether the history is sent after a reply without calls: later, or by a request that follows."""
        slot = root_object(slot) if slot is not None else None
        if slot is None or slot[0] == "attr":
            return slot is not None
        if slot[0] == "var" and (slot[1] is not self.function or slot[2] in {
            p.name.value for p in parameters(self.function)
        }):  # fmt: skip
            return True
        starts = self._without(test)
        return any(p in self.asked for p in starts) or self.again.graph.reaches(starts, self.asked, exceptions=False)
