"""Patterns of paths, as git reads them from .gitignore files. Knows nothing of settings or files.

Our own, because of what the library does: pathspec 1.1 makes one regular expression of a pattern, which tries
`*a*a*a*a*b` in countless ways, and it differs from git on one in four of the random .gitignore files of our tests.
Here a pattern is matched name by name, in a time proportional to its length times that of the path. As in git, names
are bytes, and `?` is one of them.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

ALTERNATIVES = 1000
"""How many patterns one with braces may stand for."""

Test = Callable[[bytes], object]
"""True if a name, the part of a path between two slashes, is meant."""


class Patterns:
    """Patterns that hold below one folder. Of two that match, the later one counts.

    A pattern without a slash (`build`, `*_pb2.py`) matches a name at any depth, one with a slash (`src/gen`) a place
    below the folder. Outside the folder only names match.
    """

    def __init__(self, folder: str, lines: Iterable[bytes]) -> None:
        """`folder` is absolute. As in git, lines that are no patterns are skipped: `pattern_error` tells them."""
        self._folder = folder
        self._inside = os.path.join(folder, "")
        self._covered: dict[str, bool] = {}
        self._latest_first = list(_all_parsed(lines))[::-1]

    def verdict(self, path: str, is_dir: bool = False) -> bool | None:
        """What is said of this very, absolute path: True it matches, False it is taken back by `!`, None nothing."""
        if path == self._folder:
            return None
        inside = path.startswith(self._inside)
        relative = path[len(self._inside) :] if inside else os.path.basename(path)
        names = os.fsencode(relative.replace(os.sep, "/")).split(b"/")
        name = names[-1]
        for wanted, folders_only, fits, steps in self._latest_first:  # the hot loop of discovery: few calls
            if fits is not None:
                if fits(name) and (is_dir or not folders_only):
                    return wanted
            elif inside and (is_dir or not folders_only) and _leads(steps, names):
                return wanted
        return None

    def cover(self, path: str, is_dir: bool = False) -> bool:
        """Whether an absolute path, or a folder above it, matches. What is in such a folder cannot be taken back."""
        above = []
        folder = os.path.dirname(path)
        while folder.startswith(self._inside) and folder not in self._covered:
            above.append(folder)
            folder = os.path.dirname(folder)
        covered = self._covered.get(folder, False)
        for folder in reversed(above):
            covered = self._covered[folder] = covered or self.verdict(folder, is_dir=True) is True
        return covered or self.verdict(path, is_dir) is True


def ignore_lines(source: bytes) -> list[bytes]:
    """The lines of a .gitignore file that may be patterns."""
    lines = [line.removesuffix(b"\r") for line in source.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    return [line.partition(b"\0")[0] for line in lines if not line.startswith(b"#")]


def pattern_error(line: str) -> str | None:
    """What is wrong with a pattern, or None."""
    try:
        return None if all(_parsed(os.fsencode(one)) for one in alternatives(line)) else "it is empty"
    except ValueError as error:
        return str(error)


# -- one pattern --------------------------------------------------------------------------------------------------


class _Pattern(NamedTuple):
    wanted: bool
    """False after `!`."""
    folders_only: bool
    fits: Test | None
    """Of a pattern without a slash: the test for the last name of any path."""
    steps: Sequence[Test | None]
    """Of one with a slash: a test for each name of a path; None is `**`, for any number of names."""


def _leads(steps: Sequence[Test | None], names: Sequence[bytes]) -> bool:
    """Whether the steps lead through all the names. What follows a `**` is taken where it first fits: no later place
    leaves more to what comes behind it, so only the last `**` is ever tried again.
    """
    step = name = 0
    retry: tuple[int, int] | None = None
    while name < len(names):
        test = steps[step] if step < len(steps) else _never
        if test is None:
            step += 1
            retry = step, name
        elif test(names[name]):
            step, name = step + 1, name + 1
        elif retry is not None:
            step, name = retry[0], retry[1] + 1
            retry = step, name
        else:
            return False
    return step == len(steps)


def _all_parsed(lines: Iterable[bytes]) -> Iterator[_Pattern]:
    for line in lines:
        with suppress(ValueError):
            if (pattern := _parsed(line)) is not None:
                yield pattern


def _parsed(line: bytes) -> _Pattern | None:
    """A line as a pattern, None if it is empty. Raises ValueError for one that can never match, saying why."""
    line = _without_trailing_spaces(line)
    wanted = not line.startswith(b"!")
    text = line if wanted else line[1:]
    folders_only = text.endswith(b"/")
    text = text.removesuffix(b"/")
    if not text:
        return None
    segments = list(_segments(text.removeprefix(b"/")))
    if b"/" not in text:
        return _Pattern(wanted, folders_only, _test(segments[0]), ())
    steps = [None if _is_any_depth(tokens) else _test(tokens) for tokens in segments]
    if steps[-1] is None:
        steps.append(_always)  # `a/**` is all that is in `a`, and not `a`
    return _Pattern(wanted, folders_only, None, steps)


def _without_trailing_spaces(line: bytes) -> bytes:
    """A backslash keeps a space."""
    text = line.rstrip(b" ")
    backslashes = len(text) - len(text.rstrip(b"\\"))
    return line[: len(text) + 1] if backslashes % 2 else text


# -- one name of a path -------------------------------------------------------------------------------------------

_Token = frozenset[int] | None
"""The bytes that one byte of a name may be; None for `*`, any bytes."""

_ANY = frozenset(range(256)) - frozenset(b"/")

_CLASS_ITEM = re.compile(rb"\[:([^]]*):\]|(?:\\(.)|([^\\]))(?:-(?:\\(.)|([^]\\])))?", re.DOTALL)
"""Of a `[...]`: a named class, or a byte and the end of the range that it begins."""

_CLASSES = {
    name: frozenset(members.encode())
    for name, members in {
        "alnum": string.ascii_letters + string.digits,
        "alpha": string.ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, range(32))) + "\x7f",
        "digit": string.digits,
        "graph": string.ascii_letters + string.digits + string.punctuation,
        "lower": string.ascii_lowercase,
        "print": string.ascii_letters + string.digits + string.punctuation + " ",
        "punct": string.punctuation,
        "space": " \t\n\r",  # git has its own idea of it
        "upper": string.ascii_uppercase,
        "xdigit": string.hexdigits,
    }.items()
}


def _segments(text: bytes) -> Iterator[list[_Token]]:
    """What stands between the slashes of a pattern. Raises ValueError."""
    tokens: list[_Token] = []
    place = 0
    while place < len(text):
        sign = text[place : place + 1]
        place += 1
        if sign == b"*":
            tokens.append(None)
        elif sign == b"?":
            tokens.append(_ANY)
        elif sign == b"[":
            members, place = _class(text, place)
            tokens.append(members)
        else:
            if sign == b"\\":
                sign = text[place : place + 1]
                place += 1
                if not sign:
                    raise ValueError("nothing follows its last backslash")
            if sign == b"/":
                yield tokens
                tokens = []
            else:
                tokens.append(frozenset(sign))
    yield tokens


def _class(text: bytes, place: int) -> tuple[frozenset[int], int]:
    """The bytes that a `[...]` means, and where it ends; `place` is behind its bracket."""
    negated = text[place : place + 1] in (b"!", b"^") and bool(text[place : place + 1])
    start = place = place + negated
    members: frozenset[int] = frozenset()
    while text[place : place + 1] != b"]" or place == start:
        item = _CLASS_ITEM.match(text, place)
        if item is None:
            raise ValueError("its `[` is never closed")
        members |= _item_members(item)
        place = item.end()
    return _ANY - members if negated else _ANY & members, place + 1


def _item_members(item: re.Match[bytes]) -> frozenset[int]:
    name, low, high = item[1], item[2] or item[3], item[4] or item[5]
    if name is not None:
        known = _CLASSES.get(name.decode("latin-1"))
        if known is None:
            raise ValueError(f"there is no class [:{name.decode('utf-8', 'replace')}:]")
        return known
    return frozenset(low) if high is None else frozenset(low) | frozenset(range(low[0], high[0] + 1))


def _is_any_depth(tokens: Sequence[_Token]) -> bool:
    return len(tokens) > 1 and all(token is None for token in tokens)


def _test(tokens: Sequence[_Token]) -> Test:
    """Whether a name is as the tokens say. Most patterns are a name, or the start or end of one."""
    literal = bytes(byte for token in tokens if token is not None and len(token) == 1 for byte in token)
    stars = len(tokens) - len(literal)
    if stars == 0:
        return literal.__eq__
    if stars == 1 and tokens[0] is None:
        return lambda name: name.endswith(literal)
    if stars == 1 and tokens[-1] is None:
        return lambda name: name.startswith(literal)
    return _expression(tokens).match


def _expression(tokens: Sequence[_Token]) -> re.Pattern[bytes]:
    """The tokens as a regular expression that never tries twice.

    Between two stars, a piece is taken where it first fits, and that choice is final: (?=(...))\\1 is an atomic group,
    for Pythons before 3.11.
    """
    pieces = [b""]
    for token in tokens:
        if token is None:
            pieces.append(b"")
        else:
            pieces[-1] += _one_of(token)
    first, *others = pieces
    if not others:
        return re.compile(first + rb"\Z")
    *middle, last = others
    found = b"".join(rb"(?=(?P<p%d>(?s:.*?)%s))(?P=p%d)" % (n, piece, n) for n, piece in enumerate(middle) if piece)
    return re.compile(rb"%s%s(?s:.*)%s\Z" % (first, found, last))


def _one_of(members: frozenset[int]) -> bytes:
    if members == _ANY:
        return b"(?s:.)"
    if not members:
        return b"(?!)"
    few, start = (_ANY - members, b"[^") if len(members) > len(_ANY) // 2 else (members, b"[")
    return start + b"".join(rb"\x%02x" % byte for byte in sorted(few)) + b"]"


def _always(name: bytes) -> bool:
    return True


def _never(name: bytes) -> bool:
    return False


# -- braces -------------------------------------------------------------------------------------------------------


_BRACES = re.compile(r"[{},]|\\.|\[[!^]?\]?(?:\[:[a-z]*:\]|\\.|[^]\\])*\]|[^][{},\\]+|.", re.DOTALL)
"""What braces are made of, and what else a pattern is made of: an escape or a `[...]` hides them."""


def alternatives(pattern: str) -> list[str]:
    """The patterns that `{a,b}` stands for. Git has no such thing, people who configure ruff do.

    Braces without a comma are a name (`{{cookiecutter.name}}`), as in a shell. Raises ValueError for one that is
    never closed.
    """
    # For each open brace, the alternatives that are complete, and what the one we are in may be so far.
    levels: list[tuple[list[str], list[str]]] = [([], [""])]
    for part in _BRACES.findall(pattern):
        complete, current = levels[-1]
        if part == "{":
            levels.append(([], [""]))
        elif part == "," and len(levels) > 1:
            levels[-1] = ([*complete, *current], [""])
        elif part == "}" and len(levels) > 1:
            levels.pop()
            group = [*complete, *current] if complete else [f"{{{one}}}" for one in current]
            complete, before = levels[-1]
            if len(before) * len(group) > ALTERNATIVES:
                raise ValueError(f"it stands for more than {ALTERNATIVES} patterns")
            levels[-1] = complete, [one + end for one in before for end in group]
        else:
            levels[-1] = complete, [one + part for one in current]
    if len(levels) > 1:
        raise ValueError("its `{` is never closed (write `[{]` for the sign itself)")
    return levels[0][1]
