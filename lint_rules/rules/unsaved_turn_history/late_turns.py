"""Turns whose later requests may fail, and what lasts that is told of them meanwhile."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.turns.keepers import store_of
from lint_rules.anatomy.turns.lasting import is_new
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds, reads
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.obligations.late_requests import LateRequests, seen_from
from lint_rules.obligations.storing import stores_any
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope


class LateTurns(LateRequests):
    """Questions of the rule alone about later requests."""

    def told_alike(self, function: Scope, told: list[cst.CSTNode]) -> list[cst.CSTNode]:
        """Where what is told at some places is told anything, by one function or object, or in one list or table.

        What the tools keep as they run is another matter.
        """
        anatomy, slots, touched = self._anatomy, self._anatomy.facts.slots, self._anatomy.resources.of
        calls = [node for node in told if isinstance(node, cst.Call)]
        known = {ex.dotted(call.func) for call in calls}
        owners = {slots.of(base) for call in calls if (base := ex.receiver(call)) is not None} - {None}
        rows = frozenset[str]().union(*(touched(call).made for call in calls))
        stored = anatomy.transcript.stored(function)
        lists = {one.slot for one in stored if one.node in told}
        same: list[cst.CSTNode] = [one.node for one in stored if one.slot in lists]
        runs = {node for node, slot in self.results(anatomy, function) if slot is None}
        for call in (call for call in function.nodes_of(cst.Call) if call not in runs):
            base = ex.receiver(call)
            of_owner = base is not None and slots.of(base) in owners and anatomy.module.is_statement(call)
            alike = of_owner or ex.dotted(call.func) in known or not rows.isdisjoint(touched(call).made if rows else ())
            same += [call] if alike else []
        return same

    def may_last(self, slot: Slot, function: Scope) -> bool:
        """Whether a place may be there for the next turn: only what is made for this one is not."""
        place = self._anatomy.aliases.of(slot)
        root = root_object(place)
        made = self._anatomy.facts.assigned(root) if root[:2] == ("var", function) else []
        if root[0] == "return":
            made = root[1].returned
        new = bool(made) and all(is_new(self._anatomy, value) or self._is_read_out(value) for value in made)
        return not new or self._anatomy.aliases.is_lasting(place, function)

    def _is_read_out(self, value: cst.BaseExpression) -> bool:
        """Whether a function of the project gives what it has read in rows, and no list of its own that has them."""
        call = ex.inner(value)
        found = body(self._anatomy, call)
        if found is None or not self._anatomy.resources.of(call).read:  # type: ignore[arg-type]
            return False
        aliases = found[0].aliases
        return not aliases.is_lasting(aliases.of(("return", found[1])), found[1])

    def keeps_first(self, call: cst.Call) -> bool:
        """Whether what a call runs puts the results that it is handed into what lasts, before it asks."""
        found, slots = body(self._anatomy, call), self._anatomy.facts.slots
        if found is None:
            return False
        there, function = found
        caller = self._anatomy.module.scope_of[call].function
        noted = {slot for _, slot in self.results(self._anatomy, caller)}
        bound = there.facts.slots.bindings(call, function)
        known = [str(parameter[2]) for parameter, value in bound if slots.of(value) in noted - {None}]
        names = ReplyPlaces(there).derived(function, function.node, known=known) if known else set()
        keeps = [save.node for save in there.storage.saves(function) if save.outside and reads(save.value, names)]
        asks = there.turns.requests(function)
        for node in function.nodes_of(cst.Call) if known else ():
            if node not in asks and any(reads(arg.value, names) for arg in node.args) and _may_keep(there, node):
                root = _root(node)
                place = there.facts.slots.of(root)
                seen = seen_from(self._anatomy, call, there, function, place) if place is not None else None
                is_global = root is None or (place is not None and place[1] is there.module.top)
                keeps += [node] if is_global or (seen is not None and self.may_last(seen, caller)) else []
        return there.leads(function, keeps, asks)

    def stores(self, run: cst.Call) -> bool:
        """Whether a run itself puts something of the talk into what lasts: what its tools keep is another matter."""
        found, seen = body(self._anatomy, run), set[Scope]()
        queue = [found] if found is not None else []
        for there, function in queue:
            for here in there.calls.reachable(function) - seen:
                seen.add(here)
                saves = (save for save in there.storage.saves(here) if save.outside)
                stores = (store_of(there, call, here) for call in here.nodes_of(cst.Call))
                is_read = any(there.storage.is_read(save.place) for save in saves)
                if (is_read and stores_any(there, here)) or there.stored_turns.of(here):
                    return True
                if any(store is not None and store.grows for store in stores):
                    return True
                below = (body(there, call) for call in there.turns.requests(here))
                queue += [each for each in below if each is not None and each[1] not in seen]
        return False

    def writes_out(self, function: Scope, whole: set[Slot]) -> bool:
        """Whether a method writes out a part of its object that is one of these."""
        slots, derived = self._anatomy.facts.slots, ReplyPlaces(self._anatomy).derived
        saves = self._anatomy.storage.saves(function)
        parts = [node for node in function.nodes_of(cst.Attribute) if slots.of(node) in whole] if saves else []
        return any(holds([save.value], node, derived(function, node, put=True)) for node in parts for save in saves)


def _may_keep(there: Anatomy, call: cst.Call) -> bool:
    """Whether a call may keep what it is handed: one of an object that the function was handed, if nobody knows it."""
    root, touched = _root(call), there.resources.of(call)
    place = there.facts.slots.of(root)
    unknown = place is not None and is_parameter(place) and body(there, call) is None
    return there.keeps(call) or bool(touched.made or touched.put) or (unknown and there.module.is_statement(call))


def _root(call: cst.Call) -> cst.BaseExpression | None:
    """The name, or the attribute of the own object, of which something is called: `places` in `places[key].append`."""
    node = ex.receiver(call)
    while isinstance(node, (cst.Subscript, cst.Call)) or (
        isinstance(node, cst.Attribute) and isinstance(node.value, (cst.Attribute, cst.Subscript, cst.Call))
    ):
        node = ex.receiver(node) if isinstance(node, cst.Call) else node.value
    return node
