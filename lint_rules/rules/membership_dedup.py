"""# membership-dedup (AGL612)

## What it does
Reports a message that is stored only if no equal message is in the history yet, and messages that are left out since
their role and content have been seen before.

## Why is this bad
People repeat themselves, and mean it. The second "yes" of a conversation, the second "go on", the same short answer
to another question are lost: the model reads a question without its answer, or two assistant messages in a row.

## Example
```python
def say(client, history, text):
    message = {"role": "user", "content": text}
    if message not in history:
        history.append(message)
    reply = client.chat.completions.create(model="gpt-5", messages=history).choices[0].message
    history.append(reply)
    return reply.content
```

## Use instead
```python
def say(client, history, text):
    history.append({"role": "user", "content": text})
    reply = client.chat.completions.create(model="gpt-5", messages=history).choices[0].message
    history.append(reply)
    return reply.content
```

## How it decides
A condition asks whether a message, or its text, is missing in a message history (or in the contents of its messages),
and appends that message to it. Or it asks whether a key made of nothing but role, name and content of a message has
been seen, and appends the message. System messages, tool results, keys with an id or a time, and comparisons with the
last message only are silent.

## Known problems
Message objects that carry an id of their own, unseen here, are told apart by it.

## Fix safety
There is no fix: where doubles come from must be found first.

## References
- OpenAI API reference, chat completions: a request holds the whole conversation, equal messages included
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk, walk_scope

_TELLS_NOTHING_ELSE = frozenset({"role", "content", "name", "text", "type", "parts"})
_ADVICE = "append it always; where doubles are real, tell messages apart by an id of their own"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for node in anatomy.module.nodes_of(cst.If):
        test = node.test
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            continue
        target = test.comparisons[0]
        if isinstance(target.operator, cst.NotIn):
            yield from _missing(anatomy, node, test.left, target.comparator)
            yield from _unseen(anatomy, node, test.left, target.comparator, node.body)
        elif isinstance(target.operator, cst.In) and _skips(node):
            loop = next((o for o in anatomy.module.ancestors(node) if isinstance(o, (cst.For, cst.FunctionDef))), None)
            if isinstance(loop, cst.For):
                yield from _unseen(anatomy, node, test.left, target.comparator, loop.body)


def _skips(node: cst.If) -> bool:
    return node.orelse is None and any(isinstance(inside, cst.Continue) for inside in walk_scope(node.body))


# -- an equal message in the history --------------------------------------------------------------------------


def _missing(
    anatomy: Anatomy, node: cst.If, value: cst.BaseExpression, container: cst.BaseExpression
) -> Iterator[Draft]:
    history = _history(anatomy, container)
    if history is None:
        return
    for stored in _stored_in(anatomy, node.body, history):
        if _is_value(anatomy, stored, value):
            message = (
                f"the message is stored only if `{describe(history)}` holds no equal one:"
                ' a second "yes" is lost, and the model reads a question without its answer'
            )
            notes = []
            evidence = anatomy.facts.of(history).get(Kind.HISTORY)
            if evidence is not None:
                notes.append(
                    Note(evidence.root.node, f"`{describe(history)}` is the message history: {evidence.clause}")
                )
            yield Draft(node, message, _ADVICE, tuple(note for note in notes if note.node is not node))
            return


def _history(anatomy: Anatomy, container: cst.BaseExpression) -> Slot | None:
    """The history that `container` is, or whose contents it lists: `[m["content"] for m in history]`."""
    if isinstance(container, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        pair = ex.member(container.elt)
        if pair is None or pair[1] != "content" or container.for_in.ifs:
            return None
        container = container.for_in.iter
    if not isinstance(container, (cst.Name, cst.Attribute)) or Kind.HISTORY not in anatomy.facts.kinds(container):
        return None
    return anatomy.facts.slots.of(container)


def _stored_in(anatomy: Anatomy, region: cst.CSTNode, slot: Slot) -> Iterator[Stored]:
    function = anatomy.module.scope_of[region].function
    for stored in anatomy.transcript.stored(function):
        if stored.slot == slot and stored.kind == "append" and anatomy.module.inside(stored.node, region):
            if stored.role in {"user", "assistant", None} and not stored.answers and stored.calls is None:
                yield stored


def _is_value(anatomy: Anatomy, stored: Stored, value: cst.BaseExpression) -> bool:
    """Whether what is stored is the value that was asked for, or a message with it as content; without an id."""
    message = stored.message
    if message is None:
        return False
    made = message.node
    if _has_identity(made) or any(_has_identity(v) for v in anatomy.facts.values_of(made)):
        return False
    asked = ex.source(value, 200)
    wrote = stored.write.value if stored.write is not None else None
    if wrote is not None and ex.source(wrote, 200) == asked:
        return message.role is not None or _is_plain(anatomy, value)
    return message.content is not None and ex.source(message.content, 200) == asked


def _is_plain(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a message is known to be a dict with role and content."""
    known = anatomy.facts.kinds(value).get(Kind.MESSAGE)
    return known is not None and any(step.reason.startswith("has `role`") for step in known.chain())


