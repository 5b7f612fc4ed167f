"""Inlining: what a procedure does stands where it is called, if it is called once, or does no more than a line.

One without a call left goes, unless another file may call it. What gives a value back is a function, and stays one.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lint_rules.syntax.below import blank, walk
from lint_rules.syntax.normal.names import FUNCTIONS, SCOPES, Names, Nodes, Scope
from lint_rules.syntax.word import printed_as

MOST_STATEMENTS = 40
"""How many statements a helper may have; a function that is called several times, one."""
MOST_ROUNDS = 3
"""How deep helpers may call helpers."""


class Helper(NamedTuple):
    """A function whose body may stand for a call of it. `names` are its own, `owner` is the class of a method."""

    node: Any
    names: Names
    owner: ast.ClassDef | None
    calls: int


def normalize(tree: ast.Module, scopes: list[Scope], nodes: Nodes, exported: Callable[[str], bool]) -> bool:
    """`exported`: whether another file may call a function of the module by its name."""
    changed = False
    for _ in range(MOST_ROUNDS):
        helpers = _helpers(tree, nodes)
        done = _inlined(tree, scopes, helpers) if helpers else {}
        if not done:
            break
        changed = True
        spent = {name: helper for name, helper in helpers.items() if done.get(name) == helper.calls}
        spent = {name: helper for name, helper in spent.items() if helper.owner is not None or not exported(name)}
        drop(tree, _uncalled(tree, spent))
        scopes[0] = Scope(tree)
        nodes = _uses(tree)
    return changed


def _uncalled(tree: ast.Module, spent: dict[str, Helper]) -> set[int]:
    """Of helpers whose calls were inlined, those that nothing calls in what was inlined in the same round either."""
    gone = {id(helper.node) for helper in spent.values()}
    parts = [line for node in tree.body for line in (node.body if type(node) is ast.ClassDef else [node])]
    queue = [line for line in parts if id(line) not in gone]
    while queue:
        for node in walk(queue.pop()):
            helper = spent.get(called(node)) if type(node) is ast.Call else None
            if helper is not None and id(helper.node) in gone:
                gone.remove(id(helper.node))
                queue.append(helper.node)
    return gone


def drop(tree: ast.Module, helpers: set[int]) -> None:
    """Takes away the helpers whose every call was inlined: nothing runs them any more."""
    holders: list[Any] = [tree, *(node for node in tree.body if type(node) is ast.ClassDef)]
    for node in holders:
        kept = [line for line in node.body if id(line) not in helpers]
        node.body = kept or [ast.copy_location(ast.Pass(), node.body[0])]


def _helpers(tree: ast.Module, nodes: Nodes) -> dict[str, Helper]:
    """The helpers of a file by name."""
    functions = list(_functions(tree))
    plain = {function.name for function, _ in functions if _is_plain(function)}
    if not plain:
        return {}
    calls = Counter(called(node) for node in nodes.get(ast.Call, ()) if type(node) is ast.Call)
    uses = Counter([node.id for node in nodes.get(ast.Name, ()) if node.id in plain])
    uses.update([node.attr for node in nodes.get(ast.Attribute, ()) if node.attr in plain])
    found: dict[str, Helper | None] = {}
    for function, owner in functions:
        name = function.name
        if name in found:  # which of them is called, is not known
            found[name] = None
        elif uses[name] and uses[name] == calls[name] and _is_plain(function) and _is_straight(function):
            small = is_small(function, owner, calls[name])
            found[name] = Helper(function, Names(function), owner, calls[name]) if small else None
    return {name: helper for name, helper in found.items() if helper is not None}


def _uses(tree: ast.Module) -> Nodes:
    """The names, attributes and calls in a tree."""
    found: dict[type, list[Any]] = {ast.Name: [], ast.Attribute: [], ast.Call: []}
    for node in walk(tree):
        if type(node) in found:
            found[type(node)].append(node)
    return found


def _functions(tree: ast.Module) -> Iterator[tuple[Any, ast.ClassDef | None]]:
    """The functions of a module and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            yield node, None
        elif type(node) is ast.ClassDef:
            yield from ((line, node) for line in node.body if isinstance(line, FUNCTIONS) and _is_private(line))


_NOT_STRAIGHT = frozenset({*SCOPES, ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Try})
"""What takes errors is a world of its own, as what gives a value is."""


def _is_private(method: Any) -> bool:
    """Others may be called from elsewhere: what surrounds the calls in this file is not all that may."""
    name: str = method.name
    return name.startswith("_")


def _is_plain(function: Any) -> bool:
    """Whether the head of a function says nothing beyond its parameters."""
    args = function.args
    if function.decorator_list or args.vararg or args.kwarg or args.posonlyargs:
        return False
    return not function.name.startswith("__")


def _is_straight(function: Any) -> bool:
    """Whether what a function does can stand elsewhere: it ends at its end, without a value, and defines nothing."""
    for node in walk(function):
        if type(node) in _NOT_STRAIGHT and node is not function:
            return False
        if type(node) is ast.Call and called(node) == function.name:
            return False
    return True


_LINES = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete)


def is_small(function: Any, owner: ast.ClassDef | None, calls: int) -> bool:
    """Whether a function does no more than can stand where it is called: `calls` is how often that is."""
    body = _body(function)
    if calls == 1:
        return sum(isinstance(node, ast.stmt) for line in body for node in walk(line)) <= MOST_STATEMENTS
    return owner is None and len(body) == 1 and isinstance(body[0], _LINES)


