"""The analysis of ONE file that passed the gate: from its tree to the anatomy, and to what the rules find.

Begins on a bare tree, made from the `ast`. libcst parses the file only if something is asked that this does not tell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from lint_rules.anatomy.agent import Anatomy
from lint_rules.errors import PLEASE_REPORT, describe
from lint_rules.finding import NOT_ANALYSED, Finding, Misread, Related, Report, Span
from lint_rules.gate.speaking import NEED_NO_FACTS
from lint_rules.options import Neighbours, Options
from lint_rules.picture import Sheet
from lint_rules.reading import analysed, anatomy_of, read, read_bare
from lint_rules.repairs.edits import Fix
from lint_rules.rules.catalogue import Rule, by_code, by_name
from lint_rules.rules.draft import Draft
from lint_rules.syntax.module import SourceModule
from lint_rules.syntax.parse import Tree
from lint_rules.syntax.twins import Unplaced

if TYPE_CHECKING:
    from lint_rules.suppress import Suppressions

_MISSING = AttributeError, Unplaced
"""What comes of a bare tree if somebody asks it for formatting, or for a place that only libcst tells."""


def report(
    source: bytes,
    path: str,
    tree: Tree,
    options: Options,
    neighbours: Neighbours | None,
    *,
    noqa: bool,
    altered: bool = False,
) -> Report:
    """What the rules of `options` find, without what comments suppress if `noqa`. Raises Unreadable.

    `altered`: the tree is another form of what the file says. Of that no fixes are found.
    """
    judged = _Judged()
    codes = options.codes
    if isinstance(tree, ast.Module):
        bare = read_bare(source, path, tree, altered=altered)
        with suppress(*_MISSING), analysed(bare, options, neighbours, read_bare) as anatomy:
            codes = judged.by(anatomy, codes, _MISSING)
    if codes:
        with analysed(read(source, path, tree), options, neighbours, read) as anatomy:
            judged.by(anatomy, codes)
    return judged.report(path, noqa)


def fixes(
    source: bytes, path: str, tree: Tree, options: Options, neighbours: Neighbours | None
) -> tuple[SourceModule, list[tuple[Finding, Fix]]]:
    """The file, and its findings that have a fix, each with it, in order of place. Raises Unreadable."""
    anatomy = anatomy_of(read(source, path, tree), options, neighbours, read)
    fixable = [pair for rule in _rules(anatomy, options.codes) for pair in _fixes(anatomy, rule)]
    return anatomy.module, sorted(fixable, key=lambda pair: (pair[0].span, pair[0].code))


def drawn(
    source: bytes,
    path: str,
    tree: Tree,
    options: Options,
    neighbours: Neighbours | None,
    findings: tuple[Finding, ...],
    *,
    altered: bool = False,
) -> Sheet:
    """The picture of a file, with these findings on it. Raises Unreadable.

    `altered`: the tree is another form of what the file says.
    """
    from lint_rules.anatomy.drawing import draw

    if altered:
        bare = read_bare(source, path, tree, altered=True)
        with suppress(*_MISSING), analysed(bare, options, neighbours, read_bare) as anatomy:
            return draw(anatomy, findings)
    with analysed(read(source, path, tree), options, neighbours, read) as anatomy:
        return draw(anatomy, findings)


def strangers_of(
    source: bytes, path: str, tree: Tree, options: Options, neighbours: Neighbours | None
) -> list[tuple[str, int]]:
    """The calls of a file that may ask a model, by name and line. Raises Unreadable."""
    from lint_rules.anatomy.strangers import strangers

    return list(strangers(anatomy_of(read(source, path, tree), options, neighbours, read)))


# -- judging ------------------------------------------------------------------------------------------------------


class _Judged:
    """What rules found in one file, and those that failed."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._failed: dict[tuple[str, str], list[Rule]] = {}
        self._text = ""

    def by(self, anatomy: Anatomy, codes: frozenset[str], missing: tuple[type[Exception], ...] = ()) -> frozenset[str]:
        """Asks rules. One that fails costs its own findings; gives back those that fail for what is `missing`."""
        again: set[str] = set()
        self._text = anatomy.module.text
        for rule in _rules(anatomy, codes):
            try:
                self._found += [_finding(rule, draft, anatomy) for draft in rule.check(anatomy)]
            except missing:
                again.add(rule.code)
            except MemoryError:
                raise
            except Exception as problem:
                self._failed.setdefault((describe(problem), rule.package), []).append(rule)
        return frozenset(again)

    def report(self, path: str, noqa: bool) -> Report:
        """What was found, without what comments suppress if `noqa`."""
        failures = tuple(_failure(path, rules, what) for (what, _), rules in self._failed.items())
        once = {(f.span, f.code): f for f in self._found}  # what was inlined, its own place tells, too
        found = [once[key] for key in sorted(once)]
        if not noqa or not found:
            return Report((*failures, *found))
        from lint_rules.suppress import Suppressions

        suppressions = Suppressions(self._text)
        kept: list[Finding] = []
        hidden: list[Finding] = []
        for finding in found:
            (hidden if suppressions.covers(finding.code, finding.span.line) else kept).append(finding)
        return Report((*failures, *kept), len(hidden), tuple(_misread(suppressions, hidden)))


