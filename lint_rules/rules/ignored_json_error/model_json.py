"""JSON of tool calls: texts of a model that a file parses, and values of calls that it writes as JSON.

Both give the evidence that it is a call's, or None: also where the file itself has written the text, which is then
never malformed.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import with_calls
from lint_rules.anatomy.messages.classes import made_class
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.rules.ignored_json_error import dispatch, outside
from lint_rules.rules.ignored_json_error.error_ways import way_of_error
from lint_rules.rules.ignored_json_error.other_parses import is_parsed_before
from lint_rules.rules.ignored_json_error.parse_attempts import is_marked
from lint_rules.rules.ignored_json_error.uses import parsed_names, uses_after
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk


def written_by_model(anatomy: Anatomy, call: cst.Call, function: Scope) -> Evidence | None:
    """Evidence that what a call parses was written by a model, and by no `json.dumps` of this file."""
    evidence = _evidence(anatomy, call, function) or _ends_rounds(anatomy, call, function)
    if evidence is None or _own_json(anatomy, call, function):
        return None
    if Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(call.args[0].value) and _is_run_without_calls(anatomy, function):
        return None
    return None if is_parsed_before(anatomy, call, function) else evidence


def _is_run_without_calls(anatomy: Anatomy, function: Scope) -> bool:
    """Whether the file runs a function only where a test has told that the reply has no calls: `if not calls: f()`."""
    sites = [site.node for site in anatomy.calls.sites[function]]
    tests = [[test for test in passed(anatomy.module, site) if isinstance(test[0], cst.If)] for site in sites]
    return (
        bool(sites)
        and not anatomy.calls.references.get(function)
        and all(any(with_calls(anatomy.facts, tested.test) is (not holds) for tested, holds in told) for told in tests)
    )


def _evidence(anatomy: Anatomy, call: cst.Call, function: Scope) -> Evidence | None:
    """Evidence that the text is a tool call's arguments, or model text that is parsed as a tool request."""
    kinds = anatomy.facts.kinds(call.args[0].value)
    if Kind.ARGUMENTS_TEXT in kinds:
        return kinds[Kind.ARGUMENTS_TEXT]
    if Kind.MODEL_TEXT in kinds or is_marked(anatomy, call):
        if dispatch.reads_tool_request(anatomy.facts, call) or dispatch.makes_call_with(anatomy.facts, call, function):
            return kinds.get(Kind.MODEL_TEXT) or Evidence("is told from the rest of a text by words, as a call", call)
    return dispatch.runs_tool_with(anatomy.facts, call, function)


def _ends_rounds(anatomy: Anatomy, call: cst.Call, function: Scope) -> Evidence | None:
    """Evidence that a model wrote a text, of whatever it tells, where nobody keeps its error from ending the rounds."""
    said = anatomy.facts.kinds(call.args[0].value).get(Kind.MODEL_TEXT)
    way = way_of_error(anatomy, call, function, set()) if said is not None else None
    return said if way is not None and way.loop is not None and way.ended is None else None


def _own_json(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Arguments this file has written itself with `json.dumps`: never malformed.

    They are read back from messages; or from calls, of which the class makes all with such arguments. What comes out
    of a reply is not.
    """
    if outside.reads_reply(anatomy, call):
        return False
    if isinstance(text := call.args[0].value, cst.Attribute):
        return outside.renders_the_past(anatomy, call, function) and _is_made_encoded(anatomy, text)
    made = [
        (anatomy.module.scope_of[node].function.owner, _encodes(anatomy, parts["arguments"]))
        for node, parts in anatomy.made
        if "arguments" in parts
    ]
    of_class = [encoded for owner, encoded in made if owner is not None and owner is function.owner]
    if of_class and all(of_class):
        return True
    return bool(made) and all(encoded for _, encoded in made) and outside.renders_the_past(anatomy, call, function)


def _is_made_encoded(anatomy: Anatomy, text: cst.Attribute) -> bool:
    """Whether an adapter makes all objects that have such an attribute, of classes of the project, with its own JSON.

    The adapter is this file; where it makes none, the files that it imports classes from.
    """
    name, whole = text.attr.value, text.value.attr.value if isinstance(text.value, cst.Attribute) else None
    for made in (_fields_made(there, name, whole) for there in (anatomy,)):
        if made:
            return all(made)
    return False


def _fields_made(anatomy: Anatomy, name: str, whole: str | None) -> list[bool]:
    """Whether each object of a class of the project that a file makes with a field gets JSON there that it writes.

    Not those that have the part `whole`, in which that object lies.
    """
    return [
        anatomy.facts.encoder(parts[name]) is not None
        for node, parts in anatomy.made
        if name in parts and whole not in parts and isinstance(node, cst.Call) and made_class(anatomy, node) is not None
    ]


def _encodes(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    return any(isinstance(node, cst.Call) and anatomy.facts.encoder(node) is not None for node in walk(value))


def part_of_call(anatomy: Anatomy, call: cst.Call, function: Scope) -> Evidence | None:
    kinds = anatomy.facts.kinds(call.args[0].value)
    for kind in (Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT, Kind.RESULT):
        if kind in kinds:
            return kinds[kind]
    if isinstance(anatomy.module.statement(call), cst.Return):
        return anatomy.facts.of(("return", function)).get(Kind.RESULT)
    return None


def is_rewritten(anatomy: Anatomy, call: cst.Call) -> bool:
    """An editor of stored calls: what is parsed of a message goes back into JSON text, changed, and no model is asked."""
    module, function = anatomy.module, anatomy.module.scope_of[call].function
    names, line = parsed_names(module, call), module.statement(call)
    uses = [use for name in names for use in uses_after(module, name, line, function.node)]
    above = [(module.parent[use], module.parent[module.parent[use]]) for use in uses]
    written = [on for _, on in above if isinstance(on, cst.Call) and anatomy.facts.encoder(on) is not None]
    edited = [on for part, on in above if isinstance(part, cst.Subscript) and isinstance(on, cst.AssignTarget)]
    only = bool(written and edited) and len(written) + len(edited) == len(uses)
    return only and not anatomy.calls.reaches_llm(function)
