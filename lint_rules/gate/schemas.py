"""Schemas of tools, as expressions: one itself, what lies in one, and what may be one under another name."""

from __future__ import annotations

import ast

from lint_rules.anatomy import vocabulary as words
from lint_rules.gate.signs import called_name, dotted, member

__all__ = ["NAMES", "is_one", "lies_in_one", "may_be_one"]

NAMES = words.SCHEMA_NAMES | {"parameters"}
"""Names of members that may be schemas."""
_OWNERS = ("tool", "func", "spec")
_PASSING = frozenset(
    {
        "copy", "model_copy", "dict", "list", "tuple", "sorted", "deque", "replace", "_replace", "cast", "items",
        "values", "enumerate", "reversed",
    }
)  # fmt: skip
"""Functions and methods whose result shares parts with what they get."""


def lies_in_one(node: ast.expr) -> bool:
    """`tool.inputSchema["properties"]`."""
    here: ast.expr | None = node
    while here is not None:
        if _is_one(here):
            return True
        pair = member(here)
        here = pair[0] if pair is not None else None
    return False


def may_be_one(node: ast.expr) -> bool:
    """`tool.inputSchema`, `dict(tool.inputSchema)`, `{**tool.inputSchema}`; not `tool.inputSchema["properties"]`."""
    if _is_one(node):
        return True
    if member(node) is not None:
        return False
    return any(map(may_be_one, _parts(node)))


def _is_one(node: ast.expr) -> bool:
    pair = member(node)
    return pair is not None and is_one(*pair)


def is_one(base: ast.expr, name: str) -> bool:
    """Whether a member of this name is a schema."""
    if name != "parameters":
        return name in words.SCHEMA_NAMES
    if type(base) is ast.Call and called_name(base) == "signature":
        return False  # what Python knows of a function
    inside = member(base)
    owner = (inside[1] if inside is not None else dotted(base) or "").lower()
    return "call" not in owner and any(word in owner for word in _OWNERS)


def _parts(node: ast.expr) -> list[ast.expr]:
    """What the value of an expression may be, or share parts with."""
    if isinstance(node, (ast.Await, ast.NamedExpr, ast.Starred)):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, (ast.BoolOp, ast.Dict)):
        return node.values
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.DictComp):
        return [node.value, *(part.iter for part in node.generators)]
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return [node.elt, *(part.iter for part in node.generators)]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Call):
        return _given(node)
    return []


def _given(call: ast.Call) -> list[ast.expr]:
    if called_name(call) not in _PASSING and type(call.func) is not ast.Name:
        return []
    owner = [call.func.value] if type(call.func) is ast.Attribute else []
    return [*owner, *call.args, *(keyword.value for keyword in call.keywords)]
