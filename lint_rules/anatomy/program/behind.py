"""What is there behind a call: whether a list or object that it gets lives on, and whether an error of it is caught."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Graph, Point
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.walk import walk_scope

_TAKING = exceptions.CATCH_ALL | {"ValueError", "KeyError", "LookupError", "TypeError", "RuntimeError"}
"""With what a handler takes what a tool raises, which is not known."""
_CANCELLED = "CancelledError"
_TIMED = frozenset({"wait_for", "timeout", "timeout_at", "fail_after", "move_on_after"})
_LATE = exceptions.CATCH_ALL | {"TimeoutError"}
"""What takes the error that tells of a coroutine which was cancelled for its time."""
_DEEPEST = 3
"""So many callers are looked at, one behind the other."""


class Behind:
    """Answers for one call of a function."""

    def __init__(self, anatomy: Anatomy, call: cst.Call, function: Scope, depth: int = 0) -> None:
        """`depth` says how many calls were followed to it."""
        self._depth = depth
        self.anatomy = anatomy
        self.call = call
        self.function = function

    def keeps(self, value: cst.BaseExpression) -> bool:
        """Whether what a value is will be there when the call has ended: it outlives the function, or the round."""
        slot = self.anatomy.facts.slots.of(value)
        if slot is None:
            return False
        here = self._outlives(slot) or self._outlives_round(slot)
        return here or any(above.keeps(given) for above, given in self._above(slot) if given is not None)

    def taken(self, value: cst.BaseExpression) -> frozenset[str]:
        """The classes of errors of the call that end here, while what a value is stays there as they have left it."""
        slot = self.anatomy.facts.slots.of(value)
        return self._taken(slot) if slot is not None else frozenset()

    def _taken(self, slot: Slot) -> frozenset[str]:
        found: set[str] = set()
        ended: set[str] = set()
        for handler in self._handlers:
            names = {name for name in exceptions.caught(handler) if not exceptions.is_covered(name, ended)}
            ended |= names
            names -= {"KeyboardInterrupt"} if self._is_awaited else set()  # there, the task is cancelled
            if not self._is_renewed(handler, slot):
                found |= {name for name in names if self._goes_on(handler, slot, stopped=exceptions.stops(name))}
        if self._is_cancelled or (self._is_timed and not _LATE.isdisjoint(found)):
            found |= {_CANCELLED} if self._outlives(slot) else set()
        if self.function in self.anatomy.calls.servings:
            above = {"Exception"} if self._outlives(slot) else set()
        else:
            above = {name for caller, outer in self._known_above(slot) for name in caller._taken(outer)}
        if self.anatomy.module.loop_around(self.call) is not None:
            above = above - {_CANCELLED}  # a worker of many turns is cancelled when the program ends
        return frozenset(found.union(name for name in above if not exceptions.is_covered(name, ended)))

    def is_stopped(self, slot: Slot) -> bool:
        """Whether the call begins what somebody cancels, or has its time and an end that leaves a slot as it is."""
        return self._is_cancelled or (self._is_timed and not _LATE.isdisjoint(self._taken(slot)))

    @cached_property
    def _is_timed(self) -> bool:
        """`wait_for(ask(text), 60)`, `async with timeout(60): ...`: what takes longer is cancelled."""
        here = takewhile(lambda outer: outer is not self.function.node, self.anatomy.module.ancestors(self.call))
        blocks = (outer for outer in here if isinstance(outer, cst.With))
        around = [*self._begun_by, *(item.item for block in blocks for item in block.items)]
        return any(isinstance(outer, cst.Call) and ex.called_name(outer) in _TIMED for outer in around)

    @cached_property
    def _is_cancelled(self) -> bool:
        """`self.turn = create_task(ask(text))`, where somebody in the file says `self.turn.cancel()`, and goes on."""
        if not any(ex.called_name(outer) in words.TASKS for outer in self._begun_by):
            return False
        slots, aliases = self.anatomy.facts.slots, self.anatomy.aliases
        statement = self.anatomy.module.statement(self.call)
        targets = ex.assigned(statement)
        held = {slots.of(target) for target in targets}
        named = [n for n in self.function.nodes_of(cst.Assign) if slots.of(n.value) in held - {None}]
        held |= {slots.of(target) for node in named for target in ex.targets(node)}
        places = {aliases.of(slot) for slot in held if slot is not None}
        for node in self.anatomy.module.nodes_of(cst.Call):
            base = ex.receiver(node) if ex.called_name(node) == "cancel" else None
            slot = slots.of(base)
            if slot is not None and aliases.of(slot) in places and self._may_begin_anew(node):
                return True
        return False

    def _may_begin_anew(self, cancels: cst.Call) -> bool:
        """Whether the call may be made again when its task is cancelled: not behind the end of all, in its function."""
        here = self.anatomy.module.scope_of[cancels].function is self.function
        return not here or self.anatomy.leads(self.function, [cancels], [self.call])

    @property
    def _is_awaited(self) -> bool:
        return isinstance(self.anatomy.module.parent[self.call], cst.Await)

    @cached_property
    def _begun_by(self) -> list[cst.Call]:
        """The calls that are handed the coroutine which the call makes, innermost first."""
        found = []
        for outer in self.anatomy.module.ancestors(self.call):
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                break
            found += [outer] if isinstance(outer, cst.Call) else []
        return found

    def _known_above(self, slot: Slot) -> Iterator[tuple[Behind, Slot]]:
        """The calls of the function in this file, with the slot as each names it."""
        for caller, given in self._above(slot):
            outer = self.anatomy.facts.slots.of(given) if given is not None else slot
            if outer is not None:
                yield caller, outer

    def is_left(self, value: cst.BaseExpression) -> bool:
        """Whether who reads what the call yields may leave before its end, and what a value is will be there.

        So does who sends each piece to somebody who may be gone.
        """
        waits = self._loop is not None and any(type(node) is cst.Await for node in walk_scope(self._loop.body))
        return waits and not _TAKING.isdisjoint(self.taken(value))

    @cached_property
    def _loop(self) -> cst.For | None:
        """The loop that reads what the call yields."""
        for outer in self.anatomy.module.ancestors(self.call):
            if isinstance(outer, cst.For):
                return outer if self.anatomy.module.inside(self.call, outer.iter) else None
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return None
        return None

    def _above(self, slot: Slot) -> Iterator[tuple[Behind, cst.BaseExpression | None]]:
        """The calls of the function in this file, each with what it gives where a parameter is asked for."""
        for site in self.anatomy.calls.sites[self.function] if self._depth < _DEEPEST else ():
            given = dict(self.anatomy.facts.slots.bindings(site.node, self.function))
            if slot in given or not is_parameter(slot):
                yield Behind(self.anatomy, site.node, site.caller, self._depth + 1), given.get(slot)

    def _goes_on(self, handler: cst.ExceptHandler, slot: Slot, *, stopped: bool) -> bool:
        """Whether a handler leads back to the call, or to an end of the function, and something is there as it was.

        A person who has `stopped` what runs may leave at an end, if nobody comes back to it.
        """
        starts = list(self._flow.at(handler))
        if self._outlives_round(slot) and self._flow.reaches(starts, self._points, exceptions=False):
            return True
        stays = not stopped or self.function.is_async or self._is_come_back_to(slot)
        return stays and self._outlives(slot) and self._flow.reaches(starts, self._flow.exit, exceptions=False)

    def _is_come_back_to(self, slot: Slot) -> bool:
        """Whether a caller in this file runs the function in a loop, or is run in one, with what is in a slot."""
        above = self._known_above(slot)
        return any(caller._outlives_round(outer) or caller._is_come_back_to(outer) for caller, outer in above)

    @cached_property
    def _points(self) -> list[Point]:
        return self._flow.enclosing(self.call, self.anatomy.module.parent)

    @cached_property
    def _flow(self) -> Graph:
        return self.anatomy.flow(self.function)

    @cached_property
    def _handlers(self) -> list[cst.ExceptHandler]:
        """The handlers around the call, innermost first."""
        around = exceptions.guards(self.anatomy.module, self.call) if self.function.kind != "lambda" else ()
        return [handler for guard in around for handler in guard.handlers]

    def _outlives(self, slot: Slot) -> bool:
        place = self.anatomy.aliases.of(slot)
        lasts = self.function.kind != "module" and self.anatomy.aliases.is_lasting(place, self.function)
        return lasts and not self._is_made_for_call(place)

    def _is_made_for_call(self, place: Slot) -> bool:
        """`self.run = Run(model)`, and then `self.run.begin(text)`: the next one is another object."""
        slots, is_attribute = self.anatomy.facts.slots, place[0] == "attr" and self.function.kind == "function"
        made = [
            node
            for node in (self.function.nodes_of(cst.Assign) if is_attribute else ())
            if isinstance(ex.inner(node.value), (cst.Call, cst.List)) and not slots.names_any(node.value, {place})
            if place in map(slots.of, ex.targets(node))
        ]
        begun = self._flow.within(made) if made else []
        return bool(begun) and all(any(self._flow.dominates(at, point) for at in begun) for point in self._points)

    def _outlives_round(self, slot: Slot) -> bool:
        """Whether the call comes back to what was made before its loop."""
        root = root_object(slot)
        around = (o for o in self.anatomy.module.ancestors(self.call) if isinstance(o, (cst.For, cst.While)))
        loops = [o for o in around if o is not self._loop]  # what that reads is begun once
        own = [loop for loop in loops if self.anatomy.module.scope_of[loop].function is self.function]
        if not own or root[0] not in {"var", "attr"}:
            return False
        if root[0] == "var" and root[1] is not self.function:
            return True
        behind = [target for point in self._points for target, _ in point.successors]
        return self._flow.reaches(behind, self._points, self._anew(root, own[-1]))

    def _anew(self, root: Slot, loop: cst.For | cst.While) -> set[Point]:
        """Where a loop binds a name, or a part of an object, to something that is not made of it."""
        slots, bound = self.anatomy.facts.slots, _bound_in(self.anatomy.module, loop.body)
        values = [value for target, value in bound if slots.of(target) == root and not self._is_made_of(value, root)]
        return {*self.anatomy.points(self.function, values)}

    def _is_made_of(self, value: cst.BaseExpression, root: Slot) -> bool:
        """Whether what a name is bound to is made of it: `history = run(history)`."""
        slots = self.anatomy.facts.slots
        return any(slots.of(part) == root for part in walk_scope(value) if isinstance(part, cst.BaseExpression))

    def _is_renewed(self, handler: cst.ExceptHandler, slot: Slot) -> bool:
        """Whether the handler does something to it: cuts, empties, replaces it."""
        root = root_object(slot)
        for node in walk_scope(handler.body):
            base = ex.receiver(node)
            changed = [base] if base is not None else [target for target, _ in _bound(node)]
            changed += [node.target] if isinstance(node, cst.Del) else []
            slots = (self.anatomy.facts.slots.of(_whole(part)) for part in changed)
            if any(each is not None and root_object(each) == root for each in slots):
                return True
        return False


@kept
def _bound_in(module: SourceModule, body: cst.BaseSuite) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """What a body binds to what, without the functions in it."""
    return [pair for node in walk_scope(body) for pair in _bound(node)]


def _bound(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    if isinstance(node, (cst.Assign, cst.AnnAssign, cst.NamedExpr)) and node.value is not None:
        for target in ex.targets(node):
            for place, _ in ex.unpacked(target, node.value):
                yield place, node.value


def _whole(target: cst.BaseExpression) -> cst.BaseExpression:
    """`h` of `h[n:]`."""
    return target.value if isinstance(target, cst.Subscript) else target
