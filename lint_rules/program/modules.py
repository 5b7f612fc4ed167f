"""The modules of one project, each indexed by one walk of its `ast`: frames, what they bind, classes, imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from lint_rules.syntax.below import BELOW, walk

Find = Callable[[str, str], "tuple[str, bytes] | None"]
"""(path of the importing file, module as written) -> (path, source), None for what is not of the project."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_GROWERS = frozenset({"append", "appendleft", "add", "insert", "put", "put_nowait"})


class Bound(NamedTuple):
    """How a name, or an attribute, comes by a value.

    `how` is `value` (of an expression), `each` (an element of it), `annotation`, `parameter`, `function`, `class` or
    `import`; `path` leads into a tuple, position by position.
    """

    how: str
    node: Any
    frame: Frame
    path: tuple[int, ...] = ()


class Frame:
    """A region in which names are bound: a module, a function, or the body of a class."""

    def __init__(self, node: Any, module: Module, parent: Frame | None) -> None:
        self.node = node
        self.module = module
        self.parent = parent
        self.bound: dict[str, list[Bound]] = {}
        self.nodes: list[Any] = []
        """Calls, awaits, attributes, displays, comparisons, names, assignments, and statements that are an expression;
        without those of nested frames."""
        self.returned: list[ast.expr] = []
        self.yielded: list[ast.expr] = []
        self.grown: dict[str, list[Bound]] = {}
        """By the name of a container: what is put into it."""

    @property
    def is_class(self) -> bool:
        return type(self.node) is ast.ClassDef

    @cached_property
    def owner(self) -> ClassFrame | None:
        """The class of a method, also seen from functions nested in it."""
        frame: Frame | None = self.parent
        while frame is not None and not isinstance(frame, ClassFrame):
            frame = frame.parent
        return frame

    @cached_property
    def self_name(self) -> str | None:
        """The name under which a method, or a function nested in one, knows its object."""
        method: Frame | None = self
        while method is not None and not isinstance(method.parent, ClassFrame):
            method = method.parent
        if method is None or method.is_class or type(method.node) is ast.Lambda or "staticmethod" in method.decorators:
            return None
        given = [*method.node.args.posonlyargs, *method.node.args.args]
        return given[0].arg if given else None

    @cached_property
    def decorators(self) -> frozenset[str]:
        """The last names of the decorators of a function or class."""
        found = (d.func if type(d) is ast.Call else d for d in getattr(self.node, "decorator_list", ()))
        return frozenset(d.attr if type(d) is ast.Attribute else getattr(d, "id", "") for d in found)

    @property
    def parameters(self) -> list[str]:
        """The names under which a function takes single arguments, in call order, without its object."""
        if not isinstance(self.node, FUNCTIONS):
            return []
        args = self.node.args
        names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        return names[1:] if isinstance(self.parent, ClassFrame) and "staticmethod" not in self.decorators else names

    @property
    def is_bodiless(self) -> bool:
        """Whether a function only says what others do: a docstring, `...`, `pass`, or `raise NotImplementedError`."""
        if not isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        return all(
            type(line) is ast.Pass
            or (type(line) is ast.Expr and type(line.value) is ast.Constant)
            or (type(line) is ast.Raise and "NotImplemented" in ast.dump(line))
            for line in self.node.body
        )

    def bind(self, name: str, bound: Bound) -> None:
        self.bound.setdefault(name, []).append(bound)

    def lookup(self, name: str) -> Frame | None:
        """The frame in which a name that stands here is bound; None for builtins."""
        here: Frame | None = self
        while here is not None:
            if name in here.bound and (here is self or not here.is_class):
                return here
            here = here.parent
        return None


class ClassFrame(Frame):
    """A class: what its body binds, and what its methods put into the attributes of their object."""

    def __init__(self, node: ast.ClassDef, module: Module, parent: Frame) -> None:
        super().__init__(node, module, parent)
        self.methods: dict[str, Frame] = {}
        self.attributes: dict[str, list[Bound]] = {}
        self.contents: dict[str, list[Bound]] = {}
        """By the name of an attribute that is a container: what is put into it."""

    @property
    def name(self) -> str:
        name: str = self.node.name
        return name

    @property
    def inherits(self) -> list[ast.expr]:
        """What it inherits from, without the types that are filled in: `Store` of `Store[Message]`."""
        return [base.value if type(base) is ast.Subscript else base for base in self.node.bases]

    @cached_property
    def annotated(self) -> list[str]:
        """The names annotated in the body, in order."""
        return [
            line.target.id
            for line in self.node.body
            if type(line) is ast.AnnAssign
            and type(line.target) is ast.Name
            and "ClassVar" not in ast.unparse(line.annotation)
        ]


