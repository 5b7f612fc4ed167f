"""Messages that one run takes out of a history while the turn of another waits for the model.

The history is begun anew, and the answer stands there without its question; or its last message is taken back, which
by then may be the question of the other.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import islice, takewhile

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body, methods_elsewhere
from lint_rules.anatomy.messages.growth import grows, keeps_rules_only, pops_last, resets, takes_last
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.turns import schedules
from lint_rules.anatomy.turns.resources import Touched
from lint_rules.anatomy.turns.turns import Turn, are_answered
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, as_own, as_part_of, describe, is_parameter, root_object, whole_of
from lint_rules.rules.draft import Note, started
from lint_rules.rules.unlocked_history_append.pair import Pair, place_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

_REMOVERS = frozenset({"pop", "clear"})
_DEEPEST = 3


_Removal = tuple[cst.CSTNode, Scope, bool, bool]
"""A place, its function, whether only the last messages go, and whether those who hold the list see it, too."""


def removals(anatomy: Anatomy) -> Iterator[Pair]:
    """Those of a file that no lock or flag keeps apart from turns on the same history: one a function and history."""
    beside = _Beside(anatomy)
    told: set[tuple[Scope, Slot]] = set()
    for turn, run in beside.turns(outside=False):
        removed: dict[Scope, list[tuple[cst.CSTNode, bool]]] = {}
        for node, function, last, in_place in (
            *_removals(anatomy, turn.slot),
            *_removals_elsewhere(anatomy, turn.slot, turn.nodes, seen_there={*_seeing(anatomy, turn)}),
        ):
            if function.kind == "class":  # its body runs once
                continue
            seen = in_place or (_looks_again(anatomy, turn) and not _leads_to(anatomy, node, function, turn))
            seen = seen and not (_is_taken_out(node) and _finds_none(anatomy, turn))
            if seen and not beside.is_apart(node, function, turn):
                removed.setdefault(function, []).append((node, last))
        for function, found in removed.items():
            start = beside.start_of(function, turn, run) if (function, turn.slot) not in told else None
            if start is not None:
                told.add((function, turn.slot))
                yield _pair(turn, start, sorted(found, key=lambda each: anatomy.module.order[each[0]]))
    yield from _rows_deleted(beside)


def _pair(turn: Turn, start: Start, found: list[tuple[cst.CSTNode, bool]]) -> Pair:
    (node, last), *rest = found
    words = {"name": describe(turn.slot), "harm": schedules.TAKEN if last else schedules.EMPTIED}
    notes = [Note(turn.asks[0], "a turn waits here"), started(start), *(Note(each, "and here") for each, _ in rest[:3])]
    return Pair(node, turn.asks[0], turn.slot, "taken" if last else "begun", words, (*notes,))


def _rows_deleted(beside: _Beside) -> Iterator[Pair]:
    """Where a function deletes the rows in which the question of a turn waits for its answer, one a function."""
    anatomy = beside.anatomy
    waiting = [(turn, run, found) for turn, run in beside.turns(outside=True) if (found := _waiting(anatomy, turn))]
    for function in dict.fromkeys(here for reached in beside.reach.values() for here in reached) if waiting else ():
        for call in function.nodes_of(cst.Call):
            touched = anatomy.resources.of(call)
            if touched.made or len({table for table, _ in touched.gone}) != 1:  # it writes them anew, or the talk ends
                continue
            met = (
                (turn, start)
                for turn, run, found in waiting
                if any(each.is_emptied_by(touched) for each in found) and not beside.is_apart(call, function, turn)
                if (start := beside.start_of(function, turn, run)) is not None
            )
            yield from (_pair(turn, start, [(call, False)]) for turn, start in islice(met, 1))


def _waiting(anatomy: Anatomy, turn: Turn) -> list[Touched]:
    """Where the question of a turn lies while its answer is waited for."""
    found = [(anatomy, turn.function), *filter(None, (body(anatomy, ask) for ask in turn.asks))]
    return [touched for there, run in found for touched in there.stored_turns.waits_in(run)]


class _Beside:
    """What runs beside the turns of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.races = anatomy.races
        self.unguarded = anatomy.unguarded
        self.reach = {start: self.unguarded.reach(start.function, start) for start in self.unguarded.starts}

    def turns(self, *, outside: bool) -> Iterator[tuple[Turn, list[Start]]]:
        """The turns that store a question, wait for its answer and store that, too, with the starts that run each.

        With `outside` those that keep what was said outside of the program.
        """
        begins = self.anatomy.turns.begins
        for function in self.anatomy.module.functions:
            run = self.races.starts_reaching(function) if function.kind == "function" else []
            for turn in self.anatomy.turns.of(function) if run else ():
                if not turn.kept and turn.outside is outside:
                    if outside:
                        yield turn, run
                    elif turn.tools or self._is_between(turn, run):
                        yield turn, [start for start in run if not begins(turn, start.function)]

    def _is_between(self, turn: Turn, run: list[Start]) -> bool:
        """Whether a question lies in the history while its answer is waited for: put there by the turn, or before."""
        inside = self.anatomy.calls.may_run(turn.function)
        writes = (w for h in self.races.histories if h.slot == turn.slot for w in h.writes)
        others = (w for w in writes if w.function not in inside and grows(self.anatomy, w))
        reached = (f for start in run for f in self.reach.get(start, ()))
        same = (each for f in reached for each in self.anatomy.turns.of(f) if each.slot == turn.slot)
        return turn.answers and (any(others) or are_answered([turn, *same]))

    def start_of(self, function: Scope, turn: Turn, run: list[Start]) -> Start | None:
        """What runs a function while the turn, which `run` start, is under way."""
        for start, reached in self.reach.items():
            if self._comes_first(start.function):
                continue
            for other in run if function in reached else ():
                on_loop = start.on_loop and not reached[function] and other.on_loop
                on_loop = on_loop and not self.reach.get(other, {}).get(turn.function, False)
                again = start.kind == "handler" or self.unguarded.is_many(start)
                meet = self.races.may_meet(start, other) if start.function is not other.function else again
                if meet and (not on_loop or self.anatomy.turns.gives_way(turn)):
                    return start
        return None

    @once(circular=True)
    def _comes_first(self, function: Scope) -> bool:
        """Whether a framework runs a function before all others, or those who call it: there is no turn yet."""
        serving = self.anatomy.calls.servings.get(function)
        if serving is not None:
            return serving.first
        sites = self.anatomy.calls.sites[function]
        return bool(sites) and all(self._comes_first(site.caller) for site in sites)

    def is_apart(self, node: cst.CSTNode, function: Scope, turn: Turn) -> bool:
        """Whether a lock, a flag that the turn takes, or the time that has gone by keeps a removal away from a turn."""
        if self.races.is_setup(function) or self.races.locks.held(node, function):
            return True
        if self.races.flags.guard(node, function):
            return True
        callers = self.anatomy.calls.with_callers([turn.function])
        taken = {slot for caller in callers for slot in self.races.flags.taken(caller)} - {*whole_of(turn.slot)}
        for test, outcome in self.races.flags.tests_before(node, function):
            there = evaluate(test.test, lambda part: _says_there(self.anatomy, part, turn.slot))
            if there not in {None, outcome} or not taken.isdisjoint(self.races.flags.asked(test)):
                return True
            if any(map(self._asks_time, walk(test.test))):  # what nobody has written to for long, no turn is in
                return True
        return _is_for_missing(self.anatomy, node, function)

    def _asks_time(self, node: cst.CSTNode, depth: int = 0) -> bool:
        slots, inner = self.anatomy.facts.slots, list[cst.CSTNode]()
        if isinstance(node, cst.Call):
            callee = slots.callee(node)
            if self.anatomy.module.full_name(node.func).startswith(("time.", "datetime.")):
                return True
            inner = callee.nodes_of(cst.Call) if callee is not None else []
        else:
            slot = slots.of_name(node)
            made = self.anatomy.facts.assigned(slot) if slot is not None else []
            inner = [part for value in made for part in walk(value)]
        return depth < _DEEPEST and any(self._asks_time(part, depth + 1) for part in inner)


