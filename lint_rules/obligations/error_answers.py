"""Texts of errors that pass for the model's answer: a request fails, and a history keeps what the handler says of it.

A function has the text, or gives it back by the way of the answer; it, or whoever calls it, stores the answer as the
assistant's message. What may come between, and tells the two apart: a flag, a test of the text, an exception. A handler
that says nothing (`""`, None) is the same, where nobody asks whether there is an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, run_elsewhere
from lint_rules.anatomy.messages.sent import sent_histories
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging, is_neutral
from lint_rules.anatomy.rounds.quiet_ends import guarded_request, takes_failures
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.refusals import Refusals
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, bound_values, holds, is_read
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, root_object, whole_of
from lint_rules.anatomy.vocabulary import SPEAKERS
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk, walk_scope

_MOST_HOPS = 4
_MOST_PARTS = 40
_CONTAINERS = (cst.DictElement, cst.Dict, cst.Element, cst.List, cst.Arg)
_WORDED = (cst.FormattedString, cst.ConcatenatedString)
_BINDING = (cst.Assign, cst.AnnAssign, cst.AugAssign)
_LEAVING = (cst.Return, cst.Yield)
_BUILT_IN = frozenset({"str", "dict", "list", "tuple", "bytes", "int"})
_NOTHING = cst.Name("None")
"""What a function gives back at its end."""

Place = int | str | None
"""Which part of a value is meant: of a tuple, of a dict or object by its key; None for the value itself."""


@record
class ErrorText:
    """`text`, in the statement or yield `node` of `function`, takes the place of the answer when `request` fails.

    `part` says which part of what the function gives back it is; `beside` are the parts that tell it from an answer.
    """

    anatomy: Anatomy
    function: Scope
    node: cst.CSTNode
    text: cst.BaseExpression
    request: cst.Call
    part: Place = None
    beside: frozenset[Place] = frozenset()

    @property
    def is_nothing(self) -> bool:
        """Whether it is no text at all: `""` or None."""
        return _is_empty(self.text)

    @property
    def leaves(self) -> bool:
        """Whether the function gives it back, and does not go on with it."""
        return isinstance(self.node, _LEAVING) or self.text is _NOTHING


@record
class ErrorAnswer:
    """`texts` may be what `store` keeps as the assistant's message; `given`: the call of `function` that gave them."""

    texts: list[ErrorText]
    store: cst.CSTNode
    given: cst.Call | None


@record
class _Source:
    """Texts that a function has from `node` on, in `names`; `flags` are names that may tell them from an answer.

    What is read `apart` is another part of what was given, `whole` are the names of all that.
    """

    node: cst.CSTNode
    texts: list[ErrorText]
    names: set[str]
    flags: set[str]
    given: cst.Call | None = None
    apart: frozenset[cst.CSTNode] = frozenset()
    whole: frozenset[str] = frozenset()

    @property
    def is_nothing(self) -> bool:
        """Whether all of them are empty: they are kept only as they are."""
        return all(text.is_nothing for text in self.texts)

    def is_in(self, anatomy: Anatomy, values: Iterable[cst.BaseExpression]) -> bool:
        """Whether values are made of them."""
        listed = list(values)
        return self.is_read_in(listed) and _is_in(anatomy, listed, self.node, self.names, bare=self.is_nothing)

    def is_read_in(self, parts: Iterable[cst.CSTNode]) -> bool:
        """Whether more stands in parts of the program than what is read apart."""
        if not self.apart:
            return True
        besides = {inside for each in self.apart for inside in walk(each)}
        inside = (node for part in parts for node in walk(part) if node not in besides)
        return any(node is self.node or is_read(node, self.names) for node in inside)


