"""Messages that are picked from a history by their place, although the program means one of a certain role."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.writes import HistoryWrite
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, parameters
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

_CUTS = frozenset({"cut", "replace"})


class How(Enum):
    """How the place is told."""

    DISTANT = "`history[-2]`, whose calls are read"
    NEWEST = "`history[-1]`, compared with messages of one role"
    NEIGHBOUR = "`history[i - 1]` beside one whose role was tested"
    KEPT = "`history[i]`, where i was counted before the list was cut"


_NOT: tuple[How, None] = (How.DISTANT, None)


@record
class Picked:
    """`node` takes the message of `history`; `other` shows what was meant, or what makes the place wrong."""

    how: How
    node: cst.BaseExpression
    history: cst.BaseExpression
    other: cst.CSTNode


def picked_by_place(anatomy: Anatomy) -> Iterator[Picked]:
    """The messages of a file that are picked so."""
    for node, history, distance in _taken(anatomy):
        function = anatomy.module.scope_of[node].function
        how, other = _judged(anatomy, node, history, distance, function) if anatomy.is_history(history) else _NOT
        if other is not None:
            yield Picked(how, node, history, other)
    yield from _beside_in_pairs(anatomy)


def _taken(anatomy: Anatomy) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, int | None]]:
    """Elements, each with its list, and how far from the end it stands, if that is said."""
    for node in anatomy.module.nodes_of(cst.Subscript):
        if ex.index(node) is not None:
            yield node, *_from_the_end(anatomy, node)
    for assign in anatomy.module.nodes_of(cst.Assign):
        target = assign.targets[0].target
        parts = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
        stars = [number for number, part in enumerate(parts) if isinstance(part, cst.StarredElement)]
        cut = ex.slice_of(assign.value)
        is_end = cut is not None and cut.upper is None and ex.integer(cut.lower) == -len(parts)
        for number, part in enumerate(parts):
            if (is_end and not stars) or (stars and stars[0] < number):
                yield part.value, ex.unsliced(assign.value), len(parts) - number


def _judged(
    anatomy: Anatomy, node: cst.BaseExpression, history: cst.BaseExpression, distance: int | None, function: Scope
) -> tuple[How, cst.CSTNode | None]:
    if distance is not None and distance >= 2:
        return How.DISTANT, _calls_read(anatomy, node, history, distance, function)
    at = ex.index(node)
    if not isinstance(node, cst.Subscript) or node.value is not history:
        return _NOT
    if distance == 1:
        return How.NEWEST, _compared_with_one_role(anatomy, node, function)
    if isinstance(at, cst.BinaryOperation):
        return How.NEIGHBOUR, _tested_beside(anatomy, node, at, function)
    return How.KEPT, _cut_meanwhile(anatomy, node, at, function) if isinstance(at, cst.Name) else None


def _from_the_end(anatomy: Anatomy, node: cst.Subscript) -> tuple[cst.BaseExpression, int | None]:
    """`h` and 2 for `h[-2]`, `h[len(h) - 2]`, `h[-2:][0]`, `h[:-1][-1]` and `h[::-1][1]`."""
    at, base = ex.index(node), ex.inner(node.value)
    if isinstance(at, cst.BinaryOperation) and isinstance(at.operator, cst.Subtract):
        sizes = anatomy.facts.values_of(at.left) or [at.left]  # `n = len(h)`, too
        measured = _measured_by(sizes[0]) if len(sizes) == 1 else None
        if measured is not None and anatomy.facts.slots.of(measured) == anatomy.facts.slots.of(base):
            return base, ex.integer(at.right)
    number, cut = ex.integer(at), ex.slice_of(base)
    if number is None or cut is None:
        return base, -number if number is not None and number < 0 else None
    first, behind, step = ex.integer(cut.lower), ex.integer(cut.upper), ex.integer(cut.step)
    distance = None
    if number < 0 and step is None and (behind is None or behind < 0):
        distance = -number - (behind or 0)
    elif number >= 0 and (step == -1 or (first or 0) < 0):
        distance = number + 1 if step == -1 else -(first or 0) - number
    return ex.unsliced(base), distance


def _measured_by(size: cst.BaseExpression) -> cst.BaseExpression | None:
    """`h` of `len(h)`."""
    if isinstance(size, cst.Call) and ex.dotted(size.func) == "len" and len(size.args) == 1:
        return size.args[0].value
    return None


# -- what is done with the message --------------------------------------------------------------------------------


def _uses(anatomy: Anatomy, node: cst.BaseExpression, function: Scope) -> list[cst.BaseExpression]:
    """The element itself, the same element written again, and the name it is bound to."""
    module, slots = anatomy.module, anatomy.facts.slots
    if isinstance(node, cst.Name):
        return [name for name in anatomy.facts.names.get(slots.of(node) or (), ()) if name is not node]
    parent = next((outer for outer in module.ancestors(node) if not isinstance(outer, cst.IfExp)), None)
    written = ex.source(node)
    found = [n for n in function.nodes_of(cst.Subscript) if n is node or ex.source(n) == written]
    if isinstance(parent, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
        slot = slots.of(ex.targets(parent)[0])
        return [*found, *(n for n in function.nodes_of(cst.Name) if slots.of(n) == slot)]
    return [*found]


def _member_of(anatomy: Anatomy, use: cst.BaseExpression) -> tuple[cst.CSTNode, str] | None:
    """`x.role`, `x["role"]`, `x.get("role")`, `getattr(x, "role", None)` around a use of x, with the name."""
    found = None
    for outer in anatomy.module.ancestors(use):
        pair = ex.member(outer)
        if pair is not None and pair[0] is use:
            found = outer, pair[1]  # `x.get` of `x.get("role")`, too
        elif pair is not None or not isinstance(outer, (cst.Arg, cst.Attribute)):
            break
    return found


def _reads_calls(anatomy: Anatomy, use: cst.BaseExpression) -> bool:
    """Whether the calls of a message are read, here or in the function of the file that gets it."""
    found = _member_of(anatomy, use)
    if found is not None:
        made = found[0]
        return found[1] in anatomy.facts.call_attributes or (
            isinstance(made, cst.BaseExpression) and anatomy.facts.is_kind(made, Kind.CALLS)
        )
    given = _given_to(anatomy, use)
    return any(_reads_calls(anatomy, name) for name in given) and not _role_tested(anatomy, given)


def _given_to(anatomy: Anatomy, use: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The uses of the parameter of a function of the file that is handed a value."""
    arg = anatomy.module.parent.get(use)
    call = anatomy.module.parent.get(arg) if isinstance(arg, cst.Arg) else None
    callee = anatomy.facts.slots.callee(call)
    if not isinstance(call, cst.Call) or callee is None or callee is anatomy.module.scope_of[use].function:
        return []
    slots = [slot for slot, value in anatomy.facts.slots.bindings(call, callee) if value is use]
    return [name for slot in slots for name in anatomy.facts.names.get(slot, ())]


