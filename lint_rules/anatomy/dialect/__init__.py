"""A program's own words for messages and calls, and the provider's words that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from lint_rules.anatomy.dialect.lowering import Lowering
from lint_rules.anatomy.dialect.parts import Parts, may_tell
from lint_rules.program.modules import Find, Module, Program, forget_most
from lint_rules.program.values import Values

__all__ = ["Lowered", "lower"]


class Lowered(NamedTuple):
    """What became of a file: whether anything was written otherwise, and whether its classes are parts of agents."""

    is_changed: bool
    has_parts: bool


def lower(tree: ast.Module, source: bytes, path: str, find: Find | None) -> Lowered:
    """Gives the tree of a file the provider's words, in place. `find` finds what the file imports."""
    forget_most()
    with closing(Module(path, tree)) as module:
        values = Values(Program(find, module, source))
        parts = Parts(values, _around(module, values.program))
        is_changed = Lowering(module, values, parts).apply()
        return Lowered(is_changed, is_changed and bool(parts.words))


def _around(module: Module, program: Program) -> Iterator[Module]:
    """A module, and those of its project from which it imports, if something in them may tell of parts."""
    yield module
    for origin in dict.fromkeys(module.origins):
        found = program.found(module, origin)
        read = program.imported(module, origin) if found is not None and may_tell(found[1]) else None
        if read is not None:
            yield read
