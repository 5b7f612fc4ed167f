"""A call that is made on the caller's behalf, who gets what it gives, as that call itself.

`await to_thread(f, x)`, `await loop.run_in_executor(None, lambda: f(x))`, `sync_to_async(f)(x)`, `partial(f, x)()`, and
`again(f, x)` of a function that gives back what its parameter gives: each comes to `f(x)`. Only for an `f` that is not
of this file: who else runs at the same time matters for what its own functions do. And `part(reply, "calls")` of a
function that reads of its first parameter what the second one names, whatever that is, is `getattr(reply, "calls")`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from lint_rules.syntax.normal.names import FUNCTIONS, Nodes, blocks
from lint_rules.syntax.threads import IN_THREAD
from lint_rules.syntax.word import Word

_PUT_OFF = frozenset({"partial", "sync_to_async", "database_sync_to_async"})
"""What gives a function that calls another one."""
_WAITS = frozenset({"wait_for", "shield"})


def normalize(nodes: Nodes, elsewhere: Collection[str] = ()) -> bool:
    """`elsewhere` are names of functions of other files that are left alone as well."""
    functions: dict[str, Any] = {node.name: node for kind in FUNCTIONS for node in nodes.get(kind, ())}
    own = {*functions, *elsewhere}
    waits = [_waited_for(node) for node in nodes.get(ast.Await, ())]
    changed = [_become(call, _in_thread(call), own) for call in waits if type(call) is ast.Call]
    for call in nodes.get(ast.Call, ()):
        if type(call.func) is ast.Call:
            changed.append(_name(call.func) in _PUT_OFF and _become(call, call, own))
        elif _names_a_part(call) and (reader := functions.get(_name(call))) is not None and _is_reader(call, reader):
            called = Word("getattr", ast.unparse(call.func))
            call.func = ast.copy_location(ast.Name(called, ast.Load()), call.func)
            call.args, call.keywords = [*call.args, *(keyword.value for keyword in call.keywords)], []
            changed.append(True)
        elif call.args and (again := functions.get(_name(call))) is not None and _is_callable(call.args[0]):
            changed.append(_become(call, _given_back(call, again), own))
    return any(changed)


def _names_a_part(call: ast.Call) -> bool:
    """`part(reply, "calls")`, also with a default behind."""
    key = call.args[1] if len(call.args) in {2, 3} else None
    return type(key) is ast.Constant and type(key.value) is str and len(call.args) + len(call.keywords) <= 3


def _is_reader(call: ast.Call, function: Any) -> bool:
    """Whether a function gives back what its second parameter names of the first, or a third one, or nothing."""
    listed = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if type(call.func) is ast.Attribute and not any(_last(each) == "staticmethod" for each in function.decorator_list):
        listed = listed[1:]
    if len(listed) not in {2, 3} or type(function) is ast.AsyncFunctionDef:
        return False
    given = [part for value in _returned(function) for part in _either(value)]
    read = [part for part in given if _reads_part(part, listed)]
    others = [part for part in given if part not in read]
    plain = all(type(part) is ast.Constant or getattr(part, "id", "") == listed[-1] for part in others)
    return bool(read) and plain and not (len(listed) == 2 and any(type(part) is ast.Name for part in others))


def _either(value: ast.expr) -> Iterator[ast.expr]:
    """Both values of `a if test else b`; else the value itself."""
    if type(value) is ast.IfExp:
        yield from _either(value.body)
        yield from _either(value.orelse)
    else:
        yield value


def _reads_part(value: ast.expr, listed: list[str]) -> bool:
    """`x.get(key, default)`, `x[key]`, `getattr(x, key, default)`, of the first two names that are listed."""
    if type(value) is ast.Subscript:
        parts = [value.value, value.slice]
    elif type(value) is ast.Call and type(value.func) is ast.Attribute and value.func.attr == "get":
        parts = [value.func.value, *value.args]
    elif type(value) is ast.Call and getattr(value.func, "id", "") == "getattr":
        parts = value.args
    else:
        return False
    return [getattr(part, "id", "") for part in parts[:2]] == listed[:2]


def _waited_for(node: ast.Await) -> ast.expr:
    value = node.value
    return value.args[0] if type(value) is ast.Call and _name(value) in _WAITS and value.args else value


def _in_thread(call: ast.Call) -> ast.Call | None:
    """`f(x)` for `to_thread(f, x)`."""
    place = IN_THREAD.get(_name(call))
    if place is None or len(call.args) <= place:
        return None
    return ast.Call(call.args[place], call.args[place + 1 :], call.keywords)


def _given_back(call: ast.Call, function: Any) -> ast.Call | None:
    """`f(x)` for `again(f, x)`, where that calls its first parameter with the rest, and gives back what it gives."""
    args = function.args
    listed = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    if type(call.func) is ast.Attribute:
        listed = listed[1:]
    given = {_runs(value, function) for value in _returned(function)}
    if not listed or given != {listed[0]}:
        return None
    own = {*listed, *(arg.arg for arg in args.kwonlyargs)}
    return ast.Call(call.args[0], call.args[len(listed) :], [k for k in call.keywords if k.arg not in own])


def _returned(function: Any) -> Iterator[ast.expr]:
    """What a function gives back; where that is a name, all that is assigned to it."""
    found = [line for block in blocks(function) for line in block]
    for node in found:
        if type(node) is ast.Return and type(node.value) is ast.Name:
            yield from (
                other.value for other in found
                if type(other) is ast.Assign and any(getattr(t, "id", "") == node.value.id for t in other.targets)
            )  # fmt: skip
        elif type(node) is ast.Return:
            yield node.value if node.value is not None else ast.Constant(None)


def _runs(value: ast.expr, function: Any) -> str | None:
    """`fn` for `fn(*args, **kwargs)` of all that a function gets and does not name."""
    value = value.value if type(value) is ast.Await else value
    if type(value) is not ast.Call or type(value.func) is not ast.Name:
        return None
    rest = [part.arg for part in (function.args.vararg, function.args.kwarg) if part is not None]
    passed = [part.value for part in value.args if type(part) is ast.Starred]
    passed += [part.value for part in value.keywords if part.arg is None]
    whole = len(passed) == len(value.args) + len(value.keywords)
    return value.func.id if whole and [getattr(part, "id", "") for part in passed] == rest else None


def _become(call: Any, made: Any, own: Collection[str]) -> bool:
    """Makes of a call the one that it comes to, if that is plain: where it is written out, it stands there."""
    place = call
    while made is not None and _is_put_off(made.func):
        place = made.func
        if type(place) is ast.Lambda:
            inner = place.body
            made = inner if type(inner) is ast.Call and not (made.args or made.keywords) and _is_bare(place) else None
            place = inner
        elif place.args:
            made = ast.Call(place.args[0], [*place.args[1:], *made.args], [*place.keywords, *made.keywords])
        else:
            made = None
    if made is None or made is call or not _is_callable(made.func) or _last(made.func) in own:
        return False
    call.func, call.args, call.keywords = made.func, made.args, made.keywords
    ast.copy_location(call, place)
    return True


def _is_put_off(node: ast.expr) -> bool:
    return type(node) is ast.Lambda or (type(node) is ast.Call and _name(node) in _PUT_OFF)


def _is_bare(function: ast.Lambda) -> bool:
    args = function.args
    return not (args.posonlyargs or args.args or args.kwonlyargs or args.vararg or args.kwarg)


def _is_callable(node: ast.expr) -> bool:
    return type(node) in (ast.Name, ast.Attribute, ast.Lambda) or (type(node) is ast.Call and _name(node) in _PUT_OFF)


def _name(call: ast.Call) -> str:
    return _last(call.func)


def _last(node: ast.expr) -> str:
    return node.attr if type(node) is ast.Attribute else getattr(node, "id", "")
