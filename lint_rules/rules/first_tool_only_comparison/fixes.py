"""AGL401: the comparison of two first calls becomes one of all calls. Only where both lists stand in the comparison."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_ARGUMENTS = frozenset({"arguments", "args", "input", "parameters"})
_NAMES = frozenset({"name", "function_name", "tool_name"})
_WRAPPERS = frozenset({"function", *_ARGUMENTS, *_NAMES})
_OPEN = (cst.Return, cst.Assign, cst.AnnAssign, cst.If, cst.While, cst.Arg)
"""Where an expression with `and` or `or` needs no parentheses."""
_OPERATORS: dict[type[cst.BaseBooleanOp], type[cst.BaseCompOp]] = {cst.And: cst.Equal, cst.Or: cst.NotEqual}


@record
class _Pair:
    """`a[0].name == b[0].name`: both lists, and what is taken of each first call (None: the call itself)."""

    node: cst.Comparison
    left: cst.BaseExpression
    right: cst.BaseExpression
    first: cst.Subscript
    second: cst.Subscript

    @property
    def lists(self) -> tuple[str, str]:
        return ex.source(self.left, 200), ex.source(self.right, 200)

    @property
    def keys(self) -> list[str]:
        """What is read of the call, from the outside in: `name`, `function`."""
        keys: list[str] = []
        here: cst.BaseExpression = self.node.left
        while here is not self.first:
            pair = ex.member(here)
            if pair is not None:
                here, key = pair
                keys.append(key)
            elif isinstance(here, cst.Call) and ex.dotted(here.func) == "json.loads" and len(here.args) == 1:
                here = here.args[0].value
            else:
                return ["?"]
        return keys


@of_the_file
def repair(anatomy: Anatomy, node: cst.Comparison) -> Fix | None:
    """Compare the lists: name and arguments of every call."""
    pair = _pair(anatomy, node)
    if pair is None:
        return None
    pairs = [pair]
    if pair.keys:
        chain = [_pair(anatomy, part) for part in _chain(anatomy, node)]
        pairs = [found for found in chain if found is not None and found.lists == pair.lists]
        if not _tells_all(pairs):
            return None
    return Fix("compare all calls", "unsafe", lambda: Edits(replaced={found.node: _of_all(found) for found in pairs}))


@of_the_file
def repair_zip(anatomy: Anatomy, node: cst.Call) -> Fix | None:
    """`all(a == b for a, b in zip(x, y))` also asks whether both lists are of one length."""
    name = ex.dotted(node.func)
    inside = node.args[0].value if len(node.args) == 1 else None
    if not isinstance(inside, (cst.GeneratorExp, cst.ListComp)) or not isinstance(inside.for_in.iter, cst.Call):
        return None
    lists = ex.positional(inside.for_in.iter)
    equal = cst.Equal if name == "all" else cst.NotEqual
    compared = [n for n in walk(inside.elt) if isinstance(n, cst.Comparison)]
    named = all(isinstance(value, (cst.Name, cst.Attribute)) for value in lists)
    if len(lists) != 2 or not named or not all(isinstance(n.comparisons[0].operator, equal) for n in compared):
        return None

    def build() -> Edits:
        lengths = [cst.Call(cst.Name("len"), [cst.Arg(value)]) for value in lists]
        test = cst.Comparison(lengths[0], [cst.ComparisonTarget(equal(), lengths[1])])
        whole = cst.BooleanOperation(test, cst.And() if equal is cst.Equal else cst.Or(), node)
        if not isinstance(anatomy.module.parent[node], _OPEN):
            whole = whole.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return Edits(replaced={node: whole})

    return Fix("compare the lengths, too", "unsafe", build)


# -- reading ------------------------------------------------------------------------------------------------------


def _pair(anatomy: Anatomy, node: cst.CSTNode) -> _Pair | None:
    """The comparison of one thing of both first calls; None for anything else."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    target = node.comparisons[0]
    if not isinstance(target.operator, (cst.Equal, cst.NotEqual)):
        return None
    first, second = _first(anatomy, node.left), _first(anatomy, target.comparator)
    if first is None or second is None or ex.source(first.value, 200) == ex.source(second.value, 200):
        return None
    same = target.comparator.with_deep_changes(second, value=first.value)
    if ex.source(same, 400) != ex.source(node.left, 400):
        return None
    return _Pair(node, first.value, second.value, first, second)


def _first(anatomy: Anatomy, node: cst.BaseExpression) -> cst.Subscript | None:
    """The only `calls[0]` in an expression."""
    found = [
        inside
        for inside in walk(node)
        if isinstance(inside, cst.Subscript)
        and ex.integer(ex.index(inside)) == 0
        and isinstance(inside.value, (cst.Name, cst.Attribute))
    ]
    return found[0] if len(found) == 1 and _is_calls(anatomy, found[0].value) else None


@once(circular=False)
def _is_calls(anatomy: Anatomy, node: cst.BaseExpression) -> bool:
    """A list of tool calls, or a name that one is kept under, or one that holds something for each call."""
    facts = anatomy.facts
    values = [node, *facts.values_of(node)]
    return any(
        facts.is_kind(value, Kind.CALLS)
        or (isinstance(value, cst.ListComp) and facts.is_kind(value.for_in.iter, Kind.CALLS))
        or (isinstance(value, cst.Name) and value is not node and _is_calls(anatomy, value))
        for value in values
    )


def _chain(anatomy: Anatomy, node: cst.CSTNode) -> list[cst.CSTNode]:
    """The terms of the widest chain of `and` around an `==` (of `or` around a `!=`) that a comparison is a term of."""
    comparison = node
    here = node
    while isinstance(above := anatomy.module.parent[here], cst.BooleanOperation):
        operator = _OPERATORS.get(type(above.operator))
        assert isinstance(comparison, cst.Comparison)
        if operator is None or not isinstance(comparison.comparisons[0].operator, operator):
            break
        here = above
    return list(_terms(here, type(here.operator) if isinstance(here, cst.BooleanOperation) else None))


def _terms(node: cst.CSTNode, operator: type[cst.BaseBooleanOp] | None) -> list[cst.CSTNode]:
    if isinstance(node, cst.BooleanOperation) and type(node.operator) is operator:
        return [*_terms(node.left, operator), *_terms(node.right, operator)]
    return [node]


def _tells_all(pairs: list[_Pair]) -> bool:
    """Whether name and arguments are compared, by keys that are known; with one name only, calls would look alike."""
    keys = [key for pair in pairs for key in pair.keys]
    known = all(key in _WRAPPERS for key in keys)
    return known and bool(_ARGUMENTS & set(keys)) and bool(_NAMES & set(keys)) and len({_sign(p) for p in pairs}) == 1


def _sign(pair: _Pair) -> type[cst.BaseCompOp]:
    return type(pair.node.comparisons[0].operator)


# -- writing ------------------------------------------------------------------------------------------------------


def _of_all(pair: _Pair) -> cst.Comparison:
    """`[c.name for c in a] == [c.name for c in b]` for `a[0].name == b[0].name`, and `a == b` for `a[0] == b[0]`."""
    target = pair.node.comparisons[0]
    right = target.with_changes(comparator=_each(target.comparator, pair.second))
    return pair.node.with_changes(left=_each(pair.node.left, pair.first), comparisons=[right])


def _each(value: cst.BaseExpression, first: cst.Subscript) -> cst.BaseExpression:
    if value is first:
        return first.value
    element = value.deep_replace(first, cst.Name("call"))
    assert isinstance(element, cst.BaseExpression)
    return cst.ListComp(element, cst.CompFor(cst.Name("call"), first.value))
