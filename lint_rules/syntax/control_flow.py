"""The control-flow graph of one function body: `build`. What can be asked of it stands in `graph`.

A point is a simple statement, or the header of a compound one (`if` test, `for` target and iterable, `with` items,
`except` type, `case` pattern and guard); nested functions and classes are one point each. Three points have no
statement: the entry, the exit (return, or the end of the body) and the place where an exception leaves.

An edge's kind says what happened at its source: "normal", "true", "false" (also: a `for` had, or had no further
item), "loop" (a normal edge back to the header of a loop), "raise" (a `raise`, also the one implied at the end of a
`finally`) and "exception" (a statement that may fail did). Every exception may take every handler around it and,
unless one of them takes `Exception`, go further out. Closing a generator at a `yield` passes by `except Exception`.

`finally` is modelled by copies: one for each way through it (fall through, return, break, continue, exception), so
that a path never enters by `return` and leaves by `continue`. A `finally` within a `finally` is one copy for all
ways, lest nesting multiply them; this only adds paths. Trusted not to fail: reading and binding plain names,
evaluating `except` types, leaving a `with`. `with` swallows exceptions only when it is `contextlib.suppress`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import libcst as cst

from lint_rules.syntax.evaluation import expressions, may_raise
from lint_rules.syntax.expressions import dotted, integer
from lint_rules.syntax.graph import Graph, Kind, Point, solve
from lint_rules.syntax.walk import nodes_below

__all__ = ["Graph", "Kind", "Point", "build", "solve"]


def build(body: cst.FunctionDef | cst.Lambda | cst.Module | cst.ClassDef, *, yields: bool = True) -> Graph:
    """The graph of the code of `body` itself, without that of functions and classes nested in it.

    `yields` may be False where no `yield` stands in it, which need not be looked for then.
    """
    graph = Graph(body)
    builder = _Builder(graph, yields)
    ends: _Ends = [(graph.entry, "normal")]
    if isinstance(body, cst.Module):
        ends = builder.statements(body.body, ends, None)
    elif isinstance(body, cst.Lambda):
        ends = builder.simple(body.body, ends, None)
    else:
        ends = builder.statements(body.body.body, ends, None)
    builder.leave(ends, "return", None)
    return graph


# How the graph is built: statement by statement, with the loose ends of what came before, and the frames around.

_Way = Literal["normal", "return", "break", "continue", "raise", "close"]
"""How control leaves a statement; "close" is an exception that `except Exception` does not take."""
_Ends = list[tuple[Point, Kind]]
_JUMPS: dict[type[cst.CSTNode], _Way] = {
    cst.Return: "return",
    cst.Break: "break",
    cst.Continue: "continue",
    cst.Raise: "raise",
}
_EVERYTHING = frozenset({"raise", "close"})
ENDING = frozenset({"sys.exit", "exit", "quit", "os._exit"})
"""Calls that end the program. What they raise, as what closes a generator, only `except BaseException` takes."""
_TAKEN = {
    "BaseException": _EVERYTHING,
    "Exception": frozenset({"raise"}),
    "GeneratorExit": frozenset({"close"}),
}


@dataclass
class _Loop:
    outer: _Frame | None
    header: Point
    breaks: _Ends = field(default_factory=list)


@dataclass
class _Handlers:
    """The handlers of a `try`, each with the ways it surely takes; `except ValueError` surely takes none."""

    outer: _Frame | None
    handlers: list[tuple[Point, frozenset[str]]]


@dataclass
class _Suppress:
    outer: _Frame | None
    takes: frozenset[str]
    swallowed: _Ends = field(default_factory=list)


@dataclass
class _Finally:
    """`copies` by way, each with its first point, its loose ends, and the ways already led on from these."""

    outer: _Frame | None
    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement]
    shared: bool
    copies: dict[str, tuple[Point, _Ends, set[_Way]]] = field(default_factory=dict)


_Frame = _Loop | _Handlers | _Suppress | _Finally


class _Builder:
    """Adds points and edges to a graph. Recursive by indentation only, which Python itself limits to 100."""

    def __init__(self, graph: Graph, yields: bool) -> None:
        self.graph = graph
        self.yields = yields
        self.in_finally = False
        self.around: Point | None = None

    def add(self, node: cst.CSTNode, ends: _Ends, frame: _Frame | None) -> Point:
        """A point after `ends`, with the edges it takes when it fails."""
        point = self.graph.add(node, self.around)
        self.link(ends, point)
        if type(node) is not cst.Raise and may_raise(node):
            self.leave([(point, "exception")], "raise", frame)
            if self.yields and frame is not None and any(nodes_below(e, cst.Yield) for e in expressions(node)):
                self.leave([(point, "exception")], "close", frame)
        return point

    @staticmethod
    def link(ends: _Ends, target: Point, kind: Kind = "normal") -> None:
        """Edges from `ends` to `target`; those that would be normal are of `kind`."""
        for source, own in ends:
            edge = (target, kind if own == "normal" else own)
            if edge not in source.successors:
                source.successors.append(edge)
                target.predecessors.append((source, edge[1]))

    def leave(self, ends: _Ends, way: _Way, frame: _Frame | None) -> None:
        """Leads `ends` outward through the frames to where they go: a header, handlers, the end of the body."""
        fails = way in _EVERYTHING
        while frame is not None and ends:
            if isinstance(frame, _Finally):
                ends = self.pass_finally(frame, way, ends)
            elif isinstance(frame, _Loop):
                if way == "break":
                    frame.breaks.extend(ends)
                    return
                if way == "continue":
                    self.link(ends, frame.header, "loop")
                    return
            elif isinstance(frame, _Handlers) and fails:
                for handler, takes in frame.handlers:
                    if way == "raise" or way in takes:
                        self.link(ends, handler, "raise")
                if any(way in takes for _, takes in frame.handlers):
                    return
            elif isinstance(frame, _Suppress) and fails:
                if way == "raise" or way in frame.takes:
                    frame.swallowed.extend(ends)
                if way in frame.takes:
                    return
            frame = frame.outer
        self.link(ends, self.graph.raises if fails else self.graph.exit, "raise" if fails else "normal")

    def pass_finally(self, frame: _Finally, way: _Way, ends: _Ends) -> _Ends:
        """Leads `ends` into the copy of the `finally` for `way`; its loose ends, when nobody led them on before."""
        key = "" if frame.shared else way
        if key in frame.copies:
            first, after, passed = frame.copies[key]
            self.link(ends, first)
            if way in passed:
                return []
            passed.add(way)
            return after
        size, outside = len(self.graph.points), self.in_finally
        self.in_finally = True
        after = self.statements(frame.body, ends, frame.outer)
        self.in_finally = outside
        if len(self.graph.points) > size:
            frame.copies[key] = (self.graph.points[size], after, {way})
        return after

    def statements(self, body: Sequence[cst.CSTNode], ends: _Ends, frame: _Frame | None) -> _Ends:
        for node in body:
            if isinstance(node, cst.SimpleStatementLine):
                for small in node.body:
                    ends = self.simple(small, ends, frame)
            elif isinstance(node, cst.If):
                ends = self.branches(node, ends, frame)
            elif isinstance(node, (cst.While, cst.For)):
                ends = self.loop(node, ends, frame)
            elif isinstance(node, (cst.Try, cst.TryStar)):
                ends = self.attempt(node, ends, frame)
            elif isinstance(node, cst.With):
                ends = self.context(node, ends, frame)
            elif isinstance(node, cst.Match):
                ends = self.cases(node, ends, frame)
            else:  # a definition, or a simple statement on the line of its header
                ends = self.simple(node, ends, frame)
        return ends

    def simple(self, node: cst.CSTNode, ends: _Ends, frame: _Frame | None) -> _Ends:
        point = self.add(node, ends, frame)
        way = "close" if _ends_program(node) else _JUMPS.get(type(node))
        if way is None:
            return [(point, "normal")]
        self.leave([(point, "raise" if way in _EVERYTHING else "normal")], way, frame)
        return []

    def branches(self, node: cst.If, ends: _Ends, frame: _Frame | None) -> _Ends:
        after: _Ends = []
        branch: cst.If | cst.Else | None = node
        while isinstance(branch, cst.If):
            point = self.add(branch, ends, frame)
            after += self.statements(branch.body.body, [(point, "true")], frame)
            ends = [(point, "false")]
            branch = branch.orelse
        if branch is not None:
            ends = self.statements(branch.body.body, ends, frame)
        return after + ends

    def loop(self, node: cst.While | cst.For, ends: _Ends, frame: _Frame | None) -> _Ends:
        header = self.add(node, ends, frame)
        loop = _Loop(frame, header)
        outside, self.around = self.around, header
        self.link(self.statements(node.body.body, [(header, "true")], loop), header, "loop")
        self.around = outside
        after: _Ends = [] if isinstance(node, cst.While) and _always(node.test) else [(header, "false")]
        if node.orelse is not None:
            after = self.statements(node.orelse.body.body, after, frame)
        return after + loop.breaks

    def context(self, node: cst.With, ends: _Ends, frame: _Frame | None) -> _Ends:
        suppressing = [i for i, item in enumerate(node.items) if _suppressed(item) is not None]
        if not suppressing:
            point = self.add(node, ends, frame)
            return self.statements(node.body.body, [(point, "normal")], frame)
        takes = frozenset[str]().union(*(_suppressed(node.items[i]) or () for i in suppressing))
        inside = _Suppress(frame, takes)
        # `with suppress(E), open(p)`: the first item guards the second, too.
        point = self.add(node, ends, inside if suppressing[0] < len(node.items) - 1 else frame)
        return self.statements(node.body.body, [(point, "normal")], inside) + inside.swallowed

    def cases(self, node: cst.Match, ends: _Ends, frame: _Frame | None) -> _Ends:
        point = self.add(node, ends, frame)
        after: _Ends = []
        ends = [(point, "normal")]
        for case in node.cases:
            point = self.add(case, ends, frame)
            after += self.statements(case.body.body, [(point, "true")], frame)
            ends = [] if case.guard is None and _irrefutable(case.pattern) else [(point, "false")]
        return after + ends

    def attempt(self, node: cst.Try | cst.TryStar, ends: _Ends, frame: _Frame | None) -> _Ends:
        header = self.add(node, ends, frame)
        final = _Finally(frame, node.finalbody.body.body, self.in_finally) if node.finalbody is not None else None
        around = final or frame
        handlers = [(self.graph.add(handler, self.around), _taken(handler.type)) for handler in node.handlers]
        after = self.statements(node.body.body, [(header, "normal")], _Handlers(around, handlers))
        if node.orelse is not None:
            after = self.statements(node.orelse.body.body, after, around)
        for index, (point, _) in enumerate(handlers):
            handler, inside = node.handlers[index], around
            if isinstance(handler, cst.ExceptStarHandler):
                # Of a group, several handlers take their part one after the other; what is left, and what they
                # raise themselves, goes out after the last.
                later = handlers[index + 1 :]
                inside = _Handlers(around, [(other, frozenset()) for other, _ in later])
            stops = self.statements(handler.body.body, [(point, "normal")], inside)
            if inside is not around:
                self.leave(stops, "raise", inside)
            after = after + stops
        if final is not None and (after or not final.copies):
            after = self.pass_finally(final, "normal", after)
        return after


def _ends_program(node: cst.CSTNode) -> bool:
    """`sys.exit(1)`, as a statement."""
    call = node.value if isinstance(node, cst.Expr) else None
    return isinstance(call, cst.Call) and dotted(call.func) in ENDING


def _always(test: cst.BaseExpression) -> bool:
    """Whether a `while` test is a constant that is true."""
    if isinstance(test, cst.Name):
        return test.value == "True"
    return bool(integer(test))


def _taken(types: cst.BaseExpression | None) -> frozenset[str]:
    """The ways of failing that `except types` surely takes."""
    if types is None:
        return _EVERYTHING
    if isinstance(types, cst.Tuple):
        return frozenset[str]().union(*(_taken(element.value) for element in types.elements))
    return _TAKEN.get((dotted(types) or "").removeprefix("builtins."), frozenset())


def _suppressed(item: cst.WithItem) -> frozenset[str] | None:
    """What `suppress(...)` surely takes; None when the item is something else."""
    call = item.item
    if not isinstance(call, cst.Call) or dotted(call.func) not in {"suppress", "contextlib.suppress"}:
        return None
    return frozenset[str]().union(*(_taken(arg.value) for arg in call.args))


def _irrefutable(pattern: cst.MatchPattern) -> bool:
    """Whether a pattern takes every subject: `_`, a capture, or an alternative that is one."""
    if isinstance(pattern, cst.MatchOr):
        return any(_irrefutable(element.pattern) for element in pattern.patterns)
    return isinstance(pattern, cst.MatchAs) and (pattern.pattern is None or _irrefutable(pattern.pattern))
