"""Messages that a call has stored before it fails: who takes its error, and goes on, has them in the history.

`try: answer = run(talk, text)` and `except OutOfRounds: answer = short(talk, text)`, where both store `text`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.rules.double_history_append.places import Places
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope


def taken_behind(places: Places, stored: Stored) -> Iterator[Point]:
    """The handlers that take an error of the function that a place runs, which has stored the message by then."""
    failed = [p for p in places.again.failed(stored.node) if isinstance(p.statement, cst.ExceptHandler)]
    raised = frozenset(_errors(places.anatomy, stored, frozenset())) if failed else frozenset()
    for point in failed:
        if isinstance(point.statement, cst.ExceptHandler) and not raised.isdisjoint(exceptions.caught(point.statement)):
            yield point


def _errors(anatomy: Anatomy, stored: Stored, seen: frozenset[Scope]) -> Iterator[str]:
    """The classes of errors that end what a place runs, once that has stored the message."""
    there, callee = body(anatomy, stored.node) or (anatomy, None)
    if callee is None or callee.kind != "function" or callee in seen:
        return
    inside = Places(there, callee)
    for inner in (each for each in inside.all if each.role == stored.role):
        cut = inside.again.unstored(inner.slot)
        if inside.is_left(inner):
            yield from exceptions.CATCH_ALL
        for node in callee.nodes_of(cst.Raise):
            if inside.again.follows(inner.node, node, cut) and _leaves(inside, node):
                yield from (*exceptions.CATCH_ALL, *_classes(there, node))
        if inside.again.graph.raises in inside.again.failed(inner.node):
            yield from _errors(there, inner, seen | {callee})


def _leaves(inside: Places, node: cst.Raise) -> bool:
    return inside.again.leads(inside.again.points(node), {inside.again.graph.raises}, exceptions=False)


def _classes(there: Anatomy, node: cst.Raise) -> Iterator[str]:
    """The class of what is raised, and what that is derived from in its file."""
    raised = node.exc.func if isinstance(node.exc, cst.Call) else node.exc
    name = ex.last_name(raised) if raised is not None else ""
    lineage: list[Scope] = there.module.lineage(there.module.class_named(name))
    yield from (
        name,
        *(each.name for each in lineage),
        *(ex.last_name(b) for each in lineage for b in ex.bases(each.node)),
    )
