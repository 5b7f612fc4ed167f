"""Tool calls put together from the pieces of a stream, in a way that mixes two of them or spoils their names."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.picks import reads_index
from lint_rules.anatomy.values.identity import Identity, Way
from lint_rules.anatomy.values.slots import Slot
from lint_rules.rules.tool_call_id_collision.call_ids import is_some_name, position_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.conditions import passed
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk


def keys_of_pieces(anatomy: Anatomy, identity: Identity) -> Iterator[tuple[cst.For, cst.Name, bool]]:
    """Loops over the pieces of a chunk, and where their position, or the tool's name (True), is used as a key."""
    for loop in anatomy.module.nodes_of(cst.For):
        position = position_in(loop)
        pieces = loop.iter.args[0].value if position is not None and isinstance(loop.iter, cst.Call) else loop.iter
        way = identity.of(pieces)
        if way is None or "delta" not in way or way[-1] != "tool_calls":
            continue
        if reads_index(anatomy.module.scope_of[loop].function):
            continue
        slot = anatomy.facts.slots.of(position)
        for node in walk(loop.body):
            if isinstance(node, cst.Name) and _is_key(anatomy, node):
                by_name = _is_name_of_piece(anatomy, node)
                if by_name or (slot is not None and anatomy.facts.slots.of(node) == slot):
                    yield loop, node, by_name
                    break


def _is_key(anatomy: Anatomy, node: cst.Name) -> bool:
    """`calls[i]`, `calls.setdefault(i, ...)`, `{"index": i}`, `i in calls`."""
    parent = anatomy.module.parent[node]
    if isinstance(parent, cst.DictElement):
        return ex.text(parent.key) == "index" and parent.value is node
    if isinstance(parent, cst.Arg):
        call = anatomy.module.parent[parent]
        keyword = parent.keyword.value if parent.keyword is not None else None
        return isinstance(call, cst.Call) and (ex.called_name(call) in {"setdefault", "get"} or keyword == "index")
    return isinstance(parent, cst.Index)


def joined_in_one_place(anatomy: Anatomy, identity: Identity) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    """`arguments += piece.function.arguments`, and what is grown: of all calls of a stream, whichever the piece is of.

    Nothing in the loop over the stream begins the place anew, and the piece's own `index` is never read.
    """
    for node in anatomy.module.nodes_of(cst.AugAssign, cst.Assign, cst.Call):
        target, value = _grown(node)
        if target is None or value is None or not _is_of_arguments(anatomy, identity, value):
            continue
        places, loop = _fixed_places(anatomy, target), _stream_around(anatomy, identity, node)
        function = anatomy.module.scope_of[node].function
        if not places or loop is None or reads_index(function):
            continue
        if not any(anatomy.facts.slots.of(bound) in places for bound in _bound_in(loop, node)):
            yield node, target


def _grown(node: cst.CSTNode) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """What grows, and what is added to it: `x += y`, `x = x + y`, `xs.append(y)`."""
    if isinstance(node, cst.AugAssign):
        return (node.target, node.value) if isinstance(node.operator, cst.AddAssign) else (None, None)
    if isinstance(node, cst.Call):
        return (
            (ex.receiver(node), node.args[0].value) if ex.called_name(node) == "append" and node.args else (None, None)
        )
    sums = ex.inner(node.value) if isinstance(node, cst.Assign) else None
    if isinstance(node, cst.Assign) and isinstance(sums, cst.BinaryOperation):
        target = node.targets[0].target
        return (target, sums.right) if ex.source(target) == ex.source(sums.left) else (None, None)
    return None, None


def _is_of_arguments(anatomy: Anatomy, identity: Identity, value: cst.BaseExpression) -> bool:
    """Whether a value is a piece of the arguments of a call, of one API or another."""
    ways = [way for part in ex.alternatives(value) for way in _ways_to(anatomy, identity, part) if "delta" in way]
    return any(way[-1] == "partial_json" or ("tool_calls" in way and way[-1] == "arguments") for way in ways)


def _ways_to(anatomy: Anatomy, identity: Identity, value: cst.BaseExpression) -> Iterator[Way]:
    """The ways to a value, by the lists too whose elements it is a part of."""
    way = identity.of(value)
    if way is not None:
        yield way
        slot = way[0] if way[0][0] == "var" else None
        for listed in anatomy.facts.gone_through(slot) if slot is not None else ():
            yield (*(identity.of(listed) or ()), *way[1:])


def _fixed_places(anatomy: Anatomy, target: cst.BaseExpression) -> set[Slot | None]:
    """A target and all that it is a part of; nothing where an index or a call chooses it."""
    places = {anatomy.facts.slots.of(target)}
    while (pair := ex.member(target)) is not None and not isinstance(pair[1], int):
        target = pair[0]
        places.add(anatomy.facts.slots.of(target))
    return places - {None} if isinstance(target, cst.Name) else set()


