"""# missing-tool-result (AGL601)

## What it does
Reports a path on which a stored tool call gets no tool message: a `continue` before the result is appended, a tool name
that no branch knows, an error that is only logged, a `break` or `return` with calls still open.

## Why is this bad
The APIs refuse a history in which a tool call has no result right behind it. The next request fails with an error 400;
where the history is kept, every request after it fails too, and the chat is lost.

## Symptoms
- 400: tool_calls must be followed by tool messages
- after one tool call every message fails, and the chat is lost
- OpenAI: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  The following tool_call_ids did not have response messages`
- OpenAI Responses: `No tool output found for function call call_...`
- Anthropic: `` `tool_use` ids were found without `tool_result` blocks immediately after ``
- Gemini: `Please ensure that the number of function response parts is equal to the number of function call parts of
  the function call turn.`
- Bedrock: `Expected toolResult blocks at messages.2.content for the following Ids: tooluse_...`
- Mistral: `Not the same number of function calls and responses`
- LangGraph: `Found AIMessages with tool_calls that do not have a corresponding ToolMessage.`
- Pydantic AI: `Cannot provide a new user prompt when the message history contains unprocessed tool calls.`

## Example
```python
def run(client, messages, tools, allowed):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            if call.function.name not in allowed:
                print("not allowed:", call.function.name)
                continue
            result = allowed[call.function.name](call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, allowed):
    for _ in range(20):
        message = client.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            if call.function.name in allowed:
                result = allowed[call.function.name](call.function.arguments)
            else:
                result = f"error: the tool {call.function.name} is not allowed"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("too many rounds")
```

## How it decides
A path question on the control-flow graph. Where a loop over the calls of a reply, or a function that gets one call,
answers on one path (also by a function of another file that gets the call, or its id, and gives the result back), the
rule looks for the step after which no answer can follow any more; likewise between the place where a reply with calls
is stored (also by the function that asks for it) and the next request, or the end of the last round. Where a test has
told that the stored reply has calls, and nothing is done with them before the next request is made with that history,
that is reported, whether or not the function answers others. So is a result that is told in words (`{"role": "user",
"content": f"The tool says {out}"}`) behind a stored message that has the calls themselves, where nothing in the file
answers any, and the model is not one of Ollama, which refuses nothing. Then it asks whether the conversation goes on
from there: the model is asked again, the caller gets the answers, or the history outlives the function. Tests that tell
calls from other parts of a reply are understood. An error counts where the model decides about it: a tool that it named
and that is not there, or fails, one of a table of lambdas, malformed arguments, one that it leaves out (`args["path"]`,
where nobody asks for it before), what is no number, file, command or address for a function of the library
(`int(args["lines"])`), or does not fit a form (`Order.model_validate(args)`); here, or in a function that gets the
calls, or one of them, also of another file that answers them all. It is followed outwards, also where a handler raises
it anew under another name: to a handler that goes on with the history, here, in a caller, or in a file that imports
this one (a history of the program itself is there for whoever takes the error); to a chat framework, which catches it,
or one in whose object the history lies (`st.session_state`); and to whoever runs a turn of an object that keeps the
history (there, a tool must fail). Calls and results may be handed to a store, as rows, keys, files, or to an object of
another file: what it gives is sent again, with its calls, and an error leaves them open there, whoever takes it. So it
is where somebody stops the turn while a tool runs: a person, with the keys, or another task, if a handler that names
that goes on, here or in a file that imports this one, if the task that the turn runs in is cancelled there, or its time
runs out (`wait_for`), or if a framework stops it when its user wants that; or the program ends there, where each
message is written at once, and what reads it again looks for no open calls; where an error of the project's own is
raised between the calls and their results, also by a function that knows no call; and a `yield` between them, where who
reads the turn may leave, and comes back to the history: for whom a framework reads it, or the socket that is sent each
piece, also through a generator that yields what it reads. A loop that only puts calls aside for another one counts as
that one; a list of calls that is only filled, counted and shown puts none aside; where results wait in a list, a loop
that stores them answers no other call; one that is left with a call put aside for a person leaves those behind it open,
where whoever goes on answers a call alone; a list that is added to a history lives on with it, and so does one of what
the turn adds, beside the one that is sent, if it is returned, yielded or given to a future, or one that begins as a
copy of the caller's, and is given back; a question about calls, of a function that only looks at them, or puts a text
together, settles none, nor does a loop that sorts the blocks of a reply into lists, nor what a library is told of calls
that are not stored yet (`await page.send_json(event)`); a helper that ends before it has come to all calls leaves the
others open, unless a test of what it gives decides if the model is asked again, also where it gives back a list of what
came of them, and who runs it answers each from there; so does one that gives back something else than answers (`return
Done(text)`), where its callers make none of that either; and calls are followed into a function that chooses some of
them, up to the callers that have stored all. An object that a parameter gets keeps its history for the caller, and so
does a list that a helper gives out; what is called behind the answers looks at calls that have them. A loop over what a
run of the project tells is one more: where the messages that the run begins with get its calls, no results get there,
and the run makes some and keeps them to itself. Reported are also a request in the loop behind the first result, a loop
over a part of the stored calls and results that are never sent when the rounds run out; in a conversation that somebody
else keeps (a chat of an SDK, responses that go on from an id that an object keeps) a request that brings results and
may fail, where what the user says next goes to the same conversation; and a test of why a reply has ended
(`stop_reason`, `finish_reason`) that passes over the calls of one whose tokens ran out within a call, where they are
limited, or somebody asks for that: from each store of the reply on, also one behind the test, in whatever words the end
is told; and ways on which results wait in a list of their own that is never stored. Silent are calls that are put aside
or handed to a function that may answer them (one of this file that neither answers nor hands them on is none, nor is
any that gets no history with them, where answers are made of the calls further on: who runs, shows or checks them first
leaves them open until then), results that are made as messages and only read, objects that whoever runs them makes for
each run, answers made up afterwards (also in `finally`), histories that are cut back (not where only a question is),
rows that are rolled back or deleted, a list of the turn that an error leaves behind, as it is made anew for the next
one and put into the history only when the turn is over, histories that go through a function which looks for the ids of
calls among others (whatever it is called; one that cannot be read may mend the list, if its result takes the list's
place; not one that only leaves out results without a call, or drops what stands at the front, nor one that is run on a
way out of the turn, for the others), tools that end the conversation (one that ends what was asked for does so where
each question begins a history of its own, also one that is looked for before), and errors of parsing arguments that end
the turn, which AGL501 reports. Known are the results of OpenAI (chat completions, responses, assistants), Anthropic,
Gemini, Bedrock and LangChain, and constructors that say that they hold one.

## Known problems
A function of another file that gets the id of the call may answer it: such paths are silent, unless an answer follows.
Results that are lost in another file are not seen.

## Fix safety
Unsafe: the `continue` of a loop over calls gets a tool message before it, in the form that the loop uses elsewhere;
tests of which a call may pass none get an `else` with such a message. Where that form is not known, there is no fix,
nor where a call may have been answered before it comes to the tests.

## References
- OpenAI API reference: an assistant message with `tool_calls` must be followed by tool messages for each `tool_call_id`
- Anthropic API reference, tool use: each `tool_use` block must have a `tool_result` block in the next message
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.rules.draft import Draft
from lint_rules.rules.missing_tool_result.failing import Failing
from lint_rules.rules.missing_tool_result.selections import chosen
from lint_rules.rules.missing_tool_result.told_of import unkept_results
from lint_rules.rules.missing_tool_result.unsent import unsent
from lint_rules.rules.missing_tool_result.ways_out import WaysOut


def check(anatomy: Anatomy) -> Iterator[Draft]:
    yield from unkept_results(anatomy)
    elsewhere = (stored for function in anatomy.module.functions for stored in anatomy.kept_elsewhere.of(function))
    kept: set[cst.CSTNode] = {stored.node for stored in elsewhere if _answers_there(anatomy, stored)}
    made = filter(anatomy.transcript.messages.made_elsewhere, anatomy.module.nodes_of(cst.Call))
    answers = Answers(anatomy.facts, anatomy.calls, {*kept, *made})
    if not answers.made and not _runs_elsewhere(anatomy):
        return
    failing = Failing(anatomy)
    for function in anatomy.module.functions:
        if function.kind not in {"function", "module"}:
            continue
        ways = WaysOut(anatomy, answers, failing, function)
        drafts = itertools.chain(ways.all(), chosen(anatomy, answers, function), unsent(anatomy, function))
        seen: set[cst.CSTNode] = set()
        for draft in drafts:
            if draft.node not in seen and not ways.ends.are_mended:
                seen.add(draft.node)
                yield draft


def _runs_elsewhere(anatomy: Anatomy) -> bool:
    """Whether a file hands all calls of a reply to a function of another one, which may answer them."""
    handing = (
        call
        for call in anatomy.module.nodes_of(cst.Call)
        if any(Kind.CALLS in anatomy.facts.kinds(arg.value) for arg in call.args)
    )
    return any(run_elsewhere(anatomy, call) is not None for call in handing)


def _answers_there(anatomy: Anatomy, stored: Stored) -> bool:
    """Whether a call that is answered is named where the answer is stored: else that was made before, and waited."""
    ids = stored.message.answers if stored.message is not None else ()
    return any(anatomy.module.inside(each, stored.node) for each in ids)
