"""Names of lambdas that only stand for names around them give way to these: `lambda talk=messages: ask(talk)`.

Only for what is bound once, and not by a loop around the lambda, or in it: there the default keeps what the name was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, TypeGuard

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import SCOPES, Nodes, Scope, in_each

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    bound = any(type(default) is ast.Name for each in nodes.get(ast.Lambda, ()) for default in each.args.defaults)
    return bound and in_each(scopes, _in_scope)


def _in_scope(scope: Scope) -> bool:
    changed = False
    for function, loops in [*_lambdas(scope.node, ())]:
        rebound = {node.id for loop in loops for node in walk(loop) if _is_stored(node)}
        for arg, default in _bound(function):
            if scope.names.bound_once(default.id) and default.id not in rebound:
                changed |= _give_way(function, arg, default)
    return changed


def _give_way(function: ast.Lambda, arg: ast.arg, default: ast.Name) -> bool:
    """Puts the name around a lambda in the place of its own; whether it means the same in there."""
    given = function.args
    own = {name for node in walk(function) if node is not arg for name in _named(node)}
    if not own.isdisjoint({arg.arg, default.id}):
        return False
    place = given.args.index(arg)
    del given.args[place], given.defaults[place]
    for node in walk(function.body):
        if type(node) is ast.Name and node.id == arg.arg:
            node.id = default.id
    return True


def _named(node: ast.AST) -> Iterator[str]:
    """What a node in a lambda gives a name of its own."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and _is_stored(node):
        yield node.id


def _lambdas(node: Any, loops: tuple[ast.AST, ...]) -> Iterator[tuple[ast.Lambda, tuple[ast.AST, ...]]]:
    """The lambdas that stand in a function itself, each with the loops around it."""
    for child in ast.iter_child_nodes(node):
        if type(child) is ast.Lambda:
            yield child, loops
        elif not isinstance(child, SCOPES):
            yield from _lambdas(child, (*loops, child) if isinstance(child, _LOOPS) else loops)


def _bound(function: ast.Lambda) -> list[tuple[ast.arg, ast.Name]]:
    """The parameters of a lambda to which nobody hands anything, with the names that they are bound to."""
    given = function.args
    if len(given.args) != len(given.defaults) or given.posonlyargs or given.vararg:
        return []
    pairs = zip(given.args, given.defaults, strict=True)
    return [(arg, default) for arg, default in pairs if type(default) is ast.Name]


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and type(node.ctx) is not ast.Load
