"""Signals that a turn is done, given before its reply is stored: whoever waits for one may go on without it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.turns.locations import Place
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.obligations.open_ends import OpenEnds
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk

_STORES = re.compile(r"^_*(save|store|persist|append|add|record|write|insert|commit|remember|put)(_|$)", re.I)
_END_MARK = re.compile(r"(^|_)(DONE|END|EOF|EOS|SENTINEL|FINISHED|COMPLETE|STOP)(_|$)")
_END_WORDS = frozenset({"done", "end", "finished", "complete", "completed", "turn_end", "final", "[DONE]"})
_NO_END = re.compile(r"cancel|stop|abort|interrupt|shutdown|start|wake|new_|input|pause", re.I)
_MAKERS = {"set": "Event", "notify": "Condition", "notify_all": "Condition"}
_WHAT = {Kind.HISTORY, Kind.MESSAGE, Kind.REPLY, Kind.MODEL_TEXT}


Signal = cst.Call | cst.Assign


@record
class EarlySignal:
    """`node` gives the signal, the reply is stored at `stored`."""

    node: Signal
    stored: cst.CSTNode


def early_signals(anatomy: Anatomy) -> Iterator[EarlySignal]:
    """Those of all functions of a file that reach a model."""
    answers: Answers | None = None
    for function in anatomy.module.functions:
        if function.kind != "function" or not anatomy.calls.reaches_llm(function):
            continue
        signals = list(_signals(anatomy, function))
        if not signals or function.nodes_of(cst.Yield):
            continue
        answers = answers or Answers(anatomy.facts, anatomy.calls)
        turn = _Turn(anatomy, OpenEnds(anatomy, answers, function), function)
        for signal in signals:
            stored = turn.stored_after(signal)
            if stored is not None:
                yield EarlySignal(signal, stored)


class _Turn:
    """The paths of a function from its request to the store of the reply."""

    def __init__(self, anatomy: Anatomy, ends: OpenEnds, function: Scope) -> None:
        self.anatomy = anatomy
        self.function = function
        self.graph = anatomy.flow(function)
        self.asking = {p for p in self.graph.points if ends.asks(p)}
        self.storing: dict[Point, cst.CSTNode] = {}
        for write in anatomy.transcript.stored(function):
            if write.role in {None, "assistant"} and write.kind in {"append", "extend", "rebind", "insert"}:
                if write.slot is not None and ends.outlives(write.slot, function):
                    self._note(write.node)
        for node in function.nodes:
            if type(node) is cst.Call and isinstance(anatomy.module.parent.get(node), cst.Await) and self._saves(node):
                self._note(node)

    def _note(self, node: cst.CSTNode) -> None:
        for point in self.graph.enclosing(node, self.anatomy.module.parent):
            self.storing.setdefault(point, node)

    def _saves(self, call: cst.Call) -> bool:
        """`await store.save(chat_id, history)`."""
        if not _STORES.match(ex.called_name(call)) or ex.called_name(call).startswith("put"):
            return False
        return any(_WHAT & self.anatomy.facts.kinds(arg.value).keys() for arg in call.args)

    def stored_after(self, signal: Signal) -> cst.CSTNode | None:
        """The first store of the reply behind a signal, if none stands between the request and the signal."""
        found = self._stored_after(signal, self.storing) if isinstance(signal, cst.Call) and self.storing else None
        saved = (place for place in self._saved if found is None and self._is_read(place, signal))
        return next(filter(None, (self._stored_after(signal, self._saved[place]) for place in saved)), found)

    @cached_property
    def _saved(self) -> dict[Place, dict[Point, cst.CSTNode]]:
        """By place outside of the program where the history is written over: the points that do it."""
        found: dict[Place, dict[Point, cst.CSTNode]] = {}
        storage, parent = self.anatomy.storage, self.anatomy.module.parent
        for save in storage.saves(self.function):
            if any(storage.is_history(part) for part in walk(save.value) if isinstance(part, cst.BaseExpression)):
                points = found.setdefault(save.place, {})
                points.update((point, save.node) for point in self.graph.enclosing(save.node, parent))
        return found

    def _is_read(self, place: Place, signal: Signal) -> bool:
        """Whether what lies in a place is read by who is told by a signal, or by handlers that come then.

        Who waits for a queue to be done goes on to whatever becomes of it.
        """
        calls, scope_of = self.anatomy.calls, self.anatomy.module.scope_of
        if isinstance(signal, cst.Call) and ex.called_name(signal) == "task_done":
            return any(_waits_for(self.anatomy, signal, "join"))
        reads = self.anatomy.storage.reads(place)
        readers = {scope_of[node].function for node in reads} - {self.function}
        if isinstance(signal, cst.Assign):
            return any(not readers.isdisjoint(calls.reachable(test)) for test in _tests(self.anatomy, signal))
        served = (each for each in calls.servings if each is not self.function)
        return any(not readers.isdisjoint(calls.reachable(each)) for each in served) or any(
            self.anatomy.leads(function, [wait], [node])
            for wait in _waits_for(self.anatomy, signal, "wait")
            for function in [scope_of[wait].function]
            for node in (
                *(site.node for site in calls.calls[function] if readers & calls.reachable(site.callee)),
                *reads,
            )
            if scope_of[node].function is function
        )

    def _stored_after(self, signal: Signal, storing: dict[Point, cst.CSTNode]) -> cst.CSTNode | None:
        here = set(self.graph.enclosing(signal, self.anatomy.module.parent))
        if not self.asking or not here or here & set(storing):
            return None
        if not self.graph.reaches(self.asking, here, storing, exceptions=False):
            return None
        stored = self._first(here, storing)
        return None if stored is None or self._is_held_back(signal, stored) else stored

    def _is_held_back(self, signal: Signal, stored: cst.CSTNode) -> bool:
        """Whether who is notified goes on only when the block has ended in which the reply is stored, too."""
        base = self.anatomy.facts.slots.of(ex.receiver(signal))
        blocks = [outer for outer in self.anatomy.module.ancestors(signal) if isinstance(outer, cst.With)]
        return base is not None and any(
            self.anatomy.facts.slots.of(item.item) == base and self.anatomy.module.inside(stored, block)
            for block in blocks
            for item in block.items
        )

    def _first(self, starts: Iterable[Point], storing: dict[Point, cst.CSTNode]) -> cst.CSTNode | None:
        threads = not self.function.is_async
        seen = {(p, threads) for p in starts}
        queue = deque(seen)
        while queue:
            point, others_ran = queue.popleft()
            for target, kind in point.successors:
                ran = others_ran or _awaits(target)
                if kind in {"exception", "loop"} or target in self.asking or (target, ran) in seen:
                    continue
                if target in storing:
                    if ran:
                        return storing[target]
                    continue
                seen.add((target, ran))
                queue.append((target, ran))
        return None


def _awaits(point: Point) -> bool:
    return any(nodes_below(part, cst.Await) for part in point.expressions())


def _waits_for(anatomy: Anatomy, signal: cst.Call, how: str) -> Iterator[cst.Call]:
    """The waits for what a signal is given with."""
    slots, base = anatomy.facts.slots, ex.receiver(signal)
    for call in anatomy.module.nodes_of(cst.Call):
        if ex.called_name(call) == how and slots.of(ex.receiver(call)) == slots.of(base) is not None:
            yield call


def _places(anatomy: Anatomy, node: cst.BaseExpression) -> set[Slot]:
    """The lasting places that a part of something may be: `status` of what a name stands for."""
    base, name = ex.member(node) or (None, "")
    slot = anatomy.facts.slots.of(base)
    return {("member", place, name) for place in anatomy.aliases.may_be(slot)} if slot is not None else set()


def _tests(anatomy: Anatomy, signal: cst.Assign) -> Iterator[Scope]:
    """The handlers that compare what is set to a constant with that very constant: `if job["status"] != "done"`."""
    places, said = _places(anatomy, ex.targets(signal)[0]), ex.text(signal.value)
    for test in anatomy.module.nodes_of(cst.Comparison) if said is not None and places else ():
        left, _, right = ex.compared(test)
        function = anatomy.module.scope_of[test].function
        if ex.text(right) == said and function in anatomy.calls.servings and places & _places(anatomy, left):
            yield function


def _signals(anatomy: Anatomy, function: Scope) -> Iterator[Signal]:
    """What tells waiting threads or tasks, or handlers that are asked for it, that something is done."""
    if anatomy.calls.servings:
        yield from (node for node in function.nodes_of(cst.Assign) if any(_tests(anatomy, node)))
    for node in function.nodes_of(cst.Call):
        name, base = ex.called_name(node), ex.receiver(node)
        if base is None:
            continue
        told = name == "set_result" or (name in _MAKERS and not node.args and _is_made_by(anatomy, base, _MAKERS[name]))
        if told:
            if not _NO_END.search(ex.source(base, 60)) and _is_heard(anatomy, base, function):
                yield node
        else:
            ends = name in {"put", "put_nowait"} and len(node.args) == 1 and _is_end_mark(node.args[0].value)
            if ends or (name == "task_done" and not node.args):
                yield node


def _is_made_by(anatomy: Anatomy, base: cst.BaseExpression, name: str) -> bool:
    """Whether a value is an event or a condition of threads or tasks, made here or in the class."""
    values = anatomy.facts.values_of(base)
    return any(isinstance(value, cst.Call) and ex.called_name(value) == name for value in values)


def _is_heard(anatomy: Anatomy, base: cst.BaseExpression, function: Scope) -> bool:
    """Whether who waits for an event may go on with a history: of a function's own those know that it defines."""
    slot, parent = anatomy.facts.slots.of(base), anatomy.module.parent
    if slot is None or slot[:2] != ("var", function) or is_parameter(slot):
        return True
    names = anatomy.facts.names.get(slot, ())
    hearing = {anatomy.module.scope_of[name].function for name in names} - {function}
    is_handed = any(not isinstance(parent[name], (cst.Attribute, cst.AssignTarget)) for name in names)
    kinds = (anatomy.facts.kinds(node) for each in hearing for node in each.nodes_of(cst.Name, cst.Attribute))
    return is_handed or any(Kind.HISTORY in each for each in kinds) or any(map(anatomy.calls.reaches_llm, hearing))


def _is_end_mark(value: cst.BaseExpression) -> bool:
    """None, a constant called DONE or END, `{"type": "done"}`."""
    if isinstance(value, cst.Name) and value.value == "None":
        return True
    name = (ex.dotted(value) or "").rpartition(".")[2]
    if name.isupper() and _END_MARK.search(name):
        return True
    items = ex.dict_items(value)
    told = items.get("type") or items.get("event") or items.get("status")
    return (ex.text(told) if told is not None else ex.text(value)) in _END_WORDS
