"""Applying fixes to ONE file, bytes in, bytes out, to a fixed point. Does no I/O."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from lint_rules import check
from lint_rules.errors import describe
from lint_rules.finding import NOT_ANALYSED, Finding
from lint_rules.options import Wish

if TYPE_CHECKING:
    from lint_rules.repairs.edits import Edits, Fix
    from lint_rules.syntax.module import SourceModule


class Applied(NamedTuple):
    """A fix, with the place of its finding when it was applied (earlier fixes may have moved it)."""

    code: str
    name: str
    line: int
    title: str


class Dropped(NamedTuple):
    """A fix that was not applied after all, and why."""

    code: str
    name: str
    line: int
    reason: str


class Fixed(NamedTuple):
    """What became of a file: its bytes, what was done to them, and what is still to be found in them."""

    source: bytes
    report: check.Report
    applied: tuple[Applied, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def fix_source(
    source: bytes, path: str, options: check.Options, wish: Wish, *, neighbours: check.Neighbours | None = None
) -> Fixed:
    """Apply the wanted fixes of one file, check again, and so on until none is left. Never raises."""
    return _Fixing(path, options, wish, neighbours).run(source)


def each_fix(
    source: bytes,
    path: str,
    options: check.Options,
    wanted: Callable[[Finding], bool] = lambda _: True,
    *,
    neighbours: check.Neighbours | None = None,
) -> Iterator[tuple[Finding, bytes]]:
    """The wanted findings of a file that have a fix, each with the bytes of the file after this fix alone.

    One that does not do what it should is left out, as `fix_source` leaves it out. Never raises.
    """
    yield from _Fixing(path, options, Wish(unsafe=True, display=True), neighbours).each(source, wanted)


class _State(NamedTuple):
    """The file at one moment."""

    source: bytes
    report: check.Report

    @property
    def counts(self) -> Counter[str]:
        return Counter(finding.code for finding in self.report.findings)


class _Candidate(NamedTuple):
    finding: Finding
    fix: Fix
    edits: Edits


class _Refused(Exception):
    """Fixes that cannot be applied; the message says why, in words that follow `is not fixed: `."""


class _Fixing:
    def __init__(self, path: str, options: check.Options, wish: Wish, neighbours: check.Neighbours | None) -> None:
        self.path = path
        self.options = options
        self.wish = wish
        self.neighbours = neighbours
        self.applied: list[Applied] = []
        self.dropped: list[Dropped] = []

    def run(self, source: bytes) -> Fixed:
        """Round by round, until one applies nothing: each leaves fewer findings than there were, so there is an end.

        What one round refuses, the next tries again, for other code may let it through. So nothing depends on what
        was tried before, and the fixes of a fixed file change nothing.
        """
        state: _State | None = self._state(source)
        while state is not None:
            last, self.dropped = state, []
            state = self._round(last)
        return Fixed(last.source, last.report, tuple(self.applied), tuple(self.dropped))

    def each(self, source: bytes, wanted: Callable[[Finding], bool]) -> Iterator[tuple[Finding, bytes]]:
        """Each fix by itself."""
        state = self._state(source)
        opened = self._candidates(state, wanted)
        if opened is None:
            return
        module, candidates = opened
        for candidate in candidates:
            with suppress(_Refused):
                yield candidate.finding, self._applied(state, module, [], [candidate]).source

    def _state(self, source: bytes) -> _State:
        return _State(source, check.check_source(source, self.path, self.options, neighbours=self.neighbours))

    def _round(self, state: _State) -> _State | None:
        """The file after one round of fixes; None when nothing (more) can be applied."""
        opened = self._candidates(state)
        if opened is None:
            return None
        module, candidates = opened
        while candidates:
            chosen = _apart(candidates, module)
            following = self._most(state, module, [], chosen)
            if following is not state:
                return following
            candidates = [candidate for candidate in candidates if candidate not in chosen]
        return None

    def _candidates(
        self, state: _State, wanted: Callable[[Finding], bool] = lambda _: True
    ) -> tuple[SourceModule, list[_Candidate]] | None:
        """The file as libcst has it, and the fixes of the wanted findings that are wished for; None without any."""
        findings = [each for each in state.report.findings if self.wish.takes(each.code, each.fix) and wanted(each)]
        if not findings:
            return None
        try:
            module, fixes = check.find_fixes(state.source, self.path, self.options, neighbours=self.neighbours)
            if module.tree.bytes != state.source:
                raise _Refused("libcst, which makes the fixes, cannot write this file back byte for byte")
        except Exception as problem:
            for finding in findings:
                self._drop(finding, _said(problem))
            return None
        places = {(finding.code, finding.span) for finding in findings}
        return module, self._built([pair for pair in fixes if (pair[0].code, pair[0].span) in places])

    def _built(self, fixes: Iterable[tuple[Finding, Fix]]) -> list[_Candidate]:
        """What the fixes would edit. A repair that fails costs its own fix only."""
        built = []
        for finding, fix in fixes:
            try:
                built.append(_Candidate(finding, fix, fix.build()))
            except Exception as problem:
                self._drop(finding, _said(problem))
        return built

    def _most(
        self, state: _State, module: SourceModule, taken: list[_Candidate], candidates: list[_Candidate]
    ) -> _State:
        """The file with all candidates that do what they should; `state` is the file with those `taken` so far.

        All at once if that goes well, else half by half: a few bad ones among many are soon found, and dropped.
        """
        try:
            following = self._applied(state, module, taken, candidates)
        except _Refused as refusal:
            if len(candidates) == 1:
                self._drop(candidates[0].finding, str(refusal))
                return state
            half = len(candidates) // 2
            state = self._most(state, module, taken, candidates[:half])
            return self._most(state, module, taken, candidates[half:])
        taken += candidates
        self.applied += [_note(candidate) for candidate in candidates]
        return following

    def _drop(self, finding: Finding, reason: str) -> None:
        self.dropped.append(Dropped(finding.code, finding.name, finding.span.line, reason))

    def _applied(
        self, state: _State, module: SourceModule, taken: list[_Candidate], candidates: list[_Candidate]
    ) -> _State:
        """The file with more fixes than those `taken`.

        Raises _Refused unless it parses, has all comments, what they fix is gone, and nothing new is found.
        """
        from lint_rules.repairs.edits import apply

        try:
            source = apply(module.tree, [candidate.edits for candidate in (*taken, *candidates)]).bytes
        except Exception as problem:
            raise _Refused(_said(problem)) from problem
        _require_parses(source)
        _require_comments(state.source, source)
        following = self._state(source)
        _require_better(state, following, Counter(candidate.finding.code for candidate in candidates))
        return following


def _apart(candidates: Iterable[_Candidate], module: SourceModule) -> list[_Candidate]:
    """The candidates that do not get into each other's way; of two that do, the first."""
    chosen: list[_Candidate] = []
    for candidate in candidates:
        if not any(candidate.edits.overlaps(other.edits, module) for other in chosen):
            chosen.append(candidate)
    return chosen


