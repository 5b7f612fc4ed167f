"""Who imports a file, where all files of a run are known, and whether they run several things at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from lint_rules.gate.needs import runs_beside
from lint_rules.options import Neighbours

MOST_HOPS = 3
"""How many imports lie, at most, between a file and those that start its functions."""
MOST_IMPORTERS = 24
"""How many of the files that import one, directly or through others, are looked at for it."""


@runtime_checkable
class Project(Protocol):
    """`Neighbours` that know the other way, too: which files import one."""

    summaries: dict[Any, Any]
    """What was worked out of single files, for all that ask for it while nothing changes."""

    def __call__(self, path: str, module: str) -> tuple[str, bytes] | None: ...

    def importers(self, path: str) -> Sequence[tuple[str, bytes]]:
        """(path, source) of each file that imports the one at `path`, in order of path."""
        ...


def importers_of(path: str, project: Project) -> list[tuple[str, bytes]]:
    """(path, source) of the files that import one, directly or through others, nearest first.

    Nothing if none of them may run several things at once.
    """
    found: dict[str, bytes] = {}
    here = [path]
    for _ in range(MOST_HOPS):
        given = [pair for name in here for pair in project.importers(name) if pair[0] != path]
        here = [name for name in dict(given) if name not in found]
        found.update(given)
        if len(found) >= MOST_IMPORTERS:
            break
    nearest = list(found.items())[:MOST_IMPORTERS]
    return nearest if any(runs_beside(source) for _, source in nearest) else []


def is_run_beside(path: str, neighbours: Neighbours | None) -> bool:
    """Whether a file that imports the one at `path`, directly or through others, may run several things at once."""
    return isinstance(neighbours, Project) and bool(importers_of(path, neighbours))
