"""What bounds the rounds of a loop: tests of what grows by itself, or of what is called like a limit.

A counter, the clock, the length of what the loop fills grow with each round; a comparison with one of them is a limit,
unless the other side is none: `float("inf")`, `10**15`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.rounds.slices import FILLERS, Slice
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import parameters
from lint_rules.syntax.walk import walk, walk_scope

_ORDER = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_EQUALITY = (cst.Equal, cst.NotEqual)
COMPARES = (*_ORDER, *_EQUALITY)
_CLOCKS = frozenset({"time", "monotonic", "perf_counter", "now", "utcnow", "process_time", "total_seconds", "elapsed"})
_QUANTITY = re.compile(
    r"(max|limit|budget|deadline|timeout|remaining|quota|attempt|retr(y|ies)|iter|round|turn|step|count|tries|depth"
    r"|elapsed|cost|token|spen[dt]|usage|duration|time|_left|credit|cycle|loop|usd|price|calls_made|requests)",
    re.IGNORECASE,
)
"""Names of things that grow with the rounds, or bound them; for comparisons."""
_LIMIT = re.compile(
    r"(max_|_max|limit|budget|deadline|time_?d?_?out|exceed|exhaust|remaining|quota|too_(many|long)|expired|_left"
    r"|(retries|attempts|iterations|rounds|turns|steps)$|circuit|stuck|loop_detect|repeat|duplicate|stall)",
    re.IGNORECASE,
)
"""Names that say so themselves, without a comparison."""
_VERDICT = re.compile(r"should_(stop|continue|exit|end|break)|can_continue", re.IGNORECASE)
"""Names of what somebody has decided: a limit may be behind it where the file does not show how."""
_TRUTHS = (cst.UnaryOperation, cst.BooleanOperation, cst.Call, cst.Attribute, cst.Await, cst.NamedExpr)
_HUGE = 1_000_000


class Bounds:
    """The bounds of the loop that `slice` is about."""

    def __init__(self, slice: Slice) -> None:
        self.slice = slice
        self.module = slice.module
        self.facts = slice.facts

    def limit_in(self, part: cst.CSTNode) -> cst.CSTNode | None:
        """The limit that an expression tests."""
        for node in walk_scope(part):
            if isinstance(node, cst.Comparison):
                if self.is_limit(node):
                    return node
            elif isinstance(node, (cst.Name, cst.Attribute)):
                if self._is_called_limit(node) and self._stands_alone(node):
                    return node
                if self.is_counter(node) and self._stands_alone(node):
                    return node
        return None

    def _is_called_limit(self, node: cst.Name | cst.Attribute) -> bool:
        name = ex.last_name(node)
        return bool(_LIMIT.search(name)) or (bool(_VERDICT.search(name)) and not self._is_shown(node))

    def _is_shown(self, node: cst.Name | cst.Attribute) -> bool:
        """Whether functions of this file work out all that a variable holds: then they say what it hangs on."""
        slot = self.facts.slots.of(node)
        values = [ex.inner(value) for value in self.facts.assigned(slot)] if slot is not None else []
        calls = [value.expression if isinstance(value, cst.Await) else value for value in values]
        return bool(calls) and all(
            isinstance(call, cst.Call) and self.facts.slots.callee(call) is not None for call in calls
        )

    def _stands_alone(self, node: cst.CSTNode) -> bool:
        """Whether the truth of a name, or of what it is called for, is what a test or a value here is made of."""
        here = node
        for outer in self.module.ancestors(node):
            if isinstance(outer, (cst.Call, cst.Attribute)) and here is not (
                outer.func if isinstance(outer, cst.Call) else outer.attr
            ):
                return False
            if not isinstance(outer, _TRUTHS):
                return isinstance(outer, (cst.If, cst.While, cst.Return, cst.Assign, cst.IfExp, cst.Not))
            here = outer
        return False

    def is_limit(self, test: cst.Comparison) -> bool:
        sides = list(sides_of(test))
        if any(self.is_infinite(side) for side in sides):
            return False
        if not all(isinstance(target.operator, COMPARES) for target in test.comparisons):
            return isinstance(test.comparisons[0].operator, (cst.In, cst.NotIn)) and self._remembers(*sides[:2])
        if any(ex.text(side) is not None for side in sides):
            return False
        if any(self._measures_calls(side) for side in sides):
            return False
        if any(self.grows(side) for side in sides):
            return True
        if not isinstance(test.comparisons[0].operator, _ORDER):
            return False
        names = [ex.last_name(node) for side in sides for node in walk(side)]
        if any(name and _QUANTITY.search(name) for name in names):
            return True
        return not self.slice.hold_reply(self.slice.of(list(sides)))

    def _remembers(self, key: cst.BaseExpression, seen: cst.BaseExpression) -> bool:
        """`signature in seen`, where the loop adds to `seen`: rounds that repeat themselves are noticed."""
        slot = self.facts.slots.of(seen)
        return slot is not None and ex.text(key) is None and slot in self._filled

    def _measures_calls(self, side: cst.BaseExpression) -> bool:
        """`len(reply.tool_calls)`: how much the model asked for in one round."""
        if isinstance(side, cst.Call) and ex.dotted(side.func) == "len" and len(side.args) == 1:
            kinds = self.facts.kinds(side.args[0].value)
            return Kind.CALLS in kinds or Kind.MODEL_TEXT in kinds or Kind.MESSAGE in kinds
        return False

    # -- what grows by itself ---------------------------------------------------------------------------------

    def grows(self, side: cst.BaseExpression) -> bool:
        """A counter, the clock, or the length of something that the loop fills."""
        for node in walk(side):
            if isinstance(node, (cst.Name, cst.Attribute)) and self.is_counter(node):
                return True
            if isinstance(node, cst.Call):
                if ex.called_name(node) in _CLOCKS:
                    return True
                if ex.dotted(node.func) == "len" and len(node.args) == 1:
                    slot = self.facts.slots.of(node.args[0].value)
                    if slot is not None and slot in self._filled:
                        return True
        return False

    @cached_property
    def _filled(self) -> set[Slot]:
        """The collections that a round adds to, or stores keys in."""
        found = set()
        for _, node in self.slice.run():
            base = None
            if type(node) is cst.Call and ex.called_name(node) in FILLERS:
                base = ex.receiver(node)
            elif (type(node) is cst.AssignTarget or type(node) is cst.AugAssign) and isinstance(
                node.target, cst.Subscript
            ):
                base = node.target.value
            slot = self.facts.slots.of(base) if base is not None else None
            if slot is not None:
                found.add(slot)
        return found

    def is_counter(self, node: cst.Name | cst.Attribute) -> bool:
        slot = self.facts.slots.of(node)
        return slot is not None and slot in self._counters

    @cached_property
    def _counters(self) -> set[Slot]:
        """What the loop counts: `n += 1`, `n = n - 1`, `self.cost += price`, `n = next(numbers)`."""
        found = set()
        for _, node in self.slice.run():
            target = _counted(node)
            slot = self.facts.slots.of(target) if target is not None else None
            if slot is not None and not {Kind.HISTORY, Kind.MODEL_TEXT, Kind.CALLS} & self.facts.of(slot).keys():
                found.add(slot)
        return found

    # -- bounds that are none ---------------------------------------------------------------------------------

    def is_infinite(self, bound: cst.BaseExpression) -> bool:
        """Whether a bound is none, by its value or by its default."""
        return any(_is_huge(value) for value in self._values(bound))

    def _values(self, bound: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a bound is set to, as far as this file shows: itself, a parameter's default, a constant."""
        values = self.set_to(bound)
        if values is None:
            return [bound]
        own, found = self.facts.slots.of(bound), []
        for value in values:
            inner = self.facts.slots.of(value)
            if inner is not None and inner != own:
                found += _defaults(inner)
            found.append(value)
        return found if len(found) == 1 else [value for value in found if all(map(_is_huge, found))][:1]

    def set_to(self, bound: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """What a variable or attribute is assigned, or has as its default; None for anything else."""
        slot = self.facts.slots.of(bound)
        if slot is None or slot[0] not in {"var", "attr"}:
            return None
        return [*self.facts.assigned(slot), *_defaults(slot)]


def _defaults(slot: Slot) -> list[cst.BaseExpression]:
    """The default of a parameter."""
    if slot[0] != "var":
        return []
    return [p.default for p in parameters(slot[1]) if p.name.value == slot[2] and p.default is not None]


def _counted(node: cst.CSTNode) -> cst.BaseExpression | None:
    if type(node) is cst.AugAssign and isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign)):
        return None if isinstance(node.value, (cst.BaseString, cst.List, cst.ListComp)) else node.target
    if type(node) is cst.Assign and len(node.targets) == 1:
        target, value = node.targets[0].target, node.value
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, (cst.Add, cst.Subtract)):
            if isinstance(target, (cst.Name, cst.Attribute)) and ex.source(value.left, 400) == ex.source(target, 400):
                return target if ex.integer(value.right) is not None else None
        if isinstance(value, cst.Call) and ex.dotted(value.func) == "next" and len(value.args) == 1:
            return target if isinstance(value.args[0].value, (cst.Name, cst.Attribute)) else None
    return None


def comparisons(part: cst.CSTNode) -> Iterator[cst.Comparison]:
    return (node for node in walk_scope(part) if isinstance(node, cst.Comparison))


def sides_of(test: cst.Comparison) -> Iterator[cst.BaseExpression]:
    yield test.left
    yield from (target.comparator for target in test.comparisons)


def _is_huge(value: cst.BaseExpression) -> bool:
    """`float("inf")`, `math.inf`, `sys.maxsize`, `10**15`, `999_999_999`."""
    if isinstance(value, cst.Call):
        return ex.dotted(value.func) == "float" and bool(value.args) and (
            ex.text(value.args[0].value) or ""
        ).lower().lstrip("+") in {"inf", "infinity"}  # fmt: skip
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Power):
        base, power = ex.integer(value.left), ex.integer(value.right)
        return base is not None and power is not None and base > 1 and 0 < power < 1000 and base**power >= _HUGE
    if isinstance(value, cst.Float):
        return value.evaluated_value >= _HUGE
    number = ex.integer(value)
    return (number is not None and number >= _HUGE) or ex.dotted(value) in {
        "math.inf", "np.inf", "numpy.inf", "inf", "sys.maxsize",
    }  # fmt: skip
