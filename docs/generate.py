#!/usr/bin/env python3
"""Writes docs/rules/ from the rules themselves, whose pages are the docstrings of their modules, the JSON schema of the
configuration from the settings, and the page of what was found in public agents from tests/wild.

python docs/generate.py          write the pages
python docs/generate.py --check  exit 1 and name the pages that are not up to date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import wild

from lint_rules.rules.catalogue import RULES, Rule
from lint_rules.schema import schema

SCHEMA = Path(__file__).parent / "looplint.schema.json"
FOUND = Path(__file__).parent / "found-in-the-wild.md"
FOLDER = Path(__file__).parent / "rules"
PROMISE = {
    "correctness": "at most 1 finding in 20 is wrong",
    "suspicious": "at most 1 finding in 7 is wrong",
    "opt-in": "off until it is selected",
}


def page(rule: Rule) -> str:
    """One rule's page, in Markdown."""
    body = rule.page().strip()
    title, _, rest = body.partition("\n")
    return f"{title}\n\n{rule.group}: {PROMISE[rule.group]}.\n{rest}\n"


def index() -> str:
    """The table of all rules."""
    rows = [f"| {r.code} | [{r.name}]({r.name}.md) | {r.group} | {r.summary} |" for r in RULES]
    return "\n".join(["# Rules", "", "| code | name | group | what it finds |", "| --- | --- | --- | --- |", *rows, ""])


def pages() -> dict[Path, str]:
    """All pages by their path."""
    made = {FOLDER / "README.md": index(), SCHEMA: json.dumps(schema(), indent=2) + "\n", FOUND: wild.page()}
    return {**made, **{FOLDER / f"{rule.name}.md": page(rule) for rule in RULES}}


def stale() -> list[Path]:
    """Pages that are missing, differ from their rule, or belong to no rule."""
    wanted = pages()
    there = {*FOLDER.glob("*.md"), *(path for path in (SCHEMA, FOUND) if path.exists())}
    differing = [p for p, text in wanted.items() if p not in there or p.read_text(encoding="utf-8") != text]
    return sorted({*differing, *(there - set(wanted))})


def main() -> int:
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"{path.relative_to(FOLDER.parent.parent)} is not up to date: run python docs/generate.py")
        return 1 if stale() else 0
    FOLDER.mkdir(exist_ok=True)
    for path in set(FOLDER.glob("*.md")) - set(pages()):
        path.unlink()
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
