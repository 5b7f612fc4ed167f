"""What a finding is. No logic, no libcst: every door may import this cheaply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Confidence = Literal["high", "medium"]
Applicability = Literal["safe", "unsafe", "display"]

NOT_ANALYSED = "AGL000"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of source text. Lines and columns are 1-based and count characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that belongs to a finding: the other lock site, the copy, the loop.

    `path` is None when the place lies in the same file as the finding.
    """

    span: Span
    message: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class FixOffer:
    """That a fix exists for a finding, and how far it can be trusted. The fix itself is built on demand."""

    applicability: Applicability
    title: str


@dataclass(frozen=True, slots=True)
class Finding:
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


@dataclass(frozen=True, slots=True)
class Report:
    """Findings in order of place. A file that could not be analysed has exactly one: AGL000."""

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
