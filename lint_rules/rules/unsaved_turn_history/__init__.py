"""# unsaved-turn-history (AGL606)

## What it does
Reports messages of a turn that never reach the history with which the next turn begins:

- a reply that is shown or returned, and on that path not appended to the history it answers;
- a round in which a reply without tool calls is dropped, so that the same request is sent again, or one with a message
  that speaks of the reply ("call a tool, then");
- messages that wait in a local list, a copy, or a list that was loaded, and a way out (a return, a break, a handler, an
  error) before they are stored; in a generator also the code after a `yield`, which does not run when the consumer
  stops early;
- a reply that is put into a list after that was written to its file or table;
- a talk that is written to its file or table once a turn, so that an error of a later request, or Ctrl-C, which ends
  the program or the function that has loaded it, loses what tools have done; and a list that a turn gives back longer
  than it got it, in the same way;
- a turn that a handler takes out of the history whole, when a request behind its tools has failed
  (`del messages[before:]`);
- messages that are appended to a copy: a name of the lasting list was bound to a part of it
  (`messages = messages[-10:]`), and the copy is put nowhere; or to a new list that is put nowhere;
- messages that are put in place into the list of a plain JSON column (SQLAlchemy), which the commit does not write;
- a history that is replaced by the new messages of one turn (Pydantic AI's `new_messages()`, `messages` of
  Swarm's response);
- a store that is emptied before what stays of it is put back, message by message;
- messages that are taken out of a history before the model has made of them what takes their place (a digest): where
  that request fails, they are in neither of the two;
- older messages that give way to what a model makes of them (a summary), where that may be empty, or the text of an
  error, and nothing asks for it; or that are left out as well where the summary has failed or came back empty; so for
  the summary itself, which the next one takes the place of;
- a coroutine that stores messages, and is called without `await`, or handed to a thread, which drops it.

## Why is this bad
The model knows of earlier turns what the history holds, and nothing else. Without its own reply it sees two questions
in a row, contradicts what it said, or answers the first one again. Where a whole turn is lost, tools that have run (a
booking, a payment) run a second time, as nothing tells the model of the first.

## Symptoms
- the agent forgets its own answers
- the model answers the question before again
- the agent forgets its answers from some length of the talk on, and works well before
- a tool runs a second time in the next turn
- Python: `RuntimeWarning: coroutine '...' was never awaited`

## Example
```python
class Chat:
    def __init__(self, client):
        self.client = client
        self.messages = []

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})
        reply = self.client.chat.completions.create(model="gpt-5", messages=self.messages)
        return reply.choices[0].message.content
```

## Use instead
```python
class Chat:
    def __init__(self, client):
        self.client = client
        self.messages = []

    def ask(self, text):
        self.messages.append({"role": "user", "content": text})
        reply = self.client.chat.completions.create(model="gpt-5", messages=self.messages)
        self.messages.append(reply.choices[0].message)
        return reply.choices[0].message.content
```

## How it decides
For a reply, three facts: a user's message is stored in a list that lives on (an attribute, a global, an entry of a
session, or a list of a loop that waits for input), that list is sent, and a path leads from the request to a place that
shows or returns the reply and on to the end of the turn, past everything that could store it: a list of the function's
own that gets nowhere else stores nothing. A function that asks, and shows what comes itself, piece by piece, shows the
reply, too. Helpers and callers of the file are followed, and functions of other files that ask with the list, or with
the object that has it. A reply that says itself that it failed is none, nor is one behind a test by which the part of
it that is stored otherwise is not there, nor what has come of a stream in which an error is raised. An `if` around the
append counts as the program's own wish, unless it asks for tool calls, in whatever form: behind it the model is asked
again in any case. In place of the list may stand a store: an object of this file or another, or a table, which is told
the question, gives what is sent, and is told nothing but questions anywhere in the file. Or one that a function loads
from, asks with, and tells what the model has said, while another way of the same function gives the reply to any of its
requests to a user or a caller past that, also in the handler of what decodes it; an `if` around the store is the
program's wish there. What gets a reply on one way beside the append does not store it on another. Or the list is given
back beside the answer, to a caller that begins the next turn with it, and puts nothing there; or it is given back with
the answer, and has the last replies of other ways. A file that is written at its end, and read nowhere, stores none. A
list that begins anew in each turn, an object made for one task, a question beside the conversation (`[*history,
question]`) and conversations that the API keeps (`previous_response_id`) are silent.

For a round that is asked past its reply: the loop adds a message of the user or the system to the list that it sends,
on a way from a reply without tool calls to the next request on which nothing that may be the reply is added; elsewhere
in the loop a reply is. So in the handler of what takes the reply apart. Silent: the message is made of the reply; a
test tells that there was none.

For waiting messages: the list holds replies or the results of tools, or what a run of an agent gives one by one, also
one of another file, and is stored at one place at least that they reach. A list that was loaded counts where it goes
back to the same store, file or table; one that lives on in a store of the project does not wait. So for one that comes
in a tuple. A way out counts when it passes by each of these, and does not give the list to the caller. An error that
leaves the function counts where it is raised there or is one of a request, also in a function of the project that runs
the rounds, or while the pieces of an answer come in, and follows a tool run; the messages are kept nowhere else as they
come. In a handler, a tool counts as well that the model has chosen, where the function that runs it lets its errors
out. What a person has saved by a command (`if text == "save"`) is owed on no other way. Where the list goes nowhere,
what a history or a store that lasts is told of the turn, of its results or of the answer, is looked for in its place: a
way out counts when a tool has run, and it is told nothing. Not reported is that only the user's words are lost, nor the
text of a stream that was not read to its end.

For a talk in a file or table: a `while` loop takes turns, each with tools, and writes behind them what another function
reads. The rounds write nothing there themselves, and no `finally` or handler on the way does, nor `atexit`. Reported is
an error of a later request that ends the program, also in a turn that the function takes before the loop; and Ctrl-C
where the loop reads from a terminal, and no handler on the way leads to a write, or to the next turn. An error that is
caught in the loop is silent, as the next turn writes all. Elsewhere a function loads a talk, has it grow in what it
runs, and writes it behind that: an error of a later request that comes past the write is reported, however it ends, as
what the function has loaded goes with it. A list that a turn gets, and whose longer copy takes its place, is reported
where the turn may fail and the old one goes on.

For a turn that a function runs, itself or in another one: it asks, runs tools, and asks again, and what comes of it is
in nothing that lasts. So does the agent of a library that was given tools (LangChain, LangGraph, Pydantic AI, the
Agents SDK), as long as no session or thread of the library keeps the turn. What lasts (a store, a table, a list that
lives on, or one that a loop hands to the run in each turn) is told behind it of what it gives, or puts into what it is
handed. Reported is an error of a later request that leaves the run and comes to the end past that, or in a loop to the
next turn, which loads the talk again or begins it with its question; in a generator a `yield` before it, also one of
the run that is handed out (`yield from`); and a call before it that is awaited and sends the answer, whose error leaves
the function. A handler that tells what lasts of something else alone (an excuse, what another model says) keeps nothing
of the tools; nor does one place for all ways that is told what the run was sent, where an error has left that as it was
(`talk = run(talk)`). Silent: the run itself puts something of the talk into what lasts (what its tools keep is another
matter), or takes the errors of its requests; each piece is told as it comes. A test for the last word that the run
yields counts as its end.

For a turn that is taken back: a handler takes the error of a request behind a tool's run, and cuts the list at a length
that was taken before, or puts a copy in its place that was made before. Silent: something but the error is put there
by it, too; no tool has run by then.

For a summary: the request is made of a history, and the list that takes the place of that (an attribute, a global, an
entry of one, all of a list that was handed over, or what a caller goes on with) has a message with the reply, and not
all the messages. Or the list has only its newest messages from then on, and the reply is kept somewhere else; or an
attribute, a global or an entry of one holds what earlier requests have made of older messages, goes into the request,
and the reply takes its place. That the reply may be nothing is seen in a default (`or ""`), in a stream of pieces, in
what a handler or a helper of the project gives back, also one that reads the reply, or in a test of it that does not
keep the messages. A list that is emptied and filled again is another one in its place. Silent: a test of the text
between the request and the loss, also in the helper, by which it returns or raises; a text that the program makes of
the messages themselves where the model gives none; a request for few words, such as a language.

For messages that are taken out first: a list that lasts is emptied, cut or gets a part of itself, or a method of an
object does so and gives back what it took; a request is made with what was taken out, and what comes of it is kept.
Reported where the error of the request ends the function, or is caught, past what would put them back. Silent: they
were handed to something else that keeps them; what is cut goes into no request.

For a store that is emptied: a key, rows, or an object that is awaited and that no file of the project has made. What is
put back was loaded from there before, and in several steps, so that an error or the end of the task may come between.
Silent: a transaction or pipeline; rows that are deleted and inserted under one commit; what was loaded is stored
somewhere else first, or is put back in a handler.

For a column: the row comes from a query, its class has the column with a type of which SQLAlchemy sees no changes in
place (`JSON`, `ARRAY`, `PickleType`; not within `MutableList.as_mutable`), and a path leads from the append to a
commit. Silent: `flag_modified` on the way, also in a helper; a new list that was put there in the same transaction; a
row that is new.

For coroutines: the function, of this file or another, adds to a history, or to a table, key or attribute that is read
again. Of a store whose code is not at hand, the same method is awaited elsewhere in the file, or it is one of a library
whose methods are coroutines. Under a decorator that is not known, a function may run by itself, and is silent.

For a copy: a name stands for a list that lives on (an attribute, a global, an entry of one, a list with which the
caller goes on), and on some path for a copy of it: a slice, a sum, a comprehension, what a helper of the project gives
back. Reported is the copy, where an append gets into the lasting list on one path and into the copy on another, or
comes after one that got into the lasting list; a copy that alone gets the question, where the lasting list gets the
answer; and a new list that `talks.get(key, [])` gives, where nothing ever puts one into `talks`. Silent: the list is
put there, returned, or handed to somebody who may keep it, or cut in place, or something is appended through another
name of the lasting list.

The request is recognised in the calls of OpenAI (chat completions, responses), Anthropic, Gemini, Bedrock, Mistral,
LiteLLM, Ollama, LangChain and of wrappers that take `messages=`.

## Known problems
A caller in another file, which may store the reply, is not seen: the method that asks would be reported. A list rebound
to new messages in other ways is not seen, nor are rows of a table that give way to a summary.

## Fix safety
There is no fix: where the message belongs depends on what the path means.

## References
- OpenAI and Anthropic API references: a request holds the whole conversation; the API keeps nothing between calls
- Python language reference, generators: `close()` raises GeneratorExit at the `yield` where the generator waits
"""

