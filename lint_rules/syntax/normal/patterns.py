"""What a pattern takes out of a value: `case Call(args=x):` as `case Call(args=_):` and `x = item.args`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import Any

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import Nodes


def normalize(nodes: Nodes) -> bool:
    changed = False
    for match in nodes.get(ast.Match, ()):
        for case in match.cases if _is_chain(match.subject) else ():
            guard = walk(case.guard) if case.guard is not None else ()
            used = {node.id for node in guard if type(node) is ast.Name}
            taken = [_read(match.subject, key, part) for key, part in _captures(case.pattern) if part.name not in used]
            case.body = [*taken, *case.body]
            changed |= bool(taken)
    return changed


def _captures(pattern: Any) -> Iterator[tuple[Any, Any]]:
    """The names that a pattern of a class or a dict binds, each with the attribute or key that it stands for."""
    if type(pattern) is ast.MatchAs and pattern.pattern is not None:
        pattern = pattern.pattern
    pairs: Iterable[tuple[Any, Any]] = ()
    if type(pattern) is ast.MatchClass:
        pairs = zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
    elif type(pattern) is ast.MatchMapping:
        pairs = zip(pattern.keys, pattern.patterns, strict=True)
    for key, part in pairs:
        if type(part) is ast.MatchAs and part.pattern is None and part.name is not None:
            yield key, part


def _read(subject: ast.expr, key: Any, part: Any) -> ast.stmt:
    """The assignment that binds what a part of a pattern does; that takes anything then."""
    whole = copy.deepcopy(subject)
    is_key = isinstance(key, ast.expr)
    value = ast.Subscript(whole, key, ast.Load()) if is_key else ast.Attribute(whole, key, ast.Load())
    made = ast.Assign([ast.Name(part.name, ast.Store())], value)
    part.name = None
    for node in ast.walk(made):
        ast.copy_location(node, part)
    return made


def _is_chain(node: ast.expr) -> bool:
    while type(node) is ast.Attribute:
        node = node.value
    return type(node) is ast.Name
