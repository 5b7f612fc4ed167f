"""Who imports a file, where all files of a run are known, and whether they run several things at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from lint_rules.gate.needs import runs_beside
from lint_rules.noting import Project, is_project
from lint_rules.options import Neighbours
from lint_rules.paths import is_test_file
from lint_rules.syntax.reexports import class_names, promised, standing_for

MOST_HOPS = 3
"""How many imports lie, at most, between a file and those that start its functions."""
MOST_IMPORTERS = 24
"""How many of the files that import one, directly or through others, are looked at for it."""

MOST_IMPORTING_BYTES = 150_000
"""How much of the files that import one is analysed, for what they hand to it."""


def importers_of(path: str, project: Project, leads: Callable[[bytes], bool] = runs_beside) -> list[tuple[str, bytes]]:
    """(path, source) of the files that import one, directly or through others, nearest first.

    Of these, the ones whose source `leads` to something (that runs beside other things), and those through which they
    import it.
    """
    found: dict[str, bytes] = {}
    imported: dict[str, list[str]] = {}
    here = [path]
    for _ in range(MOST_HOPS):
        known = set(found)
        for name in here:
            for importer, source in project.importers(name):
                if importer != path and not _is_test(importer, source):
                    found[importer] = source
                    imported.setdefault(importer, []).append(name)
        here = [name for name in found if name not in known]
    leading: set[str] = set()
    queue = [name for name, source in found.items() if leads(source)]
    for name in queue:
        if name in found and name not in leading:
            leading.add(name)
            queue += imported[name]
    return [(name, source) for name, source in found.items() if name in leading][:MOST_IMPORTERS]


def direct_importers(
    path: str, project: Project, tells: Callable[[bytes], bool] = lambda source: True
) -> list[tuple[str, bytes]]:
    """(path, source) of the files that import one themselves, but for tests, and for more than there is room for.

    Of these, the ones whose source `tells` something.
    """
    found, room = [], MOST_IMPORTING_BYTES
    for near, source in project.importers(path):
        if near != path and len(source) <= room and not _is_test(near, source) and tells(source):
            room -= len(source)
            found.append((near, source))
    return found[:MOST_IMPORTERS]


def deriving(path: str, cls: str, project: Project, methods: frozenset[str]) -> list[tuple[str, bytes]]:
    """(path, source) of the files with classes that derive from one of the file at `path`, by its name.

    Of a protocol that promises `methods`, of those that have them all.
    """
    return direct_importers(path, project, lambda source: bool(standing_for(source, cls, methods)))


def deriving_from_any(path: str, source: bytes, project: Project) -> list[bytes]:
    """The sources of files with classes that stand for any class of the file at `path`, whose `source` this is."""
    methods = promised(source)
    asked = ((cls, methods.get(cls, frozenset())) for cls in class_names(source))
    return [text for cls, wanted in asked for _, text in deriving(path, cls, project, wanted)]


@lru_cache(maxsize=4096)
def _is_test(path: str, source: bytes) -> bool:
    """Whether pytest collects a file: what a test starts at once, nobody else does."""
    return is_test_file(path) and b"def test" in source


def is_imported(path: str, neighbours: Neighbours | None, leads: Callable[[bytes], bool] = runs_beside) -> bool:
    """Whether a file that imports the one at `path`, directly or through others, leads to something; see above."""
    return is_project(neighbours) and bool(importers_of(path, neighbours, leads))
