"""What lies in a part of a value: `context["history"]`, where `context` is a dict, an object, or what a call gives.

A part is followed to what was put there by name: in a display, by a keyword, by an assignment. What a call gives is
known as a whole: a part of it comes from wherever the call has it from.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import given_when_made
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex

_DEEPEST = 4
Found = tuple[cst.BaseExpression, tuple[cst.CSTNode, ...]]
"""What lies there, and the statements by which it got there, the first one first."""


def keys_of(slot: Slot, root: Slot) -> list[str] | None:
    """`["history"]` of `context["history"]`, a part of `context`; None for an element, which has no name."""
    keys: list[str] = []
    while slot != root:
        if slot[0] != "member":
            return None
        keys.insert(0, slot[2])
        slot = slot[1]
    return keys


def held(anatomy: Anatomy, value: cst.BaseExpression, keys: list[str], depth: int = 0) -> Iterator[Found]:
    """What lies in a part of a value, as the function has it in which that stands."""
    for part in ex.alternatives(value) if depth <= _DEEPEST else ():
        if not keys:
            yield part, ()
        elif isinstance(part, cst.Name):
            yield from _of_name(anatomy, part, keys, depth)
        elif isinstance(part, cst.Call) and not ex.is_dict(part):
            made = {slot[2]: given for _, slot, given in given_when_made(anatomy, part)}
            if made:
                yield from held(anatomy, made[keys[0]], keys[1:], depth + 1) if keys[0] in made else ()
            else:
                yield part, ()
        elif keys[0] in (items := ex.dict_items(part)):
            yield from held(anatomy, items[keys[0]], keys[1:], depth + 1)


def _of_name(anatomy: Anatomy, name: cst.Name, keys: list[str], depth: int) -> Iterator[Found]:
    """By what the name was bound to, and by what was put into that under the key."""
    slot = anatomy.facts.slots.of(name)
    put = anatomy.facts.assigned(("member", slot, keys[0])) if slot is not None else []
    bound = [one.value for one in anatomy.definitions(name) if one.kind == "assign" and one.value is not None]
    for value, rest in [*((value, keys[1:]) for value in put), *((value, keys) for value in bound)]:
        statement = anatomy.module.statement(value)
        if statement is not None and anatomy.module.scope_of[value].function is anatomy.module.scope_of[name].function:
            yield from ((found, (*taken, statement)) for found, taken in held(anatomy, value, rest, depth + 1))


def place_of(anatomy: Anatomy, slot: Slot, depth: int = 0) -> Slot:
    """Where that lives which a slot stands for, if an object holds it that was made with it, or was given it later.

    `self.book.notes` of `clerk = Clerk(self.book)` and of `clerk.book = self.book`, for `clerk.book.notes`.
    """
    if slot[0] not in {"member", "item"} or depth > _DEEPEST:
        return anatomy.aliases.of(slot)
    put = anatomy.facts.assigned(slot) if slot[0] == "member" else []
    for made in anatomy.facts.assigned(slot[1]) if slot[0] == "member" and not put else ():
        given = given_when_made(anatomy, made) if isinstance(made, cst.Call) else ()
        put = [*put, *(value for _, kept, value in given if kept[2] == slot[2])]
    same = anatomy.facts.slots.of(put[0]) if len(put) == 1 else None
    if same is not None and same != slot:
        return place_of(anatomy, same, depth + 1)
    return anatomy.aliases.of((slot[0], place_of(anatomy, slot[1], depth + 1), *slot[2:]))
