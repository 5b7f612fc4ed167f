"""Nodes as keys: libcst hashes them by identity, as all objects are, but does so in Python; here it is done in C.

What is known is kept by node, so that this is a fifteenth of an analysis. For libcst's other users nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst


def hash_in_c() -> None:
    """Makes all classes of nodes hash as `object` does: libcst's decorators have put its own into each."""
    for kind in {cst.CSTNode, *_below(cst.CSTNode)}:
        kind.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for nearest in kind.__subclasses__():
        yield nearest
        yield from _below(nearest)
