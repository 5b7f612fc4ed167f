"""One file, indexed by a single walk: parents, order, scopes, functions, classes, imports."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Graph
from lint_rules.syntax.identity import ask_in_c
from lint_rules.syntax.imports import Imports
from lint_rules.syntax.positions import Positions
from lint_rules.syntax.twins import TwinPositions
from lint_rules.syntax.walk import CHILDREN

ask_in_c()

ScopeKind = Literal["module", "class", "function", "lambda", "comprehension"]

Node = TypeVar("Node", bound=cst.CSTNode)
Other = TypeVar("Other", bound=cst.CSTNode)


@dataclass(eq=False, slots=True, repr=False)
class Scope:
    """A region in which names are bound. Compared by identity.

    `nodes` holds what the scope contains in source order, without the insides of nested functions, lambdas and
    classes; comprehensions are scopes of their own, but their nodes are listed in the function around them too.
    """

    kind: ScopeKind
    node: cst.CSTNode
    name: str
    parent: Scope | None
    bound: set[str] = field(default_factory=set)
    foreign: dict[str, Literal["global", "nonlocal"]] = field(default_factory=dict)
    nodes: list[cst.CSTNode] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)
    methods: dict[str, Scope] = field(default_factory=dict)
    _of_type: defaultdict[type[cst.CSTNode], list[cst.CSTNode]] | None = None
    _of_types: dict[tuple[type[cst.CSTNode], ...], list[cst.CSTNode]] = field(default_factory=dict)
    _named: dict[str, list[cst.Name]] | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"

    @property
    def function(self) -> Scope:
        """The function, lambda, class body or module this scope runs in."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def owner(self) -> Scope | None:
        """The class of a method, also seen from functions nested in it; None elsewhere."""
        scope: Scope | None = self.function
        while scope is not None and scope.kind != "class":
            scope = scope.parent
        return scope

    @property
    def is_async(self) -> bool:
        return type(self.node) is cst.FunctionDef and self.node.asynchronous is not None

    @property
    def is_generator(self) -> bool:
        """Whether its body runs when what it gives is gone through: by whom, and in whatever thread, that is done."""
        return bool(self.nodes_of(cst.Yield))

    @overload
    def nodes_of(self, kind: type[Node], /) -> list[Node]: ...
    @overload
    def nodes_of(self, kind: type[Node], other: type[Other], /) -> list[Node | Other]: ...
    @overload
    def nodes_of(self, *kinds: type[cst.CSTNode]) -> list[cst.CSTNode]: ...
    def nodes_of(self, *kinds: type[Any]) -> list[Any]:
        """The nodes of exactly these types, in source order. Only for the finished index of a file."""
        if self._of_type is None:
            self._of_type = defaultdict(list)
            for node in self.nodes:
                self._of_type[type(node)].append(node)
        there = [kind for kind in kinds if kind in self._of_type]
        if len(there) < 2:
            return self._of_type[there[0]] if there else []
        if kinds not in self._of_types:
            self._of_types[kinds] = [node for node in self.nodes if type(node) in there]
        return self._of_types[kinds]

    def named(self, name: str) -> list[cst.Name]:
        """The places where a name stands, in source order. Only for the finished index of a file."""
        if self._named is None:
            self._named = {}
            for node in self.nodes_of(cst.Name):
                self._named.setdefault(node.value, []).append(node)
        return self._named.get(name, [])

    @property
    def returned(self) -> list[cst.BaseExpression]:
        """What its `return` statements give back."""
        return [node.value for node in self.nodes_of(cst.Return) if node.value is not None]

    @property
    def waits(self) -> list[cst.BaseExpression]:
        """Where a coroutine lets others run: its awaits, and what an `async for` goes through and a block enters."""
        found: list[cst.BaseExpression] = [*self.nodes_of(cst.Await)]
        for node in self.nodes_of(cst.For, cst.With) if self.is_async else ():
            if node.asynchronous is not None:
                found += [node.iter] if isinstance(node, cst.For) else [item.item for item in node.items[:1]]
        return found

    @property
    def qualname(self) -> str:
        outer = self.parent.function if self.parent else None
        return self.name if outer is None or outer.kind == "module" else f"{outer.qualname}.{self.name}"

    def within(self, other: Scope) -> bool:
        """Whether this scope is `other` or nested in it."""
        scope: Scope | None = self
        while scope is not None and scope is not other:
            scope = scope.parent
        return scope is other


