"""Arguments of tool calls that a function of another file parses: `perform(call.name, call.arguments)`.

The file that parses them sees a text like any other; that a model wrote it, only the caller knows. Or it asks the model
itself, and raises an error of its own for what is malformed: what becomes of that, again only the caller knows.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import methods_elsewhere, run_elsewhere
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.ignored_json_error.error_ways import Way, way_inside, way_of_error
from lint_rules.rules.ignored_json_error.model_json import written_by_model
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record


@record
class ForeignParse:
    """`call` hands a model's text, `given`, to `callee` of `there`, where `parse` decodes it in `function`.

    `way` is what becomes of its error there; without a handler in it, it comes out of the call. Where that file
    `asks` for the text itself, `given` and `evidence` stand there.
    """

    call: cst.Call
    given: cst.BaseExpression
    evidence: Evidence
    there: Anatomy
    callee: Scope
    parse: cst.Call
    function: Scope
    way: Way
    asks: bool = False


def foreign_parses(anatomy: Anatomy) -> Iterator[ForeignParse]:
    """All of a file, but for those that the other file shows to be of a model's text itself."""
    for call in anatomy.module.nodes_of(cst.Call):
        if anatomy.facts.slots.callee(call) is not None or call in anatomy.facts.calls:
            continue
        told = ((arg.value, anatomy.facts.kinds(arg.value).get(Kind.ARGUMENTS_TEXT)) for arg in call.args)
        texts = {value: evidence for value, evidence in told if evidence is not None}
        found = run_elsewhere(anatomy, call) if texts else None
        for slot, value in found[0].facts.slots.bindings(call, found[1]) if found is not None else ():
            if found is not None and value in texts:
                there, callee = found
                for parse, function, way in _parses(there, callee, slot, frozenset()):
                    if written_by_model(there, parse, function) is None:
                        yield ForeignParse(call, value, texts[value], there, callee, parse, function, way)


def raised_by_requests(anatomy: Anatomy) -> Iterator[ForeignParse]:
    """What functions of other files that ask a model raise, in their own words, of what it wrote.

    Or as nobody catches it, where they give it back as a whole: an object, of which this file reads the parts.
    """
    methods = {
        call: [
            anatomy.imported_function(ex.dotted(call.func) or "", asking=True),
            *methods_elsewhere(anatomy, call, asking=True),
        ]
        for call in anatomy.facts.calls
    }
    for call, (there, callee) in (
        (call, found) for call, runs in methods.items() for found in runs if found is not None
    ):
        run = there.calls.reachable(callee)
        for function in there.module.functions:
            for parse in function.nodes_of(cst.Call) if function in run else ():
                if there.facts.decoder(parse) is None or not parse.args:
                    continue
                way = way_of_error(there, parse, function, {*there.module.functions} - run)
                evidence = written_by_model(there, parse, function)
                if evidence is None and not way.is_over and way.ended is None and _gives_whole(there, parse):
                    evidence = there.facts.kinds(parse.args[0].value).get(Kind.MODEL_TEXT)  # nobody catches it there
                elif not (way.meant and way.told):
                    evidence = None
                if evidence is not None:
                    yield ForeignParse(
                        call, parse.args[0].value, evidence, there, callee, parse, function, way, asks=True
                    )


def _gives_whole(there: Anatomy, parse: cst.Call) -> bool:
    """`return Step.model_validate_json(reply.text)`."""
    return isinstance(there.module.statement(parse), cst.Return)


def _parses(
    there: Anatomy, function: Scope, text: Slot, seen: frozenset[Scope]
) -> Iterator[tuple[cst.Call, Scope, Way]]:
    """Where a function, or one of its file that it hands its parameter on to, decodes it."""
    for node in function.nodes_of(cst.Call):
        if there.facts.decoder(node) is not None and node.args and _is(there, node.args[0].value, text):
            yield node, function, way_inside(there, node, function)
    for site in there.calls.calls[function] if function not in seen else ():
        for inner, value in there.facts.slots.bindings(site.node, site.callee):
            if _is(there, value, text):
                for parse, parsing, way in _parses(there, site.callee, inner, seen | {function}):
                    outer = way if way.is_over else way_inside(there, site.node, function, errors=way.errors)
                    yield parse, parsing, outer


def _is(there: Anatomy, value: cst.BaseExpression, text: Slot) -> bool:
    return any(there.facts.slots.of(part) == text for part in ex.alternatives(value))
