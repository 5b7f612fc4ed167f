"""Whether one place of a function is followed by another, or by itself, while the values that matter stay the same.

`messages.append(m)` and then `messages.append(m)` store one message twice, unless `m` is bound anew between them, or
what was stored is taken out again. Both are points of the control-flow graph that a path has to avoid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import is_about_part, with_calls, without_calls
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import AnyOf, Graph, Point
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.walk import walk, walk_scope
from lint_rules.syntax.ways import Says, Ways

Loop = cst.For | cst.While

_ARGUMENTS = (Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT)
_EMPTIERS = frozenset({"clear", "pop", "popleft", "remove"})


class Again:
    """Paths of one function, asked for with its nodes."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.function = function
        self._failing: dict[Point, bool] = {}
        self._unstored: dict[Slot | None, frozenset[Point]] = {}
        self._bound_at: dict[tuple[Slot, bool], frozenset[Point]] = {}

    @cached_property
    def graph(self) -> Graph:
        return self.anatomy.flow(self.function)

    def points(self, node: cst.CSTNode) -> list[Point]:
        """The points of the statement that holds `node`."""
        return self.graph.enclosing(node, self.module.parent)

    def follows(
        self,
        first: cst.CSTNode,
        then: cst.CSTNode,
        avoiding: Container[Point],
        *,
        exceptions: bool = True,
        says: Says | None = None,
    ) -> bool:
        """Whether `then` may run once `first` has succeeded, without passing one of the points `avoiding`.

        Of the statements between them only those that are likely to fail do: requests, tools, JSON, what is awaited.
        `says` tells what tests give on the way.
        """
        return self.leads(self.points(first), set(self.points(then)), avoiding, exceptions=exceptions, says=says)

    def leads(
        self,
        start: Iterable[Point],
        goal: Container[Point],
        avoiding: Container[Point] = (),
        *,
        exceptions: bool = True,
        says: Says | None = None,
    ) -> bool:
        """The same, asked with points."""
        return self.path(start, goal, avoiding, exceptions=exceptions, says=says) is not None

    def path(
        self,
        start: Iterable[Point],
        goal: Container[Point],
        avoiding: Container[Point] = (),
        *,
        exceptions: bool = True,
        says: Says | None = None,
    ) -> list[Point] | None:
        """A shortest such way."""
        return self._ways.path(start, goal, avoiding, fails=self._fails if exceptions else None, says=says)

    def told_at(self, node: cst.CSTNode) -> Says | None:
        """What tests give for the reply of which a place knows that it has calls, or that it has none."""
        facts = self.anatomy.facts
        for tested, holds in conditions.passed(self.module, node, self.function.node):
            if not isinstance(tested, cst.If) or is_about_part(self.anatomy.facts, tested):
                continue
            for other, gives in ((without_calls, with_calls), (with_calls, without_calls)):
                if other(facts, tested.test) is (not holds):
                    return lambda each, gives=gives: (  # type: ignore[misc]
                        gives(facts, each.test) if isinstance(each, (cst.If, cst.While)) else None
                    )
        return None

    @cached_property
    def _ways(self) -> Ways:
        return self.anatomy.ways(self.function)

    def preceded(self, then: cst.CSTNode, first: Container[Point], avoiding: Container[Point]) -> bool:
        """`follows` without exceptions, asked from behind: for one place and the points of many before it."""
        queue = self.points(then).copy()
        seen = set(queue)
        while queue:
            for source, kind in queue.pop().predecessors:
                if kind == "exception":
                    continue
                if source in first:
                    return True
                if source not in seen and source not in avoiding:
                    seen.add(source)
                    queue.append(source)
        return False

    def _fails(self, point: Point) -> bool:
        if point not in self._failing:
            self._failing[point] = any(
                type(node) is cst.Await or (type(node) is cst.Call and self.is_risky(node))
                for part in point.expressions()
                for node in walk_scope(part)
            )
        return self._failing[point]

    def is_risky(self, call: cst.Call) -> bool:
        """Whether a call is likely to fail, as what a model writes or names decides about it."""
        facts = self.anatomy.facts
        if facts.decoder(call) or facts.encoder(call) or self.anatomy.calls.asks(call):
            return True
        kinds = {kind for arg in call.args for kind in facts.kinds(arg.value)}
        if kinds.isdisjoint(_ARGUMENTS):
            return Kind.CALL in kinds and _fails_with_tool(self.anatomy, call)
        return _fails_with_arguments(self.anatomy, call)

    def failed(self, node: cst.CSTNode) -> list[Point]:
        """Where an error of `node` goes."""
        return [t for point in self.points(node) for t, kind in point.successors if kind in {"exception", "raise"}]

    def fails_out(self, call: cst.Call, cut: Container[Point]) -> bool:
        """Whether an error of `call` leaves the function, with none of the points in `cut` on its way."""
        failed = self.failed(call)
        return self.graph.raises in failed or self.graph.reaches(
            [point for point in failed if point not in cut], self.graph.raises, cut
        )

    def outside(self, loop: Loop) -> Container[Point]:
        """The points that do not belong to a loop: a path that avoids them stays in it."""
        return _Outside(self.module, loop)

    # -- what ends the sameness -------------------------------------------------------------------------------

    def parts(self, node: cst.CSTNode) -> set[Slot]:
        """The slots that a value is made of, without the object itself."""
        own = self.module.self_name(self.function)
        return {
            slot
            for part in walk(node)
            if type(part) in {cst.Name, cst.Attribute} and getattr(part, "value", None) != own
            if (slot := self.anatomy.facts.slots.of(part)) is not None  # type: ignore[arg-type]
            if not self._is_callee(part)
        }

    def _is_callee(self, node: cst.CSTNode) -> bool:
        parent = self.module.parent.get(node)
        return isinstance(parent, cst.Call) and parent.func is node

    @cached_property
    def _bound(self) -> dict[Slot, list[cst.CSTNode]]:
        """The statements that give a slot another value, by slot. `x += y` is told apart in `_grown`."""
        found: defaultdict[Slot, list[cst.CSTNode]] = defaultdict(list)
        for node in self.function.nodes:
            for target in _targets(node):
                slot = self.anatomy.facts.slots.of(target)
                if slot is not None:
                    found[slot].append(node)
        return found

    def binding(self, slot: Slot) -> list[cst.CSTNode]:
        """The statements that give a slot another value."""
        return self._bound.get(slot, [])

    def renewed(self, slots: Iterable[Slot], *, grown: bool = True) -> AnyOf:
        """The points at which one of `slots` is bound anew; without `grown`, `x += y` does not count."""
        return AnyOf(*(self.bound(slot, grown=grown) for slot in slots))

    def bound(self, slot: Slot, *, grown: bool = True) -> frozenset[Point]:
        """The same for one slot."""
        found = self._bound_at.get((slot, grown))
        if found is None:
            nodes = [n for n in self._bound.get(slot, ()) if grown or type(n) is not cst.AugAssign]
            found = self._bound_at[slot, grown] = frozenset(point for node in nodes for point in self.points(node))
        return found

    def anew(self, slots: set[Slot]) -> frozenset[Point]:
        """The points at which one of some lists becomes another one, in which nothing of theirs is."""
        bound = {point: point.statement for slot in slots for point in self.bound(slot, grown=False)}
        made = {p: getattr(node, "iter", getattr(node, "value", None)) for p, node in bound.items()}
        return frozenset(p for p, value in made.items() if value is not None and not slots & self.parts(value))

    def emptied(self, slots: Iterable[Slot]) -> set[Point]:
        """The points at which something is taken out of one of `slots`: `parts.clear()`."""
        wanted = set(slots)
        return {
            point
            for node in self.function.nodes
            if type(node) is cst.Call and ex.called_name(node) in _EMPTIERS
            if (base := ex.receiver(node)) is not None and self.anatomy.facts.slots.of(base) in wanted
            for point in self.points(node)
        }

    def unstored(self, slot: Slot | None) -> frozenset[Point]:
        """The points at which a history loses messages, or becomes another one."""
        if slot not in self._unstored:
            self._unstored[slot] = frozenset(self._find_unstored(slot))
        return self._unstored[slot]

    def _find_unstored(self, slot: Slot | None) -> set[Point]:
        found: set[Point] = set()
        filling: set[cst.CSTNode] = set()
        kept = {stored.node for stored in self.anatomy.kept_elsewhere.of(self.function)}
        for stored in self.anatomy.transcript.stored(self.function):
            if stored.slot == slot and not self.grows(stored):
                found.update(self.points(stored.node))
            elif stored.kind in GROWING:
                filling.add(stored.node)  # `request.extend(history)` leaves the history as it is, too
        if slot is not None:
            found.update(*(self.bound(root, grown=False) for root in _roots(slot)))
        for call in self.function.nodes_of(cst.Call):
            cuts = call not in filling and self._may_cut(call, slot)
            of_kept = slot is not None and bool(kept) and call not in kept | filling and self._may_cut_kept(call, slot)
            found.update(self.points(call) if cuts or of_kept else ())
        return found

    def _may_cut(self, call: cst.Call, slot: Slot | None) -> bool:
        """`trim(messages)` as a statement: a function of another file that gets the history and gives nothing back."""
        if not isinstance(self.module.parent.get(call), (cst.Expr, cst.Await)) or call in self.anatomy.facts.calls:
            return False
        if self.anatomy.facts.slots.callee(call) is not None or ex.dotted(call.func) in {"print", "len"}:
            return False
        return any(self.anatomy.facts.slots.of(arg.value) == slot for arg in call.args)

    def _may_cut_kept(self, call: cst.Call, slot: Slot) -> bool:
        """The same of a store: whoever touches it, or runs a method of its object, for no value."""
        outer = self.module.awaiting(call)
        if not isinstance(outer, cst.Expr):
            return False
        own = self.anatomy.facts.slots.of(ex.receiver(call))
        return (own is not None and own == root_object(slot)) or (
            slot[0] == "outside" and slot[1] in self.anatomy.resources.of(call).names
        )

    def grows(self, stored: Stored) -> bool:
        """Whether a place adds a message to what is in the history: `h = h + [m]` does, `h = [m]` does not."""
        if stored.kind in GROWING:
            return True
        write = stored.write
        if stored.kind != "rebind" or stored.message is None or write is None or write.value is None:
            return False
        slots = self.anatomy.facts.slots
        return any(ex.reads_place(part) and slots.of(part) == write.slot for part in walk(write.value))

    # -- conditions -------------------------------------------------------------------------------------------

    def guards(self, node: cst.CSTNode, within: cst.CSTNode | None = None) -> Iterator[cst.If]:
        """The `if` statements around `node`, innermost first: those in whose body or else-branch it stands."""
        here = node
        for outer in self.module.ancestors(node):
            if outer is within or outer is self.function.node:
                return
            if isinstance(outer, cst.If) and here is not outer.test:
                yield outer
            here = outer

    def is_flagged(self, node: cst.CSTNode, slot: Slot | None, within: cst.CSTNode | None = None) -> bool:
        """Whether a condition around `node` keeps it from running twice: it reads a flag that is set there, or what
        is in the history.
        """
        for guard in self.guards(node, within):
            read = self.parts(guard.test)
            if slot is not None and slot in read:
                return True
            changed = {s for part in walk(guard.body) for s in self._changed_by(part)}
            if read & changed:
                return True
        return False

    def _changed_by(self, node: cst.CSTNode) -> Iterator[Slot]:
        """What a statement changes that no test can follow: attributes, counters, sets. Names are known on the way."""
        slots = self.anatomy.facts.slots
        for target in (
            _targets(node) if type(node) is not cst.Assign or type(node.targets[0].target) is not cst.Name else ()
        ):
            if (slot := slots.of(target)) is not None:
                yield slot
        if type(node) is cst.Call and ex.called_name(node) in {"add", "append"}:
            base = ex.receiver(node)
            if base is not None and (slot := slots.of(base)) is not None:
                yield slot


