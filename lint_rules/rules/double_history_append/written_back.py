"""Histories that were loaded from a table, a key or a file, and are added there again with all that was in them.

`talk = load(key)`, `for m in talk: db.execute("INSERT ...", (key, m["role"], m["content"]))`: what is a row of its own,
a line behind others, or an entry of a list takes the place of nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.messages.transcript import Stored
from lint_rules.anatomy.turns.resources import Touched
from lint_rules.anatomy.values.kinds import Kind
from lint_rules.anatomy.values.known import sources
from lint_rules.obligations.again import Again
from lint_rules.obligations.places import Double, How
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept, once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_PUSHES = frozenset({"rpush", "lpush"})
"""Add entries to the list under a key. Source: Redis, commands."""
_MERGES = frozenset({"merge", "upsert", "bulk_update"})
"""Write over the row that is there. Source: SQLAlchemy, Supabase, Django."""
_OVER = ("conflict", "replace", "duplicate")
"""Words of statements that write over rows."""
_EMPTIES = re.compile(r"(^|_)(delete|clear|unlink|truncate|remove|drop|ltrim|trim|reset)(_|$)")
_Added = tuple[cst.Call, cst.BaseExpression, Touched]
"""A call, what it adds all of, and where."""
_NONE: list[_Added] = []


def written_back(anatomy: Anatomy, function: Scope) -> Iterator[Double]:
    """Where a function adds what it, or its object, has loaded from that place, and nothing empties the place."""
    again = Again(anatomy, function)
    for call, value, touched in _added(anatomy, function):
        if anatomy.facts.is_kind(value, Kind.HISTORY) and not _is_emptied(anatomy, function, touched):
            loads = [load for load in _loads(anatomy, value, touched, set()) if not anatomy.module.inside(load, call)]
            own = [load for load in loads if anatomy.module.scope_of[load].function is function]
            told = _told_apart(anatomy, call, value)
            for load in own or loads:
                if not told <= names_in(load):
                    continue  # under another key, maybe
                if load not in own or again.follows(load, call, again.unstored(anatomy.facts.slots.of(value))):
                    yield Double(How.LOADED, Stored(call, function, None, "extend", None, None), load)
                    break


@once(circular=_NONE)
def _added(anatomy: Anatomy, function: Scope) -> list[_Added]:
    """What a function adds to places outside of the program, itself or by functions that it hands it to."""
    found: list[_Added] = []
    for call in function.nodes_of(cst.Call):
        there, callee = body(anatomy, call) or (anatomy, None)
        if callee is None and not any(anatomy.module.inside(call, other) for other, _, _ in found):
            touched = _place_added_to(anatomy, call, function)
            found += [(call, value, touched) for value in _wholes(anatomy, call)] if touched is not None else []
        elif callee not in {None, function} and not anatomy.turns.reaches_model(call):
            inner = _added(there, callee)
            given = dict(there.facts.slots.bindings(call, callee))
            handed = ((given.get(there.facts.slots.of(value)), touched) for _, value, touched in inner)  # type: ignore[arg-type]
            found += [(call, value, touched) for value, touched in handed if value is not None]
    return found


def _place_added_to(anatomy: Anatomy, call: cst.Call, function: Scope) -> Touched | None:
    """Where a call adds rows, entries or lines beside those that are there, and tells no id by which they are known."""
    opened = anatomy.storage.opened_to_add(call, function)
    if opened is not None:
        return anatomy.resources.of(opened)
    touched, name = anatomy.resources.of(call), ex.called_name(call)
    texts = [text.lower() for part in walk(call) if isinstance(part, cst.BaseExpression) and (text := ex.text(part))]
    over = name in _MERGES or bool(touched.over) or any(word in text for text in texts for word in _OVER)
    keywords = {arg.keyword.value for arg in walk(call) if isinstance(arg, cst.Arg) and arg.keyword is not None}
    adds = bool(touched.made) or name in _PUSHES
    return touched if adds and touched.names and not over and "id" not in keywords and "id" not in texts else None


def _told_apart(anatomy: Anatomy, call: cst.Call, value: cst.BaseExpression) -> set[str]:
    """The names of its function by which a call is told anything but the elements of a list."""
    function, module = anatomy.module.scope_of[call].function, anatomy.module
    loops = (outer for outer in module.ancestors(call) if isinstance(outer, cst.For))
    elements = {name for loop in loops for name in ex.target_names(loop.target)}
    rows = {arg.value.value for arg in call.args if isinstance(arg.value, cst.Name) and _rows(anatomy, arg.value)}
    made = [each for arg in call.args for each in _rows(anatomy, arg.value)]
    return names_in(*call.args, *made) & function.bound - elements - rows - names_in(value)


def _rows(anatomy: Anatomy, value: cst.BaseExpression) -> list[cst.ListComp | cst.GeneratorExp]:
    """The comprehensions that a value may be, which make something of each element of a list."""
    bound = anatomy.definitions(value) if isinstance(value, cst.Name) else []
    made = [ex.inner(value), *(each.value for each in bound)]
    return [each for each in made if isinstance(each, (cst.ListComp, cst.GeneratorExp)) and _is_whole(each)]


def _wholes(anatomy: Anatomy, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The lists of which a call gets all elements: that of a loop around it, or those of which rows are made."""
    named = {part.value for arg in call.args for part in walk(arg) if isinstance(part, cst.Name)}
    for outer in anatomy.module.ancestors(call):
        if isinstance(outer, (cst.If, cst.While, cst.FunctionDef)):
            break
        if isinstance(outer, cst.For) and not named.isdisjoint(ex.target_names(outer.target)):
            yield outer.iter
    yield from (rows.for_in.iter for arg in call.args for rows in _rows(anatomy, arg.value))


