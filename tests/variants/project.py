"""A program of several files as the rewrites see it: who binds a name, what a class holds, of what kind a value is.

Knows no agents and no linter. A kind is never guessed: None is the answer wherever two ways in disagree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import libcst as cst

Node = cst.CSTNode
Function = cst.FunctionDef | cst.Lambda
Files = dict[str, str]
"""Relative path, with `/`, to source."""

# -- trees --------------------------------------------------------------------------------------------------------


def walk(node: Node, into: Callable[[Node], bool] = lambda _: True) -> Iterator[Node]:
    """The node and all below it, in order; not below those that `into` refuses."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if one is node or into(one):
            stack.extend(reversed(one.children))


def walk_own(function: Function) -> Iterator[Node]:
    """What runs with the function itself: not the bodies of functions and classes within it."""
    yield from walk(function.body, lambda node: not isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef))


def dotted(node: Node | None) -> str:
    """`a.b.c` of a path of names, else the empty string."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute) and (left := dotted(node.value)):
        return f"{left}.{node.attr.value}"
    return ""


def text_of(node: Node | None) -> str | None:
    """The value of a plain string literal."""
    if isinstance(node, cst.SimpleString) and isinstance(value := node.evaluated_value, str):
        return value
    return None


def last_word(node: Node) -> str:
    """The name of what is called: `c` of `a.b().c`."""
    return node.attr.value if isinstance(node, cst.Attribute) else dotted(node)


def params_of(function: Function) -> list[cst.Param]:
    params = function.params
    star = [params.star_arg] if isinstance(params.star_arg, cst.Param) else []
    last = [params.star_kwarg] if params.star_kwarg else []
    return [*params.posonly_params, *params.params, *star, *params.kwonly_params, *last]


def targets_in(node: Node) -> Iterator[cst.Name]:
    """The names that an assignment to this target binds."""
    if isinstance(node, cst.Name):
        yield node
    elif isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from targets_in(element.value)


def decorators_of(node: cst.FunctionDef | cst.ClassDef) -> set[str]:
    """The last words of its decorators."""
    return {
        last_word(it.decorator.func if isinstance(it.decorator, cst.Call) else it.decorator) for it in node.decorators
    }


# -- a file -------------------------------------------------------------------------------------------------------


class Binding(NamedTuple):
    """One way in which a name gets its value. `how` is the node that binds it."""

    name: cst.Name
    how: Node


class Source:
    """One parsed file."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.module = cst.parse_module(text)
        self.nodes = list(walk(self.module))
        self.parent = {below: node for node in self.nodes for below in node.children}
        self._bound: dict[Node, dict[str, list[Binding]]] = {}

    def all(self, *kinds: type) -> Iterator[Node]:
        return (node for node in self.nodes if isinstance(node, kinds))

    def up(self, node: Node) -> Iterator[Node]:
        while (above := self.parent.get(node)) is not None:
            yield above
            node = above

    def class_of(self, function: Node) -> cst.ClassDef | None:
        """The class whose method this is."""
        above = self.parent.get(self.parent[function])
        return above if isinstance(above, cst.ClassDef) else None

    def is_variable(self, name: cst.Name) -> bool:
        """Whether a Name is neither an attribute nor a keyword."""
        above = self.parent[name]
        if isinstance(above, cst.Attribute):
            return above.value is name
        return not (isinstance(above, cst.Arg) and above.keyword is name)

    def binder(self, name: cst.Name) -> Node:
        """The function, class or module whose variable a Name is."""
        within = name
        for above in self.up(name):
            if isinstance(above, cst.FunctionDef | cst.Lambda) and self._is_inside(within, above):
                if name.value in self.bound(above):
                    return above
            elif isinstance(above, cst.ClassDef) and within is above.body:
                if name.value in self.bound(above) and self._stands_in_class_body(name, above):
                    return above
            within = above
        return self.module

    @staticmethod
    def _is_inside(within: Node, function: Function) -> bool:
        """Whether what was reached from below is the body, or a parameter's own name."""
        return within is function.body or within is function.params

    def _stands_in_class_body(self, name: cst.Name, holder: cst.ClassDef) -> bool:
        for above in self.up(name):
            if above is holder:
                return True
            if isinstance(above, cst.FunctionDef | cst.Lambda) and self._reached_by_body(name, above):
                return False
        return False

    def _reached_by_body(self, name: Node, function: Function) -> bool:
        return function.body in (name, *self.up(name))

    def bound(self, scope: Node) -> dict[str, list[Binding]]:
        """Names that a function, class or module binds itself. Comprehensions count as part of what is around them."""
        if scope not in self._bound:
            found: dict[str, list[Binding]] = defaultdict(list)
            for binding in self._bindings(scope):
                found[binding.name.value].append(binding)
            for node in walk(scope, lambda node: not isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef)):
                if isinstance(node, cst.Global | cst.Nonlocal):
                    for item in node.names:
                        found.pop(item.name.value, None)
            self._bound[scope] = dict(found)
        return self._bound[scope]

    def _bindings(self, scope: Node) -> Iterator[Binding]:
        if isinstance(scope, cst.FunctionDef | cst.Lambda):
            for param in params_of(scope):
                yield Binding(param.name, param)
        for node in walk(scope.body if not isinstance(scope, cst.Module) else scope, self._is_part):
            if isinstance(node, cst.FunctionDef | cst.ClassDef) and node is not scope:
                yield Binding(node.name, node)
            elif isinstance(
                node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.For | cst.CompFor | cst.NamedExpr
            ):
                for name in targets_in(node.target):
                    yield Binding(name, node)
            elif isinstance(node, cst.AsName):
                for name in targets_in(node.name):
                    yield Binding(name, self.parent[node])
            elif isinstance(node, cst.MatchAs | cst.MatchStar) and node.name is not None:
                yield Binding(node.name, node)
            elif isinstance(node, cst.MatchMapping) and node.rest is not None:
                yield Binding(node.rest, node)
            elif isinstance(node, cst.ImportAlias) and node.asname is None:
                left = node.name
                while isinstance(left, cst.Attribute):
                    left = left.value
                yield Binding(left, node)

    @staticmethod
    def _is_part(node: Node) -> bool:
        return not isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef)


