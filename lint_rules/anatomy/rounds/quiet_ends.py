"""Where a loop of rounds ends without a word as a request has failed, or gave nothing."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import tells_calls
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate, truth
from lint_rules.syntax.walk import children, last_statement, walk, walk_scope

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

    `asks` says what a request is; by default what asks a model in this file. It may be begun before, and awaited here.
    """
    for node in walk_scope(guard.body):
        call = _begun(anatomy, node) if type(node) is cst.Await else node
        if type(call) is cst.Call and (asks or anatomy.calls.asks)(call):
            inner = exceptions.guards(anatomy.module, node, guard)
            if not any(_keeps(anatomy, each, handler, guard) for each in inner for handler in each.handlers):
                return call
    return None


def _begun(anatomy: Anatomy, awaiting: cst.Await) -> cst.BaseExpression | None:
    """What was called before and is awaited here: `await asyncio.wait_for(asked, 20)` behind `asked = ask(log)`."""
    value = awaiting.expression
    parts = ex.positional(value) if isinstance(value, cst.Call) else [value]
    made = (anatomy.assigned(part) for part in parts if isinstance(part, cst.Name))
    return next((each for each in made if isinstance(each, cst.Call)), None)


def _keeps(anatomy: Anatomy, guard: cst.Try, handler: cst.ExceptHandler, outer: cst.Try) -> bool:
    """Whether a handler takes what a failed request raises, and does not just raise it again: it may tell of it.

    All of that, as far as the handlers of an `outer` one take it.
    """
    taken = exceptions.caught(handler)
    if not any(exceptions.is_covered(name, taken) for each in outer.handlers for name in exceptions.caught(each)):
        return False
    is_raised = handlers.handle(anatomy.module, guard, handler).ending is Ending.RERAISES
    tells = any(type(node) is cst.Call and handlers.is_logging(node) for node in walk(handler.body))
    return takes_failures(anatomy, handler) and (tells or not is_raised)


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
    """The `if not reply: break` that takes the neutral value for an end, without a word.

    `names` have that value, or are methods (`reply.get`) that find nothing in it.
    """
    order = anatomy.module.order
    names = names | _empty_with(anatomy, function, names, after)
    done = Counter(ex.source(call) for call in function.nodes_of(cst.Call))
    texts = function.nodes_of(cst.SimpleString, cst.FormattedString)
    again = Counter(ex.source(value) for value in function.returned)  # what is given back at other ends, too
    words = Counter(ex.source(text) for text in texts if not handlers.is_neutral(text))
    for node in function.nodes:
        body = _taken(node, names) if type(node) is cst.If and order[node] > order[after] else None
        if body is None:
            continue
        last = last_statement(body)
        calls = (n for n in _done_with(body, names) if type(n) is cst.Call and ex.dotted(n.func) not in names)
        quiet = all(done[ex.source(call)] > 1 for call in calls)  # what is done at other ends, too, tells nothing
        quiet = quiet and not any(isinstance(n, cst.Raise) for n in walk(body))
        set_there = (left for n in walk(body) if isinstance(n, cst.Assign) for left in _left(n.value, names))
        quiet = quiet and all(words[ex.source(left)] != 1 for left in set_there)
        ends = isinstance(last, (cst.Break, cst.Return)) or ends_by_flag(anatomy, last)
        if quiet and ends and not anatomy.module.inside(node, after):
            given = _left(last.value, names) if isinstance(last, cst.Return) else ()
            known = isinstance(last, cst.Return) and last.value is not None and again[ex.source(last.value)] > 1
            if not known and not all(handlers.is_neutral(value) or type(value) is cst.Name for value in given):
                return None
            loop = anatomy.module.loop_around(node, own=True)
            if isinstance(last, cst.Return) or not told_after(anatomy, loop, function):
                return last
        return None
    return None


def _taken(test: cst.If, names: set[str]) -> cst.BaseSuite | None:
    """Where a test leads to that holds, or does not, because there is no reply."""
    if _asks_for_nothing(test.test, names):
        return test.body
    denied = isinstance(test.orelse, cst.Else) and evaluate(test.test, partial(_of_nothing, names)) is False
    return test.orelse.body if denied and isinstance(test.orelse, cst.Else) else None


def ends_by_flag(anatomy: Anatomy, last: cst.CSTNode | None) -> bool:
    """`finished = True` in `while not finished`."""
    if not isinstance(last, cst.Assign) or not isinstance(last.targets[0].target, cst.Name):
        return False
    flag, loop = last.targets[0].target.value, anatomy.module.loop_around(last, own=True)
    value = {"True": True, "False": False}.get(ex.dotted(last.value) or "")
    return value is not None and isinstance(loop, cst.While) and truth(loop.test, {flag: value}) is False


def _asks_for_nothing(test: cst.BaseExpression, names: set[str]) -> bool:
    """`not reply`, `reply is None or not reply.calls`: what holds where there is no reply."""
    return evaluate(test, partial(_of_nothing, names)) is True


def _of_nothing(names: set[str], part: cst.BaseExpression) -> bool | None:
    """What a part of a test gives where a name has a neutral value."""
    if isinstance(part, cst.Call):
        kept = all(map(handlers.is_neutral, ex.positional(part)[1:]))
        return False if kept and ex.dotted(part.func) in names else None
    return handlers.of_nothing(lambda each: isinstance(each, cst.Name) and each.value in names, part)


def _empty_with(anatomy: Anatomy, function: Scope, names: set[str], after: cst.CSTNode) -> set[str]:
    """The names that are set to nothing where names are neutral: `calls = reply.calls if reply else []`."""
    found: set[str] = set()
    for node in function.nodes_of(cst.Assign):
        value, none = ex.inner(node.value), names | found
        if anatomy.module.order[node] > anatomy.module.order[after]:
            parts = _left(value, none) if isinstance(value, (cst.IfExp, cst.BooleanOperation)) else (value,)
            if all(handlers.is_neutral(part) or _goes_through(part, none) for part in parts):
                found.update(name for target in node.targets for name in ex.target_names(target.target))
    return found


def _goes_through(value: cst.BaseExpression, names: set[str]) -> bool:
    """`[part for part in reply if ...]`: there is none where there is no reply."""
    source = value.for_in.iter if isinstance(value, (cst.ListComp, cst.GeneratorExp)) else None
    return isinstance(source, cst.Name) and source.value in names


def _done_with(body: cst.BaseSuite, names: set[str]) -> Iterator[cst.CSTNode]:
    """What is evaluated in a block where names are neutral: not the other side of a choice."""
    stack: list[cst.CSTNode] = [body]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.IfExp) and (there := evaluate(node.test, partial(_of_nothing, names))) is not None:
            stack.append(node.body if there else node.orelse)
            continue
        yield node
        stack.extend(children(node))


def _left(value: cst.BaseExpression | None, names: set[str]) -> Iterator[cst.BaseExpression]:
    """What an expression may be where names are neutral: `""` of `reply.text if reply else ""`."""
    value = ex.inner(value) if value is not None else None
    if isinstance(value, cst.IfExp):
        there = evaluate(value.test, partial(_of_nothing, names))
        yield from _left(value.body, names) if there is not False else ()
        yield from _left(value.orelse, names) if there is not True else ()
    elif isinstance(value, cst.BooleanOperation):
        there = evaluate(value.left, partial(_of_nothing, names))
        is_right = there is isinstance(value.operator, cst.And)
        yield from _left(value.left, names) if there is None or not is_right else ()
        yield from _left(value.right, names) if there is None or is_right else ()
    elif value is not None and not (isinstance(value, cst.Name) and value.value in names):
        yield value
