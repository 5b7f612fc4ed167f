"""Which rules there are. Cheap to import: a rule's own module is loaded when the rule runs or is explained."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lint_rules.anatomy.agent import Anatomy
    from lint_rules.rules.draft import Draft

Group = Literal["correctness", "suspicious", "opt-in"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's entry: `code` (AGL + three digits), `name` (kebab-case, also its module), group and one-line summary."""

    code: str
    name: str
    group: Group
    summary: str

    @property
    def default(self) -> bool:
        """Whether the rule runs without being selected."""
        return self.group != "opt-in"

    @property
    def module(self) -> str:
        return f"{__package__}.{self.name.replace('-', '_')}"

    def check(self, anatomy: Anatomy) -> Iterator[Draft]:
        """Ask the rule's question of one file. Imports the rule's module on first use."""
        yield from importlib.import_module(self.module).check(anatomy)

    def page(self) -> str:
        """The rule's page: the docstring of its module, in Markdown."""
        return importlib.import_module(self.module).__doc__ or ""


RULES: tuple[Rule, ...] = (
    Rule(
        "AGL101",
        "unlocked-history-append",
        "correctness",
        "a history that concurrent code shares is changed without the lock",
    ),
    Rule(
        "AGL201",
        "shallow-message-copy",
        "correctness",
        "a store into a nested part of a shallow copy changes the original message",
    ),
    Rule(
        "AGL301",
        "stale-history-snapshot",
        "correctness",
        "a copy of the history made before the round loop is sent in each round",
    ),
    Rule(
        "AGL401",
        "first-tool-only-comparison",
        "correctness",
        "a repeat is decided by the first tool call of each round only",
    ),
    Rule(
        "AGL501",
        "ignored-json-error",
        "correctness",
        "an error of decoding or encoding tool arguments is ignored",
    ),
)

BY_CODE = {rule.code: rule for rule in RULES}
BY_NAME = {rule.name: rule for rule in RULES}


def matching(selector: str) -> frozenset[str]:
    """Codes a selector names: a code, a prefix of codes (`AGL1`, `AGL`) or a rule's name. Empty if it names none."""
    if selector in BY_NAME:
        return frozenset({BY_NAME[selector].code})
    return frozenset(code for code in BY_CODE if selector and code.startswith(selector))
