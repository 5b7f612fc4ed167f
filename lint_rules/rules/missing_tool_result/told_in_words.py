"""Results that are told in words of the program, where the stored message has the calls themselves: no answers."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.sent import sent_histories
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.rounds.offers import may_call_tools
from lint_rules.anatomy.rounds.outcomes import tells_outcome
from lint_rules.anatomy.values.llm_calls import goes_to_ollama
from lint_rules.obligations.again import Again
from lint_rules.syntax.module import Scope


def told_in_words(anatomy: Anatomy, function: Scope) -> Iterator[tuple[Stored, Stored]]:
    """Where such a result is stored, each with the message whose calls it is of: nothing in the file answers these.

    The next request of a model that is offered tools comes behind them, in the same function.
    """
    stored = anatomy.transcript.stored(function)
    carrying = [s for s in stored if s.calls is not None and s.role == "assistant" and not s.answers]
    told = [s for s in stored if carrying and s.role not in {None, "tool"} and tells_outcome(anatomy, s)]
    if not told or any(s.answers for each in anatomy.module.functions for s in anatomy.transcript.stored(each)):
        return
    again, sent = Again(anatomy, function), sent_histories(anatomy)
    for ask in function.nodes_of(cst.Call):
        if anatomy.calls.asks(ask) and _holds_to_ids(anatomy, ask):
            for words in told:
                before = (s for s in carrying if s.slot == words.slot and again.follows(s.node, words.node, ()))
                calls = next(before, None) if words.slot in sent and again.follows(words.node, ask, ()) else None
                if calls is not None:
                    yield words, calls


def _holds_to_ids(anatomy: Anatomy, ask: cst.Call) -> bool:
    """Whether a request, here or in a function of the file, offers tools, and refuses calls without an answer."""
    callee = anatomy.facts.slots.callee(ask) if ask not in anatomy.facts.calls else None
    functions = anatomy.calls.reachable(callee) if callee is not None else ()
    asked = [ask, *(node for function in functions for node in anatomy.calls.llm_calls.get(function, ()))]
    made = [anatomy.facts.calls[node] for node in asked if node in anatomy.facts.calls]
    lenient = any(r.name == "apply_chat_template" or goes_to_ollama(anatomy.facts, r.node) for r in made)
    return bool(made) and not lenient and any(may_call_tools(anatomy, request.node) for request in made)
