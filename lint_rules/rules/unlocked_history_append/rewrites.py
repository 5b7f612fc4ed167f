"""Histories that are read, waited over, and then rewritten from the stale read.

Three forms of the same loss: an attribute, global or dict entry; an object that keeps the history behind methods
(`snapshot()` ... `replace_all(...)`, of this file or of an imported class of the project); a store outside the
program (`load(key)` ... `store.set(key, dumps(history))`), of which `storage` says what is loaded and saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.messages.growth import always_comes_to, resets
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.turns.keepers import locks_itself, role
from lint_rules.anatomy.turns.locations import Place, guards
from lint_rules.anatomy.turns.races import Races, SharedHistory, run_apart
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.turns.storage import Save
from lint_rules.anatomy.values.slots import Slot, describe, is_parameter
from lint_rules.finding import Confidence
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_DEEPEST = 4


@record
class Rewrite:
    """`node` rewrites the history `name` from `read`, with `wait` in between, while `other` may write it.

    `other` is a write, or the start of which several runs overlap. Threads need no `wait`. `stored`: what was read is
    what a store outside the program had, and the whole of it is saved there again; `there`, if `node` calls what does,
    and `others` save it, too, from the same `read`. `emptied`: what was read was only asked about.
    """

    node: cst.CSTNode
    function: Scope
    slot: Slot | None
    name: str
    read: cst.CSTNode
    wait: cst.CSTNode | None
    waited: str
    other: cst.CSTNode | Start
    who: str
    confidence: Confidence = "high"
    stored: bool = False
    there: tuple[SourceModule, cst.CSTNode] | None = None
    others: tuple[cst.CSTNode, ...] = ()
    emptied: bool = False


def rewrites(races: Races) -> Iterator[Rewrite]:
    """All stale rewrites of a file. Without a concurrent start there are none."""
    if not races.starts and not races.processes:
        return
    for history in races.histories:
        for write in history.writes:
            anew = resets(races.anatomy, write)
            if anew or write.kind in {"rebind", "replace"}:
                yield from _of_slot(races, write, anew)
        yield from _by_calls(races, history)
    readers: dict[Scope, list[cst.Call]] = {}
    for call in races.module.nodes_of(cst.Call):
        if type(call.func) is cst.Attribute:
            function = races.module.scope_of[call].function
            waits = function.is_async or races.graph.reaches_llm(function) or in_threads(races, function)
            if waits and races.anatomy.kept_elsewhere.gives_history(call):
                readers.setdefault(function, []).append(call)
    for function in races.module.functions:
        if function.kind == "function":
            if function in readers:
                yield from _of_keeper(races, function, readers[function])
            yield from _of_store(races, function)


# -- an attribute, a global, an entry of a dict ----------------------------------------------------------------


def _of_slot(races: Races, write: HistoryWrite, anew: bool) -> Iterator[Rewrite]:
    """`anew`: nothing of the old is left by the write itself."""
    function, slot = write.function, write.slot
    values = [arg.value for arg in write.node.args] if isinstance(write.node, cst.Call) else [write.value]
    places = {slot} | _handed(races, function, slot)
    emptied = not any(_derives(races, value, places, function, 0) for value in values)
    if emptied and not anew:
        return
    read = [node for place in places for node in _reads(races, function, place)]
    read += _read_by_calls(races, function, slot)
    reads = [node for node in read if not races.module.inside(node, write.node)]
    waits = _digests(races, write) if emptied else _waits(races, function)
    wait = _wait_between(races, function, reads, write.node, waits)
    if wait is None or _cuts_exactly(write) or _rereads(races, function, slot, wait[1], write.node):
        return
    if one_lock(races, function, wait[0], write.node):
        return
    other = _other_writer(
        races, function, [w for w in races.anatomy.writes.by_slot[slot] if not races.is_setup(w.function)]
    )
    if other is None:
        return
    node, who = other
    name, waited = describe(slot), _waited(wait[1])
    confidence: Confidence = "medium" if emptied else "high"
    yield Rewrite(write.node, function, slot, name, wait[0], wait[1], waited, node, who, confidence, emptied=emptied)


def _digests(races: Races, write: HistoryWrite) -> list[cst.CSTNode]:
    """Where a model is asked what to make of a history, before that is emptied: the answer is not put into it."""
    turns = [turn for turn in races.anatomy.turns.led_to(write.function) if turn.slot == write.slot]
    grown = [node for turn in turns for node in turn.grows if node not in turn.asks]
    return _asked_before(races, write.function, write.node, grown)


def _asked_before(races: Races, function: Scope, write: cst.CSTNode, grown: Iterable[cst.CSTNode]) -> list[cst.CSTNode]:
    """The waits for a model that lead to a write, where nothing is `grown` in between."""
    flow, goals, before = races.anatomy.flow(function), races.anatomy.points(function, [write]), races.module.before
    calls = [call for call in function.nodes_of(cst.Call) if races.anatomy.turns.reaches_model(call)]
    asks = [wait for wait in _waits(races, function) if any(races.module.inside(call, wait) for call in calls)]
    late = [node for node in grown if before(node, write)]
    asks = [ask for ask in asks if not any(before(ask, node) for node in late)]
    return [ask for ask in asks if flow.reaches(races.anatomy.points(function, [ask]), goals, exceptions=False)]


def _by_calls(races: Races, history: SharedHistory) -> Iterator[Rewrite]:
    """`self.reset(key, summary)`: what a function rebinds in each run, its callers rebind."""
    for write in races.anatomy.writes.by_slot[history.slot]:
        anew = resets(races.anatomy, write)
        if (anew or write.kind == "rebind") and always_comes_to(races.anatomy, write):
            for site in races.graph.sites[write.function]:
                if site.caller is not write.function:
                    yield from _of_slot(races, replace(write, node=site.node, function=site.caller), anew)


def _handed(races: Races, function: Scope, slot: Slot) -> set[Slot]:
    """The parameters of a function that callers hand what is there when they call: `answer(key, talks[key])`."""
    of, bindings, aliases = races.facts.slots.of, races.facts.slots.bindings, races.anatomy.aliases
    bound = (pair for site in races.graph.sites[function] for pair in bindings(site.node, function))
    return {parameter for parameter, value in bound if (given := of(value)) is not None and aliases.of(given) == slot}


def _derives(races: Races, value: cst.BaseExpression | None, slots: set[Slot], function: Scope, depth: int) -> bool:
    """Whether what is written may hold what was read: by names, lists that grow, and functions that read it, too."""
    if value is None or depth > _DEEPEST:
        return True
    facts = races.facts
    for part in walk(value):
        if isinstance(part, cst.Call) and any(_is_read_in(races, part, slot) for slot in slots):
            return True
        if isinstance(part, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) and facts.slots.of(part) in slots:
            return True
        own = facts.slots.of_name(part)
        if own is None or own[0] != "var" or own[1] is not function:
            continue
        values = facts.assigned(own)
        if not values and own[2] in parameter_names(function):
            continue
        if not values or facts.put(own) or _grows(function, part.value):  # type: ignore[attr-defined]
            return True
        if any(_derives(races, each, slots, function, depth + 1) for each in values if each is not value):
            return True
    return False


def _grows(function: Scope, name: str) -> bool:
    """`xs.extend(...)`, `xs += ...`, `xs[k] = ...`."""
    for node in function.nodes:
        if isinstance(node, cst.AugAssign) and ex.dotted(node.target) == name:
            return True
        if isinstance(node, cst.Call) and ex.called_name(node) in {"extend", "insert", "update"}:
            base = ex.receiver(node)
            if base is not None and ex.dotted(base) == name:
                return True
    return False


def _reads(races: Races, function: Scope, slot: Slot) -> list[cst.CSTNode]:
    """Places where a function reads a slot: not as the target of an assignment, nor to append to it."""
    found: list[cst.CSTNode] = []
    for node in function.nodes:
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) and races.facts.slots.of(node) == slot:
            parent = races.module.parent.get(node)
            if isinstance(parent, cst.Subscript) and ex.slice_of(parent) is not None and parent.value is node:
                parent = races.module.parent.get(parent)
            if isinstance(parent, (cst.AssignTarget, cst.AugAssign, cst.Del)):
                continue
            if isinstance(parent, cst.Attribute) and parent.attr.value in {"append", "extend", "insert", "clear"}:
                continue
            found.append(node)
    return found


def _read_by_calls(races: Races, function: Scope, slot: Slot) -> Iterator[cst.Call]:
    """`book.lines(key)`: the calls of functions of this file that read a slot, of which something is used."""
    calls = (call for call in function.nodes_of(cst.Call) if not races.module.is_statement(call))
    return (call for call in calls if _is_read_in(races, call, slot))


def _is_read_in(races: Races, call: cst.Call, slot: Slot) -> bool:
    callee = races.facts.slots.callee(call)
    return callee is not None and any(_reads(races, inner, slot) for inner in races.graph.reachable(callee))


def _wait_between(
    races: Races, function: Scope, reads: list[cst.CSTNode], write: cst.CSTNode, waits: list[cst.CSTNode]
) -> tuple[cst.CSTNode, cst.CSTNode] | None:
    """(read, wait) such that control goes from the read over one of some waits to the write."""
    anatomy = races.anatomy
    renewed = set(anatomy.points(function, reads))
    for wait in waits:
        if races.module.inside(wait, write):
            continue
        if not anatomy.leads(function, [wait], [write], renewed - set(anatomy.points(function, [wait]))):
            continue
        for read in reads:
            if not races.module.before(read, write) or _only_measured(races, read):
                continue
            before = races.module.before(read, wait) and anatomy.leads(function, [read], [wait])
            if before or races.module.inside(read, wait):
                return read, wait
    return None


def _only_measured(races: Races, read: cst.CSTNode) -> bool:
    """`len(self.turns)`: looks at the history, but nothing is rewritten from that."""
    parent = races.module.parent.get(read)
    call = races.module.parent.get(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and ex.called_name(call) == "len"


def _waits(races: Races, function: Scope) -> list[cst.CSTNode]:
    """Where a function lets others run: awaits, and calls that ask a model."""
    if function.is_async:
        return [*function.waits]
    if not races.graph.reaches_llm(function):
        return []
    return [call for call in function.nodes_of(cst.Call) if races.graph.asks(call)]


def _waited(wait: cst.CSTNode) -> str:
    call = ex.inner(wait.expression) if isinstance(wait, cst.Await) else wait
    name = ex.dotted(call.func) if isinstance(call, cst.Call) else None
    return f"waiting for `{name or ex.source(call, 30)}`"


def _cuts_exactly(write: HistoryWrite) -> bool:
    """`h[: len(read)] = [...]`: takes away just what was read, wherever else the list has grown."""
    if not isinstance(write.node, cst.Assign):
        return False
    part = ex.slice_of(write.node.targets[0].target)
    return part is not None and part.upper is not None and "len(" in ex.source(part.upper)


def _rereads(races: Races, function: Scope, slot: Slot, wait: cst.CSTNode, write: cst.CSTNode) -> bool:
    """Whether the history is read again after the wait, as a whole: then what was added meanwhile is not lost."""
    module = races.module
    for read in _reads(races, function, slot):
        outer = module.parent[read]
        if isinstance(outer, cst.Subscript) and outer.value is read and ex.slice_of(outer) is None:
            continue
        if module.inside(read, write):
            return True
        if module.before(wait, read) and module.before(read, write) and not module.inside(read, wait):
            return True
    return False


def one_lock(races: Races, function: Scope, read: cst.CSTNode, write: cst.CSTNode) -> bool:
    """Whether one region, or every caller, holds a lock from the read to the write."""
    if races.locks.at_entry(function):
        return True
    region = races.locks.region(write, function)
    if region is not None:
        return races.module.inside(read, region)
    return bool(races.locks.around(write, function) & races.locks.around(read, function))


def _other_writer(
    races: Races, function: Scope, writes: Iterable[HistoryWrite]
) -> tuple[cst.CSTNode | Start, str] | None:
    """A write that can run between the read and the rewrite, and how that comes about."""
    many = races.overlapping(function)
    for write in writes:
        if write.function is function:
            continue
        if _runs_beside(races, function, write.function):
            return write.node, f"`{write.function.name}` may add messages meanwhile"
    if many is not None and not _holds_loop(races, function):
        return many, ""
    return None


def _holds_loop(races: Races, function: Scope) -> bool:
    """Whether a function runs on an event loop alone, and never lets it go on: it is no coroutine."""
    starts = races.starts_reaching(function)
    return bool(starts) and not function.is_async and all(start.on_loop for start in starts)


def _runs_beside(races: Races, one: Scope, other: Scope) -> bool:
    """Whether a function runs while another one waits, which a start alone reaches, or one that overlaps with itself.

    What holds the event loop lets none in but threads.
    """
    if _holds_loop(races, one) and not in_threads(races, other):
        return False
    both = set(races.starts_reaching(one)) & set(races.starts_reaching(other))
    return not both.isdisjoint(races.repeated) or run_apart(races, one, other)


# -- an object that keeps the history behind methods -----------------------------------------------------------


def _of_keeper(races: Races, function: Scope, reading: list[cst.Call]) -> Iterator[Rewrite]:
    """Those of a function, some of whose calls read a history."""
    readers = [(call, keeper) for call in reading if (keeper := races.facts.slots.of(ex.receiver(call))) is not None]
    read = {keeper for _, keeper in readers}
    for call in function.nodes_of(cst.Call):
        keeper = races.facts.slots.of(ex.receiver(call))
        if keeper is None or keeper not in read or role(races.anatomy, call) != "rewrite":
            continue
        reads = [c for c, k in readers if k == keeper and role(races.anatomy, c) == "read"]
        gap = _gap(races, function, reads, call, _waits(races, function)) if call.args else None
        if gap is None or one_lock(races, function, gap[0], call) or _checked(races, call):
            continue
        other = _grown_elsewhere(races, function, keeper)
        if other is not None:
            name, waited = describe(keeper), _waited(gap[1]) if gap[1] is not None else ""
            yield Rewrite(call, function, None, name, gap[0], gap[1], waited, *other)


def _gap(
    races: Races, function: Scope, reads: list[cst.Call], write: cst.Call, waits: list[cst.CSTNode]
) -> tuple[cst.CSTNode, cst.CSTNode | None] | None:
    """What is read before others can write, and what is waited for then; in a thread, they can at any time."""
    wait = _wait_between(races, function, list(reads), write, waits)
    if wait is not None and not any(races.module.before(wait[1], c) and races.module.before(c, write) for c in reads):
        return wait
    places, given = ReplyPlaces(races.anatomy), [arg.value for arg in write.args]
    for read in reversed(reads) if in_threads(races, function) else ():
        if races.module.before(read, write) and races.anatomy.leads(function, [read], [write]):
            if holds(given, read, places.derived(function, read, grown=True, until=write)):
                return read, None
    return None


def in_threads(races: Races, function: Scope) -> bool:
    """Whether others may run at any point of a function, not only where it waits."""
    return any(not start.on_loop for start in races.starts_reaching(function))


def _checked(races: Races, call: cst.CSTNode) -> bool:
    """`if not store.fold(...)`: a rewrite that says whether it was done checks for itself."""
    return isinstance(races.module.parent.get(call), (cst.If, cst.UnaryOperation, cst.BooleanOperation, cst.Assert))


def _grown_elsewhere(races: Races, function: Scope, keeper: Slot) -> tuple[cst.CSTNode | Start, str] | None:
    """Another function that adds to the kept history, or brings another one, and can run meanwhile."""
    cls = races.facts.slots.classes.get(keeper)
    for node in races.module.nodes_of(cst.Call):
        if not isinstance(node.func, cst.Attribute):
            continue
        where = races.module.scope_of[node].function
        slot = races.facts.slots.of(ex.receiver(node))
        same = slot == keeper or (cls is not None and slot is not None and races.facts.slots.classes.get(slot) is cls)
        if slot is None or not same or where is function or races.is_setup(where):
            continue
        done = role(races.anatomy, node)
        if done == "grow" or (done == "rewrite" and node.args):
            if _runs_beside(races, function, where):
                return node, f"`{where.name}` may add messages meanwhile"
    return _grown_by_others(races, function, keeper)


def _grown_by_others(races: Races, function: Scope, keeper: Slot) -> tuple[Start, str] | None:
    """What runs a function beside those who have its object, too: it was handed over, and locks itself."""
    start = next((start for start in races.starts_reaching(function) if not start.on_loop), None)
    given = (races.facts.slots.of(value) for value in races.facts.assigned(keeper))
    handed = keeper[0] == "attr" and any(slot is not None and is_parameter(slot) for slot in given)
    return (start, "") if start is not None and handed and locks_itself(races.anatomy, keeper) else None


# -- a store outside the program -------------------------------------------------------------------------------


def _of_store(races: Races, function: Scope) -> Iterator[Rewrite]:
    """What is loaded from a place, changed, and saved there as a whole, in runs of which several overlap."""
    many = [s for s in races.overlapping_outside(function) if _comes_between(s, function)]
    if not many or races.locks.at_entry(function):
        return
    shared = [s for s in many if s in races.starts_reaching(function)] if races.overlapping(function) else []
    saved: set[cst.CSTNode] = set()
    found: dict[cst.CSTNode, Rewrite] = {}
    for load, save, is_one in _saved_whole(races, function):
        begun = many if save.outside else shared
        start = next((s for s in begun if is_one or _is_per_event(races, s)), None)
        if start is None or save.node in saved or _kept_apart(races, function, load, save.node):
            continue
        saved.add(save.node)
        name = ex.source(_unwrapped(save.value), 40)
        made = Rewrite(save.node, function, None, name, load, load, "", start, "", "medium", True, save.there)
        first = found.setdefault(load, made)
        if first is not made:
            found[load] = replace(first, others=(*first.others, save.node))
    yield from found.values()


def _is_per_event(races: Races, start: Start) -> bool:
    """Whether two runs may be for one user: they come with events, or are begun by what events run."""
    if start.comes_with_events or start.caller is not None:
        return start.comes_with_events
    begun_in = races.module.scope_of[start.node].function
    served = any(outer.kind == "handler" for outer in races.starts_reaching(begun_in))
    return served or races.anatomy.unguarded.is_called_back(start, begun_in)


_Saved = tuple[cst.BaseExpression, Save, bool]
"""What loads, what saves, and whether all runs mean the same place."""


def _saved_whole(races: Races, function: Scope) -> Iterator[_Saved]:
    """Histories that are saved over what they were loaded from: by what the store does, or by its use."""
    storage, stored = races.anatomy.storage, races.anatomy.stored_turns.of(function)
    asked_with, asks = {kept.load for kept in stored}, races.anatomy.turns.requests(function)
    for save in sorted(storage.saves(function), key=lambda save: not storage.is_history(save.value)):
        for origin in storage.origins(save.value, function):
            load = origin.load
            if load is None or load.node in asks or not (origin.history or load.node in asked_with):
                continue
            if load.place.is_rewritten_at(save.place) or storage.is_put_back(origin, save, function):
                if (load.outside and save.outside) or origin.encoded:
                    yield load.node, save, load.place.is_one
    for kept in stored:
        if kept.whole is not None and kept.load is not None:
            is_one = not kept.load.args if isinstance(kept.load, cst.Call) else kept.slot[0] != "item"
            yield kept.load, Save(kept.saves[0], Place(("kept",), ()), kept.whole, kept.outside), is_one


def _comes_between(start: Start, function: Scope) -> bool:
    """Whether another run can come while a function is under way: a plain one is one step of the event loop."""
    return function.is_async or not start.on_loop


def _kept_apart(races: Races, function: Scope, load: cst.CSTNode, save: cst.CSTNode) -> bool:
    """Whether no other run can load between a load and a save, or the store refuses what is stale.

    Nor is anything saved that is loaded later only.
    """
    module = races.module
    where = module.scope_of[load].function
    if where is function and not module.inside(load, save) and not races.anatomy.leads(function, [load], [save]):
        return True
    if where is function and one_lock(races, function, load, save):
        return True
    if where is not function and races.locks.held(save, function):
        return True
    if races.flags.guard(load, where) or _checked(races, save):
        return True
    for inner in races.graph.reachable(where):
        for guard in guards(inner):
            if inner is not where or not module.before(load, guard) or module.inside(guard, load):
                return True
    return where is function and function.is_async and not _waits_around(races, function, load, save)


def _waits_around(races: Races, function: Scope, load: cst.CSTNode, save: cst.CSTNode) -> bool:
    """Whether one event loop may go on with another run between a load and a save, those included."""
    lets_go = races.anatomy.turns.lets_go
    waits = [wait for wait in function.waits if not isinstance(wait, cst.Await) or lets_go(wait.expression)]
    return any(
        races.module.inside(load, wait)
        or races.module.inside(save, wait)
        or (
            races.module.before(load, wait)
            and races.anatomy.leads(function, [load], [wait])
            and races.anatomy.leads(function, [wait], [save])
        )
        for wait in waits
    )


def _unwrapped(value: cst.BaseExpression) -> cst.BaseExpression:
    """`history` of `json.dumps(history)`."""
    value = ex.inner(value)
    while isinstance(value, cst.Call) and ex.called_name(value) in {"dumps", "list", "jsonify"} and value.args:
        value = ex.inner(value.args[0].value)
    return value
