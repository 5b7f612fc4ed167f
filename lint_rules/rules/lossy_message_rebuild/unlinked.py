"""Messages that are made anew one by one: results without the id of their call, and texts without the calls beside."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.calls.call_tests import asks_for_text
from lint_rules.anatomy.messages.recast import (
    CALLS,
    SAYS,
    Copy,
    Recast,
    copies,
    is_handed_on,
    is_made_of,
    is_sent,
    made,
    roles_of,
)
from lint_rules.anatomy.vocabulary import ANSWERED
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.walk import walk

_SAYING = CALLS | ANSWERED | {"tool_result"}


def unlinked(anatomy: Anatomy) -> Iterator[Recast]:
    """Copies that get the calls of the old messages, and not the ids by which results say which call they answer.

    Of a history that has calls, some messages are results. Only where it is sent to an API that looks for the ids.
    """
    linking = [call for call in anatomy.facts.calls.values() if "completion" in call.name]
    for node, items in made(anatomy) if linking else ():
        function = anatomy.module.scope_of[node].function
        for copy in copies(anatomy, node, items):
            calls = _taken_over(anatomy, copy)
            if calls is None or "tool" not in roles_of(anatomy, copy) or is_handed_on(anatomy, copy):
                continue
            if not any(_is_about(part, ANSWERED) for part in function.nodes) and is_sent(anatomy, node, linking):
                yield Recast(node, calls)
                break


def texts_alone(anatomy: Anatomy) -> Iterator[Recast]:
    """Copies for a model that is offered tools, of whose content only the texts are picked.

    Of messages whose content has the calls, too, as what is stored in this file shows.
    """
    stored = (one for function in anatomy.module.functions for one in anatomy.transcript.stored(function))
    if not any(
        one.calls is not None and one.message is not None and one.message.content is one.calls for one in stored
    ):
        return
    for node, items in made(anatomy):
        for copy in copies(anatomy, node, items):
            picked = next((part for part in walk(copy.region) if _picks_texts(anatomy, copy, part)), None)
            if (
                picked is None
                or "assistant" not in roles_of(anatomy, copy)
                or any(_is_about(part, _SAYING) for part in walk(copy.region))
            ):
                continue
            if is_sent(anatomy, node):
                yield Recast(node, picked)
                break


def _picks_texts(anatomy: Anatomy, copy: Copy, part: cst.CSTNode) -> bool:
    """`b["text"] for b in m["content"] if b["type"] == "text"`."""
    loop = part.for_in if isinstance(part, (cst.ListComp, cst.GeneratorExp)) else None
    return (
        loop is not None
        and any(asks_for_text(each.test) for each in loop.ifs)
        and is_made_of(anatomy, loop.iter, copy.base, SAYS)
    )


def _taken_over(anatomy: Anatomy, copy: Copy) -> cst.CSTNode | None:
    """Where the new message gets calls that are made of those of the old one."""
    statement = anatomy.module.statement(copy.node)
    targets = ex.assigned(statement)
    slots = {anatomy.facts.slots.of(target) for target in targets} - {None}
    function = anatomy.module.scope_of[copy.node].function
    for line in anatomy.module.nodes_inside(copy.region, function, cst.Assign) if slots else ():
        for target in ex.targets(line):
            pair = ex.member(target)
            if pair is not None and pair[1] == "tool_calls" and anatomy.facts.slots.of(pair[0]) in slots:
                if is_made_of(anatomy, line.value, copy.base, CALLS):
                    return line
    return None


def _is_about(part: cst.CSTNode, words: Collection[str | None]) -> bool:
    """Whether a part of the code sets or reads what is called by one of some words: the id of an answered call."""
    pair = ex.member(part)
    word = ex.text(part) if isinstance(part, cst.SimpleString) else pair[1] if pair is not None else None
    return word in words
