"""One tool call taken out of several: `calls[0]`, `next(...)`, `call, *_ = calls`, `for call in calls[:1]`, loops.

Of a loop it is the one that is left behind, or the one after which it ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.values.identity import Identity, Way
from lint_rules.anatomy.values.slots import Slot
from lint_rules.anatomy.vocabulary import CALL_TAGS
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk


@record
class Pick:
    """One call taken out of the list at `way`. `node` is the place, `calls` the list.

    What stands for the call: the expression `node` itself, and `names`: in `loop`, or with `after` as `node` binds
    them, outside of the loop, if there is one.
    """

    node: cst.CSTNode
    calls: cst.BaseExpression
    way: Way
    function: Scope
    which: str
    names: frozenset[Slot] = frozenset()
    loop: cst.For | cst.BaseExpression | None = None
    after: bool = False

    def uses(self, anatomy: Anatomy) -> list[cst.CSTNode]:
        """The nodes that stand for the picked call."""
        if not self.names:
            return [self.node]
        if self.loop is not None and not self.after:
            named = (anatomy.facts.names.get(slot, ()) for slot in self.names)
            return [name for names in named for name in anatomy.module.those_inside(names, self.loop)]
        read = (n for slot in self.names for n in anatomy.readers(self.function, slot).get(self.node, ()))
        return [name for name in read if self.loop is None or not anatomy.module.inside(name, self.loop)]


def calls_of(anatomy: Anatomy, loop: cst.For | cst.CompFor) -> frozenset[Slot]:
    """The slots that hold the element of a loop over calls."""
    slots = (anatomy.facts.slots.variable(loop.target, name) for name in ex.target_names(loop.target))
    return frozenset(slots)


def slice_of_one(value: cst.BaseExpression) -> tuple[cst.BaseExpression | None, str]:
    """The list of which `xs[:1]`, `xs[-1:]` or `islice(xs, 1)` is one element, and which."""
    if isinstance(value, cst.Call) and ex.called_name(value) == "islice" and len(value.args) == 2:
        return (value.args[0].value if ex.integer(value.args[1].value) == 1 else None), "first"
    part = ex.slice_of(value)
    if part is None or not isinstance(value, cst.Subscript):
        return None, ""
    if ex.integer(part.upper) == 1 and (part.lower is None or ex.integer(part.lower) == 0):
        return value.value, "first"
    return (value.value if part.upper is None and ex.integer(part.lower) == -1 else None), "last"


def ends_after_one(anatomy: Anatomy, loop: cst.For, function: Scope) -> bool:
    """Whether a loop over calls never comes to a second call once it has done something with one."""
    if not any(function.nodes_of(kind) for kind in (cst.Break, cst.Return, cst.Raise)):
        return False
    graph = anatomy.flow(function)
    headers = graph.at(loop)
    again = {
        point
        for header in headers
        for point, _ in header.predecessors
        if point.statement is not None and anatomy.module.inside(point.statement, loop.body)
    }
    elements = calls_of(anatomy, loop)
    uses = [
        node
        for node in anatomy.module.nodes_inside(loop.body, function, cst.Name)
        if anatomy.facts.slots.of(node) in elements
        and not isinstance(anatomy.module.statement(node), (cst.If, cst.While))
    ]
    of_calls = [node for node in uses if _is_told_to_be_call(anatomy, node, loop)] or uses
    used = [point for node in of_calls for point in graph.at(anatomy.module.statement(node))]
    return bool(used) and not again.intersection(used) and not graph.reaches(used, again, headers, exceptions=False)


def _is_told_to_be_call(anatomy: Anatomy, node: cst.CSTNode, loop: cst.For) -> bool:
    """Whether a test around a use says that the block is a call: `if block.type == "tool_use":`."""
    below = node
    for outer in anatomy.module.ancestors(node):
        if outer is loop:
            return False
        if isinstance(outer, cst.If) and below is outer.body and CALL_TAGS.intersection(texts_in(outer.test)):
            return isinstance(outer.test, cst.Comparison) and isinstance(outer.test.comparisons[0].operator, cst.Equal)
        below = outer
    return False


def texts_in(node: cst.CSTNode) -> set[str]:
    return {text for part in walk(node) if isinstance(part, cst.SimpleString) and (text := ex.text(part)) is not None}


def first_pieces(anatomy: Anatomy, identity: Identity) -> Iterator[tuple[cst.AugAssign, cst.CSTNode]]:
    """Streamed arguments of the first call of each chunk that run into one text: where, and where they are used.

    Not where the piece's own index is read, or where a new text is begun in the loop over the stream.
    """
    for node in anatomy.module.nodes_of(cst.AugAssign):
        way = identity.of(node.value) if isinstance(node.operator, cst.AddAssign) else None
        if way is None or way[-1] != "arguments" or "delta" not in way or "tool_calls" not in way or "[]" not in way:
            continue
        function = anatomy.module.scope_of[node].function
        loop = next((outer for outer in anatomy.module.ancestors(node) if isinstance(outer, cst.For)), None)
        text = _text_of_pieces(anatomy, node.target)
        if loop is None or text is None or _begun_anew(anatomy, function, loop, text) or reads_index(function):
            continue
        used = _used_behind(anatomy, function, loop, text)
        if used is not None:
            yield node, used


def _text_of_pieces(anatomy: Anatomy, target: cst.BaseExpression) -> Slot | None:
    """The variable that holds a text, or the dict it is in; None for an element of a list or table of calls."""
    while (pair := ex.member(target)) is not None:
        target = pair[0]
    return anatomy.facts.slots.of_name(target)


def _begun_anew(anatomy: Anatomy, function: Scope, loop: cst.For, text: Slot) -> bool:
    for node in function.nodes:
        targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else []
        if any(anatomy.facts.slots.of(target) == text for target in targets) and anatomy.module.inside(node, loop):
            return True
    return False


def _used_behind(anatomy: Anatomy, function: Scope, loop: cst.For, text: Slot) -> cst.Call | None:
    """The call behind the loop that gets the text."""
    for node in function.nodes:
        if isinstance(node, cst.Call) and anatomy.module.before(loop, node) and not anatomy.module.inside(node, loop):
            names = (n for arg in node.args for n in walk(arg) if isinstance(n, cst.Name))
            if not handlers.is_logging(node) and any(anatomy.facts.slots.of(name) == text for name in names):
                return node
    return None


def reads_index(function: Scope) -> bool:
    """Whether the pieces' own index is read anywhere: then positions are for replies that come whole."""
    return any((pair := ex.member(node)) is not None and pair[1] == "index" for node in function.nodes)
