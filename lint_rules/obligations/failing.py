"""What may fail for what the model wrote while a call waits for its answer: an unknown tool, malformed arguments."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.obligations.waiting import Taken
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.walk import walk

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
                looked_up = at is not None and hand.mentions(at) and not hand.is_part(node)
                if looked_up and not _is_tested(taken, node.value):
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