def _has_identity(node: cst.BaseExpression) -> bool:
    keys = set(ex.dict_items(node))
    if isinstance(node, cst.Call):
        keys |= {arg.keyword.value for arg in node.args if arg.keyword is not None}
    return any(
        "id" in key.lower().split("_") or "time" in key.lower() or key in {"index", "created_at", "ts"} for key in keys
    )


# -- a key that was seen ----------------------------------------------------------------------------------------


def _unseen(
    anatomy: Anatomy,
    node: cst.If,
    key: cst.BaseExpression,
    seen: cst.BaseExpression,
    region: cst.BaseSuite,
) -> Iterator[Draft]:
    parts = _parts_of_key(anatomy, key)
    slot = anatomy.facts.slots.of(seen)
    if slot is None or len({name for _, name in parts}) < 1 or not any(name == "content" for _, name in parts):
        return
    if any(name not in _TELLS_NOTHING_ELSE for _, name in parts) or len({base for base, _ in parts}) != 1:
        return
    message = next(iter(parts))[0]
    if Kind.MESSAGE not in anatomy.facts.of(message):
        return
    adds = appends = False
    for call in (n for n in walk_scope(region) if isinstance(n, cst.Call) and len(n.args) == 1):
        base = ex.receiver(call)
        if base is None or ex.called_name(call) not in {"add", "append"}:
            continue
        if anatomy.facts.slots.of(base) == slot and ex.source(call.args[0].value, 200) == ex.source(key, 200):
            adds = True
        elif anatomy.facts.slots.of(call.args[0].value) == message:
            appends = True
    if adds and appends:
        text = (
            f"messages with the role and content of an earlier one are left out (`{ex.source(seen, 40)}`):"
            ' a second "yes" is lost, and the model reads a question without its answer'
        )
        yield Draft(node, text, _ADVICE)


def _parts_of_key(anatomy: Anatomy, key: cst.BaseExpression) -> set[tuple[Slot, str]]:
    """The members that a key is made of, each with the slot of the message: `(m, "role")`, `(m, "content")`."""
    values = anatomy.facts.values_of(key) if isinstance(key, cst.Name) else [key]
    found: set[tuple[Slot, str]] = set()
    for value in values:
        for part in walk(value):
            pair = ex.member(part)
            slot = anatomy.facts.slots.of(pair[0]) if pair is not None else None
            if pair is not None and slot is not None and Kind.MESSAGE in anatomy.facts.of(slot):
                found.add((slot, pair[1]))
            elif isinstance(part, cst.Name) and not isinstance(value, cst.Name):
                named = anatomy.facts.slots.of(part)
                for given in anatomy.facts.assigned(named) if named is not None else ():
                    inner = ex.member(given)
                    base = anatomy.facts.slots.of(inner[0]) if inner is not None else None
                    if inner is not None and base is not None and Kind.MESSAGE in anatomy.facts.of(base):
                        found.add((base, inner[1]))
    return found
