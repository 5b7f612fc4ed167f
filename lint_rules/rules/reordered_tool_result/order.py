"""Messages that a function stores where only tool results may stand: between a call and its result, or two results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import may_mark_a_call
from lint_rules.obligations.again import Again
from lint_rules.obligations.moves import Move, Moves
from lint_rules.obligations.open_ends import OpenEnds
from lint_rules.obligations.waiting import loops, runs_in, stored_calls
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope
from lint_rules.syntax.word import meaning

_OTHERS = frozenset({"user", "system", "assistant"})
_ADDED = frozenset({"append", "extend"})
_READERS = frozenset({"len", "print", "list", "dumps", "deepcopy", "copy", "enumerate", "reversed", "str", "extend"})


@record
class Intruder:
    """`stored` is the message. `calls` is where those are stored whose results follow, or the loop over them."""

    stored: Stored
    calls: cst.CSTNode
    between_results: bool


@record
class Late:
    """`node` stores results that wait in a list behind `reply`, which is another one than `result` answers."""

    node: cst.CSTNode
    reply: Stored
    result: Stored


class Order:
    """What a function stores, and on which paths."""

    def __init__(self, anatomy: Anatomy, answers: Answers, function: Scope) -> None:
        self.anatomy = anatomy
        self.answers = answers
        self.function = function
        self._sending: dict[Slot | None, set[Point]] = {}
        stored = anatomy.transcript.stored(function)
        self.results = [s for s in stored if s.answers and s.slot is not None and not _keeps_no_order(s)]
        self.others = [
            s
            for s in stored
            if s.role in _OTHERS and s.calls is None and not s.answers and s.kind in _ADDED and not _of_ollama(s)
        ]

    def intruders(self) -> Iterator[Intruder]:
        if not self.results or not self.others:
            return
        yield from self._before_results()
        if not one_at_a_time(self.anatomy, self.function):
            yield from self._between_results()

    def late(self) -> Iterator[Late]:
        """call, next reply, result: results wait in a list, and come into the history behind another reply."""
        replies = {s.slot for s in self.anatomy.transcript.stored(self.function) if s.role == "assistant"}
        waiting = {one.slot for one in self.results} - replies  # a list with both is the turn itself
        again = Again(self.anatomy, self.function)
        moves = [m for m in Moves(again).all() if self.anatomy.facts.slots.of(m.source) in waiting]
        asking, _ = self._requests
        for move in moves:
            slot = self.anatomy.facts.slots.of(move.source)
            flush = set(again.points(move.each if move.each is not None else move.node))
            put = {p for one in self.results if one.slot == slot for p in self._points(one)}
            others = {
                p for m in moves if self.anatomy.facts.slots.of(m.source) == slot for p in again.points(m.node)
            } - flush
            barred = flush | others | again.unstored(slot)
            later = {ask for ask in asking if again.leads(put, {ask}, barred, exceptions=False)}
            if slot == move.target or not later:
                continue
            for one in self.anatomy.transcript.stored(self.function):
                here = set(self._points(one))
                if one.slot == move.target and one.role == "assistant" and one.kind == "append" and not here & flush:
                    if again.leads(later, here, barred, exceptions=False):
                        if again.leads(here, flush, others, exceptions=False):
                            yield Late(move.node, one, next(r for r in self.results if r.slot == slot))
                            break

    def told_late(self) -> Iterator[Late]:
        """Results that a loop over what a run tells puts out with the next reply, and behind it.

        They are told after the end of their reply, and what puts them out comes again only when the next one is over.
        """
        for move in Moves(Again(self.anatomy, self.function)).all():
            slot = self.anatomy.facts.slots.of(move.source)
            results = [one for one in self.results if one.slot == slot and slot != move.target]
            loop = next((n for n in self.anatomy.module.ancestors(move.node) if isinstance(n, cst.For)), None)
            if not results or loop is None or loop is move.each:
                continue
            flush = told_by(self.anatomy, move.node, loop)
            replies = [s for s in self.anatomy.transcript.stored(self.function) if s.slot == move.target]
            for reply in replies if flush else ():
                same = reply.role == "assistant" and told_by(self.anatomy, reply.node, loop) == flush
                if same and self._stands_before(reply, move, loop) and self._comes_between(loop, results, reply, flush):
                    yield Late(move.node, reply, results[0])
                    break

    def _stands_before(self, reply: Stored, move: Move, loop: cst.For) -> bool:
        graph = self.anatomy.flow(self.function)
        return graph.reaches(self._points(reply), self.anatomy.points(self.function, [move.node]), graph.at(loop))

    def _comes_between(self, loop: cst.For, results: list[Stored], reply: Stored, flush: frozenset[str]) -> bool:
        """Whether a run tells, behind a result, of a part of the next reply before it tells what puts both out."""
        told = {word for one in results for word in told_by(self.anatomy, one.node, loop)}
        parts = {word for node in self._parts_of(reply, loop) for word in told_by(self.anatomy, node, loop)} - flush
        for _, there, run in runs_in(self.anatomy, loop):
            yields = [(node, _words_of(node)) for node in run.nodes_of(cst.Yield)]
            after, then, ends = ([n for n, words in yields if words & some] for some in (told, parts, flush))
            barred = there.points(run, ends)
            between = [node for node in then if there.leads(run, after, [node], barred)]
            if told and not told & flush and there.leads(run, between, ends):
                return True
        return False

    def _parts_of(self, reply: Stored, loop: cst.For) -> Iterator[cst.CSTNode]:
        """Where in the loop something is put into what a reply is made of."""
        slots, made = self.anatomy.facts.slots, reply.write.value if reply.write is not None else None
        names = {slots.of(node) for node in walk(made) if isinstance(node, cst.Name)} if made is not None else set()
        for node in self.anatomy.module.nodes_inside(loop.body, self.function, cst.Assign, cst.AugAssign, cst.Call):
            base = ex.receiver(node)
            places = [base] if isinstance(node, cst.Call) else ex.targets(node)  # type: ignore[arg-type]
            if any(place is not None and slots.of(place) in names for place in places):
                yield node

    def _before_results(self) -> Iterator[Intruder]:
        """call, other message, result."""
        ends = OpenEnds(self.anatomy, self.answers, self.function)
        for asked in stored_calls(self.anatomy, self.answers, self.function, ends):
            region = asked.region
            goals = self._goals.get(asked.slot)
            if not goals:
                continue
            sent = self._sent(asked.slot) | self._heads(asked.node)
            reached = region.reached(region.starts, goals | sent, answered=True)
            between = {
                number for p in reached for number, other in self._others_at.get(p, ()) if other.slot == asked.slot
            }
            for other in (self.others[number] for number in sorted(between)):
                here = self._points(other)
                onward = [t for p in here for t, kind in region.edges(p) if kind != "exception" and t in region.inside]
                if goals & region.reached(onward, sent | self._own_headers(other), answered=True):
                    yield Intruder(other, asked.node, between_results=False)

    def _between_results(self) -> Iterator[Intruder]:
        """result, other message, next result: in one loop over the calls of a reply."""
        graph = self.anatomy.flow(self.function)
        for loop, headers in self._headers:
            inside = self._inside(self.others, loop)
            others = [other for other in inside if not _is_of_another(self.anatomy, other, loop)]
            answers = self._inside(self.results, loop) if others else []
            for other in others:
                mine = [result for result in answers if result.slot == other.slot]
                results = [p for r in mine for p in self._points(r)]
                here = self._points(other)
                together = any(self._stores_both(result, other) for result in mine)
                if (together or graph.reaches(results, here, headers, exceptions=False)) and graph.reaches(
                    here, headers, self._sent(other.slot), exceptions=False
                ):
                    yield Intruder(other, loop.iter, between_results=True)

    def _stores_both(self, result: Stored, other: Stored) -> bool:
        """Whether one call of a helper stores a result, and then another message."""
        first, then = result.write, other.write
        if result.node is not other.node or first is None or then is None or first.function is not then.function:
            return False
        helper = first.function
        return helper is not self.function and self.anatomy.leads(helper, [first.node], [then.node])

    def _inside(self, stored: Sequence[Stored], loop: cst.For) -> Sequence[Stored]:
        """Those of some places that the body of a loop holds."""
        return self.anatomy.module.placed_inside(stored, loop.body, lambda one: one.node)

    @cached_property
    def _goals(self) -> dict[Slot | None, set[Point]]:
        """Where results are stored, by history."""
        found: defaultdict[Slot | None, set[Point]] = defaultdict(set)
        for result in self.results:
            found[result.slot].update(self._points(result))
        return found

    @cached_property
    def _others_at(self) -> dict[Point, list[tuple[int, Stored]]]:
        """What else is stored at a point, each with its place in `others`."""
        found: defaultdict[Point, list[tuple[int, Stored]]] = defaultdict(list)
        for number, other in enumerate(self.others):
            for point in self._points(other):
                found[point].append((number, other))
        return found

    @cached_property
    def _headers(self) -> list[tuple[cst.For, list[Point]]]:
        return list(call_headers(self.anatomy, self.function))

    def _sent(self, slot: Slot | None) -> set[Point]:
        """Points that may send the history: a request, or a call of somebody unknown who gets the list."""
        found = self._sending.get(slot)
        if found is None:
            asking, given = self._requests
            found = self._sending[slot] = asking | given.get(slot, set())
        return found

    @cached_property
    def _requests(self) -> tuple[set[Point], dict[Slot | None, set[Point]]]:
        """Points of requests, and by history those of calls that get it."""
        asking: set[Point] = set()
        given: defaultdict[Slot | None, set[Point]] = defaultdict(set)
        reaches = self.anatomy.turns.reaches_model
        for point in self.anatomy.flow(self.function).points:
            for part in point.expressions():
                for node in walk_scope(part):
                    if type(node) is not cst.Call or ex.called_name(node) in _READERS:
                        continue
                    if self.anatomy.calls.asks(node):
                        asking.add(point)
                    for arg in node.args if body(self.anatomy, node) is None or reaches(node) else ():
                        given[self.anatomy.facts.slots.of(arg.value)].add(point)
        return asking, given

    def _heads(self, node: cst.CSTNode) -> set[Point]:
        """The heads of all loops around a node: behind them it is the next message's turn."""
        graph = self.anatomy.flow(self.function)
        loops = [n for n in self.anatomy.module.ancestors(node) if isinstance(n, (cst.For, cst.While))]
        return {point for loop in loops for point in graph.at(loop)}

    def _own_headers(self, other: Stored) -> set[Point]:
        """The heads of loops over calls around a place: the next call is another one."""
        module, found = self.anatomy.module, dict(self._headers)
        around = (n for n in module.ancestors(other.node) if isinstance(n, cst.For) and n in found)
        return {header for loop in around if module.inside(other.node, loop.body) for header in found[loop]}

    def _points(self, stored: Stored) -> list[Point]:
        return self.anatomy.flow(self.function).enclosing(stored.node, self.anatomy.module.parent)


