"""AGL702: a floor of 0, and a slice for which 0 means none (AGL703)."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import Cut, negated
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.repairs.negative_zero_slice import before, counted
from lint_rules.repairs.negative_zero_slice import repair as recount
from lint_rules.rules.window_above_limit.floors import Floor
from lint_rules.syntax import expressions as ex


@of_the_file
def repair(anatomy: Anatomy, cut: Cut, floor: Floor) -> Fix | None:
    """Only where the floor is part of one expression, and its number is used for this slice alone."""
    node = cut.node
    if not isinstance(node, cst.Subscript) or not isinstance(floor.node, (cst.Call, cst.IfExp)):
        return None
    size = negated(node)
    if size is None:  # `h[len(h) - n:]` is right for 0 as it is
        return None
    if recount(anatomy, node, size) is None or before(anatomy, node, size) or not _is_used_once(anatomy, size):
        return None
    return Fix("no floor under what is left, and none means none", "unsafe", lambda: _edits(anatomy, node, size, floor))


def _edits(anatomy: Anatomy, node: cst.Subscript, size: cst.BaseExpression, floor: Floor) -> Edits:
    zero = cst.Integer("0")
    if not anatomy.module.inside(floor.node, node):
        return Edits(replaced={node: counted(node, size), floor.least: zero})
    lowered = size.deep_replace(floor.least, zero)
    assert isinstance(lowered, cst.BaseExpression)
    return Edits(replaced={node: counted(node, lowered)})


def _is_used_once(anatomy: Anatomy, size: cst.BaseExpression) -> bool:
    """Whether the number serves this slice only: another reader may count on the floor."""
    if not isinstance(size, cst.Name):
        return True
    slot = anatomy.facts.slots.of(size)
    reads = [
        name
        for name in anatomy.module.nodes_of(cst.Name)
        if name.value == size.value
        and anatomy.facts.slots.of(name) == slot
        and not isinstance(anatomy.module.parent[name], cst.AssignTarget)
    ]
    return len(reads) == 1 and ex.dotted(reads[0]) == size.value
