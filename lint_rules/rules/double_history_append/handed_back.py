"""Lists that a function gives back with all that was in them when it got them: `messages + new`, or the list itself."""

from __future__ import annotations

import re

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.known import sources
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
        if value is not None and ex.dotted(value) != "None":
            found.append(held_at(anatomy, callee, value, anatomy.points(callee, [node])))
    return set.intersection(*found) if found else set()


def held_at(
    anatomy: Anatomy, function: Scope, value: cst.BaseExpression, points: list[Point], depth: int = 0
) -> set[str]:
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
        return held_at(anatomy, function, bound.value, [bound.point], depth + 1) if bound.value is not None else set()
    parts = list(ex.alternatives(value)) if isinstance(value, cst.BooleanOperation) else sources(value)
    if isinstance(value, cst.ListComp) and not value.for_in.ifs and value.for_in.inner_for_in is None:
        parts = [value.for_in.iter]
    if isinstance(value, cst.Call) and not parts and _gives_back_stored(anatomy, value):
        parts = ex.positional(value)[:1]
    return {name for inside in parts for name in held_at(anatomy, function, inside, points, depth + 1)}


def _gives_back_stored(anatomy: Anatomy, call: cst.Call) -> bool:
    """`await store.create_many(messages)`: as what it returns is added to a history, it is messages, too."""
    return anatomy.facts.slots.callee(call) is None and bool(_SAVES.match(ex.called_name(call).lstrip("_")))
