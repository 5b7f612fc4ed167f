"""The way of an error: from where it is raised outwards, over handlers and callers, as far as a round loop.

Data-flow over the call graph: a function that does not handle the error raises it at each of its calls.
"""

from __future__ import annotations

import re

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, decorators
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

SILENT = (Ending.NEUTRAL, Ending.DROPS)


@record
class Way:
    """What becomes of the error: swallowed by a handler, out of a round loop, told to somebody, or out of the file.

    `script` is set where all ways out of the file end in module-level code.
    """

    handling: Handling | None = None
    loop: RoundLoop | None = None
    told: bool = False
    script: bool = False

    @property
    def is_over(self) -> bool:
        """Whether it ends where somebody handles the error."""
        return self.told or self.handling is not None


def way_of_error(anatomy: Anatomy, node: cst.CSTNode, function: Scope, seen: set[Scope]) -> Way:
    """Follow an error from `node` outwards: handlers up to the round loop, then the calls of the function."""
    seen.add(function)
    loop = _loop_around(anatomy, node, function)
    way = way_inside(anatomy, node, function, loop)
    if way.is_over:
        return way
    if loop is not None:
        return Way(loop=loop)
    sites = [site for site in anatomy.calls.sites[function] if site.caller not in seen]
    ways = [way_of_error(anatomy, site.node, site.caller, seen) for site in sites]
    for wanted in ("loop", "handling", "told"):
        for way in ways:
            if getattr(way, wanted):
                return way
    if function.kind == "module":
        return Way(script=True)
    return Way(script=bool(ways) and all(way.script for way in ways) and function.owner is None)


def way_inside(anatomy: Anatomy, node: cst.CSTNode, function: Scope, loop: RoundLoop | None = None) -> Way:
    """What becomes of an error as far as the function, or a loop in it, reaches; an empty way where it leaves that."""
    handling = handlers.handling_of(anatomy.module, node, handlers.LITERAL_ERRORS, loop.node if loop else None)
    if handling is not None:
        return Way(handling=handling) if handling.ending in SILENT else Way(told=True)
    gathered = kept_by_gather(anatomy.module, node)
    return Way(told=gathered or _caught_by_decorator(anatomy, function) or _raises_by_contract(function))


def _loop_around(anatomy: Anatomy, node: cst.CSTNode, function: Scope) -> RoundLoop | None:
    """The innermost in whose body the node stands."""
    inner = node
    for outer in anatomy.module.ancestors(node):
        loop = anatomy.round_at.get(outer)
        if loop is not None and loop.function is function and loop.node.body is inner:
            return loop
        inner = outer
    return None


def _raises_by_contract(function: Scope) -> bool:
    """A docstring that says the function raises when the text is not valid."""
    text = function.node.get_docstring() if isinstance(function.node, cst.FunctionDef) else None
    return text is not None and re.search(r"raises?\b.*(JSONDecodeError|ValueError)", text, re.I | re.S) is not None


def kept_by_gather(module: SourceModule, node: cst.CSTNode) -> bool:
    """`gather(..., return_exceptions=True)` hands errors over as values."""
    for outer in module.ancestors(node):
        if isinstance(outer, cst.Call) and ex.called_name(outer) == "gather":
            kept = ex.argument(outer, "return_exceptions")
            return kept is not None and ex.dotted(kept) == "True"
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            break
    return False


def _caught_by_decorator(anatomy: Anatomy, function: Scope) -> bool:
    """A decorator of this file whose wrapper catches what the function raises and makes something of it."""
    for decorator in decorators(function):
        maker = anatomy.facts.slots.function(decorator.func if isinstance(decorator, cst.Call) else decorator)
        for node in walk(maker.node) if maker is not None else ():
            if isinstance(node, cst.Try):
                handler = exceptions.handler_for(node, handlers.LITERAL_ERRORS)
                if handler is not None and handlers.handle(anatomy.module, node, handler).ending is Ending.TELLS:
                    return True
    return False
