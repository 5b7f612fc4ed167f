"""Loops that go through some of the calls of a stored message only: those that are left out get no answer.

A function of this file has chosen them, or a test in a comprehension; the message holds all.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.answers import Answers
from lint_rules.anatomy.calls.in_hand import InHand
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import IDS
from lint_rules.obligations.open_ends import REFUSED
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.walk import walk

_PUTTING = frozenset({"append", "add", "setdefault"})
_LISTED = (cst.ListComp, cst.GeneratorExp, cst.SetComp)
_LOOKING = frozenset({"isinstance", "hasattr", "getattr", "callable", "bool"})
_TELLING = (cst.In, cst.NotIn, cst.Equal, cst.NotEqual)
_TAGS = frozenset({"type", "role", "kind"})
_CURE = "answer each stored call on every path, also with the reason why its tool did not run"


def chosen(anatomy: Anatomy, answers: Answers, function: Scope) -> Iterator[Draft]:
    """Such loops, where all calls are stored, here or by a caller, and the others gone through nowhere."""
    for loop in function.nodes_of(cst.For, cst.CompFor):
        for part, whole, choice in _chosen(anatomy, answers, loop):
            stored = stored_whole(anatomy, whole, function)
            if stored is None or _iterated_elsewhere(anatomy, function, whole) or not _hands_each_on(anatomy, loop):
                continue
            message = (
                f"the calls that `{ex.called_name(part)}` leaves out are stored, and get no tool result: {REFUSED}"
            )
            notes = (Note(choice, "some calls are left out here"), Note(stored, "all of them are stored here"))
            yield Draft(part, message, _CURE, notes)


def filtered(anatomy: Anatomy, function: Scope) -> Iterator[Draft]:
    """Comprehensions that answer, or pick to be answered, the calls for which a test holds; all of them are stored.

    The others are gone through nowhere.
    """
    for loop in function.nodes_of(cst.CompFor):
        slot, made = anatomy.facts.slots.of(loop.iter), anatomy.module.parent[loop]
        test = next((each.test for each in loop.ifs if _leaves_out(anatomy, each.test, loop)), None)
        if test is None or slot is None or not anatomy.facts.is_kind(loop.iter, Kind.CALLS):
            continue
        if not (_is_answer(anatomy, made) or _is_picked(anatomy, made, loop)) or _gone_through(anatomy, slot, loop):
            continue
        stored = stored_whole(anatomy, slot, function)
        if stored is not None:
            message = f"the calls for which `{ex.source(test, 40)}` does not hold are stored, and get no tool result: "
            yield Draft(made, message + REFUSED, _CURE, (Note(stored, "all of them are stored here"),))


def _leaves_out(anatomy: Anatomy, test: cst.BaseExpression, loop: cst.CompFor) -> bool:
    """Whether a test leaves calls out for what they are or what came of them: it does not ask whether one is a call."""
    if isinstance(test, cst.BooleanOperation):
        return any(_leaves_out(anatomy, side, loop) for side in (test.left, test.right))
    if not mentions(set(ex.target_names(loop.target)), test):
        return False
    if isinstance(test, cst.Call):
        return anatomy.facts.slots.callee(test) is None and ex.called_name(test) not in _LOOKING
    if not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, _TELLING):
        return False
    right, slot = ex.compared(test)[2], anatomy.facts.slots.of(loop.iter)
    read = (ex.member(side) for side in (test.left, right))
    parts = (each for value in anatomy.facts.values_of(right) for each in walk(value) if isinstance(each, cst.CompFor))
    of_all = any(anatomy.facts.slots.of(each.iter) == slot and not each.ifs for each in parts)
    return not of_all and not any(pair is not None and pair[1] in _TAGS for pair in read)


def _is_answer(anatomy: Anatomy, made: cst.CSTNode) -> bool:
    """Whether a comprehension makes answers."""
    messages = anatomy.transcript.messages
    return isinstance(made, _LISTED) and any(message.answers for message in messages.of(made.elt))


def _is_picked(anatomy: Anatomy, made: cst.CSTNode, loop: cst.CompFor) -> bool:
    """Whether the calls themselves are picked, and each of these handed on in a loop."""
    if not isinstance(made, _LISTED) or ex.source(made.elt) != ex.source(loop.target):
        return False
    places = {anatomy.facts.slots.of(name) for name in ex.assigned(anatomy.module.parent[made])} - {None}
    loops = anatomy.module.scope_of[made].function.nodes_of(cst.For, cst.CompFor)
    return any(anatomy.facts.slots.of(each.iter) in places and _hands_each_on(anatomy, each) for each in loops)


def _gone_through(anatomy: Anatomy, slot: Slot, loop: cst.CompFor) -> bool:
    """Whether all calls are gone through besides, not only to note what came of some of them."""
    function, module = anatomy.module.scope_of[loop].function, anatomy.module
    others = (each for each in function.nodes_of(cst.For, cst.CompFor) if each is not loop)
    return any(
        anatomy.facts.slots.of(whole) == slot and not isinstance(module.parent[each], cst.DictComp)
        for each in others
        for whole, _ in ex.iterated(each)
    )


def _chosen(
    anatomy: Anatomy, answers: Answers, loop: cst.For | cst.CompFor
) -> Iterator[tuple[cst.Call, Slot, cst.CSTNode]]:
    """The part that a loop goes through, the list of all calls, and where some are left out."""
    facts = anatomy.facts
    made = [*map(ex.inner, facts.assigned(facts.slots.of_name(loop.iter)))] or [ex.inner(loop.iter)]
    part = made[0]
    callee = facts.slots.callee(part) if len(made) == 1 else None
    if callee is not None and isinstance(part, cst.Call) and not answers.reaches(callee):
        behind = _left_behind(anatomy, callee)
        for parameter, value in facts.slots.bindings(part, callee) if behind else ():
            slot = facts.slots.of(value)
            if parameter in behind and slot is not None:
                yield part, slot, behind[parameter]


def _hands_each_on(anatomy: Anatomy, loop: cst.For | cst.CompFor) -> bool:
    """Whether each call of a loop is given to somebody: not only shown."""
    slot = anatomy.facts.slots.of_name(loop.target)
    if slot is None:
        return False
    hand = InHand(anatomy.facts, slot, [])
    region = loop.body if isinstance(loop, cst.For) else anatomy.module.parent[loop]
    calls = (n for n in walk(region) if type(n) is cst.Call and not is_logging(n))
    return any(hand.hands_on(arg.value) for call in calls for arg in call.args)


def _iterated_elsewhere(anatomy: Anatomy, function: Scope, slot: Slot) -> bool:
    """Whether all calls are gone through besides: their results may be told apart there."""
    return any(anatomy.facts.slots.of(node.iter) == slot for node in function.nodes_of(cst.For, cst.CompFor))


def _left_behind(anatomy: Anatomy, callee: Scope) -> dict[Slot, cst.CSTNode]:
    """The parameters of a function of which it returns some elements only, each with the loop that chooses."""
    slots = anatomy.facts.slots
    value = ex.inner(callee.returned[0]) if len(callee.returned) == 1 else None
    given = {slots.parameter(callee, p.name.value) for p in parameters(callee)}
    if isinstance(value, cst.ListComp) and value.for_in.ifs and type(value.elt) is cst.Name:
        slot = slots.of(value.for_in.iter)
        return {slot: value} if slot in given and slot is not None else {}
    kept = {slots.of_name(node) for node in walk(value)} - {None} if value is not None else set()
    found: dict[Slot, cst.CSTNode] = {}
    for loop in callee.nodes_of(cst.For):
        slot, element = slots.of(loop.iter), loop.target
        if slot in given and slot is not None and isinstance(element, cst.Name):
            put = {node: _put(anatomy, node, element.value) for node in walk(loop.body)}
            keys = {node: place[1] for node, place in put.items() if place is not None and place[0] in kept}
            if keys and (any(map(_is_shared, keys.values())) or _passes_by(anatomy, callee, loop, [*keys])):
                found[slot] = loop
    return found


def _put(anatomy: Anatomy, node: cst.CSTNode, element: str) -> tuple[Slot | None, cst.BaseExpression | None] | None:
    """Where an element is put, and under which key: `kept.append(call)`, `kept[key] = call`."""
    slots, target = anatomy.facts.slots, node.targets[0].target if isinstance(node, cst.Assign) else None
    if isinstance(node, cst.Assign) and isinstance(target, cst.Subscript):
        return (slots.of(target.value), ex.index(target)) if ex.dotted(node.value) == element else None
    if not isinstance(node, cst.Call) or ex.called_name(node) not in _PUTTING:
        return None
    key = node.args[0].value if ex.called_name(node) == "setdefault" and node.args else None
    return (slots.of(ex.receiver(node)), key) if any(ex.dotted(arg.value) == element for arg in node.args) else None


def _is_shared(key: cst.BaseExpression | None) -> bool:
    """Whether calls may have one key: all but their ids."""
    pair = ex.member(key) if key is not None else None
    return key is not None and (pair is None or pair[1] not in IDS)


def _passes_by(anatomy: Anatomy, callee: Scope, loop: cst.For, puts: list[cst.CSTNode]) -> bool:
    """Whether an element may be passed over."""
    graph = anatomy.flow(callee)
    headers, barred = graph.at(loop), set(anatomy.points(callee, puts))
    inside = [t for header in headers for t, kind in header.successors if kind == "true" and t not in barred]
    return any(t in headers for t in inside) or graph.reaches(inside, headers, barred, exceptions=False)


def stored_whole(
    anatomy: Anatomy, slot: Slot, function: Scope, above: frozenset[Scope] = frozenset()
) -> cst.CSTNode | None:
    """Where a message is stored that carries all calls of a list, here or in a caller that passes it; None if not."""
    slots = anatomy.facts.slots
    whole = {slot, slot[1]} if slot[0] == "member" else {slot}
    for stored in anatomy.transcript.stored(function):
        if stored.calls is None:
            continue
        value = stored.write.value if stored.write is not None and stored.write.node is stored.node else None
        carried = [n for part in (stored.calls, value) if part is not None for n in walk(part)]
        named = (n for n in carried if isinstance(n, (cst.Name, cst.Attribute)) and slots.of(n) in whole)
        if any(slots.of(n) == slot or not _is_part_read(anatomy, n) for n in named):
            return stored.node
    above |= {function}
    for site in (each for each in anatomy.calls.sites[function] if each.caller not in above):
        for parameter, value in slots.bindings(site.node, function):
            outside = slots.of(value)
            if parameter == slot and outside is not None:
                found = stored_whole(anatomy, outside, site.caller, above)
                if found is not None:
                    return found
    return None


def _is_part_read(anatomy: Anatomy, message: cst.CSTNode) -> bool:
    """`reply.content`: another part of the message than its calls, and not what a method makes of all of it."""
    outer = anatomy.module.parent[message]
    pair = ex.member(outer)
    called = anatomy.module.parent.get(outer)
    return pair is not None and pair[0] is message and not (isinstance(called, cst.Call) and called.func is outer)