class Module:
    """One file. `frames` come in source order, the file's own first."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.top = Frame(tree, self, None)
        self.frames: list[Frame] = [self.top]
        self.classes: list[ClassFrame] = []
        self.origins: list[str] = []
        """The modules it imports from, as written."""
        self.frame_of: dict[Any, Frame] = {}
        self.calls: dict[str, list[tuple[ast.Call, Frame]]] = {}
        """By the last name of what is called."""
        self.matches: list[ast.Match] = []
        _Walk(self).block(tree.body, self.top)

    @cached_property
    def narrowed(self) -> dict[ast.AST, ast.expr]:
        """The names that stand where a test has told their class, each with that: `if isinstance(x, C): x.y`."""
        return {
            name: cls
            for tested, cls, parts in self.dispatches
            for part in parts
            for name in walk(part)
            if type(name) is ast.Name and name.id == tested
        }

    @cached_property
    def dispatches(self) -> list[tuple[str, ast.expr, list[Any]]]:
        """Where a test or a pattern tells the class of what a name stands for: the name, the class, what runs then."""
        if "isinstance" not in self.calls and not self.matches:
            return []
        return [
            (tested, cls, parts)
            for node in walk(self.tree)
            for test, parts in _tested(node)
            for tested, cls in _told_by(test)
        ] + [
            (match.subject.id, cls, [part for part in (case.guard, *case.body) if part is not None])
            for match in self.matches
            if isinstance(match.subject, ast.Name)
            for case in match.cases
            if (cls := _class_of(case.pattern)) is not None
        ]

    def close(self) -> None:
        """Unties frames, which hold each other. Nothing can be asked afterwards."""
        for frame in self.frames:
            vars(frame).clear()
        vars(self).clear()


def _tested(node: Any) -> Iterator[tuple[ast.expr, list[Any]]]:
    """The tests of a statement or expression, each with what is only run if it holds."""
    if isinstance(node, (ast.If, ast.While)):
        yield node.test, node.body
    elif isinstance(node, ast.IfExp):
        yield node.test, [node.body]
    elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        yield node.values[0], node.values[1:]
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        yield from ((test, made) for inside in node.generators for test in inside.ifs)


def _told_by(test: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names of which a test tells the class, if it holds."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _told_by(part)
    elif isinstance(test, ast.Call) and getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2:
        if isinstance(test.args[0], ast.Name):
            yield test.args[0].id, test.args[1]


def _class_of(pattern: ast.pattern) -> ast.expr | None:
    """The class that a pattern asks for: `case C(): ...`, `case C(x=1) as c: ...`."""
    inside = pattern.pattern if isinstance(pattern, ast.MatchAs) else pattern
    return inside.cls if isinstance(inside, ast.MatchClass) else None


class _Walk:
    """Fills the frames of a module. A stack of its own: programs may be nested deeply."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def block(self, body: list[ast.stmt], frame: Frame) -> None:
        stack: list[tuple[Any, Frame]] = [(node, frame) for node in reversed(body)]
        while stack:
            node, here = stack.pop()
            visit = _VISITS.get(type(node))
            inside = here if visit is None else visit(self, node, here) or here
            outer = _runs_outside(node) if inside is not here else ()
            below: list[tuple[Any, Frame]] = []
            for field in BELOW[type(node)]:
                child = getattr(node, field, None)
                if type(child) is list:
                    below += [(part, here if part in outer else inside) for part in child if part is not None]
                elif child is not None:
                    below.append((child, here if child in outer else inside))
            stack += reversed(below)

    # -- frames -----------------------------------------------------------------------------------------------------

    def _ClassDef(self, node: ast.ClassDef, frame: Frame) -> Frame:  # noqa: N802
        cls = ClassFrame(node, self._module, frame)
        self._module.classes.append(cls)
        self._module.frames.append(cls)
        self._module.frame_of[node] = cls
        frame.bind(node.name, Bound("class", cls, frame))
        return cls

    def _FunctionDef(self, node: Any, frame: Frame) -> Frame:  # noqa: N802
        inside = self._Lambda(node, frame)
        frame.bind(node.name, Bound("function", inside, frame))
        if isinstance(frame, ClassFrame):
            frame.methods.setdefault(node.name, inside)
        return inside

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: Any, frame: Frame) -> Frame:  # noqa: N802
        inside = Frame(node, self._module, frame)
        self._module.frames.append(inside)
        self._module.frame_of[node] = inside
        args = node.args
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            inside.bind(arg.arg, Bound("parameter", arg, inside))
        for arg in (args.vararg, args.kwarg):
            if arg is not None:
                inside.bind(arg.arg, Bound("rest", arg, inside))
        if type(node) is ast.Lambda:
            inside.returned.append(node.body)
        return inside

    # -- bindings ---------------------------------------------------------------------------------------------------

    def _Import(self, node: ast.Import, frame: Frame) -> None:  # noqa: N802
        for alias in node.names:
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            self._module.origins.append(module)
            frame.bind(alias.asname or module, Bound("import", (module, None), frame))

    def _ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> None:  # noqa: N802
        module = "." * node.level + (node.module or "")
        self._module.origins.append(module)
        for alias in node.names:
            frame.bind(alias.asname or alias.name, Bound("import", (module, alias.name), frame))

    def _Assign(self, node: ast.Assign, frame: Frame) -> None:  # noqa: N802
        frame.nodes.append(node)
        for target in node.targets:
            self._target(target, Bound("value", node.value, frame))

    def _AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> None:  # noqa: N802
        self._target(node.target, Bound("annotation", node.annotation, frame))
        if node.value is not None:
            self._target(node.target, Bound("value", node.value, frame))

    def _AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:  # noqa: N802
        if type(node.op) is ast.Add:
            self._target(node.target, Bound("value", node.value, frame))

    def _NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> None:  # noqa: N802
        self._target(node.target, Bound("value", node.value, frame))

    def _For(self, node: Any, frame: Frame) -> None:  # noqa: N802
        self._target(node.target, Bound("each", node.iter, frame))

    _AsyncFor = _For
    _comprehension = _For

    def _withitem(self, node: ast.withitem, frame: Frame) -> None:
        if node.optional_vars is not None:
            self._target(node.optional_vars, Bound("entered", node.context_expr, frame))

    def _Match(self, node: ast.Match, frame: Frame) -> None:  # noqa: N802
        self._module.matches.append(node)
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                if (
                    type(pattern) is ast.MatchAs
                    and pattern.name is not None
                    and type(pattern.pattern) is ast.MatchClass
                ):
                    frame.bind(pattern.name, Bound("annotation", pattern.pattern.cls, frame))
                elif type(pattern) is ast.MatchClass:
                    self._fields(pattern, frame)

    @staticmethod
    def _fields(pattern: ast.MatchClass, frame: Frame) -> None:
        keyed = zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
        for at, part in [*enumerate(pattern.patterns), *keyed]:
            if type(part) is ast.MatchAs and part.pattern is None and part.name is not None:
                frame.bind(part.name, Bound("field", (pattern.cls, at), frame))

    def _target(self, target: Any, bound: Bound) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for place, element in enumerate(target.elts):
                if type(element) is not ast.Starred:
                    self._target(element, bound._replace(path=(*bound.path, place)))
        elif type(target) is ast.Name:
            bound.frame.bind(target.id, bound)
        elif type(target) is ast.Attribute and type(target.value) is ast.Name:
            self._attribute(bound.frame, target.value.id, target.attr, bound, "attributes")
        elif type(target) is ast.Subscript:
            self._grown(target.value, bound)

    @staticmethod
    def _attribute(frame: Frame, base: str, name: str, bound: Bound, where: str) -> None:
        owner = frame.owner
        if owner is not None and base == frame.self_name:
            getattr(owner, where).setdefault(name, []).append(bound)

    def _grown(self, container: ast.expr, bound: Bound) -> None:
        if type(container) is ast.Name:
            around = bound.frame.lookup(container.id) or bound.frame
            around.grown.setdefault(container.id, []).append(bound)
        elif type(container) is ast.Attribute and type(container.value) is ast.Name:
            self._attribute(bound.frame, container.value.id, container.attr, bound, "contents")

    # -- what is asked for later ------------------------------------------------------------------------------------

    def _Call(self, node: ast.Call, frame: Frame) -> None:  # noqa: N802
        frame.nodes.append(node)
        func = node.func
        name = func.attr if type(func) is ast.Attribute else getattr(func, "id", "")
        self._module.calls.setdefault(name, []).append((node, frame))
        if type(func) is ast.Attribute and node.args:
            if name in _GROWERS:
                self._grown(func.value, Bound("value", node.args[-1], frame))
            elif name == "extend":
                self._grown(func.value, Bound("each", node.args[0], frame))

    def _noted(self, node: Any, frame: Frame) -> None:
        frame.nodes.append(node)

    _Attribute = _Name = _Dict = _Compare = _Await = _MatchClass = _Expr = _noted

    def _Return(self, node: ast.Return, frame: Frame) -> None:  # noqa: N802
        if node.value is not None:
            frame.returned.append(node.value)

    def _Yield(self, node: ast.Yield, frame: Frame) -> None:  # noqa: N802
        if node.value is not None:
            frame.yielded.append(node.value)


