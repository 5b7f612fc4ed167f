"""AGL604: `"tool_calls": calls` becomes `**({"tool_calls": calls} if calls else {})`."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.empty_calls import EmptyCalls
from lint_rules.repairs.edits import Edits, Fix
from lint_rules.syntax import expressions as ex


def repair(anatomy: Anatomy, found: EmptyCalls) -> Fix | None:
    """Unsafe: whoever reads the field of a message must be ready to find none. None where it is read as if set."""
    if any(ex.key(node) == "tool_calls" for node in anatomy.module.nodes_of(cst.Subscript)):
        return None
    return Fix("set the field only when there are calls", "unsafe", lambda: _edits(found))


def _edits(found: EmptyCalls) -> Edits:
    element = found.element
    field = cst.Dict([element.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    chosen = cst.IfExp(
        test=found.calls.deep_clone(),
        body=field,
        orelse=cst.Dict([]),
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )
    return Edits(replaced={element: cst.StarredDictElement(chosen, comma=element.comma)})
