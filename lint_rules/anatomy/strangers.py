"""Calls that get a message history, and of which nothing else is known: they may ask a model."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.syntax import expressions as ex


class Stranger(NamedTuple):
    """A call in a line (from 1), by the name under which it would be listed in `llm-calls`."""

    name: str
    line: int


def strangers(anatomy: Anatomy) -> Iterator[Stranger]:
    """Calls whose result is used, and whose function is neither of this project nor of Python's own."""
    for call in anatomy.module.nodes_of(cst.Call):
        if call not in anatomy.facts.calls and is_stranger(anatomy, call):
            if any(anatomy.is_history(arg.value) for arg in call.args):
                yield Stranger(_listed(anatomy, ex.dotted(call.func) or ""), anatomy.line(call))


def is_stranger(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether the result of a call is used, and its function is neither of this project nor of Python's own."""
    name = ex.dotted(call.func) or ""
    return bool(name) and _is_used(anatomy, call) and not _is_known(anatomy, call, name)


def _is_used(anatomy: Anatomy, call: cst.Call) -> bool:
    parent = anatomy.module.parent.get(call)
    if isinstance(parent, cst.Await):
        parent = anatomy.module.parent.get(parent)
    return isinstance(parent, (cst.Assign, cst.AnnAssign, cst.Return, cst.Attribute, cst.For))


def _is_known(anatomy: Anatomy, call: cst.Call, name: str) -> bool:
    slots = anatomy.facts.slots
    if slots.callee(call) is not None or slots.constructed(call) is not None:
        return True
    root = anatomy.module.imports.resolve(name).split(".")[0]
    if root in sys.stdlib_module_names or hasattr(builtins, name) or name[0].isupper():
        return True
    base = ex.receiver(call)
    if base is not None and (anatomy.facts.kinds(base) or ex.called_name(call) in _OF_CONTAINERS):
        return True
    return base is None and anatomy.imported_function(name) is not None


_OF_CONTAINERS = frozenset({name for kind in (list, dict, set, str) for name in dir(kind)})


def _listed(anatomy: Anatomy, name: str) -> str:
    """As imported, or the last two names of what an object is asked."""
    full = anatomy.module.imports.resolve(name)
    return full if full != name else ".".join(name.split(".")[-2:])
