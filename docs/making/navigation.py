"""The navigation of the site, written into zensical.toml: pages in the order of reading, and each page once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from making.families import by_family

BEGIN, END = "# made by docs/generate.py\n", "# made by docs/generate.py, to here\n"

GUIDE: dict[str, dict[str, str]] = {
    "Guide": {
        "Beginning with findings": "adoption.md",
        "False alarms": "false-alarms.md",
        "flake8, pre-commit, codemods": "flake8.md",
        "In CI": "ci.md",
        "In an editor": "editors.md",
        "Notebooks": "notebooks.md",
        "The map": "map.md",
        "Your own rule": "your-own-rule.md",
    },
    "Finding the rule": {
        "By symptom": "symptoms.md",
        "By provider": "providers.md",
        "Frameworks": "frameworks.md",
        "All rules": "rules/README.md",
        "Found in the wild": "found-in-the-wild.md",
    },
    "Reference": {
        "Configuration": "configuration.md",
        "Command line": "command-line.md",
        "How it decides": "how-it-decides.md",
        "Performance": "performance.md",
    },
}
"""Pages that are not there are left out."""


def written(config: str, there: Iterable[str]) -> str:
    """The configuration of the site with the navigation to all pages that are `there`.

    Raises ValueError where a page has no place in it: add it above.
    """
    there = set(there)
    placed = {"index.md", *(page for part in GUIDE.values() for page in part.values())}
    lost = sorted(page for page in there - placed if "/" not in page and page.endswith(".md"))
    if lost:
        raise ValueError(f"docs/{lost[0]} has no place in GUIDE of docs/making/navigation.py")
    before, _, rest = config.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}nav = [\n{_entries(there)}]\n{END}{after}"


def _entries(there: set[str]) -> str:
    parts = {"Start": "index.md"} | {
        title: {name: page for name, page in part.items() if page in there} for title, part in GUIDE.items()
    }
    rules = {
        title: {f"{rule.code} {rule.name}": f"rules/{rule.name}.md" for rule in family}
        for title, family in by_family().items()
    }
    return "".join(f"  {_entry(title, part)},\n" for title, part in {**parts, "Rules": rules}.items())


def _entry(title: str, part: str | Mapping[str, object]) -> str:
    """As TOML, whose strings of this kind are JSON's."""
    if isinstance(part, str):
        return f"{{ {json.dumps(title)} = {json.dumps(part)} }}"
    inner = ", ".join(_entry(name, below) for name, below in part.items())  # type: ignore[arg-type]
    return f"{{ {json.dumps(title)} = [{inner}] }}"
