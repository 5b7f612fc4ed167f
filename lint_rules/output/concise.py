"""One line a finding, for editors and grep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lint_rules.finding import Finding
from lint_rules.output.page import Page, plain


def render(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    """`path:line:column: CODE message`."""
    for finding in findings:
        place = f"{finding.span.line}:{finding.span.column}"
        path, code = page.paint("path", plain(finding.path)), page.paint("error", finding.code)
        yield f"{path}:{place}: {code} {plain(finding.message)}"
