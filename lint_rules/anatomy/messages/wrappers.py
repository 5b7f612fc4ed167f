"""Requests by functions that this file does not define: `reply = engine.step(history)`, `fetch(log, tools=tools)`.

What a function of another file does is asked there. Where nobody knows it (a parameter, a method that subclasses
define), what is done with it tells: it is handed a history, and what it gives is read as a reply and stored there, or
kept as said by the model; or it posts a body, or is called like what asks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.carriers import Carriers
from lint_rules.anatomy.messages.classes import FoundClass, run_elsewhere
from lint_rules.anatomy.messages.writes import GROWING
from lint_rules.anatomy.strangers import is_stranger
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, holds
from lint_rules.anatomy.values.kinds import Evidence, Kind, LLMCall
from lint_rules.anatomy.values.llm_calls import BODIES
from lint_rules.anatomy.values.slots import Slot, made_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.mentions import mentions
from lint_rules.syntax.module import Scope, parameter_names
from lint_rules.syntax.walk import walk

_SAID = frozenset({Kind.REPLY, Kind.MODEL_TEXT, Kind.CALLS})
"""What a request gives back: the reply, its text, or its calls."""
_PARTS = frozenset({Kind.CALLS, Kind.CALL, Kind.ARGUMENTS_TEXT, Kind.ARGUMENTS, Kind.MODEL_TEXT})
"""What a function may take out of a reply, or make of a part of it."""
_TAKEN = _PARTS | {Kind.REPLY, Kind.MESSAGE, Kind.FUNCTION}
_CHANGING = frozenset({"replace", "_replace", "model_copy", "evolve"})
"""Copies with other values under some names. Source: dataclasses, namedtuple, Pydantic, attrs."""
_LONGEST = 400
"""Characters of a call that are compared."""


def wrapped_requests(anatomy: Anatomy) -> Iterator[LLMCall]:
    """The calls of a file that ask a model through functions of others."""
    facts, carriers = anatomy.facts, Carriers(anatomy.facts)
    asked: set[str] = set()
    unanswered: list[cst.Call] = []
    for call in anatomy.module.nodes_of(cst.Call) if facts.all_known() else ():
        if call in facts.calls or not call.args or _makes_object(anatomy, call):
            continue
        callee = facts.slots.callee(call)
        own = callee is not None and not _is_left_open(anatomy, callee)
        carried, answers = carriers.of_all(call), Kind.REPLY in facts.kinds(call) or call in carriers.answered
        streams = answers or call in carriers.told_in_pieces
        found = run_elsewhere(anatomy, call, asking=True) if not own else None
        request = _by_body(anatomy, call, *found, streams) if found is not None else None
        is_said = facts.slots.of(call) in facts.said
        if request is None and carried and (answers or is_said):
            request = _by_use(anatomy, call, carried, is_said)
        if request is None and answers and _has_form(call) and _runs(anatomy, call) is None:
            request = _answering(anatomy, call)
        if request is not None:
            asked.update([ex.source(call, _LONGEST)] if found is None else [])
            yield request
        elif found is None and not own and (carried or streams):
            unanswered.append(call)
    for call in unanswered if asked else ():
        if ex.source(call, _LONGEST) in asked:  # what asks there asks here, too, whatever is read of its reply
            yield _answering(anatomy, call)


def no_requests(anatomy: Anatomy) -> Iterator[cst.Call]:
    """The calls that only look like requests: nobody reads an answer, and the body of what they run asks no model.

    `store.save(key, messages=talk, model=model)`, `done = store.save(...)`.
    """
    for call in anatomy.facts.calls:
        found = run_elsewhere(anatomy, call) if _is_only_tested(anatomy, call) else None
        if found is not None and not _is_left_open(*found) and not found[0].turns.runs_model(found[1]):
            yield call


def _is_only_tested(anatomy: Anatomy, call: cst.Call) -> bool:
    """Whether nobody takes what a call gives, or it is only asked whether that is so."""
    outer, parent = anatomy.module.awaiting(call), anatomy.module.parent
    slots = {anatomy.facts.slots.of(target) for target in ex.targets(outer)} if isinstance(outer, cst.Assign) else set()
    names = [name for slot in slots if slot is not None for name in anatomy.facts.names.get(slot, ())]
    uses = [parent[name] for name in names if not isinstance(parent[name], cst.AssignTarget)]
    return isinstance(outer, (cst.Expr, cst.If, cst.UnaryOperation)) or (
        bool(names) and None not in slots and all(isinstance(use, (cst.If, cst.UnaryOperation)) for use in uses)
    )


def parts_elsewhere(anatomy: Anatomy) -> Iterator[tuple[Slot, Kind, Evidence]]:
    """What functions of other files take out of a reply, or of a part of it, and give: `calls_of(reply)`."""
    facts = anatomy.facts
    for call in anatomy.module.nodes_of(cst.Call) if facts.all_known() else ():
        if call in facts.calls or facts.slots.callee(call) is not None or not _PARTS.isdisjoint(facts.kinds(call)):
            continue
        may_be_history = Kind.HISTORY not in facts.kinds(call) and not anatomy.module.is_statement(call)
        takes_part = any(not _TAKEN.isdisjoint(facts.kinds(arg.value)) for arg in call.args)
        there, function = (run_elsewhere(anatomy, call) if may_be_history or takes_part else None) or (None, None)
        if there is not None and function is not None:
            evidence = Evidence(f"is what `{function.qualname}` of another file gives", call)
            given = there.facts.of(("return", function))
            if may_be_history and Kind.HISTORY in given:
                yield ("call", call), Kind.HISTORY, evidence
            elif takes_part:
                yield from ((("call", call), kind, evidence) for kind in given if kind in _PARTS)


def models_elsewhere(anatomy: Anatomy) -> Iterator[tuple[Slot, Kind, Evidence]]:
    """Models that are asked here by a method of theirs, and made in other files: `get_model().invoke(text)`."""
    facts = anatomy.facts
    asking = [call for call in anatomy.module.nodes_of(cst.Call) if ex.called_name(call) in words.LANGCHAIN_CALLS]
    bases = [base for call in asking if (base := ex.receiver(call)) is not None]
    for base in (base for base in bases if Kind.MODEL not in facts.kinds(base)):
        for part in (base, *facts.values_of(base)):
            slot, whole = facts.slots.of(part), ex.inner(part)
            found = run_elsewhere(anatomy, whole) if isinstance(whole, cst.Call) else None
            given = (found[0], ("return", found[1])) if found is not None else None
            if given is None and not isinstance(whole, cst.Call):
                given = anatomy.imported_value(ex.dotted(whole) or "")
            if slot is not None and given is not None and Kind.MODEL in given[0].facts.of(given[1]):
                said = f"is made in `{os.path.basename(given[0].module.path)}`"
                yield slot, Kind.MODEL, Evidence(said, part)


def parts_handed(anatomy: Anatomy) -> Iterator[tuple[Slot, Kind, Evidence]]:
    """What the functions of a file are handed in others: `answer(reply.tool_calls)`.

    Not text to be parsed whose errors those see to.
    """
    for each in anatomy.told:
        kinds = each.kinds - ({Kind.ARGUMENTS_TEXT} if each.taken else set())
        for slot in anatomy.contents.arrives(each):
            said = f"is handed over in `{os.path.basename(each.path)}`, line {each.span.line}, as"
            yield from (
                (slot, kind, Evidence(f"{said} {kind.value}", slot[1].node))
                for kind in kinds
                if kind not in anatomy.facts.of(slot)
            )


def _by_body(anatomy: Anatomy, call: cst.Call, there: Anatomy, function: Scope, answers: bool) -> LLMCall | None:
    """A function that sends what it is handed, and gives back what the model says; not one that runs a whole turn.

    Or what it sends is kept there, and what it gives back is a reply, or read as one here: it `answers`.
    """
    facts = there.facts
    given = _SAID & _given(there, function)
    if not there.calls.reaches_llm(function) or _takes_turn(there, function):
        return None
    reason = f"runs `{function.qualname}` of another file, which asks a model"
    for slot, value in facts.slots.bindings(call, function):
        sent = value if Kind.HISTORY in facts.of(slot) else next(_held_under(anatomy, value, _keys(there, slot)), None)
        if sent is not None and given:
            return LLMCall(call, ex.called_name(call), reason, None, sent, given, _texts(there, function))
    asks = answers or Kind.REPLY in given
    return LLMCall(call, ex.called_name(call), reason, texts=_texts(there, function)) if asks else None


def _keys(there: Anatomy, slot: Slot) -> set[str]:
    """The names under which what a function is handed holds a history: `messages` of `request.messages`."""
    whole = (("member", slot), ("attr", there.facts.slots.classes.get(slot)))
    return {place[2] for place, _ in there.facts.histories() if place[:2] in whole}


def _held_under(anatomy: Anatomy, value: cst.BaseExpression, keys: set[str]) -> Iterator[cst.BaseExpression]:
    """What an object that is handed on was made with, or copied with, under some names: `Request(messages=talk)`."""
    made = [part for each in (value, *anatomy.facts.values_of(value)) for part in ex.alternatives(each)] if keys else []
    for part in made:
        if isinstance(part, cst.Call) and (ex.called_name(part) in _CHANGING or ex.made_of(part)):
            yield from (held for key, held in ex.keywords(part).items() if key in keys)


def _texts(there: Anatomy, function: Scope) -> frozenset[str]:
    """The names under which what a function gives back holds what the model has written: `text`, `said.text`."""
    given = (part for value in function.returned for part in ex.alternatives(value))
    named = (each for part in given for each in _fields(there, part))
    return frozenset(path for path, value in named if Kind.MODEL_TEXT in there.facts.kinds(value))


def _fields(there: Anatomy, made: cst.BaseExpression, path: str = "") -> Iterator[tuple[str, cst.BaseExpression]]:
    """What an object or dict is made of, and what those in it are, each with the names that lead there."""
    for name, value in there.parts_of(made).items() if isinstance(made, (cst.Dict, cst.Call)) else ():
        here = "".join((path, name))  # in the provider's words
        yield here, value
        yield from _fields(there, ex.inner(value), f"{here}.")


def _given(there: Anatomy, function: Scope) -> set[Kind]:
    """What a function gives back, or yields, alone or beside what it is: `yield "done", turn`.

    An object that is made of what the model has said is a reply: `return Said(reply.text, calls)`.
    """
    back: Slot = ("return", function)
    each: Slot = ("item", back)
    yielded = (node.value for node in function.nodes_of(cst.Yield) if isinstance(node.value, cst.Tuple))
    parts = {part.value for value in yielded for part in value.elements}
    kinds = [there.facts.of(back), there.facts.of(each), *map(there.facts.kinds, parts)]
    made = function.returned
    of_said = any(not _SAID.isdisjoint(there.facts.kinds(part)) for value in made for part in _made_of(there, value))
    return {kind for known in kinds for kind in known} | ({Kind.REPLY} if of_said else set())


def _made_of(there: Anatomy, value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What an object is made of, and the objects in it, and the parts of a display."""
    for part in ex.alternatives(value):
        if isinstance(part, (cst.Tuple, cst.Dict)):
            yield from (element.value for element in part.elements)
        elif isinstance(part, cst.Call) and _makes_object(there, part):
            for arg in part.args:
                yield arg.value
                yield from _made_of(there, arg.value)


