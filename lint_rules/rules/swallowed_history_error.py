"""# swallowed-history-error (AGL607)

## What it does
Reports an error of loading or storing a history that is caught, and of which nobody learns: the handler passes, or
shows it where nobody looks (debug, info, warning, print). Also a handler that puts an empty history in the place of
one that could not be read, when that is written over the store later.

## Why is this bad
The conversation in memory and the stored one drift apart, and no one notices before the next start: turns are gone, or
a tool result stands there without its call and the API refuses the history. In the second form one failed read
destroys what all turns before have stored.

## Example
```python
import json


def remember(path, message):
    try:
        with open(path) as file:
            messages = json.load(file)
    except Exception:
        messages = []
    messages.append({"role": "assistant", "content": message})
    with open(path, "w") as file:
        json.dump(messages, file)
```

## Use instead
```python
import json


def remember(path, message):
    try:
        with open(path) as file:
            messages = json.load(file)
    except FileNotFoundError:
        messages = []
    messages.append({"role": "assistant", "content": message})
    with open(path, "w") as file:
        json.dump(messages, file)
```

## How it decides
The `try` holds a call that loads or stores a known history, a message, or something that holds them: by `json.dump`
and its like into a file, a method of a store, or a function of the file that does so. Its handler takes every error,
or one of files, databases and decoders. Errors that are logged with `error`, `exception` or `critical`, raised,
returned, counted or answered by other work are no finding; nor is a file that is not there yet.

## Known problems
What a store in another file does is known by its name only. A store that is a mere copy for people (an export, a
transcript) looks the same as the one that is loaded again.

## Fix safety
Unsafe: where the handler does nothing but log or pass, it logs the error with its traceback and raises it again. Where
an empty history takes the place there is no fix.

## References
- Python standard library, logging: `Logger.exception` logs the error with its traceback
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending
from lint_rules.anatomy.turns.storing import Storing, Transfer
from lint_rules.anatomy.values.slots import Slot
from lint_rules.repairs.swallowed_history_error import repair
from lint_rules.rules.draft import Draft, Note
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk, walk_scope

_LOUD = frozenset({"error", "exception", "critical", "fatal", "print_exc", "print_exception", "format_exc"})
_FAILING = exceptions.CATCH_ALL | {
    "OSError", "IOError", "PermissionError", "ValueError", "JSONDecodeError", "UnicodeDecodeError", "UnpicklingError",
    "YAMLError", "Error", "DatabaseError", "OperationalError", "IntegrityError", "SQLAlchemyError", "RedisError",
    "ConnectionError",
}  # fmt: skip
_MOST_STATEMENTS = 8
"""In a `try` that is about loading or storing; a longer one guards something larger."""


def check(anatomy: Anatomy) -> Iterator[Draft]:
    storing = Storing(anatomy)
    for guard in anatomy.module.nodes_of(cst.Try):
        transfers = [t for t in storing.within(guard.body) if anatomy.module.scope_of[t.node].function
                     is anatomy.module.scope_of[guard].function]  # fmt: skip
        if not transfers or _does_more(anatomy, guard) or _is_retried(anatomy, guard):
            continue
        if any(inner is not guard and anatomy.module.inside(transfers[0].node, inner.body)
               for inner in walk(guard.body) if isinstance(inner, cst.Try)):  # fmt: skip
            continue
        for handler in guard.handlers:
            if exceptions.caught(handler) & _FAILING:
                yield from _swallowed(anatomy, guard, handler, transfers[0])


def _does_more(anatomy: Anatomy, guard: cst.Try) -> bool:
    """A `try` around a whole turn, or a long stretch of a program, is another matter."""
    asks = any(type(node) is cst.Call and anatomy.calls.asks(node) for node in walk(guard.body))
    return asks or sum(isinstance(node, cst.BaseSmallStatement) for node in walk(guard.body)) > _MOST_STATEMENTS


def _is_retried(anatomy: Anatomy, guard: cst.Try) -> bool:
    """An attempt in a loop of attempts: the error is met by the next one."""
    for outer in anatomy.module.ancestors(guard):
        if isinstance(outer, cst.For) and "attempt" in ex.source(outer.target) + ex.source(outer.iter, 80):
            return True
        if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
            return False
    return False


def _swallowed(anatomy: Anatomy, guard: cst.Try, handler: cst.ExceptHandler, transfer: Transfer) -> Iterator[Draft]:
    handling = handlers.handle(anatomy.module, guard, handler)
    what = f"`{transfer.held}`"
    note = Note(transfer.node, f"{'loads' if transfer.way == 'load' else 'stores'} {what}")
    if handling.ending is Ending.NEUTRAL and transfer.way == "load":
        over = _written_over(anatomy, handling.target, guard)
        if over is not None:
            message = (
                "any failed read passes for an empty history here, and that is written over the stored one:"
                " all turns so far are destroyed"
            )
            cure = "catch FileNotFoundError alone for the first start, and let other errors stop the write"
            yield Draft(handler, message, cure, (note, Note(over, "the store is written again here")))
        elif not _tells(handler, loud_only=False):
            message = _not_loaded(handler)
            yield Draft(handler, message, "log the error with its traceback, and raise it or tell the user", (note,))
    elif handling.ending is Ending.DROPS and not _tells(handler, loud_only=transfer.way == "store"):
        message = (
            f"an error of storing {what} {_ends(handler)}: the conversation goes on, and is gone at the next start"
            if transfer.way == "store"
            else _not_loaded(handler)
        )
        cure = "log the error with its traceback (`log.exception`), and raise it or tell the user"
        yield Draft(handler, message, cure, (note,), fix=repair(anatomy, handler))


def _logged(handler: cst.ExceptHandler) -> str | None:
    """The call that notes the error, below the level of an error: `logger.warning`, `print`. None if there is none."""
    calls = (node for node in walk_scope(handler.body) if isinstance(node, cst.Call) and handlers.is_logging(node))
    return next((ex.dotted(call.func) or ex.called_name(call) for call in calls), None)


def _ends(handler: cst.ExceptHandler) -> str:
    logged = _logged(handler)
    return "ends here unseen" if logged is None else f"ends in `{logged}`"


def _not_loaded(handler: cst.ExceptHandler) -> str:
    logged = _logged(handler)
    who = "nobody learns of it" if logged is None else f"only `{logged}` learns of it"
    return f"when the history cannot be loaded, {who}: the model starts without what was said"


def _tells(handler: cst.ExceptHandler, *, loud_only: bool) -> bool:
    """Whether the handler shows the error to people: as an error, or (for loads) as a warning, too."""
    for node in walk_scope(handler.body):
        if isinstance(node, cst.Call) and handlers.is_logging(node):
            name = ex.called_name(node)
            if name in _LOUD or any(arg.keyword is not None and arg.keyword.value == "exc_info" for arg in node.args):
                return True
            if not loud_only and name not in {"debug", "trace", "verbose"}:
                return True
    return False


def _written_over(anatomy: Anatomy, target: cst.BaseExpression | None, guard: cst.Try) -> cst.CSTNode | None:
    """Where what the handler has emptied is written to a store: after it in the function, or anywhere by attribute."""
    slot = anatomy.facts.slots.of(target) if target is not None else None
    function = anatomy.module.scope_of[guard].function
    if slot is None or function.kind == "class":
        return None
    flow = anatomy.flow(function)
    parent = anatomy.module.parent
    for call in anatomy.module.nodes_of(cst.Call):
        if not _overwrites(anatomy, call) or not any(_is_or_holds(anatomy, arg.value, slot) for arg in call.args):
            continue
        if slot[0] != "var":
            return call
        if anatomy.module.scope_of[call].function is function and not anatomy.module.inside(call, guard):
            if flow.reaches(flow.enclosing(guard.body, parent) or flow.at(guard), flow.enclosing(call, parent)):
                return call
    return None


def _overwrites(anatomy: Anatomy, call: cst.Call) -> bool:
    full = anatomy.module.imports.resolve(ex.dotted(call.func) or "")
    return full in {"json.dump", "pickle.dump", "yaml.dump", "yaml.safe_dump"} or ex.called_name(call) in {
        "write_text", "write", "write_bytes",
    }  # fmt: skip


def _is_or_holds(anatomy: Anatomy, value: cst.BaseExpression, slot: Slot) -> bool:
    return any(isinstance(n, (cst.Name, cst.Attribute)) and anatomy.facts.slots.of(n) == slot for n in walk(value))
