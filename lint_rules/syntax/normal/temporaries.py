"""Forward substitution: a value that is named in one line, and used once in the next, stands where it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import Names, Scope, assigned

_PLAIN = frozenset({ast.Expr, ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign})
_EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)
_READS = (ast.Attribute, ast.Subscript)
"""What others may change meanwhile."""


def substituted(scope: Scope) -> bool:
    """Whether any value of a scope was put where it is used."""
    changed = False
    for block in scope.blocks:
        place = len(block) - 2
        while place >= 0:
            name = assigned(block[place])
            if name and _is_given(name, block[place + 1]) and _is_temporary(name, scope.names):
                if _substitute(block[place + 1], name, block[place].value):  # type: ignore[attr-defined]
                    del block[place]
                    changed = True
                    place = min(place, len(block) - 1)
            place -= 1
    return changed


def _is_given(name: str, line: ast.stmt) -> bool:
    """Whether a line hands a name to a call."""
    return type(line) in _PLAIN and any(type(arg) is ast.Name and arg.id == name for *_, arg, _ in _arguments(line))


def _is_temporary(name: str, names: Names) -> bool:
    return names.bound_once(name) and len(names.loaded[name]) == 1 and name not in names.captured


def _substitute(line: ast.stmt, name: str, value: ast.expr) -> bool:
    """Puts a value where a statement gives it to a call, if nothing happens there before."""
    for holder, field, place, arg, before in _arguments(line):
        if type(arg) is ast.Name and arg.id == name:
            if not all(map(_is_lasting, before)) and _has(_EFFECTS, value):
                return False
            if any(_has(_EFFECTS, node) for node in before) and _has(_READS, value):
                return False
            if place is None:
                setattr(holder, field, value)
            else:
                getattr(holder, field)[place] = value
            return True
    return False


def _arguments(line: Any) -> Iterator[tuple[Any, str, int | None, ast.expr, list[ast.expr]]]:
    """Where the arguments of the call stand that a statement consists of, each with what is evaluated before it.

    The list of that grows as they are looked at in order.
    """
    call = line.value
    while isinstance(call, (ast.Await, ast.Attribute, ast.Subscript)):
        call = call.value
    if type(call) is not ast.Call:
        return
    before: list[ast.expr] = [call.func]
    for place, arg in enumerate(call.args):
        if type(arg) is ast.Starred:
            return
        yield call, "args", place, arg, before
        before.append(arg)
    for keyword in call.keywords:
        yield keyword, "value", None, keyword.value, before
        before.append(keyword.value)


def _has(kinds: tuple[type, ...], node: ast.expr) -> bool:
    return any(isinstance(inside, kinds) for inside in walk(node))


def _is_lasting(node: ast.expr) -> bool:
    """Whether something gives the same before and after calls: a local name, a constant, a method of what is named."""
    if type(node) is ast.Attribute:
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))
