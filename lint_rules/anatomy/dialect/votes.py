"""What the code of one module says of the fields of classes: votes for the part of a message or call that each is.

A field is the `role` that is sent as one, the `arguments` with which the tool is run that another field names, the `id`
under which a result is answered. Told once for all files that share the classes.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from lint_rules.anatomy import vocabulary as words
from lint_rules.program.modules import ClassFrame, Find, Frame, Module, Program, indexed
from lint_rules.program.values import ClassObject, Function, Instance, Pair, Values
from lint_rules.syntax.below import walk
from lint_rules.syntax.memo import once

MESSAGE = ("role", "content", "tool_calls", "tool_call_id")
CALL = frozenset({"id", "name", "arguments"})
_SAYING = frozenset({"content", "parts", "tool_calls"})
_BLOCK = {"id": "id", "call_id": "id", "name": "name", "input": "arguments", "arguments": "arguments"}
_READ = {
    "id": "id",
    "call_id": "id",
    "name": "name",
    "input": "arguments",
    "arguments": "arguments",
    "args": "arguments",
}
_OF_MEMBERS = frozenset({"value", "name"})
"""What a member of an `Enum` says of itself. Source: Python documentation, `enum`."""
_PLAIN = frozenset({"loads", "dumps", "str", "dict", "list", "copy", "deepcopy", "tuple"})
_TELLING = re.compile(
    r"""['"](?:{quoted})['"]|{tags}|['".](?:{arguments})\b|\*\*[^\n]*\.|{told}""".format(
        quoted="|".join(sorted(words.ROLES.union(MESSAGE))),
        tags="|".join(sorted(words.CALL_TAGS)),
        arguments="|".join(sorted(word for word, part in _READ.items() if part == "arguments")),
        told=r"\b(?:case |isinstance\(\w+, )[A-Z]\w*\W",
    ).encode()
)


@lru_cache(maxsize=4096)
def may_tell(source: bytes) -> bool:
    """Whether anything in a module can be a vote for what `Parts` looks for."""
    return _TELLING.search(source) is not None


class Class(NamedTuple):
    """A class of the project, whoever has indexed its file: the path of that, the line in which it begins, its name."""

    path: str
    line: int
    name: str

    @classmethod
    def of(cls, frame: ClassFrame) -> Class:
        return cls(frame.module.path, frame.node.lineno, frame.name)


Field = tuple[Class, str]
Region = list[tuple[Any, Frame]]
"""What is run, each part with the frame in which it stands."""


class Sent(NamedTuple):
    """What is sent of the objects of a class: under which roles, and what is made of them, with the role it gets."""

    cls: Class
    roles: frozenset[str]
    made: frozenset[tuple[Class, str | None]]


class Rendering(NamedTuple):
    """Where objects are sent, each in the way of its class; all are of the classes `whole`."""

    whole: frozenset[Class]
    sent: list[Sent]


def votes_of(path: str, source: bytes, find: Find | None) -> Votes | None:
    """What a file says, None for what is no Python. `find` finds what it imports."""
    module = indexed(path, source)
    return Votes(Values(Program(find, module, source)), module) if module is not None else None


class Votes:
    """What one module says of classes, its own and others; of a module seen by itself, with what it imports."""

    def __init__(self, values: Values, module: Module) -> None:
        self._values = values
        self.sources: dict[str, bytes] = {}
        """By path: the files in which the classes lie, as far as the module imports them."""
        self.votes: defaultdict[Class, Counter[tuple[str, str]]] = defaultdict(Counter)
        """By class: how often a field was taken for a part."""
        self.roles: defaultdict[Field, set[str]] = defaultdict(set)
        self.perhaps: defaultdict[Class, Counter[tuple[str, str]]] = defaultdict(Counter)
        """Votes that count for what is answered."""
        self.given: list[tuple[Class, dict[str, list[Field]], bool]] = []
        """What objects are made of: fields, each with those of other objects that it gets; whether it is an answer."""
        self.fixed: defaultdict[Class, set[str]] = defaultdict(set)
        """The roles under which objects are sent that have no field for it."""
        self.rendered: list[Rendering] = []
        self.texts: Counter[Field] = Counter()
        self.parsed: set[Field] = set()
        self.inside: defaultdict[Field, set[Class]] = defaultdict(set)
        """The classes of what a field holds, of which a part is read, or which is made for it."""
        self._takers: dict[Frame, tuple[str, str, bool] | None] = {}
        for frame in module.frames:
            for told in _telling(module, frame):
                _LOOKS[type(told)][1](self, told, frame)
        for regions in self._by_class(module):
            self._rendering(regions)
        del self._values, self._takers

    def _known(self, cls: ClassFrame) -> Class:
        found = Class.of(cls)
        self.sources[found.path] = self._values.program.sources[found.path]
        return found

    def _vote(self, value: ast.AST | None, frame: Frame, part: str) -> None:
        for cls, name in self._fields_in(value, frame):
            self.votes[cls][name, part] += 1
            if part == "arguments" and isinstance(value, ast.Call) and _last(value.func) == "dumps":
                self.parsed.add((cls, name))

    def _fields_in(self, node: ast.AST | None, frame: Frame) -> list[Field]:
        """The fields of objects of the project that a value is, or is made of in one step."""
        if isinstance(node, ast.Name):
            around = frame.lookup(node.id)
            bounds = [each for each in around.bound[node.id] if each.how == "field"] if around is not None else []
            return [(self._known(cls), name) for bound in bounds for cls, name in self._values.captured(bound)]
        if isinstance(node, ast.Attribute):
            owners = self._values.owners(node, frame)
            if node.attr in _OF_MEMBERS and owners and all(map(_is_enum, owners)):
                return self._fields_in(node.value, frame)
            for around in self._values.owners(node.value, frame) if isinstance(node.value, ast.Attribute) else ():
                self.inside[self._known(around), node.value.attr].update(map(self._known, owners))  # type: ignore[attr-defined]
            return [(self._known(cls), node.attr) for cls in owners]
        if isinstance(node, ast.BoolOp):
            return self._fields_in(node.values[0], frame)
        if isinstance(node, ast.IfExp):
            return self._fields_in(node.body, frame) or self._fields_in(node.orelse, frame)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._fields_in(node.generators[0].iter, frame)
        if isinstance(node, ast.Call):
            return self._fields_in(node.args[0] if node.args else getattr(node.func, "value", None), frame)
        return []

    def _display(self, node: ast.Dict, frame: Frame) -> None:
        """A message or call in the form in which it is sent."""
        items = _items(node)
        if "text" in items and _is_one_of(items.get("type"), words.TEXT_TAGS):
            self.texts.update(self._fields_in(items["text"], frame))
        if "role" in items and not items.keys().isdisjoint(_SAYING):
            for part in MESSAGE:
                self._vote(items.get(part), frame, part)
            role = items["role"]
            if type(role) is ast.Constant and role.value in words.ROLES:
                self._answer(items, frame, str(role.value))
        function = items.get("function")
        inner = _items(function) if type(function) is ast.Dict else {}
        if {"name", "arguments"} <= inner.keys():
            for key, value in {"id": items.get("id"), **inner}.items():
                self._vote(value, frame, key)
        tag = items.get("type")
        if type(tag) is ast.Constant and tag.value in words.CALL_TAGS:
            for key, part in _BLOCK.items():
                self._vote(items.get(key), frame, part)
        elif type(tag) is ast.Constant and tag.value in words.RESULT_TAGS:
            answered = next((value for key, value in items.items() if key in words.ANSWERED), None)
            shown = {"tool_call_id": answered, "content": items.get("content", items.get("output"))}
            for part, value in shown.items():
                self._vote(value, frame, part)
            self._answer(shown, frame, "tool")

    def _answer(self, items: Mapping[str, ast.expr | None], frame: Frame, role: str) -> None:
        """What is sent with the id of a call and a content, always under one role."""
        answering = {cls for cls, _ in self._fields_in(items.get("tool_call_id"), frame)}
        for cls in answering & {cls for cls, _ in self._fields_in(items.get("content"), frame)}:
            self.fixed[cls].add(role)

    def _by_class(self, module: Module) -> Iterator[list[tuple[ClassFrame, Region]]]:
        """Where the class of an object decides what is done with it: each class with what is run for it.

        By tests of one name in one function, by methods of one name, each of another class, by functions that stand in
        a table under the classes, or are registered for those of their parameters.
        """
        found: defaultdict[object, list[tuple[ClassFrame, Region]]] = defaultdict(list)
        asking = [frame for frame in module.frames if not frame.is_class] if module.dispatches else []
        around = {part: frame for frame in asking for part in walk(frame.node)}
        for name, named, parts in (each for each in module.dispatches if each[1] in around):
            frame = around[named]
            for thing in self._values.of(named, frame):
                for each in (each for part in thing.parts for each in part) if isinstance(thing, Pair) else (thing,):
                    if isinstance(each, ClassObject):
                        found[frame, name].append((each.cls, [(part, frame) for part in parts]))
        for method in module.frames:
            if isinstance(method.parent, ClassFrame) and not isinstance(method.node, ast.Lambda):
                sends = any(map(_may_be_sent_whole, method.nodes))
                parts = method.node.body if sends else method.returned
                found[method.node.name].append((method.parent, [(part, method) for part in parts]))
        for key, cls, function in self._in_tables(module):
            found[key].append((cls, [(line, function) for line in getattr(function.node, "body", ())]))
        yield from found.values()

    def _in_tables(self, module: Module) -> Iterator[tuple[object, ClassFrame, Frame]]:
        """`{Said: show_said, Done: show_done}`, `@show.register` of `functools.singledispatch`: each with its table."""
        for frame in module.frames:
            for table in (node for node in frame.nodes if isinstance(node, ast.Dict)):
                for key, value in zip(table.keys, table.values, strict=True):
                    classes = [thing.cls for thing in self._values.of(key, frame) if isinstance(thing, ClassObject)]
                    functions = [each.frame for each in self._values.of(value, frame) if isinstance(each, Function)]
                    yield from ((table, classes[0], each) for each in functions if classes)
            for name in frame.parameters[:1] if "register" in frame.decorators else ():
                told = [thing.cls for thing in self._values.variable(frame, name) if isinstance(thing, Instance)]
                yield from (("register", cls, frame) for cls in told if len(told) == 1)

    def _rendering(self, regions: list[tuple[ClassFrame, Region]]) -> None:
        """Notes as what objects of several classes are sent, told apart by their class."""
        if len(regions) < 2:
            return
        sent = [self._sent(cls, region) for cls, region in regions]
        if any(each.roles or each.made for each in sent):
            whole = set.intersection(*({self._known(base) for base in self._values.bases(cls)} for cls, _ in regions))
            self.rendered.append(Rendering(frozenset(whole), sent))

    def _sent(self, cls: ClassFrame, region: Region) -> Sent:
        """What a region sends, or makes, with the functions that it calls."""
        region = [*region, *self._helping(cls, region)]
        calls = ((n, frame) for part, frame in region for n in walk(part) if isinstance(n, ast.Call))
        made = [(each, self._role_given(*at)) for at in calls if (each := self._values.constructed(*at))]
        known = frozenset((self._known(each), role) for each, role in made if each is not cls)
        return Sent(self._known(cls), _roles_sent([part for part, _ in region]), known)

    def _role_given(self, call: ast.Call, frame: Frame) -> str | None:
        roles = (self._role(value, frame) for value, _ in _given(call))
        return next((role for role in roles if role is not None), None)

    def _helping(self, cls: ClassFrame, region: Region) -> Iterator[tuple[Any, Frame]]:
        """What functions of the project run that a region hands the object to."""
        for call, frame in ((n, frame) for part, frame in region for n in walk(part) if isinstance(n, ast.Call)):
            given = [arg.value if isinstance(arg, ast.Attribute) else arg for arg, _ in _given(call)]
            if any(cls in self._values.instances(arg, frame) for arg in given):
                for callee in self._values.callees(call, frame):
                    yield from ((line, callee) for line in getattr(callee.node, "body", ()))

    def _assignment(self, node: ast.Assign, frame: Frame) -> None:
        """`message["tool_calls"] = ...`, where messages are sent as they are."""
        for target in node.targets:
            if type(target) is ast.Subscript and type(target.slice) is ast.Constant:
                if target.slice.value in ("tool_calls", "tool_call_id"):
                    self._vote(node.value, frame, str(target.slice.value))

    def _call(self, node: ast.Call, frame: Frame) -> None:
        self._run(node, frame)
        if _last(node.func) == "loads" and node.args and type(node.args[0]) is ast.Attribute:
            for owner, name in self._fields_in(node.args[0], frame):
                self.perhaps[owner][name, "arguments"] += 1
        made = self._values.constructed(node, frame) if _may_construct(node) else None
        if made is None:
            return
        cls = self._known(made)
        listed = self._values.constructor(made)
        field = dict(listed)
        given = self._values.given(node, [name for name, _ in listed])
        read = {field[name]: fields for name, value in given if (fields := self._fields_in(value, frame))}
        is_answer = any(
            (type(value) is ast.Constant and value.value == "tool") or _is_outcome(value, frame) for _, value in given
        )
        if read:
            self.given.append((cls, read, is_answer))
        parts = {name: _told(value) for name, value in given}
        is_call = {"name", "arguments"} <= {part for part in parts.values() if part is not None}
        for name, value in given:
            part = parts[name]
            inner = (
                self._values.constructed(value, frame)
                if isinstance(value, ast.Call) and "id" in parts.values()
                else None
            )
            if inner is not None:
                self.inside[cls, field[name]].add(self._known(inner))
                self.perhaps[cls].update((field[other], "id") for other, told in parts.items() if told == "id")
            if (role := self._role(value, frame)) is not None:
                self.roles[cls, field[name]].add(role)
            elif part in CALL and is_call:
                self.votes[cls][field[name], part] += 1
                if part == "arguments" and isinstance(value, ast.Call) and _last(value.func) == "loads":
                    self.parsed.add((cls, field[name]))
            elif part == "text":
                self.texts[cls, field[name]] += 1

    def _run(self, call: ast.Call, frame: Frame) -> None:
        """`tools[call.name](**call.arguments)`, the tool looked up before, too, or by a function that gets both."""
        read = [(value, is_spread) for value, is_spread in _given(call) if type(value) is ast.Attribute]
        if any(is_spread for _, is_spread in read) or len(read) == 1:
            for value, is_spread in read:
                for key in _looked_up_by(call, frame):
                    if type(key) is ast.Attribute and key.attr != value.attr and _is_same(key.value, value.value):
                        self._ran(key, value, frame, is_spread)
        elif len(read) > 1:
            for callee in self._values.callees(call, frame):
                if (taken := self._taken(callee)) is not None:
                    here = dict(self._values.given(call, callee.parameters))
                    name, arguments = here.get(taken[0]), here.get(taken[1])
                    if isinstance(name, ast.Attribute) and isinstance(arguments, ast.Attribute):
                        if _is_same(name.value, arguments.value):
                            self._ran(name, arguments, frame, taken[2])

    def _ran(self, name: ast.Attribute, arguments: ast.Attribute, frame: Frame, is_spread: bool) -> None:
        """What is run by one field of an object and gets the other: if that are keywords, a tool, else perhaps."""
        if is_spread:
            self._vote(name, frame, "name")
            self._vote(arguments, frame, "arguments")
            self.parsed.update(self._fields_in(arguments, frame))
        else:
            for part, value in (("name", name), ("arguments", arguments)):
                for cls, field in self._fields_in(value, frame):
                    self.perhaps[cls][field, part] += 1

    def _taken(self, function: Frame) -> tuple[str, str, bool] | None:
        """The parameters of a function by which it looks something up, and with which it runs that."""
        if function not in self._takers:
            names = set(function.parameters)
            self._takers[function] = next(
                (
                    (key.id, value.id, is_spread)
                    for call in function.nodes
                    if type(call) is ast.Call
                    for value, is_spread in _given(call)
                    if type(value) is ast.Name and value.id in names
                    for key in _looked_up_by(call, function)
                    if type(key) is ast.Name and key.id in names and key.id != value.id
                ),
                None,
            )
        return self._takers[function]

    def _comparison(self, node: ast.Compare, frame: Frame) -> None:
        """`turn.kind == "assistant"`: which of its fields tells who speaks."""
        sides = [node.left, *node.comparators]
        parts = (part for side in sides for part in _alternatives(side))
        roles = {role for part in parts if (role := self._role(part, frame)) is not None}
        if not words.TELLING_ROLES.isdisjoint(roles):
            for side in sides:
                if type(side) is ast.Attribute and self._role(side, frame) is None:
                    for cls, name in self._fields_in(side, frame):
                        self.roles[cls, name] |= roles

    def _role(self, node: ast.AST, frame: Frame) -> str | None:
        """The role that a constant says, or a member of a class of the project: `"tool"`, `Role.TOOL`."""
        if type(node) is ast.Constant and node.value in words.ROLES:
            return str(node.value)
        if type(node) is ast.Attribute and node.attr.lower() in words.ROLES:
            if any(isinstance(thing, ClassObject) for thing in self._values.of(node.value, frame)):
                return node.attr.lower()
        return None


def _is_enum(cls: ClassFrame) -> bool:
    bases = (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in cls.inherits)
    return any(base.endswith("Enum") for base in bases)


def _items(node: ast.Dict) -> dict[str, ast.expr]:
    """The keys that are strings, and their values."""
    pairs = zip(node.keys, node.values, strict=True)
    return {k.value: v for k, v in pairs if isinstance(k, ast.Constant) and isinstance(k.value, str)}


def _roles_sent(parts: list[Any]) -> frozenset[str]:
    """The roles under which something is sent in a region; where results are in it, that is the role of tools."""
    shown = [_items(node) for part in parts for node in walk(part) if isinstance(node, ast.Dict)]
    if any(_is_one_of(items.get("type"), words.RESULT_TAGS) for items in shown):
        return frozenset({"tool"})
    said = (items["role"] for items in shown if "role" in items and not _SAYING.isdisjoint(items))
    return frozenset(role.value for role in said if isinstance(role, ast.Constant) and role.value in words.ROLES)


def _is_one_of(value: ast.AST | None, tags: Collection[str]) -> bool:
    return isinstance(value, ast.Constant) and value.value in tags


def _last(node: ast.AST) -> str:
    """The name of a member that is read (`x.name`, `x["name"]`)."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return node.id if isinstance(node, ast.Name) and node.id in _PLAIN else ""


