"""Tool results in a history whose calls never got there: rebuilt from the reply's text, left out, or never stored.

Looked at are functions that ask a model and then, themselves or through helpers, store results in the list that they
send. Between the request and the result there must be a message that carries the calls; a message of which the code
does not show what it is may be the one.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from enum import Enum
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import denies_calls, is_about_part, speaks_of_calls
from lint_rules.anatomy.messages.sent import sent_histories
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.rounds.offers import given_to, may_call_tools
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.again import Again
from lint_rules.rules.dropped_tool_calls.carriers import Carriers
from lint_rules.rules.dropped_tool_calls.outcomes import tells_outcome
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_SERVER_KEEPS = ("previous_response_id", "conversation", "thread_id")
_GROWERS = frozenset({"append", "extend", "insert", "add"})
_READERS = frozenset({"print", "len", "pprint", "str", "repr", "list", "isinstance", "dumps", "enumerate", "reversed"})
_OF_TEXTS = frozenset(dir(str)).difference(dir(list), dir(dict), dir(object))
"""Methods that texts have, and lists and dicts have not."""
_SPOKEN = frozenset({Kind.MESSAGE, Kind.REPLY})


class How(Enum):
    """How the calls get lost."""

    REBUILT = "the message is made of the text alone"
    WITH_TEXT_ONLY = "the message is stored only when it has text"
    NEVER = "no message with the calls is stored"


@record
class LostCall:
    """`stored` is the place to report: where the calls are left behind; `result` answers them, `asked` made them.

    `guard` is the condition that lets messages with text pass only.
    """

    how: How
    stored: Stored
    result: Stored
    asked: cst.CSTNode | None
    guard: cst.If | None = None


def lost_calls(anatomy: Anatomy) -> Iterator[LostCall]:
    """All places of a file, each once."""
    told: set[cst.CSTNode] = set()
    sent = sent_histories(anatomy)
    sent = sent | anatomy.kept_elsewhere.asked_with if sent else sent
    if not sent:
        return
    added = (write for write in anatomy.writes.all if write.kind == "extend" and write.value is not None)
    waiting = {slot for write in added if (slot := anatomy.facts.slots.of(write.value)) not in {None, write.slot}}
    for function in anatomy.module.functions:
        if function.kind in {"function", "module"}:
            stored = [s for s in anatomy.transcript.stored(function) if s.slot is not None]
            apart = waiting - {s.slot for s in stored if s.role == "assistant"}  # told again where they are added
            stored = [s for s in stored if s.slot not in apart]
            results = [s for s in stored if _is_result(s) or (s.slot in sent and tells_outcome(anatomy, s))]
            for lost in _Finder(anatomy, function, results).of(sent) if results else ():
                if lost.stored.node not in told:
                    told.add(lost.stored.node)
                    yield lost


def _is_result(stored: Stored) -> bool:
    """Whether a message answers a call, also of an API that has no ids."""
    return bool(stored.answers) or stored.role == "tool"


@kept
def _offering(anatomy: Anatomy, top: Scope) -> frozenset[Scope]:
    """The functions of a module that ask a model which may call tools, themselves or by others."""
    asks = anatomy.calls.llm_calls.items()
    own = (function for function, nodes in asks if any(may_call_tools(anatomy, node) for node in nodes))
    return frozenset(anatomy.calls.with_callers(own))


def server_keeps(anatomy: Anatomy) -> bool:
    """Whether the server keeps the history, so that requests hold the results alone."""
    given = (given_to(anatomy, request, name) for request in anatomy.facts.calls for name in _SERVER_KEEPS)
    return any(True for values in given for _ in values)


@record
class _History:
    """What a function stores in one list besides results.

    `texts` store the text of a reply alone, `under_text` a whole one under a condition on its text, `carrying` are the
    places that may store calls, `carrying_points` theirs; at the points `handed` others get the list.
    """

    texts: list[Stored]
    under_text: list[tuple[Stored, cst.If]]
    carrying: set[cst.CSTNode]
    carrying_points: frozenset[Point]
    handed: set[Point]

    @property
    def blocked(self) -> frozenset[Point]:
        return self.carrying_points | self.handed


class _Finder:
    """Looks at the results that one function stores."""

    def __init__(self, anatomy: Anatomy, function: Scope, results: list[Stored]) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.function = function
        self.again = Again(anatomy, function)
        self.carriers = Carriers(self.again)
        asks = [call for call in function.nodes_of(cst.Call) if anatomy.calls.asks_here(call)]
        offering = {call for call in asks if call in anatomy.facts.calls and may_call_tools(anatomy, call)}
        if offering:  # then no calls come of those that offer none: a title, a summary
            asks = [call for call in asks if call in offering or call not in anatomy.facts.calls]
        said = [s.message.content for s in results if s.answers and s.message is not None and s.message.content]
        tools = {part for value in said for each in self.facts.values_of(value) for part in walk(each)}
        self.asks = [call for call in asks if call not in tools and not self._asks_apart(call)]
        self._histories: dict[Slot | None, _History] = {}
        self._results = results

    def of(self, sent: set[Slot]) -> Iterator[LostCall]:
        """What is lost of lists in `sent`, and of records that hold results, but of replies only those with text."""
        never: dict[Scope, LostCall] = {}
        for result in self._results:
            if not self._is_structured(result) or not (_is_result(result) or self._is_asked_again(result)):
                continue
            history = self._histories.get(result.slot)
            if history is None:
                history = self._histories[result.slot] = self._history(result.slot)
            records = result.slot in sent or self.asks  # what only puts messages into another form keeps no record
            found = list(self._with_text_only(result, history)) if records else []
            if result.slot in sent:
                found = [*self._rebuilt(result, history), *found]
            yield from found if result.answers else ()  # words of the program may go with those of the reply
            if not found and result.slot in sent and not history.handed and not self._may_precede(history, result):
                never.update({lost.stored.function: lost for lost in self._never(result)})
        yield from never.values()  # of the results of one function, the last: one message is missing before all

    def _history(self, slot: Slot | None) -> _History:
        places = [s for s in self.anatomy.transcript.stored(self.function) if s.slot == slot and s not in self._results]
        carriers = [s for s in places if self.carriers.may_carry(s)]
        apart = {s.node for s in carriers if s.calls is not None}  # calls that are stored by themselves
        carrying = {s.node for s in carriers}  # also when a place does so at times only
        texts = [s for s in places if s.role == "assistant" and s.node not in carrying]
        return _History(
            [s for s in texts if not self._known_without_calls(s.node)],
            [
                pair
                for s in carriers
                if (pair := self._under_text(s)) is not None
                and all(self.module.inside(node, pair[1].body) for node in apart)
            ],
            carrying,
            frozenset(p for node in carrying for p in self.again.points(node)),
            self._handed_on(slot),
        )

    def _under_text(self, carrier: Stored) -> tuple[Stored, cst.If] | None:
        """A place with the condition on its text that it stands under, if there is one."""
        guard = next(self.again.guards(carrier.node), None)
        if carrier.role != "assistant" or guard is None or not self.module.inside(carrier.node, guard.body):
            return None
        put = self.facts.slots.of(carrier.write.value if carrier.write is not None else None)
        if guard.orelse is not None or speaks_of_calls(self.facts, guard.test):
            return None
        return (carrier, guard) if self._asks_for_text(guard.test, put) else None

    def _is_structured(self, result: Stored) -> bool:
        """Whether a result answers a structured call: by an id, or in a program that reads calls of replies.

        Programs that take calls out of the model's text need nothing but the text.
        """
        return (result.message is not None and bool(result.message.answers)) or self._reads_calls

    def _is_asked_again(self, result: Stored) -> bool:
        """Whether the request whose reply has the calls is made once more with what they have given, in its list."""
        asks = (ask for ask in self.asks if self._sends(ask, result.slot))
        return any(self._leads(ask, result.node, ()) and self._leads(result.node, ask, ()) for ask in asks)

    def _sends(self, ask: cst.Call, slot: Slot | None) -> bool:
        request = self.facts.calls.get(ask)
        given = [request.history] if request is not None and request.history is not None else ex.handed(ask)
        return any(self.facts.slots.of(part) == slot for value in given for part in walk(value) if ex.reads_place(part))

    @cached_property
    def _reads_calls(self) -> bool:
        functions = self.anatomy.calls.reachable(self.function)
        return any(
            (pair := ex.member(node) or ex.asked(node)) is not None
            and (pair[1] in {"tool_calls", "function_call", "toolUse"} or self._is_member_of_reply(node, pair[0]))
            for function in functions
            for node in function.nodes_of(cst.Attribute, cst.Subscript, cst.Call, cst.Comparison)
        )

    def _is_member_of_reply(self, node: cst.CSTNode, base: cst.BaseExpression) -> bool:
        """`reply.calls`, `reply.requests`: whatever the program calls them, they are calls and a part of the reply."""
        kinds = self.facts.kinds(base)
        calls = isinstance(node, cst.BaseExpression) and self.facts.is_kind(node, Kind.CALLS)
        return calls and (Kind.REPLY in kinds or Kind.MESSAGE in kinds)

    def _handed_on(self, slot: Slot | None) -> set[Point]:
        """The points at which a function of another file gets the history, or its owner gets a message to store."""
        found: set[Point] = set()
        for call in self.function.nodes_of(cst.Call):
            if call in self.facts.calls or self.facts.slots.callee(call) is not None:
                continue
            if ex.called_name(call) in _READERS:
                continue
            if any(self.facts.slots.of(a.value) == slot for a in call.args) or self._is_given_message(call, slot):
                found.update(self.again.points(call))
        return found

    def _is_given_message(self, call: cst.Call, slot: Slot | None) -> bool:
        """`self.memory.keep(message)`, `self.remember(message)`: methods of another file that may know the history."""
        base = ex.receiver(call)
        if base is None or slot is None or ex.called_name(call) in _GROWERS:
            return False
        owners = {slot[1]} if slot[0] in {"member", "item"} else set()
        own = isinstance(base, cst.Name) and base.value == self.module.self_name(self.function)
        if not own and self.facts.slots.of(base) not in owners:
            return False
        return any(
            kind in self.facts.kinds(arg.value) for arg in call.args for kind in (Kind.MESSAGE, Kind.REPLY, Kind.CALLS)
        )

    # -- the three forms --------------------------------------------------------------------------------------

    def _rebuilt(self, result: Stored, history: _History) -> Iterator[LostCall]:
        if not history.texts or result.node in history.carrying:  # the calls come with their results
            return
        blocked = history.blocked
        avoiding = blocked | self._asked(result) | self.again.unstored(result.slot)
        for text in history.texts:
            if text.node is result.node or not self.again.follows(text.node, result.node, avoiding):
                continue
            asked = next((ask for ask in self.asks if self._leads(ask, text.node, blocked)), None)
            if asked is not None or (not self.asks and self._from_entry(text.node, blocked)):
                yield LostCall(How.REBUILT, text, result, asked)

    def _with_text_only(self, result: Stored, history: _History) -> Iterator[LostCall]:
        if not history.under_text:
            return
        avoiding = history.blocked | self._asked(result) | self.again.unstored(result.slot)
        for carrier, guard in history.under_text:
            skipped = [t for p in self.again.points(guard) for t, kind in p.successors if kind == "false"]
            goals = self.again.points(result.node)
            starts = [p for p in skipped if p not in avoiding]
            if any(p in goals for p in starts) or self.again.graph.reaches(starts, goals, avoiding, exceptions=False):
                yield LostCall(How.WITH_TEXT_ONLY, carrier, result, None, guard)

    def _never(self, result: Stored) -> Iterator[LostCall]:
        slot = result.slot
        seen = self.anatomy.calls.reachable(self.function)
        others = (function for function in self.module.functions if function not in seen)
        elsewhere = (s for f in others for s in self.anatomy.transcript.stored(f) if s.slot == slot)
        if any(
            self.carriers.may_carry(s) and not s.answers and s.kind != "rebind" and self._is_new(s) for s in elsewhere
        ):
            return
        avoiding = self.again.unstored(slot)
        for ask in self.asks:
            if ask is not result.node and self._leads(ask, result.node, avoiding):
                place = self._place_of(result)
                yield LostCall(How.NEVER, place, result, ask)
                return

    def _asks_apart(self, call: cst.Call) -> bool:
        """Whether no calls come of what a call asks, by a function that offers no tools: a summary."""
        callee = self.facts.slots.callee(call)
        asked = self.anatomy.calls.reachable(callee) if callee is not None else ()
        asks = any(node in self.facts.calls for each in asked for node in self.anatomy.calls.llm_calls.get(each, ()))
        return asks and callee not in _offering(self.anatomy, self.module.top)

    def _may_precede(self, history: _History, result: Stored) -> bool:
        """Whether one of the places that may store the calls leads to the result, within one round."""
        if result.node in history.carrying:
            return True
        return self.again.preceded(result.node, history.carrying_points, self._asked(result))

    def _is_new(self, stored: Stored) -> bool:
        """Whether a place stores something of its own: not what its callers tell, nor what was in the history."""
        message = stored.message
        if message is None or message.role is not None:
            return True
        if self._is_parameter(message.content, stored.function) and self.anatomy.calls.sites.get(stored.function):
            return False
        values = self.facts.values_of(message.node)
        return not any(self.facts.slots.of(value) == ("item", stored.slot) for value in values)

    # -- paths ------------------------------------------------------------------------------------------------

    @cached_property
    def _all_asked(self) -> frozenset[Point]:
        return frozenset(p for ask in self.asks for p in self.again.points(ask))

    def _asked(self, result: Stored) -> frozenset[Point]:
        """The points of requests: what follows one belongs to another reply."""
        if type(result.node) is not cst.Call or not self.anatomy.calls.asks(result.node):
            return self._all_asked
        return frozenset(p for ask in self.asks if ask is not result.node for p in self.again.points(ask))

    def _leads(self, first: cst.CSTNode, then: cst.CSTNode, avoiding: Container[Point]) -> bool:
        return self.again.follows(first, then, avoiding, exceptions=False)

    def _from_entry(self, node: cst.CSTNode, avoiding: Container[Point]) -> bool:
        graph = self.again.graph
        return graph.reaches(graph.entry, self.again.points(node), avoiding)

    def _place_of(self, result: Stored) -> Stored:
        """Of the places on the way to the write, the innermost that says what is stored, not only handed it on."""
        if result.write is None:
            return result
        chain = [s for f in self.anatomy.calls.reachable(self.function) for s in self.anatomy.transcript.stored(f)
                 if s.write is result.write and s.message is not None and self._same_content(s, result)]  # fmt: skip
        told = [s for s in chain if s.message is not None and not self._is_parameter(s.message.content, s.function)]
        own = [s for s in told if s.node is result.write.node]
        return (own or [s for s in told if s.function is not self.function] or [result])[0]

    def _same_content(self, stored: Stored, result: Stored) -> bool:
        """Whether a place on the way stores this result, and not another one through the same helper."""
        if stored.message is None or result.message is None:
            return True
        return stored.message.content is result.message.content or stored.function is result.write.function  # type: ignore[union-attr]

    def _is_parameter(self, content: cst.BaseExpression | None, function: Scope) -> bool:
        return isinstance(content, cst.Name) and content.value in {p.name.value for p in parameters(function)}

    # -- conditions -------------------------------------------------------------------------------------------

    def _known_without_calls(self, node: cst.CSTNode) -> bool:
        """Whether a condition around a place says that the reply has no calls."""
        return any(
            denies_calls(guard.test) or not self.module.inside(node, guard.body)
            for guard in self.again.guards(node)
            if not is_about_part(self.facts, guard) and speaks_of_calls(self.facts, guard.test)
        )

    def _asks_for_text(self, test: cst.BaseExpression, put: Slot | None) -> bool:
        """`if message.content`, `if text`, `if reply["content"] is not None`, `if reply.said.strip()`.

        Not whether there is what is `put` into the history: `if candidate.content: h.append(candidate.content)`.
        """
        for node in walk(test):
            pair = ex.member(node)
            if put is not None and ex.reads_place(node) and self.facts.slots.of(node) == put:
                continue
            if pair is not None and pair[1] in {"content", "text"}:
                return True
            base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) in _OF_TEXTS else None
            held = ex.member(base) if base is not None else None
            if held is not None and not _SPOKEN.isdisjoint(self.facts.kinds(held[0])):
                return True
            if type(node) is cst.Name and Kind.MODEL_TEXT in self.facts.kinds(node):
                return True
        return False
