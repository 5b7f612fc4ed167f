"""What comes of a function when the rounds of a loop are used up: what a finished run gives, in the same way.

Or nothing at all, where answers are yielded, printed or sent within the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from itertools import chain, islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import reads_calls
from lint_rules.anatomy.program.handlers import is_logging, is_neutral
from lint_rules.anatomy.rounds.last_rounds import answers_at_last
from lint_rules.anatomy.rounds.limits import Cause, Exhaustion, Limits
from lint_rules.anatomy.rounds.reasons import says_why
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.obligations.leftovers import Leftover, Leftovers
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import last_statement, walk

_TOUCHING = (
    cst.AssignTarget,
    cst.Arg,
    cst.Attribute,
    cst.AugAssign,
    cst.AnnAssign,
    cst.NamedExpr,
    cst.Element,
    cst.For,
)
"""Where a name stands by which what it is, or holds, may become another."""
_QUIET = frozenset({"debug", "info", "trace", "log"})
_SEVERE = frozenset({"warning", "warn", "error", "exception", "critical"})


@record
class Silence:
    """`node` hands out `left`, which holds no answer when `way` has led there from `loop`.

    `twin` is another one that hands out an answer in the same form; None where answers pass `node` as well. Where
    `left` is None, `node` hands out answers within the loop, and behind it comes nothing, or what it `shows` after an
    answer, too; or, with `read`, it is the call for which nothing is given back then, and `read` takes that for one.
    """

    node: cst.CSTNode
    left: Leftover | None
    loop: RoundLoop
    way: Exhaustion
    twin: cst.Return | cst.Yield | None = None
    read: cst.CSTNode | None = None
    shows: bool = False


def silences(anatomy: Anatomy) -> Iterator[Silence]:
    """The returns of a file that do not tell an answer from rounds that are used up, each once."""
    seen: set[cst.CSTNode] = set()
    for loop in anatomy.rounds:
        if answers_at_last(anatomy, loop):
            continue
        limits = Limits(anatomy, loop.node, loop.function)
        for way in limits.running_out():
            of_way = _Way(anatomy, loop, limits, way)
            for found in [*of_way.silences()] or [*of_way.quiet_end()] or of_way.unready():
                if found.node not in seen:
                    seen.add(found.node)
                    yield found


def broken_off(anatomy: Anatomy, loop: RoundLoop, limits: Limits, stop: cst.Break) -> Silence | None:
    """What comes of a `break` in the middle of a round by the return that gives an answer, too."""
    after = [target for point in anatomy.points(loop.function, [stop]) for target, _ in point.successors]
    return next(_Way(anatomy, loop, limits, Exhaustion(stop, False, after)).silences(), None)


class _Way:
    """One way out of one loop, and the returns it leads to."""

    def __init__(self, anatomy: Anatomy, loop: RoundLoop, limits: Limits, way: Exhaustion) -> None:
        self.anatomy = anatomy
        self.module = anatomy.module
        self.slots = anatomy.facts.slots
        self.loop = loop
        self.limits = limits
        self.way = way
        self.leftovers = Leftovers(anatomy, loop, limits)

    @cached_property
    def passed(self) -> set[Point]:
        """The points behind the loop that this way leads to, up to those that ask the model once more."""
        return self._behind(self.way.after)

    def asks(self, point: Point) -> bool:
        return any(isinstance(node, cst.Call) and self.anatomy.calls.asks(node) for node in _nodes(point))

    @cached_property
    def answered(self) -> set[Point]:
        """Those that the model's answer leads to."""
        exits = self.limits.exits
        said = {decision.node for decision in self.limits.decisions if self._is_answer(decision.node, decision.cause)}
        return self._behind([t for p in exits.deciding if p.statement in said for t in exits.behind(p)], asking=True)

    def _is_answer(self, node: cst.CSTNode, cause: Cause) -> bool:
        """Whether a decision to leave hangs on the reply: on whether it has calls, whatever else is asked there."""
        test = getattr(node, "test", None)
        return cause is Cause.REPLY or (test is not None and reads_calls(self.anatomy.facts, test))

    def _behind(self, start: list[Point], *, asking: bool = False) -> set[Point]:
        """The points that some lead to; beyond those where the model is asked only where that may be the answer."""
        found = set(start)
        queue = list(start)
        while queue:
            point = queue.pop()
            for target, kind in point.successors if asking or not self.asks(point) else ():
                if kind != "exception" and target not in found and target.statement is not self.loop.node:
                    found.add(target)
                    queue.append(target)
        return found

    def silences(self) -> Iterator[Silence]:
        """What is returned or yielded behind the loop; else what is stored, sent or shown there."""
        found = sorted({node for point in self.passed for node in _nodes(point)}, key=self.module.order.__getitem__)
        ends = ((end, end.value) for end in found if isinstance(end, (cst.Return, cst.Yield)))
        given = ((end, value) for end, value in ends if isinstance(value, cst.BaseExpression))
        calls = (call for call in found if isinstance(call, cst.Call) and self.module.is_statement(call))
        shown = ((call, call) for call in calls if not _is_quiet(call))
        yield from islice(chain(self._silent(given), self._silent(shown)), 1)

    def _silent(self, ends: Iterable[tuple[cst.CSTNode, cst.BaseExpression]]) -> Iterator[Silence]:
        graph = self.anatomy.flow(self.loop.function)
        for node, value in ends:
            left = self.leftovers.of(value)
            if left is None:
                continue
            points = graph.enclosing(node, self.module.parent)
            is_shared = not self.way.pure or not self.answered.isdisjoint(points)
            twin = self._twin(node, value) if not is_shared else None
            way = self._leading_to(points)
            if (is_shared or twin is not None) and (not self._asking or self._hangs_on(left, way)):
                if not self._is_told(left, way, node if twin is not None else None):
                    yield Silence(node, left, self.loop, self.way, twin)

    @cached_property
    def _asking(self) -> set[Point]:
        """Where the model is asked once more."""
        return {*filter(self.asks, self.passed)}

    def _leading_to(self, ends: list[Point]) -> set[Point]:
        """The points on the way to what is handed out, where nobody asks the model on it."""
        leads = partial(self.anatomy.flow(self.loop.function).reaches, avoiding=self._asking, exceptions=False)
        return {point for point in self.passed - self._asking if point in ends or leads(point, ends)}

    def _hangs_on(self, left: Leftover, way: set[Point]) -> bool:
        """Whether it is what the rounds have left there that decides if the model is asked once more."""
        tests = (point.statement.test for point in way if isinstance(point.statement, cst.If))
        return any(self.slots.of(node) in left.names for test in tests for node in walk(test) if ex.reads_place(node))

    def _twin(self, end: cst.CSTNode, value: cst.BaseExpression) -> cst.Return | cst.Yield | None:
        """The return inside the loop that hands out what the model says in the same form, with the same constants.

        A text that says nothing has the form of any; an empty one where no caller asks whether there is one.
        """
        is_blank = self.leftovers.is_blank(value)
        if ex.text(value) == "" and self._is_asked_for_by_callers():
            return None
        chosen = [*ex.alternatives(value)]
        if not all(self.leftovers.of(part) is not None for part in chosen):
            chosen = [value]  # another text for want of one makes another form
        forms = {"_"} if is_blank else {_form(self._made(part)) for part in chosen}
        for other in self.loop.function.nodes_of(type(end)) if isinstance(end, (cst.Return, cst.Yield)) else ():
            if other is not end and isinstance(other.value, cst.BaseExpression):
                given = self._made(other.value)
                given = next(ex.alternatives(given)) if is_blank else given
                inside = self.module.inside(other, self.loop.node)
                if inside and _form(given) in forms and self.leftovers.says(given):
                    return other
        return None

    def _made(self, value: cst.BaseExpression) -> cst.BaseExpression:
        """What a name stands for that is handed out: `result = {"text": text}`, `return result`."""
        return (self.anatomy.assigned(value) if isinstance(value, cst.Name) else None) or value

    def _is_asked_for_by_callers(self) -> bool:
        """Whether a caller of this file does something else where it is given nothing."""
        return any(self._is_asked_for(site.node) for site in self.anatomy.calls.sites[self.loop.function])

    def _is_asked_for(self, call: cst.Call) -> bool:
        node = self.module.awaiting(call)
        outer = node if isinstance(node, (cst.Assign, cst.AnnAssign)) else None
        named = [self.slots.of(target) for target in ex.targets(outer)] if outer is not None else []
        function = self.module.scope_of[call].function
        tests: list[cst.BaseExpression] = [each.test for each in function.nodes_of(cst.If, cst.IfExp)]
        tests += [each.test for each in function.nodes_of(cst.While, cst.Assert)]
        tests += [each.left for each in function.nodes_of(cst.BooleanOperation)]
        parts = (part for test in tests for part in walk(test))
        return any(part is call or (ex.reads_place(part) and self.slots.of(part) in named) for part in parts)

    # -- nothing ----------------------------------------------------------------------------------------------

    def quiet_end(self) -> Iterator[Silence]:
        """The end of a function that gives nothing back, where answers go out within the loop, and no word behind.

        What it gives back where something has failed is no answer.
        """
        function = self.loop.function
        given = (node for node in function.nodes_of(cst.Return) if not is_neutral(node.value))
        if not self._is_unread and not all(self.module.in_handler(node) for node in given):
            return
        if not self.leftovers.leaves_without_calls or not all(_only_logs(test) for test, _ in self.limits.counted()):
            return
        handed = next(self._handed_out(), None)
        if handed is not None and not any(map(self._may_tell, self.passed)):
            yield Silence(handed, None, self.loop, self.way, shows=not self._may_show_nothing)

    @property
    def _may_show_nothing(self) -> bool:
        """Whether a way to the end prints nothing that the user gets to see."""
        shown, flow = {*filter(_shows, self.passed)}, self.anatomy.flow(self.loop.function)
        begun = [point for point in self.way.after if point not in shown]
        return flow.exit in begun or flow.reaches(begun, [flow.exit], shown, exceptions=False)

    @cached_property
    def _is_unread(self) -> bool:
        """Whether nobody reads what a generator returns: who goes through it does not see that."""
        delegating = (isinstance(node.value, cst.From) for node in self.module.nodes_of(cst.Yield))
        alone = self.loop.function.is_generator and not self.anatomy.said("yield from")
        return alone and not any(delegating)

    def _handed_out(self) -> Iterator[cst.CSTNode]:
        """Where the loop yields something, or gives the model's text to somebody, not to a history."""
        facts, function = self.anatomy.facts, self.loop.function
        for node in self.module.nodes_inside(self.loop.node.body, function, cst.Yield, cst.Call):
            if isinstance(node, cst.Yield):
                yield node
            elif node not in self._stored and self.module.is_statement(node) and not self.anatomy.calls.asks(node):
                if any(Kind.MODEL_TEXT in facts.kinds(arg.value) for arg in node.args):
                    yield node

    def _may_tell(self, point: Point) -> bool:
        """Whether a point behind the loop tells of the end of the rounds: under a test, or where no answer comes.

        What is yielded for answers, too, tells if it has a value in it that differs.
        """
        node = point.statement
        if node is None or any(map(self._is_yielded_inside, _nodes(point))):
            return False
        around = (outer for outer in self.module.ancestors(node) if isinstance(outer, (cst.If, cst.ExceptHandler)))
        parts = [*_nodes(point)]
        if point in self.answered and not any(map(self._may_ask_how_it_ended, around)):
            given = [part for part in parts if isinstance(part, cst.Yield)]
            read = (part for each in given for part in walk(each) if isinstance(part, (cst.Name, cst.Attribute)))
            return any(map(self.leftovers.tells_ends_apart, read))
        return isinstance(node, cst.Raise) or any(
            isinstance(part, cst.Yield) or (isinstance(part, cst.Call) and not _is_quiet(part)) for part in parts
        )

    def _may_ask_how_it_ended(self, branch: cst.If | cst.ExceptHandler) -> bool:
        """Whether something behind the loop may hang on what its rounds have done, not on what was there before."""
        if self.module.inside(self.loop.node, branch):
            return False
        if not isinstance(branch, cst.If):
            return True
        read = names_in(branch.test)
        asks = any(isinstance(node, cst.Call) for node in walk(branch.test))
        return asks or self.module.self_name(self.loop.function) in read or any(map(self._is_touched, read))

    def _is_touched(self, name: str) -> bool:
        """Whether a name is bound in the loop, or what it stands for is handed on there, or asked to do something."""
        inside = self.module.nodes_inside(self.loop.node, self.loop.function, cst.Name)
        around = (self.module.parent[node] for node in inside if node.value == name)
        return any(isinstance(outer, _TOUCHING) for outer in around)

    def _is_yielded_inside(self, node: cst.CSTNode) -> bool:
        """Whether something is yielded that the loop yields, word for word, where the model has answered."""
        if not isinstance(node, cst.Yield):
            return False
        inside = self.module.nodes_inside(self.loop.node.body, self.loop.function, cst.Yield)
        again = [each for each in inside if ex.source(each) == ex.source(node)]
        read = (part for part in walk(node) if isinstance(part, (cst.Name, cst.Attribute)))
        answered = self.anatomy.points(self.loop.function, again)
        return not self.answered.isdisjoint(answered) and not any(map(self.leftovers.is_set_at_end, read))

    def unready(self) -> Iterator[Silence]:
        """A call that is given nothing then, though answers are given back, where its file takes an answer for sure."""
        given = [node for node in self.loop.function.nodes_of(cst.Return) if not _gives_none(node)]
        ends = (point.statement for point in self.passed)
        if self.loop.function.is_generator or not given or any(end in given for end in ends):
            return
        if any(map(self._may_tell, self.passed)):
            return
        for site in self.anatomy.calls.sites[self.loop.function]:
            read = self._looks_into(site.node) if not self._is_asked_for(site.node) else None
            if read is not None:
                yield Silence(site.node, None, self.loop, self.way, read=read)
                return

    def _looks_into(self, call: cst.Call) -> cst.CSTNode | None:
        """Where a part of what a call gives is taken, a method of it called, or all of it gone through: not of None."""
        bound = self.module.awaiting(call)
        if not isinstance(bound, cst.Assign):
            return bound if _takes_part(bound, call) else None
        target = ex.targets(bound)[0]
        if isinstance(target, (cst.Tuple, cst.List)):
            return bound
        slot = self.slots.of_name(target)
        for name in self.anatomy.facts.names.get(slot, ()) if slot is not None else ():
            parent = self.module.parent[name]
            if _takes_part(parent, name) and isinstance(name, cst.Name):
                if any(each.point.statement is bound for each in self.anatomy.definitions(name)):
                    return parent
        return None

    # -- what tells -------------------------------------------------------------------------------------------

    def _is_told(self, left: Leftover, way: set[Point], end: cst.CSTNode | None) -> bool:
        """Whether anything on the way out of a used-up loop tells it, or changes the value.

        What an answer passes as well tells nothing, unless it asks which of the two it was. `end` is what gives the
        leftover in the form of an answer: that tells nothing either.
        """
        read = (node for point in way for node in _nodes(point) if isinstance(node, (cst.Name, cst.Attribute)))
        if any(self._is_tested(node, left) for node in read):
            return True
        alone = way - self.answered if self.way.pure else set[Point]()
        ends = {end, self.module.statement(end)} if end is not None else set()
        return any(self._tells_alone(point, left, end) for point in alone if point.statement not in ends)

    def _tells_alone(self, point: Point, left: Leftover, end: cst.CSTNode | None) -> bool:
        """Whether a point tells that only rounds come to that are used up."""
        if isinstance(point.statement, cst.Raise):
            return True
        binds = isinstance(point.statement, (cst.Assign, cst.AnnAssign, cst.AugAssign)) and any(
            self.slots.of(target) in left.names for target in ex.targets(point.statement)
        )
        if end is None:
            return binds or any(map(self._tells, _nodes(point)))
        return any(self._tells(node) for node in _nodes(point) if not (binds and self._only_shapes(node)))

    def _only_shapes(self, node: cst.CSTNode) -> bool:
        """What makes a text of what there is, is its key, or stands in: `"\\n".join(said) if said else "Done."`."""
        parent = self.module.parent[node]
        shapes = isinstance(parent, (cst.IfExp, cst.BooleanOperation, cst.Attribute))
        return shapes or isinstance(node, cst.Call) or (isinstance(parent, cst.DictElement) and parent.key is node)

    def _tells(self, node: cst.CSTNode) -> bool:
        """A call or a text that only rounds come to that are used up: a warning, a message, a note that is kept."""
        if isinstance(node, cst.Call):
            done = ex.source(node) in self._done or node in self._stored
            return (not is_logging(node) and not done) or ex.called_name(node) in _SEVERE
        is_text = isinstance(node, (cst.SimpleString, cst.FormattedStringText))
        said = is_text and not isinstance(self.module.parent[node], cst.Index) and not self._is_logged(node)
        around = (outer for outer in self.module.ancestors(node) if said and isinstance(outer, cst.Call))
        return said and not any(ex.source(call) in self._done for call in around)

    @cached_property
    def _done(self) -> set[str]:
        """The calls of the loop, as code: what an answer passes as well tells nothing where rounds are used up."""
        inside = self.module.nodes_inside(self.loop.node.body, self.loop.function, cst.Call)
        return {ex.source(call) for call in inside}

    @cached_property
    def _stored(self) -> set[cst.CSTNode]:
        """Where the function stores messages: the history of a reply tells no caller."""
        return {stored.node for stored in self.anatomy.transcript.stored(self.loop.function)}

    def _is_logged(self, node: cst.CSTNode) -> bool:
        """Whether a text goes to a log that nobody reads: `print`, `logger.debug`."""
        calls = (outer for outer in self.module.ancestors(node) if isinstance(outer, cst.Call))
        return any(is_logging(call) and ex.called_name(call) not in _SEVERE for call in calls)

    def _is_tested(self, node: cst.Name | cst.Attribute, left: Leftover) -> bool:
        """Whether a branch behind the loop asks for the value, the counter, or the calls.

        Rounds may have left a text, so that another one in place of an empty one tells nothing.
        """
        own = self.slots.of(node) in left.names
        counted = not isinstance(self.way.node, cst.Break)  # how many rounds there were does not tell of that
        tells = self.leftovers.tells_ends_apart if counted else self.leftovers.is_set_at_end
        if not own and not reads_calls(self.anatomy.facts, node) and not tells(node):
            return False
        may_be_there = own and not left.empty
        here: cst.CSTNode = node
        for outer in self.module.ancestors(node):
            if isinstance(outer, (cst.If, cst.While, cst.IfExp, cst.Assert)):
                passed_by = self._only_replaces(outer, left) if may_be_there else own and self._is_for_answers(outer)
                return here is outer.test and not passed_by
            if isinstance(outer, cst.BooleanOperation) and not is_neutral(outer.right) and not may_be_there:
                return ex.text(outer.right) is None or says_why(self.anatomy, outer.right)
            if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
                return False
            here = outer
        return False

    def _is_for_answers(self, choice: cst.CSTNode) -> bool:
        """`if text: save(text)`: where there is none, nothing is done, and it goes on."""
        return (
            isinstance(choice, cst.If)
            and choice.orelse is None
            and ex.reads_place(choice.test)
            and not isinstance(last_statement(choice.body), conditions.JUMPS)
        )

    def _only_replaces(self, choice: cst.CSTNode, left: Leftover) -> bool:
        """`if not text: text = "..."`, `if not text: return "..."`."""
        if isinstance(choice, cst.IfExp):
            return True
        lines = choice.body.body if isinstance(choice, cst.If) and choice.orelse is None else ()
        parts = [part for line in lines for part in (line.body if type(line) is cst.SimpleStatementLine else (line,))]
        return bool(parts) and all(
            isinstance(part, cst.Return)
            or (isinstance(part, cst.Assign) and self.slots.of(part.targets[0].target) in left.names)
            for part in parts
        )


