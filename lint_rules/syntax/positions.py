"""Where nodes stand in the text: computed once, for files that have something to report."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import CodeRange
from libcst.metadata.position_provider import PositionProvidingCodegenState

from lint_rules.finding import Span


class Positions:
    """Spans of the nodes of one module, rendered on first use (libcst keeps no positions in the tree)."""

    def __init__(self, module: cst.Module) -> None:
        self._module = module
        self._computed: dict[cst.CSTNode, CodeRange] = {}

    def span(self, node: cst.CSTNode) -> Span:
        """The range of `node` without surrounding whitespace. Raises KeyError for a node of another tree."""
        if not self._computed:
            state = PositionProvidingCodegenState(
                default_indent=self._module.default_indent,
                default_newline=self._module.default_newline,
                provider=self,  # type: ignore[arg-type]  # only `_computed` is used: no provider machinery is needed
            )
            self._module._codegen(state)
        place = self._computed[node]
        return Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)

    def line(self, node: cst.CSTNode) -> int:
        """The 1-based line on which `node` begins."""
        return self.span(node).line
