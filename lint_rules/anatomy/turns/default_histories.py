"""Default arguments that grow: they are made once, when the function is defined, and each call goes on with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import made_class
from lint_rules.anatomy.messages.growth import is_mutable, keeps_conversation
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.slots import Slot, is_method
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import truth
from lint_rules.syntax.walk import walk

_IDS = frozenset({"uuid1", "uuid4", "token_hex", "token_urlsafe", "ULID", "nanoid", "generate"})
_MARKERS = frozenset({"Depends", "Security", "Inject", "Injected", "Provide", "FromDishka"})
"""Defaults that a framework puts something else in the place of, for each call."""


@record
class GrownDefault:
    """The default of `param`, the list or its holder ("default") or the key that it is stored under ("key")."""

    how: Literal["default", "key"]
    param: cst.Param
    slot: Slot
    grown: cst.CSTNode
    evidence: Evidence | None


def grown_defaults(anatomy: Anatomy) -> Iterator[GrownDefault]:
    """`def ask(text, messages=[])`, where the list grows: here, in what it is stored in, or in what it is passed to."""
    for function in anatomy.module.functions:
        for param in parameters(function):
            default = ex.inner(param.default) if param.default is not None else None
            if default is None or function.kind == "lambda":
                continue
            slot = anatomy.facts.slots.parameter(function, param.name.value)
            if is_mutable(default):
                grown = _grown_from(anatomy, slot, not _holds_something(default))
                if grown is not None and not _always_passed(anatomy, function, slot):
                    yield GrownDefault("default", param, slot, grown.node, grown.evidence)
            elif isinstance(default, cst.Call):
                yield from _of_made_default(anatomy, param, slot, default)


def _always_passed(anatomy: Anatomy, function: Scope, slot: Slot) -> bool:
    """Whether all calls of a plain function in this file pass the argument: then the default is never used."""
    sites = anatomy.calls.sites[function]
    if not sites or is_method(function) or anatomy.calls.references[function]:
        return False
    return all(any(s == slot for s, _ in anatomy.facts.slots.bindings(site.node, function)) for site in sites)


def _holds_something(default: cst.BaseExpression) -> bool:
    return bool(default.elements) if isinstance(default, cst.List) else bool(getattr(default, "args", ()))


def _grown_from(anatomy: Anatomy, start: Slot, empty: bool) -> HistoryWrite | None:
    """A growing write to the list in `start`, under any name it gets in this file.

    An empty one must come to it: `x or []` drops it, `if not x: x = [system]` too. What only grows a list that is not
    empty never grows the default.
    """
    facts, seen, queue = anatomy.facts, {start}, [start]
    while queue:
        slot = queue.pop()
        for write in anatomy.writes.by_slot[slot]:
            if write.kind in GROWING and _is_what_was_passed(anatomy, slot, write):
                if slot != start or not empty or _comes_empty_to(anatomy, start, write.node):
                    return write
        for target, node in _other_names(anatomy, slot, empty):
            if slot == start and empty and not _comes_empty_to(anatomy, start, node):
                continue
            if target not in seen and Kind.HISTORY in facts.of(target):
                seen.add(target)
                queue.append(target)
    return None


def _comes_empty_to(anatomy: Anatomy, slot: Slot, node: cst.CSTNode) -> bool:
    """Whether a way leads to `node` on which the parameter in `slot` is still a list with nothing in it."""
    function, name = slot[1], slot[2]
    graph = anatomy.flow(function)
    goals = graph.enclosing(node, anatomy.module.parent)
    replaced = {
        d.point
        for d in anatomy.reaching(function).definitions
        if d.name == name and d.kind not in {"parameter", "augmented"} and not isinstance(d.value, cst.Name)
    }
    known = {name: False, f"len({name})": False}
    queue = [graph.entry]
    seen = {graph.entry}
    while queue:
        here = queue.pop()
        if here in goals:
            return True
        test = here.statement.test if isinstance(here.statement, (cst.If, cst.While)) else None
        told = truth(test, known) if test is not None else None
        for target, kind in here.successors:
            barred = (told is not None and kind == ("false" if told else "true")) or (
                here in replaced and kind != "exception"
            )
            if not barred and target not in seen:
                seen.add(target)
                queue.append(target)
    return not goals


def _is_what_was_passed(anatomy: Anatomy, slot: Slot, write: HistoryWrite) -> bool:
    """Not a new list under the name of the parameter: `history = list(history)`."""
    base = _target(write)
    found = anatomy.definitions(base) if isinstance(base, cst.Name) and slot[1] is write.function else []
    return not found or any(d.kind == "parameter" or isinstance(d.value, cst.Name) for d in found)


def _other_names(anatomy: Anatomy, slot: Slot, empty: bool) -> Iterator[tuple[Slot, cst.CSTNode]]:
    """What the object in `slot` is also called, and where: by assignment, as a parameter of what it is passed to."""
    facts, function = anatomy.facts, slot[1]
    for node in function.nodes if slot[0] == "var" else ():
        if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
            parts = [node.value] if empty else list(ex.alternatives(node.value))
            if any(facts.slots.of(part) == slot and isinstance(part, cst.Name) for part in parts):
                targets = ex.targets(node)
                yield from ((found, node) for t in targets if (found := facts.slots.of(t)) is not None)
        elif isinstance(node, cst.Call):
            callee = facts.slots.callee(node)
            for parameter, value in facts.slots.bindings(node, callee) if callee is not None else ():
                if isinstance(value, cst.Name) and facts.slots.of(value) == slot:
                    yield parameter, node


def _of_made_default(anatomy: Anatomy, param: cst.Param, slot: Slot, default: cst.Call) -> Iterator[GrownDefault]:
    """`state=State()`, an object that keeps a history; `key=uuid4()`, the same key for every history."""
    if ex.called_name(default) in _IDS and not default.args:
        used = _history_under(anatomy, slot)
        if used is not None:
            yield GrownDefault("key", param, slot, *used)
        return
    made = made_class(anatomy, default)
    if made is None and not keeps_conversation(anatomy.module, default) and not _makes_state(default):
        return
    names = {slot, *(name for name, _ in _other_names(anatomy, slot, False))}
    for write in anatomy.writes.all:
        target = _target(write) if write.kind in GROWING else None
        if isinstance(target, cst.Attribute) and any(s in names for s in _holders(anatomy, target.value)):
            yield GrownDefault("default", param, slot, write.node, write.evidence)
            return


def _makes_state(default: cst.Call) -> bool:
    """`State()` of a class that is not at hand: what grows in it, the writes of this file show."""
    name = ex.called_name(default)
    return name[:1].isupper() and name not in _MARKERS and not default.args


def _holders(anatomy: Anatomy, base: cst.BaseExpression) -> Iterator[Slot]:
    """The slots of `a.b.c`, `a.b` and `a`."""
    while True:
        found = anatomy.facts.slots.of(base)
        if found is not None:
            yield found
        if not isinstance(base, cst.Attribute):
            return
        base = base.value


def _history_under(anatomy: Anatomy, key: Slot) -> tuple[cst.CSTNode, Evidence] | None:
    """A history that is stored under a key, or in what is kept under it."""
    for write in anatomy.writes.all:
        for node in walk(target) if write.function is key[1] and (target := _target(write)) is not None else ():
            at = ex.index(node)
            if isinstance(at, cst.Name) and anatomy.facts.slots.of(at) == key:
                return write.node, write.evidence
    return None


def _target(write: HistoryWrite) -> cst.BaseExpression | None:
    """What is written to: `x` of `x.append(m)`, `x = [...]`, `x += [m]`."""
    if isinstance(write.node, cst.Call):
        return ex.receiver(write.node)
    if isinstance(write.node, cst.Assign):
        return write.node.targets[0].target
    return write.node.target if isinstance(write.node, (cst.AugAssign, cst.AnnAssign)) else None