class ErrorAnswers:
    """Finds them, beginning with one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._given: dict[Scope, list[ErrorText]] = {}

    def found(self) -> Iterator[ErrorAnswer]:
        """Those of the file, each store and each text once."""
        for function in [self._anatomy.module.top, *self._anatomy.module.functions]:
            if function.kind in {"function", "module"}:
                yield from self._kept_in(function)

    def _kept_in(self, function: Scope) -> Iterator[ErrorAnswer]:
        anatomy, by_store = self._anatomy, dict[cst.CSTNode, ErrorAnswer]()
        for source in _stored_at_once(anatomy, function):
            if self._is_sent_again(function, source, source.node):
                yield ErrorAnswer(source.texts, source.node, None)
        for source in self._sources(anatomy, function, 0):
            for store in self._kept_from(function, source):
                if self._comes_to(anatomy, function, source, store):
                    known = by_store.setdefault(store, ErrorAnswer([], store, source.given))
                    known.texts.extend(source.texts)
        yield from by_store.values()

    def _kept_from(self, function: Scope, source: _Source) -> Iterator[cst.CSTNode]:
        """Where a text is kept that the next request sends."""
        anatomy = self._anatomy
        for store in self._stores(anatomy, function, source.node, source.names, 0, bare=source.is_nothing):
            if source.is_read_in([store]) and self._is_sent_again(function, source, store):
                yield store
        asks = {source.given, *(text.request for text in source.texts)}
        for kept in anatomy.stored_turns.of(function):
            if kept.ask in asks:
                for save in kept.saves:
                    if isinstance(save, cst.Call) and source.is_in(anatomy, _values(save)):
                        if kept.outside or not self._ends_with_the_run(function, save):
                            yield save

    # -- where a text of an error takes the place of an answer -------------------------------------------------

    def _sources(self, anatomy: Anatomy, function: Scope, hops: int) -> Iterator[_Source]:
        for text in _own(anatomy, function):
            if not text.leaves:
                named = _named if text.is_nothing else _made_of
                names = named(anatomy, function, text.text)
                yield _Source(text.node, [text], names, _flags(anatomy, text))
        for call in anatomy.turns.requests(function):
            given = self._run(anatomy, call, hops)
            texts = [text for text in given if not text.is_nothing]
            if texts:
                yield _taken(anatomy, function, call, texts)
            empty = [text for text in given if text.is_nothing]
            if empty:
                names = _named(anatomy, function, call)
                yield _Source(call, empty, names, set(), call, whole=frozenset(names))

    def _run(self, anatomy: Anatomy, call: cst.Call, hops: int) -> list[ErrorText]:
        """What a call gives when the request of the function that it runs fails."""
        callee = anatomy.facts.slots.callee(call)
        found = (anatomy, callee) if callee is not None else run_elsewhere(anatomy, call, asking=True)
        if found is None or hops > _MOST_HOPS:
            return []
        return self.given(*found, hops + 1)

    def given(self, anatomy: Anatomy, function: Scope, hops: int = 0) -> list[ErrorText]:
        """The texts that a function gives back by the way of the answer, itself or from what it calls."""
        if function not in self._given:
            self._given[function] = []
            own = [text for text in _own(anatomy, function) if text.leaves]
            self._given[function] = [*own, *self._passed_on(anatomy, function, hops)]
        return self._given[function]

    def left(self, function: Scope, request: cst.Call) -> Iterator[ErrorText]:
        """The texts that a function of the file has in place of the answer when a certain request fails."""
        for source in self._sources(self._anatomy, function, 0):
            yield from (text for text in source.texts if request in {text.request, source.given})

    def told_in_handlers(self, function: Scope) -> Iterator[tuple[cst.CSTNode, cst.Call, cst.BaseExpression]]:
        """The blocks that handle an error of a request, with the texts that stand there."""
        for block, request, error in _handlers(self._anatomy, function):
            for node in walk_scope(block):
                if isinstance(node, (*_WORDED, cst.SimpleString)) and _is_text(self._anatomy, node, error):
                    yield block, request, node

    def _passed_on(self, anatomy: Anatomy, function: Scope, hops: int) -> Iterator[ErrorText]:
        for source in self._sources(anatomy, function, hops):
            for leaves in function.nodes_of(*_LEAVING):
                parts = [(key, part) for key, part in _parts(function, leaves) if source.is_in(anatomy, [part])]
                if parts and self._comes_to(anatomy, function, source, leaves):
                    told = next((part for part in parts if part[0] is not None), parts[0])
                    yield from (_given_as(*told, source, text) for text in source.texts)
                    break

    # -- where an answer is kept -------------------------------------------------------------------------------

    def _stores(
        self, anatomy: Anatomy, function: Scope, node: cst.CSTNode, names: set[str], hops: int, *, bare: bool = False
    ) -> Iterator[cst.CSTNode]:
        """Where a function, or one that it calls, keeps what is made of a node or of names as what the model said."""
        made = _said(anatomy, function, node, names, bare=bare)
        for stored in anatomy.transcript.stored(function):
            if stored.kind in GROWING and stored.role == "assistant" and stored.slot is not None:
                value = [stored.write.value] if stored.write is not None and stored.write.node is stored.node else []
                given = [arg.value for arg in stored.node.args] if isinstance(stored.node, cst.Call) else []
                values = [v for v in (*value, *given) if v is not None]
                if bare and stored.kind == "extend" and not any(map(_is_shown, values)):
                    continue  # None raises there, and "" adds nothing
                asked = bare and _asks_in_its_body(anatomy, stored.node, node, names)
                is_kept = _is_in(anatomy, values, node, names, bare=bare) and not asked
                if is_kept and _lasts(anatomy, function, stored.slot, stored.node, names):
                    yield stored.node
        for call in function.nodes_of(cst.Call):
            if call is node or call in anatomy.facts.calls:  # what a model is asked with is kept nowhere by that
                continue
            told = call in made or any(part in made for arg in call.args for part in walk(arg.value))
            if not told and not _is_in(anatomy, [arg.value for arg in call.args], node, names, bare=bare):
                continue
            kept = not is_logging(call) and self._keeps(anatomy, function, call, told=told)
            kept = kept and not (bare and _asks_in_its_body(anatomy, call, node, names))
            if kept or (hops < _MOST_HOPS and self._hands_on(anatomy, call, node, names, hops, bare=bare)):
                yield call

    def _keeps(self, anatomy: Anatomy, function: Scope, call: cst.Call, *, told: bool) -> bool:
        """Whether a call stores what it gets as the assistant's: as it says, or since answers are stored by it, too."""
        if not told:
            own = _gets_answers(anatomy, function, call)
            return own and anatomy.kept_elsewhere.place(call, function, with_calls=False) is not None
        resources = anatomy.resources
        if resources.runs(call) is not None:
            touched = resources.of(call)
            return touched.lies_outside or (bool(touched.inside) and anatomy.keeps(call))
        if resources.of(call).made:
            return True
        base = ex.receiver(call)
        slot = anatomy.facts.slots.of(base) if base is not None else None
        return base is not None and anatomy.keeps(call) and (slot is None or _outlives(anatomy, function, slot))

    def _hands_on(
        self, anatomy: Anatomy, call: cst.Call, node: cst.CSTNode, names: set[str], hops: int, *, bare: bool
    ) -> bool:
        """Whether what a call runs keeps what it is handed."""
        callee = anatomy.facts.slots.callee(call)
        found = (anatomy, callee) if callee is not None else run_elsewhere(anatomy, call)
        if found is None:
            return False
        there, function = found
        for slot, value in there.facts.slots.bindings(call, function):
            if slot[0] == "var" and holds([value], node, names):
                inside = {slot[2]} if bare else _made_of(there, function, function.node, {slot[2]})
                stores = self._stores(there, function, function.node, inside, hops + 1, bare=bare)
                if any(not (bare and _is_asked_for(there, function, store, inside)) for store in stores):
                    return True
        return False

    # -- what is sent with the next request --------------------------------------------------------------------

    def _is_sent_again(self, function: Scope, source: _Source, store: cst.CSTNode) -> bool:
        """Whether what is stored is there when the model is asked again: by what the request is made with."""
        anatomy = self._anatomy
        grown = {stored.slot for stored in anatomy.transcript.at(store) if stored.write is not None and stored.slot}
        kept = {anatomy.aliases.of(slot) for slot in grown}
        ask = source.given or source.texts[0].request
        if self._ends_with_the_run(function, store):
            return self._is_sent_by_any(store)
        if kept:  # this list, and no other
            given = (node for node in made_with(anatomy, function, ask) if not _is_read_of(anatomy, node))
            named = {slot for node in given if (slot := anatomy.facts.slots.of(node)) is not None}
            sent = {anatomy.aliases.of(slot) for slot in named | self._sent(ask)}
            return any(not sent.isdisjoint(whole_of(place)) for place in kept)
        if any(_sends_own(text) for text in source.texts) or self._is_sent_by_any(store):
            return True
        resources = anatomy.resources
        touched = resources.of(store) if isinstance(store, cst.Call) else None
        objects = _objects(anatomy, store)
        if touched is not None and resources.runs(ask) is not None and resources.of(ask).loads_from(touched):
            return True
        made = [*made_with(anatomy, function, ask)]
        loads = [resources.of(n) for n in made if isinstance(n, cst.Call) and n is not ask and n is not store]
        if touched is not None and touched.made and any(load.read for load in loads):
            return any(load.is_read_again_after(touched) for load in loads)  # both tell of which table
        for node in made:
            slot = anatomy.facts.slots.of(node)
            if slot is not None and Kind.HISTORY in anatomy.facts.of(slot) and _holds_past(anatomy, function, slot):
                return True
            if isinstance(node, cst.Call) and node is not ask and node is not store and touched is not None:
                if resources.of(node).is_read_again_after(touched):
                    return True
            if ex.source(node) in objects and (node is ex.receiver(ask) or _is_read_of(anatomy, node)):
                return True
        return False

    def _ends_with_the_run(self, function: Scope, store: cst.CSTNode) -> bool:
        """Whether the object of a method is made for each run, with what is stored, and asks no model afterwards."""
        lasting, slots = Lasting(self._anatomy), self._anatomy.facts.slots
        if not lasting.ends_with_each_run(function):
            return False
        base = ex.receiver(store) if isinstance(store, cst.Call) else None  # what a key is made of keeps nothing
        parts = {slots.of(node) for node in walk(base or store) if isinstance(node, cst.Attribute)}
        given = any(lasting.is_given_lasting(part) for part in parts if part is not None)
        return not given and not self._anatomy.leads(function, [store], self._anatomy.turns.requests(function))

    def _is_sent_by_any(self, store: cst.CSTNode) -> bool:
        """Whether a request of the file, in any function, is made with what is taken from where the store puts it."""
        anatomy, resources = self._anatomy, self._anatomy.resources
        if not isinstance(store, cst.Call) or anatomy.turns.asks(store):
            return False
        saved = resources.of(store)
        for function in anatomy.module.functions:
            for ask in anatomy.turns.requests(function):
                made = [node for node in made_with(anatomy, function, ask) if isinstance(node, cst.Call)]
                loads = (resources.of(node) for node in made if node not in {ask, store})
                if any(saved.names and load.names and load.is_read_again_after(saved) for load in loads):
                    return True
        return False

    def _sent(self, ask: cst.Call) -> set[Slot]:
        """The histories of the file that a request sends, or the functions that a call runs."""
        facts, callee = self._anatomy.facts, self._anatomy.facts.slots.callee(ask)
        run = self._anatomy.calls.reachable(callee) if callee is not None else ()
        asks = [ask, *(call for function in run for call in function.nodes_of(cst.Call))]
        return sent_histories(self._anatomy, [facts.calls[call] for call in asks if call in facts.calls])

    # -- what tells the two apart ------------------------------------------------------------------------------

    def _comes_to(self, anatomy: Anatomy, function: Scope, source: _Source, goal: cst.CSTNode) -> bool:
        """Whether a text comes to a place without a test that asks what it is."""
        if _is_asked(anatomy, function, source, goal):
            return False
        start, goals = anatomy.points(function, [source.node]), set(anatomy.points(function, [goal]))
        if goal is not source.node and any(point in goals for point in start):
            return True
        asked = [t.request for t in source.texts if not t.leaves and t.function is function]  # gives another answer
        again = anatomy.points(function, asked)

        def says(node: cst.CSTNode) -> bool | None:
            """What a test of the kind of what was given says of a text, or of nothing."""
            return evaluate(node.test, partial(_is_a_text, source)) if isinstance(node, (cst.If, cst.While)) else None

        ways = anatomy.ways(function)
        handed = _handed(anatomy, function, source, goal)
        if handed is None:
            return ways.path(start, goals, again, says=says) is not None
        return any(
            (point in start or ways.path(start, [point], again, says=says) is not None)
            and ways.path([point], goals, again, says=says) is not None
            for point in handed
        )


