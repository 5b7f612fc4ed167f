"""Tools of a program: the functions of which a model reads the result, known by what a file tells of them, or runs.

- A declaration has the tool's name, and says what it is for or takes: a display, a constructor, a decorator. It names
  the function (`Tool(name="read", description=..., run=read)`, `Tool("read", "Reads.", {...}, read)`), stands above it,
  or gives its name, also in a table.
- A class has a name and a description: what it does with arguments, and none of its own methods asks for; also if it
  inherits these from one that leaves to it what is done.
- A function is offered: `tools=[read]`.
- One is taken from a table, and run with what was written for it: `TABLE[name](**arguments)`; or is put into such
  a table of an object: `tools.register("read", read)`, `@tools.register`.
- One compares what it gets with the names of tools: `if name == "read": return ...`.
- One gives what another tool gives back, or what a message answers a call with; those of other files.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from lint_rules.anatomy import vocabulary as words
from lint_rules.program.modules import Bound, ClassFrame, Frame, Module
from lint_rules.program.values import Container, Function, Values
from lint_rules.syntax.below import walk
from lint_rules.syntax.memo import kept
from lint_rules.syntax.normal.inlining import called

_SCHEMAS = words.SCHEMA_NAMES | {"parameters"}
_SAID = ("content", "output", "result", "text")
_ANSWERS = frozenset({"tool", "function", "tool_result", "function_call_output"})
_IDS = frozenset({"tool_call_id", "tool_use_id", "call_id"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TURNS = frozenset({"loads", "str", "int", "float", "dict", "list"})
"""Functions that give what they get in another form."""
_MOST = 200
"""How many functions are followed into what they give back."""
_DEEPEST = 8


ToldTool = tuple[str, str, "frozenset[str] | None"]
"""The absolute path of a file, the qualified name of a function, and the parameters that get what a model has written:
of one that another tool runs those to which it hands that; None for all."""


def told_of(module: Module, values: Values) -> list[ToldTool]:
    """The functions whose results a model reads.

    As far as the module tells of them: its own ones, and those of the files that it imports.
    """
    found = _Told(module, values).frames()
    return [(os.path.abspath(frame.module.path), _qualname(frame), written) for frame, written in found]


def _qualname(frame: Frame) -> str:
    outer = frame.parent
    name = getattr(frame.node, "name", "<lambda>")
    return name if outer is None or outer.parent is None else f"{_qualname(outer)}.{name}"


class _Told:
    """What a module tells of functions."""

    def __init__(self, module: Module, values: Values) -> None:
        self._module = module
        self._values = values
        self._around = [module, *self._imported()]
        self._declared: set[str] = {name for here in self._around for name in _names(here, here.top)}

    def frames(self) -> Iterator[tuple[Frame, frozenset[str] | None]]:
        """Each function once; of another file also those that give a tool of this one its result.

        With the parameters that get what the model has written; None for all.
        """
        ways = (
            self._by_declaration, self._by_decorator, self._by_class, self._offered, self._by_name, self._named,
            self._registered,
        )  # fmt: skip
        found: dict[Frame, frozenset[str] | None] = dict.fromkeys(frame for way in ways for frame in way())
        answers = (each for said, where in self._answers() for each in self._runs(said, where))
        queue = [*((frame, None) for frame in found), *((run.callee, run.place) for run in answers)]
        handed: dict[Frame, frozenset[str] | None] = {frame: None for frame, _ in queue}
        known = set(queue)
        for frame, place in queue:
            if frame.module is not self._module or frame.is_bodiless:  # then others say what it does
                found.setdefault(frame, handed[frame])
            passed_on = [run for value in frame.returned for run in self._runs(value, frame, place)]
            for run in passed_on:
                if (run.callee, run.place) not in known and len(queue) < _MOST:
                    known.add((run.callee, run.place))
                    if run.callee not in handed:
                        handed[run.callee] = self._written(run.call, run.callee, frame, handed[frame])
                    queue.append((run.callee, run.place))
                if type(frame.node) is ast.Lambda:  # what it runs is the tool, with what it hands on
                    found[run.callee] = self._written(run.call, run.callee, frame, handed[frame])
        return ((frame, written) for frame, written in found.items() if type(frame.node) is not ast.Lambda)

    def _written(
        self, call: ast.Call, callee: Frame, frame: Frame, written: frozenset[str] | None
    ) -> frozenset[str] | None:
        """The parameters to which a call hands what the model has written for the tool in which it stands."""
        if any(type(arg) is ast.Starred for arg in call.args) or any(k.arg is None for k in call.keywords):
            return None
        names = frozenset(frame.parameters) if written is None else written
        given = self._values.given(call, callee.parameters)
        return frozenset(name for name, value in given if _is_of(value, frame, names, 0))

    def _imported(self) -> Iterator[Module]:
        """The files of the project that the module imports."""
        seen: set[str] = {self._module.path}
        for frame in self._module.frames:
            for bounds in frame.bound.values():
                for origin, name in (bound.node for bound in bounds if bound.how == "import"):
                    below = f"{origin}{'' if origin.endswith('.') else '.'}{name}" if name else origin
                    for written in dict.fromkeys((origin, below)):
                        there = self._values.program.imported(self._module, written)
                        if there is not None and there.path not in seen:
                            seen.add(there.path)
                            yield there

    # -- what is told -------------------------------------------------------------------------------------------------

    def _by_declaration(self) -> Iterator[Frame]:
        """What stands beside a name and a description, or schema; and beside a name that a schema gives."""
        for here in self._around:
            for made in _made(here, here.top):
                given = [*made.items.values(), *made.args]
                if made.declares:
                    yield from self._functions(given, made.frame)
                elif type(made.node) is ast.Dict:  # `{"read": read_file}`
                    named = [v for k, v in made.items.items() if k in self._declared]
                    told = [part for v in made.items.values() if _describes(v) for part in v.elts]  # type: ignore[attr-defined]
                    yield from self._functions([*named, *told], made.frame)
                elif not self._declared.isdisjoint(map(_text, given)):  # `add("read", read_file)`
                    yield from self._functions(given, made.frame)

    def _by_decorator(self) -> Iterator[Frame]:
        for frame in self._module.frames:
            above = getattr(frame.node, "decorator_list", ()) if not frame.is_class else ()
            if any(self._makes_tool(decorator, frame.parent or frame) for decorator in above):
                yield frame

    def _makes_tool(self, decorator: ast.expr, frame: Frame) -> bool:
        """Whether a decorator says what a function is for, or makes a tool of it: of the project, or of a library."""
        func = decorator.func if type(decorator) is ast.Call else decorator
        if type(decorator) is ast.Call and (_tells(_items(decorator)) or _declares(decorator, _items(decorator))):
            return True
        own = {id(node) for made in self._functions([func], frame) for node in walk(made.node)}
        if not own:
            return ast.unparse(func).rpartition(".")[2] in words.TOOL_DECORATORS
        made = (made for here in self._around for made in _made(here, here.top) if id(made.node) in own)
        return any("name" in each.items and _tells(each.items) for each in made)

    def _by_class(self) -> Iterator[Frame]:
        for cls in self._module.classes:
            left_open = self._left_open(cls)
            telling = (cls, *self._values.bases(cls)) if left_open else (cls,)
            if not {"name", "description"} <= {part for each in telling for part in self._parts(each)}:
                continue
            yield from self._functions([b.node for bs in cls.bound.values() for b in bs if b.how == "value"], cls)
            used = {node.attr for method in cls.methods.values() for node in _own_attributes(method)}
            for name, method in cls.methods.items():
                takes = _takes(method) or left_open.get(name)
                if left_open and left_open.keys().isdisjoint((name, *(node.attr for node in _own_attributes(method)))):
                    continue
                if takes and name not in used and not method.decorators and name != "__init__":
                    yield method

    def _left_open(self, cls: ClassFrame) -> dict[str, bool]:
        """The methods that a class, or one that it inherits from, leaves to others, and whether they take arguments:
        what a tool does, and not how it is shown, has no default."""
        every = [(name, method) for each in (cls, *self._values.bases(cls)) for name, method in each.methods.items()]
        return {name: _takes(method) for name, method in every if "abstractmethod" in method.decorators}

    def _parts(self, cls: ClassFrame) -> Iterator[str]:
        """What a class has, has in an object that tells of it, tells the class that it inherits from, or says if asked:
        `def spec(self): return Spec(name=..., description=...)`.
        """
        yield from (*cls.bound, *cls.attributes)
        said = (value for method in cls.methods.values() if not method.parameters for value in method.returned)
        for node in (value.elts[0] if type(value) is ast.List and len(value.elts) == 1 else value for value in said):
            made = _items(node) if isinstance(node, ast.Call | ast.Dict) else {}
            inner = made.get("function")
            yield from (*made, *(_items(inner) if isinstance(inner, ast.Dict) else ()))
        for bound in (bound for bounds in (*cls.bound.values(), *cls.attributes.values()) for bound in bounds):
            if bound.how == "value" and type(bound.node) in {ast.Call, ast.Dict}:  # `about = About(name=..., ...)`
                yield from _items(bound.node)
        for node in (node for method in cls.methods.values() for node in method.nodes if type(node) is ast.Call):
            if type(node.func) is ast.Attribute and node.func.attr == "__init__":
                yield from _items(node)

    def _offered(self) -> Iterator[Frame]:
        for made in _made(self._module, self._module.top):
            offered = made.items.get("tools") if type(made.node) is ast.Call else None
            for value in [offered, *_bound(offered, made.frame)] if offered is not None else ():
                listed = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
                inside = [a for e in listed if type(e) is ast.Call for a in (*e.args, *_items(e).values())]
                yield from self._functions([*listed, *inside], made.frame)

    def _by_name(self) -> Iterator[Frame]:
        """`TABLE[name](**arguments)`."""
        for node, frame, *_ in _made(self._module, self._module.top):
            if type(node) is ast.Call and any(keyword.arg is None for keyword in node.keywords):
                if any(map(_is_look_up, [node.func, *_bound(node.func, frame)])):
                    yield from self._functions([node.func], frame)

    def _registered(self) -> Iterator[Frame]:
        """What is handed to a method, or stands below it, that puts it into a table from which its class runs tools."""
        for node, frame, *_ in _made(self._module, self._module.top):
            for callee in self._values.callees(node, frame) if type(node) is ast.Call else ():
                given = self._values.given(node, callee.parameters)
                yield from self._functions([value for name, value in given if name in _tabled(callee)], frame)
        for frame in self._module.frames:
            for decorator in getattr(frame.node, "decorator_list", ()):
                by = self._functions([decorator], frame.parent or frame)
                if any(not _tabled(callee).isdisjoint(callee.parameters[:1]) for callee in by):
                    yield frame

    def _named(self) -> Iterator[Frame]:
        """Functions that are called as a tool is, and those that choose one by its name."""
        for here in self._around if self._declared else ():
            own = here is self._module or bool(_names(here, here.top))
            for frame in here.frames:
                if not isinstance(frame.node, _FUNCTIONS):
                    continue
                chosen = self._declared.intersection(_compared(here, frame))
                if (own and frame.node.name in self._declared) or len(chosen) > (0 if here is self._module else 1):
                    yield frame
        for name in self._declared.intersection(self._module.top.bound):
            yield from (t.frame for t in self._values.variable(self._module.top, name) if isinstance(t, Function))

    def _functions(self, given: Iterable[ast.AST], frame: Frame) -> list[Frame]:
        things = [thing for value in given for thing in self._values.of(value, frame)]
        things += [inner for thing in things if isinstance(thing, Container) for inner in thing.inside]
        return [thing.frame for thing in things if isinstance(thing, Function)]

    # -- what gives it ------------------------------------------------------------------------------------------------

    def _answers(self) -> Iterator[tuple[ast.expr, Frame]]:
        """What messages of the module say that answer a call."""
        for node, frame, own, args, _ in _made(self._module, self._module.top):
            items = {**_handed_as_keywords(node, frame), **own}
            if not _IDS.isdisjoint(items) or not _ANSWERS.isdisjoint({_text(items.get(k)) for k in ("role", "type")}):
                yield from ((items[name], frame) for name in _SAID if name in items)
            if type(node) is ast.Call and called(node) in words.RESPONSE_MAKERS:
                yield from ((value, frame) for value in [*args[1:2], items.get("response")] if value is not None)
            inside = (
                _items(value) for key, value in items.items() if key in words.RESPONSES and type(value) is ast.Dict
            )
            yield from ((each["response"], frame) for each in inside if "response" in each)

    def _runs(self, said: ast.expr, frame: Frame, place: int | None = None) -> Iterator[_Run]:
        """The functions of which a text is the result, or a part of one that no word calls incomplete; by calls.

        `place`: of a tuple that `said` is, the text is what stands there.
        """
        stack: list[tuple[Any, int, int | None]] = [(said, 0, place)]
        while stack:
            node, depth, at = stack.pop()
            if depth > _DEEPEST:
                continue
            callees = self._values.callees(node, frame) if type(node) is ast.Call else []
            if callees:
                yield from (_Run(callee, node, at) for callee in callees)
            elif type(node) is ast.Name:
                bounds = list(_bounds(node, frame))
                if not any(type(bound.node) is not ast.Call and _notes(bound.node) for bound in bounds):
                    stack += [(b.node, depth + 1, b.path[-1] if b.path else at) for b in bounds]
            elif type(node) is ast.Tuple and at is not None:
                stack += [(part, depth + 1, None) for part in node.elts[at : at + 1]]
            elif not isinstance(node, (ast.BinOp, ast.JoinedStr)) or not _notes(node):
                at = at if type(node) in _SAME else None
                stack += [(part, depth + 1, at) for part in _PARTS.get(type(node), lambda _: ())(node)]


class _Run(NamedTuple):
    """A call of a function whose result, or what it has at a place of a tuple, becomes a text."""

    callee: Frame
    call: ast.Call
    place: int | None


_SAME = frozenset({ast.Await, ast.IfExp, ast.BoolOp})
"""What is one of its parts."""
_PARTS: dict[type, Callable[[Any], Iterable[Any]]] = {
    ast.Await: lambda node: [node.value],
    ast.Attribute: lambda node: [node.value],
    ast.Subscript: lambda node: [node.value] if type(node.slice) is not ast.Slice else [],
    ast.IfExp: lambda node: [node.body, node.orelse],
    ast.BoolOp: lambda node: node.values,
    ast.BinOp: lambda node: [node.left, node.right],
    ast.JoinedStr: lambda node: node.values,
    ast.FormattedValue: lambda node: [node.value],
    ast.Tuple: lambda node: node.elts,
    ast.Dict: lambda node: [value for value in node.values if value is not None],
    ast.Call: lambda node: [*node.args, *(node.func.value for _ in "." if type(node.func) is ast.Attribute)],
}
"""What a text is made of, as far as one of its parts may be the whole text."""


class _Made(NamedTuple):
    """A display or call of a module: what it gets under names, what else, and whether it declares a tool by itself."""

    node: Any
    frame: Frame
    items: dict[str, ast.expr]
    args: list[ast.expr]
    declares: bool


@kept
def _made(module: Module, top: Frame) -> list[_Made]:
    """The displays and calls of a module: it is asked for each file that imports it, too."""
    above = {id(each) for frame in module.frames for each in getattr(frame.node, "decorator_list", ())}
    found = []
    for node, frame in ((n, f) for f in module.frames for n in f.nodes if type(n) in {ast.Call, ast.Dict}):
        items, args = _items(node), node.args if type(node) is ast.Call else []
        declares = id(node) not in above and (_declares(node, items) or _holds_schema([*items.values(), *args], frame))
        found.append(_Made(node, frame, items, args, declares))
    return found


def _items(node: ast.Call | ast.Dict) -> dict[str, ast.expr]:
    """The keywords of a call, or what a display holds under constant keys."""
    if type(node) is ast.Call:
        return {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    keys = map(_text, node.keys)  # type: ignore[union-attr]
    return {key: value for key, value in zip(keys, node.values, strict=True) if key is not None}  # type: ignore[union-attr]


def _text(node: Any) -> str | None:
    return node.value if type(node) is ast.Constant and isinstance(node.value, str) else None


def _tells(items: dict[str, ast.expr]) -> bool:
    return "description" in items or not _SCHEMAS.isdisjoint(items)


def _declares(node: ast.Call | ast.Dict, items: dict[str, ast.expr]) -> bool:
    """Whether it says a tool's name, and what that is for or takes; a call also by the places of its arguments."""
    if "name" in items and _tells(items):
        return True
    if type(node) is not ast.Call or not node.args or not (_text(node.args[0]) or "").isidentifier():
        return False
    given = [*node.args[1:], *items.values()]
    return any(" " in (_text(value) or "") for value in given) and any(map(_is_schema, given))


