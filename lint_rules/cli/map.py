"""`looplint map`."""

from __future__ import annotations

import argparse
from contextlib import nullcontext

from lint_rules.cli import options
from lint_rules.cli.exit_codes import FAILED, NOTHING_FOUND
from lint_rules.cli.output_file import to_file
from lint_rules.cli.parser import Parser
from lint_rules.cli.running import all_outcomes, cache, complain_of
from lint_rules.settings import Resolver


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    from lint_rules.output.maps import FORMATS

    parser = commands.add_parser(
        "map",
        help="draw the rounds of agents, and what values were taken for: why there is, or is not, a finding",
        description="Draws the loops of rounds with their parts and what is found in them, and tells what each value "
        "was taken for, and why.",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="file or folder; the current folder if none")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--format",
        "--output-format",
        dest="format",
        choices=FORMATS,
        default="text",
        help="text; json for programs; mermaid for Markdown; html, one page that needs nothing else (default: text)",
    )
    output.add_argument("-o", "--output-file", metavar="FILE", help="write it to this file")
    options.add_rules(parser)
    options.add_files(parser)
    options.add_limits(parser)
    options.add_configuration(parser)
    running = parser.add_argument_group("running")
    options.add_quiet(running)
    options.add_cost(running)
    return parser


def run(args: argparse.Namespace) -> int:
    from lint_rules import maps
    from lint_rules import run as checking
    from lint_rules.files import Trouble
    from lint_rules.output.maps import renderer

    resolver = Resolver(options.layer(args), config=args.config, isolated=args.isolated)
    paths: list[str] = args.paths or ["."]
    plan = checking.plan(paths, resolver)
    outcomes = all_outcomes(checking.check_tasks(plan.tasks, args.jobs, cache(args, resolver)), plan, args)
    drawn = list(maps.sheets(plan.tasks, outcomes))
    troubles = [*plan.troubles, *(each for each in drawn if isinstance(each, Trouble))]
    complain_of(troubles, paths, plan, quiet=args.quiet)
    sheets = [each for each in drawn if not isinstance(each, Trouble)]
    if sheets or not troubles:
        with to_file(args.output_file) if args.output_file else nullcontext():
            for line in renderer(args.format)(sheets):
                print(line)
    return FAILED if any(trouble.fatal for trouble in troubles) else NOTHING_FOUND
