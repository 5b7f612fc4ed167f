"""Words of a program that stand for words of a provider."""

from __future__ import annotations

from typing import Any

__all__ = ["SAYING", "Word", "meaning", "printed_as"]

SAYING = "message that says all"
"""The meaning of a message that is equal to any other one that says the same."""


class Word(str):
    """Equal to the provider's word, and printed as the program's own.

    So whatever asks for `tool_calls` finds the field that a program calls `requests`, and whatever is said of it says
    `requests`. `means` tells of a name which part of an agent it names or holds.
    """

    __slots__ = ("means", "own")

    means: str
    own: str

    def __new__(cls, word: str, own: str, means: str = "") -> Word:
        made = str.__new__(cls, word)
        made.own = own
        made.means = means
        return made

    def __str__(self) -> str:
        return self.own

    def __format__(self, spec: str) -> str:
        return format(self.own, spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return Word, (str.__str__(self), self.own, self.means)


def meaning(name: str) -> str:
    """Which part of an agent a name stands for, "" where that is not known of it."""
    return name.means if type(name) is Word else ""


def printed_as(name: str, own: str) -> str:
    """Another name for what the program has a name for, and means the same."""
    return own if name == own else Word(name, str(own), meaning(own))
