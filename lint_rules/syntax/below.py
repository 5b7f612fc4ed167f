"""In which fields of the nodes of an `ast` others may lie: a walk by them costs a third of `ast.walk`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

__all__ = ["BELOW", "blank", "walk"]

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


def walk(node: ast.AST) -> Iterator[Any]:
    """A node and all below it, but for operators and contexts, in no order that means anything."""
    stack: list[Any] = [node]
    while stack:
        here = stack.pop()
        yield here
        for field in BELOW[type(here)]:
            below = getattr(here, field, None)
            if type(below) is list:
                stack += below
            elif below is not None:
                stack.append(below)


def blank(node: Any) -> Any:
    """A node of the same class with nothing in it yet, which the class itself refuses to make from Python 3.15 on."""
    kind: Any = type(node)
    return kind.__new__(kind)
