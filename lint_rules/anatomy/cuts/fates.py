"""Where a list of messages goes: sent to a model, stored as a history, or given back to a caller; or only read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.run_results import whole_runs
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import is_element, names_of_elements
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

Fate = Literal["sent", "stored", "returned"]
Place = tuple[Fate, cst.CSTNode]
_NOWHERE: Fate | None = None

_STORERS = frozenset(
    {
        "replace", "replace_all", "set", "set_messages", "set_history", "save", "store", "update", "overwrite", "put",
        "replace_messages", "replace_history", "save_messages", "save_history", "set_items",
    }
)  # fmt: skip
_REQUEST_KEYS = frozenset({"messages", "input", "contents"})
_PASSES_ON = (cst.StarredElement, cst.List, cst.Tuple, cst.BooleanOperation, cst.NamedExpr, cst.Await)
_ORDER: dict[str, int] = {"sent": 0, "stored": 1, "returned": 2}
_OF_CALLS = frozenset({"tool_calls", "tool_call_id", "function_call"})
"""Parts by which the API pairs calls and results (OpenAI API reference, chat completions)."""


class Fates:
    """Follows lists through one file: names, displays, helpers, loops that append message by message."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts

    def of(self, node: cst.BaseExpression, function: Scope) -> Place | None:
        """The strongest place that the value of an expression reaches as a list of messages; None if none."""
        return min(self._goes(node, function, frozenset()), key=lambda place: _ORDER[place[0]], default=None)

    def of_name(self, slot: Slot, function: Scope) -> Place | None:
        """The same for the value of a local name."""
        return min(self._uses(slot, function, frozenset()), key=lambda place: _ORDER[place[0]], default=None)

    def _goes(self, node: cst.CSTNode, function: Scope, seen: frozenset[Slot]) -> Iterator[Place]:
        here = node
        while len(seen) <= DEEPEST:
            outer = self.module.parent[here]
            if self._passes_on(outer, here):
                here = outer
                continue
            if isinstance(outer, cst.CompFor):
                made = self._comprehended(outer, here)
                if made is None:
                    return
                here = made
                continue
            if isinstance(outer, cst.Arg):
                call = self.module.parent[outer]
                if isinstance(call, cst.Call) and here in sources(call) and ex.called_name(call) != "sorted":
                    here = call
                    continue
            yield from self._ends(outer, here, function, seen)
            return

    def _passes_on(self, outer: cst.CSTNode, here: cst.CSTNode) -> bool:
        """Whether the value of `outer` is, or holds, the list that `here` is."""
        if isinstance(outer, _PASSES_ON):
            return True
        if isinstance(outer, cst.BinaryOperation):
            return isinstance(outer.operator, cst.Add)
        if isinstance(outer, cst.IfExp):
            return here is not outer.test
        return isinstance(outer, cst.Subscript) and outer.value is here and ex.slice_of(outer) is not None

    def _ends(self, outer: cst.CSTNode, here: cst.CSTNode, function: Scope, seen: frozenset[Slot]) -> Iterator[Place]:
        if isinstance(outer, cst.For) and here is outer.iter:
            yield from self._looped(outer, seen)
        elif isinstance(outer, cst.Arg):
            call = self.module.parent[outer]
            if isinstance(call, cst.Call):
                yield from self._passed(call, outer, seen)
        elif isinstance(outer, cst.DictElement):
            items = ex.dict_items(self.module.parent[outer])
            if ex.text(outer.key) in _REQUEST_KEYS and {"model", "tools"} & items.keys():
                yield "sent", outer
        elif isinstance(outer, (cst.Assign, cst.AnnAssign)):
            targets = ex.targets(outer)
            if isinstance(here, cst.Call):  # one of those that a function gives may be the list
                parts = [(target, part) for target in targets for part, _ in ex.unpacked(target, here)]
                targets = [part for target, part in parts if part is target or self.anatomy.is_history(part)]
                for part in (part for _, part in parts if part not in targets):
                    lands = self._lands(self.facts.slots.of(part), outer, seen)
                    yield from (place for place in lands if place[0] == "sent")
            for target in targets:
                if ex.slice_of(target) is not None:
                    yield "stored", outer
                else:
                    yield from self._lands(self.facts.slots.of(target), outer, seen)
        elif isinstance(outer, cst.AugAssign):
            yield from self._lands(self.facts.slots.of(outer.target), outer, seen)
        elif isinstance(outer, cst.Return):
            yield from self._returned(outer, function, seen)
        elif isinstance(outer, cst.Element):
            yield from self._given_beside(outer, function, seen)

    def _comprehended(self, loop: cst.CompFor, here: cst.CSTNode) -> cst.CSTNode | None:
        """The list that `[m for m in xs]` or `[m.to_dict() for m in xs]` is: the same messages, in whatever form."""
        made = self.module.parent[loop]
        if here is not loop.iter or not isinstance(made, (cst.ListComp, cst.GeneratorExp)):
            return None
        names = ex.target_names(loop.target)
        if is_element(made.elt, names):
            return made
        recast = self.anatomy.transcript.messages.of(made.elt) if mentions(names, made.elt) else []
        return made if any(message.role is None or message.answers for message in recast) else None

    def _looped(self, loop: cst.For, seen: frozenset[Slot]) -> Iterator[Place]:
        """`for m in xs: messages.append(m)`: they go where that list goes."""
        names = [*ex.target_names(loop.target)]
        for node in walk(loop.body):
            if isinstance(node, cst.Assign) and (is_element(node.value, names) or _has_role_of(node.value, names)):
                names += (name for target in node.targets for name in ex.target_names(target.target)
                          if is_element(node.value, names) or _gets_call(loop.body, name))  # fmt: skip
            if isinstance(node, cst.Call) and ex.called_name(node) in {"append", "insert"} and node.args:
                base, put = ex.receiver(node), node.args[-1].value
                if base is not None and (is_element(put, names) or self._answers_for(put, loop)):
                    yield from self._lands(self.facts.slots.of(base), node, seen)

    def _answers_for(self, put: cst.BaseExpression, loop: cst.For) -> bool:
        """Whether a message that is made anew answers the call which that of the loop does: the id is taken from it."""
        made = [] if is_element(put, []) else self.anatomy.transcript.messages.of(put)
        ids = [part for message in made for answer in message.answers for part in walk(answer)]
        return bool(ids) and not names_of_elements(loop).isdisjoint(n.value for n in ids if isinstance(n, cst.Name))

    def _passed(self, call: cst.Call, arg: cst.Arg, seen: frozenset[Slot]) -> Iterator[Place]:
        asked = self.facts.calls.get(call)
        if asked is not None:
            if asked.history is arg.value or (arg.keyword is not None and arg.keyword.value == asked.keyword):
                yield "sent", call
            return
        name, base = ex.called_name(call), ex.receiver(call)
        callee = self.facts.slots.callee(call)
        if callee is not None:
            for slot, bound in self.facts.slots.bindings(call, callee):
                if bound is arg.value and slot not in seen:
                    yield from self._uses(slot, callee, seen | {slot})
        elif (run := run_elsewhere(self.anatomy, call)) is not None:
            yield from self._passed_on(call, arg, *run, seen)
        elif call in self._runs:
            yield "sent", call
        elif base is not None and name in {"extend", "extendleft"}:
            grown = self.facts.slots.of(base)
            if grown is not None and is_parameter(grown) and self.anatomy.is_history(base):
                yield "stored", call  # its caller has it still
            yield from self._lands(grown, call, seen)
        elif base is not None and name in _STORERS:
            yield "stored", call

    @cached_property
    def _runs(self) -> set[cst.Call]:
        """The runs of which something takes all messages: what they are handed is among these."""
        return set(whole_runs(self.anatomy))

    def _passed_on(
        self, call: cst.Call, arg: cst.Arg, there: Anatomy, callee: Scope, seen: frozenset[Slot]
    ) -> Iterator[Place]:
        """To where a function of another file puts what it gets."""
        for parameter, bound in there.facts.slots.bindings(call, callee):
            fate = _fate_of(there, parameter) if bound is arg.value else None
            if fate == "returned":
                yield from self._goes(call, self.module.scope_of[call].function, seen)
            elif fate is not None:
                yield fate, call

    def _lands(self, slot: Slot | None, node: cst.CSTNode, seen: frozenset[Slot]) -> Iterator[Place]:
        """A list that has become the value of a slot, or a part of it."""
        if slot is None or slot in seen:
            return
        is_global = slot[0] == "var" and slot[1].kind == "module"
        if slot[0] == "var":
            yield from self._uses(slot, slot[1], seen | {slot})
        if slot[0] not in {"var", "call", "return"} or (is_global and self._is_kept(slot)):
            yield "stored", node

    def _is_kept(self, slot: Slot) -> bool:
        """Whether a global is more than a name for one value: it is bound more than once, or grows."""
        return len(self.facts.assigned(slot)) > 1 or bool(self.facts.grown(slot))

    def _uses(self, slot: Slot, function: Scope, seen: frozenset[Slot]) -> Iterator[Place]:
        """Where the value of a local name goes, also from functions within."""
        inside = (each for each in self.module.functions if slot[0] == "var" and each.within(function))
        for each in inside:
            for node in each.named(slot[2]):
                if self.facts.slots.of(node) == slot:
                    yield from self._goes(node, each, seen | {slot})

    def _given_beside(self, element: cst.Element, function: Scope, seen: frozenset[Slot]) -> Iterator[Place]:
        """`return kept, summary`: to what the callers of this file unpack it into."""
        whole = self.module.parent[element]
        given = self.module.parent[whole]
        if not isinstance(whole, cst.Tuple) or not isinstance(given, cst.Return):
            return
        sites = self.anatomy.calls.sites[function]
        if not sites and not self.anatomy.calls.references[function]:
            yield "returned", given
        place = whole.elements.index(element)
        for site in sites:
            outer = self.module.statement(site.node)
            for target in ex.targets(outer) if isinstance(outer, cst.Assign) else ():
                if isinstance(target, cst.Tuple) and len(target.elements) == len(whole.elements):
                    yield from self._lands(self.facts.slots.of(target.elements[place].value), outer, seen)

    def _returned(self, node: cst.Return, function: Scope, seen: frozenset[Slot]) -> Iterator[Place]:
        """To the callers of this file; where there are none, to those of others."""
        sites = self.anatomy.calls.sites[function]
        slot: Slot = ("return", function)
        if not sites and not self.anatomy.calls.references[function]:
            yield "returned", node
        for site in sites if slot not in seen else ():
            yield from self._goes(site.node, site.caller, seen | {slot})


