"""What a failed parse leaves behind when its error is swallowed: a neutral value that goes on, or nothing at all."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling
from lint_rules.anatomy.values.known import sources
from lint_rules.rules.ignored_json_error import outside
from lint_rules.rules.ignored_json_error.parse_attempts import is_tried_otherwise
from lint_rules.rules.ignored_json_error.uses import flows_on, is_tested, parsed_names, uses_after
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope


def value_instead(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> cst.BaseExpression | None:
    """The neutral value that goes on in place of the failed one; None where there is none, or it is tested or shown."""
    neutral, target = handling.neutral, handling.target
    if neutral is None:
        return None
    if target is None:
        goes_on = not isinstance(neutral, cst.Name) and _hands_back(anatomy, call, function)
    elif isinstance(target, cst.Name):
        uses = uses_after(anatomy.module, target.value, handling.guard, function.node)
        tested = any(is_tested(anatomy.module, use, neutral) for use in uses)
        new = outside.reads_reply(anatomy, call) or anatomy.calls.reaches_llm(function)
        flowing = (use for use in uses if new or not _is_sent_back(anatomy, use))
        goes_on = not tested and any(flows_on(anatomy.module, use) for use in flowing)
    else:  # a part of something goes where that goes, but for the messages of a past that is rendered
        around = (outer.iter for outer in anatomy.module.ancestors(call) if isinstance(outer, cst.For))
        goes_on = not any(map(anatomy.is_history, around))
    return neutral if goes_on else None


def _is_sent_back(anatomy: Anatomy, use: cst.Name) -> bool:
    """Whether a value goes into a `tool_use` block: a past call put into another provider's form, that runs nothing."""
    blocks = (ex.dict_items(outer) for outer in anatomy.module.ancestors(use) if isinstance(outer, cst.Dict))
    return any("type" in items and ex.text(items["type"]) == "tool_use" for items in blocks)


def is_dropped(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> bool:
    """Whether the call that a model wrote is lost with the error: nothing else is tried, and it would be used."""
    target = handling.target  # nobody reads the `{}` that is put into it: `arguments = {}` and `continue`
    unread = isinstance(target, cst.Name) and not uses_after(
        anatomy.module, target.value, handling.guard, function.node
    )
    return (
        (unread or handling.ending is Ending.DROPS)
        and not _ends_in_error(anatomy, call, handling)
        and not is_tried_otherwise(anatomy, call, handling)
        and _is_put_to_use(anatomy, call)
    )


def _hands_back(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Whether the function gives back what it parsed: a title or a hint that is made of it may well be empty."""
    names = parsed_names(anatomy.module, call)
    parts = (part for given in function.returned for whole in ex.several(given) for part in ex.alternatives(whole))
    made = (each for part in parts for each in (part, *sources(part)))
    given_back = any(each is call or (isinstance(each, cst.Name) and each.value in names) for each in made)
    return given_back or isinstance(anatomy.module.statement(call), cst.Return)


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


def _is_put_to_use(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether what is parsed, if it gets a name, is run, stored or given back; to look into it loses no call."""
    module, names = anatomy.module, parsed_names(anatomy.module, call)
    uses = (name for name in module.scope_of[call].function.nodes_of(cst.Name) if name.value in names)
    return not names or any(
        flows_on(module, use) and not any(isinstance(outer, cst.Comparison) for outer in module.ancestors(use))
        for use in uses
        if not isinstance(module.parent[use], cst.AssignTarget)
    )
