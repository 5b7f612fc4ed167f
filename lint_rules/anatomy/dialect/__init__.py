"""A program's own words for messages and calls, and the provider's words that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

from lint_rules.anatomy.dialect.lowering import Lowering
from lint_rules.anatomy.dialect.parts import Parts, may_tell
from lint_rules.program.modules import Find, Module, Program, forget_most, indexed
from lint_rules.program.values import Values

__all__ = ["Lowered", "lower", "may_tell"]


class Lowered(NamedTuple):
    """What became of a file: whether anything was written otherwise, and whether its classes are parts of agents."""

    is_changed: bool
    has_parts: bool


Importing = Callable[[str], Iterable[tuple[str, bytes]]]
"""The path of a file -> path and source of those that import it."""


def lower(tree: ast.Module, source: bytes, path: str, find: Find | None, importing: Importing | None = None) -> Lowered:
    """Gives the tree of a file the provider's words, in place. `find` finds what the file imports.

    Classes that it shares with other files are known by what these do with them, too: an adapter sends what an agent
    only stores. Those files are known where `importing` tells of them.
    """
    forget_most()
    with closing(Module(path, tree)) as module:
        values = Values(Program(find, module, source))
        parts = Parts(values, _around(module, values.program, importing))
        is_changed = Lowering(module, values, parts).apply()
        return Lowered(is_changed, is_changed and bool(parts.words))


def _around(module: Module, program: Program, importing: Importing | None) -> Iterator[Module]:
    """A module, those of its project from which it imports, and others that import its classes with it.

    Of these the ones in which something may tell of parts.
    """
    yield module
    imported = dict.fromkeys(found for origin in module.origins if (found := program.found(module, origin)))
    sharing = dict.fromkeys(
        other
        for place, source in ((module.path, b"class "), *imported)
        if importing is not None and b"class " in source
        for other in importing(place)
    )
    for place, source in imported | sharing:
        read = indexed(place, source) if place != module.path and may_tell(source) else None
        if read is not None:
            yield read
