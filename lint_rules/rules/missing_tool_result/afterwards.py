"""What becomes of a history whose calls got no answer: whether it goes on, is handed out, or was stored before."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

import libcst as cst

from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.obligations.open_ends import BROKEN, GIVEN_BACK, REFUSED, OpenEnds, chosen_from
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import parameters
from lint_rules.syntax.truth import truth


class Afterwards(OpenEnds):
    """Questions of the rule alone about what comes after a function's points."""

    @cached_property
    def are_mended(self) -> bool:
        """Whether the histories are put in order somewhere else in the file, before they are sent."""
        return self.anatomy.mending.reaches(self.histories, calls=True)

    def go_on(
        self,
        start: Point,
        region: Iterable[Point] = (),
        *,
        handed: bool = False,
        stored: bool = True,
        flags: Mapping[str, bool] = MappingProxyType({}),
        surely: bool = False,
        passing: Container[Point] = (),
        into: Slot | None = None,
        leaving: cst.CSTNode | None = None,
        gone: bool = False,
        told: ToldByReply | None = None,
    ) -> str | None:
        """How the conversation goes on from `start`, outside `region`: a few words; None where it does not.

        `handed`: a list of answers is given to the caller, who stores it. Without `stored`, the message with the calls
        is yet to be stored on the way. `flags` are names and tests whose value is known from the way here. `surely`: a
        list that callers of other files pass does not count as one that lives on. What the points `passing` answer are
        other calls. `into` is the list that the message with the calls is in, if that is known, and `leaving` what left
        the function, where `start` is its end. `gone`: that list ends with the function. `told` says what other tests
        give for the message.
        """
        inside = set(region)
        seen = {(start, stored)}
        queue = deque(seen)
        ends, saved, back = False, self._is_put_back_before(leaving), stored and self._gives_back(leaving)
        while queue:
            here, after = queue.popleft()
            if here is self.graph.exit:
                ends = ends or after
                continue
            back = back or (after and self._gives_back(here.statement))
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
        if ends and back:
            return GIVEN_BACK
        if not ends or gone:
            return None
        if handed:
            return "the history is sent without it"
        return BROKEN if into is not None and self.is_handed_out(into) else self._lives_on(surely)

    def _is_put_back_before(self, leaving: cst.CSTNode | None) -> bool:
        """Whether a list takes the place of one that lives on, on each way from where calls are stored to a jump."""
        goals = self.anatomy.points(self.function, [leaving]) if leaving is not None and self.put_back else []
        return bool(goals) and not self.graph.reaches(self.stores, goals, self.put_back, exceptions=False)

    def _gives_back(self, node: cst.CSTNode | None) -> bool:
        """`return answer, talk`, where `talk` begins with the history that the caller gave: that goes on with it."""
        value = node.value if isinstance(node, cst.Return) else None
        return value is not None and any(self._holds(value, slot, sent=True) for slot in self._lent)

    @cached_property
    def _lent(self) -> list[Slot]:
        """The histories of the function that begin as copies of a history that a caller gave."""
        facts = self.anatomy.facts
        given = {facts.slots.parameter(self.function, param.name.value) for param in parameters(self.function)}
        found = []
        for slot in self.histories - given:
            begun = facts.assigned(slot) if slot[:2] == ("var", self.function) else []
            copied = {facts.slots.of(part) for value in begun for part in _copied(value)}
            if any(Kind.HISTORY in facts.of(each) for each in given & copied if each is not None):
                found.append(slot)
        return found

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

    def is_handed_out(self, slot: Slot) -> bool:
        """Whether what a turn adds is given to whoever runs, reads or awaits this: a list beside the one that is sent.

        So is the part of the sent list behind a mark. Who collects calls and results wants them for the next turn.
        """
        if slot[:2] != ("var", self.function):
            return False
        given = [node.value for node in self.function.nodes_of(cst.Return, cst.Yield)]
        futures = [call for call in self.function.nodes_of(cst.Call) if ex.called_name(call) == "set_result"]
        given += [arg.value for call in futures for arg in call.args]
        return any(isinstance(value, cst.BaseExpression) and self._holds(value, slot) for value in given)

    @cached_property
    def _sent(self) -> set[Slot]:
        """The lists that are asked with."""
        asking = [call for call in self.function.nodes_of(cst.Call) if self.anatomy.calls.asks(call)]
        slots = (self.anatomy.facts.slots.of(arg.value) for call in asking for arg in call.args)
        return {slot for slot in slots if slot is not None}

    def _holds(self, value: cst.BaseExpression, slot: Slot, *, sent: bool = False) -> bool:
        """Whether a value is a list, the end of one that is sent, a copy, or an object that is made with it.

        The list that is `sent` itself counts where that is said.
        """
        part = ex.slice_of(value)
        if part is not None and part.lower is not None and isinstance(value, cst.Subscript):
            return self.anatomy.facts.slots.of(value.value) == slot
        if self.anatomy.facts.slots.of(value) == slot:
            return sent or (slot not in self._sent and bool(self._sent & self.histories))
        parts: list[cst.BaseExpression] = []
        if isinstance(value, cst.Call) and (ex.made_of(value) or ex.called_name(value)[:1].isupper()):
            parts = [arg.value for arg in value.args]
        elif isinstance(value, (cst.Tuple, cst.List)):
            parts = [element.value for element in value.elements]
        elif isinstance(value, cst.Dict):
            parts = [*ex.dict_items(value).values()]
        elif isinstance(value, (cst.BooleanOperation, cst.IfExp)):
            parts = [*ex.alternatives(value)]
        return any(self._holds(part, slot, sent=sent) for part in (*parts, *sources(value)) if part is not value)


def _copied(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The lists that a value is a copy of, or is put together from; itself, if it is none."""
    for part in ex.alternatives(value):
        parts = sources(part)
        yield from (copied for each in parts for copied in _copied(each)) if parts else (part,)
