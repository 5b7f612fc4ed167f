"""Where a history is loaded from, or stored to, something that outlives the process: a file, a database, a service."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache, partial
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.handed import Handed
from lint_rules.anatomy.frameworks import SESSION_KEEPERS
from lint_rules.anatomy.messages.classes import body, class_names, classes_of, given_when_made, method_of
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.keepers import may_fail
from lint_rules.anatomy.turns.locations import Place
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, bound_values, holds, is_verdict, names_read
from lint_rules.anatomy.turns.storage import Storage
from lint_rules.anatomy.turns.told_turns import answers_beside_questions
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import DECODERS, SAID, TELLING_ROLES, THREAD_LOADS, THREAD_STORES
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, says_only
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children, walk

_KINDS = (Kind.HISTORY, Kind.MESSAGE)
_STORES = re.compile(
    r"^_?(a|async_)?(save|store|persist|dump|write|add|append|put|insert|upsert|record|remember|commit|set|update|sync)"
    r"(_|s?$|[A-Z]|text|many)"
)
_LOADS = re.compile(r"^_?(a|async_)?(load|read|get|fetch|restore|retrieve|list|open|parse)(_|s?$|[A-Z]|many)")
_WRITTEN = frozenset({Kind.MODEL_TEXT, Kind.ARGUMENTS_TEXT, Kind.REPLY})
_ON_LISTS = frozenset({"append", "extend", "insert", "add", "update", "set", "put", "get", "list"})
"""Methods that lists, dicts and queues have, too."""
_PUTS_BEHIND = frozenset({"append", "appendleft", "insert", "extend"})
_OF_CONTAINERS = frozenset(name for kind in (list, dict, set, str, deque) for name in dir(kind))
_DUMPS = frozenset({"to_dict", "model_dump", "dict", "json", "model_dump_json", "to_json", "copy", "items", "values"})
_WRITES = re.compile(r"\s*(insert|update|replace|upsert)\b", re.IGNORECASE)
_VIEWS = re.compile(
    r"(^|[._])(ui|view|widget|panel|console|display|screen|app|tui|printer|renderer|callbacks?|hooks?|telemetry|tracer"
    r"|span|metrics?|logs?|logger|output|stdout|stderr|progress|cl|st|gr|queue|events?|bus|socket|websocket|ws|headers"
    r"|cache|memory_cache|readline)$"
)
_FILES = frozenset(
    {"safe_dump", "safe_load", "execute", "executemany", *(full.rpartition(".")[2] for full in DECODERS)}
)
_STORED_IN = re.compile(
    r"store|storage|database|(^|[._])db|repo|sessions?|memory|history|persist|conversations?|redis|file|path"
)


Way = Literal["load", "store"]


@record
class Transfer:
    """One call that loads or stores. `held` is the value in the program: a history, a message or what holds them."""

    node: cst.Call
    way: Way
    held: str


def _tells(shown: Callable[[Kind], list[Evidence]]) -> bool:
    """Whether a value is a part of a history; the figures of a run have `tool_calls`, too, and prove nothing."""
    return any(not fact.root.reason.startswith("its `tool_calls`") for kind in _KINDS for fact in shown(kind))


def _is_given_again(storage: Storage, saver: Scope) -> bool:
    """Whether another function of the file gives what one saves; not those that the saver runs itself."""
    module, calls = storage.module, storage.anatomy.calls
    own, places = calls.reachable(saver), [save.place for save in storage.saves(saver)]
    others = (here for here in module.functions if here not in own and here.nodes_of(cst.Return))
    return any(saver not in (run := calls.reachable(here)) and storage.is_read(place, within=run)
               for here in others for place in places)  # fmt: skip


@lru_cache(maxsize=4096)
def _may_transfer(full: str) -> bool:
    """A cheap look: whether something of this name may load or store."""
    name = full.rpartition(".")[2]
    return name in _FILES or _STORES.search(name) is not None or _LOADS.search(name) is not None


def _gives(anatomy: Anatomy, method: Scope, classes: set[str]) -> bool:
    """Whether a method gives a history, or a list of objects of one of these classes."""
    elements = anatomy.elements.of(("return", method))
    return Kind.HISTORY in anatomy.facts.of(("return", method)) or (
        elements is not None and elements[1].name in classes
    )


@once(circular=False)
def _does_any(anatomy: Anatomy, asked: tuple[Scope, Way]) -> bool:
    """Whether a function, or what it runs, loads or stores a history, by what its own file knows."""
    storing = _storing(anatomy, anatomy.module.top)
    run = (call for here in anatomy.calls.reachable(asked[0]) for call in here.nodes_of(cst.Call))
    return any(found is not None and found.way == asked[1] for found in map(storing.of, run))


def stores_any(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function itself stores a history or a message, by what its own file knows."""
    storing = _storing(anatomy, anatomy.module.top)
    return any(found is not None and found.way == "store" for found in map(storing.of, function.nodes_of(cst.Call)))


