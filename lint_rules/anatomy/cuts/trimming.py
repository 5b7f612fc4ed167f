"""Histories that lose their front by position: which list, how, and where what is left goes.

A cut tells nothing by itself: most slices of a history are read, rendered as text, or take what a turn has added. A
trim is a cut whose rest is stored as the history, sent to a model, or given back to a caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import Cut, compares_size
from lint_rules.anatomy.cuts.fates import Fate, Fates, Place
from lint_rules.anatomy.messages.contents import Proof
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.constants import constant
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class Trim:
    """A cut of a history. `proof` says why it is one, `at` is where what is left is stored, sent or returned."""

    cut: Cut
    proof: Proof
    fate: Fate
    at: cst.CSTNode

    @property
    def node(self) -> cst.CSTNode:
        return self.cut.node

    @property
    def function(self) -> Scope:
        return self.cut.function


class Trimming:
    """The trims of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.contents = anatomy.contents
        self.fates = Fates(anatomy)

    @cached_property
    def trims(self) -> list[Trim]:
        """All of them, in source order."""
        return list(self._find())

    def _find(self) -> Iterator[Trim]:
        for cut in self.anatomy.cuts:
            if not self._counts(cut) or self._front_is_kept(cut):
                continue
            proof = self.contents.history(cut.base)
            if proof is None:
                continue
            found = self._fate(cut)
            if found is not None and not (found[0] == "returned" and self.anatomy.is_left_alone(cut.function)):
                yield Trim(cut, proof, *found)

    # -- is it a trim? ----------------------------------------------------------------------------------------

    def _counts(self, cut: Cut) -> bool:
        """Whether the cut makes room: not a marker of where a turn began, nor the one element taken off the front."""
        if cut.shape == "picked":
            return True
        if cut.shape == "shift":
            return self._makes_room(cut.node)
        if cut.shape in {"rest", "front"}:
            size = cut.size
            number = constant(self.anatomy, size)
            if number is not None:
                return (number > 1 + cut.head and self._makes_room(cut.node)) or self._in_loop(cut.node)
            return size is not None and (self._is_counted(size, cut.function) or self._drops_for_room(cut))
        number = constant(self.anatomy, cut.size)
        return number > 1 if number is not None else not self._counts_what_it_put(cut)

    def _drops_for_room(self, cut: Cut) -> bool:
        """`del h[: self.drop]` where there is too much."""
        return cut.shape == "front" and self._makes_room(cut.node)

    def _counts_what_it_put(self, cut: Cut) -> bool:
        """`new = 0`, `new += 1; h.append(m)`, `return h[-new:]`: what the function has put there, and no more."""
        size, base = (self.facts.slots.of(node) for node in (cut.size, cut.base))
        if size is None or base is None or any(ex.integer(value) != 0 for value in self.facts.assigned(size)):
            return False
        more = [node for node in cut.function.nodes_of(cst.AugAssign) if self.facts.slots.of(node.target) == size]
        put = [self._block(write.node) for write in self.anatomy.writes.by_slot.get(base, ()) if write.kind in GROWING]
        return bool(more) and all(self._block(node) in put for node in more)

    def _block(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return next((outer for outer in self.module.ancestors(node) if isinstance(outer, cst.BaseSuite)), None)

    def _front_is_kept(self, cut: Cut) -> bool:
        """`older + h[-n:]`, where `older` has one message for each of `h[:-n]`: nothing is left out."""
        whole = self.module.parent.get(cut.node)
        if not isinstance(whole, cst.BinaryOperation) or whole.right is not cut.node or cut.size is None:
            return False
        slot = self.facts.slots.of(whole.left)
        made = [whole.left, *self.facts.assigned(slot)]
        if any(isinstance(v, cst.ListComp) and not v.for_in.ifs and self._is_front(v.for_in.iter, cut) for v in made):
            return True
        for put in self.facts.put(slot) if slot is not None else ():
            block = self.module.parent.get(self.module.parent[self.module.statement(put)])
            loop = self.module.parent.get(block) if block is not None else None
            if isinstance(loop, cst.For) and self._is_front(loop.iter, cut):
                return True
        return False

    def _is_front(self, node: cst.BaseExpression, cut: Cut) -> bool:
        """`h[:-n]` for a cut to `h[-n:]`."""
        part = ex.slice_of(node)
        if part is None or part.lower is not None or not isinstance(part.upper, cst.UnaryOperation):
            return False
        assert isinstance(node, cst.Subscript)
        assert cut.size is not None
        same = ex.source(part.upper.expression) == ex.source(cut.size)
        return same and ex.source(node.value) == ex.source(cut.base)

    def _makes_room(self, node: cst.CSTNode) -> bool:
        """Whether it runs because something has grown too large: `if len(h) > n`, `for _ in range(len(h) - n)`."""
        function = self.module.scope_of[node].function
        for outer in self.module.ancestors(node):
            if isinstance(outer, (cst.If, cst.While)) and compares_size(outer.test):
                return True
            if isinstance(outer, cst.While) and any(
                isinstance(n, cst.If) and compares_size(n.test) for n in walk(outer.body)
            ):
                return True
            rounds = outer.test if isinstance(outer, cst.While) else outer.iter if isinstance(outer, cst.For) else None
            if isinstance(outer, cst.ListComp):
                rounds = outer.for_in.iter
            if rounds is not None and self._is_counted(rounds, function):
                return True
            if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
                break
        return self._is_run_for_room(function)

    @once(circular=False)
    def _is_run_for_room(self, function: Scope) -> bool:
        """Whether a function is run only because something has grown too large."""
        sites = self.anatomy.calls.sites[function] if function.kind == "function" else []
        return bool(sites) and all(self._makes_room(site.node) for site in sites)

    def _in_loop(self, node: cst.CSTNode) -> bool:
        for outer in self.module.ancestors(node):
            if isinstance(outer, cst.While):
                return self._makes_room(node)
            if isinstance(outer, (cst.FunctionDef, cst.For)):
                return False
        return False

    def _is_counted(self, size: cst.BaseExpression, function: Scope) -> bool:
        """Whether a position is worked out from the length of the list: `len(h) - n`, `len(h) // 2`, a budget."""
        arithmetic = lengths = False
        for value in self.made_of(size, function):
            for node in walk(value):
                arithmetic = arithmetic or isinstance(node, cst.BinaryOperation)
                if isinstance(node, cst.Call) and ex.dotted(node.func) == "len" and node.args:
                    lengths = lengths or self.contents.history(node.args[0].value) is not None
        return (arithmetic and lengths) or self._is_spent(size, function)

    def _is_spent(self, size: cst.BaseExpression, function: Scope) -> bool:
        """Whether a position is where a loop over the history ran out of its budget, here or in who gives it."""
        made = self.made_of(size, function)
        calls = (node for value in made for node in walk(value) if isinstance(node, cst.Call))
        helpers = [callee for call in calls if (callee := self.facts.slots.callee(call)) is not None]
        given = ((f, f.returned) for f in helpers)
        return any(_runs_out(function, values) for function, values in ((function, made), *given))

    def made_of(self, node: cst.BaseExpression, function: Scope) -> list[cst.BaseExpression]:
        """An expression, and what the local names and attributes in it are bound to, or go through, transitively."""
        found = [node]
        seen: set[Slot] = set()
        for value in found:
            for part in walk(value):
                if isinstance(part, (cst.Name, cst.Attribute)):
                    slot = self.facts.slots.of(part)
                    if slot is not None and slot not in seen and len(seen) < 20:
                        seen.add(slot)
                        if slot[0] == "var" and slot[1] is function:
                            found.extend((*self.facts.assigned(slot), *self.facts.gone_through(slot)))
                            found.extend(
                                n.value
                                for n in function.nodes_of(cst.AugAssign)
                                if self.facts.slots.of(n.target) == slot
                            )
        return found

    # -- where does it go? ------------------------------------------------------------------------------------

    def _fate(self, cut: Cut) -> Place | None:
        if cut.shape == "bounded":
            return "stored", cut.node
        if cut.shape in {"front", "shift"}:
            return self._changed_in_place(cut)
        if cut.into is not None:
            slot = self.facts.slots.of(cut.into)
            return self.fates.of_name(slot, cut.function) if slot is not None else None
        assert isinstance(cut.node, cst.BaseExpression)
        return self.fates.of(cut.node, cut.function)

    def _changed_in_place(self, cut: Cut) -> Place | None:
        """The list itself is changed: whoever holds it gets the rest. A copy of this function has to go somewhere."""
        if cut.shape == "shift" and isinstance(cut.node, cst.Call):
            used = self.module.parent[cut.node]
            if not isinstance(used, (cst.Expr, cst.IfExp, cst.ListComp)) and not self._is_dropped(used, cut):
                return None
        slot = self.facts.slots.of(cut.base)
        if slot is None:
            return None
        if slot[0] != "var" or slot[1] is not cut.function or slot[2] in parameter_names(cut.function):
            return "stored", cut.node
        return self.fates.of_name(slot, cut.function)

    def _is_dropped(self, used: cst.CSTNode, cut: Cut) -> bool:
        """`old = h.pop(0)` in a loop over a budget, where only the size of `old` matters."""
        return isinstance(used, cst.Assign) and self._in_loop(cut.node)


def _runs_out(function: Scope, values: list[cst.BaseExpression]) -> bool:
    """Whether a name in some values is that of a loop which compares how much it has gone through, or counts so."""
    names = names_in(*values)
    return any(
        names & set(ex.target_names(loop.target))
        and any(isinstance(n, cst.If) and compares_size(n.test) for n in walk(loop.body))
        for loop in function.nodes_of(cst.For)
    ) or any(
        _is_size(loop.test, names)
        and any(isinstance(n, cst.AugAssign) and ex.dotted(n.target) in names for n in walk(loop.body))
        for loop in function.nodes_of(cst.While)
    )


def _is_size(test: cst.BaseExpression, places: set[str]) -> bool:
    """`size(h[start:]) > limit`: not `start < len(h)`."""
    return any(
        isinstance(node, cst.Comparison)
        and compares_size(node)
        and places.isdisjoint({ex.dotted(node.left), *(ex.dotted(t.comparator) for t in node.comparisons)})
        for node in walk(test)
    )
