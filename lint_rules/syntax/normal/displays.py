"""What is put together in steps or by a call, as the display that it amounts to."""

from __future__ import annotations

import ast
from typing import Any

from lint_rules.syntax.normal.names import Nodes, Scope, assigned, mentions
from lint_rules.syntax.word import Word


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    """`dict(a=1)` as `{"a": 1}`; `x = {}` and `x["a"] = 1` as `x = {"a": 1}`; `x += [a]` as `x.append(a)`.

    And `x.clear()`, behind which `x` is filled again, as `x[:] = [a, *more]`.
    """
    changed, clears = False, False
    for node in nodes.get(ast.Call, ()):
        kind = type(node.func)
        if kind is ast.Attribute:
            changed |= node.func.attr == "extend" and _appends(node)
            clears |= node.func.attr == "clear" and not node.args
        elif kind is ast.Name:
            changed |= node.func.id == "dict" and _is_display(node)
    puts = any(type(node.ctx) is ast.Store for node in nodes.get(ast.Subscript, ()))
    grows = bool(nodes.get(ast.AugAssign))
    for scope in scopes if puts or grows or clears else ():
        for block in scope.blocks:
            changed |= puts and _put_together(block)
            changed |= clears and _filled_again(block)
            for place, line in enumerate(block) if grows else ():
                if type(line) is ast.AugAssign and (grown := _grown(line)) is not None:
                    block[place] = grown
                    changed = True
    return changed


def _appends(call: Any) -> bool:
    """`x.extend([a])` becomes `x.append(a)`."""
    only = _only(call.args[0]) if len(call.args) == 1 and not call.keywords else None
    if only is None:
        return False
    call.func.attr, call.args = "append", [only]
    return True


def _is_display(call: Any) -> bool:
    """`dict(a=1)` becomes `{"a": 1}`."""
    if call.args or not call.keywords:
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
    for place in range(len(block) - 2, -1, -1):
        first: Any = block[place]
        name = _annotated(first) if type(first) is ast.AnnAssign else assigned(first)
        end = place + 1
        while name and type(first.value) is ast.Dict and end < len(block):
            put = _put(block[end], name)
            if put is None:
                break
            first.value.keys.append(put[0])
            first.value.values.append(put[1])
            end += 1
        if end > place + 1:
            del block[place + 1 : end]
            changed = True
    return changed


def _filled_again(block: list[ast.stmt]) -> bool:
    """A list that is emptied, and what the next lines put into it."""
    changed = False
    for place in range(len(block) - 2, -1, -1):
        emptied = _method(block[place], "clear")
        if emptied is None or type(emptied.func.value) not in (ast.Name, ast.Attribute):
            continue
        target, end, parts = emptied.func.value, place + 1, list[ast.expr]()
        while end < len(block) and (part := _added(block[end], ast.unparse(target))) is not None:
            parts.append(part)
            end += 1
        if parts:
            whole = ast.copy_location(ast.Subscript(target, ast.Slice(), ast.Store()), target)
            filled = ast.copy_location(ast.List(parts, ast.Load()), emptied)
            block[place:end] = [ast.copy_location(ast.Assign([whole], filled), block[place])]
            changed = True
    return changed


def _method(line: ast.stmt, name: str) -> Any:
    """The call of a method of this name that a statement is."""
    call = line.value if type(line) is ast.Expr else None
    is_one = type(call) is ast.Call and type(call.func) is ast.Attribute and call.func.attr == name
    return call if is_one else None


def _added(line: ast.stmt, target: str) -> ast.expr | None:
    """What a statement adds to a list, as an element of it, where that does not look at the list."""
    one, more = _method(line, "append"), _method(line, "extend")
    call = one or more
    if call is None or len(call.args) != 1 or call.keywords or ast.unparse(call.func.value) != target:
        return None
    value = call.args[0]
    if type(value) is ast.Starred or target in ast.unparse(value):
        return None
    return value if one is not None else ast.copy_location(ast.Starred(value, ast.Load()), value)


def _annotated(line: ast.AnnAssign) -> str:
    return line.target.id if type(line.target) is ast.Name else ""


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
