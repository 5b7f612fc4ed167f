"""AGL605: the statement that stores the message leaves the loop: for its head, or for its end when a stream is read.

Only a statement of the loop's own body moves, and only when the message is stored at no other place around the loop:
what one place stores too often, another may already store at the right time.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import (
    Block,
    Edits,
    Fix,
    blank_lines,
    block_of,
    line_of,
    of_the_file,
    with_blank_lines,
    without_blank_lines,
)
from lint_rules.rules.double_history_append.doubles import stored_nearby
from lint_rules.rules.double_history_append.places import Double, How

_TITLES = {
    How.PER_CALL: "store the message once, before the loop over its calls",
    How.PER_CHUNK: "store the message once, after the stream",
    How.RETRY: "store the message once, before the attempts",
}


@of_the_file
def repair(anatomy: Anatomy, double: Double) -> Fix | None:
    """Move the statement out of the loop. Always unsafe: other code may count on the order of what is stored."""
    loop, title = double.other, _TITLES.get(double.how)
    if title is None or not isinstance(loop, (cst.For, cst.While)) or loop.orelse is not None:
        return None
    line = line_of(anatomy.module, double.stored.node)
    block = block_of(anatomy.module, loop)
    body = loop.body
    if line is None or block is None or not isinstance(body, cst.IndentedBlock) or line not in body.body:
        return None
    if len(body.body) < 2 or double.stored.role == "tool" or stored_nearby(anatomy, double):
        return None
    return Fix(title, "unsafe", lambda: _edits(block, body, loop, line, after=double.how is How.PER_CHUNK))


def _edits(
    block: Block, body: cst.IndentedBlock, loop: cst.BaseStatement, line: cst.SimpleStatementLine, *, after: bool
) -> Edits:
    inside, outside = list(body.body).index(line), list(block.body).index(loop)
    lines = blank_lines(loop)

    def removed(statements: list[Any]) -> list[Any]:
        rest = [*statements[:inside], *statements[inside + 1 :]]
        if inside == 0:
            rest[0] = without_blank_lines(rest[0])
        elif inside < len(rest):
            rest[inside] = with_blank_lines(rest[inside], blank_lines(line))
        return rest

    def inserted(statements: list[Any]) -> list[Any]:
        before, there, behind = statements[:outside], statements[outside], statements[outside + 1 :]
        if after:
            return [*before, there, line, *behind]
        moved = with_blank_lines(without_blank_lines(line), lines)
        return [*before, moved, without_blank_lines(there), *behind]

    return Edits(changed={body: removed, block: inserted}, claimed=frozenset({line}))
