"""What a value holds where the rounds of a loop are used up: nothing yet, or what rounds that went on have left there.

What is handed out is taken apart into the values it is made of, behind the loop through the names that they get there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import reads_calls, shows_calls, speaks_of_calls
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.rounds.limits import Cause, Limits
from lint_rules.anatomy.rounds.reasons import is_mere_word, says_why
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.rounds.slices import FILLERS
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import CALL_WORDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_WHOLE = frozenset({Kind.REPLY, Kind.MESSAGE, Kind.HISTORY})
"""What a caller can look into, for calls that wait."""
_SAYS = (Kind.MODEL_TEXT, Kind.REPLY, Kind.MESSAGE)
_ARGUMENTS = frozenset({Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})
_COUNTS = frozenset({"len", "bool", "sum", "int", "float", "any", "all", "round", "min", "max", "isinstance"})
_TEXTS = frozenset({"content", "text", "output_text", "parts"})
"""Where a reply has its text. Source: the APIs of the providers."""


@record
class Leftover:
    """`part` of what is handed out is empty, or else as rounds have left it; `names` are what it goes by on the way."""

    part: cst.BaseExpression
    names: frozenset[Slot]
    empty: bool


@record
class _Leaf:
    """A value that another one is made of, with the names that stand between the two."""

    value: cst.BaseExpression
    names: frozenset[Slot]


class Leftovers:
    """What the rounds of one loop leave, when nothing but their number ends them."""

    def __init__(self, anatomy: Anatomy, loop: RoundLoop, limits: Limits) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.slots = anatomy.facts.slots
        self.loop = loop
        self.limits = limits
        self._added_to: dict[Slot, list[cst.BaseExpression]] = {}
        self._texts: dict[Slot, bool] = {}

    def of(self, value: cst.BaseExpression | None) -> Leftover | None:
        """The part of a value that holds no answer when the rounds are used up; None where another one tells so."""
        if value is not None and self.is_blank(value):
            return Leftover(value, frozenset(), empty=True)
        leaves = [*self._leaves(value, frozenset(), set())] if value is not None else []
        if any(self._says_how_it_ended(leaf.value) for leaf in leaves):
            return None
        for leaf in leaves:
            first = self._is_first_value(leaf.value) or self._has_first_value(leaf.value)
            if first or self._is_awaited(leaf.value):
                return self._leftover(leaf, empty=True)
        for leaf in leaves:
            if self._is_last_text(leaf.value) or self._is_text_of_rounds(leaf.value) or self._is_last_reply(leaf.value):
                return self._leftover(leaf, empty=False)
        return None

    def is_blank(self, value: cst.BaseExpression) -> bool:
        """Whether a text stands where an answer would, and says nothing: "", one word, or words for an empty answer.

        What the file puts there for an empty answer, too (`text or "All set."`), tells of no other end.
        """
        said = ex.text(value)
        if said is None or said == "" or is_mere_word(self.anatomy, value):
            return said is not None
        stands_in = any(ex.text(node.right) == said for node in self.module.nodes_of(cst.BooleanOperation))
        return stands_in and not says_why(self.anatomy, value)

    def says(self, value: cst.BaseExpression | None) -> bool:
        """Whether what the model says goes into a value."""
        leaves = self._leaves(value, frozenset(), set()) if value is not None else ()
        return any(self._is_said(leaf.value) for leaf in leaves)

    def tells_ends_apart(self, node: cst.Name | cst.Attribute) -> bool:
        """Whether a value is a counter of the rounds, or is set where the loop is left."""
        return self.limits.bounds.is_counter(node) or self.is_set_at_end(node)

    def is_set_at_end(self, node: cst.Name | cst.Attribute) -> bool:
        """Whether a value is set where the loop is left."""
        return any(map(self.limits.exits.leads_out, self._set_inside(self.slots.of(node))))

    @cached_property
    def leaves_without_calls(self) -> bool:
        """Whether the reply ends the loop when it asks for no tools."""
        for decision in self.limits.decisions:
            test = getattr(decision.node, "test", None)
            if test is not None and reads_calls(self.facts, test):
                return True
            flags = (self.slots.of_name(part) for part in walk(test)) if test is not None else ()  # `done = not calls`
            if any(reads_calls(self.facts, value) for flag in flags for value in self._set_inside(flag)):
                return True
            if test is not None and decision.cause is Cause.REPLY:
                parts = (part for part in self.limits.slice.of([test]) if isinstance(part, cst.BaseExpression))
                if any(speaks_of_calls(self.facts, part) for part in parts):
                    return True
        return False

    # -- what a value is made of ------------------------------------------------------------------------------

    def _leaves(
        self, value: cst.BaseExpression, names: frozenset[Slot], seen: set[cst.BaseExpression]
    ) -> Iterator[_Leaf]:
        value = ex.inner(value)
        if value in seen:
            return
        seen.add(value)
        if self._is_awaited(value):
            yield _Leaf(value, names)
            return
        if isinstance(value, cst.Call) and Kind.MODEL_TEXT in self.facts.kinds(value):
            yield _Leaf(value, names)
        slot = self.slots.of(value)
        made = [*self._made_behind(value)]
        named = names | ({slot} if made and slot is not None else set())
        parts = made or [*self._parts(value)]
        for part in parts:
            yield from self._leaves(part, named, seen)
        if not parts:
            yield _Leaf(value, names)

    def _made_behind(self, value: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a name is given behind the loop, if that is all it may hold; what a loop there takes a part from."""
        root = _root(value)
        found = self.anatomy.definitions(root) if root is not None else []
        nodes = [each.point.statement for each in found]
        if root is None or any(node is None or not self._is_behind(node) for node in nodes):
            return []
        if root is not value:
            return [node.iter for node in nodes if isinstance(node, cst.For)]
        slot = self.slots.of(root)
        added = (each for each in self._added(slot) if self._is_behind(each)) if slot is not None and found else ()
        return [each.value for each in found if each.kind in {"assign", "augmented"} and each.value is not None] + [
            *added
        ]

    def _is_behind(self, node: cst.CSTNode) -> bool:
        return self.module.before(self.loop.node, node) and not self.module.inside(node, self.loop.node)

    def _parts(self, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """What an expression puts together or chooses from; nothing for a value that stands for itself."""
        if isinstance(value, (cst.Tuple, cst.List, cst.Set, cst.Dict)):
            yield from (element.value for element in value.elements)
        elif isinstance(value, cst.BooleanOperation):
            yield from (value.left, value.right)
        elif isinstance(value, cst.IfExp):
            yield from (value.body, value.orelse)
        elif isinstance(value, cst.BinaryOperation):
            yield from (value.left, value.right)
        elif isinstance(value, cst.FormattedString):
            yield from (part.expression for part in value.parts if isinstance(part, cst.FormattedStringExpression))
        elif isinstance(value, (cst.ListComp, cst.GeneratorExp)):
            yield value.for_in.iter
        elif isinstance(value, cst.Subscript) and ex.member(value) is None and isinstance(value.value, cst.Name):
            yield value.value
        elif isinstance(value, cst.Call) and ex.member(value) is None:
            yield from self._parts_of_call(value)

    def _parts_of_call(self, call: cst.Call) -> Iterator[cst.BaseExpression]:
        """What a call may give back: what it gets, and what the function of this file has in its one `return`."""
        if ex.dotted(call.func) in _COUNTS:
            return
        callee = self.slots.callee(call)
        given = callee.nodes_of(cst.Return) if callee is not None else []
        if len(given) == 1 and given[0].value is not None:
            yield given[0].value
        if (base := ex.receiver(call)) is not None:
            yield base
        yield from (arg.value for arg in call.args)

    def _leftover(self, leaf: _Leaf, *, empty: bool) -> Leftover:
        value = leaf.value.left if isinstance(leaf.value, cst.BooleanOperation) else leaf.value
        slot = self.slots.of(value)
        return Leftover(leaf.value, leaf.names | ({slot} if slot is not None else set()), empty)

    # -- what tells -------------------------------------------------------------------------------------------

    def _says_how_it_ended(self, part: cst.BaseExpression) -> bool:
        """A flag or word that is set or asked where the loop is left, None until then, the reply, or why it ended."""
        slot = self.slots.of(part) if isinstance(part, (cst.Name, cst.Attribute)) else None
        inside = self._set_inside(slot)
        read = (each for value in (part, *inside) for each in ex.alternatives(value) if ex.member(each) is not None)
        if any(shows_calls(self.facts, each) for each in read):
            return True
        values = self.facts.assigned(slot)
        ended = [
            v for v in values if self.loop.node.orelse is not None and self.module.inside(v, self.loop.node.orelse)
        ]
        if all(map(_is_constant, [*inside, *ended])):
            if ended or any(map(self.limits.exits.leads_out, inside)) or (inside and slot in self._deciding):
                return True
        before = [v for v in values if v not in inside]
        unset = any(ex.dotted(v) == "None" for v in before)
        return unset and bool(inside) and all(map(self.limits.exits.leads_out, inside))

    @cached_property
    def _deciding(self) -> set[Slot | None]:
        """What the tests ask that leave the loop."""
        tests = (getattr(decision.node, "test", None) for decision in self.limits.decisions)
        return {
            self.slots.of(part) for test in tests if test is not None for part in walk(test) if ex.reads_place(part)
        }

    def _set_inside(self, slot: Slot | None) -> list[cst.BaseExpression]:
        values = self.facts.assigned(slot)
        return [value for value in values if self.module.inside(value, self.loop.node.body)]

    # -- still empty ------------------------------------------------------------------------------------------

    def _is_awaited(self, part: cst.BaseExpression) -> bool:
        """`found or {}` behind `while found is None and n < most`: empty, where the loop has not found it."""
        test = self.loop.node.test if isinstance(self.loop.node, cst.While) else None
        if test is None or not isinstance(part, cst.BooleanOperation) or not isinstance(part.operator, cst.Or):
            return False
        wanted = self.slots.of(part.left)
        empty = is_neutral(part.right) and ex.dotted(part.right) != "None"
        return empty and wanted is not None and wanted in map(self.slots.of, _missing(test))

    def _is_first_value(self, part: cst.BaseExpression) -> bool:
        """A name that is empty before the loop, or holds what stands there for an empty answer, too, and that is set in
        the loop only where that is left."""
        slot = self.slots.of_name(part)
        if slot is None:
            return False
        values = [v for v in self.facts.assigned(slot) if self.module.scope_of[v].function is slot[1]]
        before = [v for v in values if not self.module.inside(v, self.loop.node.body)]
        inside = [v for v in (*values, *self._added(slot)) if self.module.inside(v, self.loop.node.body)]
        if len(before) != 1 or not inside or ex.dotted(before[0]) == "None":
            return False
        if not is_neutral(before[0]) and not self._stands_in(part, before[0], inside):
            return False
        said = any(map(self._is_said, inside))
        return said and all(map(self.ends_the_loop, inside))

    def _has_first_value(self, part: cst.BaseExpression) -> bool:
        """An object from before the loop of which a part, empty there, is set where the loop is left, and no other."""
        slot = self.slots.of_name(part)
        made = self.facts.assigned(slot)
        if slot is None or len(made) != 1 or self.module.inside(made[0], self.loop.node):
            return False
        first = dict(ex.dict_parts(made[0])) if isinstance(made[0], (cst.Dict, cst.Call)) else {}
        cls = self.slots.constructed(made[0]) if isinstance(made[0], cst.Call) else None
        for field in cls.nodes_of(cst.AnnAssign) if cls is not None else ():
            if isinstance(field.target, cst.Name) and field.value is not None:
                first.setdefault(field.target.value, field.value)
        ended = dict[str, cst.BaseExpression]()
        for node in self.module.nodes_inside(self.loop.node.body, self.loop.function, cst.Assign):
            pair = ex.member(node.targets[0].target)
            if pair is not None and self.slots.of(pair[0]) == slot and self.ends_the_loop(node.value):
                ended[pair[1]] = node.value
        (name, value), *others = [*ended.items()] or [("", part)]
        empty = is_neutral(first[name]) and ex.dotted(first[name]) != "None" if name in first else False
        inside = self.module.nodes_inside(self.loop.node.body, self.loop.function, cst.Arg)
        return empty and not others and self._is_said(value) and all(self.slots.of(arg.value) != slot for arg in inside)

    def _stands_in(self, name: cst.BaseExpression, first: cst.BaseExpression, inside: list[cst.BaseExpression]) -> bool:
        """`answer = reply.text or answer`: words that may stand behind an answer as well, and tell of no other end.

        So does one word alone, which is no sentence, such as "Done.".
        """
        slot = self.slots.of(name)
        if is_mere_word(self.anatomy, first):
            return True
        kept = any(self.slots.of(part) == slot for value in inside for part in ex.alternatives(value))
        return (
            (kept or any(map(self._is_set_if_there, inside)))
            and bool(ex.text(first))
            and not says_why(self.anatomy, first)
        )

    def _is_set_if_there(self, value: cst.BaseExpression) -> bool:
        """`if reply.text: answer = reply.text`."""
        around = self.module.parent.get(self.module.parent[self.module.statement(value)])
        guard = self.module.parent.get(around) if around is not None else None
        tested = {ex.source(part) for part in walk(guard.test)} if isinstance(guard, cst.If) else set[str]()
        return ex.source(value) in tested and isinstance(guard, cst.If) and guard.orelse is None

    def ends_the_loop(self, value: cst.BaseExpression) -> bool:
        """Whether the loop is left where a value is bound: by a way out, or since its test asks for what is bound."""
        if self.limits.exits.leads_out(value):
            return True
        block = self.module.parent.get(self.module.parent[self.module.statement(value)])
        tested = names_in(self.loop.node.test) if isinstance(
            self.loop.node, cst.While
        ) else set[str]()  # fmt: skip
        flags = (n for n in walk(block) if isinstance(n, cst.Assign)) if isinstance(block, cst.IndentedBlock) else ()
        return any(ex.dotted(t.target) in tested for flag in flags for t in flag.targets)

    # -- left by rounds ---------------------------------------------------------------------------------------

    def _is_last_text(self, part: cst.BaseExpression) -> bool:
        """`reply.content` of a reply that each round sets, where only replies without calls leave the loop.

        By itself, or by a name that it, or a part of it, gets behind the loop.
        """
        pair = ex.member(part)
        if pair is not None and pair[1] in _TEXTS and self._is_last_message(pair[0]):
            return True
        if not self.leaves_without_calls:
            return False
        of = [_root(pair[0])] if pair is not None and pair[1] in _TEXTS else []
        if pair is None and isinstance(part, cst.Call) and Kind.MODEL_TEXT in self.facts.kinds(part):
            of = [_root(arg.value) for arg in part.args]  # `text_of(reply)`
        roots = [_root(made) for root in of if root is not None for made in self._made_behind(root) or [root]]
        slots = [slot for each in roots if each is not None and (slot := self.slots.of(each)) is not None]
        return any(self._is_said_on(slot) for slot in slots if Kind.HISTORY not in self.facts.of(slot))

    def _is_said_on(self, slot: Slot | None) -> bool:
        """Whether rounds set something to what the model says, and none of these leaves the loop with it."""
        asked = self._set_inside(slot)
        said = any(map(self._is_said, asked))
        return said and not any(map(self.limits.exits.leads_out, asked))

    def _is_last_reply(self, part: cst.BaseExpression) -> bool:
        """A whole reply that each round sets, in which no caller looks for calls, here or in files that import it."""
        if not self.leaves_without_calls or not self._is_said_on(self.slots.of_name(part)):
            return False
        sites = self.anatomy.calls.sites[self.loop.function]
        if any(self._seeks_calls(site.node) for site in sites):
            return False
        return bool(sites) or not any(map(self.anatomy.said, CALL_WORDS))

    def _seeks_calls(self, call: cst.Call) -> bool:
        """Whether what a call gives is bound to a name by which calls are looked for."""
        bound = self.module.awaiting(call)
        slots = {self.slots.of_name(target) for target in ex.targets(bound)} if isinstance(bound, cst.Assign) else ()
        named = (name for slot in slots if slot is not None for name in self.facts.names.get(slot, ()))
        outers = (outer for name in named for outer in islice(self.module.ancestors(name), 2))
        return any(isinstance(outer, cst.BaseExpression) and reads_calls(self.facts, outer) for outer in outers)

    def _is_last_message(self, value: cst.BaseExpression) -> bool:
        """`history[-1]`, by itself or by a name that it gets behind the loop: the result of the last tool."""
        made = self._made_behind(value) or [value]
        places = [part for part in map(ex.inner, made) if isinstance(part, cst.Subscript)]
        last = [part.value for part in places if ex.integer(ex.index(part)) == -1]
        return (
            bool(last) and len(last) == len(made) and all(self._ends_unanswered(self.slots.of(part)) for part in last)
        )

    def _ends_unanswered(self, history: Slot | None) -> bool:
        """Whether the last that a round puts into a history is no word of the model: a result, or what to do next.

        Where replies without calls leave the loop, any message of a round that goes on is that.
        """
        body, graph = self.loop.node.body, self.anatomy.flow(self.loop.function)
        grown = (write for write in self.anatomy.writes.by_function[self.loop.function] if write.kind in GROWING)
        inside = [w.node for w in grown if w.slot == history and self.module.inside(w.node, body)]
        if self.leaves_without_calls:
            return bool(inside) or self._is_grown_by_calls(history)
        again = self.anatomy.points(self.loop.function, [self.loop.node])
        put = {*self.anatomy.points(self.loop.function, inside)}
        return any(
            graph.reaches(here := self.anatomy.points(self.loop.function, [stored.node]), again, put - {*here})
            for stored in self.anatomy.transcript.stored(self.loop.function)
            if stored.node in inside and stored.role not in {"assistant", None}
        )

    def _is_grown_by_calls(self, history: Slot | None) -> bool:
        """Whether a function that a round hands a history adds to it."""
        calls = self.anatomy.calls.calls_within(self.loop.node, self.loop.function)
        run = ((call, callee) for call in calls if (callee := self.slots.callee(call)) is not None)
        bound = (each for call, callee in run for each in self.slots.bindings(call, callee))
        handed = {slot for slot, value in bound if self.slots.of(value) == history}
        return any(write.kind in GROWING for slot in handed for write in self.anatomy.writes.by_slot.get(slot, ()))

    def _is_text_of_rounds(self, part: cst.BaseExpression) -> bool:
        """A name that gets, or grows by, what the model says beside its calls: rounds set it that go on."""
        slot = self.slots.of_name(part)
        if slot is None or slot[:2] != ("var", self.loop.function) or not self.leaves_without_calls:
            return False
        if slot not in self._texts:
            self._texts[slot] = _WHOLE.isdisjoint(self.facts.kinds(part)) and self._gets_text(slot)
        return self._texts[slot]

    def _gets_text(self, slot: Slot) -> bool:
        added = (value for value in self._added(slot) if self.module.inside(value, self.loop.node.body))
        values = [*self._set_inside(slot), *added]
        going_on = (value for value in values if not self.ends_the_loop(value))
        return any(self._is_said(value, (Kind.MODEL_TEXT,)) for value in going_on)

    def _added(self, slot: Slot) -> list[cst.BaseExpression]:
        """What is added to a text or a list: `text += piece`, `pieces.append(piece)`."""
        if slot in self._added_to:
            return self._added_to[slot]
        found = self._added_to[slot] = []
        for name in self.facts.names.get(slot, ()):
            parent = self.module.parent[name]
            outer = self.module.parent[parent]
            if isinstance(parent, cst.AugAssign) and parent.target is name:
                found.append(parent.value)
            elif isinstance(outer, cst.Call) and outer.func is parent and ex.called_name(outer) in FILLERS:
                found += [arg.value for arg in outer.args]
        return found

    def _is_said(self, value: cst.BaseExpression, kinds: tuple[Kind, ...] = _SAYS) -> bool:
        """Whether what the model says goes into a value, itself or by names that the loop sets."""
        queue, seen = [value], set[Slot]()
        for each in queue:
            read = [*_read_in(each)]
            asked = (node for node in read if not _ARGUMENTS.isdisjoint(self.facts.kinds(node)))
            of_calls = {part for node in asked for part in walk(node)}  # what a tool is to do, nobody is told
            for node in read:
                if node not in of_calls and any(kind in self.facts.kinds(node) for kind in kinds):
                    return True
                slot = self.slots.of_name(node)
                if slot is not None and slot not in seen:
                    seen.add(slot)
                    queue += self._set_inside(slot)
                    streams = (each for each in self.facts.gone_through(slot) if ex.inner(each) in self.facts.calls)
                    given = (*self._added(slot), *streams)
                    queue += (each for each in given if self.module.inside(each, self.loop.node.body))
        return False


def _is_constant(value: cst.BaseExpression) -> bool:
    """A flag or a word."""
    return ex.dotted(value) in {"True", "False", "None"} or bool(ex.text(value))


def _root(value: cst.BaseExpression) -> cst.Name | None:
    """`reply` of `reply.choices[0].message.content`, and of `[block for block in reply.content if ...]`."""
    while not isinstance(value, cst.Name):
        pair = ex.member(value)
        if pair is not None:
            value = pair[0]
        elif isinstance(value, cst.Subscript):
            value = value.value
        elif isinstance(value, (cst.ListComp, cst.GeneratorExp)):
            value = value.for_in.iter
        else:
            return None
    return value


def _read_in(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is read in a value, but for what is only counted."""
    counts = (node for node in walk(value) if isinstance(node, cst.Call) and ex.dotted(node.func) in _COUNTS)
    counted = {part for call in counts for part in walk(call)}
    for node in walk(value):
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) and node not in counted:
            yield node


def _missing(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is not there yet where a test holds: `x` of `x is None and ...` and of `not x`."""
    test = ex.inner(test)
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        yield from (*_missing(test.left), *_missing(test.right))
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield test.expression
    elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        left, operator, right = ex.compared(test)
        if isinstance(operator, (cst.Is, cst.Equal)) and is_neutral(right):
            yield left
