"""Where values live: every place that can hold a value gets one name, so that facts about it can meet.

A slot is a tuple, compared by value:

    ("var", scope, name)       a local, a parameter, a module global
    ("attr", class, name)      an attribute of the objects of a class of this file, or of the class itself
    ("member", slot, name)     `x.name` and `x["name"]` of anything else, also `x.get("name")`
    ("item", slot)             any `x[i]`: an element of a list, a value of a dict with computed keys
    ("return", function)       what a function of this file gives back
    ("call", node)             what a call of anything else gives back
    ("outside", name)          a table, a key or a file that outlives the program
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import libcst as cst

from lint_rules.anatomy.values.handed_along import handed_along
from lint_rules.anatomy.vocabulary import VALIDATORS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, decorators, is_property, parameters
from lint_rules.syntax.threads import IN_THREAD
from lint_rules.syntax.walk import walk

Slot = tuple[Any, ...]

_PLACES = frozenset({cst.Name, cst.Attribute, cst.Subscript, cst.Call})
_CALLABLES = frozenset({cst.Lambda, cst.Name, cst.Attribute, cst.Call})
_UNKNOWN: Any = object()
"""Stands in a memo for what was not asked yet."""
_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Union"})


class Slots:
    """Names the slots of one file's expressions, and the functions and classes that calls lead to."""

    def __init__(self, module: SourceModule) -> None:
        self.module = module
        self.classes: dict[Slot, Scope] = {}
        self._slots: dict[cst.CSTNode, Slot | None] = {}
        self._instances: dict[cst.CSTNode, Scope | None] = {}
        self._named: dict[cst.CSTNode, Scope | None] = {}
        self._callees: dict[cst.Call, Scope | None] = {}
        self._functions = {
            (f.parent.function, f.name): f for f in module.functions if f.kind == "function" and f.parent is not None
        }
        self._made = {(c.parent.function, c.name): c for c in module.classes if c.parent is not None}

    # -- slots ------------------------------------------------------------------------------------------------

    def of(self, node: cst.BaseExpression | None) -> Slot | None:
        """The slot `node` reads or writes, None for values that live nowhere (literals, slices, operators)."""
        if node is None:
            return None
        if type(node) not in _PLACES:
            node = ex.inner(node)
            if type(node) not in _PLACES:
                return None
        found: Slot | None = self._slots.get(node, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._slots[node] = self._find(node)
        return found

    def of_name(self, node: cst.CSTNode | None) -> Slot | None:
        """The slot of a name; None for anything else, whatever it reads or writes."""
        return self.of(node) if type(node) is cst.Name else None

    def _find(self, node: cst.BaseExpression) -> Slot | None:
        if type(node) is cst.Name:
            return None if node.value in ex.CONSTANTS else self.variable(node, node.value)
        pair = ex.member(node)
        if pair is not None:
            return self.member(pair[0], pair[1])
        if type(node) is cst.Subscript and ex.slice_of(node) is None:
            base = self.of(node.value)
            return None if base is None else ("item", base)
        if type(node) is cst.Call:
            if type(node.func) is cst.Attribute and ex.called_name(node) in {"get", "setdefault", "pop"}:
                base = self.of(node.func.value)
                if base is not None and self.callee(node) is None:
                    return ("item", base)
            callee = self.callee(node)
            return ("return", callee) if callee is not None else ("call", node)
        return None

    def variable(self, node: cst.CSTNode, name: str) -> Slot:
        """The slot of `name` as seen from `node`."""
        used_in = self.module.scope_of[node]
        owner = self.module.scope_binding(used_in, name)
        if owner is None:
            return ("var", self.module.top, name)
        if owner is not None and (owner, name) in self._made_with:
            return self._made_with[owner, name]
        return ("attr", owner, name) if owner.kind == "class" else ("var", owner, name)

    @cached_property
    def _made_with(self) -> dict[tuple[Scope, str], Slot]:
        """Parameters that get the object which their function was handed to when that was made.

        `app = FastAPI(lifespan=begin)`, and `begin(app: FastAPI)`: of that class, or of that name.
        """
        found: dict[tuple[Scope, str], Slot] = {}
        for node in self.module.nodes_of(cst.Assign):
            made, target = ex.inner(node.value), node.targets[0].target
            if type(made) is not cst.Call or type(target) is not cst.Name:
                continue
            scope, kind = self.module.scope_of[node], ex.last_name(made.func)
            given = [value for value in ex.keywords(made).values() if type(value) is cst.Name]
            bound = ((self.module.scope_binding(scope, value.value), value.value) for value in given)
            functions = (self._functions.get((where, name)) for where, name in bound if where is not None)
            for function in filter(None, functions):
                for param in parameters(function)[:1]:
                    said = param.annotation.annotation if param.annotation is not None else None
                    if param.name.value == target.value if said is None else ex.last_name(said) == kind:
                        found[function, param.name.value] = ("var", scope.function, target.value)
        return found

    def member(self, base: cst.BaseExpression, name: str) -> Slot | None:
        """The slot of `base.name` (or `base["name"]`)."""
        cls = self.instance(base)
        if cls is not None:
            return self.attribute(cls, name)
        slot = self.of(base)
        named = self._imported.get(name, {}).get(ex.dotted(base) or "") if name in self._imported else None
        if named is not None:  # `shelf.ROOMS`, of what is put here of another function, is `ROOMS` from there
            return ("var", self.module.top, named)
        if slot is not None and name in self.module.top.bound and self._is_request(slot):
            return ("var", self.module.top, name)  # `request.app` is the `app` of this file
        return None if slot is None else ("member", slot, name)

    @cached_property
    def _imported(self) -> dict[str, dict[str, str]]:
        """By a name of another module, and by that module: the name under which this one has it."""
        found: dict[str, dict[str, str]] = {}
        for bound, (module, name) in self.module.imports.origin.items():
            if name is not None:
                found.setdefault(name, {})[module.lstrip(".")] = bound
        return found

    def _is_request(self, slot: Slot) -> bool:
        """Whether a parameter is what a web framework calls a request."""
        listed = parameters(slot[1]) if slot[0] == "var" and slot[1].kind == "function" else []
        said = (p.annotation for p in listed if p.name.value == slot[2] and p.annotation is not None)
        return any(ex.last_name(annotation.annotation) == "Request" for annotation in said)

    def part(self, whole: Slot, name: str) -> Slot:
        """The slot of a member of what is in a slot."""
        cls = self.classes.get(whole)
        return self.attribute(cls, name) if cls is not None else ("member", whole, name)

    def attribute(self, cls: Scope, name: str) -> Slot:
        """An attribute of the objects of a class."""
        return ("attr", self._declaring(cls, name), name)

    def names_any(self, part: cst.CSTNode, slots: Container[object]) -> bool:
        """Whether a name in a part of the program stands for one of these slots."""
        return any(type(node) is cst.Name and self.of(node) in slots for node in walk(part))

    def parameter(self, function: Scope, name: str) -> Slot:
        return ("var", function, name)

    def _declaring(self, cls: Scope, name: str) -> Scope:
        """The class an attribute belongs to: the highest base class in this file that speaks of it."""
        owner = cls
        for base in self.module.base_classes(cls):
            if name in base.attributes or name in base.bound:
                owner = base
        return owner

    # -- classes of objects -----------------------------------------------------------------------------------

    def holds(self, slot: Slot, cls: Scope) -> None:
        """Note that a slot holds objects of a class; what was found without knowing it is found anew."""
        if slot not in self.classes:
            self.classes[slot] = cls
            self._slots.clear()
            self._instances.clear()
            self._named.clear()
            self._callees.clear()

    def instance(self, node: cst.BaseExpression) -> Scope | None:
        """The class of this file that the value of `node` belongs to, if that is known."""
        if not self.module.classes:
            return None
        if type(node) not in _PLACES:
            node = ex.inner(node)
            if type(node) not in _PLACES:
                return None
        found: Scope | None = self._instances.get(node, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._instances[node] = self._class_of(node)
        return found

    def _class_of(self, node: cst.BaseExpression) -> Scope | None:
        if type(node) is cst.Name:
            used_in = self.module.scope_of[node]
            if node.value == self.module.self_name(used_in):
                owner = used_in.owner
                bound = self.module.scope_binding(used_in, node.value)
                if owner is not None and (bound is None or bound.owner is owner):
                    return owner
            made = self._class_by_name(node)
            if made is not None:
                return made
        if type(node) is cst.Call:
            made = self.constructed(node) or self.validated(node)
            if made is not None:
                return made
        slot = self.of(node) if self.classes else None
        return None if slot is None else self.classes.get(slot)

    def validated(self, call: cst.Call) -> Scope | None:
        """The class of this file of which a library makes an object from data: `Talk.model_validate(data)`."""
        base = ex.receiver(call)
        return self._class_by_name(base) if type(base) is cst.Name and ex.called_name(call) in VALIDATORS else None

    def constructed(self, call: cst.Call) -> Scope | None:
        """The class of this file that `call` makes an object of: `Session()`, `cls()`, `cls.__new__(cls)`."""
        made = call.args[0].value if call.args and ex.called_name(call) == "__new__" else call.func
        return (self._class_by_name(made) or self._own_class(made)) if type(made) is cst.Name else None

    def _own_class(self, name: cst.Name) -> Scope | None:
        """The class that a name stands for as the first parameter of one of its class methods."""
        function = self.module.scope_of[name].function
        listed = parameters(function) if function.owner is not None else []
        if not listed or listed[0].name.value != name.value or not is_class_method(function):
            return None
        return function.owner

    def _class_by_name(self, name: cst.Name) -> Scope | None:
        owner = self.module.scope_binding(self.module.scope_of[name], name.value)
        return self._made.get((owner.function, name.value)) if owner is not None else None

    def annotated(self, annotation: cst.BaseExpression | None) -> Scope | None:
        """The class of this file that an annotation names, through quotes, `X | None` and `Optional[X]`."""
        if type(annotation) is cst.Name:
            return self.module.class_named(annotation.value)
        if type(annotation) is cst.BinaryOperation:
            return self.annotated(annotation.left) or self.annotated(annotation.right)
        if type(annotation) is cst.Subscript and type(annotation.value) is cst.Name:
            return self.annotated(ex.index(annotation)) if annotation.value.value in _WRAPPERS else None
        if type(annotation) is cst.SimpleString:
            named = map(self.module.class_named, ex.quoted_names(ex.text(annotation) or ""))
            return next((cls for cls in named if cls is not None), None)
        return None

    # -- functions that calls lead to -------------------------------------------------------------------------

    def callee(self, call: cst.CSTNode | None) -> Scope | None:
        """The function or method of this file that `call` runs, if it is a call; for a class its `__init__`.

        So does who waits for a thread that runs it: `await to_thread(self.ask, talk)`.
        """
        if type(call) is not cst.Call:
            return None
        if call in self._callees:
            return self._callees[call]
        found = self.function(call.func)
        given = self._in_thread(call) if found is None else ()
        found = self._callees[call] = self.function(given[0].value) if given else found
        return found

    def _in_thread(self, call: cst.Call) -> Sequence[cst.Arg]:
        """What a call that is waited for hands to a thread: the function, and what that gets."""
        place = IN_THREAD.get(ex.called_name(call))
        awaited = place is not None and type(self.module.parent.get(call)) is cst.Await  # another file's has none here
        given = call.args[place:] if awaited else ()
        if given and type(made := given[0].value) is cst.Call and ex.called_name(made) == "partial":
            given = (*made.args, *given[1:])
        return given

    def getter(self, node: cst.CSTNode) -> Scope | None:
        """The method of this file that runs where an attribute is read: a property."""
        function = self.function(node) if type(node) is cst.Attribute else None
        return function if function is not None and is_property(function) else None

    def function(self, node: cst.BaseExpression) -> Scope | None:
        """The function of this file that the expression names: `f`, `self.f`, `Class.f`, `partial(f, ...)`."""
        node = ex.inner(node)
        if type(node) not in _CALLABLES:
            return None
        found: Scope | None = self._named.get(node, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._named[node] = self._function(node)
        return found

    def _function(self, node: cst.BaseExpression) -> Scope | None:
        if type(node) is cst.Lambda:
            return self.module.own_scope[node]
        if type(node) is cst.Name:
            owner = self.module.scope_binding(self.module.scope_of[node], node.value)
            if owner is None or owner.kind == "class":
                return None
            found = self._functions.get((owner.function, node.value))
            if found is not None:
                return found
            made = self._made.get((owner.function, node.value))
            return self.module.method(made, "__init__") if made is not None else None
        if type(node) is cst.Attribute:
            if type(node.value) is cst.Call and ex.called_name(node.value) == "super":
                cls = self.module.scope_of[node].owner
                bases = self.module.base_classes(cls) if cls is not None else []
                return next((b.methods[node.attr.value] for b in bases if node.attr.value in b.methods), None)
            cls = self.instance(node.value)
            return self.module.run_by(cls, node.attr.value) if cls is not None else None
        if type(node) is cst.Call and ex.called_name(node) == "partial" and node.args:
            return self.function(node.args[0].value)
        return None

    def bindings(self, call: cst.Call, callee: Scope) -> Iterator[tuple[Slot, cst.BaseExpression]]:
        """Which argument of `call` lands in which parameter slot of `callee`; in `**more`, which member of it."""
        in_thread, rest = self._in_thread(call), rest_of(callee)
        args = in_thread[1:] if in_thread else call.args
        spread = [arg.value for arg in args if arg.star == "**"] if rest is not None else []
        yield from ((self.parameter(callee, rest), value) for value in spread if rest is not None)
        yield from self.bound([(_keyword(arg), arg.value) for arg in args if not arg.star], callee)

    def handed(self, call: cst.Call) -> tuple[Scope | None, list[tuple[Slot, cst.BaseExpression]]]:
        """The function of this file that a call runs, or begins in a thread or a task, with what lands in its slots."""
        callee = self.callee(call)
        if callee is not None:
            return callee, [*self.bindings(call, callee), *self.spread(call, callee)]
        along = handed_along(call)
        begun = self.function(along[0]) if along is not None else None
        return begun, [*self.bound(along[1], begun)] if along is not None and begun is not None else []

    def spread(self, call: cst.Call, callee: Scope) -> Iterator[tuple[Slot, cst.BaseExpression]]:
        """Which arguments land in `*more` of `callee`: each in its elements, and as all of it what is spread there."""
        rest = rest_of(callee, "*")
        args = [arg for arg in call.args if arg.keyword is None and arg.star != "**"] if rest is not None else []
        named = [p.name.value for p in parameters(callee)].index(rest) - is_method(callee) if rest is not None else 0
        for place, arg in enumerate(args):
            slot = self.parameter(callee, rest or "")
            if arg.star:
                yield slot, arg.value
            elif place >= named:
                yield ("item", slot), arg.value

    def bound(
        self, given: Iterable[tuple[str | None, cst.BaseExpression]], callee: Scope
    ) -> Iterator[tuple[Slot, cst.BaseExpression]]:
        """Where in `callee` lands what it gets, each by its keyword or in its place."""
        names = [p.name.value for p in parameters(callee) if p.star not in ("*", "**")]
        if is_method(callee) and names:
            names = names[1:]
        positions, rest = iter(names), rest_of(callee)
        for keyword, value in given:
            name = keyword if keyword is not None else next(positions, None)
            if name is not None and (keyword is None or name in names):
                yield self.parameter(callee, name), value
            elif name is not None and rest is not None:
                yield ("member", self.parameter(callee, rest), name), value


def _keyword(arg: cst.Arg) -> str | None:
    return arg.keyword.value if arg.keyword is not None else None


def rest_of(callee: Scope, star: str = "**") -> str | None:
    """The name of `**more`, or `*more`, of a function that has it."""
    return next((p.name.value for p in parameters(callee) if p.star == star), None)


def is_class_method(function: Scope) -> bool:
    """Whether the first parameter is the class itself."""
    return any(isinstance(d, cst.Name) and d.value == "classmethod" for d in decorators(function))


def is_method(function: Scope) -> bool:
    """Whether the first parameter is the object (or class) itself."""
    if function.kind != "function" or function.parent is None or function.parent.kind != "class":
        return False
    return not any(isinstance(d, cst.Name) and d.value == "staticmethod" for d in decorators(function))


def told_names(function: Scope) -> list[str]:
    """The names of what callers hand to a function, in order: without the object of a method."""
    return [each.name.value for each in parameters(function)][1 if is_method(function) else 0 :]


def is_parameter(slot: Slot) -> bool:
    """Whether a slot is what a function is given."""
    return slot[0] == "var" and any(p.name.value == slot[2] for p in parameters(slot[1]))


def default_of(slot: Slot) -> list[cst.BaseExpression]:
    """The default of a parameter, if it has one; none for what is no parameter."""
    named = parameters(slot[1]) if slot[0] == "var" else ()
    return [each.default for each in named if each.name.value == slot[2] and each.default is not None]


def made_in(slot: Slot) -> Scope | None:
    """The function that has made what a slot lies in; None for what it was given, for attributes and globals."""
    root = root_object(slot)
    is_own = root[0] == "var" and root[1].kind == "function" and not is_parameter(root)
    return root[1] if is_own else None


def whole_of(slot: Slot) -> Iterator[Slot]:
    """A slot, and what it is a part of, up to a variable or attribute."""
    yield slot
    while slot[0] in {"member", "item"}:
        slot = slot[1]
        yield slot


def root_object(slot: Slot) -> Slot:
    """The variable or attribute that a slot is a part of."""
    while slot[0] in {"member", "item"}:
        slot = slot[1]
    return slot


def as_part_of(slot: Slot, place: Slot) -> Slot:
    """The history of an object of another file, as the place here that the object lives in has it."""
    if slot[0] in {"member", "item"}:
        return (slot[0], as_part_of(slot[1], place), *slot[2:])
    return ("member", place, slot[2]) if slot[0] == "attr" else slot


def as_own(slot: Slot, place: Slot, cls: Scope) -> Slot | None:
    """A part of what lives in a place here, as the file of its class has it; None for what is no part of it."""
    if slot[0] not in {"member", "item"}:
        return None
    if slot[:2] == ("member", place):
        return ("attr", cls, slot[2])
    inner = as_own(slot[1], place, cls)
    return (slot[0], inner, *slot[2:]) if inner is not None else None


def moved(slot: Slot, root: Slot, place: Slot) -> Slot:
    """A slot that is a part of `root`, as the same part of `place`."""
    return place if slot == root else (slot[0], moved(slot[1], root, place), *slot[2:])


def describe(slot: Slot) -> str:
    """The slot as a person writes it: `self.history`, `messages`, `opts.history`, `sessions[...]`."""
    kind = slot[0]
    if kind == "var":
        return str(slot[2])
    if kind == "attr":
        return f"self.{slot[2]}"
    if kind == "member":
        return f"{describe(slot[1])}.{slot[2]}"
    if kind == "item":
        return f"{describe(slot[1])}[...]"
    if kind == "return":
        return f"{slot[1].name}(...)"
    if kind == "outside":
        return str(slot[1]).rpartition(" ")[2]
    return ex.operand(slot[1], 40)
