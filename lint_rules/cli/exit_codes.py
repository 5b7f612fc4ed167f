"""What the command line tells the shell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lint_rules.finding import NOT_ANALYSED

if TYPE_CHECKING:
    from lint_rules.files import Trouble
    from lint_rules.finding import Finding

NOTHING_FOUND = 0
FOUND = 1
FAILED = 2
STOPPED = 130
"""By Ctrl-C, or because nobody reads what we print: what a shell reports of a program that was interrupted."""


def exit_code(findings: Iterable[Finding], troubles: Iterable[Trouble], exit_zero: bool, *, open_ends: bool) -> int:
    """Of a check. `open_ends`: something is to be done that is no finding."""
    if any(trouble.fatal for trouble in troubles):
        return FAILED
    codes = {finding.code for finding in findings}
    if exit_zero or not (codes or open_ends):
        return NOTHING_FOUND
    return FAILED if NOT_ANALYSED in codes else FOUND
