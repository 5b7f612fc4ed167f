"""`looplint baseline`."""

from __future__ import annotations

import argparse
import os

from lint_rules.cli import options
from lint_rules.cli.exit_codes import FAILED, NOTHING_FOUND
from lint_rules.cli.page import page_of
from lint_rules.cli.parser import Parser
from lint_rules.cli.running import all_outcomes, all_troubles, cache, complain_of
from lint_rules.cli.wording import count
from lint_rules.finding import NOT_ANALYSED
from lint_rules.settings import Resolver


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "baseline",
        help="list what is found in a file, to be hidden until it is solved",
        description="Lists what is found in a file. If there is one, takes out of it what is solved.",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="file or folder; the current folder if none")
    parser.add_argument("--add-new", action="store_true", help="put into the file what is new, too")
    options.add_baseline(parser, "the file (default: that of the configuration, or looplint-baseline.json)")
    options.add_rules(parser)
    options.add_files(parser)
    options.add_limits(parser)
    options.add_configuration(parser)
    options.add_running(parser.add_argument_group("running"))
    parser.set_defaults(stdin_filename=None)
    return parser


def run(args: argparse.Namespace) -> int:
    from lint_rules import adoption
    from lint_rules import run as checking
    from lint_rules.baseline import FILE
    from lint_rules.paths import shown

    resolver = Resolver(options.layer(args), config=args.config, isolated=args.isolated)
    paths: list[str] = args.paths or ["."]
    settings = resolver.settings(os.getcwd())
    path = settings.baseline or os.path.join(settings.file.folder, FILE)
    plan = checking.plan(paths, resolver)
    outcomes = all_outcomes(checking.check_tasks(plan.tasks, args.jobs, cache(args, resolver)), plan, args)
    written = adoption.write_baseline(path, outcomes, plan.tasks, page_of(args, None, plan).source, add=args.add_new)
    troubles = all_troubles(plan, outcomes)
    complain_of(troubles, paths, plan, quiet=args.quiet)
    if not args.quiet:
        name = shown(path)
        if written.is_first:
            print(f"Wrote {count(written.listed, 'problem')} to {name}.")
        else:
            print(f"Took {count(written.solved, 'solved problem')} out of {name}; {written.listed} are left in it.")
        if written.added:
            print(f"Added {count(written.added, 'new problem')}.")
        if written.new:
            print(f"Left out {count(written.new, 'new problem')}: correct them, or put them in with --add-new.")
        if settings.baseline is None:
            print(f'To use it, write `baseline = "{name}"` under [tool.looplint] in pyproject.toml.')
    unread = any(finding.code == NOT_ANALYSED for outcome in outcomes for finding in outcome.findings)
    return FAILED if unread or any(trouble.fatal for trouble in troubles) else NOTHING_FOUND
