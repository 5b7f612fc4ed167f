"""What one place says of the settings, a configuration file or the command line, in words that have been checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from lint_rules.finding import NOT_ANALYSED, UNUSED_NOQA
from lint_rules.patterns import pattern_error
from lint_rules.rules.catalogue import by_code, by_name, matching

OUTPUT_FORMATS = ("text", "concise", "json", "github", "gitlab", "sarif", "junit")
DOCUMENTS = ("json", "gitlab", "sarif", "junit")
"""Formats that say so where nothing was found: without a word, they are no document."""

FOREIGN_CODE = r"^(?!AGL)[A-Z]{1,3}[0-9]{0,3}$"
"""What a code of another package's, or a prefix of some, looks like."""

Selectors = tuple[str, ...]
FileIgnores = tuple[tuple[str, Selectors], ...]


class SettingsError(ValueError):
    """Something asked for cannot be had. `path` is the configuration file that asked, None for the command line."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message if path is None else f"{path}: {message}")
        self.message = message
        self.path = path


class Layer(NamedTuple):
    """What one place says: a configuration file or the command line. None where it says nothing."""

    folder: str
    """Absolute; patterns are relative to it."""
    select: Selectors | None = None
    extend_select: Selectors | None = None
    ignore: Selectors | None = None
    per_file_ignores: FileIgnores | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] | None = None
    force_exclude: bool | None = None
    report_unused_noqa: bool | None = None
    baseline: str | None = None
    fixable: Selectors | None = None
    unfixable: Selectors | None = None
    output_format: str | None = None
    cache_dir: str | None = None
    llm_calls: tuple[str, ...] | None = None
    history_names: tuple[str, ...] | None = None
    tool_call_attributes: tuple[str, ...] | None = None
    max_file_bytes: int | None = None
    max_file_nodes: int | None = None
    max_file_seconds: int | None = None


def selectors(words: Iterable[str]) -> Selectors:
    """Checked selectors: codes, prefixes and names of rules. Raises SettingsError for a word that names no rule."""
    words = tuple(words)
    for word in words:
        if not matching(word):
            raise SettingsError(f"{unknown_rule(word)}; `looplint rules` lists the rules")
    return words


def unknown_rule(word: str) -> str:
    """Says that a word names no rule, with the nearest word that does."""
    if word == NOT_ANALYSED:
        return f"{word} is the notice that a file could not be analysed and cannot be switched on or off"
    if word == UNUSED_NOQA:
        return f"{word} tells of comments that hide nothing: `--report-unused-noqa` switches it on"
    prefixes = {code[:length] for code in by_code() for length in range(3, len(code) + 1)}
    # Codes are compared in capitals, for `agl301` is the likeliest slip of all.
    hint = suggestion(word.upper(), prefixes) or suggestion(word.lower(), by_name())
    if re.search(FOREIGN_CODE, word):
        hint += "; if it is a rule of another package, install that beside looplint"
    return f"no rule has the code, prefix or name {word!r}{hint}"


def suggestion(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the known word that is nearest, or nothing."""
    from difflib import get_close_matches  # only needed when something is wrong

    near = get_close_matches(word, sorted(known, key=len, reverse=True), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def parse_file_ignores(words: Iterable[str]) -> FileIgnores:
    """`pattern:CODE,CODE,pattern:CODE`, split at its commas, as pairs. Raises SettingsError."""
    found: dict[str, Selectors] = {}
    pattern = ""
    for word in words:
        # From the right, for a pattern may start with a drive letter; a word without a colon is one more code.
        left, colon, code = word.rpartition(":")
        pattern = left.strip() if colon else pattern
        if not pattern:
            raise SettingsError(f"expected PATTERN:CODE, got {word!r}")
        found[checked_pattern(pattern)] = (*found.get(pattern, ()), *selectors([code.strip()]))
    return tuple(found.items())


def check_patterns(lines: Iterable[str]) -> tuple[str, ...]:
    """The patterns themselves. Raises SettingsError for one that cannot be understood."""
    return tuple(checked_pattern(line) for line in lines)


def checked_pattern(pattern: str) -> str:
    wrong = pattern_error(pattern)
    if wrong is not None:
        raise SettingsError(f"{pattern!r} is not a pattern of paths: {wrong}")
    return pattern
