"""A program's own words for messages and calls, and the provider's words that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from lint_rules.anatomy.dialect.lowering import Lowering
from lint_rules.anatomy.dialect.parts import Parts
from lint_rules.program.modules import Find, Module, Program, forget_most, indexed
from lint_rules.program.values import Values

__all__ = ["Lowered", "lowered"]


class Lowered(NamedTuple):
    """The tree of a file in the provider's words; `has_parts`: classes of its project are parts of agents."""

    tree: ast.Module
    has_parts: bool


def lowered(source: bytes, path: str, find: Find | None) -> Lowered | None:
    """A file in the provider's words, None where it uses them itself. `find` finds its imports."""
    forget_most()
    module = indexed(path, source)
    if module is None:
        return None
    values = Values(Program(find))
    parts = Parts(values, _around(module, values.program))
    tree = Lowering(module, values, parts).applied(source)
    return Lowered(tree, bool(parts.words)) if tree is not None else None


def _around(module: Module, program: Program) -> Iterator[Module]:
    """A module, and those of its project from which it imports: where its classes are, and what is done with them."""
    yield module
    for origin in dict.fromkeys(module.origins):
        found = program.imported(module, origin)
        if found is not None:
            yield found
