"""The words of the command line: which there are, and what they set."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from lint_rules import __version__
from lint_rules.layer import (
    OUTPUT_FORMATS,
    Layer,
    SettingsError,
    check_patterns,
    parse_file_ignores,
    selectors,
    suggestion,
)
from lint_rules.limits import Limits

SHELLS = ("bash", "zsh", "fish", "tcsh")

Command = Callable[[argparse.Namespace], int]
"""Does what it is told, and returns the exit code."""


class UsageError(Exception):
    """The command line cannot be understood; the message is one line."""


def layer(args: argparse.Namespace) -> Layer:
    """What the command line says. Raises SettingsError that names the option."""
    given = {name: None if value is None else _split(value) for name, value in vars(args).items() if name in _LISTS}
    values: dict[str, object] = {}
    for name, words in given.items():
        with _naming(name):
            values[name] = None if words is None else _LISTS[name](words)
    return Layer(
        folder=_current_folder(),
        force_exclude=getattr(args, "force_exclude", None),
        output_format=getattr(args, "output_format", None),
        cache_dir=getattr(args, "cache_dir", None),
        baseline=getattr(args, "baseline", None),
        report_unused_noqa=getattr(args, "report_unused_noqa", None),
        max_file_bytes=getattr(args, "max_file_bytes", None),
        max_file_nodes=getattr(args, "max_file_nodes", None),
        max_file_seconds=getattr(args, "max_file_seconds", None),
        **values,  # type: ignore[arg-type]  # each reader in _LISTS returns what its field holds
    )


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist any more") from error


_LISTS: dict[str, Callable[[list[str]], object]] = {
    "select": selectors,
    "extend_select": selectors,
    "ignore": selectors,
    "fixable": selectors,
    "unfixable": selectors,
    "per_file_ignores": parse_file_ignores,
    "exclude": check_patterns,
    "extend_exclude": check_patterns,
    "llm_calls": tuple,
    "history_names": tuple,
    "tool_call_attributes": tuple,
}


def _split(values: Iterable[str]) -> list[str]:
    """The words of comma lists, as an option may be given more than once. A comma in braces is part of a pattern."""
    return [word.strip() for value in values for word in _split_outside_braces(value) if word.strip()]


def _split_outside_braces(value: str) -> list[str]:
    words = [""]
    for piece in value.split(","):
        is_open = words[-1].count("{") > words[-1].count("}")
        words[-1:] = [f"{words[-1]},{piece}"] if is_open else [words[-1], piece]
    return words


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Puts the option's name in front of what is wrong with its value."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"--{name.replace('_', '-')}: {error.message}") from error


class _Blind(argparse.HelpFormatter):
    """Does not look for the width of the terminal: argparse makes a formatter for each option, only to check it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class _Parser(argparse.ArgumentParser):
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


def parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    """Reads a command line with one of these commands; `run` of what it gives is the command.

    It raises UsageError instead of leaving.
    """
    top = _Parser(
        prog="looplint",
        description="The linter for agent loops: programs in which a language model calls tools in rounds.",
        epilog="Exit codes: 0 nothing found, 1 problems found, 2 something could not be done.",
    )
    top.add_argument("--version", action="version", version=f"looplint {__version__}")
    below = top.add_subparsers(title="commands", dest="command", metavar="COMMAND", prog=top.prog)
    adders = {
        "check": _add_check,
        "baseline": _add_baseline,
        "rules": _add_rules,
        "explain": _add_explain,
        "map": _add_map,
        "init": _add_init,
        "server": _add_server,
        "generate-shell-completion": _add_completion,
    }
    for name, run in commands.items():
        adders[name](below).set_defaults(run=run)
    return top


def _add_check(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("check", help="find problems in files and folders")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="file, folder, or - for standard input; the current folder if none"
    )
    parser.add_argument("--stdin-filename", metavar="FILE", help="the name and place of what standard input holds")
    _add_fix_options(parser)
    _add_rule_options(parser)
    _add_adoption_options(parser)
    _add_file_options(parser)
    _add_limits(parser)
    _add_configuration_options(parser)
    _add_output_options(parser)
    return parser


def _add_fix_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "fixes",
        "A safe fix changes nothing but the bug; an unsafe one is right as a rule, and a person must look at it. "
        "Standard input, fixed, goes to standard output, and the report to standard error.",
    )
    group.add_argument("--fix", action="store_true", help="apply safe fixes, and report what remains")
    group.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: unsafe fixes, too")
    group.add_argument("--diff", action="store_true", help="write nothing, print what --fix would change")
    group.add_argument("--fix-only", action="store_true", help="apply fixes, and do not report what remains")
    group.add_argument("--show-fixes", action="store_true", help="list the fixes that were applied")
    _add_list(group, "--fixable", "RULES", "fix findings of these rules only (default: all)")
    _add_list(group, "--unfixable", "RULES", "do not fix findings of these rules")


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "which rules", "RULES is a list of codes (AGL301), prefixes (AGL3) and names, with commas between them."
    )
    _add_list(group, "--select", "RULES", "use these rules, instead of the default ones")
    _add_list(group, "--extend-select", "RULES", "use these rules, too")
    _add_list(group, "--ignore", "RULES", "do not use these rules")
    _add_list(group, "--per-file-ignores", "PATTERN:RULES", "do not use these rules in files that match")


