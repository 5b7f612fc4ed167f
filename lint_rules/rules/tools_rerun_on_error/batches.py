"""Runs of all tool calls of a message: a loop, a comprehension, a map, or a function that gets the whole list."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import calls_of
from lint_rules.anatomy.calls.uses import may_run
from lint_rules.anatomy.values.identity import Identity, Way
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope

_RUNS = re.compile(r"run|exec|invoke|call|dispatch|process|perform|handle", re.IGNORECASE)
_OTHER = re.compile(
    r"err|fail|log|report|record|append|add|emit|notify|cancel|skip|reject|stream|delta|chunk|pars|format|convert|build"
    r"|normal|valid|display|show|count|extract|save|store|merge",
    re.IGNORECASE,
)
_IDENTITIES = IDS | {"name", "type", "index"}
_WRITTEN = frozenset({"arguments", "input", "args", "function"})
_MAPS = frozenset({"map", "starmap", "imap"})


@record
class Batch:
    """One place that runs `calls`, those at `way`; `runner` is the name of what runs them.

    `whole`: it gets the list. `seen`: its body is here, and runs them.
    """

    node: cst.CSTNode
    calls: cst.BaseExpression
    way: Way
    runner: str
    whole: bool
    seen: bool = False


def batches(anatomy: Anatomy, identity: Identity, region: cst.CSTNode) -> Iterator[Batch]:
    """The runs of whole messages in a region, not in functions that are nested in it."""
    for node in walk_scope(region):
        if (type(node) is cst.For or type(node) is cst.CompFor) and anatomy.facts.is_kind(node.iter, Kind.CALLS):
            yield from _looped(anatomy, identity, node)
        elif type(node) is cst.Call:
            yield from _handed(anatomy, identity, node)


def _looped(anatomy: Anatomy, identity: Identity, loop: cst.For | cst.CompFor) -> Iterator[Batch]:
    way = identity.of(loop.iter)
    if way is None:
        return
    elements = calls_of(anatomy, loop)
    inside = loop.body if isinstance(loop, cst.For) else anatomy.module.parent[loop]
    for node in walk(inside):
        if isinstance(node, cst.Call):
            runner = _runner(anatomy, node, elements)
            if runner is not None:
                yield Batch(loop if isinstance(loop, cst.For) else inside, loop.iter, way, runner, False)


def _runner(anatomy: Anatomy, call: cst.Call, elements: frozenset[Slot]) -> str | None:
    """The name of a function that gets one call, or more of it than its id and name."""
    if not may_run(call) or not any(_gives(anatomy, arg.value, elements) for arg in call.args):
        return None
    first = call.args[0].value
    if ex.called_name(call) in {"submit", "to_thread", "run_in_executor"}:
        named = [arg.value for arg in call.args if isinstance(arg.value, (cst.Name, cst.Attribute))]
        first = next((value for value in named if not _gives(anatomy, value, elements)), first)
        return (ex.dotted(first) or "").rpartition(".")[2] or None
    return None if _OTHER.search(ex.called_name(call)) else ex.called_name(call)


def _gives(anatomy: Anatomy, value: cst.BaseExpression, elements: frozenset[Slot]) -> bool:
    """Whether a value is the call itself, or made of its arguments."""
    if isinstance(value, cst.Name):
        return anatomy.facts.slots.of(value) in elements or Kind.ARGUMENTS in anatomy.facts.kinds(value)
    for node in walk(value):
        pair = ex.member(node)
        if pair is not None and pair[1] not in _IDENTITIES and anatomy.facts.slots.of(pair[0]) in elements:
            return pair[1] in _WRITTEN
    return False


def _handed(anatomy: Anatomy, identity: Identity, call: cst.Call) -> Iterator[Batch]:
    """`run_all(calls)`, `pool.map(run, calls)`."""
    name = ex.called_name(call)
    given = [arg.value for arg in call.args if arg.keyword is None or arg.keyword.value != "tool_calls"]
    if name in _MAPS and len(given) > 1:
        name, given = (ex.dotted(given[0]) or "").rpartition(".")[2], given[1:]
    elif not may_run(call):
        return
    callee = anatomy.facts.slots.callee(call)
    named = bool(_RUNS.search(name)) and not _OTHER.search(name)
    if _skips_done(callee) or not (named or (callee is not None and _runs_all(anatomy, callee))):
        return
    for value in given:
        way = identity.of(value) if anatomy.facts.is_kind(value, Kind.CALLS) else None
        if way is not None:
            yield Batch(call, value, way, name, True, callee is not None)


def _runs_all(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function that gets calls hands what is written in them to a tool, or to what nobody sees; to all."""
    inside = (call for each in anatomy.calls.reachable(function) for call in each.nodes_of(cst.Call))
    return any(_takes_arguments(anatomy, call) for call in inside)


def _skips_done(function: Scope | None) -> bool:
    """Whether a function looks which calls are done already: `if call.id in done: continue`."""
    tests = function.nodes_of(cst.Comparison) if function is not None else []
    return any(
        isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn))
        and (pair := ex.member(node.left)) is not None
        and pair[1] in IDS
        for node in tests
    )


def _takes_arguments(anatomy: Anatomy, call: cst.Call) -> bool:
    facts = anatomy.facts
    if not may_run(call) or facts.decoder(call) or facts.encoder(call):
        return False
    own = facts.slots.callee(call)
    given = [part for arg in call.args for part in walk(arg.value) if isinstance(part, cst.BaseExpression)]
    spread = any(arg.star == "**" for arg in call.args)
    return (own is None or spread or own in anatomy.tools) and any(
        Kind.ARGUMENTS in facts.kinds(part)
        or ((pair := ex.member(part)) is not None and pair[1] in _WRITTEN and facts.is_kind(pair[0], Kind.CALL))
        for part in given
    )
