"""The bar of a long run."""

from __future__ import annotations

import io

import pytest

from lint_rules.output import progress
from lint_rules.output.progress import bar, watched


def test_a_short_run_shows_nothing() -> None:
    stream = io.StringIO()
    assert list(watched(range(5), 5, stream)) == [0, 1, 2, 3, 4]
    assert stream.getvalue() == ""


def test_a_long_run_shows_how_far_it_is_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 1))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    assert list(watched("abcd", 4, stream)) == list("abcd")
    assert bar(4, 4) in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_a_bar_fills_up() -> None:
    assert bar(0, 7) == "[..............................] 0/7 files"
    assert bar(7, 7) == "[##############################] 7/7 files"
    assert bar(0, 0).endswith("0/0 files")


def test_a_terminal_that_is_gone_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    stream = io.StringIO()
    stream.close()
    assert list(watched("ab", 2, stream)) == ["a", "b"]


def test_the_bar_goes_when_the_run_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    stream = io.StringIO()
    running = watched("abc", 3, stream)
    next(running)
    next(running)
    running.close()
    assert stream.getvalue().endswith("\r\x1b[K")
