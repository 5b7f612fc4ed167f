"""What a test gives when some of what it asks for is known."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from lint_rules.syntax import expressions as ex


def truth(test: cst.BaseExpression, known: Mapping[str, bool]) -> bool | None:
    """True or false; None where it does not follow. `known`: names, lengths and tests as code, and what they give."""
    value = known.get(ex.source(test, 200)) if known else None
    if value is not None:
        return value
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        value = truth(test.expression, known)
        return None if value is None else not value
    if isinstance(test, cst.BooleanOperation):
        either = isinstance(test.operator, cst.Or)
        sides = [truth(test.left, known), truth(test.right, known)]
        if either in sides:
            return either
        return (not either) if None not in sides else None
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        left, operator, right = ex.compared(test)
        value = truth(left, known)
        turned = _AGAINST_NOTHING.get(type(operator)) if _is_nothing(right) else None
        turned = _AGAINST_ONE.get(type(operator)) if ex.integer(right) == 1 else turned
        return None if value is None or turned is None else value is not turned
    return None


_AGAINST_NOTHING = {cst.Equal: True, cst.NotEqual: False, cst.GreaterThan: False}
_AGAINST_ONE = {cst.LessThan: True, cst.GreaterThanEqual: False}
"""Whether a comparison of what is empty or not, or of its length, gives the opposite of that."""


def _is_nothing(node: cst.BaseExpression) -> bool:
    return ex.integer(node) == 0 or (isinstance(node, cst.List) and not node.elements)
