"""Structural rewrites of whole programs: they keep what a program does, and change how it is put together and named.

    python -m tests.variants own_words FOLDER OUT          writes the program of FOLDER, rewritten, into OUT
    python -m tests.variants own_words FOLDER OUT --show   and says which findings are lost, and which are new

A rewrite is a function of the files of a program and a seed; it gives the new files, or None where it does not apply.
Each is proven by running the scenarios of what it rewrites (`tests/test_variants.py`). `figures.json` holds how many
findings survive each of them, and how many silences: a ratchet.

    python -m tests.variants --update                      writes the figures, which may only rise
"""

from __future__ import annotations

from collections.abc import Callable

from .habits import habits
from .moves import append_in_another_file, holder_of_history, request_in_class, request_in_function, request_two_deep
from .project import Files
from .shapes import class_of_calls, class_rendered_at_once, class_rendered_when_sent, factory, subclass_of_dict
from .together import four_together
from .words import own_words

Rewrite = Callable[[Files, int, frozenset[str]], Files | None]
"""Files, seed, and words that others use and that must stay."""

REWRITES: dict[str, Rewrite] = {
    function.__name__: function
    for function in (
        own_words,
        subclass_of_dict,
        factory,
        class_rendered_at_once,
        class_rendered_when_sent,
        class_of_calls,
        request_in_function,
        request_in_class,
        request_two_deep,
        holder_of_history,
        append_in_another_file,
        four_together,
        habits,
    )
}
