"""LangChain's calls that could not be parsed, `invalid_tool_calls`, where open calls are answered afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import calls_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_UNPARSED = "invalid_tool_calls"


def unparsed_left_open(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, cst.Call]]:
    """Where a repair answers the open `tool_calls` of stored messages and no others: the list, and the answer."""
    targets: dict[Scope, frozenset[str]] = {}
    for loop in anatomy.module.nodes_of(cst.For, cst.CompFor):
        pair = ex.member(loop.iter)
        if pair is None or pair[1] != "tool_calls" or not isinstance(pair[0], cst.Name):
            continue
        function = anatomy.module.scope_of[loop].function
        around = anatomy.module.parent[loop] if isinstance(loop, cst.CompFor) else loop
        if function not in targets:
            targets[function] = _targets_of_loops(function)
        if pair[0].value in targets[function] and _asks_for_open(anatomy, loop, around):
            answer = next((n for n in walk(around) if isinstance(n, cst.Call) and _is_answer(anatomy, n)), None)
            if answer is not None and not _mentions_unparsed(anatomy):
                yield loop.iter, answer


def _mentions_unparsed(anatomy: Anatomy) -> bool:
    return any(
        node.attr.value == _UNPARSED if isinstance(node, cst.Attribute) else ex.text(node) == _UNPARSED
        for node in anatomy.module.nodes_of(cst.Attribute, cst.SimpleString)
    )


def _targets_of_loops(function: Scope) -> frozenset[str]:
    """The names of what comes from a loop over several: a reply that has just come is another matter."""
    return frozenset(name for loop in function.nodes_of(cst.For) for name in ex.target_names(loop.target))


def _asks_for_open(anatomy: Anatomy, loop: cst.For | cst.CompFor, around: cst.CSTNode) -> bool:
    """Whether the id of a call is looked for among those that have an answer: `call["id"] not in answered`."""
    slots = calls_of(anatomy, loop)
    for node in walk(around):
        if isinstance(node, cst.Comparison) and isinstance(node.comparisons[0].operator, (cst.NotIn, cst.In)):
            pair = ex.member(node.left)
            if pair is not None and pair[1] == "id" and anatomy.facts.slots.of(pair[0]) in slots:
                return True
    return False


def _is_answer(anatomy: Anatomy, call: cst.Call) -> bool:
    """A `ToolMessage` of LangChain with the id of a call."""
    full = anatomy.module.full_name(call.func)
    ours = full.startswith("langchain") and full.endswith(".ToolMessage")
    return ours and ex.argument(call, "tool_call_id") is not None
