"""Hooks that LangChain runs right after the model has spoken: what they return is stored before the tools run."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators

_HOOKS = frozenset({"after_model", "aafter_model"})
_OTHERS = frozenset({"HumanMessage", "SystemMessage"})
_DEEPEST = 2


def stored_behind_calls(anatomy: Anatomy) -> Iterator[tuple[cst.Call, Scope]]:
    """Human and system messages that such a hook adds whether or not the reply has calls: each, and the hook."""
    for function in anatomy.module.functions:
        if _is_hook(anatomy, function):
            for message in _returned(anatomy, function, 0):
                yield message, function


def _is_hook(anatomy: Anatomy, function: Scope) -> bool:
    for decorator in decorators(function):
        named = ex.uncalled(decorator)
        full = anatomy.module.full_name(named)
        if full.startswith("langchain") and full.endswith(".after_model"):
            return True
    node = function.owner.node if function.name in _HOOKS and function.owner is not None else None
    for base in ex.bases(node) if node is not None else ():
        full = anatomy.module.full_name(base)
        if full.startswith("langchain") and full.endswith(".AgentMiddleware"):
            return True
    return False


def _returned(anatomy: Anatomy, function: Scope, depth: int) -> Iterator[cst.Call]:
    if _looks_at_calls(function):
        return
    for node in function.nodes:
        if not isinstance(node, cst.Return) or node.value is None:
            continue
        for value in ex.alternatives(node.value):
            callee = anatomy.facts.slots.callee(value)
            if callee is not None and depth < _DEEPEST:
                yield from _returned(anatomy, callee, depth + 1)
            items = ex.dict_items(value)
            if set(items) == {"messages"}:  # with `jump_to` it is another step's turn
                yield from _others(items["messages"])


def _looks_at_calls(function: Scope) -> bool:
    """Whether the calls of the reply are asked for, or taken out of it."""
    return any(
        (pair is not None and pair[1] == "tool_calls") or (isinstance(node, cst.Call) and _removes(node))
        for node in function.nodes
        for pair in [ex.member(node) or ex.asked(node)]
    )


def _removes(call: cst.Call) -> bool:
    return ex.called_name(call) in {"RemoveMessage", "Overwrite"}


def _others(value: cst.BaseExpression) -> Iterator[cst.Call]:
    """The elements of a list of which none stands for the reply itself."""
    made = [element.value for element in value.elements] if isinstance(value, cst.List) else []
    calls = [node for node in made if isinstance(node, cst.Call) and ex.called_name(node) in _OTHERS]
    if calls and len(calls) == len(made):
        yield calls[0]
