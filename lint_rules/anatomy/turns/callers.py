"""Functions that run beside others because of who calls them, in another file: for handlers, threads and tasks there.

A file says in a summary which functions of others it runs, from its own starts and from each of its functions; from
the summaries of those that import it, it is worked out how its own functions come to run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.program.concurrency import Caller, Passing, Start
from lint_rules.finding import Span
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.twins import Unplaced


def passings(anatomy: Anatomy) -> Iterator[Passing]:
    """The calls by which a file runs functions of others, where nothing in it keeps the runs apart."""
    unguarded = anatomy.unguarded
    begun = [(start, unguarded.reach(start.function, start)) for start in unguarded.starts]
    reached = {f: unguarded.reach(f, None) for f in anatomy.module.functions if f.kind == "function"}
    for call in anatomy.module.nodes_of(cst.Call):
        where = anatomy.module.scope_of[call].function
        found = run_elsewhere(anatomy, call)
        if found is None or where.kind == "module" or unguarded.is_guarded(call, where):
            continue
        own, through_self = _object(anatomy, call, where)
        passing = Passing(
            file=os.path.abspath(found[0].module.path),
            function=found[1].qualname,
            path=anatomy.module.path,
            span=_span(anatomy, call),
            by=where.name,
            own=own,
            through_self=through_self,
            starts=tuple(
                (start.kind, start.kind == "handler" or unguarded.is_many(start), not reach[where])
                for start, reach in begun
                if where in reach
            ),
            callers={f.qualname: reach[where] for f, reach in reached.items() if where in reach},
        )
        yield passing


def _object(anatomy: Anatomy, call: cst.Call, where: Scope) -> tuple[bool, bool]:
    """Whether the object, of which a method is called, was made for this run; and whether it is a part of `self`."""
    base = ex.receiver(call)
    slot = anatomy.facts.slots.of(base) if base is not None else None
    if base is None or slot is None:
        return isinstance(base, cst.Call), False
    place = anatomy.aliases.of(slot)
    root = place
    while root[0] in {"member", "item"}:
        root = root[1]
    return not anatomy.aliases.is_lasting(place, where), root[0] == "attr"


def _span(anatomy: Anatomy, call: cst.Call) -> Span:
    """Where a call stands; of one within an f-string, where that does."""
    for node in (call, *anatomy.module.ancestors(call)):
        with suppress(Unplaced):
            return anatomy.module.positions.span(node)
    return Span(1, 1, 1, 1)


def callers(path: str, importing: Callable[[str], Iterable[tuple[str, list[Passing]]]], hops: int) -> list[Caller]:
    """How the functions of a file come to run beside others, each way once.

    `importing` gives the files that import one, each with its passings; `hops` says how many imports away they may be.
    """
    found: dict[object, Caller] = {}
    for importer, passed in importing(path):
        here = [passing for passing in passed if passing.file == os.path.abspath(path)]
        outer = callers(importer, importing, hops - 1) if here and hops > 1 else []
        for passing in here:
            begun = [Caller(passing, kind, many, on_loop, passing.own) for kind, many, on_loop in passing.starts]
            begun += [
                Caller(
                    passing,
                    before.kind,
                    before.many,
                    before.on_loop and not passing.callers[before.passing.function],
                    passing.own or (before.own and passing.through_self),
                )
                for before in outer
                if before.passing.function in passing.callers
            ]
            for caller in begun:
                found.setdefault((passing.function, caller.kind, caller.many, caller.on_loop, caller.own), caller)
    return list(found.values())


def called_beside(anatomy: Anatomy) -> Iterator[Start]:
    """A start for each way in which other files run functions of this one beside others."""
    functions = {function.qualname: function for function in anatomy.module.functions} if anatomy.callers else {}
    for caller in anatomy.callers:
        function = functions.get(caller.passing.function)
        if function is not None:
            yield Start(function, function.node, caller.kind, caller.many, None, caller)
