"""A name for a finding that stays when lines move: made of its rule, its file, and the line it stands in.

Not of its message, which a later version may say better, and not of its place.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lint_rules.finding import Finding
from lint_rules.lines import lines_of
from lint_rules.paths import file_of, posix

Source = Callable[[str], "str | None"]
"""The text of a file by its path, None if it is gone."""


class Likeness(NamedTuple):
    """What is left of a finding when lines move: findings that look alike have the same. `path` is written with `/`."""

    code: str
    path: str
    line: str


def likenesses(findings: Sequence[Finding], source: Source) -> list[Likeness]:
    """That of each finding. Of a file that is gone, the lines are empty."""
    texts = {path: lines_of(source(path) or "") for path in {finding.path for finding in findings}}
    return [
        Likeness(finding.code, posix(file_of(finding.path)), _line(texts[finding.path], finding.span.line))
        for finding in findings
    ]


def fingerprints(findings: Sequence[Finding], source: Source) -> list[str]:
    """A name for each finding, no two alike: of those that look alike, it tells which in their order."""
    seen: Counter[Likeness] = Counter()
    names = []
    for likeness in likenesses(findings, source):
        text = "\0".join((*likeness, str(seen[likeness])))
        names.append(hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32])
        seen[likeness] += 1
    return names


def _line(lines: Sequence[str], number: int) -> str:
    return " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""
