"""Rounds that drop a reply without tool calls: the same request goes out again, or one more message that answers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import tells_calls, without_calls
from lint_rules.anatomy.messages.growth import reads
from lint_rules.anatomy.messages.sent import sent_histories
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.turns.substituted import sent_by
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.unsaved_turn_history.how_sent import is_kept_by_server
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Kind, Point
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record


@record
class RepeatedRequest:
    """A reply without tool calls that a round drops: `test` passes by the append, and the same request goes out.

    Or, as `test`, the message of somebody else is put where it should be, and speaks of what the model does not see.
    """

    test: cst.If | Stored
    asks: cst.Call
    history: Slot
    stores: Stored


def repeated_requests(anatomy: Anatomy) -> Iterator[RepeatedRequest]:
    """Those of a file: of each loop the first test, or all messages that are put in the place of a reply."""
    changes: dict[tuple[Scope, Slot], _Changes] = {}
    for loop in anatomy.rounds:
        yield from _in_round(anatomy, loop, changes) if loop.function.kind != "class" else ()


class _Changes(NamedTuple):
    """What a function stores in a history, and the points after which another request goes out."""

    stored: list[Stored]
    points: frozenset[Point]


def _changes(anatomy: Anatomy, function: Scope, slot: Slot) -> _Changes:
    stored = [s for s in anatomy.transcript.stored(function) if s.slot == slot]
    nodes = [s.node for s in stored] + [n for n in function.nodes if type(n) is cst.Continue]
    nodes += [n for n in function.nodes_of(cst.Call) if _is_handed(anatomy, n, slot)]
    return _Changes(stored, frozenset(anatomy.points(function, nodes)))


def _in_round(
    anatomy: Anatomy, loop: RoundLoop, changes: dict[tuple[Scope, Slot], _Changes]
) -> Iterator[RepeatedRequest]:
    """The test by which a reply falls out of the loop's history, or what is put there instead of it."""
    function, call, module = loop.function, loop.asks, anatomy.module
    slot = _asked_with(anatomy, loop)
    if isinstance(loop.node, cst.While) and tells_calls(anatomy.facts, loop.node.test):
        return
    if slot is None or _forces_tools(call) or is_kept_by_server(call):
        return
    if (function, slot) not in changes:
        changes[function, slot] = _changes(anatomy, function, slot)
    stored, changing = changes[function, slot]
    inside = module.placed_inside(stored, loop.node.body, lambda one: one.node)
    grown = next((s for s in inside if s.kind in GROWING and s.role in {None, "assistant"}), None)
    if grown is None:
        return
    here = anatomy.points(function, [call])
    closed = _closed_without_calls(anatomy, loop)
    path = anatomy.flow(function).path(here, here, changing, exceptions=False, closed=closed)
    for point in path or ():
        test = point.statement
        if isinstance(test, cst.If) and test.orelse is None and tells_calls(anatomy.facts, test.test):
            if module.inside(grown.node, test.body):
                yield RepeatedRequest(test, call, slot, grown)
                return
    yield from (RepeatedRequest(one, call, slot, grown) for one in _instead(anatomy, loop, slot, inside))


def _asked_with(anatomy: Anatomy, loop: RoundLoop) -> Slot | None:
    """The history that a loop sends, itself or in a function that it runs."""
    request = anatomy.facts.calls.get(loop.asks)
    if request is not None:
        return anatomy.facts.slots.of(request.history)
    run, asked = anatomy.facts.slots.callee(loop.asks), anatomy.calls.llm_calls
    calls = (call for here in (anatomy.calls.reachable(run) if run is not None else ()) for call in asked.get(here, ()))
    sent = {slot for call in calls for slot in sent_histories(anatomy, [anatomy.facts.calls[call]])}
    sent = sent or sent_by(anatomy, loop.asks, loop.function)
    return next(iter(sent)) if len(sent) == 1 else None


def _instead(anatomy: Anatomy, loop: RoundLoop, slot: Slot, inside: Sequence[Stored]) -> Iterator[Stored]:
    """The messages of others that a round adds behind a reply which is there, and not before them in the history."""
    function, places = loop.function, ReplyPlaces(anatomy)
    others = {
        one: _comes_at(anatomy, loop, one)
        for one in inside
        if one.kind in GROWING and one.role in {"user", "system", "developer"}
    }
    if not others:
        return
    kept = [one.node for one in inside if one not in others]
    kept += [n for n in function.nodes_of(cst.Call) if n is not loop.asks and _is_handed(anatomy, n, slot)]
    barred, here = set(anatomy.points(function, kept)), anatomy.points(function, [loop.asks])
    held = places.held(function, loop.asks, barred)
    told = {one: {name for point in points for name in held.get(point, ())} for one, points in others.items()}
    apart = [one for one in others if told[one] and not holds(_put(one), loop.asks, told[one])]
    barred.update(anatomy.points(function, [one.node for one in others if one not in apart]))
    ways, is_there = anatomy.ways(function), places.is_there(function, loop.asks)

    def says(node: cst.CSTNode) -> bool | None:
        known = without_calls(anatomy.facts, node.test) if isinstance(node, (cst.If, cst.While)) else None
        return is_there(node) if known is None else known

    for one in apart:
        at = anatomy.points(function, [one.node])
        if ways.path(here, others[one], barred, says=says) and ways.path(at, here, barred, says=says):
            yield one


def _comes_at(anatomy: Anatomy, loop: RoundLoop, one: Stored) -> list[Point]:
    """Where a round comes to a message: in a handler from its `try`, if that takes the reply apart, and asks not."""
    for outer in anatomy.module.ancestors(one.node):
        if outer is loop.node:
            break
        guard = anatomy.module.parent[outer]
        if isinstance(outer, cst.ExceptHandler) and isinstance(guard, cst.Try):
            asks = anatomy.module.inside(loop.asks, guard.body)
            return [] if asks else anatomy.points(loop.function, guard.body.body[:1])
    return anatomy.points(loop.function, [one.node])


def _put(one: Stored) -> list[cst.BaseExpression]:
    """What is put into a history."""
    value = one.write.value if one.write is not None else None
    return [value] if value is not None else [arg.value for arg in getattr(one.node, "args", ())]


def _closed_without_calls(anatomy: Anatomy, loop: RoundLoop) -> set[tuple[Point, Kind]]:
    """The sides of a loop's branches that are not taken where the reply of its request has no tool calls."""
    facts, flow = anatomy.facts, anatomy.flow(loop.function)
    taken = ReplyPlaces(anatomy).derived(loop.function, loop.asks, loop.node)
    closed: set[tuple[Point, Kind]] = set()
    for node in anatomy.module.nodes_inside(loop.node, loop.function, cst.If, cst.While, cst.For):
        assert isinstance(node, (cst.If, cst.While, cst.For))
        test = node.iter if isinstance(node, cst.For) else node.test
        names = names_in(test)
        outcome = without_calls(facts, test) if names & taken else None
        if outcome is not None:
            closed.update((point, "false" if outcome else "true") for point in flow.at(node))
    return closed


def _is_handed(anatomy: Anatomy, call: cst.Call, slot: Slot) -> bool:
    return any(reads(anatomy, arg.value, slot) for arg in call.args) and not is_logging(call)


def _forces_tools(call: cst.Call) -> bool:
    """Whether the request makes the model call a tool: `tool_choice="required"`, `{"type": "any"}`."""
    choice = ex.argument(call, "tool_choice")
    if choice is None:
        return False
    return ex.text(choice) != "auto" and ex.text(ex.dict_items(choice).get("type", choice)) != "auto"
