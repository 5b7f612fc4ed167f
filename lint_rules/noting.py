"""What is worked out of single files, once for all files of a run that ask, and what all of it rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar

if TYPE_CHECKING:
    from lint_rules.options import Neighbours

Told = TypeVar("Told")

MOST_KEPT = 3_000_000
"""How long all files may be together that the processes of a run keep analysed, in bytes: each takes 300 times that."""


class Known:
    """What was worked out of single files, for all that ask while nothing changes, each with what it rests on."""

    def __init__(self, processes: int = 1) -> None:
        """`processes` work at once, each with its own."""
        self.room = MOST_KEPT // processes
        """How long all files may be together that are kept, in bytes."""
        self.summaries: dict[Any, tuple[Any, Noting]] = {}
        """Small: kept to the end of a run."""
        self.analysed: dict[Any, tuple[Any, Noting]] = {}
        """Large: indexes and anatomies, kept while there is room."""


class Project(Protocol):
    """`Neighbours` that know the other way, too: which files import one."""

    known: Known

    def __call__(self, path: str, module: str) -> tuple[str, bytes] | None: ...

    def importers(self, path: str) -> Sequence[tuple[str, bytes]]:
        """(path, source) of each file that imports the one at `path`, in order of path."""
        ...


class Noting:
    """Neighbours that note what is asked of them: whoever uses what came of that has asked it, too."""

    def __init__(self, neighbours: Neighbours, known: Known) -> None:
        self.neighbours = neighbours
        self.known = known
        self.asked: dict[tuple[str, str], bytes | None] = {}
        """By importer, as one name is several modules: the source that was found."""
        self.sharing: dict[str, Sequence[tuple[str, bytes]]] = {}
        """The files that import one, where it was asked for these."""
        self._used: dict[Noting, None] = {}

    def __call__(self, path: str, module: str) -> tuple[str, bytes] | None:
        found = self.neighbours(path, module)
        self.asked[path, module] = None if found is None else found[1]
        return found

    @property
    def used(self) -> dict[Noting, None]:
        """Those by which came what was used here, or there in turn: they may be asked more, meanwhile."""
        found = dict(self._used)
        queue = list(found)
        for each in queue:
            queue += each._used.keys() - found.keys()
            found.update(each._used)
        return found

    def once(self, known: dict[Any, tuple[Any, Noting]], key: Any, work: Callable[[Noting], Told]) -> Told:
        """What is worked out of a single file, by whoever asks first; all have asked for what it rests on."""
        if key not in known:
            noting = type(self)(self.neighbours, self.known)
            known[key] = work(noting), noting
        found: Told
        found, noting = known[key] = known.pop(key)  # the last of all is what was used last
        self._used[noting] = None
        return found


class NotingProject(Noting):
    """A `Project` that notes what is asked of it."""

    neighbours: Project

    def importers(self, path: str) -> Sequence[tuple[str, bytes]]:
        if path not in self.sharing:
            self.sharing[path] = self.neighbours.importers(path)
        return self.sharing[path]


def noting(neighbours: Neighbours) -> Noting:
    """Neighbours that note; those of a single file that is no part of a run know nothing of others."""
    if isinstance(neighbours, Noting):
        return neighbours
    return NotingProject(neighbours, neighbours.known) if is_project(neighbours) else Noting(neighbours, Known())


def is_project(neighbours: Neighbours | None) -> TypeGuard[Project]:
    """Whether the other way is known. `isinstance` of a protocol would import `inspect` from Python 3.12 on."""
    return hasattr(neighbours, "importers")
