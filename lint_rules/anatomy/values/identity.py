"""Which object an expression is: the way to it from the variable or call that it was taken from.

`message.tool_calls`, `calls` after `calls = message.tool_calls or []`, and `list(reply.choices[0].message.tool_calls)`
are one list when `message` is the message of that reply. Names with several bindings are where a way begins.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import libcst as cst

from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import CALL_WRAPPERS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST

Way = tuple[Any, ...]
"""A slot, then the names of members; `[]` for an element."""


class Identity:
    """Ways of one file's expressions; None for values that are made on the spot."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[cst.CSTNode, Way | None] = {}

    def of(self, node: cst.BaseExpression) -> Way | None:
        return self._of(node, 0)

    def _of(self, node: cst.BaseExpression, depth: int) -> Way | None:
        if node not in self._known:
            self._known[node] = None  # a value that is made of itself
            self._known[node] = self._find(node, depth) if depth <= DEEPEST else None
        return self._known[node]

    def _find(self, node: cst.BaseExpression, depth: int) -> Way | None:
        node = ex.inner(node)
        if type(node) is cst.Name or (type(node) is cst.Attribute and self._of_self(node)):
            slot = self._facts.slots.of(node)
            return self._slot(slot, depth) if slot is not None else None
        pair = ex.member(node)
        if pair is not None:
            return self._below(pair[0], pair[1], depth)
        if type(node) is cst.Subscript:
            at = ex.slice_of(node)
            if at is None:
                return self._below(node.value, "[]", depth)
            return self._of(node.value, depth + 1) if at.lower is None and at.upper is None else None
        if type(node) is cst.Call:
            return self._called(node, depth)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            block = _block_of(node.elt)
            same = type(block) is cst.Name and block.value in ex.target_names(node.for_in.target)
            return self._of(node.for_in.iter, depth + 1) if same else None
        if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And):
            return self._of(node.right, depth + 1)  # what a guard lets through
        if isinstance(node, (cst.BooleanOperation, cst.IfExp)):
            ways = (self._of(part, depth + 1) for part in ex.alternatives(node) if not handlers.is_neutral(part))
            return next((way for way in ways if way is not None), None)
        return None

    def _of_self(self, node: cst.Attribute) -> bool:
        return type(node.value) is cst.Name and node.value.value == self._facts.module.self_name(
            self._facts.module.scope_of[node]
        )

    def _below(self, base: cst.BaseExpression, name: str, depth: int) -> Way | None:
        way = self._of(base, depth + 1)
        return None if way is None else (*way, name)

    def _called(self, node: cst.Call, depth: int) -> Way:
        copied = sources(node)
        way = self._of(copied[0], depth + 1) if copied else None
        return way if way is not None else (("call", node),)

    def _slot(self, slot: Slot, depth: int) -> Way:
        telling = (value for value in self._facts.assigned(slot) if not handlers.is_neutral(value))
        values = list(islice(telling, 2))
        if len(values) == 1 and slot[0] in {"var", "attr"}:
            way = self._of(values[0], depth + 1)
            if way is not None:
                return way
        sorted_out = None if values else self._sorted_out(slot, depth)
        return sorted_out if sorted_out is not None else (slot,)

    def _sorted_out(self, slot: Slot, depth: int) -> Way | None:
        """The list of which a loop puts elements, whole, into another one: `for b in blocks: ...; calls.append(b)`."""
        put = self._facts.appended(slot) if slot[0] == "var" and self._facts.assigned(slot) else []
        elements = {self._facts.slots.of(_block_of(ex.inner(value))) for value in put}
        lists = [each for element in elements if element is not None for each in self._facts.gone_through(element)]
        return self._of(lists[0], depth + 1) if len(elements) == len(lists) == 1 else None


def _block_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """The block that stands for the call in it: `b` of `b["toolUse"]`; or the value itself."""
    pair = ex.member(node)
    return pair[0] if pair is not None and pair[1] in CALL_WRAPPERS else node


def starts_with(way: Way, start: Way) -> bool:
    """Whether `way` leads through the object at `start`, or to it."""
    return way[: len(start)] == start
