"""Where that lives which an object has got from another one: when it was made, or later."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import given_when_made
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax.memo import DEEPEST


def place_of(anatomy: Anatomy, slot: Slot, depth: int = 0) -> Slot:
    """Where that lives which a slot stands for, if an object holds it that was made with it, or was given it later.

    `self.book.notes` of `clerk = Clerk(self.book)` and of `clerk.book = self.book`, for `clerk.book.notes`.
    """
    if slot[0] not in {"member", "item"} or depth > DEEPEST:
        return anatomy.aliases.of(slot)
    put = anatomy.facts.assigned(slot) if slot[0] == "member" else []
    for made in anatomy.facts.assigned(slot[1]) if slot[0] == "member" and not put else ():
        given = given_when_made(anatomy, made) if isinstance(made, cst.Call) else ()
        put = [*put, *(value for _, kept, value in given if kept[2] == slot[2])]
    same = anatomy.facts.slots.of(put[0]) if len(put) == 1 else None
    if same is not None and same != slot:
        return place_of(anatomy, same, depth + 1)
    return anatomy.aliases.of((slot[0], place_of(anatomy, slot[1], depth + 1), *slot[2:]))
