"""# continue-skips-execution (AGL306)

## What it does
Reports a `continue` of the round loop between the model's reply and the run of its tools, taken because a check could
not be made: there was no earlier message to compare with, the comparison failed, or who is asked did not answer.

## Why is this bad
The check is skipped, and with it the tools and the reply: nothing of this round reaches the history. The model gets
the same request again, asks for the same tools, and the round ends at the same `continue`. Measured on an agent with a
limit of 15 rounds: 15 requests, and not one tool run.

## Symptoms
- the tool is never run, and the model asks for it until the limit of rounds
- my agent repeats the same call

## Example
```python
def run(client, messages, tools, execute):
    for _ in range(15):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        last = previous_calls(messages)
        if last is None:
            continue
        if same_calls(last, message.tool_calls):
            raise RuntimeError("the model repeats itself")
        messages.append(message)
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(15):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content
        last = previous_calls(messages)
        if last is not None and same_calls(last, message.tool_calls):
            raise RuntimeError("the model repeats itself")
        messages.append(message)
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## How it decides
On the control-flow graph there is a way from the request to the `continue` on which nothing is stored that is sent, and
it is known there that the reply asks for tools (a test of the calls came before). Behind the `continue`, the round goes
through the calls. What leads to it is a handler around what is only tested, shown, or kept to be compared (`same = key
== last`, `allowed(calls)`, of this reply or of something else), with no request and no store in it; or a test that
holds where there is nothing to compare with: nothing found in the history, nothing kept of an earlier reply yet. Silent
is a `continue` of the loop over calls, one after something new was added to the history, and a reply that is asked for
again because it can't be used as it is: what is called for its errors alone (`validate(calls)`), and what makes of the
calls that which is run.

## Known problems
A way out by `return` for the same reason is not reported.

## Fix safety
There is no fix: the test has to be turned round, so that what follows runs without it.

## References
- Python language reference, `continue`: it goes on with the next cycle of the nearest enclosing loop
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.rules.continue_skips_execution.skipped_runs import skipped_runs
from lint_rules.rules.draft import Draft, Note

_HELP = "skip the check alone: `if last is not None and repeats(last, calls): ...`, and let the tools run"
_MESSAGE = (
    "this `continue` goes back to the model before the tools of its reply have run: the reply is dropped, and the same"
    " request is sent again"
)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for found in skipped_runs(anatomy):
        notes = (
            Note(found.loop.asks, "the reply"),
            Note(found.reason, "the check that fails"),
            Note(found.run, "skipped"),
        )
        yield Draft(found.node, _MESSAGE, _HELP, notes)
