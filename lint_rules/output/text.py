"""Findings for people: the source lines with the place and the related places marked and labelled.

    agent.py:12:38: AGL301 stale-history-snapshot: the copy made before the loop is sent in each round
       |
     5 |     working = copy.copy(history)
       |               ------------------ copied here
    ...
    12 |         reply = client.send(messages=working)
       |                                      ^^^^^^^
       |
       = help: ...

Drawn in ASCII: it looks the same on every terminal and in every log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from lint_rules.finding import Finding, Related, Span
from lint_rules.lines import lines_of
from lint_rules.output.page import Page, plain, visible
from lint_rules.paths import cell_of

TAB = " " * 4
WIDEST = 160
"""Columns of source shown of a line; of a longer one, the part around the mark."""
LEAD = 40
"""Columns shown before the mark where a line is cut."""
CUT = "..."
_OPTIONS = {"safe": "--fix", "unsafe": "--fix --unsafe-fixes", "display": "shown by --show-fixes"}


class Mark(NamedTuple):
    """A place to underline. `main` is the place of the finding itself."""

    path: str
    span: Span
    label: str
    main: bool = False


def render(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    """A block a finding, with an empty line after each."""
    for finding in findings:
        yield from _block(finding, page)
        yield ""


def _block(finding: Finding, page: Page) -> Iterator[str]:
    yield _header(finding, page)
    frames = list(_frames(finding, page))
    width = max((len(str(number)) for _, rows in frames for number, _ in rows if number), default=1)
    margin = " " * width
    bar = page.paint("frame", f"{margin} |")
    for place, rows in frames:
        if place is not None:
            yield page.paint("frame", f"{margin}::: ") + place
        if rows:
            yield bar
        for number, row in rows:
            if number is None:
                yield page.paint("frame", CUT)
            else:
                gutter = page.paint("frame", f"{number:>{width}} |") if number else bar
                yield f"{gutter} {row}".rstrip()
        if rows:
            yield bar
    yield from _help(finding, margin, page)


def _header(finding: Finding, page: Page) -> str:
    path = page.paint("path", plain(finding.path))
    code = page.paint("error", f"{finding.code} {finding.name}")
    return f"{path}:{finding.span.line}:{finding.span.column}: {code}: {plain(finding.message)}"


def _help(finding: Finding, margin: str, page: Page) -> Iterator[str]:
    first, *rest = finding.help.splitlines() or [""]
    start = f"{margin} {page.paint('frame', '=')} "
    if first:
        yield f"{start}{page.paint('help', 'help')}: {plain(first)}"
    for line in rest:
        yield f"{margin}         {plain(line)}".rstrip()
    if finding.fix is not None:
        option = _OPTIONS[finding.fix.applicability]
        yield f"{start}{page.paint('help', 'fix')}: {plain(finding.fix.title)} ({option})"
        if page.fixes:
            yield from _diff(finding, page)


def _diff(finding: Finding, page: Page) -> Iterator[str]:
    """What the fix of a finding changes; nothing where it does not work out, and in a notebook."""
    if cell_of(finding.path) is not None:
        return
    from lint_rules.output import diff

    before, after = page.source(finding.path), page.mended(finding.path).get((finding.code, finding.span))
    if before is not None and after is not None:
        yield ""
        yield from diff.render(finding.path, before, after, page)


# -- frames -------------------------------------------------------------------------------------------------------

Row = tuple["int | None", str]
"""A row of a frame: line number and source; 0 and a row of marks; None for lines left out."""


def _frames(finding: Finding, page: Page) -> Iterator[tuple[str | None, list[Row]]]:
    """The rows of each file with marks, the finding's own first; with the place to name above those of another."""
    marks = [Mark(finding.path, finding.span, "", main=True), *(_mark(finding, related) for related in finding.related)]
    marks.sort(key=lambda mark: (mark.path != finding.path, mark.path))
    for path, group in groupby(marks, key=lambda mark: mark.path):
        of_file = list(group)
        text = page.source(path)
        rows = [] if text is None else list(_rows(lines_of(text), of_file, page))
        if path == finding.path:
            if rows:
                yield None, rows
        else:
            yield _place(of_file[0], bool(rows), page), rows


