"""# overlapping-turns (AGL102)

## What it does
Reports a turn of an agent that can start while another turn on the same history still runs: a timer that is armed
again before the turn, a task or thread for each event, a request handler, a background loop beside what the user
types; with no lock, queue or busy flag over the *whole* turn.

## Why is this bad
The messages of both turns land in one history in the order in which they happen to come. A user's message then stands
between a tool call and its result, and the API refuses the history for good; or the model answers the one turn with
the results of the other. A lock around each append does not help: it keeps single messages whole, not turns.

## Symptoms
- the chat breaks when the user writes again before the answer is there
- the answer is to the question before
- OpenAI: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  The following tool_call_ids did not have response messages`
- Gemini: `Please ensure that function response turn comes immediately after a function call turn.`

## Example
```python
class Pilot:
    def __init__(self, client):
        self.client = client
        self.messages = []

    def tick(self):
        threading.Timer(60, self.tick).start()
        self.turn("Look around.")

    def turn(self, text):
        self.messages.append({"role": "user", "content": text})
        reply = self.client.chat.completions.create(model="gpt-4o", messages=self.messages)
        self.messages.append(reply.choices[0].message)
```

## Use instead
```python
class Pilot:
    def __init__(self, client):
        self.client = client
        self.messages = []
        self.running = threading.Lock()

    def tick(self):
        self.turn("Look around.")
        threading.Timer(60, self.tick).start()

    def turn(self, text):
        with self.running:
            self.messages.append({"role": "user", "content": text})
            reply = self.client.chat.completions.create(model="gpt-4o", messages=self.messages)
            self.messages.append(reply.choices[0].message)
```

## How it decides
A turn is a function that asks a model (itself, or through functions and objects of the project) and makes a history
longer that outlives it: an attribute, a global, an entry of a registry, a list that is handed in, what a store outside
of the program loads and saves (rows, lines, one long text, too), or what the provider keeps (an Assistants thread, a
`conversation` or `previous_response_id`, a chat object, a session of an SDK, a `thread_id`). The model may be asked
with whatever is made of the history, if what it says goes there. A history that is copied, that each run begins anew
(that is AGL104), or that stands under a key which was just made, is the run's own.

Starts are threads, timers, executors, tasks, jobs of schedulers, workers of windows, and handlers of web servers and
bots, in this file, or, where looplint was given the folder, in those that import it. Queues and functions in a cloud
run in processes of their own: of their turns only those overlap whose history lies outside of the program. Objects are
one for all runs if they lie in a global, a registry or an attribute, if a framework hands them to all handlers
(`request.app.state.desk`, `Depends`), if a cached function gives them, or if they were handed to what was begun.

From each start the calls are followed until a lock, or a busy flag that is tested and set without an `await` between,
keeps runs apart; it must hold over the whole turn: of helpers that each take the lock for their own part, none does.
Nor does a lock that no other run can take: in a local name, or on an object that is made for the request.
Two runs of one start overlap when it stands in a loop, runs per event, or begins a task for what it is given; a handler
is reported when its turn stores tool results, or a question and its answer, or the answer to what it has loaded before
(that one history serves all users is AGL103). Two different starts must reach one history; or a start and the code that
goes on after it, or a public method beside a turn that comes by the clock. On an event loop there must be an `await`
within the turn that lets others run.

Silent: `while True: await turn(); await sleep(n)`; one consumer of a queue; tasks that the next one cancels, or whose
end is waited for on every way to the next; executors with one worker; parts of objects that are made for each run, by
it, a helper, a caller or `Depends`; the body of a request; a call that tells by a constant to leave the history alone;
tasks for hooks, typing signs and single tools.

## Known problems
Objects of classes from installed packages are known to keep a history only where a table says so. Of one file alone
(standard input, an editor, flake8) nobody knows who calls it.

## Fix safety
There is no fix: whether a turn should wait, be dropped, or end the one that runs is for the program to say.

## References
- OpenAI API reference: an assistant message with `tool_calls` must be followed by tool messages for each call
- Python documentation, `asyncio.Lock`, `threading.Timer`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns import schedules
from lint_rules.anatomy.turns.common_histories import ServedToAll
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.finding import Confidence
from lint_rules.rules.draft import Draft, Note, beside, started
from lint_rules.rules.overlapping_turns.overlaps import Overlap, Overlaps
from lint_rules.syntax.module import Scope

_HELP = "hold one lock from the user's message to the last result, or let one consumer of a queue run all turns"
_MOST_STARTS = 3
_ARM_LATER = "arm the timer when the turn has ended"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    overlaps = list(Overlaps(anatomy).all())
    common = ServedToAll(anatomy) if any(map(_of_text, overlaps)) else ()
    told: set[tuple[Scope, Scope, Slot]] = set()
    for found in overlaps:
        same = found.start.function, found.turn.function, found.turn.slot
        if same in told:
            continue  # a turn that asks twice is one turn
        if _of_text(found) and (found.turn.slot in common or _has_one_key(anatomy, found)):
            continue
        told.add(same)
        begun = (each for each in anatomy.races.starts if each.function is found.start.function)
        notes = [started(each) for each in dict.fromkeys([found.start, *begun])][:_MOST_STARTS]
        if found.start.switch is not None:
            notes.append(Note(found.start.switch, "this lets several run at a time"))
        if found.other is not None:
            notes.append(Note(found.other, f"`{found.entry}` runs a turn, too"))
        notes.append(Note(found.turn.asks[0], "the model is asked here"))
        grows = found.turn.there or [(anatomy.module, node) for node in found.turn.grows[:1]]
        notes += [Note(node, f"`{describe(found.turn.slot)}` grows here", module) for module, node in grows]
        confidence: Confidence = "medium" if found.start.comes_with_events else "high"
        cure = _ARM_LATER if found.how == "rearmed" else _HELP
        yield Draft(found.node, _message(found), cure, beside(found.node, notes), confidence)


def _of_text(found: Overlap) -> bool:
    """Whether requests only mix questions and answers: no tool result is parted from its call."""
    return found.start.comes_with_events and not found.turn.tools


def _has_one_key(anatomy: Anatomy, found: Overlap) -> bool:
    """Whether the turn is of a conversation that all users have in common, as AGL103 says."""
    return isinstance(found.node, cst.Call) and anatomy.conversations.name_for_all(found.node) is not None


def _message(found: Overlap) -> str:
    name, history = found.start.function.name, describe(found.turn.slot)
    if found.how == "rearmed":
        return (
            f"`{name}` is started again before its turn runs: a turn that takes longer overlaps the next in `{history}`"
        )
    if found.how == "many" and found.start.comes_with_events:
        return f"`{name}` runs a turn for each request on `{history}`, and nothing keeps turns apart: {_harm(found)}"
    if found.how == "many":
        return f"`{name}` is started while an earlier turn on `{history}` may still run: {_harm(found)}"
    turn = found.turn.function.name
    return f"`{turn}` can run for `{name}` and for `{found.entry}` at once on `{history}`: {_harm(found)}"


def _harm(found: Overlap) -> str:
    if found.turn.tools:
        return schedules.PARTED
    if found.turn.kept:
        return schedules.KEPT
    return schedules.STALE if found.turn.loaded else schedules.MIXED
