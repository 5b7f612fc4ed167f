"""Schemas of tools, by the names under which these keep them."""

from __future__ import annotations

import ast

from lint_rules.anatomy import vocabulary as words
from lint_rules.gate.signs import called_name, dotted, member

__all__ = ["NAMES", "is_one"]

NAMES = words.SCHEMA_NAMES | {"parameters"}
"""Names of members that may be schemas."""
_OWNERS = ("tool", "func", "spec")


def is_one(base: ast.expr, name: str) -> bool:
    """Whether a member of this name is a schema."""
    if name != "parameters":
        return name in words.SCHEMA_NAMES
    if type(base) is ast.Call and called_name(base) == "signature":
        return False  # what Python knows of a function
    inside = member(base)
    owner = (inside[1] if inside is not None else dotted(base) or "").lower()
    return "call" not in owner and any(word in owner for word in _OWNERS)
