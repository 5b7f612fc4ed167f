"""What a call of a project's own function or class comes to: what it calls is run on paper.

`line("user", text)`, `Entry("user", text)` of a subclass of `dict`, `Turn("user", text).packed()`: each makes one dict,
whose values are constants and the arguments of the call. And a function of another file that does no more than to send
a request, or to put something into a list, is that request, or that `append`; so is one of the same file that puts
together what it puts there, by what a call gives it. Only what plainly ends so is followed: assignments, keys that are
put in, tests of what was given, and one `return`. Anything else is unknown.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any, TypeAlias

from lint_rules.anatomy import vocabulary as words
from lint_rules.program.modules import ClassFrame, Frame
from lint_rules.program.values import ClassObject, Function, Values
from lint_rules.syntax.below import blank
from lint_rules.syntax.word import Word

MOST_DEEP = 4
"""How many calls may lie in each other."""
_BUILTINS = frozenset(vars(builtins))
_SAID = frozenset({"role", "tool_call_id", "tool_use_id"})
"""Keys of which every message that is put together has one."""
_SENT = frozenset(key for keys in words.ENDPOINTS.values() for key in keys)
_GROWERS = frozenset({"append", "extend", "insert", "appendleft", "add"})
_OTHERWISE = frozenset({"cache", "lru_cache", "contextmanager", "asynccontextmanager"})
"""Decorators under which a function is not run as it stands."""
_CHAIN = (ast.Name, ast.Attribute, ast.expr_context)
_NEVER = (ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)


class Thing:
    """An object that is made: what it holds as a dict, and what lies in its attributes."""

    def __init__(self, cls: ClassFrame | None = None) -> None:
        self.cls = cls
        self.node: ast.expr | None = None
        """The expression of the caller that makes it."""
        self.items: list[tuple[str | None, Given]] = []
        """Keys and values, in order; without a key what is spread in it."""
        self.fields: dict[str, Given] = {}

    def put(self, key: str, value: Given) -> None:
        known = [place for place, (name, _) in enumerate(self.items) if name == key]
        if known:
            self.items[known[0]] = key, value
        else:
            self.items.append((key, value))


Given: TypeAlias = "ast.expr | Thing"
Names: TypeAlias = "dict[str, Given]"


class _Unknown(Exception):
    """What happens is not plain."""


class Made:
    """What calls in the files of a program make."""

    def __init__(self, values: Values, fields: Mapping[ClassFrame, Mapping[str, str]]) -> None:
        """`fields`: by class its own word for a field -> the provider's."""
        self._values = values
        self._fields = fields
        self._grown: list[ast.expr] = []
        """What was put into lists and stores on the way."""
        self._known: dict[tuple[Frame, str], bool] = {}
        self._home: Frame | None = None
        """Where the call stands that is followed."""

    def meant(self, node: ast.Call | ast.Await, frame: Frame, *, alone: bool = False) -> ast.expr | None:
        """What a call, or the wait for one, comes to, in nodes of the call and new ones. None where it is not plain.

        `alone`: it is a statement, and nobody looks at what it gives.
        """
        call = node.value if isinstance(node, ast.Await) else node
        if not isinstance(call, ast.Call) or not self._tells(call, frame):
            return None
        self._home = frame
        self._grown.clear()
        try:
            result = self._called(call, frame, None, MOST_DEEP, is_awaited=call is not node)
            shown = self._put(alone=alone) if self._grown else self._shown(result)
            callees = self._values.callees(call, frame)
            known = not isinstance(shown, ast.Dict) and not self._grown  # what a function of this file does, is
            if known and any(callee.module is frame.module for callee in callees):
                return None
        except (_Unknown, RecursionError):
            return None
        kept = Counter(id(part) for part in ast.walk(shown) if isinstance(part, (ast.Call, ast.Await)))
        given = (part for part in ast.walk(call) if type(part) in (ast.Call, ast.Await) and part is not call)
        once = all(kept[id(part)] == 1 or self._is_plain_object(part, frame) for part in given)
        return shown if once and all(times == 1 for times in kept.values()) else None

    def _shown(self, given: Given) -> ast.expr:
        if isinstance(given, Thing):
            if not given.items or not (given.cls is None or self._is_dict(given.cls)):
                raise _Unknown
            return _display(given)
        if not _sends(given) and not _grows(given):
            raise _Unknown
        return given

    def _put(self, *, alone: bool) -> ast.expr:
        if not alone or len(self._grown) > 1:
            raise _Unknown
        return self._grown[0]

    def _tells(self, call: ast.Call, frame: Frame) -> bool:
        """Whether a call may make a message, or send or store some in another file: where it leads to, that is done."""
        found = self._values.of(call.func, frame)
        thing = next(iter(found)) if len(found) == 1 else None
        if isinstance(thing, ClassObject):
            method = self._values.method(thing.cls, "__init__")
            named = self._fields.get(thing.cls, {}).values()
            return not _SAID.isdisjoint(named) or (method is not None and self._speaks(method))
        if not isinstance(thing, Function):
            return False
        return self._speaks(thing.frame) or (thing.frame.module is not frame.module and self._hands_on(thing.frame))

    def _speaks(self, function: Frame) -> bool:
        """Whether a function says under which role something is sent, or which call it answers."""
        return self._noted(function, "speaks", lambda: any(self._is_said(node, function) for node in function.nodes))

    def _hands_on(self, function: Frame) -> bool:
        """Whether a function does no more than to send something, or to put it into a list."""

        def found() -> bool:
            calls = [node for node in function.nodes if isinstance(node, ast.Call)]
            if any(_grows(call) or any(keyword.arg in _SENT for keyword in call.keywords) for call in calls):
                return True
            led = (thing for call in calls for thing in self._values.of(call.func, function))
            return any(isinstance(thing, Function) and self._hands_on(thing.frame) for thing in led)

        return self._noted(function, "hands on", found)

    def _noted(self, function: Frame, what: str, answer: Callable[[], bool]) -> bool:
        key = function, what
        if key not in self._known:
            self._known[key] = False
            self._known[key] = answer()
        return self._known[key]

    def _is_said(self, node: ast.AST, frame: Frame) -> bool:
        if isinstance(node, ast.Dict):
            return any(isinstance(key, ast.Constant) and key.value in _SAID for key in node.keys)
        if isinstance(node, ast.Assign):
            slices = [target.slice for target in node.targets if isinstance(target, ast.Subscript)]
            return any(isinstance(part, ast.Constant) and part.value in _SAID for part in slices)
        if isinstance(node, ast.Call):
            return any(keyword.arg in _SAID for keyword in node.keywords) or self._tells(node, frame)
        return False

    def _is_plain_object(self, node: ast.AST, frame: Frame) -> bool:
        """Whether nothing is lost if a call is made never or twice."""
        return type(node) is ast.Call and self._values.constructed(node, frame) is not None

    def _is_dict(self, cls: ClassFrame) -> bool:
        line = [cls, *self._values.bases(cls)]
        return any(getattr(base, "id", "") in ("dict", "TypedDict") for one in line for base in one.inherits)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _called(
        self, call: ast.Call, frame: Frame, names: Names | None, deep: int, *, is_awaited: bool = False
    ) -> Given:
        """What a call gives that stands in a frame, in which names stand for what was given (None: for themselves)."""
        if not deep:
            raise _Unknown
        func = call.func
        if type(func) is ast.Name and func.id == "dict" and not call.args:
            return self._dict_of(call, frame, names, deep)
        owner: Given | None = None
        if type(func) is ast.Attribute:
            owner = self._value(func.value, frame, names, deep) if _may_be_thing(func.value, names) else None
            if isinstance(owner, Thing) and owner.cls is not None:
                method = self._values.method(owner.cls, func.attr)
                if method is None or _is_async(method) is not is_awaited:
                    raise _Unknown
                return self._run(method, self._arguments(call, method, frame, names, deep), owner, deep)
        found = self._values.of(func, frame)
        if len(found) != 1:
            raise _Unknown
        (target,) = found
        if isinstance(target, ClassObject):
            return self._made(target.cls, call, frame, names, deep)
        if not isinstance(target, Function) or _is_async(target.frame) is not is_awaited:
            raise _Unknown
        function = target.frame
        first: Given | None = None
        if "classmethod" in function.decorators and type(func) is ast.Attribute:
            first = func.value
        elif isinstance(function.parent, ClassFrame) and "staticmethod" not in function.decorators:
            if type(func) is not ast.Attribute:
                raise _Unknown
            first = owner if owner is not None else self._value(func.value, frame, names, deep)
        return self._run(function, self._arguments(call, function, frame, names, deep), first, deep)

    def _dict_of(self, call: ast.Call, frame: Frame, names: Names | None, deep: int) -> Thing:
        made = Thing()
        for keyword in call.keywords:
            self._item(made, keyword.arg, self._value(keyword.value, frame, names, deep))
        return made

    @staticmethod
    def _item(made: Thing, key: str | None, value: Given) -> None:
        if key is not None:
            made.put(key, value)
        elif isinstance(value, Thing):
            for name, part in value.items:
                made.items.append((None, part)) if name is None else made.put(name, part)
        else:
            made.items.append((None, value))

    def _made(self, cls: ClassFrame, call: ast.Call, frame: Frame, names: Names | None, deep: int) -> Thing:
        made = Thing(cls)
        method = self._values.method(cls, "__init__")
        if method is not None:
            self._run(method, self._arguments(call, method, frame, names, deep), made, deep)
        elif self._is_dict(cls):
            self._item(made, None, self._dict_of(call, frame, names, deep))
        else:
            listed = [name for name, _ in self._values.constructor(cls)]
            given = self._plain(call, listed, frame, names, deep)
            made.fields = {name: given[name] if name in given else self._default(cls, name) for name in listed or given}
            if names is not None:
                made.node = self._constructed(call, cls, made, frame, names, deep)
        made.node = call if names is None else made.node
        return made

    def _constructed(
        self, call: ast.Call, cls: ClassFrame, made: Thing, frame: Frame, names: Names, deep: int
    ) -> ast.expr | None:
        """The call of a constructor with what its fields get, where that can be written down."""
        known = self._fields.get(cls, {})
        with suppress(_Unknown):
            parts = [
                ast.keyword(Word(known[name], name) if name in known else name, _expression(value))
                for name, value in made.fields.items()
                if not (isinstance(value, ast.Constant) and value.value is None)
            ]
            return ast.Call(self._same(call.func, frame, names, deep), [], parts)
        return None

    def _default(self, cls: ClassFrame, name: str) -> Given:
        """What a field has that nothing is given to."""
        for here in (cls, *self._values.bases(cls)):
            for bound in here.bound.get(name, ()):
                if bound.how != "value":
                    continue
                if type(bound.node) is not ast.Call:
                    return self._value(bound.node, here, {}, 1)
                for keyword in bound.node.keywords:
                    if keyword.arg == "default":
                        return self._value(keyword.value, here, {}, 1)
                    if keyword.arg in ("default_factory", "factory") and type(keyword.value) is ast.Name:
                        empty: dict[str, ast.expr] = {"list": ast.List([], ast.Load()), "dict": ast.Dict([], [])}
                        if keyword.value.id in empty:
                            return empty[keyword.value.id]
        return ast.Constant(None)

    def _plain(self, call: ast.Call, listed: list[str], frame: Frame, names: Names | None, deep: int) -> Names:
        if any(type(arg) is ast.Starred for arg in call.args) or len(call.args) > len(listed):
            raise _Unknown
        given = {name: self._value(arg, frame, names, deep) for name, arg in zip(listed, call.args, strict=False)}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise _Unknown
            given[keyword.arg] = self._value(keyword.value, frame, names, deep)
        return given

    def _arguments(self, call: ast.Call, function: Frame, frame: Frame, names: Names | None, deep: int) -> Names:
        """What the parameters of a function stand for in a call; its `**rest` for a dict."""
        args = function.node.args
        if any(type(arg) is ast.Starred for arg in call.args) or args.vararg is not None:
            raise _Unknown
        listed = function.parameters
        given: Names = {}
        rest = Thing()
        for name, arg in zip(listed, call.args, strict=False):
            given[name] = self._value(arg, frame, names, deep)
        for keyword in call.keywords:
            value = self._value(keyword.value, frame, names, deep)
            if keyword.arg is not None and keyword.arg in listed:
                given[keyword.arg] = value
            else:
                self._item(rest, keyword.arg, value)
        if len(call.args) > len(listed) or (rest.items and args.kwarg is None):
            raise _Unknown
        if args.kwarg is not None:
            given[args.kwarg.arg] = rest
        positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        defaults = dict(zip(reversed(positional), reversed(args.defaults), strict=False))
        defaults |= {arg.arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value}
        for name in listed:
            if name not in given:
                if name not in defaults:
                    raise _Unknown
                given[name] = self._value(defaults[name], function.parent or function, {}, 1)
        return given

    # -- what a function does -----------------------------------------------------------------------------------------

    def _run(self, function: Frame, names: Names, first: Given | None, deep: int) -> Given:
        """What a function gives back; `first` is its object, to which it may do something."""
        if function.yielded or not function.decorators.isdisjoint(_OTHERWISE):
            raise _Unknown
        args = function.node.args
        if first is not None and (listed := [*args.posonlyargs, *args.args]):
            names = {**names, listed[0].arg: first}
        if isinstance(function.node, ast.Lambda):
            return self._value(function.node.body, function, names, deep - 1)
        body = [line for line in function.node.body if not _is_text(line)]
        if len(body) == 1 and isinstance(body[0], ast.Expr) and not isinstance(first, Thing):
            return self._value(body[0].value, function, names, deep - 1)
        given = self._block(body, function, names, deep - 1)
        return given if given is not None else ast.Constant(None)

    def _block(self, body: list[ast.stmt], frame: Frame, names: Names, deep: int) -> Given | None:
        """What a block gives back, None where it ends; names get what they are bound to."""
        for line in body:
            if isinstance(line, ast.Return):
                return ast.Constant(None) if line.value is None else self._value(line.value, frame, names, deep)
            if isinstance(line, ast.If):
                verdict = _truth(self._value(line.test, frame, names, deep))
                if verdict is None:
                    self._perhaps(line, frame, names, deep)
                    continue
                given = self._block(line.body if verdict else line.orelse, frame, names, deep)
                if given is not None:
                    return given
            elif isinstance(line, (ast.Assign, ast.AnnAssign)):
                self._bind(line, frame, names, deep)
            elif isinstance(line, ast.Expr):
                self._does(line.value, frame, names, deep)
            elif not isinstance(line, ast.Pass):
                raise _Unknown
        return None

    def _perhaps(self, line: ast.If, frame: Frame, names: Names, deep: int) -> None:
        """`if x: made["key"] = x`: a key that a dict may have."""
        test = _emptiness(_expression(self._value(line.test, frame, names, deep)))
        for inside in line.body:
            target = inside.targets[0] if isinstance(inside, ast.Assign) and len(inside.targets) == 1 else None
            if line.orelse or not isinstance(target, ast.Subscript) or not isinstance(inside, ast.Assign):
                raise _Unknown
            made = self._value(target.value, frame, names, deep)
            if not isinstance(made, Thing):
                raise _Unknown
            value = _expression(self._value(inside.value, frame, names, deep))
            made.items.append((None, ast.IfExp(test, ast.Dict([_constant(_key(target))], [value]), ast.Dict([], []))))

    def _bind(self, line: ast.Assign | ast.AnnAssign, frame: Frame, names: Names, deep: int) -> None:
        targets = line.targets if isinstance(line, ast.Assign) else [line.target]
        if line.value is None:
            return
        if len(targets) != 1:
            raise _Unknown
        (target,) = targets
        value = self._value(line.value, frame, names, deep)
        if isinstance(target, ast.Name):
            names[target.id] = value
            return
        made = (
            self._value(target.value, frame, names, deep)
            if isinstance(target, (ast.Attribute, ast.Subscript))
            else None
        )
        if not isinstance(made, Thing):
            raise _Unknown
        if isinstance(target, ast.Attribute):
            made.fields[target.attr] = value
        elif isinstance(target, ast.Subscript):
            made.put(_key(target), value)

    def _does(self, node: ast.expr, frame: Frame, names: Names, deep: int) -> None:
        """A docstring, `made.update(...)`, `super().__init__(...)`, `rows.add(made)` and then `session.commit()`."""
        if isinstance(node, ast.Constant):
            return
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            raise _Unknown
        func = node.func
        if _grows(node):
            self._grown.append(self._same(node, frame, names, deep))
            return
        if self._grown and not node.args and not node.keywords and not any(self._values.callees(node, frame)):
            return  # not `self._write()`: what is done there is no part of an `append`
        if func.attr == "update" and len(node.args) <= 1:
            made = self._value(func.value, frame, names, deep)
            more = self._dict_of(node, frame, names, deep)
            if not isinstance(made, Thing):
                raise _Unknown
            for arg in node.args:
                self._item(made, None, self._value(arg, frame, names, deep))
            self._item(made, None, more)
            return
        made = names.get(frame.self_name or "", ast.Constant(None))
        if func.attr != "__init__" or not isinstance(made, Thing) or frame.owner is None:
            raise _Unknown
        method = next((b.methods["__init__"] for b in self._values.bases(frame.owner) if "__init__" in b.methods), None)
        if method is not None:
            self._run(method, self._arguments(node, method, frame, names, deep), made, deep)
        elif self._is_dict(frame.owner):
            for arg in node.args:
                if not _is_name(arg, frame.self_name):
                    self._item(made, None, self._value(arg, frame, names, deep))
            self._item(made, None, self._dict_of(node, frame, names, deep))

    # -- expressions --------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, frame: Frame, names: Names | None, deep: int) -> Given:
        """What an expression of a frame is, in the words of who calls."""
        if isinstance(node, ast.Name) and names is not None and node.id in names:
            return names[node.id]
        if isinstance(node, ast.Dict) and names is not None:
            made = Thing()
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None and not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                    raise _Unknown
                self._item(made, key.value if key is not None else None, self._value(value, frame, names, deep))  # type: ignore[arg-type]
            return made
        if isinstance(node, ast.Attribute):
            base = self._value(node.value, frame, names, deep) if _may_be_thing(node.value, names) else None
            if isinstance(base, Thing):
                return self._field(base, node.attr, deep)
        if isinstance(node, ast.IfExp) and names is not None:
            verdict = _truth(self._value(node.test, frame, names, deep))
            if verdict is not None:
                return self._value(node.body if verdict else node.orelse, frame, names, deep)
        call = node.value if isinstance(node, ast.Await) and names is not None else node
        if isinstance(call, ast.Call) and self._is_own(call, frame, names):
            with suppress(_Unknown):
                return self._called(call, frame, names, deep, is_awaited=call is not node)
        return node if names is None else self._same(node, frame, names, deep)

    def _field(self, made: Thing, name: str, deep: int) -> Given:
        if name in made.fields:
            return made.fields[name]
        method = self._values.method(made.cls, name) if made.cls is not None else None
        if method is not None and not method.decorators.isdisjoint({"property", "cached_property"}):
            return self._run(method, {}, made, deep)
        default = self._default(made.cls, name) if made.cls is not None and method is None else None
        if default is None:
            raise _Unknown
        return default

    def _is_own(self, call: ast.Call, frame: Frame, names: Names | None) -> bool:
        """Whether a call makes something that can be followed: of a class of the project, or by a function of it."""
        func = call.func
        if isinstance(func, ast.Name) and func.id == "dict":
            return names is not None and not call.args
        if isinstance(func, ast.Attribute) and _may_be_thing(func.value, names) and names is not None:
            return True
        if names is None:
            return self._values.constructed(call, frame) is not None
        found = self._values.of(func, frame)
        return len(found) == 1 and isinstance(next(iter(found)), (ClassObject, Function))

    def _same(self, node: Any, frame: Frame, names: Names, deep: int) -> ast.expr:
        """The same expression with what its names stand for. What it takes from elsewhere, the caller must know too."""
        if isinstance(node, _NEVER):
            raise _Unknown
        if isinstance(node, ast.JoinedStr):
            return self._joined(node, frame, names, deep)
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name):
            return self._named(node, frame)
        made = blank(node)
        for field, value in ast.iter_fields(node):
            if field == "keywords":
                value = [one for part in value for one in self._keywords(part, frame, names, deep)]
            elif isinstance(value, list):
                value = [self._part(part, frame, names, deep) for part in value]
            elif isinstance(value, ast.AST):
                value = self._part(value, frame, names, deep)
            setattr(made, field, value)
        return made  # type: ignore[no-any-return]

    def _keywords(self, keyword: ast.keyword, frame: Frame, names: Names, deep: int) -> list[ast.keyword]:
        """A keyword; of `**rest` those that it stands for."""
        given = self._value(keyword.value, frame, names, deep)
        if keyword.arg is None and isinstance(given, Thing) and given.cls is None:
            return [ast.keyword(name, _expression(value)) for name, value in given.items]
        return [ast.keyword(keyword.arg, _expression(given))]

    def _joined(self, node: ast.JoinedStr, frame: Frame, names: Names, deep: int) -> ast.expr:
        """`f"{name}: {out}"` as `str(name) + ": " + str(out)`: of the former, only the text of its place tells all."""
        parts: list[ast.expr] = []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(self._part(part, frame, names, deep))
            elif part.format_spec is None:
                value = self._part(part.value, frame, names, deep)
                parts.append(ast.Call(ast.Name("str", ast.Load()), [value], []))
            else:
                raise _Unknown
        joined = parts[0] if parts else _constant("")
        for part in parts[1:]:
            joined = ast.BinOp(joined, ast.Add(), part)
        return joined

    def _named(self, node: ast.Name, frame: Frame) -> ast.expr:
        """A name that is taken from elsewhere: of Python, of a comprehension, or of a module, which is named, too."""
        around = frame.lookup(node.id)
        if around is None:
            if node.id not in _BUILTINS:
                raise _Unknown
        elif around.parent is not None:
            if any(bound.how != "each" for bound in around.bound[node.id]):
                raise _Unknown
        elif self._home is None or around.module is not self._home.module:
            origin = next((bound.node for bound in around.bound[node.id] if bound.how == "import"), None)
            if origin is None or origin[0].startswith("."):
                origin = PurePath(around.module.path).stem, node.id
            first, *rest = ".".join(part for part in origin if part).split(".")
            if self._is_another(first):
                raise _Unknown
            return _chain(ast.Name(first, ast.Load()), rest)
        return ast.Name(node.id, node.ctx)

    def _is_another(self, module: str) -> bool:
        """Whether the name of a module stands for something else where the call is: `ledger = Ledger()`."""
        seen = self._home.lookup(module) if self._home is not None else None
        return seen is not None and any(b.how != "import" or b.node[1] is not None for b in seen.bound[module])

    def _part(self, node: Any, frame: Frame, names: Names, deep: int) -> Any:
        if isinstance(node, ast.expr):
            return _expression(self._value(node, frame, names, deep))
        return (
            self._same(node, frame, names, deep) if isinstance(node, ast.AST) and not isinstance(node, _BARE) else node
        )


