"""# unsaved-turn-history (AGL606)

## What it does
Reports ways on which a turn ends, and what was said or done in it gets into no history with which the next one begins:

- tools have run, and the turn is stored only behind its last round: a `return`, a handler, an error of a later request,
  or, in a generator, a reader who stops early, passes by that;
- a reply is shown or returned, and on that way not stored beside the question that it answers;
- a round drops a reply without tool calls, so that the same request is sent again;
- a history is replaced by the new messages of one turn (Pydantic AI's `new_messages()`, `messages` of Swarm's
  response);
- a coroutine that stores messages is called without `await`, and never runs.

## Why is this bad
The model knows of earlier turns what the history holds, and nothing else. Without its own reply it sees two questions
in a row, contradicts what it said, or answers the first one again. Where a whole turn is lost, tools that have run (a
booking, a payment) run a second time, as nothing tells the model of the first.

## Symptoms
- the agent forgets its own answers
- the model answers the question before again
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
**Reported when**

1. tools run in a function, or in one that it calls, and asks again behind them; what lasts is told of that further on
   in the same function; and a way leads past it to the end of the function or to its next turn:
   - a `return`, a `break` or a `raise` behind a tool's run;
   - a handler of what fails there, or an error that leaves the function: of a later request, or, where another
     function runs the rounds, of one in there;
   - a `yield`, where the reader may stop;
2. the same of a list of the function's own, or one that it has loaded, in which replies and results wait until it is
   handed to what lasts;
3. a generator grows the list of its object, and a `yield` comes between that and the write to a file;
4. a question is stored in a list that lives on and is sent, and the reply goes to a user or a caller on a way past all
   that could store it; or past where the function stores its turn outside of the program otherwise;
5. a way leads from a reply without tool calls to the same request, and past the only place in the round that stores;
   or a message of the user or the system takes the reply's place, and is not made of it;
6. a list takes the messages that the run it was given to calls new; or
7. a coroutine function of the project, called as a statement, would add to a history, or to what is read again.

**Followed**: helpers, methods and callers of the file, and functions of other files that a call leads to. What lasts is
an attribute, a global, an entry of one, a table, file or key that is read again, or an object that keeps what it is
told and gives it back.

**Silent when**

- each round tells what lasts of its results, the run does so itself, or a session, thread or checkpointer of a library;
- a `finally` or a handler on the way stores the turn; a handler that tells of the error alone does not;
- the list, or what tools gave, is given back to the caller;
- an `if` around the store is the program's own wish: one that does not ask for tool calls;
- what is told is no part of what the model is asked with: a list that is shown, a log, a count;
- a person stores by a command (`if text == "save"`);
- a turn has no next one: its list begins anew each time, or its object is made for one task;
- the question is one beside the conversation (`[*history, question]`), or the API keeps the conversation;
- a reply says that it failed, or its stream was not read to the end.

## Known problems
A caller in another file, which may store the reply, is not seen: the method that asks would be reported. That tools
only look something up, and may as well run again, is not asked.

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
    if isinstance(found.test, Stored):
        message = (
            f"this goes into `{history}` in the place of the reply that it speaks of: the model does not see what it"
            " has said, and the round is lost"
        )
        notes = (Note(found.asks, "the request"), Note(found.stores.node, f"where a reply gets into `{history}`"))
        return Draft(found.test.node, message, f"append the reply to `{history}` first", notes)
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
    holds = "a part of the turn" if found.waiting is None else f"{what} holds the messages of the turn"
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
