"""AGL407: the closure gets the loop's variables as defaults of parameters: they are read when it is made."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.rules.late_bound_tool_call.late_binding import LateClosure
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


@of_the_file
def repair(anatomy: Anatomy, closure: LateClosure) -> Fix | None:
    """Safe: who calls the closure passes nothing for the new parameters. None where a value still changes."""
    params = closure.node.params
    if params.star_kwarg is not None or params.kwonly_params or isinstance(params.star_arg, cst.Param):
        return None
    if _is_assigned_later(anatomy, closure) or _is_rebound_inside(closure):
        return None
    return Fix("bind the loop's variables when the closure is made", "safe", lambda: _edits(closure))


def _is_assigned_later(anatomy: Anatomy, closure: LateClosure) -> bool:
    """Whether one of the names is set again in the same turn, after the closure was made: then it is read too early."""
    if not isinstance(closure.loop, cst.For):
        return False
    module = anatomy.module
    end = max(module.order[node] for node in walk(closure.node))
    for node in walk(closure.loop.body):
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr, cst.With)):
            if module.order[node] > end and not _bound(node).isdisjoint(closure.names):
                return True
    return False


def _bound(node: cst.CSTNode) -> set[str]:
    targets: list[cst.BaseExpression] = []
    if isinstance(node, cst.Assign):
        targets = [target.target for target in node.targets]
    elif isinstance(node, (cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr)):
        targets = [node.target]
    elif isinstance(node, cst.With):
        targets = [item.asname.name for item in node.items if item.asname is not None]
    return {name for target in targets for name in ex.target_names(target)}


def _is_rebound_inside(closure: LateClosure) -> bool:
    return any(
        isinstance(node, cst.Nonlocal) and any(item.name.value in closure.names for item in node.names)
        for node in walk(closure.node)
    )


def _edits(closure: LateClosure) -> Edits:
    node = closure.node
    bound = [cst.Param(cst.Name(name), default=cst.Name(name), equal=_TIGHT) for name in closure.names]
    listed = [param.with_changes(comma=_COMMA) for param in node.params.params]
    bound = [param.with_changes(comma=_COMMA) for param in bound[:-1]] + bound[-1:]
    params = node.params.with_changes(params=[*listed, *bound])
    if isinstance(node, cst.Lambda):
        space = cst.SimpleWhitespace(" ")
        return Edits(replaced={node: node.with_changes(params=params, whitespace_after_lambda=space)})
    return Edits(replaced={node.params: params})
