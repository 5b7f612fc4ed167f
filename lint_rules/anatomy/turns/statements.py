"""Statements of SQL: what they do, to which tables, and by what they pick the rows."""

from __future__ import annotations

import re
from functools import cached_property

_TABLE = r"[\"`\[]?(\w+)"
_VERBS = {
    "select": re.compile(rf"\s*select\b.*?\bfrom\s+{_TABLE}", re.I | re.S),
    "update": re.compile(
        rf"\s*(?:update\s+{_TABLE}|(?:replace\s+into|insert\s+or\s+replace\s+into)\s+{_TABLE}"
        rf"|insert\s+into\s+{_TABLE}.*\b(?:on\s+conflict\b.*\bdo\s+update|on\s+duplicate\s+key\s+update))",
        re.I | re.S,
    ),
    "delete": re.compile(rf"\s*delete\s+from\s+{_TABLE}", re.I),
    "insert": re.compile(rf"\s*insert\s+into\s+{_TABLE}", re.I),
}
"""What a statement does: `update` is all that writes over rows."""
_READ = re.compile(rf"\b(?:from|join)\s+{_TABLE}", re.I)
_MADE = re.compile(rf"\binto\s+{_TABLE}", re.I)
_OVER = re.compile(rf"\bupdate\s+{_TABLE}[\"`\]]?\s+set\b", re.I)
_BEGINS = re.compile(r"\s*(?:select|insert|update|replace|delete|with)\b", re.I)
_WHERE = re.compile(r"\bwhere\b", re.I)
_COLUMN = re.compile(r"(\w+)[\"`\]]?\s*=(?!=)")
_NOT_ALL = re.compile(r"[<>]|\b(?:in|like|not|or|select|limit|between)\b", re.I)
"""Picks some of the rows of a key."""
_HOLE = re.compile(r"\?|%s|%\(\w+\)s|\$\d+|(?<!:):[a-z_]\w*", re.I)
_LOCKS = re.compile(r"\bfor\s+update\b", re.I)


class Statement:
    """What a text says as a statement, or as a part of one: the tables that it reads, fills and writes over."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.read, self.made, self.over = (_tables(form, text) for form in (_READ, _MADE, _OVER))

    @cached_property
    def _does(self) -> tuple[str, str]:
        found = ((verb, form.match(self.text)) for verb, form in _VERBS.items())
        return next(((verb, _table(match)) for verb, match in found if match is not None), ("", ""))

    @property
    def verb(self) -> str:
        """What a whole statement does; "" for any other text."""
        return self._does[0]

    @property
    def table(self) -> str:
        """The table to which it does that."""
        return self._does[1]

    @property
    def locks(self) -> bool:
        return _LOCKS.search(self.text) is not None

    @property
    def conditions(self) -> int:
        """By how many values it picks its rows."""
        return len(_HOLE.findall(self._where[-1])) if self._where else 0

    @property
    def picked_by(self) -> frozenset[str]:
        """The columns by which it picks its rows."""
        return frozenset(name.lower() for part in self._where for name in _COLUMN.findall(part))

    @property
    def takes_all(self) -> bool:
        """Whether all rows are meant that have some values in these columns."""
        return bool(self.picked_by) == bool(self._where) and not any(map(_NOT_ALL.search, self._where))

    @cached_property
    def _where(self) -> list[str]:
        return _WHERE.split(self.text)[1:]


def is_begun(text: str) -> bool:
    """Whether a text begins a statement."""
    return _BEGINS.match(text) is not None


def _table(match: re.Match[str]) -> str:
    return next(name for name in match.groups() if name).lower()


def _tables(form: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(name.lower() for name in form.findall(text))
