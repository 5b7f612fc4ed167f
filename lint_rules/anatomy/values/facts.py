"""What each value of a file is, with evidence: facts flow between slots until nothing new is learned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import cast

import libcst as cst

from lint_rules.anatomy.values.flows import Flows
from lint_rules.anatomy.values.kinds import Evidence, Kind, LLMCall
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, SourceModule, parameters
from lint_rules.syntax.word import SAYING, Word, meaning

_MOST_PASSES = 12
_CONTAINERS = frozenset(
    {"dict", "defaultdict", "mapping", "mutablemapping", "ordereddict", "list", "sequence", "deque"}
)
_MEANINGS = {
    "message": Kind.MESSAGE,
    SAYING: Kind.MESSAGE,
    "call": Kind.CALL,
    "history": Kind.HISTORY,
    "calls": Kind.CALLS,
}


class Facts(Flows):
    """Kinds of slots and expressions of one file, solved when made. `kinds(expression)` is what the rest asks for."""

    def __init__(self, module: SourceModule, vocabulary: Vocabulary) -> None:
        super().__init__(module, vocabulary)
        self.has_learned = False
        self._solve()

    @cached_property
    def names(self) -> dict[Slot, list[cst.Name]]:
        """Where each slot is named, in source order."""
        found: defaultdict[Slot, list[cst.Name]] = defaultdict(list)
        for node in self.module.nodes_of(cst.Name):
            slot = self.slots.of(node)
            if slot is not None:
                found[slot].append(node)
        return found

    def parts_read(self, target: cst.BaseExpression | None) -> list[cst.Subscript | cst.Attribute]:
        """The parts that are read of what a name gets here, `talk["title"]`; none if more is done with it."""
        slot = self.slots.of_name(target)
        names = self.names.get(slot, ()) if slot is not None else ()
        uses = [self.module.parent[name] for name in names if name is not target]
        read = [use for use in uses if isinstance(use, (cst.Subscript, cst.Attribute)) and ex.member(use) is not None]
        return read if len(read) == len(uses) else []

    def _solve(self) -> None:
        """Takes the steps in source order, again and again: each only if a slot that it read has changed since."""
        self._learn_instances()
        self._learn_names()
        self._learn_meanings()
        order, scope_of = self.module.order, self.module.scope_of
        placed = [
            (order[node], flow, node) for kind, flow in self._flows().items() for node in self._telling_nodes(kind)
        ]
        self._steps = [(flow, node, scope_of[node]) for _, flow, node in sorted(placed)]
        self._waiting.update(range(len(self._steps)))
        self._settle()
        if self._learn_sent():
            self._settle()
        if self._learn_called():
            self._settle()
        self._memo = {}

    def learn_wrapped(
        self, requests: Sequence[LLMCall], parts: Callable[[], Sequence[tuple[Slot, Kind, Evidence]]]
    ) -> bool:
        """Takes in the requests that functions of other files make, and what those give and make of replies.

        Whether that tells of a history, of which more requests may be made; else that is all.
        """
        if requests:
            self._memo = None
            for request in requests:
                self._llm_call(request.node, request)
                if request.history is not None:
                    sent = Evidence(f"is sent to `{request.name}`", request.node, used=True)
                    self.use(request.history, Kind.HISTORY, sent)
            self._settle()
            self._memo = {}
        found = parts()
        if found:
            self._memo = None
            for slot, kind, evidence in found:
                self.learn(slot, kind, evidence)
            self._settle()
            self._memo = {}
        self.has_learned = bool(requests or found)
        more = any(kind is Kind.HISTORY for _, kind, _ in found)
        self._steps = self._steps if more else []
        return more

    def _settle(self) -> None:
        waiting, steps = self._waiting, self._steps
        for _ in range(_MOST_PASSES):
            self._changed = False
            for number, (flow, node, scope) in enumerate(steps):
                if number in waiting:
                    waiting.discard(number)
                    self._running = number
                    flow(node, scope)
            if not self._changed:
                break
        self._running = None

    def _learn_called(self) -> bool:
        """Messages by their name and `content`, where nothing better is known of them; whether there are any."""
        if not any(Kind.CALLED_HISTORY in kinds for kinds in self._known.values()):
            return False
        found = False
        for node in self.module.nodes_of(cst.Subscript, cst.Call):
            base, name = ex.member(node) or (None, "")
            kinds = self.kinds(base) if base is not None and name == "content" else {}
            if base is not None and Kind.CALLED_MESSAGE in kinds and Kind.MESSAGE not in kinds:
                self._mark(base, Kind.MESSAGE, Evidence("has `content`", node, True, kinds[Kind.CALLED_MESSAGE]))
                found = True
        return found

    def _learn_names(self) -> None:
        """The names that the user has listed as histories."""
        for node in self.module.nodes_of(cst.Name, cst.Attribute) if self.vocabulary.history_names else ():
            name = node.attr.value if isinstance(node, cst.Attribute) else getattr(node, "value", "")
            if name in self.vocabulary.history_names:
                self.learn(
                    self.slots.of(node), Kind.HISTORY, Evidence("is listed under history-names", node, used=True)
                )

    def _learn_meanings(self) -> None:
        """What the classes of the project tell of names and attributes, also where others define them."""
        for node in self.module.nodes_of(cst.Name, cst.Attribute):
            name = node.attr if isinstance(node, cst.Attribute) else node
            said = meaning(name.value) if isinstance(name, cst.Name) and type(name.value) is Word else ""
            kind = _MEANINGS.get(said.removeprefix("gives ").removeprefix("here "))
            if kind is not None:
                outer = self.module.parent[node]
                value = outer if said.startswith("gives ") and type(outer) is cst.Call else node
                is_told = said.startswith("here ")  # of one element, not of all that are where it comes from
                evidence = Evidence(f"is a {kind.value}, by what its class is used for", node, used=not is_told)
                self.learn(self.slots.of(cast(cst.BaseExpression, value)), kind, evidence)

    def _learn_instances(self) -> None:
        """Which slots hold objects of this file's classes: by annotation, by construction, by `self.x = param`."""
        slots = self.slots
        for function in self.module.functions:
            for param in parameters(function):
                cls = slots.annotated(param.annotation.annotation) if param.annotation else None
                if cls is not None:
                    slots.holds(slots.parameter(function, param.name.value), cls)
            if type(function.node) is cst.FunctionDef and function.node.returns is not None:
                cls = slots.annotated(function.node.returns.annotation)
                if cls is not None:
                    slots.holds(("return", function), cls)
        if not self.module.classes:
            return
        before = -1
        while before < len(slots.classes):
            before = len(slots.classes)
            for node in self.module.nodes_of(cst.AnnAssign, cst.Assign):
                if type(node) is cst.AnnAssign:
                    self._learn_annotated(node)
                elif type(node) is cst.Assign:
                    self._learn_instance(node)
            self._learn_handed_on()

    def _learn_annotated(self, node: cst.AnnAssign) -> None:
        cls, element = self.slots.annotated(node.annotation.annotation), self._element(node.annotation.annotation)
        slot = self.slots.of(node.target) if cls is not None or element is not None else None
        if slot is not None and cls is not None:
            self.slots.holds(slot, cls)
        if slot is not None and element is not None:
            self.slots.holds(("item", slot), element)

    def _element(self, annotation: cst.BaseExpression) -> Scope | None:
        """The class of the values of a dict or list: `dict[str, Session]`."""
        if type(annotation) is not cst.Subscript or ex.last_name(annotation.value).lower() not in _CONTAINERS:
            return None
        return self.slots.annotated(ex.element_type(annotation))

    def _learn_handed_on(self) -> None:
        """What functions give back and are handed, and what is put into containers, where it is always of one class."""
        slots, seen = self.slots, defaultdict[Slot, set[Scope]](set)
        for node in self.module.nodes_of(cst.Return):
            for part in ex.alternatives(node.value) if node.value is not None else ():
                self._note(seen, ("return", self.module.scope_of[node].function), part)
        for call in self.module.nodes_of(cst.Call):
            if not any(slots.instance(arg.value) or type(arg.value) is cst.Tuple for arg in call.args):
                continue
            run, handed = slots.handed(call)
            for parameter, value in handed:
                self._note(seen, parameter, value)
            if run is None and ex.called_name(call) == "setdefault" and len(call.args) == 2:
                slot = slots.of(call)
                if slot is not None:
                    self._note(seen, slot, call.args[1].value)
        for slot, classes in seen.items():
            if len(classes) == 1:
                slots.holds(slot, classes.pop())

    def _note(self, seen: dict[Slot, set[Scope]], slot: Slot, value: cst.BaseExpression) -> None:
        cls = self.slots.instance(value)
        if cls is not None and self._holds_object(value):
            seen[slot].add(cls)

    def _learn_instance(self, node: cst.Assign) -> None:
        for part in ex.alternatives(node.value):
            cls, element = self.slots.instance(part), self._made_on_demand(part)
            for target in node.targets if cls is not None or element is not None else ():
                slot = self.slots.of(target.target)
                if slot is not None and cls is not None and self._holds_object(part):
                    self.slots.holds(slot, cls)
                if slot is not None and element is not None:
                    self.slots.holds(("item", slot), element)

    def _made_on_demand(self, node: cst.BaseExpression) -> Scope | None:
        """The class of the values of `defaultdict(Session)`."""
        if type(node) is not cst.Call or ex.called_name(node) != "defaultdict" or not node.args:
            return None
        maker = ex.inner(node.args[0].value)
        made = ex.inner(maker.body) if type(maker) is cst.Lambda else None
        if type(made) is cst.Call:
            return self.slots.constructed(made)
        return self.module.class_named(maker.value) if type(maker) is cst.Name else None

    def _holds_object(self, node: cst.BaseExpression) -> bool:
        """Whether a name stands for an object, not for a class itself."""
        return not (isinstance(node, cst.Name) and self.module.class_named(node.value) is not None)
