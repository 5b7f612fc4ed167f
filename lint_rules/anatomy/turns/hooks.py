"""Methods of this file that a base class of another file runs beside others: `tick`, from the thread that it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import FoundClass, bases_elsewhere, inherited, own_class
from lint_rules.anatomy.program.concurrency import Caller, Passing, Start, begun_elsewhere
from lint_rules.finding import Span
from lint_rules.syntax.module import Scope
from lint_rules.syntax.twins import Unplaced


def hooks(anatomy: Anatomy, cls: Scope, found: FoundClass) -> Iterator[tuple[Scope, bool]]:
    """The methods of a class that one which it inherits from another file comes to, by `self`.

    With each whether that is in a thread of its own.
    """
    there, function = found
    yield from _overridden(cls, there, there.unguarded.reach(function, None))


def begun_by_bases(anatomy: Anatomy) -> Iterator[Start]:
    """A start for each method here that a thread, a task or a handler of a base class in another file comes to."""
    for cls in anatomy.module.classes:
        for there, base in bases_elsewhere(anatomy, cls, lambda near, _: near.starts_runs):
            unguarded = there.unguarded
            line = there.module.lineage(base)
            for start in unguarded.starts:
                if start.function.owner in line:
                    many = start.kind == "handler" or unguarded.is_many(start)
                    for method, thread in _overridden(cls, there, unguarded.reach(start.function, start)):
                        caller = Caller(_passing(anatomy, method, there, start), start.kind, many, not thread, False)
                        yield Start(method, method.node, start.kind, many, None, caller)


def begun_through_bases(anatomy: Anatomy) -> Iterator[Start]:
    """What a file starts that it inherits from another, by the methods here to which that comes."""
    for begun, many in begun_elsewhere(anatomy):
        if isinstance(begun.target, cst.Attribute):
            cls = own_class(anatomy, begun.target.value)
            found = inherited(anatomy, cls, begun.target.attr.value) if cls is not None else None
            for method, _ in hooks(anatomy, cls, found) if cls is not None and found is not None else ():
                yield Start(method, begun.node, begun.kind, many, begun.target)


def comes_to(anatomy: Anatomy, caller: Caller) -> Iterator[tuple[Scope, Caller]]:
    """The functions of this file that a caller in another comes to: itself, or from what its class inherits."""
    module = anatomy.module
    owner, _, name = caller.passing.function.rpartition(".")
    cls = module.class_named(owner) if owner else None
    function = next((f for f in module.functions if f.qualname == caller.passing.function), None)
    if function is None and cls is not None:
        function = module.method(cls, name)
    if function is not None:
        yield function, caller
    found = inherited(anatomy, cls, name) if function is None and cls is not None else None
    for method, thread in hooks(anatomy, cls, found) if cls is not None and found is not None else ():
        yield method, replace(caller, on_loop=caller.on_loop and not thread)


def _overridden(cls: Scope, there: Anatomy, reach: dict[Scope, bool]) -> Iterator[tuple[Scope, bool]]:
    """The methods of a class whose names are those of methods that a base class runs, or calls on itself."""
    found: dict[str, bool] = {}
    for function, thread in reach.items():
        for name in (function.name, *_called_on_self(there, function)) if function.owner is not None else ():
            found[name] = found.get(name, False) or thread
    for name, thread in found.items():
        if name in cls.methods:
            yield cls.methods[name], thread


def _called_on_self(there: Anatomy, function: Scope) -> Iterable[str]:
    """The methods that only subclasses have, of those that a function runs without a lock."""
    own, slots = there.module.self_name(function), there.facts.slots
    for call in function.nodes_of(cst.Call):
        func = call.func
        if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name) and func.value.value == own:
            if slots.callee(call) is None and not there.unguarded.is_guarded(call, function):
                yield func.attr.value


def _passing(anatomy: Anatomy, method: Scope, there: Anatomy, start: Start) -> Passing:
    by = there.module.scope_of[start.node].function.name
    at = span_of(there, start.node)
    return Passing(
        anatomy.module.path, method.qualname, there.module.path, at, by, False, False, (), {}, handed_on=True
    )


def span_of(anatomy: Anatomy, call: cst.CSTNode) -> Span:
    """Where a call stands; of one within an f-string, where that does."""
    for node in (call, *anatomy.module.ancestors(call)):
        with suppress(Unplaced):
            return anatomy.module.positions.span(node)
    return Span(1, 1, 1, 1)
