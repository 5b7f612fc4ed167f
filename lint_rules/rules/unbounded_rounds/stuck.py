"""Loops that ask, and that nothing ends: what they test is the same in every round, or they test nothing."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.rounds.exits import Exits
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.rounds.waits import Waits
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_READING = frozenset(
    {"len", "any", "all", "bool", "min", "max", "sum", "range", "enumerate", "zip", "isinstance", "print"}
)
"""Builtins that edit nothing of what they get, and give the same for the same."""
_PLAIN = (
    cst.BaseNumber, cst.SimpleString, cst.Comparison, cst.BooleanOperation, cst.UnaryOperation, cst.Name, cst.Call,
)  # fmt: skip
"""What a test that hangs on local names alone is made of."""
_PAUSES = frozenset({"time.sleep", "asyncio.sleep", "anyio.sleep", "trio.sleep"})
_LOOKING = (
    cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation, cst.UnaryOperation, cst.FormattedStringExpression,
    cst.If, cst.IfExp, cst.While,
)  # fmt: skip
"""Where a value stands that is looked at, no more."""
_EDITING = (cst.AssignTarget, cst.AugAssign, cst.Del, cst.Attribute, cst.Call)
"""Where a part of a value stands that may be edited."""
_LEAVING = (cst.Break, cst.Return, cst.Raise, cst.Yield)


def stuck_loops(anatomy: Anatomy) -> Iterator[RoundLoop]:
    """The `while` loops in which a model is asked round after round, whatever it says, and whatever the rounds do.

    None that waits for somebody, or pauses: a service. Nor one that another thread or function could end.
    """
    for function in anatomy.module.functions:
        for node in function.nodes_of(cst.While) if anatomy.calls.reaches_llm(function) else ():
            calls = anatomy.calls.calls_within(node.body, function)
            asks = next((call for call in calls if anatomy.calls.asks(call)), None)
            if asks is not None and _never_ends(anatomy, node, function):
                if not any(anatomy.module.full_name(call.func) in _PAUSES for call in calls):
                    if Waits(anatomy.calls, anatomy.flow).in_each_round(node, function) is None:
                        yield RoundLoop(node, function, asks)


def _never_ends(anatomy: Anatomy, node: cst.While, function: Scope) -> bool:
    exits = Exits(anatomy, node, function)
    deciding = {point.statement for point in exits.deciding}
    for way in anatomy.module.nodes_inside(node.body, function, *_LEAVING):
        if not any(outer in deciding for outer in anatomy.module.ancestors(way)):
            return False  # by an error, or by whoever goes through what it yields
    tests = [test for point in exits.deciding for test in exits.tested(point)]
    if not tests and not any(loop.node is node for loop in anatomy.rounds):
        return False  # turns, which somebody may begin
    return all(_is_still(anatomy, test, node, function) for test in tests)


def _is_still(anatomy: Anatomy, test: cst.CSTNode, loop: cst.While, function: Scope) -> bool:
    """Whether a test comes out in each round as in the first: it reads local names that the loop leaves alone."""
    parts = [part for part in walk(test) if isinstance(part, cst.BaseExpression)]
    if not all(isinstance(part, _PLAIN) for part in parts):
        return False
    if any(isinstance(part, cst.Call) and ex.dotted(part.func) not in _READING for part in parts):
        return False
    names = [part for part in parts if isinstance(part, cst.Name) and part.value not in _READING]
    return all(_is_left_alone(anatomy, name, loop, function) for name in names)


def _is_left_alone(anatomy: Anatomy, name: cst.Name, loop: cst.While, function: Scope) -> bool:
    if name.value in ex.CONSTANTS:
        return True
    slot, bound = anatomy.facts.slots.of(name), anatomy.reaching(function).by_name.get(name.value, [])
    if slot is None or slot[:2] != ("var", function) or not bound:
        return False
    inside = (d.point.statement is not None and anatomy.module.inside(d.point.statement, loop) for d in bound)
    if any(inside) or any(name.value in other.foreign for other in anatomy.module.rebinding):
        return False
    fixed = all(isinstance(d.value, (cst.BaseNumber, cst.SimpleString)) or _is_constant(d.value) for d in bound)
    return fixed or _is_only_read(anatomy, name.value, function, loop, set())


def _is_constant(value: cst.BaseExpression | None) -> bool:
    return isinstance(value, cst.Name) and value.value in ex.CONSTANTS


def _is_only_read(anatomy: Anatomy, name: str, function: Scope, loop: cst.While | None, seen: set[Scope]) -> bool:
    """Whether what a function does with a value, in a loop or anywhere, is to look at it, itself or by others."""
    seen.add(function)
    named = [node for node in walk(function.node) if isinstance(node, cst.Name) and node.value == name]
    before = {node for node in function.named(name) if loop is not None and not anatomy.module.inside(node, loop)}
    return all(_is_read(anatomy, node, seen) for node in named if node not in before)


def _is_read(anatomy: Anatomy, node: cst.Name, seen: set[Scope]) -> bool:
    parent, slots = anatomy.module.parent[node], anatomy.facts.slots
    if isinstance(parent, (cst.For, cst.CompFor)):
        return parent.iter is node
    if isinstance(parent, cst.Subscript):
        return parent.value is not node or not isinstance(anatomy.module.parent[parent], _EDITING)
    call = anatomy.module.parent[parent] if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return isinstance(parent, (cst.Param, *_LOOKING))
    callee = slots.callee(call)
    if callee is None:
        return ex.dotted(call.func) in _READING
    landed = [str(slot[2]) for slot, value in slots.bindings(call, callee) if value is node]
    return bool(landed) and (callee in seen or all(_is_only_read(anatomy, p, callee, None, seen) for p in landed))
