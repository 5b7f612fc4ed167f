"""Messages that are sent beside a history: one list or request holds all that the history does, and they as well.

`[*history, {"role": "user", "content": text}]`, `messages.extend(history)` and then `messages.append(...)`, and a call
of a function, also of another file, that does so with what it gets. Whether the history holds the message by then, is
for `doubles` to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.growth import keeps_conversation
from lint_rules.anatomy.messages.messages import Message, Role
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, moved, root_object
from lint_rules.anatomy.vocabulary import CONFIGURED
from lint_rules.rules.double_history_append.places import text_of, untrimmed
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.elements import iterated, names_of_elements
from lint_rules.syntax.memo import DEEPEST, kept
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_HOPS = 3
"""Into how many files a call is followed."""
_MOST = 4
"""So many histories of one list, and so many values of one name, are followed; a name with more is a generated one."""
_MOST_JOINED = 60
_BESIDE = frozenset({"chat_history", "message_history"})
"""Keywords under which calls of libraries take a history beside the new message.

Source: LlamaIndex, chat engines (`chat`, `stream_chat`); Pydantic AI, `Agent.run`.
"""
_SAYS: frozenset[Role | None] = frozenset({"user", "assistant"})


_ASKING = frozenset({"str", "len", "isinstance", "bool", "getattr", "hasattr"})


@record
class Joined:
    """`node` puts `message` beside what the history in `slot` held when it was taken: by the statements `taken`, in
    their order, from list to list (none: at `node`).

    `list` is what both are put into, if that has a name. `inner` is where it is done, and in which file, if a function
    that is called at `node` does it; `load` the call there that gives the history, if that file loads it.
    """

    node: cst.CSTNode
    slot: Slot
    message: Message
    taken: tuple[cst.CSTNode, ...] = ()
    list: Slot | None = None
    inner: tuple[cst.CSTNode, Anatomy] | None = None
    load: tuple[cst.Call, Anatomy] | None = None


_Part = tuple[Slot, tuple[cst.CSTNode, ...]]
"""A history that a list holds all of, and the statements that took it from there, the first one first."""


class Joins:
    """Those of one file."""

    def __init__(self, anatomy: Anatomy, hops: int = _HOPS) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.slots = anatomy.facts.slots
        self.module = anatomy.module
        self._hops = hops
        self._known: dict[Scope, list[Joined]] = {}
        self._elsewhere: dict[Anatomy, Joins] = {}

    def of(self, function: Scope) -> list[Joined]:
        """Those that a function makes, itself or by what it calls."""
        found = self._known.get(function)
        if found is None:
            self._known[function] = []  # a function that calls itself
            found = [
                *self._displayed(function),
                *self._grown(function),
                *self._beside(function),
                *self._called(function),
            ]
            found = self._known[function] = [one for one in found[:_MOST_JOINED] if not self._asks_first(one)]
        return found

    # -- in the function itself -------------------------------------------------------------------------------

    def _displayed(self, function: Scope) -> Iterator[Joined]:
        """`[*history, message]`, `history + [message]`."""
        for node in function.nodes_of(cst.List, cst.BinaryOperation):
            outer = self.module.parent[node]
            if isinstance(outer, (cst.BinaryOperation, cst.StarredElement)) or not _is_put_together(node):
                continue
            statement = self.module.statement(node)
            bound = [self.slots.of(t) for t in ex.targets(statement)] if isinstance(statement, cst.Assign) else []
            for one in self._ones(node):
                for slot, taken in self.wholes(node):
                    if slot not in bound:
                        yield from (Joined(node, slot, message, taken) for message in self._messages(one))

    def _grown(self, function: Scope) -> Iterator[Joined]:
        """`messages.append(message)`, of a list that a history was put into."""
        stored = [one for one in self.anatomy.transcript.stored(function) if one.kind in GROWING]
        lists = {one.slot for one in stored if one.slot is not None and one.slot[:2] == ("var", function)}
        filled = {slot: list(dict.fromkeys(islice(self._filled(function, slot), _MOST))) for slot in lists}
        for one in stored:
            if one.slot is not None and one.message is not None and one.role in _SAYS:
                for slot, taken in filled.get(one.slot, ()):
                    if one.node not in taken and self._come_together(taken[-1], one.node):
                        yield Joined(one.node, slot, one.message, taken, one.slot)

    def _come_together(self, one: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether a run may come by two statements: not where each stands in a branch of its own."""
        inside = self.module.inside
        for outer in self.module.ancestors(one):
            if isinstance(outer, (cst.For, cst.While)):
                return True  # another round may take the other branch
            if isinstance(outer, cst.If) and inside(other, outer):
                return inside(one, outer.body) == inside(other, outer.body)
        return True

    def _filled(self, function: Scope, slot: Slot) -> Iterator[_Part]:
        """The histories that are put into a list, and where."""
        for value in self.facts.assigned(slot):
            statement = self.module.statement(value)
            put_together = statement is not None and _is_put_together(ex.inner(value))
            for part, taken in self.wholes(value) if put_together else ():
                if part != slot:
                    yield part, (*taken, statement)
        yield from self._added(function, slot, 0)

    def _added(self, function: Scope, slot: Slot, depth: int) -> Iterator[_Part]:
        """Those that are added to it after it was made: at once, or one by one in a loop."""
        for node in function.nodes_of(cst.Call, cst.AugAssign):
            base = ex.receiver(node) if isinstance(node, cst.Call) else node.target
            if base is None or self.slots.of(base) != slot:
                continue
            if isinstance(node, cst.AugAssign):
                yield from ((part, (*taken, node)) for part, taken in self.wholes(node.value, depth))
            elif ex.called_name(node) == "extend" and len(node.args) == 1:
                yield from ((part, (*taken, node)) for part, taken in self.wholes(node.args[0].value, depth))
            elif ex.called_name(node) == "append" and (loop := self._loop_over_all(node)) is not None:
                yield from ((part, (*taken, loop)) for part, taken in self.wholes(iterated(loop.iter), depth))

    def _loop_over_all(self, call: cst.Call) -> cst.For | None:
        """The loop in which a call gets something of each element of a list: no test compares that with others."""
        loop = self.module.loop_around(call)
        own = names_of_elements(loop) if isinstance(loop, cst.For) else set()
        if not isinstance(loop, cst.For) or own.isdisjoint(names_in(*(arg.value for arg in call.args))):
            return None
        tests = (tested.test for tested, _ in passed(self.module, call, loop))
        return None if any(_compares(test, own) for test in tests) else loop

    def _beside(self, function: Scope) -> Iterator[Joined]:
        """`chain.invoke({"input": text, "history": history})`, `engine.chat(text, chat_history=history)`.

        And what is said to a conversation that was begun with a history: `start_chat(history=history)`.
        """
        for call in function.nodes_of(cst.Call):
            values = [arg.value for arg in call.args]
            begun = self._begun_with(call) or list(self._past(call))
            if not begun and ex.called_name(call) in CONFIGURED and self.slots.callee(call) is None and values:
                values = [value for key, value in ex.dict_items(values[0]).items() if key != "messages"]
                begun = [part for value in values for part in self.wholes(value)]
            for value in values if begun else ():
                if ex.reads_place(ex.inner(value)) and not self.anatomy.is_history(value):
                    message = Message(call, "user", content=value)
                    yield from (Joined(call, slot, message, taken) for slot, taken in begun)

    def _past(self, call: cst.Call) -> Iterator[_Part]:
        """The history that a call of a library gets beside a message."""
        given = ex.keywords(call) if len(call.args) > 1 and self._runs(call, any_call=True) is None else {}
        for keyword in _BESIDE & given.keys():
            yield from self.wholes(given[keyword])

    def _begun_with(self, call: cst.Call) -> list[_Part]:
        """The history with which a conversation was begun that a method goes on with."""
        base = ex.receiver(call)
        found: list[_Part] = []
        for bound in self.anatomy.definitions(base) if isinstance(base, cst.Name) else ():
            made = ex.inner(bound.value) if bound.value is not None else None
            past = ex.argument(made, "history") if isinstance(made, cst.Call) else None
            if isinstance(made, cst.Call) and past is not None and keeps_conversation(self.module, made):
                here = () if bound.point.statement is None else (bound.point.statement,)
                found += [(slot, (*taken, *here)) for slot, taken in self.wholes(past)]
        return found

    def _ones(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The single elements of a list that is put together."""
        node = ex.inner(node)
        if isinstance(node, cst.BinaryOperation):
            yield from (*self._ones(node.left), *self._ones(node.right))
        elif isinstance(node, cst.List):
            yield from (e.value for e in node.elements if not isinstance(e, cst.StarredElement))

    def _messages(self, value: cst.BaseExpression) -> list[Message]:
        return [m for m in self.anatomy.transcript.messages.of(value) if m.role in _SAYS and m.content is not None]

    def wholes(self, value: cst.BaseExpression, depth: int = 0) -> list[_Part]:
        """The lists of which a value holds all, or the end."""
        return self._wholes_of((value, depth)) if depth <= DEEPEST else []

    @kept
    def _wholes_of(self, asked: tuple[cst.BaseExpression, int]) -> list[_Part]:
        return [*self._findwholes(*asked)]

    def _findwholes(self, value: cst.BaseExpression, depth: int) -> Iterator[_Part]:
        for part in ex.alternatives(value):
            if isinstance(part, (cst.ListComp, cst.GeneratorExp)):
                own = set(ex.target_names(part.for_in.target))
                if not any(_compares(clause.test, own) for clause in part.for_in.ifs):
                    yield from self.wholes(part.for_in.iter, depth + 1)
            elif isinstance(part, cst.BinaryOperation) or (copied := sources(part)):
                inner = [part.left, part.right] if isinstance(part, cst.BinaryOperation) else copied
                at = ex.slice_of(part)
                for each in inner if at is None or at.upper is None else ():
                    yield from self.wholes(each, depth + 1)
            elif (slot := self.slots.of(part)) is not None and not self._may_miss_the_last(part):
                yield slot, ()
                yield from self._known_by(part, depth)
            if isinstance(part, cst.Call) and not _ends_before(part):
                yield from ((store, ()) for store in self.anatomy.kept_elsewhere.given_by(part))

    def _may_miss_the_last(self, part: cst.BaseExpression) -> bool:
        """Whether the last message may be taken from what a name stands for: `past = past[:-1]`, `past.pop()`."""
        values = [d.value for d in self.anatomy.definitions(part)] if isinstance(part, cst.Name) else []
        if any(
            value is not None and (at := ex.slice_of(value)) is not None and at.upper is not None for value in values
        ):
            return True
        slot, function = self.slots.of(part), self.module.scope_of[part].function
        taken = [
            write.node
            for write in self.anatomy.writes.by_slot.get(slot, ())  # type: ignore[arg-type]
            if write.kind == "cut" and write.function is function and _takes_last(write.node)
        ]
        return bool(taken) and function.kind != "class" and self.anatomy.leads(function, taken, [part])

    def _known_by(self, part: cst.BaseExpression, depth: int) -> Iterator[_Part]:
        """What a name holds that was bound to a copy, or a call gives back of what it gets."""
        if isinstance(part, cst.Name):
            definitions = self.anatomy.definitions(part)
            for bound in definitions if len(definitions) <= _MOST else ():
                statement = bound.point.statement
                if bound.kind == "assign" and bound.value is not None and statement is not None:
                    for slot, taken in self.wholes(bound.value, depth + 1):
                        yield slot, (*taken, statement)
                elif bound.kind == "unpack" and isinstance(statement, cst.Assign):
                    given = ex.inner(statement.value)
                    if bound.value is None and isinstance(given, cst.Call):  # one of those that a function gives
                        yield ("call", given), (statement,)
            own, function = self.slots.of(part), self.module.scope_of[part].function
            if own is not None and own[:2] == ("var", function) and not is_parameter(own) and depth < DEEPEST:
                yield from self._added(function, own, depth + 1)
        elif isinstance(part, cst.Call):
            found = self._runs(part, any_call=True)
            if found is None:
                return
            for slot in found[0]._given_back(found[1], depth):
                yield from self._outside(slot, part, found[0], found[1], depth + 1)

    def _given_back(self, function: Scope, depth: int) -> list[Slot]:
        """The lists of which a function gives back all: as they are, or in one that it has filled with them."""
        returned = function.returned
        return [slot for value in returned for slot, _ in self.wholes(value, depth + 1)]

    # -- by what is called ------------------------------------------------------------------------------------

    def _runs(self, call: cst.Call, *, any_call: bool = False) -> tuple[Joins, Scope] | None:
        """The function that a call runs; one of another file if it is handed a history, or gives one, or any one.

        In another file a parameter may be one: that is where the question comes from.
        """
        callee = self.slots.callee(call)
        if callee is not None:
            return self, callee
        handed = any_call or any(Kind.HISTORY in self.facts.kinds(arg.value) for arg in call.args)
        handed = handed or Kind.HISTORY in self.facts.kinds(call)
        if not self._hops or not (handed or len(call.args) > 1 or any(arg.star for arg in call.args)):
            return None
        found = run_elsewhere(self.anatomy, call, asking=not handed)
        if found is None or found[0] is self.anatomy:
            return (self, found[1]) if found is not None else None
        if found[0] not in self._elsewhere:
            self._elsewhere[found[0]] = Joins(found[0], self._hops - 1)
        return self._elsewhere[found[0]], found[1]

    def _called(self, function: Scope) -> Iterator[Joined]:
        for call in function.nodes_of(cst.Call):
            found = self._runs(call)
            if found is None or found[1] is function:
                continue
            there, callee = found
            given = dict(there.slots.bindings(call, callee)) if there.of(callee) else {}
            for one in there.of(callee):
                said = given.get(there._says(one.message))  # type: ignore[arg-type]
                if said is not None:
                    message = replace(one.message, node=call, content=said)
                    inner = one.inner or (one.node, there.anatomy)
                    load = one.load or loaded_by(
                        there.anatomy, callee, one.slot, one.taken[0] if one.taken else one.node
                    )
                    outside = list(self._outside(one.slot, call, there, callee))
                    for slot, taken in outside or ([(("call", call), ())] if load is not None else []):
                        yield Joined(call, slot, message, taken, None, inner, load)

    def _outside(self, slot: Slot, call: cst.Call, there: Joins, callee: Scope, depth: int = 0) -> Iterator[_Part]:
        """A history of a function as one that calls it names it."""
        given = dict(there.slots.bindings(call, callee))
        base = ex.receiver(call)
        root = root_object(slot)
        if slot in given:
            yield from self.wholes(given[slot], depth)
        elif root in given:
            place = self.slots.of(given[root])
            yield from [(moved(slot, root, place), ())] if place is not None else ()
        elif there is self:
            if root[:2] != ("var", callee):
                yield slot, ()
        elif base is not None and (part := self._of_object(slot, base)) is not None:
            yield part, ()

    def _of_object(self, slot: Slot, base: cst.BaseExpression) -> Slot | None:
        """What an object of another file keeps, by the name of the object here: `desk.talks[k]` of `self.talks[k]`."""
        root = root_object(slot)
        member = self.slots.member(base, root[2]) if root[0] == "attr" else None
        return moved(slot, root, member) if member is not None else None

    def _says(self, message: Message) -> Slot | None:
        """What a message says, under the name that was bound first: it may be a parameter."""
        content = message.content
        for _ in range(DEEPEST):
            content = untrimmed(text_of(content)) if content is not None else None
            named = self.anatomy.assigned(content) if isinstance(content, cst.Name) else None
            if named is None:
                break
            content = named
        return self.slots.of(content)

    # -- what tells that it is not there ----------------------------------------------------------------------

    def _asks_first(self, one: Joined) -> bool:
        """Whether a condition looks into the history, or the list, for what is there already."""
        looked = {one.slot, one.list}
        for outer in self.module.ancestors(one.node):
            if isinstance(outer, cst.FunctionDef):
                return False
            test = outer.test if isinstance(outer, (cst.If, cst.IfExp)) else None
            for part in walk(test) if test is not None else ():
                inside = part.value if isinstance(part, cst.Subscript) else None
                if isinstance(part, cst.CompFor):
                    inside = part.iter
                elif isinstance(part, cst.ComparisonTarget) and isinstance(part.operator, (cst.In, cst.NotIn)):
                    inside = part.comparator
                if inside is not None and self.slots.of(inside) in looked:
                    return True
        return False


def loaded_by(anatomy: Anatomy, function: Scope, slot: Slot, place: cst.CSTNode) -> tuple[cst.Call, Anatomy] | None:
    """The call that gave a list at a place, if a store may have given it, and its file."""
    if slot[0] == "call":
        return (slot[1], anatomy) if isinstance(slot[1], cst.Call) else None
    calls = (call for call in function.nodes_of(cst.Call) if anatomy.module.inside(call, place))
    found = next((call for call in calls if anatomy.facts.slots.of(call) == slot), None)
    own = found is not None and slot[0] == "return" and Kind.REPLY not in anatomy.facts.of(slot)
    return (found, anatomy) if found is not None and own else None


def _ends_before(load: cst.Call) -> bool:
    """`lrange(key, 0, -2)`: all but the last line, of which -1 is the place (Redis, LRANGE)."""
    return any((at := ex.integer(arg.value)) is not None and at < -1 for arg in load.args)


def _takes_last(cut: cst.CSTNode) -> bool:
    """`past.pop()`, `past.remove(message)`, `del past[-1]`: not `past.pop(0)`, nor `del past[:10]`."""
    if isinstance(cut, cst.Call):
        return ex.called_name(cut) == "remove" or (ex.called_name(cut) == "pop" and not ex.positional(cut))
    return isinstance(cut, cst.Del) and isinstance(cut.target, cst.Subscript) and ex.slice_of(cut.target) is None


def _compares(test: cst.BaseExpression, own: set[str]) -> bool:
    """Whether a condition compares an element with something else: with what was just said, it may be."""
    known = {name for name in names_in(test) if name[:1].isupper()} | _ASKING
    return not names_in(test) <= own | known | {
        part.attr.value for part in walk(test) if isinstance(part, cst.Attribute)
    }


def _is_put_together(value: cst.BaseExpression) -> bool:
    """Whether a value is a list that is made on the spot: a display, a sum, a copy, a comprehension."""
    if isinstance(value, cst.BinaryOperation):
        return isinstance(value.operator, cst.Add)
    return isinstance(value, (cst.List, cst.ListComp, cst.BooleanOperation, cst.IfExp)) or bool(sources(value)) or (
        isinstance(value, cst.Call)
    )  # fmt: skip
