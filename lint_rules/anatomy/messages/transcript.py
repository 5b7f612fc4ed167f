"""What a function stores in histories: each place, with the message; through helpers of this file, too.

`self.add("tool", text, call.id)` is a place of the caller, though the append stands in `add`: its message is read with
the arguments of the call. A call of a function of another file that gets the id of a tool call is a place as well, as
that is how results are handed to stores (`memory.add_result(call.id, text)`): which history it writes is not known.
Results that are collected in a list are listed where they are collected, and again where the list is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.messages.messages import Elsewhere, Message, Messages, Past
from lint_rules.anatomy.messages.writes import HistoryWrite, WriteKind, Writes
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.dicts import Arguments
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, Slots, is_parameter
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record

_DEEPEST = 3
_ALONE = frozenset({cst.Expr, cst.Await})
"""Around a call that is made for its effect."""
_ID_KEYWORDS = frozenset({"tool_call_id", "tool_use_id", "toolUseId", "call_id", "tool_id"})


@record
class Stored:
    """One message that one place of a function stores.

    `node` is the statement or call in that function; `slot` the history as named there (None: a store of another
    file); `kind` how; `message` what, None where the code does not show what it is. `write` is the write itself, in
    this function or the helper that the call runs; None for a store of another file, and for a result that is only
    put into a list of results (`slot`), which is stored later.
    """

    node: cst.CSTNode
    function: Scope
    slot: Slot | None
    kind: WriteKind
    message: Message | None
    write: HistoryWrite | None

    @property
    def role(self) -> str | None:
        return self.message.role if self.message is not None else None

    @property
    def calls(self) -> cst.BaseExpression | None:
        """The tool calls that it may carry."""
        return self.message.calls if self.message is not None else None

    @property
    def answers(self) -> bool:
        """Whether it is the result of a tool call."""
        return self.message is not None and (self.message.role == "tool" or bool(self.message.answers))


class Transcript:
    """What the functions of one file store, read on demand."""

    def __init__(
        self,
        writes: Writes,
        graph: CallGraph,
        kept: Callable[[Scope], Iterable[Stored]],
        elsewhere: Elsewhere,
        past: Past,
    ) -> None:
        """`kept` gives what a function hands to stores: rows, keys and files, objects of other files."""
        self.facts = writes.facts
        self._kept = kept
        self._own: dict[Scope, list[Stored]] = {}
        self.messages = Messages(writes.facts, elsewhere, past)
        self._writes = writes
        self._graph = graph
        self._stored: dict[Scope, list[Stored]] = {}
        self._at: dict[Scope, dict[cst.CSTNode, list[Stored]]] = {}

    def stored(self, function: Scope) -> list[Stored]:
        """What `function` stores, in lists and elsewhere, itself or through helpers, in source order."""
        found = self._stored.get(function)
        if found is None:
            own = self._stored[function] = self.in_lists(function)
            kept = [*self._kept(function)] if function.kind in {"function", "module"} else []
            rows = {each.node for each in kept}
            own = [each for each in own if each.node not in rows] if rows else own
            found = self._stored[function] = self._in_order([*own, *kept]) if kept else own
        return found

    def in_lists(self, function: Scope) -> list[Stored]:
        """What `function` stores in lists, itself or through the helpers that it calls, in source order."""
        found = self._own.get(function)
        if found is None:
            found = self._elsewhere.get(function, []).copy()
            if self._writes.does_write(function):
                found += [*self._direct(function, {}), *self._by_helpers(function)]
            found = self._own[function] = self._in_order(found)
        return found

    def _in_order(self, found: list[Stored]) -> list[Stored]:
        order = self.facts.module.order
        return sorted(found, key=lambda stored: order[stored.node])

    def at(self, node: cst.CSTNode) -> list[Stored]:
        """What one statement or call stores."""
        function = self.facts.module.scope_of[node].function
        found = self._at.get(function)
        if found is None:
            found = self._at[function] = {}
            for stored in self.stored(function):
                found.setdefault(stored.node, []).append(stored)
        return found.get(node, [])

    # -- by the function itself -------------------------------------------------------------------------------

    def _direct(self, function: Scope, arguments: Arguments) -> Iterator[Stored]:
        for write in self._writes.by_function[function]:
            for message in self._messages_of(write, arguments):
                yield Stored(write.node, function, write.slot, write.kind, message, write)

    def _messages_of(self, write: HistoryWrite, arguments: Arguments) -> list[Message | None]:
        if write.value is None:
            return [None]
        found: list[Message]
        if write.kind in {"append", "insert", "set"}:
            found = self.messages.of(write.value, arguments)
        elif write.kind == "extend":
            found = self.messages.many(write.value, arguments)
        else:
            found = self._added(write, arguments)
        return [*found] or [None]

    def _added(self, write: HistoryWrite, arguments: Arguments) -> list[Message]:
        """The new ones of `h = h + [m]` and `h = [*h, m]`."""
        value = ex.inner(write.value) if write.value is not None else None
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add):
            return self.messages.many(value.right, arguments)
        if isinstance(value, cst.List):
            plain = [e for e in value.elements if not isinstance(e, cst.StarredElement)]
            return [m for element in plain for m in self.messages.of(element.value, arguments)]
        return []

    # -- through helpers of this file -------------------------------------------------------------------------

    def _by_helpers(self, function: Scope) -> Iterator[Stored]:
        for site in self._graph.calls[function]:
            if not self._makes_default(site.node):
                yield from self._ran(site.node, site.node, function, {}, (function,))

    def _makes_default(self, call: cst.Call) -> bool:
        """Whether a call makes an object for want of one: what that begins with is not put into the one that is there.

        `talks.setdefault(key, Talk())`, `talks.get(key) or Talk()`.
        """
        outer, parent = self.facts.module.parent[call], self.facts.module.parent
        if self.facts.slots.constructed(call) is None:
            return False
        around = parent[outer] if type(outer) is cst.Arg else None
        if type(around) is cst.Call:
            return ex.called_name(around) in {"setdefault", "get"} and around.args[-1] is outer and len(around.args) > 1
        return type(outer) is cst.BooleanOperation and outer.right is call

    def _ran(
        self, call: cst.Call, place: cst.Call, function: Scope, arguments: Arguments, above: tuple[Scope, ...]
    ) -> Iterator[Stored]:
        """What running `call` stores, seen from `place` in `function`."""
        callee = self.facts.slots.callee(call)
        if callee is None or callee in above or len(above) > _DEEPEST or not self._writes.does_write(callee):
            return
        inside = {**arguments, **self.given(call)}
        for stored in self._direct(callee, inside):
            slot = self._outside(stored.slot, callee, inside) if stored.slot is not None else None
            if slot is not None:
                yield Stored(place, function, slot, stored.kind, stored.message, stored.write)
        for site in self._graph.calls[callee]:
            yield from self._ran(site.node, place, function, inside, (*above, callee))

    def seen_from(self, call: cst.Call, slot: Slot) -> Slot | None:
        """A slot of the function that `call` runs as the caller names it; None for what lives in that function only."""
        callee = self.facts.slots.callee(call)
        return self._outside(slot, callee, self.given(call)) if callee is not None else None

    def given(self, call: cst.Call) -> Arguments:
        """What the parameters of the function that `call` runs hold, as the caller writes it."""
        callee = self.facts.slots.callee(call)
        if callee is None:
            return {}
        return {**_defaults(self.facts.slots, callee), **dict(self.facts.slots.bindings(call, callee))}

    def _outside(self, slot: Slot, callee: Scope, arguments: Arguments) -> Slot | None:
        """The slot of a callee as the caller names it; None for what lives in the callee only."""
        if slot[0] in {"member", "item"}:
            base = self._outside(slot[1], callee, arguments)
            return None if base is None else (slot[0], base, *slot[2:])
        if slot[0] != "var" or slot[1] is not callee:
            return slot
        found = begun = slot if slot in arguments else self.parameter(slot, callee)
        for _ in range(_DEEPEST + 1):  # a parameter that holds a parameter of the function in between
            given = arguments.get(found) if found is not None else None
            if given is None:
                break
            found = self.facts.slots.of(given)
        return None if found == begun else found

    def parameter(self, slot: Slot, function: Scope) -> Slot | None:
        """The parameter that a name of a function stands for, unless nothing was given: `messages = history or []`."""
        values = [part for value in self.facts.assigned(slot) for part in ex.alternatives(value)]
        named = [part for part in values if not (isinstance(part, cst.List) and not part.elements)]
        given = self.facts.slots.of(named[0]) if len(named) == 1 and isinstance(named[0], cst.Name) else None
        return given if given is not None and given[:2] == ("var", function) and is_parameter(given) else None

    # -- through functions of other files ---------------------------------------------------------------------

    @cached_property
    def _elsewhere(self) -> dict[Scope, list[Stored]]:
        """By function."""
        found: dict[Scope, list[Stored]] = {}
        module, direct = self.facts.module, {write.node for write in self._writes.all}
        for call in module.nodes_of(cst.Call):
            if type(module.parent[call]) not in _ALONE or call in direct:
                continue
            if self.facts.slots.callee(call) is not None or is_logging(call):
                continue
            answered = self.call_id(call)
            if answered is not None:
                function, base = module.scope_of[call].function, ex.receiver(call)
                collected = self.facts.slots.of(base) if base is not None and ex.called_name(call) == "append" else None
                message = Message(call, "tool", None, (answered,))
                found.setdefault(function, []).append(Stored(call, function, collected, "append", message, None))
        return found

    def handed(self, call: cst.Call) -> Iterator[Message]:
        """The messages that a call gets, as they are, encoded or among others: `put(key, json.dumps(message))`."""
        for arg in call.args:
            for part in _parts_of(arg.value):
                yield from self.messages.of(part)

    def call_id(self, call: cst.Call) -> cst.BaseExpression | None:
        """The id of a tool call among the arguments of `call`, also inside a message that is made there."""
        for arg in call.args:
            if _arguments_of(arg.value) and Kind.CALL in self.facts.kinds(arg.value):
                continue  # the call itself, made of its parts
            for part in _parts_of(arg.value):
                pair = ex.member(part)
                if pair is not None and pair[1] in IDS and Kind.CALL in self.facts.kinds(pair[0]):
                    return part
                made = self.messages.of(part) if self.messages.may_answer else ()
                if made and made[0].answers and not self._only_shows(made[0]):
                    return made[0].answers[0]
            if arg.keyword is not None and arg.keyword.value in _ID_KEYWORDS:
                return arg.value
        return None

    def _only_shows(self, message: Message) -> bool:
        """Whether it says nothing but what the call says itself: `{"id": call.id, "name": call.name}` for approval."""
        pairs = [ex.member(value) for value in ex.dict_items(message.node).values() if ex.text(value) is None]
        slots = {self.facts.slots.of(pair[0]) if pair is not None else None for pair in pairs}
        return len(pairs) > 1 and len(slots) == 1 and None not in slots


def _arguments_of(node: cst.BaseExpression) -> list[cst.Arg]:
    node = ex.inner(node)
    return list(node.args) if type(node) is cst.Call else []


def _parts_of(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What an argument gives, and what is encoded in it: `json.dumps(message)`, `(key, json.dumps(message))`."""
    for part in _elements_of(value):
        yield part
        for arg in _arguments_of(part):
            yield from _elements_of(arg.value)


def _elements_of(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """A value, and what stands side by side in a tuple, as parameters of a statement do; a list may be a content."""
    yield value
    for element in value.elements if isinstance(value, cst.Tuple) else ():
        yield from _elements_of(element.value)


def _defaults(slots: Slots, function: Scope) -> dict[Slot, cst.BaseExpression]:
    return {slots.parameter(function, p.name.value): p.default for p in parameters(function) if p.default is not None}
