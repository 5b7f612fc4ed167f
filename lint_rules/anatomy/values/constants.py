"""Numbers that are known before the program runs: literals, names that are bound to nothing else, sums of these."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex

_SUMS: dict[type[cst.BaseBinaryOp], Callable[[int, int], int]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
}
_CHOICES: dict[str, Callable[[Iterable[int]], int]] = {"max": max, "min": min}


def constant(
    anatomy: Anatomy, node: cst.BaseExpression | None, seen: frozenset[cst.CSTNode] = frozenset()
) -> int | None:
    """The integer that an expression always has as its value; None where it may have another, or that is not known.

    A local name has it by each definition that reaches it, a name of the module, of another one or of a class if it is
    bound once.
    """
    node = ex.inner(node) if node is not None else None
    number = ex.integer(node)
    if number is not None or node is None or node in seen:
        return number
    seen |= {node}
    if type(node) is cst.Name or type(node) is cst.Attribute:
        values = _bound(anatomy, node)
        if not values:
            return _imported(anatomy, node, seen)
        found = {constant(anatomy, value, seen) for value in values}
        return found.pop() if len(found) == 1 else None
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Minus:
        number = constant(anatomy, node.expression, seen)
        return None if number is None else -number
    if type(node) is cst.BinaryOperation and type(node.operator) in _SUMS:
        left, right = constant(anatomy, node.left, seen), constant(anatomy, node.right, seen)
        if left is None or right is None or (right == 0 and type(node.operator) in {cst.FloorDivide, cst.Modulo}):
            return None
        return _SUMS[type(node.operator)](left, right)
    if type(node) is cst.Call and type(node.func) is cst.Name and node.func.value in _CHOICES and len(node.args) > 1:
        given = [constant(anatomy, value, seen) for value in ex.positional(node)]
        numbers = [number for number in given if number is not None]
        return _CHOICES[node.func.value](numbers) if len(numbers) == len(node.args) else None
    return None


def _bound(anatomy: Anatomy, node: cst.Name | cst.Attribute) -> list[cst.BaseExpression | None]:
    """All that a name may be bound to where it stands, None for what is no expression; nothing where that is open."""
    slot, function = anatomy.facts.slots.of(node), anatomy.module.scope_of[node].function
    if slot is None or slot[0] not in {"var", "attr"}:
        return []
    if type(node) is cst.Name and slot[1] is function and function is not anatomy.module.top:
        return [found.value if found.kind == "assign" else None for found in anatomy.definitions(node)]
    values = anatomy.facts.assigned(slot)
    if len(values) != 1 or anatomy.module.scope_of[values[0]] is not slot[1] or _is_changed(anatomy, slot, values[0]):
        return []
    return [values[0]]


def _imported(anatomy: Anatomy, node: cst.Name | cst.Attribute, seen: frozenset[cst.CSTNode]) -> int | None:
    """The number that a name of another file, or of a module that was imported, has there."""
    slot = anatomy.facts.slots.of(node)
    if slot is None or root_object(slot)[1] is not anatomy.module.top:
        return None
    there, where = anatomy.imported_value(ex.dotted(node) or "") or (anatomy, None)
    values = there.facts.assigned(where)
    if where is None or len(values) != 1 or _is_changed(there, where, values[0]):
        return None
    return constant(there, values[0], seen)


def _is_changed(anatomy: Anatomy, slot: Slot, value: cst.BaseExpression) -> bool:
    """Whether something beside its one assignment sets a name of the module or of a class: a counter, an object."""
    module = anatomy.module
    statement = module.parent[value]
    if slot[0] == "attr" and type(statement) is cst.AnnAssign:  # the default of a field
        return ex.source(statement.annotation.annotation).partition("[")[0] not in {"Final", "ClassVar"}
    targets = [node.target for node in module.nodes_of(cst.AugAssign, cst.For)]
    return slot[1].kind not in {"module", "class"} or any(anatomy.facts.slots.of(target) == slot for target in targets)
