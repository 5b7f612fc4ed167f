"""Calls that stay open in a conversation that somebody else keeps, since the request with their results is not made.

The rounds run out behind a reply, or that request fails; what comes next is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers, is_answer
from lint_rules.anatomy.calls.sessions import is_asked_in_session
from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.rounds.rounds import counts_rounds
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.open_ends import BROKEN, REFUSED
from lint_rules.rules.missing_tool_result.afterwards import Afterwards
from lint_rules.rules.missing_tool_result.failing import Fault
from lint_rules.rules.missing_tool_result.takers import takers
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_GOES_ON = "previous_response_id"
"""The keyword of a request that goes on from another. Source: OpenAI, Responses API."""


@record
class LeftOpen:
    """At `node` the calls of the last reply are left open, and the conversation goes on as `how` says.

    That is where the rounds run out; or `fails`: a request that brings results.
    """

    node: cst.CSTNode
    how: str
    fails: bool


class Sessions:
    """The conversations of one function that somebody else keeps."""

    def __init__(self, anatomy: Anatomy, answers: Answers, function: Scope) -> None:
        self._anatomy = anatomy
        self._answers = answers
        self._function = function
        self._asked = list(goes_on_with(anatomy, function))
        self._graph = anatomy.flow(function)

    def left_open(self) -> Iterator[LeftOpen]:
        """All of them, each place once."""
        for slot in dict.fromkeys(slot for _, slot in self._asked):
            asks = {p: call for call, other in self._asked if other == slot for p in self._at(call)}
            bringing = {point for point, call in asks.items() if self._brings_results(call)}
            if bringing:
                yield from self._of(slot, set(asks), bringing)

    def _of(self, slot: Slot, asks: set[Point], bringing: set[Point]) -> Iterator[LeftOpen]:
        for point in bringing:
            call = self._call_at(point)
            handlers = [target for target, kind in point.successors if kind == "exception" and target.statement]
            how = self._goes_on(slot, handlers, asks, bringing) or self._taken_outside(call, point, slot)
            if how is not None:
                yield LeftOpen(call, how, fails=True)
            loop = self._anatomy.module.loop_around(call, own=True)
            if isinstance(loop, cst.For) and counts_rounds(loop.iter) and self._may_ask_for_more(call):
                ends = [t for head in self._graph.at(loop) for t, kind in head.successors if kind == "false"]
                how = self._goes_on(slot, ends, asks, bringing)
                if how is not None:
                    yield LeftOpen(loop.iter, how, fails=False)

    def _may_ask_for_more(self, call: cst.Call) -> bool:
        """Whether the reply may have calls: a chat has its tools from where it was begun."""
        return call in self._anatomy.facts.calls or may_call_tools(self._anatomy, call)

    def _taken_outside(self, call: cst.Call, point: Point, slot: Slot) -> str | None:
        """How the conversation goes on where a caller takes the error."""
        fault = Fault(call, call, frozenset(), anyway=True)
        if fault.lands(self._anatomy.module, self._graph, point) is not self._graph.raises:
            return None
        taker = next(takers(self._anatomy, self._answers, fault, self._function, [slot]), None)
        return taker.how if taker is not None else None

    def _goes_on(self, slot: Slot, starts: list[Point], asks: set[Point], bringing: set[Point]) -> str | None:
        """How the conversation goes on from some points, with calls open in it."""
        queue, seen = list(starts), set(starts)
        ends = False
        while queue:
            here = queue.pop()
            if here in bringing or self._renews(here, slot):
                continue
            if here in asks:
                return REFUSED
            ends = ends or here is self._graph.exit
            outcome = self._told.outcome(here.statement) if here.statement is not None else None
            for target, kind in here.successors:
                closed = (kind == "true" and outcome is False) or (kind == "false" and outcome is True)
                if kind != "exception" and not closed and target not in seen:
                    seen.add(target)
                    queue.append(target)
        open_ends = Afterwards(self._anatomy, self._answers, self._function)
        return BROKEN if ends and open_ends.outlives(slot, self._function, surely=True) else None

    def _renews(self, point: Point, slot: Slot) -> bool:
        """Whether the conversation is begun anew, or taken out of where it is kept."""
        node = point.statement
        if isinstance(node, (cst.Assign, cst.AnnAssign)):
            return any(self._anatomy.facts.slots.of(target) == slot for target in ex.targets(node))
        same = self._anatomy.aliases.of(slot)
        roots = {same[1]} if same[0] in {"item", "member"} else {same}
        changed = [
            ex.receiver(part) if isinstance(part, cst.Call) else part.target
            for each in point.expressions()
            for part in walk(each)
            if (isinstance(part, cst.Call) and ex.called_name(part) in {"pop", "clear"}) or isinstance(part, cst.Del)
        ]
        whole = (part.value if isinstance(part, cst.Subscript) else part for part in changed if part is not None)
        return any(self._anatomy.facts.slots.of(part) in roots for part in whole)

    @cached_property
    def _told(self) -> ToldByReply:
        return ToldByReply(self._anatomy, self._function)

    def _brings_results(self, call: cst.Call) -> bool:
        """Whether a request is handed answers, or a list of some."""
        slots = self._anatomy.facts.slots
        for part in walk(call):
            if part is not call and is_answer(part):
                return True
            if type(part) is cst.Name and slots.of(part) in self._results:
                return True
        return False

    @cached_property
    def _results(self) -> set[Slot | None]:
        """The names of this function that hold answers."""
        slots = self._anatomy.facts.slots
        found: set[Slot | None] = set()
        for made in self._answers.made.get(self._function, ()):
            statement = self._anatomy.module.statement(made)
            if isinstance(statement, cst.Assign):
                found.update(slots.of(target) for target in ex.targets(statement))
            elif isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
                base = ex.receiver(statement.value)
                found.add(slots.of(base))
        return found - {None}

    def _at(self, call: cst.Call) -> list[Point]:
        return self._graph.enclosing(call, self._anatomy.module.parent)

    def _call_at(self, point: Point) -> cst.Call:
        return next(call for call, _ in self._asked if point in self._at(call))


def goes_on_with(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.Call, Slot]]:
    """The requests of a function that go on with such a conversation: each with the place of the chat, or of the id."""
    slots = anatomy.facts.slots
    for call in anatomy.calls.llm_calls.get(function, ()):
        base = ex.receiver(call)
        slot = slots.of(base) if base is not None and is_asked_in_session(anatomy, call) else None
        if slot is not None:
            yield call, slot
    for site in anatomy.calls.calls[function]:
        for kept in _kept_ids(anatomy, site.callee):
            seen = anatomy.transcript.seen_from(site.node, kept)
            if seen is not None:
                yield site.node, seen


def _kept_ids(anatomy: Anatomy, function: Scope) -> set[Slot]:
    """Where a function that asks keeps the id of the reply from which its next request goes on."""
    if not anatomy.calls.llm_calls.get(function):
        return set()
    slots = anatomy.facts.slots
    kept: set[Slot | None] = set()
    for node in function.nodes_of(cst.Assign):
        pair = ex.member(node.value)
        if pair is not None and pair[1] == "id" and Kind.REPLY in anatomy.facts.kinds(pair[0]):
            kept.update(slots.of(target) for target in ex.targets(node))
    sent = {slots.of(value) for value in _sent_ids(function)} if kept else set()
    return {slot for slot in kept & sent if slot is not None}


def _sent_ids(function: Scope) -> Iterator[cst.BaseExpression]:
    for node in function.nodes_of(cst.Call, cst.Dict):
        value = {**ex.made_of(node), **(ex.keywords(node) if isinstance(node, cst.Call) else {})}.get(_GOES_ON)
        if value is not None:
            yield value
    for assign in function.nodes_of(cst.Assign):
        if any((pair := ex.member(target)) is not None and pair[1] == _GOES_ON for target in ex.targets(assign)):
            yield assign.value
