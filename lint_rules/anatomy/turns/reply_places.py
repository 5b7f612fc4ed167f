"""Where a reply that a function has got is stored, and where it leaves for a user or a caller."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from types import MappingProxyType

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import tells_calls
from lint_rules.anatomy.calls.told import GROWERS
from lint_rules.anatomy.messages.classes import body, made_class
from lint_rules.anatomy.messages.messages import all_of
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program.handlers import is_logging, is_neutral
from lint_rules.anatomy.program.told import Told, closed_side
from lint_rules.anatomy.turns.lasting import is_new
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import REASONS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Kind as Edge
from lint_rules.syntax.graph import Point, solve
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import children, walk, walk_scope
from lint_rules.syntax.ways import Says

_STORING = re.compile(
    r"append|dump|save|store|record|remember|persist|insert|extend|commit|upsert|histor|memor|transcript|conversation"
    r"|(?<![a-z])(add|put|set|push|log|write|writelines|update|track|sync|insert)(?![a-z])"
)
_STORES = re.compile(
    r"memory|history|session|store|conversation|messages|thread|database|(?<![a-z])(db|repo|state)(?![a-z])"
)
_NO_STORES = frozenset({"Message", "markdown", "print", "Text", "Markdown", "Panel"})
SHOWING = frozenset(
    {
        "send", "send_message", "reply", "reply_text", "answer", "respond", "markdown", "Message", "stream_token",
        "emit", "say", "speak", "edit_text", "render", "show", "display", "notify", "publish", "write", "write_stream",
        "text", "caption", "chat_message", "send_text", "send_json", "followup", "edit_message_text", "tts",
    }
)  # fmt: skip
_ABOUT = REASONS | {"status_code", "status", "reason", "headers", "usage", "id", "model", "url", "is_error"}
_LOOPS = frozenset({cst.For, cst.While})
_PLACES = (cst.Name, cst.Attribute, cst.Subscript)
_SEEKS = frozenset(
    {"partition", "rpartition", "split", "rsplit", "group", "search", "match", "findall", "removeprefix"}
)
"""Look for a part of a text, and give that or nothing. Source: standard library, `str` and `re`."""
_SAID = frozenset({Kind.REPLY, Kind.MESSAGE, Kind.MODEL_TEXT})
_LONGEST = 400
"""Characters of a test that are compared."""
_OF_CALLS = frozenset({Kind.CALLS, Kind.CALL, Kind.FUNCTION, Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})
_PARTS = frozenset({"output", "content", "parts"})
"""Where a reply has its parts of all kinds. Source: the APIs of OpenAI (Responses), Anthropic, Gemini."""
_HEADERS = frozenset({cst.If, cst.For, cst.While, cst.Match, cst.With})
_BINDING: tuple[type[cst.CSTNode], ...] = (
    cst.Assign, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.WithItem, cst.CompFor,
)  # fmt: skip
_VERDICTS = frozenset({"isinstance", "hasattr", "len", "bool", "any", "all"})
_VERDICTS_OF_TEXTS = frozenset({"startswith", "endswith", "count", "find"})


class ReplyPlaces:
    """The places of replies in the functions of one file. A reply is named by the request, `call`.

    `taken` are the names that hold it, or a part of it: those that `derived` gives. Lists that are `lost` store none.
    """

    def __init__(self, anatomy: Anatomy, lost: Callable[[Anatomy, Slot], bool] = lambda _, __: False) -> None:
        self.anatomy = anatomy
        self._lost = lost

    def derived(
        self,
        function: Scope,
        call: cst.CSTNode,
        region: cst.CSTNode | None = None,
        *,
        grown: bool = False,
        put: bool = False,
        until: cst.CSTNode | None = None,
        others: Collection[cst.CSTNode] = (),
        known: Iterable[str] = (),
    ) -> set[str]:
        """The names of a function that hold what `call` gives, or a part of it; those bound in a region of it.

        With `put`, also those of what it is put into: `messages.extend(past)`; with `grown`, of all that is told of it,
        too, such as its id. What `until` and `others` give is none of it, unless `call` is made with it. `known` are
        names that hold it from the beginning, as parameters do.
        """
        module, own = self.anatomy.module, self.anatomy.module.self_name(function)
        names = {name for name in known if name != own}
        apart = [other for other in others if call is function.node or not module.inside(other, call)]
        barred = [*apart, *([until] if until is not None else [])]
        around = {outer for other in barred for outer in (other, *module.ancestors(other))}
        bound = _bindings(self.anatomy, function)
        found = [
            each
            for each in (bound if region is None else module.placed_inside(bound, region, lambda one: one.node))
            if each.value not in around and (grown or put or each.collects or type(each.node) is not cst.Call)
        ]
        if grown:  # nothing is made of it before it is there
            loops = [outer for outer in module.ancestors(call) if type(outer) in _LOOPS]
            found = [
                each
                for each in found
                if module.inside(call, each.node)
                or module.before(call, each.node)
                or any(module.inside(each.node, o) for o in loops)
            ]
        if until is not None:  # what is bound behind it comes too late
            around_it = [outer for outer in module.ancestors(until) if type(outer) in _LOOPS]
            found = [
                each
                for each in found
                if module.before(each.node, until) or any(module.inside(each.node, o) for o in around_it)
            ]
        held = _Held(self.anatomy, function, names)
        for _ in range(4):
            before = len(names)
            for each in found:
                read = each.mentioned if grown else each.read
                if held.reaches(names.intersection(read), each) or module.inside(call, each.value):
                    targets = [part for target in each.targets for part in self._told_apart(each.value, target)]
                    taken = {name for target in targets for name in roots(target, own)}
                    held.note(taken, each)
                    names |= taken
            names -= self.anatomy.module.imports.full.keys()  # what is put into a module is not the module
            if len(names) == before:
                break
        return names

    def _told_apart(self, value: cst.CSTNode, target: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Of `answer, error = ask()` only what holds something, where the function has given a reply."""
        given = self._tuples(value.expression if isinstance(value, cst.Await) else value)
        if not given or not isinstance(target, cst.Tuple):
            yield target
            return
        for at, part in enumerate(target.elements):
            if any(at >= len(parts) or not is_neutral(parts[at].value) for parts in given):
                yield part.value

    def _tuples(self, value: cst.CSTNode) -> list[Sequence[cst.BaseElement]]:
        """What the function that a call runs gives back in tuples; not where it handles an error."""
        found = body(self.anatomy, value)
        if found is None:
            return []
        there, callee = found
        return [
            node.value.elements
            for node in callee.nodes_of(cst.Return)
            if isinstance(node.value, cst.Tuple) and not there.module.in_handler(node)
        ]

    def kept(self, function: Scope, call: cst.Call, taken: set[str], slot: Slot | None = None) -> list[cst.CSTNode]:
        """Where the reply may be stored: in any history, or in that of `slot`; by calls that store what they get."""
        taken = self.derived(function, call, put=True, known=taken)
        stored = self.anatomy.transcript.stored(function)
        places = [s.node for s in stored if (slot is None or s.slot == slot) and _may_be_reply(s)]
        calls = [n for n in function.nodes_of(cst.Call) if self._keeps_reply(n, call, taken)]
        grown = [one.node for one in stored if one.slot == slot and one.role == "assistant" and one.kind in GROWING]
        beside = self._beside(function, calls, grown) if slot is not None else ()
        return [
            *(place for place in places if place is not call),
            *(n for n in calls if ex.dotted(n.func) not in beside),
        ]

    def _beside(self, function: Scope, calls: list[cst.Call], places: list[cst.CSTNode]) -> set[str | None]:
        """The functions that get a reply which is put into the history all the same: they do something else with it."""
        asks = set(self.anatomy.points(function, self.anatomy.turns.requests(function)))
        own = {ex.dotted(place.func) for place in places if isinstance(place, cst.Call)}
        others = {ex.dotted(node.func) for node in calls} - own
        same = (node for node in function.nodes_of(cst.Call) if ex.dotted(node.func) in others)
        return {ex.dotted(node.func) for node in same if self.anatomy.leads(function, [node], places, asks)}

    def stores(
        self,
        function: Scope,
        slot: Slot | None,
        call: cst.Call,
        taken: set[str],
        also: Iterable[cst.CSTNode] = (),
    ) -> set[Point]:
        """The points at which the reply may be stored; an `if` about it or a loop around one, unless it asks for calls.

        That it does, too, if the model is asked again behind it in any case. `also` are other nodes that store it.
        """
        made, asked = self.derived(function, call, put=True, known=taken), self._asked_for(function, slot)
        places = [*self.kept(function, call, taken, slot), *also]
        headers = {place: [*self._headers(function, call, place, made, asked)] for place in places}
        ends = self.ends_past(function, call) if any(headers.values()) else set()
        found = set(self.anatomy.points(function, places))
        for place, around in headers.items():
            if not ends.isdisjoint(self.anatomy.points(function, [place])):
                found.update(point for outer in around for point in self.anatomy.flow(function).at(outer))
        return found

    def _headers(
        self, function: Scope, call: cst.Call, place: cst.CSTNode, made: set[str], asked: set[str]
    ) -> Iterator[cst.CSTNode]:
        """What stands around a place, and not around the request, and is not passed by with a reply."""
        module = self.anatomy.module
        for outer in module.ancestors(place):
            if outer is function.node:
                return
            if type(outer) in _HEADERS and not module.inside(call, outer) and not self._passes_by(outer, made, asked):
                yield outer

    def ends_past(self, function: Scope, call: cst.Call) -> set[Point]:
        """The points from which the function may end in this round; the next piece of a stream is no request."""
        flow, module = self.anatomy.flow(function), self.anatomy.module
        asks = {p for p in self.anatomy.points(function, [call]) if not isinstance(p.statement, cst.For)}
        loops = (outer for outer in module.ancestors(call) if isinstance(outer, cst.For | cst.While))
        asks.update(point for loop in loops if module.inside(call, loop.body) for point in flow.at(loop))
        return flow.around([flow.exit], before=True, avoiding=asks, exceptions=False)

    def _passes_by(self, header: cst.CSTNode, made: set[str], asked: set[str]) -> bool:
        """Whether a header is passed by with a reply: it asks for calls, or for something that is not the reply.

        Not for what the question was stored under, too: `asked`.
        """
        if self.about_calls(header):
            return True
        is_apart = isinstance(header, cst.If) and not is_read_in(header.test, made)
        return is_apart and ex.source(header.test, _LONGEST) not in asked  # type: ignore[attr-defined]

    def _asked_for(self, function: Scope, slot: Slot | None) -> set[str]:
        """The tests under which the question gets into a history."""
        stored = (one for one in self.anatomy.transcript.stored(function) if one.slot == slot and one.role == "user")
        around = (outer for one in stored for outer in self.anatomy.module.ancestors(one.node))
        return {ex.source(outer.test, _LONGEST) for outer in around if isinstance(outer, cst.If)}

    def about_calls(self, header: cst.CSTNode) -> bool:
        """Whether an `if` or loop is about the tool calls of a reply: without any, it is passed by."""
        if isinstance(header, (cst.If, cst.While)):
            return tells_calls(self.anatomy.facts, header.test)
        if not isinstance(header, cst.For) or _goes_through_all(header.iter):
            return False
        return tells_calls(self.anatomy.facts, header.iter)

    def _keeps_reply(self, node: cst.Call, call: cst.Call, taken: set[str]) -> bool:
        """Whether a call may store the reply that it gets: by its name, or that of its object."""
        name = ex.called_name(node)
        if node is call or name in _NO_STORES or is_logging(node) or not self._handed(node, call, taken):
            return False
        if self.anatomy.facts.slots.constructed(node) is not None or self.gets_calls_only(node, call, taken):
            return False
        base = ex.receiver(node)
        owner = (ex.dotted(base) or "").lower() if base is not None else ""
        if name in SHOWING and not _STORES.search(owner):
            return False
        if self._pieces(node, base):
            return False
        return self.anatomy.keeps(node) or self._hands_on(node) or bool(self.anatomy.resources.of(node).made)

    def _hands_on(self, node: cst.Call) -> bool:
        """`to_thread(self.keep, reply)`: whether a function that stores is handed on with the reply."""
        function = self.anatomy.facts.slots.function
        handed = (arg.value for arg in node.args if isinstance(arg.value, (cst.Name, cst.Attribute)))
        return any((run := function(value)) is not None and self.anatomy.writes.does_write(run) for value in handed)

    def _pieces(self, node: cst.Call, base: cst.BaseExpression | None) -> bool:
        """A local list that pieces of the reply are put into is no store, nor is one that gets lost."""
        slot = self.anatomy.facts.slots.of(base)
        if self._is_given_anew(base) and ex.called_name(node) in GROWING and body(self.anatomy, node) is None:
            return True
        if slot is None or slot[0] != "var" or slot[1] is self.anatomy.module.top:
            return False
        if slot[2] in _collectors(self.anatomy, slot[1]) and not self.anatomy.resources.brings_out(node):
            return True
        if self._lost(self.anatomy, slot):
            return True
        assigned = self.anatomy.facts.assigned(slot)
        return bool(assigned) and all(isinstance(v, cst.List) and not v.elements for v in assigned) and (
            Kind.HISTORY not in self.anatomy.facts.of(slot)
        )  # fmt: skip

    def _is_given_anew(self, base: cst.BaseExpression | None) -> bool:
        """Whether a property or a function of the project gives a list of its own, and nobody else has that."""
        callee = body(self.anatomy, base)
        given = isinstance(base, cst.Attribute) or (callee is not None and callee[1].name != "__init__")
        return given and base is not None and is_new(self.anatomy, base)

    def gets_calls_only(self, node: cst.Call, call: cst.Call, taken: Collection[str]) -> bool:
        """`run_tool(tool_call, history)`: what is stored there answers a call, and is not the reply."""
        kinds = [self.anatomy.facts.kinds(value) for value in self._handed(node, call, taken)]
        calls = [not _OF_CALLS.isdisjoint(each) for each in kinds]
        return any(Kind.ARGUMENTS in each for each in kinds) or (bool(calls) and all(calls))

    def _handed(self, node: cst.Call, call: cst.Call, taken: Collection[str]) -> list[cst.BaseExpression]:
        """The arguments of a call that hold the request, or read what was taken from its reply."""
        inside = self.anatomy.module.inside
        return [arg.value for arg in node.args if inside(call, arg.value) or reads(arg.value, taken)]

    def _decoding(self, function: Scope, taken: Collection[str]) -> set[Point]:
        """Where a text of the reply is decoded, which fails where the model has written something else."""
        calls = (call for call in function.nodes_of(cst.Call) if self.anatomy.facts.decoder(call) is not None)
        return set(self.anatomy.points(function, [call for call in calls if reads(call, taken)]))

    def held(
        self, function: Scope, call: cst.Call, barred: Collection[Point], told: Told = MappingProxyType({})
    ) -> dict[Point, frozenset[str]]:
        """The names that hold the reply, or a part of it, where a statement begins; none behind a barred point.

        Only for the points that are reached from the request: a name that is bound to something else holds it no more.
        """
        asks = set(self.anatomy.points(function, [call]))
        decodes = self._decoding(function, self.derived(function, call))

        def after(point: Point, names: frozenset[str] | None) -> frozenset[str] | None:
            if point in barred:
                return None
            if names is None and point not in asks:
                return None
            return self._bound_at(function, point, call, names or frozenset())

        def along(
            point: Point, kind: Edge, before: frozenset[str] | None, behind: frozenset[str] | None
        ) -> frozenset[str] | None:
            if kind == "exception":
                return before if point in decodes else None
            return None if kind == closed_side(point, told) else behind

        found = solve(self.anatomy.flow(function), None, after, _either, along)
        return {point: names or frozenset() for point, names in found.items() if names is not None or point in asks}

    def _bound_at(self, function: Scope, point: Point, call: cst.Call, names: frozenset[str]) -> frozenset[str]:
        """The names that hold the reply behind a point."""
        own, bound = self.anatomy.module.self_name(function), _by_node(self.anatomy, function)
        for each in filter(None, map(bound.get, _binding(point))):
            if self.anatomy.module.inside(call, each.value) or reads(each.value, names):
                targets = [part for target in each.targets for part in self._told_apart(each.value, target)]
                held = {name for target in targets for name in roots(target, own)}
                names |= held - self.anatomy.module.imports.full.keys()
            elif not each.collects and not isinstance(each.node, cst.AugAssign):
                names = names.difference(target.value for target in each.targets if isinstance(target, cst.Name))
        return names

    def is_there(self, function: Scope, call: cst.Call) -> Says:
        """What a test gives where the request of a function has given a reply that says something.

        Of what is looked for in its text nothing is known: `command = text.partition("RUN")[2]`.
        """
        taken, kinds = self.derived(function, call), self.anatomy.facts.kinds
        sought = {name for name in taken if any(map(_is_sought, bound_values(self.anatomy, function, name)))}

        def atom(part: cst.BaseExpression) -> bool | None:
            whole = _stripped(part)
            is_place = isinstance(whole, _PLACES) and not (taken - sought).isdisjoint(roots(whole))
            return True if is_place and not _SAID.isdisjoint(kinds(whole)) else None  # type: ignore[arg-type]

        return lambda node: evaluate(node.test, atom) if isinstance(node, (cst.If, cst.While)) else None


