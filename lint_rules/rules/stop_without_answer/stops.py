"""Stops inside a round: where a loop ends although the reply of the round asks for tools, and with what answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import tells_calls, with_calls
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_TEXT = frozenset({"content", "text", "output_text"})
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
            known[loop.function] = _Texts(loop.function)
        texts = known[loop.function].of(names)
        for node in anatomy.module.nodes_inside(loop.node.body, loop.function, cst.Return, cst.Assign):
            value = _answered(anatomy, node)
            text = _text(value, names, texts) if value is not None else None
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

    def __init__(self, function: Scope) -> None:
        self._ways: defaultdict[str, list[set[str]]] = defaultdict(list)
        self._read_of: defaultdict[str, set[str]] = defaultdict(set)
        for node in function.nodes_of(cst.Assign, cst.AugAssign, cst.For):
            if isinstance(node, cst.Assign) and type(node.targets[0].target) is cst.Name:
                roots = {root for part in ex.alternatives(node.value) if (root := _text_of(part)) is not None}
                self._note(node.targets[0].target.value, roots)
            elif isinstance(node, (cst.AugAssign, cst.For)):
                for name in ex.target_names(node.target):
                    self._note(name, set())

    def _note(self, name: str, roots: set[str]) -> None:
        self._ways[name].append(roots)
        for root in roots:
            self._read_of[root].add(name)

    def of(self, reply: set[str]) -> set[str]:
        """The names that hold the text of a reply, which has these names, and nothing else."""
        found = {name for root in reply for name in self._read_of.get(root, ())}
        return {name for name in found if not any(way.isdisjoint(reply) for way in self._ways[name])}


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


def _is_text(node: cst.BaseExpression, names: set[str]) -> bool:
    return _text_of(node) in names


def _text_of(node: cst.BaseExpression) -> str | None:
    """The name of the reply in `reply.content`, or in `"".join(block.text for block in reply.content)`."""
    node = ex.inner(node)
    pair = ex.member(node)
    if pair is not None:
        return _root_name(pair[0]) if pair[1] in _TEXT else None
    joined = node.args[0].value if isinstance(node, cst.Call) and node.args else None
    if not isinstance(joined, (cst.GeneratorExp, cst.ListComp)):
        return None
    part, blocks = ex.member(joined.elt), ex.member(joined.for_in.iter)
    return _root_name(blocks[0]) if part is not None and part[1] == "text" and blocks is not None else None


def _text(value: cst.BaseExpression, names: set[str], texts: set[str]) -> cst.BaseExpression | None:
    """The reply's text in `reply.content`, `reply.content or "..."`, `text, round`."""
    parts = ex.several(value)
    for part in parts:
        for one in ex.alternatives(part):
            if _is_text(one, names) or (isinstance(one, cst.Name) and one.value in texts):
                return one
            break  # what stands behind `or` is what is said instead
    return None


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


def _text_is_tested(anatomy: Anatomy, node: cst.CSTNode, loop: RoundLoop, names: set[str], texts: set[str]) -> bool:
    """Whether the stop is only taken when the reply has text, beside its calls."""
    for outer in anatomy.module.ancestors(node):
        if outer is loop.node:
            return False
        if isinstance(outer, cst.If):
            for part in walk(outer.test):
                if isinstance(part, cst.BaseExpression) and (
                    _is_text(part, names) or (isinstance(part, cst.Name) and part.value in texts)
                ):
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
