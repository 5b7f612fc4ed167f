"""What a rule says: a finding that still points at nodes. `check` turns nodes into positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.finding import Confidence, Related

if TYPE_CHECKING:
    from collections.abc import Iterable

    import libcst as cst

    from lint_rules.anatomy.messages.contents import Proof
    from lint_rules.anatomy.program.concurrency import Start
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
    related: tuple[Note | Related, ...] = ()
    confidence: Confidence = "high"
    fix: Fix | None = None


def shown(proof: Proof, says: str = "") -> Note | Related:
    """What shows that a list holds something; `says` how, where that is not said in the proof."""
    if proof.elsewhere is not None:
        return proof.elsewhere
    return Note(proof.node, says or proof.reason, proof.module)


def started(start: Start) -> Note | Related:
    """Where a function begins to run beside others."""
    name = start.function.name
    if start.caller is None:
        return Note(start.node, f"`{name}` runs concurrently from here")
    passing = start.caller.passing
    says = "starts `{}` here" if passing.handed_on else "calls `{}` here, and runs concurrently"
    return Related(passing.span, f"`{passing.by}` {says.format(name)}", passing.path)


def beside(place: cst.CSTNode, notes: Iterable[Note | Related]) -> tuple[Note | Related, ...]:
    """Each related place once, with what is said of it first, without that of the finding."""
    unique: dict[object, Note | Related] = {}
    for note in notes:
        unique.setdefault(note.node if isinstance(note, Note) else note, note)
    return tuple(note for node, note in unique.items() if node is not place)
