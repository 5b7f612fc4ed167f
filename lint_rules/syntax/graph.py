"""Points and edges, and the questions asked of them: paths, dominators, data flow. `control_flow` makes them.

Nothing here recurses, and all of it is linear in practice: no function body is too long or too deep.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping
from functools import cached_property
from typing import Literal, TypeVar

import libcst as cst

from lint_rules.syntax.evaluation import expressions

Kind = Literal["normal", "true", "false", "loop", "raise", "exception"]
"""What happened at the source of an edge; `control_flow` explains each."""
State = TypeVar("State")

_VISITS = 1000
"""So often a point may change its state, on average, before `solve` holds the transfer function to be at fault."""


class Point:
    """One place in a function: `statement` (None for entry, exit and raise) and its edges in both directions.

    `loop` is the header of the innermost loop around it.
    """

    __slots__ = ("loop", "predecessors", "statement", "successors")

    def __init__(self, statement: cst.CSTNode | None, loop: Point | None = None) -> None:
        self.statement = statement
        self.loop = loop
        self.successors: list[tuple[Point, Kind]] = []
        self.predecessors: list[tuple[Point, Kind]] = []

    def __repr__(self) -> str:
        return f"<Point {type(self.statement).__name__}>"

    def expressions(self) -> list[cst.CSTNode]:
        """What is evaluated or bound here: the parts of a header, or the whole of a simple statement."""
        return [] if self.statement is None else expressions(self.statement)


class AnyOf(Container["Point"]):
    """The points that are in any of some sets, put together without a copy: such sets are as long as the function."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Container[Point]) -> None:
        self.parts = parts

    def __contains__(self, point: object) -> bool:
        for part in self.parts:  # noqa: SIM110 - asked for every step of every path
            if point in part:
                return True
        return False

    def __or__(self, other: Container[Point]) -> AnyOf:
        return AnyOf(*self.parts, *(other.parts if type(other) is AnyOf else (other,)))

    __ror__ = __or__


