"""Where a message goes into a history with all its tool calls: itself, made anew of its parts, kept by a server."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import slice_of_one
from lint_rules.anatomy.calls.sessions import is_asked_in_session
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.values.identity import Identity, Way
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.finding import Related
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

_ASSISTANT = frozenset({"assistant", "model", "ai"})
_PARTS = ("tool_calls", "content", "parts")
_MOST_CALLERS = 200
_ON_SERVER = "submit_tool_outputs"
_MESSAGE_MAKERS = frozenset({"AIMessage", "AssistantMessage"})


@record
class Storage:
    """The object at `way` is stored whole at `node`, or in another file; `how` reads after "the message"."""

    way: Way
    node: cst.CSTNode
    function: Scope
    how: str
    elsewhere: Related | None = None


class StoredCalls:
    """What one file stores whole."""

    def __init__(self, anatomy: Anatomy, identity: Identity) -> None:
        self._anatomy = anatomy
        self._identity = identity
        self._stored = [*self._written(), *self._handed(), *self._rebuilt(), *self._arrived()]

    def of(self, way: Way, function: Scope) -> Iterator[Storage]:
        """Where the message, of which `way` is the list of calls, is stored with all of them."""
        for there in self.ways(way):
            yield from self._whole(there)
            yield from self._kept(there, function)

    def _whole(self, way: Way) -> Iterator[Storage]:
        """What is stored of a list of calls, and of its message, in the order in which it was found."""
        found = [self._by_way.get(one, ()) for one in {way: None, _message_of(way): None}]
        yield from (storage for _, storage in heapq.merge(*found, key=lambda numbered: numbered[0]))

    @cached_property
    def _by_way(self) -> dict[Way, list[tuple[int, Storage]]]:
        found: dict[Way, list[tuple[int, Storage]]] = {}
        for numbered in enumerate(self._stored):
            found.setdefault(numbered[1].way, []).append(numbered)
        return found

    # -- what is stored ---------------------------------------------------------------------------------------

    def _written(self) -> Iterator[Storage]:
        for value, node, function, how in self._put():
            way = self._identity.of(value)
            places = self._callers(way, node, function) if way else iter(())
            for there, place, caller in islice(places, _MOST_CALLERS):
                yield Storage(there, place, caller, how)

    def _put(self) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode, Scope, str]]:
        """What is put into a history, or beside one into a request: `create(messages=[*messages, reply, result])`."""
        for write in self._anatomy.writes.all:
            if write.value is not None and write.kind != "cut":
                for value in self._parts(write.value, write.kind == "rebind"):
                    yield value, write.node, write.function, "goes into the history with all its calls here"
        for request in self._anatomy.facts.calls.values():
            function = self._anatomy.module.scope_of[request.node].function
            for value in self._parts(request.history, True) if request.history is not None else ():
                yield value, request.node, function, "is sent with all its calls here"

    def _handed(self) -> Iterator[Storage]:
        """What is put into rows, under keys, and into objects of other files."""
        for function in self._anatomy.module.functions:
            for kept in self._anatomy.kept_elsewhere.of(function) if function.kind in {"function", "module"} else ():
                message = kept.message
                for value in (message.node, message.calls) if message is not None and message.calls is not None else ():
                    way = self._identity.of(value) if value is not None and value is not kept.node else None
                    if way is not None:
                        yield Storage(way, kept.node, function, "is stored with all its calls here")

    def _parts(self, value: cst.BaseExpression, whole: bool) -> Iterator[cst.BaseExpression]:
        """The messages in a value: elements of displays and of sums, itself; of a `whole` list not the one before."""
        for part in ex.alternatives(value):
            if isinstance(part, (cst.List, cst.Tuple)):
                for element in part.elements:
                    yield element.value
            elif isinstance(part, cst.BinaryOperation) and isinstance(part.operator, cst.Add):
                yield from self._parts(part.left, whole)
                yield from self._parts(part.right, whole)
            elif not whole or not self._anatomy.is_history(part):
                yield part

    def _callers(
        self, way: Way, node: cst.CSTNode, function: Scope, above: frozenset[Scope] = frozenset()
    ) -> Iterator[tuple[Way, cst.CSTNode, Scope]]:
        """The same write seen from the function that does it, and from its callers: `self.add(message)`."""
        yield way, node, function
        for given, site in self._given(way, function) if function not in above else ():
            yield from self._callers((*given, *way[1:]), site.node, site.caller, above | {function})

    def _given(self, way: Way, function: Scope) -> Iterator[tuple[Way, CallSite]]:
        root = way[0]
        if root[0] != "var" or root[1] is not function:
            return
        for site in self._anatomy.calls.sites[function]:
            for slot, value in self._anatomy.facts.slots.bindings(site.node, function):
                given = self._identity.of(value) if slot == root else None
                if given is not None:
                    yield given, site

    def ways(self, way: Way) -> Iterator[Way]:
        """An object seen from the function that reads it, from its callers, and from where it was given back."""
        return islice(self._seen_from(way), _MOST_CALLERS)

    def _seen_from(self, way: Way) -> Iterator[Way]:
        queue = [way]
        for here in queue:
            yield here
            root, came = here[0], list[Way]()
            if root[0] == "var":
                came = [given for given, _ in self._given(here, root[1])]
            elif root[0] == "call":
                came = [*self._given_back(root[1])]
            farther = ((*given, *here[1:]) for given in came)
            queue += [each for each in farther if each not in queue]

    def _given_back(self, call: cst.Call) -> set[Way]:
        """What a function of this file gives back, where it is always the same object."""
        callee = self._anatomy.facts.slots.callee(call)
        values = callee.returned if callee is not None else []
        ways = {self._identity.of(value) for value in values if not handlers.is_neutral(value)}
        return {way for way in ways if way is not None} if len(ways) == 1 else set()

    def _rebuilt(self) -> Iterator[Storage]:
        """`{"role": "assistant", "content": reply.content}`: an assistant message made of all the parts of another."""
        module = self._anatomy.module
        for node, items in self._anatomy.made:
            for part in _assistant_parts(node, items):
                way = self._all_of(part)
                if way is not None and not self._has_one(way):
                    yield Storage(way, node, module.scope_of[node].function, "is stored with all its calls here")

    def _has_one(self, way: Way) -> bool:
        """Whether a list is bound to one call of another: `calls = calls[:1]`."""
        return len(way) == 1 and any(
            slice_of_one(value)[0] is not None for value in self._anatomy.facts.assigned(way[0])
        )

    def _all_of(self, value: cst.BaseExpression) -> Way | None:
        """The list of which `value` holds all calls: itself, or one dict or dump for each."""
        for part in ex.alternatives(value):
            if isinstance(part, (cst.ListComp, cst.GeneratorExp)) and part.for_in.inner_for_in is None:
                return self._identity.of(part.for_in.iter)
            way = self._identity.of(part)
            if way is not None:
                return way
        return None

    def _arrived(self) -> Iterator[Storage]:
        """The calls that files hand to functions of this one, of messages that are stored with all of them there."""
        for each in self._anatomy.handed:
            for slot in self._anatomy.contents.arrives(each) if each.what == "calls" else ():
                said = Related(each.span, "these are all calls of a message that the caller stores", each.path)
                yield Storage((slot,), slot[1].node, slot[1], "is stored with all its calls", said)

    # -- what is stored already, where the call is read ----------------------------------------------------------

    def _kept(self, way: Way, function: Scope) -> Iterator[Storage]:
        """Runs of a server that wait for all results; chats that store replies; messages read from a history."""
        asked = self._asked(way[0])
        if asked and all(is_asked_in_session(self._anatomy, each) for each in asked):
            how = "is kept by the chat session, which waits for the results of all calls"
            yield Storage(way, asked[0], function, how)
            return
        if _ON_SERVER in way:
            for node in function.nodes:
                pair = ex.member(node)
                if pair is not None and pair[1] == _ON_SERVER:
                    yield Storage(
                        way, node, function, "is kept by the server, which waits for the results of all calls"
                    )
                    return
        for length in range(len(way) - 1, 1, -1):
            if way[length - 1] == "[]":
                evidence = self._history(way[: length - 1])
                if evidence is not None:
                    yield Storage(way, evidence, function, "is read from the history, where all its calls stand")
                    return

    def _asked(self, root: Slot, seen: frozenset[Slot] = frozenset()) -> list[cst.Call]:
        """The calls of which one has given what a way begins with; none where that may be anything else."""
        if root[0] == "call":
            return [root[1]]
        found: list[cst.Call] = []
        for value in self._anatomy.facts.assigned(root) if root[0] == "var" and root not in seen else ():
            way = self._identity.of(value)
            asked = self._asked(way[0], seen | {root}) if way is not None else []
            if not asked:
                return []
            found += asked
        return found

    def looped_over(self, way: Way) -> cst.For | None:
        """The loop over a history that takes the message of which `way` is the list of calls."""
        return self._over_histories.get(way[0]) if len(way) == 2 and way[0][0] == "var" else None

    @cached_property
    def _over_histories(self) -> dict[Slot, cst.For]:
        """The first loop over a history that binds a variable, by variable."""
        facts = self._anatomy.facts
        found: dict[Slot, cst.For] = {}
        for loop in self._anatomy.module.nodes_of(cst.For):
            if facts.is_kind(loop.iter, Kind.HISTORY):
                for name in ex.target_names(loop.target):
                    found.setdefault(facts.slots.variable(loop.target, name), loop)
        return found

    def _history(self, way: Way) -> cst.CSTNode | None:
        """The evidence that there is a history at `way`."""
        slot: Slot = way[0]
        for name in way[1:]:
            slot = ("item", slot) if name == "[]" else self._anatomy.facts.slots.part(slot, name)
        kinds = self._anatomy.facts.of(slot)
        return kinds[Kind.HISTORY].root.node if Kind.HISTORY in kinds else None


def _message_of(way: Way) -> Way:
    """The message that a list of calls is a part of; Gemini's replies give the calls of their content by themselves."""
    if way[-1] == "function_calls":
        return (*way[:-1], "candidates", "[]", "content")
    return way[:-1] if len(way) > 1 else way


def _assistant_parts(node: cst.Dict | cst.Call, items: dict[str, cst.BaseExpression]) -> list[cst.BaseExpression]:
    """The parts of an assistant message that `node` makes of `items`."""
    role = ex.text(items["role"]) if "role" in items else None
    named = type(node) is cst.Call and ex.called_name(node) in _MESSAGE_MAKERS
    return [items[part] for part in _PARTS if part in items] if role in _ASSISTANT or named else []
