"""Notebooks as programs: their code cells one below the other, and back, without a byte changed but in these cells.

    #looplint:notebook
    #looplint:cell 2
    pass  #looplint:%pip install openai
    from openai import OpenAI
    #looplint:cell 5
    ...

Comments tell where a cell begins, by its number from 1 among all cells, and what stood where Python can read nothing:
magics, shell commands, questions for help. So a program tells by itself which cell a line belongs to.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_MARK = "#looplint:"
_HEADER = f"{_MARK}notebook\n"
_CELL = re.compile(rf"^{_MARK}cell (\d+)$", re.MULTILINE)
_KEPT = re.compile(rf"^(?P<indent>\s*)(?:(?:pass|[^#\n]*= get_ipython\(\))  )?{_MARK}(?P<line>.*)$")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

_HELP = re.compile(r"\?|[%\w.*]+\?{1,2}\s*$")
_ASSIGNED = re.compile(r"(?P<targets>\s*[\w.,\s\[\]'\"]+=)\s*[%!]")
_OF_PYTHON = frozenset({"capture", "debug", "prun", "pypy", "python", "python3", "time", "timeit"})
"""Cell magics that are followed by Python."""


def is_program(source: bytes) -> bool:
    """Whether this is the program of a notebook."""
    return source.startswith(_HEADER.encode())


# -- there --------------------------------------------------------------------------------------------------------


def program(source: bytes) -> bytes:
    """The program of a notebook, as UTF-8. One in another language has none. Raises ValueError (one clear line)."""
    return program_of((cell.number, cell.text) for cell in _cells(_decoded(source)))


def program_of(cells: Iterable[tuple[int, str]]) -> bytes:
    """The program of code cells, each with its number (from 1, among all cells) and its text."""
    return _bytes(_HEADER + "".join(f"{_MARK}cell {number}\n{''.join(_encoded(text))}" for number, text in cells))


def _bytes(text: str) -> bytes:
    """JSON can hold half a character, UTF-8 cannot."""
    return text.encode("utf-8", "backslashreplace")


def _encoded(text: str) -> list[str]:
    """The lines of a cell as Python can read them, each with a line end."""
    lines = [line.rstrip("\r\n") for line in _LINE.findall(text)]
    first = next((line for line in lines if line.strip()), "")
    magic = re.match(r"\s*%%(\w*)", first)
    if (magic and magic[1] not in _OF_PYTHON) or any(_MARK in line for line in lines):
        return [f"{_MARK}{line}\n" for line in lines]  # no Python, or what would be taken for words of ours
    if _parses("\n".join(lines)):
        return [f"{line}\n" for line in lines]
    return list(_without_magics(lines))


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _without_magics(lines: Iterable[str]) -> Iterator[str]:
    """What only IPython reads gives way to a statement, where it is one."""
    statement = ""
    is_magic = False
    for line in lines:
        if is_magic:  # it goes on behind a backslash
            yield f"{_MARK}{line}\n"
            is_magic = line.endswith("\\")
            continue
        stripped = line.lstrip()
        if not statement and (instead := _instead(line, stripped)):
            yield f"{instead}  {_MARK}{line}\n"
            is_magic = line.endswith("\\")
            continue
        yield f"{line}\n"
        statement = f"{statement}{line}\n" if _is_open(f"{statement}{line}\n") else ""


def _instead(line: str, stripped: str) -> str | None:
    """The statement that stands for one of IPython's; None for any other."""
    if stripped[:1] in ("%", "!") or _HELP.match(stripped):
        return line[: len(line) - len(stripped)] + "pass"
    if assigned := _ASSIGNED.match(line):
        return f"{assigned['targets']} get_ipython()"
    return None


def _is_open(statement: str) -> bool:
    """Whether a statement goes on in the next line: within brackets, a string, or behind a backslash."""
    if statement.endswith("\\\n"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO(statement).readline):
            pass
    except tokenize.TokenError as error:
        return "EOF" in str(error)
    except SyntaxError:
        return False
    return False


# -- back ---------------------------------------------------------------------------------------------------------


def written(source: bytes, changed: bytes) -> bytes:
    """A notebook whose cells are those of a changed program. All else stays as it is, byte by byte.

    A line that did not change is not written anew. Raises ValueError if the program has lost or mixed up cells.
    """
    text = _decoded(source)
    cells = list(_cells(text))
    parts = _CELL.split(changed.decode().replace(_HEADER, "", 1))
    if [cell.number for cell in cells] != list(map(int, parts[1::2])) or (parts[0].strip() and not cells):
        raise ValueError("the cells of the notebook would be mixed up")
    in_ascii = text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", text) is not None
    for index, cell in reversed(list(enumerate(cells))):
        lines = parts[2 * index + 2].removeprefix("\n")
        after = _restored((parts[0] if index == 0 else "") + lines, cell.text)
        if after is not None:
            text = text[: cell.start] + _source(text[cell.start : cell.end], after, in_ascii) + text[cell.end :]
    return text.encode("utf-8", "surrogatepass")


def _restored(lines: str, before: str) -> list[str] | None:
    """The lines of a cell with what only IPython reads, from those of the program; None if nothing changed."""
    if lines == _bytes("".join(_encoded(before))).decode():
        return None
    text = "".join(f"{_restored_line(line)}\n" for line in lines.split("\n")[:-1])
    if not before.endswith(("\n", "\r")):
        text = text.removesuffix("\n")
    return _LINE.findall(text)


def _restored_line(line: str) -> str:
    kept = _KEPT.match(line)
    if kept is None:
        return line
    if line.startswith(_MARK):
        return kept["line"]
    return kept["indent"] + kept["line"].lstrip()


