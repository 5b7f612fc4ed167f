"""What a test gives when some of what it asks for is known: the one evaluator of conditions.

What is known comes from an `Atom`: it says of a part of the test what that gives, or None. The evaluator puts the
parts together: `not`, `and`, `or`, comparisons with nothing, lengths, a value that is bound and tested at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from lint_rules.syntax import expressions as ex

Atom = Callable[[cst.BaseExpression], "bool | None"]
"""What a part of a test gives: true or false; None where that is not known, and its own parts are looked at."""

_SIZES = frozenset({"len", "bool", "list", "tuple", "any"})
"""Functions whose result is true just if what they get is: of `any`, where an element that is there is true."""


def truth(test: cst.BaseExpression, known: Mapping[str, bool]) -> bool | None:
    """True or false; None where it does not follow. `known`: names, lengths and tests as code, and what they give."""
    return evaluate(test, lambda part: known.get(ex.source(part, 200))) if known else None


def evaluate(test: cst.BaseExpression, atom: Atom) -> bool | None:
    """What a test gives; None where that does not follow from what is known of its parts."""
    test = ex.inner(test)
    value = atom(test)
    if value is not None:
        return value
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        value = evaluate(test.expression, atom)
        return None if value is None else not value
    if isinstance(test, cst.BooleanOperation):
        either = isinstance(test.operator, cst.Or)
        sides = [evaluate(test.left, atom), evaluate(test.right, atom)]
        if either in sides:
            return either
        return (not either) if None not in sides else None
    if isinstance(test, cst.NamedExpr):
        return evaluate(test.value, atom)
    if isinstance(test, cst.Call) and len(test.args) == 1 and ex.dotted(test.func) in _SIZES:
        return evaluate(test.args[0].value, atom)
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        return _compared(test, atom)
    return None


def _compared(test: cst.Comparison, atom: Atom) -> bool | None:
    """`x is None`, `x == []`, `len(x) > 0`, `len(x) < 1`: known where it is known whether there is any `x`."""
    left, operator, right = ex.compared(test)
    if ex.dotted(right) == "None":
        there = evaluate(left, atom)
        return isinstance(operator, (cst.IsNot, cst.NotEqual)) if there else None  # what is false may be "" or None
    turned = _AGAINST_NOTHING.get(type(operator)) if _is_nothing(right) else None
    turned = _AGAINST_ONE.get(type(operator)) if ex.integer(right) == 1 else turned
    value = evaluate(left, atom) if turned is not None else None
    return None if value is None or turned is None else value is not turned


_AGAINST_NOTHING = {cst.Equal: True, cst.NotEqual: False, cst.GreaterThan: False}
_AGAINST_ONE = {cst.LessThan: True, cst.GreaterThanEqual: False}
"""Whether a comparison of what is empty or not, or of its length, gives the opposite of that."""


def _is_nothing(node: cst.BaseExpression) -> bool:
    return ex.integer(node) == 0 or (isinstance(node, cst.List) and not node.elements) or ex.text(node) == ""