def _is_taken_out(node: cst.CSTNode) -> bool:
    """`del talks[key]`, `talks.pop(key)`, `talks.clear()`: nothing takes its place."""
    return isinstance(node, cst.Del) or (isinstance(node, cst.Call) and ex.called_name(node) in _REMOVERS)


def _finds_none(anatomy: Anatomy, turn: Turn) -> bool:
    """Whether a turn whose history is gone fails, and stores no answer: `talks[key].append(answer)` of a dict."""
    registry, of = turn.slot[1] if turn.slot[0] == "item" else None, anatomy.facts.slots.of
    made = anatomy.facts.assigned(registry) if registry is not None else []
    asked = [c for c in anatomy.module.nodes_of(cst.Call) if ex.called_name(c) == "get" and len(c.args) == 2]
    told = any(registry is not None and of(ex.receiver(call)) == registry for call in asked)
    plain = all(isinstance(ex.inner(value), cst.Dict) for value in made) if made else told
    later = (node for node in turn.grows if isinstance(node, cst.Call) and node not in turn.asks)
    again = [ex.receiver(node) for node in later if anatomy.leads(turn.function, turn.asks, [node])]
    return plain and bool(again) and all(isinstance(e, cst.Subscript) and of(e.value) == registry for e in again)


def _leads_to(anatomy: Anatomy, node: cst.CSTNode, function: Scope, turn: Turn) -> bool:
    """Whether a function comes to a turn behind a place: there it begins the talk of its own."""
    sites = anatomy.calls.calls[function]
    running = [site.node for site in sites if turn.function in anatomy.calls.reachable(site.callee)]
    return turn.function is function or anatomy.leads(function, [node], running)


