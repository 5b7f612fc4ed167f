"""From the bytes of a file to its tree, or to what is wrong with them, and where."""

from __future__ import annotations

import ast
import codecs
import re
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Union

from lint_rules.syntax.depth import DEEPEST, is_deep, levels_of_text, with_room
from lint_rules.syntax.python import TOO_DEEP, Unreadable, declared_encoding, is_text

if TYPE_CHECKING:
    import libcst

Tree = Union[ast.Module, "libcst.Module"]
"""The `ast` of a file; libcst's tree where only libcst can parse, which knows newer syntax."""


def parse(source: bytes) -> Tree:
    """Raises Unreadable for what neither Python nor libcst can parse, MemoryError where memory is short."""
    if not is_text(source):
        raise unreadable(source, ValueError("no text"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError) as problem:
        newer = _parsed_as_newer_python(source) if isinstance(problem, SyntaxError) else None
        if newer is None:
            raise unreadable(source, problem) from None
        return newer
    except (RecursionError, MemoryError):
        if not is_deep(source):
            raise
        raise Unreadable(TOO_DEEP) from None


def _parsed_as_newer_python(source: bytes) -> libcst.Module | None:
    levels = levels_of_text(source)
    if levels > DEEPEST or b"\0" in source:  # libcst lets a NUL byte pass, no Python does
        return None
    import libcst

    with suppress(Exception):
        return with_room(levels, lambda: libcst.parse_module(source))
    return None


def unreadable(source: bytes, problem: Exception) -> Unreadable:
    """What is wrong, in words, and where: in characters, while Python counts bytes."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Unreadable("the file is UTF-16: Python reads UTF-8, or the encoding that a coding comment names")
    if b"\0" in source:
        return Unreadable("the file holds a NUL byte", *_place(source, source.index(b"\0")))
    try:
        text = source.decode(declared_encoding(source))
    except UnicodeDecodeError as undecodable:
        at = undecodable.start
        return Unreadable(f"the file is not valid {undecodable.encoding}: byte 0x{source[at]:02x}", *_place(source, at))
    except SyntaxError as unknown:
        clash = "a byte order mark says UTF-8, the coding comment something else"
        return Unreadable(clash if source.startswith(codecs.BOM_UTF8) else str(unknown))
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as same:
        problem = same
    if not isinstance(problem, SyntaxError):
        return Unreadable(f"not Python source: {problem}")
    too_deep = "too many nested" in problem.msg
    message = TOO_DEEP if too_deep else f"syntax error: {problem.msg}"
    return Unreadable(message, problem.lineno or 1, max(problem.offset or 1, 1))


def _place(source: bytes, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a byte among bytes that may be no text: before it, in its line, they mostly are."""
    *above, line = re.split(rb"\r\n|\r|\n", source[:offset])
    return len(above) + 1, len(line.removeprefix(codecs.BOM_UTF8).decode(errors="replace")) + 1
