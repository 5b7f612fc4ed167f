"""Objects that nobody else has: a function has just made them, or they are made anew for a concurrent start."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.concurrency import Start
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters

_LOOPS = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


class Ownership:
    """Tells them in one file, with its concurrent starts."""

    def __init__(self, anatomy: Anatomy, starts: list[Start]) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.starts = starts

    def is_own_write(self, write: HistoryWrite) -> bool:
        """A write to an object that the function has just made."""
        base: cst.BaseExpression | None = None
        if isinstance(write.node, cst.Call):
            base = ex.receiver(write.node)
        elif isinstance(write.node, cst.Assign):
            base = write.node.targets[0].target
        while isinstance(base, (cst.Attribute, cst.Subscript)):
            base = base.value
        made = self._made_in(base, write.function)
        return bool(made) and all(
            self.facts.slots.constructed(call) is not None or ex.dotted(call.func) in {"cls", "type(self)"}
            for call in made
        )

    def is_connection(self, function: Scope, name: str) -> bool:
        """Whether a parameter is a WebSocket: each connection has one, and a handler of its own."""
        given = (param for param in parameters(function) if param.name.value == name and param.annotation is not None)
        return any(ex.last_name(param.annotation.annotation) == "WebSocket" for param in given if param.annotation)

    def on_own_object(self, call: cst.Call, function: Scope) -> bool:
        """A call on an object that the running function has made for itself."""
        base = ex.receiver(call)
        made = ex.inner(base) if base is not None else None
        if isinstance(made, cst.Call):
            return self.facts.slots.constructed(made) is not None
        calls = self._made_in(base, function)
        return bool(calls) and all(self.facts.slots.constructed(call) is not None for call in calls)

    def _made_in(self, base: cst.BaseExpression | None, function: Scope) -> list[cst.Call]:
        """The calls that make what a local name holds, if nothing else does."""
        slot = self.facts.slots.of(base) if isinstance(base, cst.Name) else None
        if slot is None or slot[0] != "var" or slot[1] is not function:
            return []
        values = self.facts.assigned(slot)
        calls = [value for value in values if isinstance(value, cst.Call)]
        return calls if len(calls) == len(values) else []

    def is_owned(self, start: Start) -> bool:
        """A start on an object that is made anew for it: `for x in xs: Thread(target=Agent(x).run)`."""
        target = start.target
        if not isinstance(target, cst.Attribute):
            return False
        base = ex.inner(target.value)
        if isinstance(base, cst.Call):
            return self.facts.slots.constructed(base) is not None
        slot = self.facts.slots.of(base) if isinstance(base, cst.Name) else None
        if slot is None or slot[0] != "var":
            return False
        loops = [o for o in self.module.ancestors(start.node) if isinstance(o, _LOOPS)]
        made = [v for v in self.facts.assigned(slot) if isinstance(v, cst.Call)]
        if loops and made:
            return all(self.module.inside(value, loops[0]) for value in made)
        same = slot[1] is self.module.scope_of[start.node].function
        if same and made and not loops:
            return not any(
                s is not start and isinstance(s.target, cst.Attribute) and self.facts.slots.of(s.target.value) == slot
                for s in self.starts
            ) and not self._used_after(slot, start.node)
        return False

    def _used_after(self, slot: Slot, node: cst.CSTNode) -> bool:
        """Whether the function that starts a run goes on using the object itself."""
        function = self.module.scope_of[node].function
        return any(
            isinstance(n, cst.Call)
            and self.module.before(node, n)
            and (b := ex.receiver(n)) is not None
            and self.facts.slots.of(b) == slot
            and self.facts.slots.callee(n) is not None
            and self.anatomy.writes.does_write(self.facts.slots.callee(n))  # type: ignore[arg-type]
            for n in function.nodes
        )

    def before_sharing(self, call: cst.Call, caller: Scope) -> bool:
        """A call on an object that `caller` has just made, before it starts anything."""
        base = ex.receiver(call)
        if not isinstance(base, cst.Name):
            return False
        slot = self.facts.slots.of(base)
        values = [v for v in self.facts.assigned(slot) if type(v) is cst.Call] if slot is not None else []
        if not any(self.facts.slots.constructed(value) is not None for value in values):
            return False
        begun: list[cst.CSTNode] = [s.node for s in self.starts if self.module.scope_of[s.node].function is caller]
        begun += [
            n for n in caller.nodes_of(cst.Call) if ex.called_name(n) in {"start", "run", "serve"}
            and (b := ex.receiver(n)) is not None and self.facts.slots.of(b) == slot
        ]  # fmt: skip
        return bool(begun) and all(self.module.before(call, node) for node in begun)
