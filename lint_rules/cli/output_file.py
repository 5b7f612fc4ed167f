"""Output that goes to a file."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from lint_rules.cli.parser import UsageError
from lint_rules.errors import reason


@contextmanager
def to_file(path: str) -> Iterator[None]:
    """What is printed inside goes to a file: all of it, at the end, or nothing. Raises UsageError."""
    from lint_rules import saving

    with redirect_stdout(io.StringIO()) as printed:
        yield
    text = printed.getvalue().encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a device, a pipe: /dev/stdout
            with open(path, "wb") as file:
                file.write(text)
            return
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        saving.replace(os.path.realpath(path), text)
    except OSError as error:
        raise UsageError(
            f"--output-file {path}: {error if isinstance(error, saving.Refused) else reason(error)}"
        ) from error
