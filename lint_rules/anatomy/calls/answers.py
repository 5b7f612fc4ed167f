"""Answers to tool calls: where a function makes one, and where a call that it has in hand is settled in another way.

An answer is a message, or a part of one, that carries a tool's result back to the model: with the id of the call, with
the role of tools, or made by a class or function that says so. Every API has its own form; what they share is read
here from the expression alone, so that a result counts wherever it is made: appended, returned, yielded, sent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk_scope

_RESULT_KEYS = frozenset({"content", "output", "result", "response", "error", "value"})
_WRAPPERS = frozenset({"toolResult", "functionResponse", "function_response", "tool_result"})
ROLES = frozenset({"tool", "function"})
_MADE = re.compile(
    r"^(Beta)?(Tool|Function)(Message$|((Call|Use|Execution)?(Response|Result|Return|Output|Answer)\w*$))"
    r"|^(RetryPrompt|FunctionExecutionResultMessage|RealtimeModelSendToolOutput)"
)
"""Classes of messages and parts that hold a tool's result, in the SDKs and frameworks."""
_HOLDS = re.compile(r"(Message|Result|Response|Return|Output|Answer)(?!\w*(Event|Start|Update|Chunk|Delta|Request))")
_TOLD = re.compile(r"Event|Start|Update|Chunk|Delta|Request|Error$|Exception")
"""What is told to user interfaces, and errors: no answers."""
_HELPER = re.compile(r"(tool|function|call)s?_?\w*(result|response|output|message|answer|return|error)")
NO_ANSWER = re.compile(
    r"^_*(log|print|show|display|render|on_|emit|notify|get_|fetch|load|parse|is_|has_|count|track|record_usage|find|"
    r"truncate|format|summar|extract|trace|debug|update_|should|check)"
)


class Answers:
    """The answers of one file, by the function that makes them."""

    def __init__(self, facts: Facts, graph: CallGraph, kept: Collection[cst.CSTNode] = ()) -> None:
        """`kept` are calls, and entries, that hand a result to a store: each is an answer, whatever it is made of."""
        self._kept = kept
        self.facts = facts
        self._graph = graph
        self.made: dict[Scope, list[cst.BaseExpression]] = defaultdict(list)
        self._reaching: dict[Scope, bool] = {}
        self._at: dict[Point, bool] = {}
        self._rendered: dict[Scope, set[Slot]] = {}
        for node in facts.module.nodes_of(cst.Dict, cst.Call):
            if self.makes(node) or node in kept:
                self.made[facts.module.scope_of[node].function].append(node)
        for entry in kept:
            if isinstance(entry, cst.Subscript):
                self.made[facts.module.scope_of[entry].function].append(entry)

    def makes(self, node: cst.Dict | cst.Call) -> bool:
        """Whether an expression makes an answer that was not there before, as one from a stored message was."""
        return is_answer(node) and not self._renders(node)

    def _renders(self, node: cst.Dict | cst.Call) -> bool:
        """`{"tool_call_id": m.tool_call_id}` of a message, or its part: that is an answer already, in another form."""
        items = ex.made_of(node)
        read = [ex.member(ex.inner(value)) for key, value in items.items() if key in words.ANSWERED]
        bases = [pair[0] for pair in read if pair is not None and pair[1] in words.ANSWERED]
        slots, function = {self.facts.slots.of(base) for base in bases}, self.facts.module.scope_of[node].function
        if not slots.isdisjoint(self._answered(function)):
            return True
        others = (base for base in bases if Kind.CALL not in self.facts.kinds(base))
        return any(comes_from_history(self.facts, base) for base in others)

    def _answered(self, function: Scope) -> set[Slot]:
        """What a function reads the role of, or asks whether it is a part that holds a result."""
        found = self._rendered.get(function)
        if found is None:
            tests = (ex.compared(node) for node in function.nodes_of(cst.Comparison))
            read = [ex.member(left) for left, _, right in tests if ex.text(right) in words.RESULT_TAGS]
            read += [pair for node in function.nodes if (pair := ex.member(node)) is not None and pair[1] == "role"]
            slots = (self.facts.slots.of(pair[0]) for pair in read if pair is not None)
            found = self._rendered[function] = {slot for slot in slots if slot is not None}
        return found

    def reaches(self, function: Scope) -> bool:
        """Whether running `function` may make an answer, in it or in functions of this file that it calls."""
        found = self._reaching.get(function)
        if found is None:
            found = any(self.made.get(f) for f in self._graph.reachable(function))
            self._reaching[function] = found
        return found

    def at(self, point: Point) -> bool:
        """Whether what is evaluated at a point makes an answer, itself or in a function of this file that it runs."""
        found = self._at.get(point)
        if found is None:
            found = self._at[point] = self._makes_answer(point)
        return found

    def _makes_answer(self, point: Point) -> bool:
        for part in point.expressions():
            for node in walk_scope(part):
                if node in self._kept or (type(node) is cst.Dict and self.makes(node)):
                    return True
                if type(node) is cst.Call:
                    if self.makes(node):
                        return True
                    callee = self.facts.slots.callee(node)
                    if callee is not None and self.reaches(callee):
                        return True
        return False


