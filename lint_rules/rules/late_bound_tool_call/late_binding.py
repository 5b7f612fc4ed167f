"""Closures made in a loop that run when the loop has gone on: they read its variables then, not when they were made."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

Loop = cst.For | cst.CompFor

_STARTERS = frozenset(
    {
        "submit", "apply_async", "create_task", "ensure_future", "start_soon", "run_in_executor", "to_thread", "spawn",
        "Thread", "Timer", "call_later", "call_soon", "call_soon_threadsafe", "run_coroutine_threadsafe", "add_task",
    }
)  # fmt: skip
_KEEPERS = frozenset({"append", "appendleft", "add", "put", "put_nowait", "insert", "setdefault"})
_CALLBACKS = frozenset({"add_done_callback", "add_callback", "subscribe", "add_listener", "push"})
_WAITERS = frozenset({"result", "join", "get", "wait"})
_WRAPPERS = frozenset({"partial", "list", "tuple", "shield"})


@record
class LateClosure:
    """A lambda or nested function that reads `names` of `loop`, and `runs` later: where it is kept or started."""

    node: cst.Lambda | cst.FunctionDef
    names: tuple[str, ...]
    loop: Loop
    runs: cst.CSTNode


def late_closures(anatomy: Anatomy) -> Iterator[LateClosure]:
    """The late closures in loops over tool calls, in source order."""
    module = anatomy.module
    for scope in module.functions:
        node = scope.node
        if not isinstance(node, (cst.Lambda, cst.FunctionDef)) or scope.parent is None:
            continue
        if isinstance(node, cst.FunctionDef) and node.decorators:
            continue
        for loop in _loops_around(anatomy, node, scope.parent):
            names = _names_read(anatomy, node, loop, scope.parent)
            runs = _Escape(anatomy, loop, scope).of(node) if names else None
            if runs is not None:
                yield LateClosure(node, names, loop, runs)
                break


def _loops_around(anatomy: Anatomy, node: cst.CSTNode, scope: Scope) -> Iterator[Loop]:
    """The loops over calls around a closure, in the function that makes it."""
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return
        loop: Loop | None = None
        if isinstance(outer, cst.For) and anatomy.module.inside(node, outer.body):
            loop = outer
        elif isinstance(outer, (cst.ListComp, cst.SetComp, cst.DictComp)):
            loop = outer.for_in
        if loop is not None and _over_calls(anatomy, loop.iter):
            yield loop


def _over_calls(anatomy: Anatomy, iterable: cst.BaseExpression) -> bool:
    if anatomy.facts.is_kind(iterable, Kind.CALLS):
        return True
    if isinstance(iterable, cst.Call) and ex.called_name(iterable) in {"enumerate", "zip", "reversed"}:
        return any(anatomy.facts.is_kind(arg.value, Kind.CALLS) for arg in iterable.args)
    return False


def _names_read(anatomy: Anatomy, node: cst.CSTNode, loop: Loop, outer: Scope) -> tuple[str, ...]:
    """What a closure reads of the loop: its variables, and what is assigned from them in each turn."""
    module = anatomy.module
    bound = set(ex.target_names(loop.target))
    owner = module.scope_of[loop.target]
    if isinstance(loop, cst.For):
        assigned = [n for n in outer.function.nodes if isinstance(n, (cst.Assign, cst.AnnAssign, cst.For))]
        for inside in [n for n in assigned if module.inside(n, loop.body)]:
            value = inside.iter if isinstance(inside, cst.For) else inside.value
            if value is not None and mentions(bound, value):
                targets = ex.targets(inside)
                bound.update(name for target in targets for name in ex.target_names(target))
    found: dict[str, None] = {}
    for name in walk(node):
        if isinstance(name, cst.Name) and name.value in bound:
            inner = module.scope_of.get(name)
            if inner is not None and inner is not owner and _binds(anatomy, inner, name.value, owner, outer):
                found[name.value] = None
    return tuple(found)


def _binds(anatomy: Anatomy, inner: Scope, name: str, owner: Scope, outer: Scope) -> bool:
    """Whether a name that a closure reads is the loop's."""
    binding = anatomy.module.scope_binding(inner, name)
    return binding is owner or binding is outer.function