def _describes(value: ast.expr) -> bool:
    """`("Reads a file.", {"path": "string"}, read)`: whether what something is for, and takes, stands beside it."""
    parts = value.elts if isinstance(value, ast.Tuple) else []
    return any(" " in (_text(part) or "") for part in parts) and any(type(part) is ast.Dict for part in parts)


def _is_schema(node: ast.expr) -> bool:
    """`{"path": {"type": "string"}}`, `{"type": "object"}`, and what is put together of such."""
    return type(node) is ast.Dict and any(
        type(inner) is ast.Dict and _text(_items(inner).get("type")) is not None for inner in walk(node)
    )


def _holds_schema(given: Iterable[ast.AST], frame: Frame) -> bool:
    """`register(SCHEMA, read)`, `Tool(schema={"name": ..., "description": ...}, run=read)`."""
    for value in (each for part in given for each in (part, *_bound(part, frame))):
        if type(value) is ast.Dict:
            items = _items(value)
            inner = items.get("function")
            items = _items(inner) if type(inner) is ast.Dict else items
            if "name" in items and not _SCHEMAS.isdisjoint(items):
                return True
    return False


@kept
def _names(module: Module, top: Frame) -> frozenset[str]:
    """The names of tools to which a module gives a schema."""
    found = set()
    for node, _, items, args, _ in _made(module, top):
        if "name" in items and not _SCHEMAS.isdisjoint(items):
            found.add(_text(items["name"]) or "")
        elif args and _declares(node, items):
            found.add(_text(args[0]) or "")
    return frozenset(found)


