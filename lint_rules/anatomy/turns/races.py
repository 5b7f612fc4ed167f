"""Who writes a shared history, from where, under which locks: what the questions about concurrency stand on."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cached_property, partial

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import classes_of, named_classes, run_elsewhere
from lint_rules.anatomy.messages.tool_messages import hold_text_only
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.program.concurrency import Start, keys, starts
from lint_rules.anatomy.program.flags import Flags
from lint_rules.anatomy.program.joins import Joins
from lint_rules.anatomy.program.locks import Locks
from lint_rules.anatomy.program.serving import in_background
from lint_rules.anatomy.turns.callers import called_beside
from lint_rules.anatomy.turns.handed_starts import handed_starts
from lint_rules.anatomy.turns.hooks import begun_through_bases
from lint_rules.anatomy.turns.keepers import ForeignGrowth, foreign_growths
from lint_rules.anatomy.turns.ownership import Ownership
from lint_rules.anatomy.values.slots import Slot, root_object, whole_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule, parameters
from lint_rules.syntax.record import record

_SETUPS = frozenset({"__init__", "__post_init__", "__new__", "__enter__"})


@record
class SharedHistory:
    """A history that outlives one function: an attribute, a global, or an element of one. Writes in source order."""

    slot: Slot
    writes: list[HistoryWrite]


@kept
def holds_text_only(anatomy: Anatomy, history: SharedHistory) -> bool:
    """Whether all that is put into a history is seen to be words: each of its readers asks."""
    return hold_text_only(anatomy, history.writes)


class Races:
    """The shared histories of a file, the concurrent starts, and which writes each start reaches."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.graph = anatomy.calls
        elsewhere = partial(_locks_there, anatomy), partial(_has_lock, anatomy), partial(_imports_lock, anatomy)
        self.locks = Locks(anatomy.calls, *elsewhere)
        self.flags = Flags(anatomy)
        self.joins = Joins(anatomy)
        begun = [*starts(anatomy.calls), *begun_through_bases(anatomy)]
        begun += handed_starts(anatomy, self.locks, self.flags)
        found = [*map(self.alone, begun), *called_beside(anatomy)]
        self.serial = [start for start in found if start.kind == "serial"]
        self.processes = [start for start in found if start.kind == "process"]
        here = [start for start in found if start.kind != "process"]
        self.starts = here if len(here) > len(self.serial) else []
        self.apart = {function for function, _ in in_background(anatomy.calls)}
        self.ownership = Ownership(anatomy, self.starts)

    def alone(self, start: Start) -> Start:
        """A start that is waited for, or waits for its last, or takes a busy flag, overlaps no other run of itself."""
        if not start.many or start.kind == "handler":
            return start
        where = self.module.scope_of[start.node].function
        alone = self.joins.is_joined(start) or self.joins.follows_its_last(start)
        return replace(start, many=False) if alone or self._is_kept_back(start.node, where) else start

    def may_meet(self, start: Start, other: Start) -> bool:
        """Whether two starts may be under way at once: none is waited for, and no busy flag keeps them apart."""
        return self.joins.may_meet(start, other) and not self.flags.keep_apart(start.node, other.node)

    def _is_kept_back(self, node: cst.CSTNode, where: Scope, seen: frozenset[Scope] = frozenset()) -> bool:
        """Whether a busy flag keeps a node from running twice at once: there, or wherever its function is called."""
        if self.flags.guard(node, where):
            return True
        sites = self.graph.sites[where] if not self.graph.references[where] and where not in seen else []
        return bool(sites) and all(self._is_kept_back(site.node, site.caller, seen | {where}) for site in sites)

    @cached_property
    def histories(self) -> list[SharedHistory]:
        places: dict[Slot, list[HistoryWrite]] = defaultdict(list)
        for slot, writes in self.anatomy.writes.by_slot.items():
            place = self.anatomy.aliases.of(slot)
            named = slot[0] == "var" and slot != place  # to bind a name changes nothing that it stood for
            places[place] += [replace(w, slot=place) for w in writes if not (named and w.kind == "rebind")]
        for growth in self.foreign_growths:
            places[growth.write.slot].append(growth.write)
        kept: dict[Slot, list[HistoryWrite]] = defaultdict(list)
        for place, writes in places.items():
            if self.is_shared(place, {write.function for write in writes}) and self.is_list(place, writes):
                kept[self._given_to.get(place, place)] += [w for w in writes if not self._is_unseen(w)]
        for writes in kept.values():
            if len(writes) > 1:
                writes.sort(key=lambda write: self.module.order[write.node])
        return [SharedHistory(slot, writes) for slot, writes in kept.items() if writes]

    def is_list(self, place: Slot, writes: list[HistoryWrite]) -> bool:
        """Whether what lives in a place may be a list of messages: not what is only told to `add`, and never read.

        So is the session of a database, which makes rows of messages; lists have no such method. So is the log that an
        object of another file keeps, where neither that file nor this one looks into it.
        """
        if self._is_only_kept(place):
            return False
        return place in self._read or any(
            not isinstance(write.node, cst.Call) or ex.called_name(write.node) != "add" for write in writes
        )

    def _is_only_kept(self, place: Slot) -> bool:
        unread = place[0] == "member" and self.used.isdisjoint(whole_of(place))
        classes = classes_of(self.anatomy, place[1]) if unread else ()
        slots = [(there, there.facts.slots.attribute(cls, place[2])) for there, cls in classes]
        return bool(slots) and all(s in there.facts.put_into and s not in there.races.used for there, s in slots)

    @cached_property
    def _read(self) -> set[Slot]:
        """The places that are used here, and all that others are handed."""
        return self.used | {growth.write.slot for growth in self.foreign_growths}

    @cached_property
    def used(self) -> set[Slot]:
        """The places that are used as values, not only as receivers of calls."""
        found = set[Slot]()
        for node in self.module.nodes_of(cst.Name, cst.Attribute) + self.module.nodes_of(cst.Subscript, cst.Call):
            slot = self.facts.slots.of(node) if not _is_mentioned(self.module, node) else None
            if slot is not None:
                found.update((slot, self.anatomy.aliases.of(slot)))
        return found

    @cached_property
    def foreign_growths(self) -> list[ForeignGrowth]:
        """What functions of other files make longer here; of interest only where something runs at the same time."""
        return list(foreign_growths(self.anatomy)) if self.starts or self.graph.servings else []

    def _is_unseen(self, write: HistoryWrite) -> bool:
        """Whether nobody else has the history yet when it is written."""
        return (
            self.is_setup(write.function)
            or self._creates(write)
            or self.ownership.is_own_write(write)
            or self._before_closures(write)
        )

    def _before_closures(self, write: HistoryWrite) -> bool:
        """`messages = []` ahead of the functions inside that write it, too: none of them is there yet."""
        function = write.function
        if write.slot[0] != "var" or write.slot[1] is not function or function.kind != "function":
            return False
        inner = [w.function.node for w in self.anatomy.writes.by_slot[write.slot] if w.function is not function]
        loops = [o for o in self.module.ancestors(write.node) if isinstance(o, (cst.For, cst.While))]
        return bool(inner) and all(
            self.module.before(write.node, node) and not any(self.module.inside(node, loop) for loop in loops)
            for node in inner
        )

    @cached_property
    def _given_to(self) -> dict[Slot, Slot]:
        """Attributes that hold a list their `__init__` got, by the list: one list given to two objects is shared."""
        given: dict[Slot, Slot] = {}
        for cls in self.module.classes:
            init = cls.methods.get("__init__")
            for site in self.graph.sites[init] if init is not None else ():
                for parameter, value in self.facts.slots.bindings(site.node, site.callee):
                    source = self.facts.slots.of(value)
                    for slot in self._attributes_from(cls, parameter) if source is not None else ():
                        if source is not None and source[0] in {"var", "attr"}:
                            given[slot] = source
        return given

    def _attributes_from(self, cls: Scope, parameter: Slot) -> list[Slot]:
        return [
            slot
            for name in cls.attributes
            for slot in [("attr", cls, name)]
            if any(self.facts.slots.of(value) == parameter for value in self.facts.assigned(slot))
        ]

    def is_grown_beside(self, slot: Slot, start: Start) -> bool:
        """Whether the object that another file runs a method of was made with a list, and another one that grows it."""
        root, shared = root_object(slot), start.caller.passing.shared if start.caller is not None else frozenset()
        init = root[1].methods.get("__init__") if root[0] == "attr" and shared else None
        return init is not None and any(
            keys(init, name) & shared
            for name in (param.name.value for param in parameters(init))
            if root in self._attributes_from(root[1], self.facts.slots.parameter(init, name))
        )

    def is_shared(self, slot: Slot, writing: set[Scope]) -> bool:
        """Whether a place that these functions write to can be seen by more than one run of a function."""
        root = root_object(slot)
        if root[0] == "attr":
            return True
        if root[0] != "var":
            return False
        scope, name = root[1], root[2]
        made = [value for value in self.facts.assigned(root) if isinstance(value, cst.Call)]
        if any(ex.called_name(call) in {"local", "ContextVar"} for call in made):
            return False
        if slot is root and any(map(self._is_of_other_file, made)):
            return False
        if slot is not root and self.ownership.is_connection(scope, name):
            return False
        if scope.kind == "module":
            return writing != {self.module.top}
        if slot is root:
            return writing != {scope} or self.is_handed_on(scope, name)
        if any(name == p.name.value and p.star != "**" for p in parameters(scope)):  # `**kwargs` is the call's own
            return not self.is_of_each_run(scope, name)
        return False

    def is_of_each_run(self, function: Scope, name: str) -> bool:
        """Whether those in other files that run a function beside others hand what ends with the run to a parameter."""
        callers = [start.caller for start in self.starts if start.function is function]
        return bool(callers) and all(caller is not None and not caller.hands_on(function, name) for caller in callers)

    def is_handed_on(self, function: Scope, name: str) -> bool:
        """Whether a parameter gets what outlives the run, along with a function that another file begins.

        Itself, or from one that calls it, and hands on what it was given.
        """
        queue: list[Slot] = [self.facts.slots.parameter(function, name)]
        for _, here, given in queue:
            begun = (start.caller for start in self.starts if start.function is here and start.caller is not None)
            if any(caller.passing.handed_on and caller.hands_on(here, given) for caller in begun):
                return True
            for site in self.graph.sites[here]:
                bound = self.facts.slots.bindings(site.node, here)
                slots = {self.facts.slots.of(value) for slot, value in bound if slot[2] == given} - {None, *queue}
                queue += [slot for slot in slots if slot is not None and slot[:2] == ("var", site.caller)]
        return False

    def _is_of_other_file(self, call: cst.Call) -> bool:
        """`ConversationStore()`, imported: an object with methods of its own, which may take a lock."""
        name = ex.called_name(call)
        return isinstance(call.func, cst.Name) and name[:1].isupper() and name in self.module.imports.full

    def is_setup(self, function: Scope) -> bool:
        """`__init__`, class and module bodies, and methods that only these call: nobody else has the object yet."""
        if function.kind in {"class", "module"} or function.name in _SETUPS:
            return True
        sites = self.graph.sites[function]
        return bool(sites) and not self.graph.references[function] and all(map(self._is_part_of_setup, sites))

    def _is_part_of_setup(self, site: CallSite) -> bool:
        if site.caller is site.callee:
            return False
        in_init = site.caller.name in {"__init__", "__post_init__"}
        return in_init or self.ownership.before_sharing(site.node, site.caller)

    def _creates(self, write: HistoryWrite) -> bool:
        """`if key not in self.chats: self.chats[key] = [SYSTEM]`: a first value, not a change of one."""
        if write.kind != "rebind" or write.value is None or write.slot[0] != "item":
            return False
        value = ex.inner(write.value)
        for outer in self.module.ancestors(write.node):
            if isinstance(outer, cst.If) and isinstance(outer.test, cst.Comparison):
                if any(isinstance(t.operator, cst.NotIn) for t in outer.test.comparisons):
                    return True
            if outer is write.function.node:
                break
        return isinstance(value, cst.List) and not any(isinstance(e, cst.StarredElement) for e in value.elements) and (
            len(value.elements) <= 1 and not self._reads(write.function, write.slot, write.node)
        )  # fmt: skip

    def _reads(self, function: Scope, slot: Slot, before: cst.CSTNode) -> bool:
        return any(
            ex.reads_place(n)
            and self.module.before(n, before)
            and not self.module.inside(n, before)
            and self.facts.slots.of(n) == slot
            for n in function.nodes
        )

    # -- who reaches what -------------------------------------------------------------------------------------

    def starts_reaching(self, function: Scope) -> list[Start]:
        """The concurrent starts from which `function` is reached on an object that the start shares with others."""
        return [start for start in self.starts if function in self._shared_reach[start]]

    @cached_property
    def _shared_reach(self) -> dict[Start, set[Scope]]:
        return {start: self._reach(start, apart=False) for start in self.starts}

    def overlapping(self, function: Scope) -> Start | None:
        """A start of which several runs may be in a function at once: no busy flag on the way keeps them apart."""
        return next((start for start, reach in self._overlapping_reach.items() if function in reach), None)

    @cached_property
    def _overlapping_reach(self) -> dict[Start, set[Scope]]:
        return {start: self._reach(start, apart=True) for start in self.repeated}

    @cached_property
    def repeated(self) -> list[Start]:
        """The starts of which several runs may be under way at once."""
        unguarded = self.anatomy.unguarded
        return [s for s in self.starts if s.many or (unguarded.is_many(s) and not self.joins.is_joined(s))]

    def overlapping_outside(self, function: Scope) -> list[Start]:
        """The starts of which several runs may be in a function at once, on whatever objects.

        What lies outside of the program is no part of an object that a run has for itself.
        """
        return [start for start, reach in self._outside_reach.items() if function in reach]

    @cached_property
    def _outside_reach(self) -> dict[Start, set[Scope]]:
        return {start: self._reach(start, apart=True, own=True) for start in (*self.repeated, *self.processes)}

    def _reach(self, start: Start, *, apart: bool, own: bool = False) -> set[Scope]:
        """What a start runs on objects that it shares; with `apart` not what a flag, or its last run, holds back.

        With `own` also what it runs on objects of its own.
        """
        seen = {start.function} if own or not self.ownership.is_owned(start) else set()
        queue = list(seen)
        while queue:
            here = queue.pop()
            inside = [f for f in self.module.functions if f.parent is not None and f.parent.function is here]
            sites = [s for s in self.graph.calls[here] if s.callee not in self.apart]
            sites = [s for s in sites if own or not self.ownership.on_own_object(s.node, here)]
            callees = [s.callee for s in sites if not (apart and self.is_held_back(s.node, here))]
            callees += [s.function for s in self.joined_in(here)]
            for callee in [*callees, *(f for f in inside if f.kind == "function")]:
                if callee not in seen:
                    seen.add(callee)
                    queue.append(callee)
        return seen

    def is_held_back(self, node: cst.CSTNode, function: Scope) -> bool:
        """Whether a call runs only when the one before is over: by a busy flag, or a start that waits for its last."""
        return self.flags.guard(node, function) or any(
            self.module.inside(node, start.node) and self.joins.follows_its_last(start)
            for start in self.starts
            if start.kind != "handler" and self.module.scope_of[start.node].function is function
        )

    def joined_in(self, function: Scope) -> list[Start]:
        """What a function starts on objects that others have, too, and waits for: it runs it, as a call does."""
        return [
            start
            for start in self.starts
            if self.module.scope_of[start.node].function is function
            and self.joins.is_joined(start)
            and not self.ownership.is_owned(start)
        ]

    def is_public(self, function: Scope) -> bool:
        """A function that others may call at any time: public, and no start itself."""
        return not function.name.startswith("_") or function.name.startswith("__call")

    # -- locks ------------------------------------------------------------------------------------------------

    def held(self, write: HistoryWrite) -> frozenset[Slot]:
        return self.locks.held(write.node, write.function)

    def by_function(self, writes: list[HistoryWrite]) -> dict[Scope, list[HistoryWrite]]:
        found: dict[Scope, list[HistoryWrite]] = defaultdict(list)
        for write in writes:
            found[write.function].append(write)
        return found


