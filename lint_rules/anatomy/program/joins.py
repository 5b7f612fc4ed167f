"""Whether those who start tasks and threads wait for their ends, so that no two of them run at once.

What is started is followed by the places that hold it: names, attributes, lists. A wait for it is an `await` or a
`join` of one of them, a loop that asks whether it is done, or the end of a `with` block of the group or pool.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program.concurrency import Start, starts_several
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_JOINS = frozenset({"join", "result", "wait", "wait_for", "shield", "gather", "as_completed", "run_until_complete"})
_ENDS = frozenset({"done", "is_alive", "ready", "running"})
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

    def runs_beside(self, start: Start, node: cst.CSTNode) -> bool:
        """Whether a node of the function that starts a task or thread may run before its end was waited for."""
        function = self.module.scope_of[start.node].function
        here, there = (self.anatomy.points(function, [each]) for each in (start.node, node))
        waits = self._waiting(start)
        return not self._ends_here(start) and self.anatomy.flow(function).reaches(here, there, waits, exceptions=False)

    def _ends_here(self, start: Start) -> bool:
        """`await create_task(...)`, `submit(...).result()`."""
        if start.kind == "handler":
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
        if start.kind == "handler" or function.kind == "class":
            return False
        if starts_several(start) or any(isinstance(outer, _MANY) for outer in self._outers(start.node)):
            return False
        waits = self._waiting(start)
        here = self.anatomy.points(function, [start.node])
        flow = self.anatomy.flow(function)
        goals = [point for point in (*here, flow.exit) if point not in waits]
        return bool(waits) and not flow.reaches(here, goals, waits, exceptions=False)

    # -- waits ------------------------------------------------------------------------------------------------

    def _waiting(self, start: Start) -> frozenset[Point]:
        """The points of the starting function behind which what it started has ended, or no longer matters."""
        if start not in self._waits:
            self._waits[start] = frozenset(self._find_waits(start))
        return self._waits[start]

    def _find_waits(self, start: Start) -> Iterator[Point]:
        function = self.module.scope_of[start.node].function
        held = set(self._holders(start)) if function.kind != "class" else set()
        for node in function.nodes if held else ():
            if (isinstance(node, (cst.Await, cst.Call)) and self._awaits(node, held)) or (
                isinstance(node, (cst.While, cst.If)) and self._asks(node, held, function)
            ):
                yield from self.anatomy.points(function, [node])
        yield from self._behind_block(start, function)

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

    def _awaits(self, node: cst.Await | cst.Call, held: set[Slot]) -> bool:
        """`await t`, `await wait_for(t, 5)`, `t.join()`, `t.result()`."""
        if isinstance(node, cst.Await):
            return self._mentions(node.expression, held)
        if ex.called_name(node) not in _JOINS:
            return False
        given = [ex.receiver(node), *(arg.value for arg in node.args)]
        return any(self.anatomy.facts.slots.of(n) in held for n in given if n is not None)

    def _asks(self, node: cst.While | cst.If, held: set[Slot], function: Scope) -> bool:
        """`while not t.done(): ...`, which ends with it; `if t is not None: await t`, which decides by it alone."""
        if isinstance(node, cst.If):
            inside = self.module.nodes_inside(node.body, function, cst.Await, cst.Call)
            return self._mentions(node.test, held) and any(self._awaits(part, held) for part in inside)
        return any(
            isinstance(part, cst.Call)
            and ex.called_name(part) in _ENDS
            and (base := ex.receiver(part)) is not None
            and self.anatomy.facts.slots.of(base) in held
            for part in walk(node.test)
        )

    def _mentions(self, node: cst.CSTNode, held: set[Slot]) -> bool:
        return any(
            isinstance(part, (cst.Name, cst.Attribute, cst.Subscript)) and self.anatomy.facts.slots.of(part) in held
            for part in walk(node)
        )

    def _behind_block(self, start: Start, function: Scope) -> Iterator[Point]:
        """The points behind `with ThreadPoolExecutor() as pool`, `async with TaskGroup() as group`: they wait."""
        base = ex.receiver(start.node) if isinstance(start.node, cst.Call) else None
        slot = self.anatomy.facts.slots.of(base) if base is not None else None
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

    # -- the one before ---------------------------------------------------------------------------------------

    def follows_its_last(self, start: Start) -> bool:
        """Whether the thread or task that ran before is waited for before each next: `self.end(); self.t = ...`."""
        function = self.module.scope_of[start.node].function
        bound = self.module.parent.get(start.node)
        if not isinstance(bound, cst.Assign) or function.kind == "class":
            return False
        slot = self.anatomy.facts.slots.of(bound.targets[0].target)
        if slot is None or slot[0] != "attr":
            return False
        flow = self.anatomy.flow(function)
        goals = self.anatomy.points(function, [start.node])
        return any(
            self._waits_for(call, slot)
            and any(flow.dominates(a, b) for a in self.anatomy.points(function, [call]) for b in goals)
            for call in function.nodes_of(cst.Call)
            if self.module.before(call, start.node)
        )

    def _waits_for(self, call: cst.Call, slot: Slot) -> bool:
        """Whether a call, or the function of this file that it runs, joins what a slot holds."""
        callee = self.anatomy.facts.slots.callee(call)
        for inside in [call, *(callee.nodes_of(cst.Call) if callee is not None else ())]:
            base = ex.receiver(inside)
            if base is not None and ex.called_name(inside) == "join" and self.anatomy.facts.slots.of(base) == slot:
                return True
        return False


def _called(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """`f` of `f(x)`."""
    value = ex.inner(value)
    return value.func if isinstance(value, cst.Call) else None
