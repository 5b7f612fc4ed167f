"""Turns on what a store keeps, known by its use: what it gave is asked with, and what the model says goes back to it.

`history = store.history(key)`, `reply = ask(history)`, `store.note(key, reply)`: the store may be an object, a module
of functions, or a library; messages may lie in memory, in files, tables or keys. That both calls mean one resource is
seen in their bodies, where these are of the project. So may the provider be one, or an object of its library: then a
lasting place holds the object, or what names the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.growth import keeps_conversation
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import CONVERSATIONS, TELLING_ROLES
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_TABLE = re.compile(r"\b(?:from|into|update|join)\s+[\"`\[]?(\w+)", re.I)
_KEY = re.compile(r"[:/._-]")


@record
class Kept:
    """`ask` is sent what a store has, and `saves` hand it what the model said; the store lives in `slot`.

    `load` gave what is sent; None where the provider keeps it, or its library. `whole`: all that was loaded goes with
    it, and takes the place of what is there by then.
    """

    slot: Slot
    ask: cst.Call
    saves: list[cst.Call]
    load: cst.Call | None = None
    whole: cst.Name | None = None


@record
class _Resource:
    """What a function touches: outside of the program (tables, files, keys), and in it (attributes and globals)."""

    outside: frozenset[str]
    inside: frozenset[str]

    def is_that_of(self, other: _Resource) -> bool:
        if self.outside and other.outside:
            return not self.outside.isdisjoint(other.outside)
        return not self.inside.isdisjoint(other.inside)


class StoredTurns:
    """Finds them in one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module
        self._places = ReplyPlaces(anatomy)
        self._resources: dict[Scope, _Resource] = {}
        self._reached: dict[Scope, dict[Slot, list[cst.Call]]] = {}

    def of(self, function: Scope) -> Iterator[Kept]:
        """Those of a function, one for each request and store."""
        calls = function.nodes_of(cst.Call)
        asks = [call for call in calls if self._anatomy.turns.reaches_model(call)]
        reached = (
            {call: stores for call in calls if call not in asks and (stores := self._stores(call, function))}
            if asks
            else {}
        )
        for ask in asks:
            told: set[Slot] = set()
            for load, loaded in reached.items():
                past = self._places.derived(function, load, grown=True, until=ask)
                if not self._is_sent(load, ask, past, function):
                    continue
                taken = self._taken(function, ask, past)
                for slot, inner in loaded.items():
                    saves = [
                        call
                        for call, kept in reached.items()
                        if call is not load
                        and self._is_told(call, load, ask, past, taken)
                        and any(self._is_one_history(inner, save, load, ask, past) for save in kept.get(slot, ()))
                    ]
                    if saves and slot not in told:
                        told.add(slot)
                        whole = next(filter(None, (_handed_whole(save, past) for save in saves)), None)
                        yield Kept(slot, ask, saves, load, whole)
        for call in calls:
            place = self._goes_on(call, function)
            if place is not None:
                yield Kept(place, call, [call])

    def _goes_on(self, call: cst.Call, function: Scope) -> Slot | None:
        """Where the object lives, or what names the conversation, with which a call goes on that the provider keeps."""
        name, given = f".{ex.dotted(call.func)}", self._given(call)
        named = [words for end, words in CONVERSATIONS.items() if name.endswith(f".{end}")]
        values = [given[word] for words in named for word in words if word in given]
        base = ex.receiver(call)
        for value in values or ([base] if base is not None and call.args else []):
            slot = self._facts.slots.of(value)
            place = self._anatomy.aliases.of(slot) if slot is not None else None
            if slot is None or place is None or not self._anatomy.aliases.is_lasting(place, function):
                continue
            made = (ex.inner(part) for kept in (slot, place) for part in self._facts.assigned(kept))
            if values or any(isinstance(m, cst.Call) and keeps_conversation(self._module, m) for m in made):
                return place
        return None

    def _given(self, call: cst.Call) -> dict[str, cst.BaseExpression]:
        """What a call gets by keyword, also spread: `create(**request)`."""
        given = dict(ex.keywords(call))
        for arg in call.args:
            slot = self._facts.slots.of(arg.value) if arg.star == "**" else None
            given.update(self._facts.members(slot) if slot is not None else {})
        return given

    # -- the store ----------------------------------------------------------------------------------------------

    def _stores(self, call: cst.Call, function: Scope) -> dict[Slot, list[cst.Call]]:
        """The stores that a call is of, or that the function of this file that it runs comes to, and by which calls."""
        callee = self._facts.slots.callee(call)
        if callee is None:
            slot = self._store(call, function)
            return {slot: [call]} if slot is not None else {}
        if callee not in self._reached:
            self._reached[callee] = {}
            for here in self._anatomy.calls.reachable(callee):
                for inner in here.nodes_of(cst.Call):
                    slot = self._store(inner, here) if self._facts.slots.callee(inner) is None else None
                    if slot is not None:
                        self._reached[callee].setdefault(slot, []).append(inner)
        return self._reached[callee]

    def _store(self, call: cst.Call, function: Scope) -> Slot | None:
        """Where the store lives of which a call may be: a lasting object, or a module of the project."""
        base = ex.receiver(call)
        if base is None:
            origin = self._anatomy.module.imports.whence(ex.dotted(call.func) or "")
            known = self._anatomy.imported_function(ex.dotted(call.func) or "") if origin is not None else None
            return ("var", self._module.top, origin[0]) if origin is not None and known is not None else None
        slot = self._facts.slots.of(base)
        if slot is None or is_logging(call) or self._is_library(base):
            return None
        place = self._anatomy.aliases.of(slot)
        return place if self._anatomy.aliases.is_lasting(place, function) else None

    def _is_library(self, base: cst.BaseExpression) -> bool:
        """`json.loads(text)`: a function of a module that is not of the project."""
        root = base
        while isinstance(root, cst.Attribute):
            root = root.value
        if not isinstance(root, cst.Name) or root.value not in self._module.imports.full:
            return False
        return self._anatomy.imported_value(ex.dotted(base) or "") is None and (
            self._anatomy.imported_class(root.value) is None
        )

    # -- what becomes of what it gave ---------------------------------------------------------------------------

    def _is_sent(self, load: cst.Call, ask: cst.Call, past: set[str], function: Scope) -> bool:
        """Whether what a call gave is asked with."""
        if not self._anatomy.leads(function, [load], [ask]):
            return False
        given = [*(arg.value for arg in ask.args), *([base] if (base := ex.receiver(ask)) is not None else [])]
        return holds(given, load, past)

    def _taken(self, function: Scope, ask: cst.Call, past: set[str]) -> set[str]:
        """The names that hold what the model says; of what was loaded, those that it is put into by some method."""
        names = self._places.derived(function, ask, grown=True)
        for node in function.nodes_of(cst.Expr):
            call = ex.inner(node.value)
            root = ex.receiver(call) if isinstance(call, cst.Call) else None
            while isinstance(root, (cst.Attribute, cst.Subscript)):
                root = root.value
            if isinstance(call, cst.Call) and isinstance(root, cst.Name) and root.value in past:
                if holds([arg.value for arg in call.args], ask, names):
                    names.add(root.value)
        return names

    def _is_told(self, call: cst.Call, load: cst.Call, ask: cst.Call, past: set[str], taken: set[str]) -> bool:
        """Whether a call is handed what the model has said, and the key of what was loaded."""
        function = self._module.scope_of[ask].function
        return (
            self._anatomy.leads(function, [ask], [call])
            and holds([arg.value for arg in call.args], ask, taken)
            and (_shares_key(load, call) or _handed_whole(call, past) is not None)
        )

    # -- whether both mean one history --------------------------------------------------------------------------

    def _is_one_history(
        self, loads: list[cst.Call], save: cst.Call, load: cst.Call, ask: cst.Call, past: set[str]
    ) -> bool:
        """Whether calls of a store, on the way of `load` and to save, mean one resource, and it holds messages."""
        sent = self._facts.calls[ask].history if ask in self._facts.calls else None
        is_history = (sent is not None and holds([sent], load, past)) or self._gives_history(load)
        other = self._resource(save)
        for one in (self._resource(inner) for inner in loads if inner is not save):
            if one is _UNKNOWN or other is _UNKNOWN:
                if is_history:
                    return True
            elif one.is_that_of(other) and (is_history or self._says_role(save)):
                return True
        return False

    def _says_role(self, call: cst.Call) -> bool:
        """`store.note(key, "assistant", reply)`, `store.add(Message(role="assistant", ...))`."""
        return any(
            ex.text(node) in TELLING_ROLES or (isinstance(node, cst.BaseExpression) and self._is_message(node))
            for arg in call.args
            for node in walk(arg.value)
            if isinstance(node, (cst.SimpleString, cst.Dict, cst.Call, cst.Name))
        )

    def _is_message(self, node: cst.BaseExpression) -> bool:
        return Kind.MESSAGE in self._facts.kinds(node)

    def _gives_history(self, load: cst.Call) -> bool:
        holder = self._module.parent[load]
        while isinstance(holder, cst.Await):
            holder = self._module.parent[holder]
        targets = ex.targets(holder) if isinstance(holder, (cst.Assign, cst.AnnAssign)) else []
        return any(Kind.HISTORY in self._facts.kinds(node) for node in (load, *targets))

    def _resource(self, call: cst.Call) -> _Resource:
        callee = self._facts.slots.callee(call)
        found = (self._anatomy, callee) if callee is not None else run_elsewhere(self._anatomy, call)
        if found is None:
            return _UNKNOWN
        if found[1] not in self._resources:
            self._resources[found[1]] = _touched(*found)
        return self._resources[found[1]]


