"""AGL409: the name is assigned, each entry gets a dict of its own, a piece goes by its own index.

Ids have no repair: where a fresh one comes from, and who has to know it, the code around them decides.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk


@of_the_file
def repair(anatomy: Anatomy, node: cst.AugAssign | cst.BinaryOperation | cst.For) -> Fix | None:
    """For what is reported: `name += piece`, `[{}] * n`, a loop over enumerated pieces."""
    if isinstance(node, cst.AugAssign):
        return _assigned(anatomy, node)
    if isinstance(node, cst.For):
        return _by_index(anatomy, node)
    return Fix("make a dict for each entry", "safe", lambda: Edits(replaced={node: _apart(node)}))


def _assigned(anatomy: Anatomy, node: cst.AugAssign) -> Fix | None:
    """`name = piece`; the name stays where the piece has none. Unsafe: some server may send a name in parts."""
    value = node.value
    if not _is_tested(anatomy, node):
        if any(isinstance(part, cst.Call) for part in walk(node.target)):
            return None  # would be called twice
        if isinstance(value, cst.IfExp) and not value.lpar:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        value = cst.BooleanOperation(value, cst.Or(), node.target)
    assigned = cst.Assign([cst.AssignTarget(node.target)], value, semicolon=node.semicolon)
    return Fix("assign the name", "unsafe", lambda: Edits(replaced={node: assigned}))


def _is_tested(anatomy: Anatomy, node: cst.AugAssign) -> bool:
    """Whether the statement is reached only with a name that is not empty."""
    below: cst.CSTNode = node
    for outer in anatomy.module.ancestors(node):
        if isinstance(outer, (cst.FunctionDef, cst.For, cst.While)):
            return False
        if isinstance(outer, cst.If) and below is outer.body and _read(node.value) in map(_read, _all_of(outer.test)):
            return True
        below = outer
    return False


def _all_of(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What has to be true for a test to be."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return [*_all_of(test.left), *_all_of(test.right)]
    return [test]


def _read(value: cst.BaseExpression) -> tuple[str, str]:
    """What is read, in one form for `piece["name"]` and `piece.get("name")`."""
    pair = ex.member(value)
    return (ex.source(pair[0], 500), pair[1]) if pair is not None else (ex.source(value, 500), "")


def _apart(node: cst.BinaryOperation) -> cst.ListComp:
    """`[{} for _ in range(n)]` for `[{}] * n`."""
    assert isinstance(node.left, cst.List)
    times = node.right.with_changes(lpar=[], rpar=[]) if len(node.right.lpar) == 1 else node.right
    numbers = cst.CompFor(cst.Name("_"), cst.Call(cst.Name("range"), [cst.Arg(times)]))
    return cst.ListComp(node.left.elements[0].value, numbers, lpar=node.lpar, rpar=node.rpar)


def _by_index(anatomy: Anatomy, loop: cst.For) -> Fix | None:
    """`for piece in pieces` with `piece.index` for each use of its position; None where that is used elsewhere."""
    target, pieces = loop.target, loop.iter
    if not isinstance(target, cst.Tuple) or not isinstance(pieces, cst.Call) or len(pieces.args) != 1:
        return None
    position, piece = (element.value for element in target.elements)
    if not isinstance(position, cst.Name) or not isinstance(piece, cst.Name):
        return None
    named = anatomy.module.scope_of[loop].function.named(position.value)
    uses = [name for name in named if name is not position]
    if not all(anatomy.module.inside(name, loop.body) and _is_read(anatomy, name) for name in uses):
        return None
    index = _index_of(loop, piece)
    if index is None:
        return None
    edits = Edits(replaced={target: piece, pieces: pieces.args[0].value, **dict.fromkeys(uses, index)})
    return Fix("tell the pieces apart by their index", "unsafe", lambda: edits)


def _is_read(anatomy: Anatomy, name: cst.Name) -> bool:
    return not isinstance(anatomy.module.parent[name], (cst.AssignTarget, cst.AugAssign, cst.NamedExpr, cst.For))


def _index_of(loop: cst.For, piece: cst.Name) -> cst.BaseExpression | None:
    """`piece.index` or `piece["index"]`, as the other fields are read; None where they are read in both ways."""
    ways = {
        type(node)
        for node in walk(loop.body)
        if isinstance(node, (cst.Attribute, cst.Subscript)) and ex.dotted(node.value) == piece.value
    }
    if ways == {cst.Attribute}:
        return cst.Attribute(cst.Name(piece.value), cst.Name("index"))
    return cst.parse_expression(f'{piece.value}["index"]') if ways == {cst.Subscript} else None
