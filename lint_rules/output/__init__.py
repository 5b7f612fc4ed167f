"""Findings as text for people and as data for programs. One module a format; each has a `render`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from lint_rules.finding import Finding
from lint_rules.output.page import Page

Renderer = Callable[[Sequence[Finding], Page], Iterator[str]]
"""(findings in their order, what is needed to show them) -> lines without line ends."""

FORMATS = {
    "text": "text",
    "concise": "concise",
    "json": "as_json",
    "github": "github",
    "gitlab": "gitlab",
    "sarif": "sarif",
    "junit": "junit",
}
"""By name, the modules in this folder."""


def renderer(output_format: str) -> Renderer:
    """What renders a format; only its module is imported."""
    render: Renderer = import_module(f"{__name__}.{FORMATS[output_format]}").render
    return render
