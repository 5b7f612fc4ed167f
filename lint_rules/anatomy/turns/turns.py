"""Turns: where a model is asked and the history grows that outlives the function, in this file or in what it calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from functools import cached_property, partial
from itertools import chain

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import (
    body,
    declares_request,
    methods_elsewhere,
    own_class,
    run_elsewhere,
    takes_request,
)
from lint_rules.anatomy.messages.growth import SETUPS, begun_anew, grows, root_of
from lint_rules.anatomy.messages.tool_messages import hold_tool_messages
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.program.concurrency import Begun, Start, begun_elsewhere
from lint_rules.anatomy.program.serving import is_streamed
from lint_rules.anatomy.program.told import leaves_out, told_by
from lint_rules.anatomy.rounds.agent_runs import runs_any_agent
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.turns.keepers import ForeignGrowth, store_of
from lint_rules.anatomy.turns.races import Races, SharedHistory, holds_text_only
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.handed_along import handed_along
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, as_part_of, is_parameter, moved, root_object, whole_of
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, SourceModule, parameters, says_only
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk

_OTHERS = frozenset({"system", "user"})
"""The roles of what a model has not said."""
MOST_REQUESTS = 8
"""A function with more has no turn that ends in one answer."""
_MOST_NOTES = 3


@record
class Turn:
    """`function` asks a model at `asks`, and at `grows` the history in `slot` gets longer; both are nodes of it.

    `tools`: tool calls and their results are stored in the turn, so that nothing else may come between them.
    `questions`: something is stored before the model is asked; `answers`: something afterwards. `loaded`: the model is
    asked with what was loaded before. `outside`: the history lies outside of the program. `kept`: the provider, or its
    library, keeps it. `there`: where the history gets longer in the other file that runs it all; `at_one_go`: no other
    run comes between the question and the answer there, whatever is awaited around them.
    """

    function: Scope
    slot: Slot
    asks: list[cst.Call]
    grows: list[cst.CSTNode]
    tools: bool
    questions: bool = False
    answers: bool = False
    loaded: bool = False
    outside: bool = False
    kept: bool = False
    there: tuple[tuple[SourceModule, cst.CSTNode], ...] = ()
    at_one_go: bool = False

    @property
    def nodes(self) -> list[cst.CSTNode]:
        return [*self.asks, *self.grows]

    @property
    def is_open(self) -> bool:
        """Whether the model is asked with something of the turn, or of the history, that others may not change."""
        return self.questions or self.tools or self.loaded or self.kept


class Turns:
    """The turns of a file: of each function, one for each history."""

    def __init__(self, races: Races) -> None:
        self.races = races
        self.anatomy = races.anatomy
        self.graph = races.graph
        self.facts = races.facts
        self.module = races.module
        self._found: dict[Scope, list[Turn]] = {}
        self._apart: dict[Turn, bool] = {}
        self._run: dict[cst.Call, bool] = {}
        self._requests: dict[Scope, list[cst.Call]] = {}

    def of(self, function: Scope) -> list[Turn]:
        """The turns that a function runs, but for those of which it only calls a function that runs them."""
        return [turn for turn in self.led_to(function) if not self._only_calls(turn)]

    def led_to(self, function: Scope) -> list[Turn]:
        """The turns that a function runs, or comes to by a call of another that runs them."""
        if function not in self._found:
            asked = function.kind in {"function", "lambda"}
            self._found[function] = self._find(function) if asked else []
        return self._found[function]

    def _find(self, function: Scope) -> list[Turn]:
        calls = function.nodes_of(cst.Call)
        lasting = self.races.histories
        written = (write for history in lasting for write in history.writes if write.function is function)
        put = [write.node for write in written if grows(self.anatomy, write)]
        asks = [call for call in calls if self.asks(call) or self._is_answered_by(call, put)] if lasting else []
        foreign = [turn for call in calls if (turn := self._foreign(call, function)) is not None]
        turns = []
        for history in self.races.histories if asks else ():
            grown = self._grown_in(function, history)
            if grown:
                tools = self._stores_results(function, history)
                before, after = self._around(function, asks, grown)
                whole = any(g.answered for g in self._foreign_growths(history) if g.write.node in grown)
                whole = whole or any(self._loads_and_tells(function, ask, history.slot) for ask in asks if ask in grown)
                answers = after and not whole and any(map(self._may_be_answer, grown))
                loaded = not before and answers and self._is_asked_with(function, history.slot, asks)
                turns.append(
                    Turn(function, history.slot, asks, grown, tools, before or whole, after or whole, loaded=loaded)
                )
        known = {turn.slot for turn in turns}
        kept = [turn for turn in self._kept_elsewhere(function) if turn.slot not in known]
        found = [*turns, *self._emptied(function), *foreign, *kept]
        told = {ask for turn in found if turn.is_open for ask in turn.asks}
        return [*found, *(turn for turn in self._stored(function) if told.isdisjoint(turn.asks))]

    def _loads_and_tells(self, function: Scope, ask: cst.Call, place: Slot) -> bool:
        """Whether a call gets what was read of a history, and stores a question and its answer there."""
        stored = self.anatomy.transcript.at(ask)
        roles = {one.role for one in stored if one.slot is not None and self.anatomy.aliases.of(one.slot) == place}
        return {"user", "assistant"} <= roles and self._is_asked_with(function, place, [ask], within=True)

    def _may_be_answer(self, grown: cst.CSTNode) -> bool:
        """Whether what is put into a history is not said to be a rule, or somebody's words."""
        return not any(one.role in _OTHERS for one in self.anatomy.transcript.at(grown))

    def _is_answered_by(self, call: cst.Call, put: list[cst.CSTNode]) -> bool:
        """Whether what another file's model gives is put into a history that lasts, whatever it is asked with."""
        others = [node for node in put if node is not call]
        if not any(map(self._may_be_answer, others)) or not self._runs_asker(call):
            return False
        return holds(others, call, ReplyPlaces(self.anatomy).derived(self.module.scope_of[call].function, call))

    def _stored(self, function: Scope) -> Iterator[Turn]:
        """`history = store.get(key)`, `store.add(key, ask(history))`, of whatever store; or what the provider keeps."""
        for kept in self.anatomy.stored_turns.of(function):
            if kept.whole is None or (kept.outside and kept.question):
                here, by, before = kept.outside, kept.load is None, kept.question
                yield Turn(function, kept.slot, [kept.ask], kept.saves, False, before, True, not before, here, by)

    def _only_calls(self, turn: Turn) -> bool:
        """Whether the function only leads to one that runs the turn: no model is asked in it otherwise.

        A turn is more than the part of it that a lock there keeps whole.
        """
        callees = [self.facts.slots.callee(call) or self._handed(call) for call in turn.asks]
        alone = all(any(self.module.inside(ask, node) for ask in turn.asks) for node in turn.grows)
        return bool(callees) and all(
            callee is not None
            and callee is not turn.function
            and any(
                inner.slot == turn.slot and ((inner.is_open or not turn.is_open) if alone else not self.is_apart(inner))
                for inner in self.led_to(callee)
            )
            for callee in callees
        )

    def _handed(self, call: cst.Call) -> Scope | None:
        """The function of this file that a call is handed, which asks a model: `queue.add(key, answer)`."""
        handed = (self.facts.slots.function(arg.value) for arg in call.args)
        return next((each for each in handed if each is not None and self.graph.reaches_llm(each)), None)

    # -- asking -----------------------------------------------------------------------------------------------

    def asks(self, call: cst.Call) -> bool:
        """Whether a call asks a model, also in a function of another file of the project."""
        callee = self.facts.slots.callee(call)
        return self.graph.asks(call) or self._asks_elsewhere(call) or (callee is not None and callee in self._askers)

    def reaches_model(self, call: cst.Call) -> bool:
        """Whether a call asks a model, here or in another file, whatever it is handed."""
        callee = self.facts.slots.callee(call)
        asks = call in self.facts.calls or self._runs_asker(call) or runs_any_agent(self.anatomy, call)
        return asks or (callee is not None and self.runs_model(callee))

    def runs_model(self, function: Scope) -> bool:
        """Whether a function asks a model, here or in a file that this one imports.

        So does one that a base class only declares, with the parameters of a request: what takes its place asks.
        """
        return self.graph.reaches_llm(function) or function in self._reaching or declares_request(function)

    def is_asker(self, function: Scope) -> bool:
        """Whether a function asks a model, here or in a file that this one imports, and not by what a library runs."""
        return self.graph.reaches_llm(function) or function in self._asking_elsewhere

    @cached_property
    def _asking_elsewhere(self) -> set[Scope]:
        """The functions that run one of another file which asks a model."""
        calls, scopes = self.module.nodes_of(cst.Call), self.module.scope_of
        direct = self.graph.with_callers(scopes[call].function for call in calls if self._runs_elsewhere(call))
        awaiting = (scopes[call].function for call in calls if self._awaits_asker(call, direct))
        return direct | self.graph.with_callers(awaiting)

    @cached_property
    def _reaching(self) -> set[Scope]:
        """The same, and those that run an agent of a library."""
        calls, scopes = self.module.nodes_of(cst.Call), self.module.scope_of
        running = (scopes[call].function for call in calls if runs_any_agent(self.anatomy, call))
        return self._asking_elsewhere | self.graph.with_callers(running)

    def requests(self, function: Scope) -> list[cst.Call]:
        """The calls of a function that ask a model, here or in another file."""
        if function not in self._requests:
            self._requests[function] = [call for call in function.nodes_of(cst.Call) if self.reaches_model(call)]
        return self._requests[function]

    def may_fail(self, request: cst.Call) -> bool:
        """Whether the error of a request may leave what a call runs for it: not where a handler there takes all.

        The body in this project tells; what is not at hand may fail.
        """
        found = body(self.anatomy, request)
        return found is None or found[0].turns.fails_out(found[1])

    def escapes(self, request: cst.Call) -> bool:
        """Whether a request may fail, and no handler around it takes the errors of its library and raises none.

        One beside a handler that raises all others takes but some of them.
        """
        guards = [guard.handlers for guard in exceptions.guards(self.module, request)]
        raising = {each for handlers in guards for each in handlers if any(nodes_below(each.body, cst.Raise))}
        others = {each for each in raising if exceptions.CATCH_ALL & exceptions.caught(each)}
        takes = ({*handlers} - raising for handlers in guards if others.isdisjoint(handlers))
        roots = (part for each in chain(*takes) if each.type for part in walk(each.type) if isinstance(part, cst.Name))
        return self.may_fail(request) and not any(part.value in self.module.imports.full for part in roots)

    @once(circular=True)
    def fails_out(self, function: Scope) -> bool:
        """Whether the error of a request that a function of this file makes may leave it."""
        requests = self.requests(function)
        return not requests or self._fails_out(function, requests)

    def fails_behind(self, function: Scope, node: cst.CSTNode) -> bool:
        """Whether the error of a request that comes behind a node of a function may leave it."""
        asks = [ask for ask in self.requests(function) if self.anatomy.leads(function, [node], [ask])]
        return self._fails_out(function, asks)

    def _fails_out(self, function: Scope, requests: list[cst.Call]) -> bool:
        graph = self.anatomy.flow(function)
        places = self.anatomy.points(function, [ask for ask in requests if self.escapes(ask)])
        failed = [target for point in places for target, kind in point.successors if kind in {"exception", "raise"}]
        return graph.raises in failed or graph.reaches(failed, graph.raises, exceptions=False)

    def _asks_elsewhere(self, call: cst.Call) -> bool:
        """`complete(messages)`, `self.model.complete(messages)` of another file, by what that does."""
        if call in self.facts.calls or not self._runs_asker(call):
            return False
        return self._is_given_history(call) or self._hands_request(call)

    def _runs_asker(self, call: cst.Call) -> bool:
        """Whether what a call runs in another file asks a model."""
        return self._runs_elsewhere(call) or self._awaits_asker(call, self._reaching)

    def _runs_elsewhere(self, call: cst.Call) -> bool:
        if call not in self._run:
            found = run_elsewhere(self.anatomy, call, asking=True)
            self._run[call] = found is not None and found[0].turns.runs_model(found[1])
        return self._run[call]

    def _awaits_asker(self, call: cst.Call, asking: Container[Scope]) -> bool:
        """`await to_thread(lambda: ask(history))`: what is handed on asks, and is waited for."""
        if not isinstance(self.module.parent[call], cst.Await):
            return False
        handed = (arg.value for arg in call.args)
        runs = (
            self.module.scope_of[value.body].function
            if isinstance(value, cst.Lambda)
            else self.facts.slots.function(value)
            for value in handed
            if isinstance(value, (cst.Lambda, cst.Name, cst.Attribute))
        )
        return any(run is not None and (self.graph.reaches_llm(run) or run in asking) for run in runs)

    def _hands_request(self, call: cst.Call) -> bool:
        """Whether what a call runs takes the parts of a request: its messages, whatever they are here."""
        found = run_elsewhere(self.anatomy, call, asking=True)
        return found is not None and takes_request(found[1])

    def _is_given_history(self, call: cst.Call) -> bool:
        """Whether a call is handed a history, a request that holds one, or a function that makes one longer."""
        if any(growth.write.node is call for growth in self.races.foreign_growths):
            return True
        for arg in call.args:
            slot = self.facts.slots.of(arg.value)
            if self._is_grown_elsewhere(slot):
                return True
            made = [value for value in self.facts.assigned(slot) if type(value) is cst.Dict] if slot is not None else []
            for part in (part for value in (arg.value, *made) for part in walk(value)):
                if type(part) is cst.Name or type(part) is cst.Attribute:
                    if Kind.HISTORY in self.facts.kinds(part):
                        return True
                    function = self.facts.slots.function(part)
                    if function is not None and function in self._all_growers:
                        return True
        return False

    def _is_grown_elsewhere(self, slot: Slot | None) -> bool:
        """Whether a history lives in a slot, or in a part of it, by what functions of other files do with it."""
        if slot is None or not self.races.foreign_growths:
            return False
        place = self.anatomy.aliases.of(slot)
        return any(place in whole_of(growth.write.slot) for growth in self.races.foreign_growths)

    @cached_property
    def _all_growers(self) -> set[Scope]:
        return {function for functions in self._growers.values() for function in functions}

    @cached_property
    def _askers(self) -> set[Scope]:
        """The functions that reach a model through another file."""
        asking = (call for call in self.module.nodes_of(cst.Call) if self._asks_elsewhere(call))
        return self.graph.with_callers(self.module.scope_of[call].function for call in asking)

    # -- growing ----------------------------------------------------------------------------------------------

    @cached_property
    def _growers(self) -> dict[Slot, set[Scope]]:
        """The functions that make each history longer, themselves or in what they run."""
        return {
            history.slot: self.graph.may_come_to(w.function for w in history.writes if grows(self.anatomy, w))
            for history in self.races.histories
        }

    def _grown_in(self, function: Scope, history: SharedHistory) -> list[cst.CSTNode]:
        direct = [w.node for w in history.writes if w.function is function and grows(self.anatomy, w)]
        growers = self._growers.get(history.slot, set())
        if function not in growers:
            return []
        through = [n for n in function.nodes if type(n) is cst.Call and self._runs_one_of(n, growers)]
        return [*direct, *through]

    def _runs_one_of(self, call: cst.Call, functions: set[Scope]) -> bool:
        """Whether a call runs one of the functions, or hands one on (`on_message=self._keep`)."""
        if self.facts.slots.callee(call) in functions:
            return True
        return any(
            isinstance(n, (cst.Name, cst.Attribute)) and self.facts.slots.function(n) in functions
            for arg in call.args
            for n in walk(arg.value)
        )

    def _stores_results(self, function: Scope, history: SharedHistory) -> bool:
        reach = self.graph.may_run(function)
        loops = (loop for loop in self.anatomy.rounds if loop.function in reach)
        rounds = any(not self._keeps_to_itself(loop, history) for loop in loops)
        if any(growth.tools for growth in self._foreign_growths(history)):
            return True
        if holds_text_only(self.anatomy, history):
            return False
        return rounds or hold_tool_messages(self.anatomy, history.writes)

    def _keeps_to_itself(self, loop: RoundLoop, history: SharedHistory) -> bool:
        """Whether what rounds store lies in a list that their function makes, of which nothing goes to the history.

        Only the answer is stored there, when they have ended.
        """
        sending = (loop.asks, *self.graph.in_lambdas(loop.asks))
        given = (arg.value for call in sending for arg in call.args if self.anatomy.is_history(arg.value))
        asked = {self.anatomy.aliases.of(slot) for value in given if (slot := self.facts.slots.of(value)) is not None}
        own = {slot for slot in asked if slot[:2] == ("var", loop.function) and not is_parameter(slot)}
        if not own or own != asked:
            return False
        run = {site.callee for site in self.graph.calls[loop.function] if self._goes_on_with(loop, site.node)}
        inner = {function for callee in run for function in self.graph.reachable(callee)}
        return not any(
            write.function in inner or self._goes_on_with(loop, write.node) or self._takes(write.node, own)
            for write in history.writes
        )

    def _goes_on_with(self, loop: RoundLoop, node: cst.CSTNode) -> bool:
        """Whether rounds do something, write to a history, and go on: not where they end with it."""
        return self.module.inside(node, loop.node) and self.anatomy.leads(loop.function, [node], [loop.asks])

    def _takes(self, node: cst.CSTNode, lists: set[Slot]) -> bool:
        """Whether a node reads one of some local lists, or what is made of one, but by a model."""
        queue, seen = [node], set[Slot]()
        for here in queue:
            names = [n for n in walk(here) if isinstance(n, cst.Name)]
            asks = [n for n in walk(here) if isinstance(n, cst.Call) and self.reaches_model(n)]
            names = [n for n in names if not any(self.module.inside(n, ask) for ask in asks)]
            found = {slot for n in names if (slot := self.facts.slots.of(n)) is not None} - seen
            if not lists.isdisjoint(found):
                return True
            seen |= found
            queue += [value for slot in found if slot[0] == "var" for value in self.facts.assigned(slot)]
        return False

    def _is_asked_with(self, function: Scope, place: Slot, asks: list[cst.Call], *, within: bool = False) -> bool:
        """Whether the model is asked with what a function reads of a history; `within`: also in the call itself."""
        of, aliases = self.facts.slots.of, self.anatomy.aliases
        kinds = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)
        read_places = (node for node in function.nodes if isinstance(node, kinds))
        reads = [n for n in read_places if (slot := of(n)) is not None and aliases.of(slot) == place]
        reads += [n for n in function.nodes_of(cst.Call) if n not in asks and self._is_read_in(n, place)]
        places = ReplyPlaces(self.anatomy)
        return any(
            holds([arg.value for arg in ask.args], read, places.derived(function, read, grown=True, until=ask))
            for ask in asks
            for read in reads
            if self.module.before(read, ask) or (within and self.module.inside(read, ask))
        )

    def _is_read_in(self, call: cst.Call, place: Slot) -> bool:
        """Whether what a call gives back is made by a function that reads a history, or by the object that keeps it."""
        callee, aliases = self.facts.slots.callee(call), self.anatomy.aliases
        store = store_of(self.anatomy, call, self.module.scope_of[call].function) if callee is None else None
        if store is not None and not store.grows and store.slot == place:
            return True
        places = callee.nodes_of(cst.Name, cst.Attribute, cst.Subscript, cst.Call) if callee is not None else []
        return not self.module.is_statement(call) and any(
            (slot := self.facts.slots.of(node)) is not None and aliases.of(slot) == place
            for node in places
            if isinstance(node, cst.BaseExpression)
        )

    def _foreign_growths(self, history: SharedHistory) -> list[ForeignGrowth]:
        return [growth for growth in self.races.foreign_growths if growth.write.slot == history.slot]

    def _around(self, function: Scope, asks: list[cst.Call], grown: list[cst.CSTNode]) -> tuple[bool, bool]:
        """Whether the history grows before the model is asked, and afterwards; of what is answered, before that."""
        alone, leads = [node for node in grown if node not in asks], self.anatomy.leads
        answered = [ask for ask in asks if leads(function, [ask], alone)]
        flow, goals = self.anatomy.flow(function), self.anatomy.points(function, answered or asks)
        before = any(flow.reaches(self.anatomy.points(function, [n]), goals, exceptions=False) for n in alone)
        return before, bool(answered)

    # -- objects of other files --------------------------------------------------------------------------------

    def _foreign(self, call: cst.Call, function: Scope) -> Turn | None:
        """`assistant.chat(text)`, `reply(key, text)`, where another file keeps the conversation."""
        if self.facts.slots.callee(call) is not None:
            return None
        found = self.anatomy.imported_function(ex.dotted(call.func) or "", asking=True)
        if found is not None:
            places = [(turn, _global_place(*found, turn.slot)) for turn in found[0].turns.open_in(found[1], call)]
            shared = [(turn, place) for turn, place in places if place is not None]
            turns = [turn for turn, _ in shared]
            slowly = self._is_read_slowly(call, function, found[1])
            return _led_by(call, function, shared[0][1], turns, *found, slowly=slowly) if shared else None
        for there, method in methods_elsewhere(self.anatomy, call, asking=True):
            called = method.name == "__call__" and ex.called_name(call) != method.name
            base = call.func if called else ex.receiver(call)
            turns = there.turns.open_in(method, call)
            slot = self._place_of(turns[0], there, method, call, base) if turns else None
            slot = slot or (next(self._given_here(turns, base, function), None) if base is not None else None)
            if slot is not None:
                slowly = self._is_read_slowly(call, function, method)
                return _led_by(call, function, slot, turns, there, method, slowly=slowly)
        return None

    def _place_of(
        self, turn: Turn, there: Anatomy, method: Scope, call: cst.Call, base: cst.BaseExpression | None
    ) -> Slot | None:
        """Where the history of a turn that a call runs in another file lives here; None where it ends with the run."""
        function, given = self.module.scope_of[call].function, there.turns.as_given(method, turn.slot)
        root = root_object(given)
        if root[0] != "var" or not is_parameter(root):
            return self._seen_here(given, base, function) if base is not None else None
        handed = dict(there.facts.slots.bindings(call, method)).get(root)
        slot = self.anatomy.aliases.given(handed) if handed is not None else None
        place = self.anatomy.aliases.of(slot) if slot is not None else None
        lasts = place is not None and self.anatomy.aliases.is_lasting(place, function)
        kept = lasts or (place is not None and is_parameter(root_object(place)))
        return moved(given, root, place) if kept and place is not None else None

    def as_given(self, function: Scope, slot: Slot) -> Slot:
        """A history that a function of this file comes to, as a part of what that is given, if it is: by all calls."""
        reach, root = self.anatomy.unguarded.reach(function, None), root_object(slot)
        for _ in reach:
            sites = [site for site in self.graph.sites[root[1]] if site.caller in reach] if is_parameter(root) else []
            bound = (dict(self.facts.slots.bindings(site.node, root[1])).get(root) for site in sites)
            places = {self.facts.slots.of(value) for value in bound}
            place = places.pop() if root[1] is not function and len(places) == 1 else None
            if place is None:
                break
            slot, root = moved(slot, root, place), root_object(place)
        return slot

    def begun_there(self, begun: Begun) -> tuple[Scope, Turn] | None:
        """The function of another file that a thread or task runs again and again, each beside the last, and its turn.

        The history is one for all of them: also a list that goes along.
        """
        where, unguarded = self.module.scope_of[begun.node].function, self.anatomy.unguarded
        found = self.anatomy.storage.callee(begun.target) if not self._is_called(begun.target) else None
        if found is None or found[0] is self.anatomy or unguarded.is_waited_for(begun):
            return None
        turns = found[0].turns
        places = [(turn, self._begun_with(found, turn, begun)) for turn in turns.open_in(found[1])]
        shared = [(turn, place) for turn, place in places if place is not None]
        shared = [(turn, place) for turn, place in shared if begun.kind == "thread" or turns.gives_way(turn)]
        shared = [(turn, place) for turn, place in shared if not turns.has_new_key(turn)]
        listed = [turn for turn, _ in shared]
        whole = are_answered(listed) or any(turn.tools or turn.loaded for turn in listed)
        if not whole or not unguarded.is_begun_again(begun):
            return None
        return found[1], _led_by(begun.node, where, shared[0][1], listed, *found)

    def _is_called(self, target: cst.BaseExpression) -> bool:
        """`create_task(answer(key))`: the call runs the turn."""
        call = self.module.parent[target]
        return isinstance(call, cst.Call) and call.func is target

    def _begun_with(self, found: tuple[Anatomy, Scope], turn: Turn, begun: Begun) -> Slot | None:
        """Where the history of a turn lives that is begun here; None where it is no other run's."""
        (there, function), root = found, root_object(turn.slot)
        where, along = self.module.scope_of[begun.node].function, handed_along(begun.node)
        given = dict(there.facts.slots.bound(along[1], function)) if along is not None else {}
        if turn.outside or (root[0] == "var" and root[1].kind == "module"):
            return turn.slot
        if root in given:
            place = self.anatomy.aliases.lasting_at(given[root], where)
            return moved(turn.slot, root, place) if place is not None else None
        if isinstance(begun.target, cst.Attribute) and root[0] == "attr":
            return self._seen_here(turn.slot, begun.target.value, where)
        return None

    def _seen_here(self, kept: Slot, base: cst.BaseExpression, function: Scope) -> Slot | None:
        """A history of an object of another file, as this one has it; None where the object ends with the run."""
        cls = own_class(self.anatomy, base)
        if cls is not None and cls is function.owner:
            return self._inherited(kept, cls)
        slot = self.anatomy.aliases.given(base)
        place = self.anatomy.aliases.of(slot) if slot is not None else None
        if place is None or not self.anatomy.aliases.is_lasting(place, function):
            return None
        return as_part_of(kept, place) if cls is None else self._inherited(kept, cls)

    def _given_here(self, turns: list[Turn], base: cst.BaseExpression, function: Scope) -> Iterator[Slot]:
        """Histories that an object of another file, which ends with the run, was given of what others have, too."""
        places = dict(self.races.ownership.shared_parts(base, function)) if turns else {}
        for turn in turns:
            root = root_object(turn.slot)
            if root in places:
                yield moved(turn.slot, root, places[root])

    def _inherited(self, kept: Slot, cls: Scope) -> Slot:
        """A history of a base class in another file, as one of the class here."""
        if kept[0] in {"member", "item"}:
            return (kept[0], self._inherited(kept[1], cls), *kept[2:])
        return self.facts.slots.attribute(cls, kept[2]) if kept[0] == "attr" else kept

    def _kept_elsewhere(self, function: Scope) -> list[Turn]:
        """`memory.add(key, question)`, `ask(memory.get(key))`, `memory.add(key, answer)` of another file.

        Or `self.rounds(memory.get(key), memory)`, where what is called stores what it is asked and what it answers.
        """
        calls = function.nodes_of(cst.Call)
        bases = Counter(filter(None, map(_base_name, calls)))
        told = [one for one in self.anatomy.kept_elsewhere.of(function) if self._runs_here(one.node)]
        roots = {one.slot[1] for one in told if one.slot is not None and one.slot[0] == "member"}
        often = [call for call in calls if bases[_base_name(call) or ""] > 1 or self._is_of_one(call, roots)]
        stores = {call: store_of(self.anatomy, call, function) for call in often}
        turns = []
        for part in dict.fromkeys(store.slot for store in stores.values() if store is not None):
            here = {call: store for call, store in stores.items() if store is not None and store.slot == part}
            within = {
                one.node: {each.role for each in told if each.node is one.node} for one in told if one.slot == part
            }
            grown: list[cst.CSTNode] = [*(call for call, store in here.items() if store.grows), *within]
            reads = {call for call, store in here.items() if not store.grows}
            asks = [call for call in calls if call not in here and self._is_given_one(call, reads)]
            asks = [call for call in asks if self.graph.asks(call) or self._runs_asker(call) or call in within]
            if grown and asks:
                before, after = self._around(function, asks, grown)
                whole = any({"user", "assistant"} <= within.get(ask, set()) for ask in asks)
                tools = any(here[call].tools for call in here)
                turns.append(Turn(function, part, asks, grown, tools, before or whole, after or whole))
        return turns

    def _runs_here(self, node: cst.CSTNode) -> bool:
        """Whether a call runs a function of this file that asks a model."""
        callee = self.facts.slots.callee(node)
        return callee is not None and self.runs_model(callee)

    def _is_of_one(self, call: cst.Call, places: Container[Slot]) -> bool:
        """Whether a call is one of a method of an object that lives in one of some places."""
        slot = self.facts.slots.of(ex.receiver(call))
        return slot is not None and self.anatomy.aliases.of(slot) in places

    def _is_given_one(self, call: cst.Call, reads: set[cst.Call]) -> bool:
        """Whether a call is handed what one of `reads` gave back, or what is made of that."""
        function, places = self.module.scope_of[call].function, ReplyPlaces(self.anatomy)
        given = [arg.value for arg in call.args]
        return any(holds(given, read, places.derived(function, read, grown=True, until=call)) for read in reads)

    def open_in(self, function: Scope, call: cst.Call | None = None) -> list[Turn]:
        """The turns on a lasting history that running a function comes to, and that nothing there keeps apart.

        Without those that the constants of a `call` leave out.
        """
        reach = self.anatomy.unguarded.reach(function, None)
        return [
            turn
            for here in reach
            for turn in self.of(here)
            if root_object(turn.slot)[0] in {"var", "attr"}
            and not self.is_apart(turn)
            and not self.begins(turn, function)
            and not (call is not None and self.leaves_out(call, function, turn))
        ]

    def leaves_out(self, call: cst.Call, function: Scope, turn: Turn) -> bool:
        """Whether a call of a function tells it by a constant to run no such turn: `chat(text, remember=False)`."""
        told = told_by(self.anatomy, call, function)
        if not told:
            return False
        sites = self.graph.calls[function]
        if turn.function is function:
            root = root_object(turn.slot)
            nodes = self._mentions(function, root)
            nodes += [site.node for site in sites if self._mentions(site.callee, root)]
        else:
            nodes = [site.node for site in sites if turn.function in self.graph.reachable(site.callee)]
        return leaves_out(self.anatomy, function, told, nodes)

    def _mentions(self, function: Scope, slot: Slot) -> list[cst.CSTNode]:
        names = (node for node in function.nodes if isinstance(node, (cst.Name, cst.Attribute)))
        return [node for node in names if self.facts.slots.of(node) == slot]

    def are_seen_in(self, run: cst.Call | Begun) -> bool:
        """Whether turns are seen in what is run in another file: what is asked there, and of what."""
        if isinstance(run, cst.Call):
            where = self.module.scope_of[run].function
            led = [turn for turn in self.led_to(where) if turn.asks == [run]]
            lasting = [turn for turn in led if self.anatomy.aliases.is_lasting(turn.slot, where)]
            if any(turn.tools or turn.loaded or are_answered([turn]) for turn in lasting):
                return True
            found = run_elsewhere(self.anatomy, run, asking=True)
        else:
            found = self.anatomy.storage.callee(run.target)
        turns = found[0].turns.open_in(found[1]) if found is not None else []
        roots = ((turn, root_object(turn.slot)) for turn in turns)
        return any(turn.outside or root[0] == "attr" or root[1].kind == "module" for turn, root in roots)

    def are_told_by(self, start: Start) -> bool:
        """Whether the file that calls a function of this one shows its turns: it sees what is asked, and of what."""
        return start.caller is not None and not start.caller.own and start.caller.passing.told

    # -- what keeps turns apart --------------------------------------------------------------------------------

    def begins(self, turn: Turn, entry: Scope) -> bool:
        """Whether each run begins with a new history: then it is the run's state on a shared object (AGL104)."""
        writes = self.anatomy.writes.by_slot.get(turn.slot, [])
        grown = [w for w in writes if grows(self.anatomy, w) and w.function.name not in SETUPS]
        return bool(grown) and all(
            any(begun_anew(self.anatomy, turn.slot, write, first) for first in (turn.function, entry))
            for write in grown
        )

    def has_new_key(self, turn: Turn) -> bool:
        """Whether a turn tells what it calls a key that is made for it."""
        return all(isinstance(node, cst.Call) and self.races.ownership.has_new_key(node) for node in turn.grows)

    def is_apart(self, turn: Turn) -> bool:
        """Whether a lock or a flag of its own keeps a turn apart, from the question to the last result."""
        if turn not in self._apart:
            self._apart[turn] = self._guards_itself(turn)
        return self._apart[turn]

    def _guards_itself(self, turn: Turn) -> bool:
        """One lock from the question to the last result, or a flag; a lock that ends before the results is none."""
        locks, function = self.races.locks, turn.function
        if locks.at_entry(function) or all(self.races.flags.guard(ask, function) for ask in turn.asks):
            return True
        if not all(self.anatomy.unguarded.guarding(ask, function) for ask in turn.asks):
            return False
        regions = [locks.region(ask, function) for ask in turn.asks]
        if any(region is None for region in regions):
            return True  # taken by hand or by a decorator
        return not any(
            self.anatomy.leads(function, turn.asks, [node])
            and not any(region is not None and self.module.inside(node, region) for region in regions)
            for node in turn.grows
        )

    def gives_way(self, turn: Turn) -> bool:
        """On an event loop: whether something is awaited within the turn, so that others run meanwhile."""
        if not turn.function.is_async or turn.at_one_go:
            return False
        parent, flow = self.module.parent, self.anatomy.flow(turn.function)
        if len(set(turn.nodes)) == 1:  # a call of another file that runs it all
            names = ReplyPlaces(self.anatomy).derived(turn.function, turn.nodes[0])
            awaited = [wait.expression for wait in turn.function.nodes_of(cst.Await)]
            awaited += [loop.iter for loop in turn.function.nodes_of(cst.For) if loop.asynchronous is not None]
            call = turn.nodes[0]
            over = self._is_over_at_once(call) or self._is_plain(call, awaited)
            waited = (holds(awaited, call, names) and not over) or call in self._begun_as_tasks
            return (waited and self.lets_go(call)) or self._is_streamed(call) or self._is_read_in_pieces(call, names)
        inside = [p for node in turn.nodes for p in flow.enclosing(node, parent)]
        answers = {p for node in self._answers_of(turn) for p in flow.enclosing(node, parent)}
        begun = [p for p in inside if p not in answers]
        for node in turn.function.nodes:
            if isinstance(node, (cst.Await, cst.Yield)) or getattr(node, "asynchronous", None) is not None:
                at = flow.enclosing(node, parent)
                within = any(p in inside for p in at) and len(inside) > 1
                if within or (flow.reaches(begun, at, answers) and flow.reaches(at, inside)):
                    if self._lets_others(node, turn.function):
                        return True
        return False

    def _lets_others(self, node: cst.CSTNode, function: Scope) -> bool:
        """Whether others may run at an `await`, an `async for`, or a `yield` of a function."""
        if isinstance(node, (cst.Await, cst.For, cst.CompFor)):
            return self.lets_go(node.expression if isinstance(node, cst.Await) else node.iter)
        return not isinstance(node, cst.Yield) or self._waits_for_more(function)

    @once(circular=False)
    def _waits_for_more(self, generator: Scope) -> bool:
        """Whether who reads an asynchronous generator in this file may wait for something before the next piece.

        Who reads it in another one tells there.
        """
        handed = not generator.is_async or bool(self.graph.references[generator])
        return handed or any(map(self._reads_slowly, self.graph.sites[generator]))

    def _is_read_slowly(self, call: cst.Call, function: Scope, run: Scope) -> bool:
        return run.is_generator and self._reads_slowly(CallSite(call, function, run))

    def _reads_slowly(self, site: CallSite) -> bool:
        """Whether who reads a generator may wait: not a server that writes each piece to the wire.

        Of those of the table, only `EventSourceResponse` takes a lock for that.
        """
        outer = self.module.parent[site.node]
        if isinstance(outer, cst.For):
            ends = self.module.nodes_inside(outer.body, site.caller, cst.Await, cst.Yield)
            return any(self._lets_others(end, site.caller) for end in ends)
        response = self.module.parent[outer] if is_streamed(self.module, site.node) else None
        return not isinstance(response, cst.Call) or ex.called_name(response) != "StreamingResponse"

    def _answers_of(self, turn: Turn) -> list[cst.CSTNode]:
        """Where the answer is stored with which a turn of words is over: what comes behind is more of the same."""
        leads, asks = partial(self.anatomy.leads, turn.function), [*turn.asks]
        alone = [node for node in turn.grows if node not in turn.asks and not turn.tools]
        return [node for node in alone if leads(asks, [node]) and not leads([node], asks)]

    def _is_over_at_once(self, call: cst.CSTNode) -> bool:
        """Whether what a call of another file runs is done when it has given something, which is no coroutine.

        What goes on to be awaited with that comes behind the turn: `await send(agent.chat(text))`.
        """
        found = run_elsewhere(self.anatomy, call) if isinstance(call, cst.Call) else None
        plain = found is not None and not found[1].is_async and not found[1].is_generator
        return plain and not isinstance(self.module.parent[call], cst.Await)

    def _is_plain(self, call: cst.CSTNode, awaited: Iterable[cst.BaseExpression]) -> bool:
        """Whether what a call gives is no coroutine, for parts of it are read: `said = run(text)`, `said["text"]`.

        It is over when it has given that; not of a stream, of which a method is awaited.
        """
        function, outer = self.module.scope_of[call].function, self.module.parent[call]
        slot = self.facts.slots.of(ex.targets(outer)[0]) if isinstance(outer, cst.Assign) else None
        reads = [call] if slot is None else self.anatomy.readers(function, slot).get(outer, [])
        outers = [
            part for part in map(self.module.parent.get, reads) if isinstance(part, cst.Attribute | cst.Subscript)
        ]
        read = (part for part in outers if not isinstance(self.module.parent[part], cst.Call))
        return any(read) and {_head(each) for each in awaited}.isdisjoint(reads)

    def _is_read_in_pieces(self, call: cst.CSTNode, names: set[str]) -> bool:
        """Whether a generator of another file is read bit by bit, and others run between two of its pieces."""
        found = run_elsewhere(self.anatomy, call) if isinstance(call, cst.Call) else None
        if found is None or not found[1].is_generator:
            return False
        function = self.module.scope_of[call].function
        loops = (loop for loop in function.nodes_of(cst.For) if holds([loop.iter], call, names))
        return any(
            isinstance(node, cst.Yield) or (isinstance(node, cst.Await) and self.lets_go(node.expression))
            for loop in loops
            for node in self.module.nodes_inside(loop.body, function, cst.Await, cst.Yield)
        )

    def lets_go(self, awaited: cst.CSTNode) -> bool:
        """Whether the event loop may go on while something is awaited: not a coroutine that never waits itself."""
        call = ex.inner(awaited) if isinstance(awaited, cst.BaseExpression) else awaited
        found = body(self.anatomy, call)
        return found is None or found[0].turns.pauses(found[1])

    @once(circular=True)
    def pauses(self, function: Scope) -> bool:
        """Whether the event loop may go on while a function runs; of what only says what it is for, others decide."""
        if not function.is_async or says_only(function) or self.module.fills_in(function):
            return True
        waits = (wait.expression if isinstance(wait, cst.Await) else wait for wait in function.waits)
        return any(map(self.lets_go, waits))

    def _is_streamed(self, call: cst.CSTNode) -> bool:
        """Whether a generator of another file is read by the server, when the handler is over."""
        if not isinstance(call, cst.Call) or not is_streamed(self.module, call):
            return False
        found = run_elsewhere(self.anatomy, call)
        return found is not None and found[1].is_generator

    @cached_property
    def _begun_as_tasks(self) -> set[cst.CSTNode]:
        """The calls of coroutines of other files that tasks run, several at once: `create_task(answer(key))`."""
        tasks = [each for each, _ in begun_elsewhere(self.anatomy) if each.kind == "task"]
        begun = [each for each in tasks if self.anatomy.unguarded.is_begun_again(each)]
        return {self.module.parent[each.target] for each in begun}

    def _emptied(self, function: Scope) -> list[Turn]:
        """`agent.messages = []` and then `agent.chat(text)`: a turn on somebody else's object."""
        turns = []
        for call in function.nodes_of(cst.Call):
            base = ex.receiver(call) if ex.called_name(call) in words.ASKING else None
            slot = self.facts.slots.of(base)
            for write in self.anatomy.writes.by_function[function] if slot is not None else ():
                if write.slot[0] == "member" and write.slot[1] == slot and write.kind == "rebind":
                    turns.append(Turn(function, write.slot, [call], [write.node], False))
                    break
        return turns


