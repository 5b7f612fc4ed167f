"""Calls that wait for a person or a message on every way round a loop: each round is then somebody's wish."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Graph, Point
from lint_rules.syntax.imports import Imports
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

Flow = Callable[[Scope], Graph]
_SAYS = frozenset(
    {
        "input", "ainput", "raw_input", "prompt", "Prompt", "prompt_async", "chat_input", "readline", "getline",
        "receive_text", "receive_json", "get_input", "get_user_input", "user_input", "read_input", "read_user_input",
        "wait_for_input", "multiline_input", "get_multiline_input",
    }
)  # fmt: skip
"""Calls that wait for what a user says next."""
_WAITS = frozenset(
    {
        "accept", "recv", "recv_json", "recv_multipart", "receive", "receive_bytes", "receive_message", "get_message",
        "wait_for_message", "next_message", "listen", "poll", "brpop", "blpop",
    }
)  # fmt: skip


def is_waiting(call: cst.Call, imports: Imports) -> bool:
    """Whether a call of somebody else's function, under whatever name, waits for a person or a message."""
    owner, _, name = imports.resolve(ex.dotted(call.func) or ex.called_name(call)).rpartition(".")
    if name in _WAITS or waits_for_words(call, imports):
        return True
    owner = owner.lower()
    if name == "get" and not ex.positional(call):
        return True  # of a queue: a dict's takes a key
    if name in {"get", "get_nowait", "popleft", "pop"}:
        return "queue" in owner
    if name in {"read", "wait"}:
        return "stdin" in owner or "event" in owner
    return False


def waits_for_words(call: cst.Call, imports: Imports) -> bool:
    """Whether a call waits for what a user says next, by its name: `input()`, `Prompt.ask(...)`."""
    owner, _, name = imports.resolve(ex.dotted(call.func) or ex.called_name(call)).rpartition(".")
    asks = "questionary" in owner.lower() or owner.lower().rpartition(".")[2] in {"prompt", "confirm"}
    return name in _SAYS or (name == "ask" and asks)


def is_input(call: cst.Call, _: Imports) -> bool:
    """`input()`: whoever has to answer sits there."""
    return type(call.func) is cst.Name and call.func.value == "input"


class Waits:
    """What a file waits for. `flow` gives the control-flow graph of a function; `waiting` knows the calls that wait."""

    def __init__(self, calls: CallGraph, flow: Flow, waiting: Callable[[cst.Call, Imports], bool] = is_waiting) -> None:
        self.calls = calls
        self.flow = flow
        self.module = calls.facts.module
        self.slots = calls.facts.slots
        self._waiting = waiting

    def in_each_round(self, node: cst.While | cst.For, function: Scope) -> cst.CSTNode | None:
        """What waits, where no way round the loop goes past all of that; None where one does.

        So does a `yield` of which something is taken: `words = yield answer` waits for `send(words)`.
        """
        calls = self.calls.calls_within(node, function)
        waiting: list[cst.CSTNode] = [call for call in calls if self._waits(call)]
        given_out = self.module.nodes_inside(node.body, function, cst.Yield)
        waiting += [each for each in given_out if isinstance(self.module.parent[each], cst.Assign | cst.NamedExpr)]
        if not waiting:
            return None
        waiting += [call for call in calls if self._stands_in(call, waiting)]
        graph = self.flow(function)
        heads = set(graph.at(node))
        met = self._points(graph, waiting) | self._loops_over_calls(graph, node, function, waiting)
        begins = [target for head in heads for target, kind in head.successors if kind == "true"]
        past = not heads & met and graph.reaches([p for p in begins if p not in met], heads, met, exceptions=False)
        return None if past else waiting[0]

    def points(self, node: cst.While | cst.For, function: Scope) -> set[Point]:
        """Where a loop waits, on whatever ways."""
        waiting = [call for call in self.calls.calls_within(node, function) if self._waits(call)]
        return self._points(self.flow(function), waiting)

    def _loops_over_calls(
        self, graph: Graph, node: cst.While | cst.For, function: Scope, waiting: list[cst.CSTNode]
    ) -> set[Point]:
        """The heads of loops over the calls of a reply that wait for each: where there is no call, the rounds end."""
        met = self._points(graph, waiting)
        found = set()
        for loop in self.module.nodes_inside(node.body, function, cst.For):
            if Kind.CALLS in self.calls.facts.kinds(loop.iter):
                heads = graph.at(loop)
                begins = [t for head in heads for t, kind in head.successors if kind == "true" and t not in met]
                if not graph.reaches(begins, heads, met, exceptions=False):
                    found.update(heads)
        return found

    def _stands_in(self, call: cst.Call, waiting: Sequence[cst.CSTNode]) -> bool:
        """Whether a call of what a test looks at takes the place of one that waits: `ask(x) if ask else input()`."""
        slot = self.slots.of(call.func) if self.slots.callee(call) is None else None
        here: cst.CSTNode = call
        for outer in self.module.ancestors(call) if slot is not None else ():
            if isinstance(outer, (cst.If, cst.IfExp)) and here in (outer.body, outer.orelse) and outer.orelse:
                other = outer.orelse if here is outer.body else outer.body
                tested = (part for part in walk(outer.test) if isinstance(part, (cst.Name, cst.Attribute)))
                if any(self.slots.of(part) == slot for part in tested):
                    return any(self.module.inside(wait, other) for wait in waiting)
            here = outer
        return False

    def _waits(self, call: cst.Call) -> bool:
        callee = self.slots.callee(call)
        if callee is None:
            return self._waiting(call, self.module.imports)
        return self._always_waits(callee)

    def before(self, call: cst.Call, function: Scope) -> bool:
        """Whether no way through a function to a call of it goes past those that wait."""
        graph = self.flow(function)
        return self._barred(function, graph, self._points(graph, [call]))

    @once(circular=False)  # what runs itself has to come to an end without that
    def _always_waits(self, function: Scope) -> bool:
        """Whether no way through a function goes past its calls that wait."""
        graph = self.flow(function) if isinstance(function.node, cst.FunctionDef) else None
        return graph is not None and self._barred(function, graph, {graph.exit})

    def _barred(self, function: Scope, graph: Graph, goal: set[Point]) -> bool:
        waiting = [call for call in function.nodes_of(cst.Call) if self._waits(call)]
        met = self._points(graph, waiting) if waiting else set()
        return bool(met) and (goal <= met or not graph.reaches(graph.entry, goal - met, met, exceptions=False))

    def _points(self, graph: Graph, nodes: Sequence[cst.CSTNode]) -> set[Point]:
        return {point for node in nodes for point in graph.enclosing(node, self.module.parent)}
