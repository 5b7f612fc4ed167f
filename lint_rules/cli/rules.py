"""`looplint rules`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from lint_rules.cli.exit_codes import NOTHING_FOUND
from lint_rules.cli.parser import Parser
from lint_rules.rules.catalogue import Rule, rules


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("rules", help="list the rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def run(args: argparse.Namespace) -> int:
    print_rules(rules(), args.output_format)
    return NOTHING_FOUND


def print_rules(rules: Iterable[Rule], output_format: str = "text") -> None:
    columns: tuple[str, ...] = ("code", "name", "group", "package", "summary")
    rows: list[tuple[str, ...]] = [
        (rule.code, rule.name, rule.group, rule.package or "looplint", rule.summary) for rule in rules
    ]
    if output_format == "json":
        import json

        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
        return
    if all(row[3] == "looplint" for row in rows):
        columns, rows = (*columns[:3], columns[4]), [(*row[:3], row[4]) for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
