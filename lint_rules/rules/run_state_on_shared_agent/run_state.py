"""State of one run that is kept where other runs see it, too: on the agent, or on a tool that all runs share.

Three forms: what a run was given is stored on the shared object at its start and read again after others may have
run; an attribute is saved, changed, and put back when the run has ended; the chat of a run is told to a shared tool, or
to a file of tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import GROWERS
from lint_rules.anatomy.messages.classes import FoundClass, body, classes_of
from lint_rules.anatomy.messages.growth import put_there
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.turns.races import run_apart
from lint_rules.anatomy.turns.reply_places import bound_values
from lint_rules.anatomy.turns.resources import run_by
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, describe, root_object, whole_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.memo import once
from lint_rules.syntax.mentions import mentions, names_in
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_CHANGES = frozenset({"append", "extend", "insert", "update", "clear", "remove"})


@record
class RunState:
    """At `node` the run of `function` stores `name` where others see it; it waits at `wait`; `read` uses it later."""

    how: Literal["entry", "swap", "told"]
    node: cst.CSTNode
    function: Scope
    name: str
    wait: cst.CSTNode
    read: cst.CSTNode
    where: Anatomy
    starter: cst.CSTNode | None = None


_Kept = cst.Assign | cst.AnnAssign | cst.Call


class RunStates:
    """Finds them in one file, at most one of each form for a function."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.unguarded = anatomy.unguarded
        self.races = self.unguarded.races
        self._asking: dict[Scope, list[cst.Call]] = {}

    def all(self) -> Iterator[RunState]:
        module = self.module
        swapping = {module.scope_of[node].function for node in module.nodes_of(cst.Try) if node.finalbody is not None}
        telling = self._statements
        for function in module.functions:
            if function not in swapping and function not in telling and function not in self._set_twice:
                continue
            if function.kind == "function" and (function.is_async or function in self._in_threads):
                found = [*self._first(chain(self._swaps(function), self._switches(function)))]
                found += self._first(self._told(function)) if function in telling else ()
                if found and not self.races.is_setup(function):
                    yield from found
        yield from self._entries()

    @cached_property
    def _in_threads(self) -> set[Scope]:
        """The functions that several threads are seen to run at once, on objects that they share."""
        return {here for here, thread in self._repeated.items() if thread}

    @cached_property
    def _repeated(self) -> dict[Scope, bool]:
        """The functions of which several runs are seen to overlap, and whether in threads."""
        found: dict[Scope, bool] = {}
        for _, reach in self.unguarded.repeating():
            found.update((here, thread or found.get(here, False)) for here, thread in reach.items())
        return found

    @staticmethod
    def _first(found: Iterator[RunState]) -> Iterator[RunState]:
        first = next(found, None)
        if first is not None:
            yield first

    def asks(self, call: cst.Call) -> bool:
        """Whether a call asks a model, or goes on with a talk that somebody else keeps."""
        turns, function = self.anatomy.turns, self.module.scope_of[call].function
        return turns.reaches_model(call) or any(call in turn.asks for turn in turns.led_to(function))

    def _asks_in(self, function: Scope) -> list[cst.Call]:
        """The calls in a function that ask a model, here or in another file."""
        if function not in self._asking:
            self._asking[function] = [call for call in function.nodes_of(cst.Call) if self.asks(call)]
        return self._asking[function]

    def _held(self, node: cst.CSTNode, function: Scope) -> bool:
        """Whether a lock keeps other runs away: one for all, or that of a key, where the object is that key's, too.

        It is none of a key that keeps the locks of all keys itself.
        """
        locks = self.races.locks.held(node, function)
        if not all(map(_is_of_many, locks)):
            return True
        keeps_all = any(root_object(lock)[:2] == ("attr", function.owner) for lock in locks)
        return bool(locks) and not keeps_all and not self._is_for_all_keys(function)

    @once(circular=True)
    def _is_for_all_keys(self, function: Scope) -> bool:
        """Whether the object of a method is one for all who call it."""
        bases = [(ex.receiver(site.node), site.caller) for site in self.anatomy.calls.sites[function]]
        return function.owner is not None and bool(bases) and all(self._is_one(*base) for base in bases)

    def _is_one(self, base: cst.BaseExpression | None, caller: Scope) -> bool:
        if isinstance(base, cst.Name) and base.value == self.module.self_name(caller):
            return self._is_for_all_keys(caller)
        place = self.anatomy.aliases.lasting_at(base, caller)
        return place is not None and not _is_of_many(place)

    # -- saved, changed, put back -----------------------------------------------------------------------------

    def _swaps(self, function: Scope) -> Iterator[RunState]:
        for guard in function.nodes_of(cst.Try):
            for node in walk(guard.finalbody) if guard.finalbody is not None else ():
                back = self._attribute_from_name(node)
                if back is None or not self._is_shared(back[0], function):
                    continue
                target, saved = back
                slot = self.facts.slots.of(target)
                if slot is None or not self._was_saved(function, saved, slot):
                    continue
                if not function.is_async and Kind.HISTORY in self.facts.of(slot):
                    continue  # what threads do to a history that is swapped is AGL101
                asked = next((ask for ask in self._asks_in(function) if self.module.inside(ask, guard.body)), None)
                if asked is None:
                    break
                changed = self._changed_before(function, slot, asked, node)
                if changed is not None and not self._held(asked, function):
                    name = ex.source(target, 40)
                    yield RunState("swap", changed, function, name, asked, node, self.anatomy)

    @cached_property
    def _set_twice(self) -> dict[Scope, list[tuple[cst.Attribute, cst.Assign, cst.Assign]]]:
        """By function the attributes that it sets at two places, with each two of these."""
        lines: dict[tuple[Scope, Slot], list[tuple[cst.Attribute, cst.Assign]]] = {}
        for node in self.module.nodes_of(cst.Assign):
            target, function = ex.targets(node)[0], self.module.scope_of[node].function
            slot = self.facts.slots.of(target) if type(target) is cst.Attribute else None
            if slot is not None and type(target) is cst.Attribute:
                lines.setdefault((function, slot), []).append((target, node))
        found: dict[Scope, list[tuple[cst.Attribute, cst.Assign, cst.Assign]]] = {}
        for (function, _), each in lines.items():
            pairs = [(target, one, other) for target, one in each for _, other in each if one is not other]
            found.setdefault(function, []).extend(pairs) if pairs else None
        return found

    def _switches(self, function: Scope) -> Iterator[RunState]:
        """`self.rules = SHORT`, a request that is made of it, and then `self.rules = LONG`, which it was at first."""
        leads = self.anatomy.leads
        for target, node, back in self._set_twice.get(function, ()) if function in self._repeated else ():
            slot = self.facts.slots.of(target)
            if slot is None or not self._is_shared(target, function) or not self._puts_back(function, back, node, slot):
                continue
            if not function.is_async and Kind.HISTORY in self.facts.of(slot):
                continue
            for asked in self._asks_in(function):
                between = leads(function, [node], [asked]) and leads(function, [asked], [back])
                if between and not self._held(asked, function) and self._is_made_of(asked, slot):
                    yield RunState("swap", node, function, ex.source(target, 40), asked, back, self.anatomy)
                    return

    def _puts_back(self, function: Scope, back: cst.Assign, node: cst.Assign, slot: Slot) -> bool:
        """Whether an attribute is set to what was saved, or to what it is made with, and was set to something else."""
        value, said = ex.inner(back.value), ex.source(back.value, 80)
        if isinstance(value, cst.Name) and self._was_saved(function, value, slot):
            return True
        made = (each for each in self.facts.assigned(slot) if self.races.is_setup(self.module.scope_of[each].function))
        return said != ex.source(node.value, 80) and said in {ex.source(each, 80) for each in made}

    def _is_made_of(self, asked: cst.Call, slot: Slot) -> bool:
        """Whether what runs to ask a model reads an attribute, here or in the file of a base class."""
        found = body(self.anatomy, asked)
        run = run_by(*found) if found is not None else ()
        return any(self._reads(part, slot) for part in walk(asked)) or any(
            isinstance(node.value, cst.Name) and node.value.value == there.module.self_name(here)
            for there, here in run
            for node in here.nodes_of(cst.Attribute)
            if node.attr.value == slot[2] and not isinstance(there.module.parent[node], cst.AssignTarget)
        )

    @staticmethod
    def _attribute_from_name(node: cst.CSTNode) -> tuple[cst.Attribute, cst.Name] | None:
        """`(x.a, saved)` of the statement `x.a = saved`."""
        if type(node) is cst.Assign and type(node.value) is cst.Name:
            target = node.targets[0].target
            if type(target) is cst.Attribute:
                return target, node.value
        return None

    def _was_saved(self, function: Scope, saved: cst.Name, slot: Slot) -> bool:
        return any(
            type(node) is cst.Assign
            and saved.value in [n for t in node.targets for n in ex.target_names(t.target)]
            and any(self.facts.slots.of(part) == slot for part in (node.value, *sources(node.value)))
            for node in function.nodes
        )

    def _changed_before(self, function: Scope, slot: Slot, asked: cst.CSTNode, back: cst.CSTNode) -> cst.CSTNode | None:
        for node in function.nodes:
            if isinstance(node, cst.Assign) and node is not back:
                if any(self.facts.slots.of(t.target) == slot for t in node.targets) and self.module.before(node, asked):
                    return node
            elif isinstance(node, cst.Call) and ex.called_name(node) in _CHANGES and self.module.before(node, asked):
                base = ex.receiver(node)
                if base is not None and self.facts.slots.of(base) == slot:
                    return node
        return None

    def _is_shared(self, target: cst.Attribute, function: Scope) -> bool:
        """An attribute of an object that the function has not made for itself."""
        base = ex.owner(target)
        own = self._is_of_each_run(base, function) or self.races.ownership.is_own(base, function)
        return isinstance(base, cst.Name) and not own

    def _is_of_each_run(self, base: cst.CSTNode, function: Scope) -> bool:
        """Whether an object, or what it is a part of, is a parameter that gets what each run has for itself.

        Of a view that a framework makes for each request, or connection, that is the object itself.
        """
        while isinstance(base, cst.Attribute):
            base = base.value
        if not isinstance(base, cst.Name):
            return False
        if base.value == self.module.self_name(function):
            return self.races.ownership.is_own(base, function)
        is_given = self.facts.slots.of(base) == ("var", function, base.value)
        return is_given and self.anatomy.races.is_of_each_run(function, base.value)

    # -- told to a shared tool --------------------------------------------------------------------------------

    def _told(self, function: Scope) -> Iterator[RunState]:
        """`tool.set_context(chat)` before the model is asked, where the tool is looked up on the agent.

        Or `set_context(chat)` of a file whose functions are the tools.
        """
        for node, base in self._statements[function]:
            if base is not None and not self._is_looked_up(base, function):
                continue
            if not any(self._is_given(arg.value, function) for arg in node.args):
                continue
            asks = self._asks_in(function)
            if not asks:
                return
            asked = next((ask for ask in asks if self.anatomy.leads(function, [node], [ask])), None)
            place = self.anatomy.aliases.lasting_at(base, function)
            keyed = place is not None and _is_of_many(place) and self.races.locks.held(node, function)
            if asked is None or keyed or self._held(node, function):
                continue
            for there, name, read in self._reads_told(node, base, function):
                yield RunState("told", node, function, name, asked, read, there)
                break

    def _reads_told(
        self, node: cst.Call, base: cst.BaseExpression | None, function: Scope
    ) -> Iterator[tuple[Anatomy, str, cst.CSTNode]]:
        """Where that is read which a call tells to an object, or to a file: in which file, of what."""
        if base is None or self.facts.slots.of(base) is None:
            found = self.anatomy.imported_function(ex.dotted(node.func) or "")
            if found is not None and self._is_told_beside(node, function):
                yield from ((found[0], name, read) for name, read in self._reads_of_file(*found))
            return
        here = self.facts.slots.instance(base)
        if here is not None and self.module.method(here, ex.called_name(node)) is None:
            return
        for there, cls in self._classes_of(base, function):
            method = there.module.method(cls, ex.called_name(node))
            of_key = self._is_of_key(base, function)
            for reader, read in _reads_of_what_is_set(cls, method) if method is not None else ():
                if not of_key or self._comes_to(reader.name, function):
                    yield there, ex.source(base, 40), read

    def _is_of_key(self, base: cst.BaseExpression, function: Scope) -> bool:
        """Whether an object is one of many, by what the run is given: those who share it are one talk, or one user."""
        place = self.anatomy.aliases.lasting_at(base, function)
        return place is not None and _is_of_many(place) and self._is_given(base, function)

    def _comes_to(self, name: str, function: Scope) -> bool:
        """Whether a run of a function is seen to call a method of that name."""
        calls = (call for _, here in run_by(self.anatomy, function) for call in here.nodes_of(cst.Call))
        return any(ex.called_name(call) == name for call in calls)

    def _is_told_beside(self, node: cst.Call, function: Scope) -> bool:
        """Whether something else may be told meanwhile: by another run of a function, or of one that does so, too."""
        same = (n for n in self.module.nodes_of(cst.Call) if ex.dotted(n.func) == ex.dotted(node.func))
        others = {self.module.scope_of[each].function for each in same} - {function}
        return self.races.overlapping(function) is not None or any(
            run_apart(self.races, function, other) for other in others
        )

    def _reads_of_file(self, there: Anatomy, setter: Scope) -> Iterator[tuple[str, cst.CSTNode]]:
        """The globals that a function of a file only sets to what it is given, each with where a tool reads it."""
        kept = {slot for slot in _globals_set(there, setter) if slot is not None}
        for tool in there.module.functions if kept else ():
            if tool in there.tools or self._is_handed_on(there, tool):
                for node in tool.nodes_of(cst.Name):
                    slot = there.facts.slots.of(node)
                    if slot in kept and not isinstance(there.module.parent[node], (cst.AssignTarget, cst.NameItem)):
                        yield node.value, node

    def _is_handed_on(self, there: Anatomy, function: Scope) -> bool:
        """Whether this file names a function of another one without a call of it: `tools=[look_up, book]`."""
        return any(
            self.anatomy.imported_function(ex.dotted(node) or "") == (there, function)
            for node in self.module.nodes_of(cst.Name)
            if node.value == function.name and isinstance(self.module.parent[node], (cst.Element, cst.Arg))
        )

    @cached_property
    def _statements(self) -> dict[Scope, list[tuple[cst.Call, cst.BaseExpression | None]]]:
        """By function the calls that are statements, methods each with its object: what only stores gives nothing.

        Those that are handed nothing are left out.
        """
        found: dict[Scope, list[tuple[cst.Call, cst.BaseExpression | None]]] = {}
        for node in self.module.nodes_of(cst.Expr):
            call = ex.inner(node.value)
            if type(call) is cst.Call and call.args:
                found.setdefault(self.module.scope_of[node].function, []).append((call, ex.receiver(call)))
        return found

    def _is_given(self, value: cst.BaseExpression, function: Scope) -> bool:
        """Whether a value comes with the call of the function: a parameter, or what is made of one."""
        own = self.module.self_name(function)
        names = {p.name.value for p in parameters(function)} - {own}
        queue: list[cst.CSTNode] = [value] if names else []
        seen = set[str]()
        for here in queue:
            new = names_in(here) - seen
            if not names.isdisjoint(new):
                return True
            seen |= new
            queue += [value for name in new for value in bound_values(self.anatomy, function, name)]
        return False

    def _is_looked_up(self, base: cst.BaseExpression, function: Scope) -> bool:
        """`self.tool`, or a name for `self.tools.get("x")`: an object that outlives the run.

        Also a global, if it is known that several runs of the function overlap.
        """
        place = self.anatomy.aliases.lasting_at(base, function)
        root = root_object(place) if place is not None else ("",)
        return root[0] == "attr" or (
            root[:2] == ("var", self.module.top) and self.races.overlapping(function) is not None
        )

    def _classes_of(self, base: cst.BaseExpression, function: Scope) -> Iterator[FoundClass]:
        """The classes of an object: known in this file, tested with `isinstance`, or of files that this one imports."""
        known, slot = self.facts.slots.instance(base), self.facts.slots.of(base)
        if known is not None:
            yield self.anatomy, known
            return
        for node in function.nodes_of(cst.Call):
            if ex.called_name(node) == "isinstance" and len(node.args) == 2:
                tested, cls = node.args[0].value, node.args[1].value
                if isinstance(cls, cst.Name) and self.facts.slots.of(tested) == slot:
                    own = self.module.class_named(cls.value)
                    found = (self.anatomy, own) if own is not None else self.anatomy.imported_class(cls.value)
                    yield from [found] if found is not None else []
        yield from classes_of(self.anatomy, slot) if slot is not None else ()

    # -- stored at the start of a run -------------------------------------------------------------------------

    def _entries(self) -> Iterator[RunState]:
        """Those of all functions; of a function and one that it only calls for that, the one that stores it."""
        found = list(self._all_entries())
        known = {(each.function, each.name) for each in found}
        return (each for each in found if (self.facts.slots.callee(each.node), each.name) not in known)

    def _all_entries(self) -> Iterator[RunState]:
        seen: set[Scope] = set()
        for start, reach in self.unguarded.repeating() if self._kept else ():
            for function, thread in reach.items():
                if function in seen or function not in self._kept or self.races.is_setup(function):
                    continue
                if not thread and not function.is_async:
                    continue
                for found in self._first(self._stored(function, start.node)):
                    seen.add(function)
                    yield found

    @cached_property
    def _kept(self) -> dict[Scope, list[tuple[_Kept, Slot]]]:
        """Where methods store on an object what they were given, and functions in a global, and the slots."""
        found: dict[Scope, list[tuple[_Kept, Slot]]] = {}
        for node in self.module.nodes_of(cst.Assign, cst.AnnAssign):
            target = ex.targets(node)[0]
            function = self.module.scope_of[node].function
            of_object = type(target) is cst.Attribute and function.owner is not None
            slot = self.facts.slots.of(target) if of_object or type(target) is cst.Name else None
            lasts = slot is not None and (slot[0] == "attr" if of_object else slot[:2] == ("var", self.module.top))
            if slot is not None and lasts and function.kind == "function" and self._is_of_run(node, slot, function):
                if not self._is_of_each_run(target, function) and not self._is_set_once(node, function):
                    found.setdefault(function, []).append((node, slot))
        for function, kept in [*found.items()]:  # `set_guest(name)` stores for its callers
            stored = [slot for node, slot in kept if not self._held(node, function)]
            sites = self.anatomy.calls.sites[function] if stored and not self.races.is_setup(function) else ()
            starts = [s for s in self.races.starts if s.function is function and not self.races.joins.is_joined(s)]
            for site in sites:
                if any(self.module.inside(site.node, start.node) for start in starts):
                    continue  # a run of its own is begun, which stores for itself
                if site.caller.kind == "function" and any(self._is_given(a.value, site.caller) for a in site.node.args):
                    own = self._is_own_object(site)
                    seen = [(site.node, slot) for slot in stored if slot[0] == "var" or own]
                    found.setdefault(site.caller, []).extend(seen)
        return found

    def _is_of_run(self, node: cst.Assign | cst.AnnAssign, slot: Slot, function: Scope) -> bool:
        """Whether what an assignment stores is the run's own: given to it, and not made of what all have stored."""
        parts = [part for value in put_there(self.anatomy, node.value) for part in ex.alternatives(value)]
        begins = Kind.HISTORY in self.facts.of(slot) and self.anatomy.calls.reaches_llm(function)
        begins = begins and not any(passed(self.module, node, function.node))
        return any(
            (self._is_given(part, function) or (begins and isinstance(part, cst.List)))
            and not any(self._reads(inner, slot) for inner in walk(part))
            for part in parts
        )

    def _is_set_once(self, node: cst.CSTNode, function: Scope) -> bool:
        """`if self.me is None: self.me = await client.who()`: what the first run sets is the same for all."""
        tests = (t for t, holds in passed(self.module, node, function.node) if isinstance(t, cst.If) and holds)
        return any(self._asks_for_what_it_sets(test, function) for test in tests)

    def _asks_for_what_it_sets(self, test: cst.If, function: Scope) -> bool:
        """Whether an `if` asks whether something is not there yet that it sets."""
        lines = self.module.nodes_inside(test.body, function, cst.Assign, cst.AnnAssign)
        set_there = {self.facts.slots.of(target) for line in lines for target in ex.targets(line)} - {None}
        return self._is_absent(ex.inner(test.test), set_there)

    def _is_absent(self, said: cst.BaseExpression, places: set[Slot | None]) -> bool:
        """`self.me is None`, `not self.me`, also with more that is asked: `self.me is None and ready`."""
        if isinstance(said, cst.BooleanOperation) and isinstance(said.operator, cst.And):
            return any(self._is_absent(ex.inner(side), places) for side in (said.left, said.right))
        if isinstance(said, cst.Comparison):
            left, operator, right = ex.compared(said)
            is_none = isinstance(operator, (cst.Is, cst.Equal)) and ex.dotted(right) == "None"
            return is_none and self.facts.slots.of(left) in places
        denied = isinstance(said, cst.UnaryOperation) and isinstance(said.operator, cst.Not)
        return denied and self.facts.slots.of(ex.inner(said.expression)) in places  # type: ignore[attr-defined]

    def _is_own_object(self, site: CallSite) -> bool:
        """Whether a method calls another one of its object."""
        base = ex.receiver(site.node)
        return isinstance(base, cst.Name) and base.value == self.module.self_name(site.caller)

    def _stored(self, function: Scope, starter: cst.CSTNode) -> Iterator[RunState]:
        for node, slot in self._kept[function]:
            if self._held(node, function):
                continue
            name = describe(slot) if isinstance(node, cst.Call) else ex.source(ex.targets(node)[0], 40)
            for wait in self._waits(function):
                if not self.anatomy.leads(function, [node], [wait]) and not self._waits_in(node, wait, slot):
                    continue
                read = self._read_after(function, slot, node, wait)
                if read is not None:
                    yield RunState("entry", node, function, name, wait, read, self.anatomy, starter)
                    break

    def _waits_in(self, node: cst.CSTNode, wait: cst.CSTNode, slot: Slot) -> bool:
        """Whether a call stores something and goes on to wait: `await self.answer(text)`."""
        callee = self.facts.slots.callee(node)
        if callee is None or not self.module.inside(node, wait):
            return False
        writes = [n for n in callee.nodes_of(cst.Assign, cst.AnnAssign) if self._writes(n, slot)]
        return self.anatomy.leads(callee, writes, [*self._waits(callee)])

    def _waits(self, function: Scope) -> Iterator[cst.CSTNode]:
        asks = [call for call in function.nodes_of(cst.Call) if self.asks(call)]
        return iter(sorted([*function.waits, *asks], key=lambda node: self.module.order[node]))

    def _read_after(self, function: Scope, slot: Slot, write: cst.CSTNode, wait: cst.CSTNode) -> cst.CSTNode | None:
        """Where the attribute is read once others may have run: after the wait, or in what is waited for."""
        before = self.module.before
        for node in function.nodes:
            read = node if self._reads(node, slot) else self._read_in_call(node, slot)
            if read is None or self.module.inside(node, wait):
                continue
            between = (w for w in function.nodes if w is not write and before(wait, w) and before(w, node))
            if self.anatomy.leads(function, [wait], [node]) and not any(self._writes(w, slot) for w in between):
                return read
        call = ex.inner(wait.expression) if isinstance(wait, cst.Await) else wait
        callee = self.facts.slots.callee(call)
        if isinstance(call, cst.Call):
            run = [*(self.anatomy.tools if self.asks(call) else ()), *self._called_back(call)]
            found = next(filter(None, (self._read_by(function, slot) for function in run)), None)
            if found is not None:
                return found
        for inside in self.anatomy.calls.reachable(callee) if callee is not None else ():
            waits = [n for n in inside.nodes if isinstance(n, cst.Await)]
            for node in inside.nodes:
                if self._reads(node, slot) and self.anatomy.leads(inside, waits, [node]):
                    return node
        return None

    def _called_back(self, call: cst.Call) -> Iterator[Scope]:
        """The functions that a call may run because they were handed to it, to its object, or to what made that."""
        place = self.facts.slots.of(ex.receiver(call))
        made = self.facts.assigned(place)
        for function, references in self.anatomy.calls.references.items():
            for outer in (self.module.parent[self.module.parent[node]] for node in references):
                to = ex.receiver(outer)
                known = to is not None and place is not None and self.facts.slots.of(to) == place
                if outer is call or known or any(outer is value for value in made):
                    yield function

    def _read_by(self, function: Scope, slot: Slot) -> cst.CSTNode | None:
        """Where a function, or what it runs, reads a place, and nothing in there sets it."""
        inner = [n for here in self.anatomy.calls.reachable(function) for n in here.nodes]
        if any(self._writes(n, slot) for n in inner):
            return None
        return next((n for n in inner if self._reads(n, slot)), None)

    def _read_in_call(self, node: cst.CSTNode, slot: Slot) -> cst.CSTNode | None:
        """Where what a call runs reads a place."""
        callee = self.facts.slots.callee(node)
        return self._read_by(callee, slot) if callee is not None else None

    def _reads(self, node: cst.CSTNode, slot: Slot) -> bool:
        return (
            (type(node) is cst.Name if slot[0] == "var" else ex.member(node) is not None)
            and isinstance(node, cst.BaseExpression)
            and self.facts.slots.of(node) == slot
            and not isinstance(self.module.parent.get(node), (cst.AssignTarget, cst.NameItem))
        )

    def _writes(self, node: cst.CSTNode, slot: Slot) -> bool:
        return isinstance(node, (cst.Assign, cst.AnnAssign)) and slot in map(self.facts.slots.of, ex.targets(node))