def _stream_around(anatomy: Anatomy, identity: Identity, node: cst.CSTNode) -> cst.For | None:
    """The loop over the chunks: the innermost one that does not go over the pieces of one."""
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, cst.FunctionDef):
            return None
        if isinstance(outer, cst.For) and "tool_calls" not in (identity.of(outer.iter) or ()):
            return outer
    return None


def _bound_in(loop: cst.For, besides: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What a loop assigns, `besides` one statement."""
    for node in walk(loop.body):
        if isinstance(node, (cst.Assign, cst.AnnAssign)) and node is not besides:
            yield from ex.targets(node)


def names_put_together(anatomy: Anatomy) -> Iterator[tuple[cst.AugAssign, cst.AugAssign]]:
    """`call["name"] += piece.function.name`, beside `call["arguments"] += ...`: both."""
    pieces: dict[tuple[Scope, str], cst.AugAssign] = {}
    added = [n for n in anatomy.module.nodes_of(cst.AugAssign) if isinstance(n.operator, cst.AddAssign)]
    for node in added:
        if "arguments" in _members(anatomy, node.value):
            pieces[_entry(anatomy, node, node.target)] = node
    assigned = (node for node in anatomy.module.nodes_of(cst.Assign) if "id" in _members(anatomy, node.value))
    again = {_entry(anatomy, node, node.targets[0].target) for node in assigned}  # what brings the id brings the name
    for node in added:
        beside = pieces.get(_entry(anatomy, node, node.target)) if _is_name_of_piece(anatomy, node.value) else None
        if beside is not None and _entry(anatomy, node, node.target) in again and not _tested(anatomy, node):
            yield node, beside


def _entry(anatomy: Anatomy, node: cst.CSTNode, field: cst.BaseExpression) -> tuple[Scope, str]:
    """The call that a field is part of, as it is written in a function."""
    while (pair := ex.member(field)) is not None and (above := ex.member(pair[0])) and above[1] == "function":
        field = pair[0]
    return anatomy.module.scope_of[node].function, ex.source(pair[0], 200) if pair is not None else ""


def _members(anatomy: Anatomy, value: cst.BaseExpression) -> set[str | int]:
    """The names of the fields that a value may be, itself or by its name: `arguments` of `piece.arguments or ""`."""
    named = [value, *anatomy.facts.values_of(value)]
    return {pair[1] for each in named for part in ex.alternatives(each) if (pair := ex.member(part)) is not None}


def _is_name_of_piece(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """The name in a piece, itself or through a local name; not one that was cut down to what is new in it."""
    return any(is_some_name(anatomy, part) for part in ex.alternatives(value))


def _tested(anatomy: Anatomy, node: cst.AugAssign) -> bool:
    """Whether the name is looked at before more is added to it."""
    target = ex.source(node.target, 200)
    tests = (tested.test for tested, _ in passed(anatomy.module, node, anatomy.module.loop_around(node)))
    return any(isinstance(n, cst.BaseExpression) and ex.source(n, 200) == target for test in tests for n in walk(test))


def one_dict_many_times(anatomy: Anatomy) -> Iterator[tuple[cst.BinaryOperation, cst.CSTNode]]:
    """`[{}] * n` whose entries become calls: the list, and where one is filled."""
    for node in anatomy.module.nodes_of(cst.BinaryOperation):
        if not isinstance(node.operator, cst.Multiply) or not isinstance(node.left, cst.List):
            continue
        entries = [element.value for element in node.left.elements]
        if len(entries) != 1 or not isinstance(entries[0], cst.Dict):
            continue
        slot = _held_by(anatomy, node)
        filled = _filled(anatomy, slot, anatomy.module.scope_of[node].function) if slot is not None else None
        if filled is not None:
            yield node, filled


def _held_by(anatomy: Anatomy, node: cst.BaseExpression) -> Slot | None:
    """The list that a value is assigned to, or that is extended by it."""
    parent = anatomy.module.parent[node]
    if isinstance(parent, cst.Assign):
        return anatomy.facts.slots.of(parent.targets[0].target)
    if isinstance(parent, (cst.AnnAssign, cst.AugAssign)):
        return anatomy.facts.slots.of(parent.target)
    call = anatomy.module.parent[parent] if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call) and ex.called_name(call) == "extend":
        base = ex.receiver(call)
        return anatomy.facts.slots.of(base)
    return None


def _filled(anatomy: Anatomy, slot: Slot, function: Scope) -> cst.CSTNode | None:
    """Where the name, the function or the arguments of a call are stored in an entry of a list."""
    of = anatomy.facts.slots.of
    entries = {("item", slot)} | {
        of(target.target)
        for node in function.nodes
        if isinstance(node, cst.Assign) and of(node.value) == ("item", slot)
        for target in node.targets
    }
    for node in function.nodes:
        if isinstance(node, (cst.Assign, cst.AugAssign)):
            target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
            pair = ex.member(target)
            if pair is not None and pair[1] in {"function", "arguments", "name", "id"} and of(pair[0]) in entries:
                return node
    return None
