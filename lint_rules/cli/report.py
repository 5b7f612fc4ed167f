"""What was found, printed, and in how many words it is said at the end."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from lint_rules.cli.exit_codes import exit_code
from lint_rules.cli.fixes import offer_of, tell_fixes
from lint_rules.cli.page import at, page_of
from lint_rules.cli.running import all_troubles, complain_of
from lint_rules.cli.terminal import complain
from lint_rules.cli.wording import count
from lint_rules.finding import NOT_ANALYSED
from lint_rules.layer import DOCUMENTS
from lint_rules.paths import is_notebook

if TYPE_CHECKING:
    from lint_rules.files import Trouble
    from lint_rules.finding import Finding
    from lint_rules.output.page import Page
    from lint_rules.run import Plan, Sifted


def report(
    sifted: Sifted,
    plan: Plan,
    output_format: str,
    args: argparse.Namespace,
    paths: Sequence[str],
    source: bytes | None,
) -> int:
    """Print what was found and done, and tell the exit code."""
    outcomes = sifted.outcomes
    # most runs print nothing that needs it
    page = cache(lambda: page_of(args, source, plan)._replace(fixes=args.show_fixes))
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    if args.fix_only or args.diff:
        findings = [finding for finding in findings if finding.code == NOT_ANALYSED]
    _print_findings(findings, output_format, args, page)
    troubles = all_troubles(plan, outcomes)
    complain_of(troubles, paths, plan, quiet=args.quiet)
    for line in sifted.solved:
        complain("error", f"{line}: `looplint baseline` takes out what is solved, so that it cannot come back unseen")
    for outcome in outcomes if not args.quiet else ():
        for misread in outcome.misread:
            complain("warning", f"{at(outcome.path, misread.line, page)}: {misread.message}")
    tell_fixes(outcomes, output_format, args, page)
    if output_format == "text" and not args.quiet:
        if not args.fix_only and not args.diff:
            print(summary(findings, sifted, troubles))
        if offer := offer_of(findings, args.unsafe_fixes):
            print(offer)
    would_change = args.diff and any(outcome.rewrite is not None for outcome in outcomes)
    return exit_code(findings, troubles, args.exit_zero, open_ends=would_change or bool(sifted.solved))


def _print_findings(
    findings: Sequence[Finding], output_format: str, args: argparse.Namespace, page: Callable[[], Page]
) -> None:
    if not findings and output_format not in DOCUMENTS:
        return
    from lint_rules.output import renderer

    if not args.statistics:
        if any(is_notebook(finding.path) for finding in findings):
            from lint_rules.output.cells import in_cells

            lines = renderer(output_format)(*in_cells(findings, page()))
        else:
            lines = renderer(output_format)(findings, page())
    else:
        from lint_rules.output import statistics

        lines = statistics.render_json(findings) if output_format == "json" else statistics.render(findings)
    for line in lines:
        print(line)


def summary(findings: Sequence[Finding], sifted: Sifted, troubles: Iterable[Trouble]) -> str:
    """`Found 3 problems in 2 files (12 files checked).` and its kin."""
    outcomes = sifted.outcomes
    problems = [finding for finding in findings if finding.code != NOT_ANALYSED]
    not_analysed = len({finding.path for finding in findings if finding.code == NOT_ANALYSED})
    unread = sum(outcome.error is not None for outcome in outcomes)
    suppressed = sum(outcome.suppressed for outcome in outcomes)
    unsaved = sum(outcome.unsaved is not None for outcome in outcomes)
    failures = not_analysed + sum(trouble.fatal for trouble in troubles) - unsaved
    checked = f"{count(len(outcomes) - not_analysed - unread, 'file')} checked"
    if failures:
        checked += f", {failures} could not be checked"
    if unsaved:
        checked += f", {unsaved} could not be written"
    if suppressed:
        checked += f", {count(suppressed, 'problem')} suppressed by noqa"
    if sifted.known:
        checked += f", {count(sifted.known, 'problem')} in the baseline"
    if sifted.unchanged:
        checked += f", {count(sifted.unchanged, 'problem')} on lines that did not change"
    if problems:
        places = len({finding.path for finding in problems})
        return f"Found {count(len(problems), 'problem')} in {count(places, 'file')} ({checked})."
    is_clear = outcomes and not failures and not unsaved
    return f"All clear: {checked}." if is_clear else f"No problems found ({checked})."
