"""docs/frameworks.md: whose handlers looplint knows, from the table it decides by."""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.frameworks import FRAMEWORKS, Framework, Overlap
from making import markdown

_OVERLAPS: dict[Overlap, str] = {
    "threads": "in threads, or as tasks",
    "workers": "in threads",
    "tasks": "as tasks of one loop",
    "turns": "never",
    "processes": "in processes: what lies outside is shared",
}

_HEAD = """# Frameworks

A web server, a bot or a page calls functions of a program for its users. These are known, by what registers a function:
whose `app` or `bot` it is, looplint works out from what makes it, whatever it is called. Two runs of such a function
share what outlives them. Whether they overlap decides which rules speak: AGL103 asks for users who share a history,
AGL101, AGL102 and AGL104 for runs at the same time. A plain function that runs as a task is never interrupted.

"""


def page() -> str:
    """The whole page."""
    table = markdown.table(("packages", "what registers a function", "runs overlap", "unless", "source"), _rows())
    return f"{_HEAD}{table}\n"


def _rows() -> Iterator[tuple[str, ...]]:
    for row in FRAMEWORKS:
        switches = (f"`{word}={value}`" if value else f"`{word}`" for word, value, _ in row.switches)
        yield _code(row.packages), "; ".join(_ways(row)), _OVERLAPS[row.overlap], ", ".join(switches), row.source


def _ways(row: Framework) -> Iterator[str]:
    if row.decorators:
        yield f"decorators {_code(row.decorators)}"
    if row.calls:
        yield f"calls of {_code(row.calls)}"
    if row.methods:
        yield f"methods of {_code(row.methods)}"
    if row.background:
        yield f"in the background: decorators {_code(row.background)}"
    if row.functions:
        yield f"functions named {_code(row.functions)}"
    if row.events:
        yield f"parameters of type {_code(row.events)}"


def _code(names: object) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))  # type: ignore[call-overload]
