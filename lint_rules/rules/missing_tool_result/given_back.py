"""What the tests of a caller give for what it gets back of a function: `if isinstance(outcome, Done): return`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.rules.missing_tool_result.escapes import is_something
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate

_MOST = 3
"""Open tests of one result, each of which may give both."""


def outcomes_of(anatomy: Anatomy, site: CallSite, value: cst.BaseExpression | None) -> Iterator[dict[str, bool]]:
    """The tests of a caller, as code, and what they give where it gets `value`; once for each way the open ones go."""
    statement = anatomy.module.statement(site.node)
    targets = ex.targets(statement) if isinstance(statement, cst.Assign) else []
    given = {ex.source(place): part for t in targets for place, part in ex.unpacked(t, value or cst.Name("None"))}

    def told(test: cst.BaseExpression) -> bool | None:
        part = given.get(ex.source(test))
        if part is not None:
            return True if _class(anatomy, part) is not None else is_something(part)
        if isinstance(test, cst.Call) and ex.called_name(test) == "isinstance" and len(test.args) == 2:
            part = given.get(ex.source(test.args[0].value))
            return _is_of(anatomy, part, test.args[1].value) if part is not None else None
        return None

    names = {name for target in targets for name in ex.target_names(target)}
    tests = [node.test for node in site.caller.nodes_of(cst.If, cst.While) if mentions(names, node.test)]
    known = {ex.source(t, 200): evaluate(t, told) for t in tests}
    open_ = [test for test, gives in known.items() if gives is None]
    for ways in itertools.product((True, False), repeat=len(open_)) if len(open_) <= _MOST else ():
        yield {
            **{test: gives for test, gives in known.items() if gives is not None},
            **dict(zip(open_, ways, strict=True)),
        }


def _class(anatomy: Anatomy, value: cst.BaseExpression) -> Scope | None:
    return anatomy.facts.slots.constructed(value) if isinstance(value, cst.Call) else None


def _is_of(anatomy: Anatomy, value: cst.BaseExpression, classes: cst.BaseExpression) -> bool | None:
    """Whether a value is an object of one of some classes; None where its own class is not known."""
    cls = _class(anatomy, value)
    if cls is None:
        return False if is_something(value) is not None else None
    lineage = {each.name for each in anatomy.module.lineage(cls)}
    return any(ex.last_name(each) in lineage for each in ex.several(classes))
