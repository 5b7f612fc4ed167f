"""Who takes an error that leaves a function while a call is open, and goes on with the history.

A handler of a caller in this file; or whoever runs a turn of an object that keeps the history, in another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.program.behind import Behind
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.finding import Related
from lint_rules.obligations.again import Again
from lint_rules.obligations.open_ends import BROKEN, REFUSED
from lint_rules.rules.missing_tool_result.afterwards import Afterwards
from lint_rules.rules.missing_tool_result.failing import Fault
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record


@record
class Taker:
    """Who `says` so at `node`, or `elsewhere`, takes the error, and the conversation goes on as `how` says."""

    node: cst.CSTNode
    says: str
    how: str
    elsewhere: Related | None = None


def takers(
    anatomy: Anatomy, answers: Answers, fault: Fault, function: Scope, histories: Iterable[Slot]
) -> Iterator[Taker]:
    """The handlers in callers of this file, outwards; `histories` are those of `function` in which the call is open.

    A store outside of the program keeps it in any case.
    """
    histories = _kept_as(anatomy, histories)
    if fault.left:
        yield from _readers(anatomy, function, histories)
        return
    again = anatomy.calls.with_callers({function})
    queue = [(site, histories) for site in anatomy.calls.sites[function]]
    seen = {function: histories}
    while queue:
        site, below = queue.pop(0)
        named = (anatomy.transcript.seen_from(site.node, inside) for inside in below)
        slots = _kept_as(anatomy, (slot for slot in named if slot is not None))
        if site.caller in seen or not slots:
            continue
        caller = _Caller(anatomy, answers, site, slots, again)
        landed = {fault.landing(anatomy.module, caller.graph, point, caller.mends)[0] for point in caller.points}
        if fault.stops and site.callee is function and caller.may_cancel():
            yield Taker(site.node, "the turn may be stopped here, and the chat goes on", BROKEN)
        for point in landed:
            how = caller.goes_on(point) if point is not None else None
            if how is not None and point is not None and point.statement is not None:
                what = "the turn that is stopped ends" if fault.stops else "the error is caught"
                yield Taker(point.statement, f"{what} here, and the chat goes on", how)
        if caller.graph.raises in landed:
            seen[site.caller] = slots
            queue += [(above, slots) for above in anatomy.calls.sites[site.caller]]
    for turn, slots in seen.items():
        yield from _beyond(anatomy, fault, turn, slots)
    for turn in seen if fault.tool or fault.ends else ():
        kept = any(anatomy.kept_elsewhere.outlasts(slot) for slot in histories)
        if kept and not anatomy.calls.sites[turn]:
            yield Taker(turn.node, "the store keeps the call, whoever takes the error", BROKEN)
        if _is_turn(anatomy, turn, histories):
            yield Taker(turn.node, "whoever catches the error goes on with this object, and its history", BROKEN)


def _kept_as(anatomy: Anatomy, slots: Iterable[Slot]) -> list[Slot]:
    """Lists as a function names them, and what of its object, or of the program, they are."""
    found: dict[Slot, None] = {}
    for slot in slots:
        given = [anatomy.facts.slots.of(part) for part, _ in anatomy.aliases.given_back(slot)]
        same = [place for place in (anatomy.aliases.of(slot), *given) if place is not None]
        lasting = [p for p in same if root_object(p)[0] == "attr" or _is_of_program(root_object(p))]
        found.update(dict.fromkeys((slot, *lasting)))
    return list(found)


def _beyond(anatomy: Anatomy, fault: Fault, function: Scope, slots: list[Slot]) -> Iterator[Taker]:
    """Who takes the error in a file that imports this one, and goes on with the list or object that it has handed.

    A history of the program itself is there for whoever takes it.
    """
    roots = {root_object(slot) for slot in slots}
    everybodys = any(map(_is_of_program, roots))
    says = "the turn that is stopped ends here" if fault.stops else "an error is caught here"
    for each in anatomy.handed:
        if each.owner == function.qualname and not each.taken.isdisjoint(fault.taking):
            given = anatomy.contents.arrives(each) if each.what != "object" else ()
            own = each.what == "object" and any(root[0] == "attr" for root in roots)
            if own or everybodys or any(_holds(anatomy, slot, roots) for slot in given):
                told = f"{says}, and the chat goes on"
                yield Taker(function.node, told, BROKEN, Related(each.span, told, each.path))


def _readers(anatomy: Anatomy, function: Scope, slots: list[Slot]) -> Iterator[Taker]:
    """Who reads in another file what a function yields, may leave it there, and keeps its object, and the history."""
    says = "who reads the turn here may leave it, and the chat goes on"
    through = {each.qualname for each in anatomy.calls.with_callers({function}) if each.nodes_of(cst.Yield)}
    for each in anatomy.handed if any(root_object(slot)[0] == "attr" for slot in slots) else ():
        if each.left and each.owner in through:
            yield Taker(function.node, says, BROKEN, Related(each.span, says, each.path))


def _is_of_program(slot: Slot) -> bool:
    return slot[0] == "var" and bool(slot[1].kind == "module")


def _holds(anatomy: Anatomy, slot: Slot, roots: set[Slot]) -> bool:
    """Whether something has one of some places in it: it is their object, or one of its class."""
    cls = anatomy.facts.slots.classes.get(slot)
    line = anatomy.module.lineage(cls)
    return root_object(slot) in roots or any(root[0] == "attr" and root[1] in line for root in roots)


def _is_turn(anatomy: Anatomy, function: Scope, histories: list[Slot]) -> bool:
    """Whether a method is there for other files to run, and adds what it gets as a question to what its object keeps.

    An example of its use at the end of the file does not say who runs it; a program that does so in a loop does.
    """
    if function.owner is None or function.name.startswith("_") or function.owner.name.startswith("_"):
        return False
    if Lasting(anatomy).ends_with_each_run(function):
        return False
    sites = anatomy.calls.sites[function]
    if any(site.caller.kind != "module" or anatomy.module.loop_around(site.node) is not None for site in sites):
        return False
    again = Again(anatomy, function)
    given = {anatomy.facts.slots.parameter(function, param.name.value) for param in parameters(function)[1:]}
    for stored in anatomy.transcript.stored(function):
        if stored.slot is None or root_object(stored.slot)[0] != "attr":
            continue
        said = stored.message.content if stored.role == "user" and stored.message is not None else None
        if said is None or not given & again.parts(said):
            continue
        if stored.slot in histories and again.grows(stored):
            if again.leads([again.graph.entry], again.points(stored.node), again.unstored(stored.slot)):
                return True
    return False


class _Caller:
    """A function that runs the failing one at `site`, and knows its histories as `slots`."""

    def __init__(
        self, anatomy: Anatomy, answers: Answers, site: CallSite, slots: list[Slot], again: set[Scope]
    ) -> None:
        """`again` are the functions that may run the failing one."""
        self.anatomy = anatomy
        self.site = site
        self.function = site.caller
        self.ends = Afterwards(anatomy, answers, site.caller)
        self.ends.histories |= set(slots)
        self.graph = self.ends.graph
        self.points = self.graph.enclosing(site.node, anatomy.module.parent)
        self.slots = slots
        starts = [s.node for s in anatomy.calls.calls[site.caller] if s.callee in again]
        self.rounds = {point for node in starts for point in self.graph.enclosing(node, anatomy.module.parent)}

    def mends(self, point: Point) -> bool:
        """Whether a point answers the open calls, or takes them back; another round answers its own."""
        return self.ends.takes_back(point) if point in self.rounds else self.ends.mends(point)

    def goes_on(self, start: Point) -> str | None:
        """How the conversation goes on from a handler: with the history as it is."""
        holder = self.anatomy.facts.slots.of(ex.receiver(self.site.node))
        roots = {root_object(slot) for slot in (*self.slots, *([holder] if holder is not None else []))}
        other = Again(self.anatomy, self.function).anew(roots)
        queue, seen, ends = [start], {start}, False
        while queue:
            for target, kind in queue.pop().successors:
                if kind == "exception" or target in seen or target in other or self.mends(target):
                    continue
                if target in self.rounds:
                    return REFUSED
                ends = ends or target is self.graph.exit
                seen.add(target)
                queue.append(target)
        return BROKEN if ends and any(map(self._is_kept, self.slots)) else None

    def may_cancel(self) -> bool:
        """Whether the turn that is begun here may be cancelled, and a history of it is there then."""
        behind = Behind(self.anatomy, self.site.node, self.function)
        return any(behind.is_stopped(slot) and self._is_kept(slot) for slot in self.slots)

    def _is_kept(self, slot: Slot) -> bool:
        """Whether a history is there after the caller has ended."""
        if self.function.kind == "module" or not self.ends.outlives(slot, self.function, surely=True):
            return False
        sites = self.anatomy.calls.sites[self.function]
        if sites and all(site.caller.kind == "module" for site in sites):
            return False  # the program ends with it
        own = self.anatomy.module.self_name(self.function)
        owner = ex.receiver(self.site.node)
        if slot[0] != "attr" or (own is not None and owner is not None and ex.dotted(owner) == own):
            return True  # an object is there when its method has ended
        return not self.anatomy.races.ownership.on_own_object(self.site.node, self.function)
