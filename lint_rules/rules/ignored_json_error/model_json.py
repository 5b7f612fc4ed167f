"""JSON of tool calls: texts of a model that a file parses, and values of calls that it writes as JSON.

Both give the evidence that it is a call's, or None: also where the file itself has written the text, which is then
never malformed.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import without_calls
from lint_rules.anatomy.messages.classes import body, class_names, made_class
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.rules.ignored_json_error import dispatch, outside
from lint_rules.rules.ignored_json_error.error_ways import way_of_error
from lint_rules.rules.ignored_json_error.parse_attempts import is_marked
from lint_rules.rules.ignored_json_error.uses import uses_after
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.elements import counted
from lint_rules.syntax.graph import Point
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

_NONE_TRIED: tuple[tuple[cst.Call, str], ...] = ()
_NO_SLOTS: frozenset[Slot] = frozenset()


def written_by_model(anatomy: Anatomy, call: cst.Call, function: Scope) -> Evidence | None:
    """Evidence that what a call parses was written by a model, and by no `json.dumps` of this file."""
    evidence = _evidence(anatomy, call, function) or _ends_rounds(anatomy, call, function)
    if evidence is None or _own_json(anatomy, call, function):
        return None
    if _is_of_call(anatomy, call) and _is_run_without_calls(anatomy, function):
        return None
    return None if _is_tried_before(anatomy, call, function) else evidence


def _is_of_call(anatomy: Anatomy, call: cst.Call) -> bool:
    """`json.loads(call.function.arguments)`: not what looks for calls in a text."""
    pair = ex.member(call.args[0].value)
    return pair is not None and not anatomy.facts.kinds(pair[0]).keys().isdisjoint({Kind.CALL, Kind.FUNCTION})


def _is_run_without_calls(anatomy: Anatomy, function: Scope) -> bool:
    """Whether the file runs a function only where a test has told that the reply has no calls: `if not calls: f()`."""
    sites = [site.node for site in anatomy.calls.sites[function]]
    if not sites or anatomy.calls.references.get(function):
        return False
    return all(
        any(
            isinstance(tested, cst.If) and _tells_of_none(anatomy, tested.test) is holds
            for tested, holds in passed(anatomy.module, site)
        )
        for site in sites
    )


def _tells_of_none(anatomy: Anatomy, test: cst.BaseExpression) -> bool | None:
    """What a test gives just where there are no calls; None for one that asks for something else as well."""
    plain = ex.inner(test)
    while isinstance(plain, cst.UnaryOperation) and isinstance(plain.operator, cst.Not):
        plain = ex.inner(plain.expression)
    return None if isinstance(plain, cst.BooleanOperation) else without_calls(anatomy.facts, test)


def _is_tried_before(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Whether on all ways here the text has been parsed before, and those on which that fails lead elsewhere.

    By a function of this file, `if is_json(text): json.loads(text)`, by the same parse in this one, by a function
    of this file that got the call, or all of them, and has run it, or by whoever calls this one.
    """
    text = ex.source(call.args[0].value, 400)
    fails = {test: False for test, tried in _trials(anatomy, function) if tried == text}
    here = anatomy.points(function, [call])
    parsed = {alike for point in here for alike in _parses(anatomy, function).get(point, ())}.difference(here)
    return (
        _comes_behind(anatomy, call, function, call.args[0].value, parsed, fails)
        or any(
            _comes_behind(anatomy, call, function, handed, {*anatomy.points(function, [run])}, {})
            for run, handed in _runs_with_it(anatomy, call, function)
        )
        or any(_is_checked(anatomy, calls) for calls in _gone_through(anatomy, call))
        or _is_tried_by_callers(anatomy, call.args[0].value, function)
    )


def _gone_through(anatomy: Anatomy, call: cst.Call) -> list[cst.BaseExpression]:
    """The lists of calls through which the loops around a parse go."""
    loops = (outer for outer in anatomy.module.ancestors(call) if isinstance(outer, cst.For))
    return [calls for calls in (counted(loop.iter) for loop in loops) if anatomy.facts.is_kind(calls, Kind.CALLS)]


def _is_checked(anatomy: Anatomy, calls: cst.BaseExpression) -> bool:
    """`calls = checked(calls)`: whether a function of the project that parses what they say has given them back."""
    made = anatomy.facts.values_of(calls)
    runs = [body(anatomy, value) for value in made]
    return bool(runs) and all(run is not None and run[1] in _parsing(run[0], run[0].module.top) for run in runs)


