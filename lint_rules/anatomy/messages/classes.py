"""Of which class a thing is, of this file or of another of the project: by the call that makes it, or by annotation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy, Neighbour
from lint_rules.anatomy.values.known import parts_given
from lint_rules.anatomy.values.slots import Slot, as_part_of, is_class_method, is_parameter, root_object
from lint_rules.anatomy.vocabulary import is_request
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.module import Scope, fields, is_property, parameters, says_only
from lint_rules.syntax.walk import children

LISTS = frozenset({"list", "List", "Sequence", "deque", "Deque", "MutableSequence", "Iterable", "tuple", "Tuple"})

_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict"})

FoundClass = tuple[Anatomy, Scope]
"""A class, and the file it stands in."""


_NO_CLASSES: Sequence[FoundClass] = ()


def made_class(anatomy: Anatomy, call: cst.Call) -> FoundClass | None:
    """The class of this file, or of another file of the project, that `call` makes an object of."""
    cls = anatomy.facts.slots.constructed(call)
    if cls is not None:
        return anatomy, cls
    return anatomy.imported_class(ex.dotted(call.func) or "")


def given_when_made(anatomy: Anatomy, made: cst.Call) -> Iterator[tuple[FoundClass, Slot, cst.BaseExpression]]:
    """What a call that makes an object hands it to keep: its class, the attribute, and the argument.

    As `__init__` puts it there; without one, as the keyword says, or the order of the fields.
    """
    found = made_class(anatomy, made)
    if found is None:
        return
    there, cls = found
    setup, slots = there.module.method(cls, "__init__"), there.facts.slots
    attributes: list[Slot] = [("attr", cls, name) for name in cls.attributes]
    if setup is None:
        given = {**dict(zip(fields(cls), ex.positional(made), strict=False)), **ex.keywords(made)}
        held = (slots.attribute(cls, name) for name in dict.fromkeys((*fields(cls), *cls.attributes)))
        yield from ((found, slot, given[slot[2]]) for slot in held if slot[2] in given)
        return
    for parameter, value in slots.bindings(made, setup):
        for slot in attributes:
            kept = (part for given in there.facts.assigned(slot) for part in ex.alternatives(given))
            if any(slots.of(part) == parameter for part in kept):
                yield found, slot, value


def classes_of(anatomy: Anatomy, slot: Slot, *, asking: bool = False) -> Sequence[FoundClass]:
    """The classes, of other files of the project, that the object in a slot may belong to.

    By what makes it, by annotation, by what functions give back, and by what an object of another file holds.
    `asking`: only those of files that ask a model.
    """
    return _all_classes_of(anatomy, (slot, asking))


@once(circular=_NO_CLASSES)
def _all_classes_of(anatomy: Anatomy, asked: tuple[Slot, bool]) -> Sequence[FoundClass]:
    return [*_find_classes(anatomy, *asked)]


def _find_classes(anatomy: Anatomy, slot: Slot, asking: bool) -> Iterator[FoundClass]:
    yield from _classes_of(anatomy, (slot, asking))
    for there, place in _held_elsewhere(anatomy, slot):
        yield from _own_classes(there, place)
        yield from _classes_of(there, (place, asking))
    for value, number in anatomy.facts.unpacked(slot):
        run = run_elsewhere(anatomy, value) if isinstance(value, cst.Call) else None
        if run is not None:
            for part in parts_given(run[1], number):
                yield from _classes_at(run[0], part, asking)
    yield from _brought(anatomy, slot, asking)
    yield from _placed(anatomy, slot, asking)
    for call in _givers(anatomy, slot, set()):
        yield from _given_classes(anatomy, call, asking)


def _given_classes(anatomy: Anatomy, call: cst.Call, asking: bool) -> Sequence[FoundClass]:
    """The classes of what a function of another file gives back, by a call of it."""
    given = run_elsewhere(anatomy, call)
    if given is None:
        return _NO_CLASSES
    there, place = given[0], ("return", given[1])
    cls = there.facts.slots.classes.get(place)
    own = [(there, cls)] if cls is not None else [*_own_classes(there, place)]
    return own or _classes_of(there, (place, asking))


def _own_classes(anatomy: Anatomy, slot: Slot) -> Iterator[FoundClass]:
    """The classes of this file that the object in a slot may belong to, by their names."""
    own = map(anatomy.module.class_named, class_names(anatomy, slot))
    yield from ((anatomy, cls) for cls in own if cls is not None)


def _brought(anatomy: Anatomy, slot: Slot, asking: bool) -> Iterator[FoundClass]:
    """The classes of what a parameter gets from the files that import this one, and of what is set to a parameter."""
    places = [slot, *(place for value in anatomy.facts.assigned(slot) if (place := anatomy.facts.slots.of(value)))]
    asked = {place for place in places if is_parameter(place)}
    for each in anatomy.brought if asked else ():
        if each.cls is not None and not asked.isdisjoint(anatomy.contents.arrives(each)):
            yield from anatomy.class_elsewhere(each.path, *each.cls, asking=asking)


def _placed(anatomy: Anatomy, slot: Slot, asking: bool) -> Iterator[FoundClass]:
    """The classes of what a handler gets in common with all others: `request.app.state.desk`, by who puts it there."""
    bound = (anatomy.facts.slots.of(value) for value in anatomy.facts.assigned(slot))
    for place in (slot, *(place for place in bound if place is not None)):
        if place[0] == "member" and anatomy.aliases.is_in_common(place[1]):
            for each in anatomy.placed(place[2]):
                yield from anatomy.class_elsewhere(each.path, *each.cls, asking=asking)


def is_for_many(anatomy: Anatomy, parameter: Slot) -> bool:
    """Whether a handler gets an object that others get, too: put there for all, or one that keeps many talks by key."""
    if anatomy.calls.servings[parameter[1]].framework == "fastapi":
        return False  # which reads out of the request what no `Depends` makes
    return bool(anatomy.placed(parameter[2])) or any(_keeps_many(*found) for found in classes_of(anatomy, parameter))


@kept
def _keeps_many(anatomy: Anatomy, cls: Scope) -> bool:
    """Whether objects of a class keep histories under keys: for one run alone there would be one."""
    places = map(anatomy.aliases.of, anatomy.writes.by_slot)
    return any(root_object(place)[:2] == ("attr", cls) and _is_under_key(place) for place in places)


def _is_under_key(slot: Slot) -> bool:
    return slot[0] == "item" or (slot[0] == "member" and _is_under_key(slot[1]))


def given_apart(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[Anatomy, cst.BaseExpression]]:
    """What functions of the project give back in the place of a tuple that a name is bound to, each with its file.

    `said, reason = ask(history)`, where `ask` ends with `return message, reply.stop_reason`.
    """
    for there, part in _parts_apart(anatomy, slot):
        yield from ((there, made) for made in there.facts.values_of(part) or [part])


def _parts_apart(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[Anatomy, cst.BaseExpression]]:
    for value, number in anatomy.facts.unpacked(slot):
        call = ex.inner(value)
        there, callee = body(anatomy, call) or (anatomy, None)
        yield from ((there, part) for part in (parts_given(callee, number) if callee is not None else ()))


def lasts_apart(anatomy: Anatomy, slot: Slot, seen: frozenset[Slot] = frozenset()) -> bool:
    """Whether what a name is bound to in the place of a tuple lives on by itself, where a function gives it back."""
    given = ((there, there.facts.slots.of(part)) for there, part in _parts_apart(anatomy, slot))
    return any(
        there.aliases.lasts(place) or lasts_apart(there, place, seen | {slot})
        for there, place in given
        if place is not None and place not in seen
    )


def _classes_at(anatomy: Anatomy, value: cst.BaseExpression, asking: bool) -> Iterator[FoundClass]:
    """The classes, of any file, of the object that an expression stands for."""
    made = made_class(anatomy, value) if isinstance(value, cst.Call) else None
    own = anatomy.facts.slots.instance(value)
    slot = anatomy.facts.slots.of(value)
    if made is not None:
        yield made
    elif own is not None:
        yield anatomy, own
    elif slot is not None:
        yield from classes_of(anatomy, slot, asking=asking)


@kept
def _classes_of(anatomy: Anatomy, asked: tuple[Slot, bool]) -> Sequence[FoundClass]:
    """Those that are told by this file, or by the one that a global comes from."""
    return [*_told_classes(anatomy, *asked)]


def _told_classes(anatomy: Anatomy, slot: Slot, asking: bool) -> Iterator[FoundClass]:
    names = class_names(anatomy, slot)
    bound = (anatomy.facts.slots.of(value) for value in anatomy.facts.assigned(slot) if type(value) is cst.Name)
    for place in (slot, *(place for place in bound if place is not None)):
        elsewhere = anatomy.imported_value(_global_name(anatomy, place))
        if elsewhere is not None:
            there, same = elsewhere
            cls = there.facts.slots.classes.get(same)
            yield from [(there, cls)] if cls is not None else _classes_of(there, (same, asking))
    yield from (found for name in names if (found := anatomy.imported_class(name, asking=asking)) is not None)


def class_places(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[str, str]]:
    """The path and name of the classes of other files that the object in a slot may belong to, unread where it can."""
    yield from ((near.path, name) for near, name in named_classes(anatomy, slot))
    for there, place in _held_elsewhere(anatomy, slot):
        yield from ((there.module.path, cls.name) for _, cls in _own_classes(there, place))
        yield from class_places(there, place)


def named_classes(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[Neighbour, str]]:
    """The files, unread, of the classes that this file imports for the object in a slot, and the names there."""
    near = (anatomy.defined_elsewhere(name, "class") for name in class_names(anatomy, slot))
    yield from (found for found in near if found is not None)


def _held_elsewhere(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[Anatomy, Slot]]:
    """What a part of an object of another file, `desk.talks[key]` or `desk.log`, is in that file.

    So is an attribute that a class has from a base class there.
    """
    yield from set_by_bases(anatomy, slot)
    if slot[0] == "member":
        for there, cls in classes_of(anatomy, slot[1]):
            yield there, there.facts.slots.attribute(cls, slot[2])
    elif slot[0] == "item":
        yield from ((there, ("item", place)) for there, place in _held_elsewhere(anatomy, slot[1]))


def body(anatomy: Anatomy, call: cst.CSTNode | None, *, asking: bool = False) -> tuple[Anatomy, Scope] | None:
    """The function of the project that a call runs, and its file; of other files, `asking`, if it may ask a model."""
    if not isinstance(call, cst.Call):
        return None
    callee = anatomy.facts.slots.callee(call)
    return (anatomy, callee) if callee is not None else run_elsewhere(anatomy, call, asking=asking)


def run_elsewhere(anatomy: Anatomy, call: cst.Call, *, asking: bool = False) -> FoundClass | None:
    """The function or method of another file that a call runs, and that file. `asking`: if it may ask a model."""
    return _run_elsewhere(anatomy, (call, asking))


@kept
def _run_elsewhere(anatomy: Anatomy, asked: tuple[cst.Call, bool]) -> FoundClass | None:
    call, asking = asked
    found = anatomy.imported_function(ex.dotted(call.func) or "", asking=asking)
    return found or next(methods_elsewhere(anatomy, call, asking=asking), None)


def methods_elsewhere(anatomy: Anatomy, call: cst.Call, *, asking: bool = False) -> Iterator[FoundClass]:
    """The methods of other files that a call may run, and their files: also one that a class of this file inherits."""
    base, name = ex.receiver(call), ex.called_name(call)
    if anatomy.facts.slots.callee(call) is not None:
        return
    cls = own_class(anatomy, base) if base is not None else None
    if cls is not None:
        methods = iter([inherited(anatomy, cls, name, asking=asking)])
    else:
        parts = ex.alternatives(base) if base is not None else ()
        methods = (method_of(*each, name) for part in parts for each in _of_which(anatomy, part, asking=asking))
    found = [method for method in methods if method is not None]
    found.sort(key=lambda method: says_only(method[1]))  # what is promised there others do
    yield from found or _called(anatomy, call, asking=asking)


def _of_which(anatomy: Anatomy, base: cst.BaseExpression, *, asking: bool) -> Iterator[FoundClass]:
    """The classes of other files of which an object may be, or that are named themselves."""
    slot = anatomy.facts.slots.of(base)
    if slot is not None:
        yield from classes_of(anatomy, slot, asking=asking)
    if slot is not None and slot[0] == "item" and type(base) is cst.Call:  # `talks.get(key)`, of a dict or a registry
        yield from _given_classes(anatomy, base, asking)
    named = base.func if type(base) is cst.Call else base  # `Shelf().keep(...)`, `Shelf.keep(...)`
    itself = anatomy.imported_class(ex.dotted(named) or "", asking=asking)
    if itself is not None:
        yield itself


_PLACES = (cst.Name, cst.Attribute, cst.Subscript)
_DISPLAYS = (cst.List, cst.Tuple, cst.Set, cst.Dict)
_COMPS = (cst.ListComp, cst.DictComp)


def told_by_object(anatomy: Anatomy, node: cst.BaseExpression) -> tuple[Anatomy, Scope, cst.BaseExpression] | None:
    """What a property, or a method that gets nothing, says of its own object in one line; with it, and its file.

    `reply.wants_tools`, `reply.is_final()`.
    """
    if type(node) is cst.Call and not node.args:
        found = body(anatomy, node)
    elif type(node) is cst.Attribute:
        own, slot = anatomy.facts.slots.getter(node), anatomy.facts.slots.of(node.value)
        classes = classes_of(anatomy, slot) if slot is not None and own is None else ()
        methods = (method_of(*each, node.attr.value) for each in classes)
        there = next((each for each in methods if each is not None and is_property(each[1])), None)
        found = (anatomy, own) if own is not None else there
    else:
        return None
    said = found[1].nodes_of(cst.Return) if found is not None and found[1].owner is not None else []
    value = said[0].value if len(said) == 1 else None
    return (*found, value) if found is not None and value is not None else None


def _called(anatomy: Anatomy, call: cst.Call, *, asking: bool) -> Iterator[FoundClass]:
    """`self.oracle(talk)`: the method that is run if an object of another file is called itself."""
    slot = anatomy.facts.slots.of(call.func) if isinstance(call.func, _PLACES) else None
    objects = classes_of(anatomy, slot, asking=asking) if slot is not None else ()
    methods = (method_of(*each, "__call__") for each in objects)
    yield from (method for method in methods if method is not None)


def own_class(anatomy: Anatomy, base: cst.BaseExpression) -> Scope | None:
    """The class of this file that an object belongs to, `super()` as well."""
    if isinstance(base, cst.Call) and ex.called_name(base) == "super":
        return anatomy.module.scope_of[base].owner
    return anatomy.facts.slots.instance(base)


def method_of(anatomy: Anatomy, cls: Scope, name: str) -> FoundClass | None:
    """The method that objects of a class have under a name, and its file: also of a base class in another file.

    Where it only says what it is for, the one of a class in another file that derives from its own.
    """
    method = anatomy.module.run_by(cls, name)
    found = inherited(anatomy, cls, name) if method is None else (anatomy, method)
    return next(_filled_in(*found), found) if found is not None and says_only(found[1]) else found


def _filled_in(anatomy: Anatomy, method: Scope) -> Iterator[FoundClass]:
    """The methods of classes in other files that do what this one only declares."""
    for there, cls in anatomy.derived(method.owner) if method.owner is not None else ():
        done = there.module.run_by(cls, method.name)
        if done is not None and not says_only(done):
            yield there, done


def declares_request(method: Scope) -> bool:
    """Whether a method has the parameters of a request to a model, and only says what it is for."""
    return method.owner is not None and takes_request(method) and says_only(method)


def takes_request(function: Scope) -> bool:
    """Whether a function has the parameters of a request to a model."""
    return is_request({parameter.name.value for parameter in parameters(function)})


def inherited(anatomy: Anatomy, cls: Scope, name: str, *, asking: bool = False) -> FoundClass | None:
    """The method that a class has from base classes in other files; with `asking`, of those that may ask a model."""

    def may_have(near: Neighbour, base: str) -> bool:
        return (near.may_ask or not asking) and (near.defines("def", name) or near.inherits(base))

    methods = (method_of(*base, name) for base in bases_elsewhere(anatomy, cls, may_have))
    return next((found for found in methods if found is not None), None)


def bases_elsewhere(anatomy: Anatomy, cls: Scope, wanted: Callable[[Neighbour, str], bool]) -> Iterator[FoundClass]:
    """The classes of other files that a class inherits from, itself or by its bases here, and their files.

    Those that are `wanted`, by their file before it is analysed, and their name there.
    """
    for name, near in named_bases(anatomy, cls):
        found = anatomy.imported_class(name) if wanted(*near) else None
        if found is not None:
            yield found


def named_bases(anatomy: Anatomy, cls: Scope) -> Iterator[tuple[str, tuple[Neighbour, str]]]:
    """The same by the names under which they stand here, with their files, unread, and their names there."""
    for here in anatomy.module.lineage(cls):
        for base in ex.bases(here.node):
            name = ex.dotted(base) or ""
            near = anatomy.defined_elsewhere(name, "class")
            if near is not None:
                yield name, near


def declared_for(anatomy: Anatomy, cls: Scope) -> Iterator[tuple[Neighbour, str]]:
    """The classes of other files for which one stands: its bases, and the protocols of which it has all methods."""
    yield from (near for _, near in named_bases(anatomy, cls))
    own = {name for here in anatomy.module.lineage(cls) for name in here.methods}
    yield from ((near, name) for near, name, methods in anatomy.protocols if methods and methods <= own)


def set_by_bases(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[Anatomy, Slot]]:
    """An attribute that no class of this file sets, as base classes in other files have it."""
    if slot[0] == "attr" and not anatomy.facts.assigned(slot):
        for there, base in bases_elsewhere(anatomy, slot[1], lambda near, _: slot[2].encode() in near.source):
            yield there, there.facts.slots.attribute(base, slot[2])


def given_elsewhere(anatomy: Anatomy, node: cst.BaseExpression) -> Slot | None:
    """Where that lives, as this file has it, which a function of another gives back; a call of it itself if it is new.

    `node` is such a call, or names the function that a framework is told to call.
    """
    call = node if isinstance(node, cst.Call) else None
    found = run_elsewhere(anatomy, call) if call is not None else anatomy.imported_function(ex.dotted(node) or "")
    if found is None:
        return None
    there, function = found
    kept = there.aliases.of(("return", function))
    if root_object(kept)[0] not in {"attr", "var"} or not there.aliases.is_lasting(kept, function):
        return ("call", call) if call is not None else None
    base = ex.receiver(call) if call is not None else None
    slot = anatomy.facts.slots.of(base)
    return as_part_of(kept, anatomy.aliases.of(slot)) if slot is not None else kept


def _global_name(anatomy: Anatomy, slot: Slot) -> str:
    """`agent`, `engine.agent`: how the file spells a global; empty for what is none."""
    if slot[0] == "member":
        base = _global_name(anatomy, slot[1])
        return f"{base}.{slot[2]}" if base else ""
    return slot[2] if slot[0] == "var" and slot[1] is anatomy.module.top else ""


@kept
def class_names(anatomy: Anatomy, slot: Slot) -> Iterable[str]:
    """The names, as they stand in the file, of classes that the object in a slot may belong to; each once."""
    return dict.fromkeys(_class_names(anatomy, slot, set()))


def _class_names(anatomy: Anatomy, slot: Slot, seen: set[Slot]) -> Iterator[str]:
    """The names of classes a slot's value may belong to."""
    if slot in seen:
        return
    seen.add(slot)
    annotation = anatomy.elements.annotation(slot)
    if annotation is not None:
        yield from _named(annotation)
    whole = anatomy.elements.annotation_of(slot[1]) if slot[0] == "item" else None
    if whole is not None and (inside := ex.element_type(whole)) is not None:
        yield from _named(inside)
    for value in _values(anatomy, slot):
        for part in ex.alternatives(value):
            made = _default(part)
            if type(made) is cst.Call and type(made.func) is cst.Name:
                yield made.func.value
            elif type(made) is cst.Call and ex.last_name(made.func)[:1].isupper() and (named := ex.dotted(made.func)):
                yield named  # `shelves.Shelf()`
            elif type(made) is cst.Call and (name := _alternatively(anatomy, made)):
                yield name
            inner = anatomy.facts.slots.of(part)
            if inner is not None:
                yield from _class_names(anatomy, inner, seen)


