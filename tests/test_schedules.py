"""The scheduler that the scenarios of concurrency stand on (`fixtures/schedules.py`)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))

from schedules import Question, Run, Scene, Schedule, explore

COUNTER = """
import threading

class Counter:
    def __init__(self):
        self.count = 0
        self.lock = threading.Lock()
        self.other = threading.Lock()

    def add(self):
        self.count = self.count + 1

    def add_in_place(self):
        self.count += 1

    def add_locked(self):
        with self.lock:
            self.count += 1

    def one_way(self):
        with self.lock, self.other:
            pass

    def other_way(self):
        with self.other, self.lock:
            pass
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "counter.py"
    path.write_text(COUNTER, encoding="utf-8")
    return path


def calls(*methods: str, want: int = 0) -> Scene:
    def scene(run: Schedule, path: Path) -> Question:
        counter = run.load(path).Counter()
        for method in methods:
            run.thread(method, getattr(counter, method))
        return lambda: None if counter.count == want else f"{counter.count}"

    return scene


def problems(scene: Scene, path: Path, *, within: bool) -> set[str | None]:
    return {run.problem for run in explore(scene, path, within=within)}


@pytest.mark.parametrize("method", ["add", "add_in_place"])
def test_an_update_is_lost_between_its_reading_and_its_storing(program: Path, method: str) -> None:
    twice = calls(method, method, want=2)
    assert problems(twice, program, within=True) == {None, "1"}
    assert problems(twice, program, within=False) == {None}


def test_none_is_lost_under_a_lock(program: Path) -> None:
    twice = calls("add_locked", "add_locked", want=2)
    assert problems(twice, program, within=False) | problems(twice, program, within=True) == {None}


def test_who_waits_for_ever_is_told(program: Path) -> None:
    found = problems(calls("one_way", "other_way"), program, within=False)
    assert found == {None, "one_way and other_way wait for ever"}


def steps(of: Callable[[Schedule, str], None]) -> Scene:
    def scene(run: Schedule, _: Path) -> Question:
        of(run, "A")
        of(run, "B")
        return lambda: None

    return scene


def threads(run: Schedule, name: str) -> None:
    def work() -> None:
        run.pause("1")
        run.pause("2")

    run.thread(name, work)


def tasks(run: Schedule, name: str) -> None:
    async def work() -> None:
        await run.apause("1")
        await run.apause("2")

    run.task(name, work)


@pytest.mark.parametrize("of", [threads, tasks])
def test_every_order_is_played_once_and_again_the_same(of: Callable[[Schedule, str], None]) -> None:
    def stories() -> list[Run]:
        return list(explore(steps(of), Path()))

    first = stories()
    assert len(first) == len({run.story for run in first}) == math.comb(6, 3)
    assert first == stories()


def test_a_limit_is_reached_when_nobody_else_can_go_on(tmp_path: Path) -> None:
    path = tmp_path / "waiter.py"
    path.write_text("import threading\ngong = threading.Event()\n", encoding="utf-8")
    heard: list[bool] = []

    def scene(run: Schedule, path: Path) -> Question:
        gong = run.load(path).gong
        run.thread("A", lambda: heard.append(gong.wait(5)))
        run.thread("B", lambda: run.pause("strikes") or gong.set())  # type: ignore[func-returns-value]
        return lambda: None

    def nobody(run: Schedule, path: Path) -> Question:
        run.thread("A", lambda: heard.append(run.load(path).gong.wait(5)))
        return lambda: None

    list(explore(scene, path))
    assert set(heard) == {True}
    heard.clear()
    list(explore(nobody, path))
    assert set(heard) == {False}


def test_what_an_actor_raises_is_raised(program: Path) -> None:
    def scene(run: Schedule, path: Path) -> Question:
        run.thread("A", lambda: 1 / 0)
        return lambda: None

    with pytest.raises(ZeroDivisionError):
        list(explore(scene, program))
