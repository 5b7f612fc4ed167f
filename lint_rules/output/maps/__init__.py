"""How the picture of a program is written, by name: one module a format. Each gives the lines of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lint_rules.picture import Sheet

__all__ = ["FORMATS", "Renderer", "renderer"]

FORMATS = ("text", "json", "mermaid", "html")

Renderer = Callable[[Sequence[Sheet]], Iterator[str]]


def renderer(name: str) -> Renderer:
    """The renderer of a format; each is imported only when used. Raises KeyError for an unknown name."""
    if name == "json":
        from lint_rules.output.maps import as_json

        return as_json.render
    if name == "mermaid":
        from lint_rules.output.maps import mermaid

        return mermaid.render
    if name == "html":
        from lint_rules.output.maps import as_html

        return as_html.render
    if name == "text":
        from lint_rules.output.maps import text

        return text.render
    raise KeyError(name)
