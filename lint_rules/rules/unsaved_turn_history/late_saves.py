"""What a turn has done is kept once, behind its last round: the error of a later request passes by that.

while True:
    answer = agent.chat(input())    # asks, runs tools, asks again: each request may fail, and the program ends
    agent.save(path)                # what the tools have done is in no file, and the next start knows nothing of it
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.rounds.waits import waits_for_words
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, is_read
from lint_rules.anatomy.turns.storage import Save
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, root_object, whole_of
from lint_rules.obligations.again import Again
from lint_rules.obligations.held_parts import place_of
from lint_rules.obligations.late_requests import fails_to
from lint_rules.rules.unsaved_turn_history.late_turns import LateTurns
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.twins import Unplaced
from lint_rules.syntax.walk import walk

_DEEPEST = 3
_STOPS = frozenset({"KeyboardInterrupt", "BaseException", "CancelledError"})
_PLACES = (cst.Name, cst.Attribute, cst.Subscript)
_Stores = frozenset[tuple[str, str, int]]
"""Where something is written: the file and the write, or the name of a table."""


@record
class LateSave:
    """`save` is passed by where a request of `turn` fails, or somebody `stops` the turn, and the program ends.

    `loaded`: or only the function, of a talk that it has loaded for this turn.
    """

    save: cst.CSTNode
    turn: cst.Call
    stops: bool = False
    loaded: bool = False


@record
class LateReturn:
    """`node` puts what `turn` gives in the place of `history`, which stays as it was where a request of it fails."""

    node: cst.Assign
    turn: cst.Call
    history: Slot


def late_saves(anatomy: Anatomy) -> Iterator[LateSave]:
    """Those of the loops of a file in which turn follows turn, and of functions that are one: for each the first."""
    search = _Search(anatomy)
    for loop in anatomy.module.nodes_of(cst.While):
        yield from search.of(anatomy.module.scope_of[loop].function, loop)
    for function in anatomy.module.functions:
        yield from search.begun_with_load(function) if function.kind in {"function", "module"} else ()


def late_returns(anatomy: Anatomy) -> Iterator[LateReturn]:
    """Those of a file."""
    search = _Search(anatomy)
    for node in anatomy.module.nodes_of(cst.Assign):
        yield from search.given_back(node, anatomy.module.scope_of[node].function)


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.late = LateTurns(anatomy)
        self.places = ReplyPlaces(anatomy)
        self._known: dict[tuple[Anatomy, Scope], _Stores] = {}

    def of(self, function: Scope, loop: cst.While) -> Iterator[LateSave]:
        """The first turn of a loop, and the first that the function takes outside of it: of a prompt that was given."""
        inside = self.anatomy.module.nodes_inside(loop, function, cst.Call)
        asks = [call for call in inside if self.anatomy.turns.reaches_model(call)]
        saves = self._saves(function, loop, asks) if asks else {}
        if saves:
            again = Again(self.anatomy, function)
            around = [call for call in self.anatomy.turns.requests(function) if call not in asks]
            yield from islice(self._first(again, loop, asks, saves), 1)
            yield from islice(self._first(again, loop, around, saves), 1)

    def _first(
        self, again: Again, loop: cst.While, asks: list[cst.Call], saves: dict[cst.CSTNode, _Stores]
    ) -> Iterator[LateSave]:
        """The turns that leave the function past what would save them, and not to the loop, where the next one does."""
        module, function = self.anatomy.module, again.function
        ran = [one for one in self.anatomy.transcript.stored(function) if one.answers and one.node not in asks]
        ends, head = {again.graph.raises, again.graph.exit}, {*again.graph.at(loop)}
        for ask in asks:
            here = self.late.points(again, ask)
            kept = (
                {one.slot for one in ran if one.slot is not None}
                if body(self.anatomy, ask) is None
                else self.late.kept(ask)
            )
            rounds = self.anatomy.module.loop_around(ask, own=True) if ran else None
            for save, stores in saves.items():
                if (rounds is not None and module.inside(save, rounds) and not self.late.fails(ask)) or not (
                    self._is_of(save, asks, kept, function) and again.follows(ask, save, (), exceptions=False)
                ):
                    continue
                alike = {p for node, where in saves.items() if where & stores for p in again.points(node)}
                before = self.anatomy.points(function, [one.node for one in ran])
                late = self.late.fails(ask) or again.leads(before, set(here), alike, exceptions=False)
                if self._written_by(self.anatomy, ask) & stores or self._written_above(function, stores):
                    continue
                if late and fails_to(again, here, ends, alike | head):
                    yield LateSave(save, ask)
                elif kept and module.inside(ask, loop) and self._is_stopped(again, ask, loop, alike | head):
                    yield LateSave(save, ask, stops=True)

    def begun_with_load(self, function: Scope) -> Iterator[LateSave]:
        """The first turn of a function that loads a talk, has it grow in what it runs, and saves it behind that.

        What it has loaded goes with the function, however the error ends; in a loop over turns the next one may save.
        """
        asks = [ask for ask in self.anatomy.turns.requests(function) if self.late.fails(ask)]
        saves = self._saves(function, function.node, asks) if asks else {}
        again = Again(self.anatomy, function)
        ends = {again.graph.raises, again.graph.exit}
        for ask in asks if saves else ():
            handed = {slot for arg in ask.args if (slot := self.anatomy.facts.slots.of(arg.value)) is not None}
            kept = {place_of(self.anatomy, slot) for slot in self.late.kept(ask) or handed}
            here = self.late.points(again, ask)
            for save, stores in saves.items():
                read = {slot for slot in kept if self._is_read_from(slot, again, ask, stores)}
                alike = {p for node, where in saves.items() if where & stores for p in again.points(node)}
                if self.anatomy.module.loop_around(save, own=True) or not self._is_of(save, asks, read, function):
                    continue
                if self._written_by(self.anatomy, ask) & stores or self._written_above(function, stores):
                    continue
                behind = self.anatomy.module.inside(ask, save) or again.follows(ask, save, (), exceptions=False)
                if behind and fails_to(again, here, ends, alike):
                    yield LateSave(save, ask, loaded=True)
                    return

    def _is_read_from(self, slot: Slot, again: Again, ask: cst.Call, stores: _Stores) -> bool:
        """Whether an object is made for this run, out of what is written at some places, or was there the last time."""
        root, function = root_object(slot), again.function
        bound = self.anatomy.facts.assigned(root) if root[:2] == ("var", function) else []
        made = [value for value in bound if ex.inner(value) is not ask]
        loads = [part for value in made for part in ex.alternatives(value) if isinstance(part, cst.Call)]
        read = self._read(self.anatomy, {function}).union(*map(self._reads, loads)) if made else frozenset()
        return not read.isdisjoint(stores) and all(map(Lasting(self.anatomy).is_new, made))

    def _reads(self, call: cst.Call) -> _Stores:
        """The places that a call reads, as `_written` tells them."""
        found = body(self.anatomy, call)
        rows = {("table", name, 0) for name in self.anatomy.resources.of(call).read} if found is not None else set()
        return self._read(found[0], found[0].calls.reachable(found[1])) | rows if found is not None else frozenset()

    def _read(self, there: Anatomy, reach: Container[Scope]) -> _Stores:
        """Where a file writes what these functions of it read."""
        saves = (save for here in there.module.functions for save in there.storage.saves(here) if save.outside)
        return frozenset(_written_at(there, save) for save in saves if there.storage.is_read(save.place, reach))

    def given_back(self, node: cst.Assign, function: Scope) -> Iterator[LateReturn]:
        """A history that a turn is given, copies, and gives back longer: the error of a later request keeps the old."""
        turn, slots = ex.inner(node.value), self.anatomy.facts.slots
        if not isinstance(turn, cst.Call) or not self.late.fails(turn):
            return
        bound = [
            part
            for target in ex.targets(node)
            for part in [target, *(e.value for e in getattr(target, "elements", ()))]
        ]
        given = [slots.of(arg.value) for arg in turn.args]
        again, kept = Again(self.anatomy, function), self.late.kept(turn)
        for slot in (slots.of(part) for part in bound):
            if slot is None or slot not in given or slot in kept or not self._is_history_there(slot, turn):
                continue
            root = root_object(slot)  # what is local is gone with its function
            lasting = not (root[0] == "var" and root[1] is function) and Lasting(self.anatomy).keeps(slot) is not None
            goals = {*again.points(node), *([again.graph.exit, again.graph.raises] if lasting else [])}
            if fails_to(again, again.points(node), goals, again.bound(slot, grown=False)):
                yield LateReturn(node, turn, slot)

    def _is_history_there(self, slot: Slot, turn: cst.Call) -> bool:
        """Whether what a turn is given is a history to the function that runs it: not a count of what it has cost."""
        found, slots = body(self.anatomy, turn), self.anatomy.facts.slots
        if found is None:
            return True
        there, function = found
        bound = there.facts.slots.bindings(turn, function)
        return any(Kind.HISTORY in there.facts.of(taken) for taken, value in bound if slots.of(value) == slot)

    def _is_stopped(self, again: Again, ask: cst.Call, loop: cst.While, barred: set[Point]) -> bool:
        """Whether a person who stops a turn at the terminal ends the program, past what is barred."""
        waits = [call for call in self.anatomy.module.nodes_of(cst.Call) if self.anatomy.module.inside(call, loop)]
        if not any(map(self._waits, waits)) or self._knows_stops(self.anatomy, ask, 0):
            return False
        for guard in exceptions.guards(self.anatomy.module, ask):
            closing = guard.finalbody
            if closing is not None and any(point in barred for part in walk(closing) for point in again.graph.at(part)):
                return False
            handler = next((each for each in guard.handlers if exceptions.caught(each) & _STOPS), None)
            if handler is not None:
                ends = {again.graph.raises, again.graph.exit}
                return again.leads(again.graph.at(handler), ends, barred, exceptions=False)
        return True

    def _waits(self, call: cst.Call) -> bool:
        """Whether a call waits for what a person types, itself or in the function that it runs."""
        found = body(self.anatomy, call) if not self.anatomy.turns.reaches_model(call) else None
        inner = found[1].nodes_of(cst.Call) if found is not None else []
        return any(waits_for_words(each, self.anatomy.module.imports) for each in (call, *inner))

    def _knows_stops(self, there: Anatomy, call: cst.Call, depth: int) -> bool:
        """Whether what a call runs handles that it is stopped."""
        found = body(there, call) if depth < _DEEPEST else None
        if found is None:
            return False
        reach = found[0].calls.reachable(found[1])
        named = (handler for here in reach for handler in here.nodes_of(cst.ExceptHandler))
        return any(exceptions.caught(handler) & _STOPS for handler in named) or any(
            self._knows_stops(found[0], inner, depth + 1)
            for here in reach
            for inner in here.nodes_of(cst.Call)
            if found[0].turns.reaches_model(inner)
        )

    # -- what is saved ------------------------------------------------------------------------------------------

    def _saves(self, function: Scope, loop: cst.CSTNode, asks: list[cst.Call]) -> dict[cst.CSTNode, _Stores]:
        """The statements of a function that write to where a start of the program reads, some in the loop."""
        found: dict[cst.CSTNode, _Stores] = {}
        for call in function.nodes_of(cst.Call):
            written = self._written_by(self.anatomy, call) if call not in asks else frozenset()
            if written:
                found[call] = written
        for save in self.anatomy.storage.saves(function):
            if save.outside and save.node not in asks and self.anatomy.storage.is_read(save.place):
                found.setdefault(save.node, frozenset({_written_at(self.anatomy, save)}))
        lasting = Lasting(self.anatomy)
        found = {node: where for node, where in found.items() if not lasting.is_asked_for(node)}
        return found if any(self.anatomy.module.inside(node, loop) for node in found) else {}

    def _written_by(self, there: Anatomy, call: cst.Call) -> _Stores:
        found = body(there, call)
        return self._written(*found, 0) if found is not None else frozenset()

    def _written(self, there: Anatomy, function: Scope, depth: int) -> _Stores:
        """Where a function writes what is read again, itself or in what it runs."""
        if (there, function) not in self._known:
            self._known[there, function] = frozenset()
            reach, resources = there.calls.reachable(function), there.resources
            calls = [call for here in reach for call in here.nodes_of(cst.Call)]
            saves = [save for here in reach for save in there.storage.saves(here) if save.outside]
            found = {_written_at(there, save) for save in saves if there.storage.is_read(save.place)}
            for call in calls:
                found |= {("table", name, 0) for name in resources.handed(call).made if _is_selected(there, name)}
                other = body(there, call) if depth < _DEEPEST and there.facts.slots.callee(call) is None else None
                found |= self._written(*other, depth + 1) if other is not None else frozenset()
            self._known[there, function] = frozenset(found)
        return self._known[there, function]

    def _written_above(self, function: Scope, stores: _Stores, seen: frozenset[Scope] = frozenset()) -> bool:
        """Whether a caller saves in a handler or `finally`, or the file where the program ends."""
        module = self.anatomy.module
        ends = [call for call in module.nodes_of(cst.Call) if ex.dotted(call.func) == "atexit.register"]
        handed = [self.anatomy.facts.slots.function(arg.value) for call in ends for arg in call.args]
        if any(run is not None and self._written(self.anatomy, run, 0) & stores for run in handed):
            return True
        for site in self.anatomy.calls.sites[function] if function not in seen else ():
            guards = exceptions.guards(module, site.node)
            closing = [part for guard in guards for part in (*guard.handlers, guard.finalbody) if part is not None]
            calls = (node for part in closing for node in walk(part) if isinstance(node, cst.Call))
            if any(self._written_by(self.anatomy, call) & stores for call in calls):
                return True
            if self._written_above(site.caller, stores, seen | {function}):
                return True
        return False

    # -- what a turn makes --------------------------------------------------------------------------------------

    def _is_of(self, save: cst.CSTNode, asks: list[cst.Call], kept: set[Slot], function: Scope) -> bool:
        """Whether what is saved is what the results of a turn are put into, or holds it."""
        slots, own = self.anatomy.facts.slots, self.anatomy.module.self_name(function)
        given = [node for node in walk(save) if isinstance(node, _PLACES) and ex.dotted(node) != own]
        whole = {part for slot in kept for part in whole_of(slot)}
        if any(slots.of(node) in whole and not self._is_asked_for_another(node, kept) for node in given):
            return True
        names = {str(slot[2]) for slot in kept if slot[0] == "var" and slot[1] is function}
        names = self.places.derived(function, save, others=asks, known=names) if names else names
        if any(is_read(node, names) for node in given):
            return True
        run = body(self.anatomy, save)
        inside = self.anatomy.calls.reachable(run[1]) if run is not None and run[0] is self.anatomy else ()
        return any(self.late.writes_out(here, whole) for here in inside)

    def _is_asked_for_another(self, node: cst.CSTNode, kept: set[Slot]) -> bool:
        """Whether another part of an object is read: `save(agent.keys)` gets nothing of what `agent.talk` holds."""
        outer = self.anatomy.module.parent[node]
        called = isinstance(call := self.anatomy.module.parent.get(outer), cst.Call) and call.func is outer
        if not isinstance(outer, cst.Attribute) or outer.value is not node or called:
            return False
        return self.anatomy.facts.slots.of(node) not in kept and outer.attr.value not in {slot[2] for slot in kept}


def _written_at(there: Anatomy, save: Save) -> tuple[str, str, int]:
    try:  # one write, wherever it stands that is put where it is called
        return "write", there.module.path, there.line(save.node)
    except Unplaced:
        return "write", there.module.path, id(save.node)


def _is_selected(there: Anatomy, table: str) -> bool:
    """Whether a file reads a table."""
    resources = there.resources
    return any(table in resources.handed(call).read for call in there.module.nodes_of(cst.Call))
