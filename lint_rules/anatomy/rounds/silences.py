"""What comes of a function when the rounds of a loop are used up: no answer, by the return of the model's answers.

Or nothing at all, where answers are yielded, printed or sent within the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import reads_calls
from lint_rules.anatomy.program.handlers import is_logging, is_neutral
from lint_rules.anatomy.rounds.last_rounds import answers_at_last
from lint_rules.anatomy.rounds.limits import Exhaustion, Limits
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_QUIET = frozenset({"debug", "info", "trace", "log"})
_SEVERE = frozenset({"warning", "warn", "error", "exception", "critical"})


@record
class Silence:
    """`node` hands out `part`, which holds no answer when `way` has led there from `loop`.

    `twin` is another return that hands out the same, as an answer; None where answers pass `node` as well. Where `part`
    is None, `node` hands out answers within the loop, and behind it comes nothing.
    """

    node: cst.CSTNode
    part: cst.BaseExpression | None
    loop: RoundLoop
    way: Exhaustion
    twin: cst.Return | None = None


def silences(anatomy: Anatomy) -> Iterator[Silence]:
    """The returns of a file that do not tell an answer from rounds that are used up, each once."""
    seen: set[cst.CSTNode] = set()
    for loop in anatomy.rounds:
        if answers_at_last(anatomy, loop):
            continue
        limits = Limits(anatomy, loop.node, loop.function)
        for way in limits.running_out():
            of_way = _Way(anatomy, loop, limits, way)
            for found in [*of_way.silences()] or of_way.quiet_end():
                if found.node not in seen:
                    seen.add(found.node)
                    yield found


def _is_quiet(call: cst.Call) -> bool:
    """Whether a call writes a log that no user reads: what is printed, he does."""
    return is_logging(call) and ex.called_name(call) in _QUIET


class _Way:
    """One way out of one loop, and the returns it leads to."""

    def __init__(self, anatomy: Anatomy, loop: RoundLoop, limits: Limits, way: Exhaustion) -> None:
        self.anatomy = anatomy
        self.slots = anatomy.facts.slots
        self.loop = loop
        self.limits = limits
        self.way = way

    def silences(self) -> Iterator[Silence]:
        ends = self.loop.function.nodes_of(cst.Return, cst.Yield)
        parts = [(end, part) for end in ends if (part := self._unanswered(end.value)) is not None]
        if not parts:
            return
        passed = self._passed(self.way.after)
        replied = self._passed(self.limits.by_reply())
        answered = replied | ({*passed} if not self.way.pure else set())
        graph = self.anatomy.flow(self.loop.function)
        for node, part in parts:
            points = [p for p in graph.enclosing(node, self.anatomy.module.parent) if p in passed]
            is_shared = any(p in answered for p in points)
            twin = self._twin(node, part) if points and not is_shared else None
            if is_shared or twin is not None:
                if not self._is_told(passed - answered, passed, self.slots.of(part)):
                    yield Silence(node, part, self.loop, self.way, twin)

    def _passed(self, start: list[Point]) -> set[Point]:
        """The points behind the loop that a way out leads to."""
        found = set(start)
        queue = list(start)
        while queue:
            for target, kind in queue.pop().successors:
                if kind != "exception" and target not in found and target.statement is not self.loop.node:
                    found.add(target)
                    queue.append(target)
        return found

    def _twin(self, end: cst.Return | cst.Yield, part: cst.BaseExpression) -> cst.Return | None:
        """The return inside the loop that hands out the text of a reply in the same words."""
        if not self._is_last_text(part):
            return None
        words = ex.source(end.value, 200) if end.value is not None else ""
        for other in self.loop.function.nodes_of(cst.Return):
            if self.anatomy.module.inside(other, self.loop.node) and other.value is not None:
                if ex.source(other.value, 200) == words:
                    return other
        return None

    # -- nothing ----------------------------------------------------------------------------------------------

    def quiet_end(self) -> Iterator[Silence]:
        """The end of a function that gives nothing back, where answers go out within the loop, and no word behind."""
        function = self.loop.function
        if any(not is_neutral(n.value) for n in function.nodes_of(cst.Return)) or not self._leaves_without_calls():
            return
        handed = next(self._handed_out(), None)
        if handed is None or self.limits.idle is not None:
            return
        passed, answered = self._passed(self.way.after), self._passed(self.limits.by_reply())
        if not any(self._may_tell(point, alone=point not in answered) for point in passed):
            yield Silence(handed, None, self.loop, self.way)

    def _handed_out(self) -> Iterator[cst.CSTNode]:
        """Where the loop yields something, or gives the model's text to somebody, not to a history."""
        facts, function = self.anatomy.facts, self.loop.function
        stored = {stored.node for stored in self.anatomy.transcript.stored(function)}
        for node in self.anatomy.module.nodes_inside(self.loop.node.body, function, cst.Yield, cst.Call):
            if isinstance(node, cst.Yield):
                yield node
            elif node not in stored and self.anatomy.module.is_statement(node) and not self.anatomy.calls.asks(node):
                if any(Kind.MODEL_TEXT in facts.kinds(arg.value) for arg in node.args):
                    yield node

    def _may_tell(self, point: Point, *, alone: bool) -> bool:
        """Whether a point behind the loop tells of the end of the rounds: under a test, or where no answer comes.

        What is yielded there may tell for answers, too.
        """
        node = point.statement
        if node is None:
            return False
        if any(isinstance(part, cst.Yield) for each in point.expressions() for part in walk(each)):
            return True
        around = (
            outer for outer in self.anatomy.module.ancestors(node) if isinstance(outer, (cst.If, cst.ExceptHandler))
        )
        if not alone and all(self.anatomy.module.inside(self.loop.node, outer) for outer in around):
            return False
        return isinstance(node, cst.Raise) or any(
            isinstance(part, cst.Call) and not _is_quiet(part) for each in point.expressions() for part in walk(each)
        )

    # -- what is returned -------------------------------------------------------------------------------------

    def _unanswered(self, value: cst.CSTNode | None) -> cst.BaseExpression | None:
        """The part of what is handed out that holds no answer when the rounds are used up."""
        value = self._given_by(value) if isinstance(value, cst.Call) else value
        parts = [value] if isinstance(value, cst.BaseExpression) else []
        if isinstance(value, cst.Tuple):
            parts = [e.value for e in value.elements]
        elif isinstance(value, cst.Dict):
            parts = list(ex.dict_items(value).values())
        if any(self._says_how_it_ended(part) for part in parts):
            return None
        for part in parts:
            if self._is_first_value(part):
                return part
            if self._is_awaited(part):
                return self._made_behind(part)
            made = self._made_behind(part)
            if self._is_last_text(made):
                return made
            if self._is_text_of_rounds(made):
                return part
        return None

    def _given_by(self, call: cst.Call) -> cst.CSTNode:
        """What a function of this file, with one `return`, gives back: `return self._result()`."""
        callee = self.slots.callee(call)
        given = callee.nodes_of(cst.Return) if callee is not None else []
        return given[0].value if len(given) == 1 and given[0].value is not None else call

    def _is_awaited(self, part: cst.BaseExpression) -> bool:
        """`found or {}` behind `while found is None and n < most`: empty, where the loop has not found it."""
        part = ex.inner(part)
        test = self.loop.node.test if isinstance(self.loop.node, cst.While) else None
        if test is None or not isinstance(part, cst.BooleanOperation) or not isinstance(part.operator, cst.Or):
            return False
        wanted = self.slots.of(part.left)
        empty = is_neutral(part.right) and ex.dotted(part.right) != "None"
        return empty and wanted is not None and wanted in map(self.slots.of, _missing(test))

    def _made_behind(self, part: cst.BaseExpression) -> cst.BaseExpression:
        """What a name was given behind the loop; without what stands there for nothing: `reply.content or ""`.

        Nor what is taken out of the text: `re.sub(NOTE, "", reply.content)`.
        """
        named = self.anatomy.assigned(part) if isinstance(part, cst.Name) else None
        if named is not None and not self.anatomy.module.inside(named, self.loop.node):
            return self._made_behind(named)
        part = ex.inner(part)
        if isinstance(part, cst.BooleanOperation) and isinstance(part.operator, cst.Or) and is_neutral(part.right):
            return self._made_behind(part.left)
        if isinstance(part, cst.IfExp) and self._asks_only_for_reply(part):
            return self._made_behind(part.body)
        if isinstance(part, cst.Call) and ex.called_name(part) in words.TEXT_FUNCTIONS:
            inside = [ex.receiver(part), *(arg.value for arg in part.args)]
            texts = [each for each in inside if each is not None and Kind.MODEL_TEXT in self.anatomy.facts.kinds(each)]
            return self._made_behind(texts[0]) if len(texts) == 1 else part
        return part

    def _asks_only_for_reply(self, choice: cst.IfExp) -> bool:
        """`reply.text if reply else "..."`: whether the test asks only if there is a reply, as behind a round."""
        base, bare = ex.member(choice.body), self.anatomy.module.parent
        slot = self.slots.of(base[0]) if base is not None else None
        named = [part for part in walk(choice.test) if isinstance(part, (cst.Name, cst.Attribute))]
        own = [part for part in named if self.slots.of(part) == slot]
        return (
            slot is not None
            and bool(own)
            and all(
                part in own or ex.dotted(part) in {"hasattr", "isinstance", "None"} or isinstance(bare[part], cst.Arg)
                for part in named
            )
        )

    def _says_how_it_ended(self, part: cst.BaseExpression) -> bool:
        """A flag or a word that is set where the loop is left: `done = True`, `status = "answered"`."""
        slot = self.slots.of(part) if isinstance(part, (cst.Name, cst.Attribute)) else None
        values = self.anatomy.facts.assigned(slot) if slot is not None else []
        return any(
            (ex.dotted(value) in {"True", "False"} or ex.text(value)) and self.limits.exits.leads_out(value)
            for value in values
            if self.anatomy.module.inside(value, self.loop.node.body)
        )

    def _is_first_value(self, part: cst.BaseExpression) -> bool:
        """A name that is empty before the loop, and set in it only where the loop is left."""
        slot = self.slots.of(part) if isinstance(part, cst.Name) else None
        if slot is None:
            return False
        values = [v for v in self.anatomy.facts.assigned(slot) if self.anatomy.module.scope_of[v].function is slot[1]]
        inside = [v for v in values if self.anatomy.module.inside(v, self.loop.node.body)]
        before = [v for v in values if v not in inside]
        if len(before) != 1 or not inside or not is_neutral(before[0]) or ex.dotted(before[0]) == "None":
            return False
        return self._is_text(slot, inside) and all(self._ends_the_loop(v) for v in inside) and not self._grows(slot)

    def _is_text(self, slot: Slot, values: list[cst.BaseExpression]) -> bool:
        """Whether the loop puts the model's text there."""
        wanted = (Kind.MODEL_TEXT, Kind.REPLY, Kind.MESSAGE)
        read = (node for value in values for node in _read_in(value))
        return any(kind in self.anatomy.facts.kinds(node) for node in read for kind in wanted)

    def _ends_the_loop(self, value: cst.BaseExpression) -> bool:
        if self.limits.exits.leads_out(value):
            return True
        block = self.anatomy.module.parent.get(self.anatomy.module.parent[self.anatomy.module.statement(value)])
        tested = {n.value for n in walk(self.loop.node.test) if isinstance(n, cst.Name)} if isinstance(
            self.loop.node, cst.While
        ) else set[str]()  # fmt: skip
        flags = (n for n in walk(block) if isinstance(n, cst.Assign)) if isinstance(block, cst.IndentedBlock) else ()
        return any(ex.dotted(t.target) in tested for flag in flags for t in flag.targets)

    def _grows(self, slot: Slot) -> bool:
        """`text += piece`: what is there when the rounds are used up is a part of an answer."""
        return any(
            isinstance(node, cst.AugAssign) and self.slots.of(node.target) == slot for node in self.loop.function.nodes
        )

    def _is_last_text(self, part: cst.BaseExpression) -> bool:
        """`reply.content` of a reply that each round sets, where only replies without calls leave the loop."""
        pair = ex.member(part)
        if pair is None or pair[1] not in {"content", "text", "output_text"} or not self._leaves_without_calls():
            return False
        root = pair[0]
        while not isinstance(root, cst.Name):
            inner = ex.member(root)
            if inner is None and isinstance(root, cst.Subscript):
                root = root.value
            elif inner is not None:
                root = inner[0]
            else:
                return False
        slot = self.slots.of(root)
        if slot is None or Kind.HISTORY in self.anatomy.facts.of(slot):
            return False
        asked = [v for v in self.anatomy.facts.assigned(slot) if self.anatomy.module.inside(v, self.loop.node.body)]
        return bool(asked) and not any(self.limits.exits.leads_out(v) for v in asked) and self._is_text(slot, asked)

    def _is_text_of_rounds(self, part: cst.BaseExpression) -> bool:
        """A name that gets, or grows by, what the model says beside its calls: rounds set it that go on."""
        part = ex.inner(part)
        if isinstance(part, cst.BooleanOperation):  # `said or "(nothing)"`
            part = part.left
        slot = self.slots.of(part) if isinstance(part, cst.Name) else None
        if slot is None or slot[:2] != ("var", self.loop.function) or not self._leaves_without_calls():
            return False
        grown = [n.value for n in self.loop.function.nodes_of(cst.AugAssign) if self.slots.of(n.target) == slot]
        values = [*self.anatomy.facts.assigned(slot), *grown]
        inside = [v for v in values if self.anatomy.module.inside(v, self.loop.node.body)]
        going_on = [v for v in inside if not self._ends_the_loop(v)]
        return any(Kind.MODEL_TEXT in self.anatomy.facts.kinds(part) for v in going_on for part in _read_in(v))

    def _leaves_without_calls(self) -> bool:
        """Whether the reply ends the loop when it asks for no tools."""
        tests = (getattr(decision.node, "test", None) for decision in self.limits.decisions)
        return any(test is not None and reads_calls(self.anatomy.facts, test) for test in tests)

    # -- what tells -------------------------------------------------------------------------------------------

    def _is_told(self, alone: set[Point], passed: set[Point], slot: Slot | None) -> bool:
        """Whether anything on the way out of a used-up loop tells it, or changes the value.

        What an answer passes as well tells nothing, unless it asks which of the two it was; `alone` are the points that
        only rounds come to that are used up.
        """
        if any(self._tells(node) for point in alone for part in point.expressions() for node in walk(part)):
            return True
        return any(
            self._asks(node, slot) for point in passed for part in point.expressions() for node in walk(part)
        ) or any(
            isinstance(point.statement, (cst.Raise, cst.Yield)) or self._binds(point.statement, slot)
            for point in passed
        )

    def _tells(self, node: cst.CSTNode) -> bool:
        """A call or a text that only rounds come to that are used up: a warning, a message, a note that is kept."""
        if isinstance(node, cst.Call):
            return not is_logging(node) or ex.called_name(node) in _SEVERE
        return isinstance(node, (cst.SimpleString, cst.FormattedStringText)) and not self._is_logged(node)

    def _is_logged(self, node: cst.CSTNode) -> bool:
        """Whether a text goes to a log that nobody reads: `print`, `logger.debug`."""
        calls = (outer for outer in self.anatomy.module.ancestors(node) if isinstance(outer, cst.Call))
        return any(is_logging(call) and ex.called_name(call) not in _SEVERE for call in calls)

    def _asks(self, node: cst.CSTNode, slot: Slot | None) -> bool:
        """The model for another answer, or whether there is one."""
        if isinstance(node, cst.Call):
            return self.anatomy.calls.asks(node)
        return isinstance(node, (cst.Name, cst.Attribute)) and self._is_tested(node, slot)

    def _is_tested(self, node: cst.Name | cst.Attribute, slot: Slot | None) -> bool:
        """Whether a branch behind the loop asks for the value, the counter, or the calls."""
        if self.slots.of(node) != slot and Kind.CALLS not in self.anatomy.facts.kinds(node):
            if not self._tells_ends_apart(node):
                return False
        here: cst.CSTNode = node
        for outer in self.anatomy.module.ancestors(node):
            if isinstance(outer, (cst.If, cst.While, cst.IfExp, cst.Assert)):
                return here is outer.test
            if isinstance(outer, cst.BooleanOperation) and not is_neutral(outer.right):
                return True
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return False
            here = outer
        return False

    def _tells_ends_apart(self, node: cst.Name | cst.Attribute) -> bool:
        """Whether a value is a counter of the rounds, or is set where the loop is left."""
        slot = self.slots.of(node)
        values = self.anatomy.facts.assigned(slot) if slot is not None else []
        left = (v for v in values if self.anatomy.module.inside(v, self.loop.node))
        return self.limits.bounds.is_counter(node) or any(map(self.limits.exits.leads_out, left))

    def _binds(self, statement: cst.CSTNode | None, slot: Slot | None) -> bool:
        return isinstance(statement, (cst.Assign, cst.AnnAssign, cst.AugAssign)) and any(
            self.slots.of(target) == slot for target in ex.targets(statement)
        )


def _read_in(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is read in a value."""
    for node in walk(value):
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
            yield node


def _missing(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What is not there yet where a test holds: `x` of `x is None and ...` and of `not x`."""
    test = ex.inner(test)
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        yield from (*_missing(test.left), *_missing(test.right))
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield test.expression
    elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        left, operator, right = ex.compared(test)
        if isinstance(operator, (cst.Is, cst.Equal)) and is_neutral(right):
            yield left
