"""Whether those who start tasks and threads wait for their ends, so that no two of them run at once.

What is started is followed by the places that hold it: names, attributes, lists. A wait for it is an `await` or a
`join` of one of them, or the end of a `with` block of the group or pool; a test tells as well that it is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.concurrency import Start, runs_per_event, starts_several
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk, walk_scope

_JOINS = frozenset({"join", "result", "wait", "wait_for", "shield", "gather", "as_completed", "run_until_complete"})
_ENDS = {"done": "true", "is_alive": "false", "running": "false", "ready": "true"}
"""Methods of tasks and threads, with the outcome that says that they are over."""
_OPPOSITE = {"true": "false", "false": "true"}
_GROWERS = frozenset({"append", "add"})
_MANY = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


class Joins:
    """Answers for the starts of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self._joined: dict[Start, bool] = {}
        self._waits: dict[Start, frozenset[Point]] = {}

    def is_joined(self, start: Start) -> bool:
        """Whether the function that starts a task or thread waits for its end on every way on, also to the next one."""
        if start not in self._joined:
            self._joined[start] = self._ends_here(start) or self._is_waited_for(start)
        return self._joined[start]

    def follows_its_last(self, start: Start) -> bool:
        """Whether the one before is over on every way to the next: `if self.task is None or self.task.done(): ...`."""
        function = self.module.scope_of[start.node].function
        if self._is_unknown(start, function):
            return False
        held = self._held(start)
        begin = [self.anatomy.flow(function).entry] if any(_outlives(slot, function) for slot in held) else []
        loop = self.anatomy.module.loop_around(start.node, own=True) if not begin else None
        if not begin and (loop is None or runs_per_event(self.anatomy.calls, function)):
            return False  # another run of the function knows nothing of this one
        shared = bool(begin) and function.is_async and self._serves(function)
        if not held or self.lets_go(start):
            return False
        return not self._runs_on(start, self.anatomy.points(function, [start.node]), begin, shared=shared)

    def lets_go(self, start: Start) -> bool:
        """Whether what is started takes itself out of there first, and does its work then, which nobody sees any more.

        `await sleep(2)`, `self.tasks.pop(key)`, `await self.answer(key)`.
        """
        slots, leads, held = self.anatomy.facts.slots, self.anatomy.leads, self._held(start)
        run = slots.function(start.target) if start.kind == "task" and start.target is not None else None
        if run is None:
            return False
        awaited = ((wait, ex.inner(wait.expression)) for wait in run.nodes_of(cst.Await))
        work = [wait for wait, call in awaited if isinstance(call, cst.Call) and self._is_work(call)]
        outs = [node for node in run.nodes_of(cst.Call, cst.Del, cst.Assign) if self._takes_out(node, held)]
        return any(leads(run, [out], work) and not leads(run, work, [out]) for out in outs)

    def _is_work(self, call: cst.Call) -> bool:
        """Whether a call asks a model, or runs a function of the project."""
        known = self.anatomy.facts.slots.callee(call) is not None or self.anatomy.calls.asks(call)
        return known or self.anatomy.defined_elsewhere(ex.dotted(call.func) or "", "def") is not None

    def _takes_out(self, node: cst.CSTNode, held: frozenset[Slot]) -> bool:
        """`self.tasks.pop(key)`, `del self.tasks[key]`, `self.task = None`."""
        if isinstance(node, cst.Call):
            base = ex.receiver(node) if ex.called_name(node) == "pop" else None
            return base is not None and ("item", self.anatomy.facts.slots.of(base)) in held
        if isinstance(node, cst.Del):
            return self._is_held(node.target, held)
        none = isinstance(node, cst.Assign) and ex.dotted(node.value) == "None"
        return none and any(self._is_held(target, held) for target in ex.targets(node))  # type: ignore[arg-type]

    def ends_in(self, loop: cst.CSTNode, start: Start) -> bool:
        """Whether a loop, which calls the function that starts something, waits for its end, or could: it is given."""
        held, function = self._held(start), self.module.scope_of[start.node].function
        given = function.returned
        return any(self._mentions(value, held) or self.module.inside(start.node, value) for value in given) or any(
            self._awaits(node, held) for node in walk(loop) if isinstance(node, (cst.Await, cst.Call))
        )

    def _serves(self, function: Scope) -> bool:
        """Whether a handler of which several run at once may run a function."""
        graph = self.anatomy.calls
        return any(how.concurrent and function in graph.reachable(serving) for serving, how in graph.servings.items())

    def runs_beside(self, start: Start, node: cst.CSTNode) -> bool:
        """Whether a node of the function that starts a task or thread may run before its end was waited for."""
        function = self.module.scope_of[start.node].function
        return not self._ends_here(start) and self._runs_on(start, self.anatomy.points(function, [node]))

    def may_meet(self, start: Start, other: Start) -> bool:
        """Whether neither of two starts is waited for before the other; one that is runs within its function."""
        if start.kind == other.kind == "serial" or _are_one_run(start, other):
            return False
        if start.node is other.node and start.function is not other.function:
            at_once = start.target is None or self.module.inside(start.target, start.node)
            return at_once or not self.is_joined(start)  # `gather(listen(), talk())`, or one by one in a loop
        if not self.is_joined(start) and not self.is_joined(other):
            return True
        if self.module.scope_of[start.node].function is not self.module.scope_of[other.node].function:
            return False
        return self.runs_beside(start, other.node) or self.runs_beside(other, start.node)

    def _ends_here(self, start: Start) -> bool:
        """`await create_task(...)`, `submit(...).result()`."""
        if start.target is None:
            return False
        for outer in (start.node, *self.module.ancestors(start.node)):
            if isinstance(outer, _MANY):
                return False
            if isinstance(outer, cst.Await):
                return not self._has_company(start)
            if isinstance(outer, cst.Call) and ex.called_name(outer) in {"run_until_complete", "result"}:
                return True
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return False
        return False

    def _has_company(self, start: Start) -> bool:
        """Whether a `gather` runs another turn beside it, or many of them."""
        if not isinstance(start.node, cst.Call) or ex.called_name(start.node) != "gather":
            return False
        others = [ex.inner(arg.value) for arg in start.node.args if arg.star or _called(arg.value) is not start.target]
        return any(
            not isinstance(other, cst.Call)
            or (
                (callee := self.anatomy.facts.slots.callee(other)) is not None
                and self.anatomy.calls.reaches_llm(callee)
            )
            for other in others
        )

    def _is_waited_for(self, start: Start) -> bool:
        function = self.module.scope_of[start.node].function
        if self._is_unknown(start, function):
            return False
        goals = [*self.anatomy.points(function, [start.node]), self.anatomy.flow(function).exit]
        return not self._runs_on(start, goals)

    def _is_unknown(self, start: Start, function: Scope) -> bool:
        """Whether no path tells of the end: of what others run, of what runs several times from one place."""
        if start.target is None or function.kind == "class" or starts_several(start):
            return True
        return any(isinstance(outer, _MANY) for outer in self._outers(start.node))

    # -- paths ------------------------------------------------------------------------------------------------

    def _runs_on(
        self, start: Start, goals: Iterable[Point], begin: Iterable[Point] = (), *, shared: bool = False
    ) -> bool:
        """Whether there is a way from the start, or from `begin`, to a goal on which nothing shows that it is over.

        `shared`: others may start the next one while this function awaits something, so that it is shown anew.
        """
        function = self.module.scope_of[start.node].function
        here, held, waits = self.anatomy.points(function, [start.node]), self._held(start), self._waiting(start)
        wanted = set(goals) - waits
        begun = [*begin, *(target for point in here for target, kind in point.successors if kind != "exception")]
        queue = [(point, False) for point in begun]
        seen = set(queue)
        while queue:
            point, over = queue.pop()
            if point in wanted and not over:
                return True
            over = point in waits or (over and not any(_gives_way(part) for part in point.expressions()))
            test = point.statement.test if isinstance(point.statement, (cst.If, cst.While)) else None
            told = self._over(test, held) if test is not None else ()
            for target, kind in point.successors:
                step = (target, over or kind in told)
                if kind != "exception" and step not in seen and (shared or not step[1]):
                    seen.add(step)
                    queue.append(step)
        return False

    def _over(self, test: cst.BaseExpression, held: frozenset[Slot]) -> frozenset[str]:
        """With which outcome a test tells that what was started is over, or was never started: "true", "false"."""
        test = ex.inner(test)
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            return frozenset(_OPPOSITE[way] for way in self._over(test.expression, held))
        if isinstance(test, cst.BooleanOperation):
            left, right = self._over(test.left, held), self._over(test.right, held)
            either = "true" if isinstance(test.operator, cst.And) else "false"
            return (left & right) | ((left | right) & {either})
        if isinstance(test, cst.Comparison):
            left_side, operator, right_side = ex.compared(test)
            if ex.dotted(right_side) == "None" and self._is_held(left_side, held):
                return frozenset({"true"} if isinstance(operator, (cst.Is, cst.Equal)) else {"false"})
            return frozenset()
        if self._is_held(test, held):
            return frozenset({"false"})
        if not isinstance(test, cst.Call):
            return frozenset()
        base = ex.receiver(test)
        if base is not None and self._is_held(base, held) and ex.called_name(test) in _ENDS:
            return frozenset({_ENDS[ex.called_name(test)]})
        callee = self.anatomy.facts.slots.callee(test)
        told = [node.value for node in callee.nodes_of(cst.Return)] if callee is not None else []
        return self._over(told[0], held) if len(told) == 1 and told[0] is not None else frozenset()

    def _is_held(self, node: cst.BaseExpression, held: frozenset[Slot]) -> bool:
        return self.anatomy.facts.slots.of(node) in held

    # -- waits ------------------------------------------------------------------------------------------------

    def _waiting(self, start: Start) -> frozenset[Point]:
        """The points of the starting function behind which what it started has ended."""
        if start not in self._waits:
            self._waits[start] = frozenset(self._find_waits(start))
        return self._waits[start]

    def _find_waits(self, start: Start) -> Iterator[Point]:
        function = self.module.scope_of[start.node].function
        held = self._held(start)
        for node in function.nodes_of(cst.Await, cst.Call) if held else ():
            if self._awaits(node, held) or (start.kind == "task" and self._cancels(node, held)):
                yield from self.anatomy.points(function, [node])
        yield from self._behind_block(start, function)

    def _held(self, start: Start) -> frozenset[Slot]:
        """The places that hold what is started, and the names that are set to one of them."""
        function = self.module.scope_of[start.node].function
        slots = self.anatomy.facts.slots
        found, before = set(self._holders(start)), 0
        while len(found) > before:  # `last = tasks.get(key)` may come before `tasks[key] = task`
            before = len(found)
            for node in function.nodes_of(cst.Assign, cst.NamedExpr):
                if slots.of(node.value) in found:
                    found.update(slot for target in ex.targets(node) if (slot := slots.of(target)) is not None)
        return frozenset(found)

    def _holders(self, start: Start) -> Iterator[Slot]:
        """The places in which what is started is put."""
        for outer in self._outers(start.node):
            places: list[cst.BaseExpression] = []
            if isinstance(outer, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
                places = ex.targets(outer)
            elif isinstance(outer, cst.Call) and ex.called_name(outer) in _GROWERS:
                base = ex.receiver(outer)
                places = [base] if base is not None else []
            for place in places:
                slot = self.anatomy.facts.slots.of(place)
                if slot is not None:
                    yield slot

    def _outers(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What stands around a node, up to its statement."""
        for outer in self.module.ancestors(node):
            yield outer
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return

    def _awaits(self, node: cst.Await | cst.Call, held: frozenset[Slot]) -> bool:
        """`await t`, `await wait_for(t, 5)`, `t.join()`, `t.result()`; `self.end()`, which joins `self.t`."""
        if isinstance(node, cst.Await):
            return self._mentions(node.expression, held)
        if ex.called_name(node) in _JOINS:
            given = [ex.receiver(node), *(arg.value for arg in node.args)]
            return any(self._is_held(n, held) for n in given if n is not None)
        callee = self.anatomy.facts.slots.callee(node)
        return callee is not None and any(
            ex.called_name(call) == "join" and (base := ex.receiver(call)) is not None and self._is_held(base, held)
            for call in callee.nodes_of(cst.Call)
        )

    def _cancels(self, node: cst.CSTNode, held: frozenset[Slot]) -> bool:
        """`task.cancel()`: it ends where it waits, before the next one begins."""
        base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) == "cancel" else None
        return base is not None and self._is_held(base, held)

    def _mentions(self, node: cst.CSTNode, held: frozenset[Slot]) -> bool:
        return any(
            isinstance(part, (cst.Name, cst.Attribute, cst.Subscript)) and self.anatomy.facts.slots.of(part) in held
            for part in walk(node)
        )

    def _behind_block(self, start: Start, function: Scope) -> Iterator[Point]:
        """The points behind `with ThreadPoolExecutor() as pool`, `async with TaskGroup() as group`: they wait."""
        slot = self.anatomy.facts.slots.of(ex.receiver(start.node))
        if slot is None:
            return
        for block in self.module.ancestors(start.node):
            if block is function.node:
                return
            if isinstance(block, cst.With) and any(
                item.asname is not None and self.anatomy.facts.slots.of(item.asname.name) == slot
                for item in block.items
            ):
                flow = self.anatomy.flow(function)
                yield from (
                    p for p in flow.points if p.statement is not None and not self.module.inside(p.statement, block)
                )
                yield flow.exit


def _are_one_run(start: Start, other: Start) -> bool:
    """Whether two starts are two calls of one function elsewhere, of which one run is under way at a time."""
    if (
        start.caller is None
        or other.caller is None
        or start.many
        or other.many
        or "handler" in {start.kind, other.kind}
    ):
        return False
    one, two = start.caller.passing, other.caller.passing
    return (one.path, one.caller) == (two.path, two.caller) and bool(one.caller)


def _gives_way(node: cst.CSTNode) -> bool:
    return any(isinstance(part, cst.Await) for part in walk_scope(node))


def _outlives(slot: Slot, function: Scope) -> bool:
    """Whether a place is still there when the function runs the next time: it is no local name."""
    slot = root_object(slot)
    return slot[0] != "var" or slot[1] is not function


def _called(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """`f` of `f(x)`."""
    value = ex.inner(value)
    return value.func if isinstance(value, cst.Call) else None
