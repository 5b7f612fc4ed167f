"""Values that hold nothing of what was stored: an empty list, a document with one, an object made from nothing.

And places that are still as the maker of their object has left them.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import made_class
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.values.slots import Slot, is_method, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope

_EMPTY_TYPES = frozenset({"list", "dict", "deque", "collections.deque", "str"})


@once(circular=False)
def is_begun_anew(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a value is empty, or a fresh document: also a copy of a constant, or what a function gives for one."""
    value = ex.inner(value)
    if is_neutral(value):
        return True
    if isinstance(value, cst.Dict):
        return any(_is_empty_container(anatomy, part) for part in ex.dict_items(value).values())
    if isinstance(value, (cst.Name, cst.Attribute)):
        return _is_constant(anatomy, anatomy.facts.slots.of(value))
    return isinstance(value, cst.Call) and _is_made_empty(anatomy, value)


def _is_empty_container(anatomy: Anatomy, part: cst.BaseExpression) -> bool:
    says_none = isinstance(part, cst.SimpleString) or ex.dotted(part) == "None"
    return not says_none and is_begun_anew(anatomy, part)


def _is_constant(anatomy: Anatomy, slot: Slot | None) -> bool:
    """Whether a name of the module stands for one empty document."""
    given = anatomy.facts.assigned(slot) if slot is not None and slot[0] == "var" and slot[1].kind == "module" else ()
    return len(given) == 1 and is_begun_anew(anatomy, given[0])


def _is_made_empty(anatomy: Anatomy, call: cst.Call) -> bool:
    """`_empty()`, `deepcopy(_EMPTY)`, `_EMPTY.copy()`, `deque(maxlen=20)`, `Talk()`: nothing that was said goes in."""
    run = anatomy.storage.run(call)
    if run is not None:
        given = [node.value for node in run[1].nodes_of(cst.Return)]
        return bool(given) and all(value is not None and is_begun_anew(run[0].anatomy, value) for value in given)
    base, handed = ex.receiver(call), [arg.value for arg in call.args if arg.keyword is None]
    factory = ex.keywords(call).get("default_factory")  # `field(default_factory=list)` of a data class
    if factory is not None:
        return ex.dotted(factory) in _EMPTY_TYPES
    if ex.called_name(call) in {"copy", "deepcopy", "dict", "list"}:
        source = handed[0] if handed else base
        return source is not None and is_begun_anew(anatomy, source)
    is_class = anatomy.module.imports.resolve(ex.dotted(call.func) or "").startswith("collections.")
    if anatomy.facts.slots.constructed(call) is not None:
        return all(_is_key(anatomy, arg.value) for arg in call.args)
    return is_class and not handed


def _is_key(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a value is what a function is handed to tell which of many it is about: `Talk(guest=guest)`."""
    slot = anatomy.facts.slots.of(value) if isinstance(value, cst.Name) else None
    return slot is not None and is_parameter(slot) and not anatomy.facts.assigned(slot) and not anatomy.facts.of(slot)


_MAKERS = frozenset({"__init__", "__post_init__", "__new__"})


def as_made(anatomy: Anatomy, place: cst.BaseExpression, before: cst.CSTNode) -> cst.BaseExpression | None:
    """What an attribute holds before a statement, if its object was made just before, and that is nothing."""
    function = anatomy.module.scope_of[before].function
    if not isinstance(place, cst.Attribute):
        return None
    if ex.dotted(place.value) == anatomy.module.self_name(function):
        cls = function.owner if is_method(function) and _runs_when_made(anatomy, function) else None
        return _first_value(anatomy, cls, place.attr.value) if cls is not None else None
    slot = anatomy.facts.slots.of(place.value)
    made = [value for value in anatomy.facts.assigned(slot) if ex.dotted(value) != "None"] if slot is not None else []
    if len(made) != 1 or not isinstance(call := ex.inner(made[0]), cst.Call):
        return None
    maker, found = anatomy.module.scope_of[call].function, made_class(anatomy, call)
    here = maker is function and anatomy.module.before(call, before)
    is_new = here or (maker.name in _MAKERS and _runs_when_made(anatomy, function))
    return _first_value(*found, place.attr.value) if is_new and found is not None else None


def _runs_when_made(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a method is run by nobody but what makes its object, as far as the project shows."""
    sites = anatomy.calls.sites[function]
    runs = bool(sites) and all(site.caller.name in _MAKERS and site.caller.owner is function.owner for site in sites)
    return function.name in _MAKERS or (runs and not any(each.owner == function.qualname for each in anatomy.handed))


def _first_value(there: Anatomy, cls: Scope, name: str) -> cst.BaseExpression | None:
    """What an object of a class has in an attribute when it is made, if that is nothing."""
    given = there.facts.assigned(("attr", cls, name))
    first = [value for value in given if (by := there.module.scope_of[value].function) is cls or by.name in _MAKERS]
    return first[0] if len(first) == 1 and is_begun_anew(there, first[0]) else None
