"""Paths as people write and read them, and gitignore-style patterns of paths. Knows nothing of settings or files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator


def absolute(path: str) -> str:
    """The absolute form of a path that may not exist. `..` is followed through symbolic links, as the system does."""
    if os.pardir not in path.replace(os.sep, "/").split("/"):
        return os.path.abspath(path)
    if os.path.basename(path) in ("", os.curdir, os.pardir):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def shown(path: str) -> str:
    """How a path is shown to people: relative where it lies below the current folder, absolute elsewhere."""
    path, here = os.path.abspath(path), os.getcwd()
    if path == here:
        return os.curdir
    inside = os.path.join(here, "")
    return path[len(inside) :] if path.startswith(inside) else path


def upwards(folder: str) -> Iterator[str]:
    """An absolute folder, and each folder above it up to the root of the file system."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def pattern_error(line: str) -> str | None:
    """What is wrong with a pattern, or None."""
    if re.fullmatch(r"[\w.*-][\w./*-]*", line):  # nothing can be: no need to import pathspec for it
        return None
    try:
        Patterns(os.curdir, [line])
    except ValueError as error:
        return str(error)
    return None


class Patterns:
    """Gitignore-style patterns that hold below one folder. Of two that match, the later one counts.

    A pattern without a slash (`build`, `*_pb2.py`) matches a name at any depth, one with a slash (`src/gen`) a place
    below the folder; a pattern that matches a folder covers all that is in it. Outside the folder only names match.
    """

    def __init__(self, folder: str, lines: Iterable[str]) -> None:
        """`folder` is absolute. Raises ValueError for a line that is no pattern."""
        from pathspec import GitIgnoreSpec  # not at the top: `looplint --version` has no use for it

        self._folder = folder
        self._inside = os.path.join(folder, "")
        self._spec = GitIgnoreSpec.from_lines(lines)
        self._verdicts: dict[str, tuple[bool | None, int | None]] = {}

    def cover(self, path: str, is_dir: bool = False) -> bool:
        """Whether an absolute path, or a folder above it, matches."""
        return self._match(path, is_dir)[0] is True

    def verdict(self, path: str, is_dir: bool = False) -> bool | None:
        """What the patterns say of this very path: True matched, False taken back by `!`, None nothing.

        A match that is only inherited from the folder above counts as nothing: whoever walks a folder that matches
        was told to by name.
        """
        verdict, line = self._match(path, is_dir)
        if verdict is None or not path.startswith(self._inside):
            return verdict
        parent = os.path.dirname(path)
        if parent not in self._verdicts:
            self._verdicts[parent] = self._match(parent, is_dir=True)
        return None if self._verdicts[parent] == (verdict, line) else verdict

    def _match(self, path: str, is_dir: bool) -> tuple[bool | None, int | None]:
        """The verdict, and the index of the line that decided."""
        if path == self._folder:
            return None, None
        name = path[len(self._inside) :] if path.startswith(self._inside) else os.path.basename(path)
        found = self._spec.check_file(name.replace(os.sep, "/") + ("/" if is_dir else ""))
        return found.include, found.index
