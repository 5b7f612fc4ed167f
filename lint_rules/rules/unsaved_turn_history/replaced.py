"""Histories that give way to the new messages of one run of an agent."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.run_results import is_given, runs
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record

_NEW_ONLY = frozenset({"new_messages"})
"""Pydantic AI: `result.new_messages()`. The name says it."""
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
        for call in runs(anatomy, result):
            if is_given(anatomy, call, slot) and (name in _NEW_ONLY or _gives_new(anatomy, call, name)):
                yield Replaced(node, slot, call)
                break


def _new_only(value: cst.BaseExpression) -> tuple[cst.BaseExpression, str] | None:
    """`(result, name)` of `result.new_messages()` and `result.messages`."""
    func = value.func if type(value) is cst.Call else value
    if type(func) is cst.Attribute and (func.attr.value in _NEW_ONLY or func.attr.value in _NEW_ONLY_OF.values()):
        return func.value, func.attr.value
    return None


def _gives_new(anatomy: Anatomy, call: cst.Call, name: str) -> bool:
    """`client.run(...)` of a `client = Swarm()`."""
    base = ex.receiver(call)
    for made in (base, *anatomy.facts.values_of(base)):
        if isinstance(made, cst.Call) and ex.called_name(call) == "run":
            if _NEW_ONLY_OF.get(anatomy.module.full_name(made.func)) == name:
                return True
    return False
