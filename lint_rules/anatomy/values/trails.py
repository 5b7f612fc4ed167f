"""Where a value may get to in a function, told by names alone: a cheap look before the data-flow of `sharing`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.values.copies import LAST, Copies, Path, path_of, taken_over
from lint_rules.syntax import expressions as ex

MUTATORS = frozenset(
    {
        "append", "extend", "insert", "pop", "popitem", "clear", "update", "remove", "setdefault", "sort", "reverse",
        "add", "discard", "appendleft", "__setitem__",
    }
)  # fmt: skip
"""Methods that store into their object."""
_HANDS_THROUGH = frozenset(
    {
        cst.Await, cst.IfExp, cst.BooleanOperation, cst.BinaryOperation, cst.Dict, cst.DictElement, cst.List, cst.Tuple,
        cst.StarredDictElement, cst.Element, cst.StarredElement, cst.ListComp, cst.DictComp, cst.CompFor, cst.Subscript,
        cst.GeneratorExp,
    }
)  # fmt: skip
"""Nodes whose value may be, hold or copy that of a part of them."""


class Trails:
    """Follows values through the function of `copies`. Handing one to a call that `enters` counts as a store."""

    def __init__(self, copies: Copies, enters: Callable[[cst.Call], bool]) -> None:
        self._copies = copies
        self._function = copies.function
        self._parent = copies.facts.module.parent
        self._enters = enters

    def meet_store(self, names: Iterable[str], nodes: Iterable[cst.CSTNode]) -> bool:
        """Whether there may be a store into what `names` hold at the start, or `nodes` give, by whatever name."""
        waiting: list[Path] = [(name,) for name in names]
        for node in nodes:
            targets = self._targets(node, 0)
            if targets is None:
                return True
            waiting += targets
        known: set[Path] = set()
        while waiting:
            path = waiting.pop()
            if path not in known:
                known.add(path)
                for name in self._function.named(path[0]):
                    targets = self._from(name, path)
                    if targets is None:
                        return True
                    waiting += targets
        return False

    def _from(self, name: cst.Name, path: Path) -> list[Path] | None:
        """Where the value at `path`, of which a name is the first step, goes from the place where the name stands."""
        here: cst.CSTNode = name
        there: Path = (name.value,)
        while (wider := self._wider(here)) is not None:
            if type(wider) is cst.Call and ex.called_name(wider) in MUTATORS and path == there[: len(path)]:
                return None
            here, there = wider, path_of(wider) or there
        steps = min(len(path), len(there))
        return self._targets(here, len(there) - len(path)) if path[:steps] == there[:steps] else []

    def _wider(self, node: cst.CSTNode) -> cst.BaseExpression | None:
        """What reads or writes a part of what a node stands for: `x["k"]` and `x.get("k")` of `x`."""
        outer = self._parent[node]
        if type(outer) is cst.Arg:
            outer = self._parent[outer]
        elif type(outer) is cst.Attribute:
            call = self._parent[outer]
            if type(call) is cst.Call and call.func is outer:
                outer = call
            else:
                return outer
        elif type(outer) is cst.BooleanOperation:
            return outer if outer.left is node else None
        elif type(outer) is cst.Subscript:
            return outer if path_of(outer) is not None else None
        if type(outer) is not cst.Call or path_of(outer) is None:
            return None
        return outer if (ex.receiver(outer) or outer.args[0].value) is node else None

    def _targets(self, node: cst.CSTNode, below: int) -> list[Path] | None:
        """To what a statement binds a value that stands in it; None for a store into the value.

        The node is so many levels `below` the value that is followed, above it where that is negative.
        """
        found: list[Path] = []
        while True:
            outer = self._parent[node]
            if type(outer) is cst.Arg or type(outer) is cst.Attribute:
                outer = self._parent[outer]
                if type(outer) is not cst.Call:
                    return found
                name = ex.called_name(outer)
                base = ex.receiver(outer)
                if base is node:
                    if name in MUTATORS:
                        return found if below < 0 else None
                elif self._enters(outer):
                    return None
                elif name == "append" and base is not None:
                    path = path_of(base)
                    if path is not None:
                        found.append((*path, LAST) if path_of(outer.args[0].value) is None else path)
                else:
                    found += [(into.value,) for into, _, _ in taken_over(outer)]
                if not self._copies.hands_through(outer):
                    return found
            elif type(outer) is cst.NamedExpr:
                found += _paths(outer.target)
            elif type(outer) is cst.Assign:
                return found + [path for target in outer.targets for path in _paths(target.target)]
            elif type(outer) is cst.For:
                return [*found, *_paths(outer.target)] if outer.iter is node else found
            elif type(outer) is cst.AnnAssign and outer.value is node:
                return [*found, *_paths(outer.target)]
            elif type(outer) is cst.AugAssign and outer.target is node:
                return None if below >= 0 and (below or type(outer.value) in {cst.List, cst.ListComp}) else found
            elif type(outer) is cst.AugAssign:
                return found + [(into.value,) for into, _, _ in taken_over(outer)]
            elif type(outer) is cst.AssignTarget or type(outer) is cst.AnnAssign or type(outer) is cst.Del:
                return None if below > 0 else found
            elif type(outer) not in _HANDS_THROUGH:
                return found
            node = outer


def _paths(target: cst.BaseExpression) -> Iterator[Path]:
    """Where a target keeps what is bound to it."""
    if type(target) is cst.Tuple or type(target) is cst.List:
        for element in target.elements:
            yield from _paths(element.value)
    else:
        path = path_of(target)
        if path is not None:
            yield path