def _handed(anatomy: Anatomy, function: Scope, source: _Source, goal: cst.CSTNode) -> list[Point] | None:
    """Where that is bound which goes into a store as it is, if it may be nothing; None where that is not by a name."""
    named = [node for node in walk(goal) if isinstance(node, cst.Name) and node.value in source.names]
    if not named or not source.is_nothing:
        return None
    start = anatomy.points(function, [source.node])
    bound = [each for name in named for each in anatomy.definitions(name)]
    copied = [each.point for each in bound if isinstance(each.value, cst.Name) and each.value.value in source.names]
    is_direct = any(each.point in start or (each.value is not None and _is_empty(each.value)) for each in bound)
    return [*(start if is_direct else ()), *copied]


def _is_a_text(source: _Source, test: cst.BaseExpression) -> bool | None:
    """What `isinstance(given, str)`, or the test of what was given, gives, where the text is all of that."""
    if isinstance(test, cst.Name) and test.value in source.whole and source.is_nothing:
        return False if all(text.part is None for text in source.texts) else None
    asks = isinstance(test, cst.Call) and ex.dotted(test.func) == "isinstance" and len(test.args) == 2
    if not asks or not isinstance(test, cst.Call) or source.is_nothing or any(t.part is not None for t in source.texts):
        return None
    kinds = {part.value for part in walk(test.args[1].value) if isinstance(part, cst.Name)}
    return "str" in kinds if is_read(test.args[0].value, source.names) and kinds <= _BUILT_IN else None


