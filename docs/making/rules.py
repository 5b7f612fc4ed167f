"""The page of each rule, which is the docstring of its module, and the table of all."""

from __future__ import annotations

from lint_rules.rules.catalogue import RULES, Rule
from making import markdown

PROMISE = {
    "correctness": "at most 1 finding in 20 is wrong",
    "suspicious": "at most 1 finding in 7 is wrong",
    "opt-in": "off until it is selected",
}


def page(rule: Rule) -> str:
    """One rule's page, in Markdown."""
    title, _, rest = rule.page().strip().partition("\n")
    return markdown.page(title, f"{rule.group}: {PROMISE[rule.group]}.", rest)


def index() -> str:
    """The table of all rules."""
    rows = ([rule.code, f"[{rule.name}]({rule.name}.md)", rule.group, rule.summary] for rule in RULES)
    groups = "\n".join(f"- **{group}**: {promise}." for group, promise in PROMISE.items())
    return markdown.page(
        "# Rules",
        "You have an error message, or an agent that does something odd? [By symptom](../symptoms.md) leads from there"
        " to the rule.",
        markdown.table(("code", "name", "group", "what it finds"), rows),
        groups,
    )
