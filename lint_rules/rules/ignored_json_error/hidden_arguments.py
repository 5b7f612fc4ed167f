"""Arguments of tool calls that are looked for in two places, where the first one never comes out empty."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.syntax import expressions as ex

_ARGUMENTS = frozenset({"arguments", "args", "input", "parameters"})


def hidden_arguments(anatomy: Anatomy) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """`f.get("arguments", "{}") or call.get("input")`: the read whose default is no empty text, and what it hides."""
    for node in anatomy.module.nodes_of(cst.BooleanOperation):
        first = ex.inner(node.left)
        if type(node.operator) is not cst.Or or type(first) is not cst.Call or ex.called_name(first) != "get":
            continue
        if ex.key(first) not in _ARGUMENTS or len(first.args) != 2 or not _passes(first.args[1].value):
            continue
        second = next((part for part in ex.alternatives(node.right) if ex.key(part) in _ARGUMENTS), None)
        if second is not None:
            yield first, second


def _passes(default: cst.BaseExpression) -> bool:
    """`"{}"`: says nothing, and is true all the same."""
    return is_neutral(default) and bool(ex.text(default))
