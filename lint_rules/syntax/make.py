"""Makers of libcst's nodes without formatting: `make.Name("x")` where libcst's own class is `cst.Name`.

What is left to a maker is what the analysis reads; whitespace, commas and parentheses stay unset, for to set them is
half of the cost of a node. Who reads them gets an AttributeError.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import libcst as cst

from lint_rules.syntax.walk import is_formatting


def _maker(kind: type[cst.CSTNode], *given: str) -> Callable[..., Any]:
    """Makes nodes of a class from the values of these fields, in this order; others that matter get their defaults.

    Sets slots, for libcst's constructors check each node; and is compiled, as those of `dataclasses` are.
    """
    values = {f.name: f"v{place}" for place, f in enumerate(fields(kind))}
    known: dict[str, Any] = {"new": object.__new__, "kind": kind}
    lines = ["node = new(kind)"]
    for f in fields(kind):
        if f.name not in given and is_formatting(f.name):
            continue
        value = values[f.name]
        known[f"put_{value}"] = getattr(kind, f.name).__set__
        if f.name not in given:
            known[value] = _default(f)
        lines.append(f"put_{value}(node, {value})")
    body = "".join(f"    {line}\n" for line in [*lines, "return node"])
    exec(f"def make({', '.join(values[name] for name in given)}):\n{body}", known)
    made: Callable[..., Any] = known["make"]
    return made


def _default(field: Any) -> object:
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else None


Name = _maker(cst.Name, "value")
Attribute = _maker(cst.Attribute, "value", "attr")
Call = _maker(cst.Call, "func", "args")
Arg = _maker(cst.Arg, "value", "keyword", "star")
SimpleString = _maker(cst.SimpleString, "value")
FormattedString = _maker(cst.FormattedString, "start", "parts", "end")
FormattedStringText = _maker(cst.FormattedStringText, "value")
FormattedStringExpression = _maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")
ConcatenatedString = _maker(cst.ConcatenatedString, "left", "right")
Integer = _maker(cst.Integer, "value")
Float = _maker(cst.Float, "value")
Imaginary = _maker(cst.Imaginary, "value")
Ellipsis = _maker(cst.Ellipsis)
Subscript = _maker(cst.Subscript, "value", "slice")
SubscriptElement = _maker(cst.SubscriptElement, "slice")
Index = _maker(cst.Index, "value", "star")
Slice = _maker(cst.Slice, "lower", "upper", "step")
Element = _maker(cst.Element, "value")
StarredElement = _maker(cst.StarredElement, "value")
Tuple = _maker(cst.Tuple, "elements")
List = _maker(cst.List, "elements")
Set = _maker(cst.Set, "elements")
Dict = _maker(cst.Dict, "elements")
DictElement = _maker(cst.DictElement, "key", "value")
StarredDictElement = _maker(cst.StarredDictElement, "value")
BinaryOperation = _maker(cst.BinaryOperation, "left", "operator", "right")
BooleanOperation = _maker(cst.BooleanOperation, "left", "operator", "right")
UnaryOperation = _maker(cst.UnaryOperation, "operator", "expression")
Comparison = _maker(cst.Comparison, "left", "comparisons")
ComparisonTarget = _maker(cst.ComparisonTarget, "operator", "comparator")
IfExp = _maker(cst.IfExp, "body", "test", "orelse")
Lambda = _maker(cst.Lambda, "params", "body")
ListComp = _maker(cst.ListComp, "elt", "for_in")
SetComp = _maker(cst.SetComp, "elt", "for_in")
GeneratorExp = _maker(cst.GeneratorExp, "elt", "for_in")
DictComp = _maker(cst.DictComp, "key", "value", "for_in")
CompFor = _maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
CompIf = _maker(cst.CompIf, "test")
Await = _maker(cst.Await, "expression")
Yield = _maker(cst.Yield, "value")
From = _maker(cst.From, "item")
NamedExpr = _maker(cst.NamedExpr, "target", "value")
Asynchronous = _maker(cst.Asynchronous)
Parameters = _maker(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params")
Param = _maker(cst.Param, "name", "annotation", "default", "star")
ParamStar = _maker(cst.ParamStar)
Annotation = _maker(cst.Annotation, "annotation")

SimpleStatementLine = _maker(cst.SimpleStatementLine, "body")
SimpleStatementSuite = _maker(cst.SimpleStatementSuite, "body")
IndentedBlock = _maker(cst.IndentedBlock, "body")
Expr = _maker(cst.Expr, "value")
Assign = _maker(cst.Assign, "targets", "value")
AssignTarget = _maker(cst.AssignTarget, "target")
AnnAssign = _maker(cst.AnnAssign, "target", "annotation", "value")
AugAssign = _maker(cst.AugAssign, "target", "operator", "value")
Return = _maker(cst.Return, "value")
Raise = _maker(cst.Raise, "exc", "cause")
Assert = _maker(cst.Assert, "test", "msg")
Del = _maker(cst.Del, "target")
Pass = _maker(cst.Pass)
Break = _maker(cst.Break)
Continue = _maker(cst.Continue)
Global = _maker(cst.Global, "names")
Nonlocal = _maker(cst.Nonlocal, "names")
NameItem = _maker(cst.NameItem, "name")
Import = _maker(cst.Import, "names")
ImportFrom = _maker(cst.ImportFrom, "module", "names", "relative")
ImportAlias = _maker(cst.ImportAlias, "name", "asname")
ImportStar = _maker(cst.ImportStar)
Dot = _maker(cst.Dot)
AsName = _maker(cst.AsName, "name")
FunctionDef = _maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
ClassDef = _maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators")
Decorator = _maker(cst.Decorator, "decorator")
If = _maker(cst.If, "test", "body", "orelse")
Else = _maker(cst.Else, "body")
For = _maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
While = _maker(cst.While, "test", "body", "orelse")
With = _maker(cst.With, "items", "body", "asynchronous")
WithItem = _maker(cst.WithItem, "item", "asname")
Finally = _maker(cst.Finally, "body")
Module = _maker(cst.Module, "body")
Try = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
ExceptHandler = _maker(cst.ExceptHandler, "body", "type", "name")
Match = _maker(cst.Match, "subject", "cases")
MatchCase = _maker(cst.MatchCase, "pattern", "body", "guard")
MatchValue = _maker(cst.MatchValue, "value")
MatchSingleton = _maker(cst.MatchSingleton, "value")
MatchList = _maker(cst.MatchList, "patterns")
MatchTuple = _maker(cst.MatchTuple, "patterns")
MatchSequenceElement = _maker(cst.MatchSequenceElement, "value")
MatchStar = _maker(cst.MatchStar, "name")
MatchMapping = _maker(cst.MatchMapping, "elements", "rest")
MatchMappingElement = _maker(cst.MatchMappingElement, "key", "pattern")
MatchClass = _maker(cst.MatchClass, "cls", "patterns", "kwds")
MatchKeywordElement = _maker(cst.MatchKeywordElement, "key", "pattern")
MatchAs = _maker(cst.MatchAs, "pattern", "name")
MatchOr = _maker(cst.MatchOr, "patterns")
MatchOrElement = _maker(cst.MatchOrElement, "pattern")
TryStar = _maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
ExceptStarHandler = _maker(cst.ExceptStarHandler, "body", "type", "name")

OPERATORS: dict[type[ast.AST], Any] = {
    kind: _maker(made)()
    for kind, made in (
        (ast.Add, cst.Add), (ast.Sub, cst.Subtract), (ast.Mult, cst.Multiply), (ast.Div, cst.Divide),
        (ast.FloorDiv, cst.FloorDivide), (ast.Mod, cst.Modulo), (ast.Pow, cst.Power), (ast.LShift, cst.LeftShift),
        (ast.RShift, cst.RightShift), (ast.BitOr, cst.BitOr), (ast.BitAnd, cst.BitAnd), (ast.BitXor, cst.BitXor),
        (ast.MatMult, cst.MatrixMultiply), (ast.And, cst.And), (ast.Or, cst.Or), (ast.Not, cst.Not),
        (ast.USub, cst.Minus), (ast.UAdd, cst.Plus), (ast.Invert, cst.BitInvert), (ast.Eq, cst.Equal),
        (ast.NotEq, cst.NotEqual), (ast.Lt, cst.LessThan), (ast.LtE, cst.LessThanEqual), (ast.Gt, cst.GreaterThan),
        (ast.GtE, cst.GreaterThanEqual), (ast.Is, cst.Is), (ast.IsNot, cst.IsNot), (ast.In, cst.In),
        (ast.NotIn, cst.NotIn),
    )
}  # fmt: skip
"""The operators, each made once: nothing hangs on which of them stands where."""
ASSIGNING_OPERATORS: dict[type[ast.AST], Any] = {
    kind: _maker(made)()
    for kind, made in (
        (ast.Add, cst.AddAssign), (ast.Sub, cst.SubtractAssign), (ast.Mult, cst.MultiplyAssign),
        (ast.Div, cst.DivideAssign), (ast.FloorDiv, cst.FloorDivideAssign), (ast.Mod, cst.ModuloAssign),
        (ast.Pow, cst.PowerAssign), (ast.LShift, cst.LeftShiftAssign), (ast.RShift, cst.RightShiftAssign),
        (ast.BitOr, cst.BitOrAssign), (ast.BitAnd, cst.BitAndAssign), (ast.BitXor, cst.BitXorAssign),
        (ast.MatMult, cst.MatrixMultiplyAssign),
    )
}  # fmt: skip
