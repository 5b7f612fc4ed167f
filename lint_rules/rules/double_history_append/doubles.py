"""Messages that a history gets twice: the places where that happens, each with the place of the other time.

A message is the same when it is made of the same values, and no path between the two times binds them anew. Here: one
place after another, and both sides of a call; `repeated` and `added_whole` find the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot, is_method
from lint_rules.obligations.held_parts import place_of
from lint_rules.obligations.places import Double, How, Places, Same
from lint_rules.obligations.repeated import Repeated
from lint_rules.rules.double_history_append.added_whole import added_by_runs, added_whole
from lint_rules.rules.double_history_append.callbacks import by_callback
from lint_rules.rules.double_history_append.joined import Joined, Joins
from lint_rules.rules.double_history_append.saved_first import saved_before
from lint_rules.rules.double_history_append.written_back import written_back
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import AnyOf, Point
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_Alike = tuple[Stored, Same]
"""A place, and what its message is made of."""
_MOST_ALIKE = 12
"""So many places of one message are compared with each other; a longer list is a table of texts."""


def doubles(anatomy: Anatomy) -> Iterator[Double]:
    """All messages that a file stores twice, each place once."""
    told: set[cst.CSTNode] = set()
    for double in _all(anatomy):
        if double.stored.node not in told:
            told.add(double.stored.node)
            yield double


def _all(anatomy: Anatomy) -> Iterator[Double]:
    joins = Joins(anatomy)
    for function in anatomy.module.functions:
        if function.kind == "class":
            continue
        written = anatomy.transcript.stored(function) or joins.of(function) or joins.stored_elsewhere(function)
        places = Places(anatomy, function)
        yield from added_whole(places)
        yield from by_callback(anatomy, function)
        yield from written_back(anatomy, function)
        if written:
            yield from Repeated(places).all()
            sequence = _Sequence(places)
            yield from sequence.all()
            yield from sequence.along(joins)
    yield from added_by_runs(anatomy)


def stored_nearby(anatomy: Anatomy, double: Double) -> bool:
    """Whether the message of a double in a loop is also stored before or after that loop, or elsewhere in it."""
    stored = double.stored
    places = Places(anatomy, stored.function)
    mine = places.identities(stored)
    for other in places.all:
        if other.node is stored.node or other.slot != stored.slot or other.role == "tool":
            continue
        if not mine:
            return True
        for key, theirs in places.identities(other).items():
            if key in mine:
                avoiding = places.again.unstored(stored.slot) | places.again.renewed(
                    mine[key].until(theirs) | theirs.until(mine[key])
                )
                if places.again.follows(other.node, stored.node, avoiding):
                    return True
                if places.again.follows(stored.node, other.node, avoiding):
                    return True
    return False


# -- one after the other ------------------------------------------------------------------------------------------


class _Sequence:
    """The doubles that two places of one function make together."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.module = places.module
        self.function = places.function
        self.again = places.again

    def all(self) -> Iterator[Double]:
        nodes: defaultdict[Slot | None, set[cst.CSTNode]] = defaultdict(set)
        for stored in self.places.all:
            nodes[stored.slot].add(stored.node)
        told: set[cst.CSTNode] = set()
        for slot, alike in self._alike(lambda stored: len(nodes[stored.slot]) > 1).items():
            for number, (then, same) in enumerate(alike[:_MOST_ALIKE]):
                for first, other in alike[:number] if then.node not in told else ():
                    slots = other.until(same)
                    if (
                        slot[1] == then.slot
                        and self._follows(first, then, slots)
                        and self._has(then, first, same, slots)
                    ):
                        told.add(then.node)
                        yield self._again(then, first)
                        break

    def _alike(self, wanted: Callable[[Stored], bool]) -> dict[tuple[object, Slot | None], list[_Alike]]:
        """The places of each message in each list, in source order."""
        found: defaultdict[tuple[object, Slot | None], dict[cst.CSTNode, _Alike]] = defaultdict(dict)
        for stored in self.places.all:
            for key, same in self.places.identities(stored).items() if wanted(stored) else ():
                found[key, stored.slot].setdefault(stored.node, (stored, same))
        return {key: list(group.values()) for key, group in found.items()}

    def _follows(self, first: Stored, then: Stored, slots: frozenset[Slot]) -> bool:
        if first.node is then.node or not self._is_same_list(first, then) or self._is_brought_along(first, then):
            return False
        if self.again.is_flagged(then.node, then.slot) or self._is_optional(first) or self._is_optional(then):
            return False
        avoiding = AnyOf(self.again.unstored(first.slot), self.again.renewed(slots))
        if not self._brings(first, avoiding):
            return False
        of_reply = first.role == "assistant" or first.calls is not None
        says = self.again.told_at(first.node) if of_reply else None
        return self.again.follows(first.node, then.node, avoiding, says=says)

    def _has(self, then: Stored, first: Stored, same: Same, slots: frozenset[Slot]) -> bool:
        """Whether the names by which a message goes have got it on a way between two places, and nothing else since.

        Or had it before. `answer = ""` on each way to `answer = said` of another loop is something else.
        """
        others = {point for name in same.names for point in self.again.bound(name)} - same.bound
        if not others:
            return True
        avoiding = AnyOf(self.again.unstored(first.slot), self.again.renewed(slots))
        start = [*self.again.points(first.node), *self.again.failed(first.node)]
        start += [point for point in same.bound if self.again.leads(start, {point}, avoiding)]
        return self._comes_after(start, then, AnyOf(avoiding, others))

    def _brings(self, stored: Stored, avoiding: AnyOf) -> bool:
        """Whether a message that comes with a whole list was put into that before, and is still the same."""
        made = stored.message.node if stored.kind == "extend" and stored.message is not None else None
        if made is None or self.module.inside(made, stored.node):
            return True
        here = self.module.scope_of[made].function is self.function
        return not here or self.again.follows(made, stored.node, avoiding)

    def _comes_after(self, failed: list[Point], then: Stored, avoiding: AnyOf) -> bool:
        """Whether a place is where an error goes, or comes behind that."""
        there = set(self.again.points(then.node))
        return not there.isdisjoint(failed) or self.again.leads(failed, there, avoiding)

    def _is_brought_along(self, first: Stored, then: Stored) -> bool:
        """Whether one place has the message from the list itself: `xs = [system, *xs]`, where `xs.append({...})`."""
        made = {stored.message.node for stored in (first, then) if stored.message is not None}
        return len(made) == 1 and any(self.module.inside(node, place.node) for node in made for place in (first, then))

    def along(self, joins: Joins) -> Iterator[Double]:
        """What is put beside a history that holds it already, or stored where a function of another file does so."""
        elsewhere = joins.stored_elsewhere(self.function)
        stored = [place for place in (*self.places.all, *elsewhere) if place.role in {"user", "assistant"}]
        asking = {joined.node for joined in joins.of(self.function)}  # what sends a message saves it in its own way
        for joined in joins.of(self.function):
            then = Stored(joined.node, self.function, joined.slot, "append", joined.message, None)
            found = saved_before(self.places.anatomy, self.function, joined)
            saved = (first for first in found if first.node not in asking)
            for first, slots in self._said_before(then, [*stored, *saved]):
                if self._is_along(first, joined, slots):
                    how = How.SAVED if joined.slot[0] in {"call", "return"} else How.SENT
                    yield Double(how, then, first.node, inner=joined.inner)
                    break
        own = self.places.all if elsewhere else []
        asks = self.places.anatomy.turns.reaches_model
        kept = [one for one in elsewhere if not (isinstance(one.node, cst.Call) and asks(one.node))]  # else asked anew
        for first_ones, then_ones in ((elsewhere, own), (own, elsewhere), (kept, elsewhere)):
            for then in then_ones:
                for first, slots in self._said_before(then, first_ones):
                    if self._follows(first, then, slots):
                        yield self._again(then, first)
                        break

    def _said_before(self, then: Stored, stored: list[Stored]) -> Iterator[tuple[Stored, frozenset[Slot]]]:
        """The places that put the same message into the same list, and what it is made of."""
        anatomy, mine = self.places.anatomy, self.places.identities(then)
        here = place_of(anatomy, then.slot) if then.slot is not None else None
        for first in stored if mine else ():
            if first.slot is not None and place_of(anatomy, first.slot) == here:
                for key, same in self.places.identities(first).items():
                    if key in mine:
                        yield first, same.until(mine[key])

    def _is_along(self, first: Stored, joined: Joined, slots: frozenset[Slot]) -> bool:
        if first.node is joined.node or self._is_optional(first):
            return False
        anew = self.again.renewed(slots)
        avoiding = AnyOf(self.again.unstored(first.slot), self.again.unstored(joined.slot), anew)
        here = first.node
        for taken in joined.taken:
            if set(self.again.points(taken)).isdisjoint(self.again.points(joined.node)):
                if not self.again.follows(here, taken, avoiding):
                    return False
                bound = ex.assigned(taken)
                slots_of = (self.places.facts.slots.of(target) for target in bound)
                here, avoiding = (
                    taken,
                    AnyOf(anew, *(self.again.unstored(slot) for slot in slots_of if slot is not None)),
                )
        if joined.list is not None and joined.taken:
            avoiding = AnyOf(avoiding, self.again.unstored(joined.list))
        return self.again.follows(here, joined.node, avoiding)

    def _is_same_list(self, first: Stored, then: Stored) -> bool:
        """Whether two places write to the list of one object: `a.messages` and `b.messages` are two."""
        owners = [self._owner(stored) for stored in (first, then)]
        return owners[0] == owners[1] or None in owners

    def _owner(self, stored: Stored) -> str | None:
        """`a` of `a.messages.append(m)` and of `a.add(m)`; what goes with the message to a store: its key.

        None for lists that no object holds.
        """
        if stored.slot is None or not isinstance(stored.node, cst.Call):
            return None
        if stored.write is None:
            message = self.places.value(stored)
            return "; ".join(ex.source(a, 200) for a in stored.node.args if message is None or not _is_in(message, a))
        return self._holder(stored) if stored.slot[0] == "attr" else None

    def _holder(self, stored: Stored) -> str | None:
        """The object of the list as it is named here, also where it is handed on: `self.talk` of `ask(self.talk)`."""
        call, base, inner = stored.node, ex.receiver(stored.node), self._below(stored)
        callee = self.places.facts.slots.callee(call)
        if inner is not None and callee is not None and isinstance(call, cst.Call):
            given = {slot[2]: value for slot, value in self.places.facts.slots.bindings(call, callee)}
            holder = self._holder(inner)
            return _translated(holder, call, callee, given) if holder is not None else None
        if stored.write is not None and stored.write.node is call and isinstance(base, cst.Attribute):
            base = base.value
        return ex.source(base, 200) if base is not None else None

    def _again(self, then: Stored, first: Stored) -> Double:
        """What two places of one message make together."""
        below = self._below(then)
        inner = (below.node, self.places.anatomy) if below is not None else None
        return Double(How.AGAIN, then, first.node, inner=inner)

    def _below(self, stored: Stored) -> Stored | None:
        """Where the function that is called at a place calls what stores the message."""
        callee, write = self.places.facts.slots.callee(stored.node), stored.write
        if callee is None or write is None:
            return None
        below = self.places.anatomy.transcript.stored(callee)
        return next((one for one in below if one.write is write and one.node is not write.node), None)

    def _is_optional(self, stored: Stored) -> bool:
        """Whether a helper stores the message under a condition of its own."""
        write = stored.write
        if write is None or write.function is self.function:
            return False
        return any(isinstance(outer, cst.If) for outer in self.module.ancestors(write.node)
                   if self.module.scope_of[outer].function is write.function)  # fmt: skip


def _is_in(message: cst.CSTNode, arg: cst.Arg) -> bool:
    return any(part is message for part in walk(arg))


def _translated(owner: str, call: cst.Call, callee: Scope, given: dict[str, cst.BaseExpression]) -> str | None:
    """A store as the caller names it: `self.session` of a method, `session` that was handed in."""
    root, _, rest = owner.partition(".")
    value = given.get(root)
    own = [param.name.value for param in parameters(callee)][:1] if is_method(callee) else []
    if root in own:
        value = ex.receiver(call)
    base = ex.dotted(value) if value is not None else None
    if base is None:
        return None
    return f"{base}.{rest}" if rest else base
