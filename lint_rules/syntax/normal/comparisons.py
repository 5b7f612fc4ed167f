"""`a == b == c` as `a == b and b == c`, where looking at `b` twice is the same as once."""

from __future__ import annotations

import ast
import copy

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import Nodes, exchanged

_DOES = frozenset({ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom})


def normalize(tree: ast.Module, nodes: Nodes) -> bool:
    return exchanged(tree, {node: _pairs(node) for node in nodes.get(ast.Compare, ()) if _is_chain(node)})


def _is_chain(node: ast.Compare) -> bool:
    between = node.comparators[:-1]
    return bool(between) and not any(map(_does_something, between))


def _does_something(value: ast.expr) -> bool:
    """Whether it matters how often an expression is worked out."""
    return any(
        type(part) in _DOES or (type(part) is ast.Call and getattr(part.func, "id", "") != "len")
        for part in walk(value)
    )


def _pairs(chain: ast.Compare) -> ast.expr:
    """Each comparison of a chain by itself, from the value before its sign to that behind it."""
    values = [chain.left, *chain.comparators]
    made: list[ast.expr] = []
    for number, sign in enumerate(chain.ops):
        left = values[number] if number == 0 else copy.deepcopy(values[number])
        pair = ast.Compare(left, [sign], [values[number + 1]])
        made.append(_spanning(pair, values[number], values[number + 1]))
    return ast.copy_location(ast.BoolOp(ast.And(), made), chain)


def _spanning(node: ast.expr, first: ast.expr, last: ast.expr) -> ast.expr:
    ast.copy_location(node, first)
    node.end_lineno, node.end_col_offset = last.end_lineno, last.end_col_offset
    return node
