"""What a number of messages can be: whether it may be zero, and whether a floor lifts it above a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.walk import walk

_DEEPEST = 5
_ORDERED = (cst.GreaterThan, cst.GreaterThanEqual, cst.LessThan, cst.LessThanEqual, cst.Equal, cst.NotEqual)


@dataclass(frozen=True, eq=False, slots=True)
class Zero:
    """Where a number may come to be zero, and how: `reason` reads after "it"."""

    node: cst.CSTNode
    reason: str


@dataclass(frozen=True, eq=False, slots=True)
class Floor:
    """`node` is never less than `least`, whatever is left of a limit: `max(left, least)`, or its other forms."""

    node: cst.CSTNode
    left: cst.BaseExpression
    least: cst.BaseExpression


class Sizes:
    """Answers for one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts

    # -- zero -------------------------------------------------------------------------------------------------

    def zero(self, size: cst.BaseExpression, at: cst.CSTNode, function: Scope, depth: int = 0) -> Zero | None:
        """How `size` may be zero at `at`, where nobody has made sure that it is not; None if nothing shows it."""
        size = ex.inner(size)
        if depth > _DEEPEST or self._is_tested(size, at, function):
            return None
        if isinstance(size, cst.Integer):
            return Zero(size, "is 0 here") if size.evaluated_value == 0 else None
        if isinstance(size, cst.BooleanOperation):
            return self.zero(size.right, at, function, depth + 1) if isinstance(size.operator, cst.Or) else None
        if isinstance(size, cst.IfExp):
            return self._either(size, at, function, depth)
        if isinstance(size, cst.BinaryOperation):
            return self._worked_out(size, at, function, depth)
        if isinstance(size, cst.Call):
            return self._called(size, at, function, depth)
        if isinstance(size, cst.Name):
            return self._named(size, at, function, depth)
        return None

    def _either(self, size: cst.IfExp, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        for part in (size.body, size.orelse):
            found = self.zero(part, at, function, depth + 1)
            if found is not None and ex.source(part) not in ex.source(size.test, 200):
                return found
        return None

    def _worked_out(self, size: cst.BinaryOperation, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        """`a - b`, `a // b`; `a * b` where one of them may be zero; not `a + 1`."""
        if isinstance(size.operator, (cst.Subtract, cst.FloorDivide)):
            parts = [size.left, size.right]
            if any(self._is_tested(part, at, function) for part in parts) or self._are_compared(size, at, function):
                return None
            if isinstance(size.operator, cst.Subtract) and (
                self._all_constant(parts) or self._is_setting(size.left, function)
            ):
                return None
            return Zero(size, f"is `{ex.source(size, 40)}`, which may be 0")
        if isinstance(size.operator, cst.Multiply):
            return self.zero(size.left, at, function, depth + 1) or self.zero(size.right, at, function, depth + 1)
        return None

    def _called(self, size: cst.Call, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        name, given = ex.dotted(size.func), ex.positional(size)
        if name == "max" and len(given) > 1:
            least = [n for part in given if (n := self._constant(part)) is not None]
            if least and max(least) > 0:
                return None
            return Zero(size, f"is at least 0, and may be just that: `{ex.source(size, 40)}`") if least else None
        if name == "min":
            return next((z for part in given if (z := self.zero(part, at, function, depth + 1)) is not None), None)
        if name in {"int", "round"} and len(given) == 1:
            if isinstance(given[0], cst.BinaryOperation) and isinstance(given[0].operator, (cst.Multiply, cst.Divide)):
                return Zero(size, f"is `{ex.source(size, 40)}`, which may be 0")
            return self.zero(given[0], at, function, depth + 1)
        return None

    def _named(self, size: cst.Name, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        """A local name by the definitions that reach the place; a parameter by what callers may pass."""
        for definition in self._definitions(size.value, at, function):
            if definition.kind == "parameter":
                found = self._passed(size.value, function, at, depth)
            elif (
                definition.kind == "assign" and definition.value is not None and definition.point.statement is not None
            ):
                found = self.zero(definition.value, definition.point.statement, function, depth + 1)
            else:
                found = None
            if found is not None:
                return found
        return None

    def _definitions(self, name: str, at: cst.CSTNode, function: Scope) -> Iterator[Definition]:
        if function.kind not in {"function", "lambda", "module"}:
            return
        seen: set[Definition] = set()
        for point in self.anatomy.flow(function).enclosing(at, self.module.parent):
            for definition in self.anatomy.reaching(function).at(point, name):
                if definition not in seen:
                    seen.add(definition)
                    yield definition

    def _passed(self, name: str, function: Scope, at: cst.CSTNode, depth: int) -> Zero | None:
        """A parameter that must be given may be given as zero, and so may one that only None switches off."""
        param = next((p for p in parameters(function) if p.name.value == name), None)
        if param is None or param.star in {"*", "**"}:
            return None
        slot = self.facts.slots.parameter(function, name)
        passed = [
            (value, site)
            for site in self.anatomy.calls.sites[function]
            for bound, value in self.facts.slots.bindings(site.node, function)
            if bound == slot
        ]
        for value, site in passed:
            found = self.zero(value, site.node, site.caller, depth + 1)
            if found is not None:
                return found
        if passed or self.anatomy.calls.sites[function] or not _may_be_number(param):
            return None
        if param.default is None:
            return Zero(param, f"is a parameter, and `{name}=0` asks for none")
        if ex.dotted(param.default) == "None" and self._only_none_is_tested(name, at, function):
            return Zero(param, f"is a parameter that only `None` switches off, and `{name}=0` asks for none")
        return None

    def _only_none_is_tested(self, name: str, at: cst.CSTNode, function: Scope) -> bool:
        return any(
            isinstance(node, cst.Comparison)
            and ex.dotted(node.left) == name
            and isinstance(node.comparisons[0].operator, (cst.Is, cst.IsNot))
            for node in function.nodes
        )

    # -- has somebody made sure? ------------------------------------------------------------------------------

    def _is_tested(self, size: cst.BaseExpression, at: cst.CSTNode, function: Scope) -> bool:
        """Whether a test that `at` lies behind asks for zero: `if not n`, `n <= 0`, `n < 1`, `assert n`."""
        name = ex.dotted(size)
        if name is None:
            return False
        return any(_asks_for_zero(test, name) for test in self._tests_before(at, function))

    def _are_compared(self, size: cst.BinaryOperation, at: cst.CSTNode, function: Scope) -> bool:
        """`if a > b` before `a - b` is used."""
        names = {ex.source(size.left), ex.source(size.right)}
        for test in self._tests_before(at, function):
            for node in walk(test):
                if isinstance(node, cst.Comparison) and isinstance(node.comparisons[0].operator, _ORDERED):
                    if {ex.source(node.left), ex.source(node.comparisons[0].comparator)} == names:
                        return True
        return False

    def _tests_before(self, at: cst.CSTNode, function: Scope) -> Iterator[cst.CSTNode]:
        """The tests that every way to `at` goes through, and those of conditional expressions around it."""
        here = at
        for outer in self.module.ancestors(at):
            if isinstance(outer, cst.IfExp) and here is not outer.test:
                yield outer.test
            elif isinstance(outer, cst.BooleanOperation) and here is outer.right:
                yield outer.left
            elif isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                break
            here = outer
        if function.kind not in {"function", "lambda", "module"}:
            return
        graph = self.anatomy.flow(function)
        places = graph.enclosing(at, self.module.parent)
        for node in function.nodes:
            if isinstance(node, (cst.If, cst.While, cst.Assert)):
                if any(graph.dominates(point, place) for point in graph.at(node) for place in places):
                    yield node.test

    # -- constants --------------------------------------------------------------------------------------------

    def _constant(self, node: cst.BaseExpression) -> int | None:
        """The value of a literal, or of a name that is bound to one at the top of the file, once."""
        number = ex.integer(node)
        if number is not None or not isinstance(node, cst.Name):
            return number
        slot = self.facts.slots.of(node)
        values = self.facts.assigned(slot) if slot is not None and slot[0] == "var" else []
        return ex.integer(values[0]) if len(values) == 1 and slot is not None and slot[1] is self.module.top else None

    def _is_setting(self, node: cst.BaseExpression, function: Scope) -> bool:
        """A parameter with a number as its default: whoever sets another knows what is taken from it."""
        return any(
            isinstance(node, cst.Name) and param.name.value == node.value and ex.integer(param.default)
            for param in parameters(function)
        )

    def _all_constant(self, parts: list[cst.BaseExpression]) -> bool:
        return all(self._constant(part) is not None for part in parts)

    # -- floors -----------------------------------------------------------------------------------------------

    def floor(self, size: cst.BaseExpression, at: cst.CSTNode, function: Scope, depth: int = 0) -> Floor | None:
        """The floor under what is left of a limit, in an expression or in what a name in it is bound to."""
        size = ex.inner(size)
        if depth > _DEEPEST:
            return None
        if isinstance(size, cst.Call) and ex.dotted(size.func) == "max" and len(size.args) == 2:
            for left, least in (ex.positional(size), ex.positional(size)[::-1]):
                if self._lifts(least) and self._is_left(left, at, function):
                    return Floor(size, left, least)
            return None
        if isinstance(size, cst.IfExp):
            for left, least in ((size.body, size.orelse), (size.orelse, size.body)):
                if self._lifts(least) and self._is_left(left, at, function):
                    return Floor(size, left, least)
            return None
        if isinstance(size, cst.Name):
            return self._floor_of_name(size, at, function, depth)
        return None

    def _floor_of_name(self, size: cst.Name, at: cst.CSTNode, function: Scope, depth: int) -> Floor | None:
        definitions = [d for d in self._definitions(size.value, at, function) if d.kind == "assign" and d.value]
        for definition in definitions:
            value, statement = definition.value, definition.point.statement
            if value is None or statement is None:
                continue
            found = self.floor(value, statement, function, depth + 1)
            if found is not None:
                return found
            if self._lifts(value) and self._where_nothing_is_left(statement, size.value):
                left = next((d.value for d in definitions if d.value is not value and d.value is not None), None)
                if left is not None and self._is_left(left, statement, function):
                    return Floor(statement, left, value)
        return None

    def _where_nothing_is_left(self, statement: cst.CSTNode, name: str) -> bool:
        """`if n <= 0: n = 5`."""
        for outer in self.module.ancestors(statement):
            if isinstance(outer, cst.If):
                return _asks_for_zero(outer.test, name)
            if isinstance(outer, cst.FunctionDef):
                return False
        return False

    def _lifts(self, least: cst.BaseExpression) -> bool:
        """Whether a floor is more than the one message without which there is no request."""
        number = self._constant(least)
        return number is not None and number > 1

    def _is_left(self, node: cst.BaseExpression, at: cst.CSTNode, function: Scope) -> bool:
        """`window - reserved`, also by a name."""
        node = ex.inner(node)
        if isinstance(node, cst.BinaryOperation):
            return isinstance(node.operator, cst.Subtract) and not isinstance(node.right, cst.Integer)
        if isinstance(node, cst.Name):
            found = list(self._definitions(node.value, at, function))
            return bool(found) and all(
                d.value is not None
                and isinstance(d.value, cst.BinaryOperation)
                and isinstance(d.value.operator, cst.Subtract)
                and not isinstance(d.value.right, cst.Integer)
                for d in found
            )
        return False


def _may_be_number(param: cst.Param) -> bool:
    if param.annotation is None:
        return True
    return "int" in ex.source(param.annotation.annotation, 80)


def _asks_for_zero(test: cst.CSTNode, name: str) -> bool:
    """`n`, `not n`, `n and ...`, `n > 0`, `0 < n`, `n < 1`; not `len(xs) > n`."""
    if isinstance(test, cst.BaseExpression) and ex.dotted(test) == name:
        return True
    if isinstance(test, cst.UnaryOperation):
        return _asks_for_zero(test.expression, name)
    if isinstance(test, cst.BooleanOperation):
        return _asks_for_zero(test.left, name) or _asks_for_zero(test.right, name)
    if isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, _ORDERED):
        sides = (test.left, test.comparisons[0].comparator)
        return any(ex.dotted(a) == name and ex.integer(b) is not None for a, b in (sides, sides[::-1]))
    return False
