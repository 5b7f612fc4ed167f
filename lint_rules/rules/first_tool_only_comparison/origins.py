"""Which tool calls a value comes from: the first of a round, or all of them."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import children

_IDENTITIES = IDS | {"index", "type"}
_DISPLAYS = frozenset({cst.Tuple, cst.List})
_DEEPEST = 5


class Firsts:
    """Which expressions of a file take the first of some tool calls."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def any(self) -> bool:
        """Whether there is one: a cheap look before values are traced."""
        module = self.facts.module
        if any(self.has(node) for node in module.nodes_of(cst.Subscript)):
            return True
        if any(ex.called_name(call) == "next" and self.has(call) for call in module.nodes_of(cst.Call)):
            return True
        return any(
            type(node.targets[0].target) in _DISPLAYS and self.facts.is_kind(node.value, Kind.CALLS)
            for node in module.nodes_of(cst.Assign)
        )

    @once(circular=False)
    def has(self, node: cst.BaseExpression) -> bool:
        """`calls[0]`, `next(c for c in calls)`, and element 0 of a list made of one value per call."""
        if type(node) is cst.Subscript and ex.integer(ex.index(node)) == 0:
            if self._is_one(node.value):
                return False
            of_all = self.facts.is_kind(node.value, Kind.CALLS) or Origin(self).of(node.value).is_list
            return of_all and "delta" not in ex.source(node.value)
        if type(node) is cst.Call and ex.dotted(node.func) == "next" and node.args:
            return self.facts.is_kind(node.args[0].value, Kind.CALLS)
        return False

    def _is_one(self, node: cst.BaseExpression) -> bool:
        """`calls[i]`: one call, or the record of one, whose element 0 is its name."""
        return (
            isinstance(node, cst.Subscript) and ex.slice_of(node) is None and self.facts.is_kind(node.value, Kind.CALLS)
        )


class Origin:
    """Where a value comes from: `firsts` are the first calls taken on the way, `whole` whether all calls are named.

    `places` tells first calls of different lists apart, `tells` whether what is taken of them says what was called
    (a name, arguments, the call itself; not an id or an index). With `stored`, also what is put into a set or list
    (`seen.add(signature)`) counts as its value.
    """

    def __init__(self, firsts: Firsts, *, stored: bool = False) -> None:
        self._firsts = firsts
        self._facts = firsts.facts
        self._stored = stored
        self._seen: set[Slot] = set()
        self._slots: list[Slot] = []
        self.firsts: list[cst.BaseExpression] = []
        self.places: set[str] = set()
        self.whole = False
        self.tells = False

    def of(self, node: cst.BaseExpression) -> Origin:
        self._trace(node, 0)
        return self

    @property
    def is_list(self) -> bool:
        """Whether the value is a list with one part per call."""
        return self.whole and not self.firsts

    def carried(self, comparison: cst.CSTNode, function: Scope) -> bool:
        """Whether a variable on the way is set again after `comparison`: it then holds an earlier round's value."""
        module = self._facts.module
        return any(
            slot[0] == "attr"
            or any(
                module.scope_of[value].function is function and module.before(comparison, value)
                for value in self._facts.assigned(slot)
            )
            or bool(self._facts.put(slot))
            for slot in self._slots
        )

    def _trace(self, node: cst.CSTNode, depth: int) -> None:
        if isinstance(node, cst.BaseExpression) and depth <= _DEEPEST:
            if self._firsts.has(node):
                self._found(node, not self._is_identity(node))
                return
            if type(node) is cst.Call and ex.dotted(node.func) in {"len", "bool"}:
                return
            pair = ex.member(node)
            if pair is not None and pair[1] in _IDENTITIES:
                return
            if self._is_all(node):
                self.whole = True
                return
        if type(node) is cst.Name or type(node) is cst.Attribute:
            self._trace_slot(node, depth)
        elif type(node) is cst.Call:
            self._trace_call(node, depth)
        elif type(node) is cst.IfExp:
            for way in (node.body, node.orelse):
                self._trace(way, depth)
        else:
            for child in children(node):
                self._trace(child, depth)

    def _found(self, node: cst.BaseExpression, tells: bool) -> None:
        self.firsts.append(node)
        self.places.add(ex.source(node))
        self.tells = self.tells or tells

    def _is_all(self, node: cst.BaseExpression) -> bool:
        if type(node) is cst.ListComp or type(node) is cst.GeneratorExp or type(node) is cst.SetComp:
            return self._facts.is_kind(node.for_in.iter, Kind.CALLS)
        return type(node) is not cst.Call and self._facts.is_kind(node, Kind.CALLS)

    def _is_identity(self, node: cst.BaseExpression) -> bool:
        """`calls[0].id`, `.index`, `.type`: which call it is, not what it asks for."""
        parent = self._facts.module.parent.get(node)
        pair = ex.member(parent) if parent is not None else None
        return pair is not None and pair[1] in _IDENTITIES

    def _trace_slot(self, node: cst.Name | cst.Attribute, depth: int) -> None:
        slot = self._facts.slots.of(node)
        values = self._facts.assigned(slot)
        if slot is not None and slot not in self._seen and depth < _DEEPEST:
            self._seen.add(slot)
            if values or self._stored:
                self._slots.append(slot)
            for value in values:
                self._trace(value, depth + 1)
            for value in self._unpacked(slot):
                self._found(value, True)
            if self._stored:
                for put in self._facts.put(slot):
                    self._trace(put.args[0].value, depth + 1)
        if isinstance(node, cst.Attribute) and not values and node.attr.value not in _IDENTITIES:
            self._trace(node.value, depth)

    def _unpacked(self, slot: Slot) -> list[cst.BaseExpression]:
        """`first, *rest = calls`: the list behind a name that takes its first element."""
        return [value for value in self._facts.split(slot) if self._facts.is_kind(value, Kind.CALLS)]

    def _trace_call(self, node: cst.Call, depth: int) -> None:
        callee = self._facts.slots.callee(node)
        if callee is not None and depth < _DEEPEST:
            found, places = len(self.firsts), set(self.places)
            for inside in callee.nodes_of(cst.Return):
                if inside.value is not None:
                    self._trace(inside.value, depth + 1)
            if len(self.firsts) > found or self.whole:
                self.places = places | {ex.source(node)}
                return
        for arg in node.args:
            self._trace(arg.value, depth)
        base = ex.receiver(node)
        if base is not None:
            self._trace(base, depth)