def _looks_again(anatomy: Anatomy, turn: Turn, depth: int = 0) -> bool:
    """Whether a turn looks the history up again, behind the ask, to make it longer: no name still holds the old.

    Or one does that it runs in another file, which does not know who runs it: else it says so itself.
    """
    if any(_is_looked_up(anatomy, turn, node) for node in turn.grows):
        return True
    run = (body(anatomy, ask) for ask in turn.asks if ask in turn.grows) if depth < _DEEPEST else ()
    return any(
        _looks_again(there, inner, depth + 1)
        for there, method in filter(None, run)
        if not anatomy.tells(there.module.path)
        for inner in there.turns.open_in(method)
    )


def _is_looked_up(anatomy: Anatomy, turn: Turn, node: cst.CSTNode) -> bool:
    if not anatomy.leads(turn.function, turn.asks, [node]) or node in turn.asks:
        return False
    given = [ex.receiver(node), *(arg.value for arg in node.args)] if isinstance(node, cst.Call) else []
    held = (
        slot for slot in map(anatomy.facts.slots.of, given) if slot is not None and slot[:2] == ("var", turn.function)
    )
    return all(anatomy.aliases.of(slot) != turn.slot for slot in held)


def _removals(anatomy: Anatomy, slot: Slot) -> Iterator[_Removal]:
    """Where messages go out of a history: it is replaced by a new one, emptied, or taken out of its registry."""
    for kept, writes in anatomy.writes.by_slot.items():
        if anatomy.aliases.of(kept) == slot:
            named = kept[0] == "var" and kept != slot  # to bind a name changes nothing that it stood for
            for write in writes:
                in_place = write.kind != "rebind"
                if takes_last(write):
                    yield write.node, write.function, True, in_place
                elif _begins(anatomy, write, slot) and (in_place or not named):
                    yield write.node, write.function, False, in_place
    yield from ((node, function, False, False) for node, function in _replaced(anatomy, slot))
    known = {write.node for writes in anatomy.writes.by_slot.values() for write in writes}
    registry = slot[1] if slot[0] == "item" and root_object(slot)[0] in {"attr", "var"} else None
    for node in anatomy.module.nodes_of(cst.Del, cst.Call):
        function = anatomy.module.scope_of[node].function
        base = ex.receiver(node) if isinstance(node, cst.Call) else getattr(node.target, "value", None)
        place, last = place_of(anatomy, base), isinstance(node, cst.Call) and node not in known and pops_last(node)
        if last and place == slot:  # of an object of another file, too
            yield node, function, True, True
        elif place is not None and place == registry and _is_taken_out(node):
            yield node, function, False, False


