"""Shared histories that are not written under one lock: with it here and without it there, or with none at all.

A function that some callers call under a lock and some do not is no defect itself: the calls without the lock are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import libcst as cst

from lint_rules.anatomy.messages.growth import grows, takes_last
from lint_rules.anatomy.messages.tool_messages import hold_tool_messages
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.program.locks import UNKNOWN
from lint_rules.anatomy.turns import schedules
from lint_rules.anatomy.turns.races import Races, SharedHistory, holds_text_only
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.rules.draft import Note, started
from lint_rules.rules.unlocked_history_append.fixes import repair
from lint_rules.rules.unlocked_history_append.pair import Pair
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_LOSING = frozenset({"rebind", "replace"})
"""Kinds of writes that put another list in place of the one there is."""
_RUNS = {"thread": "threads", "task": "tasks", "handler": "requests", "serial": "handlers"}
_PARTING = "it can land in the middle of another turn, between tool calls and their results"


def unlocked(races: Races, history: SharedHistory) -> Iterator[Pair]:
    """Where a history is written without a lock although something shows that it needs one."""
    guarded = [w for w in history.writes if races.held(w)]
    entered = [w for w in history.writes if not races.locks.around(w.node, w.function)]
    entered = [w for w in entered if any(_named(races.locks.at_site(site)) for site in _sites(races, w.function))]
    if guarded or any(not races.locks.at_site(site) for w in entered for site in _sites(races, w.function)):
        yield from _bare(races, history, guarded)
        yield from _outside_calls(races, history, entered)
    elif races.starts:
        yield from _no_lock(races, history)


def _why(write: HistoryWrite) -> Note:
    return Note(write.evidence.root.node, f"`{describe(write.slot)}` is the message history: {write.evidence.clause}")


# -- locked here, not locked there --------------------------------------------------------------------------------


def _bare(races: Races, history: SharedHistory, guarded: list[HistoryWrite]) -> Iterator[Pair]:
    named = [w for w in guarded if _named(races.held(w))]
    for function, writes in races.by_function(history.writes).items() if named else ():
        bare = [w for w in writes if not races.held(w) and _does_harm(races, history, w)]
        write = next((w for w in bare if not _is_where_no_lock_is(races, w, named)), None)
        if write is not None and not _partly_locked(races, function):
            other = next((w for w in named if w.function is not function), named[0])
            lock, mixed = _named(races.held(other))[0], holds_text_only(races.anatomy, history)
            harm = schedules.LOST if _loses(write) else schedules.MIXED if mixed else _PARTING
            words = {"name": describe(write.slot), "lock": lock, "harm": harm}
            notes = Note(other.node, f"written under `{lock}` here"), _why(write)
            yield Pair(write.node, other.node, history.slot, "bare", words, notes, repair(races, write, other))


def _is_where_no_lock_is(races: Races, write: HistoryWrite, named: list[HistoryWrite]) -> bool:
    """`if self.lock: with self.lock: ...`, `else: self.talk.append(line)`: who gave no lock has one thread."""
    around = [outer for outer in races.module.ancestors(write.node) if isinstance(outer, cst.If)]
    asked = [(branch, races.facts.slots.of(part)) for branch in around for part in walk(branch.test)
             if isinstance(part, (cst.Name, cst.Attribute))]  # fmt: skip
    return any(lock in races.held(w) and races.module.inside(w.node, branch) for branch, lock in asked for w in named)


def _loses(write: HistoryWrite) -> bool:
    return write.kind in _LOSING or write.kind == "cut"


def _does_harm(races: Races, history: SharedHistory, write: HistoryWrite) -> bool:
    """Whether a write loses something, is part of a turn, or may part calls from results: one more line does not."""
    part = _loses(write) or races.anatomy.turns.runs_model(write.function)
    return part or not holds_text_only(races.anatomy, history)


def _named(locks: frozenset[Slot]) -> list[str]:
    """The locks that have a place of their own, by name; one that a call gives may be another each time."""
    return sorted(describe(lock) for lock in locks if lock != UNKNOWN and lock[0] not in {"call", "return"})


# -- called under the lock here, without it there -----------------------------------------------------------------


def _partly_locked(races: Races, function: Scope) -> bool:
    """Whether some callers hold a lock and some do not: then the calls without it are the defect, not the write."""
    return any(races.locks.at_site(site) for site in _sites(races, function))


def _sites(races: Races, function: Scope) -> list[CallSite]:
    return [s for s in races.graph.sites[function] if s.caller is not function and not races.is_setup(s.caller)]


def _outside_calls(races: Races, history: SharedHistory, entered: list[HistoryWrite]) -> Iterator[Pair]:
    """The calls without a lock of functions that write, and that some callers call under one."""
    locks = races.locks
    for write in entered:
        sites = _sites(races, write.function)
        locked = next(site for site in sites if _named(locks.at_site(site)))
        lock = _named(locks.at_site(locked))[0]
        for site in sites:
            chosen = locks.at_site(site) or locks.is_chosen(site.node, site.caller)
            if not chosen and not _partly_locked(races, site.caller):
                name = describe(write.slot)
                words = {"name": name, "lock": lock, "function": write.function.name}
                under = Note(locked.node, f"called under `{lock}` here")
                notes = under, Note(write.node, f"`{name}` is written here"), _why(write)
                yield Pair(site.node, locked.node, history.slot, "outside", words, notes)


# -- no lock at all -----------------------------------------------------------------------------------------------


def _no_lock(races: Races, history: SharedHistory) -> Iterator[Pair]:
    """One for each function that writes while others may."""
    anatomy, longer = races.anatomy, partial(grows, races.anatomy)
    grown = any(map(longer, history.writes))
    lost = grown and any(w.kind in _LOSING for w in history.writes)  # else each brings a whole list, as it was handed
    harm = schedules.LOST if lost else schedules.TAKEN if any(map(takes_last, history.writes)) else None
    parted = hold_tool_messages(anatomy, history.writes)
    for function, writes in races.by_function([w for w in history.writes if not _at_the_front(w)]).items():
        losing = harm if any(w.kind in _LOSING or takes_last(w) for w in writes) else None
        for first, second in _writers(races, history, function):
            started_here = [first] if second is None else [first, second]
            threads = any(start.kind == "thread" for start in started_here)
            told = losing if threads else None
            if told is None and parted and any(map(longer, writes)):
                told = schedules.PARTED if _are_parted(races, history, started_here) else None
            if told is not None:
                words = {"name": describe(writes[0].slot), "runs": _RUNS[first.kind], "harm": told}
                notes = [*map(started, started_here), *(Note(w.node, "also written here") for w in writes[1:4])]
                yield Pair(writes[0].node, first.node, history.slot, "no lock", words, (*notes, _why(writes[0])))
                break


def _are_parted(races: Races, history: SharedHistory, started: list[Start]) -> bool:
    """Whether others may come between the calls of a turn and their results."""
    if not any(races.graph.reaches_llm(s.function) for s in started) or _is_begun_anew(races, history, started):
        return False
    turns, reached = races.anatomy.turns, [races.anatomy.unguarded.reach(s.function, s) for s in started]
    led = [(turn, reach[f]) for reach in reached for f in reach for turn in turns.of(f) if turn.slot == history.slot]
    if led and not any(thread or turns.gives_way(turn) for turn, thread in led):
        return False
    return not _goes_on_to_results(races, history, started)


def _goes_on_to_results(races: Races, history: SharedHistory, started: list[Start]) -> bool:
    """Whether nobody else runs on the event loop between the calls that are stored and their results."""
    if not all(start.on_loop for start in started):
        return False
    anatomy, told = races.anatomy, set[bool]()
    reached = [anatomy.unguarded.reach(start.function, start) for start in started]
    for function in {write.function for write in history.writes}:
        if any(reach.get(function, False) for reach in reached):
            return False  # in a thread
        stored = anatomy.transcript.stored(function)
        messages = [each for each in stored if each.slot is not None and anatomy.aliases.of(each.slot) == history.slot]
        calls = anatomy.points(
            function, [each.node for each in messages if each.calls is not None and not each.answers]
        )
        results = anatomy.points(function, [each.node for each in messages if each.answers])
        if calls and results:
            flow, waits = anatomy.flow(function), filter(anatomy.turns.lets_go, function.waits)
            pauses = [p for p in anatomy.points(function, waits) if flow.reaches(calls, p, results, exceptions=False)]
            told.add(flow.reaches(pauses, results, calls, exceptions=False))
    return told == {False}


def _is_begun_anew(races: Races, history: SharedHistory, started: list[Start]) -> bool:
    """Whether each run begins the history with what it was given: then another takes its place (AGL104)."""
    turns = races.anatomy.turns
    led = [(turn, start) for start in started for turn in turns.of(start.function) if turn.slot == history.slot]
    return bool(led) and all(turns.begins(turn, start.function) for turn, start in led)


def _at_the_front(write: HistoryWrite) -> bool:
    """`h.insert(0, SYSTEM)`: what goes before all else parts nothing."""
    call = write.node
    return isinstance(call, cst.Call) and write.kind == "insert" and ex.integer(ex.argument(call, "", 0)) == 0


def _writers(races: Races, history: SharedHistory, function: Scope) -> Iterator[tuple[Start, Start | None]]:
    """Two starts that reach writes of the history, one of them this function; or one that overlaps with itself.

    Or one, and what the function that has begun it goes on to.
    """
    here = _starts_of(races, history, function)
    if not here:
        return
    many = races.overlapping(function)
    if many in here:
        yield many, None
    for write in history.writes:
        for start in _starts_of(races, history, write.function):
            if start not in here and start.function is not here[0].function and races.may_meet(here[0], start):
                yield here[0], start
    for start in here:
        for beside in _gone_on_to(races, history, start):
            yield start, beside
        if races.is_grown_beside(history.slot, start):
            yield start, None
    if here[0].kind == "thread" and _also_called_directly(races, here[0]):
        yield here[0], None
    threads = (start for start in here if start.kind == "thread")
    yield from (pair for pair in combinations(threads, 2) if _are_apart(races, *pair))


def _gone_on_to(races: Races, history: SharedHistory, start: Start) -> Iterator[Start]:
    """What runs and writes before a thread or task is waited for: where it is begun, and else in who calls that.

    Who puts only results there is a part of the turn that has begun it.
    """
    if start.caller is not None or start.kind not in {"thread", "task"}:
        return
    run = races.graph.may_run(start.function)
    put = [one for w in history.writes if w.function in run for one in races.anatomy.transcript.at(w.node)]
    if put and all(one.answers for one in put):
        return
    writing, whose = {write.function for write in history.writes}, _object(start.target)
    queue: list[tuple[Scope, cst.CSTNode]] = [(races.module.scope_of[start.node].function, start.node)]
    for starter, begun in queue:
        if starter.kind == "class":
            continue
        own = (write.node for write in history.writes if write.function is starter is not start.function)
        behind = (node for node in own if _goes_on(races, start, starter, begun, node))
        yield from (Start(starter, node, start.kind, many=False) for node in behind)
        for site in races.graph.calls[starter]:
            apart = races.module.inside(site.node, begun) or site.callee is start.function
            if apart or (history.slot[0] == "attr" and _object(site.node) != whose):
                continue
            writes = not writing.isdisjoint(races.graph.may_run(site.callee))
            if writes and _goes_on(races, start, starter, begun, site.node):
                yield Start(site.callee, site.node, start.kind, many=False)
        if races.joins.is_joined(start):
            return
        sites = ((site.caller, site.node) for site in races.graph.sites[starter])
        queue += [each for each in sites if each not in queue and (whose is None or _object(each[1]) == whose)]


def _goes_on(races: Races, start: Start, starter: Scope, begun: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a function comes to a node behind what it has begun, itself or in a call, before that has ended."""
    if begun is start.node:
        return races.joins.runs_beside(start, node)
    flow, points = races.anatomy.flow(starter), races.anatomy.points
    return flow.reaches(points(starter, [begun]), points(starter, [node]), exceptions=False)


