"""Texts of arguments that are compared as such."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.outcomes import branches, only_does
from lint_rules.anatomy.program import handlers
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import nodes_below

_KEEPS = frozenset({"add", "append"})
_OF_TEXT = frozenset({"len", "str", "strip"})
"""What tells nothing but of the text that it gets."""


def is_of_text(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether a guard only decides about the text of its key: whether it is shown again, parsed or measured again.

    What is new is shown, or kept with what follows from the text alone; what is not new is passed over.
    """
    found = branches(anatomy, guard)
    return bool(found) and all(
        branch.body is None and _only_of_text(anatomy, branch.test.body, guard) for branch in found
    )


def _only_of_text(anatomy: Anatomy, body: cst.BaseSuite, guard: Guard) -> bool:
    facts, of = anatomy.facts, anatomy.facts.slots.of

    def is_of_text(call: cst.Call) -> bool:
        tells = facts.decoder(call) or facts.encoder(call) or ex.called_name(call) in _OF_TEXT
        return bool(tells) or handlers.is_logging(call) or handlers.shown_only(anatomy.module, call, body)

    def keeps(call: cst.Call) -> bool:
        return is_of_text(call) or (ex.called_name(call) in _KEEPS and of(ex.receiver(call)) in guard.slots)

    def is_kept(place: cst.BaseExpression) -> bool:
        return of(place.value if isinstance(place, cst.Subscript) else place) in guard.slots

    return only_does(body, keeps, is_kept) and any(map(is_of_text, nodes_below(body, cst.Call)))
