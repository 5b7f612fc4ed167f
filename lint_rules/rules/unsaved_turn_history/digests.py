"""Messages that give way to what a model makes of them, which may be nothing: then they are lost all the same.

digest = ask("Sum up:\\n" + text_of(self.messages[:-4])) or ""       # the model says nothing, or the request fails
self.messages = [{"role": "user", "content": digest}, *self.messages[-4:]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.message_texts import asks_for_label
from lint_rules.anatomy.turns.lasting import Lasting
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, bound_values, holds, is_read
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import COPYING, sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, root_object
from lint_rules.obligations.error_texts import ErrorTexts, made_with
from lint_rules.rules.unsaved_turn_history.how_sent import how_sent
from lint_rules.rules.unsaved_turn_history.late_turns import is_kept
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import walk

_PLACES = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)
_HOPS = 3
_DEEPEST = 5
_SAME = frozenset({"strip", "rstrip", "lstrip", "len", "bool", "str"})
"""What is made of a text with these is nothing just if the text is."""

Shown = tuple[Anatomy, cst.CSTNode]
_Part = cst.BaseExpression | cst.StarredElement


@record
class _Way:
    """At `node` another list, of `parts`, takes the place of `history`, which lives in `place` as seen from there.

    `there` is the file in which that is written, in `callee`, if it is not done at `node` itself. `is_text`: no list.
    """

    node: cst.CSTNode
    place: Slot
    history: Slot
    there: Anatomy
    parts: list[_Part]
    callee: Scope | None = None
    is_text: bool = False


@record
class Digest:
    """At `node` messages of `history` give way to what `request` makes of them; at `empty` that may be nothing.

    `left`: there they are only left out, as nothing was made of them. `text`: they were kept as a text by then.
    """

    node: cst.CSTNode
    history: Slot
    request: cst.Call
    empty: Shown
    left: bool = False
    text: bool = False


def lost_digests(anatomy: Anatomy) -> Iterator[Digest]:
    """Those of a file: of each request the first."""
    search = _Search(anatomy)
    for function in anatomy.module.functions:
        if function.kind == "function" and (requests := anatomy.turns.requests(function)):
            ways = list(search.ways(function))
            for request in requests if ways else ():
                yield from search.of(function, request, ways)
                yield from search.left_out(function, request, ways)


class _Search:
    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.slots = anatomy.facts.slots
        self.lasting = Lasting(anatomy)
        self.errors = ErrorTexts(anatomy)

    def of(self, function: Scope, request: cst.Call, ways: list[_Way]) -> Iterator[Digest]:
        names = _derived(self.anatomy, function, request)
        put = names | _derived(self.anatomy, function, request, put=True)
        for handler, failed, text in self.errors.told_in_handlers(function):
            if failed is request and not _says_again(self.anatomy, function, request, text):
                for way in ways:
                    if self._takes(way, text, set()) and self.anatomy.module.inside(way.node, handler):
                        if way.place in self._told(function, request):
                            yield Digest(way.node, way.history, request, (self.anatomy, text))
                            return
        for way in ways:
            takes = self._takes(way, request, put) or self._takes_over(function, way, request, names)
            if takes and way.place in self._told(function, request):
                empty = self._unasked(function, request, names, way.node)
                if empty is not None:
                    yield Digest(way.node, way.history, request, empty, text=way.is_text)
                    return
        yield from self._beside(function, request, names, ways)

    def _unasked(self, function: Scope, request: cst.Call, names: set[str], node: cst.CSTNode) -> Shown | None:
        """What shows that a text may be nothing at a place, if no test on the way there asks for it."""
        tested = _tests(self.anatomy, function, request, names, node)
        if tested is None:
            return None
        return next(self._empty(self.anatomy, function, request, names, node), next(iter(tested), None))

    def _beside(self, function: Scope, request: cst.Call, names: set[str], ways: list[_Way]) -> Iterator[Digest]:
        """Where older messages are left out of a list, and what was made of them is kept somewhere else.

        `self.summary = digest`, and then `del self.talk[:-8]`.
        """
        if not is_kept(self.anatomy, function, request) or self._is_answer(function, request, names):
            return
        told = self._told(function, request)
        for node, place, history in self._rests(function, ways):
            digests = place in told and not _sends(self.anatomy, request, history)
            empty = self._unasked(function, request, names, node) if digests else None
            if empty is not None:
                yield Digest(node, history, request, empty)
                return

    def _is_answer(self, function: Scope, request: cst.Call, names: set[str]) -> bool:
        """Whether a text is stored as what the model has said in the talk."""
        stored = (one for one in self.anatomy.transcript.stored(function) if one.role == "assistant")
        return any(part is request or is_read(part, names) for one in stored for part in walk(one.node))

    def _rests(self, function: Scope, ways: list[_Way]) -> Iterator[tuple[cst.CSTNode, Slot, Slot]]:
        """Where a list has only its newest messages from then on: the place, where the list lives, and its name."""
        yield from ((way.node, way.place, way.history) for way in ways if way.callee is None and _is_rest(way))
        for write in self.anatomy.writes.by_function[function]:
            if _cuts_front(write.node):
                yield write.node, self.anatomy.aliases.of(write.slot), write.slot

    def left_out(self, function: Scope, request: cst.Call, ways: list[_Way]) -> Iterator[Digest]:
        """Where the older messages are left out alone, as the request has failed or gave nothing: else it is put there.

        `if not digest: return talk[-4:]`, beside `return [digest, *talk[-4:]]`.
        """
        names = _derived(self.anatomy, function, request)
        if not any(self._takes(way, request, names) for way in ways):
            return
        told = self._told(function, request)
        for node, place, history in self._rests(function, ways):
            empty = self._without(function, request, names, node) if place in told else None
            if empty is not None:
                yield Digest(node, history, request, (self.anatomy, empty), left=True)

    def _takes_over(self, function: Scope, way: _Way, request: cst.Call, names: set[str]) -> bool:
        """Whether a text takes the place of one that was kept of older messages, and of which it is made.

        `self.summary = ask(f"So far: {self.summary}. New: {lines}")`.
        """
        if not way.is_text or not holds(list(way.parts), request, names) or _gives_label(self.anatomy, request):
            return False
        parts = (part for part in way.parts if ex.member(part) is not None)
        if not all(
            isinstance(part, cst.BaseExpression) and self.anatomy.facts.is_kind(part, Kind.MODEL_TEXT) for part in parts
        ):
            return False  # `reply.id`
        read = {self.anatomy.aliases.of(slot) for slot in self._made_of(function, way.parts, request)}
        asked = (slot for slot in self._told(function, request) if Kind.HISTORY in self.anatomy.facts.of(slot))
        return way.place not in read and any(True for _ in asked)

    def _made_of(self, function: Scope, parts: Sequence[cst.CSTNode], request: cst.Call) -> Iterator[Slot]:
        """The places that some values are made of, by way of names, but for what goes into a request."""
        queue, seen = list[cst.CSTNode](parts), set[str]()
        for whole in queue:
            for node in walk(whole):
                inside = self.anatomy.module.inside(node, request)
                slot = self.slots.of(node) if isinstance(node, _PLACES) and not inside else None
                if slot is not None:
                    yield slot
                if isinstance(node, cst.Name) and not inside and node.value not in seen:
                    seen.add(node.value)
                    queue += bound_values(self.anatomy, function, node.value)

    def _without(self, function: Scope, request: cst.Call, names: set[str], node: cst.CSTNode) -> cst.CSTNode | None:
        """What leads to a place where a request has failed or given nothing, if nothing leads there with its text."""
        module, ways = self.anatomy.module, self.anatomy.ways(function)
        goal = set(self.anatomy.points(function, [node]))
        start = self.anatomy.points(function, [request])
        asked = (*function.nodes_of(cst.If, cst.While), *function.nodes_of(cst.IfExp))
        tests = [test for test in asked if module.before(request, test)]

        def says(given: bool) -> dict[cst.CSTNode, bool | None]:
            def atom(part: cst.BaseExpression) -> bool | None:
                empty = _is_false(self.anatomy, part, names)
                return empty if empty is None or not given else not empty

            return {test: evaluate(test.test, atom) for test in tests}

        if ways.path(start, goal, says=says(given=True).get) is not None:
            return None
        failed = [target for point in start for target, kind in point.successors if kind in {"exception", "raise"}]
        handlers = (outer for outer in module.ancestors(node) if isinstance(outer, cst.ExceptHandler))
        if not goal.isdisjoint(failed) or ways.path(failed, goal) is not None:
            return next(handlers, None) or next((test.test for test in tests if module.before(test, node)), node)
        if ways.path(start, goal, says=says(given=False).get) is None:
            return None
        return next((test.test for test in tests if says(given=False)[test] is not None), None)

    def _told(self, function: Scope, request: cst.Call) -> set[Slot]:
        """Where the histories live that a request is made of, and the objects; in a helper of this file, too."""
        callee = self.slots.callee(request)
        inner = self.anatomy.calls.reachable(callee) if callee is not None else ()
        nodes = [*made_with(self.anatomy, function, request), *(n for f in inner for n in f.nodes_of(cst.Attribute))]
        slots = {slot for node in nodes if (slot := self.slots.of(node)) is not None}
        return slots | {self.anatomy.aliases.of(slot) for slot in slots}

    # -- where that takes their place ---------------------------------------------------------------------------

    def ways(self, function: Scope) -> Iterator[_Way]:
        """Where a function, or a method that it calls, puts another list in the place of one that lasts.

        Or of one that it was handed, and with which the caller goes on.
        """
        for write in self.anatomy.writes.by_function[function]:
            place = self.anatomy.aliases.of(write.slot)
            if write.kind == "replace" or (write.kind == "rebind" and self._lasts(place)):
                if write.value is not None:
                    parts = list(_parts(self.anatomy, function, write.value))
                    parts += _added(self.anatomy, function, write.slot, 0, write.node) if place[0] != "var" else []
                    yield _Way(write.node, place, write.slot, self.anatomy, parts)
            elif write.kind == "cut" and _empties(write.node) and self._lasts(place):
                added = list(_added(self.anatomy, function, write.slot, 0, write.node))
                yield _Way(write.node, place, write.slot, self.anatomy, added)
        for parameter in parameters(function):
            slot = self.slots.parameter(function, parameter.name.value)
            is_list = Kind.HISTORY in self.anatomy.facts.of(slot) or _is_list(parameter)
            for leaves in function.nodes_of(cst.Return) if is_list else ():
                given = leaves.value.elements if isinstance(leaves.value, cst.Tuple) else [leaves]
                for value in (each.value for each in given if each.value is not None):
                    yield _Way(leaves, slot, slot, self.anatomy, list(_parts(self.anatomy, function, value)))
        for call in function.nodes_of(cst.Call):
            yield from self._by_callee(call)
        for node in function.nodes_of(cst.Assign):
            for history in map(self.slots.of, ex.targets(node)):
                if history is not None and history not in self.anatomy.writes.by_slot:
                    kept = self.anatomy.aliases.of(history)
                    if self._lasts(kept) and history[:2] != ("var", function):
                        yield _Way(node, kept, history, self.anatomy, [node.value], is_text=True)

    def _lasts(self, place: Slot) -> bool:
        """Whether a list is there when its function has ended: so is one of an object that it was handed."""
        return self.lasting.keeps(place) is not None or (place[0] == "member" and is_parameter(root_object(place)))

    def _by_callee(self, call: cst.Call) -> Iterator[_Way]:
        """`talk.shrink(digest)`: by a method, maybe of another file."""
        found, base = body(self.anatomy, call), ex.receiver(call)
        there, callee = found or (self.anatomy, None)
        owner = self.slots.of(base)
        for write in there.writes.by_function[callee] if callee is not None else ():
            place = owner if there is not self.anatomy else self.anatomy.aliases.of(write.slot)
            if write.kind in {"rebind", "replace"} and write.slot[0] == "attr" and place is not None:
                if write.value is not None:
                    parts = list(_parts(there, write.function, write.value))
                    parts = parts or list(_added(there, write.function, write.slot, 0))
                    yield _Way(call, place, write.slot, there, parts, callee)

    def _takes(self, way: _Way, text: cst.CSTNode, names: set[str]) -> bool:
        """Whether the new list has a message with a text, and the old ones are not all there."""
        if way.is_text:
            return False
        if way.callee is None:
            return _is_digest(way, text, names) and (not isinstance(way.node, cst.Return) or self._goes_on(way, names))
        if way.node is text or not holds([arg.value for arg in way.node.args], text, names):  # type: ignore[attr-defined]
            return False
        bound = way.there.facts.slots.bindings(way.node, way.callee)  # type: ignore[arg-type]
        given = {str(slot[2]) for slot, value in bound if slot[0] == "var" and holds([value], text, names)}
        inside = ReplyPlaces(way.there).derived(way.callee, way.callee.node, known=given) if given else set()
        return _is_digest(way, way.callee.node, inside)

    def _goes_on(self, way: _Way, names: set[str]) -> bool:
        """Whether what a caller is given goes on with messages, or says nothing as the model: it is no new answer."""
        function = self.anatomy.module.scope_of[way.node].function
        kept = {str(way.place[2])}
        for _ in range(_DEEPEST):
            values = ((name, bound_values(self.anatomy, function, name)) for name in function.bound)
            kept.update([name for name, bound in values if any(_is_picked(value, kept) for value in bound)])
        if any(isinstance(root, cst.Name) and root.value in kept - names for root in map(_root, way.parts)):
            return True
        made = (part for part in way.parts if isinstance(part, cst.BaseExpression))
        roles = {message.role for part in made for message in self.anatomy.transcript.messages.of(part)}
        sites = (site.node for site in self.anatomy.calls.sites[function])
        return bool(roles) and roles <= {"user", "system"} and all(self._is_put_back(site, way) for site in sites)

    def _is_put_back(self, site: cst.Call, way: _Way) -> bool:
        """`talk = shorten(talk)`: whether a caller puts what it is given in the place of what it has handed over."""
        outer = self.anatomy.module.awaiting(site)
        bound = {ex.source(_root(target)) for target in ex.targets(outer)} if isinstance(outer, cst.Assign) else set()
        handed = self.slots.bindings(site, self.anatomy.module.scope_of[way.node].function)
        return any(slot == way.place and ex.source(_root(value)) in bound for slot, value in handed)

    def _empty(
        self, there: Anatomy, function: Scope, request: cst.Call, names: set[str], at: cst.CSTNode, hops: int = 0
    ) -> Iterator[Shown]:
        """What shows that the text may be nothing: a default, a stream, a handler, or the function that gives it."""
        places = ReplyPlaces(there)
        for node in function.nodes_of(cst.BooleanOperation, cst.IfExp, cst.Call):
            value, default = _with_default(node) or (None, None)
            if value and default and _is_constant(default) and holds([value], request, names):
                after = there.module.before(request, node) or there.module.inside(request, value)
                made = places.derived(function, node) if after else ()
                if after and any(part is node or is_read(part, made) for part in walk(at)):
                    yield there, node
        reaching = there.reaching(function)
        for name in sorted(names):
            bound = (
                d for point in there.points(function, [at]) for d in reaching.at(point, name) if d.kind == "assign"
            )
            nothing = (d for d in bound if d.value is not None and _is_constant(d.value))
            yield from ((there, d.value) for d in nothing if d.value and _stays(there, function, request, d, at))
        for text in ErrorTexts(there).left(function, request):
            if not _says_again(text.anatomy, text.function, text.request, text.text):
                yield text.anatomy, text.node
        for call in function.nodes_of(cst.Call):
            if call is not request and holds([arg.value for arg in call.args], request, names):
                yield from _given_for_nothing(there, call)
        found = body(there, request) if hops < _HOPS else None
        for ask in found[0].turns.requests(found[1]) if found is not None else ():
            inner, callee = found  # type: ignore[misc]
            given = _derived(inner, callee, ask)
            leaving = [leaves for leaves in callee.nodes_of(cst.Return) if leaves.value is not None]
            for leaves in leaving:
                if leaves.value is not None and holds([leaves.value], ask, given):
                    if _tests(inner, callee, ask, given, leaves) is not None:
                        yield from self._empty(inner, callee, ask, given, leaves, hops + 1)
                elif leaves.value is not None and ex.text(leaves.value) == "" and inner.leads(callee, [ask], [leaves]):
                    yield inner, leaves


def _stays(there: Anatomy, function: Scope, request: cst.Call, bound: Definition, at: cst.CSTNode) -> bool:
    """Whether a name holds at a place what stands for nothing, past what asks for that, and puts something there.

    Also where the request fails.
    """
    others = {each.point for each in there.reaching(function).by_name.get(bound.name, ()) if each is not bound}
    tests = function.nodes_of(cst.If, cst.While)
    known: dict[cst.CSTNode, bool | None] = {
        test: evaluate(test.test, lambda part: _is_false(there, part, {bound.name})) for test in tests
    }
    goals = set(there.points(function, [at]))
    failing = {*there.points(function, [request])}
    ways = there.ways(function)
    return ways.path([bound.point], goals, others - goals, fails=failing.__contains__, says=known.get) is not None


def _sends(there: Anatomy, request: cst.Call, history: Slot, hops: int = 0) -> bool:
    """Whether a request sends a list as the talk that is to be gone on with, itself or in what it runs."""
    asked, found = there.facts.calls.get(request), body(there, request) if hops < _HOPS else None
    if asked is not None and asked.history is not None:
        return bool(how_sent(there, asked.history, history))
    if found is None:
        return False
    inner, callee = found
    bound = inner.facts.slots.bindings(request, callee)
    known = [parameter for parameter, value in bound if how_sent(there, value, history)]
    known += [history] if inner is there and root_object(history)[0] == "attr" else []
    return any(_sends(inner, ask, slot, hops + 1) for ask in inner.turns.requests(callee) for slot in known)


def _gives_label(there: Anatomy, request: cst.Call, hops: int = 0) -> bool:
    """Whether a request may be answered with few words only: a language or a mood holds nothing of older messages."""
    found, asked = body(there, request) if hops < _HOPS else None, there.facts.calls.get(request)
    if found is None:
        return asked is not None and asks_for_label(asked)
    inner = found[0].turns.requests(found[1])
    return bool(inner) and all(_gives_label(found[0], ask, hops + 1) for ask in inner)


def _given_for_nothing(there: Anatomy, call: cst.Call) -> Iterator[Shown]:
    """Where a helper that reads a text gives back nothing for some: `return {"summary": ""}`."""
    found = body(there, call) if there.module.is_statement(call) is False else None
    for leaves in found[1].nodes_of(cst.Return) if found is not None else ():
        parts = [*ex.dict_items(leaves.value).values(), leaves.value] if leaves.value is not None else []
        if any(map(_is_nothing, parts)):
            yield found[0], leaves  # type: ignore[index]


def _tests(
    there: Anatomy, function: Scope, request: cst.Call, names: set[str], node: cst.CSTNode
) -> list[Shown] | None:
    """The tests of a text on a way to a place; None where one of them keeps from it what is nothing."""
    ways, order = there.ways(function), there.module.order
    asked = [
        test
        for test in (*function.nodes_of(cst.If, cst.While), *function.nodes_of(cst.IfExp))
        if order[request] < order[test] < order[node]
    ]
    known: dict[cst.CSTNode, bool | None] = {
        test: evaluate(test.test, lambda part: _is_false(there, part, names)) for test in asked
    }
    goal = set(there.points(function, [node]))
    start = there.points(function, [request])
    made = ReplyPlaces(there).derived(function, request, until=node)
    read = {part.value for part in walk(node) if isinstance(part, cst.Name)} & names
    others = {
        bound.point
        for bound in there.reaching(function).definitions
        if bound.name in read and bound.kind == "assign" and bound.value is not None
        and not (_is_nothing(bound.value) or holds([bound.value], request, made))
    }  # fmt: skip
    if not goal.intersection(start) and ways.path(start, goal, others - goal, says=known.get) is None:
        return None
    plain = {test: evaluate(test.test, lambda part: _is_false(there, part, names, members=False)) for test in asked}
    return [(there, test.test) for test in asked if plain[test] is not None]


def _is_false(there: Anatomy, part: cst.BaseExpression, names: set[str], *, members: bool = True) -> bool | None:
    """What a part of a test gives where the text is nothing, or with `members` a part of the reply."""
    if isinstance(part, cst.Comparison):
        left, operator, right = ex.compared(part)
        if _is_false(there, left, names, members=members) is not False:
            return None
        if isinstance(left, cst.Call) and ex.dotted(left.func) == "len":
            short = isinstance(operator, (cst.LessThan, cst.LessThanEqual))
            asks = members or short or ex.integer(right) in {0, 1}  # else whether it is too long
            return short if asks else None
        return isinstance(operator, (cst.Is, cst.Equal)) if ex.dotted(right) == "None" else None
    while isinstance(part, cst.Call) and ex.called_name(part) in _SAME:
        part = ex.inner(part.args[0].value if part.args else ex.receiver(part) or part.func)
    root = _root(part)
    if not isinstance(root, cst.Name) or root.value not in names:
        return None
    is_text = members if root is not part else _is_text(there, root)
    return False if is_text else None


def _is_text(there: Anatomy, name: cst.Name) -> bool:
    """Whether a name stands for a text, not for a reply with its parts: by its kind, or as it is put into one."""
    if Kind.REPLY not in there.facts.kinds(name):
        return True
    slot, parent = there.facts.slots.of(name), there.module.parent
    outer = [parent[one] for one in there.facts.names.get(slot, ())] if slot is not None else []
    return any(isinstance(each, (cst.FormattedStringExpression, cst.BinaryOperation)) for each in outer)


def _says_again(anatomy: Anatomy, function: Scope, request: cst.Call, text: cst.BaseExpression) -> bool:
    """Whether a text has more of what a request was made of than how long that is: `f"Said before: {lines[:900]}"`."""
    module, made = anatomy.module, made_with(anatomy, function, request)
    before = (node for node in made if module.before(node, request) or module.inside(node, request))
    asked = {node.value for node in before if isinstance(node, cst.Name)}
    counted = {
        part
        for call in walk(text)
        if isinstance(call, cst.Call) and ex.called_name(call) == "len"
        for part in walk(call)
    }
    return any(isinstance(part, cst.Name) and part.value in asked for part in walk(text) if part not in counted)


def _derived(anatomy: Anatomy, function: Scope, request: cst.Call, *, put: bool = False) -> set[str]:
    """The names that are made of a reply, with `put` also of what it is put into: none that is there before it."""
    names, module = ReplyPlaces(anatomy).derived(function, request, put=put), anatomy.module

    def is_made(value: cst.CSTNode) -> bool:
        return module.inside(request, value) or module.before(request, value)

    return {name for name in names if any(map(is_made, bound_values(anatomy, function, name)))}


def _is_digest(way: _Way, text: cst.CSTNode, names: set[str]) -> bool:
    """Whether a list has a message with the text, not behind the newest ones as an answer, and not all that was."""
    slots, aliases = way.there.facts.slots, way.there.aliases
    rest = {at: part.value for at, part in enumerate(way.parts) if isinstance(part, cst.StarredElement)}
    made = [at for at, part in enumerate(way.parts) if at not in rest and holds([part], text, names)]
    said = [(at, message.role) for at in made for message in way.there.transcript.messages.of(way.parts[at])]
    if any(role == "tool" or (role == "assistant" and at == len(way.parts) - 1) for at, role in said):
        return False
    whole = (slots.of(value) for value in rest.values() if isinstance(value, (cst.Name, cst.Attribute)))
    history = aliases.of(way.history)
    if any(slot is not None and aliases.of(slot) == history for slot in whole):
        return False
    newest = [at for at, value in rest.items() if (part := ex.slice_of(value)) is None or part.lower is not None]
    return bool(made) and not (newest and made[0] > newest[-1])


def _empties(node: cst.CSTNode) -> bool:
    """`talk.clear()`."""
    return isinstance(node, cst.Call) and ex.called_name(node) == "clear"


def _cuts_front(node: cst.CSTNode) -> bool:
    """`del talk[:-4]`."""
    at = ex.slice_of(node.target) if isinstance(node, cst.Del) and isinstance(node.target, cst.Subscript) else None
    return at is not None and at.lower is None and at.upper is not None


def _is_rest(way: _Way) -> bool:
    """Whether a list has nothing but the newest messages of the one in whose place it comes."""
    slots, aliases = way.there.facts.slots, way.there.aliases
    cut = [
        (ex.inner(part.value), ex.slice_of(part.value)) for part in way.parts if isinstance(part, cst.StarredElement)
    ]
    whole = {
        aliases.of(slot) for value, _ in cut if isinstance(value, cst.Subscript) and (slot := slots.of(value.value))
    }
    newest = bool(cut) and all(at is not None and at.lower is not None and at.upper is None for _, at in cut)
    return newest and len(cut) == len(way.parts) and whole == {aliases.of(way.history)}


def _parts(there: Anatomy, function: Scope, value: cst.BaseExpression, depth: int = 0) -> Iterator[_Part]:
    """What a list is put together of, in order: elements, and other lists as what is starred."""
    value = ex.inner(value)
    slot = there.facts.slots.of_name(value)
    bound = bound_values(there, function, value.value) if isinstance(value, cst.Name) else []
    made = [each for each in (there.facts.assigned(slot)) if each in bound]
    if isinstance(value, cst.List):
        for element in value.elements:
            if isinstance(element, cst.StarredElement):
                yield from _parts(there, function, element.value, depth + 1)
            else:
                yield element.value
    elif isinstance(value, cst.Name) and made and depth < _DEEPEST:
        known = [part for each in made for part in _parts(there, function, each, depth + 1)]
        known += _added(there, function, slot, depth)
        yield from known or [cst.StarredElement(value)]  # filled in another way
    elif (parts := sources(value)) and not isinstance(value, cst.Subscript):
        for part in parts:
            yield from _parts(there, function, part, depth + 1)
    else:
        yield cst.StarredElement(value)


def _added(
    there: Anatomy, function: Scope, slot: Slot | None, depth: int, behind: cst.CSTNode | None = None
) -> Iterator[_Part]:
    """What a function adds to a list that it has begun, behind a place."""
    for call in there.facts.grown(slot) if slot is not None else ():
        added = call.args[0].value
        if there.module.scope_of[call].function is not function:
            continue
        if behind is not None and not there.module.before(behind, call):
            continue
        if ex.called_name(call) == "extend":
            yield from _parts(there, function, added, depth + 1)
        else:
            yield added


def _is_picked(value: cst.CSTNode, kept: set[str]) -> bool:
    """Whether a value is one of a list's messages, or some: `talk[-4:]`, `reversed(talk)`, `[m for m in talk]`."""
    if isinstance(value, cst.IfExp):
        return _is_picked(value.body, kept) or _is_picked(value.orelse, kept)
    if isinstance(value, cst.ListComp):
        return _is_picked(value.for_in.iter, kept)
    if isinstance(value, cst.Call) and ex.called_name(value) in COPYING and value.args:
        return _is_picked(value.args[0].value, kept)
    root = _root(value)
    return isinstance(root, cst.Name) and root.value in kept


def _is_list(parameter: cst.Param) -> bool:
    """`talk: list`, `talk: list[dict[str, str]]`."""
    said = parameter.annotation.annotation if parameter.annotation is not None else None
    named = said.value if isinstance(said, cst.Subscript) else said
    return named is not None and ex.last_name(named).lower() == "list"


def _root(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.StarredElement)):
        node = node.value
    return node


def _is_nothing(value: cst.BaseExpression) -> bool:
    return ex.text(value) == "" or ex.dotted(value) == "None"


def _is_constant(value: cst.BaseExpression) -> bool:
    return ex.text(value) is not None or ex.dotted(value) == "None"


def _with_default(node: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The value and the default of `x or ""`, `x.text if x else ""`, `d.get("content", "")`."""
    if isinstance(node, cst.BooleanOperation):
        return (node.left, node.right) if isinstance(node.operator, cst.Or) else None
    if isinstance(node, cst.IfExp):
        return node.test, node.orelse
    base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) == "get" else None
    return (
        (base, node.args[1].value) if base is not None and isinstance(node, cst.Call) and len(node.args) == 2 else None
    )