def _replaced(anatomy: Anatomy, slot: Slot) -> Iterator[tuple[cst.CSTNode, Scope]]:
    """`self.talk = Talk()`: where the object that keeps a history gives way to another one, with nothing of the old."""
    for holder in (*islice(whole_of(slot), 1, None), *_holders(anatomy, slot)):
        lasts = holder[0] in {"attr", "member"} or holder[:2] == ("var", anatomy.module.top)
        for value in anatomy.facts.assigned(holder) if lasts else ():
            node = anatomy.module.awaiting(value)
            if isinstance(node, (cst.Assign, cst.AnnAssign)) and isinstance(ex.inner(value), cst.Call):
                if not _tells_of(anatomy, value, {holder, *whole_of(slot)}):
                    yield node, anatomy.module.scope_of[node].function


def _holders(anatomy: Anatomy, slot: Slot) -> Iterable[Slot]:
    """Where the objects live of which a history is an attribute, and that a function makes longer through them.

    `self.talk.lines.append(line)`, `self.talk.add(line)`.
    """
    root, slots = root_object(slot), anatomy.facts.slots
    writes = [write for write in anatomy.writes.by_slot[slot] if grows(anatomy, write)] if root[0] == "attr" else []
    parts = (part for write in writes for part in walk(write.node) if type(part) is cst.Attribute)
    bases: list[cst.BaseExpression | None] = [part.value for part in parts if slots.of(part) == root]
    bases += [ex.receiver(site.node) for write in writes for site in anatomy.calls.sites[write.function]]
    found = (slots.of(base) for base in bases if base is not None)
    return dict.fromkeys(held for held in found if held is not None and slots.classes.get(held) is root[1])


def _tells_of(anatomy: Anatomy, value: cst.CSTNode, places: set[Slot], depth: int = 0) -> bool:
    """Whether a value is made of what there is in some places."""
    for part in walk(value):
        kept = anatomy.facts.slots.of(part) if isinstance(part, (cst.Name, cst.Attribute, cst.Subscript)) else None
        if kept is None:
            continue
        if not places.isdisjoint(whole_of(anatomy.aliases.of(kept))):
            return True
        made = anatomy.facts.assigned(kept) if kept[0] == "var" and depth < _DEEPEST else ()
        if any(_tells_of(anatomy, each, places, depth + 1) for each in made):
            return True
    return False


def _removals_elsewhere(
    anatomy: Anatomy,
    slot: Slot,
    without: Container[cst.CSTNode],
    within: Container[Scope] | None = None,
    seen_there: Container[SourceModule] = (),
) -> Iterator[_Removal]:
    """`memory.forget(key)`: a method of another file that takes messages out of a history, wherever there is one.

    Itself, or by a method of yet another file, of a part of its object: `self.talk_of(key).reset()`. What is
    `seen_there` those files tell.
    """
    for call in anatomy.module.nodes_of(cst.Call):
        base, function = ex.receiver(call), anatomy.module.scope_of[call].function
        if base is None or call in without or (within is not None and function not in within):
            continue
        place = place_of(anatomy, base)
        if place is None or place not in {*whole_of(slot)}:
            continue
        for there, method in (each for each in methods_elsewhere(anatomy, call) if each[0].module not in seen_there):
            reach = there.calls.reachable(method)
            found = [(here, removal) for here in _parts(there, place, slot) for removal in _removals(there, here)]
            own = as_own(slot, place, method.owner) if method.owner is not None else None
            if own is not None and there is not anatomy:
                found += [(own, removal) for removal in _removals_elsewhere(there, own, (), reach)]
            for here, (node, inner, last, in_place) in found:
                if inner in reach and _is_meant(there, node, inner, here):
                    yield call, function, last, in_place
                    break


def _seeing(anatomy: Anatomy, turn: Turn) -> Iterator[SourceModule]:
    """The other files that run a turn, and know that this one, and what else of theirs, is run here."""
    yield from (module for module, _ in turn.there if anatomy.tells(module.path))


def _parts(there: Anatomy, place: Slot, slot: Slot) -> Iterable[Slot]:
    """What a file calls the history that lives in a slot here, of an object that lives in a place."""
    kept = [each for each in there.writes.by_slot if as_part_of(there.aliases.of(each), place) == slot]
    return dict.fromkeys(map(there.aliases.of, kept))


