"""Which lines changed since a revision, as git tells it."""

from __future__ import annotations

import os
import re
import subprocess
from functools import lru_cache

from lint_rules.layer import SettingsError
from lint_rules.paths import absolute, posix, shown

_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

ALL = range(1, 1 << 60)


class Changes:
    """The lines that differ between the files as they are and where this branch left another."""

    def __init__(self, revision: str) -> None:
        """`revision` is any name git knows. Raises SettingsError (one line) if there is no telling what changed."""
        if revision.startswith("-"):
            raise SettingsError(f"--diff-base: {revision!r} is not a revision")
        self._root = os.path.realpath(os.fsdecode(_git(os.getcwd(), "rev-parse", "--show-toplevel").rstrip(b"\n")))
        commit = _git(self._root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        try:
            base = _git(self._root, "merge-base", os.fsdecode(commit.strip()), "HEAD")
        except SettingsError:
            raise SettingsError(
                f"--diff-base: {revision!r} and this branch have no commit in common here; fetch more of the history "
                "(`git fetch --unshallow`, or `fetch-depth: 0` in actions/checkout)"
            ) from None
        self._base = os.fsdecode(base.split(b"\n")[0])
        names = _git(
            self._root, "diff", "--no-relative", "--name-status", "-z", "--find-renames", self._base, "--"
        ).split(b"\0")
        self._old = dict(_old_names(list(map(os.fsdecode, names))))

    def touch(self, path: str, first: int, last: int) -> bool:
        """Whether one of these lines (from 1, the last included) of a file has changed. A file outside git is new."""
        return any(lines.start <= last and first < lines.stop for lines in self._lines(path))

    @lru_cache(maxsize=8)  # noqa: B019 - lives as long as the run
    def _lines(self, path: str) -> list[range]:
        full = os.path.realpath(absolute(path))
        inside = os.path.join(self._root, "")
        if not full.startswith(inside):
            return [ALL]
        name = posix(full[len(inside) :])
        if name not in self._old:  # not changed, or unknown to git
            return [] if _git(self._root, "ls-files", "-z", "--", f":(literal){name}") else [ALL]
        names = [f":(literal){each}" for each in dict.fromkeys((self._old[name], name))]
        diff = _git(
            *(self._root, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"),
            *(self._base, "--", *names),
        )
        return [range(int(start), int(start) + int(count or b"1")) for start, count in _HUNK.findall(diff)]


def _old_names(fields: list[str]) -> list[tuple[str, str]]:
    """Of each file that changed, its name now and then: the fields are a letter and a name, or two if it moved."""
    found = []
    left = iter(fields)
    for letter in left:
        if letter:
            old = next(left)
            found.append((next(left) if letter[0] in "RC" else old, old))
    return found


def _git(folder: str, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise SettingsError("--diff-base: git is needed, and cannot be started") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if "--verify" in words:
            name = words[-1].removesuffix("^{commit}")
            raise SettingsError(f"--diff-base: git knows no revision {name!r} in {shown(folder)}; fetch it first")
        raise SettingsError(f"--diff-base: git says: {said[0] if said else 'nothing, and failed'}")
    return done.stdout
