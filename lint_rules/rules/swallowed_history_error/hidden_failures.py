"""Errors of loading or storing a history that a handler swallows: nobody is told, or the history is written over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program import handlers
from lint_rules.anatomy.program.handlers import Ending, Handling
from lint_rules.anatomy.turns.lasting import is_begun_anew
from lint_rules.anatomy.turns.locations import Place
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.slots import Slot, is_parameter
from lint_rules.obligations.storing import Storing, Transfer
from lint_rules.rules.swallowed_history_error.first_values import as_made
from lint_rules.syntax import exceptions
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import nodes_below, walk, walk_scope

_LOUD = frozenset({"error", "exception", "critical", "fatal", "print_exc", "print_exception", "format_exc"})
_ABSENT = re.compile(r"NotFound|DoesNotExist|NoSuch|^KeyError$|^StopIteration$|Cancel|Interrupt|Exit|Timeout$")
"""Errors that say that nothing is there yet, or that somebody wants the program to stop."""
_GIVING = (cst.Assign, cst.AnnAssign, cst.Return)
_NOWHERE: cst.CSTNode | None = None
_ANEW = frozenset({"now", "utcnow", "today", "time", "time_ns", "strftime", "uuid4", "uuid1", "token_hex"})
"""What gives another value each time. Source: Python documentation, `datetime`, `time`, `uuid`, `secrets`."""
_SHOWING = frozenset({"print", "echo", "secho"})


@record
class HiddenFailure:
    """`handler` takes an error of `transfer`; an empty history takes the place of the one that could not be loaded.

    `replaced` says whether it does, and `over` is where that is written to the store.
    """

    handler: cst.ExceptHandler
    transfer: Transfer
    replaced: bool
    over: cst.CSTNode | None = None


def hidden_failures(anatomy: Anatomy) -> Iterator[HiddenFailure]:
    """Those of all `try` statements of a file that are about one transfer."""
    storing = Storing(anatomy)
    for guard in anatomy.module.nodes_of(cst.Try):
        transfers = [t for t in storing.within(guard.body) if anatomy.module.scope_of[t.node].function
                     is anatomy.module.scope_of[guard].function]  # fmt: skip
        if not transfers or _is_retried(anatomy, guard):
            continue
        if any(inner is not guard and anatomy.module.inside(transfers[0].node, inner.body)
               for inner in walk(guard.body) if isinstance(inner, cst.Try)):  # fmt: skip
            continue
        for handler in guard.handlers:
            if any(_ABSENT.search(name) is None for name in exceptions.caught(handler)):
                judged = (_judged(storing, guard, handler, transfer) for transfer in transfers)
                yield from islice(filter(None, judged), 1)


def _is_turn(anatomy: Anatomy, guard: cst.Try) -> bool:
    """A `try` around a whole turn is another matter."""
    asks = any(type(node) is cst.Call and anatomy.turns.reaches_model(node) for node in walk(guard.body))
    return asks or _gets_answer(anatomy, guard)


def _gets_answer(anatomy: Anatomy, guard: cst.Try) -> bool:
    """Whether what the model has said is got in a `try`, from whoever asks it, and put into the talk there."""
    module, facts = anatomy.module, anatomy.facts
    function = module.scope_of[guard].function
    said = (one.message.content for one in anatomy.transcript.stored(function)
            if one.role == "assistant" and one.message is not None and module.inside(one.node, guard.body))  # fmt: skip
    made = (value for content in said if isinstance(content, cst.Name) for value in facts.values_of(content))
    return any(isinstance(ex.inner(value), cst.Call) and module.inside(value, guard.body) for value in made)


def _is_retried(anatomy: Anatomy, guard: cst.Try) -> bool:
    """An attempt in a loop of attempts: the error is met by the next one."""
    for outer in anatomy.module.ancestors(guard):
        if isinstance(outer, cst.For) and "attempt" in ex.source(outer.target) + ex.source(outer.iter, 80):
            return True
        if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
            return False
    return False


def _judged(storing: Storing, guard: cst.Try, handler: cst.ExceptHandler, transfer: Transfer) -> HiddenFailure | None:
    anatomy = storing.anatomy
    if transfer.way == "load" and any(is_no_load(anatomy, transfer) for is_no_load in _NO_LOADS):
        return None
    if transfer.way == "store" and _is_never_found_again(anatomy, transfer):
        return None
    sites = anatomy.calls.sites[anatomy.module.scope_of[guard].function]
    unread = any(anatomy.module.is_statement(site.node) for site in sites)
    handling = handlers.handle(anatomy.module, guard, handler, unread=unread)
    emptied = transfer.way == "load" and not _is_set_aside(anatomy, guard, handler)
    for target, value in _emptied(anatomy, handling) if emptied else ():
        over = _written_over(anatomy, target, guard) or _saved_again(anatomy, guard)
        if over is None and (ex.dotted(value) != "None" or _is_begun_elsewhere(anatomy, guard)):
            over = _rewritten(anatomy, guard)
        if over is not None:
            return HiddenFailure(handler, transfer, True, over)
    if _is_turn(anatomy, guard) or (transfer.way == "store" and _is_kept_besides(storing, guard, transfer)):
        return None
    if handling.ending is Ending.NEUTRAL and transfer.way == "load":
        if not _tells(anatomy, handler, loud_only=False):
            return HiddenFailure(handler, transfer, True)
    elif (
        handling.ending is Ending.DROPS
        and not _tells(anatomy, handler, loud_only=transfer.way == "store")
        and not _shows_outcome(anatomy, guard, handler)
    ):
        return HiddenFailure(handler, transfer, False)
    return None


def _is_kept_besides(storing: Storing, guard: cst.Try, transfer: Transfer) -> bool:
    """Whether the function stores the history that has it, outside of the `try`: that is a copy, or made good."""
    anatomy, slots = storing.anatomy, storing.anatomy.facts.slots
    function = anatomy.module.scope_of[guard].function
    given = [arg.value for arg in transfer.node.args]
    said = {ex.source(value, 200) for value in given}
    has = {slots.of(value) for value in given} | {
        one.slot
        for one in anatomy.transcript.stored(function)
        if one.message is not None and one.message.content is not None and ex.source(one.message.content, 200) in said
    }
    for call in function.nodes_of(cst.Call):
        whole = {slots.of(arg.value) for arg in call.args if Kind.HISTORY in anatomy.facts.kinds(arg.value)}
        if not anatomy.module.inside(call, guard) and not (whole - {None}).isdisjoint(has):
            if (found := storing.of(call)) is not None and found.way == "store":
                return True
    return False


def _is_never_found_again(anatomy: Anatomy, transfer: Transfer) -> bool:
    """Whether a file is named after the time it is, or by chance, and none of such a name is read: a record."""
    function = anatomy.module.scope_of[transfer.node].function
    saves = [each for each in anatomy.storage.saves(function) if each.node is transfer.node and each.path is not None]
    named = (part for each in saves for part in _named_by(anatomy, each.path, function))
    anew = (part for part in named if isinstance(part, cst.Call) and ex.called_name(part) in _ANEW)
    return not anatomy.storage.reads_any_file and next(anew, None) is not None


def _named_by(anatomy: Anatomy, path: cst.BaseExpression | None, function: Scope) -> Iterator[cst.CSTNode]:
    """What the name of a file is made of, also by who hands it to the function, and by what gives it there."""
    facts, here = anatomy.facts, [(path, function)] if path is not None else []
    for value, where in here:
        for part in (part for made in anatomy.trimming.made_of(value, where) for part in walk(made)):
            yield part
            slot = facts.slots.of_name(part) if isinstance(part, cst.Name) else None
            given = facts.given(slot) if slot is not None and is_parameter(slot) and where is function else []
            here += [(each, anatomy.module.scope_of[each].function) for each in given]
            callee = facts.slots.callee(part) if isinstance(part, cst.Call) else None
            yield from (inner for each in (callee.returned if callee is not None else ()) for inner in walk(each))


def _is_looked_over(anatomy: Anatomy, transfer: Transfer) -> bool:
    """Whether a loop over many stores reads only parts of each that are no history: titles, for a list of talks.

    What was read before the loop, line by line, is one store.
    """
    statement, facts = anatomy.module.statement(transfer.node), anatomy.facts
    named, function = names_in(transfer.node), anatomy.module.scope_of[transfer.node].function
    loops = (outer for outer in anatomy.module.ancestors(transfer.node) if isinstance(outer, cst.For))
    over = [loop.iter for loop in loops if named.intersection(ex.target_names(loop.target))]
    if not over or any(each.load is not None for listed in over for each in anatomy.storage.origins(listed, function)):
        return False
    read = facts.parts_read(ex.targets(statement)[0]) if isinstance(statement, cst.Assign) else []
    return bool(read) and not any(Kind.HISTORY in facts.kinds(part) for part in read)


def _is_only_asked(anatomy: Anatomy, transfer: Transfer) -> bool:
    """Whether a function answers yes or no by what it loads, and puts that nowhere."""
    given = [node.value for node in anatomy.module.scope_of[transfer.node].function.nodes_of(cst.Return)]
    answers = bool(given) and all(value is not None and ex.dotted(value) in {"True", "False"} for value in given)
    return answers and not isinstance(anatomy.module.statement(transfer.node), (cst.Assign, cst.AnnAssign))


def _is_said_now(anatomy: Anatomy, transfer: Transfer) -> bool:
    """Whether a part of what a request of the function gives is read: the pieces of a stream, say."""
    function, derived = anatomy.module.scope_of[transfer.node].function, ReplyPlaces(anatomy).derived
    return any(holds([transfer.node], ask, derived(function, ask)) for ask in anatomy.turns.requests(function))


def _goes_on_as_text(anatomy: Anatomy, transfer: Transfer) -> bool:
    """Whether a text that cannot be decoded is used as it is: it was not known to be anything else."""
    call, module = transfer.node, anatomy.module
    text = ex.inner(call.args[0].value) if call.args and anatomy.facts.decoder(call) is not None else None
    guard = next((outer for outer in module.ancestors(call) if isinstance(outer, cst.Try)), None)
    slot = anatomy.facts.slots.of_name(text) if text is not None else None
    if slot is None or guard is None:
        return False
    function = module.scope_of[call].function
    names = (name for name in anatomy.facts.names.get(slot, ()) if not module.inside(name, guard.body))
    uses = [name for name in names if isinstance(module.parent[name], (cst.Arg, cst.Return, cst.Assign))]
    return anatomy.leads(function, [*guard.handlers], uses)


_NO_LOADS = (_is_looked_over, _is_only_asked, _is_said_now, _goes_on_as_text)


def _tells(anatomy: Anatomy, handler: cst.ExceptHandler, *, loud_only: bool) -> bool:
    """Whether the handler shows the error to people: as an error, or (for loads) as a warning, too.

    Who is waited for at the terminal in the same function reads what is printed there.
    """
    typed = any(
        ex.called_name(call) == "input" for call in anatomy.module.scope_of[handler].function.nodes_of(cst.Call)
    )
    for call in _showing(anatomy, handler.body):
        name = ex.called_name(call)
        if typed and name == "print" and call.args:
            return True
        if name == "print" and ex.receiver(call) is not None:  # a console: who sits there sees it
            return True
        if name in _LOUD or any(arg.keyword is not None and arg.keyword.value == "exc_info" for arg in call.args):
            return True
        if not loud_only and name not in {"debug", "trace", "verbose"}:
            return True
    return False


def _showing(anatomy: Anatomy, block: cst.BaseSuite) -> Iterator[cst.Call]:
    """What shows something in a block, and in the functions of the project that it calls for that."""
    for call in (node for node in walk_scope(block) if isinstance(node, cst.Call) and handlers.is_logging(node)):
        found = body(anatomy, call)
        inner = found[1].nodes_of(cst.Call) if found is not None else ()
        yield from (call, *filter(handlers.is_logging, inner))


def _shows_outcome(anatomy: Anatomy, guard: cst.Try, handler: cst.ExceptHandler) -> bool:
    """`print("saved")` and `print(f"not saved: {error}")`: somebody has asked for it, and reads how it went."""
    done = _shown(anatomy, guard.body)
    done |= _shown(anatomy, guard.orelse.body) if guard.orelse is not None else set()
    return not done.isdisjoint(_shown(anatomy, handler.body))


def _shown(anatomy: Anatomy, block: cst.BaseSuite) -> set[str | None]:
    """By what a block says something, and it is no logger: `print(f"kept: {name}")`, `tell(f"not kept: {error}")`.

    Also by what a function of the project does that it calls for that.
    """
    calls = [
        call for call in nodes_below(block, cst.Call) if call.args and isinstance(call.args[0].value, cst.BaseString)
    ]
    plain = [c for c in calls if ex.receiver(c) is None or ex.called_name(c) in _SHOWING or not handlers.is_logging(c)]
    run = (found[1] for call in plain if (found := body(anatomy, call)) is not None)
    said = {ex.dotted(each.func) for function in run for each in function.nodes_of(cst.Call)}
    return {ex.dotted(call.func) for call in plain} | {name for name in said if name in _SHOWING}


_Emptied = tuple[cst.BaseExpression | None, cst.BaseExpression]
"""Where nothing is put, None for the result of the function, and what stands for nothing there."""


def _emptied(anatomy: Anatomy, handling: Handling) -> Iterator[_Emptied]:
    """What is nothing where a load has failed.

    By the handler; if that goes on, by what stands before the `try` or behind it for what the `try` gives otherwise,
    or by the maker of the object in which that is put.
    """
    module, guard = anatomy.module, handling.guard
    function = module.scope_of[guard].function
    by_handler = dict(_made_nothing(anatomy, module.nodes_inside(handling.handler.body, function, *_GIVING)))
    yield from by_handler.values()
    if handling.ending is not Ending.DROPS:
        return
    inside = module.nodes_inside(guard.body, function, *_GIVING)
    filled = [each for node in inside for each in (*_places(node), *_apart(anatomy, node))]
    given = {place for place, _, _ in filled}
    flow, handler = anatomy.flow(function), anatomy.points(function, [handling.handler])
    for node in function.nodes_of(*_GIVING):
        is_default = module.before(node, guard) and not isinstance(node, cst.Return)
        if not module.inside(node, guard) and (is_default or flow.reaches(handler, anatomy.points(function, [node]))):
            yield from (emptied for place, emptied in _made_nothing(anatomy, [node]) if place in given)
    for _, target, _ in filled:
        if target is not None and (made := as_made(anatomy, target, guard)) is not None:
            yield target, made


def _made_nothing(anatomy: Anatomy, nodes: Iterable[cst.CSTNode]) -> Iterator[tuple[str, _Emptied]]:
    for place, target, value in (each for node in nodes for each in (*_places(node), *_apart(anatomy, node))):
        if value is not None and is_begun_anew(anatomy, value):
            yield place, (target, value)


def _apart(
    anatomy: Anatomy, node: cst.CSTNode
) -> Iterator[tuple[str, cst.BaseExpression | None, cst.BaseExpression | None]]:
    """What a function gives in the places of a tuple in which it gives histories: `return [], "new"`."""
    given = node.value.elements if isinstance(node, cst.Return) and isinstance(node.value, cst.Tuple) else ()
    for at, part in enumerate(given):
        slot: Slot = ("member", ("return", anatomy.module.scope_of[node].function), str(at))
        if Kind.HISTORY in anatomy.facts.of(slot):
            yield f"[{at}]", None, part.value


def _places(node: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression | None, cst.BaseExpression | None]]:
    """Where values go, as it is written, and which: "" for the result of a function."""
    if isinstance(node, cst.Return):
        yield "", None, node.value
    elif isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
        for place, value in (each for target in ex.targets(node) for each in ex.unpacked(target, node.value)):
            yield ex.source(place), place, value


def _written_over(anatomy: Anatomy, target: cst.BaseExpression | None, guard: cst.Try) -> cst.CSTNode | None:
    """Where what the handler has emptied is written to a store: after it in the function, or anywhere by attribute."""
    slot, function = anatomy.facts.slots.of(target), anatomy.module.scope_of[guard].function
    if slot is None or function.kind == "class":
        return None
    flow, parent, read = anatomy.flow(function), anatomy.module.parent, _read_in(anatomy, guard)
    for each in [function] if slot[0] == "var" else anatomy.module.functions:
        for save in anatomy.storage.saves(each):
            if not save.outside or not _is_or_holds(anatomy, save.value, slot):
                continue
            elsewhere = bool(read) and not any(place.is_rewritten_at(save.place) for place in read)
            if slot[0] != "var":
                return save.node
            if not elsewhere and not anatomy.module.inside(save.node, guard):
                if flow.reaches(
                    flow.enclosing(guard.body, parent) or flow.at(guard), flow.enclosing(save.node, parent)
                ):
                    return save.node
    return None


def _is_set_aside(anatomy: Anatomy, guard: cst.Try, handler: cst.ExceptHandler) -> bool:
    """Whether a handler hands the file on that could not be read: it is moved, or copied."""
    function, storage = anatomy.module.scope_of[guard].function, anatomy.storage
    read = {part for place in _read_in(anatomy, guard) for part in place.key}
    saves = {save.node for save in storage.saves(function)}
    for call in nodes_below(handler.body, cst.Call):
        if call not in saves and not handlers.is_logging(call):
            if any(storage.form(value, function) in read for value in ex.handed(call)):
                return True
    return False


@kept
def _read_in(anatomy: Anatomy, guard: cst.Try) -> list[Place]:
    """The places outside of the program that a `try` reads."""
    reader = anatomy.module.scope_of[guard].function
    found = (anatomy.storage.read_at(part, reader) for part in walk(guard.body))
    decodes = [call for call in nodes_below(guard.body, cst.Call) if anatomy.facts.decoder(call) and call.args]
    decoded = (place for call in decodes for place in anatomy.storage.decoded(call))
    return [*(place for place in found if place is not None), *decoded]


def _is_begun_elsewhere(anatomy: Anatomy, guard: cst.Try) -> bool:
    """Whether another file begins anew where the function of a `try` gives None, and could tell it."""
    reader = anatomy.module.scope_of[guard].function.qualname
    return any(each.anew and each.owner == reader for each in anatomy.handed)


@kept
def _rewritten(anatomy: Anatomy, guard: cst.Try) -> cst.CSTNode | None:
    """Where another function of the file writes over what a `try` reads."""
    reader, storage = anatomy.module.scope_of[guard].function, anatomy.storage
    read = _read_in(anatomy, guard)
    for function in anatomy.module.functions if read else ():
        for save in storage.saves(function):
            if function is not reader and any(place.may_be(save.place) for place in read):
                return save.node
    return None


@once(circular=_NOWHERE)
def _saved_again(anatomy: Anatomy, guard: cst.Try) -> cst.CSTNode | None:
    """Where what the function of a `try` has loaded, or would have, is saved to where it came from, in the file."""
    reader, storage = anatomy.module.scope_of[guard].function, anatomy.storage
    for function in anatomy.module.functions:
        for save in storage.saves(function):
            loads = (origin.load for origin in storage.origins(save.value, function) if origin.load is not None)
            for load in loads:
                if load.place.is_rewritten_at(save.place) and _comes_from(anatomy, load.node, reader, guard):
                    return save.node
    return None


def _comes_from(anatomy: Anatomy, load: cst.BaseExpression, reader: Scope, guard: cst.Try) -> bool:
    """Whether a load is that of a `try`, or runs the function it stands in."""
    callee = anatomy.facts.slots.callee(load)
    return anatomy.module.inside(load, guard.body) or (callee is not None and reader in anatomy.calls.reachable(callee))


def _is_or_holds(anatomy: Anatomy, value: cst.BaseExpression, slot: Slot) -> bool:
    return any(isinstance(n, (cst.Name, cst.Attribute)) and anatomy.facts.slots.of(n) == slot for n in walk(value))
