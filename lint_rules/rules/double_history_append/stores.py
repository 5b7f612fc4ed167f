"""Stores of conversations (sessions, memories) that are read and written by methods, also through helpers of the file.

`session.get_items()` loads, `session.add_items(items)` adds. A value is followed backwards to what it holds as a whole:
through names, concatenations, copies, conversions, and functions of the file that give back what they got or loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import is_method
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record

_NOUNS = ("messages", "items", "history", "turns")
_LOADS = ("get_", "load", "fetch", "read", "aget_", "list_")
_ADDS = ("add_", "append_", "extend", "aadd_")
_CONVERTS = re.compile(r"(^|_)(to|convert|copy|deepcopy|normalize|serialize)(_|$)")
_REPLACES = re.compile(r"clear|reset|delete|remove|replace|truncate|overwrite|pop|set_")
_DEEPEST = 4
_MOST = 60


@dataclass(frozen=True, slots=True)
class Held:
    """What a value holds as a whole: what `node` loaded from the store `owner`, or the parameter `owner` (no node)."""

    owner: str
    node: cst.Call | None


@record
class Addition:
    """`node` adds `value` to the store `owner`, itself or in a function of the file."""

    node: cst.Call
    owner: str
    value: cst.BaseExpression


def adds(call: cst.Call) -> bool:
    """`store.append_messages(...)`, `session.add_items(...)`: a method that adds several."""
    name = ex.called_name(call)
    return ex.receiver(call) is not None and name.startswith(_ADDS) and name.endswith((*_NOUNS, "extend"))


def loads(call: cst.Call) -> bool:
    """`session.get_items()`, `memory.load_messages()`, `store.load()`."""
    name = ex.called_name(call)
    if ex.receiver(call) is None or not name.startswith(_LOADS):
        return False
    return name == "load" or any(noun in name for noun in _NOUNS)


class Stores:
    """The stores of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self._returned: dict[Scope, list[Held]] = {}
        self._added: dict[Scope, list[tuple[str, str]]] = {}

    @cached_property
    def _adding(self) -> set[Scope]:
        """The functions that add to a store, themselves or in what they run."""
        return self._running(adds)

    def _running(self, does: Callable[[cst.Call], bool]) -> set[Scope]:
        calls = [call for call in self.module.nodes_of(cst.Call) if does(call)]
        return self.anatomy.calls.with_callers({self.module.scope_of[call].function for call in calls})

    @cached_property
    def _replacing(self) -> set[str | None]:
        """The stores that are emptied or replaced anywhere in the file."""
        return {
            ex.dotted(base)
            for call in self.module.nodes_of(cst.Call)
            if (base := ex.receiver(call)) is not None and _REPLACES.search(ex.called_name(call))
        }

    def doubled(self) -> Iterator[tuple[Scope, Addition, cst.Call]]:
        """Where a function adds to a store what it has loaded from it; one of both stands in another function."""
        loading = self._running(loads)
        for function in self.module.functions if loading else ():
            if function.kind == "function" and function in loading and function in self._adding:
                for addition in self.additions(function, 0):
                    loaded = self._loaded_before(addition, function)
                    if loaded is not None:
                        yield function, addition, loaded

    def _loaded_before(self, addition: Addition, function: Scope) -> cst.Call | None:
        if addition.owner in self._replacing:
            return None
        for held in self.held(addition.value, function, 0):
            if held.node is not None and held.owner == addition.owner:
                if self._bound(held.owner, held.node, function) == self._bound(held.owner, addition.node, function):
                    return held.node
        return None

    def _bound(self, owner: str, node: cst.CSTNode, function: Scope) -> set[int]:
        """Which definitions of a store's name hold at a place."""
        points = self.anatomy.flow(function).enclosing(node, self.module.parent)
        name = owner.partition(".")[0]
        return {id(found) for point in points[:1] for found in self.anatomy.reaching(function).at(point, name)}

    # -- what is added ----------------------------------------------------------------------------------------

    def additions(self, function: Scope, depth: int) -> Iterator[Addition]:
        """The calls of a function that add to a store, themselves or by what they run."""
        for call in function.nodes_of(cst.Call):
            if adds(call):
                owner = ex.dotted(ex.receiver(call) or call)
                if owner is not None:
                    yield from (Addition(call, owner, arg.value) for arg in call.args if not arg.star)
                continue
            callee = self.anatomy.facts.slots.callee(call)
            if callee is not None and callee is not function and callee in self._adding and depth < _DEEPEST:
                given = self._given(call, callee)
                for owner, name in self._added_by(callee, depth):
                    store = _translated(owner, call, callee, given)
                    if store is not None and name in given:
                        yield Addition(call, store, given[name])

    def _added_by(self, function: Scope, depth: int) -> list[tuple[str, str]]:
        """The stores that a function adds to, each with the parameter of which it adds all."""
        if function not in self._added:
            self._added[function] = []
            self._added[function] = [
                (addition.owner, held.owner)
                for addition in self.additions(function, depth + 1)
                for held in self.held(addition.value, function, 0)
                if held.node is None
            ]
        return self._added[function]

    # -- what a value holds -----------------------------------------------------------------------------------

    def held(self, value: cst.BaseExpression, function: Scope, depth: int) -> Iterator[Held]:
        """What a value holds as a whole: parameters, and what was loaded from stores."""
        queue, seen = [value], set[int]()
        while queue and len(seen) < _MOST:
            here = ex.inner(queue.pop())
            if id(here) in seen:
                continue
            seen.add(id(here))
            if isinstance(here, cst.Name):
                for definition in self.anatomy.definitions(here):
                    if definition.kind == "parameter":
                        yield Held(here.value, None)
                    elif definition.kind == "assign" and definition.value is not None:
                        queue.append(definition.value)
            elif isinstance(here, cst.Call) and loads(here):
                owner = ex.dotted(ex.receiver(here) or here)
                if owner is not None:
                    yield Held(owner, here)
            elif isinstance(here, cst.Call) and (callee := self.anatomy.facts.slots.callee(here)) is not None:
                given = self._given(here, callee)
                for held in self._returned_by(callee, depth):
                    if held.node is None and held.owner in given:
                        queue.append(given[held.owner])
                    elif held.node is not None:
                        store = _translated(held.owner, here, callee, given)
                        if store is not None:
                            yield Held(store, here)
            else:
                queue += _made_of(here)

    def _returned_by(self, function: Scope, depth: int) -> list[Held]:
        if function not in self._returned:
            self._returned[function] = []
            if depth < _DEEPEST:
                self._returned[function] = [
                    held
                    for node in function.nodes
                    if isinstance(node, cst.Return) and node.value is not None
                    for held in self.held(node.value, function, depth + 1)
                ]
        return self._returned[function]

    def _given(self, call: cst.Call, callee: Scope) -> dict[str, cst.BaseExpression]:
        """The arguments of a call by the names of the parameters that they are bound to."""
        return {slot[2]: value for slot, value in self.anatomy.facts.slots.bindings(call, callee)}


def _translated(owner: str, call: cst.Call, callee: Scope, given: dict[str, cst.BaseExpression]) -> str | None:
    """A store as the caller names it: `self.session` of a method, `session` that was handed in."""
    root, _, rest = owner.partition(".")
    value = given.get(root)
    own = [param.name.value for param in parameters(callee)][:1] if is_method(callee) else []
    if root in own:
        value = ex.receiver(call)
    base = ex.dotted(value) if value is not None else None
    if base is None:
        return None
    return f"{base}.{rest}" if rest else base


def _made_of(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a value takes over without leaving anything out."""
    cut = ex.slice_of(value)
    if cut is not None and (cut.lower is not None or cut.upper is not None):
        return []
    if isinstance(value, cst.IfExp):
        return [value.body, value.orelse]
    if isinstance(value, (cst.ListComp, cst.GeneratorExp)):
        loop = value.for_in
        return [loop.iter] if not loop.ifs and loop.inner_for_in is None else []
    if isinstance(value, cst.Call) and not sources(value):
        given = ex.positional(value)
        return given[:1] if len(given) == 1 and _CONVERTS.search(ex.called_name(value)) else []
    return sources(value)
