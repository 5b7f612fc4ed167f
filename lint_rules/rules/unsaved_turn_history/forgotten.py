"""Replies that a model gave, that went to a user or a caller, and that the history they answer never gets.

Three facts make one: a user's message is stored in a history that goes on after the turn, the model is asked with it,
and a path leads from the request to the end of the turn on which the reply is shown or returned, and nothing that
could be the reply is stored. Requests are followed into the functions of the file that make them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TypeGuard

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.growth import always_comes_to, reads, reset_places
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.told import Told, leaves_out, told_by
from lint_rules.anatomy.rounds.waits import waits_for_words
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.one_history import Kept
from lint_rules.anatomy.turns.turns import MOST_REQUESTS
from lint_rules.anatomy.values.provenance import is_of_package
from lint_rules.anatomy.values.slots import Slot, is_parameter, moved, root_object, whole_of
from lint_rules.rules.unsaved_turn_history.how_sent import How, how_sent, is_kept_by_server
from lint_rules.rules.unsaved_turn_history.own_lists import is_put_nowhere
from lint_rules.rules.unsaved_turn_history.shown_replies import ShownReplies
from lint_rules.rules.unsaved_turn_history.single_turns import single_turns
from lint_rules.rules.unsaved_turn_history.turn_ends import headers_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_OTHERS = frozenset({"user", "system", "developer", "tool"})
"""Roles of messages that are no reply."""


@record
class Forgotten:
    """One reply. `leaves` is where it goes to a user or a caller, `asks` the request, `user` what it answers.

    `history` is the list as `function` names it, where the turn begins; `within` is the function that asks.
    """

    leaves: cst.CSTNode
    asks: cst.Call
    user: Stored
    history: Slot
    function: Scope
    within: Scope
    returned: bool
    inner: cst.CSTNode | None


@record
class Passed:
    """A reply to `asks` that leaves past where its turn is stored, `save`: another way of the function comes there."""

    leaves: cst.CSTNode
    asks: cst.Call
    save: cst.CSTNode


@record
class _Pending:
    """A reply that a function has got and not stored: `returned` tells whether the caller gets it, `sent` how the
    history was sent, `leaves` where the reply leaves the function (at first the request itself), `at` the call there
    that asks or leads to it."""

    asks: cst.Call
    leaves: cst.CSTNode
    within: Scope
    returned: bool
    sent: How
    inner: cst.CSTNode | None = None
    at: cst.CSTNode | None = None


def forgotten_replies(anatomy: Anatomy) -> Iterator[Forgotten]:
    """All forgotten replies of a file, each once: also where a turn asks by way of another function of the file."""
    search, reachable = _Search(anatomy), anatomy.calls.reachable
    told: list[Forgotten] = []
    for function in anatomy.module.functions:
        if function.kind in {"function", "module"} and anatomy.turns.requests(function):
            for found in search.in_turn(function):
                alike = (one for one in told if found.leaves is one.leaves or found.asks is one.asks)
                if not any(
                    found.leaves is one.leaves
                    or function in reachable(one.function)
                    or one.function in reachable(function)
                    for one in alike
                ):
                    told.append(found)
                    yield found


def passed_stores(anatomy: Anatomy) -> Iterator[Passed]:
    """Those of the turns of a file that are in a store, which is told what the model has said behind the request."""
    search = _Search(anatomy)
    for function in anatomy.module.functions:
        known: list[cst.CSTNode] = []
        few = function.kind == "function" and len(anatomy.turns.requests(function)) <= MOST_REQUESTS
        for turn in anatomy.stored_turns.of(function) if few else ():
            loaded_here = turn.load is not None and anatomy.module.inside(turn.load, function.node)
            if loaded_here and turn.outside:  # else its caller's to store, or gone with the run
                asks = (turn.ask, *(ask for ask in anatomy.turns.requests(function) if ask is not turn.ask))
                first = next((one for ask in asks for one in search.past_store(function, turn, ask)), None)
                if first is not None and first.leaves not in known:
                    known.append(first.leaves)
                    yield first


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.lasting = Lasting(anatomy)
        self.places = ShownReplies(anatomy, lost=is_put_nowhere)
        self._pending: dict[tuple[Scope, Slot, frozenset[Slot], frozenset[tuple[str, str]]], list[_Pending]] = {}
        self._adders: dict[Slot, list[Scope]] = {}
        self._elsewhere: dict[Anatomy, _Search] = {}

    # -- a turn ------------------------------------------------------------------------------------------------

    def in_turn(self, function: Scope) -> Iterator[Forgotten]:
        """The replies that a function forgets in which the user's message is stored."""
        stored = self.anatomy.transcript.stored(function)
        users: dict[Slot, list[Stored]] = {}
        for one in stored:
            if one.role == "user" and one.slot is not None and one.kind in {*GROWING, "rebind"} and self._is_told(one):
                users.setdefault(one.slot, []).append(one)
        for slot, begun in users.items():
            goals = self._turn_ends(function, slot, begun)
            beside = self._gives_with_answer(function, slot) if not goals else []
            goals = goals or ([self.anatomy.flow(function).exit] if beside else [])
            if goals and (beside or not self._stored_by_others(function, slot)):
                for pending in self._lost(function, slot, goals, 0):
                    user = self._before(function, begun, pending)
                    if pending.leaves not in beside if beside else self._is_beside(function, pending):
                        continue
                    if user is not None and (beside or not self._reset(function, slot, user)):
                        leaves = self._way_to(function, pending) if beside else pending.leaves
                        yield Forgotten(
                            leaves, pending.asks, user, slot, function, pending.within, pending.returned, pending.inner
                        )

    def _gives_with_answer(self, function: Scope, slot: Slot) -> list[cst.CSTNode]:
        """Where a function gives back the list with something more, if it puts its last replies there itself.

        What a request is handed is sent, and not given back.
        """
        if not self._puts_last(function, slot):
            return []
        asks = self.anatomy.turns.requests(function)
        of, inside = self.anatomy.facts.slots.of, self.anatomy.module.inside
        given = [node for node in function.nodes_of(cst.Return) if node.value is not None and not _is_place(node.value)]
        held = [(node, part) for node in given for part in walk(node) if _is_place(part) and of(part) == slot]
        return [*{node: None for node, part in held if not any(inside(part, ask) for ask in asks)}]

    def _puts_last(self, function: Scope, slot: Slot) -> bool:
        """Whether a function puts the last reply of a turn into a list itself."""
        stored = self.anatomy.transcript.stored(function)
        puts = [one.node for one in stored if one.slot == slot and one.role == "assistant" and one.kind in GROWING]
        last = (self.places.ends_past(function, ask) for ask in self.anatomy.turns.requests(function))
        return not {*chain.from_iterable(last)}.isdisjoint(self.anatomy.points(function, puts))

    def _way_to(self, function: Scope, pending: _Pending) -> cst.CSTNode:
        """Where the way of a reply parts from those that all lead to one `return`: the last `break` before it."""
        flow = self.anatomy.flow(function)
        stored = {one.node for one in self.anatomy.transcript.stored(function) if one.role == "assistant"}
        starts, ends = (self.anatomy.points(function, [node]) for node in (pending.at or pending.asks, pending.leaves))
        path = flow.path(starts, ends, set(self.anatomy.points(function, stored)), exceptions=False)
        jumps = (point.statement for point in reversed(path or []) if isinstance(point.statement, cst.Break))
        return next(jumps, pending.leaves)

    def past_store(self, function: Scope, turn: Kept, ask: cst.Call) -> Iterator[Passed]:
        """Where the reply to a request goes to a caller or user, past what stores a turn of the function.

        An `if` around that may be meant so.
        """
        module, flow = self.anatomy.module, self.anatomy.flow(function)
        taken, at = self.places.derived(function, ask), self.anatomy.transcript.at
        saves = [save for save in turn.saves if all(one.role not in _OTHERS for one in at(save))]
        start, saved = self.anatomy.points(function, [ask]), self.anatomy.points(function, saves)
        if not flow.reaches(start, saved, exceptions=False):
            return
        around = [outer for save in saves for outer in headers_of(module, save, turn.ask)]
        every = [save for each in self.anatomy.stored_turns.of(function) for save in each.saves]
        named = {ex.dotted(save.func) for save in every if isinstance(save, cst.Call)}
        alike = [call for call in function.nodes_of(cst.Call) if ex.dotted(call.func) in named]
        barred = self.places.stores(function, None, ask, taken, also=every)
        barred = {*barred, *self.anatomy.points(function, [*around, *alike])} - set(start)
        for leaves in self.places.forgotten(function, ask, [flow.exit], barred):
            yield Passed(leaves, ask, saves[-1])

    def _is_told(self, one: Stored) -> bool:
        """Whether a helper stores what it is handed there: not where a constant tells it not to."""
        callee = self.anatomy.facts.slots.callee(one.node)
        if callee is None or one.write is None or one.write.function is not callee:
            return True
        told = told_by(self.anatomy, one.node, callee)  # type: ignore[arg-type]
        return not leaves_out(self.anatomy, callee, told, [one.write.node])

    def _turn_ends(self, function: Scope, slot: Slot, users: list[Stored]) -> list[Point]:
        """Where the next turn would miss the reply: the end, if the history lives on, or the next user's message.

        That of an object which the function is handed does, where it puts its last replies there itself.
        """
        flow = self.anatomy.flow(function)
        kept = self.lasting.keeps(slot)
        if slot[0] in {"member", "item"} and is_parameter(root_object(slot)) and self._puts_last(function, slot):
            return [flow.exit]
        if kept is not None and function not in self._single:
            return [flow.exit, *self.anatomy.points(function, [u.node for u in users])]
        elsewhere = kept is not None and kept[0] in {"member", "item"}
        if elsewhere and (function is self.anatomy.module.top or is_of_package(self.anatomy, slot)):
            return [flow.exit]  # a page that runs from top to bottom at each turn, with its state elsewhere
        return self.anatomy.points(function, [u.node for u in users if self._dialogue_around(u.node) is not None])

    def _dialogue_around(self, node: cst.CSTNode) -> cst.While | cst.For | None:
        """The innermost loop of the function around a node that waits for a user each time round."""
        module = self.anatomy.module
        loop = module.loop_around(node, own=True)
        while loop is not None and not module.those_inside(self._waits, loop.body):
            loop = module.loop_around(loop, own=True)
        return loop

    @cached_property
    def _waits(self) -> list[cst.Call]:
        module = self.anatomy.module
        return [call for call in module.nodes_of(cst.Call) if waits_for_words(call, module.imports)]

    @cached_property
    def _single(self) -> set[Scope]:
        return single_turns(self.anatomy)

    def _before(self, function: Scope, users: list[Stored], pending: _Pending) -> Stored | None:
        """The user's message that comes before the request."""
        flow = self.anatomy.flow(function)
        asked = self.anatomy.points(function, [pending.at or pending.asks])
        for user in users:
            points = self.anatomy.points(function, [user.node])
            if any(p in asked for p in points) or flow.reaches(points, asked, exceptions=False):
                return user
        return None

    def _reset(self, function: Scope, slot: Slot, user: Stored) -> bool:
        """Whether the turn begins with a new list: nothing goes on then. Its own loop is one turn after the other."""
        flow = self.anatomy.flow(function)
        after = self.anatomy.points(function, [user.node])
        for one in self.anatomy.transcript.stored(function):
            if one.slot == slot and (self._renews(one, slot) or _clears(one)) and self._is_sure(one):
                for point in self.anatomy.points(function, [one.node]):
                    if any(flow.dominates(point, other) for other in after) and not self._is_set_up(one, user):
                        return True
        is_gone = self.lasting.keeps(slot) is None and slot[0] != "var" and not is_parameter(root_object(slot))
        return is_gone or self._reset_by_callers(function, slot, 0)

    def _is_sure(self, one: Stored) -> bool:
        """Whether a write that a helper makes is made at each call of it: that of `if "talk" not in state:` is not."""
        return one.write is None or one.write.node is one.node or always_comes_to(self.anatomy, one.write)

    def _reset_by_callers(self, function: Scope, slot: Slot, depth: int) -> bool:
        """Whether all callers of this file begin a new list for each call: none comes from one call to the next."""
        graph, sites = self.anatomy.calls, self.anatomy.calls.sites[function]
        if not sites or graph.references.get(function) or function in graph.servings or depth > DEEPEST:
            return False
        for caller in {site.caller: None for site in sites}:
            flow, calls = self.anatomy.flow(caller), [site.node for site in sites if site.caller is caller]
            resets = [n for n in reset_places(self.anatomy, slot, caller) if all(_on_one_object(n, c) for c in calls)]
            here, barred = self.anatomy.points(caller, calls), set(self.anatomy.points(caller, resets))
            if flow.reaches(here, here, barred):
                return False
            if flow.reaches(flow.entry, here, barred) and not self._reset_by_callers(caller, slot, depth + 1):
                return False
        return True

    def _is_set_up(self, one: Stored, user: Stored) -> bool:
        """A list that is made before the loop in which users speak."""
        loop = self._dialogue_around(user.node)
        return loop is not None and not self.anatomy.module.inside(one.node, loop)

    def _renews(self, one: Stored, slot: Slot) -> bool:
        if one.kind != "rebind" or one.write is None or one.write.value is None:
            return False
        if one.write.slot[0] == "var" and self.lasting.keeps(one.write.slot) is not None and one.slot == one.write.slot:
            if one.write.slot[1] is not self.anatomy.module.top:
                return False  # a name given to the list that lives on
        return not reads(self.anatomy, one.write.value, one.write.slot)

    def _stored_by_others(self, function: Scope, slot: Slot) -> bool:
        """Whether callers store the reply, or are meant to: a method that adds messages and that nobody here calls."""
        graph = self.anatomy.calls
        seen, queue = {function}, [function]
        while queue:
            here = queue.pop()
            for site in graph.sites[here]:
                if self._after(site.caller, site.node, slot):
                    return True
                if site.caller not in seen and len(seen) < 20:
                    seen.add(site.caller)
                    queue.append(site.caller)
        others = [function for function in self._adding(slot) if function not in seen]
        return bool(others) and not graph.reachable(function).issuperset(others)

    def _adding(self, slot: Slot) -> list[Scope]:
        """The functions that nobody here calls, and that may add a reply of somebody else to a history."""
        found = self._adders.get(slot)
        if found is None:
            graph = self.anatomy.calls
            found = self._adders[slot] = [
                write.function
                for write in self.anatomy.writes.by_slot[slot]
                if write.kind in GROWING
                and not graph.sites[write.function]
                and not graph.reaches_llm(write.function)
                and write.function.kind == "function"
                and any(s.role in {None, "assistant"} for s in self.anatomy.transcript.at(write.node))
            ]
        return found

    def _after(self, caller: Scope, call: cst.Call, slot: Slot) -> bool:
        """Whether `caller` stores something that may be the reply after `call` has given it."""
        if caller.kind == "class":
            return False
        flow = self.anatomy.flow(caller)
        start = self.anatomy.points(caller, [call])
        taken = self.places.derived(caller, call)
        goals = self.anatomy.points(caller, self.places.kept(caller, call, taken))
        return bool(goals) and (any(p in start for p in goals) or flow.reaches(start, goals, exceptions=False))

    # -- the way of a reply ------------------------------------------------------------------------------------

    def _lost(
        self,
        function: Scope,
        slot: Slot,
        goals: list[Point],
        depth: int,
        storing: frozenset[Slot] = frozenset(),
        told: Told = MappingProxyType({}),
    ) -> Iterator[_Pending]:
        """Replies to requests with `slot` that reach a goal without being stored; `storing` are callbacks that store.

        A user's message is a goal only where no reply is stored behind it: both may be stored when the reply is there.
        `told`: what the caller tells the function by constants.
        """
        asking = [(call, found) for call in function.nodes if type(call) is cst.Call
                  for found in self._asks(call, slot, depth, storing)]  # fmt: skip
        if not asking:
            return
        flow = self.anatomy.flow(function)
        asked = set(self.anatomy.points(function, [call for call, _ in asking]))
        for call, pending in asking:
            start = self.anatomy.points(function, [call])
            taken = self.places.derived(function, call)
            stores = self.places.stores(function, slot, call, taken)
            stores |= set(self.anatomy.points(function, self._handed_to(function, storing)))
            if any(point in stores for point in start):
                continue
            barred = stores | (asked - set(start))
            ends = [g for g in goals if g is flow.exit or self._ends(function, [g], [*asked, flow.exit], stores)]
            if not self._ends(function, start, ends, barred):
                continue
            if not pending.returned:
                yield replace(pending, at=call)
                continue
            leaves = next(self.places.forgotten(function, call, ends, barred, told), None)
            if leaves is not None:
                returned = type(leaves) is (cst.Yield if function.is_generator else cst.Return)
                inner = pending.inner or (pending.leaves if pending.leaves is not pending.asks else None)
                yield replace(pending, leaves=leaves, returned=returned, inner=inner, at=call)

    def _ends(self, function: Scope, start: list[Point], goals: list[Point], barred: set[Point]) -> bool:
        return self.anatomy.flow(function).reaches(start, goals, barred, exceptions=False)

    def _handed_to(self, function: Scope, storing: frozenset[Slot]) -> list[cst.Call]:
        """Where a function gives a message to a callback that stores it: anything but other people's messages."""
        return [
            call
            for call in function.nodes_of(cst.Call)
            if self.anatomy.facts.slots.of(call.func) in storing
            and not any(ex.text(ex.dict_items(v).get("role", v)) in _OTHERS for v in ex.positional(call))
        ]

    def _stores_there(self, value: cst.BaseExpression, slot: Slot, storing: frozenset[Slot]) -> bool:
        """Whether a value is a method that puts messages into the history: `history.append`, or a name for it."""
        if self.anatomy.facts.slots.of(value) in storing:
            return True
        pair = ex.member(value)
        return pair is not None and pair[1] in GROWING and self.anatomy.facts.slots.of(pair[0]) == slot

    def _adds(self, value: cst.BaseExpression, slot: Slot) -> bool:
        """Whether a value is a function that puts messages into the history: `self.keep`."""
        function = self.anatomy.facts.slots.function(value)
        writes = self.anatomy.writes.reached_from(function) if function is not None else ()
        return any(write.slot == slot and write.kind in GROWING for write in writes)

    def _asks(self, call: cst.Call, slot: Slot, depth: int, storing: frozenset[Slot]) -> list[_Pending]:
        """The replies that a call gives to requests with the history: its own, or what its function has pending."""
        found = self.anatomy.facts.calls.get(call)
        if found is not None and is_kept_by_server(call):
            return []
        if found is not None and found.history is not None:
            if any(self._stores_there(arg.value, slot, storing) or self._adds(arg.value, slot) for arg in call.args):
                return []
            sent = how_sent(self.anatomy, found.history, slot)
            return [_Pending(call, call, self.anatomy.module.scope_of[call].function, True, sent)] if sent else []
        there, callee = body(self.anatomy, call) or (None, None)
        if there is None or callee is None or depth > DEEPEST or not there.calls.reaches_llm(callee):
            return []
        given = list(there.facts.slots.bindings(call, callee))
        handed = {parameter: how_sent(self.anatomy, value, slot, 1) for parameter, value in given}
        inside = [parameter for parameter, sent in handed.items() if sent]
        inside += [held for parameter, value in given if (held := self._part_of(slot, value, parameter)) is not None]
        root = root_object(slot)
        is_own = root[0] == "attr" or (root[0] == "var" and root[1] is self.anatomy.module.top)
        if root[0] == "outside" or (is_own and there is self.anatomy):
            inside.append(slot)
        passed = frozenset(parameter for parameter, value in given if self._stores_there(value, slot, storing))
        pending = [
            replace(each, sent="more") if handed.get(held) == "more" else each
            for held in inside
            for each in self._in(there)._of_callee(callee, held, depth, passed, told_by(there, call, callee))
        ]
        if there is self.anatomy:
            return pending
        function = self.anatomy.module.scope_of[call].function
        return [_Pending(call, call, function, each.returned, each.sent) for each in pending[:1]]

    def _in(self, there: Anatomy) -> _Search:
        """The search in the file of a function that is run."""
        if there is self.anatomy:
            return self
        if there not in self._elsewhere:
            self._elsewhere[there] = _Search(there)
        return self._elsewhere[there]

    def _part_of(self, slot: Slot, value: cst.BaseExpression, parameter: Slot) -> Slot | None:
        """The history as a part of what a parameter is, where it is one of the object that is handed over."""
        here = self.anatomy.facts.slots.of(value)
        place = self.anatomy.aliases.of(here) if here is not None else None
        return moved(slot, place, parameter) if place in {*whole_of(slot)} - {slot} and place is not None else None

    def _is_beside(self, function: Scope, pending: _Pending) -> bool:
        """Whether a request with more than the history is a question beside the conversation: others are made too."""
        if pending.sent != "more":
            return False
        reached = self.anatomy.calls.reachable(function)
        asked = sum(len(self.anatomy.calls.llm_calls.get(here, ())) for here in reached)
        return max(asked, len(self.anatomy.turns.requests(function))) > 1

    def _of_callee(self, callee: Scope, slot: Slot, depth: int, storing: frozenset[Slot], told: Told) -> list[_Pending]:
        key = (callee, slot, storing, frozenset(told.items()))
        if key not in self._pending:
            self._pending[key] = []
            goals = [self.anatomy.flow(callee).exit]
            self._pending[key] = list(self._lost(callee, slot, goals, depth + 1, storing, told))
        return self._pending[key]


def _clears(stored: Stored) -> bool:
    return stored.kind == "cut" and isinstance(stored.node, cst.Call) and ex.called_name(stored.node) == "clear"


def _on_one_object(reset: cst.CSTNode, call: cst.Call) -> bool:
    """Whether the list that is begun anew is one of the object whose method is called, as the caller names both."""
    owner = ex.receiver(call)
    held = ex.receiver(reset) if isinstance(reset, cst.Call) else ex.targets(reset)[0]  # type: ignore[arg-type]
    return owner is None or held is None or f"{ex.source(held)}.".startswith(f"{ex.source(owner)}.")


def _is_place(node: cst.CSTNode) -> TypeGuard[cst.BaseExpression]:
    return isinstance(node, (cst.Name, cst.Attribute, cst.Subscript))
