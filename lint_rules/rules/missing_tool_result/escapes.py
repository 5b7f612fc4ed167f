"""Ways out of a region on which a call gets no answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeVar

import libcst as cst

from lint_rules.obligations.unanswered import Region, rounds_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import JUMPS
from lint_rules.syntax.graph import Kind as EdgeKind
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.record import record

_Outer = TypeVar("_Outer", cst.If, cst.ExceptHandler)


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


class Escapes:
    """Finds those of one region."""

    def __init__(self, region: Region) -> None:
        self._region = region

    def all(self) -> Iterator[Escape]:
        """The steps after which the waiting call gets no answer in the region, in source order; one a place."""
        if self._region.reached(self._region.starts, set()).isdisjoint(self._region.made):
            return
        seen: set[cst.CSTNode] = set()
        order = self._region.module.order
        for point in sorted(self._region.waiting & self._region.hopeful, key=lambda p: order[p.statement]):  # type: ignore[index]
            for target, kind in self._region.edges(point):
                if target in self._region.hopeful | self._region.settling:
                    continue
                if kind == "exception" and target not in self._region.inside:
                    continue  # who takes an error that leaves the region stands outside
                escape = self._escape(point, target, kind)
                if escape is not None and escape.node not in seen:
                    seen.add(escape.node)
                    yield escape

    def leavings(self, takes_back: Callable[[Point], bool]) -> Iterator[Escape]:
        """`break` and `return` behind an answer: the calls that a loop has not come to yet get none.

        Behind a point that takes the message with the calls back, or answers them all, there are none left.
        """
        gone = {p for p in self._region.points if takes_back(p)}
        open_ = self._region.reached(self._region.starts, gone)
        behind = (p.successors for p in self._region.answering & open_)
        answered = [t for ways in behind for t, kind in ways if kind != "exception" and t in self._region.inside]
        order = self._region.module.order
        for point in sorted(self._region.reached(answered, gone), key=lambda p: order[p.statement]):  # type: ignore[index]
            node = point.statement
            if isinstance(node, (cst.Break, cst.Return)):
                for target, _ in point.successors:
                    if target not in self._region.inside:
                        around, beside = self._around(node, cst.If), flags_beside(self._region.module, node)
                        yield Escape(node, target, node, around.test if around is not None else None, None, beside)

    def _around(self, node: cst.CSTNode | None, kind: type[_Outer]) -> _Outer | None:
        """The innermost statement of a kind that a node is, or stands in, of those of the region."""
        while node is not None and not isinstance(node, (cst.FunctionDef, cst.Module)):
            if isinstance(node, kind):
                return node if node in self._region.statements else None
            node = self._region.module.parent.get(node)
        return None

    def _escape(self, point: Point, target: Point, kind: EdgeKind) -> Escape | None:
        end = target if target not in self._region.inside else self._end(target)
        if end is None or end is self._region.graph.raises:
            return None
        jump = self._jump(target)
        handler = self._around(
            target.statement if target in self._region.inside else point.statement, cst.ExceptHandler
        )
        test = point.statement.test if isinstance(point.statement, (cst.If, cst.While)) else rounds_of(point.statement)
        node = jump or handler or test
        if isinstance(target.statement, cst.BaseSmallStatement) and target in self._region.inside and jump is None:
            node = handler or target.statement  # `else: print("unknown tool")`
            if isinstance(point.statement, cst.If) and self._region.module.inside(
                target.statement, point.statement.body
            ):
                node = test
        node = node or point.statement
        flags = self._flags(point, target)
        if test is not None and isinstance(point.statement, cst.If):
            flags[ex.source(test, 200)] = kind == "true"
        return Escape(node, end, jump, test, handler, flags) if node is not None else None

    def _end(self, start: Point) -> Point | None:
        """Where a way leads that is decided: the first point outside the region, by way of one more round.

        An error that is raised on it counts where all of it ends so.
        """
        raises = self._region.graph.raises
        seen, raised = {start}, False
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for target, kind in self._region.edges(here):
                if kind == "exception" or (
                    kind == "false" and here is not start and rounds_of(here.statement) is not None
                ):
                    continue
                raised = raised or target is raises
                if target not in self._region.inside and target is not raises:
                    return target
                if target not in seen and target not in self._region.settling and target is not raises:
                    seen.add(target)
                    queue.append(target)
        return raises if raised else None

    def _flags(self, point: Point, target: Point) -> dict[str, bool]:
        """The names that are set to True or False on the way, as far as there is but one."""
        found: dict[str, bool] = {}
        here: Point | None = target
        seen: set[Point] = set()
        while here is not None and here in self._region.inside and here not in seen:
            seen.add(here)
            found.update(_flag(here.statement))
            following = {t for t, kind in self._region.edges(here) if kind != "exception"}
            here = following.pop() if len(following) == 1 else None
        return found

    def _jump(self, start: Point) -> cst.CSTNode | None:
        """The `continue`, `break` or `return` in which all ways end that begin with a decided one."""
        found: set[cst.CSTNode | None] = set()
        queue = [start]
        for here in queue:
            if isinstance(here.statement, JUMPS) or here not in self._region.inside:
                found.add(here.statement if here in self._region.inside else None)
                continue
            queue += [t for t, kind in self._region.edges(here) if kind != "exception" and t not in queue]
        return found.pop() if len(found) == 1 else None


def flags_beside(module: SourceModule, node: cst.CSTNode | None) -> dict[str, bool]:
    """The names that are set to True or False in the same block."""
    found: dict[str, bool] = {}
    line = module.parent.get(node) if node is not None else None
    block = module.parent.get(line) if line is not None else None
    for line in block.body if isinstance(block, cst.IndentedBlock) else ():
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            found.update(_flag(small))
    return found


def _flag(node: cst.CSTNode | None) -> dict[str, bool]:
    """The names and attributes that a statement sets to what is surely true or false: `[]` may be filled."""
    value = ex.inner(node.value) if isinstance(node, cst.Assign) else None
    if not isinstance(node, cst.Assign) or value is None:
        return {}
    known = ex.dotted(value) == "True" if ex.dotted(value) in ex.CONSTANTS else None
    if isinstance(value, (cst.Dict, cst.List, cst.Tuple, cst.Set)) and value.elements:
        known = True
    places = (each.target for each in node.targets if isinstance(each.target, (cst.Name, cst.Attribute)))
    return {ex.source(place, 200): known for place in places} if known is not None else {}
