"""Reaching definitions: which assignments may have given a name the value it has at a point.

The classic forward analysis (Aho, Lam, Sethi, Ullman: Compilers, section 9.2.4) on the graph of `control_flow`, with a
state of one bit for each definition. It errs on the side of too many: a walrus that may be skipped, a capture of a
`case` whose guard fails, an unpacking that fails half-way add definitions and kill none. Not seen: what other
functions do to the name (a `nonlocal` in a nested one, `global` elsewhere), `from m import *`, and that `except E as
e` unbinds `e` at its end. Comprehension variables live in a scope of their own and are no definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

import libcst as cst

from lint_rules.syntax.graph import Graph, Kind, Point, solve
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import children, nodes_below, walk

Binding = Literal[
    "assign", "unpack", "augmented", "walrus", "for", "with", "except", "import", "def", "class", "match",
    "parameter", "outer",
]  # fmt: skip
"""How a name is bound; "outer": by whoever else writes a name declared `global` or `nonlocal` here."""


@record
class Definition:
    """One binding of `name` at `point`.

    `value` is the expression it is bound to for "assign", "walrus" and "unpack" of a display (`a, b = x, y`), the
    right side for "augmented", the default for "parameter"; None where no expression has that value.
    """

    name: str
    point: Point
    value: cst.BaseExpression | None
    kind: Binding


class _Effect(NamedTuple):
    """A name bound, or unbound (definition None). Only `certain` ones kill what was bound before.

    `whole`: nothing of the statement comes after it, so that a statement that failed has not got there.
    """

    name: str
    definition: Definition | None
    certain: bool
    whole: bool


class _Change(NamedTuple):
    """What a point does to the bits: first for its expressions, then for all of it."""

    keep_early: int
    add_early: int
    keep: int
    add: int
    whole: bool


class Reaching:
    """The answer for one graph; `definitions` are all there are, in the order of the points."""

    def __init__(self, graph: Graph) -> None:
        self.definitions: list[Definition] = []
        self._named: dict[str, int] = {}
        effects = [(point, *_effects(point)) for point in graph.points[1:]]
        start = self._number(_outside(graph, effects))
        for _, first, then in effects:
            self._number(effect.definition for effect in (*first, *then) if effect.definition is not None)
        bit = {definition: 1 << index for index, definition in enumerate(self.definitions)}
        self._changes = {point: self._change(bit, first, then) for point, first, then in effects if first or then}
        self._before = solve(graph, start, self._after, int.__or__, self._along)

    def at(self, point: Point, name: str) -> list[Definition]:
        """The definitions of `name` that may hold just before `point`; none for names of other scopes."""
        bits = self._before.get(point, 0) & self._named.get(name, 0)
        found = []
        while bits:
            low = bits & -bits
            found.append(self.definitions[low.bit_length() - 1])
            bits ^= low
        return found

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        """All definitions of each name."""
        found: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            found.setdefault(definition.name, []).append(definition)
        return found

    def only(self, point: Point, name: str) -> Definition | None:
        """The one definition of `name` that reaches `point`; None when there are none or several."""
        found = self.at(point, name)
        return found[0] if len(found) == 1 else None

    def _number(self, definitions: Iterable[Definition]) -> int:
        """Gives each definition its bit; all of these bits."""
        bits = 0
        for definition in definitions:
            bit = 1 << len(self.definitions)
            self.definitions.append(definition)
            self._named[definition.name] = self._named.get(definition.name, 0) | bit
            bits |= bit
        return bits

    def _change(self, bit: dict[Definition, int], first: list[_Effect], then: list[_Effect]) -> _Change:
        keep, add = -1, 0
        early = keep, add
        for index, effect in enumerate((*first, *then)):
            if effect.certain:
                killed = self._named.get(effect.name, 0)
                keep &= ~killed
                add &= ~killed
            if effect.definition is not None:
                add |= bit[effect.definition]
            if index == len(first) - 1:
                early = keep, add
        return _Change(*early, keep, add, all(effect.whole for effect in then))

    def _after(self, point: Point, before: int) -> int:
        change = self._changes.get(point)
        return before if change is None else before & change.keep | change.add

    def _along(self, point: Point, kind: Kind, before: int, after: int) -> int:
        change = self._changes.get(point)
        if change is None or kind not in {"false", "exception"}:
            return after
        early = before & change.keep_early | change.add_early
        if kind == "exception":
            return before | early | (0 if change.whole else after)
        if isinstance(point.statement, cst.For):
            return early
        return before | after if isinstance(point.statement, cst.MatchCase) else after


def reaching(graph: Graph) -> Reaching:
    """Computes the reaching definitions of all points of `graph`."""
    return Reaching(graph)


def _outside(graph: Graph, effects: list[tuple[Point, list[_Effect], list[_Effect]]]) -> Iterator[Definition]:
    """The definitions that hold at the entry."""
    if not isinstance(graph.body, (cst.Module, cst.ClassDef)):
        params = graph.body.params
        every = [*params.posonly_params, *params.params, params.star_arg, *params.kwonly_params, params.star_kwarg]
        for param in every:
            if isinstance(param, cst.Param):
                yield Definition(param.name.value, graph.entry, param.default, "parameter")
    for point, _, _ in effects:
        if isinstance(point.statement, (cst.Global, cst.Nonlocal)):
            for item in point.statement.names:
                yield Definition(item.name.value, graph.entry, None, "outer")


def _effects(point: Point) -> tuple[list[_Effect], list[_Effect]]:
    """What `point` does to names, in its order: within its expressions, then by its statement as such."""
    node = point.statement
    walruses = [
        _Effect(name, Definition(name, point, value, "walrus"), certain and not isinstance(node, cst.For), False)
        for name, value, certain in _walruses(point.expressions())
    ]
    bound = list(_bound(point, node))
    return (bound, walruses) if isinstance(node, cst.MatchCase) else (walruses, bound)


def _walruses(parts: list[cst.CSTNode]) -> list[tuple[str, cst.BaseExpression, bool]]:
    """Name, value, and whether it is certain to be evaluated, of each walrus in `parts`."""
    if not any(nodes_below(part, cst.NamedExpr) for part in parts):
        return []
    found: list[tuple[str, cst.BaseExpression, bool]] = []
    stack: list[tuple[cst.CSTNode, bool, bool]] = [(part, True, False) for part in reversed(parts)]
    while stack:
        node, certain, ready = stack.pop()
        if ready:
            assert isinstance(node, cst.NamedExpr)
            assert isinstance(node.target, cst.Name)
            found.append((node.target.value, node.value, certain))
            continue
        if isinstance(node, cst.NamedExpr):
            stack.append((node, certain, True))  # bound after what stands in its value
        if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            continue
        below = children(node)
        if isinstance(node, cst.IfExp):
            below = [node.test, node.body, node.orelse]
        sure = len(below)
        if isinstance(node, (cst.BooleanOperation, cst.IfExp, cst.Assert)):
            sure = 1
        elif isinstance(node, cst.Comparison):
            sure = 2
        elif isinstance(node, cst.BaseComp):
            sure = 0
        stack.extend((child, certain and i < sure, False) for i, child in reversed(list(enumerate(below))))
    return found


_BINDS_NOTHING = frozenset({cst.Expr, cst.If, cst.Return, cst.While, cst.Raise, cst.Try, cst.Pass, cst.Assert})
"""The most frequent ones, as a short cut: a failing `isinstance` with the abstract types of libcst is slow."""


def _bound(point: Point, node: cst.CSTNode | None) -> Iterator[_Effect]:
    """What the statement binds or unbinds, once its expressions are evaluated."""

    if type(node) in _BINDS_NOTHING:
        return

    def effect(name: str, kind: Binding, value: cst.BaseExpression | None = None, whole: bool = True) -> _Effect:
        return _Effect(name, Definition(name, point, value, kind), True, whole)

    if isinstance(node, cst.Assign):
        for target in node.targets:
            for name, value, direct in _targets(target.target, node.value):
                whole = direct and len(node.targets) == 1
                yield effect(name, "assign" if direct else "unpack", value, whole)
    elif isinstance(node, cst.AnnAssign):
        if isinstance(node.target, cst.Name) and node.value is not None:
            yield effect(node.target.value, "assign", node.value)
    elif isinstance(node, cst.AugAssign):
        if isinstance(node.target, cst.Name):
            yield effect(node.target.value, "augmented", node.value)
    elif isinstance(node, cst.TypeAlias):
        yield effect(node.name.value, "assign", node.value)
    elif isinstance(node, cst.For):
        for name, _, direct in _targets(node.target, None):
            yield effect(name, "for", None, direct)
    elif isinstance(node, cst.With):
        for item in node.items:
            if item.asname is not None:
                for name, _, direct in _targets(item.asname.name, None):
                    yield effect(name, "with", None, direct and len(node.items) == 1)
    elif isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)):
        if node.name is not None and isinstance(node.name.name, cst.Name):
            yield effect(node.name.name.value, "except")
    elif isinstance(node, (cst.Import, cst.ImportFrom)):
        if not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                yield effect(_imported(alias), "import", None, len(node.names) == 1)
    elif isinstance(node, cst.FunctionDef):
        yield effect(node.name.value, "def")
    elif isinstance(node, cst.ClassDef):
        yield effect(node.name.value, "class")
    elif isinstance(node, cst.MatchCase):
        for part in walk(node.pattern):
            if isinstance(part, (cst.MatchAs, cst.MatchStar)) and part.name is not None:
                yield effect(part.name.value, "match", None, False)
            elif isinstance(part, cst.MatchMapping) and part.rest is not None:
                yield effect(part.rest.value, "match", None, False)
    elif isinstance(node, cst.Del):
        for name, _, direct in _targets(node.target, None):
            yield _Effect(name, None, True, direct)


def _targets(
    target: cst.BaseExpression, value: cst.BaseExpression | None
) -> Iterator[tuple[str, cst.BaseExpression | None, bool]]:
    """The names bound by `target = value`, each with its value, if it stands there, and whether it is all of it."""
    stack: list[tuple[cst.BaseExpression, cst.BaseExpression | None]] = [(target, value)]
    while stack:
        here, given = stack.pop()
        if isinstance(here, cst.Name):
            yield here.value, given, here is target
        elif isinstance(here, (cst.Tuple, cst.List)):
            values: list[cst.BaseExpression | None] = [None] * len(here.elements)
            if isinstance(given, (cst.Tuple, cst.List)) and len(given.elements) == len(values):
                pairs = [*here.elements, *given.elements]
                if not any(isinstance(element, cst.StarredElement) for element in pairs):
                    values = [element.value for element in given.elements]
            stack.extend((element.value, v) for element, v in zip(here.elements, values, strict=True))


def _imported(alias: cst.ImportAlias) -> str:
    """The name an import binds: `c` for `a.b as c`, `a` for `a.b`."""
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value
    here: cst.BaseExpression = alias.name
    while isinstance(here, cst.Attribute):
        here = here.value
    return here.value if isinstance(here, cst.Name) else ""
