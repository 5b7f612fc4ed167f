"""Copy propagation: a name that only stands for an attribute, or for an element, gives way to it, where it stood."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import FUNCTIONS, Names, Nodes, Scope, assigned, in_each

_CHAINS = frozenset({ast.Attribute, ast.Subscript})
_INITIALIZERS = frozenset({"__init__", "__post_init__", "__new__", "setup"})


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    set_anew = cache(lambda: _set_anew(scopes, nodes))
    return in_each(scopes, lambda scope: _in_scope(scope, set_anew))


def _in_scope(scope: Scope, set_anew: Callable[[], set[str]]) -> bool:
    changed = False
    for block in scope.blocks if isinstance(scope.node, FUNCTIONS) else ():
        for place, line in enumerate(block):
            if type(line) is ast.Assign and type(line.value) in _CHAINS and assigned(line) and _is_chain(line.value):
                changed |= _propagate(scope.names, set_anew(), block, place)
    return changed


def _set_anew(scopes: list[Scope], nodes: Nodes) -> set[str]:
    """The attributes whose values may change: set after their object was made, or worked out at each reading."""
    making = (scope.node for scope in scopes if getattr(scope.node, "name", "") in _INITIALIZERS)
    first = {id(node) for scope in making for node in walk(scope)}
    stored = (node for node in nodes.get(ast.Attribute, ()) if type(node.ctx) is not ast.Load)
    worked_out = {node.name for kind in FUNCTIONS for node in nodes.get(kind, ()) if node.decorator_list}
    return {node.attr for node in stored if id(node) not in first} | worked_out


def _is_chain(node: ast.expr) -> bool:
    """`self.x`, `x.y.z`, `xs[key]`: whether attributes and plain keys are read one after the other, from a name on."""
    while type(node) is ast.Attribute or (
        type(node) is ast.Subscript and isinstance(node.slice, (ast.Name, ast.Constant))
    ):
        node = node.value
    return type(node) is ast.Name


def _propagate(names: Names, set_anew: set[str], block: list[ast.stmt], place: int) -> bool:
    name, value = assigned(block[place]), block[place].value  # type: ignore[attr-defined]
    if names.stored[name] != 1 or name in names.foreign or name in names.captured or not names.loaded[name]:
        return False
    if _is_stable(value, names, set_anew):
        uses = names.loaded[name]
    else:
        keys = [node for node in walk(value) if isinstance(node, ast.Name)]
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
    for node in walk(value):
        if type(node) is ast.Name and names.stored[node.id] > 1:
            return False
        if type(node) is ast.Attribute and (node.attr in set_anew or node.attr in names.attributes):
            return False
        if type(node) is ast.Subscript:
            return False
    return True


def _is_late(line: ast.stmt, use: ast.Name) -> bool:
    """Whether a call of the line is over when the name is read: it may have put something else there."""
    return any(
        (call.lineno, call.col_offset) < (use.lineno, use.col_offset) and use not in walk(call)
        for call in walk(line)
        if isinstance(call, ast.Call)
    )


def _next(block: list[ast.stmt], place: int) -> Iterator[ast.Name]:
    """The names in the next line, if that is one that goes no other way."""
    if place + 1 < len(block) and isinstance(block[place + 1], (ast.Expr, ast.Assign, ast.AugAssign, ast.Return)):
        yield from (node for node in walk(block[place + 1]) if type(node) is ast.Name)