def _is_of_many(slot: Slot) -> bool:
    """Whether a place is one of several that a dict or list holds: `locks[key]`."""
    return any(part[0] == "item" for part in whole_of(slot))


def _globals_set(anatomy: Anatomy, setter: Scope) -> Iterator[Slot | None]:
    """The globals that a function sets, or a part of them, to what it is given; none if it does more than that."""
    given = {p.name.value for p in parameters(setter)}
    if setter.is_async or any(isinstance(n, (cst.With, cst.For, cst.While)) for n in setter.nodes):
        return
    if any(node.value is not None for node in setter.nodes_of(cst.Return)):
        return
    for node in setter.nodes_of(cst.Assign):
        if mentions(given, node.value):
            slots = (anatomy.facts.slots.of(ex.owner(target)) for target in ex.targets(node))
            yield from (slot for slot in slots if slot is not None and slot[:2] == ("var", anatomy.module.top))


def _reads_of_what_is_set(cls: Scope, method: Scope) -> Iterator[tuple[Scope, cst.CSTNode]]:
    """For a method that only stores what it is given: the other methods that read that, and where."""
    node = method.node
    own = parameters(method)[0].name.value if parameters(method) else None
    if not isinstance(node, cst.FunctionDef) or own is None:
        return
    names: set[str] = set()
    given = {p.name.value for p in parameters(method)} - {own}
    for statement in method.nodes:
        if isinstance(statement, (cst.Await, cst.Return, cst.With, cst.For, cst.While)):
            return
        if isinstance(statement, cst.Call) and ex.called_name(statement) in GROWERS:  # nothing takes its place
            return
        if isinstance(statement, cst.Assign) and isinstance(target := statement.targets[0].target, cst.Attribute):
            if isinstance(target.value, cst.Name) and target.value.value == own:
                if mentions(given, statement.value):
                    names.add(target.attr.value)
    for other in cls.methods.values():
        if other is not method and other.name != "__init__":
            reads = (node for node in other.nodes_of(cst.Attribute) if node.attr.value in names)
            yield from ((other, node) for node in reads if isinstance(node.value, cst.Name))
