"""AGL701: a note behind the head of a text, with the number of characters that are missing."""

from __future__ import annotations

from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.heads import Head
from lint_rules.repairs.edits import Edits, Fix, block_of, line_of, of_the_file
from lint_rules.syntax import expressions as ex

_TITLE = "say how many characters are missing"


@of_the_file
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
    return _statement(anatomy, head, parent) or Fix(_TITLE, "unsafe", lambda: Edits(replaced={head.node: _noted(head)}))


def _statement(anatomy: Anatomy, head: Head, parent: cst.CSTNode) -> Fix | None:
    """`if len(text) > n: text = ...` for `text = text[:n]`; None for other places of a head."""
    line = line_of(anatomy.module, parent)
    block = block_of(anatomy.module, line) if line is not None else None
    if line is None or block is None or not isinstance(parent, cst.Assign) or len(parent.targets) > 1:
        return None
    if ex.source(parent.targets[0].target) != ex.source(head.text):
        return None
    text, size, cut = _words(head)
    indent = block.indent if isinstance(block, cst.IndentedBlock) else None

    def changed(statements: list[Any]) -> list[Any]:
        at = list(block.body).index(line)
        here = statements[at]
        told = here.with_changes(body=[parent.with_changes(value=cst.parse_expression(cut))], leading_lines=[])
        test = cst.parse_expression(f"len({text}) > {size}")
        longer = cst.If(test, cst.IndentedBlock([told], indent=indent), leading_lines=here.leading_lines)
        return [*statements[:at], longer, *statements[at + 1 :]]

    return Fix(_TITLE, "unsafe", lambda: Edits(changed={block: changed}, claimed=frozenset({line})))


def _noted(head: Head) -> cst.BaseExpression:
    """`text if len(text) <= n else f"{text[:n]}\\n[{len(text) - n} more characters]"`."""
    text, size, cut = _words(head)
    return cst.parse_expression(f"{text} if len({text}) <= {size} else {cut}")


def _words(head: Head) -> tuple[str, str, str]:
    """The text, the size, and the head with its note, as source."""
    text, size = ex.source(head.text, 500), ex.source(head.size, 500)
    return text, size, f'f"{{{text}[:{size}]}}\\n[{{len({text}) - {size}}} more characters]"'