def parameters(scope: Scope) -> list[cst.Param]:
    """Parameters of a function or lambda in call order: positional, then `*args`, keyword-only, `**kwargs`."""
    node = scope.node
    if type(node) is not cst.FunctionDef and type(node) is not cst.Lambda:
        return []
    listed = node.params
    found = [*listed.posonly_params, *listed.params]
    if type(listed.star_arg) is cst.Param:
        found.append(listed.star_arg)
    found.extend(listed.kwonly_params)
    return [*found, listed.star_kwarg] if listed.star_kwarg else found


def parameter_names(scope: Scope) -> set[str]:
    """The names of a function's parameters."""
    return {param.name.value for param in parameters(scope)}


def name_of(scope: Scope) -> cst.CSTNode:
    """Where to point at for a whole function: its name; the lambda or module itself."""
    return scope.node.name if isinstance(scope.node, cst.FunctionDef) else scope.node


def fields(cls: Scope) -> list[str]:
    """The names annotated in a class body, in order: the fields of a dataclass or model."""
    return [n.target.value for n in cls.nodes if isinstance(n, cst.AnnAssign) and isinstance(n.target, cst.Name)]


def decorators(scope: Scope) -> list[cst.BaseExpression]:
    """The decorator expressions of a function or class."""
    node = scope.node
    return [d.decorator for d in node.decorators] if isinstance(node, (cst.FunctionDef, cst.ClassDef)) else []


def is_property(function: Scope) -> bool:
    """Whether a method runs where its name is read, and gives what stands there."""
    return any(ex.last_name(each) in {"property", "cached_property"} for each in decorators(function))


_STATEMENTS = frozenset(
    {
        cst.Module, cst.AnnAssign, cst.Assert, cst.Assign, cst.AugAssign, cst.Break, cst.Continue, cst.Del, cst.Expr,
        cst.Global, cst.Import, cst.ImportFrom, cst.Nonlocal, cst.Pass, cst.Raise, cst.Return, cst.TypeAlias,
        cst.ClassDef, cst.For, cst.FunctionDef, cst.If, cst.Match, cst.Try, cst.TryStar, cst.While, cst.With,
    }
)  # fmt: skip


