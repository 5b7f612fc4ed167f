"""# ignored-json-error (AGL501)

## What it does
Reports `json.loads` of JSON that a model wrote (tool-call arguments), and `json.dumps` of such values, where an
error ends the whole run, or is swallowed.

## Why is this bad
Models write malformed JSON now and then: a reply is cut at its token limit, a quote is not escaped, a tool without
parameters gets `""`. Where nothing stands between the parse and the round loop, one such call ends the run. Where the
handler puts `{}` in its place, the tool runs with its defaults (an empty path, a search for nothing), and the model
is never told to try again.

## Example
```python
def run(client, messages, tools):
    for _ in range(20):
        reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            try:
                arguments = json.loads(call.function.arguments)
            except json.JSONDecodeError:
                arguments = {}
            result = TOOLS[call.function.name](**arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
```

## Use instead
```python
def run(client, messages, tools):
    for _ in range(20):
        reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            try:
                arguments = json.loads(call.function.arguments or "{}")
            except json.JSONDecodeError as exc:
                result = f"Error: the arguments are not valid JSON: {exc}"
            else:
                result = TOOLS[call.function.name](**arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
```

## How it decides
The text must be known to come from a model: `function.arguments` and `arguments` of a tool call, streamed
`partial_json`, or a value that such text flowed into through this file's functions. Then the way of the error is
followed: to the handlers around the parse, and to those around the calls of the function, as far as the round loop.
A handler speaks for itself when it raises, returns or stores anything that says more than `{}`, `""`, `[]` or `None`.
Arguments that are looked for in two places are reported where the default of the first, the text `"{}"`, hides the
second: `f.get("arguments", "{}") or call.get("input")`.
Where there is no round loop in the file, methods and reusable functions are reported, scripts are not.

## Known problems
Handlers in other files are not seen: a function that raises on purpose to a caller elsewhere is reported unless it
raises an exception of its own.

## Fix safety
Unsafe: where the loop over calls ends in one tool message for each, a call that cannot be parsed is answered by such a
message with the error, and the loop goes on. Elsewhere the shape of the answer is not known, and there is no fix.

## References
- OpenAI, function calling guide: "the model does not always generate valid JSON"
- RFC 8259, The JavaScript Object Notation (JSON) Data Interchange Format
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.hidden_arguments import hidden_arguments
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values import dispatch, provenance
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.repairs.ignored_json_error import repair
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators
from lint_rules.syntax.walk import walk

_HELP = (
    "catch the error where the call is answered, and answer it: append the tool message with the error text as content,"
    " so that the model can write the call again"
)
_DEEPEST = 8


@dataclass(frozen=True, eq=False, slots=True)
class _Fate:
    """What becomes of the error: swallowed by a handler, out of a round loop, told to somebody, or out of the file.

    `script` is set where all ways out of the file end in module-level code.
    """

    handling: Handling | None = None
    loop: RoundLoop | None = None
    told: bool = False
    script: bool = False


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for node in anatomy.module.nodes_of(cst.Call):
        scope = anatomy.module.scope_of[node]
        if not node.args or _is_test(anatomy, node, scope.function):
            continue
        if anatomy.facts.decoder(node) is not None:
            yield from _decoded(anatomy, node, scope.function)
        elif anatomy.facts.encoder(node) is not None:
            yield from _encoded(anatomy, node, scope.function)
    for first, second in hidden_arguments(anatomy):
        yield _hidden(first, second)


def _hidden(first: cst.Call, second: cst.BaseExpression) -> Draft:
    message = (
        f"`{ex.source(first, 45)}` is never empty, so that `{ex.source(second, 35)}` is never read:"
        " the tool runs without the arguments of such a call"
    )
    return Draft(first, message, "leave the default out, and put it behind the last `or`", (Note(second, "this"),))


def _is_test(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    return function.name.startswith("test") or isinstance(anatomy.module.statement(call), cst.Assert)


# -- decoding -------------------------------------------------------------------------------------------------


def _decoded(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[Draft]:
    given = call.args[0].value
    evidence = _written_by_model(anatomy, call, function)
    if evidence is None or _own_json(anatomy, call, function) or _is_made_here(anatomy, call, evidence):
        return
    text = ex.source(given, 50)
    note = Note(evidence.root.node, f"written by the model: {evidence.root.clause}")
    fate = _fate(anatomy, call, function, set())
    if fate.handling is not None:
        yield from _swallowed(anatomy, call, text, note, fate.handling, function)
    elif fate.loop is not None:
        message = f"malformed `{text}` raises out of the round loop: one bad call ends the run, the model is never told"
        notes = (note, Note(fate.loop.node, "the round loop that it ends"))
        yield Draft(call, message, _HELP, notes, fix=repair(anatomy, call, None))
    elif handlers.shown_only(anatomy.module, call) or fate.told or fate.script or _is_rewritten(anatomy, call):
        return
    elif provenance.comes_from_outside(anatomy, given, function):
        message = (
            f"malformed `{text}` raises out of `{function.name}`: one bad call ends the turn, the model is never told"
        )
        yield Draft(call, message, _HELP, (note,), "medium", fix=repair(anatomy, call, None))


def _written_by_model(anatomy: Anatomy, call: cst.Call, function: Scope) -> Evidence | None:
    """Evidence that the text is a tool call's arguments, or model text that is parsed as a tool request."""
    kinds = anatomy.facts.kinds(call.args[0].value)
    if Kind.ARGUMENTS_TEXT in kinds:
        return kinds[Kind.ARGUMENTS_TEXT]
    if Kind.MODEL_TEXT in kinds and dispatch.reads_tool_request(anatomy.facts, call, function):
        return kinds[Kind.MODEL_TEXT]
    return dispatch.runs_tool_with(anatomy.facts, call, function)


