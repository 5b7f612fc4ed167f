"""Places at which somebody may read the messages of a history again: not what only makes it longer, or sends it."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import LOOKING
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept

_GIVES = (cst.Return, cst.AssignTarget, cst.AnnAssign, cst.Param)
_TESTS = (cst.If, cst.While, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget)


@kept
def read_back(anatomy: Anatomy, history: Slot) -> Collection[cst.BaseExpression] | None:
    """Where the file may read what is in a history, by any name it has; None where some who get it are not known."""
    if history not in anatomy.writes.by_slot:  # a store, which calls give
        given = (call for call in anatomy.module.nodes_of(cst.Call) if history in anatomy.kept_elsewhere.given_by(call))
        return [call for call in given if not _passes(anatomy, call, ())]
    places = _places(anatomy, history)
    if not places:
        return None
    slots, writing = anatomy.facts.slots, {write.node for write in anatomy.writes.all}
    named = (node for node in anatomy.module.nodes_of(cst.Name, cst.Attribute) if slots.of(node) in places)
    return [node for node in named if not _passes(anatomy, node, writing)]


def _places(anatomy: Anatomy, history: Slot) -> list[Slot]:
    """Where a history is known as what, by those that hand it on, and get it; nothing where some are not known."""
    slots, sites = anatomy.facts.slots, anatomy.calls.sites
    same: dict[Slot, set[Slot]] = {}
    for function in anatomy.module.functions:
        for site in sites[function]:
            for parameter, value in slots.bindings(site.node, function):
                place = slots.of(value)
                if place is not None:
                    same.setdefault(place, set()).add(parameter)
                    same.setdefault(parameter, set()).add(place)
    found = [history]
    for slot in found:
        if is_parameter(slot) and not sites[slot[1]]:
            return []
        found += [other for other in same.get(slot, ()) if other not in found]
    return found


def _passes(anatomy: Anatomy, node: cst.BaseExpression, writing: Collection[cst.CSTNode]) -> bool:
    """Whether a history is made, grown, sent, measured, shown, given back, or handed to a function of the file."""
    parent = anatomy.module.parent[node]
    if isinstance(parent, (*_GIVES, *_TESTS)) or handlers.shown_only(anatomy.module, node):
        return True
    outer = next((o for o in anatomy.module.ancestors(node) if isinstance(o, cst.Call)), None)
    if outer is None:
        return False
    looked_at = isinstance(parent, cst.Arg) and ex.dotted(outer.func) in LOOKING
    known = outer in writing or anatomy.facts.slots.callee(outer) is not None  # where its name is another
    return looked_at or known or anatomy.calls.asks(outer) or anatomy.facts.encoder(outer) is not None