class _Escape:
    """Whether a closure leaves the turn of the loop that made it."""

    def __init__(self, anatomy: Anatomy, loop: Loop, scope: Scope) -> None:
        self._anatomy = anatomy
        self._module = anatomy.module
        self._loop = loop
        self._is_async = scope.is_async
        assert scope.parent is not None
        self._function = scope.parent.function

    def of(self, node: cst.Lambda | cst.FunctionDef) -> cst.CSTNode | None:
        """Where it is kept or started, to run later; None where it runs at once, or where that is not known."""
        if isinstance(node, cst.FunctionDef):
            return self._named(node.name.value, node)
        return self._value(node, coroutine=False)

    def _named(self, name: str, made: cst.CSTNode) -> cst.CSTNode | None:
        for use in self._function.nodes:
            if not isinstance(use, cst.Name) or use.value != name or not self._module.inside(use, self._loop):
                continue
            parent = self._module.parent[use]
            if parent is made or isinstance(parent, (cst.AssignTarget, cst.NameItem)):
                continue
            if isinstance(parent, cst.Call) and parent.func is use:
                runs = self._value(parent, coroutine=True) if self._is_async else None
            else:
                runs = self._value(use, coroutine=False)
            if runs is not None:
                return runs
        return None

    def _value(self, value: cst.BaseExpression, *, coroutine: bool) -> cst.CSTNode | None:
        """What becomes of a closure, or of the coroutine that it gives."""
        here: cst.CSTNode = value
        parent = self._module.parent[here]
        while isinstance(parent, (cst.Element, cst.List, cst.Tuple, cst.StarredElement, cst.DictElement, cst.Dict)):
            here, parent = parent, self._module.parent[parent]
        if isinstance(parent, cst.Arg):
            call = self._module.parent[parent]
            return self._argument(call, coroutine=coroutine) if isinstance(call, cst.Call) else None
        if isinstance(parent, (cst.ListComp, cst.SetComp, cst.DictComp)):
            return parent if parent.for_in is self._loop else None
        if isinstance(parent, cst.AugAssign):
            return parent
        if isinstance(parent, cst.Assign):
            target = parent.targets[0].target
            return parent if isinstance(target, (cst.Subscript, cst.Attribute)) else None
        return None

    def _argument(self, call: cst.Call, *, coroutine: bool) -> cst.CSTNode | None:
        name = ex.called_name(call)
        if name in _CALLBACKS:
            return call
        if name in _KEEPERS:
            return call if isinstance(self._module.parent[call], cst.Expr) else None
        if name in _STARTERS:
            return None if self._is_waited_for(call) else call
        if name in _WRAPPERS or coroutine or name[:1].isupper():  # an object that has it
            return self._value(call, coroutine=coroutine)
        return None

    def _is_waited_for(self, call: cst.Call) -> bool:
        """Whether the turn of the loop waits for what it started: awaited, `.result()`, `.join()`."""
        parent = self._module.parent[call]
        if isinstance(parent, cst.Await):
            return True
        if isinstance(parent, cst.Attribute) and parent.attr.value in _WAITERS:
            return True
        if isinstance(parent, cst.Arg):
            return any(isinstance(outer, cst.Await) for outer in self._expression_around(call))
        if not isinstance(parent, cst.Assign):
            return False
        names = {name for target in parent.targets for name in ex.target_names(target.target)}
        for use in self._function.nodes:
            if isinstance(use, cst.Name) and use.value in names and self._module.inside(use, self._loop):
                above = self._module.parent[use]
                if isinstance(above, cst.Attribute) and above.attr.value in _WAITERS:
                    return True
                if any(isinstance(outer, cst.Await) for outer in self._expression_around(use)):
                    return True
        return False

    def _expression_around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        for outer in self._module.ancestors(node):
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return
            yield outer
