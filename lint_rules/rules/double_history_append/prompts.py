"""Texts that hold what a history says, and a message behind it: `f"{SYSTEM}\\n{talk}\\nUser: {question}"`.

The text is sent, alone or as the contents of messages, or given back. Its parts are told in the order in which they are
read: names by what they were bound to and what was added to them, lists by their elements, loops by what they go over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import Message
from lint_rules.anatomy.values.slots import Slot
from lint_rules.obligations.places import untrimmed
from lint_rules.rules.double_history_append.written_out import SAME_TEXT, loop_over
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record

_MOST = 16
"""So many pieces of one name are followed; a text with more is a generated one."""
_LISTS = (cst.List, cst.Tuple, cst.ListComp)


@record
class Part:
    """`value` is a part of a text: something read, or, where `each`, what is gone through and written out.

    `taken` are the statements by which it got there, the first one first.
    """

    value: cst.BaseExpression
    each: bool = False
    taken: tuple[cst.CSTNode, ...] = ()

    def through(self, statement: cst.CSTNode) -> Part:
        return Part(self.value, self.each, (*self.taken, statement))


class Prompts:
    """Those of one file."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy

    def of(self, function: Scope) -> Iterator[tuple[cst.BaseExpression, list[Part], Message]]:
        """Where a function sends, or gives back, a text that ends with something read: what stands before it there."""
        sent = [(call, arg.value) for call in self.anatomy.turns.requests(function) for arg in call.args]
        given = function.returned
        returned = [part for value in given for part in _side_by_side(value)]
        for node, value in (*sent, *((value, value) for value in returned)):
            parts = list(self._top(value))
            if len(parts) > 1 and not parts[-1].each and ex.reads_place(untrimmed(parts[-1].value)):
                yield node, parts[:-1], Message(node, "user", content=parts[-1].value)

    def _top(self, value: cst.BaseExpression) -> Iterator[Part]:
        """The parts of a text, or of the texts of a list of messages that is put together one by one."""
        value = ex.inner(value)
        pieces = self._pieces(value) if isinstance(value, cst.Name) else []
        if isinstance(value, cst.List):
            for element in value.elements:
                yield from self._said(element.value) if not isinstance(element, cst.StarredElement) else ()
        elif pieces and any(isinstance(ex.inner(piece), _LISTS) for _, piece in pieces):
            for statement, piece in pieces:
                here = self._top(piece) if isinstance(ex.inner(piece), _LISTS) else self._said(piece)
                yield from (
                    part.through(statement) for part in here if loop_over(self.anatomy, statement, piece) is None
                )
        else:
            yield from self._parts(value, frozenset())

    def _said(self, message: cst.BaseExpression) -> Iterator[Part]:
        """The parts of what a message says."""
        for made in self.anatomy.transcript.messages.of(message):
            yield from self._parts(made.content, frozenset()) if made.content is not None else ()

    def _parts(self, value: cst.BaseExpression, seen: frozenset[cst.CSTNode]) -> Iterator[Part]:
        value = ex.inner(value)
        if isinstance(value, cst.FormattedString):
            for inner in value.parts:
                if isinstance(inner, cst.FormattedStringExpression):
                    yield from self._parts(inner.expression, seen)
        elif isinstance(value, cst.ConcatenatedString):
            for side in (value.left, value.right):
                yield from self._parts(side, seen)
        elif isinstance(value, cst.BinaryOperation):
            for operand in (value.left, value.right):
                yield from self._parts(operand, seen)
        elif isinstance(value, (cst.IfExp, cst.BooleanOperation)):
            yield from max(([*self._parts(each, seen)] for each in ex.alternatives(value)), key=len)
        elif isinstance(value, (cst.List, cst.Tuple)):
            for element in value.elements:
                yield from self._parts(element.value, seen)
        elif isinstance(value, (cst.ListComp, cst.GeneratorExp)):
            yield Part(value, each=True)
        elif isinstance(value, cst.Call):
            yield from self._of_call(value, seen)
        elif isinstance(value, cst.Name):
            yield from self._of_name(value, seen)
        elif ex.reads_place(value):
            yield Part(value)

    def _of_call(self, call: cst.Call, seen: frozenset[cst.CSTNode]) -> Iterator[Part]:
        """`"\\n".join(lines)`, `template.format(talk=talk, question=question)`; of any other one what it gives."""
        name, base = ex.called_name(call), ex.receiver(call)
        if name in {"join", "format"} and base is not None:
            for arg in call.args:
                yield from self._parts(arg.value, seen)
        elif name in SAME_TEXT and (base is not None or call.args):
            yield from self._parts(call.args[0].value if call.args else base, seen)  # type: ignore[arg-type]
        else:
            yield Part(call)

    def _of_name(self, name: cst.Name, seen: frozenset[cst.CSTNode]) -> Iterator[Part]:
        """What a name stands for: itself, or the pieces of the text that it holds."""
        pieces = [(node, piece) for node, piece in self._pieces(name) if node not in seen]
        if all(map(self._is_read, (piece for _, piece in pieces))):
            yield Part(name)
            return
        seen |= {node for node, _ in pieces}
        for statement, piece in pieces:
            loop = loop_over(self.anatomy, statement, piece)
            if loop is not None:
                yield Part(loop.iter, each=True, taken=(loop,))
            else:
                yield from (part.through(statement) for part in self._parts(piece, seen))

    @staticmethod
    def _is_read(value: cst.BaseExpression) -> bool:
        """Whether a value is no text that is put together, but what something holds or gives."""
        value = ex.inner(value)
        given = isinstance(value, cst.Call) and ex.called_name(value) not in SAME_TEXT | {"join", "format"}
        return given or ex.reads_place(value)

    def _pieces(self, name: cst.Name) -> list[tuple[cst.CSTNode, cst.BaseExpression]]:
        """What a name was bound to, and what was added to it, in source order, each with its statement."""
        anatomy, function = self.anatomy, self.anatomy.module.scope_of[name].function
        found: dict[cst.CSTNode, cst.BaseExpression] = {}
        queue = anatomy.definitions(name)
        for bound in queue:
            statement = bound.point.statement
            if statement is None or bound.value is None or bound.kind not in {"assign", "augmented"}:
                continue
            if statement not in found and len(found) < _MOST:
                found[statement] = bound.value
                if bound.kind == "augmented":
                    queue += anatomy.reaching(function).at(bound.point, name.value)
        grown = self._grown.get(anatomy.facts.slots.of(name), []) if found else []
        if len(found) + len(grown) > _MOST:
            return []
        found |= {call: call.args[0].value for call in grown if anatomy.module.scope_of[call].function is function}
        return sorted(found.items(), key=lambda piece: anatomy.module.order[piece[0]])

    @cached_property
    def _grown(self) -> dict[Slot | None, list[cst.Call]]:
        """The calls that put pieces into lists, by the list."""
        found: defaultdict[Slot | None, list[cst.Call]] = defaultdict(list)
        for call in self.anatomy.module.nodes_of(cst.Call):
            base = ex.receiver(call)
            if base is not None and ex.called_name(call) in {"append", "extend"} and len(ex.positional(call)) == 1:
                found[self.anatomy.facts.slots.of(base)].append(call)
        return found


def _side_by_side(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a function gives back together: the parts of a tuple are no text together."""
    value = ex.inner(value)
    return ex.several(value)
