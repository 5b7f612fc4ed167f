"""AGL202: the function begins with a copy of what it edits. Only where the edits stand in the function itself."""

from __future__ import annotations

from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.given import Given
from lint_rules.repairs.edits import Edits, Fix
from lint_rules.repairs.imports import reference


def repair(anatomy: Anatomy, given: Given) -> Fix | None:
    """`messages = deepcopy(messages)` as the first statement. Unsafe: a caller may count on the edit."""
    node, name = given.function.node, given.param.name.value
    if not isinstance(node, cst.FunctionDef) or not isinstance(node.body, cst.IndentedBlock):
        return None
    if any(anatomy.module.scope_of[store.node].function is not given.function for store in given.stores):
        return None
    first = node.body.body[0]
    found = reference(anatomy.module, first, "copy", "deepcopy")
    if found is None:
        return None
    body, index = node.body, 1 if node.get_docstring() is not None else 0
    if index >= len(body.body):
        return None

    def inserted(statements: list[Any]) -> list[Any]:
        copied = cst.Assign([cst.AssignTarget(cst.Name(name))], cst.Call(found.node, [cst.Arg(cst.Name(name))]))
        return [*statements[:index], cst.SimpleStatementLine([copied]), *statements[index:]]

    return Fix("work on a copy", "unsafe", lambda: Edits(changed={body: inserted}, imports=found.needs))
