"""`looplint init`."""

from __future__ import annotations

import argparse
import os

from lint_rules.cli import options
from lint_rules.cli.exit_codes import NOTHING_FOUND
from lint_rules.cli.parser import Parser, UsageError
from lint_rules.cli.running import all_outcomes
from lint_rules.cli.wording import count
from lint_rules.settings import Resolver


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "init",
        help="write a [tool.looplint] table, made from what is seen in the current folder",
        description="Writes a [tool.looplint] table to the end of pyproject.toml, made from what is seen in the "
        "current folder. What only you can answer stands in its comments.",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the table, and write nothing")
    parser.set_defaults(stdin_filename=None, config=None, isolated=True, color="auto")
    options.add_quiet(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    from lint_rules import beginning, saving
    from lint_rules import run as checking
    from lint_rules.configuration import read_pyproject

    path = os.path.join(os.getcwd(), "pyproject.toml")
    if read_pyproject(path) is not None:
        raise UsageError("pyproject.toml has a [tool.looplint] table: `looplint check` uses it")
    plan = checking.plan(["."], Resolver(options.layer(args), isolated=True))
    outcomes = all_outcomes(checking.check_tasks(plan.tasks), plan, args)
    seen = beginning.look(plan.tasks, outcomes)
    table = beginning.table(seen)
    if args.dry_run:
        print(table, end="")
        return NOTHING_FOUND
    try:
        with open(path, "rb") as file:
            before = file.read()
    except FileNotFoundError:
        saving.replace(path, table.encode())
    else:
        end = b"\r\n" if b"\r\n" in before else b"\n"
        gap = end * (2 - before.endswith(b"\n")) if before else b""
        saving.save(path, before, before + gap + table.encode().replace(b"\n", end))
    if not args.quiet:
        print(f"Wrote [tool.looplint] to pyproject.toml: {count(seen.agents, 'file')} with parts of an agent,")
        print(f"{count(seen.problems, 'problem')}, {count(len(seen.strangers), 'function')} that may ask a model.")
    return NOTHING_FOUND
