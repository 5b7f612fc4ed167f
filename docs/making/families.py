"""The families of rules: what the first digit of a code says."""

from __future__ import annotations

from lint_rules.rules.catalogue import RULES, Rule

FAMILIES = {
    "AGL1": "What concurrent code shares",
    "AGL2": "Two names for one object",
    "AGL3": "Rounds",
    "AGL4": "Tool calls",
    "AGL5": "JSON",
    "AGL6": "A history that the API accepts",
    "AGL7": "Window and truncation",
    "AGL9": "Opt-in",
}


def family(rule: Rule) -> str:
    return FAMILIES[rule.code[:4]]


def by_family() -> dict[str, list[Rule]]:
    """All rules, in the order of their codes."""
    found: dict[str, list[Rule]] = {}
    for rule in RULES:
        found.setdefault(family(rule), []).append(rule)
    return found