def _reads(call: ast.Call) -> bool:
    """Whether a constructor may get parts of another object."""
    name = call.func.id if type(call.func) is ast.Name else getattr(call.func, "attr", "")
    return name[:1].isupper() and len(call.args) + len(call.keywords) > 1


def _given(call: ast.Call) -> list[tuple[ast.expr, bool]]:
    """What a call gets; whether that is spread to keywords."""
    return [(arg, False) for arg in call.args] + [(k.value, k.arg is None) for k in call.keywords]


def _is_same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _told(value: ast.AST) -> str | None:
    """What an argument is by its own form: a role, a text, or a part of a call as a provider gives it."""
    is_text = isinstance(value, ast.Call) and _last(value.func) == "str"
    while isinstance(value, (ast.Call, ast.BoolOp)):
        if isinstance(value, ast.BoolOp):
            value = value.values[0]
        elif value.args and _last(value.func) in _PLAIN:
            value = value.args[0]
        else:
            break
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        value = value.left
    if isinstance(value, ast.JoinedStr):
        return "text"
    if isinstance(value, ast.Constant):
        return None if not isinstance(value.value, str) else "role" if value.value in words.ROLES else "text"
    name = _last(value)
    if name in ("content", "text") or (is_text and name not in _READ):
        return "text"
    return _READ.get(name)


