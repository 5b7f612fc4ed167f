"""Exits of a loop on the control-flow graph: branches after one side of which its head can't be reached any more."""

from __future__ import annotations

from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import ENDING
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk_scope

_BRANCHES = (cst.If, cst.While, cst.MatchCase)
Loop = cst.While | cst.For | cst.FunctionDef
"""What goes round; a function does by calls."""


class Exits:
    """The ways out of one loop of a function."""

    def __init__(self, anatomy: Anatomy, node: Loop, function: Scope) -> None:
        self.module = anatomy.module
        self.node = node
        self.graph = anatomy.flow(function)

    @cached_property
    def deciding(self) -> list[Point]:
        """The branches that decide about leaving, in source order: one side goes on, another does not."""
        found = []
        for point in {*self._heads, *self._inside}:
            if isinstance(point.statement, _BRANCHES) or self._is_inner(point.statement):
                stays = [target in self._staying for target, kind in point.successors if kind != "exception"]
                if any(stays) and not all(stays):
                    found.append(point)
        return sorted(found, key=lambda point: self.module.order[point.statement])  # type: ignore[index]

    def _is_inner(self, node: cst.CSTNode | None) -> bool:
        """Whether it is a loop that decides by its end: `for piece in reply: ... break` with an `else: break`."""
        return isinstance(node, cst.For) and node.orelse is not None and node is not self.node

    def behind(self, point: Point) -> list[Point]:
        """Where a branch goes on to when it leaves the loop."""
        return [target for target, kind in point.successors if kind != "exception" and target not in self._staying]

    def stays_when_true(self, point: Point) -> bool:
        """Whether the loop goes on where the test of an `if` holds."""
        return isinstance(point.statement, cst.If) and any(
            target in self._staying for target, kind in point.successors if kind == "true"
        )

    def leads_out(self, node: cst.CSTNode) -> bool:
        """Whether nothing that follows `node` in the loop leads to another round."""
        points = self.graph.enclosing(node, self.module.parent)
        return bool(points) and not any(point in self._staying for point in points)

    def tested(self, point: Point) -> list[cst.CSTNode]:
        """The expressions that are evaluated to decide: a test, or a case with the subject it is held against."""
        parts = point.expressions()
        if isinstance(point.statement, cst.MatchCase):
            match = self.module.parent[point.statement]
            parts = [*parts, *([match.subject] if isinstance(match, cst.Match) else [])]
        return parts

    @cached_property
    def _heads(self) -> set[Point]:
        return {*self.graph.at(self.node)}

    @cached_property
    def _inside(self) -> set[Point]:
        return {point for node in walk_scope(self.node.body) for point in self.graph.at(node)}

    @cached_property
    def _staying(self) -> set[Point]:
        """The points of the loop from which its head can be reached again, without failing on the way."""
        found: set[Point] = set()
        queue = list(self._heads)
        while queue:
            for source, kind in queue.pop().predecessors:
                if kind != "exception" and source in self._inside and source not in found and not _exits(source):
                    found.add(source)
                    queue.append(source)
        return found | self._heads


def _exits(point: Point) -> bool:
    node = point.statement
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and ex.dotted(node.value.func) in ENDING
