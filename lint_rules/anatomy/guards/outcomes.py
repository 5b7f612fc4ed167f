"""What becomes of a repeat guard's answer: which branch it leads to, and what is done there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.guards.guards import Guard
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.constants import constant
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import last_statement, walk, walk_scope

_METRICS = frozenset({"prometheus_client", "opentelemetry", "statsd", "datadog", "ddtrace", "sentry_sdk"})
"""Libraries that keep figures, or reports, for people."""
_LEAVES = (cst.Return, cst.Raise, cst.Break, cst.Continue, cst.Yield, cst.Del)
_STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement)


@record
class Branch:
    """Where a repeat leads: the statements of one branch of an `if`. `sure`: not by a count of several repeats."""

    test: cst.If
    function: Scope
    body: cst.BaseSuite | None
    sure: bool


def branches(anatomy: Anatomy, guard: Guard) -> list[Branch]:
    """The branches that a repeat leads to: of the `if` around the guard, of those that test what it was stored in, or
    of those that call the helper that returns it."""
    return list(_branches(anatomy, guard.node, guard.function, not guard.denies, True, set()))


def _branches(
    anatomy: Anatomy, node: cst.CSTNode, function: Scope, holds: bool, sure: bool, seen: set[cst.CSTNode]
) -> Iterator[Branch]:
    """`holds`: whether a repeat makes the value of `node` true."""
    if node in seen:
        return
    seen.add(node)
    module = anatomy.module
    below: cst.CSTNode = node
    for outer in module.ancestors(node):
        if isinstance(outer, cst.UnaryOperation) and isinstance(outer.operator, cst.Not):
            holds = not holds
        elif isinstance(outer, cst.If):
            said = _says(function, outer) if below is outer.test else None
            for site in anatomy.calls.sites[function] if said is not None else ():
                yield from _branches(anatomy, site.node, site.caller, said is holds, sure, seen)
            if below is outer.test and said is None:
                yield Branch(outer, function, _taken(outer, holds), sure)
            return
        elif isinstance(outer, cst.Return):
            for site in anatomy.calls.sites[function]:
                yield from _branches(anatomy, site.node, site.caller, holds, sure, seen)
            return
        elif isinstance(outer, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
            target = outer.targets[0].target if isinstance(outer, cst.Assign) else outer.target
            slot = anatomy.facts.slots.of(target)
            for name in function.nodes if slot is not None else ():
                if isinstance(name, (cst.Name, cst.Attribute)) and name is not target:
                    if anatomy.facts.slots.of(name) == slot and _is_tested(anatomy, name):
                        yield from _branches(anatomy, name, function, holds, sure, seen)
            if not isinstance(outer, cst.NamedExpr):
                return
        elif isinstance(outer, cst.Call):
            if ex.dotted(outer.func) not in {"any", "all", "bool", "sum", "len"}:
                return
        elif isinstance(outer, cst.Comparison):
            sure = sure and first_passes(anatomy, outer)  # a count of repeats that is compared
        elif isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.CompIf)):
            return
        below = outer


def _says(function: Scope, test: cst.If) -> bool | None:
    """What a helper that gives back yes or no, nothing else, gives where a test holds: `if a != b: return False`."""
    last = last_statement(test.body)
    given = {ex.dotted(node.value) if node.value is not None else None for node in function.nodes_of(cst.Return)}
    if not isinstance(last, cst.Return) or last.value is None or given != {"True", "False"}:
        return None
    return ex.dotted(last.value) == "True"


def first_passes(anatomy: Anatomy, test: cst.Comparison) -> bool:
    """Whether the first repeat is as many as a count of them is compared with: it begins with 0, or with 1."""
    count, operator, right = ex.compared(test)
    values = anatomy.facts.assigned(anatomy.facts.slots.of(count))
    begun = {n for value in values for part in ex.alternatives(value) if (n := ex.integer(part)) is not None}
    limit = constant(anatomy, right)
    return limit is not None and bool(begun) and begun <= {0, 1} and ex.holds(operator, max(begun) + 1, limit) is True


def _is_tested(anatomy: Anatomy, name: cst.CSTNode) -> bool:
    """Whether a use of a name decides an `if`, or is what the function returns."""
    below = name
    for outer in anatomy.module.ancestors(name):
        if isinstance(outer, cst.If):
            return below is outer.test
        if isinstance(outer, cst.Return):
            return True
        if not isinstance(outer, (cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.ComparisonTarget)):
            return False
        below = outer
    return False


def _taken(test: cst.If, holds: bool) -> cst.BaseSuite | None:
    if holds:
        return test.body
    return test.orelse.body if isinstance(test.orelse, cst.Else) else None


@once(circular=False)
def shows(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a call logs, prints or measures what it gets, also by a function of the file that does nothing else."""
    callee = anatomy.facts.slots.callee(call)
    own = callee is not None and isinstance(callee.node, cst.FunctionDef) and only_shows(anatomy, callee.node.body)
    return own or handlers.is_logging(call) or _measures(anatomy, call)


