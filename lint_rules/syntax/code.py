"""The code of an expression on one line, spaced in one way whatever its file looks like; parentheses where needed.

libcst's formatting is not read: bare trees have none, and what is said of both kinds of trees has to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst

__all__ = ["code", "operand"]

_OPERATORS: dict[type[cst.CSTNode], tuple[str, int]] = {
    cst.Or: ("or", 3), cst.And: ("and", 4), cst.Not: ("not ", 5),
    cst.BitOr: ("|", 7), cst.BitXor: ("^", 8), cst.BitAnd: ("&", 9),
    cst.LeftShift: ("<<", 10), cst.RightShift: (">>", 10), cst.Add: ("+", 11), cst.Subtract: ("-", 11),
    cst.Multiply: ("*", 12), cst.Divide: ("/", 12), cst.FloorDivide: ("//", 12), cst.Modulo: ("%", 12),
    cst.MatrixMultiply: ("@", 12), cst.Plus: ("+", 13), cst.Minus: ("-", 13), cst.BitInvert: ("~", 13),
    cst.Power: ("**", 14),
}  # fmt: skip
"""What stands for an operator, and how strongly it binds (Python reference, 6.17)."""
_COMPARISONS: dict[type[cst.CSTNode], str] = {
    cst.Equal: "==", cst.NotEqual: "!=", cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=", cst.Is: "is", cst.IsNot: "is not", cst.In: "in", cst.NotIn: "not in",
}  # fmt: skip
_YIELD, _WALRUS, _CHOICE, _OR, _COMPARISON, _BIT_OR, _UNARY, _AWAIT, _ATOM = -1, 0, 1, 3, 6, 7, 13, 15, 16
_LEVELS: dict[type[cst.CSTNode], int] = {
    cst.Yield: _YIELD, cst.NamedExpr: _WALRUS, cst.Lambda: _CHOICE, cst.IfExp: _CHOICE, cst.Comparison: _COMPARISON,
    cst.Await: _AWAIT,
}  # fmt: skip


def code(node: cst.CSTNode) -> str:
    """Raises KeyError for statements, patterns, and syntax that libcst has learned since this was written."""
    return _CODE[type(node)](node)


def operand(node: cst.CSTNode) -> str:
    """The same, in parentheses if it needs them in front of `.` or beside an operator. Raises KeyError."""
    return _within(node, _ATOM)


def _level(node: Any) -> int:
    kind = type(node)
    if kind in _WITH_OPERATOR:
        return _OPERATORS[type(node.operator)][1]
    return _LEVELS.get(kind, _ATOM)


def _within(node: Any, level: int) -> str:
    """The code of an operand, in parentheses if it binds less strongly than `level`."""
    written = code(node)
    return written if _level(node) >= level else f"({written})"


def _listed(nodes: Iterable[Any]) -> str:
    return ", ".join(map(code, nodes))


def _optional(before: str, node: Any) -> str:
    return "" if node is None else before + _within(node, _CHOICE)


def _value(node: Any) -> str:
    return str(node.value)


def _attribute(node: cst.Attribute) -> str:
    base = _within(node.value, _ATOM)
    return f"({base}).{node.attr.value}" if type(node.value) is cst.Integer else f"{base}.{node.attr.value}"


def _call(node: cst.Call) -> str:
    args = node.args
    if len(args) == 1 and type(args[0].value) is cst.GeneratorExp and args[0].keyword is None and not args[0].star:
        return _within(node.func, _ATOM) + code(args[0].value)
    return f"{_within(node.func, _ATOM)}({_listed(args)})"


def _arg(node: cst.Arg) -> str:
    keyword = str(node.keyword.value) if node.keyword is not None else ""  # none is written of a word's own
    name = f"{keyword}=" if keyword else ""
    return f"{node.star}{name}{_within(node.value, _CHOICE if name else _WALRUS)}"


def _subscript(node: cst.Subscript) -> str:
    return f"{_within(node.value, _ATOM)}[{_listed(part.slice for part in node.slice)}]"


def _index(node: cst.Index) -> str:
    return (node.star or "") + _within(node.value, _WALRUS)


def _slice(node: cst.Slice) -> str:
    return f"{_optional('', node.lower)}:{_optional('', node.upper)}{_optional(':', node.step)}"


def _binary(node: cst.BinaryOperation | cst.BooleanOperation) -> str:
    """Operators of a row lean to the left: read from there, for there may be more than the stack is deep."""
    if type(node.operator) is cst.Power:
        return f"{_within(node.left, _AWAIT)} ** {_within(node.right, _UNARY)}"
    level, right = _level(node), []
    at: Any = node
    while type(at) is type(node) and _level(at) == level:
        right.append(f" {_OPERATORS[type(at.operator)][0]} {_within(at.right, level + 1)}")
        at = at.left
    return _within(at, level) + "".join(reversed(right))


def _unary(node: cst.UnaryOperation) -> str:
    token, level = _OPERATORS[type(node.operator)]
    return token + _within(node.expression, level)


def _comparison(node: cst.Comparison) -> str:
    targets = [f" {_COMPARISONS[type(t.operator)]} {_within(t.comparator, _BIT_OR)}" for t in node.comparisons]
    return _within(node.left, _BIT_OR) + "".join(targets)


def _if_exp(node: cst.IfExp) -> str:
    return f"{_within(node.body, _OR)} if {_within(node.test, _OR)} else {_within(node.orelse, _CHOICE)}"


def _lambda(node: cst.Lambda) -> str:
    parameters = _parameters(node.params)
    return f"lambda{' ' if parameters else ''}{parameters}: {_within(node.body, _CHOICE)}"


def _parameters(node: cst.Parameters) -> str:
    """Those of a lambda, which have no annotations."""
    parts = [*map(_parameter, node.posonly_params), *(["/"] if node.posonly_params else ())]
    parts += map(_parameter, node.params)
    if type(node.star_arg) is cst.Param:
        parts.append(f"*{_parameter(node.star_arg)}")
    elif node.kwonly_params:
        parts.append("*")
    parts += map(_parameter, node.kwonly_params)
    if node.star_kwarg is not None:
        parts.append(f"**{_parameter(node.star_kwarg)}")
    return ", ".join(parts)


def _parameter(node: cst.Param) -> str:
    return node.name.value + _optional("=", node.default)


def _tuple(node: cst.Tuple) -> str:
    return f"({_elements(node.elements)})"


def _elements(elements: Sequence[Any]) -> str:
    """Those of a tuple."""
    return _listed(elements) + ("," if len(elements) == 1 else "")


def _starred(node: cst.StarredElement) -> str:
    return f"*{_within(node.value, _BIT_OR)}"


def _comprehension(node: Any) -> str:
    return f"{_within(node.elt, _WALRUS)}{_clauses(node.for_in)}"


def _dict_comprehension(node: cst.DictComp) -> str:
    return f"{{{code(node.key)}: {code(node.value)}{_clauses(node.for_in)}}}"


def _clauses(clause: cst.CompFor | None) -> str:
    written = []
    while clause is not None:
        target = clause.target
        names = _elements(target.elements) if type(target) is cst.Tuple else code(target)
        begin = " async for" if clause.asynchronous is not None else " for"
        tests = [f" if {_within(condition.test, _OR)}" for condition in clause.ifs]
        written.append(f"{begin} {names} in {_within(clause.iter, _OR)}{''.join(tests)}")
        clause = clause.inner_for_in
    return "".join(written)


def _yield(node: cst.Yield) -> str:
    value = node.value
    if type(value) is cst.From:
        return f"yield from {_within(value.item, _CHOICE)}"
    return "yield" + _optional(" ", value)


def _formatted(node: cst.FormattedString) -> str:
    return node.start + "".join(map(code, node.parts)) + node.end


def _substitution(node: cst.FormattedStringExpression) -> str:
    written = _within(node.expression, _CHOICE)
    begin = "{ " if written.startswith("{") else "{"
    equal = "=" if getattr(node, "equal", None) is not None else ""
    conversion = f"!{node.conversion}" if node.conversion else ""
    spec = ":" + "".join(map(code, node.format_spec)) if node.format_spec is not None else ""
    return f"{begin}{written}{equal}{conversion}{spec}}}"


_WITH_OPERATOR = frozenset({cst.BinaryOperation, cst.BooleanOperation, cst.UnaryOperation})
_CODE: dict[type[cst.CSTNode], Callable[[Any], str]] = {
    cst.Name: _value,
    cst.SimpleString: _value,
    cst.Integer: _value,
    cst.Float: _value,
    cst.Imaginary: _value,
    cst.FormattedStringText: _value,
    cst.Ellipsis: lambda node: "...",
    cst.ConcatenatedString: lambda node: f"{code(node.left)} {code(node.right)}",
    cst.FormattedString: _formatted,
    cst.FormattedStringExpression: _substitution,
    cst.Attribute: _attribute,
    cst.Call: _call,
    cst.Arg: _arg,
    cst.Subscript: _subscript,
    cst.SubscriptElement: lambda node: code(node.slice),
    cst.Index: _index,
    cst.Slice: _slice,
    cst.BinaryOperation: _binary,
    cst.BooleanOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.Comparison: _comparison,
    cst.IfExp: _if_exp,
    cst.Lambda: _lambda,
    cst.Await: lambda node: f"await {_within(node.expression, _ATOM)}",
    cst.Yield: _yield,
    cst.NamedExpr: lambda node: f"{code(node.target)} := {_within(node.value, _CHOICE)}",
    cst.Tuple: _tuple,
    cst.List: lambda node: f"[{_listed(node.elements)}]",
    cst.Set: lambda node: f"{{{_listed(node.elements)}}}",
    cst.Dict: lambda node: f"{{{_listed(node.elements)}}}",
    cst.Element: lambda node: _within(node.value, _WALRUS),
    cst.StarredElement: _starred,
    cst.DictElement: lambda node: f"{_within(node.key, _CHOICE)}: {_within(node.value, _CHOICE)}",
    cst.StarredDictElement: lambda node: f"**{_within(node.value, _BIT_OR)}",
    cst.ListComp: lambda node: f"[{_comprehension(node)}]",
    cst.SetComp: lambda node: f"{{{_comprehension(node)}}}",
    cst.GeneratorExp: lambda node: f"({_comprehension(node)})",
    cst.DictComp: _dict_comprehension,
}
