"""Which tool calls a value comes from: the first of a round, or all of them."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import slice_of_one
from lint_rules.anatomy.guards.call_parts import Comprehension, elements
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.walk import children

_IDENTITIES = IDS | {"index", "type"}
_LOOPS = (cst.For, cst.While)


class Firsts:
    """Which expressions of a file take the first of some tool calls."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self.facts = anatomy.facts
        self.places = anatomy.guards.signatures

    @once(circular=False)
    def has(self, node: cst.BaseExpression) -> bool:
        """`calls[0]`, `next(c for c in calls)`, and element 0 of a list made of one value per call."""
        if type(node) is cst.Subscript and ex.integer(ex.index(node)) == 0:
            return self.is_list(node.value) and "delta" not in ex.source(node.value)
        if type(node) is cst.Call and ex.dotted(node.func) == "next" and node.args:
            given = ex.inner(node.args[0].value)
            made = given.args[0].value if isinstance(given, cst.Call) and ex.dotted(given.func) == "iter" else given
            return self.is_list(made)
        head, which = slice_of_one(node)
        return head is not None and which == "first" and self.is_list(head)

    @once(circular=False)
    def is_list(self, node: cst.BaseExpression) -> bool:
        """Whether a value is a list of tool calls, or of what they say: what came of them is no such list."""
        if self.facts.is_kind(node, Kind.CALLS):
            return True
        origin = Origin(self).of(node)
        return origin.whole and not origin.firsts and not self.places.of(node).opaque

    def filled(self, slot: Slot) -> bool:
        """Whether a list is begun anew and filled in a loop over calls: it has a value for each of them."""
        module, begun, puts = self.facts.module, self.facts.assigned(slot), self.facts.put(slot)
        loops = [next((o for o in module.ancestors(put) if isinstance(o, _LOOPS)), None) for put in puts]
        return bool(loops) and all(
            isinstance(loop, cst.For)
            and self.facts.is_kind(loop.iter, Kind.CALLS)
            and [_around(module, loop)] == [_around(module, value) for value in begun]
            for loop in loops
        )


def _around(module: SourceModule, node: cst.CSTNode) -> cst.CSTNode | None:
    """The loop or function around a node."""
    return next((outer for outer in module.ancestors(node) if isinstance(outer, (*_LOOPS, cst.FunctionDef))), None)


class Origin:
    """Where a value comes from: `firsts` are the first calls taken on the way, `whole` whether all calls are named.

    `places` tells first calls of different lists apart. An id or an index of one says nothing of what was called.
    """

    def __init__(self, firsts: Firsts) -> None:
        self._firsts = firsts
        self._facts = firsts.facts
        self._seen: set[tuple[Slot, bool]] = set()
        self.firsts: list[cst.BaseExpression] = []
        self.places: set[str] = set()
        self.whole = False

    def of(self, node: cst.BaseExpression, *, stored: bool = False) -> Origin:
        """The same object, with the origin of a value; with `stored`, of what is put into the container that it is."""
        self._trace(node, 0, stored)
        return self

    def _trace(self, node: cst.CSTNode, depth: int, stored: bool = False) -> None:
        if isinstance(node, cst.BaseExpression) and depth <= DEEPEST:
            if self._firsts.has(node):
                self._found(node)
                return
            if type(node) is cst.Call and ex.dotted(node.func) in {"len", "bool"}:
                return
            pair = ex.member(node)
            if pair is not None and pair[1] in _IDENTITIES:
                return
            if self._is_all(node):
                self.whole = self.whole or not stored
                return
        if isinstance(node, cst.BaseExpression) and (type(node) is cst.Name or ex.member(node) is not None):
            self._trace_slot(node, depth, stored)
        elif isinstance(node, Comprehension):
            for element in elements(node):
                self._trace(element, depth)
        elif type(node) is cst.Call:
            self._trace_call(node, depth, stored)
        elif type(node) is cst.IfExp:
            for way in (node.body, node.orelse):
                self._trace(way, depth, stored)
        elif type(node) is cst.Subscript and ex.member(node) is None:
            self._trace(node.value, depth, True)
        else:
            for child in children(node):
                self._trace(child, depth, stored)

    def _found(self, node: cst.BaseExpression) -> None:
        self.firsts.append(node)
        self.places.add(ex.source(node))

    def _is_all(self, node: cst.BaseExpression) -> bool:
        if type(node) is cst.ListComp or type(node) is cst.GeneratorExp or type(node) is cst.SetComp:
            return self._facts.is_kind(node.for_in.iter, Kind.CALLS)
        return type(node) is not cst.Call and self._facts.is_kind(node, Kind.CALLS)

    def _trace_slot(self, node: cst.BaseExpression, depth: int, stored: bool) -> None:
        slot, pair = self._facts.slots.of(node), ex.member(node)
        values = [*self._facts.assigned(slot), *(self._firsts.places.fields_set.get(slot, ()) if slot else ())]
        if slot is not None and (slot, stored) not in self._seen and depth < DEEPEST:
            self._seen.add((slot, stored))
            for value in values:
                self._trace(value, depth + 1, stored)
            for value, place in self._facts.unpacked(slot):
                self._trace_part(value, place, depth + 1)
            if not values:
                for value in self._facts.given(slot):
                    self._trace(value, depth + 1, stored)
                if slot in self._firsts.places.loops:
                    self._trace(self._firsts.places.loops[slot], depth + 1, True)
            if not stored and self._firsts.filled(slot):
                self.whole = True
            elif stored:
                for put in self._firsts.places.puts.get(slot, ()):
                    self._trace(put, depth + 1)
        if pair is not None and not values:
            self._trace(pair[0], depth, stored)

    def _trace_part(self, value: cst.BaseExpression, place: int, depth: int) -> None:
        """`first, *rest = calls` takes the first of them, `name, args = calls[0]` what it says."""
        if not self._firsts.is_list(value):
            self._trace(value, depth)
        elif place == 0:
            self._found(value)

    def _trace_call(self, node: cst.Call, depth: int, stored: bool) -> None:
        callee = self._facts.slots.callee(node)
        if callee is not None and depth < DEEPEST:
            found, places = len(self.firsts), set(self.places)
            for inside in callee.nodes_of(cst.Return):
                if inside.value is not None:
                    self._trace(inside.value, depth + 1, stored)
            if len(self.firsts) > found or self.whole:
                self.places = places | {ex.source(node)}
                return
        for arg in node.args:
            self._trace(arg.value, depth, stored)
        base = ex.receiver(node)
        if base is not None:
            self._trace(base, depth, stored)
