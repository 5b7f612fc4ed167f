"""Loops in which something is made of each element of a list: what they go over is written out there, all of it."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.handlers import is_neutral
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.elements import names_of_elements
from lint_rules.syntax.mentions import mentions, names_in
from lint_rules.syntax.walk import walk

SAME_TEXT = frozenset({"str", "dumps", "strip", "rstrip", "lstrip", "escape"})
"""What gives a text that says what was handed to it, or what it is called on."""


def loop_over(anatomy: Anatomy, node: cst.CSTNode, value: cst.BaseExpression) -> cst.For | None:
    """The loop over a list that a message is made in of each element."""
    outer = anatomy.module.parent[node]
    while not isinstance(outer, (cst.For, cst.FunctionDef, cst.While, cst.Module)):
        outer = anatomy.module.parent[outer]
    if not isinstance(outer, cst.For):
        return None
    own = names_of_elements(outer)
    read = names_in(value)
    tests = (tested.test for tested, _ in passed(anatomy.module, node, outer))
    known = own | _gathered(anatomy, outer, own)
    return None if read.isdisjoint(own) or any(compares(test, known) for test in tests) else outer


def written(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a text says all of: `xs` of `"\\n".join(xs)`, `json.dumps(xs)` and `str(xs)`."""
    if not isinstance(value, cst.Call) or ex.called_name(value) not in {*SAME_TEXT, "join"}:
        return []
    base = ex.receiver(value)
    return [value.args[0].value] if value.args else [base] if base is not None else []


def _gathered(anatomy: Anatomy, loop: cst.For, own: set[str]) -> set[str]:
    """What has nothing in it before a loop, and then what this has seen: `seen = set()`, `seen.add(m.id)`."""
    found: set[str] = set()
    for node in walk(loop.body):
        base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) in {"add", "append"} else None
        if isinstance(base, cst.Name) and mentions(own, node):
            values = anatomy.facts.values_of(base)
            found.update({base.value} if values and all(map(is_neutral, values)) else ())
    return found


def compares(test: cst.BaseExpression, own: set[str]) -> bool:
    """Whether a condition compares an element with something else: with what was just said, it may be."""
    names = names_in(test)
    known = {name for name in names if name[:1].isupper()} | {"str", "len", "isinstance", "bool", "getattr", "hasattr"}
    return not names <= own | known | {part.attr.value for part in walk(test) if isinstance(part, cst.Attribute)}
