"""# run-state-on-shared-agent (AGL104)

## What it does
Reports state of one run that is stored on an object which other runs share, and used after they may have changed it:
an attribute that a run sets when it begins and reads after an `await`; an attribute that is changed for the run, and
put back behind it, to what was saved or what it is made with; a chat or user that is told to a shared tool before the
model is asked.

## Why is this bad
Two runs overlap: the second overwrites what the first has stored. The answer to one chat goes to the other, one user's
tools run in the name of another, or the `finally` of the run that ends last puts back the other run's value for good.

## Symptoms
- answers go to the wrong user when two write at once
- a tool acts in the name of another user
- an agent keeps the prompt or the tools of another run

## Example
```python
class Agent:
    def __init__(self, client, tools):
        self.client = client
        self.message_tool = MessageTool()

    async def answer(self, chat_id, messages):
        self.message_tool.set_context(chat_id)
        return await self.client.chat.completions.create(model="gpt-4o", messages=messages)


class MessageTool:
    def set_context(self, chat_id):
        self.chat_id = chat_id

    async def execute(self, text):
        await send(self.chat_id, text)
```

## Use instead
```python
class Agent:
    def __init__(self, client, tools):
        self.client = client
        self.message_tool = MessageTool()

    async def answer(self, chat_id, messages):
        tool = functools.partial(self.message_tool.execute, chat_id)
        reply = await self.client.chat.completions.create(model="gpt-4o", messages=messages)
        return reply, tool


class MessageTool:
    async def execute(self, chat_id, text):
        await send(chat_id, text)
```

## How it decides
A tool counts as shared when it is an attribute of the agent or is looked up there, or a global of a function that
several requests run at once; its class must be known: the method that is called only stores what it is given, and
another method reads it. So is a file of tools, of which a function sets globals to what it is given, and a tool reads
one. A save and restore counts in a coroutine that asks a model between them, or in a function that several threads run.
An attribute or global that is set from a parameter, or is a history that the run begins anew, counts where several runs
on one object are seen (request and bot handlers, tasks and threads that are started again and again), and where it is
read after an `await`, itself, by a helper, by a tool, or by a function that was handed to what is waited for.

Silent: under a lock, but for one of each key (`locks[room]`) where one object serves all keys; on objects made for the
run; context variables; values that are passed on as arguments; flags and counters; what is made of what was there
before (`self.guests = [g for g in self.guests if g != who]`), or put beside it.

## Known problems
Whether two runs of one agent object ever overlap is decided by who calls it: for tools and for save and restore, a
coroutine is taken to say that it may.

## Fix safety
There is no fix: the value must be passed along, or kept in a context variable.

## References
- Python documentation, `contextvars`: "Context managers that have state should use Context Variables"
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.rules.run_state_on_shared_agent.run_state import RunState, RunStates

_HELP = "pass it along as an argument, keep it in a context variable, or make an object for each run"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in RunStates(anatomy).all():
        module = found.where.module if found.where is not anatomy else None
        notes = [
            Note(found.wait, "other runs go on meanwhile"),
            Note(found.read, "it is put back here" if found.how == "swap" else "it is read here", module),
        ]
        if found.starter is not None:
            notes.insert(0, Note(found.starter, "several runs are started from here"))
        yield Draft(found.node, _message(found), _HELP, beside(found.node, notes), "medium")


def _message(found: RunState) -> str:
    run = found.function.name
    if found.how == "told":
        return (
            f"`{run}` tells the shared `{found.name}` whom it serves before it asks the model: another run changes that"
            " meanwhile, and the answer reaches the wrong one"
        )
    if found.how == "swap":
        return (
            f"`{run}` changes `{found.name}` while it asks the model, for other runs on this object, too;"
            " of two that overlap, one asks with the other's value, or the last to end puts that back"
        )
    shared = " on this object" if "." in found.name else ""
    return (
        f"`{run}` stores what is this run's own in `{found.name}`, which all runs{shared} share:"
        " after the wait it may be another run's"
    )