@once(circular=False)
def _fails_with_arguments(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether an error of what is done with arguments leaves the function that gets them; one that is not known."""
    there, function = body(anatomy, call) or (anatomy, None)
    if function is None or function.kind != "function":
        return True
    slots = there.facts.slots
    given = _given(anatomy, slots.bindings(call, function), _ARGUMENTS)
    used = [node for node in function.nodes_of(cst.Call, cst.Subscript, cst.For) if slots.names_any(node, given)]
    return not used or _leaves(there, function, used)


@once(circular=False)
def _fails_with_tool(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether a function of the project runs the tool call that it is handed, and an error of the tool leaves it.

    `run(**call.args)`, `TOOLS[call.name](call)`: what the model wrote decides which tool that is, and what it gets.
    """
    there, function = body(anatomy, call) or (anatomy, None)
    if function is None or function.kind != "function":
        return False
    slots = there.facts.slots
    given = _given(anatomy, slots.bindings(call, function), {Kind.CALL})
    chosen = (
        inner
        for inner in function.nodes_of(cst.Call)
        if any(arg.star == "**" and slots.names_any(arg.value, given) for arg in inner.args)
        or (isinstance(inner.func, cst.Subscript) and slots.names_any(inner.func, given))
    )
    return _leaves(there, function, chosen)


def _given(anatomy: Anatomy, bound: Iterable[tuple[Slot, cst.BaseExpression]], kinds: Collection[Kind]) -> set[Slot]:
    """Of the parameters that are bound at a call those that get something of some kinds."""
    return {slot for slot, value in bound if not anatomy.facts.kinds(value).keys().isdisjoint(kinds)}


def _leaves(there: Anatomy, function: Scope, nodes: Iterable[cst.CSTNode]) -> bool:
    """Whether an error of one of these nodes leaves the function."""
    again = Again(there, function)
    failed = [point for node in nodes for point in again.failed(node)]
    return again.graph.raises in failed or again.leads(failed, {again.graph.raises}, exceptions=False)


class _Outside(Container[Point]):
    """The points of a function that do not belong to one of its nodes."""

    def __init__(self, module: SourceModule, node: cst.CSTNode) -> None:
        self._module = module
        self._node = node

    def __contains__(self, point: object) -> bool:
        return type(point) is Point and (
            point.statement is None or not self._module.inside(point.statement, self._node)
        )


def _roots(slot: Slot) -> Iterator[Slot]:
    """A slot and the slots that it is a part of."""
    while True:
        yield slot
        if slot[0] not in {"member", "item"}:
            return
        slot = slot[1]


def _targets(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What a statement, or the pattern of a `case`, binds: names, attributes and items, those inside tuples too."""
    stack: list[cst.BaseExpression] = []
    if type(node) is cst.Assign:
        stack = [target.target for target in node.targets]
    elif type(node) in {cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr}:
        if not (type(node) is cst.AnnAssign and node.value is None):
            stack = [node.target]  # type: ignore[attr-defined]
    elif type(node) is cst.AsName:
        stack = [node.name]
    elif type(node) in {cst.MatchAs, cst.MatchStar} and node.name is not None:  # type: ignore[attr-defined]
        stack = [node.name]  # type: ignore[attr-defined]
    while stack:
        target = stack.pop()
        if isinstance(target, (cst.Tuple, cst.List)):
            stack.extend(element.value for element in target.elements)
        else:
            yield target
