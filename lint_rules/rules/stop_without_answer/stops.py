"""Stops inside a round: where a loop ends although the reply of the round asks for tools, and with what answer."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import is_answer
from lint_rules.anatomy.calls.call_tests import speaks_of_calls, with_calls, without_calls
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.rounds.executions import executions
from lint_rules.anatomy.rounds.limits import Limits
from lint_rules.anatomy.rounds.reasons import is_mere_word
from lint_rules.anatomy.rounds.rounds import RoundLoop
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.obligations.leftovers import Leftovers
from lint_rules.obligations.silent_ends import broken_off
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope

_CALLS = frozenset({Kind.CALLS, Kind.CALL})


@record
class Stop:
    """One stop. `node` gives the answer, `text` is the part of it that is the reply's, `test` knows that there are
    tool calls, `other` what is said when the reply has no text, if anything is."""

    node: cst.CSTNode
    text: cst.BaseExpression
    test: cst.If | cst.While
    loop: RoundLoop
    other: cst.BaseExpression | None


def stops(anatomy: Anatomy) -> Iterator[Stop]:
    """The stops of all round loops of a file that answer with the text of a reply that asks for tools."""
    for loop in anatomy.rounds:
        limits = Limits(anatomy, loop.node, loop.function)
        leftovers = Leftovers(anatomy, loop, limits)
        for node in anatomy.module.nodes_inside(loop.node.body, loop.function, cst.Return, cst.Assign):
            value = _answered(anatomy, loop, leftovers, node)
            text = _text_in(anatomy, value) if value is not None else None
            if text is None and value is not None and _is_phrase(anatomy, loop, node, value):
                text = value
            if text is None or not anatomy.module.before(loop.asks, node):
                continue
            test = _knows_calls(anatomy, loop, node)
            if test is None or _text_is_tested(anatomy, node, loop) or _asked_again(anatomy, loop, node):
                continue
            yield Stop(node, text, test, loop, _other(value))
        yield from _broken_off(anatomy, loop, limits)


def _broken_off(anatomy: Anatomy, loop: RoundLoop, limits: Limits) -> Iterator[Stop]:
    """The stops by a `break`, and the answer that is made behind the loop of the reply; not those that count rounds."""
    counted = {way.node for way in limits.running_out()} - {loop.node}
    for node in anatomy.module.nodes_inside(loop.node.body, loop.function, cst.Break):
        around = anatomy.module.loop_around(node) is loop.node
        test = _knows_calls(anatomy, loop, node) if around else None
        if test is None or any(outer in counted for outer in anatomy.module.ancestors(node)):
            continue
        found = broken_off(anatomy, loop, limits, node)
        if found is not None and found.left is not None:
            yield Stop(node, found.left.part, test, loop, None)


def _text_in(anatomy: Anatomy, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """The model's text in `reply.content`, `reply.content or "..."`, `text, round`, `{"text": text}`, `Told(text)`.

    A constant or an object beside it, in a dict or object, may say how it ended; who gets the calls may run them.
    """
    parts = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
    if isinstance(value, cst.Dict) or (isinstance(value, cst.Call) and _makes_object(anatomy, value)):
        parts = [each for _, each in ex.dict_parts(value)]
        parts += ex.positional(value) if isinstance(value, cst.Call) else []
        if any(_may_tell(anatomy, each) for each in parts):
            return None
    first = (next(ex.alternatives(part)) for part in parts)  # what stands behind `or` is what is said instead
    return next((one for one in first if _is_text(anatomy, one)), None)


def _may_tell(anatomy: Anatomy, part: cst.BaseExpression) -> bool:
    made = isinstance(part, cst.Call) and _makes_object(anatomy, part) and not _is_text(anatomy, part)
    return made or _is_fixed(part) or not _CALLS.isdisjoint(anatomy.facts.kinds(part))


def _makes_object(anatomy: Anatomy, call: cst.Call) -> bool:
    return anatomy.facts.slots.constructed(call) is not None or ex.called_name(call)[:1].isupper()


def _is_text(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    kinds = anatomy.facts.kinds(value)
    return Kind.MODEL_TEXT in kinds and kinds.keys().isdisjoint({Kind.REPLY, Kind.MESSAGE, *_CALLS})


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


def _other(value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    if isinstance(value, cst.Tuple):
        value = value.elements[0].value
    return value.right if isinstance(value, cst.BooleanOperation) else None


def _answered(anatomy: Anatomy, loop: RoundLoop, leftovers: Leftovers, node: cst.CSTNode) -> cst.BaseExpression | None:
    """The answer in `return x`, and in `answer = x` where the loop is left, and its answer read behind it."""
    if isinstance(node, cst.Return):
        return node.value
    assert isinstance(node, cst.Assign)
    target, module = node.targets[0].target, anatomy.module
    if not isinstance(target, (cst.Name, cst.Attribute)) or not leftovers.ends_the_loop(node.value):
        return None
    named = anatomy.facts.names.get(slot, ()) if (slot := anatomy.facts.slots.of(target)) is not None else ()
    behind = (module.before(loop.node, name) and not module.inside(name, loop.node) for name in named)
    return node.value if isinstance(target, cst.Attribute) or any(behind) else None


def _knows_calls(anatomy: Anatomy, loop: RoundLoop, node: cst.CSTNode) -> cst.If | cst.While | None:
    """The test by which it is known at `node` that the reply asks for tools; None where another one denies it.

    Where the next request has failed, that is the reply before.
    """
    module = anatomy.module
    failed = any(
        isinstance(outer, cst.ExceptHandler) and module.inside(loop.asks, module.parent[outer])
        for outer in module.ancestors(node)
    )
    known: cst.If | cst.While | None = None
    if failed and isinstance(loop.node, cst.While) and without_calls(anatomy.facts, loop.node.test) is False:
        known = loop.node
    for tested, holds in conditions.passed(module, node, loop.node):
        if isinstance(tested, cst.If) and (failed or module.before(loop.asks, tested)):
            given = with_calls(anatomy.facts, tested.test)
            if given is (not holds) or _are_no_answers(anatomy, tested, holds):
                return None
            told = given is holds and not isinstance(tested.test, cst.BooleanOperation)
            told = told or without_calls(anatomy.facts, tested.test) is (not holds)
            known = tested if known is None and told else known
    return known


def _are_no_answers(anatomy: Anatomy, tested: cst.If, holds: bool) -> bool:
    """`if not results: break`: whether it is known by a test that no call was answered in this round."""
    test = ex.inner(tested.test)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, holds = ex.inner(test.expression), not holds
    slot, facts = anatomy.facts.slots.of(test), anatomy.facts
    if holds or slot is None:
        return False
    listed = (value.elt for value in facts.assigned(slot) if isinstance(value, cst.ListComp))
    return any(map(is_answer, (*facts.appended(slot), *listed)))


def _text_is_tested(anatomy: Anatomy, node: cst.CSTNode, loop: RoundLoop) -> bool:
    """Whether the stop is only taken when the reply has text, beside its calls."""
    for outer in anatomy.module.ancestors(node):
        if outer is loop.node:
            return False
        if isinstance(outer, cst.If):
            for part in walk(outer.test):
                if isinstance(part, cst.BaseExpression) and _is_text(anatomy, part):
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