def _stripped(value: cst.CSTNode) -> cst.CSTNode:
    """`text` of `text.strip()`."""
    is_strip = isinstance(value, cst.Call) and not value.args and ex.called_name(value) == "strip"
    return (ex.receiver(value) if is_strip else None) or value


def _is_sought(value: cst.CSTNode) -> bool:
    """Whether a text method gives a part of a text, or none: `text.partition("RUN")[2]`, `text.split()[1:]`."""
    value = _stripped(value)
    while isinstance(value, (cst.Attribute, cst.Subscript)):
        value = value.value
    return isinstance(value, cst.Call) and ex.called_name(value) in _SEEKS


def stores_by_name(call: cst.Call) -> bool:
    """Whether a call stores what it gets, as far as its name and that of its object tell; `set(ids)` does not."""
    if type(call.func) is cst.Name and call.func.value in {"set", "frozenset"}:
        return False
    return bool(_STORING.search(ex.called_name(call).lower())) or is_store(ex.receiver(call))


def is_store(owner: cst.BaseExpression | None) -> bool:
    """Whether an object is a store, by its name."""
    name = (ex.dotted(owner) or "").lower() if owner is not None else ""
    return _STORES.search(name) is not None


def _bound(node: cst.CSTNode) -> tuple[cst.CSTNode | None, list[cst.CSTNode]]:
    if isinstance(node, cst.Assign):
        return node.value, [t.target for t in node.targets]
    if isinstance(node, (cst.AnnAssign, cst.AugAssign, cst.NamedExpr)):
        return node.value, [node.target]
    if isinstance(node, (cst.For, cst.CompFor)):
        return node.iter, [node.target]
    if isinstance(node, cst.WithItem) and node.asname is not None:
        return node.item, [node.asname.name]
    if isinstance(node, cst.Call) and node.args and ex.called_name(node) in GROWERS:
        base = ex.receiver(node)
        return node.args[-1].value, [base] if base is not None else []
    return None, []


