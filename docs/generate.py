#!/usr/bin/env python3
"""Writes what the documentation can be made from: the rules' pages and the ways to them, the references of the
configuration and the command line, the JSON schema, what was found in public agents, and the navigation of the site.

python docs/generate.py          write the pages
python docs/generate.py --check  exit 1 and name the pages that are not up to date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import wild
from making import bounds, command_line, configuration, frameworks, navigation, providers, rules, symptoms

from lint_rules.rules.catalogue import RULES
from lint_rules.schema import schema

DOCS = Path(__file__).parent
SITE = DOCS.parent / "zensical.toml"


def pages() -> dict[Path, str]:
    """All that is made, by its path."""
    made = {
        "looplint.schema.json": json.dumps(schema(), indent=2) + "\n",
        "configuration.md": configuration.page(),
        "command-line.md": command_line.page(),
        "found-in-the-wild.md": wild.page(),
        "frameworks.md": frameworks.page(),
        "how-it-decides.md": bounds.written((DOCS / "how-it-decides.md").read_text(encoding="utf-8")),
        "providers.md": providers.page(),
        "symptoms.md": symptoms.page(),
        "rules/README.md": rules.index(),
        **{f"rules/{rule.name}.md": rules.page(rule) for rule in RULES},
    }
    there = {path.name for path in DOCS.glob("*.md")} | set(made)
    site = navigation.written(SITE.read_text(encoding="utf-8"), there)
    return {**{DOCS / name: text for name, text in made.items()}, SITE: site}


def stale() -> list[Path]:
    """Pages that are missing, differ from what they are made of, or belong to no rule."""
    wanted = pages()
    differing = [p for p, text in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    return sorted({*differing, *(set(DOCS.glob("rules/*.md")) - set(wanted))})


def main() -> int:
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"{path.relative_to(DOCS.parent)} is not up to date: run python docs/generate.py")
        return 1 if stale() else 0
    (DOCS / "rules").mkdir(exist_ok=True)
    for path in set(DOCS.glob("rules/*.md")) - set(pages()):
        path.unlink()
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
