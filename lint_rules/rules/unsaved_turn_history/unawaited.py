"""Coroutines that would store what was said, and that nobody runs: `store.remember(key, reply)` without `await`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, class_names
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import describe, made_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_TRANSPARENT = frozenset({"staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod", "override"})
"""Decorators under which a coroutine function stays one, and runs nothing by itself."""


@record
class Unrun:
    """`node` makes a coroutine of `function` that never runs; it would have stored in `history`, if that is known.

    `write` is where, if that is of this file.
    """

    node: cst.Call
    function: str
    history: str | None
    write: cst.CSTNode | None


def unrun_stores(anatomy: Anatomy) -> Iterator[Unrun]:
    """Those of a file: calls that are statements, of coroutine functions of the project."""
    for statement in anatomy.module.nodes_of(cst.Expr):
        call = statement.value
        if isinstance(call, cst.Call) and call.args and not is_logging(call) and _may_be_coroutine(anatomy, call.func):
            there, function = body(anatomy, call) or (anatomy, None)
            if function is not None and _is_coroutine(function):
                yield from _stores(anatomy, call, there, function)


def _stores(anatomy: Anatomy, call: cst.Call, there: Anatomy, function: Scope) -> Iterator[Unrun]:
    """What a coroutine would have stored: in a history, or where what is said is read again."""
    name = ex.called_name(call)
    write = next((w for w in there.writes.reached_from(function) if _outlives(w, function)), None)
    if write is not None:
        yield Unrun(call, name, describe(write.slot), write.node if there is anatomy else None)
    elif anatomy.resources.is_read_again(call) and any(map(partial(_is_said, anatomy), _alike(anatomy, call))):
        yield Unrun(call, name, None, None)


def _alike(anatomy: Anatomy, call: cst.Call) -> list[cst.Call]:
    """The calls of the same function."""
    return [other for other in anatomy.module.nodes_of(cst.Call) if ex.dotted(other.func) == ex.dotted(call.func)]


def _may_be_coroutine(anatomy: Anatomy, func: cst.BaseExpression) -> bool:
    """Whether this file has the function, or one that it imports from a coroutine function of the name, by its text."""
    if anatomy.facts.slots.function(func) is not None:
        return True
    homes = [anatomy.defined_elsewhere(ex.dotted(func) or "", "def")]
    base = anatomy.facts.slots.of(func.value) if isinstance(func, cst.Attribute) else None
    if base is not None:
        homes += [anatomy.defined_elsewhere(cls, "class") for cls in class_names(anatomy, base)]
        homes.append(anatomy.defined_elsewhere(ex.dotted(func.value) or "", ""))  # type: ignore[attr-defined]
    return any(home is not None and f"async def {ex.last_name(func)}".encode() in home[0].source for home in homes)


def _is_coroutine(function: Scope) -> bool:
    """Whether calling a function only makes a coroutine."""
    if not function.is_async or function.nodes_of(cst.Yield):
        return False
    return all(ex.dotted(decorator) in _TRANSPARENT for decorator in decorators(function))


def _outlives(write: HistoryWrite, function: Scope) -> bool:
    """A growing write to something that is not the function's own."""
    return write.kind in GROWING and made_in(write.slot) is not function


def _is_said(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call is handed a message, a history, `"assistant"`, or what a model has replied."""
    facts, function = anatomy.facts, anatomy.module.scope_of[call].function
    given = [arg.value for arg in call.args]
    for part in (part for value in given for part in walk(value) if isinstance(part, cst.BaseExpression)):
        if facts.is_kind(part, Kind.MESSAGE) or facts.is_kind(part, Kind.HISTORY):
            return True
        if isinstance(part, cst.SimpleString) and ex.text(part) in words.TELLING_ROLES:
            return True
    derived = ReplyPlaces(anatomy).derived
    return any(holds(given, ask, derived(function, ask)) for ask in anatomy.turns.requests(function))
