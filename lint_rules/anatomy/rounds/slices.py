"""The backward slice of a loop: the expressions that a decision in it hangs on, and which of them the model's reply is.

A value is followed to what the loop puts in its place, with the tests that this stands under, and through functions of
this file to what they return.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.exits import Loop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, whole_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk, walk_scope

FILLERS = frozenset({"append", "extend", "add", "insert", "update", "appendleft", "set", "setdefault"})
"""Methods that put something into what they are called on."""
_REPLIES = (Kind.REPLY, Kind.CALLS, Kind.CALL, Kind.MESSAGE, Kind.MODEL_TEXT, Kind.ARGUMENTS, Kind.FUNCTION)
_MOST_PARTS = 400


class Slice:
    """What hangs together in one loop of `function`: `of` some expressions."""

    def __init__(self, anatomy: Anatomy, node: Loop, function: Scope) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.node = node
        self.function = function

    def of(self, parts: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """The expressions that a decision hangs on, itself first."""
        queue = list(parts)
        seen: set[int] = set()
        slots: set[object] = set()
        while queue and len(seen) < _MOST_PARTS:
            part = queue.pop(0)
            if id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            for node in self.without_requests(part):
                if (ran := self._ran(node)) is not None and ran not in slots:
                    slots.add(ran)
                    queue.extend(self._returned(ran))
                if type(node) is cst.Name or type(node) is cst.Attribute or type(node) is cst.Subscript:
                    slot = self.facts.slots.of(node)
                    if slot is not None and slot not in slots:
                        slots.add(slot)
                        queue.extend(self._sources.get(slot, ()))

    def _ran(self, node: cst.CSTNode) -> Scope | None:
        """The function of this file that gives the value of a call, or of a property that is read."""
        slots = self.facts.slots
        return (
            slots.callee(node)
            if type(node) is cst.Call
            else slots.getter(node)
            if type(node) is cst.Attribute
            else None
        )

    def truths(self, tested: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """The expressions whose truth decides a test: its operands, what flags are set to, what functions return."""
        queue = list(tested)
        seen: set[object] = set()
        while queue and len(seen) < _MOST_PARTS:
            part = queue.pop(0)
            if id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            if isinstance(part, (cst.Await, cst.UnaryOperation)):
                queue.append(part.expression)
            elif isinstance(part, cst.BooleanOperation):
                queue += [part.left, part.right]
            elif isinstance(part, cst.NamedExpr):
                queue.append(part.value)
            elif isinstance(part, cst.Call) and ex.dotted(part.func) == "isinstance":
                queue += [arg.value for arg in part.args[:1]]
            elif (ran := self._ran(part)) is not None:
                queue += self._returned(ran)
            elif isinstance(part, (cst.Name, cst.Attribute)):
                queue += self._flags.get(self.facts.slots.of(part), ())

    @cached_property
    def _flags(self) -> dict[Slot | None, list[cst.CSTNode]]:
        """What the loop assigns to names and attributes, each with the tests it stands under."""
        found: defaultdict[Slot | None, list[cst.CSTNode]] = defaultdict(list)
        for function, node in self.run():
            for target, value in _bindings(node) if isinstance(node, cst.Assign) else ():
                if (slot := self.facts.slots.of(target)) is not None:
                    found[slot] += [value, *self.tests(node, function)]
        return found

    def without_requests(self, part: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes of an expression without what a request is made of: the reply is the model's, whatever is sent."""
        skipped: set[cst.CSTNode] = set()
        for node in walk(part):
            if node in skipped or self.module.parent.get(node) in skipped:
                skipped.add(node)
                continue
            yield node
            if type(node) is cst.Call and self.anatomy.calls.asks(node):
                skipped.update((node.func, *node.args))

    def run(self) -> Iterator[tuple[Scope, cst.CSTNode]]:
        """The nodes that a round may run, in the loop and in the functions of this file that it calls."""
        yield from ((self.function, node) for node in walk_scope(self.node.body))
        for function in self.called:
            yield from ((function, node) for node in function.nodes)

    @cached_property
    def called(self) -> set[Scope]:
        """The functions of this file that the loop may run."""
        found: set[Scope] = set()
        for call in self.anatomy.calls.calls_within(self.node, self.function):
            callee = self.facts.slots.callee(call)
            if callee is not None and callee not in found:
                found |= self.anatomy.calls.reachable(callee)
        return found

    def tests(self, node: cst.CSTNode, function: Scope) -> Iterator[cst.CSTNode]:
        """The tests that `node` stands under, inside the loop or a called function."""
        for outer in self.module.ancestors(node):
            if outer is self.node or outer is function.node:
                return
            if type(outer) is cst.If or type(outer) is cst.While:
                yield outer.test
            elif type(outer) is cst.For:
                yield outer.iter
            elif type(outer) is cst.Match:
                yield outer.subject

    @cached_property
    def _sources(self) -> dict[Slot, list[cst.CSTNode]]:
        """What the loop puts into slots, and into parts of what they hold, each with the tests it stands under."""
        found: defaultdict[Slot, list[cst.CSTNode]] = defaultdict(list)
        for function, node in self.run():
            for target, value in _bindings(node):
                slot = self.facts.slots.of(target)
                if slot is not None and not self._is_overwritten(node, target, function):
                    for whole in whole_of(slot) if slot[0] in {"member", "item"} else (slot,):
                        found[whole] += [value, *self.tests(node, function)]
        return found

    def _is_overwritten(self, node: cst.CSTNode, target: cst.BaseExpression, function: Scope) -> bool:
        """Whether nobody reads what a statement binds, as something else is bound before: nothing hangs on it."""
        if not isinstance(node, cst.Assign) or not isinstance(target, cst.Name) or function is not self.function:
            return False
        if function.nodes_of(cst.FunctionDef):
            return False  # who may read it, too
        queue = [*self.anatomy.flow(function).at(node)]
        seen = set(queue)
        while queue:
            for point, kind in queue.pop().successors:
                if kind == "exception" or point in seen:
                    continue
                seen.add(point)
                if _reads(point, target.value) or point.statement is None:
                    return False
                if not _binds(point, target.value):
                    queue.append(point)
        return True

    def _returned(self, function: Scope) -> Iterator[cst.CSTNode]:
        for node in function.nodes_of(cst.Return):
            if node.value is not None:
                yield node.value
                yield from self.tests(node, function)

    # -- the model's word -------------------------------------------------------------------------------------

    def hold_reply(self, parts: Iterable[cst.CSTNode]) -> bool:
        """Whether the model's reply is in one of these expressions."""
        return any(self._is_reply(node) for part in parts for node in walk(part))

    def _is_reply(self, node: cst.CSTNode) -> bool:
        """Whether a value is the model's reply, or made of one."""
        if isinstance(node, cst.Call):
            if self.anatomy.calls.asks(node):
                return True
        elif not isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
            return False
        if any(kind in self.facts.kinds(node) for kind in _REPLIES):
            return True
        return isinstance(node, cst.Name) and self.facts.slots.of(node) in self._collectors

    @cached_property
    def _collectors(self) -> set[Slot | None]:
        """Objects that a round makes and hands the reply to, or pieces of it, as called functions name them, too."""
        found: set[Slot | None] = set()
        for function, node in self.run():
            if type(node) is cst.Call and function is self.function:
                slot = self.facts.slots.of(base) if (base := ex.receiver(node)) is not None else None
                if slot is not None and slot[0] == "var" and self._is_made_here(slot):
                    given = self.of([arg.value for arg in node.args])
                    if any(Kind.REPLY in self.facts.kinds(inside) for inside in _values(given)):
                        found.add(slot)
        calls = [node for _, node in self.run() if isinstance(node, cst.Call)] if found else []
        for call in calls:
            callee = self.facts.slots.callee(call)
            for slot, value in self.facts.slots.bindings(call, callee) if callee is not None else ():
                if self.facts.slots.of(value) in found:
                    found.add(slot)
        return found

    def _is_made_here(self, slot: Slot) -> bool:
        """Whether all that a variable holds are new objects of the loop: `parser = StreamParser()`."""
        values = self.facts.assigned(slot)
        return bool(values) and all(
            isinstance(value, cst.Call)
            and ex.called_name(value)[:1].isupper()
            and self.module.inside(value, self.node.body)
            for value in values
        )


