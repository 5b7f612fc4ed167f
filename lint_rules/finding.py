"""What a finding is. No logic, no libcst, no dataclasses (which take longer to make than a file to check): cheap."""

from __future__ import annotations

from typing import Literal, NamedTuple

Confidence = Literal["high", "medium"]
Applicability = Literal["safe", "unsafe", "display"]

NOT_ANALYSED = "AGL000"
UNUSED_NOQA = "AGL001"
"""A comment that hides nothing, where that is to be reported."""


class Span(NamedTuple):
    """A range of source text. Lines and columns are 1-based and count characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Related(NamedTuple):
    """A second place that belongs to a finding: the other lock site, the copy, the loop.

    `path` is None when the place lies in the same file as the finding.
    """

    span: Span
    message: str
    path: str | None = None


class FixOffer(NamedTuple):
    """That a fix exists for a finding, and how far it can be trusted. The fix itself is built on demand.

    One for `display` is shown and never applied: it makes a choice that is a person's, such as the number of rounds.
    """

    applicability: Applicability
    title: str


class Finding(NamedTuple):
    """One defect. `message` is one sentence without a full stop; `help` says what to write instead."""

    path: str
    span: Span
    code: str
    name: str
    message: str
    help: str = ""
    confidence: Confidence = "high"
    related: tuple[Related, ...] = ()
    fix: FixOffer | None = None


class Misread(NamedTuple):
    """A noqa comment in a line (from 1) that hides more than it seems to: `message` says what, and what to write."""

    line: int
    message: str


class Report(NamedTuple):
    """Findings in order of place. A file that could not be analysed has exactly one, AGL000; before those of a file in
    which a rule failed comes one that says so."""

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    misread: tuple[Misread, ...] = ()
