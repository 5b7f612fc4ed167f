"""What a rule of another package may ask of one file: the parts of an agent, and what is known of its values.

Small on purpose: what stands here stays, whatever becomes of what lies below it. Nodes are those of libcst. The file is
seen in normal form: helpers are read where they are called, and names of a project's own are those of the provider; a
problem is shown where its node stands in the file all the same. Formatting (comments, blank lines) is not to be had.

Cheap to import: what it takes to analyse a file is imported when something is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeVar

    import libcst as cst

    from lint_rules.anatomy.agent import Anatomy
    from lint_rules.anatomy.messages.writes import WriteKind
    from lint_rules.anatomy.values.kinds import Evidence, Kind
    from lint_rules.syntax.module import Scope

    Node = TypeVar("Node", bound=cst.CSTNode)
    Found = TypeVar("Found", bound=Any)
    Function: TypeAlias = cst.FunctionDef | cst.Lambda | cst.Module

_MOST_ORIGINS = 40


class Reason(NamedTuple):
    """A fact that shows what a value is: `text` reads after its name ("is sent as `messages=`"), `node` shows it."""

    node: cst.CSTNode
    text: str


class Ask(NamedTuple):
    """A request to a model. `history` is what is sent, where that is known; `arguments` are those with a keyword."""

    node: cst.Call
    function: Function
    history: cst.BaseExpression | None
    arguments: dict[str, cst.BaseExpression]
    reason: Reason


class Round(NamedTuple):
    """A loop of rounds: a model is asked, its tools are run, and it is asked again. `ask` is the call that asks."""

    node: cst.While | cst.For
    function: Function
    ask: cst.Call


class Store(NamedTuple):
    """A message that is put into a history, by a statement or call of a function, or by a helper that it calls.

    `role` ("system", "user", "assistant", "tool"), `content` and `calls` (the tool calls that it may carry) are None
    where the code does not show them; `answers` are the ids of the calls that it answers. `history` is what it is put
    into, in words, None for a store of another file.
    """

    node: cst.CSTNode
    function: Function
    history: str | None
    how: WriteKind
    role: str | None
    content: cst.BaseExpression | None
    calls: cst.BaseExpression | None
    answers: tuple[cst.BaseExpression, ...]

    @property
    def is_answer(self) -> bool:
        """Whether it is the result of a tool call."""
        return self.role == "tool" or bool(self.answers)


class Value(NamedTuple):
    """A name or attribute whose value is a part of an agent, in words (`self.history`), with the reasons."""

    name: str
    reasons: tuple[Reason, ...]


class Agent:
    """One file, as a rule may ask about it. Answers are worked out when first asked for."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._module = anatomy.module

    @property
    def path(self) -> str:
        """The path of the file, as it is shown to people."""
        return self._module.path

    # -- parts ----------------------------------------------------------------------------------------------------

    @cached_property
    def asks(self) -> list[Ask]:
        """The requests to models, in source order."""
        from lint_rules.syntax.expressions import keywords

        return [
            Ask(call.node, self.function(call.node), call.history, keywords(call.node), Reason(call.node, call.reason))
            for call in self._in_order(self._anatomy.facts.calls.values())
        ]

    @cached_property
    def rounds(self) -> list[Round]:
        """The loops of rounds, in source order."""
        loops = self._in_order(self._anatomy.rounds)
        return [Round(loop.node, _node(loop.function), loop.asks) for loop in loops]

    @cached_property
    def stores(self) -> list[Store]:
        """The messages that are put into histories, in source order."""
        from lint_rules.anatomy.values.slots import describe

        functions = [*self._module.functions, self._module.top]
        found = {id(s): s for f in dict.fromkeys(functions) for s in self._anatomy.transcript.stored(f)}
        return [
            Store(
                stored.node,
                _node(stored.function),
                describe(stored.slot) if stored.slot is not None else None,
                stored.kind,
                stored.role,
                stored.message.content if stored.message is not None else None,
                stored.calls,
                stored.message.answers if stored.message is not None else (),
            )
            for stored in self._in_order(found.values())
        ]

    def values(self, kind: Kind) -> list[Value]:
        """The names and attributes that hold a part of an agent: `agent.values(Kind.HISTORY)`."""
        from lint_rules.anatomy.values.slots import describe

        known = self._anatomy.facts.all_known().items()
        return [
            Value(describe(slot), _reasons(kinds[kind]))
            for slot, kinds in known
            if kind in kinds and slot[0] in ("var", "attr", "member", "item")
        ]

    def kinds(self, node: cst.BaseExpression) -> dict[Kind, tuple[Reason, ...]]:
        """What the value of an expression is, each with the reasons, the last one being what the code itself shows."""
        return {kind: _reasons(why) for kind, why in self._anatomy.facts.kinds(node).items()}

    # -- values ---------------------------------------------------------------------------------------------------

    def origins(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What a value may have come from, step by step: the expression itself, what the names in it were given, what
        the names in that were given, and so on, in one function. At most 40 steps."""
        import libcst as cst

        from lint_rules.syntax.walk import walk

        found: dict[cst.BaseExpression, None] = {node: None}
        waiting = [node]
        while waiting and len(found) < _MOST_ORIGINS:
            for name in [part for part in walk(waiting.pop(0)) if isinstance(part, cst.Name)]:
                for definition in self._anatomy.definitions(name) if name in self._module.scope_of else ():
                    given = definition.value
                    if given is not None and definition.kind != "parameter" and given not in found:
                        found[given] = None
                        waiting.append(given)
        return list(found)

    def calls_in(self, node: cst.CSTNode) -> Iterator[tuple[cst.Call, str]]:
        """The calls in an expression or statement, each with the full name of what is called: see `name`."""
        import libcst as cst

        from lint_rules.syntax.walk import walk

        for part in walk(node):
            if isinstance(part, cst.Call):
                yield part, self.name(part.func)

    def name(self, node: cst.BaseExpression) -> str:
        """The dotted name of an expression, through imports: `json.dumps` for `dumps` of `from json import dumps`.

        "" for what has none.
        """
        from lint_rules.syntax.expressions import dotted

        written = dotted(node)
        return "" if written is None else self._module.imports.resolve(written)

    # -- control flow ---------------------------------------------------------------------------------------------

    def way(
        self, start: cst.CSTNode, goal: Iterable[cst.CSTNode], avoiding: Iterable[cst.CSTNode] = ()
    ) -> list[cst.CSTNode] | None:
        """A way on from a node to one of some others of its function, by statement; None if each leads past `avoiding`.

        On it, tests agree with each other: behind `if not calls: return` there are calls.
        """
        scope = self._module.scope_of[start].function
        points = self._anatomy.points
        ways = self._anatomy.ways(scope)
        path = ways.path(points(scope, [start]), set(points(scope, goal)), set(points(scope, avoiding)))
        return None if path is None else [point.statement for point in path if point.statement is not None]

    # -- syntax ---------------------------------------------------------------------------------------------------

    def nodes(self, *kinds: type[Node]) -> list[Node]:
        """The nodes of exactly these types, in source order."""
        return [node for node in self._module.nodes_of(*kinds) if isinstance(node, kinds)]

    def function(self, node: cst.CSTNode) -> Function:
        """The function, lambda or module that a node runs in."""
        return _node(self._module.scope_of[node])

    def callee(self, call: cst.Call) -> Function | None:
        """The function of this file that a call runs, if it is one."""
        found = self._anatomy.facts.slots.callee(call)
        return None if found is None else _node(found)

    def text(self, node: cst.CSTNode, most: int = 60) -> str:
        """The code of a node in one line, for messages."""
        from lint_rules.syntax.expressions import source

        return source(node, most)

    def _in_order(self, found: Iterable[Found]) -> list[Found]:
        return sorted(found, key=lambda one: self._module.order[one.node])


def _node(scope: Scope) -> Function:
    node: Function = scope.function.node  # type: ignore[assignment]  # classes run no code that is asked about
    return node


def _reasons(evidence: Evidence) -> tuple[Reason, ...]:
    return tuple(Reason(fact.node, fact.reason) for fact in evidence.chain())
