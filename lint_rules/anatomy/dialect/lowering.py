"""A file in the provider's words: what its own classes call otherwise gets the names that all rules ask for.

Nothing else changes: no statement, no order, no place. What is printed of it is what stands in the file.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from lint_rules.anatomy.dialect.made import Made
from lint_rules.anatomy.dialect.parts import HELD, Parts
from lint_rules.program.modules import ClassFrame, Frame, Module
from lint_rules.program.values import ClassObject, Container, Instance, Value, Values
from lint_rules.syntax.below import blank, walk
from lint_rules.syntax.normal.inlining import called
from lint_rules.syntax.word import SAYING, Word

_LISTS = {"message": "history", SAYING: "history", "call": "calls"}


class Lowering:
    """Finds what is called otherwise in one file, and gives its tree the provider's words."""

    def __init__(self, module: Module, values: Values, parts: Parts) -> None:
        self._module = module
        self._values = values
        self._parts = parts
        self._changes: dict[Any, list[Callable[[Any], None]]] = {}
        self._meant: dict[ast.expr, ast.expr] = {}
        """Calls, each with what it comes to."""
        self._alone: set[ast.expr] = set()
        """Calls that are statements: nobody looks at what they give."""
        self._made = Made(values, parts.words)
        looks = _LOOKS if parts.words else _CALLS
        for frame in module.frames:
            if isinstance(frame, ClassFrame):
                self._class(frame)
            for node in frame.nodes:
                look = looks.get(type(node))
                if look is not None:
                    look(self, node, frame)

    def apply(self) -> bool:
        """Makes the changes; whether there are any."""
        own = set(walk(self._module.tree)) if self._meant else set()
        for node, changes in self._changes.items():
            for change in changes:
                change(node)
        for node, meant in reversed(self._meant.items()):  # inner ones stand behind those around them
            _become(node, meant, own)
        return bool(self._changes or self._meant)

    def _change(self, node: Any, change: Callable[[Any], None]) -> None:
        self._changes.setdefault(node, []).append(change)

    def _rename(self, node: Any, field: str, word: str, means: str = "") -> None:
        own = getattr(node, field)
        if word != own or means:
            self._change(node, lambda there: setattr(there, field, Word(word, own, means)))

    # -- what stands in a file --------------------------------------------------------------------------------------

    def _class(self, cls: ClassFrame) -> None:
        """The fields that are annotated in the body, and the parameters of the constructor."""
        known = self._parts.words.get(cls)
        if known is None:
            return
        for line in cls.node.body:
            if isinstance(line, (ast.AnnAssign, ast.Assign)):
                for target in line.targets if isinstance(line, ast.Assign) else [line.target]:
                    if type(target) is ast.Name and target.id in known:
                        self._rename(target, "id", known[target.id])
            elif isinstance(line, (ast.FunctionDef, ast.AsyncFunctionDef)) and line.name in known:
                self._rename(line, "name", known[line.name])
        method = cls.methods.get("__init__")
        if method is not None:
            renamed = {p: known[f] for p, f in self._values.constructor(cls) if known.get(f, p) != p}
            self._parameters(method, {p: word for p, word in renamed.items() if word not in method.bound})

    def _parameters(self, function: Frame, renamed: dict[str, str]) -> None:
        for arg in ast.walk(function.node.args):
            if type(arg) is ast.arg and arg.arg in renamed:
                self._rename(arg, "arg", renamed[arg.arg])
        for node in function.nodes:
            if type(node) is ast.Name and node.id in renamed:
                self._rename(node, "id", renamed[node.id])

    def _attribute(self, node: ast.Attribute, frame: Frame) -> None:
        if not self._parts.words and node.attr not in HELD:
            return
        named = {self._parts.word(cls, node.attr) for cls in self._values.owners(node, frame)}
        word = named.pop() if len(named) == 1 else node.attr
        self._rename(node, "attr", word, self._means(self._values.of(node, frame)))

    def _name(self, node: ast.Name, frame: Frame) -> None:
        if node.id != frame.self_name and node not in self._changes:
            means = self._means(self._values.of(node, frame))
            is_told = means and node in self._module.narrowed  # elsewhere it may stand for another thing
            self._rename(node, "id", node.id, f"here {means}" if is_told else means)

    def _call(self, node: ast.Call, frame: Frame) -> None:
        """What a call gives, and the fields that a constructor gets, by position too."""
        given = self._means(self._values.of(node, frame))
        if given and isinstance(node.func, (ast.Name, ast.Attribute)) and self._values.callees(node, frame):
            field = "id" if isinstance(node.func, ast.Name) else "attr"
            self._rename(node.func, field, getattr(node.func, field), f"gives {given}")
        if self._asks(node, frame):
            self._rename(node.func, "attr", "chat")
        if node.keywords and node.args:
            self._replaced(node, frame)
        cls = self._values.constructed(node, frame)
        known = self._parts.words.get(cls) if cls is not None else None
        if known is None:
            self._meaning(node, frame)
        if cls is None or (known is None and not self._values.is_value(cls)):
            return
        known = known or {}
        listed = [(name, known.get(field, name)) for name, field in self._values.constructor(cls)]
        for keyword in node.keywords:
            if keyword.arg is not None:
                self._rename(keyword, "arg", dict(listed).get(keyword.arg, keyword.arg))
        if node.args and not any(type(arg) is ast.Starred for arg in node.args) and len(node.args) <= len(listed):
            taken = [word for _, word in listed[: len(node.args)]]
            self._change(node, lambda there: _by_keyword(there, taken))
        if (role := self._parts.roles.get(cls)) is not None:
            told = {"role": role} | ({"type": "function_call"} if cls in self._parts.calls else {})
            self._change(node, lambda there: _telling(there, told))

    def _replaced(self, node: ast.Call, frame: Frame) -> None:
        """`replace(message, said=text)`."""
        if called(node) == "replace":
            for cls in self._values.instances(node.args[0], frame):
                known = self._parts.words.get(cls, {})
                for keyword in node.keywords:
                    if keyword.arg in known:
                        self._rename(keyword, "arg", known[keyword.arg])

    def _asks(self, node: ast.Call, frame: Frame) -> bool:
        """Whether what is called elsewhere gets a history and gives back a model's reply."""
        if not self._parts.replies or type(node.func) is not ast.Attribute:
            return False
        if not any(self._means(self._values.of(arg, frame)) == "history" for arg in node.args):
            return False
        given = self._values.instances(node, frame)
        if not given or any(cls not in self._parts.replies for cls in given):
            return False
        callees = self._values.callees(node, frame)
        return all(callee.is_bodiless or callee.module is not self._module for callee in callees)

    def _meaning(self, node: ast.Call | ast.Await, frame: Frame) -> None:
        """The message, request or growth that a call of somewhere else comes to."""
        meant = self._made.meant(node, frame, alone=node in self._alone)
        if meant is not None:
            self._meant[node] = meant

    def _statement(self, node: ast.Expr, _: Frame) -> None:
        self._alone.add(node.value)

    def _pattern(self, node: ast.MatchClass, frame: Frame) -> None:
        for thing in self._values.of(node.cls, frame):
            known = self._parts.words.get(thing.cls) if isinstance(thing, ClassObject) else None
            if known is not None and not known.keys().isdisjoint(node.kwd_attrs):
                names = [Word(known.get(name, name), name) for name in node.kwd_attrs]
                self._change(node, lambda there, names=names: setattr(there, "kwd_attrs", names))  # type: ignore[misc]

    def _means(self, value: Value) -> str:
        """Which part of an agent a value is, if all that it may be is the same."""
        found = {self._part(thing) for thing in value}
        if found == {"message", SAYING}:
            return "message"
        return found.pop() if len(found) == 1 else ""

    def _part(self, thing: Any) -> str:
        if isinstance(thing, Instance):
            known = self._parts.kind(thing.cls) or ""
            return SAYING if known == "message" and self._parts.says_all(thing.cls) else known
        if isinstance(thing, ClassObject):
            kind = self._parts.kind(thing.cls)
            return f"class of {kind}" if kind is not None else ""
        if isinstance(thing, Container):
            return _LISTS.get(self._means(thing.inside), "")
        return ""


