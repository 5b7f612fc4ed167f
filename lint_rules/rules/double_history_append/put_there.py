"""Where a call puts what it is handed, as the bodies tell that it runs: into lists, files, keys and rows.

`talk["messages"].append(...)`, `save(key, talk)`: what something was put into goes with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import libcst as cst

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.messages.classes import body
from lint_rules.anatomy.program.handlers import is_logging
from lint_rules.anatomy.turns.reply_places import ReplyPlaces, bound_values, holds
from lint_rules.anatomy.turns.resources import Touched, joined, lasting_places, named_in
from lint_rules.syntax import expressions as ex
from lint_rules.syntax.memo import kept
from lint_rules.syntax.mentions import names_in
from lint_rules.syntax.module import Scope
from lint_rules.syntax.walk import walk

_HOPS = 3
"""How many functions a value is followed into, one called by the other."""
_MADE_HERE = ("collections.", "pathlib.", "os.path.", "dict", "list", "set")
"""What makes a place of its own, no way to many of them as a client or a connection is. Source: standard library."""


def puts(anatomy: Anatomy, call: cst.Call, value: cst.BaseExpression) -> Touched:
    """Where a call puts a value that is a part of its arguments."""
    found = body(anatomy, call)
    if found is None:
        return anatomy.resources.of(call)
    there, function = found
    names = frozenset(
        str(slot[2])
        for slot, given in there.facts.slots.bindings(call, function)
        if slot[0] == "var" and anatomy.module.inside(value, given)
    )
    return _within(there, (function, frozenset(names), _HOPS))


@kept
def _within(anatomy: Anatomy, handed: tuple[Scope, frozenset[str], int]) -> Touched:
    """Where a function puts what its parameters of these names hold."""
    return joined(_put_in(anatomy, *handed))


def _put_in(anatomy: Anatomy, function: Scope, names: frozenset[str], hops: int) -> Iterator[Touched]:
    derived = ReplyPlaces(anatomy).derived(function, function.node, known=names, put=True) if names else set[str]()
    for call in function.nodes_of(cst.Call) if derived else ():
        handed = [arg for arg in call.args if holds([arg.value], call, derived)]
        if not handed or is_logging(call) or _only_looks(anatomy, call):
            continue
        found = body(anatomy, call)
        if found is None:
            yield from _put_at(anatomy, function, call, derived)
        elif hops and found[1] is not function:
            there, inner = found
            others = [arg.value for arg in call.args if arg not in handed]
            yield from _named(anatomy, function, others, derived)  # `write(path_of(key), talk)`
            given = frozenset(
                str(slot[2])
                for slot, value in there.facts.slots.bindings(call, inner)
                if slot[0] == "var" and any(value is arg.value for arg in handed)
            )
            yield _within(there, (inner, given, hops - 1))


def _only_looks(anatomy: Anatomy, call: cst.Call) -> bool:
    """`re.search(name, text)`: whether a function of Python's library works with a text, and puts it nowhere."""
    root = anatomy.module.full_name(call.func).partition(".")[0]
    return root in sys.stdlib_module_names and not anatomy.keeps(call)


def _put_at(anatomy: Anatomy, function: Scope, call: cst.Call, derived: set[str]) -> Iterator[Touched]:
    """The places that stand in a call, and in what its local names were bound to: `f.write(text)`, `r.set(key, text)`.

    A list, a dict or a file of the program only where something is put into it.
    """
    into = ex.receiver(call) if anatomy.keeps(call) else None  # which holds it only from here on
    yield from _named(anatomy, function, [call], derived - (names_in(into) if into is not None else set()))
    yield Touched(inside=frozenset(named_in(anatomy, call)))
    if anatomy.keeps(call):
        parts = (part for node in _behind(anatomy, function, [call], derived) for part in walk(node))
        yield Touched(inside=frozenset(lasting_places(anatomy, parts, _is_own_place)))


def _named(anatomy: Anatomy, function: Scope, values: Iterable[cst.CSTNode], derived: set[str]) -> Iterator[Touched]:
    """The places that calls name which stand in values, or in what their local names were bound to."""
    for node in _behind(anatomy, function, values, derived):
        yield from (anatomy.resources.of(part) for part in walk(node) if isinstance(part, cst.Call))


def _behind(
    anatomy: Anatomy, function: Scope, values: Iterable[cst.CSTNode], derived: set[str]
) -> Iterator[cst.CSTNode]:
    """Values, and what their names were bound to, but for those of what is put there."""
    queue, seen = [*values], set(derived)
    for node in queue:
        yield node
        names = names_in(node) - seen
        seen |= names
        queue += [bound for name in sorted(names) for bound in bound_values(anatomy, function, name)]


def _is_own_place(anatomy: Anatomy, value: cst.BaseExpression) -> bool:
    """Whether a value is a list, a dict, or the name of a file."""
    value = ex.inner(value)
    if isinstance(value, (cst.List, cst.Dict, cst.DictComp, cst.SimpleString, cst.BinaryOperation)):
        return True
    made = ex.dotted(value.func) if isinstance(value, cst.Call) else None
    return made is not None and anatomy.module.imports.resolve(made).startswith(_MADE_HERE)
