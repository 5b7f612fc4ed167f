"""The model of the picture: what `looplint map` draws, in whatever format. Only data; `anatomy/drawing.py` makes it.

A `Sheet` is one file. It has the loops of rounds, each with its parts and the edges between them, the findings, and
what each value was taken for. All names and code are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar

from lint_rules.finding import Finding

__all__ = ["KINDS", "ROUND", "Edge", "Known", "Loop", "Named", "Part", "PartKind", "Place", "Sheet", "moved"]

PartKind = Literal[
    "start", "history", "copy", "cut", "ask", "reply", "end", "limit", "parse", "guard", "run", "answer", "write",
    "lock", "code",
]  # fmt: skip

KINDS: dict[PartKind, str] = {
    "start": "Start",
    "history": "History",
    "copy": "Copy",
    "cut": "Cut",
    "ask": "Ask the model",
    "reply": "Reply",
    "end": "End",
    "limit": "Limit",
    "parse": "Parse arguments",
    "guard": "Repeat guard",
    "run": "Run tools",
    "answer": "Answer",
    "write": "Store",
    "lock": "Lock",
    "code": "On the way",
}
"""What people read for each kind of part."""

ROUND: tuple[PartKind, ...] = ("history", "ask", "reply", "run", "answer")
"""The parts that make the round, in its order; all others are beside it."""


@dataclass(frozen=True)
class Place:
    """A range of source text as in `finding.Span`: lines and columns from 1, the end exclusive.

    `cell` is that of a notebook, from 1 among all cells, with lines counted in it.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line}" if self.cell is not None else f"line {self.line}"


@dataclass(frozen=True)
class Part:
    """One part of a loop of rounds. `id` is unique among the parts of its loop.

    `name` is code as it stands in the file, `says` what the part does, in words. `code` is what stands at its place,
    shortened. `missing`: it is not there, and its place is where it would be looked for. `findings` are positions in
    those of the sheet.
    """

    id: str
    kind: PartKind
    name: str
    says: str
    function: str
    place: Place
    code: str = ""
    missing: bool = False
    findings: tuple[int, ...] = ()


@dataclass(frozen=True)
class Edge:
    """That one part leads to another, by their ids: in the `round`, or from or to what is `beside` it."""

    source: str
    target: str
    kind: Literal["round", "beside"]


@dataclass(frozen=True)
class Loop:
    """A loop of rounds. `statement` is its head, `limit` what bounds the rounds; "" if nothing does."""

    id: str
    function: str
    place: Place
    statement: str
    limit: str
    parts: tuple[Part, ...]
    edges: tuple[Edge, ...]

    @property
    def findings(self) -> tuple[int, ...]:
        """Those that stand on its parts, each once, in order."""
        return tuple(sorted({number for part in self.parts for number in part.findings}))


@dataclass(frozen=True)
class Named:
    """Something in a place, in words: `says` follows the name."""

    name: str
    says: str
    place: Place


@dataclass(frozen=True)
class Known:
    """What a value was taken for. `home` is the function or class it lives in, `evidence` why, the nearest fact first.

    `written` are the places where a history is changed, each with how.
    """

    kind: str
    name: str
    home: str
    evidence: tuple[Named, ...]
    written: tuple[Named, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """One file. `asks` are the calls of models, `reaching` the functions that lead to one, `starts` what begins to run
    beside others, `shared` the writes to histories that others see, `known` the other values."""

    path: str
    loops: tuple[Loop, ...] = ()
    asks: tuple[Named, ...] = ()
    reaching: tuple[str, ...] = ()
    starts: tuple[Named, ...] = ()
    shared: tuple[Named, ...] = ()
    known: tuple[Known, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def is_agent(self) -> bool:
        """Whether anything was found that is worth a look."""
        return bool(self.loops or self.asks or self.known or self.findings)

    @property
    def unpinned(self) -> tuple[int, ...]:
        """The findings that stand on no part of any loop."""
        pinned = {number for loop in self.loops for number in loop.findings}
        return tuple(number for number in range(len(self.findings)) if number not in pinned)


Drawn = TypeVar("Drawn")


def moved(drawn: Drawn, place: Callable[[Place], Place], text: Callable[[str, Place], str]) -> Drawn:
    """A part of the model with other places, and with texts that speak of them, each given where it is said."""
    where = getattr(drawn, "place", None)
    changes: dict[str, Any] = {}
    for field in fields(drawn):  # type: ignore[arg-type]
        value = getattr(drawn, field.name)
        if isinstance(value, Place):
            changes[field.name] = place(value)
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            changes[field.name] = tuple(moved(each, place, text) for each in value)
        elif field.name == "says" and isinstance(where, Place):
            changes[field.name] = text(value, where)
    return replace(drawn, **changes)  # type: ignore[type-var]
