"""Of which class a thing is, of this file or of another of the project: by the call that makes it, or by annotation."""

from __future__ import annotations

from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters

LISTS = frozenset({"list", "List", "Sequence", "deque", "Deque", "MutableSequence", "Iterable", "tuple", "Tuple"})

FoundClass = tuple[Anatomy, Scope]
"""A class, and the file it stands in."""


def made_class(anatomy: Anatomy, call: cst.Call) -> FoundClass | None:
    """The class of this file, or of another file of the project, that `call` makes an object of."""
    cls = anatomy.facts.slots.constructed(call)
    if cls is not None:
        return anatomy, cls
    return anatomy.imported_class(call.func.value) if type(call.func) is cst.Name else None


class Elements:
    """Of which class the elements of the lists of one file are, as far as annotations tell."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module

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
        base = ex.receiver(call)
        owner = self.facts.slots.of(base) if base is not None else None
        name = _plain_name(self._annotation_of(owner)) if owner is not None else None
        found = self.anatomy.imported_class(name) if name is not None else None
        if found is None:
            return None
        there, cls = found
        method = there.module.method(cls, ex.called_name(call))
        returns = method.node.returns if method is not None and isinstance(method.node, cst.FunctionDef) else None
        if returns is None:
            return None
        return _element_class(there, returns.annotation) or _element_class(self.anatomy, returns.annotation)

    def _annotation_of(self, slot: Slot) -> cst.BaseExpression | None:
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
        return found


def _element_class(anatomy: Anatomy, annotation: cst.BaseExpression) -> FoundClass | None:
    """The class that `list[X]` names, in this file or in the one that X is imported from."""
    for part in (annotation.left, annotation.right) if isinstance(annotation, cst.BinaryOperation) else (annotation,):
        if not isinstance(part, cst.Subscript):
            continue
        outer = (ex.dotted(part.value) or "").rpartition(".")[2]
        inside = ex.index(part)
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
