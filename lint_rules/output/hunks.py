"""What changes from one text to another, as whole lines that give way to others."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from lint_rules.finding import Span


def hunks(before: str, after: str) -> Iterator[tuple[Span, str]]:
    """Each range of lines of the first text, and what takes its place. It ends where the line after its last begins."""
    old, new = _lines(before), _lines(after)
    for tag, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Span(*_place(old, first), *_place(old, last)), "".join(new[start:stop])


def _lines(text: str) -> list[str]:
    """The lines with their ends, as Python sees them; str.splitlines knows more ends."""
    return io.StringIO(text, newline="").readlines()


def _place(lines: Sequence[str], index: int) -> tuple[int, int]:
    """Line and column where a line begins, or the text ends."""
    if index < len(lines) or not lines or lines[-1].endswith(("\n", "\r")):
        return index + 1, 1
    return len(lines), len(lines[-1]) + 1
