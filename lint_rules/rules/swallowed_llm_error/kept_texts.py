"""Texts of errors that a history keeps as what the model has said, and that are sent again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.sent import sent_histories
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.reply_places import holds, is_read
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, root_object, whole_of
from lint_rules.anatomy.vocabulary import SPEAKERS
from lint_rules.rules.swallowed_llm_error.error_texts import (
    MOST_HOPS,
    ErrorText,
    ErrorTexts,
    Source,
    handled,
    is_made_of,
    is_text,
    made_with,
    names_made_of,
    refused,
)
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_MOST_PARTS = 40


@record
class KeptText:
    """`texts` may be what `store` keeps as the assistant's message; `given`: the call of `function` that gave them."""

    texts: list[ErrorText]
    store: cst.CSTNode
    given: cst.Call | None


class KeptTexts:
    """Finds them in one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._texts = ErrorTexts(anatomy)

    def found(self) -> Iterator[KeptText]:
        """Those of the file, each store and each text once."""
        for function in [self._anatomy.module.top, *self._anatomy.module.functions]:
            if function.kind in {"function", "module"}:
                yield from self._kept_in(function)

    def _kept_in(self, function: Scope) -> Iterator[KeptText]:
        anatomy, by_store = self._anatomy, dict[cst.CSTNode, KeptText]()
        for source in _stored_at_once(anatomy, function):
            if self._is_sent_again(function, source, source.node):
                yield KeptText(source.texts, source.node, None)
        for source in self._texts.sources(anatomy, function, 0):
            for store in self._kept_from(function, source):
                if self._texts.comes_to(anatomy, function, source, store):
                    known = by_store.setdefault(store, KeptText([], store, source.given))
                    known.texts.extend(source.texts)
        yield from by_store.values()

    def _kept_from(self, function: Scope, source: Source) -> Iterator[cst.CSTNode]:
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

    def _stores(
        self, anatomy: Anatomy, function: Scope, node: cst.CSTNode, names: set[str], hops: int, *, bare: bool = False
    ) -> Iterator[cst.CSTNode]:
        """Where a function, or one that it calls, keeps what is made of a node or of names as what the model said."""
        made = _said(anatomy, function, node, names, bare=bare)
        for stored in anatomy.transcript.stored(function):
            if isinstance(stored.node, cst.Call) and anatomy.turns.reaches_model(stored.node):
                continue  # a turn of its own, which stores its own answer
            if stored.kind in GROWING and stored.role == "assistant" and stored.slot is not None:
                value = [stored.write.value] if stored.write is not None and stored.write.node is stored.node else []
                given = [arg.value for arg in stored.node.args] if isinstance(stored.node, cst.Call) else []
                values = [v for v in (*value, *given) if v is not None]
                if bare and stored.kind == "extend" and not any(map(_is_shown, values)):
                    continue  # None raises there, and "" adds nothing
                asked = bare and _asks_in_its_body(anatomy, stored.node, node, names)
                is_kept = is_made_of(anatomy, values, node, names, bare=bare) and not asked
                if is_kept and _lasts(anatomy, function, stored.slot, stored.node, names):
                    yield stored.node
        for call in function.nodes_of(cst.Call):
            if call is node or call in anatomy.facts.calls:  # what a model is asked with is kept nowhere by that
                continue
            told = call in made or any(part in made for arg in call.args for part in walk(arg.value))
            if not told and not is_made_of(anatomy, [arg.value for arg in call.args], node, names, bare=bare):
                continue
            kept = not is_logging(call) and self._keeps(anatomy, function, call, told=told)
            kept = kept and not (bare and _asks_in_its_body(anatomy, call, node, names))
            if kept or (hops < MOST_HOPS and self._hands_on(anatomy, call, node, names, hops, bare=bare)):
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
        slot = anatomy.facts.slots.of(base)
        return base is not None and anatomy.keeps(call) and (slot is None or _outlives(anatomy, function, slot))

    def _hands_on(
        self, anatomy: Anatomy, call: cst.Call, node: cst.CSTNode, names: set[str], hops: int, *, bare: bool
    ) -> bool:
        """Whether what a call runs keeps what it is handed."""
        found = body(anatomy, call)
        if found is None:
            return False
        there, function = found
        for slot, value in there.facts.slots.bindings(call, function):
            if slot[0] == "var" and holds([value], node, names):
                inside = {slot[2]} if bare else names_made_of(there, function, function.node, {slot[2]})
                stores = self._stores(there, function, function.node, inside, hops + 1, bare=bare)
                if any(not (bare and _is_asked_for(there, function, store, inside)) for store in stores):
                    return True
        return False

    def _is_sent_again(self, function: Scope, source: Source, store: cst.CSTNode) -> bool:
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
        if self._is_sent_by_any(store):
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
        base = ex.receiver(store)  # what a key is made of keeps nothing
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


def _gets_answers(anatomy: Anatomy, function: Scope, call: cst.Call) -> bool:
    """Whether a call is handed, by name, what a request gives in the same function."""
    asks = set(anatomy.turns.requests(function))
    slots = (anatomy.facts.slots.of(arg.value) for arg in call.args if isinstance(arg.value, cst.Name))
    given = (value for slot in slots if slot is not None for value in anatomy.facts.assigned(slot))
    return any((value.expression if isinstance(value, cst.Await) else value) in asks for value in given)


def _stored_at_once(anatomy: Anatomy, function: Scope) -> Iterator[Source]:
    """The texts that are stored as the model's where its request has failed, each at its store."""
    for block, request, error in (*handled(anatomy, function), *refused(anatomy, function)):
        for stored in anatomy.transcript.stored(function):
            said = stored.message.content if stored.message is not None and stored.role == "assistant" else None
            if said is not None and stored.slot is not None and anatomy.module.inside(stored.node, block):
                if is_text(anatomy, said, error) and _lasts(anatomy, function, stored.slot, stored.node):
                    yield Source(stored.node, [ErrorText(anatomy, function, stored.node, said, request)], set(), set())


