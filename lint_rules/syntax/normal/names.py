"""The names of one function: where they are bound, and where they are read."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from lint_rules.syntax.below import BELOW, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_SCOPES = frozenset(SCOPES)
_HOLDERS = frozenset(
    kind
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.stmt) and not {"body", "cases"}.isdisjoint(kind._fields)
).difference(SCOPES)
"""Statements in which others lie that run as part of the same function."""

Nodes = Mapping[type, "list[Any]"]
"""The nodes of a tree by kind."""


class Scope:
    """A module or function, with its lists of statements."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.blocks = list(blocks(node))
        self._names: Names | None = None

    @property
    def names(self) -> Names:
        """Its names as they were when they were first asked for, until `settle`."""
        if self._names is None:
            self._names = Names(self.node)
        return self._names

    def settle(self, changed: bool) -> None:
        """Forgets names that are not true any more; what lies in nested scopes may have changed with these."""
        if changed or (self._names is not None and self._names.has_nested):
            self._names = None


def scopes(tree: ast.Module, nodes: Nodes) -> list[Scope]:
    """A module and its functions."""
    return [Scope(node) for node in (tree, *nodes.get(ast.FunctionDef, ()), *nodes.get(ast.AsyncFunctionDef, ()))]


def exchanged(tree: ast.Module, new: Mapping[Any, ast.expr]) -> bool:
    """Puts expressions in the place of others; whether there are any."""
    holders: list[Any] = [tree] if new else []
    while holders:
        node = holders.pop()
        for field in BELOW[type(node)]:
            below = getattr(node, field, None)
            if isinstance(below, list):
                below[:] = [new.get(each, each) for each in below]
                holders += below
            elif below is not None:
                if below in new:
                    below = new[below]
                    setattr(node, field, below)
                holders.append(below)
    return bool(new)


def in_each(scopes: list[Scope], step: Callable[[Scope], bool]) -> bool:
    """Does something to each scope, which tells whether it changed it; whether any was."""
    changed = False
    for scope in scopes:
        done = step(scope)
        scope.settle(done)
        changed |= done
    return changed


class Names:
    """What a function, or a module, binds and reads; nested functions only read, and what they bind is theirs."""

    def __init__(self, scope: Any) -> None:
        self.is_module = isinstance(scope, ast.Module)
        self.has_nested = False
        self.stored: Counter[str] = Counter()
        self.loaded: defaultdict[str, list[ast.Name]] = defaultdict(list)
        self.captured: set[str] = set()
        """Names that a nested function or class mentions."""
        self.attributes: set[str] = set()
        """The last names of attributes that are set or deleted."""
        self.foreign: set[str] = set()
        self._numbers: dict[str, int] = {}
        """How many names like one were tried."""
        self._places: dict[ast.Name, tuple[Any, str, int | None]] = {}
        args = getattr(scope, "args", None)
        for arg in walk(args) if args is not None else ():
            if type(arg) is ast.arg:
                self.stored[arg.arg] += 1
        self._read(scope.body)

    def _read(self, body: list[ast.stmt]) -> None:
        stack: list[Any] = list(body)
        places = self._places
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                if type(node.ctx) is ast.Load:
                    self.loaded[node.id].append(node)
                else:
                    self.stored[node.id] += 1
                continue
            if kind in _SCOPES:
                self.has_nested = True
                self.captured.update([name.id for name in walk(node) if type(name) is ast.Name])
                if kind is not ast.Lambda:
                    self.stored[node.name] += 1
                continue
            if kind in _NOTED:
                self._note(node, kind)
            for field in BELOW[kind]:
                below = getattr(node, field, None)
                if type(below) is ast.Name:
                    places[below] = node, field, None
                    stack.append(below)
                elif type(below) is list:
                    for place, part in enumerate(below):
                        if type(part) is ast.Name:
                            places[part] = node, field, place
                    stack += below
                elif below is not None:
                    stack.append(below)

    def _note(self, node: Any, kind: type) -> None:
        if kind is ast.Attribute:
            if type(node.ctx) is not ast.Load:
                self.attributes.add(node.attr)
        elif kind is ast.AugAssign:
            if type(node.target) is ast.Name:
                self.stored[node.target.id] += 1
        elif kind in (ast.Global, ast.Nonlocal):
            self.foreign.update(node.names)
        elif kind is ast.alias:
            self.stored[(node.asname or node.name).partition(".")[0]] += 1
        elif kind is ast.MatchMapping:
            if node.rest:
                self.stored[node.rest] += 1
        elif node.name:
            self.stored[node.name] += 1

    def replace(self, node: ast.Name, other: ast.expr) -> None:
        """Puts another expression in the place of a name that is read."""
        holder, field, place = self._places[node]
        if place is None:
            setattr(holder, field, other)
        else:
            getattr(holder, field)[place] = other

    def exchange(self, line: ast.stmt, others: list[ast.stmt]) -> None:
        """Other statements stand where one stood."""
        gone = Names(ast.Module([line], []))
        self.stored.subtract(gone.stored)
        for name, uses in gone.loaded.items():
            self.loaded[name] = [use for use in self.loaded[name] if use not in uses]
        self._read(others)

    def free(self, name: str, others: Container[str] = ()) -> str:
        """A name like this one that is not taken here, nor by others."""
        plain = free = str.__str__(name)
        number = self._numbers.get(plain, 0)
        while free in self.stored or free in self.loaded or free in others:
            number += 1
            free = f"{plain}_{number}"
        self._numbers[plain] = number
        return free

    def bound_once(self, name: str) -> bool:
        """Whether a name has one value only: set once, here, and not from elsewhere."""
        return self.stored[name] == 1 and name not in self.foreign


_NOTED = frozenset(
    {
        ast.Attribute, ast.AugAssign, ast.Global, ast.Nonlocal, ast.ExceptHandler, ast.alias, ast.MatchAs,
        ast.MatchStar, ast.MatchMapping,
    }
)  # fmt: skip
"""What binds names otherwise than by a name."""


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements that lie in a function or module, without those of nested functions and classes."""
    stack: list[Any] = [node]
    while stack:
        here = stack.pop()
        for name in ("body", "orelse", "finalbody"):
            block = getattr(here, name, None)
            if block:
                yield block
                stack += [line for line in block if type(line) in _HOLDERS]
        stack.extend(getattr(here, "handlers", ()))
        stack.extend(getattr(here, "cases", ()))


def assigned(line: ast.stmt) -> str:
    """The name of `name = value`, "" of anything else."""
    if type(line) is ast.Assign and len(line.targets) == 1 and type(line.targets[0]) is ast.Name:
        return line.targets[0].id
    return ""


def mentions(node: ast.AST, name: str) -> bool:
    return any(type(inside) is ast.Name and inside.id == name for inside in walk(node))
