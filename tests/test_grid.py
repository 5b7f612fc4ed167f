"""What is found whatever the provider, the home of the history and the layout: the figures only rise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GRID = Path(__file__).parent.parent / "benchmarks" / "grid"
LINE = re.compile(r"(?P<name>AGL\d+ [\w-]+): (?P<found>\d+)/(?P<all>\d+) found, (?P<twins>\d+) twins")


def figures(printed: str) -> dict[str, tuple[int, int, int]]:
    """By defect: how many are found, of how many, and how many twins are reported."""
    lines = filter(None, map(LINE.match, printed.splitlines()))
    return {line["name"]: (int(line["found"]), int(line["all"]), int(line["twins"])) for line in lines}


def run(*options: str) -> dict[str, tuple[int, int, int]]:
    command = [sys.executable, str(GRID / "grid.py"), *options]
    done = subprocess.run(command, cwd=GRID.parent.parent, capture_output=True, text=True, check=True)
    assert not done.stderr
    return figures(done.stdout)


@pytest.mark.parametrize(
    "place",
    [
        ("anthropic", "shelf", "helpers"),
        ("gemini", "table", "methods"),
    ],
    ids="-".join,
)
def test_all_are_found_in(place: tuple[str, ...]) -> None:
    for name, (found, of, twins) in run(*(part for value in place for part in ("--axis", value))).items():
        assert (found, twins) == (of, 0), name


@pytest.mark.skipif(os.environ.get("LOOPLINT_HEAVY") != "1", reason="checks 11,000 programs: LOOPLINT_HEAVY=1 runs it")
def test_nothing_is_lost() -> None:
    known, now = figures((GRID / "figures.txt").read_text(encoding="utf-8")), run()
    assert now.keys() == known.keys()
    for name, (found, of, twins) in now.items():
        assert (found >= known[name][0], of, twins) == (True, known[name][1], 0), name
