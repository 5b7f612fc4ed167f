"""Whether bytes are Python: told without a tree, which most files never need."""

from __future__ import annotations

import symtable
import warnings

TOO_DEEP = "the code is nested too deeply to be analysed"


class Unreadable(ValueError):
    """The bytes are no Python that can be analysed. `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def is_python(source: bytes) -> bool:
    """Whether Python can parse the bytes. Makes no tree, which is half of the cost of `ast.parse`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            symtable.symtable(source, "<file>", "exec")  # type: ignore[arg-type]
        except Exception:  # what is wrong is told by `parse`
            return False
    return True
