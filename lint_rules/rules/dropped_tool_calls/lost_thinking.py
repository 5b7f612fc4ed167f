"""Replies with thinking whose calls are taken, and whose thinking is left behind: the API wants both, signed."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.agent_runs import runs_agent
from lint_rules.anatomy.rounds.offers import given_to
from lint_rules.anatomy.rounds.replies import replies
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_ON = frozenset({"enabled", "adaptive"})
_SIGNED = frozenset({"signature", "thinking_blocks", "reasoning_content", "redacted_thinking", "reasoning_details"})
"""What thinking is sent back by."""


def lost_thinking(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """Where thinking is lost that is switched on, and where it is: requests with tools, of whose replies nobody gets
    the whole, and what picks all but the thinking of the content that is kept.
    """
    told: set[cst.CSTNode] = set()
    for offer, read in replies(anatomy) if "thinking" in anatomy.module.text else ():
        switch = next((node for node in given_to(anatomy, offer.request, "thinking") if _is_on(node)), None)
        if switch is None or offer.request in told or runs_agent(anatomy, offer.request):
            continue
        told.add(offer.request)
        by = {anatomy.module.scope_of[offer.request].function, *read.by}
        if read.calls and not (read.handed_on or read.stored or read.returned or any(map(_keeps_it, by))):
            yield offer.request, switch
        for function in by:
            yield from ((picked, switch) for picked in function.nodes_of(cst.ListComp) if _leaves_it(anatomy, picked))


def _leaves_it(anatomy: Anatomy, picked: cst.ListComp) -> bool:
    """`content = [b for b in content if b.type != "thinking"]`: whether blocks are kept as they are, but for those."""
    over, outer = picked.for_in, anatomy.module.parent[picked]
    place = ex.targets(outer)[0] if isinstance(outer, (cst.Assign, cst.AnnAssign)) else None
    is_kept = isinstance(outer, cst.DictElement) and ex.text(outer.key) == "content"
    if not is_kept and (place is None or (ex.member(place) or (None, ""))[1] != "content"):
        return False
    return ex.source(picked.elt) == ex.source(over.target) and any(map(_excludes_it, over.ifs))


def _excludes_it(clause: cst.CompIf) -> bool:
    """Whether a test of the type of a block lets calls pass, and no thinking."""
    if not isinstance(clause.test, cst.Comparison):
        return False
    left, operator, right = ex.compared(clause.test)
    asked = ex.member(left)
    if asked is None or asked[1] != "type":
        return False
    parts = right.elements if isinstance(right, (cst.Tuple, cst.List, cst.Set)) else [cst.Element(right)]
    said = {ex.text(part.value) for part in parts}
    if isinstance(operator, (cst.NotEqual, cst.NotIn)):
        return "thinking" in said
    return isinstance(operator, cst.In) and "tool_use" in said and "thinking" not in said


def _is_on(value: cst.BaseExpression) -> bool:
    """`{"type": "enabled", "budget_tokens": 4000}`."""
    said = ex.dict_items(value).get("type")
    return said is not None and ex.text(said) in _ON


def _keeps_it(function: Scope) -> bool:
    """Whether a function reads, or writes, what thinking is sent back by."""
    pairs = (ex.member(node) or ex.asked(node) for node in function.nodes)
    texts = (ex.text(node) for node in function.nodes_of(cst.SimpleString))
    return any(pair is not None and pair[1] in _SIGNED for pair in pairs) or not _SIGNED.isdisjoint(texts)
