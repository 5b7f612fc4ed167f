"""What a call that begins a thread or a task hands to the function that it begins: `Thread(target=f, args=(talk,))`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import libcst as cst

from lint_rules.anatomy.vocabulary import TASKS, THREADS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule

Given = Sequence[tuple[str | None, cst.BaseExpression]]
"""What a function gets: each by its keyword, or in its place."""

_PACKED = frozenset({"Thread", "Timer", "apply_async", "start_new_thread"})
"""Those that take it in a tuple, and in a dict."""
_NEAR = 4
"""A call of which it is an argument, also one of `partial` within it."""


def handed_along(call: cst.Call) -> tuple[cst.BaseExpression, Given] | None:
    """The function that a call begins, as it is named, and what it gets; None where a call begins none by name.

    `pool.submit(f, talk)`, `tasks.add_task(f, talk, key=key)`, `Timer(9, f, [talk])`, `pool.submit(partial(f, talk))`.
    """
    name = ex.called_name(call)
    place = THREADS.get(name, 0 if name in TASKS else None)
    if place is None or any(arg.star for arg in call.args):
        return None
    keywords, values = ex.keywords(call), ex.positional(call)
    named = place if isinstance(place, str) else "function"
    at = place if isinstance(place, int) else len(values)
    target, rest = (values[at], values[at + 1 :]) if at < len(values) else (keywords.get(named), [])
    if target is None:
        return None
    if name in _PACKED:
        given = _unpacked(keywords, rest)
    else:
        given = [*((None, value) for value in rest), *((word, value) for word, value in keywords.items())]
    if isinstance(target, cst.Call) and ex.called_name(target) == "partial" and target.args:
        made = ex.positional(target)
        return made[0], [*((None, each) for each in made[1:]), *given, *ex.keywords(target).items()]
    return target, given


def handed_with(module: SourceModule, reference: cst.BaseExpression) -> Given | None:
    """What a function gets that is named to begin it in a thread or a task; None where it is named for others."""
    calls = (outer for outer in islice(module.ancestors(reference), _NEAR) if isinstance(outer, cst.Call))
    begun = next(filter(None, map(handed_along, calls)), None)
    return begun[1] if begun is not None and begun[0] is reference else None


def _unpacked(keywords: dict[str, cst.BaseExpression], rest: list[cst.BaseExpression]) -> Given:
    packed = keywords.get("args", rest[0] if rest else None)
    members = packed.elements if isinstance(packed, (cst.Tuple, cst.List)) else ()
    named = keywords.get("kwargs", rest[1] if len(rest) > 1 else None)
    return [*((None, each.value) for each in members), *(ex.dict_items(named) if named is not None else {}).items()]