def _is_tried_by_callers(anatomy: Anatomy, text: cst.BaseExpression, function: Scope) -> bool:
    """Whether all that call a function of this file have parsed the text that they hand to it, or written it."""
    root, sites = ex.owner(text), anatomy.calls.sites[function]
    slot = anatomy.facts.slots.of(root)
    if slot is None or not is_parameter(slot) or slot[1] is not function or anatomy.calls.references.get(function):
        return False
    inside = ex.source(text, 400).removeprefix(ex.source(root, 400))
    given = [(site, dict(anatomy.facts.slots.bindings(site.node, function)).get(slot)) for site in sites]
    return bool(given) and all(
        value is not None
        and _comes_behind(
            anatomy,
            site.node,
            site.caller,
            value,
            _settled(anatomy, site.caller).get(ex.source(value) + inside, set()),
            {},
        )
        for site, value in given
    )


@kept
def _settled(anatomy: Anatomy, function: Scope) -> dict[str, set[Point]]:
    """Where a function parses a text, or writes it by `json.dumps`: by the words for it."""
    found: dict[str, set[Point]] = {}
    for call in function.nodes_of(cst.Call):
        told = [call.args[0].value] if call.args and anatomy.facts.decoder(call) is not None else []
        line = anatomy.module.parent[call] if anatomy.facts.encoder(call) is not None else None
        for text in [*told, *(ex.targets(line) if isinstance(line, cst.Assign) else ())]:
            found.setdefault(ex.source(text, 400), set()).update(anatomy.points(function, [call]))
    return found


def _comes_behind(
    anatomy: Anatomy,
    call: cst.Call,
    function: Scope,
    value: cst.BaseExpression,
    parsed: set[Point],
    fails: dict[cst.Call, bool],
) -> bool:
    """Whether all ways to a call, since a value was bound, lead over points that have parsed it, or tests that fail."""
    if not fails and not parsed:
        return False
    here = anatomy.points(function, [call])

    def says(node: cst.CSTNode) -> bool | None:
        """What a test gives where the text is no JSON."""
        return evaluate(node.test, fails.get) if isinstance(node, (cst.If, cst.While)) else None  # type: ignore[arg-type]

    graph = anatomy.flow(function)
    failed = (target for point in parsed for target, kind in point.successors if kind == "exception")
    starts = [graph.entry, *failed, *_bound_anew(anatomy, value, function)]
    return anatomy.ways(function).path(starts, set(here), parsed, says=says) is None