def _misread(suppressions: Suppressions, hidden: Iterable[Finding]) -> Iterator[Misread]:
    """The comments that hide all findings, and seem to list which: each once."""
    codes: dict[tuple[int, str], set[str]] = {}
    for found in hidden:
        if comment := suppressions.misread(found.span.line):
            codes.setdefault(comment, set()).add(found.code)
    for (line, text), covered in codes.items():
        if text.lower().startswith("# flake8"):
            yield Misread(line, f"`{text}` hides all findings of the file: use `per-file-ignores` for some of them")
            continue
        words = re.findall("[A-Za-z0-9-]+", text)
        named = {**by_code(), **by_name()}
        meant = [named[word].code for word in words if word in named]
        advice = f"write `# noqa: {', '.join(meant or sorted(covered))}`"
        yield Misread(line, f"`{text}` is no list of codes, so it hides all findings here: {advice}")


def _failure(path: str, rules: list[Rule], what: str) -> Finding:
    """That rules failed, all for one reason."""
    names = ", ".join(f"{rule.code} {rule.name}" for rule in rules)
    package = rules[0].package
    report = f"this is a bug in {package}: please report it there" if package else PLEASE_REPORT
    message = f"{names} failed on this file ({what}), so findings may be missing; {report}"
    return Finding(path, Span(1, 1, 1, 2), NOT_ANALYSED, "not-analysed", message)


def _rules(anatomy: Anatomy, codes: frozenset[str]) -> list[Rule]:
    if not anatomy.knows_agent:
        codes &= NEED_NO_FACTS
    known = by_code()
    return [known[code] for code in sorted(codes) if code in known]


def _fixes(anatomy: Anatomy, rule: Rule) -> list[tuple[Finding, Fix]]:
    with suppress(Exception):  # of one that fails `report` says so
        return [(_finding(rule, draft, anatomy), draft.fix) for draft in rule.check(anatomy) if draft.fix]
    return []


def _finding(rule: Rule, draft: Draft, anatomy: Anatomy) -> Finding:
    module = anatomy.module
    related = tuple(
        note
        if isinstance(note, Related)
        else Related(
            (note.module or module).positions.span(note.node),
            note.message,
            note.module.path if note.module is not None and note.module is not module else None,
        )
        for note in draft.related
    )
    return Finding(
        path=module.path,
        span=module.positions.span(draft.node),
        code=rule.code,
        name=rule.name,
        message=draft.message,
        help=draft.help,
        confidence=draft.confidence,
        related=related,
        fix=draft.fix.offer if draft.fix is not None else None,
    )
