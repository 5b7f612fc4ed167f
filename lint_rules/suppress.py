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

_INLINE = re.compile(r"# noqa(?::\s?(?P<codes>(?:[A-Z]+[0-9]+[,\s]*)+))?", re.IGNORECASE)
_WHOLE_FILE = re.compile(r"\s*# flake8[:=]\s*noqa", re.IGNORECASE)
_CODE = re.compile(r"[^,\s]+")
_EVERY_CODE = ("",)


class Suppressions:
    """The noqa comments of one file, looked for when first asked. A text without the word costs a search, no tokens."""

    def __init__(self, text: str) -> None:
        """`text` is the decoded source, with any newlines, with or without a BOM."""
        self._text = text

    def covers(self, code: str, line: int) -> bool:
        """Whether a finding with this code that starts in this line (from 1) is suppressed."""
        return self._whole_file or code.startswith(self._prefixes.get(line, ()))

    @cached_property
    def _lines(self) -> list[str]:
        """The lines as flake8 has them; none if there cannot be a comment."""
        if "noqa" not in self._text.lower():
            return []
        return io.StringIO(self._text.removeprefix("\ufeff"), newline=None).readlines()

    @cached_property
    def _whole_file(self) -> bool:
        return any(map(_WHOLE_FILE.match, self._lines))

    @cached_property
    def _prefixes(self) -> dict[int, tuple[str, ...]]:
        """For each line that a comment covers: prefixes of the codes it covers there."""
        prefixes: dict[int, tuple[str, ...]] = {}
        each = ((number, number) for number in range(1, len(self._lines) + 1))
        for first, last in chain(each, _joined(self._lines)):
            if covered := _covered("".join(self._lines[first - 1 : last])):
                prefixes.update(dict.fromkeys(range(first, last + 1), covered))
        return prefixes


def _covered(text: str) -> tuple[str, ...]:
    """Prefixes of the codes that the first noqa comment in `text` covers; empty without such a comment."""
    comment = _INLINE.search(text)
    if comment is None:
        return ()
    return tuple(_CODE.findall(comment["codes"])) if comment["codes"] else _EVERY_CODE


def _joined(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First and last (from 1) of the lines that a string or backslashes join; none if there are no tokens to be had."""
    if not lines:
        return
    try:
        tokens = list(tokenize.generate_tokens(iter(lines).__next__))
    except (tokenize.TokenError, SyntaxError):
        return
    first = None
    for token in tokens:
        if token.type in (tokenize.ENDMARKER, tokenize.DEDENT):
            continue  # they stand where the next statement begins, or nowhere
        first = first or token.start[0]
        if token.type in (tokenize.NL, tokenize.NEWLINE):
            if first < token.end[0]:
                yield first, token.end[0]
            first = None
