"""Repeat guards: where a program compares what the model asks for with what it asked for before."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import libcst as cst

from lint_rules.anatomy.guards.call_parts import Part
from lint_rules.anatomy.guards.signatures import Signature, Signatures
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

How = Literal["equal", "among", "counted"]

_EQUALITY = frozenset({cst.Equal, cst.NotEqual})
_ORDER = (cst.GreaterThan, cst.GreaterThanEqual, cst.LessThan, cst.LessThanEqual)
_COUNTS = frozenset({"count", "get", "setdefault"})
_LOOPS = (cst.For, cst.While)


@record
class Guard:
    """One comparison of a key with what was kept of earlier rounds.

    `how`: with one value (`==`), with all in a container (`in`, `.get(key)`), or by a count (`counts[key] >= 3`).
    Of the last two of a list (`len(set(xs[-2:])) == 1`) both `key_node` and `kept_node` are the list.
    `denies` says that a true result means "new" (`!=`, `not in`). `kept` is where earlier keys are, `slots` where
    they are carried from round to round; `past` says that they are read from the history.
    """

    node: cst.BaseExpression
    function: Scope
    how: How
    denies: bool
    key: Signature
    kept: Signature
    key_node: cst.BaseExpression
    kept_node: cst.BaseExpression
    slots: frozenset[Slot]

    @property
    def past(self) -> bool:
        return bool(self.kept.past) or bool(self.key.past)

    @property
    def carried(self) -> bool:
        """Whether it looks at an earlier round: by a variable that is carried on, or by the history."""
        return bool(self.slots) or self.past

    @property
    def parts(self) -> set[Part]:
        return self.key.parts | self.kept.parts


class Guards:
    """The repeat guards of one file."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.facts = graph.facts
        self.module = graph.facts.module
        self.signatures = Signatures(graph)

    @cached_property
    def all(self) -> list[Guard]:
        module = self.module
        found: list[Guard] = []
        for node in module.nodes_of(cst.Comparison, cst.Call):
            function = module.scope_of[node].function
            if type(node) is cst.Comparison:
                lefts = [node.left, *(target.comparator for target in node.comparisons)]  # `a == b == c`: three of them
                pairs = (self._compared(node, *pair, function) for pair in zip(lefts, node.comparisons, strict=False))
                found.extend(next((guards for each in pairs if (guards := [*each])), ()))
            elif type(node) is cst.Call and ex.called_name(node) == "get" and node.args:
                found.extend(self._looked_up(node, function))
        return found

    def _compared(
        self, node: cst.Comparison, left: cst.BaseExpression, target: cst.ComparisonTarget, function: Scope
    ) -> Iterator[Guard]:
        right, operator = target.comparator, target.operator
        for side, other in ((left, right), (right, left)):
            counted = self.counted(side)
            if counted is not None and not self.signatures.of(other).tells_call:
                number, operator = ex.integer(other), target.operator
                if number is not None and self._are_two(side):  # how many different ones: equal, if it is one
                    alike = ex.holds(operator, *((1, number) if side is left else (number, 1)))
                    yield from self._guard(node, function, "equal", not alike, *counted)
                else:
                    yield from self._guard(node, function, "counted", False, *counted)
                return
        if _is_fixed(left) or _is_fixed(right):
            return
        if type(operator) in _EQUALITY:
            if not self.signatures.of(left).tells_call or not self.signatures.of(right).tells_call:
                return
            denies = isinstance(operator, cst.NotEqual)
            if self._carries(right, node, function) or not self._carries(left, node, function):
                yield from self._guard(node, function, "equal", denies, left, right)
            else:
                yield from self._guard(node, function, "equal", denies, right, left)
        elif type(operator) is cst.In or type(operator) is cst.NotIn:
            yield from self._guard(node, function, "among", isinstance(operator, cst.NotIn), left, right)

    def _is_made_of(
        self,
        made: cst.BaseExpression,
        of: cst.BaseExpression,
        node: cst.CSTNode,
        function: Scope,
        seen: frozenset[Slot] = frozenset(),
    ) -> bool:
        """Whether a name holds, at `node`, what was made of the very value that `of` has there."""
        slot = self.facts.slots.of_name(made)
        if slot is None or slot[:2] != ("var", function) or slot in seen or self._is_carried(slot, node, function):
            return False
        before = [value for value in self.facts.assigned(slot) if self.module.before(value, node)]
        return any(self._stems_from(value, of, node, function, seen | {slot}) for value in before)

    def _stems_from(
        self,
        value: cst.BaseExpression,
        of: cst.BaseExpression,
        node: cst.CSTNode,
        function: Scope,
        seen: frozenset[Slot],
    ) -> bool:
        wanted = self.facts.slots.of(of)
        if wanted is None or wanted[0] in {"item", "return"}:  # two elements of one list, or two calls, are two values
            return False
        between = [v for v in self.facts.assigned(wanted) if self.module.before(v, node)]
        for part in walk(value):
            if type(part) is cst.Name and self._is_made_of(part, of, node, function, seen):
                return True
            if isinstance(part, (cst.Name, cst.Call, cst.Attribute, cst.Subscript)):
                if self.facts.slots.of(part) == wanted and not any(self.module.before(part, v) for v in between):
                    return True
        return False

    def _looked_up(self, node: cst.Call, function: Scope) -> Iterator[Guard]:
        """`cache.get(key)` of a dict that is filled by such keys."""
        base = ex.receiver(node)
        if base is not None and ex.text(node.args[0].value) is None:
            slot = self.facts.slots.of(base)
            if slot is not None and slot in self.signatures.puts and not self._counts_on(node, slot):
                yield from self._guard(node, function, "among", False, node.args[0].value, base)

    def _counts_on(self, node: cst.Call, slot: Slot) -> bool:
        """`counts[key] = counts.get(key, 0) + 1` asks for nothing."""
        statement = self.module.statement(node)
        if not isinstance(statement, cst.Assign):
            return False
        target = statement.targets[0].target
        return isinstance(target, cst.Subscript) and self.facts.slots.of(target.value) == slot

    def _guard(
        self,
        node: cst.BaseExpression,
        function: Scope,
        how: How,
        denies: bool,
        key_node: cst.BaseExpression,
        kept_node: cst.BaseExpression,
    ) -> Iterator[Guard]:
        key = self.signatures.of(key_node, stored=key_node is kept_node)
        if not key.tells_call:
            return
        kept = self.signatures.of(kept_node, stored=how != "equal" or kept_node is key_node)
        if not kept.tells_call:
            return
        if how == "equal" and (
            self._is_made_of(key_node, kept_node, node, function)
            or self._is_made_of(kept_node, key_node, node, function)
        ):
            return  # `clean != raw`: whether something was changed, not whether it came again
        slots = frozenset(slot for slot in kept.slots if self._is_carried(slot, node, function))
        yield Guard(node, function, how, denies, key, kept, key_node, kept_node, slots)

    def _are_two(self, node: cst.BaseExpression) -> bool:
        """`len(set(xs[-2:]))`: the last two are compared."""
        lower = next((cut.lower for part in walk(node) if (cut := ex.slice_of(part)) and cut.upper is None), None)
        return _whole(node) is not None and ex.integer(lower) == -2

    def counted(self, node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
        """`(key, container)` of `xs.count(key)`, `counts[key]`, `counts.get(key, 0)`; what is counted whole, twice."""
        whole = _whole(node)
        if whole is not None:
            return whole, whole
        if type(node) is cst.Call:
            base = ex.receiver(node)
            return (
                (node.args[0].value, base)
                if base is not None and ex.called_name(node) in _COUNTS and node.args
                else None
            )
        at = ex.index(node)
        if type(node) is cst.Subscript and at is not None and ex.integer(at) is None and ex.text(at) is None:
            slot = self.facts.slots.of(node.value)
            return (at, node.value) if slot is not None and slot in self.signatures.puts else None
        if isinstance(node, cst.Name):
            slot = self.facts.slots.of(node)
            values = self.facts.assigned(slot)
            found = [
                counted for value in values if not isinstance(value, cst.Name) and (counted := self.counted(value))
            ]
            return found[0] if len(found) == 1 else None
        return None

    def _carries(self, value: cst.BaseExpression, node: cst.BaseExpression, function: Scope) -> bool:
        signature = self.signatures.of(value)
        return bool(signature.past) or any(self._is_carried(slot, node, function) for slot in signature.slots)

    def _is_carried(
        self, slot: Slot, node: cst.CSTNode, function: Scope, inside: frozenset[Scope] = frozenset()
    ) -> bool:
        """Whether a variable still holds a value of an earlier round: it is set (or grown) after what compares."""
        if slot[0] != "var":
            return slot[0] == "attr" or (slot[0] in {"member", "item"} and self._is_carried(slot[1], node, function))
        if slot[1] is function:
            return self._is_set_after(slot, node) or (is_parameter(slot) and self._grows_by_turns(slot, function))
        if function.within(slot[1]):
            return True
        inside |= {function}
        sites = (site for site in self.graph.sites[function] if site.caller not in inside)
        return any(self._is_carried(slot, site.node, site.caller, inside) for site in sites)

    def _grows_by_turns(self, slot: Slot, function: Scope) -> bool:
        """Whether a function that is called in a loop puts something into what it is handed."""
        loops = (o for s in self.graph.sites[function] for o in self.module.ancestors(s.node) if isinstance(o, _LOOPS))
        return slot in self.signatures.puts and any(loops)

    def _is_set_after(self, slot: Slot, node: cst.CSTNode) -> bool:
        puts = self.signatures.puts.get(slot, [])
        after = [v for v in self.facts.assigned(slot) if self.module.before(node, v)]
        return any(self._in_one_loop(node, value) for value in [*puts, *after])

    def _in_one_loop(self, node: cst.CSTNode, value: cst.CSTNode) -> bool:
        module = self.module
        return any(isinstance(outer, _LOOPS) and module.inside(value, outer) for outer in module.ancestors(node))


def _whole(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`xs` of `len(set(xs))` and of `max(xs.values())`; `{f(x) for x in xs}` of `len({f(x) for x in xs})`."""
    if not isinstance(node, cst.Call) or len(node.args) != 1 or ex.dotted(node.func) not in {"len", "max"}:
        return None
    inside = node.args[0].value
    if ex.dotted(node.func) == "max":
        return ex.receiver(inside) if isinstance(inside, cst.Call) and ex.called_name(inside) == "values" else None
    if isinstance(inside, cst.Call) and ex.dotted(inside.func) == "set" and inside.args:
        inside = inside.args[0].value
        while isinstance(inside, cst.Subscript):
            inside = inside.value
        return inside
    return inside if isinstance(inside, cst.SetComp) else None


def _is_fixed(node: cst.BaseExpression) -> bool:
    """A literal, None, or a display of these: it tells nothing of a call."""
    if type(node) in {cst.Tuple, cst.List, cst.Set}:
        return all(_is_fixed(element.value) for element in node.elements)  # type: ignore[attr-defined]
    return type(node) in {cst.SimpleString, cst.Integer} or ex.dotted(node) == "None"
