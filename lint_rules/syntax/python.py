"""Whether bytes are Python: told without a tree, which most files never need."""

from __future__ import annotations

import codecs
import re
import symtable
import warnings

_COOKIE = re.compile(rb"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))?[ \t\f]*#[^\r\n]*?coding[:=]")
TOO_DEEP = "the code is nested too deeply to be analysed"


class Unreadable(ValueError):
    """The bytes are no Python that can be analysed. `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def is_text(source: bytes) -> bool:
    """Whether the bytes can be decoded. Python's parser, handed bytes, looks at what stands in no comment only."""
    if source.isascii():
        return True
    try:
        source.decode()
    except UnicodeDecodeError:
        try:
            source.decode(declared_encoding(source))
        except (SyntaxError, ValueError, LookupError):
            return False
    return True


def declared_encoding(source: bytes) -> str:
    """The encoding that a file names, or UTF-8. Raises SyntaxError for one that is unheard of, or not its own."""
    import io
    import tokenize

    if not source.startswith(codecs.BOM_UTF8) and _COOKIE.match(source) is None:
        return "utf-8"  # where `tokenize` would find fault with the first lines, whatever is wrong with them
    return tokenize.detect_encoding(io.BytesIO(source).readline)[0]


def is_python(source: bytes) -> bool:
    """Whether Python can parse the bytes. Makes no tree, which is half of the cost of `ast.parse`."""
    if not is_text(source):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            symtable.symtable(source, "<file>", "exec")  # type: ignore[arg-type]
        except Exception:  # what is wrong is told by `parse`
            return False
    return True
