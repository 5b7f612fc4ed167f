"""# swallowed-llm-error (AGL309)

## What it does
Reports a handler around the request to the model that ends the loop of rounds silently: it breaks, returns nothing, or
puts a neutral value (`None`, `""`) in the place of the reply, which the loop takes for the end of the work.

## Why is this bad
A wrong key, a full quota, a request that the API refuses: all of them look like a model that has finished. The user
reads an empty or half answer, the caller goes on with it, and no log says that there was an error.

## Symptoms
- the answer is empty, and there is no error in the log
- a wrong API key, or a full quota, looks like an agent with nothing to say

## Example
```python
def run(client, messages, tools, execute):
    answer = ""
    for _ in range(20):
        try:
            reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
        except Exception:
            break
        message = reply.choices[0].message
        messages.append(message)
        answer = message.content or answer
        if not message.tool_calls:
            break
        messages.extend(execute(call) for call in message.tool_calls)
    return answer
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
    raise RuntimeError("too many rounds")
```

## How it decides
The request stands in the `try`, in a loop of rounds with tool calls or in a function that one calls; the handler takes
every error, or one of a client library, and neither logs, raises, counts nor calls anything. It must end the loop: by a
`break` or `return` of its own, or because the value that it leaves is tested and the loop then ends, as silently.
Attempts that are made again and other models that are asked instead are no finding.

## Known problems
A loop that another file runs is not seen. What the caller of the loop makes of an empty answer is not looked at.

## Fix safety
There is no fix: whether to raise, to try again or to tell the user is for the program to say.

## References
- OpenAI and Anthropic Python libraries: errors are raised as `APIError` and its subclasses
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.quiet_ends import quiet_ends
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex

_HELP = "raise the error, or log it and tell the user that the answer is incomplete"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in quiet_ends(anatomy):
        message = (
            f"an error of `{ex.source(found.request.func, 40)}` ends the loop here as if the model had finished:"
            " nobody learns of it, and what there is so far passes for the answer"
        )
        notes = [Note(found.request, "the request that fails")]
        if found.end is not found.handler:
            notes.append(Note(found.end, "here the loop ends"))
        yield Draft(found.handler, message, _HELP, tuple(notes))
