"""Where one of several calls is chosen to be run: the first, the only one that is looked for, the last of a loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import Pick, calls_of, ends_after_one, slice_of_one, texts_in
from lint_rules.anatomy.values.constants import constant
from lint_rules.anatomy.values.identity import Identity, Way
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_BLOCK_LISTS = frozenset({"content", "output", "parts"})
"""Parts of a message among which its calls may stand."""
_CHOOSERS = frozenset({"next", "max", "min"})
_CHOOSING = words.IDS | {"name", "index"}
"""What a test asks for that looks one certain call up."""


def picks(anatomy: Anatomy, identity: Identity) -> Iterator[Pick]:
    """All picks of a file, in source order."""
    for node in anatomy.module.nodes_of(cst.Subscript, cst.Call):
        found = _first(anatomy, identity, node) if type(node) is cst.Subscript else _next(anatomy, identity, node)
        if found is not None:
            yield found
    for loop in anatomy.module.nodes_of(cst.For):
        way = identity.of(loop.iter)
        if way is not None and _goes_through_calls(anatomy, loop) and len(ex.target_names(loop.target)) == 1:
            yield from _last(anatomy, loop, way)
    for assign in anatomy.module.nodes_of(cst.Assign):
        yield from _unpacked(anatomy, identity, assign)
    for part in anatomy.module.nodes_of(cst.For, cst.CompFor):
        yield from _only(anatomy, identity, part)


def _goes_through_calls(anatomy: Anatomy, loop: cst.For | cst.CompFor) -> bool:
    """Whether a loop goes through calls, or through the blocks of a reply of which some hold one: `b["toolUse"]`."""
    if anatomy.facts.is_kind(loop.iter, Kind.CALLS):
        return True
    names = ex.target_names(loop.target)
    asked = (
        ex.member(node) or ex.asked(node)
        for node in walk(anatomy.module.parent[loop] if type(loop) is cst.CompFor else loop)
    )
    held = (pair[0] for pair in asked if pair is not None and pair[1] in words.CALL_WRAPPERS)
    return any(type(block) is cst.Name and block.value in names for block in held)


def _first(anatomy: Anatomy, identity: Identity, node: cst.Subscript) -> Pick | None:
    """`calls[0]`, `calls[-1]`, `content[0]["toolUse"]`."""
    place = ex.index(node)
    named = type(place) is cst.Name and anatomy.facts.is_kind(node.value, Kind.CALLS)
    at = constant(anatomy, place) if named else ex.integer(place)
    if at not in {0, -1} or _is_stored_into(anatomy, node):
        return None
    way = identity.of(node.value)
    if way is None or "delta" in way:
        return None
    if not anatomy.facts.is_kind(node.value, Kind.CALLS):
        parent = anatomy.module.parent.get(node)
        pair = ex.member(parent) if parent is not None else None
        shown = pair is not None and pair[0] is node and pair[1] in words.CALL_WRAPPERS
        if way[-1] not in _BLOCK_LISTS or not (shown or _is_of_reply(anatomy, node.value)):
            return None
    function = anatomy.module.scope_of[node].function
    return Pick(node, node.value, way, function, "first" if at == 0 else "last")


def _is_of_reply(anatomy: Anatomy, blocks: cst.BaseExpression) -> bool:
    """Whether a list is a part of a model's reply: of which kind a block is, its use tells."""
    pair = ex.member(blocks)
    return pair is not None and anatomy.facts.is_kind(pair[0], Kind.REPLY)


def _is_stored_into(anatomy: Anatomy, node: cst.Subscript) -> bool:
    return isinstance(anatomy.module.parent.get(node), (cst.AssignTarget, cst.AugAssign, cst.Del))


def _next(anatomy: Anatomy, identity: Identity, node: cst.CSTNode) -> Pick | None:
    """`next(b for b in content if b.type == "tool_use")`, `max(calls, key=len)`; not a look-up by id or name."""
    if type(node) is not cst.Call or type(node.func) is not cst.Name or node.func.value not in _CHOOSERS:
        return None
    if len(ex.positional(node)) != 1 and (node.func.value != "next" or not node.args):
        return None
    given = node.args[0].value
    if isinstance(given, cst.Name) and node.func.value == "next":
        return None  # an iterator goes on where it was
    if isinstance(given, cst.Call) and ex.called_name(given) == "filter" and len(given.args) == 2:
        if _looks_up(given.args[0].value):
            return None
        given = given.args[1].value
    way = identity.of(given)
    of_blocks = isinstance(given, cst.GeneratorExp) and _goes_through_calls(anatomy, given.for_in)
    if way is None or not (of_blocks or anatomy.facts.is_kind(given, Kind.CALLS)):
        return None
    calls = given
    if isinstance(given, cst.GeneratorExp):
        calls = given.for_in.iter
        if any(_looks_up(part.test) for part in given.for_in.ifs):
            return None
    elif isinstance(given, cst.Call) and given.args:
        calls = given.args[0].value
    which = "first" if node.func.value == "next" else "chosen"
    return Pick(node, calls, way, anatomy.module.scope_of[node].function, which)


