"""String literals as libcst's nodes: several in a row, and f-strings with their substitutions, read off their code.

What is rare (`f"{x=}"`, `\\N{DASH}`, f-strings in f-strings, comments in substitutions) is left to libcst's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lint_rules.syntax import make

__all__ = ["Untold", "is_one_literal", "literals"]

_BODIES = (
    r"'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}",
    r'"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3}',
    r"'[^'\\]*(?:\\.[^'\\]*)*'",
    r'"[^"\\]*(?:\\.[^"\\]*)*"',
)
_SIMPLE = re.compile(f"[A-Za-z]{{0,2}}(?:{'|'.join(_BODIES)})", re.DOTALL)
_OPENING = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_BETWEEN = re.compile(r"(?:\s+|\\\r?\n|#[^\r\n]*)*")
_IN_TEXT = re.compile(r"[\\{}'\"]")
_IN_CODE = re.compile(r"[][(){}'\"!:=#\\]")
_CONVERSION = re.compile(r"!\s*([a-z])\s*")


class Untold(Exception):
    """It takes libcst to tell what stands there."""


def is_one_literal(code: str) -> bool:
    """Whether strings that begin here are a single one without substitutions."""
    return _end_of_simple(code, 0) == len(code)


def _end_of_simple(code: str, begin: int) -> int | None:
    """Where the plain literal ends that begins here: at the first quotes, if nothing is escaped before them."""
    opening = _OPENING.match(code, begin)
    if opening is None:
        return None
    inside, quotes = opening.end(), opening[2]
    end = code.find(quotes, inside)
    if code.find("\\", inside, end) < 0 <= end:
        return end + len(quotes)
    literal = _SIMPLE.match(code, begin)
    return literal.end() if literal is not None else None


def literals(code: str, substituted: Callable[[str], Any]) -> Any:
    """The node of literals in a row; `substituted` makes those of expressions. Raises Untold, and what it raises."""
    reader = _Reader(code, substituted)
    *before, made = reader.all()
    for literal in reversed(before):
        made = make.ConcatenatedString(literal, made)
    return made


class _Reader:
    """Goes through the code of literals, from left to right."""

    def __init__(self, code: str, substituted: Callable[[str], Any]) -> None:
        self._code = code
        self._at = 0
        self._substituted = substituted

    def all(self) -> list[Any]:
        found = []
        while self._at < len(self._code):
            found.append(self._literal())
            self._at = self._found(_BETWEEN.match(self._code, self._at)).end()
        return found

    @staticmethod
    def _found(match: re.Match[str] | None) -> re.Match[str]:
        if match is None:
            raise Untold
        return match

    def _literal(self) -> Any:
        opening = self._found(_OPENING.match(self._code, self._at))
        prefix, quotes = opening[1].lower(), opening[2]
        if "f" in prefix:
            self._at = opening.end()
            return make.FormattedString(opening[0], self._parts(quotes, "r" in prefix), quotes)
        begin = self._at
        self._at = self._behind(begin)
        return make.SimpleString(self._code[begin : self._at])

    def _behind(self, begin: int) -> int:
        """Behind the plain literal that begins here."""
        end = _end_of_simple(self._code, begin)
        if end is None:
            raise Untold
        return end

    def _parts(self, end: str, raw: bool) -> list[Any]:
        """Text and substitutions up to `end`, which is passed: quotes, or the brace behind a format."""
        parts: list[Any] = []
        code, begin = self._code, self._at
        while True:
            at = self._found(_IN_TEXT.search(code, self._at)).start()
            mark = code[at]
            opens = mark == "{" and not code.startswith("{{", at)
            if (opens or code.startswith(end, at)) and begin < at:
                parts.append(make.FormattedStringText(code[begin:at]))
            if opens:
                parts.append(self._substitution(at + 1, raw))
                begin = self._at
            elif code.startswith(end, at):
                self._at = at + len(end)
                return parts
            else:
                self._at = at + self._width(mark, at, end, raw)

    def _width(self, mark: str, at: int, end: str, raw: bool) -> int:
        """How many characters of text this one, which might have been more than text, belongs to."""
        if mark == "\\":
            behind = self._code[at + 1 : at + 3]
            if behind == "N{" and not raw:
                raise Untold
            return 1 if behind[:1] in "{}" else 2
        if mark in "{}":
            if end == "}" or not self._code.startswith(mark * 2, at):
                raise Untold
            return 2
        return 1

    def _substitution(self, begin: int, raw: bool) -> Any:
        """From behind the brace that opens it to behind the one that closes it."""
        at = self._end_of_expression(begin)
        expression = self._substituted(self._code[begin:at].strip())
        conversion = _CONVERSION.match(self._code, at)
        if conversion is not None:
            at = conversion.end()
        self._at = at + 1
        if self._code[at] == ":":
            return make.FormattedStringExpression(expression, conversion and conversion[1], self._parts("}", raw))
        if self._code[at] != "}":
            raise Untold
        return make.FormattedStringExpression(expression, conversion and conversion[1], None)

    def _end_of_expression(self, at: int) -> int:
        """Where the brace, colon or exclamation mark stands that ends the expression which begins here."""
        code, depth = self._code, 0
        while True:
            at = self._found(_IN_CODE.search(code, at)).start()
            mark = code[at]
            if mark in "'\"":
                at = self._behind_string(at)
                continue
            if mark in "#\\":
                raise Untold
            if mark in "([{":
                depth += 1
            elif depth and mark in ")]}":
                depth -= 1
            elif not depth and code.startswith(("==", "!="), at):
                at += 1
            elif not depth and mark == "=":
                if code[at - 1] not in "<>":
                    raise Untold
            elif not depth:
                return at
            at += 1

    def _behind_string(self, at: int) -> int:
        """Behind a string in a substitution, whose quotes open here."""
        prefix = self._code[max(at - 2, 0) : at].lower()
        if prefix.endswith(("f", "fr")) or "t" in prefix:
            raise Untold
        return self._behind(at)