def lasting_parts(anatomy: Anatomy, call: cst.Call) -> set[str]:
    """The attributes of what a call gives whose messages its caller stores or sends; "" is the whole."""
    module, slots, fates = anatomy.module, anatomy.facts.slots, Fates(anatomy)
    function, outer = module.scope_of[call].function, module.awaiting(call)
    bound = {slots.of(target) for target in ex.targets(outer)} - {None} if isinstance(outer, cst.Assign) else set()
    read = [node for node in function.nodes_of(cst.Attribute) if slots.of(node.value) in bound] if bound else []
    named = [("", call), *((node.attr.value, node) for node in read)]
    places = ((name, fates.of(node, function)) for name, node in named if anatomy.contents.history(node) is not None)
    return {name for name, place in places if place is not None and place[0] != "returned"}


@once(circular=_NOWHERE)
def _fate_of(anatomy: Anatomy, parameter: Slot) -> Fate | None:
    """What becomes of a list that a function gets for a parameter."""
    place = Fates(anatomy).of_name(parameter, parameter[1])
    return place[0] if place is not None else None


def _has_role_of(node: cst.BaseExpression, names: list[str]) -> bool:
    """`{"role": m["role"], ...}` of the message `m` that a loop variable stands for."""
    pair = ex.member(ex.dict_items(node).get("role", node)) if isinstance(node, cst.Dict) else None
    return pair is not None and pair[1] == "role" and isinstance(pair[0], cst.Name) and pair[0].value in names


def _gets_call(body: cst.BaseSuite, name: str) -> bool:
    """`m["tool_call_id"] = ...`: what is built there has a message's calls, or the id of the one that it answers."""
    stores = (node.targets[0].target for node in walk(body) if isinstance(node, cst.Assign))
    return any(ex.dotted(s.value) == name and ex.key(s) in _OF_CALLS for s in stores if isinstance(s, cst.Subscript))
