"""AGL303: the loop gets an `else` that raises. Only where all that ends without it is the number of rounds."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.limits import Exhaustion
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.syntax import expressions as ex


@of_the_file
def repair(anatomy: Anatomy, loop: cst.While | cst.For, way: Exhaustion) -> Fix | None:
    """Raise when the rounds are used up; the loop must not end by itself for any other reason."""
    body = loop.body
    if not way.pure or way.node is not loop or loop.orelse is not None or not isinstance(body, cst.IndentedBlock):
        return None

    def edits() -> Edits:
        words = f"no answer within the limit of rounds{_limit(loop)}"
        raising = cst.parse_statement(f'raise RuntimeError("{words}")', anatomy.module.tree.config_for_parsing)
        orelse = cst.Else(cst.IndentedBlock([raising], indent=body.indent))
        return Edits(replaced={loop: loop.with_changes(orelse=orelse)})

    return Fix("raise when the rounds are used up", "unsafe", edits)


def _limit(loop: cst.While | cst.For) -> str:
    """` (20)`, where the limit is a number."""
    if isinstance(loop, cst.For) and isinstance(loop.iter, cst.Call) and len(loop.iter.args) == 1:
        number = ex.integer(loop.iter.args[0].value)
        return f" ({number})" if number is not None else ""
    return ""
