"""The ways through a function on which its tests agree with each other: the one path query.

What a test has told holds at the next one that asks for it, until a name in it is bound anew or what it names is
changed: `if done: save()` is passed by after `done = False`, and `if calls` is no way out behind `if not calls:
return`. So a flag, a sentinel and a repeated test are facts about the way, and need no rule of their own.

Followed are local names, their attributes, lengths, and comparisons of these with constants; and whether a loop that
counts is in its first turn: `if turn == 0` in `for turn in range(9)`. Attributes of `self` and globals may be changed
by others at any time: both sides are possible.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import build
from lint_rules.syntax.graph import Graph, Kind, Point, solve
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.reaching import Reaching, reaching
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk, walk_scope

Facts = frozenset[tuple[str, "bool | str"]]
"""What is known on a way: tests as code with what they give, and `x ==` with the constant that x is."""
Says = Callable[[cst.CSTNode], "bool | None"]
"""What the header of an `if`, `while` or `case` gives, as far as something else than the way tells."""
Fails = Callable[[Point], bool]
_Step = tuple[Point, Kind, Facts]
_Ahead = tuple["cst.BaseExpression | None", "bool | None", list[_Step]]

_NOTHING: Facts = frozenset()
_MOST_STATES = 12
"""So many different sets of facts are told apart at one point; of more, only what they have in common is kept."""
_CHANGING = frozenset(
    {
        "append", "extend", "insert", "add", "update", "setdefault", "push", "put", "pop", "popleft", "popitem",
        "remove", "discard", "clear", "appendleft",
    }
)  # fmt: skip
_FILLING = frozenset({"append", "add", "insert", "appendleft"})
"""What changes a list, and what leaves something in it."""
_SIZES = frozenset({"len", "bool"})
_READERS = _SIZES | {"getattr", "hasattr"}
"""Functions that only look at what they get."""
_IS, _IS_NOT = (cst.Equal, cst.Is), (cst.NotEqual, cst.IsNot)


@kept
def ways_through(module: SourceModule, function: Scope) -> Ways:
    """The ways through a function, lambda, or the body of a module or class, with what its tests have told on them."""
    node = function.node
    assert isinstance(node, (cst.FunctionDef, cst.Lambda, cst.Module, cst.ClassDef))
    graph = build(node, yields=bool(function.nodes_of(cst.Yield)))
    module.graphs.append(graph)
    ways = Ways(module, function, graph)
    ways.cut_contradictions()
    return ways


@kept
def reaching_in(module: SourceModule, function: Scope) -> Reaching:
    """Which definitions of its names reach which points of a function."""
    return reaching(ways_through(module, function).graph)


class Ways:
    """The ways through one function."""

    def __init__(self, module: SourceModule, function: Scope, graph: Graph) -> None:
        self.module = module
        self.function = function
        self.graph = graph
        self._changes: dict[Point, tuple[frozenset[str], Facts]] = {}
        self._tells: dict[tuple[cst.BaseExpression, bool], tuple[Facts, frozenset[str]]] = {}
        """What each side of a test tells, and of what."""
        self._ahead: dict[tuple[Point, Facts], _Ahead] = {}
        """What comes behind a point on a way that has told so much."""

    def path(
        self,
        start: Iterable[Point],
        goal: Container[Point],
        avoiding: Container[Point] = (),
        *,
        fails: Fails | None = None,
        says: Says | None = None,
        either: Callable[[cst.BaseExpression], bool] | None = None,
    ) -> list[Point] | None:
        """A shortest way from a start that has succeeded to a goal, both included; None where there is none.

        No point between them is in `avoiding`. `fails` says at which points an exception is followed; `raise` always
        is. Of a test of which nothing is known both sides are followed, if it may come out `either` way: as all may
        without it.
        """
        goals = [point for point in self.graph.points if point in goal]
        leading = self.graph.around(goals, before=True, avoiding=avoiding)
        queue = deque((point, self._before.get(point, _NOTHING), False) for point in start if point in leading)
        came_from: dict[tuple[Point, Facts, bool], tuple[Point, Facts, bool] | None] = dict.fromkeys(queue)
        states: Counter[Point] = Counter()
        common: dict[Point, Facts] = {}
        while queue:
            here = queue.popleft()
            point, facts, under_way = here
            for target, kind, known in self._steps(point, facts, says, either):
                if kind == "exception" and not (under_way and fails is not None and fails(point)):
                    continue
                if target in goal:
                    return [*_back(came_from, here), target]
                if target in avoiding or target not in leading:
                    continue
                before = common.get(target, known)
                common[target] = known if before is known else before & known
                if states[target] >= _MOST_STATES:
                    known = common[target]
                state = (target, known, True)
                if state not in came_from:
                    states[target] += 1
                    came_from[state] = here
                    queue.append(state)
        return None

    def _steps(
        self, point: Point, facts: Facts, says: Says | None, either: Callable[[cst.BaseExpression], bool] | None
    ) -> Sequence[_Step]:
        """The ways on from a point, each with what is known behind it."""
        if (point, facts) not in self._ahead:
            self._ahead[point, facts] = self._behind(point, facts)
        test, told, steps = self._ahead[point, facts]
        outcome = says(point.statement) if says is not None and point.statement is not None else None
        if test is not None and outcome is None:
            outcome = told
            if outcome is None and either is not None and not either(test):
                return ()
        if outcome is None:
            return steps
        shut = "false" if outcome else "true"
        return [step for step in steps if step[1] != shut]

    def _behind(self, point: Point, facts: Facts) -> _Ahead:
        """The test at a point, if one is there, what it gives on such a way, and each step with what it tells."""
        after, node = self._after(point, facts), point.statement
        test = node.test if isinstance(node, (cst.If, cst.While)) else None
        if test is None:
            return None, None, [(target, kind, after) for target, kind in point.successors]
        learned = {kind: self._learned(test, kind == "true", after) for kind in ("true", "false")}
        steps = [(target, kind, learned.get(kind, after)) for target, kind in point.successors]
        return test, self.outcome(test, after), steps

    def cut_contradictions(self) -> None:
        """Takes those sides of tests out of the graph that no way can take, as all ways there have told the other."""
        tests = [(point, point.statement.test, facts) for point, facts in self._before.items()
                 if isinstance(point.statement, (cst.If, cst.While))]  # fmt: skip
        told = [(point, outcome) for point, test, facts in tests if (outcome := self.outcome(test, facts)) is not None]
        if told:
            self.graph.cut([(point, "false" if outcome else "true") for point, outcome in told])
            del self._before  # fewer ways may tell more

    # -- what is known on the way -----------------------------------------------------------------------------

    def outcome(self, test: cst.BaseExpression, facts: Facts) -> bool | None:
        """What a test gives where these facts hold."""
        return _outcome(test, dict(facts)) if facts else None

    @cached_property
    def _tracked(self) -> dict[str, frozenset[str]]:
        """The parts of tests that are followed, each with the names in it: asked twice, or known where it is set."""
        asked: Counter[str] = Counter()
        reads: dict[str, frozenset[str]] = {}
        for node in self.function.nodes_of(cst.If, cst.While):
            found = {key: names for key, _, names in _told(node.test, True)}
            found.update({key: names for key, _, names in _told(node.test, False)})
            asked.update(found.keys())
            reads.update(found)
        constant = {
            name
            for node in self.function.nodes_of(cst.Assign, cst.AnnAssign)
            if node.value is not None and _constant(node.value) is not None
            for target in ex.targets(node)
            for name in ex.target_names(target)
        }
        constant |= {
            base.value
            for call in self.function.nodes_of(cst.Call)
            if ex.called_name(call) in _FILLING and isinstance(base := ex.receiver(call), cst.Name)
        }
        own = self.module.self_name(self.function)
        nested = (scope for scope in self.module.rebinding if scope.within(self.function))
        others = {own, *(name for scope in nested for name in scope.foreign)}
        local = {name for names in reads.values() for name in names if name in self.function.bound} - others
        counted = {count.name: count for count in self._counts.values()}
        followed = {
            key: names
            for key, names in reads.items()
            if names <= local and (asked[key] > 1 or names & constant or names & counted.keys())
        }
        asked_for = frozenset().union(*followed.values())
        return followed | {
            count.begun: frozenset({count.begun}) for count in counted.values() if count.name in asked_for
        }

    @cached_property
    def _counts(self) -> dict[cst.CSTNode, _Count]:
        """The loops that count their turns, with what is told of the number in the first of them, and later."""
        loops = self.function.nodes_of(cst.For)
        counts = ((loop, _counted(loop, f"turns {place}")) for place, loop in enumerate(loops))
        return {loop: count for loop, count in counts if count is not None}

    @cached_property
    def _before(self) -> dict[Point, Facts]:
        """What holds before a point on all ways to it."""
        if not self._tracked:
            return {}

        def along(point: Point, kind: Kind, before: Facts, after: Facts) -> Facts:
            node = point.statement
            if kind in {"true", "false"} and isinstance(node, (cst.If, cst.While)):
                return self._learned(node.test, kind == "true", after)
            return before & after if kind == "exception" else after

        untouched = frozenset((count.begun, False) for count in self._counts.values() if count.begun in self._tracked)
        return solve(self.graph, untouched, self._after, frozenset.intersection, along)

    def _learned(self, test: cst.BaseExpression, value: bool, facts: Facts) -> Facts:
        if not self._tracked:
            return facts
        if (test, value) not in self._tells:
            told = frozenset((key, said) for key, said, _ in _told(test, value) if key in self._tracked)
            self._tells[test, value] = told, frozenset(key for key, _ in told)
        new, keys = self._tells[test, value]
        return new.union(fact for fact in facts if fact[0] not in keys) if new else facts

    def _after(self, point: Point, facts: Facts) -> Facts:
        """What still holds behind a point, and what its assignments tell."""
        if not self._tracked or point.statement is None:
            return facts
        if point not in self._changes:
            self._changes[point] = self._changed(point)
        ended, told = self._changes[point]
        if not ended:
            return facts
        count = self._counts.get(point.statement)
        if count is not None and count.begun in self._tracked:
            told |= self._of_turn(count, dict(facts).get(count.begun))
        return frozenset(fact for fact in facts if not self._tracked[fact[0]] & ended) | told

    def _of_turn(self, count: _Count, begun: bool | str | None) -> Facts:
        """What the head of a loop tells of its number, where it is known whether the loop has begun before."""
        found: set[tuple[str, bool | str]] = {(count.begun, True)}
        if begun is not None:
            found.update((key, value is not begun) for key, value in count.first.items())
        if begun is False:
            found.add((f"{count.name} ==", str(count.start)))
        return frozenset(fact for fact in found if fact[0] in self._tracked)

    def _changed(self, point: Point) -> tuple[frozenset[str], Facts]:
        """The names that a point binds or whose values it changes, and what is known of them then."""
        ended: set[str] = set()
        told: set[tuple[str, bool | str]] = set()
        for part in point.expressions():
            for node in walk_scope(part):
                if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.AsName, cst.Del)):
                    ended.update(name for target in _bound(node) for name in _roots(target))
                elif isinstance(node, cst.Call) and ex.called_name(node) in _CHANGING:
                    base = ex.receiver(node)
                    ended.update(_roots(base) if base is not None else ())
                    if isinstance(base, cst.Name) and ex.called_name(node) in _FILLING:
                        told.add((base.value, True))
        statement = point.statement
        if isinstance(statement, cst.For):
            ended.update(_roots(statement.target))
        if isinstance(statement, (cst.For, cst.While)):
            below = self.module.nodes_inside(statement.body, self.function, cst.For)
            for inner in (statement, *below):  # which begin anew in each turn
                if (count := self._counts.get(inner)) is not None:
                    ended.add(count.begun)
                    told.update({(count.begun, False)} if inner is not statement else ())
        elif isinstance(statement, cst.MatchCase):
            ended.update(n.value for n in walk(statement.pattern) if isinstance(n, cst.Name))
        if isinstance(statement, (cst.Assign, cst.AnnAssign)) and statement.value is not None:
            constant = _constant(statement.value)
            for target in ex.targets(statement) if constant is not None else ():
                if isinstance(target, cst.Name) and constant is not None:
                    told.add((target.value, constant[0]))
                    told.add((f"{target.value} ==", constant[1]))
        return frozenset(ended), frozenset(fact for fact in told if fact[0] in self._tracked)


class _Count(NamedTuple):
    """The number of the turn of a loop: its name, where it begins, and what is so in the first turn, and not later.

    `begun` names the fact that the loop has had a turn.
    """

    name: str
    start: int
    first: Mapping[str, bool]
    begun: str


def _counted(loop: cst.For, begun: str) -> _Count | None:
    """`for turn in range(9)`, `for turn, each in enumerate(all, 1)`."""
    counter = ex.inner(loop.iter)
    if not isinstance(counter, cst.Call) or any(arg.star for arg in counter.args):
        return None
    given = [arg.value for arg in counter.args]
    target: cst.BaseExpression = loop.target
    if ex.dotted(counter.func) == "enumerate" and isinstance(target, cst.Tuple):
        target, begins = target.elements[0].value, given[1:]
    elif ex.dotted(counter.func) == "range" and 0 < len(given) < 3:
        begins = given[:-1]
    else:
        return None
    start = ex.integer(begins[0]) if begins else 0
    if start is None or not isinstance(target, cst.Name):
        return None
    name = target.value
    first = {f"{name} == {start}": True, f"{name} != {start}": False, f"{name} > {start}": False}
    first |= {f"{name} >= {start + 1}": False, f"{name} < {start + 1}": True, f"{name} <= {start}": True}
    return _Count(name, start, first | ({name: False} if start == 0 else {}), begun)


def _outcome(test: cst.BaseExpression, known: Mapping[str, bool | str]) -> bool | None:
    def atom(part: cst.BaseExpression) -> bool | None:
        said = known.get(ex.source(part, 200))
        if isinstance(said, bool):
            return said
        equal = _equality(part)
        is_one = known.get(equal[0]) if equal is not None else None
        return None if equal is None or is_one is None else (is_one == equal[1]) is equal[2]

    return evaluate(test, atom)


def _back(
    came_from: dict[tuple[Point, Facts, bool], tuple[Point, Facts, bool] | None], last: tuple[Point, Facts, bool]
) -> list[Point]:
    """The points of the way to a state, first to last."""
    path: list[Point] = []
    here: tuple[Point, Facts, bool] | None = last
    while here is not None:
        path.append(here[0])
        here = came_from[here]
    return path[::-1]


def _told(test: cst.BaseExpression, value: bool) -> Iterator[tuple[str, bool | str, frozenset[str]]]:
    """What a test that gave `value` tells: parts as code, what they give, and the names in them."""
    test = ex.inner(test)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from _told(test.expression, not value)
        return
    if isinstance(test, cst.BooleanOperation):
        if isinstance(test.operator, cst.And) is value:
            yield from _told(test.left, value)
            yield from _told(test.right, value)
        elif (names := _names(test)) is not None:
            yield ex.source(test, 200), value, names
        return
    if isinstance(test, cst.NamedExpr):
        yield from _told(test.target, value)
        return
    if isinstance(test, cst.Call) and len(test.args) == 1 and ex.dotted(test.func) in _SIZES:
        yield from _told(test.args[0].value, value)
        return
    equal = _equality(test)
    if equal is not None and isinstance(test, cst.Comparison):
        names = _names(test.left)
        if names is not None and equal[2] is value:
            yield equal[0], equal[1], names
            if equal[1] in {"None", "''", "0", "False"}:
                yield ex.source(test.left, 200), False, names
        elif names is not None and equal[1] in {"''", "0"}:
            yield from _told(test.left, True)
    names = _names(test)
    if names is not None:
        yield ex.source(test, 200), value, names


def _equality(test: cst.BaseExpression) -> tuple[str, str, bool] | None:
    """`x == 1`, `x is not None`: what is compared, the constant, and whether the test asks for equality."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    left, operator, right = ex.compared(test)
    constant = _constant(right)
    if constant is None or not isinstance(operator, (*_IS, *_IS_NOT)):
        return None
    return f"{ex.source(left, 200)} ==", constant[1], isinstance(operator, _IS)


