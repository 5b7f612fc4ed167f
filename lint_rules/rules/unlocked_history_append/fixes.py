"""AGL101: the write is put under the lock that guards the history elsewhere.

A lock that is taken where somebody up the call chain holds it already is a deadlock, which is worse than the finding:
nothing is wrapped unless all ways to the write are known to come without the lock.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.messages.growth import reads
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.locks import UNKNOWN
from lint_rules.anatomy.turns.races import Races
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.repairs.edits import Edits, Fix, of_the_file, wrapped_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, decorators
from lint_rules.syntax.walk import walk

_REENTRANT = frozenset({"RLock", "Condition"})
_BY_HAND = frozenset({"acquire", "release", "locked"})
_Span = tuple[cst.IndentedBlock, range]
"""Statements of a block that stand one after another."""


@of_the_file
def repair(races: Races, write: HistoryWrite, other: HistoryWrite) -> Fix | None:
    """Wrap what changes the history in the function of `write` in the lock that is held at `other`."""
    lock = min((slot for slot in races.held(other) if slot != UNKNOWN), key=describe, default=None)
    if lock is None or not races.facts.assigned(lock):  # made in another file: who holds it there is not seen
        return None
    function, writes = write.function, races.anatomy.writes.by_slot[write.slot]
    bare = [each for each in writes if each.function is function and not races.held(each)]
    name = _name(races, lock, function) if bare else None
    span = _span(races, bare) if name is not None else None
    if name is None or span is None or not _fits(races, function, lock):
        return None
    block, numbers = span
    if not _is_free(races, function, lock, [node for number in numbers for node in walk(block.body[number])]):
        return None
    edit = wrapped_in(name, block, numbers, is_async=_is_async(races, lock))
    return Fix(f"take `{describe(lock)}` around the change", "unsafe", lambda: Edits(changed={block: edit}))


def _name(races: Races, lock: Slot, function: Scope) -> cst.BaseExpression | None:
    """The lock as a function can name it: a global, or an attribute of its own object."""
    module, owner, name = races.module, function.owner, str(lock[2])
    if lock[0] == "var":
        known = lock[1] is module.top and module.scope_binding(function, name) is module.top
        return cst.Name(name) if known else None
    me = module.self_name(function)
    if lock[0] != "attr" or owner is None or me is None or decorators(function):
        return None
    own = lock[1] is owner or lock[1] in module.base_classes(owner)
    return cst.Attribute(cst.Name(me), cst.Name(name)) if own else None


def _span(races: Races, bare: list[HistoryWrite]) -> _Span | None:
    """The statements to wrap: all changes of the function, which must stand side by side."""
    places = [_place(races, write) for write in bare]
    block, numbers = places[0][0], sorted({number for _, number in places})
    if any(each is not block for each, _ in places) or numbers != list(range(numbers[0], numbers[-1] + 1)):
        return None
    return (block, range(numbers[0], numbers[-1] + 1)) if block is not None else None


def _place(races: Races, write: HistoryWrite) -> tuple[cst.IndentedBlock | None, int]:
    """The statement to wrap for a change: with the loop over a list that makes it, the `if` that asks for it."""
    module = races.module
    statement = module.parent[module.statement(write.node)]
    if not isinstance(statement, cst.SimpleStatementLine) or _is_stale(races, write):
        return None, 0
    block = module.parent[statement]
    while _belongs_to(races, above := module.parent[block], write.slot):
        statement, block = above, module.parent[above]
    return (block, list(block.body).index(statement)) if isinstance(block, cst.IndentedBlock) else (None, 0)  # type: ignore[arg-type]


def _belongs_to(races: Races, above: cst.CSTNode, slot: Slot) -> bool:
    if not isinstance(races.module.parent.get(above), cst.IndentedBlock):
        return False
    if isinstance(above, cst.If):
        return above.orelse is None and reads(races.anatomy, above.test, slot)
    return isinstance(above, cst.For) and isinstance(above.iter, (cst.Name, cst.Attribute, cst.Subscript))


def _is_stale(races: Races, write: HistoryWrite) -> bool:
    """Whether the history is set to something that was read of it before, outside any lock."""
    value = write.value if write.kind in {"rebind", "replace"} else None
    names = [node for node in walk(value) if isinstance(node, cst.Name)] if value is not None else []
    made = [each for slot in map(races.facts.slots.of, names) if slot not in {None, write.slot}
            for each in races.facts.assigned(slot)]  # fmt: skip
    return any(reads(races.anatomy, each, write.slot) for each in made)


def _is_async(races: Races, lock: Slot) -> bool:
    return any(region.asynchronous is not None for region in _regions(races, lock))


def _fits(races: Races, function: Scope, lock: Slot) -> bool:
    """Whether a function can take the lock as the others do, does so nowhere else, and it helps.

    It does not where the change is a part of a turn that goes on without the lock.
    """
    graph, regions = races.graph, _regions(races, lock)
    asynchronous = {region.asynchronous is not None for region in regions}
    waited = any(isinstance(node, cst.Await) for region in regions for node in walk(region))
    if len(asynchronous) != 1 or function.kind != "function" or any(asynchronous) > function.is_async:
        return False
    if function.is_async and waited and not any(asynchronous):
        return False
    if graph.reaches_llm(function) or any(graph.reaches_llm(site.caller) for site in graph.sites[function]):
        return False
    by_hand = (call for call in function.nodes_of(cst.Call) if ex.called_name(call) in _BY_HAND)
    if any((base := ex.receiver(call)) is not None and races.locks.lock_of(base) == lock for call in by_hand):
        return False
    return not any(isinstance(node, cst.Yield) or node in regions for node in function.nodes)


def _is_free(races: Races, function: Scope, lock: Slot, inside: list[cst.CSTNode]) -> bool:
    """Whether the lock is free on every way to the change, and nothing takes long or the lock under it."""
    graph, calls = races.graph, [node for node in inside if isinstance(node, cst.Call)]
    if any(isinstance(node, cst.Await) for node in inside) or any(map(graph.asks, calls)):
        return False
    made = races.facts.assigned(lock)
    if made and all(isinstance(v, cst.Call) and ex.called_name(v) in _REENTRANT for v in made):
        return True
    run = {callee for call in calls if (callee := graph.facts.slots.callee(call)) is not None}
    taking = {races.module.scope_of[region].function for region in _regions(races, lock)}
    if any(not taking.isdisjoint(graph.reachable(callee)) for callee in run):
        return False
    started = {start.target for start in races.starts}
    handed = (node for node in graph.references[function] if node not in started)
    if any(not isinstance(races.module.parent[node], cst.FunctionDef) for node in handed):
        return False  # a callback: who knows who calls it
    return function.name not in _called_under(races, lock)


# -- one lock in one file -----------------------------------------------------------------------------------------

_NO_REGIONS: list[cst.With] = []


@once(circular=_NO_REGIONS)
def _regions(races: Races, lock: Slot) -> list[cst.With]:
    """The statements that take a lock."""
    taken = races.module.nodes_of(cst.With)
    return [node for node in taken if any(races.locks.lock_of(item.item) == lock for item in node.items)]


@once(circular=frozenset[str]())
def _called_under(races: Races, lock: Slot) -> frozenset[str]:
    """The names of what is called where a lock is held, or in a function of such a name: better one too many."""
    called: dict[str, set[str]] = {}
    waiting: list[str] = []
    for node in races.module.nodes_of(cst.Call):
        function, name = races.module.scope_of[node].function, ex.called_name(node)
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
