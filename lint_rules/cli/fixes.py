"""What fixes change, and what is said of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from lint_rules.cli.page import at
from lint_rules.cli.terminal import complain
from lint_rules.cli.wording import count

if TYPE_CHECKING:
    from lint_rules.finding import Finding
    from lint_rules.output.page import Page
    from lint_rules.run import Outcome, Plan


def print_diffs(outcomes: Iterable[Outcome], page: Page) -> None:
    """What fixes would change: harmless text for people, for programs the very bytes."""
    from lint_rules.files import decode
    from lint_rules.output import diff

    for outcome in outcomes:
        if outcome.rewrite is None:
            continue
        before, after = outcome.rewrite.before, outcome.rewrite.after
        if page.colour or sys.stdout.isatty():
            for line in diff.render(outcome.path, decode(before), decode(after), page):
                print(line)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(diff.patch(outcome.path, before, after))


def print_stdin(plan: Plan, outcomes: Iterable[Outcome], source: bytes) -> bytes:
    """Standard input goes to standard output, fixed or not; it is also returned."""
    for task, outcome in zip(plan.tasks, outcomes, strict=True):
        if task.source is not None and outcome.rewrite is not None:
            source = outcome.rewrite.after
    sys.stdout.flush()
    sys.stdout.buffer.write(source)
    sys.stdout.buffer.flush()
    return source


def tell_fixes(
    outcomes: Iterable[Outcome], output_format: str, args: argparse.Namespace, page: Callable[[], Page]
) -> None:
    """Say what was fixed; on stderr where stdout holds data."""
    fixed = [outcome for outcome in outcomes if outcome.rewrite is not None]
    for outcome in outcomes:
        for dropped in outcome.dropped if not args.quiet else ():
            complain("note", f"{at(outcome.path, dropped.line, page)}: {dropped.code} is not fixed: {dropped.reason}")
    with redirect_stdout(sys.stdout if output_format == "text" else sys.stderr):
        if args.show_fixes:
            for line in _shown_fixes(fixed, page):
                print(line)
        if fixed and not args.quiet:
            number = sum(len(outcome.rewrite.applied) for outcome in fixed if outcome.rewrite is not None)
            verb = "Would apply" if args.diff else "Applied"
            print(f"{verb} {count(number, 'fix', 'fixes')} in {count(len(fixed), 'file')}.")


def _shown_fixes(fixed: Iterable[Outcome], page: Callable[[], Page]) -> Iterator[str]:
    from lint_rules.output.page import plain

    for outcome in fixed:
        for applied in outcome.rewrite.applied if outcome.rewrite is not None else ():
            yield f"{plain(at(outcome.path, applied.line, page))}: {applied.code} {applied.name}: {applied.title}"


def offer_of(findings: Iterable[Finding], unsafe: bool) -> str:
    """How many of the findings could be fixed, and by which option; "" if none."""
    offers = [finding.fix.applicability for finding in findings if finding.fix is not None]
    now = offers.count("safe") + (offers.count("unsafe") if unsafe else 0)
    more = 0 if unsafe else offers.count("unsafe")
    shown = offers.count("display")
    parts = [f"{now} with --fix{' --unsafe-fixes' * unsafe}"] * (now > 0)
    parts += [f"{more} with --fix --unsafe-fixes"] * (more > 0)
    parts += [f"{shown} to look at with --show-fixes"] * (shown > 0)
    return f"Fixes are at hand: {', '.join(parts)}." if parts else ""
