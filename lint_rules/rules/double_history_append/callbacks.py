"""Messages that a function appends to a list, and hands to a callback that appends to the same list."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.passing import Parameter, parameter_path, passed_arguments, resolved
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.copies import Path, path_of
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.again import Again
from lint_rules.rules.double_history_append.places import Double, How
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters


def by_callback(anatomy: Anatomy, function: Scope) -> Iterator[Double]:
    """`run(history=h, on_message=h.append)`, where `run` appends each message and hands it to the callback.

    So does a method of the object that is made with them.
    """
    for call in function.nodes_of(cst.Call):
        where, callee = (resolved(anatomy, call) if call.args else None) or (anatomy, None)
        if callee is None:
            continue
        owner = callee.owner if callee.name == "__init__" else None
        runs = [callee] if owner is None else list(owner.methods.values())
        handed = [(value, _paths(where, callee, parameter)) for parameter, value, _ in passed_arguments(call)]
        for value, callbacks in handed:
            slot = _appended_to(anatomy, value)
            lists = (paths for given, paths in handed if slot is not None and anatomy.facts.slots.of(given) == slot)
            ways = ((run, target, each) for paths in lists for run in runs for target in paths for each in callbacks)
            twice = next((at for way in ways if (at := _appends_and_calls(where, *way)) is not None), None)
            if twice is not None:
                yield Double(How.CALLBACK, Stored(value, function, slot, "append", None, None), twice, where)
                break


def _appended_to(anatomy: Anatomy, callback: cst.BaseExpression) -> Slot | None:
    """The list to which `h.append`, or a function of the file, always adds what it is given."""
    if isinstance(callback, cst.Attribute) and callback.attr.value == "append":
        return anatomy.facts.slots.of(callback.value)
    function = anatomy.facts.slots.function(callback)
    given = [anatomy.facts.slots.parameter(function, p.name.value) for p in parameters(function)] if function else []
    for write in anatomy.writes.by_function.get(function, ()) if function is not None else ():
        tests = conditions.passed(anatomy.module, write.node, function.node if function is not None else None)
        if write.kind == "append" and anatomy.facts.slots.of(write.value) in given and not any(tests):
            return write.slot
    return None


def _paths(anatomy: Anatomy, callee: Scope, parameter: Parameter) -> set[Path]:
    """Under which names a function knows what it is given, and the object that it makes of it."""
    path = parameter_path(callee, parameter)
    kept = [node.targets[0].target for node in callee.nodes_of(cst.Assign) if path and path_of(node.value) == path]
    return {each for each in (path, *map(path_of, kept)) if each is not None}


def _appends_and_calls(anatomy: Anatomy, function: Scope, target: Path, callback: Path) -> cst.Call | None:
    """Where a function appends to one of its parameters what it also hands to another, a callback."""
    again = Again(anatomy, function)
    told = [n for n in function.nodes if type(n) is cst.Call and len(n.args) == 1 and path_of(n.func) == callback]
    for call in function.nodes:
        if type(call) is not cst.Call or ex.called_name(call) != "append" or len(call.args) != 1:
            continue
        base = ex.receiver(call)
        if base is None or path_of(base) != target:
            continue
        for other in told:
            if ex.source(other.args[0].value, 200) == ex.source(call.args[0].value, 200):
                avoiding = again.renewed(again.parts(call.args[0].value))
                if again.follows(other, call, avoiding) or again.follows(call, other, avoiding):
                    return call
    return None
