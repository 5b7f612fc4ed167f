"""Results that are taken back: an error behind a tool round takes the last message off the history.

`except APIError: messages.pop()` is there for the question that was not answered. Where the request that fails is the
one behind a tool round, the last message is a result.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.messages.growth import resets
from lint_rules.anatomy.messages.role_tests import told_roles
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.again import Again
from lint_rules.obligations.late_requests import LateRequests
from lint_rules.obligations.open_ends import OpenEnds
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class TakenBack:
    """`node` takes the last message off the history `slot`, when `request` has failed: a result, made behind others."""

    node: cst.CSTNode
    slot: Slot
    request: cst.Call


def taken_back(anatomy: Anatomy) -> Iterator[TakenBack]:
    """All of a file."""
    late = LateRequests(anatomy)
    for function in anatomy.module.functions:
        for write in anatomy.writes.by_function.get(function, ()) if function.kind in {"function", "module"} else ():
            is_meant = _takes_one(anatomy, write) and not _is_repeated(anatomy, write)
            handlers = _handlers(anatomy, write) if is_meant else []
            for request in anatomy.turns.requests(function) if handlers else ():
                taken = any(handler in handlers for handler in _takers(anatomy.module, request))
                if taken and _is_behind_result(anatomy, late, request, write) and _goes_on(anatomy, write):
                    yield TakenBack(write.node, write.slot, request)
                    break


def _is_behind_result(anatomy: Anatomy, late: LateRequests, request: cst.Call, write: HistoryWrite) -> bool:
    """Whether the last message may be a result when a request fails: one that nobody looks at before it is taken."""
    function, slot = write.function, write.slot
    results = [s for s in anatomy.transcript.stored(function) if s.answers and s.slot == slot and s.node is not request]
    others = [w.node for w in anatomy.writes.by_slot[slot] if w.function is function]
    barred = set(anatomy.points(function, (node for node in others if all(node is not s.node for s in results))))
    again = Again(anatomy, function)
    for stored in results:
        start = again.points(stored.node)
        if all(again.leads(start, again.points(node), barred) for node in (request, write.node)):
            return not _is_question(anatomy, write, _role(stored))
    is_kept = late.fails(request) and slot in late.kept(request)
    return is_kept and not _is_question(anatomy, write, None)


def _role(stored: Stored) -> str | None:
    role = ex.dict_items(stored.message.node).get("role") if stored.message is not None else None
    return ex.text(role) if role is not None else None


def _handlers(anatomy: Anatomy, write: HistoryWrite) -> list[cst.CSTNode]:
    """The handlers in which something is written: not those in which it is so in a loop, which goes on to a mark."""
    found: list[cst.CSTNode] = []
    for outer in anatomy.module.ancestors(write.node):
        if isinstance(outer, (cst.For, cst.While, cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(outer, cst.ExceptHandler):
            found.append(outer)
    return found


def _takers(module: SourceModule, call: cst.Call) -> Iterator[cst.ExceptHandler]:
    """The handlers that may take the error of a request, innermost first."""
    for guard in exceptions.guards(module, call):
        for handler in guard.handlers:
            if any(_is_of_requests(name) for name in exceptions.caught(handler)):
                yield handler
            if exceptions.caught(handler) & exceptions.CATCH_ALL:
                return


def _is_of_requests(error: str) -> bool:
    """Whether a request may raise an error of a class: one that Python has for something else is not for that."""
    cls = getattr(builtins, error, None)
    return not isinstance(cls, type) or issubclass(cls, (OSError, KeyboardInterrupt)) or error in exceptions.CATCH_ALL


def _takes_one(anatomy: Anatomy, write: HistoryWrite) -> bool:
    """`h.pop()`, `del h[-1]`, `h = h[:-1]`."""
    node = write.node
    if isinstance(node, cst.Call):
        return ex.called_name(node) == "pop" and all(ex.integer(arg.value) == -1 for arg in node.args)
    if isinstance(node, cst.Del):
        return isinstance(node.target, cst.Subscript) and ex.integer(ex.index(node.target)) == -1
    value = ex.inner(write.value) if write.value is not None and write.kind in {"rebind", "replace"} else None
    kept = ex.slice_of(value) if isinstance(value, cst.Subscript) else None
    if kept is None or not isinstance(value, cst.Subscript) or anatomy.facts.slots.of(value.value) != write.slot:
        return False
    return kept.lower is None and ex.integer(kept.upper) == -1


def _is_repeated(anatomy: Anatomy, write: HistoryWrite) -> bool:
    """Whether more is taken off beside it: the call goes with its result."""
    block = anatomy.module.parent[anatomy.module.parent[anatomy.module.statement(write.node)]]
    beside = (w for w in anatomy.writes.by_slot[write.slot] if w is not write and w.kind not in GROWING)
    return any(anatomy.module.inside(other.node, block) for other in beside)


def _is_question(anatomy: Anatomy, write: HistoryWrite, said: str | None) -> bool:
    """Whether the last message is looked at before it is taken: by a role that results do not say, or otherwise."""
    for outer in anatomy.module.ancestors(write.node):
        if isinstance(outer, cst.ExceptHandler):
            break
        if isinstance(outer, cst.If):
            is_so = anatomy.module.inside(write.node, outer.body)
            told = (told_roles(test) or () for test in _parts(outer.test) if _is_told(test))
            if any(not is_so or said not in roles for roles in told):
                return True
    return False


def _is_told(test: cst.BaseExpression) -> bool:
    """Whether a test looks at an element of a list, or compares something but its length with a number."""
    places = (ex.index(part) for part in walk(test) if isinstance(part, cst.Subscript))
    if any(place is not None and ex.text(place) is None for place in places):
        return True
    sides = [test.left, *(each.comparator for each in test.comparisons)] if isinstance(test, cst.Comparison) else []
    return bool(sides) and all(ex.integer(side) is None for side in sides)


def _parts(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The tests that `a and b` asks for."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        yield from _parts(test.left)
        yield from _parts(test.right)
    else:
        yield test


def _goes_on(anatomy: Anatomy, write: HistoryWrite) -> bool:
    """Whether the history is sent once more, here or by whoever keeps it, as it is."""
    function, slot = write.function, write.slot
    if anatomy.mending.reaches({slot}):
        return False
    others = anatomy.writes.by_slot[slot]
    renewed = anatomy.points(function, [w.node for w in others if w.function is function and resets(anatomy, w)])
    start = anatomy.points(function, [write.node])
    flow = anatomy.flow(function)
    asks = anatomy.points(function, (c for c in anatomy.turns.requests(function) if _gets(anatomy, c, slot)))
    if flow.reaches(start, asks, set(renewed), exceptions=False):
        return True
    ends = OpenEnds(anatomy, Answers(anatomy.facts, anatomy.calls), function)
    out = [flow.exit, flow.raises]
    return flow.reaches(start, out, set(renewed), exceptions=False) and ends.outlives(slot, function, surely=True)


def _gets(anatomy: Anatomy, call: cst.Call, slot: Slot) -> bool:
    """Whether a request may be made of a history."""
    return slot[0] != "var" or any(_names(anatomy, arg.value, slot) for arg in call.args)


def _names(anatomy: Anatomy, value: cst.BaseExpression, slot: Slot) -> bool:
    return any(ex.reads_place(node) and anatomy.facts.slots.of(node) == slot for node in walk(value))
