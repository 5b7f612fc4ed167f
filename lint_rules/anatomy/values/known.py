"""What is known of the slots of one file: facts with evidence, and how they are learned.

Facts flow forwards with the values (assignment, argument, return, element). Facts learned from a *use* (a list is
sent to a model, a message is appended to it) also flow backwards, to where the value came from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values.kinds import CONTAINER, ELEMENT, Evidence, Kind, Kinds, LLMCall
from lint_rules.anatomy.values.slots import Slot, Slots
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, is_property

PLAIN = frozenset({cst.Name, cst.SimpleString, cst.Integer, cst.FormattedString, cst.Comparison})
"""The most frequent expressions, whose form says nothing."""

TWO_WAY = frozenset({Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.CALL})
"""Kinds that a use gives back to where the value came from: what can be changed in place."""

_NOTHING: Kinds = {}
PUTTING = frozenset({"append", "add"})

_COPIERS = frozenset({"list", "tuple", "sorted", "reversed", "deque", "copy", "deepcopy", "iter", "set", "cast"})
_COPY_METHODS = frozenset({"copy", "model_copy", "__copy__", "__deepcopy__"})
_DUMPS = frozenset({"model_dump", "to_dict", "dict", "model_validate", "asdict", "to_param", "convert_to_messages"})
_COPYING_METHODS = _COPY_METHODS | _DUMPS
_COPYING_FUNCTIONS = _COPIERS | _DUMPS
COPYING = _COPYING_METHODS | _COPYING_FUNCTIONS
"""Names of what gives back what it is given, or called on."""

DictPart = tuple[str | None, cst.BaseExpression]
"""A key and its value, or None and a whole dict."""


class Known:
    """The facts of one file. Subclasses say what forms of expressions add, and how syntax lets facts flow."""

    def __init__(self, module: SourceModule, vocabulary: Vocabulary) -> None:
        self.module = module
        self.vocabulary = vocabulary
        self.slots = Slots(module)
        self.calls: dict[cst.Call, LLMCall] = {}
        self.call_attributes = words.CALLS_ATTRIBUTES | frozenset(vocabulary.tool_call_attributes)
        self._known: dict[Slot, Kinds] = {}
        self._more: defaultdict[tuple[Slot, Kind], dict[str, Evidence]] = defaultdict(dict)
        self._lists: set[Slot] = set()
        self._sent_lists: dict[cst.BaseExpression, Evidence] = {}
        self._replies: set[Slot] = set()
        self._elements: dict[Slot, Slot] = {}
        self._width: dict[Slot, int] = {}
        self._changed = False
        self._running: int | None = None
        self._readers: defaultdict[Slot, set[int]] = defaultdict(set)
        self._waiting: set[int] = set()
        self._memo: dict[cst.CSTNode, Kinds] | None = None

    # -- asking -----------------------------------------------------------------------------------------------

    def of(self, slot: Slot) -> Kinds:
        """What is known of a slot by now: what is learned later makes another mapping, and leaves this one as it is."""
        if self._running is not None:
            self._readers[slot].add(self._running)
        return self._known.get(slot, _NOTHING)

    def kinds(self, node: cst.BaseExpression) -> Kinds:
        """What the value of an expression is, with evidence for each kind."""
        if self._memo is None:
            return self._evaluate(node)
        found = self._memo.get(node)
        if found is None:
            found = self._memo[node] = self._evaluate(node)
        return found

    def shown(self, slot: Slot, kind: Kind) -> list[Evidence]:
        """All that shows a slot to be of a kind, one for each reason: first the one that `of` gives."""
        known = self.of(slot)
        return [known[kind], *self._more[slot, kind].values()] if kind in known else []

    def evidence(self, node: cst.BaseExpression, kind: Kind) -> list[Evidence]:
        """All that shows the value of an expression to be of a kind: first the one that `kinds` gives."""
        slot, first = self.slots.of(node), self.kinds(node).get(kind)
        return [] if first is None else [first, *(self.shown(slot, kind) if slot is not None else ())]

    def is_kind(self, node: cst.BaseExpression | None, kind: Kind) -> bool:
        return node is not None and kind in self.kinds(node)

    def histories(self) -> list[tuple[Slot, Evidence]]:
        """Slots known to hold a message history."""
        return [(slot, kinds[Kind.HISTORY]) for slot, kinds in self._known.items() if Kind.HISTORY in kinds]

    def held_history(self, slot: Slot | None) -> Evidence | None:
        """Why a dict or object in a slot holds a history under some key; None if it is not known to."""
        return self._held_histories.get(slot) if slot is not None else None

    @cached_property
    def _held_histories(self) -> dict[Slot, Evidence]:
        return {slot[1]: evidence for slot, evidence in self.histories() if slot[0] == "member"}

    def all_known(self) -> dict[Slot, Kinds]:
        return self._known

    def read_as_reply(self, call: cst.Call) -> bool:
        """Whether the result of a call of another file is read as a model's reply (`.tool_calls`, `.choices`)."""
        return Kind.REPLY in self.of(("call", call))

    def assigned(self, slot: Slot | None) -> list[cst.BaseExpression]:
        """The expressions assigned to a slot anywhere in the file; parts of displays where those are unpacked.

        A property has what its method gives.
        """
        return self._values.get(slot, []) if slot is not None else []

    def given(self, slot: Slot) -> list[cst.BaseExpression]:
        """What calls in this file hand to the parameter of a function."""
        return self._given.get(slot, [])

    @cached_property
    def _given(self) -> dict[Slot, list[cst.BaseExpression]]:
        found: dict[Slot, list[cst.BaseExpression]] = {}
        for call in self.module.nodes_of(cst.Call):
            callee = self.slots.callee(call)
            for slot, value in self.slots.bindings(call, callee) if callee is not None else ():
                found.setdefault(slot, []).append(value)
        return found

    def gone_through(self, slot: Slot) -> list[cst.BaseExpression]:
        """What loops and comprehensions of this file go through that put each element into a slot."""
        return self._gone_through.get(slot, [])

    @cached_property
    def _gone_through(self) -> dict[Slot, list[cst.BaseExpression]]:
        found: dict[Slot, list[cst.BaseExpression]] = {}
        for loop in self.module.nodes_of(cst.For, cst.CompFor):
            is_one = self.slots.of(loop.target) is not None
            for iterable, target in [(loop.iter, loop.target)] if is_one else ex.iterated(loop):
                slot = self.slots.of(target)
                if slot is not None:
                    found.setdefault(slot, []).append(iterable)
        return found

    def members(self, slot: Slot) -> dict[str, cst.BaseExpression]:
        """What is assigned anywhere in the file to the members of a slot: `x["k"] = v`, of several the last."""
        return self._members.get(slot, {})

    @cached_property
    def _members(self) -> dict[Slot, dict[str, cst.BaseExpression]]:
        found: dict[Slot, dict[str, cst.BaseExpression]] = {}
        for slot, values in self._values.items():
            if slot[0] == "member":
                found.setdefault(slot[1], {})[slot[2]] = values[-1]
        return found

    def merged(self, slot: Slot) -> list[DictPart]:
        """What `x.update(d)`, `x.update(k=v)`, `x |= d` and `x.setdefault("k", v)` put into the dict of a slot."""
        return self._merged.get(slot, [])

    @cached_property
    def _merged(self) -> dict[Slot, list[DictPart]]:
        found: dict[Slot, list[DictPart]] = {}
        for node in self.module.nodes_of(cst.Call, cst.AugAssign):
            base: cst.BaseExpression | None = None
            parts: list[DictPart] = []
            if type(node) is cst.Call and ex.called_name(node) == "update":
                base, parts = ex.receiver(node), list(ex.dict_parts(node))
            elif type(node) is cst.Call and ex.called_name(node) == "setdefault" and len(node.args) == 2:
                base, parts = ex.receiver(node), [(ex.key(node), node.args[1].value)]
            elif type(node) is cst.AugAssign and type(node.operator) is cst.BitOrAssign:
                base, parts = node.target, [(None, node.value)]
            slot = self.slots.of(base)
            if slot is not None:
                found.setdefault(slot, []).extend(parts)
        return found

    def values_of(self, node: cst.BaseExpression | None) -> list[cst.BaseExpression]:
        """What is assigned anywhere in the file to the place that an expression names."""
        return self.assigned(self.slots.of(node))

    @cached_property
    def _values(self) -> dict[Slot, list[cst.BaseExpression]]:
        found: dict[Slot, list[cst.BaseExpression]] = {}
        for node in self.module.nodes_of(cst.Assign, cst.AnnAssign, cst.NamedExpr):
            if not isinstance(node, (cst.Assign, cst.AnnAssign, cst.NamedExpr)) or node.value is None:
                continue
            for target in ex.targets(node):
                for place, value in ex.unpacked(target, node.value):
                    slot = self.slots.of(place)
                    if slot is not None and value is not None:
                        found.setdefault(slot, []).append(value)
        for owner, getter in ((f.owner, f) for f in self.module.functions if f.owner is not None and is_property(f)):
            found.setdefault(self.slots.attribute(owner, getter.name), []).extend(getter.returned)
        return found

    def appended(self, slot: Slot) -> list[cst.BaseExpression]:
        """The expressions appended to a list anywhere in the file."""
        return [call.args[0].value for call in self.put(slot) if ex.called_name(call) == "append"]

    def put(self, slot: Slot) -> list[cst.Call]:
        """The calls anywhere in the file that put one value into a list or set: `xs.append(v)`, `seen.add(v)`."""
        return [call for call in self.grown(slot) if ex.called_name(call) in PUTTING]

    def grown(self, slot: Slot) -> list[cst.Call]:
        """The same, with those that put several values there: `xs.extend(vs)`."""
        return self._puts.get(slot, [])

    @property
    def put_into(self) -> Collection[Slot]:
        """The lists and sets into which something is put anywhere in the file."""
        return self._puts.keys()

    @cached_property
    def _puts(self) -> dict[Slot, list[cst.Call]]:
        found: dict[Slot, list[cst.Call]] = {}
        for node in self.module.nodes_of(cst.Call):
            base = ex.receiver(node)
            if base is not None and ex.called_name(node) in {*PUTTING, "extend"} and len(node.args) == 1:
                slot = self.slots.of(base)
                if slot is not None:
                    found.setdefault(slot, []).append(node)
        return found

    def entered(self, slot: Slot) -> list[cst.BaseExpression]:
        """The context managers that a name stands for: `x` of `with x as name`."""
        return self._entries.get(slot, [])

    @cached_property
    def _entries(self) -> dict[Slot, list[cst.BaseExpression]]:
        found: dict[Slot, list[cst.BaseExpression]] = {}
        for node in self.module.nodes_of(cst.WithItem):
            slot = self.slots.of(node.asname.name) if node.asname is not None else None
            if slot is not None:
                found.setdefault(slot, []).append(node.item)
        return found

    def split(self, slot: Slot) -> list[cst.BaseExpression]:
        """The lists whose first element a name takes by unpacking: `xs` of `first, *rest = xs`."""
        return [value for value, number in self.unpacked(slot) if number == 0]

    def given_apart(self, slot: Slot) -> list[tuple[cst.BaseExpression, Scope, cst.Call]]:
        """What functions of the file give back in the place of a tuple that a name is bound to, each with its call.

        `messages, reply = self.ask(text)`, where `ask` ends with `return self.messages, reply`; and what they yield
        there, one after the other: `for kind, piece in self.read(stream)`.
        """
        found = [part for value, at in self.unpacked(slot) for part in self._given_at(value, at, cst.Return, ())]
        return found + [part for value, at in self.passed(slot) for part in self._given_at(value, at, cst.Yield, ())]

    def _given_at(
        self, value: cst.BaseExpression, place: int, by: type[cst.Return] | type[cst.Yield], above: tuple[Scope, ...]
    ) -> Iterator[tuple[cst.BaseExpression, Scope, cst.Call]]:
        """The same of one call, and of those that it hands on: `return self._tools.run(calls)`."""
        call = ex.inner(value)
        callee = self.slots.callee(call)
        if callee is None or callee in above or not isinstance(call, cst.Call):
            return
        yield from ((part, callee, call) for part in parts_given(callee, place, by))
        for returned in callee.returned:
            yield from self._given_at(returned, place, by, (*above, callee))

    def passed(self, slot: Slot) -> list[tuple[cst.BaseExpression, int]]:
        """What loops go through whose elements are unpacked into a slot, and which part of each it gets."""
        return self._passed.get(slot, [])

    @cached_property
    def _passed(self) -> dict[Slot, list[tuple[cst.BaseExpression, int]]]:
        found: dict[Slot, list[tuple[cst.BaseExpression, int]]] = {}
        for loop in self.module.nodes_of(cst.For, cst.CompFor):
            for number, part in enumerate(loop.target.elements if isinstance(loop.target, cst.Tuple) else ()):
                slot = self.slots.of(part.value)
                if slot is not None:
                    found.setdefault(slot, []).append((loop.iter, number))
        return found

    def unpacked(self, slot: Slot) -> list[tuple[cst.BaseExpression, int]]:
        """What is unpacked into a slot, and which part of that it gets: `f()` and 1 for `b` of `a, b = f()`."""
        return self._unpacked.get(slot, [])

    @cached_property
    def _unpacked(self) -> dict[Slot, list[tuple[cst.BaseExpression, int]]]:
        found: dict[Slot, list[tuple[cst.BaseExpression, int]]] = {}
        for node in self.module.nodes_of(cst.Assign):
            target = node.targets[0].target
            parts = target.elements if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) > 1 else ()
            for number, part in enumerate(parts):
                slot = self.slots.of(part.value)
                if slot is not None:
                    found.setdefault(slot, []).append((node.value, number))
        return found

    def _evaluate(self, node: cst.BaseExpression) -> Kinds:
        """What an expression is, by its slot and by its form."""
        raise NotImplementedError

    def is_self(self, base: cst.BaseExpression) -> bool:
        return type(base) is cst.Name and base.value == self.module.self_name(self.module.scope_of[base])

    # -- learning ---------------------------------------------------------------------------------------------

    def learn(self, slot: Slot | None, kind: Kind, evidence: Evidence) -> None:
        """Note that a slot is of a kind. The first evidence stays, unless a use replaces what merely flowed in."""
        if slot is None:
            return
        kinds = self._known.get(slot, _NOTHING)
        first = other = kinds.get(kind, evidence)
        if kind not in kinds or (evidence.used and not first.used):
            self._known[slot] = {**kinds, kind: evidence}
            self._changed = True
            self._waiting.update(self._readers.get(slot, ()))
            first = evidence
        else:
            other = evidence
        if other.reason != first.reason:
            self._more[slot, kind].setdefault(other.reason, other)

    def _learn_all(self, slot: Slot | None, kinds: Kinds, node: cst.CSTNode) -> None:
        """Facts that flow forwards into a slot."""
        if slot is None or not kinds:
            return
        known = self._known.get(slot, _NOTHING)
        for kind, evidence in kinds.items():
            if kind not in known or known[kind].reason != evidence.reason:
                self.learn(slot, kind, Evidence(evidence.reason, evidence.node, False, evidence.since))

    def _learn_list(self, slot: Slot) -> None:
        """A slot holds a list, whatever is in it."""
        if slot not in self._lists:
            self._lists.add(slot)
            self._waiting.update(self._readers.get(slot, ()))

    def _learn_back(self, value: cst.BaseExpression, kinds: Kinds, via: str, node: cst.CSTNode) -> None:
        """Facts that a use gives to where the value came from."""
        for kind, evidence in kinds.items():
            if evidence.used and kind in TWO_WAY:
                self.use(value, kind, Evidence(via, node, True, evidence) if via else evidence)

    def use(self, node: cst.BaseExpression, kind: Kind, evidence: Evidence) -> None:
        """A use shows that the value of `node` is of a kind; what is copied or wrapped in it is so too."""
        for part in ex.alternatives(node):
            slot = self.slots.of(part)
            if slot is not None:
                self.learn(slot, kind, evidence)
            for source in sources(part):
                self.use(source, kind, evidence)
            for element in part.elements if kind in ELEMENT and type(part) is cst.List else ():
                if type(element) is cst.Element:
                    self.use(element.value, ELEMENT[kind], evidence)
            if kind in CONTAINER and type(part) is cst.Subscript and ex.integer(ex.index(part)) is not None:
                holds = Evidence(f"holds {kind.value}s", evidence.node, True, evidence)
                self.use(part.value, CONTAINER[kind], holds)


