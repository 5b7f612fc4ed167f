"""Messages that are added in place to a column of a row: nothing tells the library that it has to be written.

row = db.query(Talk).filter_by(key=key).first()
row.messages.append(message)        # of a plain JSON column SQLAlchemy learns only that another value is put there
db.commit()                         # writes the rest of the row
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import FoundClass, classes_of, made_class
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import COLUMNS, UNTRACKED
from lint_rules.obligations.again import Again
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_WRITES = frozenset({"commit", "flush"})
_MARKS = "flag_modified"


@record
class Untracked:
    """`stored` is put into the list of a column, and `commit` does not write that."""

    stored: Stored
    column: Slot
    commit: cst.Call


def untracked_growths(anatomy: Anatomy) -> Iterator[Untracked]:
    """Those of a file: of each commit one, the last before it."""
    for function in anatomy.module.functions:
        commits = [call for call in function.nodes_of(cst.Call) if ex.called_name(call) in _WRITES]
        grown: dict[Slot, list[Stored]] = {}
        for one in anatomy.transcript.stored(function) if commits else ():
            in_place = one.kind in GROWING and one.write is not None and one.write.node is one.node
            if in_place and one.slot is not None and _is_untracked(anatomy, one.slot, function):
                grown.setdefault(one.slot, []).append(one)
        for column, stored in grown.items():
            yield from _lost(Again(anatomy, function), column, stored, commits)


def _lost(again: Again, column: Slot, stored: list[Stored], commits: list[cst.Call]) -> Iterator[Untracked]:
    anatomy, function = again.anatomy, again.function
    puts = [node for node in function.nodes_of(cst.Assign) if column in map(anatomy.facts.slots.of, ex.targets(node))]
    marks = [call for call in function.nodes_of(cst.Call) if _marks(anatomy, call, column)]
    written = set(anatomy.points(function, commits))
    told = set(anatomy.points(function, [*puts, *marks]))
    put = anatomy.points(function, puts)
    for commit in commits:
        for one in stored:
            others = {p for each in stored if each is not one for p in again.points(each.node)}
            here, barred = again.points(one.node), (told | others | written) - set(again.points(commit))
            if again.leads(here, set(again.points(commit)), barred, exceptions=False):
                if not again.leads(put, set(here), written, exceptions=False):
                    yield Untracked(one, column, commit)
                    break


def _is_untracked(anatomy: Anatomy, slot: Slot, function: Scope) -> bool:
    """Whether a slot is a column of a row that a query has given, of a type whose values may change unseen."""
    if slot[0] != "member":
        return False
    given = anatomy.facts.assigned(slot[1]) if slot[1][:2] == ("var", function) else []
    made = [part for value in given for part in ex.alternatives(value) if ex.dotted(part) != "None"]
    rows = [part for part in made if not isinstance(part, cst.Call) or made_class(anatomy, part) is None]
    if made and not rows:
        return False  # a new row is written as it is
    owners = [*_classes(anatomy, slot[1], rows)]
    return bool(owners) and all(_is_plain_column(there, cls, str(slot[2])) for there, cls in owners)


def _classes(anatomy: Anatomy, row: Slot, given: list[cst.BaseExpression]) -> Iterator[FoundClass]:
    """The classes of a row: by its name, or that which a query names."""
    own = anatomy.facts.slots.classes.get(row)
    yield from [(anatomy, own)] if own is not None else classes_of(anatomy, row)
    named = {name for call in given if isinstance(call, cst.Call) for name in anatomy.resources.handed(call).read}
    for name in sorted(named):
        here = anatomy.module.class_named(name)
        found = (anatomy, here) if here is not None else anatomy.imported_class(name)
        yield from [found] if found is not None else ()


def _is_plain_column(there: Anatomy, cls: Scope, name: str) -> bool:
    """`messages = Column(JSON)`, and not `Column(MutableList.as_mutable(JSON))`."""
    values = [value for value in there.facts.assigned(there.facts.slots.attribute(cls, name)) if _is_column(value)]
    parts = [part for value in values for part in walk(value)]
    calls = {ex.called_name(call) for call in (*there.module.nodes_of(cst.Call), *parts) if isinstance(call, cst.Call)}
    full = (there.module.full_name(part) for part in parts if isinstance(part, cst.Name))
    named = {word.rpartition(".")[2] for word in full if word.startswith("sqlalchemy")}
    return not named.isdisjoint(UNTRACKED) and calls.isdisjoint({"as_mutable", "associate_with"})


def _is_column(value: cst.BaseExpression) -> bool:
    return any(isinstance(part, cst.Call) and ex.called_name(part) in COLUMNS for part in walk(value))


def _marks(anatomy: Anatomy, call: cst.Call, column: Slot) -> bool:
    """`flag_modified(row, "messages")`, also in a function that is called."""
    callee = anatomy.facts.slots.callee(call)
    inside = anatomy.calls.reachable(callee) if callee is not None else ()
    calls = [call, *(inner for here in inside for inner in here.nodes_of(cst.Call))]
    return any(
        ex.called_name(each) == _MARKS and any(ex.text(arg.value) == column[2] for arg in each.args) for each in calls
    )
