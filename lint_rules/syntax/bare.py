"""libcst's tree of a file, bare of formatting, made from its `ast`: several times cheaper than to parse with libcst.

Most files that are analysed hold nothing to report, and the analysis never looks at whitespace, commas, comments or
parentheses: here they are unset (see `make`). Positions and repairs need the tree that libcst parses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import libcst as cst

from lint_rules.syntax import make
from lint_rules.syntax.literals import Untold, is_one_literal, literals
from lint_rules.syntax.word import Word

__all__ = ["Builder", "Place", "Unlike", "bare_tree", "begin_of", "end_of"]


class Unlike(Exception):
    """The `ast` does not tell how libcst's tree looks."""


def bare_tree(text: str, tree: ast.Module) -> cst.Module:
    """The tree of a file with this text and `ast`. Raises Unlike, and RecursionError for deep nesting."""
    if _BROKEN_SUITE.search(text):
        raise Unlike("a line that is broken behind a colon or semicolon")
    try:
        return Builder(text).module(tree)
    except KeyError as unknown:
        raise Unlike(f"syntax newer than this: {unknown}") from None
    except cst.ParserSyntaxError as problem:
        raise Unlike(problem.message) from None


_BROKEN_SUITE = re.compile(r"[:;][ \t\f]*\\\r?\n")
"""There `ast` does not tell what stands in the line of the statement before."""