def are_answered(turns: Iterable[Turn]) -> bool:
    """Whether a question and its answer are stored in turns that run together, each maybe in a function of its own."""
    listed = list(turns)
    return any(turn.questions for turn in listed) and any(turn.answers for turn in listed)


def _led_by(
    call: cst.Call, where: Scope, slot: Slot, turns: list[Turn], there: Anatomy, run: Scope, *, slowly: bool = False
) -> Turn:
    """The turn that a call runs in another file, where `run` comes to some; `slowly`: what it gives is read so."""
    both, threads = are_answered(turns), there.unguarded.reach(run, None)
    return Turn(
        where,
        slot,
        [call],
        [call],
        any(turn.tools for turn in turns),
        both,
        both,
        loaded=any(turn.loaded for turn in turns) and not both,
        outside=turns[0].outside,
        kept=all(turn.kept for turn in turns),
        there=tuple((there.module, node) for turn in turns for node in turn.grows)[:_MOST_NOTES],
        at_one_go=run.is_async
        and not slowly
        and not any(threads.get(t.function) or there.turns.gives_way(t) for t in turns),
    )


def _head(node: cst.BaseExpression) -> cst.BaseExpression:
    """`run` of `run.events()["text"]`: what a chain of calls and parts begins with."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node


def _global_place(there: Anatomy, entry: Scope, slot: Slot) -> Slot | None:
    """Where a history lives that a plain function of a file comes to: in a global, or in an object that one holds.

    Not in one that the function was given.
    """
    root, classes = root_object(slot), there.facts.slots.classes
    if root[0] == "var":
        return slot
    given = {classes.get(("var", entry, param.name.value)) for param in parameters(entry)}
    held = [
        each for each, cls in classes.items() if cls is root[1] and root_object(each)[:2] == ("var", there.module.top)
    ]
    return as_part_of(slot, held[0]) if held and root[1] not in given else None


def _base_name(call: cst.Call) -> str | None:
    base = ex.receiver(call)
    return ex.dotted(base) if base is not None else None


def is_keyed(slot: Slot) -> bool:
    """Whether a key picks the history, one of many."""
    return slot[0] != "attr" and slot[0] != "var" and root_of(slot) is None
