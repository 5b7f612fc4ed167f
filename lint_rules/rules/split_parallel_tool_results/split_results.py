"""Results of one round that are stored as messages of their own, where all of them belong into one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import is_answer
from lint_rules.anatomy.calls.in_hand import InHand
from lint_rules.anatomy.calls.remaining_calls import one_at_a_time
from lint_rules.anatomy.cuts.fates import Fates
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.truth import truth
from lint_rules.syntax.walk import walk

_Loop = cst.For | cst.CompFor


@record
class SplitResult:
    """`node` stores a message with `part`, one tool result, in each turn of `loop`."""

    node: cst.CSTNode
    part: cst.BaseExpression
    loop: _Loop


def split_results(anatomy: Anatomy) -> Iterator[SplitResult]:
    """Those of all functions of a file, each place once."""
    for function in anatomy.module.functions:
        if one_at_a_time(anatomy, function):
            continue
        seen: set[cst.CSTNode] = set()
        for stored in anatomy.transcript.stored(function):
            part = _single_result(anatomy, stored)
            loop = _loop_of(anatomy, stored, part) if part is not None and stored.node not in seen else None
            if part is None or loop is None or _is_joined(anatomy, stored, loop) or _is_only_read(anatomy, stored.slot):
                continue
            if isinstance(loop, cst.For) and (
                _ends_with_it(anatomy, loop, stored) or _has_own_call(anatomy, loop, stored)
            ):
                continue
            seen.add(stored.node)
            yield SplitResult(stored.node, part, loop)


def _single_result(anatomy: Anatomy, stored: Stored) -> cst.BaseExpression | None:
    """The one tool result that the content of a stored message is a list of."""
    message = stored.message
    if message is None or not stored.answers or stored.kind not in {"append", "extend", "insert"}:
        return None
    content = message.content
    if isinstance(content, cst.Name):
        return _put_alone(anatomy, stored, content)
    if not isinstance(content, cst.List) or len(content.elements) != 1:
        return None
    element = content.elements[0]
    if isinstance(element, cst.StarredElement) or not _is_stored_here(anatomy, stored, content):
        return None
    shown = (element.value, *_assigned(anatomy, element.value), *_given_back(anatomy, element.value))
    made = [value for value in shown if is_answer(value)]
    if made:
        return next((value for value in made if "role" not in ex.dict_items(value)), None)
    return element.value if anatomy.transcript.messages.answers(content) else None


def _put_alone(anatomy: Anatomy, stored: Stored, content: cst.Name) -> cst.BaseExpression | None:
    """A result that is put into a list which is stored, and begun anew, on each way to where the next one is put."""
    facts, function, graph = anatomy.facts, stored.function, anatomy.flow(stored.function)
    slot, filled = facts.slots.of_name(content), {content.value: True}
    bound = (line for line in function.nodes_of(cst.Assign) if slot in map(facts.slots.of, ex.targets(line)))
    begun = {*anatomy.points(function, (line for line in bound if type(line.value) is cst.List))}
    closed = graph.closed(lambda test: truth(test, filled))
    store = graph.enclosing(stored.node, anatomy.module.parent)
    for put in facts.put(slot) if slot is not None and begun else ():
        here = anatomy.points(function, [put])
        way = graph.path(here, here, exceptions=False, closed=closed) if is_answer(put.args[-1].value) else None
        if way is not None and not {*store}.isdisjoint(way):
            again = graph.path(here, here, begun, exceptions=False, closed=closed)
            return put.args[-1].value if again is None else None
    return None


def _is_stored_here(anatomy: Anatomy, stored: Stored, content: cst.BaseExpression) -> bool:
    """Whether a name that is stored holds the message with this content here: branches of an adapter reuse names."""
    value = stored.write.value if stored.write is not None and stored.write.node is stored.node else None
    if type(value) is not cst.Name or anatomy.module.scope_of[content].function is not stored.function:
        return True
    bound = anatomy.definitions(value)
    if any(d.value is not None and anatomy.module.inside(content, d.value) for d in bound):
        return True
    put = anatomy.module.statement(content)
    pair = ex.member(put.targets[0].target) if isinstance(put, cst.Assign) else None  # `message["content"] = [...]`
    base = pair[0] if pair is not None else None
    return isinstance(base, cst.Name) and not set(bound).isdisjoint(anatomy.definitions(base))


def _assigned(anatomy: Anatomy, value: cst.BaseExpression) -> list[cst.BaseExpression]:
    slot = anatomy.facts.slots.of_name(value)
    return anatomy.facts.assigned(slot)


def _given_back(anatomy: Anatomy, value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a function of the file gives back, where a part is made by one."""
    callee = anatomy.facts.slots.callee(value) if isinstance(value, cst.Call) else None
    return callee.returned if callee is not None else []


def _loop_of(anatomy: Anatomy, stored: Stored, part: cst.BaseExpression) -> _Loop | None:
    """The innermost loop around the store, if the result is made of what the loop goes through, and the list stays."""
    for comprehension in walk(stored.node):
        if isinstance(comprehension, cst.CompFor):
            return comprehension
    for outer in anatomy.module.ancestors(stored.node):
        if isinstance(outer, (cst.While, cst.FunctionDef, cst.Lambda)):
            return None
        if isinstance(outer, cst.For):
            return (
                outer if _is_of(anatomy, stored, part, outer) and not _is_made_in(anatomy, stored.slot, outer) else None
            )
    return None


