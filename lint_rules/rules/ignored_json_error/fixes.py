"""AGL501: the tool call whose arguments cannot be parsed is answered with the error, and nothing else happens to it.

Only where the code shows how the call would be answered: by a tool message that the loop over the calls adds behind the
parse, or that the function which serves one call returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Handling
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.repairs.edits import Edits, Fix, block_of, comments_of, line_of, of_the_file
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.graph import Point
from lint_rules.syntax.walk import walk

_IDENTITIES = ("tool_call_id", "call_id")
_CONTENTS = ("content", "output")
_NEW_NAMES = ("error", "problem", "failure", "json_error", "looplint_error")
_GROWING = frozenset({"append", "extend", "insert"})
_ERRORS = {"ast.literal_eval": "(ValueError, SyntaxError)", "eval": "Exception"}
_TEXT = "Error: the arguments are not valid JSON"
_TITLE = "answer the call with the error"


@of_the_file
def repair(anatomy: Anatomy, call: cst.Call, handling: Handling | None) -> Fix | None:
    """Answer the call with the error: in the handler there is, or in a new one around the statement that parses."""
    if _does_more(anatomy, call):
        return None
    line = line_of(anatomy.module, call)
    if line is None or (handling is not None and not _does_nothing_else(handling.guard, line)):
        return None
    answer = _answer_to(anatomy, call)
    if answer is None:
        return None
    return answer.in_handler(handling) if handling is not None else answer.around(call)


def _does_more(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether the statement calls something else, too, whose errors would pass for errors of the arguments."""
    statement = anatomy.module.statement(call)
    return any(isinstance(node, cst.Call) and not anatomy.module.inside(node, call) for node in walk(statement))


def _does_nothing_else(guard: cst.Try, line: cst.SimpleStatementLine) -> bool:
    """Whether a `try` is there for one line only, and has one handler."""
    alone = isinstance(guard.body, cst.IndentedBlock) and list(guard.body.body) == [line]
    return alone and len(guard.handlers) == 1 and guard.orelse is None and guard.finalbody is None


def _answer_to(anatomy: Anatomy, call: cst.Call) -> _Answer | None:
    """The tool message that a way from the parse comes to; None where one may be given before the parse."""
    region = _served_by(anatomy, call)
    found = [_Answer(anatomy, region, *told) for told in _told(anatomy, region)] if region is not None else []
    if any(answer.comes_before(call) for answer in found):
        return None
    found = [answer for answer in found if not answer.is_stored_with_more({other.line for other in found})]
    return next((answer for answer in found if answer.comes_behind(call) and answer.can_be_given_at(call)), None)


def _served_by(anatomy: Anatomy, call: cst.Call) -> cst.For | cst.FunctionDef | None:
    """The loop over tool calls that the parse stands in; the function that serves one call, where there is no loop."""
    for outer in anatomy.module.ancestors(call):
        if isinstance(outer, cst.For):
            targets = [node for node in walk(outer.target) if isinstance(node, cst.Name)]
            return outer if any(anatomy.facts.is_kind(name, Kind.CALL) for name in targets) else None
        if isinstance(outer, cst.FunctionDef):
            return outer
        if isinstance(outer, (cst.While, cst.Lambda, cst.CompFor)):
            return None
    return None


def _told(
    anatomy: Anatomy, region: cst.For | cst.FunctionDef
) -> list[tuple[cst.SimpleStatementLine, cst.BaseExpression]]:
    """The lines that answer a call, each with what it says to the model.

    In a loop those that store a message; of a function all that it returns, or callers may want something else.
    """
    function, is_loop = anatomy.module.scope_of[region.body].function, isinstance(region, cst.For)
    found = []
    for node in anatomy.module.nodes_inside(region.body, function, cst.Expr, cst.Return):
        if isinstance(node, cst.Expr) is not is_loop:
            continue
        store = _store(node)
        given = store.args if store is not None else ()
        message = node.value if not is_loop else given[0].value if len(given) == 1 and not given[0].star else None
        content, line = _content(message) if message is not None else None, line_of(anatomy.module, node)
        if content is not None and line is not None:
            found.append((line, content))
        elif not is_loop:
            return []
    return found


