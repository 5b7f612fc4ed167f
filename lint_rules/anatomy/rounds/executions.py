"""Where tool calls are gone through and run: loops over the calls of a reply, and what runs one of them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.messages.transcript import Transcript
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

_TOOL_PARTS = frozenset({Kind.CALL, Kind.FUNCTION, Kind.ARGUMENTS})
READERS = frozenset(
    {
        "len", "str", "repr", "isinstance", "getattr", "hasattr", "get", "setdefault", "pop", "dict", "list", "type",
        "append", "extend", "insert", "add", "update", "print", "model_dump", "dumps", "loads", "join", "format",
        "enumerate", "zip", "sorted", "bool", "id", "set", "tuple", "next", "any", "all", "copy", "deepcopy", "items",
        "keys", "values", "startswith", "endswith", "strip", "literal_eval",
    }
)  # fmt: skip
"""Functions and methods that look at a value or store it, and run nothing."""


@record
class CallLoop:
    """A loop (or comprehension) over the tool calls of one reply: `calls` is what it goes through, `call` each one."""

    node: cst.For | cst.CompFor
    function: Scope
    calls: cst.BaseExpression
    call: cst.BaseExpression


def call_loops(facts: Facts, function: Scope) -> Iterator[CallLoop]:
    """The loops over tool calls in a function, in source order."""
    for node in function.nodes:
        if type(node) is cst.For or type(node) is cst.CompFor:
            calls, call = next(ex.iterated(node), (node.iter, node.target))
            if facts.is_kind(calls, Kind.CALLS):
                yield CallLoop(node, function, calls, call)


def runs_tool(facts: Facts, transcript: Transcript, call: cst.Call) -> bool:
    """Whether `call` runs a tool: it gets a tool call, its function or its arguments, and neither stores nor shows.

    What gives the arguments back, decoded, has run nothing.
    """
    if ex.called_name(call) in READERS or is_logging(call) or call in facts.calls:
        return False
    if facts.slots.constructed(call) is not None or ex.called_name(call)[:1].isupper():
        return False
    if transcript.at(call) or Kind.ARGUMENTS in facts.kinds(call):
        return False
    return any(_TOOL_PARTS & facts.kinds(arg.value).keys() for arg in call.args) or _takes_apart(facts, call)


def _takes_apart(facts: Facts, call: cst.Call) -> bool:
    """Whether `call` gets the text of the arguments beside another part of a tool call: `run(c["name"], c["args"])`."""
    parts = [(pair[0], arg.value) for arg in call.args if (pair := ex.member(arg.value)) is not None]
    texts = {value: ex.dotted(owner) for owner, value in parts if Kind.ARGUMENTS_TEXT in facts.kinds(value)}
    return any(value not in texts and ex.dotted(owner) in {*texts.values()} - {None} for owner, value in parts)


def executions(facts: Facts, transcript: Transcript, function: Scope) -> Iterator[cst.Call]:
    """The calls of a function that run tools, in source order."""
    return (n for n in function.nodes if type(n) is cst.Call and runs_tool(facts, transcript, n))