def _takes(method: Frame) -> bool:
    """Whether a method takes arguments."""
    return bool(method.parameters or getattr(getattr(method.node, "args", None), "kwarg", None))


def _own_attributes(method: Frame) -> Iterator[ast.Attribute]:
    for node in method.nodes:
        if type(node) is ast.Attribute and type(node.value) is ast.Name and node.value.id == method.self_name:
            yield node


def _bound(node: ast.AST | None, frame: Frame) -> Iterator[Any]:
    """What a name is assigned where it is bound."""
    return (bound.node for bound in _bounds(node, frame))


def _bounds(node: ast.AST | None, frame: Frame) -> Iterator[Bound]:
    around = frame.lookup(node.id) if type(node) is ast.Name else None
    for bound in around.bound.get(getattr(node, "id", ""), ()) if around is not None else ():
        if bound.how == "value":
            yield bound


def _handed_as_keywords(node: Any, frame: Frame) -> dict[str, ast.expr]:
    """What a call gets by `**given`, where that is a display."""
    spread = (keyword.value for keyword in getattr(node, "keywords", ()) if keyword.arg is None)
    shown = (value for given in spread for value in (given, *_bound(given, frame)) if type(value) is ast.Dict)
    return {key: value for display in shown for key, value in _items(display).items()}


