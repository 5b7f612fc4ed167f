"""The words of the command line, read: which commands there are, and complaints in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NoReturn

from lint_rules import __version__
from lint_rules.layer import suggestion

COMMANDS = {
    "check": "check",
    "baseline": "baseline",
    "rules": "rules",
    "explain": "explain",
    "map": "map",
    "init": "init",
    "server": "server",
    "generate-shell-completion": "completion",
}
"""Each command, with the module here that holds its words (`add`) and does it (`run`)."""

Command = Callable[[argparse.Namespace], int]
"""Does what it is told, and returns the exit code."""


class UsageError(Exception):
    """The command line cannot be understood; the message is one line."""


class _Blind(argparse.HelpFormatter):
    """Does not look for the width of the terminal: argparse makes a formatter for each option, only to check it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class Parser(argparse.ArgumentParser):
    """Raises its complaints instead of printing half a page of usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Blind, allow_abbrev=False, **options)

    def print_help(self, file: Any = None) -> None:
        self.formatter_class = argparse.HelpFormatter
        super().print_help(file)

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse's own keeps quiet about a write that fails

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = super().parse_known_args(args, namespace)
        option = next((word.partition("=")[0] for word in unknown if word.startswith("-")), None)
        if option is not None:
            self.error(f"there is no option {option}{suggestion(option, self._option_string_actions)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; `{self.prog} --help` shows what there is")


def parser_of(commands: Iterable[str]) -> argparse.ArgumentParser:
    """Reads a command line with one of these commands; `run` of what it gives is the command.

    It raises UsageError instead of leaving.
    """
    top = Parser(
        prog="looplint",
        description="The linter for agent loops: programs in which a language model calls tools in rounds.",
        epilog="Exit codes: 0 nothing found, 1 problems found, 2 something could not be done.",
    )
    top.add_argument("--version", action="version", version=f"looplint {__version__}")
    below = top.add_subparsers(title="commands", dest="command", metavar="COMMAND", prog=top.prog)
    for name in commands:
        command = import_module(f"lint_rules.cli.{COMMANDS[name]}")
        command.add(below).set_defaults(run=command.run)
    return top
