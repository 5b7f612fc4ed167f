"""Ways on which a tool call gets no answer: a path question on the control-flow graph.

A region is a part of a function in which a tool call, or a stored message with calls, waits for its answer: the body
of a loop over calls, a function that gets a call, what follows the store of a reply. From its start the paths are
followed that do not answer. The step after which no answer can follow any more is what is looked for, and not a
missing line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.calls.answers import Answers, is_answer
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import JUMPS
from lint_rules.syntax.control_flow import Graph, Point
from lint_rules.syntax.graph import Kind as EdgeKind
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_MOST = 4
"""Values that one name may have."""

_OTHERS = frozenset({"HumanMessage", "SystemMessage", "AIMessage", "UserMessage", "AssistantMessage"})

Outcome = Callable[[cst.CSTNode], bool | None]
"""What a test (the header of `if`, `while`, `case`, or of `for`: whether it goes on) gives while the call waits; None
where it may give both."""


@record
class Escape:
    """A step after which the call gets no answer: `node` is where to point at, `exit` where the way leaves the region.

    `jump` is the statement that it takes, `test` the condition that decides, `handler` the handler it goes through.
    """

    node: cst.CSTNode
    exit: Point
    jump: cst.CSTNode | None
    test: cst.BaseExpression | None
    handler: cst.ExceptHandler | None
    flags: dict[str, bool]


class Region:
    """Points of a graph among which a call waits, from `starts` on; leaving them is the end of it."""

    def __init__(
        self,
        answers: Answers,
        graph: Graph,
        points: list[Point],
        starts: list[Point],
        outcome: Outcome,
        settles: Callable[[Point], bool],
        aside: frozenset[Point] = frozenset(),
    ) -> None:
        """At the points `aside` a call is put where it is answered later."""
        self._aside = aside
        self.answers = answers
        self.graph = graph
        self.points = points
        self.inside = set(points)
        self.starts = [start for start in starts if start in self.inside]
        self._outcome = outcome
        self._settles = settles
        self._module = answers.facts.module

    @cached_property
    def _made(self) -> set[Point]:
        """Points that make an answer."""
        return {p for p in self.points if p in self._aside or self.answers.at(p)}

    @cached_property
    def answering(self) -> set[Point]:
        """Points that make an answer, or store what may be one where other answers are stored."""
        lists = {slot for p in self._made for slot in self.grown(p)}
        return self._made | {p for p in self.points if lists & set(self.grown(p))}

    @cached_property
    def settling(self) -> set[Point]:
        """Points after which the call waits no more."""
        return self.answering | {p for p in self.points if self._settles(p)}

    def grown(self, point: Point) -> Iterator[object]:
        """The lists that a statement appends what may be an answer to."""
        node = point.statement
        value = ex.inner(node.value) if isinstance(node, cst.Expr) else None
        if isinstance(value, cst.Call) and ex.called_name(value) in {"append", "extend"}:
            base = ex.receiver(value)
            slot = self.answers.facts.slots.of(base)
            if slot is not None and not any(self._is_other(arg.value) for arg in value.args):
                yield slot

    def _is_other(self, value: cst.BaseExpression) -> bool:
        """Whether a value is a message, but surely no answer: it says another role, or is the reply itself."""
        if is_answer(value):
            return False
        made = self.answers.facts.values_of(value) if type(value) is cst.Name else []
        if 0 < len(made) <= _MOST and all(self._is_other(each) for each in made if type(each) is not cst.Name):
            return True
        if _says_role(value) or (type(value) is cst.Call and ex.called_name(value) in _OTHERS):
            return True
        parts = (node for node in walk(value) if type(node) is cst.Name or type(node) is cst.Attribute)
        return any(Kind.REPLY in self.answers.facts.kinds(node) for node in parts)

    def begun(self, starts: list[Point]) -> Region:
        """The same region, with what is known of it, entered elsewhere."""
        for shared in ("settling", "hopeful", "_answering_loops", "_statements"):
            getattr(self, shared)  # worked out once, here
        other = copy(self)
        other.starts = [start for start in starts if start in self.inside]
        other.__dict__.pop("waiting", None)
        return other

    # -- paths ------------------------------------------------------------------------------------------------

    def edges(self, point: Point) -> Iterator[tuple[Point, EdgeKind]]:
        """The ways on from a point that a waiting call can take."""
        node = point.statement
        outcome = self._outcome(node) if isinstance(node, (cst.If, cst.While, cst.MatchCase, cst.For)) else None
        if isinstance(node, cst.For) and outcome is None and node in self._answering_loops and _rounds(node) is None:
            outcome = True  # a stream of events that ends without the result is not what is looked for
        for target, kind in point.successors:
            if (kind == "true" and outcome is False) or (kind == "false" and outcome is True):
                continue
            yield target, kind

    @cached_property
    def _answering_loops(self) -> set[cst.CSTNode]:
        """The loops in whose bodies an answer is made."""
        found: set[cst.CSTNode] = set()
        seen: set[cst.CSTNode] = set()
        for point in self.answering:
            here = point.statement
            while here is not None and here not in seen:
                seen.add(here)
                outer = self._module.parent.get(here)
                if type(outer) is cst.For and outer.body is here:
                    found.add(outer)
                here = outer
        return found

    @cached_property
    def _statements(self) -> set[cst.CSTNode | None]:
        return {p.statement for p in self.points}

    def reached(self, starts: list[Point], blocked: set[Point]) -> set[Point]:
        """What is reached inside the region without passing `blocked`."""
        seen = {p for p in starts if p not in blocked}
        queue = deque(seen)
        while queue:
            for target, _ in self.edges(queue.popleft()):
                if target in self.inside and target not in seen and target not in blocked:
                    seen.add(target)
                    queue.append(target)
        return seen

    @cached_property
    def waiting(self) -> set[Point]:
        """Points at which the call may still wait for its answer."""
        return self.reached(self.starts, self.settling)

    @cached_property
    def unsettled(self) -> list[Point]:
        """Points at which the call still waits when they begin, in source order: what settles it may fail, too."""
        ahead = {t for p in self.waiting for t, kind in self.edges(p) if kind != "exception" and t in self.inside}
        order = self._module.order
        return sorted({*self.starts, *ahead}, key=lambda p: order[p.statement])  # type: ignore[index]

    @cached_property
    def hopeful(self) -> set[Point]:
        """Points from which the call may still be settled in this region, if nothing fails."""
        found = set(self.settling)
        queue = deque(found)
        while queue:
            here = queue.popleft()
            for source, kind in here.predecessors:
                if source in self.inside and source not in found and kind != "exception":
                    if any(target is here for target, _ in self.edges(source)):
                        found.add(source)
                        queue.append(source)
        return found

    # -- escapes ----------------------------------------------------------------------------------------------

    def escapes(self) -> Iterator[Escape]:
        """The steps after which the waiting call gets no answer in the region, in source order; one a place."""
        if not self._answers():
            return
        seen: set[cst.CSTNode] = set()
        order = self._module.order
        for point in sorted(self.waiting & self.hopeful, key=lambda p: order[p.statement]):  # type: ignore[index]
            for target, kind in self.edges(point):
                if target in self.hopeful or (kind == "exception" and target not in self.inside):
                    continue  # who takes an error that leaves the region stands outside
                escape = self._escape(point, target, kind)
                if escape is not None and escape.node not in seen:
                    seen.add(escape.node)
                    yield escape

    def _answers(self) -> bool:
        """Whether some path of the region makes an answer."""
        seen = set(self.starts)
        queue = deque(seen)
        while queue:
            here = queue.popleft()
            if here in self._made:
                return True
            for target, _ in self.edges(here):
                if target in self.inside and target not in seen:
                    seen.add(target)
                    queue.append(target)
        return False

    def leavings(self, takes_back: Callable[[Point], bool], aside: Callable[[], bool]) -> Iterator[Escape]:
        """`break` and `return` behind an answer: the calls that a loop has not come to yet get none.

        If `aside` says so also where the call was put aside, or handed to somebody. Behind a point that takes the
        message with the calls back, or answers them all, there are none left.
        """
        gone = {p for p in self.points if takes_back(p)}
        open_ = self.reached(self.starts, gone)
        begun = self.settling if self.settling != self.answering and aside() else self.answering
        answered = [t for p in begun & open_ for t, kind in p.successors if kind != "exception" and t in self.inside]
        order = self._module.order
        for point in sorted(self.reached(answered, gone), key=lambda p: order[p.statement]):  # type: ignore[index]
            node = point.statement
            if isinstance(node, (cst.Break, cst.Return)):
                for target, _ in point.successors:
                    if target not in self.inside:
                        yield Escape(node, target, node, self._test_around(node), None, self.flags_beside(node))

    def _test_around(self, node: cst.CSTNode) -> cst.BaseExpression | None:
        """The test of the innermost `if` of the region around a node."""
        for outer in self._module.ancestors(node):
            if isinstance(outer, cst.If) and outer in self._statements:
                return outer.test
            if isinstance(outer, (cst.FunctionDef, cst.For, cst.While)):
                return None
        return None

    def flags_beside(self, node: cst.CSTNode | None) -> dict[str, bool]:
        """The names that are set to True or False in the same block."""
        found: dict[str, bool] = {}
        line = self._module.parent.get(node) if node is not None else None
        block = self._module.parent.get(line) if line is not None else None
        for line in block.body if isinstance(block, cst.IndentedBlock) else ():
            for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                found.update(_flag(small))
        return found

    def _escape(self, point: Point, target: Point, kind: EdgeKind) -> Escape | None:
        end = target if target not in self.inside else self._end(target)
        if end is None or end is self.graph.raises:
            return None
        jump = self._jump(target)
        handler = self._handler_around(target.statement if target in self.inside else point.statement)
        test = point.statement.test if isinstance(point.statement, (cst.If, cst.While)) else _rounds(point.statement)
        node = jump or handler or test
        if isinstance(target.statement, cst.BaseSmallStatement) and target in self.inside and jump is None:
            node = handler or target.statement  # `else: print("unknown tool")`
            if test is not None and self._is_body_of(target.statement, point.statement):
                node = test
        node = node or point.statement
        flags = self._flags(point, target)
        if test is not None and isinstance(point.statement, cst.If):
            flags[ex.source(test, 200)] = kind == "true"
        return Escape(node, end, jump, test, handler, flags) if node is not None else None

    def _is_body_of(self, node: cst.CSTNode, test: cst.CSTNode | None) -> bool:
        return isinstance(test, cst.If) and self._module.inside(node, test.body)

    def _handler_around(self, node: cst.CSTNode | None) -> cst.ExceptHandler | None:
        """The handler that a node stands in, of those of the region."""
        while node is not None:
            if isinstance(node, cst.ExceptHandler):
                return node if node in self._statements else None
            if isinstance(node, (cst.FunctionDef, cst.Module)):
                return None
            node = self._module.parent.get(node)
        return None

    def _end(self, start: Point) -> Point | None:
        """Where a way leads that is decided: the first point outside the region, by way of one more round."""
        seen = {start}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for target, kind in self.edges(here):
                if kind == "exception" or (
                    kind == "false" and here is not start and _rounds(here.statement) is not None
                ):
                    continue
                if target not in self.inside:
                    return target
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        return None

    def _flags(self, point: Point, target: Point) -> dict[str, bool]:
        """The names that are set to True or False on the way, as far as there is but one."""
        found: dict[str, bool] = {}
        here: Point | None = target
        seen: set[Point] = set()
        while here is not None and here in self.inside and here not in seen:
            seen.add(here)
            found.update(_flag(here.statement))
            following = {t for t, kind in self.edges(here) if kind != "exception"}
            here = following.pop() if len(following) == 1 else None
        return found

    def _jump(self, start: Point) -> cst.CSTNode | None:
        """The `continue`, `break` or `return` that a decided way takes, if there is but one way."""
        here: Point | None = start
        seen: set[Point] = set()
        while here is not None and here in self.inside and here not in seen:
            seen.add(here)
            if isinstance(here.statement, JUMPS):
                return here.statement
            following = {t for t, kind in self.edges(here) if kind != "exception"}
            here = following.pop() if len(following) == 1 else None
        return None


def _says_role(value: cst.BaseExpression) -> bool:
    """Whether a message says whose it is: a dict, or the keywords of its class."""
    return "role" in ex.dict_items(value) or (type(value) is cst.Call and "role" in ex.keywords(value))


def _rounds(node: cst.CSTNode | None) -> cst.BaseExpression | None:
    """`range(n)` of a loop that is a number of rounds: it may be over while a call waits."""
    iterated = ex.inner(node.iter) if isinstance(node, cst.For) else None
    if not isinstance(iterated, cst.Call) or ex.dotted(iterated.func) != "range":
        return None
    places = any(isinstance(part, cst.Call) and part is not iterated for part in walk(iterated))  # `range(len(calls))`
    return None if places else iterated


def _flag(node: cst.CSTNode | None) -> dict[str, bool]:
    """The names and attributes that a statement sets to what is surely true or false."""
    value = ex.inner(node.value) if isinstance(node, cst.Assign) else None
    known = _is_something(value) if value is not None else None
    if not isinstance(node, cst.Assign) or known is None:
        return {}
    places = (each.target for each in node.targets if isinstance(each.target, (cst.Name, cst.Attribute)))
    return {ex.source(place, 200): known for place in places}


def _is_something(value: cst.BaseExpression) -> bool | None:
    """What a test of a value gives that is written out: `True`, `None`, `{"id": call.id}`; `[]` may be filled."""
    if (said := ex.dotted(value)) in ex.CONSTANTS:
        return said == "True"
    if isinstance(value, (cst.Dict, cst.List, cst.Tuple, cst.Set)):
        plain = (cst.DictElement, cst.Element)
        return True if value.elements and isinstance(value.elements[0], plain) else None
    return None
