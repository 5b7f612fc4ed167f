"""What a list may hold: messages, the results of tool calls, a system message at its front.

Contents flow into a list from whatever is stored in it, from the lists it is made of or stands for, and from the
callers of the function whose parameter it is. The class of its elements tells as well, also one of an imported file:
a message that has a field for tool calls is there to carry them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import classes_of, run_elsewhere
from lint_rules.anatomy.messages.messages import Role
from lint_rules.anatomy.messages.role_tests import named_roles
from lint_rules.anatomy.messages.run_results import Agent, agents_of
from lint_rules.anatomy.messages.sent import as_callers_have_it
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.turns.keepers import foreign_growths
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object, told_names
from lint_rules.finding import Related
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import is_element
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, SourceModule, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

if TYPE_CHECKING:
    from lint_rules.anatomy.cuts.handed import Handed
    from lint_rules.anatomy.values.facts import Facts

TOOL_FIELDS = frozenset({"tool_calls", "tool_call_id", "tool_use_id", "tool_results", "tool_call", "tool_result"})
_GIVEN: dict[Role | None, str] = {
    None: "it is a message history here",
    "tool": "results of tool calls get into it from here",
    "system": "the system message gets into it from here",
}
_FARTHEST = 40
"""So many lists are looked at, on the way back from one."""
_MOST_CALLERS = 3
"""So many callers are looked at, one behind the other."""


@record
class Proof:
    """Where the code shows it, and how: `reason` is a sentence about that place. `seen`: it happens in this file, or in
    one that hands it to this, where that is `elsewhere`, and what comes back of it may be `used` as such a list.
    """

    node: cst.CSTNode
    reason: str
    module: SourceModule | None = None
    seen: bool = True
    elsewhere: Related | None = None
    used: bool = True


_TELLING = words.ANSWERED | {"role", "type", "kind", "sender", "author"}
"""Fields by which messages in one list are told apart."""


class Contents:
    """Answers for one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self._elements = anatomy.elements

    # -- questions --------------------------------------------------------------------------------------------

    def history(self, node: cst.BaseExpression) -> Proof | None:
        """Why an expression is a list of messages; None if nothing shows it."""
        known = self.facts.kinds(node).get(Kind.HISTORY)
        if known is not None:
            return Proof(known.root.node, f"the message history: {known.clause}")
        pairs = any(map(self._has_pairs, self.lists_in(node)))
        for slot in self.flowing_into(node):
            if slot[0] == "outside":  # of which something is known only where messages go there, and come back
                return Proof(node, "the message history, as it was stored")
            if slot[0] == "call" and next(self._agents([slot]), None) is not None:
                return Proof(slot[1], "the message history: all the messages of a run")
            known = self.facts.of(slot).get(Kind.HISTORY)
            if known is not None and (pairs or slot[0] in {"call", "return"}):
                return Proof(known.root.node, f"the message history: {known.clause}")
            element = self._elements.of(slot)
            if element is not None and _is_message(element[1]):
                return Proof(element[1].node, f"a list of `{element[1].name}`, which has a role", element[0].module)
        for read, there, inside in self._members(self.flowing_into(node)):
            same = self._histories_elsewhere.get((there.module.path, inside))
            if same is not None:
                return Proof(same, "the message history of its object")
            if any(Kind.HISTORY in there.facts.of(slot) for slot in there.contents._flowing([inside])):
                return Proof(read, "the message history of its object")
            taken = there.contents.taken_in([inside]) if self._messages_handed else ()
            for call, parameter in self._messages_handed:
                if (parameter, True) in taken:
                    return Proof(call, "messages are put into it here")
        return self._given(node, None)

    def _has_pairs(self, slot: Slot) -> bool:
        """Whether the elements of a list are tuples: `[(i, m) for i, m in enumerate(h)]`, `xs.append((i, m))`."""
        made = (value.elt for value in self.facts.assigned(slot) if type(value) is cst.ListComp)
        return any(type(ex.inner(part)) is cst.Tuple for part in (*made, *self.facts.appended(slot)))

    def counted(self, node: cst.BaseExpression) -> Proof | None:
        """Why an expression is a list of positions in a list of messages: `[i for i, m in enumerate(history)]`."""
        slot = self.facts.slots.of(node)
        for value in self.facts.assigned(slot) if slot is not None else [node]:
            listed = _counted(value)
            proof = self.history(listed) if listed is not None else None
            if proof is not None:
                return proof
        return None

    def tool_results(self, node: cst.BaseExpression, *, mended: bool = False) -> Proof | None:
        """Why a list may hold the results of tool calls; `mended`: even if others look after what is made of it."""
        told: Proof | None = None
        for slot in self.flowing_into(node, later=False):
            for stored, reason in self._stored.get(slot, ()):
                return Proof(stored, reason)
            element = self._elements.of(slot)
            if element is not None and _is_message(element[1]):
                field = next((name for name in sorted(TOOL_FIELDS) if name in element[1].bound), None)
                if field is not None:
                    reason = f"its messages may belong to a tool call: `{element[1].name}` has `{field}`"
                    told = told or Proof(element[1].node, reason, element[0].module, seen=False)
        found = self._given(node, "tool", mended=mended) or told or self._looked_for(node)
        return found or self._grown_elsewhere(node) or self._added_to_state(node) or self._called_in_runs(node)

    def _called_in_runs(self, node: cst.BaseExpression) -> Proof | None:
        """Where the agent is given tools of whose runs a list has all messages."""
        given = ((agent, agent.tools) for agent in self._agents(self.flowing_into(node)))
        reason = "its messages are those of a run, and here is what the run may call"
        return next((Proof(tools, reason, agent.there.module) for agent, tools in given if tools is not None), None)

    def _agents(self, slots: Iterable[Slot]) -> Iterator[Agent]:
        """The agents of whose runs a list has all messages."""
        yield from (agent for slot in slots if slot[0] == "call" for agent in agents_of(self.anatomy, slot[1]))

    def results_put_into(self, slots: Iterable[Slot]) -> list[cst.CSTNode]:
        """Where this file stores results of tool calls in these lists themselves."""
        return [node for slot in slots for node, _ in self._stored.get(slot, ())]

    def has_results_at(self, node: cst.CSTNode, lists: Iterable[Slot]) -> bool:
        """Whether results may be in some lists where a function comes to a node: not if they get there behind it, in
        lists of this run."""
        function = self.module.scope_of[node].function
        filled = [slot for slot in lists if slot in self._stored]
        if any(slot[:2] != ("var", function) or is_parameter(slot) for slot in filled):
            return True
        return not filled or self.anatomy.leads(function, self.results_put_into(filled), [node])

    def beside(self, slots: Iterable[Slot]) -> bool:
        """Whether calls, or ids of what they were answered by, stand beside the content of messages of a list.

        By what is put there, in this file or in one that hands the list to it.
        """
        within = [*slots]
        here = any(_stands_beside(self.facts, one) for slot in within for one in self._put.get(slot, ()))
        return here or any(each.beside for slot in within for each in self.arrived.get(slot, ()))

    def calls_beside(self, slots: Iterable[Slot]) -> bool:
        """Whether calls do, of messages that this file puts there."""
        put = (one for slot in slots for one in self._put.get(slot, ()) if one.calls is not None)
        return any(_stands_beside(self.facts, one) for one in put)

    @cached_property
    def _put(self) -> dict[Slot, list[Stored]]:
        """What this file puts into lists."""
        found: defaultdict[Slot, list[Stored]] = defaultdict(list)
        for function in self.module.functions:
            for stored in self.anatomy.transcript.stored(function):
                if stored.slot is not None:
                    found[stored.slot].append(stored)
        return found

    def roles_in(self, slots: Iterable[Slot], at: cst.CSTNode | None = None) -> frozenset[Role]:
        """Whether this file, or what it runs, puts results of tools into a list, or a system message at its front.

        With `at`: by the time a function comes there.
        """
        within = [*self._flowing(slots)]
        stored = any(slot in self._stored for slot in within) and (at is None or self.has_results_at(at, within))
        tools = stored or any(self._from_elsewhere(within))
        told: set[Role] = {"tool"} if tools else set()
        return frozenset(told | ({"system"} if self._system_in(within) is not None else set()))

    def _grown_elsewhere(self, node: cst.BaseExpression) -> Proof | None:
        """Where a function of another file puts results of tool calls into a list, or gives it back with them."""
        call = next(self._from_elsewhere(list(self.flowing_into(node))), None)
        reason = "what runs here puts the results of tool calls into it"
        return Proof(call, reason) if call is not None else None

    def _added_to_state(self, node: cst.BaseExpression) -> Proof | None:
        """Where what a function gives back is added to a list that it gets as a part of a state."""
        from lint_rules.anatomy.messages.graph_state import replies_given_back

        line = next(replies_given_back(self.anatomy, {*self.flowing_into(node)}), None)
        reason = "a reply that may have calls is added to it, and then their results"
        return Proof(line, reason) if line is not None else None

    def _from_elsewhere(self, slots: Collection[Slot]) -> Iterator[cst.CSTNode]:
        yield from (node for slot, node in self._growths if slot in slots)
        called = ((slot[1], run_elsewhere(self.anatomy, slot[1])) for slot in slots if slot[0] == "call")
        given = [(call, found[0], ("return", found[1])) for call, found in called if found is not None]
        for node, there, inside in (*given, *self._members(slots)):
            if "tool" in there.contents.roles_in([inside]):
                yield node
            taken = there.contents.taken_in([inside]) if self._results_handed else {}
            yield from (call for call, parameter, whole in self._results_handed if (parameter, whole) in taken)

    def taken_in(self, slots: Iterable[Slot]) -> Collection[tuple[Slot, bool]]:
        """The parameters whose values functions of this file put into a list: as a message, or as a part of one."""
        found: set[tuple[Slot, bool]] = set()
        for whole, parts in (each for slot in self._flowing(slots) for each in self._put_into(slot)):
            found.update((place, True) for place in whole if is_parameter(place))
            found.update((place, False) for place in parts if is_parameter(place))
        return found

    def _put_into(self, slot: Slot) -> Iterator[tuple[set[Slot], set[Slot]]]:
        """What each argument is that is put into a list, as a whole, and what its parts are."""
        for put in self.facts.put(slot):
            for arg in put.args:
                parts = (self.facts.slots.of(part) for part in walk(arg.value) if type(part) is cst.Name)
                yield {*self.flowing_into(arg.value)}, {part for part in parts if part is not None}

    @cached_property
    def _results_handed(self) -> list[tuple[cst.Call, Slot, bool]]:
        """The calls that hand a result of a tool to a function of another file: as a message, or as a part of one."""
        return [
            (call, place, whole)
            for call, place, value in self._handed_on
            if (whole := self._is_result(value)) is not None
        ]

    @cached_property
    def _messages_handed(self) -> list[tuple[cst.Call, Slot]]:
        """The calls that hand a message to a function of another file."""
        return [(call, place) for call, place, value in self._handed_on if self.anatomy.transcript.messages.of(value)]

    @cached_property
    def _handed_on(self) -> list[tuple[cst.Call, Slot, cst.BaseExpression]]:
        """The calls that hand a message, or a part of one, to a function of another file: to which parameter."""
        found = []
        for call in self.module.nodes_of(cst.Call):
            told = [
                a.value
                for a in call.args
                if self.anatomy.transcript.messages.of(a.value) or self._is_result(a.value) is not None
            ]
            run = run_elsewhere(self.anatomy, call) if told else None
            for parameter, value in run[0].facts.slots.bindings(call, run[1]) if run is not None else ():
                if value in told:
                    found.append((call, parameter, value))
        return found

    def _is_result(self, value: cst.BaseExpression) -> bool | None:
        """Whether a value is a message with the result of a tool: True; the role or content of one: False."""
        messages = self.anatomy.transcript.messages
        if any(message.role == "tool" for message in messages.of(value)):
            return True
        return False if ex.text(value) == "tool" or messages.answers(value) else None

    def _members(self, slots: Iterable[Slot]) -> Iterator[tuple[cst.CSTNode, Anatomy, Slot]]:
        """`talk.messages` of an object of another file: where it is read, that file, and what it is there."""
        for slot in (slot for slot in slots if slot in self._read):
            for there, cls in classes_of(self.anatomy, slot[1]):
                given = there.module.method(cls, slot[2])
                inside: Slot = ("return", given) if given is not None else there.facts.slots.attribute(cls, slot[2])
                yield self._read[slot], there, inside

    @cached_property
    def _histories_elsewhere(self) -> dict[tuple[str, Slot], cst.CSTNode]:
        """The attributes of objects of other files that this one uses as histories, by what they are there."""
        known = (slot for slot, _ in self.facts.histories() if slot[0] == "member")
        return {(there.module.path, inside): read for read, there, inside in self._members(known)}

    @cached_property
    def _read(self) -> dict[Slot, cst.Attribute]:
        """Where a part of each object is read: for the first time."""
        nodes = ((self.facts.slots.of(node), node) for node in reversed(self.module.nodes_of(cst.Attribute)))
        return {slot: node for slot, node in nodes if slot is not None and slot[0] == "member"}

    @cached_property
    def _growths(self) -> list[tuple[Slot, cst.CSTNode]]:
        return [(each.write.slot, each.write.node) for each in foreign_growths(self.anatomy) if each.tools]

    def _given(self, node: cst.BaseExpression, role: Role | None, *, mended: bool = False) -> Proof | None:
        """Where another file puts messages into a list, or those of a role: it hands the list, or what is put there."""
        handed = self.arrived if mended else self.handed
        for slot in self.flowing_into(node) if handed else ():
            for each in (*handed.get(slot, ()), *self._put_from_elsewhere(slot)):
                if role in each.roles or (role is None and each.what in {"history", "message"}):
                    reason = _GIVEN[role]
                    return Proof(node, reason, elsewhere=Related(each.span, reason, each.path), used=each.used)
        return None

    def _put_from_elsewhere(self, slot: Slot) -> Iterator[Handed]:
        """What is put into a list, and comes from other files: a message, or its role."""
        for whole, parts in self._put_into(slot):
            for given in self.handed.keys() & (whole | parts):
                told = self.handed[given]
                yield from (each for each in told if given in whole or each.what in {"role", "content"})

    @cached_property
    def handed(self) -> dict[Slot, list[Handed]]:
        """What other files hand to this one, as in `arrived`; not what they mend when it comes back."""
        mended = {each.holder for each in self.anatomy.handed if each.mended}
        return {
            slot: left
            for slot, told in self.arrived.items()
            if (left := [each for each in told if each.holder not in mended])
        }

    @cached_property
    def arrived(self) -> dict[Slot, list[Handed]]:
        """What other files hand to this one, by the slot in which it arrives."""
        found: defaultdict[Slot, list[Handed]] = defaultdict(list)
        for each in self.anatomy.handed:
            for slot in self.arrives(each):
                found[slot].append(each)
        return found

    def arrives(self, handed: Handed) -> Iterator[Slot]:
        """The slots in which what another file hands to this one arrives."""
        cls = self.module.class_named(handed.owner.removesuffix(".__init__"))
        named = (f for f in self.module.functions if f.qualname == handed.owner and f.kind == "function")
        function = next(named, None)
        if function is None:
            if cls is not None and isinstance(handed.part, str):
                yield self.facts.slots.attribute(cls, handed.part)
            return
        names = told_names(function)
        name = names[handed.part] if isinstance(handed.part, int) and handed.part < len(names) else handed.part
        if name not in names:
            return
        parameter = self.facts.slots.parameter(function, name)
        if not handed.inside:
            yield parameter
            return
        for whole in self.kept_of(parameter):
            yield ("member", whole, handed.inside)

    def kept_of(self, parameter: Slot) -> Iterator[Slot]:
        """A parameter, and the attributes of objects of this file that are set to what it gets."""
        kept = (self.facts.slots.attribute(owner, name) for owner in self.module.classes for name in owner.attributes)
        for whole in (parameter, *kept):
            if whole == parameter or any(self.facts.slots.of(v) == parameter for v in self.facts.assigned(whole)):
                yield whole

    def _looked_for(self, node: cst.BaseExpression) -> Proof | None:
        """Where this file asks of the elements of a list, or of a part of it, whether they belong to a tool call."""
        if not self._looked_at or all(map(self._is_all_known, self.lists_in(node))):
            return None
        lists = {*self.flowing_into(node)}
        if any(map(self._holds_turns, lists)):
            return None
        for looked, listed in self._looked_at:
            made_of = set(self.flowing_into(listed))
            if not lists.isdisjoint(made_of) and made_of.isdisjoint(self._stored):  # else they are asked for those
                return Proof(looked, "its messages are asked here whether they belong to a tool call")
        return None

    def _holds_turns(self, slot: Slot) -> bool:
        """Whether the elements of a list are of a class that says neither who speaks nor which call it answers.

        Such a record is of a whole turn: its calls and their results go together.
        """
        element = self._elements.of(slot)
        return element is not None and _TELLING.isdisjoint(element[1].bound)

    def _is_all_known(self, slot: Slot) -> bool:
        """Whether a list begins empty, and each message that gets into it is made in this file."""
        begun = [value for value in self.facts.assigned(slot) if slot not in map(self.facts.slots.of, sources(value))]
        put = [one for one in self._put.get(slot, ()) if one.kind not in {"rebind", "cut", "replace"}]
        empty = all(isinstance(value, cst.List) and not value.elements for value in begun)
        made = [one.message for one in put if one.message is not None and one.message.content is not None]
        whole = len(made) == len(put) and not any(message.more for message in made)
        return bool(begun and put) and empty and whole

    @cached_property
    def _looked_at(self) -> list[tuple[cst.CSTNode, cst.BaseExpression]]:
        """The places that ask so of what a loop has in hand, also in a helper, each with the list it goes through."""
        found: dict[tuple[Slot, cst.BaseExpression], cst.CSTNode] = {}
        for node in self.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call, cst.Comparison):
            subject = self.facts.slots.of_name(_asked_for_calls(node))
            given = self.facts.given(subject) if subject is not None else ()
            for slot in (subject, *map(self.facts.slots.of, given)):
                if slot is not None:
                    for listed in self.facts.gone_through(slot):
                        found.setdefault((slot, listed), node)
        return [(node, listed) for (_, listed), node in found.items()]

    def system_message(self, node: cst.BaseExpression) -> Proof | None:
        """Why a list may begin with a system message."""
        told = self._system_in(self.flowing_into(node))
        if told is None and self.later_system_message(node) is None:  # of which other files tell, too
            told = self._given(node, "system")
        first = ((agent, agent.system) for agent in self._agents(self.flowing_into(node) if told is None else ()))
        reason = "the first run puts it in front of its messages, and no later one"
        return told or next((Proof(at, reason, agent.there.module) for agent, at in first if at is not None), None)

    def _system_in(self, slots: Iterable[Slot]) -> Proof | None:
        for slot in slots:
            for value in self.facts.assigned(slot):
                first = _first(value)
                if first is not None and self.is_system(first):
                    return Proof(first, "the system message is put at its front here")
            for write in self.anatomy.writes.by_slot.get(slot, ()) if slot not in self._prompted else ():
                if write.kind in {"append", "insert"} and write.value is not None and self.is_system(write.value):
                    if _at_front(write.node) if write.kind == "insert" else not self._comes_later(write, slot):
                        return Proof(write.node, "the system message is put into it here")
        return None

    @cached_property
    def _prompted(self) -> set[Slot]:
        """The lists in front of which a system message is put for each request: `[prompt, *lines]`, `[prompt] + lines`.

        Other messages of this role in them are no instructions.
        """
        found: set[Slot | None] = set()
        for node in self.module.nodes_of(cst.List, cst.BinaryOperation):
            first = _first(node)
            if first is None or not self.is_system(first):
                continue
            behind = [node.right] if type(node) is cst.BinaryOperation else []
            parts = node.elements if type(node) is cst.List else ()
            behind += [part.value for part in parts if type(part) is cst.StarredElement]
            found.update(map(self.facts.slots.of, behind))
        asked = (call.history for call in self.facts.calls.values() if call.history is not None)
        sent = {slot for history in asked for slot in self.lists_in(history)}
        return {slot for slot in found if slot is not None} - sent

    def later_system_message(self, node: cst.BaseExpression) -> Proof | None:
        """Why a list may hold a system message behind other messages."""
        for slot in self.flowing_into(node):
            for write in self.anatomy.writes.by_slot.get(slot, ()):
                if write.kind == "append" and write.value is not None and self.is_system(write.value):
                    if self._comes_later(write, slot):
                        return Proof(write.node, "another system message is put behind the first here")
        return None

    def _comes_later(self, write: HistoryWrite, slot: Slot) -> bool:
        """Whether each way to where a message is appended leads by another one: what it says stands in the middle."""
        places = [(write.node, write.function)]
        for _ in range(_MOST_CALLERS):
            open_ = [(node, function) for node, function in places if not self._has_before(node, function, slot)]
            sites = [self.anatomy.calls.sites[function] for _, function in open_]
            if not all(sites):
                return places[0] == (write.node, write.function) and not self._begins(write.function, slot)
            places = [(site.node, site.caller) for found in sites for site in found]
        return not places

    def _begins(self, function: Scope, slot: Slot) -> bool:
        """Whether a function makes the list, or the object that has it, or is called here of who knows what.

        What only other files call, they may call at any time.
        """
        if function.kind == "module" or function.name == "__init__" or slot[1] is function:
            return True
        rebound = (write for write in self.anatomy.writes.by_slot[slot] if write.kind == "rebind")
        return any(write.function is function for write in rebound) or function.name in self._called

    @cached_property
    def _called(self) -> frozenset[str]:
        """The names of what the file calls."""
        return frozenset(map(ex.called_name, self.module.nodes_of(cst.Call)))

    def _has_before(self, node: cst.CSTNode, function: Scope, slot: Slot) -> bool:
        """Whether something is put into the list on each way of a function that leads to a node."""
        if function.kind not in {"function", "module"}:
            return False
        others = [w.node for w in self.anatomy.writes.by_slot[slot] if w.function is function and w.kind in GROWING]
        put = set(self.anatomy.points(function, (other for other in others if other is not node)))
        flow = self.anatomy.flow(function)
        return bool(put) and not flow.reaches(flow.entry, self.anatomy.points(function, [node]), put)

    def is_system(self, node: cst.BaseExpression) -> bool:
        """Whether a message holds instructions: a summary with the role of the system is no such thing."""
        if isinstance(node, cst.Name) and "summar" in node.value:
            return False
        role = ex.dict_items(node).get("role")
        if role is not None and any(ex.text(part) in {"system", "developer"} for part in ex.alternatives(role)):
            return True
        return any(message.role == "system" for message in self.anatomy.transcript.messages.of(node))

    # -- which lists a list is made of ------------------------------------------------------------------------

    def flowing_into(self, node: cst.BaseExpression, *, later: bool = True) -> Iterator[Slot]:
        """The slots of a list and of all lists whose elements it gets, nearest first; `later`: once it is given back.

        What a caller puts into the list that a run has made and given back, no other run finds in its own.
        """
        return self._flowing(self.lists_in(node), later=later)

    def _flowing(self, slots: Iterable[Slot], *, later: bool = True) -> Iterator[Slot]:
        queue = deque(slots)
        seen = set(queue)
        while queue and len(seen) < _FARTHEST:
            slot = queue.popleft()
            yield slot
            apart = (given for part, _, _ in self.facts.given_apart(slot) for given in self.lists_in(part))
            same = (*self._same_part(slot), *as_callers_have_it(self.anatomy, slot))
            for other in (*self._inflow.get(slot, ()), *apart, *same):
                if other not in seen and (later or slot[:2] != ("var", other[1]) or other[0] != "return"):
                    seen.add(other)
                    queue.append(other)

    def _same_part(self, slot: Slot) -> list[Slot]:
        """The same part of one lasting object, by other names for that: `talk.rows` of a `talk = self.talks[key]`."""
        return self._parts.get(self.anatomy.aliases.of(slot), []) if slot in self._read else []

    @cached_property
    def _parts(self) -> dict[Slot, list[Slot]]:
        """The parts of objects that are read, by the lasting places they live in."""
        found: defaultdict[Slot, list[Slot]] = defaultdict(list)
        for slot in self._read:
            place = self.anatomy.aliases.of(slot)
            if place[0] != "attr" and root_object(place)[0] == "attr":
                found[place].append(slot)
        return found

    def lists_in(self, node: cst.BaseExpression) -> Iterator[Slot]:
        """The slots that an expression names, through copies, slices, concatenations and comprehensions."""
        for part in ex.alternatives(node):
            slot = self.facts.slots.of(part)
            if slot is not None:
                yield self._same_call(part, slot)
            for source in (*sources(part), *_gone_through(part)):
                yield from self.lists_in(source)

    def _same_call(self, node: cst.BaseExpression, slot: Slot) -> Slot:
        """Two calls of one method of one object of another file give the same list: `self.store.messages(key)`."""
        if slot[0] != "call" or not isinstance(node, cst.Call):
            return slot
        name = ex.dotted(node.func)
        first = self._calls_by_name.get((self.module.scope_of[node].owner, name)) if name and "." in name else None
        return ("call", first) if first is not None else slot

    @cached_property
    def _calls_by_name(self) -> dict[tuple[Scope | None, str], cst.Call]:
        """The first call known to give a history, by class and dotted name."""
        found: dict[tuple[Scope | None, str], cst.Call] = {}
        for slot, _ in self.facts.histories():
            if slot[0] == "call":
                name = ex.dotted(slot[1].func)
                if name is not None and name.startswith("self."):
                    found.setdefault((self.module.scope_of[slot[1]].owner, name), slot[1])
        return found

    @cached_property
    def _inflow(self) -> dict[Slot, list[Slot]]:
        """Slot to the slots whose elements come into it; names of one list go both ways.

        Of what a function is handed, only what it may put into that comes back: who counts two lists does not mix them.
        """
        found: defaultdict[Slot, list[Slot]] = defaultdict(list)
        named: list[tuple[Slot, Slot]] = []
        handed: list[tuple[Slot, Slot]] = []

        def flow(target: Slot | None, value: cst.BaseExpression, same_list: list[tuple[Slot, Slot]] = named) -> None:
            if target is None:
                return
            for part in ex.alternatives(value):
                same = self.facts.slots.of(part)
                if same is not None:
                    found[target].append(self._same_call(part, same))
                    same_list.append((same, target))
                for source in (*sources(part), *_gone_through(part)):
                    found[target].extend(self.lists_in(source))

        slots = self.facts.slots
        for node in self.module.nodes_of(cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.Return, cst.Call):
            if type(node) is cst.Assign:
                for target in node.targets:
                    sliced = target.target.value if ex.slice_of(target.target) is not None else target.target  # type: ignore[attr-defined]
                    flow(slots.of(sliced), node.value)
            elif type(node) is cst.AnnAssign or type(node) is cst.NamedExpr:
                if node.value is not None:
                    flow(slots.of(node.target), node.value)
            elif type(node) is cst.Return and node.value is not None:
                flow(("return", self.module.scope_of[node].function), node.value)
            elif type(node) is cst.Call:
                callee = slots.callee(node)
                for run in (callee, *self.module.overriding(callee)) if callee is not None else ():
                    for parameter, value in slots.bindings(node, run):
                        flow(parameter, value, handed)
        changed = self._changed(named, handed)
        for same, other in (*named, *(pair for pair in handed if pair[1] in changed)):
            found[same].append(other)
        for write in self.anatomy.writes.all:
            if write.kind == "extend" and write.value is not None:
                found[write.slot].extend(self.lists_in(write.value))
        for filled, listed in self.filled:
            found[filled].extend(self.lists_in(listed))
        for load, stores in self.anatomy.kept_elsewhere.given.items():
            given = slots.of(load)
            if given is not None:
                found[self._same_call(load, given)].extend(stores)
        return found

    def _changed(self, named: list[tuple[Slot, Slot]], handed: list[tuple[Slot, Slot]]) -> set[Slot]:
        """The slots of lists that something is put into, by whatever name, also by who is handed them."""
        beside: defaultdict[Slot, list[Slot]] = defaultdict(list)
        for same, target in (*named, *handed):
            beside[target].append(same)
        for same, target in named:
            beside[same].append(target)
        found = {*self._put, *(write.slot for write in self.anatomy.writes.all)}
        queue = [*found]
        while queue:
            fresh = set(beside[queue.pop()]) - found
            found |= fresh
            queue += fresh
        return found

    @cached_property
    def filled(self) -> list[tuple[Slot, cst.BaseExpression]]:
        """`for m in xs: ys.append(m)`: the lists that get elements of others, also in pairs, and those."""
        found: list[tuple[Slot, cst.BaseExpression]] = []
        for loop in self.module.nodes_of(cst.For):
            for call in (node for node in walk(loop.body) if isinstance(node, cst.Call)):
                base = ex.receiver(call) if ex.called_name(call) in {"append", "insert"} and call.args else None
                slot = self.facts.slots.of(base)
                if slot is None:
                    continue
                for listed, target in ex.iterated(loop):
                    names = ex.target_names(target)
                    if any(is_element(part, names) for part in ex.several(call.args[-1].value)):
                        found.append((slot, listed))
        return found

    # -- what is stored in them -------------------------------------------------------------------------------

    @cached_property
    def _stored(self) -> dict[Slot, list[tuple[cst.CSTNode, str]]]:
        """Slot to the places that store the result of a tool call in it, each with words for it."""
        found: defaultdict[Slot, list[tuple[cst.CSTNode, str]]] = defaultdict(list)
        for slot, put in self._put.items():
            for stored in put:
                if stored.answers and not _is_legacy(stored) and not self.anatomy.is_left_alone(stored.function):
                    found[slot].append((stored.node, "the result of a tool call is stored in it here"))
        for node in self.module.nodes_of(cst.Call):
            if ex.argument(node, "tools") is not None:
                for method in self._callbacks(node):
                    for write in self.anatomy.writes.by_function.get(method, ()):
                        if write.kind == "append" and self._is_parameter(write.value, method):
                            reason = f"`{method.name}` stores in it what comes of a run with `tools=`"
                            found[write.slot].append((node, reason))
        return found

    def _callbacks(self, call: cst.Call) -> Iterator[Scope]:
        """The functions of this file that a call is handed."""
        for arg in call.args:
            function = self.facts.slots.function(arg.value) if not isinstance(arg.value, cst.Call) else None
            if function is not None:
                yield function

    @staticmethod
    def _is_parameter(value: cst.BaseExpression | None, function: Scope) -> bool:
        return isinstance(value, cst.Name) and value.value in {param.name.value for param in parameters(function)}


