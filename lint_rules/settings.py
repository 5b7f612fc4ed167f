"""What was asked for: the command line over the nearest `[tool.looplint]`, as immutable settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from lint_rules.check import Options, Vocabulary
from lint_rules.finding import NOT_ANALYSED
from lint_rules.paths import Patterns, pattern_error, shown, upwards
from lint_rules.rules.catalogue import BY_CODE, BY_NAME, RULES, matching

CACHE_DIR = ".looplint_cache"
OUTPUT_FORMATS = ("text", "concise", "json", "github")

DEFAULT_EXCLUDE = (
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox"),
    *(".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode"),
    *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages"),
    "venv",
)

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
    fixable: Selectors | None = None
    unfixable: Selectors | None = None
    output_format: str | None = None
    cache_dir: str | None = None
    llm_calls: tuple[str, ...] | None = None
    history_names: tuple[str, ...] | None = None
    tool_call_attributes: tuple[str, ...] | None = None


class Settings:
    """The settings that hold in one folder. The command line beats the file."""

    def __init__(self, file: Layer, command: Layer) -> None:
        self.file = file
        self.command = command

    @property
    def output_format(self) -> str:
        return self.command.output_format or self.file.output_format or "text"

    @property
    def force_exclude(self) -> bool:
        """Whether exclusions hold even for paths that were named one by one."""
        return bool(self._first("force_exclude"))

    @property
    def cache_dir(self) -> str:
        """The absolute folder of the cache: beside the configuration file, unless it or the command line say else."""
        layer = self.file if self.command.cache_dir is None else self.command
        return os.path.join(layer.folder, layer.cache_dir or CACHE_DIR)

    def options(self, path: str) -> Options:
        """What to look for in the file at an absolute path."""
        silent = frozenset(
            code
            for covers, selectors in self._file_ignores
            if covers(path)
            for selector in selectors
            for code in matching(selector)
        )
        return Options(self.codes - silent, self._vocabulary)

    def excludes(self, path: str, is_dir: bool = False) -> bool:
        """Whether this very path, met on a walk, is left out."""
        return any(patterns.verdict(path, is_dir) is True for patterns in self._excluded)

    def excludes_with_parents(self, path: str, is_dir: bool = False) -> bool:
        """Whether a path, or a folder above it, is left out."""
        return any(patterns.cover(path, is_dir) for patterns in self._excluded)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Codes of the enabled rules, before per-file ignores."""
        enabled = frozenset(rule.code for rule in RULES if rule.default)
        enabled = _apply(enabled, self.file, carried=())
        # As in ruff: a `--select` forgets what the file selects, but an ignore of the file that is more specific
        # (`ignore = ["AGL301"]` under `--select AGL`) still holds.
        return _apply(enabled, self.command, carried=self.file.ignore or ())

    @cached_property
    def fixable(self) -> frozenset[str]:
        """Codes of the rules whose findings may be fixed."""
        return _codes(self._first("fixable") or tuple(BY_CODE)) - _codes(self._first("unfixable") or ())

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(
            llm_calls=self._first("llm_calls") or (),
            history_names=self._first("history_names") or (),
            tool_call_attributes=self._first("tool_call_attributes") or (),
        )

    @cached_property
    def _excluded(self) -> tuple[Patterns, ...]:
        of_file, of_command = self.file.exclude, self.command.exclude
        if of_command is not None:
            of_file = ()
        elif of_file is None:
            of_file = DEFAULT_EXCLUDE
        both = (
            (self.file.folder, (*of_file, *(self.file.extend_exclude or ()))),
            (self.command.folder, (*(of_command or ()), *(self.command.extend_exclude or ()))),
        )
        return tuple(_patterns(folder, lines) for folder, lines in both if lines)

    @cached_property
    def _file_ignores(self) -> tuple[tuple[Callable[[str], bool], Selectors], ...]:
        layer = self.file if self.command.per_file_ignores is None else self.command
        return tuple(
            (_coverage(layer.folder, pattern), selectors) for pattern, selectors in layer.per_file_ignores or ()
        )

    def _first(self, name: str) -> Any:
        """The command line's word on an option, else the file's, else None."""
        value = getattr(self.command, name)
        return getattr(self.file, name) if value is None else value


