"""Annotations of a pull request, as workflow commands of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lint_rules.finding import Finding
from lint_rules.output.page import Page, in_file, plain
from lint_rules.paths import file_of


def render(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    """`::error file=…,line=…,col=…,endLine=…,title=…::message`."""
    for finding in findings:
        span, where = in_file(finding)
        properties = {
            "file": file_of(finding.path),
            "line": span.line,
            "col": span.column,
            "endLine": span.end_line,
            "title": f"{finding.code} {finding.name}",
        }
        listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        yield f"::error {listed}::{_data(where + finding.message)}"


def _data(text: str) -> str:
    """Text after the second `::`. The percent sign goes first, for the others become one."""
    return plain(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