def _role_tested(anatomy: Anatomy, uses: list[cst.BaseExpression]) -> bool:
    """Whether the program looks at the element's own role (or type, or class)."""
    for use in uses:
        found = _member_of(anatomy, use)
        if found is not None and found[1] in {"role", "type"}:
            return True
        call = next((n for n in anatomy.module.ancestors(use) if not isinstance(n, cst.Arg)), None)
        if isinstance(call, cst.Call) and ex.dotted(call.func) == "isinstance":
            return ex.last_name(call.args[-1].value) != "dict"  # that is its form
    return False


# -- history[-2] --------------------------------------------------------------------------------------------------


def _calls_read(
    anatomy: Anatomy, node: cst.BaseExpression, history: cst.BaseExpression, distance: int, function: Scope
) -> cst.CSTNode | None:
    """Where the calls of a message are read whose role is not asked for."""
    uses = _uses(anatomy, node, function)
    read = next((use for use in uses if _reads_calls(anatomy, use)), None)
    return (
        None if read is None or _role_tested(anatomy, uses) or _appended(anatomy, node, history) >= distance else read
    )


def _appended(anatomy: Anatomy, node: cst.BaseExpression, history: cst.BaseExpression) -> int:
    """How many messages have been appended right before, one by one: the distance may count these."""
    module, slot, count = anatomy.module, anatomy.facts.slots.of(history), 0
    below: cst.CSTNode = node
    for outer in module.ancestors(node):
        if isinstance(outer, (cst.IndentedBlock, cst.Module)):
            before = outer.body[: list(outer.body).index(below)]  # type: ignore[arg-type]
            for line in reversed(before):
                writes = [w for w in anatomy.writes.by_slot[slot or ()] if module.inside(w.node, line)]
                sizes = [_size(write) for write in writes]
                if None in sizes or (writes and not isinstance(line, cst.SimpleStatementLine)):
                    return count
                count += sum(size for size in sizes if size is not None)
        if isinstance(outer, (cst.For, cst.While, cst.FunctionDef)):
            return count
        below = outer
    return count


