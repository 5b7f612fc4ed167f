"""# membership-dedup (AGL612)

## What it does
Reports a message that is stored only if no equal message is in the history yet, and messages that are left out, or
taken out, since another one has the same role and content.

## Why is this bad
People repeat themselves, and mean it. The second "yes" of a conversation, the second "go on", the same short answer
to another question are lost: the model reads a question without its answer, or two assistant messages in a row.

## Symptoms
- the user's second "yes" is lost
- the model acts as if the user had not answered

## Example
```python
def say(client, history, text):
    message = {"role": "user", "content": text}
    if message not in history:
        history.append(message)
    reply = client.chat.completions.create(model="gpt-5", messages=history).choices[0].message
    history.append(reply)
    return reply.content
```

## Use instead
```python
def say(client, history, text):
    history.append({"role": "user", "content": text})
    reply = client.chat.completions.create(model="gpt-5", messages=history).choices[0].message
    history.append(reply)
    return reply.content
```

## How it decides
A condition asks whether a message, or its text, is missing in a message history (or in the contents of its messages),
also part by part (`any(m.role == role and m.content == text for m in history)`) or by a count, and appends that message
to it, or leaves where it is there. Or it asks whether a key made of nothing but role, name and content of a message
(what stands alone beside a role in the messages that the file makes), or of what a message is then made of, has been
seen, and appends the message. Or messages are kept but for those that are equal to one of others
(`[m for m in new if m not in history]`), also by such keys, or go through what keeps one of equals (`dict.fromkeys`, a
dict by such keys). Messages are compared by what they say where the file makes them as dicts without an id, or as
records with no other field than who speaks and what is said. System messages, tool results, keys with an id or a time,
and comparisons with the last message only are silent.

## Known problems
Message objects that carry an id of their own, unseen here, are told apart by it.

## Fix safety
There is no fix: where doubles come from must be found first.

## References
- OpenAI API reference, chat completions: a request holds the whole conversation, equal messages included
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import describe
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.membership_dedup.left_out import LeftOut, left_out
from lint_rules.syntax import expressions as ex

_ADVICE = "append it always; where doubles are real, tell messages apart by an id of their own"
_HARM = ' a second "yes" is lost, and the model reads a question without its answer'


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in left_out(anatomy):
        seen = ex.source(found.seen, 40)
        if isinstance(found.node, (cst.ListComp, cst.GeneratorExp)):
            message = f"messages that are equal to one of `{seen}` are taken out with it:{_HARM}"
        elif isinstance(found.node, (cst.DictComp, cst.Call)):
            message = f"of messages of `{seen}` that say the same, one is left:{_HARM}"
        elif found.history is not None:
            message = f"the message is stored only if `{describe(found.history)}` holds no equal one:{_HARM}"
        else:
            message = f"messages with the role and content of an earlier one are left out (`{seen}`):{_HARM}"
        yield Draft(found.node, message, _ADVICE, _notes(anatomy, found))


def _notes(anatomy: Anatomy, found: LeftOut) -> tuple[Note, ...]:
    evidence = anatomy.facts.of(found.history).get(Kind.HISTORY) if found.history is not None else None
    if evidence is None or found.history is None or evidence.root.node is found.node:
        return ()
    return (Note(evidence.root.node, f"`{describe(found.history)}` is the message history: {evidence.clause}"),)
