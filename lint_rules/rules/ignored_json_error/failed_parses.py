"""What a failed parse leaves behind when its error is swallowed: a neutral value that goes on, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling
from lint_rules.anatomy.values.known import sources
from lint_rules.rules.ignored_json_error import outside
from lint_rules.rules.ignored_json_error.parse_attempts import is_tried_otherwise
from lint_rules.rules.ignored_json_error.uses import flows_on, is_tested, uses_after
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.walk import walk

# -- a value in its place ---------------------------------------------------------------------------------------


def value_instead(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> cst.BaseExpression | None:
    """The neutral value that goes on in place of the failed one; None where there is none, or it is tested or shown."""
    neutral, target = handling.neutral, handling.target
    if neutral is None or handling.ending is not Ending.NEUTRAL:
        return None
    if target is None:  # `return {}`; of a None callers know that it says "failed"
        return neutral if not isinstance(neutral, cst.Name) and _hands_back(anatomy, call, function) else None
    return neutral if _goes_on(anatomy, call, handling, target, neutral) else None


def _goes_on(
    anatomy: Anatomy, call: cst.Call, handling: Handling, target: cst.BaseExpression, instead: cst.BaseExpression
) -> bool:
    """Whether what a handler puts into a place is handed on: a name behind it, where no test tells it from what was
    parsed; a part of something goes where that goes, but for the messages of a past that is rendered."""
    if not isinstance(target, cst.Name):
        around = (outer.iter for outer in anatomy.module.ancestors(call) if isinstance(outer, cst.For))
        return not any(map(anatomy.is_history, around))
    function = anatomy.module.scope_of[call].function
    uses = uses_after(anatomy.module, target.value, handling.guard, function.node)
    if any(is_tested(anatomy.module, use, instead) for use in uses):
        return False
    flowing = [use for use in uses if flows_on(anatomy.module, use)]
    read = outside.reads_reply(anatomy, call)
    return any(read or not _is_sent_back(anatomy, use) for use in flowing)


def _hands_back(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Whether the function gives back what it parsed: a title or a hint that is made of it may well be empty."""
    statement = anatomy.module.statement(call)
    names: set[str] = set()
    if isinstance(statement, (cst.Assign, cst.AnnAssign)):
        targets = ex.targets(statement)
        names = {name for target in targets for name in ex.target_names(target)}
    for given in function.returned:
        for whole in ex.several(given):
            for part in (each for one in ex.alternatives(whole) for each in (one, *sources(one))):
                if part is call or (isinstance(part, cst.Name) and part.value in names):
                    return True
    return isinstance(statement, cst.Return)


def _is_sent_back(anatomy: Anatomy, use: cst.Name) -> bool:
    """Whether a value goes into a `tool_use` block: a past call put into another provider's form, that runs nothing."""
    return any(
        ex.text(items["type"]) == "tool_use"
        for outer in anatomy.module.ancestors(use)
        if isinstance(outer, cst.Dict) and "type" in (items := ex.dict_items(outer))
    )


# -- nothing ----------------------------------------------------------------------------------------------------


def is_dropped(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether the call that a model wrote is lost with the error: nothing else is tried, and it would be used."""
    return (
        (handling.ending is Ending.DROPS or _is_unread(anatomy, call, handling))
        and not _ends_in_error(anatomy, call, handling)
        and not is_tried_otherwise(anatomy, call, handling)
        and _is_put_to_use(anatomy, call)
    )


def _is_unread(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """`arguments = {}` and `continue`: whether nobody reads the neutral value that a handler puts into a name."""
    target, function = handling.target, anatomy.module.scope_of[call].function
    if handling.ending is not Ending.NEUTRAL or not isinstance(target, cst.Name):
        return False
    return not uses_after(anatomy.module, target.value, handling.guard, function.node)


def _ends_in_error(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether a function that gives back what it parses tells of it in the end, if it makes nothing else of the text.

    It raises, or gives words in the place beside it: `return {}, "no JSON"`.
    """
    function = anatomy.module.scope_of[handling.guard].function
    given = [node for node in function.nodes_of(cst.Return) if not handlers.is_neutral(node.value)]
    ends = anatomy.points(function, [*function.nodes_of(cst.Raise), *given])
    graph = anatomy.flow(function)
    start = graph.at(handling.handler)
    return (
        bool(ends)
        and _hands_back(anatomy, call, function)
        and graph.reaches(start, ends, exceptions=False)
        and not graph.reaches(start, graph.exit, anatomy.points(function, given), exceptions=False)
    )


def held_instead(anatomy: Anatomy, call: cst.Call, handling: Handling) -> list[Definition]:
    """What the name held before that the value was to get, if the way of the error leads to where it is put to use.

    The statement that parses is among them where the call before it left its arguments. None where the way leads by.
    """
    function = anatomy.module.scope_of[call].function
    flow, reaching, parse = anatomy.flow(function), anatomy.reaching(function), anatomy.points(function, [call])
    handler = handling.handler
    failed = flow.within(walk(handler.body)) if isinstance(handler, cst.ExceptHandler) else parse
    for name in _names(anatomy, call) if handling.ending is Ending.DROPS else ():
        uses = anatomy.points(function, [use for use in _put_to_use(anatomy, call) if use.value == name])
        bound = {definition.point for definition in reaching.definitions if definition.name == name}
        if flow.reaches(failed, uses, bound):
            return list(dict.fromkeys(held for point in parse for held in reaching.at(point, name)))
    return []


def _is_put_to_use(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether what is parsed, if it gets a name, is run, stored or given back."""
    return not _names(anatomy, call) or any(_put_to_use(anatomy, call))


def _put_to_use(anatomy: Anatomy, call: cst.Call) -> Iterator[cst.Name]:
    """Where a parsed value is run or stored; one that is only looked into (a search, a test) loses no call."""
    module, names = anatomy.module, _names(anatomy, call)
    for use in module.scope_of[call].function.nodes:
        if isinstance(use, cst.Name) and use.value in names and not isinstance(module.parent[use], cst.AssignTarget):
            compared = any(isinstance(outer, cst.Comparison) for outer in module.ancestors(use))
            if not compared and flows_on(module, use):
                yield use


def _names(anatomy: Anatomy, call: cst.Call) -> list[str]:
    """The names that a parsed value is bound to."""
    statement = anatomy.module.statement(call)
    if not isinstance(statement, (cst.Assign, cst.AnnAssign)):
        return []
    return [name for target in ex.targets(statement) for name in ex.target_names(target)]
