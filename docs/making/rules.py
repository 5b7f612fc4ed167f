"""The page of each rule, which is the docstring of its module, and the table of all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lint_rules.rules.catalogue import RULES, Rule
from making import markdown

AIM = {
    "correctness": "meant to be wrong at most once in 20 findings",
    "suspicious": "meant to be wrong at most once in 7 findings",
    "opt-in": "off until it is selected",
}
RECORD: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "benchmarks/real_code/first_sight.json").read_text(encoding="utf-8")
)
"""What people said of the findings in programs that nobody here had seen before looplint ran on them, by rule: how many
are right, are true but of slight weight, are wrong."""


def page(rule: Rule) -> str:
    """One rule's page, in Markdown."""
    title, _, rest = rule.page().strip().partition("\n")
    return markdown.page(title, f"{rule.group}: {AIM[rule.group]}.{_measured(rule)}", rest)


def index() -> str:
    """The table of all rules."""
    rows = ([rule.code, f"[{rule.name}]({rule.name}.md)", rule.group, _seen(rule), rule.summary] for rule in RULES)
    groups = "\n".join(f"- **{group}**: {aim}." for group, aim in AIM.items())
    return markdown.page(
        "# Rules",
        "You have an error message, or an agent that does something odd? [By symptom](../symptoms.md) leads from there"
        " to the rule.",
        markdown.table(("code", "name", "group", "at first sight", "what it finds"), rows),
        groups,
        f"**At first sight**: each of the findings in {RECORD['programs']} public programs that nobody here had seen"
        " before looplint ran on them was read: so many are right, are true but of slight weight, are wrong. Most of"
        " the wrong ones are gone by now; in programs that are new to us, expect as many others.",
    )


def _seen(rule: Rule) -> str:
    return " / ".join(map(str, RECORD["rules"].get(rule.code, {}).values()))


def _measured(rule: Rule) -> str:
    seen = RECORD["rules"].get(rule.code)
    if seen is None:
        return "" if rule.group == "opt-in" else f" In {RECORD['programs']} unseen programs it found nothing."
    return (
        f" In {RECORD['programs']} unseen programs, {seen['right']} of its {sum(seen.values())} findings were right,"
        f" {seen['slight']} true but of slight weight, {seen['wrong']} wrong."
    )
