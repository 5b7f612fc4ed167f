"""What a request is asked with, in one function, and which of its names hold what the model says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.rounds.offers import KEYWORDS
from lint_rules.anatomy.turns.keepers import makes_longer
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, bound_values, holds
from lint_rules.anatomy.turns.resources import chain
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import children


class AskedWith:
    """Tells it of the requests of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module
        self.places = ReplyPlaces(anatomy)
        self._around: dict[tuple[cst.CSTNode, bool], set[Point]] = {}

    def is_at(self, node: cst.CSTNode, ask: cst.CSTNode, function: Scope, *, before: bool = False) -> bool:
        """Whether a node of a function may come behind a request, or `before` it."""
        key = ask, before
        if key not in self._around:
            here = self._anatomy.points(function, [ask])
            self._around[key] = self._anatomy.flow(function).around(here, before=before)
        return not self._around[key].isdisjoint(self._anatomy.points(function, [node]))

    def is_done(self, call: cst.Call) -> bool:
        """Whether a call may be made for what it does: it is no part of another value."""
        return isinstance(self._module.awaiting(call), cst.Expr | cst.Assign | cst.AnnAssign | cst.Return | cst.Arg)

    def is_sent(self, load: cst.BaseExpression, ask: cst.Call, past: set[str]) -> bool:
        """Whether what a call gave is asked with: what the model is offered is no talk."""
        offered = {value for key, value in ex.keywords(ask).items() if key in KEYWORDS}
        told = (value for value in ex.handed(ask) if value not in offered)
        return holds([*told, *self._read_within(ask)], load, past)

    def _read_within(self, ask: cst.Call) -> Iterator[cst.BaseExpression]:
        """What a function of this file reads that what asks is handed: `await to_thread(answer)`."""
        for arg in ask.args:
            run = self._facts.slots.function(arg.value) if isinstance(arg.value, cst.Name) else None
            if run is not None:
                yield from (part.value for call in run.nodes_of(cst.Call) for part in call.args)

    def taken(self, function: Scope, ask: cst.Call, past: set[str]) -> set[str]:
        """The names that hold what the model says; of what was loaded, those that it is put into by some method."""
        names = self.places.derived(function, ask, grown=True) | {*self.put_into(ask, past), *self._filled(ask)}
        for node in function.nodes_of(cst.Expr):
            call = ex.inner(node.value)
            root = ex.receiver(call)
            while isinstance(root, (cst.Attribute, cst.Subscript)):
                root = root.value
            if isinstance(call, cst.Call) and isinstance(root, cst.Name) and root.value in past:
                if holds([arg.value for arg in call.args], ask, names):
                    names.add(root.value)
        return names

    def put_into(self, ask: cst.Call, past: set[str]) -> Iterator[str]:
        """The names of what was loaded that what asks is handed, and makes longer itself: `answer(talk, text)`."""
        found = body(self._anatomy, ask)
        for parameter, value in found[0].facts.slots.bindings(ask, found[1]) if found is not None else ():
            if found is not None and isinstance(value, cst.Name) and value.value in past:
                if makes_longer(*found, parameter):
                    yield value.value

    def _filled(self, ask: cst.Call) -> Iterator[str]:
        """The names of what is handed to what asks, and into which that puts something: `answer(text, state)`."""
        found = body(self._anatomy, ask)
        for parameter, value in found[0].facts.slots.bindings(ask, found[1]) if found is not None else ():
            if found is not None and isinstance(value, cst.Name) and found[0].facts.members(parameter):
                yield value.value

    def holders(self, load: cst.Call) -> set[str]:
        """The names that are bound to what a call gives, not to a part of it."""
        holder = self._module.parent[load]
        while isinstance(holder, (cst.Await, cst.BooleanOperation)):
            holder = self._module.parent[holder]
        targets = ex.assigned(holder)
        first = [t.elements[0].value if isinstance(t, cst.Tuple) and t.elements else t for t in targets]
        return {target.value for target in first if isinstance(target, cst.Name)}

    def made_of(self, values: Sequence[cst.CSTNode], ask: cst.Call, function: Scope) -> dict[str, str]:
        """What values are made of, as it is written, also in what their names are bound to, and with which root.

        Not in what is made of the answer of a request.
        """
        queue = [*values]
        found: dict[str, str] = {}
        for here in queue:
            new = {path: root for path, root in paths(here).items() if path not in found}
            found |= new
            bound = (v for name in new if name.isidentifier() for v in bound_values(self._anatomy, function, name))
            queue += [value for value in bound if not self._module.inside(ask, value)]
        return found


def values_given(call: cst.Call) -> list[cst.BaseExpression]:
    """What a call is made with, and those before it in a chain: `db.table("t").insert({"text": text}).execute()`."""
    return [arg.value for each in chain(call) for arg in each.args]


def paths(value: cst.CSTNode) -> dict[str, str]:
    """What a value is made of, each as it is written, with the name at its root: `event["text"]`, `message.content`."""
    found: dict[str, str] = {}
    queue = [value]
    for node in queue:
        root, path = _root(node), node
        if ex.slice_of(node) is not None:  # a cut list is made of the same
            queue += [node.value]  # type: ignore[attr-defined]
        elif isinstance(root, cst.Name) and isinstance(path, cst.BaseExpression):
            found[path_of(path)] = root.value
        elif isinstance(node, cst.Call):
            queue += ex.handed(node)
        else:
            queue += children(node)
    return found


def path_of(node: cst.CSTNode) -> str:
    """A node as it is written, with quotes of one kind."""
    return ex.source(node).replace('"', "'")


def _root(node: cst.CSTNode) -> cst.CSTNode:
    """The name at the root of a place, or of a part of it that a text picks: `request.json.get("text")`."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        if isinstance(node, cst.Call):
            picks = ex.called_name(node) == "get" and node.args and ex.text(node.args[0].value) is not None
            base = ex.receiver(node) if picks else None
            if base is None:
                return node
            node = base
        else:
            node = node.value
    return node
