"""Where a program starts to do several things at once: threads, tasks, timers, executors, request handlers."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Literal

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.anatomy.program.serving import Serving, imports_gradio, in_background, is_executor
from lint_rules.finding import Span
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record

StartKind = Literal["thread", "task", "handler", "serial", "process"]
"""What runs: of handlers several at a time, of the `serial` ones one after the other, beside all else; of what runs in
processes, which share what lies outside, one in each at a time."""

_STARTERS = frozenset({*words.THREADS, *words.EXECUTOR_MAPS, *words.TASKS, *words.CALLBACKS, "gather"})

_MAPS = frozenset({"map", "imap", "imap_unordered", "starmap"})


@record
class Passing:
    """A call by which one file runs a function of another.

    `file` and `function` say which one it runs: an absolute path, and a qualified name. `path`, `span` and `by` say
    where the call stands, and in which function. `own`: on an object that was made for the run; `through_self`: on
    a part of the object that the run is of. `starts` are those of its file that come to it: their kind,
    whether several run at once, and whether they are on one event loop there. `callers` are the functions of its file
    that do, and whether in a thread of their own. `lasting` are the keywords and places of arguments that outlive it.
    `given`: it is on an object that its function `caller` was handed, by that keyword and place. `handed_on`: it is no
    call, but hands the function to a thread, a task or a framework. `told`: its file sees a turn
    in it. `for_all`: handlers of its file that serve all users come to it. `common`: the globals that it makes longer.
    `inherits`: on an object of a class that inherits the function. `shared` are the keywords and places of what the
    object was made with, and another one, too, which makes that longer beside it.
    """

    file: str
    function: str
    path: str
    span: Span
    by: str
    own: bool
    through_self: bool
    starts: tuple[tuple[StartKind, bool, bool], ...]
    callers: dict[str, bool]
    lasting: frozenset[str | int] = frozenset()
    caller: str = ""
    given: frozenset[str | int] = frozenset()
    handed_on: bool = False
    told: bool = False
    for_all: bool = False
    common: frozenset[str] = frozenset()
    inherits: bool = False
    shared: frozenset[str | int] = frozenset()


@record
class Caller:
    """How a function comes to run beside others: by a passing, from a start of that `kind`, in its file or beyond it.

    `many`: several at once; `on_loop`: on one event loop; `own`: each on an object of its own; `for_all`: for
    all users.
    """

    passing: Passing
    kind: StartKind
    many: bool
    on_loop: bool
    own: bool
    for_all: bool = False

    def hands_on(self, function: Scope, name: str) -> bool:
        """Whether a parameter of the function gets what outlives the run."""
        return bool(keys(function, name) & self.passing.lasting)


def keys(function: Scope, name: str) -> frozenset[str | int]:
    """The keyword, and the place if it has one, by which callers of a function hand something to a parameter."""
    names = [param.name.value for param in parameters(function)][function.owner is not None :]
    return frozenset({name, names.index(name)} if name in names else {name})


@record
class Start:
    """A function that runs beside others from `node` on. `many`: several runs of itself may overlap.

    Where a `caller` in another file runs it, `node` is the function's own. `switch`: what lets handlers overlap.
    `in_thread`: in one of its own, though it is a coroutine. `begun`: where it is only handed on, the start of whoever
    gets it, and the file of that.
    """

    function: Scope
    node: cst.CSTNode
    kind: StartKind
    many: bool
    target: cst.BaseExpression | None = None
    caller: Caller | None = None
    switch: cst.CSTNode | None = None
    in_thread: bool = False
    begun: tuple[Anatomy, Start] | None = None

    @property
    def comes_with_events(self) -> bool:
        """Whether somebody else begins it, again and again: two runs may be for one user."""
        return self.kind in {"handler", "process"}

    @property
    def on_loop(self) -> bool:
        """Whether it runs on an event loop, where only an `await` lets others in."""
        if self.caller is not None:
            return self.caller.on_loop
        if self.kind == "handler":
            return self.function.is_async and not self.in_thread
        return self.kind not in {"thread", "process"}


def starts_several(start: Start) -> bool:
    """Whether one call starts the function several times: `pool.map(f, xs)`, `gather(*(f(x) for x in xs))`."""
    name = ex.called_name(start.node) if isinstance(start.node, cst.Call) else ""
    return name in _MAPS or (name == "gather" and start.many)


def runs_per_event(graph: CallGraph, function: Scope) -> bool:
    """Whether a function runs again and again: for each request, or from loops of those that call it."""
    return _per_event(graph, _served(graph), function, set())


def starts(graph: CallGraph) -> list[Start]:
    """All concurrent starts of a file."""
    served = _served(graph)
    handlers = [
        Start(function, how.node, "handler", True, switch=how.switch, in_thread=how.in_threads)
        for function, how in served.items()
    ]
    handlers += [
        Start(function, how.node, "process", True) for function, how in graph.servings.items() if how.in_processes
    ]
    return [*_spawned(graph, served), *handlers, *_thread_classes(graph), *_in_background(graph), *_serial(graph)]


def _served(graph: CallGraph) -> dict[Scope, Serving]:
    return {function: how for function, how in graph.servings.items() if how.concurrent}


def _spawned(graph: CallGraph, served: Container[Scope]) -> Iterator[Start]:
    for begun in _begun(graph):
        function = graph.facts.slots.function(begun.target)
        if function is not None:
            yield Start(function, begun.node, begun.kind, begun.is_many(graph, served), begun.target)
        for target, loop in _each(graph, begun.target) if function is None else ():
            function = graph.facts.slots.function(target)
            if function is not None:
                many = _repeated(graph, served, loop, graph.facts.module.scope_of[begun.node].function)
                yield Start(function, begun.node, begun.kind, many, target)


def _each(graph: CallGraph, target: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """What a loop goes through, one by one, and the loop: `for job in (self.read, self.write): Thread(target=job)`."""
    facts, slot = graph.facts, graph.facts.slots.of_name(target)
    for iterable in facts.gone_through(slot) if slot is not None else ():
        named = ex.receiver(iterable) or iterable  # of `jobs.values()`
        loop = next(o for o in facts.module.ancestors(iterable) if isinstance(o, (cst.For, cst.CompFor)))
        for shown in (named, *facts.values_of(named)):
            elements = shown.elements if isinstance(shown, (cst.List, cst.Tuple)) else ()
            yield from ((part, loop) for part in [*(e.value for e in elements), *ex.dict_items(shown).values()])


@record
class Begun:
    """What a call starts in a thread or as a task; `many` where it tells whether that are several at once.

    `by_form`: in a thread, if it is no coroutine.
    """

    target: cst.BaseExpression
    node: cst.Call
    kind: StartKind
    many: bool | None = None
    by_form: bool = False

    def is_many(self, graph: CallGraph, served: Container[Scope]) -> bool:
        if self.many is not None:
            return self.many
        return _repeated(graph, served, self.node, graph.facts.module.scope_of[self.node].function)


def begun_elsewhere(anatomy: Anatomy) -> Iterator[tuple[Begun, bool]]:
    """What a file starts that is no function of it, and whether several runs of it may overlap."""
    graph, served = anatomy.calls, _served(anatomy.calls)
    for begun in _begun(graph):
        if graph.facts.slots.function(begun.target) is None:
            run = anatomy.imported_function(ex.dotted(begun.target) or "") if begun.by_form else None
            if run is not None and not run[1].is_async:
                begun = replace(begun, kind="thread")
            each = list(_each(graph, begun.target))
            for target, loop in each:
                if graph.facts.slots.function(target) is None:
                    many = _repeated(graph, served, loop, graph.facts.module.scope_of[begun.node].function)
                    yield replace(begun, target=target), many
            if not each:
                yield begun, begun.is_many(graph, served)


def _begun(graph: CallGraph) -> Iterator[Begun]:
    module = graph.facts.module
    events = imports_gradio(module)  # `box.submit(function)` is no start there
    for node in module.nodes_of(cst.Call):
        name = ex.called_name(node)
        if name not in _STARTERS:
            continue
        if _in_processes(graph, node) or (name == "submit" and events and not is_executor(graph.facts, node)):
            continue
        if name in words.THREADS:
            place = words.THREADS[name]
            target = ex.argument(node, place) if isinstance(place, str) else _at(node, place, "function")
            if target is not None:
                yield Begun(target, node, "thread")
        elif name in words.EXECUTOR_MAPS and isinstance(node.func, cst.Attribute) and node.args:
            if is_executor(graph.facts, node):
                yield Begun(node.args[0].value, node, "thread", True)
        elif name in words.TASKS:
            for arg in node.args[:2]:
                value = ex.inner(arg.value)
                target = ex.uncalled(value)
                function = graph.facts.slots.function(target)
                by_form = name == "add_task" and target is value
                plain = by_form and function is not None and not function.is_async
                yield Begun(target, node, "thread" if plain else "task", by_form=by_form)
        elif name == "gather":
            for arg in node.args:
                value = ex.inner(arg.value)
                if isinstance(value, cst.Call):
                    yield Begun(value.func, node, "task")
                elif arg.star:
                    for inside in _comprehended(value):
                        yield Begun(inside.func, node, "task", True)
        elif name in words.CALLBACKS and node.args:
            yield Begun(node.args[0].value, node, "task", False)


def _in_processes(graph: CallGraph, call: cst.Call) -> bool:
    """A start in another process: it shares no memory."""
    slot = graph.facts.slots.of(ex.receiver(call))
    if slot is None:
        return "Process" in ex.called_name(call)
    made = [*graph.facts.assigned(slot), *graph.facts.entered(slot)]
    return any(isinstance(v, cst.Call) and "Process" in (ex.dotted(v.func) or "") for v in made)


def _at(call: cst.Call, position: int, keyword: str) -> cst.BaseExpression | None:
    return ex.argument(call, keyword, position)


def _comprehended(value: cst.BaseExpression) -> list[cst.Call]:
    if isinstance(value, (cst.ListComp, cst.GeneratorExp)):
        made = ex.inner(value.elt)
        return [made] if isinstance(made, cst.Call) else []
    return []


def _repeated(graph: CallGraph, served: Container[Scope], node: cst.CSTNode, where: Scope) -> bool:
    """Whether a start may happen again while its run lasts: in a loop, or in a function that is called per event."""
    module = graph.facts.module
    for outer in module.ancestors(node):
        if isinstance(outer, (cst.For, cst.CompFor, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)):
            return True
        if isinstance(outer, cst.While):
            return True
        if outer is where.node:
            break
    return _per_event(graph, served, where, set())


def _per_event(graph: CallGraph, served: Container[Scope], function: Scope, seen: set[Scope]) -> bool:
    """A handler, a method that others call from loops, or what they call."""
    if function in seen:
        return False
    seen.add(function)
    if function in served:
        return True
    return any(
        graph.facts.module.loop_around(site.node) is not None or _per_event(graph, served, site.caller, seen)
        for site in graph.sites[function]
    )


def _in_background(graph: CallGraph) -> Iterator[Start]:
    """What a decorator has run beside the rest, in a thread if it is no coroutine; one run at a time."""
    for function, decorator in in_background(graph):
        yield Start(function, decorator, "task" if function.is_async else "thread", False)


def _serial(graph: CallGraph) -> Iterator[Start]:
    """The handlers that come one after the other, beside what they, or others, have started."""
    for function, how in graph.servings.items():
        if not how.concurrent:
            yield Start(function, how.node, "serial", False)


def _thread_classes(graph: CallGraph) -> Iterator[Start]:
    """`run` of a subclass of Thread, QThread."""
    for cls in graph.facts.module.classes:
        if any((ex.dotted(base) or "").endswith("Thread") for base in ex.bases(cls.node)) and "run" in cls.methods:
            yield Start(cls.methods["run"], cls.methods["run"].node, "thread", False)
