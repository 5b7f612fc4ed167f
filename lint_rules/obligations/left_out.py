"""Messages that are left out because one that looks the same is in the history already."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk
from lint_rules.syntax.word import SAYING, meaning

_TELLS_NOTHING_ELSE = frozenset({"role", "content", "name", "text", "type", "parts"})


@record
class LeftOut:
    """`node` asks whether a message is new: to the list in `history`, or by a key of its own that is in `seen`."""

    node: cst.If
    history: Slot | None
    seen: cst.BaseExpression


def left_out(anatomy: Anatomy) -> Iterator[LeftOut]:
    """Where a file stores a message only if no equal one was there before, and it has nothing that tells them apart."""
    for node in anatomy.module.nodes_of(cst.If):
        test = node.test
        if type(test) is not cst.Comparison or len(test.comparisons) != 1:
            continue
        asked, target = test.left, test.comparisons[0]
        seen = target.comparator
        if isinstance(target.operator, cst.NotIn):
            history = _history(anatomy, seen)
            if history is not None and _stores(anatomy, node.body, history, asked):
                yield LeftOut(node, history, seen)
            if _keeps_unseen(anatomy, asked, seen, node.body):
                yield LeftOut(node, None, seen)
        elif isinstance(target.operator, cst.In) and _skips(node):
            loop = next((o for o in anatomy.module.ancestors(node) if isinstance(o, (cst.For, cst.FunctionDef))), None)
            if isinstance(loop, cst.For) and _keeps_unseen(anatomy, asked, seen, loop.body):
                yield LeftOut(node, None, seen)


def _skips(node: cst.If) -> bool:
    return node.orelse is None and bool(nodes_below(node.body, cst.Continue))


# -- an equal message in the history ------------------------------------------------------------------------------


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


def _stores(anatomy: Anatomy, region: cst.CSTNode, history: Slot, asked: cst.BaseExpression) -> bool:
    """Whether a region stores in a history what was asked for."""
    return any(_is_value(anatomy, stored, asked) for stored in _stored_in(anatomy, region, history))


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
    """Whether a message is known to be equal to another one that says the same."""
    if isinstance(value, cst.Name) and meaning(value.value) == SAYING:
        return True
    shown = anatomy.facts.evidence(value, Kind.MESSAGE)
    if any(step.reason.startswith("has `role`") for fact in shown for step in fact.chain()):
        return True
    return bool(shown) and _messages_are_values(anatomy)


def _messages_are_values(anatomy: Anatomy) -> bool:
    """Whether the messages that a file makes are compared by what they say: dicts, records, and none has an id."""
    made = [
        stored.message.node
        for function in anatomy.module.functions
        for stored in anatomy.transcript.stored(function)
        if stored.message is not None and stored.role in {"user", "assistant"}
    ]
    nodes = [value for node in made for value in (node, *anatomy.facts.values_of(node))]
    displays = [node for node in nodes if isinstance(node, (cst.Dict, cst.Call))]
    return any(map(ex.is_dict, displays)) and not any(map(_has_identity, displays))


def _has_identity(node: cst.BaseExpression) -> bool:
    keys = set(ex.dict_items(node))
    if isinstance(node, cst.Call):
        keys |= {arg.keyword.value for arg in node.args if arg.keyword is not None}
    return any(
        "id" in key.lower().split("_") or "time" in key.lower() or key in {"index", "created_at", "ts"} for key in keys
    )


# -- a key that was seen ------------------------------------------------------------------------------------------


def _keeps_unseen(anatomy: Anatomy, key: cst.BaseExpression, seen: cst.BaseExpression, region: cst.BaseSuite) -> bool:
    """Whether a region notes a key made of a message's text, and keeps the message."""
    parts = _parts_of_key(anatomy, key)
    slot = anatomy.facts.slots.of(seen)
    names, messages = {name for _, name in parts}, {base for base, _ in parts}
    if slot is None or "content" not in names or not names <= _TELLS_NOTHING_ELSE or len(messages) != 1:
        return False
    message = messages.pop()
    if Kind.MESSAGE not in anatomy.facts.of(message):
        return False
    adds = appends = False
    for call in (n for n in nodes_below(region, cst.Call) if len(n.args) == 1):
        base = ex.receiver(call)
        if base is None or ex.called_name(call) not in {"add", "append"}:
            continue
        if anatomy.facts.slots.of(base) == slot and ex.source(call.args[0].value, 200) == ex.source(key, 200):
            adds = True
        elif anatomy.facts.slots.of(call.args[0].value) == message:
            appends = True
    return adds and appends


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
