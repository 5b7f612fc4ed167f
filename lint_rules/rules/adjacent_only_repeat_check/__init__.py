"""# adjacent-only-repeat-check (AGL902)

## What it does
Reports a loop of rounds whose only repeat guard remembers one round, and does not count repeats in a row.

## Why is this bad
A model goes round in circles of two as well: read, list, read, list. Each round differs from the one before, and the
guard never speaks, while the same tools run again and again until the limit of rounds.

## Symptoms
- the agent goes back and forth between two calls
- my agent repeats the same calls, although there is a guard

## Example
```python
def run(client, messages, tools, execute):
    last, repeats = None, 0
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        wanted = [(call.name, call.input) for call in calls]
        if wanted == last:
            repeats += 1
        last = wanted
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if repeats == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    rounds = []
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        wanted = [(call.name, call.input) for call in calls]
        rounds.append(wanted)
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if rounds.count(wanted) == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
Opt-in: for many programs the round before is enough. All guards of a loop of rounds, and of the functions of the file
that it calls, compare for equality with one value that is carried on, or with the last message of the history; none
looks at a set, a list, a window or a count by key. A guard that counts repeats in a row, a counter that goes up on a
repeat and starts anew on anything else, is silent: it says itself that it means neighbours.

## Known problems
Guards in other files are not seen. A guard that counts repeats in a row misses circles of two as well.

## Fix safety
There is no fix: how many rounds a guard should remember, and what it is to do, is for a person to say.

## References
- OpenHands, stuck detection: patterns of two alternating actions are looked for besides plain repeats
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards import outcomes
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.rules.adjacent_only_repeat_check.counting import counted_in_a_row
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax.module import Scope

_HELP = "keep the keys of several rounds, and count how often one comes"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    told: set[Scope] = set()
    guards = [guard for guard in anatomy.guards.all if guard.carried]
    for loop in anatomy.rounds:
        reached = anatomy.calls.reachable(loop.function)
        here = [guard for guard in guards if guard.function in reached]
        if not here or not all(_remembers_one(anatomy, guard) for guard in here) or loop.function in told:
            continue
        told.update(reached)
        first = here[0]
        message = "only the round before is remembered: a model that alternates between two requests is never noticed"
        yield Draft(first.node, message, _HELP, (Note(loop.node, "the loop of rounds"),))


def _remembers_one(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether a guard compares with one earlier key: no container, no window, no row that is counted."""
    if guard.how != "equal" or not outcomes.one_round(anatomy, guard) or counted_in_a_row(anatomy, guard):
        return False
    puts = anatomy.guards.signatures.puts
    return guard.past or not any(slot in puts for slot in guard.slots)
