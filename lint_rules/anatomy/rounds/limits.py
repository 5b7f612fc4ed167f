"""What ends a loop of rounds: a limit, the model's own word, somebody outside, or something that is not understood.

A branch decides about leaving when from one of its sides the loop's head can't be reached any more. What it hangs on
is followed backwards: through the assignments in the loop, the tests they stand under, and the returns of functions
of this file. A limit is a test there of something that grows by itself (a counter, the clock, the history's length,
tokens, cost) or that is called like a limit; or an exception that such a test raises in a function the loop calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.rounds.bounds import COMPARES, OUTSIDE, Bounds, comparisons, sides_of
from lint_rules.anatomy.rounds.exits import Exits, Loop
from lint_rules.anatomy.rounds.offers import may_withdraw
from lint_rules.anatomy.rounds.rounds import counts_rounds
from lint_rules.anatomy.rounds.slices import Slice
from lint_rules.anatomy.rounds.waits import Waits
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk


class Cause(Enum):
    """What a decision to leave hangs on."""

    LIMIT = "a limit"
    REPLY = "the model's reply"
    OUTSIDE = "somebody outside"
    UNKNOWN = "something else"


@record
class Decision:
    """A branch after one side of which the loop is over. `limit` is the test that makes it a limit."""

    node: cst.CSTNode
    cause: Cause
    limit: cst.CSTNode | None = None


@record
class Endless:
    """A comparison of what grows with a bound that is none: `bound` is `float("inf")`, `sys.maxsize`, `10**15`."""

    test: cst.Comparison
    bound: cst.BaseExpression


@record
class Exhaustion:
    """A way out of the loop when the rounds are used up: the branch, and the points that follow.

    `pure` says that the branch asks for nothing else.
    """

    node: cst.CSTNode
    pure: bool
    after: list[Point]


_OVER = re.compile(r"(exceed|exhaust|expired|timed_out|too_(many|long))", re.IGNORECASE)
"""Names that say that a limit is passed: where the loop goes on then, it is none of the loop's."""
_RATE = re.compile(r"(^|[._])(rate|rpm|tpm|rps|throttle)", re.IGNORECASE)
"""What slows the rounds down, and ends none."""
OFFERS = re.compile("tool|function")
"""Keywords by which a model is offered tools, or told to leave them: `tools`, `tool_choice`, `function_call`."""
_SETTERS = ("set", "reset", "extend", "renew", "configure")
"""How names begin of what sets something. Breaks a tie, no more: of what it gets nothing moves either."""
_GUARDS = frozenset({"timeout", "timeout_at", "move_on_after", "fail_after", "move_on_at", "fail_at", "wait_for"})


