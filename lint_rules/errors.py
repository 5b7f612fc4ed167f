"""What went wrong, in one line for people. Imports next to nothing, for it must work when nothing else does."""

from __future__ import annotations

import errno
import os

PLEASE_REPORT = "this is a bug in looplint: please report it, with the file"


def reason(error: Exception) -> str:
    """Why a path could not be looked at: `error` is an OSError, or the ValueError of a path that is none."""
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "a symbolic link that leads back to itself"
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return f"not a path: {error}"


def describe(error: BaseException) -> str:
    """An unexpected exception: what, and where."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace else ""
    return " ".join(f"{type(error).__name__}: {error}".split()) + place
