"""A stored reply with calls: what the tests of a function say of it, and which statements settle its calls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import telling
from lint_rules.anatomy.messages.classes import body, given_apart, told_by_object
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_logging, shown_only
from lint_rules.anatomy.rounds.executions import READERS, executions, only_computes, runs_tool
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import COPYING
from lint_rules.anatomy.values.provenance import made_from
from lint_rules.anatomy.values.shapes import said_of
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.anatomy.vocabulary import CALLS_IN_CONTENT, IDS, REASONS, WITH_CALLS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import children, walk

_NO_CALLS = frozenset({"stop", "end_turn", "STOP", "completed", "end", "stop_sequence"})

_POSITIVE = (cst.Equal, cst.In, cst.Is)
_CUT_OFF = frozenset({"max_tokens", "length", "MAX_TOKENS", "LENGTH", "max_output_tokens", "incomplete"})
_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens"})

_ARGUMENTS = frozenset({Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})
_PLAIN = frozenset({"text", "type", "thinking"})
"""Parts of a block that are not those of a call."""
_HOLDERS = (cst.Tuple, cst.List, cst.Dict, cst.Call, cst.IfExp, cst.BooleanOperation, cst.Await)
_AROUND_LISTS = (cst.Attribute, cst.Call, cst.Arg)
"""What stands around a list in the head of a loop: `sorted(calls.items())`."""
_IN_TESTS = (cst.BooleanOperation, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget, cst.Attribute)
LOOKING = frozenset({"len", "bool", "print", "hasattr", "isinstance", "type", "id"})
"""Functions that only look at what they get. Source: standard library."""
_GIVING_AGAIN = frozenset({"next", "anext", "iter", "aiter", "list", "tuple", "enumerate", "reversed", "sorted"})
"""Functions that give what they get, or its elements, and run none of it. Source: standard library."""
_HANDED = frozenset({Kind.CALLS, Kind.CALL, Kind.REPLY, Kind.MESSAGE})
GROWERS = frozenset({"append", "extend", "insert"})
"""Methods that put a message into a list, and settle none of its calls."""


class ToldByReply:
    """What tests and statements of a function say of a reply with calls."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.function = function
        self.derived: set[Slot] = set()
        self.lists: set[Slot] = set()
        self._contents: set[Slot] = set()
        self._traced: set[Slot] = set()
        self._asked: frozenset[Scope] = frozenset()
        self._stored: set[cst.CSTNode] = set()
        self._pieces: set[cst.CSTNode] = set()
        for node in function.nodes:
            value = node.value if isinstance(node, (cst.Assign, cst.AnnAssign)) else None
            if value is not None and self.mentions(value) and not self._is_result(value):
                for target in ex.assigned(node):
                    slot = anatomy.facts.slots.of(target)
                    if slot is not None and slot[0] == "var":
                        self.derived.add(slot)

    def _is_result(self, value: cst.BaseExpression) -> bool:
        """Whether a value is what comes of arguments: `run(name, arguments)` tells nothing of the reply."""
        while isinstance(value, cst.Await):
            value = value.expression
        facts = self.anatomy.facts
        if not isinstance(value, cst.Call) or facts.decoder(value) is not None or facts.kinds(value):
            return False
        return any(_ARGUMENTS & facts.kinds(arg.value).keys() for arg in value.args)

    def carries(self, store: Stored) -> None:
        """What the calls of a stored message are made of holds the calls; to put them into their form settles none.

        Nor does the object that is made of them, the helper of this file that stores it, or the loop that does.
        """
        calls, message = store.calls, store.message
        if calls is None or message is None:
            return
        self._stored.update(walk(calls))
        if store.slot is not None and store.write is None:  # as its body shows
            self._stored.update(walk(store.node))
        if store.write is not None and self._only_puts(store.node):  # another file may do more with them
            self._stored.add(store.node)
            if isinstance(message.node, cst.Call) and self.anatomy.facts.slots.callee(message.node) is None:
                self._stored.add(message.node)
        around = (outer for outer in self.anatomy.module.ancestors(store.node) if isinstance(outer, cst.For))
        self._pieces.update(loop for loop in around if Kind.CALLS not in self.anatomy.facts.kinds(loop.iter))
        self._put_together(calls)
        queue = [calls]
        for value in queue:
            for node in made_from(self.anatomy, value):
                slot = self.anatomy.facts.slots.of(node)
                if slot is not None and slot[:2] == ("var", self.function):
                    if Kind.CALLS in self.anatomy.facts.of(slot) or self._is_gone_through(node):
                        self.lists.add(slot)
                    if slot not in self.derived or value is calls:
                        made = self.anatomy.facts.assigned(slot)
                        queue += [each for each in made if len(made) == 1 and isinstance(each, cst.ListComp)]
                    self.derived.add(slot)

    def _is_gone_through(self, node: cst.CSTNode) -> bool:
        """Whether a comprehension makes something of each element of a list or table."""
        around = (outer for outer in self.anatomy.module.ancestors(node) if not isinstance(outer, _AROUND_LISTS))
        loop = next(around, None)
        return isinstance(loop, cst.CompFor) and any(listed is node for listed, _ in ex.iterated(loop))

    def _put_together(self, calls: cst.BaseExpression) -> None:
        """What loops do with the pieces of a stream, of which they make what is stored, settles no call."""
        facts, seen, queue = self.anatomy.facts, set[Slot](), [calls]
        for value in queue:
            named = {facts.slots.of(node) for node in made_from(self.anatomy, value)}
            new = {slot for slot in named if slot is not None and slot[:2] == ("var", self.function)} - seen
            seen |= new
            queue += [each for slot in new for each in (*facts.assigned(slot), *facts.appended(slot))]
            queue += [each for slot in new for each in facts.gone_through(slot)]
        self._begun_in([each for slot in seen for each in facts.appended(slot)])
        for loop in self.function.nodes_of(cst.For) if seen else ():
            if not seen.isdisjoint(self._filled(loop)) and self._goes_through(loop, seen):
                self._pieces.update(walk(loop))

    def _begun_in(self, parts: list[cst.BaseExpression]) -> None:
        """Of the parts of a content those are calls that are made of what a loop goes through: the pieces of calls."""
        facts = self.anatomy.facts
        for part in parts:
            names = made_from(self.anatomy, part) if self.anatomy.transcript.messages.says_call(part) else ()
            slots = (facts.slots.of(name) for name in names)
            listed = (each for slot in slots if slot is not None for each in facts.gone_through(slot))
            pieces = (facts.slots.of(name) for each in listed for name in made_from(self.anatomy, each))
            new = {slot for slot in pieces if slot is not None and slot[:2] == ("var", self.function)}
            self.derived |= new
            self.lists |= new
            self._contents |= new

    def _filled(self, loop: cst.For) -> Iterator[Slot]:
        """What a loop sets, or puts something into."""
        for node in walk(loop.body):
            places = ex.targets(node) if isinstance(node, (cst.AugAssign, cst.Assign)) else []
            base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) in GROWERS else None
            slots = (self.anatomy.facts.slots.of(place) for place in (*places, *([base] if base is not None else [])))
            yield from (root_object(slot) for slot in slots if slot is not None)

    def _goes_through(self, loop: cst.For, seen: set[Slot]) -> bool:
        """Whether a loop goes through what the model has replied, or what was put together of that before."""
        named = (self.anatomy.facts.slots.of(node) for node in made_from(self.anatomy, loop.iter))
        return self.mentions(loop.iter) or not seen.isdisjoint(slot for slot in named if slot is not None)

    def asks(self, point: Point) -> bool:
        return any(
            type(node) is cst.Call and self.anatomy.calls.asks_here(node)
            for part in point.expressions()
            for node in walk(part)
        )

    def mentions(self, node: cst.CSTNode) -> bool:
        """Whether the reply, its calls, or something made of them stands in an expression."""
        for part in walk(node):
            if type(part) in {cst.Name, cst.Attribute, cst.Subscript, cst.Call}:
                kinds = self.anatomy.facts.kinds(part)  # type: ignore[arg-type]
                if Kind.REPLY in kinds or Kind.CALLS in kinds or Kind.CALL in kinds or Kind.MODEL_TEXT in kinds:
                    return True
                if type(part) is cst.Name and self.anatomy.facts.slots.of(part) in self.derived:
                    return True
        return False

    def may_tell(self, part: cst.BaseExpression) -> bool:
        """Whether a part of a test, which mentions the reply, may say if there are calls.

        Not a function of the project that asks nothing of the kind, whatever it does with them: `is_stuck(calls)`. Nor
        whether there is text: a reply may have both.
        """
        found = body(self.anatomy, part)
        if found is None:
            return not self._is_text(part)
        there, run = found
        told = ToldByReply(there, run)
        return any(told.truth(each) is not None for each in telling(run))

    def _is_text(self, part: cst.BaseExpression) -> bool:
        """Whether a name has texts of a reply as they are: what a function makes of it may be made of its calls."""
        kinds = self.anatomy.facts.kinds(part)
        if not isinstance(part, (cst.Name, cst.Attribute)) or Kind.MODEL_TEXT not in kinds or _HANDED & kinds.keys():
            return False
        made = (node for value in self.anatomy.facts.values_of(part) for node in walk(value))
        return not any(body(self.anatomy, node) for node in made)

    def outcome(self, node: cst.CSTNode) -> bool | None:
        return self.truth(node.test) if isinstance(node, (cst.If, cst.While)) else None

    def tells_apart(self, node: cst.CSTNode) -> bool:
        """Whether a test has another outcome for a reply without calls: the parts of that are as little None."""
        if not isinstance(node, (cst.If, cst.While)) or self.outcome(node) is None:
            return False
        read = (self.anatomy.facts.slots.of(part) for part in walk(node.test) if type(part) is cst.Name)
        return self._contents.isdisjoint(slot for slot in read if slot is not None)

    def undecided(self, test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The parts of a test that a reply with calls leaves open: `last_round` of `not calls or last_round`."""
        test = ex.inner(test)
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            yield from self.undecided(test.expression)
        elif isinstance(test, cst.BooleanOperation):
            for side in (test.left, test.right):
                if self.truth(side) is None:
                    yield from self.undecided(side)
        else:
            yield test

    def tells(self, test: cst.BaseExpression) -> bool:
        """Whether one side of a test says that there are calls before the other is asked: `not calls or old(calls)`."""
        test = ex.inner(test)
        return isinstance(test, cst.BooleanOperation) and (self.truth(test.left) is not None or self.tells(test.left))

    @cached_property
    def cut_off(self) -> dict[str, bool]:
        """What tests give for a reply with calls that was cut off within them, as code; nothing where none can be.

        That is so if the reason why the reply has ended tells whether there are calls, and its tokens are limited; or
        if somebody asks whether they ran out.
        """
        said = {word for test in self._reasons for word in said_of(test)}
        limited = said & CALLS_IN_CONTENT or (said & WITH_CALLS and self._is_limited)
        if not (limited or said & _CUT_OFF):
            return {}
        return {
            ex.source(test, 200): isinstance(ex.compared(test)[1], _POSITIVE) is bool(said_of(test) & _CUT_OFF)
            for test in self._reasons
        }

    @property
    def asks_for_cut(self) -> bool:
        """Whether a test asks if a reply was cut off."""
        return any(said_of(test) & _CUT_OFF for test in self._reasons)

    def ended_otherwise(self, test: cst.Comparison) -> bool | None:
        """What a test gives that asks for an end with which replies come that have neither calls nor an answer."""
        words = said_of(test) if self._asks_for_reason(test) else set()
        if not words or words & (WITH_CALLS | _NO_CALLS):
            return None
        return not isinstance(ex.compared(test)[1], _POSITIVE)

    @cached_property
    def _reasons(self) -> list[cst.Comparison]:
        """The tests of why a reply has ended."""
        return [node for node in self.function.nodes_of(cst.Comparison) if self._asks_for_reason(node)]

    def _asks_for_reason(self, test: cst.Comparison) -> bool:
        """`reply.stop_reason == "tool_use"`, also by a name that the reason has got."""
        left, _, _ = ex.compared(test)
        slot = self.anatomy.facts.slots.of_name(left)
        made = self.anatomy.facts.assigned(slot) if slot is not None else [left]
        if slot is not None:
            made = [*made, *(part for _, part in given_apart(self.anatomy, slot))]
        parts = (part for value in made for part in ex.alternatives(value))
        return any((pair := ex.member(part)) is not None and pair[1] in REASONS for part in parts)

    @property
    def _is_limited(self) -> bool:
        """Whether a request that the function makes, or has made, says how many tokens the reply may have."""
        asking = [call for call in self.function.nodes_of(cst.Call) if self.anatomy.calls.asks(call)]
        for call in [*asking]:
            there, callee = body(self.anatomy, call) or (self.anatomy, None)
            runs = there.calls.reachable(callee) if callee is not None else ()
            asking += [made for run in runs for made in run.nodes_of(cst.Call) if made in there.facts.calls]
        return any(_says_limit(part) for call in asking for arg in call.args for part in walk(arg))

    def settles(self, point: Point, stored: bool = True) -> bool:
        """A loop over the calls, or calls that are handed to somebody, settles them; once `stored`, also if told."""
        node = point.statement
        if node in self._pieces:
            return False
        if isinstance(node, cst.For):
            kinds = self.anatomy.facts.kinds
            if (
                isinstance(node.target, cst.Name)
                and Kind.REPLY in kinds(node.iter)
                and Kind.REPLY in kinds(node.target)
            ):
                return False  # its pieces are put together here
            return (Kind.CALLS in kinds(node.iter) or self.mentions(node.iter)) and not self._only_shows(node, stored)
        if isinstance(node, (cst.If, cst.While)) or (isinstance(node, cst.Assign) and self._is_only_asked(node)):
            return False
        for part in point.expressions():
            for inside in walk(part):
                if inside in self._stored:
                    continue
                if type(inside) is cst.Call and ex.called_name(inside) not in LOOKING | GROWERS | _GIVING_AGAIN:
                    if (
                        ex.member(inside) is None
                        and any(self._is_handed(arg.value) for arg in inside.args)
                        and not self._only_reads(inside)
                        and (stored or not self._is_told(inside))
                    ):
                        return True
                elif isinstance(inside, cst.CompFor) and Kind.CALLS in self.anatomy.facts.kinds(inside.iter):
                    if self._runs(inside):
                        return True
        return isinstance(node, cst.Return) and node.value is not None and self._gives(node.value)

    def stores(self, point: Point) -> bool:
        """Whether somebody gets the calls and a history at a point, and may store answers there."""
        for node in (node for part in point.expressions() for node in walk(part) if type(node) is cst.Call):
            given = [arg.value for arg in node.args]
            histories = [value for value in given if Kind.HISTORY in self.anatomy.facts.kinds(value)]
            if histories and any(self._is_handed(value) for value in given if value not in histories):
                return True
        return False

    def _only_shows(self, loop: cst.For, stored: bool) -> bool:
        """Whether a loop over the parts of a reply only asks what they are, shows them, takes texts, or sorts them."""
        bound = set(ex.target_names(loop.target))
        uses = (node for node in walk(loop.body) if type(node) is cst.Name and node.value in bound)
        ways = (self._is_text_of, self._is_asked, self._is_sorted, self._is_given_out)
        return all(
            shown_only(self.anatomy.module, name)
            or any(way(name) for way in ways)
            or (not stored and self._is_told(name))
            for name in uses
        )

    def _is_given_out(self, name: cst.Name) -> bool:
        """`return json.loads(call.function.arguments)`: ends with what the model says, and does nothing with the call.

        Also by a name that these arguments get first.
        """
        facts, statement = self.anatomy.facts, self.anatomy.module.statement(name)
        if isinstance(statement, cst.Assign):
            slot, made = facts.slots.of(statement.targets[0].target), ex.inner(statement.value)
            if slot is None or slot[:2] != ("var", self.function) or not _ARGUMENTS & facts.kinds(made).keys():
                return False
            reads = self.anatomy.readers(self.function, slot).get(statement, [])
            return bool(reads) and all(self._is_asked(each) or self._is_given_out(each) for each in reads)
        value = statement.value if isinstance(statement, cst.Return) else None
        if value is None or self._gives(value):
            return False
        calls = (node for node in walk(value) if type(node) is cst.Call)
        return not any(runs_tool(facts, self.anatomy.transcript, call) for call in calls)

    def _is_told(self, part: cst.CSTNode) -> bool:
        """`await socket.send(event.name)`: nothing of the project runs, and what comes of it is dropped."""
        statement = self.anatomy.module.statement(part)
        return isinstance(statement, cst.Expr) and not any(
            self.anatomy.facts.slots.function(node) is not None or body(self.anatomy, node) is not None
            for node in walk(statement)
            if isinstance(node, (cst.Name, cst.Attribute, cst.Call))
        )

    def _is_sorted(self, name: cst.Name) -> bool:
        """`wanted.append(block)`: it is put into a list of the function that is no history, and waits there."""
        given = self.anatomy.module.parent[name]
        call = self.anatomy.module.parent[given] if isinstance(given, cst.Arg) else None
        base = ex.receiver(call) if isinstance(call, cst.Call) and ex.called_name(call) == "append" else None
        slot = self.anatomy.facts.slots.of(base)
        return (
            slot is not None
            and slot[:2] == ("var", self.function)
            and Kind.CALLS in self.anatomy.facts.of(slot)
            and Kind.HISTORY not in self.anatomy.facts.of(slot)
        )

    def _is_text_of(self, name: cst.Name) -> bool:
        """`block.text`, `block["type"]`, `hasattr(block, "text")`: what a call has not, or does not tell of it."""
        pairs = (ex.member(outer) or ex.asked(outer) for outer in self.anatomy.module.ancestors(name))
        return any(pair is not None and pair[1] in _PLAIN and pair[0] is name for pair in pairs)

    def _is_only_asked(self, node: cst.Assign) -> bool:
        """`stuck = guard.check(calls)`: what it runs only looks, and only tests and texts read what comes of it."""
        slot, call = self.anatomy.facts.slots.of(node.targets[0].target), ex.inner(node.value)
        if slot is None or slot[0] != "var" or not isinstance(call, cst.Call) or not self._only_looks(call):
            return False
        names = self.anatomy.readers(self.function, slot).get(node, [])
        asking = [name for name in names if self._is_asked(name)]
        shown = all(
            shown_only(self.anatomy.module, name) or self._is_in_text(name) for name in names if name not in asking
        )
        return bool(asking) and shown

    def _only_puts(self, store: cst.CSTNode) -> bool:
        """Whether what stores a reply gives its calls to lists, and to nobody else."""
        callee = self.anatomy.facts.slots.callee(store)
        return callee is None or (isinstance(store, cst.Call) and self._only_looks(store, GROWERS))

    def _only_looks(self, call: cst.Call, besides: frozenset[str] = frozenset()) -> bool:
        """Whether a function of the project gives the calls that it gets to nobody; `besides` are names that may."""
        found = body(self.anatomy, call)
        return found is not None and _only_looks(*found, besides)

    def _only_reads(self, call: cst.Call) -> bool:
        """Whether a function of the project runs and stores nothing of what it gets: it may put texts together."""
        found = body(self.anatomy, call)
        kept = (stored.node for stored in self.anatomy.kept_elsewhere.of(self.function))
        if found is None or call in kept or not self._only_looks(call):
            return False
        there, run = found
        callees = (there.facts.slots.callee(each) for each in executions(there.facts, there.transcript, run))
        acts = any(callee is None or not only_computes(there.facts, callee) for callee in callees)
        return not acts and not there.transcript.stored(run)

    def _is_asked(self, name: cst.Name) -> bool:
        """Whether a name, or a part of it, stands in a test."""
        here: cst.CSTNode = name
        for outer in self.anatomy.module.ancestors(name):
            if isinstance(outer, (cst.If, cst.While, cst.IfExp)):
                return outer.test is here
            if not isinstance(outer, _IN_TESTS):
                return False
            here = outer
        return False

    def _is_in_text(self, name: cst.Name) -> bool:
        return any(isinstance(outer, cst.FormattedString) for outer in self.anatomy.module.ancestors(name))

    def _runs(self, loop: cst.CompFor) -> bool:
        """Whether a comprehension over the calls does something with them: not if it only reads their names."""
        made = self.anatomy.module.parent[loop]
        calls = [
            node for node in walk(made) if type(node) is cst.Call and not self.anatomy.module.inside(node, loop.iter)
        ]
        return any(
            ex.called_name(call) not in READERS
            and not is_logging(call)
            and any(self._is_handed(part) or self.mentions(part) for arg in call.args for part in [arg.value])
            for call in calls
        )

    def _gives(self, value: cst.BaseExpression) -> bool:
        """Whether a value is the reply or its calls, or the id of one, or holds them: not its text alone."""
        read = ex.member(value)
        if self._is_handed(value) or (read is not None and read[1] in IDS and self._is_handed(read[0])):
            return True
        if type(value) is cst.Name:
            return self.anatomy.facts.slots.of(value) in self.derived and not self._is_said(value, frozenset())
        parts = children(value) if isinstance(value, _HOLDERS) else []
        return any(isinstance(part, cst.BaseExpression) and self._gives(part) for part in parts) or any(
            self._gives(part.value) for part in parts if isinstance(part, (cst.Element, cst.DictElement, cst.Arg))
        )

    def _is_said(self, value: cst.BaseExpression, within: frozenset[Slot]) -> bool:
        """Whether a value holds texts of the reply alone: also what puts them together, and a name that got such."""
        facts, value = self.anatomy.facts, ex.inner(value)
        kinds, slot = facts.kinds(value), facts.slots.of(value)
        if Kind.MODEL_TEXT in kinds and Kind.CALLS not in kinds:
            return True
        if isinstance(value, cst.Name) and slot is not None and slot in self.derived:
            made = [*facts.assigned(slot), *facts.appended(slot)] if slot not in within else []
            return bool(made) and all(self._is_said(each, within | {slot}) for each in made)
        if isinstance(value, (cst.ListComp, cst.GeneratorExp)):
            return self._is_said(value.elt, within)
        pair = ex.member(value) or ex.asked(value)
        if pair is not None:
            return pair[1] in _PLAIN
        if isinstance(value, cst.Call):
            parts = ex.handed(value)
        elif isinstance(value, (cst.IfExp, cst.BooleanOperation)):
            parts = [*ex.alternatives(value)]
        elif isinstance(value, cst.BinaryOperation):
            parts = [value.left, value.right]
        else:
            return not self.mentions(value)
        return all(self._is_said(part, within) for part in parts)

    def _is_handed(self, value: cst.BaseExpression) -> bool:
        kinds = self.anatomy.facts.kinds(value)
        return bool(_HANDED & kinds.keys())

    def truth(self, test: cst.BaseExpression) -> bool | None:
        """What a test gives for a reply with calls."""
        test = ex.inner(test)
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            value = self.truth(test.expression)
            return None if value is None else not value
        if isinstance(test, cst.BooleanOperation):
            either = isinstance(test.operator, cst.Or)
            sides = [self.truth(test.left), self.truth(test.right)]
            if either in sides:
                return either
            return (not either) if sides == [not either] * 2 else None
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            return self._compared(test)
        if isinstance(test, cst.Call) and ex.dotted(test.func) in {"len", "bool", "any"} and test.args:
            return self.truth(test.args[0].value)
        if isinstance(test, cst.GeneratorExp) and not test.for_in.ifs:
            return self.truth(test.elt)
        asked = ex.asked(test)
        if asked is not None and isinstance(test, cst.Call):
            return True if asked[1] in {"tool_calls", "content"} else None
        kinds = self.anatomy.facts.kinds(test)
        if Kind.CALLS in kinds or (Kind.CALL in kinds and not self._is_chosen(test)):
            return True
        slot = self.anatomy.facts.slots.of(test)
        if slot is not None and slot in self.lists:
            return True
        if slot is not None and slot in self.derived and slot not in self._traced:
            self._traced.add(slot)  # `name = name or piece.name` is made of itself
            values = {self.truth(value) for value in self.anatomy.facts.assigned(slot)}
            self._traced.discard(slot)
            return values.pop() if len(values) == 1 else None
        return self._said_by_object(test) if self.mentions(test) else None

    def _said_by_object(self, test: cst.BaseExpression) -> bool | None:
        """`reply.wants_tools`: what a property of its class, or a method that gets nothing, gives."""
        said = told_by_object(self.anatomy, test)
        if said is None or said[1] in self._asked:
            return None
        there = ToldByReply(said[0], said[1])
        there._asked = self._asked | {said[1]}
        owner, own = self._object_asked(test), said[1].owner
        if owner is not None and own is not None:
            calls = (name for name in own.attributes if Kind.CALLS in self.anatomy.facts.of(("member", owner, name)))
            there.lists.update(said[0].facts.slots.attribute(own, name) for name in calls)
        return there.truth(said[2])

    def _object_asked(self, test: cst.BaseExpression) -> Slot | None:
        """`reply` of `reply.wants_tools` and `reply.wants_tools()`."""
        read = ex.uncalled(test)
        return self.anatomy.facts.slots.of(read.value) if isinstance(read, cst.Attribute) else None

    def _is_chosen(self, node: cst.BaseExpression) -> bool:
        """Whether something was asked for one of the calls, of which there may be none: `old = guard.first(calls)`."""
        made = self.anatomy.assigned(node) if isinstance(node, cst.Name) else node
        call = ex.inner(made) if made is not None else None
        return isinstance(call, cst.Call) and any(
            Kind.CALLS in self.anatomy.facts.kinds(arg.value) for arg in call.args
        )

    def _compared(self, test: cst.Comparison) -> bool | None:
        left, operator, right = ex.compared(test)
        positive = isinstance(operator, _POSITIVE)
        asked = ex.asked(test)
        if asked is not None:
            return positive if asked[1] in self.anatomy.facts.call_attributes else None
        if positive or isinstance(operator, (cst.NotEqual, cst.IsNot, cst.NotIn)):
            if ex.dotted(right) == "None":
                value = self.truth(left)
                return None if value is None else value is not positive
            said = said_of(test)
            if said & WITH_CALLS:
                return positive
            if said and said <= _NO_CALLS:
                return not positive
            if ex.integer(right) == 0 and self.truth(left) is True:
                return not positive
            return None
        if isinstance(operator, (cst.GreaterThan, cst.GreaterThanEqual)) and self.truth(left) is True:
            return True if ex.integer(right) in {0, 1} else None
        return None


def _says_limit(part: cst.CSTNode) -> bool:
    """`max_tokens=900`, also as a key of the body of a request."""
    if type(part) is cst.Arg:
        return part.keyword is not None and part.keyword.value in _LIMITS
    return type(part) is cst.DictElement and ex.text(part.key) in _LIMITS


def _only_looks(
    anatomy: Anatomy, run: Scope, besides: frozenset[str] = frozenset(), seen: frozenset[Scope] = frozenset()
) -> bool:
    """Whether a function gives the calls that it gets to nobody: to lists of its own, and to such functions alone."""
    for node in run.nodes_of(cst.Call):
        name, facts = ex.called_name(node), anatomy.facts
        free = name in READERS | COPYING | besides or facts.slots.constructed(node) is not None or is_logging(node)
        if free or not any(_HANDED & facts.kinds(arg.value).keys() for arg in node.args):
            continue
        slot, inner = facts.slots.of(ex.receiver(node)) if name in GROWERS else None, body(anatomy, node)
        root = root_object(slot) if slot is not None else None
        own = root is not None and root[:2] == ("var", run) and not is_parameter(root)
        known = inner is not None and inner[1] not in {run, *seen}
        if not own and not (known and inner is not None and _only_looks(*inner, besides, seen | {run})):
            return False
    return True
