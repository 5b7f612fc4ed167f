"""# reordered-tool-result (AGL609)

## What it does
Reports a message that is no result and is stored between a tool call and its result, or between the results of
one round.

## Why is this bad
The APIs want the results of a round right behind the message with the calls, and nothing in between. They refuse the
history with an error 400: tool calls "must be followed by tool messages". With one call a round all may seem well; the
first reply with two calls ends the chat.

## Symptoms
- 400: tool_calls must be followed by tool messages
- the first reply with two tool calls ends the chat
- OpenAI: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  The following tool_call_ids did not have response messages`
- Anthropic: `` `tool_use` ids were found without `tool_result` blocks immediately after ``
- Gemini: `Please ensure that function response turn comes immediately after a function call turn.`
- Mistral: `Unexpected role 'user' after role 'tool'`

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
LangChain are known. Messages and results of helper functions of the file count at their call; one that stores both, the
result first, in a loop over calls, stores the next result behind the message. Results that wait in a list are followed
to where that is added to the history: past a request, and another reply; in a loop over what a run of the project
tells, in the order in which the run tells it.

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

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.values.slots import describe
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.reordered_tool_result.order import Intruder, Late, Order

_HELP = "store the results of the round first, right behind the message with the calls, then this message"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    answers = Answers(anatomy.facts, anatomy.calls)
    if not answers.made:
        return
    for function in anatomy.module.functions:
        if function.kind in {"function", "module"}:
            seen: set[cst.CSTNode] = set()
            order = Order(anatomy, answers, function)
            yield from map(_late, (*order.late(), *order.told_late()))
            for found in order.intruders():
                if found.stored.node not in seen and not anatomy.mending.reaches({found.stored.slot}):
                    seen.add(found.stored.node)
                    yield _draft(found)


def _late(found: Late) -> Draft:
    message = (
        "these results come behind the next reply: their calls are answered too late, and the API refuses the history"
    )
    notes = (Note(found.reply.node, "the next reply is stored here"), Note(found.result.node, "the results wait here"))
    return Draft(found.node, message, _HELP, notes)


def _draft(found: Intruder) -> Draft:
    stored = found.stored
    history = describe(stored.slot) if stored.slot is not None else "the history"
    where = "the results of parallel calls" if found.between_results else "a tool call and its result"
    article = "an" if stored.role == "assistant" else "a"
    message = f"{article} {stored.role} message is stored between {where}: the API refuses `{history}`"
    note = "the calls of one reply" if found.between_results else "the calls are stored here"
    notes = [Note(found.calls, note)]
    if stored.write is not None and stored.write.node is not stored.node:
        notes.append(Note(stored.write.node, "what is called puts it there"))
    return Draft(stored.node, message, _HELP, tuple(notes))
