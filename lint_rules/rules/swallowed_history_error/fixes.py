"""AGL607: the handler logs the error with its traceback and raises it again."""

from __future__ import annotations

from typing import Any

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.repairs.edits import Edits, Fix, of_the_file
from lint_rules.syntax import expressions as ex

_LEVELS = frozenset({"debug", "info", "warning", "warn"})
_TEXT = "could not load or store the history"


@of_the_file
def repair(anatomy: Anatomy, handler: cst.ExceptHandler) -> Fix | None:
    """Only where the handler passes, or logs with a logger of the file: what it does besides nobody knows."""
    body = handler.body
    logger = _logger(anatomy)
    if not isinstance(body, cst.IndentedBlock) or not all(map(_is_quiet, body.body)):
        return None
    calls = [call for line in body.body if (call := _log_call(line)) is not None]
    loud = next((call for call in calls if call.args and ex.called_name(call) in _LEVELS), None)
    if (loud is None and logger is None) or (len(calls) < len(body.body) and _says_why(anatomy, handler)):
        return None  # a comment says why: a person must look
    return Fix(
        "log the error and raise it again", "unsafe", lambda: Edits(replaced={handler: _raising(handler, logger)})
    )


def _is_quiet(line: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    """`pass`, or a log call."""
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return False
    return isinstance(line.body[0], cst.Pass) or _log_call(line) is not None


def _says_why(anatomy: Anatomy, handler: cst.ExceptHandler) -> bool:
    """Whether a comment stands in the body of a handler."""
    span = anatomy.module.positions.span(handler)
    return any("#" in line for line in anatomy.module.text.splitlines()[span.line : span.end_line])


def _raising(handler: cst.ExceptHandler, logger: str | None) -> cst.ExceptHandler:
    lines: list[Any] = []
    logged = False
    for line in handler.body.body:
        call = _log_call(line)
        if call is not None and call.args and ex.called_name(call) in _LEVELS and not logged:
            assert isinstance(line, cst.SimpleStatementLine)
            lines.append(_loud(line, call))
            logged = True
        elif call is not None:
            lines.append(line)
    if not logged:
        lines.append(cst.parse_statement(f'{logger}.exception("{_TEXT}")'))
    lines.append(cst.SimpleStatementLine([cst.Raise()]))
    return handler.with_changes(body=handler.body.with_changes(body=lines))


def _log_call(line: cst.BaseStatement | cst.BaseSmallStatement) -> cst.Call | None:
    part = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call) and handlers.is_logging(part.value):
        return part.value
    return None


def _loud(line: cst.SimpleStatementLine, call: cst.Call) -> cst.SimpleStatementLine:
    """`log.debug(...)` as `log.exception(...)`."""
    assert isinstance(call.func, cst.Attribute)
    changed = line.deep_replace(call.func, call.func.with_changes(attr=cst.Name("exception")))
    assert isinstance(changed, cst.SimpleStatementLine)
    return changed


def _logger(anatomy: Anatomy) -> str | None:
    """The name of the file's logger: `log = logging.getLogger(...)` at its top."""
    for node in anatomy.module.nodes_of(cst.Assign):
        if anatomy.module.scope_of[node] is anatomy.module.top and isinstance(node.value, cst.Call):
            if ex.called_name(node.value) in {"getLogger", "get_logger"}:
                names = ex.target_names(node.targets[0].target)
                if names:
                    return names[0]
    return None