def _is_of(anatomy: Anatomy, stored: Stored, part: cst.BaseExpression, loop: cst.For) -> bool:
    """Whether what is stored has to do with the thing that the loop has in hand, and each time round is one result."""
    function = stored.function
    body = set(walk(loop.body))
    inside = [node for node in function.nodes if node in body]
    for name in ex.target_names(loop.target):
        slot = anatomy.facts.slots.variable(loop.target, name)
        hand = InHand(anatomy.facts, slot, inside)
        if hand.mentions(stored.node) or hand.mentions(part):
            return True
    return False


def _is_made_in(anatomy: Anatomy, slot: Slot | None, loop: cst.For) -> bool:
    return any(
        anatomy.facts.slots.of(target.target) == slot
        for node in walk(loop.body)
        if isinstance(node, cst.Assign)
        for target in node.targets
    )


def _is_only_read(anatomy: Anatomy, slot: Slot | None) -> bool:
    """Whether a local list is given to nobody: what is made of its messages is none of these."""
    if slot is None or slot[0] != "var" or is_parameter(slot) or Fates(anatomy).of_name(slot, slot[1]) is not None:
        return False
    return not any(isinstance(anatomy.module.parent[name], cst.Arg) for name in anatomy.facts.names.get(slot, ()))


def _is_joined(anatomy: Anatomy, stored: Stored, loop: _Loop) -> bool:
    """Whether results are added to the last message, or messages of one role are merged before they are sent."""
    mending, calls = anatomy.mending, anatomy.module.nodes_of(cst.Call)
    joined = (call for call in calls if stored.slot in mending.lists_of(call, _joins_neighbours))
    if any(map(mending.is_sent_later, joined)):
        return True
    if _joins_neighbours(anatomy, stored.function) or _looks_back(anatomy, walk(loop), stored.slot):
        return True
    write = stored.write
    if write is None or write.function is stored.function:
        return False
    return _looks_back(anatomy, write.function.nodes, write.slot)  # a helper that the loop calls


def _joins_neighbours(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function holds the role of a message against that of its neighbour, or groups messages by role."""
    if any(map(_compares_roles, function.nodes_of(cst.Comparison))):
        return True
    groupings = (call for call in function.nodes_of(cst.Call) if ex.called_name(call) == "groupby")
    return any(_is_role(node) for call in groupings for arg in call.args for node in walk(arg.value))


def _compares_roles(test: cst.Comparison) -> bool:
    """`message["role"] == last["role"]`, `message.role == role`: neighbours of one role are joined."""
    sides = (test.left, test.comparisons[0].comparator)
    return any(map(_is_role, sides)) and all(_is_role(side) or type(side) is cst.Name for side in sides)


def _is_role(node: cst.CSTNode) -> bool:
    pair = ex.member(node) if isinstance(node, cst.BaseExpression) else None
    return pair is not None and pair[1] == "role"


def _looks_back(anatomy: Anatomy, nodes: Iterable[cst.CSTNode], slot: Slot | None) -> bool:
    """Whether something is made of the last message of the list, where another one is about to be added."""
    for node in nodes:
        if isinstance(node, cst.Subscript) and ex.integer(ex.index(node)) == -1:
            if slot is not None and anatomy.facts.slots.of(node.value) == slot and not _is_bare(anatomy, node):
                return True
    return False


def _is_bare(anatomy: Anatomy, node: cst.Subscript) -> bool:
    """`messages[-1]` whose content nobody looks at."""
    parent = anatomy.module.parent.get(node)
    return isinstance(parent, (cst.Expr, cst.Return, cst.FormattedStringExpression))


def _ends_with_it(anatomy: Anatomy, loop: cst.For, stored: Stored) -> bool:
    """Whether every way on from the store leaves the loop."""
    graph = anatomy.flow(stored.function)
    starts = graph.enclosing(stored.node, anatomy.module.parent)
    return not graph.reaches(starts, graph.at(loop), exceptions=False)


def _has_own_call(anatomy: Anatomy, loop: cst.For, stored: Stored) -> bool:
    """Whether the loop stores an assistant message for each result, or with one call each: a result answers it."""
    return any(
        _has_one_call(anatomy, other) or not _on_another_way(anatomy, other, stored, loop)
        for other in anatomy.transcript.stored(stored.function)
        if other.role == "assistant" and other.slot == stored.slot and anatomy.module.inside(other.node, loop.body)
    )


def _has_one_call(anatomy: Anatomy, stored: Stored) -> bool:
    """`[{"type": "text", ...}, {"type": "tool_use", ...}]`."""
    content = stored.message.content if stored.message is not None else None
    elements = content.elements if isinstance(content, cst.List) else ()
    tags = [_tag(anatomy, element) for element in elements]
    return None not in tags and sum(tag in words.CALL_TAGS for tag in tags) == 1


def _tag(anatomy: Anatomy, element: cst.BaseElement) -> str | None:
    """The type that a part of a message says it is of."""
    if isinstance(element, cst.StarredElement):
        return None
    kinds = [ex.dict_items(value).get("type") for value in (element.value, *_assigned(anatomy, element.value))]
    return next((ex.text(kind) for kind in kinds if kind is not None), None)


def _on_another_way(anatomy: Anatomy, other: Stored, stored: Stored, loop: cst.For) -> bool:
    """Whether one time round never stores both: the branches of an adapter over messages."""
    graph = anatomy.flow(stored.function)
    here = graph.enclosing(stored.node, anatomy.module.parent)
    there = graph.enclosing(other.node, anatomy.module.parent)
    return not graph.reaches(there, here, graph.at(loop))
