"""What helps a project with findings of old to begin: a baseline, changed lines only, noqa comments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from lint_rules import files, saving
from lint_rules.baseline import Baseline, Entries, counted
from lint_rules.changes import Changes
from lint_rules.errors import reason
from lint_rules.files import Trouble
from lint_rules.finding import NOT_ANALYSED, UNUSED_NOQA, Finding
from lint_rules.fingerprint import Source
from lint_rules.layer import SettingsError
from lint_rules.noqa import add_noqa as with_noqa
from lint_rules.notebook import written
from lint_rules.paths import is_notebook, shown
from lint_rules.run import Outcome, Sifted, Task


def sift(
    outcomes: Sequence[Outcome],
    tasks: Sequence[Task],
    baseline: Baseline | None,
    changes: Changes | None,
    source: Source,
) -> Sifted:
    """What is to be reported of what was found. Raises SettingsError if git fails."""
    known = unchanged = 0
    solved: Entries = Entries()
    if baseline is not None:
        outcomes, found = _without_known(outcomes, baseline, source)
        known = sum(found.values())
        solved = baseline.solved(found, _checked(outcomes, tasks))
    if changes is not None:
        left = [outcome._replace(findings=tuple(_changed(outcome.findings, changes))) for outcome in outcomes]
        unchanged = _number(outcomes) - _number(left)
        outcomes = left
    lines = counted(solved.elements())
    return Sifted(outcomes, known, unchanged, tuple(f"{line} in the baseline is solved" for line in lines))


def add_noqa(outcomes: Iterable[Outcome]) -> tuple[int, list[Trouble]]:
    """Write comments for findings; gives how many lines got one, and the files that were left as they are."""
    added, troubles = 0, []
    for outcome in outcomes:
        if all(finding.code == NOT_ANALYSED for finding in outcome.findings):
            continue
        try:
            before = files.read(outcome.path)
            after, lines = with_noqa(files.as_program(before, outcome.path), outcome.findings)
            if is_notebook(outcome.path):
                after = written(before, after)
            saving.save(outcome.path, before, after)
        except (saving.Refused, saving.Torn, ValueError) as error:
            troubles.append(Trouble(outcome.path, str(error)))
        except OSError as error:
            troubles.append(Trouble(outcome.path, f"cannot be written: {reason(error)}"))
        else:
            added += lines
    return added, troubles


class Written(NamedTuple):
    """What became of a baseline, in numbers of findings."""

    is_first: bool
    listed: int
    solved: int = 0
    added: int = 0
    new: int = 0
    """Found, and not listed."""


def write_baseline(
    path: str, outcomes: Sequence[Outcome], tasks: Sequence[Task], source: Source, *, add: bool
) -> Written:
    """List what was found in a file; if there is one, take out what is solved, and `add` what is new only if asked.

    Raises SettingsError for a file that is none, OSError if it cannot be written.
    """
    try:
        old: Baseline | None = Baseline.read(path)
    except SettingsError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        old = None
    baseline = old or Baseline(path, Entries())
    kept, found = _without_known(outcomes, baseline, source)
    solved = baseline.solved(found, _checked(kept, tasks))
    new = [finding for outcome in kept for finding in outcome.findings if finding.code != NOT_ANALYSED]
    takes = add or old is None
    entries = baseline.entries - solved + (Entries(baseline.likenesses(new, source)) if takes else Entries())
    if old is None or entries != old.entries:
        try:
            saving.replace(path, Baseline(path, entries).text())
        except saving.Refused as error:
            raise SettingsError(f"the baseline cannot be written: {error}", shown(path)) from error
    listed = sum(entries.values())
    if old is None:
        return Written(True, listed)
    return Written(False, listed, sum(solved.values()), len(new) * add, len(new) * (not add))


def _without_known(outcomes: Sequence[Outcome], baseline: Baseline, source: Source) -> tuple[list[Outcome], Entries]:
    """The outcomes without what a baseline lists, and what was found of it."""
    kept, found = [], Entries()
    for outcome in outcomes:
        left, known = baseline.sift(outcome.findings, source)
        kept.append(outcome._replace(findings=tuple(left)))
        found += known
    return kept, found


def _checked(outcomes: Iterable[Outcome], tasks: Iterable[Task]) -> dict[str, Collection[str]]:
    """The codes that were looked for in each file that could be analysed."""
    return {
        outcome.path: task.options.codes | ({UNUSED_NOQA} if task.report_unused_noqa else set())
        for outcome, task in zip(outcomes, tasks, strict=True)
        if outcome.error is None and all(finding.code != NOT_ANALYSED for finding in outcome.findings)
    }


def _changed(findings: Iterable[Finding], changes: Changes) -> Iterable[Finding]:
    """Those that begin or end on a changed line, or have one between; what could not be analysed is always told."""
    return (
        finding
        for finding in findings
        if finding.code == NOT_ANALYSED or changes.touch(finding.path, finding.span.line, finding.span.end_line)
    )


def _number(outcomes: Iterable[Outcome]) -> int:
    return sum(len(outcome.findings) for outcome in outcomes)