def _size(write: HistoryWrite) -> int | None:
    """How many messages a write puts at the end of a list."""
    if write.kind == "append":
        return 1
    shown = write.value.elements if isinstance(write.value, cst.List) else []
    return len(shown) if shown and not any(isinstance(each, cst.StarredElement) for each in shown) else None


# -- history[-1] among messages of one role -----------------------------------------------------------------------


def _compared_with_one_role(anatomy: Anatomy, node: cst.Subscript, function: Scope) -> cst.CSTNode | None:
    """`last = h[-1]`, whose text is compared with that of messages whose role is tested, while its own is not."""
    uses = _uses(anatomy, node, function)
    slot = anatomy.facts.slots.of(node.value)
    if not isinstance(anatomy.module.parent.get(node), cst.Assign) or _role_tested(anatomy, uses):
        return None
    if any(w.slot == slot and w.function is function for w in anatomy.writes.all):
        return None
    return next((test for use in uses if (test := _compared_with_role(anatomy, use)) is not None), None)


def _compared_with_role(anatomy: Anatomy, use: cst.BaseExpression) -> cst.CSTNode | None:
    """The `and` in which a member of the use is compared with that of another message, beside a test of its role."""
    found = _member_of(anatomy, use)
    if found is None or found[1] not in {"content", "text"}:
        return None
    comparison = next((n for n in anatomy.module.ancestors(found[0]) if not isinstance(n, cst.ComparisonTarget)), None)
    if not isinstance(comparison, cst.Comparison):
        return None
    above = anatomy.module.parent.get(comparison)
    if not isinstance(above, cst.BooleanOperation) or not isinstance(above.operator, cst.And):
        return None
    for part in walk(above):
        if isinstance(part, cst.Comparison) and (pair := ex.member(part.left)) is not None and pair[1] == "role":
            return above
    return None


# -- history[i - 1] -----------------------------------------------------------------------------------------------


def _tested_beside(
    anatomy: Anatomy, node: cst.Subscript, at: cst.BinaryOperation, function: Scope
) -> cst.CSTNode | None:
    """The element i whose role a walk tests, where it takes element i±k."""
    moves = isinstance(at.operator, (cst.Add, cst.Subtract)) and ex.integer(at.right)
    if not isinstance(at.left, cst.Name) or not moves:
        return None
    uses = _uses(anatomy, node, function)
    returned = isinstance(anatomy.module.parent.get(node), cst.Return)
    if not (returned or any(_reads_calls(anatomy, use) for use in uses)) or _role_tested(anatomy, uses):
        return None
    return _tested_at(anatomy, node, at.left, function)


