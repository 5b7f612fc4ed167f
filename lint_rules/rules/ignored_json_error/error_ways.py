"""The way of an error: from where it is raised outwards, over handlers and callers, as far as a round loop.

Data-flow over the call graph: a function that does not handle the error raises it at each of its calls.
"""

from __future__ import annotations

import builtins
import re

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.cuts import compares_size
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling, kept_by_gather
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.rounds.waits import Waits, is_input
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Kind as Edge
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, decorators
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

SILENT = (Ending.NEUTRAL, Ending.DROPS)


@record
class Way:
    """What becomes of the error: swallowed by a handler, out of a round loop, told to somebody, or out of the file.

    `script` is set where all ways out of the file end in module-level code, and `talk` is a loop there that asks a
    person in each round, and is over then. `errors` are the names of what is raised on, and `meant` says that somebody
    does so for his callers: by an error of his own that tells this one from what else may fail with a request, or as
    his docstring says. `ended` is the handler that gives up a turn of one round, whatever else it does.
    """

    handling: Handling | None = None
    loop: RoundLoop | None = None
    told: bool = False
    script: bool = False
    talk: cst.While | cst.For | None = None
    errors: frozenset[str] = handlers.LITERAL_ERRORS
    meant: bool = False
    ended: Handling | None = None


def way_of_error(
    anatomy: Anatomy, node: cst.CSTNode, function: Scope, seen: set[Scope], before: Way | None = None
) -> Way:
    """Follow an error from `node` outwards: handlers up to the round loop, then the calls of the function.

    One that is raised in its place is followed like it; where it leaves the file, callers elsewhere are told.
    """
    loop = _loop_around(anatomy, node, function)
    way = _way_inside(anatomy, node, function, loop, before or Way())
    if way.ended is not None and not any(_answers(anatomy, each) for each in {*seen, function}):
        return Way(told=True)
    if way.told or way.handling is not None or way.ended is not None:
        return way
    if loop is not None:
        return Way(told=True) if _raises_by_contract(function) else Way(loop=loop)
    seen.add(function)  # one that is left from several places is left once
    sites = [site for site in anatomy.calls.sites[function] if site.caller not in seen]
    ways = [way_of_error(anatomy, site.node, site.caller, seen, way) for site in sites]
    for wanted in ("loop", "handling", "ended", "told"):
        for found in ways:
            if getattr(found, wanted):
                return found
    if way.meant:
        return Way(told=True)
    talk = next((found.talk for found in ways if found.talk is not None), _talk_around(anatomy, node, function))
    left = bool(ways) and all(found.script for found in ways) and function.owner is None
    return Way(script=left or function.kind == "module", talk=talk)


def _way_inside(anatomy: Anatomy, node: cst.CSTNode, function: Scope, loop: RoundLoop | None, before: Way) -> Way:
    """What becomes of an error as far as the function, or a loop in it, reaches; not over where it leaves that."""
    here, errors, meant = node, before.errors, before.meant or _raises_by_contract(function)
    while (handling := handlers.handling_of(anatomy.module, here, errors, loop.node if loop else None)) is not None:
        if handling.ending in SILENT:
            return Way(handling=handling)
        raised = _raised(anatomy, handling)
        whole = _takes_all(anatomy, handling, function)
        if not raised:
            ends = loop is None and (whole or handling.ending is not Ending.RAISES)
            return Way(ended=handling) if ends and _gives_up(anatomy, handling, function) else Way(told=True)
        meant = meant or not whole
        here, errors = handling.guard, raised
    told = kept_by_gather(anatomy.module, node) or _caught_by_decorator(anatomy, function)
    return Way(told=told, errors=errors, meant=meant)


def _takes_all(anatomy: Anatomy, handling: Handling, function: Scope) -> bool:
    """Whether a handler takes whatever fails with a request: what it raises in its place says nothing of the text."""
    guarded = anatomy.module.nodes_inside(handling.guard.body, function, cst.Call)
    caught = exceptions.caught(handling.handler)
    return not caught.isdisjoint(exceptions.CATCH_ALL) and any(map(anatomy.calls.asks, guarded))


