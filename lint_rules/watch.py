"""Breaking off what takes too long, in any thread, on any system."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from lint_rules.limits import OverTime

_AGAIN = 1.0
"""Seconds after which a thread that was told to stop and did not is told once more."""

Result = TypeVar("Result")


def within(seconds: float, function: Callable[[], Result], clock: Callable[[], float] = time.process_time) -> Result:
    """What `function` returns or raises. Raises OverTime if `clock` goes on by so many seconds meanwhile.

    Costs a thread that sleeps. Native code is not broken off; what Python does with its result is.
    """
    if seconds <= 0:
        return function()
    watch = _Watch(seconds, clock)
    try:
        try:
            watch.start()
            return function()
        finally:
            watch.over.set()
    finally:  # twice, for the first may be where the thread is told to stop
        watch.over.set()
        watch.join()
        if watch.has_told:
            _take_it_here()


class _Watch(threading.Thread):
    """Tells the thread that makes it to stop, when it has taken its time."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        super().__init__(name="looplint's watch", daemon=True)
        self.over = threading.Event()
        self.watched = threading.get_ident()
        self.has_told = False
        self._clock = clock
        self._end = clock() + seconds

    def run(self) -> None:
        left = self._end - self._clock()
        while not self.over.wait(left):
            left = self._end - self._clock()
            if left <= 0:
                self.has_told = _interrupt(self.watched) or self.has_told
                left = _AGAIN


def _interrupt(thread: int) -> bool:
    """Raises OverTime in a thread, at its next step in Python. Whether that can be done."""
    try:
        import ctypes

        stop = ctypes.pythonapi.PyThreadState_SetAsyncExc
    except (ImportError, AttributeError):  # Python without CPython's API, where nothing can be broken off
        return False
    stop(ctypes.c_ulong(thread), ctypes.py_object(OverTime))
    return True


def _take_it_here() -> None:
    """Waits for what this thread was told, if nothing has come of it yet: it is told once more, and takes that.

    To take it back (`PyThreadState_SetAsyncExc` with NULL) leaves CPython's mark that there is something to raise:
    each check of it goes the long way from then on, and one under a profiler never ends (CPython 3.11, `DO_TRACING`).
    """
    with suppress(OverTime):
        _interrupt(threading.get_ident())
        while True:
            pass
