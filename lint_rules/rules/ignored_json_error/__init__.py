"""# ignored-json-error (AGL501)

## What it does
Reports JSON of a model (the arguments of a tool call, or a call in its text) that a program parses, where the error of
a malformed text ends the run or the turn, or is swallowed. Also `json.dumps` of parts of a call, where a value that
says nothing takes the place of what cannot be written.

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
The text must be known to come from a model, and is read by a decoder of JSON, `ast.literal_eval` or `eval`.

**Reported when** its error

1. leaves a round loop, or one that asks again for a reply that is not right: this also for text that is no call
2. leaves a method or a function of a file without a round loop, which gets the text from its caller, its object or a
   model; of scripts only the loop that asks the user, which is over then
3. comes to a handler that stands around the request as well, from where no other request follows for this call, and
   nothing is stored but an answer in the model's name; the function answers calls, or gives them on by their names
4. comes to a handler that puts `{}`, `""`, `[]`, `None` or a dict of these in its place, also by `return` (but for
   `None`), and that is stored, or handed to a call, a caller or a comparison, and no test tells it from what was parsed
5. comes to a handler that only logs or ignores it, where what is parsed would be run, stored or given back

**Followed**

- the text: what arguments of a call and streamed pieces flow into, also in functions of other files
- a call in a model's text: a name and arguments are read of what is parsed, or stand beside it in the text, or words
  tell it from the rest (`<tool_call>`, `ACTION:`); braces and fences alone tell nothing
- the error: over the handlers around the parse and around the calls of the function in its file, as far as the round
  loop; one that is raised in its place by its class

**Silent when**

- the handler returns or stores anything that says more, and more than a log reads
- the error leaves the file as an exception of its own, or the docstring says that it is raised
- the text has been parsed or tested before on all ways here, by whom it comes or by what got the call; or the calls are
  parsed once more behind the loop, and here only looked at
- the text is what is there so far of a stream, was written by the file itself, or lies in a past that is rendered
- something else is tried then, the text itself goes on, or the function raises in the end
- a call in a model's text is passed over, and something that is no reply is stored behind it

## Known problems
Handlers in other files are not seen: a function that raises to a caller elsewhere is reported unless it raises an
exception of its own, or its docstring says so. Nor is a handler reported that puts a dict of its own or the text in
the place (`{"raw": text}`), or a `None` by which callers leave the call out.

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
from lint_rules.finding import Confidence
from lint_rules.rules.draft import Draft, Note
from lint_rules.rules.ignored_json_error import outside
from lint_rules.rules.ignored_json_error.error_ways import way_of_error
from lint_rules.rules.ignored_json_error.failed_parses import is_dropped, value_instead
from lint_rules.rules.ignored_json_error.fixes import repair
from lint_rules.rules.ignored_json_error.model_json import is_rewritten, part_of_call, written_by_model
from lint_rules.rules.ignored_json_error.parse_attempts import is_attempt
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_HELP = (
    "catch the error where the call is answered, and answer it: append the tool message with the error text as content,"
    " so that the model can write the call again"
)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    for call in anatomy.module.nodes_of(cst.Call):
        if not call.args or isinstance(anatomy.module.statement(call), cst.Assert):
            continue
        function = anatomy.module.scope_of[call].function
        if anatomy.facts.decoder(call) is not None:
            yield from _decoded(anatomy, call, function)
        elif anatomy.facts.encoder(call) is not None:
            yield from _encoded(anatomy, call, function)


def _decoded(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[Draft]:
    evidence = written_by_model(anatomy, call, function)
    if evidence is None:
        return
    given = call.args[0].value
    text, is_call = ex.source(given, 50), Kind.ARGUMENTS_TEXT in anatomy.facts.kinds(given)
    way, handling = way_of_error(anatomy, call, function, set()), None
    confidence: Confidence = "high"
    related = [Note(evidence.root.node, f"written by the model: {evidence.root.clause}")]
    if way.handling is not None:
        handling = way.handling
        message = _swallowed(anatomy, call, text, handling, function)
        related.append(Note(handling.handler, f"this handler {handling.ending.value}"))
    elif way.ended is not None:
        message = f"malformed `{text}` ends the turn: the handler around it gives up" if is_call else None
        related.append(Note(way.ended.handler, "this handler"))
    elif way.loop is not None:
        message = (
            f"malformed `{text}` raises out of the round loop: one bad {'call' if is_call else 'reply'} ends the run"
        )
        related.append(Note(way.loop.node, "the round loop that it ends"))
    elif way.told or handlers.shown_only(anatomy.module, call) or is_rewritten(anatomy, call):
        return
    elif way.talk is not None:
        message = f"malformed `{text}` ends the talk with the user: one bad call"
        related.append(Note(way.talk, "the loop that asks the user, and is over then"))
    else:
        reached = not way.script and outside.comes_from_outside(anatomy, given, function)
        message = f"malformed `{text}` raises out of `{function.name}`: one bad call ends the turn" if reached else None
        confidence = "medium"
    if message is not None:
        fix = repair(anatomy, call, handling)
        yield Draft(call, f"{message}, the model is never told", _HELP, tuple(related), confidence, fix=fix)


def _swallowed(anatomy: Anatomy, call: cst.Call, text: str, handling: Handling, function: Scope) -> str | None:
    """What is said of an error that a handler swallows; None where that is no harm."""
    if is_attempt(anatomy, call, handling, function):
        return None
    neutral = value_instead(anatomy, call, handling, function)
    if neutral is not None:
        return f"malformed `{text}` becomes `{ex.source(neutral)}`: the tool call goes on with it"
    dropped = is_dropped(anatomy, call, handling, function)
    return f"the error of parsing `{text}` is dropped" if dropped else None


def _encoded(anatomy: Anatomy, call: cst.Call, function: Scope) -> Iterator[Draft]:
    evidence = part_of_call(anatomy, call, function)
    handling = handlers.handling_of(anatomy.module, call, handlers.ENCODE_ERRORS) if evidence is not None else None
    neutral = value_instead(anatomy, call, handling, function) if handling is not None else None
    if evidence is None or handling is None or neutral is None:
        return
    message = (
        f"what cannot be serialized becomes `{ex.source(neutral)}`: all such values look alike, and nobody is told"
    )
    note = Note(evidence.root.node, f"part of a tool call: {evidence.root.clause}")
    at = Note(handling.handler, f"this handler {handling.ending.value}")
    yield Draft(call, message, "compare the values themselves, or let the model see the error", (note, at))
