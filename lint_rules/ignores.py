"""What .gitignore files leave out, as git reads them; and `.git/info/exclude`, but not what git's settings name."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import NamedTuple

from lint_rules.paths import upwards
from lint_rules.patterns import Patterns, ignore_lines


class Ignores(NamedTuple):
    """The .gitignore files that hold in a folder, outermost first: from the root of its repository down to it."""

    levels: tuple[Patterns, ...] = ()

    @staticmethod
    def above(folder: str) -> Ignores:
        """What holds in a folder by the folders above it."""
        found = Ignores()
        for above in _repository_folders(folder):
            found = found.within(above)
        return found

    def within(self, folder: str) -> Ignores:
        """What holds in a folder directly below. A repository within a repository starts anew."""
        levels = self.levels
        if is_repository(folder):
            levels = _read_ignores(folder, os.path.join(_git_folder(folder), "info", "exclude"))
        levels += _read_ignores(folder, os.path.join(folder, ".gitignore"), follow=False)  # nor does git
        return self if levels is self.levels else Ignores(levels)

    def ignore(self, path: str, is_dir: bool) -> bool:
        """Whether this very path is ignored. The innermost .gitignore that speaks of it decides."""
        verdicts = (level.verdict(path, is_dir) for level in reversed(self.levels))
        return next((verdict for verdict in verdicts if verdict is not None), False)


def ignored(path: str, is_dir: bool) -> bool:
    """Whether a path, or a folder above it in its repository, is ignored."""
    folders = _repository_folders(path)
    ignores = Ignores()
    for folder, inside in zip(folders, [*folders[1:], path], strict=False):  # no folders, no turn
        ignores = ignores.within(folder)
        if ignores.ignore(inside, is_dir or inside != path):
            return True
    return False


def _repository_folders(path: str) -> list[str]:
    """The folders above a path, from the root of its repository down. Empty outside a repository."""
    folders: list[str] = []
    for above in upwards(os.path.dirname(path)):
        folders.insert(0, above)
        if is_repository(above):
            return folders
    return []


def is_repository(folder: str) -> bool:
    """Whether a folder is the root of a work tree of git."""
    return os.path.lexists(os.path.join(folder, ".git"))


def _git_folder(folder: str) -> str:
    """Where a repository keeps what its work trees share: `.git`, unless that is a file that points elsewhere."""
    git = os.path.join(folder, ".git")
    git = _pointed_to(git, b"gitdir: ") or git
    return _pointed_to(os.path.join(git, "commondir")) or git


def _pointed_to(path: str, prefix: bytes = b"") -> str | None:
    """The path that a file of git's holds behind a prefix, None if there is no such file."""
    with suppress(OSError, ValueError):
        target = _read_regular(path).removeprefix(prefix).rstrip(b"\r\n")
        return os.path.join(os.path.dirname(path), os.fsdecode(target))
    return None


def _read_ignores(folder: str, path: str, *, follow: bool = True) -> tuple[Patterns, ...]:
    """The patterns of a file, which hold in a folder; none if it cannot be read or is a link not to `follow`."""
    try:
        return (Patterns(folder, ignore_lines(_read_regular(path, follow=follow))),)
    except (OSError, ValueError):
        return ()


def _read_regular(path: str, *, follow: bool = True) -> bytes:
    """The bytes of a file. Raises OSError; also for what is no file, such as a pipe or device, which may never end."""
    if not stat.S_ISREG(os.stat(path, follow_symlinks=follow).st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    with open(path, "rb") as file:
        return file.read()
