"""What a loop makes of the elements that it goes through."""

from __future__ import annotations

from collections.abc import Container

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.walk import walk

_DUMPS = frozenset({"copy", "model_dump", "dict", "to_dict", "to_param", "model_copy", "deepcopy", "asdict"})


def counted(iterable: cst.BaseExpression) -> cst.BaseExpression:
    """What a loop goes through that counts as well: `xs` of `enumerate(xs)`; else what it says."""
    counts = isinstance(iterable, cst.Call) and ex.called_name(iterable) == "enumerate" and bool(iterable.args)
    return ex.inner(iterable.args[0].value) if counts else iterable  # type: ignore[attr-defined]


def names_of_elements(loop: cst.For) -> set[str]:
    """The names of an element of a loop, and of what is made of it there."""
    own = set(ex.target_names(loop.target))
    for node in walk(loop.body):
        if isinstance(node, cst.Assign):
            if mentions(own, node.value):
                own.update(name for target in ex.targets(node) for name in ex.target_names(target))
    return own


def is_element(node: cst.BaseExpression, names: Container[str]) -> bool:
    """Whether an expression is the element that one of these names stands for, or a copy or dump of it."""
    node = ex.inner(node)
    if isinstance(node, cst.Name):
        return node.value in names
    if isinstance(node, cst.Call):
        base, given = ex.receiver(node), ex.positional(node)
        if base is not None and (ex.called_name(node) in _DUMPS or ex.called_name(node).startswith(("to_", "as_"))):
            return is_element(base, names)
        return len(node.args) == len(given) == 1 and isinstance(given[0], cst.Name) and given[0].value in names
    if isinstance(node, cst.Dict) and node.elements and isinstance(node.elements[0], cst.StarredDictElement):
        return is_element(node.elements[0].value, names)
    return False


def iterated(node: cst.BaseExpression) -> cst.BaseExpression:
    """`xs` of `enumerate(xs)`, `reversed(xs)`: the list whose messages a loop goes through; else the node."""
    if isinstance(node, cst.Call) and ex.called_name(node) in {"enumerate", "reversed"} and node.args:
        return node.args[0].value
    return node