def told_by(anatomy: Anatomy, node: cst.CSTNode, loop: cst.For) -> frozenset[str]:
    """The events of a loop in whose branch something stands: the classes or words that the branch asks for."""
    below = node
    for outer in anatomy.module.ancestors(node):
        found: frozenset[str] = frozenset()
        if outer is loop:
            break
        if isinstance(outer, cst.MatchCase):
            classes = (part.cls for part in walk(outer.pattern) if isinstance(part, cst.MatchClass))
            values = (ex.text(part.value) or "" for part in walk(outer.pattern) if isinstance(part, cst.MatchValue))
            found = frozenset((*(ex.last_name(cls) for cls in classes), *values)) - {""}
        elif isinstance(outer, cst.If) and below is outer.body:
            asked = (n.args[1].value for n in walk(outer.test) if isinstance(n, cst.Call) and len(n.args) == 2)
            found = frozenset(ex.last_name(n) for value in asked for n in walk(value)) - {""} | _compared(outer.test)
        if found:
            return found
        below = outer
    return frozenset()


def _is_of_another(anatomy: Anatomy, other: Stored, loop: cst.For) -> bool:
    """Whether a message is stored only for elements of another class than that of calls: for a record of something."""
    told = told_by(anatomy, other.node, loop)
    return bool(told) and not any(may_mark_a_call(word.lower()) or meaning(word) == "class of call" for word in told)


