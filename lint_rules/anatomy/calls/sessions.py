"""Conversations that somebody else keeps: a chat of an SDK, and responses that go on from an id that an object keeps.

Such a request stores what it gets: a reply with calls is in the conversation before anybody has looked at it, and a
result is there only when a request has brought it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_GOES_ON = "previous_response_id"
"""The keyword of a request that goes on from another. Source: OpenAI, Responses API."""


def goes_on_with(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.Call, Slot]]:
    """The requests of a function that go on with such a conversation: each with the place of the chat, or of the id."""
    slots = anatomy.facts.slots
    for call in anatomy.calls.llm_calls.get(function, ()):
        base = ex.receiver(call)
        slot = slots.of(base) if base is not None and is_asked_in_session(anatomy, call) else None
        if slot is not None:
            yield call, slot
    for site in anatomy.calls.calls[function]:
        for kept in _kept_ids(anatomy, site.callee):
            seen = anatomy.transcript.seen_from(site.node, kept)
            if seen is not None:
                yield site.node, seen


def is_asked_in_session(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a request goes on with a chat of an SDK."""
    base = ex.receiver(call)
    return ex.called_name(call) in words.SESSION_CALLS and base is not None and Kind.MODEL in anatomy.facts.kinds(base)


def _kept_ids(anatomy: Anatomy, function: Scope) -> set[Slot]:
    """Where a function that asks keeps the id of the reply from which its next request goes on."""
    if not anatomy.calls.llm_calls.get(function):
        return set()
    slots = anatomy.facts.slots
    kept: set[Slot | None] = set()
    for node in function.nodes_of(cst.Assign):
        pair = ex.member(node.value)
        if pair is not None and pair[1] == "id" and Kind.REPLY in anatomy.facts.kinds(pair[0]):
            kept.update(slots.of(target) for target in ex.targets(node))
    sent = {slots.of(value) for value in _sent_ids(function)} if kept else set()
    return {slot for slot in kept & sent if slot is not None}


def _sent_ids(function: Scope) -> Iterator[cst.BaseExpression]:
    for node in function.nodes_of(cst.Call, cst.Dict):
        value = {**ex.made_of(node), **(ex.keywords(node) if isinstance(node, cst.Call) else {})}.get(_GOES_ON)
        if value is not None:
            yield value
    for assign in function.nodes_of(cst.Assign):
        if any((pair := ex.member(target)) is not None and pair[1] == _GOES_ON for target in ex.targets(assign)):
            yield assign.value
