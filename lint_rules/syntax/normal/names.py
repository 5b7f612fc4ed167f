"""The names of one function: where they are bound, and where they are read."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from lint_rules.syntax.below import BELOW

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_SCOPES = frozenset(SCOPES)


Nodes = Mapping[type, "list[Any]"]
"""The nodes of a tree by kind."""
Scopes = list[tuple[Any, "list[list[ast.stmt]]"]]
"""A module and its functions, each with its lists of statements."""


def scopes(tree: ast.Module, nodes: Nodes) -> Scopes:
    functions = [*nodes.get(ast.FunctionDef, ()), *nodes.get(ast.AsyncFunctionDef, ())]
    return [(scope, list(blocks(scope))) for scope in (tree, *functions)]


class Names:
    """What a function, or a module, binds and reads; nested functions only read, and what they bind is theirs."""

    def __init__(self, scope: Any) -> None:
        self.is_module = isinstance(scope, ast.Module)
        self.stored: Counter[str] = Counter()
        self.loaded: defaultdict[str, list[ast.Name]] = defaultdict(list)
        self.captured: set[str] = set()
        """Names that a nested function or class mentions."""
        self.attributes: set[str] = set()
        """The last names of attributes that are set or deleted, and of what they belong to."""
        self.foreign: set[str] = set()
        self._places: dict[ast.AST, tuple[Any, str, int | None]] = {}
        args = getattr(scope, "args", None)
        for arg in ast.walk(args) if args is not None else ():
            if type(arg) is ast.arg:
                self.stored[arg.arg] += 1
        stack: list[Any] = list(getattr(scope, "body", ()))
        while stack:
            node = stack.pop()
            if type(node) in _SCOPES:
                self.captured.update(name.id for name in ast.walk(node) if type(name) is ast.Name)
                if not isinstance(node, ast.Lambda):
                    self.stored[node.name] += 1
                continue
            self._note(node)
            for field in BELOW[type(node)]:
                below = getattr(node, field, None)
                if type(below) is list:
                    self._places.update([(part, (node, field, place)) for place, part in enumerate(below)])
                    stack += below
                elif below is not None:
                    self._places[below] = node, field, None
                    stack.append(below)

    def _note(self, node: Any) -> None:
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Load:
                self.loaded[node.id].append(node)
            else:
                self.stored[node.id] += 1
        elif kind is ast.AugAssign and type(node.target) is ast.Name:
            self.stored[node.target.id] += 1
        elif kind is ast.Attribute and type(node.ctx) is not ast.Load:
            self.attributes.add(node.attr)
        elif kind in (ast.Global, ast.Nonlocal):
            self.foreign.update(node.names)
        elif kind is ast.ExceptHandler and node.name:
            self.stored[node.name] += 1
        elif kind is ast.alias:
            self.stored[(node.asname or node.name).partition(".")[0]] += 1
        elif kind in (ast.MatchAs, ast.MatchStar) and node.name:
            self.stored[node.name] += 1
        elif kind is ast.MatchMapping and node.rest:
            self.stored[node.rest] += 1

    def replace(self, node: ast.expr, other: ast.expr) -> None:
        """Puts another expression in the place of one."""
        holder, field, place = self._places[node]
        if place is None:
            setattr(holder, field, other)
        else:
            getattr(holder, field)[place] = other

    def bound_once(self, name: str) -> bool:
        """Whether a name has one value only: set once, here, and not from elsewhere."""
        return self.stored[name] == 1 and name not in self.foreign


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements that lie in a function or module, without those of nested functions and classes."""
    stack: list[Any] = [node]
    while stack:
        here = stack.pop()
        for name in ("body", "orelse", "finalbody"):
            block = getattr(here, name, None)
            if isinstance(block, list) and block:
                yield block
                stack.extend(line for line in block if not isinstance(line, SCOPES))
        stack.extend(getattr(here, "handlers", ()))
        stack.extend(getattr(here, "cases", ()))


def mentions(node: ast.AST, name: str) -> bool:
    return any(type(inside) is ast.Name and inside.id == name for inside in ast.walk(node))
