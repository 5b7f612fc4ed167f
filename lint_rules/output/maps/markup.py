"""HTML that is safe by how it is made: text is escaped unless it was made here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from lint_rules.output.page import valid, visible

__all__ = ["Markup", "coloured", "joined", "said", "tag"]

_VOID = frozenset({"meta", "br"})
_TOKENS = re.compile(
    r"(?P<comment>#[^\n]*)"
    r"|(?P<string>(?:\b[rbfuRBFU]{1,2})?(?:\"\"\"(?:.|\n)*?(?:\"\"\"|\Z)|'''(?:.|\n)*?(?:'''|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*(?:\"|$)|'(?:\\.|[^'\\\n])*(?:'|$)))"
    r"|\b(?P<keyword>and|as|assert|async|await|break|class|continue|def|del|elif|else|except|False|finally|for|from"
    r"|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\b"
    r"|\b(?P<number>\d[\w.]*)",
    re.MULTILINE,
)


class Markup(str):
    """Text that is HTML. Made by the functions here, and of nothing that somebody else wrote."""

    __slots__ = ()


def _escaped(text: str) -> Markup:
    if isinstance(text, Markup):
        return text
    lines = (("".join(map(visible, line))) for line in valid(text).split("\n"))
    return Markup(html.escape("\n".join(lines)))


def joined(parts: Iterable[str]) -> Markup:
    """The parts one after the other, each escaped if it is text."""
    return Markup("".join(map(_escaped, parts)))


def tag(name: str, /, *children: str, **attributes: str | None) -> Markup:
    """An element. Attributes that are None are left out; `class_` is `class`, `aria_label` is `aria-label`."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{words}>" + ("" if name in _VOID else f"{joined(children)}</{name}>"))


def said(text: str) -> Markup:
    """A sentence: what stands in backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _escaped(text)
    return joined(tag("code", part) if number % 2 else part for number, part in enumerate(parts))


def coloured(code: str) -> Markup:
    """Python with its words told apart, as far as that can be done with a part of a file."""
    made: list[str] = []
    end = 0
    for token in _TOKENS.finditer(code):
        made += (code[end : token.start()], tag("span", token[0], class_=f"t-{token.lastgroup}"))
        end = token.end()
    return joined([*made, code[end:]])
