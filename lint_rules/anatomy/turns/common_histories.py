"""Histories that all users of a program have in common.

Five ways to get one: a global (or a variable of the function that makes the app) that handlers write; an object that
keeps a conversation and is made once for all handlers; a mutable class attribute; a default argument, which is made
when the function is defined; an object that a cache hands to every session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import classes_of, made_class
from lint_rules.anatomy.messages.growth import (
    SETUPS,
    growing,
    grown_by_call,
    grows,
    is_mutable,
    keeps_conversation,
    resets,
    root_of,
)
from lint_rules.anatomy.messages.passing import resolved
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.program.concurrency import Caller
from lint_rules.anatomy.program.serving import Serving, is_for_all
from lint_rules.anatomy.turns.default_histories import grown_defaults
from lint_rules.anatomy.turns.hooks import comes_to
from lint_rules.anatomy.turns.keepers import foreign_growths
from lint_rules.anatomy.values.kinds import Evidence
from lint_rules.anatomy.values.slots import Slot, describe, moved, root_object, whole_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule, decorators, name_of, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

How = Literal["global", "object", "class", "default", "key", "cached"]

_PLAIN_BASES = frozenset({"object", "ABC", "Thread", "Client", "Bot", "Cog", "Generic", "Protocol", "Exception"})
_OWNERS = ("user", "session", "chat", "thread", "channel", "conversation", "sender", "author", "owner")


@record
class CommonHistory:
    """One history for everybody: made at `node`, grown at `grown` in the file of `where`, where it lives in `slot`.

    Of what another file makes, and this one grows, `node` is where it grows, too.
    `holder` is where the object lives that keeps it. A handler of this file serves it to all, or one whose `caller`, in
    another file, runs a function of this one. `told`: the other file reports it itself.
    """

    how: How
    node: cst.CSTNode
    name: str
    grown: cst.CSTNode
    where: Anatomy
    evidence: Evidence | None = None
    serving: Serving | None = None
    slot: Slot | None = None
    holder: Slot | None = None
    caller: Caller | None = None
    told: bool = False


_Kept = tuple[Anatomy, cst.CSTNode, "Evidence | None", "Slot | None"]
"""Where a conversation grows that an object keeps: the file, the place, what is known of it, and its slot."""


def _grown_by(anatomy: Anatomy, made: cst.Call, call: cst.Call) -> _Kept | None:
    """Where `call` grows the conversation that the object which `made` makes keeps."""
    if call.args and keeps_conversation(anatomy.module, made):
        return anatomy, call, None, None
    found = grown_by_call(anatomy, made, call)
    if found is not None:
        return found[0], found[1].node, found[1].evidence, found[1].slot
    cls = made_class(anatomy, made)
    memory = next(_memories(*cls), None) if cls is not None and call.args else None
    return (cls[0], memory, None, None) if cls is not None and memory is not None else None


def _memories(anatomy: Anatomy, cls: Scope) -> Iterator[cst.Call]:
    """What a library has made that keeps a conversation, and the objects of a class hold."""
    values = (ex.inner(value) for name in cls.attributes for value in anatomy.facts.assigned(("attr", cls, name)))
    return (v for v in values if isinstance(v, cst.Call) and keeps_conversation(anatomy.module, v))


def common_histories(anatomy: Anatomy) -> Iterator[CommonHistory]:
    """All of a file, one for each place where one is made."""
    made: set[cst.CSTNode] = set()
    for forms in (_Served(anatomy).all(), _of_classes(anatomy), _of_defaults(anatomy), _of_caches(anatomy)):
        for found in forms:
            if made.isdisjoint((found.node, found.grown)):
                made.update((found.node, found.grown))
                yield found


class ServedToAll:
    """Where the histories live that all users have in common: AGL103 reports them, and other rules leave them to it.

    `own` are those of a bot itself, which may be meant for one room: what is lost in them is lost there, too.
    """

    def __init__(self, anatomy: Anatomy) -> None:
        served = [found for found in common_histories(anatomy) if found.serving or found.caller]
        self._slots = {slot for found in served for slot in (found.slot, found.holder) if slot is not None}
        self.own = {found.slot for found in served if found.how == "global" and found.slot and found.slot[0] == "attr"}

    def __contains__(self, slot: Slot) -> bool:
        while slot not in self._slots and slot[0] == "member":
            slot = slot[1]
        return slot in self._slots


# -- what handlers reach -------------------------------------------------------------------------------------------


class _Served:
    """What the handlers of one file write, and do not own."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.graph = anatomy.calls
        self.servings = [serving for serving in self.graph.servings.values() if is_for_all(serving)]
        self.reach = {s.function: self.graph.may_run(s.function) for s in self.servings}

    def all(self) -> Iterator[CommonHistory]:
        if self.servings:
            yield from self._globals()
            yield from self._put_elsewhere()
            yield from self._objects()
            yield from self._handed_on()
            yield from self._named()
            yield from self._elsewhere()
        yield from self._called()

    def _called(self) -> Iterator[CommonHistory]:
        """Those of globals that grow in what handlers of other files run here."""
        for caller in self.anatomy.callers:
            for function, _ in comes_to(self.anatomy, caller) if caller.for_all and caller.passing.common else ():
                for slot, write in _grown_globals(self.anatomy, function):
                    made, name = _made_at(self.anatomy, root_of(slot) or slot), describe(slot)
                    if made is not None and name in caller.passing.common:
                        yield CommonHistory(
                            "global", made, name, write.node, self.anatomy, write.evidence, None, slot, caller=caller
                        )

    def _globals(self) -> Iterator[CommonHistory]:
        for slot, written in _all_writes(self.anatomy).items():
            for root, named, writes in self._roots(slot, written):
                made, there = _made_at(self.anatomy, root), self._is_made_there(root)
                if (made is None and not there) or not self.anatomy.races.is_list(slot, writes):
                    continue
                for serving in self._sharing(root):
                    write = growing(self.anatomy, slot, writes, serving.function, self.reach[serving.function])
                    if write is not None and not _names_its_owner(self.facts.slots.module, write):
                        name, evidence, node = describe(named), write.evidence, made or write.node
                        yield CommonHistory("global", node, name, write.node, self.anatomy, evidence, serving, slot)
                        break

    def _is_made_there(self, root: Slot) -> bool:
        """Whether it lies in a global of another file, or is a part of what does."""
        whole = root_object(root)
        if whole[:2] != ("var", self.module.top) or any(part[0] == "item" for part in whole_of(root)):
            return False
        found = self.anatomy.imported_value(whole[2])
        return found is not None and _made_at(*found) is not None

    def _put_elsewhere(self) -> Iterator[CommonHistory]:
        """`talks.setdefault(key, GREETING)`, `talk = GREETING`: the list of a global, which grows by another name."""
        for slot, writes in _all_writes(self.anatomy).items():
            place = self.anatomy.aliases.of(slot)
            grown = [w for w in writes if w.kind in GROWING and self._is_written_at(place, w)]
            for root in self._lists_put_at(place) - {slot} if grown else ():
                for serving in self._sharing(root):
                    write = next((w for w in grown if w.function in self.reach[serving.function]), None)
                    made = _made_at(self.anatomy, root) if write is not None else None
                    if write is not None and made is not None:
                        name, evidence = describe(root), write.evidence
                        yield CommonHistory("global", made, name, write.node, self.anatomy, evidence, serving, root)
                        break

    def _lists_put_at(self, place: Slot) -> set[Slot]:
        """The globals whose very list is put at a place: it is one, bound to one, or an entry with that default."""
        put = list(self.facts.assigned(place))
        put += [value for _, value in self.facts.merged(place[1])] if place[0] == "item" else []
        named = {self.facts.slots.of_name(part) for value in put for part in ex.alternatives(value)} | {place}
        return {s for s in named if s and s[1] is self.module.top and any(map(is_mutable, self.facts.assigned(s)))}

    def _is_written_at(self, place: Slot, write: HistoryWrite) -> bool:
        """Whether a write is to what lies at a place, not to a copy under the same name."""
        base = ex.receiver(write.node)
        bound = self.anatomy.definitions(base) if isinstance(base, cst.Name) else []
        lies = (self.anatomy.aliases.lasting_at(each.value, write.function) for each in bound)
        return not bound or place in lies

    def _roots(self, slot: Slot, writes: list[HistoryWrite]) -> Iterator[tuple[Slot, Slot, list[HistoryWrite]]]:
        """What holds a history, what to call that, and its writes.

        So does each global by whose object it is written: `desk.talk.append(...)`, where all desks have a `talk`.
        """
        root = root_of(slot)
        if root is None:
            return
        yield root, slot, writes
        through: dict[Slot, list[HistoryWrite]] = {}
        for write in writes if root[0] == "attr" else ():
            for part in walk(write.node):
                here = type(part) is cst.Attribute and self.facts.slots.of(part) == root
                holder = self.facts.slots.of(ex.owner(part)) if here else None  # type: ignore[arg-type]
                if holder is not None and holder[:2] == ("var", self.module.top):
                    through.setdefault(holder, []).append(write)
        for holder, written in through.items():
            yield holder, moved(slot, root, ("member", holder, root[2])), written

    def _objects(self) -> Iterator[CommonHistory]:
        """`agent = Agent()` once, and `agent.chat(text)` in a handler."""
        seen: set[Slot] = set()
        for node in self.module.nodes_of(cst.Call):
            named = self.facts.slots.of(ex.receiver(node))
            slot = self.anatomy.aliases.of(named) if named is not None else None
            made = self._made_at(slot) if slot is not None and slot not in seen else None
            if slot is None or made is None:
                continue
            caller = self.module.scope_of[node].function
            serving = next((s for s in self._sharing(slot) if caller in self.reach[s.function]), None)
            if serving is None or self._reset_before(slot, node, caller):
                continue
            kept = self._kept(slot, node) if not self.anatomy.conversations.tells_apart(node) else None
            if kept is not None:
                seen.add(slot)
                where, grown, evidence, history = kept
                yield CommonHistory("object", made, describe(slot), grown, where, evidence, serving, history, slot)

    def _made_at(self, slot: Slot) -> cst.CSTNode | None:
        """The same, also of a part of a global, `state["desk"] = Desk()`, that no handler makes."""
        if slot[0] != "member":
            return _made_at(self.anatomy, slot)
        if any(part[0] == "item" for part in whole_of(slot)) or root_object(slot)[:2] != ("var", self.module.top):
            return None
        nodes = (self.module.awaiting(value) for value in self.facts.assigned(slot) if isinstance(value, cst.Call))
        apart = (n for n in nodes if isinstance(n, (cst.Assign, cst.AnnAssign)) and not self._is_served(n))
        return next(apart, None)

    def _is_served(self, node: cst.CSTNode) -> bool:
        return any(self.module.scope_of[node].function in reached for reached in self.reach.values())

    def _handed_on(self) -> Iterator[CommonHistory]:
        """`memory = ConversationBufferMemory()` once, and `Agent(memory=memory)` of that library in a handler.

        Or an agent that is handed to a function which talks to it: `await answer(agent, text)`.
        """
        seen: set[Slot] = set()
        for call in self.module.nodes_of(cst.Call):
            caller = self.module.scope_of[call].function
            for arg in call.args:
                slot = self.facts.slots.of(arg.value)
                made = _made_at(self.anatomy, slot) if slot is not None and slot not in seen else None
                if slot is None or made is None:
                    continue
                serving = next((s for s in self._sharing(slot) if caller in self.reach[s.function]), None)
                if serving is None or self._reset_before(slot, call, caller):
                    continue
                of_library = self._is_memory_for(slot, call)
                kept = (self.anatomy, call, None, None) if of_library else self._kept_by_callee(slot, call, arg.value)
                if kept is not None:
                    seen.add(slot)
                    where, grown, evidence, history = kept
                    yield CommonHistory("object", made, describe(slot), grown, where, evidence, serving, history, slot)

    def _named(self) -> Iterator[CommonHistory]:
        """`graph.invoke(question, {"configurable": {"thread_id": "1"}})`: a conversation that is kept under one key."""
        seen: set[str] = set()
        for call in self.module.nodes_of(cst.Call):
            named, caller = self.anatomy.conversations.name_for_all(call), self.module.scope_of[call].function
            serving = next((s for s in self.servings if caller in self.reach[s.function]), None) if named else None
            if named is not None and serving is not None and (name := ex.source(named, 40)) not in seen:
                seen.add(name)
                slot = self.anatomy.conversations.named(call, caller)
                yield CommonHistory("object", named, name, call, self.anatomy, None, serving, slot)

    def _kept_by_callee(self, slot: Slot, call: cst.Call, value: cst.BaseExpression) -> _Kept | None:
        """Where a function grows the conversation that an object keeps which it is handed."""
        there, callee = resolved(self.anatomy, call) or (self.anatomy, None)
        bindings = there.facts.slots.bindings(call, callee) if callee is not None else ()
        given = {parameter for parameter, handed in bindings if handed is value}
        for inner in callee.nodes_of(cst.Call) if callee is not None and given else ():
            base = ex.receiver(inner)
            goes_on = base is not None and there.facts.slots.of(base) in given
            kept = self._kept(slot, inner) if goes_on and not there.conversations.tells_apart(inner) else None
            if kept is not None:
                return kept
        return None

    def _is_memory_for(self, slot: Slot, call: cst.Call) -> bool:
        """Whether a slot holds an object that keeps a conversation, of the library that the call is of."""
        values = (ex.inner(value) for value in self.facts.assigned(slot))
        memories = [v for v in values if isinstance(v, cst.Call) and keeps_conversation(self.module, v)]
        return any(_package(self.module, memory) == _package(self.module, call) for memory in memories)

    def _elsewhere(self) -> Iterator[CommonHistory]:
        """`reply(text)`, `agent.chat(text)` in a handler, of a file that has one history or object for everybody."""
        seen: set[tuple[Anatomy, Slot]] = set()
        for call in self.module.nodes_of(cst.Call):
            caller = self.module.scope_of[call].function
            serving = next((s for s in self.servings if caller in self.reach[s.function]), None)
            if serving is None:
                continue
            for how, holder, (where, grown, evidence, history) in self._kept_there(call, caller):
                if holder not in seen:
                    seen.add(holder)
                    name, base = describe(holder[1]), ex.receiver(call)
                    here = self.facts.slots.of(base)
                    told = how == "global" and self._is_told_there(where, call, caller)
                    yield CommonHistory(how, call, name, grown, where, evidence, serving, history, here, told=told)

    def _kept_there(self, call: cst.Call, caller: Scope) -> Iterator[tuple[How, tuple[Anatomy, Slot], _Kept]]:
        """What `call` makes longer in another file, and the global there that holds it."""
        for there, history, write in grown_there(self.anatomy, call, caller):
            yield "global", (there, history), (there, write.node, write.evidence, history)
        base = ex.receiver(call)
        slot = self.facts.slots.of(base)
        holder = self._holder(base) if base is not None else None
        if slot is None or holder is None or self._reset_before(slot, call, caller):
            return
        if self.anatomy.conversations.tells_apart(call):
            return
        for made in map(ex.inner, holder[0].facts.assigned(holder[1])):
            if isinstance(made, cst.Call):
                of_library = call.args and keeps_conversation(holder[0].module, made)
                kept = (self.anatomy, call, None, None) if of_library else _grown_by(holder[0], made, call)
                if kept is not None:
                    yield "object", holder, kept

    def _is_told_there(self, there: Anatomy, call: cst.Call, caller: Scope) -> bool:
        """Whether a file knows that a handler of this one runs a function of it, and says so itself."""
        reached = (self.anatomy.unguarded.reach(serving.function, None) for serving in self.servings)
        free = any(caller in reach for reach in reached) and not self.anatomy.unguarded.is_guarded(call, caller)
        return free and self.anatomy.tells(there.module.path)

    def _holder(self, base: cst.BaseExpression) -> tuple[Anatomy, Slot] | None:
        """The global of another file that holds an object: imported, or given to all by a function there."""
        imported = self.anatomy.imported_value(ex.dotted(base) or "")
        slot = self.facts.slots.of(base) if imported is None else None
        made = self.facts.assigned(slot) if slot is not None and slot[0] == "var" else []
        for call in (value for value in map(ex.inner, [base, *made]) if isinstance(value, cst.Call)):
            found = self.anatomy.imported_function(ex.dotted(call.func) or "")
            place = found[0].aliases.of(("return", found[1])) if found is not None else None
            if found is not None and place is not None and place[:2] == ("var", found[0].module.top):
                return found[0], place
        return imported

    def _kept(self, slot: Slot, call: cst.Call) -> _Kept | None:
        """In which file, and where, `call` grows the conversation that the object in `slot` keeps."""
        values = map(ex.inner, self.anatomy.aliases.put_at(slot))
        kept = (_grown_by(self.anatomy, value, call) for value in values if isinstance(value, cst.Call))
        return next((found for found in kept if found is not None), None)

    def _reset_before(self, slot: Slot, call: cst.Call, caller: Scope) -> bool:
        """`agent.reset()`, `agent = Agent()` on all ways to `agent.chat(...)`: what empties it without a condition."""

        def resets_own(other: cst.Call | cst.Assign) -> bool:
            if isinstance(other, cst.Assign):  # `desk = the_desk()` gives the one that others have, too
                named = any(self.facts.slots.of(target) == slot for target in ex.targets(other))
                return named and self._holder(other.value) is None
            base, callee = ex.receiver(other), self.facts.slots.callee(other)
            named_by = self.facts.slots.of(base)
            if named_by is None or slot not in {named_by, self.anatomy.aliases.of(named_by)}:
                return False
            methods = [
                (there, there.module.method(cls, ex.called_name(other)))
                for there, cls in classes_of(self.anatomy, slot)
            ]
            return any(
                resets(there, write) and write.slot[0] == "attr"
                for there, method in [*methods, (self.anatomy, callee)]
                for write in (there.writes.by_function[method] if method is not None else ())
            )

        return _always_before(self.anatomy, call, caller, resets_own)

    def _sharing(self, root: Slot) -> Iterator[Serving]:
        """The handlers that see a variable, and do not make one of their own for each event."""
        root = root_object(root)
        scope: Scope = root[1]
        if root[0] == "attr":
            yield from (s for s in self.servings if s.keeper is scope)
            return
        if scope.kind != "module" and any(scope in reached for reached in self.reach.values()):
            return
        yield from (s for s in self.servings if s.function is not scope and s.function.within(scope))


