"""Where a loop of rounds ends without a word as a request has failed, or gave nothing."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import tells_calls
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import last_statement, walk, walk_scope

_CLIENT_ERROR = re.compile(
    r"^(Base)?Exception$|^(API|OpenAI|Anthropic|RateLimit|LLM|Model|Provider|HTTP|Request|BadRequest|Connection|Service"
    r"|Timeout|Authentication|Gemini|Google|Bedrock|Client|Ollama|Response)\w*(Error|Exception|Timeout)?$"
)
_OF_VALUES = frozenset({"pydantic", "pydantic_core", "jsonschema", "marshmallow", "yaml"})
"""Packages whose errors are about the form of a value, and no request."""


def ends_for_nothing(anatomy: Anatomy, call: cst.Call) -> cst.CSTNode | None:
    """Where a loop of rounds that runs tools ends without a word if a call in it gives nothing."""
    outer, function = anatomy.module.loop_around(call, own=True), anatomy.module.scope_of[call].function
    loop = anatomy.round_at.get(outer) if outer is not None else None
    if loop is None or not runs_tools(anatomy, loop):
        return None
    return tested_for_end(anatomy, function, bound_to(anatomy, call), anatomy.module.statement(call))


@kept
def runs_tools(anatomy: Anatomy, loop: RoundLoop) -> bool:
    """Whether a loop is about tool calls: one that only mends an answer has one already when a request fails."""
    module, facts = anatomy.module, anatomy.facts
    inside = partial(module.nodes_inside, loop.node, loop.function)
    if any(tells_calls(facts, node.test) for node in inside(cst.If, cst.While, cst.CompIf)):
        return True
    return any(
        tells_calls(facts, node.iter) or Kind.CALLS in facts.kinds(node.iter) for node in inside(cst.For, cst.CompFor)
    )


def guarded_request(
    anatomy: Anatomy, guard: cst.Try, asks: Callable[[cst.Call], bool] | None = None
) -> cst.Call | None:
    """The request that a `try` is about: the first one in its body whose error comes so far.

    `asks` says what a request is; by default what asks a model in this file.
    """
    for node in walk_scope(guard.body):
        if type(node) is cst.Call and (asks or anatomy.calls.asks)(node):
            inner = (each for each in exceptions.guards(anatomy.module, node, guard) if isinstance(each, cst.Try))
            if not any(takes_failures(anatomy, handler) for each in inner for handler in each.handlers):
                return node
    return None


def takes_failures(anatomy: Anatomy, handler: cst.ExceptHandler) -> bool:
    """Whether a handler takes what a failed request raises: an error of a library, or what is called like one."""
    if any(_CLIENT_ERROR.match(name) for name in exceptions.caught(handler)):
        return True
    imports = anatomy.module.imports
    known = (name for name in exceptions.classes(handler) if name.partition(".")[0] in imports.full)
    foreign = (name for name in known if anatomy.defined_elsewhere(name, "class") is None)
    packages = {imports.resolve(name).partition(".")[0] for name in foreign}
    return bool(packages - sys.stdlib_module_names - _OF_VALUES - {""})


def told_after(anatomy: Anatomy, loop: cst.CSTNode | None, function: Scope) -> bool:
    """Whether something is raised, logged or asked after the loop: it may be about the error."""
    order = anatomy.module.order
    for node in function.nodes:
        if loop is None or order[node] < order[loop] or anatomy.module.inside(node, loop):
            continue
        if isinstance(node, cst.Raise):
            return True
        if type(node) is cst.Call and (handlers.is_logging(node) or anatomy.calls.asks(node)):
            return True
    return False


def bound_to(anatomy: Anatomy, request: cst.Call) -> set[str]:
    statement = anatomy.module.statement(request)
    if isinstance(statement, cst.Assign):
        return {name for target in statement.targets for name in ex.target_names(target.target)}
    return set()


def tested_for_end(anatomy: Anatomy, function: Scope, names: set[str], after: cst.CSTNode) -> cst.CSTNode | None:
    """The `if not reply: break` that takes the neutral value for an end, without a word."""
    order = anatomy.module.order
    done = Counter(ex.source(call) for call in function.nodes_of(cst.Call))
    for node in function.nodes:
        if type(node) is not cst.If or order[node] < order[after] or not _asks_for_nothing(node.test, names):
            continue
        last = last_statement(node.body)
        calls = (n for n in walk(node.body) if type(n) is cst.Call)
        quiet = all(done[ex.source(call)] > 1 for call in calls)  # what is done at other ends, too, tells nothing
        quiet = quiet and not any(isinstance(n, cst.Raise) for n in walk(node.body))
        if quiet and isinstance(last, (cst.Break, cst.Return)) and not anatomy.module.inside(node, after):
            if isinstance(last, cst.Return) and not (handlers.is_neutral(last.value) or type(last.value) is cst.Name):
                return None
            loop = anatomy.module.loop_around(node, own=True)
            if isinstance(last, cst.Return) or not told_after(anatomy, loop, function):
                return last
        return None
    return None


def _asks_for_nothing(test: cst.BaseExpression, names: set[str]) -> bool:
    """`not reply`, `reply is None`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return isinstance(test.expression, cst.Name) and test.expression.value in names
    if isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, (cst.Is, cst.Equal)):
        other = test.comparisons[0].comparator
        return isinstance(test.left, cst.Name) and test.left.value in names and handlers.is_neutral(other)
    return False
