"""A turn on which what lasts is told of it only behind its rounds: a way out that passes by that loses them.

answer = agent.run(store.history(key), text)    # asks, runs tools, asks again: each request may fail
store.add(key, answer)                          # what the tools have done is told here, or nowhere
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.turns.asked import AskedWith
from lint_rules.anatomy.turns.keepers import store_of
from lint_rules.anatomy.turns.lasting import Lasting, is_new
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds, is_read
from lint_rules.anatomy.turns.turns import MOST_REQUESTS
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, describe, root_object, whole_of
from lint_rules.obligations.again import Again
from lint_rules.obligations.late_requests import fails_to
from lint_rules.rules.unsaved_turn_history.late_turns import LateTurns
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import names_of_elements
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import mentions, names_in
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.record import record
from lint_rules.syntax.twins import Unplaced
from lint_rules.syntax.walk import walk

_PUT = frozenset({*GROWING, "rebind"})
_PLACES = (cst.Name, cst.Attribute, cst.Subscript)
Way = Literal["leaves", "handler", "error", "run", "request", "yield"]


@record
class TurnEnd:
    """A way that passes by `told`, where a turn is stored: from `leaves`, which leaves the function, or fails, or is
    where the reader of a generator stops. `turn` is a part of it, or where its messages get into the list `waiting`.
    An error ends the turn in `handler`, or leaves it.
    """

    leaves: cst.CSTNode
    way: Way
    turn: cst.CSTNode
    told: cst.CSTNode
    waiting: Slot | None = None
    handler: cst.CSTNode | None = None


@record
class _Turn:
    """A turn as its ways out are asked for: `tells` are all places where what lasts is told anything, `headers` what
    stands around them, and `ends` where the turn is over, or the next one begins."""

    again: Again
    run: cst.Call
    told: list[cst.CSTNode]
    tells: list[cst.CSTNode]
    headers: list[cst.CSTNode]
    given_back: set[Point]
    ends: set[Point]


def left(
    again: Again, done: list[Point], barred: Container[Point], failed: Sequence[Point] = ()
) -> tuple[cst.CSTNode, Way] | None:
    """The `return` or `break` by which a function is left behind what was done, past what is barred; or the handler.

    `failed`: where the errors of what does it go.
    """
    ends = {again.graph.exit}
    path = again.path(done, ends, barred, exceptions=False)
    caught = again.path([*done, *failed], ends, barred) if path is None else None
    kinds = (cst.Return, cst.Break) if path is not None else (cst.ExceptHandler,)
    statements = (point.statement for point in reversed(path or caught or []))
    leaves = next((each for each in statements if isinstance(each, kinds)), None)
    return (leaves, "leaves" if path is not None else "handler") if leaves is not None else None


def closed(
    again: Again, done: list[Point], told: set[Point], barred: Container[Point], ends: set[Point]
) -> cst.CSTNode | None:
    """The first `yield` behind what was done at which the reader may stop, past what is barred, and before that."""
    for node in again.function.nodes_of(cst.Yield):
        here = [point for point in again.points(node) if point not in barred]
        after = any(point in done for point in here) or again.leads(done, set(here), barred, exceptions=False)
        if after and again.leads(here, told, exceptions=False) and fails_to(again, here, ends, barred):
            return node
    return None


def turn_ends(anatomy: Anatomy, known: Container[Scope]) -> Iterator[TurnEnd]:
    """Those of a file, for each run the first; of functions of which the like is `known`, none."""
    search = _Search(anatomy)
    for function in anatomy.module.functions:
        runs = anatomy.turns.requests(function) if function.kind == "function" and function not in known else []
        found = (late for run in runs if len(runs) <= MOST_REQUESTS for late in search.of(function, run))
        seen = (replace(late, leaves=place) for late in found if (place := search.place(function, late)) is not None)
        yield from {late.told: late for late in seen}.values()


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.late = LateTurns(anatomy)
        self.lasting = Lasting(anatomy)
        self.places = ReplyPlaces(anatomy)
        self.resources = anatomy.resources

    def place(self, function: Scope, late: TurnEnd) -> cst.CSTNode | None:
        """Where the function itself shows it, and no helper that was put in its place."""
        return next((node for node in (late.leaves, late.turn, late.told) if self.is_own(function, node)), None)

    def is_own(self, function: Scope, node: cst.CSTNode) -> bool:
        """Whether a node of a function stands in it as it was written, and in no helper that was put in its place."""
        module = self.anatomy.module
        try:
            line = self.anatomy.line(node)
        except Unplaced:
            return False
        around = [each for each in module.functions if each.kind == "function" and self.anatomy.line(each.node) <= line]
        owner = max(around, key=lambda each: self.anatomy.line(each.node), default=None)
        return owner is not None and (owner is function or module.inside(owner.node, function.node))

    def of(self, function: Scope, run: cst.Call) -> Iterator[TurnEnd]:
        """The first way of a turn that passes by what stores it: it is left, or fails, or nobody reads to its end."""
        elsewhere = self.late.runs_tools(run)
        again, here = Again(self.anatomy, function), self.anatomy.points(function, [run])
        late = elsewhere or (self.anatomy.turns.may_fail(run) and self._is_late(again, here))
        told = self._told(function, run) if late and not self.anatomy.conversations.is_named(run) else []
        if not told or (self._is_kept_within if elsewhere else self._is_kept_here)(function, run, told):
            return
        told = [node for node in told if again.leads(here, set(again.points(node)), exceptions=False)]
        if told:
            turn = self._turn(again, run, told, elsewhere)
            left = self._left(turn) if not elsewhere else ()
            yield from islice(chain(left, self._failed(turn), self._closed(turn)), 1)

    def _turn(self, again: Again, run: cst.Call, told: list[cst.CSTNode], elsewhere: bool) -> _Turn:
        function, module = again.function, self.anatomy.module
        same = self.late.told_alike(function, told)
        begins = {node for node in same if module.before(node, run)}  # of the next turn
        headers = [outer for node in told for outer in headers_of(module, node, run)]
        given_back = [] if elsewhere else self.late.given_back(function)
        next_turn = self.anatomy.points(function, [*begins, *self._loads(function, run)])
        ends = {again.graph.raises, again.graph.exit, *next_turn}
        tells = [*told, *(node for node in same if node not in begins)]
        return _Turn(again, run, told, tells, headers, {*self.anatomy.points(function, given_back)}, ends)

    def _left(self, turn: _Turn) -> Iterator[TurnEnd]:
        """By a `return` or `break` behind a tool's run, or in the handler of what fails there."""
        wished = [outer for outer in turn.headers if not self.places.about_calls(outer)]
        barred = {*self.anatomy.points(turn.again.function, [*turn.tells, *wished]), *turn.given_back}
        ran = [point for point in self._ran(turn.again.function) if point not in barred]
        found = left(turn.again, ran, barred)
        results = (node for node, place in self.late.results(self.anatomy, turn.again.function) if place is not None)
        if found is not None:
            yield TurnEnd(*found, next(results, turn.run), turn.told[-1])

    def _failed(self, turn: _Turn) -> Iterator[TurnEnd]:
        """By the error of a later request."""
        again, run, function = turn.again, turn.run, turn.again.function
        elsewhere = self.late.runs_tools(run)
        if elsewhere and not self.late.fails(run):
            return
        ends = turn.ends - (set() if elsewhere or self.anatomy.turns.escapes(run) else {again.graph.raises})
        telling = self._telling_results(function, run, turn.tells)
        kept = {*self.anatomy.points(function, [*telling, *turn.headers]), *turn.given_back}
        if fails_to(again, self.late.points(again, run), ends, kept):
            caught = (point for point in again.failed(run) if isinstance(point.statement, cst.ExceptHandler))
            ending = (point.statement for point in caught if again.leads([point], ends, kept, exceptions=False))
            way: Way = "run" if elsewhere else "request"
            yield TurnEnd(run, way, run, turn.told[-1], handler=next(ending, None))

    def _closed(self, turn: _Turn) -> Iterator[TurnEnd]:
        """By who reads a generator and stops."""
        again, run, function = turn.again, turn.run, turn.again.function
        barred = {*self.anatomy.points(function, [*turn.tells, *turn.headers]), *turn.given_back}
        done = self.anatomy.points(function, [run]) if self.late.runs_tools(run) else self._ran(function)
        done += [
            point for node in function.nodes_of(cst.Yield) if self._hands_out(node, run) for point in again.points(node)
        ]
        node = closed(again, done, barred, barred, turn.ends)
        if node is not None:
            yield TurnEnd(node, "yield", run, turn.told[-1])

    def _telling_results(self, function: Scope, run: cst.Call, told: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """Where what lasts may be told of results that were there before a request failed.

        Not where a handler tells of something else alone: that it has failed, or what another model says.
        """
        slots, own, base = self.anatomy.facts.slots, self.anatomy.module.self_name(function), ex.receiver(run)
        runner = slots.of(base) if base is not None and ex.dotted(base) != own else None
        kept = {*self.late.kept(run), *([runner] if runner is not None else [])}
        places = {part for slot in kept for part in whole_of(slot)}
        names, derived = self.late.held(function, places), self.places.derived
        given, joined = derived(function, run), function.nodes_of(cst.AugAssign)
        put = derived(function, run, put=True) - given  # what something was put into each time
        put |= {name for node in joined for name in ex.target_names(node.target) if name in given}
        local: list[Slot] = [("var", function, name) for name in put & function.bound]
        names |= {slot[2] for slot in local if self.lasting.keeps(self.anatomy.aliases.of(slot)) is None}
        caught = [each.name.name for each in function.nodes_of(cst.ExceptHandler) if each.name is not None]
        errors = {name for each in caught for name in ex.target_names(each)}
        sent = names_in(*run.args)
        for node in told:
            if not self.anatomy.module.in_handler(node):
                value = node.value if isinstance(node, cst.Assign) else node
                read = names_in(value) & given
                is_sent = bool(read) and read <= sent - names  # `talk = run(talk)`: where that fails, it is as it was
                yield from self._changes(function, read) if is_sent else (node,)
                continue
            parts = [part for part in walk(node) if isinstance(part, _PLACES)]
            alone = isinstance(node, cst.Call) and not node.args
            of_error = any(isinstance(part, cst.Attribute) and ex.dotted(part.value) in errors for part in parts)
            if alone or of_error or any(slots.of(part) in places or is_read(part, names) for part in parts):
                yield node

    def _changes(self, function: Scope, names: set[str]) -> Iterator[cst.CSTNode]:
        """Where names are bound, or what they stand for grows."""
        local = {("var", name) for name in names}
        for one in self.anatomy.transcript.stored(function):
            if one.slot is not None and one.kind in GROWING and (one.slot[0], one.slot[-1]) in local:
                yield one.node
        for node in function.nodes:
            if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
                bound = {name for target in ex.targets(node) for name in ex.target_names(target)}
                if bound & names:
                    yield node

    def _is_late(self, again: Again, here: list[Point]) -> bool:
        """Whether tools that the function runs itself have run when a request is made."""
        return again.leads(self._ran(again.function), set(here), exceptions=False)

    def _ran(self, function: Scope) -> list[Point]:
        """Where a function runs tools itself, or stores what they gave."""
        return self.anatomy.points(function, [node for node, _ in self.late.results(self.anatomy, function)])

    def _is_kept_here(self, function: Scope, run: cst.Call, told: list[cst.CSTNode]) -> bool:
        """Whether what lasts is told between a tool's run and the next request, or by what makes that."""
        if self.late.keeps_first(run):
            return True
        again, ran = Again(self.anatomy, function), self._ran(function)
        stored = self.anatomy.transcript.stored(function)
        keeps = [one.node for one in stored if self._may_keep(one, function)]
        same = self.late.told_alike(function, told)
        loops = [
            head for node in same for head in headers_of(self.anatomy.module, node, run) if _goes_through(head, node)
        ]
        kept = set(self.anatomy.points(function, [*keeps, *told, *same, *loops]))
        results = self.late.results(self.anatomy, function)
        put = set(self.anatomy.points(function, [node for node, place in results if place is not None]))
        old = {point for point in put if self._comes_past(again, set(ran) - {point}, point, kept)}
        new = [point for point in ran if point not in old]
        return not again.leads(new, set(again.points(run)), kept, exceptions=False) or bool(kept & set(ran))

    def _may_keep(self, one: Stored, function: Scope) -> bool:
        """Whether something is put where it may be there for the next turn: not where a name is bound to a new list."""
        base = ex.receiver(one.node) if isinstance(one.node, cst.Call) else None
        if one.slot is None or (one.slot[:2] == ("var", function) and one.kind == "rebind"):
            return False
        made = self.anatomy.definitions(base) if isinstance(base, cst.Name) else []
        is_own = bool(made) and all(each.value is not None and is_new(self.anatomy, each.value) for each in made)
        return not is_own and self.late.may_last(one.slot, function)

    def _comes_past(self, again: Again, ran: set[Point], point: Point, kept: set[Point]) -> bool:
        """Whether what tools gave before is kept by then, so that `talk.append(results)` puts there nothing new."""
        return again.leads(ran, {point}, exceptions=False) and not again.leads(ran, {point}, kept, exceptions=False)

    def _loads(self, function: Scope, run: cst.Call) -> list[cst.BaseExpression]:
        """What gives the history for a run: where it does so again, another turn begins."""
        return [turn.load for turn in self.anatomy.stored_turns.of(function) if turn.ask is run and turn.load]

    def _hands_out(self, node: cst.CSTNode, run: cst.Call) -> bool:
        """`yield from run(...)`: whether what a run yields is handed out, some of it behind a tool's result."""
        found = body(self.anatomy, run) if self.anatomy.module.parent[self.anatomy.module.parent[run]] is node else None
        if found is None:
            return False
        there, callee = found
        results = [result for result, _ in self.late.results(there, callee)]
        return isinstance(node, cst.Yield) and there.leads(callee, results, callee.nodes_of(cst.Yield))

    def _told(self, function: Scope, run: cst.Call) -> list[cst.CSTNode]:
        """Where what lasts is told of what a run gives, behind it."""
        names, again = self.places.derived(function, run), Again(self.anatomy, function)
        kept = (turn for turn in self.anatomy.stored_turns.of(function) if turn.ask is run and turn.load is not None)
        found: list[cst.CSTNode] = [save for turn in kept for save in turn.saves]
        stored = [one for one in self.anatomy.transcript.stored(function) if one.kind in _PUT]
        put = [(one.node, one.slot) for one in stored if one.slot is not None and mentions(names, one.node)]
        found += (save for node, slot in put for save in self._saved_with(function, run, node, slot))
        found += [
            node for node, slot in put if self.lasting.keeps(slot) is not None and self._is_sent(function, run, slot)
        ]
        for call in function.nodes_of(cst.Call):
            is_told = holds([arg.value for arg in call.args], run, names)
            store = store_of(self.anatomy, call, function) if is_told else None
            if store is not None and store.grows and (store.told or not again.follows(call, run, ())):
                found.append(call)
        for node in function.nodes_of(cst.Assign):
            found += [node] if mentions(names, node.value) and self._puts_back(function, node, run) else []
        inner = {part for node in found for part in walk(node) if part is not node}
        return [node for node in dict.fromkeys(found) if node not in inner and self._is_behind(node, run)]

    def _saved_with(self, function: Scope, run: cst.Call, node: cst.CSTNode, slot: Slot) -> Iterator[cst.Call]:
        """Where an object is saved, and read again, that got the talk which a run was given, and what that added."""
        root, made_of = root_object(slot), AskedWith(self.anatomy).made_of
        if slot != root and root[:2] == ("var", function) and isinstance(node, cst.Assign):
            sent = made_of(ex.handed(run), run, function).keys() & made_of([node.value], run, function).keys()
            if any(Kind.HISTORY in self.anatomy.facts.of(("var", function, name)) for name in sent):
                calls = (call for call in function.nodes_of(cst.Call) if mentions({root[2]}, *call.args))
                yield from filter(self.resources.is_read_again, calls)

    def _is_sent(self, function: Scope, run: cst.Call, slot: Slot) -> bool:
        """Whether a run is made with what lies in a place, or may look there itself: not what is there to be shown."""
        place = self.anatomy.aliases.of(slot)
        if (root := root_object(place))[0] != "var":
            return True
        made = AskedWith(self.anatomy).made_of(ex.handed(run), run, function)
        given = {path.partition("[")[0] for path in made if path not in self.anatomy.module.imports.full}
        given |= {describe(self.anatomy.aliases.of(("var", function, path))) for path in given}
        names = {describe(part) for each in (slot, place) for part in whole_of(each)}
        if not names.isdisjoint(given):
            return True
        found = body(self.anatomy, run)
        reach = found[0].calls.reachable(found[1]) if found is not None and found[0] is self.anatomy else ()
        return found is None or any(name.value == root[2] for here in reach for name in here.nodes_of(cst.Name))

    def _puts_back(self, function: Scope, node: cst.Assign, run: cst.Call) -> bool:
        """`talks[key] = messages`: whether something takes the place of what a run was given."""
        aliases, slots = self.anatomy.aliases, self.anatomy.facts.slots
        targets = (
            slots.of(target) for target in ex.targets(node) if isinstance(target, (cst.Attribute, cst.Subscript))
        )
        places = {aliases.of(slot) for slot in targets if slot is not None}
        lasting = {place for place in places if aliases.is_lasting(place, function)}
        given = [part for arg in run.args for part in walk(arg.value) if isinstance(part, cst.BaseExpression)]
        return bool(lasting) and any(
            (slot := slots.of(part)) is not None and aliases.of(slot) in lasting for part in given
        )

    def _is_behind(self, node: cst.CSTNode, run: cst.Call) -> bool:
        """Whether a place comes when a run is over: not in the loop over what it gives, or there for its last word."""
        module = self.anatomy.module
        loops = (outer for outer in module.ancestors(run) if isinstance(outer, cst.For))
        loop = next((loop for loop in loops if module.inside(run, loop.iter)), None)
        return loop is None or not module.inside(node, loop)

    def _is_kept_within(self, function: Scope, run: cst.Call, told: list[cst.CSTNode]) -> bool:
        """Whether the run itself tells what lasts of its results, as they come."""
        base = ex.receiver(run)
        if base is not None and self.anatomy.facts.slots.of(base) is None:
            return True
        if any(self.late.may_last(slot, function) for slot in self.late.kept(run)):
            return True
        made = self.resources.of(run).made
        rows = (node for node in told if isinstance(node, cst.Call))
        return any(not made.isdisjoint(self.resources.of(node).made) for node in rows) or self.late.stores(run)


def headers_of(module: SourceModule, node: cst.CSTNode, run: cst.Call) -> Iterator[cst.CSTNode]:
    """What stands around a place, and not around a run: the loop over what it gave; an `if` is a wish."""
    around = takewhile(lambda outer: not module.inside(run, outer), module.ancestors(node))
    return (outer for outer in around if isinstance(outer, (cst.If, cst.For, cst.While, cst.Match)))


def _goes_through(head: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a loop does something with each thing that it goes through, or with what it makes of that."""
    return isinstance(head, cst.For) and mentions(names_of_elements(head), node)
