"""The last message alone, sent to a conversation that the provider keeps: of several results it is one."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import slice_of_one
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.rounds.offers import offers
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex

_GOES_ON = ("previous_response_id", "conversation")
"""The keywords of a request that goes on from what the provider has. Source: OpenAI, Responses API."""


def last_sent(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """`input=talk[-1:]`, `input=[talk[-1]]` of requests with tools that this file runs; with what they go on from."""
    if not any(kinds.keys() & {Kind.CALLS, Kind.CALL} for kinds in anatomy.facts.all_known().values()):
        return
    for offer in offers(anatomy):
        goes_on = next((kept for key in _GOES_ON if (kept := ex.argument(offer.request, key)) is not None), None)
        given = ex.argument(offer.request, "input")
        if goes_on is None or given is None or one_at_a_time(anatomy, anatomy.module.scope_of[given].function):
            continue
        for value in (given, *anatomy.facts.values_of(given)):
            yield from ((part, goes_on) for part in ex.alternatives(value) if _is_last(part))


def _is_last(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.List) and len(value.elements) == 1:
        only = value.elements[0].value
        at = ex.index(only)
        return isinstance(only, cst.Subscript) and at is not None and ex.integer(at) == -1
    listed, which = slice_of_one(value)
    return listed is not None and which == "last"
