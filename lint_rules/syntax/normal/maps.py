"""`map(f, xs)` as `(f(x) for x in xs)`: what each element is handed to is a call, as any other.

Source: Python documentation, built-in functions, `map`.
"""

from __future__ import annotations

import ast

from lint_rules.syntax.normal.names import FUNCTIONS, Nodes, exchanged
from lint_rules.syntax.word import Word


def normalize(tree: ast.Module, nodes: Nodes) -> bool:
    found = {call: _comprehension(call) for call in nodes.get(ast.Call, ()) if _maps_one(call)}
    own = found and any(name.id == "map" and type(name.ctx) is ast.Store for name in nodes.get(ast.Name, ()))
    own = own or any(function.name == "map" for kind in FUNCTIONS for function in nodes.get(kind, ()))
    return not own and exchanged(tree, found)


def _maps_one(call: ast.Call) -> bool:
    if getattr(call.func, "id", "") != "map" or len(call.args) != 2 or call.keywords:
        return False
    return _is_plain(call.args[0]) and type(call.args[1]) is not ast.Starred


def _is_plain(function: ast.expr) -> bool:
    """`read`, `self.read`, and a lambda of one parameter."""
    if type(function) is ast.Lambda:
        args = function.args
        return len(args.args) == 1 and not (args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg)
    while type(function) is ast.Attribute:
        function = function.value
    return type(function) is ast.Name


def _comprehension(call: ast.Call) -> ast.expr:
    function, through = call.args
    name: str = Word("_each", "each")
    each = ast.copy_location(ast.Name(name, ast.Load()), through)
    made: ast.expr = ast.copy_location(ast.Call(function, [each], []), call)
    if type(function) is ast.Lambda:
        name, made = function.args.args[0].arg, function.body
    target = ast.copy_location(ast.Name(name, ast.Store()), through)
    return ast.copy_location(ast.GeneratorExp(made, [ast.comprehension(target, through, [], 0)]), call)
