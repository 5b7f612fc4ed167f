"""What is evaluated at one place of a body, and whether that may fail. Pure functions of the tree.

Sets of types come first where most nodes are of none: `isinstance` that fails is slow, for the types are abstract.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.syntax.walk import children

_COMPOUND = frozenset(
    {
        cst.If, cst.While, cst.For, cst.With, cst.Match, cst.MatchCase, cst.ExceptHandler, cst.ExceptStarHandler,
        cst.Try, cst.TryStar, cst.ClassDef, cst.FunctionDef,
    }
)  # fmt: skip


def expressions(node: cst.CSTNode) -> list[cst.CSTNode]:
    """What a statement evaluates or binds itself: the parts of a header, or the whole of a simple statement."""
    if type(node) not in _COMPOUND:
        return [node]
    found: list[cst.CSTNode | None] = []
    if isinstance(node, (cst.If, cst.While)):
        return [node.test]
    if isinstance(node, cst.For):
        return [node.iter, node.target]
    if isinstance(node, cst.With):
        return list(node.items)
    if isinstance(node, cst.Match):
        return [node.subject]
    if isinstance(node, cst.MatchCase):
        found = [node.pattern, node.guard]
    elif isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)):
        found = [node.type, node.name]
    elif isinstance(node, cst.ClassDef):
        found = [*node.decorators, *node.bases, *node.keywords]
    elif isinstance(node, cst.FunctionDef):
        params = node.params
        every = [params.star_arg, params.star_kwarg, *params.posonly_params, *params.params, *params.kwonly_params]
        taken = [param for param in every if isinstance(param, cst.Param)]
        found = [*node.decorators, *(p.default for p in taken), *(p.annotation for p in taken), node.returns]
    return [part for part in found if part is not None]


_SILENT = frozenset(
    {
        cst.Pass, cst.Break, cst.Continue, cst.Global, cst.Nonlocal, cst.TypeAlias,
        cst.Try, cst.TryStar, cst.ExceptHandler, cst.ExceptStarHandler,
    }
)  # fmt: skip
_LOUD = frozenset({cst.For, cst.With, cst.ClassDef})
_HARMLESS = frozenset(
    {
        cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.ConcatenatedString, cst.Ellipsis,
        cst.Tuple, cst.List, cst.Element, cst.Dict, cst.DictElement, cst.BooleanOperation, cst.IfExp, cst.NamedExpr,
        cst.Lambda, cst.Return, cst.Expr, cst.Comparison, cst.MatchAs, cst.MatchSingleton, cst.MatchValue,
        cst.MatchOr, cst.MatchOrElement, cst.MatchList, cst.MatchTuple, cst.MatchSequenceElement, cst.MatchStar,
        cst.MatchMapping, cst.MatchMappingElement,
    }
)  # fmt: skip


def may_raise(node: cst.CSTNode) -> bool:
    """Whether evaluating the header or statement may fail: all may that do more than move plain values."""
    if type(node) in _SILENT:
        return False
    if type(node) in _LOUD:
        return True
    stack = expressions(node)
    if isinstance(node, cst.Assign):
        stack = [node.value, *(target.target for target in node.targets)]
        if not all(isinstance(target.target, cst.Name) for target in node.targets):
            return True
    elif isinstance(node, cst.AnnAssign):
        # A local annotation is not evaluated.
        stack = [node.target] if node.value is None else [node.target, node.value]
    while stack:
        here = stack.pop()
        kind = type(here)
        if kind not in _HARMLESS:
            harmless = (
                isinstance(here.operator, cst.Not)
                if isinstance(here, cst.UnaryOperation)
                else isinstance(here, cst.ComparisonTarget) and isinstance(here.operator, (cst.Is, cst.IsNot))
            )
            if not harmless:
                return True
        if kind is not cst.Name and kind is not cst.Lambda:
            stack.extend(children(here))
    return False
