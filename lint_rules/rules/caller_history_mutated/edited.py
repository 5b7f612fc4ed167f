"""Histories and messages that a function is given, and edits: what its caller has is another one from then on."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.given import Given, Level, says_so
from lint_rules.anatomy.values.copies import Copy
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.sharing import SharedStore
from lint_rules.anatomy.values.slots import is_method
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.reaching import Definition

_SAME_ELEMENTS = frozenset({"enumerate", "reversed", "list", "tuple", "sorted", "iter", "filter"})


def edited(anatomy: Anatomy) -> Iterator[Given]:
    """What functions edit of the histories and messages that were passed to them, without saying so."""
    for function in anatomy.module.functions:
        if function.kind != "function":
            continue
        known = []
        for param in parameters(function)[1 if is_method(function) else 0 :]:
            kinds = anatomy.facts.of(anatomy.facts.slots.parameter(function, param.name.value))
            kind = next((kind for kind in (Kind.HISTORY, Kind.MESSAGE) if kind in kinds), None) if kinds else None
            if kind is not None and param.star not in ("*", "**"):
                known.append((param, kind, kinds[kind]))
        for param, kind, evidence in known if known and not says_so(function) else ():
            yield from _edits(anatomy, function, param, kind, evidence)


def _edits(anatomy: Anatomy, function: Scope, param: cst.Param, kind: Kind, evidence: Evidence) -> Iterator[Given]:
    found = _of(anatomy, function, param, evidence, 0)
    deep = _of(anatomy, function, param, evidence, 1) if found and kind is Kind.HISTORY else found
    if deep:
        yield Given(function, param, kind, evidence, "message", deep)
    if kind is Kind.HISTORY:
        nodes = {store.node for store in deep}
        flat = [store for store in found if store.node not in nodes]
        if flat:
            yield Given(function, param, kind, evidence, "list", flat)


def _of(anatomy: Anatomy, function: Scope, param: cst.Param, evidence: Evidence, fresh: int) -> list[SharedStore]:
    """The stores into objects `fresh` or more levels below the parameter, also in functions nested in this one."""
    name = param.name.value
    copy = Copy(param, param.name, fresh, evidence, function)
    found = list(anatomy.shared_stores.into(function, name, copy))
    slot = anatomy.facts.slots.parameter(function, name)
    if not anatomy.facts.assigned(slot):
        for inner in anatomy.module.nested(function):
            if inner.kind == "function" and name not in inner.bound:
                found += anatomy.shared_stores.into(inner, name, copy)
    return sorted(found, key=lambda store: anatomy.module.order[store.node])


def hands_back(anatomy: Anatomy, given: Given) -> bool:
    """Whether the function returns (or yields) the very list or message it got."""
    slot = anatomy.facts.slots.parameter(given.function, given.param.name.value)
    for node in given.function.nodes:
        if isinstance(node, (cst.Yield, cst.Return)):
            value = node.value.item if isinstance(node.value, cst.From) else node.value
            parts = ex.several(value) if value is not None else []
            if any(part is not None and anatomy.facts.slots.of(part) == slot for part in parts):
                return True
    return False


def owned_by_callers(anatomy: Anatomy, given: Given) -> bool | None:
    """Whether a caller passes what others hold, too, when the call has ended; None where no caller is seen."""
    owned = _owned(anatomy, given.function, given.param.name.value, given.level, 0)
    slot = anatomy.facts.slots.parameter(given.function, given.param.name.value)
    told = anatomy.handed if owned is None else []
    handed = [each for each in told if each.what == "history" and slot in anatomy.contents.arrives(each)]
    return any(each.kept for each in handed) if handed else owned


def _owned(anatomy: Anatomy, function: Scope, name: str, level: Level, depth: int) -> bool | None:
    slot = anatomy.facts.slots.parameter(function, name)
    passed = [
        (site.node, site.caller, value)
        for site in anatomy.calls.sites[function]
        for bound, value in anatomy.facts.slots.bindings(site.node, function)
        if bound == slot and site.caller is not function
    ]
    if not passed:
        return None
    return any(
        not _takes_its_place(anatomy, call, value) and not _is_fresh(anatomy, value, call, caller, level, depth)
        for call, caller, value in passed
    )


def is_put_together(anatomy: Anatomy, given: Given) -> bool:
    """Whether every caller hands a reply, or a piece of its stream, on with the message: it grows into that reply."""
    sites = anatomy.calls.sites[given.function]
    return given.level == "message" and bool(sites) and all(
        any(_is_of_reply(anatomy, arg.value, site.caller) for arg in site.node.args) for site in sites
    )  # fmt: skip


def is_only_filled(anatomy: Anatomy, given: Given) -> bool:
    """Whether the function sets attributes of what it got, and looks at nothing of it: that is given to be filled."""
    slot = anatomy.facts.slots.parameter(given.function, given.param.name.value)
    used = [name for name in anatomy.facts.names[slot] if name is not given.param.name]
    return given.kind is Kind.MESSAGE and all(_is_set(anatomy, name) for name in used)


def _is_set(anatomy: Anatomy, name: cst.Name) -> bool:
    """`x` of `x.content = ...`."""
    member = anatomy.module.parent[name]
    return isinstance(member, cst.Attribute) and isinstance(anatomy.module.parent[member], cst.AssignTarget)


def _is_of_reply(anatomy: Anatomy, value: cst.BaseExpression, caller: Scope) -> bool:
    """Whether a value is what a model call gives, the variable of a loop over it, or a part of these."""
    while isinstance(value, (cst.Attribute, cst.Subscript)):
        value = value.value
    if not isinstance(value, cst.Name) or caller.kind == "lambda":
        return False
    for definition in anatomy.definitions(value):
        loop = definition.point.statement
        source = loop.iter if definition.kind == "for" and isinstance(loop, cst.For) else definition.value
        if source is not None and Kind.REPLY in anatomy.facts.kinds(source):
            return True
    return False


def _takes_its_place(anatomy: Anatomy, call: cst.Call, value: cst.BaseExpression) -> bool:
    """`request["messages"] = prepare(request["messages"])`: what was passed is given up for the result."""
    statement = anatomy.module.statement(call)
    if not isinstance(statement, cst.Assign):
        return False
    slot = anatomy.facts.slots.of(value)
    targets = [anatomy.facts.slots.of(target.target) for target in statement.targets]
    return slot is not None and slot[0] != "var" and slot in targets


def _is_fresh(
    anatomy: Anatomy, value: cst.BaseExpression, call: cst.Call, caller: Scope, level: Level, depth: int
) -> bool:
    """Whether a value is made for this call: nobody else holds it (for a list of messages: nor its messages)."""

    def fresh(part: cst.BaseExpression) -> bool:
        return _is_fresh(anatomy, part, call, caller, level, depth + 1)

    value = ex.inner(value)
    if isinstance(value, (cst.Dict, cst.Call)):
        return True
    if isinstance(value, cst.ListComp):
        return level == "list" or isinstance(value.elt, (cst.Dict, cst.Call))
    if isinstance(value, (cst.List, cst.Tuple)):
        starred = any(isinstance(e, cst.StarredElement) for e in value.elements)
        return level == "list" or (not starred and all(fresh(e.value) for e in value.elements))
    if isinstance(value, cst.BinaryOperation):
        return level == "list" or (fresh(value.left) and fresh(value.right))
    if isinstance(value, cst.Subscript) and ex.slice_of(value) is not None:
        return level == "list" or fresh(value.value)
    return (
        isinstance(value, cst.Name) and depth <= DEEPEST and _name_is_fresh(anatomy, value, call, caller, level, depth)
    )


def _name_is_fresh(anatomy: Anatomy, name: cst.Name, call: cst.Call, caller: Scope, level: Level, depth: int) -> bool:
    """Whether all that a name may stand for at a call is made in the caller, or for the call of the caller."""
    points = anatomy.flow(caller).enclosing(call, anatomy.module.parent) if caller.kind != "lambda" else []
    definitions = [d for point in points for d in anatomy.reaching(caller).at(point, name.value)]
    for definition in definitions:
        if definition.kind == "parameter":
            if _owned(anatomy, caller, name.value, level, depth + 1) is not False:
                return False
        elif not _value_is_fresh(anatomy, definition, call, caller, level, depth):
            return False
    return bool(definitions) and not _goes_on_with(anatomy, name, call, caller, definitions)


def _goes_on_with(anatomy: Anatomy, name: cst.Name, call: cst.Call, caller: Scope, made: list[Definition]) -> bool:
    """Whether a caller uses what it has passed again, before it makes that anew."""
    slot, points = anatomy.facts.slots.of_name(name), {each.point for each in made}
    readers = anatomy.readers(caller, slot) if slot is not None else {}
    uses = [use for point in points if point.statement is not None for use in readers.get(point.statement, ())]
    return anatomy.leads(caller, [call], uses, points)


def _value_is_fresh(
    anatomy: Anatomy, definition: Definition, call: cst.Call, caller: Scope, level: Level, depth: int
) -> bool:
    value, statement = definition.value, definition.point.statement
    if definition.kind == "for" and isinstance(statement, cst.For):
        value = statement.iter  # an element is made for the call if the list and its messages are
        if isinstance(value, cst.Call) and ex.called_name(value) in _SAME_ELEMENTS and value.args:
            value = value.args[-1 if ex.called_name(value) == "filter" else 0].value
    elif definition.kind != "assign":
        return False
    return value is not None and _is_fresh(anatomy, value, call, caller, level, depth + 1)
