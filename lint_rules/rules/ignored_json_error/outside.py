"""Where a text comes from: from outside of a function, out of a reply that has just come, or out of a past."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk


def comes_from_outside(anatomy: Anatomy, given: cst.BaseExpression, function: Scope) -> bool:
    """Whether the text reaches the function from a caller, from its object, or from a model it asks."""
    slot = anatomy.facts.slots.of(given)
    if slot is None:
        parts = [n for n in walk(given) if isinstance(n, (cst.Attribute, cst.Subscript, cst.Name, cst.Call))]
        return any(anatomy.facts.slots.of(p) is not None and comes_from_outside(anatomy, p, function) for p in parts)
    root: Slot = slot
    for _ in range(DEEPEST):
        root = root_object(root)
        if root[0] == "attr":
            return True
        if root[0] == "return":
            return anatomy.calls.reaches_llm(root[1])
        if root[0] == "call":
            asked = root[1] in anatomy.facts.calls or Kind.REPLY in anatomy.facts.of(root)
            run = anatomy.imported_function(ex.dotted(root[1].func) or "")
            asked = asked or (run is not None and run[0].calls.reaches_llm(run[1]))
            return asked or (bool(parameters(function)) and not ex.called_name(root[1])[:1].isupper())
        if Kind.REPLY in anatomy.facts.of(root):
            return True
        if root[0] == "var" and root[2] in {p.name.value for p in parameters(root[1])}:
            return True
        source = source_of(anatomy, root)
        if source is None:
            return anatomy.calls.reaches_llm(function)
        while (copied := next(iter(sources(source)), None)) is not None:
            source = copied
        following = anatomy.facts.slots.of(source)
        if following is None or following == root:
            return anatomy.calls.reaches_llm(function)
        root = following
    return False


def source_of(anatomy: Anatomy, slot: Slot) -> cst.BaseExpression | None:
    """What a local name was bound to: its assignment, or the iterable of the loop that binds it."""
    values = anatomy.facts.assigned(slot)
    if values:
        return next(iter(ex.alternatives(next((v for v in values if not is_neutral(v)), values[0]))))
    for node in anatomy.module.nodes_of(cst.For, cst.CompFor):
        if slot[2] in ex.target_names(node.target):
            if slot[1] is anatomy.module.scope_binding(anatomy.module.scope_of[node.target], slot[2]):
                return _iterated(next(iter(ex.alternatives(node.iter))))
    return None


def _iterated(node: cst.BaseExpression) -> cst.BaseExpression:
    """`xs` of `enumerate(xs)`, `xs.values()`, `reversed(xs)`."""
    if isinstance(node, cst.Call):
        if ex.called_name(node) in {"items", "values"}:
            return ex.receiver(node) or node
        if ex.called_name(node) in {"enumerate", "reversed", "zip"} and node.args:
            return node.args[0].value
    return node


def _way_back(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[tuple[Slot, cst.BaseExpression | None]]:
    """The names a value came through, last first, each with what it was bound to (None where that is not known)."""
    here: cst.BaseExpression | None = value
    for _ in range(DEEPEST):
        slot = anatomy.facts.slots.of(here)
        slot = root_object(slot) if slot is not None else None
        if here is None or slot is None or slot[0] != "var":
            return
        while isinstance(here, (cst.Attribute, cst.Subscript)):
            here = here.value
        here = (anatomy.assigned(here) if isinstance(here, cst.Name) else None) or source_of(anatomy, slot)
        yield slot, here


def renders_the_past(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Stored calls that are put into another form for a request: they were answered long ago, and no tool runs."""
    for slot, source in _way_back(anatomy, call.args[0].value):
        if source is None:
            return _called_for_the_past(anatomy, slot)
        if _is_history(anatomy, source):
            return not anatomy.calls.reaches_llm(function)
    return False


def _is_history(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a value is stored messages; not the calls of a reply, though each may be stored as a message itself."""
    kinds = anatomy.facts.kinds(value)
    return Kind.HISTORY in kinds and Kind.CALLS not in kinds


def _called_for_the_past(anatomy: Anatomy, parameter: Slot) -> bool:
    """Whether every caller in this file passes a part of a stored message."""
    passed = anatomy.facts.given(parameter)
    if anatomy.calls.reaches_llm(parameter[1]):
        return False
    return bool(passed) and all(_is_stored(anatomy, value) for value in passed)


def _is_stored(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a value was taken out of a history."""
    bound = (source for _, source in _way_back(anatomy, value))
    return any(source is not None and _is_history(anatomy, source) for source in bound)


def reads_reply(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether the text is taken from a reply that has just come: of a request, the message in it, pieces of a stream.

    What is a message as well may be one that was stored long ago.
    """
    facts, text = anatomy.facts, call.args[0].value
    way = [*_way_back(anatomy, text)]
    came_from = [text, *(ex.inner(source) for _, source in way if source is not None)]
    if any(facts.is_pieced(made) or made in facts.calls for made in came_from):
        return True
    found = [slot for slot, _ in way if Kind.REPLY in facts.of(slot)]
    shown = (fact for slot in found for fact in facts.shown(slot, Kind.REPLY))
    return any(Kind.MESSAGE not in facts.of(slot) for slot in found) or any(
        fact.root.reason == "is a model's message" for fact in shown
    )