def _values(parts: Iterable[cst.CSTNode]) -> Iterator[cst.BaseExpression]:
    """The names, members and calls in some expressions."""
    for part in parts:
        for node in walk(part):
            if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
                yield node


def _bindings(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """What a statement or call puts where: targets with values, the filled with what fills it."""
    if type(node) is cst.Assign:
        for target in node.targets:
            yield from ((part, node.value) for part in _flat(target.target))
    elif type(node) is cst.AnnAssign or type(node) is cst.AugAssign or type(node) is cst.NamedExpr:
        if node.value is not None:
            yield node.target, node.value
    elif type(node) is cst.For:
        yield from ((part, node.iter) for part in _flat(node.target))
    elif type(node) is cst.WithItem:
        if node.asname is not None:
            yield from ((part, node.item) for part in _flat(node.asname.name))
    elif type(node) is cst.Call and ex.called_name(node) in FILLERS:
        base = ex.receiver(node)
        if base is not None:
            yield from ((base, arg.value) for arg in node.args[-1:])
            if not node.args:
                yield base, base


def _flat(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _flat(element.value)
    else:
        yield target


def _reads(point: Point, name: str) -> bool:
    """Whether a point may read a name."""
    return mentions({name}, *(part.value if isinstance(part, cst.Assign) else part for part in point.expressions()))


def _binds(point: Point, name: str) -> bool:
    node = point.statement
    return isinstance(node, cst.Assign) and any(
        isinstance(target.target, cst.Name) and target.target.value == name for target in node.targets
    )
