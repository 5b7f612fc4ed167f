"""# tools-rerun-on-error (AGL408)

## What it does
Reports an `except` that runs the tool calls of a message again which the `try` may have run already, loops that try
all calls of one message again, and turns that begin anew after an error, though their tools have run.

## Why is this bad
When one tool fails, the others have done their work: the mail is sent, the order is placed. Running the whole message
again, one after the other or in the next attempt, does it twice. The model is told of one success.

## Symptoms
- a mail is sent twice, an order is placed twice
- when one tool fails, all run again

## Example
```python
import asyncio


async def answer(message, messages, run_tool):
    try:
        results = await asyncio.gather(*(run_tool(call) for call in message.tool_calls))
    except Exception:
        results = [await run_tool(call) for call in message.tool_calls]
    for call, result in zip(message.tool_calls, results):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
```

## Use instead
```python
import asyncio


async def answer(message, messages, run_tool):
    results = await asyncio.gather(*(run_tool(call) for call in message.tool_calls), return_exceptions=True)
    for call, result in zip(message.tool_calls, results):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
```

## How it decides
Both places run the same list of calls, by the same function, or each by a function that gets the whole list: of one
whose body is in this file that must hand on what is written in the calls, and must not look which are done. A loop of
attempts, or a `while`, counts when the list comes from outside it and the handler does not leave it. Handlers that
answer the calls with the error, that go on with what is left, or that catch what is raised before any tool runs (no
event loop, nothing of that name) are right, and so is asking the model again, or trying one call again. A handler of
RuntimeError is about the event loop only if the tools run where that is taken. A turn is reported that begins anew: one
whose rounds store results of tools in a list that it makes itself, or a run of the agent of a library that has tools
(LangChain, LangGraph, Pydantic AI, the Agents SDK), where a handler leads to the same question once more, by the same
function, by another one that has such rounds, also one of the same name where what is asked first is only known by its
base class, or by a decorator that tries again (`retry`, `backoff`). What goes on from messages that are still there,
with one more of them, or in a thread that the library keeps, is right, and so is a turn whose requests never fail
behind the results, as their errors are handled within the rounds.

## Known problems
Whether a tool has effects is not known: reading twice does no harm.

## Fix safety
There is no fix: which calls have run is known only at run time.

## References
- Python documentation, `asyncio.gather`: without `return_exceptions`, the other awaitables go on when one fails
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.uses import may_run
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program.handlers import retries
from lint_rules.anatomy.rounds.agent_runs import runs_agent
from lint_rules.anatomy.values.identity import Identity
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.tools_rerun_on_error.batches import Batch, batches
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, decorators, parameters
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.walk import walk_scope

_HELP = (
    "let each call end in a result or an error of its own (`gather(..., return_exceptions=True)`), and tell the model"
)
_BEFORE = frozenset(
    {"RuntimeError", "ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "NotImplementedError"}
)
"""Errors that say that the first way does not exist here, not that a tool has failed."""

_AGAIN = (
    "the turn of `{name}` begins anew after an error, also one behind tools that have run: the model is not told"
    " of them, and calls them once more"
)
_HELP_TURN = "try the request again, not the turn; or go on from the messages of the turn that failed"
_CONSTANTS = {"True", "False", "None"}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    identity = Identity(anatomy.facts)
    for guard in anatomy.module.nodes_of(cst.Try):
        tried = list(batches(anatomy, identity, guard.body))
        if tried:
            found = _again(anatomy, identity, guard, tried) or _next_attempt(anatomy, guard, tried)
            if found is not None:
                yield found
    yield from _turns(anatomy)


def _again(anatomy: Anatomy, identity: Identity, guard: cst.Try, tried: list[Batch]) -> Draft | None:
    """The same calls in a handler."""
    for handler in guard.handlers:
        if _tells_done_apart(handler):
            continue
        raised = [first for first in tried if _may_raise(anatomy, guard, handler, first)]
        for second in batches(anatomy, identity, handler.body) if raised else ():
            for first in raised:
                if first.way != second.way or _is_made_in(anatomy, handler, second):
                    continue
                if first.runner == second.runner or (first.whole and second.whole) or first.seen or second.seen:
                    message = (
                        f"`{second.runner}` runs the calls again that `{first.runner}` may have run before the error:"
                        " what they do is done twice"
                    )
                    return Draft(second.node, message, _HELP, (Note(first.node, "the calls are run here first"),))
    return None


def _may_raise(anatomy: Anatomy, guard: cst.Try, handler: cst.ExceptHandler, first: Batch) -> bool:
    """Whether what a handler catches may come out of the tools.

    A RuntimeError tells that an event loop runs, or none does; and so does a tool that raises one, where nothing takes
    it. What runs in a loop that runs already cannot be run again.
    """
    names = exceptions.caught(handler)
    if not names <= _BEFORE:
        return True
    called = {ex.called_name(node) for node in walk_scope(guard.body) if isinstance(node, cst.Call)}
    callee = anatomy.facts.slots.callee(first.node)
    if "RuntimeError" not in names or "get_running_loop" in called or callee is None:
        return False
    running = [call for function in anatomy.calls.may_run(callee) for call in function.nodes_of(cst.Call)]
    if any(ex.keywords(call).get("return_exceptions") is not None for call in running):
        return False
    return any(_runs_tool(anatomy, call) and not _is_taken(anatomy, call) for call in running)


def _runs_tool(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a function that this file does not define gets the arguments of a call."""
    facts = anatomy.facts
    if facts.slots.callee(call) is not None or not may_run(call) or facts.decoder(call) or facts.encoder(call):
        return False
    return any(Kind.ARGUMENTS in facts.kinds(arg.value) for arg in call.args)


