"""Questions that are asked again and again, and those that lead back to themselves: `a = b` and `b = a`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TypeVar

DEEPEST = 12
"""Questions of one kind that may hang on each other: values that come through more hands are unknown."""

Owner = TypeVar("Owner")
Thing = TypeVar("Thing", bound=Hashable)
Answer = TypeVar("Answer")

_Question = Callable[[Owner, Thing], Answer]


def kept(find: _Question[Owner, Thing, Answer]) -> _Question[Owner, Thing, Answer]:
    """For what never leads back to itself: it is worked out once for each thing, and kept with the owner."""
    name = f"kept {find.__module__}.{find.__qualname__}"

    @wraps(find)
    def asked(owner: Owner, thing: Thing) -> Answer:
        known: dict[Thing, Answer] | None = vars(owner).get(name)
        if known is None:
            known = vars(owner)[name] = {}
        if thing not in known:
            known[thing] = find(owner, thing)
        return known[thing]

    return asked


def once(circular: Answer) -> Callable[[_Question[Owner, Thing, Answer]], _Question[Owner, Thing, Answer]]:
    """For a method, or a function of an object and a thing: it is worked out once for each thing, and kept there.

    Where the search for an answer comes back to its question, or hangs on more than DEEPEST others, it is `circular`.
    """

    def decorated(find: _Question[Owner, Thing, Answer]) -> _Question[Owner, Thing, Answer]:
        name = f"once {find.__module__}.{find.__qualname__}"

        @wraps(find)
        def asked(owner: Owner, thing: Thing) -> Answer:
            state: tuple[dict[Thing, Answer], set[Thing]] | None = vars(owner).get(name)
            if state is None:
                state = vars(owner)[name] = {}, set()
            known, open_ones = state
            if thing in known:
                return known[thing]
            if thing in open_ones or len(open_ones) >= DEEPEST:
                return circular
            open_ones.add(thing)
            try:
                known[thing] = answer = find(owner, thing)
            finally:
                open_ones.discard(thing)
            return answer

        return asked

    return decorated
