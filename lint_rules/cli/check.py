"""`looplint check`."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING

from lint_rules.cli import options
from lint_rules.cli.exit_codes import FAILED, NOTHING_FOUND
from lint_rules.cli.fixes import print_diffs, print_stdin
from lint_rules.cli.output_file import to_file
from lint_rules.cli.page import page_of
from lint_rules.cli.parser import Parser, UsageError
from lint_rules.cli.report import report
from lint_rules.cli.running import all_outcomes, all_troubles, cache, complain_of
from lint_rules.cli.terminal import complain
from lint_rules.cli.wording import count
from lint_rules.errors import reason
from lint_rules.finding import NOT_ANALYSED
from lint_rules.layer import OUTPUT_FORMATS, SettingsError
from lint_rules.settings import Resolver

if TYPE_CHECKING:
    from lint_rules.baseline import Baseline
    from lint_rules.changes import Changes
    from lint_rules.run import Outcome, Plan
    from lint_rules.settings import Settings

STDIN = "-"


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("check", help="find problems in files and folders")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="file, folder, or - for standard input; the current folder if none"
    )
    parser.add_argument("--stdin-filename", metavar="FILE", help="the name and place of what standard input holds")
    _add_fixes(parser)
    options.add_rules(parser)
    _add_adoption(parser)
    options.add_files(parser)
    options.add_limits(parser)
    options.add_configuration(parser)
    _add_output(parser)
    return parser


def _add_fixes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "fixes",
        "A safe fix changes nothing but the bug; an unsafe one is right as a rule, and a person must look at it. "
        "Some are only shown, as a person has to choose something. Standard input, fixed, goes to standard output, and "
        "the report to standard error.",
    )
    group.add_argument("--fix", action="store_true", help="apply safe fixes, and report what remains")
    group.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: unsafe fixes, too")
    group.add_argument("--diff", action="store_true", help="write nothing, print what --fix would change")
    group.add_argument("--fix-only", action="store_true", help="apply fixes, and do not report what remains")
    group.add_argument(
        "--show-fixes",
        action="store_true",
        help="list the fixes that were applied, and show as a diff what that of each problem changes",
    )
    options.add_list(group, "--fixable", "RULES", "fix findings of these rules only (default: all)")
    options.add_list(group, "--unfixable", "RULES", "do not fix findings of these rules")


def _add_adoption(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is there already")
    options.add_baseline(group, "hide what is listed in this file, which `looplint baseline` writes")
    group.add_argument(
        "--diff-base", metavar="REVISION", help="report what is on lines that changed since this branch left another"
    )
    group.add_argument("--add-noqa", action="store_true", help="write a `# noqa` comment for all that is found")
    group.add_argument(
        "--report-unused-noqa",
        action="store_true",
        default=None,
        help="report `# noqa` comments that list codes of looplint's and hide nothing",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output and running")
    group.add_argument("--output-format", choices=OUTPUT_FORMATS, help="how to print what is found (default: text)")
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the report to this file")
    group.add_argument("--statistics", action="store_true", help="print the number of findings by rule instead")
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever is found in the files")
    options.add_running(group)


def run(args: argparse.Namespace) -> int:
    from lint_rules import run as checking

    resolver = Resolver(options.layer(args), config=args.config, isolated=args.isolated)
    _refuse_together(args)
    paths, source = _inputs(args)
    fix = args.fix or args.fix_only or args.diff
    plan = checking.plan(paths, resolver, source, args.stdin_filename, fix=fix, unsafe=args.unsafe_fixes)
    settings = _settings_here(args, resolver, plan)
    output_format = _output_format(args, settings)
    baseline = _baseline(settings)
    changes = _changes(args)
    write = fix and not args.diff
    if write:
        plan.troubles.extend(checking.clear(plan.tasks))
    checked = checking.check_tasks(plan.tasks, args.jobs, cache(args, resolver), write=write)
    try:
        outcomes = all_outcomes(checked, plan, args)
    except KeyboardInterrupt:
        if write and not args.quiet:
            complain("note", "stopped: files that were done are fixed, all others are as they were")
        raise
    if args.diff:
        print_diffs(outcomes, page_of(args, source, plan))
    elif fix and source is not None:
        source = print_stdin(plan, outcomes, source)
    sifted = checking.Sifted(outcomes)
    if baseline is not None or changes is not None:
        from lint_rules import adoption

        sifted = adoption.sift(outcomes, plan.tasks, baseline, changes, page_of(args, source, plan).source)
    if args.add_noqa:
        return _add_noqa(sifted.outcomes, plan, args, paths)
    # The text of standard input, once fixed, is what goes to standard output.
    taken = args.diff or (fix and source is not None)
    with to_file(args.output_file) if args.output_file else redirect_stdout(sys.stderr) if taken else nullcontext():
        return report(sifted, plan, output_format, args, paths, source)


def _inputs(args: argparse.Namespace) -> tuple[list[str], bytes | None]:
    """The paths to check, and the bytes of standard input if they are wanted."""
    paths: list[str] = args.paths or ([STDIN] if args.stdin_filename else ["."])
    if STDIN not in paths:
        if args.stdin_filename:
            raise UsageError(f"--stdin-filename names standard input, which is not among the paths: add {STDIN!r}")
        return paths, None
    try:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "closed")
        return [path for path in paths if path != STDIN], sys.stdin.buffer.read()
    except OSError as error:
        raise UsageError(f"standard input cannot be read: {reason(error)}") from error


def _settings_here(args: argparse.Namespace, resolver: Resolver, plan: Plan) -> Settings:
    """The settings of the run as a whole: of the current folder, or that of standard input."""
    from lint_rules.files import Trouble
    from lint_rules.paths import absolute

    folder = os.path.dirname(absolute(args.stdin_filename)) if args.stdin_filename else os.getcwd()
    try:
        return resolver.settings(folder)
    except SettingsError as error:
        plan.troubles.insert(0, Trouble(error.path or "", error.message))
        return Resolver(options.layer(args), isolated=True).settings(folder)


def _output_format(args: argparse.Namespace, settings: Settings) -> str:
    """The format asked for, by the command line or the configuration."""
    output_format = settings.output_format
    if args.statistics and output_format not in ("text", "concise", "json"):
        raise UsageError(f"--statistics goes with the output formats text, concise and json, not with {output_format}")
    return output_format


def _refuse_together(args: argparse.Namespace) -> None:
    """Raises UsageError for options that say two things."""
    fixing = next((word for word in ("fix", "fix_only", "diff") if getattr(args, word)), None)
    if args.add_noqa and (fixing or args.stdin_filename or STDIN in args.paths):
        raise UsageError("--add-noqa writes comments into files: not with --fix or --diff, nor into standard input")


def _baseline(settings: Settings) -> Baseline | None:
    if settings.baseline is None:
        return None
    from lint_rules.baseline import Baseline

    return Baseline.read(settings.baseline)


def _changes(args: argparse.Namespace) -> Changes | None:
    if args.diff_base is None:
        return None
    from lint_rules.changes import Changes

    return Changes(args.diff_base)


def _add_noqa(outcomes: Sequence[Outcome], plan: Plan, args: argparse.Namespace, paths: Sequence[str]) -> int:
    """Write comments for what was found."""
    from lint_rules import adoption

    added, refused = adoption.add_noqa(outcomes)
    troubles = [*all_troubles(plan, outcomes), *refused]
    complain_of(troubles, paths, plan, quiet=args.quiet)
    if not args.quiet:
        print(f"Added {count(added, 'noqa directive')}.")
    unread = [finding for outcome in outcomes for finding in outcome.findings if finding.code == NOT_ANALYSED]
    for finding in unread:
        complain("error", f"{finding.path}: {finding.message}")
    return FAILED if unread or any(trouble.fatal for trouble in troubles) else NOTHING_FOUND
