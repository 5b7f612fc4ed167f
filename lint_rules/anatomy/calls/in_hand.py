"""One tool call in hand: what is made of it, who gets it, and what a test says of it."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.calls.answers import NO_ANSWER, by_name
from lint_rules.anatomy.program.handlers import is_logging, shown_only
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.walk import walk_scope
from lint_rules.syntax.ways import ways_through
from lint_rules.syntax.word import meaning

_SETTLING = frozenset({"append", "add", "put", "put_nowait", "appendleft", "insert", "extend", "setdefault", "push"})
_CALL_TAGS = words.CALL_TAGS | {"function", "tool-call", "functionCall", "custom_tool_call", "tool"}
CALL_MEMBERS = frozenset({"toolUse", "functionCall", "function_call", "tool_use", "tool_call"})
_VALID = frozenset(
    {"id", "call_id", "tool_call_id", "name", "function", "tool_name", "toolUseId", "function_name", "complete"}
)
_OTHER_PARTS = frozenset({"text", "thinking", "inline_data", "executable_code", "thought"})
_DISPLAYS = (cst.Tuple, cst.List, cst.Set)
_UNTOLD = (None, False)
_OF_CALLS = frozenset({Kind.CALLS, Kind.CALL, Kind.FUNCTION, Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})


def _each(loop: cst.For | cst.CompFor) -> cst.BaseExpression:
    """What a loop binds of each element: `call` of `for number, call in enumerate(calls)`; nobody wrote the number."""
    counts = isinstance(loop.iter, cst.Call) and ex.called_name(loop.iter) == "enumerate"
    pair = isinstance(loop.target, cst.Tuple) and len(loop.target.elements) == 2
    return loop.target.elements[1].value if counts and pair else loop.target  # type: ignore[attr-defined]


class InHand:
    """One tool call that a region of a function has in hand: `slot` names it, others are made of it."""

    def __init__(self, facts: Facts, slot: Slot, region: list[cst.CSTNode], key: Slot | None = None) -> None:
        self.facts = facts
        self.slot = slot
        self.key = key
        self.arguments: set[Slot] = set()
        self.derived: set[Slot] = set()
        self.ids: set[Slot] = set()
        self.plain: set[Slot] = set()
        self.stands: set[Slot] = set()
        self.types: set[Slot] = set()
        self.told: dict[Slot, tuple[bool | None, bool]] = {}
        for node in region:  # in source order: what a value is made of is bound before it
            if isinstance(node, (cst.Assign, cst.AnnAssign, cst.NamedExpr)) and node.value is not None:
                for target in ex.targets(node):
                    self._bound(target, node.value)
            elif isinstance(node, (cst.For, cst.CompFor)) and self._goes_through(node.iter):  # `for call in calls`
                slots = (facts.slots.of(part) for part in walk_scope(_each(node)) if type(part) is cst.Name)
                self.derived.update(slot for slot in slots if slot is not None)

    def also(self, slots: Iterable[Slot | None]) -> None:
        """These stand for the call as well: `for raw, call in parsed`."""
        others = {slot for slot in slots if slot is not None and slot != self.slot}
        self.derived |= others
        self.plain |= others
        self.stands |= others

    def _bound(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        made = self.mentions(value)
        for name, part in ex.unpacked(target, value):
            slot = self.facts.slots.of(name)
            if slot is None or slot == self.slot:
                continue
            # `wanted = part.function_call`: a test of the name is one of the value, if it has no other in the region
            told = self.truth(part) if part is not None else _UNTOLD
            told = (True, False) if part is not None and told == _UNTOLD and self._gives_object(part) else told
            self.told[slot] = told if self.told.get(slot, told) == told else _UNTOLD
            if not made:
                continue
            self.derived.add(slot)
            if self.hands_on(value):  # `wanted = resolve(call, tools)`
                self.stands.add(slot)
            if self._is_type(value):
                self.types.add(slot)
            if slot[-1] in words.IDS or str(slot[-1]).endswith("call_id"):  # `name, call_id = read(call)`
                self.ids.add(slot)
            for either in ex.alternatives(value):
                if self.is_id(either):
                    self.ids.add(slot)
                if self.is_part(either):
                    self.plain.add(slot)

    def _gives_object(self, value: cst.BaseExpression) -> bool:
        """Whether what runs is a function of this file that makes an object on each way: `done = await run(call)`."""
        value = ex.inner(value)
        callee = self.facts.slots.callee(value.expression if isinstance(value, cst.Await) else value)
        if callee is None or callee.kind != "function" or not callee.returned:
            return False
        ends = [point.statement for point, _ in ways_through(self.facts.module, callee).graph.exit.predecessors]
        given = [end.value for end in ends if isinstance(end, cst.Return) and isinstance(end.value, cst.Call)]
        return len(given) == len(ends) and all(ex.called_name(made)[:1].isupper() for made in given)

    def mentions(self, node: cst.CSTNode) -> bool:
        """Whether the call, or something made of it, stands in an expression."""
        return any(
            type(part) is cst.Name and (slot := self.facts.slots.of(part)) is not None
            and (slot == self.slot or slot in self.derived)
            for part in walk_scope(node)
        )  # fmt: skip

    def _goes_through(self, node: cst.BaseExpression) -> bool:
        """Whether a loop goes through what is made of the call, or through a list into which that was put."""
        slot = self.facts.slots.of_name(node)
        filled = self.facts.grown(slot) if slot is not None else []
        return self.mentions(node) or any(self.mentions(call.args[0].value) for call in filled)

    def is_given(self, value: cst.BaseExpression) -> bool:
        """Whether a function that gets a value gets the call, or something made of it."""
        return self.mentions(value)

    def is_whole(self, node: cst.BaseExpression) -> bool:
        return type(node) is cst.Name and self.facts.slots.of(node) == self.slot

    def is_id(self, node: cst.BaseExpression) -> bool:
        """`call.id`, `call["id"]`, and names bound to it."""
        if isinstance(node, cst.BooleanOperation):  # `call.id or ""`
            return self.is_id(node.left)
        pair = ex.member(node)
        if pair is not None and pair[1] in words.IDS:
            return self.is_part(pair[0])
        return type(node) is cst.Name and self.facts.slots.of(node) in self.ids

    def is_part(self, node: cst.BaseExpression) -> bool:
        """The call, or a chain of members of it: `call.function`, `call["function"]["name"]`; names bound to one."""
        node = ex.inner(node)
        while True:
            if type(node) is cst.Name:
                slot = self.facts.slots.of(node)
                return slot == self.slot or slot in self.plain
            pair = ex.member(node)
            if pair is None:
                return False
            node = pair[0]

    def _is_type(self, value: cst.BaseExpression) -> bool:
        """`block.type`, `read(block, "type")`."""
        pair = ex.member(value)
        if pair is not None:
            return pair[1] == "type" and self.is_part(pair[0])
        if not isinstance(value, cst.Call) or not any(ex.text(arg.value) == "type" for arg in value.args):
            return False
        return any(self.is_part(arg.value) for arg in value.args)

    def hands_on(self, node: cst.CSTNode) -> bool:
        """Whether the call as such, or its id, stands in an expression: not only its name or arguments."""
        return any(
            (type(part) is cst.Name and self._stands_for(part) and not self._is_read(part))
            or (isinstance(part, cst.BaseExpression) and self.is_id(part))
            for part in walk_scope(node)
        )

    def _stands_for(self, name: cst.Name) -> bool:
        slot = self.facts.slots.of(name)
        return slot == self.slot or slot in self.stands

    def _is_read(self, name: cst.Name) -> bool:
        parent = self.facts.module.parent.get(name)
        return parent is not None and ex.member(parent) is not None and ex.member(parent)[0] is name  # type: ignore[index]

    def outcome(self, node: cst.CSTNode) -> bool | None:
        """What the header of an `if`, `while` or `case` gives for a sound call that has no answer yet."""
        if isinstance(node, (cst.If, cst.While)):
            return self.truth(node.test)[0]
        return self.matched(node) if isinstance(node, cst.MatchCase) else None

    def settles(self, point: Point) -> bool:
        """Whether a statement puts the call aside, or hands it to a function that may answer it."""
        if self.stores(point):
            return True
        statement = point.statement
        if isinstance(statement, (cst.For, cst.With)):  # a stream or context of somebody else's, made for this call
            return any(
                type(n) is cst.Call and self.hands_on(n) for part in point.expressions() for n in [_opened(part)]
            )
        if isinstance(statement, cst.Return):
            return statement.value is not None and self.hands_on(statement.value)
        if isinstance(statement, cst.Assign):
            targets = [t.target for t in statement.targets]
            return any(
                isinstance(t, cst.Subscript) and (self.hands_on(t) or self.hands_on(statement.value)) for t in targets
            )
        if not isinstance(statement, cst.Expr):
            return False
        value = ex.inner(statement.value)
        if isinstance(value, cst.Yield):
            return isinstance(value.value, cst.BaseExpression) and self._answer_like(value.value)
        if not isinstance(value, cst.Call) or is_logging(value):
            return False
        if ex.called_name(value) in _SETTLING:
            return any(self.hands_on(arg.value) for arg in value.args) and self._is_taken_out(ex.receiver(value))
        if NO_ANSWER.match(ex.called_name(value)):
            return False
        return by_name(value) or any(self.hands_on(arg.value) for arg in value.args)

    def stores(self, point: Point) -> bool:
        """Whether somebody gets the call and a history at a point."""
        return any(self._may_store(node) for part in point.expressions() for node in walk_scope(part))

    def _may_store(self, node: cst.CSTNode) -> bool:
        """Whether a function gets the call and a history, and so may store an answer."""
        if type(node) is not cst.Call or not any(self.hands_on(arg.value) for arg in node.args):
            return False
        return any(Kind.HISTORY in self.facts.kinds(arg.value) for arg in node.args)

    def _is_taken_out(self, listed: cst.BaseExpression | None) -> bool:
        """Whether anybody may take calls out of a list again: not of one that is only filled, counted and shown."""
        slot, parent = self.facts.slots.of_name(listed), self.facts.module.parent
        for name in self.facts.names.get(slot, ()) if slot is not None else ():
            outer = parent[name]
            around = parent.get(parent.get(outer, outer))
            is_filled = type(outer) is cst.Attribute and outer.attr.value in _SETTLING and type(around) is cst.Expr
            is_bound = type(outer) is cst.AssignTarget or (type(outer) is cst.AnnAssign and outer.target is name)
            is_counted = type(outer) is cst.Arg and ex.dotted(getattr(parent[outer], "func", outer)) == "len"
            if not (is_filled or is_bound or is_counted or shown_only(self.facts.module, name)):
                return True
        return type(listed) is not cst.Name

    def _answer_like(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and by_name(node) and self.hands_on(node)

    # -- what a test says of a call ---------------------------------------------------------------------------

    def truth(self, test: cst.BaseExpression) -> tuple[bool | None, bool]:
        """What a test gives for a sound, unanswered call, and whether it is about that (it then decides a compound)."""
        test = ex.inner(test)
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            value, about = self.truth(test.expression)
            return (None if value is None else not value), about
        if isinstance(test, cst.BooleanOperation):
            either = isinstance(test.operator, cst.Or)
            sides = [self.truth(test.left), self.truth(test.right)]
            if any(value is either for value, _ in sides):
                return either, any(about for _, about in sides)
            if all(value is (not either) for value, _ in sides) or any(about and v is not None for v, about in sides):
                return not either, any(about for _, about in sides)
            return None, False
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            return self._compared(test)
        if isinstance(test, cst.Call) and isinstance(test.func, cst.Name):
            return self._tested(test)
        pair = ex.member(test)
        if pair is not None and pair[1] in CALL_MEMBERS and self.is_part(pair[0]):
            return True, True
        if pair is not None and pair[1] in _OTHER_PARTS and self.is_whole(pair[0]):
            return False, True
        if self._is_valid(test):
            return True, False
        slot = self.facts.slots.of_name(test)
        return self.told.get(slot, _UNTOLD) if slot is not None else _UNTOLD

    def _is_valid(self, node: cst.BaseExpression) -> bool:
        """A part that every sound call has: itself, its id, its function, its name."""
        if self.is_whole(node) or self.is_id(node):
            return True
        pair = ex.member(node)
        if pair is not None:
            return pair[1] in _VALID and self.is_part(pair[0])
        slot = self.facts.slots.of_name(node)
        if slot is None or slot not in self.plain:
            return False
        return any(
            (inside := ex.member(part)) is not None and inside[1] in _VALID
            for value in self.facts.assigned(slot)
            for part in ex.alternatives(value)
        )

    def _compared(self, test: cst.Comparison) -> tuple[bool | None, bool]:
        left, operator, right = ex.compared(test)
        positive = isinstance(operator, (cst.Equal, cst.Is, cst.In))
        if not positive and not isinstance(operator, (cst.NotEqual, cst.IsNot, cst.NotIn)):
            return None, False
        if isinstance(operator, (cst.In, cst.NotIn)) and self.is_id(left):
            return (not positive), True  # `call.id in answered`
        if isinstance(operator, (cst.In, cst.NotIn)) and self.is_part(right):
            return (positive, True) if ex.text(left) in CALL_MEMBERS | {"function"} else (None, False)
        if ex.dotted(right) == "None":
            value, about = self.truth(left)
            return (None, False) if value is None else (value is not positive, about)
        pair = ex.member(left)
        if pair is not None and pair[1] in {"type", "kind", "part_kind"} and self.is_part(pair[0]):
            tags = [_word(e.value) for e in right.elements] if isinstance(right, _DISPLAYS) else [_word(right)]
            if None in tags:
                return None, False
            return bool(_CALL_TAGS & {tag for tag in tags if tag}) is positive, True
        slot = self.facts.slots.of_name(left)
        tag = _word(right)
        if slot is not None and slot in self.types and tag is not None:  # `kind = block.type`
            return (tag in _CALL_TAGS) is positive, True
        if slot is not None and slot == self.key:  # `for key, call in pending.items()`
            return (not positive), True
        return None, False

    def _tested(self, test: cst.Call) -> tuple[bool | None, bool]:
        name = ex.called_name(test)
        if name == "hasattr" and len(test.args) == 2 and self.is_part(test.args[0].value):
            return (ex.text(test.args[1].value) not in _OTHER_PARTS), True
        if name == "getattr" and (pair := ex.member(test)) is not None and self.is_part(pair[0]):
            return (True, True) if pair[1] in CALL_MEMBERS else (None, False)
        if name == "isinstance" and len(test.args) == 2 and self.is_whole(test.args[0].value):
            types = test.args[1].value
            named = ex.several(types)
            last = [ex.last_name(t) for t in named]
            if any(map(_is_of_calls, last)):
                return True, True
            if all(t[:1].isupper() for t in last):
                return False, True
        return None, False

    def matched(self, case: cst.MatchCase) -> bool | None:
        match = self.facts.module.parent.get(case)
        if not isinstance(match, cst.Match):
            return None
        if self.is_whole(match.subject):
            return self._is_class(case.pattern)
        pair = ex.member(match.subject)
        if pair is not None and pair[1] == "type" and self.is_part(pair[0]):
            pattern = case.pattern
            values = pattern.patterns if isinstance(pattern, cst.MatchOr) else [pattern]
            tags = [_word(v.value) if isinstance(v, cst.MatchValue) else None for v in _patterns(values)]
            return None if None in tags else bool(_CALL_TAGS & {t for t in tags if t})
        return None

    def _is_class(self, pattern: cst.MatchPattern) -> bool | None:
        """What `case ToolCall():`, `case TextPart() | ImagePart():` give."""
        listed = pattern.patterns if isinstance(pattern, cst.MatchOr) else [pattern]
        names = [ex.last_name(p.cls) for p in _patterns(listed) if isinstance(p, cst.MatchClass)]
        return any(map(_is_of_calls, names)) if names else None


def _is_of_calls(name: str) -> bool:
    """Whether a class is one of tool calls: as its objects are sent as such, or as its name says."""
    said = any(word in name for word in ("Tool", "Function", "Call"))
    return meaning(name) == "class of call" or (said and "Result" not in name)


class CallsInHand(InHand):
    """The calls of a stored reply, `slot`: any of them, and what is made of one; not what else the reply holds."""

    def mentions(self, node: cst.CSTNode) -> bool:
        """Whether calls, or something made of one, stand in an expression."""
        return any(
            (type(part) is cst.Name and self.facts.slots.of(part) in self.derived)
            or not _OF_CALLS.isdisjoint(self.facts.kinds(part))
            for part in walk_scope(node)
            if isinstance(part, cst.BaseExpression)
        )

    def is_given(self, value: cst.BaseExpression) -> bool:
        """Also a function that gets the whole reply."""
        return Kind.REPLY in self.facts.kinds(value) or self.mentions(value)


def _opened(part: cst.CSTNode) -> cst.CSTNode:
    return part.item if isinstance(part, cst.WithItem) else part


def _patterns(values: object) -> list[cst.MatchPattern]:
    return [v.pattern if isinstance(v, cst.MatchOrElement) else v for v in values]  # type: ignore[attr-defined]


def _word(node: cst.BaseExpression) -> str | None:
    """The text of a literal, or the last name of a constant in small letters."""
    literal = ex.text(node)
    if literal is not None:
        return literal
    name = (ex.dotted(node) or "").removesuffix(".value").rpartition(".")[2]
    return name.lower() if name and name.upper() == name else None
