"""The picture as Markdown with a Mermaid flowchart for each loop of rounds, as GitHub and GitLab render it.

GitHub shows all tags in a label as text but `<br/>`, and `#` with a number stands for a character. So whatever could
mean something to Mermaid, Markdown or HTML is written as its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lint_rules.output.page import visible
from lint_rules.picture import KINDS, Loop, Part, PartKind, Sheet

_SHAPES: dict[PartKind, tuple[str, str]] = {
    "history": ("[(", ")]"),
    "ask": ("([", "])"),
    "run": ("[[", "]]"),
    "limit": ("{{", "}}"),
    "lock": ("{{", "}}"),
    "start": (">", "]"),
    "end": ("(((", ")))"),
}
_NOT_PLAIN = re.compile(r"^-|[^\w .,:/()\-…·⚠]")
_LONGEST = 60


def render(sheets: Sequence[Sheet]) -> Iterator[str]:
    """A heading and a chart for each loop; one line if there is none."""
    loops = [(sheet, loop) for sheet in sheets for loop in sheet.loops]
    for number, (sheet, loop) in enumerate(loops):
        if number:
            yield ""
        yield f"### {_code(f'{sheet.path}:{loop.place.line}')} in {_code(loop.function)}"
        yield ""
        yield "```mermaid"
        yield from _chart(sheet, loop)
        yield "```"
        yield from _listed(sheet, loop)
    if not loops:
        yield "No loop of rounds was found."


def _chart(sheet: Sheet, loop: Loop) -> Iterator[str]:
    names = {part.id: f"n{number}" for number, part in enumerate(loop.parts)}
    yield "flowchart TD"
    for part in loop.parts:
        opening, closing = _SHAPES.get(part.kind, ("[", "]"))
        mark = ":::finding" if part.findings or part.missing else ""
        yield f'  {names[part.id]}{opening}"{_label(sheet, part)}"{closing}{mark}'
    for edge in loop.edges:
        arrow = "==>" if edge.kind == "round" else "-.->"
        yield f"  {names[edge.source]} {arrow} {names[edge.target]}"
    yield "  classDef finding stroke:#d1242f,stroke-width:3px"


def _label(sheet: Sheet, part: Part) -> str:
    place = "" if part.missing else f" · {part.place}"
    found = [f"⚠ {finding.code} {finding.name}" for finding in (sheet.findings[n] for n in part.findings)]
    return "<br/>".join(map(_escaped, [f"{KINDS[part.kind]}{place}", _short(part.name), *found]))


def _listed(sheet: Sheet, loop: Loop) -> Iterator[str]:
    """What is found, below the chart: in it there is no room for sentences."""
    if loop.findings:
        yield ""
    for number in loop.findings:
        finding = sheet.findings[number]
        yield f"- {finding.code} {finding.name}, line {finding.span.line}: {_escaped_in_markdown(finding.message)}"


def _escaped(text: str) -> str:
    return _NOT_PLAIN.sub(lambda found: f"#{ord(found[0])};", "".join(map(visible, text)))


def _escaped_in_markdown(text: str) -> str:
    """Code in backticks stays code, if all of it is in one pair; nothing else means anything."""
    parts = "".join(map(visible, text)).split("`")
    if len(parts) % 2 == 0:
        return _harmless("`".join(parts))
    return "".join(_code(part) if number % 2 else _harmless(part) for number, part in enumerate(parts))


def _harmless(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~@&$])", lambda found: f"&#{ord(found[1])};", text)


def _code(text: str) -> str:
    """A code span: longer marks than any within."""
    text = "".join(map(visible, text))
    marks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") or not text else ""
    return f"{marks}{blank}{text}{blank}{marks}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
