"""The first result of a message that may hold several: `content.parts[0].function_response`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.uses import answered
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import counted
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_LISTS = frozenset({"parts", "content"})


def first_results(anatomy: Anatomy) -> Iterator[tuple[cst.Subscript, cst.CSTNode]]:
    """Where a tool message is made of the first result alone: the place that takes it, and the message."""
    taken: dict[tuple[Scope, str], list[cst.Subscript]] = {}
    for node in anatomy.module.nodes_of(cst.Subscript):
        pair = ex.member(anatomy.module.parent[node])
        if pair is None or pair[0] is not node or pair[1] not in words.RESULT_PARTS or ex.integer(ex.index(node)) != 0:
            continue
        of = ex.member(node.value)
        if of is not None and of[1] in _LISTS:
            function = anatomy.module.scope_of[node].function
            if _is_of_one_call(anatomy, of[0]):
                continue
            taken.setdefault((function, ex.source(node.value, 200)), []).append(node)
    for (function, parts), places in taken.items():
        if _looks_further(function, parts):
            continue
        answer = answered(anatomy, function, places)
        if answer is not None:
            yield places[0], answer


def _is_of_one_call(anatomy: Anatomy, content: cst.BaseExpression) -> bool:
    """Whether a message was made with one call of a loop over them: it has one result."""
    made = [content, *anatomy.facts.values_of(content)]
    given = [arg.value for value in made for part in walk(value) if isinstance(part, cst.Call) for arg in part.args]
    return any(Kind.CALL in anatomy.facts.kinds(value) for value in given)


def _looks_further(function: Scope, parts: str) -> bool:
    """Whether the function reads the results of other parts as well, or counts the parts."""
    for node in function.nodes:
        if isinstance(node, (cst.For, cst.CompFor)) and _iterated(node.iter) == parts:
            if any((pair := ex.member(n)) is not None and pair[1] in words.RESULT_PARTS for n in _uses(function, node)):
                return True
        elif isinstance(node, cst.Call) and ex.dotted(node.func) == "len" and node.args:
            if ex.source(node.args[0].value, 200) == parts:
                return True
    return False


def _iterated(node: cst.BaseExpression) -> str:
    return ex.source(next(iter(ex.alternatives(counted(node)))), 200)


def _uses(function: Scope, loop: cst.For | cst.CompFor) -> Iterator[cst.CSTNode]:
    """Members of a loop's variable."""
    names = set(ex.target_names(loop.target))
    for node in walk(loop.body) if isinstance(loop, cst.For) else function.nodes:
        pair = ex.member(node)
        if pair is not None and isinstance(pair[0], cst.Name) and pair[0].value in names:
            yield node
