"""Calls that put the tool calls and results of a list of messages together again.

What mends is told by a body, not by a name: it looks for the id of a call among others, or takes messages away by what
they carry, and the list gets what comes of it. A body that is not at hand may do so, where its result takes the place
of the list; the standard library knows no messages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from lint_rules.anatomy.calls.answers import comes_from_history, is_answer
from lint_rules.anatomy.cuts.fronts import has_another_in_front
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.role_tests import parts_results, role_tests
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_method
from lint_rules.anatomy.vocabulary import ANSWERED, IDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk, walk_scope

if TYPE_CHECKING:
    from lint_rules.anatomy.agent import Anatomy

_OF_RESULTS = frozenset({"tool_call_id", "tool_use_id", "toolUseId"})
_TAKE_AWAY = frozenset({"pop", "popleft", "remove"})
_PASSES_ON = (
    cst.Await, cst.StarredElement, cst.List, cst.Tuple, cst.BinaryOperation, cst.BooleanOperation, cst.Element,
)  # fmt: skip


class Mending:
    """Answers for one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.slots = anatomy.facts.slots
        self._bodies: dict[tuple[Scope, bool], bool] = {}

    def reaches(
        self, lists: Collection[Slot | None], *, calls: bool = False, cut: tuple[cst.CSTNode, Scope] | None = None
    ) -> bool:
        """Whether a call somewhere in the file mends one of these lists, or one that gets their messages.

        `calls`: it has to see to calls without results, and not only leave out results without calls. What mends on a
        way that leaves the turn does so for that way only; and what the `cut` in a function always comes behind, not.
        """
        mends = [call for call, given in (self._closed if calls else self._mended) if not given.isdisjoint(lists)]
        return any(self.is_sent_later(call) and not (cut and self._is_before(call, *cut)) for call in mends)

    def _is_before(self, call: cst.Call, cut: cst.CSTNode, of: Scope) -> bool:
        """Whether each way from a call that mends leads, before any request, to a cut, also in a function it runs."""
        function, calls = self.module.scope_of[call].function, self.anatomy.calls
        runs = [s.node for s in calls.calls[function] if s.node is not call and of in calls.reachable(s.callee)]
        cuts = {*self.anatomy.points(function, [cut] if of is function else runs)}
        mended, flow = self.anatomy.points(function, [call]), self.anatomy.flow(function)
        asks = self.anatomy.points(function, [node for node in function.nodes_of(cst.Call) if calls.asks(node)])
        if not cuts or not cuts.isdisjoint(mended):
            return False
        return not flow.reaches(mended, {*asks, flow.exit}, cuts, exceptions=False)

    def at(self, call: cst.Call, lists: set[Slot]) -> bool:
        """Whether this call mends one of these lists, and may close its open calls."""
        return any(node is call and lists & given for node, given in self._closed)

    def is_sent_later(self, call: cst.Call, below: tuple[Scope, ...] = ()) -> bool:
        """Whether a request may come behind a call, or each turn comes by it; also where that is not seen.

        It is not so of `if stopped: close(history); return`.
        """
        function = self.module.scope_of[call].function
        if function.kind != "function" or function in below:
            return True
        asks = [node for node in function.nodes_of(cst.Call) if self.anatomy.calls.asks(node)]
        if not asks:
            sites = self.anatomy.calls.sites[function]
            return not sites or any(self.is_sent_later(site.node, (*below, function)) for site in sites)
        here, flow = self.anatomy.points(function, [call]), self.anatomy.flow(function)
        behind = set(self.anatomy.points(function, asks))
        if not behind.isdisjoint(here) or flow.reaches(here, behind, exceptions=False):
            return True
        return not flow.reaches(flow.entry, flow.exit, set(here), exceptions=False)

    @cached_property
    def _mended(self) -> list[tuple[cst.Call, set[Slot]]]:
        """The calls that mend, each with the lists that it gets."""
        calls = self.module.nodes_of(cst.Call)
        return [(call, given) for call in calls if (given := self.lists_of(call, _mends))]

    @cached_property
    def _closed(self) -> list[tuple[cst.Call, set[Slot]]]:
        """Those of them that may close open calls."""
        return [(call, given) for call, _ in self._mended if (given := self.lists_of(call, _closes))]

    def lists_of(self, call: cst.Call, does: Callable[[Anatomy, Scope], bool]) -> set[Slot]:
        """The lists that a call changes, or puts something in the place of, by a function that `does` what is meant.

        None where it does something else; where nobody can read here what it does, it may.
        """
        if self.anatomy.calls.asks(call):
            return set()
        callee = self.slots.callee(call)
        if callee is not None:
            return self._of_callee(call, callee) if does(self.anatomy, callee) and self._counts(call, callee) else set()
        if is_logging(call) or sources(call) or not self.takes_place(call):
            return set()
        elsewhere = run_elsewhere(self.anatomy, call)
        if elsewhere is not None:
            return self._passed(call) if does(*elsewhere) else set()
        parameter = self.slots.of_name(call.func)
        given = self.anatomy.facts.given(parameter) if parameter is not None else []
        named = [self.slots.function(value) for value in given]
        if named and None not in named:  # whichever of the functions it is that are handed to this one
            return self._passed(call) if any(does(self.anatomy, each) for each in named if each is not None) else set()
        return self._passed(call) if self._is_unknown(call) else set()

    def _passed(self, call: cst.Call) -> set[Slot]:
        """The lists whose messages a call gets by its arguments."""
        return {
            slot
            for arg in call.args
            if self.anatomy.contents.history(arg.value) is not None
            for slot in self.anatomy.contents.flowing_into(arg.value)
        }

    def _of_callee(self, call: cst.Call, callee: Scope) -> set[Slot]:
        """The lists that a function of this file gets from a call, and those of its object that it names."""
        named = (self.slots.of(node) for node in callee.nodes_of(cst.Attribute)) if is_method(callee) else ()
        return self._passed(call) | {slot for slot in named if slot is not None and slot[0] == "attr"}

    def _is_unknown(self, call: cst.Call) -> bool:
        """Whether nobody can say here what a call does with its arguments."""
        name = ex.dotted(call.func) or ""
        if not name or ex.called_name(call)[:1].isupper():
            return False
        full = self.module.imports.resolve(name)
        if type(call.func) is cst.Name and full == name:
            return name in {p.name.value for p in parameters(self.module.scope_of[call].function)}
        return full.partition(".")[0] not in sys.stdlib_module_names

    # -- what becomes of the result ---------------------------------------------------------------------------

    def _counts(self, call: cst.Call, callee: Scope) -> bool:
        """Whether the list itself is changed, or the result takes its place."""
        own = {self.slots.parameter(callee, p.name.value) for p in parameters(callee)}
        changed = (w.slot for w in self.anatomy.writes.reached_from(callee))
        return any(slot in own or slot[0] == "attr" for slot in changed) or self.takes_place(call)

    def takes_place(self, call: cst.Call) -> bool:
        """Whether the result of a call is sent, stored or given back as a list of messages."""
        here: cst.CSTNode = call
        for outer in self.module.ancestors(call):
            if isinstance(outer, cst.Return):
                return True
            if isinstance(outer, (cst.Assign, cst.AnnAssign)):
                kinds = (self.anatomy.facts.kinds(ex.unsliced(target)) for target in ex.targets(outer))
                return any(Kind.HISTORY in known for known in kinds)
            if isinstance(outer, cst.Arg):
                return isinstance(passed := self.module.parent[outer], cst.Call) and self.anatomy.calls.asks(passed)
            if not isinstance(outer, _PASSES_ON):
                return False
            here = outer
        return here is not call

    # -- what a body does -------------------------------------------------------------------------------------

    def mends(self, function: Scope, *, calls: bool = False, depth: int = 0) -> bool:
        """Whether a function keeps calls and results together, itself or by one that it hands its list to.

        `calls`: also those without results, which nobody finds who only drops what stands at the front.
        """
        found = self._bodies.get((function, calls))
        if found is None:
            self._bodies[function, calls] = False  # while it is looked at: functions call each other
            found = self._looks_for_ids(function) or self._takes_away(function, calls)
            found = found or any(map(self._answers_each, self.anatomy.calls.reachable(function)))
            if not found and depth < DEEPEST:
                own = {p.name.value for p in parameters(function)}
                sites = (s for s in self.anatomy.calls.calls[function] if self._hands_on(s.node, own))
                found = any(self.mends(site.callee, calls=calls, depth=depth + 1) for site in sites)
            self._bodies[function, calls] = found
        return found

    def closes(self, function: Scope) -> bool:
        """Whether a function, or one that it runs, looks for calls without results."""
        return any(self.mends(inside, calls=True) for inside in self.anatomy.calls.reachable(function))

    @staticmethod
    def _hands_on(call: cst.Call, own: set[str]) -> bool:
        return mentions(own, *(arg.value for arg in call.args))

    def _looks_for_ids(self, function: Scope) -> bool:
        """`if call["id"] in answered`, `m.tool_call_id not in known`, `calls - answered`: it hangs on pairs."""
        return any(
            isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn))
            and self._is_id(node.left)
            and not self._is_of_call(node.comparisons[0].comparator)
            and self._decides(node)
            for node in function.nodes_of(cst.Comparison)
        ) or any(
            isinstance(node.operator, cst.Subtract) and self._holds_ids(node.left) and self._holds_ids(node.right)
            for node in function.nodes_of(cst.BinaryOperation)
        )

    def _is_of_call(self, node: cst.BaseExpression, deep: int = 2 * DEEPEST) -> bool:
        """Whether all ids in a collection are those of calls, as they are stored: it says nothing of their results."""
        if isinstance(node, (cst.SetComp, cst.ListComp, cst.GeneratorExp)):
            pair = ex.member(node.elt)
            of_call = pair is not None and pair[1] not in _OF_RESULTS
            return of_call and pair is not None and Kind.CALL in self.anatomy.facts.kinds(pair[0])
        values = [*self.anatomy.facts.values_of(node), *sources(node)] if deep else []
        return bool(values) and all(self._is_of_call(value, deep - 1) for value in values)

    def _answers_each(self, function: Scope) -> bool:
        """Whether a function puts a result, made up or not, behind each stored call that it gives another form."""
        messages = self.anatomy.transcript.messages
        made = function.nodes_of(cst.Dict, cst.Call) if messages.may_answer else []
        answers = [node for node in made if is_answer(node) and self._is_for_stored(node)]
        others = [node for node in made if not is_answer(node)] if answers else []
        calls = [node for node in others if any(message.calls is not None for message in messages.of(node))]
        told, flow = {*self.anatomy.points(function, answers)}, self.anatomy.flow(function)
        starts = {*self.anatomy.points(function, calls)} - told
        return bool(calls) and not flow.reaches(starts, flow.exit, told, exceptions=False)

    def _is_for_stored(self, answer: cst.Dict | cst.Call) -> bool:
        """Whether a result has the id of what stands in a history already."""
        ids = [value for key, value in ex.made_of(answer).items() if key in ANSWERED]
        return any(comes_from_history(self.anatomy.facts, value) for value in ids)

    def only_admits(self, function: Scope) -> bool:
        """Whether a function asks for ids only in order to leave out results whose call is not there.

        `if m["tool_call_id"] in known`, and nobody looks for what is left of `known`.
        """
        tests = [
            node
            for inside in self.anatomy.calls.reachable(function)
            for node in inside.nodes_of(cst.Comparison)
            if isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn)) and self._is_id(node.left)
        ]
        read = [ex.member(test.left) for test in tests]
        known = {ex.dotted(test.comparisons[0].comparator) for test in tests}
        others = (
            name
            for inside in self.anatomy.calls.reachable(function)
            for name in inside.nodes_of(cst.Name)
            if name.value in known and not self._is_collecting(name)
        )
        of_results = all(pair is not None and pair[1] in _OF_RESULTS for pair in read)
        return bool(tests) and of_results and None not in known and not any(True for _ in others)

    def _is_collecting(self, name: cst.Name) -> bool:
        """`known` of `known = set()`, `known.add(x)`, `x in known`."""
        outer = self.module.parent[name]
        if isinstance(outer, cst.Attribute):
            return outer.attr.value in {"add", "update"}
        return isinstance(outer, (cst.ComparisonTarget, cst.AssignTarget, cst.AnnAssign))

    def _is_id(self, node: cst.BaseExpression) -> bool:
        """The id of a call or of a result, or a name for one, also of a collection that is gone through."""
        slot = self.slots.of_name(node)
        listed = self.anatomy.facts.gone_through(slot) if slot is not None else []
        values = [node, *self.anatomy.facts.assigned(slot), *(each for one in listed for each in self._elements(one))]
        return any(
            (pair := ex.member(part)) is not None and pair[1] in IDS
            for value in values
            for part in ex.alternatives(value)
        )

    def _holds_ids(self, node: cst.BaseExpression) -> bool:
        """A collection of ids: `{call["id"] for call in calls}`, or a name for what such ids are put into."""
        return any(map(self._is_id, self._elements(node)))

    def _elements(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a collection is made of, or a name for one."""
        slot = self.slots.of_name(node)
        values = [node]
        if slot is not None:
            values += [*self.anatomy.facts.assigned(slot), *self.anatomy.facts.put(slot)]
        return [part.elt if isinstance(part, (cst.SetComp, cst.ListComp)) else part for part in values]

    def _decides(self, test: cst.CSTNode) -> bool:
        here = test
        for outer in self.module.ancestors(test):
            if isinstance(outer, (cst.CompIf, cst.IfExp, cst.If, cst.While)):
                return isinstance(outer, cst.CompIf) or here is outer.test
            if not isinstance(outer, (cst.UnaryOperation, cst.BooleanOperation)):
                return False
            here = outer
        return False

    def _takes_away(self, function: Scope, calls: bool) -> bool:
        """`while h[0]["role"] == "tool": h.pop(0)`; `[m for m in h if "tool_calls" not in m]`."""
        own = {self.slots.parameter(function, p.name.value) for p in parameters(function)}
        for loop in function.nodes_of(cst.While):
            subjects = role_tests(list(walk(loop.test)))
            looked = (s for s in subjects if not has_another_in_front(self.anatomy, s, function))
            if any(self._is_list(self._base(subject), own) for subject in looked):
                if any(_is_cut(inside) and not (calls and _is_at_front(inside)) for inside in walk_scope(loop.body)):
                    return True
        return any(
            comp.for_in.ifs
            and any(True for each in comp.for_in.ifs for _ in role_tests(list(walk(each))))
            and not any(parts_results(each.test, False) for each in comp.for_in.ifs)
            and self._is_list(comp.for_in.iter, own)
            for comp in function.nodes_of(cst.ListComp)
        )

    def _is_list(self, node: cst.BaseExpression, own: set[Slot]) -> bool:
        """Whether an expression is a list of messages that a function got: a parameter, the history of its object."""
        return any(slot in own for slot in self.anatomy.contents.lists_in(node)) or (
            self.anatomy.contents.history(node) is not None
        )

    @staticmethod
    def _base(node: cst.BaseExpression) -> cst.BaseExpression:
        return node.value if isinstance(node, cst.Subscript) else node


def _is_cut(node: cst.CSTNode) -> bool:
    """`h.pop(0)`, `del h[0]`, `start += 1`, `h = h[1:]`."""
    if isinstance(node, cst.Call):
        return ex.called_name(node) in _TAKE_AWAY
    if isinstance(node, cst.Assign):
        return ex.slice_of(node.value) is not None
    return isinstance(node, (cst.Del, cst.AugAssign))


def _is_at_front(cut: cst.CSTNode) -> bool:
    """Whether a cut takes the oldest messages: not `h.pop()`, `del h[-1]`, `end -= 1`, `h = h[:-1]`."""
    if isinstance(cut, cst.Call):
        return ex.called_name(cut) == "popleft" or any(ex.integer(arg.value) == 0 for arg in cut.args)
    if isinstance(cut, cst.AugAssign):
        return isinstance(cut.operator, cst.AddAssign)
    if isinstance(cut, cst.Del):
        return ex.integer(ex.index(cut.target)) == 0
    part = ex.slice_of(cut.value) if isinstance(cut, cst.Assign) else None
    return part is not None and part.lower is not None


def _mends(anatomy: Anatomy, function: Scope) -> bool:
    return anatomy.mending.mends(function)


def _closes(anatomy: Anatomy, function: Scope) -> bool:
    return anatomy.mending.mends(function, calls=True) and not anatomy.mending.only_admits(function)
