"""Round loops: a model is asked, its tool calls are run or its reply is stored, and round it goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import libcst as cst

from lint_rules.anatomy.messages.writes import GROWING, Writes
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.waits import Flow, Waits, is_input
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Graph
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_ANSWERS = frozenset({Kind.HISTORY, Kind.MESSAGE, Kind.CALLS, Kind.REPLY, Kind.MODEL_TEXT})
_MESSAGES = frozenset({Kind.MESSAGE, Kind.REPLY})
_SAID = frozenset({Kind.REPLY, Kind.MODEL_TEXT})
_NOTING = frozenset({"append", "extend"})
_TOOL_KINDS = (Kind.CALLS, Kind.CALL, Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT)


@record
class RoundLoop:
    """A loop of rounds. `asks` is the call in it that reaches a model; what ends it, `limits` tells."""

    node: cst.While | cst.For
    function: Scope
    asks: cst.Call


def round_loops(graph: CallGraph, writes: Writes, flow: Flow) -> tuple[list[RoundLoop], list[RoundLoop]]:
    """The round loops of a file, outer ones of nested loops included where each goes round itself; loops of turns.

    These go round, too, but by rounds that go round in them: in a loop, or in a function that they call.
    """
    found = []
    prompts = Waits(graph, flow, is_input)
    for function in graph.facts.module.functions:
        for node in function.nodes_of(cst.While, cst.For) if graph.reaches_llm(function) else ():
            asking = _asks(node, function, graph)
            if not asking or prompts.in_each_round(node, function) is not None:
                continue
            if _goes_round(node, function, graph, writes):
                again = (asks for asks in asking if _comes_back(node, asks, flow(function), graph))
                found += [RoundLoop(node, function, asks) for asks in islice(again, 1)]
    loops: defaultdict[Scope, list[RoundLoop]] = defaultdict(list)
    for loop in found:
        loops[loop.function].append(loop)
    turns = [loop for loop in found if _goes_round_inside(loop, loops, graph)]
    return [loop for loop in found if loop not in turns], turns


def _comes_back(node: cst.While | cst.For, asks: cst.Call, flow: Graph, graph: CallGraph) -> bool:
    """Whether the loop goes on when the model has answered: one that only an error takes round asks again, no more.

    Nor does what is asked for something else on the way out: a title.
    """
    asked = flow.enclosing(asks, graph.facts.module.parent)
    return (
        any(point.loop is not None for point in asked) and flow.path(asked, flow.at(node), exceptions=False) is not None
    )


def _goes_round_inside(loop: RoundLoop, loops: Mapping[Scope, list[RoundLoop]], graph: CallGraph) -> bool:
    """A loop of turns: the rounds go round in a function that it calls, or in a loop inside it."""
    module, callee = graph.facts.module, graph.facts.slots.callee(loop.asks)
    if callee is not None:
        called = (loops.get(function, ()) for function in graph.reachable(callee))
        return any(other is not loop for others in called for other in others)
    inside = module.placed_inside(loops[loop.function], loop.node.body, lambda other: other.node)
    return any(module.inside(loop.asks, other.node) for other in inside)


def _asks(node: cst.While | cst.For, function: Scope, graph: CallGraph) -> list[cst.Call]:
    """The calls in a loop that reach a model: those that ask themselves before those of functions that also do."""
    calls = [call for call in graph.calls_within(node.body, function) if graph.asks(call)]
    return sorted(calls, key=lambda call: call not in graph.facts.calls)


def _goes_round(node: cst.While | cst.For, function: Scope, graph: CallGraph, writes: Writes) -> bool:
    """Not a retry or a map over items: the loop handles tool calls or grows a history."""
    facts = graph.facts
    calls = graph.calls_within(node.body, function)
    if isinstance(node, cst.For) and _over_messages(node, graph):
        return False
    if any(
        Kind.CALLS in facts.kinds(n.iter) for n in facts.module.nodes_inside(node.body, function, cst.For, cst.CompFor)
    ):
        return True
    for call in calls:
        if any(kind in facts.kinds(arg.value) for arg in call.args for kind in _TOOL_KINDS):
            return True
        callee = facts.slots.callee(call)
        if callee is not None and any(handles_calls(f, graph) for f in graph.reachable(callee)):
            return True
    if any(w.kind in GROWING and facts.module.inside(w.node, node.body)
           and not _made_within(w.slot, node, graph) for w in writes.by_function[function]):  # fmt: skip
        return True
    if _is_asked_with_notes(node, function, graph, writes):
        return True
    return isinstance(node, cst.While) and (
        any(_stores(call, node, graph, writes) or _goes_back(call, calls, node, graph, writes) for call in calls)
        or _comes_back_changed(node, function, graph)
        or _is_asked_until(node, function, graph)
    )


def _is_asked_with_notes(node: cst.While | cst.For, function: Scope, graph: CallGraph, writes: Writes) -> bool:
    """`notes.append(did(answer))` in a loop that asks with `notes`: what came of one round, the next one is told.

    Not a loop over what is there before: `for page in pages`.
    """
    facts, module = graph.facts, graph.facts.module
    if isinstance(node, cst.For) and (not counts_rounds(node.iter) or "len" in names_in(node.iter)):
        return False
    grown = [call for call in module.nodes_inside(node.body, function, cst.Call) if ex.called_name(call) in _NOTING]
    notes = [(facts.slots.of(ex.receiver(call)), call) for call in grown if call.args]
    asking = [call for call in graph.calls_within(node.body, function) if graph.asks(call)] if notes else []
    lines = module.nodes_inside(node.body, function, cst.Assign) if asking else ()
    flows = [
        (_bound(line), {*walk(line.value)}, names_in(line.value)) for line in lines if isinstance(line, cst.Assign)
    ]
    made, told = set[str](), names_in(*(part for call in asking for part in _sent(call, graph, writes)))
    for _ in flows:  # as many steps as there may be
        made = made.union(*(to for to, parts, names in flows if names & made or not parts.isdisjoint(asking)))
        told = told.union(*(names for to, _, names in flows if to & told))
    return any(
        slot is not None
        and not _made_within(slot, node, graph)
        and slot[-1] in told
        and (names_in(call.args[-1].value) & made or not {*walk(call.args[-1].value)}.isdisjoint(asking))
        for slot, call in notes
    )


def counts_rounds(iterable: cst.BaseExpression) -> bool:
    """`range(n)`, `enumerate(range(n))`, `trange(n)`."""
    if not isinstance(iterable, cst.Call) or not iterable.args:
        return False
    name = ex.called_name(iterable)
    return name in {"range", "trange"} or (name in {"enumerate", "tqdm"} and counts_rounds(iterable.args[0].value))


def _is_asked_until(node: cst.While, function: Scope, graph: CallGraph) -> bool:
    """`while mark < 8: mark = judge(draft)`: whether what a model says, and nothing else, decides about the end.

    Taken apart by functions (`parse(answer)`); what an object does with it (`board.play(move)`) has an end of its own.
    """
    module = graph.facts.module
    lines, grown = (module.nodes_inside(node.body, function, kind) for kind in (cst.Assign, cst.AugAssign))
    asking = [
        call for call in graph.calls_within(node.body, function) if graph.asks(call) and _gives_reply(call, graph)
    ]
    said: set[str] = set()
    for _ in lines if asking else ():  # as many steps as there may be
        made = (line for line in lines if isinstance(line, cst.Assign) and _says(line.value, said, asking, graph))
        said |= {name for line in made for name in _bound(line)}
    moved = {name for line in (*lines, *grown) for name in _bound(line)} - said
    ends = [
        test.test
        for test in module.nodes_inside(node.body, function, cst.If)
        if module.loop_around(test) is node
        and any(isinstance(part, (cst.Break, cst.Return)) for part in walk(test.body))
    ]
    calls = module.nodes_inside(node.body, function, cst.Call)
    touched = {*said, *moved, *names_in(*calls)}
    tests = [test for test in (node.test, *ends) if not touched.isdisjoint(names_in(test))]
    return bool(tests) and all(_says(test, said, asking, graph) and moved.isdisjoint(names_in(test)) for test in tests)


def _bound(line: cst.CSTNode) -> set[str]:
    targets = ex.targets(line) if isinstance(line, (cst.Assign, cst.AugAssign)) else ()
    return {name for target in targets for name in ex.target_names(target)}


def _gives_reply(call: cst.Call, graph: CallGraph) -> bool:
    """Whether a call gives what a model has said, itself or by a function of this file."""
    callee = graph.facts.slots.callee(call)
    values = [call, *(callee.returned if callee is not None else ())]
    return any(_SAID & graph.facts.kinds(value).keys() for value in values)


def _says(value: cst.BaseExpression, said: set[str], asking: list[cst.Call], graph: CallGraph) -> bool:
    """Whether a value is made of what a model has said, by functions alone."""
    parts = [*walk(value)]
    calls = (part for part in parts if isinstance(part, cst.Call) and part not in asking)
    apart = (call for call in calls if not _only_looks(graph.facts.slots.callee(call)))
    bases = (base for call in apart if (base := ex.receiver(call)) is not None)
    named = ((ex.dotted(base) or "").partition(".")[0] for base in bases)
    if not all(name in said or name in graph.facts.module.imports.full or not name for name in named):
        return False
    return any(part in asking or (isinstance(part, cst.Name) and part.value in said) for part in parts)


def _only_looks(function: Scope | None) -> bool:
    """Whether a function of the file sets nothing but names of its own, and runs nothing for what that does."""
    if function is None or any(isinstance(line.value, cst.Call) for line in function.nodes_of(cst.Expr)):
        return False
    lines = function.nodes_of(cst.Assign, cst.AugAssign)
    return all(isinstance(target, cst.Name) for line in lines for target in ex.targets(line))


def _goes_back(call: cst.Call, calls: list[cst.Call], node: cst.While, graph: CallGraph, writes: Writes) -> bool:
    """`talk.add(reply)`, where the loop asks with `talk.lines` or `talk.lines()`, whoever defines its class.

    Also with what is made of the reply, and where a function of the file that the loop asks by reads that.
    """
    facts, base = graph.facts, ex.receiver(call)
    slot = facts.slots.of(base) if base is not None and facts.module.is_statement(call) else None
    if slot is None or _made_within(slot, node, graph) or is_logging(call):
        return False
    parts = (part for arg in call.args for part in walk(arg.value) if isinstance(part, cst.BaseExpression))
    if not any(_MESSAGES & facts.kinds(part).keys() for part in parts):
        return False
    sent = (
        part for asking in calls if graph.asks(asking) for value in _sent(asking, graph, writes) for part in walk(value)
    )
    return any(isinstance(part, cst.Attribute) and facts.slots.of(part.value) == slot for part in sent)


def _sent(asking: cst.Call, graph: CallGraph, writes: Writes) -> Iterator[cst.CSTNode]:
    """What a call asks with; what functions of the file that it runs ask with, and put into histories."""
    yield from asking.args
    callee = graph.facts.slots.callee(asking)
    for function in graph.reachable(callee) if callee is not None else ():
        yield from (arg for inner in function.nodes_of(cst.Call) if graph.asks(inner) for arg in inner.args)
        yield from (write.value for write in writes.by_function[function] if write.value is not None)


def _comes_back_changed(node: cst.While, function: Scope, graph: CallGraph) -> bool:
    """`state = step(state)`: what a round was asked with comes back, and the next one is asked with it."""
    slots = graph.facts.slots
    for assign in graph.facts.module.nodes_inside(node.body, function, cst.Assign):
        call, target = ex.inner(assign.value), slots.of(assign.targets[0].target)
        if isinstance(call, cst.Call) and graph.asks(call) and target is not None:
            if any(slots.of(arg.value) == target for arg in call.args) and _gives_answer(call, graph):
                return True
    return False


def _gives_answer(call: cst.Call, graph: CallGraph) -> bool:
    """Whether what a call gives is what a model said, or has it in it."""
    callee = graph.facts.slots.callee(call)
    given = callee.returned if callee is not None else []
    values = [made for value in given for made in (value, *graph.facts.values_of(value))]
    parts = (part for value in values for part in walk(value))
    return callee is None or any(
        isinstance(part, cst.BaseExpression) and not _ANSWERS.isdisjoint(graph.facts.kinds(part)) for part in parts
    )


def _stores(call: cst.Call, node: cst.While, graph: CallGraph, writes: Writes) -> bool:
    """Whether a call in the loop puts messages into a history that outlives a round.

    That is one of the object, or one that the loop hands to the function and has not made itself.
    """
    callee = graph.facts.slots.callee(call)
    if callee is None:
        return False
    given = {slot: graph.facts.slots.of(value) for slot, value in graph.facts.slots.bindings(call, callee)}
    for write in writes.reached_from(callee):
        if write.kind in GROWING:
            handed = given.get(write.slot)
            if write.slot[0] == "attr" or (handed is not None and not _made_within(handed, node, graph)):
                return True
    return False


def _over_messages(node: cst.For, graph: CallGraph) -> bool:
    """A loop over the calls or messages of one reply is a part of a round, not a loop of rounds."""
    kinds = graph.facts.kinds(node.iter)
    return Kind.CALLS in kinds or Kind.HISTORY in kinds


def handles_calls(function: Scope, graph: CallGraph) -> bool:
    """Whether a function goes through the calls of a reply."""
    return any(Kind.CALLS in graph.facts.kinds(node.iter) for node in function.nodes_of(cst.For, cst.CompFor))


def _made_within(slot: tuple[object, ...], node: cst.While | cst.For, graph: CallGraph) -> bool:
    """Whether a local list is created anew in each turn of the loop: it then carries nothing from round to round."""
    module = graph.facts.module
    assigned: tuple[Sequence[cst.Assign | cst.AnnAssign], ...]
    assigned = module.nodes_of(cst.Assign), module.nodes_of(cst.AnnAssign)
    return slot[0] == "var" and any(
        slot in [graph.facts.slots.of(t) for t in ex.targets(inside)]
        and inside.value is not None
        and not graph.facts.slots.names_any(inside.value, {slot})
        for nodes in assigned
        for inside in module.those_inside(nodes, node.body)
    )
