"""Tool calls in hand: a loop takes them one by one, a function gets one, what follows a reply hands them on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers, is_answer
from lint_rules.anatomy.calls.in_hand import CallsInHand, InHand
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.open_ends import OpenEnds
from lint_rules.obligations.unanswered import Region
from lint_rules.obligations.waiting import BINDINGS, Asked, Taken, bindings_of, calls_of, loops
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_REPLIES = frozenset({Kind.REPLY, Kind.MESSAGE, Kind.CALLS, Kind.CALL})


def calls_in_loops(anatomy: Anatomy, answers: Answers, function: Scope, ends: OpenEnds) -> Iterator[Taken]:
    """The loops over tool calls of a function in which some call is answered."""
    slots, graph = anatomy.facts.slots, anatomy.flow(function)
    if not ends.stores and _are_answered_before(anatomy, answers, function):
        return
    before: list[Taken] = []
    for node, call in loops(anatomy, function):
        slot = slots.of(call)
        if slot is None:
            continue
        key = slots.of(node.target.elements[0].value) if isinstance(node.target, cst.Tuple) else None
        hand = InHand(anatomy.facts, slot, anatomy.module.nodes_inside(node.body, function, *BINDINGS), key)
        hand.also(slots.of(other) for other in calls_of(anatomy, node))
        headers = tuple(graph.at(node))
        starts = [t for header in headers for t, kind in header.successors if kind == "true"]
        region = _region(answers, ends, hand, graph.within(walk(node.body)), starts)
        taken = Taken(function, hand, region, node, headers)
        after = region.reached([p for p in region.answering if not isinstance(p.statement, cst.Return)], set())
        goes_round = any(target in headers for p in after for target, _ in p.successors)
        if goes_round and not _are_answered_by_then(anatomy, before, slots.of(node.iter)):
            before.append(taken)
            yield taken


def _are_answered_by_then(anatomy: Anatomy, others: Sequence[Taken], listed: Slot | None) -> bool:
    """Whether another loop has put each call into a list, and behind its answer: what goes through that owes none."""
    put = {*anatomy.points(others[0].function, anatomy.facts.put(listed))} if others and listed is not None else set()
    return bool(put) and any(put <= taken.region.inside and not put & taken.region.waiting for taken in others)


def calls_as_arguments(anatomy: Anatomy, answers: Answers, function: Scope, ends: OpenEnds) -> Iterator[Taken]:
    """A function that gets one tool call and sends or stores an answer to it.

    Not one that yields: what it gives out, and when, is up to who reads it.
    """
    own = answers.made.get(function, [])
    if not own or function.name.startswith("__") or not isinstance(function.node, cst.FunctionDef):
        return
    if function.nodes_of(cst.Yield) or _are_answered_before(anatomy, answers, function):
        return
    for param in parameters(function):
        slot = anatomy.facts.slots.parameter(function, param.name.value)
        if Kind.CALL not in anatomy.facts.of(slot) or Kind.CALLS in anatomy.facts.of(slot):
            continue
        hand = InHand(anatomy.facts, slot, function.nodes_of(*BINDINGS))
        if any(hand.mentions(node) and not _is_handed_back(anatomy, node) for node in own):
            graph = anatomy.flow(function)
            points = [p for p in graph.points if p.statement is not None]
            starts = [target for target, _ in graph.entry.successors]
            yield Taken(function, hand, _region(answers, ends, hand, points, starts), None)


def gathered(anatomy: Anatomy) -> Iterator[cst.CSTNode]:
    """Where a function puts what comes of calls into a list or dict that it returns, and who runs it answers each.

    To put something there is to answer a call: whoever is left out of it gets no answer.
    """
    facts = anatomy.facts
    for loop in anatomy.module.nodes_of(cst.For):
        names, listed = set(ex.target_names(loop.target)), held_in(loop.iter)
        if not any(is_answer(node) and mentions(names, node) for node in walk(loop.body)):
            continue
        for made in map(ex.inner, (listed, *facts.values_of(listed))):
            run = ex.inner(made.expression) if isinstance(made, cst.Await) else made
            callee = facts.slots.callee(run)
            given = run.args if isinstance(run, cst.Call) and callee is not None else ()
            takes = any(Kind.CALLS in facts.kinds(arg.value) for arg in given)
            by_id = listed is not loop.iter and callee is not None and any(True for _ in loops(anatomy, callee))
            if callee is not None and (takes or by_id):
                lists = {facts.slots.of(value) for value in callee.returned} - {None}
                put = (node for node in callee.nodes_of(cst.Call) if ex.called_name(node) in {"append", "update"})
                yield from (node for node in put if facts.slots.of(ex.receiver(node)) in lists)
                set_there = (target for node in callee.nodes_of(cst.Assign) for target in _set_by(node))
                yield from (target for target in set_there if facts.slots.of(target.value) in lists)


def held_in(iterable: cst.BaseExpression) -> cst.BaseExpression:
    """`results` of `results.items()`: what a loop goes through."""
    shown = isinstance(iterable, cst.Call) and ex.called_name(iterable) in {"items", "values"}
    return ex.receiver(iterable) or iterable if shown else iterable


def _set_by(node: cst.Assign) -> Iterator[cst.Subscript]:
    """The entries that a statement sets, also among others: `ok, results[key] = ...`."""
    for target in ex.targets(node):
        yield from (part for part in ex.several(target) if isinstance(part, cst.Subscript))


def _region(answers: Answers, ends: OpenEnds, hand: InHand, points: list[Point], starts: list[Point]) -> Region:
    """Where a call waits until it is answered, put aside, handed to somebody, or its message is taken back."""

    def settles(point: Point) -> bool:
        return ends.takes_back(point) or hand.stores(point)

    def hands(point: Point) -> bool:
        return hand.settles(point) and not _is_refused(answers, hand, point)

    return Region(answers, ends.graph, points, starts, hand.outcome, settles, hands=hands)


def _is_refused(answers: Answers, hand: InHand, point: Point) -> bool:
    """`return self.ask_user(call)`, where that function of the file neither answers the call nor hands it on."""
    node, slots = point.statement, answers.facts.slots
    call = ex.inner(node.value) if isinstance(node, cst.Return) and node.value is not None else None
    callee = slots.callee(call)
    if callee is None or not isinstance(call, cst.Call) or answers.reaches(callee):
        return False
    given = [slot for slot, value in slots.bindings(call, callee) if hand.hands_on(value)]
    passed = [*callee.returned, *(arg.value for inside in callee.nodes_of(cst.Call) for arg in inside.args)]
    hands = (InHand(answers.facts, slot, callee.nodes_of(*BINDINGS)) for slot in given)
    return not any(there.hands_on(value) for there in hands for value in passed)


def _are_answered_before(anatomy: Anatomy, answers: Answers, function: Scope) -> bool:
    """Whether whoever calls a function has stored answers by then: it looks at calls that have one."""
    sites = anatomy.calls.sites[function]
    return bool(sites) and all(_is_behind_answers(anatomy, answers, site.node, site.caller.function) for site in sites)


def _is_behind_answers(anatomy: Anatomy, answers: Answers, node: cst.CSTNode, function: Scope) -> bool:
    """Whether a function has made answers by the time it comes to what it does at `node`."""
    if function.kind == "class":
        return False
    graph = anatomy.flow(function)
    here = anatomy.points(function, [node])
    given = {point for point in graph.points if answers.at(point)}.difference(here)
    loops = (outer for point in given for outer in anatomy.module.ancestors(point.statement or node))
    passed = (loop for loop in loops if isinstance(loop, cst.For) and not anatomy.module.inside(node, loop))
    around = {header for loop in passed for header in graph.at(loop)}
    return bool(given) and not graph.reaches(graph.entry, here, given | around)


def _is_handed_back(anatomy: Anatomy, answer: cst.CSTNode) -> bool:
    """Whether an answer is given to the caller, who decides what to do without one; names are followed."""
    statement = anatomy.module.statement(answer)
    names = {name for target in ex.assigned(statement) for name in ex.target_names(target)}
    returned = anatomy.module.scope_of[answer].function.returned
    return isinstance(statement, cst.Return) or (bool(names) and mentions(names, *returned))


def calls_handed_on(anatomy: Anatomy, asked: Sequence[Asked]) -> Iterator[Taken]:
    """The calls of the replies that one function stores, up to where they are settled: one is picked, all handed on."""
    made: CallsInHand | None = None
    for reply in asked:
        slot = _named(anatomy, reply)
        made = copy(made) if made is not None else CallsInHand(anatomy.facts, slot, bindings_of(reply.function))
        made.slot = slot
        yield Taken(reply.function, made, reply.region, None, asked=reply)


def _named(anatomy: Anatomy, reply: Asked) -> Slot:
    """The reply, as the place that stores it names it, or what takes it from there."""
    for node in walk(anatomy.module.statement(reply.node)):
        slot = anatomy.facts.slots.of_name(node)
        if slot is not None and _REPLIES & anatomy.facts.of(slot).keys() and Kind.HISTORY not in anatomy.facts.of(slot):
            return slot
    return ("var", reply.function, "calls")
