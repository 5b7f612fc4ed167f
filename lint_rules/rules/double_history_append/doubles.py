"""Messages that a history gets twice: the places where that happens, each with the place of the other time.

A message is the same when it is made of the same values, and no path between the two times binds them anew. Here: one
place after another; `repeated` and `added_whole` find the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import is_length
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot, whole_of
from lint_rules.rules.double_history_append.added_whole import added_by_runs, added_whole
from lint_rules.rules.double_history_append.callbacks import by_callback
from lint_rules.rules.double_history_append.held_parts import place_of
from lint_rules.rules.double_history_append.joined import Joined, Joins
from lint_rules.rules.double_history_append.left_behind import taken_behind
from lint_rules.rules.double_history_append.places import Double, How, Places, Same
from lint_rules.rules.double_history_append.repeated import Repeated
from lint_rules.rules.double_history_append.saved_first import saved_before
from lint_rules.rules.double_history_append.written_back import written_back
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import AnyOf
from lint_rules.syntax.walk import walk

_MOST_ALIKE = 12
"""So many places of one message are compared with each other; a longer list is a table of texts."""
_Alike = tuple[Stored, Same]
"""A place, and what its message is made of."""


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
        if function.kind != "class":
            places = Places(anatomy, function)
            yield from (*added_whole(places), *by_callback(anatomy, function), *written_back(joins, function))
            yield from Repeated(places).all()
            sequence = _Sequence(places, joins)
            yield from (*sequence.again(), *sequence.beside())
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


class _Sequence:
    """The doubles that two places of one function make together."""

    def __init__(self, places: Places, joins: Joins) -> None:
        self.places = places
        self.module = places.module
        self.function = places.function
        self.ways = places.again
        self.joins = joins

    def again(self) -> Iterator[Double]:
        """What is stored where it was stored before, again, here or by what is called."""
        for alike in self._alike().values():
            ordered = sorted(alike, key=lambda each: self.module.order[each[0].node])[:_MOST_ALIKE]
            for number, (then, same) in enumerate(ordered):
                firsts = (each for each in ordered[:number] if self._follows(each, (then, same)))
                first = next(firsts, None)
                if first is not None:
                    below = self._below(then)
                    inner = (below.node, self.places.anatomy) if below is not None else None
                    yield Double(How.AGAIN, then, first[0].node, inner=inner)

    def beside(self) -> Iterator[Double]:
        """What is put beside a history that holds it already."""
        joins = self.joins.of(self.function)
        asking = {joined.node for joined in joins}  # what sends a message saves it in its own way
        for joined in joins:
            then = Stored(joined.node, self.function, joined.slot, "append", joined.message, None)
            found = saved_before(self.places.anatomy, self.function, joined)
            saved = [first for first in found if first.node not in asking]
            for first, theirs, same in self._said_before(then, [*self.places.all, *saved]):
                if self._is_along(first, joined, theirs, same):
                    how = How.SAVED if joined.slot[0] in {"call", "return"} else How.SENT
                    yield Double(how, then, first.node, inner=joined.inner)
                    break

    def _below(self, stored: Stored) -> Stored | None:
        """Where the function that is called at a place calls what stores the message."""
        callee, write = self.places.facts.slots.callee(stored.node), stored.write
        below = self.places.anatomy.transcript.stored(callee) if callee is not None and write is not None else []
        inner = (one for one in below if one.write is write and write is not None and one.node is not write.node)
        return next(inner, None)

    def _place(self, stored: Stored) -> Slot | None:
        return place_of(self.places.anatomy, stored.slot) if stored.slot is not None else None

    def _alike(self) -> dict[tuple[object, Slot | None], list[_Alike]]:
        """The places of each message in each list."""
        found: defaultdict[tuple[object, Slot | None], dict[cst.CSTNode, _Alike]] = defaultdict(dict)
        for stored in self.places.all:
            for key, same in self.places.identities(stored).items():
                found[key, self._place(stored)].setdefault(stored.node, (stored, same))
        return {key: list(group.values()) for key, group in found.items()}

    def _said_before(self, then: Stored, stored: list[Stored]) -> Iterator[tuple[Stored, Same, Same]]:
        """The places that put the same message into the same list, what it is made of there, and here."""
        mine, here = self.places.identities(then), self._place(then)
        for first in stored if mine else ():
            if first.role in {"user", "assistant"} and first.slot is not None and self._place(first) == here:
                for key, same in self.places.identities(first).items():
                    if key in mine:
                        yield first, same, mine[key]

    def _follows(self, before: _Alike, after: _Alike) -> bool:
        """Whether one place comes behind another one with the same message, for the same list."""
        (first, other), (then, same) = before, after
        if not self._is_same_list(first, then) or self._is_brought_along(first, then):
            return False
        if self.ways.is_flagged(then.node, then.slot) or self._is_optional(first) or self._is_optional(then):
            return False
        slots = other.until(same)
        avoiding = AnyOf(self.ways.unstored(first.slot), self.ways.renewed(slots))
        of_reply = first.role == "assistant" or first.calls is not None
        says = self.ways.told_at(first.node) if of_reply else None
        if not self._brings(first, avoiding) or self._is_left_out(then):
            return False
        if self.ways.follows(first.node, then.node, avoiding, says=says):
            return self._has(then.node, first, same, avoiding)
        there = {*self.ways.points(then.node)}
        return any(self.ways.leads([taken], there, avoiding) for taken in taken_behind(self.places, first))

    def _has(self, then: cst.CSTNode, first: Stored, same: Same, avoiding: AnyOf) -> bool:
        """Whether the names by which a message goes have got it on a way between two places, and nothing else since.

        Or had it before. `answer = ""` on each way to `answer = said` of another loop is something else.
        """
        others = {point for name in same.names for point in self.ways.bound(name)} - same.bound
        if not others:
            return True
        begin = [*self.ways.points(first.node), *self.ways.failed(first.node)]
        start = begin if not same.bound or self.ways.leads(same.bound, {*begin}, others) else []
        start += [point for point in same.bound if self.ways.leads(begin, {point}, avoiding)]
        there = {*self.ways.points(then)}
        return not there.isdisjoint(start) or self.ways.leads(start, there, AnyOf(avoiding, others))

    def _brings(self, stored: Stored, avoiding: AnyOf) -> bool:
        """Whether a message that comes with a whole list was put into that before, and is still the same."""
        made = stored.message.node if stored.kind == "extend" and stored.message is not None else None
        if made is None or self.module.inside(made, stored.node):
            return True
        here = self.module.scope_of[made].function is self.function
        return not here or (self.ways.follows(made, stored.node, avoiding) and not self._is_left_out(stored))

    def _is_left_out(self, stored: Stored) -> bool:
        """Whether what comes from a list begins behind a message: `end = len(xs)`, and then `h.extend(xs[end:])`."""
        made = stored.message.node if stored.kind == "extend" and stored.message is not None else None
        value = stored.write.value if stored.write is not None else None
        part = ex.slice_of(value) if made is not None and value is not None else None
        if made is None or part is None or not isinstance(value, cst.Subscript) or not isinstance(part.lower, cst.Name):
            return False
        marks = [each for each in self.places.anatomy.definitions(part.lower) if each.value is not None]
        return bool(marks) and all(
            is_length(mark.value, value.value)
            and mark.point.statement is not None
            and not self.ways.follows(mark.point.statement, made, set())
            for mark in marks
            if mark.value is not None
        )

    def _is_brought_along(self, first: Stored, then: Stored) -> bool:
        """Whether one place has the message from the list itself: `xs = [system, *xs]`, where `xs.append({...})`."""
        made = {stored.message.node for stored in (first, then) if stored.message is not None}
        return len(made) == 1 and any(self.module.inside(node, place.node) for node in made for place in (first, then))

    def _is_along(self, first: Stored, joined: Joined, theirs: Same, same: Same) -> bool:
        """Whether a message was stored before the history was taken that it is joined with, by each of its steps."""
        if first.node is joined.node or self._is_optional(first):
            return False
        anew = self.ways.renewed(theirs.until(same))
        avoiding = AnyOf(self.ways.unstored(first.slot), self.ways.unstored(joined.slot), anew)
        if not self._has(joined.node, first, same, avoiding):
            return False
        here = first.node
        for taken in joined.taken:
            if set(self.ways.points(taken)).isdisjoint(self.ways.points(joined.node)):
                if not self.ways.follows(here, taken, avoiding):
                    return False
                bound = (self.places.facts.slots.of(target) for target in ex.assigned(taken))
                here, avoiding = taken, AnyOf(anew, *(self.ways.unstored(slot) for slot in bound if slot is not None))
        if joined.list is not None and joined.taken:
            avoiding = AnyOf(avoiding, self.ways.unstored(joined.list))
        return self.ways.follows(here, joined.node, avoiding)

    def _is_same_list(self, first: Stored, then: Stored) -> bool:
        """Whether two places write to the list of one object: `a.messages` and `b.messages` are two."""
        owners = [self._owners(stored) for stored in (first, then)]
        return not all(owners) or not owners[0].isdisjoint(owners[1])

    def _owners(self, stored: Stored) -> set[str]:
        """`a` of `a.messages.append(m)` and of `a.add(m)`, or what is handed along; of a store what it is told.

        Empty for lists that no object holds.
        """
        call, base, message = stored.node, ex.receiver(stored.node), self.places.value(stored)
        if stored.slot is None or not isinstance(call, cst.Call):
            return set()
        apart = [a for a in call.args if message is None or not any(part is message for part in walk(a))]
        if stored.write is None:
            return self._holders(stored) or {"; ".join(ex.source(a, 200) for a in apart)} - {""}
        if stored.slot[0] != "attr":
            return set()
        if stored.write.node is call and isinstance(base, cst.Attribute):
            base = base.value
        handed = (ex.dotted(a.value) for a in apart)
        return {name for name in (ex.dotted(base) if base is not None else None, *handed) if name is not None}

    def _holders(self, stored: Stored) -> set[str]:
        """`talk` of `talk.add(m)` and `run(talk, m)`, where its object has the list; no keeper of many under keys."""
        slots, aliases, here = self.places.facts.slots, self.places.anatomy.aliases, stored.node
        around = list(whole_of(stored.slot))[1:] if stored.slot is not None else []
        key = next((place for place, slot in enumerate(around, 1) if slot[0] == "item"), len(around))
        given = [ex.receiver(here), *(a.value for a in here.args)] if isinstance(here, cst.Call) else []
        held = ((ex.dotted(part), slots.of(part)) for part in given if part is not None)
        return {name for name, slot in held if name and slot is not None and aliases.of(slot) in around[:key]}

    def _is_optional(self, stored: Stored) -> bool:
        """Whether a helper stores the message under a condition of its own."""
        write = stored.write
        if write is None or write.function is self.function:
            return False
        return any(isinstance(outer, cst.If) for outer in self.module.ancestors(write.node)
                   if self.module.scope_of[outer].function is write.function)  # fmt: skip