def _package(module: SourceModule, call: cst.Call) -> str:
    """The family of packages that what is called comes from: `langchain` of `langchain_community.memory`."""
    return module.full_name(call.func).partition(".")[0].partition("_")[0]


def _made_at(anatomy: Anatomy, root: Slot) -> cst.CSTNode | None:
    """The statement that makes what a global holds, a variable of the function that makes the app, or an attribute."""
    if not anatomy.facts.assigned(root):
        given = anatomy.aliases.put_at(root)
        return anatomy.module.statement(given[0]) if given else None
    for node in anatomy.module.nodes_of(cst.Assign, cst.AnnAssign):
        function = anatomy.module.scope_of[node].function
        at_once = function is root[1] and function.kind != "class"
        if root[0] == "attr":  # what `__init__` is handed, others have, too
            at_once = function.name in SETUPS and not isinstance(node.value, cst.Name)
        if at_once and node.value is not None:
            if any(
                anatomy.facts.slots.of(part) == root for target in ex.targets(node) for part in ex.bound_places(target)
            ):
                return node
    return None


def grown_there(anatomy: Anatomy, call: cst.Call, caller: Scope) -> Iterator[tuple[Anatomy, Slot, HistoryWrite]]:
    """The globals of another file that a call of a function there makes longer, and its caller has not emptied."""
    imported = anatomy.imported_function(ex.dotted(call.func) or "")
    if imported is None:
        return
    there, entry = imported
    for history, write in _grown_globals(there, entry):
        if not _begun_before(anatomy, there, history, call, caller):
            yield there, history, write


