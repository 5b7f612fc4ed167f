"""Histories that were loaded from a table, and are added there again with all that was in them, as rows of their own.

`talk = load(key)`, `for m in talk: db.execute("INSERT ...", (key, m["role"], m["content"]))`: such a row takes the
place of nothing.
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
from lint_rules.obligations.again import Again
from lint_rules.rules.double_history_append.joined import Joins, loaded_by
from lint_rules.rules.double_history_append.places import Double, How
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import once
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_OVER = re.compile(r"conflict|replace|duplicate|merge|upsert|bulk_update|^id$")
"""Words of statements that write over rows. Source: SQL, SQLAlchemy, Supabase, Django."""
_EMPTIES = re.compile(r"(^|_)(delete|clear|unlink|truncate|remove|drop|ltrim|trim|reset)(_|$)")
_Added = tuple[cst.Call, cst.BaseExpression, Touched]
"""A call, what it adds all of, and where."""
_NONE: list[_Added] = []


def written_back(joins: Joins, function: Scope) -> Iterator[Double]:
    """Where a function adds what it has loaded from that place, and nothing empties the place."""
    anatomy, ways = joins.anatomy, Again(joins.anatomy, function)
    for call, value, touched in _added(anatomy, function):
        cut = ex.slice_of(value)
        whole = anatomy.facts.is_kind(value, Kind.HISTORY) and (cut is None or cut.lower is None)
        if not whole or _is_emptied(anatomy, function, touched):
            continue
        avoiding, keys = ways.unstored(anatomy.facts.slots.of(value)), _keys(anatomy, call, value)
        for slot, taken in joins.wholes(value):
            load, there = loaded_by(anatomy, function, slot, taken[0] if taken else call) or (None, anatomy)
            if load is None or anatomy.module.inside(load, call) or anatomy.turns.reaches_model(load):
                continue
            same = there.resources.of(load).is_read_again_after(touched) and keys <= names_in(load)
            if same and ways.follows(load, call, avoiding):
                yield Double(How.LOADED, Stored(call, function, None, "extend", None, None), load)
                break


@once(circular=_NONE)
def _added(anatomy: Anatomy, function: Scope) -> list[_Added]:
    """What a function adds to tables, itself or by functions that it hands it to."""
    found: list[_Added] = []
    for call in function.nodes_of(cst.Call):
        there, callee = body(anatomy, call) or (anatomy, None)
        if callee is None:
            touched = anatomy.resources.of(call)
            found += [(call, value, touched) for value in _wholes(anatomy, call) if _adds_rows(call, touched)]
        elif callee is not function and not anatomy.turns.reaches_model(call):
            given = dict(there.facts.slots.bindings(call, callee))
            handed = ((given.get(there.facts.slots.of(value)), touched) for _, value, touched in _added(there, callee))  # type: ignore[arg-type]
            found += [(call, value, touched) for value, touched in handed if value is not None]
    return found


def _adds_rows(call: cst.Call, touched: Touched) -> bool:
    """Whether a call adds rows beside those that are there, and tells no id by which they are known."""
    words = [ex.called_name(call)]
    for part in walk(call):
        if isinstance(part, cst.BaseExpression):
            words.append((ex.text(part) or "").lower())
        elif isinstance(part, cst.Arg) and part.keyword is not None:
            words.append(part.keyword.value)
    return bool(touched.made) and not touched.over and not any(map(_OVER.search, words))


def _keys(anatomy: Anatomy, call: cst.Call, value: cst.BaseExpression) -> set[str]:
    """The names of its function by which a call is told anything but the elements of a list."""
    loops = (outer for outer in anatomy.module.ancestors(call) if isinstance(outer, cst.For))
    elements = {name for loop in loops for name in ex.target_names(loop.target)}
    return names_in(*call.args) & anatomy.module.scope_of[call].function.bound - elements - names_in(value)


def _wholes(anatomy: Anatomy, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The lists of which a call gets all elements: that of a loop around it, or those of which rows are made."""
    for outer in anatomy.module.ancestors(call):
        if isinstance(outer, (cst.If, cst.While, cst.FunctionDef)):
            break
        if isinstance(outer, cst.For) and not names_in(*call.args).isdisjoint(ex.target_names(outer.target)):
            yield outer.iter
    rows = (arg.value for arg in call.args if isinstance(arg.value, (cst.ListComp, cst.GeneratorExp)))
    yield from (each.for_in.iter for each in rows if not each.for_in.ifs)


def _is_emptied(anatomy: Anatomy, function: Scope, saved: Touched) -> bool:
    """Whether a function, or what it runs, takes away what is there, before or behind what it adds."""
    calls = (call for here in anatomy.calls.reachable(function) for call in here.nodes_of(cst.Call))
    touched = ((call, anatomy.resources.of(call)) for call in calls)
    emptied = [each for call, each in touched if each.gone or _EMPTIES.search(ex.called_name(call))]
    tables = {table for each in emptied for table, _ in each.gone}
    return not tables.isdisjoint(saved.made) or any(not each.names.isdisjoint(saved.names) for each in emptied)
