"""Turns that are taken back when they fail, though their tools have run: the history is set to a mark made before.

before = len(self.messages)     # or a copy of it all
... rounds ...
except Stopped: del self.messages[before:]
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.views import Views
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.rounds.executions import computes
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.reply_places import ReplyPlaces
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.obligations.again import Again
from lint_rules.rules.unsaved_turn_history.late_turns import LateTurns
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class RolledBack:
    """`node` sets `history` back to what it was at `mark`; by then `ran`, which runs tools, may have put results there.
    """

    node: cst.CSTNode
    history: Slot
    mark: cst.CSTNode
    ran: cst.CSTNode


def rolled_back(anatomy: Anatomy) -> Iterator[RolledBack]:
    """The first such place of each history and function of a file."""
    search = _Search(anatomy)
    for function in anatomy.module.functions:
        found = {each.history: each for each in reversed([*search.of(function)])}
        yield from found.values()


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.late = LateTurns(anatomy)
        self.lasting = Lasting(anatomy)
        self.views = Views(anatomy)

    def of(self, function: Scope) -> Iterator[RolledBack]:
        for one in self.anatomy.transcript.stored(function):
            mark = self._mark(one) if one.slot is not None and one.kind in {"cut", "rebind", "replace"} else None
            if mark is not None and one.slot is not None:
                ran = self._lost(Again(self.anatomy, function), one.node, one.slot, mark)
                if ran is not None:
                    yield RolledBack(one.node, one.slot, mark, ran)

    def _mark(self, one: Stored) -> cst.BaseExpression | None:
        """What a write sets a history back to: its length, or a copy of it, by the name that was bound to that."""
        slots, views = self.anatomy.facts.slots, self.views
        for name in (part for part in _written(one.node) for part in walk(part) if isinstance(part, cst.Name)):
            made = self.anatomy.facts.values_of(name)
            for value in made if len(made) == 1 else ():
                counted = ex.positional(value) if isinstance(value, cst.Call) and ex.dotted(value.func) == "len" else ()
                viewed = views.made_of(value)
                if any(slots.of(each) == one.slot for each in counted) or (viewed is not None and viewed[0] == one.slot):
                    return value
        return None

    def _lost(self, again: Again, node: cst.CSTNode, slot: Slot, mark: cst.CSTNode) -> cst.CSTNode | None:
        """What runs tools between a mark and the way back to it, and behind which the turn may also stay as it is."""
        back, marked = set(again.points(node)), set(again.points(mark))
        is_told = again.leads(back, self._notes(again, slot), marked, exceptions=False)
        if is_told or not self._goes_on(again, slot, back, marked):
            return None
        for ran in self._runs(again.function, slot):
            here = again.points(ran)
            stays = again.leads(here, {again.graph.exit, *marked}, back, exceptions=False)
            if stays and not back.intersection(here) and again.leads(self._behind(again, ran), back, marked):
                return ran
        return None

    def _notes(self, again: Again, slot: Slot) -> set[Point]:
        """Where a history is told of what was done, by words beside the messages themselves."""
        function, derived = again.function, ReplyPlaces(self.anatomy).derived
        names = {name for ask in self.anatomy.turns.requests(function) for name in derived(function, ask, put=True)}
        grown = (one for one in self.anatomy.transcript.stored(function) if one.kind in GROWING and one.slot == slot)
        values = (one for one in grown if mentions(names - {str(slot[-1])}, *getattr(one.node, "args", ())))
        return {point for one in values for point in again.points(one.node)}

    def _behind(self, again: Again, ran: cst.CSTNode) -> list[Point]:
        """Where the way goes on from what runs tools, and has run some."""
        fails = isinstance(ran, cst.Call) and self.late.fails(ran)
        return [*again.points(ran), *(again.failed(ran) if fails else ())]

    def _runs(self, function: Scope, slot: Slot) -> Iterator[cst.CSTNode]:
        """Where results of tools come into a history: by the function itself, or by the rounds that it runs.

        What is worked out on the spot, and runs nothing, may be done again.
        """
        module, facts = self.anatomy.module, self.anatomy.facts
        for node, place in self.late.results(self.anatomy, function):
            around = module.loop_around(node, own=True) or function.node
            if place == slot and not all(computes(facts, c) for c in module.nodes_inside(around, function, cst.Call)):
                yield node
        for run in self.anatomy.turns.requests(function):
            if self.late.runs_tools(run) and self.anatomy.aliases.of(slot) in map(
                self.anatomy.aliases.of, self.late.kept(run)
            ):
                yield run

    def _goes_on(self, again: Again, slot: Slot, back: set[Point], marked: set[Point]) -> bool:
        """Whether the next turn begins with a history: it outlives the function, or is gone through in its loop."""
        lasts = self.lasting.keeps(slot) is not None or is_parameter(root_object(slot))
        return lasts or again.leads(back, marked, exceptions=False)


def _written(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The parts of a write that say what stays: a value, arguments, or where a cut begins."""
    if isinstance(node, cst.Del) and isinstance(node.target, cst.Subscript):
        kept = ex.slice_of(node.target)
        yield from [kept.lower] if kept is not None and kept.lower is not None and kept.upper is None else []
    elif isinstance(node, cst.Call):
        yield from ex.positional(node)
    elif isinstance(node, cst.Assign):
        yield node.value
        yield from (target.slice[0] for target in ex.targets(node) if isinstance(target, cst.Subscript))
