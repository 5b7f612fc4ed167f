"""Where a value was taken from: a caller, an object, a reply that has just come, or messages stored long ago."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax.walk import children


def made_from(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[cst.Name]:
    """The names whose values go into a value, in source order: not the object itself, nor what a request is made with.

    Of `[self.shown(c) for c in calls]` that is `c`, `c` and `calls`; of `client.create(messages=log).choices` nothing.
    """
    stack: list[cst.CSTNode] = [value]
    while stack:
        here = stack.pop()
        if type(here) is cst.Name:
            if not anatomy.facts.is_self(here):
                yield here
        elif type(here) is not cst.Call or not anatomy.calls.asks(here):
            stack.extend(reversed(children(here)))


def is_of_package(anatomy: Anatomy, slot: Slot) -> bool:
    """Whether a place is a part of an installed package, which may keep it when the program is run anew."""
    root = root_object(slot)
    name = str(root[2]) if root[:2] == ("var", anatomy.module.top) else ""
    of_project = anatomy.imports_module(name) or anatomy.defined_elsewhere(name, "") is not None
    return name in anatomy.module.imports.full and not of_project
