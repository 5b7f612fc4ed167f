"""# lossy-message-rebuild (AGL608)

## What it does
Reports a tool call that is made anew from another without its arguments or its id, a tool result that is stored without
the id of the call it answers, although the call is at hand, a message with the calls of a reply that is stored without
what the reply says, and calls of a stream's pieces of which only those of the last one are kept.

## Why is this bad
A call without arguments tells the model that it asked for nothing: it asks again, or takes the result for another
one's. A call or result without its id is refused by the API with a 400, and the history with it, from then on.

## Symptoms
- the model does not know with what it called a tool
- OpenAI: `Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.`
- OpenAI: `Missing required parameter: 'messages[3].tool_calls[0].id'.`

## Example
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.function.name}} for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## How it decides
Looked at is what becomes an element of `tool_calls`, or a part of the content, of an assistant message made in this
file, in the form of any API, and takes its name from a tool call of a reply: it has no arguments, or empty ones that
nothing fills (but for those of a handler, or behind a test of what the model wrote). Also dicts and objects of a class
of calls, of any file, that take id and name from one event, row, pattern or handler's parameters, and to whose
arguments nothing in the file ever adds; and dicts with the role "tool" that are stored in a history which is sent, in a
loop over tool calls. A message with calls of a reply, or of pieces, stored where the model is asked, or made for a
request in a file that reads what the reply says, says nothing if its content is `None` or `""`, or it is made of role
and calls alone, nothing sets it later, and no message before it holds the text, since there is that reply. Calls of a
piece take the place of others if they are assigned in a loop that adds to the text of the pieces, and are looked at
behind it only; whoever makes the pieces, in the project, is asked for those of its own making. An `input` that is read
where its block begins (Anthropic's stream) is empty, if nobody reads its pieces. Copies of all messages of a history
that get its calls, and of no message the id of the call it answers, count where the requests go to such an API. Ids are
asked for only where the file's requests go to an API that has them (OpenAI, LiteLLM, Mistral, Anthropic); Ollama and
text protocols have none, and neither have calls whose arguments are made objects. Dicts with `**` parts are silent.
Copies for a model with tools that pick the texts of contents count where the file stores contents that have calls.

## Known problems
Arguments that another file adds to a call are not seen. Messages that lose their calls belong to dropped-tool-calls
(AGL603).

## Fix safety
There is no fix: keep the message of the SDK itself, or copy every part.

## References
- OpenAI API reference, chat completions: `tool_calls[].id`, `tool_calls[].function.arguments` and `tool_call_id`
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.lossy_message_rebuild.overwritten import overwritten_calls
from lint_rules.rules.lossy_message_rebuild.stripped import silenced, stripped_calls, stripped_results
from lint_rules.rules.lossy_message_rebuild.unlinked import texts_alone, unlinked

_HARM = {
    "arguments": "the model reads that it asked for nothing, and asks again",
    "input": "the API refuses the history",
    "id": "no result can answer it, and the API refuses the history",
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in stripped_calls(anatomy):
        message = f"the tool call is made anew without its `{found.lost}`: {_HARM[found.lost]}"
        cure = f"copy its `{found.lost}`, too, or store the message of the reply itself"
        yield Draft(found.node, message, cure, (Note(found.shows, "what it is made of"),))
    for found in stripped_results(anatomy):
        message = f"the tool result is stored without `{found.lost}`: the API cannot tell which call it answers"
        cure = f'add `"{found.lost}"`, the id of the call'
        yield Draft(found.node, message, cure, (Note(found.shows, "the call is at hand here"),))
    for copy in unlinked(anatomy):
        message = (
            "every message is made anew with its calls, and without the `tool_call_id` of the results: the API cannot"
            " tell which calls they answer"
        )
        yield Draft(copy.node, message, "copy the id as well", (Note(copy.shows, "the calls are taken over here"),))
    for copy in texts_alone(anatomy):
        message = (
            "the texts of every message are taken over, its tool calls and results are not: the model does not know"
            " what it has called and read"
        )
        yield Draft(copy.node, message, "keep the whole content", (Note(copy.shows, "only texts are picked here"),))
    for found in silenced(anatomy):
        message = "the message is stored with its calls, and without what it says: the model does not see its own words"
        cure = "take over the content of the reply, too, or store its message itself"
        yield Draft(found.node, message, cure, (Note(found.shows, "the calls of the reply"),))
    for line, grown in overwritten_calls(anatomy):
        message = "the tool calls of each piece take the place of those before: only the last ones are run and stored"
        cure = "add them to a list, as is done with the text"
        yield Draft(line, message, cure, (Note(grown, "the text of the pieces is put together here"),))
