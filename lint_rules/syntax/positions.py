"""Where nodes stand in the text. libcst keeps no positions in the tree: it finds them by rendering code.

Rendering a whole file costs as much as parsing it several times. So only the statement around a node is rendered, of
a compound one only its header; the line it begins in comes from `ast`, which has the same statements in the same order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import libcst as cst
from libcst.metadata import CodePosition, CodeRange
from libcst.metadata.position_provider import PositionProvidingCodegenState

from lint_rules.finding import Span

_NEWLINE = re.compile(r"\r\n?|\n")


class Positions:
    """Spans of the nodes of one module. `parent` leads from each node to the one around it."""

    def __init__(self, tree: cst.Module, text: str, parent: dict[cst.CSTNode, cst.CSTNode]) -> None:
        self._tree = tree
        self._text = text
        self._parent = parent
        self._computed: dict[cst.CSTNode, CodeRange] = {}

    def span(self, node: cst.CSTNode) -> Span:
        """The range of `node` without surrounding whitespace. Raises KeyError for a node of another tree."""
        if node not in self._computed:
            self._render_around(node)
        place = self._computed[node]
        return Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)

    def _render_around(self, node: cst.CSTNode) -> None:
        around = self._statement_around(node)
        if around is not None:
            self._render(around, whole=False)
            if node not in self._computed:
                self._render(around, whole=True)
        if node not in self._computed:
            self._computed.update(_Rendering(self._tree, self._tree, 1, ()).run())

    def _statement_around(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The innermost statement that `ast` knows the line of; None where there is none."""
        at: cst.CSTNode | None = node
        while at is not None and at not in self._statements:
            at = self._parent.get(at)
        return at

    def _render(self, statement: cst.CSTNode, whole: bool) -> None:
        known = self._statements[statement]
        stop = None if whole else getattr(statement, "body", None)
        rendering = _Rendering(self._tree, statement, known.twin.lineno, known.indents, stop)
        self._computed.update(rendering.run(is_elif=True) if known.is_elif else rendering.run())
        self._computed.setdefault(statement, self._place(known))

    @cached_property
    def _statements(self) -> dict[cst.CSTNode, _Statement]:
        return dict(_statements(self._tree, self._text))

    @cached_property
    def _lines(self) -> list[str]:
        return _NEWLINE.split(self._text)

    def _place(self, known: _Statement) -> CodeRange:
        """The range of a compound statement, whose end was not rendered."""
        twin = known.twin
        last, end = twin.end_lineno or twin.lineno, twin.end_col_offset or 0
        column = len(self._lines[last - 1].encode()[:end].decode())
        return CodeRange(CodePosition(twin.lineno, sum(map(len, known.indents))), CodePosition(last, column))


@dataclass(slots=True, frozen=True)
class _Statement:
    """What is known of a statement before it is rendered: where its twin in `ast` is, and the indents before it."""

    twin: ast.stmt | ast.ExceptHandler
    indents: tuple[str, ...] = ()
    is_elif: bool = False


def _statements(tree: cst.Module, text: str) -> Iterator[tuple[cst.CSTNode, _Statement]]:
    """The statements and handlers that begin a line; none where `ast` cannot read the text."""
    try:
        parsed = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    pending: list[tuple[Any, Any, tuple[str, ...], bool]] = [
        (statement, twin, (), False) for statement, (twin, *_) in paired(tree.body, parsed.body)
    ]
    while pending:
        statement, twin, indents, is_elif = pending.pop()
        yield statement, _Statement(twin, indents, is_elif)
        for suite, twins in _suites(statement, twin):
            if type(suite) is cst.IndentedBlock:
                deeper = (*indents, tree.default_indent if suite.indent is None else suite.indent)
                pending.extend((inner, its, deeper, False) for inner, (its, *_) in paired(suite.body, twins))
        if type(statement) is cst.If and type(statement.orelse) is cst.If:
            pending.append((statement.orelse, twin.orelse[0], indents, True))
        elif type(statement) in (cst.Try, cst.TryStar):
            pairs = zip(statement.handlers, twin.handlers, strict=True)
            pending.extend((handler, its, indents, False) for handler, its in pairs)


def paired(body: Sequence[Any], twins: Sequence[ast.stmt]) -> Iterator[tuple[Any, list[ast.stmt]]]:
    """The statements of a block with their twins: libcst keeps those that share a line together, `ast` does not."""
    rest = iter(twins)
    for statement in body:
        yield statement, list(islice(rest, len(statement.body) if type(statement) is cst.SimpleStatementLine else 1))


def _suites(statement: Any, twin: Any) -> Iterator[tuple[cst.BaseSuite, list[ast.stmt]]]:
    """The blocks of a statement or handler, but for those of its handlers and of an `elif`."""
    kind = type(statement)
    if kind is cst.Match:
        yield from ((case.body, its.body) for case, its in zip(statement.cases, twin.cases, strict=True))
    elif kind is not cst.SimpleStatementLine:
        yield statement.body, twin.body
    if kind in (cst.Try, cst.TryStar) and statement.finalbody is not None:
        yield statement.finalbody.body, twin.finalbody
    if kind in (cst.For, cst.If, cst.Try, cst.TryStar, cst.While) and type(statement.orelse) is cst.Else:
        yield statement.orelse.body, twin.orelse


class _Reached(Exception):
    """The node before which a rendering stops."""


class _Rendering(PositionProvidingCodegenState):
    """Renders one statement that begins in `line`, behind `indents`, up to the node `stop`."""

    def __init__(
        self, tree: cst.Module, node: cst.CSTNode, line: int, indents: tuple[str, ...], stop: object = None
    ) -> None:
        super().__init__(tree.default_indent, tree.default_newline, self, list(indents))  # type: ignore[arg-type]
        self._computed: dict[cst.CSTNode, CodeRange] = {}
        self._node = node
        self._begins = line
        self._stop = stop

    def run(self, **how: bool) -> dict[cst.CSTNode, CodeRange]:
        """The ranges of the nodes that were rendered."""
        with suppress(_Reached):
            self._node._codegen(self, **how)
        return self._computed

    def before_codegen(self, node: cst.CSTNode) -> None:
        if node is self._stop:
            raise _Reached
        super().before_codegen(node)

    def after_codegen(self, node: cst.CSTNode) -> None:
        """To libcst, `for x in y` of a comprehension begins with the space before it, which may be a line above."""
        super().after_codegen(node)
        if type(node) is cst.CompFor:
            self._computed[node] = CodeRange(self._computed[node.whitespace_before].end, self._computed[node].end)

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        if node is self._node:
            self._begin()
        start = CodePosition(self.line, self.column)
        yield
        end = CodePosition(self.line, self.column)
        self._computed[node] = CodeRange(
            start if start_node is None else self._computed[start_node].start,
            end if end_node is None else self._computed[end_node].end,
        )

    def _begin(self) -> None:
        """Comments and decorators stand before the line in which a statement begins: now theirs are known, too."""
        lines = self._begins - self.line
        self.line = self._begins
        for node, place in self._computed.items():
            start, end = place.start, place.end
            self._computed[node] = CodeRange(
                CodePosition(start.line + lines, start.column), CodePosition(end.line + lines, end.column)
            )
