"""Coroutines that would store what was said, and that nobody runs: what calling one gives is thrown away.

store.remember(key, reply)              # no `await`: also of a store in another file, or in a library
pool.submit(store.remember, key, reply) # a thread makes the coroutine, and drops it
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import FoundClass, class_names, run_elsewhere
from lint_rules.anatomy.messages.writes import GROWING, HistoryWrite
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.program.serving import is_executor
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds, stores_by_name
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, describe, made_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_TRANSPARENT = frozenset({"staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod", "override"})
"""Decorators under which a coroutine function stays one, and runs nothing by itself."""

_CALLED_BY_LOOP = {"call_soon": 0, "call_soon_threadsafe": 0, "call_later": 1, "call_at": 1}


@record
class Unrun:
    """`node` makes a coroutine of `function` that never runs; it would have stored in `history`, if that is known.

    `write` is where, if that is of this file. `handed_on`: to a thread, or to the loop, that calls the function.
    """

    node: cst.Call
    function: str
    history: str | None
    write: cst.CSTNode | None
    handed_on: bool


def unrun_stores(anatomy: Anatomy) -> Iterator[Unrun]:
    """Those of a file."""
    search = _Search(anatomy)
    for call, func, given in _dropped(anatomy):
        found = search.judged(call, func, given)
        if found is not None:
            yield found


_Dropped = tuple[cst.Call, cst.BaseExpression, list[cst.BaseExpression]]
"""A call whose result nobody gets, the function that makes it, and what that is given."""


def _dropped(anatomy: Anatomy) -> Iterator[_Dropped]:
    for statement in anatomy.module.nodes_of(cst.Expr):
        yield from map(_called, _thrown_away(anatomy, statement.value))
    for node in anatomy.module.nodes_of(cst.Assign):
        target = node.targets[0].target
        if type(node.value) is cst.Call and type(target) is cst.Name and not _is_read(anatomy, target):
            yield from map(_called, _thrown_away(anatomy, node.value))
    for call in anatomy.module.nodes_of(cst.Call):
        func = _handed_on(anatomy, call)
        if func is not None:
            yield call, func, [arg.value for arg in call.args if arg.value is not func]


def _called(call: cst.Call) -> _Dropped:
    return call, call.func, [arg.value for arg in call.args]


def _thrown_away(anatomy: Anatomy, value: cst.BaseExpression) -> Iterator[cst.Call]:
    """The calls whose results are the value of a statement, not awaited; also one by one in a list."""
    for part in ex.alternatives(value):
        if type(anatomy.module.parent[part]) is cst.Await:
            continue
        if isinstance(part, cst.ListComp):
            yield from _thrown_away(anatomy, part.elt)
        elif type(part) is cst.Call:
            yield part
            if ex.dotted(part.func) == "asyncio.wait_for" and part.args:  # is a coroutine itself
                yield from _thrown_away(anatomy, part.args[0].value)


def _is_read(anatomy: Anatomy, name: cst.Name) -> bool:
    """Whether a local name is read anywhere: of another one nobody knows."""
    scope = anatomy.module.scope_of[name]
    if scope.kind != "function" or anatomy.module.scope_binding(scope, name.value) is not scope:
        return True
    slot = anatomy.facts.slots.of(name)
    return any(
        other is not name and not isinstance(anatomy.module.parent[other], cst.AssignTarget)
        for other in (anatomy.facts.names.get(slot, ()) if slot is not None else ())
    )


def _handed_on(anatomy: Anatomy, call: cst.Call) -> cst.BaseExpression | None:
    """The function that a thread, or the loop itself, is to call: neither awaits what that gives."""
    name = ex.called_name(call)
    place = words.THREADS.get(name, _CALLED_BY_LOOP.get(name))
    full = anatomy.module.full_name(call.func)
    if place is None or (name in {"Thread", "Timer", "to_thread"} and not full.startswith(("threading.", "asyncio."))):
        return None
    if name == "submit" and not is_executor(anatomy.facts, call):
        return None
    if isinstance(place, str):
        return ex.argument(call, place)
    given = ex.positional(call)
    return given[place] if len(given) > place else None


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.slots = anatomy.facts.slots
        self.resources = anatomy.resources
        self.places = ReplyPlaces(anatomy)
        self._found: dict[Scope, list[tuple[cst.Call, set[str]]]] = {}

    def judged(self, call: cst.Call, func: cst.BaseExpression, given: list[cst.BaseExpression]) -> Unrun | None:
        """What a dropped call would have stored, if it makes a coroutine, and that stores messages."""
        name, handed_on = ex.last_name(func), func is not call.func
        if is_logging(call) or not given:
            return None
        found = self._runs(call, func)
        if found is not None:
            there, function = found
            if not _is_coroutine(function):
                return None
            write = next((w for w in there.writes.reached_from(function) if _outlives(w, function)), None)
            if write is not None:
                here = write.node if there is self.anatomy else None
                return Unrun(call, name, describe(write.slot), here, handed_on)
            if not self._tells(call, name, given) or not (self.resources.is_read_again(call) or _is_abstract(function)):
                return None
            return Unrun(call, name, None, None, handed_on)
        if handed_on or not self._is_known_coroutine(call) or not self._tells(call, name, given):
            return None
        return Unrun(call, name, None, None, False)

    def _runs(self, call: cst.Call, func: cst.BaseExpression) -> FoundClass | None:
        """The function of the project that is called, and its file: analysed only where a coroutine has the name."""
        callee = self.slots.function(func)
        if callee is not None:
            return self.anatomy, callee
        if func is not call.func or not self._may_be_coroutine(func):
            return None
        return run_elsewhere(self.anatomy, call)

    def _may_be_coroutine(self, func: cst.BaseExpression) -> bool:
        """Whether a file that this one imports from defines a coroutine function of the name, as its text has it."""
        name = ex.last_name(func)
        homes = [self.anatomy.defined_elsewhere(ex.dotted(func) or "", "def")]
        base = self.slots.of(func.value) if isinstance(func, cst.Attribute) else None
        if base is not None:
            homes += [self.anatomy.defined_elsewhere(cls, "class") for cls in class_names(self.anatomy, base)]
            homes.append(self.anatomy.defined_elsewhere(ex.dotted(func.value) or "", ""))  # type: ignore[attr-defined]
        return any(home is not None and f"async def {name}".encode() in home[0].source for home in homes)

    def _tells(self, call: cst.Call, name: str, given: list[cst.BaseExpression]) -> bool:
        """Whether what is handed over was said by somebody: by the form of it here, or in another call of the same."""
        return self._is_said(call, given) or any(
            self._is_said(other, [arg.value for arg in other.args])
            for other in self._named.get(name, ())
            if ex.dotted(other.func) == ex.dotted(call.func)
        )

    @cached_property
    def _named(self) -> dict[str, list[cst.Call]]:
        found: dict[str, list[cst.Call]] = {}
        for call in self.anatomy.module.nodes_of(cst.Call):
            found.setdefault(ex.called_name(call), []).append(call)
        return found

    def _is_said(self, call: cst.Call, given: list[cst.BaseExpression]) -> bool:
        """A message, a history, `"assistant"`, or what a model has replied."""
        facts = self.anatomy.facts
        for part in (part for value in given for part in walk(value)):
            if isinstance(part, cst.BaseExpression) and (
                facts.is_kind(part, Kind.MESSAGE) or facts.is_kind(part, Kind.HISTORY)
            ):
                return True
            if isinstance(part, cst.SimpleString) and ex.text(part) in words.TELLING_ROLES:
                return True
        replies = self._replies(self.anatomy.module.scope_of[call].function)
        return any(holds(given, ask, names) for ask, names in replies)

    def _replies(self, function: Scope) -> list[tuple[cst.Call, set[str]]]:
        """The calls of a function that ask a model, with the names that hold what each gives."""
        if function not in self._found:
            asks = [node for node in function.nodes_of(cst.Call) if self.anatomy.turns.reaches_model(node)]
            self._found[function] = [(ask, self.places.derived(function, ask)) for ask in asks]
        return self._found[function]

    def _is_known_coroutine(self, call: cst.Call) -> bool:
        """Whether a method that no file at hand defines gives a coroutine, and stores.

        It is of a library whose methods do, or the same one is awaited elsewhere in the file.
        """
        base = ex.receiver(call)
        owner = self.slots.of(base)
        if owner is None:
            return False
        if any(full.startswith(words.AWAITED) for full in self._makers(owner)):
            return True
        awaited = self._awaited.get((ex.called_name(call), owner), ()) if stores_by_name(call) else ()
        return base is not None and any(self._may_be_same(base, other) for other in awaited)

    def _may_be_same(self, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
        """Whether two expressions for one slot may stand for one object: a name may have been bound anew between."""
        if not isinstance(one, cst.Name) or not isinstance(other, cst.Name):
            return True
        bound = self.anatomy.definitions(one), self.anatomy.definitions(other)
        return not all(bound) or not set(bound[0]).isdisjoint(bound[1])

    @cached_property
    def _awaited(self) -> dict[tuple[str, Slot], list[cst.BaseExpression]]:
        """The objects whose methods are awaited somewhere in the file, by the method and the object's slot."""
        found: dict[tuple[str, Slot], list[cst.BaseExpression]] = {}
        for call in self.anatomy.module.nodes_of(cst.Call):
            base = ex.receiver(call) if type(self.anatomy.module.parent[call]) is cst.Await else None
            owner = self.slots.of(base)
            if owner is not None and base is not None:
                found.setdefault((ex.called_name(call), owner), []).append(base)
        return found

    def _makers(self, slot: Slot) -> Iterator[str]:
        """What makes the object in a slot, or names its class, as it is imported."""
        resolve = self.anatomy.module.imports.resolve
        for value in self.anatomy.facts.assigned(slot):
            for part in ex.alternatives(value):
                if isinstance(part, cst.Call):
                    yield resolve(ex.dotted(part.func) or "")
        yield from map(resolve, class_names(self.anatomy, slot))


def _is_coroutine(function: Scope) -> bool:
    """Whether calling a function only makes a coroutine."""
    if not function.is_async or function.nodes_of(cst.Yield):
        return False
    return all(ex.dotted(decorator) in _TRANSPARENT for decorator in decorators(function))


def _is_abstract(function: Scope) -> bool:
    """Whether a body does nothing: that of a protocol or an abstract class."""
    return not function.nodes_of(cst.Call, cst.Assign, cst.AugAssign)


def _outlives(write: HistoryWrite, function: Scope) -> bool:
    """A growing write to something that is not the function's own."""
    return write.kind in GROWING and made_in(write.slot) is not function
