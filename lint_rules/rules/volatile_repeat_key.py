"""# volatile-repeat-key (AGL903)

## What it does
Reports a repeat guard whose key holds something that is new each time: the id of the call, the time, a random number,
or text that the model wrote beside the call.

## Why is this bad
The key never comes a second time. The guard is there, and never finds a repeat: the model goes on in circles until
the limit of rounds ends the run.

## Symptoms
- the repeat guard never fires
- my agent repeats the same call, although there is a guard

## Example
```python
def run(client, messages, tools, execute):
    seen = set()
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        results = []
        for call in calls:
            key = (call.id, call.name, frozenset(call.input.items()))
            outcome = "Error: you have asked for this before" if key in seen else execute(call)
            seen.add(key)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": outcome})
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    seen = set()
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        results = []
        for call in calls:
            key = (call.name, frozenset(call.input.items()))
            outcome = "Error: you have asked for this before" if key in seen else execute(call)
            seen.add(key)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": outcome})
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
Opt-in. The key must hold the name or the arguments of a tool call, be compared with what an earlier round left behind,
and hold one of these as well: `.id` and the like of a call, `time.time()`, `datetime.now()`, `uuid4()`, a random
number, or content and reasoning of the reply. Whole calls that are compared hold their ids, and are reported, too. Ids
alone are how calls and results are paired; they are silent.

## Known problems
Whole calls of a class of one's own that leaves the id out of `==` look the same.

## Fix safety
There is no fix: what makes two calls the same is for a person to say.

## References
- OpenAI and Anthropic API references: each tool call has an id of its own
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.call_parts import ARGUMENTS, Part
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.signatures import Made
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex

_HELP = "make the key of name and arguments alone"
_NEW = {
    Part.ID: "is another for each call",
    Part.VOLATILE: "is another each time",
    Part.WORDS: "is text that the model words anew each time",
    Part.WHOLE: "holds the id of the call, which is another each time",
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    told: set[cst.CSTNode] = set()
    for guard in anatomy.guards.all:
        parts = guard.key.parts
        if not guard.carried:
            continue
        if not parts & (ARGUMENTS | {Part.NAME, Part.WHOLE}) or guard.key.opaque:
            continue
        volatile = _volatile(anatomy, guard)
        if volatile is None or volatile.node in told or guard.node in told:
            continue
        told |= {volatile.node, guard.node}
        message = (
            f"`{ex.source(volatile.node, 40)}` {_NEW[volatile.part]}: the key never comes again, no repeat is found"
        )
        notes = () if anatomy.module.inside(volatile.node, guard.node) else (Note(volatile.node, "put into the key"),)
        yield Draft(guard.node, message, _HELP, notes)


def _volatile(anatomy: Anatomy, guard: Guard) -> Made | None:
    """The part of a key that is new each time, if earlier keys hold one like it."""
    for part in (Part.VOLATILE, Part.ID, Part.WORDS, Part.WHOLE):
        if part in guard.kept.parts and not (part is Part.WHOLE and _holds_others(anatomy, guard)):
            for made in guard.key.of(part):
                return made
    return None


def _holds_others(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether a list named like one of calls is filled with something else: with keys that a helper makes."""
    signatures = anatomy.guards.signatures
    slots = {*guard.key.slots, *guard.kept.slots}
    return any(not signatures.is_call(put) for slot in slots for put in signatures.puts.get(slot, ()))