def _add_adoption_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is there already")
    _add_baseline_option(group, "hide what is listed in this file, which `looplint baseline` writes")
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


def _add_baseline_option(group: argparse._ActionsContainer, text: str) -> None:
    group.add_argument("--baseline", metavar="FILE", help=text)


def _add_baseline(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "baseline",
        help="list what is found in a file, to be hidden until it is solved",
        description="Lists what is found in a file. If there is one, takes out of it what is solved.",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="file or folder; the current folder if none")
    parser.add_argument("--add-new", action="store_true", help="put into the file what is new, too")
    _add_baseline_option(parser, "the file (default: that of the configuration, or looplint-baseline.json)")
    _add_rule_options(parser)
    _add_file_options(parser)
    _add_limits(parser)
    _add_configuration_options(parser)
    _add_running_options(parser.add_argument_group("running"))
    parser.set_defaults(stdin_filename=None)
    return parser


def _add_file_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "which files",
        "Folders are searched for .py, .pyw and .ipynb files, without what .gitignore files or exclusions leave out. "
        "PATTERNS are as in .gitignore, {a,b} means either; they are relative to the current folder.",
    )
    _add_list(group, "--exclude", "PATTERNS", "leave these out, instead of the default ones (.venv, build, ...)")
    _add_list(group, "--extend-exclude", "PATTERNS", "leave these out, too")
    group.add_argument(
        "--force-exclude",
        action="store_true",
        default=None,
        help="leave out what is excluded or ignored even if it is named as PATH",
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "limits", "A file that costs more is not analysed, and said to be; 0 is no limit. No file of people comes near."
    )
    for name, most in Limits()._asdict().items():
        what = {"bytes": "so large", "nodes": "of so many syntax nodes", "seconds": "in so many seconds of CPU time"}
        group.add_argument(
            f"--max-file-{name}", type=_limit, metavar="N", help=f"analyse files {what[name]} (default: {most:,})"
        )


def _add_configuration_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "configuration", "[tool.looplint] in the nearest pyproject.toml knows most options; the command line beats it."
    )
    one = group.add_mutually_exclusive_group()
    one.add_argument("--config", metavar="FILE", help="use this pyproject.toml, or TOML file with options, only")
    one.add_argument("--isolated", action="store_true", help="use no configuration file")
    _add_list(group, "--llm-calls", "NAMES", "functions of yours that call a model (my.wrapper.complete)")
    _add_list(group, "--history-names", "NAMES", "names under which your code keeps message histories")
    _add_list(group, "--tool-call-attributes", "NAMES", "attributes that hold the tool calls of a message")


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output and running")
    group.add_argument("--output-format", choices=OUTPUT_FORMATS, help="how to print what is found (default: text)")
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the report to this file")
    group.add_argument("--statistics", action="store_true", help="print the number of findings by rule instead")
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever is found in the files")
    _add_running_options(group)


def _add_quiet(group: argparse._ActionsContainer) -> None:
    group.add_argument("-q", "--quiet", action="store_true", help="print findings and errors, nothing else")


def _add_running_options(group: argparse._ActionsContainer) -> None:
    _add_quiet(group)
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours; auto: on a terminal, unless NO_COLOR or FORCE_COLOR say otherwise",
    )
    group.add_argument("-j", "--jobs", type=_jobs, metavar="N", help="processes at most (default: one a CPU)")
    group.add_argument("--no-cache", action="store_true", help="analyse every file anew, and keep nothing of it")
    group.add_argument("--cache-dir", metavar="FOLDER", help="where to keep what was found (default: .looplint_cache)")


def _add_rules(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("rules", help="list the rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def _add_explain(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("explain", help="print the page of a rule")
    parser.add_argument("rule", metavar="RULE", help="code or name of a rule; a prefix (AGL5) lists its rules")
    return parser


def _add_map(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "map", help="show what a file's parts were taken for: why there is, or is not, a finding"
    )
    parser.add_argument("file", metavar="FILE")
    _add_configuration_options(parser)
    return parser


def _add_init(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "init",
        help="write a [tool.looplint] table, made from what is seen in the current folder",
        description="Writes a [tool.looplint] table to the end of pyproject.toml, made from what is seen in the "
        "current folder. What only you can answer stands in its comments.",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the table, and write nothing")
    parser.set_defaults(stdin_filename=None, config=None, isolated=True, color="auto")
    _add_quiet(parser)
    return parser


def _add_server(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    return commands.add_parser(
        "server",
        help="speak with an editor, by the language server protocol",
        description="A language server on standard input and output, which editors start. See docs/editors.md.",
    )


def _add_completion(commands: argparse._SubParsersAction[_Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("generate-shell-completion", help="print what a shell needs to complete words")
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    return parser


def _add_list(group: argparse._ActionsContainer, option: str, metavar: str, text: str) -> None:
    group.add_argument(option, action="append", metavar=metavar, help=text)


def _limit(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number from 0 up (0 is no limit), got {word!r}")
    return int(word)


def _jobs(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {word!r}")
    return int(word)