def _begun_before(anatomy: Anatomy, there: Anatomy, slot: Slot, call: cst.Call, caller: Scope) -> bool:
    """`engine.reset()` on all ways to `engine.reply(...)`."""

    def resets_it(other: cst.Call | cst.Assign) -> bool:
        if isinstance(other, cst.Assign):
            return False
        found = anatomy.imported_function(ex.dotted(other.func) or "")
        writes = there.writes.by_function[found[1]] if found is not None and found[0] is there else ()
        return any(resets(there, write) and write.slot == slot for write in writes)

    return _always_before(anatomy, call, caller, resets_it)


def _always_before(
    anatomy: Anatomy, call: cst.Call, caller: Scope, does: Callable[[cst.Call | cst.Assign], bool]
) -> bool:
    """Whether nodes that do it come on all ways to `call`."""
    others = [other for other in caller.nodes_of(cst.Call, cst.Assign) if other is not call and does(other)]
    met, flow = anatomy.points(caller, others), anatomy.flow(caller)
    return bool(met) and not flow.reaches(flow.entry, anatomy.points(caller, [call]), met)


def _all_writes(anatomy: Anatomy) -> dict[Slot, list[HistoryWrite]]:
    """The writes of each history of a file, those by functions of other files included."""
    found = {slot: list(writes) for slot, writes in anatomy.writes.by_slot.items()}
    for growth in anatomy.races.foreign_growths or foreign_growths(anatomy):
        found.setdefault(growth.write.slot, []).append(growth.write)
    return found


