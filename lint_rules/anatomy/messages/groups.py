"""Histories put together anew by role: all system messages, then all tool messages, then some of the rest."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.role_tests import excludes_roles, named_roles
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_REST = frozenset({"*"})
_SYSTEM = frozenset({"system", "developer"})
_PUTTING = frozenset({"append", "insert", "appendleft"})


@record
class Part:
    """A list of the messages of some roles ("*": of the others). `source` is the list they were picked from."""

    node: cst.BaseExpression
    roles: frozenset[str]
    source: cst.BaseExpression


@record
class Group:
    """`node` joins `parts` one after the other."""

    node: cst.BaseExpression
    parts: tuple[Part, ...]


def groups(anatomy: Anatomy) -> Iterator[Group]:
    """All of a file that part more than system messages from the rest."""
    for node in anatomy.module.nodes_of(cst.BinaryOperation, cst.List):
        joined = _joined(node)
        outer = anatomy.module.parent[node]
        if len(joined) < 2 or (isinstance(outer, cst.BinaryOperation) and _joined(outer)):
            continue
        parts = tuple(part for one in joined if (part := _part(anatomy, one)) is not None)
        picked = [part for part in parts if part.roles != _REST and not part.roles <= _SYSTEM]
        if len(parts) >= 2 and picked and _from_one_list(anatomy, parts):
            yield Group(node, parts)


def sorted_by_role(anatomy: Anatomy) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """`sorted(h, key=lambda m: RANK[m["role"]])`, `h.sort(key=...)`, each with the list: the role alone decides.

    Not which messages are of the system and which are not: that puts these in front of all others.
    """
    for call in anatomy.module.nodes_of(cst.Call):
        key = ex.argument(call, "key") if ex.called_name(call) in {"sorted", "sort"} else None
        ranking = anatomy.facts.slots.function(key) if key is not None else None
        listed = ex.receiver(call) if ex.called_name(call) == "sort" else next(iter(ex.positional(call)), None)
        if ranking is not None and listed is not None and _ranks_roles(anatomy, ranking):
            yield call, listed


def _ranks_roles(anatomy: Anatomy, ranking: Scope) -> bool:
    values = [ranking.node.body] if isinstance(ranking.node, cst.Lambda) else ranking.returned
    parts = [part for value in values for part in walk(value)]
    given = parameter_names(ranking)
    if {pair[1] for part in parts if (pair := ex.member(part)) is not None and ex.dotted(pair[0]) in given} != {"role"}:
        return False
    tables = (items for part in parts if isinstance(part, cst.Name) for items in _table(anatomy, part))
    apart = [{ex.source(rank) for role, rank in items.items() if role not in _SYSTEM} for items in tables]
    tests = [part for part in parts if isinstance(part, cst.Comparison)]
    of_system = any(
        _SYSTEM & {ex.text(node) for node in walk(test) if isinstance(node, cst.BaseString)} for test in tests
    )
    return not of_system and all(len(ranks) > 1 for ranks in apart)


def _table(anatomy: Anatomy, name: cst.Name) -> Iterator[dict[str, cst.BaseExpression]]:
    return (items for value in anatomy.facts.values_of(name) if (items := ex.dict_items(value)))


def _joined(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """`a`, `b`, `c` of `a + b + c` and of `[*a, *b, *c]`."""
    if isinstance(node, cst.BinaryOperation):
        if not isinstance(node.operator, cst.Add):
            return []
        return [*(_joined(node.left) or [node.left]), *(_joined(node.right) or [node.right])]
    if isinstance(node, cst.List):
        return [element.value for element in node.elements if isinstance(element, cst.StarredElement)]
    return []


def _part(anatomy: Anatomy, node: cst.BaseExpression) -> Part | None:
    whole = node
    while isinstance(node, cst.Subscript) and ex.slice_of(node) is not None:
        node = node.value
    if isinstance(node, cst.ListComp):
        return _filtered(node, whole)
    slot = anatomy.facts.slots.of(node)
    for value in anatomy.facts.assigned(slot):
        if isinstance(value, cst.ListComp):
            return _filtered(value, whole)
        if isinstance(value, cst.List) and not value.elements and slot is not None:
            return _collected(anatomy, slot, whole)
    return None


def _filtered(node: cst.ListComp, whole: cst.BaseExpression) -> Part | None:
    """`[m for m in h if m["role"] == "tool"]`."""
    if len(node.for_in.ifs) != 1 or node.for_in.inner_for_in is not None:
        return None
    test = node.for_in.ifs[0].test
    roles = named_roles(test)
    if roles is not None:
        return Part(whole, roles, node.for_in.iter)
    return Part(whole, _REST, node.for_in.iter) if excludes_roles(test) else None


def _collected(anatomy: Anatomy, slot: Slot, whole: cst.BaseExpression) -> Part | None:
    """`for m in h: if m["role"] == "tool": tools.append(m) ... else: others.append(m)`.

    Also of what was picked before: `for m in reversed([m for m in h if m["role"] != "tool"]): others.insert(0, m)`.
    """
    for call in anatomy.module.nodes_of(cst.Call):
        base = ex.receiver(call)
        if base is None or ex.called_name(call) not in _PUTTING or anatomy.facts.slots.of(base) != slot:
            continue
        roles: frozenset[str] | None = None
        here: cst.CSTNode = call
        for outer in anatomy.module.ancestors(call):
            if isinstance(outer, cst.If) and roles is None:
                roles = named_roles(outer.test) if here is outer.body else None
                roles = roles or (_REST if _tests_role(outer) else None)
            elif isinstance(outer, cst.For):
                listed = _listed(outer.iter)
                if roles is None and isinstance(listed, cst.ListComp):
                    return _filtered(listed, whole)
                return Part(whole, roles, outer.iter) if roles is not None else None
            elif isinstance(outer, cst.FunctionDef):
                break
            here = outer
    return None


def _tests_role(node: cst.If) -> bool:
    return named_roles(node.test) is not None or excludes_roles(node.test)


def _from_one_list(anatomy: Anatomy, parts: tuple[Part, ...]) -> bool:
    sources = {anatomy.facts.slots.of(_listed(part.source)) for part in parts}
    return len(sources) == 1 and None not in sources


def _listed(node: cst.BaseExpression) -> cst.BaseExpression:
    """`h` of `reversed(h)`, `h[1:]`."""
    while True:
        if isinstance(node, cst.Call) and len(node.args) == 1:
            node = node.args[0].value
        elif isinstance(node, cst.Subscript) and ex.slice_of(node) is not None:
            node = node.value
        else:
            return node
