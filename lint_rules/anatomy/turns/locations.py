"""Places outside of the program, as far as code shows them, and where a store is told to keep others out of one.

A place is a resource and its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import Scope
from lint_rules.syntax.record import record
from lint_rules.syntax.walk import walk

Form = tuple[object, ...]
"""What an expression says, whatever its names stand for here: two that are equal give one value in one run."""


@record
class Place:
    """A resource and its key. `conditions`: by how many values a statement picks the row that it writes."""

    resource: Form
    key: tuple[Form, ...]
    conditions: int = 0

    def put(self, given: dict[str, Form]) -> Place:
        """The same place where the parameters have these values."""
        return Place(_put(self.resource, given), tuple(_put(part, given) for part in self.key), self.conditions)

    @property
    def is_one(self) -> bool:
        """Whether all runs mean the same place: nothing in it is a run's own, or made anew."""
        return _is_one((self.resource, *self.key))

    def is_rewritten_at(self, saved: Place) -> bool:
        """Whether what is saved there takes the place of what was loaded here, and nothing compares the two."""
        if self.resource != saved.resource:
            return False
        if self.resource[0] == "table":
            return set(self.key) <= set(saved.key) and saved.conditions <= len(self.key)
        if self.resource[0] == "rows":  # who writes one column leaves the others
            return self.key == saved.key
        return self.key == saved.key[: len(self.key)]

    def may_be(self, saved: Place) -> bool:
        """Whether that is saved there which is loaded here, as far as two functions tell that get the key themselves.

        Also under what the value says of itself: `path / key` here, and `path / talk.key` there.
        """
        if self.resource[0] in {"table", "rows"} or self.is_rewritten_at(saved):
            return self.is_rewritten_at(saved)
        return _may_be((self.resource, self.key), (saved.resource, saved.key[: len(self.key)]))

    def may_be_grown_at(self, added: Place) -> bool:
        """Whether something is put there behind what is loaded here; two functions may be handed one path."""
        both = {part[:1] for part in (*self.key, *added.key)} == {("parameter",)}
        return self.resource == added.resource and (both or self.may_be(added))

    def field_that_names(self, what: Form, saved: Place) -> Form | None:
        """What a whole `what` of this place says of itself where it is saved, `save(talk.key, talk)`; None: nothing.

        It stands for the part of the key by which it was loaded.
        """
        if self.resource[0] == "table" or not self.key:
            return None
        fields = _fields((self.resource, self.key), (saved.resource, saved.key[: len(self.key)]), what)
        return next(iter(fields)) if fields is not None and len(fields) == 1 else None


def _put(form: Form, given: dict[str, Form]) -> Form:
    if len(form) == 2 and form[0] == "parameter":
        return given.get(str(form[1]), form)
    return tuple(_put(part, given) if isinstance(part, tuple) else part for part in form)


def _may_be(loaded: object, saved: object) -> bool:
    """Whether two forms differ only in that a parameter of the one is a part of a parameter in the other."""
    if loaded == saved:
        return True
    if not isinstance(loaded, tuple) or not isinstance(saved, tuple):
        return False
    if loaded[:1] == ("parameter",):
        part: object = saved
        while isinstance(part, tuple) and part[:1] in {("Attribute",), ("Subscript",)}:
            part = part[1]
        return part is not saved and isinstance(part, tuple) and part[:1] == ("parameter",)
    return len(loaded) == len(saved) and all(map(_may_be, loaded, saved))


def _fields(loaded: object, saved: object, what: Form) -> set[Form] | None:
    """The attributes or items of `what` by which two forms differ; None where they differ in more."""
    if loaded == saved:
        return set()
    if not isinstance(loaded, tuple) or not isinstance(saved, tuple):
        return None
    if saved[:2] in {("Attribute", what), ("Subscript", what)}:
        return {saved}
    if len(loaded) != len(saved):
        return None
    found = [_fields(one, other, what) for one, other in zip(loaded, saved, strict=True)]
    return None if None in found else {field for fields in found for field in fields or ()}


def _is_one(form: Form) -> bool:
    if form[:1] in {("parameter",), ("Call",)} or (form[:1] == ("name",) and len(form) > 2):
        return False
    return all(_is_one(part) for part in form if isinstance(part, tuple))


_GUARDS = frozenset({"watch", "flock", "lockf", "with_for_update", "select_for_update", "start_transaction"})
_GUARDED = re.compile(r"begin\s+(immediate|exclusive)|\bfor\s+update\b|\bserializable\b", re.I)


def guards(function: Scope) -> Iterator[cst.CSTNode]:
    """Where a store is told to keep others out, or to refuse what is stale: `WATCH`, `FOR UPDATE`."""
    for node in walk(function.node):
        if (
            (isinstance(node, cst.Call) and ex.called_name(node) in _GUARDS)
            or (isinstance(node, cst.SimpleString) and _GUARDED.search(node.value))
            or (isinstance(node, cst.Arg) and _gives_transaction(node))
        ):
            yield node


def _gives_transaction(arg: cst.Arg) -> bool:
    """`with_for_update=True`, `transaction=transaction`: not `transaction=True`, which keeps writes together only."""
    keyword = arg.keyword.value if arg.keyword is not None else ""
    return keyword == "with_for_update" or (keyword == "transaction" and ex.dotted(arg.value) not in {None, "True"})
