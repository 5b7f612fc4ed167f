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
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Graph, Point
from lint_rules.syntax.graph import Kind as EdgeKind
from lint_rules.syntax.walk import walk

_MOST = 4
"""Values that one name may have."""

_OTHERS = frozenset({"HumanMessage", "SystemMessage", "AIMessage", "UserMessage", "AssistantMessage"})

Outcome = Callable[[cst.CSTNode], bool | None]
"""What a test (the header of `if`, `while`, `case`, or of `for`: whether it goes on) gives while the call waits; None
where it may give both."""


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
        hands: Callable[[Point], bool] | None = None,
    ) -> None:
        """At the points `aside` a call is put where it is answered later, at those that `hands` names to somebody."""
        self._aside = aside
        self._hands = hands
        self.answers = answers
        self.graph = graph
        self.points = points
        self.inside = set(points)
        self.starts = [start for start in starts if start in self.inside]
        self._outcome = outcome
        self._settles = settles
        self.module = answers.facts.module

    @cached_property
    def made(self) -> set[Point]:
        """Points that make an answer."""
        return {p for p in self.points if p in self._aside or self.answers.at(p)}

    @cached_property
    def answering(self) -> set[Point]:
        """Points that make an answer, or store what may be one where other answers are stored."""
        named = {name for p in self.made if isinstance(p.statement, cst.Assign) for name in ex.assigned(p.statement)}
        made = {slot for name in named if (slot := self.answers.facts.slots.of_name(name)) is not None}
        lists = {slot for p in self.points for slot in self.grown(p) if p in self.made or self._puts(p, made)}
        return self.made | {p for p in self.points if lists & set(self.grown(p))}

    def _puts(self, point: Point, named: set[Slot]) -> bool:
        """Whether a statement appends what has one of some names."""
        parts = (part for whole in point.expressions() for part in walk(whole) if type(part) is cst.Arg)
        return any(self.answers.facts.slots.of_name(part.value) in named for part in parts)

    @cached_property
    def settling(self) -> set[Point]:
        """Points after which the call waits no more."""
        handed = {p for p in self.points if self._hands is not None and self._hands(p)} - self.answering
        before = self.leading_to(self.made) if handed else set()  # whoever gets a call ahead of its answer gives none
        kept = {p for p in handed if p not in before or p.statement in self._answering_loops}
        return self.answering | kept | {p for p in self.points if self._settles(p)}

    def grown(self, point: Point) -> Iterator[object]:
        """The lists that a statement appends what may be an answer to."""
        node = point.statement
        value = ex.inner(node.value) if isinstance(node, cst.Expr) else None
        if isinstance(value, cst.Call) and ex.called_name(value) in {"append", "extend"}:
            slot = self.answers.facts.slots.of(ex.receiver(value))
            if slot is not None and not any(self._is_other(arg.value) for arg in value.args):
                yield slot

    def _is_other(self, value: cst.BaseExpression) -> bool:
        """Whether a value is a message, but surely no answer: it says another role, or is a reply or call."""
        if is_answer(value) or Kind.CALL in self.answers.facts.kinds(value):
            return not is_answer(value)
        made = self.answers.facts.values_of(value) if type(value) is cst.Name else []
        if 0 < len(made) <= _MOST and all(self._is_other(each) for each in made if type(each) is not cst.Name):
            return True
        if _says_role(value) or (type(value) is cst.Call and ex.called_name(value) in _OTHERS):
            return True
        parts = (node for node in walk(value) if type(node) is cst.Name or type(node) is cst.Attribute)
        return any(Kind.REPLY in self.answers.facts.kinds(node) for node in parts)

    def begun(self, starts: list[Point]) -> Region:
        """The same region, with what is known of it, entered elsewhere."""
        for shared in ("settling", "hopeful", "_answering_loops", "statements"):
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
        if isinstance(node, cst.For) and outcome is None and node in self._answering_loops and rounds_of(node) is None:
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
                outer = self.module.parent.get(here)
                if type(outer) is cst.For and outer.body is here:
                    found.add(outer)
                here = outer
        return found

    @cached_property
    def statements(self) -> set[cst.CSTNode | None]:
        return {p.statement for p in self.points}

    def reached(self, starts: list[Point], blocked: set[Point], *, answered: bool = False) -> set[Point]:
        """What is reached inside the region without passing `blocked`; if `answered`, behind loops that answer, too."""
        seen = {p for p in starts if p not in blocked}
        queue = deque(seen)
        while queue:
            here = queue.popleft()
            for target, _ in here.successors if answered and isinstance(here.statement, cst.For) else self.edges(here):
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
        order = self.module.order
        return sorted({*self.starts, *ahead}, key=lambda p: order[p.statement])  # type: ignore[index]

    @cached_property
    def hopeful(self) -> set[Point]:
        """Points from which the call may still be settled in this region, if nothing fails."""
        return self.leading_to(self.settling)

    def leading_to(self, goals: set[Point]) -> set[Point]:
        """Points from which a waiting call may come to some others, if nothing fails; and those."""
        found = set(goals)
        queue = deque(found)
        while queue:
            here = queue.popleft()
            for source, kind in here.predecessors:
                if source in self.inside and source not in found and kind != "exception":
                    if any(target is here for target, _ in self.edges(source)):
                        found.add(source)
                        queue.append(source)
        return found


def _says_role(value: cst.BaseExpression) -> bool:
    """Whether a message says whose it is: a dict, or the keywords of its class."""
    return "role" in ex.dict_items(value) or (type(value) is cst.Call and "role" in ex.keywords(value))


def rounds_of(node: cst.CSTNode | None) -> cst.BaseExpression | None:
    """`range(n)` of a loop that is a number of rounds: it may be over while a call waits."""
    iterated = ex.inner(node.iter) if isinstance(node, cst.For) else None
    if not isinstance(iterated, cst.Call) or ex.dotted(iterated.func) != "range":
        return None
    places = any(isinstance(part, cst.Call) and part is not iterated for part in walk(iterated))  # `range(len(calls))`
    return None if places else iterated
