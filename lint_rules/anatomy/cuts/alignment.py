"""Whether a cut is moved to where calls and results stay together, or its rest is mended: somebody asks for roles.

A test of a role counts when it decides: where the cut is made, which messages stay in the list, or whether it is cut
at all. Tests that count turns, log, or handle the reply that has just come are no such thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import Cut
from lint_rules.anatomy.cuts.fronts import has_another_in_front, is_from_loop
from lint_rules.anatomy.messages.contents import Contents
from lint_rules.anatomy.messages.role_tests import given_a_call, given_a_result, role_tests
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

_ADDS = frozenset({"append", "appendleft", "insert", "extend", "add"})
_TAKES = frozenset({"pop", "popleft", "remove", "clear"})
_CHANGES = _ADDS | _TAKES
_LEAVES = (cst.Return, cst.Break, cst.Continue)
_PICKERS = frozenset({"next", "list", "tuple", "deque", "max", "min", "filter"})


@dataclass(frozen=True, slots=True)
class Decisive:
    """The `lists` that a cut list is made of or goes into, and the names of `positions` in them."""

    lists: set[Slot]
    positions: set[Slot]

    @property
    def all(self) -> set[Slot]:
        return self.lists | self.positions


class Alignment:
    """Answers for the cuts of one file."""

    def __init__(self, anatomy: Anatomy, contents: Contents) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.slots = anatomy.facts.slots
        self.contents = contents

    def of(self, cut: Cut) -> bool:
        """Whether somebody looks at what the messages are."""
        lists = {*self.contents.lists_in(cut.base), *self._targets(cut.node), *self._names(cut.into)}
        if self.anatomy.mending.reaches(lists, cut=(cut.node, cut.function)):
            return True
        decisive = self._decisive(cut.function, lists, self._names(cut.size), _gone(cut))
        if self._is_marked(cut, decisive.positions):
            return True
        reading = self.module.functions if cut.shape == "bounded" else [cut.function]
        if any(self._is_looked_at(function, decisive) for function in reading if function.kind != "class"):
            return True
        if not any(decisive.lists & self._given_back(node) for node in cut.function.nodes):
            return False
        sites = self.anatomy.calls.sites[cut.function]
        return any(self._result_is_looked_at(site.node, site.caller) for site in sites)

    def _is_marked(self, cut: Cut, positions: set[Slot]) -> bool:
        """Whether a cut is made where a turn begins: `marks.append(len(h))`, each time a question is stored."""
        base, facts = self.slots.of(cut.base), self.anatomy.facts
        made = [value for slot in positions for value in facts.assigned(slot)] + ([cut.size] if cut.size else [])
        taken = {self.slots.of(part.value) for value in made for part in walk(value) if isinstance(part, cst.Subscript)}
        for marks in taken - {None, base}:
            put = facts.put(marks) if marks is not None else []
            if put and all(self._marks_turn(call, base) for call in put):
                return True
        return False

    def _marks_turn(self, call: cst.Call, base: Slot | None) -> bool:
        length = call.args[0].value
        if not isinstance(length, cst.Call) or ex.dotted(length.func) != "len" or not length.args:
            return False
        stored = self.anatomy.transcript.stored(self.module.scope_of[call].function)
        behind = [each for each in stored if each.slot == base and self.module.before(call, each.node)]
        return self.slots.of(length.args[0].value) == base and bool(behind) and behind[0].role == "user"

    def of_result(self, call: cst.Call, function: Scope) -> bool:
        """Whether somebody looks, in `function`, at what the messages are that a call gives."""
        lists = {*self.contents.lists_in(call), *self._targets(call)}
        return self.anatomy.mending.reaches(lists) or self._result_is_looked_at(call, function)

    def _result_is_looked_at(self, call: cst.Call, function: Scope) -> bool:
        return self._is_looked_at(function, self._decisive(function, self._targets(call), set()))

    def _is_looked_at(self, function: Scope, decisive: Decisive) -> bool:
        return self._decided(function, decisive) or self._decided_by_helper(function, decisive)

    def _given_back(self, node: cst.CSTNode) -> set[Slot]:
        return set(self.contents.lists_in(node.value)) if isinstance(node, cst.Return) and node.value else set()

    # -- what decides -----------------------------------------------------------------------------------------

    def _names(self, *parts: cst.CSTNode | None) -> set[Slot]:
        """The slots of the names and attributes in some expressions."""
        found: set[Slot] = set()
        for part in parts:
            for node in walk(part) if part is not None else ():
                if isinstance(node, (cst.Name, cst.Attribute)):
                    slot = self.slots.of(node)
                    if slot is not None:
                        found.add(slot)
        return found

    def _in(self, node: cst.BaseExpression) -> set[Slot]:
        """The slots of the names in an expression, and those of the lists in it: one of a key has no name."""
        return self._names(node) | set(self.contents.lists_in(node))

    def _targets(self, node: cst.CSTNode) -> set[Slot]:
        """What a list becomes the value of, or a part of it, around the expression `node`."""
        statement = self.module.statement(node)
        if not isinstance(statement, (cst.Assign, cst.AnnAssign, cst.AugAssign)) or statement.value is None:
            return set()
        if not isinstance(node, cst.BaseExpression) or not self.module.inside(node, statement.value):
            return set()
        joined = set(self.contents.lists_in(statement.value)) & set(self.contents.lists_in(node))
        return self._bound(statement) if joined else set()

    def _around(self, node: cst.CSTNode) -> set[Slot]:
        """What the statement around a value binds."""
        statement = self.module.statement(node)
        return self._bound(statement) if isinstance(statement, (cst.Assign, cst.AnnAssign, cst.AugAssign)) else set()

    def _decisive(self, function: Scope, lists: set[Slot], positions: set[Slot], gone: str = "") -> Decisive:
        """The lists that a cut list is made of or goes into, and the positions at which such lists are cut.

        Of the part that is `gone`, as the source shows it, only the end counts, of which `positions` tell.
        """
        lists, positions = set(lists), {slot for slot in positions if slot[0] == "var"}
        nodes = function.nodes_of(cst.Subscript, cst.Assign, cst.AugAssign, cst.AnnAssign)
        for _ in range(3):
            before = len(lists) + len(positions)
            for node in nodes:
                if gone and self._is_cut(node) and ex.source(node) == gone:
                    continue
                if self._is_cut(node) and lists & set(self.contents.lists_in(node.value)):
                    positions |= {slot for slot in self._names(*node.slice) if slot[0] == "var"}
                elif isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign)) and node.value is not None:
                    bound = self._bound(node)
                    made_of = {slot for slot in self.contents.lists_in(node.value) if not self._is_replied(slot)}
                    if bound & lists or made_of & lists:
                        lists |= bound | made_of
                    elif bound & positions and not _is_counted_from(node.value):
                        positions |= {slot for slot in self._names(node.value) - lists if slot[0] == "var"}
            for filled, listed in self.contents.filled:
                both = {filled, *self.contents.lists_in(listed)}
                lists |= both if both & lists else set()
            if len(lists) + len(positions) == before:
                break
        return Decisive(lists, positions)

    def _is_cut(self, node: cst.CSTNode) -> TypeGuard[cst.Subscript]:
        """`h[n:]`, `del h[n]`: where a list ends or loses something, not where one of its messages is read."""
        taken = isinstance(node, cst.Subscript) and isinstance(self.module.parent[node], cst.Del)
        return taken or ex.slice_of(node) is not None

    def _is_replied(self, slot: Slot) -> bool:
        """`reply.output`: what the model says is added to a list, and no part of what is left of it."""
        return slot[0] == "member" and Kind.REPLY in self.anatomy.facts.of(slot[1])

    def _bound(self, node: cst.Assign | cst.AugAssign | cst.AnnAssign) -> set[Slot]:
        targets = ex.targets(node)
        return {slot for t in targets for e in _unpacked(t) if (slot := self.slots.of(ex.unsliced(e))) is not None}

    # -- tests of roles that decide ---------------------------------------------------------------------------

    def _decided(self, function: Scope, decisive: Decisive) -> bool:
        return any(
            self._is_element(subject, function, decisive.lists)
            and self._is_test(subject)
            and self._decides(subject, function, decisive.all)
            and not has_another_in_front(self.anatomy, subject, function)
            for subject in role_tests(function.nodes)
        )

    def _is_test(self, subject: cst.BaseExpression) -> bool:
        """Not what is handed to a function of this file that looks at no role, whatever it is called."""
        callee = self._handed_on_to(subject)
        if callee is None or callee.kind != "function":
            return True
        return any(True for f in self.anatomy.calls.reachable(callee) for _ in role_tests(f.nodes, system=True))

    def _handed_on_to(self, subject: cst.BaseExpression) -> Scope | None:
        """The function of this file that is asked about what is handed to it."""
        arg = self.module.parent[subject]
        call = self.module.parent[arg] if isinstance(arg, cst.Arg) else None
        return self.slots.callee(call)

    def _is_element(self, node: cst.BaseExpression, function: Scope, lists: set[Slot]) -> bool:
        """Whether a message is taken from one of the lists: `h[0]`, a loop variable, a name for one of these."""
        seen: set[str] = set()
        queue = [node]
        for value in queue:
            parts = [*walk(value)]
            if any(isinstance(part, cst.Subscript) and lists & {*self.contents.lists_in(part.value)} for part in parts):
                return True
            names = {part.value for part in parts if isinstance(part, cst.Name)} - seen
            seen |= names
            taken = [each for name in names for each in self._taken_from(function).get(name, ())]
            if any(lists & self._in(source) for source, _ in taken):
                return True
            queue += [source for source, gone_through in taken if not gone_through]
        return False

    @kept
    def _taken_from(self, function: Scope) -> dict[str, list[tuple[cst.BaseExpression, bool]]]:
        """What each name of a function is bound to, and whether it is each of that in turn.

        What the model replies to a list is no message of it.
        """
        found: dict[str, list[tuple[cst.BaseExpression, bool]]] = defaultdict(list)
        for loop in function.nodes_of(cst.For, cst.CompFor):
            for name in ex.target_names(loop.target):
                found[name].append((loop.iter, True))
        for node in function.nodes_of(cst.Assign):
            if not self._is_asked_for(node.value):
                for name in ex.target_names(node.targets[0].target):
                    found[name].append((node.value, False))
        return found

    def _is_asked_for(self, value: cst.BaseExpression) -> bool:
        """Whether a value is what a model replies, also by a function that gets the list: `ask(llm, h)`."""
        made = ex.inner(value)
        if isinstance(made, cst.Call) and ex.called_name(made) not in _PICKERS and ex.receiver(made) is None:
            if Kind.REPLY in self.anatomy.facts.kinds(value):
                return True
        return any(isinstance(part, cst.Call) and self.anatomy.calls.asks(part) for part in walk(value))

    def _decides(self, subject: cst.BaseExpression, function: Scope, decisive: set[Slot]) -> bool:
        here: cst.CSTNode = subject
        result, call = self._given(subject)
        alike = result if result is call else None
        for outer in self.module.ancestors(subject):
            if isinstance(outer, cst.CompIf):
                return alike is not True and self._picks(outer, decisive)
            if isinstance(outer, (cst.If, cst.While)) and here is outer.test:
                apart = result is not None or call is not False  # else whoever is no user goes the other way
                return alike is not self._adds(outer, decisive) and self._changes(outer, decisive, apart)
            if isinstance(outer, cst.IfExp) and here is outer.test:
                return bool(self._around(outer) & decisive)
            if isinstance(outer, (cst.Assign, cst.AnnAssign)):  # a flag: `fits = m["role"] == "user"`
                return any(self._changes(node, decisive) for node in self._tests_of(outer, function))
            if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
                return False
            here = outer
        return False

    def _given(self, subject: cst.BaseExpression) -> tuple[bool | None, bool | None]:
        """What the test of a role gives for results, and for calls; None where that is open."""
        test: cst.CSTNode = subject
        while not isinstance(test, (cst.Comparison, cst.BaseCompoundStatement, cst.Module)):
            test = self.module.parent[test]
        while isinstance(outer := self.module.parent.get(test), cst.UnaryOperation):
            test = outer
        if not isinstance(test, cst.BaseExpression):
            return None, None
        return evaluate(test, given_a_result), evaluate(test, given_a_call)

    def _adds(self, region: cst.If | cst.While, decisive: set[Slot]) -> bool:
        """Whether something is put into a list where a test holds."""
        puts = (n for n in walk(region.body) if isinstance(n, cst.Call) and ex.called_name(n) in _ADDS)
        return any((base := ex.receiver(put)) is not None and self.slots.of(base) in decisive for put in puts)

    def _tests_of(self, node: cst.Assign | cst.AnnAssign, function: Scope) -> Iterator[cst.If | cst.While]:
        flags = self._bound(node)
        for other in function.nodes:
            if isinstance(other, (cst.If, cst.While)) and flags & self._names(other.test):
                yield other

    def _picks(self, condition: cst.CompIf, decisive: set[Slot]) -> bool:
        """`[m for m in h if ...]`, `next(i for i, m in enumerate(h) if ...)`; not `sum(1 for ...)`."""
        for outer in self.module.ancestors(condition):
            if isinstance(outer, cst.ListComp):
                return bool(decisive & (self._around(outer) | self._names(outer))) and not self._is_counted(outer)
            if isinstance(outer, cst.GeneratorExp):
                call = self.module.parent[self.module.parent[outer]]
                bound, picks = self._around(outer), isinstance(call, cst.Call) and ex.called_name(call) in _PICKERS
                return picks and (not bound or bool(bound & decisive))
            if isinstance(outer, (cst.SetComp, cst.DictComp)):
                return False
        return False

    def _is_counted(self, node: cst.CSTNode) -> bool:
        """`len([...])`, `any([...])`."""
        parent = self.module.parent[node]
        call = self.module.parent[parent] if isinstance(parent, cst.Arg) else None
        return isinstance(call, cst.Call) and ex.called_name(call) in {"len", "any", "all", "sum", "bool"}

    def _changes(self, region: cst.If | cst.While, decisive: set[Slot], whole: bool = True) -> bool:
        """Whether a decisive name is changed in a region, or where its test holds, or that leaves a loop that does."""
        if self._writes(walk(region if whole else region.body), decisive):
            return True
        if any(isinstance(node, _LEAVES) for node in walk(region.body)):
            for outer in self.module.ancestors(region):
                if isinstance(outer, (cst.For, cst.While)):
                    return self._writes(walk(outer.body), decisive) or self._counts_up(outer, decisive)
                if isinstance(outer, cst.FunctionDef):
                    return any(isinstance(node, cst.Return) for node in walk(region.body))
        return False

    def _counts_up(self, loop: cst.For | cst.While, decisive: set[Slot]) -> bool:
        return isinstance(loop, cst.For) and bool(self._names(loop.target) & decisive)

    def _writes(self, nodes: Iterable[cst.CSTNode], decisive: set[Slot]) -> bool:
        for node in nodes:
            changed: set[Slot | None] = set()
            if isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign)):
                changed.update(self._bound(node))
            elif (isinstance(node, cst.Del) or _takes(node)) and self._is_of_calls(node):
                continue
            elif isinstance(node, cst.Del):
                changed.update(self._names(node.target))
            elif isinstance(node, cst.Call) and ex.called_name(node) in _CHANGES and not self._puts_new(node):
                base = ex.receiver(node)
                changed.add(self.slots.of(base))
            elif isinstance(node, cst.Return) and node.value is not None:
                changed.update(self.contents.lists_in(node.value))
            if changed & decisive:
                return True
        return False

    def _puts_new(self, call: cst.Call) -> bool:
        """Whether a call adds a message that is none of the list, nor one that has calls: all others stay."""
        value = call.args[-1].value if call.args and ex.called_name(call) in _ADDS else None
        made = self.anatomy.transcript.messages.of(value) if value is not None else []
        if not made or any(m.node is not value or m.role is None or m.calls is not None or m.answers for m in made):
            return False
        return not is_from_loop(self.anatomy, call)

    # -- helpers ----------------------------------------------------------------------------------------------

    def _decided_by_helper(self, function: Scope, decisive: Decisive) -> bool:
        """A function of this file that gets the list, and gives back the list, a position, or changes it in place."""
        for site in self.anatomy.calls.calls[function]:
            used = self.module.parent[site.node]
            if isinstance(used, cst.Await):
                used = self.module.parent[used]
            matters = isinstance(used, (cst.Return, cst.Slice)) or bool(self._around(site.node) & decisive.all)
            if isinstance(used, cst.Arg) and self.anatomy.mending.takes_place(site.node):  # `ask(tidy(newest))`
                matters = any(self._names(arg.value) & decisive.lists for arg in site.node.args)
            matters = matters or (isinstance(used, cst.Expr) and self._changes_a_list(site.callee))
            if matters and self._gets(site.node, decisive.lists) and self._tests(site.callee):
                if self.contents.has_results_at(site.node, decisive.lists):
                    return True
        return False

    def _changes_a_list(self, function: Scope) -> bool:
        """Whether a function, or what it runs, takes messages out of a list, or puts others in their place."""
        changes = [write for write in self.anatomy.writes.reached_from(function) if write.kind != "append"]
        taken = [write.node for write in changes if write.kind != "insert"]
        return bool(changes) and not (taken and all(map(self._is_of_calls, taken)))

    def _is_of_calls(self, node: cst.CSTNode) -> bool:
        """Whether a message is taken out of a list only if the model has said it: results stay."""
        tests = passed(self.module, node)
        return any(evaluate(outer.test, given_a_result) is (not holds) for outer, holds in tests)

    def _gets(self, call: cst.Call, decisive: set[Slot]) -> bool:
        base = ex.receiver(call)
        if base is not None and ex.dotted(base) == self.module.self_name(self.module.scope_of[call]):
            return True
        return any(self._names(arg.value) & decisive for arg in call.args)

    def _tests(self, function: Scope) -> bool:
        """Whether a helper tests roles where that decides what it gives back, or takes out of a list.

        One that only writes other words into the messages keeps all of them.
        """
        given = {slot for node in function.nodes_of(cst.Return) for slot in self._names(node.value)}
        lists = {slot for slot in given | self._handed_to(function) if slot is not None}
        decisive = self._decisive(function, lists, given).all | given
        return any(
            self._is_given_back(subject) or self._decides(subject, function, decisive)
            for subject in role_tests(function.nodes)
            if self._handed_on_to(subject) is not function
        )

    def _handed_to(self, function: Scope) -> set[Slot]:
        """The parameters of a function, and the histories of its object."""
        own = {self.slots.parameter(function, parameter.name.value) for parameter in parameters(function)}
        return own | {write.slot for write in self.anatomy.writes.reached_from(function) if write.slot[0] == "attr"}

    def _is_given_back(self, subject: cst.BaseExpression) -> bool:
        """Whether a function gives back what a test of a role tells: `return m["role"] == "user"`."""
        for outer in self.module.ancestors(subject):
            if isinstance(outer, (cst.BaseCompoundStatement, cst.BaseComp, cst.IfExp)):
                return False
            if isinstance(outer, cst.Return):
                return True
        return False


def _unpacked(target: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [e.value for e in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else [target]


def _gone(cut: Cut) -> str:
    """`h[first:n]` of `del h[first:n]` and `h[first:n] = [note]`, as the source shows it."""
    node = cut.node
    target = node.target if isinstance(node, cst.Del) else ex.targets(node)[0] if isinstance(node, cst.Assign) else None
    return ex.source(target) if isinstance(target, cst.Subscript) and ex.slice_of(target) is not None else ""


def _is_counted_from(value: cst.BaseExpression) -> bool:
    """`max(first, len(h) - n)`: how long the list is decides, and the other one only how far that may go."""
    if not isinstance(value, cst.Call) or ex.dotted(value.func) not in {"max", "min"}:
        return False
    worked_out = (arg.value for arg in value.args if isinstance(arg.value, cst.BinaryOperation))
    return any(isinstance(n, cst.Call) and ex.dotted(n.func) == "len" for each in worked_out for n in walk(each))


def _takes(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and ex.called_name(node) in _TAKES
