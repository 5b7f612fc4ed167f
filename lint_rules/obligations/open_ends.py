"""Whether a conversation goes on after a point of a function: the model is asked again, or the history lives on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.cuts.fates import lasting_parts
from lint_rules.anatomy.frameworks import SESSION_KEEPERS
from lint_rules.anatomy.messages.carriers import Carriers
from lint_rules.anatomy.messages.classes import given_elsewhere, given_when_made
from lint_rules.anatomy.messages.sent import what_is_made
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_method, is_parameter, root_object
from lint_rules.obligations.again import Again
from lint_rules.obligations.moves import Move, Moves
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Graph, Point
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk_scope

_FRESH = frozenset({"list", "copy", "deepcopy", "deque", "dict"})
_TAKES_OUT = re.compile(r"rollback|delete|remove|clear|discard|undo|reset|pop|truncate|expunge", re.I)
"""What functions are called that take rows away, or never write them."""

REFUSED = "the next request is refused"
BROKEN = "the stored history stays broken: the next turn is refused"
"""How a conversation goes on."""


class OpenEnds:
    """Questions about what comes after a function's points, for its histories."""

    def __init__(self, anatomy: Anatomy, answers: Answers, function: Scope) -> None:
        self.anatomy = anatomy
        self.answers = answers
        self.function = function
        self.stored = [s for s in anatomy.transcript.stored(function) if s.calls is not None or s.answers]
        outside = {s.node for s in anatomy.kept_elsewhere.of(function)}
        kept = {s.slot for s in self.stored if s.write is not None or s.node in outside}
        self.histories: set[Slot] = {slot for slot in kept if slot is not None}
        self._elsewhere = any(s.slot is None for s in self.stored)
        self._mends: dict[Point, bool] = {}
        self._takes_back: dict[Point, bool] = {}

    @cached_property
    def graph(self) -> Graph:
        return self.anatomy.flow(self.function)

    @cached_property
    def stores(self) -> set[Point]:
        """Points that store a message with calls."""
        places = [s.node for s in self.stored if s.calls is not None and not s.answers]
        return {p for node in places for p in self.graph.enclosing(node, self.anatomy.module.parent)}

    def asks(self, point: Point) -> bool:
        """Whether a point asks the model."""
        return point in self.asking

    @cached_property
    def asking(self) -> set[Point]:
        return {p for call in self._requests for p in self.graph.enclosing(call, self.anatomy.module.parent)}

    @cached_property
    def _requests(self) -> list[cst.Call]:
        asked = (call for call in self.function.nodes_of(cst.Call) if self.anatomy.calls.asks_here(call))
        return [call for call in asked if not self._sends_another(call)]

    def _sends_another(self, call: cst.Call) -> bool:
        """Whether a request sends a list that this function makes of none of the histories: another talk."""
        ask = self.anatomy.facts.calls.get(call)
        history = ask.history if ask is not None and self.histories else None
        if history is None or self.anatomy.facts.slots.of(history) in self.histories:
            return False
        if not all(map(self._is_made_here, self.histories)):
            return False
        sent = what_is_made(self.anatomy, [history])
        apart = sent.slots.isdisjoint(self.histories) and all(map(self._is_made_here, sent.slots))
        return apart and not any(isinstance(node, cst.Call) for node in sent.nodes)

    def _is_made_here(self, slot: Slot) -> bool:
        return slot[:2] == ("var", self.function) and not is_parameter(slot)

    def mends(self, point: Point) -> bool:
        """Whether a point may give answers after all, or takes the message with the calls out of the history."""
        found = self._mends.get(point)
        if found is None:
            found = self._mends[point] = self._may_mend(point)
        return found

    def _may_mend(self, point: Point) -> bool:
        if self.answers.at(point) or self.takes_back(point):
            return True
        if isinstance(point.statement, cst.For):  # over the calls that are left: the loop as a whole
            inside = list(walk_scope(point.statement.body))
            asks = any(type(node) is cst.Call and self.anatomy.calls.asks_here(node) for node in inside)
            return not asks and any(self.answers.at(within) for within in self.graph.within(inside))
        return False

    def takes_back(self, point: Point) -> bool:
        """Whether a point cuts the history, or runs what puts its calls and results together."""
        found = self._takes_back.get(point)
        if found is None:
            found = self._takes_back[point] = self._may_take_back(point)
        return found

    def _may_take_back(self, point: Point) -> bool:
        for part in point.expressions():
            for node in walk_scope(part):
                if type(node) is cst.Call and (
                    self.anatomy.mending.at(node, self.histories)
                    or self._drops_the_newest(node)
                    or self._is_taken_out(node)
                ):
                    return True
        if point.statement not in self._around_cuts or point.statement in self._around_requests:
            return False  # a loop around the rounds may cut, too
        return not isinstance(point.statement, cst.If) or self._asks_how_far(point.statement.test)

    @cached_property
    def _around_cuts(self) -> set[cst.CSTNode | None]:
        """The statements that cut the history, and those around them: not `if line == "undo": h.pop()`."""
        return self._around(self._cuts)

    @cached_property
    def _around_requests(self) -> set[cst.CSTNode | None]:
        return self._around(self._requests)

    def _around(self, nodes: Iterable[cst.CSTNode]) -> set[cst.CSTNode | None]:
        return {outer for node in nodes for outer in (node, *self.anatomy.module.ancestors(node))}

    def _asks_how_far(self, test: cst.BaseExpression) -> bool:
        """Whether a test is about the history, or about what was marked on the way: `if len(h) > n`, `if stored`."""
        facts = self.anatomy.facts
        slots = {facts.slots.of(node) for node in walk_scope(test) if isinstance(node, cst.BaseExpression)} - {None}
        return any(slot in self.histories or any(map(_is_mark, facts.assigned(slot))) for slot in slots)

    def _drops_the_newest(self, call: cst.Call) -> bool:
        """Whether a function of this file takes the last messages away: the calls go with the results they have got."""
        callee = self.anatomy.facts.slots.callee(call)
        reached = self.anatomy.writes.reached_from(callee) if callee is not None else ()
        return any(write.slot in self.histories and _is_end_cut(write) for write in reached)

    def _is_taken_out(self, call: cst.Call) -> bool:
        """`session.rollback()`, `store.delete_last(key)`, where the message is in that, or outside of the program."""
        name, base = ex.called_name(call), ex.receiver(call)
        if name == "rollback" and base is not None and self.anatomy.facts.slots.of(base) in self.histories:
            return True
        return _TAKES_OUT.search(name) is not None and any(slot[0] == "outside" for slot in self.histories)

    @cached_property
    def _cuts(self) -> list[cst.CSTNode]:
        writes = self.anatomy.writes.by_function[self.function]
        cuts = (w.node for w in writes if w.kind in {"cut", "replace"} and w.slot in self.histories)
        return [node for node in cuts if not self._is_of_questions(node)]

    def _is_of_questions(self, cut: cst.CSTNode) -> bool:
        """`if h[-1]["role"] == "user": h.pop()`: behind a reply with open calls there is no question."""
        for outer in self.anatomy.module.ancestors(cut):
            if isinstance(outer, cst.If) and self.anatomy.module.inside(cut, outer.body):
                tests = (node for node in walk_scope(outer.test) if isinstance(node, cst.Comparison))
                if any(self._asks_for_question(test) for test in tests):
                    return True
        return False

    def _asks_for_question(self, test: cst.Comparison) -> bool:
        left, operator, right = ex.compared(test)
        pair = ex.member(left)
        last = ex.inner(pair[0]) if pair is not None and pair[1] == "role" else None
        at = ex.index(last) if isinstance(last, cst.Subscript) else None
        if at is None or not isinstance(last, cst.Subscript) or ex.integer(at) != -1:
            return False
        same = self.anatomy.facts.slots.of(last.value) in self.histories
        return same and isinstance(operator, cst.Equal) and ex.text(right) == "user"

    def saves(self, points: Iterable[Point]) -> bool:
        """Whether one of some points writes a history, as it is, to where the next turn reads it."""
        return not self._saving.isdisjoint(points)

    @cached_property
    def _saving(self) -> set[Point]:
        """Points that put a whole history where one is read from: `save(key, talk)`, `self.talk = talk`."""
        carriers, kept = Carriers(self.anatomy.facts), self.anatomy.kept_elsewhere
        given = (c for c in self.function.nodes_of(cst.Call) if c.args and carriers.of_all(c) & self.histories)
        saves = [call for call in given if kept.keeps_whole(call, self.function)]
        return {*self.anatomy.points(self.function, saves), *self.put_back}

    @cached_property
    def put_back(self) -> set[Point]:
        """Points where a list takes the place of one that lives on: `self.talk = talk`."""
        puts = (w for w in self.anatomy.writes.by_function[self.function] if w.kind == "rebind" and w.slot[0] == "attr")
        return {*self.anatomy.points(self.function, [w.node for w in puts if self._is_whole(w.value)])}

    def _is_whole(self, value: cst.BaseExpression | None) -> bool:
        """Whether a value is a history of the function, or a copy of all of it."""
        parts = [*ex.alternatives(value)] if value is not None else []
        parts += [source for part in parts if isinstance(part, cst.Call) for source in sources(part)]
        return any(self.anatomy.facts.slots.of(part) in self.histories for part in parts)

    def holding(self, points: Sequence[Point]) -> set[Slot]:
        """The histories that the message with the calls is in at some points: stored before, or not here."""
        return {
            slot for slot in self.histories
            if slot not in self._stored_before or not self._stored_before[slot].isdisjoint(points)
        }  # fmt: skip

    @cached_property
    def _stored_before(self) -> dict[Slot | None, set[Point]]:
        """The points that come behind a store of calls, as far as the next request, by history."""
        places: dict[Slot | None, list[cst.CSTNode]] = {}
        for each in self.stored:
            if each.calls is not None and not each.answers:
                places.setdefault(each.slot, []).append(each.node)
        return {slot: self._behind(self.anatomy.points(self.function, nodes)) for slot, nodes in places.items()}

    def _behind(self, starts: Sequence[Point]) -> set[Point]:
        seen, queue, asking = set(starts), list(starts), self.asking.difference(starts)
        while queue:
            for target, kind in queue.pop().successors:
                if kind != "exception" and target not in seen:
                    seen.add(target)
                    queue += [] if target in asking else [target]
        return seen

    def outlives(self, slot: Slot, function: Scope, depth: int = 0, *, surely: bool = False) -> bool:
        """Whether a history is there after the function has ended."""
        kind = slot[0]
        if kind in {"attr", "outside"} or self.keeper(slot) is not None:
            return True
        if kind in {"member", "item"}:
            return _is_one_of_many(slot) or self.outlives(slot[1], function, depth, surely=surely)
        if kind == "return":
            return self.anatomy.aliases.lasts(slot)
        if kind != "var":
            return bool(kind == "call")
        owner: Scope = slot[1]
        if owner.kind == "module":
            return function.kind != "module"
        if owner is not function and not function.within(owner):
            return True
        if any(slot == self.anatomy.facts.slots.parameter(owner, p.name.value) for p in parameters(owner)):
            return self._callers_keep(slot, owner, depth, surely)
        values = [(value, owner) for value in self.anatomy.facts.assigned(slot)]
        values += self.anatomy.aliases.given_back(slot) if depth < DEEPEST else []
        kept = any(self._is_kept(value, of, depth) for value, of in values) or self._is_moved(slot, owner, depth)
        return kept or self._is_given_on(slot, owner)

    def _is_given_on(self, slot: Slot, owner: Scope) -> bool:
        """Whether those that call a function store or send a list of its own that it gives them, maybe in an object."""
        slots, given = self.anatomy.facts.slots, set[str]()
        for part in (part for value in owner.returned for part in ex.alternatives(value)):
            held = given_when_made(self.anatomy, part) if isinstance(part, cst.Call) else ()
            given |= {name[2] for _, name, value in held if slots.of(value) == slot}
            given |= {""} if slots.of(part) == slot else set()
        told = (e for e in self.anatomy.handed if given and e.what == "part" and e.owner == owner.qualname)
        sites = self.anatomy.calls.sites[owner] if given else ()
        return any(e.inside in given for e in told) or any(
            not given.isdisjoint(lasting_parts(self.anatomy, site.node)) for site in sites
        )

    def keeper(self, slot: Slot) -> str | None:
        """The framework in whose object a history lies, and is there whatever becomes of the run."""
        root, module = root_object(slot), self.anatomy.module
        if root == slot or root[0] != "var" or root[1] is not module.top:
            return None
        return SESSION_KEEPERS.get(module.imports.full.get(root[2], "").partition(".")[0])

    def _is_moved(self, slot: Slot, owner: Scope, depth: int) -> bool:
        """Whether all messages of a local list are put into one that lives on."""
        if depth > DEEPEST or owner is not self.function:
            return False
        slots = self.anatomy.facts.slots
        return any(
            slots.of(chosen_from(move.source)) == slot
            and move.target != slot
            and self.outlives(move.target, owner, depth + 1)
            for move in self._moves
        )

    @cached_property
    def _moves(self) -> list[Move]:
        return list(Moves(Again(self.anatomy, self.function)).all())

    def _is_kept(self, value: cst.BaseExpression, owner: Scope, depth: int) -> bool:
        """Whether a local name is bound to something that exists elsewhere: `self.messages`, `session.get("log")`."""
        for part in ex.alternatives(value):
            if isinstance(part, cst.Call) and ex.called_name(part) in {"get", "setdefault"}:
                return True
            inside = self.anatomy.facts.slots.of(part)
            if inside is not None and inside[0] == "call" and inside[1] is part:
                inside = given_elsewhere(self.anatomy, part)
            if inside is not None and depth < DEEPEST and inside[0] != "call":
                if self.outlives(inside, owner, depth + 1):
                    return True
        return False

    def _callers_keep(self, slot: Slot, owner: Scope, depth: int, surely: bool) -> bool:
        """Whether the callers in this file keep the list that they pass, or one in another; unknown callers do."""
        if depth > DEEPEST:
            return False
        sites = [site for site in self.anatomy.calls.sites[owner] if site.caller is not owner]
        if not sites:
            told = any(each.kept for each in self.anatomy.contents.handed.get(slot, ()))
            return told or (not surely and (not owner.name.startswith("_") or is_method(owner)))
        kept = False
        for site in sites:
            for target, value in self.anatomy.facts.slots.bindings(site.node, owner):
                if target == slot:
                    kept = kept or self._is_kept_by(value, site, depth, surely)
        return kept

    def _is_kept_by(self, value: cst.BaseExpression, site: CallSite, depth: int, surely: bool) -> bool:
        for part in ex.alternatives(value):
            if isinstance(part, cst.Call) and (ex.called_name(part) in _FRESH or self._is_begun(part)):
                continue
            inside = self.anatomy.facts.slots.of(part)
            if inside is not None and self.outlives(inside, site.caller, depth + 1, surely=surely):
                return True
            if inside is not None and self._is_handed_again(root_object(inside), site):
                return True
        return False

    def _is_begun(self, call: cst.Call) -> bool:
        """`Talk()`: an object that is made for this run, of nothing that was there."""
        return not call.args and self.anatomy.facts.slots.constructed(call) is not None

    def _is_handed_again(self, root: Slot, site: CallSite) -> bool:
        """Whether a caller goes round with an object that it has: `while True: talk.append(input()); run(talk)`."""
        module = self.anatomy.module
        for loop in module.ancestors(site.node):
            if loop is site.caller.node:
                break
            if isinstance(loop, (cst.For, cst.While)) and root[0] == "var":
                bound = self.anatomy.reaching(site.caller).by_name.get(root[2], [])
                places = (each.point.statement for each in bound)
                return not any(place is not None and module.inside(place, loop) for place in places)
        return False


