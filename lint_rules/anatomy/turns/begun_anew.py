"""Values that hold nothing of what was stored: an empty list, a document with one, an object made from nothing.

And places that are still as the maker of their object has left them.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import made_class
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once

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
    is_class = anatomy.module.full_name(call.func).startswith("collections.")
    if made_class(anatomy, call) is not None:
        return all(_says_nothing(anatomy, arg.value) for arg in call.args)
    return is_class and not handed


def _says_nothing(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a value is empty, a constant, the time or so (`now()`), or tells which of many it is about.

    `Talk(guest=guest, lines=[])`, where a function is handed `guest`.
    """
    if isinstance(value, cst.Call) and not value.args and anatomy.storage.run(value) is None:
        return (ex.dotted(value.func) or "").partition(".")[0] in anatomy.module.imports.full
    slot = anatomy.facts.slots.of_name(value)
    if slot is not None and is_parameter(slot):
        return not anatomy.facts.assigned(slot) and not anatomy.facts.of(slot)
    return isinstance(value, (cst.SimpleString, cst.BaseNumber)) or is_begun_anew(anatomy, value)
