"""# reordered-tool-result (AGL609)

## What it does
Reports a message of the user or the system that is stored between a tool call and its result, or between the results of
one round.

## Why is this bad
The APIs want the results of a round right behind the message with the calls, and nothing in between. They refuse the
history with an error 400: tool calls "must be followed by tool messages". With one call a round all may seem well; the
first reply with two calls ends the chat.

## Example
```python
def run(client, messages, tools, execute, screenshot):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
            messages.append({"role": "user", "content": [{"type": "image_url", "image_url": screenshot()}]})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute, screenshot):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
        messages.append({"role": "user", "content": [{"type": "image_url", "image_url": screenshot()}]})
    raise RuntimeError("too many rounds")
```

## How it decides
On the control-flow graph: from the place where a reply with calls is stored, a path leads over the other message to the
place where a result is stored in the same history, without a request in between; or, in a loop over calls, from one
result over the other message to the next result. Results of OpenAI (chat completions), Anthropic, Gemini, Bedrock and
LangChain are known. Messages and results of helper functions of the file count at their call.
What a LangChain hook returns for `after_model` is stored before the tools run; a message of its own is reported, unless
the hook looks at the `tool_calls` of the reply.

## Known problems
The Responses API and Ollama do not mind the order: where the
code shows that it is them, nothing is said. Where each program run has one call a round, nothing goes
wrong; unless parallel calls are switched off in the file, it is reported. Histories that another file puts in order
before they are sent are reported, too.

## Fix safety
There is no fix: whether the message belongs before the call or behind the results is the author's choice.

## References
- OpenAI API reference: tool messages follow the assistant message with `tool_calls`, one for each `tool_call_id`
- Anthropic documentation, tool use: `tool_result` blocks come first, directly after the `tool_use` message
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.open_ends import OpenEnds, mended
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.calls.waiting import call_headers, stored_calls
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.rounds.model_hooks import stored_behind_calls
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk_scope

_READERS = frozenset({"len", "print", "list", "dumps", "deepcopy", "copy", "enumerate", "reversed", "str", "extend"})
_HELP = "store the results of the round first, right behind the message with the calls, then this message"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    hooks = dict(stored_behind_calls(anatomy))  # the async hook often shares its body
    for other, hook in hooks.items():
        message = (
            f"`{hook.name}` runs before the tools do: this message is stored between the tool calls of a reply and"
            " their results, and the API refuses the history"
        )
        cure = "add it in `before_model`, where the results are stored, or only to a reply without `tool_calls`"
        yield Draft(other, message, cure, (Note(hook.node, "the hook that runs after the model"),))
    answers = Answers(anatomy.facts, anatomy.calls)
    if not answers.made or mended(anatomy):
        return
    for function in anatomy.module.functions:
        if function.kind in {"function", "module"}:
            seen: set[cst.CSTNode] = set()
            for draft in _Order(anatomy, answers, function).drafts():
                if draft.node not in seen:
                    seen.add(draft.node)
                    yield draft


class _Order:
    """What a function stores, and on which paths."""

    def __init__(self, anatomy: Anatomy, answers: Answers, function: Scope) -> None:
        self.anatomy = anatomy
        self.answers = answers
        self.function = function
        self._sending: dict[Slot | None, set[Point]] = {}
        stored = anatomy.transcript.stored(function)
        self.results = [s for s in stored if s.answers and s.slot is not None and not _keeps_no_order(s)]
        self.others = [
            s
            for s in stored
            if s.role in {"user", "system"} and not s.answers and s.kind in {"append", "extend"} and not _of_ollama(s)
        ]

    def drafts(self) -> Iterator[Draft]:
        if not self.results or not self.others:
            return
        yield from self._before_results()
        if not one_at_a_time(self.anatomy, self.function):
            yield from self._between_results()

    def _before_results(self) -> Iterator[Draft]:
        """call, other message, result."""
        ends = OpenEnds(self.anatomy, self.answers, self.function)
        for asked in stored_calls(self.anatomy, self.answers, self.function, ends):
            region = asked.region
            goals = self._goals.get(asked.slot)
            if not goals:
                continue
            sent = self._sent(asked.slot) | self._heads(asked.node)
            reached = region.reached(region.starts, goals | sent)
            between = {
                number for p in reached for number, other in self._others_at.get(p, ()) if other.slot == asked.slot
            }
            for other in (self.others[number] for number in sorted(between)):
                here = self._points(other)
                onward = [t for p in here for t, kind in region.edges(p) if kind != "exception" and t in region.inside]
                if goals & region.reached(onward, sent | self._own_headers(other)):
                    message = (
                        f"{_what(other)} is stored between a tool call and its result: the API refuses `{_slot(other)}`"
                    )
                    yield Draft(other.node, message, _HELP, (Note(asked.node, "the calls are stored here"),))

    def _between_results(self) -> Iterator[Draft]:
        """result, other message, next result: in one loop over the calls of a reply."""
        graph = self.anatomy.flow(self.function)
        for loop, headers in self._headers:
            others = [s for s in self.others if self.anatomy.module.inside(s.node, loop.body)]
            answers = [s for s in self.results if others and self.anatomy.module.inside(s.node, loop.body)]
            for other in others:
                results = [p for r in answers if r.slot == other.slot for p in self._points(r)]
                here = self._points(other)
                if graph.reaches(results, here, headers, exceptions=False) and graph.reaches(
                    here, headers, self._sent(other.slot), exceptions=False
                ):
                    place = "between the results of parallel calls"
                    message = f"{_what(other)} is stored {place}: the API refuses `{_slot(other)}`"
                    yield Draft(other.node, message, _HELP, (Note(loop.iter, "the calls of one reply"),))

    @cached_property
    def _goals(self) -> dict[Slot | None, set[Point]]:
        """Where results are stored, by history."""
        found: defaultdict[Slot | None, set[Point]] = defaultdict(set)
        for result in self.results:
            found[result.slot].update(self._points(result))
        return found

    @cached_property
    def _others_at(self) -> dict[Point, list[tuple[int, Stored]]]:
        """What else is stored at a point, each with its place in `others`."""
        found: defaultdict[Point, list[tuple[int, Stored]]] = defaultdict(list)
        for number, other in enumerate(self.others):
            for point in self._points(other):
                found[point].append((number, other))
        return found

    @cached_property
    def _headers(self) -> list[tuple[cst.For, list[Point]]]:
        return list(call_headers(self.anatomy, self.function))

    def _sent(self, slot: Slot | None) -> set[Point]:
        """Points that may send the history: a request, or a call of a function that gets the list."""
        found = self._sending.get(slot)
        if found is None:
            asking, given = self._requests
            found = self._sending[slot] = asking | given.get(slot, set())
        return found

    @cached_property
    def _requests(self) -> tuple[set[Point], dict[Slot | None, set[Point]]]:
        """Points of requests, and by history those of calls that get it."""
        asking: set[Point] = set()
        given: defaultdict[Slot | None, set[Point]] = defaultdict(set)
        for point in self.anatomy.flow(self.function).points:
            for part in point.expressions():
                for node in walk_scope(part):
                    if type(node) is not cst.Call or ex.called_name(node) in _READERS:
                        continue
                    if self.anatomy.calls.asks(node):
                        asking.add(point)
                    for arg in node.args:
                        given[self.anatomy.facts.slots.of(arg.value)].add(point)
        return asking, given

    def _heads(self, node: cst.CSTNode) -> set[Point]:
        """The heads of all loops around a node: behind them it is the next message's turn."""
        graph = self.anatomy.flow(self.function)
        loops = [n for n in self.anatomy.module.ancestors(node) if isinstance(n, (cst.For, cst.While))]
        return {point for loop in loops for point in graph.at(loop)}

    def _own_headers(self, other: Stored) -> set[Point]:
        """The heads of loops over calls around a place: the next call is another one."""
        return {
            header
            for loop, headers in self._headers
            if self.anatomy.module.inside(other.node, loop.body)
            for header in headers
        }

    def _points(self, stored: Stored) -> list[Point]:
        return self.anatomy.flow(self.function).enclosing(stored.node, self.anatomy.module.parent)


def _keeps_no_order(stored: Stored) -> bool:
    """Outputs of the Responses API, which pairs calls and outputs by id alone."""
    node = stored.message.node if stored.message is not None else None
    kind = ex.dict_items(node).get("type") if node is not None else None
    return kind is not None and ex.text(kind) == "function_call_output"


def _of_ollama(stored: Stored) -> bool:
    """A message with pictures in Ollama's form: that API takes messages in any order."""
    return stored.message is not None and "images" in ex.dict_items(stored.message.node)


def _what(stored: Stored) -> str:
    return f"a {stored.role} message"


def _slot(stored: Stored) -> str:
    return describe(stored.slot) if stored.slot is not None else "the history"
