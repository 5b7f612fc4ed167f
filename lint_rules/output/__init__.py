"""Findings as text for people and as data for programs. One module a format; each has a `render`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lint_rules.finding import Finding
from lint_rules.output import as_json, concise, github, text
from lint_rules.output.page import Page

Renderer = Callable[[Sequence[Finding], Page], Iterator[str]]
"""(findings in their order, what is needed to show them) -> lines without line ends."""

RENDERERS: dict[str, Renderer] = {
    "text": text.render,
    "concise": concise.render,
    "json": as_json.render,
    "github": github.render,
}
