"""Loops that only collect, as the comprehension that they are; loops beside each other over one list, as one; and those
that take one after the other out of a list, as loops over it."""

from __future__ import annotations

import ast
from typing import Any

from lint_rules.syntax.below import walk
from lint_rules.syntax.normal.names import Names, Nodes, Scope, assigned, in_each, mentions

_NOT_PUT_OFF = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)
"""What does something, and so not later than it stands."""


def normalize(scopes: list[Scope], nodes: Nodes) -> bool:
    drained = bool(nodes.get(ast.While)) and in_each(scopes, _drained_in)
    return (bool(nodes.get(ast.For)) and in_each(scopes, _in_scope)) or drained


def _drained_in(scope: Scope) -> bool:
    changed = False
    for block in scope.blocks:
        for place, line in enumerate(block):
            made = _drained(line, scope.names) if type(line) is ast.While else None
            if made is not None:
                block[place] = made
                changed = True
    return changed


def _drained(loop: ast.While, names: Names) -> ast.For | None:
    """`while xs: x = xs.pop(0)` becomes `for x in xs`, where nobody else looks at what is left of them."""
    test, first = loop.test, loop.body[0]
    if type(test) is not ast.Name or loop.orelse or not names.bound_once(test.id) or test.id in names.captured:
        return None
    taken = [node for node in walk(first) if _is_taken(node, test.id)]
    inside = [use for use in walk(loop) if type(use) is ast.Name and use.id == test.id]
    later = any(use.lineno > (loop.end_lineno or 0) for use in names.loaded[test.id])
    if len(taken) != 1 or len(inside) != 2 or later or type(first) not in {ast.Assign, ast.Expr, ast.AugAssign}:
        return None
    if type(first) is ast.Assign and first.value is taken[0] and len(first.targets) == 1:
        target, loop.body[:1] = first.targets[0], [] if len(loop.body) > 1 else [ast.copy_location(ast.Pass(), first)]
    else:
        target = ast.copy_location(ast.Name(names.free(f"{test.id}_taken"), ast.Store()), taken[0])
        loop.body[0] = _InPlaceOf(taken[0], ast.copy_location(ast.Name(target.id, ast.Load()), target)).visit(first)
    return ast.copy_location(ast.For(target, test, loop.body, []), loop)


def _is_taken(node: Any, name: str) -> bool:
    """`xs.pop(0)`, `xs.popleft()`."""
    if type(node) is not ast.Call or type(node.func) is not ast.Attribute or not mentions(node.func.value, name):
        return False
    given = [part.value for part in node.args if type(part) is ast.Constant]
    is_first = given == [0] if node.func.attr == "pop" else node.func.attr == "popleft" and not node.args
    return is_first and type(node.func.value) is ast.Name


class _InPlaceOf(ast.NodeTransformer):
    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self.node, self.other = node, other

    def visit(self, node: ast.AST) -> Any:
        return self.other if node is self.node else self.generic_visit(node)


def _in_scope(scope: Scope) -> bool:
    changed = False
    for block in scope.blocks:
        for place in range(len(block) - 1, -1, -1):
            line = block[place]
            if type(line) is not ast.For:
                continue
            if _is_zip(line.iter) or (place and _begins_list(block[place - 1])):
                changed |= _beside(line, scope.names) or (place > 0 and _collects(block, place, scope.names))
    scope.settle(changed)
    for block in scope.blocks:
        loops = [line for line in block if type(line) is ast.For and type(line.target) is ast.Tuple]
        lists = {assigned(line): line for line in block} if loops else {}
        for loop in loops:
            changed |= _taken_apart(loop, block, lists, scope.names)
    return changed


def _taken_apart(loop: ast.For, block: list[ast.stmt], lists: dict[str, ast.stmt], names: Names) -> bool:
    """`for a, b in [(x.a, x.b) for x in xs]` becomes `for x in xs`, with `a = x.a` and `b = x.b` in it.

    Also where the list has a name that is read there alone, if nobody looks at `xs` from there on.
    """
    made, target, line = loop.iter, loop.target, None
    if type(made) is ast.Name and names.bound_once(made.id) and len(names.loaded[made.id]) == 1:
        line = lists.get(made.id) if made.id not in names.captured else None
        made = line.value if line is not None else made  # type: ignore[attr-defined]
    if type(made) is not ast.ListComp or len(made.generators) != 1 or type(made.elt) is not ast.Tuple:
        return False
    clause, parts, places = made.generators[0], made.elt.elts, target.elts  # type: ignore[attr-defined]
    if clause.ifs or clause.is_async or type(clause.target) is not ast.Name or len(parts) != len(places):
        return False
    if _is_used(clause, names, made) or any(isinstance(n, _NOT_PUT_OFF) for part in (made, target) for n in walk(part)):
        return False
    at = block.index(loop)
    begun = block.index(line) + 1 if line is not None else at
    later = [*block[begun:at], *loop.body, *loop.orelse]
    over = {node.id for node in walk(clause.iter) if type(node) is ast.Name}
    if begun > at or any(mentions(each, name) for each in later for name in over):
        return False
    binds = [ast.copy_location(ast.Assign([place], part), part) for place, part in zip(places, parts, strict=True)]
    loop.target, loop.iter, loop.body[:0] = clause.target, clause.iter, binds
    if line is not None:
        block.remove(line)
    return True


