"""How a request sends a history: whole, as its end (a window, a view, behind a prompt), or with more behind it."""

from __future__ import annotations

from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST

_KEPT_BY_SERVER = frozenset({"previous_response_id", "conversation", "conversation_id", "thread_id", "session_id"})
"""Arguments of requests to servers that keep the history themselves."""

How = Literal["", "whole", "more"]


def is_kept_by_server(request: cst.Call) -> bool:
    return any(ex.argument(request, keyword) is not None for keyword in _KEPT_BY_SERVER)


def how_sent(anatomy: Anatomy, sent: cst.BaseExpression, slot: Slot, depth: int = 0) -> How:
    """How the history is sent: whole (a window, a view, behind a prompt), or with more behind it; or not at all."""
    found: How = ""
    for part in ex.alternatives(sent):
        found = _part_sent(anatomy, part, slot, depth) or found
    return found


def _part_sent(anatomy: Anatomy, part: cst.BaseExpression, slot: Slot, depth: int) -> How:
    here = anatomy.facts.slots.of(part)
    if here == slot or (isinstance(part, cst.Call) and slot in anatomy.kept_elsewhere.given_by(part)):
        return "whole"
    if depth > DEEPEST:
        return ""
    if isinstance(part, cst.BinaryOperation):
        if how_sent(anatomy, part.right, slot, depth + 1):
            return "whole"
        return "more" if how_sent(anatomy, part.left, slot, depth + 1) else ""
    if isinstance(part, cst.List):
        return _in_display(anatomy, part, slot, depth)
    if ex.slice_of(part) is not None and isinstance(part, cst.Subscript):
        return how_sent(anatomy, part.value, slot, depth + 1)
    if isinstance(part, cst.ListComp):
        return how_sent(anatomy, part.for_in.iter, slot, depth + 1)
    made = _made_of(anatomy, here, part)
    return next((how for value in made if (how := how_sent(anatomy, value, slot, depth + 1))), "")


def _in_display(anatomy: Anatomy, display: cst.List, slot: Slot, depth: int) -> How:
    """`[prompt, *history]`, `[*history, question]`."""
    for number, element in enumerate(display.elements):
        if isinstance(element, cst.StarredElement) and how_sent(anatomy, element.value, slot, depth + 1):
            return "whole" if number == len(display.elements) - 1 else "more"
    return ""


def _made_of(anatomy: Anatomy, here: Slot | None, part: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a list or property, the result of a function of this file, or a view by another function is made of."""
    if here is not None and here[0] in {"var", "attr"}:
        grown = anatomy.writes.by_slot[here]
        return [*anatomy.facts.assigned(here), *(w.value for w in grown if w.kind == "extend" and w.value)]
    made: list[cst.BaseExpression] = []
    if here is not None and here[0] == "return":
        made = here[1].returned
    if isinstance(part, cst.Call) and not anatomy.calls.asks(part):
        base = ex.receiver(part) if ex.called_name(part) in {"copy", "to_list", "get_messages"} else None
        made += [*ex.positional(part), *([base] if base is not None else [])]
    return made
