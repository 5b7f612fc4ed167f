"""In which fields of the nodes of an `ast` others may lie: a walk by them costs a third of `ast.walk`."""

from __future__ import annotations

import ast

__all__ = ["BELOW"]

_LEAVES = frozenset(
    {
        "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "lineno",
        "module", "op", "ops", "rest", "simple", "type_comment", "type_ignores",
    }
)  # fmt: skip
"""Fields in which no node lies (operators are read off what they stand in)."""


class _Below(dict[type, tuple[str, ...]]):
    """The fields of a class of nodes in which others may lie. Only fields: other flake8 plugins leave links there."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = kind._fields if issubclass(kind, ast.AST) else ()
        self[kind] = found = tuple(name for name in fields if name not in _LEAVES)
        return found


BELOW = _Below({ast.Name: (), ast.Constant: ()})
