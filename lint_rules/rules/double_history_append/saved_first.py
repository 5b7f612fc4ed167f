"""What a program saves before it loads the history: the message is in what the store gives, and is sent beside it.

`store.add(key, "user", text)`, `past = store.messages(key)`, `[*past, {"role": "user", "content": text}]`. That both
mean one table, key or file is read in their bodies, in statements of SQL and in the classes of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.messages import Message
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.resources import Resources
from lint_rules.rules.double_history_append.joined import Joined, loaded_by
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_OTHERS = frozenset({"assistant", "system", "tool", "model", "bot", "ai"})
_EXCEPT = re.compile(r"exclu|before|until|offset|skip|except|^pop$")
"""Words of queries that leave out what came last."""


def saved_before(anatomy: Anatomy, function: Scope, joined: Joined) -> Iterator[Stored]:
    """What `function` saves before it loads what the message is joined with, from where it saves to."""
    place = joined.taken[0] if joined.taken else joined.node
    found = joined.load or loaded_by(anatomy, function, joined.slot, place)
    if found is None:
        return
    load, there = found
    for call in function.nodes_of(cst.Call):
        if anatomy.module.inside(call, load) or call is joined.node or not _is_read_by(anatomy, there, load, call):
            continue
        said = list(_said(anatomy, call))
        for node, names in _rows(anatomy, function, call) if said else ():
            if not _tells_apart(there.resources, load, names):
                for value in said:
                    yield Stored(node, function, joined.slot, "append", Message(call, "user", content=value), None)


def _said(anatomy: Anatomy, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The texts that a call is handed, alone or in what is made of them; not what another one than the user says."""
    if is_logging(call) or anatomy.turns.reaches_model(call):
        return
    made = [ex.inner(each) for arg in call.args for each in (arg.value, *anatomy.facts.values_of(arg.value))]
    parts = [ex.inner(arg.value) for arg in call.args]
    for each in (each for each in made if isinstance(each, (cst.Dict, cst.Call))):
        inside = [ex.inner(part) for part in ex.made_of(each).values()]
        parts += inside
        lists = (part for part in inside if isinstance(part, cst.List))  # `{"parts": [{"text": text}]}`
        made += [ex.inner(element.value) for part in lists for element in part.elements]
    if _OTHERS.isdisjoint(map(ex.text, parts)):
        yield from dict.fromkeys(filter(ex.reads_place, parts))


def _is_read_by(anatomy: Anatomy, there: Anatomy, load: cst.Call, save: cst.Call) -> bool:
    """Whether a call gives what another one has stored, as both of their bodies tell, or how they are called."""
    if there.resources.of(load).is_read_again_after(anatomy.resources.of(save)):
        return True
    slots = anatomy.facts.slots
    keeper = slots.of(ex.receiver(save)) if there is anatomy and not _is_at_hand(anatomy, load, save) else None
    said_by_user = any(ex.text(arg.value) == "user" for arg in save.args)
    return keeper is not None and keeper == slots.of(ex.receiver(load)) and said_by_user and anatomy.keeps(save)


def _is_at_hand(anatomy: Anatomy, *calls: cst.Call) -> bool:
    return any(anatomy.resources.runs(call) for call in calls)


def _rows(anatomy: Anatomy, function: Scope, call: cst.Call) -> list[tuple[cst.CSTNode, set[str]]]:
    """Where what a call makes is stored, if it makes a row, and the names of the row; else the call."""
    targets = ex.assigned(anatomy.module.statement(call))
    names = {name for target in targets for name in ex.target_names(target)}
    if not names or ex.receiver(call) is not None or not ex.called_name(call)[:1].isupper():
        return [(call, names)]
    calls = (other for other in function.nodes_of(cst.Call) if anatomy.keeps(other))
    return [(other, names) for other in calls if not names.isdisjoint(map(ex.dotted, ex.handed(other)))]


def _tells_apart(loading: Resources, load: cst.Call, names: set[str]) -> bool:
    """Whether what was just saved is left out: the query names it, skips the first, or gives all but the last."""
    found = loading.runs(load)
    for part in [*walk(load), *(found.nodes if found is not None else ())]:
        at = ex.slice_of(part) if isinstance(part, cst.Subscript) else None
        if at is not None and at.upper is not None and isinstance(ex.inner(at.upper), cst.UnaryOperation):
            return True
        word = ex.called_name(part) if isinstance(part, cst.Call) else ""
        if isinstance(part, cst.Arg) and part.keyword is not None:
            word = part.keyword.value
        if _EXCEPT.search(word) or (isinstance(part, cst.Name) and part.value in names):
            return True
    return False
