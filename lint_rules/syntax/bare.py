"""libcst's tree of a file, bare of formatting, made from its `ast`: several times cheaper than to parse with libcst.

Most files that are analysed hold nothing to report, and the analysis never looks at whitespace, commas, comments or
parentheses. What is missing here has libcst's default, so a bare tree can be rendered, but not to the file's text:
positions and repairs need the tree that libcst parses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from typing import Any

import libcst as cst

__all__ = ["Unlike", "bare_tree"]


class Unlike(Exception):
    """The `ast` does not tell how libcst's tree looks."""


def bare_tree(text: str, tree: ast.Module) -> cst.Module:
    """The tree of a file with this text and `ast`. Raises Unlike, and RecursionError for deep nesting."""
    if _BROKEN_SUITE.search(text):
        raise Unlike("a line that is broken behind a colon or semicolon")
    try:
        return _Builder(text).module(tree)
    except KeyError as unknown:
        raise Unlike(f"syntax newer than this: {unknown}") from None
    except cst.ParserSyntaxError as problem:
        raise Unlike(problem.message) from None


_BROKEN_SUITE = re.compile(r"[:;][ \t\f]*\\\r?\n")
"""There `ast` does not tell what stands in the line of the statement before."""
_STRING = re.compile(
    r"[A-Za-z]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")",
    re.DOTALL,
)


def _maker(kind: type[cst.CSTNode], *given: str) -> Callable[..., Any]:
    """Makes nodes of a class from the values of some fields; the others get their defaults.

    Sets slots, as libcst's own parser checks each node that is made and makes its whitespace anew.
    """
    new = object.__new__
    rest = [(_setter(kind, f.name), _default(f)) for f in fields(kind) if f.name not in given]
    puts = [_setter(kind, name) for name in given]
    if len(puts) == 1:
        only = puts[0]

        def make_one(value: object) -> cst.CSTNode:
            node = new(kind)
            only(node, value)
            for put, default in rest:
                put(node, default)
            return node

        return make_one

    def make(*values: object) -> cst.CSTNode:
        node = new(kind)
        for put, value in zip(puts, values, strict=True):
            put(node, value)
        for put, default in rest:
            put(node, default)
        return node

    return make


def _setter(kind: type[cst.CSTNode], name: str) -> Callable[[cst.CSTNode, object], None]:
    put: Callable[[cst.CSTNode, object], None] = getattr(kind, name).__set__
    return put


def _default(field: Any) -> object:
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else None