def _alternatively(anatomy: Anatomy, call: cst.Call) -> str:
    """`Client` of `Client.connect(...)`, a class method of another file: most of these make an object."""
    base = ex.receiver(call)
    found = anatomy.imported_class(base.value) if type(base) is cst.Name and base.value[:1].isupper() else None
    method = found[0].module.method(found[1], ex.called_name(call)) if found is not None else None
    return base.value if type(base) is cst.Name and method is not None and is_class_method(method) else ""


def _default(value: cst.BaseExpression) -> cst.BaseExpression:
    """`Session()` of `sessions.setdefault(key, Session())`, of which the others are, too; else the value."""
    given = ex.positional(value) if type(value) is cst.Call and ex.called_name(value) in {"setdefault", "get"} else []
    return ex.inner(given[1]) if len(given) == 2 else value


def _givers(anatomy: Anatomy, slot: Slot, seen: set[Slot]) -> Iterator[cst.Call]:
    """The calls, of what is no function of this file, that may give the object in a slot."""
    if slot[0] == "call":
        yield slot[1]
    elif slot not in seen:
        seen.add(slot)
        for value in _values(anatomy, slot):
            for part in ex.alternatives(value):
                inner = anatomy.facts.slots.of(part)
                if type(part) is cst.Call and inner is not None and inner[0] == "item":
                    yield part  # `talks.get(key)`: of a dict, or of a registry of the project
                yield from _givers(anatomy, inner, seen) if inner is not None else ()