@kept
def _grown_globals(anatomy: Anatomy, entry: Scope) -> list[tuple[Slot, HistoryWrite]]:
    """The histories that a file has once for everybody, and the write that makes each longer when `entry` runs."""
    found, reach = list[tuple[Slot, HistoryWrite]](), anatomy.calls.may_run(entry)
    for slot, writes in _all_writes(anatomy).items():
        root = root_of(slot)
        shared = root is not None and root[1] is anatomy.module.top and anatomy.races.is_list(slot, writes)
        if shared and root is not None and _made_at(anatomy, root) is not None:
            write = growing(anatomy, slot, writes, entry, reach)
            if write is not None and not _names_its_owner(anatomy.module, write):
                found.append((slot, write))
    return found


def _names_its_owner(module: SourceModule, write: HistoryWrite) -> bool:
    """Whether each stored message says whose it is: one list for all, told apart when it is read."""
    items = ex.dict_items(write.value) if write.value is not None else {}
    return any(key.lower().startswith(_OWNERS) and key.lower() not in {"user", "chat"} for key in items)


# -- class attributes ---------------------------------------------------------------------------------------------


def _of_classes(anatomy: Anatomy) -> Iterator[CommonHistory]:
    """`messages = []` in a class body, and `self.messages.append(...)` in a method."""
    for cls in anatomy.module.classes:
        if not _is_plain(anatomy, cls):
            continue
        for node in cls.nodes:
            if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None and is_mutable(node.value):
                target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
                slot = anatomy.facts.slots.of(target)
                grown = _grown_through_self(anatomy, slot) if slot is not None else None
                if grown is not None and slot is not None:
                    name = f"{cls.name}.{slot[2]}"
                    yield CommonHistory("class", node, name, grown.node, anatomy, grown.evidence, None, slot)