def _stands_beside(facts: Facts, stored: Stored) -> bool:
    """Whether a message has calls, or ids of calls that it answers, which its content does not hold."""
    message = stored.message
    if message is None:
        return False
    parts = [*([message.calls] if message.calls is not None else []), *message.answers]
    made = [message.content, *facts.values_of(message.content)] if message.content is not None else []
    return not set(parts) <= {inside for value in made for inside in walk(value)}


def _is_legacy(stored: Stored) -> bool:
    """A message of role "function": it names no call, so no API misses the call."""
    role = ex.dict_items(stored.message.node).get("role") if stored.message is not None else None
    return role is not None and ex.text(role) == "function"


def _is_message(cls: Scope) -> bool:
    """Whether a class is one of messages: it has a role, and content or calls."""
    return "role" in cls.bound and not words.MESSAGE_PARTS.isdisjoint(cls.bound)


def _asked_for_calls(node: cst.CSTNode) -> cst.BaseExpression | None:
    """`m` of `m["tool_calls"]`, `m.tool_call_id` and `m["role"] == "tool"`."""
    pair = ex.member(node)
    if pair is None and isinstance(node, cst.Comparison) and "tool" in (named_roles(node) or ()):
        pair = ex.member(node.left)
    elif pair is not None and pair[1] not in TOOL_FIELDS:
        return None
    return pair[0] if pair is not None else None


