"""The page about public agents, made of `tests/wild`: its findings, and what its recipes say of themselves."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

from lint_rules.rules.catalogue import BY_CODE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WILD = Path(__file__).parent.parent / "tests" / "wild"
HEAD = """\
# Found in the wild

What looplint finds in public agents: {findings} findings in {projects} projects, by {rules} of its rules. Each was
read with the code around it and its callers, and what happens was provoked with a program of the same shape, written
for that: `tests/wild` in the repository. A recipe runs it against a scripted model and sees the harm, then the same
program without the bug, and sees it gone; looplint reports the first one where the bug is, and nothing in the second.
So each row can be reproduced here without the project, its provider, or a key. The places are those of the version
that is named; some are mended by now.

That a project stands here means that it is worth reading, not that it is bad: these are bugs that everybody writes.
"""


def findings() -> list[dict[str, Any]]:
    """Project, version (a commit, or that of a package), path, line, code, recipe and what happens, of each."""
    with (WILD / "findings.toml").open("rb") as file:
        table: list[dict[str, Any]] = tomllib.load(file)["finding"]
    return table


def page() -> str:
    """The page, in Markdown."""
    found = findings()
    count = {key: len({row[key] for row in found}) for key in ("project", "code")}
    head = HEAD.format(findings=len(found), projects=count["project"], rules=count["code"])
    rows = [f"| {project(row)} | {place(row)} | {rule(row)} | {row['happens']} | {recipe(row)} |" for row in found]
    table = ["| agent | place | rule | what happens | recipe |", "| --- | --- | --- | --- | --- |", *rows]
    return "\n".join([head, *table, "", "## The recipes", "", *recipes(found)]) + "\n"


def project(row: dict[str, Any]) -> str:
    if "/" in row["project"]:
        return f"[{row['project']}](https://github.com/{row['project']}) `{row['version'][:7]}`"
    return f"[{row['project']}](https://pypi.org/project/{row['project']}/{row['version']}/) {row['version']}"


def place(row: dict[str, Any]) -> str:
    text = f"`{row['path']}:{row['line']}`"
    if "/" not in row["project"]:
        return text
    return f"[{text}](https://github.com/{row['project']}/blob/{row['version']}/{row['path']}#L{row['line']})"


def rule(row: dict[str, Any]) -> str:
    return f"[{row['code']}](rules/{BY_CODE[row['code']].name}.md)"


def recipe(row: dict[str, Any]) -> str:
    return f"[{title(row)}](#{row['recipe'].replace('_', '-')})"


def title(row: dict[str, Any]) -> str:
    return str(row["recipe"]).replace("_", " ")


def recipes(found: list[dict[str, Any]]) -> list[str]:
    """A section for each recipe: its program and what the scripted model does, in the words of their docstrings."""
    lines = []
    for row in {row["recipe"]: row for row in found}.values():
        said = [docstring(WILD / row["recipe"] / name) for name in ("bug.py", "recipe.py")]
        lines += [f"### {title(row)}", "", f"{' '.join(said)} (`tests/wild/{row['recipe']}`)", ""]
    return lines[:-1]


def docstring(path: Path) -> str:
    return " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split())
