"""Histories that are added to themselves: loaded, copied or handed back with all that was in them, and added whole."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.run_results import is_given, runs
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.again import Again
from lint_rules.obligations.moves import Move, Moves
from lint_rules.obligations.places import Double, How, Places
from lint_rules.rules.double_history_append.added_again import is_added_again, is_told_apart
from lint_rules.rules.double_history_append.handed_back import held_at, held_whole, made_by
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

_WHOLE = words.ALL_MESSAGES | {"history"}
"""Also of a chat of Gemini that is made with a history: what it was given, too."""


@record
class Added:
    """`node` adds all messages of the run, or chat, `call` to `history`, which that was given."""

    node: cst.CSTNode
    function: Scope
    history: Slot
    call: cst.Call


def added_by_runs(anatomy: Anatomy) -> Iterator[Double]:
    """`history.extend(result.all_messages())`, where the run was given the history: all of a file."""
    for added in added_results(anatomy):
        whole = AddedWhole(Places(anatomy, added.function))
        emptied = whole.again.unstored(added.history) | whole.again.emptied([added.history])
        if whole.again.follows(added.call, added.node, whole.replaced(added.history) | emptied):
            stored = Stored(added.node, added.function, added.history, "extend", None, None)
            yield Double(How.LOADED, stored, added.call)


class AddedWhole:
    """The doubles of one function whose message is a whole history."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.anatomy = places.anatomy
        self.facts = places.facts
        self.function = places.function
        self.again = places.again

    def all(self) -> Iterator[Double]:
        moves = Moves(self.again)
        for move in moves.all():
            loaded = moves.loaded(move)
            if loaded is None and is_added_again(self.anatomy, moves, move):
                yield Double(
                    How.LOADED, Stored(move.node, self.function, move.target, "extend", None, None), move.source
                )
            yield from self._doubled(moves, move, loaded)
        for move in self._by_helpers():
            yield from self._doubled(moves, move, moves.loaded(move))
        for stored in self.places.all:
            write = stored.write
            if stored.kind == "extend" and write is not None and write.node is stored.node and write.value is not None:
                made = self._handed_back(stored, write.value)
                if made is not None:
                    yield Double(How.LOADED, stored, made)

    def _doubled(self, moves: Moves, move: Move, loaded: cst.BaseExpression | None) -> Iterator[Double]:
        if loaded is not None and not is_told_apart(move) and self._still_there(moves, loaded, move):
            yield Double(How.LOADED, Stored(move.node, self.function, move.target, "extend", None, None), loaded)

    def _by_helpers(self) -> Iterator[Move]:
        """What functions of the file add to a store of which no body is at hand, and that they are handed."""
        slots = self.facts.slots
        for call in self.function.nodes_of(cst.Call):
            callee = slots.callee(call)
            if callee is None or callee is self.function:
                continue
            given = dict(slots.bindings(call, callee))
            for inner, name in _added_in(self.anatomy, callee):
                target, value = slots.of(given.get(inner.target)), given.get(slots.parameter(callee, name))
                if target is not None and value is not None:
                    yield Move(call, value, target, None)

    def _still_there(self, moves: Moves, loaded: cst.BaseExpression, move: Move) -> bool:
        """Whether what was loaded is both in the list that is added and in what it is added to.

        What another function loads is there if the file never empties the store, and keeps the list as it is here.
        """
        avoiding = self.again.unstored(move.target) | self.again.emptied(self.again.parts(move.source))
        if self.anatomy.module.scope_of[loaded].function is not self.function:
            kept = not any(map(moves.replaces(move.target), self.anatomy.module.nodes_of(cst.Call)))
            return kept and self.again.leads([self.again.graph.entry], self.again.points(move.node), avoiding)
        replaced = {point for node in moves.replacing(move.target) for point in self.again.points(node)}
        return self.again.follows(loaded, move.node, avoiding | replaced)

    def _handed_back(self, stored: Stored, value: cst.BaseExpression) -> cst.Call | None:
        """`history.extend(self.step(history))`, where `step` returns what it got with the new messages behind it."""
        made = made_by(self.anatomy, value)
        callee = self.facts.slots.callee(made[0]) if made is not None else None
        if made is None or callee is None:
            return None
        call, part = made
        held = held_whole(self.anatomy, callee, part)
        for parameter, given in self.facts.slots.bindings(call, callee) if held else ():
            if parameter[2] in held and self._is_the_list(given, stored.slot):
                if self.again.follows(call, stored.node, self.replaced(stored.slot)):
                    return call
        return None

    def _is_the_list(self, value: cst.BaseExpression, slot: Slot | None) -> bool:
        """Whether a value may be the very list in a slot: itself, or a name that it was given before."""
        if self.facts.slots.of(value) == slot:
            return True
        for bound in self.anatomy.definitions(value) if isinstance(value, cst.Name) else ():
            alias = bound.value if bound.kind == "assign" else None
            if isinstance(alias, (cst.Name, cst.Attribute)) and self.facts.slots.of(alias) == slot:
                if self.again.follows(alias, value, self.replaced(slot)):
                    return True
        return False

    def replaced(self, slot: Slot | None) -> set[Point]:
        """The points at which another list takes the place of the one in a slot."""
        return {*self.again.bound(slot, grown=False)} if slot is not None else set()


@kept
def _added_in(anatomy: Anatomy, function: Scope) -> list[tuple[Move, str]]:
    """What a function adds to stores as a whole, each with the parameter that holds it."""
    moves = Moves(Again(anatomy, function)).all()
    held = ((move, held_at(anatomy, function, move.source, anatomy.points(function, [move.node]))) for move in moves)
    return [(move, name) for move, names in held for name in names if not move.key]


def added_results(anatomy: Anatomy) -> Iterator[Added]:
    """All places of a file where that is so, if the history is the same one."""
    for node in anatomy.module.nodes_of(cst.Attribute):
        held = anatomy.module.parent[node] if node.attr.value in _WHOLE else None
        value = held if isinstance(held, cst.Call) and held.func is node else node
        target, added = _extended(anatomy, value) if held is not None else (None, value)
        slot = anatomy.facts.slots.of(target)
        for call in runs(anatomy, node.value) if slot is not None else ():
            if slot is not None and is_given(anatomy, call, slot):
                yield Added(added, anatomy.module.scope_of[node].function, slot, call)
                break


def _extended(anatomy: Anatomy, value: cst.BaseExpression) -> tuple[cst.BaseExpression | None, cst.CSTNode]:
    """The list to which a value is added as a whole, and where."""
    outer = anatomy.module.parent[value]
    call = anatomy.module.parent[outer] if isinstance(outer, cst.Arg) else None
    if isinstance(call, cst.Call) and ex.called_name(call) == "extend":
        return ex.receiver(call), call
    if isinstance(outer, cst.AugAssign) and isinstance(outer.operator, cst.AddAssign):
        return outer.target, outer
    return None, value
