"""The picture in words: the rounds with their parts, and what each value was taken for, with the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from lint_rules.output.page import plain
from lint_rules.picture import KINDS, Known, Loop, Named, Part, Place, Sheet

NOTHING = "no parts of an agent found"
_TITLES = {
    "history": "message history", "message": "message", "calls": "tool calls", "call": "tool call",
    "arguments_text": "model-written JSON", "arguments": "tool arguments", "reply": "model reply",
}  # fmt: skip
_WIDEST = max(map(len, KINDS.values()))


def render(sheets: Sequence[Sheet]) -> Iterator[str]:
    """A block a part of each file; of several files, those with parts of an agent, below their paths."""
    if len(sheets) == 1:
        yield from "\n\n".join(_blocks(sheets[0])).splitlines() or [NOTHING]
        return
    shown = [sheet for sheet in sheets if sheet.is_agent]
    for number, sheet in enumerate(shown):
        if number:
            yield ""
        yield plain(sheet.path)
        yield "=" * len(plain(sheet.path))
        yield from "\n\n".join(_blocks(sheet)).splitlines()
    if not shown:
        yield NOTHING


def _blocks(sheet: Sheet) -> Iterator[str]:
    asks = [f"{ask.place}: `{ask.name}` {ask.says}" for ask in sheet.asks]
    asks += [f"`{name}` reaches a model" for name in sheet.reaching]
    elsewhere = [_finding(sheet, number) for number in sheet.unpinned]
    blocks = [
        _block("LLM calls", asks),
        _block("round loops", [line for loop in sheet.loops for line in _loop(sheet, loop)]),
        _block("findings in no round", elsewhere),
        _block("concurrent starts", [f"{start.place}: `{start.name}` {start.says}" for start in sheet.starts]),
        _block("writes to shared histories", map(_write, sheet.shared)),
        *(
            _block(f"{_TITLES[kind]} ({kind})", sorted(map(_value, values)))
            for kind, values in groupby(sheet.known, key=lambda value: value.kind)
        ),
    ]
    return (block for block in blocks if block)


def _block(title: str, lines: Iterable[str]) -> str:
    body = [f"  {plain(line)}" for line in lines]
    return "\n".join([title, *body]) if body else ""


def _loop(sheet: Sheet, loop: Loop) -> Iterator[str]:
    asks = next(part for part in loop.parts if part.kind == "ask")
    limit = f"limit `{loop.limit}`" if loop.limit else "no limit"
    yield f"{loop.place}: in `{loop.function}`, asks in {asks.place}, {limit}"
    for part in loop.parts:
        yield f"  {KINDS[part.kind]:<{_WIDEST}}  {_part(part)}"
        for number in part.findings:
            yield f"    {_finding(sheet, number)}"


def _part(part: Part) -> str:
    name = f"{part.place}: `{part.name}`"
    return part.says if part.missing else f"{name}: {part.says}" if part.says else name


def _finding(sheet: Sheet, number: int) -> str:
    finding = sheet.findings[number]
    cell = getattr(finding.path, "cell", None)
    return f"! {Place(*finding.span, cell=cell)}: {finding.code} {finding.name}: {finding.message}"


def _write(write: Named) -> str:
    kind, _, under = write.says.partition(" ")
    return f"{write.place}: {kind} of `{write.name}` {under}"


def _value(value: Known) -> str:
    home = f"`{value.home}`" if value.home else "a call"
    chain = " <- ".join(f"{fact.says} ({fact.place})" for fact in value.evidence)
    written = ", ".join(f"{write.says} in {write.place}" for write in value.written)
    return f"`{value.name}` in {home}: {chain}" + (f"; written: {written}" if written else "")
