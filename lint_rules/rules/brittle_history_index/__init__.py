"""# brittle-history-index (AGL405)

## What it does
Reports messages that are picked from a history by a fixed distance where a role is meant: the calls of `history[-2]`,
the neighbour of the message that a walk has found, `history[-1]` that is compared with assistant messages, and a place
that is kept while the history is cut.

## Why is this bad
A round adds one assistant message and as many tool messages as there were calls. With two calls, `history[-2]` is a
tool message: a repeat guard that looks there finds no calls and never speaks; a repair changes the wrong message.

## Symptoms
- it works with one tool call in a round, and fails with two
- the repeat guard never fires
- a repair of the history changes the wrong message

## Example
```python
def run(client, history, tools, execute, repeats):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        before = history[-2]
        if before.tool_calls and repeats(before.tool_calls, message.tool_calls):
            raise RuntimeError("the model repeats itself")
        history.append(message)
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, history, tools, execute, repeats):
    before = None
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        if before is not None and repeats(before.tool_calls, message.tool_calls):
            raise RuntimeError("the model repeats itself")
        before = message
        history.append(message)
        for call in message.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
The list must be a known message history. Reported are: `history[-k]` and `history[len(history) - k]` from 2 on, also in
other words (`history[::-1][1]`, `before, last = history[-2:]`), whose tool calls are read, here or by a function of the
file that gets the message; `history[i - 1]` or `history[i + 1]` that is returned, or whose calls are read, where the
role of `history[i]`, also by another name or in pairs, has been tested; `history[-1]` whose text is compared with that
of messages of one role; and `history[i]` in a callback, where `i` was the length of a list that is cut meanwhile. A
message whose own role is tested is right whatever its place; so are `[-1]` after the append, `[0]`, and a place right
after as many appends as it counts.

## Known problems
A layout that the program guarantees elsewhere (one call in each round) is not known to the rule.

## Fix safety
Unsafe: `before = history[-2]` becomes `next((m for m in reversed(history) if m.get("tool_calls")), None)`, and the
`if` that asks whether `before` has calls asks whether it is there. Only for a repeat guard in a loop of rounds, after
the request and before its reply is stored, where all uses of the name stand in that `if`; a list of dicts must be seen
to hold nothing else. The search goes back past the user's message, so a call of an earlier turn counts as a repeat.
Else there is no fix: which message is meant, and what to do when there is none, is for a person to say.

## References
- OpenAI API reference, chat completions: an assistant message is followed by one tool message for each of its calls
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.rules.brittle_history_index.fixes import repair
from lint_rules.rules.brittle_history_index.picked import How, Picked, picked_by_place
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.syntax import expressions as ex

_HELP = "look for the message by what it is: `next((m for m in reversed(history) if m.tool_calls), None)`"
_OTHER = {
    How.DISTANT: "its tool calls are read here",
    How.NEWEST: "compared here with messages of one role",
    How.NEIGHBOUR: "the element whose role is tested",
    How.KEPT: "the history is cut here",
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for picked in picked_by_place(anatomy):
        node = picked.node
        evidence = anatomy.facts.kinds(picked.history)[Kind.HISTORY]
        known = Note(evidence.root.node, f"`{ex.source(picked.history, 30)}` is the message history: {evidence.clause}")
        notes = (Note(picked.other, _OTHER[picked.how]), known)
        is_plain = picked.how is How.DISTANT and isinstance(node, cst.Subscript) and node.value is picked.history
        fix = repair(anatomy, node) if is_plain and isinstance(node, cst.Subscript) else None
        yield Draft(node, _message(anatomy, picked), _HELP, beside(node, notes), fix=fix)


def _message(anatomy: Anatomy, picked: Picked) -> str:
    written = f"`{ex.source(picked.node, 40)}`"
    if picked.how is How.DISTANT:
        return (
            f"{written} is a tool message when a round had another number of calls: the calls looked for are not there"
        )
    if picked.how is How.NEWEST:
        return (
            f"{written} is compared with messages of one role, and is a tool message after a round"
            " with tools: nothing is ever found equal"
        )
    if picked.how is How.NEIGHBOUR:
        taken = "returned" if isinstance(anatomy.module.parent.get(picked.node), cst.Return) else "used"
        return (
            f"`{ex.source(picked.other, 40)}` is tested, its neighbour {written} is {taken}: what stands there"
            " depends on the number of calls in the round"
        )
    at = ex.index(picked.node) or picked.node
    return (
        f"`{ex.source(at, 30)}` is the place of a message at the time the callback was made: once the history is cut,"
        f" {written} is another message"
    )
