"""Single nodes: forms that only one need asks for."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from lint_rules.gate.signs import called_name, text

__all__ = [
    "any_within", "asks_for_member", "counts_down", "has_default_text", "is_cut", "is_head", "is_repeated",
    "is_table_of_tools", "is_worked_out", "pops", "possible_names", "takes_new",
]  # fmt: skip

_ARGUMENT_KEYS = frozenset({"arguments", "args", "input", "parameters"})


def any_within(nodes: list[Any], lines: list[int]) -> bool:
    """Whether one of these lines, in order, lies in one of these blocks; some loops stand where they go round."""
    for node in nodes:
        at = bisect_left(lines, min(node.lineno, node.body[0].lineno))
        if at < len(lines) and lines[at] <= max(node.end_lineno, node.body[-1].end_lineno):
            return True
    return False


def owner(node: ast.expr) -> str:
    """`app` of `app.event("message")`, `app.route`."""
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_cut(node: ast.Subscript) -> bool:
    """`xs[-n:]`, `xs[n:]`, `xs[:n] = []`, `del xs[:n]`, `del xs[0]`."""
    if type(node.ctx) is not ast.Load:
        return type(node.ctx) is ast.Del or type(node.slice) is ast.Slice
    return type(node.slice) is ast.Slice and node.slice.lower is not None


def turns(node: ast.Subscript) -> bool:
    """`xs[::-1]`."""
    return type(node.slice) is ast.Slice and node.slice.step is not None


def counts_down(node: ast.Call | ast.AugAssign) -> bool:
    """`range(n, -1, -1)`, `i -= 1`."""
    if type(node) is ast.AugAssign:
        return type(node.op) is ast.Sub
    return type(node) is ast.Call and len(node.args) == 3 and type(node.args[2]) is ast.UnaryOp


def pops(node: ast.Call) -> bool:
    """`xs.pop(0)`, `xs.popleft()`."""
    if type(node.func) is not ast.Attribute:
        return False
    return node.func.attr == "popleft" or (node.func.attr == "pop" and len(node.args) == 1)


def is_head(node: ast.expr) -> bool:
    """`text[:n]`, `text[0:n]`, `islice(lines, n)`, `file.read(n)`, `f"{text:.900}"`."""
    if isinstance(node, ast.Call):
        return called_name(node) in {"islice", "read"} and bool(node.args)
    if isinstance(node, ast.FormattedValue):
        return node.format_spec is not None
    part = node.slice if isinstance(node, ast.Subscript) else None
    if type(part) is not ast.Slice or part.upper is None or part.step is not None:
        return False
    return type(part.lower) is not ast.Name


def is_repeated(node: ast.BinOp) -> bool:
    """`[{}] * n`."""
    return type(node.op) is ast.Mult and type(node.left) is ast.List


def takes_new(node: ast.Assign) -> bool:
    """`history = result.new_messages()`."""
    func = node.value.func if type(node.value) is ast.Call else node.value
    return type(func) is ast.Attribute and func.attr == "new_messages"


def asks_for_member(test: ast.expr) -> bool:
    """`if m in history`, `if any(x.content == m.content for x in history)`, and that it is not so."""
    test = test.operand if type(test) is ast.UnaryOp else test
    if type(test) is ast.Call:
        return type(test.func) is ast.Name and test.func.id == "any"
    return type(test) is ast.Compare and type(test.ops[0]) in {ast.In, ast.NotIn}


def possible_names(nodes: list[ast.expr]) -> Iterator[str]:
    """The names that a value may have: `text` of `text or "{}"`."""
    for node in nodes:
        if isinstance(node, (ast.Await, ast.NamedExpr)):
            yield from possible_names([node.value])
        elif isinstance(node, ast.BoolOp):
            yield from possible_names(node.values)
        elif isinstance(node, ast.IfExp):
            yield from possible_names([node.body, node.orelse])
        elif isinstance(node, ast.Name):
            yield node.id


def is_worked_out(node: ast.Subscript) -> bool:
    """`x[-n:]`, `x[-n]`, `x[len(x) - n:]` with an n that is no literal."""
    start = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
    if isinstance(start, ast.UnaryOp):
        return not (isinstance(start.operand, ast.Constant) and start.operand.value)
    return isinstance(start, ast.BinOp) and isinstance(node.slice, ast.Slice)


def has_default_text(node: ast.BoolOp) -> bool:
    """`f.get("arguments", "{}") or ...`: a default that is never empty."""
    return isinstance(node.op, ast.Or) and any(
        isinstance(value, ast.Call) and len(value.args) == 2 and text(value.args[0]) in _ARGUMENT_KEYS
        and called_name(value) == "get" and bool(text(value.args[1]))
        for value in node.values
    )  # fmt: skip


def is_table_of_tools(table: ast.expr) -> bool:
    said = ast.unparse(table).lower()
    return "tool" in said or "function" in said
