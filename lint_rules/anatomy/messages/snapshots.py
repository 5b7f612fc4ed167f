"""Snapshots of a history that go stale: copies and views sent round after round while only the original grows.

Two shapes. In one function: a name is bound before the loop to something made of the history, the loop sends the name
and never renews it, and the history grows in the loop. Across a call: a snapshot is passed to a function whose loop
sends that parameter, while the messages go back to the original through a callback or a method of the same object.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.sending import Loop, Sending
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.copies import Path, path_of
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_RENDERERS = frozenset({"dumps", "join", "deepcopy", "copy", "list", "tuple", "str", "sorted", "model_copy"})


@dataclass(frozen=True, eq=False, slots=True)
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
    for function in anatomy.module.functions:
        if function.kind in {"function", "module"}:
            finder = _Finder(anatomy, function)
            yield from finder.in_loops()
            yield from finder.in_calls()


@dataclass(frozen=True, eq=False, slots=True)
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
            for key, part in [("", value), *ex.dict_items(value).items()]:
                made = self.made_of(part)
                if made is not None and path is not None:
                    yield _Snapshot(node, part, (*path, key) if key else path, *made)

    def made_of(self, value: cst.BaseExpression) -> tuple[Slot, Evidence] | None:
        """The history that `value` is a copy or view of; None when it is the live list, or none."""
        value = ex.inner(value)
        if isinstance(value, cst.Dict):
            return None
        source = self._copied(value)
        if source is None:
            return None
        slot = self.facts.slots.of(source)
        evidence = self.facts.kinds(source).get(Kind.HISTORY)
        if slot is None or evidence is None or slot[0] in {"call", "return"}:
            return None
        return slot, evidence

    def _copied(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        if type(value) is cst.Subscript:
            return value.value if ex.slice_of(value) is not None else None
        if type(value) is cst.ListComp or type(value) is cst.GeneratorExp:
            return _bare(value.for_in.iter)
        if type(value) is cst.List:
            return self._growing([e.value for e in value.elements if type(e) is cst.StarredElement])
        if type(value) is cst.BinaryOperation and type(value.operator) is cst.Add:
            return self._growing([value.left, value.right])
        if type(value) is cst.Call:
            return self._called(value)
        return None

    def _called(self, call: cst.Call) -> cst.BaseExpression | None:
        """`list(h)`, `h.copy()`, `json.dumps(h)`, and functions of this file that make a new list of what they get."""
        name, base = ex.called_name(call), ex.receiver(call)
        given = ex.positional(call)
        if name in {"copy", "model_copy"} and base is not None and not given:
            return base
        if name in _RENDERERS and given:
            inside = given[0]
            if isinstance(inside, (cst.GeneratorExp, cst.ListComp)):
                return _bare(inside.for_in.iter)
            return _bare(inside)
        callee = self.facts.slots.callee(call)
        if callee is None or callee.name == "__init__":
            return None
        for slot, value in self.facts.slots.bindings(call, callee):
            if self.facts.is_kind(value, Kind.HISTORY) and path_of(value) and self._renews(callee, slot):
                return value
        return None

    def _growing(self, parts: list[cst.BaseExpression]) -> cst.BaseExpression | None:
        """Of the histories that a list is put together from, the one that is written anywhere, else the first."""
        found = []
        for part in parts:
            bare = _bare(part)
            inside = bare if path_of(bare) is not None else self._copied(bare) or self._handed_through(bare)
            if inside is not None and self.facts.is_kind(inside, Kind.HISTORY):
                found.append(inside)
        slots = {part: self.facts.slots.of(part) for part in found}
        grown = [p for p in found if any(w.kind in GROWING for w in self.anatomy.writes.by_slot.get(slots[p], ()))]  # type: ignore[arg-type]
        return next(iter(grown + found), None)

    def _handed_through(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The history that a function of this file gets and gives back, whole or in part."""
        callee = self.facts.slots.callee(node) if isinstance(node, cst.Call) else None
        for slot, value in self.facts.slots.bindings(node, callee) if callee is not None else ():  # type: ignore[arg-type]
            returned = [n.value for n in callee.nodes_of(cst.Return) if n.value is not None]  # type: ignore[union-attr]
            parts = [_bare(part) for whole in returned for part in ex.alternatives(whole)]
            if any(self.facts.slots.of(part) == slot for part in parts):
                return value
        return None

    def _renews(self, callee: Scope, parameter: Slot) -> bool:
        """Whether a function of this file returns a list of its own, never the one it got, nor one it keeps."""
        returned = [n.value for n in callee.nodes_of(cst.Return) if n.value is not None]
        slots = [self.facts.slots.of(value) for value in returned]
        own = [s for s in slots if s is not None and s[0] == "var" and s[1] is callee and s != parameter]
        made = [v for v in returned if isinstance(v, (cst.List, cst.ListComp, cst.BinaryOperation))]
        return bool(own or made) and not any(s is not None and s[0] == "attr" for s in slots)

    # -- the same function ------------------------------------------------------------------------------------

    def in_loops(self) -> Iterator[Stale]:
        snapshots = list(self.snapshots())
        if not snapshots:
            return
        loops = self.function.nodes_of(cst.While, cst.For)
        for snapshot in snapshots:
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
            snapshot.node, ".".join(snapshot.path), ex.source(self._original(snapshot.value), 40), snapshot.evidence,
            loop, sends, grows, self.anatomy, passed=False,
        )  # fmt: skip

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
        flow = self.anatomy.flow(self.function)
        starts, goals = flow.enclosing(grows, self.module.parent), flow.enclosing(sends, self.module.parent)
        renewal = flow.enclosing(snapshot, self.module.parent)
        return any(flow.reaches(start, goal, renewal) for start in starts for goal in goals)

    def _original(self, value: cst.BaseExpression) -> cst.BaseExpression:
        return self._copied(ex.inner(value)) or value

    def _grows_in(self, loop: Loop, slot: Slot) -> cst.CSTNode | None:
        """Where the original grows in a loop of this function: written there, or by what is called there."""
        for write in self.anatomy.writes.within(loop.body, self.function, slot):
            if write.kind in GROWING:
                return write.node
        for call in self.anatomy.calls.calls_within(loop.body, self.function):
            if self.anatomy.writes.grows(call, slot) is not None:
                return call
            if self._is_grown_parameter(call, slot):
                return call
        return None

    def _is_grown_parameter(self, call: cst.Call, slot: Slot) -> bool:
        """`store(history, message)`: a function of this file that appends to the list it gets."""
        callee = self.facts.slots.callee(call)
        if callee is None:
            return False
        return any(
            self.facts.slots.of(value) == slot
            and any(w.kind in GROWING and w.function is callee for w in self.anatomy.writes.by_slot[parameter])
            for parameter, value in self.facts.slots.bindings(call, callee)
        )

    # -- across a call ----------------------------------------------------------------------------------------

    def in_calls(self) -> Iterator[Stale]:
        named = {snapshot.path: snapshot for snapshot in self.snapshots() if snapshot.path is not None}
        for call in self.function.nodes_of(cst.Call):
            for parameter, value, given in passed_arguments(call):
                made = self._passed(value, named)
                if made is not None:
                    found = self._stale_callee(call, parameter, value, made, given)
                    if found is not None:
                        yield found

    def _passed(
        self, value: cst.BaseExpression, named: dict[Path, _Snapshot]
    ) -> tuple[Slot, Evidence, cst.BaseExpression] | None:
        direct = self.made_of(value)
        if direct is not None:
            return (*direct, self._original(value))
        path = path_of(value)
        snapshot = named.get(path) if path is not None else None
        if snapshot is None or not self._still_is(snapshot, value):
            return None
        return snapshot.slot, snapshot.evidence, self._original(snapshot.value)

    def _still_is(self, snapshot: _Snapshot, use: cst.BaseExpression) -> bool:
        """Whether a name still stands for the snapshot where it is passed: one of its definitions that reach there."""
        if not isinstance(use, cst.Name):
            return True
        reaching = self.anatomy.reaching(self.function)
        points = self.anatomy.flow(self.function).enclosing(use, self.module.parent)
        return any(found.value is snapshot.value for point in points for found in reaching.at(point, use.value))

    def _stale_callee(
        self,
        call: cst.Call,
        parameter: tuple[int | str, str],
        value: cst.BaseExpression,
        made: tuple[Slot, Evidence, cst.BaseExpression],
        given: dict[tuple[int | str, str], cst.BaseExpression],
    ) -> Stale | None:
        found = resolved(self.anatomy, call)
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
            grows = self._grows_meanwhile(call, where, callee, loop, made[0], given)
            if grows is not None:
                return Stale(
                    call, ex.source(value, 40), ex.source(made[2], 40), made[1], loop, sends, grows, where, True
                )
        return None

    def _grows_meanwhile(
        self,
        call: cst.Call,
        where: Anatomy,
        callee: Scope,
        loop: Loop,
        slot: Slot,
        given: dict[tuple[int | str, str], cst.BaseExpression],
    ) -> cst.CSTNode | None:
        """Where the original grows while the callee's loop runs: by its own object, or through a callback."""
        if where is self.anatomy:
            grown = _Finder(self.anatomy, callee)._grows_in(loop, slot)
            if grown is not None:
                return grown
        for parameter, value in given.items():
            path = parameter_path(callee, parameter)
            if path is not None and self._feeds(value, slot) and _calls_in(where, callee, loop, path):
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


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """`h` of `list(h)`, `h[1:]`, `h.copy()`."""
    while True:
        node = ex.inner(node)
        if isinstance(node, cst.Subscript) and ex.slice_of(node) is not None:
            node = node.value
        elif isinstance(node, cst.Call) and ex.dotted(node.func) in {"list", "tuple", "reversed"} and node.args:
            node = node.args[0].value
        elif isinstance(node, cst.Call) and ex.called_name(node) == "copy" and not node.args:
            node = ex.receiver(node) or node
            if isinstance(node, cst.Call):
                return node
        else:
            return node