def _looked_up_by(call: ast.Call, frame: Frame) -> Iterator[ast.AST]:
    """By what the thing is looked up that a call runs, or of which it runs a method; also if that was done before."""
    func = call.func
    base = func.value if type(func) is ast.Attribute else func
    looked: list[ast.AST] = [func, base]
    if type(base) is ast.Name and (around := frame.lookup(base.id)) is not None:
        looked += [bound.node for bound in around.bound[base.id] if bound.how == "value"]
    for look in looked:
        yield from _keys(look)


def _is_outcome(value: ast.expr, frame: Frame) -> bool:
    """Whether a value is what a tool gave that was looked up by one field of a call and got another as its keywords."""
    made: list[ast.AST] = [value]
    if type(value) is ast.Name and (around := frame.lookup(value.id)) is not None:
        made += [bound.node for bound in around.bound[value.id] if bound.how == "value"]
    return any(_runs_call(node, frame) for node in made)


def _runs_call(node: ast.AST, frame: Frame) -> bool:
    """`await tools[call.name](**call.arguments)`, also as a text."""
    while isinstance(node, ast.Await) or (isinstance(node, ast.Call) and _last(node.func) in _PLAIN and node.args):
        node = node.value if isinstance(node, ast.Await) else node.args[0]
    if not isinstance(node, ast.Call):
        return False
    read = [given.value for given, is_spread in _given(node) if is_spread and type(given) is ast.Attribute]
    keys = _looked_up_by(node, frame) if read else ()
    return any(type(key) is ast.Attribute and any(_is_same(key.value, base) for base in read) for key in keys)


