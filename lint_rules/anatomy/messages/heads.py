"""Texts cut to their head, on the way into a message: `text[:n]`, with or without words that say what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import run_elsewhere
from lint_rules.anatomy.messages.nearby_words import (
    Page,
    as_said,
    begins_with,
    filled_in,
    is_foreign,
    is_one_line,
    is_shown,
    measured_in,
    measures,
    names_a_part,
    next_line,
    pieces_of,
)
from lint_rules.anatomy.messages.sent import what_is_made
from lint_rules.anatomy.program.call_graph import CallSite
from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import parts_given
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST, kept, once
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_WRAPPERS = frozenset({"str", "repr", "strip", "rstrip", "lstrip", "decode", "replace", "lower", "expandtabs"})
_LISTS = frozenset({cst.List, cst.ListComp, cst.Tuple, cst.GeneratorExp})
_MAKERS = (cst.Dict, cst.Call, cst.List, cst.Tuple)
_PLACES = (cst.Name, cst.Attribute)
_STRINGS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_LISTERS = frozenset({"split", "splitlines", "list", "sorted", "findall", "items", "keys", "values"})
TEXTS = frozenset({"content", "output", "stderr", "stdout", "text"})
"""What is called so in objects and displays is a text: of a message, a response, a page, a process."""
_MARKS = frozenset({"hexdigest", "uuid1", "uuid4", "uuid5", "token_hex", "token_urlsafe"})
"""Functions that give a mark of something: its beginning stands for as much as the whole of it."""
_PARTS_OF_TEXT = frozenset({"splitlines", "partition", "rpartition", "group", "groups"})
_FINDERS = frozenset({"search", "match", "fullmatch", "findall", "finditer"})
_DECODERS_ERRORS = frozenset({"JSONDecodeError", "UnicodeDecodeError"})
LABEL = 100
"""Characters: what is cut to less stands for something, as a title or an id does."""
_PRECISION = re.compile(r"\.\d+$")
_BOUNDS = frozenset({"int", "len", "min", "max", "get", "getenv", "round", "sum"})
"""Functions that give a length where they are handed, or look up, one."""
_LABELS = frozenset({"id", "role", "type", "name", "title"})
_MOST_STEPS = 3_000
"""Values that are looked at for one question: where texts are put together in more ways, what they are is unknown."""
_NO_SLOTS: frozenset[Slot] = frozenset()


@record
class Head:
    """`node` is `text[:size]`, or cuts in another way; `marked`: words beside it tell that, or how much, is missing.

    `noted`: there are any, whatever they say, which stand there only where something is missing.

    `calls` are those by which the text comes from the function in which it is cut, the outermost first; `each`: it is
    one of several that are put together; `lines`: what is counted are the lines of a text.
    """

    node: cst.CSTNode
    text: cst.BaseExpression
    size: cst.BaseExpression
    function: Scope
    marked: bool
    calls: tuple[cst.Call, ...] = ()
    each: bool = False
    noted: bool = False
    lines: bool = False


class _Way(NamedTuple):
    """How a text has come to a place in a function; `seen` are the names on the way. `most`: so much of it is left.

    `callers`: it is followed to what is handed to the function. `part`: of what a call gives it is this one. `counted`:
    a number beside it tells how much there is of it; of its elements that tells nothing.
    """

    function: Scope
    marked: bool = False
    noted: bool = False
    calls: tuple[cst.Call, ...] = ()
    each: bool = False
    seen: frozenset[Slot] = frozenset()
    depth: int = 0
    most: int | None = None
    callers: bool = False
    part: int | None = None
    is_text: bool = False
    counted: bool = False

    @property
    def is_told(self) -> bool:
        return self.marked or self.counted

    def head(self, node: cst.CSTNode, text: cst.BaseExpression, size: cst.BaseExpression) -> Head:
        """What cuts a text to its head at this place."""
        known = self.is_told, self.calls, self.each, self.noted
        return Head(node, text, size, self.function, *known)

    def told(self, told: bool) -> _Way:
        return self._replace(marked=self.marked or told)

    def around(self, slot: Slot) -> _Way:
        """The way on to a name, which a function around this one may have."""
        owner = slot[1].function if slot[0] == "var" else self.function
        return self if owner is self.function else self._replace(function=owner, calls=())


_SAME_TEXT = frozenset({"decode", "encode", "strip", "lstrip", "rstrip", "replace"})
"""Methods of texts and bytes that give what they are called on, but for its form or a few characters."""


class Heads:
    """Finds, for an expression that becomes a text, the heads that it is made of."""

    def __init__(self, anatomy: Anatomy) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.facts = anatomy.facts
        self._ends: list[tuple[Slot | cst.Call, _Way]] = []
        self._steps = 0

    def all(self) -> Iterator[Head]:
        """All of the file, whatever becomes of them, as if nothing told of what is missing."""
        for node in self.module.nodes_of(cst.Subscript, cst.Call, cst.FormattedStringExpression):
            head = _head(node) or self._read_part(node)
            if head is not None:
                yield Head(node, *head, self.module.scope_of[node].function, False)

    def within(self, node: cst.BaseExpression, function: Scope, *, callers: bool = False) -> Iterator[Head]:
        """Through conditional expressions, concatenations, f-strings, names, displays, and functions of this file.

        `callers`: also what is handed to the function in which the expression stands.
        """
        self._steps = 0
        yield from self._find(node, _Way(function, callers=callers))

    def parameters(self, node: cst.BaseExpression, function: Scope) -> set[Slot]:
        """The parameters that an expression is made of, without a word beside them that something is missing."""
        return {end for end, _ in self._untold(node, function) if not isinstance(end, cst.Call)}

    def calls(self, node: cst.BaseExpression, function: Scope) -> set[tuple[cst.Call, int | None]]:
        """The calls, of methods and of functions of other files, whose results an expression is made of, as above.

        Each with the place of the tuple that it gives, where it is one thing of that.
        """
        return {(end, way.part) for end, way in self._untold(node, function) if isinstance(end, cst.Call)}

    def _untold(self, node: cst.BaseExpression, function: Scope) -> list[tuple[Slot | cst.Call, _Way]]:
        self._ends.clear()
        self._steps = 0
        for _ in self._find(node, _Way(function, callers=True)):
            pass
        return [(end, way) for end, way in self._ends if not way.is_told]

    def _find(self, node: cst.BaseExpression, way: _Way) -> Iterator[Head]:
        self._steps += 1
        if way.depth > DEEPEST or self._steps > _MOST_STEPS:
            return
        further = way._replace(depth=way.depth + 1)
        for part in ex.alternatives(node):
            head = _head(part)
            if head is not None:
                cut, size = head
                is_part = self._is_list(cut) or self._is_short(cut) or not self._is_limit(size)
                if not is_part and not self._is_for_few(part, size):
                    left, most = ex.integer(size), way.most
                    if left is None or most is None or left < most:  # else so much is gone by the cut around it
                        yield way.head(part, *head)
                        most = left if left is not None else most
                    yield from self._find(cut, further._replace(most=most))
            elif isinstance(part, (cst.BinaryOperation, cst.FormattedString, cst.ConcatenatedString)):
                yield from self._joined(part, list(pieces_of(part)), further)
            elif ex.member(part) is not None:
                yield from self._of_member(part, further)
            elif isinstance(part, cst.Call):
                yield from self._called(part, further)
            elif isinstance(part, cst.Name):
                yield from self._named(part, further)
                yield from self._put(part, further)
            elif isinstance(part, (cst.ListComp, cst.GeneratorExp)):
                yield from self._put(part, further)
            elif isinstance(part, cst.Subscript) and ex.slice_of(part) is not None:
                yield from self._find(part.value, further)
            else:
                for _, inside, told in self._held(part):
                    yield from self._find(inside, further.told(told)._replace(is_text=False))

    def _joined(self, whole: cst.BaseExpression, pieces: list[cst.CSTNode], way: _Way) -> Iterator[Head]:
        """What is put together to one text: what words around it, or a number in the text, tell is told of a piece."""
        sizes = [given for given in measured_in(whole) if is_shown(self.module.parent, given)]
        page = Page.of([*map(as_said, pieces)])
        for at, piece in enumerate(pieces):
            if not isinstance(piece, cst.BaseExpression) or isinstance(piece, cst.SimpleString):
                continue
            behind = pieces[at + 1] if at + 1 < len(pieces) else None
            noted = way.noted or self._is_added_where_cut(whole, piece, behind)
            told = self._is_told_around(page, at) or self._tells_beside(pieces, at)
            known = told or is_foreign(next_line(pieces[at + 1 :], 0)[0])
            named = (each for each in pieces if each is not piece and isinstance(each, _PLACES))
            whole_ones = {slot for each in named if (slot := self.facts.slots.of(each)) is not None}
            counted = way.counted or self._is_made_of(piece, sizes)
            inner = way.told(known)._replace(noted=noted, counted=counted)
            cut = _head(self.module.parent[piece])
            for head in (*([inner.head(self.module.parent[piece], *cut)] if cut else ()), *self._find(piece, inner)):
                if not self._comes_of(head.text, head.calls, whole_ones):
                    yield head

    def _comes_of(self, node: cst.BaseExpression, calls: tuple[cst.Call, ...], places: set[Slot]) -> bool:
        """Whether a text is taken from what lies in some places, also by those who were handed that."""
        queue, seen = [(node, calls)], set[Slot]()
        for whole, here in queue if places else ():
            slots = (self.facts.slots.of(part) for part in _taken_from(whole) if isinstance(part, _PLACES))
            for slot in {slot for slot in slots if slot is not None} - seen:
                if slot in places:
                    return True
                seen.add(slot)
                made = [*self.facts.assigned(slot), *self.facts.gone_through(slot)] if slot[0] == "var" else []
                queue += [(value, here) for value in made]
                queue += [(v, here[:-1]) for _, v in (handed_by(self.facts, slot, here) if slot[0] == "var" else ())]
        return False

    def _is_told_around(self, page: Page, at: int) -> bool:
        """Whether what stands around a piece says that it is a part, or that something is missing."""
        said, others = page.around(at)
        told = words.NAMES_A_PART.search(said) or words.SAYS_IT_IS_CUT.search(said)
        return told is not None or any(
            names_a_part(other) or self._tells(other, measured=False, beside=False) for other in others
        )

    def _tells_beside(self, pieces: list[cst.CSTNode], at: int) -> bool:
        """Whether a piece of a text, or the lines next to it, say that something is missing."""
        for side, nearest in ((pieces[:at][::-1], -1), (pieces[at + 1 :], 0)):
            said, others = next_line(side, nearest)
            if words.SAYS_HOW_MUCH.search(said) or any(self._tells(other, measured=False) for other in others):
                return True
        piece = pieces[at]
        return isinstance(piece, _PLACES) and self._tells(piece)

    def _held(self, node: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression, bool]]:
        """What a display or constructor holds, by keys, and whether something beside it tells of what is missing."""
        parts: list[tuple[str, cst.BaseExpression]] = []
        if isinstance(node, cst.Dict):
            parts = [(ex.text(e.key) or "", e.value) for e in node.elements if isinstance(e, cst.DictElement)]
        elif isinstance(node, cst.Call):
            parts = [(arg.keyword.value if arg.keyword else "", arg.value) for arg in node.args if not arg.star]
        elif isinstance(node, (cst.List, cst.Tuple)):
            parts = [("", element.value) for element in node.elements]
        telling = [value for key, value in parts if words.SAYS_HOW_MUCH.search(key) and not any(measured_in(value))]
        telling += [value for _, value in parts if isinstance(value, _STRINGS) and names_a_part(value)]
        measured = [(v, given) for _, v in parts for given in measured_in(v) if not self._is_list(given)]
        for key, value in parts:
            if key not in _LABELS and not key.endswith(("_id", "Id")):
                told = any(other is not value for other in telling) or bool(words.NAMES_A_PART.search(key))
                itself = ex.source(value)
                sizes = [given for other, given in measured if other is not value and ex.source(given) != itself]
                yield key, value, told or (bool(sizes) and self._is_made_of(value, sizes))

    def _of_member(self, node: cst.BaseExpression, way: _Way) -> Iterator[Head]:
        """What lies in a part of an object, as it is set anywhere in the file, or where the object is made."""
        base, name = ex.member(node) or (node, "")
        slot = self.facts.slots.of(node)
        if slot is None or slot in way.seen or way.depth > DEEPEST:
            return
        way = way._replace(seen=way.seen | {slot}, calls=())
        held = (each for made in _made_as(self.anatomy, base) for each in self._held(made))
        for key, value, told in (*((name, value, False) for value in self.facts.assigned(slot)), *held):
            if key == name:
                yield from self._find(value, way.told(told)._replace(function=self.module.scope_of[value].function))

    def _is_made_of(self, value: cst.BaseExpression, measured: list[cst.BaseExpression]) -> bool:
        """Whether a value is made of something that is measured: how many of other things there are tells nothing."""
        made = self.anatomy.trimming.made_of(value, self.module.scope_of[value].function)
        names = {name for part in made for name in names_in(part)}
        return any(not names.isdisjoint(names_in(given)) for given in measured)

    def _named(self, node: cst.Name, way: _Way) -> Iterator[Head]:
        slot = self.facts.slots.of(node)
        if slot is None or slot in way.seen or slot[0] != "var" or not _is_in(slot, way.function):
            return
        way = way.around(slot)._replace(seen=way.seen | {slot})
        added = [
            node.value for node in way.function.nodes_of(cst.AugAssign) if self.facts.slots.of(node.target) == slot
        ]
        told = any(self._tells(part) or is_foreign(begins_with(part)) for part in added)
        for value in [*self._held_before(node, slot), *added]:
            noted = way.noted or any(self._is_added_where_cut(part, value, part) for part in added)
            yield from self._find(value, way.told(told)._replace(noted=noted))
        for listed in self.facts.gone_through(slot):
            yield from self._put(listed, way)
        for value, place in self.facts.unpacked(slot):
            given = ex.inner(value)
            yield from self._given_by(given, way, place) if isinstance(given, cst.Call) else ()
        parts = _parts_set(self.anatomy, way.function).get(slot, [])
        told = any(words.SAYS_HOW_MUCH.search(key) for key, _ in parts)
        for key, value in parts:
            if key not in _LABELS:
                yield from self._find(value, way.told(told or bool(words.NAMES_A_PART.search(key))))
        for call, bound in handed_by(self.facts, slot, way.calls):
            caller = self.module.scope_of[call].function
            yield from self._find(bound, way._replace(function=caller, calls=way.calls[:-1]))
        if way.callers and not way.calls and is_parameter(slot):
            self._ends.append((slot, way))
            for value in self.facts.given(slot):
                caller = self.module.scope_of[value].function
                yield from self._find(value, way._replace(depth=way.depth + 1, function=caller))

    def _held_before(self, name: cst.Name, slot: Slot) -> list[cst.BaseExpression]:
        """What is assigned to a name, but for what only is when nothing comes to this place any more."""
        values, function = self.facts.assigned(slot), self.module.scope_of[name].function
        if function.kind != "function" or not self.anatomy.points(function, [name]):
            return values
        own = [value for value in values if self.module.scope_of[value].function is function]
        gone = {value for value in own if not self.anatomy.leads(function, [value], [name])}
        return [value for value in values if value not in gone]

    def _put(self, node: cst.BaseExpression, way: _Way) -> Iterator[Head]:
        """What is joined, dumped or given: the elements of a list, a comprehension, and what is appended to a name."""
        way = way._replace(each=True)
        for part in ex.alternatives(node):
            slot = self.facts.slots.of(part)
            if isinstance(part, (cst.ListComp, cst.GeneratorExp)):
                yield from self._find(part.elt, way._replace(counted=False))
            elif (
                (cut := _head(part)) is not None and way.is_text and self._are_lines(cut[0]) and self._is_limit(cut[1])
            ):
                yield replace(way.head(part, *cut), lines=True, each=False)
                yield from self._put(cut[0], way)
            elif isinstance(part, cst.Subscript) and ex.slice_of(part) is not None:
                yield from self._put(part.value, way)
            elif isinstance(part, (cst.List, cst.Tuple)):
                for element in part.elements:
                    yield from self._find(element.value, way._replace(each=False))
            elif slot is not None and slot not in way.seen and (slot[0] != "var" or _is_in(slot, way.function)):
                inner = way.around(slot)._replace(seen=way.seen | {slot})
                yield from self._added(slot, inner)
                told = any(self._tells(value) for call in self.facts.grown(slot) for value in _put_by(call))
                for value in self.facts.assigned(slot):
                    yield from self._put(value, inner.told(told))

    def _added(self, slot: Slot, way: _Way) -> Iterator[Head]:
        """What is appended to a list in a function, and by those that it hands the list to."""
        appended = [value for call in self.facts.grown(slot) for value in _put_by(call)]
        telling = [value for value in appended if _head(value) is None and self._tells(value)]
        for value in appended:
            told = any(other is not value for other in telling)
            function = self.module.scope_of[value].function
            calls = way.calls if function is way.function else ()
            yield from self._find(value, way.told(told)._replace(function=function, calls=calls, counted=False))
        for site, place in _handed_on(self.anatomy, way.function).get(slot, ()) if way.depth <= DEEPEST else ():
            if place != slot and site.node not in way.calls:
                there = way._replace(function=site.callee, calls=(*way.calls, site.node), depth=way.depth + 1)
                yield from self._added(place, there)

    def _called(self, node: cst.Call, way: _Way) -> Iterator[Head]:
        base, given = ex.receiver(node), ex.positional(node)
        name = ex.called_name(node)
        if name == "join" and given:
            yield from self._put(given[0], way._replace(is_text=True))
        elif name == "format" and base is not None:
            values = self._texts_of(base)
            unknown = not values and ex.last_name(base).isupper()  # of a file that is not here
            for place, arg in enumerate(node.args):
                field = arg.keyword.value if arg.keyword is not None else str(place)
                told = any(self._is_told_around(*filled_in(each, field, arg.value)) for each in [base, *values])
                yield from self._find(arg.value, way.told(unknown or told))
        elif name in _WRAPPERS or self.facts.encoder(node) is not None:
            tokens = name == "decode" and bool(given) and ex.text(given[0]) is None  # `encoding.decode(tokens)`
            own = base if name in _WRAPPERS and not tokens else None
            inside = own if own is not None else next(iter(given), None)
            if inside is not None:
                yield from self._find(inside, way._replace(is_text=own is not None))
        elif self.facts.slots.constructed(node) is not None or name[:1].isupper():
            for _, value, told in self._held(node):
                yield from self._find(value, way.told(told)._replace(is_text=False))
        elif (part := self._read_part(node)) is not None:
            yield way.head(node, *part)
        else:
            yield from self._given_by(node, way)
            if self.facts.slots.callee(node) is None:
                yield from self._put_elsewhere(node, way)

    def _given_by(self, node: cst.Call, way: _Way, place: int | None = None) -> Iterator[Head]:
        """What a function gives back, or what it has at a place of a tuple."""
        callee = self.facts.slots.callee(node)
        if callee is None or callee.owner is not None:
            self._ends.append((node, way._replace(part=place)))
        run = [callee, *self.module.overriding(callee)] if callee is not None and node not in way.calls else []
        for function in run:
            whole = function.returned
            for value in whole if place is None else parts_given(function, place):
                yield from self._find(value, way._replace(function=function, calls=(*way.calls, node)))

    def _put_elsewhere(self, call: cst.Call, way: _Way) -> Iterator[Head]:
        """What a function of another file, which nobody looks into for less, makes a text of: `question(text[:n])`."""
        there = run_elsewhere(self.anatomy, call) if call.args else None
        made = _made_of(there[0], there[1]) if there is not None else _NO_SLOTS
        for slot, value in there[0].facts.slots.bindings(call, there[1]) if there is not None and made else ():
            if slot in made:
                yield from self._find(value, way)

    def _is_for_few(self, node: cst.BaseExpression, size: cst.BaseExpression) -> bool:
        """Whether it stands under `if most <= 3`, or where `most > 3` is not so: there is no room for a note then."""
        for outer in self.module.ancestors(node):
            if isinstance(outer, cst.If) and isinstance(outer.test, cst.Comparison):
                left, operator, right = ex.compared(outer.test)
                most = ex.integer(right)
                if most is not None and most < LABEL and ex.source(left) == ex.source(size):
                    few = outer.body if isinstance(operator, (cst.LessThan, cst.LessThanEqual)) else outer.orelse
                    return few is not None and self.module.inside(node, few)
        return False

    def _read_part(self, node: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
        """`file` and `n` of `file.read(n)`, where nothing else is done with what was opened for it."""
        base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) == "read" else None
        if not isinstance(node, cst.Call) or not isinstance(base, cst.Name) or len(node.args) != 1:
            return None
        slot = self.facts.slots.of(base)
        names = self.facts.names.get(slot, []) if slot is not None and self._is_opened(base) else []
        alone = len(names) == 2 and not self._is_measured(node)  # where it is bound, and here
        return (base, node.args[0].value) if alone else None

    def _is_measured(self, read: cst.Call) -> bool:
        """Whether a test asks how much was read: whether there is more, and what is said of it then."""
        given = {ex.source(target) for target in ex.assigned(self.module.parent[read])}
        tests = (node.test for node in self.module.scope_of[read].function.nodes_of(cst.If, cst.IfExp))
        return any(measures(test, name) for test in tests for name in given)

    def _is_opened(self, name: cst.Name) -> bool:
        """`with open(path) as name`, in the same turn of a loop."""
        for outer in self.module.ancestors(name):
            for item in outer.items if isinstance(outer, cst.With) else ():
                if item.asname is not None and ex.dotted(item.asname.name) == name.value:
                    return isinstance(item.item, cst.Call) and ex.called_name(item.item) == "open"
            if isinstance(outer, (cst.While, cst.For, cst.FunctionDef)):
                break
        return False

    def _are_lines(self, node: cst.BaseExpression) -> bool:
        """Whether a list has the lines of a text, a file or a process, or those that its function has gathered."""
        return any(map(self._are_lines_of_text, ex.alternatives(node)))

    def _are_lines_of_text(self, part: cst.BaseExpression) -> bool:
        if isinstance(part, cst.Call):
            by_line = ex.called_name(part) == "split" and [*map(ex.text, ex.positional(part))] == ["\n"]
            return by_line or ex.called_name(part) in {"splitlines", "readlines"}
        slot = self.facts.slots.of_name(part)
        if slot is None or not isinstance(part, cst.Name):
            return (ex.member(part) or (part, ""))[1] in {"stdout", "stderr"}
        made = (value for value in self.facts.assigned(slot) if isinstance(value, cst.Call))
        return self._is_opened(part) or self._is_gathered(slot) or any(map(self._are_lines, made))

    def _is_gathered(self, slot: Slot) -> bool:
        """Whether a list begins empty, and gets one text after the other, in no order but the one they come in."""
        begun, put = self.facts.assigned(slot), self.facts.grown(slot)
        if not all(isinstance(value, cst.List) and not value.elements for value in begun):
            return False
        uses = (self.module.parent[self.module.parent[name]] for name in self.facts.names.get(slot, ()))
        ranked = any(isinstance(use, cst.Call) and ex.called_name(use) in {"sort", "sorted"} for use in uses)
        return bool(begun and put) and not ranked

    def _is_list(self, node: cst.BaseExpression) -> bool:
        """Whether what is cut is a list: of messages, lines, results."""
        slot = self.facts.slots.of(node)
        if slot is not None and self._is_tested(node, slot, {"str"}):
            return False
        kinds = self.facts.kinds(node)
        if Kind.HISTORY in kinds or Kind.CALLS in kinds or type(ex.inner(node)) in _LISTS:
            return True
        if isinstance(node, cst.Call):
            otherwise = ex.positional(node)[1:] if ex.called_name(node) == "get" else []
            return ex.called_name(node) in _LISTERS or any(type(each) in _LISTS for each in otherwise)
        if slot is None:
            return False
        told = self.anatomy.elements.annotation(slot) if is_parameter(slot) else None
        if told is not None and _is_list_type(told):
            return True
        made = [part for value in self.facts.assigned(slot) for part in ex.alternatives(value)]
        return any(type(ex.inner(part)) in _LISTS for part in made) or self._is_tested(node, slot, {"list", "tuple"})

    def _is_short(self, node: cst.BaseExpression) -> bool:
        """Whether what is cut is short by itself, or only stands for something.

        `hashlib.sha1(text).hexdigest()`, `uuid4().hex`, `str(error)` of a decoder's error, which names a place.
        """
        values = [ex.inner(value) for value in self.facts.values_of(node) or [node]]
        return all(_makes_mark(value) or self._is_decoders_word(value) for value in values)

    def _is_decoders_word(self, value: cst.BaseExpression) -> bool:
        """`str(error)` under `except json.JSONDecodeError as error`: a phrase and a place."""
        given = ex.positional(value) if isinstance(value, cst.Call) and ex.dotted(value.func) == "str" else []
        name = ex.dotted(given[0]) if given else None
        for outer in self.module.ancestors(value) if name is not None else ():
            if isinstance(outer, cst.ExceptHandler) and outer.name is not None:
                if name in ex.target_names(outer.name.name):
                    return exceptions.caught(outer) <= _DECODERS_ERRORS
        return False

    def _is_tested(self, node: cst.BaseExpression, slot: Slot, types: set[str]) -> bool:
        """Whether it stands under `if isinstance(content, list)`."""
        around = (outer for outer in self.module.ancestors(node) if isinstance(outer, cst.If))
        within = (part for test in around if self.module.inside(node, test.body) for part in walk(test.test))
        said = (part for part in within if not isinstance(self.module.parent[part], cst.UnaryOperation))
        asked = (ex.positional(c) for c in said if isinstance(c, cst.Call) and ex.called_name(c) == "isinstance")
        return any(len(g) == 2 and self.facts.slots.of(g[0]) == slot and ex.last_name(g[1]) in types for g in asked)

    # -- words ------------------------------------------------------------------------------------------------

    def _tells(self, node: cst.CSTNode, *, measured: bool = True, beside: bool = True) -> bool:
        """Whether the words of a text, or a number in it if that is asked, say that something is missing.

        What does not stand `beside` what is cut must say so by itself: "more" is said of many things.
        """
        telling = words.SAYS_HOW_MUCH if beside else words.SAYS_IT_IS_CUT
        for part in walk(node):
            if isinstance(part, (cst.FormattedStringText, cst.SimpleString)):
                if telling.search(part.value):
                    return True
            if isinstance(part, cst.Call) and ex.dotted(part.func) == "len" and is_shown(self.module.parent, part):
                if measured:
                    return True
            if isinstance(part, _PLACES):
                name = part.value if isinstance(part, cst.Name) else part.attr.value
                if self._is_bound(part):
                    continue
                if telling.search(name) and not self._is_read(part):
                    return True
                if beside and self._stands_for_a_note(part):
                    return True
        return False

    def _is_bound(self, node: cst.CSTNode) -> bool:
        """Whether it says what is cut, or where: `text`, `limit` of `text[: limit - 3]`."""
        if isinstance(self.module.parent[node], cst.Subscript):
            return True
        for outer in self.module.ancestors(node):
            if not isinstance(outer, cst.BaseExpression):
                return isinstance(outer, cst.Slice)
        return False

    def _is_read(self, node: cst.Name | cst.Attribute) -> bool:
        """`short` of `short = text[:n].strip()`, `mark` of `mark = "..."`: the model reads what it holds, no name."""
        values = self.facts.values_of(node)
        held = [_unwrapped(part) for value in values for part in ex.alternatives(value)]
        return any(map(_head, held)) or (bool(held) and all(isinstance(part, cst.SimpleString) for part in held))

    def _is_added_where_cut(self, whole: cst.BaseExpression, piece: cst.CSTNode, behind: cst.CSTNode | None) -> bool:
        """Whether a text is longer than what is left of it, and words come behind only then: whatever these say."""
        head = _head(piece) if isinstance(piece, cst.BaseExpression) else None
        if head is None or not any(letter.isalpha() for letter in begins_with(behind)):
            return False
        tests = (o.test for o in self.module.ancestors(whole) if isinstance(o, (cst.If, cst.IfExp)))
        return any(measures(test, ex.source(head[0])) for test in tests)

    @once(circular=False)
    def _stands_for_a_note(self, node: cst.Name | cst.Attribute) -> bool:
        """A name of a line that says so, maybe in some cases only; or a constant of a file that is not here."""
        values = self._texts_of(node)
        parts = [part for value in values for part in ex.alternatives(value)]
        if any(isinstance(part, _STRINGS) and is_one_line(part) and self._tells(part) for part in parts):
            return True
        return not values and ex.last_name(node).isupper()

    def _texts_of(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a name stands for here, or in the file that it is imported from."""
        here = self.facts.values_of(node)
        found = self.anatomy.imported_value(ex.dotted(node) or "") if not here else None
        return found[0].facts.assigned(found[1]) if found is not None else here

    def is_told_beside(self, head: Head) -> bool:
        """`{"text": text[:n], "truncated": True}`, `{"text": text[:n], "length": len(text)}`."""
        for display in self.module.ancestors(head.node):
            held = self._held(display) if isinstance(display, cst.Dict) else ()
            if any(told and self.module.inside(head.node, value) for _, value, told in held):
                return True
            if isinstance(display, cst.BaseSmallStatement):
                break
        return False

    def _is_limit(self, size: cst.BaseExpression, depth: int = 0) -> bool:
        """Whether a length is somebody's choice: no place in the text that has been looked for, in all of it."""
        size = ex.inner(size)
        if isinstance(size, cst.BinaryOperation):
            sides = size.left, size.right
            lengths = all(isinstance(side, cst.Call) and ex.called_name(side) == "len" for side in sides)
            return not lengths and all(self._is_limit(side, depth) for side in sides)  # `len(line) - len(line.strip())`
        if isinstance(size, cst.Call):
            chosen = size.args if ex.called_name(size) in {"min", "max"} else size.args[2:]  # `rfind(end, 0, most)`
            known = ex.called_name(size) in _BOUNDS or bool(chosen)
            return known and all(self._is_limit(arg.value, depth) for arg in chosen)
        if isinstance(size, (cst.ListComp, cst.GeneratorExp)):  # of places, or of lengths
            return all(self._is_limit(part, depth) for part in walk(size) if isinstance(part, cst.Call))
        slot = self.facts.slots.of_name(size)
        if slot is None or slot[0] != "var" or slot[1].kind == "module" or slot[2] in parameter_names(slot[1]):
            return True
        values = self.facts.assigned(slot)
        return depth < DEEPEST and bool(values) and all(self._is_limit(value, depth + 1) for value in values)

    def keeps_tail(self, head: Head) -> bool:
        """Whether the same function takes the end of the same text as well."""
        name = ex.source(head.text)
        for node in head.function.nodes:
            part = ex.slice_of(node)
            if part is not None and isinstance(node, cst.Subscript) and part.upper is None and part.lower is not None:
                if ex.source(node.value) == name:
                    return True
        return False


