"""# signal-before-save (AGL614)

## What it does
Reports a turn that says it is done (an event is set, a condition notified, a future gets its result, the end mark is
put into a queue, its entry is marked as done) before its reply is stored in the history.

## Why is this bad
Whoever waited for the signal goes on at once: it sends the next message, or reads the history to show or store it. The
reply is not in there yet. The model then does not know its own last answer, or the stored chat lacks it; and as it is
a race, it works on the author's machine.

## Symptoms
- the stored chat lacks the last answer
- the model does not know its own last answer, now and then

## Example
```python
import threading


class Worker:
    def __init__(self, client):
        self.client = client
        self.history = []
        self.done = threading.Event()

    def turn(self, text):
        self.history.append({"role": "user", "content": text})
        reply = self.client.chat.completions.create(model="gpt-5", messages=self.history).choices[0].message
        self.done.set()
        self.history.append({"role": "assistant", "content": reply.content})
```

## Use instead
```python
import threading


class Worker:
    def __init__(self, client):
        self.client = client
        self.history = []
        self.done = threading.Event()

    def turn(self, text):
        self.history.append({"role": "user", "content": text})
        reply = self.client.chat.completions.create(model="gpt-5", messages=self.history).choices[0].message
        self.history.append({"role": "assistant", "content": reply.content})
        self.done.set()
```

## How it decides
On the control-flow graph: from the request, without a store of the reply, a path leads to the signal, and from there to
the first store of the reply: a write to a history that outlives the function, or an awaited call that gets the reply,
its text or the history and says by its name that it stores. In a coroutine something must be awaited between, as
nobody else runs before; the awaited store itself will do.

A place outside of the program counts, too, where the history is written as a whole (a file, a key, a row), if who waits
for the signal reads it afterwards, or a handler does; behind `task_done`, for which a `join` waits, whoever reads it.
So does a status that is set to a text with which a handler compares it before it reads the place. Who is notified by a
condition goes on when its block has ended: a store within that block is in time.

## Known problems
Signals of other kinds (messages to a web page, callbacks, flags) are not known: their readers often run in the same
task. Rows that are added are not seen. Code behind a `yield` is the business of AGL606.

## Fix safety
There is no fix: moving the signal may need a `finally`, lest nobody hears of a turn that failed.

## References
- Python documentation, `threading.Event`, `asyncio.Future`: waiters are woken when the event is set
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.signal_before_save.signals import early_signals
from lint_rules.syntax import expressions as ex

_HELP = "store the reply first, then give the signal; in a `finally`, if it must be given in any case"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for signal in early_signals(anatomy):
        node = signal.node
        parts = [node] if isinstance(node, cst.Call) else [*ex.targets(node), node.value]
        told = " = ".join(ex.source(part, 50) for part in parts)
        message = (
            f"`{told}` says that the turn is done before its reply is stored:"
            " who waits for it may go on with a history that lacks the reply"
        )
        yield Draft(node, message, _HELP, (Note(signal.stored, "the reply is stored only here"),))
