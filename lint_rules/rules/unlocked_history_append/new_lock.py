"""A lock for a history that has none: made beside it, and held over the whole of each turn.

Shown only: how long a turn may keep the next one waiting is the author's to say. There is no such lock where a person
or a message would be waited for under it, where threads and tasks meet (no one lock is for both), where a turn that
holds it would come to take it again, and where a key of the history is not known before the turn begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import libcst as cst

from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.rounds.waits import is_waiting
from lint_rules.anatomy.turns.races import Races, SharedHistory
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.repairs.edits import Block, Change, Edits, Fix, line_of, of_the_file, wrapped_in
from lint_rules.repairs.imports import Reference, is_free, reference
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators, parameter_names
from lint_rules.syntax.walk import walk


@of_the_file
def new_lock(races: Races, slot: Slot) -> Fix | None:
    """Make a lock beside the history in `slot`, and take it around every turn on it; None where that is no cure."""
    place = races.anatomy.aliases.of(slot)
    history = next((history for history in races.histories if history.slot == place), None)
    if history is None or any(map(races.held, history.writes)):
        return None
    keyed = place[0] == "item"
    home = _home(races, place[1] if keyed else place, "turn_locks" if keyed else "turn_lock")
    if home is None:
        return None
    regions = list(_Regions(races, history, home, keyed).find())
    lock = _kind_of_lock(races, regions, home)
    if lock is None or not _stay_apart(races, regions):
        return None
    title = f"make a lock beside `{describe(place)}`, and hold it over the whole turn"
    return Fix(title, "display", lambda: _edits(home, regions, lock, keyed))


# -- beside the object --------------------------------------------------------------------------------------------


class _Home(NamedTuple):
    """Where the history is born: the lock comes into being in the next line, as `name` of `owner` or of the module."""

    block: Block
    line: cst.SimpleStatementLine
    owner: Scope | None
    name: str


def _home(races: Races, place: Slot, name: str) -> _Home | None:
    """None where it is born in several places, or where it can't be seen who else names the lock so."""
    module = races.module
    if place[0] not in {"attr", "var"}:
        return None
    births = [
        node
        for node in module.nodes_of(cst.Assign, cst.AnnAssign)
        if node.value is not None
        and any(races.facts.slots.of(target) == place for target in ex.targets(node))
        and races.is_setup(module.scope_of[node].function)
    ]
    line = line_of(module, births[0]) if len(births) == 1 else None
    block = module.parent[line] if line is not None else None
    if line is None or not isinstance(block, (cst.IndentedBlock, cst.Module)):
        return None
    around = module.scope_of[births[0]].function
    if place[0] == "var":
        free = place[1] is module.top is around and is_free(module, line, name)
        return _Home(block, line, None, name) if free else None
    name = f"_{name}" if str(place[2]).startswith("_") else name
    taken = any(name in cls.attributes or name in cls.bound for cls in module.lineage(place[1]))
    return _Home(block, line, place[1], name) if around.kind == "function" and not taken else None


# -- the turns ----------------------------------------------------------------------------------------------------


class _Region(NamedTuple):
    """What is to be done under the lock: statements of a block, one after another; `key` tells whose history it is."""

    function: Scope
    block: cst.IndentedBlock
    span: range
    lock: cst.BaseExpression
    key: cst.BaseExpression | None

    @property
    def statements(self) -> list[cst.BaseStatement]:
        return [self.block.body[number] for number in self.span]


class _NoCure(Exception):
    """A turn that can't be put under a lock."""


