"""# orphaned-tool-result (AGL602)

## What it does
Reports a history that is cut by position, so that a tool result can stay behind without the call it answers, or a call
without its result.

## Why is this bad
APIs refuse a history in which a tool result has no call before it: from then on each request of this conversation
fails. It shows late, in long conversations, and only when the cut falls between a call and its results.

## Symptoms
- 400: a tool message without its tool_calls
- long chats break at some point, short ones never do
- OpenAI: `messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`
- OpenAI Responses: `No tool call found for function call output with call_id call_...`
- Anthropic: `` unexpected `tool_use_id` found in `tool_result` blocks ``
- Gemini: `Please ensure that function response turn comes immediately after a function call turn.`
- Gemini: `Please ensure that function call turn comes immediately after a user turn or after a function response
  turn.`
- Bedrock: `The number of toolResult blocks at messages.0.content exceeds the number of toolUse blocks of previous
  turn.`

## Example
```python
class Conversation:
    def __init__(self, client, tools, limit=40):
        self.client, self.tools, self.limit = client, tools, limit
        self.messages = []

    def run(self, text, execute):
        self.messages.append({"role": "user", "content": text})
        for _ in range(20):
            reply = self.client.chat.completions.create(model="gpt-5", messages=self.messages, tools=self.tools)
            message = reply.choices[0].message
            self.messages.append(message)
            for call in message.tool_calls or ():
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
            if not message.tool_calls:
                break
        if len(self.messages) > self.limit:
            self.messages = self.messages[-self.limit :]
```

## Use instead
```python
class Conversation:
    def __init__(self, client, tools, limit=40):
        self.client, self.tools, self.limit = client, tools, limit
        self.messages = []

    def run(self, text, execute):
        self.messages.append({"role": "user", "content": text})
        for _ in range(20):
            reply = self.client.chat.completions.create(model="gpt-5", messages=self.messages, tools=self.tools)
            message = reply.choices[0].message
            self.messages.append(message)
            for call in message.tool_calls or ():
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})
            if not message.tool_calls:
                break
        start = max(len(self.messages) - self.limit, 0)
        while start < len(self.messages) and self.messages[start]["role"] != "user":
            start += 1
        self.messages = self.messages[start:]
```

## How it decides
The front of a list of messages is cut off by position: a slice (`h[-n:]`, `h[len(h) - n:]`), `del h[:n]`, `h[k:n] =
[note]`, `h.pop(0)` or `h.pop(i)` while something is too large, or as often as there are too many, a loop that takes the
newest while there is room (`for m in reversed(h)`, `h[i]` of an `i` that goes down) or the places of what fits (`if
size <= room: kept.add(i)`), or a list that is bounded (`deque(maxlen=n)`). What is left is stored as the history, sent
to a model, or returned, also as pairs or in another form. The list may hold tool results: they are stored in it, in
this file, in one that it imports, by what this file hands to the methods of an object that keeps it, by a caller that
hands on the object whose list it is, by another name for the same part of what lasts, or by a method that is handed on
together with `tools=`; a file that imports this one, or has its object by way of another one, hands such a list to the
function that cuts, puts such messages (or says their role) into the object that keeps the list, or hands over itself,
with a list that has them; the file asks of its messages, of those of a part of it, or of those of another list that
comes of the same, whether they belong to a tool call, also in a helper, unless it makes them all itself, of parts that
stand there; all of it is what a run gives of an agent that has tools, or answers by one (`result.all_messages()`,
Pydantic AI; `to_input_list()`, Agents SDK); or (for a history that is stored again) its elements are of a class that
has a field for tool calls. Messages of OpenAI, Anthropic, Gemini, Bedrock and LangChain are known. The rule is silent
where somebody looks at what the messages are: the cut is moved to a user message in the same function, in a helper that
gets the list, or in the caller that gets what is left; or the list goes, here or on its way to the model, through a
function that looks for the ids of calls among others or takes messages away by what they carry. What a function is
called does not matter. One that cannot be read may mend the list, if its result takes the list's place. What only a
method puts there that nobody calls counts no more than what such a method gives back, where files that import this one
call others of its object; nor is a number a limit that counts what the function has put there (`new += 1`,
`history[-new:]`). Nothing is mended by a test that comes out alike for calls and results (`m["role"] in ("assistant",
"tool")`), by a look at the front once another message was put there, by a helper that takes away calls only or writes
other words into the messages, nor by one that has run before the results come, or behind which the list is always cut
before it is sent.

Three more ways tear them apart. A handler takes the last message off the history for a request that has failed
(`messages.pop()`): behind a tool round, here or in the function that the request stands in, that is a result, and its
call stays. Silent are handlers that go back to a mark, or ask first whether it is the question. Results are taken out
for what they are (`[m for m in h if m["role"] != "tool"]`, `h.pop(i)` of such positions), where what is left is
stored, sent or returned, and nobody looks at calls or ids there. And a result is stored under an id that is put
together of a call's and a text (`f"{call.id}_note"`), and that no call has in this file.

## Known problems
Files that import the one that cuts, up to three imports away, are known where a folder is checked.
Messages that are picked in another order than from the end, and calls that get lost when messages are converted, are
not seen. Results in messages with role `function` have no id: they are accepted without their call, and not reported.

## Fix safety
There is no fix: where a history may be cut is for its owner to say. A user message is always a good place.

## References
- OpenAI API reference, chat completions: messages with role `tool` must follow a message with `tool_calls`
- Anthropic API reference, tool use: each `tool_result` block needs its `tool_use` block in the message before
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.cuts.alignment import Alignment
from lint_rules.anatomy.cuts.trimming import Trim
from lint_rules.anatomy.messages.contents import Proof
from lint_rules.anatomy.messages.groups import groups
from lint_rules.anatomy.values.slots import describe, is_parameter
from lint_rules.rules.draft import Draft, Note, beside, shown
from lint_rules.rules.orphaned_tool_result.made_up_ids import made_up_ids
from lint_rules.rules.orphaned_tool_result.taken_back import taken_back
from lint_rules.rules.orphaned_tool_result.taken_out import taken_out
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_HELP = (
    "move the cut to the next user message, so that a call and its results go together, or drop the results at the"
    " front that have lost their call"
)
_AFTERWARDS = {
    "sent": "what is left is sent here",
    "stored": "what is left is stored here",
    "returned": "what is left is returned here",
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    trimming = anatomy.trimming
    alignment = Alignment(anatomy, trimming.contents)
    for trim in trimming.trims:
        holds = trimming.contents.tool_results(trim.cut.base)
        if holds is None or not (holds.seen or trim.fate == "stored"):
            continue  # what a class may carry, and another file gets, is often mended there for its provider
        if trim.fate == "returned" and not holds.used:
            continue
        if alignment.of(trim.cut) or in_group(anatomy, trim.node) or _is_before(anatomy, trim, holds):
            continue
        yield _draft(trim, holds)
    for made in made_up_ids(anatomy):
        message = f"no call has the id `{ex.source(made, 60)}`: the API refuses a history with a result for it"
        yield Draft(made, message, "put what is to be said into the result of the call, or into a user's message")
    for node, base, holds in taken_out(anatomy):
        if in_group(anatomy, node):
            continue
        message = (
            f"results of tools are taken out of `{ex.source(base, 40)}`, and the messages with their calls stay: the"
            " API refuses a call without its result"
        )
        cure = "put a short text in the place of the result, or take its call out, too"
        yield Draft(node, message, cure, beside(node, [shown(holds)]))
    for taken in taken_back(anatomy):
        name = describe(taken.slot)
        message = (
            f"behind a tool round the last message of `{name}` is a result: it goes, its call stays, and the API then"
            " refuses every request with this history"
        )
        cure = "cut the history to where it was before the question"
        notes = [Note(taken.request, "this may fail behind a tool round")]
        yield Draft(taken.node, message, cure, beside(taken.node, notes))


def _is_before(anatomy: Anatomy, trim: Trim, holds: Proof) -> bool:
    """Whether a list of the function gets its results behind the cut alone, and is gone when the function is over."""
    function, slots = anatomy.module.scope_of[trim.node].function, anatomy.facts.slots
    slot = slots.of(trim.cut.base)
    if slot is None or slot[:2] != ("var", function) or is_parameter(slot) or trim.fate != "sent":
        return False
    left = [node.value for node in function.nodes_of(cst.Return, cst.Yield)]
    given = (value for value in left if value is not None and not isinstance(value, cst.From))
    if anatomy.aliases.is_lasting(anatomy.aliases.of(slot), function) or any(slots.names_any(v, {slot}) for v in given):
        return False
    answers = [one.node for one in anatomy.transcript.stored(function) if one.slot == slot and one.answers]
    return holds.node in answers and not anatomy.leads(function, answers, [trim.node])


def _draft(trim: Trim, holds: Proof) -> Draft:
    name = ex.source(trim.cut.base, 40)
    cut = "drops its oldest messages by itself" if trim.cut.shape == "bounded" else "is cut by position"
    cut = "keeps what fits, message by message" if isinstance(trim.node, cst.ListComp) else cut
    message = (
        f"`{name}` {cut}: a tool result at the cut loses the call it answers, and the API then refuses"
        f" {'the request' if trim.fate == 'sent' else 'every request with this history'}"
    )
    notes = [shown(holds)]
    if trim.at is not trim.node:
        notes.append(Note(trim.at, _AFTERWARDS[trim.fate]))
    if trim.proof.node is not holds.node:
        notes.append(shown(trim.proof, f"`{name}` is {trim.proof.reason}"))
    return Draft(trim.node, message, _HELP, beside(trim.node, notes))


def in_group(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether an expression is a part of such a list, or what such a part is made of."""
    statement = anatomy.module.statement(node)
    bound = [t.target for t in statement.targets] if isinstance(statement, cst.Assign) else []
    slots = {anatomy.facts.slots.of(target) for target in bound} - {None}
    for group in groups(anatomy):
        if anatomy.module.inside(node, group.node):
            return True
        if slots & {
            anatomy.facts.slots.of(n) for part in group.parts for n in walk(part.node) if isinstance(n, cst.Name)
        }:
            return True
    return False
