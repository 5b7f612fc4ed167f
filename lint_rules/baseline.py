"""Findings that are known and left for later: a file that lists them by what their lines say, not by where they are.

What is in it is hidden. What is in it and no longer found is solved, and has to be taken out, or it could come back
unseen.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from lint_rules.errors import reason
from lint_rules.finding import NOT_ANALYSED, Finding
from lint_rules.fingerprint import Likeness, Source, likenesses
from lint_rules.layer import SettingsError
from lint_rules.paths import posix, shown

FILE = "looplint-baseline.json"
_VERSION = 1

Entries = Counter[Likeness]
"""How many findings look like this; paths are relative to the folder of the file."""


class Baseline:
    """The findings that a file lists, each as often as it is there."""

    def __init__(self, path: str, entries: Entries) -> None:
        """`path` is absolute."""
        self.path = path
        self.entries = entries
        self._folder = os.path.dirname(path)

    @staticmethod
    def read(path: str) -> Baseline:
        """Raises SettingsError (one clear line) for a file that is none."""
        try:
            with open(path, "rb") as file:
                return Baseline(path, Counter(dict(_unpacked(json.load(file)))))
        except OSError as error:
            advice = "; `looplint baseline` writes it" if isinstance(error, FileNotFoundError) else ""
            raise SettingsError(f"the baseline cannot be read: {reason(error)}{advice}", shown(path)) from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise SettingsError("is no baseline; `looplint baseline` writes one", shown(path)) from error

    def sift(self, findings: Sequence[Finding], source: Source) -> tuple[list[Finding], Entries]:
        """The findings that are not listed, in their order; and what was found of those listed."""
        left = self.entries.copy()
        kept = []
        for finding, likeness in zip(findings, self.likenesses(findings, source), strict=True):
            if finding.code != NOT_ANALYSED and left[likeness] > 0:
                left[likeness] -= 1
            else:
                kept.append(finding)
        return kept, self.entries - left

    def solved(self, found: Entries, checked: dict[str, Collection[str]]) -> Entries:
        """What is listed and was not found, though it was looked for, or its file is gone.

        `checked` are the codes that were looked for in each file, by its path as shown.
        """
        looked = {self._relative(path): codes for path, codes in checked.items()}

        def is_known(likeness: Likeness) -> bool:
            if likeness.path in looked:
                return likeness.code in looked[likeness.path]
            return not os.path.exists(os.path.join(self._folder, likeness.path))

        return Counter({entry: number for entry, number in (self.entries - found).items() if is_known(entry)})

    def likenesses(self, findings: Sequence[Finding], source: Source) -> list[Likeness]:
        """What is left of findings when lines move, as the file has it."""
        return [one._replace(path=self._relative(one.path)) for one in likenesses(findings, source)]

    def text(self) -> bytes:
        """What the file holds, in an order that makes small diffs."""
        by_file: dict[str, list[dict[str, Any]]] = {}
        for entry, number in sorted(self.entries.items()):
            by_file.setdefault(entry.path, []).append(_packed(entry, number))
        document = {"version": _VERSION, "findings": dict(sorted(by_file.items()))}
        return (json.dumps(document, indent=2) + "\n").encode()

    def _relative(self, path: str) -> str:
        full = os.path.abspath(path)
        inside = os.path.join(self._folder, "")
        return posix(full[len(inside) :] if full.startswith(inside) else full)


def counted(entries: Iterable[Likeness]) -> Iterator[str]:
    """`2 of AGL301 in agent.py`, for each rule and file."""
    for (path, code), number in sorted(Counter((entry.path, entry.code) for entry in entries).items()):
        yield f"{number} of {code} in {path}"


def _packed(entry: Likeness, number: int) -> dict[str, Any]:
    return {"code": entry.code, "line": entry.line, **({"count": number} if number > 1 else {})}


def _unpacked(document: Any) -> Iterator[tuple[Likeness, int]]:
    if document["version"] != _VERSION:
        raise ValueError(document["version"])
    for path, entries in document["findings"].items():
        for entry in entries:
            yield Likeness(str(entry["code"]), str(path), str(entry["line"])), int(entry.get("count", 1))
