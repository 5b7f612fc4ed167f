"""Who writes a shared history, from where, under which locks: what the questions about concurrency stand on."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.program.concurrency import Start, starts
from lint_rules.anatomy.program.locks import Locks
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters

_LOOPS = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


@dataclass(frozen=True, eq=False, slots=True)
class SharedHistory:
    """A history that outlives one function: an attribute, a global, or an element of one. Writes in source order."""

    slot: Slot
    writes: list[HistoryWrite]


class Races:
    """The shared histories of a file, the concurrent starts, and which writes each start reaches."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.facts = anatomy.facts
        self.module = anatomy.module
        self.graph = anatomy.calls
        self.locks = Locks(anatomy.calls)
        self.starts = starts(anatomy.calls)

    @cached_property
    def histories(self) -> list[SharedHistory]:
        kept: dict[Slot, list[HistoryWrite]] = {}
        for slot, writes in self.anatomy.writes.by_slot.items():
            if self.is_shared(slot):
                changes = [w for w in writes if not (self.is_setup(w.function) or self._creates(w) or self._on_own(w))]
                kept.setdefault(self._given_to.get(slot, slot), []).extend(changes)
        order = self.module.order
        return [SharedHistory(s, sorted(ws, key=lambda w: order[w.node])) for s, ws in kept.items() if ws]

    @cached_property
    def _given_to(self) -> dict[Slot, Slot]:
        """Attributes that hold a list their `__init__` got, by the list: one list given to two objects is shared."""
        given: dict[Slot, Slot] = {}
        for cls in self.module.classes:
            init = cls.methods.get("__init__")
            for site in self.graph.sites[init] if init is not None else ():
                for parameter, value in self.facts.slots.bindings(site.node, site.callee):
                    source = self.facts.slots.of(value)
                    for slot in self._attributes_from(cls, parameter) if source is not None else ():
                        if source is not None and source[0] == "var":
                            given[slot] = source
        return given

    def _attributes_from(self, cls: Scope, parameter: Slot) -> list[Slot]:
        return [
            slot
            for name in cls.attributes
            for slot in [("attr", cls, name)]
            if any(self.facts.slots.of(value) == parameter for value in self.facts.assigned(slot))
        ]

    def _on_own(self, write: HistoryWrite) -> bool:
        """A write to an object that the function has just made: nobody else has it yet."""
        base: cst.BaseExpression | None = None
        if isinstance(write.node, cst.Call):
            base = ex.receiver(write.node)
        elif isinstance(write.node, cst.Assign):
            base = write.node.targets[0].target
        while isinstance(base, (cst.Attribute, cst.Subscript)):
            base = base.value
        slot = self.facts.slots.of(base) if isinstance(base, cst.Name) else None
        if slot is None or slot[0] != "var" or slot[1] is not write.function:
            return False
        values = self.facts.assigned(slot)
        return bool(values) and all(isinstance(v, cst.Call) and self._constructs(v) for v in values)

    def _constructs(self, call: cst.Call) -> bool:
        return self.facts.slots.constructed(call) is not None or ex.dotted(call.func) in {"cls", "type(self)"}

    def is_shared(self, slot: Slot) -> bool:
        """Whether a slot can be seen by more than one run of a function."""
        root = slot
        while root[0] in {"member", "item"}:
            root = root[1]
        if root[0] == "attr":
            return True
        if root[0] != "var":
            return False
        scope, name = root[1], root[2]
        if any(
            isinstance(v, cst.Call) and ex.called_name(v) in {"local", "ContextVar"} for v in self.facts.assigned(root)
        ):
            return False
        if scope.kind == "module":
            return any(w.function is not self.module.top for w in self.anatomy.writes.by_slot[slot])
        if slot is root:
            return any(w.function is not scope for w in self.anatomy.writes.by_slot[slot])
        return any(name == p.name.value and p.star != "**" for p in parameters(scope))  # `**kwargs` is the call's own

    def is_setup(self, function: Scope) -> bool:
        """`__init__`, class and module bodies, and methods that only these call: nobody else has the object yet."""
        if function.kind in {"class", "module"} or function.name in {
            "__init__",
            "__post_init__",
            "__new__",
            "__enter__",
        }:
            return True
        sites = self.graph.sites[function]
        return (
            bool(sites)
            and not self.graph.references[function]
            and all(
                site.caller is not function
                and (site.caller.name in {"__init__", "__post_init__"} or self._before_sharing(site.node, site.caller))
                for site in sites
            )
        )

    def _before_sharing(self, call: cst.Call, caller: Scope) -> bool:
        """A call on an object that `caller` has just made, before it starts anything."""
        base = ex.receiver(call)
        if not isinstance(base, cst.Name):
            return False
        slot = self.facts.slots.of(base)
        made = slot is not None and any(
            isinstance(v, cst.Call) and self.facts.slots.constructed(v) is not None for v in self.facts.assigned(slot)
        )
        begun: list[cst.CSTNode] = [s.node for s in self.starts if self.module.scope_of[s.node].function is caller]
        begun += [
            n for n in caller.nodes if isinstance(n, cst.Call) and ex.called_name(n) in {"start", "run", "serve"}
            and (b := ex.receiver(n)) is not None and self.facts.slots.of(b) == slot
        ]  # fmt: skip
        return made and bool(begun) and all(self.module.before(call, node) for node in begun)

    def _creates(self, write: HistoryWrite) -> bool:
        """`if key not in self.chats: self.chats[key] = [SYSTEM]`: a first value, not a change of one."""
        if write.kind != "rebind" or write.value is None or write.slot[0] != "item":
            return False
        value = ex.inner(write.value)
        for outer in self.module.ancestors(write.node):
            if isinstance(outer, cst.If) and isinstance(outer.test, cst.Comparison):
                if any(isinstance(t.operator, cst.NotIn) for t in outer.test.comparisons):
                    return True
            if outer is write.function.node:
                break
        return isinstance(value, cst.List) and not any(isinstance(e, cst.StarredElement) for e in value.elements) and (
            len(value.elements) <= 1 and not self._reads(write.function, write.slot, write.node)
        )  # fmt: skip

    def _reads(self, function: Scope, slot: Slot, before: cst.CSTNode) -> bool:
        return any(
            isinstance(n, (cst.Name, cst.Attribute, cst.Subscript))
            and self.module.before(n, before)
            and not self.module.inside(n, before)
            and self.facts.slots.of(n) == slot
            for n in function.nodes
        )

    # -- who reaches what -------------------------------------------------------------------------------------

    def starts_reaching(self, function: Scope) -> list[Start]:
        """The concurrent starts from which `function` is reached on an object that the start shares with others."""
        return [start for start in self.starts if function in self._shared_reach[start]]

    @cached_property
    def _shared_reach(self) -> dict[Start, set[Scope]]:
        reach: dict[Start, set[Scope]] = {}
        for start in self.starts:
            seen = {start.function} if not self.is_owned(start) else set()
            queue = list(seen)
            while queue:
                here = queue.pop()
                inside = [f for f in self.module.functions if f.parent is not None and f.parent.function is here]
                callees = [s.callee for s in self.graph.calls[here] if not self.on_own_object(s.node, here)]
                for callee in [*callees, *(f for f in inside if f.kind == "function")]:
                    if callee not in seen:
                        seen.add(callee)
                        queue.append(callee)
            reach[start] = seen
        return reach

    def on_own_object(self, call: cst.Call, function: Scope) -> bool:
        """A call on an object that the running function has made for itself."""
        base = ex.receiver(call)
        if base is not None and isinstance(ex.inner(base), cst.Call):
            return self.facts.slots.constructed(ex.inner(base)) is not None  # type: ignore[arg-type]
        slot = self.facts.slots.of(base) if isinstance(base, cst.Name) else None
        if slot is None or slot[0] != "var" or slot[1] is not function:
            return False
        values = self.facts.assigned(slot)
        return bool(values) and all(
            isinstance(v, cst.Call) and self.facts.slots.constructed(v) is not None for v in values
        )

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
            and any(w for w in self.anatomy.writes.reached_from(self.facts.slots.callee(n)))  # type: ignore[arg-type]
            for n in function.nodes
        )

    def is_public(self, function: Scope) -> bool:
        """A function that others may call at any time: public, and no start itself."""
        return not function.name.startswith("_") or function.name.startswith("__call")

    def holds_tool_messages(self, history: SharedHistory) -> bool:
        """Whether tool calls and their results are stored in it, which no other message may come between."""
        return any(self._is_tool_message(w.value) for w in history.writes if w.value is not None)

    def _is_tool_message(self, value: cst.BaseExpression, depth: int = 0) -> bool:
        items = ex.dict_items(value)
        if items:
            role = ex.text(items["role"]) if "role" in items else None
            content = items.get("content")
            if role == "tool" or "tool_calls" in items or "tool_call_id" in items:
                return True
            return content is not None and self._holds_results(content)
        if self.facts.is_kind(value, Kind.RESULT):
            return True
        slot = self.facts.slots.of(value)
        if slot is None or depth > 3:
            return False
        if self._calls_read(slot):
            return True
        sources = list(self.facts.assigned(slot))
        if slot[0] == "var":
            for site in self.graph.sites[slot[1]]:
                sources += [v for s, v in self.facts.slots.bindings(site.node, slot[1]) if s == slot]
        return any(self._is_tool_message(source, depth + 1) for source in sources)

    def _calls_read(self, slot: Slot) -> bool:
        reply = self.facts.of(slot).get(Kind.REPLY)
        return reply is not None and "tool_calls" in reply.reason

    def _holds_results(self, content: cst.BaseExpression) -> bool:
        slot = self.facts.slots.of(content)
        values = [content, *(self.facts.assigned(slot) if slot is not None else [])]
        if any("tool_result" in ex.source(value, 400) or "toolResult" in ex.source(value, 400) for value in values):
            return True
        return slot is not None and self.facts.of(("item", slot)).get(Kind.RESULT) is not None

    # -- locks ------------------------------------------------------------------------------------------------

    def held(self, write: HistoryWrite) -> frozenset[Slot]:
        return self.locks.held(write.node, write.function)

    def by_function(self, writes: list[HistoryWrite]) -> dict[Scope, list[HistoryWrite]]:
        found: dict[Scope, list[HistoryWrite]] = defaultdict(list)
        for write in writes:
            found[write.function].append(write)
        return found
