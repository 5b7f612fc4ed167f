"""Whether the message at the front of a list, which is looked at, is one that was put before what a cut has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import names_of_elements
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

if TYPE_CHECKING:
    from lint_rules.anatomy.agent import Anatomy


def has_another_in_front(anatomy: Anatomy, subject: cst.BaseExpression, function: Scope) -> bool:
    """`h[0]` behind `h.insert(0, question)`, where `h` is no other list by then: what it is tells of no cut."""
    front, slots = ex.index(subject), anatomy.facts.slots
    listed = slots.of(subject.value) if isinstance(subject, cst.Subscript) else None
    if listed is None or front is None or ex.integer(front) != 0:
        return False
    put = [
        node
        for node in function.nodes_of(cst.Call)
        if ex.called_name(node) == "insert" and node.args and ex.integer(node.args[0].value) == 0
        if (base := ex.receiver(node)) is not None and slots.of(base) == listed and not is_from_loop(anatomy, node)
    ]
    bound = [node for node in function.nodes_of(cst.Assign) if any(slots.of(t) == listed for t in ex.targets(node))]
    looked = set(anatomy.points(function, [subject]))
    flow = anatomy.flow(function)
    first = [point for point in anatomy.points(function, put) if flow.reaches(flow.entry, {point}, looked)]
    return flow.reaches(first, looked, set(anatomy.points(function, bound)))


def is_from_loop(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether what a call adds to a list is made of the element of a loop around it."""
    loops = (outer for outer in anatomy.module.ancestors(call) if isinstance(outer, cst.For))
    elements = {name for loop in loops for name in names_of_elements(loop)}
    return not elements.isdisjoint(n.value for n in walk(call.args[-1]) if isinstance(n, cst.Name))
