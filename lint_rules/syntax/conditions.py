"""What is known where a program comes to a node: the tests that it has passed on the way, its path condition."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.syntax.memo import once
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.walk import last_statement

Tested = cst.If | cst.IfExp | cst.CompIf
"""What has a test."""

JUMPS = (cst.Return, cst.Raise, cst.Continue, cst.Break)
_NONE: tuple[cst.If, ...] = ()


def passed(module: SourceModule, node: cst.CSTNode, region: cst.CSTNode | None = None) -> Iterator[tuple[Tested, bool]]:
    """What has been tested in a region, or in the file, before a node, and whether it holds there; inner ones first.

    An `if` that always ends by a jump counts for what follows it. What a name stands for may have changed since.
    """
    here = node
    for outer in module.ancestors(node):
        if isinstance(outer, (cst.If, cst.IfExp)) and here is not outer.test:
            yield outer, here is outer.body
        elif isinstance(outer, (cst.ListComp, cst.GeneratorExp)):
            yield from ((clause, True) for clause in outer.for_in.ifs)
        elif isinstance(outer, cst.IndentedBlock):
            yield from ((guard, False) for guard in _guards(module, outer) if module.before(guard, here))
        if outer is region:
            return
        here = outer


@once(circular=_NONE)
def _guards(module: SourceModule, block: cst.IndentedBlock) -> tuple[cst.If, ...]:
    """What in a block leaves it under a test, and goes on otherwise."""
    return tuple(
        one
        for one in block.body
        if isinstance(one, cst.If) and one.orelse is None and isinstance(last_statement(one.body), JUMPS)
    )
