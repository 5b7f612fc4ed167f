"""The reference of the command line, made from its parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from lint_rules.cli.parser import COMMANDS, parser_of
from making import markdown


def page() -> str:
    """All commands with all options, in the words of `--help`."""
    top = parser_of(COMMANDS)
    (below,) = (action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in below._choices_actions}
    rows = ((f"[`{name}`](#looplint-{name})", summaries[name]) for name in below.choices)
    return markdown.page(
        "# Command line",
        "`looplint COMMAND --help` prints the same.",
        markdown.table(("command", "what it does"), rows),
        str(top.epilog),
        *(part for name, parser in below.choices.items() for part in _command(name, parser, summaries[name])),
    )


def _command(name: str, parser: argparse.ArgumentParser, summary: str) -> Iterator[str]:
    yield f"## `looplint {name}`"
    yield parser.description or _sentence(summary)
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if not isinstance(action, argparse._HelpAction)]
        if actions:
            yield f"### {_title(group)}"
            yield group.description or ""
            yield markdown.table(
                ("word", "what it does"), ([markdown.code(_words(action)), action.help or ""] for action in actions)
            )


def _title(group: argparse._ArgumentGroup) -> str:
    return {"positional arguments": "arguments", "optional arguments": "options"}.get(
        str(group.title), str(group.title)
    )


def _words(action: argparse.Action) -> str:
    """How an option is written: `-o, --output-file FILE`."""
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else "")
    if not action.option_strings:
        return f"{value or action.dest}{' ...' if action.nargs == '*' else ''}"
    takes = action.nargs != 0
    return f"{', '.join(action.option_strings)}{f' {value}' if takes and value else ''}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
