"""# first-tool-only-execution (AGL402)

## What it does
Reports code that answers one of several tool calls, `tool_calls[0]`, `next(...)`, or the one that a loop leaves behind
or ends with, while the message goes into the history with all of them.

## Why is this bad
A model may ask for several tools in one message. The calls that are not answered stand in the history without a
result, and chat APIs refuse such a history: the conversation is over. A server that keeps the history itself waits for
the missing results. It works in every test in which the model asks for one tool.

## Symptoms
- only the first of several tool calls is run
- it works until the model calls two tools at once
- OpenAI: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  The following tool_call_ids did not have response messages`
- OpenAI Responses: `No tool output found for function call call_...`
- Anthropic: `` `tool_use` ids were found without `tool_result` blocks immediately after ``

## Example
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        call = message.tool_calls[0]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
    raise RuntimeError("too many rounds")
```

## How it decides
Three facts make the finding. One call is taken out of a list of calls: by element or a slice of one, by `next`, `max`
or unpacking, by a loop whose variables are used behind it, or by a loop that never comes to a second call. A tool
message is made of it, here or in a function of this file that gets it or asks for it. And the list is stored whole: the
message itself is appended, or stands beside the history in a request, an assistant message is made of all its calls or
blocks, it is read out of a history, a run of the Assistants API waits for its outputs, or another file stores it so,
and leaves its calls to a function here. A history that is put into another provider's form with one call of each
message is reported, too, and so are streamed pieces of the first call of each chunk that run into one text, whatever
their index is. So is a tool message that is made of the first result in a message, where the others are never looked
at, and one that a loop over the calls makes anew for each, and that is stored once, behind the loop; and a request with
tools that goes on from a response that the provider has, and sends the last message alone (`input=messages[-1:]`),
where the file reads calls.

The rule is silent where only the call that runs is stored, where the rest is answered, run or (on each way there) cut
off elsewhere, where something hangs on the number of calls (not only a log), and where requests forbid parallel calls
or force a certain tool. It knows the messages of chat completions, the Responses and Assistants APIs, Anthropic,
Bedrock, Gemini, Ollama and LangChain.

## Known problems
Calls that come as messages of their own, of which the last one is run, are not seen. A message that a function of
another file stores is known to be stored where that puts it into rows, under a key or into a list of its object, and a
request reads it there again.

## Fix safety
Shown only: the requests with tools say that they take one call at a time (`parallel_tool_calls=False`, and
`disable_parallel_tool_use` for Anthropic). Whether to run all calls instead, and in which order, is for the author to
say. There is no fix for a history that is put into another form, nor for requests of other APIs, or with a `**`.

## References
- OpenAI API reference, chat completions: `tool_calls` is a list, `parallel_tool_calls` is on by default
- Anthropic, Tool use: all `tool_use` blocks of a message need a `tool_result` in the next one
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import Pick, first_pieces
from lint_rules.anatomy.calls.remaining_calls import Rest, one_at_a_time
from lint_rules.anatomy.calls.stored_calls import Storage, StoredCalls
from lint_rules.anatomy.calls.uses import answered, rebuilt
from lint_rules.anatomy.values.identity import Identity, Way
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.rules.first_tool_only_execution.chosen import picks
from lint_rules.rules.first_tool_only_execution.first_results import first_results
from lint_rules.rules.first_tool_only_execution.fixes import repair
from lint_rules.rules.first_tool_only_execution.last_results import last_results
from lint_rules.rules.first_tool_only_execution.last_sent import last_sent
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope

_HELP = (
    "loop over all calls of the message and answer each, or ask for one call at a time (`parallel_tool_calls=False`)"
)


def check(anatomy: Anatomy) -> Iterator[Draft]:
    identity = Identity(anatomy.facts)
    stored: StoredCalls | None = None
    said: set[tuple[Way, Scope]] = set()
    for pick in picks(anatomy, identity):
        if (pick.way, pick.function) in said:
            continue
        stored = stored or StoredCalls(anatomy, identity)
        draft = _judge(anatomy, pick, stored, identity)
        if draft is not None:
            said.add((pick.way, pick.function))
            yield draft
    for pieces, used in first_pieces(anatomy, identity):
        if not one_at_a_time(anatomy, anatomy.module.scope_of[pieces].function):
            yield _streamed(anatomy, pieces, used)
    for first, answer in first_results(anatomy):
        message = (
            f"only the first result in `{ex.source(first.value, 40)}` is converted: when the model has asked for"
            " several tools, the other calls have no result, and the API refuses the history"
        )
        yield Draft(first, message, "make a tool message of each result", (Note(answer, "the one tool message"),))
    for part, goes_on in last_sent(anatomy):
        message = (
            "only the last message is sent to the conversation that the provider keeps: when the model has asked for"
            " several tools, the results of the others are missing, and the API refuses the request"
        )
        note = Note(goes_on, "the request goes on from here")
        yield Draft(part, message, "send all that has come behind the last reply", (note,))
    for last in last_results(anatomy):
        message = (
            "this stands behind the loop over the calls, and stores the result of the last: when the model asks for"
            " several tools, the others get no result and the API refuses the history"
        )
        notes = (
            Note(last.loop, "the loop over all calls"),
            Note(last.made, "each result takes the place of the one before"),
        )
        yield Draft(last.stored, message, "store each result in the loop", notes)


def _judge(anatomy: Anatomy, pick: Pick, stored: StoredCalls, identity: Identity) -> Draft | None:
    loop = stored.looped_over(pick.way)
    if loop is not None:
        rest = rebuilt(anatomy, pick.function, pick.uses(anatomy))
        if rest is None or Rest(anatomy, identity, stored, pick, rest).is_seen_to():
            return None
        return _converted(pick, loop, rest)
    storage = next(stored.of(pick.way, pick.function), None)
    answer = answered(anatomy, pick.function, pick.uses(anatomy)) if storage is not None else None
    if storage is None or answer is None or not _comes_to(anatomy, pick, answer):
        return None
    if Rest(anatomy, identity, stored, pick, answer).is_seen_to():
        return None
    return _draft(anatomy, pick, storage, answer)


def _comes_to(anatomy: Anatomy, pick: Pick, answer: cst.CSTNode) -> bool:
    """Whether an answer may be made of what was picked: by one name, it may be made of what was there before."""
    if anatomy.module.scope_of[answer].function is not pick.function:
        return True
    picked, made = ({*anatomy.points(pick.function, [node])} for node in (pick.node, answer))
    return not picked.isdisjoint(made) or anatomy.flow(pick.function).reaches(picked, made)


def _draft(anatomy: Anatomy, pick: Pick, storage: Storage, answer: cst.CSTNode) -> Draft:
    list_of_calls = ex.source(pick.calls, 40)
    message = (
        f"only the {pick.which} call in `{list_of_calls}` is answered, but the message holds all of them:"
        " when the model asks for several tools, the others get no result and the API refuses the history"
    )
    stored = storage.elsewhere or Note(storage.node, f"the message {storage.how}")
    notes = beside(pick.node, (stored, Note(answer, "the one call that is answered")))
    return Draft(pick.node, message, _HELP, notes, fix=repair(anatomy, pick.function))


def _streamed(anatomy: Anatomy, pieces: cst.AugAssign, used: cst.CSTNode) -> Draft:
    message = (
        f"the pieces of all streamed calls run into one, `{ex.source(pieces.target, 40)}`:"
        " when the model asks for several tools, their arguments are no JSON any more and one call is made of them"
    )
    cure = "keep one entry for each `index` of the pieces"
    notes = (Note(used, "the text is used as the arguments of one call"),)
    return Draft(pieces, message, cure, notes, fix=repair(anatomy, anatomy.module.scope_of[pieces].function))


def _converted(pick: Pick, loop: cst.For, rebuilt_call: cst.CSTNode) -> Draft:
    message = (
        f"only the {pick.which} call in `{ex.source(pick.calls, 40)}` of each stored message is sent:"
        " the results of its other calls have no call, and the API refuses the history"
    )
    notes = (Note(loop, "the history is put into another form here"), Note(rebuilt_call, "the one call that is kept"))
    return Draft(pick.node, message, "convert every call of the message", notes)
