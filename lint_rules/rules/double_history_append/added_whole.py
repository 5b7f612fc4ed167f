"""Histories that are added to themselves: loaded or handed back with all that was in them, and added whole."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.run_results import is_given, runs
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.obligations.again import Again
from lint_rules.obligations.moves import Move, Moves
from lint_rules.rules.double_history_append.added_again import is_added_again, is_told_apart
from lint_rules.rules.double_history_append.places import Double, How, Places
from lint_rules.syntax import expressions as ex

_WHOLE = words.ALL_MESSAGES | {"history"}
"""Also of a chat of Gemini that is made with a history: what it was given, too."""


def added_whole(places: Places) -> Iterator[Double]:
    """`history.extend(messages)`, where the messages begin with what the history holds, in one function."""
    moves = Moves(places.again)
    for move in moves.all():
        loaded = moves.loaded(move)
        if loaded is None and is_added_again(places.anatomy, moves, move):
            yield Double(How.LOADED, Stored(move.node, places.function, move.target, "extend", None, None), move.source)
        elif loaded is not None and not is_told_apart(move) and _is_still_there(places, moves, loaded, move):
            yield Double(How.LOADED, Stored(move.node, places.function, move.target, "extend", None, None), loaded)


def _is_still_there(places: Places, moves: Moves, loaded: cst.BaseExpression, move: Move) -> bool:
    """Whether what was loaded is both in the list that is added and in what it is added to.

    What another function loads is there if the file never empties the store, and keeps the list as it is here.
    """
    again = places.again
    avoiding = again.unstored(move.target) | again.emptied(again.parts(move.source))
    if places.module.scope_of[loaded].function is not places.function:
        kept = not any(map(moves.replaces(move.target), places.module.nodes_of(cst.Call)))
        return kept and again.leads([again.graph.entry], again.points(move.node), avoiding)
    replaced = {point for node in moves.replacing(move.target) for point in again.points(node)}
    return again.follows(loaded, move.node, avoiding | replaced)


def added_by_runs(anatomy: Anatomy) -> Iterator[Double]:
    """`history.extend(result.all_messages())`, where the run was given the history: all of a file."""
    for node in anatomy.module.nodes_of(cst.Attribute):
        held = anatomy.module.parent[node] if node.attr.value in _WHOLE else None
        value = held if isinstance(held, cst.Call) and held.func is node else node
        target, added = _extended(anatomy, value) if held is not None else (None, value)
        slot, function = anatomy.facts.slots.of(target), anatomy.module.scope_of[node].function
        for call in runs(anatomy, node.value) if slot is not None else ():
            if slot is not None and is_given(anatomy, call, slot):
                again = Again(anatomy, function)
                emptied = again.unstored(slot) | again.emptied([slot]) | again.bound(slot, grown=False)
                if again.follows(call, added, emptied):
                    yield Double(How.LOADED, Stored(added, function, slot, "extend", None, None), call)
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
