"""Configuration files: a `[tool.looplint]` table, or a TOML file of our own, read into a `Layer`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from lint_rules.layer import (
    OUTPUT_FORMATS,
    FileIgnores,
    Layer,
    Selectors,
    SettingsError,
    check_patterns,
    checked_pattern,
    selectors,
    suggestion,
)
from lint_rules.paths import shown


def read_config(path: str) -> Layer:
    """The layer of a file named by `--config`: a pyproject.toml, or a TOML file with the options at its top level."""
    table = _read_toml(path)
    inner = _looplint_table(table, shown(path))
    if inner is not None:
        return layer_of(inner, path)
    if "tool" in table or os.path.basename(path) == "pyproject.toml":
        raise SettingsError("has no [tool.looplint] table", shown(path))
    return layer_of(table, path)


def read_pyproject(path: str) -> Layer | None:
    """The layer of a pyproject.toml, None where there is no such file or no table of ours in it."""
    if not os.path.isfile(path):
        return None
    table = _looplint_table(_read_toml(path), shown(path))
    return None if table is None else layer_of(table, path)


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


def layer_of(table: Mapping[str, Any], path: str) -> Layer:
    """The layer of a `[tool.looplint]` table in this file. Raises SettingsError that names the file and the key."""
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


# -- values -------------------------------------------------------------------------------------------------------


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


def _limit(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    shown_value = value if type(value) is int else _kind(value)
    raise SettingsError(f"expected a whole number from 0 up (0 is no limit), got {shown_value}")


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
    return tuple((checked_pattern(pattern), _selectors(words)) for pattern, words in value.items())


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
    "report-unused-noqa": _boolean,
    "baseline": _string,
    "fixable": _selectors,
    "unfixable": _selectors,
    "output-format": _output_format,
    "cache-dir": _string,
    "llm-calls": _strings,
    "history-names": _strings,
    "tool-call-attributes": _strings,
    "max-file-bytes": _limit,
    "max-file-nodes": _limit,
    "max-file-seconds": _limit,
}

OPTIONS = tuple(_READERS)
"""What can be configured."""