def _makes_object(there: Anatomy, call: cst.Call) -> bool:
    checked = (
        ex.receiver(call) if ex.called_name(call) in words.VALIDATORS else None
    )  # `Step.model_validate_json(text)`
    name = ex.dotted(checked or call.func) or ""
    cls = there.facts.slots.constructed(call) or there.facts.slots.validated(call)
    return cls is not None or (
        ex.last_name(checked or call.func)[:1].isupper() and there.defined_elsewhere(name, "class") is not None
    )


def _takes_turn(anatomy: Anatomy, function: Scope) -> bool:
    """Whether a function goes round by itself, or stores messages in what it was given, its object or a global."""
    if any(rounds.function is function for rounds in anatomy.rounds) or anatomy.kept_elsewhere.of(function):
        return True
    grown = (write.slot for write in anatomy.writes.reached_from(function) if write.kind in GROWING)
    return any(made_in(slot) is None for slot in grown)


def _by_use(anatomy: Anatomy, call: cst.Call, carried: set[Slot], is_said: bool) -> LLMCall | None:
    """A call of which nobody knows what it does, but that its result is a reply to the history that it is handed.

    Or a function of the project does it, and how it asks is not seen. `is_said`: the result, or a part of it, is kept
    as said by the model.
    """
    runs, shows = _runs(anatomy, call), any(words.is_request(ex.dict_items(arg.value)) for arg in call.args)
    if runs is not None and (runs[0].calls.reaches_llm(runs[1]) or _takes_turn(*runs)):
        return None
    if not ((is_said or shows) and runs is None) and not _is_stored(anatomy, call, carried):
        return None
    return _answering(anatomy, call) if runs is None or is_said else None