from __future__ import annotations

from collections.abc import Iterator

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.rules.draft import Draft, Note, beside
from lint_rules.rules.unsaved_turn_history.forgotten import Forgotten, Passed, forgotten_replies, passed_stores
from lint_rules.rules.unsaved_turn_history.handover import unhanded_turns
from lint_rules.rules.unsaved_turn_history.repeated_requests import RepeatedRequest, repeated_requests
from lint_rules.rules.unsaved_turn_history.replaced import Replaced, replaced_histories
from lint_rules.rules.unsaved_turn_history.turn_ends import TurnEnd, turn_ends
from lint_rules.rules.unsaved_turn_history.unawaited import Unrun, unrun_stores
from lint_rules.syntax import expressions as ex

_HOW = {
    "leaves": "the turn can end here",
    "handler": "this handler ends the turn",
    "yield": "whoever reads this generator may stop here, which ends it",
    "error": "this request fails behind a tool's run",
    "run": "a later round of this fails",
    "request": "this request fails in a later round",
}


def check(anatomy: Anatomy) -> Iterator[Draft]:
    forgotten = [*forgotten_replies(anatomy)]
    yield from map(_reply, forgotten)
    asked = {found.asks for found in forgotten}
    yield from (_passed(passed) for passed in passed_stores(anatomy) if passed.asks not in asked)
    yield from map(_round, repeated_requests(anatomy))
    for replaced in replaced_histories(anatomy):
        yield _replaced(replaced)
    yield from map(_never_run, unrun_stores(anatomy))
    waiting = [*unhanded_turns(anatomy)]
    known = {anatomy.module.scope_of[found.turn].function for found in waiting}
    yield from map(_ended, (*waiting, *turn_ends(anatomy, known)))