def _telling(call: ast.Call, told: dict[str, str]) -> None:
    """Says what all objects of a class are, and none is given."""
    given = [ast.keyword(Word(key, ""), ast.copy_location(ast.Constant(Word(v, v)), call)) for key, v in told.items()]
    call.keywords = [*call.keywords, *(ast.copy_location(each, call) for each in given)]


def _become(node: Any, meant: Any, own: set[Any]) -> None:
    """Makes of a call what it comes to, with what was given to it; what is new stands where the call does.

    `own` are the nodes of the file.
    """
    made = _standing(meant, node, own, set())
    node.__class__ = type(made)
    for field, value in ast.iter_fields(made):
        setattr(node, field, value)


def _standing(part: Any, at: Any, own: set[Any], used: set[int]) -> Any:
    """A part of what a call comes to, where the call `at` stands; of the file's `own` nodes each is `used` once."""
    if part in own:
        if id(part) in used:
            part = copy.deepcopy(part)
        used.add(id(part))
        return part
    made = blank(part)
    for field, value in ast.iter_fields(part):
        if isinstance(value, list):
            value = [_standing(one, at, own, used) if isinstance(one, ast.AST) else one for one in value]
        elif isinstance(value, ast.AST):
            value = _standing(value, at, own, used)
        setattr(made, field, value)
    return ast.copy_location(made, at)


def _by_keyword(call: ast.Call, names: list[str]) -> None:
    """Gives the positional arguments of a call the names of the parameters they are for."""
    named = []
    for name, value in zip(names, call.args, strict=True):
        keyword = ast.keyword(Word(name, ""), value)
        named.append(ast.copy_location(keyword, value))
    call.args, call.keywords = [], [*named, *call.keywords]


_LOOKS: dict[type, Callable[[Lowering, Any, Frame], object]] = {
    ast.Attribute: Lowering._attribute,
    ast.Name: Lowering._name,
    ast.Call: Lowering._call,
    ast.Await: Lowering._meaning,
    ast.Expr: Lowering._statement,
    ast.MatchClass: Lowering._pattern,
}
_CALLS: dict[type, Callable[[Lowering, Any, Frame], object]] = {
    ast.Attribute: Lowering._attribute,
    ast.Call: Lowering._call,
    ast.Await: Lowering._meaning,
    ast.Expr: Lowering._statement,
}
