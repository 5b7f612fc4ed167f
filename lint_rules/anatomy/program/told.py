"""What a call leaves out because of the constants that it hands over: `chat(text, remember=False)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.truth import evaluate

Told = Mapping[str, str]
"""Parameters that a call sets to one of the constants of Python, and to which."""
_TRUTH = {"True": True, "False": False, "None": False}


def told_by(anatomy: Anatomy, call: cst.Call, callee: Scope) -> Told:
    """What a call, maybe of another file, tells a function of this one by constants: also by those it leaves away."""
    slots = anatomy.facts.slots
    listed = parameters(callee)
    given = {p.name.value: p.default for p in listed if p.default is not None}
    if not any(arg.star for arg in call.args):
        given |= {slot[2]: value for slot, value in slots.bindings(call, callee) if slot[0] == "var"}
    else:
        given = {}
    kept = {name: value for name, value in given.items() if not anatomy.facts.assigned(slots.parameter(callee, name))}
    return {name: said for name, value in kept.items() if (said := ex.dotted(value) or "") in _TRUTH}


def leaves_out(anatomy: Anatomy, function: Scope, told: Told, nodes: Iterable[cst.CSTNode]) -> bool:
    """Whether a function that is told so comes to none of some nodes of it."""
    places = list(nodes)
    if not told or not places:
        return False
    flow, seen = anatomy.flow(function), set[Point]()
    queue = [flow.entry]
    while queue:
        point = queue.pop()
        if point not in seen:
            seen.add(point)
            closed = closed_side(point, told)
            queue += [target for target, kind in point.successors if kind != closed]
    return not any(
        point in seen and not _is_passed_by(anatomy, node, told)
        for node in places
        for point in anatomy.points(function, [node])
    )


def closed_side(point: Point, told: Told) -> str:
    """The side of a test that a function never takes which is told so: "true", "false", or "" for none."""
    test = point.statement.test if isinstance(point.statement, (cst.If, cst.While)) else None
    return {True: "false", False: "true", None: ""}[outcome(test, told) if test is not None else None]


def _is_passed_by(anatomy: Anatomy, node: cst.CSTNode, told: Told) -> bool:
    """`talks[key] if remember else []`."""
    below = node
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.IfExp):
            found = outcome(outer.test, told)
            if (found is False and below is outer.body) or (found is True and below is outer.orelse):
                return True
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
        below = outer
    return False


def outcome(test: cst.BaseExpression, told: Told) -> bool | None:
    """What a test gives, None where that is open."""
    return evaluate(test, partial(_atom, told))


def _atom(told: Told, part: cst.BaseExpression) -> bool | None:
    """`remember`, `remember is False`, `command is not None`."""
    if isinstance(part, cst.Name):
        return _TRUTH.get(told.get(part.value, ""))
    if not isinstance(part, cst.Comparison):
        return None
    left, operator, right = ex.compared(part)
    said, asked = told.get(left.value) if isinstance(left, cst.Name) else None, ex.dotted(right)
    if said is None or asked not in _TRUTH:
        return None
    same = isinstance(operator, (cst.Is, cst.Equal))
    return (said == asked) is same if same or isinstance(operator, (cst.IsNot, cst.NotEqual)) else None