def parts_given(
    function: Scope, number: int, by: type[cst.Return] | type[cst.Yield] = cst.Return
) -> Iterator[cst.BaseExpression]:
    """What a function gives back in one place of a tuple, or yields there."""
    for node in function.nodes_of(by):
        given = ex.inner(node.value) if isinstance(node.value, cst.BaseExpression) else None
        if isinstance(given, cst.Tuple) and number < len(given.elements):
            yield given.elements[number].value


def sources(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a copy, slice, concatenation or dump is made of: `list(x)`, `x[1:]`, `x + y`, `[*x, m]`, `x.copy()`."""
    if type(node) is cst.Call:
        name = ex.called_name(node)
        if name not in COPYING:
            return []
        base, given = ex.receiver(node), ex.positional(node)
        if name in _COPYING_METHODS and base is not None and not given:
            return [base]
        if name in _COPYING_FUNCTIONS and given:
            return given[-1:] if name == "cast" else given[:1]
        return []
    if type(node) in PLAIN or type(node) is cst.Attribute:
        return []
    if type(node) is cst.Subscript and ex.slice_of(node) is not None:
        return [node.value]
    if type(node) is cst.BinaryOperation and type(node.operator) is cst.Add:
        return [node.left, node.right]
    if type(node) is cst.List or type(node) is cst.Tuple:
        return [element.value for element in node.elements if type(element) is cst.StarredElement]
    return []
