"""Lists that a function gives back with all that was in them when it got them: `messages + new`, or the list itself."""

from __future__ import annotations

import re

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope

_SAVES = re.compile(r"a?(create|save|persist|insert|store|add|upsert|write|bulk)(_|$)", re.IGNORECASE)
"""Starts of names of functions of other files that store messages, and may give back what they have stored."""
_DEEPEST = 4


def made_by(anatomy: Anatomy, value: cst.BaseExpression) -> tuple[cst.Call, int | None] | None:
    """The one call that a value is the result of, and which part of its result: `a, b = f(x)` makes `b` part 1."""
    value = ex.inner(value)
    if isinstance(value, cst.Call):
        return value, None
    found = anatomy.definitions(value) if isinstance(value, cst.Name) else []
    if len(found) != 1 or found[0].kind not in {"assign", "unpack"}:
        return None
    bound = found[0]
    if not isinstance(bound.point.statement, cst.Assign):
        return None
    made, target = ex.inner(bound.point.statement.value), bound.point.statement.targets[0].target
    if not isinstance(made, cst.Call):
        return None
    if bound.kind == "assign":
        return made, None
    names = [ex.dotted(element.value) for element in target.elements] if isinstance(target, cst.Tuple) else []
    return (made, names.index(bound.name)) if bound.name in names else None


def held_whole(anatomy: Anatomy, callee: Scope, part: int | None) -> set[str]:
    """The parameters of a function that are all there in what it returns, or in one part of what it returns."""
    found: list[set[str]] = []
    for node in callee.nodes_of(cst.Return):
        value = ex.inner(node.value) if node.value is not None else None
        if part is not None and isinstance(value, cst.Tuple):
            value = ex.inner(value.elements[part].value) if part < len(value.elements) else None
        elif part is not None:
            return set()
        if value is not None and ex.dotted(value) != "None" and not _is_empty(value):
            found.append(_held(anatomy, callee, value, anatomy.points(callee, [node]), 0))
    return set.intersection(*found) if found else set()


def _held(anatomy: Anatomy, function: Scope, value: cst.BaseExpression, points: list[Point], depth: int) -> set[str]:
    """The parameters whose elements are all in the list that `value` is at `points`."""
    value = ex.inner(value)
    cut = ex.slice_of(value)
    if depth > _DEEPEST or (cut is not None and (cut.lower is not None or cut.upper is not None)):
        return set()
    if isinstance(value, cst.Name):
        bound = anatomy.reaching(function).only(points[0], value.value) if points else None
        if bound is None:
            return set()
        if bound.kind == "parameter":
            return {value.value}
        return _held(anatomy, function, bound.value, [bound.point], depth + 1) if bound.value is not None else set()
    parts = list(ex.alternatives(value)) if isinstance(value, cst.BooleanOperation) else sources(value)
    if isinstance(value, cst.Call) and not parts and _gives_back_stored(anatomy, value):
        parts = ex.positional(value)[:1]
    return {name for inside in parts for name in _held(anatomy, function, inside, points, depth + 1)}


def _gives_back_stored(anatomy: Anatomy, call: cst.Call) -> bool:
    """`await store.create_many(messages)`: as what it returns is added to a history, it is messages, too."""
    return anatomy.facts.slots.callee(call) is None and bool(_SAVES.match(ex.called_name(call).lstrip("_")))


def _is_empty(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.List) and not value.elements


def keeps(anatomy: Anatomy, statement: cst.CSTNode | None, slot: Slot) -> bool:
    """Whether a statement binds a list to itself: `a, h = prepare(a, h)`, where `prepare` may return the very list."""
    if not isinstance(statement, cst.Assign):
        return False
    call, target = ex.inner(statement.value), statement.targets[0].target
    callee = anatomy.facts.slots.callee(call)
    if callee is None or not isinstance(call, cst.Call):
        return False
    targets = ex.several(target)
    places = [n for n, t in enumerate(targets) if anatomy.facts.slots.of(t) == slot]
    given = {p[2] for p, v in anatomy.facts.slots.bindings(call, callee) if anatomy.facts.slots.of(v) == slot}
    for node in callee.nodes_of(cst.Return):
        value = ex.inner(node.value) if node.value is not None else None
        for place in places:
            at = value.elements[place].value if isinstance(value, cst.Tuple) and place < len(value.elements) else value
            if isinstance(at, cst.Name) and at.value in given:
                return True
    return False
