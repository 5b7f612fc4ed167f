"""Tests that lead a reply with calls past the code that looks for these, to where its text passes for the answer.

Three kinds of tests do: of why the reply has ended, where its tokens may run out within a call; of its text, or of its
first block, as a reply may have both; and of its calls and something else, like a flag of the program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import cast

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.told import ToldByReply
from lint_rules.anatomy.rounds.offers import Offer
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.turns.turns import MOST_REQUESTS
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import evaluate, truth

Test = cst.If | cst.While
Says = Callable[[cst.BaseExpression], "bool | None"]


class By(Enum):
    """What a test asks for that lets a reply with calls pass."""

    END = "why the reply has ended"
    TEXT = "its text"
    STATE = "its calls, and something else"


@record
class LedPast:
    """`test` lets a reply with calls pass to `text`, where its text is taken for the answer."""

    test: cst.BaseExpression
    text: cst.CSTNode
    by: By


def led_past(anatomy: Anatomy, offered: Iterable[Offer]) -> Iterator[LedPast]:
    """Of requests in whose replies calls are looked for; each test once."""
    seen: set[cst.CSTNode] = set()
    of_function: defaultdict[Scope, list[Offer]] = defaultdict(list)
    for offer in offered:
        of_function[anatomy.module.scope_of[offer.call].function].append(offer)
    for function, made in of_function.items():
        if len(made) > MOST_REQUESTS:
            continue
        led = _Led(anatomy, function)
        for offer in made:
            for found in led.past(offer):
                if found.test not in seen:
                    seen.add(found.test)
                    yield found


class _Led:
    """Answers for one function."""

    def __init__(self, anatomy: Anatomy, function: Scope) -> None:
        self._anatomy = anatomy
        self._told = ToldByReply(anatomy, function)
        self._graph = anatomy.flow(function)
        self._ways = anatomy.ways(function)
        stored = anatomy.transcript.stored(function)
        kept = set(anatomy.points(function, [s.node for s in stored if s.calls is not None]))
        self._over = {p for p in self._graph.points if p in kept or self._told.asks(p) or self._told.settles(p)}
        self._texts = {s.node for s in stored if s.role == "assistant"}
        self._goals: set[Point] = set()
        self._offered_if: set[str] = set()

    def past(self, offer: Offer) -> Iterator[LedPast]:
        self._goals = set(self._anatomy.points(self._told.function, [*self._texts, *self._given(offer)])) - self._over
        given = (ex.inner(value) for value in (offer.tools, *self._anatomy.facts.values_of(offer.tools)))
        self._offered_if = {name for value in given if isinstance(value, cst.IfExp) for name in names_in(value.test)}
        flags = self._told.cut_off
        if flags and not self._told.asks_for_cut:
            yield from self._by(offer, lambda test: truth(test, flags), By.END)
        yield from self._by(offer, self._of_text, By.TEXT)
        yield from self._by(offer, lambda _: None, By.STATE)

    def _given(self, offer: Offer) -> Iterator[cst.CSTNode]:
        """Where something leaves the function that is made of the reply, by whatever lists its texts were put into."""
        function = self._told.function
        names = ReplyPlaces(self._anatomy).derived(function, offer.call, put=True)
        for node in function.nodes_of(cst.Return, cst.Yield):
            value = node.value.item if isinstance(node.value, cst.From) else node.value
            if value is not None and (self._told.mentions(value) or holds([value], offer.call, names)):
                yield node

    def _by(self, offer: Offer, says: Says, by: By) -> Iterator[LedPast]:
        """The test by which a reply with calls passes, if what `says` knows of it holds, too."""

        def outcome(node: cst.CSTNode) -> bool | None:
            if not isinstance(node, (cst.If, cst.While)):
                return None
            known = says(node.test)
            known = self._told.outcome(node) if known is None else known
            return evaluate(node.test, self._as_usual) if known is None and by is not By.END else known

        either = None if by is By.END else self._is_open
        starts = self._anatomy.points(self._told.function, [offer.call])
        to_text = self._ways.path(starts, self._goals, self._over, says=outcome, either=either)
        if to_text is None:
            return
        text = to_text[-1]
        if by is not By.END and not isinstance(text.statement, cst.Return):
            asking = (point for point in self._graph.points if self._told.asks(point))
            ends = {self._graph.exit, *(point for point in asking if not self._goes_on(point, text))}
            if self._ways.path([text], ends, self._over, says=outcome, either=either) is None:
                return
        asked = (p.statement for p in to_text if isinstance(p.statement, (cst.If, cst.While)))
        test = next((each.test for each in asked if self._leads(each.test, says, by) and self._decides(each)), None)
        if test is not None:
            yield LedPast(test, cast(cst.CSTNode, text.statement), by)

    def _goes_on(self, asking: Point, text: Point) -> bool:
        """Whether a loop goes through what a request gives bit by bit, of which a point in it has one: more comes."""
        loop = asking.statement
        return isinstance(loop, cst.For) and self._anatomy.module.inside(cast(cst.CSTNode, text.statement), loop.body)

    def _leads(self, test: cst.BaseExpression, says: Says, by: By) -> bool:
        """Whether a test is one of those asked for; one that counts rounds is a limit, which others look at."""
        if by is not By.STATE:
            return says(test) is not None
        return self._is_mixed(test) and not any(map(self._counts, self._told.undecided(test)))

    def _decides(self, asked: Test) -> bool:
        """Whether it matters how a test comes out: what hangs on it handles calls, or leaves; to warn is neither."""
        module = self._anatomy.module
        leaves = module.nodes_inside(asked, self._told.function, cst.Return, cst.Raise, cst.Break, cst.Continue)
        handles = (cast(cst.CSTNode, point.statement) for point in self._over if point.statement is not asked)
        return isinstance(asked, cst.While) or bool(leaves) or any(module.inside(node, asked) for node in handles)

    def _of_text(self, test: cst.BaseExpression) -> bool | None:
        """What a test of the text gives for a reply that has text, too: None for one of its calls.

        A test of the first block is one of the text: the calls stand behind what is said before them.
        """
        first: list[bool] = []

        def atom(part: cst.BaseExpression) -> bool | None:
            of_first = self._of_first(part)
            if of_first is not None:
                first.append(of_first)
                return of_first
            kinds = self._anatomy.facts.kinds(part)
            return True if Kind.MODEL_TEXT in kinds and Kind.CALLS not in kinds else self._told.truth(part)

        value = evaluate(test, atom)
        return value if value is not None and (first or self._told.truth(test) is None) else None

    def _of_first(self, part: cst.BaseExpression) -> bool | None:
        """What a part of a test gives where the first block is a text: `content[0].type == "text"`, `parts[0].call`."""
        part = ex.inner(part)
        if isinstance(part, cst.Comparison):
            left, operator, right = ex.compared(part)
            typed, said = ex.member(left), ex.text(right)
            if typed is not None and typed[1] == "type" and said is not None and self._is_first(typed[0]):
                alike = said == "text"
                return alike if isinstance(operator, cst.Equal) else not alike
            if ex.dotted(right) == "None" and (called := self._of_first(left)) is False:
                return isinstance(operator, (cst.Is, cst.Equal)) is not called
            asked = ex.asked(part)
            if asked is None or not self._is_first(asked[0]):
                return None
            return (asked[1] in {"type", "text"}) is not isinstance(operator, cst.NotIn)
        pairs = (ex.member(each) for each in (part, *self._anatomy.facts.values_of(part)))
        bases = [pair[0] for pair in pairs if pair is not None]
        is_call = not {Kind.CALL, Kind.FUNCTION}.isdisjoint(self._anatomy.facts.kinds(part))
        return False if is_call and any(map(self._is_first, bases)) else None

    def _is_first(self, block: cst.BaseExpression) -> bool:
        return any(map(self._is_first_of_reply, map(ex.inner, [block, *self._anatomy.facts.values_of(block)])))

    def _is_first_of_reply(self, block: cst.BaseExpression) -> bool:
        blocks = (
            ex.member(block.value) if isinstance(block, cst.Subscript) and ex.integer(ex.index(block)) == 0 else None
        )
        return blocks is not None and Kind.REPLY in self._anatomy.facts.kinds(blocks[0])

    @cached_property
    def _holding(self) -> set[str]:
        """What the first blocks of replies lie in, as it is written: it is there if the reply is."""
        found: set[str] = set()
        for block in self._told.function.nodes_of(cst.Subscript):
            outer: cst.CSTNode = block.value if self._is_first_of_reply(block) else block
            while outer is not block and isinstance(outer, (cst.Attribute, cst.Subscript)):
                found.add(ex.source(outer))
                outer = outer.value
        return found

    def _as_usual(self, part: cst.BaseExpression) -> bool | None:
        """What a part of a test gives for a reply that is there, and has not been cut off or refused."""
        if Kind.REPLY in self._anatomy.facts.kinds(part) or ex.source(part) in self._holding:
            return True
        return self._told.ended_otherwise(part) if isinstance(part, cst.Comparison) else None

    def _is_open(self, test: cst.BaseExpression) -> bool:
        """Whether a test may come out either way for a reply with calls: what decides is not the reply."""
        return not self._told.mentions(test) or self._is_mixed(test)

    def _is_mixed(self, test: cst.BaseExpression) -> bool:
        """Whether a test asks for the calls, and for what is not of the reply: `calls and not done`."""
        if self._told.truth(test) is not None or not self._asks(test):
            return False
        parts = [*self._told.undecided(test)]
        as_offered = all(names_in(part) <= self._offered_if for part in parts)  # without it there are no calls
        return not as_offered and not any(map(self._told.mentions, parts))

    def _counts(self, test: cst.BaseExpression) -> bool:
        """Whether a test compares sizes, or asks for a number that the function counts with: `left`, of `left - 1`."""
        if not isinstance(test, cst.Name):
            return _compares_sizes(test)
        counted = self._told.function.nodes_of(cst.BinaryOperation, cst.AugAssign)
        numbers = (node.target if isinstance(node, cst.AugAssign) else node.left for node in counted)
        return any(isinstance(number, cst.Name) and number.value == test.value for number in numbers)

    def _asks(self, test: cst.BaseExpression) -> bool:
        """Whether a test, or one of its parts, asks for the calls."""
        test = ex.inner(test)
        if isinstance(test, cst.UnaryOperation):
            return self._asks(test.expression)
        if isinstance(test, cst.BooleanOperation):
            return self._asks(test.left) or self._asks(test.right)
        return self._told.truth(test) is not None


def _compares_sizes(test: cst.BaseExpression) -> bool:
    """Whether something is compared by its size, or with a number."""
    if not isinstance(test, cst.Comparison):
        return False
    _, operator, right = ex.compared(test)
    return not isinstance(operator, (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot, cst.In, cst.NotIn)) or (
        isinstance(right, (cst.Integer, cst.BinaryOperation))
    )