class SourceModule:
    """The index of one file. `tree` is never changed."""

    def __init__(
        self,
        source: bytes | str,
        path: str,
        tree: cst.Module | None = None,
        twin: ast.Module | None = None,
        *,
        altered: bool = False,
    ) -> None:
        """Parses `source`, if there is no tree of it yet. Raises what `libcst.parse_module` raises for no Python.

        `twin` is the `ast` that a bare tree was made from. `altered`: it is another form of what the source says.
        """
        self.tree = cst.parse_module(source) if tree is None else tree
        self.text = (source if isinstance(source, str) else source.decode(self.tree.encoding)).removeprefix("\ufeff")
        """The source as text, with the newlines it has, without a BOM."""
        self.path = path
        self.altered = altered
        self._twin = twin
        self.imports = Imports()
        self.parent: dict[cst.CSTNode, cst.CSTNode] = {}
        self.scope_of: dict[cst.CSTNode, Scope] = {}
        self.own_scope: dict[cst.CSTNode, Scope] = {}
        self.top = Scope("module", self.tree, "<module>", None)
        self.functions: list[Scope] = [self.top]
        self.rebinding: list[Scope] = []
        """The functions that bind names of others: `global`, `nonlocal`."""
        self.classes: list[Scope] = []
        self.graphs: list[Graph] = []
        """What its functions were made into: their points hold each other."""
        self._of_type: defaultdict[type[cst.CSTNode], list[cst.CSTNode]] = defaultdict(list)
        self._of_types: dict[tuple[type[cst.CSTNode], ...], list[cst.CSTNode]] = {}
        self._places: dict[type[cst.CSTNode], list[int]] = {}
        self._ends: dict[cst.CSTNode, int] = {}
        self._self_names: dict[Scope, str | None] = {}
        self._bases: dict[Scope, list[Scope]] = {}
        self._walk()

    def close(self) -> None:
        """Unties what holds each other: classes and their methods, points. Nothing can be asked afterwards."""
        for graph in self.graphs:
            graph.close()
        for cls in self.classes:
            cls.methods.clear()
        vars(self).clear()

    @cached_property
    def positions(self) -> Positions | TwinPositions:
        """Where the nodes stand."""
        if self._twin is not None:
            return TwinPositions(self.tree, self.text, self.parent, self._twin, loose=self.altered)
        return Positions(self.tree, self.text, self.parent)

    @cached_property
    def order(self) -> dict[cst.CSTNode, int]:
        """The place of each node in source order."""
        return dict(zip(self.scope_of, range(len(self.scope_of)), strict=True))

    # -- building: by exact type, for an `isinstance` that fails is slow with libcst's abstract classes ---------

    def _walk(self) -> None:
        """On the stack are nodes, and scopes: those in which the nodes above them lie."""
        parent, scope_of, of_type = self.parent, self.scope_of, self._of_type
        stack: list[Any] = [self.tree, self.top]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is Scope:
                scope = node
                listed = scope.nodes
                around = scope.function.nodes if scope.kind == "comprehension" else None
                continue
            scope_of[node] = scope
            of_type[kind].append(node)
            listed.append(node)
            if around is not None:
                around.append(node)
            if kind in _LEAVES:
                continue
            below = CHILDREN[kind](node)
            for child in below:
                parent[child] = node
            if kind in _OWN_SCOPE:
                inside, outer = self._enter(node, scope), _outside(node)
                stack.append(scope)
                for child in reversed(below):
                    stack += (child, scope if child in outer else inside)
                continue
            if kind in _BINDERS:
                _BINDERS[kind](self, node, scope)
            below.reverse()
            stack += below

    def _enter(self, node: cst.CSTNode, scope: Scope) -> Scope:
        """The new scope of what lies inside a function, class, lambda or comprehension."""
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            kind: ScopeKind = "class" if isinstance(node, cst.ClassDef) else "function"
            scope.bound.add(node.name.value)
            new = Scope(kind, node, node.name.value, scope)
            if kind == "class":
                self.classes.append(new)
            elif scope.kind == "class":
                scope.methods.setdefault(node.name.value, new)
            self.functions.append(new)
        elif isinstance(node, cst.Lambda):
            new = Scope("lambda", node, "<lambda>", scope)
            self.functions.append(new)
        else:
            new = Scope("comprehension", node, "<comprehension>", scope)
        self.own_scope[node] = new
        return new

    def _bind_target(self, node: cst.AssignTarget | cst.AugAssign | cst.For | cst.NamedExpr, scope: Scope) -> None:
        scope.function.bound.update(ex.target_names(node.target))

    def _bind_loop_variable(self, node: cst.CompFor, scope: Scope) -> None:
        scope.bound.update(ex.target_names(node.target))

    def _bind_alias(self, node: cst.AsName, scope: Scope) -> None:
        is_import = type(self.parent[node]) is cst.ImportAlias
        if not is_import or scope.function is self.top:  # what is imported in a function is no value of its own
            scope.function.bound.update(ex.target_names(node.name))

    def _bind_capture(self, node: cst.MatchAs | cst.MatchStar, scope: Scope) -> None:
        if node.name is not None:
            scope.function.bound.add(node.name.value)

    def _bind_parameter(self, node: cst.Param, scope: Scope) -> None:
        scope.bound.add(node.name.value)

    def _bind_elsewhere(self, node: cst.Global | cst.Nonlocal, scope: Scope) -> None:
        how: Literal["global", "nonlocal"] = "global" if isinstance(node, cst.Global) else "nonlocal"
        scope.function.foreign.update({item.name.value: how for item in node.names})
        self.rebinding.append(scope.function)

    def _bind_imported(self, node: cst.Import | cst.ImportFrom, scope: Scope) -> None:
        self.imports.add(node)

    def _bind_attribute(self, node: cst.Attribute, scope: Scope) -> None:
        if type(node.value) is cst.Name and node.value.value == self.self_name(scope):
            owner = scope.owner
            if owner is not None:
                owner.attributes.add(node.attr.value)

    # -- asking -----------------------------------------------------------------------------------------------

    @overload
    def nodes_of(self, kind: type[Node], /) -> list[Node]: ...
    @overload
    def nodes_of(self, kind: type[Node], other: type[Other], /) -> list[Node | Other]: ...
    @overload
    def nodes_of(self, *kinds: type[cst.CSTNode]) -> list[cst.CSTNode]: ...
    def nodes_of(self, *kinds: type[Any]) -> list[Any]:
        """The nodes of exactly these types, in source order: far cheaper than to look at all of `scope_of`."""
        there = [kind for kind in kinds if kind in self._of_type]
        if len(there) < 2:
            return self._of_type[there[0]] if there else []
        if kinds not in self._of_types:
            listed = [node for kind in there for node in self._of_type[kind]]
            self._of_types[kinds] = sorted(listed, key=self.order.__getitem__)
        return self._of_types[kinds]

    def self_name(self, scope: Scope) -> str | None:
        """The name under which the method around `scope` knows its object (`self`), also in nested functions."""
        if scope not in self._self_names:
            self._self_names[scope] = self._find_self_name(scope)
        return self._self_names[scope]

    @staticmethod
    def _find_self_name(scope: Scope) -> str | None:
        method: Scope | None = scope.function
        while method is not None and not (method.parent is not None and method.parent.kind == "class"):
            method = method.parent
        if method is None or not isinstance(method.node, cst.FunctionDef):
            return None
        if any(isinstance(d, cst.Name) and d.value == "staticmethod" for d in decorators(method)):
            return None
        listed = [*method.node.params.posonly_params, *method.node.params.params]
        return listed[0].name.value if listed else None

    def awaiting(self, node: cst.CSTNode) -> cst.CSTNode:
        """What stands around a node, or around the `await` for it."""
        outer = self.parent[node]
        while isinstance(outer, cst.Await):
            outer = self.parent[outer]
        return outer

    def scope_binding(self, scope: Scope, name: str) -> Scope | None:
        """The scope in which `name`, used in `scope`, is bound; None for builtins and names never bound here."""
        here: Scope | None = scope
        first = True
        while here is not None:
            how = here.foreign.get(name)
            if how == "global":
                return self.top
            if how is None and name in here.bound and (first or here.kind != "class"):
                return here
            first = first and here.kind == "comprehension"
            here = here.parent
        return None

    def nested(self, function: Scope) -> list[Scope]:
        """The functions, lambdas and classes inside `function`, also those in other functions there."""
        return self._nested.get(function, [])

    @cached_property
    def _nested(self) -> dict[Scope, list[Scope]]:
        found: dict[Scope, list[Scope]] = {}
        for function in self.functions:
            outer = function.parent
            while outer is not None:
                found.setdefault(outer, []).append(function)
                outer = outer.parent
        return found

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around `node`, innermost first, up to the module."""
        here = self.parent.get(node)
        while here is not None:
            yield here
            here = self.parent.get(here)

    def loop_around(self, node: cst.CSTNode, *, own: bool = False) -> cst.While | cst.For | None:
        """The innermost loop around `node`, also one around the function that it is in, if it need not be its `own`."""
        for outer in self.ancestors(node):
            if isinstance(outer, (cst.While, cst.For)):
                return outer
            if own and isinstance(outer, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
                return None
        return None

    def full_name(self, node: cst.CSTNode) -> str:
        """A dotted expression by what it was imported as; empty for any other."""
        return self.imports.resolve(ex.dotted(node) or "")

    def in_handler(self, node: cst.CSTNode) -> bool:
        """Whether `node` stands in what handles an exception."""
        return any(isinstance(outer, cst.ExceptHandler) for outer in self.ancestors(node))

    def _end(self, node: cst.CSTNode) -> int:
        """The place behind the last node below `node`, which is the last child of its last child, and so on."""
        last, passed = node, []
        while last not in self._ends:
            passed.append(last)
            below = CHILDREN[type(last)](last)
            if not below:
                self._ends[last] = self.order[last] + 1
                break
            last = below[-1]
        for above in passed:
            self._ends[above] = self._ends[last]
        return self._ends[last]

    def inside(self, node: cst.CSTNode, region: cst.CSTNode) -> bool:
        """Whether `node` is `region` or lies in it."""
        if node is region:
            return True
        begin, place = self.order.get(region), self.order.get(node)
        return begin is not None and place is not None and begin < place < self._end(region)

    def those_inside(self, nodes: Sequence[Node], region: cst.CSTNode) -> Sequence[Node]:
        """Those of some nodes, which are in source order, that are `region` or lie in it."""
        return self.placed_inside(nodes, region, lambda node: node)

    def placed_inside(
        self, found: Sequence[Any], region: cst.CSTNode, node_of: Callable[[Any], cst.CSTNode]
    ) -> Sequence[Any]:
        """The same for what was found at nodes, in source order."""
        begin = self.order.get(region)
        if begin is None:
            return []

        def place(one: Any) -> int:
            return self.order[node_of(one)]

        low = bisect_left(found, begin, key=place)
        return found[low : bisect_left(found, self._end(region), low, key=place)]

    def _places_of(self, kind: type[cst.CSTNode]) -> list[int]:
        """The places of the nodes of a type."""
        if kind not in self._places:
            self._places[kind] = list(map(self.order.__getitem__, self._of_type.get(kind, ())))
        return self._places[kind]

    @overload
    def nodes_inside(self, region: cst.CSTNode, function: Scope, kind: type[Node], /) -> list[Node]: ...
    @overload
    def nodes_inside(
        self, region: cst.CSTNode, function: Scope, kind: type[Node], other: type[Other], /
    ) -> list[Node | Other]: ...
    @overload
    def nodes_inside(self, region: cst.CSTNode, function: Scope, *kinds: type[cst.CSTNode]) -> list[cst.CSTNode]: ...
    def nodes_inside(self, region: cst.CSTNode, function: Scope, *kinds: type[Any]) -> list[Any]:
        """The nodes of exactly these types in a region of a function, in source order, without nested functions."""
        begin = self.order.get(region)
        if begin is None:
            return []
        found: list[Any] = []
        for kind in kinds:
            places = self._places_of(kind)
            low, high = bisect_left(places, begin), bisect_left(places, self._end(region))
            found += [
                node for node in self._of_type.get(kind, ())[low:high] if self.scope_of[node].function is function
            ]
        return found if len(kinds) == 1 else sorted(found, key=self.order.__getitem__)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The small statement, or the compound statement, that `node` belongs to (itself if it is one)."""
        here = node
        while type(here) not in _STATEMENTS:
            here = self.parent[here]
        return here

    def is_statement(self, call: cst.Call) -> bool:
        """Whether a call, or the wait for it, is all of a statement: nobody takes what it gives."""
        outer = self.parent[call]
        while type(outer) is cst.Await:
            outer = self.parent[outer]
        return type(outer) is cst.Expr

    def before(self, first: cst.CSTNode, second: cst.CSTNode) -> bool:
        """Whether `first` begins earlier in the file than `second`."""
        return self.order[first] < self.order[second]

    def class_named(self, name: str) -> Scope | None:
        """The class defined in this file under `name`."""
        return self._class_names.get(name)

    @cached_property
    def _class_names(self) -> dict[str, Scope]:
        return {cls.name: cls for cls in reversed(self.classes)}

    def base_classes(self, cls: Scope) -> list[Scope]:
        """Base classes of `cls` that this file defines, nearest first, transitively."""
        if cls not in self._bases:
            self._bases[cls] = self._find_bases(cls)
        return self._bases[cls]

    def lineage(self, cls: Scope | None) -> list[Scope]:
        """A class and its base classes that this file defines, nearest first; empty without a class."""
        return [cls, *self.base_classes(cls)] if cls is not None else []

    def _find_bases(self, cls: Scope) -> list[Scope]:
        found: list[Scope] = []
        queue = [cls]
        while queue:
            for base in ex.bases(queue.pop(0).node):
                parent = self.class_named(base.value) if isinstance(base, cst.Name) else None
                if parent is not None and parent is not cls and parent not in found:
                    found.append(parent)
                    queue.append(parent)
        return found

    def method(self, cls: Scope, name: str) -> Scope | None:
        """The method `name` of `cls` or of a base class in this file."""
        for candidate in self.lineage(cls):
            if name in candidate.methods:
                return candidate.methods[name]
        return None

    def run_by(self, cls: Scope, name: str) -> Scope | None:
        """The method that is run under a name on an object of `cls`: where that only says what it is for, the one of
        a class of this file that derives from it, or that has all methods of the protocol."""
        method = self.method(cls, name)
        if method is None or not says_only(method):
            return method
        done = (self.method(other, name) for other in self.classes if self._stands_for(other, cls))
        return next((each for each in done if each is not None and not says_only(each)), method)

    def overriding(self, method: Scope) -> list[Scope]:
        """The methods of classes of this file that may be run in its place: on objects of classes that derive from its
        own, or of others that do what is only declared where it is, too."""
        owners = [*([method.owner] if method.owner is not None else []), *self._declaring(method)]
        others = (cls for cls in self.classes if any(self._stands_for(cls, owner) for owner in owners))
        found = (cls.methods.get(method.name, method) for cls in others)
        return [each for each in found if each is not method]

    def fills_in(self, method: Scope) -> bool:
        """Whether a method does what a class of this file only declares: others may do it otherwise."""
        return any(self._declaring(method))

    def _declaring(self, method: Scope) -> Iterator[Scope]:
        """The classes of this file for which that of a method stands, and that only declare it."""
        for cls in self.classes if method.owner is not None else ():
            if method.name in cls.methods and says_only(cls.methods[method.name]):
                if method.owner is not None and self._stands_for(method.owner, cls):
                    yield cls

    def _stands_for(self, other: Scope, cls: Scope) -> bool:
        if cls in self.base_classes(other):
            return True
        return is_protocol(cls) and other is not cls and all(self.method(other, name) for name in cls.methods)