def _collects(block: list[ast.stmt], place: int, names: Names) -> bool:
    """`found = []` and `for x in xs: found.append(f(x))` become `found = [f(x) for x in xs]`."""
    loop: Any = block[place]
    before: Any = block[place - 1]
    if not _begins_list(before) or loop.orelse or len(loop.body) != 1:
        return False
    name = before.targets[0].id
    inside, tests = loop.body[0], []
    if type(inside) is ast.If and not inside.orelse and len(inside.body) == 1:
        tests, inside = [inside.test], inside.body[0]
    element = _appended(inside, name)
    if element is None or any(mentions(part, name) for part in (loop.iter, element, *tests)):
        return False
    if any(isinstance(node, (ast.NamedExpr, ast.Await)) for part in (element, *tests) for node in walk(part)):
        return False
    within = {id(node) for node in walk(loop)}
    for target in walk(loop.target):
        if type(target) is ast.Name and any(id(use) not in within for use in names.loaded[target.id]):
            return False
    clause = ast.comprehension(loop.target, loop.iter, tests, 0)
    before.value = ast.copy_location(ast.ListComp(element, [clause]), loop)
    del block[place]
    return True


def _begins_list(line: Any) -> bool:
    """`found = []`."""
    return bool(assigned(line)) and type(line.value) is ast.List and not line.value.elts


def _is_zip(node: Any) -> bool:
    return type(node) is ast.Call and type(node.func) is ast.Name and node.func.id == "zip" and not node.keywords


def _appended(line: ast.stmt, name: str) -> ast.expr | None:
    call = line.value if type(line) is ast.Expr else None
    if type(call) is not ast.Call or type(call.func) is not ast.Attribute or call.func.attr != "append":
        return None
    base = call.func.value
    if type(base) is not ast.Name or base.id != name or len(call.args) != 1 or call.keywords:
        return None
    return None if type(call.args[0]) is ast.Starred else call.args[0]


def _beside(loop: ast.For, names: Names) -> bool:
    """`for a, b in zip([x.a for x in xs], [x.b for x in xs])` becomes `for x in xs`, with `x.a` for `a`."""
    call: Any = loop.iter
    if not _is_zip(call):
        return False
    target = loop.target
    if not isinstance(target, ast.Tuple) or not call.args or len(target.elts) != len(call.args):
        return False
    comprehensions: list[Any] = call.args
    if not all(_goes_over(part, comprehensions[0]) for part in comprehensions):
        return False
    parts = [part for part in target.elts if isinstance(part, ast.Name) and names.stored[part.id] == 1]
    if len(parts) != len(comprehensions):
        return False
    clause: Any = comprehensions[0].generators[0]
    if names.stored[clause.target.id] > len(comprehensions) or _is_used(clause, names, call):
        return False
    for part, comprehension in zip(parts, comprehensions, strict=True):
        for use in names.loaded[part.id]:
            names.replace(use, comprehension.elt)
    loop.target, loop.iter = clause.target, clause.iter
    return True


def _goes_over(part: Any, first: Any) -> bool:
    """Whether a comprehension has one plain clause, over the same as the first, by the same name."""
    if type(part) is not ast.ListComp or len(part.generators) != 1:
        return False
    clause, other = part.generators[0], first.generators[0]
    if clause.ifs or type(clause.target) is not ast.Name or ast.dump(clause.target) != ast.dump(other.target):
        return False
    return ast.dump(clause.iter) == ast.dump(other.iter)


def _is_used(clause: ast.comprehension, names: Names, made: ast.expr) -> bool:
    """Whether the name of a clause is read outside an expression."""
    within = {id(node) for node in walk(made)}
    target: Any = clause.target
    return any(id(use) not in within for use in names.loaded[target.id])
