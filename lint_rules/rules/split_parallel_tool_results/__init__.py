"""# split-parallel-tool-results (AGL613)

## What it does
Reports a loop that makes one user message for each tool result, where the API wants all results of a round in one.

## Why is this bad
A model may ask for several tools in one reply. Bedrock and Gemini then want one message with all results, and refuse a
history in which the first message behind the calls answers only one of them. Anthropic joins the messages, and says
that a history of this form teaches the model to ask for one tool at a time.

## Symptoms
- it works until the model calls two tools at once
- the model calls one tool at a time, and never several
- Bedrock: `Expected toolResult blocks at messages.2.content for the following Ids: tooluse_...`
- Gemini: `Please ensure that the number of function response parts is equal to the number of function call parts of
  the function call turn.`

## Example
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        response = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        messages.append({"role": "assistant", "content": response.content})
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            return response
        for call in calls:
            result = {"type": "tool_result", "tool_use_id": call.id, "content": execute(call.name, call.input)}
            messages.append({"role": "user", "content": [result]})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        response = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        messages.append({"role": "assistant", "content": response.content})
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            return response
        results = []
        for call in calls:
            result = {"type": "tool_result", "tool_use_id": call.id, "content": execute(call.name, call.input)}
            results.append(result)
        messages.append({"role": "user", "content": results})
    raise RuntimeError("too many rounds")
```

## How it decides
A loop or comprehension stores, for each thing it goes through, a message whose content is a list of exactly one tool
result made of that thing: a `tool_result` block (Anthropic), a `toolResult` (Bedrock), a function response (Gemini).
The result may be made elsewhere: by a function of the project that gives back results, whatever else it does. The list
may have a name: one result is in it if, on each way to where the next is put, it is begun anew. This includes adapters
that turn tool messages of another form into these. Silent where results are joined: added to the last message, or
merged by a function that gets the list and holds roles of neighbours against each other, or groups by role (whatever it
is called; one that cannot be read may do so, if its result takes the list's place and can be sent); where the loop ends
with its first result, where each result has its own assistant message, and where parallel calls are switched off.

## Known problems
Messages that a method of an object from another file joins, in a list that it keeps itself, are reported.

## Fix safety
Unsafe: where the loop over the calls appends the message itself, written out, it collects the results in a list, and
one message with all of them is appended behind the loop. There is no fix where the loop reads the history or stores
something else in it, returns, or yields: then the place of the message depends on that.

## References
- Anthropic documentation, parallel tool use: send all tool results in one user message
- Amazon Bedrock, Converse API: all `toolResult` blocks of a turn stand in the next user message
- Gemini API, parallel function calling: as many function response parts in the turn as there were function calls
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.split_parallel_tool_results.fixes import repair
from lint_rules.rules.split_parallel_tool_results.split_results import SplitResult, split_results
from lint_rules.syntax import expressions as ex

_HELP = "collect the results of the round in a list, and store one message with all of them behind the loop"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for split in split_results(anatomy):
        message = f"each tool result becomes a message of its own: {_harm(split)}"
        notes = [Note(split.loop, "once for each")]
        if not anatomy.module.inside(split.part, split.loop):
            notes.append(Note(split.part, "the result is made here"))
        yield Draft(split.node, message, _HELP, tuple(notes), fix=repair(anatomy, split))


def _harm(split: SplitResult) -> str:
    """What the API does, told by the form of the result."""
    items = ex.dict_items(split.part)
    if not isinstance(split.part, (cst.Dict, cst.Call)):
        return "APIs that take results as parts want all of a round in one message, and some refuse anything else"
    if "toolResult" in items:
        return "Bedrock wants all results of a round in one message, and refuses several calls answered so"
    if "tool_use_id" in items or "ToolResultBlock" in ex.source(split.part, 60):
        return "Anthropic wants all results of a round in one message, or the model stops calling tools in parallel"
    return "Gemini wants all results of a round in one message, and refuses several calls answered so"
