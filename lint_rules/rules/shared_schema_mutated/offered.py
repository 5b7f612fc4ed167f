"""What a model is offered, by what is done with it: schemas of tools, their definitions, lists of these, requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

What = Literal["schema", "tools", "request"]

_TOOLS = ("tools", "functions")
_SCHEMAS = ("parameters", "input_schema", "inputSchema")


def offered(facts: Facts) -> dict[tuple[Scope, Slot], What]:
    """What places are that functions put into tools' definitions and requests, or send; of calls and messages none."""
    found: dict[tuple[Scope, Slot], What] = {}
    queue = list(_all(facts))
    for value, what in queue:
        slot = facts.slots.of(value)
        place = (facts.module.scope_of[value].function, slot)
        if slot is not None and place not in found and not facts.kinds(value):
            found[place] = what  # type: ignore[index]
            queue += ((each, what) for each in _handed_from(facts, value, slot))
    return found


def _handed_from(facts: Facts, value: cst.BaseExpression, slot: Slot) -> Iterator[cst.BaseExpression]:
    """What callers hand to a parameter, and functions of the file give: there it is offered, too."""
    yield from facts.given(slot)
    for made in (value, *facts.assigned(slot)) if slot[0] in {"var", "return"} else ():
        callee = facts.slots.callee(made)
        yield from callee.returned if callee is not None else ()


def _all(facts: Facts) -> Iterator[tuple[cst.BaseExpression, What]]:
    for node in facts.module.nodes_of(cst.Dict):
        yield from _within(ex.dict_items(node))
    for call in facts.module.nodes_of(cst.Call):
        yield from _within(ex.keywords(call))
    for call, request in facts.calls.items():
        for key, value in {**ex.keywords(call), **request.body}.items():
            if key in _TOOLS:
                yield value, "tools"
                one_by_one = value.elements if isinstance(value, cst.List) else ()
                yield from ((each.value, "schema") for each in one_by_one if isinstance(each, cst.Element))
        yield from ((arg.value, "request") for arg in call.args if arg.star == "**")
        bodies = (arg.value for arg in call.args if ex.is_dict(arg.value))
        yield from ((part, "request") for body in bodies for key, part in ex.dict_parts(body) if key is None)
    for made in facts.module.nodes_of(cst.Assign):
        if words.is_body(ex.dict_items(made.value)):
            yield from ((target.target, "request") for target in made.targets)
        for pair in (ex.member(target.target) for target in made.targets):
            if pair is not None and pair[1] == "type" and ex.text(made.value) == "function":
                yield pair[0], "schema"


def _within(items: dict[str, cst.BaseExpression]) -> Iterator[tuple[cst.BaseExpression, What]]:
    """The schemas in the definition of a tool, and the tools in a request."""
    if "name" in items:
        yield from ((items[key], "schema") for key in _SCHEMAS if key in items)
    if {"type", "function"} <= items.keys() and ex.text(items["type"]) == "function":
        yield items["function"], "schema"
    if words.is_body(items):
        yield from ((items[key], "tools") for key in _TOOLS if key in items)
