"""Two accesses to one history by runs that may overlap, one of them a write, with no lock held over both."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns.races import Races
from lint_rules.anatomy.values.slots import Slot
from lint_rules.finding import Related
from lint_rules.repairs.edits import Fix
from lint_rules.rules.draft import Note
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record


@record
class Pair:
    """`node` and `other`: where it is reported, and the access that shows it. `slot`: the history, if it has a place.

    `how` names what is said of it, with some `words` of its own.
    """

    node: cst.CSTNode
    other: cst.CSTNode
    slot: Slot | None
    how: str
    words: dict[str, str]
    notes: tuple[Note | Related, ...]
    fix: Fix | None = None


def in_threads(races: Races, function: Scope) -> bool:
    """Whether others may run at any point of a function, not only where it waits."""
    return any(not start.on_loop for start in races.starts_reaching(function))


def place_of(anatomy: Anatomy, node: cst.BaseExpression | None) -> Slot | None:
    """Where the object lives that an expression names."""
    slot = anatomy.facts.slots.of(node)
    return anatomy.aliases.of(slot) if slot is not None else None
