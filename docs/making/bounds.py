"""How far looplint follows: the figures of docs/how-it-decides.md, from the constants that hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import lint_rules
from lint_rules import files, project
from lint_rules.limits import Limits
from lint_rules.program import modules, values
from lint_rules.syntax import depth, memo, ways
from lint_rules.syntax.normal import inlining
from making import markdown

BEGIN, END = "<!-- made by docs/generate.py -->\n", "<!-- made by docs/generate.py, to here -->\n"


def written(page: str) -> str:
    """The page with the table as it is now. Raises ValueError where it has no place for it."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("docs/how-it-decides.md has no place for the table of bounds")
    table = markdown.table(("what", "how far", "beyond it"), _rows())
    return f"{before}{BEGIN}{table}\n{END}{after}"


def _rows() -> Iterator[tuple[str, str, str]]:
    least, most = _steps()
    limits = Limits()
    yield "modules that a file sees", f"{modules.MOST_HOPS} imports away", "as one that is not of the project"
    yield "modules read for one file", f"{modules.MOST_IMPORTED}", "the same"
    yield "a module that is read for another", f"{modules.MOST_BYTES:,} bytes", "the same"
    yield (
        "files that import one, looked at for who runs it",
        f"{project.MOST_IMPORTERS}, {project.MOST_HOPS} imports away",
        ("nobody runs it at the same time"),
    )
    yield (
        "folders above a file in which imports are looked for",
        f"{files.CLIMB_LIMIT}, up to the repository or `pyproject.toml`",
        "the same",
    )
    yield "things that one expression may be", f"{values.MOST_OBJECTS}", "unknown"
    yield "questions that hang on each other", f"{memo.DEEPEST} of one kind, {values.MOST_STEPS} of types", "unknown"
    yield "steps from a value to what it is made of", f"{least} to {most}, by the question", "unknown"
    yield (
        "helpers that are put where they are called",
        f"{inlining.MOST_STATEMENTS} statements, {inlining.MOST_ROUNDS} in each other",
        "a call, whose body is asked",
    )
    yield "sets of facts told apart at one point", f"{ways._MOST_STATES}", "what holds on all ways"
    yield "nesting", f"{depth.DEEPEST:,} levels", "AGL000"
    yield (
        "one file",
        f"{limits.bytes:,} bytes, {limits.nodes:,} nodes, {limits.seconds} seconds of CPU time",
        "AGL000; `max-file-...` raise it",
    )


def _steps() -> tuple[int, int]:
    """The least and the most of the bounds that single questions have of their own."""
    root = Path(lint_rules.__file__).parent
    texts = (
        path.read_text(encoding="utf-8") for room in ("anatomy", "obligations") for path in (root / room).rglob("*.py")
    )
    found = [int(number) for text in texts for number in re.findall(r"^_DEEPEST = (\d+)$", text, re.MULTILINE)]
    return min(found), max(found)
