"""Functions that run for one turn only: what they store is gone with it."""

from __future__ import annotations

from collections import defaultdict

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns.lasting import Lasting
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
        callers = [site.caller for site in sites if not graph.made_for(site.node)]  # an object of its own goes with it
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
