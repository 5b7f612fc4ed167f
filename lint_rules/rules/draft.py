"""What a rule says: a finding that still points at nodes. `check` turns nodes into positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.finding import Confidence

if TYPE_CHECKING:
    import libcst as cst

    from lint_rules.repairs.edits import Fix
    from lint_rules.syntax.module import SourceModule


@dataclass(frozen=True, slots=True)
class Note:
    """A related place. `module` is set when the place lies in another file."""

    node: cst.CSTNode
    message: str
    module: SourceModule | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """One defect at `node`. `message` is one sentence without full stop that says what goes wrong, and for whom."""

    node: cst.CSTNode
    message: str
    help: str
    related: tuple[Note, ...] = ()
    confidence: Confidence = "high"
    fix: Fix | None = None