def _gives_none(node: cst.Return) -> bool:
    return node.value is None or ex.dotted(node.value) == "None"


def _takes_part(outer: cst.CSTNode, value: cst.CSTNode) -> bool:
    """`value.text`, `value[0]`, `for each in value`."""
    if isinstance(outer, (cst.For, cst.CompFor)):
        return ex.inner(outer.iter) is value
    return isinstance(outer, (cst.Attribute, cst.Subscript)) and ex.inner(outer.value) is value


def _nodes(point: Point) -> Iterator[cst.CSTNode]:
    """What is evaluated at a point."""
    return (node for part in point.expressions() for node in walk(part))


def _only_logs(test: cst.If) -> bool:
    """Whether nothing is done behind a test but to write logs that no user reads."""
    lines = test.body.body
    done = (each for line in lines for each in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,)))
    logs = (isinstance(each, cst.Expr) and isinstance(each.value, cst.Call) and _is_quiet(each.value) for each in done)
    return test.orelse is None and all(logs)


def _shows(point: Point) -> bool:
    """Whether something is shown to the user at a point, however the rounds have ended."""
    calls = (node for node in _nodes(point) if isinstance(node, cst.Call))
    return any(is_logging(call) and "print" in ex.called_name(call) for call in calls)


def _is_quiet(call: cst.Call) -> bool:
    """Whether a call writes a log that no user reads: what is printed, he does."""
    return is_logging(call) and ex.called_name(call) in _QUIET


