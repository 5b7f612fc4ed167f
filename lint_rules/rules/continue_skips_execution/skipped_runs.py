"""Rounds that go back to the model before the tools of its reply have run, because a check beside it has failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import speaks_of_calls
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.executions import call_loops
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk, walk_scope

_STORES = re.compile(r"(add|append|push|store|save|record|remember|extend|insert)(_|$)")
"""Names of methods that may store a message in another file."""
_SIZES = frozenset({"len", "any", "all", "bool"})
_PARSED = frozenset({Kind.ARGUMENTS_TEXT, Kind.ARGUMENTS, Kind.MODEL_TEXT})


@record
class SkippedRun:
    """`node` goes on with the next round because of `reason`, a check that failed, and so passes over `run`."""

    node: cst.Continue
    loop: RoundLoop
    reason: cst.CSTNode
    run: cst.CSTNode


def skipped_runs(anatomy: Anatomy) -> Iterator[SkippedRun]:
    """Those of all round loops of a file."""
    for loop in anatomy.rounds:
        round_ = _Round(anatomy, loop)
        for node in walk_scope(loop.node.body):
            if isinstance(node, cst.Continue) and round_.owns(node):
                found = round_.skipped(node)
                if found is not None:
                    yield found


class _Round:
    """One round loop: what of it is the reply, where the tools are run."""

    def __init__(self, anatomy: Anatomy, loop: RoundLoop) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.loop = loop
        self.graph = anatomy.flow(loop.function)

    def owns(self, node: cst.Continue) -> bool:
        """Whether the `continue` goes on with this loop, not with one inside it."""
        return self.module.loop_around(node) is self.loop.node

    def skipped(self, node: cst.Continue) -> SkippedRun | None:
        reason = self._reason(node)
        if reason is None or not self._asks_for_tools(node) or not self._nothing_stored(node):
            return None
        run = self._run_behind(node)
        return SkippedRun(node, self.loop, reason, run) if run is not None else None

    # -- why it is taken --------------------------------------------------------------------------------------

    def _reason(self, node: cst.Continue) -> cst.CSTNode | None:
        """The handler or test that leads to the `continue`, where it is about something beside the reply."""
        for outer in self.module.ancestors(node):
            if isinstance(outer, cst.ExceptHandler):
                guard = self.module.parent[outer]
                return outer if isinstance(guard, cst.Try) and self._is_mere_check(guard) else None
            if isinstance(outer, cst.If):
                return (
                    outer.test
                    if evaluate(outer.test, self._if_absent) is self.module.inside(node, outer.body)
                    else None
                )
            if outer is self.loop.node:
                return None
        return None

    def _is_mere_check(self, guard: cst.Try) -> bool:
        """Whether what a `try` gives is only asked for in tests, shown, or kept to be compared: an error is no answer.

        It asks no model, and stores nothing. What gives nothing, as `validate(calls)`, answers by its errors.
        """
        stored = {stored.node for stored in self.anatomy.transcript.stored(self.loop.function)}
        inside = list(walk_scope(guard.body))
        if any(node in stored or isinstance(node, cst.Yield) for node in inside):
            return False
        calls = [node for node in inside if isinstance(node, cst.Call)]
        given = [node.value for node in inside if isinstance(node, cst.Assign)]
        given += [call for call in calls if self.module.is_statement(call) and not is_logging(call)]
        used = [self._uses(value, guard) for value in given]
        return (
            not any(map(self.anatomy.calls.asks, calls))
            and bool(used)
            and all({"asked"} <= uses <= {"asked", "shown"} for uses in used)
        )

    def _uses(self, value: cst.CSTNode, guard: cst.CSTNode) -> set[str]:
        """What becomes of a value: "asked" for in a test, "shown" in words, or "else", for whatever else it is."""
        below = value
        if isinstance(value, cst.Call) and self.anatomy.facts.slots.of(ex.receiver(value)) in self._memories:
            return {"asked"}  # `seen.append(key)`
        for outer in self.module.ancestors(value):
            if isinstance(outer, (cst.If, cst.IfExp, cst.Assert)) and below is outer.test:
                return {"asked"}
            if isinstance(outer, (cst.FormattedString, cst.Return, cst.Raise)):
                return {"shown"}
            of_value = isinstance(outer, cst.Call) and below is not outer.func and ex.dotted(outer.func) not in _SIZES
            if isinstance(outer, cst.Call) and of_value and not self.module.inside(outer, guard):
                joins = (base := ex.receiver(outer)) is not None and ex.text(base) is not None  # `", ".join(value)`
                return {"shown"} if joins or is_logging(outer) else {"else"}
            if isinstance(outer, cst.Assign):
                places = [place for target in ex.targets(outer) for place in ex.bound_places(target)]
                slots = [self.anatomy.facts.slots.of_name(place) for place in places]
                if any(slot in self._memories for slot in slots):
                    return {"asked"}
                names = [name for slot in slots if slot is not None for name in self.anatomy.facts.names.get(slot, ())]
                read = [n for n in names if self.module.before(outer, n) and not self.module.inside(n, outer)]
                return {use for name in read for use in self._uses(name, guard)} if None not in slots else {"else"}
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.CompFor)):
                return {"else"}
            below = outer
        return {"else"}

    def _if_absent(self, part: cst.BaseExpression) -> bool | None:
        """What a part of a test gives where there is nothing of what was looked for, or kept, to compare with."""
        if self._is_looked_up(part):
            return False
        if not isinstance(part, cst.Comparison) or len(part.comparisons) != 1:
            return None
        left, operator, right = ex.compared(part)
        if ex.dotted(right) == "None" and self._is_looked_up(left):
            return isinstance(operator, (cst.Is, cst.Equal))
        count = ex.integer(right)
        of = left.args[0].value if isinstance(left, cst.Call) and ex.dotted(left.func) == "len" and left.args else None
        return ex.holds(operator, 0, count) if count is not None and of is not None and self._is_looked_up(of) else None

    def _is_looked_up(self, value: cst.BaseExpression) -> bool:
        """Whether a value is what is known of earlier rounds: looked up in the history, or kept for a later one."""
        slot = self.anatomy.facts.slots.of(value)
        if slot is None or slot[0] not in {"var", "attr"}:
            return False
        return slot in self._kept(value) or (slot not in self._brought and self._looked_up(slot))

    def _kept(self, at: cst.CSTNode) -> set[Slot]:
        """The memories that still hold at a point of the round what earlier rounds have put there."""
        before, asks, assigned = self.module.before, self.loop.asks, self.anatomy.facts.assigned
        return self._memories - {s for s in self._memories for v in assigned(s) if before(asks, v) and before(v, at)}

    @cached_property
    def _memories(self) -> set[Slot]:
        """What a guard compares with, and what holds something before the loop, and then what a reply has brought."""
        facts, inside = self.anatomy.facts, partial(self.module.inside, region=self.loop.node)
        guards = (each for each in self.anatomy.guards.all if inside(each.node))
        kept = {slot for slot in self._brought if not all(map(inside, facts.assigned(slot)))}
        return kept | {slot for guard in guards for slot in guard.slots}

    def _looked_up(self, slot: Slot) -> bool:
        """Whether the round has looked for the value in the history."""
        return any(
            self.module.inside(value, self.loop.node.body)
            and any(isinstance(n, (cst.Name, cst.Attribute)) and self.anatomy.is_history(n) for n in walk(value))
            for value in self.anatomy.facts.assigned(slot)
        )

    @cached_property
    def _brought(self) -> set[Slot]:
        """The names that hold the reply of the round, or what is made of it."""
        facts, found = self.anatomy.facts, set[Slot]()
        for _ in range(3):
            for node in self.module.nodes_inside(self.loop.node.body, self.loop.function, cst.Assign, cst.AnnAssign):
                if node.value is not None and self._is_brought(node.value, found):
                    places = [place for target in ex.targets(node) for place in ex.bound_places(target)]
                    slots = {facts.slots.of(place) for place in places}
                    found |= {slot for slot in slots if slot is not None and Kind.HISTORY not in facts.of(slot)}
        return found

    def _is_brought(self, value: cst.BaseExpression, known: set[Slot]) -> bool:
        return any(
            self.anatomy.calls.asks(node)
            if isinstance(node, cst.Call)
            else isinstance(node, (cst.Name, cst.Attribute)) and self.anatomy.facts.slots.of(node) in known
            for node in walk(value)
        )

    # -- what it skips ----------------------------------------------------------------------------------------

    def _points(self, node: cst.CSTNode) -> list[Point]:
        return self.graph.enclosing(node, self.module.parent)

    def _asks_for_tools(self, node: cst.Continue) -> bool:
        """Whether a test of the calls comes before, in the same round."""
        goal = self._points(node)[:1]
        for point in self.graph.points if goal else ():
            test = point.statement.test if isinstance(point.statement, cst.If) else None
            if test is not None and self.module.inside(test, self.loop.node.body):
                if speaks_of_calls(self.anatomy.facts, test) and self.graph.dominates(point, goal[0]):
                    return True
        return False

    def _nothing_stored(self, node: cst.Continue) -> bool:
        """Whether there is a way from the request to the `continue` on which the history stays as it is."""
        stored = self.anatomy.transcript.stored(self.loop.function)
        calls = self.anatomy.calls.calls_within(self.loop.node.body, self.loop.function)
        kept, slot_of = self._kept(node), self.anatomy.facts.slots.of
        places = [place.node for place in stored if place.slot not in kept and place.kind in GROWING]
        stores = (call for call in calls if _STORES.match(ex.called_name(call).lstrip("_")))
        places += [call for call in stores if (base := ex.receiver(call)) is None or slot_of(base) not in kept]
        passed = {point for place in places for point in self._points(place)}
        asks = self._points(self.loop.asks)
        heads = set(self.graph.at(self.loop.node))
        return self.graph.reaches(asks, self._points(node), (passed - {*asks}) | heads)

    def _run_behind(self, node: cst.Continue) -> cst.CSTNode | None:
        """The loop over the calls that the round would have come to, or the first message that it would have stored."""
        asks, heads = self._points(self.loop.asks), set(self.graph.at(self.loop.node))
        loops = [
            loop.node for loop in call_loops(self.anatomy.facts, self.loop.function) if isinstance(loop.node, cst.For)
        ]
        answers = [s.node for s in self.anatomy.transcript.stored(self.loop.function) if s.kind in GROWING]
        for run in (*loops, *answers):
            if self.module.inside(run, self.loop.node.body) and self.module.before(node, run):
                if self.graph.reaches(asks, self._points(run), heads):
                    return run
        return None
