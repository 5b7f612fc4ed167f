"""Texts cut to their head, on the way into a message: `text[:n]`, with or without words that say what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_SAYS_HOW_MUCH = re.compile(
    r"trunc|omit|elided|remain|character|chars|bytes|lines|left out|skipped|shorten|abridg|clipped|"
    r"not shown|full (text|output|result|content)|see |saved|\bmore\b|\bfirst\b|\btotal\b|limit|redacted",
    re.IGNORECASE,
)
_WRAPPERS = frozenset({"str", "repr", "strip", "rstrip", "lstrip", "decode", "replace", "lower", "expandtabs"})
_LISTS = frozenset({cst.List, cst.ListComp, cst.Tuple, cst.GeneratorExp})
_LISTERS = frozenset({"split", "splitlines", "list", "sorted", "findall", "items", "keys", "values"})
_TEXTS = frozenset({"text", "stdout", "stderr", "output"})
"""Attributes of libraries' objects that are texts: of a response, a page, a process."""
_TEXT_MAKERS = words.TEXT_FUNCTIONS - {
    "findall", "finditer", "groups", "match", "partition", "rpartition", "rsplit", "search", "split", "splitlines",
} | {"read_text", "read", "dumps", "get_text", "getvalue", "repr", "format", "lower", "model_dump_json"}  # fmt: skip
_LABEL = 100
"""Characters: what is cut to less stands for something, as a title or an id does."""
_DEEPEST = 6


@record
class Head:
    """`node` is `text[:size]`; `marked` says that words beside it tell the reader that, or how much, is missing."""

    node: cst.Subscript
    text: cst.BaseExpression
    size: cst.BaseExpression
    function: Scope
    marked: bool