_UNKNOWN = _Resource(frozenset(), frozenset())


def _touched(anatomy: Anatomy, function: Scope) -> _Resource:
    """What a function touches, itself and in what it calls in its file."""
    outside: set[str] = set()
    inside: set[str] = set()
    logs: set[cst.CSTNode] = set()
    module = anatomy.module
    for here in anatomy.calls.reachable(function):
        for call in here.nodes_of(cst.Call):
            if is_logging(call):
                logs.update(walk(call))
            else:
                outside.update(_named_outside(call))
        for node in here.nodes_of(cst.FormattedString):
            texts = (part.value for part in node.parts if isinstance(part, cst.FormattedStringText))
            outside.update(text for text in texts if node not in logs and _KEY.search(text) and " " not in text)
        for name in here.nodes_of(cst.Name, cst.Attribute):
            slot = anatomy.facts.slots.of(name) if name not in logs else None
            if slot is not None and (slot[0] == "attr" or (slot[0] == "var" and slot[1] is module.top)):
                if anatomy.facts.assigned(slot):
                    inside.add(slot[2])
        named = {name.value for name in here.nodes_of(cst.Name) if name not in logs}
        outside.update(f"class {name}" for name in named & _rows(anatomy))
    return _Resource(frozenset(outside), frozenset(inside))


