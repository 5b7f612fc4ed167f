"""Where the nodes of a bare tree stand: where the nodes of the `ast` do that they were made from.

Both say the same of statements, calls, loops, and whatever else findings mostly point at. Of what is left, libcst has
to be asked, which parses the file for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import libcst as cst

from lint_rules.finding import Span
from lint_rules.syntax import make
from lint_rules.syntax.bare import Builder, Place, begin_of, end_of
from lint_rules.syntax.pairs import innermost, paired
from lint_rules.syntax.walk import children

__all__ = ["TwinPositions", "Unplaced"]

_OTHERWISE = frozenset({cst.Arg, cst.GeneratorExp, cst.Tuple})
"""Of them, `ast` counts parentheses in that libcst leaves out, or the other way round."""
_HANDLERS = frozenset({cst.ExceptHandler, cst.ExceptStarHandler})
_FOR = re.compile(rb"(?:\basync\s+)?\bfor[\s(]*\Z")
_NAME = re.compile(rb"(?:async[ \t]+)?(?:def|class)[ \t]+([^\s\\(:\[]+)")


class Unplaced(Exception):
    """The `ast` does not tell where a node stands."""


class TwinPositions:
    """Spans of the nodes of one bare tree, made from `twin`. `parent` leads from each node to the one around it."""

    def __init__(
        self, tree: cst.Module, text: str, parent: dict[cst.CSTNode, cst.CSTNode], twin: ast.Module, *, loose: bool
    ) -> None:
        """`text` is that of the file, without a BOM. `loose`: the place of what a node is made of, or
        of what stands around it, is good enough.
        """
        self._tree = tree
        self._parent = parent
        self._twin = twin
        self._tracer = _Tracer(text)
        self._loose = loose
        self._lines = self._tracer.lines
        self._twins: dict[cst.CSTNode, Any] = {}

    def span(self, node: cst.CSTNode) -> Span:
        """The range of `node` without surrounding whitespace. Raises Unplaced."""
        try:
            return self._exactly(node)
        except Unplaced:
            if not self._loose or node is self._tree:
                raise
            parts = list(self._placed(children(node)))
            return Span(*parts[0][:2], *parts[-1][2:]) if parts else self.span(self._parent[node])

    def _placed(self, nodes: Iterable[cst.CSTNode]) -> Iterator[Span]:
        for node in nodes:
            with suppress(Unplaced):
                yield self._exactly(node)

    def _exactly(self, node: cst.CSTNode) -> Span:
        kind, around = type(node), self._parent.get(node)
        if isinstance(around, (cst.FunctionDef, cst.ClassDef)) and node is around.name:
            return self._span_of_name(self._twin_of(around))
        twin = self._twin_of(node)
        if kind is cst.CompFor:
            return self._span_of_clause(node, twin)
        if kind is cst.Param:
            return self._span_of_parameter(node, twin)
        if kind in _OTHERWISE:
            raise Unplaced(kind.__name__)
        return self._span(begin_of(twin), end_of(twin))

    def _twin_of(self, node: cst.CSTNode) -> Any:
        if node not in self._twins:
            self._trace(node)
        twin = self._twins[node]
        if twin is None:
            raise Unplaced(type(node).__name__)
        return twin

    def _trace(self, node: cst.CSTNode) -> None:
        """Makes the statement around a node once more: to note all twins at once would cost each silent file."""
        around = innermost(node, self._statements, self._parent)
        if around is None:
            raise Unplaced(type(node).__name__)
        (again,) = self._tracer.statements(self._statements[around])
        for here, there in zip(_without_blocks(around), _without_blocks(again), strict=True):
            self._twins[here] = self._tracer.twins.get(there)

    @cached_property
    def _statements(self) -> dict[cst.CSTNode, Sequence[ast.stmt]]:
        """Handlers are made with their `try`. Raises Unplaced where libcst has read a part of the tree (`class C[T]`)
        and the `ast` of it was altered since."""
        try:
            pairs = list(paired(self._tree, self._twin))
        except (IndexError, ValueError):
            raise Unplaced("a tree that is not made from its twin") from None
        return {statement: twins for statement, twins in pairs if type(statement) not in _HANDLERS}

    # -- what is not as wide as its twin ----------------------------------------------------------------------------

    def _span_of_name(self, twin: Any) -> Span:
        """That of a function or class in its definition."""
        found = _NAME.match(self._lines[twin.lineno - 1], twin.col_offset)
        if found is None:
            raise Unplaced("a name in another line than its definition")
        return self._span((twin.lineno, found.start(1)), (twin.lineno, found.end(1)))

    def _span_of_parameter(self, node: Any, twin: ast.arg) -> Span:
        """To libcst a parameter ends with its name, and begins with its star."""
        if node.star:
            raise Unplaced("a parameter with a star")
        line, column = begin_of(twin)
        return self._span((line, column), (line, column + len(str(node.name.value).encode())))

    def _span_of_clause(self, node: cst.CSTNode, twin: ast.comprehension) -> Span:
        """From `for` to the end of the comprehension, but for its bracket."""
        whole = node
        while type(whole) is cst.CompFor:
            whole = self._parent[whole]
        around = self._twin_of(whole)
        clause = around.generators[-1]
        last = clause.ifs[-1] if clause.ifs else clause.iter
        behind = self._tracer.between(end_of(last), end_of(around))[:-1]
        before = _FOR.search(self._tracer.between(begin_of(around), begin_of(twin.target)))
        if before is None or b"#" in behind:
            raise Unplaced("a comprehension with comments")
        begin = self._behind(begin_of(around), before.string[: before.start()])
        return self._span(begin, self._behind(end_of(last), behind.rstrip()))

    # -- text -------------------------------------------------------------------------------------------------------

    def _behind(self, place: Place, text: bytes) -> Place:
        """The place behind a text that begins at a place."""
        line, column = place
        *before, last = (text + b".").splitlines()
        return line + len(before), len(last) - 1 + (0 if before else column)

    def _span(self, begin: Place, end: Place) -> Span:
        return Span(*self._in_characters(*begin), *self._in_characters(*end))

    def _in_characters(self, line: int, column: int) -> Place:
        return line, len(self._lines[line - 1][:column].decode()) + 1


class _Tracer(Builder):
    """Makes a tree, and notes what its nodes were made from."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.twins: dict[cst.CSTNode, Any] = {}

    def expression(self, node: ast.expr) -> Any:
        return self._noted(super().expression(node), node)

    def _optional(self, node: ast.expr | None) -> Any:
        return None if node is None else self.expression(node)

    def _small(self, node: ast.stmt) -> Any:
        return self._noted(super()._small(node), node)

    def _compound(self, node: ast.stmt) -> Any:
        made = self._noted(super()._compound(node), node)
        if type(made) in (cst.Try, cst.TryStar):
            for handler, its in zip(made.handlers, node.handlers, strict=True):  # type: ignore[attr-defined]
                self._noted(handler, its)
        return made

    def _generators(self, generators: Iterable[ast.comprehension]) -> Any:
        generators = list(generators)
        first = made = super()._generators(generators)
        for part in generators:
            self._noted(made, part)
            made = made.inner_for_in
        return first

    def _parameter(self, arg: ast.arg, default: ast.expr | None, star: str) -> Any:
        return self._noted(super()._parameter(arg, default, star), arg)

    def _block(self, body: Sequence[ast.stmt]) -> Any:
        """Nothing: what it holds is traced by itself."""
        return make.IndentedBlock([])

    def _noted(self, made: Any, node: ast.AST) -> Any:
        self.twins[made] = node
        return made


def _without_blocks(statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a statement consists of, but for the statements in its blocks."""
    stack = [statement]
    while stack:
        here = stack.pop()
        yield here
        if type(here) is not cst.IndentedBlock:
            stack.extend(reversed(children(here)))
