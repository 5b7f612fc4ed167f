"""Streams of a reply that break off, and look like whole ones: whoever gets the pieces takes the half for an answer.

A function hands the pieces on, to who reads them from it or from a queue, and a handler around that says nothing: the
stream ends as it does when the model has said all.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.rounds.quiet_ends import takes_failures
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope

_TORN = frozenset({"OSError", "IOError", "EOFError", "ConnectionError", "ConnectionResetError", "TimeoutError"})
"""What a connection raises that breaks off while it is read. Source: standard library."""
_HANDING = frozenset({"put", "put_nowait", "send", "send_nowait", "publish", "emit"})
_ASIDE = frozenset({"debug", "info", "trace"})
"""Levels of logs that nobody reads by default."""


@record
class TornStream:
    """`handler` hides that the stream of `request` has broken off, of which `handed` gives a piece away."""

    handler: cst.ExceptHandler
    request: cst.Call
    handed: cst.CSTNode


def torn_streams(anatomy: Anatomy) -> Iterator[TornStream]:
    """Those of requests that offer tools: an agent goes on with what it has got."""
    for guard in anatomy.module.nodes_of(cst.Try) if anatomy.facts.calls else ():
        function = anatomy.module.scope_of[guard].function
        for loop in (node for node in walk_scope(guard.body) if isinstance(node, cst.For)):
            request, handed = _request(anatomy, loop.iter), _handed(loop.body)
            if request is None or handed is None or not may_call_tools(anatomy, request):
                continue
            told = _handed(guard.orelse) if guard.orelse is not None else _told_behind(anatomy, guard, loop)
            for handler in guard.handlers if told is None else ():
                if _takes_torn(anatomy, handler) and _says_nothing(anatomy, guard, handler, function):
                    yield TornStream(handler, request, handed)


def _request(anatomy: Anatomy, stream: cst.BaseExpression) -> cst.Call | None:
    """The request of whose reply a loop reads the pieces, or the lines in which they come."""
    facts = anatomy.facts
    for node in walk(stream):
        slot = facts.slots.of_name(node)
        for value in (node, *facts.assigned(slot), *(facts.entered(slot) if slot is not None else ())):
            made = ex.inner(value.expression) if isinstance(value, cst.Await) else value
            if isinstance(made, cst.Call) and made in facts.calls:
                return made
    return None


def _handed(block: cst.CSTNode) -> cst.CSTNode | None:
    """Where something is given away in a block: a piece is yielded, or put where another one reads it."""
    for node in walk_scope(block):
        if isinstance(node, cst.Yield) or (
            isinstance(node, cst.Call) and node.args and ex.called_name(node) in _HANDING
        ):
            return node
    return None


def _told_behind(anatomy: Anatomy, guard: cst.Try, loop: cst.For) -> cst.CSTNode | None:
    """Whether the end is told within the `try`, behind the loop: then it is missed where the stream breaks off."""
    lines = [line for line in guard.body.body if anatomy.module.before(loop, line)]
    return next((told for line in lines if (told := _handed(line)) is not None), None)


def _takes_torn(anatomy: Anatomy, handler: cst.ExceptHandler) -> bool:
    return takes_failures(anatomy, handler) or not exceptions.caught(handler).isdisjoint(_TORN)


def _says_nothing(anatomy: Anatomy, guard: cst.Try, handler: cst.ExceptHandler, function: Scope) -> bool:
    """Whether a handler tells nobody, and nothing is asked again behind it."""
    if handlers.handle(anatomy.module, guard, handler).ending not in {Ending.NEUTRAL, Ending.DROPS}:
        return False
    calls = [node for node in walk(handler.body) if isinstance(node, cst.Call) and handlers.is_logging(node)]
    asks = (node for node in function.nodes_of(cst.Call) if anatomy.calls.asks(node))
    return all(ex.called_name(call) in _ASIDE for call in calls) and not anatomy.leads(function, [handler], [*asks])
