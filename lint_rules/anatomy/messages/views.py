"""Views of a history: copies, cuts and texts that hold what was in it when they were made, and do not grow with it."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.copies import path_of
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope

_RENDERERS = frozenset({"dumps", "join", "deepcopy", "copy", "list", "tuple", "str", "sorted", "model_copy"})

_NONE: cst.BaseExpression | None = None


class Views:
    """Tells views of one file from the live lists."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts

    def made_of(self, value: cst.BaseExpression) -> tuple[Slot, Evidence] | None:
        """The history that `value` is a copy or view of; None when it is the live list, or none."""
        value = ex.inner(value)
        if type(value) is cst.Dict:
            return None
        source = self._copied(value)
        if source is None:
            return None
        slot = self.facts.slots.of(source)
        evidence = self.facts.kinds(source).get(Kind.HISTORY)
        if slot is None or evidence is None or slot[0] in {"call", "return"}:
            return None
        return slot, evidence

    def original(self, value: cst.BaseExpression) -> cst.BaseExpression:
        """What a view was made of, as written."""
        return self._copied(ex.inner(value)) or value

    def _copied(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        if type(value) is cst.Subscript:
            return value.value if ex.slice_of(value) is not None else None
        if type(value) is cst.ListComp or type(value) is cst.GeneratorExp:
            return _bare(value.for_in.iter)
        if type(value) is cst.List:
            return self._growing([e.value for e in value.elements if type(e) is cst.StarredElement])
        if type(value) is cst.BinaryOperation and type(value.operator) is cst.Add:
            return self._growing([value.left, value.right])
        if type(value) is cst.Call:
            return self._called(value)
        return None

    def _called(self, call: cst.Call) -> cst.BaseExpression | None:
        """`list(h)`, `h.copy()`, `json.dumps(h)`, and functions of this file that make a new list of what they get."""
        name, base = ex.called_name(call), ex.receiver(call)
        given = ex.positional(call)
        if name in {"copy", "model_copy"} and base is not None and not given:
            return base
        if name in _RENDERERS and given:
            inside = given[0]
            if isinstance(inside, (cst.GeneratorExp, cst.ListComp)):
                return _bare(inside.for_in.iter)
            return self._growing(list(ex.dict_items(inside).values())) if ex.is_dict(inside) else _bare(inside)
        callee = self.facts.slots.callee(call)
        if callee is None or callee.name == "__init__":
            return None
        for slot, value in self.facts.slots.bindings(call, callee):
            if self.facts.is_kind(value, Kind.HISTORY) and path_of(value) and self.renews(callee, slot):
                return value
        return self._viewed_by(callee)

    @once(circular=_NONE)
    def _viewed_by(self, callee: Scope) -> cst.BaseExpression | None:
        """The attribute or global of which all that a function of this file gives back is a view."""
        slots, given = self.facts.slots, list[cst.BaseExpression]()
        for value in callee.returned:
            slot = slots.of_name(value)
            given += (self.facts.assigned(slot) if slot is not None and slot[1] is callee else []) or [value]
        viewed = [self._copied(ex.inner(value)) for value in given]
        places = {slots.of(each) if each is not None else None for each in viewed}
        place = places.pop() if len(places) == 1 else None
        root = root_object(place) if place is not None else ("",)
        return viewed[0] if root[0] == "attr" or root[:2] == ("var", self.anatomy.module.top) else None

    def _growing(self, parts: list[cst.BaseExpression]) -> cst.BaseExpression | None:
        """Of the histories that a list is put together from, the one that is written anywhere, else the first."""
        found = []
        for part in parts:
            bare = _bare(part)
            inside = bare if path_of(bare) is not None else self._copied(bare) or self._handed_through(bare)
            if inside is not None and self.facts.is_kind(inside, Kind.HISTORY):
                found.append(inside)
        slots = {part: self.facts.slots.of(part) for part in found}
        grown = [p for p in found if any(w.kind in GROWING for w in self.anatomy.writes.by_slot.get(slots[p], ()))]  # type: ignore[arg-type]
        return next(iter(grown + found), None)

    def _handed_through(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The history that a function of this file gets and gives back, whole or in part."""
        callee = self.facts.slots.callee(node)
        for slot, value in self.facts.slots.bindings(node, callee) if callee is not None else ():  # type: ignore[arg-type]
            returned = callee.returned  # type: ignore[union-attr]
            parts = [_bare(part) for whole in returned for part in ex.alternatives(whole)]
            if any(self.facts.slots.of(part) == slot for part in parts):
                return value
        return None

    def renews(self, callee: Scope, parameter: Slot) -> bool:
        """Whether a function of this file returns a list of its own, perhaps the one it got, and none that it keeps."""
        returned = callee.returned
        slots = [self.facts.slots.of(value) for value in returned]
        own = [s for s in slots if s is not None and s[0] == "var" and s[1] is callee and s != parameter]
        made = [
            v
            for v in returned
            if isinstance(v, (cst.List, cst.ListComp, cst.BinaryOperation)) or ex.slice_of(v) is not None
        ]
        return bool(own or made) and not any(s is not None and s[0] == "attr" for s in slots)


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """`h` of `list(h)`, `h[1:]`, `h.copy()`."""
    while True:
        node = ex.inner(node)
        if isinstance(node, cst.Subscript) and ex.slice_of(node) is not None:
            node = node.value
        elif isinstance(node, cst.Call) and ex.dotted(node.func) in {"list", "tuple", "reversed"} and node.args:
            node = node.args[0].value
        elif isinstance(node, cst.Call) and ex.called_name(node) == "copy" and not node.args:
            node = ex.receiver(node) or node
            if isinstance(node, cst.Call):
                return node
        else:
            return node