def _gets_answers(anatomy: Anatomy, function: Scope, call: cst.Call) -> bool:
    """Whether a call is handed, by name, what a request gives in the same function."""
    asks = set(anatomy.turns.requests(function))
    slots = (anatomy.facts.slots.of(arg.value) for arg in call.args if isinstance(arg.value, cst.Name))
    given = (value for slot in slots if slot is not None for value in anatomy.facts.assigned(slot))
    return any((value.expression if isinstance(value, cst.Await) else value) in asks for value in given)


def _made_of(
    anatomy: Anatomy,
    function: Scope,
    node: cst.CSTNode,
    known: Iterable[str] = (),
    others: Iterable[cst.CSTNode] = (),
) -> set[str]:
    """The names of a function that hold what a node gives, or names do: not what a model makes of it, or `others`."""
    asks = [call for call in anatomy.turns.requests(function) if call is not node]
    return ReplyPlaces(anatomy).derived(function, node, others=[*asks, *others], known=known)


def _named(anatomy: Anatomy, function: Scope, node: cst.CSTNode) -> set[str]:
    """The names that a value is given just as it is."""
    names: set[str] = set()
    for bound in function.nodes_of(cst.Assign, cst.AnnAssign):
        value = bound.value
        while isinstance(value, cst.Await):
            value = value.expression
        if value is node or (isinstance(value, cst.Name) and value.value in names):
            names.update(target.value for target in ex.targets(bound) if isinstance(target, cst.Name))
    return names


def _is_in(
    anatomy: Anatomy, values: Iterable[cst.BaseExpression], node: cst.CSTNode, names: set[str], *, bare: bool
) -> bool:
    """Whether values are made of a node, or of what names hold; `bare`: as it is, and nothing is put in its place."""
    if not bare:
        return holds(values, node, names)
    parts = (part for value in values for part in walk(value))
    return any(
        (part is node or (isinstance(part, cst.Name) and part.value in names)) and _is_as_it_is(anatomy, part)
        for part in parts
    )


def _is_shown(value: cst.BaseExpression) -> bool:
    """Whether the elements of a list stand in a display: `[{"role": "assistant", "content": answer}]`."""
    return isinstance(ex.inner(value), (cst.List, cst.Tuple))


def _is_as_it_is(anatomy: Anatomy, part: cst.CSTNode) -> bool:
    """Whether a value goes into a message, or is handed on, unchanged."""
    outer = anatomy.module.parent[part]
    while isinstance(outer, (cst.Await, *_CONTAINERS)) or (isinstance(outer, cst.Call) and _is_message(anatomy, outer)):
        outer = anatomy.module.parent[outer]
    if isinstance(outer, cst.Call) and part is not outer.func:
        return anatomy.module.is_statement(outer)
    return isinstance(outer, (cst.Return, cst.Assign, cst.AnnAssign, cst.AugAssign))


def _is_message(anatomy: Anatomy, call: cst.Call) -> bool:
    return bool(anatomy.transcript.messages.of(call))


def _given_as(part: Place, value: cst.BaseExpression, source: _Source, text: ErrorText) -> ErrorText:
    """A text that is given on: as it was given, by itself, or as a part of something else."""
    value = ex.inner(value)
    as_given = part is None and (value is source.node or (isinstance(value, cst.Name) and value.value in source.whole))
    return text if as_given else replace(text, part=part, beside=frozenset())


def _own(anatomy: Anatomy, function: Scope) -> list[ErrorText]:
    """The texts that a function leaves with where its request has failed, or puts where the answer is otherwise."""
    handled = list(_handlers(anatomy, function))
    found = [
        text
        for block, request, error in (*handled, *_refusals(anatomy, function))
        for text in _in_block(anatomy, function, block, request, error)
    ]
    for block, request, _ in handled:
        found.extend(_behind(anatomy, function, block, request))
    return found