class Heads:
    """Finds, for an expression that becomes a text, the heads that it is made of."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts

    def all(self) -> Iterator[Head]:
        """All of the file, whatever becomes of them, as if nothing told of what is missing."""
        for node in self.module.nodes_of(cst.Subscript):
            head = _head(node)
            if head is not None:
                yield Head(node, *head, self.module.scope_of[node].function, False)

    def within(self, node: cst.BaseExpression, function: Scope) -> Iterator[Head]:
        """Through conditional expressions, concatenations, f-strings, names, and functions of this file."""
        yield from self._find(node, function, False, frozenset(), 0)

    def _find(
        self, node: cst.BaseExpression, function: Scope, marked: bool, seen: frozenset[Slot], depth: int
    ) -> Iterator[Head]:
        if depth > _DEEPEST:
            return
        for part in ex.alternatives(node):
            head = _head(part)
            if head is not None:
                if not self._is_list(head[0]):
                    yield Head(part, head[0], head[1], function, marked)  # type: ignore[arg-type]
            elif isinstance(part, (cst.BinaryOperation, cst.FormattedString, cst.ConcatenatedString)):
                told = marked or self._tells(part)
                for piece, behind in pairwise([*_pieces(part), None]):
                    if piece is not None:
                        yield from self._find(piece, function, told or _is_foreign(behind), seen, depth + 1)
            elif isinstance(part, cst.Call):
                yield from self._called(part, function, marked, seen, depth)
            elif isinstance(part, cst.Name):
                yield from self._named(part, function, marked, seen, depth)

    def _named(
        self, node: cst.Name, function: Scope, marked: bool, seen: frozenset[Slot], depth: int
    ) -> Iterator[Head]:
        slot = self.facts.slots.of(node)
        if slot is None or slot in seen or slot[0] != "var" or slot[1] is not function:
            return
        for value in self.facts.assigned(slot):
            yield from self._find(value, function, marked or self._grows_a_note(slot), seen | {slot}, depth + 1)

    def _called(
        self, node: cst.Call, function: Scope, marked: bool, seen: frozenset[Slot], depth: int
    ) -> Iterator[Head]:
        base, given = ex.receiver(node), ex.positional(node)
        if ex.called_name(node) in _WRAPPERS:
            inside = base if base is not None else next(iter(given), None)
            if inside is not None:
                yield from self._find(inside, function, marked, seen, depth + 1)
            return
        callee = self.facts.slots.callee(node)
        for inner in callee.nodes if callee is not None and self.facts.slots.constructed(node) is None else ():
            if isinstance(inner, cst.Return) and inner.value is not None and callee is not None:
                yield from self._find(inner.value, callee, marked, seen, depth + 1)

    def _is_list(self, node: cst.BaseExpression) -> bool:
        """Whether what is cut is a list: of messages, lines, results."""
        kinds = self.facts.kinds(node)
        if Kind.HISTORY in kinds or Kind.CALLS in kinds or type(ex.inner(node)) in _LISTS:
            return True
        if isinstance(node, cst.Call):
            return ex.called_name(node) in _LISTERS
        slot = self.facts.slots.of(node)
        if slot is None:
            return False
        return any(type(ex.inner(v)) in _LISTS for v in self.facts.assigned(slot)) or self._is_tested_list(node, slot)

    def _is_tested_list(self, node: cst.BaseExpression, slot: Slot) -> bool:
        """Whether it stands under `if isinstance(content, list)`."""
        around = (outer for outer in self.module.ancestors(node) if isinstance(outer, cst.If))
        return any(self.module.inside(node, test.body) and self._tests_for_list(test.test, slot) for test in around)

    def _tests_for_list(self, test: cst.BaseExpression, slot: Slot) -> bool:
        calls = (node for node in walk(test) if isinstance(node, cst.Call) and ex.called_name(node) == "isinstance")
        tests = (ex.positional(call) for call in calls if len(call.args) == 2)
        return any(self.facts.slots.of(what) == slot and ex.last_name(of) in {"list", "tuple"} for what, of in tests)

    # -- words ------------------------------------------------------------------------------------------------

    def _tells(self, node: cst.BaseExpression) -> bool:
        """Whether the words of a text, or a number in it, say that something is missing."""
        for part in walk(node):
            if isinstance(part, cst.FormattedStringText) and _SAYS_HOW_MUCH.search(part.value):
                return True
            if isinstance(part, cst.SimpleString) and _SAYS_HOW_MUCH.search(part.value):
                return True
            if isinstance(part, cst.Call) and ex.dotted(part.func) == "len" and _in_text(self.module.parent, part):
                return True
            if isinstance(part, (cst.Name, cst.Attribute)):
                name = part.value if isinstance(part, cst.Name) else part.attr.value
                if isinstance(self.module.parent[part], (cst.Slice, cst.Subscript)):
                    continue
                if _SAYS_HOW_MUCH.search(name) or self._stands_for_a_note(part):
                    return True
        return False

    @once(circular=False)
    def _stands_for_a_note(self, node: cst.Name | cst.Attribute) -> bool:
        """A constant of this file whose text says so, or one of another file."""
        slot = self.facts.slots.of(node)
        values = self.facts.assigned(slot) if slot is not None else []
        if any(isinstance(v, (cst.SimpleString, cst.ConcatenatedString)) and self._tells(v) for v in values):
            return True
        return not values and ex.last_name(node).isupper()

    def _grows_a_note(self, slot: Slot) -> bool:
        """`text += "... [truncated]"` somewhere behind the cut."""
        return any(
            self.facts.slots.of(node.target) == slot and self._tells(node.value)
            for node in slot[1].nodes_of(cst.AugAssign)
        )

    def is_told_beside(self, head: Head) -> bool:
        """`{"text": text[:n], "truncated": True}`, `{"text": text[:n], "length": len(text)}`."""
        for display in self.module.ancestors(head.node):
            for element in display.elements if isinstance(display, cst.Dict) else ():
                if isinstance(element, cst.DictElement) and not self.module.inside(head.node, element):
                    if self._tells(element.key) or any(_measures(part, head.text) for part in walk(element.value)):
                        return True
            if isinstance(display, cst.BaseSmallStatement):
                break
        return False

    def is_output(self, head: Head) -> bool:
        """Whether it is a text of some length that a function has got by itself, and cuts by itself.

        It is no label and no list, no error, nothing that the function was given, nor as long as somebody wants it.
        """
        size, given = ex.integer(head.size), parameter_names(head.function)
        if (size is not None and size < _LABEL) or not given.isdisjoint(_named(head.size)):
            return False
        values = self._values(head.text)
        if self._is_error(head) or any(self._is_given(value, given) for value in values):
            return False
        return any(map(self._makes_text, values))

    def _is_given(self, value: cst.BaseExpression, given: set[str]) -> bool:
        """`path`, `args["path"]`, `str(args)` of parameters."""
        value = ex.inner(value)
        if isinstance(value, cst.Call) and (ex.dotted(value.func) in {"str", "repr"} or self.facts.encoder(value)):
            return any(self._is_given(arg.value, given) for arg in value.args[:1])
        while (pair := ex.member(value)) is not None:
            value = pair[0]
        return isinstance(value, cst.Name) and value.value in given

    def _values(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        return self.facts.values_of(node) or [node]

    def _is_error(self, head: Head) -> bool:
        handlers = (outer for outer in self.module.ancestors(head.node) if isinstance(outer, cst.ExceptHandler))
        caught = {name for outer in handlers if outer.name is not None for name in ex.target_names(outer.name.name)}
        return not caught.isdisjoint(name for value in self._values(head.text) for name in _named(value))

    def _makes_text(self, value: cst.BaseExpression) -> bool:
        value = ex.inner(value)
        if isinstance(value, cst.BinaryOperation):
            return self._makes_text(value.left) or self._makes_text(value.right)
        if isinstance(value, cst.Attribute):
            return value.attr.value in _TEXTS
        if isinstance(value, cst.Call):
            callee = self.facts.slots.callee(value)
            told = callee.node.returns if callee is not None and isinstance(callee.node, cst.FunctionDef) else None
            return ex.called_name(value) in _TEXT_MAKERS or (told is not None and ex.dotted(told.annotation) == "str")
        return isinstance(value, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString))

    def keeps_tail(self, head: Head) -> bool:
        """Whether the same function takes the end of the same text as well."""
        name = ex.source(head.text)
        for node in head.function.nodes:
            part = ex.slice_of(node)
            if part is not None and isinstance(node, cst.Subscript) and part.upper is None and part.lower is not None:
                if ex.source(node.value) == name:
                    return True
        return False


def _head(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    part = ex.slice_of(node)
    if part is None or not isinstance(node, cst.Subscript) or part.upper is None or part.step is not None:
        return None
    if part.lower is not None and ex.integer(part.lower) != 0:
        return None
    if isinstance(part.upper, cst.UnaryOperation):  # `text[:-1]`
        return None
    return node.value, part.upper


def _pieces(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a text is put together from."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        yield node.left
        yield node.right
    elif isinstance(node, cst.FormattedString):
        for part in node.parts:
            yield part.expression if isinstance(part, cst.FormattedStringExpression) else part  # type: ignore[misc]
    elif isinstance(node, cst.ConcatenatedString):
        yield node.left
        yield node.right


def _named(node: cst.CSTNode) -> set[str]:
    """The names in an expression that are no functions."""
    called = {id(part.func) for part in walk(node) if isinstance(part, cst.Call)}
    return {part.value for part in walk(node) if isinstance(part, cst.Name) and id(part) not in called}


def _is_foreign(node: cst.CSTNode | None) -> bool:
    """Whether a piece of a text says something in a script that is not ours: there it is taken for a note."""
    if isinstance(node, cst.BinaryOperation):
        return _is_foreign(node.left)
    said = node.value if isinstance(node, (cst.SimpleString, cst.FormattedStringText)) else ""
    return any(letter.isalpha() and not letter.isascii() for letter in said)


def _measures(node: cst.CSTNode, text: cst.BaseExpression) -> bool:
    """`len(text)`."""
    given = ex.positional(node) if isinstance(node, cst.Call) and ex.dotted(node.func) == "len" else []
    return any(ex.source(value) == ex.source(text) for value in given)


def _in_text(parent: dict[cst.CSTNode, cst.CSTNode], node: cst.CSTNode) -> bool:
    """Whether a number is shown in an f-string."""
    here = parent.get(node)
    while here is not None and not isinstance(here, (cst.BaseSmallStatement, cst.Slice)):
        if isinstance(here, cst.FormattedStringExpression):
            return True
        here = parent.get(here)
    return False


def is_json(facts: Facts, head: Head) -> bool:
    """Whether what is cut is JSON text: `json.dumps(x)[:n]`, also by a name."""
    return any(facts.encoder(value) is not None for value in [head.text, *facts.values_of(head.text)])
