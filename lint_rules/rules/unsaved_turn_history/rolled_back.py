"""Turns that are taken back when they fail, though their tools have run: the history is set to a mark made before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.views import Views
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.rounds.executions import computes
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.obligations.again import Again
from lint_rules.rules.unsaved_turn_history.late_turns import LateTurns
from lint_rules.rules.unsaved_turn_history.turn_ends import TurnEnd
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope


def rolled_back(anatomy: Anatomy) -> Iterator[TurnEnd]:
    """The first such place of each history and function of a file."""
    search = _Search(anatomy)
    for function in anatomy.module.functions:
        yield from {each.waiting: each for each in reversed([*search.of(function)])}.values()


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.late = LateTurns(anatomy)
        self.lasting = Lasting(anatomy)
        self.views = Views(anatomy)

    def of(self, function: Scope) -> Iterator[TurnEnd]:
        runs = [*self._runs(function)]
        for node in function.nodes_of(cst.Assign, cst.Del, cst.Call) if runs else ():
            for slot in dict.fromkeys(slot for slot, _ in runs):
                mark = self._mark(self._told(node, slot), slot)
                if mark is not None:
                    ran = [each for place, each in runs if place == slot]
                    yield from self._lost(Again(self.anatomy, function), node, mark, slot, ran)

    def _runs(self, function: Scope) -> Iterator[tuple[Slot, cst.CSTNode]]:
        """Where results of tools come into a history: by the function itself, or by the rounds that it runs.

        What is worked out on the spot, and runs nothing, may be done again.
        """
        module, facts, place = self.anatomy.module, self.anatomy.facts, self.anatomy.aliases.of
        for node, kept in self.late.results(self.anatomy, function):
            around = module.loop_around(node, own=True) or function.node
            if kept and not all(computes(facts, call) for call in module.nodes_inside(around, function, cst.Call)):
                yield place(kept), node
        for run in self.anatomy.turns.requests(function):
            yield from ((place(kept), run) for kept in self.late.kept(run) if self.late.runs_tools(run))

    def _told(self, node: cst.CSTNode, slot: Slot) -> Iterator[cst.BaseExpression | None]:
        """What says how much of a history stays: `del h[n:]`, `h[n:] = []`, `h = h[:n]`, `h = copy`, `put(copy)`."""
        value = node.value if isinstance(node, cst.Assign) else None
        kept = ex.slice_of(value) if value is not None else None
        for target in [node.target] if isinstance(node, cst.Del) else ex.assigned(node):
            gone = ex.slice_of(target)
            if gone is not None and gone.upper is None and self._is(ex.unsliced(target), slot):
                yield gone.lower or value
            elif self._is(target, slot):
                yield kept.upper if kept is not None and kept.lower is None else value
        stored = self.anatomy.transcript.at(node) if isinstance(node, cst.Call) else ()
        if any(one.slot == slot and one.kind not in GROWING for one in stored):
            yield from ex.positional(node)  # type: ignore[arg-type]

    def _is(self, node: cst.BaseExpression, slot: Slot) -> bool:
        here = self.anatomy.facts.slots.of(node)
        return here is not None and self.anatomy.aliases.of(here) == slot

    def _mark(self, told: Iterable[cst.BaseExpression | None], slot: Slot) -> cst.BaseExpression | None:
        """The length of a history, or a copy of it, that a name was bound to before."""
        for name in (part for value in told if value is not None for part in (value, *_measured(value))):
            made = self.anatomy.facts.values_of(name) if isinstance(name, cst.Name) else []
            viewed = self.views.made_of(made[0]) if len(made) == 1 else None
            copied = viewed is not None and self.anatomy.aliases.of(viewed[0]) == slot
            if len(made) == 1 and (copied or any(self._is(part, slot) for part in _measured(made[0]))):
                return made[0]
        return None

    def _lost(
        self, again: Again, node: cst.CSTNode, mark: cst.CSTNode, slot: Slot, runs: list[cst.CSTNode]
    ) -> Iterator[TurnEnd]:
        """Where tools run between a mark and the way back to it; else the turn stays, and the next goes on with it."""
        back, marked = {*again.points(node)}, {*again.points(mark)}
        lasts = self.lasting.keeps(slot) is not None or is_parameter(root_object(slot))
        goes_on = lasts or again.leads(back, marked, exceptions=False)
        stored = self.anatomy.transcript.stored(again.function)
        notes = self.anatomy.points(again.function, [s.node for s in stored if s.slot == slot and s.kind in GROWING])
        is_told = again.leads(back, {*notes}, marked, exceptions=False)
        for ran in runs if goes_on and not is_told else ():
            here = again.points(ran)
            failed = again.failed(ran) if isinstance(ran, cst.Call) and self.late.fails(ran) else []
            stays = again.leads(here, {again.graph.exit, *marked}, back, exceptions=False)
            if stays and back.isdisjoint(here) and again.leads([*here, *failed], back, marked):
                yield TurnEnd(node, "back", ran, mark, slot)


def _measured(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What is counted, or copied with nothing besides."""
    if isinstance(value, cst.Call) and ex.dotted(value.func) == "len":
        return ex.positional(value)
    return sources(value) if not isinstance(value, cst.List) or len(value.elements) == 1 else []
