"""# json-string-comparison (AGL403)

## What it does
Reports a repeat guard or a cache that compares tool arguments as text whose keys are not sorted: as the model wrote
them, or as `json.dumps` without `sort_keys=True`, `str()`, `repr()` or an f-string makes text of them.

## Why is this bad
A model writes the keys of its arguments in any order. `{"path": "a", "line": 1}` and `{"line": 1, "path": "a"}` are
one call, but two texts: the guard takes the repeat for something new, the model goes on in circles, the tool runs
twice, and a cache never hits.

## Symptoms
- my agent repeats the same call, although there is a guard
- a cache of tool results never hits

## Example
```python
import json


def run(client, messages, tools, execute):
    seen = {}
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        results = []
        for call in calls:
            key = (call.name, json.dumps(call.input))
            seen[key] = seen.get(key, 0) + 1
            outcome = "Error: you have asked for this before" if seen[key] > 3 else execute(call)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": outcome})
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
import json


def run(client, messages, tools, execute):
    seen = {}
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        results = []
        for call in calls:
            key = (call.name, json.dumps(call.input, sort_keys=True))
            seen[key] = seen.get(key, 0) + 1
            outcome = "Error: you have asked for this before" if seen[key] > 3 else execute(call)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": outcome})
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
The value must be made of a tool call's arguments, and be compared with what an earlier round left behind: with a value
that is carried on or read from the history, with the members of a set, list or dict, or by a count. Variables, helper
functions of the file, tuples, f-strings and hashes are followed. The raw text of a call counts only where the file
itself parses it elsewhere, so that it is known to be text. Known are the calls of OpenAI (chat completions and
responses), Anthropic, Bedrock, Gemini, LiteLLM and LangChain, and classes that look like them. A dict that a
comprehension over `sorted(...)` has made is in order. A text that is made in an `except` block, where sorting has
failed, is not reported, nor text that is only logged or sent, nor a comparison that only decides whether a text is
shown, parsed or measured once more: no call depends on it.

## Known problems
Keys that are made in another file, and of arguments that arrive under names only, are not seen. `json.dumps` of text
that was never parsed does not sort anything; this is not reported.

## Fix safety
`sort_keys=True` is added to `json.dumps`: safe where its value was parsed from JSON, whose keys are strings, and the
text is used in the comparison only; else unsafe, for keys of different types cannot be sorted. Two `json.dumps` that
are compared with each other become a comparison of their values (unsafe). There is no fix for the model's own text.

## References
- RFC 8259, section 4: an object is an unordered collection
- Python documentation, `json.dumps`: `sort_keys`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.call_parts import Part
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.signatures import Made
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.json_string_comparison.fixes import repair
from lint_rules.rules.json_string_comparison.texts import is_of_text
from lint_rules.syntax import expressions as ex

_HELP = "compare the parsed arguments, or their text from `json.dumps(..., sort_keys=True)`"
_RESULTS = {
    "equal": "the same call in another order of keys counts as new",
    "among": "the same call in another order of keys is not found again",
    "counted": "the same call in another order of keys is counted apart",
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    told: set[cst.CSTNode] = set()  # one text often stands in several comparisons: one finding
    for guard in anatomy.guards.all:
        if not guard.carried or is_of_text(anatomy, guard):
            continue
        texts = _unsorted(anatomy, guard)
        places = {_place(anatomy, guard, made) for made in texts}
        if texts and told.isdisjoint(places):
            yield _draft(anatomy, guard, texts)
        told |= places


def _unsorted(anatomy: Anatomy, guard: Guard) -> list[Made]:
    """The arguments of a guard that are text of no certain order."""
    dumped = [
        made
        for side in (guard.key, guard.kept)
        for made in side.of(Part.DUMPED)
        if made.maker is not None and not anatomy.module.in_handler(made.maker)
    ]
    written = [] if guard.parts & {Part.VALUES, Part.SORTED, Part.EITHER} else guard.key.of(Part.TEXT)
    return [*dumped, *written]


def _place(anatomy: Anatomy, guard: Guard, made: Made) -> cst.CSTNode:
    """The text's maker; the comparison where the text is made in it, or is the model's own."""
    if made.maker is None or anatomy.module.inside(made.maker, guard.node):
        return guard.node
    return made.maker


def _draft(anatomy: Anatomy, guard: Guard, texts: list[Made]) -> Draft:
    first = texts[0]
    node = _place(anatomy, guard, first)
    shown = ex.source(first.maker or first.node, 40)
    how = "is the text that the model wrote" if first.maker is None else "keeps the model's order of keys"
    notes = [Note(guard.node, "it decides here whether the call is a repeat")]
    notes += [Note(made.maker, "and here") for made in texts[1:] if made.maker not in {None, first.maker}]
    related = {note.node: note for note in reversed(notes) if note.node is not node}
    message = f"`{shown}` {how}: {_RESULTS[guard.how]}"
    return Draft(node, message, _HELP, tuple(reversed(related.values())), fix=repair(anatomy, guard, texts))
