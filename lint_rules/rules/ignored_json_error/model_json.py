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
from lint_rules.syntax import expressions as ex
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
    """Arguments this file has written itself with `json.dumps`: never malformed. What comes out of a reply is not.

    They are read back from messages, or out of objects that an adapter makes, but for the part in which those lie; or
    from calls, of which the class makes all with such arguments.
    """
    text, facts = call.args[0].value, anatomy.facts
    if outside.reads_reply(anatomy, call):
        return False
    if isinstance(text, cst.Attribute):
        name, whole = text.attr.value, text.value.attr.value if isinstance(text.value, cst.Attribute) else None
        parts_of = [parts for node, parts in anatomy.made if isinstance(node, cst.Call) and made_class(anatomy, node)]
        made = [facts.encoder(parts[name]) is not None for parts in parts_of if name in parts and whole not in parts]
    else:
        told = [(node, _encodes(anatomy, parts["arguments"])) for node, parts in anatomy.made if "arguments" in parts]
        owners = [(anatomy.module.scope_of[node].function.owner, encoded) for node, encoded in told]
        of_class = [encoded for owner, encoded in owners if owner is not None and owner is function.owner]
        if of_class and all(of_class) and _is_read_by_key(anatomy, text):
            return True
        made = [encoded for _, encoded in told]
    return bool(made) and all(made) and outside.renders_the_past(anatomy, call, function)


def _is_read_by_key(anatomy: Anatomy, text: cst.BaseExpression) -> bool:
    """`call["arguments"]`, `call.get("arguments")`, also by a name: not what a stream brings."""
    pairs = [ex.member(ex.inner(value)) for value in anatomy.facts.values_of(text) or [text]]
    return all(pair is not None and pair[1] == "arguments" for pair in pairs)


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
    """An editor of stored calls: what is parsed of a message goes back into JSON text, changed; it asks no model."""
    module, function = anatomy.module, anatomy.module.scope_of[call].function
    names, line = parsed_names(module, call), module.statement(call)
    uses = [use for name in names for use in uses_after(module, name, line, function.node)]
    above = [(module.parent[use], module.parent[module.parent[use]]) for use in uses]
    written = [on for _, on in above if isinstance(on, cst.Call) and anatomy.facts.encoder(on) is not None]
    edited = [on for part, on in above if isinstance(part, cst.Subscript) and isinstance(on, cst.AssignTarget)]
    only = bool(written and edited) and len(written) + len(edited) == len(uses)
    return only and not anatomy.calls.reaches_llm(function)