def _compared(test: cst.BaseExpression) -> frozenset[str]:
    """The words that something is compared with: `event["type"] in ("text", "end")`."""
    sides = (t.comparator for n in walk(test) if isinstance(n, cst.Comparison) for t in n.comparisons)
    shown = (part for side in sides for part in (side, *(e.value for e in getattr(side, "elements", ()))))
    return frozenset(word for part in shown if (word := ex.text(part)) is not None)


def _words_of(node: cst.Yield) -> frozenset[str]:
    """The class of what is yielded, or the words in it."""
    value = node.value
    if isinstance(value, cst.Call):
        return frozenset({ex.called_name(value)})
    items = ex.dict_items(value) if isinstance(value, cst.BaseExpression) else {}
    return frozenset(word for part in items.values() if (word := ex.text(part)) is not None)


def _keeps_no_order(stored: Stored) -> bool:
    """Outputs of the Responses API, which pairs calls and outputs by id alone."""
    node = stored.message.node if stored.message is not None else None
    kind = ex.dict_items(node).get("type") if node is not None else None
    return kind is not None and ex.text(kind) == "function_call_output"


def _of_ollama(stored: Stored) -> bool:
    """A message with pictures in Ollama's form: that API takes messages in any order."""
    return stored.message is not None and "images" in ex.dict_items(stored.message.node)


def call_headers(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.For, list[Point]]]:
    """The loops over the calls of a reply, with their points in the graph."""
    for node, _ in loops(anatomy, function):
        yield node, anatomy.flow(function).at(node)
