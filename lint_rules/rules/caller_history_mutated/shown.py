"""Members that only show a message or an event of the conversation, and edit it on the way.

A property, `__str__`, `__repr__` and their like are read by whoever looks, as often as they look.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.copies import path_of
from lint_rules.anatomy.values.kinds import Evidence, Kind
from lint_rules.anatomy.values.sharing import stores_at
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope, decorators
from lint_rules.syntax.record import record

_READERS = frozenset({"__str__", "__repr__", "__format__", "__rich__", "__html__", "_repr_html_", "__rich_repr__"})
_VIEWS = frozenset({"items", "values"})


@record
class ShownEdit:
    """`node` edits an element of `kept`, a list or dict of the object, in `function`, which is only read.

    `evidence` says why objects of the class are messages.
    """

    function: Scope
    kept: cst.BaseExpression
    node: cst.CSTNode
    evidence: Evidence


def shown_edits(anatomy: Anatomy) -> Iterator[ShownEdit]:
    """The edits of a file, in source order."""
    for cls in anatomy.module.classes:
        evidence = _message(anatomy, cls)
        for function in cls.methods.values() if evidence is not None else ():
            if evidence is not None and _is_reader(function):
                yield from _edits(anatomy, function, evidence)


def _message(anatomy: Anatomy, cls: Scope) -> Evidence | None:
    """Why the objects of a class are messages: a method without arguments makes one of them."""
    for function in cls.methods.values():
        found = anatomy.facts.of(("return", function)).get(Kind.MESSAGE)
        if found is not None and isinstance(function.node, cst.FunctionDef) and len(function.node.params.params) == 1:
            return found
    return None


def _is_reader(function: Scope) -> bool:
    return function.name in _READERS or any(
        (ex.dotted(decorator) or "").rpartition(".")[2] in {"property", "cached_property", "computed_field"}
        for decorator in decorators(function)
    )


def _edits(anatomy: Anatomy, function: Scope, evidence: Evidence) -> Iterator[ShownEdit]:
    """Stores under keys of what a loop takes out of the object, by the loop's own name for it."""
    own = anatomy.module.self_name(function)
    for loop in function.nodes_of(cst.For):
        kept = ex.receiver(loop.iter) if isinstance(loop.iter, cst.Call) else loop.iter
        if isinstance(loop.iter, cst.Call) and (ex.called_name(loop.iter) not in _VIEWS or loop.iter.args):
            continue
        path = path_of(kept) if kept is not None else None
        names = ex.target_names(loop.target)
        if kept is None or path is None or path[0] != own or len(path) < 2 or len(names) == 0:
            continue
        for point in anatomy.flow(function).points:
            for container, node in stores_at(point):
                if anatomy.module.inside(node, loop.body) and _is_element(anatomy, container, names, loop):
                    if not isinstance(node, cst.Assign) or isinstance(node.targets[0].target, cst.Subscript):
                        yield ShownEdit(function, kept, node, evidence)


def _is_element(anatomy: Anatomy, container: cst.BaseExpression, names: list[str], loop: cst.For) -> bool:
    """Whether a container is, or lies in, what the loop stands at: not a copy under the same name."""
    here = container
    while (pair := ex.member(here)) is not None or isinstance(here, cst.Subscript):
        here = pair[0] if pair is not None else here.value  # type: ignore[attr-defined]
    if not isinstance(here, cst.Name) or here.value not in names:
        return False
    bound = anatomy.definitions(here)
    return bool(bound) and all(d.point.statement is loop for d in bound)
