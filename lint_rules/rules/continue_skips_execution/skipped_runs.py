"""Rounds that go back to the model before the tools of its reply have run, because a check beside it has failed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import reads_calls
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.rounds.executions import call_loops
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope

_STORES = re.compile(r"(add|append|push|store|save|record|remember|extend|insert)(_|$)")
"""Names of methods that may store a message in another file."""
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
                return outer.test if self._is_absence(outer.test) and self.module.inside(node, outer.body) else None
            if outer is self.loop.node:
                return None
        return None

    def _is_mere_check(self, guard: cst.Try) -> bool:
        """Whether a `try` only compares or encodes: it asks no model, parses nothing, runs no tool, stores nothing."""
        stored = {stored.node for stored in self.anatomy.transcript.stored(self.loop.function)}
        inside = list(walk_scope(guard.body))
        if not any(isinstance(n, cst.Comparison) or self.anatomy.facts.encoder(n) is not None for n in inside
                   if isinstance(n, cst.BaseExpression)):  # fmt: skip
            return False
        for node in inside:
            if node in stored or isinstance(node, (cst.Await, cst.Yield)):
                return False
            if isinstance(node, cst.Call):
                if self.anatomy.calls.asks(node) or self.anatomy.facts.decoder(node) is not None:
                    return False
                if any(kind in self.anatomy.facts.kinds(arg.value) for arg in node.args for kind in _PARSED):
                    if self.anatomy.facts.encoder(node) is None:
                        return False
        return True

    def _is_absence(self, test: cst.BaseExpression) -> bool:
        """`x is None`, `not x`, `len(x) == 0` of something that the reply did not bring."""
        value: cst.BaseExpression | None = None
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            value = test.expression
        elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            target = test.comparisons[0]
            if isinstance(target.operator, cst.Is) and ex.dotted(target.comparator) == "None":
                value = test.left
        slot = self.anatomy.facts.slots.of(value)
        return slot is not None and slot[0] in {"var", "attr"} and slot not in self._brought and self._looked_up(slot)

    def _looked_up(self, slot: Slot) -> bool:
        """Whether the round has looked for the value in the history."""
        return any(
            self.module.inside(value, self.loop.node.body)
            and any(isinstance(n, (cst.Name, cst.Attribute)) and self.anatomy.is_history(n) for n in walk(value))
            for value in self.anatomy.facts.assigned(slot)
        )

    @property
    def _brought(self) -> set[Slot]:
        """The names that hold the reply of the round, or parts of it."""
        facts = self.anatomy.facts
        found: set[Slot] = set()
        for _ in range(3):
            for node in walk_scope(self.loop.node.body):
                if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
                    if self._is_brought(node.value, found):
                        targets = ex.targets(node)
                        parts = [e.value for t in targets if isinstance(t, cst.Tuple) for e in t.elements]
                        slots = {facts.slots.of(part) for part in [*targets, *parts]}
                        found |= {slot for slot in slots if slot is not None and Kind.HISTORY not in facts.of(slot)}
        return found

    def _is_brought(self, value: cst.BaseExpression, known: set[Slot]) -> bool:
        for node in walk(value):
            if isinstance(node, cst.Call) and self.anatomy.calls.asks(node):
                return True
            if isinstance(node, (cst.Name, cst.Attribute)) and self.anatomy.facts.slots.of(node) in known:
                return True
        return False

    # -- what it skips ----------------------------------------------------------------------------------------

    def _points(self, node: cst.CSTNode) -> list[Point]:
        return self.graph.enclosing(node, self.module.parent)

    def _asks_for_tools(self, node: cst.Continue) -> bool:
        """Whether a test of the calls comes before, in the same round."""
        goal = self._points(node)[:1]
        for point in self.graph.points if goal else ():
            test = point.statement.test if isinstance(point.statement, cst.If) else None
            if test is not None and self.module.inside(test, self.loop.node.body):
                if reads_calls(self.anatomy.facts, test) and self.graph.dominates(point, goal[0]):
                    return True
        return False

    def _nothing_stored(self, node: cst.Continue) -> bool:
        """Whether there is a way from the request to the `continue` on which the history stays as it is."""
        stored = self.anatomy.transcript.stored(self.loop.function)
        places = [place.node for place in stored]
        calls = self.anatomy.calls.calls_within(self.loop.node.body, self.loop.function)
        places += [call for call in calls if _STORES.match(ex.called_name(call).lstrip("_"))]
        stores = {point for place in places for point in self._points(place)}
        asks = self._points(self.loop.asks)
        heads = set(self.graph.at(self.loop.node))
        return self.graph.reaches(asks, self._points(node), (stores - {*asks}) | heads)

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
