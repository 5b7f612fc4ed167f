"""Conditions on the tool calls of a reply: which ask about them, and which hold only when there are none."""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.values.facts import Facts
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.vocabulary import CALL_WORDS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.truth import evaluate
from lint_rules.syntax.walk import children, walk

_SAYS_CALLS = frozenset({"stop_reason", "finish_reason", "stopReason", "function_call", "done_reason"})
_ENDS = frozenset({"stop_reason", "finish_reason", "stopReason", "finishReason"})
_CONTENTS = frozenset({"content", "parts", "output"})
_IS_NAMED = {cst.Equal: False, cst.In: False, cst.NotEqual: True, cst.NotIn: True}
"""What a comparison with the name of a call's type gives where there is no call."""
_NAMES = frozenset({cst.Name, cst.Attribute, cst.Subscript, cst.Call})
_KINDS = (Kind.CALLS, Kind.CALL, Kind.FUNCTION)


def speaks_of_calls(facts: Facts, test: cst.BaseExpression) -> bool:
    """Whether a condition asks about the calls of a reply, itself or through a name set from them."""
    for node in walk(test):
        if isinstance(node, cst.SimpleString) and ex.text(node) in CALL_WORDS:
            return True
        if type(node) in _NAMES:
            kinds = facts.kinds(node)  # type: ignore[arg-type]
            if any(kind in kinds for kind in _KINDS):
                return True
            if any(_mentions_calls(facts, value) for value in facts.values_of(node)):  # type: ignore[arg-type]
                return True
    return False


def _mentions_calls(facts: Facts, value: cst.BaseExpression) -> bool:
    return any(isinstance(part, (cst.Name, cst.Attribute)) and Kind.CALLS in facts.kinds(part) for part in walk(value))


def reads_calls(facts: Facts, test: cst.BaseExpression) -> bool:
    """Whether a condition reads the calls of a reply, or the reason why it ended."""
    for node in walk(test):
        if type(node) in _NAMES:
            pair = ex.member(node)
            if Kind.CALLS in facts.kinds(node) or (pair is not None and pair[1] in _ENDS):  # type: ignore[arg-type]
                return True
        if _asks_for_calls(facts, node):
            return True
    return False


def _asks_for_calls(facts: Facts, node: cst.CSTNode) -> bool:
    """`"tool_calls" in message`, `hasattr(message, "tool_calls")`."""
    pair = ex.asked(node)
    return pair is not None and pair[1] in facts.call_attributes and facts.is_kind(pair[0], Kind.MESSAGE)


