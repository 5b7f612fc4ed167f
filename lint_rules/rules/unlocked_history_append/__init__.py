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
A lock that guards the history in one place says that the program means to be concurrent: writes in other places that do
not hold it are reported, also when the same method is called once inside and once outside the lock. Without any lock,
two concurrent starts (threads, tasks, timers, executors, request handlers), one that overlaps with itself, or one and
what runs on the same object behind it, must reach the write on an object that they share, and the write must be able to
do harm: a rebind of what others add to, the last message taken away, or a turn with tool messages between whose calls
and results others may run.

Stale rewrites: a history that is read and then rewritten from that after an `await` or a model call, or in a thread at
any time, while others can write; also by the methods of an object (`log.replace(kept)` of what `log.all()` gave), also
if it is emptied for a digest, and a mark of how far it was read that is set to a later length. So is one that a handler
loads from a file, a key, a row, a document or a store of the project, and saves there as a whole with no lock from the
load to the save: two requests load the same list, and the later save is all that stays. What is loaded and saved
follows from what functions do, in this file or an imported one, or from its use. Silent there: a row that is added, a
push, an update that compares a version, `FOR UPDATE`, `BEGIN IMMEDIATE`, `WATCH`, and a load and save without an
`await` in one event loop.

Two more forms: a conversation that the provider, or an object of its library, begins because a look into a registry
found none, and that is stored there after a wait; and messages that one run takes out of a history while the turn of
another may wait for the model: it empties it, begins it or its object anew, deletes its rows, or takes the last message
back, which by then may be the other's question.

What runs concurrently may be seen in another file, where looplint was given the folder, also in base classes. Handlers
that come one after the other are beside what a worker, a job or a thread has begun, not beside each other.

Silent everywhere: `__init__`, objects a function made for itself, what a WebSocket keeps for its connection, tasks
whose end is waited for, what is taken out behind a test of what the turn sets, callers that all hold the lock, a branch
that found no lock (`if self.lock: with self.lock: ...`, `else:`), frameworks that run handlers one after another, a
plain function that the event loop runs; one more line without the lock in a talk that holds nothing but words. Of a
history that all users have in common, only stale rewrites are reported here: that it is common is AGL103.

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

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.turns import schedules
from lint_rules.anatomy.turns.common_histories import ServedToAll
from lint_rules.anatomy.turns.races import Races
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.finding import Related
from lint_rules.rules.draft import Draft, Note, beside, started
from lint_rules.rules.unlocked_history_append.creations import Creation, creations
from lint_rules.rules.unlocked_history_append.cursors import Cursor, cursors
from lint_rules.rules.unlocked_history_append.fixes import repair
from lint_rules.rules.unlocked_history_append.new_lock import new_lock
from lint_rules.rules.unlocked_history_append.resets import Reset, resets_beside, stores_emptied
from lint_rules.rules.unlocked_history_append.rewrites import Rewrite, rewrites
from lint_rules.rules.unlocked_history_append.unlocked import LOSING, Bare, NoLock, OutsideCall, Unlocked, unlocked
from lint_rules.syntax.module import Scope

_ONE_LOCK = "hold one lock (or queue) for the whole turn; a lock for each append does not keep turns apart"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    races = anatomy.races
    reported: set[cst.CSTNode] = set()
    told: set[tuple[Slot, Scope]] = set()
    common = ServedToAll(anatomy) if races.starts else None
    for rewrite in rewrites(races):
        reported.add(rewrite.node)
        if rewrite.slot is not None:
            told.add((rewrite.slot, rewrite.function))
        yield _stale_rewrite(races, rewrite)
    for cursor in cursors(races):
        reported.add(cursor.node)
        yield _read_too_far(anatomy, cursor)
    for made in creations(races):
        reported.add(made.node)
        yield _made_twice(anatomy, made)
    for reset in (*resets_beside(anatomy), *stores_emptied(anatomy)) if races.starts else ():
        if reset.node not in reported and (reset.slot, reset.function) not in told and not _left(common, reset.slot):
            reported.add(reset.node)
            told.add((reset.slot, reset.function))
            yield _removed(anatomy, reset)
    for history in races.histories:
        for found in unlocked(races, history) if not _left(common, history.slot) else ():
            draft, function = _unlocked(races, found)
            if draft.node not in reported and (history.slot, function) not in told:
                reported.add(draft.node)
                told.add((history.slot, function))
                yield draft


def _left(common: ServedToAll | None, slot: Slot) -> bool:
    """Whether a history is left to cross-session-history: it is one for all users, and of no bot's own."""
    return common is not None and slot in common and slot not in common.own


def _unlocked(races: Races, found: Unlocked) -> tuple[Draft, Scope]:
    """What to say, and the function that is at fault: of each history it is reported once."""
    if isinstance(found, Bare):
        return _bare(races, found), found.write.function
    if isinstance(found, OutsideCall):
        return _outside_call(races, found), found.site.caller
    return _no_lock(races, found), found.writes[0].function


def _bare(races: Races, found: Bare) -> Draft:
    write, other, lock = found.write, found.other, found.lock
    line = races.anatomy.line(other.node)
    message = (
        f"`{describe(write.slot)}` is written here without `{lock}`, which guards it in line {line}: {_harm(found)}"
    )
    notes = (Note(other.node, f"written under `{lock}` here"), _why(write))
    return Draft(write.node, message, f"take `{lock}` around this, too", notes, fix=repair(races, write, other))


def _harm(found: Bare) -> str:
    if found.write.kind in LOSING or found.write.kind == "cut":
        return schedules.LOST
    if found.text:
        return schedules.MIXED
    return "it can land in the middle of another turn, between tool calls and their results"