def _is_plain(anatomy: Anatomy, cls: Scope, below: tuple[Scope, ...] = ()) -> bool:
    """Not a model, dataclass or typed dict, whose fields are copied for each object.

    `below` are the classes that come from this one: a base of another module may be called like one of them.
    """
    node = cls.node
    if not isinstance(node, cst.ClassDef) or decorators(cls) or node.keywords or cls in below:
        return False
    for base in ex.bases(node):
        name = (ex.dotted(base) or "").rpartition(".")[2]
        known = anatomy.module.class_named(name)
        if name not in _PLAIN_BASES and (known is None or not _is_plain(anatomy, known, (*below, cls))):
            return False
    return True


def _grown_through_self(anatomy: Anatomy, slot: Slot) -> HistoryWrite | None:
    """A growing write through an object, where no object ever gets a list of its own."""
    if slot[0] != "attr":
        return None
    writes = [w for w in anatomy.writes.by_slot[slot] if w.function.kind != "class"]
    if any(w.kind == "rebind" and (w.function.name in SETUPS or not grows(anatomy, w)) for w in writes):
        return None
    return next((w for w in writes if w.kind in GROWING and _through_object(anatomy, w)), None)


def _through_object(anatomy: Anatomy, write: HistoryWrite) -> bool:
    """Not `cls.messages` or `Agent.messages`, which say that the list belongs to the class."""
    base = ex.receiver(write.node)
    owner = base.value if isinstance(base, cst.Attribute) else None
    return (
        isinstance(owner, cst.Name)
        and owner.value not in {"cls", "type"}
        and (anatomy.module.class_named(owner.value) is None)
    )