def _is_of(node: Any, frame: Frame, names: frozenset[str], depth: int) -> bool:
    """Whether a value is what some parameters are, or a part of it, also cleaned up, decoded, or by another name."""
    if type(node) is ast.Name and node.id not in names:
        return depth < _DEEPEST and any(_is_of(value, frame, names, depth + 1) for value in _bound(node, frame))
    if type(node) is ast.Call:
        parts = node.args[:1] if called(node) in _TURNS else [getattr(node.func, "value", node)]
        return any(part is not node and _is_of(part, frame, names, depth) for part in parts)
    if type(node) in (ast.BoolOp, ast.IfExp):
        return any(_is_of(part, frame, names, depth) for part in _PARTS[type(node)](node))
    if type(node) in (ast.Attribute, ast.Subscript):
        return _is_of(node.value, frame, names, depth)
    return type(node) is ast.Name


def _tabled(method: Frame) -> frozenset[str]:
    """The parameters that a method puts into a table from which its class runs things with arguments by keyword."""
    cls = method.owner
    kept = [(name, b) for name, bounds in (cls.contents if cls is not None else {}).items() for b in bounds]
    put = {(each.id, name) for name, b in kept if b.frame is method for each in walk(b.node) if type(each) is ast.Name}
    run = _run_from(cls) if put and cls is not None else frozenset()
    return frozenset(parameter for parameter, name in put if name in run and parameter in method.parameters)


