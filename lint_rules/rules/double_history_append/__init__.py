"""# double-history-append (AGL605)

## What it does
Reports a message that gets into the history a second time, or that is sent beside a history which holds it already.

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
**Reported when** a message got into a known history, nothing took it out again, and on some path

1. another place stores the same message in that history: made of the same values, none of them bound anew on the way;
2. the same place stores it again: in a loop over the tool calls or the parts of one message, over the pieces of one
   reply, or over the attempts at one request;
3. a decorator such as `@retry` runs the function again, as its request has failed behind the place;
4. one list or request gets all of the history and the message once more: `[*history, message]`, a list that the
   history was put into, a chain that gets both, a conversation that was begun with the history;
5. the same, where the message was saved, before the history was loaded, to the table, key or file it is loaded from;
6. a list that begins with all that the history holds is added to it: loaded from it by a method of its object or its
   store, or from the same table; `all_messages()` of a run and `get_history()` of a chat that were given the history;
7. a method puts a list of its object into a store, message by message, under one key, each time it is run;
8. a function gets a list and a callback that appends to that list, appends each message, and tells the callback.

**Followed**

- A message is the same by whatever names its parts go; a reply says the same as the message made of its content.
- Helpers of the file with the arguments of their calls; for 4, 5 and 6 functions of other files, three deep.
- Paths lead through `finally` and handlers, and agree with their tests. Of errors, those of requests, tools, JSON and
  what is awaited count.
- Two objects write to one list where one was made with the other's, or was given it.

**Silent when**

- a condition reads the history, a counter, or a flag that is set there;
- the message is a fixed text, which may be repeated on purpose;
- the history is taken without its last message, from behind a mark (`lines[begun:]`), before the message was stored,
  or by a query that leaves it out;
- rows are written over, have an id or another key, or the old ones are taken away;
- the lists are those of two objects, or one is bound anew.

## Known problems
A message that a function of another file appends to a list it is handed, and that is appended here as well, is not
seen; nor is what each round of a turn collects and sends once more, or a history that is written out in a text.

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
from lint_rules.rules.double_history_append.doubles import doubles
from lint_rules.rules.double_history_append.fixes import repair
from lint_rules.rules.double_history_append.places import Double, How
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
