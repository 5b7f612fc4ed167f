"""Turns on what a store keeps, known by its use: what it gave is asked with, and what the model says goes back to it.

`history = store.history(key)`, `reply = ask(history)`, `store.note(key, reply)`: the store may be an object, a module
of functions, or a library; messages may lie in memory, in files, tables or keys. That both calls mean one resource is
seen in their bodies, where these are of the project.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, made_class
from lint_rules.anatomy.rounds.executions import executions
from lint_rules.anatomy.turns.asked import AskedWith, values_given
from lint_rules.anatomy.turns.one_history import Kept, LastingPlaces, OneHistory
from lint_rules.anatomy.turns.reply_places import holds
from lint_rules.anatomy.turns.resources import Touched
from lint_rules.anatomy.turns.turns import MOST_REQUESTS
from lint_rules.anatomy.values.handed_along import handed_along
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.vocabulary import (
    ENCODERS,
)
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, kept, once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_NONE: Sequence[Touched] = ()
_MOST_LOADS = 48
"""Of a function with more calls that may load something, none is known to load the talk."""


@record
class _Past:
    """What `load` gives `where` it stands: in the function that asks `names` hold it, and `held` nothing but that.

    `given`: what the names of that function stand for there, if it is another one.
    """

    load: cst.Call
    where: Scope
    names: set[str]
    held: set[str]
    given: Mapping[str, cst.BaseExpression] | None = None


_BegunFrom = tuple[Scope, cst.CSTNode, dict[str, cst.BaseExpression]]


class StoredTurns:
    """Finds them in one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module
        self._asked = AskedWith(anatomy)
        self.lasting = LastingPlaces(anatomy, self._asked)
        self._history = OneHistory(anatomy, self._asked, self.lasting)
        self._resources = anatomy.resources

    @kept
    def of(self, function: Scope) -> list[Kept]:
        """Those of a function: at most one for each request that it makes itself, and for what the provider keeps."""
        return [*self._find(function)]

    def _find(self, function: Scope) -> Iterator[Kept]:
        calls = function.nodes_of(cst.Call)
        reaching = (call for call in calls if self._anatomy.turns.reaches_model(call))
        asks = [call for call in reaching if not self._module.is_statement(call)]  # else nobody takes the answer
        others = [call for call in calls if call not in {*asks}] if asks else []
        runs = {*executions(self._facts, self._anatomy.transcript, function)} if asks else set()
        done = [call for call in others if self._asked.is_done(call) and call not in runs]
        known: set[cst.Call] = set()
        for ask in asks:
            told = [call for call in done if self._asked.is_at(call, ask, function)]
            searches = chain(
                self._kept(ask, self._loaded_here(ask, others, function), told, function),
                self.lasting.put_back(ask, function) if len(asks) <= MOST_REQUESTS else (),
                self._kept(ask, self._handed_down(ask, function), told, function),
                self._asked_within(ask, told, function),
            )
            here = next(searches, None)
            if here is not None:
                known.add(here.ask)
                yield here
        for call in (call for call in calls if call not in known):  # who sends all itself, for whom nobody keeps it
            named = self._anatomy.conversations.named(call, function)
            place = named or self._anatomy.conversations.held(call, function)
            if place is not None:
                yield Kept(place, call, [call], outside=named is not None)

    def _kept(self, ask: cst.Call, pasts: Iterable[_Past], told: list[cst.Call], function: Scope) -> Iterator[Kept]:
        """Those of which what was loaded is asked with, and the answer is told to what keeps it."""
        for past in pasts if told else ():
            load, where = past.load, past.where
            if not self._asked.is_sent(load, ask, past.names):
                continue
            taken, slot = self._asked.taken(function, ask, past.names), self._history.store(load, where)
            whole_in = {save: _whole(save, past.held & taken) for save in told if save is not load}
            told_to = [
                save
                for save, whole in whole_in.items()
                if self._is_told(save, past, ask, taken, whole)
                and self._history.is_one(load, save, ask, function, where, whole)
            ]
            row = next((call for call in told if self._is_saved_row(call, past, taken)), None)
            if row is not None and slot is not None and isinstance(holder := ex.receiver(row), cst.Name):
                yield Kept(slot, ask, [row], load, holder)
            elif told_to and slot is not None:
                wholes = (whole_in[save] or self._put_anew(load, save, taken) for save in told_to)
                here = self._history.grown_place(load, told_to[0]) if where is function else None
                outside = self._resources.of(load).lies_outside
                whole = next(filter(None, wholes), None)
                question = here is not None or self._stores_question(past, told_to[0], ask, function)
                yield Kept(here or slot, ask, [*told_to], load, whole, outside, question)

    def _stores_question(self, past: _Past, save: cst.Call, ask: cst.Call, function: Scope) -> bool:
        """Whether all that was loaded goes back before the model is asked, too, by the call that stores the answer."""
        same = (call for call in function.nodes_of(cst.Call) if ex.dotted(call.func) == ex.dotted(save.func))
        return any(
            _whole(call, past.held) is not None and self._asked.is_at(call, ask, function, before=True) for call in same
        )

    def _put_anew(self, load: cst.Call, save: cst.Call, taken: set[str]) -> cst.Name | None:
        """What goes with the answer into a store that deletes all that was loaded: the place of what is there by then.

        `agent.invoke(history)` gives a list that has it all.
        """
        if not self._resources.of(load).is_emptied_by(self._resources.of(save)):
            return None
        parts = (part for value in values_given(save) for part in walk(value))
        return next((part for part in parts if isinstance(part, cst.Name) and part.value in taken), None)

    def _loaded_here(self, ask: cst.Call, calls: list[cst.Call], function: Scope) -> Iterator[_Past]:
        loads = [call for call in calls if self._gives(call, ask, function)]
        for load in loads if len(loads) <= _MOST_LOADS else ():
            names = self._asked.places.derived(function, load, grown=True, until=ask)
            yield _Past(load, function, names, self._asked.holders(load))

    @kept
    def _loaded(self, begun: tuple[Scope, cst.CSTNode]) -> list[tuple[cst.Call, set[str]]]:
        """What a function loads before a call of it, and the names that hold that there."""
        outer, site = begun
        calls = outer.nodes_of(cst.Call)
        loads = [c for c in calls if self._gives(c, site, outer) and not self._anatomy.turns.reaches_model(c)]
        return [(c, self._asked.places.derived(outer, c, grown=True, until=site)) for c in loads[-_MOST_LOADS:]]

    def _handed_down(self, ask: cst.Call, function: Scope) -> Iterator[_Past]:
        """`stream(key, store.history(key))`, `def generate(): ...`: what a caller loads, or the function around one."""
        for outer, site, given in self._begun_from(function):
            for load, past in self._loaded((outer, site)):
                held = {name for name, value in given.items() if holds([value], load, past)}
                if held:
                    names = self._asked.places.derived(function, function.node, grown=True, until=ask, known=held)
                    yield _Past(load, outer, names, held, given)

    def _asked_within(self, ask: cst.Call, told: list[cst.Call], function: Scope) -> Iterator[Kept]:
        """`store.add(key, "assistant", reply_to(key, text))`: what is called loads what it asks with.

        The answer is told, with its role, where that was loaded.
        """
        taken = self._asked.taken(function, ask, set()) if told else set()
        told = [call for call in told if holds(values_given(call), ask, taken) and self._history.says_role(call)]
        found = body(self._anatomy, ask) if told else None
        reads = found[0].stored_turns.asked_with(found[1]) if found is not None else _NONE
        for read in reads:
            saves = [call for call in told if self._is_read_at(call, read, function)]
            if saves:
                slot = self._history.store(saves[0], function)
                if slot is not None:
                    yield Kept(slot, ask, [*saves], ask, None, read.lies_outside)

    def _is_read_at(self, save: cst.Call, read: Touched, function: Scope) -> bool:
        saved = self._resources.of(save)
        place = self._history.receiver(save, function)
        return read.is_read_again_after(saved) and self._history.outlives(read, saved, place)

    @once(circular=_NONE)
    def asked_with(self, function: Scope) -> Sequence[Touched]:
        """Where the history lies that a function loads, and asks a model with, itself or in what it runs."""
        return [touched for ask in self._anatomy.turns.requests(function) for touched in self._sent(ask, function)]

    @once(circular=_NONE)
    def waits_in(self, function: Scope) -> Sequence[Touched]:
        """The same, of those in which the question lies while its answer is waited for."""
        found: list[Touched] = []
        for ask in self._anatomy.turns.requests(function):
            inner = body(self._anatomy, ask)
            found += inner[0].stored_turns.waits_in(inner[1]) if inner is not None else ()
            sent = self._sent(ask, function)
            calls = (
                call for call in function.nodes_of(cst.Call) if sent and self._asked.is_done(call) and call is not ask
            )
            before = [self._resources.of(call) for call in calls if self._asked.is_at(call, ask, function, before=True)]
            found += (touched for touched in sent if any(map(touched.is_read_again_after, before)))
        return found

    def _sent(self, ask: cst.Call, function: Scope) -> list[Touched]:
        """Where that lies which one request is made with."""
        found: list[Touched] = []
        calls = function.nodes_of(cst.Call)
        loads = [call for call in calls if self._gives(call, ask, function) and self._resources.of(call).names]
        for load in loads if len(loads) <= _MOST_LOADS else ():
            past = self._asked.places.derived(function, load, grown=True, until=ask)
            if self._asked.is_sent(load, ask, past) and self._history.is_history(load, ask, function):
                found.append(self._resources.of(load))
        inner = body(self._anatomy, ask)
        return [*found, *(inner[0].stored_turns.asked_with(inner[1]) if inner is not None else ())]

    def _begun_from(self, function: Scope) -> Iterator[_BegunFrom]:
        """The functions that come to one, or define it within themselves: where, and what its names stand for there.

        Of those that call it by way of others, what these hand on.
        """
        queue, seen = [*self._begun_by(function)], {function}
        for outer, site, given in queue:
            yield outer, site, given
            if outer not in seen and len(seen) <= DEEPEST:
                seen.add(outer)
                for first, begun, told in self._begun_by(outer):
                    names = ((name, value.value) for name, value in given.items() if isinstance(value, cst.Name))
                    handed = {name: told[inner] for name, inner in names if inner in told}
                    queue += [(first, begun, handed)] if handed else []

    def _begun_by(self, function: Scope) -> Iterator[_BegunFrom]:
        around = function.parent.function if function.parent is not None else None
        seen = around.nodes_of(cst.Name) if around is not None and around.kind == "function" else []
        free = {name.value: name for name in seen if name.value not in function.bound}
        sites = [site for site in self._anatomy.calls.sites[function] if site.caller is not function]
        for site in sites:
            bound = self._facts.slots.bindings(site.node, function)
            given = {slot[2]: value for slot, value in bound if slot[0] == "var"}
            yield site.caller, site.node, {**(free if site.caller is around else {}), **given}
        for start in self._anatomy.races.starts:
            along = (
                handed_along(start.node) if start.function is function and isinstance(start.node, cst.Call) else None
            )
            if along is not None and self._facts.slots.function(along[0]) is function:
                bound = self._facts.slots.bound(along[1], function)
                yield self._module.scope_of[start.node].function, start.node, {slot[2]: value for slot, value in bound}
        if around is not None and free and all(site.caller is not around for site in sites):
            yield around, function.node, {**free}

    def _gives(self, call: cst.Call, ask: cst.CSTNode, function: Scope) -> bool:
        """Whether what a call gives is used, and may be asked with."""
        turns_over = any(Kind.HISTORY in self._facts.kinds(arg.value) for arg in call.args)
        if self._module.is_statement(call) or turns_over or self._makes(call):
            return False
        return self._module.inside(call, ask) or self._asked.is_at(call, ask, function, before=True)

    def _makes(self, call: cst.Call) -> bool:
        """Whether a call makes an object, or puts what it gets into another form, and loads nothing."""
        name = ex.dotted(call.func) or ""
        formed = bool(sources(call)) or self._facts.decoder(call) is not None
        formed = formed or self._module.imports.resolve(name) in ENCODERS
        return formed or made_class(self._anatomy, call) is not None or name in vars(builtins)

    def _is_saved_row(self, call: cst.Call, past: _Past, taken: set[str]) -> bool:
        """`row.save()`, of a row that was loaded, and into which the answer was put."""
        base = ex.receiver(call)
        if not isinstance(base, cst.Name) or base.value not in past.held & taken:
            return False
        is_saved = ex.called_name(call) in {"save", "asave"} and bool(self._resources.of(past.load).read)
        return is_saved and self._saves_talk(call, base)

    def _saves_talk(self, save: cst.Call, row: cst.Name) -> bool:
        """Whether the talk is among the columns of a row that are saved: `save(update_fields=["talk"])`."""
        named = ex.keywords(save).get("update_fields")
        if named is None:
            return True
        shown = (part for value in (named, *self._facts.values_of(named)) for part in walk(value))
        columns = (ex.text(part) for part in shown if isinstance(part, cst.SimpleString))
        slots = (self._facts.slots.member(row, column) for column in columns if column is not None)
        return any(slot is not None and Kind.HISTORY in self._facts.of(slot) for slot in slots)

    def _is_told(self, save: cst.Call, past: _Past, ask: cst.Call, taken: set[str], whole: cst.Name | None) -> bool:
        """Whether a call is handed what the model has said, and the key of what was loaded; not what runs its calls."""
        if not holds(values_given(save), ask, taken) or self._asked.places.gets_calls_only(save, ask, taken):
            return False
        load, rows = past.load, self._resources.of(save).made
        of_run = past.given is not None and ex.receiver(load) is not None
        if (
            of_run
            and self._history.receiver(load, past.where) is None
            and rows.isdisjoint(self._resources.of(load).read)
        ):
            return False  # what a run has made for itself is gone with it
        return whole is not None or self._shares_key(load, save, past.given)

    def _shares_key(
        self, one: cst.Call, other: cst.Call, given: Mapping[str, cst.BaseExpression] | None = None
    ) -> bool:
        """Whether two calls are given the same value by name; or the first gets none, but what is always the same.

        Also as a part of an object that is made before, or of a dict: `turn = Turn(key, answer)`. `given` says what the
        names of the other one stand for where the first is called.
        """
        keys = [node for value in values_given(one) for node in _plain(value) if self._is_of_run(node)]
        told = [node for value in values_given(other) for node in _plain(value)]
        made = [ex.inner(each) for node in told for each in self._facts.values_of(node)]
        told += [
            part
            for each in made
            if isinstance(each, cst.Dict)
            or (isinstance(each, cst.Call) and made_class(self._anatomy, each) is not None)
            for part in _plain(each)
        ]
        if given is not None:
            told = [part for node in told for part in _plain(given.get(ex.dotted(node) or "", node))]
        return not keys or any(self._is_one_value(key, node) for key in keys for node in told)

    def _is_one_value(self, key: cst.BaseExpression, other: cst.BaseExpression) -> bool:
        """Whether a name or attribute may hold the same in two places, or what is made of that: not what is bound anew.

        `key = photo["id"]`, `show(load(key))`, `key = sent["id"]`, `store(key)`: these are two.
        """
        of = self._facts.slots.of
        if ex.dotted(key) != ex.dotted(other) or of(key) != of(other):
            return False
        bound, queue = self._bindings(key), self._bindings(other)
        for each in queue:  # `key = key.strip()` comes of the one before
            parts = walk(each.value) if each.value is not None else ()
            again = (part for part in parts if isinstance(part, cst.Name) and part.value == each.name)
            queue += [d for part in again for d in self._anatomy.definitions(part) if d not in queue]
        return not bound or not queue or not {*bound}.isdisjoint(queue)

    def _bindings(self, node: cst.BaseExpression) -> list[Definition]:
        """What may have given the name at the root of a place its value there."""
        while isinstance(node, cst.Attribute):
            node = node.value
        return self._anatomy.definitions(node) if isinstance(node, cst.Name) else []

    def _is_of_run(self, node: cst.BaseExpression) -> bool:
        """Whether something may be another one in each run: not what the file has for all, as the length of a talk."""
        scope, root = self._module.scope_of[node], node
        while isinstance(root, cst.Attribute):
            root = root.value
        is_name = isinstance(root, cst.Name) and scope.function.kind != "module"
        return not is_name or self._module.scope_binding(scope, root.value) is not self._module.top  # type: ignore[attr-defined]


def _whole(save: cst.Call, past: set[str]) -> cst.Name | None:
    """`store.save(key, history)`, `store.save(key, json.dumps(history))`: what was loaded itself, not a part of it."""
    values = [arg.value for arg in save.args]
    for value in values:
        if isinstance(value, cst.Call):
            values += [arg.value for arg in value.args]
        elif isinstance(value, cst.Name) and value.value in past:
            return value
    return None


def _plain(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The names and attributes that a value is made of, as they are read."""
    for node in walk(value):
        if isinstance(node, (cst.Name, cst.Attribute)) and ex.dotted(node) not in {
            None,
            "self",
            "True",
            "False",
            "None",
        }:
            yield node
