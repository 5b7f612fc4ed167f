"""One function for many items, in several processes: the largest first, results in order, and nobody left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.connection import Connection
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
    died: Callable[[Item, int], Result]
    """What comes of an item with which a process died; with its exit code, or the signal that ended it, negative."""
    before_fork: Callable[[], None]
    """Called once here, where processes are forked: they share what it leaves in memory."""
    begin: Callable[[], None]
    """Called first in each process."""


def map_in_processes(
    work: Work[Item, Result], items: Sequence[Item], sizes: Sequence[int], workers: int
) -> Iterator[Result]:
    """The results in the order of the items. `sizes` tells, in bytes, how long each of them takes.

    The largest chunks begin first, so that all processes end at nearly the same time. When one dies, the items that
    were begun are done again, each in a process of its own, so that the one to blame is known; then the others go on.
    """
    if _context().get_start_method() == "fork":
        work.before_fork()
    settled: dict[int, Result] = {}
    done = 0

    def settle(results: Mapping[int, Result]) -> None:
        settled.update({place: work.settle(items[place], result) for place, result in results.items()})

    while done < len(items):
        if done in settled:
            yield settled.pop(done)
            done += 1
            continue
        rest = {place: items[place] for place in range(done, len(items)) if place not in settled}
        begun: set[int] = set()
        try:
            for results in _results(work, rest, sizes, workers, begun):
                settle(results)
                while done in settled:
                    yield settled.pop(done)
                    done += 1
        except (ImportError, NotImplementedError, OSError):
            # Some systems (a sandbox, a lambda) have no semaphores to share, or allow no more processes.
            for place in range(done, len(items)):
                if place not in settled:
                    settle({place: work.function(items[place])})
                yield settled.pop(place)
            return
        # If none of them was at work, one item is done all the same, so that this comes to an end.
        for place in sorted(begun) or range(done, len(items))[:1]:
            settle({place: _alone(work, items[place])})


def _results(
    work: Work[Item, Result], items: Mapping[int, Item], sizes: Sequence[int], workers: int, begun: set[int]
) -> Iterator[dict[int, Result]]:
    """The results of chunks of items, as they come. When a process dies, that is all, and `begun` what was at work.

    OSError: none of the items was begun, for the system has no processes for us.
    """
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    places = list(items)
    running: set[Future[dict[int, Result]]] = set()
    states = _context().RawArray("b", max(places) + 1)
    try:
        with _pool(workers, work.begin, states) as pool:
            sized = [sizes[place] for place in places]
            chunks = [tuple(places[chunk.start : chunk.stop]) for chunk in _chunks(sized, workers)]
            by_size = sorted(chunks, key=lambda chunk: -sum(sizes[place] for place in chunk))
            for chunk in by_size:
                running.add(pool.submit(_do_chunk, work.function, [(place, items[place]) for place in chunk]))
            for future in as_completed(running):
                running.discard(future)
                yield future.result()
    except (BrokenProcessPool, OSError):
        # A pool that breaks while it is handed work may have closed its pipe before it says that it is broken.
        if not any(states):
            raise
        yield from (future.result() for future in running if future.done() and future.exception() is None)
        begun.update(place for place in places if states[place] == _BEGUN)


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


def _alone(work: Work[Item, Result], item: Item) -> Result:
    """The result of an item in a process of its own."""
    context = _context()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_do_alone, args=(work, item, theirs), daemon=True)  # type: ignore[attr-defined]
    process.start()
    theirs.close()
    try:
        result: Result = ours.recv()
    except EOFError:
        process.join()
        return work.died(item, process.exitcode or 0)
    finally:
        process.terminate()
        process.join()
        ours.close()
    return result


# -- in a process -------------------------------------------------------------------------------------------------

_BEGUN, _DONE = 1, 2
_states: Any = None
"""What became of each item so far: shared by all processes, and read when one has died."""


def _do_chunk(function: Callable[[Item], Result], items: Sequence[tuple[int, Item]]) -> dict[int, Result]:
    results = {}
    for place, item in items:
        _states[place] = _BEGUN
        results[place] = function(item)
        _states[place] = _DONE
    return results


def _do_alone(work: Work[Item, Result], item: Item, results: Connection) -> None:
    _begin(work.begin)
    results.send(work.function(item))


@contextmanager
def _pool(workers: int, begin: Callable[[], None], states: Any) -> Iterator[ProcessPoolExecutor]:
    """Processes that are gone when the block ends: at rest if all went well, at once if not (Ctrl-C)."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    others = set(multiprocessing.active_children())
    most = min(workers, 61) if sys.platform == "win32" else workers  # Windows cannot wait for more
    pool = ProcessPoolExecutor(most, mp_context=_context(), initializer=_begin, initargs=(begin, states))
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


def _begin(begin: Callable[[], None], states: Any = None) -> None:
    """Ctrl-C goes to all processes of a terminal: let one answer it, without a traceback from each of the others.

    And end when the parent does, however that came about: nobody would read what is found.
    """
    import multiprocessing
    import signal
    import threading

    global _states
    _states = states
    begin()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