def is_protocol(cls: Scope) -> bool:
    """Whether other classes stand for one by their methods alone."""
    return any(ex.last_name(base) == "Protocol" for base in ex.bases(cls.node))


def says_only(method: Scope) -> bool:
    """Whether the body of a method is a docstring, `...`, `pass`, or an error."""
    body = method.node.body if isinstance(method.node, cst.FunctionDef) else None
    lines = [body] if isinstance(body, cst.SimpleStatementSuite) else body.body if body is not None else []
    plain = (cst.SimpleStatementLine, cst.SimpleStatementSuite)
    said = [part for line in lines for part in (line.body if isinstance(line, plain) else [line])]
    return bool(said) and all(
        isinstance(part, (cst.Pass, cst.Raise))
        or (isinstance(part, cst.Expr) and isinstance(part.value, (cst.BaseString, cst.Ellipsis)))
        for part in said
    )


def _outside(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Children of a scope node that run in the scope around it."""
    if isinstance(node, cst.FunctionDef):
        return [*node.decorators, *([node.returns] if node.returns else [])]
    if isinstance(node, cst.ClassDef):
        return [*node.decorators, *node.bases, *node.keywords]
    return []


_LEAVES = frozenset({cst.Name, cst.SimpleString, cst.Integer, cst.FormattedStringText})
"""The most frequent kinds of nodes without children."""
_OWN_SCOPE = frozenset(
    {cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp}
)
_BINDERS: dict[type[cst.CSTNode], Callable[[SourceModule, Any, Scope], None]] = {
    cst.AssignTarget: SourceModule._bind_target,
    cst.AnnAssign: SourceModule._bind_target,
    cst.AugAssign: SourceModule._bind_target,
    cst.For: SourceModule._bind_target,
    cst.NamedExpr: SourceModule._bind_target,
    cst.CompFor: SourceModule._bind_loop_variable,
    cst.AsName: SourceModule._bind_alias,
    cst.MatchAs: SourceModule._bind_capture,
    cst.MatchStar: SourceModule._bind_capture,
    cst.Param: SourceModule._bind_parameter,
    cst.Global: SourceModule._bind_elsewhere,
    cst.Nonlocal: SourceModule._bind_elsewhere,
    cst.Import: SourceModule._bind_imported,
    cst.ImportFrom: SourceModule._bind_imported,
    cst.Attribute: SourceModule._bind_attribute,
}