class _Regions:
    """The regions of one history: of each function that begins a turn on it, from the first touch to the last."""

    def __init__(self, races: Races, history: SharedHistory, home: _Home, keyed: bool) -> None:
        self.races, self.place, self.home, self.keyed = races, history.slot, home, keyed
        self.module, self.graph, self.slots = races.module, races.graph, races.facts.slots
        self.writing = self.graph.with_callers(write.function for write in history.writes)
        self.started = {start.target for start in races.starts} - {None}

    def find(self) -> Iterator[_Region]:
        """Nothing at all where one of them can't be had: a lock that only some take is none."""
        try:
            found = {region.function: region for root in self._roots() for region in self._covering(root, set())}
        except _NoCure:
            return
        yield from found.values()

    def _roots(self) -> list[Scope]:
        """Where turns begin: what is started or called from outside the file."""
        begun = {start.function for start in self.races.starts}
        return [
            function
            for function in self.module.functions
            if function in self.writing
            and not self.races.is_setup(function)
            and (function in begun or self.graph.references[function] or not self._sites(function))
        ]

    def _sites(self, function: Scope) -> list[Scope]:
        sites = self.graph.sites[function]
        return [s.caller for s in sites if s.caller is not function and s.node.func not in self.started]

    def _covering(self, function: Scope, seen: set[Scope]) -> Iterator[_Region]:
        """The region of a function; where it can't name the lock, those of the functions that it calls."""
        lock = self._lock(function)
        touches = self._touches(function)
        calls = {node: callee for node in touches if (callee := self._runs(node)) is not None}
        if touches and lock is not None:
            yield self._region(function, touches, lock)
        elif any(node not in calls for node in touches) or function in seen:
            raise _NoCure
        else:
            for callee in calls.values():
                yield from self._covering(callee, seen | {function})

    def _lock(self, function: Scope) -> cst.BaseExpression | None:
        """The lock as a function can name it."""
        name = self.home.name
        if self.home.owner is None:
            return cst.Name(name) if self.module.scope_binding(function, name) is None else None
        own, me = function.owner, self.module.self_name(function)
        if own is None or me is None or decorators(function):
            return None
        if self.home.owner is not own and self.home.owner not in self.module.base_classes(own):
            return None
        return cst.Attribute(cst.Name(me), cst.Name(name))

    # -- what touches the history -----------------------------------------------------------------------------

    def _touches(self, function: Scope) -> list[cst.CSTNode]:
        """Where a function reads or writes the history, or calls a function that writes it."""
        found: list[cst.CSTNode] = []
        for node in function.nodes:
            if isinstance(node, cst.Call) and self._runs(node) is not None:
                found.append(node)
            elif isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
                if self._is_place(node):
                    found.append(node)
        return found

    def _is_place(self, node: cst.BaseExpression) -> bool:
        outer = self.module.parent.get(node)
        if node in {getattr(outer, "attr", None), getattr(outer, "keyword", None)}:  # only a name that stands there
            return False
        slot = self.slots.of(node)
        return slot is not None and self.races.anatomy.aliases.of(slot) == self.place

    def _runs(self, call: cst.CSTNode) -> Scope | None:
        """The function that a call runs, where that writes the history; not what it only starts."""
        callee = self.slots.callee(call)
        if callee is None or callee not in self.writing or call.func in self.started:  # type: ignore[attr-defined]
            return None
        return callee

    # -- from the first to the last ---------------------------------------------------------------------------

    def _region(self, function: Scope, touches: list[cst.CSTNode], lock: cst.BaseExpression) -> _Region:
        body = function.node.body if isinstance(function.node, cst.FunctionDef) else None
        if not isinstance(body, cst.IndentedBlock) or any(isinstance(n, cst.Yield) for n in function.nodes):
            raise _NoCure
        block, span = body, self._span(body, touches)
        while (inner := self._one_turn_of_many(block, span)) is not None:
            block, span = inner, self._span(inner, touches)
        statements = [block.body[number] for number in span]
        if not span or any(map(self._waits, statements)) or any(map(self._joins, self.races.joined_in(function))):
            raise _NoCure
        key = self._key(function, statements) if self.keyed else None
        return _Region(function, block, span, lock, key)

    def _span(self, block: cst.IndentedBlock, touches: list[cst.CSTNode]) -> range:
        held = [
            number
            for number, statement in enumerate(block.body)
            if any(self.module.inside(node, statement) for node in touches)
        ]
        return range(held[0], held[-1] + 1) if held else range(0)

    def _one_turn_of_many(self, block: cst.IndentedBlock, span: range) -> cst.IndentedBlock | None:
        """The block inside a statement that is more than a turn: a loop over events, what waits for one."""
        statement = block.body[span.start] if len(span) == 1 else None
        body = getattr(statement, "body", None)
        if not isinstance(body, cst.IndentedBlock):
            return None
        if isinstance(statement, (cst.For, cst.While)):
            over_calls = isinstance(statement, cst.For) and Kind.CALLS in self.races.facts.kinds(statement.iter)
            in_rounds = over_calls or statement in self.races.anatomy.round_at
            return None if in_rounds and not self._waits(statement) else body
        return body if isinstance(statement, (cst.If, cst.Try, cst.With)) and self._waits(statement) else None

    def _waits(self, statement: cst.CSTNode) -> bool:
        """Whether something is waited for that may never come: a person, a message, the next of a stream."""
        if any(
            isinstance(n, (cst.For, cst.CompFor)) and n.asynchronous and not self._streams(n) for n in walk(statement)
        ):
            return True
        calls = [node for node in walk(statement) if isinstance(node, cst.Call)]
        run = {callee for call in calls if (callee := self.slots.callee(call)) is not None}
        inner = [call for callee in run for f in self.graph.reachable(callee) for call in f.nodes_of(cst.Call)]
        return any(
            self.slots.callee(call) is None and is_waiting(call, self.module.imports) for call in (*calls, *inner)
        )

    def _streams(self, loop: cst.For | cst.CompFor) -> bool:
        """Whether a loop is over the pieces of a reply."""
        return bool(self.races.facts.kinds(loop.iter))

    def _joins(self, start: Start) -> bool:
        """Whether what is waited for in the region would have to take the lock."""
        return start.function in self.writing

    # -- whose history ----------------------------------------------------------------------------------------

    def _key(self, function: Scope, statements: list[Any]) -> cst.BaseExpression:
        """The key by which all touches of a function find the history: one that is known when the turn begins."""
        keys = {ex.source(key): key for statement in statements for key in self._keys(statement, function)}
        key = next(iter(keys.values()), None)
        root = (ex.dotted(key) or "").partition(".")[0] if key is not None else ""
        bound = {name for statement in statements for name in _bound_in(statement)}
        if len(keys) != 1 or key is None or not root or root in bound:
            raise _NoCure
        return key

    def _keys(self, inside: cst.CSTNode, function: Scope) -> Iterator[cst.BaseExpression]:
        for node in walk(inside):
            base, key = _element(node)
            if base is not None and key is not None and self._is_store(base):
                yield key
            elif isinstance(node, cst.Call) and (callee := self._runs(node)) is not None:
                yield from self._handed(node, callee)

    def _is_store(self, base: cst.BaseExpression) -> bool:
        slot = self.slots.of(base)
        return slot is not None and self.races.anatomy.aliases.of(slot) == self.place[1]

    def _handed(self, call: cst.Call, callee: Scope) -> Iterator[cst.BaseExpression]:
        """The keys of a called function, as its caller names them."""
        given = {slot[2]: value for slot, value in self.slots.bindings(call, callee)}
        for key in self._keys(callee.node, callee) if callee is not self.module.scope_of[call].function else ():
            name = ex.dotted(key) or ""
            if name not in parameter_names(callee) or name not in given:
                raise _NoCure
            yield given[name]