def _is_meant(anatomy: Anatomy, node: cst.CSTNode, function: Scope, slot: Slot) -> bool:
    """Whether a function takes messages out of a history whenever there is one, and under no lock."""
    tests = anatomy.races.flags.tests_before(node, function)
    told = ((evaluate(test.test, lambda part: _says_there(anatomy, part, slot)), way) for test, way in tests)
    return not anatomy.races.locks.held(node, function) and all(there == way for there, way in told)


def _says_there(anatomy: Anatomy, part: cst.BaseExpression, slot: Slot) -> bool | None:
    """What a part of a test gives where there is a history with messages."""
    if isinstance(part, cst.Comparison):
        _, operator, right = ex.compared(part)
        among = isinstance(operator, (cst.In, cst.NotIn)) and place_of(anatomy, right) in {*whole_of(slot)}
        return isinstance(operator, cst.In) if among else None
    return True if place_of(anatomy, part) == slot else None


def _begins(anatomy: Anatomy, write: HistoryWrite, slot: Slot) -> bool:
    """Whether a write begins a history anew: with a list that is made for it, and nothing of the old is put back."""
    if not resets(anatomy, write):
        return False
    if write.value is not None:
        return _is_fresh(anatomy, write.value, slot)
    behind = [w for w in anatomy.writes.by_function[write.function] if anatomy.aliases.of(w.slot) == slot and w.value]
    behind = [w for w in behind if anatomy.leads(write.function, [write.node], [w.node])]
    return all(_is_fresh(anatomy, part, slot) for w in behind for part in _listed(anatomy, w))


def _listed(anatomy: Anatomy, write: HistoryWrite) -> Iterator[cst.BaseExpression]:
    """The lists that a write puts into a history, as a whole or one element after the other."""
    if write.kind in {"append", "insert"}:
        for loop in anatomy.module.ancestors(write.node):
            if isinstance(loop, cst.For) and isinstance(write.value, cst.Name):
                if write.value.value in ex.target_names(loop.target):
                    yield loop.iter
    elif write.value is not None:
        yield write.value


def _is_fresh(anatomy: Anatomy, value: cst.BaseExpression, slot: Slot, depth: int = 0) -> bool:
    """Whether a list holds nothing of a history: a display, a copy of a constant, what a function makes of such."""
    return depth <= _DEEPEST and all(_is_fresh_part(anatomy, part, slot, depth) for part in ex.alternatives(value))


def _is_fresh_part(anatomy: Anatomy, part: cst.BaseExpression, slot: Slot, depth: int) -> bool:
    made = sources(part)
    if keeps_rules_only(part):
        return True
    if made or isinstance(part, cst.List):
        return all(_is_fresh(anatomy, each, slot, depth + 1) for each in made)
    if isinstance(part, cst.Call):
        callee = anatomy.facts.slots.callee(part)
        given = [node.value for node in callee.nodes_of(cst.Return)] if callee is not None else []
        if not given:
            return ex.dotted(part.func) in {"list", "deque"} and not part.args
        return all(value is not None and _is_fresh(anatomy, value, slot, depth + 1) for value in given)
    kept = anatomy.facts.slots.of(part)
    if kept is None or is_parameter(root_object(kept)) or anatomy.aliases.of(kept) in {*whole_of(slot)}:
        return False
    if kept[0] == "var" and kept[1] is not anatomy.module.top:
        values = anatomy.facts.assigned(kept)
        return bool(values) and not anatomy.facts.put(kept) and all(
            _is_fresh(anatomy, value, slot, depth + 1) for value in values
        )  # fmt: skip
    return True


def _is_for_missing(anatomy: Anatomy, node: cst.CSTNode, function: Scope) -> bool:
    """`except KeyError: talks[key] = []`: a first value."""
    around = takewhile(lambda outer: outer is not function.node, anatomy.module.ancestors(node))
    caught = (outer.type for outer in around if isinstance(outer, cst.ExceptHandler) and outer.type is not None)
    return any(ex.dotted(error) == "KeyError" for error in caught)
