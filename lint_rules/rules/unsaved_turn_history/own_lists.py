"""Lists that get nowhere: what is put into one is gone with its function."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.views import Views
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.reply_places import reads
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_LOOKS = frozenset({"len", "str", "repr", "sum", "any", "all", "enumerate", "reversed", "list", "range", "isinstance"})
"""Functions that look at a list, and keep it nowhere."""


def is_put_nowhere(anatomy: Anatomy, slot: Slot) -> bool:
    """Whether a list is a function's own, a copy or a new one, and gets nowhere but to a model and those who look."""
    made = anatomy.facts.assigned(slot)
    if slot[0] != "var" or slot[1].kind != "function" or is_parameter(slot) or not made:
        return False
    views = Views(anatomy)
    if not all(isinstance(ex.inner(value), (cst.List, cst.ListComp)) or views.made_of(value) for value in made):
        return False
    names = {slot[2]}
    for node in slot[1].nodes_of(cst.Assign):
        if all(isinstance(target, cst.Name) for target in ex.targets(node)) and _holds(anatomy, node.value, names):
            names |= {ex.source(target) for target in ex.targets(node)}
    return not any(_keeps(anatomy, node, names) for node in slot[1].nodes)


def _keeps(anatomy: Anatomy, node: cst.CSTNode, names: set[str]) -> bool:
    """Whether a statement puts a list where it lasts, gives it back, or hands it to who may keep it."""
    if isinstance(node, (cst.Assign, cst.AugAssign)):
        return not isinstance(ex.targets(node)[0], cst.Name) and _holds(anatomy, node.value, names)
    if isinstance(node, (cst.Return, cst.Yield)):
        return node.value is not None and _holds(anatomy, node.value, names)
    if not isinstance(node, cst.Call) or is_logging(node) or ex.dotted(node.func) in _LOOKS:
        return False
    asks = node in anatomy.facts.calls or (anatomy.turns.reaches_model(node) and not anatomy.keeps(node))
    return not asks and any(_holds(anatomy, arg.value, names) for arg in node.args)


def _holds(anatomy: Anatomy, value: cst.CSTNode, names: set[str]) -> bool:
    """Whether a value has a list in it: what a model answers to it has not."""
    asks = (isinstance(part, cst.Call) and anatomy.turns.reaches_model(part) for part in walk(value))
    return reads(value, names) and not any(asks)
