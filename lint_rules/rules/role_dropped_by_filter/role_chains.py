"""Tests of the role of one message after the other."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import ROLES
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import iterated
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


def role_chains(anatomy: Anatomy) -> Iterator[RoleChain]:
    """Chains without an else whose every branch tests the role of the same message, two branches at least."""
    for node in anatomy.module.nodes_of(cst.If):
        parent = anatomy.module.parent.get(node)
        if type(parent) is cst.If and parent.orelse is node:
            continue
        loop = next((o for o in anatomy.module.ancestors(node) if isinstance(o, (cst.For, cst.FunctionDef))), None)
        if not isinstance(loop, cst.For) or Kind.HISTORY not in anatomy.facts.kinds(iterated(loop.iter)):
            continue
        chain = _chain(anatomy, node, loop)
        if chain is not None:
            yield chain


def _chain(anatomy: Anatomy, node: cst.If, loop: cst.For) -> RoleChain | None:
    roles: set[str] = set()
    messages: set[Slot] = set()
    branches: list[cst.If] = []
    here: cst.If | cst.Else | None = node
    while isinstance(here, cst.If):
        told = roles_tested(anatomy, here.test)
        if told is None:
            return None
        messages.add(told[0])
        roles |= told[1]
        branches.append(here)
        here = here.orelse
    if here is not None or len(branches) < 2 or len(messages) != 1:
        return None
    return RoleChain(node, loop, messages.pop(), frozenset(roles), tuple(branches))


def roles_tested(anatomy: Anatomy, test: cst.BaseExpression) -> tuple[Slot, frozenset[str]] | None:
    """The message whose role a condition tests, and the roles it lets pass: all of it must be about the role."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    left, operator, right = ex.compared(test)
    base = _message_of(anatomy, left)
    if base is None:
        return None
    values: list[cst.BaseExpression] = []
    if isinstance(operator, cst.Equal):
        values = [right]
    elif isinstance(operator, cst.In) and isinstance(right, (cst.Tuple, cst.List, cst.Set)):
        values = [element.value for element in right.elements]
    named = [
        ex.text(value) or (value.attr.value.lower() if isinstance(value, cst.Attribute) else "") for value in values
    ]
    if not named or any(name not in ROLES for name in named):
        return None
    return base, frozenset(ROLES[name] for name in named)


def _message_of(anatomy: Anatomy, node: cst.BaseExpression) -> Slot | None:
    """The message of `m["role"]`, also by way of a name: `role = m["role"]`."""
    slots = anatomy.facts.slots
    pair = ex.member(node)
    if pair is None and isinstance(node, cst.Name):
        slot = slots.of(node)
        pairs = [ex.member(value) for value in (anatomy.facts.assigned(slot))]
        pair = pairs[0] if len(pairs) == 1 else None
    return slots.of(pair[0]) if pair is not None and pair[1] == "role" else None


def mentions_role(anatomy: Anatomy, region: cst.CSTNode, role: str, besides: cst.CSTNode | None = None) -> bool:
    """Whether a region speaks of a role anywhere: as a literal, or in a name like `system_prompt`."""
    for node in walk(region):
        if besides is not None and anatomy.module.inside(node, besides):
            continue
        if isinstance(node, cst.SimpleString) and ROLES.get(ex.text(node) or "") == role:
            return True
        name = node.value if isinstance(node, cst.Name) else node.attr.value if isinstance(node, cst.Attribute) else ""
        if role == "system" and "system" in name.lower():
            return True
    return False


@record
class RoleChain:
    """`node` is the first `if`, `loop` goes over the messages, `roles` are those that some branch takes."""

    node: cst.If
    loop: cst.For
    message: Slot
    roles: frozenset[str]
    branches: tuple[cst.If, ...]