def _is_round_loop(anatomy: Anatomy, loop: Loop, function: Scope) -> bool:
    """A loop whose rounds answer the model: not one over items that each get a request of their own."""
    calls = anatomy.calls.calls_within(loop.body, function)
    if any(isinstance(call.func, cst.Name) and call.func.value == "input" for call in calls):
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


def resolved(anatomy: Anatomy, call: cst.Call) -> tuple[Anatomy, Scope] | None:
    """The function that a call runs, of this file or imported from the project, with the file it stands in."""
    callee = anatomy.facts.slots.callee(call)
    if callee is not None:
        return anatomy, callee
    if isinstance(call.func, cst.Name):
        found = anatomy.imported(call.func.value)
        if found is not None:
            there, name = found
            for function in there.module.functions:
                if function.name == name and function.parent is there.module.top:
                    return there, function
    return None


_Parameter = tuple["int | str", str]


def passed_arguments(
    call: cst.Call,
) -> Iterator[tuple[_Parameter, cst.BaseExpression, dict[_Parameter, cst.BaseExpression]]]:
    """The arguments of a call, those inside an options object (`run(Turn(history=h))`) included."""
    given: dict[_Parameter, cst.BaseExpression] = {}
    for index, arg in enumerate(call.args):
        if arg.star:
            continue
        place: int | str = arg.keyword.value if arg.keyword is not None else index
        given[place, ""] = arg.value
        if isinstance(arg.value, cst.Call) and ex.called_name(arg.value)[:1].isupper():
            for option in arg.value.args:
                if option.keyword is not None:
                    given[place, option.keyword.value] = option.value
    for parameter, value in given.items():
        yield parameter, value, given


def parameter_path(callee: Scope, parameter: _Parameter) -> Path | None:
    """The path in `callee` under which an argument is known: `(messages,)`, `(opts, history)`."""
    from lint_rules.anatomy.values.slots import is_method
    from lint_rules.syntax.module import parameters

    names = [p.name.value for p in parameters(callee)]
    place, option = parameter
    if isinstance(place, int):
        place += is_method(callee)
        if place >= len(names):
            return None
        name = names[place]
    else:
        name = place
        if name not in names:
            return None
    return (name, option) if option else (name,)
