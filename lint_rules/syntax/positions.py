"""Where nodes stand in the text. libcst keeps no positions in the tree: it finds them by rendering code.

Rendering a whole file costs as much as parsing it several times. So only the statement around a node is rendered, of
a compound one only its header; the line it begins in comes from `ast`, which has the same statements in the same order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import libcst as cst
from libcst.metadata import CodePosition, CodeRange
from libcst.metadata.position_provider import PositionProvidingCodegenState

from lint_rules.finding import Span
from lint_rules.syntax.pairs import innermost, paired

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
        around = innermost(node, self._statements, self._parent)
        if around is not None:
            self._render(around, whole=False)
            if node not in self._computed:
                self._render(around, whole=True)
        if node not in self._computed:
            self._computed.update(_Rendering(self._tree, self._tree, 1, ()).run())

    def _render(self, statement: cst.CSTNode, whole: bool) -> None:
        (twin, *_), indents = self._statements[statement], self._indents(statement)
        around, stop = self._parent[statement], None if whole else getattr(statement, "body", None)
        rendering = _Rendering(self._tree, statement, twin.lineno, indents, stop)
        is_elif = type(statement) is cst.If and type(around) is cst.If
        self._computed.update(rendering.run(is_elif=True) if is_elif else rendering.run())
        self._computed.setdefault(statement, self._place(twin, indents))

    def _indents(self, statement: cst.CSTNode) -> list[str]:
        """Those of the blocks around a statement, outermost first."""
        found: list[str] = []
        around = self._parent.get(statement)
        while around is not None:
            if type(around) is cst.IndentedBlock or type(around) is cst.Match:  # whose cases are indented, too
                found.append(self._tree.default_indent if around.indent is None else around.indent)
            around = self._parent.get(around)
        return found[::-1]

    @cached_property
    def _statements(self) -> dict[cst.CSTNode, Sequence[Any]]:
        """None where `ast` cannot read the text."""
        try:
            return dict(paired(self._tree, ast.parse(self._text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}

    @cached_property
    def _lines(self) -> list[str]:
        return _NEWLINE.split(self._text)

    def _place(self, twin: Any, indents: Sequence[str]) -> CodeRange:
        """The range of a compound statement, whose end was not rendered."""
        column = len(self._lines[twin.end_lineno - 1].encode()[: twin.end_col_offset].decode())
        return CodeRange(CodePosition(twin.lineno, sum(map(len, indents))), CodePosition(twin.end_lineno, column))


class _Reached(Exception):
    """The node before which a rendering stops."""


class _Rendering(PositionProvidingCodegenState):
    """Renders one statement that begins in `line`, behind `indents`, up to the node `stop`."""

    def __init__(
        self, tree: cst.Module, node: cst.CSTNode, line: int, indents: Sequence[str], stop: object = None
    ) -> None:
        self._computed: dict[cst.CSTNode, CodeRange] = {}
        provider: Any = SimpleNamespace(_computed=self._computed)  # libcst's own notes the ranges in there
        super().__init__(tree.default_indent, tree.default_newline, provider, list(indents))
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