@once(circular=_NO_SLOTS)
def _made_of(anatomy: Anatomy, function: Scope) -> frozenset[Slot]:
    """The parameters that the text is made of which a function gives, without a word that something is missing."""
    heads = Heads(anatomy)
    given = function.returned
    made = (slot for value in given for slot in heads.parameters(value, function))
    return frozenset(slot for slot in made if slot[1] is function)


@kept
def _made_as(anatomy: Anatomy, base: cst.BaseExpression) -> list[cst.CSTNode]:
    """The displays and calls of the file that something is made by: many parts of one thing are read."""
    return [made for made in what_is_made(anatomy, [base]).nodes if isinstance(made, _MAKERS)]


@kept
def _handed_on(anatomy: Anatomy, function: Scope) -> dict[Slot, list[tuple[CallSite, Slot]]]:
    """What a function hands to others, with where it calls them, and the parameters that get it."""
    found: dict[Slot, list[tuple[CallSite, Slot]]] = {}
    for site in anatomy.calls.calls.get(function, ()):
        for place, value in anatomy.facts.slots.bindings(site.node, site.callee):
            slot = anatomy.facts.slots.of(value)
            if slot is not None:
                found.setdefault(slot, []).append((site, place))
    return found


@kept
def _parts_set(anatomy: Anatomy, function: Scope) -> dict[Slot, list[tuple[str, cst.BaseExpression]]]:
    """What a function sets in objects: `result.output = text[:n]`, `result["truncated"] = True`."""
    found: dict[Slot, list[tuple[str, cst.BaseExpression]]] = {}
    for node in function.nodes_of(cst.Assign):
        place: cst.CSTNode = node.targets[0].target
        key = (ex.member(place) or (place, ""))[1]
        while isinstance(place, (cst.Attribute, cst.Subscript)):  # `found[name]["error"] = text[:n]`
            place = place.value
            slot = anatomy.facts.slots.of(place)
            if slot is not None:
                found.setdefault(slot, []).append((key, node.value))
    return found


