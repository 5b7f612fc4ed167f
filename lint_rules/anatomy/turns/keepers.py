"""Objects that keep a history behind methods, of this file or of an imported class: which of them read, rewrite, add.

A method is judged by its body: what it does to the attribute that holds the history, and what it returns of it.
"""

from __future__ import annotations

from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import FoundClass, classes_of, method_of
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, says_only

Role = Literal["read", "rewrite", "grow"]
_GROWERS = frozenset({"append", "extend"})


class Keepers:
    """The roles of the methods that a file calls."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy

    def keeper(self, call: cst.Call) -> Slot | None:
        """Where the object lives whose method is called."""
        base = ex.receiver(call)
        return self._anatomy.facts.slots.of(base)

    def role(self, call: cst.Call, keeper: Slot) -> Role | None:
        """What a method does to the history its object keeps: gives a copy, replaces it, or adds to it.

        May cost the analysis of the file that the class of the object stands in.
        """
        found = self._found(call, keeper)
        return _method_role(*found) if found is not None else None

    def method(self, call: cst.Call, keeper: Slot) -> Scope | None:
        """The method that a call on a keeper runs, where its class is at hand."""
        found = self._found(call, keeper)
        return found[1] if found is not None else None

    def _found(self, call: cst.Call, keeper: Slot) -> FoundClass | None:
        own = self._anatomy.facts.slots.callee(call)
        found = (self._anatomy, own) if own is not None else self._imported_method(keeper, ex.called_name(call))
        return found if found is not None and found[1].kind == "function" else None

    def locks_itself(self, keeper: Slot) -> bool:
        """Whether an object of another file holds its own lock where its history grows: several threads have it."""
        for there, cls in classes_of(self._anatomy, keeper):
            for method in cls.methods.values():
                puts = [call for call in method.nodes_of(cst.Call) if ex.called_name(call) in _GROWERS]
                if _method_role(there, method) == "grow" and any(there.races.locks.around(put, method) for put in puts):
                    return True
        return False

    def _imported_method(self, keeper: Slot, name: str) -> FoundClass | None:
        """A method of an imported class of the project, where the object's type is annotated or seen to be made."""
        found = next(iter(classes_of(self._anatomy, keeper)), None)
        return method_of(*found, name) if found is not None else None


_UNKNOWN: Role | None = None


@once(circular=_UNKNOWN)
def _method_role(there: Anatomy, method: Scope) -> Role | None:
    """Judged by the body: an attribute is rebound, cut or emptied, appended to, or returned as a list.

    What is done by a method of what the object has in an attribute counts as done here: `self._store.append(rows)`.
    """
    own = _done_itself(there, method)
    if own is not None and own != "read":
        return own
    beyond = {call: _role_beyond(there, call) for call in method.nodes_of(cst.Call)}
    changing: tuple[Role, ...] = ("rewrite", "grow")
    given = map(_given_back, method.nodes_of(cst.Return))
    reads = any(beyond[value] == "read" for value in given if isinstance(value, cst.Call))
    return next((role for role in changing if role in beyond.values()), "read" if reads else own)


def _role_beyond(there: Anatomy, call: cst.Call) -> Role | None:
    """The role of a method that is run on an attribute."""
    base = ex.receiver(call)
    slot = there.facts.slots.of(base) if type(base) is cst.Attribute else None
    return Keepers(there).role(call, slot) if slot is not None else None


def _given_back(node: cst.Return) -> cst.BaseExpression | None:
    return ex.inner(node.value) if node.value is not None else None


