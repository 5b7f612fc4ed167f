"""Ways of a function on which a tool call stays without an answer, although the conversation goes on.

Regions where calls wait (`waiting`) have ways out (`unanswered`); each is asked how the conversation goes on behind it
(`open_ends`). Ways that end the conversation on purpose, and those that other findings own, are left out here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.messages.growth import begun_anew, grows
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.rounds.executions import runs_tool
from lint_rules.anatomy.rounds.last_rounds import answers_at_last
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import made_in
from lint_rules.anatomy.vocabulary import ANSWERED, IDS, PROVIDER_TOOLS, RESULT_PARTS
from lint_rules.finding import Related
from lint_rules.obligations.again import Again
from lint_rules.obligations.open_ends import BROKEN, REFUSED
from lint_rules.obligations.waiting import Asked, Taken, stored_calls
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.missing_tool_result.afterwards import Afterwards
from lint_rules.rules.missing_tool_result.escapes import Escape, Escapes, flags_beside
from lint_rules.rules.missing_tool_result.failing import Failing, Fault
from lint_rules.rules.missing_tool_result.fixes import repair
from lint_rules.rules.missing_tool_result.held_back import Held, held_back
from lint_rules.rules.missing_tool_result.taken import calls_as_arguments, calls_handed_on, calls_in_loops
from lint_rules.rules.missing_tool_result.takers import Taker, takers
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import truth
from lint_rules.syntax.walk import walk

ANSWER = "answer each stored call on every path, also with the reason why its tool did not run"
_CATCH = "answer the open calls here, or catch the error inside the loop over calls"
_TELL = "answer the call with the error: the model can then choose another tool"
_CUT = "ask for the calls of the reply, not why it has ended, or take the reply back where its tokens ran out"
_STORED = "the message with the calls is stored here"
_PAIRING = ANSWERED | RESULT_PARTS | {"tool_result"}
_LAST = re.compile(r"terminat|(^|_)end(_|$)|exit|quit|hang_?up|reset|hand_?off|goodbye", re.I)
"""Words in the names of tools that end a conversation."""


class WaysOut:
    """The ways out of one function."""

    def __init__(self, anatomy: Anatomy, answers: Answers, failing: Failing, function: Scope) -> None:
        self.anatomy = anatomy
        self.answers = answers
        self.function = function
        self._failing = failing
        self._is_stopped = False
        self.ends = Afterwards(anatomy, answers, function)

    def all(self) -> Iterator[Draft]:
        for taken in self._loops():
            yield from self._skipped(taken)
            yield from self._left(taken)
            yield from self._failed(taken)
        for taken in calls_handed_on(self.anatomy, self._asked):
            yield from self._failed(taken)
        yield from self._kept_back()
        yield from self._as_arguments()
        dropped = [*self._dropped()]
        yield from dropped or itertools.islice(self._cut_off(), 1)

    def _loops(self) -> Iterator[Taken]:
        for taken in calls_in_loops(self.anatomy, self.answers, self.function, self.ends):
            stores = self.ends.stores & taken.region.inside
            if not stores or taken.region.reached(taken.region.starts, stores) & taken.region.answering:
                yield taken
                continue
            alone = [s.node for s in self.ends.stored if s.calls is not None and taken.hand.mentions(s.calls)]
            ways = (way for point in self.anatomy.points(self.function, alone) for way in point.successors)
            behind = [target for target, kind in ways if kind != "exception"]
            if behind:  # else the message is stored again and again: AGL605
                yield replace(taken, region=taken.region.begun(behind), is_alone=True)

    @cached_property
    def _asked(self) -> list[Asked]:
        return list(stored_calls(self.anatomy, self.answers, self.function, self.ends))

    # -- the call in hand gets no answer --------------------------------------------------------------------------

    def _skipped(self, taken: Taken) -> Iterator[Draft]:
        """Ways on which the call in hand is passed over."""
        if not self._is_told_of_calls:
            return  # nothing says that the calls themselves are in what is sent
        for escape in Escapes(taken.region).all():
            how = self._after(taken, escape)
            if how is not None and not self._is_excused(taken, escape):
                message = f"`{_name(taken)}` gets no tool result on this way: {how}"
                fix = repair(self.anatomy, taken, escape)
                yield Draft(escape.node, message, ANSWER, _notes(taken), fix=fix)

    def _after(self, taken: Taken, escape: Escape) -> str | None:
        """How the conversation goes on once the loop is left: at once, or after the calls behind this one."""
        ends, region = self.ends, taken.region
        stored = taken.is_alone or ends.is_stored_before(taken.headers)
        if escape.exit not in taken.headers:
            how = ends.go_on(escape.exit, region.points, stored=stored, flags=escape.flags)
            is_saved = stored and escape.exit is ends.graph.exit and ends.saves(region.waiting - region.hopeful)
            how = BROKEN if how is None and is_saved else how
            return how or self._behind_callers(ended=True)
        handed = self._hands_back(taken)
        behind = (target for header in taken.headers for target, kind in header.successors if kind == "false")
        hows = (ends.go_on(t, region.points, handed=handed, stored=stored, flags=escape.flags) for t in behind)
        return next(filter(None, hows), None) or self._behind_callers()

    def _behind_callers(self, *, ended: bool = False) -> str | None:
        """How the conversation goes on in those that have stored the calls, and have run this function for them.

        `ended`: it has ended before its time, and one that asks what it gives may have learned that.
        """
        for site in self.anatomy.calls.sites[self.function] if not self.ends.stores else ():
            above = Afterwards(self.anatomy, self.answers, site.caller)
            points = self.anatomy.points(site.caller, [site.node])
            if above.stores and above.is_stored_before(points) and not (ended and above.asks_of(site.node)):
                behind = (target for point in points for target, kind in point.successors if kind != "exception")
                passing = above.answering_from(site.node)
                hows = (above.go_on(target, points, passing=passing) for target in behind)
                how = next(filter(None, hows), None)
                if how is not None:
                    return how
        return None

    def _left(self, taken: Taken) -> Iterator[Draft]:
        """Ways on which the loop is left while there are calls behind the one in hand."""
        if taken.loop is None or taken.is_alone or one_at_a_time(self.anatomy, self.function):
            return
        stored = self.ends.is_stored_before(taken.headers)
        for escape in Escapes(taken.region).leavings(self.ends.takes_back):
            if escape.test is None or self._picks_one(taken, escape):
                continue
            how = self.ends.go_on(escape.exit, taken.region.points, stored=stored, flags=escape.flags)
            how = how if self.ends.histories else how or self._behind_callers(ended=True)
            if how is not None and not (how != REFUSED and self._ends_by_tool(escape, taken.loop)):
                message = f"the calls behind `{_name(taken)}` get no tool result when the loop is left here: {how}"
                yield Draft(escape.node, message, ANSWER, _notes(taken))

    def _as_arguments(self) -> Iterator[Draft]:
        """Ways on which a function that gets one call, and answers it, does not."""
        for taken in calls_as_arguments(self.anatomy, self.answers, self.function, self.ends):
            for escape in Escapes(taken.region).all():
                if escape.handler is None and not _gives_something(escape):
                    message = f"`{_name(taken)}` gets no tool result on this way: the run waits for it, or is refused"
                    yield Draft(escape.node, message, ANSWER)

    def _hands_back(self, taken: Taken) -> bool:
        """Whether the answers, in their list or one made of it, are given to the caller, and stored nowhere else."""
        slots = self.anatomy.facts.slots
        lists = {slot for p in taken.region.answering for slot in taken.region.grown(p)}
        if any(slot not in lists or made_in(slot) is not self.function for slot in self.ends.histories):
            return False
        for node in self.function.nodes_of(cst.Assign):
            if self.ends.is_whole_in(node.value, lists):
                lists.update(slot for target in node.targets if (slot := slots.of(target.target)) is not None)
        given = self.function.nodes_of(cst.Return, cst.Yield)
        return any(node.value is not None and self.ends.is_whole_in(node.value, lists) for node in given)

    # -- something fails before the answer ------------------------------------------------------------------------

    def _failed(self, taken: Taken) -> Iterator[Draft]:
        faults = sorted(self._faults(taken), key=lambda found: (found[0].stops, found[0].parsing))
        yield from self._swallowed(taken, faults)
        yield from self._raised(taken, faults)

    def _swallowed(self, taken: Taken, faults: list[tuple[Fault, Point]]) -> Iterator[Draft]:
        """Errors that end in a handler around the loop while the stored call has no answer."""
        for fault, landed in faults:
            if landed.statement is None or (taken.asked is None and landed in taken.region.inside):
                continue
            how = self._after_error(fault, landed)
            if how is not None and (how == REFUSED or not fault.parsing):  # AGL501 reports those that end a turn
                what, may = ("a stopped turn", "be stopped") if fault.stops else ("an error", "fail")
                message = f"{what} ends here while the stored `{_name(taken)}` has no tool result: {how}"
                note = Note(fault.cause, f"this may {may} before the call is answered")
                yield Draft(landed.statement, message, _CATCH, (note,))

    def _after_error(self, fault: Fault, landed: Point) -> str | None:
        """How the conversation goes on from where an error ends: not with a list of this run that is made anew."""
        held = self.ends.holding(self.ends.graph.enclosing(fault.node, self.anatomy.module.parent))
        anew = Again(self.anatomy, self.function).anew(held) if len(held) == 1 else frozenset[Point]()
        gone = len(held) == 1 and self.ends.is_gone(next(iter(held)), landed, anew)
        return self.ends.go_on(landed, anew, surely=True, gone=gone)

    def _raised(self, taken: Taken, faults: list[tuple[Fault, Point]]) -> Iterator[Draft]:
        """Errors that leave the function, with who takes them and goes on with the chat."""
        asked = set()
        for fault, landed in faults:
            if fault.parsing or landed is not self.ends.graph.raises or fault.kind in asked:
                continue  # malformed arguments that nobody takes: AGL501 reports them
            asked.add(fault.kind)
            if fault.stops and self._is_stopped:
                continue  # a stop anywhere in the turn is one defect
            kept = self.ends.holding(self.ends.graph.enclosing(fault.node, self.anatomy.module.parent))
            taken_by = takers(self.anatomy, self.answers, fault, self.function, kept)
            taker = self._server(fault) or next(taken_by, None)
            if taker is not None:
                self._is_stopped = self._is_stopped or fault.stops
                yield _left_open(taken, fault, taker)
                return

    def _server(self, fault: Fault) -> Taker | None:
        """The framework that runs this function for each message, and keeps the chat whatever it raises."""
        if fault.stops or self.ends.go_on(self.ends.graph.exit, surely=True) is None:
            return None
        served = self.anatomy.calls.servings.items()
        server = next((how for first, how in served if self._is_kept_beyond(first)), None)
        if server is None:
            kept = [name for slot in self.ends.histories if (name := self.ends.keeper(slot)) is not None]
            says = f"{kept[0]} catches the error, and keeps the history for the next turn" if kept else ""
            return Taker(self.function.node, says, BROKEN) if kept else None
        return Taker(server.node, f"{server.framework} catches the error, and the chat goes on", BROKEN)

    def _is_kept_beyond(self, first: Scope) -> bool:
        """Whether `first` comes here, and a history is there when its run has ended."""
        keeps = self.anatomy.races.ownership.kept_beyond
        return any(keeps(first, self.function, slot) for slot in self.ends.histories)

    def _faults(self, taken: Taken) -> Iterator[tuple[Fault, Point]]:
        """What may fail before the call is answered, with where the error lands."""
        stored = taken.is_alone or (self.ends.stores and self.ends.is_stored_before(taken.headers))
        if taken.asked is None and not stored:
            return
        for point in taken.region.unsettled:
            for fault in self._failing.at(taken.hand, point, self.function):
                if fault.left and (taken.loop is None or point not in taken.region.hopeful):
                    continue  # who reads on finds the call open, too
                if taken.asked is None or _is_about_calls(fault, point, taken.asked):
                    landed, there = fault.landing(self.anatomy.module, self.ends.graph, point, self.ends.mends)
                    if landed is not None:
                        yield there, landed

    # -- answers that wait in a list ------------------------------------------------------------------------------

    @cached_property
    def _held(self) -> list[Held]:
        return list(held_back(self.answers, self.ends))

    def _kept_back(self) -> Iterator[Draft]:
        """Ways on which answers are left behind in a list of their own."""
        for held in self._held:
            for escape in Escapes(held.region).all():
                here = self.ends.graph.enclosing(escape.node, self.anatomy.module.parent)
                known = escape.test is not None and mentions({held.waiting[2]}, escape.test)  # or it asks for calls
                stored = self.ends.is_stored_before(here if known else held.made)
                hows = (self.ends.go_on(point, flags=escape.flags, stored=stored) for point in here)
                how = next(filter(None, hows), None)
                if how is not None and escape.handler is None:
                    message = f"the results in `{held.waiting[2]}` never get into the history on this way, and their"
                    waiting = Note(held.node, "the results wait in a list from here")
                    yield Draft(
                        escape.node, f"{message} calls stay open, and {how}", "store the results first", (waiting,)
                    )

    # -- nobody looks whether there are calls ---------------------------------------------------------------------

    def _dropped(self) -> Iterator[Draft]:
        """Ways on which a message that may hold calls is stored, and nobody looks whether it does."""
        for asked in itertools.filterfalse(self._is_rendered, self._asked):
            for escape in Escapes(asked.region).all():
                if escape.test is None or escape.handler is not None or self._ends_without_tools(escape.test):
                    continue
                parts = list(asked.told.undecided(escape.test))
                about = [part for part in parts if asked.told.mentions(part) and asked.told.may_tell(part)]
                points = self.ends.graph.enclosing(escape.test, self.anatomy.module.parent)
                if about and not asked.knows(points) and not asked.told.tells(escape.test):
                    continue  # it may ask whether there are calls
                if any(self._counts_through(part) for part in about):
                    continue  # a loop over the places of the calls: its end comes behind the last one
                how = self.ends.go_on(escape.exit, flags=escape.flags, into=asked.slot)
                tools = [name for part in about for name in _tools(part)] if about == parts else []
                if how is not None and not (how != REFUSED and self._end(tools)):
                    message = f"the stored message may carry tool calls, and they get no result on this way: {how}"
                    yield Draft(escape.node, message, ANSWER, (Note(asked.node, _STORED),))

    def _is_rendered(self, asked: Asked) -> bool:
        """Whether the message is made of one of a history, for a request: with its results behind it."""
        loops = (outer for outer in self.anatomy.module.ancestors(asked.node) if isinstance(outer, cst.For))
        parts = (part for loop in loops for part in walk(loop.iter) if isinstance(part, (cst.Name, cst.Attribute)))
        return any(Kind.HISTORY in self.anatomy.facts.kinds(part) for part in parts)

    def _counts_through(self, part: cst.CSTNode) -> bool:
        """Whether a part of a test stands in `while place < len(calls)`."""
        ancestors = list(self.anatomy.module.ancestors(part))
        loop = next((outer for outer in ancestors if isinstance(outer, (cst.While, cst.If))), None)
        return isinstance(loop, cst.While) and any(
            isinstance(node, cst.Call) and ex.called_name(node) == "len" for node in (part, *ancestors, *walk(part))
        )

    def _ends_without_tools(self, test: cst.BaseExpression) -> bool:
        """Whether the rounds over a range are over here, and the last one offers no tools: its reply has no calls."""
        rounds = self.anatomy.round_at.get(self.anatomy.module.parent[test])
        return isinstance(test, cst.Call) and rounds is not None and answers_at_last(self.anatomy, rounds)

    # -- a reply that was cut off ---------------------------------------------------------------------------------

    def _cut_off(self) -> Iterator[Draft]:
        """Tests of why a reply has ended that pass over its calls where its tokens ran out."""
        told = ToldByReply(self.anatomy, self.function)
        stores = [each for each in self.ends.stored if each.calls is not None and not each.answers]
        for each in stores if told.cut_off else ():
            told.carries(each)
        for each in stores if told.cut_off else ():
            starts = self.ends.graph.enclosing(each.node, self.anatomy.module.parent)
            yield from (_cut_draft(each.node, test, how) for test, how in self._passed(starts, told))
        for held in self._held if told.cut_off else ():
            passed = self._passed(held.made, held.told, held.region.waiting)
            yield from (_cut_draft(held.node, test, how) for test, how in passed)

    def _passed(
        self, starts: list[Point], told: ToldByReply, within: set[Point] | None = None
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
                how = self.ends.go_on(target, flags=flags, surely=True, told=told)
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
                how = self.ends.go_on(target, flags=known, surely=True, told=told)
                yield from ((test, how),) if how is not None else ()

    # -- what speaks against it -----------------------------------------------------------------------------------

    def _is_excused(self, taken: Taken, escape: Escape) -> bool:
        apart = self._is_answered_apart(taken, escape.test) or self._is_left_out(taken, escape)
        return apart or self._is_owned(escape) or self._is_of_provider(escape.test)

    def _is_left_out(self, taken: Taken, escape: Escape) -> bool:
        """Whether only calls are stored that the loop has put into a list, and it has not come to that on this way."""
        facts, graph = self.anatomy.facts, self.ends.graph
        kept = [each.calls for each in self.ends.stored if each.calls is not None and not each.answers]
        lists = [facts.slots.of_name(part) for calls in kept for part in ex.alternatives(calls)]
        put = [set(self.anatomy.points(self.function, facts.put(slot))) if slot else set() for slot in lists]
        if not put or not all(points and points <= taken.region.inside for points in put):
            return False
        here = {*graph.enclosing(escape.node, self.anatomy.module.parent)}
        return not any(here & points or graph.reaches(points, here, {*taken.headers}) for points in put)

    def _is_answered_apart(self, taken: Taken, test: cst.BaseExpression | None) -> bool:
        """`if call not in allowed: refuse(call)`, where another loop goes through `allowed`, and answers those."""
        if not isinstance(test, cst.Comparison) or not taken.hand.is_whole(test.left):
            return False
        _, operator, listed = ex.compared(test)
        others = [loop for loop in self.function.nodes_of(cst.For) if loop is not taken.loop]
        bodies = [loop.body for loop in others if ex.source(loop.iter, 200) == ex.source(listed, 200)]
        points = (point for body in bodies for point in self.ends.graph.within(walk(body)))
        return isinstance(operator, (cst.In, cst.NotIn)) and any(map(self.answers.at, points))

    @cached_property
    def _is_told_of_calls(self) -> bool:
        """Whether calls are stored, here or by who runs this, or an answer that is made here says which it is for.

        One with no id says it only where the reply itself is not seen to be stored as a text alone.
        """
        sites = self.anatomy.calls.sites[self.function]
        callers = (Afterwards(self.anatomy, self.answers, site.caller) for site in sites)
        if self.ends.stores or any(ends.stores for ends in callers):
            return True
        functions = self.anatomy.calls.reachable(self.function)
        made = [node for function in functions for node in self.answers.made.get(function, ())]
        keys = {key for node in made if isinstance(node, (cst.Call, cst.Dict)) for key in ex.made_of(node)}
        parts = (ex.member(part) for node in made for part in walk(node))
        if not keys.isdisjoint(_PAIRING) or any(pair is not None and pair[1] in IDS for pair in parts):
            return True
        return not self._stores_text and (bool(self.ends.histories) or "role" in keys)

    @property
    def _stores_text(self) -> bool:
        """Whether the function stores what the model has said, without its calls."""
        stored = self.anatomy.transcript.stored(self.function)
        messages = (s.message for s in stored if s.calls is None and not s.answers and s.message is not None)
        said = (message.content for message in messages if message.content is not None)
        return any(Kind.MODEL_TEXT in self.anatomy.facts.kinds(content) for content in said)

    def _is_of_provider(self, test: cst.BaseExpression | None) -> bool:
        """Whether a test asks for tools that the provider runs itself: their results come with the reply."""
        sides = [node for node in walk(test) if isinstance(node, cst.Comparison)] if test is not None else []
        listed = [value for node in sides for value in self.anatomy.facts.values_of(ex.compared(node)[2])]
        words = {*(word for node in sides for word in _tools(node))}
        words |= {word for value in listed for each in getattr(value, "elements", ()) if (word := ex.text(each.value))}
        return bool(words) and words <= PROVIDER_TOOLS

    def _is_owned(self, escape: Escape) -> bool:
        """Errors of parsing arguments that are dropped: AGL501 reports them.

        Not where the tool runs there, too, nor where the model is told in a message of another kind.
        """
        module, facts, transcript = self.anatomy.module, self.anatomy.facts, self.anatomy.transcript
        guard = module.parent.get(escape.handler) if escape.handler is not None else None
        if not isinstance(guard, cst.Try) or escape.handler is None:
            return False
        told = (s for s in transcript.stored(self.function) if s.slot in self.ends.histories)
        calls = [node for node in walk(guard.body) if isinstance(node, cst.Call)]
        parses = {n for n in calls if n.args and facts.decoder(n) is not None and self._is_written(n.args[0].value)}
        runs = any(node not in parses and runs_tool(facts, transcript, node) for node in calls)
        return bool(parses) and not runs and not any(module.inside(each.node, escape.handler) for each in told)

    def _is_written(self, value: cst.BaseExpression) -> bool:
        return self.anatomy.facts.is_kind(value, Kind.ARGUMENTS_TEXT)

    def _ends_by_tool(self, escape: Escape, loop: cst.For) -> bool:
        """Whether the function ends since the model has called one tool: `if call.name == "hang_up": ...; return`."""
        if not isinstance(escape.jump, cst.Return):
            return False
        around = itertools.takewhile(lambda outer: outer is not loop, self.anatomy.module.ancestors(escape.jump))
        return self._end([name for outer in around if isinstance(outer, cst.If) for name in _tools(outer.test)])

    def _end(self, tools: list[str]) -> bool:
        """Whether some tools end the conversation, or what was asked for where nothing is asked behind it."""
        return any(map(_LAST.search, tools)) or (bool(tools) and not self._is_turn)

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


def _left_open(taken: Taken, fault: Fault, taker: Taker) -> Draft:
    what = "an unknown tool raises" if isinstance(fault.cause, cst.Subscript) else "what fails here raises"
    what = "this error ends the turn" if fault.ends else what
    what = "who stops this leaves the turn" if fault.stops else what
    what = "who reads this may not come back" if fault.left else what
    message = f"{what} while the stored `{_name(taken)}` has no tool result: {taker.how}"
    notes: list[Note | Related] = [taker.elsewhere or Note(taker.node, taker.says)]
    if fault.cause is not fault.node:
        notes.append(Note(fault.cause, "this may fail"))
    if fault.again is not None:
        notes.append(Note(fault.again, "the error is raised again here"))
    return Draft(fault.node, message, _TELL, tuple(notes))


def _cut_draft(stored: cst.CSTNode, test: cst.BaseExpression, how: str) -> Draft:
    message = f"a reply whose tokens run out within a call passes this test, and its stored calls get no result: {how}"
    return Draft(test, message, _CUT, (Note(stored, _STORED),))


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


def _notes(taken: Taken) -> tuple[Note, ...]:
    return (Note(taken.loop.iter, "the calls of the stored message"),) if taken.loop is not None else ()


def _name(taken: Taken) -> str:
    return str(taken.hand.slot[-1])
