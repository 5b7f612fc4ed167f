"""Messages that are made anew, one by one, of role and content alone: what they had of calls and results is lost.

`[{"role": m["role"], "content": m["content"]} for m in history]`, a converter to the form of another API that knows
results and no calls, `Message(role=m.role, content=...)`. Only where the old ones hold calls, and the new ones are sent
to a model that is offered tools.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.contents import TOOL_FIELDS
from lint_rules.anatomy.messages.messages import ROLES
from lint_rules.anatomy.messages.role_chains import iterated
from lint_rules.anatomy.messages.role_tests import excludes_roles, told_roles
from lint_rules.anatomy.messages.sent import what_is_made, what_is_sent
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.values.slots import Slot, root_object
from lint_rules.anatomy.vocabulary import ENDPOINTS
from lint_rules.syntax import conditions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_CALLS = frozenset({"tool_calls", "function_call", "tool_use", "tool_call", "toolUse", "functionCall"})
_ID = "tool_call_id"
"""What a result answers, where that stands beside its content."""
_SAYS = frozenset({"content", "parts"})
_ROLE = frozenset({"role"})
_BESIDE = frozenset({"role", "name", "timestamp"}) | _SAYS
_CONTENT_ONLY = ("messages.create", "messages.stream", "converse", "converse_stream")
_LOOKING = frozenset({"isinstance", "getattr", "hasattr", "len", "type", "id"})
_KEEPING = frozenset({"append", "insert"})
_ALL = frozenset({"user", "assistant", "tool"})
_DEEPEST = 3

Loop = cst.For | cst.CompFor


@record
class Recast:
    """`node` makes the new message; `shows` that the old ones hold calls or results; `results`: these are kept."""

    node: cst.BaseExpression
    shows: cst.CSTNode
    results: bool = False


@record
class _Copy:
    """`node` is made of `base`, which stands for each element of what `loop` goes through, in a `region`."""

    node: cst.Dict | cst.Call
    base: Slot
    loop: Loop
    region: cst.CSTNode


def recasts(anatomy: Anatomy) -> Iterator[Recast]:
    """All of a file."""
    for node, items in anatomy.made:
        if _SAYS.isdisjoint(items) or not items.keys() <= _BESIDE or not _is_all(node, items):
            continue
        for copy in _copies(anatomy, node, items):
            found = _lost(anatomy, copy)
            if found is not None and _is_sent(anatomy, node):
                yield found
                break
        else:
            shows = _same_kind(anatomy, node, items) if "role" in items else None
            if shows is not None:
                yield Recast(node, shows)


def _is_all(node: cst.BaseExpression, items: dict[str, cst.BaseExpression]) -> bool:
    """Whether nothing else is in it: no `**rest`."""
    return len(items) == len(node.elements if isinstance(node, cst.Dict) else getattr(node, "args", ()))


# -- what is made of what -----------------------------------------------------------------------------------------


def _copies(anatomy: Anatomy, node: cst.Dict | cst.Call, items: dict[str, cst.BaseExpression]) -> Iterator[_Copy]:
    """Of which element of which loop a message has its role and its content."""
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
            return
        loop = outer.for_in if isinstance(outer, (cst.ListComp, cst.GeneratorExp)) else outer
        for name in _targets(loop) if isinstance(loop, (cst.For, cst.CompFor)) else ():
            base = anatomy.facts.slots.of(name)
            said = [items[key] for key in items.keys() & _SAYS]
            if base is not None and all(_is_made_of(anatomy, value, base, _SAYS, 0) for value in said):
                copy = _Copy(node, base, loop, outer)  # type: ignore[arg-type]
                if _has_its_role(anatomy, copy, items.get("role")):
                    yield copy


def _has_its_role(anatomy: Anatomy, copy: _Copy, role: cst.BaseExpression | None) -> bool:
    """Whether the role comes from the old message, or is the one that it has, by what is tested: `AIMessage(...)`."""
    if role is not None and ex.text(role) is None:
        return _is_made_of(anatomy, role, copy.base, _ROLE, 0)
    told, tested = {message.role for message in anatomy.transcript.messages.of(copy.node)}, _roles(anatomy, copy)
    return len(told) == 1 and told <= tested < _ALL


def _targets(loop: Loop) -> Iterator[cst.Name]:
    return (part for part in walk(loop.target) if isinstance(part, cst.Name))


def _is_made_of(anatomy: Anatomy, value: cst.BaseExpression, base: Slot, parts: frozenset[str], depth: int) -> bool:
    """Whether a value is made of one of some parts of a message: by way of names, and the content of what is in it."""
    facts = anatomy.facts
    for part in walk(value):
        pair = ex.member(part)
        if pair is not None and pair[1] in parts and facts.slots.of(pair[0]) == base:
            return True
        slot = facts.slots.of(part) if type(part) is cst.Name and depth < _DEEPEST else None
        if slot is not None and slot != base:
            values = [*facts.assigned(slot)]
            if parts is _SAYS:
                values += [*facts.appended(slot), *(facts.gone_through(slot) if slot[0] == "var" else ())]
            if any(v is not value and _is_made_of(anatomy, v, base, parts, depth + 1) for v in values):
                return True
    return False


# -- what is lost -------------------------------------------------------------------------------------------------


def _lost(anatomy: Anatomy, copy: _Copy) -> Recast | None:
    """What a copy leaves behind that the old messages have: nothing else in the loop takes care of it."""
    ids: list[cst.CSTNode] = []
    for part in walk(copy.region):
        pair = ex.member(part) or ex.asked(part)
        word = ex.text(part) if isinstance(part, cst.SimpleString) else pair[1] if pair is not None else None
        if word in _CALLS:
            return None
        slot = anatomy.facts.slots.of(pair[0]) if pair is not None and word == _ID else None
        ids += [part] if slot is not None and root_object(slot) == root_object(copy.base) else []
    if _is_handed_on(anatomy, copy) or _is_added_to(anatomy, copy):
        return None
    roles = _roles(anatomy, copy)
    if "assistant" not in roles:
        return None
    if ids:
        return Recast(copy.node, ids[0], results=True)
    if "tool" not in roles or not _stand_beside(anatomy, copy):
        return None
    proof = anatomy.contents.tool_results(iterated(ex.inner(copy.loop.iter)))
    if proof is None or (proof.module is None and proof.elsewhere is None and not _is_there(anatomy, proof.node, copy)):
        return None
    return Recast(copy.node, proof.node if proof.module is None else copy.node)


def _is_there(anatomy: Anatomy, shown: cst.CSTNode, copy: _Copy) -> bool:
    """Whether what a place puts into a list is there when the copy is made: the list lasts, or the place leads to it.

    Two functions may get one list, of which a turn runs only one; and who only asks for calls puts none into it.
    """
    pair = ex.member(shown)
    if isinstance(shown, cst.Comparison) or (pair is not None and pair[1] in TOOL_FIELDS):
        return False
    place, here = anatomy.module.scope_of[shown].function, anatomy.module.scope_of[copy.node].function
    stored = (one.slot for one in anatomy.transcript.stored(place) if one.node is shown)
    if any(slot is not None and root_object(slot)[0] == "attr" for slot in stored):
        return True
    sites = (site.node for site in anatomy.calls.calls[place] if here in anatomy.calls.reachable(site.callee))
    return anatomy.leads(place, [shown], [copy.node] if here is place else [*sites])


def _stand_beside(anatomy: Anatomy, copy: _Copy) -> bool:
    """Whether calls and results stand beside the content of the old messages, and not in it.

    By what is stored in their list, by the fields of their class, or by the API that the file asks.
    """
    names = {call.name for call in anatomy.facts.calls.values()}
    if any(name.endswith(_CONTENT_ONLY) for name in names):
        return False
    within = [*anatomy.contents.flowing_into(iterated(ex.inner(copy.loop.iter)))]
    classes = (found[1] for slot in within if (found := anatomy.elements.of(slot)) is not None)
    if any(not TOOL_FIELDS.isdisjoint(cls.bound) for cls in classes):
        return True
    stored = (one for function in anatomy.module.functions for one in anatomy.transcript.stored(function))
    if any(one.slot in within and _is_beside_content(anatomy, one) for one in stored):
        return True
    return not names.isdisjoint(ENDPOINTS)


def _is_beside_content(anatomy: Anatomy, stored: Stored) -> bool:
    """Whether a message has calls, or ids of calls that it answers, which its content does not hold."""
    message = stored.message
    if message is None:
        return False
    parts = [*([message.calls] if message.calls is not None else []), *message.answers]
    content = message.content
    made = [content, *anatomy.facts.values_of(content)] if content is not None else []
    return not set(parts) <= {inside for value in made for inside in walk(value)}


def _is_handed_on(anatomy: Anatomy, copy: _Copy) -> bool:
    """Whether all that is in the old message may get elsewhere: a function gets it, a dict, or whoever goes over it."""
    parent = anatomy.module.parent
    for part in walk(copy.region):
        if type(part) is cst.Name and anatomy.facts.slots.of(part) == copy.base:
            outer = parent[part]
            here = parent[outer] if isinstance(outer, (cst.Arg, cst.Attribute)) else outer
            if ex.member(here) is not None or ex.asked(here) is not None:
                continue
            if isinstance(here, cst.Call):
                if ex.called_name(here) not in _LOOKING | _KEEPING and not is_logging(here):
                    return True
            elif isinstance(here, (cst.Subscript, cst.For, cst.CompFor, cst.BinaryOperation, cst.StarredDictElement)):
                if part not in walk(getattr(here, "target", cst.Pass())):
                    return True
    return False


def _is_added_to(anatomy: Anatomy, copy: _Copy) -> bool:
    """Whether something is put into the new message by its name."""
    statement = anatomy.module.statement(copy.node)
    targets = ex.targets(statement) if isinstance(statement, (cst.Assign, cst.AnnAssign)) else []
    slots = {anatomy.facts.slots.of(target) for target in targets} - {None}
    for part in walk(copy.region) if slots else ():
        pair = ex.member(part)
        base = ex.receiver(part) if isinstance(part, cst.Call) else pair[0] if pair is not None else None
        base = part.value if isinstance(part, cst.Subscript) else base
        if base is not None and anatomy.facts.slots.of(base) in slots:
            return True
    return False


# -- of which roles ---------------------------------------------------------------------------------------------


def _roles(anatomy: Anatomy, copy: _Copy) -> frozenset[str]:
    """The roles of the messages of which a copy may be made, as far as tests tell; none if one cannot be read."""
    roles = _ALL
    for tested, holds in conditions.passed(anatomy.module, copy.node, copy.region):
        roles &= _passed(anatomy, tested.test, copy, holds=holds)
    return roles


def _passed(anatomy: Anatomy, test: cst.BaseExpression, copy: _Copy, *, holds: bool) -> frozenset[str]:
    """The roles with which a test may come out as it `holds`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _passed(anatomy, test.expression, copy, holds=not holds)
    if isinstance(test, cst.BooleanOperation):
        both = [_passed(anatomy, side, copy, holds=holds) for side in (test.left, test.right)]
        return both[0] & both[1] if isinstance(test.operator, cst.And) is holds else both[0] | both[1]
    if isinstance(test, cst.Comparison) and _is_made_of(anatomy, test.left, copy.base, _ROLE, 0):
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
    return frozenset() if asked - _SAYS - {"name", "timestamp", "get"} else _ALL