def _runs_with_it(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """Calls of functions of this file that get the call that is in hand here, or all of them, and parse it."""
    listed = _gone_through(anatomy, call)
    for handed in (call.args[0].value, *listed):
        slot = anatomy.facts.slots.of(handed)
        whole = root_object(slot) if slot is not None and handed not in listed else slot
        yield from ((node, handed) for node in _given_to_parse(anatomy, function).get(whole, ()))


@kept
def _given_to_parse(anatomy: Anatomy, function: Scope) -> dict[Slot | None, list[cst.Call]]:
    """What a function hands to others of this file that parse arguments, and where."""
    found: dict[Slot | None, list[cst.Call]] = {}
    for node in function.nodes_of(cst.Call):
        if anatomy.facts.slots.callee(node) in _parsing(anatomy, anatomy.module.top):
            for slot in {anatomy.facts.slots.of(arg.value) for arg in node.args} - {None}:
                found.setdefault(slot, []).append(node)
    return found


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
def _parses(anatomy: Anatomy, function: Scope) -> dict[Point, frozenset[Point]]:
    """Where a function parses what is parsed at a point, in the same way: one text, of names that mean the same."""
    found: dict[object, set[Point]] = {}
    for call in function.nodes_of(cst.Call):
        if call.args and anatomy.facts.decoder(call) is not None:
            value = call.args[0].value
            names = sorted(names_in(value))
            for point in anatomy.points(function, [call]):
                bound = tuple(frozenset(anatomy.reaching(function).at(point, name)) for name in names)
                found.setdefault((ex.called_name(call), ex.source(value, 400), bound), set()).add(point)
    return {point: frozenset(alike) for alike in found.values() for point in alike}


def _bound_anew(anatomy: Anatomy, value: cst.BaseExpression, function: Scope) -> list[Point]:
    """Where what a value is read of is bound: another text, from there on."""
    names = names_in(value)
    return [each.point for each in anatomy.reaching(function).definitions if each.name in names]


@once(circular=_NONE_TRIED)
def _trials(anatomy: Anatomy, function: Scope) -> tuple[tuple[cst.Call, str], ...]:
    """The calls that parse a text, and give something false where that fails; each with the text."""
    return tuple(
        (call, ex.source(tried, 400)) for call in function.nodes_of(cst.Call) for tried in _tried(anatomy, call)
    )


def _tried(anatomy: Anatomy, call: cst.Call) -> Iterator[cst.BaseExpression]:
    callee = anatomy.facts.slots.callee(call)
    if callee is not None and (tried := _tried_by(anatomy, callee)):
        yield from (value for slot, value in anatomy.facts.slots.bindings(call, callee) if slot in tried)


@once(circular=_NO_SLOTS)
def _tried_by(anatomy: Anatomy, function: Scope) -> frozenset[Slot]:
    """The parameters that a function parses, to give something false where that fails."""
    found = set()
    for parse in function.nodes_of(cst.Call):
        if not parse.args or anatomy.facts.decoder(parse) is None:
            continue
        handling = handlers.handling_of(anatomy.module, parse, handlers.JSON_ERRORS)
        returned = [n for n in walk(handling.handler) if isinstance(n, cst.Return)] if handling is not None else []
        slot = anatomy.facts.slots.of(parse.args[0].value)
        if slot is not None and returned:
            if all(n.value is None or ex.source(n.value) in {"False", "None"} for n in returned):
                found.add(slot)
    return frozenset(found)


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
        own = _is_made_by_file(anatomy, text) or outside.renders_the_past(anatomy, call, function)
        return own and _is_made_encoded(anatomy, text)
    made = [
        (anatomy.module.scope_of[node].function.owner, _encodes(anatomy, parts["arguments"]))
        for node, parts in anatomy.made
        if "arguments" in parts
    ]
    of_class = [encoded for owner, encoded in made if owner is not None and owner is function.owner]
    if of_class and all(of_class) and _is_read_by_key(anatomy, call.args[0].value):
        return True
    return bool(made) and all(encoded for _, encoded in made) and outside.renders_the_past(anatomy, call, function)


def _is_made_by_file(anatomy: Anatomy, text: cst.Attribute) -> bool:
    """Whether a parameter that a text lies in is of a class of which the file makes objects."""
    slot = anatomy.facts.slots.of(text)
    root = root_object(slot) if slot is not None else None
    made = {ex.called_name(node) for node, _ in anatomy.made if isinstance(node, cst.Call)}
    return root is not None and is_parameter(root) and not made.isdisjoint(class_names(anatomy, root))


def _is_made_encoded(anatomy: Anatomy, text: cst.Attribute) -> bool:
    """Whether an adapter makes all objects that have such an attribute, of classes of the project, with its own JSON.

    The adapter is this file; where it makes none, the files that it imports classes from.
    """
    name, whole = text.attr.value, text.value.attr.value if isinstance(text.value, cst.Attribute) else None
    for made in (_fields_made(there, name, whole) for there in (anatomy, *_files_of_classes(anatomy))):
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


def _files_of_classes(anatomy: Anatomy) -> Iterator[Anatomy]:
    """The files of the project that a file imports classes from, each once."""
    near = (anatomy.defined_elsewhere(name, "class") for name in anatomy.module.imports.full)
    files = {found[0].path: found[0] for found in near if found is not None}
    yield from (there for file in files.values() if (there := file.anatomy) is not None)


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
    """An editor of stored calls: what is parsed of a message that was looked up goes back into JSON text, changed."""
    function, statement = anatomy.module.scope_of[call].function, anatomy.module.statement(call)
    if not isinstance(statement, cst.Assign) or anatomy.calls.reaches_llm(function):
        return False
    if not outside.is_looked_up(anatomy, call):
        return False
    names = [name for target in statement.targets for name in ex.target_names(target.target)]
    uses = [use for name in names for use in uses_after(anatomy.module, name, statement, function.node)]
    written = [use for use in uses if _is_encoded(anatomy, use)]
    edited = [use for use in uses if _is_stored_into(anatomy, use)]
    return bool(written and edited) and len(written) + len(edited) == len(uses)


def _is_encoded(anatomy: Anatomy, use: cst.Name) -> bool:
    """`json.dumps(use)`."""
    call = anatomy.module.parent.get(anatomy.module.parent[use])
    return isinstance(call, cst.Call) and anatomy.facts.encoder(call) is not None


def _is_stored_into(anatomy: Anatomy, use: cst.Name) -> bool:
    """`use[key] = value`."""
    parent = anatomy.module.parent[use]
    return isinstance(parent, cst.Subscript) and isinstance(anatomy.module.parent[parent], cst.AssignTarget)
