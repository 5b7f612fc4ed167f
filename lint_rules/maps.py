"""The pictures of many files: drawn of what was checked, with what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lint_rules import check, files
from lint_rules.errors import describe, reason
from lint_rules.files import Trouble
from lint_rules.finding import NOT_ANALYSED
from lint_rules.importers import Given
from lint_rules.notebook import Cells
from lint_rules.output.cells import in_cells
from lint_rules.output.page import Page
from lint_rules.paths import is_notebook
from lint_rules.picture import Place, Sheet, moved
from lint_rules.run import Outcome, Task

__all__ = ["sheets"]


def sheets(tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> Iterator[Sheet | Trouble]:
    """A sheet for each file in turn, or why there is none.

    Of many files, most are no agents: what does not pass the gate is not drawn. A single file is, whatever it is.
    """
    project = Given([task.path for task in tasks])
    for task, outcome in zip(tasks, outcomes, strict=True):
        unread = next((found.message for found in outcome.findings if found.code == NOT_ANALYSED), outcome.error)
        if unread is not None:
            yield Trouble(task.path, unread)
            continue
        try:
            source = files.read_program(task.path, task.options.limits.bytes)
            is_asked = len(tasks) == 1
            if is_asked or check.passes_gate(source, task.path, task.options, neighbours=project):
                yield _sheet(task, source, outcome, project)
            else:
                yield Sheet(task.path)
        except (OSError, ValueError) as error:
            yield Trouble(task.path, reason(error) if isinstance(error, OSError) else str(error))
        except Exception as error:
            yield Trouble(task.path, f"looplint itself failed on this file: {describe(error)}")


def _sheet(task: Task, source: bytes, outcome: Outcome, project: Given) -> Sheet:
    found = outcome.findings
    sheet = check.map_source(source, task.path, task.options, neighbours=project, findings=found)
    return _in_cells(sheet, files.decode(source)) if is_notebook(task.path) else sheet


def _in_cells(sheet: Sheet, program: str) -> Sheet:
    """The picture of a notebook, with its places in cells."""
    cells = Cells(program)

    def place(where: Place) -> Place:
        cell, line = cells.place(where.line)
        return replace(where, line=line, end_line=max(where.end_line + line - where.line, line), cell=cell)

    def text(said: str, where: Place) -> str:
        return cells.said(said, cells.place(where.line)[0])

    findings, _ = in_cells(sheet.findings, Page(lambda path: program))
    return replace(moved(sheet, place, text), findings=tuple(findings))
