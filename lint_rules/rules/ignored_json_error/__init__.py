"""# ignored-json-error (AGL501)

## What it does
Reports `json.loads` of JSON that a model wrote (tool-call arguments), and `json.dumps` of such values, where an
error ends the whole run, or is swallowed.

## Why is this bad
Models write malformed JSON now and then: a reply is cut at its token limit, a quote is not escaped, a tool without
parameters gets `""`. Where nothing stands between the parse and the round loop, one such call ends the run. Where the
handler puts `{}` in its place, the tool runs with its defaults (an empty path, a search for nothing), and the model
is never told to try again.

## Symptoms
- one malformed tool call ends the run
- a tool runs with no arguments, or with its defaults
- Python: `json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)`
- Python: `json.decoder.JSONDecodeError: Unterminated string starting at`
- Python: `TypeError: Object of type ... is not JSON serializable`

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
**Reported when** a decoder of JSON, `ast.literal_eval` or `eval` reads text that a model wrote as a call, and its error

1. leaves the round loop, or the loop over the attempts to get a reply: the run is over;
2. leaves a method or a reusable function, where the file has no round loop: the turn is over;
3. ends in a handler around the request as well, after which no other request follows, and which stores nothing, or no
   more than an answer in the model's name that does not say what has failed;
4. ends in a handler that puts `{}`, `""`, `[]` or `None` in its place, with which the call is made, untested;
5. ends in a handler that passes or logs, and nothing answers the call, or the text is then used as a dict;
6. or `json.dumps` of a part of a call is swallowed: such values then all look alike.

Text is a call where it is the arguments of a tool call, streamed `partial_json`, or what these flowed into; and a
model's text of which a name and arguments are read, or by which something is looked up and called, or of whose parts a
call is put together. A reply that says anything else counts in 1 alone.

**Followed**

- The error through the handlers around the parse, and those around the calls of the function, as far as the round
  loop; one that is raised in its place by its class.
- Text through names, parts, and functions of the file, and of other files that hand over what a model wrote.

**Silent when**

- a handler returns or stores anything that says more than a neutral value, and more than a log reads;
- the function raises an error of its own, or its docstring says what it raises: that is its callers' affair;
- the value that was put in its place is tested, or the function gives back `None`;
- another form of the text is tried, or the text itself goes on;
- a piece in braces or fences is no call: the words that tell one from the rest (`<tool_call>`, `ACTION:`) are missing;
- the text still grows, has been parsed before on all ways, was written by the program itself, or is of the past;
- a script without a loop that asks the user parses it.

## Known problems
Handlers in other files are not seen: a function that raises to a caller elsewhere is reported unless it raises an
exception of its own, or its docstring says so. Nor is it seen that a function has parsed the call, or all of them,
before, or that a `None` makes callers leave calls out.

## Fix safety
Unsafe: where the loop over calls stores a tool message behind the parse, a call that cannot be parsed is answered by
such a message with the error, and the loop goes on; where a function serves one call, and all that it returns are tool
messages, it returns one with the error. Elsewhere the shape of the answer is not known, and there is no fix; nor is
there one where the loop stores other messages with the answer, which it may need before it.

## References
- OpenAI, function calling guide: "the model does not always generate valid JSON"
- RFC 8259, The JavaScript Object Notation (JSON) Data Interchange Format
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Handling
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.ignored_json_error import outside
from lint_rules.rules.ignored_json_error.error_ways import SILENT, way_of_error
from lint_rules.rules.ignored_json_error.failed_parses import held_instead, is_dropped, value_instead
from lint_rules.rules.ignored_json_error.fixes import repair
from lint_rules.rules.ignored_json_error.model_json import part_of_call, written_by_model
from lint_rules.rules.ignored_json_error.parse_attempts import is_attempt
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.reaching import Definition

_UNTOLD = "the model is never told"
_HELP = (
    "catch the error where the call is answered, and answer it: append the tool message with the error text as content,"
    " so that the model can write the call again"
)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for node in anatomy.module.nodes_of(cst.Call):
        decodes, encodes = anatomy.facts.decoder(node) is not None, anatomy.facts.encoder(node) is not None
        function = anatomy.module.scope_of[node].function
        if not (decodes or encodes) or not node.args or isinstance(anatomy.module.statement(node), cst.Assert):
            continue
        if decodes:
            yield from _decoded(anatomy, node, function)
        else:
            yield from _encoded(anatomy, node, function)


def _decoded(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[Draft]:
    evidence = written_by_model(anatomy, call, function)
    if evidence is None:
        return
    given = call.args[0].value
    text = ex.source(given, 50)
    note = Note(evidence.root.node, f"written by the model: {evidence.root.clause}")
    way = way_of_error(anatomy, call, function, set())
    handling = way.handling or (handlers.handling_of(anatomy.module, call, way.errors) if way.told else None)
    if handling is not None:
        yield from _swallowed(anatomy, call, text, note, handling, function)
    elif way.ended is not None:
        if Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(given):
            message = f"malformed `{text}` ends the turn: the handler around it gives up, and the model is never told"
            at = Note(way.ended.handler, "this handler")
            yield Draft(call, message, _HELP, (note, at), fix=repair(anatomy, call, None))
    elif way.loop is not None:
        bad = "call" if Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(given) else "reply"
        message = (
            f"malformed `{text}` raises out of the round loop: one bad {bad} ends the run, the model is never told"
        )
        end = Note(way.loop.node, "the round loop that it ends")
        yield Draft(call, message, _HELP, (note, end), fix=repair(anatomy, call, None))
    elif handlers.shown_only(anatomy.module, call) or way.told:
        return
    elif way.talk is not None:
        message = f"malformed `{text}` ends the talk with the user: one bad call, and the model is never told"
        end = Note(way.talk, "the loop that asks the user, and is over then")
        yield Draft(call, message, _HELP, (note, end), fix=repair(anatomy, call, None))
    elif not way.script and outside.comes_from_outside(anatomy, given, function):
        message = (
            f"malformed `{text}` raises out of `{function.name}`: one bad call ends the turn, the model is never told"
        )
        yield Draft(call, message, _HELP, (note,), "medium", fix=repair(anatomy, call, None))


def _swallowed(
    anatomy: Anatomy, call: cst.Call, text: str, note: Note, handling: Handling, function: Scope
) -> Iterator[Draft]:
    if is_attempt(anatomy, call, handling, function):
        return
    neutral = value_instead(anatomy, call, handling, function)
    if neutral is not None:
        message = f"malformed `{text}` becomes `{ex.source(neutral)}`: the tool call goes on with it, {_UNTOLD}"
    elif is_dropped(anatomy, call, handling):
        held = [
            _told(definition, anatomy.module.statement(call)) for definition in held_instead(anatomy, call, handling)
        ]
        message = f"the error of parsing `{text}` is dropped: the call gets no result and the model is never told"
        if held:
            told = " or ".join(dict.fromkeys(held))
            message = f"malformed `{text}` is passed over: the tool call goes on with {told}, the model is never told"
    else:
        return
    at = Note(handling.handler, f"this handler {handling.ending.value}")
    yield Draft(call, message, _HELP, (note, at), fix=repair(anatomy, call, handling))


def _told(held: Definition, parse: cst.CSTNode) -> str:
    """What goes into the tool call for what could not be parsed."""
    if held.point.statement is parse:
        return "the arguments of the call before"
    return f"`{ex.source(held.value, 30)}`" if held.value is not None else f"what `{held.name}` held before"


def _encoded(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[Draft]:
    evidence = part_of_call(anatomy, call, function)
    if evidence is None:
        return
    handling = handlers.handling_of(anatomy.module, call, handlers.ENCODE_ERRORS)
    note = Note(evidence.root.node, f"part of a tool call: {evidence.root.clause}")
    if handling is None or handling.ending not in SILENT:
        return
    neutral = value_instead(anatomy, call, handling, function)
    if neutral is None:
        return
    message = (
        f"what cannot be serialized becomes `{ex.source(neutral)}`: all such values look alike, and nobody is told"
    )
    at = Note(handling.handler, f"this handler {handling.ending.value}")
    yield Draft(call, message, "compare the values themselves, or let the model see the error", (note, at))
