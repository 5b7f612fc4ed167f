"""`looplint server`."""

from __future__ import annotations

import argparse

from lint_rules.cli.exit_codes import NOTHING_FOUND
from lint_rules.cli.parser import Parser, UsageError
from lint_rules.rules.catalogue import rules


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    return commands.add_parser(
        "server",
        help="speak with an editor, by the language server protocol",
        description="A language server on standard input and output, which editors start. See docs/editors.md.",
    )


def run(args: argparse.Namespace) -> int:
    try:
        from lint_rules.server import serve
    except ImportError as error:
        raise UsageError('the language server needs pygls: pip install "looplint[server]"') from error
    rules()  # what cannot be imported ends the program before an editor has begun to speak
    serve()
    return NOTHING_FOUND
