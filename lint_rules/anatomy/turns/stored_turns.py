"""Turns on what a store keeps, known by its use: what it gave is asked with, and what the model says goes back to it.

`history = store.history(key)`, `reply = ask(history)`, `store.note(key, reply)`: the store may be an object, a module
of functions, or a library; messages may lie in memory, in files, tables or keys. That both calls mean one resource is
seen in their bodies, where these are of the project. So may the provider be one, or an object of its library: then a
lasting place holds the object, or what names the conversation.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import GROWERS
from lint_rules.anatomy.messages.classes import body, made_class
from lint_rules.anatomy.messages.growth import keeps_conversation
from lint_rules.anatomy.turns.foreign_growth import makes_longer
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, bound_values, holds
from lint_rules.anatomy.turns.resources import Touched, chain
from lint_rules.anatomy.turns.turns import MOST_REQUESTS
from lint_rules.anatomy.values.handed_along import handed_along
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, moved, root_object
from lint_rules.anatomy.vocabulary import (
    ASKING,
    CONFIGURED,
    CONFIGURED_KEYS,
    CONVERSATIONS,
    ENCODERS,
    MAKERS,
    MESSAGE_PARTS,
    TELLING_ROLES,
)
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import names_of_elements
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import DEEPEST, kept, once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children, walk

_DEEPEST = 4
_NONE: Sequence[Touched] = ()
_UNNAMED: Sequence[cst.BaseExpression] = ()
_RUNS = frozenset({"run", "arun"})
_MOST_LOADS = 48
"""Of a function with more calls that may load something, none is known to load the talk."""
_NEWEST = 8
"""So many reads of a place before a request are followed: those nearest to it."""
_BEGINNINGS = tuple(f".{maker}" for maker in (*MAKERS, "create_session", "uuid4"))


_BegunFrom = tuple[Scope, cst.CSTNode, dict[str, cst.BaseExpression]]


@record
class Kept:
    """`ask` is sent what a store has, and `saves` hand it what the model said; the store lives in `slot`.

    `load` gave what is sent; None where the provider keeps it, or its library. `whole`: all that was loaded goes with
    it, and takes the place of what is there by then. `outside`: it lies outside of the program, or with the provider.
    `question`: what was asked is stored before.
    """

    slot: Slot
    ask: cst.Call
    saves: list[cst.CSTNode]
    load: cst.BaseExpression | None = None
    whole: cst.Name | None = None
    outside: bool = True
    question: bool = False


class StoredTurns:
    """Finds them in one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module
        self._places = ReplyPlaces(anatomy)
        self._resources = anatomy.resources
        self._known: dict[Scope, list[Kept]] = {}
        self._around: dict[tuple[cst.CSTNode, bool], set[Point]] = {}
        self._loads: dict[tuple[Scope, cst.CSTNode], list[tuple[cst.Call, set[str]]]] = {}

    def of(self, function: Scope) -> list[Kept]:
        """Those of a function: at most one for each request that it makes itself, and for what the provider keeps."""
        if function not in self._known:
            self._known[function] = list(self._find(function))
        return self._known[function]

    def _find(self, function: Scope) -> Iterator[Kept]:
        calls = function.nodes_of(cst.Call)
        reaching = (call for call in calls if self._anatomy.turns.reaches_model(call))
        asks = [call for call in reaching if not self._module.is_statement(call)]  # else nobody takes the answer
        others = [call for call in calls if call not in {*asks}] if asks else []
        done = [call for call in others if self._is_done(call)]
        known: set[cst.Call] = set()
        for ask in asks:
            told = [call for call in done if self._is_at(call, ask, function)]
            loads = [call for call in others if self._gives(call, ask, function)] if told else []
            here = list(self._kept(ask, loads, told, function)) if len(loads) <= _MOST_LOADS else []
            here = here or (list(self._put_back(ask, function)) if len(asks) <= MOST_REQUESTS else [])
            here = here or list(islice(self._handed_down(ask, told, function), 1))
            here = here or list(islice(self._asked_within(ask, told, function), 1))
            known.update(kept.ask for kept in here)
            yield from here
        for call in (call for call in calls if call not in known):  # who sends all itself, for whom nobody keeps it
            named = self._named(call, function)
            place = named or self._held(call, function)
            if place is not None:
                yield Kept(place, call, [call], outside=named is not None)

    def _kept(self, ask: cst.Call, loads: list[cst.Call], told: list[cst.Call], function: Scope) -> Iterator[Kept]:
        for load in loads:
            past = self._places.derived(function, load, grown=True, until=ask)
            if not self._is_sent(load, ask, past):
                continue
            taken = self._taken(function, ask, past)
            slot = self._store(load, function)
            row = next((call for call in told if self._is_saved_row(call, load, taken)), None)
            if row is not None and slot is not None and isinstance(holder := ex.receiver(row), cst.Name):
                yield Kept(slot, ask, [row], load, holder)
                return
            saves = [call for call in told if call is not load and self._is_told(call, load, ask, taken)]
            whole_in = {save: _whole(save, self._holders(load) & taken) for save in saves}
            kept = [save for save, whole in whole_in.items() if self._is_one(load, save, ask, function, whole=whole)]
            if kept and slot is not None:
                whole = next(filter(None, (whole_in[save] or self._put_anew(load, save, taken) for save in kept)), None)
                here = self._grown_place(load, kept[0])
                outside, question = self._resources.of(load).lies_outside, here is not None
                yield Kept(here or slot, ask, [*kept], load, whole, outside, question)
                return

    def _put_anew(self, load: cst.Call, save: cst.Call, taken: set[str]) -> cst.Name | None:
        """What goes with the answer into a store that deletes all that was loaded: the place of what is there by then.

        `agent.invoke(history)` gives a list that has it all.
        """
        if not self._resources.of(load).is_emptied_by(self._resources.of(save)):
            return None
        parts = (part for value in _given(save) for part in walk(value))
        return next((part for part in parts if isinstance(part, cst.Name) and part.value in taken), None)

    def _put_back(self, ask: cst.Call, function: Scope) -> Iterator[Kept]:
        """`talk.append((text, ask(talk)))`: a place that lasts, by its use alone, whatever its elements are.

        What is asked must be put there, too, before or beside the answer: else it is no conversation.
        """
        for place, grown in self._grown(function).items():
            reads = [node for node in self._reads(function, place) if self._module.before(node, ask)][-_NEWEST:]
            past = {n for r in reads for n in self._places.derived(function, r, grown=True, until=ask)}
            load = next((read for read in reads if self._is_sent(read, ask, past)), None)
            names = self._places.derived(function, ask, grown=True) - past
            after = {node: value for node, value in grown.items() if self._follows(node, ask, function)}
            saves = [node for node, value in after.items() if holds([value], ask, names)]
            before = [node for node in grown if node not in after and self._is_at(node, ask, function, before=True)]
            old = names | past | {_path(node) for node in self._reads(function, place)}
            beside = any(self._is_beside(ask, function, after[node], old) for node in saves)
            if load is not None and saves and (before or beside) and self._anatomy.races.is_shared(place, {function}):
                copy = next(filter(None, (self._copy(node, place, function) for node in saves)), None)
                yield Kept(place, ask, saves, load, copy, outside=False, question=bool(before))
                return

    def _copy(self, node: cst.CSTNode, place: Slot, function: Scope) -> cst.Name | None:
        """The name of what takes the place of all that is there by then: a copy of what was read before."""
        if not isinstance(node, cst.Assign):
            return None
        inside = any(self._module.inside(read, node.value) for read in self._reads(function, place))
        return None if inside else next((part for part in walk(node.value) if isinstance(part, cst.Name)), None)

    def _follows(self, node: cst.CSTNode, ask: cst.Call, function: Scope) -> bool:
        return self._module.inside(ask, node) or self._is_at(node, ask, function)

    def _is_at(self, node: cst.CSTNode, ask: cst.CSTNode, function: Scope, *, before: bool = False) -> bool:
        """Whether a node of a function may come behind a request, or `before` it."""
        key = ask, before
        if key not in self._around:
            here = self._anatomy.points(function, [ask])
            self._around[key] = self._anatomy.flow(function).around(here, before=before)
        return not self._around[key].isdisjoint(self._anatomy.points(function, [node]))

    def _grown(self, function: Scope) -> dict[Slot, dict[cst.CSTNode, cst.BaseExpression]]:
        """What gets longer in a function that is there before and after it: where, and by what."""
        found: dict[Slot, dict[cst.CSTNode, cst.BaseExpression]] = {}
        for node in function.nodes_of(cst.Call, cst.AugAssign, cst.Assign):
            if isinstance(node, cst.Call):
                target = ex.receiver(node) if ex.called_name(node) in GROWERS and node.args else None
                value: cst.BaseExpression = node.args[-1].value if node.args else node
            elif isinstance(node, (cst.AugAssign, cst.Assign)):
                target, value = ex.targets(node)[0], node.value
            else:
                continue
            place = self._lasting(target, function) if target is not None else None
            if place is not None and (not isinstance(node, cst.Assign) or self._is_longer(place, node, function)):
                found.setdefault(place, {})[node] = value
            for there in self._grown_there(node) if isinstance(node, cst.Call) and node.args else ():
                found.setdefault(there, {})[node] = value
        return found

    def _grown_there(self, call: cst.Call) -> Iterator[Slot]:
        """The globals of another file, as this one has them, that a function there makes longer: `note(key, line)`."""
        found = self._anatomy.imported_function(ex.dotted(call.func) or "") if self._imported else None
        for place in found[0].stored_turns._grown(found[1]) if found is not None else ():
            own = self._imported.get((found[0], root_object(place))) if found is not None else None
            if own is not None:
                yield moved(place, root_object(place), own)

    @cached_property
    def _imported(self) -> dict[tuple[Anatomy, Slot], Slot]:
        """The globals of other files of which this one reads a part, each as it has it."""
        used = {ex.dotted(node.value) for node in self._module.nodes_of(cst.Subscript)} & {*self._module.imports.full}
        found = ((self._anatomy.imported_value(name), name) for name in used if name is not None)
        return {value: ("var", self._module.top, name) for value, name in found if value is not None}

    def _is_longer(self, place: Slot, node: cst.Assign, function: Scope) -> bool:
        """`self.said = self.said + [text]`: something is added to what was there, or to a copy, and takes its place."""
        read = [*self._reads(function, place)]
        before = [part for part in read if self._module.before(part, node)][-_NEWEST:]
        names = {name for part in before for name in self._places.derived(function, part, until=node)}
        again = any(self._module.inside(part, node.value) for part in read) or holds([node.value], node, names)
        local = self._facts.slots.of(ex.targets(node)[0])
        return again and not (local is not None and local[:2] == ("var", function) and local != place)

    def _lasting(self, node: cst.BaseExpression, function: Scope) -> Slot | None:
        slot = self._facts.slots.of(node)
        place = self._anatomy.aliases.of(slot) if slot is not None else None
        return place if place is not None and self._anatomy.aliases.is_lasting(place, function) else None

    def _reads(self, function: Scope, place: Slot) -> Iterator[cst.BaseExpression]:
        for node in function.nodes_of(cst.Name, cst.Attribute, cst.Subscript, cst.Call):
            if isinstance(node, cst.BaseExpression) and self._lasting(node, function) == place:
                yield node

    def _is_beside(self, ask: cst.Call, function: Scope, value: cst.BaseExpression, names: set[str]) -> bool:
        """Whether something that the model was sent is put somewhere together with its answer, and is not old.

        `names` hold the answer, and what was there before, or are paths of that.
        """
        sent, made = self._made_of(_handed(ask), ask, function), self._made_of([value], ask, function)
        return any(path in sent and not names & {path, root} for path, root in made.items())

    def _made_of(self, values: Sequence[cst.CSTNode], ask: cst.Call, function: Scope) -> dict[str, str]:
        """What values are made of, as it is written, also in what their names are bound to, and with which root.

        Not in what is made of the answer of a request.
        """
        queue = [*values]
        found: dict[str, str] = {}
        for here in queue:
            new = {path: root for path, root in _paths(here).items() if path not in found}
            found |= new
            bound = (v for name in new if name.isidentifier() for v in bound_values(self._anatomy, function, name))
            queue += [value for value in bound if not self._module.inside(ask, value)]
        return found

    def _tells_both(self, load: cst.Call, save: cst.Call, ask: cst.Call, function: Scope) -> bool:
        """Whether what was asked is stored, too, in one call with the answer or in another one.

        That is neither a key nor what was loaded: marks for rows that wait for them are no conversation.
        """
        past = self._places.derived(function, load, grown=True, until=ask)
        names = self._places.derived(function, ask, grown=True) | past
        keys = {p for arg in load.args for p in _paths(arg.value)}
        sent, read = self._made_of(_handed(ask), ask, function).keys() - keys, self._resources.of(load).read
        others = (call for call in function.nodes_of(cst.Call) if self._is_done(call) and call not in {load, ask})
        made = (call for call in others if call is save or not read.isdisjoint(self._resources.of(call).made))
        stored = (item for call in made for arg in call.args for item in _paths(arg.value).items())
        return any(path in sent and root not in names for path, root in stored)

    def _loaded(self, outer: Scope, site: cst.CSTNode) -> list[tuple[cst.Call, set[str]]]:
        """What a function loads before a call of it, and the names that hold that there."""
        found = self._loads.get((outer, site))
        if found is None:
            calls = outer.nodes_of(cst.Call)
            loads = [c for c in calls if self._gives(c, site, outer) and not self._anatomy.turns.reaches_model(c)]
            found = [(c, self._places.derived(outer, c, grown=True, until=site)) for c in loads[-_MOST_LOADS:]]
            self._loads[outer, site] = found
        return found

    def _handed_down(self, ask: cst.Call, told: list[cst.Call], function: Scope) -> Iterator[Kept]:
        """`stream(key, store.history(key))`, `def generate(): ...`: what a caller loads, or the function around one."""
        for outer, site, given in self._begun_from(function) if told else ():
            for load, past in self._loaded(outer, site):
                names = {name for name, value in given.items() if holds([value], load, past)}
                if not names:
                    continue
                past = self._places.derived(function, function.node, grown=True, until=ask, known=names)
                if not self._is_sent(load, ask, past):
                    continue
                taken, slot = self._taken(function, ask, past), self._store(load, outer)
                saves = [save for save in told if holds(_given(save), ask, taken)]
                saves = [save for save in saves if self._shares_key(load, save, given)]
                kept = [save for save in saves if self._is_one(load, save, ask, function, outer)]
                if ex.receiver(load) is not None and self._receiver(load, outer) is None:  # of this run: but its rows
                    read = self._resources.of(load).read
                    kept = [save for save in kept if not read.isdisjoint(self._resources.of(save).made)]
                if kept and slot is not None:
                    wholes = (_whole(save, names & taken) or self._put_anew(load, save, taken) for save in kept)
                    whole = next(filter(None, wholes), None)
                    yield Kept(slot, ask, [*kept], load, whole, self._resources.of(load).lies_outside)

    def _asked_within(self, ask: cst.Call, told: list[cst.Call], function: Scope) -> Iterator[Kept]:
        """`store.add(key, "assistant", reply_to(key, text))`: what is called loads what it asks with.

        The answer is told, with its role, where that was loaded.
        """
        taken = self._taken(function, ask, set()) if told else set()
        told = [call for call in told if holds(_given(call), ask, taken) and self._says_role(call)]
        found = body(self._anatomy, ask) if told else None
        reads = found[0].stored_turns.asked_with(found[1]) if found is not None else _NONE
        for read in reads:
            saves = [call for call in told if self._is_read_at(call, read, function)]
            if saves:
                slot = self._store(saves[0], function)
                if slot is not None:
                    yield Kept(slot, ask, [*saves], ask, None, read.lies_outside)

    def _is_read_at(self, save: cst.Call, read: Touched, function: Scope) -> bool:
        saved = self._resources.of(save)
        return read.is_read_again_after(saved) and self._outlives(read, saved, self._receiver(save, function), save)

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
            calls = (call for call in function.nodes_of(cst.Call) if sent and self._is_done(call) and call is not ask)
            before = [self._resources.of(call) for call in calls if self._is_at(call, ask, function, before=True)]
            found += (touched for touched in sent if any(map(touched.is_read_again_after, before)))
        return found

    def _sent(self, ask: cst.Call, function: Scope) -> list[Touched]:
        """Where that lies which one request is made with."""
        found: list[Touched] = []
        calls = function.nodes_of(cst.Call)
        loads = [call for call in calls if self._gives(call, ask, function) and self._resources.of(call).names]
        for load in loads if len(loads) <= _MOST_LOADS else ():
            past = self._places.derived(function, load, grown=True, until=ask)
            if self._is_sent(load, ask, past) and self._is_history(load, ask, function):
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

    # -- what the provider keeps --------------------------------------------------------------------------------

    @cached_property
    def keys(self) -> frozenset[cst.CSTNode]:
        """The names in what tells the provider, or its library, with which conversation a call of the file goes on."""
        named = (value for call in self._module.nodes_of(cst.Call) for value in self._naming(call))
        return frozenset(part for value in named for part in walk(value) if isinstance(part, cst.Name))

    def tells_apart(self, call: cst.Call) -> bool:
        """Whether a call names the conversation that it goes on with, by what is not the same for all: text, global."""
        slots = (self._facts.slots.of(value) for value in self._naming(call) if ex.text(value) is None)
        return any(slot is None or slot[:2] != ("var", self._module.top) for slot in slots)

    def _named(self, call: cst.Call, function: Scope) -> Slot | None:
        """Where what names the conversation lives with which a call goes on that the provider keeps."""
        for value in self._naming(call):
            slot = self._facts.slots.of(value)
            if slot is not None and not self._is_begun_here(value, slot, function):
                return self._anatomy.aliases.of(slot)
        return None

    def _held(self, call: cst.Call, function: Scope) -> Slot | None:
        """Where the object of a library lives that keeps the conversation with which a call goes on.

        Or where that lives which such an object was given to keep: `Chain(memory=memories[key]).run(text)`.
        """
        base = ex.receiver(call)
        slot = self._facts.slots.of(base) if base is not None and call.args else None
        for place in self._anatomy.aliases.may_be(slot) if slot is not None else ():
            if self._anatomy.aliases.is_lasting(place, function) and self._holds_session(place):
                return place
        if ex.called_name(call) not in ASKING | CONFIGURED | _RUNS or base is None:
            return None
        made = [base] if isinstance(base, cst.Call) else self._facts.assigned(slot)
        given = (arg.value for value in made if isinstance(inner := ex.inner(value), cst.Call) for arg in inner.args)
        places = (self._lasting(value, function) for value in given)
        kept = (place for place in places if place is not None and self._holds_session(place))
        lasting = self._lasting(base, function)
        return next(kept, lasting if lasting is not None and self._holds_session(lasting, given=True) else None)

    def _naming(self, call: cst.Call) -> list[cst.BaseExpression]:
        """What tells the provider, or its library, which conversation a call goes on with."""
        names, given = [f".{name}" for name in self._names(call)], self._given(call)
        named = [words for end, words in CONVERSATIONS.items() if any(name.endswith(f".{end}") for name in names)]
        found = [given[word] for words in named for word in words if word in given]
        config = given.get("config") or ex.argument(call, "config", 1) if ex.called_name(call) in CONFIGURED else None
        return [*found, *self._configured(config)] if config is not None else found

    @once(circular=_UNNAMED)
    def _configured(self, config: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
        """What names the conversation in a config, also in one that a function gives: `config = config_of(key)`."""
        inner = [ex.dict_items(value).get("configurable") for value in (config, *self._facts.values_of(config))]
        keys = [ex.dict_items(value) for value in inner if value is not None]
        found = [value for items in keys for key, value in items.items() if key in CONFIGURED_KEYS]
        for call, at in self._makers(config):
            for there, maker in filter(None, (body(self._anatomy, call),)):
                given = dict(there.facts.slots.bindings(call, maker))
                made = (part for node in maker.nodes_of(cst.Return) for part in _parts_at(node.value, at))
                names = (key for part in made for key in there.stored_turns._configured(part))
                slots = (there.facts.slots.of(key) for key in names)
                found += (given[slot] for slot in slots if slot in given)
        return found

    def _makers(self, value: cst.BaseExpression) -> Iterator[tuple[cst.Call, int | None]]:
        """The calls that a value comes from, and as which part of what they give: `agent, config = begun(key)`."""
        slot = self._facts.slots.of(value)
        made = slot[1].function.nodes_of(cst.Assign) if slot is not None and slot[0] == "var" else []
        if isinstance(value, cst.Call):
            yield value, None
        for node in made:
            call = ex.inner(node.value)
            for target in ex.targets(node) if isinstance(call, cst.Call) else ():
                parts = [each.value for each in target.elements] if isinstance(target, cst.Tuple) else [target]
                for at, part in enumerate(parts):
                    if self._facts.slots.of(part) == slot:
                        yield call, at if isinstance(target, cst.Tuple) else None  # type: ignore[misc]

    def _names(self, call: cst.Call) -> Iterator[str]:
        """How a call is written, and what it is of the class that makes its object: `Runner.run_async`."""
        yield ex.dotted(call.func) or ""
        base = ex.receiver(call)
        slot = self._facts.slots.of(base)
        places = self._anatomy.aliases.may_be(slot) if slot is not None else []
        for made in (ex.inner(value) for place in places for value in self._facts.assigned(place)):
            if isinstance(made, cst.Call):
                yield f"{ex.dotted(made.func)}.{ex.called_name(call)}"

    def _is_begun_here(self, value: cst.BaseExpression, slot: Slot, function: Scope) -> bool:
        """Whether what names a conversation is made for this run: begun with the provider, or without a key."""
        while slot[0] == "member":
            slot = slot[1]
        made = self._facts.assigned(slot) if slot[:2] == ("var", function) else [value]
        return (
            bool(made)
            and not is_parameter(slot)
            and all(self._begins(part) for each in made for part in ex.alternatives(each))
        )

    def _begins(self, value: cst.BaseExpression) -> bool:
        """`threads.create().id`, `str(uuid4())`, `SQLiteSession(":memory:")`."""
        made = ex.inner(value)
        if isinstance(made, cst.Call) and keeps_conversation(self._module, made):
            return len(made.args) < 2
        calls = (part for part in walk(value) if isinstance(part, cst.Call))
        return any(f".{ex.dotted(call.func)}".endswith(_BEGINNINGS) for call in calls)

    def _given(self, call: cst.Call) -> dict[str, cst.BaseExpression]:
        """What a call gets by keyword, also spread: `create(**request)`."""
        given = dict(ex.keywords(call))
        for arg in call.args:
            slot = self._facts.slots.of(arg.value) if arg.star == "**" else None
            given.update(self._facts.members(slot) if slot is not None else {})
        return given

    def _holds_session(self, slot: Slot, depth: int = 0, *, given: bool = False) -> bool:
        """Whether a library has made what lives in a slot, and keeps a conversation in it.

        With `given`, also if it was given an object to keep that does so: `AgentExecutor(memory=memory)`.
        """
        returns = slot[1].nodes_of(cst.Return) if slot[0] == "return" else []
        values = [*self._facts.assigned(slot), *(node.value for node in returns if node.value is not None)]
        for part in (part for value in values for part in ex.alternatives(value)):
            inner = self._facts.slots.of(part)
            if isinstance(part, cst.Call) and (
                keeps_conversation(self._module, part) or self._gets_session(part, depth)
            ):
                return True
            if inner is not None and inner != slot and depth < _DEEPEST:
                if self._holds_session(inner, depth + 1, given=given):
                    return True
            if given and isinstance(part, cst.Call) and self._facts.slots.callee(part) is None:
                if any(self._is_session(arg.value, depth) for arg in part.args):
                    return True
        return False

    def _gets_session(self, call: cst.Call, depth: int) -> bool:
        """Whether a function of another file gives such an object: `talks[key] = begun(prompt)`."""
        plain = isinstance(call.func, (cst.Name, cst.Attribute)) and self._facts.slots.callee(call) is None
        found = self._anatomy.imported_function(ex.dotted(call.func) or "") if plain and depth < _DEEPEST else None
        return found is not None and found[0].stored_turns._holds_session(("return", found[1]), depth + 1)

    def _is_session(self, value: cst.BaseExpression, depth: int) -> bool:
        slot = self._facts.slots.of(value)
        made = isinstance(value, cst.Call) and keeps_conversation(self._module, value)
        return made or (slot is not None and depth < _DEEPEST and self._holds_session(slot, depth + 1))

    # -- what becomes of what it gave ---------------------------------------------------------------------------

    def _gives(self, call: cst.Call, ask: cst.CSTNode, function: Scope) -> bool:
        """Whether what a call gives is used, and may be asked with."""
        turns_over = any(Kind.HISTORY in self._facts.kinds(arg.value) for arg in call.args)
        if self._module.is_statement(call) or turns_over or self._makes(call):
            return False
        return self._module.inside(call, ask) or self._is_at(call, ask, function, before=True)

    def _is_done(self, call: cst.Call) -> bool:
        """Whether a call may be made for what it does: it is no part of another value."""
        return isinstance(self._module.awaiting(call), cst.Expr | cst.Assign | cst.AnnAssign | cst.Return | cst.Arg)

    def _makes(self, call: cst.Call) -> bool:
        """Whether a call makes an object, or puts what it gets into another form, and loads nothing."""
        name = ex.dotted(call.func) or ""
        formed = bool(sources(call)) or self._facts.decoder(call) is not None
        formed = formed or self._module.imports.resolve(name) in ENCODERS
        return formed or made_class(self._anatomy, call) is not None or name in vars(builtins)

    def _is_sent(self, load: cst.BaseExpression, ask: cst.Call, past: set[str]) -> bool:
        """Whether what a call gave is asked with."""
        return holds([*_handed(ask), *self._read_within(ask)], load, past)

    def _read_within(self, ask: cst.Call) -> Iterator[cst.BaseExpression]:
        """What a function of this file reads that what asks is handed: `await to_thread(answer)`."""
        for arg in ask.args:
            run = self._facts.slots.function(arg.value) if isinstance(arg.value, cst.Name) else None
            if run is not None:
                yield from (part.value for call in run.nodes_of(cst.Call) for part in call.args)

    def _taken(self, function: Scope, ask: cst.Call, past: set[str]) -> set[str]:
        """The names that hold what the model says; of what was loaded, those that it is put into by some method."""
        names = self._places.derived(function, ask, grown=True) | {*self._put_into(ask, past), *self._filled(ask)}
        for node in function.nodes_of(cst.Expr):
            call = ex.inner(node.value)
            root = ex.receiver(call)
            while isinstance(root, (cst.Attribute, cst.Subscript)):
                root = root.value
            if isinstance(call, cst.Call) and isinstance(root, cst.Name) and root.value in past:
                if holds([arg.value for arg in call.args], ask, names):
                    names.add(root.value)
        return names

    def _put_into(self, ask: cst.Call, past: set[str]) -> Iterator[str]:
        """The names of what was loaded that what asks is handed, and makes longer itself: `answer(talk, text)`."""
        found = body(self._anatomy, ask)
        for parameter, value in found[0].facts.slots.bindings(ask, found[1]) if found is not None else ():
            if found is not None and isinstance(value, cst.Name) and value.value in past:
                if makes_longer(*found, parameter):
                    yield value.value

    def _filled(self, ask: cst.Call) -> Iterator[str]:
        """The names of what is handed to what asks, and into which that puts something: `answer(text, state)`."""
        found = body(self._anatomy, ask)
        for parameter, value in found[0].facts.slots.bindings(ask, found[1]) if found is not None else ():
            if found is not None and isinstance(value, cst.Name) and found[0].facts.members(parameter):
                yield value.value

    def _holders(self, load: cst.Call) -> set[str]:
        """The names that are bound to what a call gives, not to a part of it."""
        holder = self._module.parent[load]
        while isinstance(holder, (cst.Await, cst.BooleanOperation)):
            holder = self._module.parent[holder]
        targets = ex.targets(holder) if isinstance(holder, (cst.Assign, cst.AnnAssign)) else []
        first = [t.elements[0].value if isinstance(t, cst.Tuple) and t.elements else t for t in targets]
        return {target.value for target in first if isinstance(target, cst.Name)}

    def _is_saved_row(self, call: cst.Call, load: cst.Call, taken: set[str]) -> bool:
        """`row.save()`, of a row that was loaded, and into which the answer was put."""
        base = ex.receiver(call)
        is_row = isinstance(base, cst.Name) and base.value in self._holders(load) & taken
        return is_row and ex.called_name(call) in {"save", "asave"} and bool(self._resources.of(load).read)

    def _is_told(self, call: cst.Call, load: cst.Call, ask: cst.Call, taken: set[str]) -> bool:
        """Whether a call is handed what the model has said, and the key of what was loaded."""
        return holds(_given(call), ask, taken) and (
            self._shares_key(load, call) or _whole(call, self._holders(load) & taken) is not None
        )

    def _shares_key(
        self, one: cst.Call, other: cst.Call, given: Mapping[str, cst.BaseExpression] | None = None
    ) -> bool:
        """Whether two calls are given the same name or attribute; or the first gets none, but what is always the same.

        `given` says what the names of the other one stand for where the first is called.
        """
        keys = {ex.dotted(node) for value in _given(one) for node in _plain(value) if self._is_of_run(node)}
        told = [node for value in _given(other) for node in _plain(value)]
        if given is not None:
            told = [part for node in told for part in _plain(given.get(ex.dotted(node) or "", node))]
        return not keys or any(ex.dotted(node) in keys for node in told)

    def _is_of_run(self, node: cst.BaseExpression) -> bool:
        """Whether something may be another one in each run: not what the file has for all, as the length of a talk."""
        scope, root = self._module.scope_of[node], node
        while isinstance(root, cst.Attribute):
            root = root.value
        is_name = isinstance(root, cst.Name) and scope.function.kind != "module"
        return not is_name or self._module.scope_binding(scope, root.value) is not self._module.top  # type: ignore[attr-defined]

    # -- whether both mean one history --------------------------------------------------------------------------

    def _is_one(
        self,
        load: cst.Call,
        save: cst.Call,
        ask: cst.Call,
        function: Scope,
        outer: Scope | None = None,
        whole: cst.Name | None = None,
    ) -> bool:
        """Whether a call in `function` stores messages where another one, maybe of an `outer` function, loaded them.

        `whole` is what it stores, if that is all that was loaded.
        """
        where = outer or function
        one, other = self._resources.of(load), self._resources.of(save)
        loads, saves = self._resources.runs(load), self._resources.runs(save)
        known = loads is not None and saves is not None
        place, same = self._receiver(load, where), self._receiver(save, function)
        if not known:
            is_same = place is not None and place == same
            handed = load.args and not self._handles(load, where).isdisjoint(self._handles(save, function))
            if (is_same or handed) and self._is_history(load, ask, where):
                return True
        if (
            (known and loads is saves)
            or not (one.is_read_again_after(other) or (whole is not None and one.is_put_back_by(other)))
            or not self._outlives(one, other, place, save)
        ):
            return False
        if self._is_history(load, ask, where) or self._says_role(save):
            return True
        if where is not function:
            return False
        if one.read & other.made:
            return self._tells_both(load, save, ask, function)
        return self._grows_what_is_read(load, save) is not None and self._is_told_before(save, load, function)

    def _grown_place(self, load: cst.Call, save: cst.Call) -> Slot | None:
        """Where the lines of a talk lie that two functions of this file keep: one reads what the other adds."""
        function, runs = self._module.scope_of[save].function, self._facts.slots.callee(save)
        is_told = runs is not None and self._is_told_before(save, load, function)
        return self._grows_what_is_read(load, save) if is_told else None

    def _grows_what_is_read(self, load: cst.Call, save: cst.Call) -> Slot | None:
        """The list or text that what a call runs makes longer, and another one reads, in one file."""
        (there, reader), (other, grower) = (body(self._anatomy, call) or (None, None) for call in (load, save))
        if there is None or there is not other or reader is None or grower is None:
            return None
        turns = there.stored_turns
        return next((place for place in turns._grown(grower) if any(turns._reads(reader, place))), None)

    def _is_told_before(self, save: cst.Call, load: cst.Call, function: Scope) -> bool:
        """Whether what stores the answer has stored something, too, before it is loaded: the question."""
        runs = self._resources.runs(save)
        same = (call for call in function.nodes_of(cst.Call) if call is not save and self._resources.runs(call) is runs)
        return any(self._is_at(call, load, function, before=True) for call in same)

    def _outlives(self, one: Touched, other: Touched, place: Slot | None, save: cst.Call) -> bool:
        """Whether the resource is there for other runs: outside, a global, or of an object that they have, too."""
        return (one.lies_outside and bool(other.lies_outside or other.over)) or (
            place is not None and (self._module.is_statement(save) or self._says_role(save))
        )

    def _handles(self, call: cst.Call, function: Scope) -> set[str]:
        """The objects of which methods are called, also in a function of this file, that `function` was given.

        As it writes them: `dao.talks`.
        """
        callee, given = self._facts.slots.callee(call), parameter_names(function)
        inner = callee.nodes_of(cst.Call) if callee is not None else [call]
        bound = (
            {}
            if callee is None
            else {
                slot[2]: ex.dotted(value)
                for slot, value in self._facts.slots.bindings(call, callee)
                if slot[0] == "var"
            }
        )
        found = set()
        for each in inner:
            base = ex.receiver(each)
            root, dot, rest = ((ex.dotted(base) or "") if base is not None else "").partition(".")
            name = bound.get(root) if callee is not None else root
            if each.args and name is not None and name.partition(".")[0] in given:
                found.add(f"{name}{dot}{rest}")
        return found

    def _receiver(self, call: cst.Call, function: Scope) -> Slot | None:
        """The lasting place of the object of which a method is called; of a function its file."""
        base = ex.receiver(call)
        if base is None:
            return ("var", self._module.top, ex.called_name(call)) if self._resources.runs(call) is not None else None
        slot = self._facts.slots.of(base)
        place = self._anatomy.aliases.of(slot) if slot is not None else None
        lasts = place is not None and self._anatomy.aliases.is_lasting(place, function)
        is_library = isinstance(base, cst.Name) and self._is_library(base.value)
        return place if lasts and not is_library else None

    def _store(self, load: cst.Call, function: Scope) -> Slot | None:
        """What the store is called: where the object lives, or as its rows are."""
        touched = self._resources.of(load)
        tables = [name for name in touched.got if " " not in name]
        named = min([*touched.read, *touched.outside, *tables, *([] if tables else [ex.called_name(load)])])
        return self._receiver(load, function) or ("var", self._module.top, named)

    def _is_library(self, name: str) -> bool:
        """`json` of `json.loads(text)`: a module that is not of the project."""
        if name not in self._module.imports.full or self._anatomy.imports_module(name):
            return False
        return all(self._anatomy.defined_elsewhere(name, keyword) is None for keyword in ("", "class"))

    def _is_history(self, load: cst.Call, ask: cst.Call, function: Scope) -> bool:
        """Whether what a call gives is known to be a history: what holds it is one, or is sent as one."""
        names = self._listed(load, function)
        request = self._facts.calls.get(ask)
        sent = [request.history] if request is not None and request.history is not None else []
        for there, callee in filter(None, (body(self._anatomy, ask),)):
            bound = there.facts.slots.bindings(ask, callee)
            sent += [value for slot, value in bound if Kind.HISTORY in there.facts.of(slot)]
        if any(_is_listed(value, load, names) for value in sent) or self._gives_history(load):
            return True
        known = [load, *(name for name in function.nodes_of(cst.Name) if name.value in names)]
        grown = any(self._put_into(ask, names))
        return grown or any(Kind.HISTORY in self._facts.kinds(node) for node in known)

    def _gives_history(self, load: cst.Call) -> bool:
        """Whether the function of a call gives back a history, or makes messages of what it has read."""
        found = body(self._anatomy, load)
        there, nodes = (found[0], found[1].nodes) if found is not None else (self._anatomy, [])
        return any(
            (isinstance(node, cst.Return) and node.value is not None and Kind.HISTORY in there.facts.kinds(node.value))
            or (
                isinstance(node, cst.Dict)
                and "role" in (keys := ex.dict_items(node))
                and not MESSAGE_PARTS.isdisjoint(keys)
            )
            for node in nodes
        )

    def _listed(self, load: cst.Call, function: Scope) -> set[str]:
        """The names that hold what a call gives, or lists with its elements; not what is made of their texts."""
        names = self._holders(load)
        for _ in range(_DEEPEST):
            for value, targets in self._bound(function):
                if _is_listed(value, load, names):
                    names.update(target.value for target in targets if isinstance(target, cst.Name))
        return names

    @kept
    def _bound(self, function: Scope) -> list[tuple[cst.BaseExpression, Sequence[cst.BaseExpression]]]:
        """What a function binds, and to what; also `messages.extend(store.history(key))`, and that one by one."""
        nodes = function.nodes_of(cst.Assign, cst.AnnAssign)
        found: list[tuple[cst.BaseExpression, Sequence[cst.BaseExpression]]] = [
            (node.value, ex.targets(node)) for node in nodes if node.value is not None
        ]
        for call in function.nodes_of(cst.Call):
            base = ex.receiver(call) if ex.called_name(call) in {"extend", "append"} and call.args else None
            if base is not None and ex.called_name(call) == "extend":
                found.append((call.args[0].value, [base]))
            elif base is not None and (loop := self._gone_through(call)) is not None:
                found.append((loop.iter, [base]))
        return found

    def _gone_through(self, call: cst.Call) -> cst.For | None:
        """The loop of which a call is handed each element, or what is made of that."""
        loops = (outer for outer in self._module.ancestors(call) if isinstance(outer, cst.For))
        names = names_in(*call.args)
        return next((loop for loop in loops if names & names_of_elements(loop)), None)

    def _says_role(self, call: cst.Call) -> bool:
        """`store.note(key, "assistant", reply)`, also in what a function of this file does."""
        callee = self._facts.slots.callee(call)
        inner = [c for f in self._anatomy.calls.reachable(callee) for c in f.nodes_of(cst.Call)] if callee else []
        parts = (part for each in (call, *inner) for value in _given(each) for part in walk(value))
        return any(
            ex.text(part) in TELLING_ROLES or Kind.MESSAGE in self._facts.kinds(part)
            for part in parts
            if isinstance(part, (cst.SimpleString, cst.Dict, cst.Call, cst.Name))
        )


def _parts_at(value: cst.BaseExpression | None, at: int | None) -> Sequence[cst.BaseExpression]:
    """What is given back, or one part of it."""
    if at is None or value is None:
        return [value] if value is not None else []
    return [each.value for each in value.elements[at : at + 1]] if isinstance(value, cst.Tuple) else []


def _handed(call: cst.Call) -> list[cst.BaseExpression]:
    """What a call is made with: its arguments, and the object of which it is a method."""
    base = ex.receiver(call)
    return [*(arg.value for arg in call.args), *([base] if base is not None else [])]


def _given(call: cst.Call) -> list[cst.BaseExpression]:
    """What a call is made with, and those before it in a chain: `db.table("t").insert({"text": text}).execute()`."""
    return [arg.value for each in chain(call) for arg in each.args]


def _paths(value: cst.CSTNode) -> dict[str, str]:
    """What a value is made of, each as it is written, with the name at its root: `event["text"]`, `message.content`."""
    found: dict[str, str] = {}
    queue = [value]
    for node in queue:
        root, path = _root(node), node
        if ex.slice_of(node) is not None:  # a cut list is made of the same
            queue += [node.value]  # type: ignore[attr-defined]
        elif isinstance(root, cst.Name) and isinstance(path, cst.BaseExpression):
            found[_path(path)] = root.value
        elif isinstance(node, cst.Call):
            base = ex.receiver(node)
            queue += [*(arg.value for arg in node.args), *([base] if base is not None else [])]
        else:
            queue += children(node)
    return found


def _path(node: cst.CSTNode) -> str:
    """A node as it is written, with quotes of one kind."""
    return ex.source(node).replace('"', "'")


def _root(node: cst.CSTNode) -> cst.CSTNode:
    """The name at the root of a place, or of a part of it that a text picks: `request.json.get("text")`."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        if isinstance(node, cst.Call):
            picks = ex.called_name(node) == "get" and node.args and ex.text(node.args[0].value) is not None
            base = ex.receiver(node) if picks else None
            if base is None:
                return node
            node = base
        else:
            node = node.value
    return node


def _is_listed(value: cst.BaseExpression, load: cst.Call, names: set[str]) -> bool:
    """Whether a value is what a call gave, a part of it, or a list with its elements."""
    queue: list[cst.BaseExpression] = [value]
    for here in queue:
        if here is load or (isinstance(here, cst.Name) and here.value in names):
            return True
        if isinstance(here, cst.Await):
            queue.append(here.expression)
        elif isinstance(here, cst.Attribute | cst.Subscript):
            queue.append(here.value)
        elif isinstance(here, cst.BinaryOperation | cst.BooleanOperation):
            queue += [here.left, here.right]
        elif isinstance(here, cst.IfExp):
            queue += [here.body, here.orelse]
        elif isinstance(here, cst.ListComp | cst.GeneratorExp):
            queue.append(here.for_in.iter)
        elif isinstance(here, cst.List):
            queue += [part.value for part in here.elements if isinstance(part, cst.StarredElement)]
        elif isinstance(here, cst.Call):
            base = ex.receiver(here)
            queue += [*(arg.value for arg in here.args), *([base] if base is not None else [])]
    return False


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
