"""Which names stand in a piece of code."""

from __future__ import annotations

from collections.abc import Container

import libcst as cst

from lint_rules.syntax.walk import walk


def names_in(*nodes: cst.CSTNode) -> set[str]:
    """The names that are read or bound in some nodes: no attributes and no keywords."""
    return {part.value for node in nodes for part in walk(node) if type(part) is cst.Name}


def mentions(names: Container[str], *nodes: cst.CSTNode) -> bool:
    """Whether one of these names stands in some nodes."""
    return any(type(part) is cst.Name and part.value in names for node in nodes for part in walk(node))
