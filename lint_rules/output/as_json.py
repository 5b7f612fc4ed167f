"""Findings as a JSON list, for programs. ASCII only, so that no terminal or locale can break it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from lint_rules.finding import Finding, FixOffer, Related
from lint_rules.output.page import Page, valid
from lint_rules.paths import cell_of, file_of


def render(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    """One list of objects; positions are 1-based and count characters, the end is exclusive.

    `cell` is that of a notebook, from 1 among all cells, and lines are counted in it; None in other files.
    """
    yield json.dumps([described(finding) for finding in findings], indent=2)


def described(finding: Finding) -> dict[str, Any]:
    """One finding as an object, with the keys that all our JSON has for it."""
    span = finding.span
    return {
        "path": valid(file_of(finding.path)),
        "cell": cell_of(finding.path),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "help": finding.help,
        "confidence": finding.confidence,
        "related": [_related(finding, related) for related in finding.related],
        "fix": _fix(finding.fix),
    }


def _related(finding: Finding, related: Related) -> dict[str, Any]:
    return {
        "path": valid(file_of(related.path or finding.path)),
        "cell": cell_of(related.path or finding.path),
        "line": related.span.line,
        "column": related.span.column,
        "message": related.message,
    }


def _fix(fix: FixOffer | None) -> dict[str, str] | None:
    return None if fix is None else {"applicability": fix.applicability, "title": fix.title}
