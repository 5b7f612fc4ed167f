"""Inlining: what a procedure does stands where it is called, if it is called once, or does no more than a line.

One without a call left goes. What gives a value back is a function, and stays one.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from lint_rules.syntax.normal.names import FUNCTIONS, SCOPES, Names, Nodes, Scopes, blocks
from lint_rules.syntax.word import Word

MOST_STATEMENTS = 40
"""How many statements a helper may have; a function that is called several times, one."""
MOST_ROUNDS = 3
"""How deep helpers may call helpers."""


_USES = frozenset({ast.Name, ast.Attribute, ast.Call})


class Helper(NamedTuple):
    """A function whose body may stand for a call of it. `names` are its own, `owner` is the class of a method."""

    node: Any
    names: Names
    owner: ast.ClassDef | None
    calls: int


def normalize(tree: ast.Module, scopes: Scopes, nodes: Nodes) -> bool:
    changed = False
    for _ in range(MOST_ROUNDS):
        helpers = _helpers(tree, nodes, changed)
        done = _inlined(tree, scopes, helpers) if helpers else {}
        if not done:
            break
        changed = True
        drop(tree, {id(helper.node) for name, helper in helpers.items() if done.get(name) == helper.calls})
        scopes[:] = [(scope, list(blocks(scope))) for scope, _ in scopes]
    return changed


def drop(tree: ast.Module, helpers: set[int]) -> None:
    """Takes away the helpers whose every call was inlined: nothing runs them any more."""
    holders: list[Any] = [tree, *(node for node in tree.body if type(node) is ast.ClassDef)]
    for node in holders:
        kept = [line for line in node.body if id(line) not in helpers]
        node.body = kept or [ast.copy_location(ast.Pass(), node.body[0])]


def _helpers(tree: ast.Module, nodes: Nodes, again: bool) -> dict[str, Helper]:
    """The helpers of a file by name. `again`: after a change, of which the list of nodes does not know."""
    listed: Any = ast.walk(tree) if again else (n for kind in _USES for n in nodes.get(kind, ()))
    uses: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for node in listed:
        if type(node) is ast.Call:
            calls[called(node)] += 1
        elif type(node) in _USES:
            uses[node.id if type(node) is ast.Name else node.attr] += 1
    found: dict[str, Helper] = {}
    several = set()
    for function, owner in _functions(tree):
        name = function.name
        if name in found:
            several.add(name)
        if uses[name] and uses[name] == calls[name] and _is_straight(function):
            found[name] = Helper(function, Names(function), owner, calls[name])
    return {name: helper for name, helper in found.items() if name not in several and is_small(helper)}


def _functions(tree: ast.Module) -> Iterator[tuple[Any, ast.ClassDef | None]]:
    """The functions of a module and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            yield node, None
        elif type(node) is ast.ClassDef:
            yield from ((line, node) for line in node.body if isinstance(line, FUNCTIONS) and _is_private(line))


_NOT_STRAIGHT = (*SCOPES, ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Try)
"""What takes errors is a world of its own, as what gives a value is."""


def _is_private(method: Any) -> bool:
    """Others may be called from elsewhere: what surrounds the calls in this file is not all that may."""
    name: str = method.name
    return name.startswith("_")


def _is_straight(function: Any) -> bool:
    """Whether what a function does can stand elsewhere: it ends at its end, without a value, and defines nothing."""
    args = function.args
    if function.decorator_list or args.vararg or args.kwarg or args.posonlyargs or function.name.startswith("__"):
        return False
    for node in ast.walk(function):
        if isinstance(node, _NOT_STRAIGHT) and node is not function:
            return False
        if type(node) is ast.Call and called(node) == function.name:
            return False
    return True


_LINES = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete)


def is_small(helper: Helper) -> bool:
    body = _body(helper.node)
    if helper.calls == 1:
        return sum(isinstance(node, ast.stmt) for line in body for node in ast.walk(line)) <= MOST_STATEMENTS
    return helper.owner is None and len(body) == 1 and isinstance(body[0], _LINES)


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


def _inlined(tree: ast.Module, scopes: Scopes, helpers: dict[str, Helper]) -> Counter[str]:
    """How many calls of each helper gave way to what it does."""
    done: Counter[str] = Counter()
    classes = {id(line): node for node in tree.body if type(node) is ast.ClassDef for line in node.body}
    for scope, listed in scopes:
        own: Names | None = None
        for block in listed:
            place = 0
            while place < len(block):
                call = _whole_call(block[place])
                helper = helpers.get(called(call)) if call is not None else None
                if call is None or helper is None or helper.node is scope or not is_known(call, helper, scope, classes):
                    place += 1
                    continue
                own = own or Names(scope)
                body = standing(block[place], call, helper, own)
                if body is None:
                    place += 1
                    continue
                block[place : place + 1] = body
                place += len(body)
                done[called(call)] += 1
                own = None
    return done


def _whole_call(line: ast.stmt) -> ast.Call | None:
    """The call that a statement consists of."""
    value = line.value if type(line) is ast.Expr else None
    if type(value) is ast.Await:
        value = value.value
    return value if type(value) is ast.Call else None


def is_known(call: ast.Call, helper: Helper, scope: Any, classes: dict[int, ast.ClassDef]) -> bool:
    """Whether the name that is called stands for the helper: a function of the module, a method of the same object."""
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
            renamed[name] = _fresh(name, around)
            target = ast.copy_location(ast.Name(renamed[name], ast.Store()), value)
            before.append(ast.copy_location(ast.Assign([target], value), value))
    for name in helper.names.stored:
        if name not in renamed:
            renamed[name] = _fresh(name, around)
    body = copy.deepcopy(_body(helper.node))
    for inside in body:
        for node in ast.walk(inside):
            _rename(node, renamed)
    return [*before, *body] or [ast.copy_location(ast.Pass(), line)]


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


def _fresh(name: str, around: Names) -> str:
    """A name that is not taken in the function around, printed as what it stands for."""
    fresh = str.__str__(name)
    while around.stored[fresh] or around.loaded[fresh]:
        fresh += "_"
    around.stored[fresh] += 1
    return name if fresh == name else Word(fresh, str(name))


def _rename(node: Any, renamed: dict[str, str]) -> None:
    if type(node) is ast.Name:
        node.id = renamed.get(node.id, node.id)
    elif (type(node) is ast.ExceptHandler and node.name) or (type(node) in (ast.MatchAs, ast.MatchStar) and node.name):
        node.name = renamed.get(node.name, node.name)
