"""Replies with thinking whose calls are taken, and whose thinking is left behind: the API wants both, signed."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.offers import given_to
from lint_rules.anatomy.rounds.replies import replies
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_ON = frozenset({"enabled", "adaptive"})
_SIGNED = frozenset({"signature", "thinking_blocks", "reasoning_content", "redacted_thinking", "reasoning_details"})
"""What thinking is sent back by."""


def lost_thinking(anatomy: Anatomy) -> Iterator[tuple[cst.Call, cst.CSTNode]]:
    """Requests that switch thinking on and offer tools, and where; of their replies nobody gets the whole."""
    told: set[cst.CSTNode] = set()
    for offer, read in replies(anatomy) if "thinking" in anatomy.module.text else ():
        if not read.calls or read.handed_on or read.returned or offer.request in told:
            continue
        switch = next((node for node in given_to(anatomy, offer.request, "thinking") if _is_on(node)), None)
        if switch is not None and not any(map(_keeps_it, {anatomy.module.scope_of[offer.request].function, *read.by})):
            told.add(offer.request)
            yield offer.request, switch


def _is_on(value: cst.BaseExpression) -> bool:
    """`{"type": "enabled", "budget_tokens": 4000}`."""
    said = ex.dict_items(value).get("type")
    return said is not None and ex.text(said) in _ON


def _keeps_it(function: Scope) -> bool:
    """Whether a function reads, or writes, what thinking is sent back by."""
    pairs = (ex.member(node) or ex.asked(node) for node in function.nodes)
    texts = (ex.text(node) for node in function.nodes_of(cst.SimpleString))
    return any(pair is not None and pair[1] in _SIGNED for pair in pairs) or not _SIGNED.isdisjoint(texts)
