"""Where the tool calls of a file are: which values are calls, how they hold their arguments, what is put where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import fields

ARGUMENT_NAMES = frozenset(
    {"arguments", "args", "input", "parameters", "params", "tool_args", "raw_arguments", "tool_input"}
)
"""Names under which calls hold their arguments."""
LISTS = frozenset({"list", "tuple", "sorted", "set", "frozenset"})
_PUTTERS = frozenset({"add", "append", "appendleft", "insert", "extend", "update", "setdefault"})

_PAIRING = frozenset({"enumerate", "zip", "items", "pairwise"})


class CallPlaces:
    """What signatures ask of the calls of one file."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.facts = graph.facts
        self._calls: dict[cst.CSTNode, bool] = {}

    @cached_property
    def puts(self) -> dict[Slot, list[cst.BaseExpression]]:
        """What is put into a container: `xs.add(v)`, `xs.append(v)`, the key of `xs[k] = v` and `xs[k] += 1`."""
        return self._by_slot((base, key) for base, key, _ in self._put())

    @cached_property
    def entries(self) -> dict[Slot, list[cst.BaseExpression]]:
        """What is put under keys of a dict: the value of `xs[k] = v`."""
        return self._by_slot((base, value) for base, _, value in self._put() if value is not None)

    def _by_slot(
        self, put: Iterable[tuple[cst.BaseExpression, cst.BaseExpression]]
    ) -> dict[Slot, list[cst.BaseExpression]]:
        found: dict[Slot, list[cst.BaseExpression]] = {}
        for base, value in put:
            slot = self.facts.slots.of(base)
            if slot is not None:
                found.setdefault(slot, []).append(value)
        return found

    def _put(self) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression | None]]:
        """Each container, what is put there, and the value that this is a key for."""
        for node in self.facts.module.nodes_of(cst.Call, cst.Assign, cst.AugAssign):
            if type(node) is cst.Call:
                base = ex.receiver(node)
                if base is not None and ex.called_name(node) in _PUTTERS and node.args:
                    yield base, node.args[0].value, None
            elif isinstance(node, (cst.Assign, cst.AugAssign)):
                for target in ex.targets(node):
                    at = ex.index(target)
                    if isinstance(target, cst.Subscript) and at is not None:
                        yield target.value, at, node.value if isinstance(node, cst.Assign) else None

    @cached_property
    def loops(self) -> dict[Slot, cst.BaseExpression]:
        """What a loop variable takes its values from: the iterable, `zip` and `enumerate` undone."""
        found: dict[Slot, cst.BaseExpression] = {}
        for node in self.facts.module.nodes_of(cst.For, cst.CompFor):
            for source, target in ex.iterated(node):
                slot = self.facts.slots.of(target)
                if slot is not None:
                    found.setdefault(slot, source)
        return found

    def sources(self, slot: Slot) -> list[tuple[cst.BaseExpression, tuple[int | None, ...]]]:
        """What loops take the values of a slot from: an element of it, or a place in each."""
        if slot in self.loops:
            return [(self.loops[slot], (None,))]
        passed = self.facts.passed(slot)
        return [(source, (None, place)) for source, place in passed if not _pairs(source)]

    def record(self, call: cst.Call) -> dict[str, cst.BaseExpression] | None:
        """By its field, what an object is made with whose class only lists its fields; None for others."""
        cls = self.facts.slots.constructed(call)
        names = fields(cls) if cls is not None and not any(arg.star for arg in call.args) else []
        if cls is None or not names or "__init__" in cls.bound:
            return None
        return {**dict(zip(names, ex.positional(call), strict=False)), **ex.keywords(call)}

    @cached_property
    def fields_set(self) -> dict[Slot, list[cst.BaseExpression]]:
        """What the fields of such objects are made with anywhere in the file."""
        found: dict[Slot, list[cst.BaseExpression]] = {}
        for call in self.facts.module.nodes_of(cst.Call) if self.facts.module.classes else ():
            cls = self.facts.slots.constructed(call)
            record = self.record(call) if cls is not None else None
            if cls is not None and record is not None:
                for name, value in record.items():
                    found.setdefault(self.facts.slots.attribute(cls, name), []).append(value)
        return found

    # -- in what form calls hold their arguments ------------------------------------------------------------------

    def way(self, node: cst.BaseExpression) -> tuple[str, ...] | None:
        """`("function", "arguments")` of `call.function.arguments`, `("input",)` of `block.input`; None for others."""
        pair = ex.member(node)
        if pair is None or pair[1] not in ARGUMENT_NAMES:
            return None
        outer = ex.member(pair[0])
        function = (outer is not None and outer[1] == "function") or Kind.FUNCTION in self.facts.kinds(pair[0])
        return ("function", pair[1]) if function else (pair[1],)

    def _ways(self, node: cst.BaseExpression) -> Iterator[tuple[str, ...]]:
        """The ways by which a value, or what a name was bound to, is read from a call."""
        for value in ex.alternatives(node):
            slot = self.facts.slots.of_name(value)
            for here in [value, *self.facts.assigned(slot), *(self.facts.given(slot) if slot is not None else ())]:
                for part in ex.alternatives(here):
                    way = self.way(part)
                    if way is not None:
                        yield way

    @cached_property
    def parsed(self) -> set[tuple[str, ...]]:
        """What this file parses as JSON."""
        return {
            way
            for node in self.facts.module.nodes_of(cst.Call)
            if node.args and self.facts.decoder(node) is not None
            for way in self._ways(node.args[0].value)
        }

    @cached_property
    def mapped(self) -> set[tuple[str, ...]]:
        """What this file handles as a dict: `**x`, `x.items()`, `x["key"]`, or annotates as one in a class."""
        found: set[tuple[str, ...]] = set()
        for node in self.facts.module.nodes_of(cst.Call, cst.Subscript, cst.AnnAssign):
            if isinstance(node, cst.Call):
                base = ex.receiver(node)
                if base is not None and ex.called_name(node) in {"items", "keys", "values", "get"}:
                    found.update(self._ways(base))
                for arg in node.args:
                    if arg.star == "**":
                        found.update(self._ways(arg.value))
            elif isinstance(node, cst.Subscript):
                at = ex.index(node)
                if at is not None and ex.text(at) is not None:
                    found.update(self._ways(node.value))
            elif isinstance(node, cst.AnnAssign) and isinstance(node.target, cst.Name):
                if node.target.value in ARGUMENT_NAMES and _is_dict(node.annotation.annotation):
                    found.add((node.target.value,))
        return found

    # -- what is a call -----------------------------------------------------------------------------------------

    def is_call(self, node: cst.BaseExpression, depth: int = 0) -> bool:
        """Whether a value is a tool call (or its function), also one that a helper has put into another form."""
        if node not in self._calls:
            self._calls[node] = False  # whoever asks again on the way goes round in circles
            self._calls[node] = self._is(node, Kind.CALL, depth)
        return self._calls[node]

    def are_calls(self, node: cst.BaseExpression, depth: int = 0) -> bool:
        """Whether a value is a list of tool calls."""
        return self._is(node, Kind.CALLS, depth)

    def _is(self, node: cst.BaseExpression, kind: Kind, depth: int) -> bool:
        node = ex.inner(node)
        kinds = self.facts.kinds(node)
        if kind in kinds or (kind is Kind.CALL and Kind.FUNCTION in kinds):
            return True
        if depth > DEEPEST:
            return False
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return kind is Kind.CALLS and self.is_call(node.elt, depth + 1)
        if isinstance(node, cst.BooleanOperation):
            return self._is(node.left, kind, depth + 1)
        if isinstance(node, cst.Subscript):
            wanted = kind if ex.slice_of(node) is not None else Kind.CALLS
            at = ex.index(node)
            if ex.slice_of(node) is None and (kind is not Kind.CALL or (at is not None and ex.text(at) is not None)):
                return kind is Kind.CALL and at is not None and ex.text(at) == "function" and self.is_call(node.value)
            return self._is(node.value, wanted, depth + 1)
        if isinstance(node, cst.Attribute):
            return kind is Kind.CALL and node.attr.value == "function" and self.is_call(node.value, depth + 1)
        if isinstance(node, cst.Call):
            if ex.called_name(node) in {*LISTS, "reversed", "iter"} or (
                kind is Kind.CALL and self.facts.slots.callee(node) is None and ex.receiver(node) is None
            ):
                return bool(node.args) and self._is(node.args[0].value, kind, depth + 1)
            return False
        slot = self.facts.slots.of(node)
        if slot is None:
            return False
        if kind is Kind.CALL and slot in self.loops and self.are_calls(self.loops[slot], depth + 1):
            return True
        return any(self._is(value, kind, depth + 1) for value in self.facts.assigned(slot) if value is not node)


def _pairs(source: cst.BaseExpression) -> bool:
    return isinstance(source, cst.Call) and ex.called_name(source) in _PAIRING


def _is_dict(annotation: cst.BaseExpression) -> bool:
    named = annotation.value if isinstance(annotation, cst.Subscript) else annotation
    return (ex.dotted(named) or "").rpartition(".")[2] in {"dict", "Dict", "Mapping", "MutableMapping"}
