"""Floors: numbers of messages that are lifted above what is left of a limit, so that the limit is none."""

from __future__ import annotations

from collections.abc import Set

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.constants import constant
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.record import record

_LESS = (cst.LessThan, cst.LessThanEqual)
_MORE = (cst.GreaterThan, cst.GreaterThanEqual)


@record
class Floor:
    """`node` is never less than `least`, whatever is left of a limit: `max(left, least)`, or its other forms."""

    node: cst.CSTNode
    left: cst.BaseExpression
    least: cst.BaseExpression


class Floors:
    """Finds the floors in one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module

    def under(self, size: cst.BaseExpression, depth: int = 0) -> Floor | None:
        """The floor under what is left of a limit, in an expression or in what a name in it is bound to."""
        size = ex.inner(size)
        if depth > DEEPEST:
            return None
        if isinstance(size, cst.Name):
            return self._of_name(size, depth)
        callee = self.anatomy.facts.slots.callee(size)
        if callee is not None:
            return next(filter(None, (self.under(value, depth + 1) for value in callee.returned)), None)
        if isinstance(size, cst.BooleanOperation) and isinstance(size.operator, cst.Or):
            left = self._above_zero(size.left)  # `max(0, a - b) or 12`
            return Floor(size, left, size.right) if left is not None and self._lifts(size.right) else None
        pair: list[cst.BaseExpression] = []
        if isinstance(size, cst.Call) and ex.dotted(size.func) == "max" and len(size.args) == 2:
            pair = ex.positional(size)
        elif isinstance(size, cst.IfExp):
            pair = [size.body, size.orelse]
        for left, least in (pair, pair[::-1]) if len(pair) == 2 else ():
            if self._lifts(least) and self._is_left(left) and constant(self.anatomy, left) is None:
                return Floor(size, left, least)
        return None

    def _above_zero(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What is left of a limit, or 0 where that is nothing."""
        node = ex.inner(node)
        given = ex.positional(node) if isinstance(node, cst.Call) and ex.dotted(node.func) == "max" else [node]
        rest = [each for each in given if ex.integer(each) != 0]
        return rest[0] if len(rest) == 1 and self._is_left(rest[0]) else None

    def _of_name(self, size: cst.Name, depth: int) -> Floor | None:
        """Of what a name holds, also of which something was taken since, and of what callers give."""
        function = self.module.scope_of[size].function
        bound = self.anatomy.definitions(size)
        if any(d.kind == "augmented" for d in bound):
            bound = self.anatomy.reaching(function).by_name.get(size.value, [])
        definitions = [d for d in bound if d.kind == "assign" and d.value]
        slot = self.anatomy.facts.slots.of(size)
        for given in self.anatomy.facts.given(slot) if slot and any(d.kind == "parameter" for d in bound) else ():
            handed = self.under(given, depth + 1)
            if handed is not None:
                return handed
        for definition in definitions:
            value, statement = definition.value, definition.point.statement
            if value is None or statement is None:
                continue
            lifted = self.under(value, depth + 1)
            if lifted is not None:
                return lifted
            left = next((d.value for d in definitions if d.value is not value and d.value is not None), None)
            if left is not None and self._lifts(value) and self._is_left(left):
                if self._where_little_is_left(statement, {size.value, ex.dotted(left) or size.value}):
                    return Floor(statement, left, value)
        return None

    def _where_little_is_left(self, statement: cst.CSTNode, names: Set[str]) -> bool:
        """`if n <= 0: n = 5`, `if left > 0: n = left` and `else: n = 5`."""
        here = statement
        for outer in self.module.ancestors(statement):
            if isinstance(outer, cst.If):
                return _is_little(outer.test, names, here is outer.body)
            if isinstance(outer, cst.FunctionDef):
                return False
            here = outer
        return False

    def _lifts(self, least: cst.BaseExpression) -> bool:
        """Whether a floor is more than the one message without which there is no request."""
        number = constant(self.anatomy, least)
        return number is not None and number > 1

    def _is_left(self, node: cst.BaseExpression) -> bool:
        """`window - reserved`, also by a name."""
        node = ex.inner(node)
        if isinstance(node, cst.BinaryOperation):
            return isinstance(node.operator, cst.Subtract) and not isinstance(node.right, cst.Integer)
        if isinstance(node, cst.Name):
            found = self.anatomy.definitions(node)
            return bool(found) and all(
                d.value is not None
                and isinstance(d.value, cst.BinaryOperation)
                and isinstance(d.value.operator, cst.Subtract)
                and not isinstance(d.value.right, cst.Integer)
                for d in found
            )
        return False


def _is_little(test: cst.BaseExpression, names: Set[str], given: bool) -> bool:
    """Whether a number of one of these names is small, or nothing, where a test gives `given`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _is_little(test.expression, names, not given)
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And) is given:
        return _is_little(test.left, names, given) or _is_little(test.right, names, given)
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        left, operator, right = ex.compared(test)
        ordered = isinstance(operator, _LESS + _MORE)
        if ex.dotted(right) in names:
            left, right, given = right, left, given is not ordered
        little = (_LESS, cst.Equal) if given else (_MORE, cst.NotEqual)
        return ex.dotted(left) in names and ex.integer(right) is not None and isinstance(operator, little)
    return not given and ex.dotted(test) in names
