"""# late-bound-tool-call (AGL407)

## What it does
Reports a lambda or nested function that is made in a loop over tool calls, reads the loop's variables, and runs when
the loop has gone on.

## Why is this bad
A closure reads a variable when it runs. By then the loop has come to its last call: every task runs the last tool with
the last arguments. The results are stored under the ids of all calls, so nothing looks wrong, and the model is told
that its other tools gave what the last one gave.

## Symptoms
- all parallel tool calls give the result of the last one
- the last tool runs several times, the others never

## Example
```python
import asyncio


async def run_all(message, tools):
    tasks = []
    for call in message.tool_calls:

        async def run():
            return {"role": "tool", "tool_call_id": call.id, "content": await tools.run(call)}

        tasks.append(asyncio.create_task(run()))
    return await asyncio.gather(*tasks)
```

## Use instead
```python
import asyncio


async def run_all(message, tools):
    tasks = []
    for call in message.tool_calls:

        async def run(call=call):
            return {"role": "tool", "tool_call_id": call.id, "content": await tools.run(call)}

        tasks.append(asyncio.create_task(run()))
    return await asyncio.gather(*tasks)
```

## How it decides
The loop goes over the tool calls of a message. The closure reads its variable, or a name that is assigned from it in
each turn, and leaves the turn: it is appended to a list, started as a task or thread, submitted to an executor, or
registered as a callback. Closures that run at once, that are awaited in the same turn, or that get the call as an
argument or default are right.

## Known problems
Closures that are handed to a function of another file are thought to run at once.

## Fix safety
Safe: the variables become defaults of parameters, `call=call`, which are read when the closure is made; who calls the
closure passes nothing for them. There is no fix where one of them is set again in the same turn, after the closure.

## References
- Python FAQ: "Why do lambdas defined in a loop with different values all return the same result?"
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.late_bound_tool_call.fixes import repair
from lint_rules.rules.late_bound_tool_call.late_binding import late_closures


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for closure in late_closures(anatomy):
        names = " and ".join(f"`{name}`" for name in closure.names)
        what = "the lambda" if isinstance(closure.node, cst.Lambda) else f"`{closure.node.name.value}`"
        message = f"{what} reads {names} when the loop has gone on: every task runs the last call of the message"
        first = closure.names[0]
        cure = f"bind it when the closure is made: a parameter `{first}={first}`, or pass it as an argument"
        notes = (Note(closure.runs, "it is kept or started here, and runs later"), Note(closure.loop, "the loop"))
        node = closure.node if isinstance(closure.node, cst.Lambda) else closure.node.name
        yield Draft(node, message, cure, notes, fix=repair(anatomy, closure))
