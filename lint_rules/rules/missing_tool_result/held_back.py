"""Answers that wait in a list of their own, and the ways on which that never gets into the history.

The results of the calls are put into `results`, which is stored later. Where the function is left between the two, the
calls stay open as if nobody had answered them. So they do where a reply that was cut off within a call passes for one
without calls.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

import libcst as cst

from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.told import GROWERS, ToldByReply
from lint_rules.anatomy.program.handlers import shown_only
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.obligations.unanswered import Region
from lint_rules.rules.missing_tool_result.afterwards import Afterwards
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.record import record


@record
class Held:
    """The region behind the points `made`, which put answers into the list `waiting`; `told` says what is known there.

    What hands the list on settles it.
    """

    made: list[Point]
    waiting: Slot
    region: Region
    told: ToldByReply

    @property
    def node(self) -> cst.CSTNode:
        """Where answers are put there."""
        assert self.made[0].statement is not None
        return self.made[0].statement


def held_back(answers: Answers, ends: Afterwards) -> Iterator[Held]:
    """The lists of a function in which answers wait to be stored."""
    filled: dict[Slot, list[Point]] = {}
    for point in ends.graph.points if answers.reaches(ends.function) else ():
        for slot in _filled(ends, point) if answers.at(point) else ():
            if slot[:2] == ("var", ends.function) and not is_parameter(slot):
                filled.setdefault(slot, []).append(point)
    for slot, points in filled.items():
        moved = _moved(ends, slot, ends.histories - filled.keys())
        if moved:
            told = ToldByReply(ends.anatomy, ends.function)
            yield Held(points, slot, _region(answers, ends, points, moved, told, slot), told)


def _filled(ends: Afterwards, point: Point) -> Iterator[Slot]:
    """The lists that a statement makes, or appends to."""
    node, slots = point.statement, ends.anatomy.facts.slots
    value = ex.inner(node.value) if isinstance(node, cst.Expr) else None
    base = ex.receiver(value) if isinstance(value, cst.Call) and ex.called_name(value) in GROWERS else None
    places = [base] if base is not None else []
    if isinstance(node, cst.Assign) and isinstance(ex.inner(node.value), (cst.List, cst.ListComp)):
        places = ex.targets(node)
    for place in places:
        slot = slots.of(place)
        if slot is not None:
            yield slot


def _moved(ends: Afterwards, slot: Slot, histories: Container[Slot | None]) -> set[Point]:
    """The points that hand a list on; none where none of them stores it in a history."""
    anatomy, module = ends.anatomy, ends.anatomy.module
    read = [
        name
        for name in anatomy.facts.names.get(slot, ())
        if not isinstance(module.statement(name), (cst.If, cst.While))
        and not shown_only(module, name)
        and not isinstance(module.parent[name], cst.AssignTarget)
        and not _is_grown(module.parent[name])
    ]
    points = {*anatomy.points(ends.function, read)}
    stored = (each.node for each in ends.stored if each.answers and each.slot in histories)
    return points if not points.isdisjoint(anatomy.points(ends.function, stored)) else set()


def _is_grown(outer: cst.CSTNode) -> bool:
    return isinstance(outer, cst.Attribute) and outer.attr.value in GROWERS


def _region(
    answers: Answers,
    ends: Afterwards,
    made: list[Point],
    moved: set[Point],
    told: ToldByReply,
    waiting: Slot,
) -> Region:
    """What is behind the points that put something into a list, which then is not empty, until it is made anew."""
    around = {outer for point in made for outer in ends.anatomy.module.ancestors(point.statement or ends.function.node)}

    def outcome(node: cst.CSTNode) -> bool | None:
        if isinstance(node, cst.For) and node in around:
            return False
        given = ends.flagged(node, {waiting[2]: True})
        return told.outcome(node) if given is None else given

    anew = {*ends.anatomy.points(ends.function, ends.anatomy.facts.assigned(waiting))} - moved
    points = [p for p in ends.graph.points if p.statement is not None and not ends.asks(p) and p not in anew]
    behind = [target for point in made for target, kind in point.successors if kind != "exception"]
    region = Region(answers, ends.graph, points, behind, outcome, ends.takes_back, frozenset(moved))
    region.hopeful = region.leading_to(region.answering)  # who may take the history back later has lost the answers
    return region
