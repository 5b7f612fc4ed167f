"""What functions of other files put into histories, with the values of this file in the place of their parameters.

`talk.asks(text)`, `carry_out(talk, calls)`: whose words these are is said there, and where they go. What class an
object has that is handed over may be known here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import classes_of, method_of, run_elsewhere
from lint_rules.anatomy.messages.messages import Message
from lint_rules.anatomy.messages.sent import sent_histories
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.turns.keepers import made_of, seen_from
from lint_rules.anatomy.values.slots import Slot, as_part_of, is_parameter, moved, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class _Frame:
    """A run of `callee`, in the file `there`: `given` are the values here for its parameters, `own` places its object.

    `own` gives what an attribute there is here; None for what goes with the object.
    """

    there: Anatomy
    callee: Scope
    given: Mapping[Slot, cst.BaseExpression]
    own: Callable[[Slot], Slot | None]

    def is_own(self, cls: Scope) -> bool:
        """Whether an attribute of a class is one of the object of which `callee` is a method."""
        return cls in self.there.module.lineage(self.callee.owner)

    def object_of(self, cls: Scope) -> cst.BaseExpression | None:
        """The object of a class that is handed over, if there is one."""
        known = self.there.facts.slots.classes
        lines = {p: own for p in self.given if (own := known.get(p)) is not None}
        found = [p for p, own in lines.items() if cls in self.there.module.lineage(own)]
        return self.given[found[0]] if len(found) == 1 else None


def substituted(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[Stored]:
    """What a call in `function` stores by what it runs in other files: one of each role for each history."""
    frame = _frame(anatomy, call, function)
    told: dict[tuple[Slot, str | None], Message] = {}
    for slot, message in _Run(anatomy, call).puts(frame) if frame is not None else ():
        known = told.setdefault((slot, message.role), message)
        if known.calls is None and message.calls is not None:  # the texts of a reply, then its calls
            told[slot, message.role] = message
    for (slot, _), message in told.items():
        yield Stored(call, function, slot, "append", message, None)


def sent_by(anatomy: Anatomy, call: cst.Call, function: Scope) -> set[Slot]:
    """The lists that requests of another file are made of, as `function` has them, of which a call runs them."""
    frame = _frame(anatomy, call, function)
    if frame is None:
        return set()
    run = frame.there.calls.reachable(frame.callee)
    asked = frame.there.facts.calls.items()
    requests = [request for node, request in asked if frame.there.module.scope_of[node].function in run]
    places = (_Run(anatomy, call).place(slot, frame) for slot in sent_histories(frame.there, requests))
    return {place for place in places if place is not None}


def _frame(anatomy: Anatomy, call: cst.Call, function: Scope) -> _Frame | None:
    there, callee = run_elsewhere(anatomy, call) or (None, None)
    if there is None or callee is None or callee.kind != "function":
        return None
    given = dict(there.facts.slots.bindings(call, callee))
    return _Frame(there, callee, given, lambda slot: seen_from(anatomy, call, function, slot))


class _Run:
    """What one call of a file runs elsewhere; it stands itself for what is made there."""

    def __init__(self, anatomy: Anatomy, call: cst.Call) -> None:
        self._anatomy = anatomy
        self._call = call
        self._seen: set[tuple[Scope, frozenset[tuple[Slot, cst.BaseExpression]]]] = set()

    def puts(self, frame: _Frame) -> Iterator[tuple[Slot, Message]]:
        """The messages of which a role is told, and where each goes, as this file has it."""
        there, callee = frame.there, frame.callee
        known = callee, frozenset(frame.given.items())
        if known in self._seen:
            return
        self._seen.add(known)
        stored = there.transcript.stored(callee) if not there.mending.closes(callee) else ()
        for each in stored:  # who closes what is open answers no call
            if each.slot is None or each.kind not in GROWING:
                continue
            slot = self.place(_of_object(there, each.node, each.slot), frame)
            if slot is not None and each.message is not None and each.role is not None:
                yield slot, self._message(each.message, frame)
        for inner in callee.nodes_of(cst.Call):
            for below in self._below(inner, frame):
                yield from self.puts(below)

    def _below(self, inner: cst.Call, frame: _Frame) -> Iterator[_Frame]:
        """What runs by a call in what is run: a method of an object that this file hands over."""
        there, base = frame.there, ex.receiver(inner)
        slot = there.facts.slots.of(base)
        held = frame.given.get(slot) if slot is not None else None
        place = self._anatomy.facts.slots.of(held)
        for cls in classes_of(self._anatomy, place) if place is not None else ():
            where, method = method_of(*cls, ex.called_name(inner)) or (None, None)
            if where is not None and method is not None and place is not None:
                own = partial(as_part_of, place=self._anatomy.aliases.of(place))
                given = {p: self._here(value, frame) for p, value in there.facts.slots.bindings(inner, method)}
                yield _Frame(where, method, given, own)

    def place(self, slot: Slot, frame: _Frame) -> Slot | None:
        """Where a history that is there is here; None for what lives there only."""
        root, facts = root_object(slot), self._anatomy.facts
        if root[0] == "outside":
            return slot
        if root[0] == "var" and root[1] is frame.there.module.top:
            name = self._name_of(root, frame.there)
            return moved(slot, root, ("var", self._anatomy.module.top, name)) if name is not None else None
        if root[0] == "attr" and frame.is_own(root[1]):
            return frame.own(slot)
        of_class = root[0] == "attr"
        given = frame.object_of(root[1]) if of_class else frame.given.get(root)
        here = facts.slots.of(given)
        if here is None:
            return None
        part = partial(as_part_of, slot) if of_class else partial(moved, slot, root)
        named = part(here)  # as this file writes it, if it does
        is_named = (slot == root and not of_class) or named in self._anatomy.writes.by_slot
        return named if is_named else part(self._anatomy.aliases.of(here))

    def _name_of(self, root: Slot, there: Anatomy) -> str | None:
        """The name under which this file has imported a global of another one."""
        origins = self._anatomy.module.imports.origin
        for name in (name for name, (_, imported) in origins.items() if imported == root[2]):
            found = self._anatomy.imported_value(name)
            if found is not None and found[0].module.path == there.module.path:
                return name
        return None

    def _here(self, part: cst.BaseExpression | None, frame: _Frame) -> cst.BaseExpression:
        """What a value there is made of here, if that is one thing."""
        made = dict.fromkeys(made_of(frame.there, part)) if part is not None else {}
        handed = [frame.given[slot] for slot in made if slot in frame.given]
        return handed[0] if len(handed) == 1 else self._call

    def _message(self, message: Message, frame: _Frame) -> Message:
        call, content = self._call, self._here(message.content, frame)
        if message.role == "tool":
            return Message(call, "tool", None, tuple(self._here(a, frame) for a in message.answers) or (call,), content)
        told = Message(call, message.role, content=content)
        if told.role is not None and content is not call:
            told = self._anatomy.transcript.messages.said(call, told.role, content)
        if message.calls is None and message.more:
            return replace(told, calls=told.calls or self._named_calls(frame))
        carried = message.calls is not None and not self._is_left_out(message.calls, frame)
        return replace(told, calls=self._here(message.calls, frame)) if carried else told

    def _named_calls(self, frame: _Frame) -> cst.BaseExpression | None:
        """The calls that a message gets by `**more`, where this file names them: `said(text, tool_calls=calls)`."""
        names = self._anatomy.facts.call_attributes
        more = (value for slot, value in frame.given.items() if slot[0] == "member" and slot[2] in names)
        return next((value for value in more if ex.dotted(value) != "None"), None)

    def _is_left_out(self, part: cst.BaseExpression, frame: _Frame) -> bool:
        """Whether a value is made of what this call does not hand over: `note(text)`, of `note(text, calls=None)`."""
        slots = {frame.there.facts.slots.of(node) for node in walk(part) if type(node) is cst.Name}
        named = {slot for slot in slots if slot is not None and slot[1] is frame.callee and is_parameter(slot)}
        return bool(named) and named.isdisjoint(frame.given)


def _of_object(there: Anatomy, node: cst.CSTNode, slot: Slot) -> Slot:
    """An attribute of a class as the part of a global object that it is where a method is called: `PAGES.add(...)`."""
    base = there.facts.slots.of(ex.receiver(node))
    if base is None or base[:2] != ("var", there.module.top) or root_object(slot)[0] != "attr":
        return slot
    return as_part_of(slot, base)
