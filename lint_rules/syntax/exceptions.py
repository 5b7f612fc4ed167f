"""`try` statements: what guards a node, what a handler catches, how a handler ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule

CATCH_ALL = frozenset({"Exception", "BaseException"})
_STOPS = frozenset({"KeyboardInterrupt", "CancelledError", "BaseException"})
"""What somebody stops a run with: `except Exception` takes none of them."""


def guards(module: SourceModule, node: cst.CSTNode, within: cst.CSTNode | None = None) -> Iterator[cst.Try]:
    """The `try` statements whose body holds `node`, innermost first, up to `within` or the function."""
    below = node
    for outer in module.ancestors(node):
        if outer is within or isinstance(outer, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return
        if isinstance(outer, cst.Try) and below is outer.body:
            yield outer
        below = outer


def caught(handler: cst.ExceptHandler) -> frozenset[str]:
    """The last names of the exception classes a handler catches; a bare `except` catches BaseException."""
    return frozenset(name.rpartition(".")[2] for name in classes(handler))


def classes(handler: cst.ExceptHandler) -> list[str]:
    """The exception classes that a handler catches, as they are written, "" for what has no name."""
    if handler.type is None:
        return ["BaseException"]
    types = [e.value for e in handler.type.elements] if isinstance(handler.type, cst.Tuple) else [handler.type]
    return [ex.dotted(each) or "" for each in types]


def stops(name: str) -> bool:
    """Whether a handler of this class takes what somebody stops a run with."""
    return name in _STOPS


def is_covered(name: str, ended: Collection[str]) -> bool:
    """Whether an error of a class has ended where those of the classes `ended` do."""
    return name in ended or "BaseException" in ended or ("Exception" in ended and name not in _STOPS)


def handler_for(guard: cst.Try, names: frozenset[str]) -> cst.ExceptHandler | None:
    """The first handler of `guard` that catches one of `names` (give base classes too), or everything."""
    return next((h for h in guard.handlers if caught(h) & (names | CATCH_ALL)), None)


def bound_name(handler: cst.ExceptHandler) -> str | None:
    """`exc` of `except E as exc`."""
    return handler.name.name.value if handler.name and isinstance(handler.name.name, cst.Name) else None