# -- default arguments --------------------------------------------------------------------------------------------


def _of_defaults(anatomy: Anatomy) -> Iterator[CommonHistory]:
    for found in grown_defaults(anatomy):
        name = found.slot[2]
        yield CommonHistory(found.how, found.param, name, found.grown, anatomy, found.evidence, None, found.slot)


# -- caches -------------------------------------------------------------------------------------------------------


def _of_caches(anatomy: Anatomy) -> Iterator[CommonHistory]:
    """`@st.cache_resource def agent(): return Agent()`: Streamlit gives every session the same object."""
    streamlit = any(full.split(".")[0] == "streamlit" for full in anatomy.module.imports.full.values())
    for function in anatomy.module.functions if streamlit else ():
        if not any(_last(decorator) in words.SESSION_CACHES for decorator in decorators(function)) or parameters(
            function
        ):
            continue
        for node in function.nodes:
            if isinstance(node, cst.Return) and node.value is not None:
                grown = _grown_after(anatomy, function, node.value)
                if grown is not None:
                    where, place, evidence = grown
                    yield CommonHistory("cached", name_of(function), function.name, place, where, evidence)
                    break


def _last(decorator: cst.BaseExpression) -> str:
    return (ex.dotted(ex.uncalled(decorator)) or "").rpartition(".")[2]


