"""Errors of a request that a handler hides, and that end a loop of rounds as if the model had finished.

The handler leaves the loop itself, or puts a neutral value in the place of the reply that a test then takes for an end,
in its own function or in a caller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending
from lint_rules.anatomy.rounds.limits import Cause, Limits
from lint_rules.anatomy.rounds.quiet_ends import (
    bound_to,
    ends_by_flag,
    guarded_request,
    runs_tools,
    takes_failures,
    tested_for_end,
    told_after,
)
from lint_rules.finding import Related
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import last_statement, walk, walk_scope

_Rounds = Collection[cst.CSTNode | None]


@record
class QuietEnd:
    """`handler` hides that `request` has failed, and at `end`, maybe of another file, the loop of rounds is over."""

    handler: cst.ExceptHandler
    request: cst.Call
    end: cst.CSTNode | Related


def quiet_ends(anatomy: Anatomy) -> Iterator[QuietEnd]:
    """Those of all loops whose rounds run tools, in a file or in those that import it."""
    rounds: _Rounds = {loop.node for loop in anatomy.rounds if runs_tools(anatomy, loop)}
    for guard in anatomy.module.nodes_of(cst.Try):
        request = guarded_request(anatomy, guard)
        if request is None:
            continue
        for handler in _silent(anatomy, guard):
            if not rounds and not any(each.quiet for each in anatomy.handed):
                return
            end = _end(anatomy, guard, handler, request, rounds)
            if end is not None:
                yield QuietEnd(handler, request, end)


def _silent(anatomy: Anatomy, guard: cst.Try) -> Iterator[cst.ExceptHandler]:
    """The handlers that catch what a request raises and leave no trace of it: no log, no call, no telling value.

    What is returned where the model has finished, too, tells nothing.
    """
    for handler in guard.handlers:
        if takes_failures(anatomy, handler):
            if handlers.handle(anatomy.module, guard, handler).ending in {Ending.NEUTRAL, Ending.DROPS}:
                if not any(type(node) is cst.Call and not handlers.is_neutral(node) for node in walk(handler.body)):
                    yield handler
            elif _returns_as_ever(anatomy, handler) or _flag(anatomy, handler) is not None:
                yield handler


def _flag(anatomy: Anatomy, handler: cst.ExceptHandler) -> cst.CSTNode | None:
    """The flag by which a handler ends its loop, `done = True`, where it does nothing else."""
    done = [node for node in walk_scope(handler.body) if isinstance(node, cst.BaseSmallStatement)]
    flags = [node for node in done if ends_by_flag(anatomy, node)]
    return (
        flags[0]
        if flags and all(isinstance(node, (cst.Continue, cst.Pass)) or node in flags for node in done)
        else None
    )


def _returns_as_ever(anatomy: Anatomy, handler: cst.ExceptHandler) -> bool:
    """Whether a handler does nothing but return what its function returns, too, where the model's reply ends a loop."""
    module, last = anatomy.module, last_statement(handler.body)
    done = [node for node in walk_scope(handler.body) if isinstance(node, cst.BaseSmallStatement)]
    if not isinstance(last, cst.Return) or done != [last] or last.value is None:
        return False
    function, value = module.scope_of[handler].function, ex.source(last.value)
    returns = (node for node in function.nodes_of(cst.Return) if node is not last and node.value is not None)
    same = [node for node in returns if node.value is not None and ex.source(node.value) == value]
    for loop in anatomy.rounds if same else ():
        if loop.function is function and module.inside(handler, loop.node):
            limits = Limits(anatomy, loop.node, function)
            said = {each.node for each in limits.decisions if each.cause is Cause.REPLY}
            ways_out = [test for test in limits.exits.deciding if test.statement in said]
            answered = {point for test in ways_out for point in limits.exits.behind(test)}
            given = {*anatomy.points(function, same)}
            if answered & given or anatomy.flow(function).reaches(answered, given, exceptions=False):
                return True
    return False


def _end(
    anatomy: Anatomy,
    guard: cst.Try,
    handler: cst.ExceptHandler,
    request: cst.Call,
    rounds: _Rounds,
) -> cst.CSTNode | Related | None:
    """Where the loop of rounds ends because of the error, or None."""
    function = anatomy.module.scope_of[guard].function
    loop = anatomy.module.loop_around(guard, own=True)
    last = last_statement(handler.body)
    if isinstance(last, cst.Break):
        return last if loop in rounds and not told_after(anatomy, loop, function) else None
    if isinstance(last, cst.Return):
        if loop in rounds or any(node is not None and anatomy.module.inside(node, guard.body) for node in rounds):
            return last
        return _ended_by_callers(anatomy, function, rounds, last.value) if handlers.is_neutral(last.value) else None
    if (flag := _flag(anatomy, handler)) is not None:
        return flag if loop in rounds and not told_after(anatomy, loop, function) else None
    if isinstance(last, (cst.Continue, cst.Raise)):
        return None
    emptied = _emptied(handler) | _emptied_before(anatomy, guard)
    if loop in rounds:
        return tested_for_end(anatomy, function, bound_to(anatomy, request) | emptied, guard)
    given = (node.value for node in function.nodes_of(cst.Return))
    if any(type(value) is cst.Name and value.value in emptied for value in given):
        return _ended_by_callers(anatomy, function, rounds)
    return None


def _emptied(handler: cst.ExceptHandler) -> set[str]:
    """The names to which a handler gives a value that says nothing."""
    assigns = (node for node in walk(handler.body) if isinstance(node, cst.Assign) and handlers.is_neutral(node.value))
    return {name for node in assigns for target in node.targets for name in ex.target_names(target.target)}


def _emptied_before(anatomy: Anatomy, guard: cst.Try) -> set[str]:
    """The names that a `try` was to set, which hold a value that says nothing if it fails: `calls = []` before it."""
    function, module = anatomy.module.scope_of[guard].function, anatomy.module
    wanted = {
        name for node in walk_scope(guard.body) for target in ex.assigned(node) for name in ex.target_names(target)
    }
    last: dict[str, cst.BaseExpression] = {}
    for node in function.nodes_of(cst.Assign):
        if module.before(node, guard) and module.loop_around(node, own=True) is module.loop_around(guard, own=True):
            last.update({name: node.value for target in ex.targets(node) for name in ex.target_names(target)})
    return {name for name in wanted & last.keys() if handlers.is_neutral(last[name])}


def _ended_by_callers(
    anatomy: Anatomy, function: Scope, rounds: _Rounds, value: cst.BaseExpression | None = None
) -> cst.CSTNode | Related | None:
    """Where a loop of rounds that calls this function, also in another file, takes its neutral value for an end."""
    for site in anatomy.calls.sites[function]:
        if anatomy.module.loop_around(site.node, own=True) in rounds:
            names = bound_to(anatomy, site.node)
            names |= {f"{name}.get" for name in names} if isinstance(value, cst.Dict) else set()
            found = tested_for_end(anatomy, site.caller, names, anatomy.module.statement(site.node))
            if found is not None:
                return found
    told = (each for each in anatomy.handed if each.quiet and each.owner == function.qualname)
    return next((Related(each.span, "here the loop ends", each.path) for each in told), None)
