"""What was found in files before: a file that is as it was, beside neighbours that are, is not analysed again.

One file for each set of options, below a folder that is safe to delete: a line with the digest of the rest, which is
JSON. Entries are keyed by content, never by time. Whatever is wrong with a cache (unreadable, damaged, of another
version, on a full disk), it is as if there were none: what the digest does not confirm is not read, so the rest can be
relied upon. Runs at the same time may lose entries of each other, never mix them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from lint_rules import __version__, saving
from lint_rules.finding import Finding, FixOffer, Related, Report, Span
from lint_rules.options import Options
from lint_rules.rules.catalogue import Rule, rules

try:
    from _blake2 import blake2b  # what hashlib hands on; but hashlib loads OpenSSL, which takes longer than to check
except ImportError:
    from hashlib import blake2b

Digests = tuple[tuple[str, str, str | None], ...]
"""The imports that were followed from a file: path of the importer, module as written there, and the digest of the
source found for it, None where there was none. The importer may itself be a module that the file imports."""
_Neighbour = Callable[[str, str], "str | None"]
"""(path of the importer, module as written there) -> the digest of its source, if there is one."""

_KEPT_DAYS = 30
"""An entry that was not used for so long is dropped."""
_RENEWED_DAYS = 7
_DAY = 86_400


@lru_cache(maxsize=4096)  # the same neighbours are asked for by many files
def digest(source: bytes) -> str:
    """A name for some bytes that no other bytes have."""
    return blake2b(source, digest_size=16).hexdigest()


class Cache:
    """The results of earlier runs below `folder`. Used by one process."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._indexes: dict[Options, _Index] = {}
        self._today = int(time.time()) // _DAY

    def find(self, path: str, content: str, options: Options, neighbour: _Neighbour) -> Report | None:
        """What was found in a file with the digest `content`, or None; `neighbour` gives those of what is imported."""
        return self._index(options).find(path, content, neighbour)

    def note(self, path: str, content: str, options: Options, report: Report, neighbours: Digests) -> None:
        """Keep what was found in a file, until `save`."""
        index = self._index(options)
        index.entries[path] = _packed(content, self._today, report, neighbours)
        index.changed = True

    def save(self) -> None:
        """Write what is new. Never raises."""
        for index in self._indexes.values():
            if index.changed:
                with suppress(OSError, ValueError):
                    _make_folder(self._folder)
                    index.write(self._today)

    def _index(self, options: Options) -> _Index:
        found = self._indexes.get(options)
        if found is None:
            path = os.path.join(self._folder, __version__, f"{_fingerprint(options)}.json")
            found = self._indexes[options] = _Index(path, self._today)
        return found


class _Index:
    """The entries of one set of options, by path."""

    def __init__(self, path: str, today: int) -> None:
        self._path = path
        self._today = today
        self.changed = False
        self.entries: dict[str, Any] = {}
        with suppress(OSError), open(path, "rb") as file:
            confirmation, _, text = file.read().partition(b"\n")
            if confirmation == digest(text).encode():
                import json

                self.entries = json.loads(text)

    def find(self, path: str, content: str, neighbour: _Neighbour) -> Report | None:
        entry = self.entries.get(path)
        if entry is None:
            return None
        known, day, report, neighbours = _unpacked(path, entry)
        if known != content or any(neighbour(importer, module) != seen for importer, module, seen in neighbours):
            return None
        if self._today - day >= _RENEWED_DAYS:
            entry[1] = self._today
            self.changed = True
        return report

    def write(self, today: int) -> None:
        """Put the whole index in the place of the old one. Raises OSError."""
        import json

        folder = os.path.dirname(self._path)
        os.makedirs(folder, exist_ok=True)
        for _ in saving.clear(folder):
            pass
        kept = {path: entry for path, entry in self.entries.items() if today - entry[1] < _KEPT_DAYS}
        text = json.dumps(kept, separators=(",", ":")).encode()
        saving.replace(self._path, digest(text).encode() + b"\n" + text)


def _make_folder(folder: str) -> None:
    """The folder, with what keeps it out of repositories and backups. Raises OSError; then there is no new folder."""
    if os.path.isdir(folder):  # made by looplint or by the user, who then decides what is in it
        return
    os.makedirs(folder, exist_ok=True)
    notes = {
        ".gitignore": b"# made by looplint\n*\n",
        "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55\n# made by looplint, safe to delete\n",
    }
    try:
        for name, text in notes.items():
            saving.replace(os.path.join(folder, name), text)
    except BaseException:
        with suppress(OSError):
            os.unlink(os.path.join(folder, ".gitignore"))
        with suppress(OSError):
            os.rmdir(folder)
        raise


def _fingerprint(options: Options) -> str:
    """A name for all that findings depend on beside the files: options, this program, Python, the current folder."""
    facts = [sorted(options.codes), tuple(options.vocabulary), sys.version_info[:3], os.getcwd(), _program()]
    facts += [(rule.code, rule.package, _files_of(rule)) for rule in rules() if rule.asks is not None]
    return digest(repr(facts).encode("utf-8", "surrogatepass"))


def _program() -> list[tuple[str, int, int]]:
    """What tells this program from others of its version: all its files in a checkout, where each may change.

    An installation writes them all at once, and to look at each would be a twentieth of a run.
    """
    folder = os.path.dirname(__file__)
    paths = [os.path.join(folder, "__init__.py")]
    if os.path.exists(os.path.join(os.path.dirname(folder), "pyproject.toml")):
        paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".py")]
    return _states(paths)


def _files_of(rule: Rule) -> list[tuple[str, int, int]]:
    """What tells a package that brings a rule from others of its version: its author edits it between two runs."""
    module = sys.modules.get(rule.module.partition(".")[0])
    folders = list(getattr(module, "__path__", ()))
    paths = [os.path.join(at, name) for top in folders for at, _, names in os.walk(top) for name in names]
    file = getattr(module, "__file__", None)
    return _states([path for path in (*paths, file) if path is not None and path.endswith(".py")])


def _states(paths: Iterable[str]) -> list[tuple[str, int, int]]:
    states = [(path, os.stat(path)) for path in sorted(paths)]
    return [(path, state.st_size, state.st_mtime_ns) for path, state in states]


# -- one entry: [digest, day, suppressed, findings, neighbours], shorter where it says nothing ----------------------


def _packed(content: str, day: int, report: Report, neighbours: Digests) -> list[Any]:
    if not report.findings and not report.suppressed and not neighbours:
        return [content, day]
    return [content, day, report.suppressed, [list(f[1:]) for f in report.findings], list(neighbours)]


def _unpacked(path: str, entry: Any) -> tuple[str, int, Report, Digests]:
    if len(entry) == 2:
        content, day = entry
        suppressed, findings, neighbours = 0, [], []
    else:
        content, day, suppressed, findings, neighbours = entry
    report = Report(tuple(_finding(path, values) for values in findings), int(suppressed))
    return content, int(day), report, tuple((importer, module, seen) for importer, module, seen in neighbours)


def _finding(path: str, values: list[Any]) -> Finding:
    span, code, name, message, help_, confidence, related, fix = values
    notes = tuple(Related(Span(*map(int, place)), text, where) for place, text, where in related)
    offer = None if fix is None else FixOffer(*fix)
    return Finding(path, Span(*map(int, span)), code, name, message, help_, confidence, notes, offer)
