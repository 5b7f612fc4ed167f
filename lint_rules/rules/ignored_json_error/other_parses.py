"""What else parses a text: before, on all ways here, so that it is not malformed; or again, as this one only looked."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import counted
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import kept
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

_OF_CALLS = frozenset({Kind.REPLY, Kind.MESSAGE, Kind.CALLS, Kind.CALL, Kind.ARGUMENTS_TEXT})
_MOST = 8
"""Where one function parses the same words more often than that, these are the texts of many rounds."""


def is_parsed_before(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Whether on all ways here the text has been parsed or written, and those on which that fails lead elsewhere.

    Here, or where all callers hand it to this function; also as what a function parses that gets it, the call in which
    it lies, or all calls of the loop around.
    """
    text = call.args[0].value
    handed = (text, ex.owner(text), *(calls for _, calls in _gone_through(anatomy, call)))
    if any(_is_settled(anatomy, call, function, each) for each in handed):
        return True
    root, sites = ex.owner(text), anatomy.calls.sites[function]
    slot = anatomy.facts.slots.of(root)
    if slot is None or not is_parameter(slot) or slot[1] is not function or anatomy.calls.references.get(function):
        return False
    inside = ex.source(text, 400).removeprefix(ex.source(root, 400))
    given = [(site, dict(anatomy.facts.slots.bindings(site.node, function)).get(slot)) for site in sites]
    return bool(given) and all(
        value is not None and _is_settled(anatomy, site.node, site.caller, value, inside) for site, value in given
    )


def is_parsed_again(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Whether the calls of the loop around a parse are parsed once more behind it: this one only looked at them."""
    module, (settled, _) = anatomy.module, _settled(anatomy, function)
    for loop, calls in _gone_through(anatomy, call):
        words = ex.source(calls, 400)
        keys = (words, f"each of {words}", ex.source(ex.owner(calls), 400))
        lines = (point.statement for key in keys for point in settled.get(key, ()) if point.statement is not None)
        if any(module.before(loop, line) and not module.inside(line, loop) for line in lines):
            return True
    return False


def _gone_through(anatomy: Anatomy, node: cst.CSTNode) -> list[tuple[cst.For, cst.BaseExpression]]:
    """The loops over calls around a node, each with the list."""
    loops = [(outer, counted(outer.iter)) for outer in anatomy.module.ancestors(node) if isinstance(outer, cst.For)]
    return [(loop, calls) for loop, calls in loops if anatomy.facts.is_kind(calls, Kind.CALLS)]


def _is_settled(
    anatomy: Anatomy, node: cst.CSTNode, function: Scope, value: cst.BaseExpression, inside: str = ""
) -> bool:
    """Whether all ways to a node, since a value was bound, lead over what parses a part of it, or tests that."""
    words, names, here = ex.source(value, 400) + inside, names_in(value), {*anatomy.points(function, [node])}
    settled, tests = _settled(anatomy, function)
    parsed, fails = settled.get(words, set()) - here, tests.get(words, set())
    if not (parsed or fails) or len(parsed) > _MOST:
        return False

    def says(tested: cst.CSTNode) -> bool | None:
        """What a test gives where the text is no JSON."""
        if not isinstance(tested, (cst.If, cst.While)):
            return None
        return evaluate(tested.test, lambda part: False if part in fails else None)

    failed = (target for point in parsed for target, kind in point.successors if kind == "exception")
    bound = (each.point for each in anatomy.reaching(function).definitions if each.name in names)
    starts = {anatomy.flow(function).entry, *failed, *bound} - parsed
    return anatomy.ways(function).path(starts, here, parsed, says=says) is None


@kept
def _settled(anatomy: Anatomy, function: Scope) -> tuple[dict[str, set[Point]], dict[str, set[cst.CSTNode]]]:
    """Where a function parses a text, writes it, or hands something to what parses it, and where it tests one.

    By the words for it.
    """
    settled, tests = dict[str, set[Point]](), dict[str, set[cst.CSTNode]]()
    for call in function.nodes_of(cst.Call):
        told: list[cst.BaseExpression] = []
        each: list[str] = []
        if anatomy.facts.decoder(call) is not None:
            told = [arg.value for arg in call.args[:1]]
            each = [f"each of {ex.source(calls, 400)}" for _, calls in _gone_through(anatomy, call)]
        elif anatomy.facts.encoder(call) is not None:
            told = ex.assigned(anatomy.module.parent[call])
        elif any(not _OF_CALLS.isdisjoint(anatomy.facts.kinds(arg.value)) for arg in call.args):
            run = body(anatomy, call)
            bindings = run[0].facts.slots.bindings(call, run[1]) if run is not None else ()
            tried = [value for slot, value in bindings if run is not None and slot in _tried_by(*run)]
            for text in tried:
                tests.setdefault(ex.source(text, 400), set()).add(call)
            if not tried and run is not None and run[1] in _parsing(run[0], run[0].module.top):
                told = [*(arg.value for arg in call.args), *ex.assigned(anatomy.module.statement(call))]
        for words in (*(ex.source(text, 400) for text in told), *each):
            settled.setdefault(words, set()).update(anatomy.points(function, [call]))
    return settled, tests


@kept
def _parsing(anatomy: Anatomy, top: Scope) -> frozenset[Scope]:
    """The functions of a module that parse arguments which a model wrote, themselves or by others."""
    own = (
        anatomy.module.scope_of[node].function
        for node in anatomy.module.nodes_of(cst.Call)
        if node.args
        and anatomy.facts.decoder(node) is not None
        and Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(node.args[0].value)
    )
    return frozenset(anatomy.calls.with_callers(own))


@kept
def _tried_by(anatomy: Anatomy, function: Scope) -> frozenset[Slot | None]:
    """The parameters that a function parses, to give something false where that fails."""
    found = set()
    for parse in function.nodes_of(cst.Call):
        if parse.args and anatomy.facts.decoder(parse) is not None:
            handling = handlers.handling_of(anatomy.module, parse, handlers.JSON_ERRORS)
            returned = [n for n in walk(handling.handler) if isinstance(n, cst.Return)] if handling is not None else []
            if returned and all(n.value is None or ex.source(n.value) in {"False", "None"} for n in returned):
                found.add(anatomy.facts.slots.of(parse.args[0].value))
    return frozenset(found)
