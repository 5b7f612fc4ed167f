"""Walking libcst trees by what matters: no whitespace, commas, parentheses, operators, attribute or keyword names.

Several times cheaper than a libcst visitor, and without recursion, so that deep nesting cannot end a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, fields
from typing import Any, TypeVar, get_origin

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
_NO_NODE = frozenset({type(None), str, bool, cst.MaybeSentinel})
_NEW_SCOPE = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def is_formatting(field: str) -> bool:
    """Whether what a field of a node holds is passed over."""
    return field in _PUNCTUATION or field.startswith(("whitespace", "lines_", "_"))


class _Children(dict[type[cst.CSTNode], Callable[[Any], list[cst.CSTNode]]]):
    """How the children of the nodes of each class are found: compiled, for this is the hot spot."""

    def __missing__(self, kind: type[cst.CSTNode]) -> Callable[[Any], list[cst.CSTNode]]:
        parts = [_part(f) for f in fields(kind) if not is_formatting(f.name) and f.type not in _NO_NODE]
        made: Callable[[Any], list[cst.CSTNode]] = eval(f"lambda node: [{', '.join(parts)}]", {"those_in": _those_in})
        self[kind] = made
        return made


def _part(field: Field[Any]) -> str:
    """What a field adds to the display of a node's children; its annotation tells whether it holds one or several."""
    value, of = f"node.{field.name}", get_origin(field.type)
    if of is None:
        return value
    return f"*{value}" if of is Sequence else f"*those_in({value})"


def _those_in(value: Any) -> Sequence[Any]:
    """The nodes in a field that holds one, several or none."""
    kind = type(value)
    if kind in _NO_NODE:
        return ()
    return value if kind is tuple or kind is list else (value,)


CHILDREN = _Children()


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The meaningful direct children of `node`, in the order of the class's fields."""
    return CHILDREN[type(node)](node)


def levels_below(node: cst.CSTNode) -> int:
    """How deep a tree is: 1 for a node alone."""
    levels, row = 0, [node]
    while row:
        levels, row = levels + 1, [child for each in row for child in children(each)]
    return levels


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


def last_statement(body: cst.BaseSuite) -> cst.CSTNode | None:
    """The statement that ends a block, of several in one line the last."""
    line: cst.CSTNode | None = body.body[-1] if body.body else None
    return line.body[-1] if type(line) is cst.SimpleStatementLine else line
