"""Texts of arguments that are compared as such."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.outcomes import branches
from lint_rules.anatomy.program import handlers
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk_scope

_LEAVES = (cst.Return, cst.Raise, cst.Break, cst.Continue, cst.Yield, cst.Del)
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
    facts, made = anatomy.facts, False
    for node in walk_scope(body):
        if isinstance(node, _LEAVES):
            return False
        if isinstance(node, cst.Call):
            shows = handlers.is_logging(node) or handlers.shown_only(anatomy.module, node, body)
            of_text = facts.decoder(node) or facts.encoder(node) or ex.called_name(node) in _OF_TEXT
            base = ex.receiver(node)
            keeps = ex.called_name(node) in _KEEPS and base is not None and facts.slots.of(base) in guard.slots
            if not (shows or of_text or keeps):
                return False
            made = made or bool(shows or of_text)
        elif isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            places = [t.value if isinstance(t, cst.Subscript) else t for t in ex.targets(node)]
            if not all(facts.slots.of(place) in guard.slots for place in places):
                return False
    return made
