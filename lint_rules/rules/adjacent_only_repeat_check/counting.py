"""Counters of calls that repeat the one before."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.guards.outcomes import Branch, branches
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk_scope


def counted_in_a_row(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether a guard demands several repeats one after the other: a counter goes up on a repeat, and starts anew on
    anything else (`alike = alike + 1 if key == before else 1`, or both branches of an `if`)."""
    chosen = any(_counts_by_choice(anatomy, node) for node in anatomy.module.ancestors(guard.node)) or any(
        isinstance(node, cst.IfExp) and _holds_answer(anatomy, node.test, guard) and _counts_by_choice(anatomy, node)
        for node in guard.function.nodes
    )
    return chosen or any(_counts_by_branch(anatomy, branch) for branch in branches(anatomy, guard))


def _holds_answer(anatomy: Anatomy, test: cst.BaseExpression, guard: Guard) -> bool:
    """Whether a test is the name that a guard's answer was stored in."""
    values = anatomy.facts.values_of(test)
    return len(values) == 1 and anatomy.module.inside(guard.node, values[0])


def _counts_by_choice(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """`n = n + 1 if ... else 1`"""
    assigned = anatomy.module.parent.get(node)
    if not isinstance(node, cst.IfExp) or not isinstance(assigned, cst.Assign) or len(assigned.targets) != 1:
        return False
    values, slot = (node.body, node.orelse), anatomy.facts.slots.of(assigned.targets[0].target)
    fresh = any(ex.integer(value) is not None for value in values)
    return fresh and slot is not None and any(_one_more(anatomy, value) == slot for value in values)


def _counts_by_branch(anatomy: Anatomy, branch: Branch) -> bool:
    """A counter that the branch of other requests sets anew, and that goes up in the same function elsewhere."""
    other = branch.test.orelse if branch.body is branch.test.body else branch.test.body
    if other is None:
        return False
    anew = {slot for node in walk_scope(other) if (slot := _set_anew(anatomy, node)) is not None}
    return any(
        _raised(anatomy, node) in anew and not anatomy.module.inside(node, other)
        for node in (branch.function.nodes if anew else ())
    )


def _set_anew(anatomy: Anatomy, node: cst.CSTNode) -> Slot | None:
    """The counter that a statement sets to a number."""
    if isinstance(node, cst.Assign) and len(node.targets) == 1 and ex.integer(node.value) is not None:
        return anatomy.facts.slots.of(node.targets[0].target)
    return None


def _raised(anatomy: Anatomy, node: cst.CSTNode) -> Slot | None:
    """The counter that a statement makes one more: `n += 1`, `n = n + 1`."""
    if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign):
        return anatomy.facts.slots.of(node.target) if ex.integer(node.value) is not None else None
    if isinstance(node, cst.Assign) and len(node.targets) == 1:
        slot = anatomy.facts.slots.of(node.targets[0].target)
        return slot if slot is not None and _one_more(anatomy, node.value) == slot else None
    return None


def _one_more(anatomy: Anatomy, value: cst.BaseExpression) -> Slot | None:
    """The counter of `n + 1`."""
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add):
        return anatomy.facts.slots.of(value.left) if ex.integer(value.right) is not None else None
    return None
