"""# unlimited-by-default (AGL905)

## What it does
Reports a loop of rounds whose only limit is optional, and None unless somebody sets it.

## Why is this bad
Whoever takes the default has a loop that only the model ends: it may go on, and be paid for, without end. Opt-in, for
a library may leave the number to its users on purpose.

## Symptoms
- my agent never stops, with the settings as they come

## Example
```python
def run(client, messages, tools, execute, max_rounds=None):
    done = 0
    while max_rounds is None or done < max_rounds:
        done += 1
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute, max_rounds=20):
    done = 0
    while done < max_rounds:
        done += 1
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages.extend(execute(call) for call in message.tool_calls)
    raise RuntimeError("too many rounds")
```

## How it decides
Every test that limits the rounds (see AGL302) holds a counter against a bound, and each bound is None by default, or a
number with which the test is never made (`-1` of `limit > 0 and rounds > limit`): by the default of a parameter, or of
the attribute or field that it is read from, as far as this file shows. A second limit with a number, a timeout, or a
function that raises at a limit makes it silent.

## Known problems
A bound whose default stands in another file is not seen.

## Fix safety
There is no fix: the number is the author's to choose.

## References
- AGL302 (unbounded-rounds), which reports loops without any limit
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.limits import Cause, Limits
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.unlimited_by_default.optional import Optional, optional_limit
from lint_rules.syntax import expressions as ex


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for loop in anatomy.rounds:
        limits = Limits(anatomy, loop.node, loop.function)
        optional = optional_limit(limits)
        if optional is None or limits.waits is not None or not _is_round(limits):
            continue
        message = (
            f"`{ex.source(optional.bound, 40)}` is the only limit of this loop, and {_said(optional)} by default:"
            " unless it is set, a model that keeps asking for tools is called, and paid for, without end"
        )
        notes = (Note(optional.default, "no limit by default"), Note(optional.test, "tested here"))
        yield Draft(loop.node, message, "give the limit a number by default", notes)


def _said(optional: Optional) -> str:
    """`None`, or the number that switches the limit off."""
    number = ex.integer(optional.default) if isinstance(optional.default, cst.BaseExpression) else None
    return "None" if number is None else f"{number}, which is none,"


def _is_round(limits: Limits) -> bool:
    """Whether the model's reply may end the loop, too."""
    return any(decision.cause in {Cause.REPLY, Cause.LIMIT} for decision in limits.decisions)
