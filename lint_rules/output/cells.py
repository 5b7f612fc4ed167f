"""Findings of notebooks as people see them: in a cell, and a line of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from lint_rules.finding import Finding, Related, Span
from lint_rules.notebook import Cells
from lint_rules.output.page import Page
from lint_rules.paths import CellPath, is_notebook


def in_cells(findings: Iterable[Finding], page: Page) -> tuple[list[Finding], Page]:
    """Findings with their places in cells, each of which is a file of its own, and the page that shows those."""

    @lru_cache(maxsize=8)
    def cells(path: str) -> Cells:
        return Cells(page.source(path) or "")

    def source(path: str) -> str | None:
        return cells(path.file).text(path.cell) if isinstance(path, CellPath) else page.source(path)

    def has_cells(path: str) -> bool:
        return is_notebook(path) and page.source(path) is not None

    moved = [_moved(finding, cells(finding.path)) if has_cells(finding.path) else finding for finding in findings]
    return moved, page._replace(source=source)


def _moved(finding: Finding, cells: Cells) -> Finding:
    path, span = _place(finding.path, finding.span, cells)

    def related(note: Related) -> Related:
        if note.path is not None:  # a module that the notebook imports
            return note
        there, where = _place(finding.path, note.span, cells)
        return Related(where, cells.said(note.message, there.cell), None if there == path else there)

    return finding._replace(
        path=path,
        span=span,
        message=cells.said(finding.message, path.cell),
        help=cells.said(finding.help, path.cell),
        related=tuple(map(related, finding.related)),
    )


def _place(path: str, span: Span, cells: Cells) -> tuple[CellPath, Span]:
    cell, line = cells.place(span.line)
    end_line = max(span.end_line + line - span.line, line)
    return CellPath.of(path, cell), span._replace(line=line, end_line=end_line)
