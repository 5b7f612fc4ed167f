"""Schemas of tools that somebody else holds, and stores into them: through another name, or a copy too shallow.

A schema is known by the name it is kept under (`inputSchema`, `params_json_schema`, `tool_spec`; `parameters` of a
tool or function), a list of tools by being offered to a model (`tools=`).
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.copies import Copies, Copy, Part, Ref, State, is_owned, lookup, path_of
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.sharing import SharedStore, Stores, stores_at
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameter_names, parameters

_DEEPEST = 5
_THROUGH = ("list", "enumerate", "reversed", "cast", "sorted", "tuple", "flatten", "filter", "chain", "unique")
"""Starts of names of functions that give back the very elements they get."""
_OF_TOOLS = ("tool", "func", "spec")


class SchemaStores(Stores):
    """Finds the stores of a file into schemas that others hold."""

    def __init__(self, anatomy: Anatomy) -> None:
        super().__init__(anatomy)
        self._anatomy = anatomy

    def found(self) -> Iterator[SharedStore]:
        """Each store, with what was copied or named; a place where nothing is between both is its own source."""
        for function in self.facts.module.functions:
            if function.kind == "function" and _mentions(function):
                yield from self._run(function, {}, 1)
                yield from self._direct(function)

    def _first(self) -> Iterator[cst.CSTNode]:
        kinds = cst.Attribute, cst.Subscript, cst.Call
        return (node for kind in kinds for node in self.facts.module.nodes_of(kind) if is_schema(node))

    def _of(self, function: Scope) -> Copies:
        if function not in self._copies:
            self._copies[function] = _SchemaCopies(self.facts, function)
        return self._copies[function]

    def _matters(self, copy: Copy) -> bool:
        return True

    def _direct(self, function: Scope) -> Iterator[SharedStore]:
        """`tool.inputSchema["properties"] = {}`, where the tool came from elsewhere."""
        copies = self._of(function)
        own = self.facts.module.self_name(function)
        for point in self._anatomy.flow(function).points:
            for container, node in stores_at(point):
                whole = _whole(container)
                if whole is not None and not _starts_with(whole, own) and copies.is_kept(whole, node):
                    yield SharedStore(node, container, Copy(whole, whole, 0, _evidence(whole), function))


class _SchemaCopies(Copies):
    """What expressions share with schemas, not with messages."""

    def part(self, node: cst.BaseExpression, state: State) -> Part:
        inner = ex.inner(node)
        if type(inner) is cst.Call and ex.called_name(inner) == "cast" and len(inner.args) == 2:
            inner = inner.args[1].value
        if is_schema(inner) and lookup(state, path_of(inner)) is None and not is_owned(state, path_of(inner)):
            made = self._copy(inner, inner, 0, state)
            return {(): Ref(made, 0)} if made is not None else {}
        return super().part(node, state)

    def is_kept(self, source: cst.BaseExpression, since: cst.CSTNode, depth: int = 0) -> bool:
        """Whether the tool came from elsewhere: from a caller, an object or the module, and was not made here."""
        pair = ex.member(source)
        if pair is not None and (Kind.CALL in self.facts.kinds(pair[0]) or self._is_signature(pair[0])):
            return False  # what a model wrote for a tool; what Python knows of a function
        here = _root(source)
        if isinstance(here, cst.Call):
            given = ex.positional(here)
            through = ex.called_name(here).lstrip("_").startswith(_THROUGH)
            return through and bool(given) and depth < _DEEPEST and self.is_kept(given[-1], since, depth + 1)
        slot = self.facts.slots.of_name(here)
        if slot is None or slot[0] != "var" or depth >= _DEEPEST:
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
        if not is_schema(source) or is_owned(state, path_of(source)) or not self.is_kept(source, node):
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


def _whole(container: cst.BaseExpression) -> cst.BaseExpression | None:
    """The schema that a container is, or lies in."""
    here: cst.BaseExpression = container
    while True:
        if is_schema(here):
            return here
        pair = ex.member(here)
        if pair is None:
            return None
        here = pair[0]


def _starts_with(node: cst.BaseExpression, own: str | None) -> bool:
    """Whether a value is the method's own object's."""
    path = path_of(node)
    return path is None or path[0] == own


def _mentions(function: Scope) -> bool:
    return any(is_schema(node) for node in function.nodes_of(cst.Attribute, cst.Subscript, cst.Call))


def _evidence(source: cst.BaseExpression) -> Evidence:
    pair = ex.member(source)
    return Evidence(f"is what a tool keeps as `{pair[1] if pair is not None else 'schema'}`", source)