class Builder:
    """Makes the nodes of one file. What only the text tells (literals, `elif`, brackets) is read off the text."""

    def __init__(self, text: str) -> None:
        self.lines = text.encode().splitlines(keepends=True)

    def module(self, tree: ast.Module) -> cst.Module:
        made: cst.Module = make.Module(self.statements(tree.body))
        return made

    # -- text -------------------------------------------------------------------------------------------------------

    def _segment(self, node: Any) -> str:
        line, last = node.lineno, node.end_lineno
        if line == last:
            code: bytes = self.lines[line - 1][node.col_offset : node.end_col_offset]
            return code.decode()
        return self.between((line, node.col_offset), (last, node.end_col_offset)).decode()

    def between(self, start: Place, end: Place) -> bytes:
        """What stands between two places."""
        (line, column), (last, stop) = start, end
        if line == last:
            return self.lines[line - 1][column:stop]
        return b"".join([self.lines[line - 1][column:], *self.lines[line : last - 1], self.lines[last - 1][:stop]])

    def _begins_line(self, node: ast.stmt) -> bool:
        return not self.lines[node.lineno - 1][: node.col_offset].strip()

    # -- statements ---------------------------------------------------------------------------------------------------

    def statements(self, body: Sequence[ast.stmt]) -> list[Any]:
        """Statements of a block: small ones that share a line stand together."""
        found: list[Any] = []
        line: list[Any] = []
        last = 0
        for node in body:
            kind = type(node)
            if kind in _SMALL:
                if node.lineno != last:
                    line = []
                    found.append(make.SimpleStatementLine(line))
                line.append(self._small(node))
                last = node.end_lineno or 0
            else:
                found.append(self._compound(node))
        return found

    def _small(self, node: ast.stmt) -> Any:
        return _SMALL[type(node)](self, node)

    def _compound(self, node: ast.stmt) -> Any:
        make = _COMPOUND.get(type(node))
        return make(self, node) if make is not None and not getattr(node, "type_params", ()) else self._parsed(node)

    def _parsed(self, node: ast.stmt) -> Any:
        """A statement of a kind that is rare: libcst parses it."""
        decorators = getattr(node, "decorator_list", ())
        first = decorators[0].lineno if decorators else node.lineno
        behind = self.lines[(node.end_lineno or 1) - 1][node.end_col_offset :]
        if not self._begins_line(node) or behind.lstrip().startswith(b";"):
            raise Unlike(type(node).__name__)
        code = b"".join(self.lines[first - 1 : node.end_lineno]).decode()
        indented = node.col_offset > 0
        body: Any = cst.parse_module("if 1:\n" + code if indented else code).body
        (statement,) = body[0].body.body if indented else body
        return statement

    def _body(self, body: Sequence[ast.stmt]) -> Any:
        """What stands behind a colon."""
        first = body[0]
        if type(first) in _SMALL and not self._begins_line(first) and all(type(node) in _SMALL for node in body):
            return make.SimpleStatementSuite([self._small(node) for node in body])
        return self._block(body)

    def _block(self, body: Sequence[ast.stmt]) -> Any:
        return make.IndentedBlock(self.statements(body))

    def _expression_statement(self, node: ast.Expr) -> Any:
        return make.Expr(self.expression(node.value))

    def _assign(self, node: ast.Assign) -> Any:
        targets = [make.AssignTarget(self.expression(target)) for target in node.targets]
        return make.Assign(targets, self.expression(node.value))

    def _ann_assign(self, node: ast.AnnAssign) -> Any:
        return make.AnnAssign(
            self.expression(node.target), make.Annotation(self.expression(node.annotation)), self._optional(node.value)
        )

    def _aug_assign(self, node: ast.AugAssign) -> Any:
        return make.AugAssign(
            self.expression(node.target), make.ASSIGNING_OPERATORS[type(node.op)], self.expression(node.value)
        )

    def _return(self, node: ast.Return) -> Any:
        return make.Return(self._optional(node.value))

    def _raise(self, node: ast.Raise) -> Any:
        return make.Raise(self._optional(node.exc), make.From(self.expression(node.cause)) if node.cause else None)

    def _assert(self, node: ast.Assert) -> Any:
        return make.Assert(self.expression(node.test), self._optional(node.msg))

    def _delete(self, node: ast.Delete) -> Any:
        if len(node.targets) == 1:
            return make.Del(self.expression(node.targets[0]))
        return make.Del(make.Tuple([make.Element(self.expression(target)) for target in node.targets]))

    def _word(self, node: ast.Pass | ast.Break | ast.Continue) -> Any:
        return _WORDS[type(node)]()

    def _declaration(self, node: ast.Global | ast.Nonlocal) -> Any:
        return _DECLARATIONS[type(node)]([make.NameItem(make.Name(name)) for name in node.names])

    def _import(self, node: ast.Import) -> Any:
        return make.Import([self._alias(alias) for alias in node.names])

    def _import_from(self, node: ast.ImportFrom) -> Any:
        names = make.ImportStar() if node.names[0].name == "*" else [self._alias(alias) for alias in node.names]
        module = _dotted(node.module) if node.module else None
        return make.ImportFrom(module, names, [make.Dot() for _ in range(node.level)])

    def _alias(self, alias: ast.alias) -> Any:
        return make.ImportAlias(_dotted(alias.name), make.AsName(make.Name(alias.asname)) if alias.asname else None)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        return make.FunctionDef(
            make.Name(node.name),
            self._parameters(node.args),
            self._body(node.body),
            self._decorators(node),
            make.Annotation(self.expression(node.returns)) if node.returns else None,
            make.Asynchronous() if type(node) is ast.AsyncFunctionDef else None,
        )

    def _class(self, node: ast.ClassDef) -> Any:
        bases = [self._positional(base) for base in node.bases]
        keywords = [self._keyword(keyword) for keyword in node.keywords]
        return make.ClassDef(make.Name(node.name), self._body(node.body), bases, keywords, self._decorators(node))

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[Any]:
        return [make.Decorator(self.expression(decorator)) for decorator in node.decorator_list]

    def _if(self, node: ast.If) -> Any:
        """A chain of `elif` is built from its end: it may be longer than the stack is deep."""
        chain = [node]
        while self._is_elif(chain[-1].orelse):
            chain.append(chain[-1].orelse[0])  # type: ignore[arg-type]
        made = self._else(chain[-1].orelse)
        for part in reversed(chain):
            made = make.If(self.expression(part.test), self._body(part.body), made)
        return made

    def _is_elif(self, orelse: Sequence[ast.stmt]) -> bool:
        if len(orelse) != 1 or type(orelse[0]) is not ast.If:
            return False
        return self.lines[orelse[0].lineno - 1].startswith(b"elif", orelse[0].col_offset)

    def _else(self, orelse: Sequence[ast.stmt]) -> Any:
        return make.Else(self._body(orelse)) if orelse else None

    def _for(self, node: ast.For | ast.AsyncFor) -> Any:
        return make.For(
            self.expression(node.target),
            self.expression(node.iter),
            self._body(node.body),
            self._else(node.orelse),
            make.Asynchronous() if type(node) is ast.AsyncFor else None,
        )

    def _while(self, node: ast.While) -> Any:
        return make.While(self.expression(node.test), self._body(node.body), self._else(node.orelse))

    def _with(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [
            make.WithItem(self.expression(item.context_expr), self._as_name(item.optional_vars)) for item in node.items
        ]
        return make.With(items, self._body(node.body), make.Asynchronous() if type(node) is ast.AsyncWith else None)

    def _as_name(self, target: ast.expr | None) -> Any:
        return make.AsName(self.expression(target)) if target is not None else None

    def _try(self, node: Any) -> Any:
        try_, handler = _TRIES[type(node)]
        handlers = [
            handler(
                self._body(its.body), self._optional(its.type), make.AsName(make.Name(its.name)) if its.name else None
            )
            for its in node.handlers
        ]
        final = make.Finally(self._body(node.finalbody)) if node.finalbody else None
        return try_(self._body(node.body), handlers, self._else(node.orelse), final)

    def _match(self, node: ast.Match) -> Any:
        cases = [
            make.MatchCase(self._pattern(case.pattern), self._body(case.body), self._optional(case.guard))
            for case in node.cases
        ]
        return make.Match(self.expression(node.subject), cases)

    # -- patterns -------------------------------------------------------------------------------------------------

    def _pattern(self, node: ast.pattern) -> Any:
        return _PATTERNS[type(node)](self, node)

    def _patterns(self, nodes: Sequence[ast.pattern]) -> list[Any]:
        """Those of a sequence: a star stands by itself."""
        made = [(self._pattern(node), type(node) is ast.MatchStar) for node in nodes]
        return [part if is_star else make.MatchSequenceElement(part) for part, is_star in made]

    def _match_value(self, node: ast.MatchValue) -> Any:
        return make.MatchValue(self.expression(node.value))

    def _match_singleton(self, node: ast.MatchSingleton) -> Any:
        return make.MatchSingleton(make.Name(str(node.value)))

    def _match_sequence(self, node: ast.MatchSequence) -> Any:
        """To libcst `case a, b` is a list."""
        is_tuple = self._is_in_parentheses(node, node.patterns)
        return (make.MatchTuple if is_tuple else make.MatchList)(self._patterns(node.patterns))

    def _match_star(self, node: ast.MatchStar) -> Any:
        return make.MatchStar(_optional_name(node.name))

    def _match_mapping(self, node: ast.MatchMapping) -> Any:
        elements = [
            make.MatchMappingElement(self.expression(key), self._pattern(pattern))
            for key, pattern in zip(node.keys, node.patterns, strict=True)
        ]
        return make.MatchMapping(elements, _optional_name(node.rest))

    def _match_class(self, node: ast.MatchClass) -> Any:
        keywords = [
            make.MatchKeywordElement(make.Name(name), self._pattern(pattern))
            for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
        ]
        return make.MatchClass(self.expression(node.cls), self._patterns(node.patterns), keywords)

    def _match_as(self, node: ast.MatchAs) -> Any:
        return make.MatchAs(self._pattern(node.pattern) if node.pattern else None, _optional_name(node.name))

    def _match_or(self, node: ast.MatchOr) -> Any:
        return make.MatchOr([make.MatchOrElement(self._pattern(pattern)) for pattern in node.patterns])

    # -- expressions ----------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Any:
        return _EXPRESSIONS[type(node)](self, node)

    def _optional(self, node: ast.expr | None) -> Any:
        return None if node is None else _EXPRESSIONS[type(node)](self, node)

    def _name(self, node: ast.Name) -> Any:
        return make.Name(node.id)

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        kind = type(value)
        if kind is Word:
            return make.SimpleString(f'"{value!s}"')
        if kind is str or kind is bytes:
            code = self._segment(node)
            return make.SimpleString(code) if is_one_literal(code) else self._strings(node)
        if kind in _NUMBERS:
            return _NUMBERS[kind](node.kind or self._segment(node))
        return make.Ellipsis() if value is ... else make.Name(str(value))

    def _strings(self, node: ast.expr) -> Any:
        """Literals with substitutions, or several in a row: of these `ast` keeps too little."""
        code = self._segment(node)
        told = _told(node)
        try:
            return literals(code, lambda part: self._substitution(part, next(told, None)))
        except Untold:
            return cst.parse_expression(f"({code})")

    def _substitution(self, code: str, value: ast.expr | None) -> Any:
        """What stands in braces; a chain of names as the tree has it, which may stand for the provider's words."""
        named = value
        while type(named) is ast.Attribute:
            named = named.value
        return self.expression(value) if type(named) is ast.Name else _substituted(code, value)  # type: ignore[arg-type]

    def _attribute(self, node: ast.Attribute) -> Any:
        return make.Attribute(self.expression(node.value), make.Name(node.attr))

    def _call(self, node: ast.Call) -> Any:
        if not node.keywords:
            args = [self._positional(arg) for arg in node.args]
        elif not any(type(arg) is ast.Starred for arg in node.args):  # others stand before all keywords
            args = [self._positional(arg) for arg in node.args] + [self._keyword(arg) for arg in node.keywords]
        else:
            given = sorted([*node.args, *node.keywords], key=begin_of)
            args = [self._keyword(arg) if type(arg) is ast.keyword else self._positional(arg) for arg in given]
        return make.Call(self.expression(node.func), args)

    def _positional(self, node: Any) -> Any:
        if type(node) is ast.Starred:
            return make.Arg(self.expression(node.value), None, "*")
        return make.Arg(self.expression(node), None, "")

    def _keyword(self, node: Any) -> Any:
        value = self.expression(node.value)
        return make.Arg(value, None, "**") if node.arg is None else make.Arg(value, make.Name(node.arg), "")

    def _subscript(self, node: ast.Subscript) -> Any:
        at = node.slice
        parts = at.elts if type(at) is ast.Tuple and not self._is_in_parentheses(at, at.elts) else [at]
        return make.Subscript(self.expression(node.value), [make.SubscriptElement(self._part(part)) for part in parts])

    def _part(self, node: ast.expr) -> Any:
        if type(node) is ast.Slice:
            return make.Slice(self._optional(node.lower), self._optional(node.upper), self._optional(node.step))
        if type(node) is ast.Starred:
            return make.Index(self.expression(node.value), "*")
        return make.Index(self.expression(node), None)

    def _is_in_parentheses(self, node: ast.expr | ast.pattern, parts: Sequence[ast.expr | ast.pattern]) -> bool:
        """`(a, b)` and `()`, not `a, b`, nor `(a), b`."""
        begins = self.lines[node.lineno - 1].startswith(b"(", node.col_offset)
        if not begins or not parts:
            return begins
        opened = self.between(begin_of(node), begin_of(parts[0])).count(b"(")
        behind = self.between(end_of(parts[0]), begin_of(parts[1]) if len(parts) > 1 else end_of(node))
        return opened > behind.partition(b",")[0].count(b")")

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> Any:
        return _DISPLAYS[type(node)]([self._element(element) for element in node.elts])

    def _element(self, node: ast.expr) -> Any:
        if type(node) is ast.Starred:
            return make.StarredElement(self.expression(node.value))
        return make.Element(self.expression(node))

    def _dict(self, node: ast.Dict) -> Any:
        return make.Dict(
            [
                make.StarredDictElement(self.expression(value))
                if key is None
                else make.DictElement(self.expression(key), self.expression(value))
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
            made = make.BinaryOperation(made, make.OPERATORS[type(part.op)], self.expression(part.right))
        return made

    def _boolean(self, node: ast.BoolOp) -> Any:
        operator = make.OPERATORS[type(node.op)]
        made = self.expression(node.values[0])
        for value in node.values[1:]:
            made = make.BooleanOperation(made, operator, self.expression(value))
        return made

    def _unary(self, node: ast.UnaryOp) -> Any:
        return make.UnaryOperation(make.OPERATORS[type(node.op)], self.expression(node.operand))

    def _comparison(self, node: ast.Compare) -> Any:
        targets = [
            make.ComparisonTarget(make.OPERATORS[type(op)], self.expression(comparator))
            for op, comparator in zip(node.ops, node.comparators, strict=True)
        ]
        return make.Comparison(self.expression(node.left), targets)

    def _if_exp(self, node: ast.IfExp) -> Any:
        return make.IfExp(self.expression(node.body), self.expression(node.test), self.expression(node.orelse))

    def _lambda(self, node: ast.Lambda) -> Any:
        return make.Lambda(self._parameters(node.args), self.expression(node.body))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        return _COMPREHENSIONS[type(node)](self.expression(node.elt), self._generators(node.generators))

    def _dict_comp(self, node: ast.DictComp) -> Any:
        return make.DictComp(self.expression(node.key), self.expression(node.value), self._generators(node.generators))

    def _generators(self, generators: Iterable[ast.comprehension]) -> Any:
        made = None
        for part in reversed(list(generators)):
            made = make.CompFor(
                self.expression(part.target),
                self.expression(part.iter),
                [make.CompIf(self.expression(test)) for test in part.ifs],
                made,
                make.Asynchronous() if part.is_async else None,
            )
        return made

    def _await(self, node: ast.Await) -> Any:
        return make.Await(self.expression(node.value))

    def _yield(self, node: ast.Yield) -> Any:
        return make.Yield(self._optional(node.value))

    def _yield_from(self, node: ast.YieldFrom) -> Any:
        return make.Yield(make.From(self.expression(node.value)))

    def _named_expr(self, node: ast.NamedExpr) -> Any:
        return make.NamedExpr(self.expression(node.target), self.expression(node.value))

    # -- parameters -----------------------------------------------------------------------------------------------

    def _parameters(self, args: ast.arguments) -> Any:
        plain = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
        listed = list(self._listed(plain, defaults))
        star: Any = cst.MaybeSentinel.DEFAULT
        if args.vararg is not None:
            star = self._parameter(args.vararg, None, "*")
        elif args.kwonlyargs:
            star = make.ParamStar()
        return make.Parameters(
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
            return make.Param(
                make.Name(arg.arg), make.Annotation(self._annotated(annotation)), self._optional(default), star
            )
        return make.Param(make.Name(arg.arg), None, self._optional(default), star)

    def _annotated(self, annotation: ast.expr) -> Any:
        """`*args: *Shape` is the one place where a starred expression stands alone."""
        return self._element(annotation) if type(annotation) is ast.Starred else self.expression(annotation)


Place = tuple[int, int]
"""A line, from 1, and a column in bytes, from 0."""


def begin_of(node: Any) -> Place:
    return node.lineno, node.col_offset


def end_of(node: Any) -> Place:
    return node.end_lineno, node.end_col_offset


def _optional_name(name: str | None) -> Any:
    return None if name is None else make.Name(name)


def _dotted(name: str) -> Any:
    first, *rest = name.split(".")
    made = make.Name(first)
    for part in rest:
        made = make.Attribute(made, make.Name(part))
    return made


def _told(node: ast.AST) -> Iterator[ast.expr]:
    """What literals substitute, in the order in which it stands there."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.FormattedValue):
            yield part.value
            yield from _told(part.format_spec) if part.format_spec is not None else ()


def _substituted(code: str, value: ast.expr | None) -> Any:
    """The expression of a substitution, in the words that the tree has by now. Raises Untold."""
    if value is None and _CHAIN.fullmatch(code):
        return _dotted(code)
    text, tree = _read(code)
    if value is not None and not _put_into(tree, value):  # the tree has something else there by now
        text, tree = _read(ast.unparse(value))
        if not _put_into(tree, value):
            raise Untold
    return Builder(text).expression(tree)


def _read(code: str) -> tuple[str, ast.expr]:
    """An expression in brackets, and its tree. Raises Untold."""
    text = f"({code}\n)"
    try:
        return text, ast.parse(text, mode="eval").body
    except SyntaxError:
        raise Untold from None


def _put_into(tree: ast.expr, value: ast.expr) -> bool:
    """Gives the names in a tree those of another one of the same form; False if the form is another."""
    pairs = [*zip_longest(ast.walk(tree), ast.walk(value))]
    if any(type(one) is not type(other) for one, other in pairs):
        return False
    for one, other in pairs:
        for field in _NAMING & {*one._fields}:
            setattr(one, field, getattr(other, field))
    return True


_NAMING = frozenset({"id", "attr", "arg"})
_CHAIN = re.compile(r"(?!yield\b)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_NUMBERS = {int: make.Integer, float: make.Float, complex: make.Imaginary}
_DISPLAYS = {ast.Tuple: make.Tuple, ast.List: make.List, ast.Set: make.Set}
_COMPREHENSIONS = {ast.ListComp: make.ListComp, ast.SetComp: make.SetComp, ast.GeneratorExp: make.GeneratorExp}
_WORDS = {ast.Pass: make.Pass, ast.Break: make.Break, ast.Continue: make.Continue}
_DECLARATIONS = {ast.Global: make.Global, ast.Nonlocal: make.Nonlocal}
_SMALL: dict[type[ast.AST], Callable[[Builder, Any], Any]] = {
    ast.Expr: Builder._expression_statement,
    ast.Assign: Builder._assign,
    ast.AnnAssign: Builder._ann_assign,
    ast.AugAssign: Builder._aug_assign,
    ast.Return: Builder._return,
    ast.Raise: Builder._raise,
    ast.Assert: Builder._assert,
    ast.Delete: Builder._delete,
    ast.Pass: Builder._word,
    ast.Break: Builder._word,
    ast.Continue: Builder._word,
    ast.Global: Builder._declaration,
    ast.Nonlocal: Builder._declaration,
    ast.Import: Builder._import,
    ast.ImportFrom: Builder._import_from,
}
_COMPOUND: dict[type[ast.AST], Callable[[Builder, Any], Any]] = {
    ast.FunctionDef: Builder._function,
    ast.AsyncFunctionDef: Builder._function,
    ast.ClassDef: Builder._class,
    ast.If: Builder._if,
    ast.For: Builder._for,
    ast.AsyncFor: Builder._for,
    ast.While: Builder._while,
    ast.With: Builder._with,
    ast.AsyncWith: Builder._with,
    ast.Try: Builder._try,
    ast.Match: Builder._match,
}
_PATTERNS: dict[type[ast.AST], Callable[[Builder, Any], Any]] = {
    ast.MatchValue: Builder._match_value,
    ast.MatchSingleton: Builder._match_singleton,
    ast.MatchSequence: Builder._match_sequence,
    ast.MatchStar: Builder._match_star,
    ast.MatchMapping: Builder._match_mapping,
    ast.MatchClass: Builder._match_class,
    ast.MatchAs: Builder._match_as,
    ast.MatchOr: Builder._match_or,
}
_TRIES: dict[type[ast.AST], tuple[Callable[..., Any], Callable[..., Any]]] = {ast.Try: (make.Try, make.ExceptHandler)}
if hasattr(ast, "TryStar"):
    _COMPOUND[ast.TryStar] = Builder._try
    _TRIES[ast.TryStar] = (make.TryStar, make.ExceptStarHandler)
_EXPRESSIONS: dict[type[ast.AST], Callable[[Builder, Any], Any]] = {
    ast.Name: Builder._name,
    ast.Constant: Builder._constant,
    ast.JoinedStr: Builder._strings,
    ast.Attribute: Builder._attribute,
    ast.Call: Builder._call,
    ast.Subscript: Builder._subscript,
    ast.Tuple: Builder._display,
    ast.List: Builder._display,
    ast.Set: Builder._display,
    ast.Dict: Builder._dict,
    ast.BinOp: Builder._binary,
    ast.BoolOp: Builder._boolean,
    ast.UnaryOp: Builder._unary,
    ast.Compare: Builder._comparison,
    ast.IfExp: Builder._if_exp,
    ast.Lambda: Builder._lambda,
    ast.ListComp: Builder._comprehension,
    ast.SetComp: Builder._comprehension,
    ast.GeneratorExp: Builder._comprehension,
    ast.DictComp: Builder._dict_comp,
    ast.Await: Builder._await,
    ast.Yield: Builder._yield,
    ast.YieldFrom: Builder._yield_from,
    ast.NamedExpr: Builder._named_expr,
}
