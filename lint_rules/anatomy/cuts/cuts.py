"""Cuts by position: expressions and statements that take the front off a list, whatever stands there.

Only forms and the list they cut; what becomes of the cut, and whether somebody looked at what it goes through, are
questions of `trimming`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Literal

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

Shape = Literal["tail", "rest", "front", "shift", "bounded", "picked"]
"""What is cut: all but the last few (`xs[-n:]`), the first few (`xs[n:]`, `del xs[:n]`), one at the front
(`xs.pop(0)`); "bounded" is a list that drops its front by itself (`deque(maxlen=n)`), "picked" one from which the
newest are taken, one by one, until there is no more room."""


_CUTTERS = frozenset({"pop", "popleft", "deque", "islice"})


@record
class Cut:
    """`node` cuts the list `base`. `size` is how many are kept ("tail", "bounded") or dropped ("rest", "front").

    `head` says how many elements at the very front it leaves alone: 1 in `del xs[1:n]`. `into` is the list that gets
    what is picked.
    """

    node: cst.Subscript | cst.Del | cst.Call | cst.Assign | cst.ListComp
    base: cst.BaseExpression
    function: Scope
    shape: Shape
    size: cst.BaseExpression | None
    head: int = 0
    into: cst.BaseExpression | None = None


def cuts(module: SourceModule) -> Iterator[Cut]:
    """All cuts of a file, in source order."""
    for node in module.nodes_of(cst.Subscript, cst.Del, cst.Call):
        function = module.scope_of[node].function
        if type(node) is cst.Subscript:
            cut = _sliced(node, function)
            parent = module.parent[node]
            if cut is not None and not isinstance(parent, (cst.AssignTarget, cst.Del, cst.AugAssign)):
                yield replace(cut, head=cut.head or _left_alone(module, cut))
            elif isinstance(parent, cst.AssignTarget) and _is_new(module.parent[parent]):
                yield from _deleted(node, module.parent[parent], function)  # type: ignore[arg-type]
        elif type(node) is cst.Del:
            yield from _deleted(node.target, node, function)
        elif type(node) is cst.Call and ex.called_name(node) in _CUTTERS:
            yield from _called(module, node, function)
    for loop in module.nodes_of(cst.For, cst.While):
        if isinstance(loop, (cst.For, cst.While)):
            yield from _picked(module, loop)
    for comp in module.nodes_of(cst.ListComp):
        yield from _picked_by_place(module, comp)


def _is_for_room(module: SourceModule, node: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    """Whether a `break` leaves this very loop, or a message is taken in it, by what has been taken so far."""
    tests: list[cst.BaseExpression] = []
    for outer in module.ancestors(node):
        if isinstance(outer, (cst.For, cst.While)):
            if isinstance(node, cst.Break):
                return outer is loop and any(map(compares_size, tests[:1]))
            summed = {ex.dotted(n.target) or "" for n in walk(loop.body) if isinstance(n, cst.AugAssign)}
            summed -= {_counted_down(loop)}
            tests += [loop.test] if isinstance(loop, cst.While) else []
            return outer is loop and any(_compares(summed, test) for test in tests)
        if isinstance(outer, cst.If):
            tests.append(outer.test)
    return False


def _compares(names: Container[str], test: cst.BaseExpression) -> bool:
    """`total + n <= limit`, of a sum."""
    return any(type(node) is cst.Comparison and compares_size(node) and mentions(names, node) for node in walk(test))


def compares_size(test: cst.CSTNode) -> bool:
    """`n > limit`, also as a part of a test."""
    return any(
        isinstance(node, cst.ComparisonTarget)
        and isinstance(node.operator, (cst.GreaterThan, cst.GreaterThanEqual, cst.LessThan, cst.LessThanEqual))
        for node in walk(test)
    )


def _picked(module: SourceModule, loop: cst.For | cst.While) -> Iterator[Cut]:
    """`for m in reversed(xs): ... kept.append(m)`, `kept.insert(0, xs[i])` of an `i` that goes down."""
    leaves = any(isinstance(node, cst.Break) and _is_for_room(module, node, loop) for node in walk(loop.body))
    for node in walk(loop.body):
        if not isinstance(node, cst.Call) or ex.called_name(node) not in {"append", "insert", "appendleft"}:
            continue
        into = ex.receiver(node)
        found = _taken(loop, ex.inner(node.args[-1].value)) if into is not None and node.args else None
        if found is not None and (leaves or _is_for_room(module, node, loop)):
            behind, head = _behind(found[1])
            yield Cut(found[0], behind, module.scope_of[loop].function, "picked", None, head, into)
            return


def _picked_by_place(module: SourceModule, comp: cst.ListComp) -> Iterator[Cut]:
    """`[m for i, m in enumerate(xs) if i in kept]`, `[xs[i] for i in sorted(kept)]`: of the places of what fits.

    `if cost <= room: kept.add(i); room -= cost`, whatever a message is: what belongs to it may be too long.
    """
    function, found = module.scope_of[comp].function, _chosen(comp)
    for call in function.nodes_of(cst.Call) if found is not None else ():
        base, loop = ex.receiver(call), module.loop_around(call)
        if base is None or loop is None or ex.called_name(call) not in {"add", "append"} or len(call.args) != 1:
            continue
        if found is not None and ex.dotted(base) == found[1] and isinstance(call.args[0].value, cst.Name):
            if isinstance(loop, (cst.For, cst.While)) and _is_for_room(module, call, loop):
                yield Cut(comp, found[0], function, "picked", None)
                return


def _chosen(comp: cst.ListComp) -> tuple[cst.BaseExpression, str] | None:
    """The list of which a comprehension takes the elements at some places, and the name of these."""
    over, target, ifs = ex.inner(comp.for_in.iter), comp.for_in.target, comp.for_in.ifs
    if isinstance(over, cst.Call) and ex.called_name(over) == "enumerate" and over.args and len(ifs) == 1:
        test, names = ifs[0].test, ex.target_names(target)
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and len(names) == 2:
            left, operator, right = ex.compared(test)
            same = ex.dotted(left) == names[0] and ex.dotted(comp.elt) == names[1]
            return (over.args[0].value, ex.dotted(right) or "") if same and isinstance(operator, cst.In) else None
    while isinstance(over, cst.Call) and ex.called_name(over) in {"sorted", "reversed", "list"} and over.args:
        over = ex.inner(over.args[0].value)
    at = ex.index(comp.elt)
    taken = isinstance(comp.elt, cst.Subscript) and at is not None and ex.dotted(at) == ex.dotted(target) and not ifs
    return (comp.elt.value, ex.dotted(over) or "") if taken and isinstance(comp.elt, cst.Subscript) else None


def _taken(
    loop: cst.For | cst.While, message: cst.BaseExpression
) -> tuple[cst.Call | cst.Subscript, cst.BaseExpression] | None:
    """Where a loop takes an element of a list that it goes through from its end, and the list."""
    name = message.value if isinstance(message, cst.Name) else ""
    over = ex.inner(loop.iter) if isinstance(loop, cst.For) and name in ex.target_names(loop.target) else None
    if isinstance(over, cst.Call) and ex.called_name(over) == "reversed" and len(over.args) == 1:
        return over, over.args[0].value
    part = ex.slice_of(over) if over is not None else None
    if isinstance(over, cst.Subscript) and part is not None and part.step is not None:
        return (over, over.value) if part.lower is None and part.upper is None else None
    assigned = [node for node in walk(loop.body) if isinstance(node, cst.Assign) and name]
    values = [message, *(node.value for node in assigned if name in ex.target_names(node.targets[0].target))]
    place = _counted_down(loop)
    for value in values if place else ():
        at = ex.index(value)
        if isinstance(value, cst.Subscript) and at is not None and ex.dotted(at) == place:
            return value, value.value
    return None


def _counted_down(loop: cst.For | cst.While) -> str:
    """`i` of `for i in range(n, -1, -1)`, `for i in reversed(range(n))`, and of `while ...: i -= 1`."""
    if isinstance(loop, cst.For):
        over = ex.inner(loop.iter)
        down = isinstance(over, cst.Call) and (
            (_is_range(over) and len(over.args) == 3 and isinstance(over.args[2].value, cst.UnaryOperation))
            or (ex.called_name(over) == "reversed" and len(over.args) == 1 and _is_range(over.args[0].value))
        )
        return ex.dotted(loop.target) or "" if down else ""
    less = (n for n in walk(loop.body) if isinstance(n, cst.AugAssign) and isinstance(n.operator, cst.SubtractAssign))
    return next((ex.dotted(n.target) or "" for n in less if ex.integer(n.value) == 1), "")


def _is_range(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and ex.dotted(node.func) == "range"


def _left_alone(module: SourceModule, cut: Cut) -> int:
    """How many elements at its front a list keeps that is changed behind them: 1 in `xs[1:] = xs[-n:]`."""
    statement = module.statement(cut.node)
    target = statement.targets[0].target if isinstance(statement, cst.Assign) else None
    part = ex.slice_of(target) if target is not None else None
    if not isinstance(target, cst.Subscript) or part is None or part.lower is None or part.step is not None:
        return 0
    same = ex.source(target.value) == ex.source(cut.base)
    place = ex.integer(part.lower)  # of a name: some are left alone
    return (1 if place is None else max(place, 0)) if same else 0


def tail(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """`(xs, n)` for an expression that takes the last n of xs, else None."""
    part = ex.slice_of(node)
    if part is None or not isinstance(node, cst.Subscript) or part.step is not None or part.upper is not None:
        return None
    lower = part.lower
    if isinstance(lower, cst.UnaryOperation) and isinstance(lower.operator, cst.Minus):
        return node.value, lower.expression
    if isinstance(lower, cst.BinaryOperation) and isinstance(lower.operator, cst.Subtract):
        if is_length(lower.left, node.value):
            return node.value, lower.right
    return None


def negated(node: cst.Subscript) -> cst.BaseExpression | None:
    """`n` of `xs[-n:]` and `xs[-n]`, where n is no literal; else None."""
    part = ex.slice_of(node)
    start = ex.index(node) if part is None else part.lower
    if part is not None and (part.upper is not None or part.step is not None):
        return None
    if isinstance(start, cst.UnaryOperation) and isinstance(start.operator, cst.Minus):
        return None if isinstance(start.expression, cst.Integer) else start.expression
    return None


def _sliced(node: cst.Subscript, function: Scope) -> Cut | None:
    """`xs[-n:]`, `xs[n:]`; of `xs[1:][-n:]` and `list(xs)[-n:]` the list behind."""
    part = ex.slice_of(node)
    if part is None or part.lower is None or part.step is not None:
        return None
    base, head = _behind(node.value)
    last = tail(node)
    if last is not None:
        return Cut(node, base, function, "tail", last[1], head)
    if ex.integer(part.lower) == 0 or (part.upper is not None and ex.integer(part.upper) is None):
        return None
    if part.upper is not None and (ex.integer(part.upper) or 0) >= 0:
        return None
    if isinstance(part.lower, cst.UnaryOperation):
        return Cut(node, base, function, "tail", part.lower.expression, head)
    return Cut(node, base, function, "rest", part.lower, head)


def _behind(node: cst.BaseExpression) -> tuple[cst.BaseExpression, int]:
    """The list behind copies and leading slices, and how many elements those skip at its front."""
    node = ex.inner(node)
    part = ex.slice_of(node)
    if isinstance(node, cst.Subscript) and part is not None and part.step is None:
        skipped = 0 if part.lower is None else ex.integer(part.lower)
        if skipped is not None and skipped >= 0:
            base, head = _behind(node.value)
            return base, head + skipped
    if (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value in {"list", "tuple", "enumerate"}
    ):
        given = ex.positional(node)
        if len(given) == 1:
            return _behind(given[0])
    return node, 0


def _deleted(target: cst.BaseExpression, node: cst.Del | cst.Assign, function: Scope) -> Iterator[Cut]:
    """`del xs[:n]`, `del xs[0]`, `xs[:n] = []`, `xs[first:n] = [summary]`."""
    targets = ex.several(target)
    for subscript in targets:
        if not isinstance(subscript, cst.Subscript):
            continue
        part, at = ex.slice_of(subscript), ex.index(subscript)
        if part is not None and part.upper is not None and part.step is None:
            first = 0 if part.lower is None else _place(part.lower)
            if first is not None:
                yield Cut(node, subscript.value, function, "front", part.upper, first)
        elif at is not None and (place := _place(at)) is not None:
            yield Cut(node, subscript.value, function, "shift", at, place)


def _called(module: SourceModule, node: cst.Call, function: Scope) -> Iterator[Cut]:
    """`xs.pop(0)`, `xs.popleft()`, `deque(maxlen=n)`, `islice(reversed(xs), n)`."""
    name, base, given = ex.called_name(node), ex.receiver(node), ex.positional(node)
    place = _place(given[0]) if name == "pop" and len(given) == 1 else None
    if base is not None and place is not None:
        yield Cut(node, base, function, "shift", given[0], place)
    elif base is not None and name == "popleft" and not node.args:
        yield Cut(node, base, function, "shift", None)
    elif name == "deque":
        size = ex.argument(node, "maxlen", 1)
        if size is not None and ex.dotted(size) != "None":
            yield Cut(node, _bound(module, node), function, "bounded", size)
    elif name == "islice" and len(given) == 2:
        over = ex.inner(given[0])
        if isinstance(over, cst.Call) and ex.called_name(over) == "reversed" and over.args:
            yield Cut(node, over.args[0].value, function, "tail", given[1])


def _place(at: cst.BaseExpression) -> int | None:
    """How many elements stand before a position: of a name, some; None for a position from the end, and for keys."""
    place = 1 if type(at) is cst.Name else ex.integer(at)
    return place if place is not None and place >= 0 else None


def _bound(module: SourceModule, node: cst.Call) -> cst.BaseExpression:
    """What a new list gets as its name, also as a field that is made by a lambda; itself, where it has none."""
    for outer in module.ancestors(node):
        if isinstance(outer, (cst.Assign, cst.AnnAssign)):
            target = ex.targets(outer)[0]
            return target if isinstance(target, (cst.Name, cst.Attribute)) else node
        is_field = isinstance(outer, cst.Call) and ex.called_name(outer) == "field"
        if not is_field and not isinstance(outer, (cst.Lambda, cst.Arg)):
            break
    return node


def _is_new(node: cst.CSTNode) -> bool:
    """Whether nothing, or a list that is made here, takes the place of a part of a list."""
    return isinstance(node, cst.Assign) and isinstance(node.value, cst.List)


def is_length(node: cst.BaseExpression, of: cst.BaseExpression) -> bool:
    """Whether `node` is `len(of)`."""
    return (
        isinstance(node, cst.Call)
        and ex.dotted(node.func) == "len"
        and len(node.args) == 1
        and ex.dotted(of) is not None
        and ex.dotted(node.args[0].value) == ex.dotted(of)
    )
