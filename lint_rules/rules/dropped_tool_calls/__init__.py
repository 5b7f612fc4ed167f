"""# dropped-tool-calls (AGL603)

## What it does
Reports results of tool calls that are stored in the history without the calls they answer: the assistant message is
rebuilt from its text, stored only when it has text, or not stored at all. Also copies of a whole history that keep
role and content of each message only, and messages with calls that have lost what the model thought before them.

## Why is this bad
A result needs the call before it. The API refuses the next request with a 400 ("messages with role 'tool' must be a
response to a preceding message with 'tool_calls'"). Where it does not, the model reads an answer to nothing: it cannot
tell what it asked for, and asks again.

## Symptoms
- 400: a tool message without its tool_calls
- the model asks again for what it got already
- OpenAI: `messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`
- OpenAI: `Invalid parameter: 'tool_call_id' of 'call_...' not found in 'tool_calls' of previous message.`
- OpenAI Responses: `No tool call found for function call output with call_id call_...`
- Anthropic: `` unexpected `tool_use_id` found in `tool_result` blocks ``
- Bedrock: `The number of toolResult blocks at messages.0.content exceeds the number of toolUse blocks of previous
  turn.`

## Example
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append({"role": "assistant", "content": message.content})
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## How it decides
In a function that asks a model and stores results in the list that it sends, itself or through helpers of the file,
a path from the request to the result must pass a message with calls. Reported is the message with nothing but text on
a path without one; the condition on the text that a message with calls is stored under, also in a record that is not
sent; or, where the file stores no message that could have calls, the result. Branches taken only without calls are
right to store the text. A message of which the code does not show what it is, a content that the project puts together
in blocks, and a list handed to a function of another file, count as calls. Known are OpenAI (chat completions and
responses), Anthropic, Gemini, Bedrock, Ollama and LangChain; with `previous_response_id` or `conversation` the server
keeps the calls, and the rule is silent, as it is of rows that no model reads. What a call has given counts as a result,
too, where a message tells it in words of the program, the same request is made again with it, and nothing of the reply
is stored before: not where the message tells its arguments.

A message that is made of role and content of another one, in a loop over a history or by a function that is called
there with each, counts when nothing in the loop asks for its calls or hands it on; the history is known to hold calls
or results, by what this file or one that imports it puts there, or by the fields of its class; and a model that is
offered tools gets it, here or in such a file. One that keeps the id of what it answers is a result, and shows that
there are calls; so does another message of the loop that is made of results only, where the old ones have calls beside
their content. Silent: messages of some roles only; histories in whose content calls and results may stand, or whose
messages have both in one.

A request that switches thinking on and offers tools is reported when calls are read of its reply, nobody gets the whole
reply, and nothing there speaks of signatures. Reported is also a message with the calls of a reply that is made anew,
part by part, where the function reads the thinking of that reply (`reasoning_content`, `thinking`, ...), puts pieces of
it together, or its request asks for some or runs what gives some back, and puts none under such a name: not where the
message of the reply is stored itself, and not where the thinking is switched off, or by a value that only the run
knows.

## Known problems
Functions that get a reply and a history, and are called from another file only, are not judged. Of a model's thinking
that is put into messages by a store or a converter, nothing is known. APIs differ in what they do without it: DeepSeek,
Moonshot, Anthropic and newer models of Gemini refuse such a turn, others let the model think anew.

## Fix safety
Unsafe: the message itself is appended where it is a reply's own message; as `model_dump(exclude_none=True)` where
elements of the list are read as dicts. A condition on its text is widened to its calls. Otherwise there is no fix.

## References
- OpenAI API reference, chat completions: a tool message answers a call of the assistant message before it
- Anthropic documentation, tool use: each `tool_result` follows the message with its `tool_use`
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import describe
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.rules.dropped_tool_calls.fixes import repair
from lint_rules.rules.dropped_tool_calls.lost_calls import How, LostCall, lost_calls, server_keeps
from lint_rules.rules.dropped_tool_calls.recasts import recasts
from lint_rules.rules.dropped_tool_calls.thinking import left_thinking, lost_thinking

_SAYS = {
    How.REBUILT: (
        "only the text of the reply goes into `{h}`, and its tool calls are dropped: their results answer nothing,"
        " and the API refuses the history",
        "append the message itself, with its calls",
    ),
    How.WITH_TEXT_ONLY: (
        "a reply without text is not stored in `{h}`, but the results of its tool calls are: they answer nothing,"
        " and the API refuses the history",
        "store the message when it has text or calls",
    ),
    How.NEVER: (
        "a tool result goes into `{h}`, but not the message that called the tool: the API refuses such a result,"
        " or the model reads an answer to nothing",
        "append the assistant message with its calls before the results",
    ),
}
_COPIED = {
    False: (
        "role and content of every message are copied, its tool calls and ids are not: results answer nothing,"
        " and the API refuses the history",
        "keep the whole message, and change its content: `{**m, ...}`, `m.model_copy(update=...)`",
    ),
    True: (
        "results of tool calls are taken over here, and of the messages that made the calls role and text only: the"
        " results answer nothing, and the model does not see what it has called",
        "take over the tool calls, too",
    ),
}

_THINKING = (
    "the model thinks before it calls a tool, and of its reply the calls are taken and the thinking is not:"
    " the API refuses a turn with calls whose signed thinking is missing"
)
_LEFT = (
    "the model's thinking comes with these calls, and the message is stored without it: on its way from call to call"
    " the model loses what it had in mind, and some APIs refuse such a turn"
)
_TAKE = "store the message of the reply itself, or take over its thinking under the name that it came with"
_KEEP = "keep the content of the reply as it is, with its thinking blocks and their signatures"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    kept = server_keeps(anatomy)
    for lost in lost_calls(anatomy) if not kept else ():
        yield _draft(anatomy, lost)
    for copy in recasts(anatomy):
        message, cure = _COPIED[copy.results]
        yield Draft(copy.node, message, cure, (Note(copy.shows, "such messages have tool calls, or answer them"),))
    told = set()
    for request, switch in lost_thinking(anatomy):
        told.add(anatomy.module.scope_of[request].function)
        yield Draft(request, _THINKING, _KEEP, (Note(switch, "thinking is switched on here"),))
    for made, shows in left_thinking(anatomy, told) if not kept else ():
        yield Draft(made, _LEFT, _TAKE, (Note(shows, "this tells that there is thinking"),))


def _draft(anatomy: Anatomy, lost: LostCall) -> Draft:
    message, cure = _SAYS[lost.how]
    slot = lost.stored.slot or lost.result.slot
    assert slot is not None
    notes = []
    if lost.asked is not None:
        notes.append(Note(lost.asked, "the request whose reply has the calls"))
    if lost.result.node is not lost.stored.node:
        notes.append(Note(lost.result.node, "the results are stored here"))
    evidence = anatomy.facts.of(slot).get(Kind.HISTORY)
    if evidence is not None:
        reason = f"`{describe(slot)}` is the message history: {evidence.clause}"
        notes.append(Note(evidence.root.node, reason))
    return Draft(
        lost.stored.node,
        message.format(h=describe(slot)),
        cure,
        beside(lost.stored.node, notes),
        fix=repair(anatomy, lost),
    )
