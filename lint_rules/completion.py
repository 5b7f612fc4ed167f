"""Completion of the command line by a shell, written by shtab from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

_PATHS = {"PATH": "FILE", "FILE": "FILE", "FOLDER": "DIRECTORY"}
"""By the word for a value in the help, what shtab completes it with."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """What a shell reads to complete words of `looplint`. Raises ImportError where shtab is not installed."""
    import shtab

    for action in _actions(parser):
        kind = _PATHS.get(str(action.metavar))
        if kind is not None:
            action.complete = getattr(shtab, kind)  # type: ignore[attr-defined]  # shtab's way
    text: str = shtab.complete(parser, shell)
    return text


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
