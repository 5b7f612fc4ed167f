"""# mixed-argument-forms (AGL406)

## What it does
Reports a repeat guard that compares parsed arguments with JSON text, or with a field that the stored calls never set.

## Why is this bad
A dict never equals a string, and never equals None. The comparison is false in every round: the guard is there, and
does nothing. The model repeats its call until the limit of rounds ends the run, and each time the tool runs again.

## Symptoms
- the repeat guard never fires
- my agent repeats the same call, although there is a guard

## Example
```python
import json


def run(client, messages, tools, execute):
    last, alike = None, 0
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        alike = alike + 1 if [(call.name, call.input) for call in calls] == last else 1
        last = [(call.name, json.dumps(call.input, sort_keys=True)) for call in calls]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if alike == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    last, alike = None, 0
    for _ in range(20):
        reply = client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages, tools=tools)
        calls = [block for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if not calls:
            return reply.content
        wanted = [(call.name, call.input) for call in calls]
        alike = alike + 1 if wanted == last else 1
        last = wanted
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": execute(call)} for call in calls]
        messages.append({"role": "user", "content": results})
        if alike == 4:
            raise RuntimeError("the model repeats itself")
    raise RuntimeError("no answer within 20 rounds")
```

## How it decides
Both sides must be made of the arguments of tool calls, the one of parsed ones only, the other of text only: what
`json.dumps` or `str()` made, or what the same file parses elsewhere. What stands under one key or field of what a list
holds is followed by itself, and what a test has told to be a dict is parsed. The key of a count is compared with what
is counted. For the second form the calls of one side must come from the history, and every call that this file stores
there be made, by a dict or a constructor, without that key or field, which nothing sets later; for positional arguments
the fields of the class must be known, from this file or the one it is imported from.

## Known problems
Calls that another file stores, or loads from a database, are not seen.

## Fix safety
There is no fix: which of both forms is meant, and where to parse, is for a person to say.

## References
- OpenAI API reference: `function.arguments` is a string; Anthropic API reference: `input` is an object
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.call_parts import ARGUMENTS, Part
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.signatures import Signature
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import fields

_HELP = "give both sides one form: parse the arguments once, and store what you compare"
_IN_CALLS = frozenset({Part.WHOLE, Part.EITHER})
_TEXT = frozenset({Part.TEXT, Part.DUMPED, Part.SORTED})


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for guard in anatomy.guards.all:
        if not guard.carried or guard.key.opaque or guard.kept.opaque:
            continue
        mixed = _mixed(guard)
        if mixed is not None:
            yield mixed
    yield from _never_set(anatomy)


def _mixed(guard: Guard) -> Draft | None:
    forms = [side.parts & ARGUMENTS for side in (guard.key, guard.kept)]
    for (this, other), (signature, against) in zip(
        (forms, forms[::-1]), ((guard.key, guard.kept), (guard.kept, guard.key)), strict=True
    ):
        if this == {Part.VALUES} and other and other <= _TEXT:
            parsed = _shown(signature, Part.VALUES)
            text = _shown(against, *_TEXT)
            message = (
                f"`{ex.source(parsed, 40)}` is parsed, `{ex.source(text, 40)}` is text: they are never equal, and the"
                " guard never notices a repeat"
            )
            return Draft(guard.node, message, _HELP, (Note(parsed, "parsed arguments"), Note(text, "text")))
    return None


def _shown(signature: Signature, *parts: Part) -> cst.BaseExpression:
    made = signature.of(*parts)[0]
    return made.maker or made.node


# -- a field that nobody sets ---------------------------------------------------------------------------------------


def _never_set(anatomy: Anatomy) -> Iterator[Draft]:
    """`a.arguments == b.arguments`, `a["parsed"] == args`, of calls that all are stored without such a part."""
    signatures, makers = anatomy.guards.signatures, _stored_calls(anatomy)
    assigned = (ex.member(target) for node in anatomy.module.nodes_of(cst.Assign) for target in ex.targets(node))
    put = {pair[1] for pair in assigned if pair is not None}
    for node in anatomy.module.nodes_of(cst.Comparison) if makers else ():
        sides = [node.left, node.comparisons[0].comparator]
        for side, other in (sides, sides[::-1]) if isinstance(node.comparisons[0].operator, cst.Equal) else ():
            pair = ex.member(side)
            if pair is None or pair[1] in put or ARGUMENTS.isdisjoint(signatures.of(other).parts):
                continue
            read = signatures.of(pair[0])
            if read.past and _IN_CALLS & read.parts and all(_leaves_out(anatomy, made, pair[1]) for made in makers):
                message = (
                    f"the calls in the history are stored without `{pair[1]}`: `{ex.source(node, 50)}` is never true,"
                    " and the guard never notices a repeat"
                )
                yield Draft(node, message, _HELP, (Note(makers[0], f"stored here, without `{pair[1]}`"),))
                break


def _stored_calls(anatomy: Anatomy) -> list[cst.BaseExpression]:
    """What makes the calls of stored messages, `tool_calls=[ToolCall(...) for c in calls]`; none if not seen."""
    stored = (each.calls for function in anatomy.module.functions for each in anatomy.transcript.stored(function))
    made = [_made(anatomy, calls) for calls in stored if calls is not None]
    return [call for calls in made for call in calls] if all(made) else []


def _made(anatomy: Anatomy, calls: cst.BaseExpression) -> list[cst.BaseExpression]:
    found: list[cst.BaseExpression] = []
    for value in anatomy.facts.values_of(calls) or [calls]:
        made = [value.elt] if isinstance(value, cst.ListComp) else []
        made = [element.value for element in value.elements] if isinstance(value, cst.List) else made
        found += [each for each in made if isinstance(each, (cst.Call, cst.Dict))]
    return found


def _leaves_out(anatomy: Anatomy, made: cst.BaseExpression, name: str) -> bool:
    """Whether a call is made without a value for the part `name`."""
    if isinstance(made, cst.Dict):
        items = ex.dict_items(made)
        inside = items.get("function", made)
        shown = len(items) == len(made.elements) and isinstance(inside, cst.Dict)
        return shown and name not in items and name not in ex.dict_items(inside)
    if not isinstance(made, cst.Call) or any(arg.star for arg in made.args) or ex.argument(made, name) is not None:
        return False
    given = ex.positional(made)
    listed = _fields(anatomy, made)
    return listed is not None and name in listed and listed.index(name) >= len(given)


def _fields(anatomy: Anatomy, call: cst.Call) -> list[str] | None:
    """The fields of the class that a call makes an object of, from this file or the one it is imported from."""
    made = anatomy.facts.slots.constructed(call)
    if made is None and isinstance(call.func, cst.Name):
        found = anatomy.imported_class(call.func.value)
        made = found[1] if found is not None else None
    return fields(made) if made is not None else None