def comes_from_history(facts: Facts, value: cst.BaseExpression) -> bool:
    """Whether a value is made of a message of a history, also by way of a function that gets that."""
    seen, queue = set[Slot](), [value]
    for part in queue:
        named = {facts.slots.of(name) for name in walk_scope(part) if isinstance(name, cst.Name)}
        for slot in (slot for slot in named - seen if slot is not None):
            seen.add(slot)
            if any(facts.is_kind(each, Kind.HISTORY) for each in facts.gone_through(slot)):
                return True
            queue += [*facts.assigned(slot), *facts.given(slot)]
    return False


def is_answer(node: cst.CSTNode) -> bool:
    """Whether an expression makes a message, or a part of one, that carries a tool's result."""
    if type(node) is cst.Dict:
        return _is_answer_dict(ex.dict_items(node))
    if type(node) is not cst.Call:
        return False
    name = ex.called_name(node)
    if name == "dict":
        return _is_answer_dict(ex.dict_items(node))
    if _is_maker(name):
        return bool(node.args)
    keywords = ex.keywords(node)
    if not keywords:
        return False
    if _WRAPPERS & keywords.keys():
        return True
    if _has_role_of_tools(keywords):
        return True
    return bool(words.ANSWERED & keywords.keys()) and bool(_RESULT_KEYS & keywords.keys()) and bool(_HOLDS.search(name))


@lru_cache(maxsize=4096)
def _is_maker(name: str) -> bool:
    """Whether what is called makes results, as its name says."""
    if name in {"tool_message", "from_function_response", "tool_result_message"}:
        return True
    return _MADE.match(name) is not None and _TOLD.search(name) is None


def _is_answer_dict(items: dict[str, cst.BaseExpression]) -> bool:
    if _WRAPPERS & items.keys():
        return True
    if _has_role_of_tools(items):
        return True
    kind = items.get("type")
    tag = ex.text(kind) if kind is not None else None
    if tag in words.RESULT_TAGS:
        return True
    return bool(words.ANSWERED & items.keys()) and bool(_RESULT_KEYS & items.keys()) and tag is None


def _has_role_of_tools(items: dict[str, cst.BaseExpression]) -> bool:
    """Whether a message is one of a tool: not what only holds parts, each of which answers a call (Gemini)."""
    return "parts" not in items and _role(items.get("role")) in ROLES


def _role(node: cst.BaseExpression | None) -> str | None:
    """The word a role says: a literal, or the last name of a constant (`Role.TOOL`, `FUNCTION`)."""
    if node is None:
        return None
    literal = ex.text(node)
    if literal is not None:
        return literal
    name = (ex.dotted(node) or "").removesuffix(".value").rpartition(".")[2]
    return name.lower() if name.isupper() else None


def by_name(call: cst.Call) -> bool:
    """Whether a function of another file says by its name that it makes or stores a tool's answer."""
    name = ex.called_name(call).lower()
    return bool(_HELPER.search(name)) and not NO_ANSWER.match(name) and not is_logging(call) and bool(call.args)
