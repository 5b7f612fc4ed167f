"""AGL703: the last n of a list, counted from its front, so that none of them is none; and with them what comes before.

`old, new = h[:-n], h[-n:]` splits a list: for 0, both halves are wrong, and one put right alone loses all messages.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.walk import walk

_REPEATABLE = frozenset(
    {cst.Name, cst.Attribute, cst.Integer, cst.BinaryOperation, cst.Call, cst.Arg, cst.SimpleString, cst.Subscript,
     cst.SubscriptElement, cst.Index, cst.IfExp, cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation}
)  # fmt: skip
_PURE = frozenset({"len", "max", "min", "int", "round"})


@of_the_file
def repair(anatomy: Anatomy, node: cst.Subscript, size: cst.BaseExpression) -> Fix | None:
    """`h[-n:]` becomes `h[max(len(h) - n, 0):]`, and `h[:-n]` ends there; None where not all of it can be put right.

    The list and the number must be such that they can stand there twice, and mean the same in both halves.
    """
    if not (_is_repeatable(node.value) and _is_repeatable(size)):
        return None
    halves = [node, *before(anatomy, node, size)]
    if any(_values(anatomy, half) != _values(anatomy, node) for half in halves):
        return None
    return Fix(
        "count the messages from the front",
        "safe",
        lambda: Edits(replaced={half: counted(half, size) for half in halves}),
    )


def before(anatomy: Anatomy, node: cst.Subscript, size: cst.BaseExpression) -> list[cst.Subscript]:
    """All `h[:-n]` of the function for an `h[-n:]`."""
    module, words = anatomy.module, (ex.source(node.value, 400), ex.source(size, 400))
    function = module.scope_of[node].function
    found = []
    for other in module.nodes_of(cst.Subscript):
        part = ex.slice_of(other)
        upper = part.upper if part is not None and part.lower is None and part.step is None else None
        if isinstance(upper, cst.UnaryOperation) and isinstance(upper.operator, cst.Minus):
            same = (ex.source(other.value, 400), ex.source(upper.expression, 400)) == words
            if same and module.scope_of[other].function is function:
                found.append(other)
    return found


def _values(anatomy: Anatomy, node: cst.Subscript) -> set[Definition]:
    """Which assignments may have given the names in a slice their values."""
    names = (inside for inside in walk(node) if isinstance(inside, cst.Name))
    return {definition for name in names for definition in anatomy.definitions(name)}


def counted(node: cst.Subscript, size: cst.BaseExpression) -> cst.Subscript:
    """The slice with a start or an end that is counted from the front."""
    part = node.slice[0].slice
    assert isinstance(part, cst.Slice)
    place = cst.Call(
        cst.Name("max"),
        [
            cst.Arg(
                cst.BinaryOperation(
                    cst.Call(cst.Name("len"), [cst.Arg(node.value.deep_clone())]), cst.Subtract(), _operand(size)
                ),
                comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")),
            ),
            cst.Arg(cst.Integer("0")),
        ],
    )
    new = part.with_changes(lower=place) if part.lower is not None else part.with_changes(upper=place)
    return node.with_changes(slice=[node.slice[0].with_changes(slice=new)])


def _operand(size: cst.BaseExpression) -> cst.BaseExpression:
    """The number as the right side of a minus: `len(h) - (a - b)`."""
    copied = size.deep_clone()
    loose = isinstance(copied, (cst.BinaryOperation, cst.IfExp, cst.Comparison, cst.BooleanOperation))
    if loose and not copied.lpar:
        return copied.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return copied


def _is_repeatable(node: cst.BaseExpression) -> bool:
    """Names, attributes, plain keys and arithmetic: evaluated twice, they give the same and do nothing."""
    return all(
        type(part) in _REPEATABLE
        and not (isinstance(part, cst.Call) and not (isinstance(part.func, cst.Name) and part.func.value in _PURE))
        for part in walk(node)
    )
