"""Histories put together anew by role: all system messages, then all tool messages, then some of the rest."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.role_tests import asks_role, excludes_roles, named_roles
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
    """All of a file that part more than system messages from the rest, but for those that are a part of another."""
    found = [*_groups(anatomy)]
    inside = {value for group in found for part in group.parts for value in anatomy.facts.values_of(_whole(part.node))}
    return (group for group in found if group.node not in inside)


def _whole(node: cst.BaseExpression) -> cst.BaseExpression:
    """`xs` of `xs[-n:]`."""
    while isinstance(node, cst.Subscript) and ex.slice_of(node) is not None:
        node = node.value
    return node


def _groups(anatomy: Anatomy) -> Iterator[Group]:
    nodes = anatomy.module.nodes_of(cst.BinaryOperation, cst.List, cst.Call)
    for node in (each for each in nodes if isinstance(each, cst.BaseExpression)):
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
    """`a`, `b`, `c` of `a + b + c`, of `[*a, *b, *c]` and of `chain(a, b, c)`."""
    if isinstance(node, cst.Call):
        return ex.positional(node) if ex.called_name(node) == "chain" else []
    if isinstance(node, cst.BinaryOperation):
        if not isinstance(node.operator, cst.Add):
            return []
        return [*(_joined(node.left) or [node.left]), *(_joined(node.right) or [node.right])]
    if isinstance(node, cst.List):
        return [element.value for element in node.elements if isinstance(element, cst.StarredElement)]
    return []


def _part(anatomy: Anatomy, node: cst.BaseExpression, within: frozenset[Slot | None] = frozenset()) -> Part | None:
    whole, node = node, _whole(node)
    if isinstance(node, cst.ListComp):
        return _filtered(node, whole)
    if isinstance(node, cst.Call):
        return _given(anatomy, node, whole)
    kept = _of_bucket(anatomy, node, whole) if isinstance(node, cst.Subscript) else None
    if kept is not None:
        return kept
    slot = anatomy.facts.slots.of(node)
    for value in anatomy.facts.assigned(slot):
        if isinstance(value, cst.ListComp):
            return _filtered(value, whole)
        if isinstance(value, cst.List) and not value.elements and slot is not None:
            return _collected(anatomy, slot, whole)
        joined = [_part(anatomy, one, within | {slot}) for one in _joined(value)] if slot not in within else []
        parts = [part for part in joined if part is not None]
        if parts and len(parts) == len(joined) and _from_one_list(anatomy, tuple(parts)):
            return Part(whole, frozenset().union(*(part.roles for part in parts)), parts[0].source)
    return None


def _given(anatomy: Anatomy, call: cst.Call, whole: cst.BaseExpression) -> Part | None:
    """`self.of("tool")`, where `of` gives the messages whose role is what it was handed."""
    callee = anatomy.facts.slots.callee(call)
    made = ex.inner(callee.returned[0]) if callee is not None and len(callee.returned) == 1 else None
    if not isinstance(made, cst.ListComp) or callee is None:
        return None
    tests = [each.test for each in made.for_in.ifs]
    asked = ex.compared(tests[0]) if len(tests) == 1 and isinstance(tests[0], cst.Comparison) else None
    handed = [ex.text(arg.value) for arg in call.args]
    if asked is None or asks_role(asked[0]) is None or not handed or not all(handed):
        return _filtered(made, whole)
    told = isinstance(asked[1], (cst.Equal, cst.In)) and ex.dotted(asked[2]) in parameter_names(callee)
    return Part(whole, frozenset(role for role in handed if role), made.for_in.iter) if told else None


def _bucket(node: cst.BaseExpression) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """`xs` and `key` of `xs[key]` and `xs.setdefault(key, [])`."""
    if isinstance(node, cst.Call) and ex.called_name(node) == "setdefault" and node.args:
        return ex.receiver(node), node.args[0].value
    return (node.value, ex.index(node)) if isinstance(node, cst.Subscript) else (None, None)


def _of_bucket(anatomy: Anatomy, node: cst.Subscript, whole: cst.BaseExpression) -> Part | None:
    """`buckets["tool"]`, where each message of a list is put into `buckets[m["role"]]`."""
    role, slot = ex.text(ex.index(node) or node), anatomy.facts.slots.of(node.value)
    for call in anatomy.module.nodes_of(cst.Call) if role and slot is not None else ():
        base = ex.receiver(call) if ex.called_name(call) in _PUTTING else None
        of, key = _bucket(base) if base is not None else (None, None)
        loop = anatomy.module.loop_around(call)
        if key is not None and anatomy.facts.slots.of(of) == slot and asks_role(key) is not None:
            if isinstance(loop, cst.For) and role is not None:
                return Part(whole, frozenset({role}), loop.iter)
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
    while isinstance(whole := _whole(node), cst.Call) and len(whole.args) == 1:
        node = whole.args[0].value
    return whole
