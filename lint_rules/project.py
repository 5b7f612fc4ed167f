"""Who imports a file, where all files of a run are known, and whether they run several things at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from lint_rules.gate.needs import runs_beside
from lint_rules.options import Neighbours

MOST_HOPS = 3
"""How many imports lie, at most, between a file and those that start its functions."""
MOST_IMPORTERS = 16
"""How many of the files that import one are looked at for it."""


@runtime_checkable
class Project(Protocol):
    """`Neighbours` that know the other way, too: which files import one."""

    summaries: dict[Any, Any]
    """What was worked out of single files, for all that ask for it while nothing changes."""

    def __call__(self, path: str, module: str) -> tuple[str, bytes] | None: ...

    def importers(self, path: str) -> Sequence[tuple[str, bytes]]:
        """(path, source) of each file that imports the one at `path`, in order of path."""
        ...


def is_run_beside(path: str, neighbours: Neighbours | None, hops: int = MOST_HOPS) -> bool:
    """Whether a file that imports the one at `path`, or one that imports that, may run several things at once."""
    if not hops or not isinstance(neighbours, Project):
        return False
    given = neighbours.importers(path)[:MOST_IMPORTERS]
    return any(runs_beside(source) for _, source in given) or any(
        is_run_beside(importer, neighbours, hops - 1) for importer, _ in given
    )
