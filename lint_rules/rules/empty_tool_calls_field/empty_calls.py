"""Assistant messages whose `tool_calls` may be an empty list: set from the reply whether or not it has calls."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import denies_calls, is_about_part, tells_calls, without_calls
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.sent import what_is_sent
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.llm_calls import goes_to_ollama
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.obligations.again import Again
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk
from lint_rules.syntax.ways import Says

Field = cst.DictElement | cst.Arg


@record
class EmptyCalls:
    """`element` sets the field in a message, `calls` is what may be empty, `shows` tells that it may.

    That is the test that asks only later whether there are calls, or what makes the list with none in it.
    """

    element: Field
    calls: cst.BaseExpression
    stored: Stored | None
    shows: cst.CSTNode


def empty_calls(anatomy: Anatomy) -> Iterator[EmptyCalls]:
    """The fields of a file that may be empty lists in a history that is sent again."""
    if _cleaned(anatomy) or any(goes_to_ollama(anatomy.facts, call) for call in anatomy.facts.calls):
        return
    told: set[cst.CSTNode] = set()
    for function in anatomy.module.functions:
        if function.kind not in {"function", "module"}:
            continue
        for stored in anatomy.transcript.stored(function):
            element = _field(anatomy, stored.calls)
            if element is None or element in told or stored.role != "assistant":
                continue
            calls = _taken(element.value)
            if calls is None or not _hold_calls(anatomy, element, calls) or _are_demanded(anatomy, calls):
                continue
            shows = _Finder(anatomy, function, calls).shown(stored, element)
            if shows is not None:
                told.add(element)
                yield EmptyCalls(element, calls, stored, shows)
    yield from (found for found in _converted(anatomy) if found.element not in told)


def _converted(anatomy: Anatomy) -> Iterator[EmptyCalls]:
    """The same in what puts stored messages, some of which have no calls, into the form in which they are sent."""
    sent, found = what_is_sent(anatomy).nodes, []
    for node, items in anatomy.made:
        calls = _taken(items["tool_calls"]) if "tool_calls" in items else None
        if calls is None or node not in sent or "role" not in items or ex.text(items["role"]) != "assistant":
            continue
        element = _field(anatomy, items["tool_calls"])
        finder = _Finder(anatomy, anatomy.module.scope_of[node].function, calls)
        if element is None or (ex.member(calls) or ("", ""))[1] != "tool_calls" or finder.asked:
            continue
        found += [(element, calls)] if not finder.knows(element) else []
    shows = _asked_later(anatomy) if found else None
    yield from (EmptyCalls(element, calls, None, shows) for element, calls in found if shows is not None)


def _asked_later(anatomy: Anatomy) -> cst.If | None:
    """The first test that asks a reply for its calls only when it is stored."""
    for function in anatomy.module.functions:
        finder = _Finder(anatomy, function, None)
        said = [s for s in anatomy.transcript.stored(function) if s.role in {None, "assistant"}] if finder.tests else []
        for stored in said if finder.asked else ():
            test = next(finder.asking_later(stored), None) if not finder.knows(stored.node) else None
            if test is not None:
                return test
    return None


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


def _field(anatomy: Anatomy, calls: cst.BaseExpression | None) -> Field | None:
    """The element of a dict that is the calls of a message."""
    element = anatomy.module.parent.get(calls) if calls is not None else None
    if isinstance(element, cst.Arg) and element.keyword is not None:
        made = anatomy.module.parent[element]
        is_dict = isinstance(made, cst.Call) and ex.dotted(made.func) == "dict"
        return element if is_dict and element.keyword.value == "tool_calls" else None
    return element if isinstance(element, cst.DictElement) and ex.text(element.key) == "tool_calls" else None


def _taken(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a list is made of, one by one or as it is, with None or an empty list in its place."""
    calls = [part for part in ex.alternatives(value) if not is_neutral(part)]
    if len(calls) != 1:
        return None
    value = ex.inner(calls[0])
    if isinstance(value, (cst.ListComp, cst.GeneratorExp)) and value.for_in.inner_for_in is None:
        return _taken(value.for_in.iter)
    if isinstance(value, cst.Call) and ex.called_name(value) == "values" and (base := ex.receiver(value)) is not None:
        return _taken(base)
    copied = sources(value)
    return _taken(copied[0]) if len(copied) == 1 else value if ex.reads_place(value) else None