def _has_form(call: cst.Call) -> bool:
    """Whether a call whose result is read as a reply posts a body, or is called like what asks."""
    return ex.called_name(call) in words.ASKING or not ex.keywords(call).keys().isdisjoint(BODIES)


def _answering(anatomy: Anatomy, call: cst.Call) -> LLMCall:
    sent = next((arg.value for arg in call.args if Kind.HISTORY in anatomy.facts.kinds(arg.value)), None)
    how = "answers the history that it is handed" if sent is not None else "gives what is read as a model's reply"
    return LLMCall(call, ex.called_name(call), how, None, sent)


def _is_stored(anatomy: Anatomy, call: cst.Call, carried: set[Slot]) -> bool:
    """Whether what a call gives is put into a history that it was handed, in the same function."""
    function, aliases = anatomy.module.scope_of[call].function, anatomy.aliases
    names, places = ReplyPlaces(anatomy).derived(function, call), {*map(aliases.of, carried)}
    return any(
        each.slot is not None and aliases.of(each.slot) in places and holds([each.node], call, names)
        for each in anatomy.transcript.in_lists(function)
    )


def _runs(anatomy: Anatomy, call: cst.Call) -> FoundClass | None:
    """The function of the project that a call is known to run, if that does not leave it to others what it means."""
    callee = anatomy.facts.slots.callee(call)
    if callee is not None:
        return (anatomy, callee) if not _is_left_open(anatomy, callee) else None
    found = run_elsewhere(anatomy, call)
    return found if found is not None and not _leaves_it_to_others(*found) else None


@kept
def _leaves_it_to_others(there: Anatomy, function: Scope) -> bool:
    """Whether a function only declares what others do, or hands what it gets to somebody nobody knows, for a result."""
    given = parameter_names(function)
    return _is_left_open(there, function) or any(
        mentions(given, *call.args) and is_stranger(there, call) for call in function.nodes_of(cst.Call)
    )


def _is_left_open(there: Anatomy, function: Scope) -> bool:
    """Whether a function only declares what others do, or is one of those that do it."""
    return _is_bodiless(function) or there.module.fills_in(function)


def _is_bodiless(function: Scope) -> bool:
    """Whether a function only says what others do: it gives nothing back and calls nothing but an error."""
    works = (cst.Call, cst.Return, cst.Yield, cst.Assign)
    raised = {part for node in function.nodes_of(cst.Raise) for part in walk(node)}
    return all(node in raised for node in function.nodes_of(*works))
