"""Findings as GitLab's code quality report: what a merge request shows beside its lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

from lint_rules.finding import NOT_ANALYSED, Finding
from lint_rules.fingerprint import fingerprints
from lint_rules.output.page import Page, in_file, valid
from lint_rules.paths import file_of, posix
from lint_rules.rules.catalogue import by_code

_SEVERITIES = {"correctness": "major", "suspicious": "minor", "opt-in": "info"}


def render(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    """One JSON list. Paths are relative to the repository, where GitLab says where that is, lines are from 1."""
    names = fingerprints(findings, page.source)
    issues = [
        {
            "type": "issue",
            "check_name": finding.code,
            "description": f"{finding.code} {finding.name}: {in_file(finding)[1]}{valid(finding.message)}",
            "content": {"body": finding.help},
            "categories": ["Bug Risk"],
            "severity": _severity(finding.code),
            "fingerprint": name,
            "location": {
                "path": _path(file_of(finding.path)),
                "lines": {"begin": in_file(finding)[0].line, "end": in_file(finding)[0].end_line},
            },
        }
        for finding, name in zip(findings, names, strict=True)
    ]
    yield json.dumps(issues, indent=2)


def _severity(code: str) -> str:
    if code == NOT_ANALYSED:
        return "critical"
    return _SEVERITIES[by_code()[code].group] if code in by_code() else "info"


def _path(path: str) -> str:
    root = os.environ.get("CI_PROJECT_DIR")
    inside = os.path.join(os.path.realpath(root), "") if root else ""
    full = os.path.realpath(path)
    return valid(posix(full[len(inside) :] if inside and full.startswith(inside) else path))
