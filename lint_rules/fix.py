"""Applying fixes to ONE file, bytes in, bytes out, to a fixed point. Does no I/O."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from lint_rules import check
from lint_rules.finding import Finding
from lint_rules.options import Wish

if TYPE_CHECKING:
    from lint_rules.repairs.edits import Edits, Fix
    from lint_rules.syntax.module import SourceModule

MOST_ROUNDS = 10


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


class _State(NamedTuple):
    """The file at one moment."""

    source: bytes
    report: check.Report

    @property
    def counts(self) -> Counter[str]:
        return Counter(finding.code for finding in self.report.findings)

    def line(self, number: int) -> str:
        lines = re.split("\r\n|\r|\n", self.source.decode("utf-8", "replace"))
        return lines[number - 1].strip() if number <= len(lines) else ""


_Candidate = tuple[Finding, "Fix"]
_Chosen = tuple[Finding, "Fix", "Edits"]


class _Fixing:
    def __init__(self, path: str, options: check.Options, wish: Wish, neighbours: check.Neighbours | None) -> None:
        self.path = path
        self.options = options
        self.wish = wish
        self.neighbours = neighbours
        self.applied: list[Applied] = []
        self.dropped: dict[tuple[str, str], Dropped] = {}

    def run(self, source: bytes) -> Fixed:
        state = self._state(source)
        for _ in range(MOST_ROUNDS):
            following = self._round(state)
            if following is None:
                break
            state = following
        return Fixed(state.source, state.report, tuple(self.applied), tuple(self.dropped.values()))

    def _state(self, source: bytes) -> _State:
        return _State(source, check.check_source(source, self.path, self.options, neighbours=self.neighbours))

    def _round(self, state: _State) -> _State | None:
        """The file after one round of fixes; None when nothing (more) can be applied."""
        wanted = [found for found in state.report.findings if self._is_wanted(found, state)]
        if not wanted:
            return None
        try:
            module, candidates = check.find_fixes(state.source, self.path, self.options, neighbours=self.neighbours)
        except Exception:  # it was checked a moment ago; whatever is wrong, the file stays as it is
            return None
        chosen = self._choose([pair for pair in candidates if pair[0] in wanted], state, module)
        together = self._applied(state, module, chosen) if len(chosen) > 1 else None
        if together is not None:
            self.applied += [_note(finding, fix) for finding, fix, _ in chosen]
            return together
        return self._one_at_a_time(state, module, chosen)

    def _is_wanted(self, finding: Finding, state: _State) -> bool:
        return self.wish.takes(finding.code, finding.fix) and self._key(finding, state) not in self.dropped

    @staticmethod
    def _key(finding: Finding, state: _State) -> tuple[str, str]:
        """Names a finding from round to round, while lines move."""
        return finding.code, state.line(finding.span.line)

    def _choose(self, candidates: Iterable[_Candidate], state: _State, module: SourceModule) -> list[_Chosen]:
        """The candidates that do not get into each other's way; of two that do, the first."""
        chosen: list[_Chosen] = []
        for finding, fix in candidates:
            try:
                edits = fix.build()
                if not any(edits.overlaps(other, module) for _, _, other in chosen):
                    chosen.append((finding, fix, edits))
            except Exception as problem:  # a repair that fails costs its own fix only
                self._drop(finding, state, f"it could not be made ({type(problem).__name__}: {problem})")
        return chosen

    def _one_at_a_time(self, state: _State, module: SourceModule, chosen: list[_Chosen]) -> _State | None:
        """The first fix that does what it should; those before it are dropped."""
        for finding, fix, edits in chosen:
            following = self._applied(state, module, [(finding, fix, edits)])
            if following is not None:
                self.applied.append(_note(finding, fix))
                return following
            self._drop(finding, state, "its result does not parse, or has problems of its own")
        return None

    def _drop(self, finding: Finding, state: _State, reason: str) -> None:
        place = finding.code, finding.name, finding.span.line
        self.dropped[self._key(finding, state)] = Dropped(*place, reason)

    def _applied(self, state: _State, module: SourceModule, chosen: list[_Chosen]) -> _State | None:
        """The file with fixes applied; None unless it parses, what they fix is gone, and nothing new is found."""
        from lint_rules.repairs.edits import apply

        try:
            if module.tree.bytes != state.source:  # libcst cannot write this file as it was
                return None
            source = apply(module.tree, [edits for _, _, edits in chosen]).bytes
        except Exception:
            return None
        if not _parses(source):
            return None
        following = self._state(source)
        fixed = Counter(finding.code for finding, _, _ in chosen)
        before, after = state.counts, following.counts
        is_better = all(after[code] <= before[code] - fixed[code] for code in before | after)
        return following if is_better else None


def _note(finding: Finding, fix: Fix) -> Applied:
    return Applied(finding.code, finding.name, finding.span.line, fix.title)


def _parses(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