class Resolver:
    """Finds the settings of a folder. Reads each configuration file once."""

    def __init__(self, command: Layer, *, config: str | None = None, isolated: bool = False) -> None:
        """`config` is the one configuration file to use; `isolated` uses none. Raises SettingsError for `config`."""
        self._command = command
        self._none = Settings(Layer(command.folder), command)
        self._only: Settings | None = self._none if isolated else None
        self._known: dict[str, Settings | SettingsError] = {}
        if config is not None:
            self._only = Settings(read_config(config), command)

    def settings(self, folder: str) -> Settings:
        """The settings of an absolute folder. Raises SettingsError, the same one for all folders it concerns."""
        if self._only is not None:
            return self._only
        if folder not in self._known:
            self._look_up(folder)
        found = self._known[folder]
        if isinstance(found, SettingsError):
            raise found
        return found

    def _look_up(self, folder: str) -> None:
        """Fill in what is known of a folder, and of the folders between it and its configuration file."""
        passed = []
        found: Settings | SettingsError = self._none
        for above in upwards(folder):
            if above in self._known:
                found = self._known[above]
                break
            passed.append(above)
            try:
                layer = _read_pyproject(os.path.join(above, "pyproject.toml"))
            except SettingsError as error:
                found = error
                break
            if layer is not None:
                found = Settings(layer, self._command)
                break
        self._known.update(dict.fromkeys(passed, found))


def read_config(path: str) -> Layer:
    """The layer of a file named by `--config`: a pyproject.toml, or a TOML file with the options at its top level."""
    table = _read_toml(path)
    inner = _looplint_table(table, shown(path))
    if inner is not None:
        return _layer(inner, path)
    if "tool" in table or os.path.basename(path) == "pyproject.toml":
        raise SettingsError("has no [tool.looplint] table", shown(path))
    return _layer(table, path)


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
    prefixes = {code[:length] for code in BY_CODE for length in range(3, len(code) + 1)}
    # Codes are compared in capitals, for `agl301` is the likeliest slip of all.
    hint = suggestion(word.upper(), prefixes) or suggestion(word.lower(), BY_NAME)
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
        found[_checked_pattern(pattern)] = (*found.get(pattern, ()), *selectors([code.strip()]))
    return tuple(found.items())


def check_patterns(lines: Iterable[str]) -> tuple[str, ...]:
    """The patterns themselves. Raises SettingsError for one that cannot be understood."""
    return tuple(_checked_pattern(line) for line in lines)


def _checked_pattern(pattern: str) -> str:
    wrong = pattern_error(pattern)
    if wrong is not None:
        raise SettingsError(f"{pattern!r} is not a pattern of paths")
    return pattern


# -- which rules --------------------------------------------------------------------------------------------------


def _apply(enabled: frozenset[str], layer: Layer, carried: Selectors) -> frozenset[str]:
    """Switch rules on and off as a layer says. The more specific selector wins, and of two alike the ignore.

    `carried` are ignores of the layer below, which count only where this layer selects anew, and least.
    """
    steps = [
        *((selector, 0, False) for selector in (carried if layer.select is not None else ())),
        *((selector, 1, True) for selector in (*(layer.select or ()), *(layer.extend_select or ()))),
        *((selector, 2, False) for selector in layer.ignore or ()),
    ]
    codes = set(enabled if layer.select is None else ())
    for selector, _, on in sorted(steps, key=lambda step: (_specificity(step[0]), step[1])):
        codes = codes | matching(selector) if on else codes - matching(selector)
    return frozenset(codes)


def _codes(selectors: Selectors) -> frozenset[str]:
    """The codes that selectors name."""
    return frozenset(code for selector in selectors for code in matching(selector))


def _specificity(selector: str) -> int:
    """The length of the code a selector spells out: a rule's name is as specific as its code."""
    return len(BY_NAME[selector].code if selector in BY_NAME else selector)


# -- patterns -----------------------------------------------------------------------------------------------------


