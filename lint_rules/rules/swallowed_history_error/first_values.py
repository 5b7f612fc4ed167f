"""What an attribute is when its object has been made."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import made_class
from lint_rules.anatomy.turns.lasting import is_begun_anew
from lint_rules.anatomy.values.slots import is_method
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

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
    """Whether a method is run by what makes its object, at first."""
    makers = (site.caller for site in anatomy.calls.sites[function])
    return function.name in _MAKERS or any(m.name in _MAKERS and m.owner is function.owner for m in makers)


def _first_value(there: Anatomy, cls: Scope, name: str) -> cst.BaseExpression | None:
    """What an object of a class has in an attribute when it is made, if that is nothing."""
    given = there.facts.assigned(("attr", cls, name))
    first = [value for value in given if (by := there.module.scope_of[value].function) is cls or by.name in _MAKERS]
    return first[0] if len(first) == 1 and is_begun_anew(there, first[0]) else None
