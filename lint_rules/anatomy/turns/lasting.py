"""What outlives the turn that writes to it: the next one begins with it. And what is new, or holds nothing yet."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, made_class
from lint_rules.anatomy.program.concurrency import keys
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.rounds.waits import waits_for_words
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, moved, root_object
from lint_rules.anatomy.vocabulary import DECODERS
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_Bound = dict[Slot, cst.BaseExpression]


@once(circular=True)
def is_new(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether nobody else has a value: it is made here, read of a text or file, or a function gives only such.

    What leads back to itself, `talk = trimmed(talk)`, is what it else is.
    """
    parts = [*ex.alternatives(value)]
    return bool(parts) and all(anatomy.aliases.is_new(part) or _is_given_new(anatomy, part) for part in parts)


def _is_given_new(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    module, slot = anatomy.module, anatomy.facts.slots.of(value)
    if isinstance(value, cst.Name) and slot is not None and slot[0] == "var" and slot[1].kind == "function":
        made = anatomy.facts.assigned(slot) if not is_parameter(slot) else []
        return bool(made) and all(is_new(anatomy, each) for each in made)
    if isinstance(value, cst.Attribute) and slot is not None and slot[0] == "attr":
        getter = module.method(slot[1], slot[2])
        return getter is not None and all(is_new(anatomy, each) for each in getter.returned)
    if not isinstance(value, cst.Call):
        return False
    name = ex.dotted(value.func) or ""
    if name == "cls" or module.imports.resolve(name) in DECODERS:
        return True
    read = anatomy.storage.read_at(value, module.scope_of[value].function)
    if read is not None and read.resource[0] in {"file", "table"}:
        return True
    there, callee = body(anatomy, value) or (anatomy, None)
    given = [node.value for node in callee.nodes_of(cst.Return)] if callee is not None else []
    bound = dict(there.facts.slots.bindings(value, callee)) if callee is not None else {}
    return bool(given) and all(part is not None and _is_new_there(anatomy, there, part, bound) for part in given)


def _is_new_there(anatomy: Anatomy, there: Anatomy, part: cst.BaseExpression, bound: _Bound) -> bool:
    """The same of what a function gives back, which may be what it was handed: `bound`."""
    slot = there.facts.slots.of(part)
    handed = bound.get(slot) if slot is not None else None
    if handed is None:
        return is_new(there, part)
    return is_new(anatomy, handed) and all(is_new(there, each) for each in there.facts.assigned(slot))


class Lasting:
    """Asks of slots and functions of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy

    def keeps(self, slot: Slot, depth: int = 0) -> Slot | None:
        """Where a list lives on after the function has ended: an attribute, a global, an entry of either; or None."""
        root = root_object(slot)
        if root[0] in {"attr", "outside"}:
            return slot
        if root[0] != "var" or depth > DEEPEST:
            return None
        if root[1] is self.anatomy.module.top:
            return slot if root is not slot or root[2] in self.anatomy.module.top.bound else None
        if root[2] in {p.name.value for p in parameters(root[1])}:
            return None
        kept = self._alias(root, depth)
        return moved(slot, root, kept) if kept is not None else None

    def _alias(self, slot: Slot, depth: int) -> Slot | None:
        """What a local name stands for, where every value it is given is such a place (or an empty default)."""
        found: Slot | None = None
        for value in self.anatomy.facts.assigned(slot):
            for part in ex.alternatives(value):
                if sources(part):
                    return None
                inside = self.anatomy.facts.slots.of(part)
                kept = self.keeps(inside, depth + 1) if inside is not None and inside != slot else None
                if kept is None and not (isinstance(part, cst.List) and not part.elements):
                    return None
                found = found or kept
        return found if found is None or self._is_set(found) else None

    def _is_set(self, slot: Slot) -> bool:
        """Whether this file puts something there, or another one of the project: the body of a request is read only."""
        root = root_object(slot)
        if root[0] == "attr" or root[2] in self.anatomy.module.top.bound:
            return True
        return bool(self.anatomy.facts.assigned(slot)) or self.anatomy.defined_elsewhere(root[2], "") is not None

    def ends_with_each_run(self, function: Scope) -> bool:
        """Whether all that run a method in other files make an object for it that is gone when it has ended."""
        reachable, methods = self.anatomy.calls.reachable, function.owner.methods.values() if function.owner else ()
        entries = {each.qualname for each in methods if each is function or function in reachable(each)}
        told = [each for each in self.anatomy.handed if each.what == "object" and each.owner in entries]
        return bool(told) and not any(each.kept or each.example for each in told)

    def is_asked_for(self, node: cst.CSTNode) -> bool:
        """`if text == "save": dump(messages)`: what a person asks for with a command is owed on no other way."""
        function, imports = self.anatomy.module.scope_of[node].function, self.anatomy.module.imports
        for tested, holds in conditions.passed(self.anatomy.module, node, function.node):
            parts = [*walk(tested.test)] if holds and isinstance(tested, (cst.If, cst.IfExp)) else []
            says = any(isinstance(part, cst.SimpleString) for part in parts)
            names = [part for part in parts if says and isinstance(part, cst.Name)]
            made = (inner for name in names for value in self.anatomy.facts.values_of(name) for inner in walk(value))
            if any(isinstance(inner, cst.Call) and waits_for_words(inner, imports) for inner in made):
                return True
        return False

    def is_given_lasting(self, part: Slot) -> bool:
        """Whether an object was given what lies in an attribute when it was made, and others have that, too."""
        begin = self.anatomy.module.method(part[1], "__init__") if part[0] == "attr" else None
        if begin is None:
            return False
        given = (
            self.anatomy.facts.slots.of(each)
            for value in self.anatomy.facts.assigned(part)
            for each in walk(value)
            if isinstance(each, cst.Name)
        )
        taken = {
            key for slot in given if slot is not None and slot[:2] == ("var", begin) for key in keys(begin, slot[2])
        }
        told = (each for each in self.anatomy.handed if each.owner == begin.qualname and each.part in taken)
        return any(each.kept for each in told)


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
