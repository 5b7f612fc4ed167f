"""`match` as `if`, where each pattern is a test: `case "stop" | "length":` as `if reason in ("stop", "length"):`."""

from __future__ import annotations

import ast
import copy
from typing import Any, TypeVar

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import Nodes, Scope

_Node = TypeVar("_Node", bound=ast.AST)


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    changed = False
    for scope in scopes if nodes.get(ast.Match) else ():
        for block in scope.blocks:  # those that are added, too
            for place, line in enumerate(block):
                made = _chosen(line, scope) if type(line) is ast.Match else None
                if made is not None:
                    block[place] = made
                    changed = True
    return changed


def _chosen(match: ast.Match, scope: Scope) -> ast.stmt | None:
    """The same choice by tests; None where a pattern is more than that, or looking twice may not be the same."""
    if not _is_place(match.subject):
        return None
    tests = [_test(match.subject, case.pattern) for case in match.cases]
    if None in tests or tests == [True]:
        return None
    otherwise: list[ast.stmt] = []
    for case, test in zip(reversed(match.cases), reversed(tests), strict=True):
        last: Any = case.pattern
        if type(last) is ast.MatchAs and last.name is not None:
            bound = ast.Assign([ast.Name(last.name, ast.Store())], copy.deepcopy(match.subject))
            if case.guard is not None:
                return None
            case.body.insert(0, _placed(bound, case.pattern))
        parts = [part for part in (test, case.guard) if isinstance(part, ast.expr)]
        if not parts:
            otherwise = case.body
            continue
        asked = parts[0] if len(parts) == 1 else _placed(ast.BoolOp(ast.And(), parts), case.pattern)
        otherwise = [ast.copy_location(ast.If(asked, case.body, otherwise), case.pattern)]
        scope.blocks.append(otherwise)
    return ast.copy_location(otherwise[0], match)


def _test(subject: ast.expr, pattern: Any) -> ast.expr | bool | None:
    """What a pattern asks of a value: True if nothing, None if more than a test can say."""
    kind = type(pattern)
    if kind is ast.MatchAs:
        return True if pattern.pattern is None else None
    if kind is ast.MatchValue:
        return _compared(subject, ast.Eq(), pattern.value, pattern)
    if kind is ast.MatchSingleton:
        return _compared(subject, ast.Is(), _placed(ast.Constant(pattern.value), pattern), pattern)
    if kind is ast.MatchOr:
        values = [each.value for each in pattern.patterns if type(each) is ast.MatchValue]
        if len(values) == len(pattern.patterns):
            return _compared(subject, ast.In(), _placed(ast.Tuple(values, ast.Load()), pattern), pattern)
        return _together(ast.Or(), [_test(subject, each) for each in pattern.patterns], pattern)
    if kind is ast.MatchClass and not pattern.patterns:
        named = [copy.deepcopy(subject), pattern.cls]
        is_one = _placed(ast.Call(ast.Name("isinstance", ast.Load()), named, []), pattern)
        places = [ast.Attribute(copy.deepcopy(subject), name, ast.Load()) for name in pattern.kwd_attrs]
        return _together(ast.And(), [is_one, *_inside(places, pattern.kwd_patterns)], pattern)
    if kind is ast.MatchSequence and not pattern.patterns:  # `case Reply(calls=[])`
        return _placed(ast.UnaryOp(ast.Not(), copy.deepcopy(subject)), pattern)
    if kind is ast.MatchMapping and pattern.rest is None and pattern.keys:
        keys = [ast.Subscript(copy.deepcopy(subject), key, ast.Load()) for key in pattern.keys]
        asked = _inside(keys, pattern.patterns)
        first = _compared(pattern.keys[0], ast.In(), copy.deepcopy(subject), pattern)
        return _together(ast.And(), asked if any(test is not True for test in asked) else [first], pattern)
    return None


def _inside(places: list[Any], patterns: list[Any]) -> list[ast.expr | bool | None]:
    """What patterns ask of the parts of a value."""
    pairs = zip(places, patterns, strict=True)
    return [_test(_placed(place, pattern), pattern) if not _names(pattern) else None for place, pattern in pairs]


def _names(pattern: Any) -> bool:
    """Whether a pattern binds a name."""
    return any(type(part) in {ast.MatchAs, ast.MatchStar} and part.name is not None for part in walk(pattern))


def _together(operator: ast.boolop, tests: list[ast.expr | bool | None], pattern: Any) -> ast.expr | bool | None:
    asked = [test for test in tests if isinstance(test, ast.expr)]
    if None in tests or (len(asked) < len(tests) and isinstance(operator, ast.Or)):
        return None
    if len(asked) < 2:
        return asked[0] if asked else True
    return _placed(ast.BoolOp(operator, asked), pattern)


def _compared(subject: ast.expr, operator: ast.cmpop, value: ast.expr, pattern: Any) -> ast.expr:
    return _placed(ast.Compare(copy.deepcopy(subject), [operator], [value]), pattern)


def _placed(node: _Node, pattern: Any) -> _Node:
    """The node, and what is new in it, at the place of a pattern."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, pattern)
    return node


def _is_place(node: Any) -> bool:
    """`reason`, `reply.stop_reason`, `event["type"]`, `event.get("type")`: what is there, each time one looks."""
    while type(node) is not ast.Name:
        if type(node) is ast.Call:
            is_get = type(node.func) is ast.Attribute and node.func.attr == "get" and not node.keywords
            if not is_get or not all(type(arg) is ast.Constant for arg in node.args):
                return False
            node = node.func
        elif type(node) is not ast.Attribute and not (type(node) is ast.Subscript and type(node.slice) is ast.Constant):
            return False
        node = node.value
    return True
