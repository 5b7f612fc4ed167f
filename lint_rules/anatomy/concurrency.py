"""Where a program starts to do several things at once: threads, tasks, timers, executors, request handlers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import libcst as cst

from lint_rules.anatomy.call_graph import CallGraph
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators

StartKind = Literal["thread", "task", "handler"]

_THREADS: dict[str, int | str] = {"Thread": "target", "Timer": 1, "submit": 0, "run_in_executor": 1, "to_thread": 0}
_EXECUTOR_MAPS = frozenset({"map", "imap", "imap_unordered", "starmap"})
_TASKS = frozenset(
    {"create_task", "ensure_future", "start_soon", "spawn", "run_coroutine_threadsafe", "add_task", "call_later",
     "call_soon_threadsafe", "create_background_task"}
)  # fmt: skip
_ROUTES = frozenset({"get", "post", "put", "patch", "delete", "route", "websocket", "api_route"})
_ROUTERS = frozenset({"app", "router", "api", "blueprint", "bp", "server", "web", "application"})
_SERVERS = ("fastapi", "flask", "starlette", "quart", "sanic", "litestar", "robyn", "blacksheep", "aiohttp", "falcon")
_EVENTS = frozenset({"event", "listen", "command", "slash_command", "hybrid_command", "message", "message_handler"})
_BOTS = ("discord", "aiogram", "telebot", "nextcord", "disnake", "pyrogram", "interactions")
_CLIENT_EVENTS = frozenset({"on_message", "on_command", "on_interaction", "on_reaction_add", "on_voice_state_update"})


@dataclass(frozen=True, eq=False, slots=True)
class Start:
    """A function that runs beside others from `node` on. `many`: several runs of itself may overlap."""

    function: Scope
    node: cst.CSTNode
    kind: StartKind
    many: bool
    target: cst.BaseExpression | None = None


def starts(graph: CallGraph) -> list[Start]:
    """All concurrent starts of a file."""
    return [*_spawned(graph), *_handlers(graph), *_thread_classes(graph)]


def _spawned(graph: CallGraph) -> Iterator[Start]:
    slots, module = graph.facts.slots, graph.facts.module
    for node in module.nodes_of(cst.Call):
        scope = module.scope_of[node]
        name = ex.called_name(node)
        if _in_processes(graph, node):
            continue
        if name in _THREADS:
            place = _THREADS[name]
            target = ex.argument(node, place) if isinstance(place, str) else _at(node, place, "function")
            yield from _start(graph, target, node, "thread", scope.function)
        elif name in _EXECUTOR_MAPS and isinstance(node.func, cst.Attribute) and node.args:
            owner = (ex.dotted(node.func.value) or "").lower()
            if any(word in owner for word in ("executor", "pool")):
                function = slots.function(node.args[0].value)
                if function is not None:
                    yield Start(function, node, "thread", True, node.args[0].value)
        elif name in _TASKS:
            for arg in node.args[:2]:
                value = ex.inner(arg.value)
                target = value.func if isinstance(value, cst.Call) else value
                yield from _start(graph, target, node, "task", scope.function)
        elif name == "gather":
            for arg in node.args:
                value = ex.inner(arg.value)
                if isinstance(value, cst.Call):
                    yield from _start(graph, value.func, node, "task", scope.function)
                elif arg.star:
                    for inside in _comprehended(value):
                        yield from _start(graph, inside.func, node, "task", scope.function, many=True)
        elif name in {"add_done_callback", "do", "add_job"} and node.args:
            yield from _start(graph, node.args[0].value, node, "task", scope.function, many=False)


def _in_processes(graph: CallGraph, call: cst.Call) -> bool:
    """A start in another process: it shares no memory."""
    base = ex.receiver(call)
    slot = graph.facts.slots.of(base) if base is not None else None
    if slot is None:
        return "Process" in ex.called_name(call)
    made = list(graph.facts.assigned(slot))
    for node in graph.facts.module.nodes_of(cst.WithItem):
        if (
            isinstance(node, cst.WithItem)
            and node.asname is not None
            and graph.facts.slots.of(node.asname.name) == slot
        ):
            made.append(node.item)
    return any(isinstance(v, cst.Call) and ("Process" in ex.source(v.func, 80)) for v in made)


def _at(call: cst.Call, position: int, keyword: str) -> cst.BaseExpression | None:
    return ex.argument(call, keyword, position)


def _comprehended(value: cst.BaseExpression) -> list[cst.Call]:
    if isinstance(value, (cst.ListComp, cst.GeneratorExp)):
        made = ex.inner(value.elt)
        return [made] if isinstance(made, cst.Call) else []
    return []


def _start(
    graph: CallGraph,
    target: cst.BaseExpression | None,
    node: cst.Call,
    kind: StartKind,
    where: Scope,
    many: bool | None = None,
) -> Iterator[Start]:
    if target is None:
        return
    function = graph.facts.slots.function(target)
    if function is not None:
        repeated = _repeated(graph, node, where) if many is None else many
        yield Start(function, node, kind, repeated, target)


def _repeated(graph: CallGraph, node: cst.CSTNode, where: Scope) -> bool:
    """Whether a start may happen again while its run lasts: in a loop, or in a function that is called per event."""
    module = graph.facts.module
    for outer in module.ancestors(node):
        if isinstance(outer, (cst.For, cst.CompFor, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)):
            return True
        if isinstance(outer, cst.While):
            return True
        if outer is where.node:
            break
    return _per_event(graph, where, set())


def _per_event(graph: CallGraph, function: Scope, seen: set[Scope]) -> bool:
    """A handler, a method that others call from loops, or what they call."""
    if function in seen:
        return False
    seen.add(function)
    if _is_handler(graph, function) is not None:
        return True
    return any(
        any(isinstance(o, (cst.For, cst.While)) for o in graph.facts.module.ancestors(site.node))
        or _per_event(graph, site.caller, seen)
        for site in graph.sites[function]
    )


def _handlers(graph: CallGraph) -> Iterator[Start]:
    for function in graph.facts.module.functions:
        node = _is_handler(graph, function)
        if node is not None:
            yield Start(function, node, "handler", True)


def _is_handler(graph: CallGraph, function: Scope) -> cst.CSTNode | None:
    """The decorator or registration that makes a framework call `function` for each request or event, concurrently."""
    imports = graph.facts.module.imports.full.values()
    served = any(name.split(".")[0] in _SERVERS for name in imports)
    botted = any(name.split(".")[0] in _BOTS for name in imports)
    for decorator in decorators(function):
        func = decorator.func if isinstance(decorator, cst.Call) else decorator
        if not isinstance(func, cst.Attribute):
            continue
        name, owner = func.attr.value, (ex.dotted(func.value) or "").rpartition(".")[2].lower()
        if served and name in _ROUTES and (owner in _ROUTERS or "app" in owner or "router" in owner):
            return decorator
        if botted and name in _EVENTS:
            return decorator
    if botted and function.owner is not None and function.name in _CLIENT_EVENTS:
        return function.node
    return _registered(graph, function)


def _registered(graph: CallGraph, function: Scope) -> cst.CSTNode | None:
    """Handlers given to a call: python-telegram-bot runs updates one by one unless `concurrent_updates` is set."""
    module = graph.facts.module
    for reference in graph.references[function]:
        for outer in module.ancestors(reference):
            if isinstance(outer, cst.Call):
                name = ex.called_name(outer)
                if name.endswith("Handler") and _concurrent_updates(graph):
                    return outer
                if name in {"add_get", "add_post", "add_route", "add_url_rule", "add_api_route"}:
                    return outer
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                break
    return None


def _concurrent_updates(graph: CallGraph) -> bool:
    return any(
        ex.called_name(node) == "concurrent_updates" and node.args and ex.dotted(node.args[0].value) != "False"
        for node in graph.facts.module.nodes_of(cst.Call)
    )


def _thread_classes(graph: CallGraph) -> Iterator[Start]:
    """`run` of a subclass of Thread."""
    for cls in graph.facts.module.classes:
        bases = cls.node.bases if isinstance(cls.node, cst.ClassDef) else ()
        if any((ex.dotted(base.value) or "").rpartition(".")[2] == "Thread" for base in bases) and "run" in cls.methods:
            yield Start(cls.methods["run"], cls.methods["run"].node, "thread", False)
