"""# missing-tool-result (AGL601)

## What it does
Reports a path on which a stored tool call gets no tool message, and the history is sent again: a `continue` before the
result is appended, a tool name that no branch knows, an error that leaves the loop over calls, a `break` or `return`
with calls still open.

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
**Reported when** a message with calls is in a history, one of its calls gets no result on a way, and the history goes
on: the next round sends it, or it is there for the next turn. The ways:

1. the call in hand is passed over: in a loop over calls that answers others, or in a function that answers one;
2. the loop is left behind an answer, with calls still to come;
3. a test that does not ask for calls (rounds, a budget, a flag) ends the round behind the store of the reply;
4. a test of why the reply has ended passes over one whose tokens ran out within a call;
5. an error of what the model wrote (unknown tool, failing tool, malformed arguments) is caught outside the loop, or
   leaves the function while a caller, a framework, a store or a kept object goes on with the history; or the program
   itself raises one there, which tells nobody of the calls, to end the turn of an object that keeps the history;
6. the task of the turn is cancelled while a tool runs, or who reads its pieces in another file leaves it there, and
   the object that keeps the history lives on;
7. results wait in a list of their own that is not stored on the way, or not sent where the API keeps the conversation;
8. a function of the file chooses some of the calls, and only those are gone through;
9. a loop stores the calls that a run tells of, and none of the results that the run makes.

**Followed** are the control flow of a function, its callers in this file that have stored the calls, the functions that
get a call (also of other files), and files that import this one, as far as they hand a history or object over. What a
helper puts into the list that it returns, or by id into a dict, is an answer where its caller makes one of each. A list
of the function's own lives on where callers store or send what they are given, or a part of it. Results are known in
the forms of OpenAI, Anthropic, Gemini, Bedrock and LangChain, by the id of the call, and by constructors.

**Silent when**

- nothing says that the calls are in what is sent: no message with them is stored, and no result names its call, or
  has no id where the reply is stored as text alone;
- the function of the project that runs the tool takes all that fails there;
- the call is answered further down, in `finally`, by another loop, or put aside or handed on with the history;
- the message is taken back: the history is cut, rolled back, begun anew, or ends with the function;
- a function that pairs calls and results goes over the history before it is sent;
- the message is made from one of the history, for a request;
- only those calls are stored that the loop has put into a list, and it has passed over this one before;
- what is asked next is another talk, in a list that the function makes of other things;
- the last round offers no tools, or the tool that was called ends the conversation;
- the provider runs the tool itself (`web_search`), and its result comes with the reply;
- whoever runs the function asks what it gives back, and may go on otherwise;
- only the form of the arguments is wrong, and the turn ends: AGL501 reports that;
- one call of several is picked: AGL402 reports that.

## Known problems
A function of another file that gets the id of the call may answer it: such paths are silent, unless an answer follows.
Results that are lost in another file are not seen.

## Fix safety
Unsafe: the `continue` of a loop over calls gets a tool message before it, in the form that the loop uses elsewhere.
Where that form is not known, or the id is not read off the call, there is no fix.

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
from lint_rules.rules.missing_tool_result.fixes import repair as repair  # a rule's module says so that it has one
from lint_rules.rules.missing_tool_result.selections import chosen, filtered
from lint_rules.rules.missing_tool_result.taken import gathered
from lint_rules.rules.missing_tool_result.told_of import unkept_results
from lint_rules.rules.missing_tool_result.unsent import unsent
from lint_rules.rules.missing_tool_result.ways_out import WaysOut


def check(anatomy: Anatomy) -> Iterator[Draft]:
    yield from unkept_results(anatomy)
    elsewhere = (stored for function in anatomy.module.functions for stored in anatomy.kept_elsewhere.of(function))
    kept: set[cst.CSTNode] = {stored.node for stored in elsewhere if _answers_there(anatomy, stored)}
    made = filter(anatomy.transcript.messages.made_elsewhere, anatomy.module.nodes_of(cst.Call))
    answers = Answers(anatomy.facts, anatomy.calls, {*kept, *made, *gathered(anatomy)})
    if not answers.made and not _runs_elsewhere(anatomy):
        return
    failing = Failing(anatomy)
    for function in anatomy.module.functions:
        if function.kind not in {"function", "module"}:
            continue
        ways = WaysOut(anatomy, answers, failing, function)
        picked = itertools.chain(chosen(anatomy, answers, function), filtered(anatomy, function))
        drafts = itertools.chain(ways.all(), picked, unsent(anatomy, function))
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