_name = _maker(cst.Name, "value")
_attribute = _maker(cst.Attribute, "value", "attr")
_call = _maker(cst.Call, "func", "args")
_arg = _maker(cst.Arg, "value", "keyword", "star")
_simple_string = _maker(cst.SimpleString, "value")
_numbers: dict[type, Callable[..., Any]] = {
    int: _maker(cst.Integer, "value"),
    float: _maker(cst.Float, "value"),
    complex: _maker(cst.Imaginary, "value"),
}
_ellipsis = _maker(cst.Ellipsis)
_subscript = _maker(cst.Subscript, "value", "slice")
_subscript_element = _maker(cst.SubscriptElement, "slice")
_index = _maker(cst.Index, "value", "star")
_slice = _maker(cst.Slice, "lower", "upper", "step")
_element = _maker(cst.Element, "value")
_starred_element = _maker(cst.StarredElement, "value")
_displays = {
    kind: _maker(made, "elements") for kind, made in ((ast.Tuple, cst.Tuple), (ast.List, cst.List), (ast.Set, cst.Set))
}
_dict = _maker(cst.Dict, "elements")
_dict_element = _maker(cst.DictElement, "key", "value")
_starred_dict_element = _maker(cst.StarredDictElement, "value")
_binary = _maker(cst.BinaryOperation, "left", "operator", "right")
_boolean = _maker(cst.BooleanOperation, "left", "operator", "right")
_unary = _maker(cst.UnaryOperation, "operator", "expression")
_comparison = _maker(cst.Comparison, "left", "comparisons")
_comparison_target = _maker(cst.ComparisonTarget, "operator", "comparator")
_if_exp = _maker(cst.IfExp, "body", "test", "orelse")
_lambda = _maker(cst.Lambda, "params", "body")
_comprehensions = {
    ast.ListComp: _maker(cst.ListComp, "elt", "for_in"),
    ast.SetComp: _maker(cst.SetComp, "elt", "for_in"),
    ast.GeneratorExp: _maker(cst.GeneratorExp, "elt", "for_in"),
}
_dict_comp = _maker(cst.DictComp, "key", "value", "for_in")
_comp_for = _maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
_comp_if = _maker(cst.CompIf, "test")
_await = _maker(cst.Await, "expression")
_yield = _maker(cst.Yield, "value")
_from = _maker(cst.From, "item")
_named_expr = _maker(cst.NamedExpr, "target", "value")
_asynchronous = _maker(cst.Asynchronous)
_parameters = _maker(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params")
_param = _maker(cst.Param, "name", "annotation", "default", "star")
_param_star = _maker(cst.ParamStar)
_annotation = _maker(cst.Annotation, "annotation")

_line = _maker(cst.SimpleStatementLine, "body")
_suite = _maker(cst.SimpleStatementSuite, "body")
_block = _maker(cst.IndentedBlock, "body")
_expr = _maker(cst.Expr, "value")
_assign = _maker(cst.Assign, "targets", "value")
_assign_target = _maker(cst.AssignTarget, "target")
_ann_assign = _maker(cst.AnnAssign, "target", "annotation", "value")
_aug_assign = _maker(cst.AugAssign, "target", "operator", "value")
_return = _maker(cst.Return, "value")
_raise = _maker(cst.Raise, "exc", "cause")
_assert = _maker(cst.Assert, "test", "msg")
_del = _maker(cst.Del, "target")
_words = {ast.Pass: _maker(cst.Pass), ast.Break: _maker(cst.Break), ast.Continue: _maker(cst.Continue)}
_declarations = {ast.Global: _maker(cst.Global, "names"), ast.Nonlocal: _maker(cst.Nonlocal, "names")}
_name_item = _maker(cst.NameItem, "name")
_import = _maker(cst.Import, "names")
_import_from = _maker(cst.ImportFrom, "module", "names", "relative")
_import_alias = _maker(cst.ImportAlias, "name", "asname")
_import_star = _maker(cst.ImportStar)
_dot = _maker(cst.Dot)
_as_name = _maker(cst.AsName, "name")
_function = _maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
_class = _maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators")
_decorator = _maker(cst.Decorator, "decorator")
_if = _maker(cst.If, "test", "body", "orelse")
_else = _maker(cst.Else, "body")
_for = _maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
_while = _maker(cst.While, "test", "body", "orelse")
_with = _maker(cst.With, "items", "body", "asynchronous")
_with_item = _maker(cst.WithItem, "item", "asname")
_finally = _maker(cst.Finally, "body")
_module = _maker(cst.Module, "body")

_OPERATORS: dict[type[ast.AST], Callable[[], Any]] = {
    kind: _maker(made)
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
_ASSIGNING: dict[type[ast.AST], Callable[[], Any]] = {
    kind: _maker(made)
    for kind, made in (
        (ast.Add, cst.AddAssign), (ast.Sub, cst.SubtractAssign), (ast.Mult, cst.MultiplyAssign),
        (ast.Div, cst.DivideAssign), (ast.FloorDiv, cst.FloorDivideAssign), (ast.Mod, cst.ModuloAssign),
        (ast.Pow, cst.PowerAssign), (ast.LShift, cst.LeftShiftAssign), (ast.RShift, cst.RightShiftAssign),
        (ast.BitOr, cst.BitOrAssign), (ast.BitAnd, cst.BitAndAssign), (ast.BitXor, cst.BitXorAssign),
        (ast.MatMult, cst.MatrixMultiplyAssign),
    )
}  # fmt: skip


class _Builder:
    """Makes the nodes of one file. What only the text tells (literals, `elif`, brackets) is read off the text."""

    def __init__(self, text: str) -> None:
        self._lines = text.encode().splitlines(keepends=True)

    def module(self, tree: ast.Module) -> cst.Module:
        made: cst.Module = _module(self._statements(tree.body))
        return made

    # -- text -------------------------------------------------------------------------------------------------------

    def _segment(self, node: Any) -> str:
        return self._between(_begin(node), _end(node)).decode()

    def _between(self, start: _Place, end: _Place) -> bytes:
        """What stands between two places."""
        (line, column), (last, stop) = start, end
        if line == last:
            return self._lines[line - 1][column:stop]
        return b"".join([self._lines[line - 1][column:], *self._lines[line : last - 1], self._lines[last - 1][:stop]])

    def _begins_line(self, node: ast.stmt) -> bool:
        return not self._lines[node.lineno - 1][: node.col_offset].strip()

    # -- statements ---------------------------------------------------------------------------------------------------

    def _statements(self, body: Sequence[ast.stmt]) -> list[Any]:
        """Statements of a block: small ones that share a line stand together."""
        found: list[Any] = []
        line: list[Any] = []
        last = 0
        for node in body:
            kind = type(node)
            if kind in _SMALL:
                if node.lineno != last:
                    line = []
                    found.append(_line(line))
                line.append(_SMALL[kind](self, node))
                last = node.end_lineno or 0
            else:
                found.append(self._compound(node))
        return found

    def _compound(self, node: ast.stmt) -> Any:
        make = _COMPOUND.get(type(node))
        return make(self, node) if make is not None and not getattr(node, "type_params", ()) else self._parsed(node)

    def _parsed(self, node: ast.stmt) -> Any:
        """A statement of a kind that is rare: libcst parses it."""
        decorators = getattr(node, "decorator_list", ())
        first = decorators[0].lineno if decorators else node.lineno
        if not self._begins_line(node):
            raise Unlike(type(node).__name__)
        code = b"".join(self._lines[first - 1 : node.end_lineno]).decode()
        indented = node.col_offset > 0
        body: Any = cst.parse_module("if 1:\n" + code if indented else code).body
        (statement,) = body[0].body.body if indented else body
        return statement

    def _body(self, body: Sequence[ast.stmt]) -> Any:
        """What stands behind a colon."""
        first = body[0]
        if type(first) in _SMALL and not self._begins_line(first):
            return _suite([_SMALL[type(node)](self, node) for node in body])
        return _block(self._statements(body))

    def _expression_statement(self, node: ast.Expr) -> Any:
        return _expr(self.expression(node.value))

    def _assign(self, node: ast.Assign) -> Any:
        targets = [_assign_target(self.expression(target)) for target in node.targets]
        return _assign(targets, self.expression(node.value))

    def _ann_assign(self, node: ast.AnnAssign) -> Any:
        return _ann_assign(
            self.expression(node.target), _annotation(self.expression(node.annotation)), self._optional(node.value)
        )

    def _aug_assign(self, node: ast.AugAssign) -> Any:
        return _aug_assign(self.expression(node.target), _ASSIGNING[type(node.op)](), self.expression(node.value))

    def _return(self, node: ast.Return) -> Any:
        return _return(self._optional(node.value))

    def _raise(self, node: ast.Raise) -> Any:
        return _raise(self._optional(node.exc), _from(self.expression(node.cause)) if node.cause else None)

    def _assert(self, node: ast.Assert) -> Any:
        return _assert(self.expression(node.test), self._optional(node.msg))

    def _delete(self, node: ast.Delete) -> Any:
        if len(node.targets) == 1:
            return _del(self.expression(node.targets[0]))
        return _del(_displays[ast.Tuple]([_element(self.expression(target)) for target in node.targets]))

    def _word(self, node: ast.Pass | ast.Break | ast.Continue) -> Any:
        return _words[type(node)]()

    def _declaration(self, node: ast.Global | ast.Nonlocal) -> Any:
        return _declarations[type(node)]([_name_item(_name(name)) for name in node.names])

    def _import(self, node: ast.Import) -> Any:
        return _import([self._alias(alias) for alias in node.names])

    def _import_from(self, node: ast.ImportFrom) -> Any:
        names = _import_star() if node.names[0].name == "*" else [self._alias(alias) for alias in node.names]
        module = _dotted(node.module) if node.module else None
        return _import_from(module, names, [_dot() for _ in range(node.level)])

    def _alias(self, alias: ast.alias) -> Any:
        return _import_alias(_dotted(alias.name), _as_name(_name(alias.asname)) if alias.asname else None)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        return _function(
            _name(node.name),
            self._parameters(node.args),
            self._body(node.body),
            self._decorators(node),
            _annotation(self.expression(node.returns)) if node.returns else None,
            _asynchronous() if type(node) is ast.AsyncFunctionDef else None,
        )

    def _class(self, node: ast.ClassDef) -> Any:
        bases = [self._positional(base) for base in node.bases]
        keywords = [self._keyword(keyword) for keyword in node.keywords]
        return _class(_name(node.name), self._body(node.body), bases, keywords, self._decorators(node))

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[Any]:
        return [_decorator(self.expression(decorator)) for decorator in node.decorator_list]

    def _if(self, node: ast.If) -> Any:
        """A chain of `elif` is built from its end: it may be longer than the stack is deep."""
        chain = [node]
        while self._is_elif(chain[-1].orelse):
            chain.append(chain[-1].orelse[0])  # type: ignore[arg-type]
        made = self._else(chain[-1].orelse)
        for part in reversed(chain):
            made = _if(self.expression(part.test), self._body(part.body), made)
        return made

    def _is_elif(self, orelse: Sequence[ast.stmt]) -> bool:
        if len(orelse) != 1 or type(orelse[0]) is not ast.If:
            return False
        return self._lines[orelse[0].lineno - 1].startswith(b"elif", orelse[0].col_offset)

    def _else(self, orelse: Sequence[ast.stmt]) -> Any:
        return _else(self._body(orelse)) if orelse else None

    def _for(self, node: ast.For | ast.AsyncFor) -> Any:
        return _for(
            self.expression(node.target),
            self.expression(node.iter),
            self._body(node.body),
            self._else(node.orelse),
            _asynchronous() if type(node) is ast.AsyncFor else None,
        )

    def _while(self, node: ast.While) -> Any:
        return _while(self.expression(node.test), self._body(node.body), self._else(node.orelse))

    def _with(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [
            _with_item(self.expression(item.context_expr), self._as_name(item.optional_vars)) for item in node.items
        ]
        return _with(items, self._body(node.body), _asynchronous() if type(node) is ast.AsyncWith else None)

    def _as_name(self, target: ast.expr | None) -> Any:
        return _as_name(self.expression(target)) if target is not None else None

    def _try(self, node: Any) -> Any:
        try_, handler = _TRIES[type(node)]
        handlers = [
            handler(self._body(its.body), self._optional(its.type), _as_name(_name(its.name)) if its.name else None)
            for its in node.handlers
        ]
        final = _finally(self._body(node.finalbody)) if node.finalbody else None
        return try_(self._body(node.body), handlers, self._else(node.orelse), final)

    # -- expressions ----------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Any:
        return _EXPRESSIONS[type(node)](self, node)

    def _optional(self, node: ast.expr | None) -> Any:
        return None if node is None else _EXPRESSIONS[type(node)](self, node)

    def _name(self, node: ast.Name) -> Any:
        return _name(node.id)

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        kind = type(value)
        if kind is str or kind is bytes:
            code = self._segment(node)
            one = _STRING.match(code)
            return _simple_string(code) if one is not None and one.end() == len(code) else self._strings(node)
        if kind in _numbers:
            return _numbers[kind](self._segment(node))
        return _ellipsis() if value is ... else _name(str(value))

    def _strings(self, node: ast.expr) -> Any:
        """Literals with substitutions, or several in a row: of these `ast` keeps too little."""
        return cst.parse_expression(f"({self._segment(node)})")

    def _attribute(self, node: ast.Attribute) -> Any:
        return _attribute(self.expression(node.value), _name(node.attr))

    def _call(self, node: ast.Call) -> Any:
        if not node.keywords:
            args = [self._positional(arg) for arg in node.args]
        elif not node.args or _begin(node.args[-1]) < _begin(node.keywords[0]):
            args = [self._positional(arg) for arg in node.args] + [self._keyword(arg) for arg in node.keywords]
        else:
            given = sorted([*node.args, *node.keywords], key=_begin)
            args = [self._keyword(arg) if type(arg) is ast.keyword else self._positional(arg) for arg in given]
        return _call(self.expression(node.func), args)

    def _positional(self, node: Any) -> Any:
        if type(node) is ast.Starred:
            return _arg(self.expression(node.value), None, "*")
        return _arg(self.expression(node), None, "")

    def _keyword(self, node: Any) -> Any:
        value = self.expression(node.value)
        return _arg(value, None, "**") if node.arg is None else _arg(value, _name(node.arg), "")

    def _subscript(self, node: ast.Subscript) -> Any:
        at = node.slice
        parts = at.elts if type(at) is ast.Tuple and at.elts and not self._is_in_parentheses(at) else [at]
        return _subscript(self.expression(node.value), [_subscript_element(self._part(part)) for part in parts])

    def _part(self, node: ast.expr) -> Any:
        if type(node) is ast.Slice:
            return _slice(self._optional(node.lower), self._optional(node.upper), self._optional(node.step))
        if type(node) is ast.Starred:
            return _index(self.expression(node.value), "*")
        return _index(self.expression(node), None)

    def _is_in_parentheses(self, node: ast.Tuple) -> bool:
        """`(a, b)`, not `a, b`, nor `(a), b`."""
        first = node.elts[0]
        opened = self._between((node.lineno, node.col_offset), (first.lineno, first.col_offset)).count(b"(")
        if not opened:
            return False
        after = node.elts[1] if len(node.elts) > 1 else node
        end = (
            (after.lineno, after.col_offset) if after is not node else (node.end_lineno or 0, node.end_col_offset or 0)
        )
        behind = self._between((first.end_lineno or 0, first.end_col_offset or 0), end)
        return opened > behind.partition(b",")[0].count(b")")

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> Any:
        return _displays[type(node)]([self._element(element) for element in node.elts])

    def _element(self, node: ast.expr) -> Any:
        if type(node) is ast.Starred:
            return _starred_element(self.expression(node.value))
        return _element(self.expression(node))

    def _dict(self, node: ast.Dict) -> Any:
        return _dict(
            [
                _starred_dict_element(self.expression(value))
                if key is None
                else _dict_element(self.expression(key), self.expression(value))
                for key, value in zip(node.keys, node.values, strict=True)
            ]
        )

    def _binary(self, node: ast.BinOp) -> Any:
        """Operators of a row lean to the left: built from there, for there may be more than the stack is deep."""
        chain = [node]
        while type(chain[-1].left) is ast.BinOp:
            chain.append(chain[-1].left)
        made = self.expression(chain[-1].left)
        for part in reversed(chain):
            made = _binary(made, _OPERATORS[type(part.op)](), self.expression(part.right))
        return made

    def _boolean(self, node: ast.BoolOp) -> Any:
        operator = _OPERATORS[type(node.op)]
        made = self.expression(node.values[0])
        for value in node.values[1:]:
            made = _boolean(made, operator(), self.expression(value))
        return made

    def _unary(self, node: ast.UnaryOp) -> Any:
        return _unary(_OPERATORS[type(node.op)](), self.expression(node.operand))

    def _comparison(self, node: ast.Compare) -> Any:
        targets = [
            _comparison_target(_OPERATORS[type(op)](), self.expression(comparator))
            for op, comparator in zip(node.ops, node.comparators, strict=True)
        ]
        return _comparison(self.expression(node.left), targets)

    def _if_exp(self, node: ast.IfExp) -> Any:
        return _if_exp(self.expression(node.body), self.expression(node.test), self.expression(node.orelse))

    def _lambda(self, node: ast.Lambda) -> Any:
        return _lambda(self._parameters(node.args), self.expression(node.body))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        return _comprehensions[type(node)](self.expression(node.elt), self._generators(node.generators))

    def _dict_comp(self, node: ast.DictComp) -> Any:
        return _dict_comp(self.expression(node.key), self.expression(node.value), self._generators(node.generators))

    def _generators(self, generators: Iterable[ast.comprehension]) -> Any:
        made = None
        for part in reversed(list(generators)):
            made = _comp_for(
                self.expression(part.target),
                self.expression(part.iter),
                [_comp_if(self.expression(test)) for test in part.ifs],
                made,
                _asynchronous() if part.is_async else None,
            )
        return made

    def _await(self, node: ast.Await) -> Any:
        return _await(self.expression(node.value))

    def _yield(self, node: ast.Yield) -> Any:
        return _yield(self._optional(node.value))

    def _yield_from(self, node: ast.YieldFrom) -> Any:
        return _yield(_from(self.expression(node.value)))

    def _named_expr(self, node: ast.NamedExpr) -> Any:
        return _named_expr(self.expression(node.target), self.expression(node.value))

    # -- parameters -----------------------------------------------------------------------------------------------

    def _parameters(self, args: ast.arguments) -> Any:
        plain = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
        listed = list(self._listed(plain, defaults))
        star: Any = cst.MaybeSentinel.DEFAULT
        if args.vararg is not None:
            star = self._parameter(args.vararg, None, "*")
        elif args.kwonlyargs:
            star = _param_star()
        return _parameters(
            listed[len(args.posonlyargs) :],
            star,
            list(self._listed(args.kwonlyargs, args.kw_defaults)),
            self._parameter(args.kwarg, None, "**") if args.kwarg is not None else None,
            listed[: len(args.posonlyargs)],
        )

    def _listed(self, args: Iterable[ast.arg], defaults: Iterable[ast.expr | None]) -> Iterator[Any]:
        for arg, default in zip(args, defaults, strict=True):
            yield self._parameter(arg, default, "")

    def _parameter(self, arg: ast.arg, default: ast.expr | None, star: str) -> Any:
        annotation = arg.annotation
        if annotation is not None:
            return _param(_name(arg.arg), _annotation(self._annotated(annotation)), self._optional(default), star)
        return _param(_name(arg.arg), None, self._optional(default), star)

    def _annotated(self, annotation: ast.expr) -> Any:
        """`*args: *Shape` is the one place where a starred expression stands alone."""
        return self._element(annotation) if type(annotation) is ast.Starred else self.expression(annotation)


_Place = tuple[int, int]
"""A line, from 1, and a column in bytes, from 0."""


def _begin(node: Any) -> _Place:
    return node.lineno, node.col_offset


def _end(node: Any) -> _Place:
    return node.end_lineno, node.end_col_offset


def _dotted(name: str) -> Any:
    first, *rest = name.split(".")
    made = _name(first)
    for part in rest:
        made = _attribute(made, _name(part))
    return made


_SMALL: dict[type[ast.AST], Callable[[_Builder, Any], Any]] = {
    ast.Expr: _Builder._expression_statement,
    ast.Assign: _Builder._assign,
    ast.AnnAssign: _Builder._ann_assign,
    ast.AugAssign: _Builder._aug_assign,
    ast.Return: _Builder._return,
    ast.Raise: _Builder._raise,
    ast.Assert: _Builder._assert,
    ast.Delete: _Builder._delete,
    ast.Pass: _Builder._word,
    ast.Break: _Builder._word,
    ast.Continue: _Builder._word,
    ast.Global: _Builder._declaration,
    ast.Nonlocal: _Builder._declaration,
    ast.Import: _Builder._import,
    ast.ImportFrom: _Builder._import_from,
}
_COMPOUND: dict[type[ast.AST], Callable[[_Builder, Any], Any]] = {
    ast.FunctionDef: _Builder._function,
    ast.AsyncFunctionDef: _Builder._function,
    ast.ClassDef: _Builder._class,
    ast.If: _Builder._if,
    ast.For: _Builder._for,
    ast.AsyncFor: _Builder._for,
    ast.While: _Builder._while,
    ast.With: _Builder._with,
    ast.AsyncWith: _Builder._with,
    ast.Try: _Builder._try,
}
_TRIES: dict[type[ast.AST], tuple[Callable[..., Any], Callable[..., Any]]] = {
    ast.Try: (
        _maker(cst.Try, "body", "handlers", "orelse", "finalbody"),
        _maker(cst.ExceptHandler, "body", "type", "name"),
    )
}
if hasattr(ast, "TryStar"):
    _COMPOUND[ast.TryStar] = _Builder._try
    _TRIES[ast.TryStar] = (
        _maker(cst.TryStar, "body", "handlers", "orelse", "finalbody"),
        _maker(cst.ExceptStarHandler, "body", "type", "name"),
    )
_EXPRESSIONS: dict[type[ast.AST], Callable[[_Builder, Any], Any]] = {
    ast.Name: _Builder._name,
    ast.Constant: _Builder._constant,
    ast.JoinedStr: _Builder._strings,
    ast.Attribute: _Builder._attribute,
    ast.Call: _Builder._call,
    ast.Subscript: _Builder._subscript,
    ast.Tuple: _Builder._display,
    ast.List: _Builder._display,
    ast.Set: _Builder._display,
    ast.Dict: _Builder._dict,
    ast.BinOp: _Builder._binary,
    ast.BoolOp: _Builder._boolean,
    ast.UnaryOp: _Builder._unary,
    ast.Compare: _Builder._comparison,
    ast.IfExp: _Builder._if_exp,
    ast.Lambda: _Builder._lambda,
    ast.ListComp: _Builder._comprehension,
    ast.SetComp: _Builder._comprehension,
    ast.GeneratorExp: _Builder._comprehension,
    ast.DictComp: _Builder._dict_comp,
    ast.Await: _Builder._await,
    ast.Yield: _Builder._yield,
    ast.YieldFrom: _Builder._yield_from,
    ast.NamedExpr: _Builder._named_expr,
}