def _measures(anatomy: Anatomy, call: cst.Call) -> bool:
    """`REPEATS.labels(model).inc()`: whether what is called belongs to a library that keeps figures for people."""
    parts = (part for part in walk(call.func) if isinstance(part, (cst.Name, cst.Attribute)))
    made = (v.func for part in parts for v in anatomy.facts.values_of(part) if isinstance(v, cst.Call))
    names = (anatomy.module.full_name(each) or "" for each in (call.func, *made))
    return any(name.partition(".")[0] in _METRICS for name in names)


def is_shown(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether the value of `node` goes straight into what shows it."""
    above = itertools.takewhile(lambda outer: not isinstance(outer, _STATEMENTS), anatomy.module.ancestors(node))
    return any(isinstance(outer, cst.Call) and shows(anatomy, outer) for outer in above)


def only_shows(anatomy: Anatomy, body: cst.BaseSuite) -> bool:
    """Whether a branch only logs or prints."""
    return only_does(body, lambda call: shows(anatomy, call) or is_shown(anatomy, call), lambda place: False)


def only_does(
    body: cst.CSTNode, calls: Callable[[cst.Call], bool], binds: Callable[[cst.BaseExpression], bool]
) -> bool:
    """Whether statements make only such calls and bind only such places, and go straight on."""
    for node in walk_scope(body):
        if isinstance(node, _LEAVES) or (isinstance(node, cst.Call) and not calls(node)):
            return False
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign)) and not all(map(binds, ex.targets(node))):
            return False
    return True


def does_something(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether a repeat changes what the program does: a branch that is more than a log, or a count that goes on."""
    if any(isinstance(outer, cst.IfExp) for outer in anatomy.module.ancestors(guard.node)):
        return True
    found = branches(anatomy, guard)
    return any(branch.body is not None and not only_shows(anatomy, branch.body) for branch in found)


def one_round(anatomy: Anatomy, guard: Guard) -> bool:
    """Whether a guard looks at one earlier round, no more: `all(one == key for one in recent)`, `a == b == c`."""
    if any(isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply)
           for side in (guard.key_node, guard.kept_node) for node in walk_scope(side)):  # fmt: skip
        return False
    if isinstance(guard.node, cst.Comparison) and len(guard.node.comparisons) > 1:
        return False
    if any(_is_window(value) for side in (guard.key_node, guard.kept_node)
           for value in (side, *anatomy.facts.values_of(side))):  # fmt: skip
        return False
    for outer in anatomy.module.ancestors(guard.node):
        if isinstance(outer, cst.BooleanOperation) and _goes_further_back(outer, guard):
            return False
        if isinstance(outer, (cst.GeneratorExp, cst.ListComp, cst.SetComp)):
            source = outer.for_in.iter
            pairs = isinstance(source, cst.Call) and ex.called_name(source) in {"zip", "pairwise"}
            return pairs or anatomy.guards.signatures.are_calls(source)
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            break
    return True


def _goes_further_back(test: cst.BooleanOperation, guard: Guard) -> bool:
    """Whether what a guard compares is compared with a third value: `key == before and before == older`."""
    sides = {ex.source(guard.key_node), ex.source(guard.kept_node)}
    equal = (node for node in walk(test) if isinstance(node, cst.Comparison) and node is not guard.node)
    others = ({ex.source(node.left), ex.source(node.comparisons[0].comparator)} for node in equal if _is_equality(node))
    return any(len(other & sides) == 1 and not other <= sides for other in others)


def _is_equality(test: cst.Comparison) -> bool:
    operator, right = test.comparisons[0].operator, test.comparisons[0].comparator
    constant = isinstance(right, (cst.BaseString, cst.BaseNumber)) or ex.dotted(right) in ex.CONSTANTS
    return isinstance(operator, cst.Equal) and not constant


def _is_window(value: cst.BaseExpression) -> bool:
    """`kept[-3:]`, `kept[-6:-3]`, `kept[-n:]`: several rounds that are compared with as many before them."""
    cut = ex.slice_of(value)
    lower = cut.lower if cut is not None else None
    return isinstance(lower, cst.UnaryOperation) and ex.integer(lower) != -1


def works_in_rounds(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function is run in a loop of rounds of this file, or holds one."""
    return any(function in anatomy.calls.reachable(loop.function) for loop in anatomy.rounds)
