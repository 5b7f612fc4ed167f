"""What ends a loop of rounds: a limit, the model's own word, somebody outside, or something that is not understood.

A branch decides about leaving when from one of its sides the loop's head can't be reached any more. What it hangs on
is followed backwards: through the assignments in the loop, the tests they stand under, and the returns of functions
of this file. A limit is a test there of something that grows by itself (a counter, the clock, the history's length,
tokens, cost) or that is called like a limit; or an exception that such a test raises in a function the loop calls.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk, walk_scope


class Cause(Enum):
    """What a decision to leave hangs on."""

    LIMIT = "a limit"
    REPLY = "the model's reply"
    OUTSIDE = "somebody outside"
    UNKNOWN = "something else"


@dataclass(frozen=True, eq=False, slots=True)
class Decision:
    """A branch after one side of which the loop is over. `limit` is the test that makes it a limit."""

    node: cst.CSTNode
    cause: Cause
    limit: cst.CSTNode | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Endless:
    """A comparison of what grows with a bound that is none: `bound` is `float("inf")`, `sys.maxsize`, `10**15`."""

    test: cst.Comparison
    bound: cst.BaseExpression


@dataclass(frozen=True, eq=False, slots=True)
class Optional:
    """A limit that a caller may set: `default` is the None that stands for no limit."""

    test: cst.Comparison
    bound: cst.BaseExpression
    default: cst.CSTNode


@dataclass(frozen=True, eq=False, slots=True)
class Exhaustion:
    """A way out of the loop when the rounds are used up: the branch, and the points that follow.

    `pure` says that the branch is the loop's own head, and that it asks for nothing else.
    """

    node: cst.CSTNode
    pure: bool
    after: list[Point]


_REPLIES = (Kind.REPLY, Kind.CALLS, Kind.CALL, Kind.MESSAGE, Kind.MODEL_TEXT, Kind.ARGUMENTS, Kind.FUNCTION)
_ORDER = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_EQUALITY = (cst.Equal, cst.NotEqual)
_GROWERS = frozenset({"append", "extend", "add", "insert", "update", "appendleft", "set"})
_CLOCKS = frozenset({"time", "monotonic", "perf_counter", "now", "utcnow", "process_time", "total_seconds", "elapsed"})
_QUANTITY = re.compile(
    r"(max|limit|budget|deadline|timeout|remaining|quota|attempt|retr(y|ies)|iter|round|turn|step|count|tries|depth"
    r"|elapsed|cost|token|spen[dt]|usage|duration|time|_left|credit|cycle|loop|usd|price|calls_made|requests)",
    re.IGNORECASE,
)
"""Names of things that grow with the rounds, or bound them; for comparisons."""
_LIMIT = re.compile(
    r"(max_|_max|limit|budget|deadline|time_?d?_?out|exceed|exhaust|remaining|quota|too_(many|long)|expired|_left"
    r"|(retries|attempts|iterations|rounds|turns|steps)$|circuit|stuck|loop_detect|repeat|duplicate|stall)",
    re.IGNORECASE,
)
"""Names that say so themselves, without a comparison."""
_VERDICT = re.compile(r"should_(stop|continue|exit|end|break)|can_continue", re.IGNORECASE)
"""Names of what somebody has decided: a limit may be behind it where the file does not show how."""
_OVER = re.compile(r"(exceed|exhaust|expired|timed_out|too_(many|long))", re.IGNORECASE)
"""Names that say that a limit is passed: where the loop goes on then, it is none of the loop's."""
_RATE = re.compile(r"(^|[._])(rate|rpm|tpm|rps|throttle)", re.IGNORECASE)
"""What slows the rounds down, and ends none."""
_OUTSIDE = re.compile(
    r"(stop|cancel|interrupt|abort|shut_?down|is_set|running|closed|disconnect|kill|alive|active|quit|exit|terminat|"
    r"paused)",
    re.IGNORECASE,
)
_WAITS = frozenset(
    {
        "input", "raw_input", "prompt", "Prompt", "prompt_async", "chat_input", "readline", "getline", "accept", "recv",
        "recv_json", "recv_multipart", "receive", "receive_text", "receive_json", "receive_bytes", "receive_message",
        "get_message", "wait_for_message", "next_message", "listen", "poll", "brpop", "blpop", "get_input",
        "get_user_input", "user_input", "read_input", "read_user_input", "wait_for_input", "multiline_input",
        "get_multiline_input",
    }
)  # fmt: skip
_GUARDS = frozenset({"timeout", "timeout_at", "move_on_after", "fail_after", "move_on_at", "fail_at", "wait_for"})
_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit"})
_TRUTHS = (cst.UnaryOperation, cst.BooleanOperation, cst.Call, cst.Attribute, cst.Await, cst.NamedExpr)
_HUGE = 1_000_000
_MOST_PARTS = 400


