"""Guards against repeats and failures whose state outlives the turn: counters and last signatures on objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.call_parts import ARGUMENTS, Part
from lint_rules.anatomy.guards.guards import Guard, Guards
from lint_rules.anatomy.messages.growth import SETUPS
from lint_rules.anatomy.rounds.limits import Limits
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk

_ORDER = (cst.GreaterThan, cst.GreaterThanEqual, cst.LessThan, cst.LessThanEqual, cst.Equal, cst.NotEqual)
_WITH_VALUES = ARGUMENTS | {Part.WHOLE}


@record
class GuardState:
    """`node` changes `slot` in the rounds of `loop`, `test` decides by it."""

    how: Literal["counter", "signature", "seen"]
    node: cst.CSTNode
    slot: Slot
    test: cst.CSTNode
    loop: RoundLoop


class GuardStates:
    """Finds the state that no turn begins anew, one finding for each loop of rounds."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.graph = anatomy.calls

    def all(self) -> Iterator[GuardState]:
        told: set[Slot] = set()
        for loop in self.anatomy.rounds:
            region, serves = self._region(loop), self._serves_turns(loop.function)
            if not serves and not self._is_made_again(loop.function.owner):
                continue
            states = [*self._counters(loop, region), *self._signatures(loop, region)]
            states = [state for state in states if serves or self._is_of_all_objects(state.slot)]
            if states and told.isdisjoint(_owner(state.slot) for state in states):
                yield states[0]  # the count and what it counts are one guard
            told.update(_owner(state.slot) for state in states)

    # -- where the rounds are ---------------------------------------------------------------------------------

    def _region(self, loop: RoundLoop) -> set[Scope]:
        """The functions that the rounds run on the agent itself, without the one that holds the loop."""
        found: set[Scope] = set()
        queue = [
            site.callee
            for site in self.graph.calls[loop.function]
            if self.module.inside(site.node, loop.node) and not self._is_own(site.node, loop.function)
        ]
        while queue:
            here = queue.pop()
            if here not in found and here is not loop.function:
                found.add(here)
                queue += [s.callee for s in self.graph.calls[here] if not self._is_own(s.node, here)]
        return found

    def _is_own(self, call: cst.Call, function: Scope) -> bool:
        """A call on an object that the function has made: `guard = Guard()` for each turn."""
        base = ex.receiver(call)
        slot = self.facts.slots.of_name(base)
        if slot is None or slot[0] != "var" or slot[1] is not function:
            return False
        return any(isinstance(value, cst.Call) for value in self.facts.assigned(slot))

    def _in_rounds(self, node: cst.CSTNode, loop: RoundLoop, region: set[Scope]) -> bool:
        where = self.module.scope_of[node].function
        return where in region or (where is loop.function and self.module.inside(node, loop.node.body))

    def _serves_turns(self, function: Scope) -> bool:
        """Not a program that runs once: a method, or a function that handlers or loops call."""
        if function.kind != "function":
            return False
        if function.owner is not None:
            return not (
                self._is_made_for_each_run(function.owner) or Lasting(self.anatomy).ends_with_each_run(function)
            )
        served = self.graph.servings
        sites = self.graph.sites[function]
        return (not sites and bool(served)) or any(
            site.caller in served or self.module.loop_around(site.node, own=True) is not None for site in sites
        )

    def _is_made_for_each_run(self, cls: Scope) -> bool:
        """`Agent(...).run(task)`, or a local `agent = Agent(...)`, and nothing else in this file."""
        made = [n for n in self.module.nodes_of(cst.Call) if self.facts.slots.constructed(n) is cls]
        return bool(made) and all(self._is_for_one_run(node) for node in made)

    def _is_made_again(self, cls: Scope | None) -> bool:
        """Whether an agent is made for each of several turns, each of which runs only once."""
        made = [n for n in self.module.nodes_of(cst.Call) if cls is not None and self.facts.slots.constructed(n) is cls]
        served = self.graph.servings
        return any(self.module.scope_of[n].function in served or self.module.loop_around(n, own=True) for n in made)

    def _is_of_all_objects(self, slot: Slot) -> bool:
        """A global, or what the body of a class makes once for all of its objects."""
        owner = _owner(slot)
        made = [self.module.scope_of[value] for value in self.facts.assigned(owner)]
        return owner[0] == "var" or (owner == slot and bool(made) and all(scope.kind == "class" for scope in made))

    def _is_for_one_run(self, node: cst.Call) -> bool:
        parent = self.module.parent.get(node)
        if isinstance(parent, cst.Attribute):
            return True
        if not isinstance(parent, cst.Assign) or not all(isinstance(t.target, cst.Name) for t in parent.targets):
            return False
        return self.module.scope_of[node].function.kind == "function" and not self._is_used_again(parent)

    def _is_used_again(self, made: cst.Assign) -> bool:
        """Whether a loop uses what is made before it: `agent = Agent()`, `while True: agent.run(input())`."""
        slot = self.facts.slots.of(made.targets[0].target)
        loops = (self.module.loop_around(name, own=True) for name in self.facts.names.get(slot or (), ()))
        return any(loop is not None and not self.module.inside(made, loop) for loop in loops)

    # -- counters ---------------------------------------------------------------------------------------------

    def _counters(self, loop: RoundLoop, region: set[Scope]) -> Iterator[GuardState]:
        """`self.same += 1`, set back to 0 when a round is not like the last, and compared with a limit."""
        for node in self.module.nodes_of(cst.AugAssign):
            slot = self.facts.slots.of(node.target)
            by_one = isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign)) and ex.integer(node.value) == 1
            if slot is None or not _outlives(slot) or not by_one or not self._in_rounds(node, loop, region):
                continue
            test = self._compared(slot, loop, region)
            if test is None or not (self._is_set_back(node, slot) or self._bounds_turn(test, slot, loop, region)):
                if test is None or not self._counts_failures(node, test, slot, loop, region):
                    continue
            if not self._begun_anew(slot, loop, region):
                yield GuardState("counter", node, slot, test, loop)

    def _compared(self, slot: Slot, loop: RoundLoop, region: set[Scope]) -> cst.CSTNode | None:
        for node in self.module.nodes_of(cst.Comparison):
            inside = self._in_rounds(node, loop, region) or self.module.inside(node, loop.node)
            if inside and isinstance(node.comparisons[0].operator, _ORDER):
                sides = (node.left, node.comparisons[0].comparator)
                if any(self.facts.slots.of(side) == slot for side in sides):
                    return node
        return None

    def _bounds_turn(self, test: cst.CSTNode, slot: Slot, loop: RoundLoop, region: set[Scope]) -> bool:
        """Whether a test alone ends the rounds, as an answer does: with no error, nor by a total that others read."""
        decisions = Limits(self.anatomy, loop.node, loop.function).decisions
        ends = [decision.node for decision in decisions if decision.limit is test]
        if not ends or any(isinstance(end, cst.If) and _is_mixed_or_raises(end) for end in ends):
            return False
        return self._is_read_in_rounds(slot, loop, region)

    def _counts_failures(
        self, counted: cst.CSTNode, test: cst.CSTNode, slot: Slot, loop: RoundLoop, region: set[Scope]
    ) -> bool:
        """Whether errors of tools are counted, and a test of it answers for one, with no error."""
        around = next((outer for outer in self.module.ancestors(test) if isinstance(outer, cst.If)), None)
        decides = around is not None and self.module.inside(test, around.test) and not _is_mixed_or_raises(around)
        return decides and self.module.in_handler(counted) and self._is_read_in_rounds(slot, loop, region)

    def _is_read_in_rounds(self, slot: Slot, loop: RoundLoop, region: set[Scope]) -> bool:
        places = (node for node in self.module.nodes_of(cst.Attribute, cst.Name) if self.facts.slots.of(node) == slot)
        reads = (node for node in places if not isinstance(self.module.parent[node], cst.AssignTarget))
        return all(self.module.scope_of[node].function in {*region, loop.function} for node in reads)

    def _is_set_back(self, counted: cst.AugAssign, slot: Slot) -> bool:
        """Whether the other outcome sets it back: of one round, either the one or the other runs. Not a day's quota."""
        function = self.module.scope_of[counted].function
        flow, parent = self.anatomy.flow(function), self.module.parent
        heads = {point for node in function.nodes if isinstance(node, (cst.For, cst.While)) for point in flow.at(node)}
        here = flow.enclosing(counted, parent)
        for node in self._assigned(slot):
            if ex.integer(node.value) in {0, 1} and self.module.scope_of[node].function is function:
                there = flow.enclosing(node, parent)
                if not flow.reaches(here, there, heads) and not flow.reaches(there, here, heads):
                    return True
        return False

    def _assigned(self, slot: Slot) -> Iterator[cst.Assign]:
        for node in self.module.nodes_of(cst.Assign):
            if any(self.facts.slots.of(target.target) == slot for target in node.targets):
                yield node

    # -- signatures -------------------------------------------------------------------------------------------

    def _signatures(self, loop: RoundLoop, region: set[Scope]) -> Iterator[GuardState]:
        """A comparison with the last call, or with all there ever were, that is kept on the object."""
        for guard in Guards(self.graph).all:
            if not self._in_rounds(guard.node, loop, region):
                continue
            for slot in guard.slots:
                change = self._kept(guard, slot, loop, region) if _outlives(slot) else None
                if change is not None and not self._begun_anew(slot, loop, region):
                    how: Literal["signature", "seen"] = "signature" if guard.how == "equal" else "seen"
                    yield GuardState(how, change, slot, guard.node, loop)

    def _kept(self, guard: Guard, slot: Slot, loop: RoundLoop, region: set[Scope]) -> cst.CSTNode | None:
        """Where the rounds store a signature: an assignment, `seen.add(key)`, `counts[key] += 1`, `seen[key] = True`.

        A dict of results is a cache, and who else is asked for in a key has a state of its own.
        """
        if guard.how == "equal":
            return next((node for node in self._assigned(slot) if self._in_rounds(node, loop, region)), None)
        if self._is_for_one_of_many(guard):
            return None
        for node in self.module.nodes_of(cst.Assign, cst.AugAssign):
            target = ex.targets(node)[0]
            if isinstance(target, cst.Subscript) and self.facts.slots.of(target.value) == slot and _marks(node.value):
                if self._in_rounds(node, loop, region) and guard.parts & _WITH_VALUES:
                    return node
        for call in self.module.nodes_of(cst.Call):
            base = ex.receiver(call)
            if base is not None and ex.called_name(call) in {"add", "append"} and self.facts.slots.of(base) == slot:
                if self._in_rounds(call, loop, region) and not self._is_granted(call):
                    return call
        return None

    def _is_for_one_of_many(self, guard: Guard) -> bool:
        """Whether a key says more than what is called: `(chat_id, name, args)`."""
        signatures = self.anatomy.guards.signatures
        for value in self.facts.values_of(guard.key_node) or [guard.key_node]:
            parts = (e.value for node in walk(value) if isinstance(node, (cst.Tuple, cst.List)) for e in node.elements)
            filled = (node.expression for node in walk(value) if isinstance(node, cst.FormattedStringExpression))
            for part in (*parts, *filled):
                if isinstance(part, (cst.Name, cst.Attribute)) and not signatures.of(part).made:
                    return True
        return False

    def _is_granted(self, node: cst.Call) -> bool:
        """Whether something is put there since words say so: `if answer == "always": ...`."""
        function = self.module.scope_of[node].function
        for tested, _ in conditions.passed(self.module, node, function.node):
            test = tested.test if isinstance(tested, (cst.If, cst.IfExp)) else None
            for part in walk(test) if test is not None else ():
                if isinstance(part, cst.Comparison) and self._says_words(ex.compared(part)[2]):
                    return True
        return False

    def _says_words(self, node: cst.BaseExpression) -> bool:
        parts = node.elements if isinstance(node, (cst.Tuple, cst.List, cst.Set)) else ()
        return ex.text(node) is not None or (bool(parts) and all(ex.text(part.value) is not None for part in parts))

    # -- begun anew -------------------------------------------------------------------------------------------

    def _begun_anew(self, slot: Slot, loop: RoundLoop, region: set[Scope]) -> bool:
        """Whether anything outside the rounds and `__init__` sets the state, or its holder, or empties it.

        What empties the history, too, begins another conversation, and no turn.
        """
        slots = set(_prefixes(slot))
        for node in self.module.nodes_of(cst.Assign, cst.AnnAssign, cst.Call):
            where = self.module.scope_of[node].function
            if where.kind != "function" or where.name in SETUPS or self._in_rounds(node, loop, region):
                continue
            if self._begins_talk(where, loop):
                continue
            targets: list[cst.BaseExpression] = []
            if isinstance(node, cst.Assign):
                targets = [part for target in node.targets for part in ex.bound_places(target.target)]
            elif isinstance(node, cst.AnnAssign):
                targets = [node.target]
            elif isinstance(node, cst.Call) and (ex.called_name(node) == "clear" or self._may_begin_anew(node)):
                base = ex.receiver(node)
                targets = [base] if base is not None else []
            if any(self.facts.slots.of(target) in slots for target in targets):
                return True
            if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and slot[0] == "attr":
                holder = isinstance(node.targets[0].target, cst.Attribute)  # `self.guard = Guard()`
                if (
                    (holder or where is loop.function)
                    and self.facts.slots.constructed(node.value) is slot[1]
                    and not self._is_of_all_objects(slot)
                ):
                    return True
        return self._by_base_class(slot, loop)

    def _may_begin_anew(self, call: cst.Call) -> bool:
        """`self.guard.start()`: a call for its own sake, of what nobody here can read."""
        return not call.args and self.facts.slots.callee(call) is None and self.module.is_statement(call)

    def _begins_talk(self, function: Scope, loop: RoundLoop) -> bool:
        known = self.facts.calls.get(loop.asks)
        history = self.facts.slots.of(known.history) if known is not None and known.history is not None else None
        if history is None or history[0] != "attr" or function is loop.function:
            return False
        writes = self.anatomy.writes.by_function[function]
        return any(write.slot == history and write.kind in {"cut", "rebind", "replace"} for write in writes)

    def _by_base_class(self, slot: Slot, loop: RoundLoop) -> bool:
        """Whether a base class of another file sets the attribute in a method that is no part of the rounds there."""
        owner = _owner(slot)
        if owner[0] != "attr" or loop.function.owner is None:
            return False
        for base in ex.bases(loop.function.owner.node):
            found = self.anatomy.imported_class(base.value) if type(base) is cst.Name else None
            for method in found[1].methods.values() if found is not None else ():
                if method.name in SETUPS or method.name.startswith("_"):
                    continue
                for write in method.nodes:
                    if isinstance(write, cst.Assign) and isinstance(target := write.targets[0].target, cst.Attribute):
                        if target.attr.value == owner[2]:
                            return True
        return False


def _is_mixed_or_raises(end: cst.If) -> bool:
    return isinstance(ex.inner(end.test), cst.BooleanOperation) or bool(nodes_below(end.body, cst.Raise))


def _marks(value: cst.BaseExpression) -> bool:
    """`1`, `True`, `counts.get(key, 0) + 1`: what says that a key was there, or how often."""
    value = value.left if isinstance(value, cst.BinaryOperation) and ex.integer(value.right) == 1 else value
    asks = isinstance(value, cst.Call) and ex.called_name(value) == "get"
    return asks or ex.integer(value) is not None or ex.dotted(value) == "True"


def _prefixes(slot: Slot) -> Iterator[Slot]:
    """The slot, and what holds it: `self.repeats.count`, `self.repeats`."""
    yield slot
    while slot[0] == "member":
        slot = slot[1]
        yield slot


def _owner(slot: Slot) -> Slot:
    *_, last = _prefixes(slot)
    return last


def _outlives(slot: Slot) -> bool:
    """An attribute or a global, which no key picks."""
    owner = _owner(slot)
    return bool(owner[0] == "attr" or (owner[0] == "var" and owner[1].kind == "module"))
