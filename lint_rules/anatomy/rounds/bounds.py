"""What bounds the rounds of a loop: tests of what moves with the rounds.

A counter, the clock, the length of what the loop fills, tokens used so far: they grow with each round, and a comparison
with one of them is a limit, unless the other side is none: `float("inf")`, `10**15`. What no round changes is no limit,
whatever it is called. What the code of somebody else decides or counts in each round may be one.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.slices import FILLERS, Slice
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, default_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk, walk_scope

ORDER = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_EQUALITY = (cst.Equal, cst.NotEqual)
COMPARES = (*ORDER, *_EQUALITY)
_CLOCKS = frozenset({"time", "monotonic", "perf_counter", "now", "utcnow", "process_time", "total_seconds", "elapsed"})
OUTSIDE = re.compile(
    r"(?<!should_)(stop|cancel|interrupt|abort|shut_?down|is_set|running|closed|disconnect|kill|alive|active|quit|exit|"
    r"terminat|paused)",
    re.IGNORECASE,
)
"""Names by which somebody else's code says that a person or another program decides. Breaks a tie, no more."""
_BUILTIN = frozenset(dir(builtins))
_TRUTHS = (cst.UnaryOperation, cst.BooleanOperation, cst.Call, cst.Attribute, cst.Await, cst.NamedExpr)
_VIEWS = frozenset({"items", "values", "keys"})
_HUGE = 1_000_000