def _behind(anatomy: Anatomy, function: Scope, block: cst.CSTNode, request: cst.Call) -> Iterator[ErrorText]:
    """What is there of the answer when a handler is over: nothing, by the end of the function or an earlier default."""
    handler, flow = anatomy.module.parent[block], anatomy.flow(function)
    here, names = anatomy.points(function, [handler]), _made_of(anatomy, function, request)
    leaving = function.nodes_of(cst.Return, cst.Raise)
    barred = {*anatomy.points(function, [*leaving, request])}
    if any(isinstance(node, cst.Return) and _gives(function, node, None, request, names) for node in leaving):
        if flow.reaches(here, [flow.exit], barred, exceptions=False) and not function.nodes_of(cst.Yield):
            yield ErrorText(anatomy, function, handler, _NOTHING, request)
        for last in leaving:
            if isinstance(last, cst.Return) and _is_empty(last.value or _NOTHING) and not _is_handled(anatomy, last):
                if flow.reaches(here, at := anatomy.points(function, [last]), barred - {*at}, exceptions=False):
                    yield ErrorText(anatomy, function, last, last.value or _NOTHING, request)
    bound = [node for node in function.nodes_of(cst.Assign) if _is_handled(anatomy, node)]
    rebound = {name for node in bound for target in node.targets for name in ex.target_names(target.target)}
    for name in sorted(names - rebound):
        before = [d for point in here for d in anatomy.reaching(function).at(point, name) if d.kind == "assign"]
        for value in (d.value for d in before[:1] if all(d.value is not None and _is_empty(d.value) for d in before)):
            yield ErrorText(anatomy, function, handler, value, request)  # type: ignore[arg-type]


def _is_empty(value: cst.BaseExpression) -> bool:
    """`""` and None."""
    return is_neutral(value) and isinstance(ex.inner(value), (cst.SimpleString, cst.Name))


def _stored_at_once(anatomy: Anatomy, function: Scope) -> Iterator[_Source]:
    """The texts that are stored as the model's where its request has failed, each at its store."""
    for block, request, error in (*_handlers(anatomy, function), *_refusals(anatomy, function)):
        for stored in anatomy.transcript.stored(function):
            said = stored.message.content if stored.message is not None and stored.role == "assistant" else None
            if said is not None and stored.slot is not None and anatomy.module.inside(stored.node, block):
                if _is_text(anatomy, said, error) and _lasts(anatomy, function, stored.slot, stored.node):
                    yield _Source(stored.node, [ErrorText(anatomy, function, stored.node, said, request)], set(), set())


def _handlers(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.CSTNode, cst.Call, str | None]]:
    """The blocks that handle an error of a request, and the name of the error there."""
    takes = partial(takes_failures, anatomy)
    taking = {guard: [*filter(takes, guard.handlers)] for guard in function.nodes_of(cst.Try)}
    requests = [*filter(anatomy.turns.may_fail, anatomy.turns.requests(function))] if any(taking.values()) else []
    for guard, handlers in taking.items():
        request = guarded_request(anatomy, guard, requests.__contains__) if handlers and requests else None
        if request is not None:
            yield from ((handler.body, request, exceptions.bound_name(handler)) for handler in handlers)


def _refusals(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.CSTNode, cst.Call, None]]:
    """The statements that a request comes to only if it was answered, and refused."""
    statements = function.nodes_of(*_BINDING, cst.Return, cst.Expr) if function.nodes_of(cst.If) else ()
    for request in anatomy.turns.requests(function) if statements else ():
        names = _made_of(anatomy, function, request)
        refused = Refusals(anatomy.module, partial(_holds, request, names))
        yield from ((node, request, None) for node in statements if node in refused)


def _holds(request: cst.Call, names: set[str], response: cst.BaseExpression) -> bool:
    return holds([response], request, names)


def _in_block(
    anatomy: Anatomy, function: Scope, block: cst.CSTNode, request: cst.Call, error: str | None
) -> Iterator[ErrorText]:
    names = _made_of(anatomy, function, request)
    for node in walk_scope(block):
        if isinstance(node, _BINDING) and node.value is not None:
            if any(name in names for target in ex.targets(node) for name in ex.target_names(target)):
                if _is_text(anatomy, node.value, error) or _is_empty(node.value):
                    yield ErrorText(anatomy, function, node, node.value, request)
        elif isinstance(node, _LEAVING):
            others = [leaves for leaves in function.nodes_of(type(node)) if leaves is not node]
            for key, part in _parts(function, node):
                answers = [leaves for leaves in others if _gives(function, leaves, key, request, names)]
                if answers and (_is_text(anatomy, part, error) or (key is None and _is_empty(part))):
                    yield ErrorText(anatomy, function, node, part, request, key, _apart(function, node, answers))
                    break


def _gives(function: Scope, leaves: cst.Return | cst.Yield, key: Place, request: cst.Call, names: set[str]) -> bool:
    """Whether a part of what leaves here is the answer, or made of it."""
    return any(here == key and holds([part], request, names) for here, part in _parts(function, leaves))


def _apart(function: Scope, error: cst.Return | cst.Yield, answers: list[cst.Return | cst.Yield]) -> frozenset[Place]:
    """The parts that are never with an answer what they are with an error: no empty part of a dict, as others have."""
    given = [{key: ex.source(part) for key, part in _parts(function, leaves)} for leaves in answers]
    return frozenset(
        key
        for key, part in _parts(function, error)
        if all(each.get(key) != ex.source(part) for each in given) and not (isinstance(key, str) and is_neutral(part))
    )


def _left(leaves: cst.Return | cst.Yield) -> cst.BaseExpression | None:
    value = leaves.value
    return value.item if isinstance(value, cst.From) else value


def _parts(function: Scope, leaves: cst.Return | cst.Yield) -> Iterator[tuple[Place, cst.BaseExpression]]:
    """What is given back, and what it is put together of, each with the place that it has there.

    Also by a name, of which a function sets the parts: `answer["text"] = said`.
    """
    value = _left(leaves) or (_NOTHING if isinstance(leaves, cst.Return) else None)
    yield from _put_together(value)
    name = value.value if isinstance(value, cst.Name) else None
    for node in function.nodes_of(cst.Assign) if name is not None else ():
        for target in ex.targets(node):
            pair = ex.member(target)
            if pair is not None and ex.dotted(pair[0]) == name:
                yield pair[1], node.value
            elif ex.dotted(target) == name:
                yield from ex.dict_items(node.value).items()


