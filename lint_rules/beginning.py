"""`looplint init`: a `[tool.looplint]` table made from what is seen in a project, with what it would like to know."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lint_rules import check, files
from lint_rules.baseline import FILE
from lint_rules.paths import shown
from lint_rules.run import Outcome, Task

_NOT_OURS = ("vendor", "vendored", "_vendor", "third_party", "third-party", "extern", "generated", "node_modules")
"""Folders of code that others keep up."""
_ASKED = 8
"""At most so many functions are asked about: beyond that nobody reads on."""


class Seen(NamedTuple):
    """What there is in a project. Folders are relative to it."""

    problems: int
    agents: int
    """Files that have parts of an agent in them."""
    foreign: tuple[str, ...]
    strangers: dict[str, str]
    """Functions that may ask a model, each with a place in which it is called."""


def look(tasks: Sequence[Task], outcomes: Iterable[Outcome]) -> Seen:
    """What there is in these files, of which this was found."""
    agents = 0
    strangers: dict[str, str] = {}
    for task in tasks:
        try:
            source = files.read_program(task.path, task.options.limits.bytes)
            if not check.passes_gate(source, task.path, task.options, neighbours=files.neighbours):
                continue
            agents += 1
            for name, line in check.strangers(source, task.path, task.options, neighbours=files.neighbours):
                strangers.setdefault(name, f"{task.path}:{line}")
        except (OSError, ValueError):  # told where it is checked
            continue
    problems = sum(len(outcome.findings) for outcome in outcomes)
    return Seen(problems, agents, tuple(_foreign(tasks)), strangers)


def table(seen: Seen) -> str:
    """The table as text. What has to be answered by a person stands in comments."""
    lines = ["[tool.looplint]"]
    if seen.foreign:
        lines.append(f"extend-exclude = [{_quoted(seen.foreign)}]  # code of others")
    if seen.problems:
        lines += ["# To begin with new problems only, run `looplint baseline` and take the # away:"]
        lines += [f'# baseline = "{FILE}"']
    asked = list(seen.strangers.items())[:_ASKED]
    if asked:
        lines += ["# These get a message history. Does one ask a model? Then take its # away:", "llm-calls = ["]
        lines += [f"    # {_quoted([name])},  # {place}" for name, place in asked]
        lines.append("]")
    else:
        lines.append("llm-calls = []  # functions of yours that ask a model, if looplint misses them: `looplint map`")
    return "\n".join(lines) + "\n"


def _quoted(words: Iterable[str]) -> str:
    import json

    return ", ".join(map(json.dumps, words))


def _foreign(tasks: Iterable[Task]) -> list[str]:
    """The outermost folders with files among the tasks whose names say that their code is others'."""
    found = set()
    for task in tasks:
        parts = shown(task.path).split(os.sep)[:-1]
        place = next((number for number, part in enumerate(parts, 1) if part.lower() in _NOT_OURS), None)
        if place is not None and not os.path.isabs(shown(task.path)):
            found.add("/".join(parts[:place]) + "/")
    return sorted(found)
