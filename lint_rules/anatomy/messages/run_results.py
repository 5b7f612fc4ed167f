"""What the result of a run holds, in SDKs that keep no history: the new messages only, or all that there are.

history = agent.run_sync(text, message_history=history).new_messages()        # all turns before are gone
history.extend(agent.run_sync(text, message_history=history).all_messages())  # all turns before are there twice
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_NEW_ONLY = frozenset({"new_messages"})
"""Pydantic AI: `result.new_messages()`. The name says it."""
_WHOLE = words.ALL_MESSAGES | {"history"}
"""Also of a chat of Gemini that is made with a history: what it was given, too."""
_NEW_ONLY_OF = {"swarm.Swarm": "messages"}
"""Classes of which the `run` gives back the new messages under a name that does not say so."""


@record
class Replaced:
    """`node` binds `history` to the new messages of the run `call`, which was given the old ones."""

    node: cst.Assign
    history: Slot
    call: cst.Call


def replaced_histories(anatomy: Anatomy) -> Iterator[Replaced]:
    """All such assignments of a file."""
    for node in anatomy.module.nodes_of(cst.Assign):
        taken = _new_only(node.value)
        slot = anatomy.facts.slots.of(node.targets[0].target) if taken is not None else None
        if taken is None or slot is None:
            continue
        result, name = taken
        for call in _runs(anatomy, result):
            if _is_given(anatomy, call, slot) and (name in _NEW_ONLY or _gives_new(anatomy, call, name)):
                yield Replaced(node, slot, call)
                break


@record
class Added:
    """`node` adds all messages of the run, or chat, `call` to `history`, which that was given."""

    node: cst.CSTNode
    function: Scope
    history: Slot
    call: cst.Call


def added_results(anatomy: Anatomy) -> Iterator[Added]:
    """All places of a file where that is so, if the history is the same one."""
    for node in anatomy.module.nodes_of(cst.Attribute):
        held = anatomy.module.parent[node] if node.attr.value in _WHOLE else None
        value = held if isinstance(held, cst.Call) and held.func is node else node
        target, added = _extended(anatomy, value) if held is not None else (None, value)
        slot = anatomy.facts.slots.of(target) if target is not None else None
        for call in _runs(anatomy, node.value) if slot is not None else ():
            if slot is not None and _is_given(anatomy, call, slot):
                yield Added(added, anatomy.module.scope_of[node].function, slot, call)
                break


def _extended(anatomy: Anatomy, value: cst.BaseExpression) -> tuple[cst.BaseExpression | None, cst.CSTNode]:
    """The list to which a value is added as a whole, and where."""
    outer = anatomy.module.parent[value]
    call = anatomy.module.parent[outer] if isinstance(outer, cst.Arg) else None
    if isinstance(call, cst.Call) and ex.called_name(call) == "extend":
        return ex.receiver(call), call
    if isinstance(outer, cst.AugAssign) and isinstance(outer.operator, cst.AddAssign):
        return outer.target, outer
    return None, value


def _new_only(value: cst.BaseExpression) -> tuple[cst.BaseExpression, str] | None:
    """`(result, name)` of `result.new_messages()` and `result.messages`."""
    func = value.func if type(value) is cst.Call else value
    if type(func) is cst.Attribute and (func.attr.value in _NEW_ONLY or func.attr.value in _NEW_ONLY_OF.values()):
        return func.value, func.attr.value
    return None


def _runs(anatomy: Anatomy, result: cst.BaseExpression) -> Iterator[cst.Call]:
    """The calls that a result comes from."""
    slot = anatomy.facts.slots.of(result)
    for value in (result, *(anatomy.facts.assigned(slot) if slot is not None else ())):
        value = ex.inner(value)
        if isinstance(value, cst.Call):
            yield value


def _is_given(anatomy: Anatomy, call: cst.Call, slot: Slot) -> bool:
    return any(
        isinstance(node, (cst.Name, cst.Attribute)) and anatomy.facts.slots.of(node) == slot
        for arg in call.args
        for node in walk(arg.value)
    )


def _gives_new(anatomy: Anatomy, call: cst.Call, name: str) -> bool:
    """`client.run(...)` of a `client = Swarm()`."""
    base = ex.receiver(call)
    slot = anatomy.facts.slots.of(base) if base is not None else None
    for made in (base, *(anatomy.facts.assigned(slot) if slot is not None else ())):
        if isinstance(made, cst.Call) and ex.called_name(call) == "run":
            if _NEW_ONLY_OF.get(anatomy.module.imports.resolve(ex.dotted(made.func) or "")) == name:
                return True
    return False