def _outside_call(races: Races, found: OutsideCall) -> Draft:
    name, lock = describe(found.write.slot), found.lock
    message = (
        f"`{found.write.function.name}` changes `{name}` and is called here without `{lock}`,"
        f" which line {races.anatomy.line(found.locked.node)} holds:"
        " its messages can land in the middle of another turn"
    )
    notes = (
        Note(found.locked.node, f"called under `{lock}` here"),
        Note(found.write.node, f"`{name}` is written here"),
        _why(found.write),
    )
    return Draft(found.site.node, message, f"take `{lock}` around this call, too", notes)


def _no_lock(races: Races, found: NoLock) -> Draft:
    write, first, second = found.writes[0], found.first, found.second
    what = {"thread": "threads", "task": "tasks", "handler": "requests", "serial": "handlers"}[first.kind]
    message = f"`{describe(write.slot)}` is written by concurrent {what} without a lock: {found.harm}"
    notes = [started(first), *([started(second)] if second is not None else [])]
    notes += [Note(w.node, "also written here") for w in found.writes[1:4]]
    notes.append(_why(write))
    return Draft(write.node, message, _ONE_LOCK, beside(write.node, notes), "medium", fix=new_lock(races, write.slot))


def _why(write: HistoryWrite) -> Note:
    return Note(write.evidence.root.node, f"`{describe(write.slot)}` is the message history: {write.evidence.clause}")


def _made_twice(anatomy: Anatomy, made: Creation) -> Draft:
    name = describe(made.slot)
    message = (
        f"`{name}` is made here because a look in line {anatomy.line(made.look)} found none, with a wait in between:"
        " A finds none · B finds none · A stores its conversation · B its own, and what was said in A's is lost"
    )
    notes = (Note(made.look, "nothing is found here"), Note(made.made, "others run meanwhile"), started(made.start))
    cure = "hold one lock for each key from the look to the store"
    return Draft(made.node, message, cure, beside(made.node, notes), "medium")


def _read_too_far(anatomy: Anatomy, cursor: Cursor) -> Draft:
    message = (
        f"`{describe(cursor.slot)}` is set to the length that `{describe(cursor.history)}` has now, but what lay behind"
        f" it was read in line {anatomy.line(cursor.read)}: messages that were added meanwhile are never read"
    )
    other = cursor.other
    beside_it = started(other) if isinstance(other, Start) else Note(other, "messages may be added here meanwhile")
    notes = (Note(cursor.read, "read here"), Note(cursor.wait, "others run meanwhile"), beside_it)
    cure = "note how much was read: `seen += len(new)`"
    return Draft(cursor.node, message, cure, beside(cursor.node, notes), "medium")


def _removed(anatomy: Anatomy, reset: Reset) -> Draft:
    line = anatomy.line(reset.turn.asks[0])
    what = "the last message of `{}` is taken back here" if reset.last else "`{}` is begun anew here"
    harm = schedules.TAKEN if reset.last else schedules.EMPTIED
    message = f"{what.format(describe(reset.slot))} while the turn in line {line} may wait for the model: {harm}"
    notes = [Note(reset.turn.asks[0], "a turn waits here"), started(reset.start)]
    notes += [Note(node, "and here") for node in reset.others[:3]]
    cure = "hold the lock of the turn around this, too"
    return Draft(reset.node, message, cure, beside(reset.node, notes), "medium")


def _other(rewrite: Rewrite) -> Note | Related:
    return started(rewrite.other) if isinstance(rewrite.other, Start) else Note(rewrite.other, rewrite.who)


def _lost_update(anatomy: Anatomy, rewrite: Rewrite) -> Draft:
    """A history of a store outside the program: what is lost is what another run has saved."""
    message = (
        f"`{rewrite.name}` is saved here as a whole, from what was loaded in line {anatomy.line(rewrite.read)}:"
        " A loads · B loads · A saves · B saves, and A's messages are lost"
    )
    notes = [Note(rewrite.read, "loaded here"), _other(rewrite)]
    if rewrite.there is not None:
        module, node = rewrite.there
        notes.append(Note(node, "written here", module))
    notes += [Note(node, "and saved here") for node in rewrite.others[:3]]
    cure = "hold one lock for each key from the load to the save, or have the store append what is new"
    return Draft(rewrite.node, message, cure, beside(rewrite.node, notes), rewrite.confidence)


def _stale_rewrite(races: Races, rewrite: Rewrite) -> Draft:
    if rewrite.stored:
        return _lost_update(races.anatomy, rewrite)
    line = races.anatomy.line(rewrite.read)
    if rewrite.wait is None:
        message = f"`{rewrite.name}` is rewritten from what was read in line {line}: {schedules.LOST}"
    else:
        how = "emptied, with" if rewrite.emptied else "rewritten from"
        message = (
            f"`{rewrite.name}` is {how} what was read in line {line}, before"
            f" {rewrite.waited}: messages that were added meanwhile are lost"
        )
    notes = [Note(rewrite.read, "read here"), _other(rewrite)]
    if rewrite.wait is not None:
        notes.insert(1, Note(rewrite.wait, "others run meanwhile"))
    cure = "hold one lock from the read to the write, or cut exactly what was read: `h[:len(read)] = [...]`"
    fix = new_lock(races, rewrite.slot) if rewrite.slot is not None and not rewrite.emptied else None
    return Draft(rewrite.node, message, cure, beside(rewrite.node, notes), rewrite.confidence, fix)