def _keys(node: ast.AST) -> Iterator[ast.AST]:
    """By what something is looked up: `x[k]`, `x.get(k)`, `getattr(x, k)`."""
    if isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call):
        yield from node.args


def _alternatives(node: ast.AST) -> list[ast.expr] | list[ast.AST]:
    return node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]


def _may_be_sent(node: ast.Dict) -> bool:
    return any(type(key) is ast.Constant and key.value in _SENT for key in node.keys)


def _may_be_sent_whole(node: Any) -> bool:
    return type(node) is ast.Dict and _may_be_sent(node)


def _may_be_put(node: ast.Assign) -> bool:
    slices = (target.slice for target in node.targets if type(target) is ast.Subscript)
    return any(type(part) is ast.Constant and part.value in MESSAGE for part in slices)


def _may_construct(node: ast.Call) -> bool:
    told = {_told(value) for value, _ in _given(node)}
    return "role" in told or {"name", "arguments"} <= told or _reads(node)


def _may_run(node: ast.Call) -> bool:
    return any(type(value) is ast.Attribute for value, _ in _given(node)) or _may_construct(node)


def _may_ask_role(node: ast.Compare) -> bool:
    return any(type(side) is ast.Attribute for side in (node.left, *node.comparators))


_SENT = frozenset({"role", "function", "type"})
_LOOKS: dict[type, tuple[Callable[[Any], bool], Callable[[Votes, Any, Frame], None]]] = {
    ast.Dict: (_may_be_sent, Votes._display),
    ast.Assign: (_may_be_put, Votes._assignment),
    ast.Call: (_may_run, Votes._call),
    ast.Compare: (_may_ask_role, Votes._comparison),
}


_NOTHING: tuple[Any, ...] = ()


@once(_NOTHING)
def _telling(module: Module, frame: Frame) -> tuple[Any, ...]:
    """What of a frame can be a vote, by its form alone: the module is asked for each file that imports it."""
    return tuple(node for node in frame.nodes if (known := _LOOKS.get(type(node))) is not None and known[0](node))
