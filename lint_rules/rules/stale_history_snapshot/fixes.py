"""AGL301: the statement that takes the snapshot moves to the head of the loop, where it is taken in each round.

Nothing is moved when the name, or what the snapshot is made of, plays a part between the statement and the loop.
Appending to both lists instead would double the messages of callers that pass the live list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.finding import Applicability
from lint_rules.repairs.edits import (
    Block,
    Edits,
    Fix,
    blank_lines,
    block_of,
    line_of,
    of_the_file,
    with_blank_lines,
    without_blank_lines,
)
from lint_rules.rules.stale_history_snapshot.snapshots import Stale
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_PURE = frozenset(
    {
        "list", "tuple", "dict", "str", "len", "sorted", "reversed", "range", "enumerate", "zip", "min", "max",
        "copy.copy", "copy.deepcopy", "json.dumps", "itertools.chain", "itertools.islice",
    }
)  # fmt: skip
_PURE_METHODS = frozenset({"copy", "get", "items", "keys", "values", "join", "format", "strip", "model_copy"})
_MUTATORS = frozenset(
    {"append", "extend", "insert", "pop", "popleft", "remove", "clear", "update", "setdefault", "add"}
)
_BINDERS = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.NamedExpr, cst.For, cst.Del)


@of_the_file
def repair(anatomy: Anatomy, stale: Stale) -> Fix | None:
    """Move the statement; safe when it is pure and its name lives in the loop only."""
    if stale.passed or stale.where is not anatomy or not isinstance(stale.node, (cst.Assign, cst.AnnAssign)):
        return None
    move = _Move(anatomy, stale.node, stale.loop)
    applicability = move.applicability()
    if applicability is None or move.block is None:
        return None
    return Fix("take the copy in the loop, in each round", applicability, move.edits)


class _Move:
    """A statement that may move to the head of a loop behind it."""

    def __init__(self, anatomy: Anatomy, statement: cst.Assign | cst.AnnAssign, loop: cst.While | cst.For) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.statement = statement
        self.loop = loop
        self.function = self.module.scope_of[loop].function
        self.line = line_of(self.module, statement)
        self.block: Block | None = block_of(self.module, self.line) if self.line is not None else None
        targets = statement.targets if isinstance(statement, cst.Assign) else [statement]
        self.target = targets[0].target
        self.value: cst.BaseExpression = statement.value or cst.Name("None")

    def applicability(self) -> Applicability | None:
        """None where the statement cannot move."""
        slot = self.anatomy.facts.slots.of(self.target)
        if slot is None or not self._can_move() or self._is_used_before_loop() or self._is_effect():
            return None
        if any(self._is_bound(node) for node in self._mentions(slot)):
            return None
        within = all(self.module.inside(node, self.loop.body) for node in self._mentions(slot))
        pure = all(self._is_pure(node) for node in walk(self.value))
        return "safe" if within and pure and isinstance(self.target, cst.Name) and self._is_steady() else "unsafe"

    def edits(self) -> Edits:
        block, body, line = self.block, self.loop.body, self.line
        assert block is not None
        assert line is not None
        assert isinstance(body, cst.IndentedBlock)
        index = list(block.body).index(line)

        def removed(statements: list[Any]) -> list[Any]:
            following = with_blank_lines(statements[index + 1], blank_lines(line))
            return [*statements[:index], following, *statements[index + 2 :]]

        def inserted(statements: list[Any]) -> list[Any]:
            return [without_blank_lines(line), *statements]

        return Edits(changed={block: removed, body: inserted}, claimed=frozenset({line}))

    # -- can it move? -----------------------------------------------------------------------------------------

    def _can_move(self) -> bool:
        """The loop lies in the statement's own block, or deeper: it never runs without the statement."""
        return (
            isinstance(self.loop.body, cst.IndentedBlock)
            and isinstance(self.target, (cst.Name, cst.Attribute))
            and self.module.scope_of[self.statement].function is self.function
            and self.block is not None
            and any(outer is self.block for outer in self.module.ancestors(self.loop))
        )

    def _is_used_before_loop(self) -> bool:
        """Whether the name, or what it is made of, is used between statement and loop in a way that would tell."""
        slots = self.anatomy.facts.slots
        own = slots.of(self.target)
        parts = [part for part in map(slots.of, self._parts()) if part is not None and part != own]
        histories = [part for part in parts if Kind.HISTORY in self.anatomy.facts.of(part)]
        for node in self._between():
            if isinstance(node, cst.Call) and any(self.anatomy.writes.grows(node, part) for part in histories):
                return True
            if isinstance(node, (cst.Name, cst.Attribute)):
                slot = slots.of(node)
                if slot == own or (slot in parts and self._may_change(node)):
                    return True
        return False

    def _between(self) -> Iterator[cst.CSTNode]:
        """The nodes after the statement and before the loop's body, the loop's own head among them."""
        order, end = self.module.order, max(self.module.order[node] for node in walk(self.statement))
        for node in self.function.nodes:
            if end < order[node] < order[self.loop.body] and not self.module.inside(self.loop, node):
                yield node

    def _parts(self) -> Iterator[cst.BaseExpression]:
        """The names and attributes that the value is made of."""
        return (node for node in walk(self.value) if isinstance(node, (cst.Name, cst.Attribute)))

    def _may_change(self, node: cst.CSTNode) -> bool:
        """Whether what is done with a name may change its value: bound, a method called, handed to a function."""
        parent = self.module.parent[node]
        if isinstance(parent, cst.Attribute):
            return isinstance(self.module.parent[parent], cst.Call) and parent.attr.value in _MUTATORS
        if isinstance(parent, cst.Arg):
            call = self.module.parent[parent]
            return not (isinstance(call, cst.Call) and self._is_pure(call))
        return self._is_bound(node) or isinstance(parent, cst.Subscript)

    def _is_bound(self, node: cst.CSTNode) -> bool:
        parent = self.module.parent[node]
        return isinstance(parent, _BINDERS) and parent.target is node

    def _is_effect(self) -> bool:
        """Whether the value does more than being made."""
        return any(
            isinstance(node, (cst.NamedExpr, cst.Yield))
            or (isinstance(node, cst.Call) and ex.called_name(node) in _MUTATORS and ex.receiver(node) is not None)
            for node in walk(self.value)
        )

    # -- is it safe? ------------------------------------------------------------------------------------------

    def _mentions(self, slot: Slot) -> Iterator[cst.CSTNode]:
        """Where the name stands besides the statement itself, nested functions included."""
        for node in self.module.scope_of:
            if isinstance(node, type(self.target)) and node is not self.target:
                if self.anatomy.facts.slots.of(node) == slot:
                    yield node

    def _is_pure(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Await):
            return False
        if not isinstance(node, cst.Call):
            return True
        full = self.module.full_name(node.func)
        if isinstance(node.func, cst.Attribute) and self.anatomy.facts.slots.callee(node) is None:
            return full in _PURE or node.func.attr.value in _PURE_METHODS
        return full in _PURE

    def _is_steady(self) -> bool:
        """Whether only the history changes in the loop, of all that the value is made of."""
        facts = self.anatomy.facts
        parts = {facts.slots.of(part) for part in self._parts() if not self.anatomy.is_history(part)}
        bound = (n for n in walk(self.loop) if isinstance(n, (cst.Name, cst.Attribute)) and self._is_bound(n))
        return not any(facts.slots.of(node) in parts for node in bound)
