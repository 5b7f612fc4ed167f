"""Messages that are taken out of a history before the model has made of them what takes their place.

old, self.messages = self.messages[:-4], self.messages[-4:]
self.digest = ask(old)              # where this fails, the old messages are in neither of the two
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.obligations.again import Again
from lint_rules.obligations.late_requests import fails_to
from lint_rules.rules.unsaved_turn_history.late_turns import is_kept
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_TAKES = frozenset({"cut", "replace", "rebind"})


@record
class RemovedFirst:
    """`node` takes messages out of `history` of which `request` is to make what is kept of them, behind that."""

    node: cst.CSTNode
    history: Slot
    request: cst.Call


@record
class _Removal:
    """`node` takes messages out of `history`. `values` are, or hold, what is taken out; `put_back` puts it back."""

    node: cst.CSTNode
    history: Slot
    values: list[cst.BaseExpression]
    put_back: list[cst.CSTNode]


def removed_first(anatomy: Anatomy) -> Iterator[RemovedFirst]:
    """Those of a file: of each removal the first."""
    search = _Search(anatomy)
    for function in anatomy.module.functions:
        if function.kind == "function" and (requests := anatomy.turns.requests(function)):
            again = Again(anatomy, function)
            for removal in (*search.written(again), *search.called(again)):
                yield from search.of(again, removal, requests)


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.slots = anatomy.facts.slots
        self.lasting = Lasting(anatomy)
        self.places = ReplyPlaces(anatomy)

    def written(self, again: Again) -> Iterator[_Removal]:
        """What a function takes out itself, of a list that lasts; it has read what was there, or takes it in hand."""
        for write in self.anatomy.writes.by_function[again.function]:
            if write.kind in _TAKES and self.lasting.keeps(write.slot) is not None and _loses(self.anatomy, write):
                values: list[cst.BaseExpression] = [write.node] if isinstance(write.node, cst.Call) else []
                reads = (node for node in again.function.nodes_of(cst.Assign) if self._reads(node, write.slot))
                values += [node.value for node in reads if again.follows(node, write.node, (), exceptions=False)]
                writes = (one for one in self.anatomy.writes.by_slot[write.slot] if one.function is again.function)
                grown = [one.node for one in writes if one.kind in GROWING]
                bound = [node for node in again.binding(write.slot) if node is not write.node]
                yield _Removal(write.node, write.slot, values, [*grown, *bound])

    def called(self, again: Again) -> Iterator[_Removal]:
        """What a method takes out of the history of its object, and gives back: `old = self.talks.shorten(key)`."""
        calls = again.function.nodes_of(cst.Call)
        for call in calls:
            slot = self.slots.of(ex.receiver(call)) if not self.anatomy.module.is_statement(call) else None
            there, callee = body(self.anatomy, call) or (self.anatomy, None)
            taken = there.writes.by_function[callee] if callee is not None and slot is not None else ()
            if slot is not None and any(
                write.slot[0] == "attr" and write.kind in _TAKES and _loses(there, write) for write in taken
            ):
                given = self.places.derived(again.function, call)
                same = (other for other in calls if other is not call and self.slots.of(ex.receiver(other)) == slot)
                put_back = [other for other in same if holds([arg.value for arg in other.args], call, given)]
                yield _Removal(call, slot, [call], [*put_back])

    def of(self, again: Again, removal: _Removal, requests: list[cst.Call]) -> Iterator[RemovedFirst]:
        for request in requests:
            for value in removal.values:
                names = self.places.derived(again.function, value, grown=True, until=request)
                if not holds(ex.handed(request), value, names) or not is_kept(self.anatomy, again.function, request):
                    continue
                keeping = [*self._keeping(again, request, value, names)]
                if any(again.follows(call, removal.node, (), exceptions=False) for call in keeping):
                    continue
                kept = {*again.graph.within([*removal.put_back, *keeping])}
                leaving = {again.graph.raises} if self.anatomy.turns.escapes(request) else set()
                anew = {*again.points(value)} - {*again.points(removal.node)}  # what is read behind it is what is left
                if again.follows(removal.node, request, kept | anew, exceptions=False):
                    if fails_to(again, again.points(request), {again.graph.exit, *leaving}, kept):
                        yield RemovedFirst(removal.node, removal.history, request)
                        return

    def _keeping(
        self, again: Again, request: cst.Call, value: cst.BaseExpression, names: set[str]
    ) -> Iterator[cst.Call]:
        """The calls that keep what is taken out, in something that is no list of the function's own."""
        for call in again.function.nodes_of(cst.Call):
            own = root_object(slot)[:2] if (slot := self.slots.of(ex.receiver(call))) is not None else None
            if call is not request and own != ("var", again.function) and self.anatomy.keeps(call):
                if holds([arg.value for arg in call.args], value, names):
                    yield call

    def _reads(self, node: cst.Assign, slot: Slot) -> bool:
        targets = {self.slots.of(target) for target in ex.targets(node)}
        parts = [part for part in walk(node.value) if isinstance(part, cst.BaseExpression)]
        asks = any(isinstance(part, cst.Call) and self.anatomy.turns.reaches_model(part) for part in parts)
        return slot not in targets and not asks and any(self.slots.of(part) == slot for part in parts)


def _loses(there: Anatomy, write: HistoryWrite) -> bool:
    """Whether a write takes something out: the new list is empty, or has a part of what was there."""
    value = ex.inner(write.value) if write.value is not None else None
    if isinstance(value, cst.List):
        parts = [part.value for part in value.elements if isinstance(part, cst.StarredElement)]
    else:
        parts = [value] if value is not None else []
    return all(
        isinstance(part, cst.Subscript)
        and ex.slice_of(part) is not None
        and there.facts.slots.of(part.value) == write.slot
        for part in parts
    )
