"""What is done for each of some keys that stand there, as what is done for one after the other.

`for key in ("role", "calls"): new[key] = old[key]` says no more than `new["role"] = old["role"]` and so on. So does
`{key: old[key] for key in ("role", "calls") if key in old}`.
"""

from __future__ import annotations

import ast
from typing import Any

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.inlining import MOST_STATEMENTS, called, copied
from lint_rules.syntax.normal.names import Names, Nodes, Scope, in_each

_STEPS = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Expr, ast.If})
_ASKS = frozenset({ast.In, ast.NotIn})
_BY_KEY = {"get": 0, "pop": 0, "setdefault": 0, "getattr": 1, "hasattr": 1, "setattr": 1}
"""Calls that get the name of a part, with its place. Source: standard library."""


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    changed = [_displayed(node) for node in nodes.get(ast.DictComp, ())]
    has_loops = any(_keys(node) for node in nodes.get(ast.For, ()))
    return any(changed) | (has_loops and in_each(scopes, _in_scope))


def _in_scope(scope: Scope) -> bool:
    changed = False
    for block in scope.blocks:
        for place in range(len(block) - 1, -1, -1):
            line: Any = block[place]
            if type(line) is ast.For and _only_goes_on(line, scope.names):
                block[place : place + 1] = [_with_key(step, line, key) for key in _keys(line) for step in line.body]
                changed = True
    return changed


def _displayed(made: Any) -> bool:
    """A dict that is made of some keys becomes a display."""
    clause: Any = made.generators[0]
    keys = _keys(clause) if len(made.generators) == 1 else []
    parts = [made.value, *clause.ifs]
    if not keys or getattr(made.key, "id", "") != clause.target.id or not all(_names_parts(p, clause) for p in parts):
        return False
    shown: list[tuple[ast.expr | None, ast.expr]] = []
    for key in keys:
        value, *tests = [_with_key(part, clause, key) for part in parts]
        if tests:
            test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), made)
            one, none = (ast.copy_location(each, made) for each in (ast.Dict([copied(key)], [value]), ast.Dict([], [])))
            shown.append((None, ast.copy_location(ast.IfExp(test, one, none), made)))
        else:
            shown.append((copied(key), value))
    made.__class__ = ast.Dict
    made.keys, made.values = [key for key, _ in shown], [value for _, value in shown]
    return True


def _keys(loop: Any) -> list[ast.expr]:
    """The keys that a loop or clause goes through, by one name."""
    listed = getattr(loop.iter, "elts", ()) if type(loop.target) is ast.Name else ()
    plain = len(listed) <= MOST_STATEMENTS and all(type(getattr(key, "value", None)) is str for key in listed)
    return [*listed] if plain else []


def _only_goes_on(loop: Any, names: Names) -> bool:
    """Whether a loop only goes on with parts that its keys name, and nobody asks for the last one behind it."""
    steps = [node for line in loop.body for node in walk(line)]
    kinds = [type(node) for node in steps if isinstance(node, ast.stmt)]
    if not _keys(loop) or loop.orelse or len(_keys(loop)) * len(kinds) > MOST_STATEMENTS or {*kinds} - _STEPS:
        return False
    name = loop.target.id
    inside = sum(type(node) is ast.Name and node.id == name for node in steps)
    here = inside == len(names.loaded[name]) and names.bound_once(name) and name not in names.captured
    return here and all(_names_parts(line, loop) for line in loop.body)


def _names_parts(node: ast.AST, loop: Any) -> bool:
    """Whether the name of a loop only stands where it names a part: `x[key]`, `x.get(key)`, `key in x`."""
    uses = named = 0
    for part in walk(node):
        kind, at = type(part), list[Any]()
        if kind is ast.Name:
            uses += part.id == loop.target.id
        elif kind is ast.Subscript:
            at = [part.slice]
        elif kind is ast.Call and (place := _BY_KEY.get(called(part))) is not None:
            at = part.args[place : place + 1]
        elif kind is ast.Compare and type(part.ops[0]) in _ASKS:
            at = [part.left]
        named += any(getattr(each, "id", "") == loop.target.id for each in at)
    return uses == named


def _with_key(node: Any, loop: Any, key: ast.expr) -> Any:
    """A copy of a node in which the key stands for the name of the loop."""
    made = copied(node)
    for part in walk(made):
        if getattr(part, "id", "") == loop.target.id:
            part.__class__ = ast.Constant
            vars(part).clear()
            vars(part).update(vars(key))
    return made
