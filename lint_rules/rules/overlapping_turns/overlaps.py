"""Turns that overlap on one history, because nothing keeps the runs of them apart for the whole turn.

A turn is started again before it ends (a timer that is armed first), by every event (a task per message, a thread per
alarm, a request handler), or from two places that run beside each other (a background loop and what the user types).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.growth import root_of
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.program.concurrency import Start, begun_elsewhere
from lint_rules.anatomy.turns.locations import guards
from lint_rules.anatomy.turns.turns import Turn, are_answered, is_keyed
from lint_rules.anatomy.turns.unguarded import LOOPS, Reach
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, name_of
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_TIMERS = frozenset({"Timer", "call_later", "call_at"})
_PAUSES = frozenset({"sleep", "wait", "wait_for"})
_DEEPEST = 4


@record
class Overlap:
    """`turn` overlaps: itself, from `node` on, or (how "two") as `node` and `other` both lead to it."""

    how: Literal["rearmed", "many", "two"]
    node: cst.CSTNode
    turn: Turn
    start: Start
    other: cst.CSTNode | None = None
    entry: str = ""


class Overlaps:
    """Finds the overlaps of a file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.unguarded = anatomy.unguarded
        self.races = self.unguarded.races
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.graph = anatomy.calls
        self.turns = anatomy.turns

    def all(self) -> Iterator[Overlap]:
        """Re-armings, starts that overlap themselves (of handlers one for each turn), else one pair for each turn."""
        yield from self._begun_there()
        if not self.races.starts and not self.races.processes:
            return
        told: set[Turn] = set()
        starts = [*self.unguarded.starts, *(s for s in self.races.starts if s.caller is not None and s.caller.own)]
        apart = [start for start in self.races.processes if not self.turns.are_told_by(start)]
        starts = [start for start in dict.fromkeys(starts) if not self.turns.are_told_by(start)]
        reach = {s: self.unguarded.reach(s.function, s) for s in (*starts, *apart)}
        yield from self._rearmed(starts, reach)
        led = [(start, turn) for start in reach for turn in self._turns_in(reach[start], start)]
        places: set[cst.CSTNode] = set()
        served: set[tuple[Start, Slot]] = set()
        for start, turn in sorted(led, key=_place_of_turn):
            if (start, turn.slot) in served and not turn.function.within(start.function):
                told.add(turn)  # the handler's own turn on this history is
            again = turn in told and start.comes_with_events
            if not again and self._repeats(start, turn, reach[start]) and self._same_history(start, turn, reach[start]):
                told.add(turn)
                if start.comes_with_events and turn.function.within(start.function):
                    served.add((start, turn.slot))
                place = self._place(start, turn)
                if place not in places:
                    places.add(place)
                    yield Overlap("many", place, turn, start)
        for start in starts:
            for turn in self._turns_in(reach[start], start):
                if turn not in told and (found := self._beside(start, turn, starts, reach)) is not None:
                    told.add(turn)
                    yield found

    # -- turns that nothing keeps apart ------------------------------------------------------------------------

    def _turns_in(self, reach: Reach, start: Start) -> Iterator[Turn]:
        for function in reach:
            for turn in self.turns.of(function):
                if self._may_overlap(turn, start, reach[function]) and not self._is_left_out(turn, reach):
                    yield turn
        for function, thread, parts in self.unguarded.reach_on_own(start):
            for turn in self.turns.of(function):
                if self._may_overlap(turn, start, thread) and self._is_shared_part(turn, parts):
                    yield turn

    def _may_overlap(self, turn: Turn, start: Start, in_thread: bool) -> bool:
        """Whether nothing within a turn, and no object of the run's own, keeps other runs away from it."""
        if self.turns.is_apart(turn) or not (in_thread or self.turns.gives_way(turn)):
            return False
        if start.kind == "process" and not turn.outside:
            return False
        if turn.outside and any(self.module.before(guard, turn.asks[0]) for guard in guards(turn.function)):
            return False  # the store keeps others out, or refuses what they have overtaken
        return not self.turns.begins(turn, start.function) and not self._is_on_own_object(turn, start)

    def _is_shared_part(self, turn: Turn, parts: Collection[Slot]) -> bool:
        """Whether the history of a turn on an object of the run's own is no part of it, or one that it was given."""
        if turn.outside or root_object(turn.slot)[:2] == ("var", self.module.top):
            return True
        root, classes = root_object(turn.slot), {self.facts.slots.classes.get(part) for part in parts}
        return root in parts or (root[0] == "attr" and root[1] in classes)

    def _is_left_out(self, turn: Turn, reach: Reach) -> bool:
        """Whether all calls by which a start comes to a turn tell its function, by a constant, to run none."""
        sites = [site for site in self.graph.sites[turn.function] if site.caller in reach]
        return bool(sites) and all(self.turns.leaves_out(site.node, turn.function, turn) for site in sites)

    def _is_on_own_object(self, turn: Turn, start: Start) -> bool:
        """Whether the turn is that of an object which its function makes for itself: `Agent().run(text)`.

        Or of one that a caller makes, and the history is a part of it. What lies outside is no part of any. Or the turn
        is told a key that is made for it.
        """
        if self.turns.has_new_key(turn):
            return True
        if turn.outside:
            return False
        if start.caller is not None and start.caller.own and root_object(turn.slot)[0] == "attr":
            return True
        return all(
            isinstance(node, cst.Call) and self.races.ownership.on_own_object(node, turn.function)
            for node in turn.grows
        )

    def _begun_there(self) -> Iterator[Overlap]:
        """`pool.submit(engine.answer, key)`: turns of functions of other files that are begun here."""
        for begun, _ in begun_elsewhere(self.anatomy):
            found = self.turns.begun_there(begun)
            if found is not None:
                function, turn = found
                yield Overlap("many", begun.node, turn, Start(function, begun.node, begun.kind, True, begun.target))

    # -- the same turn again ----------------------------------------------------------------------------------

    def _rearmed(self, starts: list[Start], reach: dict[Start, Reach]) -> Iterator[Overlap]:
        """`self._schedule()` before `self._turn()`, where `_schedule` starts this very function again."""
        for start in starts:
            function, starter = start.function, self.module.scope_of[start.node].function
            sites = self.graph.calls[function] if starter is not function else ()
            again: list[cst.CSTNode] = [start.node] if starter is function else []
            again += [site.node for site in sites if site.callee is starter]
            for node in (each for each in again if not self.races.flags.guard(each, function)):
                for turn in self._turns_in(reach[start], start):
                    if self.anatomy.leads(function, [node], [self._led_by(function, turn)]):
                        yield Overlap("rearmed", node, turn, start)
                        return

    def _repeats(self, start: Start, turn: Turn, reach: Reach) -> bool:
        """Whether runs of one start may overlap each other, on this history."""
        if self.races.joins.is_joined(start):
            return False
        same = (t for f in reach for t in self.turns.led_to(f) if t.slot == turn.slot)
        whole = turn.tools or turn.loaded or are_answered([turn, *same])
        if start.comes_with_events:
            return whole
        return (whole or not is_keyed(turn.slot)) and self.unguarded.is_many(start)

    def _same_history(self, start: Start, turn: Turn, reach: Reach) -> bool:
        """Whether several runs share the history: a parameter must be given the same object each time."""
        slot = root_object(turn.slot)
        if turn.outside or slot[0] != "var" or slot[1].kind == "module":
            return True
        if start.kind in {"thread", "task"} and self._makes_for_each(slot, start):
            return False
        if self.anatomy.aliases.is_lasting(turn.slot, slot[1] if slot[1] in reach else start.function):
            return True
        if not is_parameter(slot):
            return start.function is not slot[1] and slot[1] not in reach
        return self._given_the_same(slot, start, reach, 0)

    def _makes_for_each(self, slot: Slot, start: Start) -> bool:
        """Whether the function that starts something makes a local anew for each start."""
        if slot[1] is not self.module.scope_of[start.node].function or is_parameter(slot):
            return False
        loops = [outer for outer in self.module.ancestors(start.node) if isinstance(outer, LOOPS)]
        made = self.facts.assigned(slot)
        return not any(
            self.module.inside(loop, slot[1].node) and not any(self.module.inside(value, loop) for value in made)
            for loop in loops
        )

    def _given_the_same(self, parameter: Slot, start: Start, reach: Reach, depth: int) -> bool:
        function = parameter[1]
        if function is start.function:
            return start.caller is not None and start.caller.hands_on(function, parameter[2])
        sites = [site for site in self.graph.sites[function] if site.caller in reach and depth <= _DEEPEST]
        bound = ((pair, site.caller) for site in sites for pair in self.facts.slots.bindings(site.node, function))
        given = ((value, caller) for (slot, value), caller in bound if slot == parameter)
        return bool(sites) and all(self._is_the_same(value, caller, start, reach, depth) for value, caller in given)

    def _is_the_same(self, value: cst.BaseExpression, caller: Scope, start: Start, reach: Reach, depth: int) -> bool:
        """Whether a value is one object in all runs of a start: it lasts, or is a part of what each is given."""
        given = self.facts.slots.of(value)
        if given is None:
            return False
        if self.anatomy.aliases.is_lasting(self.anatomy.aliases.of(given), caller):
            return True
        given = root_object(given)
        if given[0] != "var" or given[1] is not caller:
            return given[0] in {"attr", "var"}
        if is_parameter(given):
            return self._given_the_same(given, start, reach, depth + 1)
        made = self.facts.assigned(given)
        return len(made) == 1 and depth <= _DEEPEST and self._is_the_same(made[0], caller, start, reach, depth + 1)

    def _place(self, start: Start, turn: Turn) -> cst.CSTNode:
        """Where the turn is started: for a handler, the call in it; else the start itself."""
        return self._led_by(start.function, turn) if start.comes_with_events else start.node

    def _led_by(self, function: Scope, turn: Turn) -> cst.CSTNode:
        """The node of a function, or of one within it, by which it comes to a turn."""
        own = [here for here in self.module.functions if here.within(function)]
        sites = [s for here in own for s in self.graph.calls[here]] if not turn.function.within(function) else []
        led = (site.node for site in sites if turn.function in self.unguarded.reach(site.callee, None))
        return next(led, turn.asks[0])

    # -- two at once ------------------------------------------------------------------------------------------

    def _beside(self, start: Start, turn: Turn, starts: list[Start], reach: dict[Start, Reach]) -> Overlap | None:
        """Another start, the code that goes on after this one, or a public method, with a turn on the same history."""
        for other in starts:
            if other is start or other.function is start.function or not self.races.may_meet(start, other):
                continue
            for second in self._turns_in(reach[other], other):
                if second.slot == turn.slot and not is_keyed(turn.slot) and (turn.is_open or second.is_open):
                    return self._two(start, turn, second, other.node, other.function.name)
        if root_of(turn.slot) is None:
            return None
        found = self._goes_on(start, turn)
        if found is not None or self.races.joins.is_joined(start):
            return found
        return self._public_entry(start, turn, reach[start])

    def _two(self, start: Start, turn: Turn, second: Turn, other: cst.CSTNode, entry: str) -> Overlap:
        same = second.function is turn.function and isinstance(turn.function.node, cst.FunctionDef)
        node = turn.function.node.name if same else start.node  # type: ignore[attr-defined]
        return Overlap("two", node, turn, start, other, entry)

    def _goes_on(self, start: Start, turn: Turn) -> Overlap | None:
        """`agent.start(); while True: agent.chat(input())`: on the same object, after the start."""
        where = self.module.scope_of[start.node].function
        places: list[tuple[Scope, cst.Call]] = []
        if isinstance(start.node, cst.Call):
            places.append((where, start.node))
        if not self.races.joins.is_joined(start):
            places += [(site.caller, site.node) for site in self.graph.sites[where]]
        for function, begun in places:
            if function.kind in {"class", "lambda"} or function is start.function:
                continue
            base = start.target if begun is start.node else begun.func
            for site in self._calls_after(begun, function):
                if begun is start.node and not self.races.joins.runs_beside(start, site.node):
                    continue
                if _same_owner(base, site.node.func) or self._shares_keeper(begun, site.node, turn):
                    for second in self._on_history(turn.slot, self.unguarded.reach(site.callee, None)):
                        if not start.on_loop or (function.is_async and self.turns.gives_way(second)):
                            return self._two(start, turn, second, site.node, site.callee.name)
        return None

    def _shares_keeper(self, begun: cst.Call, call: cst.Call, turn: Turn) -> bool:
        """`create_task(watch(desk))`, then `desk.chat(text)`: both get the object that keeps the history."""
        slots, root = self.facts.slots, root_object(turn.slot)
        kept = {slots.of(value) for value in ex.handed(call) if slots.instance(value) is root[1]} - {None}
        return root[0] == "attr" and slots.names_any(begun, kept)

    def _calls_after(self, begun: cst.Call, function: Scope) -> Iterator[CallSite]:
        """The unguarded calls of functions of this file that may follow a call in the same function."""
        for site in self.graph.calls[function]:
            if not self.module.inside(site.node, begun) and not self.unguarded.is_guarded(site.node, function):
                if self.anatomy.leads(function, [begun], [site.node]):
                    yield site

    def _on_history(self, slot: Slot, functions: Iterable[Scope]) -> Iterator[Turn]:
        """The turns on a history that nothing keeps apart, in these functions."""
        for function in functions:
            for turn in self.turns.of(function):
                if turn.slot == slot and not self.turns.is_apart(turn):
                    yield turn

    def _public_entry(self, start: Start, turn: Turn, reach: Reach) -> Overlap | None:
        """A method that others call at any time, beside a background turn that comes by the clock."""
        if turn.slot[0] != "attr" or not self._by_the_clock(start):
            return None
        for method in turn.slot[1].methods.values():
            if method in reach or not self.races.is_public(method) or self.races.is_setup(method):
                continue
            sites = self.graph.sites[method]
            if any(site.caller in reach or self.unguarded.is_guarded(site.node, site.caller) for site in sites):
                continue
            threads = self.unguarded.reach(method, None)
            for second in self._on_history(turn.slot, threads):
                if not start.on_loop or threads[second.function] or self.turns.gives_way(second):
                    return self._two(start, turn, second, name_of(method), method.name)
        return None

    def _by_the_clock(self, start: Start) -> bool:
        """A timer, or a loop with a pause in it that runs the turn."""
        if isinstance(start.node, cst.Call) and ex.called_name(start.node) in _TIMERS:
            return True
        for loop in start.function.nodes:
            if isinstance(loop, cst.While):
                calls = [n for n in walk(loop) if isinstance(n, cst.Call)]
                pauses = any(ex.called_name(call) in _PAUSES for call in calls)
                waits = any(ex.called_name(call) in {"get", "recv", "receive", "input"} for call in calls)
                runs = any(self.turns.asks(call) for call in calls)
                if pauses and runs and not waits:
                    return True
        return False


def _place_of_turn(led: tuple[Start, Turn]) -> tuple[bool, bool]:
    """The handler's own turns come first, and whole ones before parts of them."""
    start, turn = led
    return not turn.function.within(start.function), not (turn.answers or turn.tools)


def _same_owner(one: cst.BaseExpression | None, other: cst.BaseExpression) -> bool:
    """Whether `a.start` and `a.chat` are methods of one object; two plain functions share what is global."""
    first = ex.dotted(one.value) if isinstance(one, cst.Attribute) else None
    second = ex.dotted(other.value) if isinstance(other, cst.Attribute) else None
    return first == second
