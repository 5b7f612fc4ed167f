"""What becomes of a history whose calls got no answer: whether it goes on, is handed out, or was stored before."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType

import libcst as cst

from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.obligations.open_ends import BROKEN, REFUSED, OpenEnds, chosen_from
from lint_rules.rules.missing_tool_result.taken import held_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.truth import truth
from lint_rules.syntax.walk import walk


class Afterwards(OpenEnds):
    """Questions of the rule alone about what comes after a function's points."""

    @cached_property
    def are_mended(self) -> bool:
        """Whether the histories are put in order somewhere else in the file, before they are sent, or just here."""
        mending = self.anatomy.mending
        here = not self.asking and bool(self.histories) and mending.mends(self.function, calls=True)
        return here or mending.reaches(self.histories, calls=True)

    def go_on(
        self,
        start: Point,
        region: Iterable[Point] = (),
        *,
        handed: bool = False,
        stored: bool = True,
        flags: Mapping[str, bool] = MappingProxyType({}),
        surely: bool = False,
        gone: bool = False,
        into: Slot | None = None,
        told: ToldByReply | None = None,
        passing: Container[Point] = (),
    ) -> str | None:
        """How the conversation goes on from `start`, outside `region`: a few words; None where it does not.

        `handed`: a list of answers is given to the caller, who stores it. Without `stored`, the message with the calls
        is yet to be stored on the way. `flags` are names and tests whose value is known from the way here. `surely`: a
        list that callers of other files pass does not count as one that lives on. `gone`: the list ends with the
        function. The calls are `into` this list, where that is known. `told` says what other tests give for them. The
        points `passing` answer other calls.
        """
        inside = set(region)
        seen = {(start, stored)}
        queue = deque(seen)
        ends = saved = False
        while queue:
            here, after = queue.popleft()
            if here is self.graph.exit:
                ends = ends or after
                continue
            if here not in passing and self.mends(here):
                continue
            saved = saved or (after and self.saves([here]))
            if self.asks(here):
                if after:
                    return REFUSED
                continue
            after = after or here in self.stores
            outcome = self.flagged(here.statement, flags)
            if outcome is None and told is not None and here.statement is not None:
                outcome = told.outcome(here.statement)
            for target, kind in here.successors:
                if kind == "exception" or target in inside or (target, after) in seen:
                    continue
                if (kind == "true" and outcome is False) or (kind == "false" and outcome is True):
                    continue
                seen.add((target, after))
                queue.append((target, after))
        if saved:
            return BROKEN
        if not ends or gone:
            return None
        if handed:
            return "the history is sent without it"
        return BROKEN if into is not None and self._is_handed_out(into) else self._lives_on(surely)

    def is_stored_before(self, points: Iterable[Point]) -> bool:
        """Whether the message with the calls is in the history at one of `points`, or was when this function began.

        It was where no request lies between, and where this function stores none.
        """
        if not self.stores:
            return True
        queue = list(points)
        seen = set(queue)
        while queue:
            for source, kind in queue.pop().predecessors:
                if kind == "exception":
                    continue
                if source in self.stores or source is self.graph.entry:
                    return True
                if source not in seen and source not in self.asking:
                    seen.add(source)
                    queue.append(source)
        return False

    def flagged(self, node: cst.CSTNode | None, flags: Mapping[str, bool]) -> bool | None:
        """What the test of a statement gives where these names and tests have a known value."""
        return truth(node.test, flags) if flags and isinstance(node, (cst.If, cst.While)) else None

    def _lives_on(self, surely: bool) -> str | None:
        kept = any(self.outlives(slot, self.function, surely=surely) for slot in self.histories)
        if kept or (self._elsewhere and not self.histories and not surely):
            return BROKEN
        return None

    def is_gone(self, slot: Slot, start: Point, anew: frozenset[Point]) -> bool:
        """Whether a list of this function alone ends with it: behind `start` nothing moves what is in it elsewhere.

        At the points `anew` it is made anew.
        """
        facts = self.anatomy.facts
        values = [*facts.assigned(slot), *(value for value, _ in self.anatomy.aliases.given_back(slot))]
        if slot[:2] != ("var", self.function) or is_parameter(slot) or not values:
            return False
        if any(self._is_kept(value, self.function, 0) for value in values):
            return False
        moves = [move.node for move in self._moves if facts.slots.of(chosen_from(move.source)) == slot]
        moved = {*self.anatomy.points(self.function, moves), *self.put_back}
        return start not in moved and not self.graph.reaches([start], moved, set(anew), exceptions=False)

    def answering_from(self, run: cst.Call) -> set[Point]:
        """Where the function goes through what a call gives: it answers those calls, and no others."""
        slots = self.anatomy.facts.slots
        given = {slots.of(target) for target in ex.assigned(self.anatomy.module.statement(run))} - {None}
        loops = [loop for loop in self.function.nodes_of(cst.For) if slots.of(held_in(loop.iter)) in given]
        return {p for loop in loops for p in (*self.graph.at(loop), *self.graph.within(walk(loop.body)))}

    def asks_of(self, run: cst.Call) -> bool:
        """Whether a test reads what a call gives."""
        statement = self.anatomy.module.statement(run)
        names = {name for target in ex.assigned(statement) for name in ex.target_names(target)}
        tests = [node.test for node in self.function.nodes_of(cst.If, cst.While)]
        return any(self.anatomy.module.inside(run, test) or mentions(names, test) for test in tests)

    def _is_handed_out(self, slot: Slot) -> bool:
        """Whether what a turn adds is given to whoever runs, reads or awaits this: a list beside the one that is sent.

        So is the end of that list. Who collects calls and results wants them for the next turn.
        """
        slots = self.anatomy.facts.slots
        calls = self.function.nodes_of(cst.Call)
        given = [node.value for node in self.function.nodes_of(cst.Return, cst.Yield) if node.value is not None]
        given += [arg.value for call in calls if ex.called_name(call) == "set_result" for arg in call.args]
        sent = {slots.of(arg.value) for call in calls if self.anatomy.calls.asks(call) for arg in call.args}
        if slot not in sent and sent & self.histories:
            return any(self.is_whole_in(value, {slot}) for value in given)
        ends = (node for value in given for node in walk(value) if isinstance(node, cst.Subscript))
        return any(slots.of(n.value) == slot and (part := ex.slice_of(n)) is not None and part.lower for n in ends)

    def is_whole_in(self, value: cst.CSTNode, lists: Container[object]) -> bool:
        """Whether a value holds one of some lists: not one of its messages, its length, or whether it has any."""
        for name in walk(value):
            if isinstance(name, cst.BaseExpression) and self.anatomy.facts.slots.of(name) in lists:
                outer = self.anatomy.module.parent[name]
                of_call = self.anatomy.module.parent[outer] if isinstance(outer, cst.Arg) else None
                is_part = isinstance(outer, cst.Subscript) and outer.value is name and ex.slice_of(outer) is None
                is_asked = isinstance(outer, cst.IfExp) and outer.test is name
                if not (is_part or is_asked or (isinstance(of_call, cst.Call) and ex.dotted(of_call.func) == "len")):
                    return True
        return False
