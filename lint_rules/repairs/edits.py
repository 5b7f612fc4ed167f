"""What a fix is made of: nodes to replace, blocks to change, names to import; and how that becomes a new tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import libcst as cst

from lint_rules.finding import Applicability, FixOffer
from lint_rules.repairs.imports import Import, add_imports
from lint_rules.syntax.module import SourceModule

Block = cst.IndentedBlock | cst.Module
Statement = cst.BaseStatement
Change = Callable[[list[Any]], list[Any]]
"""From the statements of a block to its new ones. Called with what other edits made of them, in the same order."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes of one tree. `claimed` nodes are used elsewhere in the new tree: nobody else may edit them meanwhile."""

    replaced: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    changed: dict[Block, Change] = field(default_factory=dict)
    claimed: frozenset[cst.CSTNode] = frozenset()
    imports: frozenset[Import] = frozenset()

    @property
    def places(self) -> Iterable[cst.CSTNode]:
        """The nodes that are edited."""
        return (*self.replaced, *self.changed, *self.claimed)

    def overlaps(self, other: Edits, module: SourceModule) -> bool:
        """Whether both edit one node, or one edits the inside of what the other replaces or uses."""
        if self.changed.keys() & other.changed.keys():
            return True
        return self._holds_place_of(other, module) or other._holds_place_of(self, module)

    def _holds_place_of(self, other: Edits, module: SourceModule) -> bool:
        mine = {*self.replaced, *self.claimed}
        return any(place in mine or not mine.isdisjoint(module.ancestors(place)) for place in other.places)


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of one finding. `build` is called only when the fix is wanted."""

    title: str
    applicability: Applicability
    build: Callable[[], Edits]

    @property
    def offer(self) -> FixOffer:
        return FixOffer(self.applicability, self.title)


class _OfFile(Protocol):
    @property
    def module(self) -> SourceModule: ...


_Asked = TypeVar("_Asked", bound=_OfFile)
_Rest = ParamSpec("_Rest")


def of_the_file(
    repair: Callable[Concatenate[_Asked, _Rest], Fix | None],
) -> Callable[Concatenate[_Asked, _Rest], Fix | None]:
    """Asks a repair only of code that stands in the file so: another form of it has no formatting, and is not fixed."""

    @wraps(repair)
    def asked(anatomy: _Asked, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> Fix | None:
        return None if anatomy.module.altered else repair(anatomy, *args, **kwargs)

    return asked


def apply(tree: cst.Module, edits: Sequence[Edits]) -> cst.Module:
    """The tree with edits that do not overlap; `tree` itself stays as it is."""
    changed = tree.visit(_Editor(edits))
    assert isinstance(changed, cst.Module)
    return add_imports(changed, sorted({wanted for edit in edits for wanted in edit.imports}))


class _Editor(cst.CSTTransformer):
    def __init__(self, edits: Sequence[Edits]) -> None:
        super().__init__()
        self._replaced = {node: new for edit in edits for node, new in edit.replaced.items()}
        self._changed: dict[cst.CSTNode, Change] = {node: new for edit in edits for node, new in edit.changed.items()}

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node not in self._replaced

    def on_leave(  # type: ignore[override]  # one answer for nodes of all types
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        if original_node in self._replaced:
            return self._replaced[original_node]
        if original_node in self._changed:
            assert isinstance(updated_node, (cst.IndentedBlock, cst.Module))
            return updated_node.with_changes(body=self._changed[original_node](list(updated_node.body)))
        return updated_node


# -- statements ---------------------------------------------------------------------------------------------------


def line_of(module: SourceModule, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
    """The line whose only statement holds `node`; None for parts of compound statements, and for `a; b`."""
    statement = module.statement(node)
    line = module.parent.get(statement)
    return line if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None


def block_of(module: SourceModule, statement: cst.CSTNode) -> Block | None:
    """The block a statement stands in; None for the body of `if x: y`."""
    block = module.parent.get(statement)
    return block if isinstance(block, (cst.IndentedBlock, cst.Module)) else None


def without_blank_lines(statement: Any) -> Any:
    """A statement with the comments above it, and no empty lines."""
    comments = [line for line in statement.leading_lines if line.comment is not None]
    return statement.with_changes(leading_lines=comments)


def comments_of(line: Any) -> list[cst.EmptyLine]:
    """The comments above a line of statements and behind it, for what takes its place: each on a line of its own."""
    behind = line.trailing_whitespace.comment
    above = [line for line in line.leading_lines if line.comment is not None]
    return [*above, *([cst.EmptyLine(comment=behind)] if behind is not None else [])]


def blank_lines(statement: Any) -> list[cst.EmptyLine]:
    """The empty lines above a statement (and above its comments)."""
    above: list[cst.EmptyLine] = []
    for line in statement.leading_lines:
        if line.comment is not None:
            break
        above.append(line)
    return above


def put_before(statements: list[Any], at: int, new: Any) -> list[Any]:
    """Statements with a new one before the one at an index, whose empty lines stand above both."""
    first = with_blank_lines(new, blank_lines(statements[at]))
    return [*statements[:at], first, without_blank_lines(statements[at]), *statements[at + 1 :]]


def with_blank_lines(statement: Any, lines: list[cst.EmptyLine]) -> Any:
    """A statement with empty lines above it, unless it has some."""
    if not lines or blank_lines(statement):
        return statement
    return statement.with_changes(leading_lines=[*lines, *statement.leading_lines])


def wrapped_in(manager: cst.BaseExpression, block: cst.IndentedBlock, span: range, *, is_async: bool) -> Change:
    """`with manager:` around the statements of a block with these indices."""

    def wrapped(statements: list[Any]) -> list[Any]:
        first, *rest = statements[span.start : span.stop]
        guarded = cst.With(
            items=[cst.WithItem(manager)],
            body=cst.IndentedBlock([first.with_changes(leading_lines=[]), *rest], indent=block.indent),
            asynchronous=cst.Asynchronous() if is_async else None,
            leading_lines=first.leading_lines,
        )
        return [*statements[: span.start], guarded, *statements[span.stop :]]

    return wrapped
