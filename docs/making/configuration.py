"""The reference of the configuration, made from the settings: their fields, defaults, and the schema of the table."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from lint_rules.cli.parser import parser_of
from lint_rules.configuration import OPTIONS
from lint_rules.layer import Layer
from lint_rules.limits import Limits
from lint_rules.rules.catalogue import RULES
from lint_rules.schema import Schema, schema
from lint_rules.settings import CACHE_DIR, DEFAULT_EXCLUDE, Settings
from making import markdown

EXAMPLES = {
    "select": '["AGL1", "AGL6"]',
    "extend-select": '["AGL901"]',
    "ignore": '["AGL401", "unmarked-truncation"]',
    "per-file-ignores": '{ "{tests,examples}/*" = ["AGL"] }',
    "exclude": '["vendored/"]',
    "extend-exclude": '["vendored/", "*_pb2.py"]',
    "force-exclude": "true",
    "report-unused-noqa": "true",
    "baseline": '"looplint-baseline.json"',
    "fixable": '["AGL301"]',
    "unfixable": '["AGL5"]',
    "output-format": '"concise"',
    "cache-dir": '"~/.cache/looplint"',
    "llm-calls": '["ask_model", "my_agent.llm.complete"]',
    "history-names": '["scrollback"]',
    "tool-call-attributes": '["actions"]',
    "max-file-bytes": "1000000",
    "max-file-nodes": "0",
    "max-file-seconds": "10",
}
"""One for each option, in TOML."""


def page() -> str:
    """All options of `[tool.looplint]`, in the groups of the command line."""
    return markdown.page(
        "# Configuration",
        "In the nearest `pyproject.toml` upwards from a file, in the table `[tool.looplint]`; or in a TOML file of its"
        " own, with the options at its top level, that `--config` names. What the command line says beats it. Patterns"
        " are those of .gitignore, relative to the file they stand in, and `{a,b}` means either. An option that is not"
        " known, or has a value of another kind, is an error (exit code 2).",
        "[looplint.schema.json](looplint.schema.json) describes the table to editors; `looplint init` writes a first"
        " one. flake8 has the options about words and limits under names of its own (`--agl-llm-calls`): see"
        " `flake8 --help`.",
        *_groups(),
    )


def example() -> str:
    """A table with every option."""
    return "".join(f"{option} = {EXAMPLES[option]}\n" for option in OPTIONS)


def _groups() -> Iterator[str]:
    known = schema()["properties"]
    for title, options in _grouped().items():
        yield f"## {title[:1].upper()}{title[1:]}"
        for option in options:
            yield f"### `{option}`"
            yield f"{_sentence(known[option]['description'])}"
            yield f"- **Type**: {_type(known[option])}\n- **Default**: {_default(option)}\n"
            yield f"```toml\n[tool.looplint]\n{option} = {EXAMPLES[option]}\n```"


def _grouped() -> dict[str, list[str]]:
    """All options by the group that they have on the command line of `check`."""
    (commands,) = (each for each in parser_of(["check"])._actions if isinstance(each, argparse._SubParsersAction))
    found = {
        str(group.title): [
            option for action in group._group_actions if (option := action.dest.replace("_", "-")) in OPTIONS
        ]
        for group in commands.choices["check"]._action_groups
    }
    return {"words of yours" if title == "configuration" else title: found[title] for title in found if found[title]}


def _type(shape: Schema) -> str:
    if "enum" in shape:
        return "one of " + ", ".join(f'`"{word}"`' for word in shape["enum"])
    if "$ref" in shape:
        return "list of codes, prefixes of codes, and names of rules"
    return {
        "array": "list of strings",
        "object": "table of patterns, each with a list of codes, prefixes and names",
        "boolean": "`true` or `false`",
        "integer": "whole number from 0 up; 0 is no limit",
        "string": "string",
    }[shape["type"]]


def _default(option: str) -> str:
    """What holds where nobody says anything."""
    none = Settings(Layer("/"), Layer("/"))
    limits = {f"max-file-{name}": f"`{most}`" for name, most in Limits()._asdict().items()}
    off = ", ".join(f"`{rule.code}`" for rule in RULES if rule.code not in none.codes)
    known = {
        "select": f"all rules but the opt-in ones ({off})",
        "exclude": ", ".join(f"`{pattern}`" for pattern in DEFAULT_EXCLUDE),
        "fixable": "all rules" if len(none.fixable) == len(RULES) else "",
        "output-format": f'`"{none.output_format}"`',
        "force-exclude": f"`{str(none.force_exclude).lower()}`",
        "report-unused-noqa": f"`{str(none.report_unused_noqa).lower()}`",
        "baseline": "none" if none.baseline is None else "",
        "cache-dir": f'`"{CACHE_DIR}"`, beside the file',
        "per-file-ignores": "`{}`",
        **limits,
    }
    return known.get(option) or "`[]`"


def _sentence(text: str) -> str:
    said = text.partition(" (default:")[0]
    return f"{said[:1].upper()}{said[1:]}."
