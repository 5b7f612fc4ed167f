"""The way from what a user sees to the rule: the sections `Symptoms` of all rules' pages, turned round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lint_rules.rules.catalogue import RULES, Rule
from making import markdown
from making.families import FAMILIES, by_family

PROVIDERS = (
    *("OpenAI", "OpenAI Responses", "Anthropic", "Gemini", "Bedrock", "Mistral", "Qwen", "llama.cpp"),
    *("LangGraph", "Pydantic AI", "Python"),
)
"""Who says something, in the order of the page."""

_ERROR = re.compile(r"(?P<provider>[^:`]+): (?P<ticks>`+) ?(?P<text>.+?) ?(?P=ticks)$")


class Error(NamedTuple):
    """What a provider answers, a framework or Python raises: its own words."""

    provider: str
    text: str


def symptoms(rule: Rule) -> tuple[list[str], list[Error]]:
    """In the words of users, and in those of providers. Raises ValueError for a page without any of users'."""
    found = re.search(r"^## Symptoms\n(.*?)\n\n## ", rule.page(), re.DOTALL | re.MULTILINE)
    lines = re.sub(r"\n  ", " ", found[1]).split("\n") if found else []
    items = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    errors = [Error(match["provider"], match["text"]) for match in map(_ERROR.match, items) if match]
    words = [item for item in items if not _ERROR.match(item)]
    unknown = {error.provider for error in errors} - set(PROVIDERS)
    if not words or unknown or len(items) != len(lines):
        raise ValueError(f"{rule.name}: `## Symptoms` is a list of what users see, and of `PROVIDER: its words`")
    return words, errors


def errors_of(provider: str) -> dict[str, list[Rule]]:
    """What a provider says, and the rules that look for the cause: first those that are mostly seen by errors."""
    said = _turned((error.text, rule) for rule in RULES for error in symptoms(rule)[1] if error.provider == provider)
    return {text: sorted(rules, key=lambda rule: -len(symptoms(rule)[1])) for text, rules in said.items()}


def page() -> str:
    """All symptoms, those with words of a provider first."""
    return markdown.page(
        "# By symptom",
        "What you see, and the rules that look for its cause. The search knows all of it: type what an error says,"
        " without ids, numbers and what stands before it, for it finds pages that have each word.",
        "## An error message",
        *_by_provider(),
        *_by_family(),
    )


def _by_provider() -> Iterator[str]:
    for provider in PROVIDERS:
        rows = ((markdown.code(text), _links(rules)) for text, rules in errors_of(provider).items())
        yield f"### {provider}"
        yield markdown.table(("it says", "look at"), rows)


def _by_family() -> Iterator[str]:
    """Each symptom once, in the family of the first rule that has it."""
    seen = _turned((words, rule) for rule in RULES for words in symptoms(rule)[0])
    for family, own in by_family().items():
        rows = [(words, _links(rules)) for words, rules in seen.items() if rules[0] in own]
        if rows:
            yield f"## {_SEEN[family]}"
            yield markdown.table(("you see", "look at"), rows)


_SEEN = dict(
    zip(
        FAMILIES.values(),
        (
            "Several users, or several turns at once",
            "Something changes by itself",
            "It repeats itself, stops too early, or never",
            "Tools are not run, or not as asked for",
            "Arguments that are no JSON",
            "The history breaks, or forgets",
            "Long chats and long results",
            "With the opt-in rules",
        ),
        strict=True,
    )
)
"""What users would call a family."""


def _links(rules: list[Rule]) -> str:
    return ", ".join(map(markdown.link, rules))


def _turned(pairs: Iterator[tuple[str, Rule]]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for text, rule in pairs:
        found.setdefault(text, []).append(rule)
    return found
