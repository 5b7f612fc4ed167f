"""What was asked for: the command line over the nearest `[tool.looplint]`, as immutable settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.configuration import read_config, read_pyproject
from lint_rules.layer import Layer, Selectors, SettingsError
from lint_rules.limits import Limits
from lint_rules.options import Options
from lint_rules.paths import posix, upwards
from lint_rules.patterns import Patterns, alternatives
from lint_rules.rules.catalogue import by_code, by_name, matching, rules

CACHE_DIR = ".looplint_cache"

DEFAULT_EXCLUDE = (
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox"),
    *(".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode"),
    *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages"),
    "venv",
)


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
    def report_unused_noqa(self) -> bool:
        """Whether comments that hide nothing are reported."""
        return bool(self._first("report_unused_noqa"))

    @property
    def baseline(self) -> str | None:
        """The absolute path of the file with the findings that are left for later, if there is to be one."""
        layer = self.file if self.command.baseline is None else self.command
        return None if layer.baseline is None else os.path.join(layer.folder, os.path.expanduser(layer.baseline))

    @property
    def cache_dir(self) -> str:
        """The absolute folder of the cache: beside the configuration file, unless it or the command line say else.

        `~` is the user's own folder, for no shell has read a configuration file.
        """
        layer = self.file if self.command.cache_dir is None else self.command
        return os.path.join(layer.folder, os.path.expanduser(layer.cache_dir or CACHE_DIR))

    def options(self, path: str) -> Options:
        """What to look for in the file at an absolute path."""
        silent = frozenset(
            code
            for covers, selectors in self._file_ignores
            if covers(path)
            for selector in selectors
            for code in matching(selector)
        )
        return Options(self.codes - silent, self._vocabulary, self._limits)

    def excludes(self, path: str, is_dir: bool = False) -> bool:
        """Whether this very path, met on a walk, is left out."""
        return any(patterns.verdict(path, is_dir) is True for patterns in self._excluded)

    def excludes_with_parents(self, path: str, is_dir: bool = False) -> bool:
        """Whether a path, or a folder above it, is left out."""
        return any(patterns.cover(path, is_dir) for patterns in self._excluded)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Codes of the enabled rules, before per-file ignores."""
        enabled = frozenset(rule.code for rule in rules() if rule.default)
        enabled = _apply(enabled, self.file, carried=())
        # As in ruff: a `--select` forgets what the file selects, but an ignore of the file that is more specific
        # (`ignore = ["AGL301"]` under `--select AGL`) still holds.
        return _apply(enabled, self.command, carried=self.file.ignore or ())

    @cached_property
    def fixable(self) -> frozenset[str]:
        """Codes of the rules whose findings may be fixed."""
        return _codes(self._first("fixable") or tuple(by_code())) - _codes(self._first("unfixable") or ())

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(
            llm_calls=self._first("llm_calls") or (),
            history_names=self._first("history_names") or (),
            tool_call_attributes=self._first("tool_call_attributes") or (),
        )

    @cached_property
    def _limits(self) -> Limits:
        said = {name: self._first(f"max_file_{name}") for name in Limits._fields}
        return Limits()._replace(**{name: most for name, most in said.items() if most is not None})

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
        self._config = config
        self._isolated = isolated
        self._none = Settings(Layer(command.folder), command)
        self._only: Settings | None = self._none if isolated else None
        self._known: dict[str, Settings | SettingsError] = {}
        if config is not None:
            self._only = Settings(read_config(config), command)

    def again(self) -> Resolver:
        """One that reads all configuration files anew. Raises SettingsError as it does."""
        return Resolver(self._command, config=self._config, isolated=self._isolated)

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
                layer = read_pyproject(os.path.join(above, "pyproject.toml"))
            except SettingsError as error:
                found = error
                break
            if layer is not None:
                found = Settings(layer, self._command)
                break
        self._known.update(dict.fromkeys(passed, found))


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
    named = by_name().get(selector)
    return len(selector if named is None else named.code)


# -- patterns -----------------------------------------------------------------------------------------------------


def _patterns(folder: str, lines: Iterable[str]) -> Patterns:
    return Patterns(folder, [os.fsencode(_anchored(folder, one)) for line in lines for one in alternatives(line)])


def _coverage(folder: str, pattern: str) -> Callable[[str], bool]:
    """Whether a file is covered by a pattern; `!pattern` covers all other files."""
    patterns = _patterns(folder, [pattern.removeprefix("!")])
    wanted = not pattern.startswith("!")
    return lambda path: patterns.cover(path) is wanted


def _anchored(folder: str, pattern: str) -> str:
    """A pattern as gitignore wants it: absolute paths and `./` start at the folder."""
    inside = os.path.join(folder, "")
    if pattern.startswith(inside):
        return "/" + posix(pattern[len(inside) :])
    return pattern[1:] if pattern.startswith("./") else pattern
