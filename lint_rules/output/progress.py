"""How far a long run has come: one line on a terminal, that is gone at the end."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TextIO, TypeVar

Item = TypeVar("Item")

PATIENCE = 2.0
"""Seconds for which nothing is shown: most runs are over by then."""
_PAUSE = 0.1
_WIDTH = 30


def watched(items: Iterable[Item], total: int, stream: TextIO) -> Iterator[Item]:
    """The items as they come; how many of `total` have come is shown on `stream`, a terminal."""
    next_time = time.monotonic() + PATIENCE
    shown = False
    try:
        for number, item in enumerate(items, 1):
            yield item
            if time.monotonic() >= next_time:
                next_time = time.monotonic() + _PAUSE
                shown = _write(stream, "\r" + bar(number, total)) or shown
    finally:
        if shown:
            _write(stream, "\r\x1b[K")


def bar(done: int, total: int) -> str:
    filled = _WIDTH * done // max(total, 1)
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total} files"


def _write(stream: TextIO, text: str) -> bool:
    """Whether anybody can read it: a terminal may be gone."""
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
        return True
    return False
