"""Histories that are added to themselves: loaded, copied or handed back with all that was in them, and added whole."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.messages.handed_back import held_whole, keeps, made_by
from lint_rules.anatomy.messages.places import Double, How, Places
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.turns.stores import adds, loads
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point


class AddedWhole:
    """The doubles of one function whose message is a whole history."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.anatomy = places.anatomy
        self.facts = places.facts
        self.function = places.function
        self.again = places.again

    def all(self) -> Iterator[Double]:
        for stored in self.places.all:
            write = stored.write
            if stored.kind == "extend" and write is not None and write.node is stored.node and write.value is not None:
                made = self._copied(stored, write.value) or self._handed_back(stored, write.value)
                if made is not None:
                    yield Double(How.LOADED, stored, made)
        yield from self._added_to_store()

    def _copied(self, stored: Stored, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """`whole = list(history)`, then `history.extend(whole)`: what was in it is there twice."""
        made = self.places.bound_to(value)
        if made is value or not self._holds_all(made, stored.slot, 0):
            return None
        avoiding = self.again.unstored(stored.slot) | self.again.emptied(self.again.parts(value))
        return made if self.again.follows(made, stored.node, avoiding) else None

    def _holds_all(self, value: cst.BaseExpression, slot: Slot | None, depth: int) -> bool:
        """Whether a new list begins with, or holds, all elements of another."""
        value = ex.inner(value)
        if depth > 3:
            return False
        cut = ex.slice_of(value)
        if cut is not None and (cut.lower is not None or cut.upper is not None):
            return False
        for source in sources(value):
            source = ex.inner(source)
            if self.facts.slots.of(source) == slot or self._holds_all(source, slot, depth + 1):
                return True
        return False

    def _handed_back(self, stored: Stored, value: cst.BaseExpression) -> cst.Call | None:
        """`history.extend(self.step(history))`, where `step` returns what it got with the new messages behind it."""
        made = made_by(self.anatomy, value)
        callee = self.facts.slots.callee(made[0]) if made is not None else None
        if made is None or callee is None:
            return None
        call, part = made
        held = held_whole(self.anatomy, callee, part)
        for parameter, given in self.facts.slots.bindings(call, callee) if held else ():
            if parameter[2] in held and self._is_the_list(given, stored.slot):
                if self.again.follows(call, stored.node, self._replaced(stored.slot)):
                    return call
        return None

    def _is_the_list(self, value: cst.BaseExpression, slot: Slot | None) -> bool:
        """Whether a value may be the very list in a slot: itself, or a name that it was given before."""
        if self.facts.slots.of(value) == slot:
            return True
        for bound in self.anatomy.definitions(value) if isinstance(value, cst.Name) else ():
            alias = bound.value if bound.kind == "assign" else None
            if isinstance(alias, (cst.Name, cst.Attribute)) and self.facts.slots.of(alias) == slot:
                if self.again.follows(alias, value, self._replaced(slot)):
                    return True
        return False

    def _replaced(self, slot: Slot | None) -> set[Point]:
        """The points at which another list takes the place of the one in a slot."""
        renewed = self.again.bound(slot, grown=False) if slot is not None else ()
        return {point for point in renewed if slot is None or not keeps(self.anatomy, point.statement, slot)}

    # -- stores -----------------------------------------------------------------------------------------------

    def _added_to_store(self) -> Iterator[Double]:
        """`messages = session.load_messages()`, then `session.add_messages(messages)`: what was stored is added too."""
        for call in self.function.nodes:
            if type(call) is not cst.Call or not adds(call):
                continue
            for arg in call.args:
                loaded = self._loaded_into(arg.value, call) if self.facts.is_kind(arg.value, Kind.HISTORY) else None
                if loaded is not None:
                    yield Double(How.LOADED, Stored(call, self.function, None, "extend", None, None), loaded)
                    break

    def _loaded_into(self, value: cst.BaseExpression, call: cst.Call) -> cst.Call | None:
        """The call that has loaded, from the store of `call`, messages that are in a list when `call` gets it."""
        slots = self.again.parts(value)
        avoiding = self.again.emptied(slots)
        made = self.places.made_by(value)
        if made is not None and _same_store(made, call) and self.again.follows(made, call, avoiding):
            return made
        for node in self.function.nodes if isinstance(value, cst.Name) else ():
            taken: cst.BaseExpression | None = None
            if isinstance(node, cst.AugAssign) and self.facts.slots.of(node.target) in slots:
                taken = ex.inner(node.value)
            elif isinstance(node, cst.Call) and ex.called_name(node) == "extend" and len(node.args) == 1:
                base = ex.receiver(node)
                taken = ex.inner(node.args[0].value) if base and self.facts.slots.of(base) in slots else None
            if isinstance(taken, cst.Call) and _same_store(taken, call):
                if self.again.follows(taken, call, avoiding | self.again.renewed(slots, grown=False)):
                    return taken
        return None


def _same_store(load: cst.Call, add: cst.Call) -> bool:
    """Whether a call loads messages of the object that the other one adds messages to."""
    owner = ex.receiver(load)
    if owner is None or not loads(load):
        return False
    return ex.dotted(owner) is not None and ex.dotted(owner) == ex.dotted(ex.receiver(add) or owner)
