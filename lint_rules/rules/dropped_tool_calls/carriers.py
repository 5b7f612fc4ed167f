"""Whether a place that stores a message may store tool calls with it, or certainly stores plain text alone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.calls.call_tests import asks_for_text
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.sent import what_is_made
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import parts_given
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.again import Again
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST

_LISTS = frozenset({cst.List, cst.ListComp})


class Carriers:
    """Judges the places of one function, whose paths are `again`."""

    def __init__(self, again: Again) -> None:
        self.again = again
        self.anatomy = again.anatomy
        self.facts = again.anatomy.facts
        self.module = again.module

    def may_carry(self, stored: Stored) -> bool:
        """Whether a place stores the calls, or something of which the code does not show that it has none."""
        if stored.calls is not None:
            return True
        if not self.again.grows(stored):
            made = stored.write.value if stored.write is not None else None
            return isinstance(made, cst.Call) and len(made.args) > 1
        message = stored.message
        if message is None or message.role is None or message.more:
            return True
        return message.role == "assistant" and not self._is_text(message.content)

    def _is_text(self, content: cst.BaseExpression | None, depth: int = 0) -> bool:
        """Whether a content is plain text: no blocks, in which calls might be."""
        if content is None or depth > DEEPEST or Kind.CALLS in self.facts.kinds(content):
            return False
        return any(self._is_text_part(part, depth) for part in ex.alternatives(content))

    def _is_text_part(self, part: cst.BaseExpression, depth: int) -> bool:
        if isinstance(part, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)):
            return True
        if isinstance(part, cst.List):
            return bool(part.elements) and all(_is_text_block(element.value) for element in part.elements)
        if isinstance(part, (cst.ListComp, cst.GeneratorExp)):
            return _is_text_block(part.elt) or any(asks_for_text(each.test) for each in part.for_in.ifs)
        pair = ex.member(part)
        if pair is not None and (pair[1] in {"text", "output_text"} or self._has_calls_beside(*pair)):
            return True
        if isinstance(part, cst.Call):
            callee = self.facts.slots.callee(part)
            returned = [n.value for n in callee.nodes if isinstance(n, cst.Return) and n.value] if callee else []
            if returned:
                return all(self._is_text(value, depth + 1) for value in returned)
            return ex.called_name(part) in {"join", "str", "strip", "dumps"}
        values = self._bound_to(part) if isinstance(part, cst.Name) else []
        return bool(values) and all(self._is_text(value, depth + 1) for value in values) and self._gets_text(part)

    def _gets_text(self, name: cst.BaseExpression) -> bool:
        """Whether all that is put into a list of blocks is text, too."""
        slot = self.facts.slots.of(name)
        for call in self.facts.grown(slot) if slot is not None else ():
            value = call.args[0].value
            if not (self._is_text(value) if ex.called_name(call) == "extend" else _is_text_block(value)):
                return False
        return True

    def _bound_to(self, name: cst.Name) -> list[cst.BaseExpression]:
        """What a name may hold where it stands."""
        bound = self.anatomy.definitions(name)
        if not all(found.kind in {"assign", "walrus", "augmented", "unpack"} for found in bound):
            return []
        given = [*self._given_in_place(name)] if any(found.value is None for found in bound) else []
        values = [found.value for found in bound if found.value is not None and found.kind != "augmented"]
        return values + given if given or all(found.value is not None for found in bound) else []

    def _given_in_place(self, name: cst.Name) -> Iterator[cst.BaseExpression]:
        """What functions of the file give in the place of a tuple that a name is unpacked from."""
        slot = self.facts.slots.of(name)
        for value, place in self.facts.unpacked(slot) if slot is not None else ():
            callee = self.facts.slots.callee(ex.inner(value))
            yield from parts_given(callee, place) if callee is not None else ()

    def _has_calls_beside(self, reply: cst.BaseExpression, name: str) -> bool:
        """Whether a member is the content of a reply whose calls stand beside it: its `tool_calls` are read, too."""
        slot = self.facts.slots.of(reply)
        if name != "content" or slot is None or self._comes_in_blocks(slot):
            return False
        if any(is_of_choice(value) for value in (reply, *self.facts.assigned(slot))):
            return True
        return any(
            (pair := ex.member(node) or ex.asked(node)) is not None
            and pair[1] in {"tool_calls", "function_call"}
            and self.facts.slots.of(pair[0]) == slot
            for node in self.module.nodes_of(cst.Attribute, cst.Subscript, cst.Call, cst.Comparison)
        )

    def _comes_in_blocks(self, reply: Slot) -> bool:
        """Whether the function of the project that gives a reply puts the content together as a list."""
        for value in self.facts.assigned(reply):
            run = body(self.anatomy, ex.inner(value.expression) if isinstance(value, cst.Await) else value)
            there, function = run if run is not None else (self.anatomy, None)
            made = what_is_made(there, function.returned).nodes if function is not None else ()
            said = [ex.dict_items(node).get("content") for node in made]
            if not _LISTS.isdisjoint(map(type, what_is_made(there, filter(None, said)).nodes)):
                return True
        return False


def is_of_choice(node: cst.BaseExpression) -> bool:
    """`x.choices[i].message`: its content is text."""
    pair = ex.member(ex.inner(node))
    inside = ex.member(pair[0].value) if pair is not None and isinstance(pair[0], cst.Subscript) else None
    return pair is not None and pair[1] == "message" and inside is not None and inside[1] == "choices"


def _is_text_block(block: cst.BaseExpression) -> bool:
    """`{"type": "text", "text": said}`, `{"text": said}`, `Part(text=said)`, `Part.from_text(text=said)`."""
    if isinstance(block, cst.Call) and ex.called_name(block) in {"Part", "from_text"}:
        return bool(block.args) and (ex.called_name(block) == "from_text" or ex.keywords(block).keys() == {"text"})
    return ex.dict_items(block).keys() in ({"text"}, {"type", "text"})
