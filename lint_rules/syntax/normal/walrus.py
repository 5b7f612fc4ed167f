"""`if (x := f()).ok` as `x = f()` and `if x.ok`: where the value is worked out first anyway."""

from __future__ import annotations

import ast
from typing import Any

from lint_rules.syntax.normal.names import Nodes, Scope


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    changed = False
    for scope in scopes if nodes.get(ast.NamedExpr) else ():
        for block in scope.blocks:
            for place in range(len(block) - 1, -1, -1):
                line: Any = block[place]
                field = "test" if type(line) is ast.If else "value"
                if isinstance(line, (ast.If, ast.Expr, ast.Assign, ast.Return)) and getattr(line, field) is not None:
                    taken = _take(line, field)
                    if taken is not None:
                        assigned = ast.Assign([taken.target], taken.value)
                        block.insert(place, ast.copy_location(assigned, taken))
                        changed = True
    return changed


def _take(holder: Any, field: str) -> ast.NamedExpr | None:
    """Takes the assignment out of an expression, if nothing is evaluated before it; the name stays there."""
    while True:
        here = getattr(holder, field)
        if isinstance(here, list):
            here = here[0]
        if type(here) is ast.NamedExpr:
            left = ast.copy_location(ast.Name(here.target.id, ast.Load()), here.target)
            if isinstance(getattr(holder, field), list):
                getattr(holder, field)[0] = left
            else:
                setattr(holder, field, left)
            return here
        below = _FIRST.get(type(here))
        if below is None:
            return None
        holder, field = here, below


_FIRST: dict[type, str] = {
    ast.UnaryOp: "operand",
    ast.BoolOp: "values",
    ast.Compare: "left",
    ast.BinOp: "left",
    ast.Attribute: "value",
    ast.Subscript: "value",
    ast.Call: "func",
    ast.Await: "value",
}
"""What of an expression is evaluated first."""
