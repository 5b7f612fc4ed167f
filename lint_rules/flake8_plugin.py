"""The flake8 door: flake8's lines and tree go to `check_source`, its findings come back as flake8's entries.

What flake8 does itself stays with flake8: noqa comments, `--ignore`, `per-file-ignores`, syntax errors (E999).
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, ClassVar, Protocol

from lint_rules import check
from lint_rules.errors import PLEASE_REPORT
from lint_rules.finding import NOT_ANALYSED, Finding, Related
from lint_rules.layer import SettingsError, selectors
from lint_rules.limits import Limits
from lint_rules.plugins.packages import PluginError
from lint_rules.rules import catalogue

Entry = tuple[int, int, str, type]
"""(line from 1, column from 0 in characters, `CODE message`, plugin class), as flake8 wants it."""

# Not one of these may begin with --enable: flake8 reads such an option as its own --enable-extensions.
_OPTIONS = {
    "--agl-llm-calls": "functions that call a model, beside the known ones",
    "--agl-history-names": "names of message histories, beside the known ones",
    "--agl-tool-call-attributes": "attributes that hold a message's tool calls, beside the known ones",
    "--agl-select": "rules to run in addition to the default ones: codes, prefixes of codes, or names",
}


class _OptionManager(Protocol):
    """The part of flake8's OptionManager used here; flake8 is an extra and ships no types."""

    parser: argparse.ArgumentParser

    def add_option(self, *args: Any, **kwargs: Any) -> None: ...

    def extend_default_ignore(self, error_codes: Sequence[str]) -> None: ...

    def extend_default_select(self, error_codes: Sequence[str]) -> None: ...


class AgentLoopPlugin:
    """flake8 makes one for each file. Nothing that goes wrong in here ends the run: it becomes AGL000 for the file."""

    # flake8 hands options to the class, once in each process; a worker inherits them or parses them again.
    options: ClassVar[check.Options]

    def __init__(self, tree: ast.Module, filename: str, lines: list[str]) -> None:
        self._tree = tree
        self._path = filename
        self._lines = lines

    @classmethod
    def add_options(cls, option_manager: _OptionManager) -> None:
        """Declare our options, for the command line and flake8's configuration files, and the opt-in rules.

        Rules of other packages are reported by this plugin, too: flake8 is told of their codes.
        """
        try:
            rules = catalogue.rules()
        except PluginError as error:
            option_manager.parser.error(f"looplint: {error}")
        option_manager.extend_default_ignore([rule.code for rule in rules if not rule.default])
        option_manager.extend_default_select(sorted({rule.code for rule in rules if rule.asks is not None}))
        for name, text in _OPTIONS.items():
            option_manager.add_option(
                name, default="", metavar="WORDS", comma_separated_list=True, parse_from_config=True, help=text
            )
        for name, most in Limits()._asdict().items():
            option_manager.add_option(
                f"--agl-max-file-{name}",
                type=int,
                default=most,
                metavar="N",
                parse_from_config=True,
                help=f"{name} that the analysis of a file may take, 0 for no limit (default: {most:,})",
            )

    @classmethod
    def parse_options(cls, option_manager: _OptionManager, options: argparse.Namespace, args: Sequence[str]) -> None:
        """Keep the options for this process. Ends flake8 with a usage error (exit code 2) on an unknown rule."""
        asked = _asked(options.agl_select, option_manager.parser)
        # For flake8, too, the user has now selected them: else it would drop them as ignored by default.
        options.extend_select = [*(options.extend_select or ()), *asked]
        cls.options = check.Options(
            codes=_enabled((*(options.select or ()), *options.extend_select)),
            vocabulary=check.Vocabulary(
                llm_calls=tuple(options.agl_llm_calls),
                history_names=tuple(options.agl_history_names),
                tool_call_attributes=tuple(options.agl_tool_call_attributes),
            ),
            limits=Limits(*(getattr(options, f"agl_max_file_{name}") for name in Limits._fields)),
        )

    def run(self) -> Iterator[Entry]:
        """The file's entries. Raises nothing."""
        try:
            entries = self._entries()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic in libcst's native parser is not an Exception
            reason = f"{NOT_ANALYSED} looplint failed on this file ({type(error).__name__}: {error}); {PLEASE_REPORT}"
            entries = [(1, 0, _one_line(reason), type(self))]
        yield from entries

    def _entries(self) -> list[Entry]:
        report = check.check_source(
            _source(self._lines),
            self._path,
            self.options,
            tree=self._tree,
            neighbours=_neighbours,
            noqa=False,  # flake8 reads the comments, and has --disable-noqa
        )
        return [(finding.span.line, finding.span.column - 1, _text(finding), type(self)) for finding in report.findings]


def _asked(words: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """Codes that the words of `--agl-select` name, sorted. An unknown word ends flake8 with a usage error."""
    try:
        chosen = selectors(words)
    except SettingsError as error:
        parser.error(f"--agl-select: {error}")
    return sorted({code for word in chosen for code in catalogue.matching(word)})


def _enabled(selected: tuple[str, ...]) -> frozenset[str]:
    """Codes of the rules to run; an opt-in rule runs when one of the selected prefixes names it.

    Decided here as well as in flake8's default ignore list, which `--ignore=E501` replaces as a whole.
    """
    return frozenset(rule.code for rule in catalogue.rules() if rule.default or rule.code.startswith(selected))


def _source(lines: list[str]) -> bytes:
    """The text flake8 read, as bytes that decode to it.

    flake8 has decoded the file and dropped its BOM. A coding cookie would have UTF-8 bytes decoded as something else,
    so the word is overwritten where a cookie can stand; the columns stay.
    """
    head = list(takewhile(_is_comment_or_blank, lines[:2]))
    text = "".join(line.replace("coding", "______") for line in head) + "".join(lines[len(head) :])
    return text.encode()


def _is_comment_or_blank(line: str) -> bool:
    return line.strip(" \t\f\r\n")[:1] in ("", "#")


def _neighbours(path: str, module: str) -> tuple[str, bytes] | None:
    """`files.neighbours`, imported when a rule first looks at another file."""
    from lint_rules.files import neighbours

    return neighbours(path, module)


def _text(finding: Finding) -> str:
    """One line: `CODE message`, and the first related place, for flake8 has room for one place only."""
    hint = f" ({_place(finding.related[0])})" if finding.related else ""
    return _one_line(f"{finding.code} {finding.message}{hint}")


def _place(related: Related) -> str:
    where = f"line {related.span.line}" if related.path is None else f"{related.path}:{related.span.line}"
    return f"see {where}: {related.message}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
