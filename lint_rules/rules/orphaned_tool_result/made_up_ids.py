"""Results under an id that no call has: made of the id of a call and a text, `call.id + "_next"`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import is_parameter
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk


def made_up_ids(anatomy: Anatomy) -> Iterator[cst.BaseExpression]:
    """The ids under which a file stores results, and that stand nowhere else in it, where a call could get them."""
    told = (stored.message for f in anatomy.module.functions for stored in anatomy.transcript.stored(f))
    answered = (part for message in told if message is not None for part in message.answers)
    for part in dict.fromkeys(map(ex.inner, answered)):
        if _adds_text(part) and any(_is_id(anatomy, node) for node in walk(part)):
            same = ex.source(part, 200)
            others = anatomy.module.nodes_of(cst.FormattedString, cst.BinaryOperation)
            if not any(other is not part and ex.source(other, 200) == same for other in others):
                yield part


def _adds_text(node: cst.BaseExpression) -> bool:
    """`f"{id}_next"`, `id + "_next"`."""
    if isinstance(node, cst.FormattedString):
        return any(isinstance(part, cst.FormattedStringText) and part.value.strip() for part in node.parts)
    sides = (node.left, node.right) if isinstance(node, cst.BinaryOperation) else ()
    return any(ex.text(side) for side in sides)


def _is_id(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether an expression is the id of a call; or a parameter that is given one in this file."""
    pair = ex.member(node)
    if pair is not None:
        return pair[1] in IDS and Kind.CALL in anatomy.facts.kinds(pair[0])
    slot = anatomy.facts.slots.of_name(node)
    if slot is None or not is_parameter(slot):
        return False
    given = (anatomy.facts.slots.bindings(site.node, slot[1]) for site in anatomy.calls.sites[slot[1]])
    values = [value for bound in given for parameter, value in bound if parameter == slot]
    return any((pair := ex.member(value)) is not None and pair[1] in IDS for value in values)