def _grown_after(
    anatomy: Anatomy, function: Scope, value: cst.BaseExpression
) -> tuple[Anatomy, cst.CSTNode, Evidence | None] | None:
    """Where what a cached function gives back grows."""
    values = [ex.inner(value), *anatomy.facts.assigned(anatomy.facts.slots.of(value) or ("none",))]
    names = set(_bound_to(anatomy, function))
    for made in values:
        if is_mutable(made):
            for slot in names:
                for write in anatomy.writes.by_slot[slot]:
                    if write.kind in GROWING:
                        return anatomy, write.node, write.evidence
        elif isinstance(made, cst.Call):
            for call in anatomy.module.nodes_of(cst.Call):
                base = ex.receiver(call)
                if base is None or anatomy.facts.slots.of(base) not in names:
                    continue
                kept = _grown_by(anatomy, made, call)
                if kept is not None:
                    return kept[:3]
    return None


def _bound_to(anatomy: Anatomy, function: Scope) -> Iterator[Slot]:
    """The names that hold what `function` gives back, and the call itself."""
    yield ("return", function)
    for site in anatomy.calls.sites[function]:
        parent = anatomy.module.parent.get(site.node)
        if isinstance(parent, cst.Assign):
            yield from (s for t in parent.targets if (s := anatomy.facts.slots.of(t.target)) is not None)
