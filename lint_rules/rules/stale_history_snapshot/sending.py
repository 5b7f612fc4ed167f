"""Whether a loop sends a value in each round without ever renewing it."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.copies import Path, path_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

Loop = cst.While | cst.For

_MUTATORS = frozenset({"append", "extend", "insert", "appendleft", "update", "clear", "pop", "__setitem__", "write"})


class Sending:
    """Whether a loop sends a value in each round without ever renewing it."""

    def __init__(self, anatomy: Anatomy, function: Scope, loop: Loop) -> None:
        self.anatomy = anatomy
        self.function = function
        self.loop = loop

    def of(self, path: Path) -> cst.CSTNode | None:
        """The request in the loop that holds `path`, when nothing in the loop changes what it holds."""
        if self._renewed(path):
            return None
        paths = self._views({path})
        for call in self.anatomy.calls.calls_within(self.loop.body, self.function):
            sent = self._sent(call)
            holding = [value for value in sent if _refers(value, paths)]
            if path[0] == "self" and len(path) > 1 and self._sent_by_method(call, path):
                return call
            if holding and not self._adds_something(holding, paths):
                return call
        return None

    def _sent(self, call: cst.Call) -> list[cst.BaseExpression]:
        """What a request sends: the arguments of an LLM call, or of a function of this file that makes one."""
        if call in self.anatomy.facts.calls:
            llm = self.anatomy.facts.calls[call]
            if llm.history is not None and llm.keyword == "messages" and self.anatomy.module.inside(llm.history, call):
                return [llm.history]  # not of a dict that is spread: what was put into that is no longer renewed
            return [arg.value for arg in call.args]
        callee = self.anatomy.facts.slots.callee(call)
        if callee is None or not self.anatomy.calls.reaches_llm(callee):
            return []
        bound, writes = self.anatomy.facts.slots.bindings(call, callee), self.anatomy.writes.by_slot
        return [value for slot, value in bound if not any(write.kind in GROWING for write in writes[slot])]

    def _sent_by_method(self, call: cst.Call, path: Path) -> bool:
        """Whether a method that the loop runs sends an attribute of their common object."""
        callee = self.anatomy.facts.slots.callee(call)
        if callee is None or callee.owner is None or callee.owner is not self.function.owner:
            return False
        return any(_refers(arg.value, {path}) for asked in self.anatomy.calls.llm_calls[callee] for arg in asked.args)

    def _adds_something(self, holding: list[cst.BaseExpression], paths: set[Path]) -> bool:
        """`before + added`, `[*base, question]`: what comes with the snapshot may well change from round to round."""
        for value in holding:
            for node in walk(value):
                if isinstance(node, (cst.Name, cst.Attribute)):
                    path = path_of(node)
                    root = path[0] if path is not None else None
                    if path is not None and not _covers(paths, path) and root is not None and self._changes(root):
                        return True
        return False

    def _changes(self, name: str) -> bool:
        """Whether a name means something else in another round: bound, grown or changed inside the loop."""
        if isinstance(self.loop, cst.For) and name in ex.target_names(self.loop.target):
            return True
        return self._renewed((name,))

    def _views(self, paths: set[Path]) -> set[Path]:
        """The paths, and names that are bound in the loop to something made of them."""
        found = set(paths)
        for _ in range(2):
            for node in self.function.nodes:
                if isinstance(node, cst.Assign) and self.anatomy.module.inside(node, self.loop.body):
                    target = path_of(node.targets[0].target)
                    if target is not None and _refers(node.value, found) and target not in found:
                        if not self._adds_something([node.value], found):
                            found.add(target)
        return found

    def _renewed(self, path: Path) -> bool:
        """Whether the loop binds, grows or changes what `path` holds, itself or by handing it to a function."""
        inside = (node for node in self.function.nodes if self.anatomy.module.inside(node, self.loop))
        return any(self._is_changed(node, path) or self._is_changed_by_call(node, path) for node in inside)

    def _is_changed(self, node: cst.CSTNode, path: Path) -> bool:
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For)):
            return any(self._touches(target, path) for target in ex.targets(node))
        if isinstance(node, cst.Call):
            base = ex.receiver(node) if ex.called_name(node) in _MUTATORS else None
            return base is not None and self._touches(base, path)
        return isinstance(node, cst.Del) and self._touches(node.target, path)

    def _is_changed_by_call(self, call: cst.CSTNode, path: Path) -> bool:
        """Whether a call hands the value to a function that changes it, or runs a method that does."""
        slots = self.anatomy.facts.slots
        callee = slots.callee(call)
        if callee is None or not isinstance(call, cst.Call):
            return False
        of_self = path[0] == "self" and len(path) > 1
        if of_self and any(
            self._is_changed(n, path) for here in self.anatomy.calls.reachable(callee) for n in here.nodes
        ):
            return True
        names = {slot[2] for slot, value in slots.bindings(call, callee) if path_of(value) == path}
        return any(self._is_changed(n, (name,)) for name in names for n in callee.nodes if not _binds(n, name))

    @staticmethod
    def _touches(target: cst.BaseExpression, path: Path) -> bool:
        if isinstance(target, (cst.Tuple, cst.List)):
            return any(Sending._touches(element.value, path) for element in target.elements)
        if isinstance(target, cst.Subscript) and ex.slice_of(target) is not None:
            target = target.value
        touched = path_of(target)
        return touched is not None and (touched[: len(path)] == path or path[: len(touched)] == touched)


def _binds(node: cst.CSTNode, name: str) -> bool:
    """`messages = messages[-5:]`, where others keep theirs."""
    return isinstance(node, cst.Assign) and any(ex.dotted(target) == name for target in ex.targets(node))


def _covers(paths: set[Path], path: Path) -> bool:
    return any(path[: len(known)] == known or known[: len(path)] == path for known in paths)


def _refers(node: cst.BaseExpression, paths: set[Path]) -> bool:
    """Whether an expression mentions one of `paths`, or something below it."""
    for inside in walk(node):
        if ex.reads_place(inside):
            path = path_of(inside)
            if path is not None and any(path[: len(known)] == known for known in paths):
                return True
            if path is not None and isinstance(inside, cst.Name) and any(known[0] == path[0] for known in paths):
                parent_is_whole = inside is ex.inner(node)
                if parent_is_whole:
                    return True
    return False
