"""What all commands that check files do: watch, keep what was found, and say what went wrong."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lint_rules.cli.terminal import complain
from lint_rules.layer import SettingsError

if TYPE_CHECKING:
    from lint_rules.cache import Cache
    from lint_rules.files import Trouble
    from lint_rules.run import Outcome, Plan
    from lint_rules.settings import Resolver


def all_outcomes(outcomes: Iterator[Outcome], plan: Plan, args: argparse.Namespace) -> list[Outcome]:
    """All outcomes; on a terminal with a bar, if they take their time."""
    if args.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return list(outcomes)
    from lint_rules.output.progress import watched

    return list(watched(outcomes, len(plan.tasks), sys.stderr))


def cache(args: argparse.Namespace, resolver: Resolver) -> Cache | None:
    """What earlier runs found, where that may be used."""
    if args.no_cache:
        return None
    from lint_rules.cache import Cache

    try:
        return Cache(resolver.settings(os.getcwd()).cache_dir)
    except SettingsError:
        return None  # already noted


def all_troubles(plan: Plan, outcomes: Iterable[Outcome]) -> list[Trouble]:
    """All paths that could not be looked at, each said once."""
    from lint_rules.files import Trouble

    whys = ((outcome.path, why) for outcome in outcomes for why in (outcome.error, outcome.unsaved))
    return list(dict.fromkeys([*plan.troubles, *(Trouble(path, why) for path, why in whys if why is not None)]))


def complain_of(troubles: Sequence[Trouble], paths: Sequence[str], plan: Plan, *, quiet: bool) -> None:
    """One line on stderr for each thing that went wrong and, unless quiet, for each that may surprise."""
    for trouble in troubles:
        if trouble.fatal or not quiet:
            complain("error" if trouble.fatal else "note", f"{trouble.path}: {trouble.message}")
    if quiet:
        return
    if not plan.tasks and not any(trouble.fatal for trouble in troubles):
        where = ", ".join(paths) or "standard input"
        complain("warning", f"no Python files to check in {where} (.gitignore files and exclusions leave files out)")
    if plan.tasks and not any(task.options.codes for task in plan.tasks):
        complain("note", "no rule is selected, so nothing can be found")
