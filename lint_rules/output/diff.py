"""What fixes change, as a unified diff: exact bytes for `git apply`, or text for a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import unified_diff

from lint_rules.output.page import Page, plain, visible
from lint_rules.paths import posix

_STYLES = {"+": "added", "-": "removed", "@": "frame", " ": "plain"}


def patch(path: str, before: bytes, after: bytes) -> Iterator[bytes]:
    """The lines of the diff of one file, with their line ends. `path` is relative to where it will be applied."""
    # As Latin-1, text is bytes; the names are ASCII.
    lines = _diff(_quoted(f"a/{_relative(path)}"), _quoted(f"b/{_relative(path)}"), _latin(before), _latin(after))
    for line in lines:
        yield line.encode("latin-1")
        if not line.endswith("\n"):
            yield b"\n\\ No newline at end of file\n"


def render(path: str, before: str, after: str, page: Page) -> Iterator[str]:
    """The lines of the diff of one file, without their line ends; a terminal shows all of them and obeys none."""
    shown = plain(_relative(path))
    for number, line in enumerate(_diff(f"a/{shown}", f"b/{shown}", before, after)):
        style = "path" if number < 2 else _STYLES[line[0]]
        yield page.paint(style, "".join(c if c == "\t" else visible(c) for c in line.rstrip("\r\n")))
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _diff(old: str, new: str, before: str, after: str) -> Iterator[str]:
    return unified_diff(_lines(before), _lines(after), old, new)


def _lines(text: str) -> list[str]:
    """The lines with their ends, as git sees them; str.splitlines ends lines elsewhere, too."""
    return [line + "\n" for line in text.split("\n")[:-1]] + [last for last in text.split("\n")[-1:] if last]


def _latin(source: bytes) -> str:
    return source.decode("latin-1")


def _relative(path: str) -> str:
    """As in git, the path of a file elsewhere starts at the root."""
    return posix(path).lstrip("/")


def _quoted(name: str) -> str:
    """A name as git writes it: in quotes with octal escapes if it must be; a tab ends one with spaces."""
    text = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in os.fsencode(name)
    )
    return f'"{text}"' if "\\" in text else text + "\t" * (" " in text)
