"""`looplint generate-shell-completion`."""

from __future__ import annotations

import argparse

from lint_rules.cli.exit_codes import NOTHING_FOUND
from lint_rules.cli.parser import COMMANDS, Parser, UsageError, parser_of

SHELLS = ("bash", "zsh", "fish", "tcsh")


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("generate-shell-completion", help="print what a shell needs to complete words")
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    return parser


def run(args: argparse.Namespace) -> int:
    from lint_rules import completion

    try:
        print(completion.script(parser_of(COMMANDS), args.shell))
    except ImportError as error:
        raise UsageError('shell completion needs shtab: pip install "looplint[completion]"') from error
    return NOTHING_FOUND
