"""Options that several commands have, and what they set."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from lint_rules.cli.parser import UsageError
from lint_rules.layer import Layer, SettingsError, check_patterns, parse_file_ignores, selectors
from lint_rules.limits import Limits


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


def add_rules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "which rules", "RULES is a list of codes (AGL301), prefixes (AGL3) and names, with commas between them."
    )
    add_list(group, "--select", "RULES", "use these rules, instead of the default ones")
    add_list(group, "--extend-select", "RULES", "use these rules, too")
    add_list(group, "--ignore", "RULES", "do not use these rules")
    add_list(group, "--per-file-ignores", "PATTERN:RULES", "do not use these rules in files that match")


def add_baseline(group: argparse._ActionsContainer, text: str) -> None:
    group.add_argument("--baseline", metavar="FILE", help=text)


def add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "which files",
        "Folders are searched for .py, .pyw and .ipynb files, without what .gitignore files or exclusions leave out. "
        "PATTERNS are as in .gitignore, {a,b} means either; they are relative to the current folder.",
    )
    add_list(group, "--exclude", "PATTERNS", "leave these out, instead of the default ones (.venv, build, ...)")
    add_list(group, "--extend-exclude", "PATTERNS", "leave these out, too")
    group.add_argument(
        "--force-exclude",
        action="store_true",
        default=None,
        help="leave out what is excluded or ignored even if it is named as PATH",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "limits", "A file that costs more is not analysed, and said to be; 0 is no limit. No file of people comes near."
    )
    for name, most in Limits()._asdict().items():
        what = {"bytes": "so large", "nodes": "of so many syntax nodes", "seconds": "in so many seconds of CPU time"}
        group.add_argument(
            f"--max-file-{name}", type=_limit, metavar="N", help=f"analyse files {what[name]} (default: {most:,})"
        )


def add_configuration(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "configuration", "[tool.looplint] in the nearest pyproject.toml knows most options; the command line beats it."
    )
    one = group.add_mutually_exclusive_group()
    one.add_argument("--config", metavar="FILE", help="use this pyproject.toml, or TOML file with options, only")
    one.add_argument("--isolated", action="store_true", help="use no configuration file")
    add_list(group, "--llm-calls", "NAMES", "functions of yours that call a model (my.wrapper.complete)")
    add_list(group, "--history-names", "NAMES", "names under which your code keeps message histories")
    add_list(group, "--tool-call-attributes", "NAMES", "attributes that hold the tool calls of a message")


def add_running(group: argparse._ActionsContainer) -> None:
    add_quiet(group)
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours; auto: on a terminal, unless NO_COLOR or FORCE_COLOR say otherwise",
    )
    add_cost(group)


def add_cost(group: argparse._ActionsContainer) -> None:
    group.add_argument("-j", "--jobs", type=_jobs, metavar="N", help="processes at most (default: one a CPU)")
    group.add_argument("--no-cache", action="store_true", help="analyse every file anew, and keep nothing of it")
    group.add_argument("--cache-dir", metavar="FOLDER", help="where to keep what was found (default: .looplint_cache)")


def add_quiet(group: argparse._ActionsContainer) -> None:
    group.add_argument("-q", "--quiet", action="store_true", help="print findings and errors, nothing else")


def add_list(group: argparse._ActionsContainer, option: str, metavar: str, text: str) -> None:
    group.add_argument(option, action="append", metavar=metavar, help=text)


def _limit(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number from 0 up (0 is no limit), got {word!r}")
    return int(word)


def _jobs(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {word!r}")
    return int(word)