def _put_together(value: cst.BaseExpression | None) -> Iterator[tuple[Place, cst.BaseExpression]]:
    if isinstance(value, cst.Tuple):
        yield from enumerate(element.value for element in value.elements)
    elif isinstance(value, cst.Dict):
        yield from ex.dict_items(value).items()
    elif isinstance(value, cst.Call) and (given := ex.keywords(value)):
        yield from given.items()
    elif value is not None:
        yield None, value


def _is_text(anatomy: Anatomy, value: cst.BaseExpression, error: str | None, depth: int = 0) -> bool:
    """Whether a value is a text that somebody has written, or that of an error: not what another model has said."""
    value = ex.inner(value)
    if isinstance(value, (*_WORDED, cst.BinaryOperation)) and _is_said_instead(anatomy, value):
        return False
    if isinstance(value, _WORDED) or (isinstance(value, cst.SimpleString) and not is_neutral(value)):
        return len((ex.text(value) or "a text").split()) > 1 or isinstance(value, _WORDED)
    if isinstance(value, cst.BinaryOperation):
        return any(_is_text(anatomy, side, error, depth) for side in (value.left, value.right))
    if isinstance(value, cst.Call):
        if ex.called_name(value) == "format" and (base := ex.receiver(value)) is not None:
            return _is_text(anatomy, base, error, depth)
        return ex.dotted(value.func) in {"str", "repr"} and any(ex.dotted(a.value) == error for a in value.args)
    slot = anatomy.facts.slots.of(value) if isinstance(value, (cst.Name, cst.Attribute)) and depth < 2 else None
    made = anatomy.facts.assigned(slot) if slot is not None else []
    return bool(made) and all(_is_text(anatomy, each, error, depth + 1) for each in made)