def _patterns(folder: str, lines: Iterable[str]) -> Patterns:
    return Patterns(folder, [_anchored(folder, line) for line in lines])


def _coverage(folder: str, pattern: str) -> Callable[[str], bool]:
    """Whether a file is covered by a pattern; `!pattern` covers all other files."""
    patterns = _patterns(folder, [pattern.removeprefix("!")])
    wanted = not pattern.startswith("!")
    return lambda path: patterns.cover(path) is wanted


def _anchored(folder: str, pattern: str) -> str:
    """A pattern as gitignore wants it: absolute paths and `./` start at the folder, `#` starts no comment."""
    inside = os.path.join(folder, "")
    if pattern.startswith(inside):
        return "/" + pattern[len(inside) :].replace(os.sep, "/")
    if pattern.startswith("./"):
        return pattern[1:]
    return "\\" + pattern if pattern.startswith("#") else pattern


# -- reading a configuration file ---------------------------------------------------------------------------------


def _read_pyproject(path: str) -> Layer | None:
    """The layer of a pyproject.toml, None where there is no such file or no table of ours in it."""
    if not os.path.isfile(path):
        return None
    table = _looplint_table(_read_toml(path), shown(path))
    return None if table is None else _layer(table, path)


def _read_toml(path: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror or error}", shown(path)) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"is not valid TOML: {error}", shown(path)) from error


def _looplint_table(document: Mapping[str, Any], shown_path: str) -> dict[str, Any] | None:
    tool = document.get("tool")
    table = tool.get("looplint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"`tool.looplint` is {_kind(table)}, expected a table", shown_path)
    return table


def _layer(table: Mapping[str, Any], path: str) -> Layer:
    """A layer of a `[tool.looplint]` table. Raises SettingsError that names the file and the key."""
    values = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            raise SettingsError(f"unknown option {key!r}{suggestion(key, _READERS)}", shown(path))
        try:
            values[key.replace("-", "_")] = reader(value)
        except SettingsError as error:
            raise SettingsError(f"in {key!r}: {error.message}", shown(path)) from error
    return Layer(folder=os.path.dirname(os.path.abspath(path)), **values)


def _expected(what: str, value: object) -> NoReturn:
    raise SettingsError(f"expected {what}, got {_kind(value)}")


def _kind(value: object) -> str:
    """What a TOML value is, in words."""
    names = {str: "a string", bool: "a boolean", int: "an integer", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")


def _string(value: object) -> str:
    return value if isinstance(value, str) else _expected("a string", value)


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        _expected("a list of strings", value)
    for item in value:
        if not isinstance(item, str):
            _expected("a list of strings", item)
    return tuple(value)


def _boolean(value: object) -> bool:
    return value if isinstance(value, bool) else _expected("true or false", value)


def _output_format(value: object) -> str:
    if not isinstance(value, str):
        _expected("a string", value)
    if value not in OUTPUT_FORMATS:
        choices = ", ".join(OUTPUT_FORMATS)
        raise SettingsError(f"no output format is called {value!r}{suggestion(value, OUTPUT_FORMATS)}: {choices}")
    return value


def _file_ignores(value: object) -> FileIgnores:
    if not isinstance(value, dict):
        _expected("a table of patterns, each with a list of rules", value)
    return tuple((_checked_pattern(pattern), _selectors(words)) for pattern, words in value.items())


def _selectors(value: object) -> Selectors:
    return selectors(_strings(value))


def _path_patterns(value: object) -> tuple[str, ...]:
    return check_patterns(_strings(value))


_READERS: dict[str, Callable[[object], Any]] = {
    "select": _selectors,
    "extend-select": _selectors,
    "ignore": _selectors,
    "per-file-ignores": _file_ignores,
    "exclude": _path_patterns,
    "extend-exclude": _path_patterns,
    "force-exclude": _boolean,
    "fixable": _selectors,
    "unfixable": _selectors,
    "output-format": _output_format,
    "cache-dir": _string,
    "llm-calls": _strings,
    "history-names": _strings,
    "tool-call-attributes": _strings,
}
