"""Limits that are none unless somebody sets them."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.rounds.bounds import sides_of
from lint_rules.anatomy.rounds.limits import Limits
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record


@record
class Optional:
    """A limit that a caller may set: `default` is the None, or the number, that stands for no limit."""

    test: cst.Comparison
    bound: cst.BaseExpression
    default: cst.CSTNode


def optional_limit(limits: Limits) -> Optional | None:
    """The limit of the loop, where it is None unless somebody sets it; None where there is another limit."""
    if isinstance(limits.node, cst.For) or limits.elsewhere():
        return None
    found = [decision.limit for decision in limits.decisions if decision.limit is not None]
    unset = [_unset(limits, limit) for limit in found if isinstance(limit, cst.Comparison)]
    return next(iter(unset), None) if len(unset) == len(found) and all(unset) else None


def _unset(limits: Limits, test: cst.Comparison) -> Optional | None:
    for side in sides_of(test):
        if not limits.bounds.grows(side):
            default = _none_by_default(limits, side) or _off_by_default(limits, test, side)
            if default is not None:
                return Optional(test, side, default)
    return None


def _off_by_default(limits: Limits, test: cst.Comparison, bound: cst.BaseExpression) -> cst.CSTNode | None:
    """The number by default with which the test is never made: `limit > 0 and rounds > limit`, `-1` of `limit`."""
    default, number = _number_by_default(limits, bound)
    if number is None:
        return None
    below: cst.CSTNode = test
    for outer in limits.module.ancestors(test):
        guard: cst.CSTNode | None = None
        if isinstance(outer, cst.BooleanOperation):
            guard = outer.left if outer.right is below else outer.right
        elif isinstance(outer, cst.If) and below is outer.body:
            guard = outer.test
        if outer is limits.node.body or (isinstance(outer, cst.If) and guard is None and below is not outer.test):
            return None
        passes = isinstance(outer, cst.BooleanOperation) and isinstance(outer.operator, cst.Or)
        if guard is not None and _holds_for(limits, guard, bound, number) is passes:
            return default
        below = outer
    return None


def _number_by_default(
    limits: Limits, bound: cst.BaseExpression, depth: int = 0
) -> tuple[cst.CSTNode | None, int | None]:
    values = limits.bounds.set_to(bound)
    if values is None or len(values) != 1 or depth > 2:
        return None, None
    number = ex.integer(values[0])
    return (values[0], number) if number is not None else _number_by_default(limits, values[0], depth + 1)


def _holds_for(limits: Limits, guard: cst.CSTNode, bound: cst.BaseExpression, number: int) -> bool | None:
    """What a test of a bound, or its truth, comes to where it is a number; None for other tests."""
    if isinstance(guard, cst.UnaryOperation) and isinstance(guard.operator, cst.Not):
        denied = _holds_for(limits, guard.expression, bound, number)
        return None if denied is None else not denied
    slot = limits.facts.slots.of(bound)
    if isinstance(guard, (cst.Name, cst.Attribute)):
        return number != 0 if limits.facts.slots.of(guard) == slot else None
    if not isinstance(guard, cst.Comparison) or len(guard.comparisons) != 1:
        return None
    left, operator, right = ex.compared(guard)
    other = ex.integer(right)
    return ex.holds(operator, number, other) if other is not None and limits.facts.slots.of(left) == slot else None


def _none_by_default(limits: Limits, bound: cst.BaseExpression, depth: int = 0) -> cst.CSTNode | None:
    """The None that a bound has when nobody sets it: a parameter's default, or what its attribute is set from."""
    values = limits.bounds.set_to(bound)
    if values is None or depth > 2:
        return None
    nones = [v if ex.dotted(v) == "None" else _none_by_default(limits, v, depth + 1) for v in values]
    return nones[0] if nones and all(nones) else None