def _require_parses(source: bytes) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise _Refused(f"its result does not parse ({problem})") from problem


def _require_comments(before: bytes, after: bytes) -> None:
    """Raises _Refused if a comment is gone: a person wrote it, and it may still be true."""
    try:
        written, kept = list(_comments(before)), Counter(text for text, _ in _comments(after))
    except (tokenize.TokenError, SyntaxError) as problem:  # what parses has tokens, but before 3.12 not all of it
        raise _Refused(f"its comments cannot be compared ({problem})") from problem
    for text, line in written:
        if not kept[text]:
            raise _Refused(f"it would lose the comment in line {line}: {text}")
        kept[text] -= 1


def _comments(source: bytes) -> Iterator[tuple[str, int]]:
    """Each comment, with its line."""
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string, token.start[0]


def _require_better(before: _State, after: _State, fixed: Counter[str]) -> None:
    """Raises _Refused unless `fixed` findings of each code are gone, and no code has more than before."""
    for code in after.counts - before.counts:
        found = [finding for finding in after.report.findings if finding.code == code]
        if code == NOT_ANALYSED:
            raise _Refused(f"its result cannot be analysed ({found[0].message})")
        known = set(map(_words, before.report.findings))
        new = next((finding for finding in found if _words(finding) not in known), found[-1])
        raise _Refused(f"its result has one more {code}, in line {new.span.line}: {new.message}")
    for code in fixed:
        if after.counts[code] > before.counts[code] - fixed[code]:
            raise _Refused(f"its result still has {code}")


def _words(finding: Finding) -> tuple[str, str]:
    """What is left of a finding when lines move."""
    return finding.code, finding.message


def _note(candidate: _Candidate) -> Applied:
    finding, fix, _ = candidate
    return Applied(finding.code, finding.name, finding.span.line, fix.title)


def _said(problem: Exception) -> str:
    return str(problem) if isinstance(problem, _Refused) else f"it could not be made ({describe(problem)})"
