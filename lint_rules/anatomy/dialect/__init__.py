"""A program's own words for messages and calls, and the provider's words that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

from lint_rules.anatomy.dialect.lowering import Lowering
from lint_rules.anatomy.dialect.parts import Parts
from lint_rules.anatomy.dialect.votes import Votes, may_tell, votes_of
from lint_rules.program.modules import Find, Module, Program
from lint_rules.program.values import Values

__all__ = ["Lowered", "lower", "may_tell", "votes_of"]


class Lowered(NamedTuple):
    """What became of a file: whether anything was written otherwise, and whether its classes are parts of agents."""

    is_changed: bool
    has_parts: bool


Importing = Callable[[str], Iterable[tuple[str, bytes]]]
"""The path of a file -> path and source of those that import it."""
Telling = Callable[[str, bytes], "Votes | None"]
"""Path and source of a file -> what it says of classes."""


def lower(
    tree: ast.Module, source: bytes, path: str, find: Find | None, telling: Telling, importing: Importing | None = None
) -> Lowered:
    """Gives the tree of a file the provider's words, in place. `find` finds what the file imports.

    Classes that it shares with other files are known by what these do with them, too, as `telling` knows: an adapter
    sends what an agent only stores. Those files are known where `importing` tells of them.
    """
    with closing(Module(path, tree)) as module:
        values = Values(Program(find, module, source))
        around = (telling(*each) for each in _around(module, values.program, importing))
        parts = Parts(values, module, [Votes(values, module), *(told for told in around if told is not None)])
        is_changed = Lowering(module, values, parts).apply()
        return Lowered(is_changed, is_changed and bool(parts.words))


def _around(module: Module, program: Program, importing: Importing | None) -> Iterator[tuple[str, bytes]]:
    """The files of a project from which a module imports, and others that import its classes with it.

    Of these the ones in which something may tell of parts.
    """
    imported = dict.fromkeys(found for origin in module.origins if (found := program.found(module, origin)))
    sharing = dict.fromkeys(
        other
        for place, source in ((module.path, b"class "), *imported)
        if importing is not None and (b"class " in source or b"import " in source)  # what it passes on, too
        for other in importing(place)
    )
    for place, source in imported | sharing:
        if place != module.path and may_tell(source):
            yield place, source
