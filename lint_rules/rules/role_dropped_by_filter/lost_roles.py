"""Messages that a chain over roles loses, although they may well be there.

No branch takes their role into the new list, or a branch keeps one of several.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.contents import Proof
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.role_dropped_by_filter.role_chains import RoleChain, mentions_role, role_chains, roles_tested
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import iterated
from lint_rules.syntax.module import parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk_scope


@record
class LostRole:
    """The messages of `role` never get into the list `built`."""

    chain: RoleChain
    built: Slot
    role: str


def lost_roles(anatomy: Anatomy) -> Iterator[LostRole]:
    """The roles that the chains of a file lose, one for each chain."""
    for chain in role_chains(anatomy):
        built = _built(anatomy, chain)
        lost = next((role for role in ("tool", "system") if _is_lost(anatomy, chain, role)), None) if built else None
        if built is not None and lost is not None:
            yield LostRole(chain, built, lost)


@record
class Overwritten:
    """At `node` a chain keeps system messages in one name: that of `later` takes the place of the first."""

    chain: RoleChain
    node: cst.Assign
    later: Proof


def overwritten(anatomy: Anatomy) -> Iterator[Overwritten]:
    """The chains of a file that keep the last system message, of lists that may hold several."""
    contents = anatomy.contents
    for chain in role_chains(anatomy):
        kept = next((found for branch in chain.branches if (found := _kept_in_name(anatomy, branch)) is not None), None)
        later = contents.later_system_message(chain.loop.iter) if kept is not None else None
        if kept is not None and later is not None and contents.system_message(chain.loop.iter) is not None:
            yield Overwritten(chain, kept, later)


def _kept_in_name(anatomy: Anatomy, branch: cst.If) -> cst.Assign | None:
    """`if m["role"] == "system": system = m["content"]`, the whole of the branch."""
    told, body = roles_tested(anatomy, branch.test), branch.body.body
    line = body[0] if len(body) == 1 else None
    node = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    if told is None or told[1] != {"system"} or not isinstance(node, cst.Assign):
        return None
    target = node.targets[0].target
    read = {part.value for part in walk_scope(node.value) if isinstance(part, cst.Name)}
    return node if isinstance(target, cst.Name) and target.value not in read else None


def _built(anatomy: Anatomy, chain: RoleChain) -> Slot | None:
    """The list of messages that every branch appends to, and nothing else in the loop."""
    lists = [_grown(anatomy, branch.body) for branch in chain.branches]
    common = set(lists[0]).intersection(*lists[1:])
    for slot in common:
        everywhere = _grown(anatomy, chain.loop.body).get(slot, [])
        if any(not anatomy.module.inside(value, chain.node) for value in everywhere):
            continue
        if any(_is_message(anatomy, chain, value) for value in everywhere):
            return slot
    return None


def _grown(anatomy: Anatomy, region: cst.CSTNode) -> dict[Slot, list[cst.BaseExpression]]:
    found: dict[Slot, list[cst.BaseExpression]] = {}
    for node in walk_scope(region):
        if isinstance(node, cst.Call) and ex.called_name(node) in {"append", "extend", "insert"} and node.args:
            slot = anatomy.facts.slots.of(ex.receiver(node))
            if slot is not None:
                found.setdefault(slot, []).append(node.args[-1].value)
    return found


def _is_message(anatomy: Anatomy, chain: RoleChain, value: cst.BaseExpression) -> bool:
    if anatomy.facts.slots.of(value) == chain.message:
        return True
    return Kind.MESSAGE in anatomy.facts.kinds(value)


def _is_lost(anatomy: Anatomy, chain: RoleChain, role: str) -> bool:
    if role in chain.roles:
        return False
    function = anatomy.module.scope_of[chain.node].function
    if mentions_role(anatomy, function.node, role, besides=chain.node) or _skips_first(chain):
        return False
    if _stored(anatomy, chain, role):
        return True
    if role != "system" or not {"user", "assistant", "tool"} <= chain.roles or not _is_given(anatomy, chain):
        return False
    if not _keeps_some(anatomy, chain):
        return False
    if any(ex.argument(call, name) is not None for call in anatomy.facts.calls for name in words.INSTRUCTIONS):
        return False
    return not mentions_role(anatomy, anatomy.module.tree, role)


def _skips_first(chain: RoleChain) -> bool:
    cut = ex.slice_of(chain.loop.iter)
    return cut is not None and cut.lower is not None


def _keeps_some(anatomy: Anatomy, chain: RoleChain) -> bool:
    """Whether some message is kept as it is: a view of a history, not a converter to the form of another API."""
    values = [value for grown in _grown(anatomy, chain.node).values() for value in grown]
    return any(anatomy.facts.slots.of(value) == chain.message for value in values)


def _is_given(anatomy: Anatomy, chain: RoleChain) -> bool:
    """Whether the history comes from a caller, so that anything may be in it."""
    function = anatomy.module.scope_of[chain.node].function
    given = {anatomy.facts.slots.parameter(function, param.name.value) for param in parameters(function)}
    return _iterated(anatomy, chain) in given


def _iterated(anatomy: Anatomy, chain: RoleChain) -> Slot | None:
    node = iterated(chain.loop.iter)
    if ex.slice_of(node) is not None and isinstance(node, cst.Subscript):
        node = node.value
    if isinstance(node, cst.Name):
        values = anatomy.facts.values_of(node)
        if len(values) == 1 and isinstance(values[0], cst.Subscript) and ex.slice_of(values[0]) is not None:
            node = values[0].value
    return anatomy.facts.slots.of(node)


def _stored(anatomy: Anatomy, chain: RoleChain, role: str) -> bool:
    """Whether this file stores messages of a role in the history that the chain goes over."""
    slot = _iterated(anatomy, chain)
    return slot is not None and any(
        stored.slot == slot and (stored.answers if role == "tool" else stored.role == role)
        for function in anatomy.module.functions
        for stored in anatomy.transcript.stored(function)
    )
