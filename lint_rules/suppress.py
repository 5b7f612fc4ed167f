"""Which findings a `# noqa` comment covers, read as flake8 reads them, so that both doors agree on every comment.

Written after flake8 7 and compared with it in the tests, not imported from it: flake8 is an extra. Some surprises:
`# noqa : E501`, `# noqa:  E501` and `# noqa: because` name no code and so cover every code; codes are compared with
their case; `# flake8: noqa` at the start of a line covers the file, whatever follows it; the text of a multi-line
string counts as a comment does; lines within brackets stand each for itself.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

_INLINE = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+[,\s]*)+))?", re.IGNORECASE)
_WHOLE_FILE = re.compile(r"\s*# flake8[:=]\s*noqa", re.IGNORECASE)
_CODE = re.compile(r"[^,\s]+")
_EVERY_CODE = ("",)
_MORE = re.compile(r"\s*[:=]\s*\S|\s+[A-Z]+[0-9]")
"""What follows a `noqa` that covers all, where somebody meant to say which: other words, two spaces, no colon."""


class Comment(NamedTuple):
    """A noqa comment: prefixes of the codes it covers, and its text from the `#` on."""

    covered: tuple[str, ...]
    text: str
    seems_a_list: bool
    """Whether it covers all, and reads as if it listed what it covers."""


class Listed(NamedTuple):
    """A comment that lists codes: its place (from 1), its text, prefixes of the codes, and the lines it covers."""

    line: int
    column: int
    text: str
    codes: tuple[str, ...]
    covers: tuple[int, ...]


class Suppressions:
    """The noqa comments of one file, looked for when first asked. A text without the word costs a search, no tokens."""

    def __init__(self, text: str) -> None:
        """`text` is the decoded source, with any newlines, with or without a BOM."""
        self._text = text

    def covers(self, code: str, line: int) -> bool:
        """Whether a finding with this code that starts in this line (from 1) is suppressed."""
        if self._whole_file is not None:
            return True
        comment = self._comments.get(line)
        return comment is not None and code.startswith(comment.covered)

    def misread(self, line: int) -> tuple[int, str] | None:
        """A comment that covers all of a line, or of the file, and reads as if it listed what: its line and text.

        That of the file stands in a line of its own, any other is told by the line it covers.
        """
        number, comment = self._whole_file or (line, self._comments.get(line))
        return (number, comment.text) if comment is not None and comment.seems_a_list else None

    def listed(self) -> Iterator[Listed]:
        """The comments that list codes, in order; not what only reads like one in a string."""
        covers: dict[int, list[int]] = {}
        for number, comment in self._comments.items():
            covers.setdefault(id(comment), []).append(number)
        for token in _tokens(self._lines):
            line, found = token.start[0], self._comments.get(token.start[0])
            if token.type != tokenize.COMMENT or found is None or found.covered == _EVERY_CODE:
                continue
            if found.text in token.string:
                column = self._lines[line - 1].index(found.text) + 1
                yield Listed(line, column, found.text, found.covered, tuple(covers[id(found)]))

    @cached_property
    def _lines(self) -> list[str]:
        """The lines as flake8 has them; none if there cannot be a comment."""
        if "noqa" not in self._text.lower():
            return []
        return io.StringIO(self._text.removeprefix("\ufeff"), newline=None).readlines()

    @cached_property
    def _whole_file(self) -> tuple[int, Comment] | None:
        """The first comment that covers the file, with its line."""
        for number, line in enumerate(self._lines, 1):
            if match := _WHOLE_FILE.match(line):
                return number, _comment(match, _EVERY_CODE)
        return None

    @cached_property
    def _comments(self) -> dict[int, Comment]:
        """For each line that a comment covers, this comment."""
        comments: dict[int, Comment] = {}
        each = ((number, number) for number in range(1, len(self._lines) + 1))
        for first, last in chain(each, joined(self._lines)):
            if match := _INLINE.search("".join(self._lines[first - 1 : last])):
                covered = tuple(_CODE.findall(match["codes"])) if match["codes"] else _EVERY_CODE
                comments.update(dict.fromkeys(range(first, last + 1), _comment(match, covered)))
        return comments


def _comment(match: re.Match[str], covered: tuple[str, ...]) -> Comment:
    text = match.string[match.start() :].lstrip().partition("\n")[0].rstrip()
    more = _MORE.match(match.string, match.end()) if covered == _EVERY_CODE else None
    return Comment(covered, text, more is not None)


def joined(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First and last (from 1) of the lines that a string or backslashes join; none if there are no tokens to be had."""
    first = None
    for token in _tokens(lines):
        if token.type in (tokenize.ENDMARKER, tokenize.DEDENT):
            continue  # they stand where the next statement begins, or nowhere
        first = first or token.start[0]
        if token.type in (tokenize.NL, tokenize.NEWLINE):
            if first < token.end[0]:
                yield first, token.end[0]
            first = None


def _tokens(lines: list[str]) -> list[tokenize.TokenInfo]:
    """None if there are none to be had."""
    try:
        return list(tokenize.generate_tokens(iter(lines).__next__)) if lines else []
    except (tokenize.TokenError, SyntaxError):
        return []