def _rows(anatomy: Anatomy) -> set[str]:
    """The classes of a file, and those that it imports from the project: tables may be called so."""
    imported = {name for name, (origin, _) in anatomy.module.imports.origin.items() if origin and name[:1].isupper()}
    return {cls.name for cls in anatomy.module.classes} | imported


def _named_outside(call: cst.Call) -> Iterator[str]:
    """The tables and keys that stand in the arguments of a call."""
    for arg in call.args:
        for node in walk(arg.value):
            text = ex.text(node) if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)) else None
            if text is not None:
                yield from (f"table {name.lower()}" for name in _TABLE.findall(text))
                if _KEY.search(text) and " " not in text:
                    yield text


def _handed_whole(save: cst.Call, past: set[str]) -> cst.Name | None:
    """`store.save(key, history)`, `store.save(key, json.dumps(history))`: what was loaded itself, not a part of it."""
    values = [arg.value for arg in save.args]
    for value in values:
        if isinstance(value, cst.Call):
            values += [arg.value for arg in value.args]
        elif isinstance(value, cst.Name) and value.value in past:
            return value
    return None


def _shares_key(one: cst.Call, other: cst.Call) -> bool:
    """Whether two calls are given the same name or attribute; or the first gets nothing."""
    keys = {ex.dotted(node) for arg in one.args for node in _plain(arg.value)}
    return not one.args or any(ex.dotted(node) in keys for arg in other.args for node in _plain(arg.value))


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
