"""A program in normal form: what can be written in several ways stands in one, so that whoever asks sees the same.

As compilers do before they look for anything: displays instead of steps, the thing itself instead of another name for
it (copy propagation), a value where it is used instead of a name for it (forward substitution). Each node keeps the
place from which it comes. What a program does, and in which order, stays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from lint_rules.syntax.normal import (
    aliases,
    comparisons,
    defaults,
    displays,
    indirect,
    inlining,
    keys,
    loops,
    maps,
    matches,
    patterns,
    recursion,
    suppressed,
    temporaries,
    tuples,
    walrus,
    webs,
)
from lint_rules.syntax.normal.names import Nodes, in_each, scopes

__all__ = ["normalize"]


def normalize(
    tree: ast.Module,
    nodes: Nodes,
    elsewhere: Collection[str] = (),
    exported: Callable[[str], bool] = lambda name: False,
) -> bool:
    """Brings a tree into normal form, in place; whether anything was written otherwise. `nodes` are its nodes by kind,
    `elsewhere` names of functions of other files for which it matters in which thread this one runs them. `exported`:
    whether another file may call a function of this one by its name.

    Each step leaves forms that the next ones know.
    """
    before = [
        comparisons.normalize(tree, nodes),
        maps.normalize(tree, nodes),
        indirect.normalize(nodes, elsewhere),
        patterns.normalize(nodes),
    ]
    listed = scopes(tree, nodes)
    changed = [
        *before,
        suppressed.normalize(listed, nodes),
        matches.normalize(listed, nodes),
        walrus.normalize(listed, nodes),
        tuples.normalize(listed, nodes),
        in_each(listed, webs.split),
        defaults.normalize(listed, nodes),
        keys.normalize(listed, nodes),
        displays.normalize(listed, nodes),
        loops.normalize(listed, nodes),
        inlining.normalize(tree, listed, nodes, exported),
        recursion.normalize(tree, listed, nodes),
        in_each(listed, temporaries.substituted),
        aliases.normalize(listed, nodes),
    ]
    return any(changed)
