"""AGL703: the last n of a list, counted from its front, so that none of them is none."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import Edits, Fix
from lint_rules.syntax.walk import walk

_REPEATABLE = frozenset(
    {cst.Name, cst.Attribute, cst.Integer, cst.BinaryOperation, cst.Call, cst.Arg, cst.SimpleString, cst.Subscript,
     cst.SubscriptElement, cst.Index, cst.IfExp, cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation}
)  # fmt: skip
_PURE = frozenset({"len", "max", "min", "int", "round"})


def repair(anatomy: Anatomy, node: cst.Subscript, size: cst.BaseExpression) -> Fix | None:
    """`h[-n:]` becomes `h[max(len(h) - n, 0):]`; None where the list or the number cannot stand there twice."""
    if not (_is_repeatable(node.value) and _is_repeatable(size)):
        return None
    return Fix("count the messages from the front", "safe", lambda: Edits(replaced={node: counted(node, size)}))


def counted(node: cst.Subscript, size: cst.BaseExpression) -> cst.Subscript:
    """The slice with a start that is counted from the front."""
    part = node.slice[0].slice
    assert isinstance(part, cst.Slice)
    start = cst.Call(
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
    return node.with_changes(slice=[node.slice[0].with_changes(slice=part.with_changes(lower=start))])


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
