"""What becomes of the messages of each role where a loop goes over a history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import ROLES
from lint_rules.anatomy.messages.role_tests import excludes_roles
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import CLASS_ROLES
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import Tested, passed
from lint_rules.syntax.elements import iterated
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope

_ALL = frozenset(ROLES)
_EFFECTS = (cst.Expr, cst.Return, cst.Raise, cst.AugAssign, cst.Assign)


@record
class RoleChain:
    """`loop` goes over messages, `node` is where it first asks for the role of the `message` in hand.

    Of those of the roles that are `taken` it puts the `values` into the list `built`: of a comprehension, itself. With
    those that are `handled` it does something, or it names them. Roles are words here, as messages have them.
    """

    node: cst.CSTNode
    loop: cst.For | cst.CompFor
    message: Slot
    taken: frozenset[str]
    handled: frozenset[str]
    values: tuple[cst.BaseExpression, ...]
    built: Slot | cst.BaseExpression


def role_chains(anatomy: Anatomy) -> Iterator[RoleChain]:
    """The loops that put what they make of messages into lists, by their role: one for each list."""
    for loop in loops(anatomy):
        tests = [node for node in walk_scope(loop.body) if isinstance(node, cst.If)]
        first = next(((node, told) for node in tests if (told := roles_tested(anatomy, node.test)) is not None), None)
        if first is None:
            continue
        node, (message, _) = first
        handled = _of_all(anatomy, _effects(anatomy, loop), loop.body) | _named(anatomy, tests)
        for slot, calls in _grown(anatomy, loop).items():
            values = tuple(call.args[-1].value for call in calls)
            yield RoleChain(node, loop, message, _of_all(anatomy, calls, loop.body), handled, values, slot)
    for made in anatomy.module.nodes_of(cst.ListComp, cst.GeneratorExp):
        over, asked = made.for_in, (roles_tested(anatomy, each.test) for each in made.for_in.ifs)
        told = next((told for told in asked if told is not None), None)
        if told is not None and Kind.HISTORY in anatomy.facts.kinds(iterated(over.iter)):
            taken = _roles_at(anatomy, made.elt, made)
            yield RoleChain(made, over, told[0], taken, taken | _named(anatomy, over.ifs), (made.elt,), made)


def _of_all(anatomy: Anatomy, nodes: Iterable[cst.CSTNode], region: cst.CSTNode) -> frozenset[str]:
    return frozenset[str]().union(*(_roles_at(anatomy, node, region) for node in nodes))


def _named(anatomy: Anatomy, tests: Iterable[Tested]) -> frozenset[str]:
    """The roles that tests name: to leave these out is meant."""
    told = ((each.test, roles_tested(anatomy, each.test)) for each in tests)
    named = (_ALL - one[1] if excludes_roles(test) else one[1] for test, one in told if one is not None)
    return frozenset[str]().union(*named)


def loops(anatomy: Anatomy) -> Iterator[cst.For]:
    """The loops over histories."""
    for loop in anatomy.module.nodes_of(cst.For):
        if Kind.HISTORY in anatomy.facts.kinds(iterated(loop.iter)):
            yield loop


def _grown(anatomy: Anatomy, loop: cst.For) -> dict[Slot, list[cst.Call]]:
    found: dict[Slot, list[cst.Call]] = {}
    for node in walk_scope(loop.body):
        if isinstance(node, cst.Call) and ex.called_name(node) in {"append", "extend", "insert"} and node.args:
            slot = anatomy.facts.slots.of(ex.receiver(node))
            if slot is not None:
                found.setdefault(slot, []).append(node)
    return found


def _effects(anatomy: Anatomy, loop: cst.For) -> Iterator[cst.CSTNode]:
    """What does something in a loop, other than to name what is read on in it."""
    for node in walk_scope(loop.body):
        if isinstance(node, cst.Assign):
            names = all(isinstance(target.target, cst.Name) for target in node.targets)
            if names and _roles_at(anatomy, node, loop.body) == _ALL:
                continue
        if isinstance(node, _EFFECTS) and not (isinstance(node, cst.Expr) and _only_tells(node.value)):
            yield node


def _only_tells(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.SimpleString) or (isinstance(value, cst.Call) and is_logging(value))


def _roles_at(anatomy: Anatomy, node: cst.CSTNode, region: cst.CSTNode) -> frozenset[str]:
    """The roles with which a message comes to a node, by what a region has asked before."""
    found = _ALL
    for each, holds in passed(anatomy.module, node, region):
        for part in _conjuncts(each.test) if holds else [each.test]:
            told = roles_tested(anatomy, part)
            if told is not None:
                found = found & told[1] if holds else found - told[1]
    return found


def _conjuncts(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    test = ex.inner(test)
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        yield from (*_conjuncts(test.left), *_conjuncts(test.right))
    else:
        yield test


def roles_tested(anatomy: Anatomy, test: cst.BaseExpression) -> tuple[Slot, frozenset[str]] | None:
    """The message whose role a condition tests, and the roles it lets pass: all of it must be about the role."""
    if isinstance(test, cst.Call) and ex.called_name(test) == "isinstance" and len(test.args) == 2:
        base, classes = anatomy.facts.slots.of(test.args[0].value), _listed(anatomy, test.args[1].value)
        told = [ROLES.get(CLASS_ROLES.get(ex.last_name(each) or "", "")) for each in classes]
        words = frozenset(word for word, role in ROLES.items() if role in told)
        return (base, words) if base is not None and None not in told else None
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    left, operator, right = ex.compared(test)
    base = _message_of(anatomy, left)
    if base is None or not isinstance(operator, (cst.Equal, cst.NotEqual, cst.In, cst.NotIn)):
        return None
    values = _listed(anatomy, right) if isinstance(operator, (cst.In, cst.NotIn)) else [right]
    words = frozenset(
        ex.text(value) or (value.attr.value.lower() if isinstance(value, cst.Attribute) else "") for value in values
    )
    if not words or not words <= _ALL:
        return None
    return base, _ALL - words if isinstance(operator, (cst.NotEqual, cst.NotIn)) else words


def _listed(anatomy: Anatomy, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What is in a tuple, list or set, or the keys of a dict, also of a name; else the node."""
    named = anatomy.facts.values_of(node)
    node = ex.inner(named[0]) if len(named) == 1 else node
    if isinstance(node, cst.Call) and ex.called_name(node) in {"frozenset", "set", "tuple"} and len(node.args) == 1:
        node = ex.inner(node.args[0].value)
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        return [element.value for element in node.elements]
    if isinstance(node, cst.Dict):
        return [element.key for element in node.elements if isinstance(element, cst.DictElement)]
    return [node]


def _message_of(anatomy: Anatomy, node: cst.BaseExpression) -> Slot | None:
    """The message of `m["role"]`, also by way of a name: `role = m["role"]`."""
    slots = anatomy.facts.slots
    pair = ex.member(node)
    if pair is None and isinstance(node, cst.Name):
        pairs = [ex.member(value) for value in anatomy.facts.values_of(node)]
        pair = pairs[0] if len(pairs) == 1 else None
    return slots.of(pair[0]) if pair is not None else None


def mentions_role(
    anatomy: Anatomy, region: cst.CSTNode, spoken: frozenset[str], besides: tuple[cst.CSTNode, ...] = ()
) -> bool:
    """Whether a region speaks of a role anywhere: as a literal, or in a name like `system_prompt`."""
    for node in walk(region):
        if any(anatomy.module.inside(node, other) for other in besides):
            continue
        if isinstance(node, cst.SimpleString) and ex.text(node) in spoken:
            return True
        name = node.value if isinstance(node, cst.Name) else node.attr.value if isinstance(node, cst.Attribute) else ""
        if "system" in spoken and "system" in name.lower():
            return True
    return False
