"""AGL603: the message itself is stored, or stored also when it has calls and no text.

Only a reply's own message of the SDKs can take the place of what was made of it; an object of the program that holds
the text and the calls of a reply is no message.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.rules.dropped_tool_calls.carriers import is_of_choice
from lint_rules.rules.dropped_tool_calls.lost_calls import How, LostCall
from lint_rules.syntax import expressions as ex


@of_the_file
def repair(anatomy: Anatomy, lost: LostCall) -> Fix | None:
    """Always unsafe: what reads the history must be able to read the message."""
    if lost.how is How.WITH_TEXT_ONLY:
        return _widened(anatomy, lost)
    write = lost.stored.write
    if lost.how is not How.REBUILT or write is None or write.node is not lost.stored.node or write.value is None:
        return None
    value = write.value
    message = _message_behind(anatomy, value)
    if message is None or lost.stored.slot is None or lost.stored.kind != "append":
        return None
    if _read_as_dicts(anatomy, lost.stored.slot) and not _is_dict(anatomy, message):
        if not _is_sdk_message(anatomy, message):
            return None
        dumped = cst.Call(
            cst.Attribute(message.deep_clone(), cst.Name("model_dump")),
            [cst.Arg(cst.Name("True"), keyword=cst.Name("exclude_none"), equal=_EQUAL)],
        )
        return Fix("append the message itself, with its calls", "unsafe", lambda: Edits(replaced={value: dumped}))
    return Fix(
        "append the message itself, with its calls", "unsafe", lambda: Edits(replaced={value: message.deep_clone()})
    )


_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id"})
_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _widened(anatomy: Anatomy, lost: LostCall) -> Fix | None:
    """`if m.content` becomes `if m.content or m.tool_calls`, where `m` itself is stored."""
    guard, write = lost.guard, lost.stored.write
    if guard is None or write is None or write.value is None:
        return None
    pair = ex.member(guard.test)
    slots = anatomy.facts.slots
    if pair is None or not isinstance(guard.test, cst.Attribute) or pair[1] != "content":
        return None
    if slots.of(pair[0]) is None or slots.of(pair[0]) != slots.of(write.value):
        return None
    if not any(
        node.attr.value == "tool_calls" and slots.of(node.value) == slots.of(pair[0])
        for node in anatomy.module.nodes_of(cst.Attribute)
    ):
        return None
    calls = cst.Attribute(pair[0].deep_clone(), cst.Name("tool_calls"))
    test = cst.BooleanOperation(guard.test, cst.Or(), calls)
    return Fix("store the message when it has calls, too", "unsafe", lambda: Edits(replaced={guard.test: test}))


def _message_behind(anatomy: Anatomy, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """`m` of `{"role": "assistant", "content": m.content}`, also by way of a name; None for richer messages."""
    items = ex.dict_items(value)
    content = items.get("content")
    if content is None and isinstance(value, cst.Call) and ex.called_name(value) == "AIMessage":
        content = ex.argument(value, "content", 0)
        if len(value.args) != 1:
            return None
    elif set(items) != {"role", "content"} or not isinstance(value, cst.Dict) or len(value.elements) != 2:
        return None
    if content is None:
        return None
    part = next(iter(ex.alternatives(content)))
    if isinstance(part, cst.Name):
        assigned = anatomy.assigned(part)
        if assigned is None:
            return None
        part = next(iter(ex.alternatives(assigned)))
    pair = ex.member(part)
    if pair is None or pair[1] != "content" or not isinstance(pair[0], cst.Name):
        return None
    langchain = isinstance(value, cst.Call)
    return pair[0] if langchain or _is_dict(anatomy, pair[0]) or _is_sdk_message(anatomy, pair[0]) else None


def _is_sdk_message(anatomy: Anatomy, message: cst.BaseExpression) -> bool:
    """`x.choices[0].message`."""
    values = anatomy.facts.values_of(message)
    return bool(values) and all(is_of_choice(value) for value in values)


def _is_dict(anatomy: Anatomy, message: cst.BaseExpression) -> bool:
    """`response["message"]`."""
    values = anatomy.facts.values_of(message)
    return bool(values) and all(isinstance(value, cst.Subscript) and ex.key(value) == "message" for value in values)


def _read_as_dicts(anatomy: Anatomy, slot: Slot) -> bool:
    """Whether elements of a list are read by key, or written out as JSON."""
    slots = anatomy.facts.slots
    for node in anatomy.module.nodes_of(cst.Subscript, cst.Call):
        pair = ex.member(node)
        if pair is not None and pair[1] in _KEYS and _is_element(anatomy, pair[0], slot):
            return True
        if isinstance(node, cst.Call) and ex.called_name(node) in {"dumps", "dump"}:
            if any(slots.of(arg.value) == slot for arg in node.args):
                return True
    return False


def _is_element(anatomy: Anatomy, node: cst.BaseExpression, slot: Slot) -> bool:
    """Whether a value was taken out of a list: `messages[-1]`, `for m in messages`, or of any that holds messages."""
    facts = anatomy.facts
    if facts.slots.of(node) == ("item", slot):
        return True
    known = facts.kinds(node).get(Kind.MESSAGE)
    return known is not None and any(step.reason == "comes from" for step in known.chain())
