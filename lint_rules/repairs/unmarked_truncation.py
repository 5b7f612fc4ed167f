"""AGL701: a note behind the head of a text, with the number of characters that are missing."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.heads import Head
from lint_rules.repairs.edits import Edits, Fix
from lint_rules.syntax import expressions as ex


def repair(anatomy: Anatomy, head: Head) -> Fix | None:
    """Only where the head is all there is: assigned, passed or stored as it is, and cut from a plain name."""
    parent = anatomy.module.parent[head.node]
    if not isinstance(parent, (cst.Assign, cst.DictElement, cst.Arg, cst.Return)):
        return None
    if ex.dotted(head.text) is None or "(" in (ex.dotted(head.text) or "("):
        return None
    if not (isinstance(head.size, cst.Integer) or ex.dotted(head.size) is not None):
        return None
    if isinstance(parent, cst.Arg) and not isinstance(head.text, cst.Name):
        return None
    return Fix("say how many characters are missing", "unsafe", lambda: Edits(replaced={head.node: _noted(head)}))


def _noted(head: Head) -> cst.BaseExpression:
    """`text if len(text) <= n else f"{text[:n]}\\n[{len(text) - n} more characters]"`."""
    name, size = ex.source(head.text, 500), ex.source(head.size, 500)
    cut = f'f"{{{name}[:{size}]}}\\n[{{len({name}) - {size}}} more characters]"'
    return cst.parse_expression(f"({name} if len({name}) <= {size} else {cut})")
