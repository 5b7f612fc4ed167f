"""# unlocked-history-append (AGL101)

## What it does
Reports a write to a message history that concurrent code shares, made without the lock that guards it elsewhere, or
with no lock at all where two writers can be seen.

## Why is this bad
Two turns on one list interleave: another turn's message comes between an assistant message with tool calls and the
results of these calls, and the API refuses the whole history. A rebind (`self.h = self.h[-50:]`) is worse: whatever
another thread appended in between is gone; two threads that rebind lost up to 38 % of their messages when measured.

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
A lock that guards the history in one place says that the program means to be concurrent: writes in other places that
do not hold it are reported, also when the same method is called once inside and once outside the lock. Without any
lock, two concurrent starts (threads, tasks, timers, executors, request handlers) or one that overlaps with itself
must reach the write, on an object that they share, and the write must be able to do harm: a rebind, or a turn with
tool messages. A history that is read, then rewritten after an `await` or a model call from what was read, is reported
when somebody else can write meanwhile. Silent: `__init__`, objects a function made for itself, callers that all hold
the lock, a call whose other branch takes it (`if ours: turn()`, `else:` lock and turn), frameworks that run handlers
one after another. Of a history that all users have in common, only stale rewrites are reported here: that it is common
is what cross-session-history (AGL103) reports.

## Known problems
Threads that are started in other files are not seen. A lock that another file takes around the call is not seen.

## Fix safety
Unsafe, and only for a write that has a lock elsewhere: it is put under that lock, unless somebody may hold the lock
already on the way there, or the write is a part of a longer turn. There is no fix without a lock: a new lock per append
is no cure, for turns still interleave.

## References
- OpenAI API reference: an assistant message with `tool_calls` must be followed by tool messages for each call
- Python FAQ, "What kinds of global value mutation are thread-safe?"
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.busy import follows_its_last
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.program.locks import UNKNOWN
from lint_rules.anatomy.turns.common_histories import common_histories
from lint_rules.anatomy.turns.races import Races, SharedHistory
from lint_rules.anatomy.turns.rewrites import Rewrite, rewrites
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.repairs.unlocked_history_append import repair
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax.module import Scope

_LOSES = frozenset({"rebind", "replace"})
_ONE_LOCK = "hold one lock (or queue) for the whole turn; a lock for each append does not keep turns apart"


def check(anatomy: Anatomy) -> Iterator[Draft]:
    races = Races(anatomy)
    reported: set[cst.CSTNode] = set()
    told: set[tuple[Slot, Scope]] = set()
    common = _common(anatomy) if races.starts else set()
    for rewrite in rewrites(races):
        reported.add(rewrite.node)
        if rewrite.slot is not None:
            told.add((rewrite.slot, rewrite.function))
        yield _stale_rewrite(anatomy, rewrite)
    for history in races.histories:
        if history.slot in common:
            continue
        for draft, function in _of(races, history):
            if draft.node not in reported and (history.slot, function) not in told:
                reported.add(draft.node)
                told.add((history.slot, function))
                yield draft


def _common(anatomy: Anatomy) -> set[Slot | None]:
    """The histories that all users have in common: a lock around appends would not help, and AGL103 reports them."""
    return {found.slot for found in common_histories(anatomy) if found.slot is not None and found.serving is not None}


def _of(races: Races, history: SharedHistory) -> Iterator[tuple[Draft, Scope]]:
    guarded = [w for w in history.writes if races.held(w)]
    entered = _entered_both_ways(races, history)
    if guarded or entered:
        yield from _unlocked(races, history, guarded)
        yield from _outside_calls(races, history, entered)
    elif races.starts:
        yield from _no_lock(races, history)


# -- (a) locked here, not locked there -------------------------------------------------------------------------


def _unlocked(races: Races, history: SharedHistory, guarded: list[HistoryWrite]) -> Iterator[tuple[Draft, Scope]]:
    named = [w for w in guarded if _named(races.held(w))]
    if not named:
        return
    for function, writes in races.by_function(history.writes).items():
        bare = [w for w in writes if not races.held(w)]
        if bare and not _partly_locked(races, function):
            other = next((w for w in named if w.function is not function), named[0])
            yield _unlocked_draft(races, bare[0], other), function


def _named(locks: frozenset[Slot]) -> list[str]:
    """The locks that have a place of their own, by name; one that a call gives may be another each time."""
    return sorted(describe(lock) for lock in locks if lock != UNKNOWN and lock[0] not in {"call", "return"})


def _unlocked_draft(races: Races, write: HistoryWrite, other: HistoryWrite) -> Draft:
    name = describe(write.slot)
    lock = _named(races.held(other))[0]
    line = races.anatomy.line(other.node)
    message = f"`{name}` is written here without `{lock}`, which guards it in line {line}: {_harm(write)}"
    notes = (
        Note(other.node, f"written under `{lock}` here"),
        _why(write),
    )
    return Draft(write.node, message, f"take `{lock}` around this, too", notes, fix=repair(races, write, other))


def _harm(write: HistoryWrite) -> str:
    if write.kind in _LOSES or write.kind == "cut":
        return "messages that another thread or task adds meanwhile are lost"
    return "it can land in the middle of another turn, between tool calls and their results"


def _why(write: HistoryWrite) -> Note:
    return Note(write.evidence.root.node, f"`{describe(write.slot)}` is the message history: {write.evidence.clause}")


# -- (c) called under the lock here, without it there ----------------------------------------------------------


def _partly_locked(races: Races, function: Scope) -> bool:
    """Whether some callers hold a lock and some do not: then the calls without it are the defect, not the write."""
    return any(races.locks.at_site(site) for site in _sites(races, function))


def _sites(races: Races, function: Scope) -> list[CallSite]:
    return [s for s in races.graph.sites[function] if s.caller is not function and not races.is_setup(s.caller)]


def _entered_both_ways(races: Races, history: SharedHistory) -> list[tuple[HistoryWrite, CallSite, CallSite]]:
    """(write, call without a lock, call with one) for functions that write and are called both ways."""
    found = []
    for write in history.writes:
        if races.locks.around(write.node, write.function):
            continue
        sites = _sites(races, write.function)
        locked = [s for s in sites if _named(races.locks.at_site(s))]
        found += [(write, site, locked[0]) for site in sites if locked and not races.locks.at_site(site)]
    return found


def _chosen(races: Races, site: CallSite, locked: CallSite) -> bool:
    """`if the_lock_is_ours: write()`, `else:` take it and write: a test decides, and says that both are meant."""
    branches = (outer for outer in races.module.ancestors(site.node) if isinstance(outer, cst.If))
    return any(
        branch.orelse is not None
        and {races.module.inside(node, branch.orelse) for node in (site.node, locked.node)} == {True, False}
        and races.module.inside(locked.node, branch)
        for branch in branches
    )


def _outside_calls(
    races: Races, history: SharedHistory, entered: list[tuple[HistoryWrite, CallSite, CallSite]]
) -> Iterator[tuple[Draft, Scope]]:
    seen: set[cst.CSTNode] = set()
    for write, site, locked in entered:
        if site.node in seen or _partly_locked(races, site.caller) or _chosen(races, site, locked):
            continue
        seen.add(site.node)
        name, called = describe(write.slot), write.function.name
        lock = _named(races.locks.at_site(locked))[0]
        line = races.anatomy.line(locked.node)
        message = (
            f"`{called}` changes `{name}` and is called here without `{lock}`, which line {line} holds:"
            " its messages can land in the middle of another turn"
        )
        notes = (
            Note(locked.node, f"called under `{lock}` here"),
            Note(write.node, f"`{name}` is written here"),
            _why(write),
        )
        yield Draft(site.node, message, f"take `{lock}` around this call, too", notes), site.caller


# -- (b) no lock at all ----------------------------------------------------------------------------------------


def _no_lock(races: Races, history: SharedHistory) -> Iterator[tuple[Draft, Scope]]:
    loses = [w for w in history.writes if w.kind in _LOSES]
    for function, writes in races.by_function(history.writes).items():
        writers = _concurrent_writers(races, history, function)
        if writers is None:
            continue
        first, second = writers
        threads = first.kind == "thread" or (second is not None and second.kind == "thread")
        turn = any(races.graph.reaches_llm(start.function) for start in writers if start is not None)
        harmful = (threads and loses) or (turn and races.holds_tool_messages(history))
        if not harmful and not _rewritten_later(races, writes):
            continue
        yield _no_lock_draft(races, history, writes, first, second), function


def _concurrent_writers(races: Races, history: SharedHistory, function: Scope) -> tuple[Start, Start | None] | None:
    """Two starts that reach writes of the history, one of them this function; or one that overlaps with itself."""
    here = races.starts_reaching(function)
    if not here:
        return None
    many = next((s for s in here if s.many and not follows_its_last(races.anatomy, s)), None)
    if many is not None:
        return many, None
    others = [
        start
        for write in history.writes
        for start in races.starts_reaching(write.function)
        if start not in here and start.function is not here[0].function
    ]
    if others:
        return here[0], others[0]
    if here[0].kind == "thread" and _also_called_directly(races, history, here[0]):
        return here[0], None
    return None


def _also_called_directly(races: Races, history: SharedHistory, start: Start) -> bool:
    """A thread runs a public method that callers run themselves, too: `Thread(target=self.chat)` in `chat`."""
    return races.is_public(start.function) and start.function is races.module.scope_of[start.node].function


def _rewritten_later(races: Races, writes: list[HistoryWrite]) -> bool:
    """A handler that appends, waits, and rebinds the history from something else afterwards."""
    appended = [w for w in writes if w.kind not in _LOSES]
    rebound = [w for w in writes if w.kind in _LOSES]
    if not appended or not rebound:
        return False
    between = [n for n in writes[0].function.nodes if isinstance(n, cst.Await | cst.For)]
    order = races.module.order
    return any(
        order[appended[0].node] < order[wait] < order[last.node] or races.module.inside(last.node, wait)
        for wait in between
        for last in rebound
        if isinstance(wait, cst.Await) or (isinstance(wait, cst.For) and wait.asynchronous is not None)
    )


def _no_lock_draft(
    races: Races, history: SharedHistory, writes: list[HistoryWrite], first: Start, second: Start | None
) -> Draft:
    write = writes[0]
    name = describe(write.slot)
    what = {"thread": "threads", "task": "tasks", "handler": "requests"}[first.kind]
    loses = any(w.kind in _LOSES for w in history.writes)
    harm = (
        "one overwrites what the other added"
        if loses
        else "a message of one turn lands between another turn's tool calls and their results"
    )
    message = f"`{name}` is written by concurrent {what} without a lock: {harm}"
    notes = [Note(first.node, f"`{first.function.name}` runs concurrently from here")]
    if second is not None:
        notes.append(Note(second.node, f"and `{second.function.name}` from here"))
    notes += [Note(w.node, "also written here") for w in writes[1:4]]
    notes.append(_why(write))
    unique = {note.node: note for note in reversed(notes) if note.node is not write.node}
    return Draft(write.node, message, _ONE_LOCK, tuple(reversed(unique.values())), "medium")


# -- (d), (e) rewritten from a stale read ----------------------------------------------------------------------


def _stale_rewrite(anatomy: Anatomy, rewrite: Rewrite) -> Draft:
    message = (
        f"`{rewrite.name}` is rewritten from what was read in line {anatomy.line(rewrite.read)}, before"
        f" {rewrite.waited}: messages that were added meanwhile are lost"
    )
    notes = (
        Note(rewrite.read, "read here"),
        Note(rewrite.wait, "others run meanwhile"),
        Note(rewrite.other, rewrite.who),
    )
    cure = "hold one lock from the read to the write, or cut exactly what was read: `h[:len(read)] = [...]`"
    unique = {note.node: note for note in reversed(notes) if note.node is not rewrite.node}
    return Draft(rewrite.node, message, cure, tuple(reversed(unique.values())), rewrite.confidence)