def _reply(found: Forgotten) -> Draft:
    history = _named(found.user, found.history)
    message = (
        f"the reply goes out here, but never into `{history}`:"
        " in the next turn the model knows the question, and not what it answered"
    )
    cure = f"append the assistant's message to `{history}` on this path too, before the turn ends"
    notes = [Note(found.asks, f"the reply to this request, which sends `{history}`")]
    if found.inner is not None:
        notes.append(Note(found.inner, "it comes back from here"))
    notes.append(Note(found.user.node, f"the user's message stays in `{history}`"))
    return Draft(found.leaves, message, cure, tuple(n for n in notes if n.node is not found.leaves))


def _passed(found: Passed) -> Draft:
    message = (
        "the reply goes out here, past what stores it: in the next turn the model does not know what it has answered"
    )
    notes = (Note(found.asks, "the reply to this request"), Note(found.save, "it is stored here only"))
    return Draft(found.leaves, message, "store the question and the reply on this path, too", notes)


def _named(stored: Stored, slot: Slot) -> str:
    """The history as the program writes it: `self.state.messages`."""
    base = ex.receiver(stored.node)
    here = stored.write is not None and stored.write.node is stored.node
    return ex.source(base, 40) if here and base is not None else describe(slot)


def _round(found: RepeatedRequest) -> Draft:
    history = _named(found.stores, found.history)
    message = (
        f"a reply without tool calls passes by this test: nothing is added to `{history}`,"
        " and the next round sends the same request again"
    )
    cure = f"append the reply to `{history}` in every case, and end the loop when it has no tool calls"
    notes = (Note(found.asks, "the request"), Note(found.stores.node, f"the only growth of `{history}`"))
    return Draft(found.test, message, cure, notes)