@record
class _Bound:
    """What a node of a function binds, or puts something into; `read` are the names that its value is made of, and
    `mentioned` those of which it tells anything."""

    node: cst.CSTNode
    value: cst.CSTNode
    targets: list[cst.CSTNode]
    read: frozenset[str]
    mentioned: frozenset[str]
    collects: bool = False
    """It hands something to an object of the function's own, which gives it back in its way."""

    @property
    def renews(self) -> tuple[str, ...]:
        """The names of the function that it binds to something else; what is put into an object leaves it the same."""
        puts = isinstance(self.node, (cst.Call, cst.CompFor))
        return () if puts else tuple(_bound_names(self))


@kept
def _bindings(anatomy: Anatomy, function: Scope) -> tuple[_Bound, ...]:
    """In source order."""
    collectors = _collectors(anatomy, function)
    found: list[_Bound] = []
    for node in function.nodes_of(*_BINDING, cst.Call):
        value, targets = _bound(node)
        base = ex.receiver(node) if isinstance(node, cst.Call) and node.args else None
        collects = isinstance(base, cst.Name) and base.value in collectors
        if collects and isinstance(node, cst.Call) and base is not None:
            value, targets = node.args[-1].value, [base]
        if value is not None:
            read = frozenset(names_read(value)), frozenset(names_read(value, about=True))
            found.append(_Bound(node, value, targets, *read, collects))
    own = {name for each in found for name in each.renews}.union(parameter_names(function))
    # the variables of a comprehension are others than those of the function, whatever they are called
    return tuple(each for each in found if not isinstance(each.node, cst.CompFor) or own.isdisjoint(_bound_names(each)))


