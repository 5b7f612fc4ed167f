"""Whether tool calls and their results are stored in a history: no other message may then come between them."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import Message
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_RESULTS = frozenset({"tool_result", "toolResult"})
_SPEAKING = frozenset({"user", "assistant", "system"})


def hold_tool_messages(anatomy: Anatomy, writes: Iterable[HistoryWrite]) -> bool:
    """Whether one of these writes stores a tool call or a result."""
    return any(_is_tool_message(anatomy, write.value) for write in writes if write.value is not None)


def hold_text_only(anatomy: Anatomy, writes: Iterable[HistoryWrite]) -> bool:
    """Whether all that these writes put into a history is seen to be words: no calls, no results, nothing unknown."""
    messages = anatomy.transcript.messages
    put = [write for write in writes if write.kind in GROWING]
    made = [
        messages.many(write.value) if write.kind == "extend" else messages.of(write.value)
        for write in put
        if write.value is not None
    ]
    return bool(put) and len(made) == len(put) and all(
        found and all(_is_text(anatomy, message) for message in found) for found in made
    )  # fmt: skip


def _is_text(anatomy: Anatomy, message: Message) -> bool:
    if message.role not in _SPEAKING or message.calls is not None or message.answers or message.more:
        return False
    content = message.content
    return (
        content is not None
        and not anatomy.facts.is_kind(content, Kind.REPLY)
        and not anatomy.transcript.messages.holds_calls(content)
        and not _holds_results(anatomy, content)
    )


def _is_tool_message(anatomy: Anatomy, value: cst.BaseExpression, depth: int = 0) -> bool:
    items = ex.dict_items(value)
    if items:
        role = ex.text(items["role"]) if "role" in items else None
        content = items.get("content")
        if role == "tool" or "tool_calls" in items or "tool_call_id" in items:
            return True
        return content is not None and _holds_results(anatomy, content)
    if anatomy.facts.is_kind(value, Kind.RESULT):
        return True
    slot = anatomy.facts.slots.of(value)
    if slot is None or depth > 3:
        return False
    if _calls_read(anatomy, slot):
        return True
    sources = [*anatomy.facts.assigned(slot), *anatomy.facts.given(slot)]
    return any(_is_tool_message(anatomy, source, depth + 1) for source in sources)


def _calls_read(anatomy: Anatomy, slot: Slot) -> bool:
    return any("tool_calls" in fact.reason for fact in anatomy.facts.shown(slot, Kind.REPLY))


def _holds_results(anatomy: Anatomy, content: cst.BaseExpression) -> bool:
    slot = anatomy.facts.slots.of(content)
    values = [content]
    if slot is not None:
        values += [*anatomy.facts.assigned(slot), *(arg.value for put in anatomy.facts.put(slot) for arg in put.args)]
    if any(isinstance(n, cst.SimpleString) and ex.text(n) in _RESULTS for value in values for n in walk(value)):
        return True
    return slot is not None and anatomy.facts.of(("item", slot)).get(Kind.RESULT) is not None
