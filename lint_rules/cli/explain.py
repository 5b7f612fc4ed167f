"""`looplint explain`."""

from __future__ import annotations

import argparse

from lint_rules.cli.exit_codes import NOTHING_FOUND
from lint_rules.cli.parser import Parser, UsageError
from lint_rules.cli.rules import print_rules
from lint_rules.finding import NOT_ANALYSED, UNUSED_NOQA
from lint_rules.layer import unknown_rule
from lint_rules.rules.catalogue import matching, rules


def add(commands: argparse._SubParsersAction[Parser]) -> argparse.ArgumentParser:
    parser = commands.add_parser("explain", help="print the page of a rule")
    parser.add_argument("rule", metavar="RULE", help="code or name of a rule; a prefix (AGL5) lists its rules")
    return parser


def run(args: argparse.Namespace) -> int:
    if args.rule in _PAGES:
        print(_PAGES[args.rule])
        return NOTHING_FOUND
    codes = matching(args.rule)
    found = [rule for rule in rules() if rule.code in codes]
    if not found:
        raise UsageError(f"{unknown_rule(args.rule)}; `looplint rules` lists the rules")
    if len(found) == 1:
        print(found[0].page().strip())
    else:
        print_rules(found)
    return NOTHING_FOUND


_PAGES = {
    NOT_ANALYSED: f"""\
# not-analysed ({NOT_ANALYSED})

The file could not be analysed: it is not valid Python for the interpreter that runs looplint, it cannot be decoded,
it is larger than `max-file-bytes` or `max-file-nodes` allow or took longer than `max-file-seconds`, it is
no notebook of format 4, or looplint itself failed on it. Nothing is known about the file, or, where one rule failed,
nothing of what that rule would have found; so `looplint check` exits with 2.

Correct the file, run looplint with a Python that understands it, or leave the file out with `--exclude`.""",
    UNUSED_NOQA: f"""\
# unused-noqa ({UNUSED_NOQA})

A `# noqa` comment lists a code of looplint's, and nothing with this code is found where it stands: the code was
corrected since, or the comment stood in the wrong place from the start. It would hide the next such problem unseen.

Reported with `--report-unused-noqa` only. A comment without codes is never reported, for it may be meant for others;
nor is a code whose rule is not selected, or one of another linter's.

Take the code out of the comment, or the comment out of the line.""",
}
