"""What the expressions of a project may be: objects of its classes, containers of those, its functions and modules.

Asked on demand, remembered, and bounded in one place: beyond the bounds the answer is *unknown*, which is empty.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from lint_rules.program.modules import Bound, ClassFrame, Frame, Module, Program

MOST_STEPS = 40
"""How many questions may hang on each other."""
MOST_OBJECTS = 8
"""How many things one expression may be."""


class Instance(NamedTuple):
    """An object of a class of the project."""

    cls: ClassFrame


class ClassObject(NamedTuple):
    """A class itself."""

    cls: ClassFrame


class Function(NamedTuple):
    """A function or method of the project."""

    frame: Frame


class ModuleObject(NamedTuple):
    module: Module


class Container(NamedTuple):
    """A list, set, generator, queue, or the values of a dict: what iterates over, or is looked up."""

    inside: Value


class Pair(NamedTuple):
    """A tuple, position by position."""

    parts: tuple[Value, ...]


Thing: TypeAlias = "Instance | ClassObject | Function | ModuleObject | Container | Pair"
Value: TypeAlias = "frozenset[Thing]"
UNKNOWN: Value = frozenset()

_CONTAINERS = frozenset(
    {
        "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable", "Iterator",
        "Collection", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Generator", "deque", "Deque", "Queue",
    }
)  # fmt: skip
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"})
_TUPLES = frozenset({"tuple", "Tuple"})
_TRANSPARENT = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Awaitable", "Future", "Task"})
_LAST = frozenset({"Coroutine"})
_SAME = frozenset(
    {
        "list", "tuple", "set", "frozenset", "sorted", "reversed", "deque", "iter", "filter", "deepcopy", "copy",
        "cast", "wait_for", "shield", "replace", "_replace", "model_copy", "dict",
    }
)  # fmt: skip
"""Functions and methods whose result holds what their argument, or their object, holds."""
_ELEMENTS = frozenset({"pop", "popleft", "get", "get_nowait", "setdefault", "next", "min", "max", "choice", "anext"})
_DATACLASSES = frozenset({"dataclass", "define", "attrs", "frozen", "mutable", "s", "attr"})
_RECORDS = frozenset({"NamedTuple", "BaseModel"})


class Values:
    """What expressions of the files of a program may be."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[Any, Value] = {}
        self._steps = 0

    # -- bounds -----------------------------------------------------------------------------------------------------

    def _remembered(self, key: Any, answer: Callable[[], Value]) -> Value:
        """An answer, found once; unknown while it is looked for (what hangs on itself adds nothing) and too far off."""
        found = self._known.get(key)
        if found is None:
            if self._steps >= MOST_STEPS:
                return UNKNOWN
            self._known[key] = UNKNOWN
            self._steps += 1
            found = answer()
            self._steps -= 1
            self._known[key] = found = found if len(found) <= MOST_OBJECTS else UNKNOWN
        return found

    # -- expressions ------------------------------------------------------------------------------------------------

    def of(self, node: ast.AST | None, frame: Frame) -> Value:
        """What an expression that stands in a frame may be."""
        answer = _EXPRESSIONS.get(type(node))
        return UNKNOWN if answer is None else self._remembered(node, lambda: answer(self, node, frame))

    def instances(self, node: ast.AST | None, frame: Frame) -> list[ClassFrame]:
        """The classes of which the value of an expression may be an object."""
        return [thing.cls for thing in self.of(node, frame) if isinstance(thing, Instance)]

    def owners(self, node: ast.Attribute, frame: Frame) -> list[ClassFrame]:
        """The classes of the objects of which an attribute may be read: of several only those that have it."""
        found = self.instances(node.value, frame)
        having = [cls for cls in found if self._has(cls, node.attr)] if len(found) > 1 else found
        return having or found

    def _has(self, cls: ClassFrame, name: str) -> bool:
        return any(name in here.bound or name in here.attributes for here in (cls, *self.bases(cls)))

    def elements(self, node: ast.AST | None, frame: Frame) -> list[ClassFrame]:
        """The classes of the objects that a container may hold."""
        return [thing.cls for thing in _elements(self.of(node, frame)) if isinstance(thing, Instance)]

    def callees(self, call: ast.Call, frame: Frame) -> list[Frame]:
        """The functions of the project that a call may run; for a class its `__init__`, if it has one."""
        found = []
        for thing in self.of(call.func, frame):
            if isinstance(thing, Function):
                found.append(thing.frame)
            elif isinstance(thing, ClassObject) and (method := self.method(thing.cls, "__init__")) is not None:
                found.append(method)
        return found

    def constructed(self, call: ast.Call, frame: Frame) -> ClassFrame | None:
        """The class of the project of which a call makes an object."""
        made = [thing.cls for thing in self.of(call.func, frame) if isinstance(thing, ClassObject)]
        return made[0] if len(made) == 1 else None

    def given(self, call: ast.Call, names: list[str]) -> list[tuple[str, ast.expr]]:
        """Which parameter, of those in call order, gets which argument; what is behind `*args` is not told."""
        found: list[tuple[str, ast.expr]] = []
        for place, arg in enumerate(call.args):
            if type(arg) is ast.Starred or place >= len(names):
                break
            found.append((names[place], arg))
        return found + [(k.arg, k.value) for k in call.keywords if k.arg is not None and k.arg in names]

    def _name(self, node: ast.Name, frame: Frame) -> Value:
        owner = frame.owner
        if owner is not None and node.id == frame.self_name:
            return frozenset({ClassObject(owner) if "classmethod" in frame.decorators else Instance(owner)})
        told = self.of(frame.module.narrowed.get(node), frame)
        classes = told | {thing for pair in told if isinstance(pair, Pair) for part in pair.parts for thing in part}
        if instances := frozenset(Instance(thing.cls) for thing in classes if isinstance(thing, ClassObject)):
            return instances
        around = frame.lookup(node.id)
        return UNKNOWN if around is None else self.variable(around, node.id)

    def variable(self, frame: Frame, name: str) -> Value:
        """What a name that is bound in a frame may be."""
        return self._remembered((frame, name), lambda: self._variable(frame, name))

    def _variable(self, frame: Frame, name: str) -> Value:
        bounds = frame.bound.get(name, ())
        told = [bound for bound in bounds if bound.how == "annotation"]
        found = _joined(self.bound(bound) for bound in told or bounds)
        return found if told and found else found | self._contents(frame.grown.get(name, ()))

    def _contents(self, grown: Iterable[Bound]) -> Value:
        inside = _joined(self.bound(bound) for bound in grown)
        return frozenset({Container(inside)}) if inside else UNKNOWN

    def bound(self, bound: Bound) -> Value:
        """What a binding gives."""
        found = _BINDINGS[bound.how](self, bound)
        for place in bound.path:
            found = _joined(_part(thing, place) for thing in found)
        return found

    def _parameter(self, bound: Bound) -> Value:
        arg, frame = bound.node, bound.frame
        if arg.annotation is not None:
            return self.annotation(arg.annotation, frame.parent or frame)
        return _joined([*self._passed(frame, arg.arg), *self._declared(frame, arg.arg)])

    def _declared(self, method: Frame, name: str) -> Iterable[Value]:
        """What a base says of a parameter in the same place of the method that one takes the place of."""
        place = method.parameters.index(name) if name in method.parameters else len(method.parameters)
        for base in self.bases(method.parent) if isinstance(method.parent, ClassFrame) else ():
            same = base.methods.get(getattr(method.node, "name", ""))
            if same is not None and place < len(same.parameters):
                yield self.variable(same, same.parameters[place])

    def _passed(self, function: Frame, name: str) -> Iterable[Value]:
        """What the calls in its own file hand to a parameter that says nothing itself."""
        called = getattr(function.node, "name", "")
        if called == "__init__" and isinstance(function.parent, ClassFrame):
            called = function.parent.name
        for call, frame in function.module.calls.get(called, ()):
            if function in self.callees(call, frame):
                for given, value in self.given(call, function.parameters):
                    if given == name:
                        yield self.of(value, frame)

    def _imported(self, bound: Bound) -> Value:
        origin, name = bound.node
        module = bound.frame.module
        source = self.program.imported(module, origin)
        if name is None:
            return frozenset({ModuleObject(source)}) if source is not None else UNKNOWN
        found = self.program.definition(source, name) if source is not None else None
        if found is not None:
            return self.bound(found) if found.how in {"class", "function"} else self.variable(found.frame, name)
        below = self.program.imported(module, f"{origin}.{name}" if origin.strip(".") else f"{origin}{name}")
        return frozenset({ModuleObject(below)}) if below is not None else UNKNOWN

    def _captured(self, bound: Bound) -> Value:
        """What a pattern `case C(x)` takes out of an object."""
        return _joined(self.attribute(cls, name) for cls, name in self.captured(bound))

    def captured(self, bound: Bound) -> Iterator[tuple[ClassFrame, str]]:
        """The classes of which a pattern may take something out of an object, each with the field."""
        named, at = bound.node
        for thing in self.of(named, bound.frame):
            if isinstance(thing, ClassObject):
                listed = self.fields(thing.cls)
                if isinstance(at, str) or at < len(listed):
                    yield thing.cls, at if isinstance(at, str) else listed[at]

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        found: list[Value] = []
        for thing in self.of(node.value, frame):
            if isinstance(thing, (Instance, ClassObject)):
                found.append(self.attribute(thing.cls, node.attr))
            elif isinstance(thing, ModuleObject) and (there := self.program.definition(thing.module, node.attr)):
                found.append(self.variable(there.frame, node.attr) if there.how == "value" else self.bound(there))
        if not found and node.attr in _SAME | {"values"}:
            return UNKNOWN
        return _joined(found)

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        func = node.func
        found: list[Value] = []
        for thing in self.of(func, frame):
            if isinstance(thing, ClassObject):
                found.append(frozenset({Instance(thing.cls)}))
            elif isinstance(thing, Function):
                found.append(self.result(thing.frame))
        if found:
            return _joined(found)
        return self._of_library(node, func, frame)

    def _of_library(self, node: ast.Call, func: ast.expr, frame: Frame) -> Value:
        """What functions and methods of Python itself give, as far as it holds what they were given."""
        name = func.attr if type(func) is ast.Attribute else getattr(func, "id", "")
        base = self.of(func.value, frame) if type(func) is ast.Attribute else UNKNOWN
        args = [self.of(arg.value if type(arg) is ast.Starred else arg, frame) for arg in node.args]
        if name == "super":
            owner = frame.owner
            return frozenset(Instance(cls) for cls in self.bases(owner)) if owner is not None else UNKNOWN
        if name == "zip":
            return frozenset({Container(frozenset({Pair(tuple(_elements(arg) for arg in args))}))})
        if name == "enumerate" and args:
            return frozenset({Container(frozenset({Pair((UNKNOWN, _elements(args[0])))}))})
        if name == "items" and base:
            return frozenset({Container(frozenset({Pair((UNKNOWN, _elements(base)))}))})
        if name == "gather":
            each = _joined(args)
            return each if any(type(arg) is ast.Starred for arg in node.args) else frozenset({Container(each)})
        if name == "partial" and args:
            return args[0]
        held = base or _joined(args[-1:] if name in {"cast", "filter"} else args[:1])
        if name in _SAME or name in {"values", "union"}:
            return held
        return _elements(held) if name in _ELEMENTS else UNKNOWN

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        base = self.of(node.value, frame)
        if type(node.slice) is ast.Slice:
            return base
        place = node.slice.value if type(node.slice) is ast.Constant else None
        return _joined(_part(thing, place) for thing in base)

    def _display(self, node: Any, frame: Frame) -> Value:
        parts = [
            _elements(self.of(part.value, frame)) if type(part) is ast.Starred else self.of(part, frame)
            for part in node.elts
        ]
        if type(node) is ast.Tuple and not any(type(part) is ast.Starred for part in node.elts):
            return frozenset({Pair(tuple(parts))})
        return self._holding(parts)

    def _dict(self, node: ast.Dict, frame: Frame) -> Value:
        return self._holding([self.of(value, frame) for value in node.values])

    @staticmethod
    def _holding(parts: Iterable[Value]) -> Value:
        inside = _joined(parts)
        return frozenset({Container(inside)}) if inside else UNKNOWN

    def _comprehension(self, node: Any, frame: Frame) -> Value:
        return self._holding([self.of(node.value if type(node) is ast.DictComp else node.elt, frame)])

    def _either(self, node: ast.BoolOp | ast.IfExp | ast.BinOp, frame: Frame) -> Value:
        if type(node) is ast.BoolOp:
            parts: list[ast.expr] = node.values
        elif type(node) is ast.IfExp:
            parts = [node.body, node.orelse]
        else:
            parts = [node.left, node.right] if isinstance(node.op, (ast.Add, ast.BitOr)) else []  # type: ignore[union-attr]
        return _joined(self.of(part, frame) for part in parts)

    def _within(self, node: ast.Await | ast.NamedExpr | ast.Starred, frame: Frame) -> Value:
        return self.of(node.value, frame)

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        inside = frame.module.frame_of.get(node)
        return frozenset({Function(inside)}) if inside is not None else UNKNOWN

    # -- functions and classes --------------------------------------------------------------------------------------

    def result(self, function: Frame) -> Value:
        """What a call of a function gives."""
        return self._remembered((function, "->"), lambda: self._result(function))

    def _result(self, function: Frame) -> Value:
        told = getattr(function.node, "returns", None)
        if told is not None:
            return self.annotation(told, function.parent or function)
        given = _joined(self.of(value, function) for value in function.returned)
        yielded = _joined(self.of(value, function) for value in function.yielded)
        return given | frozenset({Container(yielded)}) if yielded else given

    def bases(self, cls: ClassFrame) -> list[ClassFrame]:
        """The classes of the project that a class inherits from, nearest first."""
        found: list[ClassFrame] = []
        queue = [cls]
        while queue and len(found) < MOST_OBJECTS:
            here = queue.pop(0)
            for base in here.inherits:
                for thing in self.of(base, here.parent or here):
                    if isinstance(thing, ClassObject) and thing.cls is not cls and thing.cls not in found:
                        found.append(thing.cls)
                        queue.append(thing.cls)
        return found

    def method(self, cls: ClassFrame, name: str) -> Frame | None:
        return next((c.methods[name] for c in (cls, *self.bases(cls)) if name in c.methods), None)

    def attribute(self, cls: ClassFrame, name: str) -> Value:
        """What an attribute of the objects of a class may be; of a property what it gives."""
        return self._remembered((cls, ".", name), lambda: self._attribute_of(cls, name))

    def _attribute_of(self, cls: ClassFrame, name: str) -> Value:
        method = self.method(cls, name)
        if method is not None:
            is_value = not method.decorators.isdisjoint({"property", "cached_property"})
            return self.result(method) if is_value else frozenset({Function(method)})
        found: Value = UNKNOWN
        for here in (cls, *self.bases(cls)):
            bounds = [*here.bound.get(name, ()), *here.attributes.get(name, ())]
            told = _joined(self.bound(bound) for bound in bounds if bound.how == "annotation")
            if told:
                return told
            found |= _joined(self.bound(bound) for bound in bounds)
            found |= self._contents(here.contents.get(name, ()))
        return found

    def fields(self, cls: ClassFrame) -> list[str]:
        """The attributes that the constructor of a class sets, in the order in which it takes them."""
        return [field for _, field in self.constructor(cls)]

    def constructor(self, cls: ClassFrame) -> list[tuple[str, str]]:
        """The parameters of the constructor of a class, each with the attribute that it becomes."""
        method = self.method(cls, "__init__")
        if method is None:
            named = [name for base in reversed([cls, *self.bases(cls)]) for name in base.annotated]
            return [(name, name) for name in dict.fromkeys(named)]
        kept: dict[str, str] = {}
        for base in (cls, *self.bases(cls)):
            for name, bounds in base.attributes.items():
                for bound in bounds:
                    given = _given(bound.node) if bound.how == "value" and bound.frame is method else None
                    if given is not None:
                        kept.setdefault(given, name)
        return [(name, kept.get(name, name)) for name in method.parameters]

    def is_value(self, cls: ClassFrame) -> bool:
        """Whether objects of a class are equal if their fields are: a record, that does not say otherwise."""
        made = [d for d in cls.node.decorator_list if type(d) is ast.Call]
        if any(k.arg == "eq" and getattr(k.value, "value", True) is False for d in made for k in d.keywords):
            return False
        named = {base.attr if type(base) is ast.Attribute else getattr(base, "id", "") for base in cls.inherits}
        return (
            not (cls.decorators.isdisjoint(_DATACLASSES) and named.isdisjoint(_RECORDS)) and "__eq__" not in cls.methods
        )

    # -- annotations ------------------------------------------------------------------------------------------------

    def annotation(self, node: Any, frame: Frame) -> Value:
        """What a value that is annotated so may be."""
        kind = type(node)
        if kind is ast.Constant and isinstance(node.value, str):
            return self._remembered((node, ":"), lambda: self._quoted(node.value, frame))
        if kind is ast.BinOp:
            return self.annotation(node.left, frame) | self.annotation(node.right, frame)
        if kind is ast.Subscript:
            return self._generic(node, frame)
        if kind is ast.Name and node.id == "Self" and frame.owner is not None:
            return frozenset({Instance(frame.owner)})
        return self._remembered((node, ":"), lambda: self._annotated(node, frame))

    def _quoted(self, text: str, frame: Frame) -> Value:
        try:
            return self.annotation(ast.parse(text, mode="eval").body, frame)
        except SyntaxError:
            return UNKNOWN

    def _annotated(self, node: Any, frame: Frame) -> Value:
        found = frozenset(Instance(thing.cls) for thing in self.of(node, frame) if isinstance(thing, ClassObject))
        return found or self._alias(node, frame)

    def _alias(self, node: Any, frame: Frame) -> Value:
        """`Part = Text | Call`, and `Part: TypeAlias = ...`: what the name was given."""
        name = node.id if type(node) is ast.Name else None
        around = frame.lookup(name) if name is not None else None
        for bound in around.bound.get(name or "", ()) if around is not None else ():
            there: Bound | None = bound
            if bound.how == "import" and bound.node[1] is not None:
                source = self.program.imported(bound.frame.module, bound.node[0])
                there = self.program.definition(source, bound.node[1]) if source is not None else None
            if there is not None and there.how == "value" and not there.path:
                return self.annotation(there.node, there.frame)
        return UNKNOWN

    def _generic(self, node: ast.Subscript, frame: Frame) -> Value:
        outer = node.value.attr if type(node.value) is ast.Attribute else getattr(node.value, "id", "")
        parts = node.slice.elts if type(node.slice) is ast.Tuple else [node.slice]
        if outer in _CONTAINERS or (outer in _TUPLES and len(parts) == 2 and _is_dots(parts[1])):
            return self._holding([self.annotation(parts[0], frame)])
        if outer in _MAPPINGS:
            return self._holding([self.annotation(parts[-1], frame)])
        if outer in _TUPLES:
            told = tuple(self.annotation(part, frame) for part in parts)
            return frozenset({Pair(told)}) if any(told) else UNKNOWN
        if outer in _TRANSPARENT:
            return _joined(self.annotation(part, frame) for part in parts)
        if outer in _LAST:
            return self.annotation(parts[-1], frame)
        if outer in {"type", "Type"}:
            named = self.annotation(parts[0], frame)
            return frozenset(ClassObject(thing.cls) for thing in named if isinstance(thing, Instance))
        return self.annotation(node.value, frame)