def _object(node: cst.CSTNode | None) -> str | None:
    """`self.desk` of `self.desk.listen` and `self.desk.listen(queue)`."""
    base = ex.receiver(node) if isinstance(node, cst.Call) else node.value if isinstance(node, cst.Attribute) else None
    return ex.dotted(base) if base is not None else None


def _are_apart(races: Races, one: Start, other: Start) -> bool:
    """Whether two starts are of two functions that may run at the same time, none of which starts the other."""
    if one.function is other.function or not races.may_meet(one, other):
        return False
    pairs = ((one, other), (other, one))
    return not any(races.module.scope_of[a.node].function in races.graph.may_run(b.function) for a, b in pairs)


def _starts_of(races: Races, history: SharedHistory, function: Scope) -> list[Start]:
    """Those that come to a function, without those of other files that tell of the same turns on this history."""
    turns, starts = races.anatomy.turns, races.starts_reaching(function)
    runs = [f for f in races.module.functions if any(map(turns.are_told_by, starts)) and f.kind == "function"]
    if not any(turn.slot == history.slot for run in runs for turn in turns.led_to(run)):
        return starts
    return [start for start in starts if not turns.are_told_by(start)]


def _also_called_directly(races: Races, start: Start) -> bool:
    """A thread runs a public method that callers run themselves, too: `Thread(target=self.chat)` in `chat`."""
    return races.is_public(start.function) and start.function is races.module.scope_of[start.node].function
