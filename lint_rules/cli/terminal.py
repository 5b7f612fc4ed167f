"""The standard streams: kept open and printable, coloured where that is wanted, and complained on."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def wants_colour(choice: str, stream: TextIO) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def complain(kind: str, message: str) -> None:
    """One line on stderr."""
    from lint_rules.output.page import plain

    with suppress(OSError):  # when nobody listens, there is nobody to tell
        print(f"looplint: {kind}: {plain(message)}", file=sys.stderr)


def escape_unprintable() -> None:
    """Print what the terminal's encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def open_missing_streams() -> None:
    """Standard streams that were closed by whoever started us lead nowhere; else a file we open would take their place.

    Standard input stays None: who reads it is to know.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(descriptor, True)
        os.close(descriptor)
        sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def let_go(stream: TextIO) -> None:
    """Let Python's last flush of a stream go nowhere if it would fail, for it would say so and change the exit code."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
