"""Messages that a history gets twice: the places where that happens, each with the place of the other time.

A message is the same when it is made of the same values, and no path between the two times binds them anew. What is
stored per turn of a loop is stored again when nothing in it belongs to that turn.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.again import Again, Loop
from lint_rules.anatomy.messages.handed_back import held_whole, keeps, made_by
from lint_rules.anatomy.messages.snapshots import parameter_path, passed_arguments, resolved
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.turns.stores import Stores, adds, loads
from lint_rules.anatomy.values.copies import Path, path_of
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope, decorators, parameters
from lint_rules.syntax.walk import walk

_MOST_ALIKE = 12
"""So many places of one message are compared with each other; a longer list is a table of texts."""


class How(Enum):
    """How a message comes to be stored twice."""

    PER_CALL = "once for each tool call"
    PER_CHUNK = "once for each piece of the stream"
    AGAIN = "a second time"
    RETRY = "once for each attempt"
    RETRIED = "once for each attempt of the whole function"
    RETURNED = "by the function that gives it back, too"
    LOADED = "with everything that was there before"
    CALLBACK = "by a callback, too"


@dataclass(frozen=True, eq=False, slots=True)
class Double:
    """`stored` is the place to report, `other` what makes it the second time: a loop, a decorator, another place.

    `where` is the file of `other`, if it is another one.
    """

    how: How
    stored: Stored
    other: cst.CSTNode
    where: Anatomy | None = None


def doubles(anatomy: Anatomy) -> Iterator[Double]:
    """All messages that a file stores twice, each place once."""
    told: set[cst.CSTNode] = set()
    handing = _hand_append_on(anatomy)
    for function in anatomy.module.functions:
        if function.kind == "class" or not (anatomy.transcript.stored(function) or function in handing):
            continue
        finder = _Finder(anatomy, function)
        for double in finder.all():
            if double.stored.node not in told:
                told.add(double.stored.node)
                yield double
    for function, added, loaded in Stores(anatomy).doubled():
        if added.node not in told:
            told.add(added.node)
            yield Double(How.LOADED, Stored(added.node, function, None, "extend", None, None), loaded)


def _hand_append_on(anatomy: Anatomy) -> set[Scope]:
    """The functions that pass `x.append` as a value."""
    return {
        anatomy.module.scope_of[node].function
        for node in anatomy.module.nodes_of(cst.Attribute)
        if node.attr.value == "append" and isinstance(anatomy.module.parent.get(node), cst.Arg)
    }


def stored_nearby(anatomy: Anatomy, double: Double) -> bool:
    """Whether the message of a double in a loop is also stored before or after that loop, or elsewhere in it."""
    stored = double.stored
    finder = _Finder(anatomy, stored.function)
    key = finder.key(stored)
    for other in finder.places:
        if other.node is stored.node or other.slot != stored.slot or other.role == "tool":
            continue
        if key is None:
            return True
        theirs = finder.key(other)
        if theirs is not None and theirs[0] == key[0] and theirs[2] & key[2]:
            avoiding = finder.again.unstored(stored.slot) | finder.again.renewed(key[2])
            if finder.again.follows(other.node, stored.node, avoiding):
                return True
            if finder.again.follows(stored.node, other.node, avoiding):
                return True
    return False


class _Finder:
    """Looks for doubles among the places of one function."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.function = function
        self.again = Again(anatomy, function)
        stored = anatomy.transcript.stored(function)
        self.places = [place for place in stored if place.slot is not None and self.again.grows(place)]

    def all(self) -> Iterator[Double]:
        telling = [stored for stored in self.places if self._tells(stored)]
        for stored in telling:
            yield from self._in_loops(stored)
        yield from itertools.islice((double for stored in telling for double in self._retried(stored)), 1)
        yield from self._in_sequence()
        for stored in self.places:
            yield from self._returned(stored)
            yield from self._loaded(stored)
            yield from self._handed_back(stored)
        yield from self._added_to_store()
        yield from self._by_callback()

    # -- what is stored ---------------------------------------------------------------------------------------

    def _value(self, stored: Stored) -> cst.BaseExpression | None:
        """What a place stores, as written in this function."""
        if stored.write is not None and stored.write.node is stored.node:
            return stored.write.value
        content = stored.message.content if stored.message is not None else None
        return content if content is not None and self._is_here(content) else None

    def _is_here(self, node: cst.CSTNode) -> bool:
        scope = self.module.scope_of.get(node)
        return scope is not None and scope.function is self.function

    def _tells(self, stored: Stored) -> bool:
        """Whether a message says something that came from outside or from the model: fixed texts may be repeated."""
        value = self._value(stored)
        return value is not None and any(self._varies(slot) for slot in self.again.parts(value))

    def _varies(self, slot: Slot) -> bool:
        while slot[0] in {"member", "item"}:
            slot = slot[1]
        return slot[0] == "var" and (slot[1].kind != "module" or self.function.kind == "module")

    def _depends(self, stored: Stored) -> set[Slot]:
        """The slots that make a place another one: those of its value, and of the list it is written to."""
        value = self._value(stored)
        found = self.again.parts(value) if value is not None else set()
        target = self._list_of(stored)
        return found | (self.again.parts(target) if target is not None else set())

    # -- once for each turn of a loop -------------------------------------------------------------------------

    def _in_loops(self, stored: Stored) -> Iterator[Double]:
        for loop in self.module.ancestors(stored.node):
            if loop is self.function.node:
                return
            if not isinstance(loop, (cst.For, cst.While)) or not self.module.inside(stored.node, loop.body):
                continue
            how = self._repeats(stored, loop)
            if how is not None:
                yield Double(how, stored, loop)
                return

    def _repeats(self, stored: Stored, loop: Loop) -> How | None:
        if self.again.is_flagged(stored.node, stored.slot, loop):
            return None
        renewed = self.again.unstored(stored.slot) | self.again.outside(loop)
        slots = self._depends(stored)
        if isinstance(loop, cst.For) and self._is_over_calls(loop):
            if self._of_reply(stored) and self._comes_back(stored, renewed | self.again.renewed(slots)):
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

    def _is_over_calls(self, loop: cst.For) -> bool:
        if self.facts.is_kind(loop.iter, Kind.CALLS):
            return True
        targets = [e.value for e in loop.target.elements] if isinstance(loop.target, cst.Tuple) else [loop.target]
        return any(self.facts.is_kind(target, Kind.CALL) for target in targets)

    def _of_reply(self, stored: Stored) -> bool:
        return stored.role in {"assistant", "tool"} or stored.calls is not None

    def _one_call_known(self, loop: cst.For) -> bool:
        """Whether the list has one call: parallel calls are off, its length is tested, or it is cut to one."""
        cut = ex.slice_of(loop.iter)
        if cut is not None and ex.integer(cut.upper) == 1:
            return True
        iterated = ex.source(loop.iter)
        for node in self.function.nodes:
            if isinstance(node, cst.Comparison) and isinstance(node.left, cst.Call) and node.left.args:
                if ex.dotted(node.left.func) == "len" and ex.source(node.left.args[0].value) == iterated:
                    if any(ex.integer(target.comparator) == 1 for target in node.comparisons):
                        return True
        return any(
            (off := ex.argument(call, "parallel_tool_calls")) is not None and ex.dotted(off) == "False"
            for call in self.module.nodes_of(cst.Call)
        )

    # -- streams ----------------------------------------------------------------------------------------------

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
        for node in walk(loop.body):
            if isinstance(node, cst.AugAssign) and self.facts.slots.of(node.target) in slots:
                return True
            if type(node) is cst.Call and ex.called_name(node) == "append":
                base = ex.receiver(node)
                if base is not None and self.facts.slots.of(base) in slots - {stored.slot}:
                    return True
        return False

    @staticmethod
    def _list_of(stored: Stored) -> cst.BaseExpression | None:
        return ex.receiver(stored.node) if isinstance(stored.node, cst.Call) else None

    def _is_conditional(self, stored: Stored, loop: cst.For, slots: set[Slot]) -> bool:
        """Whether the message is stored in some turns only: under a condition on more than its own text."""
        return any(not self.again.parts(guard.test) <= slots for guard in self.again.guards(stored.node, loop))

    # -- attempts ---------------------------------------------------------------------------------------------

    def _is_retry(self, stored: Stored, loop: Loop, avoiding: Container[Point]) -> bool:
        """Whether the loop comes back only because a request has failed."""
        if isinstance(loop, cst.For) and self._is_stream(loop):
            return False  # its turns are pieces of one reply, no attempts
        if not self._comes_back(stored, avoiding):
            return False
        if self.again.follows(stored.node, stored.node, avoiding, exceptions=False):
            return False
        return any(
            self.again.follows(stored.node, call, avoiding)
            for call in self.anatomy.calls.calls_within(loop.body, self.function)
            if self.anatomy.calls.asks(call)
        )

    def _retried(self, stored: Stored) -> Iterator[Double]:
        """A function that is run again when it fails, after it has stored what it got."""
        decorator = next((d for d in decorators(self.function) if _retries(d)), None)
        if decorator is None or stored.slot is None or not self._outlives(stored.slot) or stored.role == "tool":
            return
        value = self._value(stored)
        given = {self.facts.slots.parameter(self.function, p.name.value) for p in parameters(self.function)}
        if value is None or not self.again.parts(value) & given or self.again.is_flagged(stored.node, stored.slot):
            return
        cut = self.again.unstored(stored.slot)
        for call in self.function.nodes:
            if type(call) is cst.Call and self.anatomy.calls.asks(call):
                if self.again.follows(stored.node, call, cut) and self._fails_out(call, cut):
                    yield Double(How.RETRIED, stored, decorator)
                    return

    def _fails_out(self, call: cst.Call, cut: Container[Point]) -> bool:
        """Whether an error of `call` leaves the function, with nothing taken back on the way."""
        graph = self.again.graph
        failed = [t for p in self.again.points(call) for t, kind in p.successors if kind in {"exception", "raise"}]
        return graph.raises in failed or graph.reaches([p for p in failed if p not in cut], graph.raises, cut)

    def _outlives(self, slot: Slot) -> bool:
        """Whether a history is still there when the function is run again."""
        while slot[0] in {"member", "item"}:
            slot = slot[1]
        if slot[0] == "attr":
            return True
        if slot[0] != "var":
            return False
        return slot[1] is not self.function or slot[2] in {p.name.value for p in parameters(self.function)}

    # -- one after the other ----------------------------------------------------------------------------------

    def _in_sequence(self) -> Iterator[Double]:
        alike: defaultdict[tuple[object, ...], dict[cst.CSTNode, tuple[Stored, frozenset[Slot]]]] = defaultdict(dict)
        for stored in self.places:
            key = self.key(stored)
            if key is not None:
                alike[key[0], key[1], stored.slot].setdefault(stored.node, (stored, key[2]))
        for group in alike.values():
            places = list(group.values())
            for number, (then, slots) in enumerate(places[:_MOST_ALIKE]):
                for first, others in places[:number]:
                    if self._follows(first, then, slots | others):
                        yield Double(How.AGAIN, then, first.node)
                        break

    def _follows(self, first: Stored, then: Stored, slots: frozenset[Slot]) -> bool:
        if first.node is then.node or self.again.exclude(first.node, then.node):
            return False
        if not self._is_same_list(first, then):
            return False
        if self.again.is_flagged(then.node, then.slot) or self._is_optional(first) or self._is_optional(then):
            return False
        avoiding = self.again.unstored(then.slot) | self.again.renewed(slots)
        return self.again.follows(first.node, then.node, avoiding)

    def _is_same_list(self, first: Stored, then: Stored) -> bool:
        """Whether two places write to the list of one object: `a.messages` and `b.messages` are two."""
        owners = [self._owner(stored) for stored in (first, then)]
        return owners[0] == owners[1] or None in owners

    def _owner(self, stored: Stored) -> str | None:
        """`a` of `a.messages.append(m)` and of `a.add(m)`; None for lists that no object holds."""
        if stored.slot is None or stored.slot[0] != "attr" or not isinstance(stored.node, cst.Call):
            return None
        base = ex.receiver(stored.node)
        if stored.write is not None and stored.write.node is stored.node and isinstance(base, cst.Attribute):
            base = base.value
        return ex.source(base, 200) if base is not None else None

    def _is_optional(self, stored: Stored) -> bool:
        """Whether a helper stores the message under a condition of its own."""
        write = stored.write
        if write is None or write.function is self.function:
            return False
        return any(isinstance(outer, cst.If) for outer in self.module.ancestors(write.node)
                   if self.module.scope_of[outer].function is write.function)  # fmt: skip

    def key(self, stored: Stored) -> tuple[str, str, frozenset[Slot]] | None:
        """What tells one message from another: its role and its content, with what both are made of."""
        message = stored.message
        if message is None or not self._tells(stored):
            return None
        content, value = message.content, self._value(stored)
        if message.role in {"user", "assistant"} and content is not None and self._is_here(content):
            origin = self._origin(content)
            slots = self.again.parts(origin)
            if any(self._varies(slot) for slot in slots):
                made = self.again.parts(value) if isinstance(value, cst.Name) else set()
                return message.role, ex.source(origin, 400), frozenset(slots | made)
            return None
        if value is None or stored.kind == "extend" or not isinstance(value, (cst.Name, cst.Attribute)):
            return None
        return "", ex.source(value, 400), frozenset(self.again.parts(value))

    def _origin(self, content: cst.BaseExpression) -> cst.BaseExpression:
        """What a content was taken from: `message.content` for `text = message.content or ""`."""
        for _ in range(3):
            content = next(iter(ex.alternatives(content)))
            if not isinstance(content, cst.Name):
                break
            points = self.again.points(content)
            bound = self.anatomy.reaching(self.function).only(points[0], content.value) if points else None
            if (
                bound is None
                or bound.kind != "assign"
                or not isinstance(bound.value, (cst.Attribute, cst.BooleanOperation))
            ):
                break
            content = bound.value
        return content

    # -- by a function that gives it back ---------------------------------------------------------------------

    def _returned(self, stored: Stored) -> Iterator[Double]:
        """`reply = self.ask(history)` has stored the reply already, and the caller stores it once more."""
        if stored.message is None or stored.write is None or stored.write.node is not stored.node:
            return
        value = self._value(stored)
        content = stored.message.content
        for part in (value, content):
            call = self._made_by(part) if part is not None else None
            for first in self.anatomy.transcript.at(call) if call is not None else ():
                if first.slot == stored.slot and first.node is call and self._gives_back(first, call):
                    if self.again.follows(call, stored.node, self.again.unstored(stored.slot)):
                        yield Double(How.RETURNED, stored, call)
                        return

    def _made_by(self, value: cst.BaseExpression) -> cst.Call | None:
        """The call that a name was bound to."""
        value = self._bound_to(value)
        return value if isinstance(value, cst.Call) else None

    def _bound_to(self, value: cst.BaseExpression) -> cst.BaseExpression:
        """What a name holds where it is used, when that is certain; anything else is what it is."""
        value = ex.inner(value)
        if isinstance(value, cst.Name):
            points = self.again.points(value)
            bound = self.anatomy.reaching(self.function).only(points[0], value.value) if points else None
            if bound is not None and bound.kind == "assign" and bound.value is not None:
                return ex.inner(bound.value)
        return value

    def _gives_back(self, first: Stored, call: cst.Call) -> bool:
        """Whether the function that `call` runs always returns the very message, or text, that it has stored."""
        callee = self.facts.slots.callee(call)
        write = first.write
        if callee is None or write is None or write.function is not callee or write.value is None:
            return False
        there = Again(self.anatomy, callee)
        stored = {ex.source(write.value, 400), *(ex.source(v, 400) for v in _contents(write.value))}
        returned = [n for n in callee.nodes if isinstance(n, cst.Return) and n.value is not None]
        return bool(returned) and all(
            ex.source(node.value, 400) in stored  # type: ignore[arg-type]
            and there.follows(write.node, node, there.renewed(there.parts(write.value)))
            and all(there.graph.dominates(a, b) for a in there.points(write.node) for b in there.points(node))
            for node in returned
        )

    # -- with all that was there ------------------------------------------------------------------------------

    def _loaded(self, stored: Stored) -> Iterator[Double]:
        """`whole = list(history)`, then `history.extend(whole)`: what was in it is there twice."""
        write = stored.write
        if stored.kind != "extend" or write is None or write.node is not stored.node or write.value is None:
            return
        made = self._bound_to(write.value)
        if made is write.value or not self._holds_all(made, stored.slot, 0):
            return
        if self.again.follows(
            made, stored.node, self.again.unstored(stored.slot) | self.again.emptied(self.again.parts(write.value))
        ):
            yield Double(How.LOADED, stored, made)

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

    def _handed_back(self, stored: Stored) -> Iterator[Double]:
        """`history.extend(self.step(history))`, where `step` returns what it got with the new messages behind it."""
        write = stored.write
        if stored.kind != "extend" or write is None or write.node is not stored.node or write.value is None:
            return
        made = made_by(self.anatomy, write.value, self.function)
        callee = self.facts.slots.callee(made[0]) if made is not None else None
        if made is None or callee is None:
            return
        held = held_whole(self.anatomy, callee, made[1])
        for parameter, value in self.facts.slots.bindings(made[0], callee) if held else ():
            if parameter[2] in held and self._is_the_list(value, stored.slot):
                if self.again.follows(made[0], stored.node, self._replaced(stored.slot)):
                    yield Double(How.LOADED, stored, made[0])
                    return

    def _is_the_list(self, value: cst.BaseExpression, slot: Slot | None) -> bool:
        """Whether a value may be the very list in a slot: itself, or a name that it was given before."""
        if self.facts.slots.of(value) == slot:
            return True
        points = self.again.points(value) if isinstance(value, cst.Name) else []
        for bound in self.anatomy.reaching(self.function).at(points[0], value.value) if points else ():  # type: ignore[attr-defined]
            alias = bound.value if bound.kind == "assign" else None
            if isinstance(alias, (cst.Name, cst.Attribute)) and self.facts.slots.of(alias) == slot:
                if self.again.follows(alias, value, self._replaced(slot)):
                    return True
        return False

    def _replaced(self, slot: Slot | None) -> set[Point]:
        """The points at which another list takes the place of the one in a slot."""
        renewed = self.again.renewed([slot] if slot is not None else [], grown=False)
        return {point for point in renewed if slot is None or not keeps(self.anatomy, point.statement, slot)}

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
        made = self._made_by(value)
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

    # -- through a callback -----------------------------------------------------------------------------------

    def _by_callback(self) -> Iterator[Double]:
        """`run(history=h, on_message=h.append)`, where `run` appends each message and hands it to the callback."""
        for call in self.function.nodes:
            if type(call) is not cst.Call or len(call.args) == 0:
                continue
            for parameter, value, given in passed_arguments(call):
                if not isinstance(value, cst.Attribute) or value.attr.value != "append":
                    continue
                slot = self.facts.slots.of(value.value)
                history = next((p for p, v in given.items() if slot and self.facts.slots.of(v) == slot), None)
                found = resolved(self.anatomy, call) if history is not None else None
                if found is None or history is None:
                    continue
                where, callee = found
                target, callback = parameter_path(callee, history), parameter_path(callee, parameter)
                if target is not None and callback is not None:
                    twice = _appends_and_calls(where, callee, target, callback)
                    if twice is not None:
                        place = Stored(value, self.function, slot, "append", None, None)
                        yield Double(How.CALLBACK, place, twice, where)
                        break


