"""# cut-json-arguments (AGL502)

## What it does
Reports JSON text that is cut by length and then stored in a history or sent: the arguments of a tool call, or the
result of one.

## Why is this bad
What is left is no JSON. APIs that parse stored arguments refuse the whole history, also long after; others show the
model its own call with broken arguments, and it learns to write such ones. A broken result reads like a complete one.

## Symptoms
- after a long chat the model writes broken arguments
- a tool result ends in the middle of its JSON
- llama.cpp: `Failed to parse tool call arguments as JSON`

## Example
```python
def slim(message):
    for call in message["tool_calls"]:
        function = call["function"]
        function["arguments"] = function["arguments"][:80] + "..."
    return message
```

## Use instead
```python
import json


def slim(message):
    for call in message["tool_calls"]:
        function = call["function"]
        if len(function["arguments"]) > 80:
            function["arguments"] = json.dumps({"note": "arguments were left out"})
    return message
```

## How it decides
A slice from the front of the arguments of a tool call (as text) is stored as `arguments` of a call; or a slice of what
`json.dumps` made, here or in another function of the file, is what a tool gives back, or a part of a message or of a
request, and nothing beside it says that something is missing. What a text is made of, and what tells of a cut, is found
as for AGL701.

## Known problems
JSON that is cut in another file is not seen.

## Fix safety
There is no fix: which part of the data may go is not known.

## References
- OpenAI API reference, chat completions: `function.arguments` is JSON text
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.heads import Head, Heads, is_json
from lint_rules.anatomy.messages.message_texts import cut_texts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex

_HELP = "shorten the data before it becomes JSON (a list to its first items, long strings each), or leave it out whole"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    heads = Heads(anatomy)
    if not any(_is_arguments(anatomy, head) or is_json(anatomy.facts, head) for head in heads.all()):
        return
    seen: set[cst.CSTNode] = set()
    for stored, value in _arguments(anatomy):
        for head in heads.within(value, anatomy.module.scope_of[stored].function):
            if head.node not in seen and (_is_arguments(anatomy, head) or is_json(anatomy.facts, head)):
                seen.add(head.node)
                message = (
                    f"the arguments `{ex.source(head.text, 40)}` are cut by length and stored: what is left is no JSON,"
                    " and the API, or the next parser, refuses it"
                )
                yield _draft(anatomy, head, message, stored, "stored as the arguments of a tool call here")
    for text, head in cut_texts(anatomy):
        if head.node not in seen and is_json(anatomy.facts, head):
            what = "the JSON of a tool's result" if text.answers else "JSON that a model reads"
            message = (
                f"{what} is cut by length (`{ex.source(head.node, 40)}`): the model gets broken data that nothing"
                " tells from complete data"
            )
            where = "given back here" if text.tool else "a message gets it here"
            yield _draft(anatomy, head, message, text.node, where)


def _arguments(anatomy: Anatomy) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    """What is stored as the arguments of a call: `function["arguments"] = x`, `{"name": ..., "arguments": x}`."""
    for node in anatomy.module.nodes_of(cst.Assign):
        pair = ex.member(node.targets[0].target)
        if pair is not None and pair[1] == "arguments" and not _is_made_here(anatomy, pair[0]):
            yield node, node.value
    for display in anatomy.module.nodes_of(cst.Dict):
        items = ex.dict_items(display)
        if "arguments" in items and "name" in items:
            yield display, items["arguments"]


def _is_made_here(anatomy: Anatomy, node: cst.BaseExpression) -> bool:
    """Whether a dict is made by this program, for a log or trace most likely: it is no call of a model's reply."""
    values = anatomy.facts.values_of(node)
    return any(isinstance(value, cst.Dict) for value in values)


def _is_arguments(anatomy: Anatomy, head: Head) -> bool:
    return Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(head.text)


def _draft(anatomy: Anatomy, head: Head, message: str, place: cst.CSTNode, how: str) -> Draft:
    notes = () if anatomy.module.inside(head.node, place) else (Note(place, how),)
    return Draft(head.node, message, _HELP, notes)
