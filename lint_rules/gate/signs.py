"""What stands in a file, read off its `ast` in one walk: nodes by kind, the words, and a few forms made of them.

Knows nothing of rules. All but the walk itself is worked out when it is first asked for: words first, as sets, and
forms only where the words of them are there.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any

from lint_rules.syntax.below import BELOW
from lint_rules.syntax.names import resolved, written

__all__ = ["Signs", "called_name", "dotted", "items", "last_name", "member", "text"]

_LONGEST_KEY = 60
"""Characters; a longer string is prose, no key."""
_KEY_METHODS = frozenset({"get", "pop", "setdefault"})


class Signs:
    """The nodes of a tree by kind, each list by level from the top, and what they say."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes: defaultdict[type[Any], list[Any]] = defaultdict(list)
        self._depth = 0
        nodes, level = self.nodes, [tree]
        while level:
            self._depth += 1
            below: list[Any] = []
            for node in level:
                kind = type(node)
                nodes[kind].append(node)
                for name in BELOW[kind]:
                    value = getattr(node, name, None)
                    if type(value) is list:
                        below += value
                    elif value is not None:
                        below.append(value)
            level = below

    def has(self, *kinds: type[ast.AST]) -> bool:
        return any(self.nodes.get(kind) for kind in kinds)  # asking for a kind leaves an empty list

    @property
    def size(self) -> int:
        """The number of nodes; names and operators that are fields of others are none."""
        return sum(map(len, self.nodes.values()))

    @property
    def levels(self) -> int:
        """How deep libcst's tree will be: the levels of this one, and the most that is flat here, and deep there."""
        nodes = self.nodes
        flat = [len(node.values) for node in nodes[ast.BoolOp]]
        for kind in (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp):
            flat += [len(node.generators) for node in nodes[kind]]
        flat += [node.name.count(".") for node in nodes[ast.alias]]
        flat += [(node.module or "").count(".") + 1 for node in nodes[ast.ImportFrom]]
        return self._depth + 1 + max(flat, default=0)

    # -- words --------------------------------------------------------------------------------------------------

    @cached_property
    def attributes(self) -> set[str]:
        return {node.attr for node in self.nodes[ast.Attribute]}

    @cached_property
    def names(self) -> set[str]:
        """Of variables, attributes, parameters, functions, classes, and the parts of what is imported."""
        nodes = self.nodes
        found = {node.id for node in nodes[ast.Name]} | self.attributes
        found.update([node.arg for node in nodes[ast.arg]])
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            found.update([node.name for node in nodes[kind]])
        for node in nodes[ast.alias]:
            found.update(node.name.split("."))
        for node in nodes[ast.ImportFrom]:
            found.update((node.module or "").split("."))
        return found

    @cached_property
    def texts(self) -> set[str]:
        """Short strings; of an annotation in quotes the last name."""
        strings = {node.value for node in self.nodes[ast.Constant] if isinstance(node.value, str)}
        return {text.rpartition(".")[2] if "." in text else text for text in strings if len(text) <= _LONGEST_KEY}

    @cached_property
    def keywords(self) -> set[str]:
        """Those of calls."""
        return {node.arg for node in self.nodes[ast.keyword] if node.arg is not None}

    @cached_property
    def called(self) -> set[str]:
        """The last names of what is called."""
        return {called_name(node) for node in self.nodes[ast.Call]}

    def mentions(self, known: Collection[str]) -> bool:
        return not (self.names.isdisjoint(known) and self.texts.isdisjoint(known) and self.keywords.isdisjoint(known))

    # -- forms --------------------------------------------------------------------------------------------------

    @cached_property
    def imported(self) -> dict[str, str]:
        """What imported names stand for: `c` for `litellm.completion`."""
        found = {}
        for node in self.nodes[ast.Import]:
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                found[bound] = alias.name if alias.asname else bound
        for node in self.nodes[ast.ImportFrom]:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}" if node.module else alias.name
        return found

    @cached_property
    def origins(self) -> dict[str, str]:
        """The modules, as written, from which names come: `..core` for `x` of `from ..core import x`."""
        found = {}
        for node in self.nodes[ast.ImportFrom]:
            for alias in node.names:
                found[alias.asname or alias.name] = "." * node.level + (node.module or "")
        return found

    @cached_property
    def whole(self) -> list[str]:
        """The modules, as written, of which all names are imported: `from utils import *`."""
        return ["." * n.level + (n.module or "") for n in self.nodes[ast.ImportFrom] if n.names[0].name == "*"]

    def calls_ending(self, ends: Collection[str]) -> list[tuple[str, ast.Call]]:
        """Calls of dotted names that end in one of these, imports resolved, with the whole name."""
        names = written(ends, self.imported)
        if self.called.isdisjoint(names):
            return []
        calls = [node for node in self.nodes[ast.Call] if called_name(node) in names]
        return [(resolved(dotted(node.func) or called_name(node), self.imported), node) for node in calls]

    def members(self, names: Collection[str]) -> list[tuple[ast.expr, str]]:
        """`(x, "k")` for each `x.k`, `x["k"]`, `x.get("k")` and `getattr(x, "k")` with one of these names."""
        found = []
        if not self.attributes.isdisjoint(names):
            found = [(node.value, node.attr) for node in self.nodes[ast.Attribute] if node.attr in names]
        if not self.texts.isdisjoint(names):
            found += [pair for pair in self._keyed if pair[1] in names]
        return found

    @cached_property
    def _keyed(self) -> list[tuple[ast.expr, str]]:
        """The members whose name is a string."""
        calls = [] if self.called.isdisjoint(_KEY_METHODS | {"getattr"}) else self.nodes[ast.Call]
        pairs = [member(node) for node in (*self.nodes[ast.Subscript], *calls)]
        return [pair for pair in pairs if pair is not None]

    @cached_property
    def displays(self) -> list[dict[str, ast.expr]]:
        """The string keys and values of each dict display and `dict(k=v)`."""
        dicts = [items(node) for node in self.nodes[ast.Dict]]
        if "dict" in self.called:
            dicts += [items(node) for node in self.nodes[ast.Call] if called_name(node) == "dict"]
        return dicts

    def class_names(self) -> Iterator[set[str]]:
        """The names that each class body binds."""
        for node in self.nodes[ast.ClassDef]:
            yield set(_bound(node.body))

    def class_values(self) -> Iterator[ast.expr | None]:
        """What class bodies assign."""
        for node in self.nodes[ast.ClassDef]:
            yield from (getattr(inside, "value", None) for inside in _statements(node.body))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, also those in branches, not those in functions and classes."""
    for node in body:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from _statements(getattr(node, part, []))


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (name.id for target in targets for name in _names(target))
        for part in ("body", "orelse", "handlers", "finalbody"):
            yield from _bound(getattr(node, part, []))


def _names(target: ast.AST | None) -> Iterator[ast.Name]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names(element)
    elif isinstance(target, ast.Name):
        yield target


# -- single nodes ---------------------------------------------------------------------------------------------------


def text(node: ast.AST | None) -> str | None:
    """The value of a string literal, else None."""
    return node.value if type(node) is ast.Constant and isinstance(node.value, str) else None


def called_name(node: ast.Call) -> str:
    """`append` of `a.b.append(x)`, `f` of `f(x)`, "" otherwise."""
    func = node.func
    if type(func) is ast.Attribute:
        return func.attr
    return func.id if type(func) is ast.Name else ""


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` for a chain of names, `a().b` for one with a call in it; None for what begins with something else."""
    parts: list[str] = []
    while True:
        if type(node) is ast.Attribute:
            parts.append(node.attr)
            node = node.value
        elif type(node) is ast.Call:
            parts.append("()")
            node = node.func
        elif type(node) is ast.Name:
            parts.append(node.id)
            return ".".join(reversed(parts)).replace(".()", "()")
        else:
            return None


