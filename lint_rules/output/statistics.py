"""How many findings each rule has, the most frequent first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from lint_rules.finding import Finding


def render(findings: Sequence[Finding]) -> Iterator[str]:
    """A table: count, code, name."""
    counts = _counts(findings)
    width = max((len(str(count)) for _, _, count in counts), default=0)
    for code, name, count in counts:
        yield f"{count:>{width}}  {code}  {name}"


def render_json(findings: Sequence[Finding]) -> Iterator[str]:
    """A JSON list of objects with code, name and count."""
    yield json.dumps(
        [{"code": code, "name": name, "count": count} for code, name, count in _counts(findings)], indent=2
    )


def _counts(findings: Sequence[Finding]) -> list[tuple[str, str, int]]:
    counter = Counter((finding.code, finding.name) for finding in findings)
    return sorted(((*key, count) for key, count in counter.items()), key=lambda row: (-row[2], row[0]))
