"""# role-grouped-history (AGL704)

## What it does
Reports a history that is put together anew by role: the system messages, then the tool messages, then the rest.

## Why is this bad
The order of a conversation is its meaning. Tool results that stand apart from the messages with their calls are refused
by the API; and where they are not, the model reads answers before the questions.

## Symptoms
- 400: a tool message without its tool_calls
- the model mixes up what was said when
- OpenAI: `messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`
- Anthropic: `` unexpected `tool_use_id` found in `tool_result` blocks ``

## Example
```python
def shorten(client, messages, keep=10):
    system = [m for m in messages if m["role"] == "system"]
    tools = [m for m in messages if m["role"] == "tool"]
    others = [m for m in messages if m["role"] not in ("system", "tool")]
    return client.chat.completions.create(model="gpt-5", messages=system + tools + others[-keep:])
```

## Use instead
```python
def shorten(client, messages, keep=10):
    system = [m for m in messages if m["role"] == "system"]
    others = [m for m in messages if m["role"] != "system"]
    start = max(len(others) - keep, 0)
    while start < len(others) and others[start]["role"] != "user":
        start += 1
    return client.chat.completions.create(model="gpt-5", messages=system + others[start:])
```

## How it decides
Two or more lists are picked from one history by role (comprehensions with a condition, or a loop that appends to one
list or the other, or to a bucket for each role; a helper that gives those of the role it is handed), and joined one
after the other; one of them holds the messages of a role other than system. What is joined is sent, stored as the
history, or returned. A history that is sorted by the role of its messages alone (`key=lambda m: RANK[m["role"]]`) is
put together so, too, if the key tells more than the system from the rest. System messages put in front of all others
are no group: they stand there anyway. A cut of such a group is reported here, not as orphaned-tool-result (AGL602).

## Known problems
Lists that are sorted by time after they were joined are known only if the sort stands in the same expression.

## Fix safety
There is no fix: a list whose order is kept needs another cut, and where it may be is for its owner to say.

## References
- OpenAI API reference, chat completions: messages with role `tool` must follow the message with their `tool_calls`
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.fates import Fates
from lint_rules.anatomy.messages.groups import Group, groups, sorted_by_role
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex

_HELP = "keep the messages in their order: choose which turns stay, and put only the system messages in front"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    contents, fates = anatomy.contents, Fates(anatomy)
    for group in groups(anatomy):
        source = group.parts[0].source
        history = contents.history(source)
        place = fates.of(group.node, anatomy.module.scope_of[group.node].function) if history is not None else None
        if history is None or place is None:
            continue
        message = (
            f"the messages of `{ex.source(source, 30)}` are put together by role ({_order(group)}): their order is"
            " lost, and results stand apart from the calls they answer"
        )
        notes = [Note(history.node, f"`{ex.source(source, 30)}` is {history.reason}", history.module)]
        notes.append(Note(place[1], f"what is joined is {place[0]} here"))
        yield Draft(group.node, message, _HELP, tuple(note for note in notes if note.node is not group.node))
    for call, listed in sorted_by_role(anatomy):
        history = contents.history(listed)
        is_there = ex.called_name(call) == "sort" or fates.of(call, anatomy.module.scope_of[call].function) is not None
        if history is not None and is_there:
            message = (
                f"the messages of `{ex.source(listed, 30)}` are sorted by role: their order is lost, and results stand"
                " apart from the calls they answer"
            )
            kept = Note(history.node, f"`{ex.source(listed, 30)}` is {history.reason}", history.module)
            yield Draft(call, message, _HELP, (kept,) if kept.node is not call else ())


def _order(group: Group) -> str:
    """`system, tool, the rest`."""
    return ", then ".join(" and ".join(sorted(part.roles)).replace("*", "the rest") for part in group.parts)
