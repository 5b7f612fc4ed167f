"""Nodes as keys and as kinds: what libcst's classes do in Python for both, `object` and `type` do the same in C.

What is known is kept by node, and what a node is, is asked of it everywhere: together that is a fifth of an analysis.
For libcst's other users nothing changes.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterator
from typing import Any

import libcst as cst


class _Kind(ABCMeta):
    """The class of the kinds of nodes, as which no other class is registered: `isinstance` looks at bases only."""

    __slots__ = ()
    __instancecheck__ = type.__instancecheck__


def ask_in_c() -> None:
    """Makes all classes of nodes hash as `object` does: libcst's decorators have put its own into each.

    And those that nothing derives from answer `isinstance` as plain classes do, not as abstract ones.
    """
    kinds: set[type[Any]] = {cst.CSTNode, *_below(cst.CSTNode)}
    for kind in kinds:
        kind.__hash__ = object.__hash__  # type: ignore[assignment]
        if not kind.__subclasses__():
            kind.__class__ = _Kind


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for nearest in kind.__subclasses__():
        yield nearest
        yield from _below(nearest)
