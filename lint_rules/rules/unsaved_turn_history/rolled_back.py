"""Turns that are taken back when they fail, though their tools have run: the history is set to a mark made before.

`before = len(talk)`, or a copy of it, rounds of tools, and `except Stopped: del talk[before:]`.
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


@record
class RolledBack:
    """`node` sets `history` back to what it was at `mark`, though `ran`, which runs tools, may have put some there."""

    node: cst.CSTNode
    history: Slot
    mark: cst.CSTNode
    ran: cst.CSTNode


def rolled_back(anatomy: Anatomy) -> Iterator[RolledBack]:
    """The first such place of each history and function of a file."""
    search = _Search(anatomy)
    for function in anatomy.module.functions:
        yield from {each.history: each for each in reversed([*search.of(function)])}.values()


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.late = LateTurns(anatomy)
        self.lasting = Lasting(anatomy)
        self.views = Views(anatomy)

    def of(self, function: Scope) -> Iterator[RolledBack]:
        for one in self.anatomy.transcript.stored(function):
            mark = self._mark(one) if one.kind not in GROWING else None
            if mark is not None and one.slot is not None:
                lost = self._lost(Again(self.anatomy, function), one.node, one.slot, mark)
                yield from (RolledBack(one.node, one.slot, mark, ran) for ran in lost)

    def _mark(self, one: Stored) -> cst.BaseExpression | None:
        """What a write sets a history back to: its length, or a copy of it, by the name that was bound to that."""
        for name in _told(one.node):
            made = self.anatomy.facts.values_of(name)
            call = ex.inner(made[0]) if len(made) == 1 else None
            counted = ex.positional(call) if isinstance(call, cst.Call) and ex.dotted(call.func) == "len" else []
            viewed = self.views.made_of(made[0]) if call is not None else None
            if one.slot in {*map(self.anatomy.facts.slots.of, counted), *(viewed or ())[:1]}:
                return made[0]
        return None

    def _lost(self, again: Again, node: cst.CSTNode, slot: Slot, mark: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What runs tools between a mark and the way back to it, and behind which the turn may also stay as it is.

        The next turn begins with the history: that outlives the function, or is gone through in its loop.
        """
        back, marked = {*again.points(node)}, {*again.points(mark)}
        lasts = self.lasting.keeps(slot) is not None or is_parameter(root_object(slot))
        if lasts or again.leads(back, marked, exceptions=False):
            if not again.leads(back, self._notes(again, slot), marked, exceptions=False):
                for ran in self._runs(again.function, slot):
                    here = again.points(ran)
                    failed = again.failed(ran) if isinstance(ran, cst.Call) and self.late.fails(ran) else []
                    stays = again.leads(here, {again.graph.exit, *marked}, back, exceptions=False)
                    if stays and back.isdisjoint(here) and again.leads([*here, *failed], back, marked):
                        yield ran

    def _notes(self, again: Again, slot: Slot) -> set[Point]:
        """Where a history is told of what was done, by words beside the messages themselves."""
        function, derived = again.function, ReplyPlaces(self.anatomy).derived
        names = {name for ask in self.anatomy.turns.requests(function) for name in derived(function, ask, put=True)}
        names.discard(str(slot[-1]))
        grown = (one for one in self.anatomy.transcript.stored(function) if one.kind in GROWING and one.slot == slot)
        return {p for one in grown if mentions(names, *getattr(one.node, "args", ())) for p in again.points(one.node)}

    def _runs(self, function: Scope, slot: Slot) -> Iterator[cst.CSTNode]:
        """Where results of tools come into a history: by the function itself, or by the rounds that it runs.

        What is worked out on the spot, and runs nothing, may be done again.
        """
        module, facts, place = self.anatomy.module, self.anatomy.facts, self.anatomy.aliases.of
        for node, kept in self.late.results(self.anatomy, function):
            around = module.loop_around(node, own=True) or function.node
            if kept == slot and not all(computes(facts, c) for c in module.nodes_inside(around, function, cst.Call)):
                yield node
        for run in self.anatomy.turns.requests(function):
            if self.late.runs_tools(run) and place(slot) in map(place, self.late.kept(run)):
                yield run


def _told(node: cst.CSTNode) -> Iterator[cst.Name]:
    """The names that tell what stays: `del h[n:]`, `h[n:] = []`, `h = h[:n]`, `h = copy`, `put_back(copy)`."""
    given = [node.value] if isinstance(node, cst.Assign) else ex.positional(node) if isinstance(node, cst.Call) else []
    cut = ex.targets(node) if isinstance(node, cst.Assign) else [node.target] if isinstance(node, cst.Del) else []
    kept = [part for each in given if isinstance(each, cst.Subscript) and (part := ex.slice_of(each))]
    gone = [part for each in cut if isinstance(each, cst.Subscript) and (part := ex.slice_of(each))]
    ends = [*(each.upper for each in kept if each.lower is None), *(each.lower for each in gone if each.upper is None)]
    yield from (each for each in (*given, *ends) if isinstance(each, cst.Name))
