"""Functions that a framework calls for each request, message or browser event: of whichever user it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

import libcst as cst

from lint_rules.anatomy.frameworks import FRAMEWORKS, PACKAGES, Framework, Overlap
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, decorators, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import last_statement, walk


@record
class Serving:
    """`function` is called for each event of `framework`, as `node` says. `concurrent`: several at a time.
    `in_threads`: each in a thread of its own, whatever it is.

    `keeper` is the class of which one object takes all events: its attributes are there for all users. `switch` is
    where the file says that they are concurrent, if it does. `stops`: it cancels a run when its user wants that.
    `one_user`: who sits at the screen. `in_processes`: several at a time, but one in each process.
    `first`: it is called before all others.
    """

    function: Scope
    node: cst.CSTNode
    framework: str
    concurrent: bool
    keeper: Scope | None = None
    switch: cst.CSTNode | None = None
    in_threads: bool = False
    stops: bool = False
    one_user: bool = False
    in_processes: bool = False
    first: bool = False


def servings(graph: CallGraph) -> dict[Scope, Serving]:
    """The functions of a file that serve many users. `CallGraph.servings` keeps them."""
    roots = _Roots(graph)
    functions = [function for function in graph.facts.module.functions if function.kind != "class"]
    found = {function: roots.serving(function) for function in functions if roots.rows}
    return {function: how for function, how in found.items() if how is not None}


def registered_elsewhere(graph: CallGraph) -> Iterator[tuple[cst.BaseExpression, cst.Call, Overlap]]:
    """What is handed to a framework and is no function of this file, with the call, and how its runs overlap."""
    roots = _Roots(graph)
    for call in graph.facts.module.nodes_of(cst.Call) if roots.rows else ():
        for row in (*roots.taking(call), *roots.applying(call)):
            for arg in call.args:
                for value in (arg.value, *(inner.value for inner in getattr(arg.value, "args", ()))):
                    if isinstance(value, (cst.Name, cst.Attribute)) and graph.facts.slots.function(value) is None:
                        yield value, call, roots.overlap(row)
            break


def registered_there(
    graph: CallGraph, call: cst.Call, run: Callable[[], tuple[CallGraph, Scope] | None]
) -> Iterator[tuple[SourceModule, Scope, Overlap]]:
    """The functions of another file that it hands to an object of a framework which a call gives it.

    `run` says what the call runs there. `listen(app, desk)`, and there `app.event("message")(answer)`.
    """
    roots = _Roots(graph)
    packages = {arg.value: roots.package_of(arg.value) for arg in call.args} if roots.rows else {}
    found = run() if any(packages.values()) else None
    if found is None:
        return
    there, first = found
    bound = ((slot, packages.get(value)) for slot, value in there.facts.slots.bindings(call, first))
    inner = _Roots(there, {slot: package for slot, package in bound if package is not None})
    for function in there.facts.module.functions if inner.given else ():
        row = inner.registered(function) if function.kind in {"function", "lambda"} else None
        known = there.servings.get(function)
        if row is not None and (known is None or not known.concurrent):
            yield there.facts.module, function, roots.overlap(row)


def placed_in_common(graph: CallGraph) -> Iterator[tuple[str, cst.BaseExpression]]:
    """What a file puts under a name into an object of a framework, or hands to one by a keyword, with the name.

    `app.state.desk = Desk()`, `bot.bot_data["desk"] = desk`, `Dispatcher(desk=desk)`, `self.desk = Desk()` in a bot.
    """
    roots = _Roots(graph)
    for node in graph.facts.module.nodes_of(cst.Assign, cst.AnnAssign) if roots.rows else ():
        for target in ex.targets(node):
            pair = ex.member(target)
            if pair is not None and node.value is not None and roots.is_for_all(pair[0]):
                yield pair[1], node.value
    for call in graph.facts.module.nodes_of(cst.Call) if roots.rows else ():
        given = ex.keywords(call)
        if given and graph.facts.slots.callee(call) is None and roots.package_of(call.func) is not None:
            yield from given.items()


def in_background(graph: CallGraph) -> Iterator[tuple[Scope, cst.Decorator | cst.BaseExpression]]:
    """The functions that run beside the rest, whoever calls them, and what decorates each: `@work`, `@tasks.loop()`."""
    roots = _Roots(graph)
    for function in graph.facts.module.functions if any(row.background for row in roots.rows) else ():
        if function.kind == "function":
            yield from ((function, decorator) for decorator in decorators(function) if roots.is_background(decorator))


def imports_gradio(module: SourceModule) -> bool:
    """Also by way of a module of the project: `from app.gui import gr`."""
    return any("gradio" in full or bound == "gr" for bound, full in module.imports.full.items())


def is_streamed(module: SourceModule, call: cst.Call) -> bool:
    """Whether a response is made of what a call gives: of a plain generator it is read in a thread."""
    arg = module.parent[call]
    outer = module.parent[arg] if isinstance(arg, cst.Arg) else None
    full = module.full_name(outer.func) if isinstance(outer, cst.Call) else ""
    package, name = full.partition(".")[0], full.rpartition(".")[2]
    return any(name in row.streams and package in row.packages for row in FRAMEWORKS)


def is_executor(facts: Facts, call: cst.Call) -> bool:
    """Whether a `submit` or `map` is one of a pool, as its owner was made; by the name of one that comes from outside.

    Source: Python documentation, `concurrent.futures`, `multiprocessing.pool`.
    """
    base = ex.receiver(call)
    slot = facts.slots.of(base)
    made = [*facts.assigned(slot), *facts.entered(slot)] if slot is not None else []
    names = [ex.called_name(value) for value in made if isinstance(value, cst.Call)]
    if names:
        return any(name.endswith(("Executor", "Pool")) for name in names)
    owner = (ex.dotted(base) or "").lower() if base is not None else ""
    return "executor" in owner or "pool" in owner


def is_of_library(graph: CallGraph, call: cst.Call) -> bool:
    """Whether what is called is of an installed package: imported, or a method of what nobody here defines."""
    func = call.func
    known = isinstance(func, cst.Attribute) or ex.dotted(func) in graph.facts.module.imports.full
    package = _Roots(graph).origin_of(func)
    return graph.facts.slots.callee(call) is None and known and package not in {"", *sys.stdlib_module_names}


def is_for_all(serving: Serving) -> bool:
    """Whether a handler serves all users: not who sits at the screen, nor one user or room, all others turned away."""
    return not serving.one_user and not _is_for_one(serving.function)


def _is_for_one(function: Scope) -> bool:
    """`if message.author.id != OWNER: return`: a handler that turns all others away serves one user, or one room."""
    for node in function.nodes:
        if type(node) is cst.If and isinstance(last_statement(node.body), (cst.Return, cst.Raise)):
            for test in (n for n in walk(node.test) if isinstance(n, cst.ComparisonTarget)):
                if isinstance(test.operator, (cst.NotEqual, cst.NotIn)) and _is_identity(node.test):
                    return True
    return False


def _is_identity(test: cst.BaseExpression) -> bool:
    names = [n.value.lower() for n in walk(test) if isinstance(n, cst.Name)]
    return any(name in {"id", "uid"} or name.endswith(("_id", "_ids", "_users")) for name in names)


class _Roots:
    """What hands functions of a file to a framework: `rows` are the frameworks that it imports.

    Or of which another file hands it objects: `given` are the parameters that get them, with the packages.
    """

    def __init__(self, graph: CallGraph, given: Mapping[Slot, str] = MappingProxyType({})) -> None:
        self.graph = graph
        self.facts = graph.facts
        self.module = graph.facts.module
        self.given = given
        self.used = set(given.values()) or {_top(self.module, name) for name in self.module.imports.full} & PACKAGES
        if imports_gradio(self.module):
            self.used.add("gradio")
        self.used |= {min(row.packages) for row in FRAMEWORKS if not row.functions.isdisjoint(self.module.top.bound)}
        self.rows = [row for row in FRAMEWORKS if not row.packages.isdisjoint(self.used)]
        self._asked: set[Slot] = set()

    def serving(self, function: Scope) -> Serving | None:
        """How a framework comes to call `function`, None where none does."""
        for ways in (self._decorated, self._registered, self._overriding, self._handed_event, self._named):
            for row, node in ways(function):
                overlap, switch = self._switched(row)
                concurrent = overlap in {"threads", "workers"} or (overlap == "tasks" and function.is_async)
                framework, keeper = min(row.packages & self.used), self._keeper(row, function)
                threads, apart = overlap == "workers", overlap == "processes"
                told = row.stops, row.one_user, apart, function.name in row.first
                return Serving(function, node, framework, concurrent, keeper, switch, threads, *told)
        return None

    def origin_of(self, value: cst.BaseExpression) -> str | None:
        """The package that a value comes from, also of the standard library; empty for what the project has made."""
        return self._package(value)

    def package_of(self, value: cst.BaseExpression) -> str | None:
        """The framework of which a value is an object; None where that is not known."""
        package = self._package(value)
        return package if any(package in row.packages for row in self.rows) else None

    def is_for_all(self, value: cst.BaseExpression) -> bool:
        """Whether a value is, or is a part of, an object of a framework that is not made for a request or an event."""
        root = self.facts.slots.of(ex.owner(value)) if self.package_of(value) is not None else None
        if root is None or not is_parameter(root):
            return root is not None
        events = {name for row in self.rows for name in row.events}
        said = {ex.last_name(node) for node in self._annotated(root)}
        return events.isdisjoint(said) and root[1] not in self.graph.servings

    def registered(self, function: Scope) -> Framework | None:
        """The framework that a function is handed to: it decorates it, or is called with it."""
        ways = (way for find in (self._decorated, self._registered) for way in find(function))
        return next((row for row, _ in ways), None)

    # -- ways to be called ------------------------------------------------------------------------------------

    def _decorated(self, function: Scope) -> Iterator[tuple[Framework, cst.CSTNode]]:
        """`@app.post("/chat")`, `@on_message`; `app.post("/chat")(function)`, `client.event(function)`."""
        for decorator in decorators(function):
            yield from ((row, decorator) for row in self._decorating(decorator, function))
        for call in self._given(function, set()):
            yield from ((row, call.func) for row in self.applying(call, function))

    def applying(self, call: cst.Call, function: Scope | None = None) -> Iterator[Framework]:
        """The frameworks of which a call applies a decorator to `function`, or to one of another file."""
        said = isinstance(call.func, cst.Call) or self.package_of(call.func) is not None
        yield from self._decorating(call.func, function) if said else ()

    def _decorating(self, decorator: cst.BaseExpression, function: Scope | None) -> Iterator[Framework]:
        func = ex.uncalled(decorator)
        name = self._name(func)
        yield from (row for row in self._rows(func, decorator, function) if name in row.decorators)

    def is_background(self, decorator: cst.BaseExpression) -> bool:
        """Whether a decorator has a function run beside the rest."""
        func = ex.uncalled(decorator)
        named = [row for row in self.rows if self._name(func) in row.background]
        package = self._package(func.value if isinstance(func, cst.Attribute) else func) if named else None
        return any(package is None or package in row.packages for row in named)

    def _registered(self, function: Scope) -> Iterator[tuple[Framework, cst.CSTNode]]:
        """`app.add_handler(MessageHandler(TEXT, function))`, `click(lambda text: ...)`, `click(**event)`."""
        for call in self._given(function, set()):
            yield from ((row, call) for row in self.taking(call, function))

    def _given(self, function: Scope, seen: set[Scope]) -> Iterator[cst.Call]:
        """The calls that a function is handed to, also by functions of this file that it is handed to, or decorate it.

        What such a function defines, and what calls the function there, stands for it.
        """
        seen.add(function)
        lambdas = [function.node] if isinstance(function.node, cst.Lambda) else []
        handed = [c for node in (*lambdas, *self.graph.references[function]) for c in self._handed_to(node)]
        yield from handed
        for parameter in self._parameters(function, handed):
            for node in parameter[1].nodes_of(cst.Name):
                if node.value == parameter[2] and self.facts.slots.of(node) == parameter:
                    outer = self.module.parent[node]
                    yield from self._handed_to(node) if not isinstance(outer, cst.Call) else ()
            inner = (f for f in self.module.functions if f.within(parameter[1]) and f not in seen)
            for wrapper in inner:
                calls = [call for call in wrapper.nodes_of(cst.Call) if self.facts.slots.of(call.func) == parameter]
                if calls and not any(map(self._is_held_back, calls)):
                    yield from self._given(wrapper, seen)

    def _is_held_back(self, call: cst.Call) -> bool:
        """Whether something is entered before a call, and left behind it: a lock, it may be, or a busy flag."""
        outers = (outer for outer in self.module.ancestors(call) if isinstance(outer, (cst.With, cst.Try)))
        return any(isinstance(outer, cst.With) or outer.finalbody is not None for outer in outers)

    def _parameters(self, function: Scope, handed: list[cst.Call]) -> Iterator[Slot]:
        """The parameters of functions of this file that get a function: as an argument, or as what they decorate."""
        for call in handed:
            callee = self.facts.slots.callee(call)
            for slot, value in self.facts.slots.bindings(call, callee) if callee is not None else ():
                if slot[0] == "var" and self.facts.slots.function(value) is function:
                    yield slot
        for decorator in decorators(function):
            maker = self.facts.slots.function(ex.uncalled(decorator))
            takers = self._made(maker) if isinstance(decorator, cst.Call) and maker is not None else [maker]
            for taker in takers:
                listed = parameters(taker) if taker is not None else []
                yield from (self.facts.slots.parameter(taker, p.name.value) for p in listed[:1] if taker is not None)

    def _made(self, maker: Scope) -> list[Scope | None]:
        """The functions that one gives back."""
        given = maker.returned
        return [self.facts.slots.function(value) for value in given]

    def _handed_to(self, reference: cst.CSTNode) -> Iterator[cst.Call]:
        """The calls that a function is handed to: as an argument, within one, or in a dict that is spread there.

        Or from a list or dict that a loop goes through: `for path, view in VIEWS: app.add_route(path, view)`.
        """
        for outer in self.module.ancestors(reference):
            if isinstance(outer, cst.Call):
                yield outer
            elif isinstance(outer, cst.Assign):
                slots = {self.facts.slots.of(target) for target in ex.targets(outer)} - {None}
                for call in self.module.nodes_of(cst.Call) if isinstance(outer.value, cst.Dict) else ():
                    if any(arg.star == "**" and self.facts.slots.of(arg.value) in slots for arg in call.args):
                        yield call
                if isinstance(outer.value, (cst.Dict, cst.List, cst.Tuple)):
                    yield from self._gone_through(slots)
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                break

    def _gone_through(self, slots: set[Slot | None]) -> Iterator[cst.Call]:
        """The calls that get what a loop takes from one of some places."""
        for loop in self.module.nodes_of(cst.For):
            if any(
                self.facts.slots.of(n) in slots for n in walk(loop.iter) if isinstance(n, (cst.Name, cst.Attribute))
            ):
                names = ex.target_names(loop.target)
                for call in (n for n in walk(loop.body) if isinstance(n, cst.Call)):
                    if any(isinstance(arg.value, cst.Name) and arg.value.value in names for arg in call.args):
                        yield call

    def taking(self, call: cst.Call, function: Scope | None = None) -> Iterator[Framework]:
        """The frameworks that a call may hand `function`, or one of another file, to."""
        dotted = ex.dotted(call.func) or ""
        names = (self._name(call.func), ".".join(dotted.split(".")[-2:]))
        for row in self._rows(call.func, call, function):
            if any(fnmatchcase(name, known) for name in names for known in row.calls):
                yield row

    def _overriding(self, function: Scope) -> Iterator[tuple[Framework, cst.CSTNode]]:
        """`on_message` of a class that derives from `discord.Client`, or from a class of another file."""
        for base in self._bases(function.owner) if function.owner is not None else ():
            name, package = self._name(base), self._package(base)
            for row in self.rows:
                for known, methods in row.methods.items():
                    derives = package in row.packages and fnmatchcase(name, known)
                    of_other = package is None and function.name.startswith("on_")
                    if (derives or of_other) and any(fnmatchcase(function.name, method) for method in methods):
                        yield row, function.node

    def _handed_event(self, function: Scope) -> Iterator[tuple[Framework, cst.CSTNode]]:
        """`async def answer(message: discord.Message)`, which another file registers or calls."""
        if function.kind != "function" or self.graph.sites[function]:
            return
        for parameter in parameters(function):
            if parameter.annotation is not None:
                for node in walk(parameter.annotation.annotation):
                    if isinstance(node, (cst.Name, cst.Attribute)):
                        name, package = self._name(node), self._package(node)
                        for row in self.rows:
                            if name in row.events and package in row.packages:
                                yield row, function.node

    def _named(self, function: Scope) -> Iterator[tuple[Framework, cst.CSTNode]]:
        """`def lambda_handler(event, context)`, which nobody here calls."""
        if function.parent is self.module.top and len(parameters(function)) == 2 and not self.graph.sites[function]:
            yield from ((row, function.node) for row in self.rows if function.name in row.functions)

    def _keeper(self, row: Framework, function: Scope) -> Scope | None:
        """The class whose one object `function` belongs to: a bot, or one that registers its methods or closures."""
        cls = function.owner
        if cls is None:
            return None
        if function.parent is cls and not any(isinstance(n, cst.Attribute) for n in self.graph.references[function]):
            names = {self._name(base) for base in self._bases(cls)}
            return cls if any(fnmatchcase(name, known) for name in names for known in row.lasting) else None
        return cls

    # -- whose --------------------------------------------------------------------------------------------------

    def _rows(self, func: cst.BaseExpression, said: cst.BaseExpression, function: Scope | None) -> list[Framework]:
        """The frameworks that `func`, which is handed `function`, may be of.

        Where a file does not show whose it is, it may be any that the file imports; but a server is told a path, and
        nobody here calls the function.
        """
        package = self._package(func.value if isinstance(func, cst.Attribute) else func)
        if package is not None or self.given:
            return [row for row in self.rows if package in row.packages]
        sites = self.graph.sites[function] if function is not None else ()
        if any(site.caller is not function for site in sites) or not isinstance(func, cst.Attribute):
            return []
        if isinstance(said, cst.Call) and is_executor(self.graph.facts, said):
            return []
        return [row for row in self.rows if "get" not in row.decorators or _names_path(said)]

    def _name(self, node: cst.BaseExpression) -> str:
        """The last name of what is called, as its package has it."""
        dotted = ex.dotted(node)
        return self.module.imports.resolve(dotted).rpartition(".")[2] if dotted else ex.last_name(node)

    def _package(self, node: cst.BaseExpression) -> str | None:
        """The package that a value comes from, by what is imported, made, given back or annotated; None: unknown."""
        node = ex.inner(node)
        if isinstance(node, cst.Await):
            return self._package(node.expression)
        if isinstance(node, cst.Call):
            return self._made_by(node)
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return None
        cls = self.facts.slots.instance(node)
        if cls is not None:
            return self._of_class(cls)
        slot = self.facts.slots.of(node)
        if slot is not None and slot in self.given:
            return self.given[slot]
        if slot is not None and slot not in self._asked:
            self._asked.add(slot)
            found = self._first([*self._annotated(slot), *self.facts.assigned(slot), *self.facts.entered(slot)])
            self._asked.discard(slot)
            if found is not None:
                return found
        if isinstance(node, cst.Attribute):
            return self._package(node.value)
        top = _top(self.module, node.value)
        return top if top in PACKAGES or top in sys.stdlib_module_names else None

    def _made_by(self, call: cst.Call) -> str | None:
        slots = self.facts.slots
        cls = slots.constructed(call)
        if cls is not None:
            return self._of_class(cls)
        callee = slots.callee(call)
        if callee is None:
            return self._package(call.func)
        slot: Slot = ("return", callee)
        if slot in self._asked:
            return None
        self._asked.add(slot)
        given = callee.returned
        found = self._first(given)
        self._asked.discard(slot)
        return found

    def _first(self, values: list[cst.BaseExpression]) -> str | None:
        parts = (self._package(part) for value in values for part in ex.alternatives(value))
        return next((package for package in parts if package is not None), None)

    def _of_class(self, cls: Scope) -> str | None:
        """Of what a class derives from; one that derives from nothing is of no package."""
        bases = self._bases(cls)
        return self._first(bases) if bases else ""

    def _annotated(self, slot: Slot) -> list[cst.BaseExpression]:
        """The names in the annotation of a parameter."""
        if slot[0] != "var":
            return []
        said = [p.annotation.annotation for p in parameters(slot[1]) if p.annotation and p.name.value == slot[2]]
        return [node for annotation in said for node in walk(annotation) if isinstance(node, (cst.Name, cst.Attribute))]

    def _bases(self, cls: Scope) -> list[cst.BaseExpression]:
        """What a class of this file derives from that is not one, at any distance."""
        found: list[cst.BaseExpression] = []
        queue, seen = [cls], {cls}
        for here in queue:
            own = [other for other in self.module.base_classes(here) if other not in seen]
            names = {other.name for other in self.module.base_classes(here)}
            found += [base for base in ex.bases(here.node) if ex.dotted(base) not in names]
            seen.update(own)
            queue += own
        return found

    # -- which runs overlap -------------------------------------------------------------------------------------

    def overlap(self, row: Framework) -> Overlap:
        """How runs of a handler overlap."""
        return self._switched(row)[0]

    def _switched(self, row: Framework) -> tuple[Overlap, cst.CSTNode | None]:
        """How they do, as the row has it, unless the file says otherwise, and where it does."""
        for call in self.module.nodes_of(cst.Call) if row.switches else ():
            said = {**ex.keywords(call), self._name(call.func): call.args[0].value if call.args else None}
            for word, value, overlap in row.switches:
                if word in said and _says(said[word], value):
                    return overlap, said[word] or call
        for base in (base for cls in self.module.classes for base in ex.bases(cls.node) if row.switches):
            for word, value, overlap in row.switches:  # `class Server(ThreadingHTTPServer)`
                if self._name(base) == word and not value:
                    return overlap, base
        return row.overlap, None


def _top(module: SourceModule, name: str) -> str:
    """The package that an imported name comes from; empty for one that is not imported, or from beside this file."""
    origin = module.imports.origin.get(name)
    return "" if origin is None or origin[0].startswith(".") else module.imports.full[name].split(".")[0]


def _names_path(said: cst.BaseExpression) -> bool:
    given = [ex.text(arg.value) for arg in said.args] if isinstance(said, cst.Call) else []
    return any(path is not None and path.startswith("/") for path in given)


def _says(value: cst.BaseExpression | None, wanted: str) -> bool:
    """`*` stands for all but False, an empty text for anything."""
    if wanted == "":
        return True
    said = None if value is None else ex.dotted(value) or str(ex.integer(value))
    return said != "False" if wanted == "*" else said == wanted
