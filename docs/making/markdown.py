"""Markdown, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lint_rules.rules.catalogue import Rule


def page(*parts: str) -> str:
    """Blocks of a page, an empty line between them."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def link(rule: Rule) -> str:
    """To a rule's page, from a page of docs/."""
    return f"[{rule.code} {rule.name}](rules/{rule.name}.md)"


def code(text: str) -> str:
    """Inline code, also of what has backticks in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
