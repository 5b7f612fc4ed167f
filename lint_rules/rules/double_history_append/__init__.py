"""# double-history-append (AGL605)

## What it does
Reports a message that is stored in the history twice, or sent twice: the whole reply once for each of its tool calls, a
growing answer once for each piece of a stream, what was collected so far once in each round, a question once for each
attempt, the same message by two places, or a question that is put into the history and then sent beside it once more.

## Why is this bad
The model reads everything it said twice and takes it for what was meant. A reply with tool calls that stands there
twice has the same call ids twice, one of them without results: the API refuses the history with a 400. A history that
is loaded, extended and added whole doubles with each turn.

## Symptoms
- messages stand in the history twice
- the history doubles with each turn
- the user's question comes twice in each request, and the model remarks on it
- OpenAI: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  The following tool_call_ids did not have response messages`
- Anthropic: `` `tool_use` ids must be unique ``

## Example
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        response = client.messages.create(model="claude-sonnet-4-5", max_tokens=999, messages=messages, tools=tools)
        uses = [block for block in response.content if block.type == "tool_use"]
        if not uses:
            return response.content[0].text
        results = []
        for use in uses:
            messages.append({"role": "assistant", "content": response.content})
            results.append({"type": "tool_result", "tool_use_id": use.id, "content": execute(use)})
        messages.append({"role": "user", "content": results})
    raise RuntimeError("too many rounds")
```

## Use instead
```python
def run(client, messages, tools, execute):
    for _ in range(20):
        response = client.messages.create(model="claude-sonnet-4-5", max_tokens=999, messages=messages, tools=tools)
        uses = [block for block in response.content if block.type == "tool_use"]
        if not uses:
            return response.content[0].text
        results = []
        messages.append({"role": "assistant", "content": response.content})
        for use in uses:
            results.append({"type": "tool_result", "tool_use_id": use.id, "content": execute(use)})
        messages.append({"role": "user", "content": results})
    raise RuntimeError("too many rounds")
```

## How it decides
A place that writes to a known history is asked whether it may be followed, on some path, by itself or by another place
that stores the same message in the same list: made of the same values, none of them bound anew on the way, and nothing
taken out of the history. A message is the same by whatever names its parts go, and a reply says the same as the message
made of its content, or of that of what a helper is handed, or of the words of its first block. What a function, also of
another file, stores in a list that it is handed, and gives back, is there already for who stores it once more. Paths go
through `finally` and handlers, and agree with their tests: what one test has told, and what a flag was set to, holds at
the next. Helpers of the file are read with the arguments of their call. Loops count when they go over tool calls, over
the parts of the very message, over the pieces of a reply, or come back after a failed request only: a prompt that each
attempt puts together of the same values is the same prompt. And in rounds, where a reply goes into the same history, a
message is reported that is nothing but a text or list of the function which the rounds make longer, and which nobody
begins anew; so is a reply, beside its calls, to whose text each round adds its own. What stands beside something else
may be told again on purpose. What a call hands to an object of a package is stored in the list of that object with
which a model is asked (`talk.add_message(reply)`, `talk.messages`). `@retry` functions count when they store what they
got before they ask, and so does a function that is called again where its request has failed. A list that is added to
another, at once or one by one, also part by part (`store.add(key, message["role"], message["content"])`), is reported
where it holds all that the other one held (loaded from it by a method of its class, or of its store, also before, into
an attribute that gets no other list; `all_messages()` of a run of Pydantic AI that was given the other one,
`to_input_list()` of the Agents SDK, a chat of Gemini), or messages that were appended to both before. So is a list of
an object that one of its methods puts into a store message by message, under one key, where a turn runs that method, or
others can by more than one of its methods, and nobody empties the list then, or the store: each run adds all that the
last one has added. What goes to a store with an id of its own may be there once. So is a list that was loaded from a
table, a file or a list under a key, and is added there again with all that was in it: as rows, lines or entries, which
take the place of nothing; not under another key, nor where the function takes the old ones away. A function, or a
method of an object, that gets a list and a callback stores twice what it appends and tells, where the callback always
appends to that list.

A message is sent beside a history where one list, or one request, holds all that the history does, and the message as
well: `[*history, message]`, a list that the history was put into, a chain that gets both, a text in which both are
written out, a conversation begun with the history, or a function, also of another file, that does so with what it is
handed: the history itself, an object that holds it, or a dict that has it under a key, and the message, or what that is
a part of. It is there twice if a place put the same message into that history before it was taken: stored it, handed it
to a function of another file that does, or saved it, alone, in a record or in a whole list, where the history is loaded
from (one table, key or file, by what both bodies say; or a list that an object of another file keeps), be it loaded
here or by a function of another file that is handed the message. Silent: the history is taken without its last message,
before it was stored, or by a query or a comprehension that names what was saved; and a condition that looks into the
history first. Two objects write to one list where one was made with the other's, or was given it.

A condition that reads the history, a counter or the number of the turn keeps the rule silent, a helper that asks for
what it has set itself the last time, and so do fixed texts, which may be repeated on purpose. Messages of OpenAI,
Anthropic, Gemini, Bedrock, Ollama and LangChain are known.

## Known problems
Two names for one list (but for one that a helper hands back, or is given: `messages = history or []`), and a store that
removes doubles by id, are not seen.
Errors are followed from requests, tools, JSON and what is awaited only.

## Fix safety
Unsafe: a statement that stands in the loop itself moves before the loop over the calls or attempts, or behind the
loop over the stream, unless the message is stored nearby as well. Other forms have no fix.

## References
- OpenAI API reference, chat completions: each `tool_calls` message is followed by one result for each of its ids
- Anthropic documentation, tool use: `tool_use` ids must be unique in a conversation
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import describe
from lint_rules.obligations.places import Double, How
from lint_rules.rules.double_history_append.doubles import doubles
from lint_rules.rules.double_history_append.fixes import repair
from lint_rules.rules.draft import Draft, Note

_SAYS = {
    How.PER_CALL: (
        "the whole message is appended to {h} once for each of its tool calls: with two calls it stands there twice,"
        " and the API refuses the history",
        "append it once, before the loop over its calls",
        "the loop over the calls of one message",
    ),
    How.PER_CHUNK: (
        "each piece of the stream appends the text so far to {h}: the model finds one more copy of its answer a piece",
        "append the whole answer once, after the loop",
        "the loop over the stream",
    ),
    How.AGAIN: (
        "this message is in {h} already: the model reads it twice",
        "keep one of both places",
        "stored here before",
    ),
    How.SENT: (
        "this message is in {h} by now, and is sent once more beside it: the model reads it twice",
        "send {h} alone, or store the message after the request",
        "stored here before",
    ),
    How.SAVED: (
        "this message was saved before {h} loaded the history, and is sent beside it once more: the model reads it"
        " twice",
        "send what was loaded alone, or load before you save",
        "saved here, before the history is loaded",
    ),
    How.RETRY: (
        "each attempt appends the same message to {h}: after a failed request the model reads it twice",
        "append it before the loop, or take it back when the request fails",
        "the loop over the attempts",
    ),
    How.RETRIED: (
        "the function is run again when its request fails, and appends the same message to {h} once more",
        "retry the request alone, or append the message where the retried function is called",
        "what runs the function again",
    ),
    How.CALLBACK: (
        "the callback appends to {h}, and so does the function that is given both: each message is stored twice",
        "give it a callback that does something else, or a history of its own",
        "stored here as well",
    ),
    How.LOADED: (
        "what is added to {h} begins with all that is in it already: the history doubles with each turn",
        "add the new messages only: `messages[loaded:]`",
        "everything is taken along here",
    ),
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    saved = set()  # the list may be told of where it is put together, and where it is sent
    for double in doubles(anatomy):
        if double.how is not How.SAVED or double.other not in saved:
            saved.add(double.other)
            yield _draft(anatomy, double)


def _draft(anatomy: Anatomy, double: Double) -> Draft:
    message, cure, other = _SAYS[double.how]
    slot = double.stored.slot
    notes = [Note(double.other, other, double.where.module if double.where is not None else None)]
    if double.inner is not None:
        node, where = double.inner
        notes.append(Note(node, "put beside it here", where.module if where is not anatomy else None))
    evidence = anatomy.facts.of(slot).get(Kind.HISTORY) if slot is not None else None
    if evidence is not None and slot is not None and evidence.root.node not in {double.stored.node, double.other}:
        notes.append(Note(evidence.root.node, f"`{describe(slot)}` is the message history: {evidence.clause}"))
    history = f"`{describe(slot)}`" if slot is not None else "the stored history"
    return Draft(
        double.stored.node, message.format(h=history), cure.format(h=history), tuple(notes), fix=repair(anatomy, double)
    )