def _bound_names(bound: _Bound) -> set[str]:
    """The names of all its targets."""
    return {name for target in bound.targets for name in ex.target_names(target)}


@kept
def _collectors(anatomy: Anatomy, function: Scope) -> frozenset[str]:
    """The names of objects of the project that a function makes, and of which it only uses methods and attributes."""
    made = {
        node.targets[0].target.value: node.value
        for node in function.nodes_of(cst.Assign)
        if isinstance(node.value, cst.Call) and isinstance(node.targets[0].target, cst.Name)
        and made_class(anatomy, node.value) is not None
    }  # fmt: skip
    for name in function.nodes_of(cst.Name) if made else ():
        outer = anatomy.module.parent[name]
        if name.value in made and not isinstance(outer, (cst.Attribute, cst.AssignTarget)):
            del made[name.value]
    return frozenset(made)


@kept
def _renewed(anatomy: Anatomy, function: Scope) -> frozenset[str]:
    """The names of a function that are bound more than once: they may hold something here, and not there."""
    bound = Counter(parameter_names(function))
    for each in _bindings(anatomy, function):
        bound.update(each.renews)
    return frozenset(name for name, times in bound.items() if times > 1)


class _Held:
    """Which definitions of its names hold something, where a function binds a name more than once."""

    def __init__(self, anatomy: Anatomy, function: Scope, known: Iterable[str]) -> None:
        self._anatomy = anatomy
        self._function = function
        self._always = {*known}
        self._points: dict[str, set[Point]] = {}

    def reaches(self, names: Iterable[str], bound: _Bound) -> bool:
        """Whether one of some names that hold it somewhere holds it where something is bound."""
        return any(name in self._always or self._is_held(name, bound) for name in names)

    def note(self, names: Iterable[str], bound: _Bound) -> None:
        """That some names hold it behind a binding."""
        renewed = _renewed(self._anatomy, self._function)
        for name in names:
            if name not in renewed:
                self._always.add(name)
            else:
                here = self._at(bound)
                new = here if name in bound.renews else self._definitions(name, here)
                self._points.setdefault(name, set()).update(new)

    def _is_held(self, name: str, bound: _Bound) -> bool:
        here = self._definitions(name, self._at(bound))
        return not here or not here.isdisjoint(self._points.get(name, ()))

    def _definitions(self, name: str, here: list[Point]) -> set[Point]:
        reaching = self._anatomy.reaching(self._function)
        return {found.point for point in here for found in reaching.at(point, name)}

    def _at(self, bound: _Bound) -> list[Point]:
        return self._anatomy.points(self._function, [bound.node])


