"""# stale-history-snapshot (AGL301)

## What it does
Reports a copy, or a compressed, formatted or serialised view of the history that is made before the round loop and
sent in each round, while replies and tool results go to the original only.

## Why is this bad
The model gets the same request round after round. It never sees its own tool calls nor their results, asks for the
same tool again, and the loop ends at its limit without an answer.

## Symptoms
- my agent repeats the same call
- the model does not see its tool results
- each round sends the same request, until the limit of rounds

## Example
```python
def run(client, history, tools, execute):
    request = list(history)
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=request, tools=tools).choices[0].message
        history.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, history, tools, execute):
    for _ in range(20):
        request = list(history)
        message = client.chat.completions.create(model="gpt-5", messages=request, tools=tools).choices[0].message
        history.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## How it decides
Three facts make the finding: the value is made of a known history, the loop sends it and never binds, grows or changes
it, and the history grows in the loop. Where the loop stands in a function that gets the snapshot as an argument, the
pair decides: the same function is right for a caller that passes the live list. The growth may come back through a
callback, a method of the same object, or the list itself, where the function gets both. What a function of the file
gives is a copy if all that it gives is one of an attribute, or of what it was handed. Functions of imported files of
the same project are read, too. Loops over items (each with a request of its own) and retries are no rounds.

## Known problems
A view that a function of another package makes may be the live list: such views are not reported.

## Fix safety
The statement that takes the copy moves to the head of the loop. Safe when the name is used in the loop only and the
expression does nothing but copy and arrange; unsafe when it calls other functions, or the name is read elsewhere.
There is no fix where the copy is passed to a function, or used between statement and loop.

## References
- OpenAI and Anthropic API references: a request holds the whole conversation; the API keeps nothing between calls
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.rules.stale_history_snapshot.fixes import repair
from lint_rules.rules.stale_history_snapshot.snapshots import Stale, stale_snapshots


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for stale in stale_snapshots(anatomy):
        yield _draft(anatomy, stale)


def _draft(anatomy: Anatomy, stale: Stale) -> Draft:
    message = (
        f"each round sends the same copy of `{stale.original}`: what is appended to it meanwhile, the model never sees"
    )
    cure = (
        f"pass `{stale.original}` itself, or let the loop make its copy in each round"
        if stale.passed
        else "make the copy at the head of the loop, in each round"
    )
    notes = (
        Note(stale.loop, "the loop that sends it round after round", stale.where.module),
        Note(stale.sends, "the request", stale.where.module),
        Note(stale.grows, f"only `{stale.original}` grows"),
        Note(stale.evidence.root.node, f"`{stale.original}` is the message history: {stale.evidence.clause}"),
    )
    return Draft(stale.node, message, cure, beside(stale.node, notes), fix=repair(anatomy, stale))