class Bounds:
    """The bounds of the loop that `slice` is about."""

    def __init__(self, slice: Slice) -> None:
        self.slice = slice
        self.module = slice.module
        self.facts = slice.facts

    def limit_in(self, part: cst.CSTNode) -> cst.CSTNode | None:
        """The limit that an expression tests."""
        for node in self.slice.without_requests(part):
            if isinstance(node, cst.Comparison):
                if self.is_limit(node):
                    return node
            elif isinstance(node, (cst.Name, cst.Attribute)):
                if self.is_counter(node) and self._stands_alone(node):
                    return node
            elif isinstance(node, cst.Call) and self._is_told_of_rounds(node):
                return node
        return None

    def _is_told_of_rounds(self, call: cst.Call) -> bool:
        """`policy.next(turn, reply)`: somebody else's code gets a counter, whatever it gets besides."""
        counters = (arg.value for arg in call.args if isinstance(arg.value, cst.Name | cst.Attribute))
        return any(map(self.is_counter, counters)) and self._is_elsewhere(call)

    def verdict_in(self, tested: list[cst.CSTNode]) -> cst.CSTNode | None:
        """What somebody else's code decides, in each round anew: `budget.is_used_up()`, `plan.done`."""
        for truth in self.slice.truths(tested):
            if self._is_error(truth):
                continue
            if isinstance(truth, cst.Attribute):
                if self._is_moved(truth) and not OUTSIDE.search(truth.attr.value):
                    return truth
            elif isinstance(truth, cst.Call) and self._is_verdict(truth):
                return truth.func
        return None

    def _is_error(self, node: cst.CSTNode) -> bool:
        """`exc.status.startswith("5")` in a handler: an error says why a round failed, and counts none."""
        root = node
        while isinstance(root, (cst.Call, cst.Attribute, cst.Subscript)):
            root = root.func if isinstance(root, cst.Call) else root.value
        return isinstance(root, cst.Name) and any(
            isinstance(outer, cst.ExceptHandler) and outer.name is not None and ex.dotted(outer.name.name) == root.value
            for outer in self.module.ancestors(node)
        )

    def _is_verdict(self, call: cst.Call) -> bool:
        if not self._is_elsewhere(call) or OUTSIDE.search(ex.source(call.func, 100)):
            return False
        if (looked_into := _looked_into(call)) is not None and self.facts.slots.of(looked_into) not in self._handled:
            return False
        return not self.slice.hold_reply([arg.value for arg in call.args]) and not self._is_of_reply(call)

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
        if any(ex.text(side) is not None for side in sides) or any(map(self._measures_round, sides)):
            return False
        if any(self.grows(side) for side in sides):
            return True
        return isinstance(test.comparisons[0].operator, ORDER) and any(self._moves(side) for side in sides)

    def _remembers(self, key: cst.BaseExpression, seen: cst.BaseExpression) -> bool:
        """`signature in seen`, where the rounds add to `seen`: those that repeat themselves are noticed."""
        slot = self.facts.slots.of(seen)
        return slot is not None and ex.text(key) is None and slot in self._filled

    def _measures_round(self, side: cst.BaseExpression) -> bool:
        """`len(reply.tool_calls)`, `len(results)` of a list that each round begins: how much is done in one round."""
        if isinstance(side, cst.Call) and ex.dotted(side.func) == "len" and len(side.args) == 1:
            measured = side.args[0].value
            kinds = self.facts.kinds(measured)
            asked = Kind.CALLS in kinds or Kind.MODEL_TEXT in kinds or Kind.MESSAGE in kinds
            return asked or self.facts.slots.of(measured) in self._set_anew
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

    def _moves(self, side: cst.BaseExpression) -> bool:
        """Whether something that grows with the rounds, or that somebody else may move in each, goes into a value."""
        if self._is_word(side):
            return False
        return any(
            self._is_moving(node) for part in self.slice.of([side]) for node in self.slice.without_requests(part)
        )

    def _is_moving(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call):
            if ex.called_name(node) in _CLOCKS:
                return True
            return self._is_elsewhere(node) and not self._is_of_reply(node)
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return False
        slot = self.facts.slots.of(node)
        if slot is not None and any(
            s in self._counters or s in self._filled for s in (slot, *self._passed.get(slot, ()))
        ):
            return True
        return isinstance(node, cst.Attribute) and (node.attr.value == "usage" or self._is_moved(node))

    @cached_property
    def _passed(self) -> dict[Slot, set[Slot]]:
        """What the parameters of the functions that a round calls may stand for."""
        found: defaultdict[Slot, set[Slot]] = defaultdict(set)
        for _, node in self.slice.run():
            callee = self.facts.slots.callee(node)
            if callee is not None and isinstance(node, cst.Call):
                for parameter, value in self.facts.slots.bindings(node, callee):
                    if (slot := self.facts.slots.of(value)) is not None:
                        found[parameter].add(slot)
        return found

    def _is_word(self, side: cst.BaseExpression) -> bool:
        """What the model said, as such: not how many tokens it took."""
        return self.slice.hold_reply([side]) and not any(
            isinstance(node, cst.Attribute) and node.attr.value == "usage" for node in walk(side)
        )

    def _is_of_reply(self, call: cst.Call) -> bool:
        """`judge(reply)`, `reply.score()`, `event.get("calls")` of its pieces: the model's word in another form."""
        slot = self.facts.slots.of(ex.receiver(call))
        whole = [*self.facts.assigned(slot), *self.facts.gone_through(slot)] if slot is not None else []
        return self.slice.hold_reply([call, *whole])

    def _is_elsewhere(self, call: cst.Call) -> bool:
        """Whether a call runs code that nobody can read here; builtins and the standard library keep no count."""
        if self.facts.slots.callee(call) is not None or self.slice.anatomy.calls.asks(call):
            return False
        name, base = ex.dotted(call.func), ex.receiver(call)
        if name is None or name in _BUILTIN or (base is not None and self._is_text(base)):
            return False
        return self.module.imports.resolve(name).partition(".")[0] not in sys.stdlib_module_names

    def _is_text(self, value: cst.BaseExpression) -> bool:
        """Whether a value is a text whatever it is set to: `text = str(result)`."""
        made = self.facts.values_of(value) if type(value) is cst.Name else [value]
        parts = [ex.inner(part) for each in made for part in ex.alternatives(each)]
        return bool(parts) and all(
            isinstance(part, cst.BaseString) or (isinstance(part, cst.Call) and ex.dotted(part.func) == "str")
            for part in parts
        )

    def _is_moved(self, node: cst.Attribute) -> bool:
        """Whether a round hands the object of an attribute to code that may change it: `run(state)`."""
        outer, slot = self.module.parent[node], self.facts.slots.of(node)
        if isinstance(outer, cst.Call) and outer.func is node:
            return False  # a method: what it gives is asked for by itself
        if slot is not None and self.facts.assigned(slot):
            return False  # this file says what it is set to
        if self.slice.hold_reply([node]):
            return False
        root = node.value
        while True:
            if root_slot := self.facts.slots.of(root):
                if root_slot in self._handled:
                    return True
            if not isinstance(root, cst.Attribute):
                return False
            root = root.value

    @cached_property
    def _handled(self) -> set[Slot]:
        """The objects that a round calls methods of, or passes on, where nobody can read here what becomes of them."""
        found = set()
        for _, node in self.slice.run():
            if isinstance(node, cst.Call) and self.facts.slots.callee(node) is None and not is_logging(node):
                base = ex.receiver(node) if _looked_into(node) is None else None
                for part in [*([base] if base is not None else []), *(arg.value for arg in node.args)]:
                    if (slot := self.facts.slots.of(part)) is not None:
                        found.add(slot)
        return found

    def _is_carried(self, slot: Slot) -> bool:
        """Whether a value lives from one round to the next: no local of a called function, nor set anew each time."""
        if slot[0] == "var" and slot[1] in self.slice.called and slot[1] is not self.slice.function:
            return False
        return slot not in self._set_anew

    @cached_property
    def _set_anew(self) -> set[Slot]:
        """What each round sets at its own level, without looking at the old value."""
        found: set[Slot] = set()
        body = self.slice.node.body
        for line in body.body if isinstance(body, cst.IndentedBlock) else ():
            for node in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
                    read = {
                        self.facts.slots.of(n) for n in walk(node.value) if isinstance(n, (cst.Name, cst.Attribute))
                    }
                    for target in ex.targets(node):
                        slot = self.facts.slots.of(target)
                        if slot is not None and slot not in read and not isinstance(ex.inner(node.value), cst.Call):
                            found.add(slot)
        return found

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
            slot = self.facts.slots.of(base)
            if slot is not None and self._is_carried(slot):
                found.add(slot)
        return found

    def is_counter(self, node: cst.Name | cst.Attribute) -> bool:
        slot = self.facts.slots.of(node)
        return slot is not None and slot in self._counters

    @cached_property
    def _counters(self) -> set[Slot]:
        """What the loop counts: `n += 1`, `n = n - 1`, `self.cost += price`, `n = next(numbers)`."""
        own = self.slice.node.target if isinstance(self.slice.node, cst.For) else None
        found = {slot for name in _names(own) if (slot := self.facts.slots.of(name)) is not None}
        for _, node in self.slice.run():
            target = _counted(node)
            slot = self.facts.slots.of(target)
            if (
                slot is not None
                and self._is_carried(slot)
                and not {Kind.HISTORY, Kind.MODEL_TEXT, Kind.CALLS} & self.facts.of(slot).keys()
            ):
                found.add(slot)
        return found

    # -- bounds that are none ---------------------------------------------------------------------------------

    def is_infinite(self, bound: cst.BaseExpression) -> bool:
        """Whether a bound is none, by its value or by its default."""
        return any(is_huge(value) for value in self._values(bound))

    def _values(self, bound: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a bound is set to, as far as this file shows: itself, a parameter's default, a constant."""
        values = self.set_to(bound)
        if values is None:
            return [bound]
        own, found = self.facts.slots.of(bound), []
        for value in values:
            inner = self.facts.slots.of(value)
            if inner is not None and inner != own:
                found += default_of(inner)
            found.append(value)
        return found if len(found) == 1 else [value for value in found if all(map(is_huge, found))][:1]

    def set_to(self, bound: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """What a variable or attribute is assigned, or has as its default; None for anything else."""
        slot = self.facts.slots.of(bound)
        if slot is None or slot[0] not in {"var", "attr"}:
            return None
        return [*self.facts.assigned(slot), *default_of(slot)]


def _looked_into(call: cst.Call) -> cst.BaseExpression | None:
    """`settings` of `settings.get("key")` and `settings.items()`: to look into it changes nothing, and decides nothing.

    But for a key by which somebody outside says something: `store.get("cancelled")`.
    """
    name, keys = ex.called_name(call), ex.positional(call)[:1]
    key = ex.text(keys[0]) if keys else None
    if (name in _VIEWS and not call.args) or (name == "get" and key is not None and not OUTSIDE.search(key)):
        return ex.receiver(call)
    return None


def _names(target: cst.BaseExpression | None) -> list[cst.Name]:
    return [node for node in walk(target) if isinstance(node, cst.Name)] if target is not None else []


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


def is_huge(value: cst.BaseExpression) -> bool:
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
