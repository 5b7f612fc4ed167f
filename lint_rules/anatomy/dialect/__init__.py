"""A program's own words for messages and calls, and the provider's words that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lint_rules.anatomy.dialect.lowering import Lowering
from lint_rules.anatomy.dialect.parts import Parts
from lint_rules.program.modules import Find, Module, Program, forget_most, indexed
from lint_rules.program.values import Values

__all__ = ["lowered"]


def lowered(source: bytes, path: str, find: Find | None) -> ast.Module | None:
    """The tree of a file in the provider's words, None where the file uses them itself. `find` finds its imports."""
    forget_most()
    module = indexed(path, source)
    if module is None:
        return None
    values = Values(Program(find))
    parts = Parts(values, _around(module, values.program))
    return Lowering(module, values, parts).applied(ast.parse(source)) if parts.words else None


def _around(module: Module, program: Program) -> Iterator[Module]:
    """A module, and those of its project from which it imports: where its classes are, and what is done with them."""
    yield module
    for origin in dict.fromkeys(module.origins):
        found = program.imported(module, origin)
        if found is not None:
            yield found
