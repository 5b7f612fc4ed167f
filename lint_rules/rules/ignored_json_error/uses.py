"""What goes on with the value that takes the place of a failed one: uses behind a handler, and tests before them."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.program.handlers import is_logging, is_neutral, shown_only
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.walk import walk


def uses_after(module: SourceModule, name: str, after: cst.CSTNode, function: cst.CSTNode) -> list[cst.Name]:
    """Reads of a local name below the statement `after`, in source order."""
    inside = {id(node) for node in walk(after)}
    last = max(module.order[node] for node in walk(after))
    return [
        node
        for node in walk(function)
        if isinstance(node, cst.Name)
        and node.value == name
        and id(node) not in inside
        and module.order.get(node, -1) > last
        and not isinstance(module.parent.get(node), (cst.AssignTarget, cst.Param))
    ]


_RENDERERS = frozenset({"sorted", "len", "str", "repr", "format", "keys", "items", "join", "type", "isinstance"})


def flows_on(module: SourceModule, use: cst.Name, known: frozenset[str] = frozenset()) -> bool:
    """Whether a use hands the value on: to a call that does not merely render or log it, to a caller, a comparison.

    A name hands on what it gets if a use of it does: `path = args.get("path")`. Those of `known` are looked at already.
    """
    for outer in module.ancestors(use):
        if isinstance(outer, cst.Call):
            if is_logging(outer) or (ex.called_name(outer) in _RENDERERS and ex.receiver(outer) is not use):
                if ex.dotted(outer.func) != "str" or use in ex.positional(outer):  # `str(args["path"])` is that path
                    return False
            if ex.receiver(outer) is None or not module.inside(use, outer.func):
                return not shown_only(module, outer)
        elif isinstance(outer, (cst.FormattedString, cst.ConcatenatedString)):
            return False
        elif isinstance(outer, (cst.Assign, cst.AnnAssign)):
            return _binds_what_flows(module, outer, known | {use.value})
        elif isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return isinstance(outer, cst.Return) or (isinstance(outer, cst.For) and module.inside(use, outer.iter))
        elif isinstance(outer, (cst.Comparison, cst.Yield)):
            return True
    return False


def _binds_what_flows(module: SourceModule, node: cst.Assign | cst.AnnAssign, known: frozenset[str]) -> bool:
    """Whether what an assignment gives away is handed on: by a name that is, or to anything else."""
    names = [target.value for target in ex.targets(node) if isinstance(target, cst.Name)]
    if len(names) != len(ex.targets(node)):
        return True
    inside = {id(part) for part in walk(node)}
    uses = (
        later
        for later in module.scope_of[node].function.nodes_of(cst.Name)
        if later.value in names and later.value not in known and id(later) not in inside
    )
    return any(flows_on(module, later, known | {*names}) for later in uses)


def is_tested(module: SourceModule, use: cst.Name, neutral: cst.BaseExpression) -> bool:
    """Whether a use of a name asks for the neutral value: `if not x`, `x is None`, `isinstance(x, dict)`, `x == {}`."""
    is_none = ex.dotted(neutral) == "None"
    here: cst.CSTNode = use
    for outer in module.ancestors(use):
        if isinstance(outer, (cst.If, cst.While, cst.IfExp)):
            return here is outer.test and not (isinstance(outer, cst.IfExp) and _respells(outer))
        if isinstance(outer, cst.Comparison):
            if not all(isinstance(t.operator, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)) for t in outer.comparisons):
                return False
            other = outer.comparisons[0].comparator
            if not (here is outer.left and is_neutral(other)) or (ex.dotted(other) == "None") != is_none:
                return False
        elif isinstance(outer, cst.Call):
            if not (isinstance(outer.func, cst.Name) and outer.func.value in {"isinstance", "len"}):
                return False
            if outer.func.value == "isinstance" and isinstance(neutral, cst.Dict) and _asks_for_dict(outer):
                return False
        elif not isinstance(outer, (cst.UnaryOperation, cst.BooleanOperation, cst.Arg, cst.ComparisonTarget)):
            return isinstance(outer, cst.Assert)
        here = outer
    return False


def _asks_for_dict(test: cst.Call) -> bool:
    """`isinstance(x, dict)`: what `{}` is as well."""
    return len(test.args) == 2 and ex.dotted(test.args[1].value) == "dict"


def _respells(choice: cst.IfExp) -> bool:
    """`json.dumps(x) if x else ""`: what says nothing is put into another form that says nothing."""
    return any(isinstance(part, cst.SimpleString) and is_neutral(part) for part in (choice.body, choice.orelse))


def parsed_names(module: SourceModule, call: cst.Call) -> frozenset[str]:
    """The names that the statement of a parse binds: to what is parsed, or what is made of it."""
    return frozenset(name for target in ex.assigned(module.statement(call)) for name in ex.target_names(target))
