"""Messages that are stored once more in each turn of a loop, or by each attempt of a function that is run again.

What is stored per turn is stored again when nothing in it belongs to that turn: in a loop over the tool calls of one
message, over the pieces of one reply, or over the attempts of one request.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator

import libcst as cst

from lint_rules.anatomy.calls.remaining_calls import one_call_known
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import retries
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.obligations.again import Loop
from lint_rules.rules.double_history_append.places import Double, How, Places
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import iterated
from lint_rules.syntax.graph import AnyOf, Point
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import decorators, parameters
from lint_rules.syntax.walk import walk


class Repeated:
    """The doubles among `places` that one place makes alone."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.anatomy = places.anatomy
        self.facts = places.facts
        self.module = places.module
        self.function = places.function
        self.again = places.again

    def all(self) -> Iterator[Double]:
        telling = [stored for stored in self.places.all if self.places.tells(stored)]
        judged: set[tuple[object, ...]] = set()
        for stored in telling:
            sameness = self._sameness(stored)
            if sameness not in judged:
                judged.add(sameness)
                yield from self._in_loops(stored)
        yield from itertools.islice((double for stored in telling for double in self._retried(stored)), 1)

    def _sameness(self, stored: Stored) -> tuple[object, ...]:
        """What decides whether a place stores its message again: a name may be made in many ways that are all alike."""
        slots = frozenset(self.places.depends(stored))
        return stored.node, stored.slot, stored.role, stored.calls is None, slots

    def _in_loops(self, stored: Stored) -> Iterator[Double]:
        below = stored.node
        for loop in self.module.ancestors(stored.node):
            if loop is self.function.node:
                return
            if isinstance(loop, (cst.For, cst.While)) and below is loop.body:
                how = self._repeats(stored, loop)
                if how is not None:
                    yield Double(how, stored, loop)
                    return
            below = loop

    def _repeats(self, stored: Stored, loop: Loop) -> How | None:
        if self.again.is_flagged(stored.node, stored.slot, loop):
            return None
        renewed = AnyOf(self.again.unstored(stored.slot), self.again.outside(loop))
        slots = self.places.depends(stored)
        if isinstance(loop, cst.For) and (self._is_over_calls(loop) or self._is_over_parts(loop, stored)):
            if self._of_reply(stored, loop, slots) and self._comes_back(stored, renewed | self.again.renewed(slots)):
                return None if self._one_call_known(loop) else How.PER_CALL
        elif isinstance(loop, cst.For) and self._is_stream(loop):
            if self._is_put_together(stored, loop, slots) and not self._is_conditional(stored, loop, slots):
                ended = self.again.renewed(slots, grown=False) | self.again.emptied(slots)
                if self._comes_back(stored, renewed | ended):
                    return How.PER_CHUNK
        if stored.role != "tool" and self._is_retry(stored, loop, renewed | self.again.renewed(slots)):
            return How.RETRY
        return None

    def _comes_back(self, stored: Stored, avoiding: Container[Point]) -> bool:
        return self.again.follows(stored.node, stored.node, avoiding)

    # -- the calls of one message -----------------------------------------------------------------------------

    def _is_over_calls(self, loop: cst.For) -> bool:
        if self.facts.is_kind(loop.iter, Kind.CALLS):
            return True
        targets = ex.several(loop.target)
        return any(self.facts.is_kind(target, Kind.CALL) for target in targets)

    def _is_over_parts(self, loop: cst.For, stored: Stored) -> bool:
        """Whether a loop goes over the parts of what is stored in it: `for part in said["content"]`."""
        listed = iterated(loop.iter)
        content = stored.message.content if stored.message is not None else None
        whole = {
            self.facts.slots.of(part) for part in (listed, *(ex.member(listed) or ())[:1]) if not isinstance(part, str)
        }
        return any(self.facts.slots.of(part) in whole - {None} for part in (self.places.value(stored), content))

    def _of_reply(self, stored: Stored, loop: cst.For, slots: set[Slot]) -> bool:
        """Whether it is the reply, or holds the results of all its calls: that of one call belongs to its turn."""
        if stored.role == "tool":
            return self._is_put_together(stored, loop, slots) or slots.isdisjoint(self._bound_in(loop))
        return stored.role == "assistant" or stored.calls is not None

    def _bound_in(self, loop: cst.For) -> Iterator[Slot | None]:
        """What the body of a loop gives values to, on some ways at least."""
        assigns = (node for node in walk(loop.body) if type(node) is cst.Assign)
        return (self.facts.slots.of(target) for node in assigns for target in ex.targets(node))

    def _one_call_known(self, loop: cst.For) -> bool:
        cut = ex.slice_of(loop.iter)
        if cut is not None and ex.integer(cut.upper) == 1:
            return True
        return one_call_known(self.anatomy, self.function, [loop.iter])

    # -- the pieces of one reply ------------------------------------------------------------------------------

    def _is_stream(self, loop: cst.For) -> bool:
        """Whether a loop reads the pieces of one reply."""
        return self.facts.is_kind(loop.iter, Kind.REPLY) or (
            isinstance(loop.target, cst.Name) and self.facts.is_kind(loop.target, Kind.REPLY)
        )

    def _is_put_together(self, stored: Stored, loop: cst.For, slots: set[Slot]) -> bool:
        """Whether the message is made of what the loop puts together, and not of the piece itself."""
        piece = {self.facts.slots.of(loop.target)} if isinstance(loop.target, cst.Name) else set()
        if slots & piece:
            return False
        return any(True for _ in self._growths(loop, slots - {stored.slot}))

    def _growths(self, loop: Loop, slots: set[Slot]) -> Iterator[cst.CSTNode]:
        """Where a loop adds something to one of some texts and lists."""
        for node in walk(loop.body):
            if isinstance(node, cst.AugAssign) and self.facts.slots.of(node.target) in slots:
                yield node
            elif type(node) is cst.Call and ex.called_name(node) in {"append", "extend"}:
                base = ex.receiver(node)
                if base is not None and self.facts.slots.of(base) in slots:
                    yield node

    def _is_conditional(self, stored: Stored, loop: cst.For, slots: set[Slot]) -> bool:
        """Whether the message is stored in some turns only: under a condition on more than its own text."""
        return any(not self.again.parts(guard.test) <= slots for guard in self.again.guards(stored.node, loop))

    # -- attempts ---------------------------------------------------------------------------------------------

    def _is_retry(self, stored: Stored, loop: Loop, avoiding: Container[Point]) -> bool:
        """Whether the loop comes back only because a request has failed, and makes the same message again."""
        if isinstance(loop, cst.For) and self._is_stream(loop):
            return False  # its turns are pieces of one reply, no attempts
        if self.again.follows(stored.node, stored.node, avoiding, exceptions=False):
            return False
        avoiding = AnyOf(avoiding, self._rounds_of(stored.slot))  # a new round has begun there
        return self._comes_back(stored, avoiding) and any(
            self.again.follows(stored.node, call, avoiding)
            for call in self.anatomy.calls.calls_within(loop.body, self.function)
            if self.anatomy.calls.asks(call)
        )

    @kept
    def _rounds_of(self, slot: Slot | None) -> frozenset[Point]:
        """Where a history gets what the model has said in a round, or a result of that."""
        said = (one for one in self.places.all if one.answers or one.calls is not None or one.role == "assistant")
        return frozenset(self.anatomy.points(self.function, [one.node for one in said if one.slot == slot]))

    def _retried(self, stored: Stored) -> Iterator[Double]:
        """A function that is run again when it fails, after it has stored what it got."""
        decorator = next((d for d in decorators(self.function) if retries(d)), None)
        if decorator is None or stored.slot is None or not self._outlives(stored) or stored.role == "tool":
            return
        value = self.places.value(stored)
        given = {self.facts.slots.parameter(self.function, p.name.value) for p in parameters(self.function)}
        if value is None or not self.again.parts(value) & given or self.again.is_flagged(stored.node, stored.slot):
            return
        if self.places.is_left(stored):
            yield Double(How.RETRIED, stored, decorator)

    def _outlives(self, stored: Stored) -> bool:
        """Whether a history is still there when the function is run again: a name that it binds anew is its own."""
        slot = root_object(stored.slot) if stored.slot is not None else None
        if slot is None or slot[0] not in {"attr", "var"}:
            return False
        if slot[0] == "attr" or slot[1] is not self.function:
            return True
        here, bound = set(self.again.points(stored.node)), self.again.bound(slot, grown=False)
        given = slot[2] in {p.name.value for p in parameters(self.function)}
        return given and bound.isdisjoint(here) and not self.again.leads(bound, here)
