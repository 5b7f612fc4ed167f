"""`a, self.b = x, y` as `a = x` and `self.b = y`, where the second does not look at what the first has bound."""

from __future__ import annotations

import ast
from typing import Any

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import Nodes, Scope, mentions


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    changed = False
    if not any(type(node.ctx) is ast.Store for node in nodes.get(ast.Tuple, ())):
        return False
    for scope in scopes:
        for block in scope.blocks:
            for place in range(len(block) - 1, -1, -1):
                pairs = _pairs(block[place], by_calls=isinstance(scope.node, ast.Module))
                if pairs:
                    block[place : place + 1] = [
                        ast.copy_location(ast.Assign([target], value), block[place]) for target, value in pairs
                    ]
                    changed = True
    return changed


def _pairs(line: Any, *, by_calls: bool) -> list[tuple[ast.expr, ast.expr]]:
    """The names and attributes that a statement binds, each with its value.

    `by_calls`: what is called may look at the names, too; at attributes, what gets their object.
    """
    if type(line) is not ast.Assign or len(line.targets) != 1 or type(line.targets[0]) is not ast.Tuple:
        return []
    names: list[Any] = line.targets[0].elts
    values: list[ast.expr] = getattr(line.value, "elts", [])
    if type(line.value) not in {ast.Tuple, ast.List} or len(names) != len(values):
        return []
    if any(type(value) is ast.Starred for value in values):
        return []
    for number, name in enumerate(names):
        is_attribute = type(name) is ast.Attribute and type(name.value) is ast.Name
        if not is_attribute and type(name) is not ast.Name:
            return []
        for value in values[number + 1 :]:
            seen = by_calls or (is_attribute and mentions(value, name.value.id))
            if _reads(value, name) or (seen and any(type(node) is ast.Call for node in walk(value))):
                return []
    return list(zip(names, values, strict=True))


def _reads(value: ast.expr, bound: ast.Name | ast.Attribute) -> bool:
    if isinstance(bound, ast.Name):
        return mentions(value, bound.id)
    return any(type(node) is ast.Attribute and node.attr == bound.attr for node in walk(value))
