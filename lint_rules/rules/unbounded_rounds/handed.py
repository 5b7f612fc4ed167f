"""Numbers that are handed on as the limit of the rounds, to a function of the project or to a library, and are none."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.rounds.bounds import is_huge
from lint_rules.anatomy.rounds.limits import Limits
from lint_rules.anatomy.vocabulary import ROUND_LIMITS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk


def huge_limits(anatomy: Anatomy) -> Iterator[cst.BaseExpression]:
    """`run(task, most_rounds=10**9)`, `Options(maximum_remote_calls=99999999)`, `{"recursion_limit": 10**6}`."""
    for call in anatomy.module.nodes_of(cst.Call):
        for arg in call.args:
            if is_huge(arg.value):
                named = arg.keyword.value if arg.keyword is not None else ""
                found = body(anatomy, call) or _prepared(anatomy, call)
                if _limits_library(anatomy, named) if found is None else _limits_rounds(*found, call, arg.value):
                    yield arg.value
    for display in anatomy.module.nodes_of(cst.Dict):
        items = ((key, value) for key, value in ex.dict_items(display).items() if is_huge(value))
        yield from (value for key, value in items if _limits_library(anatomy, key))


def _prepared(anatomy: Anatomy, call: cst.Call) -> tuple[Anatomy, Scope] | None:
    """The function of another file that `partial(run, most=9)` makes ready to be called."""
    target = ex.dotted(call.args[0].value) if ex.called_name(call) == "partial" else None
    return anatomy.imported_function(target) if target is not None else None


def _limits_library(anatomy: Anatomy, key: str) -> bool:
    packages = {name.partition(".")[0] for name in anatomy.module.imports.full.values()}
    return not packages.isdisjoint(ROUND_LIMITS.get(key, ()))


def _limits_rounds(there: Anatomy, function: Scope, call: cst.Call, value: cst.BaseExpression) -> bool:
    """Whether what a call hands to a function is the one limit of its rounds."""
    slots = there.facts.slots
    given = {slot for slot, each in slots.bindings(call, function) if each is value}
    for loop in there.rounds:
        if loop.function is function or (function.owner is not None and loop.function.owner is function.owner):
            limits = Limits(there, loop.node, function)
            tested = [decision.limit for decision in limits.decisions if decision.limit is not None]
            parts = [part for part in walk(limits.limit) if ex.reads_place(part)] if limits.limit is not None else []
            parts += [value for part in parts for value in there.facts.values_of(part)]  # `self.most = most`
            if not given.isdisjoint(map(slots.of, parts)) and all(test is limits.limit for test in tested):
                return True
    return False