def _is_one_of_many(slot: Slot) -> bool:
    """`bot.talks[key]`, of an object that a caller has: for one run alone there would be one."""
    return slot[0] == "item" and slot[1][0] == "member" and is_parameter(root_object(slot))


def _is_mark(value: cst.BaseExpression) -> bool:
    """`True`, `None`, `0`, `len(h)`."""
    counts = isinstance(value, cst.Call) and ex.called_name(value) == "len"
    return counts or ex.dotted(value) in {"True", "False", "None"} or ex.integer(value) is not None


def chosen_from(value: cst.BaseExpression) -> cst.BaseExpression:
    """`turn` of `[m for m in turn if ...]`."""
    value = ex.inner(value)
    return value.for_in.iter if isinstance(value, (cst.ListComp, cst.GeneratorExp)) else value


def _is_end_cut(write: HistoryWrite) -> bool:
    """`h = h[:n]`, `del h[n:]`, `h[n:] = []`, `h.pop()`: the oldest messages stay, the newest do not."""
    node, kept = write.node, ex.slice_of(write.value) if write.value is not None else None
    if write.kind == "rebind":
        return kept is not None and kept.lower is None and kept.upper is not None and kept.step is None
    if isinstance(node, cst.Call):
        return ex.called_name(node) == "pop" and all(ex.integer(arg.value) == -1 for arg in node.args)
    target = (
        node.target if isinstance(node, cst.Del) else node.targets[0].target if isinstance(node, cst.Assign) else None
    )
    gone = ex.slice_of(target) if target is not None else None
    return gone is not None and gone.lower is not None and gone.upper is None and write.kind in {"cut", "replace"}