@once(circular=False)
def _answers(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function stores or sends results of calls, or gives calls on by their names.

    A call that a model has to write, to be read, is no turn.
    """
    if any(_gives_on_name(anatomy, node) for node in function.nodes_of(cst.Attribute, cst.Subscript, cst.Call)):
        return True
    sent = (arg.value for call in anatomy.turns.requests(function) for arg in call.args)
    return any(stored.answers for stored in anatomy.transcript.stored(function)) or any(
        message.answers for value in sent for message in anatomy.transcript.messages.many(value)
    )


def _gives_on_name(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether the name of a call is put into something: `{"name": call.function.name, ...}`, `Wish(call.name, ...)`."""
    pair = ex.member(node)
    if pair is None or pair[1] != "name":
        return False
    above = ex.member(pair[0])
    whole = above[0] if above is not None and above[1] == "function" else pair[0]
    if Kind.CALL not in anatomy.facts.kinds(whole):
        return False
    line = anatomy.module.statement(node)
    targets = ex.targets(line) if isinstance(line, (cst.Assign, cst.AnnAssign, cst.AugAssign)) else []
    bound = (anatomy.facts.slots.of(target) for target in targets)
    uses = (use for slot in bound if slot is not None for use in anatomy.facts.names.get(slot, ()))
    return any(
        isinstance(anatomy.module.parent[use], (cst.DictElement, cst.Arg))
        and not handlers.shown_only(anatomy.module, use)
        for use in (node, *uses)
    )


def _gives_up(anatomy: Anatomy, handling: Handling, function: Scope) -> bool:
    """Whether a handler around a request ends the turn: it asks no more, and stores nothing but an answer for the user.

    What the next call of the same reply leads to is no other request for this one.
    """
    module, flow = anatomy.module, anatomy.flow(function)
    asks = [call for call in function.nodes_of(cst.Call) if anatomy.calls.asks_here(call)]
    stored = (each for each in anatomy.transcript.stored(function) if module.inside(each.node, handling.handler))
    if not any(module.inside(call, handling.guard.body) for call in asks) or any(s.role != "assistant" for s in stored):
        return False
    begins, again = flow.within(walk(handling.handler.body)), {*anatomy.points(function, asks)}
    around = (outer for outer in module.ancestors(handling.handler) if isinstance(outer, cst.For))
    calls = [outer for outer in around if Kind.CALLS in anatomy.facts.kinds(outer.iter)]
    following: set[tuple[Point, Edge]] = {(head, "true") for loop in calls for head in flow.at(loop)}
    away = begins and again.isdisjoint(begins)
    return bool(away) and flow.path(begins, again, exceptions=False, closed=following) is None


def _raised(anatomy: Anatomy, handling: Handling) -> frozenset[str]:
    """The names of the class that a handler raises an error of, and of its bases; empty where these are not known."""
    if handling.ending is not Ending.RAISES:
        return frozenset()
    raised = (node.exc for node in walk(handling.handler.body) if isinstance(node, cst.Raise) and node.exc is not None)
    found = [_with_bases(anatomy, name) for exc in raised if (name := ex.dotted(ex.uncalled(exc)))]
    return frozenset[str]().union(*found) if all(found) else frozenset()


def _with_bases(anatomy: Anatomy, name: str) -> set[str]:
    """The last names of an exception class and of its bases, of this file, of the project, or of Python."""
    built_in = getattr(builtins, name, None)
    if isinstance(built_in, type) and issubclass(built_in, BaseException):
        return {cls.__name__ for cls in built_in.__mro__} - {"object"}
    cls = anatomy.module.class_named(name)
    there, cls = (anatomy, cls) if cls is not None else anatomy.imported_class(name) or (anatomy, None)
    above = [_with_bases(there, ex.dotted(base) or "") for base in ex.bases(cls.node)] if cls is not None else []
    return {cls.name}.union(*above) if cls is not None and above and all(above) else set()


def _loop_around(anatomy: Anatomy, node: cst.CSTNode, function: Scope) -> RoundLoop | None:
    """The innermost in whose body the node stands."""
    inner = node
    for outer in anatomy.module.ancestors(node):
        loop = anatomy.round_at.get(outer) or _attempts(anatomy, outer, function)
        if loop is not None and loop.function is function and loop.node.body is inner:
            return loop
        inner = outer
    return None


def _attempts(anatomy: Anatomy, loop: cst.CSTNode, function: Scope) -> RoundLoop | None:
    """A loop that asks so many times, or once more where a reply is not what was wanted; none over what there is."""
    if isinstance(loop, cst.For):
        counts = isinstance(loop.iter, cst.Call) and ex.dotted(loop.iter.func) == "range"
    else:
        counts = isinstance(loop, cst.While) and compares_size(loop.test)
    if not counts or not isinstance(loop, (cst.For, cst.While)):
        return None
    flow = anatomy.flow(function)
    for call in filter(anatomy.calls.asks, anatomy.calls.calls_within(loop.body, function)):
        guards = (outer for outer in anatomy.module.ancestors(call) if isinstance(outer, cst.Try))
        failed = {point for guard in guards for handler in guard.handlers for point in flow.at(handler)}
        if flow.reaches(anatomy.points(function, [call]), flow.at(loop), failed):  # not where the request has failed
            return RoundLoop(loop, function, call)
    return None


def _talk_around(anatomy: Anatomy, node: cst.CSTNode, function: Scope) -> cst.While | cst.For | None:
    """The loop in whose body a node stands, and where a person has to say something for each round."""
    loop, prompts = anatomy.module.loop_around(node), Waits(anatomy.calls, anatomy.flow, is_input)
    while loop is not None and anatomy.module.scope_of[loop].function is function:
        if prompts.in_each_round(loop, function) is not None:
            return loop
        loop = anatomy.module.loop_around(loop)
    return None


def _raises_by_contract(function: Scope) -> bool:
    """A docstring that says the function raises when the text is not valid."""
    text = function.node.get_docstring() if isinstance(function.node, cst.FunctionDef) else None
    return text is not None and re.search(r"raises?\b.*(JSONDecodeError|ValueError)", text, re.I | re.S) is not None


def _caught_by_decorator(anatomy: Anatomy, function: Scope) -> bool:
    """A decorator of this file whose wrapper catches what the function raises and makes something of it."""
    for decorator in decorators(function):
        maker = anatomy.facts.slots.function(ex.uncalled(decorator))
        for node in walk(maker.node) if maker is not None else ():
            if isinstance(node, cst.Try):
                handler = exceptions.handler_for(node, handlers.LITERAL_ERRORS)
                if handler is not None and handlers.handle(anatomy.module, node, handler).ending is Ending.TELLS:
                    return True
    return False
