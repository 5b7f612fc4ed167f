"""Snapshots of a history that go stale: copies and views sent round after round while only the original grows.

Two shapes. In one function: a name is bound before the loop to something made of the history, the loop sends the name
and never renews it, and the history grows in the loop. Across a call: a snapshot is passed to a function whose loop
sends that parameter, while the messages go back to the original through a callback or a method of the same object.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.passing import Parameter, parameter_path, passed_arguments, resolved
from lint_rules.anatomy.messages.views import Views
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.rounds.waits import Waits, is_input
from lint_rules.anatomy.values.copies import Path, path_of
from lint_rules.anatomy.values.kinds import Evidence
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.stale_history_snapshot.sending import Loop, Sending
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class Stale:
    """A stale snapshot. `node` is the snapshot or the call that passes it, `grows` where the original grows.

    `loop` and `sends` may lie in `where`, another function or file.
    """

    node: cst.CSTNode
    name: str
    original: str
    evidence: Evidence
    loop: Loop
    sends: cst.CSTNode
    grows: cst.CSTNode
    where: Anatomy
    passed: bool


def stale_snapshots(anatomy: Anatomy) -> Iterator[Stale]:
    """All stale snapshots of a file."""
    if not anatomy.facts.histories():
        return
    calls: dict[Scope, list[cst.Call]] = {}
    for call in anatomy.module.nodes_of(cst.Call):
        if _may_run_rounds(anatomy, call):
            calls.setdefault(anatomy.module.scope_of[call].function, []).append(call)
    for function in anatomy.module.functions:
        if function.kind in {"function", "module"}:
            finder = _Finder(anatomy, function)
            if anatomy.calls.reaches_llm(function):
                yield from finder.in_loops()
            if function in calls:
                yield from finder.in_calls(calls[function])


def _may_run_rounds(anatomy: Anatomy, call: cst.Call) -> bool:
    """A cheap look at what a call runs: a function of this file that asks a model, or one of another file."""
    callee = anatomy.facts.slots.callee(call)
    if callee is not None:
        return anatomy.calls.reaches_llm(callee)
    return type(call.func) is cst.Name and call.func.value in anatomy.module.imports.origin


@record
class _Snapshot:
    node: cst.CSTNode
    value: cst.BaseExpression
    path: Path | None
    slot: Slot
    evidence: Evidence


class _Finder:
    """Looks for stale snapshots that are taken in one function."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.function = function
        self.views = Views(anatomy)

    # -- snapshots --------------------------------------------------------------------------------------------

    def snapshots(self) -> Iterator[_Snapshot]:
        """Assignments of something made of a history to a name, an attribute, or a key of a request."""
        target: cst.BaseExpression
        for node in self.function.nodes_of(cst.Assign, cst.AnnAssign):
            if type(node) is cst.Assign and len(node.targets) == 1:
                target, value = node.targets[0].target, node.value
            elif type(node) is cst.AnnAssign and node.value is not None:
                target, value = node.target, node.value
            else:
                continue
            path = path_of(target)
            fields = ex.dict_items(value) or (ex.made_of(value) if isinstance(value, cst.Call) else {})
            for key, part in [("", value), *fields.items()]:
                made = self.views.made_of(part)
                if made is not None and path is not None:
                    yield _Snapshot(node, part, (*path, key) if key else path, *made)

    # -- the same function ------------------------------------------------------------------------------------

    def in_loops(self) -> Iterator[Stale]:
        loops = self.function.nodes_of(cst.While, cst.For)
        for snapshot in self.snapshots() if loops else ():
            for loop in loops:
                if self._outside(snapshot.node, loop):
                    found = self._stale_in(snapshot, loop)
                    if found is not None:
                        yield found
                        break

    def _outside(self, node: cst.CSTNode, loop: Loop) -> bool:
        return self.module.before(node, loop) and not self.module.inside(node, loop)

    def _stale_in(self, snapshot: _Snapshot, loop: Loop) -> Stale | None:
        if snapshot.path is None or not _is_round_loop(self.anatomy, loop, self.function):
            return None
        sends = Sending(self.anatomy, self.function, loop).of(snapshot.path)
        if sends is None:
            return None
        grows = self._grows_in(loop, snapshot.slot)
        if grows is None or self._sends_live(loop, snapshot.slot) or not self._asks_again(grows, sends, snapshot.node):
            return None
        return Stale(
            snapshot.node, ".".join(snapshot.path), self._written(snapshot.value), snapshot.evidence,
            loop, sends, grows, self.anatomy, passed=False,
        )  # fmt: skip

    def _written(self, value: cst.BaseExpression) -> str:
        """The original of a view as the program writes it."""
        return ex.source(self.views.original(value), 40)

    def _sends_live(self, loop: Loop, slot: Slot) -> bool:
        """Whether another request of the loop holds the history itself: the model sees what has grown."""
        return any(
            self.facts.slots.of(node) == slot
            for call in self.anatomy.calls.calls_within(loop.body, self.function)
            if self.anatomy.calls.asks(call)
            for arg in call.args
            for node in walk(arg.value)
            if isinstance(node, (cst.Name, cst.Attribute))
        )

    def _asks_again(self, grows: cst.CSTNode, sends: cst.CSTNode, snapshot: cst.CSTNode) -> bool:
        """Whether a request follows the growth before the snapshot is taken anew; a retry leaves once it has grown."""
        renewal = self.anatomy.points(self.function, [snapshot])
        return self.anatomy.leads(self.function, [grows], [sends], renewal)

    def _grows_in(self, loop: Loop, slot: Slot) -> cst.CSTNode | None:
        """Where the original grows in a loop of this function: written there, or by what is called there."""
        writes = self.anatomy.writes
        direct = (write.node for write in writes.within(loop.body, self.function, slot) if write.kind in GROWING)
        calls = self.anatomy.calls.calls_within(loop.body, self.function)
        return next(direct, None) or next((call for call in calls if writes.grows(call, slot)), None)

    # -- across a call ----------------------------------------------------------------------------------------

    def in_calls(self, calls: list[cst.Call]) -> Iterator[Stale]:
        """Those that some calls of the function pass."""
        named = {snapshot.path: snapshot for snapshot in self.snapshots() if snapshot.path is not None}
        for call in calls:
            for parameter, value, given in passed_arguments(call):
                made = self._passed(value, named)
                if made is not None:
                    found = self._stale_callee(call, parameter, value, made, given)
                    if found is not None:
                        yield found

    def _passed(
        self, value: cst.BaseExpression, named: dict[Path, _Snapshot]
    ) -> tuple[Slot, Evidence, cst.BaseExpression] | None:
        direct = self.views.made_of(value)
        if direct is not None:
            return (*direct, self.views.original(value))
        path = path_of(value)
        snapshot = named.get(path) if path is not None else None
        if snapshot is None or not self._still_is(snapshot, value):
            return None
        return snapshot.slot, snapshot.evidence, self.views.original(snapshot.value)

    def _still_is(self, snapshot: _Snapshot, use: cst.BaseExpression) -> bool:
        """Whether a name still stands for the snapshot where it is passed: one of its definitions that reach there."""
        if not isinstance(use, cst.Name):
            return True
        return any(found.value is snapshot.value for found in self.anatomy.definitions(use))

    def _stale_callee(
        self,
        call: cst.Call,
        parameter: Parameter,
        value: cst.BaseExpression,
        made: tuple[Slot, Evidence, cst.BaseExpression],
        given: dict[Parameter, cst.BaseExpression],
    ) -> Stale | None:
        slots = self.facts.slots
        if slots.callee(call) is None and not any(
            slots.of(each) == made[0] or self._feeds(each, made[0]) for each in given.values()
        ):
            return None  # a function of another file adds only to a history of this one that it gets, or by a callback
        found = resolved(self.anatomy, call)  # may cost the analysis of a file
        if found is None:
            return None
        where, callee = found
        path = parameter_path(callee, parameter)
        if path is None:
            return None
        for loop in callee.nodes:
            if not isinstance(loop, (cst.While, cst.For)) or not _is_round_loop(where, loop, callee):
                continue
            sends = Sending(where, callee, loop).of(path)
            if sends is None:
                continue
            grows = self._grows_meanwhile(where, callee, loop, made[0], given)
            if grows is not None:
                return Stale(
                    call, ex.source(value, 40), ex.source(made[2], 40), made[1], loop, sends, grows, where, True
                )
        return None

    def _grows_meanwhile(
        self,
        where: Anatomy,
        callee: Scope,
        loop: Loop,
        slot: Slot,
        given: dict[Parameter, cst.BaseExpression],
    ) -> cst.CSTNode | None:
        """Where the original grows while the callee's loop runs: by its own object, as it is, or through a callback."""
        there = _Finder(where, callee)
        if where is self.anatomy:
            grown = there._grows_in(loop, slot)
            if grown is not None:
                return grown
        for parameter, value in given.items():
            path = parameter_path(callee, parameter)
            if path is not None and self._feeds(value, slot) and _calls_in(where, callee, loop, path):
                return value
            if path is not None and path[1:] == () and self.facts.slots.of(value) == slot:
                if there._grows_in(loop, where.facts.slots.parameter(callee, path[0])) is not None:
                    return value
        return None

    def _feeds(self, callback: cst.BaseExpression, slot: Slot) -> bool:
        """Whether a callback puts messages into the history: `h.append`, a method or lambda that appends to it."""
        if isinstance(callback, cst.Attribute) and callback.attr.value in {"append", "extend"}:
            return self.facts.slots.of(callback.value) == slot
        function = self.facts.slots.function(callback) if isinstance(callback, (cst.Name, cst.Attribute)) else None
        if isinstance(callback, cst.Lambda):
            function = self.module.own_scope[callback]
        if function is None:
            return False
        return any(w.slot == slot and w.kind in GROWING for w in self.anatomy.writes.reached_from(function))


