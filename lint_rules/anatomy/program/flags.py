"""What keeps two runs of the same code apart, beside locks: busy flags, which a run takes if it finds them free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program.concurrency import runs_per_event
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.walk import walk

_CLAIMS = frozenset(
    {"add", "set", "append", "acquire", "put", "put_nowait", "setdefault", "update", "discard", "clear"}
)
_RELEASES = frozenset({"discard", "remove", "pop", "delete", "delete_key", "adelete", "unlink"})
_PUTS = frozenset({"set", "setex", "psetex", "setnx", "put", "aset"})
_TIMES = frozenset({"time", "monotonic", "now", "utcnow", "perf_counter"})


class Flags:
    """The busy flags of one file: what is taken by those that find it free."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self._tests: dict[Scope, list[_Test]] = {}

    def taken(self, function: Scope) -> set[Slot]:
        """The places that a function binds, or puts something in: what it may say to others that it is busy by."""
        return {claim.slot for claim in _taken(self.anatomy, function)}

    def asked(self, test: cst.If | cst.While) -> set[Slot]:
        """The places that a test looks at."""
        return set(_flags(self.anatomy, test))

    def tests_before(self, node: cst.CSTNode, function: Scope) -> Iterator[tuple[cst.If | cst.While, bool]]:
        """The tests that decide whether a function comes to a node, each with the outcome that leads there."""
        module = self.anatomy.module
        for test in function.nodes_of(cst.If, cst.While):
            within = module.inside(node, test.body)
            if within or (test.orelse is not None and module.inside(node, test.orelse)):
                yield test, within
            elif _turns_away(test) and _comes_first(self.anatomy, function, test, node):
                yield test, False

    def guard(self, node: cst.CSTNode, function: Scope) -> bool:
        """Whether a node runs only if a flag was free, which is taken there: `if self.busy: return; self.busy = True`.

        The flag may be a set of keys, a task or thread that is looked at (`task.done()`), or an event. Between test and
        claim nothing may be awaited, lest another run passes the test meanwhile.
        """
        return next(self._claims(node, function), None) is not None

    def keep_apart(self, one: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether two nodes run only if the same flag was free, and both take it: one of them runs at a time."""
        first, second = (self._taken_at(node) for node in (one, other))
        return not first.isdisjoint(second)

    def _taken_at(self, node: cst.CSTNode) -> set[Slot]:
        function = self.anatomy.module.scope_of[node].function
        claims = {*self._claims(node, function)}
        return {each.slot for each in _taken(self.anatomy, function) if each.node in claims} if claims else set()

    def _claims(self, node: cst.CSTNode, function: Scope) -> Iterator[cst.CSTNode]:
        if function.kind == "class":  # a body that runs once, when the file is imported
            return
        if function not in self._tests:
            self._tests[function] = list(_tests(self.anatomy, function))
        for test, claims in self._tests[function]:
            if _comes_first(self.anatomy, function, test, node):
                for claim in claims:
                    if self._goes_with(claim, node, function) and self._is_kept_out(node, test, claim):
                        if not _is_freed_beside(self.anatomy, claim):
                            yield claim

    def _goes_with(self, claim: cst.CSTNode, node: cst.CSTNode, function: Scope) -> bool:
        """Whether those who come to a node make a claim, before or behind it: not those who make it and leave."""
        leads = self.anatomy.leads
        within = self.anatomy.module.inside(node, claim)
        return within or leads(function, [claim], [node]) or leads(function, [node], [claim])

    def _is_kept_out(self, node: cst.CSTNode, test: cst.If | cst.While, claim: cst.CSTNode) -> bool:
        """Whether a test that finds something under way keeps a node from running, or ends what it has begun before.

        What is ended must be what runs there, or tell it to stop: `self.task.cancel(); self.task = create_task(...)`.
        """
        module, slots = self.anatomy.module, self.anatomy.facts.slots
        flags: dict[_Claimed, set[Slot]] = {}
        for each in _taken(self.anatomy, module.scope_of[claim].function):
            if each.node is claim:
                flags.setdefault(each.said, set()).add(each.slot)
        apart = any(module.inside(claim, part) != module.inside(node, part) for part in (test, test.body))
        begun = claim if apart and self._is_behind(node, claim) else node
        away = not module.inside(begun, test.body)
        if not any(_decides(self.anatomy, test.test, of, said, outcome=away) for said, of in flags.items()):
            return False
        if _leaves(test) or module.inside(begun, test):
            return True
        if not _ends_something(test):
            return False
        if module.inside(node, claim) or not isinstance(claim, (cst.Assign, cst.AnnAssign)):
            return True
        taken = {slots.of(target) for target in ex.targets(claim)} - {None}
        reads = (slots.of(part) for part in walk(node) if ex.reads_place(part))
        made = ex.inner(claim.value) if claim.value is not None else None
        return not taken.isdisjoint(reads) or (isinstance(made, cst.Call) and ex.called_name(made) == "Event")

    def _is_behind(self, node: cst.CSTNode, claim: cst.CSTNode) -> bool:
        """Whether only those who make a claim come to a node, as tests on the way tell: `if free: busy = go = True`."""
        function = self.anatomy.module.scope_of[claim].function
        ways, claimed = self.anatomy.ways(function), set(self.anatomy.points(function, [claim]))
        goals = set(self.anatomy.points(function, [node])) - claimed
        return bool(goals) and ways.path([ways.graph.entry], goals, claimed) is None


_Test = tuple["cst.If | cst.While", list[cst.CSTNode]]
"""A test, and where what it asks for is claimed."""


def _tests(anatomy: Anatomy, function: Scope) -> Iterator[_Test]:
    """Where a function tests a flag that it takes then, with nothing awaited between."""
    tests = function.nodes_of(cst.If, cst.While)
    taken: dict[Slot, list[cst.CSTNode]] = {}
    for claim in _taken(anatomy, function) if tests else ():
        taken.setdefault(claim.slot, []).append(claim.node)
    for test in tests if taken else ():
        flags = [
            flag for flag in _flags(anatomy, test) if not _sets_first(anatomy, function, test, taken.get(flag, ()))
        ]
        claims = [claim for flag in flags for claim in taken.get(flag, ())]
        taking = [
            claim
            for claim in claims
            if not anatomy.module.before(claim, test)
            and _ends(anatomy, function, claim)
            and anatomy.leads(function, [test], [claim])
            and not _waits_between(anatomy, function, test, claim)
        ]
        if taking:
            yield test, taking


@kept
def _is_freed_beside(anatomy: Anatomy, claim: cst.CSTNode) -> bool:
    """Whether somebody else frees a flag, who asks what runs behind it to end, and does not wait until it has.

    `self.stopped.set(); self.busy = False`: a run that is in the middle of a tool goes on.
    """
    module, function = anatomy.module, anatomy.module.scope_of[claim].function
    flags = {each.slot for each in _taken(anatomy, function) if each.node is claim and each.said[0] == "True"}
    run = _run_behind(anatomy, claim, function) if flags else set()
    for other in module.functions if flags else ():
        offs = [node for node in other.nodes_of(cst.Assign) if ex.dotted(node.value) == "False"]
        frees = any(not flags.isdisjoint(map(anatomy.facts.slots.of, ex.targets(node))) for node in offs)
        if frees and other not in run and not other.waits:
            calls = other.nodes_of(cst.Call)
            waits = any(ex.called_name(call) in {"join", "result", "wait"} for call in calls)
            if not waits and (any(_sets_event(anatomy, call) for call in calls) or _sets_mark(anatomy, other, run)):
                return True
    return False


def _run_behind(anatomy: Anatomy, claim: cst.CSTNode, function: Scope) -> set[Scope]:
    """The function that makes a claim, and what it calls, or hands on, from there."""
    graph = anatomy.calls
    named = [(f, node) for f, nodes in graph.references.items() for node in nodes]
    named = [each for each in named if anatomy.module.scope_of[each[1]].function is function]
    named += [(site.callee, site.node) for site in graph.calls[function]]
    after = (f for f, node in named if anatomy.leads(function, [claim], [node]))
    return {function}.union(*map(graph.may_run, after))


def _sets_event(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call sets an event, or runs a method of the project that does: `self.run.cancel()`."""
    found = body(anatomy, call)
    there, calls = (found[0], found[1].nodes_of(cst.Call)) if found is not None else (anatomy, [call])
    bases = [there.facts.slots.of(ex.receiver(each)) for each in calls if ex.called_name(each) == "set"]
    made = (value for slot in bases if slot is not None for value in there.facts.assigned(slot))
    return any(isinstance(value, cst.Call) and ex.called_name(value) == "Event" for value in made)


def _sets_mark(anatomy: Anatomy, function: Scope, run: Iterable[Scope]) -> bool:
    """Whether a function sets something to True that what runs looks at: `self.stopping = True`."""
    of = anatomy.facts.slots.of
    ons = (node for node in function.nodes_of(cst.Assign) if ex.dotted(node.value) == "True")
    marks = {slot for node in ons for slot in map(of, ex.targets(node)) if not _is_local(slot, function)}
    tests = (test for here in run if marks for test in here.nodes_of(cst.If, cst.While))
    return any(not marks.isdisjoint(_flags(anatomy, test)) for test in tests)


def _sets_first(anatomy: Anatomy, function: Scope, test: cst.CSTNode, taken: Iterable[cst.CSTNode]) -> bool:
    """Whether a function always sets a flag before it looks at it: `self.on = True; while self.on: ...`.

    What it finds there is its own, whoever else may be under way. A local name stands for what earlier rounds began.
    """
    rounds = _loops_around(anatomy, test, function)[:1]
    return any(
        isinstance(node, (cst.Assign, cst.AnnAssign))
        and isinstance(target := ex.targets(node)[0], (cst.Name, cst.Attribute))
        and (
            not _is_local(anatomy.facts.slots.of(target), function)
            or any(anatomy.module.inside(node, loop) for loop in rounds)
        )
        and not anatomy.module.inside(node, test)
        and _comes_first(anatomy, function, node, test)
        for node in taken
    )


def _ends(anatomy: Anatomy, function: Scope, claim: cst.CSTNode) -> bool:
    """Whether what a claim takes is given back, where that does not go by itself: a counter, a mark among others.

    Those that are never taken out tell messages apart that were seen, and a counter that only grows counts rounds:
    neither says that a run is under way.
    """
    if isinstance(claim, cst.AugAssign):
        others = (node for node in function.nodes_of(cst.Assign, cst.AugAssign) if node is not claim)
        slot = anatomy.facts.slots.of(claim.target)
        return any(slot in map(anatomy.facts.slots.of, ex.targets(other)) for other in others)
    if isinstance(claim, cst.Call) and ex.called_name(claim) in _PUTS and len(ex.positional(claim)) > 1:
        return _is_taken_out(anatomy, claim)
    base = _marked(anatomy, claim)
    slot = anatomy.facts.slots.of(base)
    return slot is None or slot in _given_back(anatomy, anatomy.module.top)


def _is_taken_out(anatomy: Anatomy, put: cst.Call) -> bool:
    """Whether what is put into a store under a key is taken out of it again: not what only runs out after a while."""
    of, base, key = anatomy.facts.slots.of, ex.receiver(put), _form(anatomy, put.args[0].value)
    for call in (node for node in anatomy.module.nodes_of(cst.Call) if node.args):
        named = ex.called_name(call)
        out = named in _RELEASES or (named in _PUTS and ex.dotted(call.args[-1].value) in {"False", "None"})
        where = ex.receiver(call) if out else None
        if where is not None and base is not None and of(where) == of(base):
            if _form(anatomy, call.args[0].value) == key:
                return True
    return False


def _form(anatomy: Anatomy, key: cst.BaseExpression) -> str:
    """How a key is spelled, whatever names stand in it for what it is about: `busy:{}` of `f"busy:{room}"`."""
    slot = anatomy.facts.slots.of_name(key)
    made = anatomy.facts.assigned(slot)
    value = ex.inner(made[0]) if len(made) == 1 else ex.inner(key)
    if isinstance(value, cst.FormattedString):
        return "".join(part.value if isinstance(part, cst.FormattedStringText) else "{}" for part in value.parts)
    return "{}" if isinstance(value, cst.Name) else ex.source(value, 80)


def _marked(anatomy: Anatomy, claim: cst.CSTNode) -> cst.BaseExpression | None:
    """`seen` of `seen.add(key)`, `seen[key] = True`, `seen[key] = time.time()`; not of `tasks[key] = task`."""
    if isinstance(claim, cst.Call):
        return ex.receiver(claim) if ex.called_name(claim) in {"add", "append"} else None
    target = claim.targets[0].target if isinstance(claim, cst.Assign) else None
    if not isinstance(claim, cst.Assign) or not isinstance(target, cst.Subscript):
        return None
    value = ex.inner(claim.value)
    if isinstance(value, cst.Name) and len(made := list(_values(anatomy, value))) == 1:
        value = ex.inner(made[0])
    plain = ex.called_name(value) in _TIMES if isinstance(value, cst.Call) else ex.dotted(value) in ex.CONSTANTS
    return target.value if plain else None


def _values(anatomy: Anatomy, name: cst.Name) -> Iterable[cst.BaseExpression]:
    return anatomy.facts.values_of(name)


@kept
def _given_back(anatomy: Anatomy, top: Scope) -> frozenset[Slot | None]:
    """What something is taken out of in a module, by its key; not what a loop clears of what is old."""
    return frozenset(map(anatomy.facts.slots.of, _taken_out_of(anatomy)))


def _taken_out_of(anatomy: Anatomy) -> Iterator[cst.BaseExpression]:
    module = anatomy.module
    for node in module.nodes_of(cst.Attribute, cst.Del, cst.Assign):
        if any(isinstance(outer, cst.For) for outer in _within(module, node, module.scope_of[node].function)):
            continue
        if isinstance(node, cst.Attribute):
            call = module.parent[node]
            named = node.attr.value in _RELEASES and not (
                isinstance(call, cst.Call) and call.func is node and not call.args
            )
            yield from [node.value] if named else []
        elif isinstance(node, cst.Del):
            yield from [node.target.value] if isinstance(node.target, cst.Subscript) else []
        elif isinstance(node, cst.Assign) and ex.dotted(node.value) in {"False", "None"}:
            yield from (target.value for target in ex.targets(node) if isinstance(target, cst.Subscript))


def _comes_first(anatomy: Anatomy, function: Scope, test: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether there is no way to a node of a function but through a test."""
    if function.kind == "class":
        return False
    flow = anatomy.flow(function)
    goals = flow.enclosing(node, anatomy.module.parent)
    return bool(goals) and any(all(flow.dominates(point, goal) for goal in goals) for point in flow.at(test))


def _turns_away(test: cst.If | cst.While) -> bool:
    """Whether the body of the test leaves, or ends what runs: cancels, awaits or joins it."""
    return _leaves(test) or _ends_something(test)


def _leaves(test: cst.If | cst.While) -> bool:
    """Whether the body of a test leaves, or waits for what runs."""
    return any(isinstance(n, (cst.Return, cst.Raise, cst.Continue, cst.Break, cst.Await)) for n in walk(test.body))


def _ends_something(test: cst.If | cst.While) -> bool:
    calls = (node for node in walk(test.body) if isinstance(node, cst.Call))
    return any(ex.called_name(call) in {"cancel", "join", "stop", "set", "wait"} for call in calls)


_PUTS_IN, _TAKES_OUT = frozenset({"add", "append", "setdefault"}), frozenset({"discard", "clear"})
_Claimed = tuple["str | None", "bool | None"]
"""What a claim says: the constant that a flag is set to, as it is written, and whether a key is there from now on.

None for anything else.
"""


def _said(claim: cst.CSTNode) -> _Claimed:
    if isinstance(claim, cst.Call):
        name = ex.called_name(claim)
        return None, (name in _PUTS_IN) if name in _PUTS_IN | _TAKES_OUT else None
    value = claim.value if isinstance(claim, (cst.Assign, cst.AnnAssign)) else None
    said = ex.dotted(value) if value is not None else None
    keyed = isinstance(claim, cst.Assign) and any(isinstance(target, cst.Subscript) for target in ex.targets(claim))
    return said if said in {"True", "False", "None"} else None, keyed or None


def _decides(anatomy: Anatomy, test: cst.BaseExpression, flags: set[Slot], said: _Claimed, *, outcome: bool) -> bool:
    """Whether flags that are taken alone give a test an outcome, whatever else it asks.

    Not in `if busy and not urgent: return`, nor where what it is set to is no reason: `if busy: return; busy = False`,
    `if key in talks: talks[key] = []`.
    """
    test = ex.inner(test)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _decides(anatomy, test.expression, flags, said, outcome=not outcome)
    if isinstance(test, cst.BooleanOperation):
        sides = (_decides(anatomy, side, flags, said, outcome=outcome) for side in (test.left, test.right))
        return all(sides) if isinstance(test.operator, cst.And) == outcome else any(sides)
    constant, is_there = said
    if constant is not None and isinstance(test, (cst.Name, cst.Attribute)) and anatomy.facts.slots.of(test) in flags:
        return (constant == "True") == outcome
    if is_there is not None and isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        _, operator, among = ex.compared(test)
        if isinstance(operator, (cst.In, cst.NotIn)) and anatomy.facts.slots.of(among) in flags:
            return (isinstance(operator, cst.In) == is_there) == outcome
    return not flags.isdisjoint(_read(anatomy, test))


def _flags(anatomy: Anatomy, test: cst.If | cst.While) -> Iterator[Slot]:
    """What a test looks at."""
    yield from _read(anatomy, test.test)


def _read(anatomy: Anatomy, asked: cst.BaseExpression, seen: frozenset[Scope] = frozenset()) -> Iterator[Slot]:
    """What an expression looks at, and what is looked at of that: `self.task` of `self.task.done()`.

    Of a property, also what that looks at.
    """
    for node in walk(asked):
        if ex.reads_place(node):
            slot, getter = anatomy.facts.slots.of(node), anatomy.facts.slots.getter(node)
            if getter is not None and getter not in seen:
                for given in getter.returned:
                    yield from _read(anatomy, given, seen | {getter})
            if slot is not None:
                yield slot
                while slot[0] in {"item", "member"}:
                    slot = slot[1]
                    yield slot


class _Claim(NamedTuple):
    """What a node binds, or puts something in, and what it says by that."""

    slot: Slot
    node: cst.CSTNode
    said: _Claimed


@kept
def _taken(anatomy: Anatomy, function: Scope) -> list[_Claim]:
    """What a function claims; but by its local names, if they tell nobody else.

    Also by a method, of an object that others have, too, if that waits for nothing before: `if desk.busy: return`,
    `desk.begin(text)`.
    """
    found = [*_taken_here(anatomy, function)]
    for call in function.nodes_of(cst.Call):
        base = ex.receiver(call)
        run = body(anatomy, call) if base is not None and _is_shared(anatomy, base, function) else None
        for claim in _taken_here(*run) if run is not None else ():
            waits = run is not None and any(run[0].module.before(wait, claim.node) for wait in run[1].waits)
            slot = anatomy.facts.slots.member(base, claim.slot[2]) if base is not None and _begins(claim) else None
            if slot is not None and not waits:
                found.append(claim._replace(slot=slot, node=call))
    return found


def _is_shared(anatomy: Anatomy, base: cst.BaseExpression, function: Scope) -> bool:
    """Whether the object of a method outlives the function that calls it, as its own one may."""
    return anatomy.facts.is_self(base) or anatomy.aliases.lasting_at(base, function) is not None


def _begins(claim: _Claim) -> bool:
    """Whether a claim sets a flag of an object, or keeps what was begun: `self.busy = True`, `self.run = Thread()`."""
    value = ex.inner(claim.node.value) if isinstance(claim.node, cst.Assign) else None
    return claim.slot[0] == "attr" and (claim.said[0] is not None or isinstance(value, cst.Call))


@kept
def _taken_here(anatomy: Anatomy, function: Scope) -> list[_Claim]:
    placed = ((place, node, anatomy.facts.slots.of(place)) for place, node in _stores(function))
    return [
        _Claim(slot, node, _said(node))
        for place, node, slot in placed
        if slot is not None
        and not _is_private(anatomy, slot, function)
        and not _is_of_run(anatomy, slot, function, place)
    ]


def _is_local(slot: Slot | None, function: Scope) -> bool:
    return slot is not None and slot[:2] == ("var", function) and not function.foreign.get(slot[2])


def _is_private(anatomy: Anatomy, slot: Slot, function: Scope) -> bool:
    """Whether a local name tells nobody that something is under way.

    It tells the function itself, in the next round of its loop, if it is set back only when that is over: by what is
    begun, or behind a test of what that sets. Not where the function runs for each event.
    """
    if not _is_local(slot, function):
        return False
    return runs_per_event(anatomy.calls, function) or not _is_told_over(anatomy, slot, function)


def _is_told_over(anatomy: Anatomy, slot: Slot, function: Scope) -> bool:
    module, of = anatomy.module, anatomy.facts.slots.of
    within = [inner for inner in module.functions if inner is not function and inner.within(function)]
    lines = [node for inner in within for node in inner.nodes_of(cst.Assign)]
    told = {place for node in lines for place in map(of, ex.targets(node))}
    lines += function.nodes_of(cst.Assign)
    offs = [n for n in lines if ex.dotted(n.value) in {"False", "None"} and slot in map(of, ex.targets(n))]
    offs = [n for n in offs if module.scope_of[n].function is not function or _loops_around(anatomy, n, function)]
    return bool(offs) and all(
        module.scope_of[off].function is not function
        or any(
            holds and isinstance(test, cst.If) and not told.isdisjoint(_read(anatomy, test.test))
            for test, holds in passed(module, off, function.node)
        )
        for off in offs
    )


def _loops_around(anatomy: Anatomy, node: cst.CSTNode, function: Scope) -> list[cst.CSTNode]:
    """The loops of a function that a node stands in, inner ones first."""
    return [outer for outer in _within(anatomy.module, node, function) if isinstance(outer, (cst.While, cst.For))]


def _within(module: SourceModule, node: cst.CSTNode, function: Scope) -> Iterator[cst.CSTNode]:
    """What a node of a function stands in there, inner ones first."""
    return takewhile(lambda outer: outer is not function.node, module.ancestors(node))


def _is_of_run(anatomy: Anatomy, slot: Slot, function: Scope, place: cst.BaseExpression) -> bool:
    """Whether something is kept in what nobody else has: the event of a handler, a dict that was made or loaded."""
    kept = anatomy.aliases.of(slot)
    root = root_object(kept)
    if is_parameter(root):
        return function in anatomy.calls.servings and not anatomy.aliases.is_lasting(kept, function)
    return type(place) is cst.Subscript and root[:2] == ("var", function) and not function.foreign.get(root[2])


def _stores(function: Scope) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """The targets and receivers of a function's assignments and calls."""
    for node in (*function.nodes_of(cst.Assign, cst.AnnAssign), *function.nodes_of(cst.AugAssign)):
        for target in ex.targets(node):
            yield target, node
            if type(target) is cst.Subscript:
                yield target.value, node
    for call in function.nodes_of(cst.Call):
        base = ex.receiver(call) if ex.called_name(call) in _CLAIMS else None
        if base is not None:
            yield base, call


def _waits_between(anatomy: Anatomy, function: Scope, test: cst.If | cst.While, claim: cst.CSTNode) -> bool:
    """Whether something is awaited on a way from the test to the claim, but to end the run that is under way.

    In a thread, whatever takes long: a request to a model.
    """
    module = anatomy.module
    flow = anatomy.flow(function)
    starts, goals = flow.at(test), flow.enclosing(claim, module.parent)
    ending = test.body if not module.inside(claim, test) else claim
    asks = () if function.is_async else filter(anatomy.calls.asks, function.nodes_of(cst.Call))
    for node in (*function.waits, *asks):
        if module.inside(node, claim) or module.inside(node, ending):
            continue
        at = flow.enclosing(node, module.parent)
        if any(flow.reaches(s, p, goals) for s in starts for p in at) and any(
            flow.reaches(p, g, starts) for p in at for g in goals
        ):
            return True
    return False
