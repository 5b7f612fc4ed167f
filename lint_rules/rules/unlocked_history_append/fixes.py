"""AGL101: the write is put under the lock that guards the history elsewhere. Where there is none, see `new_lock`.

A lock that is taken where somebody up the call chain holds it already is a deadlock, which is worse than the finding:
nothing is wrapped unless all ways to the write are known to come without the lock.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.locks import UNKNOWN
from lint_rules.anatomy.turns.races import Races
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.repairs.edits import Edits, Fix, of_the_file, wrapped_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import decorators
from lint_rules.syntax.walk import walk

_REENTRANT = frozenset({"RLock", "Condition"})


@of_the_file
def repair(races: Races, write: HistoryWrite, other: HistoryWrite) -> Fix | None:
    """Wrap what changes the history in the function of `write` in the lock that is held at `other`."""
    lock = next(iter(sorted((slot for slot in races.held(other) if slot != UNKNOWN), key=describe)), None)
    if lock is None:
        return None
    if not races.facts.assigned(lock):  # made in another file: who holds it there is not seen
        return None
    wrap = _Wrap(races, write, lock)
    if not wrap.bare:  # written by a method of another file
        return None
    name, span = wrap.name(), wrap.span()
    if name is None or span is None or not wrap.is_free_of_deadlocks(span) or not (wrap.fits() and wrap.cures()):
        return None
    return Fix(f"take `{describe(lock)}` around the change", "unsafe", lambda: wrap.edits(name, span))


_Span = tuple[cst.IndentedBlock, range]
"""Statements of a block that stand one after another."""


class _Wrap:
    def __init__(self, races: Races, write: HistoryWrite, lock: Slot) -> None:
        self.races = races
        self.module = races.module
        self.function = write.function
        self.slot = write.slot
        self.lock = lock
        self.bare = [
            other
            for other in races.anatomy.writes.by_slot[write.slot]
            if other.function is write.function and not races.held(other)
        ]
        self.regions = _regions(races, lock)

    # -- what to write ----------------------------------------------------------------------------------------

    def name(self) -> cst.BaseExpression | None:
        """The lock as the function can name it: a global, or an attribute of its own object."""
        used_in = self.module.scope_of[self.bare[0].node]
        if self.lock[0] == "var":
            name = str(self.lock[2])
            known = self.lock[1] is self.module.top and self.module.scope_binding(used_in, name) is self.module.top
            return cst.Name(name) if known else None
        owner, own_name = self.function.owner, self.module.self_name(used_in)
        if self.lock[0] != "attr" or owner is None or own_name is None or decorators(self.function):
            return None
        if self.lock[1] is not owner and self.lock[1] not in self.module.base_classes(owner):
            return None
        return cst.Attribute(cst.Name(own_name), cst.Name(str(self.lock[2])))

    def span(self) -> _Span | None:
        """The statements to wrap: all changes of the function, which must stand side by side."""
        places = [self._place(write) for write in self.bare]
        blocks = {block for block, _ in places}
        block = next(iter(blocks))
        numbers = sorted({number for _, number in places})
        if len(blocks) > 1 or block is None or numbers != list(range(numbers[0], numbers[-1] + 1)):
            return None
        return block, range(numbers[0], numbers[-1] + 1)

    def _place(self, write: HistoryWrite) -> tuple[cst.IndentedBlock | None, int]:
        """The statement to wrap for a change: with the loop over a list that makes it, the `if` that asks for it."""
        line = self.module.parent[self.module.statement(write.node)]
        if not isinstance(line, cst.SimpleStatementLine) or self._is_stale(write):
            return None, 0
        statement: cst.CSTNode = line
        block = self.module.parent[statement]
        while self._belongs_to(above := self.module.parent[block]):
            statement, block = above, self.module.parent[above]
        return (block, list(block.body).index(statement)) if isinstance(block, cst.IndentedBlock) else (None, 0)  # type: ignore[arg-type]

    def _belongs_to(self, above: cst.CSTNode) -> bool:
        if not isinstance(self.module.parent.get(above), cst.IndentedBlock):
            return False
        if isinstance(above, cst.If):
            return above.orelse is None and self._mentions(above.test)
        return isinstance(above, cst.For) and isinstance(above.iter, (cst.Name, cst.Attribute, cst.Subscript))

    def _is_stale(self, write: HistoryWrite) -> bool:
        """Whether the history is set to something that was read of it before, outside any lock."""
        if write.kind not in {"rebind", "replace"} or write.value is None:
            return False
        slots = self.races.facts.slots
        return any(
            self._mentions(value)
            for node in walk(write.value)
            if isinstance(node, cst.Name) and (slot := slots.of(node)) is not None and slot != self.slot
            for value in self.races.facts.assigned(slot)
        )

    def _mentions(self, node: cst.CSTNode) -> bool:
        slots = self.races.facts.slots
        return any(
            isinstance(inside, (cst.Name, cst.Attribute, cst.Subscript)) and slots.of(inside) == self.slot
            for inside in walk(node)
        )

    def edits(self, name: cst.BaseExpression, span: _Span) -> Edits:
        block, numbers = span
        return Edits(changed={block: wrapped_in(name, block, numbers, is_async=self._is_async())})

    # -- whether it may be ------------------------------------------------------------------------------------

    def _is_async(self) -> bool:
        return any(region.asynchronous is not None for region in self.regions)

    def fits(self) -> bool:
        """Whether the function can take the lock as the others do, and does not do so elsewhere."""
        kinds = {region.asynchronous is not None for region in self.regions}
        awaits = any(isinstance(node, cst.Await) for region in self.regions for node in walk(region))
        if (
            len(kinds) != 1
            or self.function.kind != "function"
            or (self.function.is_async and not self._is_async() and awaits)
        ):
            return False
        if self._is_async() and not self.function.is_async:
            return False
        return not any(
            isinstance(node, cst.Yield) or node in self.regions or self._is_taken_by_hand(node)
            for node in self.function.nodes
        )

    def cures(self) -> bool:
        """Whether the lock helps: not where the change is a part of a turn that goes on without the lock."""
        graph = self.races.graph
        turns = [site.caller for site in graph.sites[self.function] if graph.reaches_llm(site.caller)]
        return not turns and not graph.reaches_llm(self.function)

    def _is_taken_by_hand(self, node: cst.CSTNode) -> bool:
        if not isinstance(node, cst.Call) or ex.called_name(node) not in {"acquire", "release", "locked"}:
            return False
        base = ex.receiver(node)
        return base is not None and self.races.locks.lock_of(base) == self.lock

    def is_free_of_deadlocks(self, span: _Span) -> bool:
        """Whether the lock is free on every way to the change, and nothing takes long or the lock under it."""
        block, numbers = span
        inside = [node for number in numbers for node in walk(block.body[number])]
        graph = self.races.graph
        for node in inside:
            if isinstance(node, cst.Await) or (isinstance(node, cst.Call) and graph.asks(node)):
                return False
        if self._is_reentrant():
            return True
        callees = {graph.facts.slots.callee(node) for node in inside if isinstance(node, cst.Call)} - {None}
        reached = {function for callee in callees for function in graph.reachable(callee)}  # type: ignore[arg-type]
        return not self._is_taken_in(reached) and not self._may_be_held()

    def _is_taken_in(self, functions: Iterable[object]) -> bool:
        taking = {self.module.scope_of[region].function for region in self.regions}
        return not taking.isdisjoint(functions)

    def _is_reentrant(self) -> bool:
        values = self.races.facts.assigned(self.lock)
        return bool(values) and all(isinstance(v, cst.Call) and ex.called_name(v) in _REENTRANT for v in values)

    def _may_be_held(self) -> bool:
        """Whether a caller may hold the lock. Callers are told by the called name alone: better one too many."""
        started = {start.target for start in self.races.starts}
        references = self.races.graph.references[self.function]
        if any(
            node not in started and not isinstance(self.module.parent[node], cst.FunctionDef) for node in references
        ):
            return True  # a callback: who knows who calls it
        return self.function.name in _called_under(self.races, self.lock)


# -- one lock in one file -----------------------------------------------------------------------------------------

_NO_REGIONS: list[cst.With] = []


@once(circular=_NO_REGIONS)
def _regions(races: Races, lock: Slot) -> list[cst.With]:
    """The statements that take a lock."""
    return [
        node
        for node in races.module.nodes_of(cst.With)
        if any(races.locks.lock_of(item.item) == lock for item in node.items)
    ]


@once(circular=frozenset[str]())
def _called_under(races: Races, lock: Slot) -> frozenset[str]:
    """The names of what is called where a lock is held, or in a function of such a name."""
    module = races.module
    called: dict[str, set[str]] = {}
    waiting: list[str] = []
    for node in module.nodes_of(cst.Call):
        function, name = module.scope_of[node].function, ex.called_name(node)
        if lock in races.locks.held(node, function):
            waiting.append(name)
        elif function.kind == "function":
            called.setdefault(function.name, set()).add(name)
    found = set(waiting)
    while waiting:
        further = called.get(waiting.pop(), set()) - found
        found |= further
        waiting += further
    return frozenset(found)
