"""Messages that functions hand to a store: rows, keys and files, and objects of other files that keep a history.

`store.add(key, "assistant", text, tool_calls=calls)`, `db.add(Message(...))`, `self.talk.heard(message)`. That the call
keeps what it gets is seen in its body, or in the row that is made; and that the model is sent it again, in what gives
the history: it reads the same table, key, file or attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import LOOKING
from lint_rules.anatomy.messages.classes import body, run_elsewhere
from lint_rules.anatomy.messages.messages import ROLES, Message
from lint_rules.anatomy.messages.sent import what_is_made
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.keepers import Store, kept_by_package, store_of
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, reads
from lint_rules.anatomy.turns.resources import Touched
from lint_rules.anatomy.turns.substituted import sent_by, substituted
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.anatomy.vocabulary import TELLING_ROLES
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children

_AROUND = (
    cst.Await, cst.StarredElement, cst.List, cst.Element, cst.CompFor, cst.ListComp, cst.BinaryOperation, cst.Subscript,
)  # fmt: skip
"""Around a call, where what it gives becomes a list, or a part of one."""
_SAYING = frozenset({"role", "content"})
_SPEAKERS = TELLING_ROLES - {"tool"} | {"user"}
_NO_SLOTS: frozenset[Slot] = frozenset()
_WHOLE = frozenset({Kind.MESSAGE, Kind.REPLY})


@record
class _Load:
    """A call in the file of `where` that gives a history."""

    where: Anatomy
    call: cst.Call
    touched: Touched

    @property
    def is_closed(self) -> bool:
        """Whether its body looks for open calls, and closes them."""
        found = body(self.where, self.call)
        return found is not None and found[0].mending.closes(found[1])


class KeptElsewhere:
    """Answers for the functions of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self._resources = anatomy.resources
        self._places = ReplyPlaces(anatomy)
        self._known: dict[Scope, list[Stored]] = {}

    def of(self, function: Scope) -> list[Stored]:
        """The calls of a function that hand a message to a store, in source order."""
        found = self._known.get(function)
        if found is None:
            self._known[function] = []
            found = self._known[function] = list(self._find(function))
        return found

    def _find(self, function: Scope) -> Iterator[Stored]:
        known = {stored.node for stored in self.anatomy.transcript.in_lists(function) if stored.slot is not None}
        for call in function.nodes_of(cst.Call):
            callee = self.facts.slots.callee(call)
            inside = [each for each in self.of(callee) if self._is_made_there(each)] if callee is not None else []
            for each in inside:
                yield replace(each, node=call, function=function, message=self._as_called(each, call))
            if inside or (call in known and not self._resources.handed(call).made):
                continue  # `session.add(Row(...))` only looks like a list
            is_done = self._is_done(call)
            told = [*substituted(self.anatomy, call, function)] if is_done or self._asks_elsewhere(call) else []
            yield from told
            message = self._handed(call) if is_done and not told else None
            put = Stored(call, function, None, "append", message, None)
            about = put.calls is not None or put.answers
            slot = self.place(call, function, with_calls=about) if message is not None else None
            if slot is not None:
                yield replace(put, slot=slot)

    def _is_made_there(self, kept: Stored) -> bool:
        """Whether a message is no argument, of which the caller says what it is."""
        slot = self.facts.slots.of(kept.message.node) if kept.message is not None else None
        return kept.message is not None and not (slot is not None and is_parameter(slot))

    def _as_called(self, kept: Stored, call: cst.Call) -> Message | None:
        """The message that a function of this file keeps, with what a call hands to it."""
        transcript, message = self.anatomy.transcript, kept.message
        node, given = message.node if message is not None else None, transcript.given(call)
        made = transcript.messages.of(node, given) if node is not None else []
        if not made and isinstance(node, cst.Call):
            made = [each for arg in node.args for each in transcript.messages.of(arg.value, given)]
        told = made[0] if len(made) == 1 else message
        if told is None or told.calls is not None or told.role != "assistant":
            return told
        return replace(told, calls=next((part for arg in call.args for part in self._carried(arg)), None))

    def _asks_elsewhere(self, call: cst.Call) -> bool:
        """Whether a call runs a turn in another file, which may store messages of its own before it replies."""
        return run_elsewhere(self.anatomy, call, asking=True) is not None and self.anatomy.turns.reaches_model(call)

    def _is_done(self, call: cst.Call) -> bool:
        """Whether a call may be made for what it does, and does not log; if it asks a model, nobody reads the reply."""
        outer = self.anatomy.module.awaiting(call)
        if is_logging(call) or not isinstance(outer, cst.Expr | cst.Assign | cst.AnnAssign):
            return False
        return isinstance(outer, cst.Expr) or not self.anatomy.turns.reaches_model(call)

    def _handed(self, call: cst.Call) -> Message | None:
        """The message that a call gets, whole or in parts."""
        answered = self.anatomy.transcript.call_id(call)
        if answered is not None:
            return Message(call, "tool", None, (answered,))
        made = [*self.anatomy.transcript.handed(call)] or [*self._one_by_one(call)]
        whole = next((message for message in made if message.calls is not None), None)
        told = whole or next((message for message in made if message.role is not None), None)
        if whole is None:
            held = (part for arg in call.args for part in self._carried(arg))
            carried = next((part for part in held if told is None or not self._is_within(part, told)), None)
            if carried is not None:
                return Message(call, "assistant", carried)
        return told or self._told_apart(call)

    def _told_apart(self, call: cst.Call) -> Message | None:
        """A message whose role is one argument of a call, and what it says another: `note(key, "user", text)`."""
        said = [arg.value for arg in call.args if not arg.star]
        role = next((ROLES[text] for value in said if (text := ex.text(value)) in ROLES), None)
        texts = [value for value in said if not isinstance(value, (cst.SimpleString, cst.Integer))]
        return self.anatomy.transcript.messages.said(call, role, texts[-1]) if role is not None and texts else None

    def _is_within(self, part: cst.CSTNode, message: Message) -> bool:
        """Whether a message shows what it has of the calls: its text, maybe, and no more."""
        return self.anatomy.module.inside(part, message.node)

    def _one_by_one(self, call: cst.Call) -> Iterator[Message]:
        """The messages of a list that a loop hands on: `for item in reply.output: keep(key, item)`."""
        given = [arg.value for arg in call.args]
        given += [arg.value for value in given if isinstance(value, cst.Call) for arg in value.args]
        names = {value.value: value for value in given if isinstance(value, cst.Name)}
        for loop in self.anatomy.module.ancestors(call):
            if isinstance(loop, cst.For) and isinstance(loop.target, cst.Name) and loop.target.value in names:
                listed = self.anatomy.transcript.messages.many(loop.iter)
                yield from (replace(message, node=names[loop.target.value]) for message in listed)

    def _carried(self, arg: cst.Arg) -> Iterator[cst.BaseExpression]:
        """The calls that an argument is, or holds."""
        for node in _handed_parts(arg.value):
            if isinstance(node, cst.BaseExpression) and self.anatomy.transcript.messages.holds_calls(node):
                yield node
        named = arg.keyword is not None and arg.keyword.value in self.facts.call_attributes
        if named and ex.dotted(arg.value) != "None":
            yield arg.value

    def place(self, call: cst.Call, function: Scope, *, with_calls: bool = True) -> Slot | None:
        """Where a call puts what it gets, if a history is read from there; `with_calls`: one that has its calls."""
        kept = self._store(call)
        if kept is not None:
            known = kept.told or kept.slot in self.asked_with
            return (kept.slot if known else self._sent_part(kept.slot)) if kept.grows else None
        saved = self._resources.of(call)
        if (
            saved.lies_outside
            and not self._only_looks_up(call, saved)
            and (
                any(load.touched.is_read_again_after(saved) for load in (self._whole if with_calls else self.all_loads))
                or self._is_taken_up(call)
            )
        ):
            return ("outside", min(saved.filled))
        return None

    def _store(self, call: cst.Call) -> Store | None:
        """The history of an object of another file, or of a package, that a call gives or grows."""
        function = self.anatomy.module.scope_of[call].function
        known = store_of(self.anatomy, call, function)
        if known is not None or self._resources.of(call).lies_outside:
            return known
        return kept_by_package(self.anatomy, call, function)

    def _sent_part(self, keeper: Slot) -> Slot | None:
        """The part of an object with which a model is asked: `model.invoke(talk.messages)`."""
        return next((sent for sent in self._sent_slots if sent[:2] == ("member", keeper)), None)

    def _only_looks_up(self, call: cst.Call, touched: Touched) -> bool:
        """Whether what a call gives is used, and its body writes nothing where it names keys or files."""
        found = body(self.anatomy, call)
        if found is None or self.anatomy.module.is_statement(call) or touched.made or touched.put:
            return False
        there, callee = found
        return not any(there.storage.saves(here) for here in there.calls.reachable(callee))

    @cached_property
    def asked_with(self) -> set[Slot]:
        """What objects of other files keep that a model is asked with here."""
        loads = (call for call in self.anatomy.module.nodes_of(cst.Call) if self.gives_history(call))
        given = map(self._store, loads)
        return self._sent_slots | {store.slot for store in given if store is not None and not store.grows}

    @cached_property
    def given(self) -> dict[cst.Call, frozenset[Slot]]:
        """The calls that give what lies outside, as a history, with the stores of which they do."""
        return {load.call: self.given_by(load.call) for load in self._loads}

    @once(circular=_NO_SLOTS)
    def given_by(self, call: cst.Call) -> frozenset[Slot]:
        """The stores of which a call gives the history, as slots."""
        outside = (load.touched.names for load in self._loads if load.call is call)
        found: set[Slot] = {("outside", name) for names in outside for name in names}
        kept = self._store(call)
        return frozenset(found | ({kept.slot} if kept is not None and not kept.grows else set()))

    def sent_by(self, call: cst.Call) -> set[Slot]:
        """The histories of requests in other files that a call runs, as its function has them."""
        return sent_by(self.anatomy, call, self.anatomy.module.scope_of[call].function)

    def outlasts(self, slot: Slot) -> bool:
        """Whether calls of a history that lies outside are there, and open, when the program has ended.

        Who reads it again does not look for open calls.
        """
        outside = (each for scope in self.anatomy.module.functions for each in self.of(scope))
        kept = slot[0] == "outside" and any(each.slot == slot and each.calls is not None for each in outside)
        return kept and not any(load.is_closed for load in self._whole if slot[1] in load.touched.names)

    @once(circular=False)
    def _is_taken_up(self, call: cst.Call) -> bool:
        """Whether a call brings a message beyond the program, and a function there gives it again as it is.

        One that looks for open calls closes them. Not what asks a model: when it stores what, its body tells.
        """
        brings = any(map(self._is_message, call.args)) and not self.anatomy.turns.reaches_model(call)
        return brings and any(
            self._names_calls(there, reader)
            and (touched.read or any(there.facts.decoder(node) is not None for node in reader.nodes_of(cst.Call)))
            and not there.mending.closes(reader)
            for there, reader, touched in self._resources.readers(call)
        )

    def _is_message(self, arg: cst.Arg) -> bool:
        """A message, or the role of one that is handed part by part."""
        return ex.text(arg.value) in TELLING_ROLES or not _WHOLE.isdisjoint(self.facts.kinds(arg.value))

    def keeps_whole(self, call: cst.Call, function: Scope) -> bool:
        """Whether a call puts a list that it gets where a history is read from."""
        return self._is_done(call) and self.place(call, function) is not None

    @cached_property
    def _loads(self) -> list[_Load]:
        """The calls that give a history, and what they touch."""
        loads = (call for call in self.anatomy.module.nodes_of(cst.Call) if self.gives_history(call))
        return [
            _Load(self.anatomy, call, touched) for call in loads if (touched := self._resources.of(call)).lies_outside
        ]

    @cached_property
    def all_loads(self) -> list[_Load]:
        """The same, and what gives requests of other files theirs that this file runs."""
        found, requests = [*self._loads], self.anatomy.turns.requests
        for call in (call for function in self.anatomy.module.functions for call in requests(function)):
            there, asking = run_elsewhere(self.anatomy, call) or (None, None)
            if there is not None and asking is not None:
                scopes, run = there.module.scope_of, there.calls.reachable(asking)
                loads = there.kept_elsewhere.all_loads
                found += [load for load in loads if load.where is not there or scopes[load.call].function in run]
        return found

    @cached_property
    def _whole(self) -> list[_Load]:
        """Those that give it with its calls."""
        return [
            load for load in self.all_loads if not load.touched.read or load.where.kept_elsewhere.reads_calls(load.call)
        ]

    def reads_calls(self, load: cst.Call) -> bool:
        """Whether what makes messages of rows gives them their calls: a store may keep these to be shown only.

        It names them, or decodes whole messages, or the content of each, in which they may be.
        """
        outer = self.anatomy.module.parent[load]
        each = self.anatomy.module.parent[outer] if isinstance(outer, cst.CompFor) else None
        if isinstance(each, (cst.ListComp, cst.GeneratorExp)) and self.facts.decoder(each.elt) is not None:
            return True  # `[json.loads(item) for item in pool.lrange(key, 0, -1)]`
        found = body(self.anatomy, load)
        if found is not None and _makes_words_only(*found):
            return False
        return self._names_calls(*(found or (self.anatomy, self.anatomy.module.scope_of[load].function)))

    def _names_calls(self, there: Anatomy, run: Scope) -> bool:
        nodes = [node for function in there.calls.reachable(run) for node in function.nodes]
        if any(name in text for text in _texts(nodes) for name in self.facts.call_attributes):
            return True
        made = [items for node in nodes if type(node) is cst.Dict and "role" in (items := ex.dict_items(node))]
        parts: Iterable[cst.CSTNode] = nodes if not made else [each["content"] for each in made if "content" in each]
        return any(type(node) is cst.Call and there.facts.decoder(node) is not None for node in parts)

    def gives_history(self, call: cst.Call) -> bool:
        """Whether what a call gives is a history, goes into one, or is sent as one: `[*thread.all(), question]`."""
        given: list[cst.BaseExpression] = [call]
        outer = self.anatomy.module.parent[call]
        while isinstance(outer, _AROUND) or (isinstance(outer, cst.Arg) and self._makes_history(outer)):
            given += [outer] if isinstance(outer, cst.BaseExpression) else []
            outer = self.anatomy.module.parent[outer]
            if isinstance(outer, cst.Call):
                given.append(outer)
                outer = self.anatomy.module.parent[outer]
        if isinstance(outer, cst.Expr):
            return False
        added = self.anatomy.module.parent[outer] if isinstance(outer, cst.Arg) else None
        longer = ex.receiver(added) if isinstance(added, cst.Call) and ex.called_name(added) == "extend" else None
        given += [longer] if longer is not None else []
        given += ex.targets(outer) if isinstance(outer, cst.Assign | cst.AnnAssign | cst.AugAssign) else []
        slots = {self.facts.slots.of(value) for value in given} - {None}
        known = any(value in self._sent or Kind.HISTORY in self.facts.kinds(value) for value in given)
        return known or not slots.isdisjoint(self._sent_slots) or self._is_rebuilt(call)

    def _is_rebuilt(self, load: cst.Call) -> bool:
        """Whether rows are gone through, and a message of each is put into a history, or into what is sent."""
        function = self.anatomy.module.scope_of[load].function
        around = self._loops_of_messages(function)
        if not around or not self._resources.of(load).read:
            return False
        names = self._places.derived(function, load)
        return any(self.anatomy.module.inside(load, loop.iter) or reads(loop.iter, names) for loop in around)

    @kept
    def _loops_of_messages(self, function: Scope) -> list[cst.For | cst.CompFor]:
        """The loops of a function in which messages are put into a history, or into what is sent."""
        grown = {one.node for one in self.anatomy.transcript.in_lists(function) if self._is_sent(one.slot)}
        made = {node for node in function.nodes_of(cst.ListComp) if Kind.HISTORY in self.facts.kinds(node)}
        return [loop for node in (*grown, *made) for loop in self._loops_at(node)]

    def _loops_at(self, node: cst.CSTNode) -> Iterator[cst.For | cst.CompFor]:
        """The loops in which a message is put in, or the one of a display."""
        if isinstance(node, cst.ListComp):
            yield node.for_in
        yield from (outer for outer in self.anatomy.module.ancestors(node) if isinstance(outer, cst.For))

    def _is_sent(self, slot: Slot | None) -> bool:
        return slot is not None and (Kind.HISTORY in self.facts.of(slot) or slot in self._sent_slots)

    def _makes_history(self, arg: cst.Arg) -> bool:
        """Whether an argument is a history that a function of the project makes another one of: `packed(load(key))`."""
        call = self.anatomy.module.parent[arg]
        if isinstance(call, cst.Call) and sources(call):
            return True
        found = body(self.anatomy, call)
        if found is None or not isinstance(call, cst.Call) or self.anatomy.turns.reaches_model(call):
            return False
        there, callee = found
        taken = {slot for slot, value in there.facts.slots.bindings(call, callee) if value is arg.value}
        if any(Kind.HISTORY in there.facts.of(slot) for slot in taken):
            return True
        gone_through = {there.facts.slots.of(loop.iter) for loop in callee.nodes_of(cst.For, cst.CompFor)}
        return not taken.isdisjoint(gone_through) and Kind.HISTORY in there.facts.of(("return", callee))

    def _histories_of(self, call: cst.Call) -> Iterator[cst.BaseExpression]:
        """What a call hands to a function of the project that this sends as a history."""
        there, callee = body(self.anatomy, call) or (self.anatomy, None)
        sent = [made.history for made in there.facts.calls.values() if made.history is not None]
        slots = {there.facts.slots.of(part) for part in sent}
        for slot, value in there.facts.slots.bindings(call, callee) if callee is not None else ():
            if slot in slots or Kind.HISTORY in there.facts.of(slot):
                yield value

    @cached_property
    def _sent_slots(self) -> set[Slot]:
        return {slot for value in self._sent if (slot := self.facts.slots.of(value)) is not None}

    @cached_property
    def _sent(self) -> set[cst.BaseExpression]:
        """What requests are made with, here or by who is handed it."""
        functions = (f for f in self.anatomy.module.functions if f.kind == "function")
        asks = (call for function in functions for call in self.anatomy.turns.requests(function))
        handed = {value for call in asks if call not in self.facts.calls for value in self._histories_of(call)}
        return handed | {request.history for request in self.facts.calls.values() if request.history is not None}


def _makes_words_only(there: Anatomy, run: Scope) -> bool:
    """Whether each message that a function makes is marked as what somebody says, and has nothing but that."""
    made = [items for node in what_is_made(there, run.returned).nodes if "role" in (items := ex.dict_items(node))]
    held = (value for items in made for value in there.facts.values_of(items["role"]) or [items["role"]])
    roles = {ex.text(part) for value in held for part in ex.alternatives(value)}
    return bool(made) and all(items.keys() <= _SAYING for items in made) and roles <= _SPEAKERS


def _handed_parts(value: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What stands in a value, but for what is only counted or looked at: `len(calls)`."""
    queue = [value]
    for node in queue:
        yield node
        queue += () if isinstance(node, cst.Call) and ex.called_name(node) in LOOKING else children(node)


def _texts(nodes: Iterable[cst.CSTNode]) -> Iterator[str]:
    """The attributes that a function reads, and the texts that stand in it."""
    for node in nodes:
        if type(node) is cst.Attribute:
            yield node.attr.value
        elif type(node) is cst.SimpleString:
            yield node.value