# -- kinds --------------------------------------------------------------------------------------------------------


class Own(NamedTuple):
    """An object of one of these classes of the project."""

    classes: frozenset[str]


class Holder(NamedTuple):
    """A list, set, iterator or awaitable of things (`mapped`: a dict to them)."""

    of: Kind
    mapped: bool = False


class Row(NamedTuple):
    """A tuple."""

    kinds: tuple[Kind, ...]


class Definition(NamedTuple):
    """A class or function of the project itself, or a module of it."""

    node: cst.ClassDef | cst.FunctionDef | Source


class _Foreign(NamedTuple):
    """What a library, a provider or Python itself made."""


FOREIGN = _Foreign()
Kind = Own | Holder | Row | Definition | _Foreign | None

HOLDERS = {
    *("list", "List", "set", "Set", "frozenset", "deque", "tuple", "Tuple", "Sequence", "Iterable", "Iterator"),
    *(
        "Awaitable",
        "AsyncIterator",
        "AsyncIterable",
        "AsyncGenerator",
        "Generator",
        "Collection",
        "Queue",
        "Future",
        "Task",
    ),
    *("Coroutine", "type", "Type"),
}
MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict"}
WRAPPERS = {"Optional", "Annotated", "Final", "ClassVar", "InitVar", "Required"}
PASS_ON = {
    "copy",
    "deepcopy",
    "replace",
    "next",
    "iter",
    "await_",
    "wait_for",
    "run",
    "shield",
    "create_task",
    "max",
    "min",
}
PASS_ALL = {"list", "tuple", "set", "sorted", "reversed", "iter", "filter", "gather", "chain", "deque", "frozenset"}
FROM_HOLDER = {"pop", "popleft", "get", "get_nowait", "result", "setdefault", "popitem"}


