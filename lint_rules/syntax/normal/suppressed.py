"""`with suppress(E):` as `try`: what it takes is taken by a handler that does nothing.

Source: Python documentation, `contextlib.suppress`.
"""

from __future__ import annotations

import ast

from lint_rules.syntax.normal.names import Nodes, Scope

_NAMES = frozenset({"suppress", "contextlib.suppress"})


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    changed = False
    for scope in scopes if nodes.get(ast.With) else ():
        for block in scope.blocks:  # those that are added, too
            for place, line in enumerate(block):
                if type(line) is ast.With and (number := _suppressing(line)) is not None:
                    block[place] = _tried(line, number, scope)
                    changed = True
    return changed


def _suppressing(line: ast.With) -> int | None:
    """The place of the first `suppress(...)` among what a `with` enters, if that takes anything."""
    for number, item in enumerate(line.items):
        call = item.context_expr
        if type(call) is ast.Call and ast.unparse(call.func) in _NAMES:
            plain = call.args and not call.keywords and not any(type(arg) is ast.Starred for arg in call.args)
            return number if plain else None
    return None


def _tried(line: ast.With, number: int, scope: Scope) -> ast.stmt:
    """The same with `try`; what is entered before it stands around that, and what comes after it within."""
    before, call, after = line.items[:number], line.items[number].context_expr, line.items[number + 1 :]
    body: list[ast.stmt] = [ast.copy_location(ast.With(after, line.body), line)] if after else line.body
    taken = call.args if isinstance(call, ast.Call) else []
    errors = taken[0] if len(taken) == 1 else ast.copy_location(ast.Tuple(taken, ast.Load()), call)
    handler = ast.ExceptHandler(errors, None, [ast.copy_location(ast.Pass(), call)])
    tried = ast.copy_location(ast.Try(body, [ast.copy_location(handler, call)], [], []), line)
    inner: list[ast.stmt] = [tried]
    scope.blocks += [handler.body, *([body] if after else []), *([inner] if before else [])]
    return ast.copy_location(ast.With(before, inner), line) if before else tried
