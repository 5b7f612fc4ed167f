"""Read, wait, write: one run writes what it has made of a history, and others may have changed that since it was read.

What is read and written lives in an attribute, a global or an entry of a dict; behind the methods of an object
(`snapshot()` ... `replace_all(...)`, of this file or of an imported class of the project); or in a store outside the
program (`load(key)` ... `store.set(key, dumps(history))`), of which `storage` says what is loaded and saved. Or a
conversation is begun because a registry was read, and had none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import libcst as cst

from lint_rules.anatomy.messages.growth import always_comes_to, grows, keeps_conversation, resets
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.turns import schedules
from lint_rules.anatomy.turns.keepers import locks_itself, role
from lint_rules.anatomy.turns.locations import Place, guards
from lint_rules.anatomy.turns.races import Races, SharedHistory, run_apart
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.turns.storage import Save
from lint_rules.anatomy.values.slots import Slot, describe, is_parameter, whole_of
from lint_rules.anatomy.vocabulary import MAKERS
from lint_rules.finding import Related
from lint_rules.rules.draft import Note, started
from lint_rules.rules.unlocked_history_append.pair import Pair, in_threads, place_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_Span = tuple[cst.CSTNode, cst.CSTNode | None]
"""What is read, and what is waited for between that and the write; in a thread, others write at any time."""
_Writes = Iterable[tuple[cst.CSTNode, Scope]]
_READ = {"saved": "loaded here", "made": "nothing is found here"}


def rewrites(races: Races) -> Iterator[Pair]:
    """All stale rewrites of a file. Without a concurrent start there are none."""
    if not races.starts and not races.processes:
        return
    for history in races.histories:
        for write, anew in _replacing(races, history):
            yield from _of_slot(races, write, anew)
    for function in races.module.functions:
        if function.kind == "function":
            yield from _of_keeper(races, function)
            yield from _of_store(races, function)
            yield from _made_twice(races, function)
            yield from _counted(races, function)


def _pair(
    races: Races, node: cst.CSTNode, slot: Slot | None, name: str, span: _Span, other: cst.CSTNode | Start,
    how: str, more: Iterable[Note] = (),
) -> Pair:  # fmt: skip
    """`node` writes what is called `name`, while `other` may write it, or several runs of what it starts overlap."""
    read, wait = span
    by = "" if isinstance(other, Start) else races.module.scope_of[other].function.name
    notes: list[Note | Related] = [Note(read, _READ.get(how, "read here"))]
    notes += [Note(each, "others run meanwhile") for each in [wait] if each is not None]
    notes += [started(other) if isinstance(other, Start) else Note(other, f"`{by}` may add messages meanwhile"), *more]
    words = {"name": name, "harm": schedules.LOST, "wait": _awaited(wait) if wait is not None else ""}
    return Pair(node, read, slot, "written back" if how == "rewritten" and wait is None else how, words, (*notes,))


def _awaited(wait: cst.CSTNode) -> str:
    call = ex.inner(wait.expression) if isinstance(wait, cst.Await) else wait
    name = ex.dotted(call.func) if isinstance(call, cst.Call) else None
    return f"waiting for `{name or ex.source(call, 30)}`"


# -- between the read and the write ------------------------------------------------------------------------------


def _span(
    races: Races, function: Scope, reads: list[cst.CSTNode], write: cst.CSTNode, waits: Iterable[cst.CSTNode]
) -> tuple[cst.CSTNode, cst.CSTNode] | None:
    """(read, wait) such that control goes from the read over one of some waits to the write, and reads no more."""
    anatomy, before, inside = races.anatomy, races.module.before, races.module.inside
    renewed = set(anatomy.points(function, reads))
    reads = [read for read in reads if before(read, write) or inside(read, write)]
    for wait in waits:
        again = renewed - set(anatomy.points(function, [wait]))
        if inside(wait, write) or inside(write, wait) or anatomy.leads(function, [wait], [write], again):
            for read in reads:
                if inside(read, wait) or (before(read, wait) and anatomy.leads(function, [read], [wait])):
                    return read, wait
    return None


def _waits(races: Races, function: Scope) -> list[cst.CSTNode]:
    """Where a function lets others run: awaits that may take a while, and calls that ask a model."""
    turns, calls = races.anatomy.turns, function.nodes_of(cst.Call)
    waits = [w for w in function.waits if not isinstance(w, cst.Await) or turns.lets_go(w.expression)]
    asks = [call for call in calls if turns.asks(call)] if not function.is_async or in_threads(races, function) else []
    return [*(waits if function.is_async else []), *asks]


def _one_lock(races: Races, function: Scope, read: cst.CSTNode, write: cst.CSTNode) -> bool:
    """Whether one region, or every caller, holds a lock from the read to the write."""
    locks, region = races.locks, races.locks.region(write, function)
    if locks.at_entry(function) or region is None:
        return bool(locks.at_entry(function) or locks.around(write, function) & locks.around(read, function))
    return races.module.inside(read, region)


def _beside(races: Races, function: Scope, writes: _Writes) -> cst.CSTNode | None:
    """A write of another function that can run between the read and the rewrite.

    What holds the event loop lets none in but threads.
    """
    held, starts = _holds_loop(races, function), set(races.starts_reaching(function))
    for node, where in writes:
        if where is not function and not races.is_setup(where) and (not held or in_threads(races, where)):
            both = starts.intersection(races.starts_reaching(where))
            if not both.isdisjoint(races.repeated) or run_apart(races, function, where):
                return node
    return None


def _holds_loop(races: Races, function: Scope) -> bool:
    """Whether a function runs on an event loop alone, and never lets it go on: it is no coroutine."""
    starts = races.starts_reaching(function)
    return bool(starts) and not function.is_async and all(start.on_loop for start in starts)


def _is_made_of(races: Races, values: list[cst.BaseExpression], reads: list[cst.CSTNode], write: cst.CSTNode) -> bool:
    """Whether what is written may hold what was read."""
    places, function = ReplyPlaces(races.anatomy), races.module.scope_of[write].function
    return any(holds(values, read, places.derived(function, read, grown=True, until=write)) for read in reads)


# -- an attribute, a global, an entry of a dict ----------------------------------------------------------------


def _replacing(races: Races, history: SharedHistory) -> Iterator[tuple[HistoryWrite, bool]]:
    """What puts another list in the place of a history, and whether nothing of the old is left by that itself.

    So does a call of what always does: `self.reset(key, summary)`.
    """
    for write in history.writes:
        anew = resets(races.anatomy, write)
        if anew or write.kind in {"rebind", "replace"}:
            yield write, anew
    for write in races.anatomy.writes.by_slot[history.slot]:
        anew = resets(races.anatomy, write)
        if (anew or write.kind == "rebind") and always_comes_to(races.anatomy, write):
            for site in races.graph.sites[write.function]:
                if site.caller is not write.function:
                    yield replace(write, node=site.node, function=site.caller), anew


def _of_slot(races: Races, write: HistoryWrite, anew: bool) -> Iterator[Pair]:
    function, slot, node = write.function, write.slot, write.node
    given = [arg.value for arg in node.args] if isinstance(node, cst.Call) else [write.value]
    reads = [read for place in (slot, *_handed(races, function, slot)) for read in _reads(races, function, place)]
    reads += (call for call in function.nodes_of(cst.Call) if _is_read_by(races, call, slot))
    emptied = not _is_made_of(races, [value for value in given if value is not None], reads, node)
    within = (read for read in _reads(races, function, slot) if races.module.inside(read, node))
    if (emptied and not anew) or _cuts_exactly(write) or any(_rereads(races, read) for read in within):
        return
    earlier = [read for read in reads if not races.module.inside(read, node)]
    rewritten = [read for read in earlier if not _only_measured(races, read)]
    span = _span(races, function, rewritten, node, _digests(races, write) if emptied else _waits(races, function))
    if span is None or _one_lock(races, function, span[0], node):
        return
    many = races.overlapping(function)
    other = _beside(races, function, ((w.node, w.function) for w in races.anatomy.writes.by_slot[slot])) or (
        many if not _holds_loop(races, function) else None
    )
    if other is not None:
        yield _pair(races, node, slot, describe(slot), span, other, "emptied" if emptied else "rewritten")


def _digests(races: Races, write: HistoryWrite) -> Iterator[cst.CSTNode]:
    """Where a model is asked what to make of a history, before that is emptied: the answer is not put into it."""
    function, module = write.function, races.module
    turns = [turn for turn in races.anatomy.turns.led_to(function) if turn.slot == write.slot]
    grown = [node for turn in turns for node in turn.grows if node not in turn.asks and module.before(node, write.node)]
    calls = [call for call in function.nodes_of(cst.Call) if races.anatomy.turns.reaches_model(call)]
    for wait in _waits(races, function):
        if any(module.inside(call, wait) for call in calls) and not any(module.before(wait, node) for node in grown):
            if races.anatomy.flow(function).reaches(
                races.anatomy.points(function, [wait]), races.anatomy.points(function, [write.node]), exceptions=False
            ):
                yield wait


def _handed(races: Races, function: Scope, slot: Slot) -> set[Slot]:
    """The parameters of a function that callers hand what is there when they call: `answer(key, talks[key])`."""
    bindings = races.facts.slots.bindings
    bound = (pair for site in races.graph.sites[function] for pair in bindings(site.node, function))
    return {parameter for parameter, value in bound if place_of(races.anatomy, value) == slot}


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


def _is_read_by(races: Races, call: cst.Call, slot: Slot) -> bool:
    """`book.lines(key)`: whether a function of this file reads a slot, and something of that is used."""
    callee = races.facts.slots.callee(call)
    if callee is None or races.module.is_statement(call):
        return False
    return any(_reads(races, inner, slot) for inner in races.graph.reachable(callee))


def _only_measured(races: Races, read: cst.CSTNode) -> bool:
    """`len(self.turns)`: looks at the history, but nothing is rewritten from that."""
    parent = races.module.parent.get(read)
    call = races.module.parent.get(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and ex.called_name(call) == "len"


def _cuts_exactly(write: HistoryWrite) -> bool:
    """`h[: len(read)] = [...]`: takes away just what was read, wherever else the list has grown."""
    part = ex.slice_of(write.node.targets[0].target) if isinstance(write.node, cst.Assign) else None
    return part is not None and part.upper is not None and "len(" in ex.source(part.upper)


def _rereads(races: Races, read: cst.CSTNode) -> bool:
    """Whether what is read is the whole of a history: then nothing of what was added meanwhile is lost."""
    outer = races.module.parent[read]
    return not isinstance(outer, cst.Subscript) or outer.value is not read or ex.slice_of(outer) is not None


# -- an object that keeps the history behind methods -----------------------------------------------------------


def _of_keeper(races: Races, function: Scope) -> Iterator[Pair]:
    """What a method gives of a history goes back by another one of the same object."""
    if not (function.is_async or races.graph.reaches_llm(function) or in_threads(races, function)):
        return
    anatomy, calls = races.anatomy, function.nodes_of(cst.Call)
    of = {call: races.facts.slots.of(ex.receiver(call)) for call in calls}
    given = [call for call in calls if type(call.func) is cst.Attribute and anatomy.kept_elsewhere.gives_history(call)]
    kept = {of[call] for call in given} - {None}
    for call in calls if kept else ():
        keeper = of[call]
        if keeper is None or keeper not in kept or not call.args or role(anatomy, call) != "rewrite":
            continue
        reads = [each for each in given if of[each] == keeper and role(anatomy, each) == "read"]
        span = None if _checked(races, call) else _gap(races, function, reads, call)
        if span is not None and not _one_lock(races, function, span[0], call):
            other = _beside(races, function, _growths(races, keeper)) or _handed_to_others(races, function, keeper)
            if other is not None:
                yield _pair(races, call, None, describe(keeper), span, other, "rewritten")


def _gap(races: Races, function: Scope, reads: list[cst.Call], write: cst.Call) -> _Span | None:
    """What is read before others can write, and what is waited for then."""
    span = _span(races, function, [*reads], write, _waits(races, function))
    if span is not None:
        return span
    for read in reversed(reads) if in_threads(races, function) else ():
        if races.module.before(read, write) and races.anatomy.leads(function, [read], [write]):
            if _is_made_of(races, [arg.value for arg in write.args], [read], write):
                return read, None
    return None


def _checked(races: Races, call: cst.CSTNode) -> bool:
    """`if not store.fold(...)`: a rewrite that says whether it was done checks for itself."""
    return isinstance(races.module.parent.get(call), (cst.If, cst.UnaryOperation, cst.BooleanOperation, cst.Assert))


def _growths(races: Races, keeper: Slot) -> _Writes:
    """What adds to the kept history, or brings another one."""
    slots = races.facts.slots
    cls = slots.classes.get(keeper)
    for call in races.module.nodes_of(cst.Call):
        slot = slots.of(ex.receiver(call))
        if slot is not None and (slot == keeper or (cls is not None and slots.classes.get(slot) is cls)):
            done = role(races.anatomy, call)
            if done == "grow" or (done == "rewrite" and call.args):
                yield call, races.module.scope_of[call].function


def _handed_to_others(races: Races, function: Scope, keeper: Slot) -> Start | None:
    """What runs a function beside those who have its object, too: it was handed over, and locks itself."""
    start = next((start for start in races.starts_reaching(function) if not start.on_loop), None)
    given = (races.facts.slots.of(value) for value in races.facts.assigned(keeper))
    handed = keeper[0] == "attr" and any(slot is not None and is_parameter(slot) for slot in given)
    return start if start is not None and handed and locks_itself(races.anatomy, keeper) else None


# -- a store outside the program -------------------------------------------------------------------------------


def _of_store(races: Races, function: Scope) -> Iterator[Pair]:
    """What is loaded from a place, changed, and saved there as a whole, in runs of which several overlap."""
    many = [s for s in races.overlapping_outside(function) if function.is_async or not s.on_loop]
    if not many or races.locks.at_entry(function):
        return
    shared = [s for s in many if s in races.starts_reaching(function)] if races.overlapping(function) else []
    found: dict[cst.CSTNode, list[tuple[Save, Start]]] = {}
    for load, save, is_one in _saved_whole(races, function):
        start = next((s for s in (many if save.outside else shared) if is_one or _is_per_event(races, s)), None)
        known = any(save.node is other.node for saves in found.values() for other, _ in saves)
        if start is not None and not known and not _kept_apart(races, function, load, save.node):
            found.setdefault(load, []).append((save, start))
    for read, ((save, start), *others) in found.items():
        more = [Note(node, "written here", module) for module, node in filter(None, [save.there])]
        more += [Note(other.node, "and saved here") for other, _ in others[:3]]
        yield _pair(races, save.node, None, _name(save.value), (read, None), start, "saved", more)


def _is_per_event(races: Races, start: Start) -> bool:
    """Whether two runs may be for one user: they come with events, or are begun by what events run."""
    if start.comes_with_events or start.caller is not None:
        return start.comes_with_events
    begun_in = races.module.scope_of[start.node].function
    served = any(outer.kind == "handler" for outer in races.starts_reaching(begun_in))
    return served or races.anatomy.unguarded.is_called_back(start, begun_in)


def _saved_whole(races: Races, function: Scope) -> Iterator[tuple[cst.BaseExpression, Save, bool]]:
    """What loads a history, what saves it over that, and whether all runs mean the same place.

    Known by what the store does, or by its use.
    """
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


def _kept_apart(races: Races, function: Scope, load: cst.CSTNode, save: cst.CSTNode) -> bool:
    """Whether no other run can load between a load and a save, or the store refuses what is stale.

    Nor is anything saved that is loaded later only.
    """
    module, where = races.module, races.module.scope_of[load].function
    if races.flags.guard(load, where) or _checked(races, save):
        return True
    for inner in races.graph.reachable(where):
        for guard in guards(inner):
            if inner is not where or not module.before(load, guard) or module.inside(guard, load):
                return True
    if where is not function:
        return bool(races.locks.held(save, function))
    if not module.inside(load, save) and not races.anatomy.leads(function, [load], [save]):
        return True
    waited = not function.is_async or _span(races, function, [load], save, _waits(races, function)) is not None
    return _one_lock(races, function, load, save) or not waited


def _name(value: cst.BaseExpression) -> str:
    """`history` of `json.dumps(history)`."""
    value = ex.inner(value)
    while isinstance(value, cst.Call) and ex.called_name(value) in {"dumps", "list", "jsonify"} and value.args:
        value = ex.inner(value.args[0].value)
    return ex.source(value, 40)


# -- made when a look has found none -----------------------------------------------------------------------------


def _made_twice(races: Races, function: Scope) -> Iterator[Pair]:
    """`if key not in threads: threads[key] = client.beta.threads.create().id`: two runs make one each.

    The provider begins the conversation, or its library makes an object that keeps one.
    """
    start = races.overlapping(function)
    made = [call for call in function.nodes_of(cst.Call) if _is_begun(races, call)] if start is not None else []
    for node in function.nodes_of(cst.Assign) if made else ():
        for place in _lasting_entries(races, node, function):
            whole = list(whole_of(place))[1:]
            places = [each for each in function.nodes if isinstance(each, (cst.Name, cst.Attribute))]
            looks = [
                each
                for each in places
                if place_of(races.anatomy, each) in whole and not races.module.inside(each, node)
            ]
            call = next((call for call in made if _is_made_of(races, [node.value], [call], node)), None)
            asked = [call] if call is not None and _is_asked_for(call) and not function.is_async else []
            span = _span(races, function, [*looks], node, [*asked, *function.waits]) if call is not None else None
            if start is not None and span is not None and not _one_lock(races, function, span[0], node):
                yield _pair(races, node, None, describe(place), span, start, "made")


def _lasting_entries(races: Races, node: cst.Assign, function: Scope) -> Iterator[Slot]:
    """The entries of registries that live on, which an assignment sets."""
    slots, aliases = map(races.facts.slots.of, ex.targets(node)), races.anatomy.aliases
    places = (aliases.of(slot) for slot in slots if slot is not None and slot[0] == "item")
    return (place for place in places if aliases.is_lasting(place, function))


def _is_begun(races: Races, call: cst.Call) -> bool:
    return _is_asked_for(call) or keeps_conversation(races.module, call)


def _is_asked_for(call: cst.Call) -> bool:
    """Whether a call asks the provider to begin a conversation."""
    return any(f".{ex.dotted(call.func)}".endswith(f".{maker}") for maker in MAKERS)


# -- how far it was read -------------------------------------------------------------------------------------------


def _counted(races: Races, function: Scope) -> Iterator[Pair]:
    """`new = history[seen:]`, `ask(new)`, `seen = len(history)`: what was added meanwhile is never read."""
    of, by_slot = races.facts.slots.of, races.anatomy.writes.by_slot
    for node in function.nodes_of(cst.Assign) if races.starts else ():
        seen, history = of(node.targets[0].target), _measured(races, node.value)
        if seen is None or history is None:
            continue
        parts = (part for part in function.nodes_of(cst.Subscript) if of(part.value) == history)
        begun = (
            (part, cut.lower) for part in parts if (cut := ex.slice_of(part)) is not None and cut.lower is not None
        )
        reads = [part for part, first in begun if any(of(each) == seen for each in walk(first) if ex.reads_place(each))]
        span = _span(races, function, [*reads], node, _waits(races, function)) if reads else None
        if span is not None and not _one_lock(races, function, span[0], node):
            grown = [(w.node, w.function) for w in by_slot.get(history, ()) if grows(races.anatomy, w)]
            other = _beside(races, function, grown) or _fed_by_others(races, function, history, grown)
            if other is not None:
                yield _pair(races, node, None, describe(seen), span, other, "counted")


def _measured(races: Races, value: cst.BaseExpression) -> Slot | None:
    """The history of which a value is the length, give or take a number."""
    value = ex.inner(value)
    if isinstance(value, cst.BinaryOperation):
        return _measured(races, value.left) if ex.integer(value.right) is not None else None
    measured = isinstance(value, cst.Call) and ex.called_name(value) == "len" and len(value.args) == 1
    if measured and races.anatomy.is_history(value.args[0].value):  # type: ignore[attr-defined]
        return races.facts.slots.of(value.args[0].value)  # type: ignore[attr-defined]
    return None


def _fed_by_others(
    races: Races, function: Scope, history: Slot, grown: list[tuple[cst.CSTNode, Scope]]
) -> Start | None:
    """What runs a function, and never comes to what makes the history longer: others do."""
    starts = races.starts_reaching(function) if history[0] in {"attr", "member", "item"} else []
    return next((s for s in starts if not any(s in races.starts_reaching(where) for _, where in grown)), None)
