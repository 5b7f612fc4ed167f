"""Views of a history: copies, cuts and texts that hold what was in it when they were made, and do not grow with it."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.copies import path_of
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope

_RENDERERS = frozenset(
    {"dumps", "join", "format", "deepcopy", "copy", "list", "tuple", "str", "sorted", "reversed", "filter", "map"}
)
"""Functions of the standard library, and methods of text, that make something new of what they are given."""

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
        """Of the histories that a new value is made of, the one that is written anywhere, else the first."""
        found = []
        for part in self._parts(ex.inner(value)):
            live = path_of(part) is not None
            inside = part if live else self._copied(part) or self._handed_through(part)
            if inside is not None and self.facts.is_kind(inside, Kind.HISTORY):
                found.append(inside)
        slots = {part: self.facts.slots.of(part) for part in found}
        grown = [p for p in found if any(w.kind in GROWING for w in self.anatomy.writes.by_slot.get(slots[p], ()))]  # type: ignore[arg-type]
        return next(iter(grown + found), None)

    def _parts(self, value: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What is read to make a new value: a copy, a text, what is made of each element."""
        if isinstance(value, (cst.ListComp, cst.GeneratorExp)):
            return [value.for_in.iter]
        if isinstance(value, cst.FormattedString):
            return [part.expression for part in value.parts if isinstance(part, cst.FormattedStringExpression)]
        if isinstance(value, cst.Call):
            return [] if ex.called_name(value) == "cast" else self._read_by(value) or sources(value)
        return list(ex.dict_items(value).values()) or sources(value)

    def _read_by(self, call: cst.Call) -> list[cst.BaseExpression]:
        """`json.dumps(h)`, `text(h).strip()`, and functions of this file that make a new list of what they get."""
        given, base = ex.positional(call), ex.inner(ex.receiver(call) or call)
        if ex.called_name(call) in _RENDERERS and given:
            return given
        callee = self.facts.slots.callee(call)
        if callee is None:
            return [base] if base is not call and isinstance(base, (cst.Call, cst.FormattedString)) else []
        if callee.name == "__init__":
            return []
        for slot, value in self.facts.slots.bindings(call, callee):
            if self.facts.is_kind(value, Kind.HISTORY) and path_of(value) and self.renews(callee, slot):
                return [value]
        viewed = self._viewed_by(callee)
        return [viewed] if viewed is not None else []

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

    def _handed_through(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The history that a function of this file gets and gives back, whole or in part."""
        callee = self.facts.slots.callee(node)
        for slot, value in self.facts.slots.bindings(node, callee) if callee is not None else ():  # type: ignore[arg-type]
            returned = callee.returned  # type: ignore[union-attr]
            parts = [part for whole in returned for each in ex.alternatives(whole) for part in [each, *sources(each)]]
            if any(self.facts.slots.of(part) == slot for part in parts):
                return value
        return None

    def renews(self, callee: Scope, parameter: Slot) -> bool:
        """Whether a function of this file returns a list of its own, perhaps the one it got, and none that it keeps."""
        return self._renews((callee, parameter))

    @once(circular=False)
    def _renews(self, asked: tuple[Scope, Slot]) -> bool:
        callee, parameter = asked
        returned = callee.returned
        slots = [self.facts.slots.of(value) for value in returned]
        own = [s for s in slots if s is not None and s[0] == "var" and s[1] is callee and s != parameter]
        made = [
            v
            for v in returned
            if isinstance(v, (cst.List, cst.ListComp, cst.BinaryOperation))
            or ex.slice_of(v) is not None
            or (isinstance(v, (cst.Call, cst.FormattedString)) and self._copied(v) is not None)
        ]
        return bool(own or made) and not any(s is not None and s[0] == "attr" for s in slots)