def _beside_in_pairs(anatomy: Anatomy) -> Iterator[Picked]:
    """`for before, now in zip(h, h[1:])`, where the role of the one is tested and the calls of the other are read."""
    for loop in anatomy.module.nodes_of(cst.For, cst.CompFor):
        if not isinstance(loop.iter, cst.Call) or ex.called_name(loop.iter) not in {"zip", "pairwise"}:
            continue
        given = ex.positional(loop.iter)
        names = [part.value for part in loop.target.elements] if isinstance(loop.target, cst.Tuple) else []
        is_one = len({ex.source(ex.unsliced(value)) for value in given}) == 1 and len(names) == 2
        for node, other in (names, names[::-1]) if is_one and anatomy.is_history(given[0]) else ():
            uses, tested = (_uses(anatomy, name, anatomy.module.scope_of[name].function) for name in (node, other))
            reads = any(_reads_calls(anatomy, use) for use in uses)
            if reads and tested and _role_tested(anatomy, tested) and not _role_tested(anatomy, uses):
                yield Picked(How.NEIGHBOUR, node, given[0], tested[0])


def _tested_at(anatomy: Anatomy, node: cst.Subscript, name: cst.Name, function: Scope) -> cst.CSTNode | None:
    """`h[i]`, or `m` of `for i, m in enumerate(h)`, whose role is tested before or around the use of its neighbour."""
    module, slots = anatomy.module, anatomy.facts.slots
    around = next((outer for outer in module.ancestors(node) if isinstance(outer, (cst.For, cst.While))), function.node)
    for test in module.nodes_inside(around, function, cst.If):
        for inside in walk(test.test) if module.before(test, node) or module.inside(node, test) else ():
            at = ex.index(inside) if isinstance(inside, cst.Subscript) else None
            beside = isinstance(at, cst.Name) and at.value == name.value
            of_it = beside and isinstance(inside, cst.Subscript) and slots.of(inside.value) == slots.of(node.value)
            if isinstance(inside, cst.BaseExpression) and (of_it or _is_numbered(inside, name, around)):
                if _role_tested(anatomy, [inside]):
                    return inside
    return None


def _is_numbered(node: cst.CSTNode, number: cst.Name, loop: cst.CSTNode) -> bool:
    """Whether a node is `m` of the loop `for number, m in enumerate(h)`."""
    names = ex.target_names(loop.target) if isinstance(loop, cst.For) else []
    return isinstance(node, cst.Name) and len(names) == 2 and names == [number.value, node.value]


# -- history[i] of a list that is cut -----------------------------------------------------------------------------


def _cut_meanwhile(anatomy: Anatomy, node: cst.Subscript, at: cst.Name, function: Scope) -> cst.CSTNode | None:
    """The cut of a history, by others, of which a callback takes `h[i]`, where i was `len(h) - 1` when it was made."""
    outer = function.parent.function if function.parent is not None else None
    if outer is None or outer.kind != "function" or function.owner is outer:
        return None
    measured = _measured(anatomy, at, function, outer)
    slot = anatomy.facts.slots.of(node.value)
    if measured is None or anatomy.facts.slots.of(measured) != slot:
        return None
    return next((w.node for w in anatomy.writes.by_slot[slot or ()] if w.kind in _CUTS and w.function is outer), None)


def _measured(anatomy: Anatomy, at: cst.Name, function: Scope, outer: Scope) -> cst.BaseExpression | None:
    """`h` where the name holds `len(h) - 1` of the function around, as a default or by closure."""
    value: cst.BaseExpression | None = at
    for param in parameters(function):
        if param.name.value == at.value:
            value = param.default
    if isinstance(value, cst.Name):
        assigned = anatomy.facts.assigned(("var", outer, value.value))
        value = assigned[0] if len(assigned) == 1 else None
    if not isinstance(value, cst.BinaryOperation) or ex.integer(value.right) != 1:
        return None
    return _measured_by(value.left)