def _appends_and_calls(anatomy: Anatomy, function: Scope, target: Path, callback: Path) -> cst.Call | None:
    """Where a function appends to one of its parameters what it also hands to another, a callback."""
    again = Again(anatomy, function)
    told = [n for n in function.nodes if type(n) is cst.Call and len(n.args) == 1 and path_of(n.func) == callback]
    for call in function.nodes:
        if type(call) is not cst.Call or ex.called_name(call) != "append" or len(call.args) != 1:
            continue
        base = ex.receiver(call)
        if base is None or path_of(base) != target:
            continue
        for other in told:
            if ex.source(other.args[0].value, 200) == ex.source(call.args[0].value, 200):
                avoiding = again.renewed(again.parts(call.args[0].value))
                if again.follows(other, call, avoiding) or again.follows(call, other, avoiding):
                    return call
    return None


def _same_store(load: cst.Call, add: cst.Call) -> bool:
    """Whether a call loads messages of the object that the other one adds messages to."""
    owner = ex.receiver(load)
    if owner is None or not loads(load):
        return False
    return ex.dotted(owner) is not None and ex.dotted(owner) == ex.dotted(ex.receiver(add) or owner)


def _contents(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    items = ex.dict_items(value)
    return [items["content"]] if "content" in items else []


def _retries(decorator: cst.BaseExpression) -> bool:
    """`@retry(...)`, `@tenacity.retry`, `@backoff.on_exception(...)`."""
    name = (ex.dotted(decorator.func if isinstance(decorator, cst.Call) else decorator) or "").lower()
    return "retry" in name or name.startswith("backoff.") or name.rpartition(".")[2] == "on_exception"
