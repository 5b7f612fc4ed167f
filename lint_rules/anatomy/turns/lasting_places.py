"""Lasting places that a function makes longer: lists, texts and tables, known by their use alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import GROWERS
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.turns.asked import AskedWith, path_of
from lint_rules.anatomy.turns.reply_places import holds
from lint_rules.anatomy.values.slots import Slot, moved, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_NEWEST = 8
"""So many reads of a place before a request are followed: those nearest to it."""


@record
class Kept:
    """`ask` is sent what a store has, and `saves` hand it what the model said; the store lives in `slot`.

    `load` gave what is sent; None where the provider keeps it, or its library. `whole`: all that was loaded goes with
    it, and takes the place of what is there by then. `outside`: it lies outside of the program, or with the provider.
    `question`: what was asked is stored before.
    """

    slot: Slot
    ask: cst.Call
    saves: list[cst.CSTNode]
    load: cst.BaseExpression | None = None
    whole: cst.Name | None = None
    outside: bool = True
    question: bool = False


class LastingPlaces:
    """Finds them in one file, and the turns that are put there."""

    def __init__(self, anatomy: Anatomy, asked: AskedWith) -> None:
        self._anatomy = anatomy
        self._facts = anatomy.facts
        self._module = anatomy.module
        self._asked = asked

    def put_back(self, ask: cst.Call, function: Scope) -> Iterator[Kept]:
        """`talk.append((text, ask(talk)))`: a place that lasts, by its use alone, whatever its elements are.

        What is asked must be put there, too, before or beside the answer: else it is no conversation.
        """
        for place, grown in self.grown(function).items():
            reads = [node for node in self.reads(function, place) if self._module.before(node, ask)][-_NEWEST:]
            past = {n for r in reads for n in self._asked.places.derived(function, r, grown=True, until=ask)}
            load = next((read for read in reads if self._asked.is_sent(read, ask, past)), None)
            names = self._asked.places.derived(function, ask, grown=True) - past
            after = {node: value for node, value in grown.items() if self._follows(node, ask, function)}
            saves = [node for node, value in after.items() if holds([value], ask, names)]
            before = [
                node for node in grown if node not in after and self._asked.is_at(node, ask, function, before=True)
            ]
            old = names | past | {path_of(node) for node in self.reads(function, place)}
            beside = any(self._is_beside(ask, function, after[node], old) for node in saves)
            if load is not None and saves and (before or beside) and self._anatomy.races.is_shared(place, {function}):
                copy = next(filter(None, (self._copy(node, place, function) for node in saves)), None)
                yield Kept(place, ask, saves, load, copy, outside=False, question=bool(before))
                return

    def _copy(self, node: cst.CSTNode, place: Slot, function: Scope) -> cst.Name | None:
        """The name of what takes the place of all that is there by then: a copy of what was read before."""
        if not isinstance(node, cst.Assign):
            return None
        inside = any(self._module.inside(read, node.value) for read in self.reads(function, place))
        return None if inside else next((part for part in walk(node.value) if isinstance(part, cst.Name)), None)

    def _follows(self, node: cst.CSTNode, ask: cst.Call, function: Scope) -> bool:
        return self._module.inside(ask, node) or self._asked.is_at(node, ask, function)

    def grown(self, function: Scope) -> dict[Slot, dict[cst.CSTNode, cst.BaseExpression]]:
        """What gets longer in a function that is there before and after it: where, and by what."""
        found: dict[Slot, dict[cst.CSTNode, cst.BaseExpression]] = {}
        for node in function.nodes_of(cst.Call, cst.AugAssign, cst.Assign):
            if isinstance(node, cst.Call):
                target = ex.receiver(node) if ex.called_name(node) in GROWERS and node.args else None
                value: cst.BaseExpression = node.args[-1].value if node.args else node
            elif isinstance(node, (cst.AugAssign, cst.Assign)):
                target, value = ex.targets(node)[0], node.value
            else:
                continue
            place = self._anatomy.aliases.lasting_at(target, function) if target is not None else None
            if place is not None and (not isinstance(node, cst.Assign) or self._is_longer(place, node, function)):
                found.setdefault(place, {})[node] = value
            for there in self._grown_there(node) if isinstance(node, cst.Call) and node.args else ():
                found.setdefault(there, {})[node] = value
        return found

    def _grown_there(self, call: cst.Call) -> Iterator[Slot]:
        """The globals of another file, as this one has them, that a function there makes longer: `note(key, line)`."""
        found = self._anatomy.imported_function(ex.dotted(call.func) or "") if self._imported else None
        for place in found[0].stored_turns.lasting.grown(found[1]) if found is not None else ():
            own = self._imported.get((found[0], root_object(place))) if found is not None else None
            if own is not None:
                yield moved(place, root_object(place), own)

    @cached_property
    def _imported(self) -> dict[tuple[Anatomy, Slot], Slot]:
        """The globals of other files of which this one reads a part, each as it has it."""
        used = {ex.dotted(node.value) for node in self._module.nodes_of(cst.Subscript)} & {*self._module.imports.full}
        found = ((self._anatomy.imported_value(name), name) for name in used if name is not None)
        return {value: ("var", self._module.top, name) for value, name in found if value is not None}

    def _is_longer(self, place: Slot, node: cst.Assign, function: Scope) -> bool:
        """`self.said = self.said + [text]`: something is added to what was there, or to a copy, and takes its place."""
        read = [*self.reads(function, place)]
        before = [part for part in read if self._module.before(part, node)][-_NEWEST:]
        names = {name for part in before for name in self._asked.places.derived(function, part, until=node)}
        again = any(self._module.inside(part, node.value) for part in read) or holds([node.value], node, names)
        local = self._facts.slots.of(ex.targets(node)[0])
        return again and not (local is not None and local[:2] == ("var", function) and local != place)

    def reads(self, function: Scope, place: Slot) -> Iterator[cst.BaseExpression]:
        for node in function.nodes_of(cst.Name, cst.Attribute, cst.Subscript, cst.Call):
            if isinstance(node, cst.BaseExpression) and self._anatomy.aliases.lasting_at(node, function) == place:
                yield node

    def _is_beside(self, ask: cst.Call, function: Scope, value: cst.BaseExpression, names: set[str]) -> bool:
        """Whether something that the model was sent is put somewhere together with its answer, and is not old.

        `names` hold the answer, and what was there before, or are paths of that.
        """
        sent, made = self._asked.made_of(ex.handed(ask), ask, function), self._asked.made_of([value], ask, function)
        return any(path in sent and not names & {path, root} for path, root in made.items())

    def read_and_grown(self, load: cst.Call, save: cst.Call) -> Slot | None:
        """The list or text that what a call runs makes longer, and another one reads, in one file."""
        (there, reader), (other, grower) = (body(self._anatomy, call) or (None, None) for call in (load, save))
        if there is None or there is not other or reader is None or grower is None:
            return None
        lasting = there.stored_turns.lasting
        return next((place for place in lasting.grown(grower) if any(lasting.reads(reader, place))), None)
