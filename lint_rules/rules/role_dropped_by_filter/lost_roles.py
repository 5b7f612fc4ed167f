"""Messages that a chain over roles loses, although they may well be there.

No branch takes their role into the new list, or a branch keeps one of several.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.contents import Proof
from lint_rules.anatomy.messages.messages import ROLES, Role
from lint_rules.anatomy.messages.sent import what_is_made
from lint_rules.anatomy.values.kinds import Kind, LLMCall
from lint_rules.anatomy.values.slots import Slot, describe
from lint_rules.rules.role_dropped_by_filter.role_chains import (
    RoleChain,
    loops,
    mentions_role,
    role_chains,
    roles_tested,
)
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import iterated
from lint_rules.syntax.module import parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk, walk_scope

_LOST: tuple[Role, ...] = ("tool", "system")


@record
class LostRole:
    """The messages of `role`, which get into the list as `shows` tells, are not in what is `built`."""

    chain: RoleChain
    built: str
    role: Role
    shows: cst.CSTNode | None


def lost_roles(anatomy: Anatomy) -> Iterator[LostRole]:
    """The roles that the loops of a file lose, one for each loop."""
    for chain in role_chains(anatomy):
        left_out = {ROLES[word] for word in chain.handled - chain.taken}
        is_talk = ({ROLES[word] for word in chain.taken} - left_out).issuperset({"user", "assistant"})
        requests = [*_requests(anatomy, chain)] if is_talk else []
        if not requests and not (is_talk and _may_be_sent(anatomy, chain)):
            continue
        for role in _LOST:
            shows, said = _shows(anatomy, chain, role)
            lost = said not in chain.handled if said is not None else role == "system" and _is_view(anatomy, chain)
            if lost and not _is_dealt_with(anatomy, chain, said or role, requests, shows):
                built = describe(chain.built) if isinstance(chain.built, tuple) else ex.source(chain.built, 40)
                yield LostRole(chain, built, role, shows)
                break


@record
class Overwritten:
    """At `node`, a loop keeps system messages in one name: that of `later` takes the place of the first."""

    loop: cst.For
    node: cst.Assign
    later: Proof


def overwritten(anatomy: Anatomy) -> Iterator[Overwritten]:
    """The loops of a file that keep the last system message, of lists that may hold several."""
    contents = anatomy.contents
    for loop in loops(anatomy):
        branches = (node for node in walk_scope(loop.body) if isinstance(node, cst.If))
        kept = next((found for branch in branches if (found := _kept_in_name(anatomy, branch)) is not None), None)
        later = contents.later_system_message(loop.iter) if kept is not None else None
        if kept is not None and later is not None and contents.system_message(loop.iter) is not None:
            yield Overwritten(loop, kept, later)


def _kept_in_name(anatomy: Anatomy, branch: cst.If) -> cst.Assign | None:
    """`if m["role"] == "system": system = m["content"]`, the whole of the branch."""
    told, body = roles_tested(anatomy, branch.test), branch.body.body
    line = body[0] if len(body) == 1 else None
    node = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    if told is None or {ROLES[word] for word in told[1]} != {"system"} or not isinstance(node, cst.Assign):
        return None
    target = node.targets[0].target
    read = {part.value for part in walk_scope(node.value) if isinstance(part, cst.Name)}
    return node if isinstance(target, cst.Name) and target.value not in read else None


def _requests(anatomy: Anatomy, chain: RoleChain) -> Iterator[LLMCall]:
    """The requests that are made of what a loop has put together: of its messages, or of their text."""
    for call in anatomy.facts.calls.values():
        said = [*call.body.values(), *(arg.value for arg in call.node.args)]
        sent = what_is_made(anatomy, said if call.history is None else [call.history, *said])
        parts = (part for node in sent.nodes for part in walk(node) if isinstance(part, cst.Call))
        joined = [part for part in parts if ex.called_name(part) == "join"]
        whole = what_is_made(anatomy, (part.args[0].value for part in joined if part.args))
        if chain.built in (sent.slots | whole.slots if isinstance(chain.built, tuple) else sent.nodes | whole.nodes):
            yield call


def _may_be_sent(anatomy: Anatomy, chain: RoleChain) -> bool:
    """Whether messages are made that nobody in the file sends: of a function that nobody here calls."""
    function = anatomy.module.scope_of[chain.node].function
    made = any(
        anatomy.facts.slots.of(value) == chain.message or Kind.MESSAGE in anatomy.facts.kinds(value)
        for value in chain.values
    )
    return made and (not anatomy.facts.calls or _is_given(anatomy, chain)) and function.kind == "function"


def _shows(anatomy: Anatomy, chain: RoleChain, role: Role) -> tuple[cst.CSTNode | None, str | None]:
    """Where messages of a role get into the list that a loop goes over, and which word they have for it."""
    listed, contents = iterated(chain.loop.iter), anatomy.contents
    if role == "tool" and not _keeps_calls(anatomy, chain):
        return None, None
    if role == "system":
        proof = contents.system_message(listed)
        node = proof.node if proof is not None and proof.module is None else None
    else:
        node = next(iter(contents.results_put_into(contents.flowing_into(listed))), None)
    if node is None:
        return None, None
    put = ex.positional(node)[-1:] if isinstance(node, cst.Call) and not ex.made_of(node) else []
    said = ex.text(made["role"]) if (made := ex.dict_items(next(iter(put), node))).keys() >= {"role"} else None
    return node, said if said in ROLES else role


def _keeps_calls(anatomy: Anatomy, chain: RoleChain) -> bool:
    """Whether some message is kept as it is, or with its calls: else calls are left out as results are."""
    parts = [part for value in chain.values for part in (value, *walk(value))]
    kept = any(anatomy.facts.slots.of(value) == chain.message for value in chain.values)
    return kept or any(isinstance(part, cst.StarredDictElement) or _is_calls(part) for part in parts)


def _is_calls(part: cst.CSTNode) -> bool:
    return (ex.member(part) or (None, ""))[1] == "tool_calls"


def _is_view(anatomy: Anatomy, chain: RoleChain) -> bool:
    """Whether a caller's messages of all roles but the system's are taken, and some of them kept as they are, in a file
    that says nothing of these: that is no converter to the form of another API."""
    if {ROLES[word] for word in chain.taken | chain.handled} != {"user", "assistant", "tool"}:
        return False
    kept = any(anatomy.facts.slots.of(value) == chain.message for value in chain.values)
    return (
        kept
        and _is_given(anatomy, chain)
        and not mentions_role(anatomy, anatomy.module.tree, frozenset({"system", "developer"}))
    )


def _is_dealt_with(
    anatomy: Anatomy, chain: RoleChain, word: str, requests: list[LLMCall], shows: cst.CSTNode | None
) -> bool:
    """Whether what builds or sends the list speaks of a role elsewhere, or instructions are given apart."""
    if _skips_first(chain):
        return True
    besides = (chain.node, *([shows] if shows is not None else []))
    alike = frozenset(each for each, role in ROLES.items() if role == ROLES[word])
    spoken = alike if alike.isdisjoint(chain.handled) else frozenset({word})
    functions = {anatomy.module.scope_of[node].function for node in (chain.node, *(call.node for call in requests))}
    if any(mentions_role(anatomy, each.node, spoken, besides) for each in functions):
        return True
    calls = anatomy.module.nodes_of(cst.Call) if "system" in spoken else ()
    return any(ex.argument(call, name) is not None for call in calls for name in words.INSTRUCTIONS)


def _skips_first(chain: RoleChain) -> bool:
    cut = ex.slice_of(chain.loop.iter)
    return cut is not None and cut.lower is not None


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
