"""What becomes of an error: who catches it, and whether anyone but a log learns of it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Container, Iterator
from enum import Enum

import libcst as cst

from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import last_statement, nodes_below, walk, walk_scope

_LOG_METHODS = frozenset(
    {
        "debug", "info", "warning", "warn", "error", "exception", "critical", "trace", "log", "print", "print_exc",
        "print_exception", "secho", "echo", "cprint", "pprint", "rule", "verbose", "success", "notice",
    }
)  # fmt: skip
_LEVELS = frozenset({"debug", "info", "warning", "exception", "critical"})
_LOG_OBJECTS = ("log", "logger", "logging", "console", "print", "traceback", "warnings", "stderr", "stdout", "debug")
_FIXED = (cst.SimpleString, cst.Name, cst.Tuple)


class Ending(Enum):
    """How a handler deals with the error it caught."""

    RAISES = "raises another exception"
    RERAISES = "raises it again"
    TELLS = "makes something of it"
    NEUTRAL = "puts a neutral value in its place"
    DROPS = "only logs or ignores it"


@record
class Handling:
    """A handler and how it ends. `neutral` is the value that takes the place of the failed one, `target` its name."""

    guard: cst.Try
    handler: cst.ExceptHandler
    ending: Ending
    neutral: cst.BaseExpression | None = None
    target: cst.BaseExpression | None = None


def is_logging(call: cst.Call) -> bool:
    """Whether a call only shows something to people: logging, printing, a console."""
    name = ex.called_name(call)
    if "print" in name or name.startswith(("log", "_log", "debug", "visualize", "visualise")):
        return True
    if type(call.func) is not cst.Attribute:
        return False
    if name in _LEVELS:
        return True
    if name not in _LOG_METHODS and name != "write":
        return False
    owner = (ex.dotted(call.func.value) or "").lower().removesuffix("()").rpartition(".")[2]
    return any(word in owner for word in _LOG_OBJECTS)


def is_neutral(value: cst.BaseExpression | None, names: Container[str] = ()) -> bool:
    """None, "", {}, [] and their constructors, dicts and tuples of them: values that look like data and say nothing.

    So do constants that have some `names`.
    """
    if value is None or (isinstance(value, cst.Name) and (value.value == "None" or value.value in names)):
        return True
    if isinstance(value, cst.SimpleString):
        return ex.text(value) in {"", "{}"}
    if isinstance(value, cst.Dict):
        return all(isinstance(part, cst.DictElement) and is_neutral(part.value, names) for part in value.elements)
    if isinstance(value, cst.Tuple):
        return all(is_neutral(part.value, names) for part in value.elements)
    if isinstance(value, cst.List):
        return not value.elements
    return isinstance(value, cst.Call) and ex.dotted(value.func) in {"dict", "list", "set", "str"} and not value.args


@kept
def _neutral_constants(module: SourceModule, top: Scope) -> frozenset[str]:
    """The names of a module that are bound once, to None, a text or a tuple that says nothing, and to nothing else."""
    bound = Counter(name for scope in module.functions if scope is not top for name in (*scope.bound, *scope.foreign))
    assigns = [node for node in top.nodes_of(cst.Assign, cst.AnnAssign) if node.value is not None]
    given = [(name, node.value) for node in assigns for target in ex.targets(node) for name in ex.target_names(target)]
    bound.update(name for name, _ in given)
    return frozenset(
        name for name, value in given if bound[name] == 1 and isinstance(value, _FIXED) and is_neutral(value)
    )


def of_nothing(is_it: Callable[[cst.BaseExpression], bool], part: cst.BaseExpression) -> bool | None:
    """What a part of a test gives where something has a neutral value: `it`, `it is None`, `it != {}`."""
    if is_it(part):
        return False
    if not isinstance(part, cst.Comparison) or len(part.comparisons) != 1:
        return None
    left, operator, right = ex.compared(part)
    if not is_it(left) or not is_neutral(right):
        return None
    same, other = isinstance(operator, (cst.Is, cst.Equal)), isinstance(operator, (cst.IsNot, cst.NotEqual))
    return same if same or other else None


def handle(module: SourceModule, guard: cst.Try, handler: cst.ExceptHandler, *, unread: bool = False) -> Handling:
    """How `handler` ends; where it raises only under a condition, how it ends without.

    A value that anything but a log gets to see counts as telling; `unread`: not what it returns, which nobody takes.
    """
    neutral: cst.BaseExpression | None = None
    target: cst.BaseExpression | None = None
    found_neutral = False
    constants = _neutral_constants(module, module.top)
    sometimes = () if _always_raises(handler.body) else nodes_below(handler.body, cst.Raise)
    passed_over = {part for node in (*sometimes, *_words_of_logs(module, handler)) for part in walk(node)}
    for node in walk_scope(handler.body):
        if node in passed_over:
            continue
        if isinstance(node, cst.Raise):
            return Handling(guard, handler, Ending.RERAISES if _is_generic(node.exc, handler) else Ending.RAISES)
        if isinstance(node, cst.Return):
            if not (is_neutral(node.value, constants) or unread):
                return Handling(guard, handler, Ending.TELLS)
            if node.value is not None and not unread:
                neutral, found_neutral = node.value, True
        elif isinstance(node, (cst.Assign, cst.AnnAssign)):
            if not is_neutral(node.value, constants) or node.value is None:
                return Handling(guard, handler, Ending.TELLS)
            neutral, found_neutral = node.value, True
            target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
        elif isinstance(node, cst.AugAssign) and isinstance(node.value, cst.Integer):
            continue  # how often it came says nothing of it
        elif isinstance(node, (cst.Yield, cst.AugAssign, cst.Del)) or (
            isinstance(node, cst.Call) and not _only_for_people(module, node, handler)
        ):
            return Handling(guard, handler, Ending.TELLS)
    if found_neutral:
        return Handling(guard, handler, Ending.NEUTRAL, neutral, target)
    return Handling(guard, handler, Ending.DROPS)


def _always_raises(body: cst.BaseSuite) -> bool:
    """Whether a block ends by a `raise`, whichever way through its last statement is taken."""
    last = last_statement(body)
    if type(last) is cst.With or (type(last) is cst.Try and not last.handlers):
        return _always_raises(last.body)
    while type(last) is cst.If and last.orelse is not None and _always_raises(last.body):
        if type(last.orelse) is cst.Else:
            return _always_raises(last.orelse.body)
        last = last.orelse
    return type(last) is cst.Raise


def _is_generic(raised: cst.BaseExpression | None, handler: cst.ExceptHandler) -> bool:
    """`raise`, also of what was caught, by its name, and `raise Exception(...)`: they tell callers no more than it."""
    named = raised.func if isinstance(raised, cst.Call) else raised
    caught = ex.dotted(handler.name.name) if handler.name is not None else None
    return named is None or ex.dotted(named) in {"Exception", "BaseException", caught}


def _words_of_logs(module: SourceModule, handler: cst.ExceptHandler) -> Iterator[cst.Assign]:
    """`text = f"failed: {exc}"` before `log.error(text)`: what is put into a name that only logs and errors read."""
    function = module.scope_of[handler].function
    for node in nodes_below(handler.body, cst.Assign):
        target = node.targets[0].target
        if isinstance(target, cst.Name) and target.value not in function.foreign and function.kind != "module":
            reads = [
                use for use in function.named(target.value) if not isinstance(module.parent[use], cst.AssignTarget)
            ]
            if reads and all(module.inside(use, handler) and _is_said(module, use, handler) for use in reads):
                yield node


def _is_said(module: SourceModule, use: cst.Name, handler: cst.ExceptHandler) -> bool:
    """Whether a name goes into a log, or into an error that is raised."""
    if shown_only(module, use):
        return True
    above = itertools.takewhile(lambda outer: outer is not handler, module.ancestors(use))
    return any(isinstance(outer, cst.Raise) for outer in above)


def _only_for_people(module: SourceModule, call: cst.Call, handler: cst.ExceptHandler) -> bool:
    """A log call, a call inside one (`logger.error(str(exc))`), or one that makes a neutral value."""
    if is_logging(call) or is_neutral(call) or ex.called_name(call) == "sleep":
        return True
    return shown_only(module, call, handler)


def shown_only(module: SourceModule, node: cst.CSTNode, within: cst.CSTNode | None = None) -> bool:
    """Whether the value of `node` goes straight into a log or print call."""
    for outer in module.ancestors(node):
        if outer is within or isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
        if isinstance(outer, cst.Call) and is_logging(outer):
            return True
    return False


JSON_ERRORS = frozenset({"JSONDecodeError", "ValueError", "JSONError", "DecodeError", "ValidationError"})
LITERAL_ERRORS = JSON_ERRORS | {"SyntaxError"}
ENCODE_ERRORS = frozenset({"TypeError", "ValueError", "OverflowError"})


def handling_of(
    module: SourceModule, node: cst.CSTNode, errors: frozenset[str], within: cst.CSTNode | None = None
) -> Handling | None:
    """What becomes of one of `errors` raised at `node`: the first handler inside `within` that does not pass it on."""
    for guard in exceptions.guards(module, node, within):
        handler = exceptions.handler_for(guard, errors)
        if handler is not None:
            handling = handle(module, guard, handler)
            if handling.ending is not Ending.RERAISES:
                return handling
    return None


def kept_by_gather(module: SourceModule, node: cst.CSTNode) -> bool:
    """`gather(..., return_exceptions=True)` hands errors over as values: also those of what has a name before."""
    for outer in module.ancestors(node):
        if isinstance(outer, cst.Call) and ex.called_name(outer) == "gather":
            return _keeps_errors(outer)
        if isinstance(outer, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            kept_ones = gathered(module, module.scope_of[node].function)
            names = {name for target in ex.assigned(outer) for name in ex.target_names(target)} & kept_ones.keys()
            return bool(names) and all(kept_ones[name] for name in names)
    return False


@kept
def gathered(module: SourceModule, function: Scope) -> dict[str, bool]:
    """The names of what a function gathers, `gather(*runs)`, and whether their errors are kept by all that do."""
    found: dict[str, bool] = {}
    for call in function.nodes_of(cst.Call):
        if ex.called_name(call) == "gather":
            for name in (ex.dotted(arg.value) for arg in call.args if arg.star == "*"):
                if name is not None:
                    found[name] = _keeps_errors(call) and found.get(name, True)
    return found


def _keeps_errors(gather: cst.Call) -> bool:
    told = ex.argument(gather, "return_exceptions")
    return told is not None and ex.dotted(told) == "True"


def retries(decorator: cst.BaseExpression) -> bool:
    """`@retry(...)`, `@tenacity.retry`, `@backoff.on_exception(...)`."""
    name = (ex.dotted(ex.uncalled(decorator)) or "").lower()
    return "retry" in name or name.startswith("backoff.") or name.rpartition(".")[2] == "on_exception"
