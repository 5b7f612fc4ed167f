"""# stop-without-answer (AGL308)

## What it does
Reports a stop in the middle of a round that gives the text of a reply as the answer although this reply asks for tools.

## Why is this bad
A reply that asks for tools mostly has no text, or a few words on what it is about to do. Whoever waits for the answer
gets nothing, or a stock phrase ("Done."), and cannot know that the work was cut off, nor why.

## Symptoms
- the answer is empty, or a stock phrase
- the run stops in the middle of the work, and nothing says why

## Example
```python
def run(client, messages, tools, execute):
    last, alike = None, 0
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        wanted = [(call.function.name, call.function.arguments) for call in message.tool_calls]
        messages.extend(execute(call) for call in message.tool_calls)
        alike = alike + 1 if wanted == last else 1
        last = wanted
        if alike == 3:
            return message.content or "Done."
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    last, alike = None, 0
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        wanted = [(call.function.name, call.function.arguments) for call in message.tool_calls]
        messages.extend(execute(call) for call in message.tool_calls)
        alike = alike + 1 if wanted == last else 1
        last = wanted
        if alike == 3:
            closing = client.chat.completions.create(model="gpt-5", messages=messages)
            return closing.choices[0].message.content
    raise RuntimeError("too many rounds")
```

## How it decides
In a loop of rounds it looks for a `return`, or an assignment where the loop ends, of the reply's own text, also in a
tuple, dict or object, and for a `break` behind which the answer is made of that reply as of one without calls (also
where the next request has failed, so that the reply before is still in hand), at a place where a test has shown that
the reply asks for tools, and no later one that it asks for none; and for a `return` there of one word (`"Okay."`) or
`""`, before any tool has run. It is silent where the text is tested first, where a model is asked once more, where the
words given instead of an empty text say why the agent stopped, where a dict or object has a constant, too, that may say
it, or the calls; and, of one word, where the stop hangs on what was called, or somebody is told.

## Known problems
Tools that end the turn by design, with a reply that always says something, look the same. A `break` under a test of the
rounds is AGL303's.

## Fix safety
There is no fix: ask once more without tools, or say why it stopped.

## References
- OpenAI API reference, chat completions: `content` is null where the message has tool calls only
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.reasons import says_why
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.stop_without_answer.stops import Stop, stops
from lint_rules.syntax import expressions as ex


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for stop in stops(anatomy):
        if stop.other is None or not (says_why(anatomy, stop.other) or isinstance(ex.inner(stop.other), cst.Call)):
            yield _draft(stop)


def _draft(stop: Stop) -> Draft:
    text = ex.source(stop.text, 30)
    else_ = f", or `{ex.source(stop.other, 30)}`" if stop.other is not None else ""
    message = (
        f"the turn stops here with `{text}`{else_} as its answer, but this reply asks for tools and mostly has no"
        " text: the user learns neither the result nor why it ended"
    )
    cure = "ask the model once more without tools, or tell the user why the agent stopped"
    notes = (
        Note(stop.test, "past this test the reply asks for tools"),
        Note(stop.loop.asks, "the reply"),
    )
    return Draft(stop.node, message, cure, notes)
