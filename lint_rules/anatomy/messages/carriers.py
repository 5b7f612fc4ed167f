"""What carries a history, and what is answered: both ends of a request that only its use shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import PLAIN, sources
from lint_rules.anatomy.values.slots import Slot, whole_of
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST

_ANSWERS = frozenset({Kind.REPLY, Kind.CALLS})
_READERS = frozenset({"load"})
"""What decodes the JSON of a file, or of an open response."""


class Carriers:
    """The histories that values of one file have in them, and the calls that gave a reply."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[Slot, set[Slot]] = {}
        self._parts: defaultdict[object, set[Slot]] = defaultdict(set)
        for slot, _ in facts.histories():
            if slot[0] in {"member", "attr"}:
                self._parts[slot[1]].add(slot)

    def of_all(self, call: cst.Call) -> set[Slot]:
        """The histories that a call is handed."""
        return set().union(*(self.of(arg.value) for arg in call.args))

    def of(self, value: cst.BaseExpression, depth: int = 0) -> set[Slot]:
        """The histories that a value carries: a list, an object or dict with one, a copy or the JSON text of these."""
        facts, value = self._facts, ex.inner(value)
        slot = facts.slots.of(value)
        inside = [*sources(value), *ex.dict_items(value).values()] if depth < DEEPEST else []
        if isinstance(value, cst.Call) and facts.encoder(value) is not None and depth < DEEPEST:
            inside += [arg.value for arg in value.args[:1]]
        kept = self._kept(slot, depth) if slot is not None else set()
        return kept.union(self._parts.get(facts.slots.instance(value), ()), *(self.of(p, depth + 1) for p in inside))

    def _kept(self, slot: Slot, depth: int) -> set[Slot]:
        """Those that a name, or a part of what it stands for, has in it, whatever it is set to: worked out once."""
        if slot not in self._known:
            self._known[slot] = {slot} if Kind.HISTORY in self._facts.of(slot) else set()  # it may be made of itself
            if not self._known[slot] or slot[0] == "return":
                values = slot[1].returned if slot[0] == "return" else self._facts.assigned(slot)
                inside = (self.of(value, depth + 1) for value in values if depth < DEEPEST)
                self._known[slot] = self._known[slot].union(self._parts.get(slot, ()), *inside)
        return self._known[slot]

    @cached_property
    def answered(self) -> set[cst.Call]:
        """The calls that gave what is read as a reply, or its calls: `post(...)` of `post(...).json()["choices"]`."""
        return self._answered(pieces=False)

    @cached_property
    def told_in_pieces(self) -> set[cst.Call]:
        """Those, and the calls whose elements are read so: pieces of a reply, if no messages of a history."""
        return self._answered(pieces=True)

    def _answered(self, *, pieces: bool) -> set[cst.Call]:
        queue = [slot for slot, kinds in self._facts.all_known().items() if not _ANSWERS.isdisjoint(kinds)]
        found: set[cst.Call] = set()
        seen: set[Slot] = set()
        while queue:
            *parts, slot = whole_of(queue.pop())
            stored = (part for part in (*parts, slot) if not pieces or part[0] != "call")
            if slot in seen or any(Kind.HISTORY in self._facts.of(part) for part in stored):
                continue
            seen.add(slot)
            if slot[0] == "call":
                found.add(slot[1])
                queue += self._read_off(slot[1])
            elif slot[0] == "return":
                given = slot[1].nodes_of(cst.Return)
                queue += (origin for node in given if node.value is not None for origin in self._origins(node.value))
            elif slot[0] == "var":
                queue += (origin for value in self._bound_to(slot) for origin in self._origins(value))
        return found

    def _bound_to(self, slot: Slot) -> list[cst.BaseExpression]:
        """What a name stands for, or for the elements of, or for what it enters."""
        return [*self._facts.assigned(slot), *self._facts.entered(slot), *self._facts.gone_through(slot)]

    def _origins(self, value: cst.BaseExpression) -> Iterator[Slot]:
        """Where the parts of a value come from."""
        for part in ex.alternatives(value):
            slot = self._facts.slots.of(part)
            if slot is not None:
                yield slot
            for source in sources(ex.inner(part)):
                yield from self._origins(source)

    def _read_off(self, call: cst.Call) -> Iterator[Slot]:
        """What the result of a call was read off: `response` of `response.json()`, `text` of `json.loads(text)`."""
        base = ex.receiver(call)
        if call.args and (self._facts.decoder(call) is not None or ex.called_name(call) in _READERS):
            yield from self._origins(call.args[0].value)
        elif base is not None and all(
            type(arg.value) in PLAIN and type(arg.value) is not cst.Name for arg in call.args
        ):
            yield from self._origins(base)
