"""Copy propagation: a name that only stands for an attribute, or for an element, gives way to it, where it stood."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from lint_rules.syntax.normal.names import FUNCTIONS, Names, Nodes, Scopes

_INITIALIZERS = frozenset({"__init__", "__post_init__", "__new__", "setup"})


def normalize(scopes: Scopes, nodes: Nodes) -> bool:
    changed = False
    set_anew = _set_anew(scopes, nodes)
    for scope, blocks in scopes:
        names: Names | None = None
        for block in blocks if isinstance(scope, FUNCTIONS) else ():
            for place, line in enumerate(block):
                if (name := _alias(line)) is not None:
                    names = names or Names(scope)
                    changed |= _propagate(names, set_anew, name, block, place)
    return changed


def _set_anew(scopes: Scopes, nodes: Nodes) -> set[str]:
    """The attributes whose values may change: set after their object was made, or worked out at each reading."""
    making = (scope for scope, _ in scopes if getattr(scope, "name", "") in _INITIALIZERS)
    first = {id(node) for scope in making for node in ast.walk(scope)}
    stored = (node for node in nodes.get(ast.Attribute, ()) if type(node.ctx) is not ast.Load)
    worked_out = {node.name for kind in FUNCTIONS for node in nodes.get(kind, ()) if node.decorator_list}
    return {node.attr for node in stored if id(node) not in first} | worked_out


def _alias(line: ast.stmt) -> str | None:
    """The name of `name = self.x`, `name = x.y.z`, `name = xs[key]`."""
    if type(line) is ast.Assign and len(line.targets) == 1 and type(line.targets[0]) is ast.Name:
        if isinstance(line.value, (ast.Attribute, ast.Subscript)) and _root(line.value) is not None:
            return line.targets[0].id
    return None


def _root(node: ast.expr) -> str | None:
    """The name with which a chain of attributes and plain keys begins; None for what is no such chain."""
    while True:
        is_key = type(node) is ast.Subscript and isinstance(node.slice, (ast.Name, ast.Constant))
        if is_key or type(node) is ast.Attribute:
            node = node.value  # type: ignore[attr-defined]
        else:
            return node.id if type(node) is ast.Name else None


def _propagate(names: Names, set_anew: set[str], name: str, block: list[ast.stmt], place: int) -> bool:
    value: Any = block[place].value  # type: ignore[attr-defined]
    if names.stored[name] != 1 or name in names.foreign or name in names.captured or not names.loaded[name]:
        return False
    if _is_stable(value, names, set_anew):
        uses = names.loaded[name]
    else:
        keys = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
        if any(names.stored[node.id] > 1 for node in keys):  # a place that moves: the element is named for a reason
            return False
        uses = [node for node in _next(block, place) if node in names.loaded[name]]
        if len(uses) != 1 or len(names.loaded[name]) != 1 or _is_late(block[place + 1], uses[0]):
            return False
    for use in uses:
        names.replace(use, value)
    return True


def _is_stable(value: ast.expr, names: Names, set_anew: set[str]) -> bool:
    """Whether a chain means the same thing wherever it stands in the function."""
    for node in ast.walk(value):
        if type(node) is ast.Name and names.stored[node.id] > 1:
            return False
        if type(node) is ast.Attribute and node.attr in set_anew | names.attributes:
            return False
        if type(node) is ast.Subscript:
            return False
    return True


def _is_late(line: ast.stmt, use: ast.Name) -> bool:
    """Whether a call of the line is over when the name is read: it may have put something else there."""
    return any(
        (call.lineno, call.col_offset) < (use.lineno, use.col_offset) and use not in ast.walk(call)
        for call in ast.walk(line)
        if isinstance(call, ast.Call)
    )


def _next(block: list[ast.stmt], place: int) -> Iterator[ast.Name]:
    """The names in the next line, if that is one that goes no other way."""
    if place + 1 < len(block) and isinstance(block[place + 1], (ast.Expr, ast.Assign, ast.AugAssign, ast.Return)):
        yield from (node for node in ast.walk(block[place + 1]) if type(node) is ast.Name)
