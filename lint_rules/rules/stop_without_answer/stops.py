"""Stops inside a round: where a loop ends although the reply of the round asks for tools, and with what answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import speaks_of_calls, tells_calls, with_calls
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.rounds.executions import executions
from lint_rules.anatomy.rounds.reasons import is_mere_word
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope

_TEXT = frozenset({"content", "text", "output_text"})
_SHAPES = frozenset({"strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace"})
"""Methods by which a text is cleaned, and stays what it is."""
_NO_CALLS = frozenset({"stop", "end_turn", "length", "max_tokens", "stop_sequence"})


@record
class Stop:
    """One stop. `node` gives the answer, `text` is the part of it that is the reply's, `test` knows that there are
    tool calls, `other` what is said when the reply has no text, if anything is."""

    node: cst.CSTNode
    text: cst.BaseExpression
    test: cst.If
    loop: RoundLoop
    other: cst.BaseExpression | None


def stops(anatomy: Anatomy) -> Iterator[Stop]:
    """The stops of all round loops of a file that answer with the text of a reply that asks for tools."""
    known: dict[Scope, _Texts] = {}
    for loop in anatomy.rounds:
        names = _reply_names(anatomy, loop)
        if loop.function not in known:
            known[loop.function] = _Texts(anatomy, loop.function)
        texts = known[loop.function]
        for node in anatomy.module.nodes_inside(loop.node.body, loop.function, cst.Return, cst.Assign):
            value = _answered(anatomy, node)
            text = texts.text_in(value, names) if value is not None else None
            if text is None and value is not None and _is_phrase(anatomy, loop, node, value):
                text = value
            if text is None or not anatomy.module.before(loop.asks, node):
                continue
            test = _knows_calls(anatomy, loop, node)
            if test is None or _text_is_tested(anatomy, node, loop, names, texts) or _asked_again(anatomy, loop, node):
                continue
            yield Stop(node, text, test, loop, _other(value))


def _reply_names(anatomy: Anatomy, loop: RoundLoop) -> set[str]:
    """The names that hold the reply of the round, or its message."""
    names: set[str] = set()
    for _ in range(3):
        for node in anatomy.module.nodes_inside(loop.node.body, loop.function, cst.Assign):
            value = ex.inner(node.value)
            pair = ex.member(value)
            if _root(value) is loop.asks or _rooted(value, names):
                if (pair is None or pair[1] not in _TEXT) and not _is_calls(anatomy, value):
                    names.update(name for t in node.targets for name in ex.target_names(t.target))
    return names


class _Texts:
    """What texts the names of a function hold, by the names of what these are read of."""

    def __init__(self, anatomy: Anatomy, function: Scope, within: frozenset[Scope] = frozenset()) -> None:
        """`within` are the functions that have called this one."""
        self._slots = anatomy.facts.slots
        self._anatomy = anatomy
        self._within = within | {function}
        self._ways: defaultdict[str, list[set[str]]] = defaultdict(list)
        self._read_of: defaultdict[str, set[str]] = defaultdict(set)
        self._held: dict[frozenset[str], set[str]] = {}
        self._blocks: dict[str, str] = {}
        for loop in function.nodes_of(cst.For):
            blocks = ex.member(loop.iter)
            root = _root_name(blocks[0]) if blocks is not None else None
            if root is not None and type(loop.target) is cst.Name:
                self._blocks[loop.target.value] = root
        for node in function.nodes_of(cst.Assign, cst.AugAssign, cst.For):
            if isinstance(node, cst.Assign) and type(node.targets[0].target) is cst.Name:
                if not handlers.is_neutral(node.value):
                    self._note(node.targets[0].target.value, self._roots(node.value))
            elif isinstance(node, (cst.AugAssign, cst.For)):
                for name in ex.target_names(node.target):
                    self._note(name, self._roots(node.value) if isinstance(node, cst.AugAssign) else set())

    def _roots(self, value: cst.BaseExpression) -> set[str]:
        return {root for part in ex.alternatives(value) if (root := self.root_of(part)) is not None}

    def _note(self, name: str, roots: set[str]) -> None:
        self._ways[name].append(roots)
        for root in roots:
            self._read_of[root].add(name)

    def of(self, reply: set[str]) -> set[str]:
        """The names that hold the text of a reply, which has these names, and nothing else."""
        key = frozenset(reply)
        if key not in self._held:
            found = {name for root in reply for name in self._read_of.get(root, ())}
            self._held[key] = {name for name in found if not any(way.isdisjoint(reply) for way in self._ways[name])}
        return self._held[key]

    def root_of(self, node: cst.BaseExpression) -> str | None:
        """The name of the reply of which an expression is the text.

        `reply.content`, `"".join(block.text for block in reply.content)`, `text_of(reply)`, `text.strip()` of one.
        """
        node = ex.inner(node)
        pair = ex.member(node)
        if pair is not None:
            root = _root_name(pair[0]) if pair[1] in _TEXT else None
            return self._blocks.get(root, root) if root is not None else None
        if isinstance(node, cst.BooleanOperation) and handlers.is_neutral(node.right):
            return self.root_of(node.left)
        if isinstance(node, cst.FormattedString):  # `f"{reply.content}"`
            only = node.parts[0] if len(node.parts) == 1 else None
            return self.root_of(only.expression) if isinstance(only, cst.FormattedStringExpression) else None
        if not isinstance(node, cst.Call):
            return None
        joined, base = node.args[0].value if node.args else None, ex.receiver(node)
        if joined is not None and ex.dotted(node.func) == "str":
            return self.root_of(joined)
        if isinstance(joined, (cst.GeneratorExp, cst.ListComp)):
            part, blocks = ex.member(joined.elt), ex.member(joined.for_in.iter)
            return _root_name(blocks[0]) if part is not None and part[1] == "text" and blocks is not None else None
        callee = self._slots.callee(node)
        if callee is not None and callee not in self._within:
            given = self._slots.bindings(node, callee)
            return next((_root_name(value) for into, value in given if self._is_given_back(callee, into)), None)
        return self.root_of(base) if base is not None and ex.called_name(node) in _SHAPES else None

    def _is_given_back(self, callee: Scope, parameter: Slot) -> bool:
        """Whether a function gives back the text of what it gets in a parameter, and nothing else."""
        texts = _Texts(self._anatomy, callee, self._within)
        reply = {str(parameter[2])}
        returned = [node.value for node in callee.nodes_of(cst.Return) if not handlers.is_neutral(node.value)]
        parts = [part for value in returned if value is not None for part in ex.alternatives(value)]
        said = [part for part in parts if not handlers.is_neutral(part)]
        held = texts.of(reply)
        return bool(said) and all(
            texts.root_of(part) in reply or (isinstance(part, cst.Name) and part.value in held) for part in said
        )

    def text_in(self, value: cst.BaseExpression, reply: set[str]) -> cst.BaseExpression | None:
        """The reply's text in `reply.content`, `reply.content or "..."`, `text, round`, `{"text": text}`, `Told(text)`.

        A constant beside it, in a dict or object, may say how it ended, and who gets the calls may run them.
        """
        parts = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
        if isinstance(value, cst.Dict) or (isinstance(value, cst.Call) and self._makes_object(value)):
            parts = [each for _, each in ex.dict_parts(value)]
            parts += ex.positional(value) if isinstance(value, cst.Call) else []
            if any(_is_fixed(each) or _is_calls(self._anatomy, each) for each in parts):
                return None
        first = (next(ex.alternatives(part)) for part in parts)  # what stands behind `or` is what is said instead
        return next((one for one in first if self.is_text(one, reply)), None)

    def _makes_object(self, call: cst.Call) -> bool:
        return self._slots.constructed(call) is not None or ex.called_name(call)[:1].isupper()

    def is_text(self, node: cst.BaseExpression, reply: set[str]) -> bool:
        return self.root_of(node) in reply or (isinstance(node, cst.Name) and node.value in self.of(reply))


def _is_phrase(anatomy: Anatomy, loop: RoundLoop, node: cst.CSTNode, value: cst.BaseExpression) -> bool:
    """Whether one word, which can give no reason, or none stands for the answer before any tool has run.

    What the model has asked for, as a tool that ends the turn, is not what it hangs on, and nothing is done there.
    """
    says_nothing, module = ex.text(value) == "" or is_mere_word(anatomy, value), anatomy.module
    test = next((outer for outer in module.ancestors(node) if isinstance(outer, cst.If)), None)
    if not says_nothing or test is None or not module.inside(test, loop.node):
        return False
    if speaks_of_calls(anatomy.facts, test.test) or any(map(_does, walk_scope(test.body))):
        return False
    runs = executions(anatomy.facts, anatomy.transcript, loop.function)
    return not any(module.before(loop.asks, run) and module.before(run, node) for run in runs)


def _does(node: cst.CSTNode) -> bool:
    """Whether anything is called in what a stop does but a log that no user reads."""
    return isinstance(node, cst.Call) and (not handlers.is_logging(node) or "print" in ex.called_name(node))


def _is_fixed(value: cst.BaseExpression) -> bool:
    """`True`, `3`, `"stopped"`, `Ending.STOPPED`."""
    named = ex.last_name(value) if isinstance(value, cst.Attribute) else None
    literal = isinstance(value, (cst.BaseString, cst.BaseNumber)) or ex.dotted(value) in ex.CONSTANTS
    return literal or (named is not None and named.isupper())


def _is_calls(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    kinds = anatomy.facts.kinds(value)
    return Kind.CALLS in kinds or Kind.CALL in kinds


def _root(node: cst.BaseExpression) -> cst.BaseExpression:
    """`x` of `x.choices[0].message`, through `await`."""
    node = ex.inner(node)
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = ex.inner(node.value)
    return node


def _rooted(node: cst.BaseExpression, names: set[str]) -> bool:
    """`reply.choices[0].message` for a name `reply`."""
    return _root_name(node) in names


def _root_name(node: cst.BaseExpression) -> str | None:
    root = _root(node)
    return root.value if isinstance(root, cst.Name) else None


def _other(value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    if isinstance(value, cst.Tuple):
        value = value.elements[0].value
    return value.right if isinstance(value, cst.BooleanOperation) else None


def _answered(anatomy: Anatomy, node: cst.CSTNode) -> cst.BaseExpression | None:
    """The answer in `return x`, and in `answer = x` right before the `break` of the loop."""
    if isinstance(node, cst.Return):
        return node.value
    assert isinstance(node, cst.Assign)
    line = anatomy.module.parent.get(node)
    block = anatomy.module.parent.get(line) if line is not None else None
    if not isinstance(block, cst.IndentedBlock) or not isinstance(node.targets[0].target, (cst.Name, cst.Attribute)):
        return None
    after = list(block.body)[list(block.body).index(line) + 1 :]  # type: ignore[arg-type]
    for statement in after[:3]:
        if isinstance(statement, cst.SimpleStatementLine) and any(type(p) is cst.Break for p in statement.body):
            return node.value
    return None


def _knows_calls(anatomy: Anatomy, loop: RoundLoop, node: cst.CSTNode) -> cst.If | None:
    """The test by which it is known at `node` that the reply asks for tools; None where a later one denies it."""
    for tested, holds in conditions.passed(anatomy.module, node, loop.node):
        if isinstance(tested, cst.If) and anatomy.module.before(loop.asks, tested):
            if with_calls(anatomy.facts, tested.test) is (not holds):
                return None
            if _calls(anatomy, tested.test) is holds:
                return tested
    return None


def _calls(anatomy: Anatomy, test: cst.BaseExpression) -> bool | None:
    """What a test says when it holds: there are calls, there are none, or None where it says neither.

    For `a or b` what is known when it does *not* hold is the opposite of each; only "none" is of use then.
    """
    if isinstance(test, cst.BooleanOperation):
        told = [_calls(anatomy, test.left), _calls(anatomy, test.right)]
        wanted = isinstance(test.operator, cst.And)
        return wanted if wanted in told else None
    if not tells_calls(anatomy.facts, test):
        return None
    if isinstance(test, cst.UnaryOperation):
        inside = _calls(anatomy, test.expression)
        return None if inside is None else not inside
    if isinstance(test, cst.Comparison):
        return _compared(test)
    return True


def _compared(test: cst.Comparison) -> bool | None:
    """`stop_reason == "tool_use"`, `len(calls) == 0`, `calls is None`, `finish_reason != "stop"`."""
    target = test.comparisons[0]
    other = target.comparator
    word = ex.text(other)
    equal = isinstance(target.operator, (cst.Equal, cst.Is))
    if not equal and not isinstance(target.operator, (cst.NotEqual, cst.IsNot)):
        return True if isinstance(target.operator, cst.GreaterThan) and ex.integer(other) == 0 else None
    if word in _NO_CALLS:
        return not equal if word in {"stop", "end_turn"} else None
    if word is not None and ("tool" in word or "function" in word):
        return equal
    empty = ex.integer(other) == 0 or ex.dotted(other) == "None" or (
        isinstance(other, cst.List) and not other.elements
    )  # fmt: skip
    return not equal if empty else None


def _text_is_tested(anatomy: Anatomy, node: cst.CSTNode, loop: RoundLoop, names: set[str], texts: _Texts) -> bool:
    """Whether the stop is only taken when the reply has text, beside its calls."""
    for outer in anatomy.module.ancestors(node):
        if outer is loop.node:
            return False
        if isinstance(outer, cst.If):
            for part in walk(outer.test):
                if isinstance(part, cst.BaseExpression) and texts.is_text(part, names):
                    return True
    return False


def _asked_again(anatomy: Anatomy, loop: RoundLoop, node: cst.CSTNode) -> bool:
    """Whether a model is asked once more: between the reply and the stop, or for an empty answer after the loop."""
    module, order = anatomy.module, anatomy.module.order
    for call in loop.function.nodes:
        if type(call) is not cst.Call or call is loop.asks or not anatomy.calls.asks(call):
            continue
        if order[loop.asks] < order[call] < order[node] or module.inside(call, node):
            return True
        if isinstance(node, cst.Assign) and not module.inside(call, loop.node) and order[call] > order[node]:
            return True
    return False
