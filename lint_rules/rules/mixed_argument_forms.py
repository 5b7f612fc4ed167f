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
`json.dumps` or `str()` made, or what the same file parses elsewhere. For the second form the calls of one side must
come from the history, and every call that this file stores there be made by a constructor without that field; for
positional arguments the fields of the class must be known, from this file or the one it is imported from.

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
from lint_rules.syntax.walk import walk

_HELP = "give both sides one form: parse the arguments once, and store what you compare"
_TEXT = frozenset({Part.TEXT, Part.DUMPED, Part.SORTED})


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for guard in anatomy.guards.all:
        if guard.how == "counted" or not guard.carried or guard.key.opaque or guard.kept.opaque:
            continue
        mixed = _mixed(guard)
        if mixed is not None:
            yield mixed
        elif guard.how == "equal":
            yield from _never_set(anatomy, guard)


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


def _never_set(anatomy: Anatomy, guard: Guard) -> Iterator[Draft]:
    """`a.arguments == b.arguments` of a stored call that was made without `arguments`."""
    for side, signature in ((guard.kept_node, guard.kept), (guard.key_node, guard.key)):
        pair = ex.member(side)
        if pair is None or not signature.past or not isinstance(side, cst.Attribute):
            continue
        if not signature.parts & ARGUMENTS or not _both_read(guard, pair[1]):
            continue
        makers = list(_stored_calls(anatomy))
        if makers and all(_leaves_out(anatomy, maker, pair[1]) for maker in makers):
            message = (
                f"the calls in the history are stored without `{pair[1]}`: `{ex.source(guard.node, 50)}` is never true,"
                " and the guard never notices a repeat"
            )
            yield Draft(guard.node, message, _HELP, (Note(makers[0], f"stored here, without `{pair[1]}`"),))
            return


def _both_read(guard: Guard, name: str) -> bool:
    other = ex.member(guard.key_node), ex.member(guard.kept_node)
    return all(pair is not None and pair[1] == name for pair in other)


def _stored_calls(anatomy: Anatomy) -> Iterator[cst.Call]:
    """The constructor calls that make the calls of stored messages: `tool_calls=[ToolCall(...) for c in calls]`."""
    for write in anatomy.writes.all:
        if write.value is None:
            continue
        values = [write.value, *anatomy.facts.values_of(write.value)]
        for value in values:
            for node in walk(value):
                if isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == "tool_calls":
                    yield from _made(anatomy, node.value)


def _made(anatomy: Anatomy, calls: cst.BaseExpression) -> Iterator[cst.Call]:
    slot = anatomy.facts.slots.of_name(calls)
    for value in anatomy.facts.assigned(slot) if slot is not None else [calls]:
        if isinstance(value, cst.ListComp) and isinstance(value.elt, cst.Call):
            yield value.elt
        elif isinstance(value, cst.List):
            yield from (element.value for element in value.elements if isinstance(element.value, cst.Call))


def _leaves_out(anatomy: Anatomy, call: cst.Call, name: str) -> bool:
    """Whether a constructor call gives no value to the field `name`."""
    if any(arg.star for arg in call.args) or ex.argument(call, name) is not None:
        return False
    given = ex.positional(call)
    listed = _fields(anatomy, call)
    if listed is not None:
        return name in listed and listed.index(name) >= len(given)
    return False


def _fields(anatomy: Anatomy, call: cst.Call) -> list[str] | None:
    """The fields of the class that a call makes an object of, from this file or the one it is imported from."""
    made = anatomy.facts.slots.constructed(call)
    if made is None and isinstance(call.func, cst.Name):
        found = anatomy.imported_class(call.func.value)
        made = found[1] if found is not None else None
    return fields(made) if made is not None else None