def _joined(values: Iterable[Value]) -> Value:
    found: Value = UNKNOWN
    inside: Value = UNKNOWN
    for value in values:
        found |= value
    containers = [thing for thing in found if isinstance(thing, Container)]
    if len(containers) > 1:
        for thing in containers:
            inside |= thing.inside
        found = frozenset(thing for thing in found if not isinstance(thing, Container)) | {Container(inside)}
    return found


def _elements(value: Value) -> Value:
    return _joined(_part(thing, None) for thing in value)


def _part(thing: Thing, place: object) -> Value:
    """One element of a thing; of a tuple that at a known position."""
    if isinstance(thing, Container):
        return thing.inside
    if isinstance(thing, Pair):
        if isinstance(place, int) and -len(thing.parts) <= place < len(thing.parts):
            return thing.parts[place]
        return _joined(thing.parts)
    return UNKNOWN


def _given(node: Any) -> str | None:
    """The parameter that is assigned: `text`, `text or ""`, `list(text)`, `text if text else []`."""
    if type(node) is ast.Name:
        return node.id
    if type(node) is ast.BoolOp:
        return _given(node.values[0])
    if type(node) is ast.IfExp:
        return _given(node.body) or _given(node.orelse)
    if type(node) is ast.Call and len(node.args) == 1:
        return _given(node.args[0])
    return None


