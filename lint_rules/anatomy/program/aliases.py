"""Aliases: which lasting place a value lives in that a name, a parameter or a function stands for.

`h = sessions[key]`, `h = sessions.setdefault(key, [])`, `h = store.get(key)` and a parameter that all callers hand
`sessions[key]` stand for one place: an element of `sessions`. What is done to one of them is done to all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice

import libcst as cst

from lint_rules.anatomy.frameworks import common_parts
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.handed_along import handed_with
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.anatomy.vocabulary import TASKS, THREADS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.module import Scope, decorators, parameters
from lint_rules.syntax.threads import IN_THREAD

_NEAR = 5
"""`convo` of `create_task(watch(convo))`, and of `Thread(target=watch, args=(convo,))`."""
_BEGINS = frozenset({*THREADS, *TASKS, "gather"}) - IN_THREAD.keys()
_FRESH = (cst.List, cst.ListComp, cst.Dict, cst.DictComp, cst.Tuple, cst.BaseString, cst.BaseNumber)
_CACHES = frozenset({"functools.cache", "functools.lru_cache"})
_TRANSPARENT = frozenset({"staticmethod", "classmethod", "property", "cached_property"})


class Aliases:
    """The places of one file."""

    def __init__(
        self,
        graph: CallGraph,
        given_elsewhere: Callable[[cst.BaseExpression], Slot | None] = lambda _: None,
        is_for_many: Callable[[Slot], bool] = lambda _: False,
    ) -> None:
        """`given_elsewhere` tells where that lives which a function of another file gives back: for itself, if new.

        Of a call, or of what names the function. `is_for_many` tells of a parameter of a handler whether what it gets
        is there for others, too.
        """
        self.graph = graph
        self._given_elsewhere = given_elsewhere
        self._is_for_many = is_for_many
        self.facts = graph.facts
        self.slots = graph.facts.slots
        self.module = graph.facts.module
        self._places: dict[Slot, Slot] = {}

    def of(self, slot: Slot) -> Slot:
        """The one lasting place that a slot stands for: an attribute, a global, or a part of one; else the slot."""
        if slot not in self._places:
            self._places[slot] = slot  # what stands for itself, in a circle, stands for nothing else
            self._places[slot] = self._find(slot) or slot
        return self._places[slot]

    def lasting_at(self, node: cst.BaseExpression | None, function: Scope) -> Slot | None:
        """The place that an expression of a function stands for, if it is there before the function runs and after."""
        slot = self.slots.of(node)
        place = self.of(slot) if slot is not None else None
        return place if place is not None and self.is_lasting(place, function) else None

    def is_lasting(self, slot: Slot, function: Scope | None = None) -> bool:
        """Whether a place is there before `function` runs and after it: its root is an attribute or a name outside.

        So is what a framework hands to each handler in common, and what the function was given that defines a handler,
        for all that it defines.
        """
        part = None
        while slot[0] in {"member", "item"}:
            part, slot = slot, slot[1]
        if slot[0] == "var" and is_parameter(slot):
            if function is not None and self._sets_up(slot[1], function):
                return True
            if _type_of(slot) in self._common or (part is not None and part[0] == "member" and part[2] in self._common):
                return True
            return slot[1] in self.graph.servings and dependency(slot) is None and self._is_for_many(slot)
        return slot[0] == "attr" or (slot[0] == "var" and slot[1] is not function)

    def is_in_common(self, slot: Slot) -> bool:
        """Whether a place is a part of what a framework hands to all handlers: `request.app.state`, `self.bot`."""
        while slot[0] in {"member", "item"}:
            if slot[0] == "member" and slot[2] in self._common:
                return True
            slot = slot[1]
        return slot[0] in {"attr", "var"} and (
            slot[2] in self._common or (is_parameter(slot) and _type_of(slot) in self._common)
        )

    def _sets_up(self, outer: Scope, function: Scope) -> bool:
        """Whether a function around another one defines a handler, and is none itself.

        Also for something that it is given: `@app.event("message")`.
        """
        if outer in self.graph.servings or function is outer or not function.within(outer):
            return False
        given = {param.name.value for param in parameters(outer)}
        return any(each.within(outer) for each in self.graph.servings) or any(
            _decorator_name(decorator).partition(".")[0] in given for decorator in decorators(function)
        )

    @cached_property
    def _common(self) -> frozenset[str]:
        """The parts of what a handler gets, and its types, that other runs get, too: `request.app`, `FSMContext`."""
        return common_parts({full.partition(".")[0] for full in self.module.imports.full.values()})

    def _find(self, slot: Slot) -> Slot | None:
        if slot[0] == "item":
            return ("item", self.of(slot[1]))
        if slot[0] == "member":
            base = self.of(slot[1])
            cls = self.slots.classes.get(base)
            return ("member", base, slot[2]) if cls is None else ("attr", cls, slot[2])
        if slot[0] == "return":
            return self._of_function(slot[1])
        if slot[0] == "call":
            return self._given_elsewhere(slot[1])
        if slot[0] == "attr":
            method = self.module.method(slot[1], slot[2])
            return self._of_function(method) if method is not None and decorators(method) else None
        if slot[0] == "var" and slot[1].kind == "function":
            if is_parameter(slot):
                return self._needed(slot) or self._of_parameter(slot)
            return self._one(self.facts.assigned(slot), slot[1]) or self._of_each(slot)
        return None

    def _of_each(self, slot: Slot) -> Slot | None:
        """`for talk in self.talks.values()`: an element of what lasts."""
        for loop in slot[1].nodes_of(cst.For) if not self.facts.assigned(slot) else ():
            if isinstance(loop.target, cst.Name) and loop.target.value == slot[2]:
                each: cst.BaseExpression | None = loop.iter
                while isinstance(each, cst.Call):
                    each = each.args[0].value if each.args else ex.receiver(each)
                base = self.slots.of(each)
                place = self.of(base) if base is not None else None
                if place is not None and self.is_lasting(place, slot[1]):
                    return ("item", place)
        return None

    def _of_function(self, function: Scope) -> Slot | None:
        """The place that all a function gives back lives in; of one that is cached, the cache has it."""
        if self._is_cached(function):
            place = ("var", self.module.top, function.name)
            return ("item", place) if parameters(function) else place
        if any(ex.dotted(decorator) not in _TRANSPARENT for decorator in decorators(function)):
            return None
        return self._one(function.returned, function)

    def _is_cached(self, function: Scope) -> bool:
        named = (self.module.imports.resolve(_decorator_name(each)) for each in decorators(function))
        return function.owner is None and not _CACHES.isdisjoint(named)

    def put_at(self, place: Slot) -> list[cst.BaseExpression]:
        """What is assigned to a place anywhere in the file, and what a function gives whose cache it is."""
        functions = self.module.functions if place[:2] == ("var", self.module.top) else ()
        cached = (each for each in functions if each.name == place[2] and self._is_cached(each))
        return [*self.facts.assigned(place), *(value for each in cached for value in each.returned)]

    def _of_parameter(self, slot: Slot) -> Slot | None:
        """The place that all hand over who call it, or begin it in a thread or a task, where all of them are seen."""
        function, sites = slot[1], self.graph.sites[slot[1]]
        if function in self.graph.servings or self.facts.assigned(slot):
            return None
        given = [(self.slots.bindings(site.node, function), site.caller) for site in sites]
        for reference in self.graph.references[function]:
            along = handed_with(self.module, reference)
            if along is None:
                return None
            given.append((self.slots.bound(along, function), self.module.scope_of[reference].function))
        found = [(value, caller) for bound, caller in given for place, value in bound if place == slot]
        places = {self._one([value], caller) or self._begun_with(value, caller) for value, caller in found}
        return places.pop() if len(places) == 1 else None

    def _begun_with(self, value: cst.BaseExpression, caller: Scope) -> Slot | None:
        """The local that a value is, of which the caller has made what it holds, and hands it to what it begins.

        That shares it with the caller, and with all to whom it is handed, as functions that are defined there do.
        """
        slot = self.slots.of_name(value)
        if slot is None or slot[:2] != ("var", caller) or caller.kind != "function" or is_parameter(slot):
            return None
        made = self.facts.assigned(slot)
        return slot if len(made) == 1 and self.is_new(made[0]) and self._is_handed_to_begun(slot) else None

    @once(circular=False)
    def _is_handed_to_begun(self, slot: Slot) -> bool:
        outers = (outer for name in self.facts.names[slot] for outer in islice(self.module.ancestors(name), _NEAR))
        return any(type(outer) is cst.Call and ex.called_name(outer) in _BEGINS for outer in outers)

    def _needed(self, slot: Slot) -> Slot | None:
        """The lasting place of what a framework hands to a parameter: what a function gives, `Depends(the_desk)`."""
        maker = dependency(slot)
        function = self.slots.function(maker) if maker is not None else None
        if maker is None or function is not None:
            return self._of_function(function) if function is not None else None
        return self._given_elsewhere(maker)

    def may_be(self, slot: Slot, depth: int = 0) -> list[Slot]:
        """The lasting places that a slot may stand for, each once, in the order of the file; itself, if none."""
        place = self.of(slot)
        if self.is_lasting(place, _function_of(place)) or depth > DEEPEST:
            return [place]
        values = slot[1].returned if slot[0] == "return" else self.facts.assigned(slot)
        inner = (self.given(part) for value in values for part in ex.alternatives(value))
        found = [p for s in inner if s is not None and s != slot for p in self.may_be(s, depth + 1)]
        return list(dict.fromkeys(found)) or [place]

    def lasts(self, slot: Slot) -> bool:
        """Whether a slot may stand for a lasting place: `history` of `history = self._history_of(key)`."""
        return any(self.is_lasting(place, _function_of(place)) for place in self.may_be(slot))

    def given_back(self, slot: Slot) -> list[tuple[cst.BaseExpression, Scope]]:
        """What functions of the file give back in the place of a tuple that a name is bound to, each with its function.

        `messages, reply = self.ask(text)`, where `ask` ends with `return self.messages, reply`.
        """
        return [(part, callee) for part, callee, _ in self.facts.given_apart(slot)]

    def _one(self, values: Iterable[cst.BaseExpression], function: Scope) -> Slot | None:
        """The lasting place that values live in: new ones may be among them, but no other place."""
        places: set[Slot] = set()
        for part in (part for value in values for part in ex.alternatives(value)):
            if self.is_new(part):
                continue
            slot = self.given(part)
            place = self.of(slot) if slot is not None else None
            if slot is not None and (place is None or not self.is_lasting(place, function)):
                place = self._stored_at(slot, function) or (place if _is_part_of_parameter(place) else None)
            if place is None and slot is not None and slot[0] == "return" and self._makes(slot[1]):
                continue
            if place is None or not (self.is_lasting(place, function) or _is_part_of_parameter(place)):
                return None
            places.add(place)
        return places.pop() if len(places) == 1 else None

    @once(circular=False)
    def _makes(self, function: Scope) -> bool:
        """Whether all that a function of the file gives back is made in it."""
        given = [(part, self.slots.of_name(part)) for value in function.returned for part in ex.alternatives(value)]
        made = [made for part, slot in given for made in (self.facts.assigned(slot) if slot is not None else [part])]
        return bool(made) and all(self.is_new(part) for part in made)

    def given(self, value: cst.BaseExpression) -> Slot | None:
        """The slot of a value: `desks.get(key)` is an entry of a dict, or what the registry of another file gives."""
        slot = self.slots.of(value)
        if type(value) is cst.Call and slot is not None and slot[0] == "item":
            return self._given_elsewhere(value) or slot
        return slot

    def _stored_at(self, slot: Slot, function: Scope) -> Slot | None:
        """The lasting place that a name of a function is put into: `made = new(); self.talks[key] = made`.

        Also as a part of a dict: `talks[key] = {"talk": made, "at": now}`.
        """
        for node in function.nodes_of(cst.Assign) if slot[0] == "var" and slot[1] is function else ():
            parts = {"": node.value, **ex.dict_items(node.value)}
            part = next((key for key, value in parts.items() if self.slots.of(value) == slot), None)
            for target in ex.targets(node) if part is not None else ():
                place = self.slots.of(target)
                if place is not None and place != slot and self.is_lasting(place, function):
                    return self.of(("member", place, part) if part else place)
        return None

    def is_new(self, node: cst.BaseExpression) -> bool:
        """A display, a copy, an object that is made on the spot, None: nobody else has it."""
        if isinstance(node, _FRESH) or sources(node) or ex.dotted(node) == "None":
            return True
        name = ex.dotted(node.func) if type(node) is cst.Call else None
        of_other_file = name is not None and name[:1].isupper() and name in self.module.imports.full
        return type(node) is cst.Call and (
            self.slots.constructed(node) is not None or of_other_file or name in {"list", "dict", "deque"}
        )


def _decorator_name(decorator: cst.BaseExpression) -> str:
    """`lru_cache` of `@lru_cache` and `@lru_cache(maxsize=1)`."""
    return ex.dotted(ex.uncalled(decorator)) or ""


def dependency(slot: Slot) -> cst.BaseExpression | None:
    """`the_desk` of a parameter `desk: Desk = Depends(the_desk)`, `desk: Annotated[Desk, Depends(the_desk)]`."""
    param = next(param for param in parameters(slot[1]) if param.name.value == slot[2])
    said = param.annotation.annotation if param.annotation is not None else None
    noted = [part.slice for part in said.slice[1:]] if isinstance(said, cst.Subscript) else []
    values = [param.default, *(part.value for part in noted if isinstance(part, cst.Index))]
    for value in values:
        if isinstance(value, cst.Call) and ex.called_name(value) == "Depends" and (given := ex.positional(value)):
            return given[0]
    return None


def _is_part_of_parameter(slot: Slot | None) -> bool:
    return slot is not None and slot[0] in {"member", "item"} and is_parameter(root_object(slot))


def _function_of(slot: Slot) -> Scope | None:
    """The function of which the root of a slot is a name."""
    root = root_object(slot)
    return root[1] if root[0] == "var" and root[1].kind != "module" else None


def _type_of(parameter: Slot) -> str:
    """The last name of the annotation of a parameter."""
    found = (p.annotation for p in parameters(parameter[1]) if p.name.value == parameter[2])
    return next((ex.last_name(said.annotation) for said in found if said is not None), "")