def _unpacked(anatomy: Anatomy, identity: Identity, node: cst.Assign) -> Iterator[Pick]:
    """`call, *_ = calls`, `*_, call = calls`, where nobody reads the rest."""
    target = node.targets[0].target
    parts = target.elements if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2 else ()
    rest = next((part.value for part in parts if isinstance(part, cst.StarredElement)), None)
    one = next((part.value for part in parts if isinstance(part, cst.Element)), None)
    if not isinstance(rest, cst.Name) or not isinstance(one, cst.Name):
        return
    way = identity.of(node.value) if anatomy.facts.is_kind(node.value, Kind.CALLS) else None
    slot, left = anatomy.facts.slots.of(one), anatomy.facts.slots.of(rest)
    function = anatomy.module.scope_of[node].function
    if way is not None and slot is not None and left is not None and node not in anatomy.readers(function, left):
        which = "first" if parts[0].value is one else "last"
        yield Pick(node, node.value, way, function, which, frozenset({slot}), after=True)


def _only(anatomy: Anatomy, identity: Identity, loop: cst.For | cst.CompFor) -> Iterator[Pick]:
    """`for call in calls[:1]`, also with the slice in a name."""
    iterable = loop.iter
    if isinstance(iterable, cst.Name) and anatomy.facts.is_kind(iterable, Kind.CALLS):
        values = anatomy.facts.values_of(iterable)
        iterable = ex.inner(values[0]) if len(values) == 1 else iterable
    calls, which = slice_of_one(iterable)
    way = identity.of(calls) if calls is not None and anatomy.facts.is_kind(calls, Kind.CALLS) else None
    region = loop if isinstance(loop, cst.For) else anatomy.module.parent[loop]
    if calls is not None and way is not None and isinstance(region, (cst.For, cst.BaseExpression)):
        function = anatomy.module.scope_of[iterable].function
        yield Pick(iterable, calls, way, function, which, calls_of(anatomy, loop), region)


def _looks_up(test: cst.BaseExpression) -> bool:
    """Whether a test asks for an id or a name, not for a type."""
    return any((pair := ex.member(node)) is not None and pair[1] in _CHOOSING for node in walk(test))


def _last(anatomy: Anatomy, loop: cst.For, way: Way) -> Iterator[Pick]:
    """What a loop over calls leaves behind: names that each call overwrites, or the loop variable itself."""
    function = anatomy.module.scope_of[loop].function
    elements = calls_of(anatomy, loop)
    if ends_after_one(anatomy, loop, function):
        yield Pick(loop, loop.iter, way, function, "first", elements, loop)
        return
    kept: dict[Slot, cst.CSTNode] = {}
    for assign in anatomy.module.nodes_inside(loop.body, function, cst.Assign):
        if _holds_part(anatomy, assign.value, elements) and not _chosen(anatomy, assign, loop):
            for target in assign.targets:
                slot = anatomy.facts.slots.of(target.target)
                if slot is not None and slot[0] == "var":
                    kept.setdefault(slot, assign)
    for slot, node in kept.items():
        yield Pick(node, loop.iter, way, function, "last", frozenset({slot}), loop, after=True)
    yield Pick(loop, loop.iter, way, function, "last", elements, loop, after=True)


def _holds_part(anatomy: Anatomy, value: cst.BaseExpression, elements: frozenset[Slot]) -> bool:
    """`call.id`, `(call.id, call.name)`, `{"id": call.id}`: a part of a call, or a display with one."""
    if isinstance(value, (cst.Tuple, cst.List, cst.Dict)):
        return any(_holds_part(anatomy, element.value, elements) for element in value.elements)
    return _is_part(anatomy, value, elements)


def _is_part(anatomy: Anatomy, value: cst.BaseExpression, elements: frozenset[Slot]) -> bool:
    """`call`, `call.id`, `block["toolUse"]`."""
    while (pair := ex.member(value)) is not None:
        value = pair[0]
    return anatomy.facts.slots.of(value) in elements


def _chosen(anatomy: Anatomy, node: cst.CSTNode, loop: cst.For) -> bool:
    """Whether an assignment in a loop is made for a certain call only: after a test of its name or id."""
    below = node
    for outer in anatomy.module.ancestors(node):
        if outer is loop:
            return False
        if isinstance(outer, cst.If) and below is not outer.test and _asks_for(outer.test):
            return True
        below = outer
    return False


def _asks_for(test: cst.BaseExpression) -> bool:
    return any(
        isinstance(node, cst.Comparison) and _looks_up(node) and not words.CALL_TAGS.intersection(texts_in(node))
        for node in walk(test)
    )
