"""Ways of a function on which a tool call stays without an answer, although the conversation goes on.

Regions where calls wait (`waiting`) have ways out (`unanswered`); each is asked how the conversation goes on behind it
(`open_ends`). Ways that end the conversation on purpose, and those that other findings own, are left out here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.messages.growth import begun_anew, grows
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.rounds.executions import call_loops, runs_tool
from lint_rules.anatomy.rounds.last_rounds import answers_at_last
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter, made_in
from lint_rules.anatomy.vocabulary import ANSWERED
from lint_rules.obligations.again import Again
from lint_rules.obligations.open_ends import BROKEN, REFUSED, OpenEnds
from lint_rules.obligations.waiting import Asked, Taken, handed_calls, stored_calls, through
from lint_rules.rules.missing_tool_result.afterwards import Afterwards
from lint_rules.rules.missing_tool_result.escapes import Escape, Escapes, flags_beside
from lint_rules.rules.missing_tool_result.failing import Failing, Fault
from lint_rules.rules.missing_tool_result.given_back import outcomes_of
from lint_rules.rules.missing_tool_result.held_back import Held, held_back
from lint_rules.rules.missing_tool_result.taken import (
    calls_as_arguments,
    calls_handed_on,
    calls_in_loops,
    calls_run,
    is_behind_answers,
)
from lint_rules.rules.missing_tool_result.takers import Taker, takers
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import truth
from lint_rules.syntax.walk import walk

_LAST = re.compile(r"terminat|(^|_)end(_|$)|exit|quit|hang_?up|reset|hand_?off|goodbye", re.I)
"""Words in the names of tools that end a conversation."""
_DONE = re.compile(r"finish|final|done|complet|submit", re.I)
"""Words in the names of tools that end what was asked for: in a conversation, the next question follows."""


@record
class WayOut:
    """At `escape` calls are left open, and the conversation goes on as `how` says."""

    escape: Escape
    how: str


@record
class Failure:
    """`failing` may raise while the call is open, at `node` the error ends or leaves, and the conversation goes on.

    `stops`: somebody stops the turn there.
    """

    node: cst.CSTNode
    failing: cst.CSTNode
    how: str
    stops: bool = False


class WaysOut:
    """The ways out of one function. `loops` are those over calls that it answers."""

    def __init__(self, anatomy: Anatomy, answers: Answers, failing: Failing, function: Scope) -> None:
        self.anatomy = anatomy
        self.answers = answers
        self.function = function
        self._failing = failing
        self._is_stopped = False
        self.ends = Afterwards(anatomy, answers, function)
        self._again = Again(anatomy, function)

    def loops(self) -> Iterator[Taken]:
        for taken in calls_in_loops(self.anatomy, self.answers, self.function, self.ends):
            stores = self.ends.stores & taken.region.inside
            if not stores or taken.region.reached(taken.region.starts, stores) & taken.region.answering:
                yield taken  # else each call is stored by itself, or again and again: AGL605

    def runs(self) -> Iterator[Taken]:
        """Other loops, and comprehensions, that run calls of a stored reply before any of them is answered."""
        yield from calls_run(self.anatomy, self.answers, self._asked, self.ends)

    def handed_on(self) -> Iterator[Taken]:
        """Calls of stored replies that are picked out, or handed to other functions, and not in a loop here."""
        yield from calls_handed_on(self.anatomy, self._asked)

    @cached_property
    def _asked(self) -> list[Asked]:
        return list(stored_calls(self.anatomy, self.answers, self.function, self.ends))

    @cached_property
    def held(self) -> list[Held]:
        """The lists in which answers wait to be stored."""
        return list(held_back(self.answers, self.ends))

    def kept_back(self) -> Iterator[tuple[Held, WayOut]]:
        """Ways on which answers are left behind in a list of their own."""
        for held in self.held:
            for escape in Escapes(held.region).all():
                here = self.ends.graph.enclosing(escape.node, self.anatomy.module.parent)
                known = escape.test is not None and mentions({held.waiting[2]}, escape.test)  # or it asks for calls
                stored = self.ends.is_stored_before(here if known else held.made)
                hows = (self.ends.go_on(point, flags=escape.flags, stored=stored) for point in here)
                how = next(filter(None, hows), None)
                if how is not None and escape.handler is None:
                    yield held, WayOut(escape, how)

    @property
    def one_at_a_time(self) -> bool:
        """Whether a message holds one call at most."""
        return one_at_a_time(self.anatomy, self.function)

    def skipped(self, taken: Taken) -> Iterator[WayOut]:
        """Ways on which the call in hand is passed over."""
        for escape in Escapes(taken.region).all():
            how = self._after(taken, escape)
            if how is not None and not self._is_owned(escape) and not self._is_answered_apart(taken, escape.test):
                yield WayOut(escape, how)

    def _is_answered_apart(self, taken: Taken, test: cst.BaseExpression | None) -> bool:
        """`if call not in allowed: refuse(call)`, where another loop goes through `allowed`, and answers those."""
        if not isinstance(test, cst.Comparison) or not taken.hand.is_whole(test.left):
            return False
        _, operator, listed = ex.compared(test)
        others = [loop for loop in self.function.nodes_of(cst.For) if loop is not taken.loop]
        return isinstance(operator, (cst.In, cst.NotIn)) and any(
            ex.source(loop.iter, 200) == ex.source(listed, 200)
            and any(map(self.answers.at, self.ends.graph.within(walk(loop.body))))
            for loop in others
        )

    def left(self, taken: Taken) -> Iterator[WayOut]:
        """Ways on which the loop is left while there are calls behind the one in hand."""
        if taken.loop is None or self.one_at_a_time:
            return
        for escape in Escapes(taken.region).leavings(self.ends.takes_back, lambda: self._are_answered_singly):
            if escape.test is None or self._picks_one(taken, escape):
                continue
            stored = self.ends.is_stored_before(taken.headers)
            how = self.ends.go_on(
                escape.exit, taken.region.points, stored=stored, flags=escape.flags, leaving=escape.jump
            )
            if how is None and escape.exit is self.ends.graph.exit and self._is_run_for_stored:
                how = self._asked_by_callers(ended=True)
            if how is not None and not (how != REFUSED and self._ends_by_tool(escape, taken.loop)):
                yield WayOut(escape, how)

    @cached_property
    def _are_answered_singly(self) -> bool:
        """Whether a call that is put aside is answered by a function of the file that goes through no others."""
        graph, facts = self.anatomy.calls, self.anatomy.facts
        below = graph.reachable(self.function)
        others = [f for f, made in self.answers.made.items() if made and f.kind == "function" and f not in below]
        reached = {f for other in others for f in graph.reachable(other)} - {self.function}
        return bool(others) and not any(True for f in reached for _ in call_loops(facts, f))

    def swallowed(self, taken: Taken) -> Iterator[Failure]:
        """Errors that end in a handler around the loop while the stored call has no answer."""
        for fault, landed in sorted(self._faults(taken), key=_rarity):
            handler = landed.statement
            if handler is not None and (taken.asked is not None or landed not in taken.region.inside):
                how = self._after_error(fault, landed)
                if how is not None and (how == REFUSED or not fault.parsing):  # AGL501 reports those that end a turn
                    yield Failure(handler, fault.cause, how, fault.stops)

    def _after_error(self, fault: Fault, landed: Point) -> str | None:
        """How the conversation goes on from where an error ends: not with a list of this run that is made anew."""
        held = self.ends.holding(self.ends.graph.enclosing(fault.node, self.anatomy.module.parent))
        anew = self._again.anew(held) if len(held) == 1 else frozenset[Point]()
        gone = len(held) == 1 and self.ends.is_gone(next(iter(held)), landed, anew)
        return self.ends.go_on(landed, anew, surely=True, gone=gone)

    def raised(self, taken: Taken) -> Iterator[tuple[Fault, Taker]]:
        """Errors that leave the function, with who takes them and goes on with the chat."""
        asked = set()
        for fault, landed in sorted(self._faults(taken), key=_rarity):
            if fault.parsing or landed is not self.ends.graph.raises or fault.kind in asked:
                continue  # malformed arguments that nobody takes: AGL501 reports them
            asked.add(fault.kind)
            if fault.stops and self._is_stopped:
                continue  # a stop anywhere in the turn is one defect
            taker = self._server(fault)
            kept = self.ends.holding(self.ends.graph.enclosing(fault.node, self.anatomy.module.parent))
            taker = taker or next(takers(self.anatomy, self.answers, fault, self.function, kept), None)
            if taker is not None:
                self._is_stopped = self._is_stopped or fault.stops
                yield fault, taker
                return

    def _server(self, fault: Fault) -> Taker | None:
        """The framework that runs this function for each message, stops it, and keeps the chat whatever it raises."""
        if self.ends.go_on(self.ends.graph.exit, surely=True) is None:
            return None
        served = self.anatomy.calls.servings.items()
        takes = {first: how for first, how in served if not fault.stops or (how.stops and first.is_async)}
        server = next((how for first, how in takes.items() if self._is_kept_beyond(first)), None)
        if server is None:
            kept = [name for slot in self.ends.histories if (name := self.ends.keeper(slot)) is not None]
            says = f"{kept[0]} catches the error, and keeps the history for the next turn" if kept else ""
            return Taker(self.function.node, says, BROKEN) if kept and not fault.stops else None
        does = "stops the turn when its user wants that" if fault.stops else "catches the error"
        return Taker(server.node, f"{server.framework} {does}, and the chat goes on", BROKEN)

    def _faults(self, taken: Taken) -> Iterator[tuple[Fault, Point]]:
        """What may fail before the call is answered, with where the error lands."""
        is_stored = self._is_stored(taken)
        if not is_stored and not self._is_run_for_stored:
            return
        waiting = taken.region.unsettled
        for point in waiting:
            for fault in self._failing.at(taken.hand, point, self.function):
                if taken.asked is not None and not _is_about_calls(fault, point, taken.asked):
                    continue
                if not is_stored and not fault.anyway:
                    continue  # who runs this with the calls is asked itself
                landed, there = fault.landing(self.anatomy.module, self.ends.graph, point, self.ends.mends)
                if landed is not None:
                    yield there, landed

    def _is_kept_beyond(self, first: Scope) -> bool:
        """Whether `first` comes here, and a history is there when its run has ended."""
        keeps = self.anatomy.races.ownership.kept_beyond
        return any(keeps(first, self.function, slot) for slot in self.ends.histories)

    def as_arguments(self) -> Iterator[tuple[Taken, Escape]]:
        """Ways on which a function that gets one call, and answers it, does not."""
        for taken in calls_as_arguments(self.anatomy, self.answers, self.function, self.ends):
            for escape in Escapes(taken.region).all():
                if escape.handler is None and not _gives_something(escape):
                    yield taken, escape

    def _counts_through(self, part: cst.CSTNode) -> bool:
        """Whether a part of a test stands in `while place < len(calls)`."""
        ancestors = list(self.anatomy.module.ancestors(part))
        loop = next((outer for outer in ancestors if isinstance(outer, (cst.While, cst.If))), None)
        return isinstance(loop, cst.While) and any(
            isinstance(node, cst.Call) and ex.called_name(node) == "len" for node in (part, *ancestors, *walk(part))
        )

    def dropped(self) -> Iterator[tuple[cst.CSTNode, WayOut]]:
        """Ways on which a message that may hold calls is stored, and nobody looks whether it does; with the store."""
        for asked in self._asked:
            for escape, names in self._unlooked(asked):
                how = self.ends.go_on(escape.exit, flags=escape.flags, into=asked.slot, leaving=escape.jump)
                if how is not None and not (how != REFUSED and self._end_turn(names)):
                    yield asked.node, WayOut(escape, how)
        handed = handed_calls(self.answers, self.function, self.ends) if self._is_run_for_stored else None
        for escape, names in self._unlooked(handed) if handed is not None else ():
            if self._asks_what_is_given(escape.test):
                continue  # what comes of the calls may be there if they are
            yield from ((store, WayOut(escape, how)) for store, how in self._given_to_callers(escape, names))

    def _asks_what_is_given(self, test: cst.BaseExpression | None) -> bool:
        """`if not results`: whether a test asks for something else than the reply that this function is handed."""
        asked = ex.inner(test.expression) if isinstance(test, cst.UnaryOperation) else test
        slot = self.anatomy.facts.slots.of_name(asked) if asked is not None else None
        return slot is not None and is_parameter(slot) and not self.anatomy.facts.of(slot)

    def _unlooked(self, asked: Asked) -> Iterator[tuple[Escape, list[str]]]:
        """Ways that leave calls open with no look at whether there are any; with the tools that are asked for there."""
        for escape in Escapes(asked.region).all():
            if escape.test is None or escape.handler is not None or self._ends_without_tools(escape.test):
                continue
            parts = list(asked.told.undecided(escape.test))
            about = [part for part in parts if asked.told.mentions(part)]
            points = self.ends.graph.enclosing(escape.test, self.anatomy.module.parent)
            if about and not asked.knows(points) and not asked.told.tells(escape.test):
                if not (all(map(self._is_of_caller, about)) and self._is_asked_next(asked, points)):
                    continue  # it may ask whether there are calls
            if any(self._counts_through(part) for part in about):
                continue  # a loop over the places of the calls: its end comes behind the last one
            yield escape, [name for part in about for name in _tools(part)] if about == parts else []

    def _end_turn(self, tools: Sequence[str]) -> bool:
        """Whether some tools end the conversation, or what was asked for, behind which nothing is asked here."""
        return bool(tools) and (not self._is_turn or self._end_all(tools))

    def _given_to_callers(self, escape: Escape, tools: Sequence[str] = ()) -> Iterator[tuple[cst.CSTNode, str]]:
        """Where those that run this function have stored the calls that it leaves open, and how they go on then."""
        if not isinstance(escape.jump, cst.Return) or escape.exit is not self.ends.graph.exit or self.ends.stores:
            return
        for site in filter(self._stores_before, self.anatomy.calls.sites[self.function]):
            if is_behind_answers(self.anatomy, self.answers, site.node, site.caller) or not self._may_answer(site):
                continue
            ways = WaysOut(self.anatomy, self.answers, self._failing, site.caller)
            points = self.anatomy.points(site.caller, [site.node])
            behind = [target for point in points for target, kind in point.successors if kind != "exception"]
            hows = [
                next((how for target in behind if (how := ways.ends.go_on(target, flags=flags)) is not None), None)
                for flags in outcomes_of(self.anatomy, site, escape.jump.value)
            ]
            how = hows[0] if hows and None not in hows else None
            if how is not None and not ways.ends.are_mended and not (how != REFUSED and ways._end_turn(tools)):
                stored = (each.node for each in ways.ends.stored if each.calls is not None)
                yield next(stored), how

    def _may_answer(self, site: CallSite) -> bool:
        """Whether a run of this function is given the ids of calls, if its answers get theirs from there."""
        slots = self.anatomy.facts.slots
        made = [n for n in self.answers.made.get(self.function, ()) if isinstance(n, (cst.Dict, cst.Call))]
        given = {slot for slot, _ in slots.bindings(site.node, self.function)}
        ids = [slots.of(value) for node in made for key, value in ex.made_of(node).items() if key in ANSWERED]
        return not ids or any(slot is None or not is_parameter(slot) or slot in given for slot in ids)

    def _is_of_caller(self, part: cst.BaseExpression) -> bool:
        """`goes_on(reply)`, of a function that this one is handed."""
        slot = self.anatomy.facts.slots.of(part.func) if isinstance(part, cst.Call) else None
        return slot is not None and is_parameter(slot)

    def _is_asked_next(self, asked: Asked, points: list[Point]) -> bool:
        """Whether a test is followed at once by one that asks whether there are calls: this one has asked otherwise."""
        queue, seen = [target for point in points for target, _ in point.successors], set(points)
        while queue:
            here = queue.pop()
            if isinstance(here.statement, (cst.If, cst.While)):
                return asked.told.outcome(here.statement) is not None
            if here not in seen and isinstance(here.statement, cst.Assign):
                seen.add(here)
                queue += [target for target, kind in here.successors if kind != "exception"]
        return False

    def cut_off(self) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression, str]]:
        """Tests of why a reply has ended that pass over its calls where its tokens ran out; with the store, and how."""
        told = ToldByReply(self.anatomy, self.function)
        stores = [each for each in self.ends.stored if each.calls is not None and not each.answers]
        for each in stores if told.cut_off else ():
            told.carries(each)
        for each in stores if told.cut_off else ():
            starts = self.ends.graph.enclosing(each.node, self.anatomy.module.parent)
            yield from ((each.node, test, how) for test, how in self._passed(starts, told, each.slot))
        for held in self.held if told.cut_off else ():
            passed = self._passed(held.made, held.told, None, held.region.waiting)
            yield from ((held.node, test, how) for test, how in passed)

    def _passed(
        self, starts: list[Point], told: ToldByReply, into: Slot | None, within: set[Point] | None = None
    ) -> Iterator[tuple[cst.BaseExpression, str]]:
        """The tests that do so around some points, or behind them, and there `within` others."""
        graph, flags = self.ends.graph, told.cut_off
        ways = graph.closed(lambda test: truth(test, flags))
        if graph.path(graph.entry, starts, closed=ways) is None:
            return
        tests = {p: p.statement for p in graph.points if isinstance(p.statement, (cst.If, cst.While))}
        decided = {p: n.test for p, n in tests.items() if truth(n.test, flags) not in {None, told.outcome(n)}}
        around = {outer for p in starts for outer in self.anatomy.module.ancestors(p.statement or self.function.node)}
        if outside := [test for p, test in decided.items() if p.statement in around]:
            for target in (target for p in starts for target, kind in p.successors if kind != "exception"):
                how = self.ends.go_on(target, flags=flags, surely=True, into=into, told=told)
                yield from ((outside[-1], how),) if how is not None else ()
            return
        others = within or {p for p in graph.points if not (self.ends.asks(p) or self.ends.mends(p))}
        barred = set(graph.points) - others
        for point, test in decided.items():
            if point in barred or graph.path(starts, point, barred, exceptions=False, closed=ways) is None:
                continue
            sides = (t for t, kind in point.successors if kind in {"true", "false"} and (point, kind) not in ways)
            for target in sides:
                known = flags | flags_beside(self.anatomy.module, target.statement)
                how = self.ends.go_on(target, flags=known, surely=True, into=into, told=told)
                yield from ((self._asks_for_that(target, flags) or test, how),) if how is not None else ()

    def _asks_for_that(self, point: Point, flags: dict[str, bool]) -> cst.BaseExpression | None:
        """The test, of those that follow each other at a point, that holds for a reply of which `flags` tell."""
        while isinstance(point.statement, cst.If) and (outcome := truth(point.statement.test, flags)) is not None:
            if outcome:
                return point.statement.test
            point = next(target for target, kind in point.successors if kind == "false")
        return None

    def _ends_without_tools(self, test: cst.BaseExpression) -> bool:
        """Whether the rounds over a range are over here, and the last one offers no tools: its reply has no calls."""
        rounds = self.anatomy.round_at.get(self.anatomy.module.parent[test])
        return isinstance(test, cst.Call) and rounds is not None and answers_at_last(self.anatomy, rounds)

    def _is_stored(self, taken: Taken) -> bool:
        """Whether this function stores the message with the calls, before the loop."""
        return taken.asked is not None or (bool(self.ends.stores) and self.ends.is_stored_before(taken.headers))

    @cached_property
    def _is_run_for_stored(self) -> bool:
        """Whether this function stores no calls, and one that runs it in this file has stored them by then."""
        return not self.ends.stores and any(map(self._stores_before, self.anatomy.calls.sites[self.function]))

    def _stores_before(self, site: CallSite) -> bool:
        ends = Afterwards(self.anatomy, self.answers, site.caller)
        return bool(ends.stores) and ends.is_stored_before(self.anatomy.points(site.caller, [site.node]))

    def _after(self, taken: Taken, escape: Escape) -> str | None:
        """How the conversation goes on once the loop is left: at once, or after the calls behind this one."""
        ends, region = self.ends, taken.region
        stored, passing = ends.is_stored_before(taken.headers), taken.elsewhere | self._moving(taken)
        if escape.exit not in taken.headers:
            how = ends.go_on(
                escape.exit, region.points, stored=stored, flags=escape.flags, leaving=escape.jump, passing=passing
            )
            is_saved = stored and escape.exit is ends.graph.exit and ends.saves(region.waiting - region.hopeful)
            how = BROKEN if how is None and is_saved else how
            how = how or next((how for _, how in self._given_to_callers(escape)), None)
            goes_on = self._is_run_for_stored and not isinstance(escape.jump, cst.Return)
            return self._asked_by_callers(ended=True) if how is None and goes_on else how
        handed = self._hands_back(taken)
        for header in taken.headers:
            for target, kind in header.successors:
                if kind == "false":
                    how = ends.go_on(
                        target, region.points, handed=handed, stored=stored, flags=escape.flags, passing=passing
                    )
                    if how is not None:
                        return how
        return self._asked_by_callers() if self._is_run_for_stored else None

    def _moving(self, taken: Taken) -> frozenset[Point]:
        """Where the answers are stored that the loop has put into a list of their own: those of other calls."""
        graph, slots, region = self.ends.graph, self.anatomy.facts.slots, taken.region
        lists = {slot for point in region.answering for slot in region.grown(point)}
        others = (p for p in graph.points if lists and p not in region.points and self.answers.at(p))
        lists -= {slot for point in others for slot in region.grown(point)}
        loops = [loop for loop in self.function.nodes_of(cst.For) if lists and slots.of(loop.iter) in lists]
        return through(graph, loops)

    def _asked_by_callers(self, *, ended: bool = False) -> str | None:
        """How the conversation goes on in those that have stored the calls, and have run this function for them.

        `ended`: it has ended before its time, and one that asks what it gives, and then no more, may have learned that.
        """
        for site in filter(self._stores_before, self.anatomy.calls.sites[self.function]):
            ends = Afterwards(self.anatomy, self.answers, site.caller)
            points = self.anatomy.points(site.caller, [site.node])
            if ended and self._may_end(site, ends):
                continue
            behind = (target for point in points for target, kind in point.successors if kind != "exception")
            made = self._loops_over(site, ends)
            hows = (ends.go_on(target, points, passing=made) for target in behind)
            if (how := next(filter(None, hows), None)) is not None:
                return how
        return None

    def _loops_over(self, site: CallSite, ends: OpenEnds) -> frozenset[Point]:
        """Where a caller goes through what a run of this function gives: it answers those calls, and no others."""
        slots = self.anatomy.facts.slots
        given = {slots.of(target) for target in ex.assigned(self.anatomy.module.statement(site.node))} - {None}
        return through(ends.graph, [loop for loop in site.caller.nodes_of(cst.For) if slots.of(loop.iter) in given])

    def _may_end(self, site: CallSite, ends: OpenEnds) -> bool:
        """Whether a test of what a run of this function gives, or sets, decides if the model is asked again."""
        module, statement = self.anatomy.module, self.anatomy.module.statement(site.node)
        bound = [statement, *self.function.nodes_of(cst.Assign)]
        places = (place for node in bound if isinstance(node, cst.Assign) for place in ex.targets(node))
        told = {ex.source(place) for place in places if isinstance(place, cst.Attribute)}
        told |= set(ex.target_names(statement.targets[0].target)) if isinstance(statement, cst.Assign) else set()
        asking = {point for point in ends.graph.points if ends.asks(point)}
        for point in ends.graph.points:
            test = point.statement.test if isinstance(point.statement, (cst.If, cst.While)) else None
            parts = [node for node in walk(test) if isinstance(node, cst.BaseExpression)] if test is not None else []
            if test is not None and (module.inside(site.node, test) or any(ex.dotted(part) in told for part in parts)):
                sides = [target for target, kind in point.successors if kind in {"true", "false"}]
                if not all(side in asking or ends.graph.reaches(side, asking, exceptions=False) for side in sides):
                    return True
        return False

    def _hands_back(self, taken: Taken) -> bool:
        """Whether the answers, in their list or one made of it, are given to the caller, and stored nowhere else."""
        slots = self.anatomy.facts.slots
        lists = {slot for p in taken.region.answering for slot in taken.region.grown(p)}
        if any(slot not in lists or made_in(slot) is not self.function for slot in self.ends.histories):
            return False

        for node in self.function.nodes:
            if isinstance(node, cst.Assign) and self._is_whole_in(node.value, lists):
                lists.update(slot for target in node.targets if (slot := slots.of(target.target)) is not None)
        given = (node for node in self.function.nodes if isinstance(node, (cst.Return, cst.Yield)))
        return any(node.value is not None and self._is_whole_in(node.value, lists) for node in given)

    def _is_whole_in(self, value: cst.CSTNode, lists: Container[object]) -> bool:
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

    # -- what speaks against it -------------------------------------------------------------------------------

    def _is_owned(self, escape: Escape) -> bool:
        """Errors of parsing arguments that are dropped: AGL501 reports them.

        Not where the tool runs there, too, nor where the model is told in a message of another kind.
        """
        handler = escape.handler
        guard = self.anatomy.module.parent.get(handler) if handler is not None else None
        if not isinstance(guard, cst.Try) or handler is None:
            return False
        stored = self.anatomy.transcript.stored(self.function)
        if any(each.slot in self.ends.histories and self.anatomy.module.inside(each.node, handler) for each in stored):
            return False
        facts, calls = self.anatomy.facts, [node for node in walk(guard.body) if isinstance(node, cst.Call)]
        parses = [
            node
            for node in calls
            if facts.decoder(node) is not None and node.args and facts.is_kind(node.args[0].value, Kind.ARGUMENTS_TEXT)
        ]
        runs = (node for node in calls if node not in parses and runs_tool(facts, self.anatomy.transcript, node))
        return bool(parses) and not any(True for _ in runs)

    def _ends_by_tool(self, escape: Escape, loop: cst.For) -> bool:
        """Whether the function ends since the model has called one tool: `if call.name == "hang_up": ...; return`."""
        if not isinstance(escape.jump, cst.Return):
            return False
        around = itertools.takewhile(lambda outer: outer is not loop, self.anatomy.module.ancestors(escape.jump))
        names = [name for outer in around if isinstance(outer, cst.If) for name in _tools(outer.test)]
        return self._end_all(names)

    def _end_all(self, names: Iterable[str]) -> bool:
        """Whether one of some tools ends the conversation, or what was asked for where nothing is asked behind it."""
        return any(_LAST.search(name) or (_DONE.search(name) and not self._is_turn) for name in names)

    @cached_property
    def _is_turn(self) -> bool:
        """Whether the function puts what a user says into a history that is there already."""
        stored = (s for s in self.anatomy.transcript.stored(self.function) if s.role == "user" and not s.answers)
        return any(
            s.slot in self.ends.histories
            and s.write is not None
            and grows(self.anatomy, s.write)
            and not begun_anew(self.anatomy, s.slot, s.write, self.function)
            for s in stored
        )

    def _picks_one(self, taken: Taken, escape: Escape) -> bool:
        """`if call.name == "search": answer; break` takes one of several calls: AGL402 reports that.

        Not where the others are answered by the same loop.
        """
        test = escape.test
        if not isinstance(test, cst.Comparison) or not taken.hand.is_part(ex.compared(test)[0]):
            return False
        chosen = self.anatomy.module.parent[test]
        return all(
            point.statement is not None and self.anatomy.module.inside(point.statement, chosen)
            for point in taken.region.answering
        )


def _rarity(found: tuple[Fault, Point]) -> tuple[bool, bool]:
    """What is told of first: a tool that fails, then arguments of another form, then a turn that is stopped."""
    return found[0].stops, found[0].parsing


def _is_about_calls(fault: Fault, point: Point, asked: Asked) -> bool:
    """Whether what fails behind a stored reply fails where there are calls, and not for the form of what it says."""
    return not fault.parsing and (not fault.anyway or asked.knows([point]))


def _gives_something(escape: Escape) -> bool:
    """Whether the caller gets something to answer with."""
    return isinstance(escape.jump, cst.Return) and not handlers.is_neutral(escape.jump.value)


def _tools(test: cst.BaseExpression) -> Iterator[str]:
    """The words with which a test compares something: `calls[0].function.name == "hand_in"`."""
    for node in walk(test):
        for shown in (node.left, *(t.comparator for t in node.comparisons)) if isinstance(node, cst.Comparison) else ():
            for side in (shown, *(e.value for e in getattr(shown, "elements", ()))):
                if (word := ex.text(side)) is not None:
                    yield word