def _constant(value: Any) -> ast.Constant:
    """A constant of another place: as it has no text here, it is one that prints itself."""
    if isinstance(value, str):
        if not value.isprintable() or '"' in value or "\\" in value:
            raise _Unknown
        return ast.Constant(Word(value, value))
    if isinstance(value, (bytes, complex)):
        raise _Unknown
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return ast.Constant(value, kind=repr(value))
    return ast.Constant(value)


_BARE = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


def _chain(node: ast.expr, names: list[str]) -> ast.expr:
    for name in names:
        node = ast.Attribute(node, name, ast.Load())
    return node


def _sends(node: ast.AST) -> bool:
    """Whether a request to a model is part of an expression."""
    return any(isinstance(call, ast.Call) and _is_request(call) for call in ast.walk(node))


def _is_request(call: ast.Call) -> bool:
    name = _dotted(call.func)
    taken = (keys for end, keys in words.ENDPOINTS.items() if name == end or name.endswith(f".{end}"))
    return any(keyword.arg in keys for keys in taken for keyword in call.keywords)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _grows(node: ast.AST) -> bool:
    """Whether an expression puts something into a list."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _GROWERS and all(isinstance(part, _CHAIN) for part in ast.walk(node.func.value))


def _is_async(function: Frame) -> bool:
    return isinstance(function.node, ast.AsyncFunctionDef)


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def _is_name(node: ast.expr, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _may_be_thing(node: ast.expr, names: Names | None) -> bool:
    """Whether a thing may be read of: something that was made here, or was given."""
    return isinstance(node, ast.Call) or (isinstance(node, (ast.Name, ast.Attribute)) and bool(names))


def _key(target: ast.Subscript) -> str:
    if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        return target.slice.value
    raise _Unknown


def _expression(given: Given) -> ast.expr:
    if not isinstance(given, Thing):
        return given
    if given.node is not None:
        return given.node
    if given.cls is not None and not given.items:
        raise _Unknown
    return _display(given)


def _display(made: Thing) -> ast.Dict:
    keys: list[ast.expr | None] = [_constant(key) if key is not None else None for key, _ in made.items]
    return ast.Dict(keys, [_expression(value) for _, value in made.items])


def _truth(given: Given) -> bool | None:
    """Whether a test holds, None where that is open."""
    if isinstance(given, Thing):
        return True if given.cls is not None else bool(given.items) if all(k for k, _ in given.items) else None
    if isinstance(given, ast.Constant):
        return bool(given.value)
    if isinstance(given, ast.Call) and _dotted(given.func) == "json.dumps":
        return True
    if isinstance(given, (ast.List, ast.Tuple, ast.Dict)):
        return bool(given.elts if not isinstance(given, ast.Dict) else given.keys)
    if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.Not):
        inside = _truth(given.operand)
        return None if inside is None else not inside
    if isinstance(given, ast.BoolOp):
        verdicts = [_truth(part) for part in given.values]
        decides = isinstance(given.op, ast.Or)
        return decides if decides in verdicts else None if None in verdicts else not decides
    if isinstance(given, ast.Compare) and len(given.ops) == 1:
        return _compared(given.left, given.ops[0], given.comparators[0])
    return None


def _emptiness(test: ast.expr) -> ast.expr:
    """A list that holds something for each of another one is empty if that is."""
    if isinstance(test, ast.ListComp) and len(test.generators) == 1 and not test.generators[0].ifs:
        return test.generators[0].iter
    return test


def _compared(left: ast.expr, how: ast.cmpop, right: ast.expr) -> bool | None:
    if not isinstance(right, ast.Constant) or not isinstance(how, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        return None
    is_denied = isinstance(how, (ast.IsNot, ast.NotEq))
    if isinstance(left, ast.Constant):
        return (left.value == right.value) is not is_denied
    is_known = right.value is ... or isinstance(left, (ast.List, ast.Dict, ast.Tuple, ast.JoinedStr))
    return is_denied if is_known and (right.value is ... or right.value is None) else None
