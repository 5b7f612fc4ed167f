"""# role-dropped-by-filter (AGL611)

## What it does
Reports a chain over the roles of messages that builds a new list of messages and has no else: messages of a role
that no branch takes are left out.

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
The chain stands in a loop over a history, each branch tests the role of the same message and appends to the same list
of messages, and nothing else in the loop does. A role counts as lost when this file stores messages of that role in
the history, or, for system messages, when the chain takes users, assistants and tools alike and keeps some of them as
they are, the history comes from a caller, and nothing in the file speaks of a system prompt. A function that mentions
the role elsewhere has dealt with it; so has a loop that skips the first message.

A branch that puts the system message into a name (`system = message["content"]`) is reported where this file begins
the list with one and appends another behind other messages: the last one takes the place of the instructions.

## Known problems
Chains over types of messages (`isinstance`) and `match` statements are not looked at.

## Fix safety
There is no fix: what becomes of the other roles only the author knows.

## References
- OpenAI API reference, chat completions: roles are system, developer, user, assistant and tool
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import describe
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.role_dropped_by_filter.lost_roles import lost_roles, overwritten
from lint_rules.syntax import expressions as ex

_NAMED = {"system": "system and developer messages", "tool": "tool results", "user": "user messages"}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for lost in lost_roles(anatomy):
        chain, built = lost.chain, describe(lost.built)
        message = f"no branch takes {_NAMED[lost.role]}: they vanish from `{built}`, and the model never sees them"
        note = Note(chain.loop, f"the loop over `{ex.source(chain.loop.iter, 40)}`")
        yield Draft(chain.node, message, "keep what no branch changes: `else:` append the message", (note,))
    for found in overwritten(anatomy):
        name = ex.source(found.node.targets[0].target)
        message = f"`{name}` keeps the last system message only: what the list begins with, the instructions, is lost"
        notes = (Note(found.later.node, found.later.reason, found.later.module),)
        yield Draft(found.node, message, "collect them: join the texts of all system messages", notes)
