"""Stores that are emptied before what was in them is put back, part by part: an error in between loses the rest.

kept = (await talk.read())[-10:]
await talk.clear()
for message in kept:
    await talk.add(message)         # whoever is cancelled here, or fails, has lost what was not put back
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns.storage import Load, Save
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

_AT_ONCE = frozenset({"execute", "exec", "commit", "flush"})
"""Do at once what was told before. Source: redis-py, pipelines; SQLAlchemy, the Session; DB-API 2.0."""
_HANDLERS = (cst.ExceptHandler, cst.Finally)


@record
class Emptied:
    """`clear` takes away all that `load` gave, and at `save` parts of that are put back, in several steps."""

    clear: cst.Call
    load: cst.CSTNode
    save: cst.CSTNode


def emptied_stores(anatomy: Anatomy) -> Iterator[Emptied]:
    """For each place at which a file empties a store of messages the first put that may come too late."""
    for function in anatomy.module.functions:
        if function.kind == "class":
            continue
        renewed: dict[cst.Call, list[Save]] = {}
        for clear, save in anatomy.storage.renewals(function):
            renewed.setdefault(clear, []).append(save)
        for clear, saves in renewed.items():
            found = _lost(anatomy, function, clear, saves)
            if found is not None:
                yield found


def _lost(anatomy: Anatomy, function: Scope, clear: cst.Call, saves: list[Save]) -> Emptied | None:
    around = (outer for save in saves for outer in anatomy.module.ancestors(save.node))
    if any(isinstance(outer, _HANDLERS) for outer in around) or _is_one_step(anatomy, function, clear, saves):
        return None
    for save in saves:
        load = _loaded_before(anatomy, function, clear, save)
        in_steps = anatomy.module.loop_around(save.node, own=True) is not anatomy.module.loop_around(clear, own=True)
        if load is not None and in_steps and not _is_kept(anatomy, function, load, clear, saves):
            return Emptied(clear, load.node, save.node)
    return None


def _loaded_before(anatomy: Anatomy, function: Scope, clear: cst.Call, save: Save) -> Load | None:
    """What gave the messages that are put back, from the same place, before that is emptied."""
    for origin in anatomy.storage.origins(save.value, function):
        load = origin.load
        if load is not None and load.place.is_rewritten_at(save.place) and anatomy.module.before(load.node, clear):
            if origin.history:
                return load
    return None


def _is_one_step(anatomy: Anatomy, function: Scope, clear: cst.Call, saves: list[Save]) -> bool:
    """Whether all is done, or nothing: in a transaction, or by what is told to do it behind the last put.

    Rows are taken away when somebody says so, and only then.
    """
    module, lock_of = anatomy.module, anatomy.races.locks.lock_of
    around = (outer for outer in module.ancestors(clear) if isinstance(outer, cst.With))
    held = (item.item for outer in around if module.inside(saves[0].node, outer) for item in outer.items)
    if any(lock_of(item) is None for item in held):
        return True
    ends = [call for call in function.nodes_of(cst.Call) if ex.called_name(call) in _AT_ONCE and not call.args]
    between = any(module.before(clear, end) and module.before(end, saves[-1].node) for end in ends)
    behind = any(module.before(saves[-1].node, end) for end in ends)
    return not between and (behind or saves[0].place.resource[0] in {"table", "rows"})


def _is_kept(anatomy: Anatomy, function: Scope, load: Load, clear: cst.Call, saves: list[Save]) -> bool:
    """Whether something else has got what was loaded, before the store is emptied, and may keep it."""
    module, storage = anatomy.module, anatomy.storage
    elsewhere = [save for save in storage.saves(function) if save not in saves and module.before(save.node, clear)]
    made = (origin.load for save in elsewhere for origin in storage.origins(save.value, function))
    if any(other is not None and other.node is load.node for other in made):
        return True
    alone = (call for call in function.nodes_of(cst.Call) if isinstance(module.awaiting(call), cst.Expr))
    waited = (call for call in alone if isinstance(module.parent[call], cst.Await) and module.before(call, clear))
    given = (arg.value for call in waited for arg in call.args)
    return any(
        origin.load is not None and origin.load.node is load.node
        for value in given
        for origin in storage.origins(value, function)
    )