def denies_calls(test: cst.BaseExpression) -> bool:
    """Whether a condition on calls holds when there are none: `not calls`, `calls is None`, `len(calls) == 0`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return True
    if isinstance(test, cst.BooleanOperation):  # `text and not calls`
        both = denies_calls(test.left), denies_calls(test.right)
        return any(both) if isinstance(test.operator, cst.And) else all(both)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    operator, other = test.comparisons[0].operator, test.comparisons[0].comparator
    if isinstance(other, cst.SimpleString) and ex.text(other) in CALL_WORDS:
        return isinstance(operator, (cst.NotEqual, cst.NotIn))
    if (ex.asked(test) or (None, ""))[1] in CALL_WORDS:
        return isinstance(operator, cst.NotIn)
    return isinstance(operator, (cst.Is, cst.Equal, cst.LessThan))


def without_calls(facts: Facts, test: cst.BaseExpression) -> bool | None:
    """What a condition gives for a reply that has no calls; None where it hangs on something else."""
    test = ex.inner(test)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        value = without_calls(facts, test.expression)
        return None if value is None else not value
    if isinstance(test, cst.BooleanOperation):
        either = isinstance(test.operator, cst.Or)
        sides = {without_calls(facts, test.left), without_calls(facts, test.right)}
        return either if either in sides else None if None in sides else not either
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        left, operator, right = ex.compared(test)
        if _is_count(facts, left):
            count = ex.integer(right)
            return ex.holds(operator, 0, count) if count is not None else None
        return _IS_NAMED.get(type(operator)) if CALL_WORDS & {ex.text(left), ex.text(right)} else None
    if isinstance(test, cst.Call) and ex.dotted(test.func) in {"bool", "len", "any"} and len(test.args) == 1:
        given = test.args[0].value
        return without_calls(facts, given.elt if isinstance(given, cst.GeneratorExp) else given)
    if isinstance(test, (cst.List, cst.Tuple)):
        return None if test.elements else False
    return False if Kind.CALLS in facts.kinds(test) and not _is_content(facts, test) else None


def with_calls(facts: Facts, test: cst.BaseExpression) -> bool | None:
    """What a condition gives for a reply that has calls; None where it hangs on something else."""

    def atom(part: cst.BaseExpression) -> bool | None:
        if _asks_for_calls(facts, part):
            return not (isinstance(part, cst.Comparison) and isinstance(part.comparisons[0].operator, cst.NotIn))
        there = type(part) in _NAMES and Kind.CALLS in facts.kinds(part) and not _is_content(facts, part)
        return True if there else None

    return evaluate(test, atom)


def _is_count(facts: Facts, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and ex.dotted(node.func) == "len" and without_calls(facts, node) is False


def asks_for_end(test: cst.BaseExpression) -> bool:
    """Whether a condition asks why a reply has ended: one piece of a stream says so, of all of it."""
    return any((pair := ex.member(node)) is not None and pair[1] in _ENDS for node in walk(test))


def asks_for_text(test: cst.BaseExpression) -> bool:
    """`part.type == "text"`, `"text" in part`, `part.text`: what passes is a part with text, and no call."""
    if isinstance(test, cst.Comparison):
        left, operator, right = ex.compared(test)
        asked = ex.member(left)
        tagged = asked is not None and asked[1] == "type" and isinstance(operator, cst.Equal)
        return ex.text(right if tagged else left) == "text" and isinstance(operator, (cst.Equal, cst.In))
    pair = ex.member(test)
    return pair is not None and pair[1] == "text"


def is_about_part(facts: Facts, guard: cst.If) -> bool:
    """`if block.type == "text"` in a loop over the parts of a reply says nothing about the others.

    What is asked of each message of a history says it all of that message.
    """
    if asks_for_end(guard.test):
        return False
    read = names_in(guard.test)
    loops = (outer for outer in facts.module.ancestors(guard) if isinstance(outer, cst.For))
    return any(read & set(ex.target_names(loop.target)) for loop in loops if Kind.HISTORY not in facts.kinds(loop.iter))


def shows_calls(facts: Facts, node: cst.BaseExpression) -> bool:
    """Whether a value is the calls of a reply, or says why it ended: who gets it can tell whether the model waits."""
    pair = ex.member(node)
    return (pair is not None and pair[1] in _SAYS_CALLS) or (
        Kind.CALLS in facts.kinds(node) and not _is_content(facts, node)
    )


def tells_calls(facts: Facts, test: cst.BaseExpression, seen: frozenset[Scope] = frozenset()) -> bool:
    """Whether a test is about tool calls; `text or calls` also holds for a reply without any.

    The content of a reply may hold calls beside its text: that there is some says nothing. Of a function of the file
    that is asked, its own tests and what it returns tell: not `is_stuck(calls)`.
    """
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or):
        return tells_calls(facts, test.left, seen) and tells_calls(facts, test.right, seen)
    stack: list[cst.CSTNode] = [test]
    while stack:
        node = stack.pop()
        callee = facts.slots.callee(node) if isinstance(node, cst.Call) else None
        if callee is not None and callee.kind == "function" and callee not in seen:
            if not any(tells_calls(facts, each, seen | {callee}) for each in telling(callee)):
                continue
        if isinstance(node, cst.BaseExpression):
            pair = ex.member(node)
            if (pair is not None and pair[1] in _SAYS_CALLS) or _asks_for_calls(facts, node):
                return True
            if _is_content(facts, node):
                continue
            kinds = facts.kinds(node)
            if Kind.CALLS in kinds or Kind.CALL in kinds or Kind.FUNCTION in kinds:
                return True
        stack.extend(children(node))
    return False


def telling(function: Scope) -> list[cst.BaseExpression]:
    """What a function tells who asks it: its tests, and what it gives back."""
    tests = [node.test for node in function.nodes_of(cst.If, cst.While, cst.IfExp)]  # type: ignore[attr-defined]
    return [*tests, *function.returned]


def _is_content(facts: Facts, node: cst.BaseExpression) -> bool:
    """`reply.content`, or a name for it."""
    slot = facts.slots.of_name(node)
    values = [node, *facts.assigned(slot)]
    return any((ex.member(ex.inner(value)) or (node, ""))[1] in _CONTENTS for value in values)
