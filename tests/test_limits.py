"""What one file may cost, and what becomes of the others."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from lint_rules import check, processes, watch
from lint_rules.anatomy.agent import Anatomy
from lint_rules.check import Options, check_source
from lint_rules.finding import NOT_ANALYSED, Finding
from lint_rules.limits import Limits, OverTime, reached
from lint_rules.processes import Work, map_in_processes
from lint_rules.rules import shallow_message_copy, stale_history_snapshot
from lint_rules.run import Task, check_task

BAD = (Path(__file__).parent.parent / "fixtures/shallow_message_copy/bad_squeeze_arguments.py").read_bytes()
CODES = frozenset({"AGL201", "AGL301"})


def findings(source: bytes = BAD, path: str = "a.py", **limits: int) -> list[Finding]:
    return list(check_source(source, path, Options(CODES, limits=Limits(**limits))).findings)


def said(source: bytes = BAD, **limits: int) -> str:
    """What is said of a file that is not analysed."""
    (finding,) = findings(source, **limits)
    assert finding.code == NOT_ANALYSED
    return finding.message


# -- size ---------------------------------------------------------------------------------------------------------


def test_a_file_of_usual_size_is_analysed() -> None:
    assert [finding.code for finding in findings()] == ["AGL201"]
    assert [finding.code for finding in findings(bytes=0, nodes=0, seconds=0)] == ["AGL201"], "0 is no limit"


def test_a_large_file_is_told_with_the_limit_and_what_to_do() -> None:
    assert said(bytes=len(BAD) - 1) == (
        f"the file is larger than {len(BAD) - 1:,} bytes (`max-file-bytes`): "
        "raise the limit, or leave the file out with `--exclude`"
    )
    assert said(b"x = 1\n" * 10, bytes=59).startswith("the file is larger"), "also where no agent is"
    assert findings(bytes=len(BAD)) == findings()


def test_a_file_of_many_nodes_is_told() -> None:
    assert said(nodes=100).startswith("the code has more than 100 nodes (`max-file-nodes`): raise the limit")


def test_a_long_line_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tree would take a hundred times its memory."""

    def parse(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(check, "_parsed", parse)
    monkeypatch.setattr(check, "is_python", parse)
    line = b"messages = [" + b"1, " * 1_000_000 + b"]\n"
    assert said(line).startswith("the code has more than 200,000 nodes")
    assert said(line.replace(b"messages", b"x")).startswith("the code has more than 200,000 nodes")


@pytest.mark.parametrize(
    "text", [b"x = '" + b"a, " * 1_000_000 + b"'\n", b"# " + b"a, " * 1_000_000, b"#a, b\n" * 500_000]
)
def test_long_text_is_no_long_code(text: bytes) -> None:
    assert reached(Limits(), text) is None


def test_no_more_of_a_large_file_is_read_than_tells_that_it_is_large(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 1\n" * 1000)
    outcome = check_task(Task(str(path), Options(CODES, limits=Limits(bytes=100))))
    assert outcome.findings[0].message.startswith("the file is larger than 100 bytes")
    assert outcome.content is None, "the limit may be another next time"


# -- time ---------------------------------------------------------------------------------------------------------


def endlessly(*_: object) -> None:
    for _number in itertools.count():
        pass


def test_what_goes_on_for_ever_is_broken_off() -> None:
    with pytest.raises(OverTime):
        watch.within(0.01, endlessly)


def test_an_end_is_told_again_where_it_was_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_AGAIN", 0.01)

    def deaf() -> None:
        try:
            endlessly()
        except OverTime:
            endlessly()

    with pytest.raises(OverTime):
        watch.within(0.01, deaf)


def test_who_swallowed_that_time_is_up_leaves_nothing_behind() -> None:
    """A mark in the interpreter would stay, and the first function under a profiler would never begin."""
    program = """
import cProfile
from lint_rules.limits import OverTime
from lint_rules.watch import within

def deaf():
    try:
        while True:
            pass
    except OverTime:
        return "done"

assert within(0.05, deaf) == "done"
cProfile.Profile().runcall(lambda: None)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_time_is_taken_by_the_clock_that_is_given() -> None:
    """Seconds pass for the one who waits, none on the clock."""
    pause = threading.Event()
    assert watch.within(0.01, lambda: pause.wait(0.05), clock=lambda: 0.0) is False
    assert watch.within(0, lambda: "no limit") == "no limit"
    with pytest.raises(KeyError):
        watch.within(60, lambda: {}["x"])
    assert "looplint's watch" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("deep", [b"", b"\nx = " + b"-" * 100 + b"1\n"], ids=["flat", "deep"])
def test_a_rule_that_takes_too_long_costs_its_file(monkeypatch: pytest.MonkeyPatch, deep: bytes) -> None:
    monkeypatch.setattr(shallow_message_copy, "check", endlessly)
    assert said(BAD + deep, seconds=1).startswith("the analysis took more than 1 seconds (`max-file-seconds`)")


# -- failures -----------------------------------------------------------------------------------------------------


def fail(error: BaseException):  # type: ignore[no-untyped-def]
    def check_nothing(anatomy: Anatomy) -> None:
        raise error

    return check_nothing


@pytest.mark.parametrize("error", [RuntimeError("lost"), RecursionError("for ever"), AttributeError("x"), KeyError(1)])
def test_a_rule_that_fails_costs_its_own_findings(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(stale_history_snapshot, "check", fail(error))
    failed, kept = findings()
    assert (failed.code, kept.code) == (NOT_ANALYSED, "AGL201")
    assert failed.message.startswith(f"AGL301 stale-history-snapshot failed on this file ({type(error).__name__}")
    assert failed.message.endswith("this is a bug in looplint: please report it, with the file")
    assert kept == check_source(BAD, "a.py", Options(frozenset({"AGL201"}))).findings[0]


def test_rules_that_fail_for_one_reason_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = fail(RuntimeError("lost"))
    for module in (stale_history_snapshot, shallow_message_copy):
        monkeypatch.setattr(module, "check", failing)
    assert said().startswith("AGL201 shallow-message-copy, AGL301 stale-history-snapshot failed")


def test_endless_recursion_is_no_deep_nesting(monkeypatch: pytest.MonkeyPatch) -> None:
    def recurse(anatomy: Anatomy) -> None:  # exactly one argument: with `*_` Python 3.13.0 recurses until memory ends
        recurse(anatomy)

    monkeypatch.setattr(Anatomy, "knows_agent", property(recurse))
    for source in (BAD, BAD + b"\nx = " + b"-" * 100 + b"1\n"):
        message = said(source)
        assert "RecursionError" in message
        assert "nested" not in message
        assert "this is a bug in looplint" in message


def test_short_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shallow_message_copy, "check", fail(MemoryError()))
    assert said() == f"there is not enough memory to analyse {len(BAD):,} bytes of code"


# -- processes that die -------------------------------------------------------------------------------------------


def work(item: str) -> str:
    assert multiprocessing.parent_process() is not None, "a deadly item was begun in the process that has all results"
    if item == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "gone":
        os._exit(3)
    return f"{item} done"


def died(item: str, code: int) -> str:
    return f"{item} {code}"


def settle(item: str, result: str) -> str:
    return f"{result}."


def nothing() -> None:
    pass


def place_of_work(_: str) -> str:
    return "here" if multiprocessing.parent_process() is None else "elsewhere"


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is done by forked processes, or the test is skipped: here, it would end the tests."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork")
    monkeypatch.setattr(processes, "_context", lambda: multiprocessing.get_context("fork"))
    places = map_in_processes(Work(place_of_work, settle, died, nothing, nothing), ["", ""], [1, 1], 2)
    if "here." in places:
        pytest.skip("this system has no processes to share work among")


@pytest.mark.usefixtures("forked")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # outside tests, a second pool would not be forked
@pytest.mark.parametrize("bad", [{0: "killed"}, {39: "gone"}, {0: "gone", 1: "killed", 20: "gone", 39: "killed"}])
def test_each_death_is_told_by_its_item_and_the_others_are_done(bad: dict[int, str]) -> None:
    items = [bad.get(number, str(number)) for number in range(40)]
    results = list(map_in_processes(Work(work, settle, died, nothing, nothing), items, [1] * len(items), 2))
    codes = {"killed": "killed -9", "gone": "gone 3"}
    assert results == [f"{codes.get(item, f'{item} done')}." for item in items]


@pytest.mark.usefixtures("forked")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_pool_that_breaks_while_it_is_handed_work_is_no_system_without_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`submit` writes to a pipe that is closed before the pool knows that it is broken: a race in CPython."""
    submit = ProcessPoolExecutor.submit

    def closed_after_death(pool: ProcessPoolExecutor, *args: Any) -> Future[Any]:
        submitted.append(submit(pool, *args))
        if len(submitted) == 2:
            wait(submitted)
            raise OSError("handle is closed")
        return submitted[-1]

    submitted: list[Future[Any]] = []
    monkeypatch.setattr(ProcessPoolExecutor, "submit", closed_after_death)
    results = map_in_processes(Work(work, settle, died, nothing, nothing), ["killed", "1"], [1, 1], 2)
    assert list(results) == ["killed -9.", "1 done."]