class Graph:
    """The points of `body`; make it with `build`. Unreachable statements are points without a way in."""

    def __init__(self, body: cst.FunctionDef | cst.Lambda | cst.Module | cst.ClassDef) -> None:
        self.body = body
        self.entry, self.exit, self.raises = Point(None), Point(None), Point(None)
        self.points: list[Point] = [self.entry, self.exit, self.raises]
        self._at: dict[cst.CSTNode, list[Point]] = {}

    def add(self, statement: cst.CSTNode, loop: Point | None = None) -> Point:
        """A new point for `statement`, without edges."""
        point = Point(statement, loop)
        self.points.append(point)
        self._at.setdefault(statement, []).append(point)
        return point

    def close(self) -> None:
        """Unties the points, which hold each other. Nothing can be asked afterwards."""
        for point in self.points:
            point.successors.clear()
            point.predecessors.clear()

    def cut(self, sides: Iterable[tuple[Point, Kind]]) -> None:
        """Takes edges out: of each point those of a kind. What was worked out before is forgotten."""
        for point, side in sides:
            for target, _ in (edge for edge in point.successors if edge[1] == side):
                target.predecessors.remove((point, side))
            point.successors = [edge for edge in point.successors if edge[1] != side]
        for worked_out in ("order", "loop_by_loop", "_spans"):
            vars(self).pop(worked_out, None)

    def at(self, statement: cst.CSTNode) -> list[Point]:
        """The points of a statement: several when it stands in a `finally`, none when it is not of this body."""
        return self._at.get(statement, [])

    @cached_property
    def _numbers(self) -> dict[Point, int]:
        return {point: number for number, point in enumerate(self.points)}

    def within(self, statements: Iterable[cst.CSTNode]) -> list[Point]:
        """The points of these statements, in the order in which they were made."""
        found = [point for statement in statements for point in self._at.get(statement, ())]
        return sorted(found, key=self._numbers.__getitem__)

    def enclosing(self, node: cst.CSTNode, parent: Mapping[cst.CSTNode, cst.CSTNode]) -> list[Point]:
        """The points of the statement or header that holds `node`; inside a nested function, of its definition."""
        here: cst.CSTNode | None = node
        while here is not None:
            if here in self._at:
                return self._at[here]
            here = parent.get(here)
        return []

    def path(
        self,
        start: Point | Iterable[Point],
        goal: Point | Iterable[Point],
        avoiding: Container[Point] = (),
        *,
        exceptions: bool = True,
        closed: Container[tuple[Point, Kind]] = (),
    ) -> list[Point] | None:
        """A shortest path of one edge or more from a start to a goal, both included, or None.

        No point between them is in `avoiding`. Without `exceptions`, statements do not fail; `raise` still does.
        `closed` are sides of branches that are not taken: points with the kind of the edge.
        """
        starts = [start] if isinstance(start, Point) else list(start)
        goals = {goal} if isinstance(goal, Point) else set(goal)
        came_from: dict[Point, Point | None] = dict.fromkeys(starts)
        queue = deque(starts)
        while queue:
            here = queue.popleft()
            for target, kind in here.successors:
                if (kind == "exception" and not exceptions) or (here, kind) in closed:
                    continue
                if target in goals:
                    path, back = [target], came_from[here]
                    path.append(here)
                    while back is not None:
                        path.append(back)
                        back = came_from[back]
                    return path[::-1]
                if target not in came_from and target not in avoiding:
                    came_from[target] = here
                    queue.append(target)
        return None

    def closed(self, told: Callable[[cst.BaseExpression], bool | None]) -> set[tuple[Point, Kind]]:
        """The sides of branches that are not taken where it is `told` what their tests give, for `path`."""
        tests = ((here, here.statement.test) for here in self.points if isinstance(here.statement, (cst.If, cst.While)))
        given = ((here, told(test)) for here, test in tests)
        return {(here, "false" if outcome else "true") for here, outcome in given if outcome is not None}

    def around(
        self,
        start: Iterable[Point],
        *,
        before: bool = False,
        avoiding: Container[Point] = (),
        exceptions: bool = True,
    ) -> set[Point]:
        """All points to which a path of one edge or more leads from a start, or from which one leads there.

        `avoiding` and `exceptions` as of `path`: a point that is avoided may be the end of one.
        """
        found: set[Point] = set()
        queue = list(start)
        for point in queue:
            for other, kind in point.predecessors if before else point.successors:
                if other not in found and (exceptions or kind != "exception"):
                    found.add(other)
                    queue += [] if other in avoiding else [other]
        return found

    def reaches(
        self,
        start: Point | Iterable[Point],
        goal: Point | Iterable[Point],
        avoiding: Container[Point] = (),
        *,
        exceptions: bool = True,
    ) -> bool:
        """Whether there is such a path."""
        return self.path(start, goal, avoiding, exceptions=exceptions) is not None

    @cached_property
    def order(self) -> list[Point]:
        """The reachable points in reverse postorder: sources before targets, but for back edges."""
        done: list[Point] = []
        seen = {self.entry}
        stack = [(self.entry, reversed(self.entry.successors))]
        while stack:
            point, edges = stack[-1]
            for target, _ in edges:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, reversed(target.successors)))
                    break
            else:
                stack.pop()
                done.append(point)
        return done[::-1]

    @cached_property
    def loop_by_loop(self) -> list[Point]:
        """The same, with all of a loop before what follows it: a flow of data then settles in one before the other."""
        number = {point: index for index, point in enumerate(self.order)}

        def place(point: Point) -> list[int]:
            found = [number[point]]
            loop = point.loop
            while loop is not None:
                found.append(number.get(loop, -1))
                loop = loop.loop
            return found[::-1]

        return sorted(self.order, key=place)

    def dominators(self) -> dict[Point, Point]:
        """The immediate dominator of each reachable point but the entry.

        Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001), figure 3.
        """
        number = {point: index for index, point in enumerate(self.order)}
        above = [0] * len(number)
        known = [False] * len(number)
        known[0] = changed = True
        while changed:
            changed = False
            for index, point in enumerate(self.order[1:], 1):
                best = -1
                # Latest first: the exit for exceptions has as many predecessors as the body has statements, and
                # each of them is then one step from the next.
                for source, _ in reversed(point.predecessors):
                    other = number.get(source, -1)
                    if other < 0 or not known[other]:
                        continue
                    while best >= 0 and best != other:
                        if best > other:
                            best = above[best]
                        else:
                            other = above[other]
                    best = other
                if not known[index] or above[index] != best:
                    above[index], known[index], changed = best, True, True
        return {point: self.order[above[index]] for index, point in enumerate(self.order) if index}

    @cached_property
    def _spans(self) -> dict[Point, tuple[int, int]]:
        """An interval for each point, which holds the intervals of just what it dominates."""
        parent = self.dominators()
        size = dict.fromkeys(self.order, 1)
        for point in reversed(self.order[1:]):
            size[parent[point]] += size[point]
        spans = {self.entry: (0, size[self.entry])}
        free = {self.entry: 1}
        for point in self.order[1:]:
            first = free[parent[point]]
            free[parent[point]] += size[point]
            free[point] = first + 1
            spans[point] = (first, first + size[point])
        return spans

    def dominates(self, a: Point, b: Point) -> bool:
        """Whether every path from the entry to `b` goes through `a`; each point dominates itself."""
        if a not in self._spans or b not in self._spans:
            return a is b
        first, end = self._spans[a]
        return first <= self._spans[b][0] < end


def solve(
    graph: Graph,
    initial: State,
    transfer: Callable[[Point, State], State],
    join: Callable[[State, State], State],
    along: Callable[[Point, Kind, State, State], State] | None = None,
) -> dict[Point, State]:
    """Forward data flow to a fixed point: the state before each reachable point.

    `initial` holds at the entry; `transfer` gives the state after a point, `join` that where paths meet. States are
    compared with `==` and never changed in place. `along(point, kind, before, after)` refines the state by edge; by
    default a statement that failed may or may not have had its effect, so that both states are joined.
    """
    order = graph.loop_by_loop
    number = {point: index for index, point in enumerate(order)}
    before = {graph.entry: initial}
    queue, waiting = [number[graph.entry]], {number[graph.entry]}
    budget = _VISITS * len(order)
    while queue:
        index = heapq.heappop(queue)
        waiting.discard(index)
        budget -= 1
        if budget < 0:
            raise RuntimeError("the data flow does not settle: its transfer function is not monotone")
        point = order[index]
        old = before[point]
        new = transfer(point, old)
        for target, kind in point.successors:
            if along is not None:
                state = along(point, kind, old, new)
            else:
                state = join(old, new) if kind == "exception" else new
            if target in before:
                state = join(before[target], state)
                if state == before[target]:
                    continue
            before[target] = state
            if number[target] not in waiting:
                waiting.add(number[target])
                heapq.heappush(queue, number[target])
    return before
