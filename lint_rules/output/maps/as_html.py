"""The picture as one HTML page, which needs nothing but itself: no network, no script, no font.

A loop of rounds is laid out as a ring, by CSS alone (page.css): what is sent goes along the top to the model, the reply
comes down the right, the tools run at the bottom, and the answers go back up the left. Inside stands what bounds the
rounds, above all what comes from outside. On a narrow page, and on paper, the ring is a column. In the page the cells
come in the order of the round, for those who hear it read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import resources

from lint_rules import __version__
from lint_rules.finding import Finding
from lint_rules.output.maps.icons import ICONS
from lint_rules.output.maps.markup import Markup, coloured, joined, said, tag
from lint_rules.paths import file_of
from lint_rules.picture import KINDS, ROUND, Loop, Part, PartKind, Place, Sheet

_CELLS: dict[str, tuple[PartKind, ...]] = {
    "history": ("history",),
    "sent": ("copy", "cut"),
    "hub": ("limit", "end"),
    "ask": ("ask",),
    "reply": ("reply", "guard", "parse"),
    "run": ("run",),
    "back": ("answer", "write", "lock"),
}
"""The cells of the ring with the kinds of parts in them, in the order in which they are read."""
_CELL_OF = {kind: cell for cell, kinds in _CELLS.items() for kind in kinds}
_SHOWN = 3
"""Parts of one kind in one cell that nothing was found in; the others are folded away."""
_NONE = {
    "history": "No history was seen: what is sent is made elsewhere.",
    "reply": "Nothing was seen that looks at the reply.",
    "run": "No tool run was seen: tools are run elsewhere, or not at all.",
    "back": "Nothing was seen that goes back into the history.",
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_OPTIONS = {"safe": "--fix", "unsafe": "--fix --unsafe-fixes", "display": "by hand"}


def render(sheets: Sequence[Sheet]) -> Iterator[str]:
    """The whole page."""
    agents = [sheet for sheet in sheets if sheet.loops or sheet.findings or (sheet.is_agent and len(sheets) == 1)]
    agents.sort(key=lambda sheet: not sheet.loops)
    names = {sheet.path: f"file-{number}" for number, sheet in enumerate(agents, 1)}
    title = f"The rounds of {_project(sheets)}"
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(resources.files(__package__).joinpath("page.css").read_text("utf-8"))),
    )
    yield "<body>"
    yield _icons()
    yield tag("a", "Skip to the rounds", href="#rounds", class_="skip")
    yield _header(title, sheets)
    yield '<main id="rounds">'
    yield _overview(agents, names, sheets)
    for sheet in agents:
        yield _file(sheet, names[sheet.path])
    yield "</main>"
    yield tag("footer", "Drawn by ", tag("code", "looplint map"), f" {__version__}, without running any of it.")
    yield "</body>"
    yield "</html>"


def _project(sheets: Sequence[Sheet]) -> str:
    if len(sheets) == 1:
        return sheets[0].path
    folders = [os.path.dirname(os.path.abspath(sheet.path)) for sheet in sheets] or [os.getcwd()]
    try:
        return os.path.basename(os.path.commonpath(folders)) or folders[0]
    except ValueError:  # on several drives
        return os.path.basename(os.getcwd())


def _icons() -> Markup:
    """The signs, each once: cards use them by name."""
    drawn = (tag("symbol", tag("path", d=d), id=f"i-{kind}", viewBox="0 0 24 24") for kind, d in ICONS.items())
    return tag("svg", *drawn, class_="icons", aria_hidden="true")


def _icon(kind: PartKind) -> Markup:
    return tag("svg", tag("use", href=f"#i-{kind}"), class_="icon", aria_hidden="true")


def _header(title: str, sheets: Sequence[Sheet]) -> Markup:
    loops, found = sum(len(sheet.loops) for sheet in sheets), sum(len(sheet.findings) for sheet in sheets)
    numbers = [
        _number(loops, "loop"),
        _number(found, "finding", "bad" if found else "good"),
        _number(len(sheets), "file"),
    ]
    return tag("header", tag("h1", title), tag("ul", *numbers, class_="numbers", role="list"))


def _number(number: int, noun: str, class_: str = "") -> Markup:
    return tag("li", tag("b", f"{number:,}"), f" {noun}{'s' * (number != 1)}", class_=class_ or None)


# -- overview -----------------------------------------------------------------------------------------------------


def _overview(agents: Sequence[Sheet], names: dict[str, str], sheets: Sequence[Sheet]) -> Markup:
    others = [sheet for sheet in sheets if sheet not in agents]
    parts = [tag("li", sheet.path) for sheet in others if sheet.is_agent]
    if not agents:
        found = tag("p", f"No loop of rounds was found in {_files(len(sheets))}.", class_="nothing")
        return joined([found, _folded(f"{_files(len(parts))} with other parts of an agent", parts)])
    rows = [row for sheet in agents for row in _rows(sheet, names[sheet.path])]
    head = tag("tr", *(tag("th", word, scope="col") for word in ("Where", "Limit", "Findings")))
    rest = len(others) - len(parts)
    return tag(
        "section",
        tag("h2", "Overview", id="overview", class_="unseen"),
        tag("table", tag("thead", head), tag("tbody", *rows)),
        _folded(f"{_files(len(parts))} with parts of an agent, but no loop of rounds, and nothing found", parts),
        tag("p", f"{_files(rest)} without any part of an agent", class_="more") if rest else "",
        class_="overview",
        aria_labelledby="overview",
    )


def _folded(title: str, items: Sequence[Markup]) -> Markup:
    return tag("details", tag("summary", title), tag("ul", *items), class_="more") if items else Markup("")


def _files(number: int) -> str:
    return f"{number:,} file{'s' * (number != 1)}"


def _rows(sheet: Sheet, name: str) -> Iterator[Markup]:
    yield tag("tr", tag("th", tag("a", sheet.path, href=f"#{name}"), colspan="3", scope="rowgroup"), class_="of-file")
    for number, loop in enumerate(sheet.loops, 1):
        link = tag("a", tag("code", loop.function), href=f"#{name}-{number}")
        limit = tag("code", loop.limit) if loop.limit else tag("span", "no limit", class_="bad")
        where = tag("span", str(loop.place), class_="where")
        yield tag("tr", tag("td", link, " ", where), tag("td", limit), tag("td", _codes(sheet, loop.findings)))
    if sheet.unpinned or not sheet.loops:
        what = "elsewhere in the file" if sheet.loops else "no loop of rounds"
        yield tag("tr", tag("td", what, class_="quiet"), tag("td"), tag("td", _codes(sheet, sheet.unpinned)))


def _codes(sheet: Sheet, numbers: Iterable[int]) -> Markup:
    """Each code once, with how often it was found."""
    found = Counter(sheet.findings[number].code for number in numbers)
    if not found:
        return tag("span", "none", class_="quiet")
    return joined(
        tag("span", code, f" ({times})" if times > 1 else "", class_="code") for code, times in sorted(found.items())
    )


# -- a file -------------------------------------------------------------------------------------------------------


def _file(sheet: Sheet, name: str) -> Markup:
    loops = [_loop(sheet, loop, f"{name}-{number}") for number, loop in enumerate(sheet.loops, 1)]
    return tag(
        "section",
        tag("h2", sheet.path, id=name),
        *loops,
        _elsewhere(sheet),
        class_="file",
        aria_labelledby=name,
    )


def _elsewhere(sheet: Sheet) -> Markup:
    """What is no part of a round: findings, calls of models."""
    blocks: list[str] = []
    if sheet.unpinned:
        blocks.append(tag("h3", "Found elsewhere in the file" if sheet.loops else "Found here"))
        blocks += [_finding(sheet, number, with_place=True) for number in sheet.unpinned]
    if not sheet.loops and sheet.asks:
        asks = [tag("li", tag("code", ask.name), " ", said(ask.says), ", ", str(ask.place)) for ask in sheet.asks]
        blocks += [tag("h3", "Calls of a model"), tag("ul", *asks)]
    return tag("div", *blocks, class_="elsewhere") if blocks else Markup("")


def _loop(sheet: Sheet, loop: Loop, name: str) -> Markup:
    heading = tag(
        "h3", tag("code", loop.function), " ", tag("span", _place(sheet, loop.place), class_="where"), id=name
    )
    number = len(loop.findings)
    state = tag("p", f"{number} finding{'s' * (number != 1)}", class_="state bad" if number else "state good")
    return tag(
        "article", tag("div", heading, state, class_="head"), _ring(sheet, loop), class_="loop", aria_labelledby=name
    )


# -- the ring -----------------------------------------------------------------------------------------------------


def _ring(sheet: Sheet, loop: Loop) -> Markup:
    cells: dict[str, list[Part]] = {cell: [] for cell in ("outside", *_CELLS)}
    by_id = {part.id: part for part in loop.parts}
    led_by = {edge.target: by_id[edge.source] for edge in loop.edges if by_id[edge.target].kind == "code"}
    in_round = {end for edge in loop.edges if edge.kind == "round" for end in (edge.source, edge.target)}
    for part in sorted(loop.parts, key=lambda part: part.id not in in_round):
        cells[_cell_of(led_by.get(part.id, part))].append(part)
    outside = _cards(cells.pop("outside"), sheet)
    made = [_cell(cell, parts, sheet, loop) for cell, parts in cells.items()]
    return joined([tag("div", *outside, class_="outside"), tag("ol", *made, class_="ring", role="list")])


def _cell_of(part: Part) -> str:
    if part.kind == "start" or (part.kind == "write" and part.says.endswith("outside the rounds")):
        return "outside"
    return _CELL_OF.get(part.kind, "run")


def _cell(cell: str, parts: Sequence[Part], sheet: Sheet, loop: Loop) -> Markup:
    shown = [replace(part, code="") if part.code == loop.statement else part for part in parts]
    inside = list(_cards(shown, sheet))
    if cell == "hub":
        inside.insert(0, tag("pre", coloured(loop.statement), class_="statement"))
    elif not parts:
        inside += [tag("p", _NONE[cell], class_="none")] if cell in _NONE else []
    return tag("li", *inside, class_=f"cell {cell}", aria_hidden=None if inside else "true")


def _cards(parts: Sequence[Part], sheet: Sheet) -> Iterator[Markup]:
    """The cards of a cell. Of many of one kind those without findings are folded away, but for the first."""
    for kind in dict.fromkeys(part.kind for part in parts):
        of_kind = [part for part in parts if part.kind == kind]
        quiet = [part for part in of_kind if not part.findings]
        folded = set(quiet[_SHOWN - 1 :]) if len(quiet) > _SHOWN else set()
        yield from (_card(sheet, part) for part in of_kind if part not in folded)
        if folded:
            more = tag("summary", f"{len(folded)} more: {KINDS[kind].lower()}")
            yield tag("details", more, *(_card(sheet, part) for part in of_kind if part in folded), class_="folded")


def _card(sheet: Sheet, part: Part) -> Markup:
    is_main = part.kind in ROUND
    kinds = ["card", "main" if is_main else "side", f"k-{part.kind}", "found" * bool(part.findings or part.missing)]
    label = tag("span", _icon(part.kind), KINDS[part.kind], class_="label")
    name = tag("code", part.name, class_="name") if is_main or part.missing or not part.code else ""
    place = "" if part.missing else tag("span", _place(sheet, part.place), class_="where")
    code = tag("pre", coloured(part.code)) if part.code and not part.missing else ""
    return tag(
        "div",
        tag("h4", label, " ", place),
        name,
        tag("p", said(part.says), class_="says") if part.says else "",
        code,
        *(_finding(sheet, number) for number in part.findings),
        class_=" ".join(filter(None, kinds)),
    )


def _place(sheet: Sheet, place: Place) -> str:
    name = os.path.basename(sheet.path)
    return f"{name}:{place.line}" if place.cell is None else f"{name}, {place}"


def _finding(sheet: Sheet, number: int, *, with_place: bool = False) -> Markup:
    found = sheet.findings[number]
    cell = getattr(found.path, "cell", None)
    where = tag("span", _place(sheet, Place(*found.span, cell=cell)), class_="where") if with_place else ""
    what = [tag("p", said(found.help), class_="help") if found.help else "", _fix(found), _related(found)]
    return tag(
        "div",
        tag("p", tag("b", found.code), " ", tag("span", found.name), " ", where, class_="rule"),
        tag("p", said(found.message[:1].upper() + found.message[1:]), "."),
        tag("details", tag("summary", "What to do"), *what) if any(what) else "",
        class_="finding",
    )


def _related(found: Finding) -> Markup:
    if not found.related:
        return Markup("")
    items = []
    for note in found.related:
        path = note.path or found.path
        cell = getattr(path, "cell", None)
        other = "" if file_of(path) == file_of(found.path) else f"{file_of(path)}, "
        items.append(tag("li", f"{other}{Place(*note.span, cell=cell)}: ", said(note.message)))
    return joined([tag("p", "It is seen in"), tag("ul", *items)])


def _fix(found: Finding) -> Markup:
    if found.fix is None:
        return Markup("")
    how = _OPTIONS[found.fix.applicability]
    return tag(
        "p", "Fix: ", said(found.fix.title), " (", tag("code", how) if how.startswith("-") else how, ")", class_="fix"
    )
