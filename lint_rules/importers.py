"""Which of the files that a run was given import a file: the way back along `files.neighbours`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

from lint_rules import files
from lint_rules.noting import Known

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<origin>[\w.]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#;]*)"
    rb"|import[ \t]+(?P<modules>[^\n#;]*))",
    re.MULTILINE,
)
_NAMED = re.compile(rb"[\"']([^\W\d]\w*(?:\.[^\W\d]\w*)+)[\"']")
"""`bot.load_extension("rooms.chat")`, `import_module("rooms.chat")`."""
_BOUND = re.compile(rb"(?:^|,)[\s(\\]*([\w.]+)")
_PACKAGE = "__init__.py"


class Given:
    """The files of one run: what each imports, and who imports it. Reads them all when the latter is asked first."""

    def __init__(self, paths: Sequence[str] = (), processes: int = 1) -> None:
        """`paths` are those of the files that were given, as shown; `processes` check them at once."""
        self.paths = paths
        self.known = Known(processes)
        self._importing: dict[str, list[str]] = {}

    def __call__(self, path: str, module: str) -> tuple[str, bytes] | None:
        """The path and source of a module that the file at `path` imports; see `files.neighbours`."""
        return files.neighbours(path, module)

    def importers(self, path: str) -> list[tuple[str, bytes]]:
        """The files that import the one at `path`, also through packages that pass its names on, in order of path.

        Each comes as (path as shown, source). Nothing where `path` is not among the files that were given.
        """
        if path not in self._importing:
            self._importing[path] = sorted(self._passing_on(os.path.abspath(path)))
        found: list[tuple[str, bytes]] = []
        for importer in self._importing[path]:
            with suppress(OSError):
                found.append((importer, files.read_again(importer)))
        return found

    def _passing_on(self, path: str) -> set[str]:
        """The paths of those files, of which packages pass the names on to others."""
        found: set[str] = set()
        queue = [path]
        for there in queue:
            for importer in self._by_imported.get(there, ()):
                place = os.path.abspath(importer)
                if os.path.basename(importer) == _PACKAGE:
                    queue += [place] if place not in queue else []
                elif place != path:
                    found.add(importer)
        return found

    @cached_property
    def _by_imported(self) -> dict[str, list[str]]:
        """The files that import one, by its absolute path."""
        found: dict[str, list[str]] = {os.path.abspath(path): [] for path in self.paths}
        stems = {_stem(path) for path in found}
        for path in self.paths:
            with suppress(OSError):
                modules = (m for m in _modules(files.read(path)) if m.rpartition(".")[2] in stems or m.endswith("."))
                for imported in {files.locate(path, module) for module in modules} & found.keys():
                    found[imported or ""].append(path)
        return found


def _stem(path: str) -> str:
    """The last part of the name under which a file is imported."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.basename(folder) if name == _PACKAGE else os.path.splitext(name)[0]


def _modules(source: bytes) -> set[str]:
    """The modules that a source may import, as written: `core` and `core.llm` for `from core import llm`.

    Also those that it names in a text, for others to load.
    """
    found = {match.decode() for match in _NAMED.findall(source)}
    for match in _IMPORT.finditer(source):
        origin = (match["origin"] or b"").decode()
        for name in (bound.decode() for bound in _BOUND.findall(match["names"] or match["modules"] or b"")):
            found.add(f"{origin}{'' if not origin or origin.endswith('.') else '.'}{name}")
        if origin:
            found.add(origin)
    return found