def _run_from(cls: ClassFrame) -> frozenset[str]:
    """The attributes of an object that are tables from which its methods run things with arguments by keyword."""
    return frozenset(
        name
        for method in cls.methods.values()
        for node in method.nodes
        if type(node) is ast.Call and any(keyword.arg is None for keyword in node.keywords)
        for name in _looked_up(node.func, method, 0)
    )


def _looked_up(node: Any, method: Frame, depth: int) -> Iterator[str]:
    """`table` of `self.table[name]`, also of a part of what lies there, and by another name."""
    if type(node) is ast.Name and depth < _DEEPEST:
        for value in _bound(node, method):
            yield from _looked_up(value, method, depth + 1)
    inner = node.func if _is_look_up(node) and type(node) is ast.Call else node
    base = getattr(inner, "value", None)
    if _is_look_up(node) and type(base) is ast.Attribute and getattr(base.value, "id", "") == method.self_name:
        yield base.attr
    elif type(inner) in (ast.Attribute, ast.Subscript):
        yield from _looked_up(base, method, depth)


def _is_look_up(node: Any) -> bool:
    if type(node) is ast.Subscript:
        return type(node.slice) is not ast.Slice
    return type(node) is ast.Call and type(node.func) is ast.Attribute and node.func.attr == "get"


@kept
def _compared(module: Module, function: Frame) -> frozenset[str]:
    """The strings with which a function of a module compares what it gets, or what it takes out of that."""
    return frozenset(_compares(function))


def _compares(function: Frame) -> Iterator[str]:
    given = set(function.parameters)
    for node in function.nodes:
        if type(node) is ast.Compare and len(node.ops) == 1 and type(node.ops[0]) is ast.Eq:
            if ast.unparse(node.left).partition(".")[0] in given:
                yield _text(node.comparators[0]) or ""
    for match in walk(function.node):
        if type(match) is ast.Match and ast.unparse(match.subject).partition(".")[0] in given:
            yield from (_text(p.value) or "" for c in match.cases for p in walk(c.pattern) if type(p) is ast.MatchValue)


def _notes(node: ast.AST) -> bool:
    """Whether words of a text say that something is missing."""
    return any(words.SAYS_HOW_MUCH.search(_text(part) or "") for part in walk(node))