def _said(
    anatomy: Anatomy, function: Scope, node: cst.CSTNode, names: set[str], *, bare: bool = False
) -> set[cst.CSTNode]:
    """The messages of the assistant, or what says its role, that are made of a node or of names; and their names."""
    made: set[cst.CSTNode] = set()
    bound: set[str] = set()
    for each in function.nodes_of(cst.Dict, cst.Call):
        is_other = each is not node and each not in anatomy.facts.calls  # what a model is asked with, it has not said
        if is_other and _is_assistant(anatomy, each) and is_made_of(anatomy, _values(each), node, names, bare=bare):
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


def _is_shown(value: cst.BaseExpression) -> bool:
    """Whether the elements of a list stand in a display: `[{"role": "assistant", "content": answer}]`."""
    return isinstance(ex.inner(value), (cst.List, cst.Tuple))


def _lasts(
    anatomy: Anatomy, function: Scope, slot: Slot, node: cst.CSTNode, names: Collection[str] = frozenset()
) -> bool:
    """Whether a history is sent again: it outlives the function, is given back, or is asked with after the store.

    `names` hold the text of an error: where that is decoded, it fails.
    """
    if function.kind == "module" or _outlives(anatomy, function, slot):
        return True
    given_back = (part for value in function.returned for part in walk(value))
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


def _is_asked_for(there: Anatomy, function: Scope, store: cst.CSTNode, names: set[str]) -> bool:
    """Whether a function comes to a store only behind a test of what names hold: `if reply: history.append(...)`."""
    tests = (test.test for test, _ in passed(there.module, store, function.node))
    return any(holds([test], function.node, names) for test in tests)


def _asks_in_its_body(anatomy: Anatomy, call: cst.CSTNode, node: cst.CSTNode, names: set[str]) -> bool:
    """Whether the function of the project that a call runs stores what it is handed only behind a test of that."""
    found = body(anatomy, call)
    if found is None or not isinstance(call, cst.Call):
        return False
    there, function = found
    given = {slot[2] for slot, value in there.facts.slots.bindings(call, function) if holds([value], node, names)}
    grown = [s.node for s in there.transcript.stored(function) if s.kind in GROWING]
    stores = [node for node in grown if any(is_read(part, given) for part in walk(node))]
    return bool(stores) and all(_is_asked_for(there, function, store, given) for store in stores)
