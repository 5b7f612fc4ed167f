"""Several rewrites of one program together, drawn by lot."""

from __future__ import annotations

import random
from collections.abc import Callable

from .moves import append_in_another_file, holder_of_history, request_in_class, request_in_function, request_two_deep
from .project import Files
from .shapes import class_of_calls, class_rendered_at_once, class_rendered_when_sent, factory, subclass_of_dict
from .words import own_words

MESSAGES = (subclass_of_dict, factory, class_rendered_at_once, class_rendered_when_sent)
REQUESTS = (request_in_function, request_in_class, request_two_deep)
PLACES = (holder_of_history, append_in_another_file)
CALLS = (class_of_calls,)
NAMES = (own_words,)
TOGETHER = 4


def four_together(files: Files, seed: int, outside: frozenset[str]) -> Files | None:
    """One rewrite each of four of the five kinds; fewer where they do not apply, but two at least."""
    drawn = random.Random(f"{seed} {sorted(files)}")
    kinds: list[tuple[Callable[[Files, int, frozenset[str]], Files | None], ...]] = [
        MESSAGES,
        REQUESTS,
        PLACES,
        CALLS,
        NAMES,
    ]
    made, applied = files, 0
    for kind in sorted(drawn.sample(kinds, TOGETHER), key=kinds.index):
        for rewrite in drawn.sample(kind, len(kind)):
            if (new := rewrite(made, seed, outside)) is not None:
                made, applied = new, applied + 1
                break
    return made if applied > 1 else None