def _is_made_here(anatomy: Anatomy, call: cst.Call, evidence: Evidence) -> bool:
    """What shows the call is a dict of this file whose arguments are written by `json.dumps`: never malformed.

    For `literal_eval` it may be: `true` and `null` are no Python.
    """
    if ex.called_name(call) == "literal_eval":
        return False
    function = ex.dict_items(evidence.root.node).get("function") if isinstance(evidence.root.node, cst.Dict) else None
    arguments = ex.dict_items(function).get("arguments") if function is not None else None
    return arguments is not None and anatomy.facts.encoder(arguments) is not None


def _own_json(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Arguments this file has written itself with `json.dumps`, read back from messages: never malformed."""
    if isinstance(call.args[0].value, cst.Attribute) or not provenance.renders_the_past(anatomy, call, function):
        return False
    return any(
        "arguments" in (items := ex.dict_items(node)) and any(anatomy.facts.encoder(n) for n in walk(items["arguments"])
        if isinstance(n, cst.Call))
        for node in anatomy.module.scope_of
        if isinstance(node, cst.Dict)
    )  # fmt: skip


def _is_rewritten(anatomy: Anatomy, call: cst.Call) -> bool:
    """An editor of stored calls: what is parsed of a message that was looked up goes back into JSON text, changed."""
    function, statement = anatomy.module.scope_of[call].function, anatomy.module.statement(call)
    if not isinstance(statement, cst.Assign) or anatomy.calls.reaches_llm(function):
        return False
    if not provenance.is_looked_up(anatomy, call):
        return False
    names = [name for target in statement.targets for name in ex.target_names(target.target)]
    uses = [use for name in names for use in handlers.uses_after(anatomy.module, name, statement, function.node)]
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


# -- the way of the error -------------------------------------------------------------------------------------


def _fate(anatomy: Anatomy, node: cst.CSTNode, function: Scope, seen: set[Scope]) -> _Fate:
    """Follow an error from `node` outwards: handlers up to the round loop, then the calls of the function."""
    seen.add(function)
    loop = _loop_around(anatomy, node, function)
    handling = handlers.handling_of(anatomy.module, node, handlers.LITERAL_ERRORS, loop.node if loop else None)
    if handling is not None:
        return _Fate(handling=handling) if handling.ending in _SILENT_ENDINGS else _Fate(told=True)
    if _kept_by_gather(anatomy, node) or _caught_by_decorator(anatomy, function) or _raises_by_contract(function):
        return _Fate(told=True)
    if loop is not None:
        return _Fate(loop=loop)
    sites = [site for site in anatomy.calls.sites[function] if site.caller not in seen]
    fates = [_fate(anatomy, site.node, site.caller, seen) for site in sites]
    for wanted in ("loop", "handling", "told"):
        for fate in fates:
            if getattr(fate, wanted):
                return fate
    if function.kind == "module":
        return _Fate(script=True)
    return _Fate(script=bool(fates) and all(fate.script for fate in fates) and function.owner is None)


_SILENT_ENDINGS = (Ending.NEUTRAL, Ending.DROPS)


def _raises_by_contract(function: Scope) -> bool:
    """A docstring that says the function raises when the text is not valid."""
    text = function.node.get_docstring() if isinstance(function.node, cst.FunctionDef) else None
    return text is not None and re.search(r"raises?\b.*(JSONDecodeError|ValueError)", text, re.I | re.S) is not None


def _kept_by_gather(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """`gather(..., return_exceptions=True)` hands errors over as values."""
    for outer in anatomy.module.ancestors(node):
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


def _loop_around(anatomy: Anatomy, node: cst.CSTNode, function: Scope) -> RoundLoop | None:
    around = [
        loop for loop in anatomy.rounds if loop.function is function and anatomy.module.inside(node, loop.node.body)
    ]
    return max(around, key=lambda loop: anatomy.module.order[loop.node], default=None)


def _swallowed(
    anatomy: Anatomy, call: cst.Call, text: str, note: Note, handling: Handling, function: Scope
) -> Iterator[Draft]:
    if (
        _is_streaming(anatomy, call, function)
        or _is_probe(anatomy, call, handling)
        or provenance.renders_the_past(anatomy, call, function)
    ):
        return
    at = Note(handling.handler, f"this handler {handling.ending.value}")
    neutral = _value_instead(anatomy, call, handling, function)
    if neutral is not None:
        message = (
            f"malformed `{text}` becomes `{ex.source(neutral)}`: the tool call goes on with it, the model is never told"
        )
        yield Draft(call, message, _HELP, (note, at), fix=repair(anatomy, call, handling))
    elif handling.ending is Ending.DROPS and not _goes_on(anatomy, call, handling) and _is_put_to_use(anatomy, call):
        message = f"the error of parsing `{text}` is dropped: the call gets no result and the model is never told"
        yield Draft(call, message, _HELP, (note, at), fix=repair(anatomy, call, handling))


def _value_instead(anatomy: Anatomy, call: cst.Call, handling: Handling, function: Scope) -> cst.BaseExpression | None:
    """The neutral value that goes on in place of the failed one; None where there is none, or it is tested or shown."""
    if handling.ending is Ending.DROPS:
        return _returned_after(anatomy, call, handling)
    neutral, target = handling.neutral, handling.target
    if neutral is None:
        return None
    if target is None:
        is_none = isinstance(neutral, cst.Name)
        if not _hands_back(anatomy, call, function):
            return None
        return _replaced_by_callers(anatomy, function) if is_none else neutral
    if not isinstance(target, cst.Name):  # part of a message: harmful while a reply is read, not in a rendered past
        return neutral if anatomy.calls.reaches_llm(function) or _is_streamed(anatomy, call) else None
    uses = handlers.uses_after(anatomy.module, target.value, handling.guard, function.node)
    if any(handlers.is_tested(anatomy.module, use, neutral) for use in uses):
        return None
    flowing = [use for use in uses if handlers.flows_on(anatomy.module, use)]
    read = provenance.reads_reply(anatomy, call)
    return neutral if any(read or not _is_sent_back(anatomy, use) for use in flowing) else None


def _is_sent_back(anatomy: Anatomy, use: cst.Name) -> bool:
    """Whether a value goes into a `tool_use` block: a past call put into another provider's form, that runs nothing."""
    return any(
        ex.text(items["type"]) == "tool_use"
        for outer in anatomy.module.ancestors(use)
        if isinstance(outer, cst.Dict) and "type" in (items := ex.dict_items(outer))
    )


def _hands_back(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Whether the function gives back what it parsed: a title or a hint that is made of it may well be empty."""
    statement = anatomy.module.statement(call)
    names: set[str] = set()
    if isinstance(statement, (cst.Assign, cst.AnnAssign)):
        targets = ex.targets(statement)
        names = {name for target in targets for name in ex.target_names(target)}
    for node in function.nodes:
        if isinstance(node, cst.Return) and node.value is not None:
            for part in ex.alternatives(node.value):
                if part is call or (isinstance(part, cst.Name) and part.value in names):
                    return True
    return isinstance(statement, cst.Return)


def _is_probe(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """A parse that only asks whether text is JSON yet, or which of several forms a model's text has."""
    if isinstance(anatomy.module.parent.get(call), cst.Expr):
        return handling.ending is not Ending.DROPS or _falls_through(handling)
    return Kind.ARGUMENTS_TEXT not in anatomy.facts.kinds(call.args[0].value) and (
        Kind.MODEL_TEXT in anatomy.facts.kinds(call.args[0].value)
    )


def _is_streamed(anatomy: Anatomy, call: cst.Call) -> bool:
    evidence = anatomy.facts.kinds(call.args[0].value).get(Kind.ARGUMENTS_TEXT)
    return evidence is not None and any("stream" in e.reason or "pieces" in e.reason for e in evidence.chain())


def _returned_after(anatomy: Anatomy, call: cst.Call, handling: Handling) -> cst.BaseExpression | None:
    """`try: return json.loads(x)` / `except: pass` / `return {}`: what comes right after takes the value's place."""
    if not any(isinstance(n, cst.Return) for n in walk(handling.guard.body)):
        return None
    following = next(iter(_after(anatomy, handling.guard)), None)
    if isinstance(following, cst.SimpleStatementLine) and isinstance(following.body[0], cst.Return):
        value = following.body[0].value
        if value is not None and handlers.is_neutral(value) and not isinstance(value, cst.Name):
            return value
    return None


def _after(anatomy: Anatomy, node: cst.CSTNode) -> list[cst.CSTNode]:
    block = anatomy.module.parent[node]
    body: list[cst.CSTNode] = list(block.body) if isinstance(block, (cst.IndentedBlock, cst.Module)) else []
    return body[body.index(node) + 1 :] if node in body else []


def _replaced_by_callers(anatomy: Anatomy, function: Scope) -> cst.BaseExpression | None:
    """The `{}` of `parse(text) or {}`: a None that says "failed" is taken for "no arguments"."""
    for site in anatomy.calls.sites[function]:
        parent = anatomy.module.parent.get(site.node)
        if isinstance(parent, cst.BooleanOperation) and isinstance(parent.operator, cst.Or):
            if parent.left is site.node and handlers.is_neutral(parent.right):
                return parent.right
    return None


def _goes_on(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether something else is tried, or the text itself is kept: `x = json.loads(x)` that fails leaves x as it is."""
    statement = anatomy.module.statement(call)
    if isinstance(statement, cst.Return) or _text_goes_on(anatomy, call, handling):
        return True
    if not isinstance(statement, cst.Assign):
        return False
    if _falls_through(handling) and _keeps_its_value(anatomy, statement, call):
        return True
    return any(isinstance(outer, cst.For) and _varies(outer, call) for outer in anatomy.module.ancestors(call))


def _falls_through(handling: Handling) -> bool:
    """Whether the code after the handler runs on, instead of the next turn of a loop."""
    return not any(isinstance(n, (cst.Continue, cst.Break, cst.Return)) for n in walk(handling.handler.body)) or (
        isinstance(handling.handler, cst.With)
    )


def _keeps_its_value(anatomy: Anatomy, statement: cst.Assign, call: cst.Call) -> bool:
    """`x = json.loads(x)`, `b = b.with_input(json.loads(raw))`: what fails leaves the name with what it had."""
    target = statement.targets[0].target
    slot = anatomy.facts.slots.of(target)
    if slot is not None and slot == anatomy.facts.slots.of(call.args[0].value):
        return True
    return (
        isinstance(target, cst.Name)
        and statement.value is not call
        and any(isinstance(n, cst.Name) and n.value == target.value for n in walk(statement.value))
    )


def _is_put_to_use(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a parsed value is run or stored; one that is only looked into (a search, a test) loses no call."""
    statement = anatomy.module.statement(call)
    if not isinstance(statement, (cst.Assign, cst.AnnAssign)):
        return True
    targets = ex.targets(statement)
    names = {name for target in targets for name in ex.target_names(target)}
    function = anatomy.module.scope_of[call].function
    uses = [n for n in function.nodes if isinstance(n, cst.Name) and n.value in names]
    return not names or any(
        handlers.flows_on(anatomy.module, use)
        and not any(isinstance(o, cst.Comparison) for o in anatomy.module.ancestors(use))
        for use in uses
        if not isinstance(anatomy.module.parent.get(use), cst.AssignTarget)
    )


def _text_goes_on(anatomy: Anatomy, call: cst.Call, handling: Handling) -> bool:
    """Whether the text itself is used further down: what could not be parsed is passed on as it is."""
    given = call.args[0].value
    if not isinstance(given, cst.Name) or not _falls_through(handling):
        return False
    function = anatomy.module.scope_of[call].function
    uses = handlers.uses_after(anatomy.module, given.value, handling.guard, function.node)
    return any(not handlers.shown_only(anatomy.module, use) for use in uses)


def _varies(loop: cst.For, call: cst.Call) -> bool:
    """A loop over repairs: what is parsed is put together anew each time (`text + ending`)."""
    names = set(ex.target_names(loop.target))
    given = call.args[0].value
    return isinstance(given, cst.BinaryOperation) and any(
        isinstance(n, cst.Name) and n.value in names for n in walk(given)
    )


def _is_streaming(anatomy: Anatomy, call: cst.Call, function: Scope) -> bool:
    """Text that has just grown, in a loop: a try at each piece is a display of what there is so far."""
    slot = anatomy.facts.slots.of(call.args[0].value)
    loop = next((n for n in anatomy.module.ancestors(call) if isinstance(n, (cst.For, cst.While))), None)
    if slot is None or loop is None:
        return False
    for node in function.nodes:
        if isinstance(node, cst.AugAssign) and anatomy.facts.slots.of(node.target) == slot:
            if anatomy.module.inside(node, loop) and _comes_next(anatomy, node, call, loop):
                return True
    return False


def _comes_next(anatomy: Anatomy, piece: cst.AugAssign, call: cst.Call, loop: cst.For | cst.While) -> bool:
    """Whether the try follows the piece in one turn of the loop, and no test of the event stands before it."""
    blocks = [node for node in anatomy.module.ancestors(piece) if isinstance(node, cst.IndentedBlock)]
    for block in blocks:
        if anatomy.module.inside(call, block):
            return block is blocks[0] or not _tests_the_event(anatomy, call, block, loop)
        branch = anatomy.module.parent[block]
        alone = isinstance(branch, cst.If) and branch.orelse is None
        if not alone or isinstance(anatomy.module.parent[branch], cst.If):
            return False
    return False


def _tests_the_event(anatomy: Anatomy, call: cst.Call, block: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    """Whether an `if` between the block and the parse asks what the event is: it may be the one that ends the text."""
    events = set(ex.target_names(loop.target)) if isinstance(loop, cst.For) else set()
    for node in walk(loop.body):
        if isinstance(node, cst.Assign) and any(
            isinstance(n, cst.Name) and n.value in events for n in walk(node.value)
        ):
            events.update(name for target in node.targets for name in ex.target_names(target.target))
    events -= {n.value for n in walk(call.args[0].value) if isinstance(n, cst.Name)}  # what the text is kept in
    for node in anatomy.module.ancestors(call):
        if node is block:
            return False
        if isinstance(node, cst.If) and any(isinstance(n, cst.Name) and n.value in events for n in walk(node.test)):
            return True
    return False


# -- encoding -------------------------------------------------------------------------------------------------


def _encoded(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[Draft]:
    evidence = _arguments_or_result(anatomy, call, function)
    if evidence is None:
        return
    handling = handlers.handling_of(anatomy.module, call, handlers.ENCODE_ERRORS)
    if handling is None or handling.ending not in _SILENT_ENDINGS:
        return
    neutral = _value_instead(anatomy, call, handling, function)
    if neutral is None:
        return
    message = (
        f"what cannot be serialized becomes `{ex.source(neutral)}`: all such values look alike, and nobody is told"
    )
    note = Note(evidence.root.node, f"part of a tool call: {evidence.root.clause}")
    at = Note(handling.handler, f"this handler {handling.ending.value}")
    yield Draft(call, message, "compare the values themselves, or let the model see the error", (note, at))


def _arguments_or_result(anatomy: Anatomy, call: cst.Call, function: Scope) -> Evidence | None:
    kinds = anatomy.facts.kinds(call.args[0].value)
    for kind in (Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT, Kind.RESULT):
        if kind in kinds:
            return kinds[kind]
    if isinstance(anatomy.module.statement(call), cst.Return):
        return anatomy.facts.of(("return", function)).get(Kind.RESULT)
    return None
