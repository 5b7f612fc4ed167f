"""# unlocked-history-append (AGL101)

## What it does
Reports a write to a message history that concurrent code shares, made without the lock that guards it elsewhere, or
with no lock at all where two writers can be seen.

## Why is this bad
Two turns on one list interleave: another turn's message comes between an assistant message with tool calls and the
results of these calls, and the API refuses the whole history. A rebind (`self.h = self.h[-50:]`) is worse: whatever
another thread appended in between is gone; two threads that rebind lost up to 38 % of their messages when measured.

## Symptoms
- messages get lost when two requests come at once
- the chat works alone and breaks under load
- OpenAI: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  The following tool_call_ids did not have response messages`

## Example
```python
class Chat:
    def __init__(self):
        self.lock = threading.Lock()
        self.messages = []

    def say(self, text):
        self.messages.append({"role": "user", "content": text})
        return self.turn()

    def remember(self, message):
        with self.lock:
            self.messages.append(message)
```

## Use instead
```python
class Chat:
    def __init__(self):
        self.lock = threading.Lock()
        self.messages = []

    def say(self, text):
        with self.lock:
            self.messages.append({"role": "user", "content": text})
        return self.turn()

    def remember(self, message):
        with self.lock:
            self.messages.append(message)
```

## How it decides
**Reported when** two runs that may overlap come to one history, one of them writes, and no lock is held over both:

1. one write is made under a lock, or in a function that is called under one, and another is not, and does harm: it
   replaces or cuts the list, is a part of a turn, or the history holds more than words;
2. there is no lock at all, and a write replaces what others add to, takes the last message away, or is a part of a turn
   between whose tool calls and results the others may run;
3. a run reads a history, waits, and rewrites or empties it from that: of an object, by its methods too; or saves it as
   a whole over what it had loaded from a file, a key, a row, a document or a store of the project, where requests
   overlap; or sets to its new length how far it was read. In threads no wait is needed;
4. a conversation is begun, at the provider's or in an object of its library, because a look into a registry found none,
   and stored there after a wait; or
5. a history is emptied, begun anew with its object, its rows deleted, or its last message taken back, while the turn of
   another run may wait for the model.

**Followed**: threads, tasks, timers, executors and request handlers, in other files too, where looplint was given the
folder; one that overlaps with itself; what goes on behind one on the same object; functions, methods and base classes.

**Silent when**

- it is written in `__init__`, on an object that the function made for itself, or for a WebSocket's connection;
- all callers hold the lock, a branch found none (`if self.lock: ... else:`), or the store's own append locks;
- tasks are waited for, a busy flag is tested, or handlers are run one after another; these are beside what a worker, a
  job or a thread has begun, not beside each other;
- on one event loop nothing is awaited in between, or only what never waits itself;
- the history is read again behind the wait, or just what was read is cut out;
- a row is added, pushed, or updated if its version is the same; `FOR UPDATE`, `BEGIN IMMEDIATE`, `WATCH`;
- all that is stored is words, and one more line is added without the lock; or
- all users have the history in common: that is AGL103, and only the third is told here.

## Known problems
Of one file alone (standard input, an editor, flake8) nobody knows who calls it. An object of an imported class with an
`append` of its own is taken to lock itself. Whether two requests mean one key is not known: that they may is enough.

## Fix safety
Unsafe for a write that has a lock elsewhere: it is put under that lock, unless somebody may hold the lock already on
the way there, or the write is a part of a longer turn. Shown only where there is no lock at all: one is made beside the
history, one for each key where histories have keys, and held by everybody over the whole turn, for a lock for each
append keeps no turns apart. There is none where a person or a message would be waited for under the lock, where threads
and tasks both write, where a turn would come to take it twice, where the key becomes known only within the turn, and
for stores outside the program.

## References
- OpenAI API reference: an assistant message with `tool_calls` must be followed by tool messages for each call
- Python FAQ, "What kinds of global value mutation are thread-safe?"
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.turns.common_histories import ServedToAll
from lint_rules.anatomy.values.slots import Slot
from lint_rules.finding import Confidence
from lint_rules.rules.draft import Draft, beside
from lint_rules.rules.unlocked_history_append.fixes import repair as repair  # a rule's module says so that it has one
from lint_rules.rules.unlocked_history_append.new_lock import new_lock
from lint_rules.rules.unlocked_history_append.pair import Pair
from lint_rules.rules.unlocked_history_append.removed import removals
from lint_rules.rules.unlocked_history_append.stale import rewrites
from lint_rules.rules.unlocked_history_append.unlocked import unlocked
from lint_rules.syntax.module import Scope

_LATER = "in line {line}, before {wait}: messages that were added meanwhile are lost"
_FROM_READ = "hold one lock from the read to the write, or cut exactly what was read: `h[:len(read)] = [...]`"
_OF_TURN = "hold the lock of the turn around this, too"
_SAYS = {
    "bare": (
        "`{name}` is written here without `{lock}`, which guards it in line {line}: {harm}",
        "take `{lock}` around this, too",
    ),
    "outside": (
        "`{function}` changes `{name}` and is called here without `{lock}`, which line {line} holds:"
        " its messages can land in the middle of another turn",
        "take `{lock}` around this call, too",
    ),
    "no lock": (
        "`{name}` is written by concurrent {runs} without a lock: {harm}",
        "hold one lock (or queue) for the whole turn; a lock for each append does not keep turns apart",
    ),
    "rewritten": (
        f"`{{name}}` is rewritten from what was read {_LATER}",
        _FROM_READ,
    ),
    "emptied": (f"`{{name}}` is emptied, with what was read {_LATER}", _FROM_READ),
    "written back": ("`{name}` is rewritten from what was read in line {line}: {harm}", _FROM_READ),
    "saved": (
        "`{name}` is saved here as a whole, from what was loaded in line {line}:"
        " A loads · B loads · A saves · B saves, and A's messages are lost",
        "hold one lock for each key from the load to the save, or have the store append what is new",
    ),
    "made": (
        "`{name}` is made here because a look in line {line} found none, with a wait in between:"
        " A finds none · B finds none · A stores its conversation · B its own, and what was said in A's is lost",
        "hold one lock for each key from the look to the store",
    ),
    "counted": (
        "`{name}` is set to the length that the history has now, but what lay behind it was read in line {line}:"
        " messages that were added meanwhile are never read",
        "note how much was read: `seen += len(new)`",
    ),
    "begun": ("`{name}` is begun anew here while the turn in line {line} may wait for the model: {harm}", _OF_TURN),
    "taken": (
        "the last message of `{name}` is taken back here while the turn in line {line} may wait for the model: {harm}",
        _OF_TURN,
    ),
}
"""For each kind of pair what it says, and what to do about it."""
_UNGUARDED = frozenset({"no lock", "rewritten", "written back"})
"""Where no lock guards the history, and one is shown."""
_SURE = frozenset({"bare", "outside", "rewritten", "written back"})


def check(anatomy: Anatomy) -> Iterator[Draft]:
    """One finding for each place; of each history one a function, and what is rewritten from a stale read."""
    races = anatomy.races
    reported: set[cst.CSTNode] = set()
    told: set[tuple[Slot | None, Scope]] = set()
    common = ServedToAll(anatomy) if races.starts else None
    for pair in rewrites(races):
        reported.add(pair.node)
        told.add((pair.slot, anatomy.module.scope_of[pair.node].function))
        yield _draft(anatomy, pair)
    others = (pair for history in races.histories for pair in unlocked(races, history))
    for pair in chain(removals(anatomy) if races.starts else (), others):
        key = pair.slot, anatomy.module.scope_of[pair.node].function
        if pair.node not in reported and key not in told and not _is_left(common, pair.slot):
            reported.add(pair.node)
            told.add(key)
            yield _draft(anatomy, pair)


def _is_left(common: ServedToAll | None, slot: Slot | None) -> bool:
    """Whether a history is left to cross-session-history: it is one for all users, and of no bot's own."""
    return common is not None and slot is not None and slot in common and slot not in common.own


def _draft(anatomy: Anatomy, pair: Pair) -> Draft:
    says, cure = _SAYS[pair.how]
    words = {**pair.words, "line": str(anatomy.line(pair.other))}
    sure: Confidence = "high" if pair.how in _SURE else "medium"
    fix = new_lock(anatomy.races, pair.slot) if pair.slot is not None and pair.how in _UNGUARDED else pair.fix
    return Draft(pair.node, says.format(**words), cure.format(**words), beside(pair.node, pair.notes), sure, fix)
