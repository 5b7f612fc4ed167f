"""Which keys a dict may have, with their values: the one answer to "may this message carry `tool_calls`?".

A key comes in by a display, by `**` of another dict, by `dict(...)`, `a | b`, `x.update(...)`, `x |= ...` and
`x["k"] = ...`, each also under a condition; through names, helpers of the file and the `**keywords` of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import libcst as cst

from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.known import DictPart, sources
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record

Arguments = Mapping[Slot, cst.BaseExpression]
"""What the parameters of functions hold at the call that is looked at."""

Thing = TypeVar("Thing", Slot, cst.BaseExpression)


@record
class Keys:
    """String keys that a dict may have, with a value of each. `more`: others may come in, which are not shown."""

    items: dict[str, cst.BaseExpression]
    more: bool = False


class Dicts:
    """Answers for one file."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._known: dict[tuple[Slot | cst.CSTNode, int], Keys] = {}
        """What has been found where no call is looked at: what dicts are made of is asked again and again."""

    def made(self, node: cst.BaseExpression, arguments: Arguments) -> Keys:
        """The keys that a display or a call of `dict` gives its dict, a constructor its object."""
        return self._of(ex.dict_parts(node), arguments, 0)

    def stored(self, slot: Slot, arguments: Arguments) -> Keys:
        """The keys that come into a dict after it is made: set, merged, or set by a function that is handed it."""
        return self._stored(slot, arguments, 0)

    def _of(self, parts: Iterable[DictPart], arguments: Arguments, depth: int) -> Keys:
        return _joined(
            Keys({key: value}) if key is not None else self._spread(value, arguments, depth + 1) for key, value in parts
        )

    def _stored(self, slot: Slot, arguments: Arguments, depth: int) -> Keys:
        return self._once(self._find_stored, slot, arguments, depth)

    def _once(
        self, find: Callable[[Thing, Arguments, int], Keys], thing: Thing, arguments: Arguments, depth: int
    ) -> Keys:
        if arguments:
            return find(thing, arguments, depth)
        if (thing, depth) not in self._known:
            self._known[thing, depth] = find(thing, arguments, depth)
        return self._known[thing, depth]

    def _find_stored(self, slot: Slot, arguments: Arguments, depth: int) -> Keys:
        found = [
            self._of(self.facts.merged(slot), arguments, depth),
            Keys(self.facts.members(slot), more=bool(self.facts.assigned(("item", slot)))),
        ]
        if depth < DEEPEST:
            found += [self._stored(other, {}, depth + 1) for other in self._handed_to(slot)]
        return _joined(found)

    def _handed_to(self, slot: Slot) -> Iterable[Slot]:
        """The parameters of functions of the file under which a value is handed to them by its name."""
        for name in self.facts.names.get(slot, ()):
            call = self.facts.module.parent.get(self.facts.module.parent[name])
            callee = self.facts.slots.callee(call)
            if type(call) is cst.Call and callee is not None:
                yield from (p for p, value in self.facts.slots.bindings(call, callee) if value is name)

    def _spread(self, node: cst.BaseExpression, arguments: Arguments, depth: int) -> Keys:
        """The keys of what stands behind `**`, or is merged."""
        if depth > DEEPEST:
            return Keys({}, more=True)
        return _joined(self._once(self._one, part, arguments, depth) for part in ex.alternatives(node))

    def _one(self, node: cst.BaseExpression, arguments: Arguments, depth: int) -> Keys:
        if ex.is_dict(node):
            return self._of(ex.dict_parts(node), arguments, depth)
        if type(node) is cst.Name and node.value in ex.CONSTANTS:
            return Keys({})
        callee = self.facts.slots.callee(node)
        if callee is not None and is_within(callee, arguments):
            return _UNKNOWN
        if type(node) is cst.Call and callee is not None:
            inside = {**arguments, **dict(self.facts.slots.bindings(node, callee))}
            given = callee.returned
            return _joined(self._spread(value, inside, depth + 1) for value in given) if given else _UNKNOWN
        copied = sources(node)
        if copied:
            return _joined(self._spread(source, arguments, depth + 1) for source in copied)
        slot = self.facts.slots.of(node) if type(node) is not cst.Call else None
        return self._named(slot, arguments, depth) if slot is not None else _UNKNOWN

    def _named(self, slot: Slot, arguments: Arguments, depth: int) -> Keys:
        after = self._stored(slot, arguments, depth)
        if slot in arguments:
            return _joined([self._spread(arguments[slot], arguments, depth + 1), after])
        if slot[0] == "var" and slot[2] in parameter_names(slot[1]):
            called = any(given[0] == "var" and given[1] is slot[1] for given in arguments)
            handed = {s[2]: value for s, value in arguments.items() if s[0] == "member" and s[1] == slot}
            return _joined([Keys(handed, more=not called and not handed), after])
        values = self.facts.assigned(slot)
        return (
            _joined([*(self._spread(value, arguments, depth + 1) for value in values), after]) if values else _UNKNOWN
        )


_UNKNOWN = Keys({}, more=True)


def is_within(callee: Scope, arguments: Arguments) -> bool:
    """Whether a function is called within itself, as far as it was followed: that tells nothing new."""
    return any(slot[0] == "var" and slot[1] is callee for slot in arguments)


def _joined(found: Iterable[Keys]) -> Keys:
    """One dict of several: of a key that comes in twice the last value."""
    items: dict[str, cst.BaseExpression] = {}
    more = False
    for keys in found:
        items.update(keys.items)
        more = more or keys.more
    return Keys(items, more)
