"""Places where a function adds messages to its histories, and which message each of them adds.

Two places add the same message when it is made of the same values. A `Double` is a place whose message is in the
history already, with the place of the other time.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.obligations.again import Again
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

Identity = tuple[str, str]
"""The role of a message, or "", and what it says, as code."""
_MOST_ORIGINS = 8
_SPEAKING = frozenset({"user", "assistant"})
_TRIMS = frozenset({"strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace"})
_READ = (cst.Name, cst.Attribute, cst.Subscript, cst.BooleanOperation)


class How(Enum):
    """How a message comes to be stored twice."""

    PER_CALL = "once for each tool call"
    PER_CHUNK = "once for each piece of the stream"
    AGAIN = "a second time"
    SENT = "beside the history that holds it"
    SAVED = "beside the history that was loaded with it"
    RETRY = "once for each attempt"
    RETRIED = "once for each attempt of the whole function"
    LOADED = "with everything that was there before"
    CALLBACK = "by a callback, too"


@record
class Double:
    """`stored` is the place to report, `other` what makes it the second time: a loop, a decorator, another place.

    `where` is the file of `other`, if it is another one. `inner`: what is called at the place does it there, in a file.
    """

    how: How
    stored: Stored
    other: cst.CSTNode
    where: Anatomy | None = None
    inner: tuple[cst.CSTNode, Anatomy] | None = None


@record
class Same:
    """What a message is made of: `slots`, which go by `names` where it is stored, and got these at `bound`."""

    slots: frozenset[Slot]
    names: frozenset[Slot]
    bound: frozenset[Point] = frozenset()

    def until(self, then: Same) -> frozenset[Slot]:
        """The slots of which none may be bound anew from here to where `then` is stored."""
        return self.slots | self.names | then.slots


class Places:
    """The places of one function: `all` of them, and `again` for the paths between them."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.function = function
        self.again = Again(anatomy, function)
        self._identities: dict[Stored, dict[Identity, Same]] = {}
        stored = anatomy.transcript.stored(function)
        grown = [place for place in stored if place.slot is not None and self.again.grows(place)]
        self.all = [place for place in grown if not self._may_decline(place)]

    def _may_decline(self, place: Stored) -> bool:
        """Whether what runs at a place stores nothing, where a test of what it has set itself the last time says so.

        `if self.last == kind: return`, and `self.last = kind` behind the append.
        """
        there, callee = body(self.anatomy, place.node) or (None, None)
        if there is None or callee is None or callee.kind != "function":
            return False
        slots = there.facts.slots
        made = (slots.of(each) for node in callee.nodes_of(cst.Assign, cst.AugAssign) for each in ex.targets(node))
        kept = {slot for slot in made if slot is not None and slot[:2] != ("var", callee)}
        return bool(kept) and any(
            slots.of(part) in kept
            for each in there.transcript.stored(callee)
            for tested, _ in conditions.passed(there.module, each.node, callee.node)
            for part in walk(tested.test)
            if isinstance(part, cst.BaseExpression)
        )

    def is_left(self, stored: Stored) -> bool:
        """Whether a request that fails behind a place ends the function, and the message stays where it is."""
        cut = self.again.unstored(stored.slot)
        calls = (call for call in self.function.nodes_of(cst.Call) if self.anatomy.calls.asks(call))
        return any(self.again.follows(stored.node, call, cut) and self.again.fails_out(call, cut) for call in calls)

    def value(self, stored: Stored) -> cst.BaseExpression | None:
        """What a place stores, as written in this function; of several messages at once, the one in question."""
        message = stored.message.node if stored.message is not None else None
        if stored.write is not None and stored.write.node is stored.node and stored.kind == "extend":
            if message is not None and self.module.inside(message, stored.node):
                return message
        if stored.write is not None and stored.write.node is stored.node:
            return stored.write.value
        if stored.write is None and message is not None and message is not stored.node and self._is_here(message):
            return message
        content = stored.message.content if stored.message is not None else None
        return content if content is not None and self._is_here(content) else None

    def _is_here(self, node: cst.CSTNode) -> bool:
        scope = self.module.scope_of.get(node)
        return scope is not None and scope.function is self.function

    def tells(self, stored: Stored) -> bool:
        """Whether a message says something that came from outside or from the model: fixed texts may be repeated."""
        value = self.value(stored)
        return value is not None and any(self._varies(slot) for slot in self.again.parts(value))

    def _varies(self, slot: Slot) -> bool:
        slot = root_object(slot)
        return slot[0] == "var" and (slot[1].kind != "module" or self.function.kind == "module")

    def depends(self, stored: Stored) -> set[Slot]:
        """The slots that make a place another one: those of its value, of what a helper makes the message of, and of
        the list it is written to.
        """
        made_of = [self.value(stored), self._list_of(stored)]
        if stored.message is not None and stored.write is not None and stored.write.node is not stored.node:
            made = stored.message.node if isinstance(stored.message.node, cst.BaseExpression) else None
            made_of += [stored.message.calls, *stored.message.answers, made]
        return {slot for part in made_of if part is not None and self._is_here(part) for slot in self.again.parts(part)}

    @staticmethod
    def _list_of(stored: Stored) -> cst.BaseExpression | None:
        return ex.receiver(stored.node)

    def identities(self, stored: Stored) -> dict[Identity, Same]:
        """What tells one message from another, in each way in which it may be written, with what that is made of.

        Its role and what its content was taken from (`message.content` for `text = message.content`), or the value
        itself. A reply that is stored as a whole says the same as a message made of its content.
        """
        if stored not in self._identities:
            self._identities[stored] = self._find_identities(stored)
        return self._identities[stored]

    def _find_identities(self, stored: Stored) -> dict[Identity, Same]:
        message, value, found = stored.message, self.value(stored), dict[Identity, Same]()
        content = message.content if message is not None and message.content in self.module.scope_of else None
        if message is not None and message.role in _SPEAKING and content is not None and not self._is_here(content):
            found = {(message.role, said): same for said, same in self._handed(stored, content)}
        if found or message is None or not self.tells(stored):
            return found
        if message.role in _SPEAKING and content is not None and self._is_here(content):
            named = [value] if isinstance(value, cst.Name) and value is not content else []
            names = {slot for name in named for slot in self.again.parts(name)}
            made = ((d.value, d.point) for name in named for d in self.anatomy.definitions(name))
            bound = {at for whole, at in made if whole is not None and self.module.inside(content, whole)}
            for origin, same in self.origins(text_of(content)):
                found[message.role, ex.source(origin, 400)] = Same(same.slots, same.names | names, same.bound | bound)
        elif value is not None and ex.reads_place(ex.inner(value)) and self._stays_as_it_is(stored, value):
            for origin, same in self.origins(value):
                written = ex.source(origin, 400)
                found["", written] = same
                if self.facts.is_kind(origin, Kind.REPLY):
                    found["assistant", f"{written}.content"] = same
        return found

    def _handed(self, stored: Stored, content: cst.BaseExpression) -> Iterator[tuple[str, Same]]:
        """What a message says that a helper makes of what it is handed here, or a part of it, as it is written here."""
        slots, function = self.facts.slots, self.module.scope_of[content].function
        calls = (part for part in walk(stored.node) if isinstance(part, cst.Call) and slots.callee(part) is function)
        given = [pair for call in calls for pair in slots.bindings(call, function) if not self.facts.assigned(pair[0])]
        bound = {each for t in ex.assigned(self.module.statement(stored.node)) for each in self.again.parts(t)}
        made = (self.facts.values_of(content) if isinstance(content, cst.Name) else []) or [text_of(content)]
        for part in (part for value in made for part in ex.alternatives(untrimmed(value))):
            owner, name = ex.member(part) or (part, None)
            handed = next((value for slot, value in given if slot == slots.of_name(owner)), None)
            if handed is not None and ex.reads_place(handed) and bound.isdisjoint(self.again.parts(handed)):
                parts = frozenset(self.again.parts(handed))
                yield ex.source(handed, 400) + (f".{name}" if name is not None else ""), Same(parts, parts)

    def _stays_as_it_is(self, stored: Stored, value: cst.BaseExpression) -> bool:
        """Whether a value holds the same the next time: a message, or all that a reply holds; another list may grow."""
        pair = ex.member(value)
        return stored.kind != "extend" or (pair is not None and self.facts.is_kind(pair[0], Kind.REPLY))

    def origins(self, value: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, Same]]:
        """A value, and what the names that it goes by were bound to."""
        stack = [(value, frozenset[Slot](), frozenset[Point]())]
        for _ in range(_MOST_ORIGINS):
            if not stack:
                return
            here, names, bound = stack.pop()
            here, *others = ex.alternatives(untrimmed(here))
            stack += [(other, names, bound) for other in others]
            slots = frozenset(self.again.parts(here))
            if any(self._varies(slot) for slot in slots):
                yield here, Same(slots, names, bound)
            if (whole := self._content_of(here)) is not None:
                stack.append((whole, names | slots, bound))
            if isinstance(here, cst.Name):
                given = ((d.value, d.point) for d in self.anatomy.definitions(here) if d.kind == "assign")
                read = ((v, at) for v, at in given if v is not None and isinstance(untrimmed(v), _READ))
                stack += [(v, names | slots, bound | {at}) for v, at in read]

    def _content_of(self, text: cst.BaseExpression) -> cst.BaseExpression | None:
        """`reply.content` of `reply.content[0].text`: who stores the words stores what has them."""
        block, name = ex.member(text) or (text, "")
        whole = block.value if isinstance(block, cst.Subscript) and ex.integer(ex.index(block)) == 0 else None
        owner = ex.member(whole) if whole is not None and name == "text" else None
        return whole if owner is not None and self.facts.is_kind(owner[0], Kind.REPLY) else None


def untrimmed(value: cst.BaseExpression) -> cst.BaseExpression:
    """`text` of `text.strip()`: it says the same."""
    while isinstance(value, cst.Call) and ex.called_name(value) in _TRIMS and (base := ex.receiver(value)) is not None:
        value = base
    return value


def text_of(content: cst.BaseExpression) -> cst.BaseExpression:
    """`text` of the contents `[text]`, `[{"type": "text", "text": text}]` and `[Part(text=text)]`; others are as is."""
    here = ex.inner(content)
    if isinstance(here, cst.List) and len(here.elements) == 1 and not isinstance(here.elements[0], cst.StarredElement):
        only = ex.inner(here.elements[0].value)
        inside = ex.dict_items(only).get("text") or (ex.argument(only, "text") if isinstance(only, cst.Call) else None)
        return inside or (only if ex.reads_place(only) else content)
    return content
