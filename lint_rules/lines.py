"""What Python takes for lines; `str.splitlines` knows more ends."""

from __future__ import annotations

import re

_END = re.compile("\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends; the last one is empty if the text ends with one."""
    return _END.split(text)