class Project:
    """The files of a program, and what holds for all of them."""

    def __init__(self, files: Files) -> None:
        self.sources = {path: Source(path, text) for path, text in sorted(files.items())}
        self._known: dict[Node, Kind] = {}
        self._busy: set[Node] = set()

    @classmethod
    def read(cls, folder: Path) -> Project:
        """All Python files of a folder."""
        paths = sorted(folder.rglob("*.py"))
        return cls({path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths})

    def all(self, *kinds: type) -> Iterator[tuple[Source, Node]]:
        return ((source, node) for source in self.sources.values() for node in source.all(*kinds))

    # modules and definitions

    def module(self, source: Source, node: cst.ImportFrom | None, name: str = "") -> Source | None:
        """The file of the project that `from a.b import c` (or `import name`) means."""
        words = (dotted(node.module) if node is not None and node.module else name).split(".")
        home = PurePosixPath(source.path).parent
        tail = "/".join(words)
        for level in range(1, len(node.relative) if node is not None else 0):
            home = home.parent if level else home
        places = [home / tail, PurePosixPath(tail)] if node is None or not node.relative else [home / tail]
        for place in places:
            for path in (f"{place}.py", f"{place}/__init__.py"):
                if path in self.sources:
                    return self.sources[path]
        return None

    @cached_property
    def classes(self) -> dict[str, list[tuple[Source, cst.ClassDef]]]:
        found: dict[str, list[tuple[Source, cst.ClassDef]]] = defaultdict(list)
        for source, node in self.all(cst.ClassDef):
            found[node.name.value].append((source, node))
        return found

    @cached_property
    def members(self) -> dict[str, set[str]]:
        """Name of a field, property, method or class variable to the classes of the project that have it."""
        found: dict[str, set[str]] = defaultdict(set)
        for source, node in self.all(cst.ClassDef):
            for name in source.bound(node):
                found[name].add(node.name.value)
        for source, node in self.all(cst.Attribute):
            if (holder := self.self_class(source, node)) and self.is_stored(source, node):
                found[node.attr.value].add(holder.name.value)
        return found

    def has(self, classes: Iterable[str], word: str) -> bool:
        """Whether one of the classes, or of those that they are made from, has a member of that name."""
        return any(one in self.members.get(word, ()) for name in classes for one in self.line(name))

    def line(self, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """A class and its bases in the project, and the classes that are made from it."""
        return (
            self._up[name] | {other for other, line in self._up.items() if name in line} if name in self._up else set()
        )

    @cached_property
    def _up(self) -> dict[str, set[str]]:
        bases = {
            name: {word for _, node in same for base in node.bases if (word := last_word(base.value)) in self.classes}
            for name, same in self.classes.items()
        }
        found = {name: {name} for name in bases}
        for _ in range(8):
            found = {name: {name}.union(*(found[base] for base in bases[name])) for name in bases}
        return found

    def foreign_bases(self, name: str) -> set[str]:
        """Bases that stand in no file of the project, as they are written, of a class and of those above it."""
        found = set()
        for one in self._up.get(name, {name}):
            for source, node in self.classes.get(one, ()):
                for base in node.bases:
                    word = base.value.value if isinstance(base.value, cst.Subscript) else base.value
                    if last_word(word) not in self.classes:
                        found.add(self.origin(source, word))
        return found

    def origin(self, source: Source, node: Node) -> str:
        """The full name of what was imported: `threading.Thread` for `Thread`."""
        head, _, rest = dotted(node).partition(".")
        for binding in source.bound(source.module).get(head, ()):
            if isinstance(binding.how, cst.ImportAlias):
                holder = next(up for up in source.up(binding.how) if isinstance(up, cst.Import | cst.ImportFrom))
                start = f"{dotted(holder.module)}." if isinstance(holder, cst.ImportFrom) and holder.module else ""
                start += dotted(binding.how.name)
                return f"{start}.{rest}" if rest else start
        return dotted(node)

    def self_class(self, source: Source, node: cst.Attribute) -> cst.ClassDef | None:
        """The class C if the attribute is `self.x` in a method of C."""
        if not isinstance(node.value, cst.Name):
            return None
        function = source.binder(node.value)
        owner = source.class_of(function) if isinstance(function, cst.FunctionDef) else None
        first = params_of(function)[:1] if owner is not None else []
        is_self = bool(first) and first[0].name.value == node.value.value
        return owner if is_self and "staticmethod" not in decorators_of(function) else None

    @staticmethod
    def is_stored(source: Source, node: Node) -> bool:
        above = source.parent.get(node)
        while isinstance(above, cst.Tuple | cst.List | cst.Element):
            node, above = above, source.parent.get(above)
        targets = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For)
        return isinstance(above, targets) and above.target is node

    # kinds

    def kind(self, source: Source, node: Node | None) -> Kind:
        """What a value is: of a class of the project, of a library, or unknown."""
        if node is None:
            return None
        if node in self._busy:
            return NOTHING
        if node not in self._known:
            self._busy.add(node)
            self._known[node] = self._kind(source, node)
            self._busy.discard(node)
        return self._known[node]

    def _kind(self, source: Source, node: Node) -> Kind:
        match node:
            case cst.Name():
                return self._variable(source, node)
            case cst.Attribute():
                return self._attribute(self.kind(source, node.value), node.attr.value)
            case cst.Call():
                return self._call(source, node)
            case cst.Await():
                kind = self.kind(source, node.expression)
                return kind.of if isinstance(kind, Holder) and self._is_future(source, node.expression) else kind
            case cst.Subscript():
                return self._item_at(source, node)
            case cst.NamedExpr():
                return self.kind(source, node.value)
            case cst.IfExp():
                return self._join(source, [node.body, node.orelse])
            case cst.BooleanOperation():
                return self._join(source, [node.left, node.right])
            case cst.BinaryOperation(operator=cst.Add()):
                return self._join(source, [node.left, node.right])
            case cst.Tuple():
                return Row(tuple(self.kind(source, element.value) for element in node.elements))
            case cst.List() | cst.Set():
                plain = [element.value for element in node.elements if isinstance(element, cst.Element)]
                return Holder(self._join(source, plain)) if plain else FOREIGN
            case cst.ListComp() | cst.GeneratorExp() | cst.SetComp():
                return Holder(self.kind(source, node.elt))
            case cst.DictComp():
                return Holder(self.kind(source, node.value), mapped=True)
            case cst.Dict():
                plain = [element.value for element in node.elements if isinstance(element, cst.DictElement)]
                kind = self._join(source, plain) if plain else FOREIGN
                return Holder(kind, mapped=True) if kind is not FOREIGN else FOREIGN
            case cst.SimpleString() | cst.FormattedString() | cst.ConcatenatedString() | cst.Integer() | cst.Float():
                return FOREIGN
            case cst.Comparison() | cst.UnaryOperation() | cst.BinaryOperation():
                return FOREIGN
        return None

    def _join(self, source: Source, nodes: Iterable[Node]) -> Kind:
        return merged(self.kind(source, node) for node in nodes if dotted(node) not in ("None", "Ellipsis"))

    def _is_future(self, source: Source, node: Node) -> bool:
        if isinstance(node, cst.Name | cst.Attribute):
            return True
        return isinstance(node, cst.Call) and last_word(node.func) in ("gather", "create_task", "ensure_future", "get")

    def _item_at(self, source: Source, node: cst.Subscript) -> Kind:
        kind, at = self.kind(source, node.value), node.slice[0].slice
        if isinstance(kind, Holder):
            return kind if isinstance(at, cst.Slice) else kind.of
        if isinstance(kind, Row) and isinstance(at, cst.Index) and isinstance(at.value, cst.Integer):
            place = int(at.value.value)
            return kind.kinds[place] if place < len(kind.kinds) else None
        return FOREIGN if kind is FOREIGN else None

    def iterated(self, kind: Kind) -> Kind:
        """What `for x in ...` gives."""
        if isinstance(kind, Holder):
            return FOREIGN if kind.mapped else kind.of
        if isinstance(kind, Row):
            return merged(kind.kinds)
        return FOREIGN if kind is FOREIGN else None

    def _variable(self, source: Source, node: cst.Name) -> Kind:
        scope = source.binder(node)
        bindings = source.bound(scope).get(node.value)
        if bindings is None:
            return FOREIGN
        return merged(kind for one in bindings if (kind := self._given(source, scope, one)) is not NOTHING)

    def _given(self, source: Source, scope: Node, binding: Binding) -> Kind:
        how, name = binding.how, binding.name
        match how:
            case cst.Param():
                return self._parameter(source, scope, how)
            case cst.FunctionDef() | cst.ClassDef():
                return Definition(how)
            case cst.AnnAssign():
                return self.annotated(source, how.annotation)
            case cst.AssignTarget():
                assigned = source.parent[how]
                if is_empty(assigned.value):
                    return NOTHING
                return self._taken_apart(how.target, name, self.kind(source, assigned.value))
            case cst.NamedExpr():
                return self.kind(source, how.value)
            case cst.For() | cst.CompFor():
                return self._taken_apart(how.target, name, self.iterated(self.kind(source, how.iter)))
            case cst.WithItem():
                return self.kind(source, how.item)
            case cst.ExceptHandler():
                kind = self.kind(source, how.type)
                is_own = isinstance(kind, Definition) and isinstance(kind.node, cst.ClassDef)
                return Own(frozenset([kind.node.name.value])) if is_own else FOREIGN
            case cst.ImportAlias():
                return self._imported(source, how)
            case cst.AugAssign():
                return NOTHING
            case cst.MatchAs():
                return self._matched(source, how)
        return None

    def _taken_apart(self, target: Node, name: cst.Name, kind: Kind) -> Kind:
        """What one name of a target gets from a value."""
        if target is name:
            return kind
        if isinstance(target, cst.Tuple | cst.List):
            for place, element in enumerate(target.elements):
                if name in targets_in(element.value):
                    if isinstance(kind, Row):
                        return self._taken_apart(
                            element.value, name, kind.kinds[place] if place < len(kind.kinds) else None
                        )
                    return self._taken_apart(element.value, name, self.iterated(kind))
        return None

    def _parameter(self, source: Source, function: Function, param: cst.Param) -> Kind:
        owner = source.class_of(function) if isinstance(function, cst.FunctionDef) else None
        if owner is not None and params_of(function)[0] is param and param.annotation is None:
            marks = decorators_of(function)
            if "staticmethod" not in marks:
                return Definition(owner) if "classmethod" in marks else Own(frozenset([owner.name.value]))
        kind = self.annotated(source, param.annotation)
        if param is function.params.star_arg:
            return Holder(kind)
        if param is function.params.star_kwarg:
            return FOREIGN
        return kind

    def _imported(self, source: Source, alias: cst.ImportAlias) -> Kind:
        holder = next(up for up in source.up(alias) if isinstance(up, cst.Import | cst.ImportFrom))
        if isinstance(holder, cst.Import):
            found = self.module(source, None, dotted(alias.name))
            return Definition(found) if found else FOREIGN
        found = self.module(source, holder)
        if found is None:
            return FOREIGN
        return self._of_module(found, dotted(alias.name))

    def _of_module(self, source: Source, name: str) -> Kind:
        bindings = source.bound(source.module).get(name, ())
        return merged(self._given(source, source.module, one) for one in bindings) if bindings else None

    def _matched(self, source: Source, node: cst.MatchAs) -> Kind:
        """`case C(x, y)`: the fields of C in order."""
        element = source.parent[node]
        holder = source.parent.get(element)
        if node.pattern is not None and isinstance(node.pattern, cst.MatchClass):
            kind = self.kind(source, node.pattern.cls)
            return self.made_by(kind)
        if isinstance(holder, cst.MatchClass) and isinstance(
            element, cst.MatchSequenceElement | cst.MatchKeywordElement
        ):
            kind = self.made_by(self.kind(source, holder.cls))
            if isinstance(kind, Own) and element in holder.patterns:
                fields = self.fields(next(iter(kind.classes)))
                place = list(holder.patterns).index(element)
                return self._attribute(kind, fields[place]) if place < len(fields) else None
        return None

    def fields(self, name: str) -> list[str]:
        """Annotated names of a class body, in order: the fields of a dataclass."""
        found: list[str] = []
        for source, node in self.classes.get(name, ()):
            found += [
                one
                for one, bindings in source.bound(node).items()
                if any(isinstance(b.how, cst.AnnAssign) for b in bindings)
            ]
        return found

    def made_by(self, kind: Kind) -> Kind:
        """What calling a definition gives."""
        if isinstance(kind, Definition) and isinstance(kind.node, cst.ClassDef):
            return Own(frozenset([kind.node.name.value]))
        if isinstance(kind, Definition) and isinstance(kind.node, cst.FunctionDef):
            source = self.home[kind.node]
            if kind.node.returns is not None:
                return self.annotated(source, kind.node.returns)
            given = [node.value for node in walk_own(kind.node) if isinstance(node, cst.Return) and node.value]
            return self._join(source, given) if given else None
        return FOREIGN if kind is FOREIGN else None

    @cached_property
    def home(self) -> dict[Node, Source]:
        """The file of each function and class."""
        return {node: source for source, node in self.all(cst.FunctionDef, cst.ClassDef)}

    def _attribute(self, kind: Kind, word: str) -> Kind:
        if isinstance(kind, Definition) and isinstance(kind.node, Source):
            return self._of_module(kind.node, word)
        if isinstance(kind, Own):
            if not self.has(kind.classes, word):
                return FOREIGN
            return self._member({one for name in kind.classes for one in self.line(name)}, word)
        if isinstance(kind, Definition) and isinstance(kind.node, cst.ClassDef):
            return self._member(self.line(kind.node.name.value), word)
        if kind is None and word in self.members:
            return self._member(self.members[word], word)
        return FOREIGN

    def _member(self, names: Iterable[str], word: str) -> Kind:
        kinds: list[Kind] = []
        for name in sorted(names):
            for source, node in self.classes.get(name, ()):
                for binding in source.bound(node).get(word, ()):
                    if isinstance(binding.how, cst.FunctionDef) and decorators_of(binding.how) & {
                        "property",
                        "cached_property",
                    }:
                        kinds.append(self.annotated(source, binding.how.returns))
                    else:
                        kinds.append(self._given(source, node, binding))
                kinds += [kind for kind in self._stored(source, node, word) if kind is not NOTHING]
        known = [kind for kind in kinds if kind is not None]
        return merged(known) if known else None

    def _stored(self, source: Source, owner: cst.ClassDef, word: str) -> Iterator[Kind]:
        for place in self._places.get((owner, word), ()):
            above = source.parent[place]
            if isinstance(above, cst.AnnAssign):
                yield self.annotated(source, above.annotation)
            elif isinstance(above, cst.AssignTarget):
                value = source.parent[above].value
                yield NOTHING if is_empty(value) else self.kind(source, value)

    @cached_property
    def _places(self) -> dict[tuple[cst.ClassDef, str], list[cst.Attribute]]:
        found: dict[tuple[cst.ClassDef, str], list[cst.Attribute]] = defaultdict(list)
        for source, node in self.all(cst.Attribute):
            if (owner := self.self_class(source, node)) is not None and self.is_stored(source, node):
                found[owner, node.attr.value].append(node)
        return found

    def _call(self, source: Source, node: cst.Call) -> Kind:
        name = last_word(node.func)
        if isinstance(node.func, cst.Attribute):
            on = self.kind(source, node.func.value)
            if isinstance(on, Holder):
                return self._of_holder(on, name)
            if isinstance(on, Own) and self.has(on.classes, name):
                return self.made_by(self._attribute(on, name))
        if name == "super":
            owner = next((up for up in source.up(node) if isinstance(up, cst.ClassDef)), None)
            return Own(frozenset([owner.name.value])) if owner else None
        function = self.kind(source, node.func)
        if function is not FOREIGN:
            return self.made_by(function)
        given = [self.kind(source, arg.value) for arg in node.args]
        if name in ("enumerate",) and given:
            return Holder(Row((FOREIGN, self.iterated(given[0]))))
        if name == "zip":
            return Holder(Row(tuple(self.iterated(kind) for kind in given)))
        if name in PASS_ALL and given:
            if name == "gather":
                return Holder(self.iterated(given[0]) if node.args[0].star else merged(given))
            return Holder(self.iterated(given[0])) if given[0] is not None else None
        if name in PASS_ON and given:
            is_item = name == "next" or (name in ("max", "min") and sum(arg.keyword is None for arg in node.args) == 1)
            return self.iterated(given[0]) if is_item else given[0]
        if name == "field":
            return NOTHING
        return FOREIGN if all(kind is FOREIGN for kind in given) or not node.args else None

    @staticmethod
    def _of_holder(on: Holder, name: str) -> Kind:
        if name in FROM_HOLDER:
            return on.of
        if name == "values":
            return Holder(on.of)
        if name == "items":
            return Holder(Row((FOREIGN, on.of)))
        return on if name == "copy" else FOREIGN

    def annotated(self, source: Source, note: Node | None) -> Kind:
        """What an annotation says."""
        node = note.annotation if isinstance(note, cst.Annotation) else note
        if (quoted := text_of(node)) is not None:
            try:
                node = cst.parse_expression(quoted)
            except cst.ParserSyntaxError:
                return None
            return self._annotated_words(source, node)
        return self._annotated_words(source, node)

    def _annotated_words(self, source: Source, node: Node | None) -> Kind:
        match node:
            case None:
                return None
            case cst.BinaryOperation():
                return merged(
                    self._annotated_words(source, side) for side in (node.left, node.right) if dotted(side) != "None"
                )
            case cst.Subscript():
                outer = last_word(node.value)
                inner = [
                    self._annotated_words(source, part.slice.value)
                    for part in node.slice
                    if isinstance(part.slice, cst.Index)
                ]
                if outer in WRAPPERS:
                    return inner[0]
                if outer == "Union":
                    return merged(inner)
                if outer in ("tuple", "Tuple") and dotted(node.slice[-1].slice.value) != "...":
                    return (
                        Row(tuple(inner))
                        if not isinstance(node.slice[-1].slice.value, cst.Ellipsis)
                        else Holder(inner[0])
                    )
                if outer in HOLDERS:
                    return Holder(inner[0])
                if outer in MAPPINGS:
                    return Holder(inner[-1], mapped=True) if inner[-1] not in (FOREIGN, None) else FOREIGN
                return None
            case cst.Name() | cst.Attribute():
                return self._annotated_name(source, node)
        return None

    def _annotated_name(self, source: Source, node: cst.Name | cst.Attribute) -> Kind:
        name = last_word(node)
        if name in self.classes:
            return Own(frozenset([name]))
        if name in ("Any", "object", "Callable", "Self"):
            return None
        for other in self.sources.values():
            for binding in other.bound(other.module).get(name, ()):
                if isinstance(binding.how, cst.AssignTarget | cst.AnnAssign):
                    value = (
                        other.parent[binding.how].value
                        if isinstance(binding.how, cst.AssignTarget)
                        else binding.how.value
                    )
                    return self._annotated_words(other, value)
        return FOREIGN


NOTHING = Row(())
"""An empty list, None: says nothing about what the other bindings of the name hold."""


def is_empty(value: Node) -> bool:
    return dotted(value) == "None" or (isinstance(value, cst.List | cst.Dict) and not value.elements)


def merged(kinds: Iterable[Kind]) -> Kind:
    """The one kind that all are; objects of several classes of the project are objects of any of them."""
    found = set(kinds) - {NOTHING}
    if not found:
        return FOREIGN
    if len(found) == 1:
        return found.pop()
    if all(isinstance(kind, Own) for kind in found):
        return Own(frozenset().union(*(kind.classes for kind in found)))
    if all(isinstance(kind, Holder) for kind in found):
        return Holder(merged(kind.of for kind in found), mapped=all(kind.mapped for kind in found))
    if FOREIGN in found and all(isinstance(kind, Holder) for kind in found - {FOREIGN}):
        return merged(found - {FOREIGN})
    return None
