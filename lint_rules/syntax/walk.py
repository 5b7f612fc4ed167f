"""Walking libcst trees by what matters: no whitespace, commas, parentheses, operators, attribute or keyword names.

Several times cheaper than a libcst visitor, and without recursion, so that deep nesting cannot end a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TypeVar

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)

_PUNCTUATION = frozenset(
    {
        "asname_whitespace", "ast", "attr", "colon", "comma", "default_indent", "default_newline", "dot", "encoding",
        "end", "equal", "first_colon", "footer", "has_trailing_newline", "header", "indent", "keyword", "lbrace",
        "lbracket", "leading_lines", "leading_whitespace", "lines_after_decorators", "lpar", "newline", "operator",
        "posonly_ind", "rbrace", "rbracket", "rpar", "second_colon", "semicolon", "separator", "star", "start",
        "tilde_or_minus", "trailing_whitespace", "type_parameters",
    }
)  # fmt: skip
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}
_NO_NODE = frozenset({type(None), str, bool, cst.MaybeSentinel})
_NEW_SCOPE = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def is_formatting(field: str) -> bool:
    """Whether what a field of a node holds is passed over."""
    return field in _PUNCTUATION or field.startswith(("whitespace", "lines_", "_"))


def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = tuple(f.name for f in fields(kind) if not is_formatting(f.name) and f.type is not str)
    _FIELDS[kind] = names
    return names


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The meaningful direct children of `node`, in the order of the class's fields.

    Compares types: an `isinstance` that fails is slow with the abstract classes of libcst, and this is the hot spot.
    """
    kind = type(node)
    found: list[cst.CSTNode] = []
    names = _FIELDS.get(kind)
    for name in _fields(kind) if names is None else names:
        value = getattr(node, name)
        of = type(value)
        if of is tuple or of is list:
            found.extend(value)
        elif of not in _NO_NODE:
            found.append(value)
    return found


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`node` and everything below it, parents first, siblings in source order."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(reversed(children(here)))


def nodes_below(node: cst.CSTNode, kind: type[Node]) -> list[Node]:
    """Those nodes of `walk_scope` that are of exactly this type: a list, as most are asked for where there are none."""
    found: list[Node] = []
    stack = [node]
    while stack:
        here = stack.pop()
        of = type(here)
        if of is kind:
            found.append(here)  # type: ignore[arg-type]
        if of not in _NEW_SCOPE or here is node:
            below = children(here)
            below.reverse()
            stack += below
    return found


def walk_scope(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Like `walk`, without entering nested functions, classes and lambdas (they themselves are yielded)."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        if here is node or type(here) not in _NEW_SCOPE:
            stack.extend(reversed(children(here)))