def _is_taken(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a handler around a call takes a RuntimeError."""
    guards = exceptions.guards(anatomy.module, call)
    return any(exceptions.handler_for(guard, frozenset({"RuntimeError"})) for guard in guards)


def _tells_done_apart(handler: cst.ExceptHandler) -> bool:
    """Whether a handler looks which calls are done: `if call.id in done`, `pending`."""
    return any(
        isinstance(node, cst.ComparisonTarget) and isinstance(node.operator, (cst.In, cst.NotIn))
        for node in walk_scope(handler.body)
    )


def _next_attempt(anatomy: Anatomy, guard: cst.Try, tried: list[Batch]) -> Draft | None:
    """The same calls in the next turn of a loop of attempts."""
    loop = next((outer for outer in anatomy.module.ancestors(guard) if isinstance(outer, _AROUND)), None)
    if not isinstance(loop, cst.While) and not (isinstance(loop, cst.For) and _is_attempts(loop)):
        return None
    graph = anatomy.flow(anatomy.module.scope_of[guard].function)
    headers = graph.at(loop)
    back = [
        handler
        for handler in guard.handlers
        if not exceptions.caught(handler) <= _BEFORE
        and graph.reaches(graph.at(handler), headers, exceptions=False)
        and not _tells_done_apart(handler)
    ]
    if not back or _is_made_in(anatomy, loop, tried[0]):
        return None
    first = tried[0]
    message = (
        f"the next attempt runs all calls of the message again, also those that `{first.runner}` ran before the error:"
        " what they do is done twice"
    )
    notes = (Note(back[0], "after an error, the loop goes round again"), Note(loop, "the attempts"))
    return Draft(first.node, message, _HELP, notes)


_AROUND = (cst.For, cst.While, cst.FunctionDef, cst.Lambda, cst.ClassDef)


def _counts(definition: Definition) -> bool:
    """Whether a name is the number of an attempt."""
    loop = definition.point.statement
    return definition.kind == "for" and isinstance(loop, cst.For) and _is_attempts(loop)


def _is_attempts(loop: cst.For | cst.While) -> bool:
    """`for attempt in range(n)`: a loop that counts."""
    return isinstance(loop, cst.For) and isinstance(loop.iter, cst.Call) and ex.dotted(loop.iter.func) == "range"


def _is_made_in(anatomy: Anatomy, region: cst.CSTNode, batch: Batch) -> bool:
    """Whether the list of calls, or the reply that it belongs to, is a new one in a loop or handler."""
    root = batch.way[0]
    bound = anatomy.definitions(batch.calls) if isinstance(batch.calls, cst.Name) else []
    if bound and not any(anatomy.module.inside(one.value or batch.calls, region) for one in bound):
        return False
    if root[0] == "call":
        return isinstance(root[1], cst.CSTNode) and anatomy.module.inside(root[1], region)
    return any(anatomy.module.inside(value, region) for value in anatomy.facts.assigned(root))


# -- whole turns --------------------------------------------------------------------------------------------------


def _turns(anatomy: Anatomy) -> Iterator[Draft]:
    """Turns that begin anew after an error: their rounds have run tools, of which the next one knows nothing."""
    for guard in anatomy.module.nodes_of(cst.Try):
        turns = {ex.called_name(call): (ran, there) for call, ran, there in _turns_in(anatomy, guard)}
        tried = (node for node in walk_scope(guard.body) if isinstance(node, cst.Call)) if turns else ()
        first = next((call for call in tried if ex.called_name(call) in turns), None)
        for handler in guard.handlers:
            before = first is None or exceptions.caught(handler) <= _BEFORE
            again = _begun_again(anatomy, handler, first) if first is not None and not before else None
            if first is not None and again is not None:
                ran, there = turns[ex.called_name(first)]
                notes = (Note(handler, "an error of it ends here"), Note(ran, "its tools run here", there.module))
                yield Draft(again, _AGAIN.format(name=ex.called_name(first)), _HELP_TURN, notes)
                break
    for function in anatomy.module.functions:
        retrying = next((d for d in decorators(function) if retries(d)), None)
        ran_here = _run_anew(anatomy, function) if retrying is not None else None
        if retrying is not None and ran_here is not None:
            note = Note(ran_here, "its tools run here")
            yield Draft(retrying, _AGAIN.format(name=function.name), _HELP_TURN, (note,))


def _turns_in(anatomy: Anatomy, block: cst.CSTNode) -> Iterator[tuple[cst.Call, cst.CSTNode, Anatomy]]:
    """The calls in a block that run a turn of their own, each with where it stores a result, and in which file."""
    for call in (node for node in walk_scope(block) if isinstance(node, cst.Call)):
        there, run = body(anatomy, call, asking=True) or (anatomy, None)
        ran = _run_anew(there, run) if run is not None else (call if _runs_anew(anatomy, call) else None)
        if ran is not None:
            yield call, ran, there


def _run_anew(anatomy: Anatomy, function: Scope) -> cst.CSTNode | None:
    """Where a function stores a result of a tool between two requests, in a list that it makes for its own run."""
    inside = {each for each in anatomy.calls.reachable(function) if anatomy.turns.fails_out(each)}
    for loop in anatomy.rounds:
        if loop.function not in inside:
            continue
        given = {p.name.value for p in parameters(loop.function)}
        for stored in anatomy.transcript.stored(loop.function):
            own = stored.slot is not None and stored.slot[:2] == ("var", loop.function) and stored.slot[2] not in given
            if stored.answers and own and anatomy.module.inside(stored.node, loop.node):
                if anatomy.turns.fails_behind(loop.function, stored.node):
                    return stored.node
    runs = (call for here in inside for call in here.nodes_of(cst.Call) if _runs_anew(anatomy, call))
    return next(runs, None)


def _runs_anew(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call runs the agent of a library, tools and all, and in no conversation that this or others keep."""
    function, kept = anatomy.module.scope_of[call].function, anatomy.conversations
    return runs_agent(anatomy, call) and kept.named(call, function) is None and kept.held(call, function) is None


def _begun_again(anatomy: Anatomy, handler: cst.ExceptHandler, tried: cst.Call) -> cst.Call | None:
    """The turn that a handler leads to, with something that the one before was asked, and nothing that is asked anew.

    The number of the attempt is no question.
    """
    function = anatomy.module.scope_of[tried].function
    asked = {ex.source(arg.value) for arg in tried.args if names_in(arg.value) - _CONSTANTS}
    later = [
        call for call, _, _ in _turns_in(anatomy, function.node) if asked & {ex.source(a.value) for a in call.args}
    ]
    graph, reaching = anatomy.flow(function), anatomy.reaching(function)
    grown = [one for one in anatomy.transcript.stored(function) if one.slot is not None and one.node is not tried]
    for call in later:
        goals = anatomy.points(function, [call])
        read = {node.value for arg in call.args for node in walk_scope(arg.value) if isinstance(node, cst.Name)}
        renewed = {d.point for d in reaching.definitions if d.name in read and not _counts(d)}
        parts = [part for arg in call.args for part in walk_scope(arg.value) if isinstance(part, cst.BaseExpression)]
        sent = {anatomy.facts.slots.of(part) for part in parts}
        renewed.update(anatomy.points(function, [one.node for one in grown if one.slot in sent]))
        if graph.reaches(graph.at(handler), set(goals), renewed, exceptions=False):
            return call
    return None
