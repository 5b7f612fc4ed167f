"""`looplint rules`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from lint_rules.cli.exit_codes import NOTHING_FOUND
from lint_rules.cli.parser import Parser
from lint_rules.rules.catalogue import RULES, Rule


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("rules", help="list the rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def run(args: argparse.Namespace) -> int:
    print_rules(RULES, args.output_format)
    return NOTHING_FOUND


def print_rules(rules: Iterable[Rule], output_format: str = "text") -> None:
    rows = [(rule.code, rule.name, rule.group, rule.summary) for rule in rules]
    columns = ("code", "name", "group", "summary")
    if output_format == "json":
        import json

        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
        return
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