def picks(value: cst.BaseExpression) -> bool:
    """Whether a list has some of the elements of another one, which may be none."""
    return isinstance(value, cst.ListComp) and bool(value.for_in.ifs)


def _hold_calls(anatomy: Anatomy, element: Field, calls: cst.BaseExpression) -> bool:
    """Whether what a message takes as its calls comes of a reply, or is put together where the message is made."""
    if anatomy.facts.is_kind(calls, Kind.CALLS) or anatomy.facts.is_kind(element.value, Kind.CALLS):
        return True
    bound = anatomy.definitions(calls) if isinstance(calls, cst.Name) else []
    return any(each.kind == "assign" and is_neutral(each.value) for each in bound)


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

    given = there.points(function, function.nodes_of(cst.Return))
    flow = there.flow(function)
    return bool(given) and there.ways(function).path([flow.entry], {*given, flow.exit}, says=_says_none(there)) is None


def _says_none(anatomy: Anatomy) -> Says:
    """What a test gives where there are no calls."""
    return lambda node: without_calls(anatomy.facts, node.test) if isinstance(node, (cst.If, cst.While)) else None


_ASKING = frozenset({"len", "bool", "any", "all"})


class _Finder:
    def __init__(self, anatomy: Anatomy, function: Scope, calls: cst.BaseExpression | None) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.function = function
        self.calls = calls
        self.again = Again(anatomy, function)
        asks = [n for n in function.nodes if type(n) is cst.Call and anatomy.calls.asks(n)]
        self.asked = {point for ask in asks for point in self.again.points(ask)}
        self.filled = set(self._filled(anatomy.facts.slots.of(calls) if calls is not None else None))
        self.tests = [
            node
            for node in function.nodes
            if isinstance(node, cst.If)
            and not is_about_part(self.anatomy.facts, node)
            and (tells_calls(anatomy.facts, node.test) or self._names_calls(node.test))
        ]

    def _names_calls(self, test: cst.BaseExpression) -> bool:
        """Whether a test asks what the calls are: not a function of the program that gets them, `if stuck(calls)`."""
        named = self.calls.value if isinstance(self.calls, cst.Name) else None
        outer = (self.module.parent[n] for n in walk(test) if isinstance(n, cst.Name) and n.value == named)
        handed = (self.module.parent[each] if isinstance(each, cst.Arg) else None for each in outer)
        return any(not isinstance(call, cst.Call) or ex.dotted(call.func) in _ASKING for call in handed)

    def _filled(self, slot: Slot | None) -> Iterator[Point]:
        """Where the calls become a list that has some: `calls, found = [call], True`."""
        for node in self.again.binding(slot) if slot is not None else ():
            pairs = [pair for target in ex.targets(node) for pair in ex.unpacked(target, node.value)] if (
                isinstance(node, cst.Assign)
            ) else []  # fmt: skip
            for target, value in pairs:
                if self.anatomy.facts.slots.of(target) == slot and isinstance(value, cst.List) and value.elements:
                    yield from self.again.points(node)

    def shown(self, stored: Stored, element: Field) -> cst.CSTNode | None:
        """What shows that a stored message may have no calls; None where there are some, or it is not sent again."""
        place = self.module.scope_of[element].function
        there = self if place is self.function else _Finder(self.anatomy, place, self.calls)
        made = self._left_empty(element) if there is self else None
        picked = made is not None and picks(made)  # of calls that there were
        if there.is_chosen(element) or (not picked and (there.knows(element) or self.knows(stored.node))):
            return None
        later = [*self.asking_later(stored)]
        shows = next((test for test in later if self._sent_again(stored.slot, self._without(test))), None)
        if shows is not None or later:
            return shows
        sent = not self.asked or self._sent_again(stored.slot, self.again.points(stored.node))
        return made if sent else None

    def knows(self, node: cst.CSTNode) -> bool:
        """Whether a place is come to only where a condition before it, or around it, says that there are calls."""
        return self.is_chosen(node) or any(self._decides(test, node) for test in self.tests)

    def is_chosen(self, node: cst.CSTNode) -> bool:
        return any(isinstance(outer, cst.IfExp) for outer in self.module.ancestors(node))

    def asking_later(self, stored: Stored) -> Iterator[cst.If]:
        """The tests behind a stored message that ask for its calls."""
        for test in self.tests:
            if self.again.follows(stored.node, test, self.asked, exceptions=False):
                if not self.module.inside(stored.node, test):
                    yield test

    def _left_empty(self, element: Field) -> cst.BaseExpression | None:
        """What makes the list with nothing in it, or picks some of its calls, where none may be in it in the end.

        Only where replies without calls come, too: behind a request, or in what puts messages into another form.
        """
        if self.asked and picks(element.value):
            return element.value
        queue = [(self.calls, set(self.again.points(element)))]
        for place, goals in queue:
            if not isinstance(place, cst.Name):
                continue
            for each in self.anatomy.definitions(place):
                if each.value is None or not self._comes_empty(place, each.point, goals):
                    continue
                for value in ex.alternatives(each.value):
                    if (self.asked and picks(value)) or (is_neutral(value) and self._gets_any_reply(place, element)):
                        return value
                    queue += [(source, {each.point}) for source in sources(value)]
        return None

    def _comes_empty(self, place: cst.Name, start: Point, goals: set[Point]) -> bool:
        """Whether a list that has nothing in it comes from one point to others, past what asks whether it has."""
        slot = self.anatomy.facts.slots.of(place)
        put = self.anatomy.facts.put(slot) if slot is not None else ()
        avoiding = {*self.again.bound(slot), *(p for call in put for p in self.again.points(call))} if slot else set()
        return self.again.leads([start], goals, avoiding, exceptions=False, says=_says_none(self.anatomy))

    def _gets_any_reply(self, place: cst.Name, element: Field) -> bool:
        """Whether there may be nothing to put into the list, which is for a reply just asked for, or any message."""
        slot = self.anatomy.facts.slots.of(place)
        put = self.anatomy.facts.grown(slot) if slot is not None else []
        all_put = {point for call in put for point in self.again.points(call)}
        loops = [loop for call in put if (loop := self.module.loop_around(call)) is not None]
        passed = any(self._passes(loop, all_put) for loop in loops)
        if not self.asked:
            return passed and self.module.parent[element] in what_is_sent(self.anatomy).nodes
        spared = (loop for loop in loops if isinstance(loop, cst.For) and len([*ex.alternatives(loop.iter)]) > 1)
        may_be = passed or any(spared) or not put  # into a dict, by a key
        return may_be and self.again.leads(self.asked, self.again.points(element), exceptions=False)

    def _passes(self, loop: cst.CSTNode, put: set[Point]) -> bool:
        """Whether a turn of a loop may come by without a call of those."""
        head = self.again.points(loop)
        begun = [target for point in head for target, kind in point.successors if kind == "true" and target not in put]
        return bool(begun) and self.again.graph.reaches(begun, head, put, exceptions=False)

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

    def _sent_again(self, slot: Slot | None, starts: list[Point]) -> bool:
        """Whether the history is sent after a reply without calls: later, or by a request that follows some points."""
        slot = root_object(slot) if slot is not None else None
        if slot is None or slot[0] == "attr":
            return slot is not None
        if slot[0] == "var" and (slot[1] is not self.function or slot[2] in {
            p.name.value for p in parameters(self.function)
        }):  # fmt: skip
            return True
        return any(p in self.asked for p in starts) or self.again.graph.reaches(starts, self.asked, exceptions=False)