def _values(anatomy: Anatomy, slot: Slot) -> list[cst.BaseExpression]:
    """What a slot is assigned, what a function gives back, what callers hand over, or what loops run over."""
    if slot[0] == "return":
        function: Scope = slot[1]
        return function.returned
    given = anatomy.facts.assigned(slot)
    if slot[0] in {"member", "item"} and not given:
        return _under_key(anatomy, *slot[1:])
    for value, number in anatomy.facts.unpacked(slot):
        callee = anatomy.facts.slots.callee(value)
        given = [*given, *(parts_given(callee, number) if callee is not None else ())]
    if given or slot[0] != "var":
        return given
    if is_parameter(slot) and anatomy.elements.annotation(slot) is None:
        return anatomy.facts.given(slot)
    return [value for loop in _loops(slot) for value in _elements(anatomy, loop.iter)]


def _under_key(anatomy: Anatomy, base: Slot, key: str | None = None) -> list[cst.BaseExpression]:
    """What the displays have under a key that stand for a dict: `rooms[name] = {"agent": Agent()}`; else all of it."""
    shown = [ex.inner(value) for each in {base, anatomy.aliases.of(base)} for value in anatomy.facts.assigned(each)]
    if key is not None:
        return [items[key] for value in shown if key in (items := ex.dict_items(value))]
    comps = [value for value in shown if isinstance(value, _COMPS)]
    made = [each.value for value in shown if isinstance(value, _DISPLAYS) for each in value.elements]
    made += [comp.value if isinstance(comp, cst.DictComp) else comp.elt for comp in comps]
    return [*made, *(each for comp in comps for each in _elements(anatomy, comp.for_in.iter))]


