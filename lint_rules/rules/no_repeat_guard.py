"""# no-repeat-guard (AGL901)

## What it does
Reports a loop of rounds that runs the model's tool calls, in which nothing notices that a call comes again.

## Why is this bad
A model that does not understand a result asks for it again, the same way. Nothing stops it but the limit of rounds:
the tool runs each time, a message is sent to the user fifteen times, and each round costs a request.

## Symptoms
- my agent repeats the same call

## Example
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    rounds = []
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        wanted = [(call.name, call.input) for call in calls]
        rounds.append(wanted)
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if rounds.count(wanted) == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
Opt-in: a limit of rounds may be guard enough. The loop asks a model and handles its tool calls; in it, and in the
functions of the file that it calls, nothing that is made of tool calls is compared with anything that was carried on
from an earlier round or is read from the history. A function of another file that gets the calls, and whose answer
decides about leaving the loop or is named like a guard, is taken for one.

## Known problems
Guards in tools, or in wrappers around them in other files, are not seen.

## Fix safety
There is no fix: what makes two calls the same, and what to tell the model then, is for a person to say.

## References
- Anthropic, building effective agents: stopping conditions keep control of an agent
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.identity import Identity
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk_scope

_HELP = "keep name and parsed arguments of each call, and tell the model, or stop, when one comes again and again"
_COUNTERS = frozenset({"range", "count", "repeat", "trange"})
_KEEPERS = frozenset({"append", "extend", "add"})
_ASKED = frozenset({Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})
_HANDLING = frozenset({cst.For, cst.CompFor, cst.Call, cst.Comparison})
_OF_CALLS = frozenset({Kind.CALLS, Kind.CALL, Kind.FUNCTION, Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})


def check(anatomy: Anatomy) -> Iterator[Draft]:
    loops = [loop for loop in anatomy.rounds if _repeats(loop.node)]
    guards = {guard.function for guard in anatomy.guards.all if guard.carried} if loops else set()
    handling = _Handling(anatomy)
    asking: dict[Scope, bool] = {}
    for loop in loops:
        reached = anatomy.calls.reachable(loop.function)
        if not guards.isdisjoint(reached):
            continue
        handled = handling.within(loop)
        for function in reached - asking.keys() if handled is not None else ():
            asking[function] = _asks_a_guard(anatomy, function)
        if handled is None or any(asking[function] for function in reached):
            continue
        message = "nothing notices that the model asks for the same calls again: they run round after round"
        yield Draft(loop.node, message, _HELP, (Note(handled, "the tool calls are handled here"),))


def _repeats(loop: cst.While | cst.For) -> bool:
    """Not a walk over things, each with a request of its own, not a retry, not one statement that takes samples."""
    if len(loop.body.body) == 1 and isinstance(loop.body.body[0], cst.SimpleStatementLine):
        return False
    if isinstance(loop, cst.For) and not (isinstance(loop.iter, cst.Call) and ex.called_name(loop.iter) in _COUNTERS):
        return False
    attempt = next((line for line in loop.body.body if isinstance(line, cst.Try)), None)
    if attempt is None:
        return True
    last = attempt.body.body[-1] if attempt.body.body else None
    return not (isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], (cst.Return, cst.Break)))


class _Handling:
    """Where calls are handled: in the functions of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._identity = Identity(anatomy.facts)
        self._pieces: dict[Scope, list[cst.For]] = {}
        self._first: dict[Scope, cst.CSTNode | None] = {}

    def within(self, loop: RoundLoop) -> cst.CSTNode | None:
        """Where a round goes through the calls of a reply, or hands their arguments to a tool."""
        module, graph = self._anatomy.module, self._anatomy.calls
        here = self._handled(loop.function, module.those_inside(loop.function.nodes, loop.node.body))
        if here is not None:
            return here
        sites = module.placed_inside(graph.calls[loop.function], loop.node.body, lambda site: site.node)
        reached = {function for callee in {site.callee for site in sites} for function in graph.reachable(callee)}
        for function in sorted(reached - {loop.function}, key=lambda function: module.order[function.node]):
            if function not in self._first:
                self._first[function] = self._handled(function, function.nodes)
            if self._first[function] is not None:
                return self._first[function]
        return None

    def _handled(self, function: Scope, nodes: Sequence[cst.CSTNode]) -> cst.CSTNode | None:
        """The first of some nodes of a function that handles calls."""
        module, facts = self._anatomy.module, self._anatomy.facts
        pieces = self._pieces_in(function)
        for node in nodes:
            if type(node) not in _HANDLING or any(module.inside(node, piece) for piece in pieces):
                continue  # pieces of a stream are put together or shown, not run
            if isinstance(node, (cst.For, cst.CompFor)) and Kind.CALLS in facts.kinds(node.iter):
                return node
            if isinstance(node, cst.Call) and ex.called_name(node) not in _KEEPERS and facts.decoder(node) is None:
                if any(_ASKED & set(facts.kinds(arg.value)) for arg in node.args):
                    return node
            if isinstance(node, cst.Comparison) and _is_tool_use(node):
                return node
        return None

    def _pieces_in(self, function: Scope) -> list[cst.For]:
        """The loops over the pieces of a stream."""
        if function not in self._pieces:
            loops = function.nodes_of(cst.For)
            self._pieces[function] = [loop for loop in loops if "delta" in (self._identity.of(loop.iter) or ())]
        return self._pieces[function]


def _is_tool_use(node: cst.Comparison) -> bool:
    """`block.type == "tool_use"`."""
    left, _, right = ex.compared(node)
    pair = ex.member(left)
    return pair is not None and pair[1] == "type" and ex.text(right) in {"tool_use", "function_call"}


def _asks_a_guard(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function of another file gets calls, and its answer decides about leaving."""
    for node in function.nodes_of(cst.Call):
        if anatomy.facts.slots.callee(node) is not None:
            continue
        if not any(_OF_CALLS & set(anatomy.facts.kinds(arg.value)) for arg in node.args):
            continue
        test = next(
            (n for n in anatomy.module.ancestors(node) if isinstance(n, (cst.If, cst.BaseSmallStatement))), None
        )
        if isinstance(test, cst.If) and anatomy.module.inside(node, test.test):
            if any(isinstance(inside, (cst.Break, cst.Return, cst.Raise)) for inside in walk_scope(test.body)):
                return True
    return False
