"""What is put together in steps or by a call, as the display that it amounts to."""

from __future__ import annotations

import ast
from typing import Any

from lint_rules.syntax.normal.names import Nodes, Scopes, mentions
from lint_rules.syntax.word import Word


def normalize(scopes: Scopes, nodes: Nodes) -> bool:
    """`dict(a=1)` as `{"a": 1}`; `x = {}` and `x["a"] = 1` as `x = {"a": 1}`; `x += [a]` as `x.append(a)`."""
    changed = False
    for node in nodes.get(ast.Call, ()):
        changed |= _appends(node) or _is_display(node)
    for _, blocks in scopes:
        for block in blocks:
            changed |= _put_together(block)
            for place, line in enumerate(block):
                if type(line) is ast.AugAssign and (grown := _grown(line)) is not None:
                    block[place] = grown
                    changed = True
    return changed


def _appends(call: ast.Call) -> bool:
    """`x.extend([a])` becomes `x.append(a)`."""
    if type(call.func) is ast.Attribute and call.func.attr == "extend" and len(call.args) == 1 and not call.keywords:
        only = _only(call.args[0])
        if only is not None:
            call.func.attr, call.args = "append", [only]
            return True
    return False


def _is_display(call: Any) -> bool:
    """`dict(a=1)` becomes `{"a": 1}`."""
    if type(call.func) is not ast.Name or call.func.id != "dict" or call.args or not call.keywords:
        return False
    keys = [
        None if keyword.arg is None else ast.copy_location(ast.Constant(Word(keyword.arg, keyword.arg)), keyword)
        for keyword in call.keywords
    ]
    values = [keyword.value for keyword in call.keywords]
    call.__class__ = ast.Dict
    call.keys, call.values = keys, values
    return True


def _only(node: ast.expr) -> ast.expr | None:
    """The one element of a list or tuple display."""
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == 1 and type(node.elts[0]) is not ast.Starred:
        return node.elts[0]
    return None


def _grown(line: ast.AugAssign) -> ast.Expr | None:
    only = _only(line.value) if type(line.op) is ast.Add and type(line.value) is ast.List else None
    if only is None:
        return None
    target: Any = line.target
    target.ctx = ast.Load()
    method = ast.copy_location(ast.Attribute(target, "append", ast.Load()), target)
    call = ast.copy_location(ast.Call(method, [only], []), line)
    return ast.copy_location(ast.Expr(call), line)


def _put_together(block: list[ast.stmt]) -> bool:
    """A dict display, and the keys that the next lines put into it."""
    changed = False
    place = 0
    while place < len(block):
        name, display = _named_display(block[place])
        while display is not None and place + 1 < len(block):
            put = _put(block[place + 1], name)
            if put is None:
                break
            display.keys.append(put[0])
            display.values.append(put[1])
            del block[place + 1]
            changed = True
        place += 1
    return changed


def _named_display(line: ast.stmt) -> tuple[str, ast.Dict | None]:
    target: Any = None
    if type(line) is ast.Assign and len(line.targets) == 1:
        target = line.targets[0]
    elif type(line) is ast.AnnAssign:
        target = line.target
    if type(target) is not ast.Name:
        return "", None
    value: Any = line.value  # type: ignore[attr-defined]
    return target.id, value if type(value) is ast.Dict else None


def _put(line: ast.stmt, name: str) -> tuple[ast.expr, ast.expr] | None:
    """`x["key"] = value`, where the value does not look at `x`."""
    if type(line) is not ast.Assign or len(line.targets) != 1:
        return None
    target = line.targets[0]
    if type(target) is not ast.Subscript or type(target.value) is not ast.Name or target.value.id != name:
        return None
    key = target.slice
    if type(key) is not ast.Constant or type(key.value) is not str or mentions(line.value, name):
        return None
    return key, line.value
