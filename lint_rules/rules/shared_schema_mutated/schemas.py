"""Schemas of tools that somebody else holds, and stores into them: through another name, or a copy too shallow.

A schema is known by the name it is kept under (`inputSchema`, `params_json_schema`, `tool_spec`; `parameters` of a
tool or function), or by what is done with it: `offered.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.copies import Copies, Copy, Part, Ref, State, is_owned, lookup, path_of
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.sharing import SharedStore, Stores, stores_at
from lint_rules.rules.shared_schema_mutated.offered import What, offered
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, parameter_names, parameters
from lint_rules.syntax.walk import walk

_THROUGH = ("list", "enumerate", "reversed", "cast", "sorted", "tuple", "flatten", "filter", "chain", "unique")
"""Starts of names of functions that give back the very elements they get."""
_GROWERS = frozenset({"append", "extend", "insert"})
_OF_TOOLS = ("tool", "func", "spec")


class SchemaStores(Stores):
    """Finds the stores of a file into schemas that others hold."""

    def __init__(self, anatomy: Anatomy) -> None:
        super().__init__(anatomy)
        self._anatomy = anatomy
        self._offered = offered(anatomy.facts)
        self._of_schemas: dict[Scope, _SchemaCopies] = {}

    def found(self) -> Iterator[SharedStore]:
        """Each store, with what was copied or named; a place where nothing is between both is its own source."""
        for function in self.facts.module.functions:
            if function.kind == "function" and (function in self._offering or _mentions(function)):
                yield from filter(self._tells, (*self._run(function, {}, 1), *self._direct(function)))

    @cached_property
    def _offering(self) -> set[Scope]:
        """The functions that put together what is offered."""
        return {function for function, _ in self._offered}

    def _first(self) -> Iterator[cst.CSTNode]:
        for node in self.facts.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call, cst.Name):
            function = self.facts.module.scope_of[node].function
            if is_schema(node) or (function in self._offering and self._of(function).is_held(node)):
                yield node

    def _tells(self, store: SharedStore) -> bool:
        """Whether it is a schema that is edited, or what is offered gets other by it from request to request."""
        what = self.what(store)
        if what in {None, "schema"}:
            return what is not None or is_schema(store.copy.source) or self._becomes_offered(store)
        here = self.facts.module.scope_of[store.node].function
        own = self.facts.module.self_name(here)
        owned = store.copy.fresh == 0 and _starts_with(store.copy.source, own)
        of_call = any(names_in(test) & (parameter_names(here) - {own}) for test in self._tests(store.node))
        lasts = not owned or of_call or self._adds_the_same(store.node)  # an object may keep what it learns
        return lasts and not self.facts.kinds(store.target) and self._stays(store)

    def _becomes_offered(self, store: SharedStore) -> bool:
        """Whether a schema is edited in a copy of tools that is offered."""
        targets = ex.assigned(self.facts.module.parent[store.copy.node])
        return self._whole(store.target) is not None and any(
            self._what(target) in {"schema", "tools"} for target in targets
        )

    def _stays(self, store: SharedStore) -> bool:
        """Whether an edit outlasts its request: not so what each request sets anew, nor what is tested for before."""
        tests = self._tests(store.node)
        slot = self.facts.slots.of(store.target)
        if any(self.facts.slots.of(part) == slot for test in tests for part in walk(test) if ex.reads_place(part)):
            return False
        sets = not isinstance(store.node, cst.Call) or ex.called_name(store.node) in {"update", "setdefault"}
        return bool(tests) or not sets or isinstance(store.node, (cst.Del, cst.AugAssign))

    def _tests(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        return [each.test for each in self.facts.module.ancestors(node) if isinstance(each, cst.If)]

    def what(self, store: SharedStore) -> What | None:
        """What is edited."""
        whole = self._whole(store.target)
        return self._what(whole) if whole is not None else None

    def _what(self, node: cst.BaseExpression) -> What | None:
        """What a place is that is offered in the function in which it stands."""
        slot, function = self.facts.slots.of(node), self.facts.module.scope_of[node].function
        return self._offered.get((function, slot)) if slot is not None else None

    def _whole(self, container: cst.BaseExpression) -> cst.BaseExpression | None:
        """The schema, or what is offered, that a container is, or lies in."""
        here: cst.BaseExpression | None = container
        while here is not None and not is_schema(here) and self._what(here) is None:
            pair = ex.member(here)
            here = pair[0] if pair is not None else here.value if isinstance(here, cst.Subscript) else None
        return here

    def _of(self, function: Scope) -> _SchemaCopies:
        if function not in self._of_schemas:
            self._of_schemas[function] = _SchemaCopies(self.facts, function, function in self._offering)
        return self._of_schemas[function]

    def _matters(self, copy: Copy, store: cst.CSTNode) -> bool:
        return True

    def _direct(self, function: Scope) -> Iterator[SharedStore]:
        """`tool.inputSchema["properties"] = {}`, where the tool came from elsewhere; `self.tools.append(tool)`."""
        copies = self._of(function)
        own = self.facts.module.self_name(function)
        for point in self._anatomy.flow(function).points:
            for container, node in stores_at(point):
                whole = self._whole(container)
                if whole is None or isinstance(whole, cst.Name) or not copies.is_kept(whole, node):
                    continue
                if not _starts_with(whole, own) or self._what(whole) in {"tools", "request"}:
                    yield SharedStore(node, container, Copy(whole, whole, 0, _evidence(whole), function))

    def _adds_the_same(self, node: cst.CSTNode) -> bool:
        """`self.tools.append(SEARCH)`: each time it is done, the list gets the same once more."""
        given = ex.positional(node) if isinstance(node, cst.Call) and ex.called_name(node) in _GROWERS else []
        slots = [self.facts.slots.of(part) for value in given for part in walk(value) if ex.reads_place(part)]
        return bool(given) and all(slot is not None and slot[1] is self.facts.module.top for slot in slots)


class _SchemaCopies(Copies):
    """What expressions share with schemas, and where something is put together to be offered, with whatever is kept."""

    def __init__(self, facts: Facts, function: Scope, offers: bool) -> None:
        super().__init__(facts, function)
        self._offers = offers

    def is_held(self, node: cst.CSTNode) -> bool:
        """Whether a place may hold what others offer, too: a schema, or what is no part of a conversation."""
        if is_schema(node) or not self._offers:
            return is_schema(node)
        slot = self.facts.slots.of(node) if isinstance(node, (cst.Attribute, cst.Subscript, cst.Name)) else None
        is_local = slot is not None and slot[0] == "var" and slot[1] is self.function
        return slot is not None and not is_local and not self.facts.kinds(node)  # type: ignore[arg-type]

    def part(self, node: cst.BaseExpression, state: State) -> Part:
        inner = ex.inner(node)
        if type(inner) is cst.Call and ex.called_name(inner) == "cast" and len(inner.args) == 2:
            inner = inner.args[1].value
        if self.is_held(inner) and lookup(state, path_of(inner)) is None and not is_owned(state, path_of(inner)):
            made = self._copy(inner, inner, 0, state)
            return {(): Ref(made, 0)} if made is not None else {}
        return super().part(node, state)

    def is_kept(self, source: cst.BaseExpression, since: cst.CSTNode, depth: int = 0, later: bool = True) -> bool:
        """Whether the tool came from elsewhere: from a caller, an object or the module, and was not made here."""
        pair = ex.member(source)
        if pair is not None and (Kind.CALL in self.facts.kinds(pair[0]) or self._is_signature(pair[0])):
            return False  # what a model wrote for a tool; what Python knows of a function
        here, base = _root(source), ex.receiver(_root(source))
        if isinstance(here, cst.Call):
            given = ex.positional(here)
            if base is not None and not here.args and type(self.facts.module.parent[here]) is not cst.Await:
                return depth < DEEPEST and self.is_kept(base, since, depth + 1)  # `registry.all()`
            through = ex.called_name(here).lstrip("_").startswith(_THROUGH)
            return through and bool(given) and depth < DEEPEST and self.is_kept(given[-1], since, depth + 1)
        slot = self.facts.slots.of_name(here)
        if slot is None or slot[0] != "var" or depth >= DEEPEST:
            return False
        if slot[1] is not self.function:
            return True
        if slot[2] in parameter_names(self.function):
            return slot[2] not in _own_names(self.function)
        sources = [*self.facts.assigned(slot), *self._iterated(slot[2])]
        return bool(sources) and all(self.is_kept(value, since, depth + 1) for value in sources)

    def _is_signature(self, node: cst.BaseExpression) -> bool:
        """`inspect.signature(f)`, also by a name, and parameters annotated `Signature`."""
        values = [node, *self.facts.values_of(node)]
        if any(isinstance(value, cst.Call) and ex.called_name(value) == "signature" for value in values):
            return True
        return isinstance(node, cst.Name) and any(
            param.name.value == node.value and param.annotation is not None
            and (ex.dotted(param.annotation.annotation) or "").endswith("Signature")
            for param in parameters(self.function)
        )  # fmt: skip

    def _iterated(self, name: str) -> Iterator[cst.BaseExpression]:
        """What loops that bind a name go through."""
        for node in self.function.nodes:
            if isinstance(node, (cst.For, cst.CompFor)) and name in ex.target_names(node.target):
                yield node.iter

    def renamed(self, target: cst.Name, value: cst.Name) -> Part:
        return {}

    def _copy(self, node: cst.CSTNode, source: cst.BaseExpression, fresh: int, state: State) -> Copy | None:
        shared = lookup(state, path_of(source))
        if shared is not None:
            fresh = max(fresh, shared.copy.fresh - shared.depth)
            return self._made.setdefault(node, Copy(node, source, fresh, shared.copy.evidence, self.function))
        if not self.is_held(source) or is_owned(state, path_of(source)) or not self.is_kept(source, node):
            return None
        return self._made.setdefault(node, Copy(node, source, fresh, _evidence(source), self.function))


def _root(node: cst.BaseExpression) -> cst.BaseExpression:
    """`tools` of `tools[0].function["parameters"]`."""
    while True:
        node = ex.inner(node)
        pair = ex.member(node)
        if pair is not None:
            node = pair[0]
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            return node


def _own_names(function: Scope) -> set[str]:
    """`**kwargs`: a dict made for the call."""
    return {param.name.value for param in parameters(function) if param.star == "**"}


def is_schema(node: cst.CSTNode) -> bool:
    """Whether an expression reads the schema that a tool keeps."""
    pair = ex.member(node)
    if pair is None:
        return False
    if pair[1] in words.SCHEMA_NAMES:
        return True
    if pair[1] != "parameters":
        return False
    inside = ex.member(pair[0])
    name = inside[1] if inside is not None else ex.dotted(pair[0]) or ""
    return any(word in name.lower() for word in _OF_TOOLS) and "call" not in name.lower()


def _starts_with(node: cst.BaseExpression, own: str | None) -> bool:
    """Whether a value is the method's own object's."""
    path = path_of(node)
    return path is None or path[0] == own


def _mentions(function: Scope) -> bool:
    return any(is_schema(node) for node in function.nodes_of(cst.Attribute, cst.Subscript, cst.Call))


def _evidence(source: cst.BaseExpression) -> Evidence:
    pair = ex.member(source)
    return Evidence(f"is what a tool keeps as `{pair[1] if pair is not None else 'schema'}`", source)
