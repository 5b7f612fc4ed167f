"""Where the output finds source lines, and how people read a place."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from lint_rules.cli.terminal import wants_colour
from lint_rules.paths import is_notebook

if TYPE_CHECKING:
    from lint_rules.finding import Span
    from lint_rules.output.page import Page
    from lint_rules.run import Plan


def page_of(args: argparse.Namespace, stdin: bytes | None, plan: Plan) -> Page:
    """Where the output finds source lines. Files are read again: only those with findings are, and one at a time."""
    from lint_rules import files
    from lint_rules.output.page import Page
    from lint_rules.run import fixes_apart, stdin_path

    of_stdin = stdin_path(args.stdin_filename)

    def read(path: str) -> bytes:
        found = stdin if stdin is not None and path == of_stdin else files.read(path)
        return files.as_program(found, path)

    @lru_cache(maxsize=8)
    def source(path: str) -> str | None:
        try:
            return files.decode(read(path))
        except (OSError, ValueError):
            return None

    @lru_cache(maxsize=8)
    def mended(path: str) -> dict[tuple[str, Span], str]:
        task = next(task for task in plan.tasks if task.path == path)
        return {key: files.decode(after) for key, after in fixes_apart(task, read(path))}

    return Page(source, wants_colour(args.color, sys.stdout), mended)


def at(path: str, line: int, page: Callable[[], Page]) -> str:
    """A line (from 1) of a file as people read it: of a notebook, of a cell."""
    if not is_notebook(path):
        return f"{path}:{line}"
    from lint_rules.notebook import Cells
    from lint_rules.paths import CellPath

    cell, line = Cells(page().source(path) or "").place(line)
    return f"{CellPath.of(path, cell)}:{line}"
