"""Names of a lasting history that come to stand for a copy of it: what is added by them then is lost.

`messages = talks[key]` is the list that lasts, and after `messages = messages[-10:]` the name stands for another one.
What is appended to that never gets back, unless the copy takes the place of the list, or goes where it may be kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.views import Views
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import mentions, names_in
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_TURN = frozenset({None, "user", "assistant", "tool"})
_READS = frozenset({"get", "pop", "clear", "keys", "values", "items"})
_REPEATING = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp)
_LOOKS = frozenset(
    {"len", "str", "repr", "sum", "any", "all", "enumerate", "reversed", "list", "range", "min", "max", "isinstance"}
)
"""Functions that look at a list, and keep it nowhere."""


@record
class Detached:
    """`node` binds a name of the list in `place` to a copy, and `lost` adds to that; `meant` shows it was to last.

    `new`: to a new list, as nothing is ever put into `place`.
    """

    node: cst.CSTNode
    name: Slot
    place: Slot
    lost: Stored
    meant: cst.CSTNode | None
    new: bool = False


def detached_names(anatomy: Anatomy) -> Iterator[Detached]:
    """All of a file, each copy once."""
    for function in anatomy.module.functions:
        if function.kind == "function" and anatomy.writes.by_function[function]:
            yield from _Finder(anatomy, function).all()


def is_put_nowhere(anatomy: Anatomy, slot: Slot) -> bool:
    """Whether a list is a function's own, a copy or a new one, and gets nowhere but to a model and those who look."""
    if slot[0] != "var" or slot[1].kind != "function" or not anatomy.facts.assigned(slot):
        return False
    finder = _Finder(anatomy, slot[1])
    if is_parameter(slot) or not all(map(finder.is_own, anatomy.facts.assigned(slot))):
        return False
    names = finder.holders(slot)
    return not any(finder.keeps(node, names) for node in slot[1].nodes)


