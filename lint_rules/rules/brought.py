"""The rules that other packages bring, checked: codes and names that every door takes, and nobody else's."""

from __future__ import annotations

import re
from typing import Any, get_args

from lint_rules.plugins.packages import Offer, PluginError, offers
from lint_rules.rules import catalogue
from lint_rules.rules.catalogue import Group, Rule

_CODE = re.compile(r"[A-Z]{1,3}[0-9]{3}")
"""flake8 takes no other prefixes."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def brought() -> tuple[Rule, ...]:
    """All rules of other packages, by package. Raises PluginError."""
    found: list[Rule] = []
    taken = {word: rule for rule in catalogue.RULES for word in (rule.code, rule.name)}
    for offer in offers():
        for rule in _rules(offer):
            for word in (rule.code, rule.name):
                if word in taken:
                    raise PluginError(_clash(word, rule, taken[word]))
            taken |= {rule.code: rule, rule.name: rule}
            found.append(rule)
    return tuple(found)


def _rules(offer: Offer) -> list[Rule]:
    said: Any = [offer.said] if isinstance(offer.said, Rule) else offer.said
    if not isinstance(said, (list, tuple)) or not all(isinstance(rule, Rule) for rule in said):
        _refuse(
            offer, f"`{offer.place}` is {type(offer.said).__name__}, expected a looplint.api.Rule, or a list of them"
        )
    if offer.prefix.startswith("AGL"):
        _refuse(offer, "codes that begin with AGL are looplint's own")
    for rule in said:
        if wrong := _wrong(rule, offer.prefix):
            _refuse(offer, f"the rule {rule.code!r} {wrong}")
    return [rule._replace(package=offer.package) for rule in said]


def _wrong(rule: Rule, prefix: str) -> str | None:
    """What is wrong with a rule, if anything is."""
    if not isinstance(rule.code, str) or not _CODE.fullmatch(rule.code) or not rule.code.startswith(prefix):
        return (
            f"has no code of one to three capitals and three digits that begins with {prefix}, its entry point's name"
        )
    if not isinstance(rule.name, str) or not _NAME.fullmatch(rule.name):
        return f"has no name of small letters and hyphens: {rule.name!r}"
    if rule.group not in get_args(Group):
        return f"is in no group: {rule.group!r}, expected {', '.join(get_args(Group))}"
    if not isinstance(rule.summary, str) or "\n" in rule.summary:
        return "has no summary of one line"
    return None if callable(rule.asks) else "has no function `asks` that looks for problems"


def _refuse(offer: Offer, what: str) -> None:
    raise PluginError(f"{offer.package}: {what}; update the package, or uninstall it")


def _clash(word: str, rule: Rule, other: Rule) -> str:
    if rule.package == other.package:
        return f"{rule.package} brings two rules {word}: update the package, or uninstall it"
    theirs = f"and by {other.package}" if other.package else "and is looplint's own"
    return f"the rule {word} is brought by {rule.package} {theirs}: uninstall one of the packages"
