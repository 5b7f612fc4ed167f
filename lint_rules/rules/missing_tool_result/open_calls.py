"""What of a reply's calls stays open: left out, answered too early, kept by nobody, sent again without its answer."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers, is_answer
from lint_rules.anatomy.calls.in_hand import InHand
from lint_rules.anatomy.calls.told import LOOKING
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.executions import READERS
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.again import Again
from lint_rules.obligations.moves import Moves
from lint_rules.obligations.open_ends import OpenEnds
from lint_rules.obligations.waiting import Taken, runs_in
from lint_rules.rules.missing_tool_result.selections import left_behind, stored_whole
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class Unkept:
    """`stored` puts calls that `run` gives into `target`, which the run begins with; their results go nowhere."""

    stored: Stored
    run: cst.Call
    target: Slot


def unkept_results(anatomy: Anatomy) -> Iterator[Unkept]:
    """Runs whose calls are kept for the next one, as they are told of, and whose results are not: they are only shown.

    The run makes results, and puts them nowhere but into lists of its own.
    """
    for function in anatomy.module.functions:
        stored = anatomy.transcript.stored(function)
        calls = [s for s in stored if s.calls is not None and s.role == "assistant" and s.slot is not None]
        for loop in function.nodes_of(cst.For) if calls and not any(map(_may_answer, stored)) else ():
            told = [s for s in calls if anatomy.module.inside(s.node, loop.body)]
            run = next(_answering_runs(anatomy, loop), None) if told else None
            target = _begun_with(anatomy, loop, function, told[0]) if run is not None else None
            if run is not None and target is not None and not _stores_itself(anatomy, loop, target):
                yield Unkept(told[0], run, target)


def _may_answer(stored: Stored) -> bool:
    """Whether what is stored is a result, or may be one as far as the code shows."""
    made = ex.inner(stored.write.value) if stored.write is not None and stored.write.value is not None else None
    empty = isinstance(made, cst.List) and not made.elements
    return stored.answers or (stored.role is None and not empty and stored.kind != "rebind")


def _answering_runs(anatomy: Anatomy, loop: cst.For) -> Iterator[cst.Call]:
    for call, there, callee in runs_in(anatomy, loop):
        if any(type(node) is cst.Yield for node in callee.nodes) and Answers(there.facts, there.calls).reaches(callee):
            yield call


def _begun_with(anatomy: Anatomy, loop: cst.For, function: Scope, stored: Stored) -> Slot | None:
    """The list or store that the messages of a loop get into, where what the loop goes through is made of it."""
    slots = anatomy.facts.slots
    named = {slots.of(node) for node in walk(loop.iter) if isinstance(node, (cst.Name, cst.Attribute))}
    values = [value for slot in named if slot is not None for value in anatomy.facts.assigned(slot)]
    named |= {slots.of(node) for value in values for node in walk(value) if isinstance(node, (cst.Name, cst.Attribute))}
    moves = list(Moves(Again(anatomy, function)).all())
    targets = [stored.slot, *(move.target for move in moves if slots.of(move.source) == stored.slot)]
    target = next((target for target in targets if target is not None and target in named), None)
    known = {*(s.node for s in anatomy.transcript.stored(function)), *(move.node for move in moves)}
    more = (call for call in function.nodes_of(cst.Call) if call not in known and anatomy.module.is_statement(call))
    given = any((base := ex.receiver(call)) is not None and slots.of(base) == target for call in more)
    return target if not given else None  # it may be told of the results in other words


def _stores_itself(anatomy: Anatomy, loop: cst.For, target: Slot) -> bool:
    """Whether a run may put results there, too, or another function of this file does."""
    own = (s for f in anatomy.module.functions for s in anatomy.transcript.stored(f) if s.answers)
    if any(s.slot == target for s in own):
        return True
    for call, there, callee in runs_in(anatomy, loop):
        given = {
            slot for slot, value in there.facts.slots.bindings(call, callee) if _is_made_of(anatomy, value, target)
        }
        for inside in there.calls.reachable(callee) if given else ():
            answers = [s.node for s in there.transcript.stored(inside) if s.answers]
            told = [s for s in there.transcript.stored(inside) if s.answers and s.slot in given]
            calls = inside.nodes_of(cst.Call)
            puts = [
                c for c in calls if c.args and (b := ex.receiver(c)) is not None and there.facts.slots.of(b) in given
            ]
            if told or there.leads(inside, answers, puts):
                return True
    return False


def _is_made_of(anatomy: Anatomy, value: cst.BaseExpression, target: Slot) -> bool:
    return any(anatomy.facts.slots.of(node) == target for node in walk(value) if isinstance(node, cst.BaseExpression))


def left_out(anatomy: Anatomy, taken: Taken, ends: OpenEnds) -> cst.BaseExpression | None:
    """Where a loop over calls goes through a part of them only, though all are stored; None where it does not.

    `calls[:3]`, `[c for c in calls if c.name in known]`. A second loop that answers, or a store of the same part, is
    enough to be silent.
    """
    if taken.loop is None or not ends.stores:
        return None
    part = _part(anatomy, taken.loop.iter)
    if part is None or _is_stored(anatomy, taken) or _others_answered(taken):
        return None
    return part


def _part(anatomy: Anatomy, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """The expression that takes a part of a list of calls, behind one name.

    That may be the name of all of them until then: `if len(calls) > most: calls = calls[:most]`.
    """
    slot = anatomy.facts.slots.of_name(value)
    values = anatomy.facts.assigned(slot) if slot is not None else [value]
    made = [each for each in map(ex.inner, values) if len(values) == 1 or anatomy.facts.slots.of(_whole(each)) == slot]
    return _part_made(anatomy, made[0]) if len(made) == 1 else None


def _whole(made: cst.BaseExpression) -> cst.BaseExpression:
    """`calls` of `calls[:3]` and `[c for c in calls if c.name in known]`."""
    if isinstance(made, cst.ListComp):
        return made.for_in.iter
    return made.value if isinstance(made, cst.Subscript) else made


def _part_made(anatomy: Anatomy, made: cst.BaseExpression) -> cst.BaseExpression | None:
    if isinstance(made, cst.Subscript) and anatomy.facts.is_kind(made.value, Kind.CALLS):
        cut = ex.slice_of(made)
        return made if cut is not None and cut.lower is None and cut.upper is not None and _is_many(cut.upper) else None
    if isinstance(made, cst.ListComp) and anatomy.facts.is_kind(made.for_in.iter, Kind.CALLS):
        tests = [test.test for test in made.for_in.ifs]
        if tests and type(made.elt) is cst.Name and all(_is_choice(anatomy, made, test) for test in tests):
            return made
    return None


def _is_many(bound: cst.BaseExpression) -> bool:
    """More than one: who takes the first only, AGL402 is about."""
    return ex.integer(bound) != 1


def _is_choice(anatomy: Anatomy, made: cst.ListComp, test: cst.BaseExpression) -> bool:
    """A test of what is called, not of what kind of part of a reply it is: `c.name in known`, `allowed(c)` of calls."""
    asked = [n for n in walk(test) if type(n) is cst.Call and ex.called_name(n) not in LOOKING | READERS]
    callees = (callee for node in asked if (callee := anatomy.facts.slots.callee(node)) is not None)
    looked = (node for part in (walk(test), *(callee.nodes for callee in callees)) for node in part)
    members = {pair[1] for node in looked if (pair := ex.member(node)) is not None}
    if "type" in members or "name" in members:
        return "type" not in members
    listed = made.for_in.iter
    made_of = [part for value in (listed, *anatomy.facts.values_of(listed)) for part in ex.alternatives(value)]
    calls_only = any((ex.member(part) or ("", ""))[1] in anatomy.facts.call_attributes for part in made_of)
    return calls_only and any(Kind.CALL in anatomy.facts.kinds(arg.value) for node in asked for arg in node.args)


def _is_stored(anatomy: Anatomy, taken: Taken) -> bool:
    """Whether the stored message is made of the same part, or its calls are set to it."""
    assert taken.loop is not None
    slots = anatomy.facts.slots
    part = slots.of(taken.loop.iter)
    if part is None:  # `calls[:n]` itself: in the loop, and in the message
        taken_part = ex.source(taken.loop.iter, 200)
        carried = [s.calls for s in anatomy.transcript.stored(taken.function) if s.calls is not None]
        carried += [value for calls in carried for value in anatomy.facts.values_of(calls)]
        parts = (n for calls in carried for n in walk(calls) if isinstance(n, cst.Subscript))
        return any(ex.source(node, 200) == taken_part for node in parts)
    for stored in anatomy.transcript.stored(taken.function):
        carried = [stored.calls, *anatomy.facts.values_of(stored.calls)] if stored.calls is not None else []
        if any(slots.of(n) == part for value in carried for n in walk(value) if type(n) is cst.Name):
            return True
    return any(
        slots.of(node.value) == part
        for node in taken.function.nodes
        if isinstance(node, cst.Assign)
        for target in node.targets
        if isinstance(target.target, (cst.Attribute, cst.Subscript))
    )


def _others_answered(taken: Taken) -> bool:
    """Whether answers are made elsewhere in the function, too."""
    assert taken.loop is not None
    inside = taken.region.inside
    graph = taken.region.graph
    return any(taken.region.answers.at(p) for p in graph.points if p.statement is not None and p not in inside)


def unsent(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.For, cst.CSTNode]]:
    """Rounds that may end with results in hand, though the next turn goes on from the reply that waits for them.

    So it is where the API keeps the conversation: results are sent with the next request only, and the id of the last
    response is stored behind the loop.
    """
    kept = [node for node in function.nodes_of(cst.Call, cst.Assign) if _keeps_response(node)]
    if not kept:
        return
    graph = anatomy.flow(function)
    parent = anatomy.module.parent
    for loop in function.nodes_of(cst.For):
        behind = [p for node in kept if not anatomy.module.inside(node, loop) for p in graph.enclosing(node, parent)]
        calls = function.nodes_of(cst.Call)
        for node in function.nodes if behind else ():
            if not isinstance(node, cst.Assign) or not anatomy.module.inside(node, loop.body):
                continue
            if not any(is_answer(part) for part in walk(node.value)):
                continue
            slot = anatomy.facts.slots.of(node.targets[0].target)
            asking = {
                p
                for call in calls
                if anatomy.calls.asks(call) and any(anatomy.facts.slots.of(arg.value) == slot for arg in call.args)
                for p in graph.enclosing(call, parent)
            }
            if slot is not None and asking and graph.reaches(graph.at(node), behind, asking, exceptions=False):
                yield loop, node
                break


def _keeps_response(node: cst.CSTNode) -> bool:
    """`session.set("previous_response_id", r.id)`, `self.previous_response_id = r.id`."""
    if type(node) is cst.Call:
        return any(ex.text(arg.value) == "previous_response_id" for arg in node.args) and len(node.args) > 1
    if type(node) is cst.Assign:
        pairs = [ex.member(target.target) for target in node.targets]
        return any(pair is not None and pair[1] in {"previous_response_id", "last_response_id"} for pair in pairs)
    return False


def chosen(anatomy: Anatomy, answers: Answers, function: Scope) -> Iterator[tuple[cst.Call, cst.CSTNode, cst.CSTNode]]:
    """Loops over the calls that another function has chosen, though all are stored and the others answered nowhere.

    Gives the call of that function, where it chooses, and where all are stored.
    """
    for node in function.nodes_of(cst.For, cst.CompFor):
        call = ex.inner(node.iter)
        callee = anatomy.facts.slots.callee(call)
        if callee is None or not isinstance(call, cst.Call) or answers.reaches(callee):
            continue
        behind = left_behind(anatomy, callee) if _hands_each_on(anatomy, node) else {}
        for parameter, value in anatomy.facts.slots.bindings(call, callee) if behind else ():
            slot = anatomy.facts.slots.of(value)
            if parameter in behind and slot is not None and not _iterated_elsewhere(anatomy, function, slot):
                stored = stored_whole(anatomy, slot, function)
                if stored is not None:
                    yield call, behind[parameter], stored


def _hands_each_on(anatomy: Anatomy, loop: cst.For | cst.CompFor) -> bool:
    """Whether each call of a loop is given to somebody: not only shown."""
    slot = anatomy.facts.slots.of_name(loop.target)
    if slot is None:
        return False
    hand = InHand(anatomy.facts, slot, [])
    region = loop.body if isinstance(loop, cst.For) else anatomy.module.parent[loop]
    calls = (n for n in walk(region) if type(n) is cst.Call and not is_logging(n))
    return any(hand.hands_on(arg.value) for call in calls for arg in call.args)


def _iterated_elsewhere(anatomy: Anatomy, function: Scope, slot: Slot) -> bool:
    """Whether all calls are gone through besides: their results may be told apart there."""
    return any(anatomy.facts.slots.of(node.iter) == slot for node in function.nodes_of(cst.For, cst.CompFor))