def _done_itself(there: Anatomy, method: Scope) -> Role | None:
    for node in method.nodes:
        if isinstance(node, cst.Assign):
            target = node.targets[0].target
            part = ex.slice_of(target)
            if part is not None:
                exact = part.upper is not None and "len(" in ex.source(part.upper)
                return None if exact else "rewrite"
            if isinstance(target, cst.Attribute) and _is_list_of(there, node.value, target):
                return "rewrite"
        elif isinstance(node, cst.Del) and ex.slice_of(node.target) is not None:
            return "rewrite"
        elif isinstance(node, cst.Call) and ex.called_name(node) == "clear":
            if isinstance(ex.receiver(node), cst.Attribute):
                return "rewrite"
    for node in method.nodes:
        if isinstance(node, cst.Call) and ex.called_name(node) in _GROWERS:
            base = ex.receiver(node)
            if isinstance(base, cst.Attribute):
                return "grow"
    for node in method.nodes:
        if isinstance(node, cst.Return) and node.value is not None:
            value = ex.inner(node.value)
            if isinstance(value, (cst.List, cst.ListComp)) or ex.slice_of(value) is not None:
                return "read"
            if isinstance(value, cst.Call) and ex.called_name(value) in {"list", "copy", "deepcopy", "tuple"}:
                return "read"
            if isinstance(value, cst.Attribute):
                return "read"
    return None


def _is_list_of(there: Anatomy, value: cst.BaseExpression, target: cst.Attribute) -> bool:
    """A list made of a name or a slice, an empty one, or what is handed in the place of one: `self.h = messages`."""
    value = ex.inner(value)
    if isinstance(value, cst.List) and not value.elements:
        return True
    if ex.slice_of(value) is not None:
        return True
    if isinstance(value, cst.Call) and ex.called_name(value) in {"list", "deque"} and value.args:
        return isinstance(value.args[0].value, cst.Name)
    slot, given = there.facts.slots.of(target), there.facts.slots.of_name(value)
    if slot is None or given is None or not is_parameter(given):
        return False
    return Kind.HISTORY in there.facts.of(slot) or any(type(each) is cst.List for each in there.facts.assigned(slot))


_IN_MEMORY = frozenset(
    {
        "append", "extend", "insert", "clear", "pop", "copy", "list", "dict", "len", "tuple", "update", "setdefault",
        "deepcopy", "get", "remove", "enumerate", "isinstance", "debug", "info",
    }
)  # fmt: skip


def may_fail(method: Scope) -> bool:
    """Whether more than a list or dict in memory is changed: something is awaited, raised, opened, or run elsewhere.

    So may what takes the place of a method that only says what others do.
    """
    return says_only(method) or any(
        isinstance(node, (cst.Raise, cst.Await, cst.With))
        or (isinstance(node, cst.Call) and ex.called_name(node) not in _IN_MEMORY)
        for node in method.nodes
    )


_AROUND = (cst.BinaryOperation, cst.BooleanOperation, cst.StarredElement, cst.List, cst.Await, cst.Arg, cst.Call)
"""What may stand around a call whose result goes into a list."""


def gives_history(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether what a method gives back is a history, or goes into one: `[*thread.all(), question]`."""
    facts = anatomy.facts
    if facts.is_kind(call, Kind.HISTORY):
        return True
    outer = anatomy.module.parent[call]
    while isinstance(outer, _AROUND):
        base = ex.receiver(outer)
        known = [part for part in (outer, base) if isinstance(part, cst.BaseExpression)]
        if any(facts.is_kind(part, Kind.HISTORY) for part in known):
            return True
        outer = anatomy.module.parent[outer]
    if isinstance(outer, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
        return any(facts.is_kind(target, Kind.HISTORY) for target in ex.targets(outer))
    return False


def givers(anatomy: Anatomy) -> set[Slot]:
    """The objects of which a method, whatever it is called, gives a history: not one that is made of its arguments."""
    facts = anatomy.facts
    return {
        slot
        for call in anatomy.module.nodes_of(cst.Call)
        if (base := ex.receiver(call)) is not None
        and (slot := facts.slots.of(base)) is not None
        and not anatomy.calls.asks(call)
        and gives_history(anatomy, call)
        and not any(facts.is_kind(arg.value, kind) for arg in call.args for kind in (Kind.HISTORY, Kind.MESSAGE))
    }
