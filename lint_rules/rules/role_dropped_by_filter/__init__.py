"""# role-dropped-by-filter (AGL611)

## What it does
Reports a loop over messages that asks for their roles and puts what it makes of users' and assistants' into what is
sent: messages of a role that it does nothing with are left out.

## Why is this bad
The request lacks what the chain did not think of: the system prompt, so that the model forgets its rules, or the tool
results, so that the API refuses the calls that are left without one. Nothing fails where the messages vanish.

## Symptoms
- the model ignores the system prompt
- tool results do not reach the model
- OpenAI: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  The following tool_call_ids did not have response messages`

## Example
```python
def compress(messages):
    compact = []
    for message in messages:
        if message["role"] == "user":
            compact.append(message)
        elif message["role"] == "assistant":
            compact.append({**message, "content": message["content"].strip()})
        elif message["role"] == "tool":
            compact.append({**message, "content": str(message["content"])})
    return compact
```

## Use instead
```python
def compress(messages):
    compact = []
    for message in messages:
        if message["role"] == "assistant":
            compact.append({**message, "content": message["content"].strip()})
        elif message["role"] == "tool":
            compact.append({**message, "content": str(message["content"])})
        else:
            compact.append(message)
    return compact
```

## How it decides
The loop, or comprehension, goes over a history, and tests of the role (`==`, `in`, `match`, `isinstance`) stand before
all that it puts into one list. That becomes messages of a request, or a text of one; or it is a list of messages in a
function of a file that asks no model. A role counts as lost when the loop does nothing else with its messages either,
and this file stores messages of that role in the history; or, for system messages, when the loop takes users,
assistants and tools alike and keeps some of them as they are, the history comes from a caller, and nothing in the file
speaks of a system prompt. A function that mentions the role elsewhere, here or where the request is, has dealt with it;
so has a loop that skips the first message, and a file that gives instructions apart (`system=`).

A branch that puts the system message into a name (`system = message["content"]`) is reported where this file begins
the list with one and appends another behind other messages: the last one takes the place of the instructions.

## Known problems
Whether what a function adds in front are the instructions is not looked at where it calls them otherwise.

## Fix safety
There is no fix: what becomes of the other roles only the author knows.

## References
- OpenAI API reference, chat completions: roles are system, developer, user, assistant and tool
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.role_dropped_by_filter.lost_roles import lost_roles, overwritten
from lint_rules.syntax import expressions as ex

_NAMED = {"system": "system and developer messages", "tool": "tool results", "user": "user messages"}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for lost in lost_roles(anatomy):
        chain = lost.chain
        message = f"nothing takes {_NAMED[lost.role]}: they vanish from `{lost.built}`, and the model never sees them"
        loop = Note(chain.loop, f"the loop over `{ex.source(chain.loop.iter, 40)}`")
        shown = (Note(lost.shows, "there they get into it"),) if lost.shows is not None else ()
        yield Draft(chain.node, message, "keep what nothing takes: `else:` append the message", (loop, *shown))
    for found in overwritten(anatomy):
        name = ex.source(found.node.targets[0].target)
        message = f"`{name}` keeps the last system message only: what the list begins with, the instructions, is lost"
        notes = (Note(found.later.node, found.later.reason, found.later.module),)
        yield Draft(found.node, message, "collect them: join the texts of all system messages", notes)
