"""AGL202: the function begins with a copy of what it edits. Only where the edits stand in the function itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.given import Given
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.repairs.imports import Reference, reference
from lint_rules.rules.caller_history_mutated.edited import hands_back, owned_by_callers
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_LIST = re.compile(r"(typing\.)?(list|List|Sequence|MutableSequence)\b(?!.*\|)")


@of_the_file
def repair(anatomy: Anatomy, given: Given) -> Fix | None:
    """`messages = deepcopy(messages)` as the first statement. Unsafe: a caller may count on the edit.

    A list that is only cut or added to is copied as a list, with its messages: those stay the caller's. A message that
    gets new fields only is copied as flat.
    """
    node, name = given.function.node, given.param.name.value
    if not isinstance(node, cst.FunctionDef) or not isinstance(node.body, cst.IndentedBlock):
        return None
    if any(anatomy.module.scope_of[store.node].function is not given.function for store in given.stores):
        return None
    if not _gives_anything(given.function) or _is_step(anatomy, given) or _is_lost(anatomy, given):
        return None
    body, index = node.body, 1 if node.get_docstring() is not None else 0
    found = _copier(anatomy, given, body.body[0])
    if found is None or index >= len(body.body):
        return None

    def inserted(statements: list[Any]) -> list[Any]:
        copied = cst.Assign([cst.AssignTarget(cst.Name(name))], cst.Call(found.node, [cst.Arg(cst.Name(name))]))
        return [*statements[:index], cst.SimpleStatementLine([copied]), *statements[index:]]

    return Fix("work on a copy", "unsafe", lambda: Edits(changed={body: inserted}, imports=found.needs))


def _copier(anatomy: Anatomy, given: Given, at: cst.CSTNode) -> Reference | None:
    """What makes the copy: `deepcopy` of what is edited in depth, `list` of what is known as one, else `copy`."""
    if given.level == "message":
        flat = given.kind is Kind.MESSAGE and all(_is_param(store.target, given) for store in given.stores)
        flat = flat and not hands_back(anatomy, given)  # who gets it may edit it further
        return reference(anatomy.module, at, "copy", "copy" if flat else "deepcopy")
    module, annotation, default = anatomy.module, given.param.annotation, given.param.default
    written = ex.source(annotation.annotation) if annotation is not None else ""
    known = _LIST.match(written) and not (default is not None and ex.dotted(default) == "None")
    if known and module.scope_binding(given.function, "list") is None:
        return Reference(cst.Name("list"), frozenset())
    return reference(module, at, "copy", "copy")


def _is_param(node: cst.BaseExpression, given: Given) -> bool:
    return isinstance(node, cst.Name) and node.value == given.param.name.value


def _gives_anything(function: Scope) -> bool:
    """Whether a function returns or yields a value. If not, its edits are what it is there for."""
    return any(
        isinstance(node, cst.Yield) or (isinstance(node, cst.Return) and node.value is not None)
        for node in function.nodes
    )


def _is_lost(anatomy: Anatomy, given: Given) -> bool:
    """Whether a result may be returned with no look at what was edited of a passed message.

    The request had been put together before: only the caller's message shows the edit, and a copy would hide it.
    """
    if given.kind is not Kind.MESSAGE:
        return False
    parent, flow = anatomy.module.parent, anatomy.flow(given.function)
    names = anatomy.facts.names.get(anatomy.facts.slots.parameter(given.function, given.param.name.value), ())
    stored = {point for store in given.stores for point in flow.enclosing(store.node, parent)}
    fields = {name: _field(parent, name) for name in names if name is not given.param.name}
    edits = {node for store in given.stores for node in walk(store.target)}
    edited = {field for name, field in fields.items() if name in edits}
    read = set()
    for name, field in fields.items():
        points = flow.enclosing(name, parent)
        if field is None:
            return False  # handed on whole: the edit goes along, whenever it is made
        if field in edited or _is_called(parent, name):
            read |= {point for point in points if type(point.statement) is not cst.If}
    results = [point for point in flow.points if _is_result(point.statement) and point not in read]
    return flow.reaches(stored, results, read - stored, exceptions=False)


def _field(parent: Mapping[cst.CSTNode, cst.CSTNode], name: cst.Name) -> str | None:
    """`k` for `name` in `name.k`, `name["k"]` and `name.get("k")`; None where it stands for itself."""
    above = parent[name]
    here = (above, parent[above]) if type(above) is cst.Attribute else (above,)
    found = [pair[1] for node in here if (pair := ex.member(node)) is not None and pair[0] is name]
    return found[-1] if found else None


def _is_called(parent: Mapping[cst.CSTNode, cst.CSTNode], name: cst.Name) -> bool:
    """Whether a method of it is called, which may read all of it: `name.to_dict()`."""
    above = parent[name]
    call = parent[above] if type(above) is cst.Attribute else above
    return type(call) is cst.Call and call.func is above and ex.key(call) is None


def _is_result(node: cst.CSTNode | None) -> bool:
    return type(node) is cst.Return and node.value is not None and ex.dotted(node.value) != "None"


def _is_step(anatomy: Anatomy, given: Given) -> bool:
    """Whether a method returns the very messages it got, in a list of its own, and no caller is in sight.

    Who runs such steps one after another may make one copy for all of them.
    """
    slots = anatomy.facts.slots
    slot = slots.parameter(given.function, given.param.name.value)
    if given.function.owner is None or owned_by_callers(anatomy, given) is not None:
        return False
    nodes = given.function.nodes
    back = [slots.of(node.value) for node in nodes if isinstance(node, cst.Return) and node.value is not None]
    return any(
        isinstance(node, cst.Call)
        and ex.called_name(node) == "append"
        and len(node.args) == 1
        and slots.of(node.args[0].value) == slots.of(loop.target)
        and (base := ex.receiver(node)) is not None
        and slots.of(base) in back
        for loop in nodes
        if isinstance(loop, cst.For) and isinstance(loop.target, cst.Name) and slots.of(loop.iter) == slot
        for node in walk(loop.body)
    )
