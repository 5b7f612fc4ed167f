"""Conversations that the provider keeps, or an object of its library: what names them, and where that lives.

`threads.messages.create(thread_id=self.thread)`, `agent.invoke(text, config=config_of(key))`, `self.chain.run(text)`:
who asks sends only the new words; a lasting place holds the object, or what names the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, set_by_bases
from lint_rules.anatomy.messages.growth import keeps_conversation
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object, whole_of
from lint_rules.anatomy.vocabulary import (
    ASKING,
    CONFIGURED,
    CONFIGURED_KEYS,
    CONVERSATIONS,
    MAKERS,
)
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_UNNAMED: Sequence[cst.BaseExpression] = ()
_NO_SLOTS: frozenset[Slot] = frozenset()
_RUNS = frozenset({"run", "arun"})
_BEGINNINGS = tuple(f".{maker}" for maker in (*MAKERS, "create_session", "uuid4"))


class Conversations:
    """Finds them in one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module

    @cached_property
    def keys(self) -> frozenset[cst.CSTNode]:
        """The names in what tells the provider, or its library, with which conversation a call of the file goes on."""
        named = (value for call in self._module.nodes_of(cst.Call) for value in self._naming(call))
        return frozenset(part for value in named for part in walk(value) if isinstance(part, cst.Name))

    def tells_apart(self, call: cst.Call) -> bool:
        """Whether a call names the conversation that it goes on with, by what is not the same for all."""
        return self.is_named(call) and self.name_for_all(call) is None

    def is_named(self, call: cst.Call) -> bool:
        """Whether a call goes on with a conversation that the provider, or its library, keeps step by step."""
        return bool(self._naming(call))

    def name_for_all(self, call: cst.Call) -> cst.BaseExpression | None:
        """What names the conversation that a call goes on with, if that is the same for all who have it called."""
        named, given = self._naming_at_last(call), ex.keywords(call)
        told = [*named, *([given["user_id"]] if "user_id" in given else [])]  # of whom the session is (ADK)
        return named[0] if named and all(map(self._is_for_all, told)) else None

    def _is_for_all(self, value: cst.BaseExpression) -> bool:
        """Whether a key is the same for all: a constant, what a global holds that is made here, or a part of that."""
        slot = self._facts.slots.of(value)
        if slot is None or (slot[:2] != ("var", self._module.top) and slot[0] != "member"):
            made = self._facts.assigned(slot) if slot is not None and not is_parameter(slot) else [value]
            return bool(made) and all(isinstance(ex.inner(each), cst.SimpleString | cst.Integer) for each in made)
        root = root_object(slot)
        keyed = any(part[0] == "item" for part in whole_of(slot))
        return root[:2] == ("var", self._module.top) and not keyed and bool(self._facts.assigned(root))

    def named(self, call: cst.Call, function: Scope) -> Slot | None:
        """Where what names the conversation lives with which a call goes on that the provider keeps."""
        for value in self._naming(call):
            slot = self._facts.slots.of(value)
            if slot is not None and not self._is_begun_here(value, slot, function):
                return self._anatomy.aliases.of(slot)
        return None

    def held(self, call: cst.Call, function: Scope) -> Slot | None:
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
        places = (self._anatomy.aliases.lasting_at(value, function) for value in given)
        kept = (place for place in places if place is not None and self._holds_session(place))
        lasting = self._anatomy.aliases.lasting_at(base, function)
        return next(kept, lasting if lasting is not None and self._holds_session(lasting, given=True) else None)

    def _naming(self, call: cst.Call) -> list[cst.BaseExpression]:
        """What tells the provider, or its library, which conversation a call goes on with."""
        names, given = [f".{name}" for name in self._names(call)], self._given(call)
        named = [words for end, words in CONVERSATIONS.items() if any(name.endswith(f".{end}") for name in names)]
        found = [given[word] for words in named for word in words if word in given]
        config = given.get("config") or ex.argument(call, "config", 1) if ex.called_name(call) in CONFIGURED else None
        return [*found, *self._configured(config)] if config is not None else found

    def _naming_at_last(self, call: cst.Call) -> list[cst.BaseExpression]:
        """The same, also of a function of the project, through as many hands as it goes."""
        return self._naming(call) or [*self._named_by_callee(call)]

    def _named_by_callee(self, call: cst.Call) -> Iterator[cst.BaseExpression]:
        """What a function of the project is handed to name the conversation with that it goes on with."""
        there, function = body(self._anatomy, call) or (self._anatomy, None)
        names = there.conversations._naming_parameters(function) if function is not None else ()
        for parameter, value in there.facts.slots.bindings(call, function) if function is not None and names else ():
            if parameter in names:
                yield value

    @once(circular=_NO_SLOTS)
    def _naming_parameters(self, function: Scope) -> frozenset[Slot]:
        """The parameters of a function that name the conversation with which a call in it goes on."""
        values = (value for call in function.nodes_of(cst.Call) for value in self._naming_at_last(call))
        names = (part for value in values for part in walk(value) if isinstance(part, cst.Name))
        slots = map(self._facts.slots.of, names)
        return frozenset(slot for slot in slots if slot is not None and is_parameter(slot))

    @once(circular=_UNNAMED)
    def _configured(self, config: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
        """What names the conversation in a config, also in one that a function gives: `config = config_of(key)`."""
        values = (config, *self._facts.values_of(config))
        inner = [ex.made_of(v).get("configurable") for v in values if isinstance(v, (cst.Dict, cst.Call))]
        keys = [ex.dict_items(value) for value in inner if value is not None]
        found = [value for items in keys for key, value in items.items() if key in CONFIGURED_KEYS]
        for call, at in self._makers(config):
            for there, maker in filter(None, (body(self._anatomy, call),)):
                given = dict(there.facts.slots.bindings(call, maker))
                made = (part for node in maker.nodes_of(cst.Return) for part in _parts_at(node.value, at))
                names = (key for part in made for key in there.conversations._configured(part))
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
                parts = ex.several(target)
                for at, part in enumerate(parts):
                    if self._facts.slots.of(part) == slot:
                        yield call, at if isinstance(target, cst.Tuple) else None  # type: ignore[misc]

    def _names(self, call: cst.Call) -> Iterator[str]:
        """How a call is written, and what it is of the class that makes its object: `Runner.run_async`."""
        yield ex.dotted(call.func) or ""
        slot = self._facts.slots.of(ex.receiver(call))
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
            if inner is not None and inner != slot and depth < DEEPEST:
                if self._holds_session(inner, depth + 1, given=given):
                    return True
            if given and isinstance(part, cst.Call) and self._facts.slots.callee(part) is None:
                if any(self._is_session(arg.value, depth) for arg in part.args):
                    return True
        return depth < DEEPEST and any(
            there.conversations._holds_session(place, depth + 1, given=given)
            for there, place in set_by_bases(self._anatomy, slot)
        )

    def _gets_session(self, call: cst.Call, depth: int) -> bool:
        """Whether a function of another file gives such an object: `talks[key] = begun(prompt)`."""
        plain = isinstance(call.func, (cst.Name, cst.Attribute)) and self._facts.slots.callee(call) is None
        found = self._anatomy.imported_function(ex.dotted(call.func) or "") if plain and depth < DEEPEST else None
        return found is not None and found[0].conversations._holds_session(("return", found[1]), depth + 1)

    def _is_session(self, value: cst.BaseExpression, depth: int) -> bool:
        slot = self._facts.slots.of(value)
        made = isinstance(value, cst.Call) and keeps_conversation(self._module, value)
        return made or (slot is not None and depth < DEEPEST and self._holds_session(slot, depth + 1))


def _parts_at(value: cst.BaseExpression | None, at: int | None) -> Sequence[cst.BaseExpression]:
    """What is given back, or one part of it."""
    if at is None or value is None:
        return [value] if value is not None else []
    return [each.value for each in value.elements[at : at + 1]] if isinstance(value, cst.Tuple) else []