def _is_in(slot: Slot, function: Scope) -> bool:
    """Whether a name is one of a function, or of those around it."""
    return function.within(slot[1].function) and (slot[1].function is function or slot[1].function.kind != "module")


def _makes_mark(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.Call) and ex.called_name(value) not in _MARKS:
        given = ex.positional(value) if ex.dotted(value.func) == "str" else [ex.receiver(value)]
        return given != [] and given[0] is not None and _makes_mark(given[0])
    return isinstance(value, cst.Call) or (isinstance(value, cst.Attribute) and _makes_mark(value.value))


def _head(node: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What is cut, and to how much: `text[:n]`, `islice(lines, n)`, `f"{text:.900}"`."""
    if isinstance(node, cst.Call):
        given = ex.positional(node)
        return (given[0], given[1]) if ex.called_name(node) == "islice" and len(given) == len(node.args) == 2 else None
    if isinstance(node, cst.FormattedStringExpression):
        spec = [part.value for part in node.format_spec or () if isinstance(part, cst.FormattedStringText)]
        whole = len(spec) == 1 and _PRECISION.match(spec[0])
        return (node.expression, cst.Integer(spec[0][1:])) if whole else None
    part = ex.slice_of(node)
    if part is None or not isinstance(node, cst.Subscript) or part.upper is None or part.step is not None:
        return None
    if part.lower is not None and ex.integer(part.lower) != 0:
        return None
    if isinstance(part.upper, cst.UnaryOperation):  # `text[:-1]`
        return None
    return node.value, part.upper


def handed_by(facts: Facts, slot: Slot, calls: tuple[cst.Call, ...]) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """What the last of some calls hands to a parameter."""
    for call in calls[-1:]:
        bindings = facts.slots.bindings(call, slot[1])
        yield from ((call, value) for bound, value in bindings if bound == slot)


def cleaned(call: cst.Call) -> cst.BaseExpression | None:
    """The text that a call tidies up: `text.strip()`, `" ".join(text.split())`, `sub(old, new, text)`."""
    name, base, given = ex.called_name(call), ex.receiver(call), ex.positional(call)
    if name in _WRAPPERS or name in {"split", "splitlines"}:
        return base
    if name == "join" and len(given) == 1:
        inner = ex.inner(given[0])
        return cleaned(inner) if isinstance(inner, cst.Call) else None
    return _searched(call) if name == "sub" else None


def _searched(call: cst.Call) -> cst.BaseExpression | None:
    """The text of `re.search(pattern, text, flags)`, `pattern.sub(new, text)`."""
    at = int(ex.called_name(call) == "sub") + int(ex.dotted(ex.receiver(call) or call.func) in {"re", "regex"})
    given = ex.positional(call)
    return given[at] if at < len(given) else None


def _taken_from(text: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The texts of which one is a part, or all in other words: lines of them, what was found in them."""
    for part in ex.alternatives(text):
        base = ex.receiver(part) if isinstance(part, cst.Call) else None
        within: cst.BaseExpression | None = part.value if isinstance(part, cst.Subscript) else None
        if isinstance(part, cst.Call):
            name = ex.called_name(part)
            within = base if name in _PARTS_OF_TEXT else _searched(part) if name in _FINDERS else cleaned(part)
        if within is None:
            yield part
        else:
            yield from _taken_from(within)


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """`text[:n]` of `text[:n].rstrip()`."""
    base = ex.receiver(node) if isinstance(node, cst.Call) and ex.called_name(node) in _WRAPPERS else None
    return _unwrapped(base) if base is not None else node


def names_in(node: cst.CSTNode) -> set[str]:
    """The names in an expression that are no functions."""
    called = {id(part.func) for part in walk(node) if isinstance(part, cst.Call)}
    return {part.value for part in walk(node) if isinstance(part, cst.Name) and id(part) not in called}


def _put_by(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """`x` of `lines.append(x)` and `lines.extend(["", x])`."""
    given = call.args[0].value if call.args else None
    if given is not None and ex.called_name(call) == "append":
        yield given
    elif isinstance(given, (cst.List, cst.Tuple)) and ex.called_name(call) == "extend":
        yield from (element.value for element in given.elements)


def is_json(facts: Facts, head: Head) -> bool:
    """Whether what is cut is JSON text: `json.dumps(x)[:n]`, also by a name, or through functions of this file."""
    return _is_encoded(facts, head.text, head.calls, set())


def _is_encoded(
    facts: Facts, node: cst.BaseExpression, calls: tuple[cst.Call, ...], seen: set[cst.BaseExpression]
) -> bool:
    made: list[tuple[cst.BaseExpression, tuple[cst.Call, ...]]] = []
    seen.add(node)
    for part in ex.alternatives(node):
        if facts.encoder(part) is not None:
            return True
        slot, callee = facts.slots.of(part), facts.slots.callee(part)
        if callee is not None and isinstance(part, cst.Call):
            made += [(value, (*calls, part)) for value in callee.returned]
        elif isinstance(part, cst.Call) and ex.called_name(part) in _SAME_TEXT and (base := ex.receiver(part)):
            made += [(value, calls) for value in (base, *ex.positional(part))]
        elif slot is not None and isinstance(part, _PLACES):
            made += [(value, calls) for value in facts.assigned(slot)]
            if is_parameter(slot):
                handed = facts.slots.bindings(calls[-1], slot[1]) if calls else ((slot, v) for v in facts.given(slot))
                made += [(value, calls[:-1]) for bound, value in handed if bound == slot]
    return any(value not in seen and _is_encoded(facts, value, by, seen) for value, by in made)


def _is_list_type(told: cst.BaseExpression) -> bool:
    name = ex.last_name(told.value if isinstance(told, cst.Subscript) else told)
    return name.lower() in {"list", "sequence", "iterable", "tuple"}
