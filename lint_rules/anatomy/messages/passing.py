"""What a call passes to a function of this file or of another one of the project, and the name it has there."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.copies import Path
from lint_rules.anatomy.values.slots import is_method
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters

Parameter = tuple["int | str", str]
"""Where an argument lands: its position or keyword, and the option of an options object, "" for the object itself."""


def resolved(anatomy: Anatomy, call: cst.Call) -> tuple[Anatomy, Scope] | None:
    """The function that a call runs, of this file or imported from the project, with the file it stands in."""
    callee = anatomy.facts.slots.callee(call)
    if callee is not None:
        return anatomy, callee
    return anatomy.imported_function(ex.dotted(call.func) or "")


def passed_arguments(
    call: cst.Call,
) -> Iterator[tuple[Parameter, cst.BaseExpression, dict[Parameter, cst.BaseExpression]]]:
    """The arguments of a call, those inside an options object (`run(Turn(history=h))`) included."""
    given: dict[Parameter, cst.BaseExpression] = {}
    for index, arg in enumerate(call.args):
        if arg.star:
            continue
        place: int | str = arg.keyword.value if arg.keyword is not None else index
        given[place, ""] = arg.value
        if type(arg.value) is cst.Call and ex.called_name(arg.value)[:1].isupper():
            for option in arg.value.args:
                if option.keyword is not None:
                    given[place, option.keyword.value] = option.value
    for parameter, value in given.items():
        yield parameter, value, given


def parameter_path(callee: Scope, parameter: Parameter) -> Path | None:
    """The path in `callee` under which an argument is known: `(messages,)`, `(opts, history)`."""
    names = [p.name.value for p in parameters(callee)]
    place, option = parameter
    if isinstance(place, int):
        place += is_method(callee)
        if place >= len(names):
            return None
        name = names[place]
    else:
        name = place
        if name not in names:
            return None
    return (name, option) if option else (name,)
