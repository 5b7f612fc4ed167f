"""What requests are made of: the lists that are sent, and the expressions that make their messages.

Followed backwards from each request: names, copies, elements that are appended, arguments of callers, and what
functions of this file give back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.values.kinds import LLMCall
from lint_rules.anatomy.values.known import sources
from lint_rules.anatomy.values.slots import Slot, is_parameter, made_in, moved, root_object
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.elements import names_of_elements
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk


@dataclass(slots=True)
class Sent:
    """`slots` hold what is sent, `nodes` are the expressions that it is made by, elements of lists among them."""

    slots: set[Slot] = field(default_factory=set)
    nodes: set[cst.CSTNode] = field(default_factory=set)


def what_is_sent(anatomy: Anatomy, requests: Iterable[LLMCall] | None = None) -> Sent:
    """Of some requests of a file, or all."""
    asked = anatomy.facts.calls.values() if requests is None else requests
    return what_is_made(anatomy, (call.history for call in asked if call.history is not None))


def what_is_made(anatomy: Anatomy, values: Iterable[cst.BaseExpression]) -> Sent:
    """The same of any lists."""
    sent = Sent()
    queue = [*values]
    while queue:
        for part in ex.alternatives(queue.pop()):
            if part not in sent.nodes:
                sent.nodes.add(part)
                queue.extend(_made_of(anatomy, part, sent))
    return sent


def _made_of(anatomy: Anatomy, part: cst.BaseExpression, sent: Sent) -> list[cst.BaseExpression]:
    facts = anatomy.facts
    found = list(sources(part))
    if isinstance(part, (cst.List, cst.Tuple)):
        return found + [element.value for element in part.elements]
    if isinstance(part, (cst.ListComp, cst.GeneratorExp)):
        return [part.elt]
    if isinstance(part, cst.Call):
        callee = facts.slots.callee(part)
        return found + (callee.returned if callee is not None and callee.name != "__init__" else [])
    slot = facts.slots.of(part)
    if slot is None or slot in sent.slots or slot[0] in {"call", "return"}:
        return found
    sent.slots.add(slot)
    found.extend(facts.assigned(slot))
    found.extend(facts.appended(slot))
    found.extend(part for part, _, _ in facts.given_apart(slot))
    found.extend(write.value for write in anatomy.writes.by_slot.get(slot, ()) if write.value is not None)
    if slot[0] == "var":
        found.extend(facts.gone_through(slot))
        found.extend(anatomy.facts.given(slot))
    return found


def sent_histories(anatomy: Anatomy, requests: Iterable[LLMCall] | None = None) -> set[Slot]:
    """The lists that requests, or all of the file, are made of: sent, or copied, put together or handed on for it.

    Also what gives them, of rows, keys and objects of other files, and those of requests there that are run here.
    """
    facts = anatomy.facts
    asked = [*facts.calls.values()] if requests is None else [*requests]
    found = {slot for call in asked for slot in anatomy.kept_elsewhere.sent_by(call.node)}
    queue = [call.history for call in asked if call.history is not None]
    run: set[Scope] = set()
    while queue:
        node = ex.inner(queue.pop())
        for part in ex.alternatives(node):
            queue.extend(sources(part))
            queue.extend([part.for_in.iter] if isinstance(part, (cst.ListComp, cst.GeneratorExp)) else [])
            found.update(anatomy.kept_elsewhere.given_by(part) if isinstance(part, cst.Call) else ())
            slot = facts.slots.of(part)
            if slot is not None and slot[0] == "return" and slot[1] not in run:  # what gives them another form
                run.add(slot[1])
                queue.extend(slot[1].returned)
            if slot is None or slot in found or slot[0] in {"call", "return"}:
                continue
            found.add(slot)
            queue.extend(facts.assigned(slot))
            queue.extend(_put_into(anatomy, slot))
            if slot[0] == "var":
                queue.extend(anatomy.facts.given(slot))
    found = {slot for slot in found if made_in(slot) not in run or is_parameter(slot)}
    return found | _of_callers(anatomy, found)


def _put_into(anatomy: Anatomy, slot: Slot) -> Iterator[cst.BaseExpression]:
    """The lists whose messages are put into one, at once or one by one: `xs` of `for m in xs: sent.append({**m})`."""
    for write in anatomy.writes.by_slot.get(slot, ()):
        if write.value is not None and write.kind == "extend":
            yield from sources(write.value) if isinstance(write.value, cst.List) else [write.value]
        loop = anatomy.module.loop_around(write.node) if write.kind == "append" else None
        if isinstance(loop, cst.For) and write.value is not None and anatomy.is_history(loop.iter):
            read = (part.value for part in walk(write.value) if isinstance(part, cst.Name))
            yield from [loop.iter] if not names_of_elements(loop).isdisjoint(read) else []


def _of_callers(anatomy: Anatomy, lists: Iterable[Slot]) -> set[Slot]:
    found: set[Slot] = set()
    queue = [*lists]
    for slot in queue:
        new = as_callers_have_it(anatomy, slot) - found
        found |= new
        queue += new
    return found


def as_callers_have_it(anatomy: Anatomy, slot: Slot) -> set[Slot]:
    """A list of an object that a function is handed, as its callers have it: `talk.rows` of `ask(talk)`."""
    root = root_object(slot)
    given = anatomy.facts.given(root) if slot != root and is_parameter(root) else ()
    held = (here for value in given if (here := anatomy.facts.slots.of(value)) is not None)
    return {moved(slot, root, place) for here in held for place in (here, anatomy.aliases.of(here))}