def last_name(node: ast.AST) -> str:
    """`c` of `a.b.c` and of `c`, "" for what is no chain of names."""
    return (dotted(node) or "").rpartition(".")[2]


def member(node: ast.AST) -> tuple[ast.expr, str] | None:
    """`(x, "k")` for `x.k`, `x["k"]`, `x.get("k")` and `getattr(x, "k")`; else None."""
    if type(node) is ast.Attribute:
        return node.value, node.attr
    base: ast.expr | None = None
    at: ast.expr | None = None
    if type(node) is ast.Subscript:
        base, at = node.value, node.slice
    elif type(node) is ast.Call and node.args:
        if type(node.func) is ast.Attribute and node.func.attr in _KEY_METHODS:
            base, at = node.func.value, node.args[0]
        elif called_name(node) == "getattr" and len(node.args) > 1:
            base, at = node.args[0], node.args[1]
    key = text(at)
    return None if base is None or key is None else (base, key)


def items(node: ast.Dict | ast.Call) -> dict[str, ast.expr]:
    """String keys and their values of a dict display, keywords and theirs of a call; starred parts are left out."""
    if type(node) is ast.Dict:
        pairs = [(text(key), value) for key, value in zip(node.keys, node.values, strict=True)]
    else:
        pairs = [(keyword.arg, keyword.value) for keyword in node.keywords]  # type: ignore[union-attr]
    return {key: value for key, value in pairs if key is not None}
