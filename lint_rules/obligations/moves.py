"""Lists whose messages a function puts into another list or store: all at once, or one after the other in a loop.

`history.extend(turn)`, `history += turn`, `for message in turn: history.append(message)`, `thread.add_many(turn)`.
What a list holds, and of which other one it holds everything, is read from what it is made of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.turns.keepers import role
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, whole_of
from lint_rules.obligations.again import Again
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

_ADDING = re.compile(r"^_?a?(add|append|extend|insert|push|record|remember)(_|$|s$)")
"""Verbs that add to what is there, for stores whose class is not at hand: to save, set or write may replace it."""
_REPLACING = re.compile(r"clear|reset|delete|remove|replace|truncate|overwrite|pop|set_|start|begin|new_|create")


@record
class Move:
    """`node` puts the messages of `source` into the list or store in `target`; `each`: one by one, in that loop.

    `key` is the rest of what a store is told: `store.add(thread_id, turn)`.
    """

    node: cst.CSTNode
    source: cst.BaseExpression
    target: Slot
    each: cst.For | None
    key: tuple[str, ...] = ()


class Moves:
    """The moves of one function, whose ways are `again`."""

    def __init__(self, again: Again) -> None:
        self.again = again
        self.anatomy = again.anatomy
        self.facts = again.anatomy.facts
        self.function = again.function

    def all(self) -> Iterator[Move]:
        """In source order."""
        seen: set[cst.CSTNode] = set()
        for stored in self.anatomy.transcript.stored(self.function):
            if stored.slot is not None and stored.node not in seen and self.again.grows(stored):
                move = self._of_write(stored, stored.slot)
                if move is not None:
                    seen.add(stored.node)
                    yield move
        for call in self.function.nodes_of(cst.Call):
            move = self._of_store(call) if call not in seen else None
            if move is not None:
                yield move

    def _of_write(self, stored: Stored, target: Slot) -> Move | None:
        value = self._given(stored)
        if value is None:
            return None
        if stored.kind == "extend":
            return Move(stored.node, value, target, None)
        loop = self._loop_over(value, stored.node)
        return Move(stored.node, loop.iter, target, loop) if loop is not None else None

    def _given(self, stored: Stored) -> cst.BaseExpression | None:
        """What a write gets, in terms of this function: in a helper, the argument for its parameter, or what its object
        has."""
        write = stored.write
        if write is None or write.value is None or write.node is stored.node:
            return write.value if write is not None else None
        callee = self.facts.slots.callee(stored.node)
        if callee is None or not isinstance(stored.node, cst.Call) or write.function is not callee:
            return None
        given = dict(self.facts.slots.bindings(stored.node, callee))
        slot = self.facts.slots.of(write.value)
        if slot is None:
            return None
        return write.value if slot[0] == "attr" else given.get(slot)

    def _loop_over(self, value: cst.BaseExpression, node: cst.CSTNode) -> cst.For | None:
        """The loop whose element a value is: `for m in turn: history.append(m)`, with no choice between them."""
        if not isinstance(value, cst.Name):
            return None
        for outer in self.anatomy.module.ancestors(node):
            if isinstance(outer, cst.For):
                return outer if value.value in ex.target_names(outer.target) else None
            if isinstance(outer, cst.FunctionDef) or (isinstance(outer, cst.If) and not _asks_for_type(outer.test)):
                return None
        return None

    def _of_store(self, call: cst.Call) -> Move | None:
        """A method that adds messages to what its object keeps: known by its body, or by its verb alone."""
        base = ex.receiver(call)
        target = self.facts.slots.of(base)
        if target is None or not call.args:
            return None
        loop = next((found for arg in call.args if (found := self._loop_over(_whole(arg.value), call))), None)
        own = [arg for arg in call.args if loop is None or is_apart(arg.value, loop)]
        source, key = (loop.iter, own) if loop is not None else (call.args[-1].value, call.args[:-1])
        said = (
            {pair[1] for arg in call.args if (pair := ex.member(arg.value)) is not None} if loop is not None else set()
        )
        if not (self.facts.is_kind(source, Kind.HISTORY) or {"role", "content"} <= said) or not self._adds(
            call, target
        ):
            return None
        return Move(call, source, target, loop, tuple(ex.source(arg.value, 80) for arg in key))

    def _adds(self, call: cst.Call, target: Slot) -> bool:
        own = ("var", self.function, self.anatomy.module.self_name(self.function))
        if target == own or self.anatomy.calls.asks(call) or self._is_own_list(target):
            return False  # a method of this object that a base class of another file has may do anything
        done = role(self.anatomy, call)
        return done == "grow" or (done is None and _ADDING.match(ex.called_name(call)) is not None)

    def _is_own_list(self, slot: Slot) -> bool:
        made = self.facts.assigned(slot)
        return bool(made) and all(isinstance(ex.inner(v), (cst.List, cst.ListComp, cst.Set, cst.Dict)) for v in made)

    # -- what a list holds ------------------------------------------------------------------------------------

    def loaded(self, move: Move) -> cst.BaseExpression | None:
        """Where the list that is moved got what its target held; None where it did not."""
        return self._loaded(move.source, move, 0)

    def _loaded(self, value: cst.BaseExpression, move: Move, depth: int) -> cst.BaseExpression | None:
        value = ex.inner(value)
        cut = ex.slice_of(value)
        if depth > DEEPEST or (cut is not None and (cut.lower is not None or cut.upper is not None)):
            return None
        if self.facts.slots.of(value) == move.target and depth:
            return value
        if isinstance(value, cst.Call) and self._reads(value, move, depth):
            return value
        if isinstance(value, cst.Name):
            parts = self._given_to(value)
        elif self._is_of_object(value, move):
            parts = self.facts.values_of(value)
        elif isinstance(value, cst.BooleanOperation):
            parts = list(ex.alternatives(value))
        else:
            parts = sources(value)
        return next((found for part in parts if (found := self._loaded(part, move, depth + 1)) is not None), None)

    def _is_of_object(self, value: cst.BaseExpression, move: Move) -> bool:
        """Whether the list lives in the object that has the target, and is never another but loaded, or empty."""
        base = ex.receiver(move.node) if isinstance(move.node, cst.Call) else None
        if not isinstance(value, cst.Attribute) or ex.dotted(value.value) != ex.dotted(ex.owner(base or value)):
            return False
        made = (ex.inner(each) for each in self.facts.values_of(value))
        return all(isinstance(each, cst.Call) or (isinstance(each, cst.List) and not each.elements) for each in made)

    def _given_to(self, name: cst.Name) -> list[cst.BaseExpression]:
        """What a list in a local name was made of, and what was added to it as a whole."""
        bound = self.anatomy.definitions(name)
        found = [d.value for d in bound if d.value is not None and d.kind in {"assign", "augmented"}]
        slot = self.facts.slots.of(name)
        for stored in self.anatomy.transcript.stored(self.function):
            if stored.slot == slot and stored.kind == "extend" and stored.write is not None:
                if stored.write.node is stored.node and stored.write.value is not None:
                    found.append(stored.write.value)
        return found

    def _reads(self, call: cst.Call, move: Move, depth: int) -> bool:
        """Whether a method gives what the target of a move holds, or a function has loaded it from there."""
        callee = self.facts.slots.callee(call)
        if callee is not None:
            there = Moves(Again(self.anatomy, callee))
            bound = self.facts.slots.bindings(call, callee)
            handed = [replace(move, target=slot) for slot, value in bound if self.facts.slots.of(value) == move.target]
            return self._gives(callee, move.target) or any(
                there._loaded(value, each, depth + 1) is not None for each in handed for value in callee.returned
            )
        keeper = self.facts.slots.of(ex.receiver(call))
        is_part = keeper != move.target  # `thread.log.rows` of what `thread.read()` gives
        if keeper is None or self._takes(call) or keeper not in whole_of(move.target):
            return False
        given = call.args[: len(move.key)]
        if len(given) < len(move.key) or any(
            k not in self._names(a.value) for k, a in zip(move.key, given, strict=True)
        ):
            return False
        if any(self.facts.is_kind(arg.value, kind) for arg in call.args for kind in (Kind.HISTORY, Kind.MESSAGE)):
            return False
        done = role(self.anatomy, call)
        return done == "read" or (done is None and not is_part and self.anatomy.kept_elsewhere.gives_history(call))

    def _names(self, value: cst.BaseExpression) -> set[str]:
        """How a value is written where it is told, and in the places that get it there: `self.key = key`."""
        function, said = self.anatomy.module.scope_of[value].function, ex.source(value, 80)
        lines = (line for line in function.nodes_of(cst.Assign) if ex.source(line.value, 80) == said)
        return {said, *(ex.source(target, 80) for line in lines for target in ex.targets(line))}

    @staticmethod
    def _takes(call: cst.Call) -> bool:
        return ex.called_name(call).startswith(("pop", "take", "drain", "new"))

    def replacing(self, owner: Slot) -> set[cst.CSTNode]:
        """Calls of the object's methods after which it may hold something else."""
        return {*filter(self.replaces(owner), self.function.nodes_of(cst.Call))}

    def replaces(self, owner: Slot) -> Callable[[cst.Call], bool]:
        """Whether a call is one of these."""
        slots = self.facts.slots
        return lambda call: (
            slots.of(ex.receiver(call)) == owner
            and (_REPLACING.search(ex.called_name(call)) is not None or role(self.anatomy, call) == "rewrite")
        )

    def _gives(self, callee: Scope, owner: Slot) -> bool:
        """Whether a function of this file gives back a list, or a copy of all of it."""
        returned = [ex.inner(value) for value in callee.returned]
        slots = self.facts.slots
        return bool(returned) and all(
            any(slots.of(part) == owner for part in (value, *sources(value))) and ex.slice_of(value) is None
            for value in returned
        )


def _whole(value: cst.BaseExpression) -> cst.BaseExpression:
    """The message of which a value is a part: `m` of `m["role"]` and `m.get("content", "")`."""
    pair = ex.member(value)
    return pair[0] if pair is not None else value


def is_apart(value: cst.BaseExpression, loop: cst.For) -> bool:
    """Whether a value is the same for all that a loop goes through."""
    return names_in(value).isdisjoint(ex.target_names(loop.target))


def _asks_for_type(test: cst.BaseExpression) -> bool:
    """`isinstance(message, dict)`: no choice of some of the messages."""
    return isinstance(test, cst.Call) and ex.dotted(test.func) == "isinstance"