# -- where it goes ------------------------------------------------------------------------------------------------


def _is_sent(anatomy: Anatomy, node: cst.CSTNode) -> bool:
    """Whether a message goes to a model that is offered tools, or whose calls are read: here, or from another file."""
    asking = (call for call in anatomy.facts.calls.values() if may_call_tools(anatomy, call.node))
    if any(node in what_is_sent(anatomy, [call]).nodes for call in asking):
        return True
    function = anatomy.module.scope_of[node].function
    if not any(each.what == "result" and each.sent and each.owner == function.qualname for each in anatomy.handed):
        return False
    returned = (one.value for one in function.nodes_of(cst.Return))
    return node in what_is_made(anatomy, [value for value in returned if value is not None]).nodes


# -- one message of its class -------------------------------------------------------------------------------------


def _same_kind(anatomy: Anatomy, node: cst.BaseExpression, items: dict[str, cst.BaseExpression]) -> cst.CSTNode | None:
    """For `Message(role=m.role, content=...)` of a parameter `m: Message`: where calls of such messages are read."""
    function = anatomy.module.scope_of[node].function
    made = ex.called_name(node) if isinstance(node, cst.Call) else None
    pair = ex.member(items["role"])
    if made is None or pair is None or pair[1] != "role" or not isinstance(pair[0], cst.Name):
        return None
    if not any(_is_annotated(param, pair[0].value, made) for param in parameters(function)):
        return None
    return next(
        (
            part
            for part in walk(_outermost(function))
            if (ex.member(part) or ex.asked(part) or (None, ""))[1] in {"tool_calls", "function_call"}
        ),
        None,
    )


def _is_annotated(param: cst.Param, name: str, made: str) -> bool:
    return (
        param.name.value == name
        and param.annotation is not None
        and (ex.dotted(param.annotation.annotation) or "").rpartition(".")[2] == made
    )


def _outermost(function: Scope) -> cst.CSTNode:
    """The function that a nested one stands in, or itself."""
    scope: Scope = function
    while scope.parent is not None and scope.parent.function.kind == "function":
        scope = scope.parent.function
    return scope.node
