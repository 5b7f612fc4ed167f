"""The JSON schema of the configuration, made from what holds it: its fields, and what the command line says of them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from lint_rules.cli.parser import parser_of
from lint_rules.configuration import OPTIONS
from lint_rules.layer import FOREIGN_CODE, OUTPUT_FORMATS, FileIgnores, Layer, Selectors
from lint_rules.rules.catalogue import BY_CODE, RULES

Schema = dict[str, Any]

_RULES = {"$ref": "#/definitions/rules"}


def schema() -> Schema:
    """Of the `[tool.looplint]` table, or of a file of its own: JSON Schema, draft 7."""
    hints = get_type_hints(Layer)
    helps = _helps()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "looplint",
        "description": "[tool.looplint] in pyproject.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            option: {**_shape(option, hints[option.replace("-", "_")]), "description": helps[option]}
            for option in sorted(OPTIONS)
        },
        "definitions": {
            "rule": {"type": "string", "anyOf": [{"enum": _selectors()}, {"pattern": FOREIGN_CODE}]},
            "rules": {"type": "array", "items": {"$ref": "#/definitions/rule"}},
        },
    }


def _shape(option: str, hint: object) -> Schema:
    """What TOML may hold for a field of this type."""
    (kind,) = (each for each in get_args(hint) if each is not type(None))
    if option == "output-format":
        return {"enum": list(OUTPUT_FORMATS)}
    if kind == FileIgnores:
        return {"type": "object", "additionalProperties": _RULES}
    if kind == Selectors:
        return _RULES if option in _SELECTING else {"type": "array", "items": {"type": "string"}}
    shapes: Mapping[object, Schema] = {
        bool: {"type": "boolean"},
        int: {"type": "integer", "minimum": 0},
        str: {"type": "string"},
    }
    return shapes[kind]


_SELECTING = ("select", "extend-select", "ignore", "fixable", "unfixable")


def _selectors() -> list[str]:
    """All codes, prefixes of codes, and names."""
    prefixes = {code[:length] for code in BY_CODE for length in range(1, len(code) + 1)}
    return [*sorted(prefixes), *(rule.name for rule in RULES)]


def _helps() -> dict[str, str]:
    """What the command line says of each option."""
    parser = parser_of(["check"])
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    actions = commands.choices["check"]._actions
    return {action.dest.replace("_", "-"): action.help or "" for action in actions}