def _form(value: cst.BaseExpression) -> str:
    """The form of what is handed out: its parts with their names and constants, without their values."""
    value = ex.inner(value)
    if isinstance(value, (cst.Tuple, cst.List)):
        return f"({', '.join(_form(element.value) for element in value.elements)})"
    if isinstance(value, cst.Dict) and ex.dict_items(value):
        return f"{{{', '.join(f'{key}: {_form(each)}' for key, each in ex.dict_items(value).items())}}}"
    if isinstance(value, cst.Call) and ex.member(value) is None and ex.receiver(value) is None:
        given = (f"{arg.keyword.value if arg.keyword else ''}={_form(arg.value)}" for arg in value.args)
        return f"{ex.dotted(value.func)}({', '.join(given)})"
    if isinstance(value, cst.BooleanOperation):
        stands_in = is_neutral(value.right) or ex.text(value.right) is not None
        return _form(value.left) if stands_in else f"{_form(value.left)} or {_form(value.right)}"
    if isinstance(value, cst.FormattedString):
        return " ".join(part.value for part in value.parts if isinstance(part, cst.FormattedStringText)).strip() or "_"
    is_constant = isinstance(value, (cst.BaseString, cst.BaseNumber)) or ex.dotted(value) in {"True", "False", "None"}
    return ex.source(value) if is_constant else "_"