def _is_said_instead(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a text has the answer to a request that is made where the first one has failed."""
    module, function = anatomy.module, anatomy.module.scope_of[value].function
    handler = next((outer for outer in module.ancestors(value) if isinstance(outer, cst.ExceptHandler)), None)
    requests = anatomy.turns.requests(function) if handler is not None else []
    return any(
        module.inside(ask, handler.body) and holds([value], ask, _made_of(anatomy, function, ask))
        for ask in requests
        if handler is not None
    )


def _flags(anatomy: Anatomy, text: ErrorText) -> set[str]:
    """The other names that are bound where an error is handled, or where its request is made, and tell of it."""
    guard = next(outer for outer in anatomy.module.ancestors(text.node) if isinstance(outer, (cst.Try, cst.If)))
    bound = {name for node in walk_scope(guard) if isinstance(node, _BINDING) for t in ex.targets(node)
             for name in ex.target_names(t) if _is_constant(node.value) or _is_handled(anatomy, node)}  # fmt: skip
    targets = ex.targets(text.node) if isinstance(text.node, _BINDING) else []
    return bound - {name for target in targets for name in ex.target_names(target)}


def _is_handled(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    return any(isinstance(outer, cst.ExceptHandler) for outer in anatomy.module.ancestors(node))


def _is_constant(value: cst.BaseExpression | None) -> bool:
    is_word = isinstance(value, cst.SimpleString) and not is_neutral(value)
    return value is not None and (is_word or ex.dotted(value) in ex.CONSTANTS)


def _taken(anatomy: Anatomy, function: Scope, call: cst.Call, texts: list[ErrorText]) -> _Source:
    """What a call gives that may be a text of an error: in which names, and what it gives beside."""
    holder, text = anatomy.module.parent[call], texts[0]
    while isinstance(holder, (cst.Await, cst.From)):
        holder = anatomy.module.parent[holder]
    targets = ex.targets(holder) if isinstance(holder, (cst.Assign, cst.AnnAssign, cst.For)) else []
    whole = {target.value for target in targets if isinstance(target, cst.Name)}
    keys = {each.part for each in texts}
    read = _read_apart(function, whole, keys) if whole and all(isinstance(key, str) for key in keys) else frozenset()
    names = _made_of(anatomy, function, call, others=[node for node in read if _is_alone(anatomy, node, whole, read)])
    unpacked = [target.elements for target in targets if isinstance(target, cst.Tuple) and isinstance(text.part, int)]
    beside = {at: ex.target_names(e.value) for elements in unpacked for at, e in enumerate(elements) if at != text.part}
    flags = {name for at, bound in beside.items() if at in text.beside for name in bound}
    names -= {name for bound in beside.values() for name in bound}
    if unpacked:
        texts = [replace(each, part=None, beside=frozenset()) for each in texts]
    return _Source(call, texts, names, flags, call, read, frozenset(whole))


def _read_apart(function: Scope, whole: set[str], keys: set[Place]) -> frozenset[cst.CSTNode]:
    """What is read of some names by a key or an attribute that is none of `keys`: `reply.get("calls")`."""
    nodes = function.nodes_of(cst.Attribute, cst.Subscript, cst.Call)
    pairs = ((node, ex.member(node)) for node in nodes)
    read = ((node, ex.dotted(pair[0]), pair[1]) for node, pair in pairs if pair is not None)
    return frozenset(node for node, name, key in read if name in whole and key not in {*keys, "get"})


def _is_alone(anatomy: Anatomy, node: cst.CSTNode, whole: set[str], read: frozenset[cst.CSTNode]) -> bool:
    """Whether the statement that reads something apart reads nothing else of the same object."""
    besides = {inside for each in read for inside in walk(each)}
    return not any(
        isinstance(each, cst.Name) and each.value in whole and each not in besides
        for each in walk(anatomy.module.statement(node))
    )


def _said(
    anatomy: Anatomy, function: Scope, node: cst.CSTNode, names: set[str], *, bare: bool = False
) -> set[cst.CSTNode]:
    """The messages of the assistant, or what says its role, that are made of a node or of names; and their names."""
    made: set[cst.CSTNode] = set()
    bound: set[str] = set()
    for each in function.nodes_of(cst.Dict, cst.Call):
        is_other = each is not node and each not in anatomy.facts.calls  # what a model is asked with, it has not said
        if is_other and _is_assistant(anatomy, each) and _is_in(anatomy, _values(each), node, names, bare=bare):
            made.add(each)
    for node in function.nodes_of(cst.Assign, cst.AnnAssign):
        if node.value is not None and ex.inner(node.value) in made:
            bound.update(name for target in ex.targets(node) for name in ex.target_names(target))
    return made.union(name for name in function.nodes_of(cst.Name) if name.value in bound)


def _is_assistant(anatomy: Anatomy, node: cst.Dict | cst.Call) -> bool:
    """Whether what is made, or called, says that the model has said it."""
    if any(message.role == "assistant" for message in anatomy.transcript.messages.of(node)):
        return True
    words = {ex.text(value) or f" {ex.last_name(value)}" for value in _values(node)}
    return any(word.strip().lower() in SPEAKERS and word != " model" for word in words)


def _values(node: cst.Dict | cst.Call) -> list[cst.BaseExpression]:
    return list(ex.dict_items(node).values()) if isinstance(node, cst.Dict) else [arg.value for arg in node.args]


def _lasts(
    anatomy: Anatomy, function: Scope, slot: Slot, node: cst.CSTNode, names: Collection[str] = frozenset()
) -> bool:
    """Whether a history is sent again: it outlives the function, is given back, or is asked with after the store.

    `names` hold the text of an error: where that is decoded, it fails.
    """
    if function.kind == "module" or _outlives(anatomy, function, slot):
        return True
    given_back = (part for leaves in function.nodes_of(cst.Return) if leaves.value is not None for part in walk(leaves))
    if any(isinstance(part, cst.Name) and anatomy.facts.slots.of(part) == slot for part in given_back):
        return True
    calls = [call for call in function.nodes_of(cst.Call) if call is not node]
    if any(isinstance(ex.inner(value), cst.Call) for value in anatomy.facts.assigned(slot)):  # loaded, and saved again
        saves = [call for call in calls if anatomy.keeps(call)]
        if anatomy.leads(function, [node], [call for call in saves if _is_given(anatomy, call, slot)]):
            return True
    asks = [call for call in calls if anatomy.turns.asks(call)]
    decodes = [call for call in calls if anatomy.facts.decoder(call) is not None and call.args and names]
    decodes = [call for call in decodes if any(is_read(part, names) for part in walk(call.args[0].value))]
    if not decodes:
        return anatomy.leads(function, [node], asks)
    flow, decoding = anatomy.flow(function), {*anatomy.points(function, decodes)}
    start, goals = anatomy.points(function, [node]), anatomy.points(function, asks)
    if flow.reaches(start, goals, decoding, exceptions=False):
        return True
    failed = [to for point in decoding for to, kind in point.successors if kind in {"exception", "raise"}]
    return flow.reaches(start, [*decoding], exceptions=False) and flow.reaches(
        failed, goals, decoding, exceptions=False
    )


def _is_given(anatomy: Anatomy, call: cst.Call, slot: Slot) -> bool:
    """Whether a call gets a list, alone or in a document, which may be encoded or have a name."""
    facts, queue = anatomy.facts, [arg.value for arg in call.args]
    for value in islice(queue, _MOST_PARTS):
        if facts.encoder(value) is not None:
            queue += [arg.value for arg in value.args]  # type: ignore[attr-defined]
        whole = [made for made in (value, *facts.values_of(value)) if ex.is_dict(made)]
        queue += [part for made in whole for part in ex.dict_items(made).values()]
    return any(facts.slots.of(value) == slot for value in queue)


def _sends_own(text: ErrorText) -> bool:
    """Whether a request sends what its object or its file keeps."""
    request = text.anatomy.facts.calls.get(text.request)
    slot = text.anatomy.facts.slots.of(request.history) if request is not None and request.history is not None else None
    root = root_object(text.anatomy.aliases.of(slot)) if slot is not None else None
    return root is not None and (root[0] == "attr" or root[:2] == ("var", text.anatomy.module.top))


def _holds_past(anatomy: Anatomy, function: Scope, slot: Slot) -> bool:
    """Whether a history has messages of earlier turns: it outlives the function, or is made of another list."""
    grown = [write.value for write in anatomy.writes.by_slot.get(slot, ()) if write.kind == "extend"]
    values = [value for value in (*anatomy.facts.assigned(slot), *grown) if value is not None]
    starred = (e for value in values for e in walk(value) if isinstance(e, cst.StarredElement))
    return (
        _outlives(anatomy, function, slot)
        or any(not isinstance(ex.inner(value), cst.List) for value in values)
        or next(starred, None) is not None
    )


def made_with(anatomy: Anatomy, function: Scope, ask: cst.Call) -> Iterator[cst.BaseExpression]:
    """What a request is made with, and all that this is made of in its function."""
    queue: list[cst.CSTNode] = [*(arg.value for arg in ask.args)]
    base = ex.receiver(ask)
    queue += [base] if base is not None else []
    seen = {*anatomy.module.imports.full}  # what is put into a module is not what another part of it is made of
    while queue:
        for node in walk(queue.pop()):
            if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
                yield node
            if isinstance(node, cst.Name) and node.value not in seen:
                seen.add(node.value)
                bound = bound_values(anatomy, function, node.value)
                queue += [value for value in bound if not anatomy.module.inside(ask, value)]


def _objects(anatomy: Anatomy, store: cst.CSTNode) -> set[str]:
    """The objects that a store is made in, as they are written: that of its method, its owner, what it is handed."""
    if not isinstance(store, cst.Call):
        return set()
    base = ex.receiver(store)
    owner = base.value if isinstance(base, cst.Attribute) else None
    objects = [node for node in (base, owner, *(arg.value for arg in store.args)) if node is not None]
    return {ex.source(node) for node in objects if ex.dotted(node) not in {"self", "cls", *anatomy.module.imports.full}}


def _is_read_of(anatomy: Anatomy, node: cst.BaseExpression) -> bool:
    """Whether something of an object is read here: a part of it, or what its method gives."""
    outer = anatomy.module.parent[node]
    return isinstance(outer, (cst.Attribute, cst.Subscript)) and outer.value is node


def _outlives(anatomy: Anatomy, function: Scope, slot: Slot) -> bool:
    """Whether what lives in a slot is there when the function is over: also what it was handed."""
    place = anatomy.aliases.of(slot)
    root = root_object(place)
    is_own = root[0] == "var" and root[1] is function and root[2] not in parameter_names(function)
    return not is_own or anatomy.aliases.is_lasting(place, function)


def _is_asked(anatomy: Anatomy, function: Scope, source: _Source, goal: cst.CSTNode) -> bool:
    """Whether a test between the text and the goal asks whether it is one."""
    order, module = anatomy.module.order, anatomy.module
    first = order[module.statement(source.node)]
    words = [text for each in source.texts for text in _literals(each.text)]
    tests = [node.test for node in (*function.nodes_of(cst.If, cst.IfExp), *function.nodes_of(cst.While, cst.Assert))]
    tests += [node.subject for node in function.nodes_of(cst.Match)]
    if source.is_nothing and all(ex.dotted(text.text) == "None" for text in source.texts):
        tests += _not_for_none(function, source.names)
    between = [test for test in tests if order[goal] > order[test] >= first]
    return any(
        _tells(part, source, words) and anatomy.leads(function, [source.node], [test])
        for test in between
        for part in _asking(test)
    )


def _is_asked_for(there: Anatomy, function: Scope, store: cst.CSTNode, names: set[str]) -> bool:
    """Whether a function comes to a store only behind a test of what names hold: `if reply: history.append(...)`."""
    tests = (test.test for test, _ in passed(there.module, store, function.node))
    return any(holds([test], function.node, names) for test in tests)


def _asks_in_its_body(anatomy: Anatomy, call: cst.CSTNode, node: cst.CSTNode, names: set[str]) -> bool:
    """Whether the function of the project that a call runs stores what it is handed only behind a test of that."""
    found = body(anatomy, call) if isinstance(call, cst.Call) else None
    if found is None or not isinstance(call, cst.Call):
        return False
    there, function = found
    given = {slot[2] for slot, value in there.facts.slots.bindings(call, function) if holds([value], node, names)}
    grown = [s.node for s in there.transcript.stored(function) if s.kind in GROWING]
    stores = [node for node in grown if any(is_read(part, given) for part in walk(node))]
    return bool(stores) and all(_is_asked_for(there, function, store, given) for store in stores)


def _not_for_none(function: Scope, names: set[str]) -> Iterator[cst.BaseExpression]:
    """What a function does with names that cannot be done with None: it raises there."""
    for node in function.nodes_of(cst.Attribute, cst.Subscript):
        if isinstance(node.value, cst.Name) and node.value.value in names:
            yield node
    for call in function.nodes_of(cst.Call):
        given = call.args[0].value if ex.dotted(call.func) == "len" and call.args else None
        if isinstance(given, cst.Name) and given.value in names:
            yield given
    for loop in function.nodes_of(cst.For):
        if isinstance(loop.iter, cst.Name) and loop.iter.value in names:
            yield loop.iter


def _asking(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation):
        yield from _asking(test.left)
        yield from _asking(test.right)
    else:
        yield test


def _tells(part: cst.BaseExpression, source: _Source, words: list[str]) -> bool:
    """Whether a test tells an error's text from an answer: not that there is one, nor what stands in it otherwise."""
    nodes = list(walk(part))
    if any(isinstance(node, cst.Name) and node.value in source.flags for node in nodes):
        return True
    read = [pair for node in nodes if (pair := ex.member(node)) is not None and ex.dotted(pair[0]) in source.whole]
    if any(all(key in text.beside - {text.part} for text in source.texts) for _, key in read):
        return True
    if not holds([part], source.node, source.names):
        return False
    if source.is_nothing:
        return True
    if isinstance(part, cst.UnaryOperation):
        return _tells(part.expression, source, words)
    asked = [node for node in nodes if isinstance(node, (cst.Comparison, cst.Call, cst.Attribute, cst.Subscript))]
    if not asked or _asks_for_none(part):
        return False
    texts = [text for node in nodes if isinstance(node, cst.SimpleString) and (text := ex.text(node))]
    return not texts or any(text.lower() in word.lower() for text in texts for word in words)


def _asks_for_none(part: cst.BaseExpression) -> bool:
    """`answer is None`, `answer == ""`, `len(answer) > 4000`, `answer.strip()`, `isinstance(answer, str)`."""
    if isinstance(part, cst.Comparison):
        left, _, right = ex.compared(part)
        return is_neutral(right) or (isinstance(left, cst.Call) and ex.dotted(left.func) == "len")
    return isinstance(part, cst.Call) and ex.called_name(part) in {"strip", "isinstance", "len"}


def _literals(value: cst.BaseExpression) -> Iterable[str]:
    for node in walk(value):
        if isinstance(node, cst.SimpleString):
            yield ex.text(node) or ""
        elif isinstance(node, cst.FormattedStringText):
            yield node.value
