"""Locks, and the regions they guard: by `with`, by hand, by decorator, by a context manager, or by every caller."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.program.call_graph import CallGraph, CallSite
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, decorators, parameters
from lint_rules.syntax.walk import walk

_MAKERS = frozenset({"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore"})
_TABLES = frozenset({"dict", "defaultdict", "OrderedDict", "WeakValueDictionary"})
_SAID = re.compile(
    r"(lock|mutex|semaphore)\w* (is |must be |already |being )*(held|taken|acquired)"
    r"|hold(s|ing)? (the |its |our |this )?\w* ?\w*lock|under (the |its )?\w* ?lock|with (the |its )?\w* ?lock held",
    re.IGNORECASE,
)
_NONE_TAKEN: tuple[Slot, ...] = ()
UNKNOWN: Slot = ("lock", "unknown")
"""A lock that holds, but could not be told by name: taken by a decorator, or said to be held."""


class Locks:
    """Which locks guard which code of a file."""

    def __init__(
        self,
        graph: CallGraph,
        elsewhere: Callable[[cst.BaseExpression], tuple[Locks, Scope] | None] = lambda _: None,
        has_elsewhere: Callable[[Slot, str], bool] = lambda *_: False,
        known_elsewhere: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`elsewhere` tells which function of another file a call runs, or a name means, with the locks there.

        `has_elsewhere`, whether objects of a class of another file, as one that is in a slot, have a lock of a name.
        `known_elsewhere`, whether what is imported under a name is a lock there, or a dict of locks.
        """
        self.graph = graph
        self._elsewhere = elsewhere
        self._has_elsewhere = has_elsewhere
        self._known_elsewhere = known_elsewhere
        self.facts = graph.facts
        self.module = graph.facts.module
        self._entry: dict[Scope, frozenset[Slot] | None] = {}

    # -- which slots are locks --------------------------------------------------------------------------------

    @cached_property
    def known(self) -> set[Slot]:
        """What is annotated as a lock, or has one assigned."""
        found: set[Slot] = set()
        for node in self.module.nodes_of(cst.Assign, cst.AnnAssign):
            annotated = type(node) is cst.AnnAssign and self._names_lock(node.annotation.annotation)
            if annotated or (node.value is not None and self._makes_lock(node.value)):
                found.update(slot for target in ex.targets(node) if (slot := self.facts.slots.of(target)) is not None)
        return found

    def _names_lock(self, node: cst.BaseExpression) -> bool:
        return any(ex.last_name(n) in _MAKERS for n in walk(node))

    def _makes_lock(self, value: cst.BaseExpression) -> bool:
        """`Lock()`, `field(default_factory=Lock)`, `defaultdict(Lock)`; a semaphore only when it lets one in."""
        for node in walk(value):
            if type(node) is cst.Call and ex.called_name(node) in _MAKERS:
                return "Semaphore" not in ex.called_name(node) or not node.args or _is_one(node.args[0].value)
            if type(node) is cst.Arg and _last(node.value) in _MAKERS - {"Semaphore", "BoundedSemaphore"}:
                return True
        return False

    def are_made_at(self, slot: Slot) -> bool:
        """Whether a place only ever gets a new lock, or a new table of locks, and none that somebody else has."""
        made = [ex.inner(value) for value in self.facts.assigned(slot)]
        return bool(made) and all(
            type(value) is cst.Dict or (type(value) is cst.Call and ex.called_name(value) in _MAKERS | _TABLES)
            for value in made
        )

    def lock_of(self, node: cst.BaseExpression) -> Slot | None:
        """The lock an expression names: a known lock, an element of a dict of locks, a `self._lock` from elsewhere."""
        node = ex.inner(node)
        slot = self.facts.slots.of(node)
        if slot is None:
            return None
        whole = slot[1] if slot[0] == "item" else slot
        if self._holds_locks(whole) or (slot[0] == "item" and _sounds(whole)):
            return slot
        if whole[:2] == ("var", self.module.top) and self._known_elsewhere(whole[2]):
            return slot
        if isinstance(node, cst.Call) and any(isinstance(n, cst.Call) and self._makes_lock(n) for n in walk(node)):
            return slot
        if slot[0] == "return":
            return slot if _sounds(slot) or self.gives(slot[1]) else None
        if slot in self._not_locks:
            return None
        there = self._elsewhere(node) if isinstance(node, cst.Call) else None
        if there is not None and there[0].gives(there[1]):
            return slot
        if slot[0] == "member" and self._has_elsewhere(slot[1], slot[2]):
            return slot
        return slot if _sounds(slot) and slot[0] in {"attr", "var", "member", "call"} else None

    @once(circular=False)
    def _holds_locks(self, slot: Slot) -> bool:
        """Whether a place is a lock, or has some: one is made there, it is declared so, or set to such a place."""
        if slot in self.known:
            return True
        if is_parameter(slot):
            said = next((p.annotation for p in parameters(slot[1]) if p.name.value == slot[2]), None)
            return said is not None and self._names_lock(said.annotation)
        set_to = [self.facts.slots.of(value) for value in self.facts.assigned(slot)]
        wholes = [each[1] if each is not None and each[0] == "item" else each for each in set_to]
        return bool(wholes) and all(each is not None and self._holds_locks(each) for each in wholes)

    @once(circular=False)
    def gives(self, function: Scope) -> bool:
        """Whether a function gives a lock back: one that is known, or that it makes on the spot."""
        values = function.returned
        return any(self._makes_lock(value) or self.lock_of(value) is not None for value in values)

    @cached_property
    def _not_locks(self) -> set[Slot]:
        """Semaphores that let several in."""
        return {
            slot
            for node in self.module.nodes_of(cst.Assign)
            for target in node.targets
            if isinstance(node.value, cst.Call)
            and "Semaphore" in ex.called_name(node.value)
            and not self._makes_lock(node.value)
            and (slot := self.facts.slots.of(target.target)) is not None
        }

    # -- what is held where -----------------------------------------------------------------------------------

    def held(self, node: cst.CSTNode, function: Scope) -> frozenset[Slot]:
        """The locks held at `node`: taken around it in its function, or by everyone who calls the function."""
        return self.around(node, function) | self.at_entry(function)

    def around(self, node: cst.CSTNode, function: Scope) -> frozenset[Slot]:
        """The locks taken around `node` in its own function."""
        held: set[Slot] = set()
        below = node
        for outer in self.module.ancestors(node):
            if outer is function.node:
                break
            if isinstance(outer, cst.With) and below is outer.body:
                held.update(lock for item in outer.items for lock in self._taken(item.item))
            below = outer
        return frozenset(held | self._by_hand(node, function) | self._decorated(function))

    def is_chosen(self, node: cst.CSTNode, function: Scope) -> bool:
        """`if the_lock_is_ours: write()`, `else:` take it and write: a test decides, and says that both are meant."""
        callee = self.facts.slots.callee(node)
        for branch in self.module.ancestors(node) if callee is not None else ():
            if isinstance(branch, cst.If) and branch.orelse is not None:
                within = self.module.inside(node, branch.orelse)
                for site in self.graph.calls[function]:
                    other = site.callee is callee and self.module.inside(site.node, branch)
                    if other and self.module.inside(site.node, branch.orelse) != within:
                        return bool(self.around(site.node, function))
        return False

    def region(self, node: cst.CSTNode, function: Scope) -> cst.CSTNode | None:
        """The innermost `with LOCK:` around `node` in its function."""
        below = node
        for outer in self.module.ancestors(node):
            if outer is function.node:
                return None
            if isinstance(outer, cst.With) and below is outer.body and any(self._taken(i.item) for i in outer.items):
                return outer
            below = outer
        return None

    @once(circular=_NONE_TAKEN)
    def _taken(self, item: cst.BaseExpression) -> tuple[Slot, ...]:
        lock = self.lock_of(item)
        if lock is not None and lock[0] != "return":
            return (lock,)
        callee = self.facts.slots.callee(item)
        if callee is not None:
            return self._yielding(callee) or ((lock,) if lock else ())
        there = self._elsewhere(item) if isinstance(item, cst.Call) else None
        return (("return", there[1]),) if there is not None and there[0]._yielding(there[1]) else ()

    def _yielding(self, function: Scope) -> tuple[Slot, ...]:
        """The locks that a context manager of this file holds while it yields."""
        yields = (node for node in function.nodes if isinstance(node, cst.Yield))
        return tuple(held for node in islice(yields, 1) for held in self.around(node, function))

    def _by_hand(self, node: cst.CSTNode, function: Scope) -> set[Slot]:
        """Locks that were acquired before `node` and are released after it."""
        held: set[Slot] = set()
        for call in function.nodes_of(cst.Call):
            if ex.called_name(call) in {"enter_context", "enter_async_context"}:
                lock = self.lock_of(call.args[0].value) if call.args else None
                if lock is not None and self.module.before(call, node):
                    held.add(lock)
            elif ex.called_name(call) in {"acquire", "release"}:
                base = ex.receiver(call)
                lock = self.lock_of(base) if base is not None else None
                if lock is None or not self.module.before(call, node):
                    continue
                if ex.called_name(call) == "acquire":
                    held.add(lock)
                elif not self._guarded_release(call, node):
                    held.discard(lock)
        return held

    def _guarded_release(self, release: cst.CSTNode, node: cst.CSTNode) -> bool:
        """A release in an early way out (inside an `if` or handler that `node` is not in)."""
        for outer in self.module.ancestors(release):
            if isinstance(outer, (cst.If, cst.ExceptHandler)):
                return not self.module.inside(node, outer)
        return False

    def _decorated(self, function: Scope) -> set[Slot]:
        for decorator in decorators(function):
            func = ex.uncalled(decorator)
            maker = self.facts.slots.function(func)
            if "synchronized" in _last(func) or "locked" in _last(func):
                return {UNKNOWN}
            there, made = (self, maker) if maker is not None else self._elsewhere(func) or (self, None)
            if made is not None and there._takes_one(made):
                return {UNKNOWN}
        return set()

    def _takes_one(self, maker: Scope) -> bool:
        """Whether a decorator of this file takes a lock, for as long as the function runs that it is put around."""
        inner = (function for function in self.module.functions if function.within(maker))
        given = {param.name.value for function in inner for param in parameters(function)}
        return any(
            self._is_lock_of_its_object(item.item) or self._taken(item.item)
            for node in walk(maker.node)
            if type(node) is cst.With and any(map(given.__contains__, _called(node.body)))
            for item in node.items
        )

    def _is_lock_of_its_object(self, item: cst.BaseExpression) -> bool:
        """`with self.busy:` in a decorator: nothing tells whose object that is, but some class has a lock so called."""
        if type(item) is cst.Attribute and any(lock[0] == "attr" and lock[2] == item.attr.value for lock in self.known):
            return True
        return _sounds_text(ex.source(item))

    def at_entry(self, function: Scope) -> frozenset[Slot]:
        """The locks that every caller in this file holds when it calls `function`."""
        if function in self._entry:
            return self._entry[function] or frozenset()
        self._entry[function] = None
        if _said_to_be_held(function):
            self._entry[function] = frozenset({UNKNOWN})
            return frozenset({UNKNOWN})
        held: frozenset[Slot] | None = None
        for site in self.graph.sites[function]:
            if site.caller is function or self._entry.get(site.caller, frozenset()) is None:
                continue  # a cycle: what matters is how it is entered
            held = self._common(held, self.at_site(site))
        for reference in self.graph.references[function]:
            here = self._run_by(reference)
            at_call = self.held(here, self.module.scope_of[here].function) if here is not None else frozenset[Slot]()
            held = self._common(held, at_call)
        self._entry[function] = held or frozenset()
        return held or frozenset()

    def _common(self, held: frozenset[Slot] | None, other: frozenset[Slot]) -> frozenset[Slot]:
        """What two callers hold both, also where each has its own name for what one function gives them."""
        if held is None:
            return other
        return held & other or frozenset(map(self._given_by, held)) & frozenset(map(self._given_by, other))

    def _given_by(self, lock: Slot) -> Slot:
        """The result of the function that a local name stands for: `lock = self.lock_of(key)`."""
        values = self.facts.assigned(lock) if lock[0] == "var" else []
        made = self.facts.slots.of(values[0]) if len(values) == 1 else None
        return made if made is not None and made[0] == "return" else lock

    def _run_by(self, reference: cst.BaseExpression) -> cst.Call | None:
        """The call that a function is passed to, and that has run it when it is over: `await self.stage(self.load)`."""
        call = self.module.parent[self.module.parent[reference]]
        callee = self.facts.slots.callee(call)
        if not isinstance(call, cst.Call) or callee is None or callee.kind != "function":
            return None
        if callee.is_async and not isinstance(self.module.parent[call], cst.Await):
            return None
        for slot, value in self.facts.slots.bindings(call, callee):
            uses = [use for use in callee.named(slot[2]) if not isinstance(self.module.parent[use], cst.Param)]
            runs = [
                outer for use in uses if isinstance(outer := self.module.parent[use], cst.Call) and outer.func is use
            ]
            if value is reference and len(runs) == len(uses):
                return call
        return None

    def at_site(self, site: CallSite) -> frozenset[Slot]:
        """The locks held while what a call runs is under way: of a task that is only begun under one, none."""
        return self.held(site.node, site.caller) if not self._is_only_begun(site.node) else frozenset()

    def _is_only_begun(self, call: cst.Call) -> bool:
        """`self.task = create_task(answer(key))`: a coroutine that goes on behind all that stands around its call."""
        begun = self.module.parent[self.module.parent[call]]
        if not isinstance(begun, cst.Call) or ex.called_name(begun) not in words.TASKS:
            return False
        outer = self.module.parent[begun]
        kept = ex.targets(outer)[0] if isinstance(outer, cst.Assign) else None
        return isinstance(outer, cst.Expr) or isinstance(kept, (cst.Attribute, cst.Subscript))


def _said_to_be_held(function: Scope) -> bool:
    """A name or docstring that says the caller holds the lock."""
    if "locked" in function.name or "nolock" in function.name or "no_lock" in function.name:
        return True
    docstring = function.node.get_docstring() if isinstance(function.node, cst.FunctionDef) else None
    return docstring is not None and _SAID.search(docstring) is not None


def _called(body: cst.CSTNode) -> Iterator[str | None]:
    """The names of what is called somewhere, as they stand there."""
    return (ex.dotted(node.func) for node in walk(body) if type(node) is cst.Call)


def _last(node: cst.BaseExpression) -> str:
    return (ex.dotted(node) or "").rpartition(".")[2]


def _is_one(node: cst.BaseExpression) -> bool:
    return ex.integer(node) == 1


def _sounds(slot: Slot) -> bool:
    name = slot[2] if slot[0] in {"attr", "var", "member"} else ""
    if slot[0] == "return":
        name = slot[1].name
    elif slot[0] == "call":
        name = ex.called_name(slot[1])
    return _sounds_text(str(name))


def _sounds_text(name: str) -> bool:
    low = name.lower()
    return ("lock" in low and not any(w in low for w in ("block", "clock", "unlock"))) or "mutex" in low
