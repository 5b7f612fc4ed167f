"""What a package with rules of its own may use, imported as `looplint.api`. What stands here stays.

A rule is a `Rule` with a function that asks an `Agent` and yields a `Draft` for each problem: docs/your-own-rule.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lint_rules.finding import Finding, Related, Span
from lint_rules.plugins.agent import Agent, Ask, Reason, Round, Store, Value
from lint_rules.rules.catalogue import Rule
from lint_rules.rules.draft import Draft, Note
from lint_rules.trying import check, fix

if TYPE_CHECKING:
    from lint_rules.anatomy.values.kinds import Kind
    from lint_rules.repairs.edits import Edits, Fix

__all__ = [
    "Agent",
    "Ask",
    "Draft",
    "Edits",
    "Finding",
    "Fix",
    "Kind",
    "Note",
    "Reason",
    "Related",
    "Round",
    "Rule",
    "Span",
    "Store",
    "Value",
    "check",
    "fix",
]

_DEAR = {
    "Kind": "lint_rules.anatomy.values.kinds",
    "Edits": "lint_rules.repairs.edits",
    "Fix": "lint_rules.repairs.edits",
}
"""What imports libcst: a rule that imports it only where it asks costs nothing in files without agents."""


def __getattr__(name: str) -> Any:
    if name in _DEAR:
        return getattr(import_module(_DEAR[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
