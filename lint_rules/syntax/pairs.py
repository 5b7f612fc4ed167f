"""The statements of a libcst tree, each with its twins: `ast` has the same statements in the same order."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import libcst as cst

__all__ = ["innermost", "paired"]


def paired(tree: cst.Module, twin: ast.Module) -> Iterator[tuple[cst.CSTNode, Sequence[Any]]]:
    """The statements and handlers that begin a line, with what `ast` has for each: several for `a; b`, else one."""
    pending = list(_block(tree.body, twin.body))
    while pending:
        statement, twins = pending.pop()
        yield statement, twins
        for suite, inside in _suites(statement, twins[0]):
            if type(suite) is cst.IndentedBlock:
                pending.extend(_block(suite.body, inside))
        if type(statement) is cst.If and type(statement.orelse) is cst.If:
            pending.append((statement.orelse, twins[0].orelse))
        elif type(statement) in (cst.Try, cst.TryStar):
            handlers = zip(statement.handlers, twins[0].handlers, strict=True)
            pending.extend((handler, (its,)) for handler, its in handlers)


def innermost(
    node: cst.CSTNode, known: Container[cst.CSTNode], parent: Mapping[cst.CSTNode, cst.CSTNode]
) -> cst.CSTNode | None:
    """`node` or the nearest one around it that is known; None where there is none."""
    here: cst.CSTNode | None = node
    while here is not None and here not in known:
        here = parent.get(here)
    return here


def _block(body: Sequence[Any], twins: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """The statements of a block: libcst keeps small ones that share a line together."""
    rest = iter(twins)
    for statement in body:
        yield statement, list(islice(rest, len(statement.body) if type(statement) is cst.SimpleStatementLine else 1))


def _suites(statement: Any, twin: Any) -> Iterator[tuple[cst.BaseSuite, Sequence[Any]]]:
    """The blocks of a statement or handler, but for those of its handlers and of an `elif`."""
    kind = type(statement)
    if kind is cst.Match:
        yield from ((case.body, its.body) for case, its in zip(statement.cases, twin.cases, strict=True))
    elif kind is not cst.SimpleStatementLine:
        yield statement.body, twin.body
    if kind in (cst.Try, cst.TryStar) and statement.finalbody is not None:
        yield statement.finalbody.body, twin.finalbody
    if kind in (cst.For, cst.If, cst.Try, cst.TryStar, cst.While) and type(statement.orelse) is cst.Else:
        yield statement.orelse.body, twin.orelse