@kept
def _storing(anatomy: Anatomy, _: Scope) -> Storing:
    return Storing(anatomy)


class Storing:
    """Finds the transfers of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self._holders: dict[Slot, str] = {}
        self._places = ReplyPlaces(anatomy)
        self._resources = anatomy.resources
        self._classes: set[Scope] = set()
        for slot in anatomy.facts.all_known():
            if slot[0] in {"member", "item", "attr"} and _tells(partial(anatomy.facts.shown, slot)):
                if slot[0] == "attr":
                    self._classes.add(slot[1])
                else:
                    self._holders.setdefault(slot[1], "a history")

    def within(self, region: cst.CSTNode) -> Iterator[Transfer]:
        """The transfers in a region of the code, in source order."""
        for node in walk(region):
            if type(node) is cst.Call:
                found = self.of(node)
                if found is not None:
                    yield found

    def of(self, call: cst.Call) -> Transfer | None:
        """The call as a transfer, if it is one."""
        name, base = ex.called_name(call), ex.receiver(call)
        if self._is_written_by_model(call):
            return None
        if (thread := self._of_thread(call)) is not None:
            return thread
        if self._reads_outside(call):
            return self._loaded(call)
        if (kept := self._kept_by_body(call)) is not None:
            return kept
        stored = self._stored(call) if isinstance(self.anatomy.module.awaiting(call), cst.Expr) else None
        read_again = stored is not None and self._resources.of(call).outside and self._resources.is_read_again(call)
        if read_again and self._is_store(call):
            return stored
        named = _may_transfer(name) or _may_transfer(self.anatomy.module.imports.full.get(name, ""))
        if not named and (base is None or not self._gives_back(base, call)):
            return None
        if (
            is_logging(call)
            or self.anatomy.calls.asks(call)
            or "cache" in self.anatomy.module.scope_of[call].function.name
        ):
            return None
        owner = (ex.dotted(base) or "").lower().replace("()", "") if base is not None else ""
        if _VIEWS.search(owner):
            return None
        full = self.anatomy.module.imports.resolve(ex.dotted(call.func) or name)
        if (
            full in {"json.dump", "pickle.dump", "yaml.dump", "yaml.safe_dump"}
            or name == "write_text"
            or (name == "write" and self._from_open(base))
        ):
            return self._stored(call)
        if full in {"json.load", "pickle.load", "yaml.safe_load"}:
            return self._loaded(call)
        if name in {"execute", "executemany"} and call.args:
            return self._stored(call) if _WRITES.match(ex.text(call.args[0].value) or "") else None
        if base is not None and self._is_list(base) and not self._gives_back(base, call):
            return None
        if base is not None and (self._keeps_history(base) or self._gives_back(base, call)):
            return self._of_keeper(call)
        if name in _ON_LISTS and not _STORED_IN.search(owner):
            return None
        if self.anatomy.facts.slots.constructed(call) is not None:
            return None
        if _STORES.search(name) and self._outward(call, owner) and self._is_store(call):
            return self._stored(call)
        if _LOADS.search(name) and self._outward(call, owner):
            runs = self._runs(call)
            return self._loaded(call) if runs is None or _does_any(runs[0], (runs[1], "load")) else None
        return None

    def _of_thread(self, call: cst.Call) -> Transfer | None:
        """`graph.get_state(config).values`, `graph.update_state(config, {"messages": kept})`: a library keeps it."""
        name, module = ex.called_name(call), self.anatomy.module
        if name in THREAD_STORES and self._runs(call) is None:
            values = ex.argument(call, "values", 1)
            held = ex.dict_items(values).get("messages") if values is not None else None
            return Transfer(call, "store", ex.source(held, 40)) if held is not None else self._stored(call)
        if name not in THREAD_LOADS or self._runs(call) is not None:
            return None
        function = module.scope_of[call].function
        names, parent = self._places.derived(function, call), module.parent
        read = (node for node in function.nodes_of(cst.Attribute) if node.attr.value == "values")
        plain = (node for node in read if not (isinstance(outer := parent[node], cst.Call) and outer.func is node))
        return Transfer(call, "load", "the messages of the thread") if holds(plain, call, names) else None

    def _is_store(self, call: cst.Call) -> bool:
        """Whether what a call runs stores a part of a history, and another function takes it out again.

        Of code that is not at hand its name tells.
        """
        runs = self._runs(call)
        is_read = runs is None or self._resources.is_read_again(call) or any(self._resources.readers(call))
        return is_read and (runs is None or _does_any(runs[0], (runs[1], "store")))

    def _runs(self, call: cst.Call) -> tuple[Anatomy, Scope] | None:
        """What a call runs, as far as it is at hand: of one that a base only declares, nobody knows."""
        runs = body(self.anatomy, call)
        return runs if runs is not None and not says_only(runs[1]) else None

    def _is_written_by_model(self, call: cst.Call) -> bool:
        """Whether a text is decoded that a model has just written: who takes it apart loads nothing."""
        decoded = self.anatomy.facts.decoder(call) is not None and bool(call.args)
        return decoded and not _WRITTEN.isdisjoint(self.anatomy.facts.kinds(call.args[0].value))

    def _reads_outside(self, call: cst.Call) -> bool:
        """Whether a call itself gives what lies in a file, under a key, or in rows: `db.query(Line).all()`."""
        module = self.anatomy.module
        is_taken = not (isinstance(module.parent[call], cst.Attribute) or module.is_statement(call))
        if not is_taken or self.anatomy.facts.slots.callee(call) is not None:
            return False
        touched = self._resources.handed(call)
        return bool(touched.read and not touched.made) or bool(self._read(call))

    def _kept_by_body(self, call: cst.Call) -> Transfer | None:
        """What the function that a call runs saves of what it is handed, or of its object."""
        run = self.anatomy.storage.run(call)
        for _, origin, outside, _ in run[0].saved_by(run[1]) if run is not None else ():
            value = run[2].get(origin.name) if run is not None else None
            held = self._held(value) if value is not None and outside else None
            if held is None and value is not None and outside:
                held = ex.source(value, 40) if self._is_of_history(value) else self._turn_of(call, value)
            if held is not None:
                return Transfer(call, "store", held)
        return None

    def _turn_of(self, call: cst.Call, value: cst.BaseExpression) -> str | None:
        """The answer that a call gets beside the question, if it saves that, and another function gives it again."""
        answers = [arg.value for _, arg in answers_beside_questions(self.anatomy, call)]
        run = self.anatomy.storage.run(call) if value in answers else None
        return ex.source(answers[0], 40) if run is not None and _is_given_again(run[0], run[1]) else None

    def _is_of_history(self, value: cst.BaseExpression) -> bool:
        """Whether a value is an object of a class of another file that keeps a history in an attribute."""
        slot = self.anatomy.facts.slots.of(value)
        return any(
            _tells(partial(there.facts.shown, ("attr", cls, name)))
            for there, cls in (classes_of(self.anatomy, slot) if slot is not None else ())
            for name in cls.attributes
        )

    def _keeps_history(self, base: cst.BaseExpression) -> bool:
        """Whether an object gives or holds a history: what its methods get, they keep with it."""
        slot = self.anatomy.facts.slots.of(base)
        own = self.anatomy.module.self_name(self.anatomy.module.scope_of[base])
        return slot is not None and ex.dotted(base) != own and (slot in self.anatomy.givers or slot in self._holders)

    def _gives_back(self, base: cst.BaseExpression, call: cst.Call) -> bool:
        """Whether another method of the class of an object gives a history, or a list of what this one gets."""
        slot, name = self.anatomy.facts.slots.of(base), ex.called_name(call)
        given = {of for arg in call.args for of in self._elements(arg.value)}
        for there, cls in classes_of(self.anatomy, slot) if slot is not None else ():
            line = there.module.lineage(cls)
            methods = {method for one in line for method in one.methods.values() if method.name != name}
            if method_of(there, cls, name) is not None and any(_gives(there, method, given) for method in methods):
                return True
        return False

    def _elements(self, value: cst.BaseExpression) -> Iterator[str]:
        """The classes of what a value is, or of what a list holds."""
        for part in [value, *(e.value for e in value.elements)] if isinstance(value, cst.List) else [value]:
            slot = self.anatomy.facts.slots.of(part)
            if slot is not None:
                yield from class_names(self.anatomy, slot)
                yield from class_names(self.anatomy, ("item", slot))

    def _of_keeper(self, call: cst.Call) -> Transfer | None:
        """A method of an object that keeps a history; one that only changes a list in memory does not fail."""
        found = body(self.anatomy, call)
        if found is not None and found[1].kind == "function" and not may_fail(found[1]):
            return None
        return self._loaded(call) if _LOADS.search(ex.called_name(call)) else self._stored(call) or self._loaded(call)

    def _outward(self, call: cst.Call, owner: str) -> bool:
        """Whether what is called belongs to something that stores: by its name, or by what it does in this file."""
        return bool(_STORED_IN.search(owner) or _STORED_IN.search(ex.called_name(call))) or (
            self.anatomy.facts.slots.callee(call) is not None
        )

    def _stored(self, call: cst.Call) -> Transfer | None:
        for arg in call.args:
            held = self._held(arg.value)
            if held is not None:
                return Transfer(call, "store", held)
        said = [arg.value for arg in call.args if ex.text(arg.value) not in SAID & TELLING_ROLES]
        is_told = len(said) < len(call.args)  # `add("assistant", text)`: a message, in its parts
        return Transfer(call, "store", ex.source(said[-1], 40)) if said and is_told else None

    def _loaded(self, call: cst.Call) -> Transfer | None:
        """A load whose result is a history, by what becomes of it."""
        if self._is_made_up(call):
            return None
        parent = self.anatomy.module.parent.get(call)
        if isinstance(parent, cst.Await):
            parent = self.anatomy.module.parent.get(parent)
        values: list[cst.BaseExpression] = [call]
        if isinstance(parent, cst.Assign):
            values += [target.target for target in parent.targets]
        for value in values:
            held = self._held(value)
            if held is not None:
                return Transfer(call, "load", held)
        function = self.anatomy.module.scope_of[call].function
        filled = self._filled_with(function, call)
        if filled is not None:
            return Transfer(call, "load", filled)
        if any(at.is_rewritten_at(place) for at in self._read(call) for place in self._talk_places):
            return Transfer(call, "load", "a history")
        if self._is_held(("return", function)) and not self._gives_text(function):
            names = self._places.derived(function, call, put=True)
            given = [part for value in function.returned for part in self._talk_in(value)]
            if holds(given, call, names) and not self._is_one_message(function, call, names):
                return Transfer(call, "load", "a history")
        return None

    def _filled_with(self, function: Scope, call: cst.Call) -> str | None:
        """The history that what a call gives is put into: of an object that is made of it, or that is there."""
        names = self._places.derived(function, call)
        for made in function.nodes_of(cst.Call):
            for (there, cls), slot, value in given_when_made(self.anatomy, made):
                if _tells(partial(there.facts.shown, slot)) and holds([value], call, names):
                    return f"{cls.name}.{slot[2]}"
        for node in function.nodes_of(cst.Assign):
            for target in ex.targets(node) if holds([node.value], call, names) else ():
                place = self.anatomy.facts.slots.of(target)
                if place is not None and place[0] != "var" and _tells(partial(self.anatomy.facts.shown, place)):
                    return ex.source(target, 40)
        return None

    def _talk_in(self, value: cst.BaseExpression) -> list[cst.BaseExpression]:
        """The histories in a dict, if any is known there, else the whole value: what lies beside a history is none."""
        parts = ex.dict_items(value).values()
        return [part for part in parts if Kind.HISTORY in self.anatomy.facts.kinds(part)] or [value]

    def _gives_text(self, function: Scope) -> bool:
        """Whether a function says that it gives a text, or none: what messages are made of is no history."""
        told = self.anatomy.elements.annotation(("return", function))
        named = names_in(told) if told is not None else set()
        return "str" in named <= {"str", "None", "Optional"}

    def _is_one_message(self, function: Scope, call: cst.Call, names: set[str]) -> bool:
        """Whether a function puts what a call gives into a message, under one role, or another name, that it says."""
        roles = set()
        for display in function.nodes_of(cst.Dict):
            items = ex.dict_items(display)
            if {"role", "content"} <= items.keys() and holds([items["content"]], call, names):
                roles.add(ex.text(items["role"]))
        made = (ex.made_of(value) for value in function.returned if isinstance(value, (cst.Dict, cst.Call)))
        own = [parts.values() for parts in made if holds(parts.values(), call, names)]
        named = bool(own) and all(any(ex.text(part) is not None for part in parts) for parts in own)
        return named or (len(roles) == 1 and None not in roles)

    def _is_made_up(self, call: cst.Call) -> bool:
        """Whether the file itself fills what a call reads, and with constants: nobody has said that."""
        storage, functions, places = self.anatomy.storage, self.anatomy.module.functions, self._read(call)
        saves = (save for function in functions if places for save in storage.saves(function))
        put = [save.value for save in saves if any(place.is_rewritten_at(save.place) for place in places)]
        return bool(put) and all(map(self._is_constant, put))

    def _read(self, call: cst.Call) -> list[Place]:
        """The places outside of the program of which a call gives what lies there."""
        storage = self.anatomy.storage
        read = storage.read_at(call, self.anatomy.module.scope_of[call].function)
        decodes = self.anatomy.facts.decoder(call) is not None and bool(call.args)
        return [*([read] if read is not None else []), *(storage.decoded(call) if decodes else ())]

    @cached_property
    def _talk_places(self) -> list[Place]:
        """The places to which the file writes what is, or holds, a history or a message."""
        found = ((save, function) for function in self.anatomy.module.functions
                 for save in self.anatomy.storage.saves(function) if save.there is None)  # fmt: skip
        return [save.place for save, function in found if self._is_of_talk(save.value, function)]

    def _is_of_talk(self, value: cst.BaseExpression, function: Scope) -> bool:
        """Whether a history or a message is in a value, or in what its names are bound to in a function."""
        queue: list[cst.CSTNode] = [value]
        seen: set[str] = set()
        for part in queue:
            if isinstance(part, cst.BaseExpression) and self._held(part) is not None:
                return True
            made_of = self._taken_over(part) if isinstance(part, cst.Call) else [part]
            new = {name for each in made_of for name in names_read(each)} - seen
            seen |= new
            queue += [each for each in made_of if isinstance(each, cst.Call)]
            queue += [each for name in sorted(new) for each in bound_values(self.anatomy, function, name)]
        return False

    def _is_constant(self, value: cst.BaseExpression) -> bool:
        facts, calls = self.anatomy.facts, (node for node in walk(value) if isinstance(node, cst.Call))
        run = {part for call in calls for part in walk(call.func)}
        slots = [facts.slots.of(node) for node in walk(value) if isinstance(node, cst.Name) and node not in run]
        return bool(slots) and all(
            slot is not None
            and slot[0] == "var"
            and slot[1].kind == "module"
            and all(write.function.kind == "module" for write in self.anatomy.writes.by_slot.get(slot, ()))
            and all(isinstance(each, (cst.List, cst.Dict)) for each in facts.assigned(slot))
            for slot in slots
        )

    def _held(self, value: cst.BaseExpression) -> str | None:
        """How the program calls a history, a message, or what holds one, in a value."""
        stack: list[cst.CSTNode] = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, cst.BaseExpression):
                slot = self.anatomy.facts.slots.of(node)
                if _tells(partial(self.anatomy.facts.evidence, node)) or (slot is not None and self._is_held(slot)):
                    return None if self._is_notice(node, slot) else ex.source(node, 40)
            pair = ex.member(node)
            if pair is not None:  # of `x.content` the message x counts, not an object that holds a history somewhere
                if _tells(partial(self.anatomy.facts.evidence, pair[0])):
                    return ex.source(pair[0], 40)
            elif isinstance(node, cst.Call):
                stack.extend(self._taken_over(node))
                base = ex.receiver(node)
                if base is not None and ex.called_name(node) in _DUMPS:
                    stack.append(base)
            else:
                stack.extend(children(node))
        return None

    def _taken_over(self, call: cst.Call) -> list[cst.BaseExpression]:
        """The arguments that are in what a call gives: of `len(messages)` none; all, if nobody knows what it runs."""
        if is_verdict(call):
            return []
        run = self.anatomy.storage.run(call)
        if run is None or not run[1].returned:
            return [arg.value for arg in call.args]
        storage, callee, given = run
        kept = {origin.name for origin in storage.returned_by((callee, None)) if origin.load is None}
        return [value for name, value in given.items() if name in kept]

    def _is_notice(self, node: cst.BaseExpression, slot: Slot | None) -> bool:
        """A system message alone: what a program notes for itself, no part of what was said."""
        made = [node, *self.anatomy.facts.assigned(slot)]
        roles = [ex.text(items["role"]) for items in map(ex.dict_items, made) if "role" in items]
        return bool(roles) and set(roles) == {"system"}

    def _is_held(self, slot: Slot) -> bool:
        if self.anatomy.facts.slots.classes.get(slot) in self._classes:
            return True
        return _tells(partial(self.anatomy.facts.shown, slot)) or slot in self._holders or slot in self._told

    @cached_property
    def _told(self) -> set[Slot]:
        """What holds a history by what files that import this one do with its functions."""
        handed, functions = self.anatomy.handed, self.anatomy.module.functions
        known = [
            each
            for each in handed
            if each.what in {"history", "message", "document"} or (each.what == "result" and each.used)
        ]
        given_back = {each.owner for each in known if each.part is None}
        found: set[Slot] = {("return", function) for function in functions if function.qualname in given_back}
        found.update(self._put_into(each for each in known if each.part is not None and not each.inside))
        found.update(self._put_into((each for each in handed if each.what == "turn"), in_order=True))
        return found

    def _put_into(self, given: Iterable[Handed], *, in_order: bool = False) -> set[Slot]:
        """The names of functions that hold what other files hand to them, and attributes of their objects.

        `in_order`: of those that put it behind what is there; what lies under its question is looked up, and no talk.
        """
        found: set[Slot] = set()
        for slot in {slot for each in given for slot in self.anatomy.contents.arrives(each) if slot[0] == "var"}:
            function, own = slot[1], self.anatomy.module.self_name(slot[1])
            names = self._places.derived(function, function.node, known={slot[2]}, put=True)
            adds = (call for call in function.nodes_of(cst.Call) if ex.called_name(call) in _PUTS_BEHIND)
            if in_order and not any(holds([arg.value], call, names) for call in adds for arg in call.args):
                continue
            for name in names:
                owner, _, attribute = name.partition(".")
                is_own = owner == own and function.owner is not None
                found.add(("attr", function.owner, attribute) if is_own and attribute else ("var", function, name))
        return found

    def _is_list(self, base: cst.BaseExpression) -> bool:
        """A list in memory, or what a framework keeps in it for each user: reading and writing it does not fail."""
        slot = self.anatomy.facts.slots.of(base)
        if self.anatomy.module.full_name(base).partition(".")[0] in SESSION_KEEPERS:
            return True
        if slot in self._objects:
            return False
        return Kind.HISTORY in self.anatomy.facts.kinds(base) or (
            slot is not None
            and bool(self.anatomy.facts.assigned(slot))
            and all(isinstance(v, (cst.List, cst.Dict, cst.Set)) for v in self.anatomy.facts.assigned(slot))
        )

    @cached_property
    def _objects(self) -> set[Slot | None]:
        """What has methods or attributes that no list, dict or queue has."""
        read = self.anatomy.module.nodes_of(cst.Attribute)
        return {self.anatomy.facts.slots.of(node.value) for node in read if node.attr.value not in _OF_CONTAINERS}

    def _from_open(self, base: cst.BaseExpression | None) -> bool:
        """Whether something is an open file: bound by `with open(...) as f`."""
        if not isinstance(base, cst.Name):
            return False
        for item in self.anatomy.module.nodes_of(cst.WithItem):
            if item.asname is not None and base.value in ex.target_names(item.asname.name):
                called = ex.inner(item.item)
                if isinstance(called, cst.Call) and ex.called_name(called) == "open":
                    return True
        return False