def _first(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """The element at the front of a list display, or of what is put before something else."""
    value = ex.inner(value)
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add):
        return _first(value.left)
    if isinstance(value, cst.List) and value.elements and isinstance(value.elements[0], cst.Element):
        return value.elements[0].value
    return None


def _gone_through(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The lists whose elements a comprehension goes through, but for one of which it has the positions alone."""
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        for listed, target in ex.iterated(node.for_in):
            if target is node.for_in.target or mentions({*ex.target_names(target)}, node.elt):
                yield listed


def _counted(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`xs` of `[i for i, x in enumerate(xs)]` and `[i for i in range(len(xs))]`: the list whose positions are taken."""
    over = node.for_in.iter if isinstance(node, cst.ListComp) else None
    if not isinstance(node, cst.ListComp) or not isinstance(over, cst.Call) or not over.args:
        return None
    place: cst.BaseExpression = node.for_in.target
    listed = over.args[0].value
    if ex.dotted(over.func) == "enumerate" and isinstance(place, cst.Tuple):
        place = place.elements[0].value
    elif ex.dotted(over.func) != "range" or not isinstance(listed, cst.Call) or ex.dotted(listed.func) != "len":
        return None
    elif len(over.args) == len(listed.args) == 1:
        listed = listed.args[0].value
    return listed if isinstance(place, cst.Name) and ex.dotted(node.elt) == place.value else None


def _at_front(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and bool(node.args) and ex.integer(node.args[0].value) == 0
