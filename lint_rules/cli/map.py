"""`looplint map`."""

from __future__ import annotations

import argparse
import os

from lint_rules.cli import options
from lint_rules.cli.exit_codes import NOTHING_FOUND
from lint_rules.cli.parser import Parser, UsageError
from lint_rules.errors import reason
from lint_rules.paths import is_notebook
from lint_rules.settings import Resolver


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "map", help="show what a file's parts were taken for: why there is, or is not, a finding"
    )
    parser.add_argument("file", metavar="FILE")
    options.add_configuration(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    from lint_rules import check, files
    from lint_rules.paths import absolute, shown

    path = absolute(args.file)
    resolver = Resolver(options.layer(args), config=args.config, isolated=args.isolated)
    asked = resolver.settings(os.path.dirname(path)).options(path)
    try:
        source = files.read(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{args.file}: {reason(error)}") from error
    try:
        source = files.as_program(source, path)
        outline = check.map_source(source, shown(path), asked, neighbours=files.neighbours)
    except ValueError as error:
        raise UsageError(f"{args.file}: {error}") from error
    if is_notebook(path):
        from lint_rules.notebook import Cells

        outline = Cells(source.decode()).said(outline)
    print(outline)
    return NOTHING_FOUND
