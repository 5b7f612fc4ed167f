"""Where a store is told to keep others out, or to refuse what somebody else has overtaken."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_GUARDS = frozenset({"watch", "flock", "lockf", "with_for_update", "select_for_update", "start_transaction"})
_GUARDED = re.compile(r"begin\s+(immediate|exclusive)|\bfor\s+update\b|\bserializable\b", re.I)


def guards(function: Scope) -> Iterator[cst.CSTNode]:
    """Where a store is told to keep others out, or to refuse what is stale: `WATCH`, `FOR UPDATE`."""
    for node in walk(function.node):
        if (
            (isinstance(node, cst.Call) and ex.called_name(node) in _GUARDS)
            or (isinstance(node, cst.SimpleString) and _GUARDED.search(node.value))
            or (isinstance(node, cst.Arg) and _gives_transaction(node))
        ):
            yield node


def _gives_transaction(arg: cst.Arg) -> bool:
    """`with_for_update=True`, `transaction=transaction`: not `transaction=True`, which keeps writes together only."""
    keyword = arg.keyword.value if arg.keyword is not None else ""
    return keyword == "with_for_update" or (keyword == "transaction" and ex.dotted(arg.value) not in {None, "True"})