def _source(value: str, lines: list[str], in_ascii: bool) -> str:
    """The JSON of a cell's source with other lines, laid out as it was."""

    def dumped(line: str) -> str:
        return json.dumps(line, ensure_ascii=in_ascii)

    if value.startswith('"'):
        return dumped("".join(lines))
    elements = list(_elements(value, 0))
    if not elements or not lines:
        return json.dumps(lines, ensure_ascii=in_ascii)
    old = [str(element.value) for element in elements]
    new = []
    for tag, first, last, start, stop in SequenceMatcher(None, old, lines, autojunk=False).get_opcodes():
        if tag == "equal":
            new += [value[element.start : element.end] for element in elements[first:last]]
        else:
            new += [dumped(line) for line in lines[start:stop]]
    lead = value[1 : elements[0].start]
    between = value[elements[0].end : elements[1].start] if len(elements) > 1 else f",{lead or ' '}"
    return f"[{lead}{between.join(new)}{value[elements[-1].end :]}"


# -- the file -----------------------------------------------------------------------------------------------------


class _Cell(NamedTuple):
    """A code cell: its number from 1 among all cells, its text, and where the JSON of that begins and ends."""

    number: int
    text: str
    start: int
    end: int


class _Value(NamedTuple):
    """A value in a JSON text, and where it begins and ends; that of an object with its key."""

    value: Any
    start: int
    end: int
    key: str = ""


_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def _decoded(source: bytes) -> str:
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        raise ValueError("not a notebook: it is not UTF-8") from error


def _cells(text: str) -> Iterator[_Cell]:
    """The code cells of a notebook in Python. Raises ValueError."""
    try:
        start = _after_blanks(text, len(text) - len(text.removeprefix("\ufeff")))
        document, end = _DECODER.raw_decode(text, start)
        if _after_blanks(text, end) != len(text):
            raise JSONDecodeError("Extra data", text, end)
    except JSONDecodeError as error:
        raise ValueError(f"not a notebook: no JSON in line {error.lineno} ({error.msg})") from error
    except RecursionError as error:
        raise ValueError("not a notebook: it is nested too deeply") from error
    if not isinstance(document, dict) or not isinstance(document.get("nbformat"), int):
        raise ValueError("not a notebook: it does not say its `nbformat`")
    if document["nbformat"] < 4:
        raise ValueError(
            "a notebook of an old format: `jupyter nbconvert --to notebook --inplace` brings it up to date"
        )
    if not isinstance(document.get("cells"), list):
        raise ValueError("not a notebook: it has no list of `cells`")
    if not _is_python(document):
        return
    place = next(member for member in _members(text, start) if member.key == "cells")
    for number, cell in enumerate(_elements(text, place.start), 1):
        if not isinstance(cell.value, dict) or cell.value.get("cell_type") != "code":
            continue
        found = next((member for member in _members(text, cell.start) if member.key == "source"), None)
        lines = found.value if found is not None else None
        if isinstance(lines, str):
            lines = [lines]
        if found is None or not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise ValueError(f"not a notebook: cell {number} has no `source`")
        yield _Cell(number, "".join(lines), found.start, found.end)


def _is_python(document: dict[str, Any]) -> bool:
    """Whether a notebook does not say that it is in another language."""
    metadata = document.get("metadata")
    said = metadata if isinstance(metadata, dict) else {}
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        language = said[table].get(key) if isinstance(said.get(table), dict) else None
        if isinstance(language, str):
            return "python" in language.lower()
    return True


def _members(text: str, at: int) -> Iterator[_Value]:
    """The members of the object that begins here; the text is known to be JSON."""
    at = _after_blanks(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1)
        start = _after_blanks(text, _after_blanks(text, at) + 1)
        value, end = _DECODER.raw_decode(text, start)
        yield _Value(value, start, end, key)
        at = _after_comma(text, end)


def _elements(text: str, at: int) -> Iterator[_Value]:
    """The elements of the array that begins here."""
    at = _after_blanks(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield _Value(value, at, end)
        at = _after_comma(text, end)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _after_comma(text: str, at: int) -> int:
    at = _after_blanks(text, at)
    return _after_blanks(text, at + 1) if text[at] == "," else at


# -- places -------------------------------------------------------------------------------------------------------


class Cells:
    """Which lines of a program are those of which cell."""

    def __init__(self, text: str) -> None:
        self._lines = text.removesuffix("\n").split("\n")
        marks = ((number, _CELL.match(line)) for number, line in enumerate(self._lines, 1))
        self._starts = [(number, int(mark[1])) for number, mark in marks if mark]

    def place(self, line: int) -> tuple[int, int]:
        """The cell of a line, and the line (from 1) in it; of what stands above all cells, the first."""
        before = [(start, cell) for start, cell in self._starts if start < line] or self._starts[:1] or [(0, 1)]
        start, cell = before[-1]
        return cell, max(line - start, 1)

    def said(self, text: str, here: int | None = None) -> str:
        """A text about the program, in which lines are those of cells; the cell `here` is not named."""

        def in_cell(line: re.Match[str]) -> str:
            cell, number = self.place(int(line[1]))
            return f"line {number}" if cell == here else f"cell {cell}, line {number}"

        return re.sub(r"\bline (\d+)", in_cell, text)

    def text(self, cell: int) -> str:
        """The lines of a cell as they stand in the notebook."""
        found: list[str] = []
        ends = [start - 1 for start, _ in self._starts[1:]]
        for (start, number), end in zip(self._starts, [*ends, None], strict=False):  # without cells, there is no turn
            if number == cell:
                found += map(_restored_line, self._lines[start:end])
        return "\n".join(found)