def _locks_there(anatomy: Anatomy, node: cst.BaseExpression) -> tuple[Locks, Scope] | None:
    """The function of another file that a call runs, or a name means, and the locks of that file."""
    called = isinstance(node, cst.Call)
    found = run_elsewhere(anatomy, node) if called else anatomy.imported_function(ex.dotted(node) or "")  # type: ignore[arg-type]
    return (found[0].races.locks, found[1]) if found is not None else None


def _has_lock(anatomy: Anatomy, slot: Slot, name: str) -> bool:
    """Whether objects of another file, as one that is in a slot, have a lock of a name: too far off, its text tells."""
    found = classes_of(anatomy, slot)
    unread = [near for near, _ in named_classes(anatomy, slot)] if not found else []
    made = rb"\b%s\b[^=\n]*=[^\n]*\b(R?Lock|Condition)\b" % name.encode()
    return any(("attr", cls, name) in there.races.locks.known for there, cls in found) or any(
        re.search(made, near.source) for near in unread
    )


def _imports_lock(anatomy: Anatomy, name: str) -> bool:
    """Whether what is imported under a name is a lock in its file, or a dict of locks."""
    found = anatomy.imported_value(name) if name in anatomy.module.imports.full else None
    return found is not None and found[1] in found[0].races.locks.known


def _is_mentioned(module: SourceModule, node: cst.CSTNode) -> bool:
    """Whether an expression is set, names something, or stands before a dot: `messages.copy()` alone reads there."""
    outer = module.parent.get(node)
    if isinstance(outer, cst.Attribute):
        return outer.attr is node or outer.attr.value != "copy"
    named = (isinstance(outer, cst.Arg) and outer.keyword is node) or (
        isinstance(outer, cst.AnnAssign) and outer.target is node
    )
    return named or isinstance(outer, cst.AssignTarget | cst.Param)


def run_apart(races: Races, one: Scope, other: Scope) -> bool:
    """Whether a start reaches just one of two functions; a handler of serial ones, if another start is beside it."""
    first, second = set(races.starts_reaching(one)), set(races.starts_reaching(other))
    return any(
        start.kind != "serial" or any(other.kind != "serial" for other in others)
        for alone, others in ((first, second), (second, first))
        for start in alone - others
    )