def _is_dots(node: Any) -> bool:
    return type(node) is ast.Constant and node.value is ...


_BINDINGS: dict[str, Callable[[Values, Bound], Value]] = {
    "value": lambda values, bound: values.of(bound.node, bound.frame),
    "each": lambda values, bound: _elements(values.of(bound.node, bound.frame)),
    "entered": lambda values, bound: values.of(bound.node, bound.frame),
    "annotation": lambda values, bound: values.annotation(bound.node, bound.frame),
    "parameter": Values._parameter,
    "rest": lambda values, bound: UNKNOWN,
    "function": lambda values, bound: frozenset({Function(bound.node)}),
    "class": lambda values, bound: frozenset({ClassObject(bound.node)}),
    "import": Values._imported,
    "field": Values._captured,
}
_EXPRESSIONS: dict[type, Callable[[Values, Any, Frame], Value]] = {
    ast.Name: Values._name,
    ast.Attribute: Values._attribute,
    ast.Call: Values._call,
    ast.Subscript: Values._subscript,
    ast.List: Values._display,
    ast.Tuple: Values._display,
    ast.Set: Values._display,
    ast.Dict: Values._dict,
    ast.ListComp: Values._comprehension,
    ast.SetComp: Values._comprehension,
    ast.GeneratorExp: Values._comprehension,
    ast.DictComp: Values._comprehension,
    ast.BoolOp: Values._either,
    ast.IfExp: Values._either,
    ast.BinOp: Values._either,
    ast.Await: Values._within,
    ast.NamedExpr: Values._within,
    ast.Starred: Values._within,
    ast.Lambda: Values._lambda,
}