_VISITS: dict[type, Callable[[_Walk, Any, Frame], Frame | None]] = {
    kind: getattr(_Walk, f"_{kind.__name__}")
    for kind in vars(ast).values()
    if isinstance(kind, type) and hasattr(_Walk, f"_{kind.__name__}")
}


def _runs_outside(node: Any) -> tuple[Any, ...]:
    """What of a definition runs in the frame around it."""
    if type(node) is ast.ClassDef:
        return (*node.bases, *node.keywords, *node.decorator_list)
    return (*getattr(node, "decorator_list", ()), *((node.returns,) if getattr(node, "returns", None) else ()))


MOST_HOPS = 3
"""How many imports away from a file its project is looked at."""
MOST_IMPORTED = 16
"""How many modules of its project are read for one file."""
MOST_BYTES = 200_000
"""How long a module may be that is read for another."""
MOST_KEPT = 1_000_000
"""How long all modules may be together that are kept for the next file, in bytes; their trees take fifty times that."""


class Program:
    """The files that one file can see: itself, and on demand those of the project from which it imports.

    Beyond the bounds a module is unknown, as one that is not of the project. `own` is the file itself, `source` its
    bytes, for those that import it in turn.
    """

    def __init__(self, find: Find | None, own: Module | None = None, source: bytes = b"") -> None:
        self._find = find
        self._own = own
        self._source = source
        self.sources = {own.path: source} if own is not None else {}
        """By path, of the files that were found."""
        self._far: dict[str, int] = {}
        self._imported: dict[tuple[str, str], Module | None] = {}
        self._found: dict[tuple[str, str], tuple[str, bytes] | None] = {}

    def imported(self, module: Module, name: str) -> Module | None:
        """The module that another one imports, `name` as written there."""
        key = module.path, name
        if key not in self._imported:
            found = self.found(module, name)
            is_own = found is not None and self._own is not None and found == (self._own.path, self._source)
            self._imported[key] = self._own if is_own else indexed(*found) if found is not None else None
        return self._imported[key]

    def found(self, module: Module, name: str) -> tuple[str, bytes] | None:
        """The path and source of the module that another one imports, before anything is read in it."""
        key = module.path, name
        if key not in self._found:
            self._found[key] = self._look_for(module, name)
        return self._found[key]

    def _look_for(self, module: Module, name: str) -> tuple[str, bytes] | None:
        far = self._far.get(module.path, 0) + 1
        found = self._find(module.path, name) if self._find is not None and far <= MOST_HOPS else None
        if found is None or len(found[1]) > MOST_BYTES:
            return None
        if found[0] not in self._far and len(self._far) >= MOST_IMPORTED:
            return None
        self._far.setdefault(found[0], far)
        self.sources.setdefault(*found)
        return found

    def definition(self, module: Module, name: str, hops: int = 3) -> Bound | None:
        """What a name of a module stands for, through re-exports: the class, function or value that it is bound to."""
        bounds = module.top.bound.get(name, ())
        for bound in bounds:
            if bound.how != "import":
                return bound
            origin, there = bound.node
            if there is not None and hops:
                source = self.imported(module, origin)
                found = self.definition(source, there, hops - 1) if source is not None else None
                if found is not None:
                    return found
        return None


def indexed(path: str, source: bytes) -> Module | None:
    """The module of a source, kept for whoever asks next; None where it is no Python."""
    key = path, source
    if key in _modules:
        _modules[key] = _modules.pop(key)  # those that were asked for last are kept longest
    else:
        try:
            _modules[key] = Module(path, ast.parse(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            _modules[key] = None
    return _modules[key]


def forget_most() -> None:
    """Lets go of modules, if many are kept. To be asked for when none is in use: what is let go of is untied."""
    kept = sum(len(source) for _, source in _modules)
    while kept > MOST_KEPT:
        key = next(iter(_modules))
        module = _modules.pop(key)
        kept -= len(key[1])
        if module is not None:
            module.close()


_modules: dict[tuple[str, bytes], Module | None] = {}
