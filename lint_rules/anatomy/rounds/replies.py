"""What a function reads of a model's reply: its text, its tool calls, or more than can be seen."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import texts_in
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.read_back import read_back
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.rounds.offers import Offer, Returned, offer_of_callers, offers, places_of_calls
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import BLOCKS, REASONS, may_mark_a_call
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import last_statement

_OF_CALLS = frozenset(
    {
        "tool_calls", "function_call", "function_calls", "finish_reason", "stop_reason", "done_reason", "type",
        "additional_kwargs", "invalid_tool_calls", "status", "stopReason", "toolUse", "functionCall",
    }
)  # fmt: skip
"""Parts of a reply that tell of its calls."""
_CALLS = frozenset({"tool_calls", "function_call", "function_calls"})
_TEXTS = frozenset({"content", "text", "output_text", "text_stream"})
_ON_THE_WAY = frozenset(
    {"choices", "message", "messages", "delta", "data", "response", "output", "content", "[]", "parts", "candidates"}
)
_GEMINI = frozenset({("text",), ("candidates", "[]", "content", "parts", "[]", "text")})
_TEXT_WAYS = {
    "messages": frozenset({("content", "[]", "text"), ("text_stream",)}),
    "converse": frozenset({("output", "message", "content", "[]", "text")}),
    "generate_content": _GEMINI,
    "generate_content_async": _GEMINI,
    "send_message": _GEMINI,
}
"""Where the text of a reply is, by the first name of the endpoint: Anthropic, Bedrock, Gemini."""
_WAITS = frozenset({"wait_for", "shield", "create_task", "ensure_future"})
_BODIES = frozenset(
    {"json", "parse", "model_dump", "to_dict", "get_final_message", "get_final_completion", "get_final_response"}
)
"""Methods that give the whole reply in another form, or when its stream has ended."""
_LOOKERS = frozenset({"len", "bool", "isinstance", "hasattr", "type", "id"})
_STEPS = 40
_AROUND_VALUES = (cst.Call, cst.BaseStatement)
_ALONE: frozenset[Scope] = frozenset()


@record
class Read:
    """What is read of one reply. `text` is where its text is; `calls` says that its calls are looked for.

    `handed_on` says that somebody else gets the reply, who may look for them; `seen`, where they are looked at, and
    nothing is done: a log, a test that decides nothing. `returned` are the parts that callers get. `by` are those
    functions that read. `stored` says that the whole of it goes into a history of which nobody takes calls.
    """

    text: cst.BaseExpression | None
    calls: bool
    handed_on: bool
    seen: cst.CSTNode | None = None
    returned: frozenset[Returned] = frozenset()
    by: frozenset[Scope] = frozenset()
    stored: bool = False

    @property
    def looks_further(self) -> bool:
        """Whether more is done with the reply than to give it back."""
        return self.calls or self.handed_on or self.text is not None

    @property
    def gives_text(self) -> bool:
        """Whether callers get nothing but the text that is read here."""
        read = ex.member(self.text) if self.text is not None else None
        return read is not None and {way[-1:] for way, _ in self.returned} == {(read[1],)}


def replies(anatomy: Anatomy) -> Iterator[tuple[Offer, Read]]:
    """All that offer tools, with what is read of the replies; then the calls of functions that give these back."""
    queue = deque(offers(anatomy))
    seen = set[cst.CSTNode]()
    while queue:
        offer = queue.popleft()
        read = read_of(anatomy, offer)
        yield offer, read
        if read.returned:
            new = [each for each in offer_of_callers(anatomy, offer, read.returned) if each.call not in seen]
            if not read.looks_further or any(read_of(anatomy, each).calls for each in new):
                seen.update(each.call for each in new)
                queue.extend(new)


def read_of(anatomy: Anatomy, offer: Offer) -> Read:
    """Follows the reply through the names of the function that asks for it, and of functions that are handed it."""
    function = anatomy.module.scope_of[offer.call].function
    name = anatomy.facts.calls[offer.request].name
    return _Reader(anatomy, function, offer.places, name).read(offer.call, offer.parts)


class _Reader:
    def __init__(
        self, anatomy: Anatomy, function: Scope, places: frozenset[str], request: str, within: frozenset[Scope] = _ALONE
    ) -> None:
        """`within` are the functions by which the reply has come to this one."""
        self._anatomy = anatomy
        self._places = places
        self._request = request
        self._text_ways = _TEXT_WAYS.get(request.partition(".")[0], frozenset())
        stored = anatomy.transcript.stored(function)
        self._kept = {one.message.node for one in stored if one.calls is not None and one.message is not None}
        self._module = anatomy.module
        self._function = function
        self._within = within | {function}
        self._steps = 0
        self._text: cst.BaseExpression | None = None
        self._calls = False
        self._handed_on = False
        self._stored = False
        self._seen: cst.CSTNode | None = None
        self._returned: set[Returned] = set()
        self._by = {function}

    def read(self, call: cst.Call, parts: frozenset[Returned]) -> Read:
        """What is read of some parts of the reply, which a call gives, as they are or in a tuple."""
        here, _ = self._climb(call, ())
        parent = self._module.parent[here]
        target = ex.targets(parent)[0] if isinstance(parent, (cst.Assign, cst.AnnAssign)) else None
        for way, place in sorted(parts):
            if not place:
                self._value(call, way)
            elif isinstance(target, cst.Tuple) and int(place) < len(target.elements):
                self._bound(target.elements[int(place)].value, parent, way)
            else:
                self._handed_on = True
        return self._read

    @property
    def _read(self) -> Read:
        return Read(
            self._text,
            self._calls,
            self._handed_on,
            self._seen,
            frozenset(self._returned),
            frozenset(self._by),
            self._stored,
        )

    def handed(self, parameter: Slot, way: tuple[str, ...]) -> Read:
        """What the function reads of a reply that it gets in a parameter; all, where it sets that anew."""
        for use in self._anatomy.facts.names.get(parameter, ()):
            if self._is_bound(use):
                self._handed_on |= not isinstance(self._module.parent[use], cst.Param)
            else:
                self._value(use, way)
        return self._read

    def _value(self, value: cst.CSTNode, way: tuple[str, ...]) -> None:
        """One expression that is the reply, or the part of it at `way`."""
        self._steps += 1
        if self._steps > _STEPS:
            self._handed_on = True
            return
        here, way = self._climb(value, way)
        if place := self._place_given(here):
            self._returned.add((way, place))
        elif way and way[0].isdigit():
            self._part(here, way[0])
        elif any(name in _OF_CALLS for name in way) or self._is_list_of_calls(here, way):
            self._told_of_calls(here, way)
        elif way and way[-1] in _TEXTS and isinstance(here, cst.BaseExpression) and self._is_text(here, way):
            self._text = self._text or here
        elif all(name in _ON_THE_WAY for name in way):
            self._whole(here, way)

    def _is_list_of_calls(self, node: cst.CSTNode, way: tuple[str, ...]) -> bool:
        """Whether a part of the reply has its calls, whatever the program calls it: `piece.wishes`."""
        named = bool(way) and way[-1] not in _ON_THE_WAY | _TEXTS
        return named and isinstance(node, cst.BaseExpression) and self._anatomy.facts.is_kind(node, Kind.CALLS)

    def _told_of_calls(self, node: cst.CSTNode, way: tuple[str, ...]) -> None:
        """A part that tells of calls: it is read for them, unless nothing comes of what is seen there."""
        if way[-1] == "type" and self._passes_over(node):
            return
        if way[-1] in REASONS and self._text_ways is _GEMINI:  # whose replies with calls end as all others do
            return
        if not self._kept.isdisjoint([node, *self._module.ancestors(node)]):
            self._stored = True  # to be sent again as they are
        elif not self._is_idle(node):
            self._calls = True
        elif not _CALLS.isdisjoint(way):
            self._seen = self._seen or node

    def _passes_over(self, node: cst.CSTNode) -> bool:
        """Whether a part's type is asked for to take what is no call, and the others are passed over."""
        test = self._module.parent[node]
        taken, outer = self._takes_calls(test), self._module.parent[test]
        if taken is None or taken:
            return taken is True and isinstance(outer, cst.If) and isinstance(last_statement(outer.body), cst.Continue)
        while isinstance(outer, cst.BooleanOperation) and isinstance(outer.operator, cst.And):
            outer = self._module.parent[outer]
        while isinstance(outer, cst.If) and outer.orelse is not None:
            outer = outer.orelse
        return isinstance(outer, (cst.If, cst.CompIf))

    def _takes_calls(self, test: cst.CSTNode) -> bool | None:
        """What a test of the type of a part gives for a call, where it asks for other types; else None."""
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return None
        left, operator, right = ex.compared(test)
        values = [right, *self._anatomy.facts.values_of(right)]
        types = {said for value in values for said in texts_in(value)}
        typed = (ex.member(left) or (None, ""))[1] == "type" and bool(types)
        if not typed or any(map(may_mark_a_call, types)):
            return None
        return isinstance(operator, (cst.NotEqual, cst.NotIn))

    def _is_idle(self, node: cst.CSTNode) -> bool:
        """Whether a value is only logged, or stands in a test that decides nothing: `if message.tool_calls: pass`."""
        here = node
        for outer in self._module.ancestors(node):
            if isinstance(outer, cst.Call) and handlers.is_logging(outer):
                return _is_log(outer)
            if isinstance(outer, cst.If):
                return here is outer.test and outer.orelse is None and _does_nothing(outer.body)
            if isinstance(outer, cst.For):
                return here is outer.iter and outer.orelse is None and _does_nothing(outer.body)
            if isinstance(outer, cst.BaseSmallStatement):
                if not isinstance(outer, (cst.Assign, cst.AnnAssign)) or outer.value is not node:
                    return False
                target = ex.targets(outer)[0]
                if not isinstance(target, cst.Name) or self._function.kind == "module":
                    return False
                return all(map(self._is_idle, self._uses(target, outer)))
            here = outer
        return False

    def _part(self, node: cst.CSTNode, place: str) -> None:
        """What is done with one part of the tuple that a wrapper gives: its calls, or anything else."""
        if handlers.shown_only(self._module, node):
            return
        if place in self._places:
            self._calls = True
        elif isinstance(node, cst.BaseExpression):
            self._text = self._text or node

    def _climb(self, value: cst.CSTNode, way: tuple[str, ...]) -> tuple[cst.CSTNode, tuple[str, ...]]:
        """Outwards through members, elements and awaits."""
        while True:
            parent = self._module.parent[value]
            if isinstance(parent, cst.Await) or _may_be(parent, value):
                value = parent
                continue
            if isinstance(parent, cst.DictElement) and self._is_whole_there(parent, value, way):
                value, way = self._module.parent[parent], way[:-1]
                continue
            pair = ex.member(parent)
            if isinstance(parent, (cst.Arg, cst.Attribute)):
                outer = self._module.parent[parent]
                if isinstance(outer, cst.Call) and _is_same(outer, parent):
                    value = outer
                    continue
                if way and way[-1] in _TEXTS and isinstance(outer, cst.Call) and outer.func is parent:
                    return value, way  # `content.strip()` is made of the text
                taken = ex.member(outer)  # reply.get("tool_calls"), getattr(reply, "tool_calls", None)
                if taken is not None and taken[0] is value:
                    parent, pair = outer, taken
            if pair is not None and pair[0] is value:
                value, way = parent, (*way, pair[1])
            elif isinstance(parent, cst.Subscript) and parent.value is value:
                value, way = parent, (*way, "[]")
            else:
                return value, way

    def _is_whole_there(self, element: cst.DictElement, value: cst.CSTNode, way: tuple[str, ...]) -> bool:
        """`{"content": reply.content}` of a reply of blocks: all that it says, and its calls, is in there as it was."""
        if not way or way[-1] not in BLOCKS or ex.text(element.key) != way[-1]:
            return False
        return isinstance(value, cst.BaseExpression) and not self._is_text(value, way)

    def _is_text(self, node: cst.BaseExpression, way: tuple[str, ...]) -> bool:
        """`message.content` of chat completions and chat models, `content[0].text` of a message of blocks.

        The `text` of a wrapper's reply may be anything, calls among it, but where these have a place of their own.
        """
        if way[-1] == "output_text" or "choices" in way or way in self._text_ways or self._has_calls_beside(node):
            return True
        gone_through = isinstance(self._module.parent[node], (cst.For, cst.CompFor))
        known = bool(self._text_ways) or gone_through or self._anatomy.facts.is_kind(node, Kind.CALLS)
        return way[-1] == "content" and not known and way in {("content",), ("message", "content")}

    def _has_calls_beside(self, text: cst.BaseExpression) -> bool:
        """Whether what a text is read of has its calls in another place: `said.wanted` beside `said.text`."""
        facts, pair = self._anatomy.facts, ex.member(text)
        whole = facts.slots.of(pair[0]) if pair is not None else None
        if pair is None or whole is None or facts.is_kind(text, Kind.CALLS):
            return False
        return bool(places_of_calls(self._anatomy, self._module.top).get(whole, set()) - {pair[1]})

    def _whole(self, node: cst.CSTNode, way: tuple[str, ...]) -> None:
        """The reply or a part with everything in it: assigned, gone through, or handed to somebody who may look."""
        parent = self._module.parent[node]
        if isinstance(parent, (cst.Expr, cst.Del)) or self._is_other(node):
            return
        made = self._module.parent[parent] if isinstance(parent, cst.Arg) else parent
        if _is_made_text(made) and not handlers.shown_only(self._module, node):
            self._text = self._text or (node if isinstance(node, cst.BaseExpression) else None)
            return
        if isinstance(parent, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
            targets = ex.targets(parent)
            for target in targets:
                self._bound(target, parent, way)
        elif (place := self._place_given(node)) is not None:
            self._returned.add((way, place))
        elif isinstance(parent, cst.WithItem) and parent.asname is not None:
            self._bound(parent.asname.name, self._module.parent[parent], way)
        elif isinstance(parent, (cst.For, cst.CompFor)) and parent.iter is node:
            self._bound(parent.target, parent, (*way, "[]") if way else way)
        elif self._is_stored(node):
            self._stored = True
        elif not self._is_looked_at(node, parent) and not self._is_read_by_callee(node, parent, way):
            self._handed_on = True

    def _is_other(self, node: cst.CSTNode) -> bool:
        """Whether a part stands where it is known by its type to be no call."""
        for tested, holds in passed(self._module, node, self._function.node) if isinstance(node, cst.Name) else ():
            asked = ex.member(tested.test.left) if isinstance(tested.test, cst.Comparison) else None
            if asked is not None and ex.source(asked[0]) == ex.source(node):
                if self._takes_calls(tested.test) is (not holds):
                    return True
        return False

    def _place_given(self, node: cst.CSTNode) -> str | None:
        """The place at which the function gives something back: "" for it alone, a number in a tuple; None if not."""
        parent, place = self._module.parent[node], ""
        if isinstance(parent, cst.Element) and isinstance(given := self._module.parent[parent], cst.Tuple):
            place, parent = str(given.elements.index(parent)), self._module.parent[given]
        own = isinstance(parent, cst.Return) and self._module.scope_of[node].function is self._function
        return place if own else None

    def _is_read_by_callee(self, node: cst.CSTNode, parent: cst.CSTNode, way: tuple[str, ...]) -> bool:
        """Whether a function of the project gets it; what that reads is read, and what it gives back is the text."""
        call = self._module.parent[parent] if isinstance(parent, cst.Arg) else None
        if not isinstance(call, cst.Call):
            return False
        found = body(self._anatomy, call)
        if found is None or found[1] in self._within:
            return False
        there, function = found
        bound = there.facts.slots.bindings(call, function)
        parameter = next((slot for slot, value in bound if value is node), None)
        if parameter is None:
            return False
        read = _Reader(there, function, self._places, self._request, self._within).handed(parameter, way)
        self._calls |= read.calls
        self._handed_on |= read.handed_on
        self._stored |= read.stored
        self._by |= read.by
        for part, place in read.returned:
            if place or len(read.returned) > 1:
                self._handed_on = True
            else:
                self._value(call, part)
        if read.text is not None:
            self._text = self._text or call
        return True

    def _is_stored(self, node: cst.CSTNode) -> bool:
        """Whether it goes into a history of which nobody takes calls, and which nobody gets behind that but a model."""
        outers = itertools.takewhile(lambda n: not isinstance(n, _AROUND_VALUES), self._module.ancestors(node))
        around = {node, *outers}
        puts = _puts(self._anatomy, self._function)
        place = next((puts[part] for part in around if part in puts), None)
        if place is None or place.slot is None:
            return False
        read = read_back(self._anatomy, place.slot)
        return read is not None and all(self._is_over(node, place.node) for node in read)

    def _is_over(self, node: cst.CSTNode, write: cst.CSTNode) -> bool:
        """Whether what a node does is done before anything is written at another."""
        own = self._module.scope_of[node].function is self._function
        return own and not self._anatomy.leads(self._function, [write], [node])

    def _is_looked_at(self, node: cst.CSTNode, parent: cst.CSTNode) -> bool:
        """Whether it is tested or shown, no more."""
        if isinstance(parent, (cst.If, cst.While, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget)):
            return True
        if _is_condition(parent, node):
            return True
        if isinstance(parent, cst.Arg):
            call = self._module.parent[parent]
            if isinstance(call, cst.Call) and ex.dotted(call.func) in _LOOKERS:
                if ex.dotted(call.func) == "hasattr" and _asks_for_calls(call):
                    self._told_of_calls(call, (ex.text(call.args[1].value) or "",))
                return True
        return handlers.shown_only(self._module, node)

    def _bound(self, target: cst.BaseExpression, statement: cst.CSTNode, way: tuple[str, ...]) -> None:
        if isinstance(target, cst.Tuple) and self._places and not way:
            for place, element in enumerate(target.elements):
                self._bound(element.value, statement, (str(place),))
        elif isinstance(target, cst.Name):
            for use in self._uses(target, statement):
                self._value(use, way)
        else:
            self._handed_on = True

    def _is_bound(self, node: cst.Name) -> bool:
        parent = self._module.parent[node]
        if isinstance(parent, (cst.For, cst.CompFor, cst.NamedExpr, cst.AnnAssign, cst.AugAssign)):
            return parent.target is node
        if isinstance(parent, cst.AsName):
            return True
        return isinstance(parent, (cst.AssignTarget, cst.Param))

    def _uses(self, target: cst.Name, statement: cst.CSTNode) -> Iterator[cst.Name]:
        """Where a name may have the value that `statement` gave it."""
        name, slot = target.value, self._anatomy.facts.slots.of(target)
        if isinstance(statement, cst.CompFor):
            comprehension = self._module.parent[statement]
            for node in self._function.nodes:
                if isinstance(node, cst.Name) and node.value == name and self._module.inside(node, comprehension):
                    if node is not statement.target:
                        yield node
            return
        if isinstance(statement, cst.NamedExpr):
            statement = self._module.statement(statement)
        if slot is None:
            return
        read = self._anatomy.readers(self._function, slot).get(statement, [])
        nested = [
            node
            for inner in self._module.nested(self._function)  # which may run at any time
            for node in inner.named(name)
            if self._anatomy.facts.slots.of(node) == slot
        ]
        found = sorted((*read, *nested), key=self._module.order.__getitem__) if nested else read
        yield from (node for node in found if not self._is_bound(node))


@kept
def _puts(anatomy: Anatomy, function: Scope) -> dict[cst.CSTNode, Stored]:
    """What a function puts into histories, each with its place: the value of its own write, what a store is handed."""
    found: dict[cst.CSTNode, Stored] = {}
    for stored in anatomy.transcript.stored(function):
        given: list[cst.CSTNode] = []
        if stored.write is None and isinstance(stored.node, cst.Call):
            given = [arg.value for arg in stored.node.args]
            for value in given:
                encoded = isinstance(value, cst.Call) and anatomy.facts.encoder(value) is not None
                given += [arg.value for arg in value.args] if encoded and isinstance(value, cst.Call) else []
        elif stored.write is not None and stored.write.function is function and stored.write.value is not None:
            given = [stored.write.value]
        found |= dict.fromkeys(given if stored.kind in GROWING else (), stored)
    return found


def _may_be(outer: cst.CSTNode, value: cst.CSTNode) -> bool:
    """Whether an expression is a part of it, or something else: `reply or {}`, `parts[0] if parts else None`."""
    if isinstance(outer, cst.IfExp):
        return value is not outer.test
    return isinstance(outer, cst.BooleanOperation) and not _is_condition(outer, value)


def _is_condition(outer: cst.CSTNode, value: cst.CSTNode) -> bool:
    """Whether an expression only asks whether there is any: `reply and reply.text`, `x if reply else y`."""
    if isinstance(outer, cst.BooleanOperation):
        return isinstance(outer.operator, cst.And) and outer.left is value
    return isinstance(outer, cst.IfExp) and outer.test is value


def _is_same(call: cst.Call, part: cst.CSTNode) -> bool:
    """Whether a call gives what it gets, or what its method is of, in another form: `wait_for(x, 5)`, `x.json()`."""
    return ex.called_name(call) in (_BODIES if call.func is part else _WAITS)


def _is_made_text(outer: cst.CSTNode) -> bool:
    """`str(reply)`, `f"{reply}"`."""
    return isinstance(outer, cst.FormattedStringExpression) or (
        isinstance(outer, cst.Call) and ex.dotted(outer.func) in {"str", "repr"}
    )


def _does_nothing(body: cst.BaseSuite) -> bool:
    """Whether a block is empty, or writes a log."""
    lines = [
        part for line in body.body for part in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    ]
    return all(
        isinstance(line, cst.Pass)
        or (isinstance(line, cst.Expr) and not isinstance(line.value, (cst.Call, cst.Await, cst.Yield)))
        or (isinstance(line, cst.Expr) and isinstance(line.value, cst.Call) and _is_log(line.value))
        for line in lines
    )


def _is_log(call: cst.Call) -> bool:
    """Whether a call writes a log: what is printed, somebody may have asked for."""
    return handlers.is_logging(call) and "print" not in ex.called_name(call)


def _asks_for_calls(call: cst.Call) -> bool:
    return len(call.args) > 1 and ex.text(call.args[1].value) in _OF_CALLS
