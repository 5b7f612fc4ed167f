"""What fixes change, as a unified diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff

from lint_rules.output.page import Page, plain

_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # with its end; str.splitlines ends lines elsewhere, too
_STYLES = {"+": "added", "-": "removed", "@": "frame", " ": "plain"}


def render(path: str, before: str, after: str, page: Page) -> Iterator[str]:
    """The lines of the diff of one file, with their line ends."""
    shown = plain(path)
    for line in unified_diff(_LINE.findall(before), _LINE.findall(after), shown, shown):
        text = line.rstrip("\r\n")
        end = line[len(text) :]
        style = "path" if line.startswith(("---", "+++")) else _STYLES[line[0]]
        yield page.paint(style, text) + (end or "\n")
        if not end:
            yield "\\ No newline at end of file\n"
