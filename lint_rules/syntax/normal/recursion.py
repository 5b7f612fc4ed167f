"""Tail calls: a function that ends by calling itself, also through one helper, goes round: it is a loop.

What it hands on to itself is assigned at the end of a round. A function that goes on after such a call stays.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lint_rules.syntax.normal.inlining import Helper, arguments, called, drop, is_known, is_small, standing
from lint_rules.syntax.normal.names import FUNCTIONS, Names, Nodes, Scope, mentions


class _Tail(NamedTuple):
    """A call that is the last thing a function does on some way: `lines` statements of a block, from `place` on."""

    block: list[Any]
    place: int
    lines: int
    call: ast.Call


def normalize(tree: ast.Module, scopes: list[Scope], nodes: Nodes) -> bool:
    ends = {scope.node: _last_called(scope.blocks) for scope in scopes if isinstance(scope.node, FUNCTIONS)}
    named: defaultdict[str, list[Any]] = defaultdict(list)
    for function in ends:
        named[function.name].append(function)
    classes = {id(line): cls for cls in nodes.get(ast.ClassDef, ()) for line in cls.body}
    changed: set[Any] = set()
    for function, names in ends.items():
        for name in sorted(names & named.keys() - {function.name}):
            helper = named[name][0]
            if len(named[name]) == 1 and helper not in changed and function.name in ends[helper]:
                if _take_in(tree, function, helper, nodes, classes):
                    changed.add(function)
        if function in changed or function.name in names:
            if _rounds(function, classes.get(id(function))):
                changed.add(function)
    if changed:
        scopes[:] = [Scope(scope.node) for scope in scopes]
    return bool(changed)


def _last_called(listed: Iterable[list[Any]]) -> set[str]:
    """The names of what is called at the end of blocks."""
    found = set()
    for block in listed:
        for lines in (block[-1:], block[-2:-1]):
            call = _call(lines[0]) if lines else None
            if call is not None:
                found.add(called(call))
    return found


def _call(line: Any) -> ast.Call | None:
    """The call that a statement consists of: `f()`, `x = f()`, `return await f()`, `yield from f()`, `for x in f()`."""
    kind = type(line)
    value = line.iter if kind in (ast.For, ast.AsyncFor) else getattr(line, "value", None)
    if isinstance(value, (ast.Await, ast.YieldFrom)):
        value = value.value
    return value if type(value) is ast.Call else None


def _take_in(tree: ast.Module, function: Any, helper: Any, nodes: Nodes, classes: dict[int, ast.ClassDef]) -> bool:
    """Puts the body of a helper where a function ends by calling it: what the helper gives back, the function does."""
    owner = classes.get(id(function))
    if not (_is_plain(function) and _is_plain(helper)):
        return False
    if not any(_is_same(tail.call, function, owner) for tail in _tails(helper.body, True)):
        return False
    calls = [call for call in nodes.get(ast.Call, ()) if called(call) == helper.name]
    tails = [tail for tail in _tails(function.body, True) if tail.call in calls]
    known = Helper(helper, Names(helper), classes.get(id(helper)), 1)
    if (
        len(calls) != 1
        or len(tails) != 1
        or not is_small(helper, known.owner, 1)
        or not is_known(calls[0], known, function, classes)
    ):
        return False
    block, place, lines, call = tails[0]
    body = standing(block[place], call, known, Names(function))
    if body is None:
        return False
    block[place : place + lines] = _ended(body)
    drop(tree, {id(helper)})
    return True


def _rounds(function: Any, owner: ast.ClassDef | None) -> bool:
    """Makes a loop of a function that ends by calling itself, if it calls itself nowhere else."""
    calls = [node for node in _own(function) if type(node) is ast.Call and _is_same(node, function, owner)]
    tails = [tail for tail in _tails(function.body, True) if tail.call in calls]
    steps = [_handed_on(function, owner, tail.call) for tail in tails]
    if not tails or len(tails) != len(calls) or not _is_plain(function) or None in steps:
        return False
    if not all(_runs(tail.block[tail.place], function) for tail in tails):
        return False
    for (block, place, lines, call), step in sorted(zip(tails, steps, strict=True), key=lambda pair: -pair[0].place):
        block[place : place + lines] = [*(step or ()), ast.copy_location(ast.Continue(), call)]
    start = 1 if ast.get_docstring(function, clean=False) is not None else 0
    at = tails[0].call
    loop = ast.While(ast.copy_location(ast.Constant(True), at), _ended(function.body[start:]), [])
    function.body[start:] = [ast.copy_location(loop, at)]
    return True


def _is_plain(function: Any) -> bool:
    decorators = {d.id for d in function.decorator_list if type(d) is ast.Name}
    return len(function.decorator_list) == len(decorators & {"staticmethod", "classmethod"})


def _runs(line: Any, function: Any) -> bool:
    """Whether a statement with a call runs it to its end: what is async is awaited, what yields is gone through."""
    if type(line) in (ast.For, ast.AsyncFor) or type(line.value) is ast.YieldFrom:
        return True
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own(function)):
        return False
    return type(function) is ast.FunctionDef or type(line.value) is ast.Await


def _is_same(call: ast.Call, function: Any, owner: ast.ClassDef | None) -> bool:
    """Whether a call in a function runs the function itself: on the same object, where it is a method."""
    func = call.func
    if owner is None:
        return type(func) is ast.Name and func.id == function.name
    if type(func) is not ast.Attribute or type(func.value) is not ast.Name or func.attr != function.name:
        return False
    given = function.args.args
    return bool(given) and func.value.id == given[0].arg


def _own(function: Any) -> Iterator[ast.AST]:
    """The nodes of a function, with those of functions in it."""
    for line in function.body:
        yield from ast.walk(line)


def _tails(block: list[Any], is_end: bool) -> Iterator[_Tail]:
    """The calls by which a function ends; none of those inside a loop, and none that something is held around."""
    for place, line in enumerate(block):
        after = block[place + 1 :]
        ends = is_end and (not after or _is_bare(after[0]))
        call = _call(line)
        if call is not None:
            is_handed = bool(after) and _is_handed(line, after[0])
            if type(line) is ast.Return or is_handed or (ends and _is_let_go(line)):
                yield _Tail(block, place, 1 + is_handed, call)
        for inner in _blocks(line):
            yield from _tails(inner, ends)


def _blocks(line: Any) -> list[list[Any]]:
    if type(line) is ast.If:
        return [line.body, line.orelse]
    if type(line) is ast.Try and not line.finalbody:
        return [*([line.body] if not line.orelse else [line.orelse]), *(handler.body for handler in line.handlers)]
    if type(line) is ast.Match:
        return [case.body for case in line.cases]
    return []


def _is_bare(line: Any) -> bool:
    return type(line) is ast.Return and line.value is None


def _is_handed(line: Any, after: Any) -> bool:
    """`x = f()` and `return x`."""
    if type(line) is not ast.Assign or type(after) is not ast.Return or type(after.value) is not ast.Name:
        return False
    target = line.targets[0]
    return len(line.targets) == 1 and type(target) is ast.Name and target.id == after.value.id


def _is_let_go(line: Any) -> bool:
    """`f()`, `await f()`, `yield from f()`, and `async for x in f(): yield x`."""
    if type(line) is ast.Expr:
        return True
    if type(line) not in (ast.For, ast.AsyncFor) or line.orelse or len(line.body) != 1:
        return False
    given = line.body[0].value if type(line.body[0]) is ast.Expr else None
    return type(given) is ast.Yield and given.value is not None and ast.dump(given.value) == _read(line.target)


def _read(target: ast.expr) -> str:
    return ast.dump(ast.Name(target.id, ast.Load())) if type(target) is ast.Name else ""


def _handed_on(function: Any, owner: ast.ClassDef | None, call: ast.Call) -> list[ast.stmt] | None:
    """The assignments that a round ends with: what each parameter is in the next one; None where that is not plain."""
    args = function.args
    plain = ast.Call(
        call.func,
        [
            arg
            for arg in call.args
            if not (args.vararg and type(arg) is ast.Starred and _is(arg.value, args.vararg.arg))
        ],
        [word for word in call.keywords if not (args.kwarg and word.arg is None and _is(word.value, args.kwarg.arg))],
    )
    found = None if args.posonlyargs else arguments(plain, Helper(function, Names(function), owner, 1))
    if found is None:
        return None
    changed = {name: value for name, value in found.items() if not _is(value, name)}
    if any(mentions(value, name) for name in changed for other, value in changed.items() if other != name):
        return None
    return [
        ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), value)], value), value)
        for name, value in changed.items()
    ]


def _is(node: Any, name: str) -> bool:
    return type(node) is ast.Name and node.id == name


def _ended(body: list[Any]) -> list[Any]:
    """A body that leaves at its end."""
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Continue)):
        return body
    return [*body, ast.copy_location(ast.Return(None), last)]
