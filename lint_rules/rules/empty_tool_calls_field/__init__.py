"""# empty-tool-calls-field (AGL604)

## What it does
Reports `"tool_calls"` set on every assistant message, also on those of replies that have no calls.

## Why is this bad
OpenAI-compatible servers refuse an empty list (and null) under `tool_calls` with a 400: "[] is too short", "expected an
array with minimum length 1". The first plain answer is stored with one, and from then on every request fails.

## Symptoms
- the first question works, the second one fails with a 400
- OpenAI: `Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty
  array instead.`
- Qwen: `Empty tool_calls is not supported in message`

## Example
```python
def run(provider, messages, tools, execute):
    for _ in range(20):
        reply = provider.chat(messages=messages, tools=tools)
        messages.append({"role": "assistant", "content": reply.content, "tool_calls": reply.tool_calls})
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(provider, messages, tools, execute):
    for _ in range(20):
        reply = provider.chat(messages=messages, tools=tools)
        said = {"role": "assistant", "content": reply.content}
        if reply.tool_calls:
            said["tool_calls"] = reply.tool_calls
        messages.append(said)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## How it decides
The field is set in a dict from the calls of a reply, themselves or one by one, or from what is put together of its
pieces; the message goes into a history that is sent again. That there may be none shows the program, which asks only
behind that whether there are calls, or the list: it begins empty and may get nothing, or has some of the calls only.
`x or None` and `x if x else None` count as well: the request has the field then, as null. So does what puts stored
messages into the form in which they are sent. A condition before the message, and code that takes the field out again,
or leaves out what is empty, keep the rule silent; so does a function of the project that gives the reply, where it
raises for one without calls.

## Known problems
A wrapper of another file may leave out empty lists before it sends them. The client of Ollama does, and is silent.

## Fix safety
Unsafe: the field is set only when there are calls. Code that reads `message["tool_calls"]` without `.get` would fail.

## References
- OpenAI API reference, chat completions: `tool_calls` of an assistant message
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import describe
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.empty_tool_calls_field.empty_calls import empty_calls
from lint_rules.rules.empty_tool_calls_field.fixes import repair
from lint_rules.syntax import expressions as ex

_ASKS = "only here the program asks whether there are calls"
_CURE = "set the field only when there are calls"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in empty_calls(anatomy):
        name = ex.source(found.calls, 40)
        none = any(ex.dotted(part) == "None" for part in ex.alternatives(found.element.value))
        what, value = ("null as its `tool_calls`", "that") if none else ("an empty `tool_calls`", f"`{name}` = []")
        message = (
            f"a reply without tool calls is stored with {what}: the API refuses {value}"
            " with a 400, in this request and in all later ones"
        )
        asked = isinstance(found.shows, cst.If)
        notes = [Note(found.shows, _ASKS if asked else "nothing may be in it from here on")]
        if found.stored is not None and found.stored.slot is not None and found.stored.node is not found.element:
            notes.append(Note(found.stored.node, f"the message goes into `{describe(found.stored.slot)}`"))
        yield Draft(found.element, message, _CURE, tuple(notes), fix=repair(anatomy, found))