class _Finder:
    """Looks for them in one function."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self.anatomy = anatomy
        self.function = function
        self.slots = anatomy.facts.slots
        self.views = Views(anatomy)

    def all(self) -> Iterator[Detached]:
        grown: dict[Slot, list[Stored]] = {}
        for one in self.anatomy.transcript.stored(self.function):
            if one.slot is not None and one.slot[:2] == ("var", self.function):
                if one.kind in GROWING and one.role in _TURN:
                    grown.setdefault(one.slot, []).append(one)
        for slot, stored in grown.items():
            yield from self._of(slot, stored)

    def _of(self, slot: Slot, stored: list[Stored]) -> Iterator[Detached]:
        bound = [d for d in self.anatomy.reaching(self.function).definitions if d.name == slot[2]]
        if any(self._is_elsewhere(name) for name in self.anatomy.facts.names.get(slot, ())):
            return
        for begun in bound:
            place = self._never_filled(begun)
            after = [one for one in stored if begun in self._bound_at(one, slot)] if place is not None else []
            if place is not None and after and not self._is_kept(begun, slot, place, after):
                yield Detached(self._statement(begun), slot, place, after[0], None, new=True)
                return
        live = {d: place for d in bound if (place := self._place(d)) is not None}
        places = set(live.values())
        if not live:
            yield from self._unasked(slot, bound, stored)
        if len(places) != 1:
            return
        place = places.pop()
        for copy in bound:
            if copy not in live and self._is_copy(copy, slot, place):
                found = self._lost(copy, slot, place, stored, list(live))
                if found is not None:
                    yield found

    def _unasked(self, slot: Slot, bound: list[Definition], stored: list[Stored]) -> Iterator[Detached]:
        """A question that goes into a copy alone, where the answer to it gets into the lasting list."""
        of, answers = self.anatomy.aliases.of, [one for one in self.anatomy.transcript.stored(self.function)
                                                if one.role == "assistant" and one.slot is not None]  # fmt: skip
        for copy in bound:
            source = self._source(copy)
            lost = [
                one for one in stored if one.role == "user" and not one.answers and copy in self._bound_at(one, slot)
            ]
            place = of(source) if source is not None and lost else None
            if place is None or not self._lasts(place) or all(of(one.slot) != place for one in answers if one.slot):
                continue
            if not self._gets_questions(place) and not self._is_handed_on(copy, slot, lost):
                yield Detached(self._statement(copy), slot, place, lost[0], None)

    def _gets_questions(self, place: Slot) -> bool:
        """Whether anything that may be a question is put into a list anywhere in the file, or by who imports it."""
        calls, of = self.anatomy.calls, self.anatomy.aliases.of
        stored = (one for each in self.anatomy.module.functions for one in self.anatomy.transcript.stored(each))
        into = [one for one in stored if one.slot is not None and of(one.slot) == place and one.write is not None]
        handed = {one for one in into if _is_handed(self.slots.of(one.write.value)) and calls.sites[one.function]}  # type: ignore[union-attr]
        begun = {one for one in into if one.kind == "rebind" and isinstance(one.write.value, cst.List)}  # type: ignore[union-attr]
        told = {each.owner for each in self.anatomy.handed}
        return any(one.role in {"user", None} and one not in handed | begun for one in into) or any(
            one.function.qualname in told for one in handed
        )

    def _is_elsewhere(self, name: cst.Name) -> bool:
        return self.anatomy.module.scope_of[name].function.kind in {"function", "lambda"} and (
            self.anatomy.module.scope_of[name].function is not self.function
        )

    # -- what a name stands for -------------------------------------------------------------------------------

    def is_own(self, value: cst.BaseExpression) -> bool:
        """Whether a value is a new list, or a copy."""
        return isinstance(ex.inner(value), (cst.List, cst.ListComp)) or self.views.made_of(value) is not None

    def _place(self, bound: Definition) -> Slot | None:
        """The lasting list that a definition gives a name."""
        if bound.kind == "parameter":
            return self._callers_place(self.slots.parameter(self.function, bound.name))
        for part in ex.alternatives(bound.value) if bound.kind == "assign" and bound.value is not None else ():
            slot = self.slots.of(part)
            place = self.anatomy.aliases.of(slot) if slot is not None else None
            if place is not None and self._lasts(place):
                return place
        return self._put(bound)

    def _put(self, bound: Definition) -> Slot | None:
        """Where a new list is put that a name is bound to: `messages = []; talks[key] = messages`."""
        if bound.kind != "assign" or not isinstance(bound.value, cst.List):
            return None
        for node in self.function.nodes_of(cst.Assign):
            if isinstance(node.value, cst.Name) and bound in self.anatomy.definitions(node.value):
                for target in ex.targets(node):
                    place = self.slots.of(target) if isinstance(target, (cst.Attribute, cst.Subscript)) else None
                    if place is not None and self._lasts(self.anatomy.aliases.of(place)):
                        return self.anatomy.aliases.of(place)
        return None

    def _lasts(self, place: Slot) -> bool:
        """Whether a place outlives the function, and this file makes what lies there: a request's body is only read."""
        root = root_object(place)
        if not self.anatomy.aliases.is_lasting(place, self.function):
            return False
        return (
            root[0] == "attr"
            or root[1] is self.function
            or any(self.anatomy.facts.assigned(part) for part in (root, place))
        )

    def _callers_place(self, parameter: Slot) -> Slot | None:
        """The parameter itself, if a caller goes on with the list that it hands over."""
        lasting = Lasting(self.anatomy)
        for site in self.anatomy.calls.sites[self.function]:
            for bound, value in self.slots.bindings(site.node, self.function):
                slot = self.slots.of(value) if bound == parameter else None
                if slot is not None and (lasting.keeps(slot) is not None or self._is_used_again(slot, site.node)):
                    return parameter
        return None

    def _is_used_again(self, slot: Slot, call: cst.Call) -> bool:
        """Whether a list that a caller has made is handed over once in each turn of a loop."""
        made = self.anatomy.facts.assigned(slot) if slot[0] == "var" else []
        for outer in self.anatomy.module.ancestors(call) if made else ():
            if isinstance(outer, _REPEATING):
                return not any(self.anatomy.module.inside(value, outer) for value in made)
            if isinstance(outer, (cst.FunctionDef, cst.ClassDef)):
                break
        return False

    def _is_copy(self, bound: Definition, slot: Slot, place: Slot) -> bool:
        source = self._source(bound)
        return source is not None and (source == slot or self.anatomy.aliases.of(source) == place)

    def _source(self, bound: Definition) -> Slot | None:
        """The list of which a definition gives a copy."""
        if bound.kind != "assign" or bound.value is None:
            return None
        made = self.views.made_of(bound.value)
        return made[0] if made is not None else self._copied_elsewhere(ex.inner(bound.value))

    def _copied_elsewhere(self, value: cst.BaseExpression) -> Slot | None:
        """The list of which a function of another file gives a copy: `trimmed(messages)`."""
        found = run_elsewhere(self.anatomy, value) if isinstance(value, cst.Call) else None
        for there, given in found[0].facts.slots.bindings(value, found[1]) if found is not None else ():  # type: ignore[arg-type]
            if Views(found[0]).renews(found[1], there):  # type: ignore[index]
                return self.slots.of(given)
        return None

    def _never_filled(self, bound: Definition) -> Slot | None:
        """The dict of which a definition takes a list, or a new one, and into which this file never puts any."""
        for part in ex.alternatives(bound.value) if bound.kind == "assign" and bound.value is not None else ():
            base = ex.receiver(part) if isinstance(part, cst.Call) and ex.called_name(part) == "get" else None
            slot = self.slots.of(base)
            if slot is None or not (slot[0] == "attr" or slot[:2] == ("var", self.anatomy.module.top)):
                continue
            defaults = [*ex.positional(part)[1:], *list(ex.alternatives(bound.value))[1:]]  # type: ignore[arg-type]
            made = self.anatomy.facts.assigned(slot)
            if any(isinstance(value, cst.List) for value in defaults) and made and all(map(_is_empty_dict, made)):
                nodes = self.anatomy.module.nodes_of(cst.Name, cst.Attribute)
                if all(self._only_reads(node) for node in nodes if self.slots.of(node) == slot):
                    return slot
        return None

    def _only_reads(self, node: cst.CSTNode) -> bool:
        """Whether a place where a dict is named does not put anything into it, nor hand it to who might."""
        parent = self.anatomy.module.parent
        outer = parent[node]
        if isinstance(outer, cst.Attribute):
            return outer.value is not node or outer.attr.value in _READS
        if isinstance(outer, cst.Subscript):
            return isinstance(parent[outer], cst.Del)
        return isinstance(outer, (cst.ComparisonTarget, cst.AssignTarget, cst.AnnAssign))

    # -- what is lost -----------------------------------------------------------------------------------------

    def _lost(
        self, copy: Definition, slot: Slot, place: Slot, stored: list[Stored], live: list[Definition]
    ) -> Detached | None:
        flow = self.anatomy.flow(self.function)
        held = {one.node: self._bound_at(one, slot) for one in stored}
        after = [one for one in stored if copy in held[one.node]]
        if not after or self._is_kept(copy, slot, place, after):
            return None
        before = [
            one
            for one in stored
            if held[one.node] and held[one.node].issubset(live)
            and flow.reaches(self._points(one.node), [copy.point], exceptions=False)
        ]  # fmt: skip
        for one in after:
            others = [d for d in live if d in held[one.node]]
            if before or others:
                meant = before[0].node if before else others[0].point.statement
                return Detached(self._statement(copy), slot, place, one, meant)
        return None

    def _bound_at(self, one: Stored, slot: Slot) -> set[Definition]:
        reaching = self.anatomy.reaching(self.function)
        return {d for point in self._points(one.node) for d in reaching.at(point, slot[2])}

    def _points(self, node: cst.CSTNode) -> list[Point]:
        return self.anatomy.points(self.function, [node])

    @staticmethod
    def _statement(copy: Definition) -> cst.CSTNode:
        assert copy.point.statement is not None  # an assignment has one
        return copy.point.statement

    def _is_kept(self, copy: Definition, slot: Slot, place: Slot, lost: list[Stored]) -> bool:
        """Whether the copy, or what is added to it, gets where it may last."""
        stored = self.anatomy.transcript.stored(self.function)
        others = (one for one in stored if one.slot is not None and one.slot != slot)
        beside = [one.node for one in others if one.slot is not None and self.anatomy.aliases.of(one.slot) == place]
        return self._is_handed_on(copy, slot, lost, beside)

    def _is_handed_on(
        self, copy: Definition, slot: Slot, lost: list[Stored], beside: Sequence[cst.CSTNode] = ()
    ) -> bool:
        names = self.holders(slot)
        if self.keeps(self._statement(copy), names):
            return True  # `messages = talks[key] = messages[-10:]`
        keeping = [*beside, *(n for n in self.function.nodes if self.keeps(n, names) or self._stores(n, lost))]
        goals = self.anatomy.points(self.function, keeping)
        return self.anatomy.flow(self.function).reaches([copy.point], goals, exceptions=False)

    def holders(self, slot: Slot) -> set[str]:
        """The name, and the local names of what holds it: `request = {"messages": messages}`."""
        names = {slot[2]}
        for _ in range(2):
            for node in self.function.nodes_of(cst.Assign, cst.AnnAssign):
                if node.value is not None and self._mentions(node.value, names):
                    if not self._is_request(node.value):
                        names.update(t.value for t in ex.targets(node) if isinstance(t, cst.Name))
        return names

    def _is_request(self, value: cst.BaseExpression) -> bool:
        return any(isinstance(part, cst.Call) and self.anatomy.turns.reaches_model(part) for part in walk(value))

    def _mentions(self, value: cst.CSTNode, names: set[str]) -> bool:
        """Whether a value holds the list: not its length, nor one of its messages."""
        parent = self.anatomy.module.parent
        for part in walk(value):
            if isinstance(part, cst.Name) and part.value in names:
                outer = parent[part]
                if isinstance(outer, cst.Subscript) and ex.slice_of(outer) is None and outer.value is part:
                    continue
                if isinstance(outer, cst.Arg) and ex.dotted(parent[outer].func) == "len":  # type: ignore[attr-defined]
                    continue
                return True
        return False

    def keeps(self, node: cst.CSTNode, names: set[str]) -> bool:
        """Whether a statement puts the list where it lasts, gives it back, or hands it to who may keep it."""
        if isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign)) and node.value is not None:
            targets = [t for t in ex.targets(node) if not isinstance(t, cst.Name)]
            return bool(targets) and self._mentions(node.value, names)
        if isinstance(node, (cst.Return, cst.Yield)):
            value = node.value.item if isinstance(node.value, cst.From) else node.value
            return value is not None and not self._is_request(value) and self._mentions(value, names)
        return type(node) is cst.Call and self._hands_on(node, names)

    def _hands_on(self, call: cst.Call, names: set[str]) -> bool:
        if is_logging(call) or ex.dotted(call.func) in _LOOKS or call in self.anatomy.facts.calls:
            return False
        given = [arg for arg in call.args if self._mentions(arg.value, names)]
        if not given or (self.anatomy.turns.reaches_model(call) and not self.anatomy.keeps(call)):
            return False
        callee = self.slots.callee(call)
        inside = [s for s, v in self.slots.bindings(call, callee) if self._mentions(v, names)] if callee else []
        return callee is None or any(self._uses(callee, there) for there in inside)

    def _uses(self, callee: Scope, parameter: Slot) -> bool:
        """Whether a function of this file may keep what it gets: it does more than to read or return it."""
        given = {p.name.value for p in parameters(callee)} & {parameter[2]} if parameter[0] == "var" else {parameter[2]}
        other = _Finder(self.anatomy, callee)
        return any(other.keeps(node, given) for node in callee.nodes if not isinstance(node, cst.Return))

    def _stores(self, node: cst.CSTNode, lost: list[Stored]) -> bool:
        """Whether a call that stores what it gets is handed what the lost message says."""
        if type(node) is not cst.Call or is_logging(node) or any(one.node is node for one in lost):
            return False
        base = ex.receiver(node)
        if not self.anatomy.keeps(node) or (base is not None and self.slots.of(base) in {one.slot for one in lost}):
            return False
        said = names_in(
            *(one.message.content for one in lost if one.message is not None and one.message.content is not None)
        )
        return mentions(said, *(arg.value for arg in node.args))


def _is_handed(slot: Slot | None) -> bool:
    return slot is not None and is_parameter(root_object(slot))


def _is_empty_dict(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.Dict):
        return not value.elements
    return isinstance(value, cst.Call) and ex.dotted(value.func) == "dict" and not value.args
