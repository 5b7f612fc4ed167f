"""One function for many items, in several processes: the largest first, results in order, and nobody left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

__all__ = ["Work", "map_in_processes"]

CHUNK_ITEMS = 16
CHUNK_SIZE = 64 * 1024
"""What is handed to a process at once: much for speed, little so that none is left with work when others have none."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[Item, Result]):
    """What to do with each item. Functions that other processes call have to be importable by their names."""

    function: Callable[[Item], Result]
    settle: Callable[[Item, Result], Result]
    """Called here, as soon as a result is in; what it gives takes its place."""
    died: Callable[[Item], Result]
    """What comes of an item with which a process died."""
    before_fork: Callable[[], None]
    """Called once here, where processes are forked: they share what it leaves in memory."""
    begin: Callable[[], None]
    """Called first in each process."""


def map_in_processes(
    work: Work[Item, Result], items: Sequence[Item], sizes: Sequence[int], workers: int
) -> Iterator[Result]:
    """The results in the order of the items. `sizes` tells, in bytes, how long each of them takes.

    The largest chunks begin first, so that all processes end at nearly the same time.
    """
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    if _context().get_start_method() == "fork":
        work.before_fork()
    settled: dict[int, Result] = {}
    done = 0
    try:
        with _pool(workers, work.begin) as pool:
            chunks = list(_chunks(sizes, workers))
            by_size = sorted(chunks, key=lambda chunk: -sum(sizes[place] for place in chunk))
            running = {
                pool.submit(_do_chunk, work.function, items[chunk.start : chunk.stop]): chunk for chunk in by_size
            }
            for future in as_completed(running):
                for place, result in zip(running.pop(future), future.result(), strict=True):
                    settled[place] = work.settle(items[place], result)
                while done in settled:
                    yield settled.pop(done)
                    done += 1
        return
    except BrokenProcessPool:
        redo = _do_carefully
    except (ImportError, NotImplementedError, OSError):
        # Some systems (a sandbox, a lambda) have no semaphores to share, or allow no more processes.
        redo = _do_here
    places = range(done, len(items))
    rest = redo(work, [items[place] for place in places if place not in settled])
    for place in places:
        yield settled.pop(place) if place in settled else work.settle(items[place], next(rest))


def _do_here(work: Work[Item, Result], items: Sequence[Item]) -> Iterator[Result]:
    return map(work.function, items)


def _chunks(sizes: Sequence[int], workers: int) -> Iterator[range]:
    """Places of neighbouring items in chunks of nearly the same size, several for each process."""
    most = max(1, min(CHUNK_ITEMS, len(sizes) // (workers * 4)))
    start = held = 0
    for place, size in enumerate(sizes):
        if place > start and (held + size > CHUNK_SIZE or place - start == most):
            yield range(start, place)
            start, held = place, 0
        held += size
    if sizes:
        yield range(start, len(sizes))


def _do_chunk(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [function(item) for item in items]


def _do_carefully(work: Work[Item, Result], items: Sequence[Item]) -> Iterator[Result]:
    """After a process died: one item at a time in a process of its own, so that the one to blame is known."""
    from concurrent.futures.process import BrokenProcessPool

    rest = list(reversed(items))
    while rest:
        try:
            with _pool(1, work.begin) as pool:
                while rest:
                    yield pool.submit(work.function, rest[-1]).result()
                    rest.pop()
        except BrokenProcessPool:
            yield work.died(rest.pop())


@contextmanager
def _pool(workers: int, begin: Callable[[], None]) -> Iterator[ProcessPoolExecutor]:
    """Processes that are gone when the block ends: at rest if all went well, at once if not (Ctrl-C)."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    others = set(multiprocessing.active_children())
    most = min(workers, 61) if sys.platform == "win32" else workers  # Windows cannot wait for more
    pool = ProcessPoolExecutor(most, mp_context=_context(), initializer=_begin, initargs=(begin,))
    try:
        yield pool
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _context() -> BaseContext:
    """Fork where that is safe, for it starts fastest: on Linux, while there is but one thread."""
    import multiprocessing
    import threading

    is_safe = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if is_safe else "spawn")


def _begin(begin: Callable[[], None]) -> None:
    """Ctrl-C goes to all processes of a terminal: let one answer it, without a traceback from each of the others.

    And end when the parent does, however that came about: nobody would read what is found.
    """
    import multiprocessing
    import signal
    import threading

    begin()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
