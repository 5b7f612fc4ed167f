"""Messages of a turn that wait in a local list until they are handed to the history that lives on.

new = []                        # or a copy: `messages = list(self.history)`
... new.append(reply) ...       # round after round
self.history.extend(new)        # handed over: a path that leaves before this point loses the turn
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.keepers import givers
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.reply_places import is_store, stores_by_name
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.obligations.again import Again
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_NOT_YET = frozenset({"user", "system"})
_WHOLE = re.compile(
    r"append|save|store|record|remember|persist|extend|commit|upsert|histor|messages|turn|all|many|dump"
)
_HEADERS = frozenset({cst.If, cst.For, cst.While, cst.Match})
Way = Literal["leaves", "handler", "yield", "error"]


@record
class Unhanded:
    """A way out that passes by the hand-over: `leaves` is the statement or handler at which it goes wrong.

    On the way "error" that is the hand-over, and `handover` the request whose error does not come to it.
    """

    leaves: cst.CSTNode
    way: Way
    waiting: Slot
    stored: Stored
    handover: cst.CSTNode
    function: Scope


def unhanded_turns(anatomy: Anatomy) -> Iterator[Unhanded]:
    """For each waiting list of a file, a way on which it is lost; for generators also what is saved at their end."""
    search = _Search(anatomy)
    yielding = {anatomy.module.scope_of[node].function for node in anatomy.module.nodes_of(cst.Yield)}
    for function in anatomy.module.functions:
        if function.kind != "function":
            continue
        if anatomy.calls.reaches_llm(function):
            yield from search.of(function)
        if function in yielding:
            yield from search.saved_late(function)


def unawaited_stores(anatomy: Anatomy) -> Iterator[tuple[cst.Call, HistoryWrite]]:
    """Calls of coroutine functions of this file that write to a history, as statements without `await`."""
    for statement in anatomy.module.nodes_of(cst.Expr):
        call = statement.value
        callee = anatomy.facts.slots.callee(call) if type(call) is cst.Call else None
        if type(call) is not cst.Call or callee is None or not callee.is_async:
            continue
        if callee.nodes_of(cst.Yield):
            continue
        write = next((w for w in anatomy.writes.reached_from(callee) if _outlives(w, callee)), None)
        if write is not None:
            yield call, write


def _outlives(write: HistoryWrite, callee: Scope) -> bool:
    """A growing write to something that is not the callee's own."""
    root = root_object(write.slot)
    own = root[0] == "var" and root[1] is callee and root[2] not in {p.name.value for p in parameters(callee)}
    return write.kind in GROWING and not own


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.lasting = Lasting(anatomy)
        self._known_views: dict[Slot, set[Slot]] = {}

    def of(self, function: Scope) -> Iterator[Unhanded]:
        lists: dict[Slot, list[Stored]] = {}
        for one in self.anatomy.transcript.stored(function):
            if one.slot is not None and one.kind in GROWING and (one.role == "assistant" or one.answers):
                lists.setdefault(one.slot, []).append(one)
        for slot, stored in lists.items():
            if any(one.role == "assistant" for one in stored) and self._waits(slot, function):
                handovers = [n for n in function.nodes if self._hands_over(n, slot, function)]
                if handovers:
                    yield from self._lost(function, slot, stored, handovers)

    def _waits(self, slot: Slot, function: Scope) -> bool:
        """Whether a list is made in the function: empty, or as a copy of another."""
        if slot[0] != "var" or slot[1] is not function or slot[2] in {p.name.value for p in parameters(function)}:
            return False
        values = [part for value in self.anatomy.facts.assigned(slot) for part in ex.alternatives(value)]
        return bool(values) and all(isinstance(v, cst.List) or sources(v) for v in values)

    def _hands_over(self, node: cst.CSTNode, slot: Slot, function: Scope) -> bool:
        if isinstance(node, cst.Assign):
            target = node.targets[0].target
            return isinstance(target, (cst.Attribute, cst.Subscript)) and self._holds(node.value, slot)
        if isinstance(node, cst.AugAssign):
            return isinstance(node.target, (cst.Attribute, cst.Subscript)) and self._holds(node.value, slot)
        if type(node) is not cst.Call or is_logging(node) or self.anatomy.calls.asks(node):
            return False
        if not any(self._holds(arg.value, slot) for arg in node.args):
            return False
        base = ex.receiver(node)
        own = self.anatomy.facts.slots.of(base) if base is not None else None
        if own == slot or (own is not None and own[0] == "var" and own[1] is function and self._waits(own, function)):
            return False
        if own is not None and self._is_never_taken_from(own):
            return False
        if self.anatomy.facts.slots.callee(node) is not None:
            return self._callee_stores(node, slot)
        return stores_by_name(node) and (_WHOLE.search(ex.called_name(node)) is not None or is_store(base))

    def _is_never_taken_from(self, slot: Slot) -> bool:
        """Whether a list that this file makes is only added to, counted or searched: no turn begins with it."""
        facts, parent = self.anatomy.facts, self.anatomy.module.parent
        made = facts.assigned(slot)
        return slot[0] == "var" and bool(made) and all(isinstance(ex.inner(v), cst.List) for v in made) and not any(
            self._takes(parent[name], name) for name in facts.names.get(slot, ())
        )  # fmt: skip

    def _takes(self, outer: cst.CSTNode, name: cst.Name) -> bool:
        """Whether what stands around the name of a list may take something out of it."""
        if isinstance(outer, cst.Attribute):
            return outer.value is name and outer.attr.value not in GROWING
        if isinstance(outer, cst.Arg):
            call = self.anatomy.module.parent[outer]
            return not (isinstance(call, cst.Call) and ex.dotted(call.func) == "len")
        if isinstance(outer, cst.ComparisonTarget):
            return not isinstance(outer.operator, (cst.In, cst.NotIn))
        return not isinstance(outer, (cst.AssignTarget, cst.AnnAssign, cst.NameItem))

    def _callee_stores(self, call: cst.Call, slot: Slot) -> bool:
        """Whether a function of this file stores the list elsewhere: not one that only edits it."""
        views = self._views(slot)
        stored = self.anatomy.transcript.at(call)
        if any(one.slot is not None and one.slot not in views and one.kind != "cut" for one in stored):
            return True
        callee = self.anatomy.facts.slots.callee(call)
        assert callee is not None
        got = {s for s, value in self.anatomy.facts.slots.bindings(call, callee) if self._holds(value, slot)}
        for node in callee.nodes:
            if type(node) is cst.Call and stores_by_name(node) and not is_logging(node):
                if any(self._mentions(arg.value, got) for arg in node.args):
                    return self.anatomy.facts.slots.of(ex.receiver(node) or node) not in got
            elif isinstance(node, cst.Assign) and isinstance(node.targets[0].target, (cst.Attribute, cst.Subscript)):
                if self._mentions(node.value, got):
                    return True
        return False

    def _holds(self, value: cst.BaseExpression, slot: Slot) -> bool:
        """Whether a value is the list or made of it: a slice, a copy, a comprehension, also by another name."""
        views = self._views(slot)
        counted = {
            arg.value for n in walk(value) if type(n) is cst.Call and ex.dotted(n.func) == "len" for arg in n.args
        }
        names = (n for n in walk(value) if type(n) is cst.Name and n not in counted)
        return any(self.anatomy.facts.slots.of(name) in views for name in names)

    def _views(self, slot: Slot) -> set[Slot]:
        """The list, and local names that are bound to something made of it."""
        if slot not in self._known_views:
            views = {slot}
            for node in slot[1].nodes:
                if type(node) is cst.Assign and type(node.targets[0].target) is cst.Name:
                    if self._is_view(node.value, views):
                        target = self.anatomy.facts.slots.of(node.targets[0].target)
                        views.update({target} if target is not None else ())
            self._known_views[slot] = views
        return self._known_views[slot]

    def _is_view(self, value: cst.BaseExpression, views: set[Slot]) -> bool:
        """A slice, a copy or a selection of the list."""
        if isinstance(value, cst.ListComp):
            return self._is_view(value.for_in.iter, views)
        return self.anatomy.facts.slots.of(value) in views or any(self._is_view(s, views) for s in sources(value))

    def _mentions(self, value: cst.BaseExpression, slots: set[Slot]) -> bool:
        return any(type(n) is cst.Name and self.anatomy.facts.slots.of(n) in slots for n in walk(value))

    def _lost(
        self, function: Scope, slot: Slot, stored: list[Stored], handovers: list[cst.CSTNode]
    ) -> Iterator[Unhanded]:
        again = Again(self.anatomy, function)
        flow = self.anatomy.flow(function)
        starts = self.anatomy.points(function, [s.node for s in stored])
        ends = set(self.anatomy.points(function, handovers))
        if not again.leads(starts, ends, exceptions=False):
            return
        around, given_back = self._around(function, handovers, stored), self._given_back(function, slot)
        barred = ends | around | given_back
        path = again.path(starts, {flow.exit}, barred, exceptions=False)
        leaves = self._leaves(path, exceptions=False) if path is not None else None
        path = again.path(starts, {flow.exit}, barred) if path is None else None
        leaves = leaves or (self._leaves(path, exceptions=True) if path is not None else None)
        if leaves is not None:
            way: Way = "handler" if isinstance(leaves, cst.ExceptHandler) else "leaves"
            yield Unhanded(leaves, way, slot, stored[0], handovers[-1], function)
            return
        failing = self._failing_out(again, slot, stored, handovers, barred) if not around and not given_back else None
        if failing is not None:
            yield Unhanded(handovers[-1], "error", slot, stored[0], failing, function)
        elif any(type(node) is cst.Yield for node in function.nodes):
            yield from self._closed(function, slot, stored, handovers, barred)

    def _failing_out(
        self, again: Again, slot: Slot, stored: list[Stored], handovers: list[cst.CSTNode], barred: set[Point]
    ) -> cst.CSTNode | None:
        """A request that leaves the function by an error, after a tool has run whose result only waits in the list."""
        if self._kept_one_by_one(again.function, slot) or not any(map(self._begins_next_turn, handovers)):
            return None
        ran = self.anatomy.points(again.function, [s.node for s in stored if s.answers])
        for call in again.function.nodes_of(cst.Call):
            if not self.anatomy.calls.asks(call):
                continue
            asking = [p for p in again.points(call) if p not in barred]
            failed = {t for p in asking for t, kind in p.successors if kind == "exception"}
            if not asking or not again.leads(ran, set(asking), barred, exceptions=False):
                continue
            out = again.graph.raises
            if out in failed or again.graph.reaches([p for p in failed if p not in barred], out, barred):
                return call
        return None

    def _begins_next_turn(self, handover: cst.CSTNode) -> bool:
        """Whether what the list is handed to is what a turn begins with: it lives on, or gives a history."""
        facts = self.anatomy.facts
        targets = ex.targets(handover) if isinstance(handover, (cst.Assign, cst.AugAssign)) else []
        base = ex.receiver(handover) if isinstance(handover, cst.Call) else None
        for place in [*targets, *([base] if base is not None else [])]:
            slot = facts.slots.of(place)
            if slot is not None and self.lasting.keeps(slot) is not None and Kind.HISTORY in facts.of(slot):
                return True
            if slot is not None and slot in givers(self.anatomy):
                return True
        return isinstance(handover, cst.Call) and any(
            one.slot is not None and self.lasting.keeps(one.slot) is not None
            for one in self.anatomy.transcript.at(handover)
        )

    def _kept_one_by_one(self, function: Scope, slot: Slot) -> bool:
        """Whether the messages are also put where they last, each as it comes."""
        return any(
            one.slot != slot and (one.role == "assistant" or one.answers) and one.kind in GROWING
            and (one.slot is None or self.lasting.keeps(one.slot) is not None)
            for one in self.anatomy.transcript.stored(function)
        )  # fmt: skip

    def saved_late(self, function: Scope) -> Iterator[Unhanded]:
        """A generator that saves a history after its last `yield`: a consumer that stops early saves nothing."""
        grown: dict[Slot, list[Stored]] = {}
        for one in self.anatomy.transcript.stored(function):
            if one.slot is not None and one.slot[0] == "attr" and one.kind in GROWING and one.role not in _NOT_YET:
                grown.setdefault(one.slot, []).append(one)
        for slot, stored in grown.items():
            saves = [n for n in function.nodes if type(n) is cst.Call and self._saves(n, slot)]
            if saves:
                barred = set(self.anatomy.points(function, saves))
                yield from self._closed(function, slot, stored, saves, barred)

    def _saves(self, call: cst.Call, slot: Slot) -> bool:
        """`json.dump(self.messages, file)`, `store.save(self.messages)`."""
        if not any(self.anatomy.facts.slots.of(arg.value) == slot for arg in call.args):
            return False
        return not self.anatomy.calls.asks(call) and not is_logging(call) and stores_by_name(call)

    def _closed(
        self, function: Scope, slot: Slot, stored: list[Stored], saves: Sequence[cst.CSTNode], barred: set[Point]
    ) -> Iterator[Unhanded]:
        """The first `yield` after a stored message at which closing the generator passes by the save."""
        flow = self.anatomy.flow(function)
        starts = self.anatomy.points(function, [s.node for s in stored])
        ends = self.anatomy.points(function, saves)
        for node in function.nodes:
            if type(node) is not cst.Yield:
                continue
            here = [p for p in self.anatomy.points(function, [node]) if p not in barred]
            after = any(p in starts for p in here) or flow.reaches(starts, here, barred, exceptions=False)
            if here and after and flow.reaches(here, ends, exceptions=False):
                closed = {target for point in here for target, kind in point.successors if kind == "exception"} - barred
                if flow.raises in closed or flow.reaches(closed, flow.raises, barred, exceptions=False):
                    yield Unhanded(node, "yield", slot, stored[0], saves[-1], function)
                    return

    def _around(self, function: Scope, handovers: list[cst.CSTNode], stored: list[Stored]) -> set[Point]:
        """An `if` around a hand-over is the program's own wish; so is a loop over the messages."""
        module, found = self.anatomy.module, set()
        for node in handovers:
            for outer in module.ancestors(node):
                if outer is function.node:
                    break
                if type(outer) in _HEADERS and not any(module.inside(s.node, outer) for s in stored):
                    found.update(self.anatomy.flow(function).at(outer))
        return found

    def _given_back(self, function: Scope, slot: Slot) -> set[Point]:
        """Where a caller gets the list, or some function that may keep it."""
        parent = self.anatomy.module.parent
        ways_out = [node for node in function.nodes if isinstance(node, (cst.Return, cst.Raise, cst.Yield))]
        handed = [
            node
            for node in ways_out
            for name in walk(node)
            if type(name) is cst.Name and self.anatomy.facts.slots.of(name) == slot
            if not (isinstance(parent[name], cst.Subscript) and ex.slice_of(parent[name]) is None)  # `new[-1].content`
        ]
        return set(self.anatomy.points(function, handed))

    @staticmethod
    def _leaves(path: list[Point], exceptions: bool) -> cst.CSTNode | None:
        """The statement that leaves: the handler that the path takes, or the last jump on it."""
        statements = [point.statement for point in path if point.statement is not None]
        if exceptions:
            return next((s for s in reversed(statements) if isinstance(s, cst.ExceptHandler)), None)
        jumps = (cst.Return, cst.Break)
        return next((s for s in reversed(statements) if isinstance(s, jumps)), None)