def _loads(anatomy: Anatomy, value: cst.BaseExpression, saved: Touched, seen: set[cst.CSTNode]) -> Iterator[cst.Call]:
    """The calls that gave a list what lies where something is added: all of it, whatever was put behind."""
    for part in ex.alternatives(ex.inner(value)):
        if part in seen or not _is_whole(part):
            continue
        seen.add(part)
        made = [] if isinstance(part, cst.Call) else anatomy.facts.values_of(part)
        if isinstance(part, cst.Name):
            made = [each.value for each in anatomy.definitions(part) if each.value is not None]
        if isinstance(part, cst.Call) and anatomy.resources.of(part).names and not anatomy.turns.reaches_model(part):
            if anatomy.resources.of(part).is_read_again_after(saved):
                yield part
                continue
        made += [part.for_in.iter] if isinstance(part, (cst.ListComp, cst.GeneratorExp)) else sources(part)
        for each in made:
            yield from _loads(anatomy, each, saved, seen)


def _is_whole(value: cst.BaseExpression) -> bool:
    """Whether a value leaves out nothing of what it is made of, but for a fixed number at its head."""
    if isinstance(value, (cst.ListComp, cst.GeneratorExp)):
        return not value.for_in.ifs and value.for_in.inner_for_in is None
    cut = ex.slice_of(value)
    first = ex.integer(cut.lower) if cut is not None and cut.lower is not None else 0
    return cut is None or (cut.upper is None and first is not None and first >= 0)


@kept
def _emptied(anatomy: Anatomy, function: Scope) -> list[Touched]:
    """What a function, or what it runs, takes away or writes over."""
    calls = (call for here in anatomy.calls.reachable(function) for call in here.nodes_of(cst.Call))
    touched = ((call, anatomy.resources.of(call)) for call in calls)
    return [each for call, each in touched if each.gone or _EMPTIES.search(ex.called_name(call))]


def _is_emptied(anatomy: Anatomy, function: Scope, saved: Touched) -> bool:
    """Whether a function takes away what is there, before or behind what it adds."""
    tables = {table for each in _emptied(anatomy, function) for table, _ in each.gone}
    return not tables.isdisjoint(saved.made) or any(
        not each.names.isdisjoint(saved.names) for each in _emptied(anatomy, function) if not each.gone
    )
