"""ONE file from bytes to findings: gate, tree, anatomy, rules, suppress. Does no I/O.

libcst is imported only for files that pass the gate.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from lint_rules.finding import Finding

Neighbours = Callable[[str, str], "tuple[str, bytes] | None"]
"""(path of the importing file, module as written, e.g. `turn` or `..core.store`) -> (path, source), or None."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The user's words beside the built-in ones: wrappers that call a model, names of histories, of tool-call lists."""

    llm_calls: tuple[str, ...] = ()
    history_names: tuple[str, ...] = ()
    tool_call_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """What to look for in one file: codes of the enabled rules, and the user's words."""

    codes: frozenset[str]
    vocabulary: Vocabulary = Vocabulary()


@dataclass(frozen=True, slots=True)
class Report:
    """Findings in order of place. A file that could not be analysed has exactly one: AGL000."""

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0


def check_source(
    source: bytes,
    path: str,
    options: Options,
    *,
    tree: ast.Module | None = None,
    neighbours: Neighbours | None = None,
) -> Report:
    """Check the bytes of one file. `tree` is the file's `ast`, where the caller has it already. Never raises."""
    return Report()


def map_source(source: bytes, path: str, options: Options, *, neighbours: Neighbours | None = None) -> str:
    """The anatomy that was found in one file, with evidence, as text for `looplint map`.

    Raises ValueError (one clear line) when the file cannot be analysed.
    """
    return ""
