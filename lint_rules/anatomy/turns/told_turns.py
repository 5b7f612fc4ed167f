"""Turns that a function hands on with the question and the answer each for itself: `record(asked=text, said=reply)`.

Who gets both, and puts them behind what is there, keeps a talk, whatever it calls them.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.sent import what_is_sent
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, is_read
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.module import Scope, SourceModule


def answers_beside_questions(anatomy: Anatomy, call: cst.Call) -> Iterator[tuple[int, cst.Arg]]:
    """The arguments of a call, with their places, that hold what a model has answered; others hold the question."""
    given = [arg for arg in call.args if not arg.star and isinstance(arg.value, (cst.Name, cst.Attribute))]
    function = anatomy.module.scope_of[call].function
    asks = anatomy.turns.requests(function) if len(given) > 1 and function.kind == "function" else []
    if not asks or call in asks:
        return
    questions, answers = _questions(anatomy, function), _answers(anatomy, function)
    if any(is_read(arg.value, questions) and not is_read(arg.value, answers) for arg in given):
        yield from (each for each in enumerate(call.args) if each[1] in given and is_read(each[1].value, answers))


@kept
def _answers(anatomy: Anatomy, function: Scope) -> set[str]:
    """The names of a function that hold what a model has answered there."""
    places = ReplyPlaces(anatomy)
    return set().union(*(places.derived(function, ask) for ask in anatomy.turns.requests(function)))


@kept
def _questions(anatomy: Anatomy, function: Scope) -> set[str]:
    """The names of a function that hold what its messages of the user say, or of which that is made."""
    made = [one.message for one in anatomy.transcript.stored(function)]
    sent = (part for part in _sent(anatomy, anatomy.module) if anatomy.module.scope_of[part].function is function)
    made += [message for part in sent for message in anatomy.transcript.messages.of(part)]
    told = (message for message in made if message is not None and message.role == "user")
    said = [message.content for message in told if message.content is not None]
    slots = [slot for value in said if (slot := anatomy.facts.slots.of(value)) is not None]
    said += [value for slot in slots for value in anatomy.facts.assigned(slot)]
    return {name for value in said if (name := ex.dotted(value)) is not None}


@kept
def _sent(anatomy: Anatomy, _: SourceModule) -> list[cst.BaseExpression]:
    """The expressions by which what is sent is made."""
    return [node for node in what_is_sent(anatomy).nodes if isinstance(node, cst.BaseExpression)]