def _body(function: Any) -> list[ast.stmt]:
    """The statements of a function, without its docstring."""
    first = function.body[0]
    if type(first) is ast.Expr and type(first.value) is ast.Constant:
        return list(function.body[1:])
    body: list[ast.stmt] = function.body
    return body


def called(call: ast.Call) -> str:
    return call.func.attr if type(call.func) is ast.Attribute else getattr(call.func, "id", "")


# -- at the calls -----------------------------------------------------------------------------------------------------


def _inlined(tree: ast.Module, scopes: list[Scope], helpers: dict[str, Helper]) -> Counter[str]:
    """How many calls of each helper gave way to what it does."""
    done: Counter[str] = Counter()
    classes = {id(line): node for node in tree.body if type(node) is ast.ClassDef for line in node.body}
    for at, scope in enumerate(scopes):
        before = done.total()
        for block in scope.blocks:
            place = 0
            while place < len(block):
                call = _whole_call(block[place])
                helper = helpers.get(called(call)) if call is not None else None
                body = None
                if call is not None and helper is not None and is_known(call, helper, scope.node, classes):
                    body = standing(block[place], call, helper, scope.names)
                if call is None or body is None:
                    place += 1
                    continue
                scope.names.exchange(block[place], body)
                block[place : place + 1] = body
                place += len(body)
                done[called(call)] += 1
        if done.total() > before:
            scopes[at] = Scope(scope.node)
        else:
            scope.settle(changed=False)
    return done


def _whole_call(line: ast.stmt) -> ast.Call | None:
    """The call that a statement consists of."""
    value = line.value if type(line) is ast.Expr else None
    if type(value) is ast.Await:
        value = value.value
    return value if type(value) is ast.Call else None


def is_known(call: ast.Call, helper: Helper, scope: Any, classes: dict[int, ast.ClassDef]) -> bool:
    """Whether the name that is called stands for the helper: a function of the module, a method of the same object."""
    if helper.node is scope:
        return False
    if helper.owner is None:
        return type(call.func) is ast.Name
    if type(call.func) is not ast.Attribute or type(call.func.value) is not ast.Name:
        return False
    given = scope.args.args if isinstance(scope, FUNCTIONS) else []
    return classes.get(id(scope)) is helper.owner and bool(given) and call.func.value.id == given[0].arg


def standing(line: Any, call: ast.Call, helper: Helper, around: Names) -> list[ast.stmt] | None:
    """What stands for the statement with a call: the body, with arguments for parameters; None if that cannot be."""
    if (type(helper.node) is ast.AsyncFunctionDef) is not (type(line.value) is ast.Await):
        return None
    given = arguments(call, helper)
    if given is None or (not around.is_module and _means_otherwise(helper, around)):
        return None
    renamed: dict[str, str] = {}
    before: list[ast.stmt] = []
    for name, value in given.items():
        if type(value) is ast.Name and helper.names.stored[name] == 1:
            renamed[name] = value.id
        else:
            renamed[name] = printed_as(around.free(name, renamed.values()), name)
            target = ast.copy_location(ast.Name(renamed[name], ast.Store()), value)
            before.append(ast.copy_location(ast.Assign([target], value), value))
    for name in helper.names.stored:
        if name not in renamed:
            renamed[name] = printed_as(around.free(name, renamed.values()), name)
    body = [copied(inside) for inside in _body(helper.node)]
    for inside in body:
        for node in walk(inside):
            _rename(node, renamed)
    return [*before, *body] or [ast.copy_location(ast.Pass(), line)]


def copied(node: Any) -> Any:
    """A copy of a node, or of a list of them, with those below."""
    if type(node) is list:
        return [copied(part) for part in node]
    if not isinstance(node, ast.AST) or not node._fields:  # operators and contexts are all the same
        return node
    other = blank(node)
    vars(other).update((name, copied(part)) for name, part in vars(node).items())
    return other


def _means_otherwise(helper: Helper, around: Names) -> bool:
    """Whether a name that a helper takes from outside is one of its caller's own."""
    return any(around.stored[name] for name in helper.names.loaded if not helper.names.stored[name])


def arguments(call: ast.Call, helper: Helper) -> dict[str, ast.expr] | None:
    """What each parameter gets; None where that is not plain."""
    args = helper.node.args
    names = [arg.arg for arg in args.args]
    if helper.owner is not None and type(call.func) is ast.Attribute:
        given: dict[str, ast.expr] = {names[0]: call.func.value} if names else {}
        names = names[1:]
    else:
        given = {}
    if len(call.args) > len(names) or any(type(arg) is ast.Starred for arg in call.args):
        return None
    given |= dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in given:
            return None
        given[keyword.arg] = keyword.value
    defaults = dict(zip([arg.arg for arg in args.args][::-1], args.defaults[::-1], strict=False))
    defaults |= {arg.arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value}
    for name in [*names, *(arg.arg for arg in args.kwonlyargs)]:
        if name not in given:
            if type(defaults.get(name)) is not ast.Constant:
                return None
            given[name] = defaults[name]
    return given if set(given) <= {arg.arg for arg in (*args.args, *args.kwonlyargs)} else None


def _rename(node: Any, renamed: dict[str, str]) -> None:
    if type(node) is ast.Name:
        node.id = renamed.get(node.id, node.id)
    elif (type(node) is ast.ExceptHandler and node.name) or (type(node) in (ast.MatchAs, ast.MatchStar) and node.name):
        node.name = renamed.get(node.name, node.name)
