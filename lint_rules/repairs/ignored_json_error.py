"""AGL501: the tool call whose arguments cannot be parsed is answered with the error, and the loop goes on.

Only where the loop itself shows how a call is answered: it ends in one tool message for each call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Handling
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.repairs.edits import Edits, Fix, comments_of, line_of, of_the_file
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_IDENTITIES = ("tool_call_id", "call_id")
_CONTENTS = ("content", "output")
_NEW_NAMES = ("error", "problem", "failure", "json_error", "looplint_error")
_TEXT = "Error: the arguments are not valid JSON"
_TITLE = "answer the call with the error"


@of_the_file
def repair(anatomy: Anatomy, call: cst.Call, handling: Handling | None) -> Fix | None:
    """Answer the call with the error: in the handler there is, or in a new one around the statement that parses."""
    if _does_more(anatomy, call) or (handling is not None and not isinstance(handling.guard, cst.Try)):
        return None
    guard = handling.guard if handling is not None and isinstance(handling.guard, cst.Try) else None
    loop = _loop(anatomy, call, guard)
    answer = _Answer.of(anatomy, loop, call) if loop is not None else None
    if answer is None:
        return None
    if handling is not None:
        return answer.in_handler(handling)
    return answer.around(call)


def _does_more(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether the statement calls something else, too, whose errors would pass for errors of the arguments."""
    statement = anatomy.module.statement(call)
    return any(isinstance(node, cst.Call) and not anatomy.module.inside(node, call) for node in walk(statement))


def _loop(anatomy: Anatomy, call: cst.Call, guard: cst.Try | None) -> cst.For | None:
    """The loop over tool calls that the parse stands in: directly, or in a `try` that does nothing else."""
    module = anatomy.module
    outer: cst.CSTNode | None = line_of(module, call)
    if guard is not None:
        alone = isinstance(guard.body, cst.IndentedBlock) and list(guard.body.body) == [outer]
        if not alone or len(guard.handlers) != 1 or guard.orelse is not None or guard.finalbody is not None:
            return None
        outer = guard
    block = module.parent.get(outer) if outer is not None else None
    loop = module.parent.get(block) if isinstance(block, cst.IndentedBlock) else None
    if not isinstance(loop, cst.For) or loop.body is not block:
        return None
    targets = [node for node in walk(loop.target) if isinstance(node, cst.Name)]
    return loop if any(anatomy.facts.is_kind(name, Kind.CALL) for name in targets) else None


class _Answer:
    """The statement that answers a call in a loop, and what to make of it when the parse fails."""

    def __init__(self, anatomy: Anatomy, loop: cst.For, line: cst.SimpleStatementLine, content: cst.CSTNode) -> None:
        self.anatomy = anatomy
        self.loop = loop
        self.line = line
        self.content = content

    @staticmethod
    def of(anatomy: Anatomy, loop: cst.For, call: cst.Call) -> _Answer | None:
        """The only tool message that the loop adds in each of its turns, after the parse."""
        found = []
        for line in loop.body.body:
            if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 and isinstance(line.body[0], cst.Expr):
                message = _message(line.body[0].value)
                content = _content(message) if message is not None else None
                if content is not None and anatomy.module.before(call, line):
                    found.append(_Answer(anatomy, loop, line, content))
        return found[0] if len(found) == 1 and found[0]._can_be_given_early(call) else None

    def _can_be_given_early(self, call: cst.Call) -> bool:
        """Whether all that the message names, but its content, is known before the parse."""
        module = self.anatomy.module
        late = {
            name
            for node in walk(self.loop.body)
            if not module.before(node, call) or module.inside(call, node)
            for name in _bound_by(node)
        }
        used = {
            node.value
            for node in walk(self.line)
            if isinstance(node, cst.Name) and not module.inside(node, self.content)
        }
        identified = any(name in used for name in ex.target_names(self.loop.target))
        return identified and not used & late

    # -- the two ways -----------------------------------------------------------------------------------------

    def around(self, call: cst.Call) -> Fix | None:
        """`try: args = json.loads(...)` with a handler."""
        line = line_of(self.anatomy.module, call)
        block = self.loop.body
        if line is None or not isinstance(line.body[0], (cst.Assign, cst.AnnAssign)) or self._name_taken("exc"):
            return None
        index = list(block.body).index(line)
        assert isinstance(block, cst.IndentedBlock)

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
            told, answer, goes_on = self._statements(bound)
            told = told.with_changes(leading_lines=[note for line in dropped for note in comments_of(line)])
            lines = [*kept, told, answer, jump or goes_on]
            new = handler.with_changes(body=body.with_changes(body=lines))
            if name is None and bound is not None:
                new = new.with_changes(name=cst.AsName(cst.Name(bound)))
            return Edits(replaced={handler: new}, claimed=frozenset({self.line}))

        return Fix(_TITLE, "unsafe", build)

    # -- parts ------------------------------------------------------------------------------------------------

    def _statements(self, error: str | None) -> list[cst.SimpleStatementLine]:
        """The text of the error, the answer with it, and `continue`."""
        text = cst.parse_expression(f'f"{_TEXT}: {{{error}}}"' if error is not None else f'"{_TEXT}"')
        name = cst.Name(self._content_name())
        told = cst.Assign([cst.AssignTarget(name)], text)
        answer = self.line.deep_replace(self.content, name)
        assert isinstance(answer, cst.SimpleStatementLine)
        plain = answer.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
        return [cst.SimpleStatementLine([told]), plain, cst.SimpleStatementLine([cst.Continue()])]

    def _content_name(self) -> str:
        """The variable that the message takes its content from, or a new one."""
        if isinstance(self.content, cst.Name) and self._is_plainly_bound(self.content.value):
            return self.content.value
        return next(name for name in _NEW_NAMES if not self._name_taken(name))

    def _is_plainly_bound(self, name: str) -> bool:
        """Whether the loop assigns a name, and no annotation insists on being the first to do so."""
        binding = [node for node in walk(self.loop.body) if name in _bound_by(node)]
        return bool(binding) and not any(isinstance(node, cst.AnnAssign) for node in binding)

    def _error(self, call: cst.Call) -> cst.BaseExpression:
        """What the parser raises: `json.JSONDecodeError`, by the name under which the file knows `json`."""
        imports = self.anatomy.module.imports
        if imports.resolve(ex.dotted(call.func) or "") == "ast.literal_eval":
            return cst.parse_expression("(ValueError, SyntaxError)")
        if isinstance(call.func, cst.Attribute) and imports.resolve(ex.dotted(call.func) or "") == "json.loads":
            return cst.Attribute(call.func.value, cst.Name("JSONDecodeError"))
        return cst.Name("ValueError")

    def _name_taken(self, name: str) -> bool:
        function = self.anatomy.module.scope_of[self.loop].function
        return any(not self._is_handlers(node) for node in function.named(name))

    def _is_handlers(self, node: cst.CSTNode) -> bool:
        """Whether a name lives in an `except ... as name` of its own: a second one does it no harm."""
        return any(isinstance(outer, cst.ExceptHandler) for outer in self.anatomy.module.ancestors(node))


def _message(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """The message in `history.append(message)`, `self._push(message)`, `await add(message)`."""
    value = value.expression if isinstance(value, cst.Await) else value
    if not isinstance(value, cst.Call) or len(value.args) != 1 or value.args[0].star:
        return None
    return value.args[0].value


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
