"""Messages that are made anew, one by one, of role and content alone: what they had of calls and results is lost.

`[{"role": m["role"], "content": m["content"]} for m in history]`, a converter to the form of another API that knows
results and no calls, `Message(role=m.role, content=...)`. Only where the old ones hold calls, and the new ones are sent
to a model that is offered tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import ROLES
from lint_rules.anatomy.messages.role_tests import excludes_roles, told_roles
from lint_rules.anatomy.messages.sent import what_is_made, what_is_sent
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.values.kinds import LLMCall
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

CALLS = frozenset({"tool_calls", "function_call", "tool_use", "tool_call", "toolUse", "functionCall"})
SAYS = frozenset({"content", "parts"})
_ROLE = frozenset({"role"})
BESIDE = frozenset({"role", "name", "timestamp"}) | SAYS
_LOOKING = frozenset({"isinstance", "getattr", "hasattr", "len", "type", "id"})
_KEEPING = frozenset({"append", "insert"})
_ALL = frozenset({"user", "assistant", "tool"})

Loop = cst.For | cst.CompFor


@record
class Recast:
    """`node` makes the new message; `shows` that the old ones hold calls or results; `results`: these are kept."""

    node: cst.BaseExpression
    shows: cst.CSTNode
    results: bool = False


@record
class Copy:
    """`node` is made of `base`, which stands for each element of what `loop` goes through, in a `region`.

    Where that is a function, `run` is the copy as its caller sees it: the call, the element, what stands around it.
    """

    node: cst.BaseExpression
    base: Slot
    loop: Loop
    region: cst.CSTNode
    run: Copy | None = None


def made(anatomy: Anatomy) -> Iterator[tuple[cst.Dict | cst.Call, dict[str, cst.BaseExpression]]]:
    """What may be a message that is made of role and content alone."""
    for node, shown in anatomy.made:
        items = {**put_later(anatomy, node), **shown} if shown.keys() == _ROLE else shown
        if not SAYS.isdisjoint(items) and items.keys() <= BESIDE and _is_all(node, shown):
            yield node, items


def put_later(anatomy: Anatomy, node: cst.CSTNode) -> dict[str, cst.BaseExpression]:
    """What a dict gets by the name that it is made under: `line = {"role": role}; line["content"] = text`."""
    statement = anatomy.module.parent[node]
    targets = ex.assigned(statement)
    slot = anatomy.facts.slots.of(targets[0]) if len(targets) == 1 else None
    return dict(anatomy.facts.members(slot)) if slot is not None and slot[0] == "var" else {}


def _is_all(node: cst.BaseExpression, items: dict[str, cst.BaseExpression]) -> bool:
    """Whether nothing else is in it: no `**rest`."""
    return len(items) == len(node.elements if isinstance(node, cst.Dict) else getattr(node, "args", ()))


# -- what is made of what -----------------------------------------------------------------------------------------


def copies(anatomy: Anatomy, node: cst.Dict | cst.Call, items: dict[str, cst.BaseExpression]) -> Iterator[Copy]:
    """Of which element of which loop a message has its role and its content."""
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.Lambda):
            return
        found = _by_callers(anatomy, node) if isinstance(outer, cst.FunctionDef) else _elements(anatomy, node, outer)
        said = [items[key] for key in items.keys() & SAYS]
        for copy in found:
            if all(is_made_of(anatomy, value, copy.base, SAYS) for value in said):
                if _has_its_role(anatomy, copy, items.get("role")):
                    yield copy
        if isinstance(outer, cst.FunctionDef):
            return


def _elements(anatomy: Anatomy, node: cst.BaseExpression, outer: cst.CSTNode) -> Iterator[Copy]:
    """What may be made at a node of the elements of a loop around it."""
    loop = outer.for_in if isinstance(outer, (cst.ListComp, cst.GeneratorExp)) else outer
    for name in _targets(loop) if isinstance(loop, (cst.For, cst.CompFor)) else ():
        base = anatomy.facts.slots.of(name)
        if base is not None and isinstance(loop, (cst.For, cst.CompFor)):
            yield Copy(node, base, loop, outer)


def _by_callers(anatomy: Anatomy, node: cst.BaseExpression) -> Iterator[Copy]:
    """What may be made in a function of an element that it is handed: `[plain(m) for m in history]`."""
    function, slots = anatomy.module.scope_of[node].function, anatomy.facts.slots
    for site in anatomy.calls.sites[function]:
        given = {slots.of(value): slot for slot, value in slots.bindings(site.node, function)}
        for outer in anatomy.module.ancestors(site.node):
            if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
                break
            for run in _elements(anatomy, site.node, outer):
                if run.base in given:
                    yield Copy(node, given[run.base], run.loop, function.node, run)


def _has_its_role(anatomy: Anatomy, copy: Copy, role: cst.BaseExpression | None) -> bool:
    """Whether the role comes from the old message, or is the one that it has, by what is tested: `AIMessage(...)`."""
    if role is not None and ex.text(role) is None:
        return is_made_of(anatomy, role, copy.base, _ROLE)
    told, tested = {message.role for message in anatomy.transcript.messages.of(copy.node)}, roles_of(anatomy, copy)
    return len(told) == 1 and told <= tested < _ALL


def _targets(loop: Loop) -> Iterator[cst.Name]:
    return (part for part in walk(loop.target) if isinstance(part, cst.Name))


def is_made_of(anatomy: Anatomy, value: cst.BaseExpression, base: Slot, parts: frozenset[str]) -> bool:
    """Whether a value is made of one of some parts of a message: by way of names, and the content of what is in it."""
    facts, seen, queue = anatomy.facts, {base}, [value]
    for each in queue:
        for part in walk(each):
            pair = ex.member(part)
            if pair is not None and {pair[1], str(pair[1])} & parts and facts.slots.of(pair[0]) == base:
                return True
            slot = facts.slots.of(part) if type(part) is cst.Name else None
            if slot is None or slot in seen:
                continue
            seen.add(slot)
            values = [*facts.assigned(slot)]
            if parts is SAYS:
                values += [*facts.appended(slot), *(facts.gone_through(slot) if slot[0] == "var" else ())]
            queue += [made for made in values if made is not each]
    return False


# -- what is lost -------------------------------------------------------------------------------------------------


def is_handed_on(anatomy: Anatomy, copy: Copy) -> bool:
    """Whether all that is in the old message may get elsewhere: a function gets it, a dict, or whoever goes over it.

    Or one of the blocks of its content.
    """
    parent = anatomy.module.parent
    whole = {copy.base}
    for part in walk(copy.region):
        if type(part) is cst.Name and anatomy.facts.slots.of(part) in whole:
            outer = parent[part]
            here = parent[outer] if isinstance(outer, (cst.Arg, cst.Attribute)) else outer
            if ex.member(here) is not None or ex.asked(here) is not None:
                continue
            if isinstance(here, cst.For) and (pair := ex.member(outer)) is not None and str(pair[1]) in SAYS:
                whole.update(slot for name in _targets(here) if (slot := anatomy.facts.slots.of(name)) is not None)
            elif isinstance(here, cst.Call):
                if ex.called_name(here) not in _LOOKING | _KEEPING and not is_logging(here):
                    return True
            elif isinstance(here, (cst.Subscript, cst.For, cst.CompFor, cst.BinaryOperation, cst.StarredDictElement)):
                if part not in walk(getattr(here, "target", cst.Pass())):
                    return True
    return False


# -- of which roles ---------------------------------------------------------------------------------------------


def roles_of(anatomy: Anatomy, copy: Copy) -> frozenset[str]:
    """The roles of the messages of which a copy may be made, as far as tests tell; none if one cannot be read."""
    roles = roles_of(anatomy, copy.run) if copy.run is not None else _ALL
    for tested, holds in conditions.passed(anatomy.module, copy.node, copy.region):
        roles &= _passed(anatomy, tested.test, copy, holds=holds)
    return roles


def _passed(anatomy: Anatomy, test: cst.BaseExpression, copy: Copy, *, holds: bool) -> frozenset[str]:
    """The roles with which a test may come out as it `holds`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _passed(anatomy, test.expression, copy, holds=not holds)
    if isinstance(test, cst.BooleanOperation):
        both = [_passed(anatomy, side, copy, holds=holds) for side in (test.left, test.right)]
        return both[0] & both[1] if isinstance(test.operator, cst.And) is holds else both[0] | both[1]
    if isinstance(test, cst.Comparison) and is_made_of(anatomy, test.left, copy.base, _ROLE):
        out = excludes_roles(test)
        named = told_roles(test)
        told = frozenset(ROLES[role] for role in named if role in ROLES) if named is not None else None
        if told is not None:
            return _ALL & told if holds is not out else _ALL - told
        return frozenset()
    if isinstance(test, cst.Call) and ex.called_name(test) == "isinstance" and len(test.args) == 2:
        if anatomy.facts.slots.of(test.args[0].value) == copy.base:
            return _ALL if holds and ex.dotted(test.args[1].value) == "dict" else frozenset()
    parts = (ex.member(part) or ex.asked(part) for part in walk(test))
    asked = {pair[1] for pair in parts if pair is not None and anatomy.facts.slots.of(pair[0]) == copy.base}
    return frozenset() if asked - SAYS - {"name", "timestamp", "get"} else _ALL


# -- where it goes ------------------------------------------------------------------------------------------------


def is_sent(anatomy: Anatomy, node: cst.CSTNode, requests: Iterable[LLMCall] | None = None) -> bool:
    """Whether a message goes to a model that is offered tools, or whose calls are read: here, or from another file.

    `requests` are those that count, if not all.
    """
    asked = anatomy.facts.calls.values() if requests is None else requests
    asking = (call for call in asked if may_call_tools(anatomy, call.node))
    if any(node in what_is_sent(anatomy, [call]).nodes for call in asking):
        return True
    function = anatomy.module.scope_of[node].function
    if not any(each.what == "result" and each.sent and each.owner == function.qualname for each in anatomy.handed):
        return False
    returned = (one.value for one in function.nodes_of(cst.Return))
    return node in what_is_made(anatomy, [value for value in returned if value is not None]).nodes


# -- one message of its class -------------------------------------------------------------------------------------
