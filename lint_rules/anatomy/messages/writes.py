"""Writes to message histories: appended, extended, inserted, cut, rebound; here or in a helper."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Literal

import libcst as cst

from lint_rules.anatomy.program.aliases import Aliases
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

WriteKind = Literal["append", "extend", "insert", "set", "cut", "replace", "rebind"]
"""How; "set" puts a message in the place of another one: `history[-1] = message`."""

_METHODS: dict[str, WriteKind] = {
    "append": "append",
    "appendleft": "insert",
    "add": "append",
    "extend": "extend",
    "extendleft": "extend",
    "insert": "insert",
    "pop": "cut",
    "popleft": "cut",
    "clear": "cut",
    "remove": "cut",
}
GROWING: frozenset[WriteKind] = frozenset({"append", "extend", "insert"})


@record
class HistoryWrite:
    """One write. `node` is the call or statement, `value` what is stored (None for cuts), `evidence` why a history."""

    slot: Slot
    node: cst.CSTNode
    function: Scope
    kind: WriteKind
    value: cst.BaseExpression | None
    evidence: Evidence


class Writes:
    """All direct writes of a file, and which slots each function writes, itself or through what it calls."""

    def __init__(self, facts: Facts, graph: CallGraph, aliases: Aliases) -> None:
        self.facts = facts
        self.graph = graph
        self.aliases = aliases
        self.all: list[HistoryWrite] = []
        self.by_slot: dict[Slot, list[HistoryWrite]] = defaultdict(list)
        self.by_function: dict[Scope, list[HistoryWrite]] = defaultdict(list)
        self._at: dict[cst.CSTNode, list[HistoryWrite]] = defaultdict(list)
        module = facts.module
        writing = (cst.Call, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Del)
        for node in module.nodes_of(*writing) if facts.histories() else ():
            for write in self._writes(node, module.scope_of[node].function):
                self.all.append(write)
                self.by_slot[write.slot].append(write)
                self.by_function[write.function].append(write)
                self._at[node].append(write)

    def _writes(self, node: cst.CSTNode, function: Scope) -> list[HistoryWrite]:
        if type(node) is cst.Call:
            return self._method(node, function)
        if type(node) is cst.Assign:
            return [w for t in node.targets for w in self._assigned(node, t.target, node.value, function)]
        if type(node) is cst.AnnAssign and node.value is not None:
            return self._assigned(node, node.target, node.value, function)
        if isinstance(node, cst.AugAssign):
            return self._made(node.target, node, function, "extend", node.value)
        if isinstance(node, cst.Del):
            targets = node.target.elements if isinstance(node.target, cst.Tuple) else [cst.Element(node.target)]
            return [
                write
                for target in targets
                if isinstance(target.value, cst.Subscript)
                for write in self._made(target.value.value, node, function, "cut", None)
            ]
        return []

    def _method(self, node: cst.Call, function: Scope) -> list[HistoryWrite]:
        kind = _METHODS.get(ex.called_name(node))
        if kind is None:
            return []
        base = ex.receiver(node)
        if base is None or self.facts.slots.callee(node) is not None:
            return []
        given = ex.positional(node)
        if kind in GROWING and len(given) != (2 if ex.called_name(node) == "insert" else 1):
            return []
        return self._made(base, node, function, kind, given[-1] if kind in GROWING else None)

    def _assigned(
        self, node: cst.CSTNode, target: cst.BaseExpression, value: cst.BaseExpression, function: Scope
    ) -> list[HistoryWrite]:
        if type(target) is cst.Tuple or type(target) is cst.List:
            return []
        if type(target) is cst.Subscript and ex.slice_of(target) is not None:
            return self._made(target.value, node, function, "replace", value)
        if type(target) is cst.Subscript and ex.key(target) is None and self.facts.is_kind(target.value, Kind.HISTORY):
            return self._made(target.value, node, function, "set", value)
        return self._made(target, node, function, "rebind", value)

    def _made(
        self,
        base: cst.BaseExpression,
        node: cst.CSTNode,
        function: Scope,
        kind: WriteKind,
        value: cst.BaseExpression | None,
    ) -> list[HistoryWrite]:
        slot = self.facts.slots.of(base)
        if slot is not None and slot[0] == "return":
            slot = self.aliases.of(slot)
        evidence = self.facts.of(slot).get(Kind.HISTORY) if slot is not None else None
        if slot is None or evidence is None or slot[0] in {"call", "return"}:
            return []
        return [HistoryWrite(slot, node, function, kind, value, evidence)]

    def reached_from(self, function: Scope) -> list[HistoryWrite]:
        """Writes that running `function` may do, in it or in functions of this file that it calls."""
        return [write for here in self.graph.reachable(function) for write in self.by_function[here]]

    def does_write(self, function: Scope) -> bool:
        """Whether running `function` may write a history."""
        return function in self._writing

    @cached_property
    def _writing(self) -> set[Scope]:
        return self.graph.with_callers(function for function, writes in self.by_function.items() if writes)

    def grows(self, call: cst.Call, slot: Slot) -> HistoryWrite | None:
        """A growing write to `slot` that `call` itself is, or what it runs may do, under whatever name."""
        for write in self._at.get(call, ()):
            if write.slot == slot and write.kind in GROWING:
                return write
        callee = self.facts.slots.callee(call)
        if callee is None or not self.does_write(callee):
            return None
        reached, slots = self.graph.reachable(callee), self.facts.slots
        places = [slot, *(place for place, value in slots.bindings(call, callee) if slots.of(value) == slot)]
        found = (write for place in places for write in self.by_slot[place] if write.kind in GROWING)
        return next((write for write in found if write.function in reached), None)

    def within(self, region: cst.CSTNode, function: Scope, slot: Slot) -> list[HistoryWrite]:
        """Direct writes to `slot` that stand inside `region` of `function`."""
        inside = self.facts.module.placed_inside(self.by_slot[slot], region, lambda write: write.node)
        return [write for write in inside if write.function is function]
