"""Messages of a turn that wait in a local list until they are handed to the history that lives on.

new = []                        # or a copy: `messages = list(self.history)`
... new.append(reply) ...       # round after round
self.history.extend(new)        # handed over: a path that leaves before this point loses the turn
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, lasts_apart, run_elsewhere
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.lasting import Lasting, is_new
from lint_rules.anatomy.turns.reply_places import ReplyPlaces
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.obligations.again import Again
from lint_rules.obligations.late_requests import leaves
from lint_rules.rules.unsaved_turn_history.late_turns import LateTurns
from lint_rules.rules.unsaved_turn_history.turn_ends import TurnEnd, Way, closed, left
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_NOT_YET = frozenset({"user", "system"})
_HEADERS = frozenset({cst.If, cst.For, cst.While, cst.Match})


def unhanded_turns(anatomy: Anatomy) -> Iterator[TurnEnd]:
    """For each waiting list of a file, a way on which it is lost; for generators also what is saved at their end."""
    search = _Search(anatomy)
    yielding = {anatomy.module.scope_of[node].function for node in anatomy.module.nodes_of(cst.Yield)}
    for function in anatomy.module.functions:
        if function.kind != "function":
            continue
        yield from search.of(function)
        if function in yielding:
            yield from search.saved_late(function)


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.lasting = Lasting(anatomy)
        self.resources = anatomy.resources
        self.places = ReplyPlaces(anatomy)
        self.late = LateTurns(anatomy)
        self._known_views: dict[Slot, set[Slot]] = {}

    def of(self, function: Scope) -> Iterator[TurnEnd]:
        lists: dict[Slot, list[Stored]] = {}
        written = self.anatomy.transcript.stored(function)
        for one in written:
            if one.slot is not None and one.kind in GROWING and (self._is_reply(one) or one.answers):
                lists.setdefault(one.slot, []).append(one)
        for slot, stored in lists.items():
            if self.anatomy.turns.requests(function):
                loads = self._waits(slot, function)
                handovers = self._handovers(slot, function) if loads is not None else []
                if loads:
                    handovers = [node for node in handovers if any(self._goes_back(node, load) for load in loads)]
                if not any(one.slot == slot and self._is_reply(one) for one in written):
                    handovers = [node for node in handovers if not self._goes_into_list(node)]
                waiting = [one for one in stored if handovers and self._waits_still(one, slot, handovers)]
                yield from self._lost(function, slot, waiting, handovers) if waiting else ()

    def _goes_into_list(self, handover: cst.CSTNode) -> bool:
        """Whether results go into a list behind their calls: without them, these have none, which is another matter."""
        stored = self.anatomy.transcript.at(handover)
        return any(one.slot is not None and one.slot[0] != "outside" for one in stored)

    def _waits_still(self, one: Stored, slot: Slot, handovers: list[cst.CSTNode]) -> bool:
        """Whether a message is one of this turn, behind a request, and in no place yet that lasts.

        Such a place may have got it by the same call, or may have been given the list itself before.
        """
        if type(one.node) is cst.Call and self.late.runs_tools(one.node) and self.late.stores(one.node):
            return False
        function = self.anatomy.module.scope_of[one.node].function
        beside = (other for other in self.anatomy.transcript.at(one.node) if other.slot not in {slot, None})
        if any(other.kind in GROWING and (other.role == "assistant" or other.answers) for other in beside):
            return False
        flow, here = self.anatomy.flow(function), self.anatomy.points(function, [one.node])
        asks = self.anatomy.points(function, self.anatomy.turns.requests(function))
        if not any(point in asks for point in here) and not flow.reaches(asks, here):
            return False
        slots, once = self.anatomy.facts.slots, len(self.anatomy.facts.assigned(slot)) == 1
        given = [node for node in handovers if once and isinstance(node, cst.Assign) and slots.of(node.value) == slot]
        return not any(flow.dominates(before, point) for before in flow.within(given) for point in here)

    def _is_reply(self, one: Stored) -> bool:
        return one.role == "assistant" or one.calls is not None or self._run_of(one) is not None

    def _run_of(self, one: Stored) -> cst.Call | None:
        """The run of an agent that gave what is stored, one by one: `async for message in agent.run(history)`."""
        value = one.write.value if one.write is not None and one.role is None else None
        for outer in self.anatomy.module.ancestors(one.node) if value is not None else ():
            if isinstance(outer, cst.For):
                given = ex.target_names(outer.target)
                call = ex.inner(outer.iter)
                if mentions(given, value):  # type: ignore[arg-type]
                    return call if isinstance(call, cst.Call) and self.anatomy.turns.reaches_model(call) else None
        return None

    def _tools_ran(self, one: Stored) -> bool:
        """Whether a tool has run when a message is stored: it is a result, or comes from a run that answers calls."""
        run = self._run_of(one)
        return one.answers if run is None else self.late.runs_tools(run)

    def _waits(self, slot: Slot, function: Scope) -> list[cst.Call] | None:
        """For a list that is made in the function, the calls that load it: none where it is empty or a copy.

        None for any other list: it lives elsewhere, too.
        """
        if slot[0] != "var" or slot[1] is not function or slot[2] in {p.name.value for p in parameters(function)}:
            return None
        facts = self.anatomy.facts
        values = [part for value in facts.assigned(slot) for part in ex.alternatives(value)]
        values += [ex.inner(value) for value, _ in facts.unpacked(slot) if not isinstance(value, (cst.Tuple, cst.List))]
        if lasts_apart(self.anatomy, slot):
            return None
        rest = [value for value in values if not isinstance(value, cst.List | cst.ListComp) and not sources(value)]
        loads = [value for value in rest if type(value) is cst.Call and not self._gives_what_lasts(value, function)]
        return loads if values and len(loads) == len(rest) else None

    def _gives_what_lasts(self, call: cst.Call, function: Scope) -> bool:
        """Whether a call may give a list that lives on by itself, as far as the body of what it runs tells."""
        found = run_elsewhere(self.anatomy, call)
        there, slot = (
            (found[0], ("return", found[1])) if found is not None else (self.anatomy, self.anatomy.facts.slots.of(call))
        )
        return slot is None or there.aliases.is_lasting(
            there.aliases.of(slot), found[1] if found is not None else function
        )

    def _goes_back(self, handover: cst.CSTNode, load: cst.Call) -> bool:
        """Whether a list is stored where it was loaded from: with one object, or in one file, table or key."""
        if type(handover) is not cst.Call:
            return False
        one, other = (ex.receiver(call) for call in (load, handover))
        slots = self.anatomy.facts.slots
        if one is not None and other is not None and slots.of(one) is not None and slots.of(one) == slots.of(other):
            return True
        return self._is_rewritten(load, handover) or self.resources.of(load).is_read_again_after(
            self.resources.of(handover)
        )

    def _is_rewritten(self, load: cst.Call, handover: cst.Call) -> bool:
        storage, function = self.anatomy.storage, self.anatomy.module.scope_of[handover].function
        places = [origin.load.place for origin in storage.origins(load, function) if origin.load is not None]
        return any(
            place.is_rewritten_at(save.place)
            for save in storage.saves(function)
            if self.anatomy.module.inside(save.node, handover)
            for place in places
        )

    def _handovers(self, slot: Slot, function: Scope) -> list[cst.CSTNode]:
        found = [node for node in function.nodes if self._hands_over(node, slot, function)]
        saves = (save for save in self.anatomy.storage.saves(function) if save.outside)
        more = [save.node for save in saves if save.node not in found and self._holds(save.value, slot)]
        return [node for node in (*found, *more) if not self.lasting.is_asked_for(node)]

    def _hands_over(self, node: cst.CSTNode, slot: Slot, function: Scope) -> bool:
        if isinstance(node, (cst.Assign, cst.AugAssign)):
            place = ex.targets(node)[0]
            put = isinstance(place, (cst.Attribute, cst.Subscript)) and self._holds(node.value, slot)
            return put and not self._is_request(self.anatomy.facts.slots.of(place), function)
        if type(node) is not cst.Call or is_logging(node) or self.anatomy.turns.reaches_model(node):
            return False
        if self.anatomy.facts.encoder(node):
            return False
        if not any(self._holds(arg.value, slot) for arg in node.args):
            return False
        base = ex.receiver(node)
        own = self.anatomy.facts.slots.of(base)
        if own == slot or (
            own is not None and own[0] == "var" and own[1] is function and self._waits(own, function) is not None
        ):
            return False
        if own is not None and self._is_never_taken_from(own):
            return False
        run = body(self.anatomy, node)
        if run is None:
            return self.anatomy.keeps(node)
        whole = run[0] is not self.anatomy and self.anatomy.kept_elsewhere.keeps_whole(node, function)
        return whole or bool(self.resources.of(node).made) or self._callee_stores(node, *run, slot)

    def _is_never_taken_from(self, slot: Slot) -> bool:
        """Whether a list that this file makes is only added to, counted or searched: no turn begins with it."""
        facts, parent = self.anatomy.facts, self.anatomy.module.parent
        made = facts.assigned(slot)
        return slot[0] == "var" and bool(made) and all(isinstance(ex.inner(v), cst.List) for v in made) and not any(
            self._takes(parent[name], name) for name in facts.names.get(slot, ())
        )  # fmt: skip

    def _takes(self, outer: cst.CSTNode, name: cst.Name) -> bool:
        """Whether what stands around the name of a list may take something out of it."""
        if isinstance(outer, cst.Attribute):
            return outer.value is name and outer.attr.value not in GROWING
        if isinstance(outer, cst.Arg):
            call = self.anatomy.module.parent[outer]
            return not (isinstance(call, cst.Call) and ex.dotted(call.func) == "len")
        if isinstance(outer, cst.ComparisonTarget):
            return not isinstance(outer.operator, (cst.In, cst.NotIn))
        return not isinstance(outer, (cst.AssignTarget, cst.AnnAssign, cst.NameItem))

    def _is_request(self, place: Slot | None, function: Scope) -> bool:
        """Whether a place is a part of what a request is made with, and goes with the function."""
        root = root_object(place) if place is not None else None
        given = (arg.value for ask in self.anatomy.turns.requests(function) for arg in ask.args)
        is_own = root is not None and root[:2] == ("var", function) and not is_parameter(root)
        return is_own and any(self.anatomy.facts.slots.of(value) == root for value in given)

    def _callee_stores(self, call: cst.Call, there: Anatomy, callee: Scope, slot: Slot) -> bool:
        """Whether a function of the project stores the list elsewhere: not one that only edits it."""
        views = self._views(slot)
        stored = self.anatomy.transcript.at(call)
        elsewhere = (one.slot for one in stored if one.slot is not None and one.kind != "cut")
        if any(
            slot not in views and self.late.may_last(slot, self.anatomy.module.scope_of[call].function)
            for slot in elsewhere
        ):
            return True
        got = {s for s, value in there.facts.slots.bindings(call, callee) if self._holds(value, slot)}
        for node in callee.nodes:
            made = type(node) is cst.Call and ex.called_name(node)[:1].isupper()
            if type(node) is cst.Call and there.keeps(node) and not (made or is_logging(node)):
                if any(there.facts.slots.names_any(arg.value, got) for arg in node.args):
                    kept = there.facts.slots.of(ex.receiver(node) or node)
                    if kept is None or not self._goes_with(there, callee, kept):
                        return kept not in got
            elif isinstance(node, cst.Assign) and isinstance(node.targets[0].target, (cst.Attribute, cst.Subscript)):
                if there.facts.slots.names_any(node.value, got):
                    return True
        return False

    def _goes_with(self, there: Anatomy, callee: Scope, slot: Slot) -> bool:
        """Whether something is made in a function, and is gone with it, if that does not give it back."""
        made = there.facts.assigned(slot) if slot[:2] == ("var", callee) else []
        return bool(made) and all(is_new(there, each) for each in made)

    def _holds(self, value: cst.BaseExpression, slot: Slot) -> bool:
        """Whether a value is the list or made of it: a slice, a copy, a comprehension, also by another name."""
        views = self._views(slot)
        counted = {
            arg.value for n in walk(value) if type(n) is cst.Call and ex.dotted(n.func) == "len" for arg in n.args
        }
        names = (n for n in walk(value) if type(n) is cst.Name and n not in counted)
        return any(self._is_of(name, views) for name in names)

    def _is_of(self, name: cst.Name, views: set[Slot]) -> bool:
        """Whether a name stands for one of these where it stands: loops over other lists may have it, too."""
        if self.anatomy.facts.slots.of(name) not in views:
            return False
        loops = (outer for outer in self.anatomy.module.ancestors(name) if isinstance(outer, cst.For))
        loop = next((loop for loop in loops if name.value in ex.target_names(loop.target)), None)
        return loop is None or self._is_view(loop.iter, views)

    def _views(self, slot: Slot) -> set[Slot]:
        """The list, and local names that are bound to something made of it."""
        if slot not in self._known_views:
            views = {slot}
            for node in slot[1].nodes_of(cst.Assign, cst.For):
                target, value = (ex.targets(node)[0], node.iter if isinstance(node, cst.For) else node.value)
                if type(target) is cst.Name and self._is_view(value, views):
                    view = self.anatomy.facts.slots.of(target)
                    views.update({view} if view is not None else ())
            self._known_views[slot] = views
        return self._known_views[slot]

    def _is_view(self, value: cst.BaseExpression, views: set[Slot]) -> bool:
        """A slice, a copy or a selection of the list."""
        if isinstance(value, cst.ListComp):
            return self._is_view(value.for_in.iter, views)
        return self.anatomy.facts.slots.of(value) in views or any(self._is_view(s, views) for s in sources(value))

    def _lost(
        self,
        function: Scope,
        slot: Slot,
        stored: list[Stored],
        handovers: list[cst.CSTNode],
    ) -> Iterator[TurnEnd]:
        again = Again(self.anatomy, function)
        starts, told = (self.anatomy.points(function, each) for each in ([s.node for s in stored], handovers))
        if not again.leads(starts, set(told), exceptions=False):
            return
        loops = self._loops_over(slot, handovers)
        ends = {*told, *self.anatomy.points(function, loops)}
        around = self._around(function, handovers, stored, loops) | self._if_longer(function, handovers, slot)
        given_back = self._given_back(function, slot, handovers)
        barred = ends | around | given_back
        rounds = [one.node for one in stored if type(one.node) is cst.Call and self.late.fails(one.node)]
        failed = [point for node in rounds for point in again.failed(node) if point not in barred]
        found = left(again, starts, barred, failed)
        if found is None:
            stopped = closed(again, starts, ends, barred, {again.graph.raises})
            found = (stopped, "yield") if stopped is not None else None
        wished = around and again.leads(starts, {again.graph.exit}, ends | given_back, exceptions=False)
        if found is None and not wished and self._returns_only(function, given_back):
            found = self._thrown(again, slot, stored, handovers, barred)
        if found is not None:
            yield TurnEnd(*found, stored[0].node, handovers[-1], waiting=slot)

    def _returns_only(self, function: Scope, given_back: set[Point]) -> bool:
        return given_back.issubset(self.anatomy.points(function, function.nodes_of(cst.Return)))

    def _thrown(
        self, again: Again, slot: Slot, stored: list[Stored], handovers: list[cst.CSTNode], barred: set[Point]
    ) -> tuple[cst.CSTNode, Way] | None:
        """The first error that leaves the function after a tool has run whose result only waits in the list.

        One that is raised there, or that of a request.
        """
        function, reaches_model = again.function, self.anatomy.turns.reaches_model
        if self._kept_one_by_one(function, slot, handovers) or not any(map(self._begins_next_turn, handovers)):
            return None
        ran = self.anatomy.points(function, [s.node for s in stored if self._tools_ran(s)])
        for node in function.nodes_of(cst.Raise, cst.Call):
            if isinstance(node, cst.Call) and (not reaches_model(node) or self.late.keeps_first(node)):
                continue
            here = self.late.points(again, node) if isinstance(node, cst.Call) else again.points(node)
            here = [point for point in here if point not in barred]
            after = isinstance(node, cst.Call) and self.late.fails(node)
            if (after or again.leads(ran, set(here), barred, exceptions=False)) and leaves(again, here, barred):
                return node, "error" if isinstance(node, cst.Call) else "leaves"
        return None

    def _begins_next_turn(self, handover: cst.CSTNode) -> bool:
        """Whether what the list is handed to is what a turn begins with: it lives on, or gives a history."""
        facts = self.anatomy.facts
        targets = ex.targets(handover) if isinstance(handover, (cst.Assign, cst.AugAssign)) else []
        base = ex.receiver(handover)
        for place in [*targets, *([base] if base is not None else [])]:
            slot = facts.slots.of(place)
            if slot is not None and self.lasting.keeps(slot) is not None and Kind.HISTORY in facts.of(slot):
                return True
            if slot is not None and slot in self.anatomy.givers:
                return True
        return isinstance(handover, cst.Call) and (
            self.resources.is_read_again(handover)
            or any(
                one.slot is not None and self.lasting.keeps(one.slot) is not None
                for one in self.anatomy.transcript.at(handover)
            )
        )

    def _kept_one_by_one(self, function: Scope, slot: Slot, handovers: list[cst.CSTNode]) -> bool:
        """Whether the messages are also put where they last, each as it comes."""
        return any(
            one.slot != slot and one.kind in GROWING and (one.role == "assistant" or one.answers)
            and one.node not in handovers
            and (one.slot is None or self.lasting.keeps(one.slot) is not None)
            for one in self.anatomy.transcript.stored(function)
        )  # fmt: skip

    def saved_late(self, function: Scope) -> Iterator[TurnEnd]:
        """A generator that saves a history after its last `yield`: a consumer that stops early saves nothing."""
        grown: dict[Slot, list[Stored]] = {}
        for one in self.anatomy.transcript.stored(function):
            if one.slot is not None and one.slot[0] == "attr" and one.kind in GROWING and one.role not in _NOT_YET:
                grown.setdefault(one.slot, []).append(one)
        for slot, stored in grown.items():
            saves = [n for n in function.nodes if type(n) is cst.Call and self._saves(n, slot)]
            if saves:
                starts, told = (self.anatomy.points(function, each) for each in ([s.node for s in stored], saves))
                again = Again(self.anatomy, function)
                node = closed(again, starts, {*told}, told, {again.graph.raises})
                if node is not None:
                    yield TurnEnd(node, "yield", stored[0].node, saves[-1], waiting=slot)

    def _saves(self, call: cst.Call, slot: Slot) -> bool:
        """`json.dump(self.messages, file)`, `store.save(self.messages)`, `file.write(json.dumps(self.messages))`.

        Also by a method of the same object: `self.keep()`.
        """
        run = self.anatomy.facts.slots.callee(call)
        if run is not None and not self.anatomy.turns.reaches_model(call):
            return self.late.writes_out(run, {slot})
        facts, given = self.anatomy.facts, [arg.value for arg in call.args]
        made = (each for value in given for each in (value, *facts.values_of(value)))
        texts = [each for each in made if isinstance(each, cst.Call) and facts.encoder(each) is not None]
        given += [arg.value for text in texts for arg in text.args]
        if not any(facts.slots.of(value) == slot for value in given):
            return False
        return not self.anatomy.calls.asks(call) and not is_logging(call) and self.anatomy.keeps(call)

    def _loops_over(self, slot: Slot, handovers: list[cst.CSTNode]) -> list[cst.CSTNode]:
        """The loops around hand-overs that go through the list: what it holds, they store."""
        return [
            outer
            for node in handovers
            for outer in self.anatomy.module.ancestors(node)
            if isinstance(outer, cst.For) and self._is_view(outer.iter, self._views(slot))
        ]

    def _around(
        self, function: Scope, handovers: list[cst.CSTNode], stored: list[Stored], loops: list[cst.CSTNode]
    ) -> set[Point]:
        """An `if` around a hand-over is the program's own wish; so is a loop over something else."""
        module, found = self.anatomy.module, set()
        for node in handovers:
            for outer in module.ancestors(node):
                if outer is function.node:
                    break
                asked = type(outer) in _HEADERS and outer not in loops and not self.places.about_calls(outer)
                if asked and not any(module.inside(s.node, outer) for s in stored):
                    found.update(self.anatomy.flow(function).at(outer))
        return found

    def _if_longer(self, function: Scope, handovers: list[cst.CSTNode], slot: Slot) -> set[Point]:
        """The tests of the list before a hand-over: `if len(new) <= before: continue`, as nothing has come."""
        tested = {each for node in handovers for each, _ in conditions.passed(self.anatomy.module, node, function.node)}
        asked = (each for each in tested if isinstance(each, cst.If))
        about = [
            each
            for each in asked
            if any(isinstance(part, cst.Name) and self._is_of(part, self._views(slot)) for part in walk(each.test))
        ]
        return {point for each in about for point in self.anatomy.flow(function).at(each)}

    def _given_back(self, function: Scope, slot: Slot, handovers: list[cst.CSTNode]) -> set[Point]:
        """Where a caller gets the list, alone or in an object that is made of it, or some function that may keep it.

        What it is put into at a hand-over has it only there.
        """
        parent = self.anatomy.module.parent
        ways_out = [node for node in function.nodes if isinstance(node, (cst.Return, cst.Raise, cst.Yield))]
        handed = [
            node
            for node in ways_out
            for name in walk(node)
            if type(name) is cst.Name and self.anatomy.facts.slots.of(name) == slot
            if not (isinstance(parent[name], cst.Subscript) and ex.slice_of(parent[name]) is None)  # `new[-1].content`
        ]
        calls = (node for node in handovers if isinstance(node, cst.Call))
        put = [arg.value for call in calls for arg in call.args]
        return set(self.anatomy.points(function, [*handed, *self.late.given_back(function, put)]))