class Limits:
    """How one loop ends. `node` is a `while` or `for` of `function`."""

    def __init__(self, anatomy: Anatomy, node: cst.While | cst.For, function: Scope) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.node = node
        self.function = function

    # -- what may be asked ------------------------------------------------------------------------------------

    @cached_property
    def decisions(self) -> list[Decision]:
        """The branches that decide about leaving, in source order."""
        return [self._judged(point) for point in self._deciding()]

    @cached_property
    def limit(self) -> cst.CSTNode | None:
        """What bounds the rounds, if anything: an iterable, a test, a guard around the loop, a call that may raise."""
        if isinstance(self.node, cst.For) and not _never_ends(self.node.iter, self):
            return self.node.iter
        found = next((d.limit for d in self.decisions if d.limit is not None), None)
        return found or self._offer_limit() or self._guard() or self._raising()

    def running_out(self) -> list[Exhaustion]:
        """The ways out that the number of rounds alone opens: the end of a `range`, a test of a counter."""
        found = []
        if isinstance(self.node, cst.For):
            if self.limit is self.node.iter and _counts_rounds(self.node.iter):
                heads = self.anatomy.flow(self.function).at(self.node)
                found.append(
                    Exhaustion(self.node, True, [t for p in heads for t, kind in p.successors if kind == "false"])
                )
        for point in self._deciding():
            tests = [test for part in self._parts(point) for test in _comparisons(part) if self._counts(test)]
            if tests and point.statement is not None:
                after = [t for t, kind in point.successors if kind != "exception" and t not in self._staying]
                pure = point.statement is self.node and self._parts(point) == tests
                found.append(Exhaustion(point.statement, pure, after))
        return found

    def _counts(self, test: cst.Comparison) -> bool:
        """Whether a comparison holds a counter of the loop against a bound."""
        if not isinstance(test.comparisons[0].operator, (*_ORDER, *_EQUALITY)):
            return False
        plain = [side for side in _sides(test) if isinstance(side, (cst.Name, cst.Attribute))]
        own = set(_for_names(self.node))
        return any(self._is_counter(side) or ex.last_name(side) in own for side in plain)

    def by_reply(self) -> list[Point]:
        """Where the loop goes on to when the model's reply ends it."""
        said = {decision.node for decision in self.decisions if decision.cause is Cause.REPLY}
        return [
            target
            for point in self._deciding()
            if point.statement in said
            for target, kind in point.successors
            if kind != "exception" and target not in self._staying
        ]

    def leads_out(self, node: cst.CSTNode) -> bool:
        """Whether nothing that follows `node` in the loop leads to another round."""
        points = self.anatomy.flow(self.function).enclosing(node, self.module.parent)
        return bool(points) and not any(point in self._staying for point in points)

    @cached_property
    def endless(self) -> list[Endless]:
        """Comparisons that look like a limit and are none."""
        found: list[Endless] = []
        for point in self._deciding():
            for part in self._slice(self._parts(point)):
                for test in _comparisons(part):
                    bound = next((b for b in _sides(test) if self._is_infinite(b)), None)
                    if bound is not None and not any(e.test is test for e in found):
                        found.append(Endless(test, bound))
        return found

    def optional(self) -> Optional | None:
        """The limit of the loop, where it is None unless somebody sets it; None where there is another limit."""
        if isinstance(self.node, cst.For) or self._offer_limit() or self._guard() or self._raising():
            return None
        found = [decision.limit for decision in self.decisions if decision.limit is not None]
        unset = [self._unset(limit) for limit in found if isinstance(limit, cst.Comparison)]
        return next(iter(unset), None) if len(unset) == len(found) and all(unset) else None

    def _unset(self, test: cst.Comparison) -> Optional | None:
        for side in _sides(test):
            default = self._none_by_default(side) if not self._grows(side) else None
            if default is not None:
                return Optional(test, side, default)
        return None

    def _none_by_default(self, bound: cst.BaseExpression, depth: int = 0) -> cst.CSTNode | None:
        """The None that a bound has when nobody sets it: a parameter's default, or what its attribute is set from."""
        slot = self.facts.slots.of(bound)
        if slot is None or slot[0] not in {"var", "attr"} or depth > 2:
            return None
        values = list(self.facts.assigned(slot))
        if slot[0] == "var":
            values += [p.default for p in parameters(slot[1]) if p.name.value == slot[2] and p.default is not None]
        nones = [v if ex.dotted(v) == "None" else self._none_by_default(v, depth + 1) for v in values]
        return nones[0] if nones and all(nones) else None

    @cached_property
    def idle(self) -> cst.Comparison | None:
        """A test that looks like a limit, after which the loop goes on."""
        for node in walk_scope(self.node.body):
            if isinstance(node, cst.If):
                for test in _comparisons(node.test):
                    if any(self._is_counter(s) for s in _sides(test) if isinstance(s, (cst.Name, cst.Attribute))):
                        return test
        return None

    @cached_property
    def waits(self) -> cst.Call | None:
        """A call in the loop that waits for a person or a message: each round is then somebody's wish."""
        calls = self.anatomy.calls.calls_within(self.node, self.function)
        for call in calls:
            if _is_waiting(call):
                return call
        for call in calls:
            callee = self.facts.slots.callee(call)
            if callee is not None and any(isinstance(n, cst.Call) and _is_waiting(n) for n in callee.nodes):
                return call
        return None

    # -- the branches -----------------------------------------------------------------------------------------

    @cached_property
    def _inside(self) -> set[Point]:
        graph = self.anatomy.flow(self.function)
        within = {id(node) for node in walk_scope(self.node.body)}
        return {point for point in graph.points if point.statement is not None and id(point.statement) in within}

    @cached_property
    def _staying(self) -> set[Point]:
        """The points of the loop from which its head can be reached again, without failing on the way."""
        heads = set(self.anatomy.flow(self.function).at(self.node))
        found: set[Point] = set()
        queue = list(heads)
        while queue:
            for source, kind in queue.pop().predecessors:
                if kind != "exception" and source in self._inside and source not in found and not _exits(source):
                    found.add(source)
                    queue.append(source)
        return found | heads

    def _deciding(self) -> list[Point]:
        found = []
        for point in (*self.anatomy.flow(self.function).at(self.node), *self._inside):
            if isinstance(point.statement, (cst.If, cst.While, cst.MatchCase)):
                stays = [target in self._staying for target, kind in point.successors if kind != "exception"]
                if any(stays) and not all(stays):
                    found.append(point)
        return sorted(found, key=lambda point: self.module.order[point.statement])  # type: ignore[index]

    def _parts(self, point: Point) -> list[cst.CSTNode]:
        """The expressions that are evaluated to decide: a test, or a case with the subject it is held against."""
        parts = point.expressions()
        if isinstance(point.statement, cst.MatchCase):
            match = self.module.parent[point.statement]
            parts = [*parts, *([match.subject] if isinstance(match, cst.Match) else [])]
        return parts

    def _judged(self, point: Point) -> Decision:
        assert point.statement is not None
        parts = list(self._slice(self._parts(point)))
        limit = next((found for part in parts if (found := self._limit_in(part)) is not None), None)
        if limit is not None and not (limit in self._plain(point) and self._goes_on_when_true(point)):
            return Decision(point.statement, Cause.LIMIT, limit)
        if any(self._is_reply(node) for part in parts for node in walk(part)):
            return Decision(point.statement, Cause.REPLY)
        names = [ex.last_name(node) for part in self._parts(point) for node in walk(part)]
        outside = any(name and _OUTSIDE.search(name) for name in names)
        return Decision(point.statement, Cause.OUTSIDE if outside else Cause.UNKNOWN)

    def _plain(self, point: Point) -> list[cst.CSTNode]:
        """What a test says without a `not`: `exceeded`, `is_exceeded(error)`."""
        tests = [part.func if isinstance(part, cst.Call) else part for part in point.expressions()]
        return [
            test for test in tests if isinstance(test, (cst.Name, cst.Attribute)) and _OVER.search(ex.last_name(test))
        ]

    def _goes_on_when_true(self, point: Point) -> bool:
        return isinstance(point.statement, cst.If) and any(
            target in self._staying for target, kind in point.successors if kind == "true"
        )

    # -- backwards --------------------------------------------------------------------------------------------

    def _slice(self, parts: list[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """The expressions that a decision hangs on, itself first."""
        queue = list(parts)
        seen: set[int] = set()
        slots: set[object] = set()
        while queue and len(seen) < _MOST_PARTS:
            part = queue.pop(0)
            if id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            for node in walk(part):
                if type(node) is cst.Call:
                    callee = self.facts.slots.callee(node)
                    if callee is not None and callee not in slots:
                        slots.add(callee)
                        queue.extend(self._returned(callee))
                elif type(node) is cst.Name or type(node) is cst.Attribute or type(node) is cst.Subscript:
                    slot = self.facts.slots.of(node)
                    if slot is not None and slot not in slots:
                        slots.add(slot)
                        queue.extend(self._sources.get(slot, ()))

    @cached_property
    def _called(self) -> set[Scope]:
        """The functions of this file that the loop may run."""
        found: set[Scope] = set()
        for call in self.anatomy.calls.calls_within(self.node, self.function):
            callee = self.facts.slots.callee(call)
            if callee is not None and callee not in found:
                found |= self.anatomy.calls.reachable(callee)
        return found

    @cached_property
    def _sources(self) -> dict[Slot, list[cst.CSTNode]]:
        """What the loop puts into slots, each with the tests it stands under."""
        found: defaultdict[Slot, list[cst.CSTNode]] = defaultdict(list)
        for function, node in self._run():
            for target, value in _bindings(node):
                slot = self.facts.slots.of(target)
                if slot is not None and not self._is_overwritten(node, target, function):
                    found[slot] += [value, *self._tests(node, function)]
        return found

    def _is_overwritten(self, node: cst.CSTNode, target: cst.BaseExpression, function: Scope) -> bool:
        """Whether nobody reads what a statement binds, as something else is bound before: nothing hangs on it."""
        if not isinstance(node, cst.Assign) or not isinstance(target, cst.Name) or function is not self.function:
            return False
        if function.nodes_of(cst.FunctionDef):
            return False  # who may read it, too
        queue = [*self.anatomy.flow(function).at(node)]
        seen = set(queue)
        while queue:
            for point, kind in queue.pop().successors:
                if kind == "exception" or point in seen:
                    continue
                seen.add(point)
                if _reads(point, target.value) or point.statement is None:
                    return False
                if not _binds(point, target.value):
                    queue.append(point)
        return True

    def _run(self) -> Iterator[tuple[Scope, cst.CSTNode]]:
        """The nodes that a round may run, in the loop and in the functions of this file that it calls."""
        yield from ((self.function, node) for node in walk_scope(self.node.body))
        for function in self._called:
            yield from ((function, node) for node in function.nodes)

    def _tests(self, node: cst.CSTNode, function: Scope) -> Iterator[cst.CSTNode]:
        """The tests that `node` stands under, inside the loop or a called function."""
        for outer in self.module.ancestors(node):
            if outer is self.node or outer is function.node:
                return
            if type(outer) is cst.If or type(outer) is cst.While:
                yield outer.test
            elif type(outer) is cst.For:
                yield outer.iter
            elif type(outer) is cst.Match:
                yield outer.subject

    def _returned(self, function: Scope) -> Iterator[cst.CSTNode]:
        for node in function.nodes_of(cst.Return):
            if node.value is not None:
                yield node.value
                yield from self._tests(node, function)

    # -- judging ----------------------------------------------------------------------------------------------

    def _is_reply(self, node: cst.CSTNode) -> bool:
        """Whether a value is the model's reply, or made of one."""
        if isinstance(node, cst.Call):
            if self.anatomy.calls.asks(node):
                return True
        elif not isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
            return False
        if any(kind in self.facts.kinds(node) for kind in _REPLIES):
            return True
        return isinstance(node, cst.Name) and self.facts.slots.of(node) in self._collectors

    @cached_property
    def _collectors(self) -> set[Slot | None]:
        """Objects that a round makes and hands the reply to, under the names they have in called functions, too."""
        found: set[Slot | None] = set()
        for function, node in self._run():
            if type(node) is cst.Call and function is self.function:
                slot = self.facts.slots.of(base) if (base := ex.receiver(node)) is not None else None
                if slot is not None and slot[0] == "var" and self._is_made_here(slot):
                    if any(Kind.REPLY in self.facts.kinds(arg.value) for arg in node.args):
                        found.add(slot)
        calls = [node for _, node in self._run() if isinstance(node, cst.Call)] if found else []
        for call in calls:
            callee = self.facts.slots.callee(call)
            for slot, value in self.facts.slots.bindings(call, callee) if callee is not None else ():
                if self.facts.slots.of(value) in found:
                    found.add(slot)
        return found

    def _is_made_here(self, slot: Slot) -> bool:
        """Whether all that a variable holds are new objects of the loop: `parser = StreamParser()`."""
        values = self.facts.assigned(slot)
        return bool(values) and all(
            isinstance(value, cst.Call)
            and ex.called_name(value)[:1].isupper()
            and self.module.inside(value, self.node.body)
            for value in values
        )

    def _limit_in(self, part: cst.CSTNode) -> cst.CSTNode | None:
        """The limit that an expression tests."""
        for node in walk_scope(part):
            if isinstance(node, cst.Comparison):
                if self._is_limit(node):
                    return node
            elif isinstance(node, (cst.Name, cst.Attribute)):
                if self._is_called_limit(node) and self._stands_alone(node):
                    return node
                if self._is_counter(node) and self._stands_alone(node):
                    return node
        return None

    def _is_called_limit(self, node: cst.Name | cst.Attribute) -> bool:
        name = ex.last_name(node)
        return bool(_LIMIT.search(name)) or (bool(_VERDICT.search(name)) and not self._is_shown(node))

    def _is_shown(self, node: cst.Name | cst.Attribute) -> bool:
        """Whether functions of this file work out all that a variable holds: then they say what it hangs on."""
        slot = self.facts.slots.of(node)
        values = [ex.inner(value) for value in self.facts.assigned(slot)] if slot is not None else []
        calls = [value.expression if isinstance(value, cst.Await) else value for value in values]
        return bool(calls) and all(
            isinstance(call, cst.Call) and self.facts.slots.callee(call) is not None for call in calls
        )

    def _is_limit(self, test: cst.Comparison) -> bool:
        sides = list(_sides(test))
        if any(self._is_infinite(side) for side in sides):
            return False
        if not all(isinstance(target.operator, (*_ORDER, *_EQUALITY)) for target in test.comparisons):
            return isinstance(test.comparisons[0].operator, (cst.In, cst.NotIn)) and self._remembers(*sides[:2])
        if any(ex.text(side) is not None for side in sides):
            return False
        if any(self._measures_calls(side) for side in sides):
            return False
        if any(self._grows(side) for side in sides):
            return True
        if not isinstance(test.comparisons[0].operator, _ORDER):
            return False
        names = [ex.last_name(node) for side in sides for node in walk(side)]
        return any(name and _QUANTITY.search(name) for name in names) or not any(
            self._is_reply(node) for part in self._slice(list(sides)) for node in walk(part)
        )

    def _remembers(self, key: cst.BaseExpression, seen: cst.BaseExpression) -> bool:
        """`signature in seen`, where the loop adds to `seen`: rounds that repeat themselves are noticed."""
        slot = self.facts.slots.of(seen)
        return slot is not None and ex.text(key) is None and slot in self._filled

    @cached_property
    def _filled(self) -> set[Slot]:
        """The collections that a round adds to, or stores keys in."""
        found = set()
        for _, node in self._run():
            base = None
            if type(node) is cst.Call and ex.called_name(node) in _GROWERS:
                base = ex.receiver(node)
            elif (type(node) is cst.AssignTarget or type(node) is cst.AugAssign) and isinstance(
                node.target, cst.Subscript
            ):
                base = node.target.value
            slot = self.facts.slots.of(base) if base is not None else None
            if slot is not None:
                found.add(slot)
        return found

    def _measures_calls(self, side: cst.BaseExpression) -> bool:
        """`len(reply.tool_calls)`: how much the model asked for in one round."""
        if isinstance(side, cst.Call) and ex.dotted(side.func) == "len" and len(side.args) == 1:
            kinds = self.facts.kinds(side.args[0].value)
            return Kind.CALLS in kinds or Kind.MODEL_TEXT in kinds or Kind.MESSAGE in kinds
        return False

    def _grows(self, side: cst.BaseExpression) -> bool:
        """A counter, the clock, or the length of something that the loop fills."""
        for node in walk(side):
            if isinstance(node, (cst.Name, cst.Attribute)) and self._is_counter(node):
                return True
            if isinstance(node, cst.Call):
                if ex.called_name(node) in _CLOCKS:
                    return True
                if ex.dotted(node.func) == "len" and len(node.args) == 1:
                    slot = self.facts.slots.of(node.args[0].value)
                    if slot is not None and slot in self._filled:
                        return True
        return False

    def _is_counter(self, node: cst.Name | cst.Attribute) -> bool:
        slot = self.facts.slots.of(node)
        return slot is not None and slot in self._counters

    @cached_property
    def _counters(self) -> set[Slot]:
        """What the loop counts: `n += 1`, `n = n - 1`, `self.cost += price`, `n = next(numbers)`."""
        found = set()
        for _, node in self._run():
            target = _counted(node)
            slot = self.facts.slots.of(target) if target is not None else None
            if slot is not None and not {Kind.HISTORY, Kind.MODEL_TEXT, Kind.CALLS} & self.facts.of(slot).keys():
                found.add(slot)
        return found

    def _stands_alone(self, node: cst.CSTNode) -> bool:
        """Whether the truth of a name, or of what it is called for, is what a test or a value here is made of."""
        here = node
        for outer in self.module.ancestors(node):
            if isinstance(outer, (cst.Call, cst.Attribute)) and here is not (
                outer.func if isinstance(outer, cst.Call) else outer.attr
            ):
                return False
            if not isinstance(outer, _TRUTHS):
                return isinstance(outer, (cst.If, cst.While, cst.Return, cst.Assign, cst.IfExp, cst.Not))
            here = outer
        return False

    def _is_infinite(self, bound: cst.BaseExpression) -> bool:
        """Whether a bound is none, by its value or by its default."""
        return any(_is_huge(value) for value in self._values(bound))

    def _values(self, bound: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a bound is set to, as far as this file shows: itself, a parameter's default, a constant."""
        slot = self.facts.slots.of(bound)
        if slot is None or slot[0] not in {"var", "attr"}:
            return [bound]
        values = list(self.facts.assigned(slot))
        if slot[0] == "var":
            values += [p.default for p in parameters(slot[1]) if p.name.value == slot[2] and p.default is not None]
        found = []
        for value in values:
            inner = self.facts.slots.of(value)
            if inner is not None and inner != slot and inner[0] == "var":
                found += [p.default for p in parameters(inner[1]) if p.name.value == inner[2] and p.default is not None]
            found.append(value)
        return found if len(found) == 1 else [value for value in found if all(map(_is_huge, found))][:1]

    # -- limits that are no branch of the loop ----------------------------------------------------------------

    def _offer_limit(self) -> cst.CSTNode | None:
        """A limit after which the model is offered no tools any more."""
        for call in self.anatomy.calls.calls_within(self.node, self.function):
            if not self.anatomy.calls.asks(call):
                continue
            offers = [arg.value for arg in call.args if arg.keyword is not None and "tool" in arg.keyword.value]
            for part in self._slice(list(offers)):
                found = self._limit_in(part)
                if found is not None:
                    return found
        return None

    def _guard(self) -> cst.CSTNode | None:
        """A timeout around the loop, or around a call of its function."""
        places: list[cst.CSTNode] = [self.node, *(site.node for site in self.anatomy.calls.sites[self.function])]
        for place in places:
            for outer in self.module.ancestors(place):
                calls = [item.item for item in outer.items] if isinstance(outer, cst.With) else [outer]
                for call in calls:
                    if isinstance(call, cst.Call) and ex.called_name(call) in _GUARDS:
                        return call
        return None

    def _raising(self) -> cst.CSTNode | None:
        """A call in the loop that raises when a limit is reached, or is named so."""
        for function in self._called:
            for node in function.nodes:
                if isinstance(node, cst.Raise):
                    for test in self._tests(node, function):
                        if any(self._is_limit(inside) for inside in _comparisons(test)):
                            return test
        for call in self.anatomy.calls.calls_within(self.node, self.function):
            if isinstance(self.module.statement(call), cst.Expr) and self.facts.slots.callee(call) is None:
                name = ex.dotted(call.func) or ""
                if re.search(r"limit|budget|quota|deadline|timeout", name, re.IGNORECASE) and not _RATE.search(name):
                    return call
        return None


def _bindings(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """What a statement or call puts where: targets with values, the filled with what fills it."""
    if type(node) is cst.Assign:
        for target in node.targets:
            yield from ((part, node.value) for part in _flat(target.target))
    elif type(node) is cst.AnnAssign or type(node) is cst.AugAssign or type(node) is cst.NamedExpr:
        if node.value is not None:
            yield node.target, node.value
    elif type(node) is cst.For:
        yield from ((part, node.iter) for part in _flat(node.target))
    elif type(node) is cst.WithItem:
        if node.asname is not None:
            yield from ((part, node.item) for part in _flat(node.asname.name))
    elif type(node) is cst.Call and ex.called_name(node) in _GROWERS:
        base = ex.receiver(node)
        if base is not None:
            yield from ((base, arg.value) for arg in node.args[:1])
            if not node.args:
                yield base, base


def _reads(point: Point, name: str) -> bool:
    """Whether a point may read a name."""
    return any(
        isinstance(node, cst.Name) and node.value == name
        for part in point.expressions()
        for node in walk(part.value if isinstance(part, cst.Assign) else part)
    )


def _binds(point: Point, name: str) -> bool:
    node = point.statement
    return isinstance(node, cst.Assign) and any(
        isinstance(target.target, cst.Name) and target.target.value == name for target in node.targets
    )


def _for_names(node: cst.While | cst.For) -> list[str]:
    return ex.target_names(node.target) if isinstance(node, cst.For) else []


def _counts_rounds(iterable: cst.BaseExpression) -> bool:
    """`range(n)`, `enumerate(range(n))`, `trange(n)`."""
    if not isinstance(iterable, cst.Call) or not iterable.args:
        return False
    name = ex.called_name(iterable)
    return name in {"range", "trange"} or (name in {"enumerate", "tqdm"} and _counts_rounds(iterable.args[0].value))


def _flat(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _flat(element.value)
    else:
        yield target


def _counted(node: cst.CSTNode) -> cst.BaseExpression | None:
    if type(node) is cst.AugAssign and isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign)):
        return None if isinstance(node.value, (cst.BaseString, cst.List, cst.ListComp)) else node.target
    if type(node) is cst.Assign and len(node.targets) == 1:
        target, value = node.targets[0].target, node.value
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, (cst.Add, cst.Subtract)):
            if isinstance(target, (cst.Name, cst.Attribute)) and value.left.deep_equals(target):
                return target if ex.integer(value.right) is not None else None
        if isinstance(value, cst.Call) and ex.dotted(value.func) == "next" and len(value.args) == 1:
            return target if isinstance(value.args[0].value, (cst.Name, cst.Attribute)) else None
    return None


def _comparisons(part: cst.CSTNode) -> Iterator[cst.Comparison]:
    return (node for node in walk_scope(part) if isinstance(node, cst.Comparison))


def _sides(test: cst.Comparison) -> Iterator[cst.BaseExpression]:
    yield test.left
    yield from (target.comparator for target in test.comparisons)


def _is_huge(value: cst.BaseExpression) -> bool:
    """`float("inf")`, `math.inf`, `sys.maxsize`, `10**15`, `999_999_999`."""
    if isinstance(value, cst.Call):
        return ex.dotted(value.func) == "float" and bool(value.args) and (
            ex.text(value.args[0].value) or ""
        ).lower().lstrip("+") in {"inf", "infinity"}  # fmt: skip
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Power):
        base, power = ex.integer(value.left), ex.integer(value.right)
        return base is not None and power is not None and base > 1 and 0 < power < 1000 and base**power >= _HUGE
    if isinstance(value, cst.Float):
        return value.evaluated_value >= _HUGE
    number = ex.integer(value)
    return (number is not None and number >= _HUGE) or ex.dotted(value) in {
        "math.inf", "np.inf", "numpy.inf", "inf", "sys.maxsize",
    }  # fmt: skip


def _never_ends(iterable: cst.BaseExpression, limits: Limits) -> bool:
    """`itertools.count()`, `iter(int, 1)`, `range(10**15)`."""
    if not isinstance(iterable, cst.Call):
        return False
    name = limits.module.imports.resolve(ex.dotted(iterable.func) or "")
    if name == "range" and iterable.args:
        at = 0 if len(iterable.args) == 1 else 1
        return limits._is_infinite(iterable.args[at].value)
    return name in {"itertools.count", "itertools.cycle", "itertools.repeat"} and len(iterable.args) < 2


def _is_waiting(call: cst.Call) -> bool:
    name = ex.called_name(call)
    if name in _WAITS:
        return True
    owner = (ex.dotted(call.func) or "").lower().rpartition(".")[0]
    if name == "get" and not ex.positional(call):
        return True  # of a queue: a dict's takes a key
    if name in {"get", "get_nowait", "popleft", "pop"}:
        return "queue" in owner
    if name == "ask":
        return owner.rpartition(".")[2] in {"prompt", "confirm", "questionary"} or "questionary" in owner
    if name in {"read", "wait"}:
        return "stdin" in owner or "event" in owner
    return False


def _exits(point: Point) -> bool:
    node = point.statement
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and ex.dotted(node.value.func) in _EXITS
