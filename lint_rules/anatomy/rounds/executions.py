"""Where tool calls are gone through and run: loops over the calls of a reply, and what runs one of them."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.messages.transcript import Transcript
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
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


_VALUES = vars(builtins).keys() - {"exec", "eval", "compile", "open", "input", "print", "breakpoint", "__import__"}
_MODULES = frozenset(
    {"json", "hashlib", "re", "math", "copy", "itertools", "operator", "difflib", "textwrap", "base64"}
)
"""Modules of the standard library whose functions only give values (Python documentation)."""
_METHODS = frozenset({"hexdigest", "digest"}).union(*(vars(each) for each in (str, bytes, list, dict, set, tuple)))


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


@once(circular=True)
def only_computes(facts: Facts, function: Scope) -> bool:
    """Whether a function works something out of values, and nothing is done by it: `sha256(dumps(arguments))`."""
    if function.kind != "function" or function.is_async or function.nodes_of(cst.Raise):
        return False
    for call in function.nodes_of(cst.Call):
        callee = facts.slots.callee(call)
        known = only_computes(facts, callee) if callee is not None else _is_of_values(facts, call)
        if not known and facts.slots.constructed(call) is None:
            return False
    return True


def _is_of_values(facts: Facts, call: cst.Call) -> bool:
    """A builtin that gives a value, a function of a module that has only such, or a method of a builtin type."""
    name = facts.module.imports.resolve(ex.dotted(call.func) or "")
    if type(call.func) is cst.Name:
        return name in _VALUES or name.partition(".")[0] in _MODULES
    return name.partition(".")[0] in _MODULES or ex.called_name(call) in _METHODS


def _takes_apart(facts: Facts, call: cst.Call) -> bool:
    """Whether `call` gets the text of the arguments beside another part of a tool call: `run(c["name"], c["args"])`.

    Also under names: `name = c["name"]`. Where the arguments come as a dict, their text is all that is known of them.
    """
    parts = [(arg.value, facts.slots.of(pair[0])) for arg in call.args for pair in _read_as(facts, arg.value)]
    texts = {owner: value for value, owner in parts if owner and Kind.ARGUMENTS_TEXT in facts.kinds(value)}
    return any(owner in texts and value is not texts[owner] for value, owner in parts)


def _read_as(facts: Facts, value: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, str]]:
    """What a value is read of, itself or where the names are bound by which it comes."""
    queue = [value]
    for each in queue:
        pair = ex.member(each)
        if pair is not None:
            yield pair
        elif isinstance(each, cst.Name):
            queue += [bound for bound in facts.values_of(each) if bound not in queue]


def executions(facts: Facts, transcript: Transcript, function: Scope) -> Iterator[cst.Call]:
    """The calls of a function that run tools, in source order."""
    return (n for n in function.nodes if type(n) is cst.Call and runs_tool(facts, transcript, n))
