"""Arguments of a call that are edited for its run, while the message that was stored with the call holds them, too."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.values.copies import Path, path_of
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.sharing import stores_at
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.reaching import Definition
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_WRITTEN = frozenset({Kind.ARGUMENTS, Kind.ARGUMENTS_TEXT})


@record
class EditedCall:
    """At `node` arguments change, `target`, that the message holds which `stored` has put into the history."""

    node: cst.CSTNode
    target: cst.BaseExpression
    stored: cst.CSTNode


_Place = tuple[Path, tuple[Definition, ...]]
"""A path, from a name that is bound to no other path, and what binds that."""


def edited_calls(anatomy: Anatomy) -> Iterator[EditedCall]:
    """All of a file: `messages.append(reply)`, and then `call.input["user"] = user` for a call of that reply."""
    for function in anatomy.module.functions:
        stored = [each for each in anatomy.transcript.stored(function) if each.calls is not None and not each.answers]
        for point in anatomy.flow(function).points if stored else ():
            for target, node in stores_at(point):
                if not _WRITTEN.isdisjoint(anatomy.facts.kinds(target)):
                    held = next((each for each in stored if _is_held(anatomy, function, target, node, each)), None)
                    if held is not None:
                        yield EditedCall(node, target, held.node)


def _is_held(anatomy: Anatomy, function: Scope, target: cst.BaseExpression, node: cst.CSTNode, stored: Stored) -> bool:
    """Whether a message that was stored holds the very dict that is edited, and not one of an earlier reply."""
    place = _place(anatomy, target)
    call = place[1][0] if place is not None and len(place[1]) == 1 else None
    loop = call.point.statement if call is not None and call.kind == "for" else None
    gone_through = _place(anatomy, next(ex.iterated(loop))[0]) if isinstance(loop, cst.For) else None
    if place is None or gone_through is None:
        return False
    renewed = {each.point for each in gone_through[1]}
    return _holds(anatomy, stored, gone_through, place[0][1:]) and anatomy.leads(
        function, [stored.node], [node], renewed
    )


def _holds(anatomy: Anatomy, stored: Stored, calls: _Place, part: Path) -> bool:
    """Whether a stored message holds `part` of each of some calls: it is their reply, or is put together from them."""
    listed, value = stored.calls, stored.write.value if stored.write is not None else None
    if isinstance(listed, cst.ListComp) and isinstance(listed.for_in.target, cst.Name):
        source = _place(anatomy, _handed(anatomy, listed.for_in.iter, stored.node))
        name = (listed.for_in.target.value, *part)
        return source == calls and any(
            path_of(item) == name
            for each in walk(listed.elt)
            if isinstance(each, cst.Dict)
            for item in ex.dict_items(each).values()
        )
    as_it_is = isinstance(value, cst.Name) or listed in ([value, *ex.dict_items(value).values()] if value else ())
    held = _place(anatomy, listed) if listed is not None and as_it_is else None
    return held is not None and held[1] == calls[1] and calls[0][: len(held[0])] == held[0]


def _handed(anatomy: Anatomy, node: cst.BaseExpression, stored: cst.CSTNode) -> cst.BaseExpression:
    """What a statement hands to the function in which a parameter is named, else the node itself."""
    callee, slots = anatomy.module.scope_of[node].function, anatomy.facts.slots
    calls = (part for part in walk(stored) if isinstance(part, cst.Call) and slots.callee(part) is callee)
    bound = (pair for call in calls for pair in slots.bindings(call, callee))
    return next((value for slot, value in bound if slot == slots.of(node)), node)


def _listed(node: cst.BaseExpression) -> cst.BaseExpression:
    """`calls` of `calls or []`, `[each for each in calls if wanted(each)]`."""
    node = next(ex.alternatives(node))
    selects = isinstance(node, (cst.ListComp, cst.GeneratorExp)) and ex.dotted(node.elt) == ex.dotted(
        node.for_in.target
    )
    return _listed(node.for_in.iter) if selects else node  # type: ignore[attr-defined]


def _place(anatomy: Anatomy, node: cst.BaseExpression) -> _Place | None:
    """Where a value lies: `msg["tool_calls"]` is `reply.message.tool_calls`, if `msg` is `reply.message`."""
    path, root = path_of(_listed(node)), ex.owner(_listed(node))
    if path is None or not isinstance(root, cst.Name):
        return None
    bound, value = tuple(anatomy.definitions(root)), anatomy.assigned(root)
    outer = _place(anatomy, value) if value is not None else None
    return ((*outer[0], *path[1:]), outer[1]) if outer is not None else (path, bound)
