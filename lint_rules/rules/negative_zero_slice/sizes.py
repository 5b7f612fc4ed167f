"""Whether a number of messages may come to be zero, where nobody has made sure that it is not."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.constants import constant
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_ORDERED = (cst.GreaterThan, cst.GreaterThanEqual, cst.LessThan, cst.LessThanEqual, cst.Equal, cst.NotEqual)


@record
class Zero:
    """Where a number may come to be zero, and how: `reason` reads after "it"."""

    node: cst.CSTNode
    reason: str


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
        if depth > DEEPEST or self._is_tested(size, at, function):
            return None
        number = constant(self.anatomy, size)
        if number is not None:
            return Zero(size, "is 0 here") if number == 0 else None
        if isinstance(size, cst.BooleanOperation):
            return self.zero(size.right, at, function, depth + 1) if isinstance(size.operator, cst.Or) else None
        if isinstance(size, cst.IfExp):
            return self._either(size, at, function, depth)
        if isinstance(size, cst.BinaryOperation):
            return self._worked_out(size, at, function, depth)
        if isinstance(size, cst.Call):
            return self._called(size, at, function, depth)
        if isinstance(size, cst.Name) and (found := self._named(size, at, function, depth)) is not None:
            return found
        return self._kept(size, depth) if isinstance(size, (cst.Name, cst.Attribute)) else None

    def _kept(self, size: cst.BaseExpression, depth: int) -> Zero | None:
        """A field, or a name of the module, by all that it is set to."""
        slot = self.facts.slots.of(size)
        if slot is None or (slot[0] == "var" and slot[1].kind != "module"):
            return None
        scope = self.module.scope_of
        zeros = (self.zero(each, each, scope[each].function, depth + 1) for each in self.facts.assigned(slot))
        return next((zero for zero in zeros if zero is not None), None)

    def _either(self, size: cst.IfExp, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        parts = (part for part in (size.body, size.orelse) if ex.source(part) not in ex.source(size.test, 200))
        return next((zero for part in parts if (zero := self.zero(part, at, function, depth + 1)) is not None), None)

    def _worked_out(self, size: cst.BinaryOperation, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        """`a - b`, `a // b`; `a * b` where one of them may be zero; not `a + 1`."""
        if isinstance(size.operator, (cst.Subtract, cst.FloorDivide)):
            parts = [size.left, size.right]
            if any(self._is_tested(part, at, function) for part in parts) or self._are_compared(size, at, function):
                return None
            if isinstance(size.operator, cst.Subtract) and self._is_setting(size.left, function):
                return None
            return Zero(size, f"is `{ex.source(size, 40)}`, which may be 0")
        if isinstance(size.operator, cst.Multiply):
            return self.zero(size.left, at, function, depth + 1) or self.zero(size.right, at, function, depth + 1)
        return None

    def _called(self, size: cst.Call, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        name, given = ex.dotted(size.func), ex.positional(size)
        if name == "max" and len(given) > 1:
            least = [n for part in given if (n := constant(self.anatomy, part)) is not None]
            if least and max(least) > 0:
                return None
            return Zero(size, f"is at least 0, and may be just that: `{ex.source(size, 40)}`") if least else None
        if name == "min":
            return next((z for part in given if (z := self.zero(part, at, function, depth + 1)) is not None), None)
        if name in {"int", "round"} and len(given) == 1:
            if isinstance(given[0], cst.BinaryOperation) and isinstance(given[0].operator, (cst.Multiply, cst.Divide)):
                return Zero(size, f"is `{ex.source(size, 40)}`, which may be 0")
            default = ex.positional(given[0])[-1:] if isinstance(given[0], cst.Call) else []
            if [ex.text(text) for text in (given[0], *default) if ex.text(text) is not None][-1:] == ["0"]:
                return Zero(size, f"is 0 unless it is set: `{ex.source(size, 40)}`")
            return self.zero(given[0], at, function, depth + 1)
        callee = self.facts.slots.callee(size)
        if callee is None:
            return None
        zeros = (self.zero(value, value, callee, depth + 1) for value in callee.returned)
        return next((zero for zero in zeros if zero is not None), None)

    def _named(self, size: cst.Name, at: cst.CSTNode, function: Scope, depth: int) -> Zero | None:
        """A local name by the definitions that reach the place; a parameter by what callers may pass."""
        for definition in self.anatomy.definitions(size):
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
        numbers = [each.number for each in self.anatomy.contents.arrived.get(slot, ())]
        known = bool(numbers) and all(number is not None and number > 0 for number in numbers)
        if passed or known or self.anatomy.calls.sites[function]:
            return None
        if constant(self.anatomy, param.default) == 0:
            return Zero(param, "is 0 unless it is given")
        if param.default is None:
            return Zero(param, f"is a parameter, and `{name}=0` asks for none")
        if ex.dotted(param.default) == "None":
            return Zero(param, f"is a parameter that only `None` switches off, and `{name}=0` asks for none")
        return None

    # -- has somebody made sure? ------------------------------------------------------------------------------

    def _is_tested(self, size: cst.BaseExpression, at: cst.CSTNode, function: Scope) -> bool:
        """Whether a test that `at` lies behind asks for zero: `if not n`, `n <= 0`, `n < 1`, `assert n`."""
        name = ex.dotted(size)
        if name is None:
            return False
        return any(asks_for_zero(test, name) for test in self._tests_before(at, function))

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

    def _is_setting(self, node: cst.BaseExpression, function: Scope) -> bool:
        """A parameter with a number as its default: whoever sets another knows what is taken from it."""
        return any(
            isinstance(node, cst.Name) and param.name.value == node.value and ex.integer(param.default)
            for param in parameters(function)
        )


def asks_for_zero(test: cst.CSTNode, name: str) -> bool:
    """`n`, `not n`, `n and ...`, `n > 0`, `0 < n`, `n < 1`; not `len(xs) > n`."""
    if isinstance(test, cst.BaseExpression) and ex.dotted(test) == name:
        return True
    if isinstance(test, cst.UnaryOperation):
        return asks_for_zero(test.expression, name)
    if isinstance(test, cst.BooleanOperation):
        return asks_for_zero(test.left, name) or asks_for_zero(test.right, name)
    if isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, _ORDERED):
        sides = (test.left, test.comparisons[0].comparator)
        return any(ex.dotted(a) == name and ex.integer(b) is not None for a, b in (sides, sides[::-1]))
    return False
