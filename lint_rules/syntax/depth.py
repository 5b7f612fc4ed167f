"""Deep nesting: how deep a text may be, and room for what recurses into it.

libcst's parser is native code that recurses with the nesting of the source, and takes the process down when its stack
ends. What libcst does in Python (rendering, for positions) recurses, too. So whoever hands a source to libcst first
looks how deep it is, and does it `with_room`.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from lint_rules.syntax.python import TOO_DEEP, Unreadable

SHALLOW = 60
"""Levels that even the smallest stack (512 KiB, of threads on macOS) has room for."""
DEEPEST = 2_000
"""Levels beyond which libcst is not asked. People write a tenth of it at most, generators of `elif` chains half."""

_STACK = 256 << 20
_FRAMES = 100_000
_ROOM = threading.Lock()
_NAME = "looplint's room"

Result = TypeVar("Result")


def with_room(levels: int, function: Callable[[], Result]) -> Result:
    """What `function` returns or raises; where `levels` are many, it runs in a thread with a large stack.

    Raises Unreadable when they are more than DEEPEST. So a RecursionError is none of deep code, it is a bug.
    """
    if levels > DEEPEST:
        raise Unreadable(TOO_DEEP)
    has_room = levels <= SHALLOW or threading.current_thread().name == _NAME
    return function() if has_room else _in_thread(function)


def _in_thread(function: Callable[[], Result]) -> Result:
    returned: list[Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(function())
        except BaseException as problem:  # the caller gets whatever it is, a panic of native code too
            raised.append(problem)

    with _ROOM:  # both limits are the whole process's
        stack, frames = threading.stack_size(_STACK), sys.getrecursionlimit()
        sys.setrecursionlimit(max(frames, _FRAMES))
        try:
            thread = threading.Thread(target=run, name=_NAME, daemon=True)
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(frames)
            threading.stack_size(stack)
    if raised:
        raise raised[0]
    return returned[0]


_TOKEN = (
    rb"#[^\n]*"
    rb"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<end>[;\n])"
    rb'|(?P<more>"""(?:[^\\"]|\\.|"(?!""))*"""'
    rb"|'''(?:[^\\']|\\.|'(?!''))*'''"
    rb'|"(?:[^\\"\n]|\\.)*"'
    rb"|'(?:[^\\'\n]|\\.)*'"
    rb"|\w+|[^\w\s])"
)
_INDENTS = 100
"""Python allows no more."""


def levels_of_text(source: bytes) -> int:
    """An upper bound of the nesting of a text that may be no Python at all: it counts tokens between commas."""
    counts = [0]
    here = deepest = 0
    for token in re.finditer(_TOKEN, source, re.DOTALL):
        kind = token.lastgroup
        if kind == "open":
            counts.append(1)
            here += 1
        elif kind == "close":
            here -= counts.pop() - 1
            counts = counts or [0]
            counts[-1] += 1
        elif kind == "more":
            counts[-1] += 1
            here += 1
        elif kind == "comma" or (kind == "end" and len(counts) == 1):
            here -= counts[-1]
            counts[-1] = 0
        deepest = max(deepest, here)
    return deepest + source.count(b"lambda") + source.count(b"elif") + _INDENTS


def is_deep(source: bytes) -> bool:
    """Whether a text is nested so deeply that Python's parser may refuse it for that."""
    return levels_of_text(source) > SHALLOW + _INDENTS