def _element(node: cst.CSTNode) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """`histories[key]`, `histories.get(key)`, `key in histories`: what is looked into, and the key."""
    if isinstance(node, cst.Subscript):
        return node.value, ex.index(node)
    if isinstance(node, cst.Call) and ex.called_name(node) in {"get", "setdefault", "pop"} and node.args:
        return ex.receiver(node), node.args[0].value
    return None, None


def _bound_in(statement: cst.CSTNode) -> Iterator[str]:
    for node in walk(statement):
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For)):
            for target in ex.targets(node):
                yield from ex.target_names(target)


# -- one lock -----------------------------------------------------------------------------------------------------


class _Lock(NamedTuple):
    made: Reference
    is_async: bool


def _kind_of_lock(races: Races, regions: list[_Region], home: _Home) -> _Lock | None:
    """A lock of threads, or of tasks, where only the one or the other run the turns."""
    on_loop = {region.function.is_async for region in regions}
    if len(on_loop) != 1:
        return None
    is_async = on_loop.pop()
    if is_async and any(
        start.kind == "thread" for region in regions for start in races.starts_reaching(region.function)
    ):
        return None
    made = reference(races.module, home.line, "asyncio" if is_async else "threading", "Lock")
    return _Lock(made, is_async) if made is not None else None


def _stay_apart(races: Races, regions: list[_Region]) -> bool:
    """Whether nobody who holds the lock comes to where it is taken again."""
    taking = {region.function for region in regions}
    started = {start.target for start in races.starts}
    for region in regions:
        calls = [node for statement in region.statements for node in walk(statement) if isinstance(node, cst.Call)]
        run = {races.facts.slots.callee(call) for call in calls if call.func not in started} - {None}
        if any(taking & races.graph.reachable(callee) for callee in run if callee is not None):
            return False
    return True


def _edits(home: _Home, regions: list[_Region], lock: _Lock, keyed: bool) -> Edits:
    def born(statements: list[Any]) -> list[Any]:
        at = list(home.block.body).index(home.line) + 1
        value = cst.Dict([]) if keyed else cst.Call(lock.made.node)
        name = cst.Name(home.name)
        target = name if home.owner is None else cst.Attribute(_self_of(home), name)
        made = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], value)])
        return [*statements[:at], made, *statements[at:]]

    changed: dict[Block, Change] = {home.block: born}
    for region in regions:
        taken: cst.BaseExpression = region.lock
        if region.key is not None:
            args = [cst.Arg(region.key), cst.Arg(cst.Call(lock.made.node))]
            taken = cst.Call(cst.Attribute(taken, cst.Name("setdefault")), args)
        changed[region.block] = wrapped_in(taken, region.block, region.span, is_async=lock.is_async)
    return Edits(changed=changed, imports=lock.made.needs)


def _self_of(home: _Home) -> cst.BaseExpression:
    statement = home.line.body[0]
    assert isinstance(statement, (cst.Assign, cst.AnnAssign))
    target = ex.targets(statement)[0]
    assert isinstance(target, cst.Attribute)
    return target.value
