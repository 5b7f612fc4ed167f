"""Words around a text that is put together: what stands in its paragraph, in the line next to it, and in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_FENCES = re.compile(r"</?\w[^>]*>|```\w*")
_Piece = str | cst.CSTNode
"""Of what a text is put together: what is said there, or what stands for something."""


class Page(NamedTuple):
    """A text that is put together: what stands in each of its paragraphs, and in which of them each piece ends."""

    paragraphs: list[list[_Piece]]
    ends: list[int]

    @classmethod
    def of(cls, pieces: list[_Piece]) -> Page:
        page = cls([[]], [])
        for piece in pieces:
            first, *others = _EMPTY_LINE.split(piece) if isinstance(piece, str) else [piece]
            page.paragraphs[-1].append(first)
            page.paragraphs.extend([other] for other in others)
            page.ends.append(len(page.paragraphs) - 1)
        return page

    def around(self, at: int) -> tuple[str, list[cst.CSTNode]]:
        """What is said in the paragraph of a piece, in those beside it, and in the first one, which says what is asked.

        The words, and what else stands there.
        """
        here = self.ends[at]
        near = [*self.paragraphs[max(here - 1, 0) : here + 2], *self.paragraphs[: int(here > 1)]]
        parts = [part for paragraph in near for part in paragraph]
        return "\n".join(part for part in parts if isinstance(part, str)), [p for p in parts if not isinstance(p, str)]


def pieces_of(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a text is put together from, in order; a text that is not put together itself."""
    if isinstance(node, cst.ConcatenatedString) or (
        isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add)
    ):
        yield from (*pieces_of(node.left), *pieces_of(node.right))
    elif isinstance(node, cst.FormattedString):
        for part in node.parts:
            yield from pieces_of(part.expression if isinstance(part, cst.FormattedStringExpression) else part)
    else:
        yield node


def _literal(node: cst.CSTNode) -> str | None:
    """What a piece of a text says, if it is a literal."""
    if isinstance(node, cst.SimpleString):
        return ex.text(node) or ""
    return node.value.replace("\\n", "\n") if isinstance(node, cst.FormattedStringText) else None


def as_said(piece: cst.CSTNode) -> _Piece:
    said = _literal(piece)
    return piece if said is None else said


def filled_in(template: cst.BaseExpression, field: str, given: cst.BaseExpression) -> tuple[Page, int]:
    """What a template is put together from, with what is given for one of its fields, and where that stands."""
    said = ex.text(template)
    before, found, behind = said.partition(f"{{{field}}}") if said is not None else ("", "", "")
    return (Page.of([before, given, behind]), 1) if found else (Page.of([*map(as_said, pieces_of(template))]), 0)


def is_one_line(text: cst.BaseExpression) -> bool:
    """Whether a text is a note, and no page on which there are words of all kinds."""
    return "\n" not in "".join(_literal(piece) or "" for piece in pieces_of(text)).strip()


def next_line(pieces: list[cst.CSTNode], nearest: int) -> tuple[str, list[cst.CSTNode]]:
    """The words of the line that lies next, and what else stands in it; `nearest`: at which end of a piece that is.

    Fences, tags and empty lines are passed over.
    """
    line, others, apart = "", list[cst.CSTNode](), False
    for piece in pieces:
        said = _literal(piece)
        if said is None:
            others.append(piece)
            continue
        parts = _FENCES.sub("", said).split("\n")
        for at, part in enumerate(parts if nearest == 0 else parts[::-1]):
            if at and (others or any(map(str.isalpha, line))):
                return line, others
            apart = apart or (nearest == 0 and 0 < at < len(parts) - 1 and not part.strip())
            if apart and (part[:1].isalnum() or part.startswith("#")):
                return "", []  # behind an empty line something else begins, but for `[...]`
            line = f"{line} {part}" if nearest == 0 else f"{part} {line}"
    return line, others


def is_foreign(said: str) -> bool:
    """Whether words are of a script that is not ours: right behind a text they are taken for a note."""
    return any(letter.isalpha() and not letter.isascii() for letter in said)


def begins_with(node: cst.CSTNode | None) -> str:
    """The words with which a piece of a text begins; empty for what is no literal."""
    if isinstance(node, (cst.BinaryOperation, cst.ConcatenatedString)):
        return begins_with(node.left)
    if isinstance(node, cst.FormattedString):
        return begins_with(node.parts[0]) if node.parts else ""
    if isinstance(node, cst.SimpleString):
        return ex.text(node) or ""
    return re.sub(r"\\.", "", node.value) if isinstance(node, cst.FormattedStringText) else ""


def names_a_part(text: cst.CSTNode) -> bool:
    """Whether the words of a text say that what stands in it, or beside it, is a part."""
    said = (part for part in walk(text) if isinstance(part, (cst.FormattedStringText, cst.SimpleString)))
    return any(words.NAMES_A_PART.search(part.value) for part in said)


def measures(value: cst.BaseExpression, text: str) -> bool:
    """Whether there is a `len(text)` in a value."""
    return any(text == ex.source(given) for given in measured_in(value))


def measured_in(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """`text` of each `len(text)` in a value."""
    calls = (part for part in walk(value) if isinstance(part, cst.Call) and ex.dotted(part.func) == "len")
    yield from (given for call in calls for given in ex.positional(call))


def is_shown(parent: dict[cst.CSTNode, cst.CSTNode], node: cst.CSTNode) -> bool:
    """Whether a number is shown in an f-string."""
    here = parent.get(node)
    while here is not None and not isinstance(here, (cst.BaseSmallStatement, cst.Slice)):
        if isinstance(here, cst.FormattedStringExpression):
            return True
        here = parent.get(here)
    return False
