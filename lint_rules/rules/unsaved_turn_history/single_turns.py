"""Functions that run for one turn only: what they store is gone with it."""

from __future__ import annotations

from collections import defaultdict

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope


def single_turns(anatomy: Anatomy) -> set[Scope]:
    """The functions that run once, from the top of the program, or on an object made for it.

    They are called outside of loops only, by such functions only; of a circle of calls, none. Or all of it in other
    files, that make an object for each run of theirs.
    """
    graph, top = anatomy.calls, anatomy.module.top
    found: set[Scope] = set()
    called: defaultdict[Scope, list[Scope]] = defaultdict(list)
    unknown: dict[Scope, int] = {}
    queue = [top]
    for function, sites in graph.sites.items():
        if (
            function is top
            or graph.references.get(function)
            or any(anatomy.module.loop_around(s.node, own=True) for s in sites)
        ):
            continue
        callers = [site.caller for site in sites if not _is_own_object(anatomy, site.node, site.caller)]
        unknown[function] = len(callers)
        for caller in callers:
            called[caller].append(function)
        if sites and not callers:
            queue.append(function)
    entries = {each.owner for each in anatomy.handed if each.what == "object"}
    begun = [each for each in unknown if entries and each.owner is not None and each.qualname in entries]
    queue += filter(Lasting(anatomy).ends_with_each_run, begun)
    while queue:
        here = queue.pop()
        found.add(here)
        for function in called[here]:
            unknown[function] -= 1
            if not unknown[function]:
                queue.append(function)
    return found


def _is_own_object(anatomy: Anatomy, call: cst.Call, caller: Scope) -> bool:
    """Whether a method is called on an object that the caller has made, and that goes with it."""
    base = ex.receiver(call)
    if base is None:
        return False
    if isinstance(base, cst.Call):
        return anatomy.facts.slots.constructed(base) is not None
    slot = anatomy.facts.slots.of(base)
    if slot is None or slot[0] != "var" or slot[1] is not caller or caller is anatomy.module.top:
        return False
    return all(
        isinstance(value, cst.Call) and anatomy.facts.slots.constructed(value) is not None
        for value in anatomy.facts.assigned(slot)
    ) and bool(anatomy.facts.assigned(slot))