@kept
def _values(anatomy: Anatomy, function: Scope) -> dict[str, list[cst.CSTNode]]:
    found: dict[str, list[cst.CSTNode]] = {}
    for each in _bindings(anatomy, function):
        for name in {name for target in each.targets for name in roots(target)}:
            found.setdefault(name, []).append(each.value)
    return found


def bound_values(anatomy: Anatomy, function: Scope, name: str) -> list[cst.CSTNode]:
    """What a name of a function is bound to, and what is put into it."""
    return _values(anatomy, function).get(name, [])


@kept
def _by_node(anatomy: Anatomy, function: Scope) -> dict[cst.CSTNode, _Bound]:
    """What binds names of a function, or collects in its objects."""
    return {
        each.node: each for each in _bindings(anatomy, function) if each.collects or type(each.node) is not cst.Call
    }


def _binding(point: Point) -> Iterator[cst.CSTNode]:
    """What may bind names at a point, in its order."""
    if isinstance(point.statement, cst.For):
        yield point.statement
    yield from (node for part in point.expressions() for node in walk_scope(part))


def _either(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return one | other if one is not None and other is not None else one if other is None else other


def roots(target: cst.CSTNode, own: str | None = None) -> Iterator[str]:
    """The names that a target binds; of `x.y` and `x["y"]` the name x, which then holds it.

    Of the object whose method it is, by its name `own`, the attribute: `self.y`.
    """
    while isinstance(target, (cst.Attribute, cst.Subscript)):
        if _attribute(target).rpartition(".")[0] == own:
            yield _attribute(target)
            return
        target = target.value
    yield from (name for name in ex.target_names(target) if name != own)


def _attribute(node: cst.CSTNode) -> str:
    """`x.y`, as code; empty for anything else."""
    is_one = type(node) is cst.Attribute and type(node.value) is cst.Name
    return f"{node.value.value}.{node.attr.value}" if is_one else ""  # type: ignore[attr-defined]


def is_read(node: cst.CSTNode, names: Collection[str]) -> bool:
    """Whether a node is one of the names that hold something."""
    return _name(node) in names


def _name(node: cst.CSTNode) -> str:
    """`x` and `x.y`, as they may hold something; empty for anything else."""
    return node.value if type(node) is cst.Name else _attribute(node)


def reads(value: cst.CSTNode, names: Collection[str]) -> bool:
    """Whether a value is made of what these names hold."""
    return bool(names) and any(name in names for name in names_read(value))


def names_read(value: cst.CSTNode, *, about: bool = False) -> Iterator[str]:
    """The names of which a value is made; what a response says of itself is not the reply, but `about` it.

    Nor is a verdict on it, or what a verdict chooses: `"Saved." if text.startswith("saved") else "Not saved."`,
    `[row for row in rows if row not in saved]`; nor the key under which something is looked up. The names of a
    comprehension are known nowhere else.
    """
    stack: list[tuple[cst.CSTNode, frozenset[str]]] = [(value, frozenset())]
    while stack:
        node, inner = stack.pop()
        if isinstance(node, cst.BaseComp):
            inner |= {name for part in walk(node) if type(part) is cst.CompFor for name in ex.target_names(part.target)}
        if (name := _name(node)) and name.partition(".")[0] not in inner:
            yield name
        if type(node) is cst.IfExp:
            stack += [(node.body, inner), (node.orelse, inner)]
        elif type(node) is not cst.CompIf and not is_verdict(node) and (about or not _is_about(node)):
            found = [] if about else _looked_up(node)
            stack += [(child, inner) for child in found or children(node)]


def _looked_up(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """`talks` of `talks[key]`, and what is there instead: `talks.get(key, [])`; empty for what looks up nothing."""
    if isinstance(node, cst.Subscript):
        return [node.value] if ex.slice_of(node) is None else []
    base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) in {"get", "setdefault"} else None
    given = ex.positional(node) if isinstance(node, cst.Call) else []
    return [base, given[1]] if base is not None and len(given) == 2 else []


def _is_about(node: cst.CSTNode) -> bool:
    """`response.status_code`, `result.get("session_id")`: what a response says of itself, or of its conversation."""
    pair = ex.member(node)
    return pair is not None and (pair[1] in _ABOUT or pair[1].endswith("_id"))


def is_verdict(node: cst.CSTNode) -> bool:
    """Whether a value is true or false, or a number, of something (Python documentation, "Built-in Functions")."""
    if isinstance(node, cst.Call):
        verdicts = _VERDICTS if isinstance(node.func, cst.Name) else _VERDICTS_OF_TEXTS  # `rows.all()` gives all rows
        return ex.called_name(node) in verdicts
    return isinstance(node, cst.Comparison) or (
        isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)
    )


def is_read_in(value: cst.CSTNode, names: set[str]) -> bool:
    """Whether a name that holds something stands in a value."""
    return any(is_read(node, names) for node in walk(value))


def holds(values: Iterable[cst.CSTNode], node: cst.CSTNode, names: set[str]) -> bool:
    """Whether values are made of a node, or of what these names hold."""
    parts = (part for value in values for part in walk(value))
    return any(part is node or is_read(part, names) for part in parts)


def _goes_through_all(iterated: cst.BaseExpression) -> bool:
    """Whether a loop goes through all parts of a reply, of which some may be calls: `for part in reply.output`."""
    pair = ex.member(all_of(iterated))
    return pair is not None and pair[1] in _PARTS


def _may_be_reply(stored: Stored) -> bool:
    """Whether what is stored may be the reply, or makes it needless: anything but other people's messages."""
    return stored.kind not in GROWING or stored.role in {None, "assistant"}
