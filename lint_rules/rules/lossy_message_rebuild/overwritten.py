"""Calls that the pieces of a later stream take the place of."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.values.known import sources
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import DEEPEST
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_CALLS = frozenset({"tool_calls", "function_calls"})


def overwritten_calls(anatomy: Anatomy) -> Iterator[tuple[cst.Assign, cst.CSTNode]]:
    """Where a piece's calls take the place of those of the pieces before, and the text beside them grows; and where.

    Providers bring calls in several pieces: each in one of its own, or one after the other. What pieces the project
    makes itself tells whoever makes them.
    """
    for loop in anatomy.module.nodes_of(cst.For):
        lines = [node for node in walk(loop.body) if isinstance(node, (cst.Assign, cst.AugAssign, cst.Call))]
        names = set(ex.target_names(loop.target))
        assigned = [line for line in lines if isinstance(line, cst.Assign)]
        for bound in sorted(assigned, key=anatomy.module.order.__getitem__):
            if not names.isdisjoint(_roots(bound.value)):
                names.update(ex.target_names(bound.targets[0].target))
        grown = next((node for node in lines if _grows_text(node, names)), None)
        for line in assigned:
            if grown is not None and _takes_calls(anatomy, line, names, loop) and not _are_made_here(anatomy, loop):
                yield line, grown


def _are_made_here(anatomy: Anatomy, loop: cst.For, within: frozenset[Scope] = frozenset()) -> bool:
    """Whether a loop goes over pieces that functions of the project make, and do not only hand on.

    `within` are the functions that are being asked.
    """
    made = (loop.iter, *anatomy.facts.values_of(loop.iter))
    runs = [body(anatomy, part) for part in made if isinstance(part, cst.Call)]
    known = [run for run in runs if run is not None and run[1] not in within]
    return bool(known) and not any(_hands_on(*run, within) for run in known)


def _hands_on(anatomy: Anatomy, function: Scope, within: frozenset[Scope]) -> bool:
    """Whether a function gives back somebody's stream, or yields what it reads from one; an abstract one does not."""
    if any(node.value is not None for node in function.nodes_of(cst.Return)):
        return True
    given = [node.value for node in function.nodes_of(cst.Yield)]
    names = {_read(anatomy, value) for value in given if isinstance(value, cst.BaseExpression)}
    read = (node for node in function.nodes_of(cst.For) if not names.isdisjoint(ex.target_names(node.target)))
    return any(isinstance(value, cst.From) for value in given) or any(
        not _are_made_here(anatomy, loop, within | {function}) for loop in read
    )


def _read(anatomy: Anatomy, value: cst.BaseExpression) -> str | None:
    """The name of what is handed on: of the text, if it is decoded on the way."""
    seen: set[cst.CSTNode] = set()
    while value not in seen:
        seen.add(value)
        made = (anatomy.assigned(value) if isinstance(value, cst.Name) else None) or value
        if isinstance(made, cst.Call) and made.args and anatomy.facts.decoder(made) is not None:
            value = made.args[0].value
    return ex.dotted(value)


def _roots(value: cst.BaseExpression) -> Iterator[str]:
    """The names of which the alternatives of a value are a part: `chunk` of `chunk.get("message") or {}`."""
    for part in ex.alternatives(value):
        while (pair := ex.member(part) or ex.asked(part)) is not None or isinstance(part, cst.Subscript):
            part = ex.inner(pair[0] if pair is not None else part.value)  # type: ignore[attr-defined]
        if isinstance(part, cst.Name):
            yield part.value


def _grows_text(node: cst.CSTNode, names: set[str]) -> bool:
    """`text += piece.content`, `text = text + piece`, `texts.append(piece)`."""
    value: cst.BaseExpression | None = None
    if isinstance(node, cst.AugAssign):
        value = node.value
    elif isinstance(node, cst.Call) and ex.called_name(node) == "append":
        value = next(iter(ex.positional(node)), None)
    elif isinstance(node, cst.Assign) and isinstance(node.value, cst.BinaryOperation):
        value = node.value.right
    return value is not None and not names.isdisjoint(_roots(value))


def _takes_calls(anatomy: Anatomy, line: cst.Assign, names: set[str], loop: cst.For) -> bool:
    """Whether all calls of a piece are bound where the loop goes on, and only what comes behind it looks at them."""
    if not _is_of_calls(anatomy, line.value, names):
        return False
    target = line.targets[0].target
    slot, function = anatomy.facts.slots.of(target), anatomy.module.scope_of[line].function
    if slot is None or _leaves_after(anatomy, line):
        return False
    if any(anatomy.facts.slots.of(part) == slot for part in walk(line.value) if isinstance(part, cst.BaseExpression)):
        return False  # it gets more of them
    places = [n for n in function.nodes if ex.reads_place(n) and n is not target and anatomy.facts.slots.of(n) == slot]
    within = [place for place in places if anatomy.module.inside(place, loop)]
    return len(within) < len(places) and not any(_is_gone_over(anatomy, place) for place in within)


def _is_of_calls(anatomy: Anatomy, value: cst.BaseExpression, names: set[str], depth: int = 0) -> bool:
    """Whether a value is the calls of a piece: also a copy of them, their names, or what is made of each."""
    parts = [*ex.alternatives(value)]
    if any((pair := ex.member(part) or ex.asked(part)) is not None and pair[1] in _CALLS for part in parts):
        return not names.isdisjoint(_roots(value))
    found = [each for part in parts for each in sources(part)]
    found += [part.for_in.iter for part in parts if isinstance(part, (cst.ListComp, cst.GeneratorExp))]
    slots = (anatomy.facts.slots.of(part) for part in parts if isinstance(part, cst.Name))
    found += [each for slot in slots if slot is not None for each in anatomy.facts.assigned(slot)]
    return depth < DEEPEST and any(_is_of_calls(anatomy, each, names, depth + 1) for each in found)


def _leaves_after(anatomy: Anatomy, line: cst.CSTNode) -> bool:
    """Whether the block of a statement leaves the loop."""
    block = next((outer for outer in anatomy.module.ancestors(line) if isinstance(outer, cst.IndentedBlock)), None)
    return block is not None and any(isinstance(node, (cst.Break, cst.Return)) for node in walk(block))


def _is_gone_over(anatomy: Anatomy, place: cst.CSTNode) -> bool:
    """Whether a place is more than tested: then each piece has its calls seen to by itself."""
    outer = anatomy.module.parent[place]
    while isinstance(outer, (cst.UnaryOperation, cst.BooleanOperation, cst.Comparison)):
        outer = anatomy.module.parent[outer]
    return not isinstance(outer, (cst.If, cst.AssignTarget))