class Limits:
    """How one loop ends. `node` is a `while` or `for` of `function`; or that itself, with the `exits` of its calls."""

    def __init__(self, anatomy: Anatomy, node: Loop, function: Scope, exits: Exits | None = None) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self.node = node
        self.function = function
        self.exits = exits or Exits(anatomy, node, function)
        self.slice = Slice(anatomy, node, function)
        self.bounds = Bounds(self.slice)

    @cached_property
    def decisions(self) -> list[Decision]:
        """The branches that decide about leaving, in source order."""
        return [self._judged(point) for point in self.exits.deciding]

    @cached_property
    def limit(self) -> cst.CSTNode | None:
        """What bounds the rounds, if anything: an iterable, a test, a guard around the loop, a call that may raise."""
        if isinstance(self.node, cst.For) and not self._never_ends(self.node.iter):
            return self.node.iter
        found = next((d.limit for d in self.decisions if d.limit is not None), None)
        return found if found is not None and not self._goes_past(self._limiting) else self.elsewhere()

    @cached_property
    def _limiting(self) -> set[Point]:
        """Where a limit is tested."""
        tests = (decision.node for decision in self.decisions if decision.limit is not None)
        return {point for test in tests for point in self.exits.graph.at(test)}

    def _goes_past(self, met: set[Point]) -> bool:
        """Whether the loop comes from a request whose reply has calls to the next one, and meets none of these."""
        ways = self.anatomy.ways(self.function)
        return any(ways.path([ask], {ask}, met, says=self._told.outcome) is not None for ask in self._asking - met)

    @cached_property
    def _told(self) -> ToldByReply:
        return ToldByReply(self.anatomy, self.function)

    @cached_property
    def _asking(self) -> set[Point]:
        """Where the loop asks: itself, not in a loop within it."""
        calls = self.anatomy.calls.calls_within(self.node, self.function)
        asks = (call for call in calls if self.anatomy.calls.asks(call) and self.module.loop_around(call) is self.node)
        return {point for call in asks for point in self.exits.graph.enclosing(call, self.module.parent)}

    @cached_property
    def rest(self) -> Decision | None:
        """A branch by which a reply decides whether somebody is waited for, or a limit tested, before the next request.

        `if not reply.tool_calls: listening = True`: on the other side the rounds go on by themselves.
        """
        if isinstance(self.node, cst.FunctionDef):
            return None
        met = self._limiting | Waits(self.anatomy.calls, self.anatomy.flow).points(self.node, self.function)
        if not met or not self._goes_past(met):
            return None
        ways, asking = self.anatomy.ways(self.function), self._asking - met
        for test in self.module.nodes_inside(self.node.body, self.function, cst.If):
            points = [point for point in self.exits.graph.at(test) if point not in met]
            if points and self.slice.hold_reply(list(self.slice.of([test.test]))):
                sides = [target for point in points for target, kind in point.successors if kind in {"true", "false"}]
                again = [side in asking or ways.path([side], asking, met) is not None for side in sides]
                if any(again) and not all(again):
                    return Decision(test, Cause.REPLY)
        return None

    @cached_property
    def waits(self) -> cst.CSTNode | None:
        """A call that waits for a person or a message in each round: it is then somebody's wish."""
        if isinstance(self.node, cst.FunctionDef):
            return None
        return Waits(self.anatomy.calls, self.anatomy.flow).in_each_round(self.node, self.function)

    def _judged(self, point: Point) -> Decision:
        assert point.statement is not None
        tested = self.exits.tested(point)
        parts = list(self.slice.of(tested))
        if isinstance(point.statement, cst.For):  # how often it goes round is no number of rounds
            return Decision(point.statement, Cause.REPLY if self.slice.hold_reply(parts) else Cause.UNKNOWN)
        limit = next((found for part in parts if (found := self.bounds.limit_in(part)) is not None), None)
        limit = limit or self.bounds.verdict_in(tested)
        if limit is not None and not (limit in self._plain(point) and self.exits.stays_when_true(point)):
            return Decision(point.statement, Cause.LIMIT, limit)
        if self.slice.hold_reply(parts):
            return Decision(point.statement, Cause.REPLY)
        names = [ex.last_name(node) for part in tested for node in walk(part)]
        outside = any(name and OUTSIDE.search(name) for name in names)
        return Decision(point.statement, Cause.OUTSIDE if outside else Cause.UNKNOWN)

    def _plain(self, point: Point) -> list[cst.CSTNode]:
        """What a test says without a `not`: `exceeded`, `is_exceeded(error)`."""
        tests = [part.func if isinstance(part, cst.Call) else part for part in point.expressions()]
        return [
            test for test in tests if isinstance(test, (cst.Name, cst.Attribute)) and _OVER.search(ex.last_name(test))
        ]

    # -- rounds that are used up ------------------------------------------------------------------------------

    def running_out(self) -> list[Exhaustion]:
        """The ways out that the number of rounds alone opens: the end of a `range`, a test of a counter."""
        found = []
        if isinstance(self.node, cst.For):
            if self.limit is self.node.iter and counts_rounds(self.node.iter):
                heads = self.anatomy.flow(self.function).at(self.node)
                found.append(
                    Exhaustion(self.node, True, [t for p in heads for t, kind in p.successors if kind == "false"])
                )
        for point in self.exits.deciding:
            tests = [test for part in self.exits.tested(point) for test in comparisons(part) if self._counts(test)]
            if tests and point.statement is not None:
                pure = self.exits.tested(point) == tests
                found.append(Exhaustion(point.statement, pure, self.exits.behind(point)))
        return found

    def _counts(self, test: cst.Comparison) -> bool:
        """Whether a comparison holds a counter of the loop against a bound."""
        if not isinstance(test.comparisons[0].operator, COMPARES):
            return False
        own = ex.target_names(self.node.target) if isinstance(self.node, cst.For) else []
        return any(self.bounds.is_counter(side) or ex.last_name(side) in own for side in _plain_sides(test))

    # -- limits that are none ---------------------------------------------------------------------------------

    @cached_property
    def endless(self) -> list[Endless]:
        """Comparisons that look like a limit and are none."""
        found: list[Endless] = []
        for point in self.exits.deciding:
            for part in self.slice.of(self.exits.tested(point)):
                for test in comparisons(part):
                    bound = next((b for b in sides_of(test) if self.bounds.is_infinite(b)), None)
                    if bound is not None and not any(e.test is test for e in found):
                        found.append(Endless(test, bound))
        return found

    @cached_property
    def idle(self) -> cst.Comparison | None:
        """A test that looks like a limit, after which the loop goes on."""
        return next((test for _, test in self.counted()), None)

    def counted(self) -> Iterator[tuple[cst.If, cst.Comparison]]:
        """The tests in the loop of what counts its rounds."""
        tests = ((node, test) for node in nodes_below(self.node.body, cst.If) for test in comparisons(node.test))
        return (each for each in tests if any(map(self.bounds.is_counter, _plain_sides(each[1]))))

    def _never_ends(self, iterable: cst.BaseExpression) -> bool:
        """`itertools.count()`, `iter(int, 1)`, `range(10**15)`."""
        if not isinstance(iterable, cst.Call):
            return False
        name = self.module.full_name(iterable.func)
        if name == "range" and iterable.args:
            at = 0 if len(iterable.args) == 1 else 1
            return self.bounds.is_infinite(iterable.args[at].value)
        return name in {"itertools.count", "itertools.cycle", "itertools.repeat"} and len(iterable.args) < 2

    # -- limits that are no branch of the loop ----------------------------------------------------------------

    def elsewhere(self) -> cst.CSTNode | None:
        """A limit that is no branch of the loop."""
        return self._offer_limit() or self._guard() or self._raising()

    def _offer_limit(self) -> cst.CSTNode | None:
        """A limit after which the model is offered no tools any more."""
        for call in self.anatomy.calls.calls_within(self.node, self.function):
            if not self.anatomy.calls.asks(call):
                continue
            made = self.anatomy.transcript.messages.dicts.made
            given = [
                item for each in (call, *self.anatomy.calls.in_lambdas(call)) for item in made(each, {}).items.items()
            ]
            told = [value for key, value in given if OFFERS.search(key) and may_withdraw(self.anatomy, value)]
            tests = [test for value in told for test in self.slice.tests(value, self.function)]
            for part in self.slice.of([*told, *tests]):
                found = self.bounds.limit_in(part)
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
        for function in self.slice.called:
            for node in function.nodes:
                if isinstance(node, cst.Raise):
                    for test in self.slice.tests(node, function):
                        if any(self.bounds.is_limit(inside) for inside in comparisons(test)):
                            return test
        for call in self.anatomy.calls.calls_within(self.node, self.function):
            if isinstance(self.module.statement(call), cst.Expr) and self.facts.slots.callee(call) is None:
                name = ex.dotted(call.func) or "" if not _sets_only(call) else ""
                if re.search(r"limit|budget|quota|deadline|timeout", name, re.IGNORECASE) and not _RATE.search(name):
                    return call
        return None


def _sets_only(call: cst.Call) -> bool:
    """`box.set_timeout(60)`: it sets what is the same in each round, and tests nothing; `budget.spend(1)` may."""
    given = [arg.value for arg in call.args]
    constant = bool(given) and all(isinstance(value, (cst.BaseNumber, cst.BaseString)) for value in given)
    return constant and ex.called_name(call).startswith(_SETTERS)


def _plain_sides(test: cst.Comparison) -> list[cst.Name | cst.Attribute]:
    return [side for side in sides_of(test) if isinstance(side, (cst.Name, cst.Attribute))]