# -- helpers --------------------------------------------------------------------------------------------------


def _is_round_loop(anatomy: Anatomy, loop: Loop, function: Scope) -> bool:
    """A loop whose rounds answer the model: not one over items that each get a request of their own."""
    calls = anatomy.calls.calls_within(loop.body, function)
    if Waits(anatomy.calls, anatomy.flow, is_input).in_each_round(loop, function) is not None:
        return False
    asking = [call for call in calls if anatomy.calls.asks(call)]
    if not asking:
        return False
    if isinstance(loop, cst.For) and not _counts(loop):
        return False
    return any(isinstance(n, (cst.Return, cst.Break, cst.Raise)) for n in walk(loop.body)) or isinstance(
        loop, cst.While
    )


def _counts(loop: cst.For) -> bool:
    """`for _ in range(n)`, `itertools.count()`: the loop numbers rounds; anything else gives each turn an item."""
    return isinstance(loop.iter, cst.Call) and ex.called_name(loop.iter) in {"range", "count", "repeat", "cycle"}


def _calls_in(anatomy: Anatomy, function: Scope, loop: Loop, path: Path) -> bool:
    """Whether the loop calls what `path` holds, or hands it to a function that does."""
    for call in anatomy.calls.calls_within(loop.body, function):
        if path_of(call.func) == path:
            return True
        if any(path_of(arg.value) == path for arg in call.args):
            return True
    return False
