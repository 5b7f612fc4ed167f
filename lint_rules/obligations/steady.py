"""What a loop makes anew each time round of the same values: a prompt that is put together in each attempt."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.passing import resolved
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.again import Loop
from lint_rules.obligations.places import Places
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_DEEPEST = 4
_CHANGING = (cst.Await, cst.Yield, cst.NamedExpr, cst.Lambda)
_PLAIN = frozenset({"str", "repr", "len", "int", "json.dumps", "dict", "list"})


class Steady:
    """Asks for one loop of the function of `places`."""

    def __init__(self, places: Places, loop: Loop) -> None:
        self._places = places
        self._anatomy = places.anatomy
        self._loop = loop

    def renews(self, stored: Stored) -> set[Slot]:
        """The slots that make the message of a place another one, where they are bound anew."""
        value = self._places.value(stored)
        said = _said(value) if isinstance(value, cst.Dict) else ()
        made = {slot for part in said for slot in self._places.again.parts(part)}
        beside = self._places.again.parts(value) - made if value is not None and made else set()
        return {slot for slot in self._places.depends(stored) - beside if not self.keeps(slot)}

    def keeps(self, slot: Slot, depth: int = 0) -> bool:
        """Whether a slot is bound in the loop, and only to what is the same each time; an error makes it another."""
        module = self._anatomy.module
        bound = [node for node in self._places.again.binding(slot) if module.inside(node, self._loop)]
        return depth < _DEEPEST and bool(bound) and all(self._is_made_again(node, depth) for node in bound)

    def _is_made_again(self, node: cst.CSTNode, depth: int) -> bool:
        if not isinstance(node, (cst.Assign, cst.AnnAssign)) or node.value is None:
            return False
        module = self._anatomy.module
        if module.in_handler(node):
            return False
        return all(self._is_same(value, depth) for value in _said(node.value))

    def _is_same(self, value: cst.BaseExpression, depth: int) -> bool:
        nodes = list(walk(value))
        if any(isinstance(node, _CHANGING) for node in nodes):
            return False
        if not all(_is_plain(self._anatomy, node, 0) for node in nodes if isinstance(node, cst.Call)):
            return False
        again = self._places.again
        inside = (
            s for s in again.parts(value) if any(self._anatomy.module.inside(n, self._loop) for n in again.binding(s))
        )
        return all(self.keeps(slot, depth + 1) for slot in inside)


def _said(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a message says in words: a picture beside them is another one each time."""
    content = ex.dict_items(value).get("content")
    parts = [ex.inner(e.value) for e in content.elements] if isinstance(content, cst.List) else []
    texts = [text for part in parts if (text := ex.dict_items(part).get("text")) is not None]
    yield from texts or [content or value]


def _is_plain(anatomy: Anatomy, call: cst.Call, depth: int) -> bool:
    """Whether a call gives the same for the same: to make a text, or a function of the project that does no more."""
    base = ex.receiver(call)
    if ex.dotted(call.func) in _PLAIN or isinstance(base, (cst.SimpleString, cst.FormattedString)):
        return True
    found = resolved(anatomy, call) if depth < _DEEPEST else None
    return found is not None and _does_nothing(*found, depth + 1)


def _does_nothing(anatomy: Anatomy, function: Scope, depth: int) -> bool:
    """Whether a function only makes what it gives back."""
    if function.nodes_of(*_CHANGING, cst.AugAssign, cst.Global, cst.Nonlocal, cst.Del):
        return False
    bound = [target for node in function.nodes_of(cst.Assign) for target in ex.targets(node)]
    return all(isinstance(target, cst.Name) for target in bound) and all(
        _is_plain(anatomy, call, depth) for call in function.nodes_of(cst.Call)
    )