def _replaced(found: Replaced) -> Draft:
    history, value = describe(found.history), ex.source(found.node.value, 40)
    message = f"`{value}` holds the messages of this turn only: all turns before it are lost from `{history}`"
    cure = f"add them: `{history}.extend({value})`"
    return Draft(found.node, message, cure, (Note(found.call, f"the turn, which was given `{history}`"),))


def _never_run(found: Unrun) -> Draft:
    lost = "what was said is not stored" if found.history is None else f"nothing is stored in `{found.history}`"
    notes = (Note(found.write, "what it would have stored"),) if found.write is not None else ()
    message = f"`{found.function}` is a coroutine and is not awaited: it never runs, and {lost}"
    return Draft(found.node, message, "await it", notes)


def _ended(found: TurnEnd) -> Draft:
    what = "the turn" if found.waiting is None else f"`{describe(found.waiting)}`"
    holds = "a request of the turn" if found.waiting is None else f"{what} holds the messages of the turn"
    notes = [Note(found.turn, holds), Note(found.told, f"{what} is stored here only")]
    if found.handler is not None:
        notes.append(Note(found.handler, "its error ends the turn here"))
    how = _HOW[found.way]
    message = (
        f"when {how}, nothing stores {what}: its replies and tool results are lost, though tools have run, and the next"
        " turn runs them again"
        if found.way in {"error", "run", "request"}
        else f"{how} before {what} is stored: its replies and tool results are lost, and the next turn does not know"
        " what was done"
    )
    cure = f"store {what} in a `finally`, or each message as it comes"
    return Draft(found.leaves, message, cure, beside(found.leaves, notes))
