"""How far a history was read, noted too late: by its length after a wait in which others may have added to it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.messages.growth import grows
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.turns.races import Races, run_apart
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.unlocked_history_append.rewrites import in_threads, one_lock
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class Cursor:
    """`node` sets `slot` to the length of `history`, of which `read` took what lies behind it before the `wait`.

    `other` is a write that others may do meanwhile, or the start of a function that nothing but others can feed.
    """

    node: cst.Assign
    slot: Slot
    history: Slot
    read: cst.CSTNode
    wait: cst.CSTNode
    other: cst.CSTNode | Start


def cursors(races: Races) -> Iterator[Cursor]:
    """`new = history[seen:]`, `ask(new)`, `seen = len(history)`."""
    for node in races.module.nodes_of(cst.Assign) if races.starts else ():
        function = races.module.scope_of[node].function
        history, slot = _measured(races, node.value), races.facts.slots.of(node.targets[0].target)
        if history is None or slot is None or function.kind != "function":
            continue
        for read in _reads_behind(races, function, history, slot):
            wait = _waited(races, function, read, node)
            other = _other(races, function, history) if wait is not None else None
            if wait is not None and other is not None and not one_lock(races, function, read, node):
                yield Cursor(node, slot, history, read, wait, other)
                break


def _measured(races: Races, value: cst.BaseExpression) -> Slot | None:
    """The history of which a value is the length, give or take a number."""
    value = ex.inner(value)
    if isinstance(value, cst.BinaryOperation):
        return _measured(races, value.left) if ex.integer(value.right) is not None else None
    if isinstance(value, cst.Call) and ex.called_name(value) == "len" and len(value.args) == 1:
        if races.anatomy.is_history(value.args[0].value):
            return races.facts.slots.of(value.args[0].value)
    return None


def _reads_behind(races: Races, function: Scope, history: Slot, cursor: Slot) -> Iterator[cst.Subscript]:
    """`history[seen:]`, and what else begins where the cursor says."""
    for node in function.nodes_of(cst.Subscript):
        part = ex.slice_of(node)
        if part is not None and part.lower is not None and races.facts.slots.of(node.value) == history:
            if any(races.facts.slots.of(n) == cursor for n in walk(part.lower) if isinstance(n, cst.BaseExpression)):
                yield node


def _waited(races: Races, function: Scope, read: cst.CSTNode, node: cst.CSTNode) -> cst.CSTNode | None:
    """Where others come in between: an `await`, or in a thread what asks a model."""
    waits: list[cst.CSTNode] = [*function.waits]
    if in_threads(races, function):
        waits += [call for call in function.nodes_of(cst.Call) if races.anatomy.turns.asks(call)]
    leads, again = races.anatomy.leads, races.anatomy.points(function, [read])
    for wait in waits:
        after = races.module.inside(read, wait) or leads(function, [read], [wait])
        if after and leads(function, [wait], [node], again):
            return wait
    return None


def _other(races: Races, function: Scope, history: Slot) -> cst.CSTNode | Start | None:
    """Who adds to the history meanwhile: a write beside it, or others, where what runs the function never does."""
    writes = [w for w in races.anatomy.writes.by_slot.get(history, ()) if grows(races.anatomy, w)]
    beside = next((w for w in writes if w.function is not function and run_apart(races, function, w.function)), None)
    if beside is not None:
        return beside.node
    starts = races.starts_reaching(function)
    unfed = (s for s in starts if not any(s in races.starts_reaching(write.function) for write in writes))
    return next(unfed, None) if history[0] in {"attr", "member", "item"} else None