class _Answer:
    """The line that answers a call, and what to make of it when the parse fails.

    `region` is the loop over the calls, which goes on then, or the function that serves one call, which returns.
    """

    def __init__(
        self,
        anatomy: Anatomy,
        region: cst.For | cst.FunctionDef,
        line: cst.SimpleStatementLine,
        content: cst.BaseExpression,
    ) -> None:
        self.anatomy = anatomy
        self.region = region
        self.line = line
        self.content = content
        self.graph = anatomy.flow(anatomy.module.scope_of[line].function)

    def comes_before(self, call: cst.Call) -> bool:
        """Whether the call may be answered by then."""
        return self._leads(self.line.body[0], call)

    def comes_behind(self, call: cst.Call) -> bool:
        return self._leads(call, self.line.body[0])

    def _leads(self, one: cst.CSTNode, other: cst.CSTNode) -> bool:
        return self.graph.reaches(self._points(one), self._points(other), self.graph.at(self.region))

    def is_stored_with_more(self, answers: set[cst.SimpleStatementLine]) -> bool:
        """Whether the loop stores other messages, too, in the list of the answer: this one may need them before it."""
        store = _store(self.line.body[0])
        if store is None:
            return False
        module, function = self.anatomy.module, self.anatomy.module.scope_of[self.line].function
        others = (
            node for node in module.nodes_inside(self.region.body, function, cst.Call) if _stores_alike(node, store)
        )
        return any(line_of(module, node) not in answers for node in others)

    def can_be_given_at(self, call: cst.Call) -> bool:
        """Whether all that the message names, but its content, has its value when the arguments are parsed."""
        module = self.anatomy.module
        named = (node for node in walk(self.line) if isinstance(node, cst.Name))
        used = {node.value for node in named if not module.inside(node, self.content)}
        targets = ex.target_names(self.region.target) if isinstance(self.region, cst.For) else []
        if targets and used.isdisjoint(targets):
            return False
        binding = [node for node in walk(self.region.body) if not used.isdisjoint(_bound_by(node))]
        return all(self._is_bound(node, call) for node in binding)

    def _is_bound(self, node: cst.CSTNode, call: cst.Call) -> bool:
        """Whether a name is bound on every way to the parse."""
        bound, here = self._points(node), self._points(call)
        dominated = all(any(self.graph.dominates(point, at) for point in bound) for at in here)
        return dominated and not self.anatomy.module.inside(call, node)

    def _points(self, node: cst.CSTNode) -> list[Point]:
        return self.graph.enclosing(node, self.anatomy.module.parent)

    # -- the two ways -----------------------------------------------------------------------------------------

    def around(self, call: cst.Call) -> Fix | None:
        """`try: args = json.loads(...)` with a handler."""
        line = line_of(self.anatomy.module, call)
        block = block_of(self.anatomy.module, line) if line is not None else None
        if line is None or not isinstance(block, cst.IndentedBlock) or self._name_taken("exc"):
            return None
        if not isinstance(line.body[0], (cst.Assign, cst.AnnAssign)):
            return None
        index = list(block.body).index(line)

        def guarded(statements: list[Any]) -> list[Any]:
            parsed = statements[index]
            handler = cst.ExceptHandler(
                cst.IndentedBlock(self._statements("exc"), indent=block.indent),
                type=self._error(call),
                name=cst.AsName(cst.Name("exc")),
            )
            body = cst.IndentedBlock([parsed.with_changes(leading_lines=[])], indent=block.indent)
            guard = cst.Try(body, [handler], leading_lines=parsed.leading_lines)
            return [*statements[:index], guard, *statements[index + 1 :]]

        return Fix(_TITLE, "unsafe", lambda: Edits(changed={block: guarded}, claimed=frozenset({self.line})))

    def in_handler(self, handling: Handling) -> Fix | None:
        """The answer in place of what the handler does; what it logs stays, and all comments."""
        handler = handling.handler
        if not isinstance(handler, cst.ExceptHandler):
            return None
        name = exceptions.bound_name(handler)
        body = handler.body
        if not isinstance(body, cst.IndentedBlock) or any(not _is_simple(line) for line in body.body):
            return None
        if name is None and handler.type is not None and self._name_taken("exc"):
            return None
        kept = [line for line in body.body if _is_logging(line)]
        jump = next((line for line in body.body if _is_continue(line)), None)
        dropped = [line for line in body.body if line not in kept and line is not jump]
        bound = name or ("exc" if handler.type is not None else None)

        def build() -> Edits:
            told, answer, *goes_on = self._statements(bound)
            told = told.with_changes(leading_lines=[note for line in dropped for note in comments_of(line)])
            lines = [*kept, told, answer, *([jump] if jump is not None else goes_on)]
            new = handler.with_changes(body=body.with_changes(body=lines))
            if name is None and bound is not None:
                new = new.with_changes(name=cst.AsName(cst.Name(bound)))
            return Edits(replaced={handler: new}, claimed=frozenset({self.line}))

        return Fix(_TITLE, "unsafe", build)

    # -- parts ------------------------------------------------------------------------------------------------

    def _statements(self, error: str | None) -> list[cst.SimpleStatementLine]:
        """The text of the error, the answer with it, and `continue` in a loop."""
        text = cst.parse_expression(f'f"{_TEXT}: {{{error}}}"' if error is not None else f'"{_TEXT}"')
        name = cst.Name(self._content_name())
        told = cst.Assign([cst.AssignTarget(name)], text)
        answer = self.line.deep_replace(self.content, name)
        assert isinstance(answer, cst.SimpleStatementLine)
        plain = answer.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
        goes_on = [cst.SimpleStatementLine([cst.Continue()])] if isinstance(self.region, cst.For) else []
        return [cst.SimpleStatementLine([told]), plain, *goes_on]

    def _content_name(self) -> str:
        """The variable that the message takes its content from, or a new one."""
        if isinstance(self.content, cst.Name) and self._is_plainly_bound(self.content.value):
            return self.content.value
        return next(name for name in _NEW_NAMES if not self._name_taken(name))

    def _is_plainly_bound(self, name: str) -> bool:
        """Whether the loop assigns a name, and no annotation insists on being the first to do so."""
        binding = [node for node in walk(self.region.body) if name in _bound_by(node)]
        return bool(binding) and not any(isinstance(node, cst.AnnAssign) for node in binding)

    def _error(self, call: cst.Call) -> cst.BaseExpression:
        """What the parser raises: `json.JSONDecodeError`, by the name under which the file knows `json`."""
        called = ex.dotted(call.func) or ""
        meant = self.anatomy.module.imports.resolve(called) or called
        if isinstance(call.func, cst.Attribute) and meant == "json.loads":
            return cst.Attribute(call.func.value, cst.Name("JSONDecodeError"))
        return cst.parse_expression(_ERRORS.get(meant, "ValueError"))

    def _name_taken(self, name: str) -> bool:
        """A second `except ... as name` is no harm."""
        module = self.anatomy.module
        return not all(map(module.in_handler, module.scope_of[self.line].function.named(name)))


