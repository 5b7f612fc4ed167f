"""Where tool calls wait for answers: loops over them, and what follows the store of a reply."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.in_hand import InHand
from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.rounds.executions import call_loops
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import CALL_WRAPPERS
from lint_rules.obligations.open_ends import OpenEnds
from lint_rules.obligations.unanswered import Region
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.control_flow import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class Asked:
    """A reply with calls that was stored at `node`; the region is what follows, up to the next request.

    At the points `untold` no test has said yet that there are calls.
    """

    function: Scope
    node: cst.CSTNode
    slot: Slot | None
    region: Region
    told: ToldByReply
    untold: set[Point]

    def knows(self, points: list[Point]) -> bool:
        """Whether all ways to some points have told that there are calls."""
        return not any(point in self.untold for point in points)


@record
class Taken:
    """A tool call that a region has in hand; `loop` is the loop over the calls, None in a function that gets one.

    `asked` is the reply where all its calls are in hand, outside of loops. `is_alone`: each call is stored by itself,
    where the region begins.
    """

    function: Scope
    hand: InHand
    region: Region
    loop: cst.For | None
    headers: tuple[Point, ...] = ()
    asked: Asked | None = None
    is_alone: bool = False


BINDINGS = (cst.Assign, cst.AnnAssign, cst.NamedExpr)


def bindings_of(function: Scope) -> list[cst.CSTNode]:
    """What gives a function's names their values, loops included."""
    return function.nodes_of(*BINDINGS, cst.For, cst.CompFor)


def loops(anatomy: Anatomy, function: Scope) -> Iterator[tuple[cst.For, cst.BaseExpression]]:
    """Loops over calls, and over the parts of a reply where some hold a call: `if "toolUse" in block`."""
    found = {loop.node: loop.call for loop in call_loops(anatomy.facts, function) if isinstance(loop.node, cst.For)}
    for node in function.nodes_of(cst.For):
        paired = calls_of(anatomy, node)
        if node not in found and paired:
            found[node] = paired[0]
        if node not in found and type(node.target) is cst.Name:
            slot = anatomy.facts.slots.of(node.target)
            if Kind.HISTORY in anatomy.facts.kinds(node.iter) or slot is None or Kind.MESSAGE in anatomy.facts.of(slot):
                continue  # an adapter of stored messages
            if any(
                (pair := ex.member(inside)) is not None
                and pair[1] in CALL_WRAPPERS
                and slot == anatomy.facts.slots.of(pair[0])
                for inside in walk(node.body)
            ):
                found[node] = node.target
    yield from found.items()


def calls_of(anatomy: Anatomy, loop: cst.For) -> list[cst.BaseExpression]:
    """The names that stand for one call in a loop over tuples: `for raw, call in parsed`."""
    parts = [element.value for element in loop.target.elements] if isinstance(loop.target, cst.Tuple) else []
    return [part for part in parts if type(part) is cst.Name and anatomy.facts.is_kind(part, Kind.CALL)]


def stored_calls(anatomy: Anatomy, answers: Answers, function: Scope, ends: OpenEnds) -> Iterator[Asked]:
    """The places at which a function stores a reply with calls that it answers further down."""
    answering = {s.node for s in ends.stored if s.answers}
    stores = [s for s in ends.stored if s.calls is not None and s.node not in answering]
    if not stores:
        return
    graph = anatomy.flow(function)
    told = ToldByReply(anatomy, function)
    asking = {p for p in graph.points if told.asks(p)}
    points = [p for p in graph.points if p.statement is not None and p not in asking]
    begins = [t for p in asking or {graph.entry} for t, kind in p.successors if kind != "exception"]
    seen: set[cst.CSTNode] = set()
    for store in stores:
        told.carries(store)
    both = {s.node for s in ends.stored if s.calls is not None}  # calls and results, as far as there are any by then
    answered = {*anatomy.points(function, answering - both)}  # what was made before, and waits in a name, is stored

    stored = (p for store in stores for p in graph.enclosing(store.node, anatomy.module.parent))
    behind = [t for p in stored for t, kind in p.successors if kind != "exception"]
    before, untold = _open(answers, ends, told, points, begins, behind, answered)
    for store in stores:
        if store.node in seen:
            continue
        seen.add(store.node)
        places = graph.enclosing(store.node, anatomy.module.parent)
        starts = [t for p in places for t, kind in p.successors if kind != "exception"]
        is_open = any(p in before.waiting for p in places) or asking.issuperset(places)  # or asks, and stores the reply
        if is_open and not any(answers.at(p) for p in places):
            yield Asked(function, store.node, store.slot, before.begun(starts), told, untold)


def _open(
    answers: Answers,
    ends: OpenEnds,
    told: ToldByReply,
    points: list[Point],
    begins: list[Point],
    behind: list[Point],
    answered: Collection[Point] = (),
) -> tuple[Region, set[Point]]:
    """Where a reply waits, whose message is stored `behind` some points, and where none has told if it has calls.

    Whoever gets it there may look for that.
    """

    def hands(point: Point) -> bool:
        return told.settles(point, point in after)

    def settles(point: Point) -> bool:
        return point in answered or ends.takes_back(point) or ((point in untold or told.stores(point)) and hands(point))

    region = Region(answers, ends.graph, points, begins, told.outcome, settles, hands=hands)
    after = region.reached(behind, set())
    telling = {p for p in points if p.statement is not None and told.tells_apart(p.statement)}
    untold = region.reached(begins, telling)
    return region, untold


def runs_in(anatomy: Anatomy, loop: cst.For) -> Iterator[tuple[cst.Call, Anatomy, Scope]]:
    """The functions of the project that give what a loop goes through, each with the file it stands in."""
    for call in (node for node in walk(loop.iter) if type(node) is cst.Call):
        found = body(anatomy, call)
        if found is not None:
            yield call, *found
