"""Functions that a framework calls for each request, message or browser event: of whichever user it is."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.program.call_graph import CallGraph
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, decorators
from lint_rules.syntax.record import record

_ROUTERS = frozenset({"app", "router", "api", "blueprint", "bp", "server", "web", "application"})


@record
class Serving:
    """`function` is called for each event of `framework`, as `node` says. `concurrent`: several at a time."""

    function: Scope
    node: cst.CSTNode
    framework: str
    concurrent: bool


def servings(graph: CallGraph) -> dict[Scope, Serving]:
    """The functions of a file that serve many users. `CallGraph.servings` keeps them."""
    module = graph.facts.module
    used = {name.split(".")[0] for name in module.imports.full.values()}
    used |= {"gradio"} if imports_gradio(module) else set()
    found = {function: _serving(graph, function, used) for function in module.functions if function.kind != "class"}
    return {function: how for function, how in found.items() if how is not None}


def _serving(graph: CallGraph, function: Scope, used: set[str]) -> Serving | None:
    """How a framework among the imports calls `function`."""
    server = next((name for name in words.SERVERS if name in used), None)
    bot = next((name for name in words.BOTS if name in used), None)
    for decorator in decorators(function):
        func = decorator.func if isinstance(decorator, cst.Call) else decorator
        if not isinstance(func, cst.Attribute):
            continue
        name, owner = func.attr.value, (ex.dotted(func.value) or "").rpartition(".")[2].lower()
        if server and name in words.ROUTES and (owner in _ROUTERS or "app" in owner or "router" in owner):
            return Serving(function, decorator, server, True)
        if bot and name in words.EVENTS:
            return Serving(function, decorator, bot, True)
        for serial, names in words.SERIAL_BOTS.items():
            if serial in used and name in names:
                return Serving(function, decorator, serial, False)
    if bot and function.owner is not None and function.name in words.CLIENT_EVENTS:
        return Serving(function, function.node, bot, True)
    return _registered(graph, function, used)


def _registered(graph: CallGraph, function: Scope, used: set[str]) -> Serving | None:
    """Handlers given to a call: python-telegram-bot runs updates one by one unless `concurrent_updates` is set."""
    module = graph.facts.module
    for reference in graph.references[function]:
        for outer in module.ancestors(reference):
            if isinstance(outer, cst.Call):
                name = ex.called_name(outer)
                if name.endswith("Handler") and "telegram" in used:
                    return Serving(function, outer, "telegram", _concurrent_updates(graph))
                if name in words.REGISTERED:
                    return Serving(function, outer, "web", True)
                if "gradio" in used and _is_gradio(outer, reference):
                    return Serving(function, outer, "gradio", False)
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                break
    return None


def _is_gradio(call: cst.Call, function: cst.BaseExpression) -> bool:
    """`button.click(function, ...)`, `gr.ChatInterface(function)`: `submit` of an executor takes no list of inputs."""
    name = ex.called_name(call)
    if name not in words.GRADIO_EVENTS | words.GRADIO_APPS or ex.argument(call, "fn", 0) is not function:
        return False
    return name in words.GRADIO_APPS or not is_executor(call)


def imports_gradio(module: SourceModule) -> bool:
    """Also by way of a module of the project: `from app.gui import gr`."""
    return any("gradio" in full or bound == "gr" for bound, full in module.imports.full.items())


def is_executor(call: cst.Call) -> bool:
    """Whether a `submit` is one of a pool, as the name of its owner has it."""
    owner = (ex.dotted(call.func) or "").rpartition(".")[0].lower()
    return "executor" in owner or "pool" in owner


def _concurrent_updates(graph: CallGraph) -> bool:
    return any(
        ex.called_name(node) == "concurrent_updates" and node.args and ex.dotted(node.args[0].value) != "False"
        for node in graph.facts.module.nodes_of(cst.Call)
    )