def _loops(slot: Slot) -> Iterator[cst.For]:
    """The loops that give values to a name: `for module in modules`, `for name, module in modules.items()`."""
    for loop in slot[1].nodes_of(cst.For):
        if ex.target_names(loop.target)[-1:] == [slot[2]]:
            yield loop


def _elements(anatomy: Anatomy, container: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What the file puts into a container: in a display, under a key, at its end."""
    facts, container = anatomy.facts, ex.inner(container)
    while isinstance(container, cst.Call):
        whole = container.args[0].value if container.args else ex.receiver(container)
        if whole is None:
            return
        container = ex.inner(whole)
    slot = facts.slots.of(container)
    for value in (container, *facts.assigned(slot)):
        if isinstance(value, _DISPLAYS):
            yield from (element.value for element in value.elements)
    if slot is not None:
        yield from facts.assigned(("item", slot))
        yield from facts.members(slot).values()
        yield from (call.args[0].value for call in facts.put(slot))


def _named(annotation: cst.BaseExpression) -> Iterator[str]:
    """The classes that an annotation names: not those of the elements of a container."""
    if type(annotation) is cst.Name:
        yield annotation.value
    elif type(annotation) is cst.SimpleString:
        yield from ex.quoted_names(ex.text(annotation) or "")
    elif type(annotation) is not cst.Subscript or ex.last_name(annotation.value) not in LISTS | _MAPPINGS:
        for part in children(annotation):
            yield from _named(part)  # type: ignore[arg-type]


class Elements:
    """Of which class the elements of the lists of one file are, as far as annotations tell."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module

    def annotation(self, slot: Slot) -> cst.BaseExpression | None:
        """The annotation of a variable, attribute or parameter, and of what a function gives back."""
        return self._annotations.get(slot)

    def of(self, slot: Slot) -> FoundClass | None:
        """The class of the elements of a list, where it is annotated, and the file it stands in."""
        annotation = self._annotations.get(slot)
        if annotation is not None:
            return _element_class(self.anatomy, annotation)
        if slot[0] == "call":
            return self._returned_elsewhere(slot[1])
        return None

    def _returned_elsewhere(self, call: cst.Call) -> FoundClass | None:
        """What a method of an imported class gives back: `store.history(key)` with `store: SessionStore`."""
        owner = self.facts.slots.of(ex.receiver(call))
        name = _plain_name(self.annotation_of(owner)) if owner is not None else None
        found = self.anatomy.imported_class(name) if name is not None else None
        if found is None:
            return None
        there, cls = found
        method = there.module.method(cls, ex.called_name(call))
        returns = method.node.returns if method is not None and isinstance(method.node, cst.FunctionDef) else None
        if returns is None:
            return None
        return _element_class(there, returns.annotation) or _element_class(self.anatomy, returns.annotation)

    def annotation_of(self, slot: Slot) -> cst.BaseExpression | None:
        """The annotation of a slot, or of the parameter it is set from."""
        found = self._annotations.get(slot)
        for value in self.facts.assigned(slot) if found is None else ():
            same = self.facts.slots.of(value)
            found = found or (self._annotations.get(same) if same is not None else None)
        return found

    @cached_property
    def _annotations(self) -> dict[Slot, cst.BaseExpression]:
        found: dict[Slot, cst.BaseExpression] = {}
        for node in self.module.nodes_of(cst.AnnAssign):
            slot = self.facts.slots.of(node.target)
            if slot is not None:
                found.setdefault(slot, node.annotation.annotation)
        for function in self.module.functions:
            for param in parameters(function):
                if param.annotation is not None:
                    found[self.facts.slots.parameter(function, param.name.value)] = param.annotation.annotation
            if isinstance(function.node, cst.FunctionDef) and function.node.returns is not None:
                found[("return", function)] = function.node.returns.annotation
                if function.parent is function.owner and is_property(function):
                    found.setdefault(("attr", function.owner, function.name), function.node.returns.annotation)
        return found


def _element_class(anatomy: Anatomy, annotation: cst.BaseExpression) -> FoundClass | None:
    """The class that `list[X]` names, in this file or in the one that X is imported from."""
    for part in (annotation.left, annotation.right) if isinstance(annotation, cst.BinaryOperation) else (annotation,):
        if not isinstance(part, cst.Subscript):
            continue
        outer = (ex.dotted(part.value) or "").rpartition(".")[2]
        inside = ex.element_type(part)
        if inside is None:
            continue
        if outer == "Optional":
            return _element_class(anatomy, inside)
        name = _plain_name(inside)
        if outer not in LISTS or name is None:
            continue
        cls = anatomy.module.class_named(name)
        if cls is not None:
            return anatomy, cls
        found = anatomy.imported_class(name)
        if found is not None:
            return found
    return None


def _plain_name(node: cst.BaseExpression | None) -> str | None:
    if isinstance(node, cst.SimpleString):
        return ex.text(node)
    return node.value if isinstance(node, cst.Name) else None
