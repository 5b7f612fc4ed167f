"""The anatomy of one file: everything the rules may ask, built on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import libcst as cst

from lint_rules.anatomy.call_graph import CallGraph
from lint_rules.anatomy.facts import Facts
from lint_rules.anatomy.kinds import Kind
from lint_rules.anatomy.rounds import RoundLoop, round_loops
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.anatomy.writes import Writes
from lint_rules.syntax import control_flow
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.reaching import Reaching, reaching


class Anatomy:
    """What the parts of an agent in one file are. `module` is the file, `facts` what each value is."""

    def __init__(
        self, module: SourceModule, vocabulary: Vocabulary, neighbour: Callable[[str], Anatomy | None] | None = None
    ) -> None:
        self.module = module
        self.vocabulary = vocabulary
        self._neighbour = neighbour
        self._graphs: dict[Scope, control_flow.Graph] = {}
        self._reaching: dict[Scope, Reaching] = {}
        self._neighbours: dict[str, Anatomy | None] = {}

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.module, self.vocabulary)

    @cached_property
    def calls(self) -> CallGraph:
        return CallGraph(self.facts)

    @cached_property
    def writes(self) -> Writes:
        return Writes(self.facts, self.calls)

    @cached_property
    def rounds(self) -> list[RoundLoop]:
        return round_loops(self.calls, self.writes)

    def flow(self, function: Scope) -> control_flow.Graph:
        """The control-flow graph of a function, lambda or the module body."""
        graph = self._graphs.get(function)
        if graph is None:
            node = function.node
            assert isinstance(node, (cst.FunctionDef, cst.Lambda, cst.Module))
            graph = self._graphs[function] = control_flow.build(node)
        return graph

    def reaching(self, function: Scope) -> Reaching:
        """Which definitions of its names reach which points of a function."""
        found = self._reaching.get(function)
        if found is None:
            found = self._reaching[function] = reaching(self.flow(function))
        return found

    def imported(self, name: str) -> tuple[Anatomy, str] | None:
        """The anatomy of the file that `name` is imported from, and its name there; None where that is unknown."""
        origin = self.module.imports.origin.get(name)
        if origin is None or origin[1] is None or self._neighbour is None:
            return None
        module, there = origin
        if module not in self._neighbours:
            self._neighbours[module] = self._neighbour(module)
        found = self._neighbours[module]
        return (found, there) if found is not None and there is not None else None

    def line(self, node: cst.CSTNode) -> int:
        """The 1-based line of a node. Asked only for what is reported: positions cost a rendering of the file."""
        return self.module.positions.line(node)

    def is_history(self, node: cst.BaseExpression) -> bool:
        """Whether the value of an expression is a message history."""
        return self.facts.is_kind(node, Kind.HISTORY)
