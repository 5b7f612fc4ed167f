"""What all formats share: where source text and colour come from, and text that is safe to print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lint_rules.finding import Finding, Span
from lint_rules.paths import cell_of

_STYLES = {
    "error": "1;31",
    "related": "1;36",
    "frame": "1;34",
    "path": "1",
    "help": "1;32",
    "added": "32",
    "removed": "31",
    "plain": "0",
}


Mended = Callable[[str], "Mapping[tuple[str, Span], str]"]
"""By the path of a file: by code and place of each finding with a fix, the text of the file after this fix alone."""


class Page(NamedTuple):
    """What is needed to show findings: the text of a file by its path (None if it is gone), and whether in colour."""

    source: Callable[[str], str | None]
    colour: bool = False
    mended: Mended = lambda path: {}
    """Costs an analysis a fix: only for formats that print fixes."""
    fixes: bool = False
    """Whether people want to see what the fix of each finding changes."""

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text


def in_file(finding: Finding) -> tuple[Span, str]:
    """The place of a finding for those who know files only: that of a cell is said in words, before the message."""
    if cell_of(finding.path) is None:
        return finding.span, ""
    return Span(1, 1, 1, 2), f"cell {cell_of(finding.path)}, line {finding.span.line}: "


def visible(character: str) -> str:
    """What is shown for a character of source: nothing that a terminal obeys, or that reorders the line."""
    if character < " ":
        return chr(0x2400 + ord(character))
    if character.isprintable():
        return character
    import unicodedata  # not at the top: few files have such characters

    if unicodedata.category(character) == "Zs" or character == "\u200d":
        return character
    return "\N{REPLACEMENT CHARACTER}"


def valid(text: str) -> str:
    """Text that can be encoded: bytes of a file name that are no text become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain(text: str) -> str:
    """Text on one line that does nothing to a terminal: controls, too, become escapes."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in valid(text)
    )
