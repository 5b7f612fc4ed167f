"""Signals that a turn is done, given before its reply is stored: whoever waits for one may go on without it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.obligations.open_ends import OpenEnds
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below

_STORES = re.compile(r"^_*(save|store|persist|append|add|record|write|insert|commit|remember|put)(_|$)", re.I)
_END_MARK = re.compile(r"(^|_)(DONE|END|EOF|EOS|SENTINEL|FINISHED|COMPLETE|STOP)(_|$)")
_END_WORDS = frozenset({"done", "end", "finished", "complete", "completed", "turn_end", "final", "[DONE]"})
_NO_END = re.compile(r"cancel|stop|abort|interrupt|shutdown|start|wake|new_|input|pause", re.I)
_WHAT = {Kind.HISTORY, Kind.MESSAGE, Kind.REPLY, Kind.MODEL_TEXT}


@record
class EarlySignal:
    """`node` gives the signal, the reply is stored at `stored`."""

    node: cst.Call
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

    def stored_after(self, signal: cst.Call) -> cst.CSTNode | None:
        """The first store of the reply behind a signal, if none stands between the request and the signal."""
        here = set(self.graph.enclosing(signal, self.anatomy.module.parent))
        if not self.asking or not here or here & set(self.storing):
            return None
        if not self.graph.reaches(self.asking, here, self.storing, exceptions=False):
            return None
        return self._first(here)

    def _first(self, starts: Iterable[Point]) -> cst.CSTNode | None:
        threads = not self.function.is_async
        seen = {(p, threads) for p in starts}
        queue = deque(seen)
        while queue:
            point, others_ran = queue.popleft()
            for target, kind in point.successors:
                ran = others_ran or _awaits(target)
                if kind in {"exception", "loop"} or target in self.asking or (target, ran) in seen:
                    continue
                if target in self.storing:
                    if ran:
                        return self.storing[target]
                    continue
                seen.add((target, ran))
                queue.append((target, ran))
        return None


def _awaits(point: Point) -> bool:
    return any(nodes_below(part, cst.Await) for part in point.expressions())


def _signals(anatomy: Anatomy, function: Scope) -> Iterator[cst.Call]:
    """Calls that tell waiting threads or tasks that something is done."""
    for node in function.nodes_of(cst.Call):
        name, base = ex.called_name(node), ex.receiver(node)
        if base is None:
            continue
        if name == "set_result" or (name == "set" and not node.args and _is_event(anatomy, base)):
            if not _NO_END.search(ex.source(base, 60)):
                yield node
        elif name in {"put", "put_nowait"} and len(node.args) == 1 and _is_end_mark(node.args[0].value):
            yield node


def _is_event(anatomy: Anatomy, base: cst.BaseExpression) -> bool:
    """Whether a value is an event of threads or tasks: made by `Event()`, here or in the class."""
    values = anatomy.facts.values_of(base)
    return any(isinstance(value, cst.Call) and ex.called_name(value) == "Event" for value in values)


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
