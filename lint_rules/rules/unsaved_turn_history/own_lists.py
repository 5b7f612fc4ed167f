"""Lists that get nowhere: what is put into one is gone with its function."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.views import Views
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_LOOKS = frozenset(
    {"len", "str", "repr", "sum", "any", "all", "enumerate", "reversed", "list", "range", "min", "max", "isinstance"}
)
"""Functions that look at a list, and keep it nowhere."""


def is_put_nowhere(anatomy: Anatomy, slot: Slot) -> bool:
    """Whether a list is a function's own, a copy or a new one, and gets nowhere but to a model and those who look."""
    if slot[0] != "var" or slot[1].kind != "function" or not anatomy.facts.assigned(slot):
        return False
    places = _Places(anatomy, slot[1])
    if is_parameter(slot) or not all(map(places.is_own, anatomy.facts.assigned(slot))):
        return False
    names = places.holders(slot)
    return not any(places.keeps(node, names) for node in slot[1].nodes)


class _Places:
    """Where one function puts its lists."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.function = function
        self.slots = anatomy.facts.slots

    def is_own(self, value: cst.BaseExpression) -> bool:
        """Whether a value is a new list, or a copy."""
        return isinstance(ex.inner(value), (cst.List, cst.ListComp)) or Views(self.anatomy).made_of(value) is not None

    def holders(self, slot: Slot) -> set[str]:
        """The name, and the local names of what holds it: `request = {"messages": messages}`."""
        names = {slot[2]}
        for _ in range(2):
            for node in self.function.nodes_of(cst.Assign, cst.AnnAssign):
                if node.value is not None and self._mentions(node.value, names):
                    if not self._is_request(node.value):
                        names.update(t.value for t in ex.targets(node) if isinstance(t, cst.Name))
        return names

    def _is_request(self, value: cst.BaseExpression) -> bool:
        return any(isinstance(part, cst.Call) and self.anatomy.turns.reaches_model(part) for part in walk(value))

    def _mentions(self, value: cst.CSTNode, names: set[str]) -> bool:
        """Whether a value holds the list: not its length, nor one of its messages."""
        parent = self.anatomy.module.parent
        for part in walk(value):
            if isinstance(part, cst.Name) and part.value in names:
                outer = parent[part]
                if isinstance(outer, cst.Subscript) and ex.slice_of(outer) is None and outer.value is part:
                    continue
                if isinstance(outer, cst.Arg) and ex.dotted(parent[outer].func) == "len":  # type: ignore[attr-defined]
                    continue
                return True
        return False

    def keeps(self, node: cst.CSTNode, names: set[str]) -> bool:
        """Whether a statement puts the list where it lasts, gives it back, or hands it to who may keep it."""
        if isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign)) and node.value is not None:
            targets = [t for t in ex.targets(node) if not isinstance(t, cst.Name)]
            return bool(targets) and self._mentions(node.value, names)
        if isinstance(node, (cst.Return, cst.Yield)):
            value = node.value.item if isinstance(node.value, cst.From) else node.value
            return value is not None and not self._is_request(value) and self._mentions(value, names)
        return type(node) is cst.Call and self._hands_on(node, names)

    def _hands_on(self, call: cst.Call, names: set[str]) -> bool:
        if is_logging(call) or ex.dotted(call.func) in _LOOKS or call in self.anatomy.facts.calls:
            return False
        given = [arg for arg in call.args if self._mentions(arg.value, names)]
        if not given or (self.anatomy.turns.reaches_model(call) and not self.anatomy.keeps(call)):
            return False
        callee = self.slots.callee(call)
        inside = [s for s, v in self.slots.bindings(call, callee) if self._mentions(v, names)] if callee else []
        return callee is None or any(self._uses(callee, there) for there in inside)

    def _uses(self, callee: Scope, parameter: Slot) -> bool:
        """Whether a function of this file may keep what it gets: it does more than to read or return it."""
        given = {p.name.value for p in parameters(callee)} & {parameter[2]} if parameter[0] == "var" else {parameter[2]}
        other = _Places(self.anatomy, callee)
        return any(other.keeps(node, given) for node in callee.nodes if not isinstance(node, cst.Return))