def _constant(value: cst.BaseExpression) -> tuple[bool, str] | None:
    """Whether a constant is true, and the constant itself; None for anything else."""
    value = ex.inner(value)
    if isinstance(value, cst.Name) and value.value in {"True", "False", "None"}:
        return value.value == "True", value.value
    said = ex.text(value)
    if said is not None:
        return bool(said), repr(said)
    number = ex.integer(value)
    if number is not None:
        return number != 0, str(number)
    if isinstance(value, (cst.List, cst.Dict)) and not value.elements:
        return False, "nothing"
    return None


def _names(part: cst.BaseExpression) -> frozenset[str] | None:
    """The names in a part of a test that is made of names, members and constants alone; None for others."""
    names: set[str] = set()
    for node in walk(part):
        if isinstance(node, cst.Call) and ex.dotted(node.func) not in _SIZES and not _reads_key(node):
            return None
        if isinstance(node, (cst.Lambda, cst.Await, cst.GeneratorExp, cst.ListComp, cst.NamedExpr, cst.IfExp)):
            return None
        if isinstance(node, cst.Name) and node.value not in ex.CONSTANTS | _READERS:
            names.add(node.value)
    return frozenset(names) if names else None


def _reads_key(call: cst.Call) -> bool:
    """`reply.get("tool_calls")`, `hasattr(reply, "tool_calls")`: what is read under a name that stands there."""
    named = [ex.text(arg.value) for arg in call.args]
    if ex.called_name(call) == "get":
        return ex.receiver(call) is not None and len(named) > 0 and named[0] is not None
    return ex.dotted(call.func) in _READERS and len(named) > 1 and named[1] is not None


def _bound(node: cst.CSTNode) -> list[cst.BaseExpression]:
    if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.NamedExpr)):
        return ex.targets(node)
    if isinstance(node, cst.AsName):
        return [node.name]
    return [node.target] if isinstance(node, cst.Del) else []


def _roots(target: cst.BaseExpression) -> Iterator[str]:
    """The names that are bound, or whose value is changed: `x` of `x`, `x.y` and `x[0]`."""
    while isinstance(target, (cst.Attribute, cst.Subscript)):
        target = target.value
    yield from ex.target_names(target)