def _store(line: cst.CSTNode) -> cst.Call | None:
    """The call that stores a message: `history.append(message)`, `await add(message)`; None for what returns it."""
    value = line.value if isinstance(line, cst.Expr) else None
    value = value.expression if isinstance(value, cst.Await) else value
    return value if isinstance(value, cst.Call) else None


def _stores_alike(call: cst.Call, store: cst.Call) -> bool:
    """Whether a call grows the list that another one grows: `messages.extend(...)` beside `messages.append(...)`."""
    if {ex.called_name(call), ex.called_name(store)} <= _GROWING:
        one, other = ex.receiver(call), ex.receiver(store)
        return one is not None and other is not None and ex.source(one, 500) == ex.source(other, 500)
    return ex.source(call.func, 500) == ex.source(store.func, 500)


def _content(message: cst.BaseExpression) -> cst.BaseExpression | None:
    """What is said to the model in `{"tool_call_id": ..., "content": ...}` or `ToolMessage(content=...)`."""
    items = ex.dict_items(message)
    if isinstance(message, cst.Call):
        items = ex.keywords(message)
    if isinstance(message, cst.Dict) and len(items) != len(message.elements):
        return None
    if not any(key in items for key in _IDENTITIES):
        return None
    return next((items[key] for key in _CONTENTS if key in items), None)


def _bound_by(node: cst.CSTNode) -> Iterator[str]:
    """The names a statement binds."""
    if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr)):
        yield from ex.target_names(node.target)
    elif isinstance(node, cst.AsName):
        yield from ex.target_names(node.name)


def _is_simple(line: cst.CSTNode) -> bool:
    """A statement that may go, or stay: a log call, an assignment, `pass`, `continue`."""
    return isinstance(line, cst.SimpleStatementLine) and all(
        isinstance(part, (cst.Pass, cst.Continue, cst.Assign, cst.AnnAssign, cst.Expr)) for part in line.body
    )


def _is_continue(line: cst.CSTNode) -> bool:
    return isinstance(line, cst.SimpleStatementLine) and [type(part) for part in line.body] == [cst.Continue]


def _is_logging(line: Any) -> bool:
    return all(
        isinstance(part, cst.Expr) and isinstance(part.value, cst.Call) and handlers.is_logging(part.value)
        for part in line.body
    )