def _mark(finding: Finding, related: Related) -> Mark:
    return Mark(related.path or finding.path, related.span, related.message)


def _place(mark: Mark, is_drawn: bool, page: Page) -> str:
    """The place of another file's first mark; with its label when the file cannot be shown."""
    place = f"{page.paint('path', plain(mark.path))}:{mark.span.line}:{mark.span.column}"
    return place if is_drawn else f"{place}: {plain(mark.label)}"


def _rows(lines: Sequence[str], marks: Sequence[Mark], page: Page) -> Iterator[Row]:
    """The marked lines of one file in order, each with its marks below; gaps of one line are filled, others elided."""
    marks = [mark for mark in marks if 1 <= mark.span.line <= len(lines)]
    previous = None
    for number, group in groupby(sorted(marks, key=_order), key=lambda mark: mark.span.line):
        if previous is not None and number == previous + 2:
            yield number - 1, _Line(lines[number - 2], 0).shown
        elif previous is not None and number > previous + 2:
            yield None, ""
        of_line = list(group)
        line = _Line(lines[number - 1], min(mark.span.column for mark in of_line) - 1)
        yield number, line.shown
        for mark in of_line:
            yield 0, _underline(line, mark, page)
        previous = number


def _order(mark: Mark) -> tuple[int, bool, int]:
    return mark.span.line, not mark.main, mark.span.column


def _underline(line: _Line, mark: Mark, page: Page) -> str:
    """Carets (dashes for a related place) under a range, its label behind. Of a range of lines, the first is marked."""
    start = mark.span.column - 1
    end = mark.span.end_column - 1 if mark.span.end_line == mark.span.line else line.length
    left, right = line.column(start), line.column(max(end, start))
    sign, style = ("^", "error") if mark.main else ("-", "related")
    signs = sign * max(1, right - left)
    return " " * left + page.paint(style, f"{signs} {plain(mark.label)}".rstrip())


class _Line:
    """A source line as it is shown, and the column at which each of its characters then stands.

    Tabs become spaces and controls pictures; a wide character takes two columns, a combining one none.
    """

    def __init__(self, text: str, focus: int) -> None:
        """`focus` is the index of the first character of interest."""
        text = text.rstrip()
        self.length = len(text)
        cells = [_cell(character) for character in text]
        self._offsets = list(accumulate((_width(cell) for cell in cells), initial=0))
        first, last = self._window(focus)
        lead = CUT if first else ""
        self._shift = len(lead) - self._offsets[first]
        self._last = last
        self.shown = lead + "".join(cells[first:last]) + (CUT if last < len(cells) else "")

    def column(self, index: int) -> int:
        """The 0-based column at which a character stands; the end of what is shown for those beyond."""
        return max(0, self._offsets[max(0, min(index, self._last))] + self._shift)

    def _window(self, focus: int) -> tuple[int, int]:
        """First and last (exclusive) character to show."""
        if self._offsets[-1] <= WIDEST:
            return 0, self.length
        from_column = max(0, self._offsets[min(max(0, focus), self.length)] - LEAD)
        first = next(index for index, offset in enumerate(self._offsets) if offset >= from_column)
        to_column = self._offsets[first] + WIDEST
        last = next((index - 1 for index, offset in enumerate(self._offsets) if offset > to_column), self.length)
        return first, last


def _cell(character: str) -> str:
    """What is printed for a character."""
    return TAB if character == "\t" else visible(character)


def _width(cell: str) -> int:
    """Columns that a cell takes on a terminal."""
    if cell.isascii():
        return len(cell)
    import unicodedata

    if unicodedata.category(cell) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1
